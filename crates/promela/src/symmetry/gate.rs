//! A group that acts once all processes have started.
//!
//! Where processes start one by one while the first of them already run, the states of the start-up are not symmetric:
//! there is a state in which `P(1)` runs and `P(2)` does not, and no state the other way round. After the start-up the
//! state is as if all had started at the same time. So elements of the group fix the states of the start-up, and act on
//! all others.
//!
//! Two states are related if they are equal, or if both lie behind the start-up and an element maps one to the other.
//! This is a bisimulation: related states of the start-up are equal; behind the start-up, elements map steps to steps,
//! and no step leads back. So the verdicts of representatives are those of the model. Orbits of reachable states
//! consist of reachable states, because the statements that start processes use nothing that these write
//! ([`super::startup`]): every run that leaves the start-up is equivalent to one in which all processes start first,
//! and the group fixes the state where that is complete.
//!
//! A state of the start-up is drawn as points of one colour. Then every element fixes the picture, as it fixes the
//! state, and counting orbits by their stabilisers counts one.

use trefoil_control::Control;
use trefoil_system::{Action, Actor, Cut, LabelId, Picture, Value, Walk};

use super::action::ModelAction;

/// The end of the start-up: the slot of the control state of the process that starts the others, and the states in
/// which it is done.
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

    fn agents(&self) -> usize {
        self.action.agents()
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

    fn apply_to_agent(&mut self, element: &[u32], agent: u32) -> u32 {
        self.actor.apply_to_agent(element, agent)
    }

    fn stands_still(&self, row: &[Value]) -> bool {
        !self.gate.is_open(row)
    }
}
