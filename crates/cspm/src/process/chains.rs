//! Long chains of one binary operator.
//!
//! Generated scripts have `P1 ||| P2 ||| … ||| P20000`. The tree of such an expression is as deep as the chain is long,
//! and a term for each of its subtrees would cost quadratic memory: the terms of `[]` and `|||` are lists, those of a
//! chain of `;` or `[>` that leans to the left are taken apart and rebuilt by every step. So a chain becomes one term:
//!
//! - `[]`, `|||` and `[|A|]` with one set A: one list, whichever way the chain leans.
//! - `;`: the chain leans to the right, where operands wait until they are reached. `(P; Q); R` and `P; (Q; R)` have
//!   the same states.
//! - `[>` with at least [`LONG`] operands: the same. `(P [> Q) [> R` has a `τ` to R where `P [> (Q [> R)` has two, by
//!   way of Q; both are divergence-preserving delay bisimilar, so every semantic model is the same, and the number of
//!   internal steps of a counterexample may differ. Short chains keep their steps, and so do processes that must stay
//!   strongly bisimilar, and those of timed sections.
//!
//! Invariant: a process is marked as being expanded while its subtrees are walked, so an unguarded recursion through a
//! chain is found. Cost: linear in the chain.

use super::events::SetId;
use super::terms::{Node, TermId};
use super::timed::Clock;
use super::{Compiler, Keep};
use crate::eval::{Description, OperationId, ProcessId, ProcessValue, Result, SectionId, Shape};
use crate::syntax::{BinaryOperator, SynchronisedOperator};

/// A chain of `[>` leans to the right from this length on.
const LONG: usize = 64;

/// An operator whose chains are lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    ExternalChoice,
    Parallel(SetId),
}

/// What is left to do of a chain.
enum Work {
    Operand(ProcessValue),
    /// The operands of this process are done.
    Unmark(ProcessId),
}

/// The operands of a chain that leans to the left.
struct Spine {
    first: ProcessValue,
    /// The other operands, the last one first.
    others: Vec<ProcessValue>,
}

impl Compiler {
    /// The operands of a chain, in order.
    pub(super) fn listed(
        &mut self,
        process: &ProcessValue,
        operator: Listed,
        operands: [OperationId; 2],
        (section, clock): (Option<SectionId>, Option<Clock>),
    ) -> Result<Vec<TermId>> {
        let mut marked = Vec::new();
        let result = self.walk(process, operator, operands, (section, clock), &mut marked);
        self.unmark(&marked);
        result
    }

    fn unmark(&mut self, marked: &[ProcessId]) {
        for id in marked {
            if self.expanded.get(id) == Some(&None) {
                self.expanded.remove(id);
            }
        }
    }

    fn walk(
        &mut self,
        process: &ProcessValue,
        operator: Listed,
        operands: [OperationId; 2],
        (section, clock): (Option<SectionId>, Option<Clock>),
        marked: &mut Vec<ProcessId>,
    ) -> Result<Vec<TermId>> {
        let mut terms = Vec::new();
        let mut work = Vec::new();
        for operand in operands.into_iter().rev() {
            work.push(Work::Operand(self.evaluator.operand_process(process, operand)?));
        }
        while let Some(next) = work.pop() {
            self.control.check()?;
            let operand = match next {
                Work::Operand(operand) => operand,
                Work::Unmark(id) => {
                    self.unmark(&[id]);
                    continue;
                }
            };
            let id = self.evaluator.identify(&operand)?;
            let inner = match self.expanded.contains_key(&id) {
                true => None,
                false => self.operands_in(&operand, operator, section, clock)?,
            };
            let Some(inner) = inner else {
                terms.push(self.expand(&operand)?);
                continue;
            };
            self.expanded.insert(id, None);
            marked.push(id);
            self.unguarded_growth(&operand, marked.len())?;
            work.push(Work::Unmark(id));
            for operation in inner.into_iter().rev() {
                work.push(Work::Operand(self.evaluator.operand_process(&operand, operation)?));
            }
        }
        Ok(terms)
    }

    /// The operands of a process that goes on a chain.
    fn operands_in(
        &mut self,
        process: &ProcessValue,
        operator: Listed,
        section: Option<SectionId>,
        clock: Option<Clock>,
    ) -> Result<Option<[OperationId; 2]>> {
        let Description::Made(point, _) = process.description() else { return Ok(None) };
        let point = self.evaluator.control_point(point);
        if point.timed != section {
            return Ok(None);
        }
        Ok(match (operator, &point.shape) {
            (Listed::ExternalChoice, &Shape::Binary { operator: BinaryOperator::ExternalChoice, left, right }) => {
                Some([left, right])
            }
            (Listed::Parallel(set), &Shape::Binary { operator: BinaryOperator::Interleave, left, right }) => {
                (set == clock.map_or(SetId::EMPTY, |clock| clock.only)).then_some([left, right])
            }
            (
                Listed::Parallel(set),
                &Shape::Synchronised { operator: SynchronisedOperator::Parallel, left, events, right },
            ) => {
                let own = self.events_of(process, events)?;
                (set == self.with_tock(own, clock)? && !self.terms.is_described(set)).then_some([left, right])
            }
            _ => None,
        })
    }

    /// The term of `;` or `[>`, whose second operand waits.
    pub(super) fn waiting_chain(
        &mut self,
        process: &ProcessValue,
        operator: BinaryOperator,
        operands: [OperationId; 2],
        section: Option<SectionId>,
    ) -> Result<TermId> {
        let mut marked = Vec::new();
        let result = self.waiting_chain_of(process, operator, operands, section, &mut marked);
        self.unmark(&marked);
        result
    }

    fn waiting_chain_of(
        &mut self,
        process: &ProcessValue,
        operator: BinaryOperator,
        operands: [OperationId; 2],
        section: Option<SectionId>,
        marked: &mut Vec<ProcessId>,
    ) -> Result<TermId> {
        let node = |first: TermId, then: TermId| match operator {
            BinaryOperator::SlidingChoice => Node::Sliding(first, then),
            _ => Node::Sequential(first, then),
        };
        let spine = self.spine(process, operator, operands, section, marked)?;
        let length = spine.others.len() + 1;
        if operator == BinaryOperator::SlidingChoice
            && (length < LONG || section.is_some() || self.options.keep == Keep::Strong)
        {
            let mut term = self.expand(&spine.first)?;
            for operand in spine.others.into_iter().rev() {
                let then = self.waiting(operand)?;
                term = self.terms.intern(node(term, then));
            }
            return Ok(term);
        }
        let mut chain = None;
        for operand in spine.others {
            let operand = self.waiting(operand)?;
            chain = Some(match chain {
                Some(rest) => self.terms.intern(node(operand, rest)),
                None => operand,
            });
        }
        let first = self.expand(&spine.first)?;
        Ok(self.terms.intern(node(first, chain.expect("an operator has two operands"))))
    }

    /// Follows first operands as long as they are processes of the same operator.
    fn spine(
        &mut self,
        process: &ProcessValue,
        operator: BinaryOperator,
        [mut left, mut right]: [OperationId; 2],
        section: Option<SectionId>,
        marked: &mut Vec<ProcessId>,
    ) -> Result<Spine> {
        let mut process = process.clone();
        let mut others = Vec::new();
        loop {
            self.control.check()?;
            others.push(self.evaluator.operand_process(&process, right)?);
            let first = self.evaluator.operand_process(&process, left)?;
            let id = self.evaluator.identify(&first)?;
            let inner = match first.description() {
                Description::Made(point, _) if !self.expanded.contains_key(&id) => {
                    let point = self.evaluator.control_point(point);
                    match point.shape {
                        Shape::Binary { operator: own, left, right } if own == operator && point.timed == section => {
                            Some((left, right))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            let Some(inner) = inner else { return Ok(Spine { first, others }) };
            self.expanded.insert(id, None);
            marked.push(id);
            self.unguarded_growth(&first, marked.len())?;
            (left, right) = inner;
            process = first;
        }
    }
}
