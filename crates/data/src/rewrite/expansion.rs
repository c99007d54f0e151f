//! Quantifiers that stay open over few values.
//!
//! A condition may be neither true nor false for some values because it has variables, or functions without equations,
//! in it. Where the values are finitely many, `exists x. f(x)` then is `f(a) || f(b)`, and `forall x. f(x)` is
//! `f(a) && f(b)`, with the values for which the condition is decided left out. This is also the one-point rule for
//! open terms: `exists x. f(x) && x == y` is `f(y)`, because the only value that is tried is `y`.
//!
//! The values are tried a second time, and the whole body is rewritten for those at which it stayed open. So nothing is
//! kept while quantifiers are decided, which most are.

use std::ops::ControlFlow;
use std::rc::Rc;

use trefoil_terms::{Root, Term};

use crate::signature::Operator;
use crate::sorts::BOOL;
use crate::typed::{Quantifier, TypedId, VariableId};

use super::code::FunctionIndex;
use super::enumerate::{MOST_TRIED, Progress};
use super::machine::{Rewriter, Unfinished};
use super::program::Kind;

/// A quantifier with more alternatives stays as it is.
pub(super) const MOST_ALTERNATIVES: u64 = 64;

/// What the body of a quantifier is for the values at which it stays open.
pub(super) struct Expansion {
    body: TypedId,
    /// The captured and bound variables, each with its place among captured values and those of all levels.
    places: Vec<(VariableId, usize)>,
    alternatives: Vec<Rc<Root>>,
}

impl<'p> Rewriter<'p> {
    /// A quantifier over the captured values from a place on, as a connective of what its body is for each value.
    pub(super) fn expanded(&mut self, function: FunctionIndex, base: usize) -> Result<Option<Term>, Unfinished> {
        let program = self.program;
        let description = program.function(function);
        let Kind::Quantified(quantifier) = description.kind else { return Ok(None) };
        let Some((body, variables)) = &description.site else { return Ok(None) };
        let operator = match quantifier {
            Quantifier::Exists => Operator::Or,
            Quantifier::Forall => Operator::And,
        };
        let connective = program.builtin_at(operator, &[BOOL, BOOL], BOOL);
        let plan = &program.plans[&function];
        let captured = description.captured as usize;
        let bound = plan.levels.iter().flat_map(|level| level.variables.iter().map(|(variable, _)| *variable));
        let places = variables[..captured].iter().copied().chain(bound).zip(0..).collect();
        let mut progress = Progress::new(MOST_TRIED, true);
        progress.expansion = Some(Expansion { body: *body, places, alternatives: Vec::new() });
        let height = self.stack.len();
        let flow = self.begin(plan, base, &mut progress, &mut |_, _| Ok(ControlFlow::Break(())))?;
        self.stack.truncate(height);
        let Some(Expansion { alternatives, .. }) = progress.expansion else { return Ok(None) };
        if flow.is_break() || progress.unbounded.is_some() {
            return Ok(None);
        }
        let terms = alternatives.iter().map(|root| root.term());
        Ok(terms.reduce(|before, term| self.join(connective, before, term)))
    }

    /// Notes what the body is for the values above a place, once.
    pub(super) fn add_alternative(&mut self, expansion: &mut Expansion, base: usize) -> Result<(), Unfinished> {
        let places = &expansion.places;
        let term = self.instance(expansion.body, &|rewriter, variable| {
            let place = places.iter().find(|(known, _)| *known == variable)?.1;
            Some(rewriter.stack[base + place])
        });
        self.rewrite(term)?;
        let value = self.pop();
        if expansion.alternatives.iter().all(|known| known.term() != value) {
            expansion.alternatives.push(Rc::new(self.section.root(value)));
        }
        Ok(())
    }
}
