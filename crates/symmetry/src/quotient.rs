//! The quotient of a system by a group that acts on it: one state of each orbit.
//!
//! After Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3: the states are
//! representatives, and a representative has the steps of the state that it is, each target being replaced by its
//! representative. Labels are those of the representative's own steps, so what a state offers or accepts can be read
//! off it; along a path they are right up to the elements that were applied on the way, which [`Quotient::unwind`] puts
//! together again. The quotient is a system like any other, and engines do not know that they explore one.
//!
//! The system may be a product of specification and implementation, and the action one that moves both sides; then pairs
//! are canonicalised as pairs. The paper's definition 17 chooses the element by the implementation alone; an action whose
//! pictures leave the specification out does that here.
//!
//! Why it is right: for each element `g`, a step from `r` to `s` labelled `a` means one from `g(r)` to `g(s)` labelled
//! `g(a)` (the promise of [`Action`]). So every state is `g(r)` for some representative `r` that is found, at the same
//! distance, with the same events up to `g`, and nothing else is found. Nothing of this needs a strategy that gives one
//! representative for each orbit; with several, more states are explored.
//!
//! # Counting without visiting
//!
//! The orbit of a state has as many states as the group has elements, divided by those that keep the state. Exact
//! strategies count the latter with each representative, and an explorer adds up over what it expands
//! ([`Explorer::expand`]). A complete search has expanded each representative once, and the sum is the number of
//! reachable states of the system, provided that the group keeps the initial state.
//!
//! # Cost
//!
//! A picture, its canonical form and one application of an element for each step, and a picture and its canonical form
//! for each state that is counted; nothing is allocated. A representative depends on all slots and a step may
//! change them all, so the groups of transitions say so, and all are one unless somebody wants to tell them apart.

use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::{Control, Stopped};
use trefoil_groups::UBig;
use trefoil_system::{
    Action, Actor, Explorer, Group, GroupId, Labels, Layout, Observation, Observations, Picture, SlotSet, Step, System,
    Value,
};

use crate::canoniser::Canoniser;
use crate::registry::Promise;
use crate::symmetry::Symmetry;
use crate::weights::Weights;

/// A system, one state of each orbit.
pub struct Quotient<'a> {
    pub(crate) system: &'a dyn System,
    action: &'a dyn Action,
    symmetry: &'a Symmetry,
    pub(crate) control: &'a Control,
    /// For each group of the system, that of the quotient.
    group_of: Vec<GroupId>,
    groups: Vec<Group>,
    initial: Vec<Value>,
    /// The element that carries the initial state to its representative.
    pub(crate) carried: Vec<u32>,
    counts: Option<Counted<'a>>,
    weights: Mutex<Weights>,
}

/// Which rows are states that count.
type Counted<'a> = Box<dyn Fn(&[Value]) -> bool + Send + Sync + 'a>;

impl<'a> Quotient<'a> {
    /// The quotient of a system by the group of an action on it, which `symmetry` was prepared for. Panics when the two
    /// have different numbers of points.
    pub fn new(
        system: &'a dyn System,
        action: &'a dyn Action,
        symmetry: &'a Symmetry,
        control: &'a Control,
    ) -> Result<Quotient<'a>, Stopped> {
        assert_eq!(action.points(), symmetry.group().degree(), "the group acts on the points of the action");
        let mut reducer = Reducer::new(action, symmetry, control);
        let reduced = reducer.reduce(&system.initial())?;
        let (initial, carried) = (reduced.row.to_vec(), reduced.element.to_vec());
        let mut quotient = Quotient {
            system,
            action,
            symmetry,
            control,
            group_of: vec![GroupId(0); system.groups().len()],
            groups: Vec::new(),
            initial,
            carried,
            counts: None,
            weights: Mutex::default(),
        };
        quotient.add_group("steps");
        Ok(quotient)
    }

    fn add_group(&mut self, name: &str) -> GroupId {
        let all: SlotSet = (0..self.system.layout().width()).collect();
        self.groups.push(Group { name: name.into(), guards: all.clone(), may_write: all, ..Group::default() });
        GroupId(self.groups.len() as u32 - 1)
    }

    /// Gives the steps of one group of the system a group of their own, whose number is returned.
    pub fn tell_apart(&mut self, group: GroupId) -> GroupId {
        let name = self.system.groups()[group.index()].name.clone();
        let own = self.add_group(&name);
        self.group_of[group.index()] = own;
        own
    }

    /// Counts the orbits of those states only for which this holds, all of an orbit or none. Without this call none
    /// are counted.
    pub fn count(&mut self, counted: impl Fn(&[Value]) -> bool + Send + Sync + 'a) {
        if self.symmetry.strategy().promise == Promise::Exact {
            self.counts = Some(Box::new(counted));
        }
    }

    /// How many states the representatives stand for that were expanded, by explorers that are gone; `None` when nothing
    /// was to be counted, or the strategy does not tell.
    pub fn total(&self) -> Option<UBig> {
        self.counts.as_ref()?;
        Some(self.weights.lock().unwrap_or_else(PoisonError::into_inner).total(&self.symmetry.order()))
    }

    /// A worker that carries rows to representatives.
    pub(crate) fn reducer(&self) -> Reducer<'_> {
        Reducer::new(self.action, self.symmetry, self.control)
    }
}

impl System for Quotient<'_> {
    fn layout(&self) -> &Layout {
        self.system.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self) -> Vec<Value> {
        self.initial.clone()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(QuotientExplorer {
            quotient: self,
            steps: self.system.explorer(),
            reducer: self.reducer(),
            weights: Weights::default(),
        })
    }

    fn observations(&self) -> Observations {
        self.system.observations()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.system.describe(row)
    }
}

/// Carries rows to their representatives, in buffers that are used again.
pub(crate) struct Reducer<'a> {
    pub(crate) actor: Box<dyn Actor + 'a>,
    canoniser: Canoniser<'a>,
    picture: Picture,
    row: Vec<Value>,
}

/// A row's representative.
pub(crate) struct Reduced<'a> {
    pub(crate) row: &'a [Value],
    /// The element that carries the row to it.
    pub(crate) element: &'a [u32],
}

impl<'a> Reducer<'a> {
    fn new(action: &'a dyn Action, symmetry: &'a Symmetry, control: &'a Control) -> Reducer<'a> {
        Reducer {
            actor: action.actor(),
            canoniser: symmetry.canoniser(control),
            picture: Picture::new(action.points()),
            row: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn reduce(&mut self, row: &[Value]) -> Result<Reduced<'_>, Stopped> {
        self.actor.picture(row, &mut self.picture);
        let element = self.canoniser.representative(&self.picture)?.element;
        self.row.resize(row.len(), 0);
        self.actor.apply(element, row, &mut self.row);
        Ok(Reduced { row: &self.row, element })
    }

    /// How many elements keep the row, if the strategy tells.
    fn stabiliser(&mut self, row: &[Value]) -> Result<Option<UBig>, Stopped> {
        self.actor.picture(row, &mut self.picture);
        Ok(self.canoniser.representative(&self.picture)?.stabiliser)
    }
}

struct QuotientExplorer<'a> {
    quotient: &'a Quotient<'a>,
    steps: Box<dyn Explorer + 'a>,
    reducer: Reducer<'a>,
    weights: Weights,
}

impl Explorer for QuotientExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        let QuotientExplorer { quotient, steps, reducer, .. } = self;
        steps.successors(row, &mut |step| {
            // When it was stopped, the control stays so, and engines ask it before they say that they are through.
            if let Ok(reduced) = reducer.reduce(step.row) {
                let group = quotient.group_of[step.group.index()];
                sink(Step { group, label: step.label, row: reduced.row });
            }
        });
    }

    fn expand(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        if let Some(counted) = &self.quotient.counts
            && counted(row)
            && let Ok(Some(stabiliser)) = self.reducer.stabiliser(row)
        {
            self.weights.add(stabiliser);
        }
        self.successors(row, sink);
    }

    fn observe(&mut self, row: &[Value]) -> Observation {
        self.steps.observe(row)
    }
}

impl Drop for QuotientExplorer<'_> {
    fn drop(&mut self) {
        self.quotient.weights.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.weights);
    }
}
