//! Result files that replace older ones only when they are complete.
//!
//! The new content goes to a file beside the old one, which takes its place by a rename. When the disk is full, a
//! budget runs out or the program dies, the old file is still what it was. A symbolic link stays a link: the file that
//! it points to is replaced. A file that may not be written is not replaced, although its folder would allow it.
//!
//! A device or a pipe cannot be replaced, so the content goes straight into it. A pipe without a reader, or with one
//! that does not read, blocks in a system call, which cannot be cancelled: a thread of its own waits there, while the
//! writer polls its job, as in [`crate::reading`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use trefoil_control::{Control, Stopped};

/// Symbolic links that are followed one after the other.
const MOST_LINKS: usize = 40;

/// How often a writer that waits for a reader polls its job.
const POLL: Duration = Duration::from_millis(20);

/// Pieces that may wait to be written.
const WAITING: usize = 2;

/// Writes a file by `write`, replacing an older one at the end. `cannot` says that no file can be made there.
pub fn replace_file<E: From<Stopped>>(
    path: &Path,
    control: &Control,
    cannot: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let old = match fs::metadata(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(cannot(error)),
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut piped = Piped::open(path).map_err(&cannot)?.polling(control);
        let written = write(&mut piped).and_then(|()| piped.finish().map_err(&cannot));
        // What a job that has ended did not write is no fault of the file.
        return written.map_err(|error| control.check().err().map_or(error, E::from));
    }
    let target = followed(path);
    if old.is_some() {
        OpenOptions::new().write(true).open(&target).map_err(&cannot)?;
    }
    let mut part = target.clone().into_os_string();
    part.push(format!(".part-{}", std::process::id()));
    let written = File::create(&part).map_err(&cannot).and_then(|mut file| {
        write(&mut file)?;
        if let Some(old) = &old {
            file.set_permissions(old.permissions()).map_err(&cannot)?;
        }
        fs::rename(&part, &target).map_err(&cannot)
    });
    if written.is_err() {
        // Where the file could not be made, there is nothing to remove.
        let _ = fs::remove_file(&part);
    }
    written
}

/// What a path names once symbolic links are followed, whether or not there is such a file.
fn followed(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().map_or(next.clone(), |folder| folder.join(next));
    }
    target
}

/// A thread that writes into something that may block.
struct Piped {
    pieces: Option<SyncSender<Vec<u8>>>,
    ended: Receiver<io::Result<()>>,
}

/// The same for a job.
struct Polling<'c> {
    piped: Piped,
    control: &'c Control,
}

impl Piped {
    fn open(path: &Path) -> io::Result<Piped> {
        let path = path.to_path_buf();
        let (pieces, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let (end, ended) = sync_channel(1);
        thread::Builder::new().name("writer".into()).spawn(move || {
            let write_all = || -> io::Result<()> {
                let mut file = File::create(path)?;
                waiting.into_iter().try_for_each(|piece| file.write_all(&piece))?;
                file.flush()
            };
            // The writer of a job that was stopped has left.
            let _ = end.send(write_all());
        })?;
        Ok(Piped { pieces: Some(pieces), ended })
    }

    fn polling(self, control: &Control) -> Polling<'_> {
        Polling { piped: self, control }
    }
}

impl Polling<'_> {
    /// Waits for the end of the thread.
    fn end(&self) -> io::Result<()> {
        loop {
            match self.piped.ended.recv_timeout(POLL) {
                Ok(end) => return end,
                Err(RecvTimeoutError::Timeout) => self.control.check().map_err(io::Error::other)?,
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    /// There is no more to write.
    fn finish(mut self) -> io::Result<()> {
        self.piped.pieces = None;
        self.end()
    }
}

impl Write for Polling<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(pieces) = &self.piped.pieces else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let mut piece = bytes.to_vec();
        loop {
            piece = match pieces.try_send(piece) {
                Ok(()) => return Ok(bytes.len()),
                Err(TrySendError::Full(piece)) => piece,
                Err(TrySendError::Disconnected(_)) => break,
            };
            self.control.check().map_err(io::Error::other)?;
            thread::sleep(POLL / 20);
        }
        // The thread ended before there was an end to write.
        self.end().and(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[derive(Debug)]
    enum Failed {
        Io(io::Error),
        Stopped(Stopped),
    }

    impl From<Stopped> for Failed {
        fn from(stopped: Stopped) -> Failed {
            Failed::Stopped(stopped)
        }
    }

    fn save(path: &Path, text: &str) -> Result<(), Failed> {
        save_under(&Control::unlimited(), path, text)
    }

    fn save_under(control: &Control, path: &Path, text: &str) -> Result<(), Failed> {
        replace_file(path, control, Failed::Io, |file| file.write_all(text.as_bytes()).map_err(Failed::Io))
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = std::env::temp_dir().join(format!("trefoil-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("result");
        save(&path, "old").expect("it is written");
        let full = |_: &mut dyn Write| Err(Failed::Io(io::ErrorKind::StorageFull.into()));
        let full = replace_file(&path, &Control::unlimited(), Failed::Io, full);
        assert!(full.is_err());
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        save(&path, "new").expect("it is written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
        fs::remove_dir_all(&folder).expect("a folder");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_what_they_point_to_is_replaced() {
        let folder = std::env::temp_dir().join(format!("trefoil-links-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).expect("a folder");
        let link = folder.join("link");
        std::os::unix::fs::symlink("inner/target", &link).expect("a link");
        // The target need not be there yet.
        for text in ["first", "second"] {
            save(&link, text).expect("it is written");
            assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
            assert_eq!(fs::read_to_string(folder.join("inner/target")).expect("a file"), text);
        }
        fs::remove_dir_all(&folder).expect("a folder");
    }

    /// Links in a circle were once replaced by a file.
    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_are_an_error() {
        let folder = std::env::temp_dir().join(format!("trefoil-circle-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (one, other) = (folder.join("one"), folder.join("other"));
        std::os::unix::fs::symlink("other", &one).expect("a link");
        std::os::unix::fs::symlink("one", &other).expect("a link");
        let refused = save(&one, "text");
        let is_told = matches!(&refused, Err(Failed::Io(error)) if error.kind() != io::ErrorKind::NotFound);
        assert!(is_told, "{refused:?}");
        assert!(fs::symlink_metadata(&one).expect("a link").is_symlink());
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 2);
        fs::remove_dir_all(&folder).expect("a folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_takes_what_is_written_and_one_without_a_reader_is_left_when_the_job_ends() {
        use std::io::Read;

        use trefoil_control::Limits;

        let folder = std::env::temp_dir().join(format!("trefoil-piped-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let limit = Duration::from_millis(200);
        for text in ["short".to_string(), "long ".repeat(100_000)] {
            // Another pipe for each: the thread of the last one still waits there.
            let alone = folder.join(format!("alone-{}", text.len()));
            assert!(std::process::Command::new("mkfifo").arg(&alone).status().expect("mkfifo runs").success());
            let control = Control::new(Limits { time: Some(limit), memory: None });
            let left = save_under(&control, &alone, &text);
            assert!(matches!(left, Err(Failed::Stopped(Stopped::Timeout { .. }))), "{left:?}");
            let taken = thread::scope(|scope| {
                let reader = scope.spawn(|| {
                    let mut taken = String::new();
                    File::open(&pipe).expect("a pipe").read_to_string(&mut taken).expect("text");
                    taken
                });
                save(&pipe, &text).expect("it is written");
                reader.join().expect("it reads")
            });
            assert!(taken == text, "{} of {} bytes", taken.len(), text.len());
        }
        fs::remove_dir_all(&folder).expect("a folder");
    }
}
