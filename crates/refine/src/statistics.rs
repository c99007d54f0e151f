//! What a check counted.

use std::time::Duration;

use crate::{Algorithm, Reduction};

/// Counts of one refinement check, complete or as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Pairs of a specification set and an implementation state that were found.
    pub states: u64,
    /// Steps of the product that were checked.
    pub transitions: u64,
    /// The most pairs that waited to be explored at one time.
    pub working_max: u64,
    /// Pairs that were found again, or larger than one already there.
    pub antichain_hits: u64,
    /// Pairs that were new.
    pub antichain_misses: u64,
    /// The most pairs that were kept at one time.
    pub antichain_max: u64,
    /// Pairs that were dropped because a smaller one came.
    pub antichain_evictions: u64,
    /// The algorithm that was used, for a refinement; never [`Algorithm::Automatic`] then.
    pub algorithm: Algorithm,
    /// Sets of specification states that were made.
    pub specification_sets: u64,
    /// The depth of breadth-first searches in visible events.
    pub levels: u64,
    /// States of the specification that was searched, after preprocessing.
    pub specification_states: u64,
    /// States of the implementation that was searched, after preprocessing; for one that is explored on the fly, those
    /// found.
    pub implementation_states: u64,
    /// What a reduction by symmetry did, if one was requested; states are then representatives.
    pub symmetry: Option<Box<Reduction>>,
    /// Time for preprocessing and normalising.
    pub preparation: Duration,
    /// Time for everything, the witness and its replay included.
    pub elapsed: Duration,
}
