//! Sets of numbers, each kept once and numbered from 1 in the order in which it was first seen.
//!
//! A hash only finds candidates; sets are compared whole, so two numbers are equal exactly when the sets are. Clearing
//! costs what was inserted, not what the table can hold: refinement clears it once for every block it looks at.

use std::hash::Hasher;

/// Interned sets of `T`, given as sorted slices.
pub(super) struct Signatures<T> {
    /// Numbers, 0 for none, below the upper half of the hash.
    table: Vec<u64>,
    entries: Vec<Entry>,
    arena: Vec<T>,
}

/// The bits of a hash that a table keeps beside a number.
const UPPER: u64 = !0 << 32;

struct Entry {
    hash: u64,
    start: usize,
}

/// What can be an element.
pub(super) trait Element: Copy + Ord {
    fn bits(self) -> u64;
}

impl Element for u32 {
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Element for u64 {
    fn bits(self) -> u64 {
        self
    }
}

/// The multiplicative mixing of SplitMix64, chained: the same in every run.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = mixed ^ (mixed >> 29);
    }

    fn finish(&self) -> u64 {
        let mixed = self.0.wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 32)
    }
}

impl<T: Element> Signatures<T> {
    pub(super) fn new() -> Signatures<T> {
        Signatures { table: vec![0; 16], entries: Vec::new(), arena: Vec::new() }
    }

    /// How many sets there are; they have the numbers from 1 to this.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * 8
            + self.entries.capacity() * size_of::<Entry>()
            + self.arena.capacity() * size_of::<T>()
    }

    /// Bytes that a set of this many elements would make this allocate at once; 0 where there is room for it.
    pub(super) fn growth(&self, elements: usize) -> usize {
        let arena = match self.arena.capacity() - self.arena.len() < elements {
            true => (2 * self.arena.capacity()).max(self.arena.len() + elements) * size_of::<T>(),
            false => 0,
        };
        let full = self.entries.len() == self.entries.capacity();
        let entries = if full { 2 * self.entries.capacity() * size_of::<Entry>() } else { 0 };
        let table = if (self.entries.len() + 1) * 2 > self.table.len() { self.table.len() * 16 } else { 0 };
        arena + entries + table
    }

    /// The set with this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &[T] {
        let index = number as usize - 1;
        let end = self.entries.get(index + 1).map_or(self.arena.len(), |entry| entry.start);
        &self.arena[self.entries[index].start..end]
    }

    /// The number of a set.
    pub(super) fn intern(&mut self, set: &[T]) -> u32 {
        debug_assert!(set.is_sorted());
        let mut mix = Mix::default();
        for &element in set {
            mix.write_u64(element.bits());
        }
        let hash = mix.finish();
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let found = self.table[at];
            if found == 0 {
                break;
            }
            if found & UPPER == hash & UPPER && self.get(found as u32) == set {
                return found as u32;
            }
            at = (at + 1) & mask;
        }
        self.entries.push(Entry { hash, start: self.arena.len() });
        self.arena.extend_from_slice(set);
        let number = self.entries.len() as u32;
        self.table[at] = hash & UPPER | u64::from(number);
        if self.entries.len() * 2 > self.table.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        self.table = vec![0; mask + 1];
        for (index, entry) in self.entries.iter().enumerate() {
            let mut at = entry.hash as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = entry.hash & UPPER | (index as u64 + 1);
        }
    }

    /// Forgets all sets and keeps the room.
    pub(super) fn clear(&mut self) {
        if self.entries.len() * 8 > self.table.len() {
            self.table.fill(0);
        } else {
            let mask = self.table.len() - 1;
            // Every occupied place is on the way from some entry's own place to where it ended up.
            for index in 0..self.entries.len() {
                let mut at = self.entries[index].hash as usize & mask;
                while self.table[at] != 0 {
                    self.table[at] = 0;
                    at = (at + 1) & mask;
                }
            }
        }
        self.entries.clear();
        self.arena.clear();
    }
}
