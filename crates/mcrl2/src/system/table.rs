//! Remembered steps of one group: a map from the values that the group reads to its steps, all of them 32-bit numbers
//! in one vector.
//!
//! A record is the key, the number of steps, and for each step its label and the values it writes. Records are found by
//! open addressing over their positions. A table that answers too few questions costs more than it gains; after a
//! trial it is dropped, and the group is evaluated every time. The table of a group that is also remembered in its
//! parts must answer more of them.

use std::hash::{BuildHasher, Hasher};

use trefoil_system::Value;

use super::facts::TableFacts;

/// Questions after which a table is judged, the first time.
const TRIAL: u64 = 1 << 12;

/// A table stays when it answers at least one question in `n`.
const LEAST_HITS: u64 = 4;

/// A table beside those of parts stays when it leaves at most one question in `n` to them.
const MOST_MISSES: u64 = 8;

/// A map from keys of one length to records.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Positions of records, one more than they are; 0 is a free place. A power of two of them.
    places: Vec<u32>,
    records: Vec<Value>,
    length: usize,
    questions: u64,
    hits: u64,
    judged: u64,
    dropped: bool,
    has_parts: bool,
}

/// Where the steps of a record begin, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: usize,
    pub(super) steps: usize,
}

impl Table {
    /// A table of a group that is also remembered in its parts.
    pub(super) fn beside_parts() -> Table {
        Table { has_parts: true, ..Table::default() }
    }

    /// The words of the records.
    pub(super) fn records(&self) -> &[Value] {
        &self.records
    }

    /// What the table takes.
    pub(super) fn bytes(&self) -> u64 {
        4 * (self.places.capacity() + self.records.capacity()) as u64
    }

    /// How many questions it has answered.
    pub(super) fn hits(&self) -> u64 {
        self.hits
    }

    /// Forgets everything, and takes nothing more.
    pub(super) fn drop_all(&mut self) {
        *self = Table { dropped: true, questions: self.questions, hits: self.hits, ..Table::default() };
    }

    /// How often the table was of use.
    pub(super) fn facts(&self) -> TableFacts {
        TableFacts {
            questions: self.questions,
            hits: self.hits,
            entries: self.length as u64,
            bytes: self.bytes(),
            dropped: self.dropped,
        }
    }

    /// The steps for a key, when they are known.
    #[inline]
    pub(super) fn find(&mut self, key: &[Value]) -> Option<Found> {
        self.questions += 1;
        if self.places.is_empty() {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut place = hash(key) as usize & mask;
        loop {
            match self.places[place] {
                0 => return None,
                position => {
                    let start = position as usize - 1;
                    if self.records[start..start + key.len()] == *key {
                        self.hits += 1;
                        return Some(Found {
                            at: start + key.len() + 1,
                            steps: self.records[start + key.len()] as usize,
                        });
                    }
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Adds the steps of a key that is not there; nothing when the table is full or was dropped.
    pub(super) fn insert(&mut self, key: &[Value], steps: usize, words: &[Value]) -> Option<Found> {
        if !self.is_worth_it() {
            return None;
        }
        let start = self.records.len();
        if start + key.len() + 1 + words.len() >= u32::MAX as usize {
            return None;
        }
        if (self.length + 1) * 2 > self.places.len() {
            self.grow(key.len());
        }
        self.records.extend_from_slice(key);
        self.records.push(steps as Value);
        self.records.extend_from_slice(words);
        self.place(key.len(), start);
        self.length += 1;
        Some(Found { at: start + key.len() + 1, steps })
    }

    fn is_worth_it(&mut self) -> bool {
        if !self.dropped && self.questions - self.judged >= TRIAL {
            // The share of hits grows as the search goes on, so a table that is young is judged mildly.
            let is_poor = if self.has_parts {
                (self.questions - self.hits) * MOST_MISSES > self.questions
            } else {
                self.hits * LEAST_HITS < self.questions
            };
            if is_poor {
                self.drop_all();
            } else {
                self.judged = self.questions;
            }
        }
        !self.dropped
    }

    fn place(&mut self, width: usize, start: usize) {
        let mask = self.places.len() - 1;
        let mut place = hash(&self.records[start..start + width]) as usize & mask;
        while self.places[place] != 0 {
            place = (place + 1) & mask;
        }
        self.places[place] = start as u32 + 1;
    }

    fn grow(&mut self, width: usize) {
        let old = std::mem::take(&mut self.places);
        self.places = vec![0; (old.len() * 2).max(16)];
        for position in old.into_iter().filter(|&position| position != 0) {
            self.place(width, position as usize - 1);
        }
    }
}

fn hash(key: &[Value]) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0x7ef0).build_hasher();
    for &value in key {
        hasher.write_u32(value);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_found_with_its_steps() {
        let mut table = Table::default();
        for round in 0..1000u32 {
            assert_eq!(table.find(&[round, round % 7]), None);
            let found = table.insert(&[round, round % 7], 2, &[round + 1, 5, round + 2, 6]).expect("it is used enough");
            assert_eq!(&table.records()[found.at..][..4], &[round + 1, 5, round + 2, 6]);
        }
        for round in 0..1000u32 {
            let found = table.find(&[round, round % 7]).expect("it was inserted");
            assert_eq!((found.steps, table.records()[found.at]), (2, round + 1));
        }
        assert_eq!(table.find(&[1000, 0]), None);
    }

    #[test]
    fn a_table_that_is_seldom_hit_is_dropped() {
        let mut table = Table::default();
        for key in 0..2 * TRIAL as u32 {
            assert_eq!(table.find(&[key]), None);
            table.insert(&[key], 0, &[]);
        }
        assert!(table.dropped && table.records().is_empty());
        assert_eq!(table.find(&[0]), None);
    }
}
