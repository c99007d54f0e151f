//! Values of finite sorts, and the evaluation of quantifiers.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_terms::{Section, Term};

use dashu_int::IBig;

use crate::signature::{Operator, Origin};
use crate::sorts::{BOOL, NAT, POS, SortKind, SortRef};
use crate::typed::Quantifier;

use super::code::FunctionIndex;
use super::machine::{Rewriter, Unfinished};
use super::numbers::Number;
use super::program::{Kind, Program, Role};
use super::quantifiers::Source;

/// Sorts with more values than this are not listed.
const MOST_VALUES: usize = 1 << 16;

impl Program {
    /// Every value of a finite sort, in its order; nothing for sorts that are infinite or have too many values.
    pub fn values(&self, section: &Section<'_>, sort: SortRef) -> Option<Arc<[Term]>> {
        let known = self.listed.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&sort).cloned();
        if let Some(known) = known {
            return known;
        }
        let values = self.list_values(section, sort, &mut HashSet::new()).map(Arc::from);
        if let Some(values) = &values {
            for &value in &**values {
                self.keep(value, section);
            }
        }
        let mut listed = self.listed.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        listed.insert(sort, values.clone());
        values
    }

    fn list_values(&self, section: &Section<'_>, sort: SortRef, open: &mut HashSet<SortRef>) -> Option<Vec<Term>> {
        if sort == BOOL {
            return Some(self.truths.to_vec());
        }
        if !matches!(self.specification.sorts.kind(sort), SortKind::Named(_) | SortKind::Structured(_)) {
            return None;
        }
        let constructors = self.specification.sorts.constructors(sort);
        // A sort inside itself has infinitely many values.
        if constructors.is_empty() || !open.insert(sort) {
            return None;
        }
        let mut values = Vec::new();
        for &constructor in constructors {
            let function = self.function(self.function_of(constructor));
            let whole = self.specification.signature.function(constructor).sort;
            let domain = self.specification.sorts.as_function(whole).map_or(&[][..], |(domain, _)| domain);
            let mut tuples: Vec<Vec<Term>> = vec![Vec::new()];
            for &part in domain {
                let parts = self.list_values(section, part, open)?;
                if tuples.len().checked_mul(parts.len())? > MOST_VALUES {
                    return None;
                }
                tuples = tuples
                    .iter()
                    .flat_map(|tuple| parts.iter().map(move |&part| tuple.iter().copied().chain([part]).collect()))
                    .collect();
            }
            values.extend(tuples.iter().map(|tuple| section.create(function.symbol, tuple)));
            if values.len() > MOST_VALUES {
                return None;
            }
        }
        open.remove(&sort);
        Some(values)
    }
}

/// Values of an infinite sort that are tried before a quantifier stays as it is.
const MOST_TRIED: u64 = 1000;

/// How far a quantifier is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// A valuation decides it.
    Decided,
    /// Every valuation leaves it undecided.
    All,
    /// Some valuation is open, or some were not tried.
    Some,
}

impl Rewriter<'_> {
    /// Replaces the captured values on top by the value of a quantifier over them.
    pub(super) fn quantify(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let program = self.program;
        let description = program.function(function);
        let base = self.stack.len() - description.captured as usize;
        let [no, yes] = program.truths;
        // The truth value that one valuation with it decides.
        let decisive = if description.kind == Kind::Quantified(Quantifier::Forall) { no } else { yes };
        let tried = self.try_variable(function, base, 0, decisive)?;
        self.stack.truncate(base + description.captured as usize);
        let term = match tried {
            Tried::Decided => decisive,
            Tried::All => program.truths[usize::from(decisive == no)],
            Tried::Some => self.section.create(description.symbol, &self.stack[base..]),
        };
        self.stack.truncate(base);
        self.stack.push(term);
        Ok(())
    }

    /// Tries the values of a variable; those of the variables before it lie on top, above the captured ones.
    fn try_variable(
        &mut self,
        function: FunctionIndex,
        base: usize,
        variable: usize,
        decisive: Term,
    ) -> Result<Tried, Unfinished> {
        let program = self.program;
        let sources = &program.sources[&function];
        let Some(source) = sources.get(variable) else {
            let height = self.stack.len();
            self.stack.extend_from_within(base..height);
            self.call_body(function)?;
            let result = self.pop();
            return Ok(if result == decisive {
                Tried::Decided
            } else if program.truths.contains(&result) {
                Tried::All
            } else {
                Tried::Some
            });
        };
        match *source {
            Source::Point(code) => {
                let value = self.evaluate_above(code, base)?;
                self.try_values(function, base, variable, decisive, [value].into_iter())
            }
            Source::Elements(code) => {
                let container = self.evaluate_above(code, base)?;
                let Some(elements) = self.elements_of(container) else { return Ok(Tried::Some) };
                // The elements are held by the container, which lies below them.
                self.stack.insert(base, container);
                let tried = self.try_values(function, base + 1, variable, decisive, elements.into_iter());
                self.stack.remove(base);
                tried
            }
            Source::Range { lower, upper } => {
                let lower = match lower {
                    Some(code) => Some(self.evaluate_above(code, base)?),
                    None => None,
                };
                let upper = self.evaluate_above(upper, base)?;
                let numbers = &program.numbers;
                let first = match lower.map(|lower| numbers.read(&self.section, lower)) {
                    None => IBig::ZERO,
                    Some(Some(Number::Integer(value))) => value,
                    Some(_) => return Ok(Tried::Some),
                };
                let last = match numbers.read(&self.section, upper) {
                    Some(Number::Integer(value)) => value,
                    Some(Number::Fraction(numerator, denominator)) => numerator / IBig::from(denominator),
                    None => return Ok(Tried::Some),
                };
                self.try_numbers(function, base, variable, decisive, first, Some(last))
            }
            Source::All(sort) => match program.values(&self.section, sort) {
                Some(values) => self.try_values(function, base, variable, decisive, values.iter().copied()),
                None if sort == POS || sort == NAT => {
                    self.try_numbers(function, base, variable, decisive, IBig::ZERO, None)
                }
                None => Ok(Tried::Some),
            },
        }
    }

    /// Evaluates code for what lies above a place.
    fn evaluate_above(&mut self, code: FunctionIndex, base: usize) -> Result<Term, Unfinished> {
        self.stack.extend_from_within(base..);
        self.call(code)?;
        Ok(self.pop())
    }

    fn try_numbers(
        &mut self,
        function: FunctionIndex,
        base: usize,
        variable: usize,
        decisive: Term,
        first: IBig,
        last: Option<IBig>,
    ) -> Result<Tried, Unfinished> {
        let program = self.program;
        let Some((_, variables)) = &program.function(function).site else { unreachable!("a quantifier has its body") };
        let place = program.function(function).captured as usize + variable;
        let sort = program.specification.tree.variable(variables[place]).1;
        let mut next = if sort == POS { first.max(IBig::ONE) } else { first };
        let mut tried = Tried::All;
        let mut count = 0;
        while last.as_ref().is_none_or(|last| next <= *last) {
            count += 1;
            if last.is_none() && count > MOST_TRIED {
                return Ok(Tried::Some);
            }
            let value = program.numbers.term(&self.section, &Number::Integer(next.clone()));
            self.stack.push(value);
            let one = self.try_variable(function, base, variable + 1, decisive);
            self.stack.pop();
            match one? {
                Tried::Decided => return Ok(Tried::Decided),
                Tried::Some => tried = Tried::Some,
                Tried::All => {}
            }
            next += IBig::ONE;
        }
        Ok(tried)
    }

    fn try_values(
        &mut self,
        function: FunctionIndex,
        base: usize,
        variable: usize,
        decisive: Term,
        values: impl Iterator<Item = Term>,
    ) -> Result<Tried, Unfinished> {
        let mut tried = Tried::All;
        for value in values {
            self.stack.push(value);
            let one = self.try_variable(function, base, variable + 1, decisive);
            self.stack.pop();
            match one? {
                Tried::Decided => return Ok(Tried::Decided),
                Tried::Some => tried = Tried::Some,
                Tried::All => {}
            }
        }
        Ok(tried)
    }

    /// The elements of a list or finite set that is known to its end.
    fn elements_of(&self, container: Term) -> Option<Vec<Term>> {
        let mut rest = container;
        let mut elements = Vec::new();
        loop {
            let Role::Applied(function) = self.program.role(self.section.head(rest)) else { return None };
            let id = self.program.function(function).id?;
            match self.program.specification.signature.function(id).origin {
                Origin::Builtin(Operator::EmptyList | Operator::EmptySet) => return Some(elements),
                Origin::Builtin(Operator::Cons | Operator::FSetCons) => {
                    elements.push(self.section.argument(rest, 0));
                    rest = self.section.argument(rest, 1);
                }
                _ => return None,
            }
        }
    }
}
