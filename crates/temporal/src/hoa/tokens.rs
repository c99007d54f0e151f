//! The tokens of a file with an automaton.

use trefoil_source::{Diagnostic, FileId, Place, Span};

use super::codes::SYNTAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name that a colon follows, without the colon.
    Header(String),
    /// Any other name; `t` and `f` are such names.
    Word(String),
    Number(u32),
    /// A string, without its quotation marks and with escapes resolved.
    Text(String),
    /// `@name`, without the sign.
    Alias(String),
    Sign(char),
    Body,
    End,
    Abort,
}

impl Token {
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Header(name) => format!("`{name}:`"),
            Token::Word(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(text) => format!("{text:?}"),
            Token::Alias(name) => format!("`@{name}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Body => "`--BODY--`".to_string(),
            Token::End => "`--END--`".to_string(),
            Token::Abort => "`--ABORT--`".to_string(),
        }
    }
}

/// All tokens up to the end of the first automaton, with their places.
pub(super) fn tokens(text: &str, file: FileId) -> Result<Vec<(Token, Span)>, Box<Diagnostic>> {
    let bytes = text.as_bytes();
    let mut found: Vec<(Token, Span)> = Vec::new();
    let mut at = 0;
    let wrong = |message: String, start: usize, end: usize| {
        let place = Place::Span(Span { file, start: start as u32, end: end as u32 });
        Box::new(Diagnostic::error(SYNTAX, message, place))
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    while at < bytes.len() {
        let start = at;
        let token = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                // Comments nest.
                let mut depth = 0;
                loop {
                    match bytes.get(at..at + 2) {
                        Some(b"/*") => (depth, at) = (depth + 1, at + 2),
                        Some(b"*/") => (depth, at) = (depth - 1, at + 2),
                        Some(_) => at += 1,
                        None => return Err(wrong("this comment is not closed".to_string(), start, start + 2)),
                    }
                    if depth == 0 {
                        break;
                    }
                }
                continue;
            }
            b'"' => {
                at += 1;
                let mut value = Vec::new();
                loop {
                    match bytes.get(at) {
                        Some(b'"') => break,
                        Some(b'\\') if at + 1 < bytes.len() => {
                            value.push(bytes[at + 1]);
                            at += 2;
                        }
                        Some(&byte) => {
                            value.push(byte);
                            at += 1;
                        }
                        None => return Err(wrong("this string is not closed".to_string(), start, start + 1)),
                    }
                }
                at += 1;
                Token::Text(String::from_utf8_lossy(&value).into_owned())
            }
            b'0'..=b'9' => {
                while at < bytes.len() && bytes[at].is_ascii_digit() {
                    at += 1;
                }
                match text[start..at].parse::<u32>() {
                    Ok(number) if number < 1 << 31 => Token::Number(number),
                    _ => return Err(wrong("this number is too large".to_string(), start, at)),
                }
            }
            b'-' => {
                let words = [("--BODY--", Token::Body), ("--END--", Token::End), ("--ABORT--", Token::Abort)];
                let known = words.into_iter().find(|(word, _)| text[at..].starts_with(word));
                let Some((word, token)) = known else {
                    return Err(wrong("expected `--BODY--`, `--END--` or `--ABORT--`".to_string(), start, start + 1));
                };
                at += word.len();
                token
            }
            b'@' => {
                at += 1;
                while at < bytes.len() && is_name(bytes[at]) {
                    at += 1;
                }
                Token::Alias(text[start + 1..at].to_string())
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                while at < bytes.len() && is_name(bytes[at]) {
                    at += 1;
                }
                let name = text[start..at].to_string();
                if bytes.get(at) == Some(&b':') {
                    at += 1;
                    Token::Header(name)
                } else {
                    Token::Word(name)
                }
            }
            sign @ (b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'&' | b'|' | b'!') => {
                at += 1;
                Token::Sign(sign as char)
            }
            _ => {
                let character = text[at..].chars().next().unwrap_or(' ');
                let message = format!("`{}` begins no token", character.escape_default());
                return Err(wrong(message, start, start + character.len_utf8()));
            }
        };
        let last = matches!(token, Token::End | Token::Abort);
        found.push((token, Span { file, start: start as u32, end: at as u32 }));
        if last {
            break;
        }
    }
    Ok(found)
}
