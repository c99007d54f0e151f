//! Groups of a ring: transitive groups of degree `n` in which an `n`-cycle generates a normal subgroup.
//!
//! Let `c` be an `n`-cycle of the group and let every generator `g` carry it to a power of itself, `g⁻¹ c g = cᵏ`. What
//! commutes with `c` is a power of it, so the group modulo the powers of `c` is the group of the multipliers `k` modulo
//! `n`, and the order is `n` times the number of products of multipliers. With 1 alone the group is cyclic, with 1 and
//! -1 dihedral. So the order of a ring of any length is known for certain in a few passes over the points, where
//! Schreier's lemma would take `n` products of length `n`.
//!
//! An `n`-cycle is looked for among the generators and then among [`TRIES`] random elements; of a cyclic or dihedral
//! group one in every few is one. Where none is found, there is no answer. In a dihedral group of at least four points
//! all `n`-cycles have the same powers, so the first that is found decides.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::permutation::{Permutation, Point};
use crate::random::ProductReplacement;

/// Random elements that are tried.
const TRIES: usize = 160;

/// A ring of points that a group keeps.
pub(crate) struct Ring {
    length: usize,
    /// By how much each generator turns the ring over, 1 for a rotation; ascending and different.
    multipliers: Vec<usize>,
}

impl Ring {
    /// The ring of a transitive group, when it has one and it is found.
    pub(crate) fn of(generators: &[Permutation], control: &Control) -> Result<Option<Ring>, Stopped> {
        let Some(first) = generators.first() else { return Ok(None) };
        let degree = first.degree();
        if degree < 3 {
            return Ok(None);
        }
        for generator in generators {
            control.check()?;
            if let Some(points) = walk(generator.images()) {
                return Ok(Ring::kept(&points, generators));
            }
        }
        control.afford(degree.saturating_mul(8).saturating_mul(generators.len() + 16))?;
        let mut source = ProductReplacement::new(generators, 5);
        for _ in 0..TRIES {
            control.check()?;
            if let Some(points) = walk(source.next()) {
                return Ok(Ring::kept(&points, generators));
            }
        }
        Ok(None)
    }

    fn kept(points: &[Point], generators: &[Permutation]) -> Option<Ring> {
        let length = points.len();
        let mut place = vec![0; length];
        points.iter().enumerate().for_each(|(position, &point)| place[point as usize] = position);
        let mut multipliers = Vec::new();
        for generator in generators {
            let at = |position: usize| place[generator.image(points[position % length]) as usize];
            let multiplier = (at(1) + length - at(0)) % length;
            if (1..length).any(|position| (at(position) + multiplier) % length != at(position + 1)) {
                return None;
            }
            multipliers.push(multiplier);
        }
        multipliers.sort_unstable();
        multipliers.dedup();
        Some(Ring { length, multipliers })
    }

    /// The order of the group.
    pub(crate) fn order(&self) -> UBig {
        // The products of multipliers, each found from an earlier one.
        let mut known = vec![false; self.length];
        known[1] = true;
        let mut products = vec![1];
        let mut done = 0;
        while done < products.len() {
            for multiplier in &self.multipliers {
                let product = (products[done] as u128 * *multiplier as u128 % self.length as u128) as usize;
                if !std::mem::replace(&mut known[product], true) {
                    products.push(product);
                }
            }
            done += 1;
        }
        UBig::from(self.length) * UBig::from(products.len())
    }

    /// `C7` or `D7`; nothing for a larger group of the ring.
    pub(crate) fn name(&self) -> Option<String> {
        let length = self.length;
        if self.multipliers == [1] {
            Some(format!("C{length}"))
        } else if length > 3 && self.multipliers.iter().all(|&multiplier| multiplier == 1 || multiplier == length - 1) {
            Some(format!("D{length}"))
        } else {
            None
        }
    }
}

/// The points in the order in which a permutation of one cycle walks them.
fn walk(images: &[Point]) -> Option<Vec<Point>> {
    let mut points = vec![0];
    let mut point = images[0];
    while point != 0 {
        points.push(point);
        point = images[point as usize];
    }
    (points.len() == images.len()).then_some(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::PermutationGroup;
    use crate::random::Random;

    #[test]
    fn rings_have_the_order_of_their_group() {
        let control = Control::unlimited();
        let mut random = Random::new(3);
        for round in 0..300 {
            let length = 3 + random.below(28);
            let renamed = random.permutation(length);
            // Affine maps of the ring, always with a rotation by one among them or their products.
            let affine = |multiplier: usize, turn: usize| {
                let images = (0..length).map(|point| ((point * multiplier + turn) % length) as Point).collect();
                Permutation::from_bijection(images).conjugate(&renamed)
            };
            let mut generators = vec![affine(1, 1)];
            for _ in 0..random.below(3) {
                let multiplier = 1 + random.below(length - 1);
                if gcd(multiplier, length) == 1 {
                    generators.push(affine(multiplier, random.below(length)));
                }
            }
            if round % 3 == 0 {
                generators = vec![affine(length - 1, 0), affine(length - 1, 1)];
            }
            let group = PermutationGroup::generate(length, &generators, &control).expect("nothing stops it");
            let ring = Ring::of(&generators, &control).expect("nothing stops it").expect("there is a ring");
            assert_eq!(ring.order(), group.order(), "round {round}: {generators:?}");
            if let Some(name) = ring.name().filter(|_| length > 4) {
                assert_eq!(name, group.structure(&control).expect("nothing stops it").name(), "round {round}");
            }
        }
        // The symmetric group keeps no ring.
        let symmetric = PermutationGroup::symmetric(9, &control).expect("nothing stops it");
        assert!(Ring::of(symmetric.generators(), &control).expect("nothing stops it").is_none());
    }

    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }
}
