//! Places across the layers: straight edges, short edges, and room for everything.
//!
//! Brandes and Köpf, *Fast and simple horizontal coordinate assignment*, 2002: points are aligned with a median
//! neighbour of the layer before into blocks that stand in one line, blocks are pushed together, and this is done four
//! times (down and up, to the left and to the right); a point gets the middle of its two middle places. Bends of the
//! same edge take precedence, so that long edges are straight. Any of the four gives two neighbours in a layer their
//! distance, and so does the middle: the second and third of four numbers grow with the numbers.
//!
//! We depart from the paper in how blocks are pushed together, where its text was in error (Brandes, Walter and Zink,
//! *Erratum*, 2020): the blocks with their distances are an acyclic graph, since aligned segments do not cross; longest
//! paths in it give the least places, and then every block that another one follows moves towards it as far as there is
//! room.

use std::collections::HashSet;

use trefoil_control::{Control, Stopped};

use crate::points::{Kind, Points};

/// Half of the distance between a point of a layer and the next one: bends may run closer together than nodes.
pub(crate) fn half_gap(kind: Kind) -> f64 {
    match kind {
        Kind::Node(_) | Kind::Text(_) => 7.0,
        Kind::Bend => 3.0,
    }
}

/// The layers as one of the four runs sees them.
struct View<'a> {
    layers: Vec<Vec<u32>>,
    /// The neighbours in the layer that was seen before, in the order of this view.
    neighbours: Vec<Vec<u32>>,
    /// The room before and after a point, with half of the distance to the next one.
    extents: Vec<(f64, f64)>,
    conflicts: &'a HashSet<(u32, u32)>,
}

/// The place of every point.
pub(crate) fn places(points: &Points, control: &Control) -> Result<Vec<f64>, Stopped> {
    let conflicts = conflicts(points);
    let mut runs: Vec<Vec<f64>> = Vec::with_capacity(4);
    for upwards in [false, true] {
        for mirrored in [false, true] {
            control.check()?;
            let mut places = View::new(points, upwards, mirrored, &conflicts).places();
            if mirrored {
                places.iter_mut().for_each(|place| *place = -*place);
            }
            runs.push(places);
        }
    }
    let bounds: Vec<(f64, f64)> = runs.iter().map(|places| bounds(points, places)).collect();
    let narrowest = bounds.iter().copied().min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap_or_default();
    for (number, places) in runs.iter_mut().enumerate() {
        let (own, wanted) =
            if number % 2 == 0 { (bounds[number].0, narrowest.0) } else { (bounds[number].1, narrowest.1) };
        places.iter_mut().for_each(|place| *place += wanted - own);
    }
    let middle = |point: usize| {
        let mut four = [runs[0][point], runs[1][point], runs[2][point], runs[3][point]];
        four.sort_by(f64::total_cmp);
        (four[1] + four[2]) / 2.0
    };
    Ok((0..points.kinds.len()).map(middle).collect())
}

/// The room that every point needs before and after its place, with half of the distance to the next one.
fn roomy(points: &Points) -> Vec<(f64, f64)> {
    let of = |(kind, extents): (&Kind, &(f64, f64))| (extents.0 + half_gap(*kind), extents.1 + half_gap(*kind));
    points.kinds.iter().zip(&points.extents).map(of).collect()
}

/// Places for a picture that would be too wide otherwise: every layer packed, its middle over the others' middles.
pub(crate) fn packed(points: &Points) -> Vec<f64> {
    let extents = roomy(points);
    let mut places = vec![0.0; extents.len()];
    for layer in &points.layers {
        let width: f64 = layer.iter().map(|&point| extents[point as usize].0 + extents[point as usize].1).sum();
        let mut next = -width / 2.0;
        for &point in layer {
            let (before, after) = extents[point as usize];
            places[point as usize] = next + before;
            next += before + after;
        }
    }
    places
}

/// How far the points reach, from the first to the last.
pub(crate) fn bounds(points: &Points, places: &[f64]) -> (f64, f64) {
    let mut bounds = (f64::INFINITY, f64::NEG_INFINITY);
    for (place, extents) in places.iter().zip(&points.extents) {
        bounds = (bounds.0.min(place - extents.0), bounds.1.max(place + extents.1));
    }
    if bounds.0 > bounds.1 { (0.0, 0.0) } else { bounds }
}

/// Segments that cross one between bends of an edge, which is to be straight.
fn conflicts(points: &Points) -> HashSet<(u32, u32)> {
    let mut place = vec![0usize; points.kinds.len()];
    for layer in &points.layers {
        for (at, &point) in layer.iter().enumerate() {
            place[point as usize] = at;
        }
    }
    let bend = |point: u32| !matches!(points.kinds[point as usize], Kind::Node(_));
    let inner = |point: u32| {
        let above = points.up[point as usize].first().copied();
        above.filter(|&above| bend(point) && bend(above))
    };
    let mut found = HashSet::new();
    for (number, layer) in points.layers.iter().enumerate().skip(1) {
        let width = points.layers[number - 1].len();
        let (mut first, mut scanned) = (0, 0);
        for (at, &point) in layer.iter().enumerate() {
            let upper = inner(point);
            if upper.is_none() && at + 1 < layer.len() {
                continue;
            }
            let last = upper.map_or(width, |upper| place[upper as usize]);
            while scanned <= at {
                let here = layer[scanned];
                for &above in &points.up[here as usize] {
                    let at = place[above as usize];
                    if (at < first || at > last) && inner(here).is_none() {
                        found.insert((above, here));
                    }
                }
                scanned += 1;
            }
            first = last;
        }
    }
    found
}

impl<'a> View<'a> {
    fn new(points: &Points, upwards: bool, mirrored: bool, conflicts: &'a HashSet<(u32, u32)>) -> View<'a> {
        let mut layers = points.layers.clone();
        let mut neighbours = if upwards { points.down.clone() } else { points.up.clone() };
        let mut extents = roomy(points);
        if upwards {
            layers.reverse();
        }
        if mirrored {
            layers.iter_mut().for_each(|layer| layer.reverse());
            neighbours.iter_mut().for_each(|list| list.reverse());
            extents.iter_mut().for_each(|(before, after)| std::mem::swap(before, after));
        }
        View { layers, neighbours, extents, conflicts }
    }

    fn places(&self) -> Vec<f64> {
        let root = self.blocks();
        self.push_together(&root)
    }

    /// The first point of the block of each point.
    fn blocks(&self) -> Vec<u32> {
        let count = self.extents.len();
        let mut place = vec![0usize; count];
        for layer in &self.layers {
            for (at, &point) in layer.iter().enumerate() {
                place[point as usize] = at;
            }
        }
        let mut root: Vec<u32> = (0..count as u32).collect();
        let mut aligned = vec![false; count];
        for layer in self.layers.iter().skip(1) {
            let mut free = 0;
            for &point in layer {
                let neighbours = &self.neighbours[point as usize];
                let Some(last) = neighbours.len().checked_sub(1) else { continue };
                for median in [last / 2, last.div_ceil(2)] {
                    let other = neighbours[median];
                    let conflict = self.conflicts.contains(&(other, point)) || self.conflicts.contains(&(point, other));
                    let taken = aligned[other as usize] || place[other as usize] < free;
                    if root[point as usize] == point && !conflict && !taken {
                        aligned[other as usize] = true;
                        root[point as usize] = root[other as usize];
                        free = place[other as usize] + 1;
                    }
                }
            }
        }
        root
    }

    fn push_together(&self, root: &[u32]) -> Vec<f64> {
        let count = root.len();
        // Which block stands behind which, and at what distance at least.
        let mut behind: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        let mut waits = vec![0u32; count];
        for layer in &self.layers {
            for pair in layer.windows(2) {
                let distance = self.extents[pair[0] as usize].1 + self.extents[pair[1] as usize].0;
                behind[root[pair[0] as usize] as usize].push((root[pair[1] as usize], distance));
                waits[root[pair[1] as usize] as usize] += 1;
            }
        }
        let mut order: Vec<u32> =
            (0..count as u32).filter(|&block| root[block as usize] == block && waits[block as usize] == 0).collect();
        let mut place = vec![0.0f64; count];
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            for &(other, distance) in &behind[block as usize] {
                let least = place[block as usize] + distance;
                place[other as usize] = place[other as usize].max(least);
                waits[other as usize] -= 1;
                if waits[other as usize] == 0 {
                    order.push(other);
                }
            }
        }
        for &block in order.iter().rev() {
            let room = behind[block as usize].iter().map(|&(other, distance)| place[other as usize] - distance);
            let most = room.fold(f64::INFINITY, f64::min);
            if most.is_finite() {
                place[block as usize] = place[block as usize].max(most);
            }
        }
        (0..count).map(|point| place[root[point] as usize]).collect()
    }
}
