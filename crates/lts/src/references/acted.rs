//! Things on which generators act, and the transpositions of points that can be made of the generators.
//!
//! A transposition that is a generator has conjugates, `g t g⁻¹` for every generator `g`, and those have conjugates
//! again: walking them finds every pair of points that such a transposition exchanges, each with a word. Exchanging is
//! then an equivalence on points (when `(a b)` and `(b c)` are there, so is the conjugate `(a c)`), and the group has
//! every permutation of each of its classes.

use std::collections::VecDeque;

/// With more points the pairs of points are not tabulated.
const MOST_PAIRED: usize = 1024;

/// No transposition is known.
const UNKNOWN: u32 = u32::MAX;

/// Generators as permutations of points and of things.
pub(super) struct Acted<'a> {
    pub(super) points: usize,
    pub(super) generators: &'a [Vec<u32>],
    /// For each generator the image of each thing.
    pub(super) images: Vec<Vec<u32>>,
    inverses: Vec<Vec<u32>>,
    transpositions: Vec<(u16, u16, Origin)>,
    /// For each pair of points, the number of a transposition.
    paired: Vec<u32>,
    /// The points by class of exchangeable ones; classes of one point are left out.
    pub(super) classes: Vec<Vec<u16>>,
}

#[derive(Clone, Copy)]
enum Origin {
    Generator(u32),
    /// The conjugate of a transposition by a generator.
    Conjugate(u32, u32),
}

impl<'a> Acted<'a> {
    /// `None` when one of the maps is not a permutation.
    pub(super) fn new(points: usize, generators: &'a [Vec<u32>], images: Vec<Vec<u32>>) -> Option<Acted<'a>> {
        let inverses = images.iter().map(|map| inverse(map)).collect::<Option<Vec<_>>>()?;
        let mut acted = Acted {
            points,
            generators,
            images,
            inverses,
            transpositions: Vec::new(),
            paired: Vec::new(),
            classes: Vec::new(),
        };
        if points <= MOST_PAIRED {
            acted.find_transpositions();
        }
        Some(acted)
    }

    fn find_transpositions(&mut self) {
        let points = self.points;
        self.paired = vec![UNKNOWN; points * points];
        let mut queue = VecDeque::new();
        let generators = self.generators;
        for (number, generator) in (0..).zip(generators) {
            let mut moved = (0..points).filter(|&point| generator[point] as usize != point);
            if let (Some(one), Some(other), None) = (moved.next(), moved.next(), moved.next()) {
                self.remember(one, other, Origin::Generator(number), &mut queue);
            }
        }
        while let Some(known) = queue.pop_front() {
            let (one, other, _) = self.transpositions[known as usize];
            for (number, generator) in (0..).zip(generators) {
                let (one, other) = (generator[one as usize] as usize, generator[other as usize] as usize);
                self.remember(one, other, Origin::Conjugate(known, number), &mut queue);
            }
        }
        let mut placed = vec![false; points];
        for point in 0..points {
            if placed[point] {
                continue;
            }
            let with = |other: &usize| *other == point || self.paired[point * points + other] != UNKNOWN;
            let class: Vec<u16> = (0..points).filter(with).map(|other| other as u16).collect();
            class.iter().for_each(|&member| placed[member as usize] = true);
            if class.len() > 1 {
                self.classes.push(class);
            }
        }
    }

    fn remember(&mut self, one: usize, other: usize, origin: Origin, queue: &mut VecDeque<u32>) {
        let (one, other) = (one.min(other), one.max(other));
        if self.paired[one * self.points + other] != UNKNOWN {
            return;
        }
        let number = self.transpositions.len() as u32;
        self.paired[one * self.points + other] = number;
        self.paired[other * self.points + one] = number;
        self.transpositions.push((one as u16, other as u16, origin));
        queue.push_back(number);
    }

    /// Does exchanging two points of one class fix a thing? `word` is scratch space.
    pub(super) fn exchange_fixes(&self, one: u16, other: u16, thing: u32, word: &mut Vec<u32>) -> bool {
        let mut number = self.paired[one as usize * self.points + other as usize];
        let mut image = thing;
        word.clear();
        loop {
            match self.transpositions[number as usize].2 {
                Origin::Conjugate(of, by) => {
                    image = self.inverses[by as usize][image as usize];
                    word.push(by);
                    number = of;
                }
                Origin::Generator(generator) => {
                    image = self.images[generator as usize][image as usize];
                    break;
                }
            }
        }
        word.iter().rev().fold(image, |image, &by| self.images[by as usize][image as usize]) == thing
    }
}

/// The inverse of a permutation; `None` when the map is not a permutation.
pub(super) fn inverse(map: &[u32]) -> Option<Vec<u32>> {
    let mut inverse = vec![u32::MAX; map.len()];
    for (from, &to) in (0..).zip(map) {
        let place = inverse.get_mut(to as usize)?;
        if *place != u32::MAX {
            return None;
        }
        *place = from;
    }
    Some(inverse)
}
