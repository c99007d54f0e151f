//! Which orbits can be left out because the action on others determines the action on them.
//!
//! An orbit is *determined* by some others when every element that fixes those pointwise fixes it too. Two cheap
//! sufficient conditions cover what occurs in models (channels that belong to a process, to a pair or to a set of
//! processes):
//!
//! - its points carry sets of points of the others as names, in a way that commutes with the group, and no two points
//!   have the same names;
//! - its points are themselves such names: the orbit is an image of another one under a map that commutes with the
//!   group.
//!
//! A candidate for the name of a point `c` is an orbit, on the other points, of the elements that fix `c`; a few random
//! such elements give a guess, which is then carried round the orbit and checked against every generator. So what is
//! found is proved.
//!
//! Cost: `O(m g s)` to check names of `s` points on an orbit of `m` points with `g` generators.

use trefoil_control::{Control, Stopped};

use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::random::ProductReplacement;

/// How many random elements that fix a point guess its names.
const GUESSES: usize = 12;

/// Names, in points, that are worth carrying round an orbit.
const LARGEST_NAMES: usize = 1 << 22;

/// Orbits on whose union the group is faithful, provided it is on the union of the given ones.
pub(crate) fn independent_orbits(
    degree: usize,
    generators: &[Permutation],
    mut orbits: Vec<Vec<Point>>,
    control: &Control,
) -> Result<Vec<Vec<Point>>, Stopped> {
    if orbits.len() < 2 || generators.is_empty() {
        return Ok(orbits);
    }
    orbits.sort_by_key(Vec::len);
    let mut source = ProductReplacement::new(generators, 1);
    let mut named: Vec<Vec<Point>> = Vec::new();
    for orbit in orbits {
        control.check()?;
        if !is_named_by(degree, generators, &orbit, &named, &mut source, control)? {
            named.push(orbit);
        }
    }
    // Among the rest, an image of a larger one adds nothing.
    let mut kept: Vec<Vec<Point>> = Vec::new();
    for orbit in named.into_iter().rev() {
        let mut is_image = false;
        for larger in kept.iter().filter(|larger| larger.len() % orbit.len() == 0) {
            control.check()?;
            is_image = is_image || has_equivariant_map(degree, generators, larger, &orbit);
        }
        if !is_image {
            kept.push(orbit);
        }
    }
    Ok(kept)
}

/// Do the points of `orbit` have pairwise different names among the points of `others`?
fn is_named_by(
    degree: usize,
    generators: &[Permutation],
    orbit: &[Point],
    others: &[Vec<Point>],
    source: &mut ProductReplacement,
    control: &Control,
) -> Result<bool, Stopped> {
    if others.is_empty() {
        return Ok(false);
    }
    let first = orbit[0];
    let tree = OrbitTree::grow(degree, generators, first);
    let mut fixing = Orbits::trivial(degree);
    for _ in 0..GUESSES {
        control.check()?;
        let mut element = source.next().to_vec();
        let mut at = element[first as usize];
        while let Some(generator) = tree.back(at) {
            crate::permutation::follow(&mut element, generators[generator].inverse().images());
            at = element[first as usize];
        }
        fixing.merge_images(&element);
    }
    let mut classes: Vec<Vec<Point>> = vec![orbit.to_vec()];
    let cells = fixing.cells();
    for other in others {
        let own = cells.iter().filter(|cell| other.binary_search(&cell[0]).is_ok() && cell.len() * 2 <= other.len());
        for name in own.filter(|name| name.len().saturating_mul(orbit.len()) <= LARGEST_NAMES) {
            control.check()?;
            if let Some(names) = carry_round(generators, &tree, name) {
                classes = split_by(classes, |point| &names[tree.place[point as usize] as usize]);
            }
        }
        if classes.len() == orbit.len() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn split_by<'n>(classes: Vec<Vec<Point>>, name: impl Fn(Point) -> &'n Vec<Point>) -> Vec<Vec<Point>> {
    let mut split = Vec::new();
    for mut class in classes {
        class.sort_by(|&a, &b| name(a).cmp(name(b)));
        split.extend(class.chunk_by(|&a, &b| name(a) == name(b)).map(<[Point]>::to_vec));
    }
    split
}

/// The names of all points of the orbit, in the tree's order, when that of the first is `name`; `None` when they
/// contradict each other.
fn carry_round(generators: &[Permutation], tree: &OrbitTree, name: &[Point]) -> Option<Vec<Vec<Point>>> {
    let moved = |names: &[Point], generator: &Permutation| {
        let mut moved: Vec<Point> = names.iter().map(|&point| generator.image(point)).collect();
        moved.sort_unstable();
        moved
    };
    let mut names: Vec<Vec<Point>> = vec![Vec::new(); tree.points.len()];
    names[0] = name.to_vec();
    names[0].sort_unstable();
    for index in 1..tree.points.len() {
        let parent = tree.place[tree.parent[index] as usize] as usize;
        names[index] = moved(&names[parent], &generators[tree.reached_by[index]]);
    }
    for (index, &point) in tree.points.iter().enumerate() {
        for generator in generators {
            let image = tree.place[generator.image(point) as usize] as usize;
            if moved(&names[index], generator) != names[image] {
                return None;
            }
        }
    }
    Some(names)
}

/// The points of an orbit, breadth first, each with how it was reached.
struct OrbitTree {
    points: Vec<Point>,
    parent: Vec<Point>,
    reached_by: Vec<usize>,
    /// By point: where it stands in `points`.
    place: Vec<u32>,
}

impl OrbitTree {
    fn grow(degree: usize, generators: &[Permutation], start: Point) -> OrbitTree {
        let mut tree =
            OrbitTree { points: vec![start], parent: vec![start], reached_by: vec![0], place: vec![u32::MAX; degree] };
        tree.place[start as usize] = 0;
        let mut done = 0;
        while done < tree.points.len() {
            let point = tree.points[done];
            done += 1;
            for (number, generator) in generators.iter().enumerate() {
                let image = generator.image(point);
                if tree.place[image as usize] == u32::MAX {
                    tree.place[image as usize] = tree.points.len() as u32;
                    tree.points.push(image);
                    tree.parent.push(point);
                    tree.reached_by.push(number);
                }
            }
        }
        tree
    }

    /// The generator by which a point of the orbit was reached; `None` for the first.
    fn back(&self, point: Point) -> Option<usize> {
        let place = self.place[point as usize] as usize;
        (place > 0).then(|| self.reached_by[place])
    }
}

/// Is there a map from one orbit to another that commutes with every generator?
fn has_equivariant_map(degree: usize, generators: &[Permutation], from: &[Point], to: &[Point]) -> bool {
    const UNKNOWN: Point = Point::MAX;
    let mut image = vec![UNKNOWN; degree];
    let mut queue: Vec<Point> = Vec::with_capacity(from.len());
    'candidates: for &candidate in to {
        for &point in &queue {
            image[point as usize] = UNKNOWN;
        }
        queue.clear();
        image[from[0] as usize] = candidate;
        queue.push(from[0]);
        let mut done = 0;
        while done < queue.len() {
            let point = queue[done];
            done += 1;
            for generator in generators {
                let moved = generator.image(point);
                let moved_image = generator.image(image[point as usize]);
                let known = &mut image[moved as usize];
                if *known == UNKNOWN {
                    *known = moved_image;
                    queue.push(moved);
                } else if *known != moved_image {
                    continue 'candidates;
                }
            }
        }
        return true;
    }
    false
}
