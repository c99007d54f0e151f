//! One header or one transition of an `.aut` file.
//!
//! The lexical rules are those of CADP's manual page and those of mCRL2's reader, where both can be satisfied:
//!
//! - Blanks may stand between tokens. A statement normally fills one line; one that breaks off between tokens goes on
//!   in the next line, as mCRL2 reads it.
//! - A label is what stands between the first comma and the last one of its line. A quoted label ends at the last quote
//!   of its line, so it may hold quotes, commas and parentheses: what tools write without any escape is read back as it
//!   was. An unquoted label is taken without the blanks around it. (mCRL2 ends an unquoted label at the first comma and
//!   drops the blanks in it; CADP writes neither in unquoted labels.)
//! - What looks like two transitions on one line is refused rather than read as one with an odd label.
//! - Numbers are natural numbers in decimal; leading zeros do not matter.
//!
//! [`quick`] knows only what tools write, `(1,"a",2)` and `(1,a,2)` without blanks, and looks at the line from both
//! ends; everything else, right or wrong, is left to [`transition`].

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use trefoil_source::Code;

use super::codes;

/// A number, no larger than `u64::MAX`, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) value: u64,
    pub(crate) at: Range<usize>,
}

/// `des (initial,transitions,states)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) initial: Number,
    pub(crate) transitions: Number,
    pub(crate) states: Number,
}

/// `(source,label,target)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) source: Number,
    pub(crate) label: Range<usize>,
    pub(crate) target: Number,
}

/// Why a text is no statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It may become one with the next line.
    Incomplete,
    /// It never will.
    Wrong(Mistake),
}

/// What is wrong with a statement and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) at: Range<usize>,
    pub(crate) help: &'static str,
}

const HEADER_HELP: &str = "the first line is `des (initial state,number of transitions,number of states)`";
const TRANSITION_HELP: &str = "a transition is `(source,\"label\",target)` on a line of its own";

/// A transition as tools write it.
#[inline]
pub(crate) fn quick(line: &[u8]) -> Option<(u64, &[u8], u64)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (&first, rest) = line.split_first()?;
    let (&last, inside) = rest.split_last()?;
    if first != b'(' || last != b')' {
        return None;
    }
    let digits = inside.iter().position(|byte| !byte.is_ascii_digit())?;
    let target_digits = inside.iter().rev().position(|byte| !byte.is_ascii_digit())?;
    let target_start = inside.len() - target_digits;
    // Nineteen digits always fit; the comma in front and the one behind the label are different ones.
    if digits == 0
        || digits > 19
        || target_digits == 0
        || target_digits > 19
        || digits + 2 >= target_start
        || inside[digits] != b','
        || inside[target_start - 1] != b','
    {
        return None;
    }
    let mut label = &inside[digits + 1..target_start - 1];
    if label[0] == b'"' {
        if label.len() < 2 || label[label.len() - 1] != b'"' {
            return None;
        }
        label = &label[1..label.len() - 1];
    } else if is_blank(label[0]) || is_blank(label[label.len() - 1]) {
        return None;
    }
    Some((decimal(&inside[..digits]), label, decimal(&inside[target_start..])))
}

#[inline]
fn decimal(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Does this label swallow the end of one transition and the start of another?
pub(crate) fn swallows(label: &[u8], quoted: bool) -> bool {
    let matches_at = |start: usize| {
        let mut rest = &label[start..];
        let quote = |rest: &mut &[u8]| !quoted || take(rest, |byte| byte == b'"') == 1;
        let number = |rest: &mut &[u8]| take(rest, |byte| byte.is_ascii_digit()) > 0;
        let token = |rest: &mut &[u8], token| match rest.trim_ascii_start().split_first() {
            Some((&byte, after)) if byte == token => {
                *rest = after.trim_ascii_start();
                true
            }
            _ => false,
        };
        quote(&mut rest)
            && token(&mut rest, b',')
            && number(&mut rest)
            && token(&mut rest, b')')
            && token(&mut rest, b'(')
            && number(&mut rest)
            && token(&mut rest, b',')
            && (!quoted || rest.first() == Some(&b'"'))
    };
    memchr_iter(if quoted { b'"' } else { b',' }, label).any(matches_at)
}

/// Takes the bytes at the front that satisfy the predicate.
fn take(rest: &mut &[u8], asked: impl Fn(u8) -> bool) -> usize {
    let count = rest.iter().position(|&byte| !asked(byte)).unwrap_or(rest.len());
    *rest = &rest[count..];
    count
}

/// Is there nothing in this line?
pub(crate) fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_blank(byte))
}

/// Reads a header.
pub(crate) fn header(text: &[u8]) -> Result<Header, Fault> {
    let mut cursor = Cursor { text, at: 0, code: codes::MALFORMED_HEADER, help: HEADER_HELP };
    cursor.skip_blanks();
    let word = &text[cursor.at..];
    if !word.starts_with(b"des") {
        let end = word.iter().position(|&byte| is_blank(byte) || byte == b'(').unwrap_or(word.len());
        return Err(Fault::Wrong(Mistake {
            code: codes::NO_HEADER,
            message: "an .aut file starts with `des`".into(),
            at: cursor.at..cursor.at + end.max(1),
            help: HEADER_HELP,
        }));
    }
    cursor.at += 3;
    cursor.token(b'(')?;
    let initial = cursor.number("the number of the initial state")?;
    cursor.not_probabilistic(&initial)?;
    cursor.token(b',')?;
    let transitions = cursor.number("the number of transitions")?;
    cursor.token(b',')?;
    let states = cursor.number("the number of states")?;
    cursor.token(b')')?;
    cursor.end()?;
    Ok(Header { initial, transitions, states })
}

/// Reads a transition.
pub(crate) fn transition(text: &[u8]) -> Result<Parts, Fault> {
    let mut cursor = Cursor { text, at: 0, code: codes::MALFORMED_TRANSITION, help: TRANSITION_HELP };
    cursor.token(b'(')?;
    let source = cursor.number("the number of the source state")?;
    cursor.token(b',')?;
    let label = cursor.label()?;
    cursor.token(b',')?;
    let target = cursor.number("the number of the target state")?;
    cursor.not_probabilistic(&target)?;
    cursor.token(b')')?;
    cursor.end()?;
    Ok(Parts { source, label, target })
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    code: Code,
    help: &'static str,
}

impl Cursor<'_> {
    fn skip_blanks(&mut self) {
        while self.at < self.text.len() && is_blank(self.text[self.at]) {
            self.at += 1;
        }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Result<u8, Fault> {
        self.skip_blanks();
        self.text.get(self.at).copied().ok_or(Fault::Incomplete)
    }

    fn wrong<T>(&self, code: Code, message: impl Into<String>, at: Range<usize>) -> Result<T, Fault> {
        Err(Fault::Wrong(Mistake { code, message: message.into(), at, help: self.help }))
    }

    /// Something else stands where `what` was expected. When that is on a later line, the place is the end of the line
    /// before.
    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let before = self.text[..self.at].iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
        let broken = memchr(b'\n', &self.text[before..self.at]).is_some();
        let at = if broken { before..before } else { self.at..self.at + 1 };
        self.wrong(self.code, format!("{what} was expected"), at)
    }

    fn token(&mut self, token: u8) -> Result<(), Fault> {
        if self.peek()? != token {
            return self.expected(&format!("`{}`", char::from(token)));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self, what: &str) -> Result<Number, Fault> {
        if !self.peek()?.is_ascii_digit() {
            return self.expected(what);
        }
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        Ok(Number { value, at: start..self.at })
    }

    /// mCRL2 writes distributions over states as `1 1/3 2 2/3 4`.
    fn not_probabilistic(&mut self, first: &Number) -> Result<(), Fault> {
        if !self.peek()?.is_ascii_digit() {
            return Ok(());
        }
        let line_end = self.line_end();
        let end = self.text[self.at..line_end].iter().position(|&byte| matches!(byte, b',' | b')'));
        let at = first.at.start..end.map_or(line_end, |end| self.at + end);
        Err(Fault::Wrong(Mistake {
            code: codes::PROBABILISTIC,
            message: "this is a probabilistic system; Trefoil reads systems without probabilities".into(),
            at,
            help: "a state is a single number",
        }))
    }

    fn line_end(&self) -> usize {
        memchr(b'\n', &self.text[self.at..]).map_or(self.text.len(), |length| self.at + length)
    }

    fn label(&mut self) -> Result<Range<usize>, Fault> {
        let first = self.peek()?;
        let start = self.at;
        let line = &self.text[start..self.line_end()];
        if first == b'"' {
            let Some(length) = memrchr(b'"', &line[1..]) else {
                return self.wrong(codes::UNCLOSED_LABEL, "this label has no closing quote", start..start + 1);
            };
            self.at = start + length + 2;
            let label = start + 1..start + 1 + length;
            return self.one_transition(label, true);
        }
        let Some(comma) = memrchr(b',', line) else {
            self.at = start + line.len();
            return self.wrong(
                self.code,
                "a comma and the target state were expected after the label",
                self.at..self.at,
            );
        };
        self.at = start + comma;
        let length = line[..comma].iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
        if length == 0 {
            return self.wrong(codes::EMPTY_LABEL, "this transition has no label", start..start + 1);
        }
        self.one_transition(start..start + length, false)
    }

    fn one_transition(&self, label: Range<usize>, quoted: bool) -> Result<Range<usize>, Fault> {
        if swallows(&self.text[label.clone()], quoted) {
            return self.wrong(self.code, "this looks like two transitions on one line", label);
        }
        Ok(label)
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { self.expected("the end of the line") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(u64, String, u64), Fault> {
        let parts = transition(line.as_bytes())?;
        Ok((parts.source.value, line[parts.label].to_string(), parts.target.value))
    }

    #[test]
    fn labels_as_tools_write_them() {
        let lines = [
            ("(0,a,1)", "a"),
            ("(0,\"a\",1)", "a"),
            ("( 0 , \"a b\" , 1 ) \r", "a b"),
            ("\t(0, PUT !1 !TRUE , 1)", "PUT !1 !TRUE"),
            ("(0,c(1,f(2)),1)", "c(1,f(2))"),
            ("(0,\"c(1, 2)\",1)", "c(1, 2)"),
            ("(0,\"say(\"x, y\")\",1)", "say(\"x, y\")"),
            ("(0,\"\",1)", ""),
            ("(0,\"\"\",1)", "\""),
            ("(0,PUT !\"x\",1)", "PUT !\"x\""),
            ("(0,\" a\\\" \",1)", " a\\\" "),
            ("(0,\"a\",1) \"b\",1)", "a\",1) \"b"),
            ("(0,\"f(1,2)(3,4)\",1)", "f(1,2)(3,4)"),
            ("(0,\n\"a\"\n,\n1)", "a"),
            ("(000,é,01)", "é"),
        ];
        for (line, label) in lines {
            assert_eq!(read(line), Ok((0, label.to_string(), 1)), "{line}");
        }
    }

    #[test]
    fn the_quick_reader_agrees_with_the_careful_one_or_passes() {
        let alphabet = b"(),\" \r10a";
        let mut random = crate::random::Random::new(3);
        let mut quick_count = 0;
        for case in 0..200_000 {
            let mut line: Vec<u8> = (0..random.below(9)).map(|_| alphabet[random.below(alphabet.len())]).collect();
            if case % 2 == 0 {
                line = [b"(1,", line.as_slice(), b",0)"].concat();
            }
            let two = matches!(transition(&line), Err(Fault::Wrong(mistake)) if mistake.message.contains("two"));
            if let Some((source, label, target)) = quick(&line)
                && !two
            {
                quick_count += 1;
                let parts = transition(&line).unwrap_or_else(|fault| panic!("case {case}: {line:?} {fault:?}"));
                assert_eq!((source, label, target), (parts.source.value, &line[parts.label], parts.target.value));
            }
        }
        assert!(quick_count > 10_000, "{quick_count}");
    }

    #[test]
    fn what_is_unfinished_may_go_on() {
        for line in ["(", "(0", "(0,", "(0,\"a\"", "(0,\"a\",", "(0,a,", "(0,a,1"] {
            assert_eq!(read(line), Err(Fault::Incomplete), "{line}");
        }
        for line in ["des", "des (", "des (0,1,2"] {
            assert_eq!(header(line.as_bytes()), Err(Fault::Incomplete), "{line}");
        }
    }

    #[test]
    fn headers() {
        for text in ["des (0,1,2)", "des(0,1,2)", " des ( 0 , 1 , 2 ) \r", "des\n(0,1,2)"] {
            let header = header(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!((header.initial.value, header.transitions.value, header.states.value), (0, 1, 2));
        }
    }
}
