//! Fixpoint iteration over distractions, with freezing, over any representation of sets.
//!
//! Van Dijk and Rubbens, *Simple fixpoint iteration to solve parity games* (2019). Every vertex is believed to be won
//! by the player that its priority is good for, except the *distractions*, which are believed to be won by the other
//! one. Beginning with the greatest priority (the least important), the vertices of a priority from which the believed
//! winner cannot force the next move to a vertex that is believed to be its own become distractions. That was decided
//! with beliefs about greater priorities that may now be wrong: those of them that the loser of the new distractions is
//! believed to win are reset, the others are *frozen* (they stay as they are until this priority has no new
//! distractions), and the iteration begins again at the greatest priority. When the least priority has no new
//! distractions, the beliefs are true.
//!
//! Freezing makes the recorded moves a strategy: a vertex keeps the move of the round that decided it.
//!
//! Cost: exponential in the number of levels at worst; a set for each level, and one more for each level that has
//! frozen vertices.

use trefoil_control::Stopped;

use super::arena::{Arena, VertexSet};
use super::game::Player;

/// The sets that the two players win of `within`, and their moves. Neither player may be stuck in `within`.
pub fn fixpoint<A: Arena>(arena: &A, within: A::Set, strategy: &mut A::Strategy) -> Result<[A::Set; 2], Stopped> {
    let levels = arena.levels() as usize;
    let mut blocks: Vec<A::Set> = Vec::new();
    for level in 0..levels as u32 {
        arena.poll()?;
        blocks.push(arena.at_level(level, &within));
    }
    let mut frozen: Vec<Option<A::Set>> = vec![None; levels];
    let mut all_frozen = arena.none();
    // What each player is believed to win.
    let mut won = [arena.none(), arena.none()];
    for (level, block) in blocks.iter().enumerate() {
        won[arena.player_of(level as u32).index()].unite(block);
    }
    // How many levels, counted from the least important one, are known to have no new distractions.
    let mut settled = 0;
    while settled < levels {
        arena.poll()?;
        let level = levels - 1 - settled;
        let player = arena.player_of(level as u32);
        let believed = blocks[level].and(&won[player.index()]).without(&all_frozen);
        let kept = arena.step(player, &within, &believed, &won[player.index()], strategy)?;
        let lost = believed.without(&kept);
        if lost.is_empty() {
            if let Some(thawed) = frozen[level].take() {
                all_frozen.subtract(&thawed);
            }
            settled += 1;
            continue;
        }
        let opponent = player.opponent();
        arena.step(opponent, &within, &lost, &won[opponent.index()], strategy)?;
        exchange(&mut won, player, &lost);
        let frost = frozen[level].get_or_insert_with(|| arena.none());
        for other in level + 1..levels {
            let open = blocks[other].without(&all_frozen);
            frost.unite(&open.and(&won[opponent.index()]));
            if arena.player_of(other as u32) == opponent {
                let reset = open.and(&won[player.index()]);
                exchange(&mut won, player, &reset);
            }
        }
        // A vertex that was reset belongs to the opponent now, but is not frozen.
        all_frozen.unite(frost);
        settled = 0;
    }
    Ok(won)
}

/// Moves vertices from what a player is believed to win to what the other is.
fn exchange<S: VertexSet>(won: &mut [S; 2], from: Player, vertices: &S) {
    won[from.index()].subtract(vertices);
    won[from.opponent().index()].unite(vertices);
}
