//! The finest decomposition of a group into factors that move disjoint sets of points.
//!
//! After Chang and Jefferson, *Disjoint direct product decompositions of permutation groups*, 2022. The base is ordered
//! by orbits: first all points of the first orbit, then of the second, and so on, so that the strong generators of one
//! orbit fix all earlier orbits pointwise. What such a generator does to a later orbit is undone, where that is
//! possible, by an element that fixes all orbits before that one. Generators that still move several orbits tie these
//! together; orbits that are not tied, directly or through others, belong to different factors.
//!
//! That the result is a product needs no trust in the argument: its generators have disjoint supports. That it is the
//! finest is their theorem, and tested. Cost: one change of base to a base of all moved points, and a partial sift for
//! each generator and orbit.

use trefoil_control::{Control, Stopped};

use crate::chain::product;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};

/// Moved points up to which the decomposition is the finest; beyond, a base of all of them is too large, and only the
/// generators as given are looked at.
const LARGEST_BASE: usize = 3000;

/// The factors, in the order of their least points; none for the trivial group.
pub(crate) fn disjoint_factors(group: &PermutationGroup, control: &Control) -> Result<Vec<PermutationGroup>, Stopped> {
    let orbits: Vec<Vec<Point>> = group.orbits().into_iter().filter(|orbit| orbit.len() > 1).collect();
    if orbits.len() < 2 {
        return Ok(if orbits.is_empty() { Vec::new() } else { vec![group.clone()] });
    }
    let degree = group.degree();
    let mut orbit_of = vec![usize::MAX; degree];
    for (number, orbit) in orbits.iter().enumerate() {
        orbit.iter().for_each(|&point| orbit_of[point as usize] = number);
    }
    let moved = orbits.concat();
    let is_finest = moved.len() <= LARGEST_BASE;
    let base = if is_finest { moved } else { group.chain().base() };
    let mut chain = group.chain_with_base(&base, control)?;
    chain.drop_trivial_levels(0);
    let owner: Vec<usize> = chain.base().iter().map(|&point| orbit_of[point as usize]).collect();

    let mut generators: Vec<Vec<Point>> = Vec::new();
    for generator in chain.pool.iter() {
        control.check()?;
        let mut images = generator.images.to_vec();
        let own = owner.get(generator.depth).copied().unwrap_or(usize::MAX);
        for (number, orbit) in orbits.iter().enumerate().skip(own.saturating_add(1)) {
            if !is_finest || orbit.iter().all(|&point| images[point as usize] == point) {
                continue;
            }
            let first = owner.partition_point(|&owner| owner < number);
            let last = owner.partition_point(|&owner| owner <= number);
            let mut undone = images.clone();
            if chain.sift_between(&mut undone, first, last)
                && orbit.iter().all(|&point| undone[point as usize] == point)
            {
                images = undone;
            }
        }
        generators.push(images);
    }

    let mut ties = Orbits::trivial(orbits.len());
    for images in &generators {
        let mut moved = (0..degree).filter(|&point| images[point] as usize != point).map(|point| orbit_of[point]);
        if let Some(first) = moved.next() {
            moved.for_each(|other| {
                ties.merge(first as Point, other as Point);
            });
        }
    }
    let components = ties.clone().cells();
    if components.len() == 1 {
        return Ok(vec![group.clone()]);
    }
    let mut factors = Vec::new();
    for component in components {
        let representative = ties.find(component[0]);
        let mut belongs = |orbit: usize| ties.find(orbit as Point) == representative;
        let mut own: Vec<Permutation> = Vec::new();
        for images in &generators {
            if images.iter().enumerate().any(|(point, &image)| image as usize != point && belongs(orbit_of[point])) {
                own.push(Permutation::from_bijection(images.clone()));
            }
        }
        // Levels of the factor's orbits are moved by its own generators alone.
        let mut sizes = Vec::new();
        for (level, &orbit) in owner.iter().enumerate() {
            if belongs(orbit) {
                sizes.push(chain.basic_orbit(level).len());
            }
        }
        factors.push(PermutationGroup::with_order(degree, &own, &product(sizes), control)?);
    }
    Ok(factors)
}
