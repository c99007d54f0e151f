//! Watchdogs: a specification as a process that runs beside what it specifies and barks.
//!
//! A watchdog for traces (Goldsmith, Moffat, Roscoe, Whitworth and Zakiuddin, *Watchdog transformations for
//! property-oriented model-checking*, 2003) takes part in every event that it watches and never refuses one. As long as
//! the specification allows what happens, it only observes; after the first event that the specification does not allow
//! it does `bark`, and nothing more. So `Q` refines `P` in the traces model, where `Q` has only watched events, exactly
//! when `Q` beside the watchdog of `P` never barks.
//!
//! The specification is made deterministic on the way: a state of the watchdog is a set of states of the specification,
//! closed under `τ`. Events of the specification that are not watched never happen; termination is not watched, and the
//! watchdog does not terminate.
//!
//! Cost: that of the subset construction, exponential at worst.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::{Lts, Transition};
use trefoil_system::{LabelId, Labels, StateId};

/// The watchdog of a specification that watches these events.
pub fn trace_watchdog(
    specification: &Lts,
    watched: &[LabelId],
    bark: LabelId,
    control: &Control,
) -> Result<Lts, Stopped> {
    let labels: Arc<Labels> = specification.labels().clone();
    let mut watched = watched.to_vec();
    watched.sort_unstable();
    watched.dedup();
    let mut closure =
        Closure { lts: specification, found: vec![false; specification.state_count()], looked: 0, control };
    let start = closure.of(vec![specification.initial()])?;
    // State 0 barks, state 1 is silent, the others are sets.
    const BARKING: StateId = StateId(0);
    const SILENT: StateId = StateId(1);
    let mut numbers: HashMap<Vec<StateId>, u32> = HashMap::from([(start.clone(), 2)]);
    let mut sets = vec![start];
    let mut transitions = vec![Transition { label: bark, target: SILENT }];
    let mut starts = vec![0, 1, 1];
    let mut at = 0;
    while at < sets.len() {
        control.check()?;
        let mut after: HashMap<LabelId, Vec<StateId>> = HashMap::new();
        for &state in &sets[at] {
            for step in specification.outgoing(state) {
                if watched.binary_search(&step.label).is_ok() {
                    after.entry(step.label).or_default().push(step.target);
                }
            }
        }
        for &label in &watched {
            let target = match after.remove(&label) {
                None => BARKING,
                Some(targets) => {
                    let set = closure.of(targets)?;
                    let next = u32::try_from(sets.len() + 2).map_err(|_| control.out_of_numbers())?;
                    let number = *numbers.entry(set.clone()).or_insert(next);
                    if number == next {
                        sets.push(set);
                    }
                    StateId(number)
                }
            };
            transitions.push(Transition { label, target });
        }
        starts.push(transitions.len());
        at += 1;
    }
    Ok(Lts::from_rows(labels, StateId(2), starts, transitions))
}

/// How many states are visited between two polls of the control; a power of two.
const PATIENCE: usize = 1 << 12;

/// Finds what `τ` leads to.
struct Closure<'a> {
    lts: &'a Lts,
    /// By state; none between two calls.
    found: Vec<bool>,
    /// How many states were visited, in all calls.
    looked: usize,
    control: &'a Control,
}

impl Closure<'_> {
    /// The states that `τ` leads to from these, these included, ascending.
    fn of(&mut self, mut states: Vec<StateId>) -> Result<Vec<StateId>, Stopped> {
        states.retain(|state| !std::mem::replace(&mut self.found[state.index()], true));
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            at += 1;
            self.looked += 1;
            if self.looked.is_multiple_of(PATIENCE) {
                self.control.check()?;
            }
            for step in self.lts.outgoing(state).iter().filter(|step| step.label == LabelId::TAU) {
                if !std::mem::replace(&mut self.found[step.target.index()], true) {
                    states.push(step.target);
                }
            }
        }
        states.iter().for_each(|state| self.found[state.index()] = false);
        states.sort_unstable();
        Ok(states)
    }
}
