//! Names for groups whose order is known: quick ways first, then the recogniser.
//!
//! A large group is named without a chain where that can be proved: a symmetric group by transpositions that connect
//! all points, a ring by its rotation (`ring`), a wreath product by its blocks (`copies`). Everything else is left to
//! `recognise`, as far as its size allows. A group that is not named is described by its order alone, so a name is
//! always a theorem.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::bound::restrict_all;
use crate::copies::Touching;
use crate::graph::SparsePermutation;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::ring::Ring;

/// Points from which the quick ways are worth a try.
pub(crate) const MANY_POINTS: usize = 40;

/// Points times generators up to which generators are written out, and up to which a group is recognised on all its
/// points.
const WRITTEN_OUT: usize = 1 << 24;
const RECOGNISED: usize = 1 << 15;

/// Points of an orbit that may show the whole group, and how many orbits are tried.
const LARGEST_ORBIT: usize = 1 << 12;
const ORBITS_TRIED: usize = 8;

/// The names of the factors of a group; one that is a product or a wreath product is in brackets.
pub(crate) type Names = Vec<String>;

/// The name as a part of a larger name.
pub(crate) fn bracketed(names: &[String]) -> String {
    match names {
        [] => "1".to_string(),
        [only] => only.clone(),
        _ => format!("({})", names.join(" × ")),
    }
}

/// The names of the factors of a group that has its chain.
pub(crate) fn names_of_group(group: &PermutationGroup, control: &Control) -> Result<Names, Stopped> {
    if group.giants().is_none() && group.degree() >= MANY_POINTS {
        let sparse: Vec<SparsePermutation> = group.generators().iter().map(SparsePermutation::of).collect();
        if let Some(name) = quick_name(group.degree(), &sparse, &group.order(), &[], control)? {
            return Ok(vec![name]);
        }
    }
    Ok(group.structure(control)?.factor_names())
}

/// The name of a group of this order that moves every point, by one of the quick ways.
pub(crate) fn quick_name(
    degree: usize,
    generators: &[SparsePermutation],
    order: &UBig,
    systems: &[Vec<Vec<Point>>],
    control: &Control,
) -> Result<Option<String>, Stopped> {
    let mut swaps = Orbits::trivial(degree);
    for generator in generators {
        if let [(one, other), _] = generator.moves() {
            swaps.merge(*one, *other);
        }
    }
    if degree > 1 && swaps.count() == 1 {
        return Ok(Some(format!("S{degree}")));
    }
    if let Some(name) = ring_name(degree, generators, order, control)? {
        return Ok(Some(name));
    }
    let name = Touching::new(degree, generators).wreath_name(order, systems, control)?;
    Ok(name.map(|name| format!("({name})")))
}

/// A cyclic or dihedral group by one of the orbits on which it is faithful.
fn ring_name(
    degree: usize,
    generators: &[SparsePermutation],
    order: &UBig,
    control: &Control,
) -> Result<Option<String>, Stopped> {
    let could_be = |length: usize| *order == UBig::from(length) || *order == UBig::from(2 * length);
    let mut orbits = Orbits::trivial(degree);
    for &(from, to) in generators.iter().flat_map(SparsePermutation::moves) {
        orbits.merge(from, to);
    }
    let orbits: Vec<Vec<Point>> = orbits.cells().into_iter().filter(|orbit| could_be(orbit.len())).collect();
    if orbits.is_empty() || degree.saturating_mul(generators.len()) > WRITTEN_OUT {
        return Ok(None);
    }
    let dense = written_out(degree, generators, control)?;
    for orbit in orbits.iter().take(ORBITS_TRIED) {
        // An image of the full order shows the group.
        if let Some(ring) = Ring::of(&restrict_all(degree, &dense, orbit), control)?
            && ring.order() == *order
            && let Some(name) = ring.name()
        {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

pub(crate) fn written_out(
    degree: usize,
    generators: &[SparsePermutation],
    control: &Control,
) -> Result<Vec<Permutation>, Stopped> {
    control.afford(degree.saturating_mul(4).saturating_mul(generators.len()))?;
    Ok(generators.iter().map(|generator| generator.to_permutation(degree)).collect())
}

/// A group without a chain, whose order is known, made one that can be recognised; `None` when it is too large.
pub(crate) fn small_enough(
    degree: usize,
    generators: &[SparsePermutation],
    order: &UBig,
    control: &Control,
) -> Result<Option<PermutationGroup>, Stopped> {
    let size = degree.saturating_mul(generators.len());
    if size > WRITTEN_OUT {
        return Ok(None);
    }
    let dense = written_out(degree, generators, control)?;
    // Many points may follow a few, and these show all of the group.
    let mut orbits = Orbits::of(degree, &dense).cells();
    orbits.retain(|orbit| orbit.len() > 1);
    orbits.sort_by_key(Vec::len);
    let tried = if degree < 5 * MANY_POINTS { 0 } else { ORBITS_TRIED };
    for orbit in orbits.iter().filter(|orbit| orbit.len() < degree.min(LARGEST_ORBIT)).take(tried) {
        let smaller = PermutationGroup::generate(orbit.len(), &restrict_all(degree, &dense, orbit), control)?;
        if smaller.order() == *order {
            return Ok(Some(smaller));
        }
    }
    if size > RECOGNISED {
        return Ok(None);
    }
    PermutationGroup::with_order(degree, &dense, order, control).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick(degree: usize, generators: &[&str]) -> Option<String> {
        let control = Control::unlimited();
        let parse = |text: &&str| Permutation::parse(text, degree).expect("the notation is right");
        let dense: Vec<Permutation> = generators.iter().map(parse).collect();
        let order = PermutationGroup::generate(degree, &dense, &control).expect("nothing stops it").order();
        let sparse: Vec<SparsePermutation> = dense.iter().map(SparsePermutation::of).collect();
        quick_name(degree, &sparse, &order, &[], &control).expect("nothing stops it")
    }

    #[test]
    fn quick_names_are_right() {
        assert_eq!(quick(4, &["(1,2)", "(2,3)", "(3,4)"]).as_deref(), Some("S4"));
        assert_eq!(quick(7, &["(1,2,3,4,5,6,7)"]).as_deref(), Some("C7"));
        assert_eq!(quick(7, &["(2,7)(3,6)(4,5)", "(1,2)(3,7)(4,6)"]).as_deref(), Some("D7"));
        // A ring with a second orbit that follows.
        assert_eq!(quick(10, &["(1,2,3,4,5)(6,7,8,9,10)", "(2,5)(3,4)(6,7)(8,10)"]).as_deref(), Some("D5"));
        assert_eq!(quick(6, &["(1,2)", "(1,3)(2,4)", "(3,5)(4,6)"]).as_deref(), Some("(S2 wr S3)"));
        // The flip turns two blocks at once, so half of the wreath product is missing.
        assert_eq!(quick(6, &["(1,2)(3,4)", "(1,3)(2,4)", "(3,5)(4,6)"]), None);
        assert_eq!(quick(6, &["(1,2)", "(1,3,5)(2,4,6)"]).as_deref(), Some("(S2 wr C3)"));
        assert_eq!(quick(9, &["(1,2,3)", "(1,4)(2,5)(3,6)", "(4,7)(5,8)(6,9)"]).as_deref(), Some("(C3 wr S3)"));
        assert_eq!(quick(11, &["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"]), None);
        // A holomorph larger than the dihedral group.
        assert_eq!(quick(7, &["(1,2,3,4,5,6,7)", "(2,3,5)(4,7,6)"]), None);
    }

    #[test]
    fn quick_names_agree_with_the_recogniser() {
        let control = Control::unlimited();
        let mut named = 0;
        for seed in 0..400 {
            let mut random = crate::random::Random::new(seed);
            let (size, count) = (2 + random.below(3), 2 + random.below(3));
            let degree = size * count;
            let mut generators = Vec::new();
            for _ in 0..1 + random.below(3) {
                // Any element of the wreath product of symmetric groups, often one that stays in the first block.
                let across =
                    if random.below(2) == 0 { Permutation::identity(count) } else { random.permutation(count) };
                let mut images = vec![0; degree];
                for block in 0..count {
                    let stays = block > 0 && random.below(3) > 0;
                    let within = if stays { Permutation::identity(size) } else { random.permutation(size) };
                    for point in 0..size {
                        let to = across.image(block as Point) as usize * size;
                        images[block * size + point] = to as Point + within.image(point as Point);
                    }
                }
                generators.push(Permutation::from_bijection(images));
            }
            if Orbits::of(degree, &generators).count() > 1 {
                continue;
            }
            let group = PermutationGroup::generate(degree, &generators, &control).expect("nothing stops it");
            let sparse: Vec<SparsePermutation> = generators.iter().map(SparsePermutation::of).collect();
            let quick = quick_name(degree, &sparse, &group.order(), &[], &control).expect("nothing stops it");
            let names = group.structure(&control).expect("nothing stops it").factor_names();
            if let Some(quick) = quick {
                // Over other blocks the same group may be another wreath product; the orders of their parts decide.
                named += 1;
                if !quick.contains("wr") {
                    assert_eq!([quick], names[..], "seed {seed}");
                } else {
                    assert!(names[0].contains("wr"), "seed {seed}: {quick} {names:?}");
                }
            }
        }
        assert!(named > 30, "{named}");
    }
}
