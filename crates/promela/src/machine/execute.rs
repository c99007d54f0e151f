//! Statements: whether one can be executed, and what it does.

use crate::compile::OVER;
use crate::indivisible_run::{Before, IndivisibleRun};

use super::arrangement::Queue;
use super::fault::FaultKind;
use super::machine::{Halt, Handshake, Machine};
use super::moves::{Act, Channel, Field, IndivisibleAct, InnerStep, ReceiveAct, SendAct};
use super::terms::TermId;

impl Machine<'_> {
    /// Executes an act of the process that acts; `passed` says that a move before it passed. When it cannot be
    /// executed, nothing is changed but what the log knows.
    #[inline]
    pub(crate) fn execute(&mut self, act: &Act, passed: bool) -> bool {
        if self.handshake.is_some() {
            return match act {
                Act::Receive(receive) => self.take_handshake(receive),
                Act::Indivisible(body) => self.indivisible(body, passed),
                _ => false,
            };
        }
        match act {
            Act::Condition(condition) => self.holds(*condition),
            Act::Assign(target, value) => {
                let value = self.evaluate(*value);
                self.write(*target, value);
                true
            }
            Act::Else => !passed,
            Act::Skip => true,
            Act::Send(send) => self.send(send),
            Act::Receive(receive) => self.receive(receive),
            Act::Assert(condition) => {
                if self.evaluate(*condition) == 0 {
                    self.fail(FaultKind::Assertion);
                }
                true
            }
            Act::Indivisible(body) => self.indivisible(body, passed),
            Act::End => {
                let last = self.actor + 1 == self.count() && !self.arrangement.keeps_processes;
                if last {
                    self.remove(self.actor);
                }
                last
            }
            Act::SetPriority(process, priority) => {
                let (process, priority) = (self.evaluate(*process), self.evaluate(*priority));
                if let Some(position) = usize::try_from(process).ok().filter(|&position| position < self.count())
                    && self.arrangement.priority
                {
                    let slot = self.control_slot(position) + 1;
                    self.set(slot, priority as u32 & 255);
                }
                true
            }
        }
    }

    /// The channel of a statement, when there is one.
    #[inline]
    fn addressed(&mut self, channel: Channel) -> Option<Queue> {
        match channel {
            Channel::Known(_, queue) => Some(queue),
            Channel::Named(term) => {
                let number = self.evaluate(term);
                self.queue(number)
            }
        }
    }

    /// A send to what is no channel, or no longer one.
    #[cold]
    fn no_channel_to_send(&mut self, channel: Channel) -> bool {
        if self.no_channel_to_receive(channel) {
            return true;
        }
        self.fail(FaultKind::GoneChannel);
        true
    }

    /// A receive from what is no channel; nothing ever comes from one that went with its process.
    #[cold]
    fn no_channel_to_receive(&mut self, channel: Channel) -> bool {
        let Channel::Named(term) = channel else { return false };
        if self.evaluate(term) > 0 {
            return self.fault_now();
        }
        self.fail(FaultKind::NoChannel);
        true
    }

    /// Does a condition let its process go on?
    #[inline]
    pub(super) fn holds(&mut self, condition: TermId) -> bool {
        self.evaluate(condition) != 0 || self.fault_now()
    }

    /// A fault while a guard is evaluated is a step that shows it.
    #[inline]
    fn fault_now(&self) -> bool {
        self.fault.is_some_and(|fault| !fault.goes_on())
    }

    fn send(&mut self, send: &SendAct) -> bool {
        let Some(queue) = self.addressed(send.channel) else {
            return self.no_channel_to_send(send.channel);
        };
        let arrangement = self.arrangement;
        let sorts = &arrangement.kinds[queue.kind as usize].fields[..];
        let length = if queue.capacity == 0 { 0 } else { self.row[queue.slot as usize] };
        if queue.capacity > 0 && length == queue.capacity {
            return false;
        }
        let same_length = sorts.len() == send.arguments.len();
        if !same_length {
            self.fail(FaultKind::Fields);
        }
        if queue.capacity > 0 && !send.sorted && arrangement.event.is_none() && same_length && !self.records {
            // No argument can look at the channel while it is half written: a message counts when the length says so,
            // and what is behind the length is never read.
            let first = self.field_slot(&queue, length, 0);
            for (field, (argument, sort)) in send.arguments.iter().zip(sorts).enumerate() {
                let value = self.evaluate(*argument);
                self.set(first + field, value as u32 & sort.mask());
            }
            self.set(queue.slot as usize, length + 1);
            return true;
        }
        let mut message = std::mem::take(&mut self.scratch);
        message.clear();
        for (argument, sort) in send.arguments.iter().zip(sorts) {
            let value = self.evaluate(*argument);
            message.push(value as u32 & sort.mask());
        }
        message.resize(sorts.len(), 0);
        if self.arrangement.event.is_some() {
            self.message = message.iter().zip(sorts).map(|(&value, sort)| sort.read(value)).collect();
        }
        if queue.capacity == 0 {
            let from = self.messages.len() as u32;
            self.messages.extend_from_slice(&message);
            self.handshake = Some(Handshake { queue, message: from });
            self.scratch = message;
            if self.records {
                self.record_channel(&queue, false);
            }
            return true;
        }
        if self.records {
            self.messages.extend_from_slice(&message);
            self.record_channel(&queue, false);
        }
        let mut place = length;
        if send.sorted {
            // Behind all messages that are not larger.
            place = (0..length)
                .find(|&other| {
                    let mut order = std::cmp::Ordering::Equal;
                    for (field, &value) in message.iter().enumerate() {
                        order = order.then(sorts[field].read(value).cmp(&self.field(&queue, other, field)));
                    }
                    order.is_lt()
                })
                .unwrap_or(length);
            for other in (place..length).rev() {
                for field in 0..sorts.len() {
                    let from = self.field_slot(&queue, other, field);
                    let value = self.row[from];
                    self.set(from + sorts.len(), value);
                }
            }
        }
        for (field, &value) in message.iter().enumerate() {
            let slot = self.field_slot(&queue, place, field);
            self.set(slot, value);
        }
        self.set(queue.slot as usize, length + 1);
        self.scratch = message;
        true
    }

    fn receive(&mut self, receive: &ReceiveAct) -> bool {
        let Some(queue) = self.addressed(receive.channel) else {
            return self.no_channel_to_receive(receive.channel);
        };
        if queue.capacity == 0 {
            if receive.copy {
                self.fail(FaultKind::Poll);
            }
            return receive.copy;
        }
        let length = self.row[queue.slot as usize];
        if length == 0 {
            return false;
        }
        let fields = queue.fields as usize;
        if fields < receive.fields.len() {
            self.fail(FaultKind::MissingFields);
            return true;
        }
        let looked = if receive.random { length } else { 1 };
        let Some(message) = (0..looked).find(|&message| self.fits(receive, &queue, message)) else {
            return self.fault_now();
        };
        if self.arrangement.event.is_some() {
            self.message = (0..fields).map(|field| self.field(&queue, message, field)).collect();
        }
        if self.records && !receive.copy {
            for field in 0..fields {
                self.messages.push(self.row[self.field_slot(&queue, message, field)]);
            }
            self.record_channel(&queue, true);
        }
        if fields > receive.fields.len() && !receive.copy {
            self.fail(FaultKind::Fields);
        }
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Field::Store(target) = pattern {
                let value = self.field(&queue, message, field);
                self.write(*target, value);
            }
        }
        if !receive.copy {
            for other in message..length - 1 {
                for field in 0..fields {
                    let slot = self.field_slot(&queue, other, field);
                    let value = self.row[slot + fields];
                    self.set(slot, value);
                }
            }
            for field in 0..fields {
                let slot = self.field_slot(&queue, length - 1, field);
                self.set(slot, 0);
            }
            self.set(queue.slot as usize, length - 1);
        }
        true
    }

    fn fits(&mut self, receive: &ReceiveAct, queue: &Queue, message: u32) -> bool {
        receive.fields.iter().enumerate().all(|(field, pattern)| match pattern {
            Field::Store(_) => true,
            Field::Match(value) => self.evaluate(*value) == self.field(queue, message, field),
        })
    }

    /// Takes the message that is on its way.
    fn take_handshake(&mut self, receive: &ReceiveAct) -> bool {
        let addressed = self.addressed(receive.channel);
        let Some(handshake) = self.handshake else { return false };
        if addressed != Some(handshake.queue) || receive.copy {
            return false;
        }
        self.handshake = None;
        let arrangement = self.arrangement;
        let sorts = &arrangement.kinds[handshake.queue.kind as usize].fields;
        if sorts.len() < receive.fields.len() {
            self.fail(FaultKind::MissingFields);
            return true;
        }
        let value_of =
            |machine: &Self, field: usize| sorts[field].read(machine.messages[handshake.message as usize + field]);
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Field::Match(value) = pattern
                && self.evaluate(*value) != value_of(self, field)
            {
                self.handshake = Some(handshake);
                return false;
            }
        }
        if self.arrangement.event.is_some() {
            self.message = (0..sorts.len()).map(|field| value_of(self, field)).collect();
        }
        if sorts.len() > receive.fields.len() {
            self.fail(FaultKind::Fields);
        }
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Field::Store(target) = pattern {
                let value = value_of(self, field);
                self.write(*target, value);
            }
        }
        true
    }

    /// Could the act be executed now?
    pub(super) fn can(&mut self, act: &Act, passed: bool) -> bool {
        let (mark, fault, handshake, messages) = (self.log.len(), self.fault, self.handshake, self.messages.len());
        let able = self.execute(act, passed);
        self.undo(mark);
        self.fault = fault;
        self.handshake = handshake;
        self.messages.truncate(messages);
        able
    }

    fn indivisible(&mut self, body: &IndivisibleAct, passed: bool) -> bool {
        match &body.guards {
            None if self.handshake.is_some() => return false,
            Some(guards) if !guards.iter().any(|guard| self.can(guard, passed)) => return false,
            None | Some(_) => {}
        }
        let mut at = body.start;
        let mut run = IndivisibleRun::new(self.log.len());
        while at != OVER {
            match run.before_step(at, &self.row, &mut self.log) {
                Before::Nothing => {}
                Before::Poll => {
                    if self.control.is_some_and(|control| control.check().is_err()) {
                        self.halt = Some(Halt::Stopped);
                        return false;
                    }
                }
                Before::Repeats => {
                    self.fail(FaultKind::Endless);
                    return true;
                }
            }
            match &body.steps[at as usize] {
                InnerStep::Do { act, next } => {
                    if !self.execute_inside(act) {
                        self.fail(FaultKind::Blocked);
                        return true;
                    }
                    at = *next;
                }
                InnerStep::Choose(options) => {
                    let mut chosen = None;
                    for &option in options {
                        match body.steps.get(option as usize) {
                            Some(InnerStep::Do { act, next }) => {
                                if self.execute_inside(act) {
                                    chosen = Some(*next);
                                    break;
                                }
                            }
                            _ => {
                                chosen = Some(option);
                                break;
                            }
                        }
                    }
                    match chosen {
                        Some(next) => at = next,
                        None => {
                            self.fail(FaultKind::Blocked);
                            return true;
                        }
                    }
                }
            }
            if self.fault_now() {
                return true;
            }
        }
        true
    }

    fn execute_inside(&mut self, act: &Act) -> bool {
        let done = self.execute(act, false);
        if done && matches!(act, Act::Send(_)) && self.handshake.is_some() {
            self.handshake = None;
            self.fail(FaultKind::Rendezvous);
        }
        done
    }
}
