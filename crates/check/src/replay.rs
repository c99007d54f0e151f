//! Replay of evidence on the system itself, without reductions.

use trefoil_control::Control;
use trefoil_questions::{Answer, Evidence, Found, Goal, Question};
use trefoil_system::replay::{
    Rejection, replay_deadlock, replay_determinism, replay_divergence, replay_has_trace, replay_path,
    replay_refinement, replay_run,
};
use trefoil_system::{Cut, Meaning, Path, System};

/// Replays the evidence of an answer. Evidence that is rejected is a bug of the engine that gave it.
pub(crate) fn replay(
    question: &Question<'_>,
    answer: &Answer,
    system: &dyn System,
    control: &Control,
) -> Result<(), Cut> {
    for (goal, found) in answer.found.iter().enumerate() {
        let replayed = match found {
            Found::Fails(evidence) => rejected(question, goal, evidence, system, control),
            Found::Holds(Some(run)) => match question {
                Question::HasTrace { trace, .. } => replay_run(system, trace, run, control),
                _ => replay_path(system, run, control),
            },
            // The engine has verified its strategy.
            Found::Holds(None) | Found::Won(_) | Found::Open => Ok(()),
        };
        match replayed {
            Ok(()) => {}
            Err(Rejection::Cut(cut)) => return Err(cut),
            Err(rejection) => panic!("{} gave evidence that does not replay ({rejection}): {found:?}", answer.engine),
        }
    }
    Ok(())
}

fn rejected(
    question: &Question<'_>,
    goal: usize,
    evidence: &Evidence,
    system: &dyn System,
    control: &Control,
) -> Result<(), Rejection> {
    match (question, evidence) {
        (Question::Refine { specification, model }, Evidence::Witness(witness)) => {
            replay_refinement(*specification, system, *model, witness, control)
        }
        (Question::Deadlock { model }, Evidence::Witness(witness)) => replay_deadlock(system, *model, witness, control),
        (Question::Divergence, Evidence::Witness(witness)) => replay_divergence(system, witness, control),
        (Question::Determinism { model }, Evidence::Witness(witness)) => {
            replay_determinism(system, *model, witness, control)
        }
        (Question::HasTrace { trace, model }, Evidence::Witness(witness)) => {
            replay_has_trace(system, trace, *model, witness, control)
        }
        (Question::Reach(reach), Evidence::Error(path)) => {
            replay_path(system, path, control)?;
            let last = path.steps.last().map_or(0, |step| system.error(step.label));
            match reach.goals[goal] {
                Goal::Error(kinds) if kinds.contains(last) => Ok(()),
                Goal::Error(_) | Goal::InvalidEnd => Err(Rejection::WrongEnd),
            }
        }
        (Question::Reach(reach), Evidence::InvalidEnd(path)) => {
            replay_path(system, path, control)?;
            match reach.goals[goal] {
                Goal::InvalidEnd if is_invalid_end(path, system, control)? => Ok(()),
                Goal::Error(_) | Goal::InvalidEnd => Err(Rejection::WrongEnd),
            }
        }
        _ => Err(Rejection::NotInModel),
    }
}

/// Does a run end in an invalid end state: without steps, where the system may not stop?
fn is_invalid_end(path: &Path, system: &dyn System, control: &Control) -> Result<bool, Cut> {
    let mut explorer = system.explorer(control);
    if Cut::had_enough(explorer.successors(path.last(), &mut |_| Err(Cut::Enough)))? {
        return Ok(false);
    }
    let Some(mark) = system.mark(Meaning::ValidEnd) else { return Ok(false) };
    let mut values = Vec::new();
    system.marks()[mark.index()].reads.values(path.last(), &mut values);
    Ok(explorer.mark(mark, &values)? == 0)
}
