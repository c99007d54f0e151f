//! Collection: mark and sweep in the exclusive section, on all cores, by generations.
//!
//! The arguments of a term were made before it. So no old term has a young one below it, and the young garbage is found
//! without looking at old terms: marking begins at the roots and stops at every term that survived an earlier
//! collection. Terms do not move; a collection
//!
//! 1. marks: sets the bit `fresh` of each young term below a root; terms of numberings and all below them become
//!    `permanent` the first time, and are not looked at again;
//! 2. promotes: adds the fresh terms to the old table and makes them `live`;
//! 3. sweeps: empties the young table, and sorts chunks into empty ones, ones with holes and full ones. Dead terms are
//!    not touched. Holes are found when a worker takes the chunk. Empty chunks that the next terms will not need are
//!    given back to the operating system.
//!
//! Its cost is that of the terms that survive for the first time and of emptying the young table (eight bytes for each
//! slot). A *full* collection starts from the permanent terms alone and builds the old table anew. It is done when old
//! terms take 1.6 times what was live after the last full one; so there is at most as much old garbage as there are
//! live terms, and its cost is spread over the terms that became old meanwhile.
//!
//! # Helpers
//!
//! Marking, promoting and emptying are divided among threads when there is enough to do. Markers share their work: one
//! that has a long stack gives half of it away when another has none. A single chain of terms is marked by one.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicUsize as Counter, Ordering as Memory};
use std::sync::{Mutex as Shared, PoisonError};

use crate::cells::{CHUNK_BYTES, Cells, Chunk, Chunks, Term, arguments_of, units, words_of};
use crate::index::{hash_cell, old_room, old_slots_for, slots_for};
use crate::lock::Exclusive;
use crate::pool::Inner;
use crate::sync::{Ordering, locked};
use crate::table::Table;

/// So many terms or slots are worth a second thread.
const WORTH_HELP: usize = 1 << 17;
/// A marker with so many terms on its stack gives some away.
const LONG_STACK: usize = 1 << 10;
/// Slots that a thread empties at a time.
const EMPTIED: usize = 1 << 16;

/// Collects. What the caller wants is a full collection or not, or whatever is worth its time.
pub(crate) fn collect(pool: &Inner, _exclusive: &Exclusive<'_>, full: Option<bool>) {
    let mut chunks = pool.cells.chunks();
    let workers = locked(&pool.workers);
    let mut counts = locked(&pool.counts);
    let young_terms = pool.young_terms.load(Ordering::Relaxed);
    let worth_full = counts.old_units / 8 > counts.full_units / 5 + pool.options.young_bytes / 256;
    let full = full.unwrap_or(false) || worth_full;
    let in_question = young_terms + if full { counts.old_terms } else { 0 };
    let threads = if in_question < WORTH_HELP { 1 } else { threads(pool) };

    // What is marked: nothing young, and of the old terms those that are permanent.
    if full {
        for (_, chunk) in chunks.iter() {
            chunk.live.assign(&chunk.permanent);
        }
    }
    let mut lasting = Vec::new();
    locked(&pool.numberings).iter().for_each(|numbers| numbers.each_new(|term| lasting.push(term.id())));
    mark(&pool.cells, &chunks, lasting, true, threads);
    let mut roots = Vec::new();
    for worker in workers.iter() {
        // SAFETY: this is the exclusive section.
        unsafe { worker.each(|term| roots.push(term.id())) };
    }
    locked(&pool.parcels).each(|term| roots.push(term.id()));
    mark(&pool.cells, &chunks, roots, false, threads);

    // SAFETY: this is the exclusive section.
    let (terms, units) = unsafe {
        pool.index.write(|index| {
            index.forget_moving();
            let before = if full { (0, 0) } else { (counts.old_terms, counts.old_units) };
            let touched: Vec<(u32, &Chunk)> = chunks.iter().filter(|(_, chunk)| full || chunk.written).collect();
            let fresh: usize = touched.iter().map(|(_, chunk)| chunk.fresh.count()).sum();
            let kept: usize = if full { touched.iter().map(|(_, chunk)| chunk.live.count()).sum() } else { 0 };
            let terms = before.0 + kept + fresh;
            let fitting = index.old.as_ref().is_some_and(|old| terms <= old_room(old.slots()));
            let (added, rebuild) = if full || !fitting {
                index.old = None;
                (chunks.iter().collect(), true)
            } else {
                (touched, false)
            };
            let old = index.old.get_or_insert_with(|| Table::new(old_slots_for(terms)));
            let units = promote(&pool.cells, &added, old, rebuild, threads);
            (terms, if rebuild { units } else { before.1 + units })
        })
    };
    counts.collected += (counts.old_terms + young_terms).saturating_sub(terms) as u64;
    counts.old_terms = terms;
    counts.old_units = units;
    counts.collections += 1;
    if full {
        counts.full_units = units;
        counts.full_collections += 1;
    }
    drop(counts);

    for worker in workers.iter() {
        // SAFETY: this is the exclusive section, in which no worker uses its allocator.
        unsafe { worker.allocator.write(|allocator| allocator.reset()) };
    }
    // SAFETY: this is the exclusive section, and the allocators were reset just now.
    unsafe {
        if cfg!(all(debug_assertions, not(test))) {
            pool.cells.poison(&chunks, full);
        }
        let (slots, young_units) = pool.limits();
        pool.cells.give_back(&mut chunks, young_units * 8 / CHUNK_BYTES);
        pool.index.write(|index| {
            index.young.cut();
            // A young table that was never large is enough for a while.
            let wanted = slots.min(index.young.slots().max(slots_for(young_terms)));
            if index.young.slots() == wanted {
                empty(&index.young, threads);
            } else {
                index.young = Table::new(wanted);
            }
        });
    }
    pool.young_terms.store(0, Ordering::Relaxed);
    pool.young_units.store(0, Ordering::Relaxed);
}

fn threads(pool: &Inner) -> usize {
    match pool.options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Runs the same work on some threads; the calling thread is the first.
fn on_all(threads: usize, work: impl Fn() + Sync) {
    if threads == 1 {
        return work();
    }
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

struct Marking<'c> {
    cells: &'c Cells,
    chunks: &'c Chunks,
    lasting: bool,
    /// Terms whose arguments are to be marked, given away by those that have many.
    given: Shared<Vec<Vec<u32>>>,
    idle: Counter,
    threads: usize,
}

/// Marks these terms and all below them: as permanent, or as fresh.
fn mark(cells: &Cells, chunks: &Chunks, mut roots: Vec<u32>, lasting: bool, threads: usize) {
    let marking = Marking { cells, chunks, lasting, given: Shared::new(Vec::new()), idle: Counter::new(0), threads };
    if threads == 1 {
        roots.retain(|&term| marking.visit(term));
        return marking.run(roots);
    }
    let next = Counter::new(0);
    on_all(threads, || {
        while let Some(part) = roots.get(next.fetch_add(LONG_STACK, Memory::Relaxed)..) {
            let part = &part[..part.len().min(LONG_STACK)];
            if part.is_empty() {
                break;
            }
            marking.run(part.iter().copied().filter(|&term| marking.visit(term)).collect());
        }
        marking.help();
    });
}

impl Marking<'_> {
    /// Marks one term; whether it was not marked before.
    #[inline]
    fn visit(&self, unit: u32) -> bool {
        let (chunk, at) = self.chunks.find(unit);
        if !self.lasting {
            return !chunk.live.get(at) && chunk.fresh.set(at);
        }
        if !chunk.permanent.set(at) {
            return false;
        }
        if !chunk.live.get(at) {
            chunk.fresh.set(at);
        }
        true
    }

    fn run(&self, mut stack: Vec<u32>) {
        while let Some(unit) = stack.pop() {
            // SAFETY: the collecting thread is in the exclusive section, and gives no chunk back before marking ends.
            let cell = unsafe { self.cells.cell(unit) };
            for argument in arguments_of(cell) {
                let argument = argument.load(Ordering::Relaxed);
                if self.visit(argument) {
                    stack.push(argument);
                }
            }
            if stack.len() > LONG_STACK && self.idle.load(Memory::Relaxed) > 0 {
                let half = stack.split_off(stack.len() / 2);
                self.given.lock().unwrap_or_else(PoisonError::into_inner).push(half);
            }
        }
    }

    /// Marks what others give away, until no thread has anything left.
    fn help(&self) {
        loop {
            let given = self.given.lock().unwrap_or_else(PoisonError::into_inner).pop();
            if let Some(stack) = given {
                self.run(stack);
                continue;
            }
            self.idle.fetch_add(1, Memory::AcqRel);
            loop {
                // A thread gives work away only while it is not idle, so when all are idle nothing is left.
                if self.idle.load(Memory::Acquire) == self.threads {
                    return;
                }
                if !self.given.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                    self.idle.fetch_sub(1, Memory::AcqRel);
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
}

/// Adds the fresh terms of some chunks to the old table, or all live ones if it is built anew; their units.
fn promote(cells: &Cells, chunks: &[(u32, &Chunk)], old: &Table, rebuild: bool, threads: usize) -> usize {
    let (next, total) = (Counter::new(0), Counter::new(0));
    on_all(threads.min(chunks.len().max(1)), || {
        while let Some((first, chunk)) = chunks.get(next.fetch_add(1, Memory::Relaxed)) {
            let mut sum = 0;
            let mut add = |unit: u32| {
                // SAFETY: the collecting thread is in the exclusive section, and gives no chunk back before this ends.
                let cell = unsafe { cells.cell(first + unit) };
                old.add(hash_cell(cell), Term::of(first + unit));
                sum += units(words_of(cell));
            };
            if !rebuild {
                chunk.fresh.each(&mut add);
            }
            for (live, fresh) in chunk.live.words().iter().zip(chunk.fresh.words()) {
                let fresh_bits = fresh.load(Ordering::Relaxed);
                if fresh_bits != 0 {
                    live.store(live.load(Ordering::Relaxed) | fresh_bits, Ordering::Relaxed);
                    fresh.store(0, Ordering::Relaxed);
                }
            }
            if rebuild {
                chunk.live.each(&mut add);
                chunk.live_units.store(sum, Ordering::Relaxed);
            } else {
                chunk.live_units.store(chunk.live_units.load(Ordering::Relaxed) + sum, Ordering::Relaxed);
            }
            total.fetch_add(sum as usize, Memory::Relaxed);
        }
    });
    total.load(Memory::Relaxed)
}

fn empty(table: &Table, threads: usize) {
    let next = Counter::new(0);
    let threads = if table.slots() < WORTH_HELP { 1 } else { threads };
    on_all(threads, || {
        loop {
            let from = next.fetch_add(EMPTIED, Memory::Relaxed);
            if from >= table.slots() {
                return;
            }
            table.clear(from..table.slots().min(from + EMPTIED));
        }
    });
}
