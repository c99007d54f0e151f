//! The data language of mCRL2: sorts, expressions, types, rewriting and enumeration.

mod code_table;
pub mod rewrite;
pub mod signature;
pub mod sorts;
pub mod syntax;
pub mod typed;
pub mod types;
