//! Labelled transition systems in files: Aldebaran `.aut`, mCRL2's textual `.fsm` and binary `.lts`, JSON, and (written
//! only) `.dot`.
//!
//! [`read_lts`] opens an [`Input`], takes off a gzip wrapper when the first bytes say that there is one, finds the
//! format (what the caller says, else the name's ending, else the first bytes) and streams the content into an [`Lts`].
//! Everything that can be wrong with the input has a stable code ([`CODES`]) and a place. [`write_lts`] writes to
//! anything, [`save_lts`] to a named file or to standard output.
//!
//! One file per idea: `open` finds out what a file is, `lines` cuts a stream into lines, `intern` numbers the labels,
//! `gather` turns transitions in any order into rows, `aut`, `fsm`, `json`, `mcrl2` and `dot` know the formats,
//! `output` buffers what is written. Absent here: command-line options, and the meaning of the systems.

mod aut;
mod aut_line;
mod codes;
mod dot;
mod fsm;
mod gather;
mod intern;
mod json;
mod json_bytes;
mod lines;
mod mcrl2;
mod mcrl2_terms;
mod mcrl2_text;
mod mcrl2_write;
mod open;
mod output;

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, Place, replace_file};
use trefoil_system::Labels;

use crate::explicit::Lts;

pub use codes::CODES;

/// A format that Trefoil reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Aldebaran: one transition a line.
    Aut,
    /// mCRL2's textual format with state parameters.
    Fsm,
    /// Trefoil's own JSON.
    Json,
    /// mCRL2's binary format.
    Lts,
    /// Graphviz; written only.
    Dot,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [Format::Aut, Format::Fsm, Format::Json, Format::Lts, Format::Dot];

    /// Its name, which is also the usual ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Aut => "aut",
            Format::Fsm => "fsm",
            Format::Json => "json",
            Format::Lts => "lts",
            Format::Dot => "dot",
        }
    }

    /// One line about it.
    pub fn about(self) -> &'static str {
        match self {
            Format::Aut => "Aldebaran, as CADP and mCRL2 read and write it",
            Format::Fsm => "mCRL2's textual format; state parameters are ignored",
            Format::Json => "Trefoil's JSON: labels once, transitions as triples of numbers",
            Format::Lts => "mCRL2's binary format; state labels are ignored",
            Format::Dot => "Graphviz, for pictures",
        }
    }

    /// Can it be read?
    pub fn is_readable(self) -> bool {
        self != Format::Dot
    }

    /// The format that a file's name promises, a last `.gz` aside.
    pub fn of_path(path: &Path) -> Option<Format> {
        ending(path)?.parse().ok()
    }
}

/// The ending of a file's name in lower case, a last `.gz` aside. The rest of the name may be any bytes.
fn ending(path: &Path) -> Option<String> {
    let name = Path::new(path.file_name()?);
    let compressed = name.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let name = if compressed { Path::new(name.file_stem()?) } else { name };
    Some(name.extension()?.to_str()?.to_ascii_lowercase())
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no format of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the formats are aut, fsm, json, lts and dot")
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or(UnknownFormat)
    }
}

/// Where a system is read from.
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Anything else that can be read, under the name that diagnostics show.
    Reader {
        /// The name.
        name: String,
        /// The content.
        reader: Box<dyn Read>,
    },
}

impl Input {
    /// As the command line means it: `-` is standard input.
    pub fn from_argument(argument: impl Into<PathBuf>) -> Input {
        let path = argument.into();
        if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path) }
    }

    /// Content that is already in memory.
    pub fn text(name: impl Into<String>, content: impl Into<Vec<u8>>) -> Input {
        Input::Reader { name: name.into(), reader: Box::new(io::Cursor::new(content.into())) }
    }

    /// The name that diagnostics show.
    pub fn name(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "<stdin>".to_string(),
            Input::Reader { name, .. } => name.clone(),
        }
    }
}

/// What the user may specify about an input.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Labels that mean `τ` besides `tau`, each as the whole text of a label.
    pub tau_names: Vec<String>,
    /// The format; when absent it is found out.
    pub format: Option<Format>,
}

/// Why there is no system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The input is wrong.
    Diagnostic(Box<Diagnostic>),
    /// The job was stopped.
    Stopped(Stopped),
}

impl From<Diagnostic> for ReadError {
    fn from(diagnostic: Diagnostic) -> Self {
        ReadError::Diagnostic(Box::new(diagnostic))
    }
}

impl From<Stopped> for ReadError {
    fn from(stopped: Stopped) -> Self {
        ReadError::Stopped(stopped)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Diagnostic(diagnostic) => write!(f, "{}: {}", diagnostic.code, diagnostic.message),
            ReadError::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads a system; its labels go into the table `labels`.
pub fn read_lts(
    input: Input,
    options: &ReadOptions,
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Lts, ReadError> {
    control.progress().begin(&format!("reading {}", input.name()), 0);
    let opened = open::open(input, options.format, control);
    control.check()?;
    let mut opened = opened?;
    control.progress().begin(&format!("reading {}", opened.name), opened.size);
    let read = match opened.format {
        Format::Json => json::read(&mut opened, options, labels, control),
        Format::Fsm => fsm::read(&mut opened, options, labels, control),
        Format::Lts => mcrl2::read(&mut opened, options, labels, control),
        Format::Aut | Format::Dot => aut::read(&mut opened, options, labels, control),
    };
    // A read that was stopped looks like one that failed.
    control.check()?;
    read
}

/// Where a system is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A file, compressed when its name ends in `.gz`.
    Path(PathBuf),
    /// Standard output.
    Stdout,
}

impl Output {
    /// As the command line means it: `-` is standard output.
    pub fn from_argument(argument: impl Into<PathBuf>) -> Output {
        let path = argument.into();
        if path.as_os_str() == "-" { Output::Stdout } else { Output::Path(path) }
    }

    /// The format to write when the user names none: what the file's name promises; Aldebaran on standard output.
    pub fn format(&self) -> Result<Format, Box<Diagnostic>> {
        match self {
            Output::Stdout => Ok(Format::Aut),
            Output::Path(path) => Format::of_path(path).ok_or_else(|| Box::new(open::no_output_format(path))),
        }
    }
}

/// Why a system was not written, or not to its end.
#[derive(Debug)]
pub enum WriteError {
    /// The system cannot be expressed in the format.
    Diagnostic(Box<Diagnostic>),
    /// The operating system refuses; a closed pipe is [`io::ErrorKind::BrokenPipe`].
    Io(io::Error),
    /// The job was stopped.
    Stopped(Stopped),
}

impl From<Diagnostic> for WriteError {
    fn from(diagnostic: Diagnostic) -> Self {
        WriteError::Diagnostic(Box::new(diagnostic))
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}

impl From<Stopped> for WriteError {
    fn from(stopped: Stopped) -> Self {
        WriteError::Stopped(stopped)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Diagnostic(diagnostic) => write!(f, "{}: {}", diagnostic.code, diagnostic.message),
            WriteError::Io(error) => error.fmt(f),
            WriteError::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {}

/// Writes a system. Nothing is written when a label cannot be expressed. `out` needs no buffer of its own.
pub fn write_lts(lts: &Lts, format: Format, out: &mut dyn Write, control: &Control) -> Result<(), WriteError> {
    write_named(lts, format, out, "<output>", control)
}

/// Writes a system to a file or to standard output, in the format given or in the one that the name promises.
pub fn save_lts(lts: &Lts, output: &Output, format: Option<Format>, control: &Control) -> Result<(), WriteError> {
    let format = match format {
        Some(format) => format,
        None => output.format().map_err(WriteError::Diagnostic)?,
    };
    match output {
        Output::Stdout => write_named(lts, format, &mut io::stdout().lock(), "<stdout>", control),
        Output::Path(path) => {
            let name = path.display().to_string();
            let cannot = |error: io::Error| WriteError::from(cannot_create(&name, &error));
            replace_file(path, control, cannot, |file| write_file(lts, format, file, path, control))
        }
    }
}

/// Writes to an open file, compressed when the name it will have ends in `.gz`.
fn write_file(
    lts: &Lts,
    format: Format,
    file: &mut dyn Write,
    path: &Path,
    control: &Control,
) -> Result<(), WriteError> {
    let name = path.display().to_string();
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        let mut compressed = GzEncoder::new(file, Compression::default());
        write_named(lts, format, &mut compressed, &name, control)?;
        compressed.finish()?.flush()?;
        Ok(())
    } else {
        write_named(lts, format, file, &name, control)
    }
}

fn cannot_create(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write `{name}`: {error}"), Place::File(name.to_string()))
}

fn write_named(
    lts: &Lts,
    format: Format,
    out: &mut dyn Write,
    name: &str,
    control: &Control,
) -> Result<(), WriteError> {
    control.progress().begin(&format!("writing {name}"), lts.transition_count() as u64);
    match format {
        Format::Aut => aut::write(lts, out, name, control),
        Format::Lts => mcrl2_write::write(lts, out, name, control),
        Format::Fsm => fsm::write(lts, out, name, control),
        Format::Json => json::write(lts, out, name, control),
        Format::Dot => dot::write(lts, out, control),
    }
}
