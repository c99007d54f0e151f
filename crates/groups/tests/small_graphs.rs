//! Canonical labelling of small graphs: one labelled graph for each class, and the right number of automorphisms.

mod support;

use std::collections::BTreeMap;

use support::graphs::*;
use support::*;
use trefoil_control::Control;
use trefoil_groups::{ColouredGraph, Permutation, Point, Random, SmallGraphs, UBig, canonical_labelling};

/// A graph whose first vertices are points, each of a kind.
#[derive(Clone)]
struct Small {
    kinds: Vec<u32>,
    graph: ColouredGraph,
}

impl Small {
    fn plain(graph: ColouredGraph) -> Small {
        Small { kinds: vec![0; graph.vertices()], graph }
    }

    fn points(&self) -> usize {
        self.kinds.len()
    }

    fn label(&self, graphs: &mut SmallGraphs) -> bool {
        if !graphs.begin(self.graph.vertices(), self.points()) {
            return false;
        }
        for (vertex, &colour) in self.graph.colours().iter().enumerate() {
            graphs.colour(self.kinds.get(vertex).copied().unwrap_or(0), colour);
        }
        if !self.graph.arcs().iter().all(|arc| graphs.arc(arc.from, arc.to, arc.colour)) {
            return false;
        }
        graphs.label(&Control::unlimited()).expect("nothing stops it");
        true
    }

    /// The graph with its points at their labels, in a form that equal ones share.
    fn labelled(&self, graphs: &SmallGraphs) -> ColouredGraph {
        let mut fixed = self.graph.clone();
        for point in 0..self.points() {
            fixed.set_colour(point as Point, graphs.position(point) as u32);
        }
        for vertex in self.points()..fixed.vertices() {
            fixed.set_colour(vertex as Point, 1000 + self.graph.colours()[vertex]);
        }
        let whole = canonical_labelling(&fixed, &Control::unlimited()).expect("nothing stops it").labels;
        self.graph.relabelled(&whole)
    }

    fn permuted(&self, random: &mut Random) -> Small {
        let n = self.graph.vertices();
        let mut images: Vec<Point> = (0..n as Point).collect();
        // Points within their kinds, anonymous vertices among themselves.
        let kind_of = |vertex: usize| self.kinds.get(vertex).map_or(u32::MAX, |&kind| kind);
        for _ in 0..4 * n {
            let (a, b) = (random.below(n), random.below(n));
            if kind_of(a) == kind_of(b) {
                images.swap(a, b);
            }
        }
        let permutation = Permutation::from_images(images).expect("swaps");
        Small { kinds: self.kinds.clone(), graph: self.graph.relabelled(&permutation) }
    }

    /// How many permutations of the points extend to automorphisms, by trying all permutations of the vertices.
    fn automorphisms_by_definition(&self) -> usize {
        let n = self.graph.vertices();
        let mut on_points = std::collections::BTreeSet::new();
        let sorted = self.graph.relabelled(&Permutation::identity(n));
        let generators = if n > 1 { symmetric(n) } else { vec![] };
        for images in enumerate(n, &generators) {
            let keeps_kinds = (0..n).all(|vertex| self.kinds.get(vertex) == self.kinds.get(images[vertex] as usize));
            let permutation = Permutation::from_images(images.clone()).expect("a permutation");
            if keeps_kinds && self.graph.relabelled(&permutation) == sorted {
                on_points.insert(images[..self.points()].to_vec());
            }
        }
        on_points.len()
    }
}

fn random_small(random: &mut Random, largest: usize) -> Small {
    let n = 1 + random.below(largest);
    let points = 1 + random.below(n);
    let kinds = 1 + random.below(2);
    let mut graph = ColouredGraph::new(n);
    let (vertex_colours, arc_colours) = (1 + random.below(2), 1 + random.below(2));
    for vertex in 0..n as Point {
        graph.set_colour(vertex, random.below(vertex_colours) as u32);
    }
    let mut taken = std::collections::BTreeSet::new();
    let symmetric = random.below(2) == 0;
    for _ in 0..random.below(2 * n + 1) {
        let arc = (random.below(n) as Point, random.below(n) as Point, random.below(arc_colours) as u32);
        let back = (arc.1, arc.0, arc.2);
        for (from, to, colour) in [arc].into_iter().chain(symmetric.then_some(back)) {
            if taken.insert((from, to, colour)) {
                graph.add_arc(from, to, colour);
            }
        }
    }
    Small { kinds: (0..points).map(|_| random.below(kinds) as u32).collect(), graph }
}

#[test]
fn random_graphs_against_the_definition() {
    let mut graphs = SmallGraphs::new();
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let small = random_small(&mut random, 6);
        assert!(small.label(&mut graphs), "seed {seed}");
        assert_eq!(graphs.order(), UBig::from(small.automorphisms_by_definition()), "seed {seed}");
        assert_eq!(graphs.is_rigid(), graphs.order() == UBig::ONE, "seed {seed}");
        let form = small.labelled(&graphs);
        let mut generators = Vec::new();
        graphs.all_generators(|images| {
            generators.push(Permutation::from_images(images.to_vec()).expect("a permutation"));
            true
        });
        assert_eq!(UBig::from(enumerate(small.points(), &generators).len()), graphs.order(), "seed {seed}");
        for _ in 0..4 {
            let copy = small.permuted(&mut random);
            assert!(copy.label(&mut graphs), "seed {seed}");
            assert_eq!(copy.labelled(&graphs), form, "seed {seed}");
        }
    }
}

/// A graph that is changed is labelled as if it had been described so, and then is what it was.
#[test]
fn changes_are_described_and_taken_back() {
    let (mut kept, mut anew) = (SmallGraphs::new(), SmallGraphs::new());
    let mut rigid = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let small = random_small(&mut random, 9);
        assert!(small.label(&mut kept) && kept.keep(), "seed {seed}");
        let positions = |graphs: &SmallGraphs| -> Vec<usize> {
            let points = 0..small.points();
            points.map(|point| graphs.position(point)).collect()
        };
        for round in 0..4 {
            let mut changed = ColouredGraph::new(small.graph.vertices());
            let gone = |number: usize| number % 4 == round;
            for (vertex, &colour) in small.graph.colours().iter().enumerate() {
                let (less, more) = (random.below(colour as usize + 1) as u32, random.below(3) as u32);
                changed.set_colour(vertex as Point, colour - less + more);
                kept.recolour(vertex as u32, less, more);
            }
            for (number, arc) in small.graph.arcs().iter().enumerate() {
                match gone(number) {
                    true => assert!(kept.remove_arc(arc.from, arc.to, arc.colour), "seed {seed}"),
                    false => changed.add_arc(arc.from, arc.to, arc.colour),
                }
            }
            for _ in 0..3 {
                let n = small.graph.vertices();
                let (from, to) = (random.below(n) as Point, random.below(n) as Point);
                let colour = random.below(3) as u32;
                if changed.arcs().iter().all(|arc| (arc.from, arc.to, arc.colour) != (from, to, colour)) {
                    assert!(kept.arc(from, to, colour), "seed {seed}");
                    changed.add_arc(from, to, colour);
                }
            }
            kept.label(&Control::unlimited()).expect("nothing stops it");
            assert!(Small { kinds: small.kinds.clone(), graph: changed }.label(&mut anew), "seed {seed}");
            assert_eq!(positions(&kept), positions(&anew), "seed {seed}");
            assert_eq!(kept.order(), anew.order(), "seed {seed}");
            rigid += usize::from(anew.is_rigid());
            // What there is none of cannot be removed, and what was refused does not stay.
            assert!(!kept.remove_arc(0, 0, 7) && !kept.arc(0, 0, 99));
            kept.revert();
        }
        kept.label(&Control::unlimited()).expect("nothing stops it");
        assert!(small.label(&mut anew), "seed {seed}");
        assert_eq!((positions(&kept), kept.order()), (positions(&anew), anew.order()), "seed {seed}");
    }
    assert!((1000..5900).contains(&rigid), "{rigid} graphs without symmetry");
}

#[test]
fn different_graphs_have_different_forms() {
    let mut graphs = SmallGraphs::new();
    let mut forms: BTreeMap<(Vec<u32>, ColouredGraph), ColouredGraph> = BTreeMap::new();
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let mut small = random_small(&mut random, 5);
        small.kinds.fill(0);
        assert!(small.label(&mut graphs));
        // Points and others as colours, for the labelling that is tested elsewhere.
        let mut coloured = small.graph.clone();
        for vertex in 0..coloured.vertices() {
            let shift = if vertex < small.points() { 0 } else { 10 };
            coloured.set_colour(vertex as Point, small.graph.colours()[vertex] + shift);
        }
        let labels = canonical_labelling(&coloured, &Control::unlimited()).expect("nothing stops it").labels;
        let known = forms.entry((small.kinds.clone(), coloured.relabelled(&labels)));
        let form = small.labelled(&graphs);
        assert_eq!(known.or_insert_with(|| form.clone()), &form, "seed {seed}");
    }
    let mut distinct: Vec<_> = forms.iter().map(|((kinds, _), form)| (kinds, form)).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), forms.len());
    assert!(forms.len() > 200, "{}", forms.len());
}

#[test]
fn symmetric_graphs_have_their_known_orders() {
    let cases: Vec<(ColouredGraph, &str)> = vec![
        (
            ColouredGraph::new(64),
            "126886932185884164103433389335161480802865516174545192198801894375214704230400000000000000",
        ),
        (petersen(), "120"),
        (hypercube(5), "3840"),
        (hypercube(6), "46080"),
        (complete(30), "265252859812191058636308480000000"),
        (directed_cycle(64), "64"),
        (cycle_graph(63), "126"),
        (rook(8), "3251404800"),
        (shrikhande(), "192"),
        (rook(4), "1152"),
        (paley(61), "1830"),
        (hadamard(11), "380160"),
        (torus(7, 8), "224"),
        (binary_tree(5), "2147483648"),
        (star(40), "815915283247897734345611269596115894272000000000"),
        (copies(&directed_cycle(3), 7), "11022480"),
        (copies(&petersen(), 6), "2149908480000000"),
        (gadgets(&complete(4), false), "192"),
    ];
    let mut graphs = SmallGraphs::new();
    let mut random = Random::new(5);
    for (number, (graph, order)) in cases.into_iter().enumerate() {
        let small = Small::plain(graph);
        assert!(small.label(&mut graphs), "case {number}");
        assert_eq!(graphs.order().to_string(), order, "case {number}");
        let form = small.labelled(&graphs);
        for _ in 0..3 {
            let copy = small.permuted(&mut random);
            assert!(copy.label(&mut graphs), "case {number}");
            assert_eq!(copy.labelled(&graphs), form, "case {number}");
        }
    }
}

#[test]
fn hard_pairs_are_told_apart() {
    let mut graphs = SmallGraphs::new();
    let mut random = Random::new(3);
    let bases = [complete(4), cycle_graph(7)];
    let pairs = bases.iter().map(|base| [gadgets(base, false), gadgets(base, true)]).chain([[rook(4), shrikhande()]]);
    for [left, right] in pairs {
        let (left, right) = (Small::plain(left), Small::plain(right).permuted(&mut random));
        assert!(left.label(&mut graphs));
        let form = left.labelled(&graphs);
        assert!(right.label(&mut graphs));
        assert_ne!(right.labelled(&graphs), form);
    }
}

#[test]
fn regular_graphs_are_labelled_alike_in_every_numbering() {
    let mut graphs = SmallGraphs::new();
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let degree = 3 + random.below(3);
        let n = 2 * (4 + random.below(28));
        let graph = if seed % 3 == 0 {
            union(&random_regular(&mut random, n / 4 * 2, 3), &random_regular(&mut random, n / 4 * 2, 3))
        } else {
            random_regular(&mut random, n, degree)
        };
        let small = Small::plain(graph);
        if !small.label(&mut graphs) {
            continue;
        }
        let form = small.labelled(&graphs);
        let order = graphs.order();
        let all = canonical_labelling(&small.graph, &Control::unlimited()).expect("nothing stops it");
        assert_eq!(all.automorphisms.order, order, "seed {seed}");
        let copy = small.permuted(&mut random);
        assert!(copy.label(&mut graphs));
        assert_eq!(copy.labelled(&graphs), form, "seed {seed}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut graphs = SmallGraphs::new();
    assert!(!graphs.begin(65, 3));
    assert!(graphs.begin(3, 3));
    (0..3).for_each(|_| graphs.colour(0, 0));
    assert!(graphs.arc(0, 1, 31));
    assert!(!graphs.arc(0, 1, 31), "an arc twice");
    assert!(graphs.begin(3, 3));
    assert!(!graphs.arc(0, 1, 32), "a colour too many");
}
