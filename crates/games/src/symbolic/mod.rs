//! Parity games as decision diagrams, explored and solved at the same time.
//!
//! | file | what it has |
//! |---|---|
//! | `sets` | sets of vertices as diagrams |
//! | `arena` | what solvers need of a game: steps backwards, attractors |
//! | `trail` | how a player wins: layers and sets |
//! | `growing` | the game as far as it is explored, and what is won of it |
//! | `deciding` | exploring and solving in turn; which solver, and when |
//! | `evidence` | a strategy on the system itself, from the trail |
//! | `dominion` | the verifier of what is won, with sets: for strategies that are too large to write down |
//! | `engine` | what the table of engines has |
//!
//! The solvers are those of [`crate::solve`], written over any representation of sets.

mod arena;
mod deciding;
mod dominion;
mod engine;
mod evidence;
mod growing;
mod sets;
mod trail;

pub use arena::SymbolicArena;
pub use deciding::{
    SolverChoice, SymbolicDeciding, SymbolicDecision, SymbolicGameCounts, SymbolicUndecided, decide_symbolically,
    partial_name,
};
pub use dominion::find_dominion_flaw;
pub use engine::{SYMBOLIC_GAME, SymbolicGameEngine};
pub use growing::{GrowingGame, Growth};
pub use sets::{DiagramSet, Pool};
pub use trail::Trail;
