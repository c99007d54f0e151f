//! The engine for parity games, as the table of engines sees it.
//!
//! A system with the marks of owners and priorities is explored and solved at the same time ([`crate::solve::decide`]).
//! Where Odd wins, its strategy is the evidence, and where Even wins, its strategy on request; the verifier of
//! strategies has accepted it before it is given.

use std::collections::HashMap;
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Facts, Found, Kind, Prepared, Question, Ready, Refusal, Setting, Strategy,
    StrategyVertex, Task, Terms, Unanswered,
};
use trefoil_system::{LabelId, Labels, Path, TakenStep};

use crate::solve::{Deciding, GameCounts, Played, Player, Wanted, decide};

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

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::Witness);
    }

    fn reason(&self, _: &Facts) -> String {
        "a formula and a model are a parity game".to_string()
    }

    fn prepare<'q>(&self, question: Question<'q>, terms: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        match question {
            Question::Win => {
                Ok(Ready::Ready(Box::new(Playing { threads: terms.threads, witness: terms.asked.witness })))
            }
            _ => Err(Unanswered::refused("game takes only parity games")),
        }
    }
}

struct Playing {
    threads: usize,
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
        control.progress().begin("solving", 0);
        let wanted = if self.witness { Wanted::Winner } else { Wanted::Of(Player::Odd) };
        let options = Deciding { threads: self.threads, wanted, ..Deciding::default() };
        let decision = decide(task.system, &options, control)
            .map_err(|undecided| Unanswered::Cut { cut: undecided.cut, counts: Box::new(counted(undecided.counts)) })?;
        let mut answer = Answer::new(GAME.name(), 1);
        answer.complete = !decision.early;
        answer.counts = Counts { elapsed: started.elapsed(), ..counted(decision.counts) };
        answer.found[0] = match (decision.winner, decision.played) {
            (Player::Odd, Some(played)) => Found::Fails(Evidence::Strategy(strategy(&played))),
            (Player::Odd, None) => unreachable!("the strategy of the winner is wanted"),
            (Player::Even, Some(played)) => Found::Won(strategy(&played)),
            (Player::Even, None) => Found::Holds(None),
        };
        answer.notes.push(match decision.early {
            true => format!("decided by {} before all vertices were explored", decision.solver),
            false => format!("decided by {}", decision.solver),
        });
        Ok(answer)
    }
}

fn counted(counts: GameCounts) -> Counts {
    Counts { states: counts.vertices, transitions: counts.moves, levels: u64::from(counts.depth), ..Counts::default() }
}

/// A strategy, with one play of it.
fn strategy(played: &Played) -> Strategy {
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
    Strategy { vertices, play, groups, back_to, has_choices }
}
