//! mCRL2, the language of processes over data.
//!
//! Specifications are read and printed ([`syntax`]); the types and values of their data are the work of `trefoil_data`,
//! for which [`Data`] speaks here.

mod data;
pub mod syntax;

pub use data::{Data, DeclaredFunction, NoValue, Value};
pub use trefoil_data::{
    rewrite::codes::CODES as VALUE_CODES, syntax::codes::CODES as SYNTAX_CODES, types::codes::CODES as TYPE_CODES,
};
