//! Which values a quantifier has to try.
//!
//! The variables of a quantifier are tried from left to right. Where the body says what a variable must be, by an
//! equation (the one-point rule), by an upper bound on a number or by membership in a list or finite set, only those
//! values are tried: for all others the body is decided, false below `exists` and true below `forall`. Such a fact is a
//! conjunct of the body of `exists`, or a conjunct of what implies the rest of the body of `forall`, and may mention
//! variables further left.

use std::collections::HashSet;

use crate::signature::{Operator, Origin};
use crate::sorts::{INT, NAT, POS, SortKind, SortRef};
use crate::syntax::tree::Container;
use crate::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};

use super::code::FunctionIndex;

/// Where the values of a variable come from; codes are evaluated for the captured values and the variables before it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The value of an expression.
    Point(FunctionIndex),
    /// The elements of a list or finite set.
    Elements(FunctionIndex),
    /// Numbers from the least one up to a bound; for integers there is a lower bound as well.
    Range { lower: Option<FunctionIndex>, upper: FunctionIndex },
    /// All values of the sort.
    All(SortRef),
}

/// What a body says about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fact {
    Point(TypedId),
    Elements(TypedId),
    Range { lower: Option<TypedId>, upper: TypedId },
}

/// The facts about one variable, given which variables may be used to state them.
pub(super) fn fact(
    specification: &DataSpecification,
    quantifier: Quantifier,
    body: TypedId,
    variable: VariableId,
    known: &HashSet<VariableId>,
) -> Option<Fact> {
    let mut conjuncts = Vec::new();
    collect(specification, quantifier, body, &mut conjuncts);
    let finder = Finder { specification, variable, known };
    let (mut lower, mut upper) = (None, None);
    for &conjunct in &conjuncts {
        let Some((operator, [left, right])) = finder.binary(conjunct) else { continue };
        let sides = [(left, right), (right, left)];
        match operator {
            Operator::Equal => {
                for (one, other) in sides {
                    if finder.is_variable(one) && finder.is_known(other) && finder.fits(one, other) {
                        return Some(Fact::Point(other));
                    }
                }
            }
            Operator::In if finder.is_variable(left) && finder.is_known(right) => {
                let sort = specification.tree.sort(right);
                if let SortKind::Container(Container::List | Container::FSet, _) = specification.sorts.kind(sort) {
                    return Some(Fact::Elements(right));
                }
            }
            Operator::Less | Operator::LessEqual => {
                if finder.is_variable(left) && finder.is_known(right) {
                    upper = upper.or(Some(right));
                }
                if finder.is_variable(right) && finder.is_known(left) {
                    lower = lower.or(Some(left));
                }
            }
            Operator::Greater | Operator::GreaterEqual => {
                if finder.is_variable(right) && finder.is_known(left) {
                    upper = upper.or(Some(left));
                }
                if finder.is_variable(left) && finder.is_known(right) {
                    lower = lower.or(Some(right));
                }
            }
            _ => {}
        }
    }
    let sort = specification.tree.variable(variable).1;
    let upper = upper?;
    match sort {
        POS | NAT => Some(Fact::Range { lower: None, upper }),
        INT => Some(Fact::Range { lower: Some(lower?), upper }),
        _ => None,
    }
}

struct Finder<'a> {
    specification: &'a DataSpecification,
    variable: VariableId,
    known: &'a HashSet<VariableId>,
}

impl Finder<'_> {
    fn binary(&self, id: TypedId) -> Option<(Operator, [TypedId; 2])> {
        let tree = &self.specification.tree;
        let Typed::Apply(function, arguments) = tree.expression(id) else { return None };
        let Typed::Function(function) = tree.expression(*function) else { return None };
        let Origin::Builtin(operator) = self.specification.signature.function(*function).origin else { return None };
        let &[left, right] = tree.elements(arguments) else { return None };
        Some((operator, [left, right]))
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

/// Lists the conjuncts without which the body is decided.
fn collect(specification: &DataSpecification, quantifier: Quantifier, body: TypedId, conjuncts: &mut Vec<TypedId>) {
    let operands = |id: TypedId| -> Option<(Operator, Vec<TypedId>)> {
        let tree = &specification.tree;
        let Typed::Apply(function, arguments) = tree.expression(id) else { return None };
        let Typed::Function(function) = tree.expression(*function) else { return None };
        let Origin::Builtin(operator) = specification.signature.function(*function).origin else { return None };
        Some((operator, tree.elements(arguments).to_vec()))
    };
    // What must be true, or what must be false, for the body not to be decided.
    let mut pending = vec![(body, quantifier == Quantifier::Exists)];
    while let Some((id, wanted)) = pending.pop() {
        match (operands(id), wanted) {
            (Some((Operator::And, parts)), true) => pending.extend(parts.iter().rev().map(|&part| (part, true))),
            (Some((Operator::Or, parts)), false) => pending.extend(parts.iter().rev().map(|&part| (part, false))),
            (Some((Operator::Implies, parts)), false) => pending.extend([(parts[1], false), (parts[0], true)]),
            (Some((Operator::Not, parts)), _) => pending.push((parts[0], !wanted)),
            (_, true) => conjuncts.push(id),
            (_, false) => {}
        }
    }
}
