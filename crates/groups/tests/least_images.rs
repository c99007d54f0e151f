//! Least images against the least of all images, listed one by one.

mod support;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{LeastImages, Permutation, PermutationGroup, Point, Random, UBig};

/// Every point takes its colour along.
fn moved(colours: &[u32], element: &[Point]) -> Vec<u32> {
    let mut image = vec![0; colours.len()];
    for (point, &colour) in colours.iter().enumerate() {
        image[element[point] as usize] = colour;
    }
    image
}

fn prepared(degree: usize, generators: &[Permutation]) -> LeastImages {
    let control = Control::unlimited();
    let group = PermutationGroup::generate(degree, generators, &control).expect("nothing stops it");
    LeastImages::new(&group, &control).expect("nothing stops it")
}

#[test]
fn least_images_under_random_groups() {
    let control = Control::unlimited();
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let oracle = enumerate(degree, &generators);
        let images = prepared(degree, &generators);
        for _ in 0..6 {
            let kinds = 1 + random.below(4);
            let colours: Vec<u32> = (0..degree).map(|_| random.below(kinds) as u32).collect();
            let found = images.of(&colours, &control).expect("nothing stops it");
            let least = oracle.iter().map(|element| moved(&colours, element)).min().expect("the identity");
            assert_eq!(found.colours, least, "colours {colours:?}, seed {seed}");
            assert_eq!(moved(&colours, found.element.images()), least, "colours {colours:?}, seed {seed}");
            assert!(oracle.contains(found.element.images()), "seed {seed}");
            let fixing = oracle.iter().filter(|element| moved(&colours, element) == colours).count();
            assert_eq!(found.stabiliser.order(), UBig::from(fixing), "colours {colours:?}, seed {seed}");
        }
    }
}

#[test]
fn one_image_for_each_orbit_of_named_families() {
    let control = Control::unlimited();
    let families = [
        symmetric(12),
        alternating(10),
        dihedral(14),
        direct_product(&symmetric(5), &[cycle(7)]),
        wreath_product(&symmetric(4), &symmetric(4)),
        wreath_product(&[cycle(3)], &dihedral(5)),
        parse_all(&MATHIEU_11),
        parse_all(&MATHIEU_12),
    ];
    for (number, generators) in families.iter().enumerate() {
        let mut random = Random::new(number as u64);
        let degree = generators[0].degree();
        let group = PermutationGroup::generate(degree, generators, &control).expect("nothing stops it");
        let images = LeastImages::new(&group, &control).expect("nothing stops it");
        for _ in 0..8 {
            let kinds = 1 + random.below(4);
            let colours: Vec<u32> = (0..degree).map(|_| random.below(kinds) as u32).collect();
            let found = images.of(&colours, &control).expect("nothing stops it");
            assert!(group.contains(&found.element), "family {number}");
            assert!(found.colours <= colours, "family {number}");
            let element = group.random_element(&mut random);
            let again = images.of(&moved(&colours, element.images()), &control).expect("nothing stops it");
            assert_eq!(again.colours, found.colours, "family {number}, {colours:?}");
            assert_eq!(again.stabiliser.order(), found.stabiliser.order(), "family {number}");
        }
    }
}

#[test]
fn the_symmetric_group_sorts() {
    let control = Control::unlimited();
    let images = prepared(60, &symmetric(60));
    let mut random = Random::new(3);
    let colours: Vec<u32> = (0..60).map(|_| random.below(5) as u32).collect();
    let mut sorted = colours.clone();
    sorted.sort_unstable();
    assert_eq!(images.of(&colours, &control).expect("nothing stops it").colours, sorted);
}
