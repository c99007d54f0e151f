//! Any system as an explicit LTS.
//!
//! An LTS is a set of transitions: when a system leads in several ways from one state by one label to the same state,
//! the LTS has one transition. States are numbered as a breadth-first search meets them, the same whatever the number
//! of threads.

use trefoil_control::Control;
use trefoil_explore::{Counts, Unfinished, collect};
use trefoil_system::{LabelId, StateId, System};

use crate::explicit::{Lts, Transition};

/// An LTS and what it took to make it.
#[derive(Debug)]
pub struct Generated {
    /// The system; state 0 is the initial one.
    pub lts: Lts,
    /// States, transitions (each once) and depth.
    pub counts: Counts,
    /// Bytes that the store of states had allocated at the end.
    pub store_bytes: usize,
}

/// Explores a system into an LTS, with any number of threads (0: one per core). The LTS has the labels of the system.
pub fn generate(system: &dyn System, threads: usize, control: &Control) -> Result<Generated, Unfinished> {
    let mut collected = collect(system, threads, control)?;
    let (mut kept, mut begin) = (0, 0);
    for state in 0..collected.origins.len() {
        if state.is_multiple_of(1 << 14) {
            control.check().map_err(|stopped| Unfinished { cut: stopped.into(), counts: collected.counts })?;
        }
        let end = collected.starts[state + 1];
        collected.starts[state] = kept;
        kept = keep_distinct(&mut collected.transitions, begin, end, kept);
        begin = end;
    }
    collected.transitions.truncate(kept);
    if let Some(last) = collected.starts.last_mut() {
        *last = kept;
    }
    let transitions: Vec<Transition> =
        collected.transitions.into_iter().map(|(label, target)| Transition { label, target }).collect();
    let counts = Counts { transitions: kept as u64, ..collected.counts };
    let lts = Lts::from_rows(system.labels().clone(), StateId(0), collected.starts, transitions);
    Ok(Generated { lts, counts, store_bytes: collected.states.bytes() })
}

/// Moves the first of equal entries of `begin..end` to `kept` and behind; where the next one goes.
pub fn keep_distinct(transitions: &mut [(LabelId, StateId)], begin: usize, end: usize, kept: usize) -> usize {
    const SHORT: usize = 24;
    let mut next = kept;
    if end - begin <= SHORT {
        for at in begin..end {
            let transition = transitions[at];
            if !transitions[kept..next].contains(&transition) {
                transitions[next] = transition;
                next += 1;
            }
        }
    } else {
        let mut order: Vec<usize> = (begin..end).collect();
        order.sort_by_key(|&at| transitions[at]);
        order.dedup_by_key(|at| transitions[*at]);
        order.sort_unstable();
        for at in order {
            transitions[next] = transitions[at];
            next += 1;
        }
    }
    next
}
