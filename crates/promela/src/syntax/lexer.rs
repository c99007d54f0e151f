//! Text to tokens, one file at a time.

use std::sync::Arc;

use trefoil_source::{Diagnostic, FileId, Place, Span};

use super::token::{Kind, Token};
use crate::codes::{BAD_CHARACTER, BIG_NUMBER, OPEN_LITERAL};

/// Longer marks first.
const MARKS: &[&str] = &[
    "<->", "..", "::", "->", "++", "--", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "!!", "??", "[]", "<>", "##",
    "#", "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "?", "!", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "@",
];

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    tokens: Vec<Token>,
    spaced: bool,
    fresh: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// The tokens of a file, ends of lines included, and a newline behind the last line.
pub(crate) fn lex(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, file, at: 0, tokens: Vec::new(), spaced: true, fresh: true, diagnostics };
    lexer.run();
    let end = lexer.text.len();
    lexer.push(Kind::Newline, end);
    lexer.tokens
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, from: usize) -> Span {
        Span { file: self.file, start: from as u32, end: self.at as u32 }
    }

    fn push(&mut self, kind: Kind, from: usize) {
        let span = self.span(from);
        let (spaced, fresh) = (std::mem::take(&mut self.spaced), std::mem::take(&mut self.fresh));
        self.tokens.push(Token { kind, span, spaced, fresh });
    }

    fn complain(&mut self, code: &'static str, message: &str, from: usize) {
        let span = self.span(from);
        self.diagnostics.push(Diagnostic::error(code, message, Place::Span(span)));
    }

    fn run(&mut self) {
        while let Some(first) = self.rest().chars().next() {
            let from = self.at;
            if first == '\n' {
                self.at += 1;
                self.push(Kind::Newline, from);
                (self.spaced, self.fresh) = (true, true);
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
                self.spaced = true;
            } else if self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n") {
                // A continued line: the next line belongs to this one.
                let taken = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
                self.at += taken;
                self.spaced = true;
            } else if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                self.spaced = true;
            } else if self.rest().starts_with("/*") {
                self.comment(from);
            } else if first.is_ascii_alphabetic() || first == '_' {
                let length = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                self.at += length.unwrap_or(self.rest().len());
                let name: Arc<str> = self.text[from..self.at].into();
                self.push(Kind::Name(name), from);
            } else if first.is_ascii_digit() {
                self.number(from);
            } else if first == '"' {
                self.string(from);
            } else if first == '\'' {
                self.character(from);
            } else if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
                self.at += mark.len();
                self.push(Kind::Mark(mark), from);
            } else {
                self.at += first.len_utf8();
                self.complain(BAD_CHARACTER, &format!("no token starts with `{}`", first.escape_debug()), from);
                self.push(Kind::Reported, from);
            }
        }
    }

    /// A comment may span lines; directives end where lines end, so the ends stay, behind the comment.
    fn comment(&mut self, from: usize) {
        match self.rest()[2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => {
                self.at += 2;
                self.complain(OPEN_LITERAL, "this comment is not closed by `*/`", from);
                self.at = self.text.len();
                self.push(Kind::Reported, from);
            }
        }
        self.spaced = true;
    }

    fn number(&mut self, from: usize) {
        let hexadecimal = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        let start = if hexadecimal { 2 } else { 0 };
        let digits =
            self.rest()[start..].find(|c: char| !if hexadecimal { c.is_ascii_hexdigit() } else { c.is_ascii_digit() });
        self.at = digits.map_or(self.text.len(), |length| self.at + start + length);
        let digits = &self.text[from + start..self.at];
        let value = if hexadecimal { i64::from_str_radix(digits, 16) } else { digits.parse() };
        // What fits as an unsigned number is taken as the bits of one, as C does.
        let value = match value {
            Ok(value) if value <= i64::from(u32::MAX) => value as u32 as i32,
            _ => {
                self.complain(BIG_NUMBER, "this number does not fit in 32 bits", from);
                0
            }
        };
        self.push(Kind::Number(value), from);
    }

    fn string(&mut self, from: usize) {
        self.at += 1;
        let mut escaped = false;
        while let Some(next) = self.rest().chars().next() {
            if next == '\n' && !escaped {
                break;
            }
            self.at += next.len_utf8();
            if next == '"' && !escaped {
                let text: Arc<str> = self.text[from..self.at].into();
                self.push(Kind::Text(text), from);
                return;
            }
            escaped = next == '\\' && !escaped;
        }
        self.complain(OPEN_LITERAL, "this string is not closed by `\"`", from);
        self.push(Kind::Reported, from);
    }

    fn character(&mut self, from: usize) {
        let mut characters = self.rest()[1..].chars();
        let value = match (characters.next(), characters.next(), characters.next()) {
            (Some('\\'), Some(escape), Some('\'')) => Some((
                match escape {
                    'n' => 10,
                    't' => 9,
                    'r' => 13,
                    'b' => 8,
                    'f' => 12,
                    '0' => 0,
                    other => other as i32,
                },
                3 + escape.len_utf8(),
            )),
            (Some(plain), Some('\''), _) if plain != '\n' => Some((plain as i32, 2 + plain.len_utf8())),
            _ => None,
        };
        match value {
            Some((value, length)) => {
                self.at += length;
                self.push(Kind::Number(value), from);
            }
            None => {
                self.at += 1;
                self.complain(OPEN_LITERAL, "this character is not closed by `'`", from);
                self.push(Kind::Reported, from);
            }
        }
    }
}
