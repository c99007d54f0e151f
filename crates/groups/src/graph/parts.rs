//! The automorphism group of a large graph, part by part.
//!
//! Generators that move a common point belong to one part; the group is the product of its parts, which move disjoint
//! points. Parts of a sparse graph are mostly small, and each is recognised on its own points. A part whose swaps of two
//! vertices connect all its points is a symmetric group, however large.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use super::Automorphisms;
use crate::bound::restrict_all;
use crate::chain::product;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};

/// Points times generators up to which a part is recognised on all its points, and the points of an orbit that is tried
/// in its place.
const RECOGNISED: usize = 1 << 15;
const LARGEST_ORBIT: usize = 1 << 12;

/// Points times generators up to which generators are written out.
const RESTRICTED: usize = 1 << 22;

/// Points from which it is worth looking for an orbit that shows the whole part, and how many are tried.
const MANY_POINTS: usize = 200;
const ORBITS_TRIED: usize = 8;

/// A factor of the automorphism group.
#[derive(Clone, Debug)]
pub struct Part {
    /// The vertices that it moves, ascending.
    pub vertices: Vec<Point>,
    /// The number of its elements.
    pub order: UBig,
    /// The names of its own factors, in brackets where a product needs them, when it is small enough to tell.
    pub names: Option<Vec<String>>,
}

/// The group on one of its smallest orbits, where many points follow a few and these show all of it.
fn on_one_orbit(
    degree: usize,
    generators: &[Permutation],
    order: &UBig,
    control: &Control,
) -> Result<Option<PermutationGroup>, Stopped> {
    if degree < MANY_POINTS {
        return Ok(None);
    }
    let mut orbits = Orbits::of(degree, generators).cells();
    orbits.retain(|orbit| orbit.len() > 1);
    orbits.sort_by_key(Vec::len);
    for orbit in orbits.iter().filter(|orbit| orbit.len() < degree.min(LARGEST_ORBIT)).take(ORBITS_TRIED) {
        let smaller = PermutationGroup::generate(orbit.len(), &restrict_all(degree, generators, orbit), control)?;
        if smaller.order() == *order {
            return Ok(Some(smaller));
        }
    }
    Ok(None)
}

impl Automorphisms {
    /// The factors of the group that move disjoint vertices, in the order of their least vertices.
    pub fn parts(&self, control: &Control) -> Result<Vec<Part>, Stopped> {
        let mut together = Orbits::trivial(self.degree);
        let mut swaps = Orbits::trivial(self.degree);
        for generator in &self.generators {
            let moves = generator.moves();
            for &(point, _) in moves {
                together.merge(moves[0].0, point);
            }
            if let [(one, other), _] = moves {
                swaps.merge(*one, *other);
            }
        }
        let cells = together.cells();
        let mut part_of = vec![u32::MAX; self.degree];
        let mut parts: Vec<Part> = Vec::new();
        for vertices in cells.into_iter().filter(|cell| cell.len() > 1) {
            vertices.iter().for_each(|&vertex| part_of[vertex as usize] = parts.len() as u32);
            parts.push(Part { vertices, order: UBig::ONE, names: None });
        }
        let mut generators: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (index, generator) in self.generators.iter().enumerate() {
            if let Some(&(first, _)) = generator.moves().first() {
                generators[part_of[first as usize] as usize].push(index);
            }
        }
        let mut orbits: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (&point, &orbit) in self.base.iter().zip(&self.orbit_sizes) {
            if let Some(of_part) = orbits.get_mut(part_of[point as usize] as usize) {
                of_part.push(orbit);
            }
        }
        let mut place = vec![0; self.degree];
        for (part, (own, orbits)) in parts.iter_mut().zip(generators.iter().zip(orbits)) {
            control.check()?;
            part.order = product(orbits);
            let points = part.vertices.len();
            if swaps.size_of(part.vertices[0]) == points {
                part.names = Some(vec![format!("S{points}")]);
            } else if points.saturating_mul(own.len()) <= RESTRICTED {
                (0..).zip(&part.vertices).for_each(|(index, &vertex)| place[vertex as usize] = index);
                let restricted: Vec<Permutation> =
                    own.iter().map(|&index| self.restricted(index, part, &place)).collect();
                let mut group = on_one_orbit(points, &restricted, &part.order, control)?;
                if group.is_none() && points.saturating_mul(own.len()) <= RECOGNISED {
                    group = Some(PermutationGroup::with_order(points, &restricted, &part.order, control)?);
                }
                if let Some(group) = group {
                    part.names = Some(group.structure(control)?.factor_names());
                }
            }
        }
        Ok(parts)
    }

    fn restricted(&self, index: usize, part: &Part, place: &[Point]) -> Permutation {
        let mut images: Vec<Point> = (0..part.vertices.len() as Point).collect();
        for &(from, to) in self.generators[index].moves() {
            images[place[from as usize] as usize] = place[to as usize];
        }
        Permutation::from_bijection(images)
    }
}
