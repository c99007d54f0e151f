//! Deadlock, divergence, determinism and having a trace, straight from the definitions.
//!
//! As for refinement, all traces are walked at once, with the set of states that each leads to. For systems with at
//! most 64 states and few labels.

use std::collections::{BTreeSet, VecDeque};

use trefoil_lts::Lts;
use trefoil_system::{LabelId, Model};

use crate::refinement::{Definitions, alphabet};

/// The length of the shortest trace for which something holds of the states that it leads to.
fn shortest(lts: &Lts, holds: impl Fn(&Definitions, u64) -> bool) -> Option<usize> {
    let definitions = Definitions::new(lts, &alphabet(&[lts]));
    let start = definitions.after_nothing();
    let mut seen = BTreeSet::from([start]);
    let mut work = VecDeque::from([(start, 0)]);
    while let Some((states, length)) = work.pop_front() {
        if holds(&definitions, states) {
            return Some(length);
        }
        for label in 0..definitions.labels {
            let next = definitions.after(states, label);
            if next != 0 && seen.insert(next) {
                work.push_back((next, length + 1));
            }
        }
    }
    None
}

/// The length of the shortest trace with which all labels can be refused, or in failures-divergences that is a
/// divergence.
pub fn shortest_deadlock(lts: &Lts, model: Model) -> Option<usize> {
    shortest(lts, |definitions, states| {
        definitions.refusals(states).contains(&((1 << definitions.labels) - 1))
            || model == Model::FailuresDivergences && definitions.diverges(states)
    })
}

/// The length of the shortest trace that is a divergence.
pub fn shortest_divergence(lts: &Lts) -> Option<usize> {
    shortest(lts, Definitions::diverges)
}

/// The length of the shortest trace after which some label can follow and can be refused.
pub fn shortest_nondeterminism(lts: &Lts) -> Option<usize> {
    shortest(lts, |definitions, states| {
        let refusals = definitions.refusals(states);
        (0..definitions.labels).any(|label| definitions.after(states, label) != 0 && refusals.contains(&(1 << label)))
    })
}

/// How much of a trace a system can do, or in models that observe it cannot refuse to do. The rest of the trace begins
/// with what is missing or may be refused.
pub fn trace_that_it_has(lts: &Lts, trace: &[LabelId], model: Model) -> usize {
    let act = alphabet(&[lts]);
    let definitions = Definitions::new(lts, &act);
    let mut states = definitions.after_nothing();
    for (position, &event) in trace.iter().enumerate() {
        let Some(label) = act.iter().position(|&label| label == event) else { return position };
        if model == Model::FailuresDivergences && definitions.diverges(states) {
            return position;
        }
        if model != Model::Traces && definitions.refusals(states).contains(&(1 << label)) {
            return position;
        }
        states = definitions.after(states, label);
        if states == 0 {
            return position;
        }
    }
    trace.len()
}
