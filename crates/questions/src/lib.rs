//! Questions about systems, and what it takes to be an engine that answers them.
//!
//! A [`Question`] is plain data. An [`Engine`] says which kinds of questions it takes and which of the options that the
//! user gave ([`Asked`]) it honours; it *takes out* of them what it honours, so that what is left over is what nothing
//! honours. Its [`Answer`] is plain data again: a verdict for each goal, evidence, counts, and what there is to know
//! besides.
//!
//! Absent here on purpose: any engine, and any table of them. Which engines there are, which one is chosen and what is
//! refused is decided in one place, the crate `check`.

mod answer;
mod asked;
mod engine;
mod facts;
mod question;
mod recur;

pub use answer::{
    Answer, AntichainCounts, Counts, Coverage, Evidence, Found, GameBytes, Strategy, StrategyVertex, SymbolicCounts,
    UsedSymmetry,
};
pub use asked::{
    Algorithm, Asked, Decompose, EngineChoice, Fairness, GameSolver, Order, Preprocess, Setting, Store, SymmetryUse,
};
pub use engine::{Beyond, Engine, Prepared, Ready, Refusal, Task, Terms, Unanswered};
pub use facts::{Facts, ProvableSymmetries};
pub use question::{ErrorKinds, Goal, Kind, Question, Reach};
pub use recur::{Explored, Recur, Says, TemporalClaim};
