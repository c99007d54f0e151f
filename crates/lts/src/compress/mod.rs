//! Compressions: from a system to a smaller one that a context cannot tell apart from it in the models of CSP.
//!
//! [`COMPRESSIONS`] is the table of what there is, under the names that CSPM scripts give them. Three kinds:
//!
//! - bisimulations, which are those of [`crate::equivalence`]: `sbisim`, `dbisim`, `wbisim`;
//! - changes of the graph that keep traces, stable failures and divergences: `tau_loop_factor` ([`tau_loops`]),
//!   `diamond` ([`mod@diamond`]), `normal` ([`normal_form`]) and `model_compress`, which takes the smallest;
//! - `deter` ([`deterministic`]), which is no compression at all but a choice: its result refines its argument.
//!
//! # Merged states without generalised systems
//!
//! `diamond` and `normal` merge states that accept different sets of events. Roscoe, Gardiner, Goldsmith, Hulance,
//! Jackson and Scattergood (*Hierarchical compression for model-checking CSP*, 1995) annotate the merged states with
//! acceptances and a mark of divergence. We write the annotations back as transitions ([`unmerged`]), so the result is
//! an ordinary system that any operator and any engine can take. That costs states, so the result is only used where it
//! is smaller than what branching bisimilarity leaves; otherwise, and after it, delay bisimilarity is what makes it
//! small. Delay bisimilarity does not come first, because it is expensive where there is much `τ`, which is where
//! scripts use these two.
//!
//! # Every model at once
//!
//! A component is compiled once and serves checks in all models, so nothing here depends on a model: every compression
//! preserves the traces, the stable failures and the divergences, each of them also beyond a divergence.
//! `model_compress` is likewise right in all of these, although it need not be. Revivals and refusal tests are not
//! among them: [`Compression::keeps_refusals`] says which compressions preserve these, and a check in these models is
//! compiled without the others.
//!
//! # Termination
//!
//! Where every state that offers `✓` offers nothing else, the result has that property too.

mod deterministic;
mod diamond;
mod normal_form;
mod tau_loops;
mod unmerged;

use std::fmt;
use std::str::FromStr;

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use crate::equivalence::{Equivalence, minimise};
use crate::explicit::{Lts, Transition};

pub use diamond::diamond_form;
pub use normal_form::normal_form;

/// A way to make a system smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compression {
    /// Unchanged.
    Explicate,
    /// Strong bisimilarity.
    Sbisim,
    /// Divergence-preserving delay bisimilarity.
    Dbisim,
    /// Divergence-preserving weak bisimilarity.
    Wbisim,
    /// States on one cycle of `τ` become one.
    TauLoopFactor,
    /// `τ` is eliminated.
    Diamond,
    /// The normal form.
    Normal,
    /// The smaller of `diamond` and `normal`.
    ModelCompress,
    /// A deterministic refinement.
    Deter,
}

/// What a compression promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The result is equivalent.
    Equivalent(Equivalence),
    /// The result has the same traces, stable failures and divergences.
    SameInEveryModel,
    /// The result refines the argument in every model.
    Refines,
}

/// A compression as help shows it.
#[derive(Clone, Copy, Debug)]
pub struct CompressionInfo {
    /// The compression.
    pub compression: Compression,
    /// Its name in scripts.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What it promises.
    pub promise: Promise,
    /// Where it comes from.
    pub paper: &'static str,
}

const HIERARCHICAL: &str = "Roscoe, Gardiner, Goldsmith, Hulance, Jackson and Scattergood, Hierarchical compression for model-checking CSP, 1995";

/// Every compression.
pub const COMPRESSIONS: &[CompressionInfo] = &[
    CompressionInfo {
        compression: Compression::Explicate,
        name: "explicate",
        about: "the states are listed, and nothing is merged",
        promise: Promise::Equivalent(Equivalence::Strong),
        paper: HIERARCHICAL,
    },
    CompressionInfo {
        compression: Compression::Sbisim,
        name: "sbisim",
        about: "strong bisimilarity",
        promise: Promise::Equivalent(Equivalence::Strong),
        paper: "Paige and Tarjan, Three partition refinement algorithms, 1987",
    },
    CompressionInfo {
        compression: Compression::Dbisim,
        name: "dbisim",
        about: "delay bisimilarity that preserves divergence",
        promise: Promise::Equivalent(Equivalence::DivergenceDelay),
        paper: "Boulgakov, Gibson-Robinson and Roscoe, Computing maximal weak and other bisimulations, 2016",
    },
    CompressionInfo {
        compression: Compression::Wbisim,
        name: "wbisim",
        about: "weak bisimilarity that preserves divergence",
        promise: Promise::Equivalent(Equivalence::DivergenceWeak),
        paper: "Boulgakov, Gibson-Robinson and Roscoe, Computing maximal weak and other bisimulations, 2016",
    },
    CompressionInfo {
        compression: Compression::TauLoopFactor,
        name: "tau_loop_factor",
        about: "states on one cycle of τ become one state that diverges",
        promise: Promise::Equivalent(Equivalence::DivergenceBranching),
        paper: HIERARCHICAL,
    },
    CompressionInfo {
        compression: Compression::Diamond,
        name: "diamond",
        about: "τ is eliminated: what follows after τ follows immediately, and transitions that others cover are removed",
        promise: Promise::SameInEveryModel,
        paper: HIERARCHICAL,
    },
    CompressionInfo {
        compression: Compression::Normal,
        name: "normal",
        about: "one state for all traces with the same future",
        promise: Promise::SameInEveryModel,
        paper: HIERARCHICAL,
    },
    CompressionInfo {
        compression: Compression::ModelCompress,
        name: "model_compress",
        about: "the smaller of diamond and normal",
        promise: Promise::SameInEveryModel,
        paper: HIERARCHICAL,
    },
    CompressionInfo {
        compression: Compression::Deter,
        name: "deter",
        about: "a refinement that is deterministic: every choice that is not the environment's is made",
        promise: Promise::Refines,
        paper: "Roscoe, Understanding Concurrent Systems, 2010",
    },
];

impl Compression {
    /// Its row in the table.
    pub fn info(self) -> &'static CompressionInfo {
        COMPRESSIONS.iter().find(|info| info.compression == self).expect("every compression is in the table")
    }

    /// Does the result have the same revivals and refusal tests? Those that merge states and keep minimal acceptances
    /// do not; what a deterministic refinement chooses, it chooses in every model.
    pub fn keeps_refusals(self) -> bool {
        !matches!(self, Compression::Diamond | Compression::Normal | Compression::ModelCompress)
    }

    /// Can one state of the result stand for states of the argument that are not bisimilar? Priority and chase have no
    /// meaning over such a result: they depend on what single states can do.
    pub fn merges(self) -> bool {
        matches!(self, Compression::Diamond | Compression::Normal | Compression::ModelCompress | Compression::Deter)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// A name that no compression has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCompression(pub String);

impl fmt::Display for UnknownCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = COMPRESSIONS.iter().map(|info| info.name).collect();
        write!(f, "no compression is called '{}'; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownCompression {}

impl FromStr for Compression {
    type Err = UnknownCompression;

    fn from_str(name: &str) -> Result<Compression, UnknownCompression> {
        let found = COMPRESSIONS.iter().find(|info| info.name == name);
        found.map(|info| info.compression).ok_or_else(|| UnknownCompression(name.to_string()))
    }
}

/// The compressed system. Except for `explicate` its initial state is 0 and every state is reachable; it has never more
/// states than the argument.
pub fn compress(lts: &Lts, compression: Compression, control: &Control) -> Result<Lts, Stopped> {
    let bisimilar = |equivalence| Ok(minimise(lts, equivalence, control)?.lts);
    match compression {
        Compression::Explicate => Ok(lts.clone()),
        Compression::Sbisim => bisimilar(Equivalence::Strong),
        Compression::Dbisim => bisimilar(Equivalence::DivergenceDelay),
        Compression::Wbisim => bisimilar(Equivalence::DivergenceWeak),
        Compression::TauLoopFactor => tau_loops::factor(lts, control),
        Compression::Deter => deterministic::refine(lts, control),
        Compression::Diamond | Compression::Normal | Compression::ModelCompress => {
            let branching = bisimilar(Equivalence::DivergenceBranching)?;
            let limit = room(&branching);
            let mut best = None;
            if compression != Compression::Normal && has_tau(&branching) {
                best = diamond_form(&branching, limit, control)?;
            }
            if compression != Compression::Diamond && !is_deterministic(&branching) {
                best = smaller(best, normal_form(&branching, limit, control)?);
            }
            if let Some(merged) = best {
                let merged = minimise(&merged, Equivalence::DivergenceBranching, control)?.lts;
                if size(&merged) < size(&branching) {
                    return Ok(minimise(&merged, Equivalence::DivergenceDelay, control)?.lts);
                }
            }
            Ok(minimise(&branching, Equivalence::DivergenceDelay, control)?.lts)
        }
    }
}

/// How large an intermediate system may become if the result is used only when it is smaller than this.
fn room(lts: &Lts) -> usize {
    (lts.state_count() + lts.transition_count()).saturating_mul(4).saturating_add(1 << 12)
}

fn size(lts: &Lts) -> (usize, usize) {
    (lts.state_count(), lts.transition_count())
}

fn smaller(one: Option<Lts>, other: Option<Lts>) -> Option<Lts> {
    [one, other].into_iter().flatten().min_by_key(size)
}

fn has_tau(lts: &Lts) -> bool {
    lts.stored().any(|step| step.label == LabelId::TAU)
}

/// No `τ`, and one successor a label: such a system is its normal form when no two of its states are bisimilar.
fn is_deterministic(lts: &Lts) -> bool {
    let mut labels: Vec<LabelId> = Vec::new();
    let mut has_choice = |steps: &[Transition]| {
        labels.clear();
        labels.extend(steps.iter().map(|step| step.label));
        labels.sort_unstable();
        labels.first() == Some(&LabelId::TAU) || labels.windows(2).any(|pair| pair[0] == pair[1])
    };
    match lts.shared() {
        // Parts of a row have no label in common.
        Some(shared) => {
            let fragments = 0..shared.fragment_count() as u32;
            !fragments.into_iter().any(|fragment| has_choice(shared.fragment(fragment)))
                && !lts.states().any(|state| has_choice(shared.own(state)))
        }
        None => !lts.states().any(|state| has_choice(lts.outgoing(state))),
    }
}
