//! Rows of values, packed, each stored once and numbered from 0 without holes.
//!
//! The store of the parallel engine numbers states with holes and reads them back only when it is frozen; the lazy
//! search needs arrays by state number and reads while it inserts, on one thread. A row takes its packed words and 4 to
//! 8 bytes of index.

use std::hash::BuildHasher;

use trefoil_control::{Control, Stopped};
use trefoil_explore::Packing;
use trefoil_system::{Layout, Value};

const FREE: u32 = u32::MAX;

/// The table.
pub(crate) struct RowTable {
    packing: Packing,
    words: Vec<u64>,
    count: usize,
    slots: Vec<u32>,
    packed: Vec<u64>,
    hasher: foldhash::fast::FixedState,
}

impl RowTable {
    /// An empty table for rows of this shape.
    pub(crate) fn new(layout: &Layout) -> RowTable {
        let packing = Packing::new(layout);
        let packed = vec![0; packing.words()];
        let hasher = foldhash::fast::FixedState::with_seed(0);
        RowTable { packing, words: Vec::new(), count: 0, slots: vec![FREE; 64], packed, hasher }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The number of a row; a new one when it was not known.
    pub(crate) fn number(&mut self, row: &[Value], control: &Control) -> Result<u32, Stopped> {
        self.packing.pack(row, &mut self.packed);
        let width = self.packed.len();
        let mask = self.slots.len() - 1;
        let mut place = self.hasher.hash_one(&self.packed) as usize & mask;
        while self.slots[place] != FREE {
            let number = self.slots[place];
            if self.words[number as usize * width..][..width] == self.packed {
                return Ok(number);
            }
            place = (place + 1) & mask;
        }
        if self.count >= FREE as usize {
            return Err(control.out_of_numbers());
        }
        if self.words.len() + width > self.words.capacity() {
            control.afford(self.words.len() * 2 * size_of::<u64>())?;
        }
        let number = self.count as u32;
        self.slots[place] = number;
        self.words.extend_from_slice(&self.packed);
        self.count += 1;
        if self.count * 4 > self.slots.len() * 3 {
            self.grow(control)?;
        }
        Ok(number)
    }

    fn grow(&mut self, control: &Control) -> Result<(), Stopped> {
        let length = self.slots.len() * 2;
        control.afford(length * size_of::<u32>())?;
        let width = self.packed.len();
        self.slots = vec![FREE; length];
        for number in 0..self.count {
            let row = &self.words[number * width..][..width];
            let mut place = self.hasher.hash_one(row) as usize & (length - 1);
            while self.slots[place] != FREE {
                place = (place + 1) & (length - 1);
            }
            self.slots[place] = number as u32;
        }
        Ok(())
    }

    /// The row with this number.
    pub(crate) fn row(&self, number: u32) -> Vec<Value> {
        let width = self.packed.len();
        let mut row = vec![0; self.packing.width()];
        self.packing.unpack(&self.words[number as usize * width..][..width], &mut row);
        row
    }
}

#[cfg(test)]
mod tests {
    use trefoil_system::Slot;

    use super::*;

    #[test]
    fn rows_come_back_by_number() {
        let layout = Layout::new(vec![Slot::bounded("x", 700), Slot::word("y")]);
        let mut table = RowTable::new(&layout);
        let control = Control::unlimited();
        let rows: Vec<[u32; 2]> = (0..2000).map(|i| [i % 700, i * 1_000_003]).collect();
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(table.number(row, &control), Ok(number as u32));
        }
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(table.number(row, &control), Ok(number as u32));
            assert_eq!(table.row(number as u32), row);
        }
        assert_eq!(table.len(), rows.len());
    }
}
