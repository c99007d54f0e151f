//! Stabiliser chains: a base and a strong generating set, with a tree of coset representatives at each level.
//!
//! With base points `b₀, b₁, …` let `Gᵢ` be the elements that fix `b₀ … bᵢ₋₁`. Level `i` knows the orbit of `bᵢ` under
//! `Gᵢ` and, for each point of it, an element of `Gᵢ` that carries `bᵢ` there. Every element of the group is then one
//! product of representatives, one from each level: the order is the product of the sizes of the orbits, membership is
//! dividing the representatives out one level after another (*sifting*), and uniform random elements are free. Sims,
//! *Computational methods in the study of permutation groups*, 1970; Seress, *Permutation group algorithms*, 2003,
//! chapter 4.
//!
//! # Representation
//!
//! Representatives are kept as a Schreier tree: each point of the orbit remembers the generator by which it was
//! reached. Trees are breadth first over all generators of the level, so they are shallow (generators are random
//! elements). When all representatives of a chain together fit in [`EXPLICIT_POINTS`] words they are multiplied out
//! once, and a level then costs one pass over the points; beyond that the trees alone are kept, since representatives
//! of S₁₀₀₀ would need two gigabytes. Strong generators live in one pool, each with the number of base points that it
//! fixes.
//!
//! A chain is made by `schreier_sims`, which also proves it, or by a search that knows the order.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point, compose_into, follow, invert_into, is_identity};
use crate::random::Random;

/// The total size, in points, up to which representatives are multiplied out.
pub const EXPLICIT_POINTS: usize = 1 << 22;

/// The degree from which the control must afford each strong generator and each level.
const LARGE_DEGREE: usize = 1 << 12;

const ABSENT: u32 = u32::MAX;
const ROOT: u32 = u32::MAX - 1;

#[derive(Clone, Debug)]
pub(crate) struct StrongGenerator {
    pub(crate) images: Box<[Point]>,
    pub(crate) inverse: Box<[Point]>,
    /// It fixes the first `depth` base points.
    pub(crate) depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) base_point: Point,
    /// The orbit of the base point, which comes first, breadth first.
    pub(crate) orbit: Vec<Point>,
    /// For each point: [`ABSENT`] outside the orbit, [`ROOT`] for the base point, else the generator that reached it.
    /// Empty as long as the orbit is the base point alone, so that a long prescribed base costs nothing.
    edge: Vec<u32>,
    /// Inverses of the representatives, `degree` words for each point of the orbit, in its order.
    explicit: Option<Box<[Point]>>,
    /// Where in `orbit` a point stands; filled with `explicit`.
    rank: Vec<u32>,
}

impl Level {
    #[inline]
    fn edge(&self, point: Point) -> u32 {
        match self.edge.get(point as usize) {
            Some(&edge) => edge,
            None if point == self.base_point => ROOT,
            None => ABSENT,
        }
    }
}

/// A base, strong generators and coset representatives of a permutation group.
#[derive(Clone, Debug)]
pub struct StabiliserChain {
    degree: usize,
    pub(crate) levels: Vec<Level>,
    pub(crate) pool: Vec<StrongGenerator>,
}

impl StabiliserChain {
    /// The chain of the trivial group whose base begins with `prefix`.
    pub(crate) fn trivial(degree: usize, prefix: &[Point]) -> StabiliserChain {
        let mut chain = StabiliserChain { degree, levels: Vec::new(), pool: Vec::new() };
        for &point in prefix {
            chain.push_level(point);
        }
        chain
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The base points in order; prescribed ones may be redundant.
    pub fn base(&self) -> Vec<Point> {
        self.levels.iter().map(|level| level.base_point).collect()
    }

    /// The orbit of the base point of a level under the elements that fix all earlier base points.
    pub fn basic_orbit(&self, level: usize) -> &[Point] {
        &self.levels[level].orbit
    }

    /// The strong generators that fix the first `depth` base points.
    pub fn strong_generators(&self, depth: usize) -> Vec<Permutation> {
        let from_depth = self.pool.iter().filter(|generator| generator.depth >= depth);
        from_depth.map(|generator| Permutation::from_bijection(generator.images.to_vec())).collect()
    }

    /// The number of elements.
    pub fn order(&self) -> UBig {
        product(self.levels.iter().map(|level| level.orbit.len()))
    }

    /// The orbits of the elements that fix the first `depth` base points.
    pub fn orbits(&self, depth: usize) -> Orbits {
        let mut orbits = Orbits::trivial(self.degree);
        for generator in self.pool.iter().filter(|generator| generator.depth >= depth) {
            orbits.merge_images(&generator.images);
        }
        orbits
    }

    /// Is the permutation an element? One of another degree is one when the points beyond are fixed.
    pub fn contains(&self, permutation: &Permutation) -> bool {
        let mut images = permutation.extended(self.degree).images().to_vec();
        if images[self.degree..].iter().enumerate().any(|(index, &image)| image as usize != self.degree + index) {
            return false;
        }
        images.truncate(self.degree);
        self.sift(&mut images, 0) == self.levels.len() && is_identity(&images)
    }

    /// Divides representatives out of `images`, from level `from` on; what is left fixes the base points up to the
    /// level that is returned, where it carries the base point out of the orbit (or past the last level).
    pub(crate) fn sift(&self, images: &mut [Point], from: usize) -> usize {
        for index in from..self.levels.len() {
            let level = &self.levels[index];
            let point = images[level.base_point as usize];
            if level.edge(point) == ABSENT {
                return index;
            }
            self.divide(level, point, images);
        }
        self.levels.len()
    }

    /// The same with a control that can stop it: long chains of large degree take seconds for one element.
    pub(crate) fn sift_within(&self, images: &mut [Point], from: usize, control: &Control) -> Result<usize, Stopped> {
        for index in from..self.levels.len() {
            control.check()?;
            let level = &self.levels[index];
            let point = images[level.base_point as usize];
            if level.edge(point) == ABSENT {
                return Ok(index);
            }
            self.divide(level, point, images);
        }
        Ok(self.levels.len())
    }

    /// Divides out the representatives of the levels `first..last` only; says whether all of them could be.
    pub(crate) fn sift_between(&self, images: &mut [Point], first: usize, last: usize) -> bool {
        for level in &self.levels[first..last] {
            let point = images[level.base_point as usize];
            if level.edge(point) == ABSENT {
                return false;
            }
            self.divide(level, point, images);
        }
        true
    }

    /// `images` followed by the inverse of the representative of `point`.
    #[inline]
    fn divide(&self, level: &Level, mut point: Point, images: &mut [Point]) {
        if let Some(explicit) = &level.explicit {
            if point != level.base_point {
                let start = level.rank[point as usize] as usize * self.degree;
                follow(images, &explicit[start..start + self.degree]);
            }
            return;
        }
        loop {
            match level.edge(point) {
                ROOT => return,
                edge => {
                    let inverse = &self.pool[edge as usize].inverse;
                    follow(images, inverse);
                    point = inverse[point as usize];
                }
            }
        }
    }

    /// The element of level `level` that carries its base point to `point`, when `point` is in the orbit.
    pub fn representative(&self, level: usize, point: Point) -> Option<Permutation> {
        let level = &self.levels[level];
        if level.edge(point) == ABSENT {
            return None;
        }
        let mut inverse: Vec<Point> = (0..self.degree as Point).collect();
        self.divide(level, point, &mut inverse);
        Some(Permutation::from_bijection(inverse).inverse())
    }

    /// `images` becomes the element that carries the base points of the first levels to `targets`, if there is one; of
    /// all such elements, the one that is the product of the representatives of those levels.
    pub fn carrier(&self, targets: &[Point]) -> Option<Permutation> {
        let mut inverse: Vec<Point> = (0..self.degree as Point).collect();
        for (level, &target) in self.levels.iter().zip(targets) {
            let point = *inverse.get(target as usize)?;
            if level.edge(point) == ABSENT {
                return None;
            }
            self.divide(level, point, &mut inverse);
        }
        Some(Permutation::from_bijection(inverse).inverse())
    }

    /// `element` becomes the one that puts different labels, one for each point, into their least order: the labels
    /// that the base points receive, in the order of the base, are lexicographically least. Equal for all arrangements
    /// of the labels that lie in one orbit of the group.
    pub fn least_arrangement(&self, labels: &[u32], element: &mut [Point]) {
        element.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
        for level in &self.levels {
            let mut least: Option<(u32, Point)> = None;
            for (&image, &label) in element.iter().zip(labels) {
                if least.is_none_or(|(known, _)| label < known) && level.edge(image) != ABSENT {
                    least = Some((label, image));
                }
            }
            if let Some((_, image)) = least {
                self.divide(level, image, element);
            }
        }
    }

    /// Is this array of `degree` images an element? `scratch` is overwritten.
    pub fn contains_images(&self, images: &[Point], scratch: &mut Vec<Point>) -> bool {
        scratch.clear();
        scratch.extend_from_slice(images);
        self.sift(scratch, 0) == self.levels.len() && is_identity(scratch)
    }

    /// An element, all equally likely.
    pub fn random_element(&self, random: &mut Random) -> Permutation {
        let mut images = vec![0; self.degree];
        self.random_into(random, &mut images);
        Permutation::from_bijection(images)
    }

    /// An element, all equally likely, into a buffer.
    pub fn random_into(&self, random: &mut Random, images: &mut [Point]) {
        for (point, image) in images.iter_mut().enumerate() {
            *image = point as Point;
        }
        for level in &self.levels {
            let point = level.orbit[random.below(level.orbit.len())];
            self.divide(level, point, images);
        }
    }

    /// The chain of the elements that fix the first `depth` base points.
    pub fn stabiliser(&self, depth: usize) -> StabiliserChain {
        let mut kept = Vec::new();
        let mut renamed = vec![ABSENT; self.pool.len()];
        for (index, generator) in self.pool.iter().enumerate() {
            if generator.depth >= depth {
                renamed[index] = kept.len() as u32;
                kept.push(StrongGenerator { depth: generator.depth - depth, ..generator.clone() });
            }
        }
        let mut levels = self.levels[depth.min(self.levels.len())..].to_vec();
        for edge in levels.iter_mut().flat_map(|level| &mut level.edge) {
            if *edge < ROOT {
                *edge = renamed[*edge as usize];
            }
        }
        StabiliserChain { degree: self.degree, levels, pool: kept }
    }

    pub(crate) fn push_level(&mut self, base_point: Point) {
        let orbit = vec![base_point];
        self.levels.push(Level { base_point, orbit, edge: Vec::new(), explicit: None, rank: Vec::new() });
    }

    /// Adds an element that fixes the first `depth` base points, and a base point when it fixes them all.
    pub(crate) fn insert(&mut self, images: &[Point], depth: usize, control: &Control) -> Result<(), Stopped> {
        if depth == self.levels.len()
            && let Some(moved) = images.iter().enumerate().find(|&(point, &image)| point as Point != image)
        {
            self.push_level(moved.0 as Point);
        }
        if self.degree >= LARGE_DEGREE {
            control.afford(8 * self.degree)?;
        }
        let mut inverse = vec![0; self.degree].into_boxed_slice();
        invert_into(images, &mut inverse);
        self.pool.push(StrongGenerator { images: images.into(), inverse, depth });
        for level in (0..=depth.min(self.levels.len() - 1)).rev() {
            control.check()?;
            let known = &self.levels[level];
            if known.orbit.iter().any(|&point| known.edge(images[point as usize]) == ABSENT) {
                if known.edge.is_empty() && self.degree >= LARGE_DEGREE {
                    control.afford(8 * self.degree)?;
                }
                self.grow_orbit(level);
            }
        }
        Ok(())
    }

    /// Grows the tree of a level again from all generators that belong to it.
    fn grow_orbit(&mut self, index: usize) {
        let level = &mut self.levels[index];
        level.edge.clear();
        level.edge.resize(self.degree, ABSENT);
        level.edge[level.base_point as usize] = ROOT;
        level.orbit.clear();
        level.orbit.push(level.base_point);
        level.explicit = None;
        let generators: Vec<(u32, &[Point])> = (0..)
            .zip(&self.pool)
            .filter(|(_, generator)| generator.depth >= index)
            .map(|(number, generator)| (number, &*generator.images))
            .collect();
        let mut done = 0;
        while done < level.orbit.len() {
            let point = level.orbit[done];
            done += 1;
            for &(number, images) in &generators {
                let image = images[point as usize];
                if level.edge[image as usize] == ABSENT {
                    level.edge[image as usize] = number;
                    level.orbit.push(image);
                }
            }
        }
    }

    /// Multiplies the representatives out when they are small enough together.
    pub(crate) fn make_explicit(&mut self) {
        let moving = |level: &&Level| level.orbit.len() > 1;
        let points = self.levels.iter().filter(moving).map(|level| level.orbit.len());
        if points.sum::<usize>().saturating_mul(self.degree) > EXPLICIT_POINTS {
            return;
        }
        for index in 0..self.levels.len() {
            let level = &self.levels[index];
            if level.orbit.len() == 1 {
                continue;
            }
            let mut rank = vec![ABSENT; self.degree];
            let mut explicit = vec![0; level.orbit.len() * self.degree].into_boxed_slice();
            for (place, &point) in level.orbit.iter().enumerate() {
                rank[point as usize] = place as u32;
                let (before, row) = explicit.split_at_mut(place * self.degree);
                let row = &mut row[..self.degree];
                match level.edge[point as usize] {
                    ROOT => row.iter_mut().zip(0..).for_each(|(image, point)| *image = point),
                    edge => {
                        // Breadth first: the parent's row is already there.
                        let inverse = &self.pool[edge as usize].inverse;
                        let parent = rank[inverse[point as usize] as usize] as usize * self.degree;
                        compose_into(inverse, &before[parent..parent + self.degree], row);
                    }
                }
            }
            let level = &mut self.levels[index];
            level.explicit = Some(explicit);
            level.rank = rank;
        }
    }

    /// Was `point^generator` reached from `point` by this generator?
    pub(crate) fn is_tree_edge(&self, level: usize, generator: usize, image: Point) -> bool {
        self.levels[level].edge(image) == generator as u32
    }

    /// Drops redundant levels after the first `keep`, those where nothing moves.
    pub(crate) fn drop_trivial_levels(&mut self, keep: usize) {
        let mut index = keep;
        while index < self.levels.len() {
            if self.levels[index].orbit.len() == 1 {
                self.levels.remove(index);
                for generator in &mut self.pool {
                    if generator.depth > index {
                        generator.depth -= 1;
                    }
                }
            } else {
                index += 1;
            }
        }
    }
}

/// A product of small numbers, by halves so that the factors of each multiplication are of equal size.
pub(crate) fn product(factors: impl IntoIterator<Item = usize>) -> UBig {
    let mut factors: Vec<UBig> = factors.into_iter().map(UBig::from).collect();
    while factors.len() > 1 {
        factors =
            factors.chunks(2).map(|pair| pair.iter().fold(UBig::ONE, |product, factor| product * factor)).collect();
    }
    factors.pop().unwrap_or(UBig::ONE)
}

/// `n!`.
pub(crate) fn factorial(n: usize) -> UBig {
    product(1..=n)
}
