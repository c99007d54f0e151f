//! Breadth-first search on all cores, level by level, within a budget.
//!
//! # Orders and distances
//!
//! [`Order::Steps`] counts every step. [`Order::Visible`] counts visible events: everything that `τ` reaches from a level
//! belongs to the level, and is expanded before the next level begins (a 0-1 breadth-first search). A state that was first
//! found by a visible event, and so scheduled for the next level, may be reached by `τ` inside the current one; it is then
//! claimed for the current level, and skipped when its old entry comes up. One claim bit a
//! state decides, so every state is expanded exactly once, at its distance, whatever the number of threads.
//! [`Order::DepthFirst`] takes the newest state first, on one thread; distances then mean nothing.
//!
//! # Rounds
//!
//! A round expands a list of ranges of states ([`Frontier`]): the level itself, then what `τ` led to, and so on until nothing
//! is left. Threads take pieces of the list and build lists of their own, which are joined after the round. States found by one
//! thread have consecutive numbers, so a list of a million states is a few thousand ranges. A round of a few states is run by
//! one thread alone, so a long thin system does not pay for threads.
//!
//! Within a piece, the successors of several states are generated, packed and hashed first, while the processor fetches the
//! lines of the index that they will need, and inserted afterwards.
//!
//! Between two rounds the states may be packed in another way ([`crate::fit`]). The threads come back then, and others go on with
//! their explorers and visitors.
//!
//! # What a search is for
//!
//! A [`Visitor`] sees every state once, with its steps, on the thread that expanded it, and may report a [`Finding`]. A
//! finding has a length: the distance of its state, and one more if it is a step that counts. A cycle of `τ` ([`Options::cycles`],
//! [`crate::cycles`]) is a finding with the distance of its states. The search ends with a
//! finding of least length: at once when no shorter one is possible, else at the end of the level. So whether something is
//! found, and its length, do not depend on the number of threads; which of several equally short ones it is, may. (When the
//! budget runs out between a finding and the end of its level, the finding stands, and may be one longer than the shortest.)
//!
//! Cost: every state is expanded and every transition looked up once; memory is that of the store, one bit a
//! state in visible order, the frontier, and the rounds as ranges, from which paths are recovered ([`crate::path`]).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, GroupId, LabelId, StateId, System, TakenStep, Value};

use crate::expand::{Expander, Job, Staff};
use crate::fit::{Fit, Misfits};
use crate::frontier::Frontier;
use crate::history::History;
use crate::patches::Patches;
use crate::rows::Keep;
use crate::states::{StateSet, States};
use crate::workers::{Crew, run_crew};

/// In which order states are expanded, and what their distance counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Breadth-first by steps.
    Steps,
    /// Breadth-first by visible events: `τ` costs nothing.
    #[default]
    Visible,
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// In which order.
    pub order: Order,
    /// Look for cycles of `τ` at the end of every level (a bit a state); in visible order only.
    pub cycles: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { threads: 0, order: Order::Visible, cycles: false }
    }
}

impl Options {
    /// The number of threads, with 0 resolved.
    pub fn thread_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.threads {
            0 => cores(),
            threads => threads.min(1024),
        }
    }
}

/// A step of a visited state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its label.
    pub label: LabelId,
    /// Its group.
    pub group: GroupId,
    /// In a quotient, the class of the stabiliser of the state it leads to.
    pub class: u32,
    /// The state it leads to.
    pub target: StateId,
    /// Is it the step that found this state? True of one step into each state but the initial one.
    pub fresh: bool,
}

/// A state as a visitor sees it.
pub struct Visited<'a> {
    /// Its number in the store.
    pub id: StateId,
    /// Its distance from the initial state, as the order counts it.
    pub distance: u32,
    /// Its row.
    pub row: &'a [Value],
    /// All its steps, in the order in which the system gives them.
    pub steps: &'a [Edge],
}

/// What a visitor says about a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finding {
    /// Nothing to report.
    #[default]
    Nothing,
    /// This state is what the search looks for.
    State,
    /// This step (an index into [`Visited::steps`]) is what the search looks for.
    Step(usize),
}

/// Looks at every state once. Each thread has its own; [`Exploration::visitors`] gives them all back.
pub trait Visitor: Send {
    /// Looks at a state and all its steps, with the explorer of the thread at hand. An error ends the search.
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut>;
}

/// Visits nothing: for counting.
impl Visitor for () {
    fn visit(&mut self, _: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        Ok(Finding::Nothing)
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The state.
    pub state: StateId,
    /// The step from it, when the finding is a step.
    pub step: Option<TakenStep>,
    /// Its length, as the order counts it.
    pub length: u32,
    /// When it is a cycle of `τ`: the states around it, from the one behind `state` back to `state`.
    pub cycle: Vec<StateId>,
}

impl Found {
    /// A state at a distance.
    pub(crate) fn state(state: StateId, length: u32) -> Found {
        Found { state, step: None, length, cycle: Vec::new() }
    }
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every reachable state was visited and nothing was found.
    Complete,
    /// A visitor found something.
    Found(Found),
    /// A walk was cut: the budget ran out, the user interrupted, or the system could not go on.
    Cut(Cut),
}

/// How much a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States found.
    pub states: u64,
    /// States expanded.
    pub expanded: u64,
    /// Transitions of the expanded states.
    pub transitions: u64,
    /// The greatest distance of an expanded state.
    pub depth: u32,
    /// The most states that waited to be expanded at one time.
    pub waiting: u64,
}

/// A search that has ended.
pub struct Exploration<V> {
    /// How it ended.
    pub end: End,
    /// How much it did.
    pub counts: Counts,
    /// The number of the initial state.
    pub initial: StateId,
    /// The states that were found.
    pub states: States,
    /// The visitors, one per thread that took part.
    pub visitors: Vec<V>,
    pub(crate) options: Options,
    pub(crate) history: History,
}

/// What the threads of a search share.
pub(crate) struct Shared<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) control: &'a Control,
    pub(crate) order: Order,
    pub(crate) cycles: bool,
    pub(crate) states: &'a StateSet,
    pub(crate) patches: &'a Patches,
    /// Does the store keep rows as trees?
    pub(crate) trees: bool,
    /// How many workers there are so far.
    pub(crate) workers: AtomicU64,
    /// The distance of the states of this level.
    pub(crate) level: AtomicU64,
    /// Set when going on is pointless.
    pub(crate) halt: AtomicBool,
    pub(crate) found: Mutex<Option<Found>>,
    pub(crate) cut: Mutex<Option<Cut>>,
}

impl Shared<'_> {
    pub(crate) fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Ends the search. The first reason stands.
    #[cold]
    pub(crate) fn cut(&self, cut: Cut) {
        // A walk that ended because the search is over has nothing to say.
        if cut != Cut::Enough {
            self.cut.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cut);
        }
        self.halt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn report(&self, found: Found) {
        let level = self.level.load(Ordering::Relaxed) as u32;
        if found.length <= level {
            self.halt.store(true, Ordering::Relaxed);
        }
        let mut best = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if best.as_ref().is_none_or(|best| found.length < best.length) {
            *best = Some(found);
        }
    }

    fn has_found(&self) -> bool {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Explores a system from its initial state. `visitor` makes one visitor per thread.
pub fn search<V: Visitor>(
    system: &dyn System,
    options: &Options,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Exploration<V> {
    assert!(!options.cycles || options.order == Order::Visible, "cycles are looked for in visible order");
    let threads = options.thread_count();
    // Looking for cycles asks for rows that are not new; trees are for those who only insert. States that are set aside are expanded in a round
    // of their own, which only the order that counts every step does not mind.
    let mut fit = Fit::new(system.layout(), !options.cycles, options.order == Order::Steps);
    let keep = Keep { claims: options.order == Order::Visible, cycles: options.cycles };
    let (packing, trees) = fit.packing();
    let mut states =
        if trees { StateSet::of_trees(packing, keep, threads) } else { StateSet::keeping(packing, keep, threads) };
    let mut progress = Progress::default();
    let mut staff = Vec::new();
    let mut found = None;
    let cut = loop {
        let patches = Patches::new(states.packing(), system.groups());
        let shared = Shared {
            system,
            control,
            order: options.order,
            cycles: options.cycles,
            states: &states,
            patches: &patches,
            trees: states.has_trees(),
            workers: AtomicU64::new(0),
            level: AtomicU64::new(u64::from(progress.distance)),
            halt: AtomicBool::new(false),
            found: Mutex::new(found.take()),
            cut: Mutex::new(None),
        };
        let waiting = Mutex::new(std::mem::take(&mut staff));
        let hired = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        staff = run_crew(
            threads,
            || Expander::new(&shared, hired().unwrap_or_else(|| Staff::new(visitor()))),
            Expander::finish,
            |crew: &mut Crew<'_, Expander<'_, V>>| run_levels(&shared, crew, &mut fit, &mut progress),
        );
        staff.extend(waiting.into_inner().unwrap_or_else(PoisonError::into_inner));
        found = shared.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let cut = shared.cut.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(repack) = progress.repack.take() else { break cut };
        if let Repack::Widen(misfits) = &repack {
            fit.widen(misfits);
            if let Some(packing) = fit.stretched(states.packing()) {
                states.stretch(packing);
                continue;
            }
            fit.make_room(&states);
        }
        let (packing, trees) = fit.packing();
        let narrow = packing.clone();
        match states.repacked(packing, trees, control) {
            Ok(repacked) => states = repacked,
            Err(stopped) => {
                // The states are gone, and with them the way to what was found.
                (states, found) = (StateSet::new(narrow, threads), None);
                break Some(stopped.into());
            }
        }
    };
    let Progress { initial, depth, waiting, history, .. } = progress;
    let mut counts = Counts { depth, waiting, ..Counts::default() };
    let mut visitors = Vec::with_capacity(staff.len());
    for Staff { visitor, counts: own, .. } in staff {
        counts.states += own.states;
        counts.expanded += own.expanded;
        counts.transitions += own.transitions;
        visitors.push(visitor);
    }
    let end = match (found, cut) {
        // A finding of a round that was not finished need not be the least, and differs from run to run.
        (_, Some(cut)) => End::Cut(cut),
        (Some(found), None) => End::Found(found),
        (None, None) => End::Complete,
    };
    // A search that was cut before its first state has none.
    let initial = initial.unwrap_or(StateId(0));
    Exploration { end, counts, initial, states: states.freeze(), visitors, options: *options, history }
}

/// How far a search has come.
#[derive(Default)]
struct Progress {
    /// The initial state.
    initial: Option<StateId>,
    /// The distance of the states of this level.
    distance: u32,
    /// The greatest distance of an expanded state, and how many states waited at most.
    depth: u32,
    waiting: u64,
    history: History,
    /// What is to be expanded next, how, and whether the history has it already.
    round: Frontier,
    job: Job,
    is_noted: bool,
    /// What belongs to the next level.
    next: Frontier,
    /// The first round of this level.
    first_round: usize,
    /// Are the states to be packed in another way before the search goes on?
    repack: Option<Repack>,
}

/// Why states are packed in another way.
enum Repack {
    /// They have slots that are wider than they need to be.
    Narrow,
    /// There are values that do not fit.
    Widen(Misfits),
}

/// Level after level until nothing is left, or until states are to be packed again.
fn run_levels<V: Visitor>(
    shared: &Shared<'_>,
    crew: &mut Crew<'_, Expander<'_, V>>,
    fit: &mut Fit,
    progress: &mut Progress,
) {
    if progress.initial.is_none() {
        let row = match shared.system.initial(shared.control) {
            Ok(row) => row,
            Err(cut) => return shared.cut(cut),
        };
        let initial = crew.own().enter_initial(&row);
        progress.initial = Some(initial);
        progress.round.push(initial);
    }
    loop {
        while !progress.round.is_empty() && !shared.halted() {
            if fit.is_due(shared.states) && fit.observe(shared.states, crew.len()) {
                progress.repack = Some(Repack::Narrow);
            } else {
                run_round(shared, crew, progress);
            }
            if progress.repack.is_some() {
                return;
            }
        }
        if shared.cycles && !shared.halted() {
            crew.run(progress.history.since(progress.first_round).into_pieces(crew.len()), Job::FindCycles);
        }
        if shared.halted() || shared.has_found() || progress.next.is_empty() {
            return;
        }
        progress.round = std::mem::take(&mut progress.next);
        // The entries of the level itself may have been claimed meanwhile; what τ adds is claimed already.
        progress.job = Job::Claim;
        progress.first_round = progress.history.len();
        // Distances are for people beyond this; a search of 2^32 levels does not end anyway.
        progress.distance = progress.distance.saturating_add(1);
        shared.level.store(u64::from(progress.distance), Ordering::Relaxed);
        shared.control.progress().depth(u64::from(progress.distance));
    }
}

/// One round; then the next one of this level is known.
fn run_round<V: Visitor>(shared: &Shared<'_>, crew: &mut Crew<'_, Expander<'_, V>>, progress: &mut Progress) {
    let round = std::mem::take(&mut progress.round);
    progress.waiting = progress.waiting.max(round.len() + progress.next.len());
    if !std::mem::take(&mut progress.is_noted) {
        progress.history.add(&round, progress.distance);
    }
    let (mut misfits, mut aside) = (Misfits::default(), Frontier::default());
    for output in crew.run(round.into_pieces(crew.len()), progress.job) {
        progress.depth = if output.expanded { progress.distance } else { progress.depth };
        progress.round.append(output.now);
        progress.next.append(output.next);
        misfits.append(&output.misfits);
        aside.append(output.aside);
    }
    progress.job = Job::Expand;
    if !misfits.is_empty() && !shared.halted() {
        progress.round = aside;
        progress.is_noted = true;
        progress.repack = Some(Repack::Widen(misfits));
    }
}
