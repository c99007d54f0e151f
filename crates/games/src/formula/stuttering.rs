//! What a formula sees of a model: which actions it names, and whether it notices internal steps that decide nothing.
//!
//! A label none of whose actions the formula names satisfies the same action formulas as `τ`, unless one of these names
//! `tau`. Such labels may be hidden in a model, whatever the formula.
//!
//! With them hidden, a formula has the same value in models that are divergence-preserving branching bisimilar when it
//! is built, by connectives and quantifiers, from
//!
//! * constants and data,
//! * `[R]f` and `<R>f` for such an `f`, where reading a hidden label never changes what `R` still expects: its partial
//!   derivative is `R` itself, and so for everything that can be left of `R` except nothing. Steps that stay in a class
//!   can then be inserted in a run and taken out of it,
//! * `[true*]<true>true`: no deadlock is reachable,
//! * `mu X. [A]X && <true>true` where `A` has the hidden labels: every run leaves `A`; a class that diverges or
//!   deadlocks does so in both models.
//!
//! The derivatives are those of Antimirov, *Partial derivatives of regular expressions and finite automaton
//! constructions* (1996). Which visible labels an action formula has is not looked at: what can be left of `R` is found
//! as if every action formula had some.
//!
//! Cost: the derivatives of each modality, at most [`MOST_LEFT`].

use std::collections::BTreeSet;

use super::tree::{Connective, Fixpoint, Modality};
use super::typed::{FixpointId, Formula, LabelSet, LabelSetId, Part, PartId, Steps, StepsId};

/// Sequences of steps that may be left of one regular formula.
const MOST_LEFT: usize = 1_000;

/// What a formula sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The names of the actions that it names; nothing when it names `tau`, so that no label may be hidden.
    pub named: Option<BTreeSet<String>>,
    /// The part by which it notices internal steps, as text; nothing when it notices none.
    pub counts_steps: Option<String>,
}

/// An element of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Once(StepsId),
    Star(StepsId),
}

impl Formula {
    /// What the formula sees.
    pub fn sight(&self) -> Sight {
        let mut named = Some(BTreeSet::new());
        for set in &self.label_sets {
            let LabelSet::Multi(parts) = set else { continue };
            if parts.is_empty() {
                named = None;
            }
            if let Some(names) = &mut named {
                let name = |&(action, _): &(usize, _)| {
                    self.signature.data.names.text(self.signature.actions[action].name).to_string()
                };
                names.extend(parts.iter().map(name));
            }
        }
        Sight { named, counts_steps: self.noticing(self.root).map(|part| self.part_text(part)) }
    }

    /// A part that notices internal steps.
    fn noticing(&self, id: PartId) -> Option<PartId> {
        match self.part(id) {
            Part::Constant(_) | Part::Value(_) => None,
            Part::Not(inside) | Part::Quantified(_, _, inside) => self.noticing(*inside),
            Part::Infix(_, left, right) => self.noticing(*left).or_else(|| self.noticing(*right)),
            Part::Modal(Modality::Must, steps, inside) if self.is_everything(*steps) && self.is_some_step(*inside) => {
                None
            }
            Part::Modal(_, steps, inside) => {
                if self.loops_on_hidden(*steps) {
                    self.noticing(*inside)
                } else {
                    Some(id)
                }
            }
            Part::Fixpoint(fixpoint, body) if self.is_inevitability(*fixpoint, *body) => None,
            Part::Fixpoint(..) | Part::Instance(..) => Some(id),
        }
    }

    /// `true*`
    fn is_everything(&self, steps: StepsId) -> bool {
        match self.steps(steps) {
            Steps::Star(inside) => matches!(self.steps(*inside), Steps::One(set) if self.is_full(*set)),
            _ => false,
        }
    }

    fn is_full(&self, set: LabelSetId) -> bool {
        *self.label_set(set) == LabelSet::Constant(true)
    }

    /// `<true>true`
    fn is_some_step(&self, id: PartId) -> bool {
        let Part::Modal(Modality::May, steps, inside) = self.part(id) else { return false };
        let one = matches!(self.steps(*steps), Steps::One(set) if self.is_full(*set));
        one && *self.part(*inside) == Part::Constant(true)
    }

    /// `mu X. [A]X && <true>true`
    fn is_inevitability(&self, fixpoint: FixpointId, body: PartId) -> bool {
        let known = self.fixpoint(fixpoint);
        let Part::Infix(Connective::And, left, right) = *self.part(body) else { return false };
        let goes_on = |id: PartId| {
            let Part::Modal(Modality::Must, steps, inside) = self.part(id) else { return false };
            let again = matches!(self.part(*inside), Part::Instance(to, _) if *to == fixpoint);
            again && matches!(self.steps(*steps), Steps::One(set) if self.has_hidden(*set) == Some(true))
        };
        let is_body = |one, other| goes_on(one) && self.is_some_step(other);
        known.kind == Fixpoint::Least && known.parameters.is_empty() && (is_body(left, right) || is_body(right, left))
    }

    /// Whether hidden labels are in a set; nothing when that depends on data.
    fn has_hidden(&self, set: LabelSetId) -> Option<bool> {
        match self.label_set(set) {
            LabelSet::Constant(value) => Some(*value),
            LabelSet::Value(_) => None,
            LabelSet::Multi(parts) => Some(parts.is_empty()),
            LabelSet::Not(inside) => self.has_hidden(*inside).map(|value| !value),
            // No sort is empty.
            LabelSet::Quantified(_, _, inside) => self.has_hidden(*inside),
            LabelSet::Infix(connective, left, right) => {
                let (left, right) = (self.has_hidden(*left)?, self.has_hidden(*right)?);
                Some(match connective {
                    Connective::And => left && right,
                    Connective::Or => left || right,
                    Connective::Implies => !left || right,
                })
            }
        }
    }

    /// Whether a hidden label never changes what is left of a sequence of steps.
    fn loops_on_hidden(&self, steps: StepsId) -> bool {
        let start = self.flat(&[Item::Once(steps)]);
        let mut met: BTreeSet<Vec<Item>> = BTreeSet::from([start.clone()]);
        let mut pending = vec![start];
        while let Some(left) = pending.pop() {
            if left.is_empty() {
                continue;
            }
            let mut loops = false;
            for (set, rest) in self.first(&left) {
                match self.has_hidden(set) {
                    None => return false,
                    Some(true) if rest != left => return false,
                    Some(hidden) => loops |= hidden,
                }
                if met.insert(rest.clone()) {
                    pending.push(rest);
                }
            }
            if !loops || met.len() > MOST_LEFT {
                return false;
            }
        }
        true
    }

    /// A sequence whose elements are single steps, choices and stars.
    fn flat(&self, items: &[Item]) -> Vec<Item> {
        let mut flat = Vec::new();
        let mut pending: Vec<Item> = items.iter().rev().copied().collect();
        while let Some(item) = pending.pop() {
            match item {
                Item::Star(_) => flat.push(item),
                Item::Once(steps) => match *self.steps(steps) {
                    Steps::One(_) | Steps::Choice(..) => flat.push(item),
                    Steps::Sequence(left, right) => pending.extend([Item::Once(right), Item::Once(left)]),
                    Steps::Star(inside) => flat.push(Item::Star(inside)),
                    Steps::Plus(inside) => pending.extend([Item::Star(inside), Item::Once(inside)]),
                },
            }
        }
        flat
    }

    /// The sets of labels with which a flat sequence can begin, each with what is left then.
    fn first(&self, items: &[Item]) -> Vec<(LabelSetId, Vec<Item>)> {
        let Some((&head, rest)) = items.split_first() else { return Vec::new() };
        match head {
            Item::Star(inside) => {
                let again = [&[head], rest].concat();
                let once = self.first(&self.flat(&[Item::Once(inside)]));
                let more = once.into_iter().map(|(set, left)| (set, [&left[..], &again].concat()));
                more.chain(self.first(rest)).collect()
            }
            Item::Once(steps) => match *self.steps(steps) {
                Steps::One(set) => vec![(set, rest.to_vec())],
                Steps::Choice(left, right) => {
                    let ways = [left, right].map(|way| self.flat(&[&[Item::Once(way)], rest].concat()));
                    ways.iter().flat_map(|way| self.first(way)).collect()
                }
                Steps::Sequence(..) | Steps::Star(_) | Steps::Plus(_) => self.first(&self.flat(items)),
            },
        }
    }
}
