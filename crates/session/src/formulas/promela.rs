//! Promela models for formulas: what their messages, variables and labels are in the language of formulas.
//!
//! The actions of a model are its messages: `c!1,2` is `c(1, 2)`, whether it goes into a buffer or is a handshake, and
//! `c?1,2`, from a buffer, is `receive_c(1, 2)`. The indices of an array of channels come before the fields of a
//! message, and so does the number of the process whose channel it is. A step without messages is `tau`, one with
//! several, which `atomic` and `d_step` can have, is a multi-action, and one that goes wrong is `error`.
//!
//! Variables are constants and functions whose values are those of the state: `x`, `a(1)`, `r_x` for a field of a
//! record; `P_x(2)` is the variable `x` of the process with the number 2, which is of the type `P`; `at_L(2)` says that
//! process is at the label `L`; `len_c` is the number of messages in a buffer.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use trefoil_check::formula::game::{LabelParts, LabelReader};
use trefoil_check::formula::{Proposition, Signature, ValueWriting, formula_name};
use trefoil_control::Control;
use trefoil_promela::program::{Program, Sort};
use trefoil_promela::{Messages, Simulator};
use trefoil_source::{Diagnostic, Place, Sources};
use trefoil_system::{Cut, LabelId, Labels, MarkId, Part, Path as Run, System, Value};

use crate::check::Step;
use crate::cspm::Warnings;
use crate::problem::REFUSED;
use crate::promela::{Script, Story, place_of};
use crate::{Job, Problem};

/// An array with more elements is no proposition, and neither is a variable of more processes.
const MOST_ELEMENTS: usize = 4096;

/// A model as formulas see it.
pub(super) struct ModelView {
    messages: Arc<Messages>,
    channels: Arc<BTreeSet<String>>,
    pub(super) signature: Signature,
}

/// Opens a model.
pub(super) fn open(file: &Path, job: &Job) -> Result<(ModelView, Sources, Warnings), Problem> {
    let (model, origin, warnings) = Script::open(file, job)?.surveyed(false, job)?;
    let program = model.program().clone();
    let mut watched = Vec::new();
    let mut propositions: Vec<(Proposition, String)> = Vec::new();
    for observed in program.observed(model.positions()) {
        if observed.elements.len() > MOST_ELEMENTS {
            continue;
        }
        let (sort, writing) = sort(&program, observed.sort);
        let domain = vec!["Nat"; observed.elements[0].0.len()].join(" # ");
        let name = formula_name(&observed.name);
        let arrow = if domain.is_empty() { "" } else { " -> " };
        let declared = format!("map {name}: {domain}{arrow}{sort};\n");
        let elements = observed.elements.into_iter().map(|(indices, seen)| {
            watched.push(seen);
            (indices, MarkId(watched.len() as u32 - 1))
        });
        propositions.push((Proposition { name, elements: elements.collect(), writing }, declared));
    }
    let channels: BTreeSet<String> =
        program.observed_channels().into_iter().map(|channel| formula_name(&channel.name)).collect();
    let mut text = sorts(&program);
    text.push_str("act error;\n");
    for channel in program.observed_channels() {
        let name = formula_name(&channel.name);
        let fields = channel.fields.iter().map(|&field| sort(&program, field).0);
        let sorts: Vec<String> = vec!["Nat".to_string(); channel.indices].into_iter().chain(fields).collect();
        text.push_str(&format!("act {name}: {};\n", sorts.join(" # ")));
        if channel.buffered {
            text.push_str(&format!("act {}: {};\n", receive(&name, &channels), sorts.join(" # ")));
        }
    }
    let declared = |propositions: &[(Proposition, String)]| {
        let maps: String = propositions.iter().map(|(_, declared)| declared.as_str()).collect();
        Signature::declared(&format!("{text}{maps}"))
    };
    let signature = match declared(&propositions) {
        Ok(signature) => signature,
        // A variable may have the name of a constant or of a function of the language of formulas.
        Err(_) => {
            propositions.retain(|one| declared(std::slice::from_ref(one)).is_ok());
            declared(&propositions).map_err(|mistakes| {
                let why = mistakes.first().map(|mistake| mistake.message.clone()).unwrap_or_default();
                let message = format!("the channels of this model cannot be actions of a formula: {why}");
                Problem::from(Diagnostic::error(REFUSED, message, Place::File(file.display().to_string())))
            })?
        }
    };
    let propositions = propositions.into_iter().map(|(proposition, _)| proposition).collect();
    let signature = Signature { propositions, ..signature };
    let messages = Arc::new(Messages::new(model, watched));
    Ok((ModelView { messages, channels: Arc::new(channels), signature }, origin.sources, warnings))
}

/// What the constants of mtypes are, with the value 0, which no constant has.
fn sorts(program: &Program) -> String {
    let mut text = String::new();
    for (set, (_, names)) in program.mtypes.iter().enumerate() {
        let names = names.iter().map(|name| formula_name(name));
        let names: Vec<String> = std::iter::once(program.mtype_none(set as u16)).chain(names).collect();
        text.push_str(&format!("sort {} = struct {};\n", mtype(program, set as u16), names.join(" | ")));
    }
    text
}

fn mtype(program: &Program, set: u16) -> String {
    match &*program.mtypes[usize::from(set)].0 {
        "_unnamed_" => "mtype".to_string(),
        name => formula_name(name),
    }
}

/// The sort of a value, and how its values are written.
fn sort(program: &Program, sort: Sort) -> (String, ValueWriting) {
    match sort {
        Sort::Bool => ("Bool".to_string(), ValueWriting::Boolean),
        Sort::Short | Sort::Int => ("Int".to_string(), ValueWriting::Signed),
        Sort::Bits(_) | Sort::Byte | Sort::Pid | Sort::Channel => ("Nat".to_string(), ValueWriting::Natural),
        Sort::Mtype(set) => {
            let names = program.mtypes[usize::from(set)].1.iter().map(|name| formula_name(name));
            let names = std::iter::once(program.mtype_none(set)).chain(names).collect();
            (mtype(program, set), ValueWriting::Names(names))
        }
    }
}

/// The action of a message that is received from a buffer.
fn receive(channel: &str, channels: &BTreeSet<String>) -> String {
    let mut name = format!("receive_{channel}");
    while channels.contains(&name) {
        name.push('_');
    }
    name
}

/// A message as an action: `P(1):q[2]!3` is `P_q(1, 2, 3)`.
fn action(part: &Part, channels: &BTreeSet<String>) -> (String, Vec<String>) {
    let received = part.name.ends_with('?');
    let Some(channel) = part.name.strip_suffix(['!', '?']) else { return (part.name.to_string(), Vec::new()) };
    let mut arguments = Vec::new();
    let (owner, channel) = match channel.split_once("):") {
        Some((owner, channel)) => {
            let (owner, number) = owner.split_once('(').unwrap_or((owner, "0"));
            arguments.push(number.to_string());
            (format!("{owner}_"), channel)
        }
        None => (String::new(), channel),
    };
    let mut name = owner;
    for piece in channel.split(']') {
        match piece.split_once('[') {
            Some((before, index)) => {
                name.push_str(before);
                arguments.push(index.to_string());
            }
            None => name.push_str(piece),
        }
    }
    let word = |argument: &str| {
        let is_name = argument.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let is_word = is_name && argument != "true" && argument != "false";
        if is_word { formula_name(argument) } else { argument.to_string() }
    };
    arguments.extend(part.arguments.iter().map(|argument| word(argument)));
    let name = formula_name(&name);
    (if received { receive(&name, channels) } else { name }, arguments)
}

impl ModelView {
    pub(super) fn system(&self) -> Arc<dyn System> {
        self.messages.clone()
    }

    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    pub(super) fn reader(&self) -> LabelReader {
        let channels = self.channels.clone();
        Arc::new(move |labels: &Labels, label: LabelId| -> LabelParts {
            labels.get(label).parts().iter().map(|part| action(part, &channels)).collect()
        })
    }

    pub(super) fn states(&self, row: &[Value]) -> Vec<Arc<str>> {
        self.messages.model().parts(row).into_iter().map(Arc::from).collect()
    }

    pub(super) fn components(&self) -> Vec<Arc<str>> {
        self.messages.model().part_names().into_iter().map(Arc::from).collect()
    }

    /// Goes on with the form of the model that a search needed.
    pub(super) fn widest(&mut self) {
        if let Some(wider) = self.messages.widest() {
            self.messages = wider;
        }
    }

    /// A step: its messages, or its statement where it has none.
    pub(super) fn step(&self, before: &[Value], label: LabelId, after: &[Value]) -> Result<Step, Cut> {
        let control = Control::unlimited();
        let mut event = self.messages.labels().get(label).to_string();
        let own = self.messages.own_label(before, label, after, &control)?;
        let mut place = None;
        if let Some(own) = own {
            let moves = Simulator::new(self.messages.model(), &control).unfold(before, own, after)?;
            place = moves.and_then(|moves| place_of(self.messages.model(), moves.first()?));
        }
        if label == LabelId::TAU
            && let Some(own) = own
        {
            let own = self.messages.model().labels().get(own);
            if let (Some(name), [line, text, ..]) = (own.name(), own.arguments()) {
                event = format!("τ ({name} line {line}: {text})");
            }
        }
        Ok(Step { event, place, parts: Vec::new(), states: self.states(after), number: 0, revealed: 0 })
    }

    /// A run statement by statement.
    pub(super) fn story(&self, run: &Run, job: &Job) -> Result<Option<Story>, Cut> {
        let model = self.messages.model();
        let mut simulator = Simulator::new(model, &job.control);
        let (mut moves, mut before) = (Vec::new(), &run.start);
        for step in &run.steps {
            let own = self.messages.own_label(before, step.label, &step.row, &job.control)?;
            let Some(own) = own else { return Ok(None) };
            let Some(mut unfolded) = simulator.unfold(before, own, &step.row)? else { return Ok(None) };
            moves.append(&mut unfolded);
            before = &step.row;
        }
        let start = simulator.moment(&run.start);
        Ok(Some(Story { steps: run.steps.len(), ..Story::of(&mut simulator, &start, &moves) }))
    }
}
