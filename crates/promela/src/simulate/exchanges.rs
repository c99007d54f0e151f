//! A model as a system whose visible steps are messages.
//!
//! Its steps are statements, as in [`Simulation`]. A send into a channel is labelled `c!1,2` and a receive from one
//! `c?1,2`; a handshake is one step with the label of its send. An indivisible sequence with several messages has a
//! label of several parts. A statement that goes wrong is labelled `error`. Every other statement is internal, as is
//! one that reads a message and leaves it in the channel.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, Label, LabelId, Labels, Layout, Part, Sink, Step, System, Value, Walk, Writing,
};

use super::simulation::Simulation;
use super::simulator::{Moment, Move, Simulator};
use super::telling::Way;

/// A model that an observer of its messages sees.
pub struct Exchanges {
    simulation: Simulation,
    labels: Arc<Labels>,
}

impl Exchanges {
    /// What an observer sees of a simulation.
    pub fn new(simulation: Simulation) -> Exchanges {
        Exchanges { simulation, labels: Arc::new(Labels::written(Writing::Messages)) }
    }

    fn label(&self, simulator: &mut Simulator<'_>, from: &Moment, step: &Move) -> LabelId {
        if step.fault.is_some() {
            return self.labels.name("error");
        }
        let mut parts = Vec::new();
        for message in simulator.tell(from, step).into_iter().filter_map(|told| told.message) {
            let operator = match message.way {
                Way::Sent(_) | Way::Offered => '!',
                Way::Received(_) => '?',
                Way::Read | Way::Taken => continue,
            };
            let name = format!("{}{operator}", message.channel_name).into_boxed_str();
            let arguments = message.fields.into_iter().map(String::into_boxed_str).collect();
            parts.push(Part { name, arguments });
        }
        self.labels.intern(Label::bag(parts))
    }
}

struct ExchangesExplorer<'s> {
    exchanges: &'s Exchanges,
    simulator: Simulator<'s>,
}

impl Explorer for ExchangesExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let moment = self.exchanges.simulation.moment(row);
        for step in self.simulator.moves(&moment)? {
            let label = self.exchanges.label(&mut self.simulator, &moment, &step);
            sink(Step::of_group(GroupId(0), label, &Simulation::row(&step.after)))?;
        }
        Ok(())
    }
}

impl System for Exchanges {
    fn layout(&self) -> &Layout {
        self.simulation.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        self.simulation.groups()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.simulation.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        let simulator = Simulator::new(self.simulation.model(), control);
        Box::new(ExchangesExplorer { exchanges: self, simulator })
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let wider = self.simulation.model().wider()?.clone();
        Some(Arc::new(Exchanges { simulation: Simulation::new(wider), labels: self.labels.clone() }))
    }

    fn describe(&self, row: &[Value]) -> String {
        self.simulation.describe(row)
    }
}
