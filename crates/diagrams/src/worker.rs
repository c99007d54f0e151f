//! A thread's part in operations: its stack of roots, its polls, and the sharing of work.
//!
//! # What stays alive
//!
//! A collection may happen at every call of a method of a worker that takes `&mut self`. The rules:
//!
//! - *The caller of an operation keeps its operands alive.* They are below a [`crate::Set`], or on the stack of roots.
//! - What an operation computed and still needs after its next call is on the stack of roots ([`Worker::keep`]).
//! - The result of a job that was not fetched is a root, wherever the worker that made the job waits.
//!
//! So an operation may put its result into the cache under its operands: no other node has their numbers. The option
//! [`crate::Options::zealous`] collects at every few polls; the tests use it to find operations that break the rules.
//!
//! # Lists
//!
//! An operation walks along a list of nodes (`right`) in a loop and recurses only downwards, to the next slot; so the
//! stack is as deep as rows are wide, however many values a slot has. On its way it writes down [`Item`]s, and
//! afterwards it builds the result from the end of the list ([`Worker::unwind`]). Parts below different items are
//! independent. The items of all operations that are under way lie on one stack, so its first items are the largest
//! subproblems, and the last that this worker comes to: where another worker waits, they become jobs
//! ([`crate::jobs`]). Only the upper slots of a diagram are shared in that way; below them subproblems are too small.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::Stopped;

use crate::cache::Operands;
use crate::jobs::{Call, Job};
use crate::pool::{Shared, Store};
use crate::saturate::{Line, Program};
use crate::sync::{Ordering, locked};
use crate::table::{EMPTY, Node, NodeId, Region, UNIT};

/// The operation was halted: by the control, or for lack of memory. The reason is in [`Shared`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halted;

/// What an operation gives.
pub(crate) type Outcome = Result<NodeId, Halted>;

/// Operations, as cache and jobs name them.
pub(crate) mod operation {
    pub(crate) const GIVEN: u8 = 0;
    pub(crate) const UNION: u8 = 1;
    pub(crate) const INTERSECTION: u8 = 2;
    pub(crate) const DIFFERENCE: u8 = 3;
    pub(crate) const FLATTEN: u8 = 4;
    pub(crate) const PROJECT: u8 = 5;
    pub(crate) const IMAGE: u8 = 6;
    pub(crate) const WRITES: u8 = 7;
    pub(crate) const PREIMAGE: u8 = 8;
    pub(crate) const SOURCES: u8 = 9;
    pub(crate) const SATURATE: u8 = 10;
    pub(crate) const BELOW: u8 = 11;

    /// How many operands in the cache are nodes; they come first.
    pub(crate) fn node_operands(operation: u8) -> usize {
        match operation {
            FLATTEN | SATURATE | BELOW => 1,
            UNION | INTERSECTION | DIFFERENCE | PROJECT => 2,
            IMAGE | WRITES => 3,
            _ => 4,
        }
    }
}

use operation::*;

/// A node of the result that is still to be built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The operation and operands whose result begins here, for the cache.
    of: Operands,
    /// What gives the part below.
    below: Call,
    /// The key of the node; [`NO_KEY`] when the part below is itself a list of this slot and is united with the rest.
    key: u64,
    /// In which slot it is.
    depth: u32,
    /// Its job, when it has one.
    job: u32,
}

/// No key: it is greater than all of them.
const NO_KEY: u64 = u64::MAX;
/// No job.
const NO_JOB: u32 = u32::MAX;

impl Item {
    pub(crate) fn new(of: Operands, key: Option<u64>, operation: u8, operands: [u32; 5]) -> Item {
        Item { of, below: Call { operation, operands }, key: key.unwrap_or(NO_KEY), depth: 0, job: NO_JOB }
    }

    /// An item whose part below is known.
    pub(crate) fn given(of: Operands, key: Option<u64>, below: NodeId) -> Item {
        Item::new(of, key, GIVEN, [below, 0, 0, 0, 0])
    }
}

/// What a paused worker needs.
#[derive(Default)]
pub(crate) struct Needs {
    pub(crate) roots: Vec<NodeId>,
    pub(crate) jobs: Vec<Arc<Job>>,
}

pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    number: usize,
    pub(crate) store: Arc<Store>,
    region: Region,
    /// The collection after which the region was taken.
    round: u64,
    roots: Vec<NodeId>,
    items: Vec<Item>,
    /// The lists that are being closed, see [`crate::saturate`]; their parts are roots.
    pub(crate) lines: Vec<Line>,
    /// The first items, which are not to be shared any more.
    offered: usize,
    /// Jobs whose results were not fetched, and free places.
    jobs: Vec<Option<Arc<Job>>>,
    free_jobs: Vec<u32>,
    depth: u32,
    /// Jobs of others that are being solved while this worker waits.
    helping: u32,
    polls: u32,
    /// Programs of saturations that this worker met, from the first one that was not forgotten.
    pub(crate) first_program: u32,
    pub(crate) programs: HashMap<u32, Arc<Program>, foldhash::fast::FixedState>,
    /// For programs and keys that they read the programs below.
    pub(crate) programs_below: HashMap<(u32, u64), u32, foldhash::fast::FixedState>,
}

/// After this many polls the control is checked.
const PATIENCE: u32 = 1024;
/// How many jobs of others are solved inside each other.
const MOST_HELP: u32 = 4;

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, number: usize) -> Worker {
        let store = locked(&shared.store).clone();
        Worker {
            shared,
            number,
            store,
            region: Region::default(),
            round: 0,
            roots: Vec::new(),
            items: Vec::new(),
            lines: Vec::new(),
            offered: 0,
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            depth: 0,
            helping: 0,
            polls: 0,
            first_program: 0,
            programs: HashMap::default(),
            programs_below: HashMap::default(),
        }
    }

    /// Begins to run: nothing is left over from before.
    pub(crate) fn enter(&mut self) {
        self.shared.gate.enter();
        self.roots.clear();
        self.items.clear();
        self.lines.clear();
        self.offered = 0;
        self.jobs.clear();
        self.free_jobs.clear();
        self.depth = 0;
        self.helping = 0;
        self.refresh();
    }

    pub(crate) fn leave(&mut self) {
        self.shared.gate.leave();
    }

    fn refresh(&mut self) {
        let round = self.shared.round.load(Ordering::Relaxed);
        if round != self.round {
            self.round = round;
            self.region = Region::default();
            self.store = locked(&self.shared.store).clone();
        }
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.store.table.node(id)
    }

    #[inline]
    pub(crate) fn known(&self, operation: u8, operands: Operands) -> Option<NodeId> {
        self.store.cache.get(operation, operands)
    }

    #[inline]
    pub(crate) fn learn(&self, operation: u8, operands: Operands, result: NodeId) {
        self.store.cache.put(operation, operands, result);
    }

    /// Keeps a node alive until [`Worker::release`].
    #[inline]
    pub(crate) fn keep(&mut self, id: NodeId) {
        self.roots.push(id);
    }

    /// Keeps nodes alive until [`Worker::release`].
    pub(crate) fn keep_all(&mut self, ids: &[NodeId]) {
        self.roots.extend_from_slice(ids);
    }

    /// Releases the last nodes that were kept.
    #[inline]
    pub(crate) fn release(&mut self, count: usize) {
        self.roots.truncate(self.roots.len() - count);
    }

    /// Looks whether the operation must pause or end.
    #[inline]
    pub(crate) fn poll(&mut self) -> Result<(), Halted> {
        self.polls += 1;
        if self.polls >= self.shared.patience || self.shared.gate.is_wanted() || self.shared.is_halted() {
            return self.poll_closely();
        }
        Ok(())
    }

    #[cold]
    fn poll_closely(&mut self) -> Result<(), Halted> {
        if self.polls >= self.shared.patience {
            self.polls = 0;
            if self.shared.zealous {
                self.shared.gate.want();
            }
            if let Err(stopped) = self.shared.control.check() {
                self.shared.halt(stopped);
            }
        }
        if self.shared.gate.is_wanted() {
            self.pause();
        }
        if self.shared.is_halted() { Err(Halted) } else { Ok(()) }
    }

    /// Waits while all workers pause and one of them collects.
    fn pause(&mut self) {
        {
            let mut needs = locked(&self.shared.needs[self.number]);
            needs.roots.extend_from_slice(&self.roots);
            needs.roots.extend(self.lines.iter().map(|line| line.below));
            needs.jobs.extend(self.jobs.iter().flatten().cloned());
        }
        self.shared.gate.pause(|| self.shared.collect(false));
        *locked(&self.shared.needs[self.number]) = Needs::default();
        self.refresh();
    }

    /// The node with these parts; without a part below, what is beside it.
    #[inline]
    pub(crate) fn make(&mut self, key: u64, down: NodeId, right: NodeId) -> Outcome {
        if down == EMPTY {
            return Ok(right);
        }
        debug_assert!(right <= UNIT && right == EMPTY || self.node(right).key > key, "keys ascend");
        match self.store.table.find_or_make(Node { key, down, right }, &mut self.region) {
            Ok(id) => Ok(id),
            Err(_) => self.make_after_collection(Node { key, down, right }),
        }
    }

    #[cold]
    fn make_after_collection(&mut self, node: Node) -> Outcome {
        self.keep(node.down);
        self.keep(node.right);
        loop {
            self.shared.gate.want();
            self.pause();
            if self.shared.is_halted() {
                return Err(Halted);
            }
            if let Ok(id) = self.store.table.find_or_make(node, &mut self.region) {
                self.release(2);
                return Ok(id);
            }
        }
    }

    /// Where the items of an operation that begins now are.
    #[inline]
    pub(crate) fn base(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Item) {
        self.items.push(Item { depth: self.depth, ..item });
    }

    /// Builds the list of the items from `base` on in front of `tail`, and puts each result into the cache.
    pub(crate) fn unwind(&mut self, operation: u8, base: usize, mut tail: NodeId) -> Outcome {
        while self.items.len() > base {
            if self.shared.queue.hungry() {
                self.share();
            }
            let Some(item) = self.items.pop() else { break };
            self.offered = self.offered.min(self.items.len());
            self.keep(tail);
            let below = self.solve(&item)?;
            tail = if item.key != NO_KEY {
                self.make(item.key, below, tail)?
            } else {
                self.keep(below);
                let both = self.union(below, tail)?;
                self.release(1);
                both
            };
            self.release(1);
            self.learn(operation, item.of, tail);
        }
        Ok(tail)
    }

    /// The key and the part below of the last item, if there is one from `base` on.
    pub(crate) fn solved(&mut self, base: usize) -> Result<Option<(u64, NodeId)>, Halted> {
        if self.items.len() <= base {
            return Ok(None);
        }
        if self.shared.queue.hungry() {
            self.share();
        }
        let Some(item) = self.items.pop() else { return Ok(None) };
        self.offered = self.offered.min(self.items.len());
        Ok(Some((item.key, self.solve(&item)?)))
    }

    /// Makes jobs of the first items while workers wait; the last item is for this worker.
    #[cold]
    fn share(&mut self) {
        let deepest = self.shared.deepest_job.load(Ordering::Relaxed);
        let end = self.items.len().saturating_sub(1);
        while self.offered < end {
            let item = &mut self.items[self.offered];
            self.offered += 1;
            if item.job != NO_JOB || item.below.operation == GIVEN || item.depth >= deepest {
                continue;
            }
            let job = Arc::new(Job::new(item.below, item.depth + 1));
            item.job = match self.free_jobs.pop() {
                Some(free) => free,
                None => {
                    self.jobs.push(None);
                    self.jobs.len() as u32 - 1
                }
            };
            self.jobs[item.job as usize] = Some(job.clone());
            self.shared.queue.push(job);
            if !self.shared.queue.hungry() {
                return;
            }
        }
    }

    #[inline]
    fn solve(&mut self, item: &Item) -> Outcome {
        if item.job == NO_JOB { self.call(item.below) } else { self.fetch(item.job) }
    }

    /// One slot further down.
    fn call(&mut self, Call { operation, operands: [a, b, c, d, e] }: Call) -> Outcome {
        if operation == GIVEN {
            return Ok(a);
        }
        self.depth += 1;
        let outcome = match operation {
            UNION => self.union(a, b),
            INTERSECTION => self.intersection(a, b),
            DIFFERENCE => self.difference(a, b),
            PROJECT => self.project(a, b),
            IMAGE => self.image(a, b, c),
            WRITES => self.writes(a, b, c, d),
            PREIMAGE => self.preimage(a, b, c, d),
            SOURCES => self.sources(a, b, c, d, e),
            SATURATE => self.saturate(a, b),
            other => unreachable!("operation {other} is no part of another one"),
        };
        self.depth -= 1;
        outcome
    }

    /// Solves a job that was taken.
    pub(crate) fn run(&mut self, job: &Job) {
        let depth = std::mem::replace(&mut self.depth, job.depth - 1);
        let result = self.call(job.call).ok();
        self.depth = depth;
        job.finish(result);
    }

    /// The result of a job that was made.
    #[cold]
    fn fetch(&mut self, number: u32) -> Outcome {
        let Some(job) = self.jobs[number as usize].clone() else { unreachable!("an item that is shared has a job") };
        let outcome = self.wait_for(&job);
        self.jobs[number as usize] = None;
        self.free_jobs.push(number);
        outcome
    }

    fn wait_for(&mut self, job: &Arc<Job>) -> Outcome {
        if job.take() {
            self.shared.queue.remove(job);
            return self.call(job.call);
        }
        self.shared.queue.wait_beside(true);
        let mut turns = 0u32;
        let result = loop {
            if let Some(result) = job.result() {
                break result;
            }
            if self.shared.is_halted() {
                break None;
            }
            if self.shared.gate.is_wanted() {
                self.pause();
            }
            let other = if self.helping < MOST_HELP { self.shared.queue.pop() } else { None };
            if let Some(other) = other {
                turns = 0;
                self.shared.queue.wait_beside(false);
                self.helping += 1;
                let items = self.items.len();
                self.run(&other);
                debug_assert!(self.shared.is_halted() || items == self.items.len());
                self.helping -= 1;
                self.shared.queue.wait_beside(true);
                continue;
            }
            turns += 1;
            if turns < 100 { std::hint::spin_loop() } else { std::thread::yield_now() }
        };
        self.shared.queue.wait_beside(false);
        result.ok_or(Halted)
    }
}

/// What every helping thread does.
pub(crate) fn help(shared: Arc<Shared>, number: usize) {
    let mut worker = Worker::new(shared.clone(), number);
    while shared.queue.wait() {
        worker.enter();
        while let Some(job) = shared.queue.pop() {
            worker.run(&job);
        }
        worker.leave();
    }
}

/// Polls between two looks at the control; fewer where every look is a collection.
pub(crate) fn patience(zealous: bool) -> u32 {
    if zealous { 7 } else { PATIENCE }
}

impl Shared {
    /// Halts the operation; the first reason stands.
    pub(crate) fn halt(&self, stopped: Stopped) {
        locked(&self.reason).get_or_insert(stopped);
        self.halted.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }
}
