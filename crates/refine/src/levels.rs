//! Deadlock and divergence: searched level by level of visible events, on all threads.
//!
//! A deadlock is a state that the engine that explores levels shows to a visitor; a divergence is a cycle of `τ`, which
//! the engine searches at the end of each level. Both are found with the least number of visible events.

use trefoil_control::Control;
use trefoil_explore::{Counts, End, Finding, Options, Order, Visited, Visitor};
use trefoil_symmetry::{Quotient, Tally};
use trefoil_system::{Cut, Explorer, Failure, Observations, System, Value, Witness};

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
    /// Where acceptances and divergence come from.
    observations: Observations,
    /// In a quotient, what found states.
    tally: Tally,
    tallies: bool,
}

impl Visitor for Judge {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        if self.tallies {
            state.steps.iter().filter(|step| step.fresh).for_each(|step| self.tally.note(step.class));
        }
        let stuck = self.observed.deadlock
            && match self.observations.carries_acceptances() {
                true => may_do_nothing(explorer, state.row)?,
                false => state.steps.is_empty(),
            };
        let found = stuck || self.observed.divergence && says_that_it_diverges(self.observations, explorer, state.row)?;
        Ok(if found { Finding::State } else { Finding::Nothing })
    }
}

/// Does a state that carries acceptances accept nothing?
fn may_do_nothing(explorer: &mut dyn Explorer, row: &[Value]) -> Result<bool, Cut> {
    Ok(explorer.accepts_less(row, &mut |accepted| !accepted.is_empty())?.is_some())
}

/// Does a state say that it diverges, where states do?
pub(crate) fn says_that_it_diverges(
    observations: Observations,
    explorer: &mut dyn Explorer,
    row: &[Value],
) -> Result<bool, Cut> {
    Ok(observations.carries_divergence() && explorer.observe(row)?.diverges)
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
    let observations = system.observations();
    let cycles = observed.divergence && !observations.carries_divergence();
    let options = Options { threads, order: Order::Visible, cycles, ..Options::default() };
    let judge = || Judge { observed, observations, tally: Tally::default(), tallies: quotient.is_some() };
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
            if stuck && observations.carries_acceptances() {
                stuck = may_do_nothing(&mut *system.explorer(control), path.last())?;
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
