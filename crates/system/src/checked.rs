//! A wrapper that proves the declarations of a system honest while it is explored.
//!
//! For every row that is expanded it checks, group by group, that
//!
//! - the groups together give exactly the successors of the row, each under its own group;
//! - a transition changes nothing outside the slots it declares to write;
//! - a slot that is not declared to be read has no influence: with another value in it the same labels and values come out.
//!   The other values are ones that were seen in that slot before, so the wrapper learns as it goes;
//! - every value is below its slot's number of values;
//! - an explorer that tells what its steps change ([`Explorer::changing_successors`]) gives the same successors and tells every change.
//!
//! A dishonest declaration is a bug in the system and panics with its name. Cost: a few expansions more per group and row;
//! meant for tests.

use std::sync::{Arc, Mutex, PoisonError};

use crate::action::Action;
use crate::labels::{LabelId, Labels};
use crate::layout::{Layout, Value};
use crate::transitions::{Explorer, Group, GroupId, Observation, Observations, Step, System};

/// How many values per slot are remembered for the influence test.
const REMEMBERED: usize = 8;

/// A system whose declarations are checked on every expansion.
pub struct Checked<S> {
    system: S,
    seen: Mutex<Vec<Vec<Value>>>,
}

impl<S: System> Checked<S> {
    /// Wraps a system.
    pub fn new(system: S) -> Checked<S> {
        let width = system.layout().width();
        Checked { system, seen: Mutex::new(vec![Vec::new(); width]) }
    }
}

impl<S: System> System for Checked<S> {
    fn layout(&self) -> &Layout {
        self.system.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        self.system.groups()
    }

    fn initial(&self) -> Vec<Value> {
        self.system.initial()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(CheckedExplorer {
            inner: self.system.explorer(),
            layout: self.layout(),
            groups: self.groups(),
            seen: &self.seen,
        })
    }

    fn observations(&self) -> Observations {
        self.system.observations()
    }

    fn action(&self) -> Option<&dyn Action> {
        self.system.action()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.system.describe(row)
    }
}

struct CheckedExplorer<'a> {
    inner: Box<dyn Explorer + 'a>,
    layout: &'a Layout,
    groups: &'a [Group],
    seen: &'a Mutex<Vec<Vec<Value>>>,
}

type Taken = (LabelId, Vec<Value>);

impl CheckedExplorer<'_> {
    fn group(&mut self, row: &[Value], group: GroupId) -> Vec<Taken> {
        let mut taken = Vec::new();
        self.inner.group_successors(row, group, &mut |step| {
            assert_eq!(step.group, group, "a group hands out another group's transition");
            taken.push((step.label, step.row.to_vec()));
        });
        taken
    }

    fn learn(&self, row: &[Value]) -> Vec<Vec<Value>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (known, &value) in seen.iter_mut().zip(row) {
            if known.len() < REMEMBERED && !known.contains(&value) {
                known.push(value);
            }
        }
        seen.clone()
    }

    fn check(&mut self, row: &[Value]) {
        assert_eq!(row.len(), self.layout.width(), "a row has as many values as the layout has slots");
        for (slot, &value) in self.layout.slots().iter().zip(row) {
            assert!(slot.values.is_none_or(|values| value < values), "slot {} holds {value}", slot.name);
        }
        let mut together: Vec<(GroupId, Taken)> = Vec::new();
        self.inner.successors(row, &mut |step| together.push((step.group, (step.label, step.row.to_vec()))));
        if self.inner.knows_changes() {
            self.check_changes(row, &together);
        }
        let seen = self.learn(row);
        let groups = self.groups;
        for (index, group) in groups.iter().enumerate() {
            let id = GroupId(index as u32);
            let taken = self.group(row, id);
            let within: Vec<&Taken> = together.iter().filter(|(of, _)| *of == id).map(|(_, step)| step).collect();
            assert!(within.iter().copied().eq(taken.iter()), "group {} differs from all successors", group.name);
            for (_, next) in &taken {
                for slot in 0..row.len() {
                    let written = group.may_write.contains(slot) || group.must_write.contains(slot);
                    assert!(written || next[slot] == row[slot], "group {} writes slot {slot} secretly", group.name);
                }
            }
            for slot in 0..row.len() {
                let read = group.guards.contains(slot) || group.reads.contains(slot);
                if let Some(&other) = seen[slot].iter().rev().find(|&&value| !read && value != row[slot]) {
                    self.check_influence(row, id, group, slot, other, &taken);
                }
            }
        }
        assert_eq!(
            together.len(),
            together.iter().filter(|(group, _)| group.index() < groups.len()).count(),
            "a transition belongs to no group"
        );
    }

    fn check_changes(&mut self, row: &[Value], together: &[(GroupId, Taken)]) {
        let mut at = 0;
        self.inner.changing_successors(row, &mut |step, changes| {
            let (group, (label, next)) = &together[at];
            assert!(
                (step.group, step.label, step.row) == (*group, *label, &next[..]),
                "with changes the successors are others"
            );
            for slot in (0..row.len()).filter(|&slot| row[slot] != next[slot]) {
                let told = changes.iter().any(|&(changed, _)| changed as usize == slot);
                assert!(told, "group {} changes slot {slot} and does not tell", group.index());
            }
            at += 1;
        });
        assert_eq!(at, together.len(), "with changes there are fewer successors");
    }

    fn check_influence(
        &mut self,
        row: &[Value],
        id: GroupId,
        group: &Group,
        slot: usize,
        other: Value,
        taken: &[Taken],
    ) {
        let mut changed = row.to_vec();
        changed[slot] = other;
        let again = self.group(&changed, id);
        assert_eq!(again.len(), taken.len(), "group {} reads slot {slot} secretly", group.name);
        for ((label, next), (label_again, next_again)) in taken.iter().zip(&again) {
            let kept = next_again[slot] == other && next[slot] == row[slot] && !group.must_write.contains(slot);
            let same_value = kept || next_again[slot] == next[slot];
            let same_rest = (0..row.len()).all(|i| i == slot || next[i] == next_again[i]);
            assert!(label == label_again && same_value && same_rest, "group {} reads slot {slot} secretly", group.name);
        }
    }
}

impl Explorer for CheckedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        self.check(row);
        self.inner.successors(row, sink);
    }

    fn group_successors(&mut self, row: &[Value], group: GroupId, sink: &mut dyn FnMut(Step<'_>)) {
        self.check(row);
        self.inner.group_successors(row, group, sink);
    }

    fn observe(&mut self, row: &[Value]) -> Observation {
        self.inner.observe(row)
    }
}
