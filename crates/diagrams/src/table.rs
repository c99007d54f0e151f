//! The unique table: every node once.
//!
//! A node has a key, a node below it (`down`: what may follow the key in the next slot) and a node beside it (`right`:
//! the other keys of this slot, all greater). Nodes are numbered; 0 is the empty set and 1 the set whose only row is
//! empty. Nodes lie in an array and never move. An index of twice as many words maps a node's hash to its number:
//! a word is 32 bits of the hash and the number, 0 when it is free, found by linear probing.
//!
//! # Many threads
//!
//! A thread takes numbers from a *region* of 512 nodes that no other thread uses. It writes the node first and then
//! publishes the number in the index by a compare-and-swap with release; a thread that meets the number has read it
//! with acquire and so sees the node. When two threads make the same node, one of them loses the swap, meets the
//! other's number at the same place, and keeps its own number for its next node. So no lock is taken, and no node is
//! ever there twice: words of the index only change from free to taken while threads work.
//!
//! # Collections
//!
//! While all threads are stopped ([`crate::gate`]), [`Table::mark`] follows the roots, and [`Table::sweep`] writes the
//! index anew with the marked nodes; the numbers of the others are free again. Dead nodes are not touched. Cost: the
//! size of the index and the marked nodes.

use crate::sync::{AtomicU64, AtomicUsize, Ordering, zeros};

/// The number of a node.
pub(crate) type NodeId = u32;

/// The set without rows.
pub(crate) const EMPTY: NodeId = 0;
/// The set whose only row has no slots.
pub(crate) const UNIT: NodeId = 1;

/// The key that stands for "the value is copied" in a slot that a relation writes. It is less than all values.
pub(crate) const COPIED: u64 = 0;

/// The key of a value.
#[inline]
pub(crate) fn key_of(value: u32) -> u64 {
    u64::from(value) + 1
}

/// The value of a key that is not [`COPIED`].
#[inline]
pub(crate) fn value_of(key: u64) -> u32 {
    (key - 1) as u32
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) key: u64,
    pub(crate) down: NodeId,
    pub(crate) right: NodeId,
}

/// How many nodes a region has.
const REGION: usize = if cfg!(test) { 64 } else { 512 };

/// The part of the table in which a thread makes nodes.
#[derive(Debug, Default)]
pub(crate) struct Region {
    next: usize,
    end: usize,
}

/// The table has no free number.
#[derive(Debug)]
pub(crate) struct Full;

pub(crate) struct Table {
    /// For each node its children and its key.
    nodes: Box<[AtomicU64]>,
    index: Box<[AtomicU64]>,
    /// A bit for each node that is in use; a word belongs to the thread that has its region.
    used: Box<[AtomicU64]>,
    /// The next region that is given to a thread.
    region: AtomicUsize,
}

const TAG: u64 = 0xffff_ffff_0000_0000;

#[inline]
pub(crate) fn mix(one: u64, other: u64) -> u64 {
    let product = u128::from(one ^ 0x9e37_79b9_7f4a_7c15) * u128::from(other ^ 0xd1b5_4a32_d192_ed03);
    let folded = (product >> 64) as u64 ^ product as u64;
    (folded ^ (folded >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ folded >> 32
}

impl Table {
    /// A table for this many nodes, rounded up to a power of two.
    pub(crate) fn new(nodes: usize) -> Table {
        let capacity = nodes.max(REGION).next_power_of_two();
        let table = Table {
            nodes: zeros(2 * capacity),
            index: zeros(2 * capacity),
            used: zeros(capacity / 64),
            region: AtomicUsize::new(0),
        };
        table.used[0].store(0b11, Ordering::Relaxed);
        table
    }

    /// How many bytes a table of this many nodes takes.
    pub(crate) fn bytes(nodes: usize) -> usize {
        nodes * 32 + nodes / 8
    }

    /// How many nodes it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.nodes.len() / 2
    }

    /// How many nodes are used, at most; regions in which threads still work count as full.
    pub(crate) fn used(&self, live: usize) -> usize {
        (self.region.load(Ordering::Relaxed) * REGION).min(self.capacity()).max(live)
    }

    /// The node with a number, other than [`EMPTY`] and [`UNIT`].
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Node {
        debug_assert!(id > UNIT, "a node that is not a leaf");
        let at = id as usize * 2;
        let children = self.nodes[at].load(Ordering::Relaxed);
        let key = self.nodes[at + 1].load(Ordering::Relaxed);
        Node { key, down: children as u32, right: (children >> 32) as u32 }
    }

    fn write(&self, id: NodeId, children: u64, key: u64) {
        self.nodes[id as usize * 2].store(children, Ordering::Relaxed);
        self.nodes[id as usize * 2 + 1].store(key, Ordering::Relaxed);
    }

    /// The number of a node, which is made if it is new.
    #[inline]
    pub(crate) fn find_or_make(&self, node: Node, region: &mut Region) -> Result<NodeId, Full> {
        let children = u64::from(node.right) << 32 | u64::from(node.down);
        let hash = mix(children, node.key);
        let mask = self.index.len() - 1;
        let mut at = hash as usize & mask;
        let mut own = None;
        loop {
            let mut word = self.index[at].load(Ordering::Acquire);
            if word == 0 {
                let id = match own {
                    Some(id) => id,
                    None => {
                        let id = self.free_number(region).ok_or(Full)?;
                        self.write(id, children, node.key);
                        *own.insert(id)
                    }
                };
                let new = hash & TAG | u64::from(id);
                match self.index[at].compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        self.take(id, region);
                        return Ok(id);
                    }
                    Err(other) => word = other,
                }
            }
            if word & TAG == hash & TAG {
                let id = word as u32;
                let known = id as usize * 2;
                if self.nodes[known].load(Ordering::Relaxed) == children
                    && self.nodes[known + 1].load(Ordering::Relaxed) == node.key
                {
                    return Ok(id);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// A number of the region, or of another one, that is free; it stays free until it is taken.
    fn free_number(&self, region: &mut Region) -> Option<NodeId> {
        loop {
            while region.next < region.end {
                let free = !self.used[region.next / 64].load(Ordering::Relaxed) >> (region.next % 64);
                if free == 0 {
                    region.next = (region.next / 64 + 1) * 64;
                    continue;
                }
                region.next += free.trailing_zeros() as usize;
                return Some(region.next as NodeId);
            }
            let start = self.region.fetch_add(1, Ordering::Relaxed) * REGION;
            if start >= self.capacity() {
                return None;
            }
            *region = Region { next: start, end: start + REGION };
        }
    }

    fn take(&self, id: NodeId, region: &mut Region) {
        let word = &self.used[id as usize / 64];
        // No other thread writes the words of this region.
        word.store(word.load(Ordering::Relaxed) | 1 << (id % 64), Ordering::Relaxed);
        region.next = id as usize + 1;
    }

    /// All nodes that are in use. All threads are stopped.
    pub(crate) fn in_use(&self) -> Vec<u64> {
        self.used.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// The nodes below roots, and how many they are. All threads are stopped.
    pub(crate) fn mark(&self, roots: impl Iterator<Item = NodeId>) -> (Vec<u64>, usize) {
        let mut marks = vec![0u64; self.used.len()];
        marks[0] = 0b11;
        let mut live = 2;
        let mut waiting: Vec<NodeId> = Vec::new();
        for root in roots {
            waiting.push(root);
            while let Some(mut id) = waiting.pop() {
                loop {
                    let (word, bit) = (id as usize / 64, 1u64 << (id % 64));
                    if marks[word] & bit != 0 {
                        break;
                    }
                    marks[word] |= bit;
                    live += 1;
                    let node = self.node(id);
                    waiting.push(node.down);
                    id = node.right;
                }
            }
        }
        (marks, live)
    }

    /// Frees all nodes but the marked ones. All threads are stopped, and give up their regions.
    pub(crate) fn sweep(&self, marks: &[u64]) {
        self.index.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.adopt(marks, self);
    }

    /// A larger table with the marked nodes under the same numbers.
    pub(crate) fn grown(&self, nodes: usize, marks: &[u64]) -> Table {
        let table = Table::new(nodes);
        table.adopt(marks, self);
        table
    }

    /// Takes the marked nodes of a table, which may be itself.
    fn adopt(&self, marks: &[u64], from: &Table) {
        let mask = self.index.len() - 1;
        for (at, &word) in marks.iter().enumerate() {
            self.used[at].store(word, Ordering::Relaxed);
            let mut left = if at == 0 { word & !0b11 } else { word };
            while left != 0 {
                let id = (at * 64) as u32 + left.trailing_zeros();
                left &= left - 1;
                let (children, key) = (&from.nodes[id as usize * 2], &from.nodes[id as usize * 2 + 1]);
                let (children, key) = (children.load(Ordering::Relaxed), key.load(Ordering::Relaxed));
                self.write(id, children, key);
                let hash = mix(children, key);
                let mut place = hash as usize & mask;
                while self.index[place].load(Ordering::Relaxed) != 0 {
                    place = (place + 1) & mask;
                }
                self.index[place].store(hash & TAG | u64::from(id), Ordering::Relaxed);
            }
        }
        self.region.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Makes nodes with these keys above the unit, in this order.
    fn make(table: &Table, keys: &[u64]) -> Vec<NodeId> {
        let mut region = Region::default();
        let node = |&key: &u64| Node { key, down: UNIT, right: EMPTY };
        keys.iter().map(|key| table.find_or_make(node(key), &mut region).expect("room")).collect()
    }

    #[test]
    fn two_threads_make_every_node_once() {
        for (first, second) in [(&[1, 2][..], &[2, 1][..]), (&[1, 1], &[1]), (&[3, 1], &[1, 2])] {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(move || {
                let table = Arc::new(Table::new(128));
                let other = {
                    let table = table.clone();
                    loom::thread::spawn(move || make(&table, second))
                };
                let here = make(&table, first);
                let there = other.join().expect("no panic");
                let all: Vec<(u64, NodeId)> =
                    first.iter().chain(second).copied().zip(here.into_iter().chain(there)).collect();
                for (one, id) in &all {
                    assert_eq!(table.node(*id), Node { key: *one, down: UNIT, right: EMPTY });
                    assert!(all.iter().all(|(other, number)| (one == other) == (id == number)), "{all:?}");
                }
            });
        }
    }
}
