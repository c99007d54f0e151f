//! What a failed check shows: a run of the system and what goes wrong at its end.

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
    /// The last step of the run is an event that the specification does not allow after the trace before it.
    Event,
    /// The run ends in a state that stably accepts only these labels (ascending), and the specification insists on more.
    Acceptance(Vec<LabelId>),
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
    /// A run into a cycle of `τ`: a divergence that the specification does not have.
    Lasso {
        /// The run to the first state of the cycle.
        path: Path,
        /// The steps around the cycle, back to that state. Empty when the state itself says that it diverges.
        cycle: Vec<TakenStep>,
    },
}

impl Witness {
    /// The run.
    pub fn path(&self) -> &Path {
        match self {
            Witness::Path { path, .. } | Witness::Lasso { path, .. } => path,
        }
    }

    /// Its length: the number of visible events.
    pub fn length(&self) -> usize {
        self.path().length()
    }
}
