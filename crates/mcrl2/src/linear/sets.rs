//! Parameters that hold sets over a few constants: one truth value for each element.
//!
//! A parameter `s: Set(D)` or `FSet(D)`, where `D` has the constants `d1, …, dn` and no other values, becomes `s1, …,
//! sn: Bool`, and `si` says whether `di in s`. Sets over a finite sort and these truth values are in bijection. What a
//! set is made of is followed down to its parts: `di in (t + u)` is `di in t || di in u`, and so on for `*`, `-`, `!`,
//! `if` and finite sets; `e in s` becomes `e == d1 && s1 || …`, and equality and inclusion compare all
//! elements. Terms in which the parameter does not occur are left to the rewriter, which knows `di in t` for them.
//!
//! A set stays whole where any other expression needs it (`#s`, an argument of an action, a comprehension that captures
//! it), or where terms would become more than twice as large. It is done where it helps: some summand reads or writes
//! an element, and not all of them. A set that becomes a part of the new value of another one of the same sort is taken
//! apart together with it.
//!
//! Cost: linear in the terms of the summands that use the parameter, times the number of elements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use trefoil_data::signature::Operator;
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_terms::Term;

use super::Refusal;
use super::apart::SetApart;
use super::draft::{Draft, DraftParameter, DraftSummand};
use super::expressions::{Environment, Expressions, Variable};
use super::unfold::{Made, Parted, terms};

/// Terms may grow by this factor.
const GROWTH: u64 = 2;

/// The most parameters that are taken apart together.
const MOST_TOGETHER: usize = 12;

/// Takes a set apart by its elements, where that helps.
pub(super) fn by_element(draft: &Draft, x: &mut Expressions<'_>, at: usize) -> Result<Option<Made>, Refusal> {
    let sort = x.described(draft.parameters[at].variable).sort;
    let Some(set) = x.set_apart(sort) else { return Ok(None) };
    let mut together = vec![at];
    while together.len() <= MOST_TOGETHER {
        let mut elements = Elements { set: Rc::clone(&set), constants: Vec::new(), parts: HashMap::new() };
        for constant in &set.constants {
            elements.constants.push(x.value(constant.1, &Environment::new())?);
        }
        for &at in &together {
            let variable = draft.parameters[at].variable;
            let name = x.described(variable).name.clone();
            let own = set.constants.iter().map(|(element, _)| x.variable(&format!("{name}_{element}"), BOOL)).collect();
            elements.parts.insert(variable, own);
        }
        match elements.made(draft, x, &together)? {
            Ok(made) => return Ok(made),
            Err(other) => together.push(other),
        }
    }
    Ok(None)
}

/// Sets that are being taken apart.
struct Elements {
    set: Rc<SetApart>,
    /// The elements.
    constants: Vec<Term>,
    /// The truth values of each parameter.
    parts: HashMap<Variable, Vec<Variable>>,
}

/// A term that needs a set as a whole.
struct Whole;

type Found<T> = Result<Result<T, Whole>, Refusal>;

/// Goes on with what was found, or ends with what could not be.
macro_rules! found {
    ($found:expr) => {
        match $found? {
            Ok(found) => found,
            Err(whole) => return Ok(Err(whole)),
        }
    };
}

impl Elements {
    fn occurs(&self, x: &mut Expressions<'_>, term: Term) -> bool {
        x.free(term).iter().any(|variable| self.parts.contains_key(variable))
    }

    /// Whether each element is in a set.
    fn members(&self, x: &mut Expressions<'_>, term: Term) -> Found<Vec<Term>> {
        if let Some(parts) = x.as_variable(term).and_then(|variable| self.parts.get(&variable)) {
            return Ok(Ok(parts.iter().map(|&part| x.leaf(part)).collect()));
        }
        if !self.occurs(x, term) {
            let sort = self.sort(x, term);
            let Some(&(_, expression, element, of)) = self.set.member.iter().find(|member| Some(member.0) == sort)
            else {
                return Ok(Err(Whole));
            };
            let mut all = Vec::new();
            for &constant in &self.constants {
                let test = x.value(expression, &Environment::from([(element, constant), (of, term)]))?;
                if x.is_closed(test) && x.program.truth_of(test).is_none() {
                    return Ok(Err(Whole));
                }
                all.push(test);
            }
            return Ok(Ok(all));
        }
        let section = x.rewriter.section();
        let arguments: Vec<Term> = section.arguments(term).iter().collect();
        let operator = x.program.applied_operator(section, term);
        let mut all = Vec::new();
        match (operator, &arguments[..]) {
            (Some(Operator::Union | Operator::Intersection | Operator::Difference), &[one, other]) => {
                let (one, other) = (found!(self.members(x, one)), found!(self.members(x, other)));
                for (one, other) in one.into_iter().zip(other) {
                    all.push(match operator {
                        Some(Operator::Union) => x.either(one, other)?,
                        Some(Operator::Intersection) => x.all(&[one, other])?,
                        _ => {
                            let other = x.not(other)?;
                            x.all(&[one, other])?
                        }
                    });
                }
            }
            (Some(Operator::Complement), &[one]) => {
                for one in found!(self.members(x, one)) {
                    all.push(x.not(one)?);
                }
            }
            (Some(Operator::FSet2Set), &[one]) => all = found!(self.members(x, one)),
            (Some(Operator::If), &[test, one, other]) => {
                let test = found!(self.rewritten(x, test));
                let (one, other) = (found!(self.members(x, one)), found!(self.members(x, other)));
                for (one, other) in one.into_iter().zip(other) {
                    all.push(x.choice(BOOL, test, one, other)?);
                }
            }
            (Some(Operator::FSetCons), &[element, others]) => {
                let element = found!(self.rewritten(x, element));
                let others = found!(self.members(x, others));
                for (&constant, other) in self.constants.iter().zip(others) {
                    let is_it = x.equal(self.set.element, element, constant)?;
                    all.push(x.either(is_it, other)?);
                }
            }
            (Some(Operator::InsertIf), &[element, test, others]) => {
                let (element, test) = (found!(self.rewritten(x, element)), found!(self.rewritten(x, test)));
                let others = found!(self.members(x, others));
                for (&constant, other) in self.constants.iter().zip(others) {
                    let is_it = x.equal(self.set.element, element, constant)?;
                    let is_it = x.all(&[is_it, test])?;
                    all.push(x.either(is_it, other)?);
                }
            }
            _ => return Ok(Err(Whole)),
        }
        Ok(Ok(all))
    }

    /// A term that is not a set of these, with its sets taken apart.
    fn rewritten(&self, x: &mut Expressions<'_>, term: Term) -> Found<Term> {
        if !self.occurs(x, term) {
            return Ok(Ok(term));
        }
        let section = x.rewriter.section();
        let head = section.head(term);
        let arguments: Vec<Term> = section.arguments(term).iter().collect();
        let operator = x.program.applied_operator(section, term);
        match (operator, &arguments[..]) {
            (Some(Operator::In), &[element, set]) if self.occurs(x, set) => {
                let element = found!(self.rewritten(x, element));
                let members = found!(self.members(x, set));
                let mut value = x.program.truth_term(false);
                for (&constant, member) in self.constants.iter().zip(members).rev() {
                    let is_it = x.equal(self.set.element, element, constant)?;
                    let is_it = x.all(&[is_it, member])?;
                    value = x.either(is_it, value)?;
                }
                Ok(Ok(value))
            }
            (
                Some(operator @ (Operator::Equal | Operator::NotEqual | Operator::LessEqual | Operator::Less)),
                &[one, other],
            ) if self.is_set(x, one) || self.is_set(x, other) => {
                let (one, other) = (found!(self.members(x, one)), found!(self.members(x, other)));
                let (mut same, mut within) = (Vec::new(), Vec::new());
                for (one, other) in one.into_iter().zip(other) {
                    same.push(x.equal(BOOL, one, other)?);
                    let outside = x.not(one)?;
                    within.push(x.either(outside, other)?);
                }
                let (same, within) = (x.all(&same)?, x.all(&within)?);
                Ok(Ok(match operator {
                    Operator::Equal => same,
                    Operator::LessEqual => within,
                    Operator::NotEqual => x.not(same)?,
                    _ => {
                        let other = x.not(same)?;
                        x.all(&[within, other])?
                    }
                }))
            }
            (_, []) => Ok(Err(Whole)),
            _ => {
                let mut inside = Vec::new();
                for argument in arguments {
                    inside.push(found!(self.rewritten(x, argument)));
                }
                let made = x.rewriter.section().create(head, &inside);
                Ok(Ok(x.simplified(made)?))
            }
        }
    }

    /// Whether a term is a set of these elements, as far as its head tells.
    fn is_set(&self, x: &Expressions<'_>, term: Term) -> bool {
        self.set.member.iter().any(|member| Some(member.0) == self.sort(x, term))
    }

    fn sort(&self, x: &Expressions<'_>, term: Term) -> Option<SortRef> {
        match x.as_variable(term) {
            Some(variable) => Some(x.described(variable).sort),
            None => x.sort_of(term),
        }
    }

    /// The new parameters and summands, where they help; or another parameter that must be taken apart, too.
    fn made(
        &self,
        draft: &Draft,
        x: &mut Expressions<'_>,
        together: &[usize],
    ) -> Result<Result<Option<Made>, usize>, Refusal> {
        let mut made = Made::default();
        let mut helps = false;
        for (number, summand) in draft.summands.iter().enumerate() {
            let before = terms(summand);
            let changes = together.iter().any(|at| summand.updates.contains_key(at));
            if !changes && !before.iter().any(|&term| self.occurs(x, term)) {
                continue;
            }
            x.control.check()?;
            for (&other, &value) in &summand.updates {
                let sort = x.described(draft.parameters[other].variable).sort;
                if sort == self.set.sort && !together.contains(&other) && self.occurs(x, value) {
                    return Ok(Err(other));
                }
            }
            let Ok(parted) = self.parted(draft, x, summand, together)? else { return Ok(Ok(None)) };
            let Some(parted) = parted else {
                made.summands.insert(number, Vec::new());
                continue;
            };
            let mut after = terms(&parted.summand);
            after.extend(parted.parts.values());
            let size = |x: &mut Expressions<'_>, all: &[Term]| all.iter().map(|&term| x.size(term)).sum::<u64>();
            let slack = 8 * self.constants.len() as u64;
            if size(x, &after) > GROWTH * size(x, &before) + slack {
                return Ok(Ok(None));
            }
            let read: BTreeSet<Variable> = after.iter().flat_map(|&term| x.free(term).to_vec()).collect();
            for &at in together {
                let own = &self.parts[&draft.parameters[at].variable];
                let touched = (0..own.len())
                    .filter(|&place| read.contains(&own[place]) || parted.parts.contains_key(&(at, place)))
                    .count();
                helps |= touched > 0 && touched < own.len();
            }
            made.summands.insert(number, vec![parted]);
        }
        if !helps {
            return Ok(Ok(None));
        }
        for &at in together {
            let parameter = &draft.parameters[at];
            let Ok(initial) = self.members(x, parameter.initial)? else { return Ok(Ok(None)) };
            let idle = match parameter.idle {
                Some(idle) => match self.members(x, idle)? {
                    Ok(idle) => Some(idle),
                    Err(Whole) => return Ok(Ok(None)),
                },
                None => None,
            };
            let is_decided =
                |x: &Expressions<'_>, terms: &[Term]| terms.iter().all(|&term| x.program.truth_of(term).is_some());
            if !is_decided(x, &initial) || idle.as_ref().is_some_and(|idle| !is_decided(x, idle)) {
                return Ok(Ok(None));
            }
            let own = self.parts[&parameter.variable].iter().enumerate().map(|(place, &variable)| DraftParameter {
                variable,
                component: parameter.component,
                initial: initial[place],
                idle: idle.as_ref().map(|idle| idle[place]),
                control: None,
            });
            made.parameters.insert(at, own.collect());
            made.said.push(format!("`{}` by its elements", x.described(parameter.variable).name));
        }
        Ok(Ok(Some(made)))
    }

    /// A summand with its sets taken apart; nothing where it is never enabled.
    fn parted(
        &self,
        draft: &Draft,
        x: &mut Expressions<'_>,
        summand: &DraftSummand,
        together: &[usize],
    ) -> Found<Option<Parted>> {
        let mut changed = summand.clone();
        changed.conditions = Vec::new();
        for &condition in &summand.conditions {
            let rewritten = found!(self.rewritten(x, condition));
            if !x.conjuncts(rewritten, &mut changed.conditions)? {
                return Ok(Ok(None));
            }
        }
        for argument in changed.action.iter_mut().flatten().flat_map(|(_, arguments)| arguments) {
            *argument = found!(self.rewritten(x, *argument));
        }
        let mut parts = BTreeMap::new();
        for &at in together {
            let Some(value) = changed.updates.remove(&at) else { continue };
            let members = found!(self.members(x, value));
            for (place, member) in members.into_iter().enumerate() {
                if member != x.leaf(self.parts[&draft.parameters[at].variable][place]) {
                    parts.insert((at, place), member);
                }
            }
        }
        for value in changed.updates.values_mut() {
            *value = found!(self.rewritten(x, *value));
        }
        Ok(Ok(Some(Parted { summand: changed, parts })))
    }
}
