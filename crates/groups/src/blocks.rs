//! Blocks of imprimitivity: sets of points that a transitive group moves as wholes.
//!
//! The finest system of blocks in which two given points share one is found by merging: whenever two points share a
//! block, so must their images (Atkinson, *An algorithm for finding the blocks of a permutation group*, 1975). Every
//! minimal system is one of these, for the first point and another. Cost: `O(n g α(n))` for each pair, `n` pairs.

use trefoil_control::{Control, Stopped};

use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};

/// The finest block system of a transitive group in which `a` and `b` share a block.
pub(crate) fn system_joining(generators: &[Permutation], degree: usize, pairs: &[(Point, Point)]) -> Vec<Vec<Point>> {
    let mut classes = Orbits::trivial(degree);
    let mut queue: Vec<(Point, Point)> = pairs.to_vec();
    while let Some((a, b)) = queue.pop() {
        if classes.merge(a, b) {
            queue.extend(generators.iter().map(|generator| (generator.image(a), generator.image(b))));
        }
    }
    classes.cells()
}

/// Some system with blocks as small as possible, of a transitive group; `None` when the group is primitive.
pub(crate) fn minimal_block_system(
    generators: &[Permutation],
    control: &Control,
) -> Result<Option<Vec<Vec<Point>>>, Stopped> {
    let degree = generators.first().map_or(0, Permutation::degree);
    let mut best: Option<Vec<Vec<Point>>> = None;
    for other in 1..degree as Point {
        control.check()?;
        let system = system_joining(generators, degree, &[(0, other)]);
        if system.len() > 1 && best.as_ref().is_none_or(|best| system.len() > best.len()) {
            let smallest = system[0].len() == 2;
            best = Some(system);
            if smallest {
                break;
            }
        }
    }
    Ok(best)
}

/// All block systems of a transitive group other than the two trivial ones, finest first, up to `limit` of them.
pub(crate) fn block_systems(
    generators: &[Permutation],
    degree: usize,
    limit: usize,
    control: &Control,
) -> Result<Vec<Vec<Vec<Point>>>, Stopped> {
    let mut systems: Vec<Vec<Vec<Point>>> = Vec::new();
    let add = |systems: &mut Vec<Vec<Vec<Point>>>, system: Vec<Vec<Point>>| {
        if system.len() > 1 && !systems.contains(&system) {
            systems.push(system);
        }
    };
    for other in 1..degree as Point {
        control.check()?;
        if systems.len() >= limit {
            break;
        }
        // A point that already shares a two-point block with the first brings nothing new.
        add(&mut systems, system_joining(generators, degree, &[(0, other)]));
    }
    // Every system is a join of those through one pair.
    let through_pairs = systems.len();
    let mut next = 0;
    while next < systems.len() && systems.len() < limit {
        for other in 0..through_pairs {
            control.check()?;
            let pairs: Vec<(Point, Point)> =
                [next, other].iter().flat_map(|&index| &systems[index][0]).map(|&point| (0, point)).collect();
            add(&mut systems, system_joining(generators, degree, &pairs));
        }
        next += 1;
    }
    systems.sort_by_key(|system| system[0].len());
    systems.truncate(limit);
    Ok(systems)
}
