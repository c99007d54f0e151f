//! Lists of states to expand, as ranges of consecutive numbers.

use std::ops::Range;

use trefoil_system::StateId;

/// The most states in a piece: small enough that threads soon release the index for growing, large enough that taking a
/// piece costs nothing.
const LARGEST_PIECE: u32 = 1024;

/// The least number of states in a piece: less is not worth taking.
const LEAST_PIECE: u32 = 16;

/// A list of states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    ranges: Vec<Range<u32>>,
}

impl Frontier {
    #[inline]
    pub(crate) fn push(&mut self, state: StateId) {
        if let Some(last) = self.ranges.last_mut()
            && last.end == state.0
        {
            last.end += 1;
        } else {
            self.ranges.push(state.0..state.0 + 1);
        }
    }

    /// The ranges, in the order in which they came.
    pub(crate) fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }

    pub(crate) fn append(&mut self, mut other: Frontier) {
        if self.ranges.is_empty() {
            self.ranges = other.ranges;
        } else {
            self.ranges.append(&mut other.ranges);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many states it has.
    pub(crate) fn len(&self) -> u64 {
        self.ranges.iter().map(|range| u64::from(range.end - range.start)).sum()
    }

    pub(crate) fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + '_ {
        self.ranges.iter().cloned().flatten().map(StateId)
    }

    /// The same states as lists of ranges that `threads` share evenly, each of a moderate number of states. Pieces get
    /// smaller towards the end (each is a part of what is left: guided self-scheduling, after Polychronopoulos and
    /// Kuck, 1987), so that threads finish together whatever their pieces cost.
    pub(crate) fn into_pieces(self, threads: usize) -> Pieces {
        let states = self.len();
        let fair_of = |left: u64| {
            let fair = if threads > 1 { left / (3 * threads as u64) } else { left };
            fair.clamp(u64::from(LEAST_PIECE), u64::from(LARGEST_PIECE)) as u32
        };
        let mut pieces = Pieces { ranges: Vec::with_capacity(self.ranges.len()), ends: Vec::new(), states };
        let (mut left, mut filled) = (states, 0);
        let mut fair = fair_of(left);
        for mut range in self.ranges {
            while !range.is_empty() {
                let taken = (range.end - range.start).min(fair - filled);
                pieces.ranges.push(range.start..range.start + taken);
                range.start += taken;
                filled += taken;
                if filled == fair {
                    pieces.ends.push(pieces.ranges.len());
                    left -= u64::from(fair);
                    (fair, filled) = (fair_of(left), 0);
                }
            }
        }
        if filled > 0 {
            pieces.ends.push(pieces.ranges.len());
        }
        pieces
    }
}

impl FromIterator<Range<u32>> for Frontier {
    fn from_iter<I: IntoIterator<Item = Range<u32>>>(ranges: I) -> Frontier {
        Frontier { ranges: ranges.into_iter().collect() }
    }
}

/// A frontier cut into pieces.
pub(crate) struct Pieces {
    ranges: Vec<Range<u32>>,
    ends: Vec<usize>,
    /// How many states there are in all.
    pub(crate) states: u64,
}

impl Pieces {
    pub(crate) fn get(&self, index: usize) -> Option<&[Range<u32>]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.ranges[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_frontier_once() {
        for threads in 1..4 {
            let mut frontier = Frontier::default();
            let states: Vec<u32> = (0..5000).filter(|i| i % 7 != 3).chain([4_000_000, 10]).collect();
            states.iter().for_each(|&state| frontier.push(StateId(state)));
            let pieces = frontier.into_pieces(threads);
            assert_eq!(pieces.states, states.len() as u64);
            let mut index = 0;
            let mut again = Vec::new();
            let mut size = LARGEST_PIECE as usize;
            while let Some(piece) = pieces.get(index) {
                let before = again.len();
                again.extend(piece.iter().cloned().flatten());
                assert!(again.len() - before <= size);
                size = again.len() - before;
                index += 1;
            }
            assert_eq!(again, states);
            assert!(threads == 1 || size <= LEAST_PIECE as usize, "the last piece is a small one");
        }
    }
}
