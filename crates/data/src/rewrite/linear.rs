//! Bounds of numbers from linear equations and inequalities.
//!
//! `x < 1000 && y < 1000 && z < 1000 && x + y + z == 5` says that no number is above 5, and that `z` is decided by the
//! other two. Each comparison of numbers in a condition is brought into the form `sum of a·x + rest <= 0` or `== 0`,
//! where the `x` are variables without a value yet and the rest is known, or else a number whose sort alone is known.
//! Before a variable gets its values, the intervals of all variables without a value are narrowed by these
//! constraints, a few times over: for each constraint and variable the others take the ends of their intervals that
//! leave the variable most room. This is bounds propagation (Davis, *Constraint propagation with interval labels*,
//! 1987) and never loses a solution; the tests of the condition are done as well, so it may leave too much.
//!
//! Cost: a look at every constraint that is connected with the variable, when the variable's turn comes. A variable
//! that shares no constraint with others and has one bound is left to the simple range in `plan.rs`.

use std::collections::{HashMap, HashSet};

use dashu_int::IBig;
use dashu_int::ops::DivEuclid;
use trefoil_terms::Term;

use crate::signature::{Operator, Origin};
use crate::sorts::{INT, NAT, POS, REAL, SortRef};
use crate::typed::{DataSpecification, Typed, TypedId, VariableId};

use super::code::FunctionIndex;
use super::facts::{Conjunct, comparison};
use super::machine::{Rewriter, Unfinished};
use super::numbers::Number;

/// How often the constraints are gone through.
const ROUNDS: usize = 4;

/// Constraints beyond this many are left out: each is looked at whenever a variable gets its values.
const MOST_CONSTRAINTS: usize = 32;

/// Comparisons with more parts are left out.
const LARGEST: usize = 256;

/// A sum that is at most 0, or is 0.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    is_equation: bool,
    /// Bound variables with their coefficients, none of which is 0.
    variables: Vec<(VariableId, IBig)>,
    /// Expressions over other variables.
    known: Vec<(TypedId, IBig)>,
    /// Expressions over bound variables that are not sums, with their sorts.
    others: Vec<(SortRef, IBig)>,
    constant: IBig,
}

/// The numbers between two, both included; nothing where there is no end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) first: Option<IBig>,
    pub(super) last: Option<IBig>,
}

impl Interval {
    /// The numbers of a sort.
    fn of(sort: SortRef) -> Interval {
        let first = match sort {
            POS => Some(IBig::ONE),
            NAT => Some(IBig::ZERO),
            _ => None,
        };
        Interval { first, last: None }
    }

    /// The least value of a multiple, if there is one.
    fn least(&self, factor: &IBig) -> Option<IBig> {
        let end = if *factor > IBig::ZERO { &self.first } else { &self.last };
        end.as_ref().map(|end| end * factor)
    }

    /// Leaves out what is outside of `factor·x <= most`; says whether that was something.
    fn narrow(&mut self, factor: &IBig, most: &IBig) -> bool {
        if *factor > IBig::ZERO {
            let last = most.div_euclid(factor);
            let is_less = self.last.as_ref().is_none_or(|before| last < *before);
            if is_less {
                self.last = Some(last);
            }
            is_less
        } else {
            let first = -(most.div_euclid(-factor));
            let is_more = self.first.as_ref().is_none_or(|before| first > *before);
            if is_more {
                self.first = Some(first);
            }
            is_more
        }
    }
}

/// The constraints among the conjuncts of a condition.
pub(super) fn constraints(
    specification: &DataSpecification,
    conjuncts: &[Conjunct],
    bound: &[VariableId],
) -> Vec<Constraint> {
    let bound: HashSet<VariableId> = bound.iter().copied().collect();
    let mut constraints = Vec::new();
    for &conjunct in conjuncts {
        let Some((operator, [left, right])) = comparison(specification, conjunct) else { continue };
        let sort = specification.tree.sort(left);
        let is_small = specification.tree.is_smaller(conjunct.expression, LARGEST);
        if operator == Operator::In || !matches!(sort, POS | NAT | INT | REAL) || !is_small {
            continue;
        }
        let mut reader = Reader { specification, bound: &bound, variables: HashMap::new(), order: Vec::new() };
        let mut made = Constraint {
            is_equation: operator == Operator::Equal,
            variables: Vec::new(),
            known: Vec::new(),
            others: Vec::new(),
            constant: IBig::ZERO,
        };
        reader.add(left, IBig::ONE, &mut made);
        reader.add(right, IBig::NEG_ONE, &mut made);
        if operator == Operator::Less && sort != REAL {
            made.constant += IBig::ONE;
        }
        let Reader { variables, order, .. } = reader;
        made.variables = order.into_iter().map(|variable| (variable, variables[&variable].clone())).collect();
        made.variables.retain(|(_, factor)| *factor != IBig::ZERO);
        if !made.variables.is_empty() {
            constraints.push(made);
        }
    }
    constraints.truncate(MOST_CONSTRAINTS);
    constraints
}

/// Takes sums apart.
struct Reader<'a> {
    specification: &'a DataSpecification,
    bound: &'a HashSet<VariableId>,
    variables: HashMap<VariableId, IBig>,
    /// The variables in the order in which they were met.
    order: Vec<VariableId>,
}

impl Reader<'_> {
    fn add(&mut self, id: TypedId, factor: IBig, made: &mut Constraint) {
        let specification = self.specification;
        let tree = &specification.tree;
        let mut pending = vec![(id, factor)];
        while let Some((id, factor)) = pending.pop() {
            match tree.expression(id) {
                Typed::Number(digits) => match specification.names.text(*digits).parse::<IBig>() {
                    Ok(value) => made.constant += value * factor,
                    Err(_) => made.known.push((id, factor)),
                },
                Typed::Variable(variable) if self.bound.contains(variable) => {
                    if !matches!(tree.variable(*variable).1, POS | NAT | INT) {
                        made.others.push((REAL, factor));
                        continue;
                    }
                    if !self.variables.contains_key(variable) {
                        self.order.push(*variable);
                    }
                    *self.variables.entry(*variable).or_default() += factor;
                }
                _ if tree.free_variables(id).iter().all(|variable| !self.bound.contains(variable)) => {
                    made.known.push((id, factor));
                }
                Typed::Apply(function, arguments) => {
                    let operator = match tree.expression(*function) {
                        Typed::Function(function) => match specification.signature.function(*function).origin {
                            Origin::Builtin(operator) => Some(operator),
                            _ => None,
                        },
                        _ => None,
                    };
                    match (operator, tree.elements(arguments)) {
                        (Some(Operator::Add), &[one, other]) => {
                            pending.extend([(other, factor.clone()), (one, factor)])
                        }
                        (Some(Operator::Subtract), &[one, other]) => {
                            pending.extend([(other, -factor.clone()), (one, factor)]);
                        }
                        (Some(Operator::Negate), &[part]) => pending.push((part, -factor)),
                        (Some(Operator::Succ), &[part]) => {
                            made.constant += &factor;
                            pending.push((part, factor));
                        }
                        (Some(Operator::Pred), &[part]) => {
                            made.constant -= &factor;
                            pending.push((part, factor));
                        }
                        (Some(Operator::Multiply), &[one, other]) => match (self.literal(one), self.literal(other)) {
                            (Some(times), _) => pending.push((other, factor * times)),
                            (_, Some(times)) => pending.push((one, factor * times)),
                            _ => made.others.push((tree.sort(id), factor)),
                        },
                        (Some(operator), &[part]) if super::compile::is_conversion(operator) => {
                            pending.push((part, factor));
                        }
                        _ => made.others.push((tree.sort(id), factor)),
                    }
                }
                _ => made.others.push((tree.sort(id), factor)),
            }
        }
    }

    /// The value of a number in the text, which may be converted.
    fn literal(&self, id: TypedId) -> Option<IBig> {
        let tree = &self.specification.tree;
        match tree.expression(id) {
            Typed::Number(digits) => self.specification.names.text(*digits).parse().ok(),
            Typed::Apply(function, arguments) => {
                let Typed::Function(function) = tree.expression(*function) else { return None };
                let Origin::Builtin(operator) = self.specification.signature.function(*function).origin else {
                    return None;
                };
                match (operator, tree.elements(arguments)) {
                    (Operator::Negate, &[part]) => self.literal(part).map(|value| -value),
                    (operator, &[part]) if super::compile::is_conversion(operator) => self.literal(part),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether constraints bound a variable on both sides, given the variables that have values.
pub(super) fn bounds(
    specification: &DataSpecification,
    constraints: &[Constraint],
    variable: VariableId,
    known: &HashSet<VariableId>,
) -> bool {
    // Any value will do for what is known: only whether there are ends matters.
    let mut intervals: HashMap<VariableId, Interval> = HashMap::new();
    for (other, _) in constraints.iter().flat_map(|constraint| &constraint.variables) {
        let interval = if known.contains(other) {
            Interval { first: Some(IBig::ZERO), last: Some(IBig::ZERO) }
        } else {
            Interval::of(specification.tree.variable(*other).1)
        };
        intervals.insert(*other, interval);
    }
    let has_ends = |interval: &Interval| (interval.first.is_some(), interval.last.is_some());
    loop {
        let mut changed = false;
        for constraint in constraints {
            for (place, (at, factor)) in constraint.variables.iter().enumerate() {
                for sign in [IBig::ONE, IBig::NEG_ONE].into_iter().take(1 + usize::from(constraint.is_equation)) {
                    let others = constraint.variables.iter().enumerate().filter(|(other, _)| *other != place);
                    let bounded = others
                        .into_iter()
                        .all(|(_, (other, factor))| intervals[other].least(&(factor * &sign)).is_some())
                        && constraint
                            .others
                            .iter()
                            .all(|(sort, factor)| Interval::of(*sort).least(&(factor * &sign)).is_some());
                    let Some(interval) = intervals.get_mut(at) else { continue };
                    let before = has_ends(interval);
                    if bounded {
                        interval.narrow(&(factor * &sign), &IBig::ZERO);
                        changed |= has_ends(interval) != before;
                    }
                }
            }
        }
        if !changed {
            return intervals.get(&variable).is_some_and(|interval| has_ends(interval) == (true, true));
        }
    }
}

/// The constraints that are connected with a variable, as far as variables without values connect them.
pub(super) fn connected(constraints: &[Constraint], variable: VariableId, known: &HashSet<VariableId>) -> Vec<usize> {
    let mut reached = HashSet::from([variable]);
    let mut taken: Vec<usize> = Vec::new();
    loop {
        let before = taken.len();
        for (number, constraint) in constraints.iter().enumerate() {
            let open = || constraint.variables.iter().map(|(other, _)| *other).filter(|other| !known.contains(other));
            if !taken.contains(&number) && open().any(|other| reached.contains(&other)) {
                reached.extend(open());
                taken.push(number);
            }
        }
        if taken.len() == before {
            taken.sort_unstable();
            return taken;
        }
    }
}

/// What bounds the numbers of a level: variables without values, the level's own first, and constraints over them.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    sorts: Vec<SortRef>,
    constraints: Vec<Bounding>,
}

/// A constraint whose known part is evaluated by code.
#[derive(Clone, Debug)]
struct Bounding {
    is_equation: bool,
    variables: Vec<(usize, IBig)>,
    /// Variables that have values, by their places among all of these.
    values: Vec<(usize, IBig)>,
    known: Vec<(FunctionIndex, IBig)>,
    /// What is not known adds at least these, to the sum and to its negation.
    others: [Option<IBig>; 2],
    constant: IBig,
}

impl super::compile::Compiler<'_, '_> {
    /// The bounds of a variable that gets its values when others have theirs; nothing where they say no more than a
    /// simple range does.
    pub(super) fn bounds_of(
        &mut self,
        constraints: &[Constraint],
        variable: VariableId,
        known: &[VariableId],
        is_simple: bool,
    ) -> Option<Bounds> {
        let has_value: HashSet<VariableId> = known.iter().copied().collect();
        let numbers = connected(constraints, variable, &has_value);
        let is_alone = numbers.iter().all(|&number| constraints[number].variables.len() == 1);
        let ends = |from_above: bool| {
            let is_end = |constraint: &Constraint| {
                constraint.is_equation || (constraint.variables[0].1 > IBig::ZERO) == from_above
            };
            numbers.iter().filter(|&&number| is_end(&constraints[number])).count()
        };
        if is_simple && is_alone && ends(true) <= 1 && ends(false) <= 1 {
            return None;
        }
        let mut order = vec![variable];
        let mut made = Vec::new();
        for &number in &numbers {
            let constraint = &constraints[number];
            let mut bounding = Bounding {
                is_equation: constraint.is_equation,
                variables: Vec::new(),
                values: Vec::new(),
                known: Vec::new(),
                others: [IBig::ONE, IBig::NEG_ONE].map(|sign| {
                    let parts = constraint.others.iter();
                    parts.map(|(sort, factor)| Interval::of(*sort).least(&(factor * &sign))).sum()
                }),
                constant: constraint.constant.clone(),
            };
            for (other, factor) in &constraint.variables {
                if let Some(place) = known.iter().position(|known| known == other) {
                    bounding.values.push((place, factor.clone()));
                    continue;
                }
                let place = order.iter().position(|known| known == other).unwrap_or_else(|| {
                    order.push(*other);
                    order.len() - 1
                });
                bounding.variables.push((place, factor.clone()));
            }
            for (expression, factor) in &constraint.known {
                bounding.known.push((self.outer(*expression, known), factor.clone()));
            }
            made.push(bounding);
        }
        let sorts = order.iter().map(|&variable| self.program.specification.tree.variable(variable).1).collect();
        Some(Bounds { sorts, constraints: made })
    }
}

impl Rewriter<'_> {
    /// The numbers that a variable can be, given the values above a place.
    pub(super) fn interval(&mut self, bounds: &Bounds, base: usize) -> Result<Interval, Unfinished> {
        let mut intervals: Vec<Interval> = bounds.sorts.iter().map(|&sort| Interval::of(sort)).collect();
        // What is known of each constraint; one with a part that is no integer is left out.
        let mut sums: Vec<Option<IBig>> = Vec::with_capacity(bounds.constraints.len());
        for constraint in &bounds.constraints {
            let mut sum = Some(constraint.constant.clone());
            for (place, factor) in &constraint.values {
                sum = self.plus(sum, self.stack[base + place], factor);
            }
            for (code, factor) in &constraint.known {
                let value = self.evaluate_above(*code, base)?;
                sum = self.plus(sum, value, factor);
            }
            sums.push(sum);
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (constraint, sum) in bounds.constraints.iter().zip(&sums) {
                let Some(sum) = sum else { continue };
                for (sign, others) in [IBig::ONE, IBig::NEG_ONE].iter().zip(&constraint.others) {
                    if *sign == IBig::NEG_ONE && !constraint.is_equation {
                        continue;
                    }
                    let Some(others) = others else { continue };
                    let rest = sum * sign + others;
                    for (place, factor) in &constraint.variables {
                        let parts = constraint.variables.iter().filter(|(other, _)| other != place);
                        let least: Option<IBig> =
                            parts.map(|(other, factor)| intervals[*other].least(&(factor * sign))).sum();
                        let Some(least) = least else { continue };
                        changed |= intervals[*place].narrow(&(factor * sign), &-(&rest + least));
                    }
                }
            }
            if !changed || intervals.iter().any(Interval::is_empty) {
                break;
            }
        }
        if intervals.iter().any(Interval::is_empty) {
            return Ok(Interval { first: Some(IBig::ONE), last: Some(IBig::ZERO) });
        }
        Ok(intervals.swap_remove(0))
    }

    fn plus(&self, sum: Option<IBig>, value: Term, factor: &IBig) -> Option<IBig> {
        match self.program.numbers.read(&self.section, value)? {
            Number::Integer(value) => Some(sum? + value * factor),
            Number::Fraction(..) => None,
        }
    }
}

impl Interval {
    fn is_empty(&self) -> bool {
        matches!((&self.first, &self.last), (Some(first), Some(last)) if first > last)
    }
}
