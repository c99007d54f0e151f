//! A pool of terms: a value, which its owner drops to free everything.
//!
//! # What is due, and when it is done
//!
//! Creators count their new terms in batches. A creator that finds that the table should grow, or that a
//! collection is worth its time, sets a bit in `attention` and goes on: asking for the exclusive section inside a
//! shared one would wait for itself. Every worker sees the bit at its next poll or after its outermost leave. It leaves
//! its section, asks for the exclusive one, and looks *again* whether the bit is still set: another worker may have
//! done the work meanwhile.

#![allow(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use trefoil_control::{Control, Stopped};

use crate::cells::{CHUNK_BYTES, Cells};
use crate::collect;
use crate::index::{self, Index};
use crate::lock::{BusyForbidden, Exclusive, Member};
use crate::numbering::{Kept, Numbering, Numbers};
use crate::roots::{Parcels, WorkerRoots};
use crate::symbols::{Symbol, Symbols};
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Guarded, Mutex, Ordering, locked};
use crate::worker::Worker;

/// The table should grow, a collection is worth its time, or terms are moved: see [`Inner::maintain`].
pub(crate) const DUE: u32 = 1;
/// Terms are to be moved to a larger table.
pub(crate) const MOVING: u32 = 2;
/// Every poll collects.
pub(crate) const ZEALOUS: u32 = 4;

/// What can be chosen for a pool.
#[derive(Clone)]
pub struct Options {
    /// Are terms collected when it is worth the time?
    pub collecting: bool,
    /// So many bytes of new terms are made between two collections, or a quarter of the live ones if that is more; half
    /// as many when the table would have to grow for the other half.
    pub young_bytes: usize,
    /// Threads of a collection; 0 stands for one for each processor.
    pub threads: usize,
    /// Collects at every poll: a test that holds a term without a root then fails soon. Very slow.
    pub zealous: bool,
    /// What a poll asks whether the job must end.
    pub control: Control,
}

impl Default for Options {
    fn default() -> Options {
        Options { collecting: true, young_bytes: 36 << 20, threads: 0, zealous: false, control: Control::unlimited() }
    }
}

/// A pool of maximally shared terms. Clones are the same pool; it is freed with the last clone, worker, parcel and
/// numbering.
#[derive(Clone)]
pub struct Pool {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) cells: Cells,
    /// Read in shared sections, written in the exclusive one.
    pub(crate) index: Guarded<Index>,
    pub(crate) symbols: Symbols,
    pub(crate) lock: Arc<BusyForbidden>,
    pub(crate) attention: AtomicU32,
    /// Terms and units since the last collection, as far as they are counted.
    pub(crate) young_terms: AtomicUsize,
    pub(crate) young_units: AtomicUsize,
    /// At so many of them something is due.
    due_terms: AtomicUsize,
    due_units: AtomicUsize,
    pub(crate) collecting: AtomicBool,
    pub(crate) workers: Mutex<Vec<Arc<WorkerRoots>>>,
    pub(crate) parcels: Mutex<Parcels>,
    pub(crate) numberings: Mutex<Vec<Arc<Numbers>>>,
    pub(crate) counts: Mutex<Counts>,
    pub(crate) options: Options,
}

/// What collections counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) old_terms: usize,
    pub(crate) old_units: usize,
    /// Units that were live after the last full collection.
    pub(crate) full_units: usize,
    /// How much of the terms that were new at the last collection survived it.
    pub(crate) young_survival: f64,
    pub(crate) collections: usize,
    pub(crate) full_collections: usize,
    pub(crate) growths: usize,
    pub(crate) collecting: Duration,
    pub(crate) collected: u64,
}

/// Figures of a pool.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Terms that survived the last collection; some may be garbage since then.
    pub old_terms: usize,
    /// Terms that were made since the last collection, garbage or not.
    pub young_terms: usize,
    /// Terms that were collected since the pool was made.
    pub collected_terms: u64,
    /// Symbols.
    pub symbols: usize,
    /// Bytes of cells and their bits.
    pub cell_bytes: usize,
    /// Bytes among them that are kept for new terms.
    pub empty_bytes: usize,
    /// Bytes of tables.
    pub table_bytes: usize,
    /// Collections, and those among them that looked at old terms, too.
    pub collections: usize,
    /// Collections that looked at old terms, too.
    pub full_collections: usize,
    /// How often a table grew.
    pub growths: usize,
    /// Time in collections and growths, during which no thread created terms.
    pub collecting: Duration,
}

/// How many slots a look-up reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probes {
    /// Terms that were looked up.
    pub terms: u64,
    /// Slots that were read altogether.
    pub slots: u64,
    /// Slots of the longest look-up.
    pub longest: u32,
}

impl Probes {
    pub(crate) fn add(&mut self, length: u32) {
        self.terms += 1;
        self.slots += u64::from(length);
        self.longest = self.longest.max(length);
    }

    /// Slots of a look-up, on average.
    pub fn mean(&self) -> f64 {
        self.slots as f64 / self.terms.max(1) as f64
    }
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new(Options::default())
    }
}

impl Pool {
    /// An empty pool.
    pub fn new(options: Options) -> Pool {
        let index = Index::new();
        let inner = Inner {
            cells: Cells::new(),
            symbols: Symbols::new(),
            lock: BusyForbidden::new(),
            attention: AtomicU32::new(if options.zealous { ZEALOUS } else { 0 }),
            young_terms: AtomicUsize::new(0),
            young_units: AtomicUsize::new(0),
            due_terms: AtomicUsize::new(index::room(index.table.slots())),
            due_units: AtomicUsize::new(options.young_bytes / 8),
            collecting: AtomicBool::new(options.collecting),
            index: Guarded::new(index),
            workers: Mutex::new(Vec::new()),
            parcels: Mutex::new(Parcels::default()),
            numberings: Mutex::new(Vec::new()),
            counts: Mutex::new(Counts::default()),
            options,
        };
        Pool { inner: Arc::new(inner) }
    }

    /// A handle for the calling thread.
    pub fn worker(&self) -> Worker {
        Worker::new(self.inner.clone())
    }

    /// The symbol with this name and arity.
    pub fn symbol(&self, name: &str, arity: usize) -> Symbol {
        self.inner.symbols.symbol(name, arity)
    }

    /// A symbol that did not exist before. Its name begins with `name`.
    pub fn fresh_symbol(&self, name: &str, arity: usize) -> Symbol {
        self.inner.symbols.fresh(name, arity)
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> Arc<str> {
        self.inner.symbols.name(symbol)
    }

    /// The arity of a symbol.
    pub fn arity(&self, symbol: Symbol) -> usize {
        self.inner.symbols.arity(symbol)
    }

    /// A new place for terms that live as long as the pool.
    pub fn kept(&self) -> Kept {
        Kept::new(&self.inner)
    }

    /// A new numbering, for the terms of one sort.
    pub fn numbering(&self) -> Numbering {
        Numbering::new(self.inner.clone())
    }

    /// Turns automatic collection on or off.
    pub fn set_collecting(&self, collecting: bool) {
        self.inner.collecting.store(collecting, Ordering::Relaxed);
    }

    /// Figures, as far as workers counted.
    pub fn statistics(&self) -> Statistics {
        let inner = &*self.inner;
        let (cell_bytes, empty_bytes) = inner.cells.chunks().bytes();
        let member = inner.lock.join();
        let _shared = member.shared();
        // SAFETY: in a shared section no thread writes the index.
        let table_bytes = unsafe { inner.index.read(Index::bytes) };
        let counts = locked(&inner.counts);
        Statistics {
            old_terms: counts.old_terms,
            young_terms: inner.young_terms.load(Ordering::Relaxed),
            collected_terms: counts.collected,
            symbols: inner.symbols.len(),
            cell_bytes,
            empty_bytes,
            table_bytes,
            collections: counts.collections,
            full_collections: counts.full_collections,
            growths: counts.growths,
            collecting: counts.collecting,
        }
    }
}

impl Inner {
    /// Counts new terms of a worker.
    #[cold]
    pub(crate) fn count(&self, terms: u32, units: u32) {
        let terms = self.young_terms.fetch_add(terms as usize, Ordering::Relaxed) + terms as usize;
        let units = self.young_units.fetch_add(units as usize, Ordering::Relaxed) + units as usize;
        let crowded = terms >= self.due_terms.load(Ordering::Relaxed);
        if crowded || units >= self.due_units.load(Ordering::Relaxed) {
            self.attention.fetch_or(DUE, Ordering::Relaxed);
        }
    }

    /// Does what is due, if no other worker did it. The calling thread is outside of its shared sections.
    pub(crate) fn maintain(&self, member: &Member) {
        let exclusive = member.exclusive();
        if self.attention.load(Ordering::Relaxed) & DUE == 0 {
            return;
        }
        self.maintain_exclusively(&exclusive);
    }

    fn maintain_exclusively(&self, exclusive: &Exclusive<'_>) {
        let started = std::time::Instant::now();
        self.count_exactly();
        let terms = self.young_terms.load(Ordering::Relaxed);
        let units = self.young_units.load(Ordering::Relaxed);
        // SAFETY: in the exclusive section no other thread reads or writes the index.
        let (slots, moving) = unsafe { self.index.read(|index| (index.table.slots(), index.is_moving())) };
        let collecting = self.collecting.load(Ordering::Relaxed);
        let crowded = terms >= self.room(slots);
        if collecting && (units >= self.most_young_units() || crowded && self.is_collection_near()) {
            collect::collect(self, exclusive, None);
        } else if crowded {
            // SAFETY: as above.
            unsafe { self.index.write(|index| index.grow(&self.cells)) };
            self.attention.fetch_or(MOVING, Ordering::Relaxed);
            locked(&self.counts).growths += 1;
        } else if moving {
            // SAFETY: as above.
            unsafe { self.index.write(|index| index.finish_moving(&self.cells)) };
        }
        self.set_due();
        locked(&self.counts).collecting += started.elapsed();
    }

    /// Collects now, at least the terms since the last collection. The calling thread is outside of its shared
    /// sections.
    pub(crate) fn collect(&self, member: &Member, full: bool) {
        let exclusive = member.exclusive();
        let started = std::time::Instant::now();
        self.count_exactly();
        collect::collect(self, &exclusive, Some(full));
        self.set_due();
        locked(&self.counts).collecting += started.elapsed();
    }

    /// Counts the terms that workers have not counted yet. The calling thread is in the exclusive section.
    fn count_exactly(&self) {
        for worker in locked(&self.workers).iter() {
            // SAFETY: in the exclusive section no worker uses its allocator.
            let (terms, units) = unsafe {
                worker
                    .allocator
                    .write(|allocator| (std::mem::take(&mut allocator.terms), std::mem::take(&mut allocator.units)))
            };
            self.young_terms.fetch_add(terms as usize, Ordering::Relaxed);
            self.young_units.fetch_add(units as usize, Ordering::Relaxed);
        }
    }

    /// The units of new terms that are made between two collections.
    pub(crate) fn most_young_units(&self) -> usize {
        (self.options.young_bytes / 8).max(locked(&self.counts).old_units / 4)
    }

    /// Are half of the new terms made that are made between two collections? Then the table does not grow any more.
    fn is_collection_near(&self) -> bool {
        let collecting = self.collecting.load(Ordering::Relaxed);
        collecting && self.young_units.load(Ordering::Relaxed) >= self.most_young_units() / 2
    }

    /// How many new terms a table of this many slots takes.
    fn room(&self, slots: usize) -> usize {
        let room = if self.is_collection_near() { index::most_room(slots) } else { index::room(slots) };
        room.saturating_sub(locked(&self.counts).old_terms)
    }

    /// Forgets what was due, and works out when the next thing will be. The calling thread is in the exclusive section.
    fn set_due(&self) {
        // SAFETY: in the exclusive section no other thread writes the index.
        let (slots, moving) = unsafe { self.index.read(|index| (index.table.slots(), index.is_moving())) };
        let collecting = self.collecting.load(Ordering::Relaxed);
        let units = self.most_young_units();
        self.due_terms.store(self.room(slots), Ordering::Relaxed);
        self.due_units.store(if collecting { units } else { usize::MAX }, Ordering::Relaxed);
        let attention = self.attention.load(Ordering::Relaxed) & ZEALOUS;
        self.attention.store(attention | if moving { MOVING } else { 0 }, Ordering::Relaxed);
    }

    /// Must the job end? Asked at every poll.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        self.options.control.check()
    }

    /// Is there room for the terms of some more polls? Asked when something was due.
    pub(crate) fn check_room(&self) -> Result<(), Stopped> {
        let chunks = self.cells.chunks();
        let (bytes, empty) = chunks.bytes();
        // A worker makes far less between two polls than a sixteenth of all the ids there are.
        if empty == 0 && chunks.left() * CHUNK_BYTES < bytes / 16 {
            return Err(Stopped::Memory { limit: bytes as u64 });
        }
        Ok(())
    }
}
