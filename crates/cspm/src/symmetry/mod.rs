//! Symmetry of scripts: which constants of datatypes are interchangeable, and how exchanging them acts.
//!
//! [`points`] numbers the constants that may be exchanged, so that groups can act on numbers;
//! [`Compiler::label_map`](crate::process::Compiler::label_map) gives the action of a permutation of points on events.

mod points;

pub use points::{Family, Points, UnknownPoint};
