//! Running a model statement by statement, for people: moments and moves, what they change, and a system of them to step through.

mod interpreter;
mod observe;
mod simulation;
mod simulator;
mod statements;
mod telling;

pub use simulation::Simulation;
pub use simulator::{Act, Moment, Move, Simulator};
pub use telling::{Message, Standing, Told, Variables, Way};
