//! Marks of a model: where its runs may end.

use trefoil_system::{Mark, MarkId, Meaning, SlotSet, Value};

use super::arrangement::{Arrangement, COUNT};
use super::system::Model;

/// The marks of a model with this arrangement: one, where runs may end.
pub(super) fn marks(arrangement: &Arrangement) -> Vec<Mark> {
    let places = arrangement.positions.iter().flat_map(|position| [position.base as usize, position.base as usize + 1]);
    let reads: SlotSet = [COUNT].into_iter().chain(arrangement.event.map(|slot| slot as usize)).chain(places).collect();
    vec![Mark { meaning: Meaning::ValidEnd, reads, values: 2 }]
}

impl Model {
    /// The value of a mark, given the values of the slots that it reads.
    pub(super) fn mark_value(&self, mark: MarkId, reads: &[Value]) -> Value {
        let mut row = vec![0; self.arrangement.width()];
        for (slot, &value) in self.marks[mark.index()].reads.iter().zip(reads) {
            row[slot] = value;
        }
        Value::from(self.is_valid_end(&row))
    }
}
