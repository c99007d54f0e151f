//! Every strategy on random pictures, against orbits by enumeration.

mod support;

use std::collections::BTreeSet;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Random};
use trefoil_symmetry::{Promise, STRATEGIES, Symmetry, UBig};
use trefoil_system::Picture;

/// Checks all strategies on one picture, and on other pictures of its orbit.
fn check(all: &[Symmetry], elements: &BTreeSet<Vec<u32>>, picture: &Picture, random: &mut Random, what: &str) {
    let own = form(picture);
    let stabiliser = elements.iter().filter(|element| form(&permuted(picture, element)) == own).count();
    let control = Control::unlimited();
    for symmetry in all {
        let strategy = symmetry.strategy();
        let mut canoniser = symmetry.canoniser(&control);
        let bare = picture.edges().is_empty();
        let unique = match strategy.promise {
            Promise::Exact => true,
            Promise::ExactWithoutReferences => bare,
            Promise::Several => false,
        };
        let mut forms = BTreeSet::new();
        for round in 0..4 {
            let list: Vec<&Vec<u32>> = elements.iter().collect();
            let start = if round == 0 { picture.clone() } else { permuted(picture, list[random.below(list.len())]) };
            let start = shuffled(&start, random);
            let found = canoniser.representative(&start).expect("nothing stops it");
            assert!(elements.contains(found.element), "{} leaves the group, {what}", strategy.name);
            forms.insert(form(&permuted(&start, found.element)));
            match strategy.promise {
                Promise::Exact => {
                    let expected = UBig::from(stabiliser);
                    assert_eq!(found.stabiliser, Some(expected), "{}, stabiliser, {what}", strategy.name);
                }
                _ => assert_eq!(found.stabiliser, None, "{}, {what}", strategy.name),
            }
        }
        if unique {
            assert_eq!(forms.len(), 1, "{}: several representatives, {what}: {picture:?}", strategy.name);
        }
    }
}

fn all_strategies(group: &PermutationGroup) -> Vec<Symmetry> {
    STRATEGIES.iter().filter_map(|strategy| prepared(group, strategy.name)).collect()
}

#[test]
fn random_groups() {
    for seed in 0..220 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 6);
        let elements = enumerate(degree, &generators);
        let all = all_strategies(&generate(degree, &generators));
        let pictures = if elements.len() > 200 { 2 } else { 6 };
        for _ in 0..pictures {
            let picture = random_picture(&mut random, degree, 3);
            check(&all, &elements, &picture, &mut random, &format!("seed {seed}"));
        }
    }
}

#[test]
fn named_families() {
    for (name, degree, generators) in families() {
        let elements = enumerate(degree, &generators);
        let all = all_strategies(&generate(degree, &generators));
        assert!(all.len() >= 6, "{name}");
        let mut random = Random::new(17);
        for round in 0..24 {
            let mut picture = random_picture(&mut random, degree, 2);
            if round % 4 == 0 {
                // Colours alone.
                let mut bare = Picture::new(degree);
                (0..degree).for_each(|point| bare.set_colour(point as u32, picture.colours()[point]));
                picture = bare;
            }
            check(&all, &elements, &picture, &mut random, &format!("{name}, round {round}"));
        }
    }
}

#[test]
fn groups_of_degree_seven() {
    for seed in 0..12 {
        let mut random = Random::new(1000 + seed);
        let degree = 7;
        let generators: Vec<Permutation> = (0..2).map(|_| random.permutation(degree).power(2)).collect();
        let elements = enumerate(degree, &generators);
        let all = all_strategies(&generate(degree, &generators));
        for _ in 0..2 {
            let picture = random_picture(&mut random, degree, 1);
            check(&all, &elements, &picture, &mut random, &format!("seed {seed}"));
        }
    }
}

#[test]
fn mathieu_groups() {
    for (degree, texts) in [(11, &MATHIEU_11[..]), (12, &MATHIEU_12[..])] {
        let generators = parse_all(degree, texts);
        let elements = enumerate(degree, &generators);
        let group = generate(degree, &generators);
        let all: Vec<Symmetry> = ["canonical", "auto"].iter().filter_map(|name| prepared(&group, name)).collect();
        let mut random = Random::new(3);
        for _ in 0..if degree == 11 { 8 } else { 2 } {
            let picture = random_picture(&mut random, degree, 0);
            check(&all, &elements, &picture, &mut random, "Mathieu");
        }
    }
}

/// Pictures beyond 64 vertices take another way, with the same promise.
#[test]
fn large_pictures() {
    let control = Control::unlimited();
    let factorial = |n: u32| (1..=n).fold(UBig::ONE, |product, k| product * k);
    let degree = 80;
    let halves: Vec<u32> = (0..degree as u32).collect();
    let symmetric = generate(degree, &symmetric_on(degree, &[&halves[..50], &halves[50..]]));
    let ring = generate(
        degree,
        &parse_all(
            degree,
            &[&Permutation::from_images((0..degree as u32).map(|point| (point + 1) % degree as u32).collect())
                .expect("a ring")
                .to_string()],
        ),
    );
    for group in [symmetric, ring] {
        for name in ["canonical", "auto", "ordering", "sorted", "hillclimbing"] {
            let Some(symmetry) = prepared(&group, name) else { continue };
            let mut canoniser = symmetry.canoniser(&control);
            let mut random = Random::new(5);
            let mut picture = Picture::new(degree);
            for _ in 0..60 {
                picture.add_edge(random.below(degree) as u32, random.below(degree) as u32, random.below(2) as u32);
            }
            let twins = [picture.add_vertex(1), picture.add_vertex(1)];
            twins.iter().for_each(|&twin| picture.add_edge(twin, 3, 0));
            let mut images = BTreeSet::new();
            for _ in 0..3 {
                let start = permuted(&picture, group.random_element(&mut random).images());
                let found = canoniser.representative(&start).expect("nothing stops it");
                assert!(group.contains(&Permutation::from_images(found.element.to_vec()).expect("a permutation")));
                images.insert(form(&permuted(&start, found.element)));
            }
            if symmetry.strategy().promise == Promise::Exact {
                assert_eq!(images.len(), 1, "{name}");
            }
        }
    }
    let symmetric = generate(degree, &symmetric_on(degree, &[&halves]));
    let symmetry = prepared(&symmetric, "canonical").expect("any group");
    let mut picture = Picture::new(degree);
    picture.add_edge(7, 9, 1);
    let mut canoniser = symmetry.canoniser(&control);
    let found = canoniser.representative(&picture).expect("nothing stops it");
    assert_eq!(found.stabiliser, Some(factorial(78)));
}

#[test]
fn strategies_that_need_symmetric_types_refuse_others() {
    let ring = generate(5, &parse_all(5, &["(1,2,3,4,5)"]));
    for strategy in STRATEGIES {
        let refused = Symmetry::new(ring.clone(), strategy, &Control::unlimited()).err();
        let expected = ["ordering", "sorted", "segmented"].contains(&strategy.name);
        assert_eq!(refused.is_some(), expected, "{}", strategy.name);
        if let Some(refused) = refused {
            assert!(refused.to_string().contains("C5"), "{refused}");
        }
    }
}

#[test]
fn auto_says_what_it_picked() {
    let control = Control::unlimited();
    let expected = [
        ("S6", "canonical", "every permutation"),
        ("S2 wr S3 mixed up", "canonical", "sparse graph"),
        ("C7", "canonical", "sparse graph"),
        ("PSL(3,2)", "canonical", "stabiliser chain"),
    ];
    for (name, degree, generators) in families() {
        let Some((_, strategy, reason)) = expected.iter().find(|(known, _, _)| *known == name) else { continue };
        let symmetry = Symmetry::named(generate(degree, &generators), "auto", &control).expect("a name");
        let symmetry = symmetry.expect("any group");
        assert_eq!(symmetry.strategy().name, *strategy, "{name}");
        assert!(symmetry.reason().contains(reason), "{name}: {}", symmetry.reason());
    }
}

#[test]
fn control_parts_are_remembered() {
    let control = Control::unlimited();
    let group = generate(5, &symmetric_on(5, &[&[0, 1, 2, 3, 4]]));
    let symmetry = prepared(&group, "stabiliser").expect("any group");
    let mut canoniser = symmetry.canoniser(&control);
    let mut random = Random::new(1);
    for _ in 0..200 {
        let mut picture = Picture::new(5);
        (0..5).for_each(|point| picture.set_colour(point, random.below(2) as u32));
        picture.add_edge(random.below(5) as u32, random.below(5) as u32, 0);
        canoniser.representative(&picture).expect("nothing stops it");
    }
    // Sorted vectors of two colours, all zeros and all ones being alike.
    assert_eq!(canoniser.control_parts(), 5);
}

#[test]
fn a_cancelled_job_stops() {
    let control = Control::unlimited();
    let points: Vec<u32> = (0..8).collect();
    let group = generate(8, &symmetric_on(8, &[&points]));
    let symmetry = prepared(&group, "enumerate").expect("40 320 elements are few enough");
    control.cancel();
    assert!(symmetry.canoniser(&control).representative(&Picture::new(8)).is_err());
}
