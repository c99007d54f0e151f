//! The interface of a system to engines: an initial row, and the successors of a row, all of them or those of one
//! group.

use std::any::Any;
use std::sync::Arc;

use trefoil_control::Control;

use crate::action::Action;
use crate::cut::{Cut, Walk};
use crate::labels::{LabelId, Labels};
use crate::layout::{Layout, SlotSet, Value};
use crate::local::{LocalGroup, LocalSink, project};
use crate::marks::{Mark, MarkId, Meaning};

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

/// What a transition group declares. [`crate::Checked`] verifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its name for users.
    pub name: String,
    /// Slots that decide whether the group can move at all.
    pub guards: SlotSet,
    /// Further slots that the labels or the new values depend on.
    pub reads: SlotSet,
    /// Slots that a transition may write; a slot that it does not write keeps its value.
    pub may_write: SlotSet,
    /// Slots that every transition writes, with values that do not depend on the old one.
    pub must_write: SlotSet,
    /// Which labels its transitions have.
    pub visibility: Visibility,
    /// Its transitions exist only in states in which no group without this mark has one. What it reads and its local
    /// successors are about what happens then.
    pub last_resort: bool,
}

/// Which labels the transitions of a group have, as far as that is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Any.
    #[default]
    Mixed,
    /// Only `τ`.
    Silent,
    /// Never `τ`.
    Visible,
}

impl Visibility {
    /// Can a transition with this label be in such a group?
    pub fn allows(self, label: LabelId) -> bool {
        match self {
            Visibility::Mixed => true,
            Visibility::Silent => label == LabelId::TAU,
            Visibility::Visible => label != LabelId::TAU,
        }
    }
}

impl Group {
    /// The slots that its transitions depend on: guards and reads.
    pub fn inputs(&self) -> SlotSet {
        self.guards.union(&self.reads)
    }

    /// The slots that its transitions may or must write.
    pub fn outputs(&self) -> SlotSet {
        self.may_write.union(&self.must_write)
    }
}

/// One transition, as an explorer delivers it: it lives only as long as the call.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The group it comes from.
    pub group: GroupId,
    /// Its label.
    pub label: LabelId,
    /// The state it leads to.
    pub row: &'a [Value],
    /// The slots that it wrote.
    pub written: Written<'a>,
    /// In a quotient, the class of the stabiliser of the state it leads to; 0 elsewhere.
    pub class: u32,
    /// The number of the agent that initiates the step, and behind it those of the others that take part. Empty where a
    /// system has no agents. In a quotient these are the agents of the representative; in the next one each is the
    /// image of itself under the element that was applied.
    pub agents: &'a [u32],
    /// Does it pass, on its way to the row, something that claims about runs count as if the run rested there? In
    /// Promela, an `accept` label inside an `atomic` sequence.
    pub passes: bool,
}

impl<'a> Step<'a> {
    /// A step that wrote all that its group declares.
    #[inline]
    pub fn of_group(group: GroupId, label: LabelId, row: &'a [Value]) -> Step<'a> {
        Step { group, label, row, written: Written::Group, class: 0, agents: &[], passes: false }
    }
}

/// The slots that a step wrote, whether or not the value changed; all other slots were copied.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// All that its group declares to write.
    Group,
    /// These, each with its value before the write. A slot may be named twice, and numbers beyond the end of the row
    /// are ignored.
    Slots(&'a [Change]),
}

/// A slot that a step wrote, and its value before.
pub type Change = (u32, Value);

/// Receives the steps of a walk; an error ends the walk, which then returns it.
pub type Sink<'s> = dyn FnMut(Step<'_>) -> Walk + 's;

/// Where the failures and divergences of a state come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observations {
    /// From the transitions: a state without `τ` accepts what it offers, and diverges when it has an infinite path of
    /// `τ`.
    FromTransitions,
    /// From [`Explorer::observe`]: states stand for several states of an original and carry what those accept.
    Explicit,
    /// Failures from [`Explorer::accepts_less`], because states stand for several states of an original; divergences
    /// from the transitions.
    Acceptances,
}

impl Observations {
    /// Do states carry what they accept?
    pub fn carries_acceptances(self) -> bool {
        self != Observations::FromTransitions
    }

    /// Do states say whether they diverge?
    pub fn carries_divergence(self) -> bool {
        self == Observations::Explicit
    }
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

    /// Its marks; [`MarkId`] is an index into them.
    fn marks(&self) -> &[Mark] {
        &[]
    }

    /// The state it starts in. Finding it may take long, and the model may have none.
    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut>;

    /// A thread's own view, with the scratch space that successors need. It obeys the control of this question, is made
    /// and dropped by one thread, and behaves like a new one after a walk that was cut.
    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a>;

    /// An explorer that also knows, for most states, a part of their steps that suffices ([`Explorer::candidate`]),
    /// where the values of these propositions are what matters besides errors and ends: the bits of the marks with
    /// [`Meaning::Proposition`], by number. No candidate has a step that may change one. Where independent steps are
    /// not known, why.
    fn reducing_explorer<'a>(&'a self, _: &'a Control, _: &[u32]) -> Result<Box<dyn Explorer + 'a>, &'static str> {
        Err("independent steps are known of Promela models only")
    }

    /// The same system with more room in its rows, after a walk ended with [`Cut::Outgrown`].
    fn widened(&self) -> Option<Arc<dyn System>> {
        None
    }

    /// The same system in other groups, where that lets some of them read less: what happens only when nothing else
    /// can is marked so ([`Group::last_resort`]). Groups of the system itself never are.
    fn with_last_resorts(&self) -> Option<Box<dyn System + '_>> {
        None
    }

    /// Where failures and divergences come from.
    fn observations(&self) -> Observations {
        Observations::FromTransitions
    }

    /// A symmetry group that was proved to act on it.
    fn action(&self) -> Option<&dyn Action> {
        None
    }

    /// The kind of error that a step with this label shows, as the front end numbers them; 0 for none.
    fn error(&self, _label: LabelId) -> u32 {
        0
    }

    /// The first label that may show an error; those before it show none.
    fn first_error(&self) -> LabelId {
        LabelId(u32::MAX)
    }

    /// The system itself, when all of it is in memory: an engine that knows its type works on it directly.
    fn in_memory(&self) -> Option<&dyn Any> {
        None
    }

    /// A system in memory that has the same rows and steps, when this one is a copy of it.
    fn copied(&self) -> Option<&dyn Any> {
        self.in_memory()
    }

    /// An order of the slots, all of them, in which slots stand near each other whose values depend on each other,
    /// where the groups do not show that; slots that marks read stand first.
    fn slot_order(&self) -> Option<Vec<usize>> {
        None
    }

    /// A state as text, for witnesses.
    fn describe(&self, row: &[Value]) -> String {
        let slots = self.layout().slots();
        let parts: Vec<String> = slots.iter().zip(row).map(|(slot, value)| format!("{}={value}", slot.name)).collect();
        parts.join(" ")
    }

    /// The mark with a meaning.
    fn mark(&self, meaning: Meaning) -> Option<MarkId> {
        self.marks().iter().position(|mark| mark.meaning == meaning).map(|index| MarkId(index as u32))
    }
}

/// One thread's view of a system.
pub trait Explorer {
    /// Passes every successor of `row` to `sink`, always in the same order, until the sink or the control ends it.
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk;

    /// Passes some steps of `row` to `sink` that suffice where independent steps need not be taken in every order; or
    /// passes nothing. The steps are all that are enabled in a set of groups. No group of the set depends
    /// on a group outside that can move before one of the set does: whatever else happens first, they stay as they are,
    /// and both orders lead to the same state. At least one step is passed, and none of them writes a slot that is
    /// visible.
    ///
    /// A search that takes only these steps must see to it that others are not put off forever. A state may have
    /// several such sets, which are numbered from 0, the cheapest first. Of those with this number or a higher one the
    /// first that has steps is taken, and its number is the answer.
    fn candidate(&mut self, _row: &[Value], _from: u32, _sink: &mut Sink<'_>) -> Result<Option<u32>, Cut> {
        Ok(None)
    }

    /// A level of a search that takes candidates has ended, or the first one begins: what the explorers of all threads
    /// have learnt may be used from now on. Called for one of them, while none of them works.
    fn level_ends(&mut self, _first: bool) {}

    /// Passes every step of one group to `sink`, given the values of the group's [`Group::inputs`] in some reachable
    /// row, ascending by slot, whatever the other slots hold. By default the other slots are filled in from the initial
    /// row.
    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let row = group.filled_in(reads);
        let (mut values, mut written) = (Vec::new(), Vec::new());
        self.successors(&row, &mut |step| {
            if step.group != group.id {
                return Ok(());
            }
            sink(project(group, &step, &mut values, &mut written))
        })
    }

    /// The value of a mark, given the values of the slots that it reads in some reachable row, ascending by slot.
    fn mark(&mut self, _mark: MarkId, _reads: &[Value]) -> Result<Value, Cut> {
        unreachable!("this system declares no marks")
    }

    /// Why a proposition has no value in a reachable row: its number among those that the marks show.
    fn undefined(&mut self, _proposition: u32, _row: &[Value]) -> Cut {
        unreachable!("this system gives every proposition a value")
    }

    /// Acceptances and divergence of a state; called only on systems whose states carry the former. Where they do not
    /// carry the latter it says nothing about it. There can be very many acceptances: [`Explorer::accepts_less`] does
    /// not list them.
    fn observe(&mut self, _row: &[Value]) -> Result<Observation, Cut> {
        unreachable!("the observations of this system come from its transitions")
    }

    /// A set of labels, ascending, that a state stably accepts and that is not enough; called only on systems whose
    /// states carry acceptances. What is enough stays so when more is offered.
    fn accepts_less(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        Ok(self.observe(row)?.acceptances.into_iter().find(|accepted| !enough(accepted)))
    }
}
