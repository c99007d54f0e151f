//! Where included files come from, and what encoding they are in.

use std::collections::HashMap;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

use trefoil_control::Control;
use trefoil_source::{Texts, nearest};

/// Reads files by name.
pub trait Loader {
    /// The bytes of a file, or the reason why it cannot be read; one is that the job has ended.
    fn read(&self, name: &str, control: &Control) -> Result<Vec<u8>, String>;

    /// An existing file with nearly the name of a missing one.
    fn similar(&self, _name: &str) -> Option<String> {
        None
    }

    /// The name of the file that `path` denotes in the file `from`.
    fn resolve(&self, from: &str, path: &str) -> String {
        let beside = Path::new(from).parent().unwrap_or(Path::new(""));
        // Scripts written on Windows are read elsewhere too.
        let path = path.replace('\\', "/");
        let mut resolved = PathBuf::new();
        for component in beside.join(path).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if matches!(resolved.components().next_back(), Some(Component::Normal(_))) => {
                    resolved.pop();
                }
                other => resolved.push(other),
            }
        }
        resolved.to_string_lossy().into_owned()
    }
}

/// Files on the disk, and unsaved texts over them.
#[derive(Clone, Debug, Default)]
pub struct DiskLoader(pub Texts);

impl Loader for DiskLoader {
    fn read(&self, name: &str, control: &Control) -> Result<Vec<u8>, String> {
        self.0.read(name, control)
    }

    fn similar(&self, name: &str) -> Option<String> {
        let path = Path::new(name);
        if path.exists() {
            return None;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        let file = |entry: DirEntry| {
            let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if folder { None } else { entry.file_name().into_string().ok() }
        };
        let names: Vec<String> = entries.take(10_000).flatten().filter_map(file).collect();
        let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
        Some(path.with_file_name(near).to_string_lossy().into_owned())
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    /// Their bytes by name.
    pub files: HashMap<String, Vec<u8>>,
}

impl MemoryLoader {
    /// One file.
    pub fn one(name: &str, text: impl Into<Vec<u8>>) -> MemoryLoader {
        MemoryLoader { files: HashMap::from([(name.to_string(), text.into())]) }
    }
}

impl Loader for MemoryLoader {
    fn read(&self, name: &str, _: &Control) -> Result<Vec<u8>, String> {
        self.files.get(name).cloned().ok_or_else(|| "there is no such file".to_string())
    }
}

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Unicode,
    /// Not valid as Unicode, so every byte was a character.
    Windows1252,
}

/// Bytes as text; never fails.
pub(super) fn decode(bytes: Vec<u8>) -> (String, Encoding) {
    let sixteen = |from: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect();
        (String::from_utf16_lossy(&units), Encoding::Unicode)
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return sixteen(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return sixteen(u16::from_be_bytes),
        _ => {}
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, Encoding::Unicode),
        Err(error) => (error.as_bytes().iter().map(|&byte| windows_1252(byte)).collect(), Encoding::Windows1252),
    }
}

/// Latin-1 with Windows' characters where Latin-1 has controls.
fn windows_1252(byte: u8) -> char {
    const HIGH: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d,
        0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d,
        0x17e, 0x178,
    ];
    match byte {
        0x80..=0x9f => char::from_u32(u32::from(HIGH[usize::from(byte) - 0x80])).unwrap_or('\u{fffd}'),
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_file_that_includes() {
        let loader = MemoryLoader::default();
        assert_eq!(loader.resolve("a/b/main.csp", "../c/./x.csp"), "a/c/x.csp");
        assert_eq!(loader.resolve("main.csp", "defs\\x.csp"), "defs/x.csp");
        assert_eq!(loader.resolve("main.csp", "../x.csp"), "../x.csp");
        assert_eq!(loader.resolve("a/main.csp", "/x.csp"), "/x.csp");
    }

    #[test]
    fn every_byte_string_becomes_text() {
        assert_eq!(decode(b"caf\xe9 \x93x\x94".to_vec()), ("café “x”".to_string(), Encoding::Windows1252));
        assert_eq!(decode("é".into()).1, Encoding::Unicode);
        assert_eq!(decode(vec![0xff, 0xfe, b'a', 0, b'b', 0]).0, "ab");
    }
}
