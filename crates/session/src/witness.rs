//! Witnesses as plain data, with labels and states in words.

use serde::Serialize;
use trefoil_control::Control;
use trefoil_system::replay::{expected_after, needed_observations};
use trefoil_system::{Cut, Failure, LabelId, Labels, Model, System, TakenStep, Witness};

use crate::check::Observed;

/// A counterexample to a refinement.
#[derive(Clone, Debug, Serialize)]
pub struct WitnessReport {
    /// Its number of visible events.
    pub length: usize,
    /// Its visible events.
    pub trace: Vec<String>,
    /// The state the implementation starts in.
    pub initial: String,
    /// Every step of the implementation, internal ones included.
    pub steps: Vec<StepReport>,
    /// Refusal testing: what the implementation was seen to refuse before events, where the counterexample needs it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observed>,
    /// What goes wrong at the end.
    pub failure: FailureReport,
}

/// One step of a run.
#[derive(Clone, Debug, Serialize)]
pub struct StepReport {
    /// The label; `tau` when it is internal.
    pub label: String,
    /// The state reached.
    pub state: String,
}

/// What goes wrong at the end of a counterexample.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FailureReport {
    /// The last event is not allowed by the specification.
    Event {
        /// The event.
        event: String,
        /// Revivals and refusal testing: all that the implementation offered before the event, being stable, where the
        /// counterexample needs it.
        #[serde(skip_serializing_if = "Option::is_none")]
        offered: Option<Vec<String>>,
        /// What the specification allows there, where it offers nothing else.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed: Option<Vec<String>>,
    },
    /// The implementation accepts too little.
    Acceptance {
        /// All that the implementation accepts.
        accepted: Vec<String>,
        /// The specification accepts at least all of one of these.
        allowed: Vec<Vec<String>>,
    },
    /// Nothing can be done any more.
    Deadlock,
    /// The next event of the trace in question cannot follow.
    Missing {
        /// The event.
        event: String,
    },
    /// The next event of the trace in question, or one that another run of the same trace performs, may be refused.
    Refusal {
        /// The event.
        event: String,
        /// All that is accepted instead.
        accepted: Vec<String>,
    },
    /// The implementation diverges.
    Divergence {
        /// The internal steps around the cycle.
        cycle: Vec<StepReport>,
    },
}

impl WitnessReport {
    /// The witness of a failed refinement in words.
    pub fn new(
        witness: &Witness,
        specification: &dyn System,
        implementation: &dyn System,
        model: Model,
        control: &Control,
    ) -> Result<WitnessReport, Cut> {
        let mut observed = needed_observations(specification, implementation, model, witness, control)?;
        let labels = implementation.labels();
        let steps_of = |steps: &[TakenStep]| -> Vec<StepReport> {
            let report = |step: &TakenStep| StepReport {
                label: labels.get(step.label).to_string(),
                state: implementation.describe(&step.row),
            };
            steps.iter().map(report).collect()
        };
        let path = witness.path();
        let trace: Vec<LabelId> = path.trace().collect();
        let failure = match witness {
            Witness::Path { failure: Failure::Event, .. } => {
                let event = words(labels, trace.last().copied()).pop().unwrap_or_default();
                let offered = observed.pop().and_then(|last| last.accepted);
                let allowed = match &offered {
                    Some(offered) => Some(expected_after(specification, &observed, Some(offered), control)?.events),
                    None => None,
                };
                let [offered, allowed] = [offered, allowed].map(|set| set.map(|set| words(labels, set)));
                FailureReport::Event { event, offered, allowed }
            }
            Witness::Path { failure: Failure::Acceptance(accepted), .. } => FailureReport::Acceptance {
                accepted: words(labels, accepted.iter().copied()),
                allowed: expected_after(specification, &observed, None, control)?
                    .minimal(None)
                    .into_iter()
                    .map(|set| words(labels, set))
                    .collect(),
            },
            Witness::Path { failure: Failure::Deadlock, .. } => FailureReport::Deadlock,
            Witness::Path { failure: Failure::Missing(event), .. } => {
                FailureReport::Missing { event: labels.get(*event).to_string() }
            }
            Witness::Path { failure: Failure::Refusal { event, accepted }, .. } => FailureReport::Refusal {
                event: labels.get(*event).to_string(),
                accepted: words(labels, accepted.iter().copied()),
            },
            Witness::TwoRuns { can, accepted, .. } => FailureReport::Refusal {
                event: words(labels, can.trace().last()).pop().unwrap_or_default(),
                accepted: words(labels, accepted.iter().copied()),
            },
            Witness::Lasso { cycle, .. } => FailureReport::Divergence { cycle: steps_of(cycle) },
        };
        let on_the_way = observed.into_iter().enumerate().filter_map(|(before, observed)| {
            let offered = words(labels, observed.accepted?);
            Some(Observed { before, event: labels.get(observed.event).to_string(), offered })
        });
        Ok(WitnessReport {
            observed: on_the_way.collect(),
            length: witness.length(),
            trace: words(labels, trace),
            initial: implementation.describe(&path.start),
            steps: steps_of(&path.steps),
            failure,
        })
    }
}

fn words(labels: &Labels, ids: impl IntoIterator<Item = LabelId>) -> Vec<String> {
    labels.texts(ids)
}
