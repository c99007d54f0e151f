//! Stacks of what is still to be done, which share what lies below.
//!
//! A stack is its top element and the stack below it, and equal ones have one number. Slots are counted from the
//! bottom, so a stack does not change when something is put on it: a sequence of n actions takes n elements in all, and
//! a step from one control state to the next looks at the top alone.

use std::collections::HashMap;
use std::rc::Rc;

use trefoil_data::typed::VariableId;
use trefoil_terms::Term;

use super::shapes::ShapeId;
use crate::processes::ProcessRef;

/// A stack without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

impl StackId {
    /// Nothing is left to be done.
    pub(super) const EMPTY: StackId = StackId(0);
}

/// A stack with values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stack {
    pub(super) id: StackId,
    /// The value of each slot.
    pub(super) values: Vec<Term>,
}

/// The top element of a stack.
#[derive(Debug)]
pub(super) struct Top {
    /// A process of its structure.
    pub(super) node: ProcessRef,
    /// The slots of its variables, in the order of the structure.
    pub(super) slots: Rc<[usize]>,
    pub(super) below: StackId,
    /// The variables that the slots of the whole stack are named after.
    named: Rc<[VariableId]>,
    /// How often one place of the text occurs in the stack, at most. Only calls inside calls of the same process put
    /// what comes after them there again.
    nested: u32,
}

/// All stacks of a component.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    tops: Vec<Top>,
    known: HashMap<(ShapeId, Rc<[usize]>, StackId), StackId>,
}

impl Stacks {
    /// The first element, unless the stack is empty.
    pub(super) fn top(&self, stack: StackId) -> Option<&Top> {
        self.tops.get((stack.0 as usize).checked_sub(1)?)
    }

    /// The variables that the slots are named after.
    pub(super) fn named(&self, stack: StackId) -> &[VariableId] {
        self.top(stack).map_or(&[], |top| &top.named)
    }

    /// How deep calls of one process are inside each other.
    pub(super) fn nested(&self, stack: StackId) -> u32 {
        self.top(stack).map_or(0, |top| top.nested)
    }

    /// The elements from the top to the bottom.
    pub(super) fn elements(&self, mut stack: StackId) -> impl Iterator<Item = &Top> {
        std::iter::from_fn(move || {
            let top = self.top(stack)?;
            stack = top.below;
            Some(top)
        })
    }

    /// The stack with an element put on it, whose variables are in these slots; `new` are the variables of those slots
    /// that the stack did not have.
    pub(super) fn put(
        &mut self,
        node: ProcessRef,
        shape: ShapeId,
        slots: &[usize],
        new: &[VariableId],
        below: StackId,
    ) -> StackId {
        let slots: Rc<[usize]> = Rc::from(slots);
        let next = StackId(self.tops.len() as u32 + 1);
        let id = *self.known.entry((shape, Rc::clone(&slots), below)).or_insert(next);
        if id == next {
            let named = match self.top(below) {
                Some(top) if new.is_empty() => Rc::clone(&top.named),
                _ => self.named(below).iter().chain(new).copied().collect(),
            };
            let again = self.elements(below).filter(|top| top.node == node).count() as u32;
            let nested = self.nested(below).max(again + 1);
            self.tops.push(Top { node, slots, below, named, nested });
        }
        id
    }
}
