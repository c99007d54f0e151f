//! Numberings: terms of one sort as dense numbers, as the slots of a state want them.
//!
//! A term has one sort, so one word of its cell is enough for its number. A look-up is one load. A term without a
//! number gets one from the thread that exchanges the word for a claim: that thread appends the term to the list of the
//! numbering and writes the place there as the number; threads that see the claim wait for it, a few instructions.
//!
//! Terms of a numbering are alive as long as the pool is. A collection marks each once, with all terms below it, and
//! never looks at it again.
//!
//! Numbers depend on which thread came first. What a user sees must not: [`Numbering::bytes`] and
//! [`Numbering::compare`] are the same in every run.

#![allow(unsafe_code)]

use std::cmp::Ordering as Order;
use std::ptr;
use std::sync::Arc;

use crate::cells::Term;
use crate::memory::Zeroed;
use crate::pool::Inner;
use crate::reader::Reader;
use crate::sync::{AtomicPtr, AtomicU32, AtomicUsize, Backoff, Ordering, locked};
use crate::worker::{Section, Worker};

/// The word of a term that is getting its number.
const CLAIMED: u32 = u32::MAX;

/// The first part of a list has this many places; each further one has twice as many.
const FIRST_PART: usize = if cfg!(test) { 2 } else { 64 };

/// The terms of a numbering in order. Places are only ever added.
pub(crate) struct Numbers {
    /// Each is null or comes from a box, and is freed with the list.
    parts: [AtomicPtr<Zeroed<AtomicU32>>; 32],
    length: AtomicUsize,
    /// So many terms were handed to a collection.
    marked: AtomicUsize,
}

impl Numbers {
    fn new() -> Numbers {
        Numbers {
            parts: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            length: AtomicUsize::new(0),
            marked: AtomicUsize::new(0),
        }
    }

    /// The part of a place, and the place in it.
    fn part(place: usize) -> (usize, usize) {
        let part = (place / FIRST_PART + 1).ilog2() as usize;
        (part, place - FIRST_PART * ((1 << part) - 1))
    }

    fn push(&self, term: Term) -> u32 {
        let place = self.length.fetch_add(1, Ordering::Relaxed);
        assert!(place < CLAIMED as usize - 1, "a numbering has at most {} terms", CLAIMED - 1);
        let (part, at) = Numbers::part(place);
        let places = self.get_part(part).unwrap_or_else(|| self.add_part(part));
        places[at].store(term.id(), Ordering::Release);
        place as u32
    }

    fn get_part(&self, part: usize) -> Option<&Zeroed<AtomicU32>> {
        // SAFETY: a part that is there stays until the list is dropped.
        unsafe { self.parts.get(part)?.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn add_part(&self, part: usize) -> &Zeroed<AtomicU32> {
        let made = Box::into_raw(Box::new(Zeroed::new(FIRST_PART << part)));
        let first = self.parts[part].compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
        if first.is_err() {
            // SAFETY: the box was made above and published nowhere.
            drop(unsafe { Box::from_raw(made) });
        }
        self.get_part(part).expect("this thread or another one added it")
    }

    fn get(&self, number: u32) -> Option<Term> {
        let (part, at) = Numbers::part(number as usize);
        let unit = self.get_part(part)?[at].load(Ordering::Acquire);
        (unit != 0).then(|| Term::of(unit))
    }

    /// Calls with the terms that were added since the last call. The calling thread is in the exclusive section.
    pub(crate) fn each_new(&self, mut visit: impl FnMut(Term)) {
        let length = self.length.load(Ordering::Relaxed);
        for number in self.marked.load(Ordering::Relaxed)..length {
            visit(self.get(number as u32).expect("a thread in its shared section finishes a number"));
        }
        self.marked.store(length, Ordering::Relaxed);
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        for part in &self.parts {
            let part = part.load(Ordering::Acquire);
            if !part.is_null() {
                // SAFETY: it came from a box in `add_part`, and nothing refers to the list any more.
                drop(unsafe { Box::from_raw(part) });
            }
        }
    }
}

/// A numbering of the terms of one sort. Clones are the same numbering.
#[derive(Clone)]
pub struct Numbering {
    pool: Arc<Inner>,
    numbers: Arc<Numbers>,
}

impl Numbering {
    pub(crate) fn new(pool: Arc<Inner>) -> Numbering {
        let numbers = Arc::new(Numbers::new());
        locked(&pool.numberings).push(numbers.clone());
        Numbering { pool, numbers }
    }

    /// The number of a term, which it gets now if it has none. A term has its numbers in one numbering only: that of
    /// its sort.
    #[inline]
    pub fn number(&self, section: &Section<'_>, term: Term) -> u32 {
        let word = section.cell(term)[1].load(Ordering::Acquire);
        let number = if word != 0 && word != CLAIMED { word - 1 } else { self.claim(section, term) };
        debug_assert!(self.numbers.get(number) == Some(term), "{term:?} has a number in another numbering");
        number
    }

    #[cold]
    fn claim(&self, section: &Section<'_>, term: Term) -> u32 {
        debug_assert!(std::ptr::eq(section.pool(), &*self.pool), "a numbering is used with sections of its own pool");
        let word = &section.cell(term)[1];
        let mut backoff = Backoff::default();
        loop {
            match word.compare_exchange(0, CLAIMED, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    let number = self.numbers.push(term);
                    word.store(number + 1, Ordering::Release);
                    return number;
                }
                Err(CLAIMED) => backoff.wait(),
                Err(word) => return word - 1,
            }
        }
    }

    /// The number of a term, if it has one.
    #[inline]
    pub fn find(&self, section: &Section<'_>, term: Term) -> Option<u32> {
        match section.cell(term)[1].load(Ordering::Acquire) {
            0 | CLAIMED => None,
            word => Some(word - 1),
        }
    }

    /// The term with this number. It is alive as long as the pool is.
    #[inline]
    pub fn term(&self, number: u32) -> Option<Term> {
        self.numbers.get(number)
    }

    /// How many terms have numbers.
    pub fn len(&self) -> usize {
        self.numbers.length.load(Ordering::Acquire)
    }

    /// Has no term a number?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn read<R>(&self, number: u32, look: impl FnOnce(&Reader<'_>, Term) -> R) -> R {
        let term = self.term(number).expect("a number of this numbering");
        // SAFETY: the terms of a numbering are permanent, and so are all below them.
        look(&unsafe { Reader::new(&self.pool) }, term)
    }

    /// Appends the canonical bytes of the term with this number. Needs no worker.
    ///
    /// # Panics
    ///
    /// When there is no such number; the same holds for [`Numbering::text`] and [`Numbering::compare`].
    pub fn bytes(&self, number: u32, into: &mut Vec<u8>) {
        self.read(number, |reader, term| reader.canonical(term, into));
    }

    /// The number of the term with these canonical bytes, which gets one now if it has none; none when they are no
    /// term's. Needs no worker: it makes one.
    pub fn value(&self, bytes: &[u8]) -> Option<u32> {
        let worker = Worker::new(self.pool.clone());
        let section = worker.enter();
        let term = section.read_canonical(bytes)?;
        Some(self.number(&section, term))
    }

    /// The term with this number as text. Needs no worker.
    pub fn text(&self, number: u32) -> String {
        self.read(number, |reader, term| reader.display(term).to_string())
    }

    /// The order of two terms by their canonical bytes.
    pub fn compare(&self, left: u32, right: u32) -> Order {
        let other = self.term(right).expect("a number of this numbering");
        self.read(left, |reader, term| reader.compare(term, other))
    }
}

/// Terms that live as long as their pool and need no numbers: constants of compiled code. A collection marks each once.
#[derive(Clone)]
pub struct Kept {
    numbers: Arc<Numbers>,
}

impl Kept {
    pub(crate) fn new(pool: &Inner) -> Kept {
        let numbers = Arc::new(Numbers::new());
        locked(&pool.numberings).push(numbers.clone());
        Kept { numbers }
    }

    /// Keeps a term, and all below it. The section shows that the term is alive now.
    pub fn keep(&self, _: &Section<'_>, term: Term) {
        self.numbers.push(term);
    }
}
