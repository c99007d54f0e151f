//! Cycles of `τ`, at the end of each level of visible events.
//!
//! A cycle of `τ` stays in one level, since `τ` costs nothing; so when a level is complete, all its `τ`-steps lead to states that are
//! known, and a cycle of it can be found before the next level begins. It is then one with the least number of visible events.
//!
//! Each thread walks depth-first along `τ` from states of the level, with a stack of its own, and computes successors again instead
//! of keeping transitions. A state that the walk leaves is *finished*: one bit a state, shared by all threads. States without `τ`
//! are finished when they are expanded, and those of earlier levels all are. A walk that meets a state on its own stack has found a
//! cycle; one on another thread's stack is walked again. This is the scheme of Laarman et al. (*Multi-core nested depth-first search*, 2011),
//! of which one colour is enough here.
//!
//! Why it is right: a state is finished only after all its `τ`-successors are. On a cycle whoever were finished first would have a
//! successor that was finished before it; so no state of a cycle is ever finished. And a walk ends only by finishing its states
//! or by finding a cycle. Every order of events gives the same answer, though maybe another cycle.
//!
//! Cost: every state with `τ` is expanded once more, by one thread if the threads do not meet (they take successors in opposite orders);
//! a stack of 16 bytes a state of the longest walk.
#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::Ordering;

use trefoil_system::{Explorer, StateId, Value, Walk};

use crate::patches::Source;
use crate::search::{Found, Shared};
use crate::states::Inserter;

/// A state on the stack; its successors that wait are behind `waiting` in the list of all of these.
struct Frame {
    state: StateId,
    waiting: usize,
}

/// One thread's walks.
pub(crate) struct CycleSearch {
    stack: Vec<Frame>,
    open: HashSet<u32, foldhash::fast::FixedState>,
    waiting: Vec<StateId>,
    /// Are the successors given first taken first?
    forward: bool,
    row: Vec<Value>,
    /// The packed row of the state that is entered.
    source: Vec<u64>,
    packed: Vec<u64>,
    hashes: Vec<u64>,
    since_check: u32,
}

impl CycleSearch {
    pub(crate) fn new(shared: &Shared<'_>) -> CycleSearch {
        let packing = shared.states.packing();
        CycleSearch {
            stack: Vec::new(),
            open: HashSet::default(),
            waiting: Vec::new(),
            forward: shared.workers.fetch_add(1, Ordering::Relaxed).is_multiple_of(2),
            row: vec![0; packing.width()],
            source: vec![0; packing.words()],
            packed: Vec::new(),
            hashes: Vec::new(),
            since_check: 0,
        }
    }

    /// Walks from all states of a piece; a cycle is reported to `shared`.
    pub(crate) fn search(
        &mut self,
        piece: &[Range<u32>],
        shared: &Shared<'_>,
        explorer: &mut dyn Explorer,
        inserter: &mut Inserter<'_>,
    ) {
        for root in piece.iter().cloned().flatten().map(StateId) {
            if shared.halted() {
                return;
            }
            if inserter.is_finished(root) {
                continue;
            }
            if let Err(cut) = self.walk(root, shared, explorer, inserter) {
                shared.cut(cut);
                return;
            }
        }
    }

    fn walk(
        &mut self,
        root: StateId,
        shared: &Shared<'_>,
        explorer: &mut dyn Explorer,
        inserter: &mut Inserter<'_>,
    ) -> Walk {
        self.stack.clear();
        self.open.clear();
        self.waiting.clear();
        self.enter(root, shared, explorer, inserter)?;
        while let Some(frame) = self.stack.last() {
            if shared.halted() {
                return Ok(());
            }
            if self.waiting.len() == frame.waiting {
                inserter.finish(frame.state);
                self.open.remove(&frame.state.0);
                self.stack.pop();
                continue;
            }
            let next = self.waiting.pop().expect("more wait than below this frame");
            if !inserter.is_finished(next) {
                self.enter(next, shared, explorer, inserter)?;
            }
        }
        Ok(())
    }

    /// Puts a state onto the stack, and its successors that are not finished to those that wait.
    fn enter(
        &mut self,
        state: StateId,
        shared: &Shared<'_>,
        explorer: &mut dyn Explorer,
        inserter: &mut Inserter<'_>,
    ) -> Walk {
        self.since_check += 1;
        if self.since_check == 1024 {
            self.since_check = 0;
            shared.control.check()?;
        }
        if self.stack.len() == self.stack.capacity() {
            shared.control.afford(self.stack.len() * 2 * (size_of::<Frame>() + 9))?;
        }
        self.stack.push(Frame { state, waiting: self.waiting.len() });
        self.open.insert(state.0);
        // SAFETY: the number came out of an insertion in a round that the end of the round, a lock, separates from this one.
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
        let from = self.waiting.len();
        for (&hash, packed) in hashes.iter().zip(packed.chunks_exact(words)) {
            let Some(next) = inserter.find_packed(packed, hash) else {
                panic!("a level that is complete is closed under τ");
            };
            if self.open.contains(&next.0) {
                let first =
                    self.stack.iter().position(|frame| frame.state == next).expect("open states are on the stack");
                let around = self.stack[first + 1..].iter().map(|frame| frame.state);
                let length = shared.level.load(Ordering::Relaxed) as u32;
                shared.report(Found { cycle: around.chain([next]).collect(), ..Found::state(next, length) });
                return Ok(());
            }
            if !inserter.is_finished(next) {
                self.waiting.push(next);
            }
        }
        if self.forward {
            self.waiting[from..].reverse();
        }
        Ok(())
    }
}
