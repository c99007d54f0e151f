//! In which order variables get their values, where the values come from, and when each part of a condition is tested.
//!
//! A plan is made once, when a quantifier or a sum is compiled. Of the variables that are left, the one about which the
//! condition says most is taken next: a value, a list or set that it is in, a function that holds for it, bounds; then
//! variables of finite sorts, the small ones first. When only variables of infinite sorts without such a fact are left,
//! one of them joins the *search*, in which all of its variables are given values together, breadth-first, and what
//! depends on them comes after. Each conjunct of the condition is tested as soon as its variables have values, so that
//! a false one cuts off everything below.

use std::collections::HashSet;

use trefoil_terms::{Section, Term};

use crate::sorts::{POS, SortRef};
use crate::typed::{Quantifier, TypedId, VariableId};

use super::code::FunctionIndex;
use super::compile::Compiler;
use super::facts::{self, Conjunct, Fact};
use super::finite::Size;
use super::linear::{self, Bounds, Constraint};

/// Where the values of a variable come from; codes are evaluated for the captured values and the variables before it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// This value.
    Known(Term),
    /// The value of an expression.
    Point(FunctionIndex),
    /// The number that is so much less than the value of an expression, if it is at least the other one.
    Less { than: FunctionIndex, by: u32, least: u32 },
    /// The elements of a list or set.
    Elements(FunctionIndex),
    /// The arguments for which a function holds.
    Holds(FunctionIndex),
    /// Numbers up to a bound, from another one or from the least one.
    Range { lower: Option<FunctionIndex>, upper: FunctionIndex },
    /// The numbers that the bounds of the level leave.
    Between,
    /// All values of a finite sort.
    All,
    /// All values of infinite sorts.
    Search,
}

/// A test of a part of the condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    pub(super) code: FunctionIndex,
    /// The truth value that it must have.
    pub(super) wanted: bool,
}

/// Variables that get their values together: one, or those of the search.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) variables: Vec<(VariableId, SortRef)>,
    pub(super) source: Source,
    /// What bounds its numbers beside the source.
    pub(super) bounds: Option<Bounds>,
    pub(super) filters: Vec<Filter>,
}

/// A plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Tests that need no variable.
    pub(super) filters: Vec<Filter>,
    pub(super) levels: Vec<Level>,
    /// Where the value of each variable lies among those of all levels.
    pub(super) places: Vec<usize>,
}

/// How a variable gets its values, before there is code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Choice {
    Fact(Fact),
    /// All values of a sort with this many.
    All(u64),
    /// As part of the search.
    Search,
}

/// The variables with sources, those of the search, and those with sources that may depend on the search.
#[derive(Default)]
struct Order {
    before: Vec<(VariableId, Choice)>,
    searched: Vec<VariableId>,
    after: Vec<(VariableId, Choice)>,
}

impl Compiler<'_, '_> {
    /// The plan of a condition: captured variables have values, bound ones get them.
    pub(super) fn plan(
        &mut self,
        quantifier: Quantifier,
        condition: TypedId,
        captured: &[VariableId],
        bound: &[VariableId],
    ) -> Plan {
        let conjuncts = facts::conjuncts(&self.program.specification, quantifier, condition);
        let constraints = linear::constraints(&self.program.specification, &conjuncts, bound);
        let Order { before, searched, after } = self.order(&conjuncts, &constraints, captured, bound);
        let given: HashSet<usize> = before
            .iter()
            .chain(&after)
            .filter_map(|(_, choice)| match choice {
                Choice::Fact(Fact::Point(_, number)) => Some(*number),
                _ => None,
            })
            .collect();
        let mut left: Vec<Conjunct> =
            conjuncts.iter().enumerate().filter(|(number, _)| !given.contains(number)).map(|(_, &part)| part).collect();
        let mut known = captured.to_vec();
        let mut plan = Plan { filters: self.filters(&mut left, &known, bound), ..Plan::default() };
        let mut order: Vec<VariableId> = Vec::new();
        let search = (!searched.is_empty()).then_some((searched, Choice::Search));
        let single = |(variable, choice)| (vec![variable], choice);
        let levels = before.into_iter().map(single).chain(search).chain(after.into_iter().map(single));
        for (variables, choice) in levels {
            let bounds = match choice {
                Choice::Fact(Fact::Range { .. }) => self.bounds_of(&constraints, variables[0], &known, true),
                Choice::Fact(Fact::Linear) => self.bounds_of(&constraints, variables[0], &known, false),
                _ => None,
            };
            let source = match choice {
                Choice::Fact(Fact::Truth(value)) => Source::Known(self.program.truths[usize::from(value)]),
                Choice::Fact(Fact::Point(value, _)) => Source::Point(self.outer(value, &known)),
                Choice::Fact(Fact::Elements(container) | Fact::Members(container)) => {
                    Source::Elements(self.outer(container, &known))
                }
                Choice::Fact(Fact::Less(value, by)) => {
                    let least = self.least(variables[0]);
                    Source::Less { than: self.outer(value, &known), by, least }
                }
                Choice::Fact(Fact::Holds(function)) => Source::Holds(self.outer(function, &known)),
                Choice::Fact(Fact::Range { lower, upper }) => {
                    let lower = lower.map(|lower| self.outer(lower, &known));
                    Source::Range { lower, upper: self.outer(upper, &known) }
                }
                Choice::Fact(Fact::Linear) => Source::Between,
                Choice::All(_) => Source::All,
                Choice::Search => Source::Search,
            };
            known.extend(&variables);
            order.extend(&variables);
            let filters = self.filters(&mut left, &known, bound);
            let sorted = |&variable: &VariableId| (variable, self.program.specification.tree.variable(variable).1);
            let variables: Vec<(VariableId, SortRef)> = variables.iter().map(sorted).collect();
            for &(_, sort) in &variables {
                self.program.add_unknowns(sort);
            }
            plan.levels.push(Level { variables, source, bounds, filters });
        }
        plan.places = bound.iter().filter_map(|variable| order.iter().position(|other| other == variable)).collect();
        plan
    }

    /// The order of the variables.
    fn order(
        &self,
        conjuncts: &[Conjunct],
        constraints: &[Constraint],
        captured: &[VariableId],
        bound: &[VariableId],
    ) -> Order {
        let specification = &self.program.specification;
        let mut known: HashSet<VariableId> = captured.iter().copied().collect();
        let mut left = bound.to_vec();
        let Order { mut before, mut searched, mut after } = Order::default();
        while !left.is_empty() {
            let choice = |variable: VariableId| {
                let fact = facts::fact(specification, conjuncts, variable, &known).map(Choice::Fact);
                let is_bounded = || linear::bounds(specification, constraints, variable, &known);
                let fact = fact.or_else(|| is_bounded().then_some(Choice::Fact(Fact::Linear)));
                let sort = specification.tree.variable(variable).1;
                fact.or_else(|| match self.program.size(sort) {
                    Size::Finite(values) => Some(Choice::All(values)),
                    _ => None,
                })
            };
            let choices = left.iter().filter_map(|&variable| Some((choice(variable)?, variable)));
            let taken = match choices.min_by_key(|(choice, _)| *choice) {
                // A number below one that is searched is searched with it, so that conditions on both end the search.
                Some((Choice::Fact(Fact::Range { .. } | Fact::Linear), variable)) if !searched.is_empty() => {
                    searched.push(variable);
                    variable
                }
                Some((choice, variable)) => {
                    if searched.is_empty() { &mut before } else { &mut after }.push((variable, choice));
                    variable
                }
                None => {
                    // A variable that decides another one is searched rather than the other.
                    let decides = |variable: &&VariableId| {
                        let mut more = known.clone();
                        more.insert(**variable);
                        left.iter().any(|other| {
                            other != *variable
                                && matches!(
                                    facts::fact(specification, conjuncts, *other, &more),
                                    Some(Fact::Point(..) | Fact::Elements(_))
                                )
                        })
                    };
                    let variable = *left.iter().find(decides).unwrap_or(&left[0]);
                    searched.push(variable);
                    variable
                }
            };
            left.retain(|&other| other != taken);
            known.insert(taken);
        }
        Order { before, searched, after }
    }

    /// The least value of a natural number.
    fn least(&self, variable: VariableId) -> u32 {
        u32::from(self.program.specification.tree.variable(variable).1 == POS)
    }

    /// Tests of those conjuncts whose variables are known now.
    fn filters(&mut self, left: &mut Vec<Conjunct>, known: &[VariableId], bound: &[VariableId]) -> Vec<Filter> {
        let tree = &self.program.specification.tree;
        let is_open = |variable: &VariableId| bound.contains(variable) && !known.contains(variable);
        let (later, now): (Vec<Conjunct>, Vec<Conjunct>) =
            left.iter().partition(|conjunct| tree.free_variables(conjunct.expression).iter().any(is_open));
        *left = later;
        now.iter()
            .map(|conjunct| Filter { code: self.outer(conjunct.expression, known), wanted: conjunct.wanted })
            .collect()
    }

    /// Where the arguments come from for which a function value holds, if its body says so.
    pub(super) fn held(&mut self, body: TypedId, captured: &[VariableId], variable: VariableId) -> Option<Source> {
        let conjuncts = facts::conjuncts(&self.program.specification, Quantifier::Exists, body);
        let known: HashSet<VariableId> = captured.iter().copied().collect();
        Some(match facts::fact(&self.program.specification, &conjuncts, variable, &known)? {
            Fact::Truth(value) => Source::Known(self.program.truths[usize::from(value)]),
            Fact::Point(value, _) => Source::Point(self.outer(value, captured)),
            Fact::Elements(container) | Fact::Members(container) => Source::Elements(self.outer(container, captured)),
            Fact::Less(value, by) => {
                Source::Less { than: self.outer(value, captured), by, least: self.least(variable) }
            }
            Fact::Holds(function) => Source::Holds(self.outer(function, captured)),
            Fact::Linear => return None,
            Fact::Range { lower, upper } => Source::Range {
                lower: lower.map(|lower| self.outer(lower, captured)),
                upper: self.outer(upper, captured),
            },
        })
    }
}

impl super::Program {
    /// Makes the symbols of unknown parts of values of a sort.
    fn add_unknowns(&mut self, sort: SortRef) {
        let mut pending = vec![sort];
        while let Some(sort) = pending.pop() {
            if !self.unknowns.contains_key(&sort) {
                let symbol = self.pool.fresh_symbol("@unknown", 2);
                self.unknowns.insert(sort, symbol);
                self.unknown_sorts.insert(symbol, sort);
                pending.extend(self.parts(sort));
            }
        }
    }

    /// An unknown value of a sort; of a number sort, one from the `from`-th value on.
    pub(super) fn unknown(&self, section: &Section<'_>, sort: SortRef, number: u64, from: u64) -> Term {
        section.create(self.unknowns[&sort], &[section.word(number), section.word(from)])
    }
}
