//! Atomics, mutexes and conditions: the standard ones, and in unit tests loom's, which try every interleaving.

pub(crate) use std::sync::atomic::Ordering;

#[cfg(test)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(test)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(not(test))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

use std::sync::PoisonError;

/// Locks a mutex. A thread that panicked while it held the mutex left the data usable: critical sections of this crate
/// write only after their last call that can panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits at a condition.
pub(crate) fn waited<'m, T>(condition: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Words of zeros.
pub(crate) fn zeros(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}
