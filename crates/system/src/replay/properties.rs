//! Replaying the witnesses of checks on one system: deadlock, divergence, determinism, having a trace.

use trefoil_control::Control;

use super::{Rejection, Subset, View, replay_path, walk_cycle};
use crate::labels::LabelId;
use crate::transitions::System;
use crate::witness::{Failure, Model, Path, Witness};

/// Does the witness show that the system can deadlock? Where divergence is observed, a divergence shows it too: a
/// diverging process may refuse everything.
pub fn replay_deadlock(
    system: &dyn System,
    model: Model,
    witness: &Witness,
    control: &Control,
) -> Result<(), Rejection> {
    match witness {
        Witness::Path { path, failure: Failure::Deadlock } => {
            if !model.observes_refusals() {
                return Err(Rejection::NotInModel);
            }
            replay_path(system, path, control)?;
            accepts(system, path, &[], control)
        }
        Witness::Lasso { .. } if model.observes_divergence() => replay_divergence(system, witness, control),
        _ => Err(Rejection::NotInModel),
    }
}

/// Does the witness show that the system can diverge?
pub fn replay_divergence(system: &dyn System, witness: &Witness, control: &Control) -> Result<(), Rejection> {
    let Witness::Lasso { path, cycle } = witness else { return Err(Rejection::NotInModel) };
    replay_path(system, path, control)?;
    walk_cycle(system, path, cycle, control)
}

/// Does the witness show that the system is not deterministic?
pub fn replay_determinism(
    system: &dyn System,
    model: Model,
    witness: &Witness,
    control: &Control,
) -> Result<(), Rejection> {
    match witness {
        Witness::TwoRuns { can, cannot, accepted } => {
            if !model.observes_refusals() {
                return Err(Rejection::NotInModel);
            }
            replay_path(system, can, control)?;
            replay_path(system, cannot, control)?;
            let mut trace: Vec<LabelId> = can.trace().collect();
            let event = trace.pop().ok_or(Rejection::WrongEnd)?;
            let is_last = can.steps.last().is_some_and(|step| step.label == event);
            if !is_last || !cannot.trace().eq(trace) || accepted.contains(&event) {
                return Err(Rejection::WrongEnd);
            }
            accepts(system, cannot, accepted, control)
        }
        Witness::Lasso { .. } if model.observes_divergence() => replay_divergence(system, witness, control),
        _ => Err(Rejection::NotInModel),
    }
}

/// Does the witness show that the system does not have the trace: in the traces model, that it cannot do the trace; in
/// others, that it may refuse to?
pub fn replay_has_trace(
    system: &dyn System,
    trace: &[LabelId],
    model: Model,
    witness: &Witness,
    control: &Control,
) -> Result<(), Rejection> {
    let path = witness.path();
    replay_path(system, path, control)?;
    let done: Vec<LabelId> = path.trace().collect();
    let next = trace.strip_prefix(done.as_slice()).and_then(|rest| rest.first()).ok_or(Rejection::Allowed)?;
    match witness {
        Witness::Path { failure: Failure::Missing(event), .. } => {
            let mut subset = Subset::new(system, control)?;
            for &event in &done {
                subset.advance(event)?;
            }
            subset.advance(*event)?;
            if event != next {
                return Err(Rejection::WrongEnd);
            }
            if subset.rows.is_empty() { Ok(()) } else { Err(Rejection::Allowed) }
        }
        Witness::Path { failure: Failure::Refusal { event, accepted }, .. } => {
            if !model.observes_refusals() {
                return Err(Rejection::NotInModel);
            }
            if event != next || accepted.contains(event) {
                return Err(Rejection::WrongEnd);
            }
            accepts(system, path, accepted, control)
        }
        Witness::Lasso { path, cycle } if model.observes_divergence() => walk_cycle(system, path, cycle, control),
        _ => Err(Rejection::NotInModel),
    }
}

/// Is a run one of exactly this trace?
pub fn replay_run(system: &dyn System, trace: &[LabelId], run: &Path, control: &Control) -> Result<(), Rejection> {
    replay_path(system, run, control)?;
    if run.trace().eq(trace.iter().copied()) { Ok(()) } else { Err(Rejection::WrongEnd) }
}

/// Does the last state of a run stably accept exactly these labels?
fn accepts(system: &dyn System, path: &Path, accepted: &[LabelId], control: &Control) -> Result<(), Rejection> {
    let acceptances = View::new(system, control).acceptances(path.last())?;
    if acceptances.iter().any(|set| set == accepted) { Ok(()) } else { Err(Rejection::WrongEnd) }
}
