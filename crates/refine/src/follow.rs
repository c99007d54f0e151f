//! All states that a trace leads to, `τ` included, and a run to each of them.

use std::collections::HashSet;
use std::ops::Range;

use trefoil_control::Control;
use trefoil_system::{Cut, LabelId, Path, TakenStep, Value};

use crate::implementation::{Graph, explore_counting};

/// A state, how it was reached, and from which record.
#[derive(Clone, Copy, Debug)]
struct Record {
    state: u32,
    label: LabelId,
    from: usize,
}

const ROOT: usize = usize::MAX;

/// Walks along a trace. Of the runs to a state the one with the fewest steps since the last event is kept.
pub(crate) struct Follower {
    records: Vec<Record>,
    /// Where the records of the present states begin.
    first: usize,
}

impl Follower {
    /// In the states of the empty trace.
    pub(crate) fn new<G: Graph>(graph: &mut G, control: &Control) -> Result<Follower, Cut> {
        let initial = Record { state: graph.initial(), label: LabelId::TAU, from: ROOT };
        let mut follower = Follower { records: vec![initial], first: 0 };
        follower.close(graph, control)?;
        Ok(follower)
    }

    fn close<G: Graph>(&mut self, graph: &mut G, control: &Control) -> Result<(), Cut> {
        let mut seen: HashSet<u32, foldhash::fast::FixedState> =
            self.records[self.first..].iter().map(|record| record.state).collect();
        let mut here = self.first;
        while here < self.records.len() {
            control.check()?;
            let state = self.records[here].state;
            explore_counting(graph, state, control)?;
            for step in graph.row(state).iter().filter(|step| step.label == LabelId::TAU) {
                if seen.insert(step.target.0) {
                    self.records.push(Record { state: step.target.0, label: step.label, from: here });
                }
            }
            here += 1;
        }
        Ok(())
    }

    /// Takes one more event. False, and nothing is lost, when no state has it.
    pub(crate) fn advance<G: Graph>(&mut self, graph: &mut G, event: LabelId, control: &Control) -> Result<bool, Cut> {
        self.advance_from(graph, event, |_, _| true, control)
    }

    /// As [`Follower::advance`], from those of the present states that something holds of.
    pub(crate) fn advance_from<G: Graph>(
        &mut self,
        graph: &mut G,
        event: LabelId,
        holds: impl Fn(&G, u32) -> bool,
        control: &Control,
    ) -> Result<bool, Cut> {
        let mut next = Vec::new();
        for here in self.first..self.records.len() {
            if !holds(graph, self.records[here].state) {
                continue;
            }
            let steps = graph.row(self.records[here].state).iter().filter(|step| step.label == event);
            next.extend(steps.map(|step| Record { state: step.target.0, label: event, from: here }));
        }
        if next.is_empty() {
            return Ok(false);
        }
        next.sort_by_key(|record| record.state);
        next.dedup_by_key(|record| record.state);
        self.first = self.records.len();
        self.records.append(&mut next);
        self.close(graph, control)?;
        Ok(true)
    }

    /// The records of the present states; all of these are explored.
    pub(crate) fn present(&self) -> Range<usize> {
        self.first..self.records.len()
    }

    /// The state of a record.
    pub(crate) fn state(&self, record: usize) -> u32 {
        self.records[record].state
    }

    /// The steps of the run to a record.
    pub(crate) fn steps(&self, record: usize) -> Vec<(LabelId, u32)> {
        let mut steps = Vec::new();
        let mut here = &self.records[record];
        while here.from != ROOT {
            steps.push((here.label, here.state));
            here = &self.records[here.from];
        }
        steps.reverse();
        steps
    }
}

/// Steps between numbered states as a run of the system.
pub(crate) fn path<G: Graph>(graph: &G, steps: &[(LabelId, u32)]) -> Path {
    let start: Vec<Value> = graph.values(graph.initial());
    Path { start, steps: steps.iter().map(|&(label, state)| TakenStep { label, row: graph.values(state) }).collect() }
}
