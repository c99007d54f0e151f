//! Symbolic reachability: the states of any system as a decision diagram.
//!
//! A [`Space`] learns the transition relations of a system's groups as far as they are met ([`learned`]), in an order
//! of slots that keeps related slots together ([`order`]), and explores the system by one of several [`Strategy`]s
//! ([`space`]). From the set of states it tells deadlocks and errors, counts states and transitions exactly, and finds
//! shortest runs ([`runs`]). [`SYMBOLIC`] is the engine that answers questions about what can be reached.
//!
//! Absent here on purpose: diagrams themselves (`diagrams`), and everything about languages.

pub mod engine;
pub mod learned;
pub mod order;
pub mod runs;
pub mod space;

pub use engine::{SYMBOLIC, SymbolicEngine};
pub use space::{Options, SlotOrder, Space, Strategy};
