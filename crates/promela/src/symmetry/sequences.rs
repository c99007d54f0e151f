//! Consecutive assignments whose order is unobservable.
//!
//! `atomic { a[1] = 0; a[2] = 0; a[3] = 0 }` treats all elements alike, although it names them in some order. If a
//! process keeps control between assignments, none of them can fail, and none reads or writes a variable that another
//! one writes, their order makes no difference: they are one statement that assigns to all places. Its term keeps the
//! parts without order, and the control states between have no statements of their own, because no state of the model
//! is there.
//!
//! Donaldson and Miller's TopSPIN also recognises such sequences (its example models contain them).

use std::collections::BTreeSet;

use super::terms::Builder;
use crate::program::{Action, ExpressionId, IndivisibleStep, Node, PlaceId, ProcessType, Transition};
use crate::walk::{cells_of, visit};

/// Assignments whose order does not matter.
pub(super) struct Sequence {
    /// Where it begins: a transition of a state.
    pub(super) state: u32,
    pub(super) transition: usize,
    /// The states inside, where no state of the model is.
    pub(super) inside: Vec<u32>,
}

/// A cell, and whether it is a global one.
type Cell = (bool, u32);

/// What an assignment reads and writes.
struct Effect {
    writes: BTreeSet<Cell>,
    reads: BTreeSet<Cell>,
}

impl Effect {
    fn is_free_of(&self, other: &Effect) -> bool {
        self.writes.is_disjoint(&other.writes)
            && self.writes.is_disjoint(&other.reads)
            && self.reads.is_disjoint(&other.writes)
    }
}

impl Builder<'_> {
    /// The sequences of a process type whose order does not matter.
    pub(super) fn sequences(&self, process: &ProcessType) -> Vec<Sequence> {
        if process.provided.is_some() || self.program.uses_priority || self.program.uses_last {
            return Vec::new();
        }
        let count = process.transitions.len();
        let reachable = &self.settled.reachable[usize::from(self.kind)];
        let all = process.transitions.iter().zip(reachable).filter_map(|(all, reachable)| reachable.then_some(all));
        let mut entered = vec![0u32; count];
        for transition in all.clone().flatten() {
            if !matches!(*transition.action, Action::End) {
                entered[transition.target as usize] += 1;
            }
            if transition.escape != 0 {
                entered[transition.escape as usize] += 1;
            }
        }
        entered[process.start as usize] += 1;
        for row in &self.settled.layers {
            for (position, &kind) in self.settled.model.types_of(row).iter().enumerate() {
                if kind == self.kind {
                    entered[self.settled.model.control_of(row, position) as usize] += 2;
                }
            }
        }
        let effect = |transition: &Transition| (transition.escape == 0).then(|| self.effect(&transition.action))?;
        // The state behind a transition, when nothing else leads there and one assignment leads on.
        let next = |transition: &Transition| {
            let target = transition.target as usize;
            match &process.transitions[target][..] {
                [only] if transition.atomic && entered[target] == 1 => Some((transition.target, only)),
                _ => None,
            }
        };
        let mut inside = vec![false; count];
        for transition in all.flatten() {
            if let (Some(_), Some((state, only))) = (effect(transition), next(transition))
                && effect(only).is_some()
            {
                inside[state as usize] = true;
            }
        }
        let mut starts: Vec<(u32, usize)> = Vec::new();
        for (state, transitions) in (0u32..).zip(&process.transitions) {
            if reachable[state as usize] && !inside[state as usize] {
                starts.extend((0..transitions.len()).map(|transition| (state, transition)));
            }
        }
        let mut found = Vec::new();
        while let Some((state, transition)) = starts.pop() {
            let mut at = &process.transitions[state as usize][transition];
            let Some(first) = effect(at) else { continue };
            let mut sequence = Sequence { state, transition, inside: Vec::new() };
            let mut effects = vec![first];
            while let Some((state, only)) = next(at) {
                let Some(more) = effect(only) else { break };
                if !effects.iter().all(|known| known.is_free_of(&more)) {
                    starts.push((state, 0));
                    break;
                }
                sequence.inside.push(state);
                effects.push(more);
                at = only;
            }
            if !sequence.inside.is_empty() {
                found.push(sequence);
            }
        }
        found
    }

    /// How many steps of an indivisible sequence, from this one on, are assignments whose order does not matter.
    pub(super) fn steps_together(&self, steps: &[IndivisibleStep], from: usize, start: u32) -> usize {
        let mut entered = vec![0u32; steps.len()];
        let mut enter = |step: u32| {
            if let Some(count) = entered.get_mut(step as usize) {
                *count += 1;
            }
        };
        enter(start);
        for step in steps {
            match step {
                IndivisibleStep::Do { next, .. } => enter(*next),
                IndivisibleStep::Choose(options) => options.iter().for_each(|&option| enter(option)),
            }
        }
        let mut effects: Vec<Effect> = Vec::new();
        for (at, step) in steps.iter().enumerate().skip(from) {
            let IndivisibleStep::Do { action, next, .. } = step else { break };
            let Some(more) = self.effect(action) else { break };
            if at > from && entered[at] != 1 || !effects.iter().all(|known| known.is_free_of(&more)) {
                break;
            }
            effects.push(more);
            if *next as usize != at + 1 {
                break;
            }
        }
        effects.len()
    }

    /// What an assignment reads and writes; nothing when it is something else, or could fail.
    fn effect(&self, action: &Action) -> Option<Effect> {
        let Action::Assign(target, value) = action else { return None };
        let place = &self.program.places[*target as usize];
        let mut effect = Effect { writes: BTreeSet::new(), reads: BTreeSet::new() };
        let mut roots: Vec<ExpressionId> = vec![*value];
        for index in &place.indices {
            if !self.stays_below(index.value, index.length) {
                return None;
            }
            roots.push(index.value);
        }
        if !place.scratch {
            effect.writes.extend(self.cells_at(*target));
        }
        let mut plain = true;
        for root in roots {
            plain &= self.cannot_fail(root);
            visit(self.program, root, &mut |_, node| match node {
                Node::Global(cell) => {
                    effect.reads.insert((true, cell));
                }
                Node::Local(cell) => {
                    effect.reads.insert((false, cell));
                }
                Node::Place(place) => effect.reads.extend(self.cells_at(place)),
                Node::Timeout | Node::Run(_) | Node::Last | Node::Remote(_) | Node::ProgramCounter(_) => plain = false,
                _ => {}
            });
        }
        plain.then_some(effect)
    }

    fn cells_at(&self, place: PlaceId) -> Vec<Cell> {
        let place = &self.program.places[place as usize];
        cells_of(place).into_iter().map(|cell| (place.global, cell)).collect()
    }
}
