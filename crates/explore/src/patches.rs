//! Packing a successor by what its transition group may change.
//!
//! A step of a group does not change any slot that the group does not declare as written (`may_write` or `must_write`).
//! So the packed row of a successor is that of its source with a few fields replaced, and a wide row costs no more than
//! a narrow one. Where a group may write more than half of the slots, both rows are compared and the fields that differ
//! are replaced: a representative under a symmetry may change any slot, but usually changes few. An explorer that keeps
//! a log of what it writes ([`trefoil_system::Written::Slots`]) names the slots with each step, and then only those are
//! compared.
//!
//! This trusts the declarations of a system. The checking wrapper proves them honest in tests, and with debug
//! assertions every patched row is compared with the row packed from scratch.

use trefoil_system::{Group, GroupId, Step, Value, Written};

use crate::packing::{Field, Packing};
use crate::tree::Climber;

/// No more fields than this are kept in all; for the remaining groups whole rows are compared.
const MOST_FIELDS: usize = 1 << 22;

/// What each group of a system changes in a packed row.
pub(crate) struct Patches {
    /// The fields of each group; none when whole rows are compared.
    ranges: Vec<Option<(u32, u32)>>,
    /// Slots and where they lie.
    fields: Vec<(u32, Field)>,
    /// Of rows of one word: for each group, ones with its fields cleared.
    kept: Vec<u64>,
}

impl Patches {
    pub(crate) fn new(packing: &Packing, groups: &[Group]) -> Patches {
        let mut patches = Patches { ranges: Vec::new(), fields: Vec::new(), kept: Vec::new() };
        for group in groups {
            let mut slots: Vec<usize> = group.may_write.iter().chain(group.must_write.iter()).collect();
            slots.sort_unstable();
            slots.dedup();
            let mut kept = [u64::MAX];
            if 2 * slots.len() > packing.width() || patches.fields.len() + slots.len() > MOST_FIELDS {
                patches.ranges.push(None);
                patches.kept.extend(kept);
                continue;
            }
            let from = patches.fields.len() as u32;
            for slot in slots {
                let field = packing.field(slot);
                if packing.words() == 1 {
                    field.clear(&mut kept);
                }
                patches.fields.push((slot as u32, field));
            }
            patches.ranges.push(Some((from, patches.fields.len() as u32)));
            patches.kept.extend(kept);
        }
        patches
    }

    /// Packs the row that a step of a group leads to from a source; returns whether it fits; otherwise the target is
    /// meaningless. Where the step names the slots that it changed, only those are compared.
    #[inline]
    pub(crate) fn pack(&self, packing: &Packing, source: Source<'_>, step: &Step<'_>, target: &mut [u64]) -> bool {
        let (group, row) = (step.group, step.row);
        if let Written::Slots(changes) = step.written {
            copy(source.packed, target);
            for &(slot, _) in changes {
                let Some(&value) = row.get(slot as usize) else { continue };
                let field = packing.field(slot as usize);
                let value = field.packed(value);
                if field.excess(value) != 0 {
                    return false;
                }
                field.set(value, target);
            }
            #[cfg(debug_assertions)]
            check(packing, group, row, target);
            return true;
        }
        let fields = self.ranges[group.index()].map(|(from, to)| &self.fields[from as usize..to as usize]);
        match (&mut *target, source.packed, fields) {
            ([target], [packed], Some(fields)) if !packing.is_stretched() => {
                let (mut patched, mut excess) = (packed & self.kept[group.index()], 0);
                for &(slot, field) in fields {
                    let value = field.packed(row[slot as usize]);
                    excess |= field.excess(value);
                    patched |= value << (field.shift & 63);
                }
                *target = patched;
                if excess != 0 {
                    return false;
                }
            }
            (target, packed, _) => {
                copy(packed, target);
                if !self.exchange(packing, group, source.row, row, |field, value| field.set(value, target)) {
                    return false;
                }
            }
        }
        #[cfg(debug_assertions)]
        check(packing, group, row, target);
        true
    }

    /// The same for a row that is kept as a tree, whose source was read last.
    #[inline]
    pub(crate) fn patch(&self, packing: &Packing, source: &[Value], step: &Step<'_>, target: &mut Climber<'_>) -> bool {
        let (group, row) = (step.group, step.row);
        if let Written::Slots(changes) = step.written {
            for &(slot, _) in changes {
                let Some(&value) = row.get(slot as usize) else { continue };
                let field = packing.field(slot as usize);
                let value = field.packed(value);
                if field.excess(value) != 0 {
                    return false;
                }
                target.put(field, value);
            }
        } else if !self.exchange(packing, group, source, row, |field, value| target.put(field, value)) {
            return false;
        }
        #[cfg(debug_assertions)]
        check(packing, group, row, &target.words()[..packing.words()]);
        true
    }

    /// Calls `with` for each slot that a step of a group changes, in order: where it lies, and its new value, packed.
    /// Returns whether all fit; those that do not are left out.
    #[inline]
    fn exchange(
        &self,
        packing: &Packing,
        group: GroupId,
        source: &[Value],
        row: &[Value],
        mut with: impl FnMut(Field, u64),
    ) -> bool {
        let mut fit = true;
        let mut one = |field: Field, old: Value, new: Value| {
            if old != new {
                let new = field.packed(new);
                if field.excess(new) == 0 {
                    with(field, new);
                } else {
                    fit = false;
                }
            }
        };
        if let Some((from, to)) = self.ranges[group.index()] {
            for &(slot, field) in &self.fields[from as usize..to as usize] {
                one(field, source[slot as usize], row[slot as usize]);
            }
            return fit;
        }
        // Most of a wide row is unchanged, and several slots are compared as fast as one.
        const TOGETHER: usize = 8;
        for (at, (old, new)) in source.chunks(TOGETHER).zip(row.chunks(TOGETHER)).enumerate() {
            if old != new {
                for (slot, (&old, &new)) in old.iter().zip(new).enumerate() {
                    one(packing.field(at * TOGETHER + slot), old, new);
                }
            }
        }
        fit
    }
}

/// A patched row must be what the row is packed to.
#[cfg(debug_assertions)]
fn check(packing: &Packing, group: GroupId, row: &[Value], target: &[u64]) {
    let mut anew = vec![0; target.len()];
    packing.pack(row, &mut anew);
    assert_eq!(target, anew, "group {} changes a slot that it does not declare", group.index());
}

/// Copies a few words without a call.
#[inline]
fn copy(from: &[u64], to: &mut [u64]) {
    match (from, &mut *to) {
        (&[a], [b]) => *b = a,
        (&[a, b], [c, d]) => (*c, *d) = (a, b),
        (&[a, b, c], [d, e, f]) => (*d, *e, *f) = (a, b, c),
        (&[a, b, c, d], [e, f, g, h]) => (*e, *f, *g, *h) = (a, b, c, d),
        _ => to.copy_from_slice(from),
    }
}

/// A row whose successors are packed.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) row: &'a [Value],
    pub(crate) packed: &'a [u64],
}

#[cfg(test)]
mod tests {
    use super::*;
    use trefoil_system::{Change, LabelId, Layout, Slot, SlotSet};

    #[test]
    fn patched_rows_are_packed_rows() {
        let mut state = 9u64;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % below
        };
        let (mut patched, mut compared) = (0, 0);
        for case in 0..400 {
            let width = 1 + case % 37;
            let values: Vec<u32> = (0..width).map(|_| [1, 2, 5, 300, u32::MAX][random(5) as usize]).collect();
            let slots = values.iter().map(|&values| Slot::bounded("slot", values)).collect();
            let packing = Packing::new(&Layout::new(slots));
            let written: Vec<usize> = (0..width).filter(|_| random(3) == 0).collect();
            let (may, must): (Vec<usize>, Vec<usize>) = written.iter().partition(|&&slot| slot % 2 == 0);
            let set = |slots: &[usize]| -> SlotSet { slots.iter().copied().collect() };
            let group = Group { may_write: set(&may), must_write: set(&must), ..Group::default() };
            let patches = Patches::new(&packing, &[Group::default(), group]);
            let source: Vec<Value> = values.iter().map(|&values| random(values)).collect();
            let mut row = source.clone();
            for &slot in &written {
                row[slot] = random(values[slot]);
            }
            let (mut packed, mut expected) = (vec![0; packing.words()], vec![0; packing.words()]);
            packing.pack(&source, &mut packed);
            packing.pack(&row, &mut expected);
            let mut found = vec![7; packing.words()];
            let before = Source { row: &source, packed: &packed };
            let step = Step::of_group(GroupId(1), LabelId::TAU, &row);
            assert!(patches.pack(&packing, before, &step, &mut found));
            assert_eq!(found, expected, "case {case}");
            // The same from a list of changed slots with repetitions and unchanged ones.
            let mut changes: Vec<Change> = written.iter().map(|&slot| (slot as u32, source[slot])).collect();
            changes.extend(written.first().map(|&slot| (slot as u32, 77)));
            changes.push((width as u32 + random(3), 1));
            found.fill(9);
            let step = Step { written: Written::Slots(&changes), ..step };
            assert!(patches.pack(&packing, before, &step, &mut found));
            assert_eq!(found, expected, "case {case}");
            *if patches.ranges[1].is_some() { &mut patched } else { &mut compared } += 1;
        }
        assert!(patched > 100 && compared > 20, "{patched} patched, {compared} compared");
    }

    #[test]
    #[should_panic(expected = "does not declare")]
    #[cfg(debug_assertions)]
    fn a_group_that_writes_more_than_it_says_is_a_bug() {
        let packing = Packing::new(&Layout::new(vec![Slot::bounded("x", 4), Slot::bounded("y", 4)]));
        let group = Group { may_write: [0].into_iter().collect(), ..Group::default() };
        let patches = Patches::new(&packing, &[group]);
        let source = Source { row: &[0, 0], packed: &[0] };
        patches.pack(&packing, source, &Step::of_group(GroupId(0), LabelId::TAU, &[1, 1]), &mut [0]);
    }
}
