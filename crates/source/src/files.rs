//! Source files held in memory, spans in them, and single lines kept from files that are not.

use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A file in [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Bytes `start..end` of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of both and everything between them; both lie in one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One file: its name as the user gave it, its text, and where its lines start.
#[derive(Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> SourceFile {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        SourceFile { name, text, line_starts }
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the lines that these bytes are in, and the number of the first line, from 1.
    pub(crate) fn lines_around(&self, bytes: Range<usize>) -> (usize, Range<usize>) {
        let line_of = |offset: usize| self.line_starts.partition_point(|&start| start as usize <= offset) - 1;
        let first = line_of(bytes.start);
        let after = self.line_starts.get(line_of(bytes.end) + 1);
        let end = after.map_or(self.text.len(), |&start| start as usize).max(bytes.end);
        (first + 1, self.line_starts[first] as usize..end)
    }

    /// The line of a byte, from 1: faster than with its column where lines are long.
    pub fn line(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line(offset) - 1;
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(end - start, |before| before.chars().count());
        (line + 1, column + 1)
    }
}

/// The files of one run. Files are added and never removed, so a [`FileId`] stays good.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// Adds a file. Spans hold 32-bit offsets, so callers must refuse longer files first.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        assert!(u32::try_from(text.len()).is_ok(), "a source file of 4 GiB or more");
        let id = FileId(self.files.len() as u32);
        self.files.push(Arc::new(SourceFile::new(name.into(), text)));
        id
    }

    /// The file with this id.
    pub fn file(&self, id: FileId) -> &Arc<SourceFile> {
        &self.files[id.0 as usize]
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.range()]
    }
}

/// The message about a file that cannot be read, whatever it should have held.
pub fn cannot_read(name: &str, why: &str) -> String {
    format!("cannot read `{name}`: {why}")
}

/// Why a file cannot be read, for [`cannot_read`].
pub fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission is denied".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_string()
        }
    }
}

/// One line kept from a file that was streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line number from 1.
    pub number: usize,
    /// The line, or the part of a long one around the place; no newline.
    pub text: String,
    /// Bytes of `text` that are meant.
    pub range: Range<usize>,
    /// Column of the place in the whole line, from 1, in characters.
    pub column: usize,
}

impl Line {
    /// How much of a long line is kept on each side of the place.
    const CONTEXT: usize = 60;

    /// Cuts the place `range` out of `line` (bytes, perhaps not UTF-8, perhaps very long).
    pub fn cut(file: &str, number: usize, line: &[u8], range: Range<usize>) -> Line {
        let start = range.start.min(line.len());
        let end = range.end.clamp(start, line.len());
        let from = floor_boundary(line, start.saturating_sub(Line::CONTEXT));
        let to = floor_boundary(line, (start + Line::CONTEXT).min(line.len()));
        let end = end.min(to).max(start);
        let before = String::from_utf8_lossy(&line[from..start]);
        let inside = String::from_utf8_lossy(&line[start..end]);
        let after = String::from_utf8_lossy(&line[end..to]);
        let column = String::from_utf8_lossy(&line[..start]).chars().count() + 1;
        let range = before.len()..before.len() + inside.len();
        Line { file: file.to_string(), number, text: format!("{before}{inside}{after}"), range, column }
    }
}

/// The last index at or before `at` that does not cut a UTF-8 character.
fn floor_boundary(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while at > 0 && at < bytes.len() && bytes[at] & 0b1100_0000 == 0b1000_0000 {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let mut sources = Sources::default();
        let id = sources.add("a.csp", "één\nb\n");
        let file = sources.file(id);
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(4), (1, 3));
        assert_eq!(file.line_column(6), (2, 1));
        assert_eq!(file.line_column(8), (3, 1));
    }

    #[test]
    fn a_place_in_a_long_line_is_cut_out() {
        let mut line = vec![b'x'; 100_000];
        line[70_000] = b'!';
        let cut = Line::cut("f", 3, &line, 70_000..70_001);
        assert_eq!(&cut.text[cut.range.clone()], "!");
        assert_eq!(cut.column, 70_001);
        assert!(cut.text.len() <= 2 * Line::CONTEXT);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_somehow() {
        let cut = Line::cut("f", 1, b"\xff\xfe(1,", 2..3);
        assert_eq!(&cut.text[cut.range.clone()], "(");
        let past_the_end = Line::cut("f", 1, b"ab", 7..9);
        assert_eq!(past_the_end.range, 2..2);
    }
}
