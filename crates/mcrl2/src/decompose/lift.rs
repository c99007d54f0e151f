//! The way back: a run of the last composition as a run of the original.
//!
//! A step of a composition is a step of one of its two components, or of both by a rule. These components were
//! minimised. So the step of a class of states is looked for in the component as it was before: from the state in which
//! it is, through `τ`-steps that stay in the class, breadth-first, to a state that has the step. Its steps are those of
//! a composition again, down to the parts. What comes out is a list of *moves*: the parts that change, and their new
//! states. All but the last one are `τ` for the question. Divergence-preserving branching bisimilarity (decision 006)
//! says that there always is such a list.
//!
//! The states of all parts together are a state of the original. A move is found among the steps of the original by
//! its label and its target.
//!
//! Invariant: the states of the components on the way are consistent: the minimised state of a component is the one
//! that its composition has for it.
//!
//! Cost: for each step and each component a search in a class of that component; nothing is searched in the original.

use std::collections::{HashMap, HashSet};

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_system::{Cut, LabelId, StateId};

use super::compose::{Component, Origin};

/// Parts, and the states that they come to.
pub(super) type Moves = Vec<(usize, u32)>;

/// A component and the state in which it is, before it was minimised.
pub(super) struct Placed<'c> {
    component: &'c Component,
    state: StateId,
    /// Its two components; none for a part.
    inside: Option<Box<[Placed<'c>; 2]>>,
}

impl<'c> Placed<'c> {
    /// A component in its initial state.
    pub(super) fn initial(component: &'c Component) -> Placed<'c> {
        let inside = match &component.origin {
            Origin::Part(_) => None,
            Origin::Pair { left, right, .. } => Some(Box::new([Placed::initial(left), Placed::initial(right)])),
        };
        Placed { component, state: component.whole.initial(), inside }
    }

    /// Takes a step of the component before it was minimised; `out` gets the moves that come before it.
    pub(super) fn take(
        &mut self,
        label: LabelId,
        target: StateId,
        out: &mut Vec<Moves>,
        control: &Control,
    ) -> Result<Option<Moves>, Cut> {
        control.check()?;
        let source = std::mem::replace(&mut self.state, target);
        let (states, rules, inside) = match (&self.component.origin, &mut self.inside) {
            (Origin::Pair { states, rules, .. }, Some(inside)) => (states, rules, inside),
            (Origin::Part(_), _) | (Origin::Pair { .. }, None) => {
                return Ok(Some(vec![(self.component.parts[0], target.0)]));
            }
        };
        let (before, after) = (states[source.index()], states[target.index()]);
        let ends = [(before.0, after.0), (before.1, after.1)];
        let fits = |labels: &&[Option<LabelId>; 2]| {
            labels.iter().zip(ends).zip(&**inside).all(|((label, (from, to)), placed)| match label {
                None => from == to,
                Some(label) => has_step(&placed.component.lts, StateId(from), *label, StateId(to)),
            })
        };
        let Some(chosen) = rules.get(&label).and_then(|rules| rules.iter().find(fits)) else { return Ok(None) };
        let mut moves = Vec::new();
        for ((label, (_, to)), placed) in chosen.iter().zip(ends).zip(&mut **inside) {
            if let Some(label) = label {
                let Some(own) = placed.follow(*label, StateId(to), out, control)? else { return Ok(None) };
                moves.extend(own);
            }
        }
        Ok(Some(moves))
    }

    /// Takes a step of the component after it was minimised.
    fn follow(
        &mut self,
        label: LabelId,
        target: StateId,
        out: &mut Vec<Moves>,
        control: &Control,
    ) -> Result<Option<Moves>, Cut> {
        let component = self.component;
        let class = component.blocks[self.state.index()];
        let mut order = vec![self.state];
        let mut parents: HashMap<StateId, StateId> = HashMap::new();
        let mut met: HashSet<StateId> = HashSet::from([self.state]);
        let mut at = 0;
        while at < order.len() {
            control.check()?;
            let state = order[at];
            for step in component.whole.outgoing(state) {
                let shown = component.merged.get(&step.label).copied().unwrap_or(step.label);
                let to = component.blocks[step.target.index()];
                if shown == label && to == Some(target) {
                    let mut way = vec![state];
                    while let Some(&parent) = parents.get(&way[way.len() - 1]) {
                        way.push(parent);
                    }
                    for &next in way.iter().rev().skip(1) {
                        let Some(moves) = self.take(LabelId::TAU, next, out, control)? else { return Ok(None) };
                        out.push(moves);
                    }
                    return self.take(step.label, step.target, out, control);
                }
                if step.label == LabelId::TAU && to == class && met.insert(step.target) {
                    parents.insert(step.target, state);
                    order.push(step.target);
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Takes `τ`-steps of components until none is left, where their composition has no step.
    pub(super) fn settle(&mut self, out: &mut Vec<Moves>, control: &Control) -> Result<Option<()>, Cut> {
        let mut left = self.component.whole.state_count();
        loop {
            if let Some(inside) = &mut self.inside {
                for placed in &mut **inside {
                    if placed.settle(out, control)?.is_none() {
                        return Ok(None);
                    }
                }
            }
            let silent = self.component.whole.outgoing(self.state).iter().find(|step| step.label == LabelId::TAU);
            let Some(step) = silent.copied() else { return Ok(Some(())) };
            // A class that diverges is no deadlock.
            if left == 0 {
                return Ok(None);
            }
            left -= 1;
            let Some(moves) = self.take(step.label, step.target, out, control)? else { return Ok(None) };
            out.push(moves);
        }
    }
}

fn has_step(lts: &Lts, source: StateId, label: LabelId, target: StateId) -> bool {
    lts.outgoing(source).iter().any(|step| step.label == label && step.target == target)
}
