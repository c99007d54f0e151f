//! A model as an observer of its messages and its states sees it.
//!
//! The states and steps are those of the model itself, so an `atomic` sequence and a `d_step` are one step as far as
//! they run. The label of a step is the bag of its messages: `c!1,2` for one that is sent, `c?1,2` for one that is
//! received from a buffer; a handshake is one message, that of its send. A step without messages is `τ`, and one that
//! goes wrong is `error`. The name of a channel of a process begins with the process: `P(1):c!0`.
//!
//! What the observer sees of a state are marks: variables of the model and of processes, the lengths of buffers, and
//! whether a process is at a label. A mark that looks at a process which does not run, or is of another type, is 0.
//!
//! How it works: a machine that records messages leaves each one, with its channel behind it, on the stack that holds
//! the messages of handshakes; statements that are undone take theirs away again. Invariant: when a step is handed out,
//! the stack has exactly its messages, in order. Cost: a lookup for each step that has messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::Control as Budget;
use trefoil_system::{
    Cut, Explorer, Group, Label, LabelId, Labels, Layout, Mark, MarkId, Meaning, Part, SlotSet, System, Value, Writing,
};

use super::arrangement::{COUNT, Queue};
use super::describe::value;
use super::explorer::ModelExplorer;
use super::machine::Machine;
use super::system::Model;
use crate::program::{ChannelKind, ProcessTypeId, Program, Sort};

/// What can be seen of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A cell of the model.
    Global(u32),
    /// A cell of the process with this number, if it is of this type.
    Local {
        /// The number of the process.
        process: usize,
        /// Its type.
        kind: ProcessTypeId,
        /// The cell.
        cell: u32,
    },
    /// How many messages a channel of the model has, by its place among them.
    Length(u32),
    /// Whether the process with this number is at a label.
    At {
        /// The number of the process.
        process: usize,
        /// The label.
        label: Arc<str>,
    },
}

/// Something that can be seen, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Its name, without indices: `a.b` for `a[2].b`, `at_L` for a label, `len_c` for a length, `P_x` for `x` of `P`.
    pub name: String,
    /// What its values are.
    pub sort: Sort,
    /// The indices, processes first, each with what is seen.
    pub elements: Vec<(Vec<u32>, Watched)>,
}

/// A channel as formulas name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name: `q` for `q[1]`, `P_c` for `c` of processes `P`.
    pub name: String,
    /// How many indices come before the fields of a message: those of its array, and the number of its process.
    pub indices: usize,
    /// The fields of a message.
    pub fields: Vec<Sort>,
    /// Has it a buffer, so that messages are received in steps of their own?
    pub buffered: bool,
}

/// The name without its indices, and the indices: `a[2].b` is `a.b` and 2.
fn indexed(name: &str) -> (String, Vec<u32>) {
    let (mut plain, mut indices) = (String::new(), Vec::new());
    for piece in name.split(']') {
        match piece.split_once('[') {
            Some((before, index)) => {
                plain.push_str(before);
                indices.extend(index.parse::<u32>());
            }
            None => plain.push_str(piece),
        }
    }
    (plain, indices)
}

impl Program {
    /// What can be seen of a state in which processes with numbers below `processes` run.
    pub fn observed(&self, processes: usize) -> Vec<Observed> {
        let mut all: Vec<Observed> = Vec::new();
        let mut add = |name: String, sort: Sort, indices: Vec<u32>, watched: Watched| match all
            .iter_mut()
            .find(|known| known.name == name && known.sort == sort)
        {
            Some(known) => known.elements.push((indices, watched)),
            None => all.push(Observed { name, sort, elements: vec![(indices, watched)] }),
        };
        for (cell, declared) in self.globals.cells.iter().enumerate() {
            if declared.sort != Sort::Channel && !declared.hidden {
                let (name, indices) = indexed(&declared.name);
                add(name, declared.sort, indices, Watched::Global(cell as u32));
            }
        }
        for (number, channel) in self.globals.channels.iter().enumerate().filter(|(_, channel)| channel.capacity > 0) {
            let (name, indices) = indexed(&channel.name);
            add(format!("len_{name}"), Sort::Byte, indices, Watched::Length(number as u32));
        }
        let mut labels: Vec<&Arc<str>> = Vec::new();
        for (kind, process) in self.processes.iter().enumerate() {
            for (label, _) in &process.labels {
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
            for (cell, declared) in process.frame.cells.iter().enumerate() {
                if declared.sort == Sort::Channel {
                    continue;
                }
                let (name, indices) = indexed(&declared.name);
                for position in 0..processes {
                    let watched = Watched::Local { process: position, kind: kind as ProcessTypeId, cell: cell as u32 };
                    let indices = std::iter::once(position as u32).chain(indices.iter().copied()).collect();
                    add(format!("{}_{name}", process.name), declared.sort, indices, watched);
                }
            }
        }
        for label in labels {
            for position in 0..processes {
                let watched = Watched::At { process: position, label: label.clone() };
                add(format!("at_{label}"), Sort::Bool, vec![position as u32], watched);
            }
        }
        all
    }

    /// The channels whose messages can be seen.
    pub fn observed_channels(&self) -> Vec<Channel> {
        let mut all: Vec<Channel> = Vec::new();
        let mut add = |owner: Option<&str>, kind: &ChannelKind| {
            let (name, indices) = indexed(&kind.name);
            let name = owner.map_or(name.clone(), |owner| format!("{owner}_{name}"));
            let indices = indices.len() + usize::from(owner.is_some());
            let fields = kind.fields.clone();
            let channel = Channel { name, indices, fields, buffered: kind.capacity > 0 };
            if !all.contains(&channel) {
                all.push(channel);
            }
        };
        self.globals.channels.iter().for_each(|kind| add(None, kind));
        for process in &self.processes {
            process.frame.channels.iter().for_each(|kind| add(Some(&*process.name), kind));
        }
        all
    }
}

/// A model with an observer.
pub struct Messages {
    model: Arc<Model>,
    labels: Arc<Labels>,
    watched: Vec<Watched>,
    marks: Vec<Mark>,
    /// The messages of each label, as machines record them.
    met: Arc<Mutex<HashMap<LabelId, Box<[u32]>>>>,
}

impl Messages {
    /// A model whose messages are seen, and whose states show what is listed: a mark each, in this order.
    pub fn new(model: Arc<Model>, watched: Vec<Watched>) -> Messages {
        Messages::with(model, watched, Arc::new(Labels::written(Writing::Messages)), Arc::default())
    }

    fn with(
        model: Arc<Model>,
        watched: Vec<Watched>,
        labels: Arc<Labels>,
        met: Arc<Mutex<HashMap<LabelId, Box<[u32]>>>>,
    ) -> Messages {
        let mark = |watched: &Watched| Mark {
            meaning: Meaning::Proposition,
            reads: model.watched_slots(watched),
            values: Value::MAX,
        };
        let marks = watched.iter().map(mark).collect();
        Messages { model, labels, watched, marks, met }
    }

    /// The widest form that searches of this one went on with, if it was too narrow.
    pub fn widest(&self) -> Option<Arc<Messages>> {
        let widest = self.model.widest()?.clone();
        Some(Arc::new(self.on(widest)))
    }

    /// Another form of the model as the same observer sees it.
    pub(crate) fn on(&self, model: Arc<Model>) -> Messages {
        Messages::with(model, self.watched.clone(), self.labels.clone(), self.met.clone())
    }

    /// What is seen of a state.
    pub(crate) fn watched(&self) -> &[Watched] {
        &self.watched
    }

    /// The messages of a label that was met: for each its fields, the position of the process whose channel it is plus
    /// 1 or 0 for a channel of the model, and twice the kind of the channel, plus 1 where it is received.
    pub(crate) fn messages_of(&self, label: LabelId) -> Option<Box<[u32]>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).get(&label).cloned()
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The step of the model itself that a step with this label is: the model's own label.
    pub fn own_label(
        &self,
        before: &[Value],
        label: LabelId,
        after: &[Value],
        control: &Budget,
    ) -> Result<Option<LabelId>, Cut> {
        // Both explorers hand out the same steps in the same order.
        let (mut place, mut found) = (0, None);
        self.explorer(control).successors(before, &mut |step| {
            if found.is_none() && step.label == label && step.row == after {
                found = Some(place);
            }
            place += 1;
            Ok(())
        })?;
        let (mut place, mut own) = (0, None);
        self.model.explorer(control).successors(before, &mut |step| {
            if Some(place) == found {
                own = Some(step.label);
            }
            place += 1;
            Ok(())
        })?;
        Ok(own)
    }
}

impl Model {
    /// The slots that decide what is seen.
    fn watched_slots(&self, watched: &Watched) -> SlotSet {
        let arrangement = &self.arrangement;
        match watched {
            Watched::Global(cell) => [arrangement.globals[*cell as usize] as usize].into_iter().collect(),
            Watched::Length(channel) => [arrangement.queues[*channel as usize].slot as usize].into_iter().collect(),
            Watched::Local { process, kind, cell } => {
                let Some(position) = arrangement.positions.get(*process).filter(|one| one.types.contains(kind)) else {
                    return SlotSet::default();
                };
                let base = position.base as usize;
                let cells = arrangement.shapes[usize::from(*kind)].cells as usize;
                [COUNT, base, base + cells + *cell as usize].into_iter().collect()
            }
            Watched::At { process, label } => {
                let Some(position) = arrangement.positions.get(*process) else { return SlotSet::default() };
                let has = |&kind: &ProcessTypeId| self.states_at(kind, label).next().is_some();
                if !position.types.iter().any(has) {
                    return SlotSet::default();
                }
                [COUNT, position.base as usize, position.base as usize + 1].into_iter().collect()
            }
        }
    }

    fn states_at(&self, kind: ProcessTypeId, label: &str) -> impl Iterator<Item = u32> {
        let labels = &self.program.processes[usize::from(kind)].labels;
        labels.iter().filter(move |(name, _)| **name == *label).map(|&(_, state)| state)
    }

    /// What is seen, from the values of the slots that decide it.
    fn watched_value(&self, watched: &Watched, reads: &[Value]) -> Value {
        let read = |sort: Sort, kept: Value| sort.read(kept) as Value;
        match (watched, reads) {
            (Watched::Global(cell), &[kept]) => read(self.program.globals.cells[*cell as usize].sort, kept),
            (Watched::Length(_), &[length]) => length,
            (Watched::Local { process, kind, cell }, &[count, own, kept]) => {
                let runs =
                    *process < count as usize && self.arrangement.positions[*process].types[own as usize] == *kind;
                let sort = self.program.processes[usize::from(*kind)].frame.cells[*cell as usize].sort;
                if runs { read(sort, kept) } else { 0 }
            }
            (Watched::At { process, label }, &[count, own, state]) => {
                let kind = self.arrangement.positions[*process].types[own as usize];
                Value::from(*process < count as usize && self.states_at(kind, label).any(|known| known == state))
            }
            _ => 0,
        }
    }
}

/// One thread's names of steps.
pub(super) struct Observer<'a> {
    messages: &'a Messages,
    known: HashMap<Box<[u32]>, LabelId>,
}

impl Machine<'_> {
    /// Notes the channel of the message that lies on the stack.
    pub(super) fn record_channel(&mut self, queue: &Queue, received: bool) {
        let owner = queue.position.map_or(0, |position| u32::from(position) + 1);
        self.messages.extend([owner, queue.kind << 1 | u32::from(received)]);
    }
}

impl Observer<'_> {
    pub(super) fn error(&self) -> LabelId {
        self.messages.labels.name("error")
    }

    /// The label of a step with these messages.
    pub(super) fn label(&mut self, messages: &[u32]) -> LabelId {
        if messages.is_empty() {
            return LabelId::TAU;
        }
        if let Some(&known) = self.known.get(messages) {
            return known;
        }
        let label = self.messages.label(messages);
        self.known.insert(messages.into(), label);
        label
    }

    pub(super) fn value(&self, mark: MarkId, reads: &[Value]) -> Value {
        self.messages.model.watched_value(&self.messages.watched[mark.index()], reads)
    }
}

impl Messages {
    /// The label of a step with these messages.
    pub(crate) fn label(&self, recorded: &[u32]) -> LabelId {
        let mut messages = recorded;
        let program = &self.model.program;
        let mut parts = Vec::new();
        while let [rest @ .., owner, channel] = messages {
            let kind = &self.model.arrangement.kinds[(channel >> 1) as usize];
            let (before, fields) = rest.split_at(rest.len() - kind.fields.len());
            let owner = owner.checked_sub(1).map(|position| {
                let kinds = program.globals.channels.len();
                let own = program.processes.iter().scan(kinds, |first, process| {
                    let from = *first;
                    *first += process.frame.channels.len();
                    Some((from..*first, process))
                });
                let process = own.into_iter().find(|(kinds, _)| kinds.contains(&((channel >> 1) as usize)));
                format!("{}({position}):", process.map_or("", |(_, process)| &process.name))
            });
            let operator = if channel & 1 == 1 { '?' } else { '!' };
            let name = format!("{}{}{operator}", owner.unwrap_or_default(), kind.name).into_boxed_str();
            let shown = |(&kept, &sort): (&u32, &Sort)| match sort {
                Sort::Bool => (kept != 0).to_string(),
                Sort::Mtype(set) if kept == 0 => program.mtype_none(set),
                sort => value(program, sort, kept),
            };
            let arguments = fields.iter().zip(&kind.fields).map(shown).map(String::into_boxed_str).collect();
            parts.push(Part { name, arguments });
            messages = before;
        }
        let label = self.labels.intern(Label::bag(parts));
        self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(label, recorded.into());
        label
    }
}

impl System for Messages {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        self.model.groups()
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, control: &Budget) -> Result<Vec<Value>, Cut> {
        self.model.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Budget) -> Box<dyn Explorer + 'a> {
        let mut explorer = ModelExplorer::new(&self.model, control);
        explorer.machine.records = true;
        explorer.observer = Some(Observer { messages: self, known: HashMap::default() });
        Box::new(explorer)
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let wider = self.model.wider()?.clone();
        Some(Arc::new(self.on(wider)))
    }

    fn describe(&self, row: &[Value]) -> String {
        self.model.describe(row)
    }
}
