//! Where terms lie: cells of 8-byte units in chunks of a megabyte.
//!
//! A [`Term`] is the number of the first unit of its cell; unit 0 is no term's. The upper bits choose a chunk out of a
//! directory of fixed size, so an inspection is a load from the directory and one from the chunk, without a lock. A
//! cell consists of 32-bit words:
//!
//! | word | application | machine word | bytes |
//! |---|---|---|---|
//! | 0 | its symbol | [`Symbol::WORD`] | [`Symbol::BYTES`] |
//! | 1 | its number in the numbering of its sort, plus one | the same | the same |
//! | 2 … | the arguments (with an arity of 255 or more: first the arity) | low half, high half | length, four bytes a word |
//!
//! # Words are atomics
//!
//! A cell is written by one thread before a compare-exchange publishes its number, and only read afterwards (but for
//! the word of the numbering). All accesses are relaxed atomics nevertheless, which cost nothing, for an id that its
//! user kept too long: it may point into a cell that another thread is writing. Such an id gives some term or a panic,
//! never undefined behaviour. Slices over the words end with the chunk, so no such id reads outside of it.
//!
//! # Allocation
//!
//! A worker takes a chunk, or the holes of one, and fills it from the front; so neighbours in time are neighbours in
//! memory, and threads write different lines. The cell that is written for a term which another thread publishes first
//! is the cell of the worker's next term. Holes are found from the bits of the last collection, when a worker takes the
//! chunk: a collection itself sweeps no cell.
//!
//! # Bits
//!
//! A chunk has three bits for each unit. `live` says that a term begins here that survived the last collection,
//! `helped` that a helper of the collection under way marked it, `permanent` that the term is one of a numbering or
//! below one. Only the thread in the exclusive section and its helpers write them.

#![allow(unsafe_code)]

use std::fmt;

use crate::memory::Zeroed;
use crate::symbols::{Symbol, WIDE};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, locked};

/// A term of a pool: a number that stands for it. Equal terms of a pool have equal numbers.
///
/// A term stays what it is until the next poll of the worker that made or read it; over a poll it must be held by a
/// root ([`crate::Section::root`], [`crate::RootStack`], [`crate::Parcel`], [`crate::Numbering`]). The number is no
/// order: use [`crate::Section::compare`] for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Term(u32);

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl Term {
    #[inline]
    pub(crate) fn of(unit: u32) -> Term {
        Term(unit)
    }

    /// The number itself, for tables that are indexed or hashed by terms while no poll lies between.
    #[inline]
    pub fn id(self) -> u32 {
        self.0
    }
}

/// A chunk has two to the power of this units.
pub(crate) const CHUNK_BITS: u32 = if cfg!(test) {
    4
} else if cfg!(miri) {
    10
} else {
    17
};
pub(crate) const CHUNK_UNITS: u32 = 1 << CHUNK_BITS;
const CHUNK_WORDS: usize = CHUNK_UNITS as usize * 2;
/// Words behind a chunk in which no term lies: with them the arguments of every cell that is not wide are within the
/// memory, and the compiler leaves the check out. They are never written, and so never resident.
const SLACK: usize = if cfg!(test) { 0 } else { 256 };
/// The bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = CHUNK_WORDS * 4;
/// How many chunks there can be: as many as fit ids of 32 bits.
const CHUNKS: usize = if cfg!(test) {
    8
} else if cfg!(miri) {
    64
} else {
    1 << (32 - CHUNK_BITS)
};
/// Terms of more units do not lie in holes.
const SMALL_UNITS: u32 = 32;
/// A chunk is filled again when this fraction of it is free.
const WORTH_FILLING: u32 = 4;

/// The most arguments of a term.
pub const MOST_ARGUMENTS: usize = CHUNK_WORDS - 8;
/// The longest byte string that is one leaf.
pub const MOST_BYTES: usize = (CHUNK_WORDS - 8) * 4;

/// How many units a cell with this many words has.
#[inline]
pub(crate) fn units(words: usize) -> u32 {
    words.div_ceil(2) as u32
}

/// The words of a cell, by its symbol and what stands in its third word.
#[inline]
pub(crate) fn words_of(cell: &[AtomicU32]) -> usize {
    let symbol = Symbol(cell[0].load(Ordering::Relaxed));
    match symbol {
        Symbol::WORD => 4,
        Symbol::BYTES => 3 + (cell[2].load(Ordering::Relaxed) as usize).div_ceil(4),
        _ if symbol.code() < WIDE => 2 + symbol.code() as usize,
        _ => 3 + cell[2].load(Ordering::Relaxed) as usize,
    }
}

/// The arguments in a cell; none in a leaf.
#[inline]
pub(crate) fn arguments_of(cell: &[AtomicU32]) -> &[AtomicU32] {
    let code = cell[0].load(Ordering::Relaxed) & 0xff;
    if code < WIDE { &cell[2..2 + code as usize] } else { &cell[3..3 + cell[2].load(Ordering::Relaxed) as usize] }
}

/// All cells of a pool.
pub(crate) struct Cells {
    directory: Box<[AtomicPtr<AtomicU32>; CHUNKS]>,
    chunks: Mutex<Chunks>,
}

/// The chunks, and what is free of them.
#[derive(Default)]
pub(crate) struct Chunks {
    pub(crate) all: Vec<Option<Chunk>>,
    /// Chunks in which no term lies.
    empty: Vec<u32>,
    /// Chunks with holes that no worker filled since the last collection.
    holed: Vec<u32>,
    /// What workers that ended left over.
    spare: Vec<(u32, u32)>,
    /// Numbers of chunks that were given back.
    unused: Vec<u32>,
    in_use: usize,
}

/// A chunk.
pub(crate) struct Chunk {
    memory: Zeroed<AtomicU32>,
    pub(crate) live: Bits,
    pub(crate) helped: Bits,
    pub(crate) permanent: Bits,
    /// Units of live terms, and of those among them that are permanent.
    pub(crate) live_units: AtomicU32,
    pub(crate) permanent_units: AtomicU32,
    /// Did a worker write to it since the last collection?
    pub(crate) written: bool,
}

/// A bit for each unit of a chunk.
pub(crate) struct Bits {
    words: Box<BitWords>,
}

/// The bits of a chunk, 64 in a word.
pub(crate) type BitWords = [AtomicU64; (CHUNK_UNITS as usize).div_ceil(64)];

impl Bits {
    fn new() -> Bits {
        Bits { words: Box::new(std::array::from_fn(|_| AtomicU64::new(0))) }
    }

    #[inline]
    pub(crate) fn get(&self, unit: u32) -> bool {
        self.words[unit as usize / 64 % self.words.len()].load(Ordering::Relaxed) >> (unit % 64) & 1 != 0
    }

    /// Sets a bit; whether this call did it. Only one thread sets bits meanwhile: without an atomic instruction it
    /// takes a quarter of the time.
    #[inline]
    pub(crate) fn set_alone(&self, unit: u32) -> bool {
        let bit = 1 << (unit % 64);
        let word = &self.words[unit as usize / 64 % self.words.len()];
        let before = word.load(Ordering::Relaxed);
        word.store(before | bit, Ordering::Relaxed);
        before & bit == 0
    }

    /// Sets a bit; whether this call did it.
    #[inline]
    pub(crate) fn set(&self, unit: u32) -> bool {
        let bit = 1 << (unit % 64);
        self.words[unit as usize / 64 % self.words.len()].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    pub(crate) fn words(&self) -> &BitWords {
        &self.words
    }

    /// Takes the bits of another.
    pub(crate) fn assign(&self, other: &Bits) {
        for (word, other) in self.words.iter().zip(&*other.words) {
            word.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Calls with every unit that is set, ascending.
    pub(crate) fn each(&self, mut visit: impl FnMut(u32)) {
        for (at, word) in self.words.iter().enumerate() {
            let mut word = word.load(Ordering::Relaxed);
            while word != 0 {
                visit(at as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
}

/// Where a worker puts its next terms, and how many it made.
#[derive(Default)]
pub(crate) struct Allocator {
    pub(crate) next: u32,
    end: u32,
    /// Further holes, the first one last.
    holes: Vec<(u32, u32)>,
    /// Terms and units since they were last counted.
    pub(crate) terms: u32,
    pub(crate) units: u32,
}

impl Allocator {
    /// Forgets where to put terms: every chunk is free to be given back.
    pub(crate) fn reset(&mut self) {
        *self = Allocator::default();
    }

    #[inline]
    pub(crate) fn has_room(&self, units: u32) -> bool {
        self.end - self.next >= units
    }

    /// The cell at `next` holds a term now.
    #[inline]
    pub(crate) fn advance(&mut self, units: u32) {
        self.next += units;
        self.terms += 1;
        self.units += units;
    }
}

impl Cells {
    pub(crate) fn new() -> Cells {
        let directory: Box<[AtomicPtr<AtomicU32>]> =
            (0..CHUNKS).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        let directory = directory.try_into().unwrap_or_else(|_| unreachable!("made with this length"));
        Cells { directory, chunks: Mutex::new(Chunks::default()) }
    }

    /// The words from the beginning of a term to the end of its chunk.
    ///
    /// # Safety
    ///
    /// The chunk is not given back while the words are used: the calling thread is in a section of the lock, or the
    /// term is permanent.
    ///
    /// # Panics
    ///
    /// When there is no such chunk, which shows that the term was held over a poll without a root.
    #[inline(always)]
    pub(crate) unsafe fn cell(&self, unit: u32) -> &[AtomicU32] {
        let chunk = self.directory[(unit >> CHUNK_BITS) as usize % CHUNKS].load(Ordering::Acquire);
        if chunk.is_null() {
            collected(unit);
        }
        let offset = (unit & (CHUNK_UNITS - 1)) as usize * 2;
        // SAFETY: a chunk in the directory has `CHUNK_WORDS + SLACK` words, `offset` is below `CHUNK_WORDS`, and by the
        // contract the chunk stays.
        unsafe { std::slice::from_raw_parts(chunk.add(offset), CHUNK_WORDS + SLACK - offset) }
    }

    /// Finds room for this many units at `next` of the allocator.
    #[cold]
    pub(crate) fn refill(&self, allocator: &mut Allocator, units: u32) {
        let mut chunks = locked(&self.chunks);
        let rest = (allocator.next, allocator.end);
        if units > SMALL_UNITS {
            (allocator.next, allocator.end) = self.empty_chunk(&mut chunks);
            if rest.0 < rest.1 {
                allocator.holes.push(rest);
            }
            assert!(allocator.has_room(units), "a term must fit a chunk");
            return;
        }
        loop {
            while let Some((next, end)) = allocator.holes.pop() {
                if end - next >= units {
                    (allocator.next, allocator.end) = (next, end);
                    return;
                }
            }
            if let Some(spare) = chunks.spare.pop() {
                allocator.holes.push(spare);
            } else if let Some(number) = chunks.holed.pop() {
                // SAFETY: this worker is in a shared section, so no chunk is given back.
                unsafe { self.find_holes(&mut chunks, number, &mut allocator.holes) };
            } else {
                allocator.holes.push(self.empty_chunk(&mut chunks));
            }
        }
    }

    /// Takes what the allocator of a worker that ends has left over.
    pub(crate) fn take_back(&self, allocator: &mut Allocator) {
        let mut chunks = locked(&self.chunks);
        chunks.spare.append(&mut allocator.holes);
        if allocator.next < allocator.end {
            chunks.spare.push((allocator.next, allocator.end));
        }
        allocator.reset();
    }

    /// The units of a chunk without terms.
    fn empty_chunk(&self, chunks: &mut Chunks) -> (u32, u32) {
        let number = chunks.empty.pop().unwrap_or_else(|| {
            let number = chunks.unused.pop().unwrap_or_else(|| {
                assert!(chunks.all.len() < CHUNKS, "terms need more than {} GB", (CHUNKS * CHUNK_BYTES) >> 30);
                chunks.all.push(None);
                chunks.all.len() as u32 - 1
            });
            let chunk = Chunk {
                memory: Zeroed::new(CHUNK_WORDS + SLACK),
                live: Bits::new(),
                helped: Bits::new(),
                permanent: Bits::new(),
                live_units: AtomicU32::new(0),
                permanent_units: AtomicU32::new(0),
                written: false,
            };
            self.directory[number as usize].store(chunk.memory.as_ptr(), Ordering::Release);
            chunks.all[number as usize] = Some(chunk);
            chunks.in_use += 1;
            number
        });
        chunks.all[number as usize].as_mut().expect("a chunk that is there").written = true;
        let first = number << CHUNK_BITS;
        // Unit 0 is no term. The last unit of the last chunk is left out: the end of a hole has 32 bits, too.
        (first.max(1), first.saturating_add(CHUNK_UNITS))
    }

    /// Appends the holes of a chunk, the first one last.
    ///
    /// # Safety
    ///
    /// As for [`Cells::cell`].
    unsafe fn find_holes(&self, chunks: &mut Chunks, number: u32, holes: &mut Vec<(u32, u32)>) {
        let chunk = chunks.all[number as usize].as_mut().expect("a chunk that is there");
        chunk.written = true;
        let from = holes.len();
        // SAFETY: by the contract.
        unsafe { self.each_hole(number, &chunks.all[number as usize], |next, end| holes.push((next, end))) };
        holes[from..].reverse();
    }

    /// Calls with the beginning and the end of each hole of a chunk, ascending.
    ///
    /// # Safety
    ///
    /// As for [`Cells::cell`].
    unsafe fn each_hole(&self, number: u32, chunk: &Option<Chunk>, mut visit: impl FnMut(u32, u32)) {
        let chunk = chunk.as_ref().expect("a chunk that is there");
        let first = number << CHUNK_BITS;
        let mut next = first.max(1);
        chunk.live.each(|unit| {
            let live = first + unit;
            if next < live {
                visit(next, live);
            }
            // SAFETY: by the contract.
            next = live + units(words_of(unsafe { self.cell(live) }));
        });
        let end = first.saturating_add(CHUNK_UNITS);
        if next < end {
            visit(next, end);
        }
    }

    /// Writes [`Symbol::POISON`] over the holes of all chunks, or of those that were written since the last collection.
    ///
    /// # Safety
    ///
    /// The calling thread is in the exclusive section.
    pub(crate) unsafe fn poison(&self, chunks: &Chunks, all: bool) {
        for (number, chunk) in chunks.all.iter().enumerate() {
            if chunk.as_ref().is_some_and(|chunk| all || chunk.written) {
                let poison = |next: u32, end: u32| {
                    for unit in next..end {
                        // SAFETY: no chunk is given back meanwhile.
                        let cell = unsafe { self.cell(unit) };
                        cell[0].store(Symbol::POISON.0, Ordering::Relaxed);
                        cell[1].store(u32::MAX, Ordering::Relaxed);
                    }
                };
                // SAFETY: the same.
                unsafe { self.each_hole(number as u32, chunk, poison) };
            }
        }
    }

    /// The chunks, for the thread that collects or counts.
    pub(crate) fn chunks(&self) -> MutexGuard<'_, Chunks> {
        locked(&self.chunks)
    }

    /// Sorts chunks by what is free of them, and gives back those without a term but for `keep`.
    ///
    /// # Safety
    ///
    /// The calling thread is in the exclusive section, and no allocator of a worker has room.
    pub(crate) unsafe fn give_back(&self, chunks: &mut Chunks, keep: usize) {
        chunks.empty.clear();
        chunks.holed.clear();
        chunks.spare.clear();
        // From the last, so that the first ones are taken first.
        for number in (0..chunks.all.len() as u32).rev() {
            let Some(chunk) = &mut chunks.all[number as usize] else { continue };
            chunk.written = false;
            let live = chunk.live_units.load(Ordering::Relaxed);
            if live == 0 {
                chunks.empty.push(number);
            } else if CHUNK_UNITS - live >= CHUNK_UNITS / WORTH_FILLING {
                chunks.holed.push(number);
            }
        }
        let excess = chunks.empty.len().saturating_sub(keep);
        for number in chunks.empty.drain(..excess) {
            self.directory[number as usize].store(std::ptr::null_mut(), Ordering::Release);
            chunks.all[number as usize] = None;
            chunks.unused.push(number);
            chunks.in_use -= 1;
        }
    }
}

impl Chunks {
    /// The chunk of a unit, and the unit's place in it.
    #[inline]
    pub(crate) fn find(&self, unit: u32) -> (&Chunk, u32) {
        match self.all.get((unit >> CHUNK_BITS) as usize) {
            Some(Some(chunk)) => (chunk, unit & (CHUNK_UNITS - 1)),
            _ => collected(unit),
        }
    }

    /// The chunks that are there, with the number of their first unit.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Chunk)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(number, chunk)| Some(((number as u32) << CHUNK_BITS, chunk.as_ref()?)))
    }

    /// The bytes of all chunks with their bits, and of those among them in which no term lies.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        const WITH_BITS: usize = CHUNK_BYTES + 3 * CHUNK_UNITS as usize / 8;
        (self.in_use * WITH_BITS, self.empty.len() * WITH_BITS)
    }

    /// How many chunks can still be made.
    pub(crate) fn left(&self) -> usize {
        CHUNKS - self.in_use
    }
}

#[cold]
#[inline(never)]
fn collected(unit: u32) -> ! {
    panic!("term #{unit} was collected: it was held over a poll without a root")
}
