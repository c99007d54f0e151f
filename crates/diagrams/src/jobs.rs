//! Jobs: subproblems of an operation that another worker may solve.
//!
//! A job is plain data, an operation and its operands. A worker makes one only while another worker has nothing to do
//! ([`Queue::hungry`]), so that work that no other worker would take costs the reading of a number. A job is taken by
//! one swap, by another worker or by the one that made it when it comes to need the result.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{AtomicBool, AtomicIsize, AtomicU32, AtomicUsize, Condvar, Mutex, Ordering, locked, waited};
use crate::table::{EMPTY, NodeId};

/// An operation and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) operation: u8,
    pub(crate) operands: [u32; 5],
}

pub(crate) struct Job {
    pub(crate) call: Call,
    /// In which slot it works.
    pub(crate) depth: u32,
    taken: AtomicBool,
    state: AtomicU32,
    result: AtomicU32,
}

const OPEN: u32 = 0;
const DONE: u32 = 1;
const HALTED: u32 = 2;

impl Job {
    pub(crate) fn new(call: Call, depth: u32) -> Job {
        Job { call, depth, taken: AtomicBool::new(false), state: AtomicU32::new(OPEN), result: AtomicU32::new(EMPTY) }
    }

    /// Takes it, unless it was taken.
    pub(crate) fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::AcqRel)
    }

    /// Leaves the result, or that there is none.
    pub(crate) fn finish(&self, result: Option<NodeId>) {
        self.result.store(result.unwrap_or(EMPTY), Ordering::Relaxed);
        self.state.store(if result.is_some() { DONE } else { HALTED }, Ordering::Release);
    }

    /// Its result, when it is done; `Some(None)` when it was halted.
    pub(crate) fn result(&self) -> Option<Option<NodeId>> {
        match self.state.load(Ordering::Acquire) {
            OPEN => None,
            DONE => Some(Some(self.result.load(Ordering::Relaxed))),
            _ => Some(None),
        }
    }
}

/// Jobs that wait for a worker.
///
/// A worker that finds none looks again for some microseconds before it sleeps: to wake it takes longer than many jobs.
#[derive(Default)]
pub(crate) struct Queue {
    /// Read at every item of every operation, so on a cache line of its own.
    hunger: Hunger,
    waiting: Mutex<Waiting>,
    /// How many jobs wait.
    available: AtomicUsize,
    ended: AtomicBool,
    changed: Condvar,
}

/// Workers that wait minus jobs that wait.
#[derive(Default)]
#[repr(align(128))]
struct Hunger(AtomicIsize);

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Arc<Job>>,
    /// Workers that sleep until there is a job.
    sleepers: usize,
}

/// How often a worker looks before it sleeps.
const LOOKS: usize = 2000;

impl Queue {
    /// Does a worker wait for a job?
    #[inline]
    pub(crate) fn hungry(&self) -> bool {
        self.hunger.0.load(Ordering::Relaxed) > 0
    }

    /// A worker begins or ceases to wait beside the queue.
    pub(crate) fn wait_beside(&self, begins: bool) {
        self.hunger.0.fetch_add(if begins { 1 } else { -1 }, Ordering::Relaxed);
    }

    pub(crate) fn push(&self, job: Arc<Job>) {
        let mut waiting = locked(&self.waiting);
        waiting.jobs.push_back(job);
        let asleep = waiting.sleepers > 0;
        self.count(&waiting, -1);
        drop(waiting);
        if asleep {
            self.changed.notify_one();
        }
    }

    /// So many jobs were taken from the queue; fewer than none were added.
    fn count(&self, waiting: &Waiting, taken: isize) {
        self.available.store(waiting.jobs.len(), Ordering::Relaxed);
        self.hunger.0.fetch_add(taken, Ordering::Relaxed);
    }

    /// The oldest job that was not taken.
    pub(crate) fn pop(&self) -> Option<Arc<Job>> {
        if self.available.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut waiting = locked(&self.waiting);
        while let Some(job) = waiting.jobs.pop_front() {
            self.count(&waiting, 1);
            if job.take() {
                return Some(job);
            }
        }
        None
    }

    /// Removes a job that was taken by its maker.
    pub(crate) fn remove(&self, job: &Arc<Job>) {
        let mut waiting = locked(&self.waiting);
        if let Some(at) = waiting.jobs.iter().rposition(|known| Arc::ptr_eq(known, job)) {
            waiting.jobs.remove(at);
            self.count(&waiting, 1);
        }
    }

    /// Removes all jobs; whether there were any.
    pub(crate) fn clear(&self) -> bool {
        let mut waiting = locked(&self.waiting);
        let jobs = std::mem::take(&mut waiting.jobs);
        self.count(&waiting, jobs.len() as isize);
        !jobs.is_empty()
    }

    /// Waits until there may be a job, or the queue ended; whether it did not end.
    pub(crate) fn wait(&self) -> bool {
        self.wait_beside(true);
        let ready = || self.available.load(Ordering::Relaxed) > 0 || self.ended.load(Ordering::Relaxed);
        if !(0..LOOKS).any(|_| {
            std::hint::spin_loop();
            ready()
        }) {
            let mut waiting = locked(&self.waiting);
            waiting.sleepers += 1;
            while waiting.jobs.is_empty() && !self.ended.load(Ordering::Relaxed) {
                waiting = waited(&self.changed, waiting);
            }
            waiting.sleepers -= 1;
        }
        self.wait_beside(false);
        !self.ended.load(Ordering::Relaxed)
    }

    /// Ends the queue: no worker waits any more.
    pub(crate) fn end(&self) {
        let _waiting = locked(&self.waiting);
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}
