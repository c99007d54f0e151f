//! Diagnostics: a code, a message, places and a hint.

use crate::files::{Line, Span};

/// A stable name for a kind of mistake, such as `A003`. The letter names the part of Trefoil that reports it.
pub type Code = &'static str;

/// A row of a crate's table of codes, from which the documentation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// The code.
    pub code: Code,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// An input or a command with this mistake.
    pub example: &'static str,
}

impl CodeEntry {
    /// A row.
    pub const fn new(code: Code, meaning: &'static str, example: &'static str) -> CodeEntry {
        CodeEntry { code, meaning, example }
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but is probably not what the user meant.
    Warning,
}

/// The place of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file that is held in memory.
    Span(Span),
    /// In a line of a file that was streamed.
    Line(Line),
    /// Somewhere in this file.
    File(String),
}

/// A place and a remark about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// The remark, in a few words; may be empty.
    pub text: String,
}

/// A mistake in the input: code, message, places (the first is the primary one), notes and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// The mistake, in one line without a full stop.
    pub message: String,
    /// Where; the first is the primary place.
    pub labels: Vec<Label>,
    /// Further facts that help to understand it.
    pub notes: Vec<String>,
    /// The hint: how to correct it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: Code, message: impl Into<String>, place: Place) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message.into(), place)
    }

    /// A warning at a place.
    pub fn warning(code: Code, message: impl Into<String>, place: Place) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message.into(), place)
    }

    fn new(code: Code, severity: Severity, message: String, place: Place) -> Diagnostic {
        let labels = vec![Label { place, text: String::new() }];
        let message = with_short_words(message);
        Diagnostic { code, severity, message, labels, notes: Vec::new(), help: None }
    }

    /// Sets the remark at the primary place.
    pub fn seen(mut self, text: impl Into<String>) -> Diagnostic {
        self.labels[0].text = with_short_words(text.into());
        self
    }

    /// Adds a further place.
    pub fn also(mut self, place: Place, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { place, text: with_short_words(text.into()) });
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(with_short_words(note.into()));
        self
    }

    /// Adds the hint.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(with_short_words(help.into()));
        self
    }
}

/// Longer words, which are names of a user's file, are cut to [`KEPT_LETTERS`].
const LONGEST_WORD: usize = 200;
const KEPT_LETTERS: usize = 100;

/// The text with its long words cut: a name of a megabyte makes a message unreadable.
fn with_short_words(text: String) -> String {
    if text.len() <= LONGEST_WORD {
        return text;
    }
    let mut short = String::new();
    let mut rest = text.as_str();
    let in_word = |character: char| character.is_alphanumeric() || character == '_' || character == '\'';
    while !rest.is_empty() {
        let end = rest.find(|character| !in_word(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match word.char_indices().nth(LONGEST_WORD) {
            Some(_) => {
                short.extend(word.chars().take(KEPT_LETTERS));
                short.push('…');
            }
            None => short.push_str(word),
        }
        let sign = after.chars().next().map_or(0, char::len_utf8);
        short.push_str(&after[..sign]);
        rest = &after[sign..];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_megabyte_is_cut_in_messages() {
        let name = "x".repeat(1 << 20);
        let told =
            Diagnostic::error("X001", format!("`{name}` is unknown; `{name}` is known"), Place::File("f".into()));
        let kept = "x".repeat(KEPT_LETTERS);
        assert_eq!(told.message, format!("`{kept}…` is unknown; `{kept}…` is known"));
        let words = "short ".repeat(1000);
        assert_eq!(Diagnostic::error("X001", words.clone(), Place::File("f".into())).message, words);
    }
}
