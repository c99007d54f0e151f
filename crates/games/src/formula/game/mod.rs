//! The game of a formula and a model.
//!
//! [`FormulaGame`] is a [`trefoil_system::System`] whose states are a node of the formula ([`nodes`]), the values of
//! the formula's variables that matter there, and a state of the model. Its marks are the owner and the priority of the
//! node; the formula holds in the model's initial state exactly when Even wins from the initial state of the game
//! (Emerson and Jutla, *Tree automata, mu-calculus and determinacy*, 1991; with data: Groote and Willemse,
//! *Parameterised Boolean equation systems*, 2005). Where those instantiate equations, this explores a product: the
//! model's own explorer gives the steps, whatever the model's language, and the formula only looks at their labels.

mod admits;
mod choosing;
mod compile;
mod expressions;
mod growth;
mod labels;
mod live;
mod nodes;
mod observed;
mod product;
mod symmetric;
mod values;

pub use labels::{LabelParts, LabelReader, label_parts, termination};
pub use nodes::NodeId;
pub use product::FormulaGame;
