//! What an open condition says about a part of a value that is still unknown.
//!
//! While infinite sorts are searched, a condition is rewritten with unknown parts in it, and what is left of it often
//! names the few values that an unknown part can have: `member(n, [3, 5])` becomes `n == 3 || n == 5`, and
//! `encrypt(n, k) in messages` becomes equations of `n`. Only these values are then tried. A comparison that no value
//! of the unknown parts can satisfy, such as `#l + 4 < 4`, ends a branch of the search.

use std::collections::HashSet;

use dashu_int::IBig;
use trefoil_terms::Term;

use crate::signature::Operator;
use crate::sorts::{INT, NAT, POS, SortRef};

use super::enumerate::Tested;
use super::machine::Rewriter;
use super::numbers::Number;
use super::program::{Kind, Role};

/// Ranges with more numbers are not listed.
const LONGEST: u64 = 1 << 16;

impl Rewriter<'_> {
    /// An unknown part of a tuple and the values that open tests leave it, the fewest.
    pub(super) fn narrowed(&self, tested: &Tested, tuple: &[Term]) -> Option<(Term, Vec<Term>)> {
        let Tested::Open(terms) = tested else { return None };
        let mut unknowns = Vec::new();
        tuple.iter().for_each(|&term| self.unknowns(term, &mut unknowns));
        let known = unknowns.iter().flat_map(|&unknown| {
            let values = terms.iter().filter_map(move |(term, wanted)| self.possible(term.term(), *wanted, unknown));
            values.map(move |values| (unknown, values))
        });
        known.min_by_key(|(_, values)| values.len()).map(|(unknown, mut values)| {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(*value));
            (unknown, values)
        })
    }

    /// The unknown parts of a term, each once.
    fn unknowns(&self, term: Term, found: &mut Vec<Term>) {
        if self.program.unknown_sorts.contains_key(&self.section.head(term)) {
            if !found.contains(&term) {
                found.push(term);
            }
        } else if !self.program.numbers.is_number(self.section.head(term)) {
            self.section.arguments(term).iter().for_each(|argument| self.unknowns(argument, found));
        }
    }

    /// The values that an unknown part can have where a term has a truth value; nothing where that is not known.
    fn possible(&self, term: Term, wanted: bool, unknown: Term) -> Option<Vec<Term>> {
        let [no, yes] = self.program.truths;
        if term == yes || term == no {
            return ((term == yes) != wanted).then(Vec::new);
        }
        let (operator, arguments) = self.applied(term)?;
        let both = |one: Option<Vec<Term>>, other: Option<Vec<Term>>| match (one, other) {
            (Some(one), Some(other)) => Some(if one.len() <= other.len() { one } else { other }),
            (one, other) => one.or(other),
        };
        let either = |one: Option<Vec<Term>>, other: Option<Vec<Term>>| {
            let (mut one, other) = one.zip(other)?;
            one.extend(other);
            Some(one)
        };
        match (operator, &arguments[..], wanted) {
            (Operator::Not, &[inside], _) => self.possible(inside, !wanted, unknown),
            (Operator::And, &[one, other], true) | (Operator::Or, &[one, other], false) => {
                both(self.possible(one, wanted, unknown), self.possible(other, wanted, unknown))
            }
            (Operator::And, &[one, other], false) | (Operator::Or, &[one, other], true) => {
                either(self.possible(one, wanted, unknown), self.possible(other, wanted, unknown))
            }
            (Operator::Implies, &[one, other], true) => {
                either(self.possible(one, false, unknown), self.possible(other, true, unknown))
            }
            (Operator::Implies, &[one, other], false) => {
                both(self.possible(one, true, unknown), self.possible(other, false, unknown))
            }
            (Operator::If, &[condition, one, other], _) => either(
                both(self.possible(condition, true, unknown), self.possible(one, wanted, unknown)),
                both(self.possible(condition, false, unknown), self.possible(other, wanted, unknown)),
            ),
            (Operator::Equal, &[one, other], true) | (Operator::NotEqual, &[one, other], false) => {
                let value = match (one == unknown, other == unknown) {
                    (true, false) => other,
                    (false, true) => one,
                    _ => return None,
                };
                self.is_known(value).then(|| self.untried(unknown, value).into_iter().collect())
            }
            (Operator::Less, &[one, other], true) | (Operator::GreaterEqual, &[one, other], false) => {
                self.below(one, other, true, unknown)
            }
            (Operator::LessEqual, &[one, other], true) | (Operator::Greater, &[one, other], false) => {
                self.below(one, other, false, unknown)
            }
            (Operator::Less, &[one, other], false) | (Operator::GreaterEqual, &[one, other], true) => {
                self.below(other, one, false, unknown)
            }
            (Operator::LessEqual, &[one, other], false) | (Operator::Greater, &[one, other], true) => {
                self.below(other, one, true, unknown)
            }
            _ => None,
        }
    }

    /// The values of an unknown part with which one number is below another one.
    fn below(&self, one: Term, other: Term, strictly: bool, unknown: Term) -> Option<Vec<Term>> {
        let Some(Number::Integer(upper)) = self.program.numbers.read(&self.section, other) else { return None };
        let last = if strictly { upper - IBig::ONE } else { upper };
        if one == unknown {
            let (sort, tried) = self.described(unknown)?;
            let first = match sort {
                NAT => IBig::from(tried),
                POS => IBig::from(tried) + IBig::ONE,
                _ => return None,
            };
            if last < first {
                return Some(Vec::new());
            }
            let length = u64::try_from(&last - &first).ok().filter(|&length| length < LONGEST)?;
            let number = |step: u64| Number::Integer(&first + IBig::from(step));
            return Some((0..=length).map(|step| self.program.numbers.term(&self.section, &number(step))).collect());
        }
        (self.least(one)? > last).then(Vec::new)
    }

    fn applied(&self, term: Term) -> Option<(Operator, Vec<Term>)> {
        match self.program.role(self.section.head(term)) {
            Role::Applied(function) => {
                Some((self.program.operator(function)?, self.section.arguments(term).iter().collect()))
            }
            _ => None,
        }
    }

    /// The sort of an unknown number, and how many values it cannot have because they were tried.
    fn described(&self, unknown: Term) -> Option<(SortRef, u64)> {
        let &sort = self.program.unknown_sorts.get(&self.section.head(unknown))?;
        if !matches!(sort, POS | NAT | INT) {
            return None;
        }
        Some((sort, self.section.word_of(self.section.argument(unknown, 1))?))
    }

    /// A value that an unknown part may have; nothing when it is of another sort or was tried.
    fn untried(&self, unknown: Term, value: Term) -> Option<Term> {
        let Some((sort, tried)) = self.described(unknown) else { return Some(value) };
        let Some(Number::Integer(number)) = self.program.numbers.read(&self.section, value) else { return None };
        let rank = match sort {
            NAT => number,
            POS => number - IBig::ONE,
            _ if number > IBig::ZERO => number * IBig::from(2) - IBig::ONE,
            _ => number * IBig::from(-2),
        };
        (rank >= IBig::from(tried)).then_some(value)
    }

    /// Whether a term is a value without unknown parts: numbers and constructors.
    fn is_known(&self, term: Term) -> bool {
        let head = self.section.head(term);
        if self.program.numbers.is_number(head) {
            return true;
        }
        match self.program.role(head) {
            Role::Applied(function) => {
                matches!(self.program.function(function).kind, Kind::Constructor(_))
                    && self.section.arguments(term).iter().all(|argument| self.is_known(argument))
            }
            _ => false,
        }
    }
}
