//! Texts of files, some of them not saved.
//!
//! Every front end reads its files by [`Texts`], included ones too. An editor puts the texts of its windows there, and
//! a check of the file, or of one that includes it, sees them instead of what is on the disk.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use trefoil_control::Control;

use crate::files::unreadable;
use crate::reading::Reading;

/// Files on the disk, standard input as `-`, and texts that hide files.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// By absolute path, `.` and `..` taken out; links are not followed.
    unsaved: BTreeMap<PathBuf, Arc<str>>,
}

impl Texts {
    /// Puts a text over a file, which need not exist.
    pub fn put(&mut self, file: impl AsRef<Path>, text: impl Into<Arc<str>>) {
        self.unsaved.insert(absolute(file.as_ref()), text.into());
    }

    /// Takes the text over a file away, so that the file is read again.
    pub fn remove(&mut self, file: impl AsRef<Path>) {
        self.unsaved.remove(&absolute(file.as_ref()));
    }

    /// The bytes of a file; why there are none, in words. A job that ends meanwhile is one reason: callers check the
    /// control before they report the words.
    pub fn read(&self, name: impl AsRef<Path>, control: &Control) -> Result<Vec<u8>, String> {
        let name = name.as_ref();
        let read = if name == Path::new("-") {
            Reading::standard_input(control).and_then(|reading| reading.read_whole("standard input", u64::MAX))
        } else if let Some(text) = self.unsaved.get(&absolute(name)) {
            return Ok(text.as_bytes().to_vec());
        } else {
            let shown = name.display().to_string();
            Reading::open(name, control).and_then(|reading| reading.read_whole(&shown, u64::MAX))
        };
        read.map_err(|error| unreadable(&error))
    }
}

fn absolute(file: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf()).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_hides_a_file_whatever_its_path_is_written_like() {
        let folder = std::env::temp_dir().join(format!("trefoil-texts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let file = folder.join("a.txt");
        std::fs::write(&file, "saved").expect("a temporary file");
        let control = Control::unlimited();
        let mut texts = Texts::default();
        assert_eq!(texts.read(&file, &control), Ok(b"saved".to_vec()));
        texts.put(folder.join("x/../a.txt"), "unsaved");
        texts.put(folder.join("new.txt"), "new");
        assert_eq!(texts.read(&file, &control), Ok(b"unsaved".to_vec()));
        assert_eq!(texts.read(folder.join("./new.txt"), &control), Ok(b"new".to_vec()));
        texts.remove(&file);
        assert_eq!(texts.read(&file, &control), Ok(b"saved".to_vec()));
        assert_eq!(texts.read(folder.join("b.txt"), &control), Err("there is no such file".to_string()));
        assert_eq!(texts.read(&folder, &control), Err("it is a folder".to_string()));
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
