//! How many states representatives stand for.
//!
//! States are counted by the number of elements that keep them, of which there are few different ones; divisions and
//! large numbers come only when the sum is wanted.

use std::collections::BTreeMap;

use trefoil_groups::UBig;

/// How many states are kept by how many elements.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// Orders that fit a word; those met last come early.
    small: Vec<(u64, u64)>,
    large: BTreeMap<UBig, u64>,
}

impl Weights {
    /// One more state, with this number of elements that keep it.
    pub(crate) fn add(&mut self, stabiliser: UBig) {
        match u64::try_from(&stabiliser) {
            Ok(order) => self.add_small(order, 1),
            Err(_) => *self.large.entry(stabiliser).or_default() += 1,
        }
    }

    fn add_small(&mut self, order: u64, count: u64) {
        match self.small.iter().position(|&(known, _)| known == order) {
            Some(place) => {
                self.small[place].1 += count;
                if place > 0 {
                    self.small.swap(place, place - 1);
                }
            }
            None => self.small.push((order, count)),
        }
    }

    /// Takes over the states of another count.
    pub(crate) fn append(&mut self, other: &mut Weights) {
        for (order, count) in other.small.drain(..) {
            self.add_small(order, count);
        }
        for (order, count) in std::mem::take(&mut other.large) {
            *self.large.entry(order).or_default() += count;
        }
    }

    /// The sum of the orbits under a group with this many elements.
    pub(crate) fn total(&self, elements: &UBig) -> UBig {
        let small = self.small.iter().map(|&(order, count)| elements / UBig::from(order) * UBig::from(count));
        let large = self.large.iter().map(|(order, &count)| elements / order * UBig::from(count));
        small.chain(large).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_summed_exactly() {
        let factorial = |n: u32| (1..=n).map(UBig::from).product::<UBig>();
        let mut weights = Weights::default();
        let mut other = Weights::default();
        weights.add(UBig::from(1u32));
        weights.add(UBig::from(6u32));
        other.add(UBig::from(6u32));
        other.add(factorial(30));
        other.add(factorial(29));
        weights.append(&mut other);
        let order = factorial(30);
        let expected = &order + &order / UBig::from(3u32) + UBig::from(31u32);
        assert_eq!(weights.total(&order), expected);
        assert_eq!(other.total(&order), UBig::ZERO);
    }
}
