//! Whether two conditions exclude each other, as far as their parts show it.

use crate::signature::{FunctionId, Operator, Origin};
use crate::typed::Typed;

use super::compile::is_conversion;
use super::overlaps::{Pair, Side};

/// A comparison that must hold.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Equal,
    Differs,
    Less,
    AtMost,
}

/// A part of a condition: a comparison, or an expression with the truth value it must have.
enum Atom {
    Comparison(Relation, Side, Side),
    Truth(Side, bool),
}

impl Pair<'_> {
    /// Whether two expressions are values that differ: numbers, or applications of two constructors.
    fn differ(&self, one: Side, other: Side) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        let one = self.unconverted(one).map_or(one, |inside| self.resolved(inside));
        let other = self.unconverted(other).map_or(other, |inside| self.resolved(inside));
        if let (Some(one), Some(other)) = (self.number(one), self.number(other)) {
            return one != other;
        }
        let (Some(constructor), Some(another)) = (self.constructor(one), self.constructor(other)) else { return false };
        if constructor != another {
            return true;
        }
        match (self.applied(one), self.applied(other)) {
            (Some((_, ones)), Some((_, others))) => {
                ones.into_iter().zip(others).any(|(one, other)| self.differ(one, other))
            }
            _ => false,
        }
    }

    /// The constructor that an expression is an application of.
    fn constructor(&self, side: Side) -> Option<FunctionId> {
        let function = self.applied(side).map_or(side, |(function, _)| function);
        let Typed::Function(id) = self.typed(function) else { return None };
        let is_constructor = match self.specification.signature.function(*id).origin {
            Origin::Constructor => true,
            Origin::Builtin(operator) => {
                matches!(operator, Operator::True | Operator::False | Operator::EmptyList | Operator::Cons)
            }
            _ => false,
        };
        is_constructor.then_some(*id)
    }

    /// The operands of a conjunction and of a disjunction, under negation the other way round.
    fn parts(&self, side: Side, wanted: bool) -> Option<(bool, Vec<(Side, bool)>)> {
        let (function, operands) = self.applied(self.resolved(side))?;
        let both = |is_and: bool| Some((is_and == wanted, operands.iter().map(|&part| (part, wanted)).collect()));
        match self.operator(function)? {
            Operator::And => both(true),
            Operator::Or => both(false),
            Operator::Implies => Some((!wanted, vec![(operands[0], !wanted), (operands[1], wanted)])),
            Operator::Not => Some((true, vec![(operands[0], !wanted)])),
            _ => None,
        }
    }

    fn atom(&self, side: Side, wanted: bool) -> Atom {
        let side = self.resolved(side);
        let Some((function, operands)) = self.applied(side) else { return Atom::Truth(side, wanted) };
        let (Some(operator), &[left, right]) = (self.operator(function), &operands[..]) else {
            return Atom::Truth(side, wanted);
        };
        match (operator, wanted) {
            (Operator::Equal, true) | (Operator::NotEqual, false) => Atom::Comparison(Relation::Equal, left, right),
            (Operator::Equal, false) | (Operator::NotEqual, true) => Atom::Comparison(Relation::Differs, left, right),
            (Operator::Less, true) | (Operator::GreaterEqual, false) => Atom::Comparison(Relation::Less, left, right),
            (Operator::Greater, true) | (Operator::LessEqual, false) => Atom::Comparison(Relation::Less, right, left),
            (Operator::LessEqual, true) | (Operator::Greater, false) => Atom::Comparison(Relation::AtMost, left, right),
            (Operator::GreaterEqual, true) | (Operator::Less, false) => Atom::Comparison(Relation::AtMost, right, left),
            _ => Atom::Truth(side, wanted),
        }
    }

    /// Whether a condition cannot have a truth value.
    pub(super) fn fails(&self, side: Side, wanted: bool) -> bool {
        if let Some((all, parts)) = self.parts(side, wanted) {
            let mut fail = parts.iter().map(|&(part, wanted)| self.fails(part, wanted));
            return if all { fail.any(|fails| fails) } else { fail.all(|fails| fails) };
        }
        match self.atom(side, wanted) {
            Atom::Comparison(_, left, right) if self.is_missing(left) || self.is_missing(right) => true,
            Atom::Comparison(Relation::Equal, left, right) => self.differ(left, right),
            Atom::Comparison(Relation::Differs, left, right) => self.same(left, right),
            Atom::Comparison(relation, left, right) => {
                let numbers = self.integer(left).zip(self.integer(right));
                relation == Relation::Less && self.same(left, right)
                    || numbers.is_some_and(|(one, other)| one > other || one == other && relation == Relation::Less)
                    // Nothing is below 0 where numbers are natural.
                    || relation == Relation::Less && self.integer(right) == Some(0) && self.is_natural(left)
            }
            Atom::Truth(side, wanted) => match self.applied(side) {
                None => self.operator(side) == Some(if wanted { Operator::False } else { Operator::True }),
                Some((function, arguments)) => match (self.recognised(function), &arguments[..]) {
                    (Some(constructor), &[argument]) => {
                        self.constructor(self.resolved(argument)).is_some_and(|found| (found == constructor) != wanted)
                    }
                    _ => false,
                },
            },
        }
    }

    /// Whether an expression is the head or tail of an empty list, so that no comparison with it is decided.
    fn is_missing(&self, side: Side) -> bool {
        let Some((function, arguments)) = self.applied(self.resolved(side)) else { return false };
        let empty = |side: Side| self.operator(self.resolved(side)) == Some(Operator::EmptyList);
        match self.operator(function) {
            Some(Operator::Head | Operator::Rhead | Operator::Tail | Operator::Rtail) => empty(arguments[0]),
            Some(_) => arguments.iter().any(|&argument| self.is_missing(argument)),
            None => false,
        }
    }

    fn is_natural(&self, side: Side) -> bool {
        let side = self.unconverted(side).unwrap_or(side);
        matches!(self.specification.tree.sort(side.1), crate::sorts::POS | crate::sorts::NAT)
    }

    /// A small number, converted, negated, or by the name of a constant.
    fn integer(&self, side: Side) -> Option<i128> {
        let side = self.resolved(side);
        if let Typed::Function(constant) = self.typed(side) {
            let is_constant = Typed::Function(*constant);
            let mut defined = self.specification.equations.iter();
            let equation =
                defined.find(|equation| *self.specification.tree.expression(equation.left) == is_constant)?;
            return self.number((side.0, equation.right))?.parse().ok();
        }
        if let Some(digits) = self.number(side) {
            return digits.parse().ok();
        }
        let (function, arguments) = self.applied(side)?;
        match self.operator(function)? {
            Operator::Negate => self.integer(arguments[0]).map(|value| -value),
            operator if is_conversion(operator) => self.integer(arguments[0]),
            _ => None,
        }
    }

    /// The constructor that a recogniser is for.
    fn recognised(&self, function: Side) -> Option<FunctionId> {
        let Typed::Function(id) = self.typed(function) else { return None };
        let all = self.specification.structured.iter().flat_map(|(_, constructors)| constructors);
        all.filter(|constructor| constructor.recogniser == Some(*id)).map(|found| found.constructor).next()
    }

    /// Whether two conditions cannot both have their truth values.
    pub(super) fn exclude(&self, one: Side, one_wanted: bool, other: Side, other_wanted: bool) -> bool {
        let ((one, one_wanted), (other, other_wanted)) =
            (self.affirmed(one, one_wanted), self.affirmed(other, other_wanted));
        if one_wanted != other_wanted && self.same(one, other) || self.fails(one, one_wanted) {
            return true;
        }
        // Disjunctions first: each of their parts may be excluded by another part of a conjunction.
        let (ones, others) = (self.parts(one, one_wanted), self.parts(other, other_wanted));
        match (ones, others) {
            (Some((false, parts)), _) => {
                return parts.iter().all(|&(part, wanted)| self.exclude(part, wanted, other, other_wanted));
            }
            (_, Some((false, parts))) => {
                return parts.iter().all(|&(part, wanted)| self.exclude(one, one_wanted, part, wanted));
            }
            (Some((true, parts)), _) => {
                return parts.iter().any(|&(part, wanted)| self.exclude(part, wanted, other, other_wanted));
            }
            (_, Some((true, parts))) => {
                return parts.iter().any(|&(part, wanted)| self.exclude(one, one_wanted, part, wanted));
            }
            (None, None) => {}
        }
        match (self.atom(one, one_wanted), self.atom(other, other_wanted)) {
            (Atom::Truth(one, wanted), Atom::Truth(other, another)) => {
                wanted != another && self.same(one, other) || wanted && another && self.two_recognisers(one, other)
            }
            (Atom::Comparison(relation, a, b), Atom::Comparison(another, c, d)) => {
                self.contradict((relation, a, b), (another, c, d))
            }
            _ => false,
        }
    }

    /// A condition without the negations around it, and the truth value it must have then.
    fn affirmed(&self, side: Side, wanted: bool) -> (Side, bool) {
        let side = self.resolved(side);
        match self.applied(side) {
            Some((function, operands)) if self.operator(function) == Some(Operator::Not) => {
                self.affirmed(operands[0], !wanted)
            }
            _ => (side, wanted),
        }
    }

    fn two_recognisers(&self, one: Side, other: Side) -> bool {
        let (Some((one, ones)), Some((other, others))) = (self.applied(one), self.applied(other)) else { return false };
        let (Some(constructor), Some(another)) = (self.recognised(one), self.recognised(other)) else { return false };
        constructor != another && self.same(ones[0], others[0])
    }

    fn contradict(&self, one: (Relation, Side, Side), other: (Relation, Side, Side)) -> bool {
        use Relation::{AtMost, Differs, Equal, Less};
        let ((relation, a, b), (another, c, d)) = (one, other);
        let straight = self.same(a, c) && self.same(b, d);
        let crossed = self.same(a, d) && self.same(b, c);
        let contradict = match (relation, another) {
            (Equal, Differs | Less) | (Differs | Less, Equal) => straight || crossed,
            (Less, Less | AtMost) | (AtMost, Less) => crossed,
            _ => false,
        };
        if contradict {
            return true;
        }
        if (relation, another) == (Equal, Equal) {
            let pairs = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
            if pairs.iter().any(|&(a, b, c, d)| self.same(a, c) && self.differ(b, d)) {
                return true;
            }
        }
        let (Some((one, lower, upper)), Some((other, least, most))) = (self.range(one), self.range(other)) else {
            return false;
        };
        self.same(one, other) && (upper < least || most < lower)
    }

    /// The numbers that a comparison of an expression with a number allows.
    fn range(&self, (relation, left, right): (Relation, Side, Side)) -> Option<(Side, i128, i128)> {
        let whole = |side: Side| self.specification.tree.sort(side.1) != crate::sorts::REAL;
        let step = i128::from(whole(left));
        match (relation, self.integer(left), self.integer(right)) {
            (Relation::Equal, None, Some(value)) => Some((left, value, value)),
            (Relation::Equal, Some(value), None) => Some((right, value, value)),
            (Relation::Less, None, Some(value)) if step == 1 => Some((left, i128::MIN, value.saturating_sub(1))),
            (Relation::Less, Some(value), None) if step == 1 => Some((right, value.saturating_add(1), i128::MAX)),
            (Relation::AtMost, None, Some(value)) => Some((left, i128::MIN, value)),
            (Relation::AtMost, Some(value), None) => Some((right, value, i128::MAX)),
            _ => None,
        }
    }
}
