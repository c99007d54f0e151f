//! All elements of a group in a fixed order, and the cosets of a chain in that order.
//!
//! Elements come in the lexicographic order of the images of the base points, an order that depends on the group and
//! its base only, not on the generators or the trees that happened to be grown. A stack keeps the product of the
//! representatives of the levels above, so that an element costs one multiplication (amortised: the last level with
//! more than one coset moves most often).

use crate::chain::StabiliserChain;
use crate::permutation::{Permutation, Point};

/// An iterator over the elements of a chain, or over one element of each coset of a stabiliser in it.
pub struct Elements<'a> {
    chain: &'a StabiliserChain,
    depth: usize,
    /// For each level entered: the images its base point still has to take, in descending order.
    pending: Vec<Vec<Point>>,
    /// `products[i]` is the product of the chosen representatives of the levels before `i`.
    products: Vec<Permutation>,
    started: bool,
}

impl<'a> Elements<'a> {
    /// All elements.
    pub fn new(chain: &'a StabiliserChain) -> Elements<'a> {
        Elements::cosets(chain, chain.levels.len())
    }

    /// One element for each coset of the elements that fix the first `depth` base points: the one that is a product of
    /// representatives of those levels.
    pub fn cosets(chain: &'a StabiliserChain, depth: usize) -> Elements<'a> {
        let depth = depth.min(chain.levels.len());
        Elements {
            chain,
            depth,
            pending: Vec::new(),
            products: vec![Permutation::identity(chain.degree())],
            started: false,
        }
    }

    /// Enters the levels below the current product, at the first image of each.
    fn descend(&mut self) {
        while self.pending.len() < self.depth {
            let product = &self.products[self.pending.len()];
            let orbit = &self.chain.levels[self.pending.len()].orbit;
            let mut images: Vec<Point> = orbit.iter().map(|&point| product.image(point)).collect();
            images.sort_unstable_by(|a, b| b.cmp(a));
            self.pending.push(images);
            self.choose();
        }
    }

    /// Takes the next image on the last level entered; says whether there was one.
    fn choose(&mut self) -> bool {
        let level = self.pending.len() - 1;
        let Some(image) = self.pending[level].pop() else { return false };
        self.products.truncate(level + 1);
        let above = &self.products[level];
        // The representative acts first, so its point is the one that the product above carries to the image.
        let orbit = &self.chain.levels[level].orbit;
        let next = orbit.iter().find(|&&point| above.image(point) == image).and_then(|&point| {
            if point == self.chain.levels[level].base_point {
                return Some(above.clone());
            }
            self.chain.representative(level, point).map(|representative| representative.then(above))
        });
        let Some(next) = next else { unreachable!("pending images come from the orbit") };
        self.products.push(next);
        true
    }
}

impl Iterator for Elements<'_> {
    type Item = Permutation;

    fn next(&mut self) -> Option<Permutation> {
        if !self.started {
            self.started = true;
            self.descend();
            return self.products.last().cloned();
        }
        loop {
            if self.pending.is_empty() {
                return None;
            }
            if self.choose() {
                self.descend();
                return self.products.last().cloned();
            }
            self.pending.pop();
        }
    }
}
