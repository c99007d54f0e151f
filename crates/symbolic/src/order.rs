//! The order of slots.
//!
//! A diagram is small when slots that depend on each other are near each other. Each group of a system is a set of
//! slots that it reads or writes; its *span* is the distance of the outermost two, and the sum of all spans is the cost
//! of an order. FORCE (F. Aloul, I. Markov, K. Sakallah, *FORCE: a fast and easy-to-implement variable-ordering
//! heuristic*, 2003) moves each slot to the mean of the centres of its groups until the cost no longer falls. We begin
//! with the order that the front end gives and with that of a breadth-first walk from the slot with the fewest
//! neighbours (Cuthill and McKee's, for a small bandwidth), and keep the cheapest order that was met; the given one
//! wins ties.
//!
//! Groups that touch more than half of the slots say nothing about their order and are left out.
//!
//! Cost: a few dozen rounds, each linear in the sizes of the groups plus sorting the slots.

/// An order of slots: for each position the slot that is there.
pub fn found(width: usize, groups: &[Vec<usize>]) -> Vec<usize> {
    let telling: Vec<&Vec<usize>> =
        groups.iter().filter(|slots| slots.len() > 1 && (slots.len() * 2 <= width || width <= 4)).collect();
    let given: Vec<usize> = (0..width).collect();
    let mut best = (cost(&given, &telling), given.clone());
    for start in [given, walked(width, &telling)] {
        let mut order = start;
        let mut stale = 0;
        let first = cost(&order, &telling);
        if first < best.0 {
            best = (first, order.clone());
        }
        for _ in 0..ROUNDS {
            order = moved(&order, &telling);
            let now = cost(&order, &telling);
            if now < best.0 {
                best = (now, order.clone());
                stale = 0;
            } else {
                stale += 1;
                if stale == PATIENCE {
                    break;
                }
            }
        }
    }
    best.1
}

const ROUNDS: usize = 100;
const PATIENCE: usize = 8;

/// The sum of the spans of all groups.
pub fn cost(order: &[usize], groups: &[impl AsRef<[usize]>]) -> u64 {
    let place = places(order);
    let span = |slots: &[usize]| {
        let places = slots.iter().map(|&slot| place[slot]);
        let (least, most) = (places.clone().min(), places.max());
        most.zip(least).map_or(0, |(most, least)| (most - least) as u64)
    };
    groups.iter().map(|slots| span(slots.as_ref())).sum()
}

/// For each slot its position.
pub(crate) fn places(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &slot)| place[slot] = at);
    place
}

/// One round of FORCE.
fn moved(order: &[usize], groups: &[&Vec<usize>]) -> Vec<usize> {
    let place = places(order);
    let mut sums = vec![(0.0f64, 0u32); order.len()];
    for slots in groups {
        let centre = slots.iter().map(|&slot| place[slot] as f64).sum::<f64>() / slots.len() as f64;
        for &slot in slots.iter() {
            sums[slot].0 += centre;
            sums[slot].1 += 1;
        }
    }
    let pull = |slot: usize| match sums[slot] {
        (_, 0) => place[slot] as f64,
        (sum, count) => sum / f64::from(count),
    };
    let mut moved = order.to_vec();
    moved.sort_by(|&one, &other| pull(one).total_cmp(&pull(other)).then_with(|| place[one].cmp(&place[other])));
    moved
}

/// The order of a breadth-first walk along groups, each part from a slot with the fewest neighbours.
fn walked(width: usize, groups: &[&Vec<usize>]) -> Vec<usize> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); width];
    for slots in groups {
        for &slot in slots.iter() {
            neighbours[slot].extend(slots.iter().copied().filter(|&other| other != slot));
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let mut starts: Vec<usize> = (0..width).collect();
    starts.sort_by_key(|&slot| neighbours[slot].len());
    let mut seen = vec![false; width];
    let mut order = Vec::with_capacity(width);
    for start in starts {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut next = order.len();
        order.push(start);
        while let Some(&slot) = order.get(next) {
            next += 1;
            let mut new: Vec<usize> = neighbours[slot].iter().copied().filter(|&other| !seen[other]).collect();
            new.sort_by_key(|&other| neighbours[other].len());
            for other in new {
                seen[other] = true;
                order.push(other);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_in_a_bad_order_is_put_right() {
        // Neighbours in a ring of 40, whose slots are numbered with a stride.
        let slot = |at: usize| at * 17 % 40;
        let groups: Vec<Vec<usize>> = (0..40).map(|at| vec![slot(at), slot((at + 1) % 40)]).collect();
        let given: Vec<usize> = (0..40).collect();
        let order = found(40, &groups);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, given);
        // A ring on a line costs at least 2 for each neighbour but the first and the last.
        let (before, after) = (cost(&given, &groups), cost(&order, &groups));
        assert!(before > 600 && after <= 120, "{before}, {after}");
    }

    #[test]
    fn an_order_that_is_good_stays() {
        let groups: Vec<Vec<usize>> = (0..9).map(|at| vec![at, at + 1]).collect();
        assert_eq!(found(10, &groups), (0..10).collect::<Vec<_>>());
        assert_eq!(found(3, &[]), vec![0, 1, 2]);
    }
}
