//! Stabiliser chains and everything on top of them, against enumeration on small random groups and against known
//! orders.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use support::*;
use trefoil_control::{Control, Limits};
use trefoil_groups::{Elements, Permutation, PermutationGroup, Point, Random, UBig};

fn generate(degree: usize, generators: &[Permutation]) -> PermutationGroup {
    PermutationGroup::generate(degree, generators, &Control::unlimited()).expect("nothing stops it")
}

fn order_of(generators: &[Permutation]) -> String {
    generate(0, generators).order().to_string()
}

fn elements_of(group: &PermutationGroup) -> BTreeSet<Vec<Point>> {
    group.elements().map(|element| element.images().to_vec()).collect()
}

#[test]
fn order_membership_and_elements_on_random_groups() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let oracle = enumerate(degree, &generators);
        let group = generate(degree, &generators);
        assert_eq!(group.order(), UBig::from(oracle.len()), "seed {seed}");
        let listed: Vec<Permutation> = group.elements().collect();
        assert_eq!(listed.len(), oracle.len(), "seed {seed}");
        assert!(listed.iter().all(|element| oracle.contains(element.images())), "seed {seed}");
        let base = group.chain().base();
        let on_base = |element: &Permutation| base.iter().map(|&point| element.image(point)).collect::<Vec<_>>();
        assert!(listed.windows(2).all(|pair| on_base(&pair[0]) < on_base(&pair[1])), "order of elements, seed {seed}");
        for _ in 0..20 {
            let any = random.permutation(degree);
            assert_eq!(group.contains(&any), oracle.contains(any.images()), "seed {seed}");
            assert!(oracle.contains(group.random_element(&mut random).images()), "seed {seed}");
        }
    }
}

#[test]
fn random_elements_are_uniform() {
    let group = generate(5, &symmetric(5));
    let mut random = Random::new(1);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..120 * 100 {
        *counts.entry(group.random_element(&mut random)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 120);
    assert!(counts.values().all(|count| (50..170).contains(count)), "{counts:?}");
}

#[test]
fn orbits_transversals_and_cosets_on_random_groups() {
    let control = Control::unlimited();
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let oracle = enumerate(degree, &generators);
        let group = generate(degree, &generators);
        for point in 0..degree as Point {
            let reached: BTreeSet<Point> = oracle.iter().map(|element| element[point as usize]).collect();
            assert_eq!(group.orbit(point), reached.iter().copied().collect::<Vec<_>>(), "seed {seed}");
            let transversal = group.transversal(point, &control).expect("nothing stops it");
            assert_eq!(transversal.len(), reached.len(), "seed {seed}");
            for (image, element) in transversal {
                assert_eq!(element.image(point), image, "seed {seed}");
                assert!(oracle.contains(element.images()), "seed {seed}");
            }
        }
        let chain = group.chain();
        for depth in 0..=chain.base().len() {
            let base = &chain.base()[..depth];
            let images = |element: &[Point]| base.iter().map(|&point| element[point as usize]).collect::<Vec<_>>();
            let cosets: Vec<Vec<Point>> =
                Elements::cosets(chain, depth).map(|element| images(element.images())).collect();
            let expected: BTreeSet<Vec<Point>> = oracle.iter().map(|element| images(element)).collect();
            assert_eq!(cosets, expected.into_iter().collect::<Vec<_>>(), "seed {seed}");
        }
    }
}

#[test]
fn stabilisers_on_random_groups() {
    let control = Control::unlimited();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let oracle = enumerate(degree, &generators);
        let group = generate(degree, &generators);
        let set: Vec<Point> = (0..degree as Point).filter(|_| random.below(3) == 0).collect();

        let fixing: BTreeSet<Vec<Point>> = oracle
            .iter()
            .filter(|element| set.iter().all(|&point| element[point as usize] == point))
            .cloned()
            .collect();
        let found = group.pointwise_stabiliser(&set, &control).expect("nothing stops it");
        assert_eq!(elements_of(&found), fixing, "pointwise {set:?}, seed {seed}");

        let mapping: BTreeSet<Vec<Point>> = oracle
            .iter()
            .filter(|element| set.iter().all(|&point| set.contains(&element[point as usize])))
            .cloned()
            .collect();
        let found = group.set_stabiliser(&set, &control).expect("nothing stops it");
        assert_eq!(elements_of(&found), mapping, "set {set:?}, seed {seed}");

        let kinds = 1 + random.below(4);
        let colours: Vec<u32> = (0..degree).map(|_| random.below(kinds) as u32).collect();
        let cells: Vec<Vec<Point>> = (0..kinds as u32)
            .map(|kind| (0..degree as Point).filter(|&point| colours[point as usize] == kind).collect())
            .collect();
        let keeping: BTreeSet<Vec<Point>> = oracle
            .iter()
            .filter(|element| (0..degree).all(|point| colours[element[point] as usize] == colours[point]))
            .cloned()
            .collect();
        let found = group.partition_stabiliser(&cells, &control).expect("nothing stops it");
        assert_eq!(elements_of(&found), keeping, "cells {cells:?}, seed {seed}");
        let found = group.colouring_stabiliser(&colours, &control).expect("nothing stops it");
        assert_eq!(found.order(), UBig::from(keeping.len()), "colours {colours:?}, seed {seed}");
    }
}

#[test]
fn a_chosen_base_prefix_is_kept() {
    let control = Control::unlimited();
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 7);
        let group = generate(degree, &generators);
        let mut prefix: Vec<Point> = (0..degree as Point).collect();
        random.shuffle(&mut prefix);
        prefix.truncate(random.below(degree + 1));
        let chain = group.chain_with_base(&prefix, &control).expect("nothing stops it");
        assert_eq!(&chain.base()[..prefix.len()], prefix, "seed {seed}");
        assert_eq!(chain.order(), group.order(), "seed {seed}");
        let element = group.random_element(&mut random);
        let targets: Vec<Point> = chain.base().iter().map(|&point| element.image(point)).collect();
        assert_eq!(chain.carrier(&targets), Some(element), "seed {seed}");
    }
}

/// All partitions of the orbit that the group respects, by trying every partition.
fn block_systems_by_definition(orbit: &[Point], oracle: &BTreeSet<Vec<Point>>) -> Vec<BTreeSet<BTreeSet<Point>>> {
    fn partitions(points: &[Point]) -> Vec<Vec<BTreeSet<Point>>> {
        let Some((&first, rest)) = points.split_first() else { return vec![vec![]] };
        let mut all = Vec::new();
        for partition in partitions(rest) {
            for index in 0..partition.len() {
                let mut joined = partition.clone();
                joined[index].insert(first);
                all.push(joined);
            }
            let mut alone = partition;
            alone.push(BTreeSet::from([first]));
            all.push(alone);
        }
        all
    }
    let respected = |partition: &Vec<BTreeSet<Point>>| {
        oracle.iter().all(|element| {
            partition.iter().all(|block| {
                let image: BTreeSet<Point> = block.iter().map(|&point| element[point as usize]).collect();
                partition.contains(&image)
            })
        })
    };
    partitions(orbit)
        .into_iter()
        .filter(|partition| partition.len() > 1 && partition.len() < orbit.len() && respected(partition))
        .map(|partition| partition.into_iter().collect())
        .collect()
}

#[test]
fn minimal_blocks_on_random_groups() {
    let control = Control::unlimited();
    let mut with_blocks = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (base, top) = [(2, 4), (4, 2), (2, 3), (3, 2), (2, 2), (8, 1)][random.below(6)];
        let degree = base * top;
        let whole = generate(degree, &wreath_product(&symmetric(base.max(2)), &[cycle(top), dihedral(top)[1].clone()]));
        let generators: Vec<Permutation> = (0..2).map(|_| whole.random_element(&mut random)).collect();
        let oracle = enumerate(degree, &generators);
        if oracle.len() > 1000 {
            continue;
        }
        let group = generate(degree, &generators);
        let orbit = group.orbit(0);
        let all = block_systems_by_definition(&orbit, &oracle);
        let refines = |fine: &BTreeSet<BTreeSet<Point>>, coarse: &BTreeSet<BTreeSet<Point>>| {
            fine != coarse && fine.iter().all(|block| coarse.iter().any(|large| block.is_subset(large)))
        };
        let minimal: BTreeSet<BTreeSet<BTreeSet<Point>>> =
            all.iter().filter(|system| !all.iter().any(|other| refines(other, system))).cloned().collect();
        let found: BTreeSet<BTreeSet<BTreeSet<Point>>> = group
            .minimal_block_systems(0, &control)
            .expect("nothing stops it")
            .into_iter()
            .map(|system| system.into_iter().map(|block| block.into_iter().collect()).collect())
            .collect();
        assert_eq!(found, minimal, "seed {seed}");
        with_blocks += usize::from(!minimal.is_empty());
    }
    assert!(with_blocks > 20, "{with_blocks}");
}

#[test]
fn orders_of_named_groups() {
    assert_eq!(order_of(&symmetric(10)), "3628800");
    assert_eq!(order_of(&alternating(9)), "181440");
    assert_eq!(order_of(&dihedral(50)), "100");
    assert_eq!(order_of(&[cycle(97)]), "97");
    assert_eq!(order_of(&direct_product(&symmetric(4), &dihedral(5))), "240");
    assert_eq!(order_of(&wreath_product(&symmetric(3), &symmetric(4))), "31104");
    assert_eq!(order_of(&parse_all(&MATHIEU_11)), "7920");
    assert_eq!(order_of(&parse_all(&MATHIEU_12)), "95040");
    assert_eq!(order_of(&parse_all(&MATHIEU_24)), "244823040");
    assert_eq!(order_of(&parse_all(&CUBE)), "43252003274489856000");
    assert_eq!(order_of(&[]), "1");
}

#[test]
fn long_bases_are_proved_by_a_bound() {
    let factorial = |n: usize| (1..=n).fold(UBig::ONE, |product, k| product * UBig::from(k));
    assert_eq!(generate(0, &symmetric(60)).order(), factorial(60));
    assert_eq!(generate(0, &alternating(41)).order(), factorial(41) / UBig::from(2u8));
    let wreath = generate(0, &wreath_product(&symmetric(8), &symmetric(9)));
    assert_eq!(wreath.order(), factorial(8).pow(9) * factorial(9));
}

#[test]
fn points_that_follow_do_not_slow_the_proof() {
    // Thirty processes with a channel for each ordered and a lock for each unordered pair of them.
    let control = Control::unlimited();
    let n = 30;
    let mut names: Vec<Vec<Point>> = (0..n).map(|a| vec![a]).collect();
    names.extend((0..n).flat_map(|a| (0..n).filter(move |&b| a != b).map(move |b| vec![a, b])));
    names.extend((0..n).flat_map(|a| (0..a).map(move |b| vec![b, a, a])));
    let numbers: std::collections::BTreeMap<Vec<Point>, Point> = names.iter().cloned().zip(0..).collect();
    let lifted = |permutation: &Permutation| {
        let image = |name: &Vec<Point>| {
            let mut image: Vec<Point> = name.iter().map(|&point| permutation.image(point)).collect();
            if let [a, b, _] = image[..] {
                image = vec![a.min(b), a.max(b), a.max(b)];
            }
            numbers[&image]
        };
        Permutation::from_images(names.iter().map(image).collect()).expect("names are permuted")
    };
    let generators: Vec<Permutation> = symmetric(n as usize).iter().map(lifted).collect();
    let group = generate(names.len(), &generators);
    assert_eq!(group.order(), (1..=n).fold(UBig::ONE, |product, k| product * UBig::from(k)));
    let structure = group.structure(&control).expect("nothing stops it");
    assert_eq!(structure.name(), "S30");
}

#[test]
fn a_few_moves_among_many_points() {
    let control = Control::unlimited();
    let group = generate(0, &parse_all(&["(1,400000)(2,3)", "(7,8,9)"]));
    assert_eq!(group.order(), UBig::from(6u8));
    assert_eq!(group.structure(&control).expect("nothing stops it").name(), "S2 × C3");
    let ring = generate(0, &[cycle(20_000)]);
    assert_eq!(ring.order(), UBig::from(20_000u32));
    assert!(ring.contains(&cycle(20_000).power(777)));
    assert_eq!(ring.structure(&control).expect("nothing stops it").name(), "C20000");
}

#[test]
fn the_cube_knows_its_members() {
    let generators = parse_all(&CUBE);
    let cube = generate(48, &generators);
    let mut random = Random::new(7);
    let mut word = Permutation::identity(48);
    for _ in 0..100 {
        word = word.then(&generators[random.below(6)]);
    }
    assert!(cube.contains(&word));
    // One edge piece turned over alone, and two stickers exchanged, cannot be reached.
    assert!(!cube.contains(&parse("(7,18)")));
    assert!(!cube.contains(&parse("(1,3)")));
    let corner = cube.pointwise_stabiliser(&[0, 2, 5, 7], &Control::unlimited()).expect("nothing stops it");
    assert_eq!(cube.order() / corner.order(), UBig::from(24u32 * 21 * 18 * 15));
}

#[test]
fn set_stabilisers_in_large_groups() {
    let control = Control::unlimited();
    let factorial = |n: usize| (1..=n).fold(UBig::ONE, |product, k| product * UBig::from(k));
    let group = generate(0, &symmetric(40));
    let half: Vec<Point> = (0..20).map(|k| 2 * k).collect();
    let found = group.set_stabiliser(&half, &control).expect("nothing stops it");
    assert_eq!(found.order(), factorial(20) * factorial(20));
    // One point of each of six blocks of five: the blocks stay exchangeable.
    let wreath = generate(0, &wreath_product(&symmetric(5), &symmetric(6)));
    let picks: Vec<Point> = (0..6).map(|block| 5 * block).collect();
    let found = wreath.set_stabiliser(&picks, &control).expect("nothing stops it");
    assert_eq!(found.order(), factorial(4).pow(6) * factorial(6));
    let mathieu = generate(0, &parse_all(&MATHIEU_24));
    let found = mathieu.set_stabiliser(&[0, 1, 2, 3, 4], &control).expect("nothing stops it");
    // M24 is five times transitive, so it is transitive on sets of five points.
    assert_eq!(mathieu.order() / found.order(), UBig::from(42504u32));
}

#[test]
fn a_cancelled_job_stops() {
    let control = Control::unlimited();
    control.cancel();
    assert!(PermutationGroup::generate(0, &symmetric(50), &control).is_err());
}

/// All points in a cycle, and two of them exchanged.
fn two_generators(degree: u32, swapped: [u32; 2]) -> Vec<Permutation> {
    let cycle = (0..degree).map(|point| (point + 1) % degree).collect();
    let mut swap: Vec<u32> = (0..degree).collect();
    swap.swap(swapped[0] as usize, swapped[1] as usize);
    [cycle, swap].map(|images| Permutation::from_images(images).expect("a permutation")).to_vec()
}

#[test]
fn symmetric_groups_of_ten_thousand_points_are_immediate() {
    let control = Control::unlimited();
    let n = 10_000;
    let group = PermutationGroup::generate(0, &two_generators(n, [17, 18]), &control).expect("nothing stops it");
    let order = group.order().to_string();
    assert_eq!((order.len(), &order[..10]), (35_660, "2846259680"));
    assert_eq!(group.structure(&control).expect("nothing stops it").name(), "S10000");
    let mut random = Random::new(1);
    assert!(group.contains(&random.permutation(n as usize)));
    assert!(!group.contains(&random.permutation(n as usize + 1)));
    // What keeps {0..2} and {3..9999} apart, and then a point of each.
    let stabiliser = group.set_stabiliser(&[0, 1, 2], &control).expect("nothing stops it");
    assert_eq!(stabiliser.structure(&control).expect("nothing stops it").name(), "S3 × S9997");
    assert_eq!(stabiliser.orbits().len(), 2);
    let stabiliser = stabiliser.pointwise_stabiliser(&[1, 3], &control).expect("nothing stops it");
    assert_eq!(stabiliser.structure(&control).expect("nothing stops it").name(), "S2 × S9996");
    let most: Vec<u32> = (0..n - 3).collect();
    let small = group.pointwise_stabiliser(&most, &control).expect("nothing stops it");
    assert_eq!(small.structure(&control).expect("nothing stops it").name(), "S3");
}

#[test]
fn a_symmetric_group_without_a_chain_agrees_with_its_chain() {
    let control = Control::unlimited();
    let n = 410;
    let group = PermutationGroup::generate(0, &two_generators(n, [3, 4]), &control).expect("nothing stops it");
    assert_eq!(group.order(), group.chain().order());
    let mut random = Random::new(2);
    for _ in 0..5 {
        let element = group.random_element(&mut random);
        assert!(group.chain().contains(&element));
        assert!(group.contains(&group.chain().random_element(&mut random)));
    }
    let with_base = group.chain_with_base(&[7, 5], &control).expect("nothing stops it");
    assert_eq!(with_base.base()[..2], [7, 5]);
    assert_eq!(with_base.order(), group.order());
}

#[test]
fn long_chains_answer_limits() {
    // S100 wr S100: neither a giant nor small. A chain in the making stops when the control says so.
    let (size, count) = (100u32, 100u32);
    let mut generators: Vec<Permutation> =
        two_generators(size, [0, 1]).iter().map(|generator| generator.extended((size * count) as usize)).collect();
    for top in two_generators(count, [0, 1]) {
        let images = (0..size * count).map(|point| top.image(point / size) * size + point % size).collect();
        generators.push(Permutation::from_images(images).expect("blocks move"));
    }
    let control = Control::new(Limits { time: Some(Duration::from_millis(100)), ..Limits::default() });
    assert!(PermutationGroup::generate(0, &generators, &control).is_err());
}
