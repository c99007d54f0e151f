//! How many bits each slot gets: as many as it turns out to need.
//!
//! A variable is declared as a `byte` and holds 0, 1 or 2; the number of a channel is in a slot from the first state to
//! the last. The declaration says which values a slot may hold; only the search shows which it does hold. So a search
//! begins with rows as they are declared. When it has found some states it takes widths from them, packs everything
//! again ([`crate::repack`]) and continues with narrow rows: these are hashed, compared and stored in a fraction of the
//! time and space, and many no longer need a tree ([`crate::tree`]).
//!
//! A value that does not fit shows that a width was guessed wrong. The state whose step led there is set aside; at the
//! end of the round the slots that were too narrow get wider, and the states that were set aside are expanded. Nothing
//! is lost and nothing is visited twice, and a value that is larger than its declaration is still a bug of the system,
//! and a panic.
//!
//! Rows have some free bits. A slot that gets wider takes its new bits from there, and no state has to be packed again
//! until they are used up. Each time that a slot is too narrow it gets a bit more than it needs, and one more than the
//! last time. From time to time widths are taken from the states again, when a sample shows that it is worth it.
//!
//! Cost: packing all states again takes about as long as making the index longer, for trees several times as long; it
//! happens once for each eightfold number of states at most, and when the free bits are used up, which is mostly while
//! there are few states. Where many slots grow slowly it would happen again and again. So the work spent on it is
//! compared with the number of states: when it is too much, slots that were ever too narrow get their declared width,
//! and the next time all slots do, permanently.

use trefoil_system::{Layout, Value};

use crate::packing::{Packing, Width, bits_of, declared};
use crate::states::{DENSE_BITS, StateSet};
use crate::tree::LEAST_BYTES;

/// The number of states from which widths are first taken.
const FIRST: u32 = if cfg!(test) { 16 } else { 2048 };
/// The growth of the number of states after which widths are taken again.
const GROWTH: u32 = 8;
/// How often, and per how many states, states may be packed again before that is too much; and the factor by which
/// trees cost more.
const PATIENCE: u64 = 3;
const SPARE: u64 = 1 << 16;
const TREE_COST: u64 = 8;
/// States of a sample.
const SAMPLED: u32 = 4096;

/// The widths of the slots of a search.
pub(crate) struct Fit {
    declared: Vec<Width>,
    parts: Vec<usize>,
    widths: Vec<Width>,
    /// How often each was too narrow since widths were last taken from states, and whether it ever was.
    widened: Vec<u32>,
    ever: Vec<bool>,
    /// States that were packed again, and how often that was too much.
    spent: u64,
    strikes: u32,
    /// The number of states at which widths are taken; never when there is none.
    due: Option<u32>,
    /// May rows be kept as trees?
    trees: bool,
}

/// Values that did not fit, by slot: the bitwise or of all of them.
#[derive(Default)]
pub(crate) struct Misfits {
    seen: Vec<Option<Value>>,
}

impl Misfits {
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Adds what does not fit of a row.
    pub(crate) fn add(&mut self, row: &[Value], packing: &Packing) {
        self.seen.resize(row.len(), None);
        for (slot, (&value, seen)) in row.iter().zip(&mut self.seen).enumerate() {
            let field = packing.field(slot);
            if field.excess(field.packed(value)) != 0 {
                *seen = Some(seen.unwrap_or(0) | value);
            }
        }
    }

    pub(crate) fn append(&mut self, other: &Misfits) {
        self.seen.resize(self.seen.len().max(other.seen.len()), None);
        for (seen, other) in self.seen.iter_mut().zip(&other.seen) {
            if let Some(other) = other {
                *seen = Some(seen.unwrap_or(0) | other);
            }
        }
    }
}

impl Fit {
    /// The widths that a layout declares. Where `elastic`, and where a layout has parts, the widths that a search finds
    /// replace them.
    pub(crate) fn new(layout: &Layout, trees: bool, elastic: bool) -> Fit {
        let widths = declared(layout);
        let wide = Packing::of(&widths).bits() > DENSE_BITS;
        Fit {
            parts: layout.parts().to_vec(),
            widened: vec![0; widths.len()],
            ever: vec![false; widths.len()],
            spent: 0,
            strikes: 0,
            due: (elastic && wide && !layout.parts().is_empty()).then_some(FIRST),
            widths: widths.clone(),
            declared: widths,
            trees,
        }
    }

    /// How rows are packed, and whether they are kept as trees.
    pub(crate) fn packing(&self) -> (Packing, bool) {
        let (packing, trees) = packing_of(&self.widths, &self.parts, self.trees);
        if self.widths == self.declared {
            return (packing, trees);
        }
        // A dense set has no positions, so its states could not keep their numbers.
        let room = if self.widened.iter().any(|&widened| widened > 0) { packing.bits() / 8 + 16 } else { 8 };
        let bits = (packing.bits() + room).max(DENSE_BITS + 1).next_multiple_of(8);
        (packing.with_room(bits), trees)
    }

    /// The packing of rows that are packed already, with slots that got wider; `None` when they have no room for that.
    pub(crate) fn stretched(&self, packing: &Packing) -> Option<Packing> {
        packing.stretched(&self.widths)
    }

    /// Is it time to take widths from the states?
    pub(crate) fn is_due(&self, states: &StateSet) -> bool {
        self.due.is_some_and(|due| states.bound() >= due)
    }

    /// Takes widths from the states; returns whether they are to be packed again.
    pub(crate) fn observe(&mut self, states: &StateSet, threads: usize) -> bool {
        let Some(due) = &mut self.due else { return false };
        let bound = states.bound();
        *due = bound.saturating_mul(GROWTH);
        let step = bound / SAMPLED;
        let (before, was_tree) = packing_of(&self.widths, &self.parts, self.trees);
        let worth = |widths: &[Width]| {
            let (packing, is_tree) = packing_of(widths, &self.parts, self.trees);
            7 * packing.bits() < 6 * before.bits() || was_tree && !is_tree
        };
        if step > 1 && !worth(&widths_of(&states.extent(step as usize, 1))) {
            return false;
        }
        let widths = widths_of(&states.extent(1, threads));
        let worth = worth(&widths);
        if worth {
            self.widths = widths;
            self.widened.fill(0);
            self.spend(states);
        }
        worth
    }

    /// Prepares for packing the states again because slots that got wider have no room.
    pub(crate) fn make_room(&mut self, states: &StateSet) {
        self.strikes += u32::from(self.spent > PATIENCE * u64::from(states.bound()) + SPARE);
        if self.strikes > 1 {
            self.due = None;
            return self.widths.clone_from(&self.declared);
        }
        if self.strikes > 0 {
            let slots = self.widths.iter_mut().zip(&self.declared).zip(&self.ever);
            slots.filter(|(_, ever)| **ever).for_each(|((width, declared), _)| *width = *declared);
        }
        self.spend(states);
    }

    /// Notes what it costs to pack the states again.
    fn spend(&mut self, states: &StateSet) {
        let cost = if states.has_trees() || self.packing().1 { TREE_COST } else { 1 };
        self.spent += cost * u64::from(states.bound());
    }

    /// Makes slots wider that were too narrow.
    ///
    /// # Panics
    ///
    /// When a value is not one that its slot may hold: the system is wrong, and going on would confuse one state with
    /// another.
    pub(crate) fn widen(&mut self, misfits: &Misfits) {
        for (slot, seen) in misfits.seen.iter().enumerate() {
            let Some(seen) = seen else { continue };
            let (needed, declared) = (bits_of(seen | self.widths[slot].base), self.declared[slot].bits);
            assert!(needed <= declared, "a value does not fit its slot");
            self.widened[slot] += 1;
            self.ever[slot] = true;
            self.widths[slot].bits = (needed + self.widened[slot]).min(declared);
        }
    }
}

/// The packing for some widths, and whether rows are then kept as trees.
fn packing_of(widths: &[Width], parts: &[usize], trees: bool) -> (Packing, bool) {
    let packing = Packing::of(widths);
    if trees && packing.bytes() >= LEAST_BYTES && !parts.is_empty() {
        return (Packing::aligned(widths, parts), true);
    }
    (packing, false)
}

/// Widths for slots with these least and greatest values.
fn widths_of(extent: &[(Value, Value)]) -> Vec<Width> {
    let width = |&(least, most): &(Value, Value)| match least == most {
        true => Width { base: least, bits: 0 },
        false => Width { base: 0, bits: bits_of(most) },
    };
    extent.iter().map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trefoil_system::Slot;

    fn layout() -> Layout {
        Layout::new(vec![Slot::bounded("a", 256), Slot::word("b"), Slot::bounded("c", 256)]).with_parts(vec![0])
    }

    fn misfits(fit: &Fit, row: &[Value]) -> Misfits {
        let mut misfits = Misfits::default();
        misfits.add(row, &fit.packing().0);
        misfits
    }

    #[test]
    fn slots_get_wider_by_more_each_time_and_no_wider_than_declared() {
        let mut fit = Fit::new(&layout(), true, true);
        fit.widths = widths_of(&[(0, 1), (7, 7), (0, 0)]);
        let bits = |fit: &Fit| fit.widths.iter().map(|width| width.bits).collect::<Vec<_>>();
        assert_eq!(bits(&fit), [1, 0, 0]);
        let two = misfits(&fit, &[2, 7, 0]);
        fit.widen(&two);
        assert_eq!(bits(&fit), [3, 0, 0]);
        // What was constant was packed to 0, and still is.
        let mut more = misfits(&fit, &[8, 0, 0]);
        more.append(&misfits(&fit, &[1, 7, 1]));
        fit.widen(&more);
        assert_eq!(bits(&fit), [6, 4, 2]);
        assert_eq!(fit.widths[1].base, 7);
        let wide = misfits(&fit, &[64, 0, 0]);
        fit.widen(&wide);
        assert_eq!(bits(&fit), [8, 4, 2]);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn a_value_too_large_is_a_bug() {
        let mut fit = Fit::new(&layout(), true, true);
        let wrong = misfits(&fit, &[256, 0, 0]);
        fit.widen(&wrong);
    }
}
