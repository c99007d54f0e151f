//! mCRL2, the language of processes over data.
//!
//! Specifications are read and printed ([`syntax`]), and their processes resolved and typed ([`processes`]); the types
//! and values of their data are the work of `trefoil_data`, for which [`Data`] speaks here.

mod data;
pub mod decompose;
pub mod linear;
pub mod processes;
pub mod syntax;
pub mod system;

pub use data::{Data, DeclaredFunction, NoValue, Value, declared_functions};
pub use processes::codes::CODES as PROCESS_CODES;
pub use trefoil_data::{
    rewrite::codes::CODES as VALUE_CODES, syntax::codes::CODES as SYNTAX_CODES, typed::VariableId,
    types::codes::CODES as TYPE_CODES,
};
