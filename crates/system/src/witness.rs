//! What a failed check shows: a run of the system and what goes wrong at its end.

use crate::action::Actor;
use crate::cut::Cut;
use crate::labels::LabelId;
use crate::layout::Value;

/// The semantic model in which processes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// Finite sequences of visible events.
    Traces,
    /// Traces, and what can be stably refused after them.
    Failures,
    /// Failures and divergences, everything being possible after a divergence.
    FailuresDivergences,
    /// Traces, traces after which a stable state can do nothing, and revivals: what a stable state refuses after a
    /// trace together with one event that it then performs.
    Revivals,
    /// Revivals and divergences, everything being possible after a divergence.
    RevivalsDivergences,
    /// Refusal testing: what stable states refuse before, between and after the events of a trace.
    Refusals,
    /// Refusal testing and divergences, everything being possible after a divergence that follows the same refusals.
    RefusalsDivergences,
}

impl Model {
    /// All models.
    pub const ALL: [Model; 7] = [
        Model::Traces,
        Model::Failures,
        Model::FailuresDivergences,
        Model::Revivals,
        Model::RevivalsDivergences,
        Model::Refusals,
        Model::RefusalsDivergences,
    ];

    /// Does it distinguish processes by what stable states refuse?
    pub fn observes_refusals(self) -> bool {
        self != Model::Traces
    }

    /// Does it distinguish processes by divergence?
    pub fn observes_divergence(self) -> bool {
        matches!(self, Model::FailuresDivergences | Model::RevivalsDivergences | Model::RefusalsDivergences)
    }

    /// Does it observe an event together with what the state that performs it refuses, at the end of a trace?
    pub fn observes_revivals(self) -> bool {
        matches!(self, Model::Revivals | Model::RevivalsDivergences)
    }

    /// Does it observe refusals before later events?
    pub fn observes_refusals_on_the_way(self) -> bool {
        matches!(self, Model::Refusals | Model::RefusalsDivergences)
    }

    /// Do the minimal acceptances after each trace, and divergence, determine a process in this model?
    pub fn has_minimal_acceptances(self) -> bool {
        matches!(self, Model::Traces | Model::Failures | Model::FailuresDivergences)
    }
}

/// A step of a run: its label and the state it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenStep {
    /// The label.
    pub label: LabelId,
    /// The state reached.
    pub row: Vec<Value>,
}

/// A finite run from the initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The initial state.
    pub start: Vec<Value>,
    /// The steps, in order.
    pub steps: Vec<TakenStep>,
}

impl Path {
    /// The state at the end.
    pub fn last(&self) -> &[Value] {
        self.steps.last().map_or(&self.start, |step| &step.row)
    }

    /// The visible events, in order.
    pub fn trace(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.steps.iter().map(|step| step.label).filter(|label| label.is_visible())
    }

    /// Its length: the number of visible events.
    pub fn length(&self) -> usize {
        self.trace().count()
    }
}

/// What goes wrong at the end of a run of an implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The last step of the run is an event that the specification does not allow after the trace before it: nowhere,
    /// or, in models that observe that, in no stable state that refuses what the state before the event refuses (and,
    /// in refusal testing, was reached by the same refusals).
    Event,
    /// The run ends in a state that stably accepts only these labels (ascending), and the specification requires more.
    Acceptance(Vec<LabelId>),
    /// The run ends in a state that can stably do nothing; one after `✓` is such a state.
    Deadlock,
    /// No state after the trace of the run offers this event, which the question requires.
    Missing(LabelId),
    /// The run ends in a state that may refuse an event that the question requires.
    Refusal {
        /// The event.
        event: LabelId,
        /// What the state stably accepts (ascending).
        accepted: Vec<LabelId>,
    },
}

/// Evidence for a failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A finite run and what is wrong at its end.
    Path {
        /// The run.
        path: Path,
        /// What is wrong.
        failure: Failure,
    },
    /// A run into a cycle of `τ`: a divergence, where none is allowed.
    Lasso {
        /// The run to the first state of the cycle.
        path: Path,
        /// The steps around the cycle, back to that state. Empty when the state itself says that it diverges.
        cycle: Vec<TakenStep>,
    },
    /// Two runs of one trace, after which one run can do what the other may refuse: the system is not deterministic.
    TwoRuns {
        /// The run that can; its last step is the event, which the other run does not have.
        can: Path,
        /// The run that need not.
        cannot: Path,
        /// What it stably accepts at its end (ascending); the event is not among it.
        accepted: Vec<LabelId>,
    },
}

impl Witness {
    /// The run; of two, the one that may refuse.
    pub fn path(&self) -> &Path {
        match self {
            Witness::Path { path, .. } | Witness::Lasso { path, .. } | Witness::TwoRuns { cannot: path, .. } => path,
        }
    }

    /// Its length: the number of visible events; of two runs, those that they have in common.
    pub fn length(&self) -> usize {
        self.path().length()
    }
}

/// The image of evidence under an element of a group that acts on the system: it stays a witness if the group preserves
/// the question.
impl Witness {
    /// Its image under the element.
    pub fn permuted(&self, element: &[u32], actor: &mut dyn Actor) -> Result<Witness, Cut> {
        Ok(match self {
            Witness::Path { path, failure } => {
                Witness::Path { path: path.permuted(element, actor)?, failure: failure.permuted(element, actor) }
            }
            Witness::Lasso { path, cycle } => {
                Witness::Lasso { path: path.permuted(element, actor)?, cycle: permuted_steps(cycle, element, actor)? }
            }
            Witness::TwoRuns { can, cannot, accepted } => Witness::TwoRuns {
                can: can.permuted(element, actor)?,
                cannot: cannot.permuted(element, actor)?,
                accepted: permuted_labels(accepted, element, actor),
            },
        })
    }
}

impl Path {
    /// Its image under an element of a group.
    pub fn permuted(&self, element: &[u32], actor: &mut dyn Actor) -> Result<Path, Cut> {
        let steps = permuted_steps(&self.steps, element, actor)?;
        Ok(Path { start: permuted_row(&self.start, element, actor)?, steps })
    }
}

impl Failure {
    fn permuted(&self, element: &[u32], actor: &mut dyn Actor) -> Failure {
        match self {
            Failure::Event => Failure::Event,
            Failure::Deadlock => Failure::Deadlock,
            Failure::Acceptance(accepted) => Failure::Acceptance(permuted_labels(accepted, element, actor)),
            Failure::Missing(event) => Failure::Missing(actor.apply_to_label(element, *event)),
            Failure::Refusal { event, accepted } => Failure::Refusal {
                event: actor.apply_to_label(element, *event),
                accepted: permuted_labels(accepted, element, actor),
            },
        }
    }
}

fn permuted_steps(steps: &[TakenStep], element: &[u32], actor: &mut dyn Actor) -> Result<Vec<TakenStep>, Cut> {
    let permuted = |step: &TakenStep| {
        let label = actor.apply_to_label(element, step.label);
        Ok(TakenStep { label, row: permuted_row(&step.row, element, actor)? })
    };
    steps.iter().map(permuted).collect()
}

fn permuted_row(row: &[Value], element: &[u32], actor: &mut dyn Actor) -> Result<Vec<Value>, Cut> {
    let mut image = row.to_vec();
    actor.apply(element, row, &mut image)?;
    Ok(image)
}

fn permuted_labels(labels: &[LabelId], element: &[u32], actor: &mut dyn Actor) -> Vec<LabelId> {
    let mut images: Vec<LabelId> = labels.iter().map(|&label| actor.apply_to_label(element, label)).collect();
    images.sort_unstable();
    images
}
