//! Orbits: which points a set of generators can carry into each other.
//!
//! A disjoint-set forest with path halving and union by size (Tarjan, *Efficiency of a good but not linear set union
//! algorithm*, 1975): `n` points and `k` generators cost `O(n k α(n))`. Searches that find generators one by one merge
//! as they go, which is why the forest itself is the interface.

use crate::permutation::{Permutation, Point};

/// A partition of the points that only ever gets coarser.
#[derive(Clone, Debug)]
pub struct Orbits {
    parent: Vec<Point>,
    size: Vec<u32>,
    count: usize,
}

impl Orbits {
    /// Every point alone.
    pub fn trivial(degree: usize) -> Orbits {
        Orbits { parent: (0..degree as Point).collect(), size: vec![1; degree], count: degree }
    }

    /// The orbits of the group that these generate.
    pub fn of<'a>(degree: usize, generators: impl IntoIterator<Item = &'a Permutation>) -> Orbits {
        let mut orbits = Orbits::trivial(degree);
        for generator in generators {
            orbits.merge_images(generator.images());
        }
        orbits
    }

    /// One more generator, as an array of images.
    pub(crate) fn merge_images(&mut self, images: &[Point]) {
        for (point, &image) in images.iter().enumerate() {
            self.merge(point as Point, image);
        }
    }

    /// Puts two points into one orbit; says whether they were in two.
    pub fn merge(&mut self, a: Point, b: Point) -> bool {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        if self.size[a as usize] < self.size[b as usize] {
            (a, b) = (b, a);
        }
        self.parent[b as usize] = a;
        self.size[a as usize] += self.size[b as usize];
        self.count -= 1;
        true
    }

    /// The point that stands for the orbit of `point`, until the next merge.
    pub fn find(&mut self, mut point: Point) -> Point {
        while self.parent[point as usize] != point {
            let grandparent = self.parent[self.parent[point as usize] as usize];
            self.parent[point as usize] = grandparent;
            point = grandparent;
        }
        point
    }

    /// How many points share the orbit of `point`.
    pub fn size_of(&mut self, point: Point) -> usize {
        let representative = self.find(point);
        self.size[representative as usize] as usize
    }

    /// How many orbits there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The orbits, each ascending, in the order of their least points.
    pub fn cells(mut self) -> Vec<Vec<Point>> {
        let mut cell_of = vec![u32::MAX; self.parent.len()];
        let mut cells: Vec<Vec<Point>> = Vec::with_capacity(self.count);
        for point in 0..self.parent.len() as Point {
            let representative = self.find(point) as usize;
            if cell_of[representative] == u32::MAX {
                cell_of[representative] = cells.len() as u32;
                cells.push(Vec::new());
            }
            cells[cell_of[representative] as usize].push(point);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_the_reachable_points() {
        let parse = |text| Permutation::parse(text, 7).expect("the notation is right");
        let orbits = Orbits::of(7, &[parse("(1,2)(5,6)"), parse("(2,4)")]);
        assert_eq!(orbits.count(), 4);
        assert_eq!(orbits.cells(), vec![vec![0, 1, 3], vec![2], vec![4, 5], vec![6]]);
    }
}
