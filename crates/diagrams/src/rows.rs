//! Rows in and out of sets: making a set from rows, counting, walking over the rows in order.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use dashu_int::UBig;
use trefoil_control::Stopped;

use crate::pool::{Diagrams, Set, Store};
use crate::table::{EMPTY, NodeId, UNIT, key_of, value_of};
use crate::worker::{Outcome, Worker};

/// How many rows lists of nodes have, since a collection: until the next one every number means the same node.
#[derive(Default)]
pub(crate) struct Counted {
    round: u64,
    short: HashMap<NodeId, u128, foldhash::fast::FixedState>,
    long: HashMap<NodeId, UBig, foldhash::fast::FixedState>,
}

/// So many counts are remembered.
const MOST_COUNTED: usize = 1 << 22;

impl Diagrams {
    /// The set with one row.
    pub fn row(&self, row: &[u32]) -> Result<Set, Stopped> {
        self.set_of_keys(vec![row.iter().copied().map(key_of).collect()])
    }

    /// The set of these rows, which have the same width.
    pub fn rows_of<'r>(&self, rows: impl IntoIterator<Item = &'r [u32]>) -> Result<Set, Stopped> {
        self.set_of_keys(rows.into_iter().map(|row| row.iter().copied().map(key_of).collect()).collect())
    }

    /// All rows with a value of each of these columns, in this order.
    pub fn product(&self, columns: &[Vec<u32>]) -> Result<Set, Stopped> {
        let mut columns = columns.to_vec();
        for column in &mut columns {
            column.sort_unstable();
            column.dedup();
        }
        self.run(columns.len(), |worker| {
            let mut below = UNIT;
            for column in columns.iter().rev() {
                worker.keep(below);
                let mut list = EMPTY;
                for &value in column.iter().rev() {
                    worker.keep(list);
                    list = worker.make(key_of(value), below, list)?;
                    worker.release(1);
                }
                worker.release(1);
                below = list;
            }
            Ok(below)
        })
    }

    pub(crate) fn set_of_keys(&self, mut rows: Vec<Vec<u64>>) -> Result<Set, Stopped> {
        rows.sort_unstable();
        rows.dedup();
        let width = rows.first().map_or(0, Vec::len);
        debug_assert!(rows.iter().all(|row| row.len() == width), "rows have the same width");
        self.run(width, |worker| build(worker, &rows, 0))
    }

    /// Does a set have this row?
    pub fn contains(&self, set: &Set, row: &[u32]) -> bool {
        let store = self.store();
        let mut id = set.id;
        for &value in row {
            while id > UNIT && store.table.node(id).key < key_of(value) {
                id = store.table.node(id).right;
            }
            if id <= UNIT || store.table.node(id).key != key_of(value) {
                return false;
            }
            id = store.table.node(id).down;
        }
        id == UNIT
    }

    /// How many rows a set has. Counts of its parts are remembered until the next collection.
    pub fn count(&self, set: &Set) -> Result<UBig, Stopped> {
        let store = self.store();
        let width = self.width(set);
        let deep = 64 * 1024 + width * 1024;
        let mut counted = self.counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Counted { round, short, long } = &mut *counted;
        if *round != self.collections() || short.len() + long.len() > MOST_COUNTED {
            *round = self.collections();
            short.clear();
            long.clear();
        }
        let lists = Cell::new(1_u32);
        let check = || {
            let number = lists.replace(lists.get().wrapping_add(1));
            if number.is_multiple_of(LISTS_PER_POLL) { self.control().check() } else { Ok(()) }
        };
        stacker::maybe_grow(deep, 2 * deep, || {
            // Most counts fit into two words, which are several times faster than integers of any length.
            if let Some(count) = count_below(&store, set.id, short, &u128::checked_add, &check)? {
                return Ok(UBig::from(count));
            }
            let add = |one: UBig, other: UBig| Some(one + other);
            let count = count_below(&store, set.id, long, &add, &check)?;
            Ok(count.expect("integers of any length do not overflow"))
        })
    }

    /// How many rows a set has, when the control has ended the job; nothing when there are more nodes than that.
    pub fn count_after_all(&self, set: &Set, most_nodes: usize) -> Option<UBig> {
        if self.nodes(set) > most_nodes {
            return None;
        }
        let deep = 64 * 1024 + self.width(set) * 1024;
        let store = self.store();
        let add = |one: UBig, other: UBig| Some(one + other);
        stacker::maybe_grow(deep, 2 * deep, || {
            count_below(&store, set.id, &mut HashMap::default(), &add, &|| Ok(())).ok().flatten()
        })
    }

    /// How many nodes a set has, without the two leaves.
    pub fn nodes(&self, set: &Set) -> usize {
        self.nodes_of(std::iter::once(set))
    }

    /// How many nodes sets have together, without the two leaves.
    pub fn nodes_of<'s>(&self, sets: impl Iterator<Item = &'s Set>) -> usize {
        self.store().table.mark(sets.map(|set| set.id)).1 - 2
    }

    /// The rows of a set, ascending.
    pub fn rows(&self, set: &Set) -> Rows {
        let mut rows = Rows { store: self.store(), _set: set.clone(), path: Vec::new(), row: Vec::new(), ended: false };
        match set.id {
            EMPTY => rows.ended = true,
            id => rows.descend(id),
        }
        rows
    }
}

/// After this many lists a count polls: about as much work as between two polls of an operation.
const LISTS_PER_POLL: u32 = 512;

/// How many rows a list has; nothing if an addition overflows.
fn count_below<N: Clone + From<u8>>(
    store: &Store,
    list: NodeId,
    known: &mut HashMap<NodeId, N, foldhash::fast::FixedState>,
    add: &impl Fn(N, N) -> Option<N>,
    check: &impl Fn() -> Result<(), Stopped>,
) -> Result<Option<N>, Stopped> {
    if list <= UNIT {
        return Ok(Some(N::from(list as u8)));
    }
    if let Some(count) = known.get(&list) {
        return Ok(Some(count.clone()));
    }
    check()?;
    // Along the list as far as it is new, and back.
    let mut new = Vec::new();
    let mut id = list;
    let mut sum = loop {
        match known.get(&id) {
            Some(count) => break count.clone(),
            None if id == EMPTY => break N::from(0),
            None => new.push(id),
        }
        id = store.table.node(id).right;
    };
    for id in new.into_iter().rev() {
        let Some(below) = count_below(store, store.table.node(id).down, known, add, check)? else { return Ok(None) };
        let Some(both) = add(sum, below) else { return Ok(None) };
        sum = both;
        known.insert(id, sum.clone());
    }
    Ok(Some(sum))
}

/// The set of rows from a slot on; rows are sorted.
fn build(worker: &mut Worker, rows: &[Vec<u64>], slot: usize) -> Outcome {
    let Some(first) = rows.first() else { return Ok(EMPTY) };
    if first.len() == slot {
        return Ok(UNIT);
    }
    let mut end = rows.len();
    let mut tail = EMPTY;
    while end > 0 {
        let key = rows[end - 1][slot];
        let start = rows[..end].partition_point(|row| row[slot] < key);
        worker.keep(tail);
        worker.poll()?;
        let below = build(worker, &rows[start..end], slot + 1)?;
        tail = worker.make(key, below, tail)?;
        worker.release(1);
        end = start;
    }
    Ok(tail)
}

/// The rows of a set, ascending.
///
/// The set is alive meanwhile. Collections do not change its nodes, and a table that was replaced by a larger one has
/// them as well.
pub struct Rows {
    store: Arc<Store>,
    _set: Set,
    path: Vec<NodeId>,
    row: Vec<u32>,
    ended: bool,
}

impl Rows {
    fn descend(&mut self, mut id: NodeId) {
        while id != UNIT {
            let node = self.store.table.node(id);
            self.path.push(id);
            self.row.push(value_of(node.key));
            id = node.down;
        }
    }
}

impl Iterator for Rows {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        if self.ended {
            return None;
        }
        let row = self.row.clone();
        self.ended = true;
        while let Some(id) = self.path.pop() {
            self.row.pop();
            let right = self.store.table.node(id).right;
            if right != EMPTY {
                self.ended = false;
                self.descend(right);
                break;
            }
        }
        Some(row)
    }
}
