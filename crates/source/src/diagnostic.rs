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
        Diagnostic { code, severity, message, labels, notes: Vec::new(), help: None }
    }

    /// Sets the remark at the primary place.
    pub fn seen(mut self, text: impl Into<String>) -> Diagnostic {
        self.labels[0].text = text.into();
        self
    }

    /// Adds a further place.
    pub fn also(mut self, place: Place, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { place, text: text.into() });
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds the hint.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}
