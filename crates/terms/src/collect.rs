//! Collection: mark and sweep in the exclusive section, on all cores, by generations.
//!
//! The arguments of a term were made before it. So no old term has a young one below it, and the young garbage is found
//! without looking at old terms: marking begins at the roots and stops at every term that survived an earlier
//! collection. Terms do not move; a collection
//!
//! 1. marks: sets the bit `live` of each term below a root; terms of numberings and all below them become `permanent`
//!    the first time, and are not looked at again;
//! 2. sweeps the table: takes out the terms that are not live (see [`crate::table`]). Of dead terms nothing is read but
//!    their bit;
//! 3. sorts chunks into empty ones, ones with holes and full ones. Holes are found when a worker takes the chunk. Empty
//!    chunks that the next terms will not need are given back to the operating system.
//!
//! Its cost is that of the terms that survive for the first time and of reading the table (eight bytes for each slot).
//! When few survive, no term is looked at for the table's sake: what came since the last collection is taken out, and
//! the few are added again. Of a stack of roots the part is read that changed since. A *full* collection clears `live`
//! of all terms but the permanent ones first, and so finds old garbage, too. It is done when old terms would take more
//! than 1.6 times what was live after the last full one, if as much of the young ones survives as did the last time: so
//! there is at most as much old garbage as there are live terms, and a program whose terms all live for a while and
//! then die has full collections only.
//!
//! # Helpers
//!
//! Marking and sweeping are divided among threads when there is enough to do. Markers share their work: one that has a
//! long stack gives half of it away when another has none. A single chain of terms is marked by one. The collecting
//! thread sets the bits `live`, its helpers the bits `helped`, so that two threads need no atomic instruction to mark;
//! all look at both. Two threads may mark a term at the same time then; such a term is counted once when the bits are
//! united.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicUsize as Counter, Ordering as Memory};
use std::sync::{Barrier, Mutex as Shared, PoisonError};

use crate::cells::{
    BitWords, CHUNK_BITS, CHUNK_BYTES, CHUNK_UNITS, Cells, Chunk, Chunks, Term, arguments_of, units, words_of,
};
use crate::index::{Index, hash, slots_for};
use crate::lock::Exclusive;
use crate::pool::{Counts, Inner};
use crate::sync::{AtomicU64, Ordering, locked};
use crate::table::{Age, Table};

/// So many terms or slots are worth a second thread.
const WORTH_HELP: usize = 1 << 17;
/// A marker with so many terms on its stack gives some away.
const LONG_STACK: usize = 1 << 10;
/// Slots that a thread sweeps at a time.
const SWEPT: usize = 1 << 15;
/// Survivors are few when the table has at least this many slots for each: adding a term costs as much as sweeping
/// them.
const FEW: usize = if cfg!(test) { 2 } else { 64 };
/// Every sixteenth word of bits is in a sample of the old terms.
const SAMPLED: usize = 16;

/// Collects. What the caller wants is a full collection or not, or whatever is worth its time.
pub(crate) fn collect(pool: &Inner, _exclusive: &Exclusive<'_>, full: Option<bool>) {
    let mut chunks = pool.cells.chunks();
    let workers = locked(&pool.workers);
    let mut counts = locked(&pool.counts);
    let young = (pool.young_terms.load(Ordering::Relaxed), pool.young_units.load(Ordering::Relaxed));
    let full = full.unwrap_or(false) || is_full_worth(pool, &counts, young.1);
    let in_question = young.0 + if full { counts.old_terms } else { 0 };
    let threads = if in_question < WORTH_HELP { 1 } else { threads(pool) };

    // What is marked: nothing young, and of the old terms those that are permanent.
    let sample = if full { Sample::of(&chunks) } else { Sample::default() };
    if full {
        for (_, chunk) in chunks.iter() {
            chunk.live.assign(&chunk.permanent);
            chunk.live_units.store(chunk.permanent_units.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
    let mut lasting = Vec::new();
    locked(&pool.numberings).iter().for_each(|numbers| numbers.each_new(|term| lasting.push(term.id())));
    // SAFETY: this is the exclusive section.
    let few = if full { 0 } else { unsafe { pool.index.read(|index| index.table.slots() / FEW) } };
    let mut survivors = Survivors::new(few);
    mark_permanent(&pool.cells, &chunks, lasting, &mut survivors);
    let mut roots = Vec::new();
    for worker in workers.iter() {
        // SAFETY: this is the exclusive section.
        unsafe { worker.each(full, |term| roots.push(term.id())) };
    }
    locked(&pool.parcels).each(|term| roots.push(term.id()));
    mark(&pool.cells, &chunks, &roots, &mut survivors, threads);

    let units: usize = chunks.iter().map(|(_, chunk)| chunk.live_units.load(Ordering::Relaxed) as usize).sum();
    let old_units = if full { (counts.old_units as f64 * sample.survival(&chunks)) as usize } else { counts.old_units };
    counts.young_survival = (units.saturating_sub(old_units) as f64 / young.1.max(1) as f64).min(1.0);
    counts.old_units = units;
    let old_terms = std::mem::take(&mut counts.old_terms);
    counts.collections += 1;
    if full {
        counts.full_units = units;
        counts.full_collections += 1;
    }
    drop(counts);

    let young_units = pool.most_young_units();
    // SAFETY: this is the exclusive section.
    let terms = unsafe {
        pool.index.write(|index| match survivors.all() {
            Some(survivors) if !full && index.is_settled() => {
                old_terms + forget_young(&pool.cells, index, survivors, threads)
            }
            _ => sweep(&pool.cells, &chunks, index, young_units / 2, threads),
        })
    };
    let mut counts = locked(&pool.counts);
    counts.collected += (old_terms + young.0).saturating_sub(terms) as u64;
    counts.old_terms = terms;
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
        pool.cells.give_back(&mut chunks, young_units * 8 / CHUNK_BYTES);
    }
    pool.young_terms.store(0, Ordering::Relaxed);
    pool.young_units.store(0, Ordering::Relaxed);
}

/// Is old garbage worth looking for?
fn is_full_worth(pool: &Inner, counts: &Counts, young_units: usize) -> bool {
    let expected = counts.old_units as f64 + young_units as f64 * counts.young_survival;
    counts.old_units == 0 || expected > 1.6 * counts.full_units as f64 + (pool.options.young_bytes / 256) as f64
}

/// Some of the old terms, to see how many of them a full collection finds alive.
#[derive(Default)]
struct Sample {
    words: Vec<u64>,
}

impl Sample {
    fn of(chunks: &Chunks) -> Sample {
        Sample { words: Sample::words(chunks).collect() }
    }

    fn words(chunks: &Chunks) -> impl Iterator<Item = u64> {
        let words = chunks.iter().flat_map(|(_, chunk)| chunk.live.words().iter().step_by(SAMPLED));
        words.map(|word| word.load(Ordering::Relaxed))
    }

    /// How much of the sample is live now.
    fn survival(&self, chunks: &Chunks) -> f64 {
        let before: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        let after: u32 =
            self.words.iter().zip(Sample::words(chunks)).map(|(word, now)| (word & now).count_ones()).sum();
        if before == 0 { 1.0 } else { f64::from(after) / f64::from(before) }
    }
}

/// The terms that a collection marks, as long as they are few. A term may be in it twice.
#[derive(Clone)]
struct Survivors {
    terms: Vec<u32>,
    few: usize,
}

impl Survivors {
    fn new(few: usize) -> Survivors {
        Survivors { terms: Vec::new(), few }
    }

    #[inline]
    fn note(&mut self, unit: u32) {
        if self.terms.len() <= self.few {
            self.terms.push(unit);
        }
    }

    fn add(&mut self, others: &Survivors) {
        others.terms.iter().for_each(|&unit| self.note(unit));
    }

    /// All of them, or none when they are many.
    fn all(&self) -> Option<&[u32]> {
        (self.terms.len() <= self.few).then_some(&self.terms)
    }
}

fn threads(pool: &Inner) -> usize {
    match pool.options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Runs the same work on some threads, which it gets the numbers of; the calling thread is number 0.
fn on_all(threads: usize, work: impl Fn(usize) + Sync) {
    if threads == 1 {
        return work(0);
    }
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let work = &work;
            scope.spawn(move || work(thread));
        }
        work(0);
    });
}

/// Marks these terms and all below them as permanent, on the calling thread: a term becomes so once.
fn mark_permanent(cells: &Cells, chunks: &Chunks, mut stack: Vec<u32>, survivors: &mut Survivors) {
    let visit = |unit: u32| {
        let (chunk, at) = chunks.find(unit);
        chunk.permanent.set_alone(at)
    };
    stack.retain(|&unit| visit(unit));
    while let Some(unit) = stack.pop() {
        // SAFETY: the collecting thread is in the exclusive section, and gives no chunk back before marking ends.
        let cell = unsafe { cells.cell(unit) };
        let (chunk, at) = chunks.find(unit);
        chunk.permanent_units.fetch_add(units(words_of(cell)), Ordering::Relaxed);
        if chunk.live.set_alone(at) {
            survivors.note(unit);
            chunk.live_units.fetch_add(units(words_of(cell)), Ordering::Relaxed);
        }
        let arguments = arguments_of(cell).iter().map(|argument| argument.load(Ordering::Relaxed));
        stack.extend(arguments.filter(|&argument| visit(argument)));
    }
}

/// What the threads that mark share.
struct Marking<'c> {
    cells: &'c Cells,
    chunks: &'c Chunks,
    /// Terms whose arguments are to be marked, given away by those that have many.
    given: Shared<Vec<Vec<u32>>>,
    idle: Counter,
    threads: usize,
}

/// A thread that marks.
struct Marker<'m> {
    marking: &'m Marking<'m>,
    helps: bool,
    /// Units that it marked in each chunk.
    units: Vec<u32>,
    survivors: Survivors,
}

/// Marks these terms and all below them as live.
fn mark(cells: &Cells, chunks: &Chunks, roots: &[u32], survivors: &mut Survivors, threads: usize) {
    let marking = Marking { cells, chunks, given: Shared::new(Vec::new()), idle: Counter::new(0), threads };
    let next = Counter::new(0);
    let none = Survivors::new(survivors.few);
    let all = Shared::new(survivors);
    on_all(threads, |thread| {
        let (units, survivors) = (vec![0; chunks.all.len()], none.clone());
        let mut marker = Marker { marking: &marking, helps: thread > 0, units, survivors };
        while let Some(part) = roots.get(next.fetch_add(LONG_STACK, Memory::Relaxed)..) {
            let part = &part[..part.len().min(LONG_STACK)];
            if part.is_empty() {
                break;
            }
            let stack = part.iter().rev().copied().filter(|&term| marker.visit(term)).collect();
            marker.run(stack);
        }
        marker.help();
        all.lock().unwrap_or_else(PoisonError::into_inner).add(&marker.survivors);
        for (chunk, &units) in chunks.all.iter().zip(&marker.units) {
            if let Some(chunk) = chunk {
                chunk.live_units.fetch_add(units, Ordering::Relaxed);
            }
        }
    });
    if threads > 1 {
        chunks.iter().for_each(|(first, chunk)| unite(cells, first, chunk));
    }
}

/// Makes live what helpers marked. A term that two threads marked at the same time was counted twice.
fn unite(cells: &Cells, first: u32, chunk: &Chunk) {
    for (place, (live, helped)) in chunk.live.words().iter().zip(chunk.helped.words()).enumerate() {
        let (mine, theirs) = (live.load(Ordering::Relaxed), helped.load(Ordering::Relaxed));
        if theirs == 0 {
            continue;
        }
        let mut twice = mine & theirs;
        while twice != 0 {
            // SAFETY: the collecting thread is in the exclusive section, and gives no chunk back before this ends.
            let cell = unsafe { cells.cell(first + place as u32 * 64 + twice.trailing_zeros()) };
            chunk.live_units.fetch_sub(units(words_of(cell)), Ordering::Relaxed);
            twice &= twice - 1;
        }
        live.store(mine | theirs, Ordering::Relaxed);
        helped.store(0, Ordering::Relaxed);
    }
}

impl Marker<'_> {
    /// Marks one term; whether it was not marked before.
    #[inline]
    fn visit(&self, unit: u32) -> bool {
        let (chunk, at) = self.marking.chunks.find(unit);
        match self.marking.threads {
            1 => chunk.live.set_alone(at),
            _ if chunk.live.get(at) => false,
            _ if !self.helps => !chunk.helped.get(at) && chunk.live.set_alone(at),
            2 => chunk.helped.set_alone(at),
            _ => !chunk.helped.get(at) && chunk.helped.set(at),
        }
    }

    fn run(&mut self, mut stack: Vec<u32>) {
        while let Some(unit) = stack.pop() {
            // SAFETY: the collecting thread is in the exclusive section, and gives no chunk back before marking ends.
            let cell = unsafe { self.marking.cells.cell(unit) };
            self.units[(unit >> CHUNK_BITS) as usize] += units(words_of(cell));
            self.survivors.note(unit);
            for argument in arguments_of(cell) {
                let argument = argument.load(Ordering::Relaxed);
                if self.visit(argument) {
                    stack.push(argument);
                }
            }
            if stack.len() > LONG_STACK && self.marking.idle.load(Memory::Relaxed) > 0 {
                let half = stack.split_off(stack.len() / 2);
                self.marking.given.lock().unwrap_or_else(PoisonError::into_inner).push(half);
            }
        }
    }

    /// Marks what others give away, until no thread has anything left.
    fn help(&mut self) {
        let marking = self.marking;
        loop {
            let given = marking.given.lock().unwrap_or_else(PoisonError::into_inner).pop();
            if let Some(stack) = given {
                self.run(stack);
                continue;
            }
            marking.idle.fetch_add(1, Memory::AcqRel);
            loop {
                // A thread gives work away only while it is not idle, so when all are idle nothing is left.
                if marking.idle.load(Memory::Acquire) == marking.threads {
                    return;
                }
                if !marking.given.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                    marking.idle.fetch_sub(1, Memory::AcqRel);
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
}

/// Takes dead terms out of the table; how many terms are left. A table that is too large for them and so many new ones
/// is exchanged for a smaller one.
fn sweep(cells: &Cells, chunks: &Chunks, index: &mut Index, young_terms: usize, threads: usize) -> usize {
    // What a look at each slot needs, in two small arrays: whether a term of the chunk is live, and its bits.
    let none: BitWords = std::array::from_fn(|_| AtomicU64::new(0));
    let (mut some_live, mut bits) = (Vec::new(), Vec::new());
    for chunk in &chunks.all {
        some_live.push(chunk.as_ref().is_some_and(|chunk| chunk.live_units.load(Ordering::Relaxed) > 0));
        bits.push(chunk.as_ref().map_or(&none, |chunk| chunk.live.words()));
    }
    let may_live = |unit: u32| some_live[(unit >> CHUNK_BITS) as usize];
    let is_live = |unit: u32| {
        let (words, at): (&BitWords, u32) = (bits[(unit >> CHUNK_BITS) as usize], unit % CHUNK_UNITS);
        words[(at / 64) as usize].load(Ordering::Relaxed) >> (at % 64) & 1 != 0
    };
    let mut others = Vec::new();
    index.take_others(|term| {
        if is_live(term.id()) {
            others.push(term);
        }
    });
    let stay = sweep_table(cells, &index.table, (may_live, is_live), others, threads);
    let wanted = slots_for(stay + young_terms);
    if index.table.slots() > wanted {
        let large = std::mem::replace(&mut index.table, Table::new(wanted));
        let mut part = Some(&large);
        while let Some(slots) = part {
            slots.each(0..slots.slots(), |term| {
                index.table.add(hash(cells, term), term, Age::Old);
            });
            part = slots.next();
        }
    }
    index.table.settle();
    stay
}

/// Takes the terms that came since the last collection out of the table, and adds those of them that survive again; how
/// many these are.
fn forget_young(cells: &Cells, index: &mut Index, survivors: &[u32], threads: usize) -> usize {
    drop(index.table.take_next());
    let table = &index.table;
    let threads = if table.slots() < WORTH_HELP { 1 } else { threads };
    let next = Counter::new(0);
    on_all(threads, |_| {
        loop {
            let from = next.fetch_add(SWEPT, Memory::Relaxed);
            if from >= table.slots() {
                break;
            }
            table.forget_young(from..table.slots().min(from + SWEPT));
        }
    });
    let terms = survivors.iter().map(|&unit| Term::of(unit));
    let added = terms.filter(|&term| table.add(hash(cells, term), term, Age::Old)).count();
    index.table.settle();
    added
}

/// Sweeps a table, and adds the terms that lie elsewhere; how many terms are in it then.
fn sweep_table(
    cells: &Cells,
    table: &Table,
    live: (impl Fn(u32) -> bool + Sync, impl Fn(u32) -> bool + Sync),
    others: Vec<Term>,
    threads: usize,
) -> usize {
    let threads = if table.slots() < WORTH_HELP { 1 } else { threads };
    let (next, total) = (Counter::new(0), Counter::new(others.len()));
    let all_swept = Barrier::new(threads);
    let add_again = |terms: &[Term]| {
        for &term in terms {
            table.add(hash(cells, term), term, Age::Old);
        }
    };
    on_all(threads, |_| {
        let (mut stay, mut away) = (0, Vec::new());
        loop {
            let from = next.fetch_add(SWEPT, Memory::Relaxed);
            if from >= table.slots() {
                break;
            }
            stay += table.sweep(from..table.slots().min(from + SWEPT), (&live.0, &live.1), |term| away.push(term));
        }
        total.fetch_add(stay + away.len(), Memory::Relaxed);
        all_swept.wait();
        add_again(&away);
    });
    add_again(&others);
    total.into_inner()
}
