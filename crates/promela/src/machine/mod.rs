//! Running a compiled model: rows, statements, successors.

mod arrangement;
mod dependencies;
mod describe;
mod execute;
mod explorer;
mod fault;
#[allow(clippy::module_inception, reason = "the machine is the idea of this folder")]
mod machine;
mod observe;
mod parts;
mod simulation;
mod simulator;
mod system;
mod telling;

pub use fault::{Fault, FaultKind};
pub use simulation::Simulation;
pub use simulator::{Act, Moment, Move, Simulator};
pub use system::Model;
pub use telling::{Message, Standing, Told, Variables, Way};
