//! The tables of a pool: one that creators add to, and after it grew another one in which they only look.
//!
//! - `table` has the terms. It is the only table that gets terms while threads create.
//! - `moving` is what `table` was before it grew. Its terms are moved to the new one by the workers, a few thousand
//!   slots at each poll, while all go on creating: growing stops them only for the exchange of two pointers. A term
//!   that is not moved yet is found in `moving`; nothing is added there, so a term that is in neither table is new.
//!
//! The tables are exchanged in the exclusive section only; creators hold a reference for the length of their section.

use crate::cells::{Cells, Term, arguments_of, words_of};
use crate::pool::Probes;
use crate::symbols::Symbol;
use crate::sync::{AtomicU32, AtomicUsize, Ordering};
use crate::table::{Age, Hashed, Table};

/// Slots that a worker moves at a poll.
const QUANTUM: usize = if cfg!(test) { 2 } else { 4096 };
/// The least slots of a table.
pub(crate) const LEAST_SLOTS: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// The tables.
pub(crate) struct Index {
    pub(crate) table: Table,
    moving: Option<Moving>,
}

struct Moving {
    table: Table,
    /// The first slot that no worker moves yet, and how many slots are moved.
    next: AtomicUsize,
    moved: AtomicUsize,
}

/// How many terms a table of this many slots takes before it should grow.
pub(crate) fn room(slots: usize) -> usize {
    slots / 8 * 5 + usize::from(slots < 8)
}

/// How many terms it takes at most when a collection will soon make room.
pub(crate) fn most_room(slots: usize) -> usize {
    slots / 16 * 13
}

/// How many slots a table needs for this many terms, before a collection.
pub(crate) fn slots_for(terms: usize) -> usize {
    (terms / 13 * 16 + 16).next_power_of_two().max(LEAST_SLOTS)
}

impl Index {
    pub(crate) fn new() -> Index {
        Index { table: Table::new(LEAST_SLOTS), moving: None }
    }

    /// Looks in the table whose terms are being moved, which no thread adds to.
    #[inline]
    pub(crate) fn find_moving(&self, hashed: Hashed, same: impl Fn(u32) -> bool) -> Option<u32> {
        self.moving.as_ref()?.table.find(hashed, same)
    }

    pub(crate) fn bytes(&self) -> usize {
        let moving = self.moving.as_ref().map_or(0, |moving| moving.table.bytes());
        self.table.bytes() + moving
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.moving.is_some()
    }

    /// Do all terms lie in a table that is settled, or in those behind it?
    pub(crate) fn is_settled(&self) -> bool {
        self.table.is_settled() && !self.is_moving()
    }

    /// Doubles the table. The calling thread is in the exclusive section.
    pub(crate) fn grow(&mut self, cells: &Cells) {
        self.finish_moving(cells);
        let larger = Table::new(self.table.slots() * 2);
        let mut table = std::mem::replace(&mut self.table, larger);
        // The tables behind are there only when growing was late; they are small as a rule.
        let behind = table.take_next();
        let mut next = behind.as_deref();
        while let Some(overflow) = next {
            move_slots(cells, overflow, 0..overflow.slots(), &self.table);
            next = overflow.next();
        }
        self.moving = Some(Moving { table, next: AtomicUsize::new(0), moved: AtomicUsize::new(0) });
    }

    /// Moves some slots, as a worker in a shared section does at a poll; whether the last ones are moved now.
    pub(crate) fn move_some(&self, cells: &Cells) -> bool {
        let Some(moving) = &self.moving else { return false };
        let slots = moving.table.slots();
        let from = moving.next.fetch_add(QUANTUM, Ordering::Relaxed);
        if from >= slots {
            return false;
        }
        let to = slots.min(from + QUANTUM);
        move_slots(cells, &moving.table, from..to, &self.table);
        moving.moved.fetch_add(to - from, Ordering::AcqRel) + (to - from) == slots
    }

    /// Moves what is left. The calling thread is in the exclusive section.
    pub(crate) fn finish_moving(&mut self, cells: &Cells) {
        if let Some(moving) = self.moving.take() {
            let slots = moving.table.slots();
            let from = moving.next.load(Ordering::Relaxed).min(slots);
            move_slots(cells, &moving.table, from..slots, &self.table);
        }
    }

    /// Looks every term up by what it is. The calling thread is in the exclusive section, and nothing is moving.
    pub(crate) fn audit(&self, cells: &Cells) -> Result<Probes, String> {
        let mut probes = Probes::default();
        let mut wrong = None;
        let mut part = Some(&self.table);
        while let Some(slots) = part {
            slots.each(0..slots.slots(), |term| {
                let hashed = hash(cells, term);
                let found = self.table.find(hashed, |other| equal(cells, term.id(), other));
                match self.table.probes(hashed, term) {
                    Some(length) if found == Some(term.id()) => probes.add(length),
                    length => wrong = Some(format!("{term:?} is found as {found:?}, after {length:?} slots")),
                }
            });
            part = slots.next();
        }
        wrong.map_or(Ok(probes), Err)
    }

    /// Calls with the terms that are not in `table` itself: that are not moved yet, and that lie in a table behind. The
    /// caller, a collection, adds those that survive.
    pub(crate) fn take_others(&mut self, mut visit: impl FnMut(Term)) {
        if let Some(moving) = self.moving.take() {
            let slots = moving.table.slots();
            moving.table.each(moving.next.load(Ordering::Relaxed).min(slots)..slots, &mut visit);
        }
        let behind = self.table.take_next();
        let mut next = behind.as_deref();
        while let Some(overflow) = next {
            overflow.each(0..overflow.slots(), &mut visit);
            next = overflow.next();
        }
    }
}

fn move_slots(cells: &Cells, from: &Table, slots: std::ops::Range<usize>, to: &Table) {
    from.each(slots, |term| {
        to.add(hash(cells, term), term, Age::Young);
    });
}

/// The place of a term that is in its cell. The calling thread is in a section, and the term is in a table.
pub(crate) fn hash(cells: &Cells, term: Term) -> Hashed {
    // SAFETY: a term in a table lies in a chunk that is not given back before the term is taken out of the table, which
    // is done in an exclusive section.
    #[allow(unsafe_code)]
    let cell = unsafe { cells.cell(term.id()) };
    hash_cell(cell)
}

/// Are two terms of the tables made of the same words, but for their numbers?
fn equal(cells: &Cells, left: u32, right: u32) -> bool {
    // SAFETY: as in `hash`.
    #[allow(unsafe_code)]
    let (left, right) = unsafe { (cells.cell(left), cells.cell(right)) };
    let words = words_of(left);
    let same = |at: usize| left[at].load(Ordering::Relaxed) == right[at].load(Ordering::Relaxed);
    words <= right.len() && (0..words).all(|at| at == 1 || same(at))
}

/// The place of the term in a cell.
pub(crate) fn hash_cell(cell: &[AtomicU32]) -> Hashed {
    let word = |at: usize| cell[at].load(Ordering::Relaxed);
    match Symbol(word(0)) {
        Symbol::WORD => Hashed::word(u64::from(word(2)) | u64::from(word(3)) << 32),
        Symbol::BYTES => Hashed::bytes((2..3 + (word(2) as usize).div_ceil(4)).map(word)),
        symbol => Hashed::application(symbol.0, arguments_of(cell).iter().map(|word| word.load(Ordering::Relaxed))),
    }
}
