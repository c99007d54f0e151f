//! Slices of numbers, each stored once and known by its own number.
//!
//! Sets of states and sets of labels are compared far more often than they are made; interned, equality is equality of
//! numbers. [`Probe`] is the index: a power of two of 4-byte slots with linear probing, kept at most three quarters
//! full. It holds only the numbers; its owner decides whether a candidate is equal and where the slices are stored.

use std::hash::BuildHasher;

use trefoil_control::{Control, Stopped};

const FREE: u32 = u32::MAX;

/// The hash of a slice; the same in every run, so that runs can be compared.
pub(crate) fn hash_slice(slice: &[u32]) -> u64 {
    foldhash::fast::FixedState::with_seed(0).hash_one(slice)
}

/// An index from hashes to numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    slots: Vec<u32>,
    used: usize,
}

impl Probe {
    /// The number that the owner accepts as equal, among those with this hash.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.slots[place] {
                FREE => return None,
                number if is_it(number) => return Some(number),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// How many bytes the next insertion allocates: nothing most of the time.
    pub(crate) fn growth(&self) -> usize {
        if (self.used + 1) * 4 <= self.slots.len() * 3 { 0 } else { self.slots.len().max(8) * 2 * size_of::<u32>() }
    }

    /// Adds a number that is not there yet; `hash_of` gives the hashes of the numbers that are.
    pub(crate) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if self.growth() > 0 {
            let doubled = vec![FREE; self.slots.len().max(8) * 2];
            let old = std::mem::replace(&mut self.slots, doubled);
            for number in old.into_iter().filter(|&number| number != FREE) {
                self.place(hash_of(number), number);
            }
        }
        self.place(hash, number);
        self.used += 1;
    }

    fn place(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place] != FREE {
            place = (place + 1) & mask;
        }
        self.slots[place] = number;
    }
}

/// A table of slices, one after the other in one array.
#[derive(Clone, Debug, Default)]
pub struct SliceTable {
    ends: Vec<usize>,
    numbers: Vec<u32>,
    index: Probe,
}

impl SliceTable {
    /// The number of a slice; a new one when it was not known.
    pub fn intern(&mut self, slice: &[u32], control: &Control) -> Result<u32, Stopped> {
        let hash = hash_slice(slice);
        if let Some(known) = self.index.find(hash, |number| self.get(number) == slice) {
            return Ok(known);
        }
        if self.ends.len() >= FREE as usize {
            return Err(control.out_of_numbers());
        }
        let number = self.ends.len() as u32;
        self.numbers.extend_from_slice(slice);
        self.ends.push(self.numbers.len());
        let (ends, numbers) = (&self.ends, &self.numbers);
        self.index.insert(hash, number, |other| hash_slice(slice_at(ends, numbers, other)));
        Ok(number)
    }

    /// The slice with this number.
    pub fn get(&self, number: u32) -> &[u32] {
        slice_at(&self.ends, &self.numbers, number)
    }
}

fn slice_at<'a>(ends: &[usize], numbers: &'a [u32], number: u32) -> &'a [u32] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &numbers[start..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_slices_have_one_number_however_many_there_are() {
        let (mut table, control) = (SliceTable::default(), Control::unlimited());
        let slices: Vec<Vec<u32>> = (0..1000u32).map(|i| (0..i % 7).map(|j| i / 7 + j).collect()).collect();
        let numbers: Vec<u32> = slices.iter().map(|slice| table.intern(slice, &control).unwrap()).collect();
        for (slice, &number) in slices.iter().zip(&numbers) {
            assert_eq!(table.get(number), slice.as_slice());
            assert_eq!(table.intern(slice, &control), Ok(number));
        }
    }
}
