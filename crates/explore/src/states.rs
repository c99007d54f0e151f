//! The set of states that were found: packed rows, each once, numbered, for any number of threads.
//!
//! # The table
//!
//! Rows lie back to back in segments ([`crate::rows`]); the number of a state is its position. A second array, the
//! index ([`crate::index`]), finds a row by its hash.
//!
//! A thread that does not find its row writes it to a position of its own and then publishes the entry by one
//! compare-and-swap with release ordering. If another thread was faster, the entry it finds there is examined like any
//! other; the position stays private and is used for the next row. So there is no busy state, no waiting, and never a
//! second copy of a row. Positions come in blocks per thread, so that the only shared counter is touched rarely.
//! Compare Laarman, van de Pol and Weber, *Boosting multi-index reachability performance with shared hash tables*
//! (2010), from which we depart by keeping rows out of the index (a state has a dense number and costs the index four
//! bytes whatever the width of its row), by private positions instead of a write bit, and by growing: threads hold a
//! read lock for a piece of work, and one that finds no room takes the write lock and makes the index longer. Rows do
//! not move.
//!
//! # Dense sets
//!
//! When a packed row has at most [`DENSE_BITS`] bits it is its own number, and the set is a bitmap: an explicit LTS
//! costs a bit a state. Numbers then have holes; [`States::id_bound`] is above them all.
//!
//! # Trees
//!
//! A wide row whose layout has parts is kept as a tree of shared nodes ([`crate::tree`]); what lies in the table then
//! is its root, a few numbers. A thread that has to grow one of the two tables releases what it holds of both, else two
//! threads could deadlock.
//!
//! Invariants: an entry, once written, never changes until the next growth; the row of a published position never
//! changes; each position below the shared counter is published, or in the list of free ranges, or in a block that
//! some thread holds together with the read lock.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use trefoil_control::{Control, Stopped};
use trefoil_system::{StateId, Value};

use crate::index::{Index, LEAST_INDEX, hash};
use crate::packing::Packing;
use crate::positions::{Positions, lock};
use crate::rows::{Keep, Marks, SEGMENT_ROWS, Segment, atomics64, prefetch};
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::tree::{Climber, Tree};

/// Up to how many bits a packed row is its own number.
pub const DENSE_BITS: usize = 24;

/// A growing set of states; see the head of this file.
pub struct StateSet {
    packing: Packing,
    /// How what is in the table is packed: rows, or roots of trees.
    pub(crate) kept: Packing,
    tree: Option<Box<Tree>>,
    pub(crate) keep: Keep,
    pub(crate) threads: usize,
    pub(crate) table: Table,
    /// Held by the thread that grows the index.
    growing: std::sync::Mutex<()>,
    /// Does a thread wait until the others release what they hold? Only a hint.
    awaited: AtomicBool,
}

pub(crate) enum Table {
    Dense { seen: Box<[AtomicU64]>, marks: Marks },
    Hashed { index: RwLock<Index>, blocks: Mutex<Positions> },
}

/// The index must grow before another state fits.
#[derive(Debug)]
pub(crate) struct Full {
    limit: u32,
}

impl StateSet {
    /// An empty set of rows packed in this way. `threads` build the index again when it grows.
    pub fn new(packing: Packing, threads: usize) -> StateSet {
        StateSet::keeping(packing, Keep::default(), threads)
    }

    /// The same with bits per state.
    pub(crate) fn keeping(packing: Packing, keep: Keep, threads: usize) -> StateSet {
        let kept = packing.clone();
        StateSet::with(packing, kept, None, keep, threads)
    }

    /// The same with rows kept as trees.
    pub(crate) fn of_trees(packing: Packing, keep: Keep, threads: usize) -> StateSet {
        let tree = Box::new(Tree::new(&packing, threads));
        let roots = tree.roots();
        StateSet::with(packing, roots, Some(tree), keep, threads)
    }

    fn with(packing: Packing, kept: Packing, tree: Option<Box<Tree>>, keep: Keep, threads: usize) -> StateSet {
        let table = if kept.bits() <= DENSE_BITS {
            let size = 1usize << kept.bits();
            Table::Dense { seen: atomics64(size.div_ceil(64)), marks: Marks::new(size, keep) }
        } else {
            let index = Index::new(LEAST_INDEX, Vec::new(), kept.bytes());
            Table::Hashed { index: RwLock::new(index), blocks: Mutex::new(Positions::default()) }
        };
        let growing = std::sync::Mutex::default();
        StateSet { packing, kept, tree, keep, threads: threads.max(1), table, growing, awaited: AtomicBool::new(false) }
    }

    /// How many words the table keeps for a state.
    pub(crate) fn kept_words(&self) -> usize {
        self.kept.words()
    }

    /// How rows are packed.
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Are rows kept as trees?
    pub(crate) fn has_trees(&self) -> bool {
        self.tree.is_some()
    }

    /// From now on rows are packed in this way, which must be compatible with the stored rows.
    pub(crate) fn stretch(&mut self, packing: Packing) {
        debug_assert_eq!(self.packing.words(), packing.words());
        match &mut self.tree {
            Some(tree) => tree.packing = packing.clone(),
            None => self.kept = packing.clone(),
        }
        self.packing = packing;
    }

    /// A thread's access to the set. While it holds positions or a lock (until [`Inserter::release`]) the index cannot
    /// grow.
    pub fn inserter(&self) -> Inserter<'_> {
        let words = vec![0; self.packing.words()];
        let climber = self.tree.as_ref().map(|tree| Box::new(tree.climber()));
        Inserter { set: self, guard: None, open: [0..0, 0..0], words, scratch: Vec::new(), climber }
    }

    /// Makes room for more states.
    pub(crate) fn grow(&self, full: &Full, control: &Control) -> Result<(), Stopped> {
        let Table::Hashed { index, blocks } = &self.table else { return Ok(()) };
        control.check()?;
        // One thread at a time; a thread that loses the race to grow the index does not block readers: waiting for the
        // write lock to no purpose would last until no thread reads.
        let _turn = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if index.read().unwrap_or_else(PoisonError::into_inner).limit != full.limit {
            // Another thread has grown the index, or was interrupted; then the next poll of the control reports it.
            return Ok(());
        }
        self.awaited.store(true, Ordering::Relaxed);
        let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
        self.awaited.store(false, Ordering::Relaxed);
        let used = lock(blocks).used();
        index.grow(&self.kept, &used, self.threads, control)
    }

    /// Bytes allocated for rows and index, without claims.
    pub fn bytes(&self) -> usize {
        let shared = self.tree.as_ref().map_or(0, |tree| tree.nodes.bytes());
        shared
            + match &self.table {
                Table::Dense { seen, .. } => seen.len() * 8,
                Table::Hashed { index, .. } => index.read().unwrap_or_else(PoisonError::into_inner).bytes(),
            }
    }

    /// Ends the growing: from now on rows can be read.
    pub fn freeze(self) -> States {
        States { set: self }
    }
}

/// One thread's access to a [`StateSet`].
pub struct Inserter<'a> {
    set: &'a StateSet,
    guard: Option<RwLockReadGuard<'a, Index>>,
    /// Private positions; new states of two kinds get positions from two blocks, so that each kind has long ranges.
    open: [Range<u32>; 2],
    /// A row that is being read.
    words: Vec<u64>,
    /// Rows that are being inserted, each behind its hash.
    scratch: Vec<u64>,
    /// Access to the tree, when rows are kept as trees.
    climber: Option<Box<Climber<'a>>>,
}

impl Drop for Inserter<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

impl<'a> Inserter<'a> {
    /// Inserts rows, one behind the other in `rows`, and appends for each its number and whether it is new. Grows the
    /// set when it has to. A few dozen rows at a time hide most of the time that memory takes.
    pub fn insert_all(
        &mut self,
        rows: &[Value],
        control: &Control,
        inserted: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Stopped> {
        let (width, words) = (self.set.packing.width().max(1), self.set.kept.words());
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.resize(rows.len() / width * (words + 1), 0);
        for (row, packed) in rows.chunks_exact(width).zip(scratch.chunks_exact_mut(words + 1)) {
            self.keep(row, &mut packed[1..], control)?;
            packed[0] = self.hash(&packed[1..]);
            self.expect(packed[0]);
        }
        for packed in scratch.chunks_exact(words + 1) {
            self.expect_row(packed[0]);
        }
        let mut result = Ok(());
        'rows: for packed in scratch.chunks_exact(words + 1) {
            loop {
                match self.insert_packed(&packed[1..], packed[0], 0) {
                    Ok(found) => {
                        inserted.push(found);
                        continue 'rows;
                    }
                    Err(full) => result = self.make_room(&full, control),
                }
                if result.is_err() {
                    break 'rows;
                }
            }
        }
        self.scratch = scratch;
        result
    }

    /// What the table keeps for a row.
    pub(crate) fn keep(&mut self, row: &[Value], kept: &mut [u64], control: &Control) -> Result<(), Stopped> {
        if self.climber.is_none() {
            self.set.packing.pack(row, kept);
            return Ok(());
        }
        let mut words = std::mem::take(&mut self.words);
        self.set.packing.pack(row, &mut words);
        self.climber().put_row(&words);
        let outcome = self.fold(kept, control);
        self.words = words;
        outcome
    }

    /// The tree of the row that was read last, where rows are kept as trees.
    #[inline]
    pub(crate) fn climber(&mut self) -> &mut Climber<'a> {
        self.climber.as_mut().expect("rows are kept as trees")
    }

    /// The root of the row that was read last with all changes since, which are then reverted.
    #[inline]
    pub(crate) fn fold(&mut self, root: &mut [u64], control: &Control) -> Result<(), Stopped> {
        let mut outcome = Ok(());
        while let Err(full) = self.climber().fold(root) {
            self.release();
            let tree = self.set.tree.as_ref().expect("rows are kept as trees");
            outcome = tree.nodes.grow(&full, control);
            if outcome.is_err() {
                break;
            }
        }
        self.climber().restore();
        outcome
    }

    /// Releases what is held, so that other threads can grow the index. To be called at least every few milliseconds of
    /// work.
    pub fn release(&mut self) {
        if let Table::Hashed { blocks, .. } = &self.set.table
            && self.guard.is_some()
        {
            let mut blocks = lock(blocks);
            self.open.iter_mut().for_each(|open| blocks.give_back(std::mem::replace(open, 0..0)));
        }
        self.guard = None;
        if let Some(climber) = &mut self.climber {
            climber.release();
        }
    }

    /// Does another thread wait for [`Inserter::release`]?
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        let awaited = |set: &StateSet| set.awaited.load(Ordering::Relaxed);
        awaited(self.set) || self.set.tree.as_ref().is_some_and(|tree| awaited(&tree.nodes))
    }

    pub(crate) fn make_room(&mut self, full: &Full, control: &Control) -> Result<(), Stopped> {
        self.release();
        self.set.grow(full, control)
    }

    /// The hash that the other functions take.
    #[inline]
    pub(crate) fn hash(&self, packed: &[u64]) -> u64 {
        match self.set.table {
            Table::Dense { .. } => packed[0],
            Table::Hashed { .. } => hash(packed),
        }
    }

    #[inline]
    fn index(&mut self, lock: &'a RwLock<Index>) -> &Index {
        self.guard.get_or_insert_with(|| lock.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prefetches the entry where the search for a row will begin.
    #[inline]
    pub(crate) fn expect(&mut self, hashed: u64) {
        match &self.set.table {
            Table::Dense { seen, .. } => prefetch(&seen[hashed as usize / 64]),
            Table::Hashed { index, .. } => {
                let index = self.index(index);
                prefetch(&index.entries[index.home(hashed)]);
            }
        }
    }

    /// Prefetches the row that the first entry names, when its bits of the hash agree.
    #[inline]
    pub(crate) fn expect_row(&mut self, hashed: u64) {
        if let Table::Hashed { index, .. } = &self.set.table {
            let row_bytes = self.set.kept.bytes();
            let index = self.index(index);
            let entry = index.entries[index.home(hashed)].load(Ordering::Acquire);
            if entry != 0 && entry & !index.id_mask() == index.tag(hashed) {
                let id = (entry & index.id_mask()) - 1;
                index.segment(id).prefetch(id as usize % SEGMENT_ROWS, row_bytes);
            }
        }
    }

    /// Inserts a packed row whose hash is known. A new one gets a position of this kind (0 or 1).
    #[inline]
    pub(crate) fn insert_packed(&mut self, packed: &[u64], hashed: u64, kind: usize) -> Result<(StateId, bool), Full> {
        let set = self.set;
        match &set.table {
            Table::Dense { seen, .. } => {
                let id = packed[0] as usize;
                let (word, bit) = (&seen[id / 64], 1u64 << (id % 64));
                // The number is the row, so the bit publishes nothing else.
                let fresh = word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0;
                Ok((StateId(id as u32), fresh))
            }
            Table::Hashed { index, blocks } => {
                let guard = self.guard.get_or_insert_with(|| index.read().unwrap_or_else(PoisonError::into_inner));
                let index: &Index = guard;
                // Kept in registers: after an acquire they would be loaded again.
                let (entries, row_bytes) = (&index.entries[..], set.kept.bytes());
                let (tag, id_mask) = (index.tag(hashed), index.id_mask());
                let mut at = index.home(hashed);
                let mut private = None;
                loop {
                    let mut entry = entries[at].load(Ordering::Acquire);
                    if entry == 0 {
                        let id = match private {
                            Some(id) => id,
                            None => {
                                let id = set.own_position(index, blocks, &mut self.open[kind])?;
                                let segment = index.segment(id);
                                // SAFETY: the position is from this thread's block and not published.
                                unsafe { segment.write(id as usize % SEGMENT_ROWS, row_bytes, packed) };
                                private = Some(id);
                                id
                            }
                        };
                        let published = tag | (id + 1);
                        match entries[at].compare_exchange(0, published, Ordering::AcqRel, Ordering::Acquire) {
                            Ok(_) => {
                                self.open[kind].start += 1;
                                return Ok((StateId(id), true));
                            }
                            Err(other) => entry = other,
                        }
                    }
                    if entry & !id_mask == tag {
                        let id = (entry & id_mask) - 1;
                        // SAFETY: the entry was read with acquire ordering, so the position is published.
                        if unsafe { index.segment(id).equals(id as usize % SEGMENT_ROWS, row_bytes, packed) } {
                            return Ok((StateId(id), false));
                        }
                    }
                    at = if at + 1 == entries.len() { 0 } else { at + 1 };
                }
            }
        }
    }

    /// The number of a packed row whose hash is known; `None` when it is not in the set. No thread may insert
    /// meanwhile.
    #[inline]
    pub(crate) fn find_packed(&mut self, packed: &[u64], hashed: u64) -> Option<StateId> {
        let set = self.set;
        match &set.table {
            Table::Dense { seen, .. } => {
                let id = packed[0] as usize;
                (seen[id / 64].load(Ordering::Relaxed) & 1 << (id % 64) != 0).then_some(StateId(id as u32))
            }
            Table::Hashed { index, .. } => {
                let row_bytes = set.kept.bytes();
                let index = self.index(index);
                let (tag, id_mask) = (index.tag(hashed), index.id_mask());
                let mut at = index.home(hashed);
                loop {
                    let entry = index.entries[at].load(Ordering::Acquire);
                    if entry == 0 {
                        return None;
                    }
                    if entry & !id_mask == tag {
                        let id = (entry & id_mask) - 1;
                        // SAFETY: the entry was read with acquire ordering, so the position is published.
                        if unsafe { index.segment(id).equals(id as usize % SEGMENT_ROWS, row_bytes, packed) } {
                            return Some(StateId(id));
                        }
                    }
                    at = if at + 1 == index.entries.len() { 0 } else { at + 1 };
                }
            }
        }
    }

    /// Reads a row.
    ///
    /// # Safety
    ///
    /// An insertion returned this number, on this thread or on one that this thread has synchronised with since.
    #[inline]
    pub(crate) unsafe fn read(&mut self, id: StateId, row: &mut [Value]) {
        if self.climber.is_some() {
            // SAFETY: as the caller promises.
            unsafe { self.load(id) };
            return row.copy_from_slice(self.climber().row());
        }
        let mut words = std::mem::take(&mut self.words);
        // SAFETY: as the caller promises.
        unsafe { self.read_packed(id, &mut words) };
        self.set.packing.unpack(&words, row);
        self.words = words;
    }

    /// Reads a row as it is packed.
    ///
    /// # Safety
    ///
    /// As for [`Inserter::read`].
    #[inline]
    pub(crate) unsafe fn read_packed(&mut self, id: StateId, words: &mut [u64]) {
        if self.climber.is_none() {
            // SAFETY: as the caller promises.
            return unsafe { self.read_kept(id, words) };
        }
        // SAFETY: as the caller promises.
        unsafe { self.load(id) };
        words.copy_from_slice(&self.climber().words()[..words.len()]);
    }

    /// Reads a row that is kept as a tree to where its tree is, [`Inserter::climber`].
    ///
    /// # Safety
    ///
    /// As for [`Inserter::read`].
    #[inline]
    pub(crate) unsafe fn load(&mut self, id: StateId) {
        let mut root = [0; 2];
        let root = &mut root[..self.set.kept.words()];
        // SAFETY: as the caller promises; a published state has a published tree.
        unsafe {
            self.read_kept(id, root);
            self.climber().unfold(root);
        }
    }

    /// Reads what the table keeps.
    ///
    /// # Safety
    ///
    /// As for [`Inserter::read`].
    #[inline]
    pub(crate) unsafe fn read_kept(&mut self, id: StateId, words: &mut [u64]) {
        let set = self.set;
        match &set.table {
            Table::Dense { .. } => words[0] = u64::from(id.0),
            Table::Hashed { index, .. } => {
                // SAFETY: as the caller promises.
                unsafe { self.index(index).segment(id.0).read(id.index() % SEGMENT_ROWS, set.kept.bytes(), words) }
            }
        }
    }

    /// True for the first caller only: the state is now scheduled in its final round.
    #[inline]
    pub(crate) fn claim(&mut self, id: StateId) -> bool {
        self.with_marks(id, Marks::claim)
    }

    /// Was the state claimed?
    #[inline]
    pub(crate) fn is_claimed(&mut self, id: StateId) -> bool {
        self.with_marks(id, Marks::is_claimed)
    }

    /// The state is finished: see [`Keep`].
    #[inline]
    pub(crate) fn finish(&mut self, id: StateId) {
        self.with_marks(id, Marks::finish);
    }

    /// Is the state finished?
    #[inline]
    pub(crate) fn is_finished(&mut self, id: StateId) -> bool {
        self.with_marks(id, Marks::is_finished)
    }

    #[inline]
    fn with_marks<T>(&mut self, id: StateId, job: impl FnOnce(&Marks, usize) -> T) -> T {
        match &self.set.table {
            Table::Dense { marks, .. } => job(marks, id.index()),
            Table::Hashed { index, .. } => job(&self.index(index).segment(id.0).marks, id.index() % SEGMENT_ROWS),
        }
    }
}

impl StateSet {
    /// The first position of a block, after a new block was taken if it was used up.
    #[inline]
    fn own_position(&self, index: &Index, blocks: &Mutex<Positions>, open: &mut Range<u32>) -> Result<u32, Full> {
        if open.start == open.end {
            *open = self.take_block(index, blocks)?;
        }
        Ok(open.start)
    }

    #[cold]
    fn take_block(&self, index: &Index, blocks: &Mutex<Positions>) -> Result<Range<u32>, Full> {
        let block = lock(blocks).take(index.limit).ok_or(Full { limit: index.limit })?;
        let segment = &index.segments[block.start as usize / SEGMENT_ROWS];
        segment.get_or_init(|| Segment::new(self.kept.bytes(), self.keep));
        Ok(block)
    }
}

/// A [`StateSet`] whose rows can be read; it grows only while none is.
pub struct States {
    set: StateSet,
}

impl States {
    /// How rows are packed.
    pub fn packing(&self) -> &Packing {
        &self.set.packing
    }

    /// Above the number of every state; not every number below is a state's.
    pub fn id_bound(&self) -> usize {
        match &self.set.table {
            Table::Dense { .. } => 1 << self.set.kept.bits(),
            Table::Hashed { blocks, .. } => lock(blocks).bound() as usize,
        }
    }

    /// The set grows again.
    pub(crate) fn thaw(self) -> StateSet {
        self.set
    }

    /// Lets rows be inserted while no row is read.
    pub fn grow<R>(&mut self, insert: impl FnOnce(&mut Inserter<'_>) -> R) -> R {
        insert(&mut self.set.inserter())
    }

    /// What reads rows.
    pub fn reader(&self) -> Reader<'_> {
        Reader { inserter: self.set.inserter() }
    }

    /// Bytes allocated for rows and index, without claims.
    pub fn bytes(&self) -> usize {
        self.set.bytes()
    }

    /// How many entries the index has; none for a dense set.
    pub fn index_len(&self) -> usize {
        match &self.set.table {
            Table::Dense { .. } => 0,
            Table::Hashed { index, .. } => index.read().unwrap_or_else(PoisonError::into_inner).entries.len(),
        }
    }
}

/// Reads the rows of [`States`].
pub struct Reader<'a> {
    inserter: Inserter<'a>,
}

impl Reader<'_> {
    /// Writes the row of a state, one that a search gave out, into `row`.
    pub fn row(&mut self, id: StateId, row: &mut [Value]) {
        // SAFETY: no thread inserts while this reader lives: freezing took the set by value, and so after the end of
        // all its inserters; later ones ([`States::grow`]) borrow the states mutably; and a reader never inserts.
        unsafe { self.inserter.read(id, row) }
    }
}

/// Every interleaving of a few insertions, by loom. The atomics of this crate are loom's in unit tests.
#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use trefoil_system::{Layout, Slot};

    /// Threads insert these rows, each thread its own list; afterwards every row is there once, new to one thread.
    fn model(bits: u32, lists: &'static [&'static [Value]]) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let layout = Layout::new(vec![Slot::bounded("value", 1 << bits), Slot::bounded("rest", 16)]);
            let set = Arc::new(StateSet::keeping(Packing::new(&layout), Keep { claims: true, finished: true }, 1));
            let work = |set: &StateSet, list: &[Value]| -> Vec<(Value, StateId, bool, bool)> {
                let mut inserter = set.inserter();
                let mut told = Vec::new();
                for &value in list {
                    let mut packed = [0];
                    set.packing.pack(&[value, 1], &mut packed);
                    let hashed = inserter.hash(&packed);
                    let (id, new) = inserter.insert_packed(&packed, hashed, 0).expect("room");
                    let mut back = [0, 0];
                    // SAFETY: the insertion returned this number.
                    unsafe { inserter.read(id, &mut back) };
                    assert_eq!(back, [value, 1]);
                    told.push((value, id, new, inserter.claim(id)));
                }
                told
            };
            let others: Vec<_> = lists[1..]
                .iter()
                .map(|list| {
                    let set = set.clone();
                    loom::thread::spawn(move || work(&set, list))
                })
                .collect();
            let mut told = work(&set, lists[0]);
            for other in others {
                told.extend(other.join().expect("no thread panics"));
            }
            told.sort_by_key(|&(value, ..)| value);
            for same in told.chunk_by(|a, b| a.0 == b.0) {
                assert!(same.iter().all(|answer| answer.1 == same[0].1), "one row, one number");
                assert_eq!(same.iter().filter(|answer| answer.2).count(), 1, "new to one");
                assert_eq!(same.iter().filter(|answer| answer.3).count(), 1, "claimed by one");
            }
            let mut ids: Vec<StateId> = told.iter().map(|answer| answer.1).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), told.chunk_by(|a, b| a.0 == b.0).count(), "one number, one row");
        });
    }

    #[test]
    fn two_threads_insert_the_same_rows() {
        model(28, &[&[5, 6], &[5, 6]]);
        model(28, &[&[5, 6, 7], &[7, 5]]);
    }

    #[test]
    fn three_threads_insert_the_same_row() {
        model(28, &[&[5], &[5], &[5]]);
    }

    #[test]
    fn threads_race_in_a_dense_set() {
        model(3, &[&[5, 6], &[6, 5], &[5]]);
    }
}
