//! Refinement of one file or model by another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use trefoil_check::{Offered, Posed, Table};
use trefoil_lts::equivalence::{Equivalence, has_no_other_futures, is_simulated};
use trefoil_lts::{Lts, Transition};
use trefoil_questions::{Algorithm, Asked, Counts, Evidence, Facts, Found, Order, Preprocess, Question, Unanswered};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Cut, LabelId, Labels, Model};

use super::compare::Difference;
use super::models::{OpenedSystem, Opening, can_decompose, open, processes, together};
use super::{Size, name};
use crate::problem::{Origin, REFUSED};
use crate::{Choice, Job, Problem, Resources, Unfinished, Verdict, WitnessReport};

/// The semantic models.
pub const MODELS: &[Choice] = &[
    Choice { name: "trace", about: "sequences of visible events" },
    Choice { name: "failures", about: "traces, and what stable states refuse after them" },
    Choice {
        name: "failures-divergences",
        about: "failures and divergences; a divergence of the specification allows everything after it",
    },
    Choice { name: "revivals", about: "traces, deadlocks, and what a stable state refuses before its next event" },
    Choice { name: "revivals-divergences", about: "revivals and divergences" },
    Choice { name: "refusals", about: "refusal testing: what stable states refuse before every event" },
    Choice {
        name: "refusals-divergences",
        about: "refusal testing and divergences, which must follow the same refusals",
    },
    Choice { name: "strong-trace", about: "sequences of labels; tau counts as a label" },
    Choice { name: "strong-failures", about: "failures where tau counts as a label, so that every state is stable" },
    Choice { name: "impossible-futures", about: "traces, and which sets of traces cannot follow them" },
    Choice {
        name: "simulation",
        about: "the specification matches every step by a step with the same label, tau included",
    },
    Choice { name: "ready-simulation", about: "the same, and matching states offer the same labels" },
];

/// The algorithms.
pub const ALGORITHMS: &[Choice] = &[
    Choice { name: "antichain", about: "keep only minimal sets of specification states; build no normal form" },
    Choice { name: "normal-form", about: "normalise the specification before the search" },
    Choice { name: "lazy-normal-form", about: "normalise the specification as far as the search reaches" },
    Choice { name: "automatic", about: "normal-form while that stays small, antichain otherwise" },
];

/// The search orders.
pub const SEARCHES: &[Choice] = &[
    Choice { name: "bfs", about: "breadth-first by visible events: counterexamples are shortest" },
    Choice { name: "dfs", about: "depth-first: counterexamples may be long" },
];

/// What is minimised first, modulo divergence-preserving branching bisimulation.
pub const PREPROCESSING: &[Choice] = &[
    Choice { name: "none", about: "nothing" },
    Choice { name: "spec", about: "the specification" },
    Choice { name: "impl", about: "the implementation" },
    Choice { name: "both", about: "both" },
];

/// What is minimised when the user does not say; `benchsuite/README.md` has the measurement.
const DEFAULT_PREPROCESSING: Preprocess = Preprocess::Specification;

/// A specification that was read, for any number of checks.
pub struct Specification {
    opened: OpenedSystem,
    opening: Opening,
    /// Those of the implementations.
    processes: Vec<Option<String>>,
    /// What a decomposition has to keep.
    keep: Equivalence,
}

impl Specification {
    /// Opens it, to be compared with these implementations, which will be opened in the same way.
    pub fn open(
        file: &Path,
        implementations: &[PathBuf],
        opening: Opening,
        comparison: Comparison,
        job: &Job,
    ) -> Result<Specification, Problem> {
        let files: Vec<&Path> = std::iter::once(file).chain(implementations.iter().map(PathBuf::as_path)).collect();
        let mut processes = processes(&files, &opening)?;
        can_decompose(&files, &opening)?;
        let process = processes.remove(0);
        let keep = comparison.kept();
        let opened = open(file, process, &opening, keep, &Arc::new(Labels::new()), job)?;
        Ok(Specification { opened, opening, processes, keep })
    }

    /// Itself and an implementation under one set of labels.
    fn beside(&self, task: &Refining, job: &Job) -> Result<Beside, Problem> {
        let process = self.processes.get(task.place).cloned().flatten();
        let labels = self.opened.lts.labels();
        let opened = open(&task.implementation, process, &self.opening, self.keep, labels, job)?;
        let (specification, implementation) = together(&self.opened, &opened, &self.opening.view)?;
        let decomposed = self.opened.decomposed.iter().chain(&opened.decomposed).cloned().collect();
        Ok(Beside { specification, implementation, decomposed })
    }
}

/// A specification and an implementation under one set of labels.
struct Beside {
    specification: Arc<Lts>,
    implementation: Arc<Lts>,
    /// What came of taking them apart, one line each.
    decomposed: Vec<String>,
}

/// What implementations are compared with a specification by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Refinement in a model.
    Refinement(Model),
    /// Refinement in a model, where `τ` is a label as any other.
    Strong(Model),
    /// The preorder of impossible futures.
    ImpossibleFutures,
    /// Simulation, or ready simulation.
    Simulation {
        /// Do both offer the same labels on the way?
        ready: bool,
    },
}

impl Comparison {
    /// All of them, in the order of [`MODELS`].
    const ALL: [Comparison; 12] = [
        Comparison::Refinement(Model::Traces),
        Comparison::Refinement(Model::Failures),
        Comparison::Refinement(Model::FailuresDivergences),
        Comparison::Refinement(Model::Revivals),
        Comparison::Refinement(Model::RevivalsDivergences),
        Comparison::Refinement(Model::Refusals),
        Comparison::Refinement(Model::RefusalsDivergences),
        Comparison::Strong(Model::Traces),
        Comparison::Strong(Model::Failures),
        Comparison::ImpossibleFutures,
        Comparison::Simulation { ready: false },
        Comparison::Simulation { ready: true },
    ];

    /// By its name in [`MODELS`].
    pub fn named(name: &str) -> Option<Comparison> {
        let place = MODELS.iter().position(|choice| choice.name == name)?;
        Comparison::ALL.get(place).copied()
    }

    /// What a decomposition has to keep: failures and divergences pass over internal steps, simulations do not.
    fn kept(self) -> Equivalence {
        match self {
            Comparison::Refinement(_) | Comparison::ImpossibleFutures => Equivalence::DivergenceBranching,
            Comparison::Strong(_) | Comparison::Simulation { .. } => Equivalence::Strong,
        }
    }
}

/// What to check.
#[derive(Clone, Debug)]
pub struct Refining {
    /// The file with the implementation.
    pub implementation: PathBuf,
    /// Its place among the implementations.
    pub place: usize,
    /// By its name in [`MODELS`].
    pub model: &'static str,
    /// What is compared.
    pub comparison: Comparison,
    /// The options that were given.
    pub asked: Asked,
}

/// The answer of a check whether the specification simulates the implementation.
#[derive(Clone, Debug, Serialize)]
pub struct SimulationReport {
    /// The file with the specification.
    pub specification: String,
    /// The file with the implementation.
    pub implementation: String,
    /// The model.
    pub model: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The size of the specification as read.
    pub specification_size: Size,
    /// The size of the implementation as read.
    pub implementation_size: Size,
    /// For simulations, how many classes of states that simulate each other the specification and the implementation
    /// have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<(usize, usize)>,
    /// What the implementation satisfies and the specification does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// What came of taking specifications of mCRL2 apart, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decomposed: Vec<String>,
    /// What it took, reading included.
    #[serde(flatten)]
    pub resources: Resources,
}

/// The answer of a refinement check.
#[derive(Clone, Debug, Serialize)]
pub struct RefineReport {
    /// The file with the specification.
    pub specification: String,
    /// The file with the implementation.
    pub implementation: String,
    /// The model.
    pub model: &'static str,
    /// The algorithm.
    pub algorithm: &'static str,
    /// The search order.
    pub search: &'static str,
    /// What was minimised first.
    pub preprocess: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// Why the answer is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// What was counted.
    pub statistics: StatisticsReport,
    /// What came of taking specifications of mCRL2 apart, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decomposed: Vec<String>,
    /// What it took, reading included.
    #[serde(flatten)]
    pub resources: Resources,
    /// Why it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<WitnessReport>,
}

/// What a refinement check counted.
#[derive(Clone, Debug, Serialize)]
pub struct StatisticsReport {
    /// States of the specification after preprocessing.
    pub specification_states: u64,
    /// States of the implementation after preprocessing.
    pub implementation_states: u64,
    /// Pairs of a set of specification states and an implementation state.
    pub product_states: u64,
    /// Steps between them.
    pub product_transitions: u64,
    /// The most pairs that waited to be explored.
    pub working_max: u64,
    /// Antichain only: pairs that something smaller covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub antichain_hits: Option<u64>,
    /// Antichain only: pairs that nothing covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub antichain_misses: Option<u64>,
    /// Antichain only: its largest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub antichain_max: Option<u64>,
    /// Time for preprocessing and normal forms.
    pub preparation_seconds: f64,
    /// Time for the whole check without reading.
    pub check_seconds: f64,
}

impl StatisticsReport {
    fn new(counts: &Counts) -> StatisticsReport {
        StatisticsReport {
            specification_states: counts.specification_states,
            implementation_states: counts.implementation_states,
            product_states: counts.states,
            product_transitions: counts.transitions,
            working_max: counts.waiting,
            antichain_hits: counts.antichain.map(|kept| kept.hits),
            antichain_misses: counts.antichain.map(|kept| kept.misses),
            antichain_max: counts.antichain.map(|kept| kept.most),
            preparation_seconds: crate::seconds(counts.preparation),
            check_seconds: crate::seconds(counts.elapsed),
        }
    }
}

/// Checks whether a specification simulates an implementation, where `ready` says in which way; or, where it is none,
/// whether the implementation has no impossible futures but those of the specification.
pub fn simulate(
    specification: &Specification,
    task: &Refining,
    ready: Option<bool>,
    job: &Job,
) -> Result<SimulationReport, Problem> {
    let file = &specification.opened.file;
    if let Some(setting) = task.asked.wanted().next() {
        let option = setting.name();
        let message =
            format!("{option} does not apply to {}, which is decided by comparing both systems as a whole", task.model);
        return Err(Problem::from(Diagnostic::error(REFUSED, message, Place::File(name(&task.implementation)))));
    }
    let Beside { specification, implementation, decomposed } = specification.beside(task, job)?;
    let (evidence, classes) = match ready {
        Some(ready) => {
            let result = is_simulated(&implementation, &specification, ready, &job.control)?;
            (result.evidence, Some((result.classes.1, result.classes.0)))
        }
        None => (has_no_other_futures(&implementation, &specification, &job.control)?, None),
    };
    let files = (name(&task.implementation), file.clone());
    Ok(SimulationReport {
        specification: file.clone(),
        implementation: name(&task.implementation),
        model: task.model,
        verdict: if evidence.is_none() { Verdict::Holds } else { Verdict::Fails },
        specification_size: Size::of(&specification),
        implementation_size: Size::of(&implementation),
        classes,
        difference: evidence.map(|evidence| Difference::new(evidence, &files)),
        decomposed,
        resources: Resources::new(&job.control),
    })
}

/// The same systems, where `τ` is a label as any other; both have one table of labels.
fn with_visible_tau(one: &Lts, other: &Lts) -> (Arc<Lts>, Arc<Lts>) {
    let labels = one.labels();
    let mut text = "τ".to_string();
    while labels.find(&text).is_some() {
        text.push('′');
    }
    let tau = labels.name(&text);
    let visible = |lts: &Lts| {
        let starts = lts.states().map(|state| lts.start(state)).chain([lts.transition_count()]).collect();
        let shown = |step: &Transition| match step.label {
            LabelId::TAU => Transition { label: tau, ..*step },
            _ => *step,
        };
        let steps = lts.transitions().iter().map(shown).collect();
        Arc::new(Lts::from_rows(labels.clone(), lts.initial(), starts, steps))
    };
    (visible(one), visible(other))
}

/// Checks whether an implementation refines a specification.
pub fn refine(
    specification: &Specification,
    task: &Refining,
    model: Model,
    job: &Job,
) -> Result<RefineReport, Problem> {
    let file = &specification.opened.file;
    let control = &job.control;
    let Beside { mut specification, mut implementation, decomposed } = specification.beside(task, job)?;
    if let Comparison::Strong(_) = task.comparison {
        (specification, implementation) = with_visible_tau(&specification, &implementation);
    }
    let question = Question::Refine { specification: &*specification, model };
    let facts = Facts::of(&*implementation);
    let posed = Posed::new(Table::standard(), question, &facts, &task.asked, job.threads, control);
    let offered = Offered { system: implementation.clone(), reduction: None, insisted: false };
    let asked = task.asked.algorithm.unwrap_or(Algorithm::Antichain);
    let (verdict, unfinished, counts, witness, engine) = match posed.and_then(|posed| posed.answer(&offered, control)) {
        Ok(answer) => {
            let witness = match &answer.found[0] {
                Found::Fails(Evidence::Witness(witness)) => {
                    let report = WitnessReport::new(witness, &*specification, &*implementation, model, control);
                    Some(report.map_err(|cut| Problem::cut(cut, control, &Origin::file(name(&task.implementation))))?)
                }
                _ => None,
            };
            let verdict = if witness.is_none() { Verdict::Holds } else { Verdict::Fails };
            (verdict, None, answer.counts, witness, answer.engine)
        }
        Err(Unanswered::Cut { cut: Cut::Stopped, counts }) => {
            (Verdict::Unknown, Some(Unfinished::new(control.why(), control)), *counts, None, asked.name())
        }
        Err(Unanswered::Cut { cut, .. }) => {
            return Err(Problem::cut(cut, control, &Origin::file(name(&task.implementation))));
        }
        Err(Unanswered::Refused(refusal)) => {
            return Err(Problem::from(Diagnostic::error(
                REFUSED,
                refusal.why,
                Place::File(name(&task.implementation)),
            )));
        }
    };
    Ok(RefineReport {
        specification: file.clone(),
        implementation: name(&task.implementation),
        model: task.model,
        algorithm: engine,
        search: task.asked.order.unwrap_or(Order::BreadthFirst).name(),
        preprocess: task.asked.preprocess.unwrap_or(DEFAULT_PREPROCESSING).name(),
        verdict,
        unfinished,
        statistics: StatisticsReport::new(&counts),
        decomposed,
        resources: Resources::new(control),
        witness,
    })
}
