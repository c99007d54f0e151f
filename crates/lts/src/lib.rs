//! Explicit labelled transition systems.
//!
//! An [`Lts`] keeps its transitions in compressed sparse rows, forward; a [`Backward`] view is made when an algorithm
//! asks for it. States and labels are typed numbers, labels in the table of the check.

pub mod equivalence;
mod explicit;
pub mod format;
pub mod random;

pub use explicit::{Backward, Lts, LtsBuilder, Transition};
