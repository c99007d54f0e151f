//! Sets and relations as users of the pool see them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use trefoil_control::Stopped;

use crate::image::{CHANGE, READ, SKIP, WRITE};
use crate::pool::{Diagrams, Set};
use crate::sets::{DROP, KEEP};
use crate::sync::locked;
use crate::table::{COPIED, EMPTY, NodeId, key_of, value_of};
use crate::worker::{Outcome, Worker};

/// Some slots of rows, for projections.
#[derive(Clone, Debug)]
pub struct Slots {
    row: Set,
    count: usize,
}

impl Slots {
    /// How many slots these are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A relation between rows that reads and writes some slots and leaves the others as they are.
///
/// It is a set of pairs: values of the slots that are read, and of the slots that are written.
#[derive(Clone, Debug)]
pub struct Relation {
    /// What it does to each slot up to the last one that it touches.
    kinds: Vec<u32>,
    pub(crate) shape: Set,
    /// The first slot that it touches.
    top: usize,
    /// Its pairs, slot by slot, old value before new value.
    pub(crate) rows: Set,
}

impl Relation {
    /// Has it no pair?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its pairs as a set of rows: for each slot that it touches the value that is read, the value that is written, or
    /// both.
    pub fn rows(&self) -> &Set {
        &self.rows
    }

    /// For each place of its rows, whether a value is read there.
    pub(crate) fn levels(&self) -> impl Iterator<Item = bool> + '_ {
        self.kinds.iter().flat_map(|&kind| places_of(kind).iter().copied())
    }

    /// The slots that it reads and those that it writes when slots are in another order, and the places of its rows in
    /// that order: for each place the one that it was before.
    pub(crate) fn moved(&self, order: &[usize]) -> ((Vec<usize>, Vec<usize>), Vec<usize>) {
        let mut first = Vec::with_capacity(self.kinds.len());
        let mut count = 0;
        for &kind in &self.kinds {
            first.push(count);
            count += places_of(kind).len();
        }
        let (mut reads, mut writes, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (slot, &before) in order.iter().enumerate() {
            let kind = self.kinds.get(before).copied().unwrap_or(SKIP);
            if kind == READ || kind == CHANGE {
                reads.push(slot);
            }
            if kind == WRITE || kind == CHANGE {
                writes.push(slot);
            }
            places.extend((0..places_of(kind).len()).map(|place| first[before] + place));
        }
        ((reads, writes), places)
    }

    /// The first slot that it touches.
    pub fn top(&self) -> usize {
        self.top
    }

    /// An order of slots for relations: for each place the slot that comes there.
    ///
    /// Relations that touch few slots work best in the lower ones, and saturation lets them. Where they touch more than
    /// half of all slots on average, mostly without changing them (an assignment to an element of an array whose index
    /// is in a slot), a relation learns only at the index whether it applies to a row. So there the slots that three
    /// quarters of the relations touch come first. All others stay as they are.
    pub fn common_slots_first(width: usize, relations: &[&Relation]) -> Vec<usize> {
        let touches = |relation: &Relation, slot: usize| relation.kinds.get(slot).is_some_and(|&kind| kind != SKIP);
        let touched = |relation: &Relation| (0..width).filter(|&slot| touches(relation, slot)).count();
        let all: usize = relations.iter().map(|relation| touched(relation)).sum();
        let is_common = |&slot: &usize| {
            let touching = relations.iter().filter(|relation| touches(relation, slot)).count();
            2 * all > width * relations.len() && 4 * touching >= 3 * relations.len()
        };
        let (mut order, others): (Vec<usize>, Vec<usize>) = (0..width).partition(is_common);
        order.extend(others);
        order
    }
}

/// For each place that a slot has in the rows of a relation, whether a value is read there.
fn places_of(kind: u32) -> &'static [bool] {
    match kind {
        READ => &[true],
        WRITE => &[false],
        CHANGE => &[true, false],
        _ => &[],
    }
}

/// A pair of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The values of the slots that are read, ascending by slot.
    pub read: Vec<u32>,
    /// The values of the slots that are written, ascending by slot; none where the slot keeps its value.
    pub written: Vec<Option<u32>>,
}

impl Diagrams {
    /// The rows of either set.
    pub fn union(&self, one: &Set, other: &Set) -> Result<Set, Stopped> {
        self.run(self.width(one), |worker| worker.union(one.id, other.id))
    }

    /// The rows of both sets.
    pub fn intersection(&self, one: &Set, other: &Set) -> Result<Set, Stopped> {
        self.run(self.width(one), |worker| worker.intersection(one.id, other.id))
    }

    /// The rows of the first set that are not in the second.
    pub fn difference(&self, one: &Set, other: &Set) -> Result<Set, Stopped> {
        self.run(self.width(one), |worker| worker.difference(one.id, other.id))
    }

    /// How many slots the rows of a set have; 0 for the empty set.
    pub fn width(&self, set: &Set) -> usize {
        let store = self.store();
        let (mut width, mut id) = (0, set.id);
        while id > crate::table::UNIT {
            id = store.table.node(id).down;
            width += 1;
        }
        width
    }

    /// These slots of rows, ascending.
    pub fn slots(&self, slots: &[usize]) -> Result<Slots, Stopped> {
        debug_assert!(slots.windows(2).all(|pair| pair[0] < pair[1]), "slots ascend");
        let mut row = vec![DROP; slots.last().map_or(0, |last| last + 1)];
        slots.iter().for_each(|&slot| row[slot] = KEEP);
        Ok(Slots { row: self.row(&row)?, count: slots.len() })
    }

    /// The rows of a set with some slots only.
    pub fn project(&self, set: &Set, slots: &Slots) -> Result<Set, Stopped> {
        self.run(self.width(set), |worker| worker.project(set.id, slots.row.id))
    }

    /// A relation without pairs that reads and writes these slots, both ascending.
    pub fn relation(&self, reads: &[usize], writes: &[usize]) -> Result<Relation, Stopped> {
        let width = reads.iter().chain(writes).max().map_or(0, |last| last + 1);
        let mut kinds = vec![SKIP; width];
        reads.iter().for_each(|&slot| kinds[slot] = READ);
        writes.iter().for_each(|&slot| kinds[slot] = if kinds[slot] == READ { CHANGE } else { WRITE });
        let top = kinds.iter().position(|&kind| kind != SKIP).unwrap_or(0);
        Ok(Relation { shape: self.row(&kinds)?, kinds, top, rows: self.empty() })
    }

    /// A relation that keeps the rows whose values in these slots are in a set.
    pub fn filter(&self, slots: &[usize], values: &Set) -> Result<Relation, Stopped> {
        Ok(Relation { rows: values.clone(), ..self.relation(slots, &[])? })
    }

    /// The relation with these pairs added.
    pub fn with_pairs(&self, relation: &Relation, pairs: &[Pair]) -> Result<Relation, Stopped> {
        let rows = pairs.iter().map(|pair| {
            let (mut read, mut written) = (pair.read.iter(), pair.written.iter());
            let mut row = Vec::with_capacity(pair.read.len() + pair.written.len());
            for &kind in &relation.kinds {
                if kind == READ || kind == CHANGE {
                    row.push(key_of(*read.next().expect("a value for each slot that is read")));
                }
                if kind == WRITE || kind == CHANGE {
                    let value = written.next().expect("a value for each slot that is written");
                    row.push(value.map_or(COPIED, key_of));
                }
            }
            row
        });
        let rows = self.set_of_keys(rows.collect())?;
        self.with_rows(relation, &rows)
    }

    /// The relation with the pairs of a set of rows added, see [`Relation::rows`].
    pub fn with_rows(&self, relation: &Relation, rows: &Set) -> Result<Relation, Stopped> {
        Ok(Relation { rows: self.union(&relation.rows, rows)?, ..relation.clone() })
    }

    /// Does every pair of a relation change the value of a slot? So it is for a relation without pairs.
    pub fn always_changes(&self, relation: &Relation, slot: usize) -> Result<bool, Stopped> {
        if relation.is_empty() {
            return Ok(true);
        }
        if relation.kinds.get(slot) != Some(&CHANGE) {
            return Ok(false);
        }
        let first: usize = relation.kinds[..slot].iter().map(|&kind| places_of(kind).len()).sum();
        let found = self.project(&relation.rows, &self.slots(&[first, first + 1])?)?;
        let table = &self.store().table;
        let mut before = found.id;
        while before != EMPTY {
            let from = table.node(before);
            let mut after = from.down;
            while after != EMPTY {
                let to = table.node(after);
                if to.key == COPIED || to.key == from.key {
                    return Ok(false);
                }
                after = to.right;
            }
            before = from.right;
        }
        Ok(true)
    }

    /// How a relation changes a slot: the value before, if it is read, and the value after, if it is another one.
    pub fn changes(&self, relation: &Relation, slot: usize) -> Result<Vec<(Option<u32>, u32)>, Stopped> {
        let reads = match relation.kinds.get(slot) {
            Some(&CHANGE) => true,
            Some(&WRITE) => false,
            _ => return Ok(Vec::new()),
        };
        let first: usize = relation.kinds[..slot].iter().map(|&kind| places_of(kind).len()).sum();
        let column = if reads { vec![first, first + 1] } else { vec![first] };
        let found = self.project(&relation.rows, &self.slots(&column)?)?;
        let store = self.store();
        let list = |mut id: NodeId| {
            let store = store.clone();
            std::iter::from_fn(move || {
                let node = (id != EMPTY).then(|| store.table.node(id))?;
                id = node.right;
                Some((node.key, node.down))
            })
        };
        let written = |(key, _): (u64, NodeId)| (key != COPIED).then(|| value_of(key));
        if !reads {
            return Ok(list(found.id).filter_map(written).map(|value| (None, value)).collect());
        }
        let pairs = list(found.id).flat_map(|(key, below)| {
            let before = value_of(key);
            list(below).filter_map(written).map(move |after| (Some(before), after))
        });
        Ok(pairs.filter(|&(before, after)| before != Some(after)).collect())
    }

    /// The rows that a relation leads to from a set.
    pub fn image(&self, set: &Set, relation: &Relation) -> Result<Set, Stopped> {
        self.run(self.width(set), |worker| worker.image(set.id, relation.rows.id, relation.shape.id))
    }

    /// The rows of `within` from which a relation leads to a set.
    pub fn preimage(&self, set: &Set, relation: &Relation, within: &Set) -> Result<Set, Stopped> {
        self.run(self.width(set), |worker| worker.preimage(set.id, relation.rows.id, relation.shape.id, within.id))
    }

    /// A set and the rows that a relation leads to from it, together.
    pub fn extended(&self, set: &Set, relation: &Relation) -> Result<Set, Stopped> {
        self.run(self.width(set), |worker| extended(worker, set.id, relation.rows.id, relation.shape.id))
    }

    /// Everything that relations reach from a set, by saturation.
    pub fn saturated(&self, set: &Set, relations: &[&Relation]) -> Result<Set, Stopped> {
        // Relations that do the same to the same slots are one.
        let mut merged: Vec<Relation> = Vec::new();
        let mut places: HashMap<&[u32], usize> = HashMap::new();
        for &relation in relations {
            if relation.is_empty() || relation.kinds.iter().all(|&kind| kind == SKIP || kind == READ) {
                continue;
            }
            match places.entry(&relation.kinds) {
                Entry::Occupied(place) => {
                    let known: &mut Relation = &mut merged[*place.get()];
                    known.rows = self.union(&known.rows, &relation.rows)?;
                }
                Entry::Vacant(place) => {
                    place.insert(merged.len());
                    merged.push(relation.clone());
                }
            }
        }
        self.run(self.width(set), |worker| {
            let program = locked(&worker.shared.programs).of(&merged);
            worker.saturate(set.id, program)
        })
    }

    /// The least fixpoint of a monotone function from sets to sets, above a set.
    pub fn least(&self, from: &Set, mut step: impl FnMut(&Set) -> Result<Set, Stopped>) -> Result<Set, Stopped> {
        let mut now = from.clone();
        loop {
            let next = self.union(&now, &step(&now)?)?;
            if next == now {
                return Ok(now);
            }
            now = next;
        }
    }

    /// The greatest fixpoint of a monotone function from sets to sets, inside a set.
    pub fn greatest(&self, from: &Set, mut step: impl FnMut(&Set) -> Result<Set, Stopped>) -> Result<Set, Stopped> {
        let mut now = from.clone();
        loop {
            let next = self.intersection(&now, &step(&now)?)?;
            if next == now {
                return Ok(now);
            }
            now = next;
        }
    }
}

fn extended(worker: &mut Worker, set: NodeId, rows: NodeId, shape: NodeId) -> Outcome {
    let step = worker.image(set, rows, shape)?;
    worker.keep(step);
    let all = worker.union(set, step)?;
    worker.release(1);
    Ok(all)
}
