//! An explorer that knows candidates: parts of the steps of a state that suffice.
//!
//! A candidate is the steps of a closed set of processes ([`super::independence`]). The sets are those that one process
//! needs: it, and those that it must be looked at together with, until nothing is added. Sets of one process come
//! first, then the smallest, of several the one with the youngest process, as Spin tries processes; sets without a step
//! are passed over. A set with a process that may change what is visible ([`super::visible`]) is not used, and neither
//! is one with all processes.
//!
//! What is known of the parameters of processes is part of the analysis, so there is one for each way in which the
//! processes of a state were started. All threads share them. One that knows nothing of parameters serves where there
//! are too many. Which ways are told apart must not depend on the threads: those that steps of a level lead to are
//! collected, and told apart from the next level on, in their order, until there are too many
//! ([`Explorer::level_ends`]).
//!
//! Cost of a state: for each process a set of processes, and a bit for each other one that it must be looked at
//! together with only sometimes; where no process alone is enough, once more for components. A process without a step
//! is not tried twice.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use trefoil_control::Control as Budget;
use trefoil_system::{Cut, Explorer, LocalGroup, LocalSink, MarkId, Sink, Value, Walk};

use super::arrangement::COUNT;
use super::explorer::ModelExplorer;
use super::independence::Independence;
use super::members::{MOST_WORDS, Members};
use super::survey::Survey;
use super::system::Model;
use super::visible::Visible;
use crate::walk::assigned_locals;

/// The number of ways of starting processes that are told apart, and of standpoints in all of them, at most.
const MOST_WAYS: usize = 64;
const MOST_STANDPOINTS: usize = 1 << 16;

/// The place of a process whose least closed set is known.
const DONE: u32 = u32::MAX;

/// How processes were started: by position, their types and what none of their statements writes.
type Start = Vec<u32>;

/// An analysis; nothing where it would take too long.
type Analysis = Option<Arc<Independence>>;

/// The analyses of a model, by how processes were started.
#[derive(Default)]
pub(super) struct Analyses {
    /// For all that are not told apart.
    general: OnceLock<Analysis>,
    told_apart: Mutex<ToldApart>,
    /// Grows when more are told apart.
    version: AtomicU64,
}

#[derive(Default)]
struct ToldApart {
    known: Arc<HashMap<Start, Analysis>>,
    /// Those that steps of this level led to, with the slots that are known.
    wanted: BTreeMap<Start, Vec<(u32, u32)>>,
    standpoints: usize,
    /// No more are told apart.
    is_full: bool,
    /// Is the first level expanded? Then each one is told apart at once: there is a single state.
    is_first: bool,
}

impl ToldApart {
    fn admit(&mut self, model: &Model, start: Start, constants: &[(u32, u32)]) -> Analysis {
        if let Some(known) = self.known.get(&start) {
            return known.clone();
        }
        let survey = Survey::new(&model.program, &model.arrangement).with_timeouts_apart();
        let survey = survey.knowing(constants.iter().copied().collect());
        let analysis = Independence::new(survey, &model.arrangement).map(Arc::new);
        self.standpoints += analysis.as_ref().map_or(0, |analysis| analysis.len());
        Arc::make_mut(&mut self.known).insert(start, analysis.clone());
        self.is_full = self.known.len() >= MOST_WAYS || self.standpoints >= MOST_STANDPOINTS;
        analysis
    }
}

impl Analyses {
    fn lock(&self) -> MutexGuard<'_, ToldApart> {
        self.told_apart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn general(&self, model: &Model) -> Analysis {
        let analyse = || {
            let survey = Survey::new(&model.program, &model.arrangement).with_timeouts_apart();
            Independence::new(survey, &model.arrangement).map(Arc::new)
        };
        self.general.get_or_init(analyse).clone()
    }

    /// Tells those apart that steps of the level led to, as far as there are not too many.
    fn settle(&self, model: &Model, first: bool) {
        let mut told_apart = self.lock();
        if first {
            *told_apart = ToldApart { is_first: true, ..ToldApart::default() };
        } else {
            told_apart.is_first = false;
            for (start, constants) in std::mem::take(&mut told_apart.wanted) {
                if told_apart.is_full {
                    break;
                }
                told_apart.admit(model, start, &constants);
            }
        }
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// The processes of some states, and what is known of them.
#[derive(Default)]
struct Way<const WORDS: usize> {
    /// By position: the type of the process among those of the position, if there is one.
    kinds: Vec<Option<u32>>,
    there: Members<WORDS>,
    /// The slots that none of their statements writes, with their values.
    constants: Vec<(u32, u32)>,
    analysis: Analysis,
    /// May the moves of a standpoint change what is visible?
    seen: Arc<[bool]>,
}

/// One thread's view of a model, with candidates; sets of processes have so many words.
struct ReducingExplorer<'a, const WORDS: usize> {
    inner: ModelExplorer<'a>,
    /// The cells of each process type that none of its statements writes.
    constant: Arc<[Vec<u32>]>,
    /// The slots of types and control states, by position.
    bases: Vec<u32>,
    visible: Visible,
    /// What is told apart in this level, and whether that is all.
    told_apart: Arc<HashMap<Start, Analysis>>,
    is_full: bool,
    is_first: bool,
    version: u64,
    /// By analysis: whether the moves of a standpoint may change what is visible.
    seen: HashMap<usize, (Arc<Independence>, Arc<[bool]>)>,
    /// How the processes of the last state were started.
    way: Way<WORDS>,
    /// The standpoints of the processes of a state, and which they must each be looked at together with; nothing for
    /// one that may change what is visible.
    standpoints: Vec<u32>,
    joined: Vec<Option<Members<WORDS>>>,
    /// The least closed set with each process; nothing where none can be used.
    closed: Vec<Option<Members<WORDS>>>,
    /// While these are found: when a process was come to, and the path to where the search is.
    place: Vec<u32>,
    path: Vec<usize>,
    /// With their numbers of members.
    sets: Vec<(u32, Members<WORDS>)>,
}

/// A view of a model with candidates, where these propositions matter; or why all steps depend on each other.
pub(super) fn reducing_explorer<'a>(
    model: &'a Model,
    control: &'a Budget,
    propositions: &[u32],
) -> Result<Box<dyn Explorer + 'a>, &'static str> {
    let arrangement = &model.arrangement;
    if arrangement.last.is_some() {
        return Err("the model uses `_last`, which every step changes");
    }
    if arrangement.priority {
        return Err("with priorities every step depends on all processes");
    }
    let survey = Survey::new(&model.program, arrangement);
    let visible = Visible::new(&survey, arrangement, propositions);
    let visible = visible.ok_or("a claim asks what processes can do, which every step may change")?;
    match arrangement.positions.len().div_ceil(64) {
        0 | 1 => Ok(Box::new(ReducingExplorer::<1>::new(model, control, visible))),
        2..=MOST_WORDS => Ok(Box::new(ReducingExplorer::<MOST_WORDS>::new(model, control, visible))),
        _ => Err("there are more than 256 processes"),
    }
}

impl<'a, const WORDS: usize> ReducingExplorer<'a, WORDS> {
    fn new(model: &'a Model, control: &'a Budget, visible: Visible) -> Self {
        let program = &*model.program;
        let constant = |process| {
            let assigned = assigned_locals(program, process);
            (0..).zip(assigned).filter(|(_, assigned)| !assigned).map(|(cell, _)| cell).collect()
        };
        let positions = &model.arrangement.positions;
        ReducingExplorer {
            inner: ModelExplorer::new(model, control),
            constant: program.processes.iter().map(constant).collect(),
            bases: positions.iter().map(|place| place.base).collect(),
            visible,
            told_apart: Arc::default(),
            is_full: false,
            is_first: false,
            version: 0,
            seen: HashMap::new(),
            way: Way::default(),
            standpoints: vec![0; positions.len()],
            joined: vec![None; positions.len()],
            closed: vec![None; positions.len()],
            place: vec![0; positions.len()],
            path: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Finds the analysis for a state, and where its processes stand; whether there is one.
    fn stand(&mut self, row: &[Value]) -> bool {
        let version = self.inner.model.analyses.version.load(Ordering::Acquire);
        let is_same = |(&base, &kind): (&u32, &Option<u32>)| match row[base as usize + 1] {
            0 => kind.is_none(),
            _ => kind == Some(row[base as usize]),
        };
        let Way { kinds, constants, .. } = &self.way;
        let known = version == self.version
            && kinds.len() == self.bases.len()
            && self.bases.iter().zip(kinds).all(is_same)
            && constants.iter().all(|&(slot, value)| row[slot as usize] == value);
        if !known {
            if version != self.version {
                let told_apart = self.inner.model.analyses.lock();
                (self.told_apart, self.is_full) = (told_apart.known.clone(), told_apart.is_full);
                self.is_first = told_apart.is_first;
                self.version = version;
            }
            self.look_up(row);
        }
        let Way { kinds, analysis: Some(analysis), .. } = &self.way else { return false };
        for (position, (&base, kind)) in self.bases.iter().zip(kinds).enumerate() {
            if let Some(kind) = kind {
                self.standpoints[position] = analysis.standpoint(position, *kind, row[base as usize + 1]);
            }
        }
        true
    }

    /// Finds the analysis for a state with other processes than the one before.
    #[cold]
    fn look_up(&mut self, row: &[Value]) {
        let model = self.inner.model;
        let mut way = Way::default();
        let start = start(model, &self.constant, row, &mut way.constants);
        for (position, &base) in self.bases.iter().enumerate() {
            let is_there = row[base as usize + 1] != 0;
            way.kinds.push(is_there.then(|| row[base as usize]));
            if is_there {
                way.there.insert(position);
            }
        }
        way.analysis = match self.told_apart.get(&start) {
            Some(known) => known.clone(),
            None if self.is_first => model.analyses.lock().admit(model, start, &way.constants),
            None => {
                self.want(start, &way.constants);
                model.analyses.general(model)
            }
        };
        if let Some(analysis) = &way.analysis {
            let seen = self.seen.entry(Arc::as_ptr(analysis) as usize);
            let (_, seen) = seen.or_insert_with(|| (analysis.clone(), analysis.seen(&self.visible).into()));
            way.seen = seen.clone();
        }
        self.way = way;
    }

    /// Wants a way of starting processes to be told apart from the next level on.
    fn want(&self, start: Start, constants: &[(u32, u32)]) {
        if !self.is_full {
            self.inner.model.analyses.lock().wanted.entry(start).or_insert_with(|| constants.to_vec());
        }
    }

    /// Finds the least closed set with each process; nothing where it may change what is visible, or is everything.
    fn close(&mut self) {
        self.place.iter_mut().for_each(|place| *place = 0);
        self.path.clear();
        let (mut left, mut places) = (self.way.there, 0);
        while let Some(position) = left.pop() {
            if self.place[position] == 0 {
                self.visit(position, &mut places);
            }
        }
        for closed in &mut self.closed {
            *closed = closed.filter(|closed| *closed != self.way.there);
        }
    }

    /// Finds the least closed sets with the processes of the component that a process belongs to, and with all that
    /// they need; the least place of a process that is still on the path and can be reached (Tarjan, *Depth-first
    /// search and linear graph algorithms*, 1972).
    fn visit(&mut self, position: usize, places: &mut u32) -> u32 {
        *places += 1;
        let own = *places;
        self.place[position] = own;
        let Some(joined) = self.joined[position] else {
            self.place[position] = DONE;
            self.closed[position] = None;
            return own;
        };
        self.path.push(position);
        let (mut least, mut open) = (own, joined);
        while let Some(next) = open.pop() {
            match self.place[next] {
                DONE => {}
                0 => least = least.min(self.visit(next, places)),
                place => least = least.min(place),
            }
        }
        if least < own {
            return least;
        }
        let first = self.path.iter().rposition(|&member| member == position).expect("it is on the path");
        let (mut members, mut beyond): (Members<WORDS>, Members<WORDS>) = Default::default();
        for &member in &self.path[first..] {
            members.insert(member);
            beyond = beyond.or(&self.joined[member].unwrap_or_default());
        }
        beyond = beyond.without(&members);
        let mut closed = Some(members);
        while let (Some(set), Some(next)) = (closed, beyond.pop()) {
            closed = self.closed[next].map(|further| set.or(&further));
            beyond = beyond.without(&closed.unwrap_or_default());
        }
        for member in self.path.drain(first..) {
            self.place[member] = DONE;
            self.closed[member] = closed;
        }
        own
    }

    /// Passes the steps of these processes, but for those that are known to have none; whether there are any.
    fn steps_of(
        &mut self,
        set: Members<WORDS>,
        blocked: &mut Members<WORDS>,
        sink: &mut Sink<'_>,
    ) -> Result<bool, Cut> {
        let mut any = false;
        let mut rest = set.without(blocked);
        while let Some(position) = rest.pop() {
            match self.inner.walk::<false>((position as i32, position as i32), sink)? {
                true => any = true,
                false => blocked.insert(position),
            }
        }
        Ok(any)
    }
}

/// How the processes of a state were started, and the slots that none of their statements writes, with their values.
fn start(model: &Model, constant: &[Vec<u32>], row: &[Value], constants: &mut Vec<(u32, u32)>) -> Start {
    let arrangement = &model.arrangement;
    let mut start = Vec::new();
    for (position, place) in arrangement.positions.iter().enumerate() {
        let base = place.base as usize;
        if row[base + 1] != 0 {
            start.extend([position as u32, row[base]]);
            let kind = usize::from(place.types[row[base] as usize]);
            let cells = place.base + arrangement.shapes[kind].cells;
            constants.extend(constant[kind].iter().map(|cell| (cells + cell, row[(cells + cell) as usize])));
            start.extend(constant[kind].iter().map(|cell| row[(cells + cell) as usize]));
        }
    }
    start
}

impl<const WORDS: usize> Explorer for ReducingExplorer<'_, WORDS> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        if self.is_full {
            return self.inner.successors(row, sink);
        }
        let mut ahead = Ahead::new(self.inner.model, row);
        let walk = self.inner.successors(row, &mut |step| {
            ahead.note(&self.constant, step.row);
            sink(step)
        });
        self.want_all(ahead);
        walk
    }

    fn level_ends(&mut self, first: bool) {
        let model = self.inner.model;
        model.analyses.settle(model, first);
    }

    fn candidate(&mut self, row: &[Value], from: u32, sink: &mut Sink<'_>) -> Result<Option<u32>, Cut> {
        if !self.stand(row) {
            return Ok(None);
        }
        if self.is_full {
            return self.candidate_of(row, from, sink);
        }
        let (constant, mut ahead) = (self.constant.clone(), Ahead::new(self.inner.model, row));
        let found = self.candidate_of(row, from, &mut |step| {
            ahead.note(&constant, step.row);
            sink(step)
        });
        self.want_all(ahead);
        found
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.inner.local_successors(group, reads, sink)
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        self.inner.mark(mark, reads)
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        self.inner.undefined(proposition, row)
    }
}

/// The ways of starting processes that steps lead to.
struct Ahead<'a> {
    model: &'a Model,
    /// How many processes the state itself has.
    count: Value,
    starts: Vec<(Start, Vec<(u32, u32)>)>,
}

impl<'a> Ahead<'a> {
    fn new(model: &'a Model, row: &[Value]) -> Ahead<'a> {
        Ahead { model, count: row[COUNT], starts: Vec::new() }
    }

    /// Looks at the target of a step: processes are others when their number is.
    #[inline]
    fn note(&mut self, constant: &[Vec<u32>], row: &[Value]) {
        if row[COUNT] != self.count {
            let mut constants = Vec::new();
            let start = start(self.model, constant, row, &mut constants);
            self.starts.push((start, constants));
        }
    }
}

impl<const WORDS: usize> ReducingExplorer<'_, WORDS> {
    fn want_all(&self, ahead: Ahead<'_>) {
        for (start, constants) in ahead.starts {
            if !self.told_apart.contains_key(&start) {
                self.want(start, &constants);
            }
        }
    }

    fn candidate_of(&mut self, row: &[Value], from: u32, sink: &mut Sink<'_>) -> Result<Option<u32>, Cut> {
        let Way { analysis: Some(analysis), there, seen, .. } = &self.way else { return Ok(None) };
        let (mut alone, mut together): (Members<WORDS>, Members<WORDS>) = Default::default();
        let mut left = *there;
        while let Some(position) = left.pop() {
            let standpoint = self.standpoints[position];
            self.joined[position] = None;
            if !seen[standpoint as usize] {
                let mut itself = Members::default();
                itself.insert(position);
                let joined = analysis.joining(standpoint, there, &self.standpoints, row).without(&itself);
                if joined.is_empty() {
                    alone.insert(position)
                } else {
                    together.insert(position)
                }
                self.joined[position] = Some(joined);
            }
        }
        let (is_only, mut left) = (there.len() == 1, together);
        self.inner.load(row);
        let (mut number, mut blocked) = (0, Members::default());
        let mut singles = alone;
        while let Some(position) = singles.pop().filter(|_| !is_only) {
            let mut set = Members::default();
            set.insert(position);
            if number >= from && self.steps_of(set, &mut blocked, sink)? {
                return Ok(Some(number));
            }
            number += 1;
        }
        if together.is_empty() {
            return Ok(None);
        }
        self.sets.clear();
        self.close();
        while let Some(seed) = left.pop() {
            if let Some(set) = self.closed[seed].map(|set| (set.len(), set))
                && !self.sets.contains(&set)
            {
                self.sets.push(set);
            }
        }
        // The sort is stable: of two sets of one size the one with the younger process comes first.
        self.sets.sort_by_key(|&(size, _)| size);
        for at in 0..self.sets.len() {
            if number >= from && self.steps_of(self.sets[at].1, &mut blocked, sink)? {
                return Ok(Some(number));
            }
            number += 1;
        }
        Ok(None)
    }
}
