//! A better order of slots, while states are explored.
//!
//! The order that a search begins with ([`crate::order`]) knows which groups touch which slots, and no values. How
//! large a diagram is depends on what the values of some slots tell about those of others, and that is only seen in a
//! set of states. So when the set of states has become large, its slots are *sifted* (R. Rudell, *Dynamic variable
//! ordering for ordered binary decision diagrams*, 1993): one slot after the other, those with the most values in lists
//! first, is moved through all places by exchanges with its neighbours and left where the diagram is smallest. A slot
//! is not moved on in a direction in which the diagram has become [`WORST`] times as large as it was in its best place.
//!
//! Where a set is seen early in a search, its best order is mostly that of later sets, too: so sets are small when they
//! are sifted first, and again only when they have grown several times.
//!
//! The result depends on the set alone, not on time or threads: counterexamples depend on the order. Cost: a pass
//! handles the values of all lists about twice for each slot; a limit on the values that are handled keeps that below a
//! few seconds.

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::Levels;

/// A direction is given up when the diagram is this many times as large as in the best place.
const WORST: usize = 2;
/// So many values are handled by exchanges.
const MOST_HANDLED: usize = 1 << 25;
/// A pass that does not reduce the size to less than this many hundredths is the last one.
const WORTHWHILE: usize = 95;

/// A better order of the slots of a set, in which the first `settled` ones stay: for each slot the one that it was
/// before.
pub(crate) fn sifted(mut levels: Levels, settled: usize, control: &Control) -> Result<Vec<usize>, Stopped> {
    let width = levels.width();
    let mut sifting = Sifting { order: (0..width).collect(), size: levels.size(), settled, handled: 0 };
    loop {
        let before = sifting.size;
        let mut by_size: Vec<usize> = (settled..width).collect();
        by_size.sort_by_key(|&place| std::cmp::Reverse(levels.size_of(place)));
        let slots: Vec<usize> = by_size.into_iter().map(|place| sifting.order[place]).collect();
        for slot in slots {
            if sifting.handled < MOST_HANDLED {
                sifting.place_best(slot, &mut levels, control)?;
            }
        }
        if sifting.size * 100 > before * WORTHWHILE || sifting.handled >= MOST_HANDLED {
            return Ok(sifting.order);
        }
    }
}

struct Sifting {
    /// For each place the slot that is there.
    order: Vec<usize>,
    size: usize,
    /// So many places keep their slots.
    settled: usize,
    handled: usize,
}

impl Sifting {
    /// Moves a slot to its best place.
    fn place_best(&mut self, slot: usize, levels: &mut Levels, control: &Control) -> Result<(), Stopped> {
        let Some(start) = self.order.iter().position(|&other| other == slot) else { return Ok(()) };
        let last = self.order.len() - 1;
        let mut best = (self.size, start);
        let mut place = start;
        // The nearer end first, and then all the way to the other one.
        let down_first = last - start < start - self.settled;
        for down in [down_first, !down_first] {
            while place != if down { last } else { self.settled } {
                let upper = if down { place } else { place - 1 };
                self.exchange(upper, levels, control)?;
                place = if down { place + 1 } else { place - 1 };
                // The first of equally good places, seen from the top, whichever way the slot comes from.
                best = best.min((self.size, place));
                if self.size > best.0 * WORST {
                    break;
                }
            }
        }
        while place != best.1 {
            let upper = if place < best.1 { place } else { place - 1 };
            self.exchange(upper, levels, control)?;
            place = if place < best.1 { place + 1 } else { place - 1 };
        }
        Ok(())
    }

    fn exchange(&mut self, upper: usize, levels: &mut Levels, control: &Control) -> Result<(), Stopped> {
        control.check()?;
        let size = |levels: &Levels| levels.size_of(upper) + levels.size_of(upper + 1);
        let before = size(levels);
        levels.exchange(upper);
        let after = size(levels);
        self.handled += before.max(after);
        self.size = self.size + after - before;
        self.order.swap(upper, upper + 1);
        Ok(())
    }
}
