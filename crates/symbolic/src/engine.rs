//! The engine: questions about what can be reached, answered with diagrams.
//!
//! The space is explored by chaining; it ends early when the wanted error was met. For what was found, shortest runs
//! are looked for level by level ([`crate::runs`]). Counts are those of an explicit search whenever that would visit
//! everything: states, and transitions with the initial step and without steps that only show an error.

use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::UBig;
use trefoil_questions::{
    Algorithm, Answer, Asked, Counts, Engine, EngineChoice, Evidence, Facts, Found, Goal, Kind, Prepared, Preprocess,
    Question, Reach, Ready, Refusal, Setting, Store, SymbolicCounts, Task, Terms, Unanswered,
};
use trefoil_system::{Cut, LabelId, Labels, Path};

use crate::processes;
use crate::space::{Options, PHASE, Space};

/// Reachability with decision diagrams.
pub struct SymbolicEngine;

/// Reachability with decision diagrams.
pub static SYMBOLIC: SymbolicEngine = SymbolicEngine;

impl Engine for SymbolicEngine {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn family(&self) -> EngineChoice {
        EngineChoice::Symbolic
    }

    fn about(&self) -> &'static str {
        "sets of states as decision diagrams on every core; finding nothing is a proof"
    }

    fn takes(&self, kind: Kind, facts: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Refine | Kind::Deadlock | Kind::Divergence if facts.observations.carries_acceptances() => {
                Err(Refusal::new(
                    "the symbolic engine finds failures and divergences from transitions, and these states carry \
                     their own",
                ))
            }
            Kind::Refine | Kind::Deadlock | Kind::Divergence if facts.explicit => {
                Err(Refusal::new("all states of the system are in memory already"))
            }
            Kind::Refine if facts.model.is_some_and(|model| !model.has_minimal_acceptances()) => Err(Refusal::new(
                "the symbolic engine compares what sets of states refuse after a trace, in the models T, F and FD; \
                 revivals and refusals on the way need single states",
            )),
            Kind::Reach | Kind::Refine | Kind::Deadlock | Kind::Divergence => Ok(()),
            _ => Err(Refusal::new("the symbolic engine does not answer this question")),
        }
    }

    fn honours(&self, kind: Kind, _: &Facts, asked: &mut Asked) {
        let requested = asked.engine == Some(self.family());
        // No other engine goes on after a counterexample about processes: the option alone must not choose this one.
        if kind == Kind::Reach || requested {
            asked.take(Setting::KeepGoing);
        }
        // The product is the one with the normal form, whose specification alone is minimised.
        if kind == Kind::Refine {
            if asked.algorithm == Some(Algorithm::NormalForm) {
                asked.take(Setting::Algorithm);
            }
            if asked.preprocess == Some(Preprocess::Specification) {
                asked.take(Setting::Preprocess);
            }
        }
        if asked.store.is_none_or(|store| store == Store::Exact) {
            asked.take(Setting::Store);
        }
    }

    fn reason(&self, _: &Facts) -> String {
        "--engine asks for it".to_string()
    }

    fn prepare<'q>(
        &self,
        question: Question<'q>,
        terms: &Terms<'_>,
        control: &Control,
    ) -> Result<Ready<'q>, Unanswered> {
        let Question::Reach(reach) = question else { return processes::prepare(question, terms, control) };
        let until = (!terms.asked.keep_going).then_some(reach.asked);
        Ok(Ready::Ready(Box::new(Reaching { reach, until, threads: terms.threads })))
    }
}

struct Reaching<'q> {
    reach: Reach<'q>,
    /// The search ends with the first finding for this goal.
    until: Option<usize>,
    threads: usize,
}

impl Prepared for Reaching<'_> {
    /// No symmetries are used.
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Err("the symbolic engine uses no symmetries".to_string()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        control.check()?;
        control.progress().begin(PHASE, 0);
        let options = Options { threads: self.threads, ..Options::default() };
        // Groups that read less, where the system has such.
        let apart = task.system.with_last_resorts();
        let mut space = Space::new(apart.as_deref().unwrap_or(task.system), &options, control)?;
        let explored = space.explore(|kind| self.until.is_some_and(|goal| self.is_error(goal, kind)));
        if let Err(cut) = explored {
            return Err(Unanswered::Cut { cut, counts: Box::new(counts_so_far(&mut space)) });
        }
        let complete = space.is_complete();
        let mut answer = Answer { complete, ..Answer::new("symbolic", self.reach.goals.len()) };
        answer.counts = self.counts(&space, complete)?;
        for (goal, found) in answer.found.iter_mut().enumerate() {
            // When the exploration ended early, only its own goal is known.
            if !complete && goal != self.reach.asked {
                continue;
            }
            *found = match self.run(&mut space, goal)? {
                Some(path) => Found::Fails(match self.reach.goals[goal] {
                    Goal::Error(_) => Evidence::Error(path),
                    Goal::InvalidEnd => Evidence::InvalidEnd(path),
                }),
                None => Found::Holds(None),
            };
        }
        if let Some(symbolic) = &mut answer.counts.symbolic {
            symbolic.peak_nodes = space.diagrams().peak_nodes();
        }
        answer.counts.elapsed = started.elapsed();
        Ok(answer)
    }
}

impl Reaching<'_> {
    fn is_error(&self, goal: usize, kind: u32) -> bool {
        matches!(self.reach.goals[goal], Goal::Error(kinds) if kinds.contains(kind))
    }

    /// A shortest run to a goal.
    fn run(&self, space: &mut Space<'_>, goal: usize) -> Result<Option<Path>, Cut> {
        match self.reach.goals[goal] {
            Goal::InvalidEnd => space.run_to_invalid_end(),
            Goal::Error(kinds) => space.run_to_error(|kind| kinds.contains(kind)),
        }
    }

    fn counts(&self, space: &Space<'_>, complete: bool) -> Result<Counts, Cut> {
        symbolic_counts(space, &if complete { self.transitions(space)? } else { UBig::ZERO })
    }

    /// As an explicit search counts them: with the step into the initial state, and without those that only show an
    /// error.
    fn transitions(&self, space: &Space<'_>) -> Result<UBig, Cut> {
        let broken = space.erring_steps(space.states(), |kind| self.reach.no_steps.contains(kind))?;
        Ok(space.transitions(space.states())? + UBig::ONE - broken)
    }
}

/// The counts of a space, with this number of transitions.
pub(crate) fn symbolic_counts(space: &Space<'_>, transitions: &UBig) -> Result<Counts, Cut> {
    Ok(counted(space, &space.count(space.states())?, transitions))
}

/// The counts of a space whose exploration was cut.
pub(crate) fn counts_so_far(space: &mut Space<'_>) -> Counts {
    let states = space.count_so_far();
    counted(space, &states, &UBig::ZERO)
}

fn counted(space: &Space<'_>, states: &UBig, transitions: &UBig) -> Counts {
    Counts {
        states: u64::try_from(states).unwrap_or(u64::MAX),
        transitions: u64::try_from(transitions).unwrap_or(u64::MAX),
        levels: space.rounds(),
        symbolic: Some(SymbolicCounts {
            states: states.to_string(),
            transitions: transitions.to_string(),
            peak_nodes: space.diagrams().peak_nodes(),
        }),
        ..Counts::default()
    }
}
