//! Roots: what keeps terms alive over a collection.
//!
//! - A [`Root`] is a cell of a worker's own list; making, changing and dropping one touches no other thread's memory.
//! - A [`RootStack`] is a vector that is registered once; pushing a term is pushing a number. A rewriter keeps all its
//!   terms on one and protects none of them by itself.
//! - A [`Parcel`] holds terms on their way to another thread. It alone may be sent.
//! - A [`crate::Numbering`] holds its terms forever.
//!
//! The lists of a worker are read by the thread that collects, on whichever thread that is, in the exclusive section.
//! So the worker writes them only in its shared sections: a root that is dropped outside of one enters it for that.

#![allow(unsafe_code)]

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::cells::{Allocator, Term};
use crate::pool::Inner;
use crate::sync::{Guarded, locked};
use crate::worker::Local;

/// What a collection looks at of a worker. Workers write it with every new term, so each has cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct WorkerRoots {
    pub(crate) allocator: Guarded<Allocator>,
    pub(crate) cells: Guarded<RootCells>,
    pub(crate) stacks: Guarded<Vec<Arc<Guarded<Stacked>>>>,
}

/// The terms of a stack. Its lowest terms, as many as `old`, were there at the last collection.
#[derive(Default)]
pub(crate) struct Stacked {
    terms: Vec<Term>,
    old: usize,
}

#[derive(Default)]
pub(crate) struct RootCells {
    pub(crate) terms: Vec<Option<Term>>,
    free: Vec<u32>,
}

impl WorkerRoots {
    /// Calls with every term that is held, or with those that may be held only since the last collection. From now on
    /// this is the last collection.
    ///
    /// # Safety
    ///
    /// The calling thread is in the exclusive section.
    pub(crate) unsafe fn each(&self, all: bool, mut visit: impl FnMut(Term)) {
        // SAFETY: the worker writes its lists in shared sections only.
        unsafe {
            self.cells.read(|cells| cells.terms.iter().flatten().for_each(|&term| visit(term)));
            self.stacks.read(|stacks| {
                for stack in stacks {
                    stack.write(|stack| {
                        let first = if all { 0 } else { stack.old };
                        stack.terms[first..].iter().for_each(|&term| visit(term));
                        stack.old = stack.terms.len();
                    });
                }
            });
        }
    }
}

/// Keeps a term alive, on the thread of its worker.
pub struct Root {
    local: Rc<Local>,
    cell: u32,
    term: Term,
}

impl Root {
    /// The calling thread is in a shared section of this worker.
    pub(crate) fn new(local: &Rc<Local>, term: Term) -> Root {
        // SAFETY: the worker is in a shared section, and no reference into its cells is held.
        let cell = unsafe {
            local.roots.cells.write(|cells| match cells.free.pop() {
                Some(cell) => {
                    cells.terms[cell as usize] = Some(term);
                    cell
                }
                None => {
                    cells.terms.push(Some(term));
                    cells.terms.len() as u32 - 1
                }
            })
        };
        Root { local: local.clone(), cell, term }
    }

    /// The term.
    #[inline]
    pub fn term(&self) -> Term {
        self.term
    }

    /// Holds another term from now on, which must be valid now: made or read since the last poll, or held.
    pub fn set(&mut self, term: Term) {
        self.term = term;
        let cell = self.cell as usize;
        self.local.inside(|local| {
            // SAFETY: the worker is in a shared section, and no reference into its cells is held.
            unsafe { local.roots.cells.write(|cells| cells.terms[cell] = Some(term)) };
        });
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let cell = self.cell;
        self.local.inside(|local| {
            // SAFETY: the worker is in a shared section, and no reference into its cells is held.
            unsafe {
                local.roots.cells.write(|cells| {
                    cells.terms[cell as usize] = None;
                    cells.free.push(cell);
                })
            };
        });
    }
}

/// A stack of terms that are kept alive, on the thread of its worker. It reads as a slice of terms.
///
/// Changing it is allowed inside a section of its worker only, where no collection can look at it.
pub struct RootStack {
    local: Rc<Local>,
    stack: Arc<Guarded<Stacked>>,
}

impl RootStack {
    pub(crate) fn new(local: &Rc<Local>) -> RootStack {
        let stack = Arc::new(Guarded::new(Stacked::default()));
        local.inside(|local| {
            // SAFETY: the worker is in a shared section, and no reference to its list of stacks is held.
            unsafe { local.roots.stacks.write(|stacks| stacks.push(stack.clone())) };
        });
        RootStack { local: local.clone(), stack }
    }

    #[inline(always)]
    fn change<R>(&mut self, change: impl FnOnce(&mut Stacked) -> R) -> R {
        assert!(self.local.member.is_inside(), "a stack of roots is changed inside a section of its worker");
        // SAFETY: the worker is in a shared section, so no collection reads the stack; `&mut self` says that no slice
        // of it is held.
        unsafe { self.stack.write(change) }
    }

    /// Puts a term on top.
    #[inline]
    pub fn push(&mut self, term: Term) {
        self.change(|stack| stack.terms.push(term));
    }

    /// Puts terms on top, the last one topmost.
    #[inline]
    pub fn extend(&mut self, added: impl IntoIterator<Item = Term>) {
        self.change(|stack| stack.terms.extend(added));
    }

    /// Takes the topmost term.
    #[inline]
    pub fn pop(&mut self) -> Option<Term> {
        self.change(|stack| {
            let term = stack.terms.pop();
            stack.old = stack.old.min(stack.terms.len());
            term
        })
    }

    /// Drops all terms but the lowest `length`.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.change(|stack| {
            stack.terms.truncate(length);
            stack.old = stack.old.min(stack.terms.len());
        });
    }

    /// Exchanges all terms with those of `other`. A program that keeps its own stack lends it to the pool this way for
    /// the time of a poll.
    #[inline]
    pub fn exchange(&mut self, other: &mut Vec<Term>) {
        self.change(|stack| {
            std::mem::swap(&mut stack.terms, other);
            stack.old = 0;
        });
    }

    /// Exchanges the term at this place, counted from the bottom.
    ///
    /// # Panics
    ///
    /// When the stack is not so high.
    #[inline]
    pub fn set(&mut self, at: usize, term: Term) {
        self.change(|stack| {
            stack.terms[at] = term;
            stack.old = stack.old.min(at);
        });
    }
}

impl Deref for RootStack {
    type Target = [Term];

    #[inline]
    fn deref(&self) -> &[Term] {
        // SAFETY: only this handle changes the terms, with `&mut self`; collections read them. The slice does not
        // outlive the borrow of the handle.
        unsafe { self.stack.read(|stack| std::slice::from_raw_parts(stack.terms.as_ptr(), stack.terms.len())) }
    }
}

impl Drop for RootStack {
    fn drop(&mut self) {
        self.local.inside(|local| {
            // SAFETY: the worker is in a shared section, and no reference to its list of stacks is held.
            unsafe { local.roots.stacks.write(|stacks| stacks.retain(|stack| !Arc::ptr_eq(stack, &self.stack))) };
        });
    }
}

/// Terms on their way to another thread.
pub struct Parcel {
    pool: Arc<Inner>,
    place: usize,
    terms: Arc<[Term]>,
}

/// The parcels that were not opened yet.
#[derive(Default)]
pub(crate) struct Parcels {
    sent: Vec<Option<Arc<[Term]>>>,
    free: Vec<usize>,
}

impl Parcels {
    pub(crate) fn each(&self, visit: impl FnMut(Term)) {
        self.sent.iter().flatten().flat_map(|terms| terms.iter().copied()).for_each(visit);
    }
}

impl Parcel {
    /// The terms are valid now: the calling thread is in a shared section.
    pub(crate) fn new(pool: &Arc<Inner>, terms: Arc<[Term]>) -> Parcel {
        let mut parcels = locked(&pool.parcels);
        let place = parcels.free.pop().unwrap_or_else(|| {
            parcels.sent.push(None);
            parcels.sent.len() - 1
        });
        parcels.sent[place] = Some(terms.clone());
        drop(parcels);
        Parcel { pool: pool.clone(), place, terms }
    }

    pub(crate) fn is_of(&self, pool: &Arc<Inner>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    /// The terms. They are alive as long as the parcel is.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let mut parcels = locked(&self.pool.parcels);
        parcels.sent[self.place] = None;
        parcels.free.push(self.place);
    }
}
