//! Failures of evaluation.

use trefoil_control::{Stopped, count};
use trefoil_source::{Code, Diagnostic, Place, Span};

use super::codes;

/// How many calls are shown at either end of a long chain.
const SHOWN: usize = 6;

/// The reason why an evaluation has no value. One pointer, so that results stay small.
#[derive(Clone, Debug)]
pub struct Failure(Box<Reason>);

/// See [`Failure`].
#[derive(Clone, Debug)]
pub enum Reason {
    /// A mistake in the script, with the calls that led to it.
    Mistake(Mistake),
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

/// See [`Failure`].
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Its code.
    pub code: Code,
    /// Its message.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
    /// The hint.
    pub help: Option<String>,
    /// Further places.
    pub also: Vec<(Span, String)>,
    /// The value that was left open and is needed.
    open: Option<u32>,
    /// The innermost calls, innermost first.
    inner: Vec<(String, Span)>,
    /// The outermost calls, a ring.
    outer: Vec<(String, Span)>,
    calls: usize,
}

impl Failure {
    pub(crate) fn at(code: Code, message: impl Into<String>, span: Option<Span>) -> Failure {
        Failure(Box::new(Reason::Mistake(Mistake {
            code,
            message: message.into(),
            span,
            help: None,
            also: Vec::new(),
            open: None,
            inner: Vec::new(),
            outer: Vec::new(),
            calls: 0,
        })))
    }

    pub(crate) fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure::at(code, message, None)
    }

    /// A value that was left open is needed ([`super::open`]).
    pub(crate) fn open(number: u32) -> Failure {
        let mut failure = Failure::new(codes::WRONG_SORT, "a value that was left open is needed");
        if let Reason::Mistake(mistake) = &mut *failure.0 {
            mistake.open = Some(number);
        }
        failure
    }

    /// The open value that is needed.
    pub(crate) fn needs(&self) -> Option<u32> {
        match &*self.0 {
            Reason::Mistake(mistake) => mistake.open,
            Reason::Stopped(_) => None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Failure {
        if let Reason::Mistake(mistake) = &mut *self.0 {
            mistake.help = Some(help.into());
        }
        self
    }

    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Failure {
        if let Reason::Mistake(mistake) = &mut *self.0 {
            mistake.also.push((span, text.into()));
        }
        self
    }

    /// Sets the place, unless it is known.
    pub(crate) fn placed(mut self, span: Span) -> Failure {
        if let Reason::Mistake(mistake) = &mut *self.0 {
            mistake.span.get_or_insert(span);
        }
        self
    }

    /// Adds an outer call.
    pub(super) fn called(mut self, name: &str, span: Span) -> Failure {
        if let Reason::Mistake(mistake) = &mut *self.0 {
            mistake.span.get_or_insert(span);
            let at = mistake.calls;
            mistake.calls += 1;
            if at < SHOWN {
                mistake.inner.push((name.to_string(), span));
            } else if mistake.outer.len() < SHOWN {
                mistake.outer.push((name.to_string(), span));
            } else {
                mistake.outer[at % SHOWN] = (name.to_string(), span);
            }
        }
        self
    }

    /// The reason.
    pub fn reason(&self) -> &Reason {
        &self.0
    }

    /// The mistake as a diagnostic; none if the job was stopped.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let Reason::Mistake(mistake) = &*self.0 else { return None };
        let place = match mistake.span {
            Some(span) => Place::Span(span),
            None => Place::File("expression".to_string()),
        };
        let mut diagnostic = Diagnostic::error(mistake.code, mistake.message.clone(), place);
        for (span, text) in &mistake.also {
            diagnostic = diagnostic.also(Place::Span(*span), text.clone());
        }
        for (name, span) in &mistake.inner {
            diagnostic = diagnostic.also(Place::Span(*span), format!("while evaluating `{name}`"));
        }
        let left_out = mistake.calls - mistake.inner.len() - mistake.outer.len();
        if left_out > 0 {
            let more = count(left_out as u64);
            diagnostic =
                diagnostic.note(format!("{more} more calls between the inner and the outer ones are not shown"));
        }
        let mut outer = mistake.outer.clone();
        if mistake.outer.len() == SHOWN {
            outer.rotate_left(mistake.calls % SHOWN);
        }
        for (name, span) in &outer {
            diagnostic = diagnostic.also(Place::Span(*span), format!("while evaluating `{name}`"));
        }
        diagnostic.help = mistake.help.clone();
        Some(diagnostic)
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Failure {
        Failure(Box::new(Reason::Stopped(stopped)))
    }
}

/// The result of evaluation.
pub type Result<T> = std::result::Result<T, Failure>;
