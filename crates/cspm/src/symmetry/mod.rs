//! Symmetry of scripts: which constants of datatypes are interchangeable, and how exchanging them acts.
//!
//! [`Analysis`] finds it in the text: which constants no definition that an assertion reaches ([`reach`]) names
//! ([`constant_free`]). It answers `:[symmetric]` and gives candidates and reasons for `:[symmetry reduce]` ([`claims`]
//! reads the lists behind both). [`Points`] numbers the constants that may be exchanged, so that groups can act on
//! numbers; [`Compiler::label_map`](crate::process::Compiler::label_map) gives the action of a permutation of points on
//! events.

mod claims;
mod codes;
mod constant_free;
mod involvement;
mod points;
mod reach;

pub use claims::{Claim, claims};
pub use codes::CODES;
pub use constant_free::{Analysis, Break, Constant, Spoiler, TypeSymmetry};
pub use points::{Family, Points, UnknownPoint};
pub use reach::{builtins, roots};
