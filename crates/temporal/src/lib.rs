//! Runs that never end: formulas of linear temporal logic and claims as automata, and their products with systems.
//!
//! [`automaton`] translates a formula, [`simplify`] makes any automaton smaller, [`Strength`] says how hard it is to
//! decide whether a system has a run that an automaton accepts. [`read_hoa`] and [`write_hoa`] are about automata in
//! files, [`Words`] and [`over_words`] about claims on the labels of steps.
//!
//! Absent here on purpose: the syntax of formulas and propositions. Front ends read these, and number propositions.

mod components;
mod engine;
mod fairness;
mod folded;
mod graph;
mod ground;
mod hoa;
mod lasso;
mod normal;
mod product;
mod runs;
mod shorten;
mod simplify;
mod strength;
mod translate;
mod trim;
mod walk;
mod words;

pub use engine::{TEMPORAL, TemporalEngine};
pub use hoa::{CODES, HoaAutomaton, HoaProposition, read_hoa, write_hoa};
pub use simplify::simplify;
pub use strength::Strength;
pub use translate::{Untranslated, automaton};
pub use words::{LetterOf, MOST_LABEL_PROPOSITIONS, Words, over_words};
