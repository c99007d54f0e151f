//! The elements of a process and where control goes from each.
//!
//! Spin turns a proctype into a list of elements: one per statement, one per selection and per block, and joints (`.`)
//! where control comes together. The elements that are control states, and the steps between them, determine the number
//! of states of a model. So the compiler makes the same elements in the same order with the same numbers, and follows
//! control by the same rules (read off the verifiers that Spin 6.5 generates with all its optimisations off):
//!
//! - joints, jumps and breaks are not steps of their own, except where an option begins with one, where a jump is the
//!   statement of a label, and where an atomic sequence ends;
//! - a statement inside `atomic` keeps control; the last one gives it up, and following control from inside stops at
//!   the first element that is not atomic;
//! - an escape (`unless`) belongs to every element of its main sequence, the inner ones first.

use std::sync::Arc;

use trefoil_source::{Diagnostic, Place, Span, nearest};

use super::{Compiled, Compiler, Wrong};
use crate::codes::{D_STEP, LABEL, LOOP_OF_JUMPS};
use crate::program::{Action, Shown};

/// An index into [`Body::elements`].
pub(super) type ElementId = usize;
/// An index into [`Body::sequences`].
pub(super) type SequenceId = usize;

/// Where a jump goes.
#[derive(Clone, Debug)]
pub(super) enum Jump {
    /// The end of a loop, by its number.
    Break(usize),
    /// A label, as seen from these scopes.
    Label(Arc<str>, Vec<u32>),
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Basic(Arc<Action>),
    /// A condition that always holds.
    Skip,
    /// A condition that never holds.
    Never,
    /// `printf` or `printm`, by its place among all that is printed.
    Print(u32),
    Else,
    Goto(Jump),
    /// A joint.
    Joint,
    /// Where a loop goes on.
    Break,
    If,
    Do,
    Unless,
    Atomic,
    Block,
    DStep,
    End,
}

pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) next: Option<ElementId>,
    /// Options, or main sequence and escape.
    pub(super) parts: Vec<SequenceId>,
    /// What a block contains.
    pub(super) body: Option<SequenceId>,
    /// Escapes, the newest (outermost) first.
    pub(super) escapes: Vec<SequenceId>,
    pub(super) atomic: bool,
    pub(super) atomic_end: bool,
    /// The d_step it is in; 0 for none.
    pub(super) d_step: u32,
    /// Its control state.
    pub(super) state: u32,
    /// Its number in the model.
    pub(super) number: u32,
    pub(super) span: Span,
    /// Of what its text is made, when it is not what stands at `span`.
    pub(super) shown: Option<Shown>,
    /// Was its transition made?
    pub(super) done: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Chain {
    pub(super) first: ElementId,
    pub(super) last: ElementId,
    /// The last element before joints were appended.
    pub(super) extent: ElementId,
}

pub(super) struct Label {
    pub(super) name: Arc<str>,
    pub(super) scopes: Vec<u32>,
    pub(super) element: ElementId,
}

/// The elements of one process.
#[derive(Default)]
pub(super) struct Body {
    pub(super) elements: Vec<Element>,
    pub(super) sequences: Vec<Chain>,
    pub(super) labels: Vec<Label>,
    /// Where each loop goes on.
    pub(super) breaks: Vec<Option<ElementId>>,
}

impl Body {
    /// Has the element a label with such a beginning?
    pub(super) fn label_of(&self, element: ElementId, prefixes: &[&str]) -> Option<usize> {
        self.labels.iter().position(|label| {
            label.element == element
                && (prefixes.is_empty() || prefixes.iter().any(|prefix| label.name.starts_with(prefix)))
        })
    }

    /// Marks a sequence as atomic.
    pub(super) fn make_atomic(&mut self, sequence: SequenceId) {
        let Chain { first, last, .. } = self.sequences[sequence];
        self.walk_atomic(first, last);
        match self.elements[last].kind {
            Kind::Block | Kind::Atomic => {
                if let Some(body) = self.elements[last].body {
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.make_atomic(body));
                }
            }
            Kind::Unless => {
                let main = self.elements[last].parts[0];
                stacker::maybe_grow(64 << 10, 1 << 20, || self.make_atomic(main));
            }
            _ => {
                self.elements[last].atomic = false;
                self.elements[last].atomic_end = true;
            }
        }
    }

    fn walk_atomic(&mut self, first: ElementId, last: ElementId) {
        let mut work = vec![(first, last)];
        while let Some((first, last)) = work.pop() {
            let mut at = first;
            loop {
                self.elements[at].atomic = true;
                if matches!(self.elements[at].kind, Kind::Atomic | Kind::Block) {
                    self.elements[at].kind = Kind::Block;
                    if let Some(body) = self.elements[at].body {
                        let Chain { first, last, .. } = self.sequences[body];
                        work.push((first, last));
                    }
                }
                for &part in &self.elements[at].parts {
                    let Chain { first, last, .. } = self.sequences[part];
                    work.push((first, last));
                }
                match self.elements[at].next {
                    Some(next) if at != last => at = next,
                    _ => break,
                }
            }
        }
    }

    /// Puts all elements of a sequence into a d_step; blocks in it are plain blocks.
    pub(super) fn enter_d_step(&mut self, sequence: SequenceId, number: u32) {
        let mut work = vec![sequence];
        while let Some(sequence) = work.pop() {
            let Chain { first, last, .. } = self.sequences[sequence];
            let mut at = first;
            loop {
                self.elements[at].d_step = number;
                if matches!(self.elements[at].kind, Kind::Atomic | Kind::DStep) {
                    self.elements[at].kind = Kind::Block;
                }
                work.extend(self.elements[at].body);
                work.extend(self.elements[at].parts.iter().copied());
                match self.elements[at].next {
                    Some(next) if at != last => at = next,
                    _ => break,
                }
            }
        }
    }

    /// Lets an escape belong to every element of a sequence.
    pub(super) fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let Chain { first, extent, .. } = self.sequences[sequence];
        let mut at = first;
        loop {
            stacker::maybe_grow(64 << 10, 1 << 20, || self.escape_element(at, escape));
            if at == extent {
                break;
            }
            match self.elements[at].next {
                Some(next) => at = next,
                None => break,
            }
        }
    }

    fn escape_element(&mut self, element: ElementId, escape: SequenceId) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].kind {
            Kind::Unless => self.attach_escape(self.elements[element].parts[0], escape),
            Kind::If | Kind::Do => {
                for part in self.elements[element].parts.clone() {
                    self.attach_escape(part, escape);
                }
            }
            Kind::DStep => {
                if let Some(body) = self.elements[element].body {
                    self.escape_element(self.sequences[body].first, escape);
                }
            }
            Kind::Atomic | Kind::Block => {
                if let Some(body) = self.elements[element].body {
                    self.attach_escape(body, escape);
                }
            }
            _ => {}
        }
    }

    /// Ties the ends of blocks to what follows the blocks; outer blocks come first.
    pub(super) fn tie_ends(&mut self) {
        for element in (0..self.elements.len()).rev() {
            let (Some(body), Some(next)) = (self.elements[element].body, self.elements[element].next) else { continue };
            let mut follow = Some(next);
            while let Some(at) = follow.filter(|&at| matches!(self.elements[at].kind, Kind::Joint)) {
                follow = self.elements[at].next;
            }
            let last = self.sequences[body].last;
            if self.elements[last].next.is_none() {
                self.elements[last].next = follow;
            }
        }
    }

    /// Jumps out of an atomic sequence give up control; jumps from its end into another one keep it.
    pub(super) fn patch_atomic(&mut self, sequence: SequenceId, compiler: &mut Compiler<'_>) -> Compiled<()> {
        let Chain { first, extent, .. } = self.sequences[sequence];
        let mut at = first;
        loop {
            if let Kind::Goto(_) = self.elements[at].kind {
                let target = self.target(at, compiler)?;
                let inside = self.elements[target].atomic || self.elements[target].atomic_end;
                let element = &mut self.elements[at];
                if (element.atomic || element.atomic_end) && !inside {
                    element.atomic = false;
                    element.atomic_end = true;
                }
                if element.atomic_end && inside {
                    element.atomic_end = false;
                    element.atomic = true;
                }
            } else {
                for part in self.elements[at].parts.clone() {
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.patch_atomic(part, compiler))?;
                }
            }
            if at == extent {
                break;
            }
            match self.elements[at].next {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// The element that a jump names.
    pub(super) fn target(&self, element: ElementId, compiler: &mut Compiler<'_>) -> Compiled<ElementId> {
        let Kind::Goto(jump) = &self.elements[element].kind else { return Ok(element) };
        let span = self.elements[element].span;
        let found = match jump {
            Jump::Break(number) => self.breaks.get(*number).copied().flatten(),
            Jump::Label(name, scopes) => {
                let named = self.labels.iter().filter(|label| label.name == *name);
                let same = named.clone().rev().find(|label| label.scopes == *scopes);
                let around = named.clone().find(|label| scopes.starts_with(&label.scopes));
                same.or(around).or(named.clone().next_back()).map(|label| label.element)
            }
        };
        let Some(found) = found else {
            let name = if let Jump::Label(name, _) = jump { &**name } else { "break" };
            return compiler.no_label(name, self.labels.iter().map(|label| &*label.name), span);
        };
        if self.elements[found].d_step != self.elements[element].d_step {
            return compiler.complain(D_STEP, "a jump cannot enter or leave a d_step", span);
        }
        Ok(found)
    }

    /// Follows control from an element to the next state of the process. `atomic` says that it comes from inside an
    /// atomic sequence.
    pub(super) fn hunt(&self, from: ElementId, atomic: bool, compiler: &mut Compiler<'_>) -> Compiled<ElementId> {
        let mut at = from;
        for _ in 0..10_000 {
            let next = match self.elements[at].kind {
                Kind::Goto(_) => self.target(at, compiler)?,
                Kind::Joint | Kind::Break => match self.elements[at].next {
                    Some(next) => next,
                    None => return Ok(at),
                },
                Kind::Unless => {
                    let main = self.sequences[self.elements[at].parts[0]].first;
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.hunt(main, atomic, compiler))?
                }
                _ => return Ok(at),
            };
            if next == at || (atomic && !self.elements[next].atomic) {
                if next == at {
                    break;
                }
                return Ok(at);
            }
            at = next;
        }
        compiler.complain(
            LOOP_OF_JUMPS,
            "these jumps lead to each other and never to a statement",
            self.elements[from].span,
        )
    }

    /// Where an option or block begins.
    pub(super) fn hunt_start(&self, from: ElementId) -> ElementId {
        let mut at = from;
        for _ in 0..10_000 {
            at = match (&self.elements[at].kind, self.elements[at].next) {
                (Kind::Joint, Some(next)) => next,
                (Kind::Unless, _) => self.sequences[self.elements[at].parts[0]].first,
                _ => break,
            };
        }
        at
    }
}

impl Compiler<'_> {
    /// Reports a jump to a label that its process does not have.
    pub(super) fn no_label<'l, T>(
        &mut self,
        name: &str,
        known: impl Iterator<Item = &'l str>,
        span: Span,
    ) -> Compiled<T> {
        let wrong = Diagnostic::error(LABEL, format!("this process has no label `{name}`"), Place::Span(span));
        self.diagnostics.push(match nearest(name, known) {
            Some(near) => wrong.help(format!("did you mean `{near}`?")),
            None => wrong,
        });
        Err(Wrong)
    }
}
