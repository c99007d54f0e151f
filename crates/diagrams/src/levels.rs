//! Sets outside the table, slot by slot, to put their slots into another order.
//!
//! In the table a diagram is a graph from the root down, and what exchanges two slots makes every node above them anew.
//! Here a diagram is a list of *levels*, one for each slot. A level has all sets of rows from its slot on that occur in
//! the diagram, each once, as a list of values with the numbers of sets in the next level. To exchange two neighbouring
//! slots touches their two levels only: every set of the upper one keeps its number, since it stays one set, and the
//! lower level is made anew (R. Rudell, *Dynamic variable ordering for ordered binary decision diagrams*, 1993).
//!
//! The *size* of a diagram is the number of values in all lists. The table has fewer nodes where one list is the end of
//! another one.
//!
//! Invariants: lists ascend; no two lists of a level are equal; all sets are reached from the only one of the first
//! level. Cost of an exchange: the values in the lower level for each set of the upper one, sorted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use trefoil_control::Stopped;

use crate::pool::{Diagrams, Set};
use crate::relation::Relation;
use crate::table::{EMPTY, NodeId, UNIT};

/// A key and the number of a set in the next level.
type Value = (u64, u32);

/// A set that is not empty, slot by slot.
#[derive(Clone, Debug)]
pub struct Levels {
    levels: Vec<Level>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    /// The lists one after the other.
    values: Vec<Value>,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl Level {
    fn list(&self, number: usize) -> &[Value] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.values[start as usize..self.ends[number] as usize]
    }

    fn end_list(&mut self) {
        self.ends.push(self.values.len() as u32);
    }
}

impl Levels {
    /// How many slots the rows have.
    pub fn width(&self) -> usize {
        self.levels.len()
    }

    /// How many values the lists of a slot have.
    pub fn size_of(&self, slot: usize) -> usize {
        self.levels[slot].values.len()
    }

    /// How many values all lists have.
    pub fn size(&self) -> usize {
        (0..self.width()).map(|slot| self.size_of(slot)).sum()
    }

    /// Exchanges a slot and the next one.
    pub fn exchange(&mut self, slot: usize) {
        let (upper, lower) = (&self.levels[slot], &self.levels[slot + 1]);
        let (mut above, mut below) = (Level::default(), Level::default());
        let mut known: HashMap<Box<[Value]>, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut rows: Vec<(u64, u64, u32)> = Vec::new();
        let mut list: Vec<Value> = Vec::new();
        for number in 0..upper.ends.len() {
            rows.clear();
            for &(first, next) in upper.list(number) {
                rows.extend(lower.list(next as usize).iter().map(|&(second, rest)| (second, first, rest)));
            }
            rows.sort_unstable();
            for part in rows.chunk_by(|one, other| one.0 == other.0) {
                list.clear();
                list.extend(part.iter().map(|&(_, first, rest)| (first, rest)));
                let next = known.len() as u32;
                let number = match known.get(&list[..]) {
                    Some(&number) => number,
                    None => {
                        known.insert(list.clone().into_boxed_slice(), next);
                        below.values.extend_from_slice(&list);
                        below.end_list();
                        next
                    }
                };
                above.values.push((part[0].0, number));
            }
            above.end_list();
        }
        self.levels[slot] = above;
        self.levels[slot + 1] = below;
    }
}

impl Diagrams {
    /// A set slot by slot; nothing for the empty set.
    pub fn levels(&self, set: &Set) -> Result<Option<Levels>, Stopped> {
        if set.is_empty() {
            return Ok(None);
        }
        let store = self.store();
        let mut levels = Vec::new();
        let mut sets: Vec<NodeId> = vec![set.id];
        while sets[0] != UNIT {
            let (mut level, mut next) = (Level::default(), Vec::new());
            let mut numbers: HashMap<NodeId, u32, foldhash::fast::FixedState> = HashMap::default();
            for mut id in sets {
                self.control().check()?;
                while id != EMPTY {
                    let node = store.table.node(id);
                    let number = match numbers.entry(node.down) {
                        Entry::Occupied(known) => *known.get(),
                        Entry::Vacant(place) => {
                            next.push(node.down);
                            *place.insert(next.len() as u32 - 1)
                        }
                    };
                    level.values.push((node.key, number));
                    id = node.right;
                }
                level.end_list();
            }
            levels.push(level);
            sets = next;
        }
        Ok(Some(Levels { levels }))
    }

    /// The set of levels.
    pub fn set_of_levels(&self, levels: &Levels) -> Result<Set, Stopped> {
        self.run(levels.width(), |worker| {
            let mut below: Vec<NodeId> = vec![UNIT];
            for level in levels.levels.iter().rev() {
                let mut lists = Vec::with_capacity(level.ends.len());
                for number in 0..level.ends.len() {
                    worker.poll()?;
                    let mut list = EMPTY;
                    for &(key, next) in level.list(number).iter().rev() {
                        list = worker.make(key, below[next as usize], list)?;
                        // Everything that was made stays a root until the next level is complete.
                        worker.keep(list);
                    }
                    lists.push(list);
                }
                let values = level.values.len();
                worker.release(values);
                worker.keep_all(&lists);
                below = lists;
            }
            worker.release(levels.levels.iter().map(|level| level.ends.len()).sum());
            Ok(below[0])
        })
    }

    /// The rows of a set with their slots in another order: for each slot the one that it was before.
    pub fn reordered(&self, set: &Set, order: &[usize]) -> Result<Set, Stopped> {
        if order.is_sorted() {
            return Ok(set.clone());
        }
        let Some(mut levels) = self.levels(set)? else { return Ok(set.clone()) };
        debug_assert_eq!(levels.width(), order.len(), "a place for each slot");
        let mut now: Vec<usize> = (0..order.len()).collect();
        for (place, &wanted) in order.iter().enumerate() {
            let from = now[place..].iter().position(|&slot| slot == wanted).map_or(place, |at| at + place);
            for slot in (place..from).rev() {
                self.control().check()?;
                levels.exchange(slot);
                now.swap(slot, slot + 1);
            }
        }
        self.set_of_levels(&levels)
    }

    /// A relation between rows whose slots are in another order: for each slot of the rows the one that it was before.
    pub fn reordered_relation(&self, relation: &Relation, order: &[usize]) -> Result<Relation, Stopped> {
        let (moved, places) = relation.moved(order);
        let rows = self.reordered(&relation.rows, &places)?;
        self.with_rows(&self.relation(&moved.0, &moved.1)?, &rows)
    }
}
