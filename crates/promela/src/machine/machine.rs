//! One state at work: the machine reads values, executes statements and undoes them.
//!
//! Every write goes to a log, so a statement costs what it changes, and the machine copies no rows. A rendezvous send
//! that waits for its receive is kept beside the row. A fault does not stop the machine: the machine keeps it, reads
//! return 0, and the caller that executes a statement checks it. The machine keeps a halt in the same way; its caller
//! then discards the executed statements.

use trefoil_control::Control as Budget;

use crate::evaluate::binary;
use crate::program::{ProcessType, ProcessTypeId, Program, Sort};
use crate::syntax::tree::Binary;

use super::arrangement::{Arrangement, COUNT, Queue};
use super::fault::FaultKind;
use super::moves::{Code, Start, TypeCode};
use super::terms::{Element, PollTerm, RemoteTerm, RemoteTermTarget, Target, Term, TermId};

/// A message on its way to a rendezvous channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    pub(crate) queue: Queue,
    /// Where the message begins in [`Machine::messages`].
    pub(crate) message: u32,
}

/// Why a machine gives up what it is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Halt {
    /// There is no room for a process of this type at this position.
    NoRoom(u8, ProcessTypeId),
    /// The control says so.
    Stopped,
}

pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) arrangement: &'a Arrangement,
    pub(crate) code: &'a Code,
    /// The row, and hidden cells behind it.
    pub(crate) row: Vec<u32>,
    pub(crate) log: Vec<(u32, u32)>,
    /// The process that acts, and the slot of its first cell.
    pub(crate) actor: usize,
    pub(crate) cells: usize,
    pub(crate) timeout: bool,
    pub(crate) handshake: Option<Handshake>,
    /// Messages of handshakes: of the one that is begun, and below it of those that a walk can come back to. A machine
    /// that records messages has all of them here, each with its channel behind it.
    pub(crate) messages: Vec<u32>,
    /// Does it record messages?
    pub(crate) records: bool,
    pub(crate) fault: Option<FaultKind>,
    /// Why nothing that is done from now on counts.
    pub(crate) halt: Option<Halt>,
    /// What a long statement asks whether it may go on.
    pub(super) control: Option<&'a Budget>,
    hidden: Vec<u32>,
    pub(crate) scratch: Vec<u32>,
    /// How many `enabled` expressions are being evaluated.
    pub(super) asking: usize,
    /// The message that was sent or received last, where a `trace` looks at it.
    pub(crate) message: Vec<i32>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, arrangement: &'a Arrangement) -> Machine<'a> {
        let mut machine = Machine {
            program,
            arrangement,
            code: &arrangement.code,
            row: vec![0; arrangement.width() + arrangement.hidden],
            log: Vec::new(),
            actor: 0,
            cells: 0,
            timeout: false,
            handshake: None,
            messages: Vec::new(),
            records: false,
            fault: None,
            halt: None,
            control: None,
            hidden: vec![0; arrangement.hidden],
            scratch: Vec::new(),
            asking: 0,
            message: Vec::new(),
        };
        machine.start();
        let width = arrangement.width();
        machine.hidden.copy_from_slice(&machine.row[width..]);
        machine
    }

    /// Writes the initial state into the row.
    fn start(&mut self) {
        let code = self.code;
        for start in &code.globals {
            match *start {
                Start::Value(slot, mask, value) => self.row[slot as usize] = self.evaluate(value) as u32 & mask,
                Start::Channel(slot, channel) => self.row[slot as usize] = channel + 1,
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
        self.messages.clear();
        self.fault = None;
        self.timeout = false;
        self.halt = None;
        self.asking = 0;
    }

    /// Writes a slot. An equal value is written, too: a step names the slots that it wrote, whatever was there.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, value: u32) {
        let old = std::mem::replace(&mut self.row[slot], value);
        self.log.push((slot as u32, old));
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

    /// The greatest position of a process that can do anything; -1 when there is none.
    ///
    /// That the slots of a process which is not there are zero tells as much as the number of processes. A move of a
    /// process at another control state than 0 so depends on its own control state alone, and its group need not read
    /// the number ([`super::survey`]).
    #[inline]
    pub(super) fn youngest(&self) -> i32 {
        let (count, mut end) = (self.count(), self.arrangement.positions.len());
        while end > count && self.row[self.control_slot(end - 1)] == 0 {
            end -= 1;
        }
        end as i32 - 1
    }

    /// The type of the process at a position that is in use.
    #[inline]
    pub(crate) fn type_at(&self, position: usize) -> ProcessTypeId {
        let place = &self.arrangement.positions[position];
        if place.types.len() == 1 { place.types[0] } else { place.types[self.row[place.base as usize] as usize] }
    }

    /// The moves of the process at a position in use.
    #[inline]
    pub(crate) fn type_code(&self, position: usize) -> &'a TypeCode {
        match &self.code.positions[position][..] {
            [only] => only,
            types => &types[self.row[self.arrangement.positions[position].base as usize] as usize],
        }
    }

    #[inline]
    pub(crate) fn control_slot(&self, position: usize) -> usize {
        self.arrangement.positions[position].base as usize + 1
    }

    /// Lets a process act, and finds its cells.
    #[inline]
    pub(crate) fn act(&mut self, position: usize) {
        self.actor = position;
        let shape = &self.arrangement.shapes[usize::from(self.type_at(position))];
        self.cells = (self.arrangement.positions[position].base + shape.cells) as usize;
    }

    /// Notes a fault. The first one stays, but a fault that ends the run replaces one that does not.
    pub(crate) fn fail(&mut self, kind: FaultKind) {
        if self.fault.is_none_or(|known| known.goes_on() && !kind.goes_on()) {
            self.fault = Some(kind);
        }
    }

    /// The slot of an element, or a fault.
    #[inline]
    fn slot(&mut self, element: &Element) -> Option<usize> {
        let mut slot = element.base;
        for offset in &element.offsets {
            // Most indices are variables.
            let value = match self.code.terms.terms[offset.value as usize] {
                Term::Slot(slot) => self.row[slot as usize] as i32,
                _ => self.evaluate(offset.value),
            };
            if value < 0 || value as u32 >= offset.length {
                self.fail(FaultKind::Index);
                return None;
            }
            slot += value as u32 * offset.stride;
        }
        Some(slot as usize)
    }

    #[inline]
    pub(crate) fn write(&mut self, target: Target, value: i32) {
        match target {
            Target::Slot(slot, mask) => self.set(slot as usize, value as u32 & mask),
            Target::Nowhere => {}
            Target::Element(element) => {
                let code = self.code;
                let element = &code.terms.elements[element as usize];
                if let Some(slot) = self.slot(element) {
                    self.set(slot, value as u32 & element.sort.mask());
                }
            }
        }
    }

    /// The value of a term.
    pub(crate) fn evaluate(&mut self, term: TermId) -> i32 {
        match self.code.terms.terms[term as usize] {
            Term::Constant(value) => value,
            Term::Slot(slot) => self.row[slot as usize] as i32,
            Term::SlotConstant(operator, slot, value) => {
                let left = self.row[slot as usize] as i32;
                self.binary(operator, left, value)
            }
            Term::SlotSlot(operator, one, other) => {
                let (left, right) = (self.row[one as usize] as i32, self.row[other as usize] as i32);
                self.binary(operator, left, right)
            }
            Term::At { base, slot, length } => {
                let index = self.row[slot as usize];
                if index >= length {
                    self.fail(FaultKind::Index);
                    return 0;
                }
                self.row[(base + index) as usize] as i32
            }
            Term::Short(slot) => Sort::Short.read(self.row[slot as usize]),
            Term::Element(element) => {
                let code = self.code;
                let element = &code.terms.elements[element as usize];
                self.slot(element).map_or(0, |slot| element.sort.read(self.row[slot]))
            }
            Term::Not(inner) => i32::from(self.evaluate(inner) == 0),
            Term::Binary(Binary::And, left, right) => i32::from(self.evaluate(left) != 0 && self.evaluate(right) != 0),
            Term::Binary(Binary::Or, left, right) => i32::from(self.evaluate(left) != 0 || self.evaluate(right) != 0),
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left), self.evaluate(right));
                self.binary(operator, left, right)
            }
            Term::Conditional(condition, yes, no) => {
                if self.evaluate(condition) != 0 {
                    self.evaluate(yes)
                } else {
                    self.evaluate(no)
                }
            }
            Term::Timeout => i32::from(self.timeout),
            Term::ProcessCount => self.count() as i32,
            other => self.evaluate_rare(other),
        }
    }

    #[inline]
    fn binary(&mut self, operator: Binary, left: i32, right: i32) -> i32 {
        match binary(operator, left, right) {
            Some(value) => value,
            None => {
                self.fail(FaultKind::Division);
                0
            }
        }
    }

    fn evaluate_rare(&mut self, term: Term) -> i32 {
        let code = self.code;
        match term {
            Term::Negate(inner) => self.evaluate(inner).wrapping_neg(),
            Term::Complement(inner) => !self.evaluate(inner),
            Term::Run(run) => {
                let run = &code.terms.runs[run as usize];
                let arguments: Vec<i32> = run.arguments.iter().map(|&argument| self.evaluate(argument)).collect();
                self.create(run.process, &arguments, run.priority)
            }
            Term::Length(channel) => self.length_of(channel).map_or(0, |(length, _)| length),
            Term::Full(channel) => self.is_full(channel),
            Term::NotFull(channel) => 1 - self.is_full(channel),
            Term::Empty(channel) => self.length_of(channel).map_or(1, |(length, _)| i32::from(length == 0)),
            Term::NotEmpty(channel) => self.length_of(channel).map_or(0, |(length, _)| i32::from(length > 0)),
            Term::Poll(poll) => self.poll(&code.terms.polls[poll as usize]),
            Term::Last => self.arrangement.last.map_or(0, |slot| self.row[slot as usize] as i32),
            Term::ProgramCounter(process) => {
                let process = self.evaluate(process);
                self.living(process).map_or(0, |position| self.row[self.control_slot(position)] as i32)
            }
            Term::Priority(process) => {
                let process = self.evaluate(process);
                self.living(process).map_or(0, |position| self.priority_of(position))
            }
            Term::OwnPriority => self.priority_of(self.actor),
            Term::Enabled(process) => {
                let process = self.evaluate(process);
                i32::from(self.is_enabled(process))
            }
            Term::Remote(remote) => self.remote(&code.terms.remotes[remote as usize]),
            Term::NonProgress => i32::from(!self.is_one_at(|process| &process.progress)),
            Term::Accepting => i32::from(self.is_one_at(|process| &process.accepting)),
            _ => 0,
        }
    }

    /// Is a process at a control state that is marked so?
    fn is_one_at(&self, marks: fn(&ProcessType) -> &Vec<bool>) -> bool {
        (0..self.count()).any(|position| {
            let control = self.row[self.control_slot(position)];
            marks(&self.program.processes[usize::from(self.type_at(position))])[control as usize]
        })
    }

    fn poll(&mut self, poll: &PollTerm) -> i32 {
        let number = self.evaluate(poll.channel);
        let Some(queue) = self.channel(number) else { return 0 };
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

    pub(super) fn living(&self, process: i32) -> Option<usize> {
        usize::try_from(process).ok().filter(|&position| position < self.count())
    }

    pub(crate) fn priority_of(&self, position: usize) -> i32 {
        if !self.arrangement.priority {
            return 1;
        }
        self.row[self.control_slot(position) + 1] as i32
    }

    fn remote(&mut self, remote: &RemoteTerm) -> i32 {
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
            if let RemoteTermTarget::Cell(_) = remote.target {
                self.fail(FaultKind::Remote);
            }
            return 0;
        }
        match &remote.target {
            RemoteTermTarget::Label(state) => i32::from(self.row[self.control_slot(position)] == *state),
            RemoteTermTarget::Cell(element) => {
                // Indices are the asker's, the cells are the other's.
                let Some(cell) = self.slot(element) else { return 0 };
                let shape = &self.arrangement.shapes[usize::from(remote.process)];
                let cells = (self.arrangement.positions[position].base + shape.cells) as usize;
                element.sort.read(self.row[cells + cell])
            }
        }
    }

    /// The channel with a number; nothing if its process has ended, and a fault if it never existed.
    #[inline]
    fn channel(&mut self, number: i32) -> Option<Queue> {
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

    #[inline]
    pub(crate) fn field_slot(&self, queue: &Queue, message: u32, field: usize) -> usize {
        (queue.slot + 1 + message * queue.fields) as usize + field
    }

    /// A field of a message that is in a channel.
    pub(crate) fn field(&self, queue: &Queue, message: u32, field: usize) -> i32 {
        let Some(&sort) = self.arrangement.kinds[queue.kind as usize].fields.get(field) else { return 0 };
        sort.read(self.row[self.field_slot(queue, message, field)])
    }

    /// The length of a channel; a message on its way counts.
    fn length_of(&mut self, channel: TermId) -> Option<(i32, Queue)> {
        let number = self.evaluate(channel);
        let queue = self.channel(number)?;
        if queue.capacity == 0 {
            let waiting = self.handshake.as_ref().is_some_and(|handshake| handshake.queue == queue);
            return Some((i32::from(waiting), queue));
        }
        Some((self.row[queue.slot as usize] as i32, queue))
    }

    fn is_full(&mut self, channel: TermId) -> i32 {
        match self.length_of(channel) {
            Some((length, queue)) => i32::from(length >= queue.capacity.max(1) as i32),
            None => {
                self.fail(FaultKind::GoneChannel);
                0
            }
        }
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
            self.halt.get_or_insert(Halt::NoRoom(position as u8, process));
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
        let kept = (self.actor, self.cells);
        self.act(position);
        for (cell, &argument) in arguments.iter().enumerate() {
            let sort = compiled.frame.cells[cell].sort;
            let slot = self.cells + cell;
            self.set(slot, argument as u32 & sort.mask());
        }
        let mut channels = None;
        let code = self.code;
        for start in &code.positions[position][index].start {
            match *start {
                Start::Value(slot, mask, value) => {
                    let value = self.evaluate(value) as u32 & mask;
                    self.set(slot as usize, value);
                }
                Start::Channel(slot, channel) => {
                    let before = *channels.get_or_insert_with(|| self.channels_below(position));
                    self.set(slot as usize, (before as u32 + channel + 1) & Sort::Channel.mask());
                }
            }
        }
        (self.actor, self.cells) = kept;
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
}
