//! Sequences of words, each with a number: the cache of one thread.
//!
//! The contents of a part of a row and the colour of a point are short sequences of words, and the same few occur again
//! and again, in each state that is drawn and for each of its steps. A thread looks them up in its own open table
//! without a lock: a digest, one access, one comparison. The caller inserts missing sequences.
//!
//! Sequences with different *tags* are different. The words lie one behind the other; when there are too many, the
//! thread forgets all ([`Numbers::is_large`], [`Numbers::clear`]), so its memory is bounded for every model.

/// Words after which a memory is large.
const MOST_WORDS: usize = 1 << 21;

/// Places of an empty table; a power of two.
const FIRST_PLACES: usize = 1 << 8;

/// Sequences of words, each with a tag and a number.
#[derive(Default)]
pub(super) struct Numbers {
    /// Entries by digest, plus one; zero where there is none.
    places: Vec<u32>,
    entries: Vec<Entry>,
    words: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    digest: u64,
    tag: u32,
    number: u32,
    begin: u32,
    end: u32,
}

/// A word that depends on the tag and all words.
#[inline]
pub(super) fn digest(tag: u32, words: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let start = (u64::from(tag) << 32 | words.len() as u64).wrapping_mul(FACTOR);
    let all = words.iter().fold(start, |all, &word| (all.rotate_left(27) ^ u64::from(word)).wrapping_mul(FACTOR));
    all ^ all >> 32
}

impl Numbers {
    /// The number of these words with this digest, if the table has them.
    #[inline]
    pub(super) fn get(&self, digest: u64, tag: u32, words: &[u32]) -> Option<u32> {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = digest as usize & mask;
        loop {
            let entry = &self.entries[(*self.places.get(place)?).checked_sub(1)? as usize];
            if entry.digest == digest && entry.tag == tag && self.is(entry, words) {
                return Some(entry.number);
            }
            place = (place + 1) & mask;
        }
    }

    /// Are these the words of an entry? Entries are short, so a loop is faster than a call.
    #[inline]
    fn is(&self, entry: &Entry, words: &[u32]) -> bool {
        let known = &self.words[entry.begin as usize..entry.end as usize];
        known.len() == words.len() && known.iter().zip(words).all(|(one, other)| one == other)
    }

    /// Words that are not there get a number.
    pub(super) fn insert(&mut self, digest: u64, tag: u32, words: &[u32], number: u32) {
        if 2 * self.entries.len() >= self.places.len() {
            let places = (2 * self.places.len()).max(FIRST_PLACES);
            self.places.clear();
            self.places.resize(places, 0);
            for at in 0..self.entries.len() {
                self.put(at);
            }
        }
        let begin = self.words.len() as u32;
        self.words.extend_from_slice(words);
        self.entries.push(Entry { digest, tag, number, begin, end: self.words.len() as u32 });
        self.put(self.entries.len() - 1);
    }

    /// Lets the place of an entry name it.
    fn put(&mut self, at: usize) {
        let mask = self.places.len() - 1;
        let mut place = self.entries[at].digest as usize & mask;
        while self.places[place] != 0 {
            place = (place + 1) & mask;
        }
        self.places[place] = at as u32 + 1;
    }

    /// Is it time to forget?
    pub(super) fn is_large(&self) -> bool {
        self.words.len() + self.entries.len() > MOST_WORDS
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Numbers::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_by_tag_and_length() {
        let mut numbers = Numbers::default();
        let mut all: Vec<(u32, Vec<u32>)> = Vec::new();
        for tag in 0..3 {
            for length in 0..6 {
                for word in 0..50 {
                    all.push((tag, (0..length).map(|at| (word >> at) * (at + 1)).collect()));
                }
            }
        }
        all.sort();
        all.dedup();
        for (number, (tag, words)) in (0..).zip(&all) {
            let digest = digest(*tag, words);
            assert_eq!(numbers.get(digest, *tag, words), None);
            numbers.insert(digest, *tag, words, number);
        }
        // Equal digests decide nothing.
        numbers.insert(digest(0, &all[0].1), 7, &[7], 4711);
        for (number, (tag, words)) in (0..).zip(&all) {
            assert_eq!(numbers.get(digest(*tag, words), *tag, words), Some(number));
        }
        assert_eq!(numbers.get(digest(0, &all[0].1), 7, &[7]), Some(4711));
        assert!(!numbers.is_large());
        numbers.clear();
        assert_eq!(numbers.get(digest(0, &[]), 0, &[]), None);
    }
}
