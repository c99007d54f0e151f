//! A model as a system whose steps are statements, for stepping by hand.
//!
//! Its rows are moments (see `simulator.rs`): the process that holds control (its number plus one, or 0 for none), then
//! the row of the model, then its hidden cells. The system is made for stepping and not for searching: its one group
//! depends on everything.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, Label, LabelId, Labels, Layout, Path, Sink, Slot, SlotSet, Step, System, TakenStep,
    Value, Walk,
};

use super::simulator::{Moment, Move, Simulator};
use crate::machine::Model;

/// A model statement by statement.
pub struct Simulation {
    model: Arc<Model>,
    layout: Layout,
    groups: Vec<Group>,
}

impl Simulation {
    /// A simulation of a model, which needs room for all processes that may run.
    pub fn new(model: Arc<Model>) -> Simulation {
        let mut slots = vec![Slot::bounded("process in control", model.arrangement.positions.len() as u32 + 1)];
        slots.extend(model.arrangement.layout.slots().iter().cloned());
        slots.extend((0..model.arrangement.hidden).map(|number| Slot::word(format!("hidden {number}"))));
        let layout = Layout::new(slots);
        let all: SlotSet = (0..layout.width()).collect();
        let group = Group {
            name: "statement".to_string(),
            guards: all.clone(),
            reads: all.clone(),
            may_write: all,
            ..Group::default()
        };
        Simulation { model, layout, groups: vec![group] }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The moment that a row stands for.
    pub fn moment(&self, row: &[Value]) -> Moment {
        let holder = row[0].checked_sub(1).and_then(|holder| u8::try_from(holder).ok());
        Moment { row: row[1..].to_vec(), holder }
    }

    /// The row of the model that a row has.
    pub fn row_of_model<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        &row[1..=self.model.arrangement.width()]
    }

    pub(super) fn row(moment: &Moment) -> Vec<Value> {
        let holder = moment.holder.map_or(0, |holder| u32::from(holder) + 1);
        std::iter::once(holder).chain(moment.row.iter().copied()).collect()
    }

    /// `P(1) line 12 x = 1`, both statements of a rendezvous, and what goes wrong.
    fn label(&self, step: &Move) -> LabelId {
        let program = &self.model.program;
        let act = step.acts[0];
        let name = format!("{}({})", program.processes[usize::from(act.kind)].name, act.process);
        let mut arguments = Vec::new();
        for act in &step.acts {
            let process = &program.processes[usize::from(act.kind)];
            let statement = &process.statements[act.transition(&self.model).statement as usize];
            if !arguments.is_empty() {
                arguments.push(format!("{}({})", process.name, act.process));
            }
            arguments.extend([statement.line.to_string(), statement.text.clone(), format!("state {}", act.control)]);
        }
        arguments.extend(step.fault.map(|fault| fault.kind.to_string()));
        self.model.labels().intern(Label::of(name, arguments.into_iter().map(String::into_boxed_str)))
    }

    /// The move behind a step.
    pub fn step(
        &self,
        simulator: &mut Simulator<'_>,
        before: &[Value],
        label: LabelId,
        after: &[Value],
    ) -> Result<Option<Move>, Cut> {
        let moment = self.moment(before);
        let moves = simulator.moves(&moment)?;
        Ok(moves.into_iter().find(|step| self.label(step) == label && Self::row(&step.after) == after))
    }

    /// A run of moves as a run of this system.
    pub fn path<'m>(&self, moves: impl IntoIterator<Item = &'m Move>, control: &Control) -> Result<Path, Cut> {
        let taken = |step: &Move| TakenStep { label: self.label(step), row: Self::row(&step.after) };
        Ok(Path { start: self.initial(control)?, steps: moves.into_iter().map(taken).collect() })
    }
}

struct SimulationExplorer<'s> {
    simulation: &'s Simulation,
    simulator: Simulator<'s>,
}

impl Explorer for SimulationExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let moment = self.simulation.moment(row);
        for step in self.simulator.moves(&moment)? {
            let label = self.simulation.label(&step);
            sink(Step::of_group(GroupId(0), label, &Simulation::row(&step.after)))?;
        }
        Ok(())
    }
}

impl System for Simulation {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.model.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let mut simulator = Simulator::new(&self.model, control);
        Ok(Self::row(&simulator.moment(&self.model.initial(control)?)))
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(SimulationExplorer { simulation: self, simulator: Simulator::new(&self.model, control) })
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let wider = self.model.wider()?.clone();
        Some(Arc::new(Simulation::new(wider)))
    }

    fn describe(&self, row: &[Value]) -> String {
        self.model.describe(self.row_of_model(row))
    }
}
