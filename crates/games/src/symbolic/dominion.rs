//! Verifies with sets that a player wins what it is said to win: for strategies that are too large to write down.
//!
//! A set W with a trail is won by α when
//!
//! 1. it is a trap for the opponent: the opponent's vertices in it are complete, and none has an edge out of it;
//! 2. every vertex of α in it has an entry, which leads into W, and an edge into the set that the entry names;
//! 3. no cycle that is left when α follows its entries, whichever edge into the named sets it takes, and the opponent
//!    any edge, has a least priority that is good for the opponent.
//!
//! For 3, let the heads be the vertices of one level of the opponent. From where can one reach them along edges that
//! are left, through vertices of this level and of greater ones? Heads from which no edge leads there are on no such
//! cycle, and are no heads any more; when all are gone, there is no such cycle (Emerson and Lei, *Efficient model
//! checking in fragments of the propositional mu-calculus*, 1986).
//!
//! It shares only the predecessors of sets with the solvers. Cost: each level of the opponent takes one backward search
//! per round that removes heads, and each step of a search visits all entries of the trail.

use trefoil_control::Stopped;

use super::arena::SymbolicArena;
use super::growing::GrowingGame;
use super::sets::DiagramSet;
use crate::solve::{Arena, Player, VertexSet};

/// What is wrong with what a player is said to win, if anything.
pub fn find_dominion_flaw(game: &GrowingGame<'_>, player: Player) -> Result<Option<&'static str>, Stopped> {
    let arena = game.arena();
    let won = game.won(player);
    let opponents = won.and(&arena.owned_by(player.opponent()));
    if !opponents.and(&arena.incomplete()).is_empty() {
        return Ok(Some("the loser owns a vertex that may have further edges"));
    }
    if !arena.sources(&arena.all().without(won), &opponents)?.is_empty() {
        return Ok(Some("the loser can leave what the winner wins"));
    }
    let mut left = won.and(&arena.owned_by(player));
    let mut moves = Vec::new();
    for (from, into) in game.trail().entries_of(player).rev() {
        let part = from.and(&left);
        if part.is_empty() {
            continue;
        }
        if !into.is_subset(won) {
            return Ok(Some("a move of the winner leaves what it wins"));
        }
        if !arena.avoiding(into, &part)?.is_empty() {
            return Ok(Some("a move of the winner is not an edge"));
        }
        left.subtract(&part);
        moves.push((part, into.clone()));
    }
    arena.poll()?;
    if !left.is_empty() {
        return Ok(Some("the winner owns a vertex and has no move there"));
    }
    let played = Left { arena: &arena, opponents, moves };
    let mut region = arena.none();
    for level in (0..arena.levels()).rev() {
        let here = arena.at_level(level, won);
        region.unite(&here);
        if arena.player_of(level) != player && !played.is_free_of_cycles(here, &region)? {
            return Ok(Some("the loser can force a cycle whose least priority is good for it"));
        }
    }
    arena.poll()?;
    Ok(None)
}

/// The edges that are left when a player follows its trail.
struct Left<'g, 'a, 's> {
    arena: &'g SymbolicArena<'a, 's>,
    opponents: DiagramSet,
    /// Vertices of the player, and where it moves from them.
    moves: Vec<(DiagramSet, DiagramSet)>,
}

impl Left<'_, '_, '_> {
    /// The vertices of a set with an edge into another.
    fn sources(&self, target: &DiagramSet, within: &DiagramSet) -> Result<DiagramSet, Stopped> {
        let mut found = self.arena.sources(target, &self.opponents.and(within))?;
        for (from, into) in &self.moves {
            let from = from.and(within);
            if !from.is_empty() {
                found.unite(&self.arena.sources(&into.and(target), &from)?);
            }
        }
        Ok(found)
    }

    /// Is none of these vertices on a cycle inside the region?
    fn is_free_of_cycles(&self, mut heads: DiagramSet, region: &DiagramSet) -> Result<bool, Stopped> {
        while !heads.is_empty() {
            self.arena.poll()?;
            let (mut reaching, mut new) = (self.arena.none(), heads.clone());
            while !new.is_empty() {
                new = self.sources(&new, &region.without(&reaching))?;
                reaching.unite(&new);
            }
            let returning = heads.and(&reaching);
            if returning == heads {
                return Ok(false);
            }
            heads = returning;
        }
        Ok(true)
    }
}
