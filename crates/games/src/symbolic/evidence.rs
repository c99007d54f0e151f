//! From a trail of sets to a strategy that a person can read and a program can replay.
//!
//! The game is walked from the initial vertex, on the system itself: from a vertex of the loser along all its steps,
//! from a vertex of the winner along one, which is chosen now: into the set that the last entry of the trail for the
//! vertex names. Of several such steps the one is taken whose vertex was attracted first, which keeps plays short, and
//! of several of those the first in the order of the system. So the walk shares nothing with the solver but the trail,
//! and what it gives is a strategy of the explicit game, which the verifier of strategies checks.
//!
//! A strategy that reaches too much is not written down. Then what is won is verified with sets
//! ([`super::dominion`]), and one play is walked: the loser takes its first step each time, until a player has none or
//! the play comes back.
//!
//! Cost: linear in what the strategy reaches, times the entries of the trail.

use std::collections::HashMap;

use trefoil_control::Control;
use trefoil_system::{Cut, System, Value};

use super::dominion::find_dominion_flaw;
use super::growing::GrowingGame;
use crate::solve::{MarkReader, Played, PlayedMove, PlayedVertex, Player};

/// What was walked.
pub(super) struct Walked {
    pub(super) played: Played,
    /// Is that all that can be reached, or one play?
    pub(super) is_whole: bool,
}

/// What can be reached when the winner follows the trail, verified; one play of it if that is more than `most`
/// vertices.
pub(super) fn played(
    system: &dyn System,
    game: &GrowingGame<'_>,
    winner: Player,
    most: usize,
    control: &Control,
) -> Result<Walked, Cut> {
    if let Some(played) = walked(system, game, winner, most, false, control)? {
        played.verify(control)?;
        return Ok(Walked { played, is_whole: true });
    }
    if let Some(flaw) = find_dominion_flaw(game, winner)? {
        panic!("what the solver won is wrong: {flaw}");
    }
    let played = walked(system, game, winner, usize::MAX, true, control)?.expect("one play has no limit");
    Ok(Walked { played, is_whole: false })
}

/// What can be reached, or one play; nothing if that is more than `most` vertices.
fn walked(
    system: &dyn System,
    game: &GrowingGame<'_>,
    winner: Player,
    most: usize,
    one_play: bool,
    control: &Control,
) -> Result<Option<Played>, Cut> {
    let (space, trail) = (game.space(), game.trail());
    let mut explorer = system.explorer(control);
    let [mut owners, mut priorities] = MarkReader::of_game(system);
    let last = |row: &[Value]| trail.last(winner, |set| space.contains(set.diagram(), row));
    let mut numbers: HashMap<Vec<Value>, usize> = HashMap::new();
    let initial = system.initial(control)?;
    numbers.insert(initial.clone(), 0);
    let mut waiting = vec![initial];
    let mut vertices: Vec<PlayedVertex> = Vec::new();
    while let Some(row) = waiting.get(vertices.len()).cloned() {
        control.check()?;
        if waiting.len() > most {
            return Ok(None);
        }
        let owner = if owners.read(&row, &mut *explorer)? == 0 { Player::Even } else { Player::Odd };
        let priority = priorities.read(&row, &mut *explorer)?;
        let mut steps = Vec::new();
        explorer.successors(&row, &mut |step| {
            steps.push((step.label, step.group, step.row.to_vec()));
            Ok(())
        })?;
        if owner == winner {
            let (_, into) = last(&row).expect("the trail has every vertex that its player wins and owns");
            steps.retain(|(.., target)| space.contains(into.diagram(), target));
            // What no entry has was won from the beginning: a vertex in which the opponent is stuck.
            let rank = |target: &[Value]| last(target).map_or(0, |(number, _)| number + 1);
            let best = (0..steps.len()).min_by_key(|&at| rank(&steps[at].2));
            let best = best.expect("a vertex of the trail has a step to where it leads");
            steps = vec![steps.swap_remove(best)];
        } else if one_play {
            steps.truncate(1);
        }
        let mut moves = Vec::new();
        for (label, group, target) in steps {
            let next = waiting.len();
            let target = *numbers.entry(target).or_insert_with_key(|target| {
                waiting.push(target.clone());
                next
            });
            moves.push(PlayedMove { label, group, target });
        }
        vertices.push(PlayedVertex { row, owner, priority, moves });
    }
    Ok(Some(Played { winner, vertices }))
}
