//! The modal µ-calculus with data: its text, its types, and the game of a formula and a model.

pub mod codes;
pub mod game;
mod parser;
mod printer;
pub mod tree;
mod typed;
mod types;

pub use parser::parse;
pub use typed::{
    ActionSignature, FixpointId, FixpointVariable, Formula, LabelSet, LabelSetId, Part, PartId, Signature, Steps,
    StepsId,
};
