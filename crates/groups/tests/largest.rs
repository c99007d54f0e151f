//! The largest subgroup with a property, against all elements of small groups.

mod support;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Random, UBig, largest_subgroup};

fn generate(degree: usize, generators: &[Permutation]) -> PermutationGroup {
    PermutationGroup::generate(degree, generators, &Control::unlimited()).expect("nothing stops it")
}

/// The order of what is found, and whether it was said to be all.
fn found(generators: &[Permutation], effort: usize, holds: &dyn Fn(&Permutation) -> bool) -> (UBig, bool) {
    let degree = generators.first().map_or(0, Permutation::degree);
    let found = largest_subgroup(generators, effort, &Control::unlimited(), &mut |element| holds(element));
    let found = found.expect("nothing stops it");
    assert!(found.generators.iter().all(holds), "a generator without the property");
    (generate(degree, &found.generators).order(), found.complete)
}

#[test]
fn the_whole_of_a_subgroup_is_found() {
    let mut smaller = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let all = generate(degree, &generators);
        // Elements that some other group has as well.
        let (_, others) = random_generators(&mut Random::new(seed + 1000), 7);
        let others: Vec<Permutation> = others.iter().map(|other| other.extended(degree.max(other.degree()))).collect();
        let other = generate(degree.max(7), &others);
        let member = |element: &Permutation| other.contains(&element.extended(degree.max(7)));
        // Elements that keep a set.
        let set: Vec<u32> = (0..degree as u32).filter(|_| random.below(2) == 0).collect();
        let keeps = |element: &Permutation| set.iter().all(|&point| set.contains(&element.image(point)));
        for holds in [&member as &dyn Fn(&Permutation) -> bool, &keeps] {
            let expected = all.elements().filter(|element| holds(element)).count();
            let (order, complete) = found(&generators, 100_000, holds);
            assert!(complete, "seed {seed}");
            assert_eq!(order, UBig::from(expected), "seed {seed}");
            smaller += usize::from(expected > 1 && UBig::from(expected) < all.order());
        }
    }
    assert!(smaller > 50, "{smaller}");
}

#[test]
fn little_effort_finds_something_and_says_so() {
    // All permutations of 12 points, given by exchanges of neighbours; those that keep {0, 5} and {1, 2, 3} are wanted.
    let exchange = |point: u32| {
        let mut images: Vec<u32> = (0..12).collect();
        images.swap(point as usize, point as usize + 1);
        Permutation::from_images(images).expect("an exchange")
    };
    let generators: Vec<Permutation> = (0..11).map(exchange).collect();
    let keeps = |element: &Permutation| {
        [&[0, 5][..], &[1, 2, 3]].iter().all(|set| set.iter().all(|&point| set.contains(&element.image(point))))
    };
    // The rest is 7 points: 2! 3! 7!.
    let (order, complete) = found(&generators, 2_000, &keeps);
    assert_eq!(order, UBig::from(2u32 * 6 * 5040));
    assert!(!complete, "so few elements do not show that there are no more");
}
