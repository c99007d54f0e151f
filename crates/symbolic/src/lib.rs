//! Symbolic reachability: the states of any system as a decision diagram.
//!
//! A [`Space`] learns the transition relations of a system's groups as far as they are met ([`learned`]), in an order
//! of slots that keeps related slots together ([`order`]), and explores the system by one of several [`Strategy`]s
//! ([`space`]). From the set of states it tells deadlocks and errors, counts states and transitions exactly, and finds
//! shortest runs ([`runs`]). Questions about processes are put to a system beside the normal form of a specification
//! ([`processes`]). [`SYMBOLIC`] is the engine.
//!
//! Absent here on purpose: diagrams themselves (`diagrams`), and everything about languages.

pub mod engine;
mod guided;
pub mod learned;
pub mod order;
pub mod processes;
mod resets;
mod rounds;
pub mod runs;
mod sift;
pub mod space;
mod turns;

pub use engine::{SYMBOLIC, SymbolicEngine};
pub use processes::Beside;
pub use space::{Options, SlotOrder, Space, Strategy};
