//! Permutations of points, listed one by one, and what they do to things made of points.

use std::collections::BTreeSet;

use trefoil_system::Picture;

use crate::Random;

/// The images of the points.
pub type Element = Vec<u32>;

/// Something that a permutation of points acts on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// It is fixed.
    Tag(u32),
    /// A point.
    Point(u32),
    /// Several in an order.
    Sequence(Vec<Object>),
    /// Several without one.
    Set(BTreeSet<Object>),
}

impl Object {
    /// What an element makes of it.
    pub fn under(&self, element: &Element) -> Object {
        match self {
            Object::Tag(tag) => Object::Tag(*tag),
            Object::Point(point) => Object::Point(element[*point as usize]),
            Object::Sequence(parts) => Object::Sequence(parts.iter().map(|part| part.under(element)).collect()),
            Object::Set(parts) => Object::Set(parts.iter().map(|part| part.under(element)).collect()),
        }
    }

    /// A random thing of at most this nesting depth.
    pub fn random(points: usize, depth: usize, random: &mut Random) -> Object {
        match random.below(if depth == 0 { 3 } else { 5 }) {
            0 => Object::Tag(random.below(2) as u32),
            1 | 2 => Object::Point(random.below(points) as u32),
            3 => Object::Sequence((0..random.below(3)).map(|_| Object::random(points, depth - 1, random)).collect()),
            _ => Object::Set((0..random.below(4)).map(|_| Object::random(points, depth - 1, random)).collect()),
        }
    }
}

/// Puts things in any order.
pub fn shuffle<T>(things: &mut [T], random: &mut Random) {
    for place in (1..things.len()).rev() {
        things.swap(place, random.below(place + 1));
    }
}

/// A permutation.
pub fn shuffled(points: usize, random: &mut Random) -> Element {
    let mut element: Element = (0..points as u32).collect();
    shuffle(&mut element, random);
    element
}

/// Generators of a random group: symmetric on all or on parts, rings with or without reflections, blocks that are
/// exchanged, or anything.
pub fn random_generators(points: usize, random: &mut Random) -> Vec<Element> {
    let identity: Element = (0..points as u32).collect();
    let names = shuffled(points, random);
    let cycle = |members: &[u32]| {
        let mut element = identity.clone();
        for (at, &member) in members.iter().enumerate() {
            element[member as usize] = members[(at + 1) % members.len()];
        }
        element
    };
    match random.below(5) {
        0 => names.windows(2).map(cycle).collect(),
        1 => {
            let (left, right) = names.split_at(random.below(points + 1));
            let parts = [left, right].into_iter().filter(|part| part.len() > 1);
            parts.flat_map(|part| [cycle(&part[..2]), cycle(part)]).collect()
        }
        2 => {
            let mut reversed = identity.clone();
            for (at, &name) in names.iter().enumerate() {
                reversed[name as usize] = names[points - 1 - at];
            }
            if random.chance(50) { vec![cycle(&names)] } else { vec![cycle(&names), reversed] }
        }
        3 => {
            let half = points / 2;
            let mut exchanged = identity.clone();
            for at in 0..half {
                exchanged[names[at] as usize] = names[half + at];
                exchanged[names[half + at] as usize] = names[at];
            }
            let mut all = vec![exchanged];
            all.extend((1..half).map(|at| cycle(&[names[0], names[at]])));
            all
        }
        _ => (0..1 + random.below(2)).map(|_| shuffled(points, random)).collect(),
    }
}

/// All products of the generators.
pub fn elements(points: usize, generators: &[Element]) -> Vec<Element> {
    let mut all = vec![(0..points as u32).collect::<Element>()];
    let mut known: BTreeSet<Element> = all.iter().cloned().collect();
    let mut at = 0;
    while at < all.len() {
        for generator in generators {
            let next: Element = all[at].iter().map(|&point| generator[point as usize]).collect();
            if known.insert(next.clone()) {
                all.push(next);
            }
        }
        at += 1;
    }
    all
}

/// A picture without the numbers of its anonymous vertices.
pub fn shown(picture: &Picture) -> Vec<String> {
    fn tree(picture: &Picture, vertex: u32) -> String {
        if (vertex as usize) < picture.points() {
            return format!("p{vertex}");
        }
        format!("{}({})", picture.colours()[vertex as usize], below(picture, vertex))
    }
    fn below(picture: &Picture, vertex: u32) -> String {
        let edges = picture.edges().iter().filter(|edge| edge.from == vertex);
        let mut below: Vec<String> = edges.map(|edge| format!("{}:{}", edge.label, tree(picture, edge.to))).collect();
        below.sort();
        below.join(" ")
    }
    let mut all: Vec<String> = (0..picture.vertices() as u32)
        .filter(|&vertex| (vertex as usize) < picture.points() || picture.edges().iter().all(|edge| edge.to != vertex))
        .map(|vertex| match (vertex as usize) < picture.points() {
            true => format!("p{vertex}={}({})", picture.colours()[vertex as usize], below(picture, vertex)),
            false => tree(picture, vertex),
        })
        .collect();
    all.sort();
    all
}
