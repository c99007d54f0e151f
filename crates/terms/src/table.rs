//! The hash table: open addressing, compare-exchange, and neighbours in time at neighbouring places.
//!
//! A slot is a word of 64 bits: a term in the lower half, four bits, 28 bits of the term's hash; 0 when it is free. A
//! thread that makes a term writes its cell first and then exchanges a free slot for it. Slots only ever go from free
//! to taken while threads share the table, so the first free slot of a term's probe sequence decides: two threads that
//! make the same term race for the same slot, and the one that loses finds the winner's term there. Releasing the slot
//! and acquiring it makes the cell visible.
//!
//! # Order of birth
//!
//! A hash that scrambles everything costs a cache miss for each look-up in a large table. Programs however make terms
//! in an order, and make them again in the same order. So the first place of a term is *near* that of the term which
//! was made before it in the same manner: `base + newest / 2`, where `newest` is the largest of the ids of its
//! arguments and `base` scrambles the symbol and how much older the other arguments are (for an argument that is much
//! older, the argument itself). The terms `t_i = f(t_{i-1}, t_{i-1})` lie in a row, and so do `f(t_i, c)` and
//! `f(t_i, t_{i-1})`. Such rows can meet, and products of sets of arguments meet often; an element that finds its first
//! place and the one beside it taken goes to a place that is scrambled altogether, looks at four neighbouring slots,
//! and goes on to another such place: linear probing would have to walk to the end of a row. So the expected length of
//! a probe is at most two more than that of an ordinary table.
//!
//! A bit of a slot says that a term whose first place this is lies elsewhere. A look-up in a table that no thread adds
//! to any more ends at the first place when that is taken and the bit is not set.
//!
//! # Taking terms out
//!
//! A probe must not meet a free slot before its term, so a slot alone cannot be freed. A collection sweeps the whole
//! table instead, group after group. A slot says whether its term lies at its first place, beside it or elsewhere. So
//! the live terms that lie at their first place or beside it find their new slots without a look at their cells. The
//! others, which are few, are taken out and added again at the end. So sweeping reads the table once from its beginning
//! to its end, and few cells.
//!
//! A bit of a slot says that its term was there when the last collection ended. Such slots alone are a table in which
//! each of their terms is found, as it was then: terms that came later took free slots only. So a collection that finds
//! no old garbage and few new terms alive frees all slots without that bit, looks up nothing, and adds the few again.
//! A table that grew since is not *settled*: its terms came in another order, and it is swept.
//!
//! # Full tables
//!
//! A table gets a successor before it is full (see [`crate::index`]), but that needs a moment without creators. A
//! worker that makes terms for long without a poll may fill it meanwhile. A probe therefore has a limit; a term that
//! finds no free slot within it belongs to the *next* table in a chain, which the first thread that needs it adds. All
//! threads agree on that, because a slot that is taken remains so.

#![allow(unsafe_code)]

use std::ptr;

use crate::cells::Term;
use crate::memory::Zeroed;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// Slots that are tried before a term goes to the next table.
const WINDOW: u32 = LOCAL + if cfg!(test) { 1 } else { 32 * GROUP };
/// A term whose first place is this slot lies elsewhere.
const DISPLACED: u64 = 1 << 32;
/// Where the turn is at which the term found its slot, and its bits.
const TURN_BITS: u32 = 33;
const TURN: u64 = 3;
/// The term was there when the last collection ended.
const OLD_BIT: u32 = 35;
const OLD: u64 = 1 << OLD_BIT;
/// Where the bits of the hash begin.
const TAG: u32 = 36;
/// So many scrambled slots lie beside each other.
const GROUP: u32 = 4;
/// So many turns stay at the first place and beside it. They have their own numbers in a slot.
const LOCAL: u32 = 2;
/// All later turns have this number.
const BEYOND: u64 = LOCAL as u64;

/// An argument is called near when the newest one is at most this many units younger.
const NEAR: u32 = 1 << 16;

const MIX: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0xff51_afd7_ed55_8ccd, 0xd6e8_feb8_6659_fd93];

/// Where a term belongs.
#[derive(Clone, Copy)]
pub(crate) struct Hashed {
    first: u32,
    full: u64,
}

impl Hashed {
    #[inline(always)]
    fn of(mixed: u64, newest: u32) -> Hashed {
        let full = mixed.wrapping_add(u64::from(newest).wrapping_mul(MIX[2]));
        let full = (full ^ (full >> 32)).wrapping_mul(MIX[3]);
        Hashed { first: ((mixed >> 32) as u32).wrapping_add(newest >> 1), full: full ^ (full >> 29) }
    }

    /// The place of an application.
    #[inline(always)]
    pub(crate) fn application(symbol: u32, arguments: impl Iterator<Item = u32> + Clone) -> Hashed {
        let newest = arguments.clone().max().unwrap_or(0);
        let mut mixed = u64::from(symbol).wrapping_mul(MIX[0]);
        let mut factor = MIX[1];
        for argument in arguments {
            let age = newest - argument;
            let key = if age < NEAR { age } else { argument | 1 << 31 };
            mixed = mixed.wrapping_add(u64::from(key).wrapping_mul(factor));
            factor = factor.wrapping_mul(MIX[0]);
        }
        Hashed::of(mixed, newest)
    }

    /// The place of a machine word: consecutive numbers are neighbours.
    #[inline(always)]
    pub(crate) fn word(word: u64) -> Hashed {
        // A slot is left between two numbers: numbers come with terms that have them as arguments, and two such rows
        // that meet then fit into each other.
        const ROW: u32 = 20;
        Hashed::of((word >> ROW).wrapping_add(1).wrapping_mul(MIX[1]), (word as u32 & ((1 << ROW) - 1)) << 2)
    }

    /// The place of a byte string.
    pub(crate) fn bytes(words: impl Iterator<Item = u32>) -> Hashed {
        let mixed = words.fold(MIX[3], |mixed, word| {
            let mixed = (mixed ^ u64::from(word)).wrapping_mul(MIX[2]);
            mixed ^ (mixed >> 32)
        });
        Hashed::of(mixed.wrapping_mul(MIX[1]), 0)
    }

    #[inline(always)]
    fn tag(self) -> u32 {
        (self.full >> TAG) as u32
    }

    /// The slot of the probe sequence at this turn.
    #[inline(always)]
    fn slot(self, turn: u32, mask: usize) -> usize {
        let place = match turn {
            0..LOCAL => self.first ^ turn,
            _ => {
                let group = u64::from((turn - LOCAL) / GROUP).wrapping_mul(MIX[0]);
                ((self.full ^ group).wrapping_mul(MIX[1]) >> 32) as u32 ^ ((turn - LOCAL) % GROUP)
            }
        };
        place as usize & mask
    }
}

/// Puts the live terms of a group that lie beside their first place where a probe finds them now, and takes out those
/// that lie elsewhere; how many these are.
fn place_again(group: &mut [u64; GROUP as usize], away: &mut impl FnMut(Term)) -> usize {
    let mut taken = 0;
    let old = *group;
    let turn = |slot: u64| slot >> TURN_BITS & TURN;
    for (at, &slot) in old.iter().enumerate() {
        if turn(slot) != 0 {
            group[at] = 0;
        }
    }
    for (at, &slot) in old.iter().enumerate() {
        if turn(slot) == BEYOND {
            away(Term::of(slot as u32));
            taken += 1;
        } else if turn(slot) != 0 {
            let first = at ^ turn(slot) as usize;
            let free = (0..LOCAL as usize).find(|turn| group[first ^ turn] == 0).expect("both were there before");
            group[first ^ free] = slot & !(TURN << TURN_BITS) | (free as u64) << TURN_BITS;
            if free > 0 {
                group[first] |= DISPLACED;
            }
        }
    }
    taken
}

/// A table, and those behind it.
pub(crate) struct Table {
    slots: Zeroed<AtomicU64>,
    next: AtomicPtr<Table>,
    /// All terms that were there when the last collection ended have the bit [`OLD`].
    settled: bool,
}

/// Was a term there when the last collection ended?
#[derive(Clone, Copy)]
pub(crate) enum Age {
    Young = 0,
    Old = 1,
}

/// What a probe found.
pub(crate) enum Probe<'t> {
    Found(u32),
    Free(Place<'t>),
}

/// A free slot, where a term that was not found belongs.
pub(crate) struct Place<'t> {
    table: &'t Table,
    turn: u32,
}

impl Table {
    /// A table of this many slots, a power of two.
    pub(crate) fn new(slots: usize) -> Table {
        assert!(slots.is_power_of_two(), "a table has a power of two of slots");
        Table { slots: Zeroed::new(slots), next: AtomicPtr::new(ptr::null_mut()), settled: false }
    }

    /// How many slots it has, without the tables behind it.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + self.next().map_or(0, Table::bytes)
    }

    /// The term at its first place: the common case, made of few instructions.
    #[inline(always)]
    pub(crate) fn at_first_place(&self, hashed: Hashed, same: impl Fn(u32) -> bool) -> Option<u32> {
        let slot = self.slots[hashed.first as usize & (self.slots.len() - 1)].load(Ordering::Acquire);
        ((slot >> TAG) as u32 == hashed.tag() && slot as u32 != 0 && same(slot as u32)).then_some(slot as u32)
    }

    /// Looks for a term; if it is not there, this gives the free slot where it belongs.
    pub(crate) fn probe(&self, hashed: Hashed, same: impl Fn(u32) -> bool) -> Probe<'_> {
        self.probe_from(0, hashed, &same)
    }

    fn probe_from(&self, from: u32, hashed: Hashed, same: &impl Fn(u32) -> bool) -> Probe<'_> {
        let (mut table, mut from) = (self, from);
        loop {
            let mask = table.slots.len() - 1;
            for turn in from..WINDOW {
                let slot = table.slots[hashed.slot(turn, mask)].load(Ordering::Acquire);
                if slot == 0 {
                    return Probe::Free(Place { table, turn });
                }
                if (slot >> TAG) as u32 == hashed.tag() && same(slot as u32) {
                    return Probe::Found(slot as u32);
                }
            }
            table.displace(hashed);
            (table, from) = (table.next_or_new(), 0);
        }
    }

    /// Notes that a term does not lie at its first place, which is taken.
    fn displace(&self, hashed: Hashed) {
        let first = &self.slots[hashed.slot(0, self.slots.len() - 1)];
        if first.load(Ordering::Relaxed) & DISPLACED == 0 {
            first.fetch_or(DISPLACED, Ordering::Relaxed);
        }
    }

    /// Looks for a term in a table that no thread adds to.
    pub(crate) fn find(&self, hashed: Hashed, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mut table = self;
        loop {
            let mask = table.slots.len() - 1;
            for turn in 0..WINDOW {
                let slot = table.slots[hashed.slot(turn, mask)].load(Ordering::Acquire);
                if slot == 0 {
                    return None;
                }
                if (slot >> TAG) as u32 == hashed.tag() && same(slot as u32) {
                    return Some(slot as u32);
                }
                if turn == 0 && slot & DISPLACED == 0 {
                    return None;
                }
            }
            table = table.next()?;
        }
    }

    /// Adds a term that no other thread adds and that is in its cell; false if it is there already.
    pub(crate) fn add(&self, hashed: Hashed, term: Term, age: Age) -> bool {
        let same = |other| other == term.id();
        let mut probe = self.probe(hashed, same);
        while let Probe::Free(place) = probe {
            match place.take_as(hashed, term, age) {
                Ok(()) => return true,
                Err(place) => probe = place.again(hashed, same),
            }
        }
        false
    }

    /// Does [`Table::forget_young`] make it what it was when the last collection ended?
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Notes that a collection ended: all its terms were added as old ones or stayed in a sweep. Terms in a table
    /// behind have no such bit.
    pub(crate) fn settle(&mut self) {
        self.settled = self.next().is_none();
    }

    /// Frees those of some slots whose terms came after the last collection. The table is settled. The calling thread
    /// is in the exclusive section, or helps the one that is.
    pub(crate) fn forget_young(&self, slots: std::ops::Range<usize>) {
        for slot in &self.slots[slots] {
            let value = slot.load(Ordering::Relaxed);
            slot.store(value & (value >> OLD_BIT & 1).wrapping_neg(), Ordering::Relaxed);
        }
    }

    /// How many slots a look-up of a term in this table reads.
    pub(crate) fn probes(&self, hashed: Hashed, term: Term) -> Option<u32> {
        let (mut table, mut before) = (self, 0);
        loop {
            let mask = table.slots.len() - 1;
            for turn in 0..WINDOW {
                let slot = table.slots[hashed.slot(turn, mask)].load(Ordering::Acquire);
                if slot as u32 == term.id() {
                    return Some(before + turn + 1);
                }
                if slot == 0 {
                    return None;
                }
            }
            table = table.next()?;
            before += WINDOW;
        }
    }

    /// Calls with the terms in some slots, without the tables behind.
    pub(crate) fn each(&self, slots: std::ops::Range<usize>, mut visit: impl FnMut(Term)) {
        for slot in &self.slots[slots] {
            let slot = slot.load(Ordering::Acquire);
            if slot != 0 {
                visit(Term::of(slot as u32));
            }
        }
    }

    /// Takes the dead terms out of some slots, which are whole groups, and the live ones that lie neither at their
    /// first place nor beside it: it calls `away` with these, which must be added again once all slots are swept. Gives
    /// how many terms stay. `is_live(0)`, for a free slot, is false; `may_live` is a quick answer that is true for all
    /// live terms and few dead ones. The calling thread is in the exclusive section, or helps the one that is.
    pub(crate) fn sweep(
        &self,
        slots: std::ops::Range<usize>,
        (may_live, is_live): (impl Fn(u32) -> bool, impl Fn(u32) -> bool),
        mut away: impl FnMut(Term),
    ) -> usize {
        let mut stay = 0;
        for group in self.slots[slots].chunks_exact(GROUP as usize) {
            let before: [u64; GROUP as usize] = std::array::from_fn(|at| group[at].load(Ordering::Relaxed));
            if before == [0; GROUP as usize] {
                continue;
            }
            if !before.iter().fold(false, |any, &slot| any | (slot != 0) & may_live(slot as u32)) {
                group.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
                continue;
            }
            // Without branches: in tables of many short lives no guess would be right.
            let mut after =
                before.map(|slot| (slot & !DISPLACED | OLD) & u64::from(is_live(slot as u32)).wrapping_neg());
            stay += after.iter().filter(|&&slot| slot != 0).count();
            let elsewhere = after.iter().any(|slot| slot & (TURN << TURN_BITS) != 0);
            if elsewhere {
                stay -= place_again(&mut after, &mut away);
            }
            for (at, &slot) in after.iter().enumerate() {
                if slot != before[at] {
                    group[at].store(slot, Ordering::Relaxed);
                }
            }
        }
        stay
    }

    /// Takes the tables behind this one away.
    pub(crate) fn take_next(&mut self) -> Option<Box<Table>> {
        let next = self.next.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the pointer came from a box in `next_or_new`, and this table alone owned it.
        (!next.is_null()).then(|| unsafe { Box::from_raw(next) })
    }

    /// The table behind this one.
    pub(crate) fn next(&self) -> Option<&Table> {
        // SAFETY: the pointer is null or came from a box in `next_or_new`; it is taken by `take_next` alone, which
        // needs exclusive access.
        unsafe { self.next.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn next_or_new(&self) -> &Table {
        if let Some(next) = self.next() {
            return next;
        }
        let made = Box::into_raw(Box::new(Table::new(self.slots.len() * 2)));
        let first = self.next.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
        if first.is_err() {
            // SAFETY: the box was made above and published nowhere.
            drop(unsafe { Box::from_raw(made) });
        }
        self.next().expect("this thread or another one added it")
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // A chain of tables is short: each is twice as large as the one before it.
        drop(self.take_next());
    }
}

impl<'t> Place<'t> {
    /// Takes the slot for a term whose cell is written; gives it back if another thread was first.
    #[inline]
    pub(crate) fn take(self, hashed: Hashed, term: Term) -> Result<(), Place<'t>> {
        self.take_as(hashed, term, Age::Young)
    }

    #[inline(always)]
    fn take_as(self, hashed: Hashed, term: Term, age: Age) -> Result<(), Place<'t>> {
        let mask = self.table.slots.len() - 1;
        let slot = &self.table.slots[hashed.slot(self.turn, mask)];
        let mut value = u64::from(hashed.tag()) << TAG | (age as u64) << OLD_BIT | u64::from(term.id());
        if self.turn > 0 {
            self.table.displace(hashed);
            value |= u64::from(self.turn).min(BEYOND) << TURN_BITS;
        }
        match slot.compare_exchange(0, value, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => Err(self),
        }
    }

    /// Probes on from a slot that another thread took.
    pub(crate) fn again(self, hashed: Hashed, same: impl Fn(u32) -> bool) -> Probe<'t> {
        self.table.probe_from(self.turn, hashed, &same)
    }
}
