//! The engine: questions about what can be reached, answered with diagrams.
//!
//! The space is explored by chaining; it ends early when the wanted error was met. For what was found, shortest runs
//! are looked for level by level ([`crate::runs`]). Counts are those of an explicit search whenever that would visit
//! everything: states, and transitions with the initial step and without steps that only show an error.

use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::UBig;
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Facts, Found, Goal, Kind, Prepared, Question, Reach, Ready, Refusal,
    Setting, Store, SymbolicCounts, Task, Terms, Unanswered,
};
use trefoil_system::{Cut, LabelId, Labels, Path};

use crate::space::{Options, Space};

/// Reachability with decision diagrams.
pub struct SymbolicEngine;

/// Reachability with decision diagrams.
pub static SYMBOLIC: SymbolicEngine = SymbolicEngine;

impl Engine for SymbolicEngine {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn about(&self) -> &'static str {
        "sets of states as decision diagrams on every core; finding nothing is a proof"
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Reach => Ok(()),
            _ => Err(Refusal::new("the symbolic engine looks for states and steps, and compares no processes")),
        }
    }

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::KeepGoing);
        if asked.store.is_none_or(|store| store == Store::Exact) {
            asked.take(Setting::Store);
        }
        if asked.engine.is_some_and(|engine| engine.name() == self.name()) {
            asked.take(Setting::Engine);
        }
    }

    fn reason(&self, _: &Facts) -> String {
        "--engine asks for it".to_string()
    }

    fn prepare<'q>(&self, question: Question<'q>, terms: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        let Question::Reach(reach) = question else {
            return Err(Unanswered::refused("the symbolic engine takes only questions about what can be reached"));
        };
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
        control.progress().begin("exploring symbolically", 0);
        let options = Options { threads: self.threads, ..Options::default() };
        let mut space = Space::new(task.system, &options, control)?;
        let explored = space.explore(|kind| self.until.is_some_and(|goal| self.is_error(goal, kind)));
        if let Err(cut) = explored {
            let counts = self.counts(&space, false).unwrap_or_default();
            return Err(Unanswered::Cut { cut, counts: Box::new(counts) });
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
        let states = space.states().clone();
        let reached = match self.reach.goals[goal] {
            Goal::InvalidEnd => space.invalid_ends(&states)?,
            Goal::Error(kinds) => space.erring(&states, |kind| kinds.contains(kind))?,
        };
        if reached.is_empty() {
            return Ok(None);
        }
        let run = match self.reach.goals[goal] {
            Goal::InvalidEnd => space.run_to_invalid_end()?,
            Goal::Error(kinds) => space.run_to_error(|kind| kinds.contains(kind))?,
        };
        Ok(Some(run.expect("what was reached has a run")))
    }

    fn counts(&self, space: &Space<'_>, complete: bool) -> Result<Counts, Cut> {
        let states = space.count(space.states())?;
        let transitions = if complete { self.transitions(space)? } else { UBig::ZERO };
        let peak_nodes = space.diagrams().peak_nodes();
        Ok(Counts {
            states: u64::try_from(&states).unwrap_or(u64::MAX),
            transitions: u64::try_from(&transitions).unwrap_or(u64::MAX),
            levels: space.rounds(),
            symbolic: Some(SymbolicCounts {
                states: states.to_string(),
                transitions: transitions.to_string(),
                peak_nodes,
            }),
            ..Counts::default()
        })
    }

    /// As an explicit search counts them: with the step into the initial state, and without those that only show an
    /// error.
    fn transitions(&self, space: &Space<'_>) -> Result<UBig, Cut> {
        let broken = space.erring_steps(space.states(), |kind| self.reach.no_steps.contains(kind))?;
        Ok(space.transitions(space.states())? + UBig::ONE - broken)
    }
}
