//! Equivalence of two files or models.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use trefoil_lts::equivalence::{Equivalence, Evidence, Side};
use trefoil_questions::EngineChoice;
use trefoil_system::Labels;

use super::game::compare_symbolically;
use super::minimise::{COUPLED, equivalence_named};
use super::models::{Opening, can_decompose, open, processes, together};
use super::{Choice, Size, name};
use crate::check::Number;
use crate::{Job, Problem, Resources, Verdict};

/// How an equivalence is decided.
pub const COMPARING: &[Choice] = &[
    Choice { name: EngineChoice::Automatic.name(), about: "the same as explicit" },
    Choice { name: EngineChoice::Explicit.name(), about: "both systems are explored and their states partitioned" },
    Choice {
        name: EngineChoice::Symbolic.name(),
        about: "strong, branching and dpbranching as games over sets of states; the systems are not explored first",
    },
];

/// What to compare.
#[derive(Clone, Debug)]
pub struct Comparing {
    /// One file.
    pub left: PathBuf,
    /// The other.
    pub right: PathBuf,
    /// How both are opened.
    pub opening: Opening,
    /// The equivalence, by its name in [`super::COMPARISONS`].
    pub equivalence: &'static str,
    /// The engine.
    pub engine: Option<EngineChoice>,
}

/// The answer of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct CompareReport {
    /// One file.
    pub left: String,
    /// The other.
    pub right: String,
    /// The equivalence.
    pub equivalence: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The size of the first as read; none where it was not explored by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_size: Option<Size>,
    /// The size of the second as read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_size: Option<Size>,
    /// Vertices of the game that was solved, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Number>,
    /// Its edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Number>,
    /// The engine that solved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// The most nodes of decision diagrams at one time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_nodes: Option<u64>,
    /// The solver that decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<&'static str>,
    /// For bisimulations, how many classes the states of each fall into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<(usize, usize)>,
    /// What tells them apart: a formula, or for traces a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// For branching, delay and weak bisimulation, a visible trace that tells them apart, too, if there is one and it
    /// was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Difference>,
    /// What came of taking specifications apart, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decomposed: Vec<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// What only one of two systems does; checked on both.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Difference {
    /// A trace that only one of them has.
    Trace {
        /// The file that has it.
        only: String,
        /// Its labels.
        trace: Vec<String>,
        /// May internal steps come between them?
        weak: bool,
    },
    /// A modal formula that holds for only one of them, and on which equivalent systems agree.
    Formula {
        /// The file for which it holds.
        only: String,
        /// The formula.
        formula: String,
        /// How deep its modalities are nested.
        depth: usize,
    },
    /// Steps of one system with answers of the other. Whatever the other one answers, the play can be won like this.
    Play {
        /// What happens. Where the play does not come back, the last step has no answer.
        steps: Vec<PlayStep>,
        /// Where the play comes back, the number of steps before those that repeat.
        #[serde(skip_serializing_if = "Option::is_none")]
        back_to: Option<usize>,
        /// How many positions the strategy behind the play has.
        positions: u64,
    },
}

/// What happens in a play.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "does", rename_all = "lowercase")]
pub enum PlayStep {
    /// A system takes a step that the other one has to answer.
    Takes {
        /// The file.
        file: String,
        /// The label.
        label: String,
    },
    /// A system answers with the same label.
    Answers {
        /// The file.
        file: String,
        /// The label.
        label: String,
    },
    /// A system answers an internal step by staying in its state.
    Stays {
        /// The file.
        file: String,
    },
    /// A system takes an internal step before its answer.
    Internal {
        /// The file.
        file: String,
    },
    /// The last step is taken back, and the states in which it would be answered are compared.
    Compared,
}

impl Difference {
    pub(super) fn new(evidence: Evidence, (left, right): &(String, String)) -> Difference {
        let file = |side| if side == Side::Left { left.clone() } else { right.clone() };
        match evidence {
            Evidence::Trace { trace, labels, holder, weak } => {
                Difference::Trace { only: file(holder), trace: labels.texts(trace), weak }
            }
            Evidence::Formula { formula, holder, depth, .. } => {
                Difference::Formula { only: file(holder), formula: formula.to_string(), depth }
            }
        }
    }
}

/// What a decomposition has to keep for an equivalence: all that look through internal steps are coarser than
/// divergence-preserving branching bisimilarity.
fn kept(equivalence: Equivalence) -> Equivalence {
    match equivalence {
        Equivalence::Branching
        | Equivalence::DivergenceBranching
        | Equivalence::Delay
        | Equivalence::DivergenceDelay
        | Equivalence::Weak
        | Equivalence::DivergenceWeak
        | Equivalence::WeakTrace => Equivalence::DivergenceBranching,
        Equivalence::Strong | Equivalence::ReadySimulation | Equivalence::Simulation | Equivalence::Trace => {
            Equivalence::Strong
        }
    }
}

/// Decides whether two systems are equivalent.
pub fn compare(task: &Comparing, job: &Job) -> Result<CompareReport, Problem> {
    if task.engine == Some(EngineChoice::Symbolic) {
        return compare_symbolically(task, job);
    }
    let labels = Arc::new(Labels::new());
    let mut processes = processes(&[&task.left, &task.right], &task.opening)?.into_iter();
    can_decompose(&[&task.left, &task.right], &task.opening)?;
    let equivalence = (task.equivalence != COUPLED.name).then(|| equivalence_named(task.equivalence));
    let keep = equivalence.map_or(Equivalence::DivergenceBranching, kept);
    let mut opened = |file| open(file, processes.next().flatten(), &task.opening, keep, &labels, job);
    let (left, right) = (opened(&task.left)?, opened(&task.right)?);
    let decomposed = left.decomposed.clone().into_iter().chain(right.decomposed.clone()).collect();
    let (left, right) = together(&left, &right, &task.opening.view)?;
    let comparison = match equivalence {
        Some(equivalence) => trefoil_lts::equivalence::compare(&left, &right, equivalence, &job.control)?,
        None => trefoil_lts::equivalence::compare_coupled(&left, &right, &job.control)?,
    };
    let files = (name(&task.left), name(&task.right));
    let difference = comparison.evidence.map(|evidence| Difference::new(evidence, &files));
    let trace = comparison.trace.map(|evidence| Difference::new(evidence, &files));
    Ok(CompareReport {
        left: name(&task.left),
        right: name(&task.right),
        equivalence: task.equivalence,
        verdict: if comparison.equivalent { Verdict::Holds } else { Verdict::Fails },
        left_size: Some(Size::of(&left)),
        right_size: Some(Size::of(&right)),
        vertices: None,
        edges: None,
        engine: None,
        peak_nodes: None,
        solver: None,
        classes: comparison.classes,
        difference,
        trace,
        decomposed,
        resources: Resources::new(&job.control),
    })
}
