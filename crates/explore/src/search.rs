//! Breadth-first search on all cores, level by level, within a budget.
//!
//! # Orders and distances
//!
//! [`Order::Steps`] counts every step. [`Order::Visible`] counts visible events: everything that `τ` reaches from a
//! level belongs to the level, and is expanded before the next level begins (a 0-1 breadth-first search). A state that
//! was first found by a visible event, and so scheduled for the next level, may be reached by `τ` inside the current
//! one; it is then claimed for the current level, and skipped when its old entry comes up. One claim bit a state
//! decides, so every state is expanded exactly once, in its round, whatever the number of threads.
//!
//! # Rounds
//!
//! A round expands the states at one distance, visible events counted first and silent steps second: the states of
//! round (d, s) are reached by d visible events and s silent steps, and this pair is lexicographically least. A visible
//! event leads from it to round (d + 1, s), a silent step to round (d, s + 1); so the rounds are run in their
//! lexicographic order, and states wait for theirs in a table by s. In steps order all rounds are (d, 0).
//!
//! A round is a list of ranges of states ([`Frontier`]). Threads take pieces of the list and build lists of their own,
//! which are joined after the round. States found by one thread have consecutive numbers, so a list of a million states
//! is a few thousand ranges. A round of a few states is run by one thread alone, so a long thin system does not pay for
//! threads.
//!
//! Within a piece, the successors of several states are generated, packed and hashed first, while the processor fetches
//! the lines of the index that they will need, and inserted afterwards.
//!
//! Between two rounds the search may rest while another engine tries the question ([`Control::rest`]).
//!
//! A search that counts every step may pause between two levels ([`search_until`]). Then its states can be read, and it
//! can be taken up again ([`Paused::resume`]).
//!
//! Between two rounds the states may be packed in another way ([`crate::fit`]). The threads end then, and new ones
//! continue with the visitors.
//!
//! # Fewer steps
//!
//! Where independent steps need not be taken in every order, a system may know a part of the steps of a state that
//! suffices, a *candidate* ([`Explorer::candidate`]), and [`search_reducing`] then takes only these. Others must not be
//! put off forever, and the [`Proviso`] says what that takes: a target of a candidate must lie in a later level than
//! its source, or in an earlier one and have been expanded with all its steps. So along a cycle some state has all its
//! steps: levels cannot always grow, and where they do not, the target has. A state lies in a later level when it was
//! not claimed, for the states of a level are claimed when the level begins; and those that were expanded with all
//! their steps are marked when it ends. So a choice depends on complete levels only, and not on the threads. Where a
//! candidate does not meet the proviso, the next one is tried, and in the end all steps are taken, among which those of
//! the candidates are. It is the proviso of Bošnački and Holzmann (*Improving Spin's partial-order reduction for
//! breadth-first search*, 2005) with levels for the queue.
//!
//! # What a search is for
//!
//! A [`Visitor`] sees every state once, with its steps, on the thread that expanded it, and may report a [`Finding`]. A
//! finding has a length: the distance of its state, and one more if it is a step. A cycle of `τ` ([`Options::cycles`],
//! [`crate::cycles`]) is a finding with the distance of its states. The search ends with a finding of least length: at
//! the end of the round when no shorter one is possible, else at the end of the level. A search whose visitors find
//! nothing but steps ([`Options::steps_only`]) ends with the round. Of several findings of one length the least is
//! taken, by the canonical order of rows and labels ([`trefoil_system::Layout::compare`]). So what is found, and how
//! much was searched for it, do not depend on the number of threads.
//!
//! Cost: every state is expanded and every transition looked up once; memory is that of the store, one bit a
//! state in visible order, the frontier, and the rounds as ranges, from which paths are recovered ([`crate::path`]).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use trefoil_control::{Control, Rest};
use trefoil_system::{Cut, Explorer, GroupId, LabelId, StateId, Step, System, TakenStep, Value};

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
    /// Visitors find only steps with visible labels: the first finding ends the search with its round.
    pub steps_only: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { threads: 0, order: Order::Visible, cycles: false, steps_only: false }
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

/// When the steps of a candidate may stand for all steps of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// One of them leads to a later level, or to a state that has all its steps: every step that can be taken is taken
    /// somewhere, and every state without steps is found.
    One,
    /// All of them do: claims about whole runs that do not depend on how often a state is repeated have
    /// the same answers.
    All,
}

/// How to do with fewer steps.
#[derive(Clone, Copy, Debug)]
pub struct Reducing<'a> {
    /// The propositions whose values matter, by number: no candidate changes one.
    pub visible: &'a [u32],
    /// When a candidate is good enough.
    pub proviso: Proviso,
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
    /// What the visitor noted of it ([`Visitor::note`]).
    pub note: u32,
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
    /// This state is a goal of the search.
    State,
    /// This step (an index into [`Visited::steps`]) is a goal of the search.
    Step(usize),
}

/// Visits every state once. Each thread has its own; [`Exploration::visitors`] returns them all.
pub trait Visitor: Send {
    /// Visits a state and all its steps, with the explorer of the thread at hand. An error ends the search.
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut>;

    /// Notes something of a step as the system gives it, before its target has a number; it comes back with the edge.
    /// A state that has to wait for rows of another packing is expanded, and its steps are noted, once more.
    #[inline]
    fn note(&mut self, _: &Step<'_>) -> u32 {
        0
    }
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
    /// Its row.
    pub row: Vec<Value>,
    /// The step from it, when the finding is a step.
    pub step: Option<TakenStep>,
    /// Its length, as the order counts it.
    pub length: u32,
    /// In visible order, how many silent steps it has.
    pub silent: u32,
    /// When it is a cycle of `τ`: the states around it, from the one behind `state` back to `state`.
    pub cycle: Vec<StateId>,
}

impl Found {
    /// A state at a distance.
    pub(crate) fn state(state: StateId, row: Vec<Value>, length: u32, silent: u32) -> Found {
        Found { state, row, step: None, length, silent, cycle: Vec::new() }
    }

    /// Keeps the lesser of two findings: the shorter one, else the one with the lesser row, label and target.
    pub(crate) fn keep_least(least: &mut Option<Found>, other: Found, system: &dyn System) {
        let is_less = |known: &Found| {
            let layout = system.layout();
            let length = (other.length, other.silent).cmp(&(known.length, known.silent));
            let by_step = || match (&other.step, &known.step) {
                (Some(new), Some(old)) => {
                    system.labels().compare(new.label, old.label).then_with(|| layout.compare(&new.row, &old.row))
                }
                (new, old) => new.is_some().cmp(&old.is_some()),
            };
            length.then_with(|| layout.compare(&other.row, &known.row)).then_with(by_step).is_lt()
        };
        if least.as_ref().is_none_or(is_less) {
            *least = Some(other);
        }
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
    /// Are the states there? A search that was stopped while they were packed in another way has lost them.
    pub has_states: bool,
    pub(crate) options: Options,
    pub(crate) history: History,
}

/// What the threads of a search share.
pub(crate) struct Shared<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) control: &'a Control,
    pub(crate) order: Order,
    pub(crate) cycles: bool,
    pub(crate) steps_only: bool,
    pub(crate) reducing: Option<Reducing<'a>>,
    pub(crate) states: &'a StateSet,
    pub(crate) patches: &'a Patches,
    /// Does the store keep rows as trees?
    pub(crate) trees: bool,
    /// How many workers there are so far.
    pub(crate) workers: AtomicU64,
    /// The distance of the states of this level, and the silent steps to those of this round.
    pub(crate) level: AtomicU32,
    pub(crate) silent: AtomicU32,
    /// Set when the search must end.
    pub(crate) halt: AtomicBool,
    /// Set when a cycle of `τ` was found.
    pub(crate) diverges: AtomicBool,
    pub(crate) cut: Mutex<Option<Cut>>,
}

impl Shared<'_> {
    pub(crate) fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Ends the search. The first reason stands.
    #[cold]
    pub(crate) fn cut(&self, cut: Cut) {
        // A walk that ended because the search is over reports nothing.
        if cut != Cut::Enough {
            self.cut.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cut);
        }
        self.halt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn diverges(&self) -> bool {
        self.diverges.load(Ordering::Relaxed)
    }

    pub(crate) fn set_diverges(&self) {
        self.diverges.store(true, Ordering::Relaxed);
    }
}

/// A search that has paused or ended.
pub enum Stretch<V> {
    /// It has ended.
    Ended(Box<Exploration<V>>),
    /// It has paused.
    Paused(Box<Paused<V>>),
}

/// A search between two levels.
pub struct Paused<V> {
    /// How much it did.
    pub counts: Counts,
    /// The number of the initial state.
    pub initial: StateId,
    /// The states that were found.
    pub states: States,
    /// The visitors, one per thread that took part.
    pub visitors: Vec<V>,
    options: Options,
    fit: Fit,
    progress: Progress,
}

impl<V: Visitor> Paused<V> {
    /// Goes on until the search is over, or has expanded `pause` states in all and finished their level; with fewer
    /// steps where it began so.
    pub fn resume(
        self,
        reducing: Option<Reducing<'_>>,
        pause: u64,
        system: &dyn System,
        control: &Control,
        visitor: impl Fn() -> V + Sync,
    ) -> Stretch<V> {
        let Paused { options, fit, progress, counts, visitors, states, .. } = self;
        let staff = visitors.into_iter().map(Staff::new).collect();
        let progress = Progress { pause, ..progress };
        go_on(
            Ongoing { options, fit, progress, counts, states: states.thaw(), staff },
            reducing,
            system,
            control,
            visitor,
        )
    }
}

/// Explores a system from its initial state. `visitor` makes one visitor per thread.
pub fn search<V: Visitor>(
    system: &dyn System,
    options: &Options,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Exploration<V> {
    search_reducing(system, options, None, control, visitor)
}

/// The same with fewer steps, where that is wanted and the system knows independent ones; only in the order that counts
/// every step.
pub fn search_reducing<V: Visitor>(
    system: &dyn System,
    options: &Options,
    reducing: Option<Reducing<'_>>,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Exploration<V> {
    match begin(system, options, reducing, u64::MAX, control, visitor) {
        Stretch::Ended(exploration) => *exploration,
        Stretch::Paused(_) => unreachable!("no search expands 2^64 states"),
    }
}

/// The same, in steps order, as far as the level in which `pause` states have been expanded.
pub fn search_until<V: Visitor>(
    system: &dyn System,
    options: &Options,
    reducing: Option<Reducing<'_>>,
    pause: u64,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Stretch<V> {
    assert!(options.order == Order::Steps, "a search pauses in steps order");
    begin(system, options, reducing, pause, control, visitor)
}

fn begin<V: Visitor>(
    system: &dyn System,
    options: &Options,
    reducing: Option<Reducing<'_>>,
    pause: u64,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Stretch<V> {
    assert!(!options.cycles || options.order == Order::Visible, "cycles are looked for in visible order");
    assert!(reducing.is_none() || options.order == Order::Steps, "levels are those of steps");
    let threads = options.thread_count();
    // A search for cycles looks up rows without inserting them, which trees do not support. States that are set aside
    // are expanded in a round of their own, which only the order that counts every step allows.
    let fit = Fit::new(system.layout(), !options.cycles, options.order == Order::Steps);
    let keep = Keep {
        claims: options.order == Order::Visible || reducing.is_some(),
        finished: options.cycles || reducing.is_some(),
    };
    let (packing, trees) = fit.packing();
    let states =
        if trees { StateSet::of_trees(packing, keep, threads) } else { StateSet::keeping(packing, keep, threads) };
    let (progress, counts, staff) = (Progress { pause, ..Progress::default() }, Counts::default(), Vec::new());
    go_on(Ongoing { options: *options, fit, progress, counts, states, staff }, reducing, system, control, visitor)
}

/// A search before one of its stretches.
struct Ongoing<V> {
    options: Options,
    fit: Fit,
    progress: Progress,
    /// What was counted before the last pause.
    counts: Counts,
    states: StateSet,
    staff: Vec<Staff<V>>,
}

fn go_on<V: Visitor>(
    ongoing: Ongoing<V>,
    reducing: Option<Reducing<'_>>,
    system: &dyn System,
    control: &Control,
    visitor: impl Fn() -> V + Sync,
) -> Stretch<V> {
    let Ongoing { options, mut fit, mut progress, mut counts, mut states, mut staff } = ongoing;
    let threads = options.thread_count();
    let mut has_states = true;
    let cut = loop {
        let patches = Patches::new(states.packing(), system.groups());
        let shared = Shared {
            system,
            control,
            order: options.order,
            cycles: options.cycles,
            steps_only: options.steps_only,
            reducing,
            states: &states,
            patches: &patches,
            trees: states.has_trees(),
            workers: AtomicU64::new(0),
            level: AtomicU32::new(progress.distance),
            silent: AtomicU32::new(progress.silent),
            halt: AtomicBool::new(false),
            diverges: AtomicBool::new(false),
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
                states = StateSet::new(narrow, threads);
                has_states = false;
                break Some(stopped.into());
            }
        }
    };
    (counts.depth, counts.waiting) = (progress.depth, progress.waiting);
    let mut visitors = Vec::with_capacity(staff.len());
    for Staff { visitor, counts: own, .. } in staff {
        counts.states += own.states;
        counts.expanded += own.expanded;
        counts.transitions += own.transitions;
        visitors.push(visitor);
    }
    // A search that was cut before its first state has none.
    let initial = progress.initial.unwrap_or(StateId(0));
    let states = states.freeze();
    let end = match (progress.found.take(), cut) {
        // A finding of a round that was not finished need not be the least, and differs from run to run.
        (_, Some(cut)) => End::Cut(cut),
        (Some(found), None) => End::Found(found),
        (None, None) if progress.has_paused => {
            let paused = Paused { counts, initial, states, visitors, options, fit, progress };
            return Stretch::Paused(Box::new(paused));
        }
        (None, None) => End::Complete,
    };
    let history = progress.history;
    Stretch::Ended(Box::new(Exploration { end, counts, initial, states, visitors, has_states, options, history }))
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
    /// What is to be expanded next, and whether the history has it already.
    round: Frontier,
    is_noted: bool,
    /// The silent steps to the states of this round.
    silent: u32,
    /// States of this level that wait, by the number of silent steps to them: those that visible events led to, which
    /// are claimed when their round comes, and those that `τ` led to, which are claimed already.
    scheduled: BTreeMap<u32, Frontier>,
    claimed: BTreeMap<u32, Frontier>,
    /// The same for what belongs to the next level.
    next: BTreeMap<u32, Frontier>,
    /// In a search with fewer steps, the states of this level that were expanded with all their steps.
    whole: Frontier,
    /// How many states wait in these tables.
    waits: u64,
    /// States that were expanded.
    expanded: u64,
    /// The first round of this level.
    first_round: usize,
    /// The least finding so far.
    found: Option<Found>,
    /// Are the states to be packed in another way before the search goes on?
    repack: Option<Repack>,
    /// After how many states the search pauses, and whether it does.
    pause: u64,
    has_paused: bool,
}

/// Why states are packed in another way.
enum Repack {
    /// They have slots that are wider than they need to be.
    Narrow,
    /// There are values that do not fit.
    Widen(Misfits),
}

impl Progress {
    /// Prepares the next round of this level; returns whether there is one. In visible order the states that wait to be
    /// claimed are claimed before any state of the round is expanded: otherwise a silent step from one of them could
    /// claim another for the next round, and which states a round has would depend on the threads. In a search with
    /// fewer steps they are claimed to say that they are not of a later level.
    fn take_up<V: Visitor>(&mut self, shared: &Shared<'_>, crew: &mut Crew<'_, Expander<'_, V>>) -> bool {
        while self.round.is_empty() {
            let first = |table: &BTreeMap<u32, Frontier>| table.first_key_value().map(|(&silent, _)| silent);
            let Some(silent) = first(&self.scheduled).into_iter().chain(first(&self.claimed)).min() else {
                return false;
            };
            self.silent = silent;
            self.round = self.claimed.remove(&silent).unwrap_or_default();
            let scheduled = self.scheduled.remove(&silent).unwrap_or_default();
            self.waits -= self.round.len() + scheduled.len();
            if shared.order == Order::Steps && shared.reducing.is_none() {
                self.round.append(scheduled);
            } else if !scheduled.is_empty() {
                for output in crew.run(scheduled.into_pieces(crew.len()), Job::Claim) {
                    self.round.append(output.now);
                }
            }
        }
        true
    }

    /// Is the search decided by what was found, now that a round was run?
    fn is_decided(&self, shared: &Shared<'_>) -> bool {
        self.found.as_ref().is_some_and(|found| found.length <= self.distance || shared.steps_only)
    }
}

/// Adds states to those that wait for a round; how many.
fn schedule(table: &mut BTreeMap<u32, Frontier>, silent: u32, states: Frontier) -> u64 {
    let added = states.len();
    if added > 0 {
        table.entry(silent).or_default().append(states);
    }
    added
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
        if shared.reducing.is_some() {
            crew.own().end_level(true);
        }
        progress.initial = Some(initial);
        let mut first = Frontier::default();
        first.push(initial);
        progress.waits += schedule(&mut progress.scheduled, 0, first);
    }
    loop {
        while progress.take_up(shared, crew) {
            if fit.is_due(shared.states) && fit.observe(shared.states, crew.len()) {
                progress.repack = Some(Repack::Narrow);
            } else {
                run_round(shared, crew, progress);
            }
            if progress.repack.is_some() || shared.halted() || progress.is_decided(shared) {
                return;
            }
        }
        if shared.cycles {
            find_cycles(shared, crew, progress);
        }
        if shared.halted() || progress.found.is_some() || progress.next.is_empty() {
            return;
        }
        if !progress.whole.is_empty() {
            crew.run(std::mem::take(&mut progress.whole).into_pieces(crew.len()), Job::Finish);
        }
        if shared.reducing.is_some() {
            crew.own().end_level(false);
        }
        progress.has_paused = progress.expanded >= progress.pause;
        if progress.has_paused {
            return;
        }
        progress.scheduled = std::mem::take(&mut progress.next);
        progress.first_round = progress.history.len();
        // Larger distances are only displayed; a search of 2^32 levels does not end anyway.
        progress.distance = progress.distance.saturating_add(1);
        shared.level.store(progress.distance, Ordering::Relaxed);
        shared.control.progress().depth(u64::from(progress.distance));
    }
}

/// Looks for cycles of `τ` in a level that is complete.
fn find_cycles<V: Visitor>(shared: &Shared<'_>, crew: &mut Crew<'_, Expander<'_, V>>, progress: &mut Progress) {
    crew.run(progress.history.since(progress.first_round).into_pieces(crew.len()), Job::FindCycles);
    if !shared.diverges() || shared.halted() {
        return;
    }
    let rounds = progress.history.rounds_since(progress.first_round);
    match crew.own().least_cycle(&rounds, progress.distance) {
        // It is as long as the states of this level, and so shorter than a step from one.
        Ok(found) => progress.found = Some(found),
        Err(cut) => shared.cut(cut),
    }
}

/// One round; then what follows it is known.
fn run_round<V: Visitor>(shared: &Shared<'_>, crew: &mut Crew<'_, Expander<'_, V>>, progress: &mut Progress) {
    let round = std::mem::take(&mut progress.round);
    let before = round.len() + progress.waits;
    progress.waiting = progress.waiting.max(before);
    progress.expanded += round.len();
    if !std::mem::take(&mut progress.is_noted) {
        progress.history.add(&round, progress.distance, progress.silent);
    }
    shared.silent.store(progress.silent, Ordering::Relaxed);
    let (mut misfits, mut aside) = (Misfits::default(), Frontier::default());
    for output in crew.run(round.into_pieces(crew.len()), Job::Expand) {
        progress.depth = if output.expanded { progress.distance } else { progress.depth };
        progress.waits += schedule(&mut progress.claimed, progress.silent.saturating_add(1), output.now);
        progress.waits += schedule(&mut progress.next, progress.silent, output.next);
        if let Some(found) = output.found {
            Found::keep_least(&mut progress.found, found, shared.system);
        }
        misfits.append(&output.misfits);
        aside.append(output.aside);
        progress.whole.append(output.whole);
    }
    if !misfits.is_empty() && !shared.halted() {
        progress.round = aside;
        progress.is_noted = true;
        progress.repack = Some(Repack::Widen(misfits));
    } else if !shared.halted() && progress.found.is_none() {
        shared.control.rest(Rest { states: progress.expanded, before, waiting: progress.waits });
    }
}
