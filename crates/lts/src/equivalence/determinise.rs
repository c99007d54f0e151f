//! The powerset construction: a deterministic system with the same traces (Rabin and Scott 1959).
//!
//! A state of the result is a set of states: those that a trace can lead to, closed under `τ` when that is internal.
//! Sets are interned as sorted lists of numbers and explored breadth-first, labels ascending, so the result depends on
//! the input alone. There can be 2ⁿ of them, so the memory budget is polled as they grow. Callers reduce the system
//! modulo a bisimilarity first, which makes the sets smaller and more often equal.

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use super::graph::Tau;
use super::signatures::Signatures;
use crate::explicit::{Lts, Transition};

/// Sets of states of one system, reached by traces, numbered from 1 as they are found.
pub(super) struct Powerset<'a> {
    lts: &'a Lts,
    tau: Tau,
    control: &'a Control,
    sets: Signatures<u32>,
    seen: Vec<bool>,
    steps: Vec<(LabelId, u32)>,
    set: Vec<u32>,
    work: usize,
}

impl<'a> Powerset<'a> {
    pub(super) fn new(lts: &'a Lts, tau: Tau, control: &'a Control) -> Powerset<'a> {
        Powerset {
            lts,
            tau,
            control,
            sets: Signatures::new(),
            seen: vec![false; lts.state_count()],
            steps: Vec::new(),
            set: Vec::new(),
            work: 0,
        }
    }

    /// How many sets were found.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The states of a set, ascending.
    pub(super) fn members(&self, number: u32) -> &[u32] {
        self.sets.get(number)
    }

    /// The number of the closure of one state.
    pub(super) fn closure(&mut self, state: StateId) -> u32 {
        self.set.clear();
        self.set.push(state.0);
        self.close_and_intern()
    }

    /// The labels that a set offers, ascending, each with the number of the set it leads to.
    pub(super) fn successors(&mut self, number: u32, mut found: impl FnMut(LabelId, u32)) -> Result<(), Stopped> {
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        for &state in self.sets.get(number) {
            let visible = |t: &&Transition| self.tau == Tau::Visible || t.label != LabelId::TAU;
            steps.extend(self.lts.outgoing(StateId(state)).iter().filter(visible).map(|t| (t.label, t.target.0)));
        }
        self.work += steps.len() + 1;
        if self.work > 1 << 15 {
            self.control.afford(self.work * 4)?;
            self.work = 0;
            self.control.progress().done(self.sets.len() as u64);
        }
        steps.sort_unstable();
        steps.dedup();
        for same in steps.chunk_by(|one, other| one.0 == other.0) {
            self.set.clear();
            self.set.extend(same.iter().map(|&(_, target)| target));
            let next = self.close_and_intern();
            found(same[0].0, next);
        }
        self.steps = steps;
        Ok(())
    }

    fn close_and_intern(&mut self) -> u32 {
        if self.tau != Tau::Visible {
            self.set.iter().for_each(|&state| self.seen[state as usize] = true);
            let mut at = 0;
            while at < self.set.len() {
                for transition in self.lts.outgoing(StateId(self.set[at])) {
                    if transition.label == LabelId::TAU && !self.seen[transition.target.index()] {
                        self.seen[transition.target.index()] = true;
                        self.set.push(transition.target.0);
                    }
                }
                at += 1;
            }
            self.set.iter().for_each(|&state| self.seen[state as usize] = false);
            self.set.sort_unstable();
            self.work += self.set.len();
        }
        self.sets.intern(&self.set)
    }
}

/// The deterministic system with the same traces.
pub(super) fn determinise(lts: &Lts, tau: Tau, control: &Control) -> Result<Lts, Stopped> {
    control.progress().begin("determinising", 0);
    let mut powerset = Powerset::new(lts, tau, control);
    let first = powerset.closure(lts.initial());
    debug_assert_eq!(first, 1);
    let mut starts = vec![0usize];
    let mut transitions: Vec<Transition> = Vec::new();
    let mut number = 1;
    while number as usize <= powerset.len() {
        powerset.successors(number, |label, next| transitions.push(Transition { label, target: StateId(next - 1) }))?;
        starts.push(transitions.len());
        number += 1;
    }
    Ok(Lts::from_rows(lts.labels().clone(), StateId(0), starts, transitions))
}
