//! How many states representatives stand for.
//!
//! States are counted by the number of elements that fix them, which takes few different values; divisions and large
//! numbers occur only in the final sum.

use std::collections::HashMap;

use trefoil_groups::UBig;

/// The class of states that do not count.
pub(crate) const UNCOUNTED: u32 = 0;
const FIRST: u32 = 1;

/// How many classes a thread compares one after the other before it looks into a table.
const FEW: usize = 32;

/// Orders of stabilisers, numbered as they occur.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    orders: Vec<UBig>,
    numbers: HashMap<UBig, u32>,
}

impl Classes {
    /// The class of states that this many elements keep.
    pub(crate) fn of(&mut self, order: &UBig) -> u32 {
        if let Some(&known) = self.numbers.get(order) {
            return known;
        }
        let next = FIRST + self.orders.len() as u32;
        self.orders.push(order.clone());
        self.numbers.insert(order.clone(), next);
        next
    }
}

/// One thread's cache of classes, most recent first.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    small: Vec<(u64, u32)>,
    more: HashMap<u64, u32>,
    large: HashMap<UBig, u32>,
}

impl Remembered {
    #[inline]
    pub(crate) fn class(&mut self, order: &UBig, ask: impl FnOnce() -> u32) -> u32 {
        let Ok(word) = u64::try_from(order) else {
            if let Some(&known) = self.large.get(order) {
                return known;
            }
            let class = ask();
            self.large.insert(order.clone(), class);
            return class;
        };
        if let Some(place) = self.small.iter().position(|&(known, _)| known == word) {
            let class = self.small[place].1;
            if place > 0 {
                self.small.swap(place, place - 1);
            }
            return class;
        }
        if let Some(&known) = self.more.get(&word) {
            return known;
        }
        let class = ask();
        if self.small.len() < FEW {
            self.small.push((word, class));
        } else {
            self.more.insert(word, class);
        }
        class
    }
}

/// How many states were found, by the class of the step that found them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: Vec<u64>,
}

impl Tally {
    /// The number of states of each class.
    pub fn of(counts: Vec<u64>) -> Tally {
        Tally { counts }
    }

    /// A step of this class ([`trefoil_system::Step::class`]) found a state of a quotient.
    #[inline]
    pub fn note(&mut self, class: u32) {
        let class = class as usize;
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
    }
}

/// The sum of the orbits under a group with this many elements.
pub(crate) fn total<'a>(
    tallies: impl Iterator<Item = &'a Tally>,
    classes: &Classes,
    initial: Option<&UBig>,
    elements: &UBig,
) -> UBig {
    let mut sum = initial.map_or(UBig::ZERO, |initial| elements / initial);
    for tally in tallies {
        let counted = tally.counts.iter().skip(FIRST as usize).zip(&classes.orders).filter(|(count, _)| **count > 0);
        for (&count, order) in counted {
            sum += elements / order * UBig::from(count);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_summed_exactly() {
        let factorial = |n: u32| (1..=n).map(UBig::from).product::<UBig>();
        let mut classes = Classes::default();
        let (mut one, mut other) = (Tally::default(), Tally::default());
        let note = |tally: &mut Tally, order: UBig, classes: &mut Classes| {
            tally.note(classes.of(&order));
        };
        note(&mut one, UBig::ONE, &mut classes);
        note(&mut one, UBig::from(6u32), &mut classes);
        note(&mut other, UBig::from(6u32), &mut classes);
        note(&mut other, factorial(30), &mut classes);
        note(&mut other, factorial(29), &mut classes);
        one.note(UNCOUNTED);
        let order = factorial(30);
        let expected = &order + &order / UBig::from(3u32) + UBig::from(31u32) + UBig::from(2u32);
        let initial = &order / UBig::from(2u32);
        assert_eq!(total([&one, &other].into_iter(), &classes, Some(&initial), &order), expected);
    }

    #[test]
    fn a_thread_remembers_many_classes() {
        let (mut classes, mut remembered) = (Classes::default(), Remembered::default());
        let orders: Vec<UBig> = (1..200u32).map(|n| UBig::from(n).pow(if n % 3 == 0 { 20 } else { 2 })).collect();
        for order in &orders {
            let expected = classes.of(order);
            assert_eq!(remembered.class(order, || expected), expected);
        }
        for order in orders.iter().rev() {
            let known = remembered.class(order, || unreachable!("it was looked up before"));
            assert_eq!(known, classes.of(order));
        }
    }
}
