//! An explorer that knows candidates: parts of the steps of a state that suffice.
//!
//! A candidate is the steps of a closed set of processes ([`super::independence`]). The sets are found by starting with
//! one process and adding those that it must be looked at together with, until nothing is added; the smallest that has
//! a step is taken, of several the one with the youngest process, as Spin tries processes. A set with a process that
//! may change what is visible ([`super::visible`]) is not used, and neither is one with all processes.
//!
//! What is known of the parameters of processes is part of the analysis, so there is one for each way in which the
//! processes of a state were started. All threads share them. Where there are too many, one that knows nothing of
//! parameters serves the rest.
//!
//! Cost of a state: the square of the number of processes, in bits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::Control as Budget;
use trefoil_system::{Cut, Explorer, LocalGroup, LocalSink, MarkId, Sink, Value, Walk};

use super::explorer::ModelExplorer;
use super::independence::Independence;
use super::survey::Survey;
use super::system::Model;
use super::visible::Visible;
use crate::walk::assigned_locals;

/// So many ways of starting processes are told apart.
const MOST_WAYS: usize = 64;

/// The analyses of a model, by how processes were started; nothing where one would take too long.
#[derive(Default)]
pub(super) struct Analyses {
    known: Mutex<HashMap<Vec<u32>, Option<Arc<Independence>>>>,
}

/// One thread's view of a model, with candidates.
pub(super) struct ReducingExplorer<'a> {
    inner: ModelExplorer<'a>,
    /// The cells of each process type that none of its statements writes.
    constant: Vec<Vec<u32>>,
    visible: Visible,
    /// How the processes of the last state were started, and the analysis for it, with whether the moves of a
    /// standpoint are visible.
    way: Vec<u32>,
    analysis: Option<(Arc<Independence>, Vec<bool>)>,
    /// The standpoints of the processes of a state, and the closed sets that were found.
    standpoints: Vec<Option<u32>>,
    sets: Vec<Members>,
    work: Vec<usize>,
    next_way: Vec<u32>,
}

/// Processes of a state, by their positions.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Members([u64; 4]);

impl Members {
    fn insert(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }

    fn contains(&self, position: usize) -> bool {
        self.0[position / 64] >> (position % 64) & 1 != 0
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

impl<'a> ReducingExplorer<'a> {
    /// Where these propositions matter; or why all steps depend on each other.
    pub(super) fn new(
        model: &'a Model,
        control: &'a Budget,
        propositions: &[u32],
    ) -> Result<ReducingExplorer<'a>, &'static str> {
        let arrangement = &model.arrangement;
        if arrangement.last.is_some() {
            return Err("the model uses `_last`, which every step changes");
        }
        if arrangement.priority {
            return Err("with priorities every step depends on all processes");
        }
        if arrangement.positions.len() > 256 {
            return Err("there are more than 256 processes");
        }
        let survey = Survey::new(&model.program, arrangement);
        let visible = Visible::new(&survey, arrangement, propositions);
        let visible = visible.ok_or("a claim asks what processes can do, which every step may change")?;
        let program = &*model.program;
        let constant = |process| {
            let assigned = assigned_locals(program, process);
            (0..).zip(assigned).filter(|(_, assigned)| !assigned).map(|(cell, _)| cell).collect()
        };
        Ok(ReducingExplorer {
            inner: ModelExplorer::new(model, control),
            constant: program.processes.iter().map(constant).collect(),
            visible,
            way: Vec::new(),
            analysis: None,
            standpoints: Vec::new(),
            sets: Vec::new(),
            work: Vec::new(),
            next_way: Vec::new(),
        })
    }

    /// Finds the analysis for a state; whether there is one.
    fn analyse(&mut self, row: &[Value]) -> bool {
        let arrangement = &self.inner.model.arrangement;
        self.next_way.clear();
        for (position, place) in arrangement.positions.iter().enumerate() {
            let base = place.base as usize;
            if row[base + 1] == 0 {
                continue;
            }
            let kind = usize::from(place.types[row[base] as usize]);
            let cells = base + arrangement.shapes[kind].cells as usize;
            self.next_way.extend([position as u32, row[base]]);
            self.next_way.extend(self.constant[kind].iter().map(|&cell| row[cells + cell as usize]));
        }
        if self.next_way == self.way && !self.way.is_empty() {
            return self.analysis.is_some();
        }
        std::mem::swap(&mut self.way, &mut self.next_way);
        self.analysis = self.known(row).map(|analysis| {
            let seen = analysis.seen(&self.visible);
            (analysis, seen)
        });
        self.analysis.is_some()
    }

    /// The analysis for processes that were started as those of a state.
    fn known(&self, row: &[Value]) -> Option<Arc<Independence>> {
        let model = self.inner.model;
        let mut known = model.analyses.known.lock().unwrap_or_else(PoisonError::into_inner);
        let general: Vec<u32> = Vec::new();
        let way = if known.len() < MOST_WAYS || known.contains_key(&self.way) { &self.way } else { &general };
        if let Some(known) = known.get(way) {
            return known.clone();
        }
        let mut values: HashMap<u32, u32> = HashMap::new();
        for place in model.arrangement.positions.iter().filter(|_| !way.is_empty()) {
            let base = place.base as usize;
            if row[base + 1] != 0 {
                let kind = usize::from(place.types[row[base] as usize]);
                let cells = base + model.arrangement.shapes[kind].cells as usize;
                values.extend(self.constant[kind].iter().map(|&cell| {
                    let slot = cells + cell as usize;
                    (slot as u32, row[slot])
                }));
            }
        }
        let survey = Survey::new(&model.program, &model.arrangement).with_timeouts_apart().knowing(values);
        let analysis = Independence::new(survey, &model.arrangement).map(Arc::new);
        known.insert(way.clone(), analysis.clone());
        analysis
    }

    /// Notes where the processes of the state stand.
    fn stand(&mut self, row: &[Value]) {
        let Some((analysis, _)) = &self.analysis else { return };
        let there = (self.inner.machine.youngest() + 1) as usize;
        self.standpoints.clear();
        for (position, place) in self.inner.model.arrangement.positions.iter().enumerate().take(there) {
            let (kind, control) = (row[place.base as usize], row[place.base as usize + 1]);
            self.standpoints.push((control != 0).then(|| analysis.standpoint(position, kind, control)));
        }
    }

    /// The least closed set with a process; nothing when it may change what is visible, or is everything.
    fn closed(&mut self, seed: usize, row: &[Value]) -> Option<Members> {
        let (analysis, visible) = self.analysis.as_ref()?;
        let mut set = Members::default();
        set.insert(seed);
        self.work.clear();
        self.work.push(seed);
        while let Some(member) = self.work.pop() {
            let standpoint = self.standpoints[member]?;
            if visible[standpoint as usize] {
                return None;
            }
            for (other, stands) in self.standpoints.iter().enumerate() {
                let joins = |stands: u32| analysis.joins(standpoint, stands, row);
                if !set.contains(other) && stands.is_some_and(joins) {
                    set.insert(other);
                    self.work.push(other);
                }
            }
        }
        let all = self.standpoints.iter().flatten().count() as u32;
        (set.len() < all).then_some(set)
    }

    /// Passes the steps of these processes if there are any and the set is the one that is wanted; whether it is.
    fn is_next(&mut self, set: Members, before: &mut u32, sink: &mut Sink<'_>) -> Result<bool, Cut> {
        if *before == 0 {
            return self.steps_of(set, sink);
        }
        *before -= u32::from(self.steps_of(set, &mut |_| Ok(()))?);
        Ok(false)
    }

    /// Passes the steps of these processes; whether there are any.
    fn steps_of(&mut self, set: Members, sink: &mut Sink<'_>) -> Result<bool, Cut> {
        let mut any = false;
        for position in (0..self.standpoints.len()).rev().filter(|&position| set.contains(position)) {
            any |= self.inner.walk::<false>((position as i32, position as i32), sink)?;
        }
        Ok(any)
    }
}

impl Explorer for ReducingExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.inner.successors(row, sink)
    }

    fn candidate(&mut self, row: &[Value], number: u32, sink: &mut Sink<'_>) -> Result<bool, Cut> {
        if !self.analyse(row) {
            return Ok(false);
        }
        self.inner.load(row);
        self.stand(row);
        self.sets.clear();
        // How many sets with steps come before the one that is wanted.
        let mut before = number;
        for seed in (0..self.standpoints.len()).rev() {
            let Some(set) = self.closed(seed, row) else { continue };
            if set.len() > 1 {
                self.sets.push(set);
            } else if self.is_next(set, &mut before, sink)? {
                return Ok(true);
            }
        }
        // The sort is stable: of two sets of one size the one with the younger process comes first.
        self.sets.sort_by_key(Members::len);
        self.sets.dedup();
        for at in 0..self.sets.len() {
            if self.is_next(self.sets[at], &mut before, sink)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.inner.local_successors(group, reads, sink)
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        self.inner.mark(mark, reads)
    }
}
