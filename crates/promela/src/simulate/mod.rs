//! Running a model statement by statement, for users: moments and moves, their changes, and a system to step through.

mod exchanges;
mod interpreter;
mod observe;
mod simulation;
mod simulator;
mod statements;
mod telling;

pub use exchanges::Exchanges;
pub use simulation::Simulation;
pub use simulator::{Act, Moment, Move, Simulator};
pub use telling::{Message, Standing, Told, Variables, Way};
