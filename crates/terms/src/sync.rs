//! Atomics, mutexes and guarded memory: the standard ones, and in unit tests loom's, which try every interleaving.
//!
//! Loom models `fence(SeqCst)` but treats `SeqCst` loads and stores as acquire and release; so the lock uses fences.

#![allow(unsafe_code)]

pub(crate) use std::sync::atomic::Ordering;

#[cfg(test)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(test)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(not(test))]
pub(crate) use std::sync::{Mutex, MutexGuard};

use std::sync::PoisonError;

/// Locks a mutex. A thread that panicked while it held the mutex left the data usable: every critical section of this
/// crate writes only after its last call that can panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Data that a protocol guards, not a mutex of its own. Loom checks that no write overlaps another access.
pub(crate) struct Guarded<T> {
    #[cfg(not(test))]
    cell: std::cell::UnsafeCell<T>,
    #[cfg(test)]
    cell: loom::cell::UnsafeCell<T>,
}

// SAFETY: both accessors are unsafe, and their callers promise that no write overlaps another access.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Guarded<T> {
        Guarded {
            #[cfg(not(test))]
            cell: std::cell::UnsafeCell::new(value),
            #[cfg(test)]
            cell: loom::cell::UnsafeCell::new(value),
        }
    }

    /// Reads.
    ///
    /// # Safety
    ///
    /// No thread writes meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn read<R>(&self, reader: impl FnOnce(&T) -> R) -> R {
        #[cfg(not(test))]
        {
            // SAFETY: by the contract nothing is written meanwhile.
            reader(unsafe { &*self.cell.get() })
        }
        #[cfg(test)]
        {
            // SAFETY: by the contract, which loom checks.
            self.cell.with(|value| reader(unsafe { &*value }))
        }
    }

    /// Writes.
    ///
    /// # Safety
    ///
    /// No thread reads or writes meanwhile, the caller included.
    #[inline(always)]
    pub(crate) unsafe fn write<R>(&self, writer: impl FnOnce(&mut T) -> R) -> R {
        #[cfg(not(test))]
        {
            // SAFETY: by the contract this is the only access.
            writer(unsafe { &mut *self.cell.get() })
        }
        #[cfg(test)]
        {
            // SAFETY: by the contract, which loom checks.
            self.cell.with_mut(|value| writer(unsafe { &mut *value }))
        }
    }
}

impl<T: Default> Default for Guarded<T> {
    fn default() -> Guarded<T> {
        Guarded::new(T::default())
    }
}

/// Where threads wait for another one to leave its section. Waiting is limited in time and only saves processor time:
/// every caller checks again afterwards.
#[derive(Default)]
pub(crate) struct Gate {
    mutex: std::sync::Mutex<()>,
    opened: std::sync::Condvar,
}

impl Gate {
    /// Waits for [`Gate::open`], a millisecond at most, if `shut` still holds. The thread that opens the gate makes
    /// `shut` false first, so no wake-up is lost.
    #[cfg(not(test))]
    pub(crate) fn wait_while(&self, shut: impl Fn() -> bool) {
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        if shut() {
            drop(self.opened.wait_timeout(guard, std::time::Duration::from_millis(1)));
        }
    }

    pub(crate) fn open(&self) {
        drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        self.opened.notify_all();
    }
}

/// Waiting for another thread to do a few instructions: spins, then yields, then sleeps.
#[derive(Default)]
pub(crate) struct Backoff {
    turns: u32,
}

impl Backoff {
    /// Turns after which a waiting thread has been waiting for a millisecond or more.
    const LONG: u32 = if cfg!(test) { 1 } else { 64 };

    pub(crate) fn wait(&mut self) {
        self.turns += 1;
        #[cfg(not(test))]
        match self.turns {
            0..=6 => (0..1 << self.turns).for_each(|_| std::hint::spin_loop()),
            7..=32 => std::thread::yield_now(),
            _ => std::thread::sleep(std::time::Duration::from_micros(50)),
        }
        #[cfg(test)]
        loom::thread::yield_now();
    }

    /// Has the thread been waiting for long? Says so once for each long while, which doubles.
    pub(crate) fn is_long(&self) -> bool {
        self.turns >= Backoff::LONG && self.turns.is_power_of_two()
    }
}
