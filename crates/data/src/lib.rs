//! The data language of mCRL2: sorts, expressions, types, rewriting and enumeration.

mod code_table;
pub mod syntax;
