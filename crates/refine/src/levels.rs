//! Deadlock and divergence: properties of single states, looked for level by level of visible events.

use trefoil_control::{Control, Stopped};
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor};
use trefoil_lts::divergence::Divergence;
use trefoil_system::{Explorer, Failure, LabelId, Observations, System, Witness};

use crate::evidence::{diverges, lasso};
use crate::implementation::{Graph, OnTheFly};
use crate::statistics::Statistics;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// States that can stably do nothing.
    pub(crate) deadlock: bool,
    /// States that diverge.
    pub(crate) divergence: bool,
}

/// Looks for a state that is what is looked for, with as few visible events as possible.
pub(crate) fn search(
    system: &dyn System,
    observed: Observed,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let dead = if observed.deadlock { deadlock(system, threads, control, statistics)? } else { None };
    if !observed.divergence {
        return Ok(dead);
    }
    let diverging = divergence(system, control, statistics)?;
    Ok(match (dead, diverging) {
        (Some(dead), Some(diverging)) if diverging.length() < dead.length() => Some(diverging),
        (Some(dead), _) => Some(dead),
        (None, diverging) => diverging,
    })
}

struct Judge<'a> {
    /// Of a system whose states say themselves what they accept.
    observer: Option<Box<dyn Explorer + 'a>>,
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>) -> Finding {
        let stuck = match &mut self.observer {
            Some(observer) => observer.observe(state.row).acceptances.iter().any(Vec::is_empty),
            None => state.steps.is_empty(),
        };
        if stuck { Finding::State } else { Finding::Nothing }
    }
}

fn deadlock(
    system: &dyn System,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let explicit = system.observations() == Observations::Explicit;
    let options = Options { threads, order: Order::Visible };
    let judge = || Judge { observer: explicit.then(|| system.explorer()) };
    let exploration = trefoil_explore::search(system, &options, control, judge);
    statistics.states = exploration.counts.states;
    statistics.transitions = exploration.counts.transitions;
    statistics.working_max = exploration.counts.waiting;
    statistics.levels = u64::from(exploration.counts.depth);
    match &exploration.end {
        End::Stopped(reason) => Err(*reason),
        End::Complete => Ok(None),
        End::Found(found) => {
            let path = exploration.path_to(system, found, control)?;
            Ok(Some(Witness::Path { path, failure: Failure::Deadlock }))
        }
    }
}

fn divergence(system: &dyn System, control: &Control, statistics: &mut Statistics) -> Result<Option<Witness>, Stopped> {
    let mut graph = OnTheFly::new(system, control)?;
    let mut divergence = Divergence::new();
    let mut from: Vec<Option<(u32, LabelId)>> = vec![None];
    let mut seen = vec![true];
    let mut level = vec![graph.initial()];
    while !level.is_empty() {
        let mut next = Vec::new();
        let mut done = 0;
        while done < level.len() {
            let state = level[done];
            done += 1;
            control.check()?;
            if diverges(&mut graph, &mut divergence, state, control)? {
                let mut steps = Vec::new();
                let mut here = state;
                while let Some((before, label)) = from[here as usize] {
                    steps.push((label, here));
                    here = before;
                }
                steps.reverse();
                return lasso(&mut graph, &mut divergence, steps, state, control).map(Some);
            }
            graph.explore(state)?;
            seen.resize(graph.state_count(), false);
            from.resize(graph.state_count(), None);
            for step in graph.row(state) {
                let target = step.target.0;
                if step.label.is_visible() {
                    next.push((state, step.label, target));
                } else if !seen[target as usize] {
                    seen[target as usize] = true;
                    from[target as usize] = Some((state, step.label));
                    level.push(target);
                }
            }
        }
        level.clear();
        for (state, label, target) in next {
            if !seen[target as usize] {
                seen[target as usize] = true;
                from[target as usize] = Some((state, label));
                level.push(target);
            }
        }
        statistics.levels += 1;
    }
    statistics.states = graph.state_count() as u64;
    Ok(None)
}
