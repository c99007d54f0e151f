//! Words for the steps and states of a linear process.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_mcrl2::system::Model;
use trefoil_system::{Cut, LabelId, System, Value};

use crate::check::witness::number;
use crate::check::{Step, TAU, TICK};
use crate::look::words::Narrator;

/// Describes a linear process by its components.
pub(crate) struct LinearWords<'a> {
    model: &'a Model,
}

impl<'a> LinearWords<'a> {
    pub(crate) fn new(model: &'a Model) -> LinearWords<'a> {
        LinearWords { model }
    }
}

impl Narrator for LinearWords<'_> {
    fn components(&mut self) -> Vec<Arc<str>> {
        self.model.linear().components.iter().map(|component| Arc::from(component.name.as_str())).collect()
    }

    fn event(&mut self, label: LabelId) -> String {
        match label {
            LabelId::TAU => TAU.to_string(),
            LabelId::TICK => TICK.to_string(),
            other => self.model.labels().get(other).to_string(),
        }
    }

    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        self.model.component_states(row).into_iter().map(Arc::from).collect()
    }

    fn step(&mut self, _: &[Value], label: LabelId, after: &[Value], _: &Control) -> Result<Step, Cut> {
        let event = self.event(label);
        let states = self.states(after);
        Ok(Step { event, parts: Vec::new(), states, number: number(label), revealed: number(label) })
    }

    fn alphabet(&mut self) -> BTreeSet<LabelId> {
        // Labels are met on the way; `✓` is not among those that a table of labels can promise.
        (LabelId::TICK.0 + 1..self.model.labels().len() as u32).map(LabelId).collect()
    }
}
