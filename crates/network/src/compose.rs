//! Exploring a network into one LTS, or only counting.
//!
//! An LTS is a set of transitions: when two rules lead from one state by one label to the same state, the LTS has one
//! transition. Both functions here count it once.

use trefoil_control::Control;
use trefoil_explore::{
    Counts, End, Exploration, Finding, Options, Order, Unfinished, Visited, Visitor, collect, search,
};
use trefoil_lts::{Lts, Transition};
use trefoil_system::{Cut, Explorer, LabelId, StateId, System};

use crate::network::Network;

/// What composing made, and what it took.
#[derive(Debug)]
pub struct Composed {
    /// The system; state 0 is the initial one, and the others are numbered as a breadth-first search meets them.
    pub lts: Lts,
    /// States, transitions (each once) and depth.
    pub counts: Counts,
    /// Bytes that the store of states had allocated at the end.
    pub store_bytes: usize,
}

/// Explores a network into an LTS, the same whatever the number of threads (0: one per core).
pub fn compose(network: &Network, threads: usize, control: &Control) -> Result<Composed, Unfinished> {
    control.progress().begin("composing", 0);
    let mut collected = collect(network, threads, control)?;
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
    let lts = Lts::from_rows(network.labels().clone(), StateId(0), collected.starts, transitions);
    Ok(Composed { lts, counts, store_bytes: collected.states.bytes() })
}

/// Moves the first of equal entries of `begin..end` to `kept` and behind; where the next one goes.
fn keep_distinct(transitions: &mut [(LabelId, StateId)], begin: usize, end: usize, kept: usize) -> usize {
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

/// Explores a network and only counts.
pub fn count(network: &Network, threads: usize, control: &Control) -> Result<Counts, Unfinished> {
    control.progress().begin("composing", 0);
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let Exploration { end, counts, visitors, .. } = search(network, &options, control, Distinct::default);
    let repeated: u64 = visitors.iter().map(|visitor| visitor.repeated).sum();
    let counts = Counts { transitions: counts.transitions - repeated, ..counts };
    match end {
        End::Complete | End::Found(_) => Ok(counts),
        End::Cut(cut) => Err(Unfinished { cut, counts }),
    }
}

#[derive(Default)]
struct Distinct {
    repeated: u64,
    scratch: Vec<(LabelId, StateId)>,
}

impl Visitor for Distinct {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.scratch.clear();
        self.scratch.extend(state.steps.iter().map(|edge| (edge.label, edge.target)));
        let count = self.scratch.len();
        self.repeated += (count - keep_distinct(&mut self.scratch, 0, count, 0)) as u64;
        Ok(Finding::Nothing)
    }
}
