//! A component whose `τ` choose among acceptances, without these `τ`.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::diverging_states;
use trefoil_lts::{Lts, Transition};
use trefoil_system::{LabelId, StateId};

/// A merged component has at most this many times the transitions of the component, and takes as much work.
pub(super) const ROOM: usize = 4;

/// How many choices a state may have: a set of them is a word.
const MOST_CHOICES: usize = 128;

/// Choices of a state, as bits.
pub(super) type ChoiceSet = u128;

/// A component and the same without `τ`. Both have the same states, but only those that something visible leads to are
/// met in the latter.
pub(super) struct Merged {
    lts: Arc<Lts>,
    visible: Arc<Lts>,
    /// By state; one more at the end.
    starts: Vec<(u32, u32)>,
    /// Stable states that `τ` reaches, none of which offers more than another.
    choices: Vec<StateId>,
    /// What the choices of a state offer, ascending by label, and which of them do.
    offers: Vec<(LabelId, ChoiceSet)>,
}

impl Merged {
    /// The component without `τ`; nothing when it has none, or when it would not be smaller.
    pub(super) fn of(lts: &Arc<Lts>, control: &Control) -> Result<Option<Merged>, Stopped> {
        if !has_silence(lts) {
            return Ok(None);
        }
        control.afford(lts.state_count() * 24)?;
        let diverging = diverging_states(lts, control)?;
        let mut left = ROOM * (lts.state_count() + lts.transition_count()) + (1 << 12);
        let mut met = vec![false; lts.state_count()];
        met[lts.initial().index()] = true;
        let mut waiting = vec![lts.initial()];
        let mut made: Vec<Option<(Vec<Transition>, Vec<StateId>)>> = vec![None; lts.state_count()];
        let mut count = 0;
        while let Some(state) = waiting.pop() {
            control.check()?;
            let Some((mut row, stable)) = after_silence(lts, state, &mut left) else { return Ok(None) };
            for step in &row {
                if !std::mem::replace(&mut met[step.target.index()], true) {
                    waiting.push(step.target);
                }
            }
            let Some(stable) = least(lts, stable, &mut left) else { return Ok(None) };
            if stable.len() > MOST_CHOICES {
                return Ok(None);
            }
            if diverging[state.index()] {
                row.insert(0, Transition { label: LabelId::TAU, target: state });
            }
            made[state.index()] = Some((row, stable));
            count += 1;
        }
        if count == lts.state_count() {
            return Ok(None);
        }
        Ok(Some(Merged::assembled(lts, made)))
    }

    fn assembled(lts: &Arc<Lts>, made: Vec<Option<(Vec<Transition>, Vec<StateId>)>>) -> Merged {
        let (mut rows, mut transitions) = (vec![0], Vec::new());
        let (mut starts, mut choices, mut offers) = (vec![(0, 0)], Vec::new(), Vec::new());
        for state in made {
            if let Some((row, stable)) = state {
                transitions.extend(row);
                let mut offered: Vec<(LabelId, ChoiceSet)> = Vec::new();
                for (at, &choice) in stable.iter().enumerate() {
                    offered.extend(lts.outgoing(choice).iter().map(|step| (step.label, 1 << at)));
                }
                offered.sort_unstable();
                for same in offered.chunk_by(|one, other| one.0 == other.0) {
                    offers.push((same[0].0, same.iter().fold(0, |set, (_, choice)| set | choice)));
                }
                choices.extend(stable);
            }
            rows.push(transitions.len());
            starts.push((choices.len() as u32, offers.len() as u32));
        }
        let visible = Lts::from_rows(lts.labels().clone(), lts.initial(), rows, transitions);
        Merged { lts: lts.clone(), visible: Arc::new(visible), starts, choices, offers }
    }

    /// The component as it was.
    pub(super) fn lts(&self) -> &Lts {
        &self.lts
    }

    /// The component without `τ`, but for loops where it diverges.
    pub(super) fn visible(&self) -> &Arc<Lts> {
        &self.visible
    }

    /// The stable states among which the `τ` of a state choose.
    pub(super) fn choices(&self, state: u32) -> &[StateId] {
        &self.choices[self.starts[state as usize].0 as usize..self.starts[state as usize + 1].0 as usize]
    }

    /// Which choices of a state offer a label.
    pub(super) fn offering(&self, state: u32, label: LabelId) -> ChoiceSet {
        let offers = &self.offers[self.starts[state as usize].1 as usize..self.starts[state as usize + 1].1 as usize];
        offers.binary_search_by_key(&label, |offer| offer.0).map_or(0, |at| offers[at].1)
    }
}

/// Has a component any `τ`?
pub(super) fn has_silence(lts: &Lts) -> bool {
    lts.stored().any(|step| step.label == LabelId::TAU)
}

/// The visible transitions of the states that `τ` reaches, and the stable ones among these; nothing when that takes too
/// much work.
fn after_silence(lts: &Lts, state: StateId, left: &mut usize) -> Option<(Vec<Transition>, Vec<StateId>)> {
    let (mut reached, mut row, mut stable) = (vec![state], Vec::new(), Vec::new());
    let mut met: std::collections::HashSet<StateId, foldhash::fast::FixedState> = reached.iter().copied().collect();
    let mut at = 0;
    while at < reached.len() {
        let here = reached[at];
        at += 1;
        let steps = lts.outgoing(here);
        *left = left.checked_sub(1 + steps.len())?;
        let mut is_stable = true;
        for step in steps {
            if step.label != LabelId::TAU {
                row.push(*step);
                continue;
            }
            is_stable = false;
            if met.insert(step.target) {
                reached.push(step.target);
            }
        }
        if is_stable {
            stable.push(here);
        }
    }
    row.sort_unstable();
    row.dedup();
    Some((row, stable))
}

/// Of stable states those that offer no more than another; of states that offer the same, the first.
fn least(lts: &Lts, stable: Vec<StateId>, left: &mut usize) -> Option<Vec<StateId>> {
    let offers = |&state: &StateId| {
        let mut labels: Vec<LabelId> = lts.outgoing(state).iter().map(|step| step.label).collect();
        labels.sort_unstable();
        labels.dedup();
        (labels, state)
    };
    let mut sets: Vec<(Vec<LabelId>, StateId)> = stable.iter().map(offers).collect();
    sets.sort_by(|one, other| (one.0.len(), &one.0).cmp(&(other.0.len(), &other.0)));
    // What is charged depends on the number of sets alone, as the order of labels is another in a symmetric component.
    *left = left.checked_sub(sets.len() * (1 + sets.len()))?;
    let mut kept: Vec<(Vec<LabelId>, StateId)> = Vec::new();
    for (set, state) in sets {
        if !kept.iter().any(|(small, _)| small.iter().all(|label| set.binary_search(label).is_ok())) {
            kept.push((set, state));
        }
    }
    Some(kept.into_iter().map(|(_, state)| state).collect())
}
