//! Deadlock and divergence: searched level by level of visible events, on all threads.
//!
//! A deadlock is a state that the engine that explores levels shows to a visitor; a divergence is a cycle of `τ`, which
//! the engine searches at the end of each level. Both are found with the least number of visible events.
//!
//! A system in memory whose states share parts of their rows is first looked at with each part taken once
//! ([`trefoil_lts::levels`]): mostly there is no goal, and then its steps need not be taken one by one.

use trefoil_control::Control;
use trefoil_explore::{Counts, End, Finding, Options, Order, Visited, Visitor};
use trefoil_lts::{Levels, Lts, levels};
use trefoil_symmetry::{Quotient, Tally};
use trefoil_system::{Cut, Explorer, Failure, LabelId, Observations, System, Value, Witness};

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
    if quotient.is_none()
        && system.observations() == Observations::FromTransitions
        && let Some(lts) = system.copied().and_then(|copied| copied.downcast_ref::<Lts>())
        && found_none(lts, observed, control, statistics)?
    {
        return Ok(None);
    }
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

/// Has a system no state that is a goal, as far as that is seen without taking all its steps? Only rows in parts are
/// worth it, and only without internal steps every level of visible events is a level.
fn found_none(lts: &Lts, observed: Observed, control: &Control, statistics: &mut Statistics) -> Result<bool, Cut> {
    if lts.shared().is_none() || lts.stored().any(|step| step.label == LabelId::TAU) {
        return Ok(false);
    }
    let found = levels(lts, control)?;
    if observed.deadlock && found.is_stuck {
        return Ok(false);
    }
    let Levels { states, transitions, depth, widest, .. } = found;
    (statistics.states, statistics.transitions) = (states, transitions);
    (statistics.working_max, statistics.levels) = (widest, u64::from(depth));
    Ok(true)
}

/// What an exploration counted.
pub(crate) fn count(counts: &Counts, statistics: &mut Statistics) {
    statistics.states = counts.states;
    statistics.transitions = counts.transitions;
    statistics.working_max = counts.waiting;
    statistics.levels = u64::from(counts.depth);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_lts::random::Random;
    use trefoil_lts::{SharedRows, Transition};
    use trefoil_system::{Labels, Model, StateId};

    use super::*;
    use crate::{CheckOptions, deadlock, divergence};

    #[test]
    fn parts_of_rows_taken_once_give_the_answers_and_counts_of_whole_rows() {
        let labels = Arc::new(Labels::new());
        let names: Vec<LabelId> = (0..160).map(|number| labels.name(&format!("a{number}"))).collect();
        let (mut random, control, options) = (Random::new(3), Control::unlimited(), CheckOptions::default());
        let (mut shared, mut fails) = (0, 0);
        for round in 0..60 {
            let states = 60 + random.below(60);
            let mut rows = SharedRows::default();
            let steps = names[..150].iter().map(|&label| {
                // The last states are met by other states only.
                Transition { label, target: StateId(random.below(states / 2) as u32) }
            });
            let steps: Vec<Transition> = steps.collect();
            rows.add_fragment(steps);
            for state in 0..states {
                let label = if round % 5 == 0 && random.below(9) == 0 { LabelId::TAU } else { names[155] };
                let own = [Transition { label, target: StateId(random.below(states) as u32) }];
                let is_last = state == states - 1;
                rows.add_state(if is_last { &[] } else { &own }, if is_last { &[] } else { &[0] });
            }
            let in_parts = Lts::from_shared(labels.clone(), StateId(0), rows);
            shared += usize::from(in_parts.shared().is_some());
            let mut starts: Vec<usize> = in_parts.states().map(|state| in_parts.start(state)).collect();
            starts.push(in_parts.transition_count());
            let whole = Lts::from_rows(labels.clone(), StateId(0), starts, in_parts.transitions().to_vec());
            for observed in [true, false] {
                let [one, other] = [&in_parts, &whole].map(|lts| {
                    let found = match observed {
                        true => deadlock(lts, Model::FailuresDivergences, options, &control),
                        false => divergence(lts, options, &control),
                    };
                    found.expect("there is no budget")
                });
                assert_eq!(one.witness.is_some(), other.witness.is_some());
                fails += usize::from(one.witness.is_some());
                if one.witness.is_none() {
                    let counted =
                        |statistics: &Statistics| (statistics.states, statistics.transitions, statistics.levels);
                    assert_eq!(counted(&one.statistics), counted(&other.statistics));
                }
            }
        }
        assert!(shared > 30 && (5..110).contains(&fails), "{shared} with parts, {fails} fail");
    }
}
