//! A move for a reader: its statements, their output, the variables that they change, the messages that they send and
//! receive.
//!
//! The move is executed again, act by act, and the rows before and after each act are compared. A `d_step` is also
//! presented statement by statement, although it is one transition.

use std::fmt::Write;

use crate::compile::OVER;
use crate::machine::arrangement::Queue;
use crate::program::{Action, Cell, Control, Indivisible, IndivisibleStep, Print, ProcessType, Sort};

use super::simulator::{Act, Moment, Move, Simulator};

/// The largest number of statements of a `d_step` that are presented.
const TOLD: usize = 1_000;

/// A statement that was executed.
#[derive(Clone, Debug)]
pub struct Told {
    /// Whose: the number of the process.
    pub process: u8,
    /// The name of its type.
    pub name: String,
    /// Its priority.
    pub priority: i32,
    /// The file of the statement.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
    /// Its control state, as Spin numbers them.
    pub state: u32,
    /// Its text.
    pub text: String,
    /// The transition, as Spin's trails name it; statements of one `d_step` have the same.
    pub transition: u32,
    /// Is it the first of its transition?
    pub begins: bool,
    /// The text that it prints.
    pub printed: Option<String>,
    /// Variables and channels that it changes, with their values afterwards.
    pub changes: Vec<(String, String)>,
    /// Processes that it creates: their numbers and the names of their types.
    pub created: Vec<(u8, String)>,
    /// Is the process gone afterwards?
    pub ended: bool,
    /// Its effect on a channel.
    pub message: Option<Message>,
}

/// What a statement does with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number of the channel.
    pub channel: i32,
    /// The name of the channel in its declaration.
    pub channel_name: String,
    /// The fields, in words.
    pub fields: Vec<String>,
    /// What happens to it.
    pub way: Way,
}

/// The ways of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is put into a channel, before the message that has this place.
    Sent(usize),
    /// It is taken from this place of a channel.
    Received(usize),
    /// It is read and stays.
    Read,
    /// It is handed over: the receive comes next.
    Offered,
    /// It is taken from the hand of the sender.
    Taken,
}

/// A channel and what is in it.
struct Looked {
    number: i32,
    queue: Queue,
    before: Vec<Vec<String>>,
}

impl Simulator<'_> {
    /// What a move from a moment does.
    pub fn tell(&mut self, from: &Moment, step: &Move) -> Vec<Told> {
        self.stand(from);
        self.interpreter.timeout = step.timeout;
        let mut told = Vec::new();
        for &act in &step.acts {
            let transition = act.transition(self.model);
            match &*transition.action {
                Action::Indivisible(body) => self.tell_indivisible(act, body, &mut told),
                action => {
                    let begun = self.begin(act, transition.statement, action);
                    self.interpreter.fault = None;
                    let _ = self.interpreter.execute(action, false);
                    let fault = self.interpreter.fault.take();
                    let fields = begun.looked.is_some() && fault.is_none_or(|kind| kind.goes_on());
                    let message = fields.then(|| self.message(&begun, action)).flatten();
                    // Where control is says nothing new; that a process is gone does.
                    self.end(begun, matches!(action, Action::End), message, &mut told);
                    self.interpreter.fault = None;
                    self.finish(act);
                }
            }
            self.interpreter.timeout = false;
        }
        told
    }

    fn tell_indivisible(&mut self, act: Act, body: &Indivisible, told: &mut Vec<Told>) {
        let first = told.len();
        let mut at = body.start;
        while at != OVER && told.len() - first < TOLD {
            let options: &[u32] = match &body.steps[at as usize] {
                IndivisibleStep::Do { .. } => std::slice::from_ref(&at),
                IndivisibleStep::Choose(options) => options,
            };
            let mut next = None;
            for &option in options {
                let Some(IndivisibleStep::Do { action, next: behind, statement }) = body.steps.get(option as usize)
                else {
                    next = Some(option);
                    break;
                };
                let begun = self.begin(act, *statement, action);
                self.interpreter.fault = None;
                if !self.interpreter.execute_inside(action) {
                    continue;
                }
                let message = self.message(&begun, action);
                self.end(begun, false, message, told);
                next = Some(*behind);
                break;
            }
            let Some(next) = next else { break };
            at = next;
            if self.interpreter.fault.is_some_and(|kind| !kind.goes_on()) {
                break;
            }
        }
        let number = self.number(act);
        for (place, statement) in told[first..].iter_mut().enumerate() {
            statement.begins = place == 0;
            statement.transition = number;
        }
        if told.len() == first {
            let begun = self.begin(act, act.transition(self.model).statement, &Action::Skip);
            self.end(begun, false, None, told);
        }
        self.interpreter.fault = None;
        self.finish(act);
    }

    /// Spin's number of the transition of an act.
    pub(crate) fn number(&self, act: Act) -> u32 {
        let statement = act.transition(self.model).statement;
        self.model.program.processes[usize::from(act.kind)].statements[statement as usize].number
    }

    fn begin(&mut self, act: Act, state: u32, action: &Action) -> Begun {
        let position = usize::from(act.process);
        self.interpreter.act(position);
        let channel = match action {
            Action::Send(send) => Some(send.channel),
            Action::Receive(receive) => Some(receive.channel),
            _ => None,
        };
        let looked = channel.and_then(|channel| {
            let number = self.interpreter.evaluate(channel);
            let queue = self.interpreter.queue(number)?;
            Some(Looked { number, queue, before: self.messages(&queue) })
        });
        let handed = self.interpreter.handshake.is_some();
        let statement = &self.model.program.processes[usize::from(act.kind)].statements[state as usize];
        let printed = statement.print.map(|print| {
            let model = self.model;
            self.print(&model.program.prints[print as usize])
        });
        self.interpreter.fault = None;
        let row = self.interpreter.row.clone();
        Begun { act, state, looked, handed, printed, row, count: self.interpreter.count() }
    }

    /// A statement that was begun is over.
    fn end(&mut self, begun: Begun, ended: bool, message: Option<Message>, told: &mut Vec<Told>) {
        let process = &self.model.program.processes[usize::from(begun.act.kind)];
        let statement = &process.statements[begun.state as usize];
        let position = usize::from(begun.act.process);
        let priority = if position < self.interpreter.count() { self.interpreter.priority_of(position) } else { 1 };
        let created: Vec<(u8, String)> = (begun.count..self.interpreter.count())
            .map(|young| {
                let kind = self.interpreter.type_at(young);
                (young as u8, self.model.program.processes[usize::from(kind)].name.to_string())
            })
            .collect();
        let changes = self.changes(&begun);
        told.push(Told {
            process: begun.act.process,
            name: process.name.to_string(),
            priority,
            file: statement.file.to_string(),
            line: statement.line,
            column: statement.column,
            state: begun.state,
            text: statement.text.clone(),
            transition: self.number(begun.act),
            begins: true,
            printed: begun.printed,
            changes,
            created,
            ended,
            message,
        });
    }

    fn message(&mut self, begun: &Begun, action: &Action) -> Option<Message> {
        let Looked { number, queue, before } = begun.looked.as_ref()?;
        let kind = &self.model.arrangement.kinds[queue.kind as usize];
        let told = |fields: Vec<String>, way: Way| {
            Some(Message { channel: *number, channel_name: kind.name.clone(), fields, way })
        };
        if queue.capacity == 0 {
            let (words, way) = match (&self.interpreter.handshake, begun.handed) {
                (Some(handshake), false) => (handshake.message.clone(), Way::Offered),
                // The send has presented the values of the receiver.
                (_, true) => (Vec::new(), Way::Taken),
                (None, false) => return None,
            };
            let fields =
                words.iter().zip(&kind.fields).map(|(&kept, &sort)| self.model.value_in_words(sort, kept)).collect();
            return told(fields, way);
        }
        let after = self.messages(queue);
        match action {
            Action::Send(_) => {
                let place = first_difference(before, &after);
                told(after.get(place)?.clone(), Way::Sent(place))
            }
            Action::Receive(receive) if receive.copy => told(Vec::new(), Way::Read),
            _ => {
                let mut place = first_difference(before, &after);
                // Of equal neighbours the first was taken.
                while place > 0 && before.get(place - 1) == before.get(place) {
                    place -= 1;
                }
                told(before.get(place)?.clone(), Way::Received(place))
            }
        }
    }

    /// The contents of a channel.
    fn messages(&self, queue: &Queue) -> Vec<Vec<String>> {
        if queue.capacity == 0 {
            return Vec::new();
        }
        let kind = &self.model.arrangement.kinds[queue.kind as usize];
        (0..self.interpreter.row[queue.slot as usize])
            .map(|message| {
                let field = |(field, &sort): (usize, &Sort)| {
                    let kept = self.interpreter.row[self.interpreter.field_slot(queue, message, field)];
                    self.model.value_in_words(sort, kept)
                };
                kind.fields.iter().enumerate().map(field).collect()
            })
            .collect()
    }

    /// The variables and channels at a moment, in Spin's order: channels of the model, its variables, then process by
    /// process.
    pub fn variables(&mut self, moment: &Moment) -> Variables {
        self.stand(moment);
        let mut variables = Variables { globals: Vec::new(), processes: Vec::new(), trace_waits_for: None };
        if let (Some(slot), Some(trace)) = (self.model.arrangement.event, &self.model.program.trace) {
            let state = self.interpreter.row[slot as usize];
            let ends = trace.automaton.valid_end[state as usize];
            variables.trace_waits_for = (!ends).then(|| waits_for(&trace.automaton, state));
        }
        for position in 0..self.interpreter.count() {
            let process = &self.model.program.processes[usize::from(self.interpreter.type_at(position))];
            let state = self.interpreter.row[self.interpreter.control_slot(position)];
            let statement = &process.statements[state as usize];
            variables.processes.push(Standing {
                name: process.name.to_string(),
                priority: self.interpreter.priority_of(position),
                file: statement.file.to_string(),
                line: statement.line,
                state,
                waits_for: waits_for(process, state),
                valid_end: process.valid_end[state as usize],
                variables: Vec::new(),
            });
        }
        self.places(|owner, place| {
            let list = match owner {
                None => &mut variables.globals,
                Some(position) => &mut variables.processes[position].variables,
            };
            list.extend(self.told(owner, &place));
        });
        variables
    }

    /// Everything that has a name, its place and its owner: channels of the model, its variables, then process by
    /// process.
    fn places(&self, mut look: impl FnMut(Option<usize>, Place<'_>)) {
        let (model, interpreter) = (self.model, &self.interpreter);
        let name_of = |queue: &Queue| &*model.arrangement.kinds[queue.kind as usize].name;
        for (index, queue) in model.arrangement.queues.iter().enumerate() {
            look(None, Place::Channel { number: index + 1, name: name_of(queue), queue });
        }
        for (cell, &slot) in model.program.globals.cells.iter().zip(&model.arrangement.globals) {
            look(None, Place::Variable { cell, slot: slot as usize });
        }
        let mut channels = model.arrangement.queues.len();
        for position in 0..interpreter.count() {
            let kind = interpreter.type_at(position);
            let shape = &model.arrangement.shapes[usize::from(kind)];
            let base = (model.arrangement.positions[position].base + shape.cells) as usize;
            for queue in model.arrangement.queues_at(position, kind) {
                channels += 1;
                look(Some(position), Place::Channel { number: channels, name: name_of(&queue), queue: &queue });
            }
            for (at, cell) in model.program.processes[usize::from(kind)].frame.cells.iter().enumerate() {
                look(Some(position), Place::Variable { cell, slot: base + at });
            }
        }
    }

    /// The name and the value of what lies at a place; nothing for what only names a channel or holds nothing.
    fn told(&self, owner: Option<usize>, place: &Place<'_>) -> Option<(String, String)> {
        let owner = owner.map(|position| {
            let kind = self.interpreter.type_at(position);
            format!("{}({position}):", self.model.program.processes[usize::from(kind)].name)
        });
        let owner = owner.unwrap_or_default();
        match place {
            Place::Channel { number, name, queue } if queue.capacity > 0 => {
                Some((format!("queue {number} ({owner}{name})"), self.content(queue)))
            }
            Place::Variable { cell, slot } if cell.sort != Sort::Channel => {
                let value = self.model.value_in_words(cell.sort, self.interpreter.row[*slot]);
                Some((format!("{owner}{}", cell.name), value))
            }
            _ => None,
        }
    }

    /// What differs from before a statement; the variables of a process that is new are not changed.
    fn changes(&self, begun: &Begun) -> Vec<(String, String)> {
        let mut changes = Vec::new();
        let row = &self.interpreter.row;
        self.places(|owner, place| {
            let slots = match &place {
                Place::Variable { slot, .. } => *slot..slot + 1,
                Place::Channel { queue, .. } if queue.capacity > 0 => {
                    let fields = self.model.arrangement.kinds[queue.kind as usize].fields.len();
                    let first = queue.slot as usize;
                    first..first + 1 + queue.capacity as usize * fields
                }
                Place::Channel { .. } => return,
            };
            if owner.is_none_or(|position| position < begun.count) && row[slots.clone()] != begun.row[slots] {
                changes.extend(self.told(owner, &place));
            }
        });
        changes
    }

    fn content(&self, queue: &Queue) -> String {
        let messages: Vec<String> =
            self.messages(queue).iter().map(|message| format!("[{}]", message.join(","))).collect();
        messages.join("")
    }

    /// What `printf` writes.
    fn print(&mut self, print: &Print) -> String {
        let mut text = String::new();
        let mut arguments = print.arguments.iter();
        let mut characters = print.format.chars().filter(|&character| character != '"').peekable();
        let mark = self.interpreter.log.len();
        while let Some(character) = characters.next() {
            match (character, characters.peek()) {
                ('\\', Some(&escaped)) => {
                    characters.next();
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    });
                }
                ('%', Some('%')) => {
                    characters.next();
                    text.push('%');
                }
                ('%', Some(&conversion)) => {
                    characters.next();
                    let Some(&(value, set)) = arguments.next() else { continue };
                    let value = self.interpreter.evaluate(value);
                    let _ = match conversion {
                        'c' => write!(text, "{}", char::from(value as u8)),
                        'o' => write!(text, "{value:o}"),
                        'x' => write!(text, "{value:x}"),
                        'u' => write!(text, "{}", value as u32),
                        'e' => {
                            let name = self.model.program.mtype_name(set.unwrap_or(0), value);
                            write!(text, "{}", name.map_or_else(|| value.to_string(), str::to_string))
                        }
                        _ => write!(text, "{value}"),
                    };
                }
                _ => text.push(character),
            }
        }
        // A `run` among the arguments of a `printf` starts no process.
        self.interpreter.undo(mark);
        self.interpreter.wanted = None;
        text
    }
}

struct Begun {
    act: Act,
    state: u32,
    looked: Option<Looked>,
    /// Is a message on its way to it?
    handed: bool,
    printed: Option<String>,
    /// The row before it.
    row: Vec<u32>,
    /// How many processes there were.
    count: usize,
}

/// Something that has a name.
enum Place<'p> {
    Channel { number: usize, name: &'p str, queue: &'p Queue },
    Variable { cell: &'p Cell, slot: usize },
}

fn first_difference(before: &[Vec<String>], after: &[Vec<String>]) -> usize {
    let common = before.len().min(after.len());
    (0..common).find(|&at| before[at] != after[at]).unwrap_or(common)
}

/// A moment in words.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Channels and variables of the model.
    pub globals: Vec<(String, String)>,
    /// Processes, oldest first.
    pub processes: Vec<Standing>,
    /// The line and text of each event that a `trace` waits for, unless a run may end where it is.
    pub trace_waits_for: Option<Vec<(usize, String)>>,
}

/// A process in words.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The name of its type.
    pub name: String,
    /// Its priority.
    pub priority: i32,
    /// The file of its next statement.
    pub file: String,
    /// The line of its next statement.
    pub line: usize,
    /// Its control state.
    pub state: u32,
    /// The line and text of each statement that it can execute next, once that is enabled.
    pub waits_for: Vec<(usize, String)>,
    /// May a run end there?
    pub valid_end: bool,
    /// Its channels and variables.
    pub variables: Vec<(String, String)>,
}

/// The line and text of the statements that leave a control state.
fn waits_for(process: &ProcessType, state: Control) -> Vec<(usize, String)> {
    let mut statements = Vec::new();
    for transition in &process.transitions[state as usize] {
        let statement = &process.statements[transition.statement as usize];
        let found = (statement.line, statement.text.clone());
        if !statements.contains(&found) {
            statements.push(found);
        }
    }
    statements
}
