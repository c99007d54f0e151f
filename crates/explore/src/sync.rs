//! The atomics and the mutex of the store: the standard ones, and in unit tests loom's, which try every interleaving.
//!
//! In unit tests every row also has a cell that loom watches ([`Watched`]): a row that is read or written while another
//! thread writes it, without an ordering between the two, fails the test. The lock around the index stays the standard
//! one: the modelled tests do not let the index grow, and so only take it for reading, which does not block.

#[cfg(test)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(test)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(not(test))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Watches accesses to a number of rows; costs nothing outside unit tests.
pub(crate) struct Watched {
    #[cfg(test)]
    cells: Vec<loom::cell::UnsafeCell<()>>,
}

impl Watched {
    pub(crate) fn new(_rows: usize) -> Watched {
        Watched {
            #[cfg(test)]
            cells: (0.._rows).map(|_| loom::cell::UnsafeCell::new(())).collect(),
        }
    }

    #[inline]
    pub(crate) fn reads(&self, _at: usize) {
        #[cfg(test)]
        self.cells[_at].with(|_| ());
    }

    #[inline]
    pub(crate) fn writes(&self, _at: usize) {
        #[cfg(test)]
        self.cells[_at].with_mut(|_| ());
    }
}
