//! Finite CSP processes over a small alphabet: as trees, as text, at random, and what they mean.
//!
//! - [`tree`]: the processes; [`print`]: as CSPM; [`random`]: at random; [`shrink`]: smaller ones, for a failure that
//!   can be read;
//! - [`denotation`] and [`equations`]: traces, stable failures and divergences by the operators' equations, without any
//!   transition system; [`verdicts`]: what a check must answer;
//! - [`laws`]: algebraic laws, each with the models in which it holds.

pub mod alphabet;
pub mod denotation;
pub mod equations;
pub mod laws;
pub mod print;
pub mod random;
pub mod shrink;
pub mod tree;
pub mod verdicts;

pub use alphabet::{DECLARATIONS, Event, Events, TICK};
pub use denotation::{After, Beyond, Denotation, Trace};
pub use tree::{Modifier, Operator, Process, Replication};
pub use verdicts::Verdict;
