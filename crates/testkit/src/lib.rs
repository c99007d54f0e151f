//! Random generators and brute-force oracles, straight from the definitions. Development only.
//!
//! An oracle here is slow and obvious, and shares no code with what it judges: of the other crates it uses only the
//! containers (an [`trefoil_lts::Lts`] and its accessors), never an algorithm.

pub mod composition;
pub mod cutting;
pub mod equivalences;
pub mod formulas;
pub mod games;
pub mod interruptions;
pub mod layers;
pub mod mcrl2;
pub mod networks;
pub mod observations;
pub mod permutations;
pub mod preorders;
pub mod processes;
pub mod promela;
pub mod promela_symmetric;
pub mod properties;
pub mod refinement;
pub mod rewriting;
pub mod symmetric;
pub mod temporal;
pub mod terms;
pub mod timed;

pub use trefoil_lts::random::{Random, RandomShape, random_lts};

/// The seed of a random test: `TREFOIL_SEED` when it is set, else a fixed one. A failing test prints what to set.
pub fn seed() -> u64 {
    std::env::var("TREFOIL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_115)
}
