//! From two partially individualised copies of a graph to an automorphism, if the obvious guess is one.
//!
//! Two nodes of a search tree with equal traces pair up their single vertices. The pairs are a partial map; wherever a
//! chain of pairs ends in a vertex that has no image yet, the guess closes the chain to a cycle, and it fixes
//! everything else. The guess is then checked on every arc at every moved vertex, so it is never wrong, only sometimes
//! fruitless. When all remaining cells agree this is the early test of Darga, Sakallah and Markov, *Faster symmetry
//! discovery using sparsity of symmetries*, 2008; closing chains also finds exchanges of two copies of a part long
//! before a leaf, at a cost that depends on the size of the part alone.

use super::coloured::Adjacency;
use super::sparse::SparsePermutation;
use crate::permutation::Point;

pub(crate) struct Matching<'a> {
    adjacency: &'a Adjacency,
    colours: &'a [u32],
    image: Vec<Point>,
    preimage: Vec<Point>,
    in_domain: Vec<bool>,
    in_range: Vec<bool>,
    balance: Vec<i32>,
    left: Vec<(u32, Point)>,
    right: Vec<(u32, Point)>,
}

impl<'a> Matching<'a> {
    pub(crate) fn new(adjacency: &'a Adjacency, colours: &'a [u32]) -> Matching<'a> {
        let n = colours.len();
        Matching {
            adjacency,
            colours,
            image: (0..n as Point).collect(),
            preimage: (0..n as Point).collect(),
            in_domain: vec![false; n],
            in_range: vec![false; n],
            balance: vec![0; n],
            left: Vec::new(),
            right: Vec::new(),
        }
    }

    /// An automorphism other than the identity that extends these pairs, by closing chains; `None` when that is not
    /// one.
    pub(crate) fn automorphism(&mut self, pairs: &[(Point, Point)]) -> Option<SparsePermutation> {
        for &(from, to) in pairs {
            self.in_domain[from as usize] = true;
            self.in_range[to as usize] = true;
            self.image[from as usize] = to;
            self.preimage[to as usize] = from;
        }
        let mut moves: Vec<(Point, Point)> = pairs.iter().filter(|(from, to)| from != to).copied().collect();
        for &(_, to) in pairs {
            if !self.in_domain[to as usize] {
                let mut start = to;
                while self.in_range[start as usize] {
                    start = self.preimage[start as usize];
                }
                self.image[to as usize] = start;
                moves.push((to, start));
            }
        }
        let is_automorphism = !moves.is_empty() && moves.iter().all(|&(from, to)| self.fits(from, to));
        for &(from, to) in pairs {
            for point in [from, to] {
                self.in_domain[point as usize] = false;
                self.in_range[point as usize] = false;
                self.image[point as usize] = point;
                self.preimage[point as usize] = point;
            }
        }
        is_automorphism.then(|| SparsePermutation::from_moves(moves))
    }

    /// Are the arcs of `from`, with their ends moved, exactly those of `to`?
    fn fits(&mut self, from: Point, to: Point) -> bool {
        if self.colours[from as usize] != self.colours[to as usize] {
            return false;
        }
        let (here, there) = (self.adjacency.neighbours(from), self.adjacency.neighbours(to));
        if here.len() != there.len() {
            return false;
        }
        if !self.adjacency.has_one_class() {
            let image = &self.image;
            self.adjacency.renamed_into(from, |vertex| image[vertex as usize], &mut self.left);
            self.adjacency.renamed_into(to, |vertex| vertex, &mut self.right);
            return self.left == self.right;
        }
        for &vertex in here {
            self.balance[self.image[vertex as usize] as usize] += 1;
        }
        for &vertex in there {
            self.balance[vertex as usize] -= 1;
        }
        // The balances add up to nothing, so one that is not zero shows among the ends of `to`.
        let fits = there.iter().all(|&vertex| self.balance[vertex as usize] == 0);
        for &vertex in here {
            self.balance[self.image[vertex as usize] as usize] = 0;
        }
        for &vertex in there {
            self.balance[vertex as usize] = 0;
        }
        fits
    }
}
