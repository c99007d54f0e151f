//! The words of DOT: names, numbers, quoted and HTML strings, arrows and brackets; blanks and comments in between.

use std::borrow::Cow;
use std::ops::Range;

use trefoil_source::{Code, Diagnostic};

use super::{codes, place_in_bytes};

/// A word of DOT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name; `true` when it could be a keyword, being neither quoted nor a number.
    Name(Cow<'a, str>, bool),
    /// `->`.
    Arrow,
    /// `--`.
    Line,
    /// One of `{ } [ ] = ; , : +`.
    Mark(u8),
    /// Nothing more.
    End,
}

impl Token<'_> {
    /// Is it this keyword, in whatever case?
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Token::Name(name, true) if name.eq_ignore_ascii_case(keyword))
    }

    /// For a message.
    pub(super) fn words(&self) -> String {
        match self {
            Token::Name(name, _) if name.chars().count() > 40 => "this name".to_string(),
            Token::Name(name, _) => format!("`{name}`"),
            Token::Arrow => "`->`".to_string(),
            Token::Line => "`--`".to_string(),
            Token::Mark(mark) => format!("`{}`", char::from(*mark)),
            Token::End => "the end of the file".to_string(),
        }
    }
}

/// A text as tokens, one ahead.
pub(super) struct Tokens<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
    /// The next token and where it is.
    pub(super) next: Token<'a>,
    pub(super) range: Range<usize>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(name: &'a str, text: &'a str, begin: usize) -> Result<Tokens<'a>, Diagnostic> {
        let mut tokens = Tokens { name, text, at: begin, next: Token::End, range: begin..begin };
        tokens.advance()?;
        Ok(tokens)
    }

    /// An error at a place of the text.
    pub(super) fn error(&self, code: Code, message: impl Into<String>, range: Range<usize>) -> Diagnostic {
        Diagnostic::error(code, message, place_in_bytes(self.name, self.text.as_bytes(), range))
    }

    /// An error at the next token.
    pub(super) fn unexpected(&self, code: Code, expected: &str) -> Diagnostic {
        self.error(code, format!("expected {expected}, found {}", self.next.words()), self.range.clone())
    }

    /// Takes the next token when it is this mark.
    pub(super) fn take_mark(&mut self, mark: u8) -> Result<bool, Diagnostic> {
        let found = self.next == Token::Mark(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes the next token.
    pub(super) fn advance(&mut self) -> Result<Token<'a>, Diagnostic> {
        let taken = std::mem::replace(&mut self.next, Token::End);
        self.skip_blanks()?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.next = match bytes.get(self.at) {
            None => Token::End,
            Some(b'-') if bytes.get(self.at + 1) == Some(&b'>') => {
                self.at += 2;
                Token::Arrow
            }
            Some(b'-') if bytes.get(self.at + 1) == Some(&b'-') => {
                self.at += 2;
                Token::Line
            }
            Some(&mark) if b"{}[]=;,:+".contains(&mark) => {
                self.at += 1;
                Token::Mark(mark)
            }
            Some(b'"') => self.quoted()?,
            Some(b'<') => self.html()?,
            Some(byte) if byte.is_ascii_digit() || *byte == b'.' || *byte == b'-' => self.number()?,
            Some(byte) if is_name(*byte) => {
                self.at += bytes[self.at..].iter().take_while(|&&byte| is_name(byte) || byte.is_ascii_digit()).count();
                Token::Name(Cow::Borrowed(&self.text[start..self.at]), true)
            }
            Some(_) => {
                let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                let message = "no word of DOT starts with this character";
                return Err(self.error(codes::DOT_CHARACTER, message, start..start + length));
            }
        };
        self.range = start..self.at;
        Ok(taken)
    }

    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            let at_line_start = self.at == 0 || bytes[self.at - 1] == b'\n';
            match rest {
                [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
                // Lines that a preprocessor left behind.
                [b'#', ..] if at_line_start => self.skip_line(),
                [b'/', b'/', ..] => self.skip_line(),
                [b'/', b'*', ..] => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => {
                        return Err(self.error(
                            codes::DOT_UNCLOSED,
                            "this comment is not closed",
                            self.at..self.at + 2,
                        ));
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// A quoted string; only `\"` and a line break after a backslash mean something else than they show.
    fn quoted(&mut self) -> Result<Token<'a>, Diagnostic> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut value: Option<String> = None;
        let mut from = start + 1;
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                None => return Err(self.error(codes::DOT_UNCLOSED, "this string is not closed", start..start + 1)),
                Some(b'"') => break,
                Some(b'\\') => {
                    let skipped = match &bytes[at + 1..] {
                        [b'"', ..] => 1,
                        [b'\n', ..] => 2,
                        [b'\r', b'\n', ..] => 3,
                        [b'\\', ..] => {
                            at += 2;
                            continue;
                        }
                        _ => 0,
                    };
                    if skipped > 0 {
                        value.get_or_insert_default().push_str(&self.text[from..at]);
                        // The quote itself stays; a line break goes.
                        from = at + skipped;
                        at = from + usize::from(skipped == 1);
                    } else {
                        at += 1;
                    }
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        let rest = &self.text[from..at];
        let whole = match value {
            None => Cow::Borrowed(rest),
            Some(mut value) => {
                value.push_str(rest);
                Cow::Owned(value)
            }
        };
        Ok(Token::Name(whole, false))
    }

    /// An HTML string, `<` to the `>` that closes it.
    fn html(&mut self) -> Result<Token<'a>, Diagnostic> {
        let start = self.at;
        let mut depth = 0usize;
        for (offset, byte) in self.text.as_bytes()[start..].iter().enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = start + offset + 1;
                return Ok(Token::Name(Cow::Borrowed(&self.text[start..self.at]), false));
            }
        }
        Err(self.error(codes::DOT_UNCLOSED, "this HTML string is not closed", start..start + 1))
    }

    /// A number: an optional minus, digits, and perhaps a point and digits.
    fn number(&mut self) -> Result<Token<'a>, Diagnostic> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + usize::from(bytes[start] == b'-');
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = digits(at);
        at += whole;
        let mut fraction = 0;
        if bytes.get(at) == Some(&b'.') {
            fraction = digits(at + 1);
            at += 1 + fraction;
        }
        if whole + fraction == 0 {
            let message = "no word of DOT starts with this character";
            return Err(self.error(codes::DOT_CHARACTER, message, start..start + 1));
        }
        if bytes.get(at).is_some_and(|&byte| is_name(byte)) {
            let end = at + bytes[at..].iter().take_while(|&&byte| is_name(byte) || byte.is_ascii_digit()).count();
            let message = "a name that begins with a digit must be quoted";
            return Err(self.error(codes::DOT_CHARACTER, message, start..end));
        }
        self.at = at;
        Ok(Token::Name(Cow::Borrowed(&self.text[start..at]), false))
    }
}

/// Letters, underscore, and every byte of a character beyond ASCII.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}
