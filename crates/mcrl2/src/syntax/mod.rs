//! Text to tree and back: whole specifications.

mod parser;
mod printer;
pub mod tree;

pub use parser::parse;
pub use printer::print;
