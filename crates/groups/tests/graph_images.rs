//! Canonical images of graphs under groups: one for each orbit, and the right stabiliser, by enumeration.

mod support;

use std::collections::BTreeMap;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{ColouredGraph, GraphImages, Permutation, PermutationGroup, Point, Random, UBig};

/// Points first, then anonymous vertices; colours on both, arcs of two colours.
fn random_picture(random: &mut Random, points: usize, anonymous: usize) -> ColouredGraph {
    let mut graph = ColouredGraph::new(points + anonymous);
    let kinds = 1 + random.below(2);
    let arcs = random.below(points + 2 * anonymous + 1);
    for vertex in 0..graph.vertices() as Point {
        graph.set_colour(vertex, random.below(kinds) as u32);
    }
    for _ in 0..arcs {
        let (from, to) = (random.below(graph.vertices()) as Point, random.below(graph.vertices()) as Point);
        graph.add_arc(from, to, random.below(2) as u32);
    }
    graph
}

/// All ways to extend a permutation of the points to the anonymous vertices.
fn extensions(element: &[Point], anonymous: usize) -> Vec<Permutation> {
    let mut tails: Vec<Vec<Point>> = vec![vec![]];
    for next in 0..anonymous as Point {
        tails = tails
            .into_iter()
            .flat_map(|tail| {
                (0..=tail.len()).map(move |place| {
                    let mut longer = tail.clone();
                    longer.insert(place, element.len() as Point + next);
                    longer
                })
            })
            .collect();
    }
    let whole = |tail: Vec<Point>| Permutation::from_images(element.iter().copied().chain(tail).collect());
    tails.into_iter().map(|tail| whole(tail).expect("both parts are permuted")).collect()
}

#[test]
fn images_under_random_groups() {
    let control = Control::unlimited();
    let mut classes = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (degree, generators) = random_generators(&mut random, 5);
        let oracle = enumerate(degree, &generators);
        let group = PermutationGroup::generate(degree, &generators, &control).expect("nothing stops it");
        let images = GraphImages::new(&group, &Control::unlimited()).expect("nothing stops it");
        let mut forms: BTreeMap<ColouredGraph, ColouredGraph> = BTreeMap::new();
        for _ in 0..6 {
            let anonymous = random.below(3);
            let graph = random_picture(&mut random, degree, anonymous);
            let found = images.of(&graph, &control).expect("nothing stops it");
            assert_eq!(graph.relabelled(&found.labels), found.graph, "seed {seed}");
            assert!(oracle.contains(found.element.images()), "seed {seed}");
            assert_eq!(&found.labels.images()[..degree], found.element.images(), "seed {seed}");
            let sorted = graph.relabelled(&Permutation::identity(graph.vertices()));
            let mut fixing = 0;
            let mut least: Option<ColouredGraph> = None;
            for element in &oracle {
                let all: Vec<ColouredGraph> =
                    extensions(element, anonymous).iter().map(|whole| graph.relabelled(whole)).collect();
                fixing += usize::from(all.contains(&sorted));
                least = all.into_iter().chain(least).min();
            }
            assert_eq!(found.stabiliser.order(), UBig::from(fixing), "seed {seed}");
            let least = least.expect("the identity");
            assert_eq!(forms.entry(least).or_insert_with(|| found.graph.clone()), &found.graph, "seed {seed}");
            // Another graph of the same orbit has the same image.
            let element = group.random_element(&mut random);
            let every = extensions(element.images(), anonymous);
            let copy = graph.relabelled(&every[random.below(every.len())]);
            assert_eq!(images.of(&copy, &control).expect("nothing stops it").graph, found.graph, "seed {seed}");
        }
        let mut distinct: Vec<&ColouredGraph> = forms.values().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), forms.len(), "two orbits share an image, seed {seed}");
        classes += forms.len();
    }
    assert!(classes > 200, "{classes}");
}

#[test]
fn large_stabilisers_are_not_listed() {
    let control = Control::unlimited();
    let families = [
        symmetric(20),
        alternating(14),
        wreath_product(&symmetric(5), &symmetric(4)),
        direct_product(&symmetric(9), &dihedral(9)),
        parse_all(&MATHIEU_12),
    ];
    for (number, generators) in families.iter().enumerate() {
        let mut random = Random::new(number as u64);
        let degree = generators[0].degree();
        let group = PermutationGroup::generate(degree, generators, &control).expect("nothing stops it");
        let images = GraphImages::new(&group, &Control::unlimited()).expect("nothing stops it");
        // Nothing to see, and one arc between two points: the stabiliser is the group, or nearly.
        let empty = ColouredGraph::new(degree);
        assert_eq!(images.of(&empty, &control).expect("nothing stops it").stabiliser.order(), group.order());
        let mut graph = ColouredGraph::new(degree);
        graph.add_arc(0, degree as Point - 1, 0);
        let found = images.of(&graph, &control).expect("nothing stops it");
        let fixing = group.pointwise_stabiliser(&[0, degree as Point - 1], &control).expect("nothing stops it");
        assert_eq!(found.stabiliser.order(), fixing.order(), "family {number}");
        let element = group.random_element(&mut random);
        let copy = graph.relabelled(&element);
        assert_eq!(images.of(&copy, &control).expect("nothing stops it").graph, found.graph, "family {number}");
    }
}
