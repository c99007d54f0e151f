//! The waist of Trefoil: a transition system as engines see it.
//!
//! Front ends make [`System`]s, engines explore them, and neither knows the other. A state is a row of typed slots
//! ([`Layout`]); transitions come in groups that declare which slots they read and write ([`Group`]); labels live in
//! one table per check ([`Labels`]); the result of a failed check is a [`Witness`], and no witness reaches a user
//! before the [`replay`] module, which shares no code with any engine, has accepted it on the system itself.
//!
//! A walk over the successors of a row says how it ended ([`Cut`]): only a walk that was not cut may be remembered. The
//! steps of one group can be computed from the values that the group reads ([`LocalGroup`]), states carry [`Mark`]s,
//! and a system may come with the [`Action`] of a symmetry group, which also draws the [`Picture`] of a state.
//!
//! Absent here on purpose: syntax, search orders, stores. `docs/decisions/001-the-waist.md` says why the parts are as
//! they are.

pub mod action;
pub mod automaton;
pub mod cached;
pub mod checked;
pub mod cut;
pub mod formula;
pub mod labels;
pub mod layout;
pub mod local;
pub mod ltl;
pub mod marks;
mod numbered;
pub mod picture;
pub mod replay;
pub mod transitions;
pub mod witness;
mod wrapper;

pub use action::{Action, Actor};
pub use automaton::{Automaton, AutomatonEdge, Cube};
pub use cached::Cached;
pub use checked::Checked;
pub use cut::{Cut, Walk, Wrong, WrongPlace};
pub use formula::{Formula, FormulaId, FormulaNode, Logic, has_trace, satisfies};
pub use labels::{ActionId, DomainId, Label, LabelId, LabelMemo, Labels, Part, Writing};
pub use layout::{Domain, Layout, Slot, SlotSet, Value, Values};
pub use local::{LocalGroup, LocalSink, LocalStep};
pub use ltl::{Ltl, LtlId, LtlNode};
pub use marks::{Mark, MarkId, Meaning};
pub use picture::{Edge, Picture};
pub use transitions::{
    Change, Explorer, Group, GroupId, Observation, Observations, Sink, StateId, Step, System, Visibility, Written,
};
pub use witness::{Failure, Model, Path, TakenStep, Witness};
