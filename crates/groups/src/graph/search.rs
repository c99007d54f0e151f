//! The search tree: individualise a vertex of a cell, refine, and so on; its first path and the automorphisms along it.
//!
//! Follows the plan of McKay and Piperno, *Practical graph isomorphism, II*, 2014, and, for the handling of sparse
//! graphs with many small symmetries, Darga, Sakallah and Markov, 2008, and Junttila and Kaski, *Engineering an
//! efficient canonical labeling tool for large and sparse graphs*, 2007.
//!
//! One path is followed to a discrete partition. Then, from its last node up, the vertices of the cell that was split
//! there are tried in place of the one the path took: an automorphism that fixes the choices above and maps the one to
//! the other exists exactly when a node with the same trace and an isomorphic leaf lies below. Vertices in one orbit of
//! what is known stand or fall together. Bottom up, the automorphisms found at a node generate all that fix the choices
//! above it, so the order of the whole group is the product of the orbits of the choices, and at most `n - 1`
//! generators are found.
//!
//! A node off the path is given up early: if an isomorphism carried the path's node to it, then as many vertices of its
//! cell would succeed as the orbit of the path's choice has, and that orbit is known. Where the cell is one orbit, one
//! failure is enough.
//!
//! Which cell is split matters for locality: the smallest of those that the last refinement made, else the one made
//! most recently. The search thus finishes a part of the graph before it enters the next, and `matching` can exchange
//! two copies of a part without walking to a leaf.

use std::cmp::Ordering;

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use super::coloured::{Adjacency, ColouredGraph};
use super::matching::Matching;
use super::refinement::{Against, Mark, Refinement};
use super::sparse::SparsePermutation;
use crate::chain::product;
use crate::orbits::Orbits;
use crate::permutation::Point;

/// How many of the latest generators are looked through to prune below a node off the path.
const REMEMBERED: usize = 256;

/// Pairs up to which every node tries to match; beyond, only when half as many again have come.
const SMALL_MATCH: usize = 48;

/// A node of the first path and the choice made there.
pub(super) struct Step {
    pub(super) mark: Mark,
    pub(super) target: u32,
    size: usize,
    pub(super) vertex: Point,
    /// The number of cells after refining by the choice.
    cells: usize,
    /// The size of the orbit of the choice under the automorphisms that fix the earlier ones, once the level is
    /// completed.
    pub(super) orbit: usize,
}

/// A node off the first path while the search is below it.
pub(super) struct Node {
    pub(super) mark: Mark,
    /// Vertices to try, last first.
    pub(super) pending: Vec<Point>,
    /// Vertices whose subtrees are done.
    pub(super) done: Vec<Point>,
    /// When more vertices than these fail, all do.
    tolerated: usize,
    pruning: Option<(usize, Orbits)>,
}

impl Node {
    pub(super) fn new(mark: Mark, pending: Vec<Point>) -> Node {
        Node { mark, pending, done: Vec::new(), tolerated: usize::MAX, pruning: None }
    }

    /// The next vertex that is not the image of one that is done under a known automorphism that fixes `choices`.
    pub(super) fn next(&mut self, degree: usize, generators: &[SparsePermutation], choices: &[Point]) -> Option<Point> {
        if self.done.len() > self.tolerated {
            return None;
        }
        while let Some(vertex) = self.pending.pop() {
            if self.done.is_empty() {
                return Some(vertex);
            }
            if self.pruning.as_ref().is_none_or(|(known, _)| *known != generators.len()) {
                let mut orbits = Orbits::trivial(degree);
                for generator in generators.iter().rev().take(REMEMBERED) {
                    if choices.iter().all(|&choice| generator.image(choice) == choice) {
                        for &(from, to) in generator.moves() {
                            orbits.merge(from, to);
                        }
                    }
                }
                self.pruning = Some((generators.len(), orbits));
            }
            let Some((_, orbits)) = &mut self.pruning else { return Some(vertex) };
            let representative = orbits.find(vertex);
            if !self.done.iter().any(|&done| orbits.find(done) == representative) {
                return Some(vertex);
            }
        }
        None
    }
}

pub(super) struct Search<'a> {
    pub(super) graph: &'a ColouredGraph,
    pub(super) control: &'a Control,
    pub(super) refinement: Refinement<'a>,
    pub(super) matching: Matching<'a>,
    pub(super) path: Vec<Step>,
    /// The trace and the leaf of the first path.
    pub(super) trace: Vec<u64>,
    pub(super) leaf: Vec<Point>,
    pub(super) generators: Vec<SparsePermutation>,
    pub(super) orbits: Orbits,
    refuted: Vec<u32>,
    pairs: Vec<(Point, Point)>,
}

impl<'a> Search<'a> {
    /// Walks the first path.
    pub(super) fn new(
        graph: &'a ColouredGraph,
        adjacency: &'a Adjacency,
        control: &'a Control,
    ) -> Result<Search<'a>, Stopped> {
        let n = graph.vertices();
        let mut search = Search {
            graph,
            control,
            refinement: Refinement::new(graph, adjacency, control),
            matching: Matching::new(adjacency, graph.colours()),
            path: Vec::new(),
            trace: Vec::new(),
            leaf: Vec::new(),
            generators: Vec::new(),
            orbits: Orbits::trivial(n),
            refuted: vec![u32::MAX; n],
            pairs: Vec::new(),
        };
        let refinement = &mut search.refinement;
        refinement.refine(Against::Nothing, &[], 0)?;
        // Parts split off and not yet known to be single, oldest first: what `choose_target` finds by walking back.
        let mut pending: Vec<u32> = Vec::new();
        let mut seen = 0;
        while !refinement.is_discrete() {
            control.check()?;
            let target = smallest_new(refinement, seen);
            pending.extend(refinement.splits[seen..].iter().map(|&(_, part)| part));
            seen = refinement.splits.len();
            while pending.last().is_some_and(|&part| refinement.length_of(part) == 1) {
                pending.pop();
            }
            let Some(target) = target.or(pending.last().copied()) else { break };
            let size = refinement.length_of(target);
            let vertex = refinement.cell(target)[size - 1];
            let mark = refinement.mark();
            refinement.individualise(vertex);
            refinement.refine(Against::Nothing, &[], 0)?;
            search.path.push(Step { mark, target, size, vertex, cells: refinement.cells, orbit: 1 });
        }
        search.trace = refinement.trace.clone();
        search.leaf = refinement.elements.clone();
        Ok(search)
    }

    /// The number of automorphisms, once every level is completed.
    pub(super) fn order(&self) -> UBig {
        product(self.path.iter().map(|step| step.orbit))
    }

    /// Finds all automorphisms that fix the choices before `level`, given those that fix its choice too; the state is
    /// then the node of that level. What is returned is one vertex of every other orbit in its cell.
    pub(super) fn complete_level(&mut self, level: usize) -> Result<Vec<Point>, Stopped> {
        let Step { mark, target, size, vertex, .. } = self.path[level];
        self.refinement.undo(&mark);
        // Usually the next choice in the same cell, or any other vertex, completes the orbit, and the cell need not be
        // walked over.
        let next = self.path.get(level + 1).map(|step| step.vertex);
        let next = next.filter(|&next| self.refinement.cell_of(next) == target);
        let first = next.into_iter().chain([self.refinement.cell(target)[0], self.refinement.cell(target)[size / 2]]);
        for candidate in first.collect::<Vec<_>>() {
            self.try_candidate(level, candidate)?;
        }
        let mut others = Vec::new();
        if self.orbits.size_of(vertex) < size {
            for candidate in self.refinement.cell(target).to_vec() {
                self.try_candidate(level, candidate)?;
                if self.orbits.size_of(vertex) == size {
                    break;
                }
            }
            if self.orbits.size_of(vertex) < size {
                let mut seen = vec![self.orbits.find(vertex)];
                let mut cell: Vec<(Point, Point)> =
                    self.refinement.cell(target).iter().map(|&other| (self.orbits.find(other), other)).collect();
                cell.sort_unstable();
                for (representative, other) in cell {
                    if seen.last() != Some(&representative) && seen[0] != representative {
                        seen.push(representative);
                        others.push(other);
                    }
                }
            }
        }
        self.path[level].orbit = self.orbits.size_of(vertex);
        Ok(others)
    }

    fn try_candidate(&mut self, level: usize, candidate: Point) -> Result<(), Stopped> {
        let representative = self.orbits.find(candidate);
        if representative == self.orbits.find(self.path[level].vertex)
            || self.refuted[representative as usize] == level as u32
        {
            return Ok(());
        }
        match self.automorphism_to(level, candidate)? {
            Some(generator) => {
                for &(from, to) in generator.moves() {
                    self.orbits.merge(from, to);
                }
                self.generators.push(generator);
            }
            None => {
                let representative = self.orbits.find(candidate);
                self.refuted[representative as usize] = level as u32;
            }
        }
        Ok(())
    }

    /// An automorphism that fixes the choices before `level` and maps its choice to `candidate`, if there is one.
    fn automorphism_to(&mut self, level: usize, candidate: Point) -> Result<Option<SparsePermutation>, Stopped> {
        let mark = self.path[level].mark;
        let n = self.graph.vertices();
        let mut stack: Vec<Node> = Vec::new();
        let mut choices: Vec<Point> = Vec::new();
        let mut next = Some(candidate);
        let mut last_match = 0;
        let found = loop {
            let Some(vertex) = next.take() else {
                // Go on at the innermost node that has something left.
                let Some(node) = stack.last_mut() else { break None };
                choices.pop().into_iter().for_each(|choice| node.done.push(choice));
                self.refinement.undo(&node.mark);
                next = node.next(n, &self.generators, &choices);
                if next.is_none() {
                    stack.pop();
                }
                continue;
            };
            self.control.check()?;
            choices.push(vertex);
            let depth = level + stack.len();
            self.refinement.individualise(vertex);
            if self.refinement.refine(Against::Equal, &self.trace, 0)?.is_none()
                || self.refinement.cells != self.path[depth].cells
            {
                continue;
            }
            let count = self.refinement.singles.len() - mark.singles;
            let is_leaf = self.refinement.is_discrete();
            if is_leaf || count <= SMALL_MATCH || count * 2 >= last_match * 3 {
                last_match = count;
                let refinement = &self.refinement;
                self.pairs.clear();
                self.pairs.extend(
                    refinement.singles[mark.singles..]
                        .iter()
                        .map(|&place| (self.leaf[place as usize], refinement.elements[place as usize])),
                );
                if let Some(generator) = self.matching.automorphism(&self.pairs) {
                    break Some(generator);
                }
            }
            let Some(step) = self.path.get(depth + 1).filter(|_| !is_leaf) else { continue };
            if self.refinement.length_of(step.target) != step.size {
                continue;
            }
            // The choice of the path itself is tried first, so that the two copies differ as little as possible.
            let mut pending = self.refinement.cell(step.target).to_vec();
            if self.refinement.cell_of(step.vertex) == step.target {
                pending.retain(|&vertex| vertex != step.vertex);
                pending.push(step.vertex);
            }
            // If there is an isomorphism from the path's node to this one, it carries the orbit of the path's choice,
            // which is known, to vertices that all succeed.
            let tolerated = step.size - step.orbit;
            let mut node = Node { tolerated, ..Node::new(self.refinement.mark(), pending) };
            next = node.next(n, &[], &choices);
            stack.push(node);
        };
        self.refinement.undo(&mark);
        Ok(found)
    }
}

/// The smallest cell of several vertices among those split off since `seen`; the first of these in the order of
/// splitting.
fn smallest_new(refinement: &Refinement<'_>, seen: usize) -> Option<u32> {
    let parts = refinement.splits[seen..].iter().map(|&(_, part)| part);
    parts.filter(|&part| refinement.length_of(part) > 1).min_by_key(|&part| refinement.length_of(part))
}

/// The cell to split at a node whose last refinement began after `seen` splits; `None` when all cells are single.
pub(super) fn choose_target(refinement: &Refinement<'_>, seen: usize) -> Option<u32> {
    smallest_new(refinement, seen).or_else(|| {
        let parts = refinement.splits[..seen].iter().rev().map(|&(_, part)| part);
        parts.into_iter().find(|&part| refinement.length_of(part) > 1)
    })
}

/// Compares two leaves by the graphs that they label: arcs at the first position, at the second, and so on.
pub(super) fn compare_leaves(adjacency: &Adjacency, left: &[Point], right: &[Point]) -> Ordering {
    let invert = |leaf: &[Point]| {
        let mut place = vec![0; leaf.len()];
        leaf.iter().zip(0..).for_each(|(&vertex, position)| place[vertex as usize] = position);
        place
    };
    let (left_place, right_place): (Vec<Point>, Vec<Point>) = (invert(left), invert(right));
    let (mut left_arcs, mut right_arcs) = (Vec::new(), Vec::new());
    for (&a, &b) in left.iter().zip(right) {
        adjacency.renamed_into(a, |vertex| left_place[vertex as usize], &mut left_arcs);
        adjacency.renamed_into(b, |vertex| right_place[vertex as usize], &mut right_arcs);
        match left_arcs.cmp(&right_arcs) {
            Ordering::Equal => {}
            different => return different,
        }
    }
    Ordering::Equal
}
