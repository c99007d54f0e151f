//! Symmetries of networks: proving them, and what they do to rows and labels.
//!
//! A permutation of labels is a symmetry of a network when some permutation of its components, with a map from the
//! states of each to those of its image, carries transitions to transitions and rules to rules and fixes the initial
//! row (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, definitions 29 and 67 to 69,
//! proposition 35). That is checked on what was compiled, not on its text: [`Prover`]. What is proved for generators
//! holds for the group that they generate (lemma 33), and [`NetworkAction`] applies any element of it to rows and
//! labels, and draws rows for the strategies that choose representatives. [`Symmetric`] is a network together with its
//! action.
//!
//! Absent here on purpose: where a permutation of labels comes from. A front end lifts permutations of values to
//! labels.

mod action;
mod automorphisms;
mod drawing;
mod exchanges;
mod leaves;
mod proof;
mod rulebook;
mod symmetric;

use std::fmt;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

pub use action::{NetworkAction, Refusal};
pub use automorphisms::{Admits, Found, Known, LABEL_POINTS};
pub use exchanges::{Exchanges, Joined};
pub(crate) use proof::Kept;
pub use proof::Prover;
pub use symmetric::Symmetric;

use crate::network::Network;

/// A permutation of points together with what it does to labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The image of each point.
    pub points: Vec<u32>,
    /// The image of each label; labels beyond are fixed, and so are `τ` and `✓`.
    pub labels: Vec<LabelId>,
}

/// What a symmetry does to the components, states and formats of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The component that each component becomes.
    pub components: Vec<u32>,
    /// State `s` of component `c` becomes state `states[c][s]` of component `components[c]`, when all states are there.
    pub states: Vec<Arc<[u32]>>,
    /// The format that each format becomes.
    pub formats: Vec<u32>,
    /// For each component whose states are found while it runs, what becomes of the network inside; such a component
    /// becomes itself.
    pub lazy: Vec<(u32, Image)>,
}

impl Image {
    /// First this symmetry, then another.
    pub fn then(&self, other: &Image) -> Image {
        let state = |(states, &via): (&Arc<[u32]>, &u32)| {
            states.iter().map(|&state| other.states[via as usize][state as usize]).collect()
        };
        Image {
            components: self.components.iter().map(|&via| other.components[via as usize]).collect(),
            states: self.states.iter().zip(&self.components).map(state).collect(),
            formats: self.formats.iter().map(|&via| other.formats[via as usize]).collect(),
            lazy: self.lazy.iter().zip(&other.lazy).map(|(one, two)| (one.0, one.1.then(&two.1))).collect(),
        }
    }
}

/// Why a permutation of labels was not proved to be a symmetry, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not a permutation that fixes `τ` and `✓`.
    Labels(String),
    /// A component has no image.
    Components(String),
    /// A rule has no image.
    Rules(String),
    /// A layer prevents it.
    Layer(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Obstacle::Labels(words) | Obstacle::Components(words) | Obstacle::Rules(words) | Obstacle::Layer(words)) =
            self;
        f.write_str(words)
    }
}

impl std::error::Error for Obstacle {}

/// Proves that a permutation of labels is a symmetry of a network, or says what prevents it. A caller with several
/// permutations of one network prepares a [`Prover`].
pub fn mappable(network: &Network, labels: &[LabelId], control: &Control) -> Result<Result<Image, Obstacle>, Stopped> {
    Prover::new(network).prove(labels, control)
}

/// The image of a label.
#[inline]
fn relabelled(labels: &[LabelId], label: LabelId) -> LabelId {
    labels.get(label.index()).copied().unwrap_or(label)
}
