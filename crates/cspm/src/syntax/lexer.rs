//! Characters to tokens.
//!
//! By hand, one pass over the bytes, longest token first. Blank space and comments make no tokens: a token knows
//! whether a newline came before it, and comments are listed beside the tokens for the printer. Where the longest token
//! is wrong only in one context (`]]` that closes two brackets, `<-` that opens a sequence with a negative number) the
//! parser splits it.

use trefoil_source::{Diagnostic, FileId, Place, Span};

use super::codes;
use super::store::Comment;
use super::token::{Kind, Token};

/// The tokens of a text, and what else the lexer found. The last token is [`Kind::End`].
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    /// First bytes of tokens and comments that come after a blank line.
    pub(super) after_blank: Vec<(FileId, u32)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    file: FileId,
    at: usize,
    lexed: Lexed,
    after_newline: bool,
    /// Newlines since the last token or comment.
    newlines: u32,
    /// Comments from here on are not followed by a token yet.
    unfollowed: usize,
}

pub(super) fn lex(text: &str, file: FileId) -> Lexed {
    let tokens = Vec::with_capacity(text.len() / 4);
    let lexed = Lexed { tokens, comments: Vec::new(), after_blank: Vec::new(), diagnostics: Vec::new() };
    let mut lexer =
        Lexer { bytes: text.as_bytes(), text, file, at: 0, lexed, after_newline: true, newlines: 0, unfollowed: 0 };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    lexer.run();
    lexer.lexed
}

/// The value of a literal's inside: escapes replaced.
pub(super) fn unescape(inside: &str) -> String {
    let mut value = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    value
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn error(&mut self, code: &'static str, message: &str, start: usize) {
        let place = Place::Span(self.span(start));
        self.lexed.diagnostics.push(Diagnostic::error(code, message, place));
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let token = Token { kind, after_newline: self.after_newline, start: start as u32, end: self.at as u32 };
        self.note_blank(start);
        for comment in &mut self.lexed.comments[self.unfollowed..] {
            comment.next = token.start;
        }
        self.unfollowed = self.lexed.comments.len();
        self.lexed.tokens.push(token);
        self.after_newline = false;
    }

    fn note_blank(&mut self, start: usize) {
        if self.newlines > 1 {
            self.lexed.after_blank.push((self.file, start as u32));
        }
        self.newlines = 0;
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            let start = self.at;
            match self.bytes[start] {
                b'\n' => {
                    self.after_newline = true;
                    self.newlines += 1;
                    self.at += 1;
                }
                // A lone carriage return is an old Macintosh line end; before a newline it changes nothing.
                b'\r' => {
                    self.after_newline = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                // One message for a run of them: binary content has millions.
                0 => {
                    while self.at < self.bytes.len() && self.bytes[self.at] == 0 {
                        self.at += 1;
                    }
                    self.error(codes::BAD_CHARACTER, "a NUL character: this is not text", start);
                }
                b'-' if self.byte(1) == b'-' => self.line_comment(),
                b'{' if self.byte(1) == b'-' => self.block_comment(),
                b'a'..=b'z' | b'A'..=b'Z' => self.word(),
                b'_' => {
                    let next = self.byte(1);
                    if next.is_ascii_alphanumeric() || next == b'_' || next >= 0x80 {
                        self.word();
                    } else {
                        self.at += 1;
                        self.push(Kind::Wildcard, start);
                    }
                }
                b'0'..=b'9' => {
                    while self.byte(0).is_ascii_digit() {
                        self.at += 1;
                    }
                    self.push(Kind::Integer, start);
                }
                b'"' => self.string(),
                b'\'' => self.character(),
                0x80.. => self.beyond_ascii(),
                _ => self.symbol(),
            }
        }
        let end = self.bytes.len();
        self.at = end;
        self.after_newline = true;
        self.push(Kind::End, end);
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(rest.len());
        self.at += self.text[start..start + length].trim_end().len();
        self.comment(start);
        self.at = start + length;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        let after_newline = self.after_newline;
        let mut newline = false;
        loop {
            match (self.byte(0), self.byte(1)) {
                (b'{', b'-') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'-', b'}') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                (byte, _) => {
                    newline |= byte == b'\n';
                    self.at += 1;
                    if self.at >= self.bytes.len() {
                        self.at = start + 2;
                        let message = "this block comment is not closed";
                        let diagnostic = Diagnostic::error(codes::OPEN_COMMENT, message, Place::Span(self.span(start)));
                        let negative = self.byte(0).is_ascii_digit();
                        let help = "`{-` starts a comment; a set with a negative number starts with `{ -`";
                        self.lexed.diagnostics.push(if negative { diagnostic.help(help) } else { diagnostic });
                        // The parser does not report the end of the file then.
                        self.push(Kind::Bad, start);
                        self.at = self.bytes.len();
                        return;
                    }
                }
            }
        }
        self.comment(start);
        self.after_newline = after_newline | newline;
    }

    fn comment(&mut self, start: usize) {
        let code = !self.after_newline && !self.lexed.tokens.is_empty();
        let span = self.span(start);
        self.note_blank(start);
        let text = self.text[start..self.at].into();
        self.lexed.comments.push(Comment { span, text, trailing: code, next: u32::MAX });
    }

    fn word(&mut self) {
        let start = self.at;
        while self.in_word() {}
        while self.byte(0) == b'\'' {
            self.at += 1;
        }
        let mut kind = keyword(&self.bytes[start..self.at]);
        // `A::b` is one name; `f :: T` and `f ::T` annotate.
        while kind == Kind::Name && self.byte(0) == b':' && self.byte(1) == b':' && self.name_start(2) {
            self.at += 2;
            while self.in_word() {}
            while self.byte(0) == b'\'' {
                self.at += 1;
            }
            kind = Kind::Name;
        }
        self.push(kind, start);
    }

    fn name_start(&self, ahead: usize) -> bool {
        let byte = self.byte(ahead);
        byte.is_ascii_alphabetic() || byte == b'_' || self.letter(self.at + ahead).is_some()
    }

    /// A letter or digit beyond ASCII at this place.
    fn letter(&self, at: usize) -> Option<char> {
        if self.bytes.get(at).is_none_or(|byte| byte.is_ascii()) {
            return None;
        }
        self.text[at..].chars().next().filter(|character| character.is_alphanumeric())
    }

    fn in_word(&mut self) -> bool {
        let byte = self.byte(0);
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            self.at += 1;
            return true;
        }
        let letter = self.letter(self.at);
        self.at += letter.map_or(0, char::len_utf8);
        letter.is_some()
    }

    fn beyond_ascii(&mut self) {
        let start = self.at;
        if self.letter(start).is_some_and(char::is_alphabetic) {
            return self.word();
        }
        let character = self.text[start..].chars().next().unwrap_or('\u{fffd}');
        self.at += character.len_utf8();
        if character.is_whitespace() || character == '\u{feff}' || character == '\u{200b}' {
            return;
        }
        self.bad(start, character);
    }

    fn bad(&mut self, start: usize, character: char) {
        let place = Place::Span(self.span(start));
        let message = format!("no token starts with `{}`", character.escape_debug());
        let diagnostic = Diagnostic::error(codes::BAD_CHARACTER, message, place);
        let hint = match character {
            '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' => Some("replace the typographic quote by a plain one"),
            '\u{2013}' | '\u{2014}' | '\u{2212}' => Some("replace the dash by `-`"),
            '\u{2192}' => Some("write `->`"),
            '\u{2190}' => Some("write `<-`"),
            '\u{25a1}' => Some("write `[]`"),
            '\u{2293}' => Some("write `|~|`"),
            '\u{2291}' => Some("write `[T=`, `[F=` or `[FD=`"),
            '\u{2225}' => Some("write `[|A|]` or `[A||B]`"),
            '\u{2980}' => Some("write `|||`"),
            '\u{222a}' => Some("write `union(A, B)`"),
            '\u{2229}' => Some("write `inter(A, B)`"),
            '\u{2216}' => Some("write `\\` to hide events, `diff(A, B)` for the difference of sets"),
            '\u{2208}' => Some("write `member(x, A)`, or `x <- A` for a generator"),
            '\u{2227}' => Some("write `and`"),
            '\u{2228}' => Some("write `or`"),
            '\u{ac}' => Some("write `not`"),
            '\u{2260}' => Some("write `!=`"),
            '\u{2264}' => Some("write `<=`"),
            '\u{2265}' => Some("write `>=`"),
            '\u{27e8}' => Some("write `<`"),
            '\u{27e9}' => Some("write `>`"),
            '~' => Some("write `|~|` for internal choice, `not` for negation"),
            _ => None,
        };
        self.lexed.diagnostics.push(match hint {
            Some(hint) => diagnostic.help(hint),
            None => diagnostic,
        });
        self.push(Kind::Bad, start);
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return self.push(Kind::String, start);
                }
                b'\\' if self.at + 1 < self.bytes.len() && self.byte(1) != b'\n' => {
                    self.at += 1;
                    self.skip_character();
                }
                b'\n' => break,
                _ if self.at >= self.bytes.len() => break,
                _ => self.at += 1,
            }
        }
        self.error(codes::BAD_LITERAL, "this string is not closed on its line", start);
        self.push(Kind::Bad, start);
    }

    fn skip_character(&mut self) {
        self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    fn character(&mut self) {
        let start = self.at;
        self.at += 1;
        if self.byte(0) == b'\\' {
            self.at += 1;
        }
        if self.byte(0) != b'\n' {
            self.skip_character();
        }
        if self.byte(0) == b'\'' {
            self.at += 1;
            return self.push(Kind::Character, start);
        }
        self.error(codes::BAD_LITERAL, "a character literal consists of one character and a closing `'`", start);
        self.push(Kind::Bad, start);
    }

    fn symbol(&mut self) {
        use Kind::*;
        let start = self.at;
        let (a, b, c) = (self.byte(0), self.byte(1), self.byte(2));
        let (kind, length) = match (a, b, c) {
            (b'|', b'|', b'|') => (Interleave, 3),
            (b'|', b'~', b'|') => (InternalChoice, 3),
            (b'<', b'-', b'>') => (Tie, 3),
            (b'=', b'>', b'*') => (YieldStar, 3),
            // `<a>==<b>`: nothing can be at least and equal.
            (b'>', b'=', b'=') => (Greater, 1),
            (b'[', b']', _) => (ExternalChoice, 2),
            (b'[', b'[', _) => (OpenRename, 2),
            (b'[', b'|', _) => (OpenEvents, 2),
            (b'[', b'>', _) => (SlidingChoice, 2),
            (b'[', b'+', _) => (OpenSyncChoice, 2),
            (b'[', b'A'..=b'Z', _) => match self.refinement() {
                Some(length) => (Refines, length),
                None => (OpenSquare, 1),
            },
            (b'[', _, _) => (OpenSquare, 1),
            (b']', b']', _) => (CloseRename, 2),
            (b']', b':', _) if c != b'[' => (CloseProperty, 2),
            (b']', _, _) => (CloseSquare, 1),
            (b'|', b'|', _) => (Parallel, 2),
            (b'|', b']', _) => (CloseEvents, 2),
            (b'|', b'>', _) => (CloseException, 2),
            (b'|', b'}', _) => (CloseProductions, 2),
            (b'|', b')', _) => (CloseMap, 2),
            (b'|', b'\\', _) => (Project, 2),
            (b'|', _, _) => (Bar, 1),
            (b'(', b'|', b'|' | b'~') => (OpenRound, 1),
            (b'(', b'|', _) => (OpenMap, 2),
            (b'(', _, _) => (OpenRound, 1),
            (b')', _, _) => (CloseRound, 1),
            (b'{', b'|', b'~') => (OpenBrace, 1),
            (b'{', b'|', _) => (OpenProductions, 2),
            (b'{', _, _) => (OpenBrace, 1),
            (b'}', _, _) => (CloseBrace, 1),
            (b'/', b'\\', _) => (Interrupt, 2),
            (b'/', b'+', _) => (OpenSyncInterrupt, 2),
            (b'/', _, _) => (Slash, 1),
            (b'\\', _, _) => (Backslash, 1),
            (b'+', b'\\', _) => (CloseSyncInterrupt, 2),
            (b'+', b']', _) => (CloseSyncChoice, 2),
            (b'+', _, _) => (Plus, 1),
            (b'-', b'>', _) => (Arrow, 2),
            (b'-', _, _) => (Minus, 1),
            (b'*', _, _) => (Star, 1),
            (b'%', _, _) => (Percent, 1),
            (b'^', _, _) => (Caret, 1),
            (b'#', _, _) => (Hash, 1),
            (b'=', b'=', _) => (EqualEqual, 2),
            (b'=', b'>', _) => (Yield, 2),
            (b'=', _, _) => (Equals, 1),
            (b'!', b'=', _) => (NotEqual, 2),
            (b'!', _, _) => (Exclamation, 1),
            (b'<', b'-', _) => (LeftArrow, 2),
            (b'<', b'=', _) => (LessEqual, 2),
            (b'<', _, _) => (Less, 1),
            (b'>', b'=', _) => (GreaterEqual, 2),
            (b'>', _, _) => (Greater, 1),
            (b',', _, _) => (Comma, 1),
            (b'.', b'.', _) => (DotDot, 2),
            (b'.', _, _) => (Dot, 1),
            (b'?', _, _) => (Question, 1),
            (b'$', _, _) => (Dollar, 1),
            (b'&', _, _) => (Ampersand, 1),
            (b';', _, _) => (Semicolon, 1),
            (b':', b':', _) => (DoubleColon, 2),
            (b':', b'[', _) => (OpenProperty, 2),
            (b':', _, _) => (Colon, 1),
            (b'@', b'@', _) => (AtAt, 2),
            (b'@', _, _) => (At, 1),
            _ => {
                self.at += 1;
                return self.bad(start, a as char);
            }
        };
        self.at += length;
        self.push(kind, start);
    }

    /// The length of `[FD=`, if it stands here.
    fn refinement(&self) -> Option<usize> {
        let letters = self.bytes[self.at + 1..].iter().take(8).take_while(|byte| byte.is_ascii_uppercase()).count();
        (self.byte(letters + 1) == b'=' && self.byte(letters + 2) != b'=').then_some(letters + 2)
    }
}

fn keyword(word: &[u8]) -> Kind {
    match word {
        b"true" => Kind::True,
        b"false" => Kind::False,
        b"if" => Kind::If,
        b"then" => Kind::Then,
        b"else" => Kind::Else,
        b"let" => Kind::Let,
        b"within" => Kind::Within,
        b"and" => Kind::And,
        b"or" => Kind::Or,
        b"not" => Kind::Not,
        b"channel" => Kind::Channel,
        b"assert" => Kind::Assert,
        b"datatype" => Kind::Datatype,
        b"subtype" => Kind::Subtype,
        b"external" => Kind::External,
        b"transparent" => Kind::Transparent,
        b"nametype" => Kind::Nametype,
        b"module" => Kind::Module,
        b"exports" => Kind::Exports,
        b"endmodule" => Kind::EndModule,
        b"instance" => Kind::Instance,
        b"Timed" => Kind::Timed,
        _ => Kind::Name,
    }
}
