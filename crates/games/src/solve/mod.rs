//! Explicit parity games, complete or not, their solvers, and the verifier of strategies.
