//! Exploring a network into one LTS, or only counting.
//!
//! An LTS is a set of transitions: when two rules lead from one state by one label to the same state, the LTS has one
//! transition. Both functions here count it once.

use trefoil_control::Control;
use trefoil_explore::{Counts, End, Exploration, Finding, Options, Order, Unfinished, Visited, Visitor, search};
use trefoil_lts::{Generated, generate, keep_distinct};
use trefoil_system::{Cut, Explorer, LabelId, StateId};

use crate::network::Network;

/// Explores a network into an LTS, the same whatever the number of threads (0: one per core).
pub fn compose(network: &Network, threads: usize, control: &Control) -> Result<Generated, Unfinished> {
    control.progress().begin("composing", 0);
    generate(network, threads, control)
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
