//! Cycles of `τ`, at the end of each level of visible events.
//!
//! A cycle of `τ` stays in one level, since `τ` costs no visible event; so when a level is complete, all its `τ`-steps
//! lead to states that are known, and a cycle of it can be found before the next level begins. It is then one with the
//! least number of visible events.
//!
//! Each thread walks depth-first along `τ` from states of the level, with a stack of its own, and computes successors
//! again instead of keeping transitions. A state that the walk leaves is *finished*: one bit a state, shared by all
//! threads. States without `τ` are finished when they are expanded, and those of earlier levels all are. A walk that
//! meets a state on its own stack has found a cycle; one on another thread's stack is walked again. This is the scheme
//! of Laarman et al. (*Multi-core nested depth-first search*, 2011), where one colour is enough here.
//!
//! Why it is right: a state is finished only after all its `τ`-successors are. If states of a cycle were finished, the
//! first of them would have a successor that was finished before it; so no state of a cycle is ever finished. And a
//! walk ends only by finishing its states or by finding a cycle.
//!
//! # The same cycle every time
//!
//! Which cycle a thread finds first depends on the threads. So once one was found, one thread finishes all states of
//! the level that reach none: what is left unfinished is exactly what diverges. The cycle that is reported is found
//! from the least unfinished state of the first round that has one, by going to the least unfinished `τ`-successor
//! until a state returns. Every unfinished state has such a successor.
//!
//! Cost: every state with `τ` is expanded once more, usually by one thread (the threads take successors in opposite
//! orders to avoid each other), and once more in the level that has a cycle; a stack of 16 bytes a state of the longest
//! walk.
#![allow(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::Ordering;

use trefoil_system::{Cut, Explorer, StateId, Value, Walk};

use crate::frontier::Frontier;
use crate::patches::Source;
use crate::search::{Found, Shared};
use crate::states::Inserter;

type Numbers = HashSet<u32, foldhash::fast::FixedState>;

/// A state on the stack; its successors that wait are behind `waiting` in the list of all of these.
struct Frame {
    state: StateId,
    waiting: usize,
    /// Does it reach a cycle?
    diverges: bool,
}

/// One thread's walks.
pub(crate) struct CycleSearch {
    stack: Vec<Frame>,
    open: Numbers,
    waiting: Vec<StateId>,
    /// States of the level that reach a cycle, when all of them are wanted.
    diverging: Numbers,
    /// Are successors taken in the order of the system?
    forward: bool,
    /// The `τ`-successors of the state that was expanded last.
    targets: Vec<StateId>,
    row: Vec<Value>,
    /// The packed row of the state that is expanded.
    source: Vec<u64>,
    packed: Vec<u64>,
    hashes: Vec<u64>,
    since_check: u32,
}

/// What a walk uses of its thread.
pub(crate) struct Tools<'t, 's> {
    pub(crate) shared: &'t Shared<'s>,
    pub(crate) explorer: &'t mut dyn Explorer,
    pub(crate) inserter: &'t mut Inserter<'s>,
}

impl CycleSearch {
    pub(crate) fn new(shared: &Shared<'_>) -> CycleSearch {
        let packing = shared.states.packing();
        CycleSearch {
            stack: Vec::new(),
            open: Numbers::default(),
            waiting: Vec::new(),
            diverging: Numbers::default(),
            forward: shared.workers.fetch_add(1, Ordering::Relaxed).is_multiple_of(2),
            targets: Vec::new(),
            row: vec![0; packing.width()],
            source: vec![0; packing.words()],
            packed: Vec::new(),
            hashes: Vec::new(),
            since_check: 0,
        }
    }

    /// Walks from all states of a piece until some thread has found a cycle.
    pub(crate) fn search(&mut self, piece: &[Range<u32>], tools: &mut Tools<'_, '_>) -> Walk {
        for root in piece.iter().cloned().flatten().map(StateId) {
            if tools.shared.halted() || tools.shared.diverges() {
                return Ok(());
            }
            if !tools.inserter.is_finished(root) {
                self.walk(root, false, tools)?;
            }
        }
        Ok(())
    }

    /// The cycle to report of a level that has one, given the states of its rounds in order; see the head of this file.
    pub(crate) fn least(&mut self, rounds: &[Frontier], length: u32, tools: &mut Tools<'_, '_>) -> Result<Found, Cut> {
        self.diverging.clear();
        for root in rounds.iter().flat_map(Frontier::states) {
            if !tools.inserter.is_finished(root) && !self.diverging.contains(&root.0) {
                self.walk(root, true, tools)?;
            }
        }
        let diverging = rounds.iter().map(|round| round.states().filter(|state| self.diverging.contains(&state.0)));
        let mut first = diverging.map(Iterator::collect::<Vec<StateId>>).find(|states| !states.is_empty());
        let mut candidates = first.take().expect("a level in which a cycle was found has one");
        let mut places: HashMap<u32, usize, foldhash::fast::FixedState> = HashMap::default();
        let mut walked: Vec<(StateId, Vec<Value>)> = Vec::new();
        loop {
            let next = self.least_of(&candidates, tools)?;
            if let Some(&at) = places.get(&next.0.0) {
                let (state, row) = walked[at].clone();
                let around = walked[at + 1..].iter().map(|(state, _)| *state).chain([state]).collect();
                return Ok(Found { cycle: around, ..Found::state(state, row, length, 0) });
            }
            places.insert(next.0.0, walked.len());
            self.expand(next.0, tools)?;
            walked.push(next);
            candidates.clear();
            candidates.extend(self.targets.iter().copied().filter(|target| self.diverging.contains(&target.0)));
        }
    }

    fn least_of(&mut self, states: &[StateId], tools: &mut Tools<'_, '_>) -> Result<(StateId, Vec<Value>), Cut> {
        let layout = tools.shared.system.layout();
        let mut least: Option<(StateId, Vec<Value>)> = None;
        for &state in states {
            self.poll(tools)?;
            // SAFETY: the number came out of an insertion in a round that the end of the round, a lock, separates from
            // this.
            unsafe { tools.inserter.read(state, &mut self.row) };
            if least.as_ref().is_none_or(|(_, row)| layout.compare(&self.row, row).is_lt()) {
                least = Some((state, self.row.clone()));
            }
        }
        Ok(least.expect("a state that diverges has a successor that does"))
    }

    /// Walks from a state until it is finished, or until a cycle is found: the first one ends the walk, unless all
    /// states that reach one are wanted.
    fn walk(&mut self, root: StateId, all: bool, tools: &mut Tools<'_, '_>) -> Walk {
        self.stack.clear();
        self.open.clear();
        self.waiting.clear();
        self.enter(root, tools)?;
        while let Some(frame) = self.stack.last() {
            if !all && (tools.shared.halted() || tools.shared.diverges()) {
                return Ok(());
            }
            if self.waiting.len() == frame.waiting {
                self.leave(tools);
                continue;
            }
            let next = self.waiting.pop().expect("more wait than below this frame");
            if tools.inserter.is_finished(next) {
                continue;
            }
            if self.open.contains(&next.0) || self.diverging.contains(&next.0) {
                self.stack.last_mut().expect("it is not empty").diverges = true;
                if !all {
                    tools.shared.set_diverges();
                    return Ok(());
                }
            } else {
                self.enter(next, tools)?;
            }
        }
        Ok(())
    }

    /// Takes the last state from the stack: it is finished, or it diverges and so does the state before it.
    fn leave(&mut self, tools: &mut Tools<'_, '_>) {
        let Some(left) = self.stack.pop() else { return };
        self.open.remove(&left.state.0);
        if !left.diverges {
            return tools.inserter.finish(left.state);
        }
        self.diverging.insert(left.state.0);
        if let Some(before) = self.stack.last_mut() {
            before.diverges = true;
        }
    }

    /// Puts a state onto the stack, and its successors that are not finished to those that wait.
    fn enter(&mut self, state: StateId, tools: &mut Tools<'_, '_>) -> Walk {
        if self.stack.len() == self.stack.capacity() {
            tools.shared.control.afford(self.stack.len() * 2 * (size_of::<Frame>() + 9))?;
        }
        self.expand(state, tools)?;
        self.stack.push(Frame { state, waiting: self.waiting.len(), diverges: false });
        self.open.insert(state.0);
        let from = self.waiting.len();
        let inserter = &mut *tools.inserter;
        self.waiting.extend(self.targets.iter().copied().filter(|&target| !inserter.is_finished(target)));
        if self.forward {
            self.waiting[from..].reverse();
        }
        Ok(())
    }

    fn poll(&mut self, tools: &Tools<'_, '_>) -> Walk {
        self.since_check += 1;
        if self.since_check == 1024 {
            self.since_check = 0;
            tools.shared.control.check()?;
        }
        Ok(())
    }

    /// Finds the `τ`-successors of a state.
    fn expand(&mut self, state: StateId, tools: &mut Tools<'_, '_>) -> Walk {
        self.poll(tools)?;
        let Tools { shared, explorer, inserter } = tools;
        // SAFETY: the number came out of an insertion in a round that the end of the round, a lock, separates from this
        // one.
        unsafe { inserter.read_packed(state, &mut self.source) };
        let packing = shared.states.packing();
        packing.unpack(&self.source, &mut self.row);
        let (words, source) = (packing.words(), Source { row: &self.row, packed: &self.source });
        let (packed, hashes) = (&mut self.packed, &mut self.hashes);
        packed.clear();
        hashes.clear();
        explorer.successors(&self.row, &mut |step| {
            if !step.label.is_visible() {
                let at = packed.len();
                packed.resize(at + words, 0);
                let fits = shared.patches.pack(packing, source, &step, &mut packed[at..]);
                assert!(fits, "a value does not fit its slot");
                let hash = inserter.hash(&packed[at..]);
                inserter.expect(hash);
                hashes.push(hash);
            }
            Ok(())
        })?;
        for &hash in hashes.iter() {
            inserter.expect_row(hash);
        }
        self.targets.clear();
        for (&hash, packed) in hashes.iter().zip(packed.chunks_exact(words)) {
            let Some(next) = inserter.find_packed(packed, hash) else {
                panic!("a level that is complete is closed under τ");
            };
            self.targets.push(next);
        }
        Ok(())
    }
}
