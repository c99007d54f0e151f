//! The order inside the layers, for few crossings.
//!
//! Layers are swept down and up; each layer is sorted by the medians of its points' neighbours in the layer swept
//! before, and then neighbours in the layer change places as long as that takes crossings away (Gansner, Koutsofios,
//! North and Vo, *A technique for drawing directed graphs*, 1993). The best order that was met is kept. Crossings are
//! counted with a tree of sums (Barth, Jünger and Mutzel, *Simple and efficient bilayer cross counting*, 2002).
//!
//! The number of sweeps depends on the size of the graph and not on a clock, so that the result does not depend on the
//! machine.

use trefoil_control::{Control, Stopped};

use crate::points::Points;
use crate::worked;

/// How many sweeps there are at most.
const SWEEPS: usize = 24;
/// How many segments all sweeps together may look at.
const WORK: usize = 6_000_000;
/// More sweeps than this without a better order, and no better one is expected.
const PATIENCE: usize = 6;

/// Puts the points of every layer into a good order.
pub(crate) fn reduce(points: &mut Points, control: &Control) -> Result<(), Stopped> {
    let segments: usize = points.down.iter().map(Vec::len).sum();
    let sweeps = (WORK / (segments + 1)).clamp(4, SWEEPS);
    let mut place = vec![0u32; points.kinds.len()];
    for layer in &points.layers {
        settle(layer, &mut place);
    }
    let mut best = points.layers.clone();
    let mut fewest = crossings(points, &place);
    let mut vain = 0;
    for sweep in 0..sweeps {
        if fewest == 0 || vain == PATIENCE {
            break;
        }
        control.check()?;
        let down = sweep % 2 == 0;
        let count = points.layers.len();
        for step in 1..count {
            let number = if down { step } else { count - 1 - step };
            let neighbours = if down { &mut points.up } else { &mut points.down };
            by_medians(&mut points.layers[number], neighbours, &place);
            settle(&points.layers[number], &mut place);
        }
        let looked = exchange(points, &mut place, control)?;
        let now = crossings(points, &place);
        worked(control, 2 * segments + looked);
        if now < fewest {
            fewest = now;
            best.clone_from(&points.layers);
            vain = 0;
        } else {
            vain += 1;
        }
    }
    points.layers = best;
    for layer in &points.layers {
        settle(layer, &mut place);
    }
    for list in points.up.iter_mut().chain(&mut points.down) {
        list.sort_by_key(|&point| place[point as usize]);
    }
    Ok(())
}

fn settle(layer: &[u32], place: &mut [u32]) {
    for (at, &point) in layer.iter().enumerate() {
        place[point as usize] = at as u32;
    }
}

/// Sorts a layer by medians; points without neighbours stay where they are.
fn by_medians(layer: &mut [u32], neighbours: &mut [Vec<u32>], place: &[u32]) {
    let mut median = |point: u32| {
        let list = &mut neighbours[point as usize];
        list.sort_unstable_by_key(|&other| place[other as usize]);
        weighted_median(list, place)
    };
    let medians: Vec<Option<f64>> = layer.iter().map(|&point| median(point)).collect();
    let mut movable: Vec<(f64, u32)> =
        layer.iter().zip(&medians).filter_map(|(&point, median)| median.map(|median| (median, point))).collect();
    movable.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut next = movable.into_iter();
    for (slot, median) in layer.iter_mut().zip(medians) {
        if median.is_some()
            && let Some((_, point)) = next.next()
        {
            *slot = point;
        }
    }
}

/// The median of the places of points that lie in this order.
fn weighted_median(points: &[u32], place: &[u32]) -> Option<f64> {
    let middle = points.len() / 2;
    let at = |index: usize| f64::from(place[points[index] as usize]);
    match points.len() {
        0 => None,
        count if count % 2 == 1 => Some(at(middle)),
        2 => Some((at(0) + at(1)) / 2.0),
        count => {
            // Between the two medians, nearer to the side on which the places lie closer together.
            let (left, right) = (at(middle - 1) - at(0), at(count - 1) - at(middle));
            if left + right == 0.0 {
                return Some((at(middle - 1) + at(middle)) / 2.0);
            }
            Some((at(middle - 1) * right + at(middle) * left) / (left + right))
        }
    }
}

/// Neighbours change places while that takes crossings away. A layer is looked at again only when it or a layer beside
/// it has changed. Gives the number of segments that were looked at.
fn exchange(points: &mut Points, place: &mut [u32], control: &Control) -> Result<usize, Stopped> {
    const ROUNDS: usize = 3;
    let count = points.layers.len();
    let mut waits = vec![true; count];
    let mut looked = 0;
    for _ in 0..ROUNDS {
        for number in 0..count {
            if !std::mem::replace(&mut waits[number], false) {
                continue;
            }
            control.check()?;
            let layer = &mut points.layers[number];
            let (up, down) = (&mut points.up, &mut points.down);
            for &point in layer.iter() {
                for list in [&mut up[point as usize], &mut down[point as usize]] {
                    list.sort_unstable_by_key(|&other| place[other as usize]);
                    // A pair is compared in both orders.
                    looked += 4 * list.len();
                }
            }
            let mut better = false;
            for at in 1..layer.len() {
                let (left, right) = (layer[at - 1] as usize, layer[at] as usize);
                let crossed = |left: usize, right: usize| {
                    inverted(&up[left], &up[right], place) + inverted(&down[left], &down[right], place)
                };
                if crossed(right, left) < crossed(left, right) {
                    better = true;
                    layer.swap(at - 1, at);
                }
            }
            if better {
                settle(layer, place);
                waits[number.saturating_sub(1)..(number + 2).min(count)].fill(true);
            }
        }
    }
    Ok(looked)
}

/// How many pairs of segments cross when the point with the first neighbours stands before that with the second ones.
fn inverted(left: &[u32], right: &[u32], place: &[u32]) -> usize {
    let (mut total, mut smaller) = (0, 0);
    for &point in left {
        while smaller < right.len() && place[right[smaller] as usize] < place[point as usize] {
            smaller += 1;
        }
        total += smaller;
    }
    total
}

/// How many pairs of segments cross.
pub(crate) fn crossings(points: &Points, place: &[u32]) -> usize {
    let mut total = 0;
    for (number, layer) in points.layers.iter().enumerate() {
        let Some(next) = points.layers.get(number + 1) else { break };
        let mut sums = vec![0usize; next.len() + 1];
        let mut drawn = 0;
        let mut ends: Vec<u32> = Vec::new();
        for &point in layer {
            ends.clear();
            ends.extend(points.down[point as usize].iter().map(|&other| place[other as usize]));
            // Segments of the same point do not cross: in this order none of them ends to the right of a later one.
            ends.sort_unstable();
            for &end in &ends {
                total += drawn - up_to(&sums, end as usize);
                add(&mut sums, end as usize);
                drawn += 1;
            }
        }
    }
    total
}

fn add(sums: &mut [usize], place: usize) {
    let mut at = place + 1;
    while at < sums.len() {
        sums[at] += 1;
        at += at & at.wrapping_neg();
    }
}

/// How many were added at this place and before.
fn up_to(sums: &[usize], place: usize) -> usize {
    let (mut at, mut sum) = (place + 1, 0);
    while at > 0 {
        sum += sums[at];
        at -= at & at.wrapping_neg();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Kind;

    /// Two layers with these segments between them.
    fn bilayer(above: usize, below: usize, segments: &[(usize, usize)]) -> Points {
        let count = above + below;
        let mut points = Points {
            kinds: (0..count).map(Kind::Node).collect(),
            extents: vec![(1.0, 1.0); count],
            along: vec![1.0; count],
            layer: (0..count).map(|point| u32::from(point >= above)).collect(),
            layers: vec![(0..above as u32).collect(), (above as u32..count as u32).collect()],
            up: vec![Vec::new(); count],
            down: vec![Vec::new(); count],
            chains: Vec::new(),
            turned: Vec::new(),
            sizes: Vec::new(),
            notes: Vec::new(),
            shapes: Vec::new(),
        };
        for &(first, second) in segments {
            points.down[first].push((above + second) as u32);
            points.up[above + second].push(first as u32);
        }
        points
    }

    fn places(points: &Points) -> Vec<u32> {
        let mut place = vec![0; points.kinds.len()];
        points.layers.iter().for_each(|layer| settle(layer, &mut place));
        place
    }

    #[test]
    fn crossings_are_counted_as_the_definition_says() {
        let mut seed = 7u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % bound
        };
        for _ in 0..200 {
            let (above, below) = (1 + random(6), 1 + random(6));
            let segments: Vec<(usize, usize)> = (0..random(14)).map(|_| (random(above), random(below))).collect();
            let mut expected = 0;
            for (at, a) in segments.iter().enumerate() {
                for b in &segments[at + 1..] {
                    expected += usize::from((a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1));
                }
            }
            let mut points = bilayer(above, below, &segments);
            assert_eq!(crossings(&points, &places(&points)), expected, "{segments:?}");
            reduce(&mut points, &Control::unlimited()).expect("no budget");
            assert!(crossings(&points, &places(&points)) <= expected, "{segments:?}");
        }
    }

    #[test]
    fn what_can_be_drawn_without_crossings_is() {
        let mut points = bilayer(3, 3, &[(0, 2), (1, 1), (2, 0)]);
        reduce(&mut points, &Control::unlimited()).expect("no budget");
        assert_eq!(crossings(&points, &places(&points)), 0);
    }
}
