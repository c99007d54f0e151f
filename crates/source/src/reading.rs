//! Files read under the budgets of a job.
//!
//! A regular file is read piece by piece: between two pieces the job may end, and memory for the next piece must be
//! within the budget. Anything else (a pipe without a writer, a terminal, a device without an end) can block without
//! end, in `open` as well as in `read`, and a system call cannot be cancelled. A thread of its own waits there and
//! hands pieces over, while the reader polls the job every [`POLL`]. When the job ends, the thread stays behind in its
//! system call, and ends with the program or with the next piece, which has no taker.
//!
//! A read that was stopped is an [`io::Error`]; [`Control::check`] then gives the reason.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use trefoil_control::Control;

/// The largest piece.
const PIECE: usize = 1 << 18;

/// How often a reader that waits for a piece polls its job.
const POLL: Duration = Duration::from_millis(20);

/// Pieces that may wait to be taken.
const WAITING: usize = 2;

/// A file that is read under the budgets of a job.
pub struct Reading {
    control: Control,
    from: From,
    size: u64,
}

enum From {
    File(File),
    Thread { pieces: Receiver<io::Result<Vec<u8>>>, piece: Vec<u8>, taken: usize },
}

impl Reading {
    /// Opens a file. A folder is an error, as for all readers of files.
    pub fn open(file: &Path, control: &Control) -> io::Result<Reading> {
        let metadata = std::fs::metadata(file)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if metadata.is_file() {
            return Ok(Reading { control: control.clone(), from: From::File(File::open(file)?), size: metadata.len() });
        }
        let file = file.to_path_buf();
        Reading::by_thread(control, move || File::open::<PathBuf>(file))
    }

    /// Standard input.
    pub fn standard_input(control: &Control) -> io::Result<Reading> {
        Reading::by_thread(control, || Ok(io::stdin()))
    }

    fn by_thread<R: Read>(
        control: &Control,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Reading> {
        let (sender, pieces) = sync_channel(WAITING);
        thread::Builder::new().name("reader".into()).spawn(move || match open() {
            Ok(reader) => hand_over(reader, &sender),
            Err(error) => drop(sender.send(Err(error))),
        })?;
        let from = From::Thread { pieces, piece: Vec::new(), taken: 0 };
        Ok(Reading { control: control.clone(), from, size: 0 })
    }

    /// Bytes of the file; 0 when that is not known.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// All that is left, or at least `most` bytes of it, as the phase `reading NAME` of the job.
    pub fn read_whole(mut self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let control = self.control.clone();
        control.progress().begin(&format!("reading {name}"), self.size);
        let mut bytes = Vec::new();
        loop {
            if bytes.capacity() - bytes.len() < PIECE {
                let more = (bytes.len() / 2).max(2 * PIECE);
                control.afford(more).map_err(io::Error::other)?;
                bytes.reserve_exact(more);
            }
            let filled = bytes.len();
            bytes.resize(filled + PIECE, 0);
            let count = self.read(&mut bytes[filled..]);
            bytes.truncate(filled + count.as_ref().copied().unwrap_or(0));
            match count {
                Ok(0) => return Ok(bytes),
                Ok(_) if bytes.len() as u64 >= most => return Ok(bytes),
                Ok(_) => control.progress().done(bytes.len() as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reads pieces until the end, an error, or until the job has ended.
fn hand_over(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        match reader.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                if sender.send(Ok(piece)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return drop(sender.send(Err(error))),
        }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.control.check().map_err(io::Error::other)?;
        let (pieces, piece, taken) = match &mut self.from {
            From::File(file) => return file.read(buffer),
            From::Thread { pieces, piece, taken } => (pieces, piece, taken),
        };
        while *taken == piece.len() {
            match pieces.recv_timeout(POLL) {
                Ok(next) => (*piece, *taken) = (next?, 0),
                Err(RecvTimeoutError::Timeout) => self.control.check().map_err(io::Error::other)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let count = (&piece[*taken..]).read(buffer)?;
        *taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use trefoil_control::{Limits, Stopped};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("trefoil-reading-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn a_file_is_read_whole() {
        let folder = folder("whole");
        let bytes: Vec<u8> = (0..3 * PIECE + 17).map(|at| (at % 251) as u8).collect();
        std::fs::write(folder.join("file"), &bytes).expect("a file");
        let control = Control::unlimited();
        let reading = Reading::open(&folder.join("file"), &control).expect("a file");
        assert_eq!(reading.size(), bytes.len() as u64);
        assert!(reading.read_whole("file", u64::MAX).expect("it is read") == bytes);
        assert_eq!(control.progress().snapshot().phase, "reading file");
        let missing = Reading::open(&folder.join("none"), &control).map(drop).expect_err("there is none");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let folder_error = Reading::open(&folder, &control).map(drop).expect_err("a folder");
        assert_eq!(folder_error.kind(), io::ErrorKind::IsADirectory);
        std::fs::remove_dir_all(folder).expect("it is removed");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_an_end_is_read_until_the_budget_is_used_up() {
        let resident = trefoil_control::resident_memory().expect("this system reports its memory");
        let limit = resident + (64 << 20);
        let control = Control::new(Limits { time: None, memory: Some(limit) });
        let zeros = Reading::open(Path::new("/dev/zero"), &control).expect("a device");
        assert!(zeros.read_whole("/dev/zero", u64::MAX).is_err());
        assert_eq!(control.check(), Err(Stopped::Memory { limit }));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_writer_is_left_when_the_job_ends() {
        let folder = folder("pipe");
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let limit = Duration::from_millis(200);
        let control = Control::new(Limits { time: Some(limit), memory: None });
        let begun = Instant::now();
        let waiting = Reading::open(&pipe, &control).expect("the pipe is there");
        assert!(waiting.read_whole("pipe", u64::MAX).is_err());
        assert_eq!(control.check(), Err(Stopped::Timeout { limit }));
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        std::fs::remove_dir_all(folder).expect("it is removed");
    }
}
