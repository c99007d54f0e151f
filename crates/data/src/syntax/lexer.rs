//! Characters to tokens.
//!
//! One pass over the bytes, longest token first. Comments make no tokens; they are listed beside them for the printer.
//! Reserved words are those of data, processes and formulas together, as in mCRL2, so that a text reads alike wherever
//! it stands.

use std::collections::HashMap;
use std::sync::OnceLock;

use trefoil_source::{Diagnostic, FileId, Place, Span};

use super::codes;
use super::token::{Comment, Kind, Token};

/// Digits of a number at most: those of the largest number that the rewriter makes.
const MOST_DIGITS: usize = 1_262_612;

/// What became of a text. The last token is [`Kind::End`].
#[derive(Debug)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    /// First bytes of tokens that come after an empty line.
    pub(super) after_blank: Vec<u32>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Reads a text. Names of built-in functions that no user can write start with `@` and are read where `internal` is
/// set.
pub(super) fn lex(text: &str, file: FileId, internal: bool) -> Lexed {
    let lexed = Lexed {
        tokens: Vec::with_capacity(text.len() / 4),
        comments: Vec::new(),
        after_blank: Vec::new(),
        diagnostics: Vec::new(),
    };
    let mut lexer = Lexer { text, file, at: 0, newlines: 1, internal, lexed };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.one() {}
    lexer.lexed
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    /// Line ends since the last token or comment; the beginning of the text counts as one.
    newlines: u32,
    internal: bool,
    lexed: Lexed,
}

/// The reserved words.
fn words() -> &'static HashMap<&'static str, Kind> {
    static WORDS: OnceLock<HashMap<&'static str, Kind>> = OnceLock::new();
    WORDS.get_or_init(|| Kind::FIXED.iter().filter(|kind| kind.is_word()).map(|&kind| (kind.text(), kind)).collect())
}

/// The operators and brackets that start with a byte, longest first.
fn operators(first: u8) -> &'static [(&'static str, Kind)] {
    static OPERATORS: OnceLock<Vec<Vec<(&'static str, Kind)>>> = OnceLock::new();
    let table = OPERATORS.get_or_init(|| {
        let mut table = vec![Vec::new(); 128];
        for &kind in Kind::FIXED.iter().filter(|kind| !kind.is_word()) {
            table[kind.text().as_bytes()[0] as usize].push((kind.text(), kind));
        }
        for row in &mut table {
            row.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        }
        table
    });
    table.get(first as usize).map_or(&[], Vec::as_slice)
}

impl Lexer<'_> {
    /// Reads one token or comment; false at the end.
    fn one(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            // Line ends of every system count: `\r\n` is one.
            let line_end = byte == b'\n' || byte == b'\r' && bytes.get(self.at + 1) != Some(&b'\n');
            if !byte.is_ascii_whitespace() {
                break;
            }
            self.newlines += u32::from(line_end);
            self.at += 1;
        }
        let start = self.at;
        let Some(&byte) = bytes.get(start) else {
            self.token(start, Kind::End);
            return false;
        };
        match byte {
            b'%' => self.comment(start),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\'');
                let kind = words().get(&self.text[start..self.at]).copied().unwrap_or(Kind::Name);
                self.token(start, kind);
            }
            b'@' if self.internal => {
                self.at += 1;
                self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                self.token(start, Kind::Name);
            }
            b'0'..=b'9' => self.number(start),
            _ => match operators(byte).iter().find(|(text, _)| self.text[start..].starts_with(text)) {
                Some(&(text, kind)) => {
                    self.at += text.len();
                    self.token(start, kind);
                }
                None => self.bad_characters(start),
            },
        }
        true
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn token(&mut self, start: usize, kind: Kind) {
        if self.newlines > 1 {
            self.lexed.after_blank.push(start as u32);
        }
        self.newlines = 0;
        let span = self.span(start);
        self.lexed.tokens.push(Token { kind, span });
    }

    fn comment(&mut self, start: usize) {
        self.skip(|byte| byte != b'\n' && byte != b'\r');
        let trailing = self.text[start..self.at].len() - self.text[start..self.at].trim_end().len();
        let mut span = self.span(start);
        span.end -= trailing as u32;
        let (own_line, after_blank) = (self.newlines > 0, self.newlines > 1);
        self.lexed.comments.push(Comment { span, own_line, after_blank });
        self.newlines = 0;
    }

    /// Digits. `007` is three numbers in mCRL2, which nothing can follow; it is refused here.
    fn number(&mut self, start: usize) {
        self.skip(|byte| byte.is_ascii_digit());
        let digits = &self.text[start..self.at];
        if digits.len() > 1 && digits.starts_with('0') {
            let place = Place::Span(self.span(start));
            let without = digits.trim_start_matches('0');
            let without = if without.is_empty() { "0" } else { without };
            let message = "a number starts with a zero".to_string();
            self.lexed
                .diagnostics
                .push(Diagnostic::error(codes::BAD_NUMBER, message, place).help(format!("write `{without}`")));
        }
        if digits.len() > MOST_DIGITS {
            let place = Place::Span(self.span(start));
            let message = format!("a number of {} digits is too large", digits.len());
            let help = format!("numbers have at most {MOST_DIGITS} digits");
            self.lexed.diagnostics.push(Diagnostic::error(codes::BAD_NUMBER, message, place).help(help));
        }
        self.token(start, Kind::Number);
    }

    fn bad_characters(&mut self, start: usize) {
        let rest = &self.text[start..];
        let bad = |character: char| {
            !(character.is_ascii_whitespace()
                || character.is_ascii_alphanumeric()
                || character == '%'
                || character == '_'
                || (character.is_ascii() && !operators(character as u8).is_empty()))
        };
        // A lone `&` starts an operator without being one, and is one byte long.
        let length = match rest.strip_prefix('"').and_then(|inside| inside.find(['"', '\n'])) {
            Some(inside) => inside + 2,
            None => rest.find(|character| !bad(character)).unwrap_or(rest.len()).max(1),
        };
        self.at += length;
        let written: String = rest[..length].chars().take(20).collect();
        let place = Place::Span(self.span(start));
        let message = format!("`{}` is not part of the language", written.replace(char::is_control, "?"));
        let mut diagnostic = Diagnostic::error(codes::BAD_CHARACTER, message, place);
        if let Some(help) = meant(&written) {
            diagnostic = diagnostic.help(help);
        }
        self.lexed.diagnostics.push(diagnostic);
    }
}

/// What a user may have meant by a character of another notation.
fn meant(written: &str) -> Option<&'static str> {
    Some(match written.chars().next()? {
        '&' => "conjunction is written `&&`",
        '"' | '\u{201c}' | '\u{201d}' => "mCRL2 has no texts; declare the values as a `struct`",
        '~' => "negation is written `!`",
        '^' => "a power is written `exp(b, e)`",
        '$' | '`' => "names hold letters, digits, `_` and `'`",
        '\\' => "set difference is written `-`, a lambda `lambda x: S. e`",
        '\u{2227}' => "conjunction is written `&&`",
        '\u{2228}' => "disjunction is written `||`",
        '\u{ac}' => "negation is written `!`",
        '\u{2200}' => "a universal quantifier is written `forall x: S. e`",
        '\u{2203}' => "an existential quantifier is written `exists x: S. e`",
        '\u{2192}' => "an arrow is written `->`",
        '\u{2264}' => "it is written `<=`",
        '\u{2265}' => "it is written `>=`",
        '\u{2260}' => "it is written `!=`",
        '\u{2208}' => "membership is written `in`",
        '\u{b7}' | '\u{22c5}' => "sequential composition is written `.`",
        '\u{2225}' => "parallel composition is written `||`",
        '\u{3bb}' => "it is written `lambda`",
        '\u{3c4}' => "it is written `tau`",
        '\u{3b4}' => "it is written `delta`",
        '\u{2018}' | '\u{2019}' => "a name may end in an apostrophe `'`, not in a typographic one",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        lex(text, FileId(0), false).tokens.iter().map(|token| token.kind).collect()
    }

    #[test]
    fn the_longest_token_is_taken() {
        use Kind::*;
        assert_eq!(kinds("a||_b||b"), [Name, LeftMerge, Name, Or, Name, End]);
        assert_eq!(kinds("x<|y|>z<=>="), [Name, Snoc, Name, ConsTo, Name, LessEqual, GreaterEqual, End]);
        assert_eq!(kinds("{:}"), [OpenCurly, Colon, CloseCurly, End]);
        assert_eq!(kinds("div divx mod' in"), [Div, Name, Name, In, End]);
        assert_eq!(kinds("c->p<>q<<r"), [Name, Arrow, Name, Else, Name, Until, Name, End]);
        assert_eq!(kinds("m' 12 if"), [Name, Number, Name, End]);
    }

    #[test]
    fn comments_know_their_lines() {
        let lexed = lex("% one\n\n% two \r\nx % three\n\ny", FileId(0), false);
        let facts: Vec<_> = lexed.comments.iter().map(|comment| (comment.own_line, comment.after_blank)).collect();
        assert_eq!(facts, [(true, false), (true, true), (false, false)]);
        let text = "% one\n\n% two \r\nx % three\n\ny";
        assert_eq!(&text[lexed.comments[1].span.range()], "% two");
        assert_eq!(lexed.after_blank.len(), 1);
    }

    #[test]
    fn characters_of_other_notations_get_a_hint() {
        for text in ["a & b", "∀x", "x ≤ y", "\"a\"", "a~b", "é", "&é"] {
            let lexed = lex(text, FileId(0), false);
            assert!(!lexed.diagnostics.is_empty(), "{text}");
            assert_eq!(lexed.tokens.last().map(|token| token.kind), Some(Kind::End));
        }
        assert!(lex("x & y", FileId(0), false).diagnostics[0].help.as_deref().unwrap().contains("&&"));
        assert!(lex("007", FileId(0), false).diagnostics[0].help.as_deref().unwrap().contains("`7`"));
    }
}
