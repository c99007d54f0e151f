//! Steps of one group, from the values that the group reads.
//!
//! The machine holds the initial row, into which the values are written; after the call they are taken out again, so a
//! call costs what the group reads and does, and nothing for the length of a row. Only the group's own move is tried,
//! with those before it where these decide whether it is tried at all, and of a handshake only its own receive. Nothing
//! else can be tried: what other processes do in the initial row says nothing about the row that the values come from.
//!
//! Groups that look at whether anything can happen (`timeout`) read everything, and are walked like a state, unless
//! timeouts are set apart ([`super::timeouts`]): then a group knows whether it is about a timeout.

use trefoil_system::{LocalGroup, LocalSink, LocalStep, Sink, SlotSet, Step, Value, Walk, Written};

use super::arrangement::COUNT;
use super::explorer::{Entered, Level, ModelExplorer};
use super::groups::MovePlan;
use super::machine::Machine;

/// What an explorer keeps for local steps.
#[derive(Default)]
pub(super) struct Local {
    /// Does the machine hold the initial row, and nothing else?
    pub(super) is_loaded: bool,
    /// The number of the move that may begin a step, and its receiver when it is a handshake.
    opening: Option<(u32, Option<MovePlan>)>,
    /// The moves that are tried.
    plan: Option<MovePlan>,
    /// The inputs and outputs of the requested groups.
    inputs: Vec<Option<Box<[u32]>>>,
    outputs: Vec<Option<Box<[u32]>>>,
    values: Vec<Value>,
    written: Vec<bool>,
}

/// Is the process where the moves of a plan begin?
fn stands(machine: &Machine<'_>, plan: &MovePlan) -> bool {
    let position = plan.position as usize;
    let place = &machine.arrangement.positions[position];
    (position < machine.count() || plan.control != 0)
        && machine.row[place.base as usize + 1] == plan.control
        && (place.types.len() == 1 || machine.row[place.base as usize] == plan.index)
}

impl ModelExplorer<'_> {
    /// Hands out the steps of a group.
    pub(super) fn local_steps(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let (inputs, outputs) = self.take_slots(group);
        let walk = self.steps_between(group, reads, (&inputs, &outputs), sink);
        (self.local.inputs[group.id.index()], self.local.outputs[group.id.index()]) = (Some(inputs), Some(outputs));
        walk
    }

    fn take_slots(&mut self, group: &LocalGroup) -> (Box<[u32]>, Box<[u32]>) {
        let (local, number) = (&mut self.local, group.id.index());
        if local.inputs.len() <= number {
            local.inputs.resize(number + 1, None);
            local.outputs.resize(number + 1, None);
        }
        let all = |slots: &SlotSet| slots.iter().map(|slot| slot as u32).collect();
        (
            local.inputs[number].take().unwrap_or_else(|| all(&group.inputs)),
            local.outputs[number].take().unwrap_or_else(|| all(&group.outputs)),
        )
    }

    fn steps_between(
        &mut self,
        group: &LocalGroup,
        reads: &[Value],
        (inputs, outputs): (&[u32], &[u32]),
        sink: &mut LocalSink<'_>,
    ) -> Walk {
        let model = self.model;
        if !std::mem::replace(&mut self.local.is_loaded, true) {
            self.machine.load(model.first_row());
        }
        // A group that does not read the number of processes is nothing to those that are not there: their control
        // states are read where they matter, and are 0.
        if model.changes_count() {
            self.machine.row[COUNT] = model.arrangement.positions.len() as Value;
        }
        for (&slot, &value) in inputs.iter().zip(reads) {
            self.machine.row[slot as usize] = value;
        }
        let (mut values, mut written) =
            (std::mem::take(&mut self.local.values), std::mem::take(&mut self.local.written));
        let mut own = |step: Step<'_>| {
            if step.group != group.id {
                return Ok(());
            }
            values.clear();
            values.extend(outputs.iter().map(|&slot| step.row[slot as usize]));
            written.clear();
            written.resize(outputs.len(), false);
            if let Written::Slots(slots) = step.written {
                for (slot, _) in slots {
                    if let Ok(at) = outputs.binary_search(slot) {
                        written[at] = true;
                    }
                }
            }
            sink(LocalStep { label: step.label, values: &values, written: &written })
        };
        let walk = self.planned(group.id.0, &mut own);
        (self.local.values, self.local.written) = (values, written);
        match walk {
            Ok(()) => {
                self.machine.row[COUNT] = model.first_row()[COUNT];
                for &slot in inputs {
                    self.machine.row[slot as usize] = model.first_row()[slot as usize];
                }
            }
            // What it did is still there.
            Err(_) => self.local.is_loaded = false,
        }
        walk
    }

    /// Walks through the moves of a group, and through others that cannot be separated from them.
    fn planned(&mut self, group: u32, sink: &mut Sink<'_>) -> Walk {
        let grouping = self.grouping;
        let plans = &grouping.plans;
        let (opening, receiver) = grouping.opening(group);
        let receiver = receiver.map(|receive| plans[receive as usize]);
        let plan = plans[opening as usize];
        if !stands(&self.machine, &plan) || receiver.is_some_and(|receiver| !stands(&self.machine, &receiver)) {
            return Ok(());
        }
        self.forget();
        if !self.has_timeouts_apart() && self.model.reads_timeout(group) {
            return self.all(sink);
        }
        (self.local.opening, self.local.plan) = (Some((opening, receiver)), Some(plan));
        self.machine.timeout = grouping.is_timeout(group);
        let walk = self.walk::<true>((plan.position as i32, plan.position as i32), sink).map(drop);
        self.machine.timeout = false;
        walk
    }

    /// Leaves a level with the moves that a local step may make there.
    pub(super) fn narrow(&mut self, level: &mut Level<'_>, opening: u32) {
        let plan = match (level.entered, self.local.plan, self.local.opening) {
            (Entered::Start, Some(plan), _) => plan,
            (Entered::Send, _, Some((own, Some(receiver)))) if self.is_first_send() && opening == own => {
                if level.process != receiver.position as i32 {
                    level.moves = &[];
                    return;
                }
                receiver
            }
            _ => return,
        };
        if !level.moves.is_empty() {
            level.moves = &level.moves[plan.from as usize..plan.to as usize];
        }
    }
}
