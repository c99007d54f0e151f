//! Generalised systems without `τ`, written as ordinary ones.
//!
//! A generalised state has visible transitions, minimal acceptances and perhaps a mark of divergence. When it does not
//! diverge and its one acceptance is all that it offers, it is an ordinary stable state. Otherwise it becomes
//!
//! - a *copy* for each minimal acceptance: a stable state with the transitions of that set, to the same targets;
//! - a *chooser* that has `τ` to each copy, the transitions that no copy has, and a `τ`-loop if the state diverges.
//!
//! Traces: the chooser and its copies have all transitions between them, and nothing else. Failures: copies are the
//! only stable states, and each refuses what lies outside one acceptance. Divergences: loops of choosers are the only
//! cycles of `τ`. So all three are preserved, beyond divergences as well.
//!
//! # Termination
//!
//! Where `✓` is offered by states that offer nothing else, `{✓}` is an acceptance of every state that can terminate. It
//! may not be a minimal one, because nothing at all is accepted too. Then a copy for `{✓}` is added, which refuses no
//! more than is refused anyway, so that the chooser need not have the `✓`. Where `✓` is offered beside other events it
//! is an event like any other.
//!
//! Cost: linear in what is made, which is at most the number of acceptances times the labels in them.

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::explicit::{Lts, Transition};
use crate::generalised::Glts;

/// The ordinary system; none when its states and transitions would be more than `limit`.
pub(super) fn unmerged(glts: &Glts, limit: usize, control: &Control) -> Result<Option<Lts>, Stopped> {
    let lts = glts.lts();
    let mut starts = Vec::with_capacity(lts.state_count() + 1);
    starts.push(0);
    let mut transitions: Vec<Transition> = Vec::new();
    let mut copies: Vec<(StateId, Vec<LabelId>)> = Vec::new();
    for state in lts.states() {
        if state.0.is_multiple_of(1 << 10) {
            control.check()?;
        }
        let row = lts.outgoing(state);
        let sets = copied(glts, state);
        let offers_all = |set: &[LabelId]| row.iter().all(|step| set.contains(&step.label));
        if !glts.diverges(state) && matches!(&sets[..], [only] if offers_all(only)) {
            transitions.extend_from_slice(row);
        } else {
            let first = lts.state_count() + copies.len();
            transitions.extend(
                (0..sets.len()).map(|copy| Transition { label: LabelId::TAU, target: StateId((first + copy) as u32) }),
            );
            if glts.diverges(state) {
                transitions.push(Transition { label: LabelId::TAU, target: state });
            }
            let left = row.iter().filter(|step| !sets.iter().any(|set| set.contains(&step.label)));
            transitions.extend(left);
            copies.extend(sets.into_iter().map(|set| (state, set)));
        }
        starts.push(transitions.len());
        if transitions.len() + copies.len() > limit {
            return Ok(None);
        }
    }
    for (at, (state, set)) in copies.iter().enumerate() {
        if at.is_multiple_of(1 << 10) {
            control.check()?;
        }
        transitions.extend(lts.outgoing(*state).iter().filter(|step| set.contains(&step.label)));
        starts.push(transitions.len());
        if transitions.len() > limit {
            return Ok(None);
        }
    }
    Ok(Some(Lts::from_rows(lts.labels().clone(), lts.initial(), starts, transitions)))
}

/// The sets of labels that a state is given a copy for.
fn copied(glts: &Glts, state: StateId) -> Vec<Vec<LabelId>> {
    let table = glts.acceptances();
    let mut sets: Vec<Vec<LabelId>> = table.sets(glts.family(state)).map(|set| table.labels(set).collect()).collect();
    let terminates = glts.lts().outgoing(state).iter().any(|step| step.label == LabelId::TICK);
    let refuses_the_rest = |set: &Vec<LabelId>| set.iter().all(|&label| label == LabelId::TICK);
    let alone = vec![LabelId::TICK];
    if terminates && !sets.contains(&alone) && sets.iter().any(refuses_the_rest) {
        sets.push(alone);
    }
    sets
}
