//! Revivals and refusal testing straight from the definitions, and once more by translation to traces.
//!
//! Definitions (A. W. Roscoe, *Revivals, stuckness and the hierarchy of CSP models*, 2009, and *Understanding
//! concurrent systems*, 2010, chapters 11 and 12), with Σ for the visible labels of both systems:
//!
//! - *Revivals*: traces; traces after which a stable state can do nothing; and (s, X, a): after s a stable state
//!   refuses the set X and performs a. Every set X is listed. The failures follow from these, and are compared for the
//!   length.
//! - *Refusal testing*: ⟨X₀, a₁, X₁, …, aₙ, Xₙ⟩, where each Xᵢ is a set that a stable state refuses, the state that
//!   then performs aᵢ₊₁, or • for no observation. Every set is tried in every place: a behaviour of the implementation
//!   is followed as the pair of the sets of states that either system can be in after it.
//! - The forms with divergence allow everything after a behaviour after which the specification diverges.
//!
//! The translation (D. Mestel, A. W. Roscoe, *Translating between models of concurrency*, 2019): beside each label a
//! there is a new event a′, offered everywhere, below a and `τ` in priority. So a′ happens in stable states that refuse
//! a, and nowhere else, and changes nothing; one more event, below `τ` only, happens in stable states. The traces of
//! the system with these loops are its refusal tests. For revivals a second process lets the first observation of a
//! refusal be followed by others and then by one event, and by nothing else.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, Model, StateId};

use crate::Random;
use crate::refinement::{Definitions, States, alphabet};

/// As [`crate::refinement::shortest_violation`], in the models of this file.
pub(crate) fn shortest_violation(specification: &Lts, implementation: &Lts, model: Model) -> Option<usize> {
    let act = alphabet(&[specification, implementation]);
    let (spec, imp) = (Definitions::new(specification, &act), Definitions::new(implementation, &act));
    let start = (spec.after_nothing(), imp.after_nothing());
    let mut seen = BTreeSet::from([start]);
    let mut work = VecDeque::from([(start, 0)]);
    // A violation by the next event is one event longer than one that is seen at the same length.
    let mut longer = None;
    while let Some(((u, v), length)) = work.pop_front() {
        if longer.is_some_and(|longer| longer <= length) {
            break;
        }
        if model.observes_divergence() {
            if spec.diverges(u) {
                continue;
            }
            if imp.diverges(v) {
                return Some(length);
            }
        }
        let nexts = if model.observes_revivals() {
            // A refusal is seen at the end of the trace; with an event it is one event longer.
            let refused = imp.refusals(v).is_subset(&spec.refusals(u));
            if u == 0 || !refused || !deadlocks(&imp, v).is_subset(&deadlocks(&spec, u)) {
                return Some(length);
            }
            if !revivals(&imp, v).is_subset(&revivals(&spec, u)) {
                longer = longer.or(Some(length + 1));
            }
            vec![(u, v)]
        } else {
            let mut observed = vec![(u, v)];
            for set in 0..1u32 << act.len() {
                let now = (refusing(&spec, u, set), refusing(&imp, v, set));
                if now.1 != 0 {
                    observed.push(now);
                }
            }
            if observed.iter().any(|&(u, _)| u == 0) {
                return Some(length);
            }
            observed
        };
        for (u, v) in nexts {
            for label in 0..act.len() {
                let next = (spec.after(u, label), imp.after(v, label));
                if next.1 == 0 {
                    continue;
                }
                if next.0 == 0 {
                    longer = longer.or(Some(length + 1));
                }
                if seen.insert(next) {
                    work.push_back((next, length + 1));
                }
            }
        }
    }
    longer
}

/// The stable states among these that refuse every label of a set.
fn refusing(system: &Definitions, states: States, set: u32) -> States {
    let stable = |state: &usize| system.step(1 << state, system.labels) == 0;
    let refuses =
        |state: &usize| (0..system.labels).all(|label| set >> label & 1 == 0 || system.step(1 << state, label) == 0);
    Definitions::members(states).filter(stable).filter(refuses).fold(0, |all, state| all | 1 << state)
}

/// Whether a stable state can do nothing, as a set that is empty or not.
fn deadlocks(system: &Definitions, states: States) -> BTreeSet<()> {
    let all = (1u32 << system.labels) - 1;
    (refusing(system, states, all) != 0).then_some(()).into_iter().collect()
}

/// Every set of labels that a stable state refuses, with every label that it performs.
fn revivals(system: &Definitions, states: States) -> BTreeSet<(u32, usize)> {
    let mut revivals = BTreeSet::new();
    for set in 0..1u32 << system.labels {
        let refusing = refusing(system, states, set);
        revivals
            .extend((0..system.labels).filter(|&label| system.step(refusing, label) != 0).map(|label| (set, label)));
    }
    revivals
}

/// Does the implementation refine the specification, by translation to traces?
pub fn holds_by_priority(specification: &Lts, implementation: &Lts, model: Model) -> bool {
    let act = alphabet(&[specification, implementation]);
    let (specification, implementation) =
        (prioritised(specification, &act, model), prioritised(implementation, &act, model));
    let act = alphabet(&[&specification, &implementation]);
    let (spec, imp) = (Definitions::new(&specification, &act), Definitions::new(&implementation, &act));
    let start = (spec.after_nothing(), imp.after_nothing());
    let mut seen = BTreeSet::from([start]);
    let mut work = vec![start];
    while let Some((u, v)) = work.pop() {
        if model.observes_divergence() && spec.diverges(u) {
            continue;
        }
        if u == 0 || model.observes_divergence() && imp.diverges(v) {
            return false;
        }
        for label in 0..act.len() {
            let next = (spec.after(u, label), imp.after(v, label));
            if next.1 != 0 && seen.insert(next) {
                work.push(next);
            }
        }
    }
    true
}

/// A system that shows what its stable states refuse, by events that have priority over nothing.
fn prioritised(lts: &Lts, act: &[LabelId], model: Model) -> Lts {
    let labels = lts.labels();
    let refused = |label: LabelId| labels.name(&format!("refuses {}", labels.get(label)));
    let stable = labels.name("is stable");
    let count = lts.state_count() as u32;
    let mut builder = LtsBuilder::new(labels.clone());
    // Revivals: a copy of each state that is being observed, and one state after the event that ends it.
    let revivals = model.observes_revivals();
    let (observed, end) = (|state: u32| if revivals { count + state } else { state }, StateId(2 * count));
    builder.at_least(if revivals { 2 * count + 1 } else { count });
    for state in lts.states() {
        let steps = lts.outgoing(state);
        for step in steps {
            builder.add(state, step.label, step.target);
            if revivals && step.label.is_visible() {
                builder.add(StateId(observed(state.0)), step.label, end);
            }
        }
        if steps.iter().all(|step| step.label.is_visible()) {
            let refuses = |label: &&LabelId| !steps.iter().any(|step| step.label == **label);
            let shown: Vec<LabelId> = act.iter().filter(refuses).map(|&label| refused(label)).chain([stable]).collect();
            for label in shown {
                builder.add(state, label, StateId(observed(state.0)));
                if revivals {
                    builder.add(StateId(observed(state.0)), label, StateId(observed(state.0)));
                }
            }
        }
    }
    builder.build(lts.initial())
}

/// How much of a specification an implementation that is made from it keeps.
const KEPT: [Model; 4] = [Model::Traces, Model::Failures, Model::Revivals, Model::Refusals];

/// A specification with at most 9 states, and an implementation that is put together from what the specification can do
/// after each trace: its events, supersets of its acceptances, unions of them, or of those that refuse what was refused
/// before. So each model is the strongest one that holds in many of the pairs. Both may have `τ`-loops.
pub fn random_observed_pair(labels: &Arc<Labels>, random: &mut Random) -> (Lts, Lts) {
    let specification = random_specification(labels, random);
    let act = alphabet(&[&specification]);
    let spec = Definitions::new(&specification, &act);
    let kept = KEPT[random.below(4)];
    let mut builder = LtsBuilder::new(labels.clone());
    // Each state of the implementation with the states that the specification may be in there.
    let mut states: Vec<States> = vec![spec.after_nothing()];
    let mut next = 0;
    while next < states.len() {
        let (here, u) = (StateId(next as u32), states[next]);
        next += 1;
        let enter = |states: &mut Vec<States>, u: States, random: &mut Random| -> StateId {
            let same: Vec<usize> = (0..states.len()).filter(|&state| states[state] == u).collect();
            if states.len() < 12 && (same.is_empty() || random.chance(40)) {
                states.push(u);
                return StateId(states.len() as u32 - 1);
            }
            // A state that belongs to other states of the specification is a change of its own.
            let chosen = if same.is_empty() { random.below(states.len()) } else { same[random.below(same.len())] };
            StateId(chosen as u32)
        };
        let possible: Vec<usize> = (0..act.len()).filter(|&label| spec.after(u, label) != 0).collect();
        if random.chance(20) {
            // An unstable state: some events, and a silent step.
            for &label in possible.iter().filter(|_| random.chance(50)).collect::<Vec<_>>() {
                let target = enter(&mut states, spec.after(u, label), random);
                builder.add(here, act[label], target);
            }
            let target = if random.chance(12) { here } else { enter(&mut states, u, random) };
            builder.add(here, LabelId::TAU, target);
            continue;
        }
        let stable: Vec<States> = Definitions::members(refusing(&spec, u, 0)).map(|state| 1 << state).collect();
        let offers = |state: States| {
            (0..act.len()).filter(|&label| spec.step(state, label) != 0).fold(0u32, |all, label| all | 1 << label)
        };
        let mut offered = 0;
        match kept {
            Model::Traces => {
                possible.iter().filter(|_| random.chance(60)).for_each(|label| offered |= 1 << label);
            }
            Model::Failures => {
                if !stable.is_empty() {
                    offered |= offers(stable[random.below(stable.len())]);
                }
                possible.iter().filter(|_| random.chance(40)).for_each(|label| offered |= 1 << label);
            }
            _ => {
                for _ in 0..1 + random.below(2) {
                    if !stable.is_empty() {
                        offered |= offers(stable[random.below(stable.len())]);
                    }
                }
            }
        }
        // In refusal testing the specification goes on from those states that refuse as much.
        let all = (1u32 << act.len()) - 1;
        let on = if kept == Model::Refusals { refusing(&spec, u, all & !offered) } else { u };
        for label in (0..act.len()).filter(|label| offered >> label & 1 == 1) {
            let (after, whole) = (spec.after(on, label), spec.after(u, label));
            // What follows depends on few of the states before it.
            let after = if after == 0 { whole } else { after };
            let target = enter(&mut states, after, random);
            builder.add(here, act[label], target);
        }
    }
    builder.at_least(states.len() as u32);
    let implementation = builder.build(StateId(0));
    (specification, if random.chance(15) { with_a_change(&implementation, random) } else { implementation })
}

/// A system in which acceptances after one trace are nested in various ways.
fn random_specification(labels: &Arc<Labels>, random: &mut Random) -> Lts {
    let names: Vec<LabelId> = ["a", "b", "c", "d"].iter().map(|name| labels.name(name)).collect();
    let (count, act) = (2 + random.below(8) as u32, &names[..2 + random.below(2)]);
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(count);
    for state in 0..count {
        let state = StateId(state);
        let mut target = || StateId(random.below(count as usize) as u32);
        let targets: Vec<StateId> = (0..8).map(|_| target()).collect();
        let silent = random.chance(45);
        for (place, &label) in act.iter().enumerate() {
            if random.chance(if silent { 25 } else { 60 }) {
                builder.add(state, label, targets[place]);
            }
        }
        if silent {
            builder.add(state, LabelId::TAU, targets[4]).add(state, LabelId::TAU, targets[5]);
        }
        if random.chance(4) {
            builder.add(state, LabelId::TAU, state);
        }
    }
    builder.build(StateId(0))
}

/// One transition more, less, or to another state.
fn with_a_change(lts: &Lts, random: &mut Random) -> Lts {
    let mut steps: Vec<_> = lts.all_transitions().collect();
    if steps.is_empty() {
        return lts.clone();
    }
    let state = |random: &mut Random| StateId(random.below(lts.state_count()) as u32);
    let chosen = random.below(steps.len());
    match random.below(4) {
        0 => {
            steps.swap_remove(chosen);
        }
        1 => steps[chosen].1.target = state(random),
        2 => {
            let (source, target) = (state(random), state(random));
            let mut step = steps[chosen];
            (step.0, step.1.target) = (source, target);
            steps.push(step);
        }
        _ => {
            let (source, mut step) = (state(random), steps[chosen].1);
            (step.label, step.target) = (LabelId::TAU, if random.chance(50) { source } else { step.target });
            steps.push((source, step));
        }
    }
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(lts.state_count() as u32);
    for (source, step) in steps {
        builder.add(source, step.label, step.target);
    }
    builder.build(lts.initial())
}
