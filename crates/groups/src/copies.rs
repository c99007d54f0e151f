//! Wreath products by their blocks: copies of one thing, exchanged as wholes.
//!
//! The general recogniser (`recognise`) lifts every part of a wreath product to elements of the group, which strategies
//! need and which takes a long base. For a name it is enough to compare orders. Given blocks that the generators carry
//! to each other, the points of each block get coordinates along a tree of generators; every generator then acts on
//! every block as an element of a group on the first block, and the group is a subgroup of the wreath product of the
//! group that these elements generate, the base, with the group on the blocks, the top (Krasner and Kaloujnine, 1951).
//! It is that wreath product when the orders agree; and when the order already equals that with the symmetric group on
//! top, the top need not be computed.
//!
//! Candidates for blocks come from the caller (components of a graph) or from generators that move few points, which
//! often lie in one block. Whether they are blocks is checked.
//!
//! Cost: generators are lists of moves, and blocks that a generator does not move are not looked at, so a pass costs
//! the sizes of the blocks that generators touch; the base is a group of the degree of one block.

use std::collections::VecDeque;

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::bound::block_numbers;
use crate::chain::factorial;
use crate::graph::SparsePermutation;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::words::{bracketed, names_of_group};

/// Points of a block up to which the base is looked at.
const LARGEST_BLOCK: usize = 1 << 10;

/// Blocks times generators up to which the group on the blocks is looked at when it is not symmetric.
const LARGEST_TOP: usize = 1 << 20;

/// Generators that are tried for candidates.
const SPARSEST: usize = 4;

/// Generators of a group that moves all points, with the generators that touch each point.
pub(crate) struct Touching<'a> {
    degree: usize,
    generators: &'a [SparsePermutation],
    of_point: Vec<Vec<u32>>,
}

impl<'a> Touching<'a> {
    pub(crate) fn new(degree: usize, generators: &'a [SparsePermutation]) -> Touching<'a> {
        let mut of_point = vec![Vec::new(); degree];
        for (number, generator) in (0..).zip(generators) {
            generator.moves().iter().for_each(|&(point, _)| of_point[point as usize].push(number));
        }
        Touching { degree, generators, of_point }
    }

    /// The name of the group, when it has this order and is a wreath product over one of these systems of blocks or of
    /// those that few moves suggest.
    pub(crate) fn wreath_name(
        &self,
        order: &UBig,
        systems: &[Vec<Vec<Point>>],
        control: &Control,
    ) -> Result<Option<String>, Stopped> {
        for system in systems {
            if let Some(name) = self.name_over(system, order, control)? {
                return Ok(Some(name));
            }
        }
        let mut sparse: Vec<&SparsePermutation> = self.generators.iter().filter(|g| !g.moves().is_empty()).collect();
        sparse.sort_by_key(|generator| generator.moves().len());
        let mut tried: Vec<Vec<Vec<Point>>> = Vec::new();
        for generator in sparse.into_iter().take(SPARSEST) {
            let (first, image) = generator.moves()[0];
            let all: Vec<(Point, Point)> = generator.moves().iter().map(|&(point, _)| (first, point)).collect();
            for pairs in [vec![(first, image)], all] {
                let system = self.joining(pairs, control)?;
                if !tried.contains(&system) {
                    if let Some(name) = self.name_over(&system, order, control)? {
                        return Ok(Some(name));
                    }
                    tried.push(system);
                }
            }
        }
        Ok(None)
    }

    /// The finest partition that the generators keep in which these pairs share a cell.
    fn joining(&self, mut queue: Vec<(Point, Point)>, control: &Control) -> Result<Vec<Vec<Point>>, Stopped> {
        let mut classes = Orbits::trivial(self.degree);
        while let Some((a, b)) = queue.pop() {
            if classes.merge(a, b) {
                control.check()?;
                let [of_a, of_b] = [a, b].map(|point| &self.of_point[point as usize]);
                for &number in of_a.iter().chain(of_b) {
                    let generator = &self.generators[number as usize];
                    queue.push((generator.image(a), generator.image(b)));
                }
            }
        }
        Ok(classes.cells())
    }

    fn name_over(&self, blocks: &[Vec<Point>], order: &UBig, control: &Control) -> Result<Option<String>, Stopped> {
        let count = blocks.len();
        let Some(size) = blocks.first().map(Vec::len) else { return Ok(None) };
        let alike = blocks.iter().all(|block| block.len() == size) && count * size == self.degree;
        if !alike || count < 2 || !(2..=LARGEST_BLOCK).contains(&size) {
            return Ok(None);
        }
        let Some(base) = self.base(blocks, control)? else { return Ok(None) };
        let base_order = base.order();
        if base_order == UBig::ONE {
            return Ok(None);
        }
        let power = base_order.pow(count);
        if power > *order {
            return Ok(None);
        }
        let top = if &power * factorial(count) == *order {
            format!("S{count}")
        } else {
            if count.saturating_mul(self.generators.len()) > LARGEST_TOP {
                return Ok(None);
            }
            let block_of = block_numbers(self.degree, blocks);
            let act = |generator: &SparsePermutation| {
                let images = blocks.iter().map(|block| block_of[generator.image(block[0]) as usize]).collect();
                Permutation::from_bijection(images)
            };
            let mut across: Vec<Permutation> = self.generators.iter().map(act).collect();
            across.retain(|generator| !generator.is_identity());
            let top = PermutationGroup::generate(count, &across, control)?;
            if power * top.order() != *order {
                return Ok(None);
            }
            bracketed(&names_of_group(&top, control)?)
        };
        Ok(Some(format!("{} wr {top}", bracketed(&names_of_group(&base, control)?))))
    }

    /// What generators do to blocks, in coordinates of the first; `None` when these are no blocks, or not all of them
    /// are carried to each other.
    fn base(&self, blocks: &[Vec<Point>], control: &Control) -> Result<Option<PermutationGroup>, Stopped> {
        let size = blocks[0].len();
        let block_of = block_numbers(self.degree, blocks);
        let mut arranged: Vec<Vec<Point>> = vec![Vec::new(); blocks.len()];
        let mut place: Vec<Point> = vec![0; self.degree];
        (0..).zip(&blocks[0]).for_each(|(position, &point)| place[point as usize] = position);
        arranged[0] = blocks[0].clone();
        let mut queue = VecDeque::from([0]);
        let mut reached = 1;
        let mut found: Vec<Permutation> = Vec::new();
        let mut base = PermutationGroup::generate(size, &[], control)?;
        while let Some(block) = queue.pop_front() {
            let mut touching: Vec<u32> =
                arranged[block].iter().flat_map(|&point| &self.of_point[point as usize]).copied().collect();
            touching.sort_unstable();
            touching.dedup();
            for number in touching {
                control.check()?;
                let generator = &self.generators[number as usize];
                let moved: Vec<Point> = arranged[block].iter().map(|&point| generator.image(point)).collect();
                let target = block_of[moved[0] as usize];
                if moved.iter().any(|&point| block_of[point as usize] != target) {
                    return Ok(None);
                }
                if arranged[target as usize].is_empty() {
                    (0..).zip(&moved).for_each(|(position, &point)| place[point as usize] = position);
                    arranged[target as usize] = moved;
                    queue.push_back(target as usize);
                    reached += 1;
                } else {
                    let images = moved.iter().map(|&point| place[point as usize]).collect();
                    let element = Permutation::from_bijection(images);
                    if !base.contains(&element) {
                        found.push(element);
                        base = PermutationGroup::generate(size, &found, control)?;
                    }
                }
            }
        }
        Ok((reached == blocks.len()).then_some(base))
    }
}
