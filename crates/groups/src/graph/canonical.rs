//! The best leaf of the search tree: the one with the least trace, and among those the least labelled graph.
//!
//! It is the same graph for every numbering of the vertices, which makes the labelling canonical. At each node of the
//! first path, once its automorphisms are known, one vertex of every other orbit in its cell is explored. Below such a
//! vertex the search goes depth first and cuts off a node as soon as its trace exceeds that of the best leaf. A node,
//! or leaf, that an automorphism carries to a node of the best path shows that the whole subtree in which it lies,
//! below the last choice it has in common with the best path, is a copy of one already searched; that automorphism is
//! remembered for pruning.

use std::cmp::Ordering;

use trefoil_control::Stopped;

use super::refinement::Against;
use super::search::{Node, Search, choose_target, compare_leaves};
use super::sparse::SparsePermutation;
use crate::orbits::Orbits;
use crate::permutation::Point;

pub(super) struct Best {
    trace: Vec<u64>,
    pub(super) leaf: Vec<Point>,
    choices: Vec<Point>,
    /// Automorphisms met on the way, for pruning; all are products of those of the search.
    met: Vec<SparsePermutation>,
}

impl Best {
    /// The first path, until something better is found.
    pub(super) fn new(search: &Search<'_>) -> Best {
        Best {
            trace: search.trace.clone(),
            leaf: search.leaf.clone(),
            choices: search.path.iter().map(|step| step.vertex).collect(),
            met: Vec::new(),
        }
    }

    /// Explores the vertex `start` in place of the choice at `level` of the first path; the state is the node of that
    /// level.
    pub(super) fn explore(&mut self, search: &mut Search<'_>, level: usize, start: Point) -> Result<(), Stopped> {
        let n = search.graph.vertices();
        let root = search.path[level].mark;
        let mut choices: Vec<Point> = search.path[..level].iter().map(|step| step.vertex).collect();
        let mut stack: Vec<Node> = Vec::new();
        // For each node of the stack, which generators of the search fix the choices above it. All those known now fix
        // the first ones.
        let mut fixing: Vec<Vec<u32>> = vec![(0..search.generators.len() as u32).collect()];
        let mut next = Some(start);
        // The path under way has a smaller trace than the best; it then leads straight to a new best leaf.
        let mut less = false;
        loop {
            let Some(vertex) = next.take() else {
                let Some(node) = stack.last_mut() else { break };
                node.done.extend(choices.pop());
                search.refinement.undo(&node.mark);
                next = node.next(n, &self.met, &choices);
                if next.is_none() {
                    stack.pop();
                }
                continue;
            };
            search.control.check()?;
            choices.push(vertex);
            fixing.truncate(stack.len() + 1);
            let seen = search.refinement.splits.len();
            search.refinement.individualise(vertex);
            let against = if less { Against::Nothing } else { Against::AtMost };
            match search.refinement.refine(against, &self.trace, 0)? {
                None => continue,
                Some(order) => less |= order == Ordering::Less,
            }
            if !less {
                let shared = choices.iter().zip(&self.choices).take_while(|(a, b)| a == b).count();
                if let Some(automorphism) = self.match_with_best(search, &root, &stack, shared - level) {
                    self.met.push(automorphism);
                    // The subtree below the last shared choice is a copy: go on at the node of that choice.
                    choices.truncate(shared + 1);
                    stack.truncate(shared - level);
                    continue;
                }
            }
            if search.refinement.is_discrete() {
                let leaf = &search.refinement.elements;
                let adjacency = search.refinement.adjacency;
                if less || compare_leaves(adjacency, leaf, &self.leaf) == Ordering::Less {
                    self.leaf.clone_from(leaf);
                    self.trace.clone_from(&search.refinement.trace);
                    self.choices.clone_from(&choices);
                    less = false;
                }
                continue;
            }
            let Some(target) = choose_target(&search.refinement, seen) else { continue };
            let above = &fixing[stack.len()];
            let still: Vec<u32> = above
                .iter()
                .copied()
                .filter(|&known| search.generators[known as usize].image(vertex) == vertex)
                .collect();
            let least = self.least_children(search, target, &choices, &still, less)?;
            if least.is_empty() {
                continue;
            }
            fixing.push(still);
            let mut node = Node::new(search.refinement.mark(), least);
            next = node.next(n, &[], &choices);
            stack.push(node);
        }
        search.refinement.undo(&root);
        Ok(())
    }

    /// The vertices of a cell whose refinement has the least trace, one for each orbit of the known automorphisms that
    /// fix the choices.
    ///
    /// Comparing children before any of them is entered keeps graphs of many unlike parts polynomial: entering them one
    /// by one, and finding out each time that a later one is better, multiplies over the levels.
    fn least_children(
        &self,
        search: &mut Search<'_>,
        target: u32,
        choices: &[Point],
        fixing: &[u32],
        less: bool,
    ) -> Result<Vec<Point>, Stopped> {
        let mut orbits = Orbits::trivial(search.graph.vertices());
        let met = self.met.iter().filter(|known| choices.iter().all(|&choice| known.image(choice) == choice));
        for known in fixing.iter().map(|&known| &search.generators[known as usize]).chain(met) {
            for &(from, to) in known.moves() {
                orbits.merge(from, to);
            }
        }
        let mark = search.refinement.mark();
        let begin = search.refinement.trace.len();
        let mut candidates: Vec<(Point, Point)> =
            search.refinement.cell(target).iter().map(|&vertex| (orbits.find(vertex), vertex)).collect();
        candidates.sort_unstable();
        candidates.dedup_by_key(|&mut (orbit, _)| orbit);
        let mut reference: Option<Vec<u64>> = (!less).then(|| self.trace.get(begin..).unwrap_or_default().to_vec());
        let mut least = Vec::new();
        for (_, vertex) in candidates {
            search.control.check()?;
            search.refinement.individualise(vertex);
            let order = match &reference {
                None => search.refinement.refine(Against::Nothing, &[], 0)?.map(|_| Ordering::Less),
                Some(reference) => search.refinement.refine(Against::AtMost, reference, begin)?,
            };
            match order {
                None | Some(Ordering::Greater) => {}
                Some(Ordering::Equal) => least.push(vertex),
                Some(Ordering::Less) => {
                    least.clear();
                    least.push(vertex);
                    reference = Some(search.refinement.trace[begin..].to_vec());
                }
            }
            search.refinement.undo(&mark);
        }
        Ok(least)
    }

    /// An automorphism that maps the best path to the path under way, as far as the latter goes.
    fn match_with_best(
        &self,
        search: &mut Search<'_>,
        root: &super::refinement::Mark,
        stack: &[Node],
        shared: usize,
    ) -> Option<SparsePermutation> {
        let mark = if shared == 0 { root } else { &stack[shared - 1].mark };
        let refinement = &search.refinement;
        let places = &refinement.singles[mark.singles..];
        let pairs: Vec<(Point, Point)> =
            places.iter().map(|&place| (self.leaf[place as usize], refinement.elements[place as usize])).collect();
        search.matching.automorphism(&pairs)
    }
}
