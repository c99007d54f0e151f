//! Deadlock and divergence: searched level by level of visible events, on all threads.
//!
//! A deadlock is a state that the engine that explores levels shows to a visitor; a divergence is a cycle of `τ`, which
//! the engine searches at the end of each level. Both are found with the least number of visible events.

use trefoil_control::Control;
use trefoil_explore::{Counts, End, Finding, Options, Order, Visited, Visitor};
use trefoil_symmetry::{Quotient, Tally};
use trefoil_system::{Cut, Explorer, Failure, Observations, System, Witness};

use crate::reduction::stands_for;
use crate::statistics::Statistics;

/// The goal of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// States that can stably do nothing.
    pub(crate) deadlock: bool,
    /// States that diverge.
    pub(crate) divergence: bool,
}

/// Looks at single states.
struct Judge {
    observed: Observed,
    /// Do states carry their acceptances and divergence?
    explicit: bool,
    /// In a quotient, what found states.
    tally: Tally,
    tallies: bool,
}

impl Visitor for Judge {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        if self.tallies {
            state.steps.iter().filter(|step| step.fresh).for_each(|step| self.tally.note(step.class));
        }
        let found = if self.explicit {
            let observation = explorer.observe(state.row)?;
            self.observed.deadlock && observation.acceptances.iter().any(Vec::is_empty)
                || self.observed.divergence && observation.diverges
        } else {
            self.observed.deadlock && state.steps.is_empty()
        };
        Ok(if found { Finding::State } else { Finding::Nothing })
    }
}

/// Searches a state that is a goal, with as few visible events as possible; in a quotient of the system, when there is
/// one.
pub(crate) fn search(
    system: &dyn System,
    quotient: Option<&Quotient<'_>>,
    observed: Observed,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    let explicit = system.observations() == Observations::Explicit;
    let options =
        Options { threads, order: Order::Visible, cycles: observed.divergence && !explicit, ..Options::default() };
    let judge = || Judge { observed, explicit, tally: Tally::default(), tallies: quotient.is_some() };
    let explored = quotient.map_or(system, |quotient| quotient);
    let exploration = trefoil_explore::search(explored, &options, control, judge);
    count(&exploration.counts, statistics);
    match &exploration.end {
        End::Cut(cut) => Err(cut.clone()),
        End::Complete => {
            if let Some(quotient) = quotient {
                stands_for(statistics, quotient, exploration.visitors.iter().map(|judge| &judge.tally));
            }
            Ok(None)
        }
        End::Found(found) => {
            let mut path = exploration.path_to(explored, found, control)?;
            let mut cycle = exploration.cycle(found);
            if let Some(quotient) = quotient {
                (path, cycle) = quotient.unwind_lasso(&path, &cycle, control)?;
            }
            let mut stuck = observed.deadlock && cycle.is_empty();
            if stuck && explicit {
                let observation = system.explorer(control).observe(path.last())?;
                stuck = observation.acceptances.iter().any(Vec::is_empty);
            }
            if stuck {
                return Ok(Some(Witness::Path { path, failure: Failure::Deadlock }));
            }
            Ok(Some(Witness::Lasso { path, cycle }))
        }
    }
}

/// What an exploration counted.
pub(crate) fn count(counts: &Counts, statistics: &mut Statistics) {
    statistics.states = counts.states;
    statistics.transitions = counts.transitions;
    statistics.working_max = counts.waiting;
    statistics.levels = u64::from(counts.depth);
}
