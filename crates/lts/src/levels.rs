//! What a search level by level finds in a system that is in memory, with each fragment looked at once.
//!
//! A memory of n values has n² transitions, but all its states share the n of `set` ([`crate::SharedRows`]). A set of
//! states that has met the targets of a fragment gains nothing from meeting them again, so a breadth-first search takes
//! a fragment at the first state that has it. It reaches the same states on the same levels as a search that takes
//! every step; how many steps that one would take is known from the lengths of rows.
//!
//! Cost: linear in the transitions that are stored and in the parts of rows.

use trefoil_control::{Control, Stopped};

use crate::components::StateBits;
use crate::explicit::Lts;
use crate::shared::SharedRows;

/// How many states are visited between two polls of the control.
const BATCH: usize = 1 << 12;

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// States that can be reached.
    pub states: u64,
    /// Their transitions.
    pub transitions: u64,
    /// The greatest distance from the initial state.
    pub depth: u32,
    /// The most states at one distance.
    pub widest: u64,
    /// Whether one of them has no transition.
    pub is_stuck: bool,
}

/// Searches all that can be reached, level by level.
pub fn levels(lts: &Lts, control: &Control) -> Result<Levels, Stopped> {
    let fragments = lts.shared().map_or(0, SharedRows::fragment_count);
    control.afford(fragments + lts.state_count())?;
    let mut reached = StateBits::new(lts.state_count());
    let mut taken = vec![false; fragments];
    let mut found = Levels { states: 0, transitions: 0, depth: 0, widest: 0, is_stuck: false };
    reached.insert(lts.initial());
    let (mut level, mut next) = (vec![lts.initial()], Vec::new());
    loop {
        found.widest = found.widest.max(level.len() as u64);
        for &state in &level {
            found.states += 1;
            if found.states.is_multiple_of(BATCH as u64) {
                control.check()?;
                control.progress().done(found.states);
            }
            let mut row = 0;
            let (own, parts) = match lts.shared() {
                Some(shared) => (shared.own(state), shared.fragments_of(state)),
                None => (lts.outgoing(state), &[][..]),
            };
            row += own.len();
            next.extend(own.iter().map(|step| step.target).filter(|&target| reached.insert(target)));
            for &part in parts {
                let Some(shared) = lts.shared() else { break };
                let steps = shared.fragment(part);
                row += steps.len();
                if !std::mem::replace(&mut taken[part as usize], true) {
                    next.extend(steps.iter().map(|step| step.target).filter(|&target| reached.insert(target)));
                }
            }
            found.transitions += row as u64;
            found.is_stuck |= row == 0;
        }
        if next.is_empty() {
            return Ok(found);
        }
        found.depth += 1;
        level.clear();
        std::mem::swap(&mut level, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_system::{LabelId, Labels, StateId};

    use super::*;
    use crate::explicit::Transition;
    use crate::random::Random;

    /// The same, with every step taken.
    fn by_steps(lts: &Lts) -> Levels {
        let mut distance = vec![None; lts.state_count()];
        distance[lts.initial().index()] = Some(0u32);
        let mut work = vec![lts.initial()];
        let mut found = Levels { states: 0, transitions: 0, depth: 0, widest: 0, is_stuck: false };
        let mut at = 0;
        while at < work.len() {
            let state = work[at];
            let here = distance[state.index()].expect("it was reached");
            found.depth = here;
            found.is_stuck |= lts.outgoing(state).is_empty();
            for step in lts.outgoing(state) {
                found.transitions += 1;
                if distance[step.target.index()].is_none() {
                    distance[step.target.index()] = Some(here + 1);
                    work.push(step.target);
                }
            }
            at += 1;
        }
        found.states = at as u64;
        let wide = |depth| distance.iter().filter(|known| **known == Some(depth)).count() as u64;
        found.widest = (0..=found.depth).map(wide).max().expect("there is a level");
        found
    }

    #[test]
    fn fragments_that_are_taken_once_reach_what_all_steps_reach() {
        let labels = Arc::new(Labels::new());
        let names: Vec<LabelId> = (0..200).map(|number| labels.name(&format!("a{number}"))).collect();
        let mut random = Random::new(11);
        let (mut shared, mut stuck) = (0, 0);
        for _ in 0..60 {
            let states = 20 + random.below(80);
            let mut rows = SharedRows::default();
            let mut step = |label| Transition { label, target: StateId(random.below(states) as u32) };
            for group in 0..2 {
                let steps: Vec<Transition> =
                    names[80 * group..80 * (group + 1)].iter().map(|&label| step(label)).collect();
                rows.add_fragment(steps);
            }
            for _ in 0..states {
                let own = [Transition { label: names[190], target: StateId(random.below(states) as u32) }];
                let parts: &[u32] = [&[][..], &[0], &[1], &[0, 1]][random.below(4)];
                rows.add_state(&own[..random.below(2)], parts);
            }
            let lts = Lts::from_shared(labels.clone(), StateId(0), rows);
            let found = levels(&lts, &Control::unlimited()).expect("there is no budget");
            assert_eq!(found, by_steps(&lts));
            shared += usize::from(lts.shared().is_some());
            stuck += usize::from(found.is_stuck);
        }
        assert!(shared > 5 && stuck > 5, "{shared} with parts, {stuck} stuck");
    }
}
