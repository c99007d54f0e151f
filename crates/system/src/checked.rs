//! A wrapper that verifies the declarations of a system while it is explored.
//!
//! For every row that is expanded it checks that
//!
//! - every value is one that its slot can hold, and every step belongs to a group, which allows its label;
//! - a step changes only the slots that it reports as written; these are slots that its group declares to write, and
//!   the slots that a group must write are among them;
//! - a slot that a group does not declare to read has no influence on its steps: with another value in it the steps
//!   have the same labels and written values, and where the slot is not written the other value is kept. The other
//!   values are those that occurred in that slot before;
//! - the local successors of every group are its steps;
//! - a walk that is cut after some step returns the cut unchanged, and the explorer then behaves like a fresh one;
//! - every mark has a value below its bound.
//!
//! A wrong declaration is a bug in the system and panics with its name. Cost: more than one additional expansion for
//! each slot and row; meant for tests.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::Control;

use crate::action::Action;
use crate::cut::{Cut, Walk, Wrong};
use crate::labels::{LabelId, Labels};
use crate::layout::{Layout, Value};
use crate::local::{LocalGroup, LocalSink};
use crate::marks::{Mark, MarkId};
use crate::transitions::{Explorer, Group, GroupId, Observation, Observations, Sink, Step, System, Written};
use crate::wrapper::the_system_itself;

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
    the_system_itself!();

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(CheckedExplorer {
            system: &self.system,
            control,
            inner: self.system.explorer(control),
            local: None,
            layout: self.layout(),
            groups: self.groups(),
            seen: &self.seen,
        })
    }
}

struct CheckedExplorer<'a> {
    system: &'a dyn System,
    control: &'a Control,
    inner: Box<dyn Explorer + 'a>,
    /// The groups, and an explorer that is used for local successors only.
    local: Option<(Vec<LocalGroup>, Box<dyn Explorer + 'a>)>,
    layout: &'a Layout,
    groups: &'a [Group],
    seen: &'a Mutex<Vec<Vec<Value>>>,
}

/// A copy of a step: its label, its row, and for each slot whether it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    group: GroupId,
    label: LabelId,
    row: Vec<Value>,
    written: Vec<bool>,
    class: u32,
}

impl CheckedExplorer<'_> {
    fn taken(&self, step: &Step<'_>, width: usize) -> Taken {
        let Some(group) = self.groups.get(step.group.index()) else { panic!("a transition belongs to no group") };
        let mut written = vec![false; width];
        match step.written {
            Written::Group => group.outputs().iter().for_each(|slot| written[slot] = true),
            Written::Slots(slots) => {
                slots
                    .iter()
                    .filter(|(slot, _)| (*slot as usize) < width)
                    .for_each(|&(slot, _)| written[slot as usize] = true);
            }
        }
        Taken { group: step.group, label: step.label, row: step.row.to_vec(), written, class: step.class }
    }

    fn expand(&mut self, row: &[Value]) -> Result<Vec<Taken>, Cut> {
        let mut inner = std::mem::replace(&mut self.inner, Box::new(Absent));
        let mut all = Vec::new();
        let walk = inner.successors(row, &mut |step| {
            all.push(self.taken(&step, row.len()));
            Ok(())
        });
        self.inner = inner;
        walk.map(|()| all)
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

    fn check(&mut self, row: &[Value]) -> Walk {
        assert_eq!(row.len(), self.layout.width(), "a row has as many values as the layout has slots");
        for (slot, &value) in self.layout.slots().iter().zip(row) {
            assert!(slot.values.contains(value), "slot {} holds {value}", slot.name);
        }
        let steps = self.expand(row)?;
        for step in &steps {
            self.check_writes(row, step);
        }
        let seen = self.learn(row);
        for (slot, known) in seen.iter().enumerate() {
            if let Some(&other) = known.iter().rev().find(|&&value| value != row[slot]) {
                self.check_influence(row, slot, other, &steps)?;
            }
        }
        self.check_local(row, &steps)?;
        self.check_cuts(row, &steps)?;
        self.check_marks(row)
    }

    fn check_writes(&self, row: &[Value], step: &Taken) {
        let group = &self.groups[step.group.index()];
        assert!(group.visibility.allows(step.label), "group {} declares {:?} steps only", group.name, group.visibility);
        for slot in 0..row.len() {
            let (may, must) = (group.may_write.contains(slot), group.must_write.contains(slot));
            let name = &group.name;
            assert!(step.written[slot] || step.row[slot] == row[slot], "group {name} writes slot {slot} secretly");
            assert!(may || must || !step.written[slot], "group {name} writes slot {slot} without declaring it");
            assert!(!must || step.written[slot], "group {name} does not write slot {slot}, which it must");
        }
    }

    /// Expands the row with another value in one slot; groups that do not read it have the same steps.
    fn check_influence(&mut self, row: &[Value], slot: usize, other: Value, steps: &[Taken]) -> Walk {
        // A last resort depends on what the others can do.
        let is_blind =
            |group: &Group| !group.last_resort && !group.guards.contains(slot) && !group.reads.contains(slot);
        let blind: Vec<bool> = self.groups.iter().map(is_blind).collect();
        if !blind.contains(&true) {
            return Ok(());
        }
        let mut changed = row.to_vec();
        changed[slot] = other;
        let again = match self.expand(&changed) {
            // No run leads to the changed row, so its steps may have no room.
            Err(Cut::Outgrown) => return Ok(()),
            again => again?,
        };
        for (index, group) in self.groups.iter().enumerate().filter(|&(index, _)| blind[index]) {
            let id = GroupId(index as u32);
            let own = |steps: &[Taken]| steps.iter().filter(|step| step.group == id).cloned().collect::<Vec<Taken>>();
            let (before, mut after) = (own(steps), own(&again));
            for step in after.iter_mut().filter(|step| !step.written[slot]) {
                assert_eq!(step.row[slot], other, "group {} changes slot {slot}, which it did not write", group.name);
                step.row[slot] = row[slot];
            }
            assert_eq!(before, after, "group {} reads slot {slot} secretly", group.name);
        }
        Ok(())
    }

    /// The local successors of every group are its steps, in their order.
    fn check_local(&mut self, row: &[Value], steps: &[Taken]) -> Walk {
        let (groups, mut explorer) = match self.local.take() {
            Some(known) => known,
            None => (LocalGroup::all(self.system, self.control)?, self.system.explorer(self.control)),
        };
        let mut reads = Vec::new();
        let moves = steps.iter().any(|step| !self.groups[step.group.index()].last_resort);
        for group in &groups {
            if moves && self.groups[group.id.index()].last_resort {
                let name = &self.groups[group.id.index()].name;
                assert!(steps.iter().all(|step| step.group != group.id), "group {name} is no last resort in {row:?}");
                continue;
            }
            group.inputs.values(row, &mut reads);
            let mut found: Vec<(LabelId, Vec<Value>)> = Vec::new();
            explorer.local_successors(group, &reads, &mut |step| {
                let mut next = row.to_vec();
                let written = group.outputs.iter().zip(step.values).zip(step.written).filter(|(_, written)| **written);
                written.for_each(|((slot, &value), _)| next[slot] = value);
                found.push((step.label, next));
                Ok(())
            })?;
            let own = steps.iter().filter(|step| step.group == group.id);
            let own: Vec<(LabelId, Vec<Value>)> = own.map(|step| (step.label, step.row.clone())).collect();
            let name = &self.groups[group.id.index()].name;
            assert_eq!(own, found, "the local successors of group {name} are not its steps in {row:?}");
        }
        self.local = Some((groups, explorer));
        Ok(())
    }

    /// Cuts the walk after some step: the cut must be returned, and the next walk must equal a fresh explorer's.
    fn check_cuts(&mut self, row: &[Value], steps: &[Taken]) -> Walk {
        if steps.is_empty() {
            return Ok(());
        }
        let last = foldhash::fast::FixedState::default().hash_one(row) as usize % steps.len();
        let wrong = Wrong { message: format!("cut after step {last}"), place: None, hint: None };
        let mut at = 0;
        let walk = self.inner.successors(row, &mut |_| {
            at += 1;
            if at > last { Err(Cut::Wrong(Box::new(wrong.clone()))) } else { Ok(()) }
        });
        assert_eq!((walk, at), (Err(Cut::Wrong(Box::new(wrong))), last + 1), "a cut does not come back as it was");
        let again = self.expand(row)?;
        assert_eq!(again, steps, "after a cut the successors are others");
        let used = std::mem::replace(&mut self.inner, self.system.explorer(self.control));
        let fresh = self.expand(row)?;
        self.inner = used;
        assert_eq!(again, fresh, "after a cut an explorer differs from a fresh one");
        Ok(())
    }

    fn check_marks(&mut self, row: &[Value]) -> Walk {
        let mut reads = Vec::new();
        for (index, mark) in self.system.marks().iter().enumerate() {
            mark.reads.values(row, &mut reads);
            let value = self.inner.mark(MarkId(index as u32), &reads)?;
            assert!(value < mark.values, "mark {:?} has value {value}", mark.meaning);
        }
        Ok(())
    }
}

/// What the wrapper holds while it lends its explorer to a walk.
struct Absent;

impl Explorer for Absent {
    fn successors(&mut self, _: &[Value], _: &mut Sink<'_>) -> Walk {
        unreachable!("the explorer is in use")
    }
}

impl Explorer for CheckedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.check(row)?;
        self.inner.successors(row, sink)
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.inner.local_successors(group, reads, sink)
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        self.inner.mark(mark, reads)
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        self.inner.undefined(proposition, row)
    }

    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        self.inner.observe(row)
    }
}
