//! What a solver needs of a game: sets of vertices, and how a player can force moves into them.
//!
//! Solvers that are written over [`Arena`] serve every representation of sets: bit vectors over a [`super::Game`] here
//! ([`super::Explicit`]), decision diagrams over symbolic games. An arena may be incomplete ([`Arena::incomplete`]): a
//! vertex of the opponent from which not all edges are known is never forced, so that what is computed stays true when
//! the game grows. The letters of chapter 4 of Laveaux, *Accelerated verification of concurrent systems*:
//!
//! | here | there |
//! |---|---|
//! | [`Arena::step`] among all vertices | `spre`; `cpre` when no vertex is incomplete |
//! | [`Arena::keep`] | `νZ.(X ∩ spre(Z))` |
//! | [`Arena::attract`] | `SAttr`; `Attr` when no vertex is incomplete; `MAttr` with candidates of some priorities |
//!
//! Edges that leave `within` do not count; a vertex of the opponent all of whose edges leave it is stuck there, and is
//! not forced either: callers keep the invariant that a subgame leaves no player without a move (it is what remains
//! after an attractor was removed) or treat sinks first ([`Arena::sinks`]).

use trefoil_control::Stopped;

use super::game::Player;
use super::layers::Layers;

/// A set of vertices.
pub trait VertexSet: Clone + PartialEq {
    /// Has it no vertex?
    fn is_empty(&self) -> bool;
    /// Adds the vertices of another set.
    fn unite(&mut self, other: &Self);
    /// Keeps the vertices of another set.
    fn intersect(&mut self, other: &Self);
    /// Removes the vertices of another set.
    fn subtract(&mut self, other: &Self);
    /// Are all its vertices in another set?
    fn is_subset(&self, other: &Self) -> bool;

    /// The vertices of this set that are not in another.
    fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }

    /// The vertices of this set that are in another, too.
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.intersect(other);
        both
    }
}

/// A game as solvers see it.
pub trait Arena {
    /// Sets of its vertices.
    type Set: VertexSet;
    /// Where a player moves from the vertices that it owns.
    type Strategy;
    /// Layers of its vertices: [`super::SetLayers`], or what serves its representation of sets better.
    type Layers<'l>: Layers<Self::Set, Self::Strategy>
    where
        Self: 'l;

    /// No vertex.
    fn none(&self) -> Self::Set;

    /// All vertices.
    fn all(&self) -> Self::Set;

    /// The vertices that a player owns.
    fn owned_by(&self, player: Player) -> Self::Set;

    /// The vertices without any edge.
    fn sinks(&self) -> Self::Set;

    /// The vertices that may have further edges.
    fn incomplete(&self) -> Self::Set;

    /// How many levels of priorities there are; level 0 is the least priority.
    fn levels(&self) -> u32;

    /// The player that a level is good for; it alternates.
    fn player_of(&self, level: u32) -> Player;

    /// The vertices of a set with a level.
    fn at_level(&self, level: u32, within: &Self::Set) -> Self::Set;

    /// The least level that occurs in a set.
    fn least_level(&self, within: &Self::Set) -> Option<u32>;

    /// A strategy that says nothing yet.
    fn blank(&self) -> Self::Strategy;

    /// Those vertices of `among` from which the player forces the next move into `target`, by an own move (recorded in
    /// `strategy`) or because the opponent has moves, all of them known, all of them into `target`.
    fn step(
        &self,
        player: Player,
        within: &Self::Set,
        among: &Self::Set,
        target: &Self::Set,
        strategy: &mut Self::Strategy,
    ) -> Result<Self::Set, Stopped>;

    /// Adds to `set` the vertices of `candidates` from which the player forces a play into it through `candidates`.
    fn attract(
        &self,
        player: Player,
        within: &Self::Set,
        candidates: &Self::Set,
        set: &mut Self::Set,
        strategy: &mut Self::Strategy,
    ) -> Result<(), Stopped>;

    /// Reduces `set` to its greatest part in which the player can force every play to stay, by known moves: from each
    /// of its vertices the next move can be forced into it. Records the moves.
    fn keep(
        &self,
        player: Player,
        within: &Self::Set,
        set: &mut Self::Set,
        strategy: &mut Self::Strategy,
    ) -> Result<(), Stopped> {
        loop {
            let next = self.step(player, within, set, set, strategy)?;
            if next == *set {
                return Ok(());
            }
            *set = next;
        }
    }

    /// The same game with every vertex counted as complete: for subgames that no unknown edge can leave.
    fn completed(&self) -> Self
    where
        Self: Sized;

    /// No layer, and these vertices, in which no player may be stuck, as the open ones.
    fn layers(&self, open: Self::Set) -> Result<Self::Layers<'_>, Stopped>;

    /// Must the solver end? To be called in every loop that calls nothing else that may fail.
    fn poll(&self) -> Result<(), Stopped>;
}
