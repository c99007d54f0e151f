//! The arena of a game whose vertices are a diagram: attractors by images backwards.
//!
//! A step backwards from a set goes through the relations of a [`Space`], one after the other, and looks for sources in
//! a set only. So a vertex of the opponent is examined when a successor of it was attracted, as over explicit games:
//! among the sources of what is new, those go that have a source of what is still outside.
//!
//! Own vertices are attracted by *chaining*: what one relation brings is at once what the next one begins with, the
//! last relation first. Each application of a relation is a layer of its own in the [`Trail`], from which every move
//! goes to an earlier layer; so chaining needs no other evidence.
//!
//! To reduce a set to what a player can keep, its vertices without a move inside are removed, and from then on only the
//! sources of what was removed last are looked at.
//!
//! Cost: an attractor takes a step backwards for each of its layers; the sets are whatever diagrams make of them.
//! [`SymbolicArena::work`] adds up the sizes of the diagrams that steps begin with, which depends on no clock and no
//! thread.

use std::cell::Cell;
use std::rc::Rc;

use trefoil_control::Stopped;
use trefoil_diagrams::Set;
use trefoil_symbolic::Space;

use super::sets::{DiagramSet, Pool};
use super::trail::Trail;
use crate::solve::{Arena, Player, SetLayers, VertexSet};

/// A game as an arena.
pub struct SymbolicArena<'a, 's> {
    pub(super) space: &'a Space<'s>,
    pub(super) pool: Rc<Pool>,
    pub(super) all: DiagramSet,
    pub(super) owned: [DiagramSet; 2],
    /// The complete vertices without moves.
    pub(super) sinks: DiagramSet,
    pub(super) incomplete: DiagramSet,
    /// The levels with the players that they are good for.
    pub(super) levels: Rc<[(Player, DiagramSet)]>,
    /// Whose moves are recorded.
    pub(super) recorded: [bool; 2],
    pub(super) work: Rc<Cell<u64>>,
}

impl SymbolicArena<'_, '_> {
    fn set(&self, set: Set) -> DiagramSet {
        DiagramSet::new(set, &self.pool)
    }

    /// How much work was done, in nodes of diagrams.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    fn charge(&self, target: &DiagramSet) {
        let nodes = self.pool.diagrams().nodes(target.diagram()) as u64;
        self.work.set(self.work.get() + (1 + nodes) * self.space.relations().count() as u64);
    }

    /// The vertices of `within` with an edge into `target`.
    pub(super) fn sources(&self, target: &DiagramSet, within: &DiagramSet) -> Result<DiagramSet, Stopped> {
        let mut found = self.none();
        if target.is_empty() {
            return Ok(found);
        }
        self.charge(target);
        let diagrams = self.pool.diagrams();
        let mut rest = within.clone();
        for relation in self.space.relations() {
            if rest.is_empty() {
                break;
            }
            let part = self.set(diagrams.preimage(target.diagram(), relation, rest.diagram())?);
            rest.subtract(&part);
            found.unite(&part);
        }
        self.pool.check()?;
        Ok(found)
    }

    /// The vertices of `among` without an edge into `target`.
    pub(super) fn avoiding(&self, target: &DiagramSet, among: &DiagramSet) -> Result<DiagramSet, Stopped> {
        let mut left = among.clone();
        if target.is_empty() || left.is_empty() {
            return Ok(left);
        }
        self.charge(target);
        let diagrams = self.pool.diagrams();
        for relation in self.space.relations() {
            if left.is_empty() {
                break;
            }
            let part = self.set(diagrams.preimage(target.diagram(), relation, left.diagram())?);
            left.subtract(&part);
        }
        self.pool.check()?;
        Ok(left)
    }

    /// Adds the vertices of `among` with a run into `new` along edges inside `among` and `new` of which each comes from
    /// an earlier relation than the one before it; `set` grows by them.
    fn chain(
        &self,
        player: Player,
        new: &DiagramSet,
        among: &DiagramSet,
        set: &mut DiagramSet,
        trail: &mut Trail,
    ) -> Result<DiagramSet, Stopped> {
        let mut added = self.none();
        let mut rest = among.without(set);
        if rest.is_empty() {
            return Ok(added);
        }
        self.charge(new);
        let diagrams = self.pool.diagrams();
        let mut target = new.clone();
        for relation in self.space.relations().rev() {
            if rest.is_empty() {
                break;
            }
            let part = self.set(diagrams.preimage(target.diagram(), relation, rest.diagram())?);
            if part.is_empty() {
                continue;
            }
            trail.record(player, &part, set);
            rest.subtract(&part);
            target.unite(&part);
            set.unite(&part);
            added.unite(&part);
        }
        self.pool.check()?;
        Ok(added)
    }
}

impl<'a, 's> Arena for SymbolicArena<'a, 's> {
    type Set = DiagramSet;
    type Strategy = Trail;
    type Layers<'l>
        = SetLayers<'l, Self>
    where
        Self: 'l;

    fn none(&self) -> DiagramSet {
        DiagramSet::none(&self.pool)
    }

    fn all(&self) -> DiagramSet {
        self.all.clone()
    }

    fn owned_by(&self, player: Player) -> DiagramSet {
        self.owned[player.index()].clone()
    }

    /// Of incomplete vertices nothing is known.
    fn sinks(&self) -> DiagramSet {
        self.sinks.clone()
    }

    fn incomplete(&self) -> DiagramSet {
        self.incomplete.clone()
    }

    fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    fn player_of(&self, level: u32) -> Player {
        self.levels[level as usize].0
    }

    fn at_level(&self, level: u32, within: &DiagramSet) -> DiagramSet {
        self.levels[level as usize].1.and(within)
    }

    fn least_level(&self, within: &DiagramSet) -> Option<u32> {
        (0..self.levels()).find(|&level| !self.at_level(level, within).is_empty())
    }

    fn blank(&self) -> Trail {
        Trail::of(self.recorded)
    }

    fn step(
        &self,
        player: Player,
        within: &DiagramSet,
        among: &DiagramSet,
        target: &DiagramSet,
        trail: &mut Trail,
    ) -> Result<DiagramSet, Stopped> {
        let target = target.and(within);
        let own = self.sources(&target, &among.and(&self.owned[player.index()]))?;
        trail.record(player, &own, &target);
        let others = among.and(&self.owned[player.opponent().index()]).without(&self.incomplete);
        let moving = self.sources(&target, &others)?;
        let mut forced = self.avoiding(&within.without(&target), &moving)?;
        forced.unite(&own);
        self.pool.check()?;
        Ok(forced)
    }

    fn attract(
        &self,
        player: Player,
        within: &DiagramSet,
        candidates: &DiagramSet,
        set: &mut DiagramSet,
        trail: &mut Trail,
    ) -> Result<(), Stopped> {
        let own = candidates.and(&self.owned[player.index()]);
        let others = candidates.and(&self.owned[player.opponent().index()]).without(&self.incomplete);
        let mut new = set.clone();
        while !new.is_empty() {
            let added = self.chain(player, &new, &own, set, trail)?;
            new.unite(&added);
            let moving = self.sources(&new, &others.without(set))?;
            let forced = self.avoiding(&within.without(set), &moving)?;
            trail.record(player, &forced, set);
            set.unite(&forced);
            new = added;
            new.unite(&forced);
            self.pool.check()?;
        }
        Ok(())
    }

    fn keep(
        &self,
        player: Player,
        within: &DiagramSet,
        set: &mut DiagramSet,
        trail: &mut Trail,
    ) -> Result<(), Stopped> {
        // Moves are recorded once, when the set is known.
        let mut kept = self.step(player, within, set, set, &mut Trail::default())?;
        let mut removed = set.without(&kept);
        while !removed.is_empty() {
            let touched = self.sources(&removed, &kept)?;
            let own = touched.and(&self.owned[player.index()]);
            let others = touched.without(&own);
            let rest = kept.without(&others);
            let stuck = self.avoiding(&rest, &own)?;
            *set = kept;
            kept = rest.without(&stuck);
            removed = set.without(&kept);
            self.pool.check()?;
        }
        *set = kept;
        trail.record(player, &set.and(&self.owned[player.index()]), set);
        self.pool.check()
    }

    fn completed(&self) -> Self {
        SymbolicArena {
            space: self.space,
            pool: self.pool.clone(),
            all: self.all.clone(),
            owned: self.owned.clone(),
            sinks: self.sinks.clone(),
            incomplete: self.none(),
            levels: self.levels.clone(),
            recorded: self.recorded,
            work: self.work.clone(),
        }
    }

    fn layers(&self, open: DiagramSet) -> Result<SetLayers<'_, Self>, Stopped> {
        Ok(SetLayers::new(self, open))
    }

    fn poll(&self) -> Result<(), Stopped> {
        self.pool.check()?;
        self.pool.diagrams().control().check()
    }
}
