//! A run of a model as a message-sequence chart.
//!
//! Processes are lifelines in the order in which they were created, statements are boxes, messages are arrows from the
//! send to the receive that took them. Which receive that is follows from the places of messages in their channels: a
//! send puts a message before the one at its place, a receive takes the one at its place.

use std::collections::HashMap;

use trefoil_draw::{Chart, Happening, Lifeline, Message};
use trefoil_promela::Way;

use super::story::{Statement, Story};

/// The longest text of a box.
const LETTERS: usize = 44;

impl Story {
    /// The run as an SVG picture. `stuck` says that it ends in an invalid end state: then the waiting processes are
    /// marked.
    pub fn chart(&self, caption: &str, stuck: bool) -> String {
        let mut drawn = Drawn { chart: Chart { caption: caption.to_string(), ..Chart::default() }, ..Drawn::default() };
        // The processes that run from the start follow from the end state and the statements.
        let created: usize = self.statements.iter().map(|statement| statement.created.len()).sum();
        let ended = self.statements.iter().filter(|statement| statement.ended).count();
        let first = (self.end.processes.len() + ended).saturating_sub(created);
        for process in 0..first {
            let name = self.name_of(process as u8);
            drawn.begin(process as u8, &name, 0);
        }
        let mut statements = self.statements.iter().enumerate();
        while let Some((at, statement)) = statements.next() {
            let receive = if statement.offers { statements.next().map(|(_, receive)| receive) } else { None };
            if self.cycle == Some(at) {
                drawn.chart.cycle = Some(drawn.chart.happenings.len());
            }
            drawn.add(statement, receive);
        }
        if stuck {
            let waiting = self.end.processes.iter().enumerate().filter(|(_, process)| !process.valid_end);
            for (number, process) in waiting {
                let Some(&lifeline) = drawn.living.get(&(number as u8)) else { continue };
                drawn.chart.happenings.push(Happening {
                    lifeline,
                    text: format!("waits, line {}", process.line),
                    title: format!("{}:{} (state {})", process.file, process.line, process.state),
                    wrong: true,
                    waits: true,
                    ..Happening::default()
                });
            }
        }
        drawn.chart.svg()
    }

    /// The type of a process that runs from the start.
    fn name_of(&self, process: u8) -> String {
        let acted = self.statements.iter().find(|statement| statement.process == process);
        let name = acted.map(|statement| statement.name.clone());
        let there = || self.end.processes.get(usize::from(process)).map(|process| process.name.clone());
        name.or_else(there).unwrap_or_default()
    }
}

#[derive(Default)]
struct Drawn {
    chart: Chart,
    /// The lifelines of processes that live.
    living: HashMap<u8, usize>,
    /// Where the messages in each channel were sent, in their order.
    channels: HashMap<i32, Vec<usize>>,
}

impl Drawn {
    fn begin(&mut self, process: u8, name: &str, begins: usize) {
        self.living.insert(process, self.chart.lifelines.len());
        let name = format!("{}({process})", name.trim_matches(':'));
        self.chart.lifelines.push(Lifeline { name, begins, ends: None, maker: begins.checked_sub(1) });
    }

    fn add(&mut self, statement: &Statement, receive: Option<&Statement>) {
        let Some(&lifeline) = self.living.get(&statement.process) else { return };
        let here = self.chart.happenings.len();
        if statement.ended {
            // A process that ends without a statement gets a box of its own.
            if here > 0 {
                self.chart.lifelines[lifeline].ends = Some(here - 1);
                self.living.remove(&statement.process);
                return;
            }
            self.chart.lifelines[lifeline].ends = Some(here);
            self.living.remove(&statement.process);
        }
        let message = match (receive, &statement.message) {
            (Some(receive), _) => match self.living.get(&receive.process) {
                Some(&to) => Message::Handed { to, text: short(&receive.statement) },
                None => Message::Nothing,
            },
            (None, Some(message)) => {
                let queue = self.channels.entry(message.channel).or_default();
                match message.way {
                    Way::Sent(place) => {
                        queue.insert(place.min(queue.len()), here);
                        Message::Sent
                    }
                    Way::Received(place) if place < queue.len() => Message::Received { sent: queue.remove(place) },
                    _ => Message::Nothing,
                }
            }
            (None, None) => Message::Nothing,
        };
        let mut title = vec![format!("{}:{} (state {})", statement.file, statement.line, statement.state)];
        let told = [Some(statement), receive];
        let told: Vec<&Statement> = told.into_iter().flatten().collect();
        title.extend(
            told.iter().flat_map(|one| &one.changes).map(|change| format!("{} = {}", change.name, change.value)),
        );
        title.extend(told.iter().filter_map(|one| one.printed.clone()));
        title.extend(told.iter().filter_map(|one| one.error.clone()));
        self.chart.happenings.push(Happening {
            lifeline,
            text: short(&statement.statement),
            title: title.join("\n"),
            message,
            carries: statement.message.as_ref().map(|message| message.fields.join(",")).unwrap_or_default(),
            wrong: told.iter().any(|one| one.error.is_some()),
            waits: false,
        });
        for created in told.iter().flat_map(|one| &one.created) {
            self.begin(created.process, &created.name, here + 1);
        }
    }
}

fn short(text: &str) -> String {
    trefoil_source::shortened(text, LETTERS)
}
