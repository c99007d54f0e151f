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
//! In the traces model only having a trace means something: it is one of the system's traces. A check that a model
//! cannot observe is refused, not answered in another model. Successful termination leads to a state that can do
//! nothing; it counts as a deadlock, as in other tools for CSP.

use std::time::Instant;

use trefoil_control::Control;
use trefoil_symmetry::{Quotient, Strategy};
use trefoil_system::replay::{
    Rejection, replay_deadlock, replay_determinism, replay_divergence, replay_has_trace, replay_run,
};
use trefoil_system::{Action, Cut, LabelId, Labels, Model, Path, System, Witness};

use crate::has_trace::Answer;
use crate::reduction::{self, Unreduced};
use crate::{Outcome, Statistics, Unanswered};
use crate::{determinism as pairs, has_trace as along, levels};

/// How a property is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// How many threads may work; 0 means one per core.
    pub threads: usize,
    /// Is the search reduced by the symmetries of the system ([`System::action`]), and how are representatives chosen?
    pub symmetry: Option<&'static Strategy>,
}

/// Runs a search in a system, or in its quotient if requested.
fn in_quotient<T>(
    system: &dyn System,
    options: CheckOptions,
    control: &Control,
    statistics: &mut Statistics,
    job: impl FnOnce(Option<&Quotient<'_>>, &mut Statistics) -> Result<T, Cut>,
) -> Result<T, Unreduced> {
    let Some(strategy) = options.symmetry else { return Ok(job(None, statistics)?) };
    let symmetry = reduction::prepare(reduction::action(system)?, strategy, control, statistics)?;
    let quotient = reduction::quotient(system, &symmetry, control)?;
    Ok(job(Some(&quotient), statistics)?)
}

/// Is the system free of deadlock? The witness is a run to a state that can do nothing, with as few visible events as
/// possible, or, in failures-divergences, a divergence that comes with fewer.
pub fn deadlock(
    system: &dyn System,
    model: Model,
    options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    if model == Model::Traces {
        return Err(Unanswered::Refused("the traces model does not observe deadlock; [F] and [FD] do".into()));
    }
    check(|statistics| {
        control.progress().begin("looking for deadlocks", 0);
        let observed = levels::Observed { deadlock: true, divergence: model.observes_divergence() };
        let witness = in_quotient(system, options, control, statistics, |quotient, statistics| {
            levels::search(system, quotient, observed, options.threads, control, statistics)
        })?;
        replayed(witness, control, |witness| replay_deadlock(system, model, witness, control))
    })
}

/// Is the system free of divergence? The witness is a run into a cycle of `τ`, with as few visible events as possible.
pub fn divergence(system: &dyn System, options: CheckOptions, control: &Control) -> Result<Outcome, Unanswered> {
    check(|statistics| {
        control.progress().begin("looking for divergence", 0);
        let observed = levels::Observed { deadlock: false, divergence: true };
        let witness = in_quotient(system, options, control, statistics, |quotient, statistics| {
            levels::search(system, quotient, observed, options.threads, control, statistics)
        })?;
        replayed(witness, control, |witness| replay_divergence(system, witness, control))
    })
}

/// Is the system deterministic? The witness is two runs of one trace, after which one can do what the other may refuse,
/// or, in failures-divergences, a divergence.
pub fn determinism(
    system: &dyn System,
    model: Model,
    options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    if model == Model::Traces {
        return Err(Unanswered::Refused("in the traces model everything is deterministic; ask for [F] or [FD]".into()));
    }
    check(|statistics| {
        control.progress().begin("looking for nondeterminism", 0);
        let witness = match options.symmetry {
            None => pairs::search(system, model, pairs::NEAR, options.threads, control, statistics)?,
            Some(strategy) => pairs::reduced(system, model, strategy, options.threads, control, statistics)?,
        };
        replayed(witness, control, |witness| replay_determinism(system, model, witness, control))
    })
}

/// Does the system have this trace: can it do it (in the traces model), can it not refuse it (in the others)? When it
/// has, [`Outcome::run`] is a run of it.
pub fn has_trace(
    system: &dyn System,
    trace: &[LabelId],
    model: Model,
    options: CheckOptions,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    let mut run = None;
    let outcome = check(|statistics| {
        control.progress().begin("following the trace", 0);
        if options.symmetry.is_some() {
            keeps_trace(reduction::action(system)?, system.labels(), trace, control)?;
        }
        let answer = in_quotient(system, options, control, statistics, |quotient, statistics| {
            along::search(system, quotient, trace, model, control, statistics)
        })?;
        let witness = match answer {
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

/// Does the group fix every event of a trace?
fn keeps_trace(action: &dyn Action, labels: &Labels, trace: &[LabelId], control: &Control) -> Result<(), Unreduced> {
    let mut actor = action.actor(control);
    for generator in action.generators() {
        let moved = trace.iter().find(|&&event| actor.apply_to_label(generator, event) != event);
        if let Some(&event) = moved {
            let (event, image) = (labels.get(event), labels.get(actor.apply_to_label(generator, event)));
            return Err(Unreduced::refused(format!(
                "a symmetry carries {event} to {image}, so the trace cannot be followed among representatives"
            )));
        }
    }
    Ok(())
}

fn check(job: impl FnOnce(&mut Statistics) -> Result<Option<Witness>, Unreduced>) -> Result<Outcome, Unanswered> {
    let started = Instant::now();
    let mut statistics = Statistics::default();
    let result = job(&mut statistics);
    statistics.elapsed = started.elapsed();
    match result {
        Ok(witness) => Ok(Outcome { witness, run: None::<Path>, statistics }),
        Err(Unreduced::Cut(cut)) => Err(Unanswered::Cut { cut, statistics: Box::new(statistics) }),
        Err(Unreduced::Refused(why)) => Err(Unanswered::Refused(why)),
    }
}

/// The witness, when there is one, after the replayer has accepted it.
fn replayed(
    witness: Option<Witness>,
    control: &Control,
    replay: impl FnOnce(&Witness) -> Result<(), Rejection>,
) -> Result<Option<Witness>, Unreduced> {
    if let Some(witness) = &witness {
        control.progress().begin("replaying the witness", 0);
        accept(replay(witness), witness)?;
    }
    Ok(witness)
}

fn accept(replayed: Result<(), Rejection>, evidence: &impl std::fmt::Debug) -> Result<(), Cut> {
    match replayed {
        Ok(()) => Ok(()),
        Err(Rejection::Cut(cut)) => Err(cut),
        Err(rejection) => panic!("the search gave evidence that does not replay ({rejection}): {evidence:?}"),
    }
}
