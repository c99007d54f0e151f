//! Jobs: subproblems of an operation that another worker may solve.
//!
//! A job is plain data, an operation and its operands. A worker makes one only while another worker has nothing to do
//! ([`Queue::hungry`]), so that work that no other worker would take costs the reading of a number. A job is taken by
//! one swap, by another worker or by the one that made it when it comes to need the result.

use std::sync::Arc;

use crate::sync::{AtomicBool, AtomicIsize, AtomicU32, Condvar, Mutex, Ordering, locked, waited};
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
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Mutex<Vec<Arc<Job>>>,
    /// Workers that wait minus jobs that wait.
    hunger: AtomicIsize,
    ended: AtomicBool,
    changed: Condvar,
}

impl Queue {
    /// Does a worker wait for a job?
    #[inline]
    pub(crate) fn hungry(&self) -> bool {
        self.hunger.load(Ordering::Relaxed) > 0
    }

    /// A worker begins or ceases to wait beside the queue.
    pub(crate) fn wait_beside(&self, begins: bool) {
        self.hunger.fetch_add(if begins { 1 } else { -1 }, Ordering::Relaxed);
    }

    pub(crate) fn push(&self, job: Arc<Job>) {
        locked(&self.jobs).push(job);
        self.hunger.fetch_sub(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// The oldest job that was not taken.
    pub(crate) fn pop(&self) -> Option<Arc<Job>> {
        let mut jobs = locked(&self.jobs);
        while !jobs.is_empty() {
            let job = jobs.remove(0);
            self.hunger.fetch_add(1, Ordering::Relaxed);
            if job.take() {
                return Some(job);
            }
        }
        None
    }

    /// Removes a job that was taken by its maker.
    pub(crate) fn remove(&self, job: &Arc<Job>) {
        let mut jobs = locked(&self.jobs);
        if let Some(at) = jobs.iter().rposition(|waiting| Arc::ptr_eq(waiting, job)) {
            jobs.remove(at);
            self.hunger.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes all jobs; whether there were any.
    pub(crate) fn clear(&self) -> bool {
        let mut jobs = locked(&self.jobs);
        self.hunger.fetch_add(jobs.len() as isize, Ordering::Relaxed);
        !std::mem::take(&mut *jobs).is_empty()
    }

    /// Waits until there is a job or the queue ended; whether there may be a job.
    pub(crate) fn wait(&self) -> bool {
        self.wait_beside(true);
        let mut jobs = locked(&self.jobs);
        while jobs.is_empty() && !self.ended.load(Ordering::Relaxed) {
            jobs = waited(&self.changed, jobs);
        }
        self.wait_beside(false);
        !self.ended.load(Ordering::Relaxed)
    }

    /// Ends the queue: no worker waits any more.
    pub(crate) fn end(&self) {
        let _jobs = locked(&self.jobs);
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}
