//! Analyses of a linear process that make it smaller and its state space, too. Each can be switched off.
//!
//! - *Constant parameters*: every parameter is taken to keep its initial value; a summand that can be enabled and
//!   brings another one disproves it for that parameter, until nothing is disproved (Groote and Lisser, *Computer
//!   assisted manipulation of algebraic process specifications*, 2001). Components know their own constants already;
//!   this finds what communication passes on.
//! - *Unfolded parameters*: parameters that hold structures, short lists, small functions or sets become several
//!   (`unfold.rs`).
//! - *Redundant parameters*: a parameter matters when a condition or an action uses it, or the new value of a parameter
//!   that matters; the others go.
//! - *Sums over finite sorts*: a variable of a sort with few values is replaced by each of them where that decides a
//!   conjunct. Elsewhere a summand with a sum stays one summand.
//! - *Dead parameters*: a parameter of a component that cannot be read any more in the control state that a step leads
//!   to, before it gets a new value, gets its idle value (van de Pol and Timmer, *State space reduction of linear
//!   processes using control flow reconstruction*, 2009). Control flow is known here: it is the component's own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trefoil_terms::Term;

use super::draft::{Draft, DraftSummand};
use super::expressions::{Expressions, Variable};
use super::{Analyses, Refusal};

/// Values of a sort, and summands out of one summand, up to which a sum is instantiated.
const MOST_VALUES: usize = 8;

/// Runs the requested analyses; says what ran and what it gained.
pub(super) fn run(draft: &mut Draft, x: &mut Expressions<'_>, asked: Analyses) -> Result<Vec<String>, Refusal> {
    let mut lines = Vec::new();
    if asked.finite_sums {
        let (sums, before) = (instantiate(draft, x)?, draft.summands.len());
        lines.push(format!("sums over finite sorts: {sums} replaced by their values; {before} summands now"));
    }
    let mut gained = Gained::default();
    gained.reduce(draft, x, asked)?;
    if asked.unfold {
        // Last, and then once more: a summand that is parted by the shape of a parameter reads that shape, so that a
        // parameter without use or life must be gone before.
        let made = super::unfold::unfold(draft, x)?;
        let which = if made.said.is_empty() { String::new() } else { format!(": {}", made.said.join("; ")) };
        lines.push(format!("unfolded parameters: {} taken apart, as {}{which}", made.apart, made.parts));
        if made.apart > 0 {
            gained.reduce(draft, x, asked)?;
        }
    }
    let Gained { constants, never, resets, redundant } = gained;
    if asked.constants {
        lines.push(format!("constant parameters: {constants} removed, and {never} summands that are never enabled"));
    }
    if asked.dead {
        lines.push(format!("dead parameters: {resets} updates reset by control flow"));
    }
    if asked.redundant {
        lines.push(format!("redundant parameters: {redundant} removed"));
    }
    Ok(lines)
}

/// What analyses gained.
#[derive(Default)]
struct Gained {
    /// Parameters that are constant, and summands that are never enabled.
    constants: usize,
    never: usize,
    /// Updates of dead parameters.
    resets: usize,
    /// Parameters without use.
    redundant: usize,
}

impl Gained {
    /// Runs the requested analyses that remove something.
    fn reduce(&mut self, draft: &mut Draft, x: &mut Expressions<'_>, asked: Analyses) -> Result<(), Refusal> {
        if asked.constants {
            let before = draft.summands.len();
            self.constants += constants(draft, x)?;
            self.never += before - draft.summands.len();
        }
        if asked.dead {
            self.resets += dead(draft, x);
        }
        if asked.redundant {
            self.redundant += redundant(draft, x);
        }
        Ok(())
    }
}

fn instantiate(draft: &mut Draft, x: &mut Expressions<'_>) -> Result<usize, Refusal> {
    let mut replaced = 0;
    let mut done = Vec::new();
    let mut pending: Vec<DraftSummand> = draft.summands.drain(..).rev().collect();
    while let Some(summand) = pending.pop() {
        let Some((variable, values)) = candidate(&summand, x) else {
            done.push(summand);
            continue;
        };
        replaced += 1;
        let mut instances = Vec::new();
        for value in values {
            let mut instance = summand.clone();
            instance.sums.retain(|&other| other != variable);
            if instance.replace(x, &HashMap::from([(variable, value)]))? && instance.solve(x)? {
                instances.push(instance);
            }
        }
        pending.extend(instances.into_iter().rev());
    }
    draft.summands = done;
    Ok(replaced)
}

/// A summed variable with few values that alone, or with constants, makes up a conjunct.
fn candidate(summand: &DraftSummand, x: &mut Expressions<'_>) -> Option<(Variable, Vec<Term>)> {
    for &variable in &summand.sums {
        if !summand.conditions.iter().any(|&condition| *x.free(condition) == [variable]) {
            continue;
        }
        let sort = x.described(variable).sort;
        if let Some(values) = x.program.values(x.rewriter.section(), sort)
            && values.len() <= MOST_VALUES
        {
            return Some((variable, values.to_vec()));
        }
    }
    None
}

fn constants(draft: &mut Draft, x: &mut Expressions<'_>) -> Result<usize, Refusal> {
    let mut constant: BTreeMap<usize, Term> =
        draft.parameters.iter().enumerate().map(|(index, parameter)| (index, parameter.initial)).collect();
    loop {
        let values: HashMap<Variable, Term> =
            constant.iter().map(|(&index, &value)| (draft.parameters[index].variable, value)).collect();
        let mut disproved: BTreeSet<usize> = BTreeSet::new();
        for summand in &draft.summands {
            if !summand.updates.keys().any(|parameter| constant.contains_key(parameter)) {
                continue;
            }
            let mut possible = true;
            let mut conditions = Vec::new();
            for &condition in &summand.conditions {
                let replaced = x.replace(condition, &values)?;
                possible = x.conjuncts(replaced, &mut conditions)?;
                if !possible {
                    break;
                }
            }
            if !possible {
                continue;
            }
            for (&parameter, &value) in &summand.updates {
                if let Some(&known) = constant.get(&parameter)
                    && x.replace(value, &values)? != known
                {
                    disproved.insert(parameter);
                }
            }
        }
        if disproved.is_empty() {
            let removed: BTreeSet<usize> = constant.into_keys().collect();
            let mut kept = Vec::new();
            for mut summand in draft.summands.drain(..) {
                summand.updates.retain(|parameter, _| !removed.contains(parameter));
                if summand.replace(x, &values)? && summand.solve(x)? {
                    kept.push(summand);
                }
            }
            draft.summands = kept;
            remove(draft, &removed);
            return Ok(removed.len());
        }
        constant.retain(|parameter, _| !disproved.contains(parameter));
    }
}

fn redundant(draft: &mut Draft, x: &mut Expressions<'_>) -> usize {
    let owner: HashMap<Variable, usize> =
        draft.parameters.iter().enumerate().map(|(index, parameter)| (parameter.variable, index)).collect();
    let mut matters: BTreeSet<usize> = BTreeSet::new();
    for summand in &draft.summands {
        let arguments = summand.action.iter().flatten().flat_map(|(_, arguments)| arguments);
        for &term in summand.conditions.iter().chain(arguments) {
            matters.extend(x.free(term).iter().filter_map(|variable| owner.get(variable)));
        }
    }
    loop {
        let before = matters.len();
        for summand in &draft.summands {
            for (parameter, &value) in &summand.updates {
                if matters.contains(parameter) {
                    matters.extend(x.free(value).iter().filter_map(|variable| owner.get(variable)));
                }
            }
        }
        if matters.len() == before {
            break;
        }
    }
    let removed: BTreeSet<usize> = (0..draft.parameters.len()).filter(|index| !matters.contains(index)).collect();
    for summand in &mut draft.summands {
        summand.updates.retain(|parameter, _| matters.contains(parameter));
        summand.forget_unused(x);
    }
    remove(draft, &removed);
    removed.len()
}

/// Takes parameters out that nothing uses any more.
fn remove(draft: &mut Draft, removed: &BTreeSet<usize>) {
    let mut numbers = Vec::new();
    let mut next = 0;
    for index in 0..draft.parameters.len() {
        numbers.push(next);
        next += usize::from(!removed.contains(&index));
    }
    let mut index = 0;
    draft.parameters.retain(|_| {
        index += 1;
        !removed.contains(&(index - 1))
    });
    for summand in &mut draft.summands {
        summand.updates = summand.updates.iter().map(|(&parameter, &value)| (numbers[parameter], value)).collect();
    }
}

fn dead(draft: &mut Draft, x: &mut Expressions<'_>) -> usize {
    let owner: HashMap<Variable, usize> =
        draft.parameters.iter().enumerate().map(|(index, parameter)| (parameter.variable, index)).collect();
    // Parameters that may be read from a control state of their component on, before they get a new value.
    let mut live: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    loop {
        let mut changed = false;
        for summand in &draft.summands {
            let mut used: BTreeSet<usize> = BTreeSet::new();
            let arguments = summand.action.iter().flatten().flat_map(|(_, arguments)| arguments);
            for &term in summand.conditions.iter().chain(arguments) {
                used.extend(x.free(term).iter().filter_map(|variable| owner.get(variable)));
            }
            for (&parameter, &value) in &summand.updates {
                let component = draft.parameters[parameter].component;
                let part = summand.parts.iter().find(|part| part.component == component);
                let is_live = |&(_, to): &(usize, usize)| {
                    live.get(&(component, to)).is_some_and(|live| live.contains(&parameter))
                };
                if part.is_none_or(|part| part.moves.iter().any(is_live)) {
                    used.extend(x.free(value).iter().filter_map(|variable| owner.get(variable)));
                }
            }
            for part in &summand.parts {
                for &(_, to) in &part.moves {
                    let kept = live.get(&(part.component, to)).into_iter().flatten().copied();
                    used.extend(kept.filter(|parameter| !summand.updates.contains_key(parameter)));
                }
            }
            for parameter in used {
                let component = draft.parameters[parameter].component;
                let part = summand.parts.iter().find(|part| part.component == component);
                for &(from, _) in part.into_iter().flat_map(|part| &part.moves) {
                    changed |= live.entry((component, from)).or_default().insert(parameter);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let none = BTreeSet::new();
    let mut resets = 0;
    // What is dead in the first control state of its component is idle from the beginning.
    for (index, parameter) in draft.parameters.iter_mut().enumerate() {
        let is_live = live.get(&(parameter.component, 0)).is_some_and(|live| live.contains(&index));
        if let (Some(idle), None, false) = (parameter.idle, parameter.control, is_live) {
            parameter.initial = idle;
        }
    }
    for summand in &mut draft.summands {
        for part in summand.parts.clone() {
            // What a cluster resets depends on the control state; its component has done that.
            let &[(from, to)] = &part.moves[..] else { continue };
            let before = live.get(&(part.component, from)).unwrap_or(&none);
            let after = live.get(&(part.component, to)).unwrap_or(&none);
            for (index, parameter) in draft.parameters.iter().enumerate() {
                let Some(idle) = parameter.idle else { continue };
                if parameter.component != part.component || parameter.control.is_some() || after.contains(&index) {
                    continue;
                }
                // What is dead before is idle already.
                let needed = before.contains(&index) || summand.updates.contains_key(&index);
                let same = summand.updates.get(&index) == Some(&idle);
                if !before.contains(&index) {
                    resets += usize::from(summand.updates.remove(&index).is_some_and(|value| value != idle));
                } else if needed && !same {
                    summand.updates.insert(index, idle);
                    resets += 1;
                }
            }
        }
        summand.forget_unused(x);
    }
    resets
}
