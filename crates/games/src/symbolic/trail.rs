//! How a player wins, as sets.
//!
//! A strategy as a relation is as large as the game, and most of it is never looked at. So a [`Trail`] has only what
//! solvers compute anyway: the layers of attractors, and the sets in which a player keeps a play. An entry says that
//! from the vertices of one set a player moves into another one; of several entries for a vertex the last one holds. A
//! move is chosen when a walk reaches a vertex, among its successors ([`super::evidence`]).
//!
//! This is what solvers over explicit games record, too, with one move in place of a set of them: a solver that is
//! right whichever of the moves is recorded there is right here.
//!
//! After each run of a solver, entries are cut down to what the player has won in it ([`Trail::keep_won`]).

use crate::solve::{Player, VertexSet};

use super::sets::DiagramSet;

/// Where players move.
#[derive(Clone, Default)]
pub struct Trail {
    /// Whose entries are wanted.
    wanted: [bool; 2],
    entries: Vec<Entry>,
}

/// From the vertices of a set, those that the player owns and those at which the opponent has no choice, the next
/// vertex is in another set.
#[derive(Clone)]
struct Entry {
    player: Player,
    from: DiagramSet,
    into: DiagramSet,
}

impl Trail {
    /// A trail for these players.
    pub fn of(wanted: [bool; 2]) -> Trail {
        Trail { wanted, entries: Vec::new() }
    }

    /// Is nothing recorded?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Are moves of this player recorded?
    pub fn wants(&self, player: Player) -> bool {
        self.wanted[player.index()]
    }

    pub(super) fn record(&mut self, player: Player, from: &DiagramSet, into: &DiagramSet) {
        if self.wants(player) && !from.is_empty() {
            self.entries.push(Entry { player, from: from.clone(), into: into.clone() });
        }
    }

    /// Keeps of the entries only what is about vertices that their players have won.
    pub(super) fn keep_won(&mut self, won: &[DiagramSet; 2]) {
        for entry in &mut self.entries {
            entry.from.intersect(&won[entry.player.index()]);
        }
        self.entries.retain(|entry| !entry.from.is_empty());
    }

    /// Puts the slots of all sets into another order: for each slot the one that it was before.
    pub(super) fn reorder(&mut self, moved: &[usize]) {
        for entry in &mut self.entries {
            entry.from.reorder(moved);
            entry.into.reorder(moved);
        }
    }

    /// Appends what was recorded later.
    pub(super) fn append(&mut self, mut later: Trail) {
        self.entries.append(&mut later.entries);
    }

    /// The entries of a player: from where, and into what it moves.
    pub(super) fn entries_of(&self, player: Player) -> impl DoubleEndedIterator<Item = (&DiagramSet, &DiagramSet)> {
        self.entries.iter().filter(move |entry| entry.player == player).map(|entry| (&entry.from, &entry.into))
    }

    /// The number of the last entry of a player for the vertex that `has` knows, and where it leads.
    pub(super) fn last(&self, player: Player, has: impl Fn(&DiagramSet) -> bool) -> Option<(usize, &DiagramSet)> {
        let mut entries = self.entries.iter().enumerate().rev();
        let found = entries.find(|(_, entry)| entry.player == player && has(&entry.from));
        found.map(|(number, entry)| (number, &entry.into))
    }
}
