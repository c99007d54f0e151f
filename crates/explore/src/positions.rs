//! Which positions of the store are in use, and which thread gets the next ones.
//!
//! Threads take blocks of consecutive positions and return what they did not use. Returned positions are taken first,
//! so whenever no thread holds a block, all positions below the bound are either in use or in a short list of free
//! ranges.

use std::ops::Range;
use std::sync::PoisonError;

use crate::sync::{Mutex, MutexGuard};

/// Positions assigned to a thread at a time; a divisor of a segment.
const BLOCK: u32 = if cfg!(test) { 2 } else { 256 };

#[derive(Default)]
pub(crate) struct Positions {
    /// The first position that was never assigned.
    next: u32,
    /// Positions that were assigned and returned unused.
    free: Vec<Range<u32>>,
}

/// No update is half done at a point where a thread can panic.
pub(crate) fn lock(positions: &Mutex<Positions>) -> MutexGuard<'_, Positions> {
    positions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Positions {
    /// Above every position that was assigned.
    pub(crate) fn bound(&self) -> u32 {
        self.next
    }

    /// A block below a limit; none when all are taken. A limit of 0 means that nothing may be taken, not even returned
    /// positions.
    pub(crate) fn take(&mut self, limit: u32) -> Option<Range<u32>> {
        if limit == 0 {
            return None;
        }
        if let Some(free) = self.free.pop() {
            return Some(free);
        }
        let start = self.next;
        if limit - start < BLOCK {
            return None;
        }
        self.next += BLOCK;
        Some(start..start + BLOCK)
    }

    /// Puts the unused rest of a block back.
    pub(crate) fn give_back(&mut self, left: Range<u32>) {
        if !left.is_empty() {
            self.free.push(left);
        }
    }

    /// The positions that are published; no thread may hold a block.
    pub(crate) fn used(&mut self) -> Vec<Range<u32>> {
        self.free.sort_unstable_by_key(|range| range.start);
        let mut used = Vec::with_capacity(self.free.len() + 1);
        let mut from = 0;
        for range in &self.free {
            used.push(from..range.start);
            from = range.end;
        }
        used.push(from..self.next);
        used.retain(|range| !range.is_empty());
        // The lowest position is to be taken first.
        self.free.reverse();
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_first_and_is_not_used() {
        let mut positions = Positions::default();
        assert_eq!(positions.take(0), None);
        let blocks: Vec<Range<u32>> = std::iter::from_fn(|| positions.take(2 * BLOCK + 1)).collect();
        assert_eq!(blocks, [0..BLOCK, BLOCK..2 * BLOCK]);
        positions.give_back(BLOCK + 1..2 * BLOCK);
        positions.give_back(0..0);
        positions.give_back(1..BLOCK);
        assert_eq!(positions.used(), [0..1, BLOCK..BLOCK + 1]);
        assert_eq!(positions.take(0), None, "an index that is not usable takes nothing");
        assert_eq!(positions.take(2 * BLOCK + 1), Some(1..BLOCK));
        let used = positions.used();
        assert!(used.len() == 1 && used[0] == (0..BLOCK + 1), "{used:?}");
        assert_eq!(positions.bound(), 2 * BLOCK);
    }
}
