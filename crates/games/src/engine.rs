//! The engine for parity games, as the table of engines sees it.
//!
//! A system with the marks of owners and priorities is explored and solved at the same time ([`crate::solve::decide`]).
//! Where Odd wins, its strategy is the evidence, and where Even wins, its strategy on request; the verifier of
//! strategies has accepted it before it is given.
//!
//! By symmetry, the quotient of the game is decided first, and no strategy is looked for in it. Where no evidence is
//! wanted, that is the answer; evidence is found by deciding the game itself, so that nothing has to be carried back.
//! A quotient that cannot be explored to its end ([`Cut::Beyond`]) is refused, and the game itself decides.

use std::collections::HashMap;
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Facts, Found, GameBytes, GameSolver, Kind, Prepared, Question, Ready,
    Refusal, Setting, Strategy, StrategyVertex, Task, Terms, Unanswered, UsedSymmetry,
};
use trefoil_symmetry::{Quotient, Symmetry, strategy_named};
use trefoil_system::{Cut, LabelId, Labels, Path, System, TakenStep};

use crate::solve::{Deciding, Decision, GameCounts, PartialSolver, Played, Player, Undecided, Wanted, decide};

/// Explores a parity game and solves it.
pub struct GameEngine;

/// The engine for parity games.
pub static GAME: GameEngine = GameEngine;

impl Engine for GameEngine {
    fn name(&self) -> &'static str {
        "game"
    }

    fn about(&self) -> &'static str {
        "explores on every core and solves the incomplete game meanwhile; then a solver for complete games"
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Win => Ok(()),
            _ => Err(Refusal::new("game takes only parity games")),
        }
    }

    fn reduces_by_symmetry(&self) -> bool {
        true
    }

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::Witness);
        asked.take(Setting::Solver);
    }

    fn reason(&self, _: &Facts) -> String {
        "a formula and a model are a parity game".to_string()
    }

    fn prepare<'q>(&self, question: Question<'q>, terms: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        match question {
            Question::Win => {
                let partial = match terms.asked.solver {
                    None | Some(GameSolver::Automatic | GameSolver::Recursive) => Some(PartialSolver::Safe),
                    Some(GameSolver::Sinks) => Some(PartialSolver::Known),
                    Some(GameSolver::Solitaire) => Some(PartialSolver::Solitaire),
                    Some(GameSolver::Forced) => Some(PartialSolver::Forced),
                    Some(GameSolver::Fatal) => Some(PartialSolver::Fatal),
                    Some(GameSolver::Full) => None,
                };
                Ok(Ready::Ready(Box::new(Playing { threads: terms.threads, partial, witness: terms.asked.witness })))
            }
            _ => Err(Unanswered::refused("game takes only parity games")),
        }
    }
}

struct Playing {
    threads: usize,
    /// What is looked for while exploring.
    partial: Option<PartialSolver>,
    /// Is Even's strategy wanted, too?
    witness: bool,
}

impl Prepared for Playing {
    /// A game looks at marks and not at labels.
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Ok(()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        let mut expected = None;
        if let Some(strategy) = task.strategy {
            match self.of_orbits(task.system, strategy, started, control)? {
                Ok(answer) => return Ok(*answer),
                Err(winner) => expected = Some(winner),
            }
        }
        control.progress().begin("solving", 0);
        control.progress().counts_vertices();
        let wanted = if self.witness { Wanted::Winner } else { Wanted::Of(Player::Odd) };
        let options = Deciding { threads: self.threads, partial: self.partial, wanted, ..Deciding::default() };
        let system = task.itself.map_or(task.system, |itself| &**itself);
        let decision = decide(system, &options, control).map_err(|undecided| cut(undecided, &options))?;
        assert!(expected.is_none_or(|winner| winner == decision.winner), "the quotient of a game has another winner");
        let mut answer = described(&decision, started);
        answer.found[0] = match (decision.winner, decision.played) {
            (Player::Odd, Some(played)) => Found::Fails(Evidence::Strategy(strategy(&played))),
            (Player::Odd, None) => unreachable!("the strategy of the winner is wanted"),
            (Player::Even, Some(played)) => Found::Won(strategy(&played)),
            (Player::Even, None) => Found::Holds(None),
        };
        Ok(answer)
    }
}

impl Playing {
    /// The answer of one vertex of each orbit; only the winner where evidence is wanted.
    fn of_orbits(
        &self,
        system: &dyn System,
        strategy: &str,
        started: Instant,
        control: &Control,
    ) -> Result<Result<Box<Answer>, Player>, Unanswered> {
        let Some(action) = system.action() else {
            return Err(Unanswered::refused("no symmetry of this game was proved, so it cannot be reduced by one"));
        };
        let Some(strategy) = strategy_named(strategy) else {
            return Err(Unanswered::refused(format!("there is no strategy {strategy}")));
        };
        let symmetry = Symmetry::of_action(action, strategy, control).map_err(|refusal| match refusal {
            trefoil_symmetry::Refusal::Unsuitable(why) => Unanswered::refused(why),
            trefoil_symmetry::Refusal::Stopped(stopped) => Unanswered::from(stopped),
        })?;
        control.progress().begin("solving", 0);
        control.progress().counts_vertices();
        let quotient = Quotient::new(system, action, &symmetry, control)?;
        let options =
            Deciding { threads: self.threads, partial: self.partial, wanted: Wanted::Nothing, ..Deciding::default() };
        let decision = decide(&quotient, &options, control).map_err(|undecided| match &undecided.cut {
            // A label was met that the formula tells from its image.
            Cut::Beyond(why) => Unanswered::refused(why.message.clone()),
            _ => cut(undecided, &options),
        })?;
        if decision.winner == Player::Odd || self.witness {
            return Ok(Err(decision.winner));
        }
        let mut answer = described(&decision, started);
        answer.found[0] = Found::Holds(None);
        answer.symmetry = Some(UsedSymmetry {
            order: symmetry.order().to_string(),
            structure: symmetry.structure().name(),
            strategy: symmetry.strategy().name,
            reason: symmetry.reason().to_string(),
            total_states: None,
            orbits: Vec::new(),
        });
        Ok(Ok(Box::new(answer)))
    }
}

/// An answer with the counts and the solver of a decision, and without a verdict.
fn described(decision: &Decision, started: Instant) -> Answer {
    let mut answer = Answer::new(GAME.name(), 1);
    answer.complete = !decision.early;
    answer.counts = Counts { elapsed: started.elapsed(), ..counted(decision.counts) };
    answer.solver = Some(decision.solver);
    answer.notes.push(match decision.early {
        true => format!("decided by {} before all vertices were explored", decision.solver),
        false => format!("decided by {}", decision.solver),
    });
    answer
}

/// A game that was not decided.
fn cut(undecided: Undecided, options: &Deciding) -> Unanswered {
    let counts = Counts { solver: Some(options.solver.name), ..counted(undecided.counts) };
    Unanswered::Cut { cut: undecided.cut, counts: Box::new(counts) }
}

fn counted(counts: GameCounts) -> Counts {
    Counts {
        states: counts.vertices,
        transitions: counts.moves,
        levels: u64::from(counts.depth),
        bytes: Some(counts.store_bytes),
        game: Some(GameBytes { most: counts.bytes, partial: counts.partial_bytes }),
        ..Counts::default()
    }
}

/// A strategy, with one play of it.
pub(crate) fn strategy(played: &Played) -> Strategy {
    let vertices: Vec<StrategyVertex> = played
        .vertices
        .iter()
        .map(|vertex| StrategyVertex {
            row: vertex.row.clone(),
            winner_moves: vertex.owner == played.winner,
            moves: vertex.moves.iter().map(|taken| (taken.group, taken.label, taken.target)).collect(),
        })
        .collect();
    let mut play = Path { start: vertices[0].row.clone(), steps: Vec::new() };
    let mut groups = Vec::new();
    let mut seen = HashMap::from([(0, 0)]);
    let (mut at, mut back_to) = (0, None);
    while let Some(&(group, label, target)) = vertices[at].moves.first() {
        groups.push(group);
        play.steps.push(TakenStep { label, row: vertices[target].row.clone() });
        if let Some(&before) = seen.get(&target) {
            back_to = Some(before);
            break;
        }
        seen.insert(target, play.steps.len());
        at = target;
    }
    let has_choices = vertices.iter().any(|vertex| vertex.moves.len() > 1);
    let positions = vertices.len() as u64;
    Strategy { vertices, positions, play, groups, back_to, has_choices }
}
