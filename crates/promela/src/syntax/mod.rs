//! Text to tree: files, macros, tokens, grammar.

mod lexer;
mod parser;
mod preprocess;
mod token;
pub mod tree;

pub use parser::parse;
pub use preprocess::Reader;
