//! Parameters that hold records or small functions become several parameters, one for each field or argument.
//!
//! A parameter `p` of a sort with one constructor `c(S1, …, Sn)` and projections to all of its arguments is replaced by
//! `c(p1, …, pn)`, and one of a sort `D -> S`, where `D` has a few constants `d1, …, dn` and nothing else, by
//! `lambda x: D. if(x == d1, p1, …)`. A new value `t` of `p` becomes new values `pi = πi(t)` or `pi = t(di)`. That is a
//! bijection between values, so the state space stays the same up to isomorphism. Compare Groote and Lisser, *Computer
//! assisted manipulation of algebraic process specifications* (2001), and the tool lpsparunfold of mCRL2, which a user
//! applies to chosen parameters, and which distinguishes cases where there are several constructors; here such sorts
//! stay as they are, and so do lists and sets.
//!
//! It is done where it helps: some summand depends on a part of `p`, or changes it, and not all of it. Then that
//! summand reads and writes less, so that steps computed for it serve more states; and constant, redundant and dead
//! parts are found by the analyses that follow. A record stays as it is when terms would grow, because some function
//! works on all of it and would be evaluated once for each field. A function stays as it is when an expression needs it
//! as a whole, or when the terms of a summand would become twice as large.
//!
//! Invariants: the parts of a parameter stand where it stood, so parameters are still in the order of components. The
//! order of summands stays the same.
//!
//! Cost: linear in the terms of the summands that use or change the parameter, for each parameter that is tried.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_terms::Term;

use super::Refusal;
use super::draft::{Draft, DraftParameter, DraftSummand};
use super::expressions::{Environment, Expressions, Variable};

/// How values of a sort are taken apart.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The value with these parts, and the variables that stand for them.
    pub(super) whole: (TypedId, Vec<VariableId>),
    /// The parts.
    pub(super) parts: Vec<TakenPart>,
    /// Whether it is a function.
    pub(super) function: bool,
}

/// A part of a value.
#[derive(Clone, Debug)]
pub(super) struct TakenPart {
    /// How it is called: a projection, or an argument.
    pub(super) name: String,
    pub(super) sort: SortRef,
    /// The part of a value, and the variable that stands for the value.
    pub(super) of: (TypedId, VariableId),
}

/// Terms of a function may grow by this factor.
const GROWTH: u64 = 2;

/// The most parameters that one parameter may become.
const MOST_PARTS: usize = 16;

/// Takes parameters apart where that helps; the number of those, and of what they became.
pub(super) fn unfold(draft: &mut Draft, x: &mut Expressions<'_>) -> Result<(usize, usize), Refusal> {
    let (mut apart, mut parts) = (0, 0);
    // The part of a record may be a record; where a parameter stays, the next one follows.
    let mut at = 0;
    while at < draft.parameters.len() {
        match tried(draft, x, at)? {
            Some(made) => {
                apart += 1;
                parts += made.parameters.len();
                put_in(draft, at, made);
            }
            None => at += 1,
        }
    }
    Ok((apart, parts))
}

/// What a parameter becomes.
struct Made {
    parameters: Vec<DraftParameter>,
    /// The summands that change, by their places; the updates of parts stand beside, by their places among the parts.
    summands: BTreeMap<usize, (DraftSummand, BTreeMap<usize, Term>)>,
    /// Summands that are never enabled.
    never: BTreeSet<usize>,
}

fn tried(draft: &Draft, x: &mut Expressions<'_>, at: usize) -> Result<Option<Made>, Refusal> {
    let parameter = &draft.parameters[at];
    if parameter.control.is_some() {
        return Ok(None);
    }
    let described = x.described(parameter.variable).clone();
    let Some(taken) = x.taken_apart(described.sort) else { return Ok(None) };
    if taken.parts.len() > MOST_PARTS {
        return Ok(None);
    }
    let variables: Vec<Variable> =
        taken.parts.iter().map(|part| x.variable(&format!("{}_{}", described.name, part.name), part.sort)).collect();
    let leaves: Vec<Term> = variables.iter().map(|&variable| x.leaf(variable)).collect();
    let whole = {
        let environment: Environment = taken.whole.1.iter().copied().zip(leaves.iter().copied()).collect();
        x.value(taken.whole.0, &environment)?
    };
    let part = |x: &mut Expressions<'_>, place: usize, value: Term| {
        let (expression, variable) = taken.parts[place].of;
        x.value(expression, &Environment::from([(variable, value)]))
    };
    for (place, &leaf) in leaves.iter().enumerate() {
        if part(x, place, whole)? != leaf {
            return Ok(None);
        }
    }
    let values = HashMap::from([(parameter.variable, whole)]);
    let mut made = Made { parameters: Vec::new(), summands: BTreeMap::new(), never: BTreeSet::new() };
    let mut helps = false;
    let mut growth = (0, 0);
    for (number, summand) in draft.summands.iter().enumerate() {
        let mut before = terms(summand);
        if !summand.updates.contains_key(&at) && !before.iter().any(|&term| x.free(term).contains(&parameter.variable))
        {
            continue;
        }
        before.extend(summand.updates.get(&at));
        let mut changed = summand.clone();
        let update = changed.updates.remove(&at);
        if !changed.replace(x, &values)? {
            made.never.insert(number);
            continue;
        }
        let mut updates = BTreeMap::new();
        if let Some(update) = update {
            let update = x.replace(update, &values)?;
            for (place, &leaf) in leaves.iter().enumerate() {
                let value = part(x, place, update)?;
                if value != leaf {
                    updates.insert(place, value);
                }
            }
        }
        let mut after = terms(&changed);
        after.extend(updates.values());
        let size = |x: &mut Expressions<'_>, terms: &[Term]| terms.iter().map(|&term| x.size(term)).sum::<u64>();
        let (old, new) = (size(x, &before), size(x, &after));
        growth = (growth.0 + old, growth.1 + new);
        if taken.function
            && (after.iter().any(|&term| x.contains(term, whole, &mut HashSet::new()))
                || new > GROWTH * old + 8 * leaves.len() as u64)
        {
            return Ok(None);
        }
        let read: BTreeSet<Variable> = after.iter().flat_map(|&term| x.free(term).to_vec()).collect();
        let touched =
            (0..leaves.len()).filter(|place| read.contains(&variables[*place]) || updates.contains_key(place)).count();
        helps |= touched < leaves.len();
        made.summands.insert(number, (changed, updates));
    }
    if !helps || (!taken.function && growth.1 > growth.0) {
        return Ok(None);
    }
    for (place, &variable) in variables.iter().enumerate() {
        made.parameters.push(DraftParameter {
            variable,
            component: parameter.component,
            initial: part(x, place, parameter.initial)?,
            idle: parameter.idle.map(|idle| part(x, place, idle)).transpose()?,
            control: None,
        });
    }
    Ok(Some(made))
}

/// The terms of a summand, without its updates of the parameter itself, which differ.
fn terms(summand: &DraftSummand) -> Vec<Term> {
    let arguments = summand.action.iter().flatten().flat_map(|(_, arguments)| arguments);
    summand.conditions.iter().chain(arguments).chain(summand.updates.values()).copied().collect()
}

/// Puts the parts of a parameter in its place.
fn put_in(draft: &mut Draft, at: usize, made: Made) {
    let more = made.parameters.len() - 1;
    draft.parameters.splice(at..=at, made.parameters);
    let mut changed = made.summands;
    let summands = std::mem::take(&mut draft.summands);
    for (number, summand) in summands.into_iter().enumerate() {
        if made.never.contains(&number) {
            continue;
        }
        let (mut summand, parts) = changed.remove(&number).unwrap_or((summand, BTreeMap::new()));
        let shifted = |parameter: usize| if parameter > at { parameter + more } else { parameter };
        summand.updates = summand.updates.into_iter().map(|(parameter, value)| (shifted(parameter), value)).collect();
        summand.updates.extend(parts.into_iter().map(|(place, value)| (at + place, value)));
        draft.summands.push(summand);
    }
}
