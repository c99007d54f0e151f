//! Representatives of generated pictures: `canonical` alone, beside `enumerate` and beside `stabiliser`.

use std::time::Instant;

use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Random};
use trefoil_symmetry::{Symmetry, UBig};
use trefoil_system::Picture;

const PICTURES: usize = 3000;

/// Everything about strategies on pictures.
pub(crate) fn run(_arguments: &[String]) {
    println!("canonical, 12 components with references, microseconds for a picture");
    println!("{:<26} {:<12} {:>8} {:>8} {:>8}", "pictures", "group", "median", "p99", "most");
    let groups = [
        ("S12", symmetric_on(&[12])),
        ("S8 x S4", symmetric_on(&[8, 4])),
        ("S6 x S6", symmetric_on(&[6, 6])),
        ("S4 wr S3", wreath(4, 3)),
        ("D12", ring(12)),
    ];
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); groups.len()];
    for (kind, draw) in KINDS {
        for ((name, group), all) in groups.iter().zip(&mut all) {
            let times = times(group, "canonical", &drawn(draw, 12, PICTURES, &mut Random::new(5)));
            all.extend(&times);
            let [median, p99, most] = quantiles(times);
            println!("{kind:<26} {name:<12} {median:>8.3} {p99:>8.3} {most:>8.3}");
        }
    }
    for ((name, _), times) in groups.iter().zip(all) {
        let [median, p99, most] = quantiles(times);
        println!("{:<26} {name:<12} {median:>8.3} {p99:>8.3} {most:>8.3}", "all of these");
    }
    beside_others();
}

/// Pictures whose stabilisers are large: `canonical` never lists them, the others do.
fn beside_others() {
    println!("\npictures with more than 1000 elements in the stabiliser, medians in microseconds");
    println!(
        "{:<26} {:<12} {:>9} {:>10} {:>12} {:>12} {:>10} {:>11}",
        "pictures", "group", "pictures", "canonical", "stabiliser", "enumerate", "stab/can", "enum/can"
    );
    let groups = [
        ("S8", 8, symmetric_on(&[8])),
        ("S7 x S2", 9, symmetric_on(&[7, 2])),
        ("S6 x S3", 9, symmetric_on(&[6, 3])),
        ("S4 wr S2", 8, wreath(4, 2)),
        ("S2 wr S6", 12, wreath(2, 6)),
        // Groups whose pictures no arcs decide: the least image is searched.
        ("A8", 8, written(&["(1,2,3)", "(2,3,4,5,6,7,8)"])),
        ("M11", 11, written(&["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"])),
        ("S7 twice", 14, written(&["(1,2)(8,9)", "(1,2,3,4,5,6,7)(8,9,10,11,12,13,14)"])),
    ];
    for (name, points, group) in &groups {
        let control = Control::unlimited();
        let canonical = prepared(group, "canonical");
        let mut canoniser = canonical.canoniser(&control);
        let mut random = Random::new(9);
        let mut symmetric: Vec<Picture> = Vec::new();
        for _ in 0..200_000 {
            let picture = idle(*points, &mut random);
            let found = canoniser.representative(&picture).expect("nothing stops it");
            if found.stabiliser.is_some_and(|order| order > UBig::from(1000u32)) {
                symmetric.push(picture);
            }
            if symmetric.len() == 40 {
                break;
            }
        }
        let [ours, stabiliser, enumerate] =
            ["canonical", "stabiliser", "enumerate"].map(|strategy| quantiles(times(group, strategy, &symmetric))[0]);
        println!(
            "{:<26} {name:<12} {:>9} {ours:>10.3} {stabiliser:>12.1} {enumerate:>12.1} {:>10.0} {:>11.0}",
            "mostly idle",
            symmetric.len(),
            stabiliser / ours,
            enumerate / ours
        );
    }
}

type Draw = fn(usize, &mut Random) -> Picture;

const KINDS: [(&str, Draw); 5] = [
    ("list-like", list),
    ("tree-like", tree),
    ("random references", references),
    ("adversarial: rings", equal_rings),
    ("adversarial: regular", regular),
];

fn drawn(draw: Draw, points: usize, count: usize, random: &mut Random) -> Vec<Picture> {
    (0..count).map(|_| draw(points, random)).collect()
}

/// A linked list through some of the components, the others free; the first ones hold a reference into it.
fn list(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    let order = shuffled(points, random);
    let length = random.below(points + 1);
    for (&from, &to) in order[..length].iter().zip(&order[length.min(1)..length]) {
        picture.add_edge(from, to, 0);
    }
    order[..length].iter().for_each(|&node| picture.set_colour(node, 1 + random.below(2) as u32));
    for thread in 0..2 {
        let vertex = picture.add_vertex(4 + thread + random.below(3) as u32);
        if length > 0 {
            picture.add_edge(vertex, order[random.below(length)], 1);
        }
    }
    picture
}

/// A binary tree through some of the components.
fn tree(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    let order = shuffled(points, random);
    let size = 1 + random.below(points);
    let mut sides = vec![[false; 2]; points];
    picture.set_colour(order[0], 1);
    for child in 1..size {
        let (mut parent, mut side) = (random.below(child), random.below(2));
        while sides[parent][side] {
            (parent, side) = (random.below(child), random.below(2));
        }
        sides[parent][side] = true;
        picture.set_colour(order[child], 1);
        picture.add_edge(order[parent], order[child], side as u32);
    }
    picture
}

/// Three control states and a reference from most of the components.
fn references(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    for component in 0..points as u32 {
        picture.set_colour(component, random.below(3) as u32);
        if random.below(3) > 0 {
            picture.add_edge(component, random.below(points) as u32, random.below(2) as u32);
        }
    }
    picture
}

/// Rings of one length, or of mixed lengths: refinement alone distinguishes nothing.
fn equal_rings(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    let order = shuffled(points, random);
    let mut begin = 0;
    let length = [1, 2, 3, 4, 6, 12][random.below(6)];
    let mixed = random.below(2) == 0;
    while begin < points {
        let wanted = if mixed { 2 + random.below(5) } else { length };
        let ring = &order[begin..points.min(begin + wanted)];
        for (index, &node) in ring.iter().enumerate() {
            picture.add_edge(node, ring[(index + 1) % ring.len()], 0);
        }
        begin += wanted;
    }
    picture
}

/// Every component refers to two or three others and is referred to as often.
fn regular(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    for _ in 0..2 + random.below(2) {
        // No reference twice: a position holds one.
        let mut targets = shuffled(points, random);
        while (0..)
            .zip(&targets)
            .any(|(from, &to)| picture.edges().iter().any(|edge| (edge.from, edge.to) == (from, to)))
        {
            random.shuffle(&mut targets);
        }
        (0..).zip(targets).for_each(|(from, to)| picture.add_edge(from, to, 0));
    }
    picture
}

/// Nearly all components in one state without references, a few that refer to each other.
fn idle(points: usize, random: &mut Random) -> Picture {
    let mut picture = Picture::new(points);
    for _ in 0..random.below(3) {
        let [from, to] = [(); 2].map(|()| random.below(points) as u32);
        picture.add_edge(from, to, random.below(2) as u32);
    }
    picture
}

fn shuffled(points: usize, random: &mut Random) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points as u32).collect();
    random.shuffle(&mut order);
    order
}

/// The time of each picture in microseconds, the least of several passes over all of them: other work on the machine
/// only ever adds, and a pass keeps the processor from learning a single picture. The cost of reading the clock is
/// subtracted.
fn times(group: &PermutationGroup, strategy: &str, pictures: &[Picture]) -> Vec<f64> {
    let control = Control::unlimited();
    let symmetry = prepared(group, strategy);
    let mut canoniser = symmetry.canoniser(&control);
    let mut least = vec![f64::INFINITY; pictures.len()];
    let clock = (0..1000).map(|_| Instant::now().elapsed().as_secs_f64() * 1e6).fold(f64::INFINITY, f64::min);
    let begun = Instant::now();
    for pass in 0..12 {
        for (picture, least) in pictures.iter().zip(&mut least) {
            let started = Instant::now();
            let found = canoniser.representative(picture).expect("nothing stops it");
            std::hint::black_box(found.element[0]);
            *least = least.min(started.elapsed().as_secs_f64() * 1e6);
        }
        if pass > 0 && begun.elapsed().as_secs() > 2 {
            break;
        }
    }
    least.iter().map(|time| time - clock).collect()
}

fn quantiles(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    let last = times.len() - 1;
    [times[last / 2], times[last * 99 / 100], times[last]]
}

fn prepared(group: &PermutationGroup, strategy: &str) -> Symmetry {
    let symmetry = Symmetry::named(group.clone(), strategy, &Control::unlimited());
    symmetry.expect("a strategy of the table").unwrap_or_else(|refusal| panic!("{strategy}: {refusal}"))
}

fn generate(degree: usize, cycles: &[Vec<Vec<u32>>]) -> PermutationGroup {
    let permutation = |cycles: &Vec<Vec<u32>>| {
        let mut images: Vec<u32> = (0..degree as u32).collect();
        for cycle in cycles {
            (0..cycle.len()).for_each(|index| images[cycle[index] as usize] = cycle[(index + 1) % cycle.len()]);
        }
        Permutation::from_images(images).expect("cycles are disjoint")
    };
    let generators: Vec<Permutation> = cycles.iter().map(permutation).collect();
    PermutationGroup::generate(degree, &generators, &Control::unlimited()).expect("nothing stops it")
}

/// The group of some generators in cycle notation.
fn written(generators: &[&str]) -> PermutationGroup {
    let parsed: Vec<Permutation> = generators.iter().filter_map(|text| Permutation::parse(text, 0).ok()).collect();
    PermutationGroup::generate(0, &parsed, &Control::unlimited()).expect("nothing stops it")
}

fn symmetric_on(sizes: &[u32]) -> PermutationGroup {
    let mut generators = Vec::new();
    let mut begin = 0;
    for &size in sizes {
        generators.extend((begin..begin + size - 1).map(|point| vec![vec![point, point + 1]]));
        begin += size;
    }
    generate(begin as usize, &generators)
}

/// Symmetric groups of `size` points on each of `count` blocks, and on the blocks.
fn wreath(size: u32, count: u32) -> PermutationGroup {
    let mut generators: Vec<Vec<Vec<u32>>> = (0..size - 1).map(|point| vec![vec![point, point + 1]]).collect();
    for block in 0..count - 1 {
        generators.push((0..size).map(|p| vec![block * size + p, block * size + size + p]).collect());
    }
    generate((size * count) as usize, &generators)
}

fn ring(points: u32) -> PermutationGroup {
    let reflection = (1..points.div_ceil(2)).map(|point| vec![point, points - point]).collect();
    generate(points as usize, &[vec![(0..points).collect()], reflection])
}
