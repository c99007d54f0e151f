//! Systems that take turns.
//!
//! Saturation and chaining gain from steps that do not depend on each other. Where every step changes one common slot,
//! whose turn it is, no two of them are independent: each time the turn changes, saturation closes the sets below that
//! slot again, and every round meets new values. Levels are better there, each made from the new states of the one
//! before: four in a row with seven columns (70,208,900,607,103 states) is not explored by saturation in minutes, and
//! takes a minute level by level.
//!
//! Whether a system is like that is seen in its relations, once the set of states has become large: then they have
//! most of their values, and one pair that leaves the slot alone is enough to exclude it.
//!
//! Steps that overwrite the whole state ([`crate::resets`]) do not count. Their bundles, which would have to learn from
//! each level, wait: all states that were found are given to them in rounds 2, 4, 8, …, and when a level is empty. In
//! which order steps are taken does not matter for the set of states.
//!
//! Cost: a level takes an image, a projection and a union for each bundle that is no reset, in the nodes of the level.

use trefoil_diagrams::Set;
use trefoil_system::Cut;

use crate::learned::Bundle;
use crate::space::Space;

impl Space<'_> {
    /// Does every step known so far change one common slot, except steps that overwrite everything?
    pub(crate) fn takes_turns(&self) -> Result<bool, Cut> {
        if self.bundles.iter().any(Bundle::is_last_resort) {
            return Ok(false);
        }
        let mut usual = self.bundles.iter().filter(|bundle| !bundle.is_reset() && !bundle.relation().is_empty());
        let Some(first) = usual.next() else { return Ok(false) };
        let others: Vec<&Bundle> = usual.collect();
        if others.is_empty() {
            return Ok(false);
        }
        'next: for position in first.changed() {
            for bundle in others.iter().copied().chain([first]) {
                if !self.diagrams.always_changes(bundle.relation(), position)? {
                    continue 'next;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The new states one step from these; of steps that overwrite everything, where it is time, those from all states.
    pub(crate) fn turn(&mut self, from: &Set) -> Result<Set, Cut> {
        let (resets, usual): (Vec<usize>, Vec<usize>) =
            (0..self.bundles.len()).partition(|&at| self.bundles[at].is_reset());
        let mut next = self.diagrams.empty();
        for at in usual {
            self.learn(at, from)?;
            next = self.diagrams.union(&next, &self.bundles[at].image(from, &self.diagrams)?)?;
        }
        next = self.diagrams.difference(&next, &self.states)?;
        if next.is_empty() || self.rounds.is_power_of_two() {
            let all = self.states.clone();
            for at in resets {
                self.learn(at, &all)?;
                next = self.diagrams.union(&next, &self.bundles[at].image(&all, &self.diagrams)?)?;
            }
            next = self.diagrams.difference(&next, &self.states)?;
        }
        Ok(next)
    }
}
