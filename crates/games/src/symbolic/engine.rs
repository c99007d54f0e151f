//! The engine for parity games with diagrams, as the table of engines sees it.
//!
//! `--engine symbolic` asks for it, `--solver` for one of its partial solvers. Where Odd wins, its strategy is the
//! evidence, and where Even wins, its strategy on request, walked on the system and verified there
//! ([`super::evidence`]).

use std::time::Instant;

use trefoil_control::{Control, Stopped, digits};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, EngineChoice, Evidence, Facts, Found, GameSolver, Kind, Prepared, Question, Ready,
    Refusal, Setting, SymbolicCounts, Task, Terms, Unanswered,
};
use trefoil_system::{LabelId, Labels};

use super::deciding::{SolverChoice, SymbolicDeciding, SymbolicGameCounts, decide_symbolically};
use crate::engine::strategy;
use crate::solve::{PartialSolver, Player, Wanted};

/// Explores a parity game with decision diagrams and solves it.
pub struct SymbolicGameEngine;

/// The engine for parity games with decision diagrams.
pub static SYMBOLIC_GAME: SymbolicGameEngine = SymbolicGameEngine;

impl Engine for SymbolicGameEngine {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn family(&self) -> EngineChoice {
        EngineChoice::Symbolic
    }

    fn about(&self) -> &'static str {
        "vertices of games as decision diagrams on every core; solves the incomplete game while exploring"
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Win => Ok(()),
            _ => Err(Refusal::new("this engine takes only parity games")),
        }
    }

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::Solver);
        asked.take(Setting::Witness);
    }

    fn reason(&self, _: &Facts) -> String {
        "--engine asks for it".to_string()
    }

    fn prepare<'q>(&self, question: Question<'q>, terms: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        let Question::Win = question else { return Err(Unanswered::refused("this engine takes only parity games")) };
        let solver = match terms.asked.solver {
            None | Some(GameSolver::Automatic) => SolverChoice::Automatic,
            Some(GameSolver::Sinks) => SolverChoice::Always(PartialSolver::Known),
            Some(GameSolver::Solitaire) => SolverChoice::Always(PartialSolver::Solitaire),
            Some(GameSolver::Forced) => SolverChoice::Always(PartialSolver::Forced),
            Some(GameSolver::Fatal) => SolverChoice::Always(PartialSolver::Fatal),
            Some(GameSolver::Recursive) => SolverChoice::Always(PartialSolver::Safe),
            Some(GameSolver::Full) => SolverChoice::AtTheEnd,
        };
        let wanted = if terms.asked.witness { Wanted::Winner } else { Wanted::Of(Player::Odd) };
        let options = SymbolicDeciding { threads: terms.threads, solver, wanted, ..SymbolicDeciding::default() };
        Ok(Ready::Ready(Box::new(SymbolicPlaying { options })))
    }
}

struct SymbolicPlaying {
    options: SymbolicDeciding,
}

impl Prepared for SymbolicPlaying {
    /// No symmetries are used: no row of the table combines this engine with one.
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Err("the symbolic engine uses no symmetries".to_string()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        control.check()?;
        control.progress().begin("exploring symbolically", 0);
        control.progress().counts_vertices();
        let decision = decide_symbolically(task.system, &self.options, control).map_err(|undecided| {
            let solver = Some(undecided.solver);
            let counts = Counts { elapsed: started.elapsed(), solver, ..counted(&undecided.counts) };
            Unanswered::Cut { cut: undecided.cut, counts: Box::new(counts) }
        })?;
        let mut answer = Answer::new(SYMBOLIC_GAME.name(), 1);
        answer.complete = !decision.early;
        answer.solver = Some(decision.solver);
        answer.counts = counted(&decision.counts);
        let when = if decision.early { "before all vertices were explored" } else { "at the end" };
        answer.notes.push(format!("decided by {} {when}: {}", decision.solver, decision.why));
        let (exploring, solving) = (decision.counts.exploring, decision.counts.solving);
        answer.notes.push(format!(
            "explored for {:.2} s in {}, solved for {:.2} s in {}",
            exploring.as_secs_f64(),
            trefoil_control::counted(decision.counts.rounds, "round"),
            solving.as_secs_f64(),
            trefoil_control::counted(u64::from(decision.counts.calls), "call")
        ));
        let shown = decision.played.map(|played| {
            let mut shown = strategy(&played);
            if decision.is_one_play {
                shown.positions = u64::try_from(&decision.won).unwrap_or(u64::MAX);
                shown.has_choices = true;
                answer.notes.push(format!(
                    "the winner's {} vertices were verified as sets; one play of them is shown",
                    digits(&decision.won.to_string())
                ));
            }
            shown
        });
        answer.found[0] = match (decision.winner, shown) {
            (Player::Odd, Some(shown)) => Found::Fails(Evidence::Strategy(shown)),
            (Player::Odd, None) => unreachable!("the strategy of Odd is wanted"),
            (Player::Even, Some(shown)) => Found::Won(shown),
            (Player::Even, None) => Found::Holds(None),
        };
        answer.counts.elapsed = started.elapsed();
        Ok(answer)
    }
}

fn counted(counts: &SymbolicGameCounts) -> Counts {
    Counts {
        states: u64::try_from(&counts.vertices).unwrap_or(u64::MAX),
        transitions: u64::try_from(&counts.edges).unwrap_or(u64::MAX),
        levels: counts.rounds,
        symbolic: Some(SymbolicCounts {
            states: counts.vertices.to_string(),
            transitions: counts.edges.to_string(),
            peak_nodes: counts.peak_nodes,
        }),
        ..Counts::default()
    }
}
