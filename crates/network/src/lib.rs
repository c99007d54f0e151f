//! Networks: components that run side by side, and rules that say which of their steps together make a step of the
//! whole.
//!
//! A [`Network`] is a system; [`Composition`] makes one from LTSs with synchronisation, renaming and hiding as the
//! command line offers them, and [`compose`] explores it into one LTS.
//!
//! Absent here on purpose: where components come from. Front ends compile to rules and never see how successors are
//! found.

mod accepting;
mod arrange;
mod chase;
mod codes;
mod compose;
mod composition;
pub mod exp;
mod lazy;
mod local;
mod machine;
mod masks;
mod network;
mod partial_order;
mod patterns;
mod prioritise;
mod rules;
mod successors;
pub mod symmetry;
mod trim;
mod watchdog;

pub use accepting::Accepting;
pub use codes::CODES;
pub use compose::{compose, count};
pub use composition::{Composition, Synchronise};
pub use lazy::LazyMachine;
pub use network::Network;
pub use partial_order::{PartialOrder, Preserve};
pub use prioritise::Priorities;
pub use rules::{Behaviour, Component, Format, FormatId, Rule, StepExplanation};
pub use trim::Trimmed;
pub use watchdog::trace_watchdog;
