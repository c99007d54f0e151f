//! Explicit labelled transition systems.
//!
//! An [`Lts`] keeps its transitions in compressed sparse rows, forward; a [`Backward`] view is made when an algorithm
//! asks for it. States and labels are typed numbers, labels in the table of the check.

mod answers;
pub mod components;
pub mod compress;
pub mod divergence;
pub mod equivalence;
mod explicit;
pub mod format;
mod generalised;
mod generate;
pub mod info;
mod interner;
mod levels;
mod normal;
pub mod random;
pub mod references;
mod shared;
mod subsets;

pub use explicit::{Backward, Lts, LtsBuilder, Transition};
pub use generalised::{AcceptanceId, Acceptances, FamilyId, Glts};
pub use generate::{Generated, generate, keep_distinct};
pub use interner::SliceTable;
pub use levels::{Levels, levels};
pub use normal::{normalise, normalise_within, stays_within};
pub use references::References;
pub use shared::SharedRows;
pub use subsets::{Following, LazyNormalForm, NodeId, Scratch, Within};
