//! What engines ask of a system: an initial row, and the successors of a row, group by group.

use std::sync::Arc;

use crate::action::Action;
use crate::labels::{LabelId, Labels};
use crate::layout::{Layout, SlotSet, Value};

/// The number of a state in a store or in an explicit system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

impl StateId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a transition group of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

impl GroupId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a transition group declares. [`crate::Checked`] proves it honest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What a person calls it.
    pub name: String,
    /// Slots that decide whether the group can move at all.
    pub guards: SlotSet,
    /// Further slots that the labels or the new values depend on.
    pub reads: SlotSet,
    /// Slots that a transition may change; where it does not, they keep their value.
    pub may_write: SlotSet,
    /// Slots whose new value never depends on the old one.
    pub must_write: SlotSet,
}

/// One transition, as an explorer hands it out: it lives only as long as the call.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The group it comes from.
    pub group: GroupId,
    /// Its label.
    pub label: LabelId,
    /// The state it leads to.
    pub row: &'a [Value],
}

/// A slot that a step wrote, and what was in it before.
pub type Change = (u32, Value);

/// Where the failures and divergences of a state come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observations {
    /// From the transitions: a state without `τ` accepts what it offers, and diverges when it has an infinite path of `τ`.
    FromTransitions,
    /// From [`Explorer::observe`]: states stand for several states of an original and carry what those could do.
    Explicit,
}

/// What a state of a generalised system carries besides its transitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The minimal sets of labels that are stably accepted, each ascending, none inside another.
    pub acceptances: Vec<Vec<LabelId>>,
    /// Can it diverge without a visible event?
    pub diverges: bool,
}

/// A transition system. Shared by all threads; what a thread needs for itself is in its [`Explorer`].
pub trait System: Send + Sync {
    /// The shape of its states.
    fn layout(&self) -> &Layout;

    /// The labels of its transitions.
    fn labels(&self) -> &Arc<Labels>;

    /// Its transition groups; [`GroupId`] is an index into them.
    fn groups(&self) -> &[Group];

    /// The state it starts in.
    fn initial(&self) -> Vec<Value>;

    /// A thread's own view, with the scratch space that successors need.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// Where failures and divergences come from.
    fn observations(&self) -> Observations {
        Observations::FromTransitions
    }

    /// A symmetry group that was proved to act on it.
    fn action(&self) -> Option<&dyn Action> {
        None
    }

    /// A state in words, for witnesses.
    fn describe(&self, row: &[Value]) -> String {
        let slots = self.layout().slots();
        let parts: Vec<String> = slots.iter().zip(row).map(|(slot, value)| format!("{}={value}", slot.name)).collect();
        parts.join(" ")
    }
}

/// One thread's view of a system; it may be handed on to another thread.
pub trait Explorer: Send {
    /// Hands every successor of `row` to `sink`, always in the same order.
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>));

    /// Does [`Explorer::changing_successors`] say more than [`Explorer::successors`]?
    fn knows_changes(&self) -> bool {
        false
    }

    /// The same as [`Explorer::successors`], and with each step what it changed: every slot whose value differs from that in `row` is named at least once.
    /// Slots that do not differ may be named, too, and numbers behind the end of the row, which mean nothing. Asked only of those who know.
    fn changing_successors(&mut self, _row: &[Value], _sink: &mut dyn FnMut(Step<'_>, &[Change])) {
        unreachable!("this explorer does not know what its steps change")
    }

    /// Hands the successors of one group to `sink`, in the order in which [`Explorer::successors`] gives them.
    fn group_successors(&mut self, row: &[Value], group: GroupId, sink: &mut dyn FnMut(Step<'_>)) {
        self.successors(row, &mut |step| {
            if step.group == group {
                sink(step);
            }
        });
    }

    /// Acceptances and divergence of a state; asked only of systems with [`Observations::Explicit`].
    fn observe(&mut self, _row: &[Value]) -> Observation {
        unreachable!("the observations of this system come from its transitions")
    }
}
