//! States of components in words.
//!
//! A process that the script has a name for is called by it, with its arguments; any other is shown as the text that
//! makes it, with the values of its variables.

use trefoil_control::count;
use trefoil_network::LazyMachine;
use trefoil_source::Span;

use super::expand::deeply;
use super::layers::LayerId;
use super::terms::{Node, TermId};
use super::{Compiler, Machine};
use crate::eval::{Description, ProcessId, Value, one_line};

/// How much of a piece of the script is shown.
const SHOWN: usize = 60;

/// How many operators and operands of a state are shown.
const MOST_PARTS: usize = 48;

fn shortened(words: String) -> String {
    trefoil_source::shortened(&words, SHOWN)
}

impl Compiler {
    pub(super) fn layer_name(&mut self, layer: LayerId, text: &dyn Fn(Span) -> String) -> String {
        let (kind, argument) = (self.layer_data(layer).kind, self.layer_data(layer).argument);
        let words = match self.origins.get(&argument).copied() {
            Some(origin) => self.process_words(origin, text),
            None => self.words(argument, text),
        };
        let argument = shortened(words);
        format!("{}({argument})", kind.text())
    }

    /// A state of a layer: the components that have left their initial states, or all if there are few.
    fn layer_state(&mut self, layer: LayerId, state: u32, text: &dyn Fn(Span) -> String) -> String {
        const ALL: usize = 4;
        const MOST: usize = 12;
        let data = self.layer_data(layer);
        let (machine, row) = (data.machine.clone(), data.lazy.row(state));
        let components = machine.network.components();
        let moved = |component: &usize| components.len() <= ALL || components[*component].initial() != row[*component];
        let all: Vec<usize> = (0..components.len()).filter(moved).collect();
        let mut words: Vec<String> =
            all.iter().take(MOST).map(|&component| self.describe(&machine, component, row[component], text)).collect();
        if all.len() > MOST {
            words.push(format!("and {} more", count((all.len() - MOST) as u64)));
        }
        if words.is_empty() { "as at the start".into() } else { words.join("; ") }
    }

    /// A state of a component in words; its number when it was compressed as a whole.
    pub fn describe(
        &mut self,
        machine: &Machine,
        component: usize,
        state: u32,
        text: &dyn Fn(Span) -> String,
    ) -> String {
        if let Some(layer) = machine.machines[component].layer() {
            return deeply(|| self.layer_state(layer, state, text));
        }
        match self.term_of_state(machine.machines[component], state) {
            Some(term) => self.words(term, text),
            None => format!("state {state}"),
        }
    }

    /// Where a component in a state performs an event of this channel: the prefix that offers it, as far as the texts
    /// of prefixes tell, or else the first one.
    pub fn place_of_step(
        &mut self,
        machine: &Machine,
        component: usize,
        state: u32,
        channel: &str,
        text: &dyn Fn(Span) -> String,
    ) -> Option<Span> {
        let mut places = Vec::new();
        self.places(machine, component, state, &mut places);
        let offers = |span: &&Span| {
            text(**span).strip_prefix(channel).is_some_and(|rest| {
                !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '\'')
            })
        };
        places.iter().find(offers).or(places.first()).copied()
    }

    /// The prefixes that a component in a state has reached.
    fn places(&mut self, machine: &Machine, component: usize, state: u32, places: &mut Vec<Span>) {
        if let Some(layer) = machine.machines[component].layer() {
            let data = self.layer_data(layer);
            let (row, inside) = (data.lazy.row(state), data.machine.clone());
            for (inner, &state) in row.iter().enumerate().take(inside.network.components().len()) {
                self.places(&inside, inner, state, places);
            }
            return;
        }
        if let Some(term) = self.term_of_state(machine.machines[component], state) {
            self.prefixes(term, places);
        }
    }

    fn process_words(&mut self, id: ProcessId, text: &dyn Fn(Span) -> String) -> String {
        if let Some(name) = self.named(id) {
            return name;
        }
        let process = self.process_of(id);
        let (point, values) = match process.description() {
            Description::Builtin(builtin, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|value| self.evaluator.show(value)).collect();
                let list = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
                return format!("{}{list}", builtin.text());
            }
            Description::Made(point, values) => (self.evaluator.control_point(point), values),
        };
        let words = shortened(one_line(&text(point.span)));
        let variables = point.names.iter().zip(values).filter_map(|(name, value)| {
            let shown = self.evaluator.show_terms(value, text);
            let shown = if matches!(value, Value::Process(_)) { shortened(shown) } else { shown };
            name.as_ref().map(|name| format!("{name} = {shown}"))
        });
        let variables: Vec<String> = variables.collect();
        if variables.is_empty() { words } else { format!("{words} with {}", variables.join(", ")) }
    }

    pub(super) fn words(&mut self, term: TermId, text: &dyn Fn(Span) -> String) -> String {
        self.words_within(&mut { MOST_PARTS }, term, text)
    }

    /// A term in words, as much of it as there is room for.
    fn words_within(&mut self, room: &mut usize, term: TermId, text: &dyn Fn(Span) -> String) -> String {
        if let Some(name) = self.term_name(term) {
            return name;
        }
        deeply(|| {
            let node = self.terms.node(term).clone();
            *room = room.saturating_sub(1);
            let mut list = |operands: &[TermId], between: &str| -> String {
                let mut all = Vec::new();
                for &operand in operands {
                    if *room == 0 {
                        all.push("…".to_string());
                        break;
                    }
                    all.push(self.words_within(room, operand, text));
                }
                format!("({})", all.join(between))
            };
            match node {
                Node::Stop => "STOP".into(),
                Node::Skip => "SKIP".into(),
                Node::Omega => "terminated".into(),
                Node::Div => "DIV".into(),
                Node::Run(_) => "RUN".into(),
                Node::Chaos(_) => "CHAOS".into(),
                Node::Waiting(id) | Node::Prefix(id) => self.process_words(id, text),
                Node::Offer(id, choice) => format!("{}, choice {}", self.process_words(id, text), choice + 1),
                Node::Wait(_, 0) => "SKIP".into(),
                Node::Wait(_, left) => format!("WAIT({left})"),
                Node::Delay(_, left, then) => format!("WAIT({left}); {}", self.words(then, text)),
                Node::Closed(inner) => self.words(inner, text),
                Node::Hole(hole) => format!("component {hole}"),
                Node::State(_, state) => format!("state {state}"),
                Node::Layer(layer, LazyMachine::INITIAL) => self.layer_name(layer, text),
                Node::Layer(layer, state) => self.layer_state(layer, state, text),
                Node::Buffer(_, inside) => format!("a buffer with {} inside", inside.len()),
                Node::External(operands) => list(&operands, " [] "),
                Node::Internal(operands) => list(&operands, " |~| "),
                Node::Sequential(first, then) => list(&[first, then], "; "),
                Node::Interrupt(first, second) => list(&[first, second], " /\\ "),
                Node::Sliding(first, then) => list(&[first, then], " [> "),
                Node::Exception(first, _, then) => list(&[first, then], " [|…|> "),
                Node::Parallel(set, operands) => {
                    list(&operands, if set == super::events::SetId::EMPTY { " ||| " } else { " [|…|] " })
                }
                Node::Alphabetised(_, operands) => list(&operands, " || "),
                Node::Link(_, left, right) => list(&[left, right], " [… <-> …] "),
                Node::SynchronisingChoice(_, operands) => list(&operands, " [+…+] "),
                Node::SynchronisingInterrupt(_, first, second) => list(&[first, second], " /+…+\\ "),
                Node::Hide(_, inner) => format!("{} \\ …", list(&[inner], "")),
                Node::Project(_, inner) => format!("{} |\\ …", list(&[inner], "")),
                Node::Rename(_, inner) => format!("{}[[…]]", list(&[inner], "")),
            }
        })
    }
}
