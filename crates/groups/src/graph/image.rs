//! A canonical image of a coloured graph under a given group, which may be any group of permutations of some of its
//! vertices.
//!
//! The first vertices of the graph are the points of the group; the others are anonymous and may be permuted at will
//! within their colours. Canonical labelling solves this when the group is symmetric; here only its elements are
//! allowed. After Jefferson, Jonauskyte, Pfeiffer and Waldecker, *Minimal and canonical images*, 2019, with the
//! refinement of graphs in place of theirs for sets.
//!
//! A node of the search is the sequence of points that are to become the first base points; the next is taken from the
//! image of the next basic orbit, it is individualised and the graph refined, and the trace of that step says how good
//! it was. Three facts keep the tree small:
//!
//! - The stabiliser of the graph in the group comes first, found bottom up along the sequence of base points itself, as
//!   in `search`: traces must agree with those of the base, orbits of what is known are tried once, and a node gives up
//!   when more choices fail than the orbit of the base point leaves over.
//! - Level by level only the least traces are kept, over all nodes.
//! - Choices that the rest of the stabiliser carries into each other are followed once, so that the nodes of a level
//!   are pairwise inequivalent.
//!
//! When the base is placed, the element is determined; the anonymous vertices are then labelled canonically with all
//! points individualised, and the least labelled graph wins. No stabiliser is ever listed. Cost: polynomial for each
//! node.

use std::cmp::Ordering;

use trefoil_control::{Control, Stopped};

use super::coloured::{Adjacency, ColouredGraph};
use super::refinement::{Against, Mark, Refinement};
use super::{canonical_labelling, prepare};
use crate::chain::StabiliserChain;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::random::mix;
use crate::schreier_sims::change_base;

/// A group prepared for many graphs.
#[derive(Clone, Debug)]
pub struct GraphImages {
    chain: StabiliserChain,
}

/// The canonical image of a graph.
#[derive(Clone, Debug)]
pub struct GraphImage {
    /// The image: equal for two graphs exactly when an element of the group makes them isomorphic.
    pub graph: ColouredGraph,
    /// The new number of each vertex; for points, the image under `element`.
    pub labels: Permutation,
    /// The element of the group that was used.
    pub element: Permutation,
    /// The elements of the group that extend to automorphisms of the graph.
    pub stabiliser: PermutationGroup,
}

impl GraphImages {
    /// Prepares the group.
    pub fn new(group: &PermutationGroup, control: &Control) -> Result<GraphImages, Stopped> {
        let mut chain = group.chain_under(control)?.clone();
        chain.drop_trivial_levels(0);
        Ok(GraphImages { chain })
    }

    /// The canonical image of a graph that has at least as many vertices as the group has points.
    pub fn of(&self, graph: &ColouredGraph, control: &Control) -> Result<GraphImage, Stopped> {
        let degree = self.chain.degree();
        assert!(graph.vertices() >= degree, "the graph has fewer vertices than the group has points");
        // Points and anonymous vertices are never exchanged, whatever their colours.
        let mut kinds: Vec<(bool, u32)> =
            graph.colours().iter().enumerate().map(|(vertex, &colour)| (vertex >= degree, colour)).collect();
        let all = kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let mut separated = graph.clone();
        for (vertex, kind) in all.iter().enumerate() {
            separated.set_colour(vertex as Point, kinds.binary_search(kind).unwrap_or_default() as u32);
        }
        let adjacency: Adjacency = prepare(&separated, control)?;
        let mut refinement = Refinement::new(&separated, &adjacency, control);
        refinement.refine(Against::Nothing, &[], 0)?;
        let root = refinement.mark();
        let mut search = Search { chain: &self.chain, graph: &separated, refinement, root, control };
        let stabiliser = search.stabiliser()?;
        let (source, to_label) = search.best(&stabiliser)?;
        let element = source.inverse();
        Ok(GraphImage {
            graph: graph.relabelled(&to_label),
            labels: to_label,
            element,
            stabiliser: PermutationGroup::from_chain(stabiliser),
        })
    }
}

struct Search<'a> {
    chain: &'a StabiliserChain,
    graph: &'a ColouredGraph,
    refinement: Refinement<'a>,
    /// The state before any choice.
    root: Mark,
    control: &'a Control,
}

impl Search<'_> {
    /// Individualises a point; what happened, as words.
    fn choose(&mut self, point: Point) -> Result<Vec<u64>, Stopped> {
        let begin = self.refinement.trace.len();
        let cell = self.refinement.cell_of(point);
        if self.refinement.length_of(cell) > 1 {
            self.refinement.individualise(point);
            self.refinement.refine(Against::Nothing, &[], 0)?;
        }
        let mut words = vec![mix(u64::from(cell))];
        words.extend_from_slice(&self.refinement.trace[begin..]);
        Ok(words)
    }

    /// Labels of all vertices when position `p` is given to the point `source.image(p)`, and the graph they make.
    fn labelled(&self, source: &Permutation) -> Result<(Permutation, ColouredGraph), Stopped> {
        let degree = self.chain.degree();
        let mut fixed = self.graph.clone();
        for vertex in degree..self.graph.vertices() {
            let colour = self.graph.colours()[vertex] + degree as u32;
            fixed.set_colour(vertex as Point, colour);
        }
        for position in 0..degree as Point {
            fixed.set_colour(source.image(position), position);
        }
        let labels = canonical_labelling(&fixed, self.control)?.labels;
        let graph = self.graph.relabelled(&labels);
        Ok((labels, graph))
    }

    /// The chain of the elements that extend to automorphisms.
    fn stabiliser(&mut self) -> Result<StabiliserChain, Stopped> {
        let degree = self.chain.degree();
        let base = self.chain.base();
        let mut marks = Vec::new();
        let mut traces = Vec::new();
        for &point in &base {
            marks.push(self.refinement.mark());
            traces.push(self.choose(point)?);
        }
        let (_, own) = self.labelled(&Permutation::identity(degree))?;
        let mut found: Vec<(usize, Permutation)> = Vec::new();
        let mut orbits = Orbits::trivial(degree);
        let mut orbit_sizes = vec![1; base.len()];
        for level in (0..base.len()).rev() {
            self.refinement.undo(&marks[level]);
            let mut refuted: Vec<Point> = Vec::new();
            let mut candidates = self.chain.levels[level].orbit.clone();
            candidates.sort_unstable();
            for candidate in candidates {
                let representative = orbits.find(candidate);
                if representative == orbits.find(base[level])
                    || refuted.iter().any(|&point| orbits.find(point) == representative)
                {
                    continue;
                }
                match self.element_through(level, candidate, &traces, &orbit_sizes, &own)? {
                    Some(element) => {
                        orbits.merge_images(element.images());
                        found.push((level, element));
                    }
                    None => refuted.push(candidate),
                }
            }
            orbit_sizes[level] = orbits.size_of(base[level]);
        }
        self.refinement.undo(&self.root.clone());
        let mut stabiliser = StabiliserChain::trivial(degree, &base);
        for (depth, element) in found.iter().rev() {
            stabiliser.insert(element.images(), *depth, self.control)?;
        }
        stabiliser.drop_trivial_levels(0);
        stabiliser.make_explicit();
        Ok(stabiliser)
    }

    /// An element that fixes the base points before `level`, carries its base point to `candidate` and extends to an
    /// automorphism.
    fn element_through(
        &mut self,
        level: usize,
        candidate: Point,
        traces: &[Vec<u64>],
        orbit_sizes: &[usize],
        own: &ColouredGraph,
    ) -> Result<Option<Permutation>, Stopped> {
        struct Node {
            mark: Mark,
            source: Permutation,
            pending: Vec<Point>,
            /// How many more choices may fail.
            tolerated: usize,
        }
        let count = self.chain.levels.len();
        let start = Node {
            mark: self.refinement.mark(),
            source: Permutation::identity(self.chain.degree()),
            pending: vec![candidate],
            tolerated: 0,
        };
        let mut stack = vec![start];
        let found = loop {
            self.control.check()?;
            let depth = level + stack.len() - 1;
            let Some(node) = stack.last_mut() else { break None };
            self.refinement.undo(&node.mark);
            let Some(point) = node.pending.pop() else {
                stack.pop();
                // The choice that led here has failed.
                while let Some(parent) = stack.last_mut() {
                    if parent.tolerated > 0 {
                        parent.tolerated -= 1;
                        break;
                    }
                    self.refinement.undo(&parent.mark);
                    stack.pop();
                }
                if stack.is_empty() {
                    break None;
                }
                continue;
            };
            let source = step(self.chain, depth, point, &node.source);
            let agrees = self.choose(point)? == traces[depth];
            if agrees && depth + 1 == count {
                if self.labelled(&source)?.1 == *own {
                    break Some(source);
                }
            } else if agrees {
                let orbit = &self.chain.levels[depth + 1].orbit;
                let mut pending: Vec<Point> = orbit.iter().map(|&point| source.image(point)).collect();
                pending.sort_unstable_by(|a, b| b.cmp(a));
                let tolerated = pending.len() - orbit_sizes[depth + 1];
                stack.push(Node { mark: self.refinement.mark(), source, pending, tolerated });
                continue;
            }
            let Some(node) = stack.last_mut() else { break None };
            if node.tolerated == 0 {
                node.pending.clear();
            } else {
                node.tolerated -= 1;
            }
        };
        if let Some(first) = stack.first() {
            let mark = first.mark;
            self.refinement.undo(&mark);
        }
        Ok(found)
    }

    /// The best element, as what stands at each position, with the labels of all vertices that it leads to.
    fn best(&mut self, stabiliser: &StabiliserChain) -> Result<(Permutation, Permutation), Stopped> {
        struct Node {
            source: Permutation,
            chosen: Vec<Point>,
            symmetries: Option<StabiliserChain>,
        }
        let unless_trivial =
            |chain: StabiliserChain| chain.levels.iter().any(|level| level.orbit.len() > 1).then_some(chain);
        let identity = Permutation::identity(self.chain.degree());
        let symmetries = unless_trivial(stabiliser.clone());
        let mut nodes = vec![Node { source: identity.clone(), chosen: Vec::new(), symmetries }];
        for level in 0..self.chain.levels.len() {
            let mut least: Option<Vec<u64>> = None;
            let mut kept: Vec<(usize, Point)> = Vec::new();
            for (number, node) in nodes.iter().enumerate() {
                for &point in &node.chosen {
                    self.choose(point)?;
                }
                let mark = self.refinement.mark();
                let mut orbits = node.symmetries.as_ref().map(|chain| chain.orbits(0));
                let mut images: Vec<(Point, Point)> = self.chain.levels[level]
                    .orbit
                    .iter()
                    .map(|&point| node.source.image(point))
                    .map(|image| (orbits.as_mut().map_or(image, |orbits| orbits.find(image)), image))
                    .collect();
                images.sort_unstable();
                images.dedup_by_key(|&mut (representative, _)| representative);
                for (_, image) in images {
                    self.control.check()?;
                    let trace = self.choose(image)?;
                    self.refinement.undo(&mark);
                    match least.as_ref().map_or(Ordering::Less, |least| trace.cmp(least)) {
                        Ordering::Greater => continue,
                        Ordering::Equal => {}
                        Ordering::Less => {
                            kept.clear();
                            least = Some(trace);
                        }
                    }
                    kept.push((number, image));
                }
                self.refinement.undo(&self.root.clone());
            }
            let mut next = Vec::new();
            for (number, image) in kept {
                let node = &nodes[number];
                let symmetries = match &node.symmetries {
                    Some(chain) => unless_trivial(change_base(chain, &[image], self.control)?.stabiliser(1)),
                    None => None,
                };
                let mut chosen = node.chosen.clone();
                chosen.push(image);
                next.push(Node { source: step(self.chain, level, image, &node.source), chosen, symmetries });
            }
            nodes = next;
        }
        let mut best: Option<(ColouredGraph, Permutation, Permutation)> = None;
        for node in nodes {
            let (labels, graph) = self.labelled(&node.source)?;
            if best.as_ref().is_none_or(|(known, _, _)| graph < *known) {
                best = Some((graph, node.source, labels));
            }
        }
        let Some((_, source, labels)) = best else { unreachable!("some element leads to a leaf") };
        Ok((source, labels))
    }
}

/// `above` changed on the level so that its base point goes to `image`, which lies in the image of the basic orbit.
fn step(chain: &StabiliserChain, level: usize, image: Point, above: &Permutation) -> Permutation {
    let point = chain.levels[level].orbit.iter().copied().find(|&point| above.image(point) == image);
    let representative = point.and_then(|point| chain.representative(level, point));
    match representative {
        Some(representative) => representative.then(above),
        None => unreachable!("choices come from the image of the basic orbit"),
    }
}
