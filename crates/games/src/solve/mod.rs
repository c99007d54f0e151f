//! Explicit parity games, complete or not, their solvers, and the verifier of strategies.
//!
//! | file | what it has |
//! |---|---|
//! | `game` | games in memory: compressed rows in both directions (`rows`) |
//! | `arena`, `bits`, `explicit` | what solvers need of a game; sets as bit vectors; attractors by worklists |
//! | `layers`, `lists` | a game that a recursive solver takes apart: as sets; as one list |
//! | `zielonka`, `fixpoint`, `promotion` | solvers, the first two over any representation of sets |
//! | `registry` | their table |
//! | `whole`, `components` | solving a game: easy parts first, component after component |
//! | `partial` | solvers for incomplete games |
//! | `verify`, `cycles` | the verifier, which shares no code with them |
//! | `fly` | deciding the game of a system while exploring it |
//! | `pgsolver` | the text formats of games and solutions |
//!
//! To decide the game of a system with the marks [`trefoil_system::Meaning::Owner`] and
//! [`trefoil_system::Meaning::Priority`], call [`decide`]. To solve a game in memory, make it with a [`GameBuilder`],
//! or read it ([`pgsolver`]), and call [`solve`].

mod arena;
mod bits;
mod components;
mod cycles;
mod explicit;
mod fixpoint;
mod fly;
mod game;
mod layers;
mod lists;
mod partial;
pub mod pgsolver;
mod promotion;
mod recorded;
mod registry;
mod rows;
mod verify;
mod whole;
mod zielonka;

pub use arena::{Arena, VertexSet};
pub use bits::Bits;
pub use explicit::{Explicit, Moves};
pub use fixpoint::fixpoint;
pub(crate) use fly::MarkReader;
pub use fly::{Deciding, Decision, GameCounts, Played, PlayedMove, PlayedVertex, Undecided, Wanted, decide};
pub use game::{GREATEST_PRIORITY, Game, GameBuilder, NO_VERTEX, Player, Vertex};
pub use layers::{Layers, SetLayers};
pub use lists::ListLayers;
pub use partial::{PartialSolver, find_dominions, grow_won, solve_partially};
pub use promotion::promotion;
pub use registry::{Run, SOLVERS, Solver, solver};
pub use verify::{Flaw, find_flaw, verify};
pub use whole::{Solution, solve, solve_in_parts};
pub use zielonka::zielonka;
