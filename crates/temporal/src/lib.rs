//! Runs that never end: formulas of linear temporal logic and claims as automata, and their products with systems.
//!
//! [`automaton`] translates a formula, [`simplify`] makes any automaton smaller, [`Strength`] says how hard it is to
//! decide whether a system has a run that an automaton accepts.
//!
//! Absent here on purpose: every syntax. Front ends read formulas and claims, and number their propositions.

mod components;
mod engine;
mod fairness;
mod folded;
mod graph;
mod ground;
mod lasso;
mod normal;
mod product;
mod shorten;
mod simplify;
mod strength;
mod translate;
mod walk;

pub use engine::{TEMPORAL, TemporalEngine};
pub use simplify::simplify;
pub use strength::Strength;
pub use translate::{Untranslated, automaton};
