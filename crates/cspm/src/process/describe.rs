//! States of components in words.
//!
//! A process that the script has a name for is called by it, with its arguments; any other is shown as the text that makes it,
//! with the values of its variables.

use trefoil_source::Span;

use super::expand::deeply;
use super::terms::{Node, TermId};
use super::{Compiler, Machine};
use crate::eval::{Description, ProcessId, Result};

/// How much of a piece of the script is shown.
const SHOWN: usize = 60;

impl Compiler {
    /// What a component of a machine is called.
    pub fn component_name(&mut self, machine: &Machine, component: usize, text: &dyn Fn(Span) -> String) -> String {
        let root = self.machine(machine.machines[component]).root;
        self.words(root, text)
    }

    /// A state of a component in words; its number when it was compressed as a whole.
    pub fn describe(
        &mut self,
        machine: &Machine,
        component: usize,
        state: u32,
        text: &dyn Fn(Span) -> String,
    ) -> String {
        let data = self.machine(machine.machines[component]);
        match data.terms.get(state as usize) {
            Some(&term) => self.words(term, text),
            None => format!("state {state}"),
        }
    }

    fn named(&mut self, id: ProcessId) -> Option<String> {
        if self.names.is_none() {
            let mut names = std::collections::HashMap::default();
            let mut known = self.evaluator.named_processes();
            known.sort_by(|a, b| a.0.cmp(&b.0));
            for (name, process) in known {
                // What cannot be identified cannot be a state either.
                if let Result::Ok(id) = self.evaluator.identify(&process) {
                    names.entry(id).or_insert(name);
                }
            }
            self.names = Some(names);
        }
        self.names.as_ref().and_then(|names| names.get(&id).cloned())
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
        let mut words: String = text(point.span).split_whitespace().collect::<Vec<_>>().join(" ");
        if words.chars().count() > SHOWN {
            words = words.chars().take(SHOWN - 1).collect();
            words.push('…');
        }
        let variables =
            point.names.iter().zip(values).filter_map(|(name, value)| {
                name.as_ref().map(|name| format!("{name} = {}", self.evaluator.show(value)))
            });
        let variables: Vec<String> = variables.collect();
        if variables.is_empty() { words } else { format!("{words} with {}", variables.join(", ")) }
    }

    fn words(&mut self, term: TermId, text: &dyn Fn(Span) -> String) -> String {
        let origin = self.origins.get(&term).copied();
        if let Some(name) = origin.and_then(|id| self.named(id)) {
            return name;
        }
        deeply(|| {
            let node = self.terms.node(term).clone();
            let mut list = |operands: &[TermId], between: &str| -> String {
                let all: Vec<String> = operands.iter().map(|&operand| self.words(operand, text)).collect();
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
                Node::Hole(hole) => format!("component {hole}"),
                Node::State(_, state) => format!("state {state}"),
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
