//! Where rows begin that lie one behind the other, in little more than a byte a row.
//!
//! A start is the start of the first row of its block of 16 rows, which takes 4 bytes, plus an offset, which takes one.
//! Where a block is longer than that, starts stand in a list of their own, ascending by row: a vertex to which many
//! edges lead makes few of them. Where many would, blocks have 8 or 4 rows; and where that does not help either,
//! offsets take two bytes, and rows are long enough to make up for it.
//!
//! Cost: 1.25 bytes a row, 1.5 or 2 where rows have more than about 15 or 30 entries, 2.25 where they have more than
//! 60; looking a start up reads two places.

use std::ops::Range;

/// The logarithms of how many rows a block may have, with offsets of a byte.
const BLOCKS: [u32; 3] = [4, 3, 2];

/// Where rows begin and end.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    bases: Vec<u32>,
    /// The logarithm of how many rows a block has.
    block: u32,
    /// One more than there are rows.
    offsets: Offsets,
    /// The starts whose offset is the greatest number, which is none.
    far: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
enum Offsets {
    Byte(Vec<u8>),
    Short(Vec<u16>),
}

impl Rows {
    /// Rows with these starts, ascending; behind them, where the last row ends.
    pub(crate) fn new(starts: Vec<u32>) -> Rows {
        let all = 0..starts.len();
        let is_short = |block: u32| {
            let is_long = |row: usize| starts[row] - starts[row >> block << block] >= u32::from(u8::MAX);
            all.clone().filter(|&row| is_long(row)).count() <= starts.len() / 32
        };
        let short = BLOCKS.into_iter().find(|&block| is_short(block));
        let block = short.unwrap_or(BLOCKS[0]);
        let bases: Vec<u32> = starts.iter().copied().step_by(1 << block).collect();
        let offset = |row: usize| starts[row] - bases[row >> block];
        let mut far = Vec::new();
        let mut take = |row: usize, greatest: u32| {
            let offset = offset(row);
            if offset >= greatest {
                far.push((row as u32, starts[row]));
            }
            offset.min(greatest)
        };
        let offsets = if short.is_some() {
            Offsets::Byte(all.map(|row| take(row, u8::MAX.into()) as u8).collect())
        } else {
            Offsets::Short(all.map(|row| take(row, u16::MAX.into()) as u16).collect())
        };
        Rows { bases, block, offsets, far }
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.offsets {
            Offsets::Byte(offsets) => offsets.len() - 1,
            Offsets::Short(offsets) => offsets.len() - 1,
        }
    }

    /// The places of a row.
    #[inline]
    pub(crate) fn of(&self, row: u32) -> Range<usize> {
        self.start(row as usize)..self.start(row as usize + 1)
    }

    #[inline]
    fn start(&self, row: usize) -> usize {
        let base = self.bases[row >> self.block];
        match &self.offsets {
            Offsets::Byte(offsets) if offsets[row] < u8::MAX => (base + u32::from(offsets[row])) as usize,
            Offsets::Short(offsets) if offsets[row] < u16::MAX => (base + u32::from(offsets[row])) as usize,
            _ => self.far_start(row),
        }
    }

    #[cold]
    fn far_start(&self, row: usize) -> usize {
        let place = self.far.binary_search_by_key(&(row as u32), |&(row, _)| row);
        self.far[place.expect("a start without an offset is in the list")].1 as usize
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let offsets = match &self.offsets {
            Offsets::Byte(offsets) => offsets.len(),
            Offsets::Short(offsets) => offsets.len() * 2,
        };
        self.bases.len() * 4 + offsets + self.far.len() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks rows of these lengths; returns the bytes a row.
    fn check(lengths: &[u32]) -> f64 {
        let mut starts = vec![0];
        for length in lengths {
            starts.push(starts.last().expect("the first is there") + length);
        }
        let rows = Rows::new(starts.clone());
        assert_eq!(rows.len(), lengths.len());
        for row in 0..lengths.len() {
            assert_eq!(rows.of(row as u32), starts[row] as usize..starts[row + 1] as usize, "row {row}");
        }
        rows.bytes() as f64 / lengths.len() as f64
    }

    #[test]
    fn starts_are_found_whatever_the_lengths_of_rows() {
        assert!(check(&[3; 10_000]) < 1.3);
        // One long row in a thousand.
        let hubs: Vec<u32> = (0..10_000).map(|row| if row % 1000 == 7 { 100_000 } else { row % 5 }).collect();
        assert!(check(&hubs) < 1.5);
        assert!(check(&[22; 10_000]) < 1.6);
        assert!(check(&[50; 10_000]) < 2.1);
        assert!(check(&[100; 10_000]) < 2.3);
        // So long that no offset suffices.
        check(&[100_000; 1_000]);
        check(&[0; 33]);
        check(&[254, 1, 0, 0, 1]);
        check(&[]);
    }
}
