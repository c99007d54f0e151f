//! The interpreter: it reads values, executes statements and undoes them, one at a time, directly from the program.
//!
//! It shares no code with the machine that searches run on, and has none of its optimisations: a simple implementation
//! replays and presents counterexamples, and tests compare the two.
//!
//! Every write goes to a log, so that a statement can be undone. A rendezvous send that waits for its receive is kept
//! beside the row. A fault does not stop the interpreter: the interpreter keeps it, reads return 0, and the caller that
//! executes a statement checks it.

use trefoil_control::Control as Budget;

use crate::evaluate::binary;
use crate::machine::FaultKind;
use crate::machine::arrangement::{Arrangement, COUNT, Queue};
use crate::program::{ExpressionId, Initialiser, Node, Place, PlaceId, ProcessTypeId, Program, RemoteTarget, Sort};
use crate::syntax::tree::Binary;

/// A message on its way to a rendezvous channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// The number of the channel.
    pub(crate) channel: i32,
    pub(crate) queue: Queue,
    pub(crate) message: Vec<u32>,
}

pub(crate) struct Interpreter<'a> {
    pub(crate) program: &'a Program,
    pub(crate) arrangement: &'a Arrangement,
    /// The row, and hidden cells behind it.
    pub(crate) row: Vec<u32>,
    pub(crate) log: Vec<(u32, u32)>,
    /// The process that acts, its type, and the slot of its first cell.
    pub(crate) actor: usize,
    pub(crate) process: ProcessTypeId,
    pub(crate) cells: usize,
    pub(crate) timeout: bool,
    pub(crate) handshake: Option<Handshake>,
    pub(crate) fault: Option<FaultKind>,
    /// Room for a process that the arrangement does not have.
    pub(crate) wanted: Option<(u8, ProcessTypeId)>,
    /// What long statements ask whether they may go on, and whether one was given up.
    control: &'a Budget,
    pub(crate) stopped: bool,
    hidden: Vec<u32>,
    pub(crate) scratch: Vec<u32>,
    /// How many `enabled` expressions are being evaluated.
    pub(super) asking: usize,
    /// The message that was sent or received last, where a `trace` looks at it.
    pub(crate) message: Vec<i32>,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(program: &'a Program, arrangement: &'a Arrangement, control: &'a Budget) -> Interpreter<'a> {
        let mut interpreter = Interpreter {
            program,
            arrangement,
            row: vec![0; arrangement.width() + arrangement.hidden],
            log: Vec::new(),
            actor: 0,
            process: 0,
            cells: 0,
            timeout: false,
            handshake: None,
            fault: None,
            wanted: None,
            control,
            stopped: false,
            hidden: vec![0; arrangement.hidden],
            scratch: Vec::new(),
            asking: 0,
            message: Vec::new(),
        };
        interpreter.start();
        let width = arrangement.width();
        interpreter.hidden.copy_from_slice(&interpreter.row[width..]);
        interpreter
    }

    /// Writes the initial state into the row.
    fn start(&mut self) {
        for initial in &self.program.globals.initial {
            match initial {
                Initialiser::Value { cell, value } => {
                    let value = self.evaluate(*value) as u32;
                    let sort = self.program.globals.cells[*cell as usize].sort;
                    let slot = self.arrangement.globals[*cell as usize] as usize;
                    self.row[slot] = value & sort.mask();
                }
                Initialiser::Channel { cell, channel } => {
                    let slot = self.arrangement.globals[*cell as usize] as usize;
                    self.row[slot] = channel + 1;
                }
            }
        }
        if let (Some(slot), Some(trace)) = (self.arrangement.event, &self.program.trace) {
            self.row[slot as usize] = trace.automaton.start;
        }
        for &(process, priority) in &self.program.active {
            self.create(process, &[], priority);
        }
        self.log.clear();
    }

    /// Takes a row to work on.
    pub(crate) fn load(&mut self, row: &[u32]) {
        let width = self.arrangement.width();
        self.row[..width].copy_from_slice(row);
        self.row[width..].copy_from_slice(&self.hidden);
        self.log.clear();
        self.handshake = None;
        self.fault = None;
        self.timeout = false;
        self.wanted = None;
        self.stopped = false;
        self.asking = 0;
    }

    /// Must a long statement be given up?
    pub(super) fn is_over(&mut self) -> bool {
        self.stopped = self.control.check().is_err();
        self.stopped
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: usize, value: u32) {
        let old = self.row[slot];
        if old != value {
            self.log.push((slot as u32, old));
            self.row[slot] = value;
        }
    }

    /// Takes back everything since the log had this length.
    #[inline]
    pub(crate) fn undo(&mut self, to: usize) {
        while self.log.len() > to {
            if let Some((slot, old)) = self.log.pop() {
                self.row[slot as usize] = old;
            }
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.row[COUNT] as usize
    }

    /// The type of the process at a position that is in use.
    #[inline]
    pub(crate) fn type_at(&self, position: usize) -> ProcessTypeId {
        let place = &self.arrangement.positions[position];
        if place.types.len() == 1 { place.types[0] } else { place.types[self.row[place.base as usize] as usize] }
    }

    #[inline]
    pub(crate) fn control_slot(&self, position: usize) -> usize {
        self.arrangement.positions[position].base as usize + 1
    }

    /// Lets a process act.
    #[inline]
    pub(crate) fn act(&mut self, position: usize) {
        self.actor = position;
        self.process = self.type_at(position);
        let shape = &self.arrangement.shapes[usize::from(self.process)];
        self.cells = (self.arrangement.positions[position].base + shape.cells) as usize;
    }

    /// Notes a fault. The first one stays, but a fault that ends the run replaces one that does not.
    pub(crate) fn fail(&mut self, kind: FaultKind) {
        if self.fault.is_none_or(|known| known.goes_on() && !kind.goes_on()) {
            self.fault = Some(kind);
        }
    }

    /// The slot of a place, or a fault.
    #[inline]
    pub(crate) fn slot(&mut self, place: &Place) -> Option<usize> {
        let mut cell = place.base;
        for index in &place.indices {
            let value = self.evaluate(index.value);
            if value < 0 || value as u32 >= index.length {
                self.fail(FaultKind::Index);
                return None;
            }
            cell += value as u32 * index.stride;
        }
        Some(if place.global { self.arrangement.globals[cell as usize] as usize } else { self.cells + cell as usize })
    }

    pub(crate) fn read_place(&mut self, place: PlaceId) -> i32 {
        let program = self.program;
        let place = &program.places[place as usize];
        match self.slot(place) {
            Some(slot) => place.sort.read(self.row[slot]),
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn write_place(&mut self, place: PlaceId, value: i32) {
        let program = self.program;
        let place = &program.places[place as usize];
        if place.scratch {
            return;
        }
        if let Some(slot) = self.slot(place) {
            self.set(slot, value as u32 & place.sort.mask());
        }
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: ExpressionId) -> i32 {
        match self.program.expressions[expression as usize] {
            Node::Constant(value) => value,
            Node::Global(cell) => self.row[self.arrangement.globals[cell as usize] as usize] as i32,
            Node::Local(cell) => self.row[self.cells + cell as usize] as i32,
            Node::Place(place) => self.read_place(place),
            Node::Not(inner) => i32::from(self.evaluate(inner) == 0),
            Node::Negate(inner) => self.evaluate(inner).wrapping_neg(),
            Node::Complement(inner) => !self.evaluate(inner),
            Node::Binary(Binary::And, left, right) => i32::from(self.evaluate(left) != 0 && self.evaluate(right) != 0),
            Node::Binary(Binary::Or, left, right) => i32::from(self.evaluate(left) != 0 || self.evaluate(right) != 0),
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left), self.evaluate(right));
                match binary(operator, left, right) {
                    Some(value) => value,
                    None => {
                        self.fail(FaultKind::Division);
                        0
                    }
                }
            }
            Node::Conditional(condition, yes, no) => {
                if self.evaluate(condition) != 0 {
                    self.evaluate(yes)
                } else {
                    self.evaluate(no)
                }
            }
            Node::Timeout => i32::from(self.timeout),
            Node::Pid => self.actor as i32,
            Node::ProcessCount => self.count() as i32,
            other => self.evaluate_rare(other),
        }
    }

    fn evaluate_rare(&mut self, node: Node) -> i32 {
        match node {
            Node::Run(run) => {
                let program = self.program;
                let run = &program.runs[run as usize];
                let arguments: Vec<i32> = run.arguments.iter().map(|&argument| self.evaluate(argument)).collect();
                self.create(run.process, &arguments, run.priority)
            }
            Node::Length(channel) => self.length_of(channel).map_or(0, |(length, _)| length),
            Node::Full(channel) => self.is_full(channel),
            Node::NotFull(channel) => 1 - self.is_full(channel),
            Node::Empty(channel) => self.length_of(channel).map_or(1, |(length, _)| i32::from(length == 0)),
            Node::NotEmpty(channel) => self.length_of(channel).map_or(0, |(length, _)| i32::from(length > 0)),
            Node::Poll(poll) => {
                let program = self.program;
                let poll = &program.polls[poll as usize];
                let Some(queue) = self.channel(poll.channel) else { return 0 };
                if queue.capacity == 0 {
                    self.fail(FaultKind::Poll);
                    return 0;
                }
                let length = self.row[queue.slot as usize];
                let looked = if poll.random { length } else { length.min(1) };
                for message in 0..looked {
                    let mut fits = true;
                    for (field, wanted) in poll.fields.iter().enumerate() {
                        if let Some(wanted) = wanted {
                            fits &= self.evaluate(*wanted) == self.field(&queue, message, field);
                        }
                    }
                    if fits {
                        return 1;
                    }
                }
                0
            }
            Node::Last => self.arrangement.last.map_or(0, |slot| self.row[slot as usize] as i32),
            Node::ProgramCounter(process) => {
                let process = self.evaluate(process);
                self.living(process).map_or(0, |position| self.row[self.control_slot(position)] as i32)
            }
            Node::Priority(process) => {
                let process = self.evaluate(process);
                self.living(process).map_or(0, |position| self.priority_of(position))
            }
            Node::OwnPriority => self.priority_of(self.actor),
            Node::Enabled(process) => {
                let process = self.evaluate(process);
                i32::from(self.is_enabled(process))
            }
            Node::Remote(remote) => self.remote(remote),
            _ => 0,
        }
    }

    pub(super) fn living(&self, process: i32) -> Option<usize> {
        usize::try_from(process).ok().filter(|&position| position < self.count())
    }

    pub(crate) fn priority_of(&self, position: usize) -> i32 {
        if !self.arrangement.priority {
            return 1;
        }
        self.row[self.control_slot(position) + 1] as i32
    }

    fn remote(&mut self, remote: u32) -> i32 {
        let program = self.program;
        let remote = &program.remotes[remote as usize];
        let found = match remote.index {
            Some(index) => {
                let process = self.evaluate(index);
                self.living(process)
            }
            None => (0..self.count()).find(|&position| self.type_at(position) == remote.process),
        };
        // Nothing is left of a process that is gone: it is at no label, and its variables are 0.
        let Some(position) = found else { return 0 };
        if self.type_at(position) != remote.process {
            if let RemoteTarget::Place(_) = remote.target {
                self.fail(FaultKind::Remote);
            }
            return 0;
        }
        match remote.target {
            RemoteTarget::Label(state) => i32::from(self.row[self.control_slot(position)] == state),
            RemoteTarget::Place(place) => {
                let (actor, process, cells) = (self.actor, self.process, self.cells);
                let place = &program.places[place as usize];
                // Indices are the asker's, the cells are the other's.
                let mut cell = place.base;
                for index in &place.indices {
                    let value = self.evaluate(index.value);
                    if value < 0 || value as u32 >= index.length {
                        self.fail(FaultKind::Index);
                        return 0;
                    }
                    cell += value as u32 * index.stride;
                }
                self.act(position);
                let value = place.sort.read(self.row[self.cells + cell as usize]);
                (self.actor, self.process, self.cells) = (actor, process, cells);
                value
            }
        }
    }

    /// The channel that an expression names; nothing if its process has ended, and a fault if it never existed.
    #[inline]
    pub(crate) fn channel(&mut self, expression: ExpressionId) -> Option<Queue> {
        let number = self.evaluate(expression);
        let found = self.queue(number);
        if found.is_none() && number <= 0 {
            self.fail(FaultKind::NoChannel);
        }
        found
    }

    /// The channel with a number, when it is there.
    #[inline]
    pub(crate) fn queue(&self, number: i32) -> Option<Queue> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        if let Some(fixed) = &self.arrangement.fixed {
            let queue = *fixed.get(index)?;
            return match queue.position {
                Some(position) if usize::from(position) >= self.count() => None,
                _ => Some(queue),
            };
        }
        if let Some(queue) = self.arrangement.queues.get(index) {
            return Some(*queue);
        }
        let mut rest = index - self.arrangement.queues.len();
        for position in 0..self.count() {
            let process = self.type_at(position);
            let own = self.arrangement.shapes[usize::from(process)].queues.len();
            if rest < own {
                return self.arrangement.queues_at(position, process).nth(rest);
            }
            rest -= own;
        }
        None
    }

    pub(crate) fn fields(&self, queue: &Queue) -> usize {
        self.arrangement.kinds[queue.kind as usize].fields.len()
    }

    pub(crate) fn field_slot(&self, queue: &Queue, message: u32, field: usize) -> usize {
        queue.slot as usize + 1 + message as usize * self.fields(queue) + field
    }

    /// A field of a message that is in a channel.
    pub(crate) fn field(&self, queue: &Queue, message: u32, field: usize) -> i32 {
        let Some(&sort) = self.arrangement.kinds[queue.kind as usize].fields.get(field) else { return 0 };
        sort.read(self.row[self.field_slot(queue, message, field)])
    }

    /// The length of a channel; a message on its way counts.
    fn length_of(&mut self, channel: ExpressionId) -> Option<(i32, Queue)> {
        let queue = self.channel(channel)?;
        if queue.capacity == 0 {
            let waiting = self.handshake.as_ref().is_some_and(|handshake| handshake.queue == queue);
            return Some((i32::from(waiting), queue));
        }
        Some((self.row[queue.slot as usize] as i32, queue))
    }

    fn is_full(&mut self, channel: ExpressionId) -> i32 {
        let Some((length, queue)) = self.length_of(channel) else {
            self.fail(FaultKind::GoneChannel);
            return 0;
        };
        i32::from(length >= queue.capacity.max(1) as i32)
    }

    /// Creates a process; its number.
    pub(crate) fn create(&mut self, process: ProcessTypeId, arguments: &[i32], priority: u8) -> i32 {
        let position = self.count();
        if position >= crate::compile::MOST_PROCESSES {
            self.fail(FaultKind::TooManyProcesses);
            return 0;
        }
        let types = self.arrangement.positions.get(position).map(|place| &place.types[..]).unwrap_or_default();
        let Some(index) = types.iter().position(|&known| known == process) else {
            self.wanted.get_or_insert((position as u8, process));
            return 0;
        };
        let program = self.program;
        let compiled = &program.processes[usize::from(process)];
        let channels = compiled.frame.channels.len();
        if channels > 0 && self.channels_below(position) + channels > crate::compile::MOST_CHANNELS {
            self.fail(FaultKind::TooManyChannels);
            return 0;
        }
        let base = self.arrangement.positions[position].base as usize;
        self.set(COUNT, position as u32 + 1);
        self.set(base, index as u32);
        self.set(base + 1, compiled.start);
        if self.arrangement.priority {
            self.set(base + 2, u32::from(priority));
        }
        let kept = (self.actor, self.process, self.cells);
        self.act(position);
        for (cell, &argument) in arguments.iter().enumerate() {
            let sort = compiled.frame.cells[cell].sort;
            let slot = self.cells + cell;
            self.set(slot, argument as u32 & sort.mask());
        }
        let mut channels = None;
        for initial in &compiled.frame.initial {
            match initial {
                Initialiser::Value { cell, value } => {
                    let sort: Sort = compiled.frame.cells[*cell as usize].sort;
                    let value = self.evaluate(*value) as u32 & sort.mask();
                    let slot = self.cells + *cell as usize;
                    self.set(slot, value);
                }
                Initialiser::Channel { cell, channel } => {
                    let before = *channels.get_or_insert_with(|| self.channels_below(position));
                    let slot = self.cells + *cell as usize;
                    self.set(slot, (before as u32 + channel + 1) & Sort::Channel.mask());
                }
            }
        }
        (self.actor, self.process, self.cells) = kept;
        position as i32
    }

    /// How many channels there are below the process at a position.
    fn channels_below(&self, position: usize) -> usize {
        let own = |position| self.arrangement.shapes[usize::from(self.type_at(position))].queues.len();
        self.arrangement.queues.len() + (0..position).map(own).sum::<usize>()
    }

    /// Removes the youngest process.
    pub(crate) fn remove(&mut self, position: usize) {
        let place = &self.arrangement.positions[position];
        let (base, width) = (place.base as usize, place.width as usize);
        for slot in base..base + width {
            self.set(slot, 0);
        }
        self.set(COUNT, position as u32);
    }

    /// Lets a process act, if it may.
    pub(super) fn may_act(&mut self, position: usize) -> bool {
        self.act(position);
        let program = self.program;
        if let Some(provided) = program.processes[usize::from(self.process)].provided
            && self.evaluate(provided) == 0
        {
            return false;
        }
        !self.arrangement.priority || self.has_priority(position)
    }
}
