//! The parts of a row, for symmetry detection.

use trefoil_system::{LabelId, Value};

use super::arrangement::{COUNT, Queue};
use super::machine::Machine;
use super::system::Model;
use crate::program::{Action, ChannelKind, ProcessTypeId};

impl Model {
    /// How many processes there is room for.
    pub fn positions(&self) -> usize {
        self.arrangement.positions.len()
    }

    /// The types of the processes that run.
    pub(crate) fn types_of(&self, row: &[Value]) -> Vec<ProcessTypeId> {
        let positions = &self.arrangement.positions[..row[COUNT] as usize];
        positions.iter().map(|position| position.types[row[position.base as usize] as usize]).collect()
    }

    /// The control state of a process that runs.
    pub(crate) fn control_of(&self, row: &[Value], position: usize) -> u32 {
        row[self.arrangement.positions[position].base as usize + 1]
    }

    /// The kinds of channels: the global ones, then those of each process type.
    pub(crate) fn channel_kinds(&self) -> &[ChannelKind] {
        &self.arrangement.kinds
    }

    /// All channels by number, the first being 1, once each position has one type.
    pub(crate) fn channels(&self) -> &[Queue] {
        self.arrangement.fixed.as_deref().unwrap_or_default()
    }

    /// How many channels there are.
    pub(crate) fn channel_count(&self) -> usize {
        self.channels().len()
    }

    /// The kind of the channel of a number.
    pub(crate) fn channel_kind_of(&self, number: i32) -> Option<usize> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.channels().get(index).map(|queue| queue.kind as usize)
    }

    /// Is it the number of a channel that no process takes with it?
    pub(crate) fn is_global_channel(&self, number: i32) -> bool {
        usize::try_from(number).is_ok_and(|number| (1..=self.arrangement.queues.len()).contains(&number))
    }

    /// The values of the global cells; a hidden one has its initial value at the beginning of every step.
    pub(crate) fn global_values(&self, row: &[Value]) -> Vec<Value> {
        let machine = Machine::new(&self.program, &self.arrangement);
        let of_slot = |&slot: &u32| row.get(slot as usize).copied().unwrap_or_else(|| machine.row[slot as usize]);
        self.arrangement.globals.iter().map(of_slot).collect()
    }

    /// The values of the cells of a running process.
    pub(crate) fn local_values(&self, row: &[Value], position: usize) -> Vec<Value> {
        let place = &self.arrangement.positions[position];
        let kind = usize::from(place.types[row[place.base as usize] as usize]);
        let first = (place.base + self.arrangement.shapes[kind].cells) as usize;
        row[first..first + self.program.processes[kind].frame.cells.len()].to_vec()
    }

    /// The messages in all channels, each with the kind of its channel.
    pub(crate) fn messages(&self, row: &[Value]) -> Vec<(usize, Vec<i32>)> {
        let mut all = Vec::new();
        for queue in self.channels().iter().filter(|queue| queue.capacity > 0) {
            if queue.position.is_none_or(|position| u32::from(position) < row[COUNT]) {
                all.extend(self.messages_in(row, queue).into_iter().map(|fields| (queue.kind as usize, fields)));
            }
        }
        all
    }

    /// The messages in a channel that is not a rendezvous.
    pub(crate) fn messages_in(&self, row: &[Value], queue: &Queue) -> Vec<Vec<i32>> {
        let sorts = &self.arrangement.kinds[queue.kind as usize].fields;
        let first = queue.slot as usize + 1;
        let message = |at: usize| {
            let kept = &row[first + at * sorts.len()..][..sorts.len()];
            sorts.iter().zip(kept).map(|(sort, &kept)| sort.read(kept)).collect()
        };
        (0..row[queue.slot as usize] as usize).map(message).collect()
    }

    /// The priority of a process, where priorities are used.
    pub(crate) fn priority_in(&self, row: &[Value], position: usize) -> u32 {
        if self.arrangement.priority { row[self.arrangement.positions[position].base as usize + 2] } else { 0 }
    }

    /// The process that acted last, where that is kept.
    pub(crate) fn last_in(&self, row: &[Value]) -> Option<u32> {
        self.arrangement.last.map(|slot| row[slot as usize])
    }

    /// Has each position one type only?
    pub(crate) fn has_one_type_each(&self) -> bool {
        self.arrangement.fixed.is_some()
    }

    /// A transition that has this label: the position and type of its process, its control state and its place there.
    pub(crate) fn transition_named(&self, label: LabelId) -> Option<(usize, ProcessTypeId, u32, u32)> {
        let mut group = 0;
        for (number, position) in self.arrangement.positions.iter().enumerate() {
            for &kind in &position.types {
                for (state, transitions) in self.program.processes[usize::from(kind)].transitions.iter().enumerate() {
                    for index in 0..transitions.len() as u32 {
                        if self.name(group) == label {
                            return Some((number, kind, state as u32, index));
                        }
                        group += 1;
                    }
                }
            }
        }
        None
    }

    /// The label of a transition, when there is one.
    pub(crate) fn label_of(&self, position: usize, kind: ProcessTypeId, state: u32, index: u32) -> Option<LabelId> {
        let process = &self.program.processes[usize::from(kind)];
        let transition = process.transitions.get(state as usize)?.get(index as usize)?;
        Some(self.step_label(position, process, &process.statements[transition.statement as usize]))
    }

    /// Does this row of a model whose processes disappear equal the other row, of a model whose processes stay, except
    /// for the processes that have disappeared?
    pub fn is_but_for_gone(&self, row: &[Value], other: &[Value]) -> bool {
        let count = row[COUNT] as usize;
        let Some(first) = self.arrangement.positions.get(count).filter(|_| row[COUNT] != other[COUNT]) else {
            return row == other;
        };
        row[COUNT + 1..first.base as usize] == other[COUNT + 1..first.base as usize]
    }

    /// Is the second row what the first becomes when its youngest process goes?
    pub fn has_gone(&self, row: &[Value], next: &[Value]) -> bool {
        let count = next[COUNT] as usize;
        if row[COUNT] != next[COUNT] + 1 {
            return false;
        }
        let place = &self.arrangement.positions[count];
        let first = place.base as usize;
        row[COUNT + 1..first] == next[COUNT + 1..first] && next[first..].iter().all(|&value| value == 0)
    }

    /// Is the process at this position at its end?
    pub(crate) fn has_ended(&self, row: &[Value], position: u32) -> bool {
        let place = &self.arrangement.positions[position as usize];
        let kind = place.types[row[place.base as usize] as usize];
        let transitions = &self.program.processes[usize::from(kind)].transitions[row[place.base as usize + 1] as usize];
        transitions.iter().any(|transition| matches!(*transition.action, Action::End))
    }
}
