//! Automorphisms and canonical labelling of coloured directed graphs.
//!
//! Individualisation and refinement: `refinement` keeps an ordered partition of the vertices and makes it equitable,
//! `search` walks a tree of such partitions and finds generators of the automorphism group along its first path,
//! `matching` turns two nodes of equal shape into an automorphism as early as possible, `canonical` looks for the leaf
//! with the least trace and labelled graph. Each says which papers it follows.
//!
//! `small` labels graphs of at most 64 vertices by the million, over bit sets (`small_rows`, `small_partition`).
//!
//! Built for sparse graphs: nothing is quadratic in the number of vertices unless the graph is hard, generators are
//! lists of what they move, and undoing a step costs what the step cost. All loops are iterative; depth is bounded by
//! memory, not by a stack.

mod canonical;
mod coloured;
mod image;
mod matching;
mod refinement;
mod search;
mod small;
mod small_partition;
mod small_rows;
mod sparse;

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

pub use coloured::{Arc, ColouredGraph};
pub use image::{GraphImage, GraphImages};
pub use small::SmallGraphs;
pub use sparse::SparsePermutation;

use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use canonical::Best;
use coloured::Adjacency;
use search::Search;

/// The automorphism group of a graph.
#[derive(Clone, Debug)]
pub struct Automorphisms {
    /// The number of vertices.
    pub degree: usize,
    /// Generators, by the vertices they move; at most one less than there are vertices.
    pub generators: Vec<SparsePermutation>,
    /// The number of automorphisms.
    pub order: UBig,
    /// Vertices that only the identity fixes one and all; the generators are strong for it.
    pub base: Vec<Point>,
    /// For each base vertex, the size of its orbit under the automorphisms that fix those before it.
    pub orbit_sizes: Vec<usize>,
}

impl Automorphisms {
    /// The orbits of the vertices, each ascending, in the order of their least vertices.
    pub fn orbits(&self) -> Vec<Vec<Point>> {
        let mut orbits = Orbits::trivial(self.degree);
        for generator in &self.generators {
            for &(from, to) in generator.moves() {
                orbits.merge(from, to);
            }
        }
        orbits.cells()
    }

    /// The group with a stabiliser chain; needs memory for the degree times the number of generators at least.
    pub fn group(&self, control: &Control) -> Result<PermutationGroup, Stopped> {
        control.afford(self.generators.len().saturating_mul(self.degree).saturating_mul(12))?;
        let dense: Vec<Permutation> =
            self.generators.iter().map(|generator| generator.to_permutation(self.degree)).collect();
        PermutationGroup::with_order(self.degree, &dense, &self.order, control)
    }
}

/// A canonical numbering of the vertices, with the automorphisms that were found on the way.
#[derive(Clone, Debug)]
pub struct CanonicalLabelling {
    /// The new number of each vertex: two graphs are isomorphic exactly when they are equal after being renumbered.
    pub labels: Permutation,
    /// The automorphism group.
    pub automorphisms: Automorphisms,
}

/// The automorphism group of a graph.
pub fn automorphisms(graph: &ColouredGraph, control: &Control) -> Result<Automorphisms, Stopped> {
    let adjacency = prepare(graph, control)?;
    let mut search = Search::new(graph, &adjacency, control)?;
    for level in (0..search.path.len()).rev() {
        search.complete_level(level)?;
    }
    Ok(result(search))
}

/// A numbering of the vertices that depends on the isomorphism class alone, and the automorphism group.
pub fn canonical_labelling(graph: &ColouredGraph, control: &Control) -> Result<CanonicalLabelling, Stopped> {
    let adjacency = prepare(graph, control)?;
    let mut search = Search::new(graph, &adjacency, control)?;
    let mut best = Best::new(&search);
    for level in (0..search.path.len()).rev() {
        for other in search.complete_level(level)? {
            best.explore(&mut search, level, other)?;
        }
    }
    let mut labels = vec![0; graph.vertices()];
    for (place, &vertex) in best.leaf.iter().enumerate() {
        labels[vertex as usize] = place as Point;
    }
    Ok(CanonicalLabelling { labels: Permutation::from_bijection(labels), automorphisms: result(search) })
}

/// A numbering of the vertices that refinement gives, with arbitrary choices where refinement does not decide:
/// isomorphic graphs get equal numberings only when all such choices are alike.
pub fn refined_labelling(graph: &ColouredGraph, control: &Control) -> Result<Permutation, Stopped> {
    let adjacency = prepare(graph, control)?;
    let search = Search::new(graph, &adjacency, control)?;
    let mut labels = vec![0; graph.vertices()];
    for (place, &vertex) in search.leaf.iter().enumerate() {
        labels[vertex as usize] = place as Point;
    }
    Ok(Permutation::from_bijection(labels))
}

fn prepare(graph: &ColouredGraph, control: &Control) -> Result<Adjacency, Stopped> {
    control.afford(graph.vertices().saturating_mul(96).saturating_add(graph.arcs().len().saturating_mul(48)))?;
    Ok(Adjacency::of(graph))
}

fn result(search: Search<'_>) -> Automorphisms {
    Automorphisms {
        degree: search.graph.vertices(),
        order: search.order(),
        base: search.path.iter().map(|step| step.vertex).collect(),
        orbit_sizes: search.path.iter().map(|step| step.orbit).collect(),
        generators: search.generators,
    }
}
