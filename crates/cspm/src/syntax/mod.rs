//! Text to tree and back.
//!
//! [`parse`] never fails: it gives a [`Tree`] and the list of what was wrong with the text, and where something was wrong the
//! tree holds an `Error` node. [`print`] writes a tree as CSPM text again, comments included, with no more parentheses than
//! needed; parsing that text gives the same tree. The tree is generic in its names: this stage makes `Tree<Symbol>`, and the
//! stage that resolves names makes a tree of another type from it with [`Tree::with_names`].

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
