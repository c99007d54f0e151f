//! Representatives of states under symmetry groups.
//!
//! A system whose transitions are closed under a group has many copies of every state; it is enough to explore one of
//! each. This crate chooses that one. It sees neither states nor languages, only the
//! [`Picture`](trefoil_system::Picture) of a state and the group that permutes its points, so a strategy is written
//! once and serves every language.
//!
//! [`STRATEGIES`] is the table of strategies: what each does, its source, what it promises and what it needs. A
//! [`Symmetry`] is a group prepared for one of them and shared by all threads; each thread has its [`Canoniser`], which
//! owns the buffers and gives for a picture the element of the group to apply and, when the strategy is exact, how many
//! elements fix the state.
//!
//! Two pictures belong to one orbit when an element of the group, with some map of the anonymous vertices, carries one
//! to the other. An *exact* strategy carries all pictures of an orbit to the same one (up to the numbers of anonymous
//! vertices); the others may leave several.
//!
//! A [`Quotient`] is any system with an action, reduced to representatives, as a system again, with a count of the
//! states that they stand for and a map from its runs to runs of the system.

mod canonical;
mod canoniser;
mod fast;
mod images;
mod labels;
mod minimising;
mod orbitals;
mod quotient;
mod reducer;
mod registry;
mod symmetry;
mod twins;
mod types;
mod unwind;
mod weights;
mod work;

pub use canoniser::{Canoniser, Representative};
pub use quotient::{CarriedStep, CarryingExplorer, MeteredExplorer, Quotient};
pub use reducer::{Reduced, Reducer};
pub use registry::{Needs, Promise, STRATEGIES, Strategy, strategy_named};
pub use symmetry::{Refusal, Symmetry};
pub use trefoil_groups::UBig;
pub use unwind::Unwinding;
pub use weights::Tally;
