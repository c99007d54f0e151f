//! Marks: properties of a state besides its transitions.
//!
//! A mark has a meaning that engines know, a value, and the slots that the value depends on. It is evaluated from the
//! values of those slots alone ([`crate::Explorer::mark`]), so that a symbolic engine can tabulate it and a reduction
//! can decide whether it preserves it.

use crate::layout::{SlotSet, Value};

/// The number of a mark of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkId(pub u32);

impl MarkId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a mark means to engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// 1 where the system may stay forever without an error.
    ValidEnd,
    /// 1 where the specification of a product does not allow the trace.
    Forbidden,
    /// 1 where no internal step is possible.
    Stable,
    /// Not 0 where the model is in error; the value says which.
    Error,
    /// Which player moves in a state of a parity game: 0 is even, 1 is odd. A player without a move loses.
    Owner,
    /// The priority of a state of a parity game. On an infinite play the parity of the least priority that recurs wins.
    Priority,
    /// What a state shows to formulas; the system that declares it knows what its values are.
    Proposition,
    /// Which propositions have no value in a state: one such mark for each that shows propositions, in the same order
    /// and with the same bits; a system that has none gives every proposition a value everywhere. What the bit of a
    /// proposition without a value is there means nothing.
    Undefined,
}

/// A mark, as a system declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it means.
    pub meaning: Meaning,
    /// The slots that decide its value.
    pub reads: SlotSet,
    /// Its values are below this number.
    pub values: Value,
}
