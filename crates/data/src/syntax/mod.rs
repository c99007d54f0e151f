//! Text to tree and back: the data part of mCRL2, and the reader that processes and formulas share.

pub mod codes;
mod lexer;
mod parser;
mod printer;
pub mod token;
pub mod tree;

pub use parser::{Failed, Layout, Parser, Reads};
pub use printer::Printer;
