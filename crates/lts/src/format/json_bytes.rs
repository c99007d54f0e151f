//! JSON, a byte at a time: blanks, strings, numbers, skipped values, and where in the file they are.
//!
//! The window over the file keeps what a diagnostic shows of the current line and lets everything else go, so a
//! document on one line of any length is read in constant memory. Nesting is only followed where a value is skipped,
//! with a small stack on the heap and a limit.

use memchr::memchr_iter;
use trefoil_control::human_bytes;
use trefoil_source::{Code, Diagnostic, Line, Place};

use super::codes;
use super::lines::LONGEST;
use super::open::Opened;

const WINDOW: usize = 256 << 10;

/// What is kept before the current byte when the window moves on.
const CONTEXT: usize = 256;

/// How deep skipped values may be nested.
const DEEPEST: usize = 10_000;

/// A number as a message shows it; [`JsonBytes::natural`] stops at the largest that 64 bits hold.
pub(crate) fn shown(number: u64) -> String {
    if number == u64::MAX { format!("more than {}", u64::MAX - 1) } else { number.to_string() }
}

/// A place that was passed.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// Bytes of the file before the place.
    offset: u64,
}

/// The window over a JSON file.
pub(crate) struct JsonBytes<'a> {
    input: &'a mut Opened,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Bytes of the file before the buffer.
    offset: u64,
    /// Line number of the buffer's first byte, and characters of that line before the buffer.
    line: usize,
    column: usize,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> JsonBytes<'a> {
    pub(crate) fn new(input: &'a mut Opened) -> JsonBytes<'a> {
        JsonBytes { input, buffer: vec![0; WINDOW], at: 0, filled: 0, offset: 0, line: 1, column: 0 }
    }

    /// Bytes taken from the disk so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.input.consumed()
    }

    /// The current byte, unless the file is at its end.
    #[inline]
    fn byte(&mut self) -> Result<Option<u8>> {
        if self.at == self.filled { self.refill() } else { Ok(Some(self.buffer[self.at])) }
    }

    #[cold]
    fn refill(&mut self) -> Result<Option<u8>> {
        let kept = self.at.saturating_sub(CONTEXT);
        let gone = &self.buffer[..kept];
        match memchr::memrchr(b'\n', gone) {
            Some(last) => {
                self.line += memchr_iter(b'\n', gone).count();
                self.column = characters(&gone[last + 1..]);
            }
            None => self.column += characters(gone),
        }
        self.offset += kept as u64;
        self.buffer.copy_within(kept..self.filled, 0);
        self.at -= kept;
        self.filled -= kept;
        let count = self.input.read(&mut self.buffer[self.filled..])?;
        self.filled += count;
        Ok(if count == 0 { None } else { Some(self.buffer[self.at]) })
    }

    /// Where we are.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { offset: self.offset + self.at as u64 }
    }

    /// A diagnostic at the current byte.
    pub(crate) fn error(&mut self, code: Code, message: impl Into<String>) -> Diagnostic {
        let mark = self.mark();
        self.error_at(mark, code, message)
    }

    /// A diagnostic at a place passed a short while ago; when the window has moved on, at the start of the window.
    pub(crate) fn error_at(&mut self, mark: Mark, code: Code, message: impl Into<String>) -> Diagnostic {
        let at = usize::try_from(mark.offset.saturating_sub(self.offset)).map_or(self.at, |at| at.min(self.at));
        let before = &self.buffer[..at];
        let number = self.line + memchr_iter(b'\n', before).count();
        let newline = memchr::memrchr(b'\n', before);
        let start = newline.map_or(0, |newline| newline + 1);
        let rest = &self.buffer[start..self.filled];
        let text = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let mut line = Line::cut(&self.input.name, number, text, at - start..at - start + 1);
        if newline.is_none() {
            line.column += self.column;
        }
        Diagnostic::error(code, message, Place::Line(line))
    }

    pub(crate) fn skip_blanks(&mut self) -> Result<()> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte()? {
            self.at += 1;
        }
        Ok(())
    }

    /// Skips the byte order mark that must not be there but sometimes is.
    pub(crate) fn skip_prefix(&mut self, prefix: &[u8]) -> Result<()> {
        self.byte()?;
        if self.buffer[self.at..self.filled].starts_with(prefix) {
            self.at += prefix.len();
        }
        Ok(())
    }

    /// The next byte that is not blank, without taking it; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        match self.byte()? {
            Some(b' ' | b'\t' | b'\r' | b'\n') => {
                self.skip_blanks()?;
                self.byte()
            }
            byte => Ok(byte),
        }
    }

    fn expected<T>(&mut self, what: &str) -> Result<T> {
        let found = match self.byte()? {
            None => "the end of the file".to_string(),
            Some(byte @ 0x21..=0x7e) => format!("`{}`", char::from(byte)),
            Some(_) => "something else".to_string(),
        };
        Err(self.error(codes::JSON_SYNTAX, format!("{what} was expected, and {found} stands here")))
    }

    /// Takes the next byte that is not blank if it is this one.
    #[inline]
    pub(crate) fn take(&mut self, token: u8) -> Result<bool> {
        let found = self.peek()? == Some(token);
        self.at += usize::from(found);
        Ok(found)
    }

    /// Takes the next byte that is not blank, which must be this one.
    #[inline]
    pub(crate) fn token(&mut self, token: u8) -> Result<()> {
        if self.take(token)? { Ok(()) } else { self.expected(&format!("`{}`", char::from(token))) }
    }

    /// Between the elements of an array or object that `close` ends: is there another one?
    #[inline]
    pub(crate) fn another(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        if self.take(close)? {
            return Ok(false);
        }
        if !std::mem::replace(first, false) && !self.take(b',')? {
            return self.expected(&format!("`,` or `{}`", char::from(close)));
        }
        Ok(true)
    }

    /// A natural number; `u64::MAX` for any that is larger.
    #[inline]
    pub(crate) fn natural(&mut self, what: &str) -> Result<u64> {
        let mark = self.mark();
        if !matches!(self.peek()?, Some(b'0'..=b'9')) {
            return match self.byte()? {
                Some(b'-' | b'"' | b'[' | b'{' | b't' | b'f' | b'n') => {
                    Err(self.error(codes::JSON_SHAPE, format!("{what} is a natural number")))
                }
                _ => self.expected(what),
            };
        }
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.byte()? {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        match self.byte()? {
            Some(b'.' | b'e' | b'E') => {
                Err(self.error_at(mark, codes::JSON_SHAPE, format!("{what} is a natural number")))
            }
            _ => Ok(value),
        }
    }

    /// A string, decoded into `text`.
    pub(crate) fn string(&mut self, what: &str, text: &mut String) -> Result<()> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        if !self.take(b'"')? {
            return match self.byte()? {
                Some(b'-' | b'0'..=b'9' | b'[' | b'{' | b't' | b'f' | b'n') => {
                    Err(self.error(codes::JSON_SHAPE, format!("{what} is a string")))
                }
                _ => self.expected(what),
            };
        }
        let start = self.mark();
        loop {
            match self.byte()? {
                None => return Err(self.error(codes::JSON_SYNTAX, "the file ends inside a string")),
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(byte) if byte < 0x20 => {
                    return Err(self.error(codes::JSON_SYNTAX, "control characters in strings are written as escapes"));
                }
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
            if bytes.len() > LONGEST {
                return Err(
                    self.error(codes::TOO_LONG, format!("this string is longer than {}", human_bytes(LONGEST as u64)))
                );
            }
        }
        self.at += 1;
        *text = String::from_utf8(bytes)
            .map_err(|_| self.error_at(start, codes::LABEL_NOT_TEXT, "this string is not UTF-8 text"))?;
        Ok(())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        self.at += 1;
        let character = match self.byte()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let mut unit = self.hexadecimal()?;
                // Characters beyond the first 65 536 come as two units.
                if (0xd800..0xdc00).contains(&unit) && self.byte()? == Some(b'\\') {
                    self.at += 1;
                    if self.byte()? == Some(b'u') {
                        self.at += 1;
                        let low = self.hexadecimal()?;
                        if (0xdc00..0xe000).contains(&low) {
                            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        }
                    }
                }
                let Some(character) = char::from_u32(unit) else {
                    return Err(self.error(codes::JSON_SYNTAX, "half of a surrogate pair is no character"));
                };
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.expected("an escape such as `\\n` or `\\u00e9`"),
        };
        self.at += 1;
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn hexadecimal(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.byte()?.and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.expected("a hexadecimal digit");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Passes over a value of any kind.
    pub(crate) fn skip_value(&mut self) -> Result<()> {
        let mut text = String::new();
        // What closes each value that is open, and whether it still waits for its first element.
        let mut open: Vec<(u8, bool)> = Vec::new();
        loop {
            match self.peek()? {
                Some(b'"') => self.string("a string", &mut text)?,
                Some(bracket @ (b'{' | b'[')) => {
                    if open.len() == DEEPEST {
                        return Err(self.error(codes::JSON_SHAPE, "values are nested too deep here"));
                    }
                    self.at += 1;
                    open.push((bracket + 2, true));
                }
                Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.word()?,
                _ => return self.expected("a value"),
            }
            loop {
                let Some((close, first)) = open.last_mut() else {
                    return Ok(());
                };
                let close = *close;
                if self.another(first, close)? {
                    break;
                }
                open.pop();
            }
            if open.last().is_some_and(|&(close, _)| close == b'}') {
                self.string("a key", &mut text)?;
                self.token(b':')?;
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<()> {
        let mark = self.mark();
        let mut word = Vec::new();
        while let Some(byte @ (b'a'..=b'z' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'E')) = self.byte()? {
            if word.len() < 400 {
                word.push(byte);
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&word);
        let known = matches!(&*text, "true" | "false" | "null");
        if known || text.ends_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok() {
            Ok(())
        } else {
            Err(self.error_at(mark, codes::JSON_SYNTAX, "this is no JSON value"))
        }
    }
}

/// Characters of UTF-8 text, counted by their first bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}
