//! Can, or must, a system do a given trace?
//!
//! The trace is followed through all states that it leads to. In the traces model it is enough that some state has the
//! next event. Where refusals are observed, no stable state may lack it, and where divergence is observed, no state on
//! the way may diverge. Cost: exploring the states after prefixes of the trace.
//!
//! With symmetries that keep every event of the trace, representatives of those states suffice: a state and its image
//! offer the same events of the trace, refuse the same of them, and diverge alike.

use trefoil_control::Control;
use trefoil_lts::divergence::Divergence;
use trefoil_symmetry::Quotient;
use trefoil_system::{Cut, Explorer, Failure, LabelId, Model, Path, System, Value, Witness};

use crate::evidence::{diverges, lasso};
use crate::follow::{Follower, path};
use crate::implementation::{Graph, OnTheFly};
use crate::statistics::Statistics;

/// What was found.
pub(crate) enum Answer {
    /// A run of the trace.
    Run(Path),
    /// Why there is none.
    Fails(Witness),
}

/// Follows the trace.
pub(crate) fn search(
    system: &dyn System,
    quotient: Option<&Quotient<'_>>,
    trace: &[LabelId],
    model: Model,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Answer, Cut> {
    let mut graph = OnTheFly::new(quotient.map_or(system, |quotient| quotient), control)?;
    let answer = follow(&mut graph, trace, model, control, statistics);
    statistics.states = graph.state_count() as u64;
    match quotient {
        Some(quotient) => unwound(answer?, quotient, system, control),
        None => answer,
    }
}

/// The answer of a quotient as one of the system.
fn unwound(answer: Answer, quotient: &Quotient<'_>, system: &dyn System, control: &Control) -> Result<Answer, Cut> {
    Ok(match answer {
        Answer::Run(run) => Answer::Run(quotient.unwind(&run, control)?),
        Answer::Fails(Witness::Lasso { path, cycle }) => {
            let (path, cycle) = quotient.unwind_lasso(&path, &cycle, control)?;
            Answer::Fails(Witness::Lasso { path, cycle })
        }
        Answer::Fails(Witness::Path { path, failure }) => {
            let path = quotient.unwind(&path, control)?;
            let failure = match failure {
                // The image of its representative's acceptance.
                Failure::Refusal { event, accepted } => {
                    let own = accepted_without(system, path.last(), event, control)?;
                    Failure::Refusal { event, accepted: own.unwrap_or(accepted) }
                }
                other => other,
            };
            Answer::Fails(Witness::Path { path, failure })
        }
        other => other,
    })
}

/// What a state stably accepts, an event not being among it.
fn accepted_without(
    system: &dyn System,
    row: &[Value],
    event: LabelId,
    control: &Control,
) -> Result<Option<Vec<LabelId>>, Cut> {
    let mut explorer = system.explorer(control);
    if system.observations().carries_acceptances() {
        return explorer.accepts_less(row, &mut |accepted| accepted.binary_search(&event).is_ok());
    }
    offered(&mut *explorer, row).map(Some)
}

/// The labels of the steps of a state, ascending.
pub(crate) fn offered(explorer: &mut dyn Explorer, row: &[Value]) -> Result<Vec<LabelId>, Cut> {
    let mut labels = Vec::new();
    explorer.successors(row, &mut |step| {
        labels.push(step.label);
        Ok(())
    })?;
    labels.sort_unstable();
    labels.dedup();
    Ok(labels)
}

fn follow<G: Graph>(
    graph: &mut G,
    trace: &[LabelId],
    model: Model,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Answer, Cut> {
    let mut divergence = Divergence::new();
    let mut follower = Follower::new(graph, control)?;
    for &event in trace {
        for record in follower.present() {
            control.check()?;
            let state = follower.state(record);
            if model.observes_divergence() && diverges(graph, &mut divergence, state, control)? {
                return lasso(graph, &mut divergence, follower.steps(record), state, control).map(Answer::Fails);
            }
        }
        if model.observes_refusals() {
            for record in follower.present() {
                let acceptances = graph.acceptances(follower.state(record))?;
                if let Some(accepted) = acceptances.into_iter().find(|set| set.binary_search(&event).is_err()) {
                    let path = path(graph, &follower.steps(record));
                    let failure = Failure::Refusal { event, accepted };
                    return Ok(Answer::Fails(Witness::Path { path, failure }));
                }
            }
        }
        let before = follower.present().start;
        if !follower.advance(graph, event, control)? {
            let path = path(graph, &follower.steps(before));
            return Ok(Answer::Fails(Witness::Path { path, failure: Failure::Missing(event) }));
        }
        statistics.levels += 1;
    }
    Ok(Answer::Run(path(graph, &follower.steps(follower.present().start))))
}
