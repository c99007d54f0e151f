//! One table of engines and reductions: which engine answers which question, and which options are refused.
//!
//! [`Table`] has a row for each engine. [`Table::choose`] takes the row that honours the user's options and suits the
//! known facts of the question ([`Facts`](trefoil_questions::Facts)), and gives its reason in one line. An option that
//! no row takes is left over and refused by name ([`Table::unusable`]); so a new option is refused everywhere until an
//! engine takes it.
//!
//! An engine prepares a [`Posed`] question, which then knows the symmetries it admits, and answers it for the systems
//! that a front end offers ([`Offered`]): the system itself and a [`Reduction`] of it. A reduction is a system and the
//! way back for its witnesses. When a row gives up or a strategy turns out unsuitable, the next one follows, with a
//! note. On [`Cut::Outgrown`](trefoil_system::Cut) the search begins again with the widened system. Evidence from a
//! reduced system is replayed on the system itself before any caller sees it. Answers are kept by question and options
//! ([`Kept`]); an answer that was cut is never kept. Where an explicit search grows too large the symbolic engine takes
//! over ([`takeover`]), and where representatives cost more than they save, a search goes on without them ([`price`]).
//!
//! Absent here on purpose: every language. Front ends propose symmetries and describe evidence.

mod choose;
mod group;
mod kept;
mod matrix;
mod posed;
mod price;
mod quotient;
mod reduction;
mod replay;
mod survey;
mod table;
mod takeover;

pub use choose::{Chosen, Unusable};
pub use group::{Group, group};
pub use kept::Kept;
pub use matrix::{Matrix, MatrixRow};
pub use posed::{Offered, Posed};
pub use price::PriceRule;
pub use reduction::{Reduces, Reduction};
pub use survey::{Surveyed, survey};
pub use table::{Row, Table};
pub use trefoil_games::{equivalence, formula};
pub use trefoil_symmetry::{STRATEGIES, Strategy};
