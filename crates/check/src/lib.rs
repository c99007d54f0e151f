//! One table of engines and reductions: what is asked, which engine answers, and what is refused.
//!
//! [`Table`] has a row for each engine. [`Table::choose`] takes the row that honours what the user asked for and suits
//! what is known of the question ([`Facts`](trefoil_questions::Facts)), and says why in one line. What no row takes out
//! of the options is left over, and refused by name ([`Table::unusable`]); so a new option is refused everywhere until
//! an engine takes it.
//!
//! A [`Posed`] question is prepared by its engine, can say which symmetries it admits, and is then answered on what a
//! front end offers ([`Offered`]): the system, and [`Reduction`]s of it. A reduction is a system and the way back of
//! its witnesses. A row may give up, a strategy may turn out unsuitable; the next one follows, with a note. On
//! [`Cut::Outgrown`](trefoil_system::Cut) the search begins again with the widened system. What a search in a reduced
//! system found is replayed on the system itself before anything sees it. Answers are kept by what was asked
//! ([`Kept`]); one that was cut never is.
//!
//! Absent here on purpose: every language. What symmetries there may be is proposed by front ends, and what was found
//! is put into words there.

mod choose;
mod group;
mod kept;
mod matrix;
mod posed;
mod quotient;
mod reduction;
mod replay;
mod survey;
mod table;

pub use choose::{Chosen, Unusable};
pub use group::{Group, group};
pub use kept::Kept;
pub use matrix::{Matrix, MatrixRow};
pub use posed::{Offered, Posed};
pub use reduction::{Reduces, Reduction};
pub use survey::{Surveyed, survey};
pub use table::{Row, Table};
pub use trefoil_symmetry::{STRATEGIES, Strategy};
