//! The pool of diagrams: operations, roots, collections, memory.
//!
//! A [`Diagrams`] is a value: dropping it frees everything, and a program has as many as it likes. One operation runs
//! at a time, on the thread that asked for it and on helpers of the pool, which wait in between. An operation begins
//! with its operands below [`Set`]s, ends with its result in one, and waits for the helpers to leave: so no job
//! survives the operation that made it, also when it was halted.
//!
//! # Memory
//!
//! Table and cache begin small. When the table is full, the workers pause. A table of less than a few million nodes
//! becomes twice as large, with all nodes and cached results. From a larger one what no root reaches is freed; if more
//! than half is alive afterwards, it becomes twice as large, and the cache with it. Both need room in the memory budget
//! of the control; without room, the operation goes on as long as a sixteenth of the table is free, and is then halted
//! ([`Stopped::Memory`]).

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use trefoil_control::{Control, Stopped, resident_memory};

use crate::cache::Cache;
use crate::gate::Gate;
use crate::jobs::Queue;
use crate::rows::Counted;
use crate::saturate::Programs;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering, locked};
use crate::table::{EMPTY, NodeId, Table, UNIT};
use crate::worker::{Needs, Outcome, Worker, help, patience};

/// How a pool works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many threads work on an operation; 0 means one per core.
    pub threads: usize,
    /// How many nodes the table has room for at first.
    pub nodes: usize,
    /// Collect at every seventh poll: for tests of operations.
    pub zealous: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { threads: 0, nodes: 1 << 16, zealous: false }
    }
}

/// A table with fewer nodes grows whenever it is full: a collection forgets results whose nodes no root needs, and to
/// compute them again costs more than memory that is small anyway.
const COMFORTABLE: usize = 1 << 22;

/// Table and cache; exchanged together when they grow.
pub(crate) struct Store {
    pub(crate) table: Table,
    pub(crate) cache: Cache,
}

impl Store {
    fn new(table: Table) -> Store {
        let cache = Cache::new(Cache::entries_for(table.capacity()));
        Store { table, cache }
    }
}

/// Roots from outside: how many sets have each node.
type Roots = Arc<std::sync::Mutex<HashMap<NodeId, usize>>>;

/// What all workers share.
pub(crate) struct Shared {
    pub(crate) control: Control,
    pub(crate) store: Mutex<Arc<Store>>,
    pub(crate) gate: Gate,
    pub(crate) queue: Queue,
    pub(crate) programs: Mutex<Programs>,
    /// For each worker what it needs, while it is paused.
    pub(crate) needs: Vec<Mutex<Needs>>,
    /// How many collections there were.
    pub(crate) round: AtomicU64,
    pub(crate) halted: AtomicBool,
    pub(crate) reason: Mutex<Option<Stopped>>,
    /// Jobs are made above this slot.
    pub(crate) deepest_job: AtomicU32,
    pub(crate) patience: u32,
    pub(crate) zealous: bool,
    roots: Roots,
    /// How many nodes the last collection left.
    live: AtomicUsize,
    peak: AtomicUsize,
}

impl Shared {
    /// Collects, and makes the table larger where that is due. Every worker is paused or does not run.
    pub(crate) fn collect(&self, asked: bool) {
        let store = locked(&self.store).clone();
        self.note_peak(&store.table);
        let capacity = store.table.capacity();
        // A collection that a user or a test asks for says nothing about how full the table is.
        let small = capacity < COMFORTABLE && !self.zealous && !asked;
        let (marks, live) = if small && self.has_room(2 * capacity) {
            (store.table.in_use(), capacity)
        } else {
            store.table.mark(self.all_roots().into_iter())
        };
        self.live.store(live, Ordering::Relaxed);
        if live > capacity / 2 && self.has_room(2 * capacity) {
            let larger = Store::new(store.table.grown(2 * capacity, &marks));
            larger.cache.adopt(&store.cache, &marks);
            *locked(&self.store) = Arc::new(larger);
        } else {
            store.table.sweep(&marks);
            store.cache.retain(&marks);
            if live > capacity / 16 * 15 {
                let limit = self.control.limits().memory.unwrap_or_default();
                self.halt(Stopped::Memory { limit });
            }
        }
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    fn all_roots(&self) -> Vec<NodeId> {
        let mut roots: Vec<NodeId> = kept(&self.roots).keys().copied().collect();
        for needs in &self.needs {
            let needs = locked(needs);
            roots.extend_from_slice(&needs.roots);
            roots.extend(needs.jobs.iter().filter_map(|job| job.result().flatten()));
        }
        roots
    }

    /// Does the budget have room for a table of this many nodes beside the one there is?
    fn has_room(&self, nodes: usize) -> bool {
        if nodes as u64 > 1 << 31 {
            return false;
        }
        let bytes = (Table::bytes(nodes) + Cache::bytes(Cache::entries_for(nodes))) as u64;
        let Some(limit) = self.control.limits().memory else { return true };
        resident_memory().is_none_or(|resident| resident.saturating_add(bytes) <= limit)
    }

    fn note_peak(&self, table: &Table) {
        self.peak.fetch_max(table.used(self.live.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}

fn kept(roots: &Roots) -> std::sync::MutexGuard<'_, HashMap<NodeId, usize>> {
    roots.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A set of rows of one width, in a pool. Equal sets of one pool are equal values.
pub struct Set {
    pub(crate) id: NodeId,
    roots: Roots,
}

impl Set {
    /// Has it no row?
    pub fn is_empty(&self) -> bool {
        self.id == EMPTY
    }

    fn new(id: NodeId, roots: &Roots) -> Set {
        *kept(roots).entry(id).or_default() += 1;
        Set { id, roots: roots.clone() }
    }
}

impl Clone for Set {
    fn clone(&self) -> Set {
        Set::new(self.id, &self.roots)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        let mut roots = kept(&self.roots);
        if let Some(count) = roots.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                roots.remove(&self.id);
            }
        }
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        debug_assert!(Arc::ptr_eq(&self.roots, &other.roots), "sets of one pool");
        self.id == other.id
    }
}

impl Eq for Set {}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Set({})", self.id)
    }
}

/// A pool of diagrams.
pub struct Diagrams {
    shared: Arc<Shared>,
    driver: std::sync::Mutex<Worker>,
    pub(crate) counted: std::sync::Mutex<Counted>,
    helpers: Vec<JoinHandle<()>>,
}

impl Diagrams {
    /// A pool whose operations obey a control.
    pub fn new(options: &Options, control: &Control) -> Diagrams {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads.min(256),
        };
        let shared = Arc::new(Shared {
            control: control.clone(),
            store: Mutex::new(Arc::new(Store::new(Table::new(options.nodes)))),
            gate: Gate::default(),
            queue: Queue::default(),
            programs: Mutex::default(),
            needs: (0..threads).map(|_| Mutex::default()).collect(),
            round: AtomicU64::new(0),
            halted: AtomicBool::new(false),
            reason: Mutex::new(None),
            deepest_job: AtomicU32::new(0),
            patience: patience(options.zealous),
            zealous: options.zealous,
            roots: Roots::default(),
            live: AtomicUsize::new(2),
            peak: AtomicUsize::new(2),
        });
        let helper = |number: usize| {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(format!("diagrams-{number}")).stack_size(64 << 20);
            thread.spawn(move || help(shared, number)).expect("the operating system refuses a thread for diagrams")
        };
        let helpers = (1..threads).map(helper).collect();
        let driver = std::sync::Mutex::new(Worker::new(shared.clone(), 0));
        Diagrams { shared, driver, counted: std::sync::Mutex::default(), helpers }
    }

    /// The set without rows.
    pub fn empty(&self) -> Set {
        self.set(EMPTY)
    }

    /// The set whose only row has no slots.
    pub fn unit(&self) -> Set {
        self.set(UNIT)
    }

    pub(crate) fn set(&self, id: NodeId) -> Set {
        Set::new(id, &self.shared.roots)
    }

    pub(crate) fn store(&self) -> Arc<Store> {
        locked(&self.shared.store).clone()
    }

    /// The control that operations obey.
    pub fn control(&self) -> &Control {
        &self.shared.control
    }

    /// The most nodes that were in the table at one time, garbage between collections included.
    pub fn peak_nodes(&self) -> u64 {
        self.shared.note_peak(&self.store().table);
        self.shared.peak.load(Ordering::Relaxed) as u64
    }

    /// How many collections there were.
    pub fn collections(&self) -> u64 {
        self.shared.round.load(Ordering::Relaxed)
    }

    /// Collects now.
    pub fn collect(&self) {
        let _driver = self.driver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Helpers do not run between operations.
        self.shared.gate.wait_until_empty();
        self.shared.collect(true);
    }

    /// Collects if at least half of the table is used, and little of that by sets: for moments between operations when
    /// results of past ones are not worth much.
    pub fn tidy(&self) {
        let store = self.store();
        let capacity = store.table.capacity();
        let used = store.table.used(self.shared.live.load(Ordering::Relaxed));
        if used < capacity / 2 || used > COMFORTABLE {
            return;
        }
        let roots: Vec<NodeId> = kept(&self.shared.roots).keys().copied().collect();
        if store.table.mark(roots.into_iter()).1 < used / 4 {
            self.collect();
        }
    }

    /// Runs an operation whose operands are below sets. `width` is how many slots the rows have.
    pub(crate) fn run(&self, width: usize, operation: impl FnOnce(&mut Worker) -> Outcome) -> Result<Set, Stopped> {
        self.shared.control.check_in_passing()?;
        let mut worker = self.driver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shared = &*self.shared;
        shared.deepest_job.store((width as u32).saturating_sub(3), Ordering::Relaxed);
        worker.enter();
        // Operations nest no deeper than a few times the width: an image whose parts are closed and united.
        let deep = 64 * 1024 + width * 8192;
        let outcome = stacker::maybe_grow(deep, 2 * deep, || operation(&mut worker));
        let result = outcome.ok().map(|id| self.set(id));
        worker.leave();
        loop {
            let cleared = shared.queue.clear();
            shared.gate.wait_until_empty();
            if !cleared {
                break;
            }
        }
        let halted = shared.halted.swap(false, Ordering::Relaxed);
        match (locked(&shared.reason).take(), result) {
            (None, Some(result)) => Ok(result),
            (Some(stopped), _) => Err(stopped),
            (None, None) => unreachable!("an operation without a result was halted ({halted}) for a reason"),
        }
    }
}

impl Drop for Diagrams {
    fn drop(&mut self) {
        self.shared.queue.end();
        for helper in self.helpers.drain(..) {
            // A helper that panicked has said so.
            let _ = helper.join();
        }
    }
}
