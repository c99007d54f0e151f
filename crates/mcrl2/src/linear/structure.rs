//! The parallel structure of a specification: operators over sequential components.
//!
//! The initial process is unfolded from the outside in, calls with the values of their arguments. A process that holds
//! parallel operators may be called as long as values decide every condition on the way, so `Row(n) = (n > 1) ->
//! (Seat(n) || Row(Nat2Pos(n - 1))) <> Seat(n)` is a row of components; mCRL2 refuses it. Everything else, a process
//! without parallel operators, is a component.

use std::collections::BTreeSet;

use trefoil_data::syntax::tree::Symbol;
use trefoil_source::{Diagnostic, Place};

use super::component::Sequential;
use super::expressions::{Environment, Expressions};
use super::{Refusal, codes};
use crate::processes::{Process, ProcessRef, ProcessSpecification};

/// Calls of parallel processes beyond which they are taken to be endless.
const MOST_CALLS: usize = 10_000;

/// Operators over components.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// A component.
    Leaf(usize),
    /// Processes in parallel, two or more.
    Parallel(Vec<Tree>),
    Block(BTreeSet<Symbol>, Box<Tree>),
    Hide(BTreeSet<Symbol>, Box<Tree>),
    Rename(Vec<(Symbol, Symbol)>, Box<Tree>),
    Allow(Vec<Vec<Symbol>>, Box<Tree>),
    Comm(Vec<(Vec<Symbol>, Symbol)>, Box<Tree>),
}

/// A component that is to be linearised: a process over values of its variables; none is `delta`.
pub(super) type Start = Option<(ProcessRef, Environment)>;

/// The processes that the initial one can reach.
pub(super) fn reachable(specification: &ProcessSpecification) -> Vec<ProcessRef> {
    let mut seen: BTreeSet<ProcessRef> = BTreeSet::new();
    let mut pending: Vec<ProcessRef> = specification.init.into_iter().collect();
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        match specification.process(id) {
            Process::MultiAction(_) | Process::Delta => {}
            Process::Call(definition, _) => pending.push(specification.definition(*definition).body),
            Process::Choice(left, right) | Process::Sequence(left, right) | Process::Parallel(left, right) => {
                pending.extend([*left, *right]);
            }
            Process::Sum(_, body)
            | Process::Block(_, body)
            | Process::Hide(_, body)
            | Process::Rename(_, body)
            | Process::Allow(_, body)
            | Process::Comm(_, body) => pending.push(*body),
            Process::Condition(_, yes, no) => {
                pending.push(*yes);
                pending.extend(*no);
            }
        }
    }
    seen.into_iter().collect()
}

/// Unfolds the initial process.
pub(super) struct Unfolding<'a> {
    specification: &'a ProcessSpecification,
    sequential: &'a Sequential<'a>,
    /// Which definitions hold parallel operators, themselves or in what they call.
    parallel: Vec<bool>,
    calls: usize,
    /// The components, in order.
    pub(super) starts: Vec<Start>,
}

impl<'a> Unfolding<'a> {
    /// An unfolding that has not begun.
    pub(super) fn new(specification: &'a ProcessSpecification, sequential: &'a Sequential<'a>) -> Unfolding<'a> {
        let parallel = vec![false; specification.definitions.len()];
        let mut unfolding = Unfolding { specification, sequential, parallel, calls: 0, starts: Vec::new() };
        loop {
            let mut changed = false;
            for (index, definition) in specification.definitions.iter().enumerate() {
                if !unfolding.parallel[index] && unfolding.is_parallel(definition.body) {
                    unfolding.parallel[index] = true;
                    changed = true;
                }
            }
            if !changed {
                return unfolding;
            }
        }
    }

    fn is_parallel(&self, id: ProcessRef) -> bool {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.specification.process(id) {
            Process::MultiAction(_) | Process::Delta => false,
            Process::Call(definition, _) => self.parallel[definition.0 as usize],
            Process::Choice(left, right) | Process::Sequence(left, right) => {
                self.is_parallel(*left) || self.is_parallel(*right)
            }
            Process::Sum(_, body) => self.is_parallel(*body),
            Process::Condition(_, yes, no) => self.is_parallel(*yes) || no.is_some_and(|no| self.is_parallel(no)),
            Process::Parallel(..)
            | Process::Block(..)
            | Process::Hide(..)
            | Process::Rename(..)
            | Process::Allow(..)
            | Process::Comm(..) => true,
        })
    }

    /// The operators and components of a process.
    pub(super) fn unfold(
        &mut self,
        x: &mut Expressions<'_>,
        id: ProcessRef,
        values: &Environment,
    ) -> Result<Tree, Refusal> {
        let found = self.inside(x, id, values)?;
        Ok(found.unwrap_or_else(|| {
            self.starts.push(None);
            Tree::Leaf(self.starts.len() - 1)
        }))
    }

    /// The same; nothing for a process that is `delta`.
    fn inside(
        &mut self,
        x: &mut Expressions<'_>,
        id: ProcessRef,
        values: &Environment,
    ) -> Result<Option<Tree>, Refusal> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.inside_deep(x, id, values))
    }

    fn inside_deep(
        &mut self,
        x: &mut Expressions<'_>,
        id: ProcessRef,
        values: &Environment,
    ) -> Result<Option<Tree>, Refusal> {
        let specification = self.specification;
        if !self.is_parallel(id) {
            if matches!(specification.process(id), Process::Delta) {
                return Ok(None);
            }
            self.starts.push(Some((id, values.clone())));
            return Ok(Some(Tree::Leaf(self.starts.len() - 1)));
        }
        match specification.process(id) {
            Process::Call(definition, arguments) => {
                self.calls += 1;
                let definition = specification.definition(*definition);
                if self.calls > MOST_CALLS {
                    let name = specification.name(definition.name);
                    let message = format!("unfolding the parallel process `{name}` does not end");
                    let place = Place::Span(specification.place(id));
                    let help = "a condition over constants must end the recursion";
                    return Err(Refusal::Wrong(vec![Diagnostic::error(codes::ENDLESS, message, place).help(help)]));
                }
                let mut inner = Environment::new();
                for (&parameter, &argument) in definition.parameters.iter().zip(arguments) {
                    inner.insert(parameter, x.value(argument, values)?);
                }
                self.inside(x, definition.body, &inner)
            }
            Process::Condition(condition, yes, no) => {
                let condition = x.value(*condition, values)?;
                match (x.program.truth_of(condition), no) {
                    (Some(true), _) => self.inside(x, *yes, values),
                    (Some(false), Some(no)) => self.inside(x, *no, values),
                    (Some(false), None) => Ok(None),
                    (None, _) => Err(self.misplaced(id, "a condition that is not decided")),
                }
            }
            Process::Choice(left, right) => {
                let (before, calls) = (self.starts.len(), self.calls);
                let one = self.inside(x, *left, values)?;
                if one.is_none() {
                    self.starts.truncate(before);
                    self.calls = calls;
                    return self.inside(x, *right, values);
                }
                match self.inside(x, *right, values)? {
                    None => Ok(one),
                    Some(_) => Err(self.misplaced(id, "a choice")),
                }
            }
            Process::Sequence(left, _) if !self.sequential.can_terminate(*left) => self.inside(x, *left, values),
            Process::Sequence(..) => Err(self.misplaced(id, "a sequence")),
            Process::Sum(..) => Err(self.misplaced(id, "a sum")),
            Process::Parallel(left, right) => {
                let mut children = Vec::new();
                for side in [left, right] {
                    match self.unfold(x, *side, values)? {
                        Tree::Parallel(inner) => children.extend(inner),
                        other => children.push(other),
                    }
                }
                Ok(Some(Tree::Parallel(children)))
            }
            Process::Block(names, body) => {
                let body = self.unfold(x, *body, values)?;
                Ok(Some(Tree::Block(names.iter().copied().collect(), Box::new(body))))
            }
            Process::Hide(names, body) => {
                let body = self.unfold(x, *body, values)?;
                Ok(Some(Tree::Hide(names.iter().copied().collect(), Box::new(body))))
            }
            Process::Rename(names, body) => {
                let body = self.unfold(x, *body, values)?;
                Ok(Some(Tree::Rename(names.clone(), Box::new(body))))
            }
            Process::Allow(bags, body) => {
                let body = self.unfold(x, *body, values)?;
                let bags = bags.iter().map(|bag| {
                    let mut bag = bag.clone();
                    bag.sort_unstable();
                    bag
                });
                Ok(Some(Tree::Allow(bags.collect(), Box::new(body))))
            }
            Process::Comm(rules, body) => {
                let body = self.unfold(x, *body, values)?;
                let rules = rules.iter().map(|(left, right)| {
                    let mut left = left.clone();
                    left.sort_unstable();
                    (left, *right)
                });
                Ok(Some(Tree::Comm(rules.collect(), Box::new(body))))
            }
            Process::MultiAction(_) | Process::Delta => unreachable!("these are sequential"),
        }
    }

    fn misplaced(&self, id: ProcessRef, what: &str) -> Refusal {
        let message = format!("a parallel process stands below {what}");
        let place = Place::Span(self.specification.place(id));
        Refusal::Wrong(vec![
            Diagnostic::error(codes::PARALLEL_INSIDE, message, place)
                .help("parallel operators may stand only above sequential processes"),
        ])
    }
}
