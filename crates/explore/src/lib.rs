//! Exploring: the store of states, search orders, exploration on all cores within a budget, paths.
//!
//! An engine gives [`search`] a system and a [`Visitor`] and gets an [`Exploration`]: how it ended, counts, the states,
//! and a path to what was found. [`collect`] makes an explicit graph of a system, numbered in the same way whatever the
//! number of threads.
//!
//! [`EXACT`], [`HASH_COMPACT`] and [`BITSTATE`] are engines for questions about what can be reached.
//!
//! Absent here on purpose: other goals of searches. Visitors live with the checks that need them.

mod collect;
mod cycles;
mod expand;
mod fit;
mod frontier;
mod history;
mod index;
mod packing;
mod patches;
mod path;
mod positions;
mod probe;
mod reach;
mod repack;
mod rows;
mod search;
mod states;
mod sync;
mod tree;
mod workers;

pub use collect::{Collected, Unfinished, collect};
pub use packing::Packing;
pub use probe::{Coverage, Observer, Probe, ProbeEnd, Sighting, Traces, probe};
pub use reach::{BITSTATE, EXACT, FEWER_STEPS, HASH_COMPACT, ReachEngine, soon_after};
pub use search::{
    Counts, Edge, End, Exploration, Finding, Found, Options, Order, Paused, Proviso, Reducing, Stretch, Visited,
    Visitor, search, search_reducing, search_until,
};
pub use states::{DENSE_BITS, Inserter, Reader, StateSet, States};
