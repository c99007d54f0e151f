//! Checks on one system: deadlock, divergence, determinism, having a trace.
//!
//! What each of them means in which model:
//!
//! | | stable failures | failures-divergences |
//! |---|---|---|
//! | deadlock free | no reachable state can stably do nothing | that, and no divergence, after which everything may be refused |
//! | divergence free | not observed | no reachable state has an infinite path of `τ` |
//! | deterministic | no event can be done and refused after one trace | that, and no divergence |
//! | has a trace | it cannot be refused on the way | that, and no divergence on the way |
//!
//! In the traces model only having a trace means something: it is one of the system's traces. A check that a model cannot observe is
//! refused, not answered in another model. Successful termination leads to a state that can do nothing; it counts as a deadlock,
//! as it does in the tools that people come from.

use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_system::replay::{
    Rejection, replay_deadlock, replay_determinism, replay_divergence, replay_has_trace, replay_run,
};
use trefoil_system::{LabelId, Model, Path, System, Witness};

use crate::has_trace::Answer;
use crate::{Outcome, Statistics, Unanswered};
use crate::{determinism as pairs, has_trace as along, levels};

/// How a property is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// How many threads may work; 0 means one per core.
    pub threads: usize,
}

/// Is the system free of deadlock? The witness is a run to a state that can do nothing, with as few visible events as possible, or,
/// in failures-divergences, a divergence that comes with fewer.
pub fn deadlock(
    system: &dyn System,
    model: Model,
    options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    if model == Model::Traces {
        return Err(Unanswered::Refused("the traces model does not observe deadlock; [F] and [FD] do"));
    }
    check(|statistics| {
        control.progress().begin("looking for deadlocks", 0);
        let observed = levels::Observed { deadlock: true, divergence: model == Model::FailuresDivergences };
        let witness = levels::search(system, observed, options.threads, control, statistics)?;
        replayed(witness, control, |witness| replay_deadlock(system, model, witness, control))
    })
}

/// Is the system free of divergence? The witness is a run into a cycle of `τ`, with as few visible events as possible.
pub fn divergence(system: &dyn System, options: CheckOptions, control: &Control) -> Result<Outcome, Unanswered> {
    check(|statistics| {
        control.progress().begin("looking for divergence", 0);
        let observed = levels::Observed { deadlock: false, divergence: true };
        let witness = levels::search(system, observed, options.threads, control, statistics)?;
        replayed(witness, control, |witness| replay_divergence(system, witness, control))
    })
}

/// Is the system deterministic? The witness is two runs of one trace, after which one can do what the other may refuse, or, in
/// failures-divergences, a divergence.
pub fn determinism(
    system: &dyn System,
    model: Model,
    options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    if model == Model::Traces {
        return Err(Unanswered::Refused("in the traces model everything is deterministic; ask for [F] or [FD]"));
    }
    check(|statistics| {
        control.progress().begin("looking for nondeterminism", 0);
        let witness = pairs::search(system, model, pairs::NEAR, options.threads, control, statistics)?;
        replayed(witness, control, |witness| replay_determinism(system, model, witness, control))
    })
}

/// Has the system this trace: can it do it (in the traces model), must it (in the others)? When it has, [`Outcome::run`] is a run of it.
pub fn has_trace(
    system: &dyn System,
    trace: &[LabelId],
    model: Model,
    _options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    let mut run = None;
    let outcome = check(|statistics| {
        control.progress().begin("following the trace", 0);
        let witness = match along::search(system, trace, model, control, statistics)? {
            Answer::Run(found) => {
                accept(replay_run(system, trace, &found, control), &found)?;
                run = Some(found);
                None
            }
            Answer::Fails(witness) => Some(witness),
        };
        replayed(witness, control, |witness| replay_has_trace(system, trace, model, witness, control))
    })?;
    Ok(Outcome { run, ..outcome })
}

fn check(job: impl FnOnce(&mut Statistics) -> Result<Option<Witness>, Stopped>) -> Result<Outcome, Unanswered> {
    let started = Instant::now();
    let mut statistics = Statistics::default();
    let result = job(&mut statistics);
    statistics.elapsed = started.elapsed();
    match result {
        Ok(witness) => Ok(Outcome { witness, run: None::<Path>, statistics }),
        Err(reason) => Err(Unanswered::Stopped { reason, statistics: Box::new(statistics) }),
    }
}

/// The witness, when there is one, after the replayer has accepted it.
fn replayed(
    witness: Option<Witness>,
    control: &Control,
    replay: impl FnOnce(&Witness) -> Result<(), Rejection>,
) -> Result<Option<Witness>, Stopped> {
    if let Some(witness) = &witness {
        control.progress().begin("replaying the witness", 0);
        accept(replay(witness), witness)?;
    }
    Ok(witness)
}

fn accept(replayed: Result<(), Rejection>, evidence: &impl std::fmt::Debug) -> Result<(), Stopped> {
    match replayed {
        Ok(()) => Ok(()),
        Err(Rejection::Stopped(stopped)) => Err(stopped),
        Err(rejection) => panic!("the search gave evidence that does not replay ({rejection}): {evidence:?}"),
    }
}
