//! What is known of the values of slots, and so of the channels and array elements that moves name.
//!
//! A parameter that no statement writes keeps its value, so an analysis for processes that were started in one way
//! knows it ([`Survey::knowing`]); one that splits the moves of a group by an index assumes a value of it
//! ([`Survey::assuming`]). Either way the value of a term follows from those of its slots, and where it is an index,
//! one element is named instead of an array.
//!
//! Cost: the size of the terms.

use std::collections::{BTreeMap, HashMap};

use crate::evaluate::binary;
use crate::syntax::tree::Binary;

use super::{Placed, Survey};
use crate::machine::arrangement::Queue;
use crate::machine::moves::{Act, Field};
use crate::machine::terms::{Element, Target, Term, TermId};

/// What is assumed of the value of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Assumed {
    /// It is this: an index that comes from it names one element.
    Is(u32),
    /// It is beyond all values that are good indices: an index that comes from it names no element.
    Beyond,
}

impl<'a> Survey<'a> {
    /// The same analysis for states in which slots have these values, with the two ends of channels told apart
    /// (`Touched::puts`).
    pub(in crate::machine) fn knowing(self, known: HashMap<u32, u32>) -> Survey<'a> {
        Survey { known, ends_apart: true, ..self }
    }

    /// The same analysis for states in which something is known of a slot.
    pub(in crate::machine) fn assuming<T>(&self, slot: u32, assumed: Assumed, analysis: impl FnOnce() -> T) -> T {
        let before = self.assumed.replace(Some((slot, assumed)));
        let result = analysis();
        self.assumed.set(before);
        result
    }

    /// The value of an index, where what is assumed of a slot gives it; -1 where it is no good index.
    fn value(&self, term: TermId) -> Option<i32> {
        if !self.known.is_empty() {
            return self.known_value(term);
        }
        let (slot, assumed) = self.assumed.get()?;
        match (self.code.terms.terms[term as usize], assumed) {
            (Term::Constant(value), Assumed::Is(_)) => Some(value),
            (Term::Slot(own), Assumed::Is(value)) if own == slot => Some(value as i32),
            (Term::SlotConstant(operator, own, other), Assumed::Is(value)) if own == slot => {
                binary(operator, value as i32, other)
            }
            (Term::Binary(operator, left, right), Assumed::Is(_)) => {
                binary(operator, self.value(left)?, self.value(right)?)
            }
            (Term::Slot(own) | Term::SlotConstant(Binary::Plus | Binary::Minus, own, _), Assumed::Beyond)
                if own == slot =>
            {
                Some(-1)
            }
            _ => None,
        }
    }

    /// The value of a term, where that of its slots is known.
    fn known_value(&self, term: TermId) -> Option<i32> {
        let known = |slot: u32| self.known.get(&slot).map(|&value| value as i32);
        match self.code.terms.terms[term as usize] {
            Term::Constant(value) => Some(value),
            Term::Slot(slot) => known(slot),
            Term::SlotConstant(operator, slot, other) => binary(operator, known(slot)?, other),
            Term::SlotSlot(operator, left, right) => binary(operator, known(left)?, known(right)?),
            Term::Binary(operator, left, right) => binary(operator, self.known_value(left)?, self.known_value(right)?),
            _ => None,
        }
    }

    /// The global channel that a term names, where that is known.
    pub(super) fn known_queue(&self, term: TermId) -> Option<Queue> {
        let number = usize::try_from(self.known_value(term)?).ok()?.checked_sub(1)?;
        self.arrangement.queues.get(number).copied()
    }

    /// The slots that decide by themselves which element of an array a move uses, each with how many of its values may
    /// be good indices.
    pub(in crate::machine) fn indices(&self, one: &Placed<'_>) -> BTreeMap<u32, u32> {
        let mut found: BTreeMap<u32, u32> = BTreeMap::new();
        let mut acts = vec![&one.step.act];
        let (mut work, mut elements) = (Vec::new(), Vec::new());
        let target = |target: &Target, elements: &mut Vec<u32>| {
            if let Target::Element(element) = *target {
                elements.push(element);
            }
        };
        while let Some(act) = acts.pop() {
            match act {
                Act::Condition(term) | Act::Assert(term) => work.push(*term),
                Act::Assign(place, value) => {
                    target(place, &mut elements);
                    work.push(*value);
                }
                Act::Send(send) => work.extend(&send.arguments),
                Act::Receive(receive) => {
                    for field in &receive.fields {
                        match field {
                            Field::Store(place) => target(place, &mut elements),
                            Field::Match(value) => work.push(*value),
                        }
                    }
                }
                Act::Indivisible(body) => acts.extend(super::acts(body)),
                Act::Skip | Act::Else | Act::SetPriority(..) | Act::End => {}
            }
        }
        while let Some(term) = work.pop() {
            match self.code.terms.terms[term as usize] {
                Term::At { slot, length, .. } => {
                    let values = found.entry(slot).or_insert(0);
                    *values = (*values).max(length);
                }
                Term::Element(element) => elements.push(element),
                Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
                Term::Binary(_, left, right) => work.extend([left, right]),
                Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
                _ => {}
            }
        }
        let mut note = |term: TermId, length: u32| {
            let (slot, more) = match self.code.terms.terms[term as usize] {
                Term::Slot(slot) => (slot, 0),
                Term::SlotConstant(Binary::Plus | Binary::Minus, slot, value) => (slot, value.unsigned_abs()),
                _ => return,
            };
            let values = found.entry(slot).or_insert(0);
            *values = (*values).max(length.saturating_add(more));
        };
        for element in elements {
            let element = &self.code.terms.elements[element as usize];
            element.offsets.iter().for_each(|offset| note(offset.value, offset.length));
        }
        found
    }

    /// The slots where an element of an array may stand, counted from a base.
    pub(super) fn slots_in(&self, element: &Element, from: usize) -> Vec<usize> {
        let mut slots = vec![from + element.base as usize];
        for offset in &element.offsets {
            let before = std::mem::take(&mut slots);
            let indices = match self.value(offset.value).map(|index| index as u32) {
                // Outside the array there is no element.
                Some(index) => index..index.saturating_add(1).min(offset.length),
                None => 0..offset.length,
            };
            for index in indices {
                slots.extend(before.iter().map(|slot| slot + (index * offset.stride) as usize));
            }
        }
        slots
    }
}
