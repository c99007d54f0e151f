//! The modal µ-calculus with data: its text, its types, and the game of a formula and a model.
//!
//! The language is mCRL2's (Groote and Mousavi, *Modeling and analysis of communicating systems*, 2014, chapters 6 and
//! 15). Data is crate `data`'s, so a formula can be typed against any model that has a signature: the sorts, functions
//! and actions of a specification, or what the labels of a transition system show.
//!
//! | file | what it has |
//! |---|---|
//! | `tree`, `parser`, `printer` | the text of a formula, to its tree and back |
//! | `typed`, `types` | names resolved and data typed |
//! | `signature` | signatures of models: declared as text, or seen in labels |
//! | `quantifiers` | where the quantifier of a variable stands |
//! | `scopes` | why a name is unknown that something before it binds |
//! | `stuttering` | what a formula sees of labels and internal steps |
//! | `templates` | patterns of properties, which stand for formulas |
//! | `game` | a formula beside a model as a system |

pub mod codes;
pub mod game;
mod parser;
mod printer;
pub(crate) mod quantifiers;
mod scopes;
mod signature;
mod stuttering;
mod templates;
pub mod tree;
mod typed;
mod types;

pub use parser::parse;
pub use signature::formula_name;
pub use stuttering::Sight;
pub use templates::{TEMPLATES, Template, template};
pub use typed::{
    ActionSignature, FixpointId, FixpointVariable, Formula, LabelSet, LabelSetId, Part, PartId, Proposition, Signature,
    Steps, StepsId, ValueWriting,
};
