//! CSPM, the machine-readable dialect of CSP, in visible stages.
//!
//! [`syntax`] turns text into a tree of raw names, [`rename`] finds out what each name stands for, [`types`] that
//! everything has a type; [`eval`] gives expressions their values, [`process`] compiles processes, and [`symmetry`] tells
//! which constants are interchangeable. Each later stage has its own types, so that it cannot be handed a tree that an
//! earlier stage has not passed.

mod code_table;
pub mod eval;
pub mod process;
pub mod rename;
pub mod symmetry;
pub mod syntax;
pub mod types;
