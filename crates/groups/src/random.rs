//! A small deterministic generator of random numbers, and random elements of a group that is only known by generators.
//!
//! Every random choice of this crate comes from a seed, so that the same input gives the same chain, the same
//! generators and the same words on every machine. The numbers are those of Steele, Lea and Flood, *Fast splittable
//! pseudorandom number generators*, 2014; the group elements come from the product replacement of Celler,
//! Leedham-Green, Murray, Niemeyer and O'Brien, *Generating random elements of a finite group*, 1995, with an
//! accumulator.

use crate::permutation::{Permutation, Point, follow};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `bound`, which is positive.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Any permutation, all equally likely.
    pub fn permutation(&mut self, degree: usize) -> Permutation {
        let mut images: Vec<Point> = (0..degree as Point).collect();
        self.shuffle(&mut images);
        Permutation::from_bijection(images)
    }

    /// Any order of the items, all equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index + 1));
        }
    }
}

/// Scatters the bits of a word; a bijection.
#[inline]
pub(crate) fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Nearly uniform elements of the group that some generators generate, before anything is known about it.
pub(crate) struct ProductReplacement {
    slots: Vec<Vec<Point>>,
    accumulator: Vec<Point>,
    buffer: Vec<Point>,
    random: Random,
}

impl ProductReplacement {
    const LEAST_SLOTS: usize = 10;
    const WARM_UP: usize = 50;

    /// `generators` is not empty.
    pub(crate) fn new(generators: &[Permutation], seed: u64) -> ProductReplacement {
        let degree = generators[0].degree();
        let count = generators.len().max(Self::LEAST_SLOTS);
        let slots = (0..count).map(|slot| generators[slot % generators.len()].images().to_vec()).collect();
        let mut replacement = ProductReplacement {
            slots,
            accumulator: (0..degree as Point).collect(),
            buffer: vec![0; degree],
            random: Random::new(seed),
        };
        for _ in 0..Self::WARM_UP.max(2 * count) {
            replacement.step();
        }
        replacement
    }

    fn step(&mut self) {
        let target = self.random.below(self.slots.len());
        let mut other = self.random.below(self.slots.len() - 1);
        if other >= target {
            other += 1;
        }
        let choice = self.random.bits();
        let (target_slot, other_slot) = two(&mut self.slots, target, other);
        let factor: &[Point] = if choice & 1 == 0 {
            other_slot
        } else {
            crate::permutation::invert_into(other_slot, &mut self.buffer);
            &self.buffer
        };
        if choice & 2 == 0 {
            follow(target_slot, factor);
        } else {
            let product: Vec<Point> = factor.iter().map(|&image| target_slot[image as usize]).collect();
            target_slot.copy_from_slice(&product);
        }
        follow(&mut self.accumulator, target_slot);
    }

    /// The next element.
    pub(crate) fn next(&mut self) -> &[Point] {
        self.step();
        &self.accumulator
    }
}

fn two(slots: &mut [Vec<Point>], target: usize, other: usize) -> (&mut Vec<Point>, &Vec<Point>) {
    if target < other {
        let (left, right) = slots.split_at_mut(other);
        (&mut left[target], &right[0])
    } else {
        let (left, right) = slots.split_at_mut(target);
        (&mut right[0], &left[other])
    }
}
