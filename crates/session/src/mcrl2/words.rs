//! Words for the steps and states of a linear process.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_mcrl2::linear::{Event, LinearProcess};
use trefoil_mcrl2::processes::ActionId;
use trefoil_mcrl2::system::Model;
use trefoil_source::{ReportedPlace, Sources};
use trefoil_system::{Cut, LabelId, System, Value};

use crate::check::witness::number;
use crate::check::{Part, Step};
use crate::look::words::Narrator;

/// An internal step.
const INTERNAL: &str = "τ";
/// Successful termination.
const TERMINATION: &str = "✓";

/// Describes a linear process by its components.
pub(crate) struct LinearWords<'a> {
    model: &'a Model,
    sources: &'a Sources,
}

impl<'a> LinearWords<'a> {
    pub(crate) fn new(model: &'a Model, sources: &'a Sources) -> LinearWords<'a> {
        LinearWords { model, sources }
    }

    /// The components that take part in a summand, each with its own actions; one that does what the whole does has the
    /// event of the whole.
    fn parts(&self, summand: usize, event: &str, number: u32) -> Vec<Part> {
        let linear = self.model.linear();
        let seen = event_names(linear, summand);
        let own = |part: &trefoil_mcrl2::linear::Part| {
            let own = own_actions(linear, part.component, part.summand);
            let event = if own == seen { event.to_string() } else { own };
            let summand = linear.components[part.component].summands.get(part.summand);
            let place = summand.map(|own| ReportedPlace::of(own.place, self.sources));
            Part { component: part.component, event, place, number }
        };
        linear.summands[summand].parts.iter().map(own).collect()
    }
}

/// The names of the actions that a summand shows.
pub(super) fn event_names(linear: &LinearProcess, summand: usize) -> String {
    match &linear.summands[summand].event {
        Event::Terminate => TERMINATION.to_string(),
        Event::Actions(actions) => bag(linear, actions.iter().map(|(action, _)| *action)),
    }
}

/// The names of the actions that a component contributes to a summand.
pub(super) fn own_actions(linear: &LinearProcess, component: usize, summand: usize) -> String {
    match linear.components[component].summands.get(summand) {
        Some(own) => bag(linear, own.actions.iter().copied()),
        None => TERMINATION.to_string(),
    }
}

fn bag(linear: &LinearProcess, actions: impl Iterator<Item = ActionId>) -> String {
    let mut names: Vec<&str> =
        actions.map(|action| linear.data.names.text(linear.actions[action.0 as usize].name)).collect();
    names.sort_unstable();
    if names.is_empty() { INTERNAL.to_string() } else { names.join("|") }
}

impl Narrator for LinearWords<'_> {
    fn components(&mut self) -> Vec<Arc<str>> {
        self.model.linear().components.iter().map(|component| Arc::from(component.name.as_str())).collect()
    }

    fn event(&mut self, label: LabelId) -> String {
        match label {
            LabelId::TAU => INTERNAL.to_string(),
            LabelId::TICK => TERMINATION.to_string(),
            other => self.model.labels().get(other).to_string(),
        }
    }

    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        self.model.component_states(row).into_iter().map(Arc::from).collect()
    }

    fn step(&mut self, before: &[Value], label: LabelId, after: &[Value], control: &Control) -> Result<Step, Cut> {
        let event = self.event(label);
        let mut summand = None;
        self.model.explorer(control).successors(before, &mut |step| {
            if summand.is_none() && step.label == label && step.row == after {
                summand = Some(step.group.index());
            }
            Ok(())
        })?;
        let parts = summand.map(|summand| self.parts(summand, &event, number(label))).unwrap_or_default();
        let place = parts.iter().find_map(|part| part.place.clone());
        let states = self.states(after);
        Ok(Step { event, place, parts, states, number: number(label), revealed: number(label) })
    }

    fn alphabet(&mut self) -> BTreeSet<LabelId> {
        // Labels are met on the way; `✓` is not among those that a table of labels can promise.
        (LabelId::TICK.0 + 1..self.model.labels().len() as u32).map(LabelId).collect()
    }
}
