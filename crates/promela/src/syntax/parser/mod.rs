//! A parser by recursive descent for all of Promela as Spin 6 accepts it.
//!
//! It never fails: it gives a tree and a list of diagnostics, and goes on at the next unit or statement after a mistake.
//! An inline is expanded where it is called, by exchanging its parameters for the tokens of the arguments, as Spin does with
//! text; its body is a block whose labels are its own.

mod declarations;
mod expressions;
mod statements;

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Sources, Span};

use super::preprocess::{Reader, preprocess};
use super::token::{KEYWORDS, Kind, Token};
use super::tree::{Unit, Word};
use crate::codes::{EMBEDDED_C, EXPECTED, TOO_DEEP};
use trefoil_source::nearest;

/// Statements and expressions nested deeper than this are refused.
const MOST_NESTED: usize = 1000;
/// Inlines that call each other deeper than this are refused.
const MOST_INLINES: usize = 100;
/// Mistakes after which the parser gives up.
const MOST_MISTAKES: usize = 100;

/// A mistake was told; the construct has no tree.
pub(super) struct Wrong;

type Parsed<T> = Result<T, Wrong>;

/// An inline and its parameters.
#[derive(Clone)]
struct Inline {
    parameters: Vec<Arc<str>>,
    body: Arc<[Token]>,
}

pub(super) struct Parser<'a> {
    tokens: Arc<[Token]>,
    at: usize,
    inlines: HashMap<Arc<str>, Inline>,
    /// Inlines that are being expanded.
    expanding: usize,
    /// Tokens that inlines have brought so far.
    brought: usize,
    /// Names of typedefs and proctypes so far.
    records: HashMap<Arc<str>, ()>,
    processes: HashMap<Arc<str>, ()>,
    /// Are temporal operators understood?
    temporal: bool,
    depth: usize,
    /// Was something told after which nothing else is worth a word?
    hopeless: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// Reads a model: its units, and what is wrong with it.
pub fn parse(
    file: FileId,
    sources: &mut Sources,
    reader: &mut Reader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Vec<Unit>, Stopped> {
    let tokens = preprocess(file, sources, reader, diagnostics, control)?;
    let mut parser = Parser {
        tokens: tokens.into(),
        at: 0,
        inlines: HashMap::new(),
        expanding: 0,
        brought: 0,
        records: HashMap::new(),
        processes: HashMap::new(),
        temporal: false,
        depth: 0,
        hopeless: false,
        diagnostics,
    };
    // A proctype may be named (by `run` or a remote reference) before it is declared.
    parser.find_processes();
    let mut units = Vec::new();
    while parser.peek().kind != Kind::End {
        control.check()?;
        let before = parser.at;
        match parser.unit() {
            Ok(Some(unit)) => units.push(unit),
            Ok(None) => {}
            Err(Wrong) => parser.skip_unit(before),
        }
        if parser.hopeless || parser.diagnostics.len() >= MOST_MISTAKES {
            break;
        }
    }
    Ok(units)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.peek().is(mark);
        if found {
            self.next();
        }
        found
    }

    fn take_name(&mut self, word: &str) -> bool {
        let found = self.peek().is_name(word);
        if found {
            self.next();
        }
        found
    }

    fn complain<T>(&mut self, code: &'static str, message: impl Into<String>, span: Span) -> Parsed<T> {
        self.tell(Diagnostic::error(code, message, Place::Span(span)));
        Err(Wrong)
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        if !self.hopeless {
            self.diagnostics.push(diagnostic);
        }
    }

    /// One word about embedded C is enough.
    fn refuse_c<T>(&mut self, name: &str, span: Span) -> Parsed<T> {
        if self.diagnostics.iter().any(|told| told.code == EMBEDDED_C) {
            return Err(Wrong);
        }
        self.complain(EMBEDDED_C, format!("embedded C code (`{name}`) is not supported"), span)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek().clone();
        // Where a name stands before something that cannot follow it, the name itself may be misspelt.
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at]);
        let misspelt = [Some(&token), before.filter(|_| token.name().is_some())].into_iter().flatten();
        let near = misspelt.filter_map(|token| token.name()).find_map(|name| {
            nearest(name, KEYWORDS.iter().copied().chain(self.records.keys().map(|record| &**record)))
        });
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let message = format!("{what} was expected, not {}", token.describe());
        let wrong = Diagnostic::error(EXPECTED, message, Place::Span(token.span));
        self.tell(match help {
            Some(help) => wrong.help(help),
            None => wrong,
        });
        Err(Wrong)
    }

    fn need(&mut self, mark: &'static str) -> Parsed<Span> {
        if self.peek().is(mark) { Ok(self.next().span) } else { self.expected(&format!("`{mark}`")) }
    }

    fn need_name(&mut self, word: &str) -> Parsed<Span> {
        if self.peek().is_name(word) { Ok(self.next().span) } else { self.expected(&format!("`{word}`")) }
    }

    /// A name that is no keyword.
    fn word(&mut self, what: &str) -> Parsed<Word> {
        match self.peek().name() {
            Some(name) if !KEYWORDS.contains(&&**name) => {
                let token = self.next();
                let text = token.name().cloned().unwrap_or_else(|| "".into());
                Ok(Word { text, span: token.span })
            }
            _ => self.expected(what),
        }
    }

    fn number(&mut self, what: &str) -> Parsed<i32> {
        match self.peek().kind {
            Kind::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => self.expected(what),
        }
    }

    /// Where everything from `from` to the last token taken stands; over several files, where it begins.
    fn since(&self, from: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        if last.file == from.file && last.end >= from.start { from.to(last) } else { from }
    }

    /// Runs a part that may contain itself.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MOST_NESTED {
            let span = self.peek().span;
            return self.complain(TOO_DEEP, format!("more than {MOST_NESTED} levels are nested here"), span);
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 << 10, 2 << 20, || part(self));
        self.depth -= 1;
        result
    }

    fn find_processes(&mut self) {
        let tokens = self.tokens.clone();
        for pair in tokens.windows(2) {
            if (pair[0].is_name("proctype") || pair[0].is_name("D_proctype"))
                && let Some(name) = pair[1].name()
            {
                self.processes.insert(name.clone(), ());
            }
        }
    }

    /// After a mistake: goes to where the next unit begins.
    fn skip_unit(&mut self, before: usize) {
        if self.at == before {
            self.next();
        }
        const STARTS: &[&str] =
            &["active", "proctype", "D_proctype", "init", "never", "ltl", "typedef", "inline", "trace", "notrace"];
        loop {
            let token = self.peek();
            let starts = token.name().is_some_and(|name| STARTS.contains(&&**name));
            if token.kind == Kind::End || starts {
                return;
            }
            self.next();
        }
    }
}
