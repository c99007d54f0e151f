//! Replay of evidence on the system itself, without reductions.

use trefoil_control::Control;
use trefoil_questions::{Answer, Evidence, Fairness, Found, Goal, Question, Says, TemporalClaim};
use trefoil_system::replay::{
    CycleStep, LassoWord, Rejection, replay_agents, replay_deadlock, replay_determinism, replay_divergence,
    replay_has_trace, replay_lasso, replay_path, replay_prefix, replay_refinement, replay_run,
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
        // The verifier of strategies has accepted it on this game; its play is a run of it.
        (Question::Win, Evidence::Strategy(strategy)) => replay_path(system, &strategy.play, control),
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
        (Question::Recur(recur), Evidence::Lasso { path, cycle }) => {
            let claim = &recur.claims[goal];
            if cycle.is_empty() && !claim.stutters {
                return Err(Rejection::NotInModel);
            }
            let word = replay_lasso(system, &claim.propositions, path, cycle, control)?;
            let agents = replay_agents(system, path.last(), cycle, control)?;
            if violates(claim, &word) && is_fair(&agents, recur.fairness) { Ok(()) } else { Err(Rejection::Allowed) }
        }
        (Question::Recur(recur), Evidence::Prefix(path)) => {
            let claim = &recur.claims[goal];
            let word = replay_prefix(system, &claim.propositions, path, control)?;
            if violates(claim, &word) { Ok(()) } else { Err(Rejection::Allowed) }
        }
        _ => Err(Rejection::NotInModel),
    }
}

/// Up to this many propositions without a value are given all combinations of values.
const MOST_COMBINED: usize = 6;

/// Is a cycle fair, by the definition of fairness?
fn is_fair(cycle: &[CycleStep], fairness: Fairness) -> bool {
    let moves = |agent: &u32| cycle.iter().any(|step| step.moving.contains(agent));
    let mut agents = cycle.iter().flat_map(|step| &step.enabled);
    match fairness {
        Fairness::None => true,
        Fairness::Weak => agents.all(|agent| moves(agent) || cycle.iter().any(|step| !step.enabled.contains(agent))),
        Fairness::Strong => agents.all(moves),
    }
}

/// Does a run violate a claim, whatever values are given to propositions that have none somewhere? Where these are
/// many, some combinations are tried.
fn violates(claim: &TemporalClaim, word: &LassoWord) -> bool {
    let missing: Vec<(usize, u64)> = (0..)
        .zip(&word.undefined)
        .flat_map(|(at, &undefined)| {
            (0..64).map(|own| 1 << own).filter(move |bit| undefined & bit != 0).map(move |bit| (at, bit))
        })
        .collect();
    let combinations = 1u64 << missing.len().min(MOST_COMBINED);
    (0..combinations).all(|combination| {
        let mut letters = word.letters.clone();
        for (number, &(at, bit)) in missing.iter().enumerate() {
            // Behind the first ones, whose combinations are all tried, others go with them in turns.
            let holds = combination >> (number % MOST_COMBINED) & 1 == 1;
            letters[at] = if holds { letters[at] | bit } else { letters[at] & !bit };
        }
        violates_with(claim, word, &letters)
    })
}

/// The same with these letters. A formula is evaluated as it is, without an automaton.
fn violates_with(claim: &TemporalClaim, word: &LassoWord, letters: &[u64]) -> bool {
    let LassoWord { back_to, passes, .. } = word;
    match &claim.says {
        Says::Holds(ltl, formula) => {
            !ltl.holds_on(*formula, letters.len(), *back_to, |proposition, at| letters[at] >> proposition & 1 == 1)
        }
        Says::Accepts(automaton) => {
            automaton.comes_to_end(letters.iter().copied()) || {
                let passing = |at: usize| if passes[at] { claim.passing } else { 0 };
                automaton.accepts_passing(letters.len(), *back_to, |at| letters[at], passing)
            }
        }
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
