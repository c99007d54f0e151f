//! The index of the store: from the hash of a row to its position.
//!
//! Thirty-two bits an entry: the number of a state plus one and, in the bits that numbers do not need yet, a few bits
//! of the hash, so that a row is seldom read needlessly. Collisions go to the next entry (linear probing), the first
//! entry is the hash scaled to the length of the index, which need not be a power of two.
//!
//! # Growing
//!
//! When the positions that the index can take run out, it is freed, a longer one is allocated, and every row is entered
//! again, on all cores, with prefetching. Interrupted, it is left unusable, and takes no more positions.
//!
//! # Memory
//!
//! The bound is one and a half times the packed row plus four bytes a state. The rows take their own size, so the index
//! may take four bytes and half a row; load and growth factor are chosen for that to hold even just after growing (rows
//! of 4 bytes grow by 1.21, of 6 by 1.41, of 16 by 2). It does not hold for sets of less than some 100 000 states: one
//! segment of 4096 rows and 4096 entries are the least, and the last segment is seldom full. Claim bits are extra, when
//! a search needs them.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::thread;

use trefoil_control::{Control, Stopped};

use crate::packing::Packing;
use crate::rows::{SEGMENT_ROWS, Segment, atomics32, prefetch};
use crate::sync::{AtomicU32, Ordering};

/// The greatest number of positions; a number plus one fits 32 bits.
const MOST_POSITIONS: u64 = u32::MAX as u64 - 1;

/// The least length of an index.
pub(crate) const LEAST_INDEX: usize = if cfg!(test) { 8 } else { 4096 };

/// Rows that are hashed and prefetched before the first of them is entered, when the index is built again.
const REBUILD_BATCH: usize = 32;

/// Entries, and the segments that they point into.
pub(crate) struct Index {
    pub(crate) entries: Box<[AtomicU32]>,
    /// Bits of an entry that hold the number; the rest holds bits of the hash.
    id_bits: u32,
    /// As many as `limit` needs, each allocated when its first position is assigned.
    pub(crate) segments: Vec<OnceLock<Segment>>,
    /// Positions below this may be assigned. Zero when building the index again was interrupted: it is not usable then.
    pub(crate) limit: u32,
}

/// How full the index gets, for rows of this many bytes.
fn greatest_load(row_bytes: usize) -> f64 {
    match row_bytes {
        0..8 => 0.85,
        8..16 => 0.78,
        _ => 0.7,
    }
}

/// By what the index grows: as much as the promise about memory allows.
fn growth(row_bytes: usize) -> f64 {
    // A little less than promised, to leave room for the last segment.
    let bytes_per_state = 0.47 * row_bytes as f64 + 3.85;
    (bytes_per_state * greatest_load(row_bytes) / 4.0).clamp(1.1, 2.0)
}

const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// The two halves of the product, folded: every bit of the result depends on every bit of the argument.
#[inline]
fn fold(value: u64, multiplier: u64) -> u64 {
    let product = u128::from(value) * u128::from(multiplier);
    (product as u64) ^ (product >> 64) as u64
}

/// The hash of a packed row.
#[inline]
pub(crate) fn hash(words: &[u64]) -> u64 {
    let mut mixed = 0x2545_f491_4f6c_dd1d;
    for &word in words {
        mixed = fold(mixed ^ word, MULTIPLIERS[0]);
    }
    fold(mixed ^ MULTIPLIERS[0], MULTIPLIERS[1])
}

/// The length of the index that replaces one of this length. Where the usual length would need another bit for numbers
/// that are unlikely to be used soon, the index is made shorter, because a bit of the hash is worth more then: at 2^30
/// states only two are left.
fn next_len(len: usize, row_bytes: usize) -> usize {
    const SCARCE: u32 = 26;
    let next = ((len as f64 * growth(row_bytes)) as usize).max(len + 1);
    let (now, then) = (limit_of(len, row_bytes), limit_of(next, row_bytes));
    let bits = u32::BITS - now.leading_zeros();
    let most = ((1u64 << bits) - 1) as u32;
    if bits >= SCARCE && then > most && f64::from(most) > 1.1 * f64::from(now) {
        let mut shorter = (f64::from(most) / greatest_load(row_bytes)) as usize;
        while limit_of(shorter, row_bytes) > most {
            shorter -= 1;
        }
        return shorter;
    }
    next
}

/// How many positions an index of this length can take.
fn limit_of(len: usize, row_bytes: usize) -> u32 {
    ((len as f64 * greatest_load(row_bytes)) as u64).min(MOST_POSITIONS) as u32
}

impl Index {
    /// An empty index of this length, over segments that may be in use.
    pub(crate) fn new(len: usize, mut segments: Vec<OnceLock<Segment>>, row_bytes: usize) -> Index {
        let limit = limit_of(len, row_bytes);
        segments.resize_with((limit as usize).div_ceil(SEGMENT_ROWS), OnceLock::new);
        Index { entries: atomics32(len), id_bits: u32::BITS - limit.leading_zeros(), segments, limit }
    }

    /// Makes room for more positions. `used`: the positions that are published.
    pub(crate) fn grow(
        &mut self,
        packing: &Packing,
        used: &[Range<u32>],
        threads: usize,
        control: &Control,
    ) -> Result<(), Stopped> {
        if u64::from(self.limit) >= MOST_POSITIONS {
            return Err(control.out_of_numbers());
        }
        let (row_bytes, old_len) = (packing.bytes(), self.entries.len());
        let len = next_len(old_len, row_bytes);
        control.afford((len - old_len) * 4)?;
        // The old entries are freed before the new ones are allocated, so the peak is the new index alone.
        self.entries = Box::default();
        let segments = std::mem::take(&mut self.segments);
        let fresh = Index::new(len, segments, row_bytes);
        let limit = fresh.limit;
        *self = Index { limit: 0, ..fresh };
        self.rebuild(packing, used, threads, control)?;
        self.limit = limit;
        Ok(())
    }

    /// Bytes allocated for rows and entries.
    pub(crate) fn bytes(&self) -> usize {
        let segments = self.segments.iter().filter_map(OnceLock::get);
        self.entries.len() * 4 + segments.map(Segment::row_bytes).sum::<usize>()
    }

    #[inline]
    pub(crate) fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.entries.len() as u128) >> 64) as usize
    }

    #[inline]
    pub(crate) fn tag(&self, hash: u64) -> u32 {
        ((hash & 0xffff_ffff) << self.id_bits) as u32
    }

    /// The bits of an entry that hold the number.
    #[inline]
    pub(crate) fn id_mask(&self) -> u32 {
        ((1u64 << self.id_bits) - 1) as u32
    }

    #[inline]
    pub(crate) fn segment(&self, id: u32) -> &Segment {
        self.segments[id as usize / SEGMENT_ROWS].get().expect("positions are assigned after their segment is made")
    }

    /// The length of an index with room for this many positions, and some more.
    pub(crate) fn room_for(positions: u32, row_bytes: usize) -> usize {
        let mut len = LEAST_INDEX;
        let wanted = (u64::from(positions) + LEAST_INDEX as u64 / 2).min(MOST_POSITIONS);
        while u64::from(limit_of(len, row_bytes)) < wanted {
            len = next_len(len, row_bytes);
        }
        len
    }

    /// Enters every published row into an empty index.
    pub(crate) fn rebuild(
        &self,
        packing: &Packing,
        used: &[Range<u32>],
        threads: usize,
        control: &Control,
    ) -> Result<(), Stopped> {
        const PIECE: u32 = 1 << 13;
        let pieces: Vec<Range<u32>> = used
            .iter()
            .flat_map(|range| {
                range.clone().step_by(PIECE as usize).map(|start| start..start.saturating_add(PIECE).min(range.end))
            })
            .collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                control.check()?;
                self.enter_all(packing, piece.clone());
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(pieces.len())).map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().map(|other| other.join().expect("entering rows does not panic")).fold(own, Result::and)
        })
    }

    fn enter_all(&self, packing: &Packing, piece: Range<u32>) {
        let row_bytes = packing.bytes();
        let mut words = vec![0; packing.words()];
        let mut hashes = [0u64; REBUILD_BATCH];
        for start in piece.clone().step_by(REBUILD_BATCH) {
            let end = start.saturating_add(REBUILD_BATCH as u32).min(piece.end);
            for (hashed, id) in hashes.iter_mut().zip(start..end) {
                // SAFETY: the position is published, and the write lock, which `grow` holds, came after that.
                unsafe { self.segment(id).read(id as usize % SEGMENT_ROWS, row_bytes, &mut words) };
                *hashed = hash(&words);
                prefetch(&self.entries[self.home(*hashed)]);
            }
            for (&hashed, id) in hashes.iter().zip(start..end) {
                let entry = self.tag(hashed) | (id + 1);
                let mut at = self.home(hashed);
                // Rows differ, so there is nothing to compare; the lock of the growing thread publishes the entries.
                while self.entries[at].load(Ordering::Relaxed) != 0
                    || self.entries[at].compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed).is_err()
                {
                    at = if at + 1 == self.entries.len() { 0 } else { at + 1 };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_keeps_its_promise_and_bits_of_the_hash_while_it_grows() {
        for row_bytes in 4..40 {
            let mut len = 4096;
            while u64::from(limit_of(len, row_bytes)) < MOST_POSITIONS {
                let (old, next) = (limit_of(len, row_bytes), next_len(len, row_bytes));
                let limit = limit_of(next, row_bytes);
                assert!(next > len && limit > old, "{row_bytes} bytes, {len} entries");
                // Just after growing there is at least one state more than the old index could take.
                assert!(next as f64 * 4.0 <= (0.5 * row_bytes as f64 + 4.0) * f64::from(old) + 64.0);
                // Another bit for numbers comes only when those that the old ones can name are nearly used up.
                if old >= 1 << 26 && limit.leading_zeros() < old.leading_zeros() {
                    assert!(f64::from(old) * 1.1 >= f64::from(u32::MAX >> old.leading_zeros()), "{old} then {limit}");
                }
                len = next;
            }
        }
    }
}
