//! Paths: from parents back to the initial state, and forward again to find the labels.
//!
//! The store keeps only which state a state was found from. The labels are found by asking the system again for the
//! successors of each state on the way; of several steps between two states a `τ` is taken if there is one, which is the
//! cheaper way in either order.

use trefoil_system::{LabelId, Path, StateId, System, TakenStep, Value};

use crate::search::{Exploration, Found};

impl<V> Exploration<V> {
    /// A run to a state that was found; of least length when the search was breadth-first. `None` when parents were not
    /// kept. `system` is the one that was explored.
    pub fn path(&self, system: &dyn System, state: StateId) -> Option<Path> {
        let mut reader = self.states.reader();
        let mut backwards = Vec::new();
        let mut here = state;
        loop {
            let mut row = vec![0; self.states.packing().width()];
            reader.row(here, &mut row);
            backwards.push(row);
            if here == self.initial {
                break;
            }
            here = self.states.parent(here)?;
        }
        let mut rows = backwards.into_iter().rev();
        let start = rows.next().expect("the state itself");
        let mut path = Path { start, steps: Vec::new() };
        let mut explorer = system.explorer();
        for row in rows {
            let mut label: Option<LabelId> = None;
            explorer.successors(path.last(), &mut |step| {
                if step.row == row && (label.is_none() || step.label == LabelId::TAU) {
                    label = Some(step.label);
                }
            });
            let label = label.expect("a state is a successor of its parent");
            path.steps.push(TakenStep { label, row });
        }
        Some(path)
    }

    /// The run to what was found, its step included. `None` when parents were not kept.
    pub fn path_to(&self, system: &dyn System, found: &Found) -> Option<Path> {
        let mut path = self.path(system, found.state)?;
        path.steps.extend(found.step.clone());
        Some(path)
    }

    /// The row of a state.
    pub fn row(&self, state: StateId) -> Vec<Value> {
        let mut row = vec![0; self.states.packing().width()];
        self.states.reader().row(state, &mut row);
        row
    }
}
