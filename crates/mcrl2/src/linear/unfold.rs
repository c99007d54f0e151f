//! Parameters that hold structures, lists, functions or sets become several parameters where that helps.
//!
//! A parameter `p` of a sort with one constructor `c(S1, …, Sn)` and projections to all of its arguments is replaced by
//! `c(p1, …, pn)`, and one of a sort `D -> S`, where `D` has a few constants `d1, …, dn` and nothing else, by
//! `lambda x: D. if(x == d1, p1, …)`. A new value `t` of `p` becomes new values `pi = πi(t)` or `pi = t(di)`. That is a
//! bijection between values, so the state space stays the same up to isomorphism. Compare Groote and Lisser, *Computer
//! assisted manipulation of algebraic process specifications* (2001), and the tool lpsparunfold of mCRL2, which a user
//! applies to chosen parameters. Sorts with several constructors, and lists that never become long, are taken apart by
//! shape (`cases.rs`), sets over a few constants by element (`sets.rs`).
//!
//! It is done where it helps: some summand depends on a part of `p`, or changes it, and not all of it. Then that
//! summand reads and writes less, so that steps computed for it serve more states; and constant, redundant and dead
//! parts are found by the analyses that follow. A record stays as it is when terms would grow, because some function
//! works on all of it and would be evaluated once for each field. A function stays as it is when an expression needs it
//! as a whole, or when the terms of a summand would become twice as large.
//!
//! Invariants: the parts of a parameter stand where it stood, so parameters are still in the order of components. The
//! order of summands stays the same; what one summand becomes stands in its place.
//!
//! Cost: linear in the terms of the summands that use or change the parameter, for each parameter that is tried.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trefoil_terms::Term;

use super::Refusal;
use super::draft::{Draft, DraftParameter, DraftSummand};
use super::expressions::{Environment, Expressions, Variable};

/// Terms of a function may grow by this factor.
const GROWTH: u64 = 2;

/// The most parameters that one parameter may become.
const MOST_PARTS: usize = 16;

/// What was taken apart.
#[derive(Default)]
pub(super) struct Unfolded {
    /// The number of parameters that were taken apart, and of what they became.
    pub(super) apart: usize,
    pub(super) parts: usize,
    /// Which ones, and how.
    pub(super) said: Vec<String>,
}

/// Takes parameters apart where that helps.
pub(super) fn unfold(draft: &mut Draft, x: &mut Expressions<'_>) -> Result<Unfolded, Refusal> {
    let mut unfolded = Unfolded::default();
    // The part of a parameter may have parts; where a parameter stays, the next one follows.
    let mut at = 0;
    while at < draft.parameters.len() {
        match tried(draft, x, at)? {
            Some(made) => {
                unfolded.apart += made.parameters.len();
                unfolded.parts += made.parameters.values().map(Vec::len).sum::<usize>();
                unfolded.said.extend(made.said.iter().cloned());
                at = made.parameters.keys().next().map_or(at, |&first| at.min(first));
                put_in(draft, made);
            }
            None => at += 1,
        }
    }
    Ok(unfolded)
}

/// What parameters become that are taken apart together.
#[derive(Default)]
pub(super) struct Made {
    /// The parts of each, by its place.
    pub(super) parameters: BTreeMap<usize, Vec<DraftParameter>>,
    /// What summands become, by their places; the others stay as they are.
    pub(super) summands: BTreeMap<usize, Vec<Parted>>,
    /// Which parameters, and how.
    pub(super) said: Vec<String>,
}

/// A summand without updates of parameters that were taken apart, and the updates of their parts, by the place of the
/// parameter and that of the part.
pub(super) struct Parted {
    pub(super) summand: DraftSummand,
    pub(super) parts: BTreeMap<(usize, usize), Term>,
}

fn tried(draft: &Draft, x: &mut Expressions<'_>, at: usize) -> Result<Option<Made>, Refusal> {
    if draft.parameters[at].control.is_some() {
        return Ok(None);
    }
    if let Some(made) = by_field(draft, x, at)? {
        return Ok(Some(made));
    }
    if let Some(made) = super::cases::by_shape(draft, x, at)? {
        return Ok(Some(made));
    }
    super::sets::by_element(draft, x, at)
}

/// Takes a record or a function apart, where that helps.
fn by_field(draft: &Draft, x: &mut Expressions<'_>, at: usize) -> Result<Option<Made>, Refusal> {
    let parameter = &draft.parameters[at];
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
    let mut made = Made::default();
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
            made.summands.insert(number, Vec::new());
            continue;
        }
        let mut updates = BTreeMap::new();
        if let Some(update) = update {
            let update = x.replace(update, &values)?;
            for (place, &leaf) in leaves.iter().enumerate() {
                let value = part(x, place, update)?;
                if value != leaf {
                    updates.insert((at, place), value);
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
        let touched = (0..leaves.len())
            .filter(|place| read.contains(&variables[*place]) || updates.contains_key(&(at, *place)))
            .count();
        helps |= touched < leaves.len();
        made.summands.insert(number, vec![Parted { summand: changed, parts: updates }]);
    }
    if !helps || (!taken.function && growth.1 > growth.0) {
        return Ok(None);
    }
    let mut own = Vec::new();
    for (place, &variable) in variables.iter().enumerate() {
        own.push(DraftParameter {
            variable,
            component: parameter.component,
            initial: part(x, place, parameter.initial)?,
            idle: parameter.idle.map(|idle| part(x, place, idle)).transpose()?,
            control: None,
        });
    }
    made.parameters.insert(at, own);
    made.said.push(format!("`{}` by its {}", described.name, if taken.function { "arguments" } else { "fields" }));
    Ok(Some(made))
}

/// The terms of a summand.
pub(super) fn terms(summand: &DraftSummand) -> Vec<Term> {
    let arguments = summand.action.iter().flatten().flat_map(|(_, arguments)| arguments);
    summand.conditions.iter().chain(arguments).chain(summand.updates.values()).copied().collect()
}

/// Puts the parts of parameters in their places.
fn put_in(draft: &mut Draft, made: Made) {
    let Made { parameters: mut own, mut summands, .. } = made;
    let mut firsts = Vec::new();
    let mut parameters = Vec::new();
    for (at, parameter) in std::mem::take(&mut draft.parameters).into_iter().enumerate() {
        firsts.push(parameters.len());
        match own.remove(&at) {
            Some(parts) => parameters.extend(parts),
            None => parameters.push(parameter),
        }
    }
    draft.parameters = parameters;
    for (number, summand) in std::mem::take(&mut draft.summands).into_iter().enumerate() {
        let whole = |summand| vec![Parted { summand, parts: BTreeMap::new() }];
        for Parted { mut summand, parts } in summands.remove(&number).unwrap_or_else(|| whole(summand)) {
            summand.updates = summand.updates.into_iter().map(|(at, value)| (firsts[at], value)).collect();
            summand.updates.extend(parts.into_iter().map(|((at, place), value)| (firsts[at] + place, value)));
            draft.summands.push(summand);
        }
    }
}
