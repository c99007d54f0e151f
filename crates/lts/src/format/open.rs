//! What is in a file: opening it, taking off gzip, and finding the format.
//!
//! Content decides before names do where they can contradict each other: gzip and mCRL2's binary format have magic
//! bytes and are recognised whatever the file is called. Between the text formats the caller's choice counts first,
//! then the ending, then the first character that is not blank; an FSM file has no such character and is recognised by
//! a line of three dashes.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use trefoil_control::Control;
use trefoil_source::{Diagnostic, Place, Reading, unreadable};

use super::{Format, Input, codes};

/// Enough to tell formats apart.
const HEAD: usize = 512;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// mCRL2's binary term format: a zero byte, then the magic number 0x8baf, highest byte first.
const MCRL2_MAGIC: &[u8] = &[0x00, 0x8b, 0xaf];

/// The byte order mark that some editors put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// An input whose format is known, ready to be streamed.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) format: Format,
    /// Bytes of the file as it lies on the disk; 0 when that is not known.
    pub(crate) size: u64,
    reader: Box<dyn Read>,
    compressed: bool,
    consumed: Arc<AtomicU64>,
}

impl Opened {
    /// Reads some bytes; none at the end. Interrupted system calls are repeated.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Diagnostic> {
        read_some(&mut *self.reader, buffer).map_err(|error| cannot_read(&self.name, &error, self.compressed))
    }

    /// Bytes taken from the disk so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }
}

/// Opens the input and finds its format.
pub(crate) fn open(input: Input, format: Option<Format>, control: &Control) -> Result<Opened, Diagnostic> {
    let name = input.name();
    let mut promised = None;
    let mut size = 0;
    let raw: Box<dyn Read> = match input {
        Input::Reader { reader, .. } => reader,
        Input::Stdin => Box::new(Reading::standard_input(control).map_err(|error| cannot_read(&name, &error, false))?),
        Input::Path(path) => {
            if path.is_dir() {
                let message = format!("`{name}` is a directory");
                return Err(Diagnostic::error(codes::DIRECTORY, message, Place::File(name))
                    .help("give a file, or `-` for standard input"));
            }
            let file = Reading::open(&path, control).map_err(|error| cannot_read(&name, &error, false))?;
            size = file.size();
            promised = Some(path);
            Box::new(file)
        }
    };

    let consumed = Arc::new(AtomicU64::new(0));
    let counting = Counting { inner: raw, consumed: consumed.clone() };
    let mut peeked = Peeked::new(Box::new(counting)).map_err(|error| cannot_read(&name, &error, false))?;
    let compressed = peeked.head.starts_with(GZIP_MAGIC);
    if compressed {
        peeked =
            Peeked::new(Box::new(MultiGzDecoder::new(peeked))).map_err(|error| cannot_read(&name, &error, true))?;
    }
    let format = detect(&name, &peeked.head, format, promised.as_deref())?;
    Ok(Opened { name, format, size, reader: Box::new(peeked), compressed, consumed })
}

fn detect(name: &str, head: &[u8], said: Option<Format>, path: Option<&Path>) -> Result<Format, Diagnostic> {
    let place = || Place::File(name.to_string());
    if head.is_empty() {
        return Err(Diagnostic::error(codes::EMPTY, format!("`{name}` is empty"), place())
            .help("an .aut file starts with `des (initial,transitions,states)`"));
    }
    if head.starts_with(MCRL2_MAGIC) {
        return Ok(Format::Lts);
    }
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let seen = if text.starts_with(b"des") {
        Some(Format::Aut)
    } else if text.first() == Some(&b'{') {
        Some(Format::Json)
    } else if text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii() == b"---") {
        Some(Format::Fsm)
    } else {
        None
    };
    let promised = said.or_else(|| path.and_then(Format::of_path));
    if promised == Some(Format::Lts) && (said.is_some() || seen.is_none()) {
        return Err(Diagnostic::error(codes::MCRL2_DAMAGED, "this is not mCRL2's binary format", place())
            .note("such a file starts with the bytes 00 8b af"));
    }
    // Content that a reader here knows counts more than an ending that is used for many things.
    let promised = promised.filter(|&format| format != Format::Lts);
    if promised == Some(Format::Dot) {
        return Err(Diagnostic::error(codes::NOT_READ, "dot files are written for pictures and not read", place())
            .help("read the .aut or .json file that the picture was made from"));
    }
    if said.is_none()
        && let Some((format, command)) = path.and_then(foreign)
    {
        return Err(Diagnostic::error(codes::NOT_READ, format!("{format} files are not read"), place())
            .help(format!("convert it first: {command}")));
    }
    if seen.is_none() && head.contains(&0) {
        return Err(Diagnostic::error(codes::UNKNOWN_CONTENT, "this is binary content in an unknown format", place())
            .help("Trefoil reads .aut, .fsm, .json and .lts files, plain or compressed with gzip"));
    }
    if seen.is_none()
        && let Some((kind, process)) = path.and_then(model)
    {
        let source = path.map(|path| path.display().to_string()).unwrap_or_default();
        return Err(Diagnostic::error(codes::NOT_READ, format!("{kind} is no labelled transition system"), place())
            .help(format!("make one first: trefoil lts generate {source}{process} -o x.aut")));
    }
    promised.or(seen).ok_or_else(|| {
        Diagnostic::error(codes::UNKNOWN_CONTENT, "the format of this content is not known", place())
            .help("an .aut file starts with `des`, a .json file with `{`; an .fsm file has lines `---`")
    })
}

/// Formats of other tools that are known by their endings, with the command that converts them.
fn foreign(path: &Path) -> Option<(&'static str, String)> {
    match path.extension()?.to_ascii_lowercase().to_str()? {
        "bcg" => Some(("CADP's BCG", converting("bcg_io", path))),
        _ => None,
    }
}

/// Models whose state spaces are such systems, with what the command that makes them needs besides the file.
fn model(path: &Path) -> Option<(&'static str, &'static str)> {
    match path.extension()?.to_ascii_lowercase().to_str()? {
        "mcrl2" => Some(("an mCRL2 specification", "")),
        "pml" | "prom" | "promela" => Some(("a Promela model", "")),
        "csp" | "cspm" => Some(("a CSPM script", " --process P")),
        _ => None,
    }
}

fn converting(tool: &str, source: &Path) -> String {
    let mut result = source.with_extension("aut");
    if result == source {
        result = source.with_extension("text.aut");
    }
    format!("{tool} {} {}", source.display(), result.display())
}

/// What to say when an output's name promises no format.
pub(crate) fn no_output_format(path: &Path) -> Diagnostic {
    let name = path.display().to_string();
    Diagnostic::error(
        codes::NO_OUTPUT_FORMAT,
        format!("`{name}` does not say which format to write"),
        Place::File(name),
    )
    .help("end the name in .aut, .fsm, .json, .lts or .dot (and perhaps .gz), or name the format with --to")
}

fn cannot_read(name: &str, error: &io::Error, compressed: bool) -> Diagnostic {
    let place = Place::File(name.to_string());
    let damaged = [io::ErrorKind::UnexpectedEof, io::ErrorKind::InvalidData, io::ErrorKind::InvalidInput];
    if compressed && damaged.contains(&error.kind()) {
        return Diagnostic::error(codes::DAMAGED_GZIP, "the compressed content is damaged or cut off", place)
            .note(error.to_string())
            .help("`gzip -t` tests a file");
    }
    Diagnostic::error(codes::CANNOT_READ, trefoil_source::cannot_read(name, &unreadable(error)), place)
}

fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A reader whose first bytes have been looked at.
struct Peeked {
    head: Vec<u8>,
    given: usize,
    inner: Box<dyn Read>,
}

impl Peeked {
    fn new(mut inner: Box<dyn Read>) -> io::Result<Peeked> {
        let mut head = vec![0; HEAD];
        let mut filled = 0;
        while filled < head.len() {
            match read_some(&mut *inner, &mut head[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        head.truncate(filled);
        Ok(Peeked { head, given: 0, inner })
    }
}

impl Read for Peeked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given < self.head.len() {
            let count = (&self.head[self.given..]).read(buffer)?;
            self.given += count;
            return Ok(count);
        }
        self.inner.read(buffer)
    }
}

/// A reader that counts.
struct Counting {
    inner: Box<dyn Read>,
    consumed: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
