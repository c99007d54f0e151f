//! Permutation groups and coloured graphs: the mathematics under symmetry.

mod blocks;
mod bound;
mod chain;
mod cycles;
mod determined;
mod elements;
mod factors;
mod graph;
mod group;
mod orbits;
mod partition_stabiliser;
mod permutation;
mod random;
mod recognise;
mod schreier_sims;
mod structure;

pub use chain::{EXPLICIT_POINTS, StabiliserChain};
pub use cycles::{CycleError, LARGEST_POINT};
pub use dashu_int::UBig;
pub use elements::Elements;
pub use graph::{
    Arc, Automorphisms, CanonicalLabelling, ColouredGraph, SparsePermutation, automorphisms, canonical_labelling,
};
pub use group::PermutationGroup;
pub use orbits::Orbits;
pub use permutation::{NotAPermutation, Permutation, Point, compose_into, follow, invert_into, is_identity};
pub use random::Random;
pub use structure::{Kind, Structure};
