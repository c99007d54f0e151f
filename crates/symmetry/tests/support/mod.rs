//! Groups and pictures to try strategies on, and orbits straight from the definition.
#![allow(dead_code, unreachable_pub)]

use std::collections::{BTreeSet, VecDeque};

use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Random};
use trefoil_symmetry::{Symmetry, strategy_named};
use trefoil_system::Picture;

/// Every element, by multiplying until nothing new comes.
pub fn enumerate(degree: usize, generators: &[Permutation]) -> BTreeSet<Vec<u32>> {
    let identity: Vec<u32> = (0..degree as u32).collect();
    let mut seen = BTreeSet::from([identity.clone()]);
    let mut queue = VecDeque::from([identity]);
    while let Some(element) = queue.pop_front() {
        for generator in generators {
            let product: Vec<u32> = element.iter().map(|&image| generator.images()[image as usize]).collect();
            if seen.insert(product.clone()) {
                queue.push_back(product);
            }
        }
    }
    seen
}

pub fn generate(degree: usize, generators: &[Permutation]) -> PermutationGroup {
    PermutationGroup::generate(degree, generators, &Control::unlimited()).expect("nothing stops it")
}

pub fn prepared(group: &PermutationGroup, strategy: &str) -> Option<Symmetry> {
    let strategy = strategy_named(strategy).expect("a strategy of the table");
    Symmetry::new(group.clone(), strategy, &Control::unlimited()).ok()
}

/// A picture that does not depend on the numbers of anonymous vertices: the least of all ways to number them.
pub type Form = (Vec<u32>, Vec<[u32; 3]>);

pub fn form(picture: &Picture) -> Form {
    let (points, vertices) = (picture.points(), picture.vertices());
    let written = |names: &[u32]| {
        let mut colours = vec![0; vertices];
        (0..vertices).for_each(|vertex| colours[names[vertex] as usize] = picture.colours()[vertex]);
        let mut edges: Vec<[u32; 3]> = picture
            .edges()
            .iter()
            .map(|edge| [names[edge.from as usize], edge.label, names[edge.to as usize]])
            .collect();
        edges.sort_unstable();
        (colours, edges)
    };
    arrangements(vertices - points)
        .into_iter()
        .map(|tail| {
            let names: Vec<u32> = (0..points as u32).chain(tail.iter().map(|&index| points as u32 + index)).collect();
            written(&names)
        })
        .min()
        .expect("one arrangement at least")
}

fn arrangements(count: usize) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for next in 0..count as u32 {
        all = all
            .into_iter()
            .flat_map(|some| {
                (0..=some.len()).map(move |place| {
                    let mut longer = some.clone();
                    longer.insert(place, next);
                    longer
                })
            })
            .collect();
    }
    all
}

pub fn permuted(picture: &Picture, element: &[u32]) -> Picture {
    let mut image = Picture::default();
    picture.permuted(element, &mut image);
    image
}

/// The same picture with its anonymous vertices in another order and its edges shuffled.
pub fn shuffled(picture: &Picture, random: &mut Random) -> Picture {
    let (points, vertices) = (picture.points(), picture.vertices());
    let mut names: Vec<u32> = (0..vertices as u32).collect();
    random.shuffle(&mut names[points..]);
    let mut copy = Picture::new(points);
    let mut colours = vec![0; vertices];
    (0..vertices).for_each(|vertex| colours[names[vertex] as usize] = picture.colours()[vertex]);
    (0..points).for_each(|point| copy.set_colour(point as u32, colours[point]));
    colours[points..].iter().for_each(|&colour| {
        copy.add_vertex(colour);
    });
    let mut edges = picture.edges().to_vec();
    random.shuffle(&mut edges);
    edges.iter().for_each(|edge| copy.add_edge(names[edge.from as usize], names[edge.to as usize], edge.label));
    copy
}

/// Few colours and labels, so that symmetric pictures are frequent.
pub fn random_picture(random: &mut Random, points: usize, most_anonymous: usize) -> Picture {
    let mut picture = Picture::new(points);
    let colours = 1 + random.below(3);
    for point in 0..points as u32 {
        picture.set_colour(point, random.below(colours) as u32);
    }
    for _ in 0..random.below(most_anonymous + 1) {
        picture.add_vertex(random.below(2) as u32);
    }
    let labels = 1 + random.below(2);
    for _ in 0..random.below(2 * picture.vertices() + 1) {
        let [from, to] = [(); 2].map(|()| random.below(picture.vertices()) as u32);
        // Now and then a label that is not small, and an edge twice.
        let label = if random.below(60) == 0 { 1000 } else { random.below(labels) as u32 };
        picture.add_edge(from, to, label);
        if random.below(60) == 0 {
            picture.add_edge(from, to, label);
        }
    }
    picture
}

pub fn random_generators(random: &mut Random, largest: usize) -> (usize, Vec<Permutation>) {
    let degree = 1 + random.below(largest);
    let generators = (0..1 + random.below(3)).map(|_| {
        let exponent = 1 + random.below(4) as i64;
        random.permutation(degree).power(exponent)
    });
    (degree, generators.collect())
}

pub fn parse_all(degree: usize, texts: &[&str]) -> Vec<Permutation> {
    texts.iter().map(|text| Permutation::parse(text, degree).expect("the notation is right")).collect()
}

/// All permutations of each of these sets of points.
pub fn symmetric_on(degree: usize, sets: &[&[u32]]) -> Vec<Permutation> {
    let pairs = sets.iter().flat_map(|set| set.windows(2));
    pairs
        .map(|pair| Permutation::parse(&format!("({},{})", pair[0] + 1, pair[1] + 1), degree).expect("a swap"))
        .collect()
}

/// Named groups of small degree: name, degree, generators.
pub fn families() -> Vec<(&'static str, usize, Vec<Permutation>)> {
    vec![
        ("trivial", 4, vec![]),
        ("S6", 6, parse_all(6, &["(1,2)", "(1,2,3,4,5,6)"])),
        ("A6", 6, parse_all(6, &["(1,2,3)", "(1,2,4)", "(1,2,5)", "(1,2,6)"])),
        ("C7", 7, parse_all(7, &["(1,2,3,4,5,6,7)"])),
        ("C6 on three and two", 5, parse_all(5, &["(1,2,3)(4,5)"])),
        ("D6", 6, parse_all(6, &["(1,2,3,4,5,6)", "(2,6)(3,5)"])),
        ("S3 x S3", 6, parse_all(6, &["(1,2,3)", "(1,2)", "(4,5,6)", "(4,5)"])),
        ("S2 x S3 interleaved", 6, parse_all(6, &["(1,4)", "(2,3,6)", "(2,3)"])),
        ("S3 x C3", 6, parse_all(6, &["(1,2,3)", "(1,2)", "(4,5,6)"])),
        ("S2 wr S3", 6, parse_all(6, &["(1,2)", "(1,3)(2,4)", "(1,3,5)(2,4,6)"])),
        ("S2 wr S3 mixed up", 6, parse_all(6, &["(1,5)", "(1,3)(5,2)", "(1,3,4)(5,2,6)"])),
        ("S3 wr S2", 6, parse_all(6, &["(1,2,3)", "(1,2)", "(1,4)(2,5)(3,6)"])),
        ("S2 wr C3", 6, parse_all(6, &["(1,2)", "(1,3,5)(2,4,6)"])),
        ("C3 wr S2", 6, parse_all(6, &["(1,2,3)", "(1,4)(2,5)(3,6)"])),
        ("S3 with channels", 6, parse_all(6, &["(1,2,3)(4,5,6)", "(1,2)(4,5)"])),
        ("S3 with channels backwards", 6, parse_all(6, &["(1,2,3)(6,5,4)", "(1,2)(6,5)"])),
        ("S4 on points and pairs", 10, parse_all(10, &["(1,2)(6,8)(7,9)", "(1,2,3,4)(5,8,10,7)(6,9)"])),
        ("V4", 4, parse_all(4, &["(1,2)(3,4)", "(1,3)(2,4)"])),
        ("even part of S3 x S3", 6, parse_all(6, &["(1,2,3)", "(4,5,6)", "(1,2)(4,5)"])),
        ("AGL(1,7)", 7, parse_all(7, &["(1,2,3,4,5,6,7)", "(2,4,3,7,5,6)"])),
        ("PSL(3,2)", 7, parse_all(7, &["(1,2,3,4,5,6,7)", "(1,2)(3,6)"])),
    ]
}

pub const MATHIEU_11: [&str; 2] = ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"];
pub const MATHIEU_12: [&str; 3] =
    ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)", "(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"];
