//! Steps of one group, from the values that the group reads.
//!
//! A group's steps depend on the values of its guards and reads alone. Given these, taken from a reachable row,
//! [`crate::Explorer::local_successors`] delivers each step as a label and the values it writes. A symbolic engine uses
//! that as one row of a relation, an explicit one as an entry of a cache ([`crate::Cached`]), and it decides which
//! groups are independent.

use std::sync::Arc;

use trefoil_control::Control;

use crate::cut::{Cut, Walk};
use crate::labels::LabelId;
use crate::layout::{SlotSet, Value};
use crate::transitions::{GroupId, Step, System, Written};

/// What [`crate::Explorer::local_successors`] needs to know of a group, prepared once.
#[derive(Clone, Debug)]
pub struct LocalGroup {
    /// The group.
    pub id: GroupId,
    /// Its guards and reads.
    pub inputs: SlotSet,
    /// The slots that it may or must write.
    pub outputs: SlotSet,
    initial: Arc<[Value]>,
}

impl LocalGroup {
    /// All groups of a system, in order.
    pub fn all(system: &dyn System, control: &Control) -> Result<Vec<LocalGroup>, Cut> {
        let initial: Arc<[Value]> = system.initial(control)?.into();
        let prepare = |(index, group): (usize, &crate::Group)| LocalGroup {
            id: GroupId(index as u32),
            inputs: group.inputs(),
            outputs: group.outputs(),
            initial: initial.clone(),
        };
        Ok(system.groups().iter().enumerate().map(prepare).collect())
    }

    /// The initial row with these values in the slots that the group reads.
    pub fn filled_in(&self, reads: &[Value]) -> Vec<Value> {
        debug_assert_eq!(reads.len(), self.inputs.len(), "one value for each slot that is read");
        let mut row = self.initial.to_vec();
        for (slot, &value) in self.inputs.iter().zip(reads) {
            row[slot] = value;
        }
        row
    }
}

/// A step of a group, by the values that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalStep<'a> {
    /// Its label.
    pub label: LabelId,
    /// For each slot of [`LocalGroup::outputs`], ascending, its new value; meaningless where it was not written.
    pub values: &'a [Value],
    /// For each of these slots, whether it was written. The others keep their values.
    pub written: &'a [bool],
}

/// Receives local steps; an error ends the walk, which then returns it.
pub type LocalSink<'s> = dyn FnMut(LocalStep<'_>) -> Walk + 's;

/// A step as a local step of its group; `values` and `written` are scratch space.
pub fn project<'a>(
    group: &LocalGroup,
    step: &Step<'_>,
    values: &'a mut Vec<Value>,
    written: &'a mut Vec<bool>,
) -> LocalStep<'a> {
    group.outputs.values(step.row, values);
    written.clear();
    match step.written {
        Written::Group => written.resize(values.len(), true),
        Written::Slots(slots) => {
            written.extend(group.outputs.iter().map(|slot| slots.iter().any(|&(named, _)| named as usize == slot)));
        }
    }
    LocalStep { label: step.label, values, written }
}
