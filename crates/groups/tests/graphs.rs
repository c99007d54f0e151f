//! Automorphisms and canonical labelling: against all permutations on small random graphs, and known orders on large
//! ones.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::graphs::*;
use trefoil_control::Control;
use trefoil_groups::{ColouredGraph, Permutation, Point, Random, UBig, automorphisms, canonical_labelling};

fn order(graph: &ColouredGraph) -> String {
    let found = automorphisms(graph, &Control::unlimited()).expect("nothing stops it");
    for generator in found.generators.iter().take(50) {
        assert!(graph.has_automorphism(&generator.to_permutation(graph.vertices())));
    }
    found.order.to_string()
}

/// The canonical graph, checked to be that of a renumbered copy too; and the order.
fn canonical(graph: &ColouredGraph, random: &mut Random, context: &str) -> (ColouredGraph, UBig) {
    let control = Control::unlimited();
    let here = canonical_labelling(graph, &control).expect("nothing stops it");
    let form = graph.relabelled(&here.labels);
    let copy = graph.relabelled(&random.permutation(graph.vertices()));
    let there = canonical_labelling(&copy, &control).expect("nothing stops it");
    assert_eq!(copy.relabelled(&there.labels), form, "{context}");
    assert_eq!(there.automorphisms.order, here.automorphisms.order, "{context}");
    (form, here.automorphisms.order)
}

fn all_permutations(n: usize) -> Vec<Permutation> {
    let mut all: Vec<Vec<Point>> = vec![vec![]];
    for point in 0..n as Point {
        all = all
            .into_iter()
            .flat_map(|images| {
                (0..=images.len()).map(move |place| {
                    let mut longer = images.clone();
                    longer.insert(place, point);
                    longer
                })
            })
            .collect();
    }
    all.into_iter().map(|images| Permutation::from_images(images).expect("all are permutations")).collect()
}

#[test]
fn small_random_graphs_against_all_permutations() {
    let control = Control::unlimited();
    let mut forms: BTreeMap<Plain, ColouredGraph> = BTreeMap::new();
    let permutations: Vec<Vec<Permutation>> = (0..=6).map(all_permutations).collect();
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let graph = random_graph(&mut random, 6);
        let n = graph.vertices();
        let keeping: BTreeSet<Permutation> =
            permutations[n].iter().filter(|permutation| graph.has_automorphism(permutation)).cloned().collect();
        let found = automorphisms(&graph, &control).expect("nothing stops it");
        assert_eq!(found.order, UBig::from(keeping.len()), "seed {seed}");
        let group = found.group(&control).expect("nothing stops it");
        assert_eq!(group.elements().collect::<BTreeSet<_>>(), keeping, "seed {seed}");
        let (form, _) = canonical(&graph, &mut random, &format!("seed {seed}"));
        // Isomorphic graphs have one form, others different ones.
        let least = permutations[n].iter().map(|permutation| graph.relabelled(permutation)).map(plain).min();
        let least = least.expect("there is a permutation");
        assert_eq!(forms.entry(least).or_insert_with(|| form.clone()), &form, "seed {seed}");
    }
    let distinct: BTreeSet<_> = forms.values().map(|form| plain(form.clone())).collect();
    assert_eq!(distinct.len(), forms.len(), "two classes share a form");
    assert!(forms.len() > 200, "{}", forms.len());
}

/// Colours of the vertices, and arcs with theirs: what can be ordered.
type Plain = (Vec<u32>, Vec<(u32, u32, u32)>);

fn plain(graph: ColouredGraph) -> Plain {
    let arcs = graph.arcs().iter().map(|arc| (arc.from, arc.to, arc.colour)).collect();
    (graph.colours().to_vec(), arcs)
}

#[test]
fn regular_graphs_of_eight_vertices() {
    // Refinement alone sees nothing in these, so the search does all the work.
    let control = Control::unlimited();
    let permutations = all_permutations(8);
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let graph = random_regular(&mut random, 8, 3);
        let keeping = permutations.iter().filter(|permutation| graph.has_automorphism(permutation)).count();
        assert_eq!(
            automorphisms(&graph, &control).expect("nothing stops it").order,
            UBig::from(keeping),
            "seed {seed}"
        );
        canonical(&graph, &mut random, &format!("seed {seed}"));
    }
}

#[test]
fn known_orders() {
    let factorial = |n: usize| (1..=n).fold(UBig::ONE, |product, k| product * UBig::from(k));
    assert_eq!(order(&ColouredGraph::new(0)), "1");
    assert_eq!(order(&ColouredGraph::new(30)), factorial(30).to_string());
    assert_eq!(order(&complete(20)), factorial(20).to_string());
    assert_eq!(order(&cycle_graph(100)), "200");
    assert_eq!(order(&directed_cycle(100)), "100");
    assert_eq!(order(&hypercube(7)), (UBig::from(128u32) * factorial(7)).to_string());
    assert_eq!(order(&torus(12, 17)), (4 * 12 * 17).to_string());
    assert_eq!(order(&torus(15, 15)), (8 * 15 * 15).to_string());
    assert_eq!(order(&petersen()), "120");
    assert_eq!(order(&paley(101)), (101 * 100 / 2).to_string());
    assert_eq!(order(&rook(9)), (factorial(9) * factorial(9) * UBig::from(2u8)).to_string());
    assert_eq!(order(&shrikhande()), "192");
    assert_eq!(order(&rook(4)), "1152");
    assert_eq!(order(&binary_tree(9)), UBig::from(2u8).pow((1 << 9) - 1).to_string());
    assert_eq!(order(&star(2000)), factorial(2000).to_string());
    let many = copies(&petersen(), 40);
    assert_eq!(order(&many), (UBig::from(120u32).pow(40) * factorial(40)).to_string());
    let rings = copies(&cycle_graph(5), 300);
    assert_eq!(order(&rings), (UBig::from(10u32).pow(300) * factorial(300)).to_string());
}

#[test]
fn canonical_forms_of_structured_graphs() {
    let mut random = Random::new(5);
    let cases = [
        ("hypercube", hypercube(6)),
        ("torus", torus(9, 9)),
        ("torus", torus(6, 11)),
        ("paley", paley(61)),
        ("rook", rook(6)),
        ("shrikhande", shrikhande()),
        ("tree", binary_tree(7)),
        ("copies", copies(&petersen(), 12)),
        ("mixed copies", union(&copies(&shrikhande(), 3), &copies(&rook(4), 3))),
        ("regular", random_regular(&mut Random::new(3), 60, 3)),
        ("random tree", random_tree(&mut Random::new(4), 300)),
        ("twisted pair", gadgets(&complete(4), false)),
        ("twisted pair", gadgets(&complete(4), true)),
    ];
    for (name, graph) in &cases {
        canonical(graph, &mut random, name);
    }
}

#[test]
fn look_alikes_are_told_apart() {
    // Strongly regular with the same parameters, and Cai, Fürer and Immerman's twisted pairs.
    let mut random = Random::new(9);
    let pairs = [
        (shrikhande(), rook(4)),
        (gadgets(&complete(4), false), gadgets(&complete(4), true)),
        (gadgets(&cycle_graph(6), false), gadgets(&cycle_graph(6), true)),
        (gadgets(&petersen(), false), gadgets(&petersen(), true)),
        (cycle_graph(6), copies(&cycle_graph(3), 2)),
    ];
    for (index, (left, right)) in pairs.iter().enumerate() {
        let (left, _) = canonical(left, &mut random, "left");
        let (right, _) = canonical(right, &mut random, "right");
        assert_ne!(left, right, "pair {index}");
    }
}

#[test]
fn many_unlike_parts_stay_cheap() {
    // Cubic graphs of eight vertices of several kinds: refinement sees no difference, and entering parts of the wrong
    // kind first must not multiply over the parts.
    let mut random = Random::new(11);
    let mut graph = ColouredGraph::new(0);
    for _ in 0..16 {
        graph = union(&graph, &random_regular(&mut random, 8, 3));
    }
    let (_, whole) = canonical(&graph, &mut random, "sixteen parts");
    let (_, twice) = canonical(&union(&graph, &graph), &mut random, "thirty-two parts");
    assert!(twice > whole);
}

#[test]
fn wrong_candidates_are_refuted_once() {
    // Hadamard's matrices from the squares modulo 23 and 31: almost every choice fails, deep in the tree.
    assert_eq!(order(&hadamard(23)), "24288");
    assert_eq!(order(&hadamard(31)), "59520");
    canonical(&hadamard(23), &mut Random::new(1), "Hadamard");
}

#[test]
fn random_trees_against_the_count_by_subtrees() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let n = 2 + random.below(400);
        let parents: Vec<usize> = (1..n).map(|vertex| random.below(vertex)).collect();
        let mut graph = ColouredGraph::new(n);
        graph.set_colour(0, 1);
        for (index, &parent) in parents.iter().enumerate() {
            graph.add_edge(index as Point + 1, parent as Point, 0);
        }
        // Rooted trees: product of the factorials of the multiplicities of equal subtrees.
        let mut children: Vec<Vec<usize>> = vec![vec![]; n];
        parents.iter().enumerate().for_each(|(index, &parent)| children[parent].push(index + 1));
        let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut kind = vec![0; n];
        let mut expected = UBig::ONE;
        for vertex in (0..n).rev() {
            let mut below: Vec<usize> = children[vertex].iter().map(|&child| kind[child]).collect();
            below.sort_unstable();
            for run in below.chunk_by(|a, b| a == b) {
                expected = (1..=run.len()).fold(expected, |product, k| product * UBig::from(k));
            }
            let fresh = numbers.len();
            kind[vertex] = *numbers.entry(below).or_insert(fresh);
        }
        assert_eq!(order(&graph), expected.to_string(), "seed {seed}");
        canonical(&graph, &mut random, &format!("seed {seed}"));
    }
}

#[test]
fn a_large_sparse_graph() {
    let graph = torus(100, 101);
    let found = canonical_labelling(&graph, &Control::unlimited()).expect("nothing stops it");
    assert_eq!(found.automorphisms.order, UBig::from(4u32 * 100 * 101));
    let tree = binary_tree(12);
    let found = canonical_labelling(&tree, &Control::unlimited()).expect("nothing stops it");
    assert_eq!(found.automorphisms.order, UBig::from(2u8).pow((1 << 12) - 1));
}

#[test]
fn a_cancelled_search_stops() {
    let control = Control::unlimited();
    control.cancel();
    assert!(automorphisms(&hypercube(6), &control).is_err());
}
