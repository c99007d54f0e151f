//! Packing a successor by what its transition group may change.
//!
//! A step of a group leaves every slot alone that the group does not declare as written (`may_write` or `must_write`). So the packed row
//! of a successor is that of its source with a few fields exchanged, and a wide row costs no more than a narrow one. Where a group
//! may write more than half of the slots, both rows are compared, and the fields that differ exchanged: a representative under a
//! symmetry may differ anywhere, and yet mostly differs in few places.
//!
//! This trusts the declarations of a system. The checking wrapper proves them honest in tests, and wherever debug assertions are on every
//! patched row is compared with the row packed anew.

use trefoil_system::{Group, GroupId, Value};

use crate::packing::{Field, Packing};

/// More fields than this in all are not kept; the rows of the groups left over are compared.
const MOST_FIELDS: usize = 1 << 22;

/// What each group of a system changes in a packed row.
pub(crate) struct Patches {
    /// The fields of each group; none when its rows are compared.
    ranges: Vec<Option<(u32, u32)>>,
    /// Slots and where they lie.
    fields: Vec<(u32, Field)>,
    /// For each group, a row's words with its fields cleared out of ones.
    kept: Vec<u64>,
}

impl Patches {
    pub(crate) fn new(packing: &Packing, groups: &[Group]) -> Patches {
        let words = packing.words();
        let mut patches = Patches { ranges: Vec::new(), fields: Vec::new(), kept: Vec::new() };
        for group in groups {
            let mut slots: Vec<usize> = group.may_write.iter().chain(group.must_write.iter()).collect();
            slots.sort_unstable();
            slots.dedup();
            patches.kept.resize(patches.kept.len() + words, u64::MAX);
            if 2 * slots.len() > packing.width() || patches.fields.len() + slots.len() > MOST_FIELDS {
                patches.ranges.push(None);
                continue;
            }
            let from = patches.fields.len() as u32;
            let first = patches.kept.len() - words;
            let kept = &mut patches.kept[first..];
            for slot in slots {
                let field = packing.field(slot);
                field.clear(kept);
                patches.fields.push((slot as u32, field));
            }
            patches.ranges.push(Some((from, patches.fields.len() as u32)));
        }
        patches
    }

    /// Packs the row that a step of a group leads to from a source, which is given as a row and packed; panics as
    /// [`Packing::pack`] does.
    #[inline]
    pub(crate) fn pack(
        &self,
        packing: &Packing,
        group: GroupId,
        (known, source): (&[Value], &[u64]),
        row: &[Value],
        target: &mut [u64],
    ) {
        let Some((from, to)) = self.ranges[group.index()] else { return packing.repack(known, source, row, target) };
        let fields = &self.fields[from as usize..to as usize];
        let mut excess = 0;
        if let ([target], [source]) = (&mut *target, source) {
            let mut packed = source & self.kept[group.index()];
            for &(slot, field) in fields {
                let value = u64::from(row[slot as usize]);
                excess |= field.excess(value);
                packed |= value << (field.shift & 63);
            }
            *target = packed;
        } else {
            let kept = &self.kept[group.index() * source.len()..][..source.len()];
            for ((target, source), kept) in target.iter_mut().zip(source).zip(kept) {
                *target = source & kept;
            }
            for &(slot, field) in fields {
                let value = u64::from(row[slot as usize]);
                excess |= field.excess(value);
                field.put(value, target);
            }
        }
        assert_eq!(excess, 0, "a value does not fit its slot");
        #[cfg(debug_assertions)]
        {
            let mut anew = vec![0; target.len()];
            packing.pack(row, &mut anew);
            assert_eq!(target, anew, "group {} changes a slot that it does not declare", group.index());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trefoil_system::{Layout, Slot, SlotSet};

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
            patches.pack(&packing, GroupId(1), (&source, &packed), &row, &mut found);
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
        patches.pack(&packing, GroupId(0), (&[0, 0], &[0]), &[1, 1], &mut [0]);
    }
}
