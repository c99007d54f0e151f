//! Networks: components that run side by side, and rules that say which of their steps together make a step of the whole.
//!
//! A [`Network`] is a system; [`Composition`] makes one from files' worth of LTSs with synchronisation, renaming and hiding as
//! the command line offers them, and [`compose`] explores it into one LTS.
//!
//! Absent here on purpose: where components come from. Front ends compile to rules and never see how successors are found.

mod codes;
mod compose;
mod composition;
mod machine;
mod network;
mod patterns;
mod rules;
mod successors;

pub use codes::CODES;
pub use compose::{Composed, compose, count};
pub use composition::{Composition, Synchronise};
pub use network::Network;
pub use rules::{Component, Format, FormatId, Rule, StepExplanation};
