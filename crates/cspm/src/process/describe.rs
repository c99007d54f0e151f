//! States of components in words.
//!
//! A process that the script has a name for is called by it, with its arguments; any other is shown as the text that
//! makes it, with the values of its variables.

use trefoil_control::count;
use trefoil_network::LazyMachine;
use trefoil_source::Span;
use trefoil_system::LabelId;

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

    /// Makes the term of a state. The names of all processes are looked up anew after calls were made, so where many
    /// states are described, all are prepared before the first description.
    pub fn prepare(&mut self, machine: &Machine, component: usize, state: u32) {
        let id = machine.machines[component];
        match id.layer() {
            Some(layer) => {
                let data = self.layer_data(layer);
                let (row, inside) = (data.lazy.row(state), data.machine.clone());
                for (inner, &state) in row.iter().enumerate().take(inside.network.components().len()) {
                    deeply(|| self.prepare(&inside, inner, state));
                }
            }
            None => {
                self.term_of_state(id, state);
            }
        }
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

    /// Where a component in a state takes a step: the prefix that offers the event, or the operator that chooses by
    /// itself. Where an operator of the component renames or hides the event, the prefix whose text begins with its
    /// channel, or else the first one.
    pub fn place_of_step(
        &mut self,
        machine: &Machine,
        component: usize,
        state: u32,
        label: LabelId,
        text: &dyn Fn(Span) -> String,
    ) -> Option<Span> {
        let mut terms = Vec::new();
        self.leaves(machine, component, state, &mut terms);
        if label == LabelId::TAU
            && let Some(place) = terms.iter().find_map(|&term| self.choice_place(term, text))
        {
            return Some(place);
        }
        let prefixes: Vec<(TermId, Span)> =
            terms.into_iter().filter_map(|term| Some((term, self.prefix_span(term)?))).collect();
        // A budget that ends here costs a place, not the report.
        let offers = |compiler: &mut Compiler, term| {
            compiler.steps(term).is_ok_and(|steps| steps.iter().any(|step| step.label == label))
        };
        if let Some(&(_, place)) = prefixes.iter().find(|&&(term, _)| offers(self, term)) {
            return Some(place);
        }
        let name = self.labels.get(label);
        let channel = name.name().unwrap_or_default();
        let begins = |span: Span| {
            text(span).strip_prefix(channel).is_some_and(|rest| {
                !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '\'')
            })
        };
        let named = prefixes.iter().find(|&&(_, span)| !channel.is_empty() && begins(span));
        named.or(prefixes.first()).map(|&(_, span)| span)
    }

    /// The prefixes, and the operators that choose by themselves, that a component in a state has reached.
    fn leaves(&mut self, machine: &Machine, component: usize, state: u32, found: &mut Vec<TermId>) {
        if let Some(layer) = machine.machines[component].layer() {
            let data = self.layer_data(layer);
            let (row, inside) = (data.lazy.row(state), data.machine.clone());
            for (inner, &state) in row.iter().enumerate().take(inside.network.components().len()) {
                self.leaves(&inside, inner, state, found);
            }
            return;
        }
        if let Some(term) = self.term_of_state(machine.machines[component], state) {
            self.reached_leaves(term, found);
        }
    }

    /// The place of a choice that is made without an event: `|~|` or `[>`.
    fn choice_place(&self, term: TermId, text: &dyn Fn(Span) -> String) -> Option<Span> {
        let operator = match self.terms.node(term) {
            Node::Internal(_) => "|~|",
            Node::Sliding(..) => "[>",
            _ => return None,
        };
        let process = self.processes.get(self.origins.get(&term)?)?;
        let Description::Made(point, _) = process.description() else { return None };
        let span = self.evaluator.control_point(point).span;
        let at = operator_in(&text(span), operator)? as u32;
        Some(Span { start: span.start + at, end: span.start + at + operator.len() as u32, ..span })
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

/// Where an operator stands in the text of its process, outside of brackets except those around the whole; the last of
/// several, since operators of one kind are read from the left.
fn operator_in(text: &str, operator: &str) -> Option<usize> {
    let (mut depth, mut found, mut closed) = (0usize, None, None);
    for (at, character) in text.char_indices() {
        if depth == 0 && text[at..].starts_with(operator) {
            found = Some(at);
        }
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    closed = closed.or(Some(at));
                }
            }
            _ => {}
        }
    }
    found.or_else(|| {
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        let around_all = closed == Some(text.len() - 1);
        around_all.then(|| operator_in(inside, operator))?.map(|at| at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_found_outside_of_brackets() {
        assert_eq!(operator_in("b!m -> (P |~| Q) |~| R", "|~|"), Some(17));
        assert_eq!(operator_in("P |~| Q |~| R", "|~|"), Some(8));
        assert_eq!(operator_in("|~| x : {0..1} @ P(x)", "|~|"), Some(0));
        assert_eq!(operator_in("P [> Q", "[>"), Some(2));
        assert_eq!(operator_in("P [] (Q [> R)", "[>"), None);
        assert_eq!(operator_in("((P |~| Q))", "|~|"), Some(4));
        assert_eq!(operator_in("(P |~| Q) [] (R |~| S)", "|~|"), None);
    }
}
