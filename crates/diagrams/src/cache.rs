//! What operations gave: a table of a fixed size that forgets.
//!
//! An entry is the operation with its operands and the result. A new entry replaces whatever was in its place. Threads
//! read and write without waiting: an entry has a sequence number, which is odd while a thread writes it (a *seqlock*,
//! after H.-J. Boehm, *Can seqlocks get along with programming language memory models?*, 2012). A reader that meets an
//! odd number, or another number after reading than before, takes the entry as absent; a writer that meets an odd
//! number does not write. Fences make that exact: a reader never combines the words of two entries. The sequence number
//! has 24 bits, so a reader would have to sleep while eight million entries are written at one place.
//!
//! Operands are numbers of nodes, which a collection gives to other nodes. So a collection keeps an entry only when all
//! nodes in it are alive ([`Cache::retain`]), and a larger cache takes over the entries of the smaller one.

use crate::sync::{AtomicU64, Ordering, fence, zeros};
use crate::table::{NodeId, mix};
use crate::worker::operation::node_operands;

/// An operation and its operands.
pub(crate) type Operands = [u32; 4];

pub(crate) struct Cache {
    /// Three words for each entry: sequence number, operation and third operand; the first two operands; the fourth
    /// operand and the result.
    words: Box<[AtomicU64]>,
    mask: usize,
}

/// Tables that are smaller have eight results for a node.
const SMALL: usize = 1 << 20;
/// Tables that are larger have two.
const LARGE: usize = 1 << 24;

const SEQUENCE: u32 = 40;
const REST: u64 = (1 << SEQUENCE) - 1;

impl Cache {
    /// A cache with this many entries, rounded up to a power of two.
    pub(crate) fn new(entries: usize) -> Cache {
        let entries = entries.next_power_of_two();
        Cache { words: zeros(3 * entries), mask: entries - 1 }
    }

    /// How many entries a cache has beside a table of `nodes` nodes. Operations have several times as many results as
    /// there are nodes, and a result that was forgotten is often a whole subproblem to be solved again.
    pub(crate) fn entries_for(nodes: usize) -> usize {
        match nodes {
            0..SMALL => nodes * 8,
            SMALL..LARGE => nodes * 4,
            _ => nodes * 2,
        }
    }

    /// How many bytes a cache of this many entries takes.
    pub(crate) fn bytes(entries: usize) -> usize {
        entries * 24
    }

    #[inline]
    fn place(&self, operation: u8, [a, b, c, d]: Operands) -> (usize, u64, u64) {
        let head = u64::from(operation) << 32 | u64::from(c);
        let pair = u64::from(a) << 32 | u64::from(b);
        let hash = mix(pair, head.rotate_left(20) ^ u64::from(d));
        ((hash as usize & self.mask) * 3, head, pair)
    }

    /// The result of an operation, if it is known.
    #[inline]
    pub(crate) fn get(&self, operation: u8, operands: Operands) -> Option<NodeId> {
        let (at, head, pair) = self.place(operation, operands);
        let entry = &self.words[at..at + 3];
        let before = entry[0].load(Ordering::Acquire);
        if before & REST != head || is_odd(before) {
            return None;
        }
        let known = entry[1].load(Ordering::Relaxed);
        let last = entry[2].load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let steady = entry[0].load(Ordering::Relaxed) == before;
        (steady && known == pair && last >> 32 == u64::from(operands[3])).then_some(last as u32)
    }

    /// Keeps a result.
    #[inline]
    pub(crate) fn put(&self, operation: u8, operands: Operands, result: NodeId) {
        let (at, head, pair) = self.place(operation, operands);
        let entry = &self.words[at..at + 3];
        let before = entry[0].load(Ordering::Relaxed);
        if is_odd(before) {
            return;
        }
        let busy = before.wrapping_add(1 << SEQUENCE);
        if entry[0].compare_exchange(before, busy, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        fence(Ordering::Release);
        entry[1].store(pair, Ordering::Relaxed);
        entry[2].store(u64::from(operands[3]) << 32 | u64::from(result), Ordering::Relaxed);
        entry[0].store((busy & !REST).wrapping_add(1 << SEQUENCE) | head, Ordering::Release);
    }

    /// Forgets the entries with a node that is not marked. All threads are stopped.
    pub(crate) fn retain(&self, marks: &[u64]) {
        for entry in self.words.chunks_exact(3) {
            if !Known::read(entry).is_some_and(|known| known.is_alive(marks)) {
                entry.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            }
        }
    }

    /// Takes over the entries of another cache whose nodes are all marked. All threads are stopped.
    pub(crate) fn adopt(&self, other: &Cache, marks: &[u64]) {
        for entry in other.words.chunks_exact(3) {
            if let Some(Known { operation, operands, result }) =
                Known::read(entry).filter(|known| known.is_alive(marks))
            {
                self.put(operation, operands, result);
            }
        }
    }
}

/// What an entry says.
struct Known {
    operation: u8,
    operands: Operands,
    result: NodeId,
}

impl Known {
    fn read(entry: &[AtomicU64]) -> Option<Known> {
        let word = |at: usize| entry[at].load(Ordering::Relaxed);
        let (head, pair, last) = (word(0) & REST, word(1), word(2));
        let operands = [(pair >> 32) as u32, pair as u32, head as u32, (last >> 32) as u32];
        // No operation has the number 0: the entry is free.
        (head >> 32 != 0).then_some(Known { operation: (head >> 32) as u8, operands, result: last as u32 })
    }

    fn is_alive(&self, marks: &[u64]) -> bool {
        let is_marked = |id: NodeId| marks[id as usize / 64] >> (id % 64) & 1 == 1;
        self.operands[..node_operands(self.operation)].iter().all(|&id| is_marked(id)) && is_marked(self.result)
    }
}

fn is_odd(word: u64) -> bool {
    word >> SEQUENCE & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The result of these operands in this test.
    fn result([a, b, c, d]: Operands) -> NodeId {
        a * 1000 + b * 100 + c * 10 + d
    }

    #[test]
    fn a_reader_never_sees_half_an_entry() {
        let entries: [Operands; 2] = [[1, 2, 3, 4], [5, 6, 3, 4]];
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            // One entry, so that everything meets there.
            let cache = Arc::new(Cache::new(1));
            let writer = {
                let cache = cache.clone();
                loom::thread::spawn(move || entries.iter().for_each(|&entry| cache.put(1, entry, result(entry))))
            };
            cache.put(1, entries[1], result(entries[1]));
            for entry in entries {
                assert!(cache.get(1, entry).is_none_or(|known| known == result(entry)));
            }
            writer.join().expect("no panic");
            let known: Vec<_> = entries.iter().filter_map(|&entry| cache.get(1, entry)).collect();
            assert_eq!(known.len(), 1, "the last of the writers left an entry");
        });
    }
}
