//! Text to tree and back.
//!
//! [`parse`] never fails: it returns a [`Tree`] and a list of diagnostics, and an `Error` node stands for text that
//! could not be parsed. [`print`] formats a tree as CSPM text with its comments and the user's brackets; parsing that
//! text gives the same tree. The tree is generic in its names: this stage makes a `Tree<Symbol>`, and the stage that
//! resolves names makes a tree of another type from it with [`Tree::with_names`].

mod codes;
mod layout;
mod lexer;
mod loader;
mod names;
mod parser;
mod print_declarations;
mod print_expressions;
mod printer;
mod store;
mod token;
mod tree;

pub use codes::CODES;
pub use loader::{DiskLoader, Loader, MemoryLoader};
pub use names::{Names, Symbol};
pub use parser::{Parsed, parse, parse_declarations_into, parse_expression_into, parse_under};
pub use printer::{print, print_expression};
pub use store::{Comment, List, NameSite, Stored, Tree};
pub use tree::*;
