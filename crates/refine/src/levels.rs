//! Deadlock and divergence: looked for level by level of visible events, on all threads.
//!
//! A deadlock is a state that the engine that explores levels shows to a visitor; a divergence is a cycle of `τ`, which the engine
//! looks for at the end of each level. Both are found with the least number of visible events.

use trefoil_control::{Control, Stopped};
use trefoil_explore::{Counts, End, Finding, Options, Order, Visited, Visitor};
use trefoil_symmetry::{Quotient, Tally};
use trefoil_system::{Explorer, Failure, Observations, System, Witness};

use crate::reduction::stands_for;
use crate::statistics::Statistics;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// States that can stably do nothing.
    pub(crate) deadlock: bool,
    /// States that diverge.
    pub(crate) divergence: bool,
}

/// Looks at single states.
struct Judge<'a> {
    observed: Observed,
    /// Of a system whose states say themselves what they accept and whether they diverge.
    observer: Option<Box<dyn Explorer + 'a>>,
    /// In a quotient, what found states.
    tally: Tally,
    tallies: bool,
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>) -> Finding {
        if self.tallies {
            state.steps.iter().filter(|step| step.fresh).for_each(|step| self.tally.note(step.group));
        }
        let found = match &mut self.observer {
            Some(observer) => {
                let observation = observer.observe(state.row);
                self.observed.deadlock && observation.acceptances.iter().any(Vec::is_empty)
                    || self.observed.divergence && observation.diverges
            }
            None => self.observed.deadlock && state.steps.is_empty(),
        };
        if found { Finding::State } else { Finding::Nothing }
    }
}

/// Looks for a state that is what is looked for, with as few visible events as possible; in a quotient of the system, when there
/// is one.
pub(crate) fn search(
    system: &dyn System,
    quotient: Option<&Quotient<'_>>,
    observed: Observed,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let explicit = system.observations() == Observations::Explicit;
    let options = Options { threads, order: Order::Visible, cycles: observed.divergence && !explicit };
    let judge = || Judge {
        observed,
        observer: explicit.then(|| system.explorer()),
        tally: Tally::default(),
        tallies: quotient.is_some(),
    };
    let explored = quotient.map_or(system, |quotient| quotient);
    let exploration = trefoil_explore::search(explored, &options, control, judge);
    count(&exploration.counts, statistics);
    match &exploration.end {
        End::Stopped(reason) => Err(*reason),
        End::Complete => {
            control.check()?;
            if let Some(quotient) = quotient {
                let tallies = exploration.visitors.iter().map(|judge| &judge.tally);
                stands_for(statistics, quotient, tallies, threads, control)?;
            }
            Ok(None)
        }
        End::Found(found) => {
            let mut path = exploration.path_to(explored, found, control)?;
            let mut cycle = exploration.cycle(found);
            if let Some(quotient) = quotient {
                (path, cycle) = quotient.unwind_lasso(&path, &cycle)?;
            }
            let stuck = || {
                observed.deadlock
                    && (!explicit || system.explorer().observe(path.last()).acceptances.iter().any(Vec::is_empty))
            };
            if cycle.is_empty() && stuck() {
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
