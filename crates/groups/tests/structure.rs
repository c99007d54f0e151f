//! Recognised structures: rebuilt from what they say and compared with enumeration; named groups by name.

mod support;

use std::collections::BTreeSet;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{Kind, Permutation, PermutationGroup, Point, Random, Structure, UBig};

fn structure_of(degree: usize, generators: &[Permutation]) -> Structure {
    let control = Control::unlimited();
    let group = PermutationGroup::generate(degree, generators, &control).expect("nothing stops it");
    group.structure(&control).expect("nothing stops it")
}

fn name_of(generators: &[Permutation]) -> String {
    structure_of(0, generators).name()
}

/// Checks what each node promises, and gives generators of the group that the tree describes.
fn rebuild(structure: &Structure, context: &str) -> Vec<Permutation> {
    let generators = match &structure.kind {
        Kind::Trivial => Vec::new(),
        Kind::Symmetric { points, swaps } => {
            assert_eq!(swaps.len() + 1, points.len(), "{context}");
            for (index, swap) in swaps.iter().enumerate() {
                for (place, &point) in points.iter().enumerate() {
                    let target = if place == index {
                        index + 1
                    } else if place == index + 1 {
                        index
                    } else {
                        place
                    };
                    assert_eq!(swap.image(point), points[target], "{context}");
                }
            }
            swaps.clone()
        }
        Kind::Alternating { points, turns } => {
            for (index, turn) in turns.iter().enumerate() {
                assert_eq!(turn.image(points[index]), points[index + 1], "{context}");
                assert_eq!(turn.image(points[index + 1]), points[index + 2], "{context}");
                assert_eq!(turn.image(points[index + 2]), points[index], "{context}");
            }
            turns.clone()
        }
        Kind::Cyclic { generator } => vec![generator.clone()],
        Kind::Dihedral { points, rotation, reflection } => {
            let n = points.len();
            for (index, &point) in points.iter().enumerate() {
                assert_eq!(rotation.image(point), points[(index + 1) % n], "{context}");
                assert_eq!(reflection.image(point), points[(n - index) % n], "{context}");
            }
            vec![rotation.clone(), reflection.clone()]
        }
        Kind::Product { factors } => {
            let moved: Vec<Point> = factors.iter().flat_map(|factor| factor.moved.clone()).collect();
            assert_eq!(moved.len(), moved.iter().collect::<BTreeSet<_>>().len(), "factors overlap, {context}");
            factors.iter().flat_map(|factor| rebuild(factor, context)).collect()
        }
        Kind::Wreath { blocks, base, top } => {
            let mut generators = rebuild(base, context);
            let others: Vec<Point> = blocks[1..].concat();
            assert!(generators.iter().all(|element| others.iter().all(|&point| element.image(point) == point)));
            for element in rebuild(top, context) {
                for block in blocks {
                    let target = blocks.iter().find(|target| target[0] == element.image(block[0])).expect(context);
                    let images: Vec<Point> = block.iter().map(|&point| element.image(point)).collect();
                    assert_eq!(&images, target, "{context}");
                }
                generators.push(element);
            }
            generators
        }
        Kind::Other { generators } => generators.clone(),
    };
    let moved: BTreeSet<Point> = generators.iter().flat_map(Permutation::support).collect();
    assert_eq!(structure.moved, moved.into_iter().collect::<Vec<_>>(), "{context}");
    generators
}

#[test]
fn structures_of_random_groups_describe_them() {
    let mut others = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let oracle = enumerate(degree, &generators);
        let structure = structure_of(degree, &generators);
        let context = format!("seed {seed}, {structure}");
        assert_eq!(structure.order, UBig::from(oracle.len()), "{context}");
        assert_eq!(enumerate(degree, &rebuild(&structure, &context)), oracle, "{context}");
        others += usize::from(structure.to_string().contains("group of order"));
    }
    assert!(others < 60, "{others} of 300 are not recognised");
}

#[test]
fn products_are_the_finest() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        // Two independent random elements of a product, so that orbits are tied in all ways.
        let parts = [symmetric(3), symmetric(2), symmetric(3), vec![cycle(4)]];
        let pick = |random: &mut Random| parts[random.below(4)].clone();
        let whole = direct_product(&direct_product(&pick(&mut random), &pick(&mut random)), &pick(&mut random));
        let degree = whole[0].degree();
        let group = PermutationGroup::generate(degree, &whole, &Control::unlimited()).expect("nothing stops it");
        let count = 1 + random.below(4);
        let generators: Vec<Permutation> = (0..count).map(|_| group.random_element(&mut random)).collect();
        let oracle = enumerate(degree, &generators);
        let structure = structure_of(degree, &generators);
        let factors = match &structure.kind {
            Kind::Trivial => 0,
            Kind::Product { factors } => factors.len(),
            _ => 1,
        };
        let subgroup =
            PermutationGroup::generate(degree, &generators, &Control::unlimited()).expect("nothing stops it");
        let orbits: Vec<Vec<Point>> = subgroup.orbits().into_iter().filter(|orbit| orbit.len() > 1).collect();
        // A union of orbits splits off exactly when cutting an element down to it stays in the group.
        let splits = |chosen: u32| {
            oracle.iter().all(|element| {
                let mut cut: Vec<Point> = (0..degree as Point).collect();
                for (_, orbit) in orbits.iter().enumerate().filter(|(number, _)| chosen >> number & 1 == 1) {
                    orbit.iter().for_each(|&point| cut[point as usize] = element[point as usize]);
                }
                oracle.contains(&cut)
            })
        };
        let splitting = (0..1u32 << orbits.len()).filter(|&chosen| splits(chosen)).count();
        assert_eq!(splitting, 1 << factors, "seed {seed}: {structure}");
    }
}

#[test]
fn named_groups_are_called_by_their_names() {
    assert_eq!(name_of(&[]), "the trivial group");
    assert_eq!(name_of(&symmetric(5)), "S5");
    assert_eq!(name_of(&symmetric(30)), "S30");
    assert_eq!(name_of(&alternating(6)), "A6");
    assert_eq!(name_of(&[cycle(12)]), "C12");
    assert_eq!(name_of(&dihedral(9)), "D9");
    assert_eq!(name_of(&dihedral(4)), "D4");
    assert_eq!(name_of(&direct_product(&symmetric(3), &dihedral(6))), "S3 × D6");
    assert_eq!(name_of(&wreath_product(&symmetric(3), &symmetric(4))), "S3 wr S4");
    assert_eq!(name_of(&wreath_product(&[cycle(6)], &symmetric(2))), "C6 wr S2");
    assert_eq!(name_of(&wreath_product(&symmetric(3), &[cycle(5)])), "S3 wr C5");
    assert_eq!(name_of(&wreath_product(&symmetric(10), &symmetric(12))), "S10 wr S12");
    let nested = wreath_product(&wreath_product(&symmetric(2), &symmetric(3)), &symmetric(4));
    assert_eq!(name_of(&nested), "S2 wr (S3 wr S4)");
    let mixture = direct_product(&wreath_product(&[cycle(3)], &dihedral(5)), &symmetric(4));
    assert_eq!(name_of(&mixture), "(C3 wr D5) × S4");
    let blocks_of_two_orbits = wreath_product(&direct_product(&symmetric(3), &symmetric(2)), &symmetric(3));
    assert_eq!(name_of(&blocks_of_two_orbits), "(S3 × S2) wr S3");
    let three_orbits = direct_product(&direct_product(&symmetric(3), &[cycle(4)]), &dihedral(5));
    assert_eq!(name_of(&wreath_product(&three_orbits, &[cycle(2)])), "(S3 × C4 × D5) wr S2");
    assert_eq!(name_of(&parse_all(&MATHIEU_11)), "a group of order 7920");
    assert_eq!(name_of(&parse_all(&["(1,2,3,4)(5,6,7,8,9,10)"])), "C12");
    // The regular action of S3, and the quaternion group: in no natural action.
    assert_eq!(name_of(&parse_all(&["(1,2,3)(4,5,6)", "(1,4)(2,6)(3,5)"])), "a group of order 6");
    assert_eq!(name_of(&parse_all(&["(1,2,3,4)(5,6,7,8)", "(1,5,3,7)(2,8,4,6)"])), "a group of order 8");
}

#[test]
fn points_that_follow_are_told() {
    // All permutations of four processes, with a channel for every ordered pair of them.
    let pairs: Vec<(u32, u32)> = (0..4).flat_map(|a| (0..4).filter(move |&b| a != b).map(move |b| (a, b))).collect();
    let lifted = |permutation: &Permutation| {
        let mut images: Vec<Point> = permutation.images().to_vec();
        for &(a, b) in &pairs {
            let image = (permutation.image(a), permutation.image(b));
            images.push(4 + pairs.iter().position(|&pair| pair == image).expect("a pair") as Point);
        }
        Permutation::from_images(images).expect("pairs are permuted")
    };
    let generators: Vec<Permutation> = symmetric(4).iter().map(lifted).collect();
    assert_eq!(structure_of(16, &generators).to_string(), "S4 on {1..4} moving {5..16} along");
}

#[test]
fn the_load_balancer_has_432_symmetries() {
    let generators = parse_all(&[
        "(5,6)(16,17)",
        "(4,5)(15,16)",
        "(2,3)(13,14)",
        "(1,2)(12,13)",
        "(8,9)(19,20)",
        "(7,8)(18,19)",
        "(1,4)(2,5)(3,6)(10,11)(12,15)(13,16)(14,17)(21,22)",
    ]);
    let structure = structure_of(22, &generators);
    assert_eq!(structure.order, UBig::from(432u32));
    assert_eq!(structure.name(), "(S3 wr S2) × S3");
    let words = "(S3 wr S2) on {1..6} moving {10..17,21,22} along × S3 on {7,8,9} moving {18,19,20} along";
    assert_eq!(structure.to_string(), words);
    assert_eq!(enumerate(22, &rebuild(&structure, "load balancer")).len(), 432);
}
