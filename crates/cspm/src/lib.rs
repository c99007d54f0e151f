//! CSPM, the machine-readable dialect of CSP, in visible stages.
//!
//! [`syntax`] parses text into a tree of raw names, [`rename`] resolves the names, and [`types`] infers types;
//! [`checked`] runs these stages in one call and collects their diagnostics. [`eval`] evaluates expressions,
//! [`process`] compiles processes, and [`symmetry`] finds the constants that are interchangeable. Each later stage has
//! its own types, so that it cannot receive a tree that an earlier stage has not processed.

pub mod checked;
mod code_table;
pub mod eval;
pub mod process;
pub mod rename;
pub mod symmetry;
pub mod syntax;
pub mod types;
