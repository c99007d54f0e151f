//! The best leaf of the search tree: the one with the least trace, and among those the least labelled graph.
//!
//! It is the same graph for every numbering of the vertices, which makes the labelling canonical. At each node of the first path,
//! once its automorphisms are known, one vertex of every other orbit in its cell is explored. Below such a vertex the search goes depth first and
//! cuts off a node as soon as its trace exceeds that of the best leaf. A node, or leaf, that an automorphism carries to a
//! node of the best path shows that the whole subtree in which it lies, below the last choice it has in common with the best path, is a
//! copy of one already searched; that automorphism is remembered for pruning.

use std::cmp::Ordering;

use trefoil_control::Stopped;

use super::refinement::Against;
use super::search::{Node, Search, choose_target, compare_leaves};
use super::sparse::SparsePermutation;
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

    /// Explores the vertex `start` in place of the choice at `level` of the first path; the state is the node of that level.
    pub(super) fn explore(&mut self, search: &mut Search<'_>, level: usize, start: Point) -> Result<(), Stopped> {
        let n = search.graph.vertices();
        let root = search.path[level].mark;
        let mut choices: Vec<Point> = search.path[..level].iter().map(|step| step.vertex).collect();
        let mut stack: Vec<Node> = Vec::new();
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
            let seen = search.refinement.splits.len();
            search.refinement.individualise(vertex);
            let against = if less { Against::Nothing } else { Against::AtMost };
            match search.refinement.refine(against, &self.trace)? {
                None => continue,
                Some(order) => less |= order == Ordering::Less,
            }
            if !less {
                let shared = choices.iter().zip(&self.choices).take_while(|(a, b)| a == b).count();
                if let Some(automorphism) = self.match_with_best(search, &root, &stack, shared - level) {
                    self.remember(automorphism);
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
            let mut node = Node::new(search.refinement.mark(), search.refinement.cell(target).to_vec());
            next = node.next(n, &[], &choices);
            stack.push(node);
        }
        search.refinement.undo(&root);
        Ok(())
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

    fn remember(&mut self, automorphism: SparsePermutation) {
        self.met.push(automorphism);
    }
}
