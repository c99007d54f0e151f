//! The waist of Trefoil: a transition system as engines see it.
//!
//! Front ends make [`System`]s, engines explore them, and neither knows the other. A state is a row of typed slots
//! ([`Layout`]); transitions come in groups that declare which slots they read and write ([`Group`]); labels live in one
//! table per check ([`Labels`]); what a check found is a [`Witness`], and no witness reaches a user before the
//! [`replay`] module, which shares no code with any engine, has accepted it on the system itself.
//!
//! A system may come with the [`Action`] of a symmetry group, which also draws the [`Picture`] of a state.
//!
//! Absent here on purpose: syntax, search orders, stores. `docs/decisions/001-the-waist.md` says how the parts of the
//! design that have no code yet (marks) fit beside these without breaking them.

pub mod action;
pub mod checked;
pub mod formula;
pub mod labels;
pub mod layout;
pub mod picture;
pub mod replay;
pub mod transitions;
pub mod witness;

pub use action::{Action, Actor};
pub use checked::Checked;
pub use formula::{Formula, FormulaId, FormulaNode, Logic, has_trace, satisfies};
pub use labels::{Label, LabelId, Labels};
pub use layout::{Layout, Slot, SlotSet, Value};
pub use picture::{Edge, Picture};
pub use transitions::{Change, Explorer, Group, GroupId, Observation, Observations, StateId, Step, System};
pub use witness::{Failure, Model, Path, TakenStep, Witness};
