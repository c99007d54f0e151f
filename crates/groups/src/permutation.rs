//! Permutations of the points `0..degree`, as arrays of images.
//!
//! Everything acts from the right: `a.then(&b)` is first `a`, then `b`. A permutation of degree `n` is `n` words of
//! four bytes; the operations that sit in inner loops work on slices and write into a buffer that the caller keeps, so
//! that sifting and searching never allocate. Points are plain `u32`: they index arrays in every second line, and a
//! group has only one kind of them.

use std::fmt;

use dashu_int::UBig;
use dashu_int::ops::Gcd;

/// A point that a permutation moves; counted from 0 inside the program, from 1 in cycle notation.
pub type Point = u32;

/// A bijection of `0..degree`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Permutation {
    images: Box<[Point]>,
}

/// Why an array of images is not a permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAPermutation {
    /// An image lies outside `0..degree`.
    OutOfRange {
        /// The point with that image.
        point: Point,
    },
    /// Two points share an image.
    Repeated {
        /// The image that occurs twice.
        image: Point,
    },
    /// More points than a 32-bit number counts.
    TooLarge,
}

impl fmt::Display for NotAPermutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAPermutation::OutOfRange { point } => write!(f, "the image of point {} is not a point", point + 1),
            NotAPermutation::Repeated { image } => write!(f, "two points are mapped to point {}", image + 1),
            NotAPermutation::TooLarge => write!(f, "more points than fit in 32 bits"),
        }
    }
}

impl std::error::Error for NotAPermutation {}

impl Permutation {
    /// The permutation that fixes everything.
    pub fn identity(degree: usize) -> Permutation {
        Permutation { images: (0..degree as Point).collect() }
    }

    /// Checks that the images are a bijection.
    pub fn from_images(images: Vec<Point>) -> Result<Permutation, NotAPermutation> {
        if images.len() >= Point::MAX as usize {
            return Err(NotAPermutation::TooLarge);
        }
        let mut seen = vec![false; images.len()];
        for (point, &image) in images.iter().enumerate() {
            match seen.get_mut(image as usize) {
                None => return Err(NotAPermutation::OutOfRange { point: point as Point }),
                Some(seen) if *seen => return Err(NotAPermutation::Repeated { image }),
                Some(seen) => *seen = true,
            }
        }
        Ok(Permutation { images: images.into() })
    }

    /// Images that are known to be a bijection.
    pub(crate) fn from_bijection(images: Vec<Point>) -> Permutation {
        debug_assert!(Permutation::from_images(images.clone()).is_ok(), "not a bijection: {images:?}");
        Permutation { images: images.into() }
    }

    /// The permutation of `0..degree` with these disjoint cycles.
    pub(crate) fn from_disjoint_cycles(degree: usize, cycles: &[Vec<Point>]) -> Permutation {
        let mut images: Vec<Point> = (0..degree as Point).collect();
        for cycle in cycles {
            for (index, &point) in cycle.iter().enumerate() {
                images[point as usize] = cycle[(index + 1) % cycle.len()];
            }
        }
        Permutation::from_bijection(images)
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.images.len()
    }

    /// Where `point` goes.
    #[inline]
    pub fn image(&self, point: Point) -> Point {
        self.images[point as usize]
    }

    /// All images in order.
    #[inline]
    pub fn images(&self) -> &[Point] {
        &self.images
    }

    /// Does it fix every point?
    pub fn is_identity(&self) -> bool {
        is_identity(&self.images)
    }

    /// First this one, then `next`. Both have the same degree.
    pub fn then(&self, next: &Permutation) -> Permutation {
        Permutation { images: self.images.iter().map(|&image| next.images[image as usize]).collect() }
    }

    /// The permutation that undoes this one.
    pub fn inverse(&self) -> Permutation {
        let mut images = vec![0; self.images.len()];
        invert_into(&self.images, &mut images);
        Permutation { images: images.into() }
    }

    /// This one `exponent` times; negative exponents use the inverse.
    pub fn power(&self, exponent: i64) -> Permutation {
        let mut images = vec![0; self.degree()];
        for cycle in self.cycles_with_fixed_points() {
            let shift = exponent.rem_euclid(cycle.len() as i64) as usize;
            for (index, &point) in cycle.iter().enumerate() {
                images[point as usize] = cycle[(index + shift) % cycle.len()];
            }
        }
        Permutation { images: images.into() }
    }

    /// First `other`'s inverse, then this one, then `other`: this permutation with its points renamed by `other`.
    pub fn conjugate(&self, other: &Permutation) -> Permutation {
        let mut images = vec![0; self.degree()];
        for (point, &image) in self.images.iter().enumerate() {
            images[other.images[point] as usize] = other.images[image as usize];
        }
        Permutation { images: images.into() }
    }

    /// The least positive number of repetitions that gives the identity: the least common multiple of the lengths of
    /// its cycles.
    pub fn order(&self) -> UBig {
        let mut lengths: Vec<usize> = self.cycles().iter().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths.into_iter().fold(UBig::ONE, |order, length| {
            let length = UBig::from(length);
            let common = (&order).gcd(&length);
            order / common * length
        })
    }

    /// Is it a product of an even number of swaps?
    pub fn is_even(&self) -> bool {
        self.cycles().iter().map(|cycle| cycle.len() - 1).sum::<usize>() % 2 == 0
    }

    /// The cycles of length two and more, each from its least point, in the order of those.
    pub fn cycles(&self) -> Vec<Vec<Point>> {
        let mut cycles = self.cycles_with_fixed_points();
        cycles.retain(|cycle| cycle.len() > 1);
        cycles
    }

    fn cycles_with_fixed_points(&self) -> Vec<Vec<Point>> {
        let mut seen = vec![false; self.degree()];
        let mut cycles = Vec::new();
        for start in 0..self.degree() as Point {
            if seen[start as usize] {
                continue;
            }
            let mut cycle = Vec::new();
            let mut point = start;
            while !seen[point as usize] {
                seen[point as usize] = true;
                cycle.push(point);
                point = self.images[point as usize];
            }
            cycles.push(cycle);
        }
        cycles
    }

    /// The points it moves, ascending.
    pub fn support(&self) -> Vec<Point> {
        (0..self.degree() as Point).filter(|&point| self.images[point as usize] != point).collect()
    }

    /// The same permutation with further fixed points up to `degree`; shorter degrees are left alone.
    pub fn extended(&self, degree: usize) -> Permutation {
        let mut images = self.images.to_vec();
        images.extend(self.images.len() as Point..degree.max(self.images.len()) as Point);
        Permutation { images: images.into() }
    }

    /// What it does to `points`, which it must map to themselves as a set: `points[i]` becomes `i`.
    pub(crate) fn restricted(&self, points: &[Point], index: &[u32]) -> Permutation {
        Permutation::from_bijection(points.iter().map(|&point| index[self.image(point) as usize]).collect())
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Is this array of images the identity?
#[inline]
pub fn is_identity(images: &[Point]) -> bool {
    images.iter().enumerate().all(|(point, &image)| point as Point == image)
}

/// `into` becomes first `first`, then `next`.
#[inline]
pub fn compose_into(first: &[Point], next: &[Point], into: &mut [Point]) {
    for (slot, &image) in into.iter_mut().zip(first) {
        *slot = next[image as usize];
    }
}

/// `images` becomes itself followed by `next`.
#[inline]
pub fn follow(images: &mut [Point], next: &[Point]) {
    for image in images {
        *image = next[*image as usize];
    }
}

/// `into` becomes the inverse of `images`.
#[inline]
pub fn invert_into(images: &[Point], into: &mut [Point]) {
    for (point, &image) in images.iter().enumerate() {
        into[image as usize] = point as Point;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn images_are_checked() {
        assert_eq!(Permutation::from_images(vec![0, 2]), Err(NotAPermutation::OutOfRange { point: 1 }));
        assert_eq!(Permutation::from_images(vec![1, 1, 0]), Err(NotAPermutation::Repeated { image: 1 }));
        assert!(Permutation::from_images(vec![]).is_ok_and(|empty| empty.is_identity()));
    }

    #[test]
    fn the_laws_hold_on_random_permutations() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let degree = 1 + random.below(9);
            let [a, b, c] = [(); 3].map(|()| random.permutation(degree));
            let identity = Permutation::identity(degree);
            assert_eq!(a.then(&b).then(&c), a.then(&b.then(&c)), "seed {seed}");
            assert_eq!(a.then(&a.inverse()), identity, "seed {seed}");
            assert_eq!(a.conjugate(&b), b.inverse().then(&a).then(&b), "seed {seed}");
            assert_eq!(a.then(&b).is_even(), a.is_even() == b.is_even(), "seed {seed}");
            let mut power = identity.clone();
            let mut order = 0;
            loop {
                assert_eq!(a.power(order), power, "seed {seed}");
                assert_eq!(a.power(-order), power.inverse(), "seed {seed}");
                power = power.then(&a);
                order += 1;
                if power.is_identity() {
                    break;
                }
            }
            assert_eq!(a.order(), UBig::from(order as u64), "seed {seed}");
            let mut buffer = vec![0; degree];
            compose_into(a.images(), b.images(), &mut buffer);
            assert_eq!(buffer, a.then(&b).images(), "seed {seed}");
            follow(&mut buffer, c.images());
            assert_eq!(buffer, a.then(&b).then(&c).images(), "seed {seed}");
        }
    }

    #[test]
    fn orders_are_not_bound_by_machine_words() {
        let mut cycles = Vec::new();
        let mut next = 0;
        for prime in [2u32, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59] {
            cycles.push((next..next + prime).collect());
            next += prime;
        }
        let permutation = Permutation::from_disjoint_cycles(next as usize, &cycles);
        assert_eq!(permutation.order().to_string(), "1922760350154212639070");
    }
}
