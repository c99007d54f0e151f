//! Words for a model that is stepped through.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_promela::{Simulation, Simulator};
use trefoil_system::{Cut, LabelId, TakenStep, Value};

use super::story::{EndState, Story, place_of};
use crate::check::Step;
use crate::look::words::Narrator;

pub(crate) struct ModelWords<'s> {
    simulation: &'s Simulation,
}

impl<'s> ModelWords<'s> {
    pub(crate) fn new(simulation: &'s Simulation) -> ModelWords<'s> {
        ModelWords { simulation }
    }

    /// `proc  1 (P:1) model.pml:12 (state 3) [x = 1]`, for each statement.
    fn told(
        &self,
        before: &[Value],
        label: LabelId,
        after: &[Value],
        control: &Control,
    ) -> Result<Option<String>, Cut> {
        let mut simulator = Simulator::new(self.simulation.model(), control);
        let Some(step) = self.simulation.step(&mut simulator, before, label, after)? else { return Ok(None) };
        let moment = self.simulation.moment(before);
        let told = simulator.tell(&moment, &step);
        let mut texts: Vec<String> = told
            .iter()
            .filter(|told| told.begins)
            .map(|told| {
                format!(
                    "proc {:2} ({}:{}) {}:{} (state {}) [{}]",
                    told.process, told.name, told.priority, told.file, told.line, told.state, told.text
                )
            })
            .collect();
        texts.extend(step.fault.map(|fault| fault.kind.to_string()));
        Ok(Some(texts.join(", ")))
    }
}

impl Narrator for ModelWords<'_> {
    fn components(&mut self) -> Vec<Arc<str>> {
        self.simulation.model().part_names().into_iter().map(Arc::from).collect()
    }

    fn event(&mut self, label: LabelId) -> String {
        trefoil_system::System::labels(self.simulation).get(label).to_string()
    }

    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        let parts = self.simulation.model().parts(self.simulation.row_of_model(row));
        parts.into_iter().map(Arc::from).collect()
    }

    fn step(&mut self, before: &[Value], label: LabelId, after: &[Value], control: &Control) -> Result<Step, Cut> {
        let mut simulator = Simulator::new(self.simulation.model(), control);
        let step = self.simulation.step(&mut simulator, before, label, after)?;
        let place = step.and_then(|step| place_of(self.simulation.model(), &step));
        let event = self.told(before, label, after, control)?.unwrap_or_else(|| self.event(label));
        Ok(Step { event, place, parts: Vec::new(), states: self.states(after), number: 0, revealed: 0 })
    }

    fn alphabet(&mut self) -> BTreeSet<LabelId> {
        BTreeSet::new()
    }

    fn story(&mut self, start: &[Value], steps: &[TakenStep], control: &Control) -> Result<Option<Story>, Cut> {
        let mut simulator = Simulator::new(self.simulation.model(), control);
        let first = self.simulation.moment(start);
        let mut moves = Vec::with_capacity(steps.len());
        let mut before = start;
        for step in steps {
            let Some(taken) = self.simulation.step(&mut simulator, before, step.label, &step.row)? else {
                return Ok(None);
            };
            moves.push(taken);
            before = &step.row;
        }
        Ok(Some(Story::of(&mut simulator, &first, &moves)))
    }

    fn end(&mut self, row: &[Value], control: &Control) -> Option<EndState> {
        let moment = self.simulation.moment(row);
        Some(EndState::of(&mut Simulator::new(self.simulation.model(), control), &moment))
    }
}
