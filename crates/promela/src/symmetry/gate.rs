//! A group that acts once all processes are started.
//!
//! Where processes are started one by one while the first of them run already, the states of the start are not symmetric: there is a state in which
//! `P(1)` runs and `P(2)` does not, and no state the other way round. But from when all are there, everything is as if they had been started at
//! once. So elements of the group leave the states of the start alone, and act on all others.
//!
//! Two states are alike when they are the same or are both behind the start and an element carries one to the other. That is a bisimulation:
//! alike states of the start are the same; behind the start elements carry steps to steps, and no step leads back. So verdicts of
//! representatives are those of the model. Orbits of states that can be reached consist of such states, because what starts the others
//! uses nothing that they write ([`super::startup`]): every run is one in which all are started first, as long as it gets behind the start, and the
//! state where that is done is kept by the group.
//!
//! A state of the start is drawn as points that all look alike. Then every element keeps the picture, as it keeps the state, and counting
//! orbits by their stabilisers counts one.

use trefoil_control::Control;
use trefoil_system::{Action, Actor, Cut, LabelId, Picture, Value, Walk};

use super::action::ModelAction;

/// When all processes are started: the slot where the control state of the process is that starts them, and the states in which it
/// is not yet done.
pub(super) struct Gate {
    /// The process that starts the others.
    pub(super) starter: usize,
    pub(super) slot: usize,
    pub(super) starting: Vec<bool>,
}

impl Gate {
    pub(super) fn is_open(&self, row: &[Value]) -> bool {
        !self.starting[row[self.slot] as usize]
    }
}

/// The action of a group, behind a gate if there is one.
pub(super) struct Gated {
    pub(super) action: ModelAction,
    pub(super) gate: Option<Gate>,
}

impl Gated {
    pub(super) fn is_open(&self, row: &[Value]) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_open(row))
    }
}

impl Action for Gated {
    fn points(&self) -> usize {
        self.action.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.action.generators()
    }

    fn pictures_are_complete(&self) -> bool {
        self.action.pictures_are_complete()
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.action.colours(point)
    }

    fn describe_point(&self, point: u32) -> String {
        self.action.describe_point(point)
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        let actor = self.action.actor(control);
        match &self.gate {
            None => actor,
            Some(gate) => Box::new(GatedActor { gate, actor, points: self.action.points(), begun: false }),
        }
    }
}

struct GatedActor<'a> {
    gate: &'a Gate,
    actor: Box<dyn Actor + 'a>,
    points: usize,
    /// Was the last row that was begun with behind the start? Then so is all that it leads to.
    begun: bool,
}

impl Actor for GatedActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        if self.gate.is_open(row) {
            self.actor.picture(row, picture);
        } else {
            picture.clear(self.points);
        }
    }

    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.begun = self.gate.is_open(row);
        if self.begun {
            self.actor.begin(row, picture);
        } else {
            picture.clear(self.points);
        }
    }

    fn draw_change(
        &mut self,
        from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        self.begun && self.actor.draw_change(from, to, slots, before, after)
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        self.begun && self.actor.references(slot, value, points)
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        self.actor.apply_to_slot(element, slot, value)
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        if self.gate.is_open(row) {
            return self.actor.apply(element, row, into);
        }
        into.copy_from_slice(row);
        Ok(())
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.actor.apply_to_label(element, label)
    }
}
