//! Running a compiled model: rows, statements, successors.

pub(crate) mod arrangement;
mod dependencies;
mod describe;
mod execute;
mod explorer;
mod fault;
mod look;
#[allow(clippy::module_inception, reason = "the machine is the idea of this folder")]
mod machine;
mod marks;
mod moves;
mod observe;
mod parts;
mod system;
mod terms;

pub(crate) use arrangement::COUNT;
pub use fault::{Fault, FaultKind};
pub use system::Model;
