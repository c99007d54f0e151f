//! Oracles straight from the definitions, and random and named groups to try them on.
#![allow(dead_code, unreachable_pub)]

pub mod graphs;

use std::collections::{BTreeSet, VecDeque};

use trefoil_groups::{Permutation, Point, Random};

/// Every element, by multiplying until nothing new comes.
pub fn enumerate(degree: usize, generators: &[Permutation]) -> BTreeSet<Vec<Point>> {
    let identity: Vec<Point> = (0..degree as Point).collect();
    let mut seen = BTreeSet::from([identity.clone()]);
    let mut queue = VecDeque::from([identity]);
    while let Some(element) = queue.pop_front() {
        for generator in generators {
            let product: Vec<Point> = element.iter().map(|&image| generator.images()[image as usize]).collect();
            if seen.insert(product.clone()) {
                queue.push_back(product);
            }
        }
    }
    seen
}

/// A few generators of degree at most `largest`: powers of random permutations, so that small groups are frequent.
pub fn random_generators(random: &mut Random, largest: usize) -> (usize, Vec<Permutation>) {
    let degree = 1 + random.below(largest);
    let count = 1 + random.below(3);
    let mut generators = Vec::new();
    for _ in 0..count {
        let exponent = 1 + random.below(4) as i64;
        generators.push(random.permutation(degree).power(exponent));
    }
    (degree, generators)
}

pub fn parse(text: &str) -> Permutation {
    Permutation::parse(text, 0).expect("the notation is right")
}

pub fn parse_all(texts: &[&str]) -> Vec<Permutation> {
    let generators: Vec<Permutation> = texts.iter().map(|text| parse(text)).collect();
    let degree = generators.iter().map(Permutation::degree).max().unwrap_or(0);
    generators.iter().map(|generator| generator.extended(degree)).collect()
}

pub fn symmetric(n: usize) -> Vec<Permutation> {
    vec![parse("(1,2)").extended(n), cycle(n)]
}

pub fn cycle(n: usize) -> Permutation {
    Permutation::from_images((0..n as Point).map(|point| (point + 1) % n as Point).collect()).expect("a cycle")
}

pub fn alternating(n: usize) -> Vec<Permutation> {
    (3..=n).map(|k| parse(&format!("(1,2,{k})")).extended(n)).collect()
}

pub fn dihedral(n: usize) -> Vec<Permutation> {
    let reflection = Permutation::from_images((0..n as Point).rev().collect()).expect("a reflection");
    vec![cycle(n), reflection]
}

/// The generators one beside the other, on disjoint points.
pub fn direct_product(left: &[Permutation], right: &[Permutation]) -> Vec<Permutation> {
    let shift = left[0].degree();
    let degree = shift + right[0].degree();
    let mut generators: Vec<Permutation> = left.iter().map(|generator| generator.extended(degree)).collect();
    for generator in right {
        let images = (0..shift as Point).chain(generator.images().iter().map(|&image| image + shift as Point));
        generators.push(Permutation::from_images(images.collect()).expect("a shifted permutation"));
    }
    generators
}

/// Base group on each of as many blocks as the top group has points.
pub fn wreath_product(base: &[Permutation], top: &[Permutation]) -> Vec<Permutation> {
    let (size, count) = (base[0].degree(), top[0].degree());
    let mut generators: Vec<Permutation> = base.iter().map(|generator| generator.extended(size * count)).collect();
    for generator in top {
        let images =
            (0..size * count).map(|point| (generator.images()[point / size] as usize * size + point % size) as u32);
        generators.push(Permutation::from_images(images.collect()).expect("blocks are permuted"));
    }
    generators
}

pub const MATHIEU_11: [&str; 2] = ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"];

pub const MATHIEU_12: [&str; 3] =
    ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)", "(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"];

pub const MATHIEU_24: [&str; 3] = [
    "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)",
    "(3,17,10,7,9)(4,13,14,19,5)(8,18,11,12,23)(15,20,22,21,16)",
    "(1,24)(2,23)(3,12)(4,16)(5,18)(6,10)(7,20)(8,14)(9,21)(11,17)(13,22)(15,19)",
];

/// The turns of the six faces of the cube, on its 48 movable stickers.
pub const CUBE: [&str; 6] = [
    "(1,3,8,6)(2,5,7,4)(9,33,25,17)(10,34,26,18)(11,35,27,19)",
    "(9,11,16,14)(10,13,15,12)(1,17,41,40)(4,20,44,37)(6,22,46,35)",
    "(17,19,24,22)(18,21,23,20)(6,25,43,16)(7,28,42,13)(8,30,41,11)",
    "(25,27,32,30)(26,29,31,28)(3,38,43,19)(5,36,45,21)(8,33,48,24)",
    "(33,35,40,38)(34,37,39,36)(3,9,46,32)(2,12,47,29)(1,14,48,27)",
    "(41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40)",
];
