//! One thread's part of a search: expanding states.
//!
//! States are expanded a batch at a time. First the successors of all of them are generated, packed and hashed, and the
//! lines of the index where they will be looked up are prefetched; then the rows that those lines name; then the
//! successors are inserted, when most of these lines have arrived. Batches are small enough to stay in the first-level
//! cache.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::Ordering;

use trefoil_system::{Cut, Explorer, GroupId, LabelId, StateId, Step, TakenStep, Value, Walk};

use crate::cycles::{CycleSearch, Tools};
use crate::fit::Misfits;
use crate::frontier::Frontier;
use crate::patches::Source;
use crate::search::{Counts, Edge, Finding, Found, Order, Proviso, Shared, Visited, Visitor};
use crate::states::Inserter;
use crate::workers::Worker;

/// A batch is processed when it has this many steps, or sources.
const BATCH_STEPS: usize = 64;
const BATCH_SOURCES: usize = 32;

struct Expanded {
    id: StateId,
    /// Behind the last of its steps in the batch.
    end: usize,
    /// The number of the candidate whose steps these are.
    candidate: Option<u32>,
}

/// A state whose candidate did not meet the proviso.
struct Again {
    id: StateId,
    /// The least number of the next candidate.
    next: u32,
    /// The states that the candidates so far have found.
    fresh: Vec<StateId>,
}

struct PackedStep {
    hash: u64,
    label: LabelId,
    group: GroupId,
    class: u32,
    note: u32,
}

/// States and their steps, before the steps' targets are numbered.
#[derive(Default)]
struct Batch {
    sources: Vec<Expanded>,
    /// The rows of the sources.
    rows: Vec<Value>,
    steps: Vec<PackedStep>,
    /// The packed rows of the steps' targets.
    packed: Vec<u64>,
    edges: Vec<Edge>,
}

/// What an expander makes of its pieces: what to expand in this level still, and in the next.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) now: Frontier,
    pub(crate) next: Frontier,
    /// Was any state expanded? A level may consist of states that were claimed for the level before.
    pub(crate) expanded: bool,
    /// States that are to be expanded when rows are packed in a way that fits these values, too.
    pub(crate) aside: Frontier,
    pub(crate) misfits: Misfits,
    /// In a search with fewer steps, the states that were expanded with all their steps.
    pub(crate) whole: Frontier,
    /// The least finding.
    pub(crate) found: Option<Found>,
}

/// What a worker keeps when states are packed in another way; its explorer is made again.
pub(crate) struct Staff<V> {
    pub(crate) visitor: V,
    pub(crate) counts: Counts,
}

impl<V> Staff<V> {
    pub(crate) fn new(visitor: V) -> Staff<V> {
        Staff { visitor, counts: Counts::default() }
    }
}

/// What is done with the states of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Job {
    /// States that no other round has claimed are claimed.
    #[default]
    Claim,
    /// They are expanded.
    Expand,
    /// Cycles of `τ` are looked for from them.
    FindCycles,
    /// They are marked: they were expanded with all their steps.
    Finish,
}

/// An explorer for a thread; one that knows candidates where they are wanted and there are any.
fn explorer_of<'s>(shared: &Shared<'s>) -> Box<dyn Explorer + 's> {
    let reducing = shared.reducing.map(|reducing| shared.system.reducing_explorer(shared.control, reducing.visible));
    reducing.and_then(Result::ok).unwrap_or_else(|| shared.system.explorer(shared.control))
}

/// How many words of successors are made between two polls of the budgets.
const POLLED: usize = 1 << 18;

/// A worker of a search.
pub(crate) struct Expander<'s, V> {
    shared: &'s Shared<'s>,
    explorer: Box<dyn Explorer + 's>,
    inserter: Inserter<'s>,
    visitor: V,
    counts: Counts,
    cycles: CycleSearch,
    batch: Batch,
    /// The packed row of the state whose steps are generated, where the store does not keep trees.
    source: Vec<u64>,
    /// The row that was unpacked last, of several words: packed, and not.
    before: Vec<u64>,
    row: Vec<Value>,
    width: usize,
    /// How many words the store keeps for a state.
    words: usize,
    /// States that are to be expanded with another candidate, or with all their steps, and those in the batch.
    again: Vec<Again>,
    in_batch: Vec<Again>,
}

impl<'s, V: Visitor> Expander<'s, V> {
    pub(crate) fn new(shared: &'s Shared<'s>, staff: Staff<V>) -> Expander<'s, V> {
        let packing = shared.states.packing();
        let Staff { visitor, counts } = staff;
        Expander {
            shared,
            explorer: explorer_of(shared),
            inserter: shared.states.inserter(),
            visitor,
            counts,
            cycles: CycleSearch::new(shared),
            batch: Batch::default(),
            source: vec![0; packing.words()],
            before: vec![0; packing.words()],
            row: packing.least_row(),
            width: packing.width(),
            words: shared.states.kept_words(),
            again: Vec::new(),
            in_batch: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> Staff<V> {
        Staff { visitor: self.visitor, counts: self.counts }
    }

    /// Inserts the initial state.
    pub(crate) fn enter_initial(&mut self, row: &[Value]) -> StateId {
        let mut packed = vec![0; self.words];
        self.inserter.keep(row, &mut packed, self.shared.control).expect("an empty set has room");
        let hash = self.inserter.hash(&packed);
        let (id, _) = self.inserter.insert_packed(&packed, hash, 0).expect("an empty set has room");
        self.inserter.release();
        self.counts.states += 1;
        id
    }

    /// A level has ended, or the first one begins.
    pub(crate) fn end_level(&mut self, first: bool) {
        self.explorer.level_ends(first);
    }

    /// The cycle of `τ` to report of a level that has one.
    pub(crate) fn least_cycle(&mut self, rounds: &[Frontier], length: u32) -> Result<Found, Cut> {
        let Expander { shared, explorer, inserter, cycles, .. } = self;
        let found = cycles.least(rounds, length, &mut Tools { shared, explorer: &mut **explorer, inserter });
        self.inserter.release();
        found
    }

    fn show_progress(&self, before: Counts) -> Counts {
        let progress = self.shared.control.progress();
        progress.add(self.counts.states - before.states, self.counts.transitions - before.transitions);
        self.counts
    }

    /// Adds a state and its steps to the batch, or sets it aside. Where there is a candidate with this number or a
    /// higher one, its steps are taken for all.
    fn generate(&mut self, id: StateId, from_candidate: u32, output: &mut Output) {
        let Batch { sources, rows, steps, packed, .. } = &mut self.batch;
        let (from, before) = (rows.len(), (steps.len(), packed.len()));
        let mut all_fit = true;
        let packing = self.shared.states.packing();
        let (shared, words, inserter, visitor) = (self.shared, self.words, &mut self.inserter, &mut self.visitor);
        // SAFETY: the number came out of an insertion, on this thread or in a round that the end of the round, a lock,
        // separates from this one.
        unsafe {
            if shared.trees {
                inserter.load(id);
                rows.extend_from_slice(inserter.climber().row());
            } else {
                inserter.read_packed(id, &mut self.source);
                if !packing.knows_slots() {
                    rows.resize(from + self.width, 0);
                    packing.unpack(&self.source, &mut rows[from..]);
                } else {
                    // Consecutive states differ little.
                    packing.unpack_changes(0, &self.before, &self.source, &mut self.row);
                    self.before.copy_from_slice(&self.source);
                    rows.extend_from_slice(&self.row);
                }
            }
        }
        let row = &rows[from..];
        let source = Source { row, packed: &self.source };
        let patches = shared.patches;
        // A single state may have more steps than there is time or memory for.
        let mut poll = packed.len() + POLLED;
        let mut sink = |step: Step<'_>| -> Walk {
            let at = packed.len();
            if at > poll {
                shared.control.check()?;
                if shared.halted() {
                    return Err(Cut::Enough);
                }
                poll = at + POLLED;
            }
            packed.resize(at + words, 0);
            let fits = match shared.trees {
                true => patches.patch(packing, row, &step, inserter.climber()),
                false => patches.pack(packing, source, &step, &mut packed[at..]),
            };
            if !fits {
                all_fit = false;
                if shared.trees {
                    inserter.climber().restore();
                }
                output.misfits.add(step.row, packing);
                return Ok(());
            }
            if shared.trees {
                inserter.fold(&mut packed[at..], shared.control)?;
            }
            let hash = inserter.hash(&packed[at..]);
            inserter.expect(hash);
            let note = visitor.note(&step);
            steps.push(PackedStep { hash, label: step.label, group: step.group, class: step.class, note });
            Ok(())
        };
        let candidate = match shared.reducing {
            Some(_) => self.explorer.candidate(row, from_candidate, &mut sink),
            None => Ok(None),
        };
        let walk = match candidate {
            Ok(None) => self.explorer.successors(row, &mut sink).map(|()| None),
            candidate => candidate,
        };
        if let (&Ok(candidate), true) = (&walk, all_fit) {
            sources.push(Expanded { id, end: steps.len(), candidate });
            return;
        }
        rows.truncate(from);
        steps.truncate(before.0);
        packed.truncate(before.1);
        match walk {
            Ok(_) => output.aside.push(id),
            Err(cut) => self.shared.cut(cut),
        }
    }

    /// Do the steps of a candidate suffice?
    fn meets_proviso(&mut self, edges: &[Edge]) -> bool {
        let inserter = &mut self.inserter;
        let mut is_good = |edge: &Edge| !inserter.is_claimed(edge.target) || inserter.is_finished(edge.target);
        match self.shared.reducing.map(|reducing| reducing.proviso) {
            Some(Proviso::All) => edges.iter().all(is_good),
            Some(Proviso::One) => edges.iter().any(&mut is_good),
            None => true,
        }
    }

    /// Expands states again whose candidates did not meet the proviso.
    fn expand_again(&mut self, output: &mut Output) {
        while !self.again.is_empty() && !self.shared.halted() {
            self.in_batch = std::mem::take(&mut self.again);
            for at in 0..self.in_batch.len() {
                self.generate(self.in_batch[at].id, self.in_batch[at].next, output);
            }
            self.work_off(output);
            self.in_batch.clear();
        }
    }

    /// Inserts the targets of the batch, shows its states to the visitor and empties it.
    fn work_off(&mut self, output: &mut Output) {
        if let Err(stopped) = self.shared.control.check() {
            self.shared.cut(stopped.into());
        }
        let mut batch = std::mem::take(&mut self.batch);
        for step in &batch.steps {
            self.inserter.expect_row(step.hash);
        }
        let mut begin = 0;
        for (index, source) in batch.sources.iter().enumerate() {
            if self.shared.halted() {
                break;
            }
            batch.edges.clear();
            for at in begin..source.end {
                let step = &batch.steps[at];
                let target = &batch.packed[at * self.words..(at + 1) * self.words];
                let Some((target, fresh)) = self.insert(step, target, output) else { break };
                let &PackedStep { label, group, class, note, .. } = step;
                batch.edges.push(Edge { label, group, class, note, target, fresh });
            }
            if batch.edges.len() < source.end - begin {
                break;
            }
            let before = self.in_batch.iter().position(|again| again.id == source.id);
            if let Some(number) = source.candidate
                && !self.meets_proviso(&batch.edges)
            {
                let mut fresh = before.map_or_else(Vec::new, |at| std::mem::take(&mut self.in_batch[at].fresh));
                fresh.extend(batch.edges.iter().filter(|edge| edge.fresh).map(|edge| edge.target));
                self.again.push(Again { id: source.id, next: number + 1, fresh });
                begin = source.end;
                continue;
            }
            if self.shared.reducing.is_some() && source.candidate.is_none() {
                output.whole.push(source.id);
            }
            // What candidates found, the state has found.
            if let Some(at) = before {
                for &found in &self.in_batch[at].fresh {
                    let first = batch.edges.iter_mut().find(|edge| edge.target == found);
                    first.into_iter().for_each(|edge| edge.fresh = true);
                }
            }
            if self.shared.cycles && batch.edges.iter().all(|edge| edge.label.is_visible()) {
                self.inserter.finish(source.id);
            }
            output.expanded = true;
            self.counts.expanded += 1;
            self.counts.transitions += batch.edges.len() as u64;
            let distance = self.shared.level.load(Ordering::Relaxed);
            let row = &batch.rows[index * self.width..(index + 1) * self.width];
            let visited = Visited { id: source.id, distance, row, steps: &batch.edges };
            match self.visitor.visit(&visited, &mut *self.explorer) {
                Err(cut) => self.shared.cut(cut),
                Ok(Finding::Nothing) => {}
                Ok(Finding::State) => {
                    let silent = self.shared.silent.load(Ordering::Relaxed);
                    let found = Found::state(source.id, row.to_vec(), distance, silent);
                    Found::keep_least(&mut output.found, found, self.shared.system);
                }
                Ok(Finding::Step(chosen)) => {
                    let label = batch.edges[chosen].label;
                    let counted = self.shared.order != Order::Visible || label.is_visible();
                    let silent = self.shared.silent.load(Ordering::Relaxed) + u32::from(!counted);
                    let mut target = vec![0; self.width];
                    // SAFETY: the number came out of an insertion on this thread.
                    unsafe { self.inserter.read(batch.edges[chosen].target, &mut target) };
                    let found = Found::state(source.id, row.to_vec(), distance + u32::from(counted), silent);
                    let found = Found { step: Some(TakenStep { label, row: target }), ..found };
                    Found::keep_least(&mut output.found, found, self.shared.system);
                }
            }
            begin = source.end;
        }
        batch.sources.clear();
        batch.rows.clear();
        batch.steps.clear();
        batch.packed.clear();
        self.batch = batch;
    }

    /// Inserts the target of a step and schedules it, and says whether it is new; `None` when the search has to stop.
    #[inline]
    fn insert(&mut self, step: &PackedStep, packed: &[u64], output: &mut Output) -> Option<(StateId, bool)> {
        let internal = self.shared.order == Order::Visible && !step.label.is_visible();
        let (target, fresh) = loop {
            match self.inserter.insert_packed(packed, step.hash, usize::from(!internal)) {
                Ok(inserted) => break inserted,
                Err(full) => {
                    if let Err(stopped) = self.inserter.make_room(&full, self.shared.control) {
                        self.shared.cut(stopped.into());
                        return None;
                    }
                }
            }
        };
        self.counts.states += u64::from(fresh);
        if internal {
            // New or not, the thread that claims it schedules it, in this level.
            if self.inserter.claim(target) {
                output.now.push(target);
            }
        } else if fresh {
            output.next.push(target);
        }
        Some((target, fresh))
    }
}

impl<V: Visitor> Worker for Expander<'_, V> {
    type Job = Job;
    type Output = Output;

    fn work(&mut self, piece: &[Range<u32>], &job: &Job, output: &mut Output) {
        if self.shared.halted() {
            return;
        }
        if job == Job::FindCycles {
            let Expander { shared, explorer, inserter, cycles, .. } = self;
            let mut tools = Tools { shared, explorer: &mut **explorer, inserter };
            if let Err(cut) = cycles.search(piece, &mut tools) {
                shared.cut(cut);
            }
            self.inserter.release();
            return;
        }
        if job == Job::Finish {
            let states = piece.iter().cloned().flatten().map(StateId);
            states.for_each(|state| self.inserter.finish(state));
            self.inserter.release();
            return;
        }
        if job == Job::Claim {
            let inserter = &mut self.inserter;
            let states = piece.iter().cloned().flatten().map(StateId);
            states.filter(|&state| inserter.claim(state)).for_each(|state| output.now.push(state));
            inserter.release();
            return;
        }
        let before = self.counts;
        'piece: for range in piece {
            for id in range.clone().map(StateId) {
                self.generate(id, 0, output);
                if self.batch.steps.len() >= BATCH_STEPS || self.batch.sources.len() >= BATCH_SOURCES {
                    self.work_off(output);
                    self.expand_again(output);
                    if self.shared.halted() {
                        break 'piece;
                    }
                    if self.inserter.is_awaited() {
                        self.inserter.release();
                    }
                }
            }
        }
        self.work_off(output);
        self.expand_again(output);
        self.inserter.release();
        self.show_progress(before);
    }
}
