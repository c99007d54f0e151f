//! Result files that replace older ones only when they are complete.
//!
//! The new content goes to a file beside the old one, which takes its place by a rename. When the disk is full, a
//! budget runs out or the program dies, the old file is still what it was. A symbolic link stays a link: the file that
//! it points to is replaced. A device or a pipe cannot be replaced, so the content goes straight into it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Symbolic links that are followed one after the other; more of them are taken for a cycle.
const MOST_LINKS: usize = 40;

/// Writes a file by `write`, replacing an older one at the end. `cannot` says that no file can be made there.
pub fn replace_file<E>(
    path: &Path,
    cannot: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return write(&mut File::create(path).map_err(cannot)?);
    }
    let target = followed(path);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn save(path: &Path, text: &str) -> io::Result<()> {
        replace_file(path, |error| error, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = std::env::temp_dir().join(format!("trefoil-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("result");
        save(&path, "old").expect("it is written");
        let full = replace_file(&path, |error| error, |_| Err(io::Error::from(io::ErrorKind::StorageFull)));
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
}
