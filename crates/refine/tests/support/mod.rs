//! Systems for tests.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, Labels, Layout, Sink, Slot, SlotSet, StateId, Step, System, Value, Walk,
};

/// An explicit system whose states are rows of two numbers, so that nothing can take a state for its number.
pub(crate) struct TwoSlots {
    lts: Lts,
    layout: Layout,
    groups: Vec<Group>,
}

impl TwoSlots {
    /// The same system, its states otherwise.
    pub(crate) fn new(lts: Lts) -> TwoSlots {
        let all: SlotSet = [0, 1].into_iter().collect();
        let groups = vec![Group { guards: all.clone(), reads: all.clone(), may_write: all, ..Group::default() }];
        let layout = Layout::new(vec![Slot::bounded("low", 3), Slot::word("high")]);
        TwoSlots { lts, layout, groups }
    }

    fn row(state: StateId) -> [Value; 2] {
        [state.0 % 3, 1000 - state.0 / 3]
    }
}

impl System for TwoSlots {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.lts.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(TwoSlots::row(self.lts.initial()).to_vec())
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(TwoSlotsExplorer(&self.lts))
    }
}

struct TwoSlotsExplorer<'a>(&'a Lts);

impl Explorer for TwoSlotsExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for step in self.0.outgoing(StateId(row[0] + 3 * (1000 - row[1]))) {
            sink(Step::of_group(GroupId(0), step.label, &TwoSlots::row(step.target)))?;
        }
        Ok(())
    }
}
