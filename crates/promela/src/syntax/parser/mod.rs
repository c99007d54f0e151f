//! A parser by recursive descent for all of Promela as Spin 6 accepts it.
//!
//! The parser never fails: it returns a tree and a list of diagnostics. After a syntax error it continues with the next
//! unit or statement. The tree keeps [`Broken`](super::tree::StatementKind::Broken) parts for text with a syntax error,
//! so that the compiler checks the names and types of everything else. Names that such text may declare are poisoned:
//! the compiler does not report them as unknown. `mistakes` recognises what users of C write, reports what Promela
//! writes instead, and builds the tree that the text means, so that one mistake gives one diagnostic.
//!
//! The parser expands an inline where it is called. It replaces parameters by the tokens of the arguments, as Spin
//! does with text. The body of an inline is a block with its own labels.

mod declarations;
mod expressions;
mod mistakes;
mod statements;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Severity, Sources, Span};

use super::preprocess::{Preprocessed, Reader, preprocess};
use super::token::{KEYWORDS, Kind, Token};
use super::tree::{Tree, Unit, Word};
use crate::codes::{EMBEDDED_C, EXPECTED, TOO_DEEP};
use trefoil_source::nearest;

/// Statements and expressions nested deeper than this are refused.
const MOST_NESTED: usize = 1000;
/// Inlines that call each other deeper than this are refused.
const MOST_INLINES: usize = 100;
/// Errors after which the parser gives up.
const MOST_MISTAKES: usize = 100;

/// The parser has reported a mistake; the construct has no tree.
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
    /// Is the first field of a message being parsed, which brackets with further fields may follow?
    sending: bool,
    /// Are temporal operators understood?
    temporal: bool,
    depth: usize,
    /// The words that close the blocks and selections that are open here, innermost last.
    closers: Vec<&'static str>,
    /// The token before which a block or selection was reported as not closed.
    unclosed: Option<usize>,
    /// Did a syntax error leave the parser between units, where the rest of a body may follow?
    lost: bool,
    /// Names that text with a syntax error may declare.
    poisoned: HashSet<Arc<str>>,
    /// Has the parser reported a mistake that makes all others pointless?
    hopeless: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
    control: &'a Control,
}

/// Words that begin a unit and nothing else.
const STARTS: &[&str] =
    &["active", "proctype", "D_proctype", "init", "never", "ltl", "typedef", "inline", "trace", "notrace"];

/// Parses a model and reports its syntax errors.
pub fn parse(
    file: FileId,
    sources: &mut Sources,
    reader: &mut Reader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Tree, Stopped> {
    let Preprocessed { tokens, poisoned, incomplete } = preprocess(file, sources, reader, diagnostics, control)?;
    if incomplete {
        return Ok(Tree { incomplete, ..Tree::default() });
    }
    let mut parser = Parser {
        tokens: tokens.into(),
        at: 0,
        inlines: HashMap::new(),
        expanding: 0,
        brought: 0,
        records: HashMap::new(),
        processes: HashMap::new(),
        sending: false,
        temporal: false,
        depth: 0,
        closers: Vec::new(),
        unclosed: None,
        lost: false,
        poisoned,
        hopeless: false,
        diagnostics,
        control,
    };
    // A proctype may be named (by `run` or a remote reference) before it is declared.
    parser.find_processes();
    let mut units = Vec::new();
    while parser.peek().kind != Kind::End {
        control.check()?;
        let before = parser.at;
        match parser.unit() {
            // Behind a stray brace this is the declaration of a local variable.
            Ok(Some(Unit::Declare(_))) if parser.lost => (before..parser.at).for_each(|at| parser.poison(at)),
            Ok(Some(unit)) => units.push(unit),
            Ok(None) => {}
            Err(Wrong) => parser.skip_unit(before),
        }
        if parser.gives_up() {
            break;
        }
    }
    control.check()?;
    let incomplete = parser.gives_up();
    Ok(Tree { units, poisoned: parser.poisoned, incomplete })
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

    /// Is a further diagnostic pointless?
    fn gives_up(&self) -> bool {
        let errors = || self.diagnostics.iter().filter(|known| known.severity == Severity::Error).count();
        self.hopeless || (self.diagnostics.len() >= MOST_MISTAKES && errors() >= MOST_MISTAKES)
    }

    fn complain<T>(&mut self, code: &'static str, message: impl Into<String>, span: Span) -> Parsed<T> {
        self.tell(Diagnostic::error(code, message, Place::Span(span)));
        Err(Wrong)
    }

    /// Reports a mistake once: the body of an inline is parsed for each call.
    fn tell(&mut self, diagnostic: Diagnostic) {
        let same = |known: &Diagnostic| {
            known.code == diagnostic.code && known.message == diagnostic.message && known.labels == diagnostic.labels
        };
        if !self.hopeless && !self.diagnostics.iter().any(same) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports embedded C code, once per model.
    fn refuse_c<T>(&mut self, name: &str, span: Span) -> Parsed<T> {
        if self.diagnostics.iter().any(|known| known.code == EMBEDDED_C) {
            return Err(Wrong);
        }
        self.complain(EMBEDDED_C, format!("embedded C code (`{name}`) is not supported"), span)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek().clone();
        if token.kind == Kind::Reported {
            return Err(Wrong);
        }
        // Where a name stands before a token that cannot follow it, the name itself may be misspelt.
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at]);
        let misspelt = [Some(&token), before.filter(|_| token.name().is_some())];
        let near = misspelt.into_iter().flatten().filter_map(|token| token.name()).find_map(|name| {
            nearest(name, KEYWORDS.iter().copied().chain(self.records.keys().map(|record| &**record)))
        });
        let help = mistakes::hint(&token, before).or_else(|| near.map(|near| format!("did you mean `{near}`?")));
        let message = format!("expected {what}, found {}", token.describe());
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
            return self.complain(
                TOO_DEEP,
                format!(
                    "statements or expressions are nested more than {} levels deep",
                    trefoil_control::count(MOST_NESTED as u64)
                ),
                span,
            );
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

    /// Does a unit begin here that cannot stand inside another one?
    fn starts_unit(&self) -> bool {
        self.peek().name().is_some_and(|name| STARTS.contains(&&**name))
    }

    /// After a syntax error: continues behind the unit, at a semicolon or its closing brace, and poisons its names.
    fn skip_unit(&mut self, before: usize) {
        let mut depth = 0;
        for token in &self.tokens[before..self.at] {
            depth += i32::from(token.is("{")) - i32::from(token.is("}"));
        }
        if self.at == before {
            depth += i32::from(self.peek().is("{"));
            self.next();
        }
        while self.peek().kind != Kind::End && !self.starts_unit() {
            let (semicolon, close) = (self.peek().is(";"), self.peek().is("}"));
            depth += i32::from(self.peek().is("{")) - i32::from(close);
            if (semicolon || close) && depth <= 0 {
                self.next();
                break;
            }
            if depth <= 0 && self.peek().fresh && self.begins_declaration() {
                break;
            }
            self.next();
        }
        for at in before..self.at {
            self.poison(at);
        }
    }

    /// Notes that text with a syntax error may declare the name at this token.
    fn poison(&mut self, at: usize) {
        let Some(name) = self.tokens.get(at).and_then(Token::name).cloned() else { return };
        if !KEYWORDS.contains(&&*name) {
            self.poisoned.insert(name);
        }
    }
}
