//! Words of a model.

use std::sync::Arc;

use trefoil_source::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Name(Arc<str>),
    /// A number or a character.
    Number(i32),
    /// A string with its quotes.
    Text(Arc<str>),
    /// An operator or bracket.
    Mark(&'static str),
    /// The end of a line; only the preprocessor sees it.
    Newline,
    /// Text that the lexer or the preprocessor has reported: the parser is silent about it.
    Reported,
    /// The end of the text.
    End,
}

/// A token and where the user wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its place; for a token from a macro, the place of the use of the macro.
    pub(crate) span: Span,
    /// Does white space stand before it?
    pub(crate) spaced: bool,
    /// Is it the first of its line?
    pub(crate) fresh: bool,
}

impl Token {
    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(own) if own == mark)
    }

    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn is_name(&self, word: &str) -> bool {
        self.name().is_some_and(|name| &**name == word)
    }

    /// For messages.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Text(text) => text.to_string(),
            Kind::Mark(mark) => format!("`{mark}`"),
            Kind::Newline => "the end of the line".to_string(),
            Kind::Reported => "this".to_string(),
            Kind::End => "the end of the model".to_string(),
        }
    }
}

/// Words that begin a declaration of variables.
pub(crate) const TYPES: &[&str] = &["bit", "bool", "byte", "short", "int", "unsigned", "pid", "chan", "mtype"];

/// Words that cannot be names.
pub(crate) const KEYWORDS: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "D_proctype",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];
