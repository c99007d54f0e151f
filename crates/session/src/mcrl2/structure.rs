//! The structure of a specification: its sequential components, their sizes, and what they do together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use trefoil_control::counted;
use trefoil_source::ReportedPlace;
use trefoil_system::System;

use super::check::{OpenedModel, open_model};
use super::words::{event_names, own_actions};
use crate::cspm::Warnings;
use crate::look::bound;
use crate::symmetry::place;
use crate::{Job, Problem, Resources};

/// The components of a linear process.
#[derive(Clone, Debug, Serialize)]
pub struct LinearStructure {
    /// The file.
    pub file: String,
    /// The components, in the order of the text.
    pub components: Vec<ComponentReport>,
    /// Which components take part in which steps, by their numbers.
    pub interactions: Vec<Interaction>,
    /// How many parameters the linear process has, the control states of components included.
    pub parameters: usize,
    /// How many summands it has.
    pub summands: usize,
    /// An upper bound of the number of states, as a number or, if it is long, as a power of ten; `unknown` when a
    /// parameter has no finite sort.
    pub state_bound: String,
    /// Where its picture was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What is suspicious about the specification.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// A sequential component.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentReport {
    /// The call it comes from.
    pub name: String,
    /// Where it stands.
    pub place: ReportedPlace,
    /// What each of its control states is about to do; the first one is initial.
    pub control_states: Vec<String>,
    /// How many summands it has by itself.
    pub summands: usize,
    /// Its parameters.
    pub parameters: Vec<ParameterReport>,
    /// An upper bound of the number of its states; see [`LinearStructure::state_bound`].
    pub state_bound: String,
}

impl ComponentReport {
    /// Its sizes in words.
    pub fn sizes(&self) -> String {
        let states = counted(self.control_states.len() as u64, "control state");
        format!("{states}, {}", counted(self.summands as u64, "summand"))
    }
}

/// A parameter of a component.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterReport {
    /// Its name in the text.
    pub name: String,
    /// Its name in the linear process.
    pub linear_name: String,
    /// Its sort.
    pub sort: String,
    /// Its initial value.
    pub initial: String,
    /// How many values it can have, when the sort is small and finite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<u32>,
}

/// The steps that a set of components takes part in.
#[derive(Clone, Debug, Serialize)]
pub struct Interaction {
    /// The components by their places.
    pub components: Vec<usize>,
    /// What they do, each once.
    pub steps: Vec<InteractionStep>,
}

/// One kind of step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InteractionStep {
    /// The actions that the step shows: `c`, `a|b`, `τ`, `✓`.
    pub event: String,
    /// The actions that each of the components contributes.
    pub parts: Vec<String>,
    /// How many summands of the linear process are such steps.
    pub summands: usize,
}

/// Finds the structure of a specification.
pub fn linear_structure(file: &Path, job: &Job) -> Result<LinearStructure, Problem> {
    let OpenedModel { file, sources, warnings, model, .. } = open_model(file, job)?;
    let linear = model.linear();
    let slots = model.layout().slots();
    let initial = model.initial(&job.control).unwrap_or_default();
    let components = linear.components.iter().enumerate().map(|(number, component)| {
        let own = || (0..slots.len()).filter(move |&slot| linear.parameters[slot].component == number);
        let parameters = own().filter(|&slot| linear.parameters[slot].control.is_none()).map(|slot| {
            let parameter = &linear.parameters[slot];
            ParameterReport {
                name: parameter.source.clone(),
                linear_name: slots[slot].name.clone(),
                sort: linear.data.sort_text(parameter.sort),
                initial: initial.get(slot).map_or_else(String::new, |&value| model.value_text(slot, value)),
                values: slots[slot].values.count(),
            }
        });
        ComponentReport {
            name: component.name.clone(),
            place: place(component.place, &sources),
            control_states: component.states.clone(),
            summands: component.summands.len(),
            parameters: parameters.collect(),
            state_bound: bound(own().map(|slot| &slots[slot])),
        }
    });
    let mut found: BTreeMap<Vec<usize>, Vec<InteractionStep>> = BTreeMap::new();
    for (number, summand) in linear.summands.iter().enumerate() {
        let parts: Vec<String> =
            summand.parts.iter().map(|part| own_actions(linear, part.component, part.summand)).collect();
        let event = event_names(linear, number);
        let steps = found.entry(summand.parts.iter().map(|part| part.component).collect()).or_default();
        match steps.iter_mut().find(|step| step.event == event && step.parts == parts) {
            Some(known) => known.summands += 1,
            None => steps.push(InteractionStep { event, parts, summands: 1 }),
        }
    }
    let interactions = found.into_iter().map(|(components, mut steps)| {
        steps.sort();
        Interaction { components, steps }
    });
    Ok(LinearStructure {
        components: components.collect(),
        interactions: interactions.collect(),
        parameters: linear.parameters.len(),
        summands: linear.summands.len(),
        state_bound: bound(slots),
        output: None,
        warnings,
        resources: Resources::new(&job.control),
        file,
    })
}
