//! Running a compiled model: rows, statements, successors.

mod aliases;
pub(crate) mod arrangement;
mod dependencies;
mod describe;
mod execute;
mod explorer;
mod fault;
mod groups;
mod independence;
mod local;
mod look;
#[allow(clippy::module_inception, reason = "the machine is the idea of this folder")]
mod machine;
mod members;
mod messages;
mod moves;
mod observe;
mod parts;
mod reducing;
mod survey;
mod system;
mod terms;
mod timeouts;
mod touched;
mod undefined;
mod visible;

pub(crate) use aliases::Aliases;
pub(crate) use arrangement::{COUNT, Queue};
pub use fault::{Fault, FaultKind};
pub use messages::{Channel, Messages, Observed, Watched};
pub use system::Model;
pub use touched::Reason;
