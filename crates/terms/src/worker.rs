//! A thread's handle to a pool, and the sections in which it makes and reads terms.
//!
//! Creating a term is a hash, a look at one slot and a comparison when the term exists; that part is inlined. The
//! section is held through many creations and left at polls, so the lock costs nothing per term.

#![allow(unsafe_code)]

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use trefoil_control::Stopped;

use crate::canonical;
use crate::cells::{Cells, MOST_ARGUMENTS, MOST_BYTES, Term, units};
use crate::index::Index;
use crate::lock::Member;
use crate::pool::{DUE, Inner, MOVING, Probes, ZEALOUS};
use crate::reader::Reader;
use crate::roots::{Parcel, Root, RootStack, WorkerRoots};
use crate::symbols::{Symbol, WIDE};
use crate::sync::{AtomicU32, Ordering, locked};
use crate::table::{Hashed, Probe};

/// A worker counts so many new terms before it adds them to the count of the pool.
const BATCH: u32 = if cfg!(test) { 1 } else { 256 };

/// A thread's handle to a pool. It stays on its thread.
///
/// A worker outside of its sections holds up nothing, however long its thread waits for something else; one inside a
/// [`Section`] does.
pub struct Worker {
    local: Rc<Local>,
}

/// A worker's state, which its roots share.
pub(crate) struct Local {
    pub(crate) pool: Arc<Inner>,
    pub(crate) member: Member,
    pub(crate) roots: Arc<WorkerRoots>,
}

impl Local {
    /// Runs something in a shared section, and leaves it without doing what is due.
    pub(crate) fn inside<R>(&self, work: impl FnOnce(&Local) -> R) -> R {
        let _shared = self.member.shared();
        work(self)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.inside(|local| {
            let (terms, units) = {
                // SAFETY: the worker is in a shared section, and no reference to its allocator is held.
                unsafe {
                    local.roots.allocator.write(|allocator| {
                        let counts = (allocator.terms, allocator.units);
                        local.pool.cells.take_back(allocator);
                        counts
                    })
                }
            };
            local.pool.count(terms, units);
            locked(&local.pool.workers).retain(|roots| !Arc::ptr_eq(roots, &local.roots));
        });
    }
}

impl Worker {
    pub(crate) fn new(pool: Arc<Inner>) -> Worker {
        let member = pool.lock.join();
        let roots = Arc::new(WorkerRoots::default());
        let local = Local { pool, member, roots };
        local.inside(|local| locked(&local.pool.workers).push(local.roots.clone()));
        Worker { local: Rc::new(local) }
    }

    /// Begins a section, in which terms are made and read. Sections of a worker may be nested.
    #[inline]
    pub fn enter(&self) -> Section<'_> {
        self.local.member.enter();
        // SAFETY: the reader is used while the section lasts.
        Section { local: &self.local, reader: unsafe { Reader::new(&self.local.pool) } }
    }

    /// A stack of terms that survive collections.
    pub fn stack(&self) -> RootStack {
        RootStack::new(&self.local)
    }

    /// Collects the garbage among the terms that were made since the last collection.
    ///
    /// # Panics
    ///
    /// Inside a section.
    pub fn collect(&mut self) {
        self.local.pool.collect(&self.local.member, false);
    }

    /// Collects all garbage.
    ///
    /// # Panics
    ///
    /// Inside a section.
    pub fn collect_all(&mut self) {
        self.local.pool.collect(&self.local.member, true);
    }

    /// Ends the worker and hands the terms of some roots over to another thread.
    pub fn end(self, roots: impl IntoIterator<Item = Root>) -> Parcel {
        let roots: Vec<Root> = roots.into_iter().collect();
        let section = self.enter();
        let terms: Vec<Term> = roots.iter().map(Root::term).collect();
        section.send(&terms)
    }

    /// Looks every term in the tables up, and says how many slots that reads, or what is wrong: a term that is not
    /// found, or found twice. Takes about as long as making all terms.
    pub fn audit(&mut self) -> Result<Probes, String> {
        let pool = &*self.local.pool;
        let _exclusive = self.local.member.exclusive();
        // SAFETY: in the exclusive section no other thread writes the index, and no chunk is given back.
        unsafe {
            pool.index.write(|index| {
                index.finish_moving(&pool.cells);
                index.audit(&pool.cells)
            })
        }
    }
}

/// A section of a worker, in which terms are made and read; see [`Reader`] for reading. No collection happens before
/// the next [`Section::poll`] of the outermost section or its end.
///
/// A thread must not wait for something inside a section: for a mutex, a channel, another thread, input or output.
/// Until it polls or leaves, no thread of the pool can collect or make the table larger: memory grows, look-ups slow
/// down, and threads that poll wait a little each time. If what it waits for is done by a thread that collects, or that
/// wants the exclusive section, neither goes on. Leave the section first, with what is needed later on a [`RootStack`]
/// or in a [`Parcel`].
pub struct Section<'w> {
    local: &'w Rc<Local>,
    reader: Reader<'w>,
}

impl<'w> Deref for Section<'w> {
    type Target = Reader<'w>;

    #[inline]
    fn deref(&self) -> &Reader<'w> {
        &self.reader
    }
}

impl Section<'_> {
    #[inline(always)]
    fn cells(&self) -> &Cells {
        &self.local.pool.cells
    }

    /// The application of a symbol to as many arguments as its arity says.
    ///
    /// # Panics
    ///
    /// When the number of arguments is not the arity, or the symbol is one of leaves.
    #[inline(always)]
    pub fn create(&self, symbol: Symbol, arguments: &[Term]) -> Term {
        let code = symbol.code();
        if code >= WIDE || code as usize != arguments.len() {
            return self.create_wide(symbol, arguments);
        }
        if cfg!(debug_assertions) {
            for &argument in arguments {
                self.head(argument);
            }
        }
        let hashed = Hashed::application(symbol.0, arguments.iter().map(|argument| argument.id()));
        let same = |unit| holds(self.cells(), unit, symbol, arguments);
        // SAFETY: in a shared section no thread writes the index.
        match unsafe { self.local.pool.index.read(|index| index.table.at_first_place(hashed, same)) } {
            Some(found) => Term::of(found),
            None => self.create_slowly(hashed, symbol, arguments),
        }
    }

    #[cold]
    #[inline(never)]
    fn create_slowly(&self, hashed: Hashed, symbol: Symbol, arguments: &[Term]) -> Term {
        assert!(!symbol.is_leaf(), "leaves are not applications");
        let same = |unit| holds(self.cells(), unit, symbol, arguments);
        self.intern(hashed, 2 + arguments.len(), same, |cell| {
            cell[0].store(symbol.0, Ordering::Relaxed);
            for (word, argument) in cell[2..].iter().zip(arguments) {
                word.store(argument.id(), Ordering::Relaxed);
            }
        })
    }

    #[cold]
    fn create_wide(&self, symbol: Symbol, arguments: &[Term]) -> Term {
        let arity = self.local.pool.symbols.arity(symbol);
        let length = arguments.len();
        assert!(length == arity, "{} takes {arity} arguments, not {length}", self.name(symbol));
        assert!(length <= MOST_ARGUMENTS, "a term has at most {MOST_ARGUMENTS} arguments");
        let hashed = Hashed::application(symbol.0, arguments.iter().map(|argument| argument.id()));
        let same = |unit| {
            // SAFETY: the worker is in a section.
            let cell = unsafe { self.cells().cell(unit) };
            cell[0].load(Ordering::Relaxed) == symbol.0
                && cell[3..].len() >= length
                && equal(&cell[3..3 + length], arguments)
        };
        self.intern(hashed, 3 + length, same, |cell| {
            cell[0].store(symbol.0, Ordering::Relaxed);
            cell[2].store(length as u32, Ordering::Relaxed);
            for (word, argument) in cell[3..].iter().zip(arguments) {
                word.store(argument.id(), Ordering::Relaxed);
            }
        })
    }

    /// A machine word.
    pub fn word(&self, word: u64) -> Term {
        let halves = [word as u32, (word >> 32) as u32];
        let same = |unit| {
            // SAFETY: the worker is in a section.
            let cell = unsafe { self.cells().cell(unit) };
            cell[0].load(Ordering::Relaxed) == Symbol::WORD.0
                && cell[2].load(Ordering::Relaxed) == halves[0]
                && cell[3].load(Ordering::Relaxed) == halves[1]
        };
        self.intern(Hashed::word(word), 4, same, |cell| {
            cell[0].store(Symbol::WORD.0, Ordering::Relaxed);
            cell[2].store(halves[0], Ordering::Relaxed);
            cell[3].store(halves[1], Ordering::Relaxed);
        })
    }

    /// A byte string: a number that does not fit a machine word, or whatever else its user means by it.
    ///
    /// # Panics
    ///
    /// When it is longer than [`MOST_BYTES`].
    pub fn bytes(&self, bytes: &[u8]) -> Term {
        assert!(bytes.len() <= MOST_BYTES, "a leaf has at most {MOST_BYTES} bytes");
        let words = || {
            let content = bytes.chunks(4).map(|four| {
                let mut word = [0; 4];
                word[..four.len()].copy_from_slice(four);
                u32::from_le_bytes(word)
            });
            std::iter::once(bytes.len() as u32).chain(content)
        };
        let length = 3 + bytes.len().div_ceil(4);
        let same = |unit| {
            // SAFETY: the worker is in a section.
            let cell = unsafe { self.cells().cell(unit) };
            cell[0].load(Ordering::Relaxed) == Symbol::BYTES.0
                && cell.len() >= length
                && cell[2..].iter().zip(words()).all(|(word, wanted)| word.load(Ordering::Relaxed) == wanted)
        };
        self.intern(Hashed::bytes(words()), length, same, |cell| {
            cell[0].store(Symbol::BYTES.0, Ordering::Relaxed);
            cell[2..].iter().zip(words()).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        })
    }

    /// The empty list.
    #[inline]
    pub fn empty(&self) -> Term {
        self.create(Symbol::EMPTY, &[])
    }

    /// A list with this first element.
    #[inline]
    pub fn cons(&self, first: Term, rest: Term) -> Term {
        self.create(Symbol::CONS, &[first, rest])
    }

    /// The list of these elements.
    pub fn list(&self, elements: &[Term]) -> Term {
        elements.iter().rev().fold(self.empty(), |rest, &first| self.cons(first, rest))
    }

    /// Finds the term that `same` says is the one, or makes it with a cell of this many words.
    fn intern(
        &self,
        hashed: Hashed,
        words: usize,
        same: impl Fn(u32) -> bool,
        write: impl FnOnce(&[AtomicU32]),
    ) -> Term {
        // SAFETY: in a shared section no thread writes the index.
        unsafe { self.local.pool.index.read(|index| self.intern_in(index, hashed, words, same, write)) }
    }

    #[inline(always)]
    fn intern_in(
        &self,
        index: &Index,
        hashed: Hashed,
        words: usize,
        same: impl Fn(u32) -> bool,
        write: impl FnOnce(&[AtomicU32]),
    ) -> Term {
        let mut place = match index.table.probe(hashed, &same) {
            Probe::Found(found) => return Term::of(found),
            Probe::Free(place) => place,
        };
        if let Some(found) = index.find_moving(hashed, &same) {
            return Term::of(found);
        }
        let (pool, units) = (&*self.local.pool, units(words));
        // SAFETY: the worker is in a shared section, and no reference to its allocator is held.
        let (term, counted) = unsafe {
            self.local.roots.allocator.write(|allocator| {
                if !allocator.has_room(units) {
                    pool.cells.refill(allocator, units);
                }
                let cell = pool.cells.cell(allocator.next);
                write(cell);
                cell[1].store(0, Ordering::Relaxed);
                let term = Term::of(allocator.next);
                loop {
                    match place.take(hashed, term) {
                        Ok(()) => break,
                        // Another thread took the slot. If it is for the same term, the cell is that of the next term.
                        Err(lost) => match lost.again(hashed, &same) {
                            Probe::Found(found) => return (Term::of(found), None),
                            Probe::Free(free) => place = free,
                        },
                    }
                }
                allocator.advance(units);
                let counted = (allocator.terms >= BATCH)
                    .then(|| (std::mem::take(&mut allocator.terms), std::mem::take(&mut allocator.units)));
                (term, counted)
            })
        };
        if let Some((terms, units)) = counted {
            pool.count(terms, units);
        }
        term
    }

    /// Keeps a term alive.
    pub fn root(&self, term: Term) -> Root {
        Root::new(self.local, term)
    }

    /// Terms to be sent to another thread.
    pub fn send(&self, terms: &[Term]) -> Parcel {
        Parcel::new(&self.local.pool, terms.into())
    }

    /// The terms that another thread sent. Like terms that are made here, they are valid until the next poll.
    ///
    /// # Panics
    ///
    /// When the parcel is from another pool.
    pub fn receive(&self, parcel: Parcel) -> Vec<Term> {
        assert!(parcel.is_of(&self.local.pool), "a parcel is received in its own pool");
        parcel.terms().to_vec()
    }

    /// The term with these canonical bytes ([`Reader::canonical`]); none when they are no term's.
    pub fn read_canonical(&self, bytes: &[u8]) -> Option<Term> {
        canonical::read(self, bytes)
    }

    pub(crate) fn symbol(&self, name: &str, arity: usize) -> Symbol {
        self.local.pool.symbols.symbol(name, arity)
    }

    /// Lets other threads collect, collects or moves terms if that is due, and says whether the job must end. To be
    /// called at least every 1000 steps; costs two loads when nothing is due.
    ///
    /// Afterwards every term that no root holds may be another one. In an inner section nothing is collected: the
    /// outer sections may hold terms, too.
    ///
    /// # Errors
    ///
    /// What the control of the pool says, and when there is no room for more terms.
    #[inline]
    pub fn poll(&mut self) -> Result<(), Stopped> {
        let local = &**self.local;
        if local.pool.attention.load(Ordering::Relaxed) != 0 || local.member.is_wanted() {
            self.attend()?;
        }
        self.local.pool.check()
    }

    #[cold]
    fn attend(&mut self) -> Result<(), Stopped> {
        let local = &**self.local;
        let pool = &*local.pool;
        if pool.attention.load(Ordering::Relaxed) & MOVING != 0 {
            // SAFETY: in a shared section no thread writes the index.
            let done = unsafe { pool.index.read(|index| index.move_some(&pool.cells)) };
            if done {
                pool.attention.fetch_or(DUE, Ordering::Relaxed);
            }
        }
        let attention = pool.attention.load(Ordering::Relaxed);
        if !local.member.is_outermost() || (attention & (DUE | ZEALOUS) == 0 && !local.member.is_wanted()) {
            return Ok(());
        }
        local.member.leave();
        if attention & ZEALOUS != 0 {
            pool.collect(&local.member, false);
        } else if attention & DUE != 0 {
            pool.maintain(&local.member);
        }
        local.member.make_way();
        local.member.enter();
        pool.check_room()
    }
}

impl Drop for Section<'_> {
    #[inline]
    fn drop(&mut self) {
        let local = &**self.local;
        local.member.leave();
        if local.pool.attention.load(Ordering::Relaxed) & DUE != 0
            && !local.member.is_inside()
            && !std::thread::panicking()
        {
            local.pool.maintain(&local.member);
        }
    }
}

/// Is the term in this cell the application of this symbol to these arguments?
#[inline(always)]
fn holds(cells: &Cells, unit: u32, symbol: Symbol, arguments: &[Term]) -> bool {
    // SAFETY: called by a worker in a section.
    let cell = unsafe { cells.cell(unit) };
    let Some(cell) = cell.get(..2 + arguments.len()) else { return false };
    cell[0].load(Ordering::Relaxed) == symbol.0 && equal(&cell[2..], arguments)
}

#[inline(always)]
fn equal(words: &[AtomicU32], terms: &[Term]) -> bool {
    words.iter().zip(terms).all(|(word, term)| word.load(Ordering::Relaxed) == term.id())
}
