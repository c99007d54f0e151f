//! What a condition says about the values of a variable.
//!
//! The condition is taken apart into conjuncts, each an expression and the truth value that it must have: the body of
//! `exists` must be true, the body of `forall` must be false for a counterexample. Where a conjunct says what a
//! variable must be, by an equation (the one-point rule), by membership, by a function whose value is known, or by an
//! upper bound on a number, no other values need be tried.

use std::collections::HashSet;

use crate::signature::{Operator, Origin};
use crate::sorts::{INT, NAT, POS, SortKind};
use crate::syntax::tree::Container;
use crate::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};

/// A part of a condition and the truth value it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conjunct {
    pub(super) expression: TypedId,
    pub(super) wanted: bool,
}

/// What a condition says about a variable, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// It is this truth value.
    Truth(bool),
    /// It is the value of this expression, as the conjunct with this number says.
    Point(TypedId, usize),
    /// It is an element of this list or finite set.
    Elements(TypedId),
    /// It is the number that is so much less than the value of this expression.
    Less(TypedId, u32),
    /// It is a number between these.
    Range { lower: Option<TypedId>, upper: TypedId },
    /// It is an element of this set, whose elements may be known when it is evaluated.
    Members(TypedId),
    /// This function holds for it, and the arguments for which it does may be known when it is evaluated.
    Holds(TypedId),
    /// Linear constraints bound it from both sides.
    Linear,
}

/// The conjuncts that a solution must satisfy: the body of `exists`, or the negation of that of `forall`.
pub(super) fn conjuncts(specification: &DataSpecification, quantifier: Quantifier, body: TypedId) -> Vec<Conjunct> {
    let operands = |id: TypedId| -> Option<(Operator, Vec<TypedId>)> {
        let tree = &specification.tree;
        let Typed::Apply(function, arguments) = tree.expression(id) else { return None };
        let Typed::Function(function) = tree.expression(*function) else { return None };
        let Origin::Builtin(operator) = specification.signature.function(*function).origin else { return None };
        Some((operator, tree.elements(arguments).to_vec()))
    };
    let mut conjuncts = Vec::new();
    let mut pending = vec![(body, quantifier == Quantifier::Exists)];
    while let Some((expression, wanted)) = pending.pop() {
        match (operands(expression), wanted) {
            (Some((Operator::And, parts)), true) => pending.extend(parts.iter().rev().map(|&part| (part, true))),
            (Some((Operator::Or, parts)), false) => pending.extend(parts.iter().rev().map(|&part| (part, false))),
            (Some((Operator::Implies, parts)), false) => pending.extend([(parts[1], false), (parts[0], true)]),
            (Some((Operator::Not, parts)), _) => pending.push((parts[0], !wanted)),
            _ => conjuncts.push(Conjunct { expression, wanted }),
        }
    }
    conjuncts
}

/// The strongest fact about a variable that only mentions known variables.
pub(super) fn fact(
    specification: &DataSpecification,
    conjuncts: &[Conjunct],
    variable: VariableId,
    known: &HashSet<VariableId>,
) -> Option<Fact> {
    let finder = Finder { specification, variable, known };
    let (mut lower, mut upper) = (None, None);
    let mut facts = Vec::new();
    for (number, conjunct) in conjuncts.iter().enumerate() {
        if *specification.tree.expression(conjunct.expression) == Typed::Variable(variable) {
            facts.push(Fact::Truth(conjunct.wanted));
        }
        if conjunct.wanted
            && let Some(function) = finder.applied(conjunct.expression)
        {
            facts.push(Fact::Holds(function));
        }
        let Some((operator, [left, right])) = comparison(specification, *conjunct) else { continue };
        match operator {
            Operator::Equal => {
                for (one, other) in [(left, right), (right, left)] {
                    if finder.is_variable(one) && finder.is_known(other) && finder.fits(one, other) {
                        facts.push(Fact::Point(other, number));
                    }
                    if finder.is_below(one) && finder.is_known(other) {
                        upper = upper.or(Some(other));
                        facts.extend(finder.increase(one).map(|more| Fact::Less(other, more)));
                    }
                }
            }
            Operator::In if finder.is_itself(left) && finder.is_known(right) => {
                let sort = specification.tree.sort(right);
                match specification.sorts.kind(sort) {
                    SortKind::Container(Container::List | Container::FSet, _) => facts.push(Fact::Elements(right)),
                    SortKind::Container(Container::Set, _) => facts.push(Fact::Members(right)),
                    _ => {}
                }
            }
            Operator::Less | Operator::LessEqual => {
                if (finder.is_variable(left) || finder.is_below(left)) && finder.is_known(right) {
                    upper = upper.or(Some(right));
                }
                if finder.is_variable(right) && finder.is_known(left) {
                    lower = lower.or(Some(left));
                }
            }
            _ => {}
        }
    }
    match (specification.tree.variable(variable).1, lower, upper) {
        (POS | NAT, _, Some(upper)) => facts.push(Fact::Range { lower, upper }),
        (INT, Some(_), Some(upper)) => facts.push(Fact::Range { lower, upper }),
        _ => {}
    }
    facts.into_iter().min()
}

/// A comparison that must be true, with `>` and `>=` turned round.
pub(super) fn comparison(specification: &DataSpecification, conjunct: Conjunct) -> Option<(Operator, [TypedId; 2])> {
    let tree = &specification.tree;
    let Typed::Apply(function, arguments) = tree.expression(conjunct.expression) else { return None };
    let Typed::Function(function) = tree.expression(*function) else { return None };
    let Origin::Builtin(operator) = specification.signature.function(*function).origin else { return None };
    let &[left, right] = tree.elements(arguments) else { return None };
    Some(match (operator, conjunct.wanted) {
        (Operator::Equal, true) | (Operator::NotEqual, false) => (Operator::Equal, [left, right]),
        (Operator::Less, true) | (Operator::GreaterEqual, false) => (Operator::Less, [left, right]),
        (Operator::LessEqual, true) | (Operator::Greater, false) => (Operator::LessEqual, [left, right]),
        (Operator::Greater, true) | (Operator::LessEqual, false) => (Operator::Less, [right, left]),
        (Operator::GreaterEqual, true) | (Operator::Less, false) => (Operator::LessEqual, [right, left]),
        (Operator::In, true) => (Operator::In, [left, right]),
        _ => return None,
    })
}

struct Finder<'a> {
    specification: &'a DataSpecification,
    variable: VariableId,
    known: &'a HashSet<VariableId>,
}

impl Finder<'_> {
    /// The known function in `f(x)`, where `x` is the variable.
    fn applied(&self, id: TypedId) -> Option<TypedId> {
        let tree = &self.specification.tree;
        let Typed::Apply(function, arguments) = tree.expression(id) else { return None };
        let Typed::Variable(_) = tree.expression(*function) else { return None };
        let &[argument] = tree.elements(arguments) else { return None };
        (self.is_itself(argument) && self.is_known(*function)).then_some(*function)
    }

    fn is_itself(&self, id: TypedId) -> bool {
        *self.specification.tree.expression(id) == Typed::Variable(self.variable)
    }

    /// Whether an expression is the variable, converted or not.
    fn is_variable(&self, id: TypedId) -> bool {
        let tree = &self.specification.tree;
        match tree.expression(id) {
            Typed::Variable(variable) => *variable == self.variable,
            Typed::Apply(function, arguments) => {
                let Typed::Function(function) = tree.expression(*function) else { return false };
                matches!(self.specification.signature.function(*function).origin,
                    Origin::Builtin(operator) if super::compile::is_conversion(operator))
                    && self.is_variable(tree.elements(arguments)[0])
            }
            _ => false,
        }
    }

    /// Whether the variable is a natural number that is at most the value of an expression: it is increased there, by
    /// `succ`, sums with natural numbers or products with positive ones.
    fn is_below(&self, id: TypedId) -> bool {
        let tree = &self.specification.tree;
        if !matches!(tree.variable(self.variable).1, POS | NAT) {
            return false;
        }
        if self.is_variable(id) {
            return true;
        }
        let Typed::Apply(function, arguments) = tree.expression(id) else { return false };
        let Typed::Function(function) = tree.expression(*function) else { return false };
        let Origin::Builtin(operator) = self.specification.signature.function(*function).origin else { return false };
        let is_natural = |part: TypedId| matches!(tree.sort(part), POS | NAT);
        match (operator, tree.elements(arguments)) {
            (Operator::Succ, &[part]) => self.is_below(part),
            (operator, &[part]) if super::compile::is_conversion(operator) => self.is_below(part),
            (Operator::Add, &[one, other]) => {
                is_natural(one) && is_natural(other) && (self.is_below(one) || self.is_below(other))
            }
            (Operator::Multiply, &[one, other]) => {
                tree.sort(one) == POS && self.is_below(other) || tree.sort(other) == POS && self.is_below(one)
            }
            (Operator::Max, &[one, other]) => self.is_below(one) || self.is_below(other),
            _ => false,
        }
    }

    /// By how much an expression is more than the variable, where that is in the text: 3 in `succ(x + 2)`.
    fn increase(&self, id: TypedId) -> Option<u32> {
        let tree = &self.specification.tree;
        if self.is_variable(id) {
            return Some(0);
        }
        let Typed::Apply(function, arguments) = tree.expression(id) else { return None };
        let Typed::Function(function) = tree.expression(*function) else { return None };
        let Origin::Builtin(operator) = self.specification.signature.function(*function).origin else { return None };
        let literal = |part: TypedId| match tree.expression(part) {
            Typed::Number(digits) => self.specification.names.text(*digits).parse::<u32>().ok(),
            _ => None,
        };
        match (operator, tree.elements(arguments)) {
            (Operator::Succ, &[part]) => self.increase(part)?.checked_add(1),
            (operator, &[part]) if super::compile::is_conversion(operator) => self.increase(part),
            (Operator::Add, &[one, other]) => match (literal(one), literal(other)) {
                (Some(more), None) => self.increase(other)?.checked_add(more),
                (None, Some(more)) => self.increase(one)?.checked_add(more),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a value of an expression is a value of the variable's sort: not where the variable is converted.
    fn fits(&self, variable: TypedId, other: TypedId) -> bool {
        let sort = self.specification.tree.variable(self.variable).1;
        self.specification.tree.sort(variable) == sort && self.specification.tree.sort(other) == sort
    }

    /// Whether an expression mentions only known variables.
    fn is_known(&self, id: TypedId) -> bool {
        self.specification.tree.free_variables(id).iter().all(|variable| self.known.contains(variable))
    }
}
