//! Modal formulas with data, and the parity games that decide them.
//!
//! [`formula`] reads the modal µ-calculus and joins a formula and a model to a game; [`solve`] holds explicit games,
//! their solvers and the verifier of strategies, and knows no formula; [`symbolic`] explores and solves games as
//! decision diagrams; [`equivalence`] makes a game of two models; [`engine`] is what the table of engines has.

pub mod engine;
pub mod equivalence;
pub mod formula;
pub mod solve;
pub mod symbolic;
