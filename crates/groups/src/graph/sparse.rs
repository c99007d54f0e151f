//! Permutations by the points they move: automorphisms of large graphs often move a handful of vertices.

use std::fmt;

use crate::cycles::write_cycles;
use crate::permutation::{Permutation, Point};

/// A permutation as the list of what it moves, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SparsePermutation {
    moves: Box<[(Point, Point)]>,
}

impl SparsePermutation {
    /// Moves that are known to be a bijection of the points moved.
    pub(crate) fn from_moves(mut moves: Vec<(Point, Point)>) -> SparsePermutation {
        moves.sort_unstable();
        SparsePermutation { moves: moves.into() }
    }

    /// The moves of an array of images.
    pub fn of(permutation: &Permutation) -> SparsePermutation {
        let moves = (0..).zip(permutation.images()).filter(|&(point, &image)| point != image);
        SparsePermutation { moves: moves.map(|(point, &image)| (point, image)).collect() }
    }

    /// The points it moves, ascending, each with its image.
    pub fn moves(&self) -> &[(Point, Point)] {
        &self.moves
    }

    /// Where `point` goes.
    pub fn image(&self, point: Point) -> Point {
        match self.moves.binary_search_by_key(&point, |&(from, _)| from) {
            Ok(place) => self.moves[place].1,
            Err(_) => point,
        }
    }

    /// The same as an array of images. Panics when it moves a point outside the degree.
    pub fn to_permutation(&self, degree: usize) -> Permutation {
        let mut images: Vec<Point> = (0..degree as Point).collect();
        for &(from, to) in &self.moves {
            images[from as usize] = to;
        }
        Permutation::from_bijection(images)
    }
}

impl SparsePermutation {
    /// The cycles of length two and more, each from its least point, in the order of those.
    pub fn cycles(&self) -> Vec<Vec<Point>> {
        let mut seen = vec![false; self.moves.len()];
        let mut cycles = Vec::new();
        for start in 0..self.moves.len() {
            let mut cycle = Vec::new();
            let mut place = start;
            while !seen[place] {
                seen[place] = true;
                cycle.push(self.moves[place].0);
                place = self.moves.binary_search_by_key(&self.moves[place].1, |&(from, _)| from).unwrap_or(start);
            }
            if !cycle.is_empty() {
                cycles.push(cycle);
            }
        }
        cycles
    }
}

impl fmt::Display for SparsePermutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cycles(f, &self.cycles())
    }
}
