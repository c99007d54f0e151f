//! Permutation groups and coloured graphs: the mathematics under symmetry.
//!
//! The crate knows nothing of models, states or languages; it has points, permutations and graphs.
//!
//! - [`Permutation`]: an array of images; cycle notation in and out; products into buffers.
//! - [`PermutationGroup`]: a group by generators, with a proved [`StabiliserChain`]; order, membership, random
//!   elements, orbits, blocks, pointwise, set and partition stabilisers, all elements in a fixed order.
//! - [`Structure`]: how a group is built from symmetric, alternating, cyclic and dihedral groups by products and wreath
//!   products.
//! - [`Part`]: a factor on its own points, and its name where a chain of the whole would be too large.
//! - [`LeastImages`]: the least arrangement of colours under a group.
//! - [`GraphImages`]: the canonical image of a coloured graph under a group of permutations of some of its vertices.
//! - [`SmallGraphs`]: canonical labelling of small graphs in an inner loop.
//! - [`ColouredGraph`], [`automorphisms`], [`canonical_labelling`]: symmetries and isomorphism of coloured directed
//!   graphs.
//!
//! - [`read_graph`]: graphs in files, with diagnostics.
//!
//! Conventions: points and vertices are `u32` from 0, written from 1; permutations act from the right, `a.then(&b)` is
//! first `a`. Whatever is random is seeded, so the same input gives the same output. No answer depends on luck: random
//! phases end in a proof, guesses are checked. Everything that can take long takes a [`trefoil_control::Control`] and,
//! when that stops it, ends with the reason.

mod blocks;
mod bound;
mod chain;
mod copies;
mod cycles;
mod determined;
mod elements;
mod factors;
mod file;
mod giants;
mod graph;
mod group;
mod largest;
mod least_image;
mod orbits;
mod partition_stabiliser;
mod parts;
mod permutation;
mod random;
mod recognise;
mod ring;
mod schreier_sims;
mod structure;
mod words;

pub use chain::{EXPLICIT_POINTS, StabiliserChain};
pub use cycles::{CycleError, LARGEST_POINT, parse_cells};
pub use dashu_int::UBig;
pub use elements::Elements;
pub use file::{
    CODES, GraphError, GraphReading, NamedGraph, cells_from_text, graph_from_text, permutation_from_text,
    permutations_from_file, read_graph,
};
pub use graph::{
    Arc, Automorphisms, CanonicalLabelling, ColouredGraph, GraphImage, GraphImages, SmallGraphs, SparsePermutation,
    automorphisms, canonical_labelling, refined_labelling,
};
pub use group::PermutationGroup;
pub use largest::{LargestSubgroup, largest_subgroup};
pub use least_image::{LeastImage, LeastImages};
pub use orbits::Orbits;
pub use parts::{Part, Recognised, generated_parts};
pub use permutation::{NotAPermutation, Permutation, Point, compose_into, follow, invert_into, is_identity};
pub use random::Random;
pub use structure::{Kind, Structure};
