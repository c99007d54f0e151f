//! Statements: whether one can be executed, and what it does.

use crate::compile::OVER;
use crate::indivisible_run::{Before, IndivisibleRun};
use crate::machine::FaultKind;
use crate::machine::arrangement::Queue;
use crate::program::{Action, Guard, Indivisible, IndivisibleStep, Pattern, Receive, Send};

use super::interpreter::{Handshake, Interpreter};

impl Interpreter<'_> {
    /// Executes an action of the process that acts; `passed` says that a transition before it passed. When it cannot be
    /// executed, nothing is changed that the log does not know.
    #[inline]
    pub(crate) fn execute(&mut self, action: &Action, passed: bool) -> bool {
        if self.handshake.is_some() {
            return match action {
                Action::Receive(receive) => self.take_handshake(receive),
                Action::Indivisible(body) => self.indivisible(body, passed),
                _ => false,
            };
        }
        match action {
            Action::Skip => true,
            Action::Condition(condition) => self.evaluate(*condition) != 0 || self.fault_now(),
            Action::Else => !passed,
            Action::Assign(place, value) => {
                let value = self.evaluate(*value);
                self.write_place(*place, value);
                true
            }
            Action::Assert(condition) => {
                if self.evaluate(*condition) == 0 {
                    self.fail(FaultKind::Assertion);
                }
                true
            }
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive),
            Action::SetPriority(process, priority) => {
                let (process, priority) = (self.evaluate(*process), self.evaluate(*priority));
                if let Some(position) = usize::try_from(process).ok().filter(|&position| position < self.count())
                    && self.arrangement.priority
                {
                    let slot = self.control_slot(position) + 1;
                    self.set(slot, priority as u32 & 255);
                }
                true
            }
            Action::Indivisible(body) => self.indivisible(body, passed),
            Action::End => {
                let last = self.actor + 1 == self.count();
                if last {
                    self.remove(self.actor);
                }
                last
            }
        }
    }

    /// A fault while a guard is evaluated is a step that shows it.
    fn fault_now(&self) -> bool {
        self.fault.is_some_and(|fault| !fault.goes_on())
    }

    fn send(&mut self, send: &Send) -> bool {
        let number = self.evaluate(send.channel);
        let Some(queue) = self.queue(number) else {
            self.fail(if number > 0 { FaultKind::GoneChannel } else { FaultKind::NoChannel });
            return true;
        };
        let arrangement = self.arrangement;
        let sorts = &arrangement.kinds[queue.kind as usize].fields;
        let length = if queue.capacity == 0 { 0 } else { self.row[queue.slot as usize] };
        if queue.capacity > 0 && length == queue.capacity {
            return false;
        }
        if sorts.len() != send.arguments.len() {
            self.fail(FaultKind::Fields);
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
            self.handshake = Some(Handshake { channel: number, queue, message });
            return true;
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

    fn receive(&mut self, receive: &Receive) -> bool {
        let number = self.evaluate(receive.channel);
        let Some(queue) = self.queue(number) else {
            // Nothing ever comes from a channel that went with its process.
            if number > 0 {
                return self.fault_now();
            }
            self.fail(FaultKind::NoChannel);
            return true;
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
        let fields = self.fields(&queue);
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
        if fields > receive.fields.len() && !receive.copy {
            self.fail(FaultKind::Fields);
        }
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Pattern::Store(place) = pattern {
                let value = self.field(&queue, message, field);
                self.write_place(*place, value);
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

    fn fits(&mut self, receive: &Receive, queue: &Queue, message: u32) -> bool {
        receive.fields.iter().enumerate().all(|(field, pattern)| match pattern {
            Pattern::Store(_) => true,
            Pattern::Match(value) => self.evaluate(*value) == self.field(queue, message, field),
        })
    }

    /// Takes the message that is on its way.
    fn take_handshake(&mut self, receive: &Receive) -> bool {
        let number = self.evaluate(receive.channel);
        let Some(handshake) = self.handshake.take() else { return false };
        let same = self.queue(number) == Some(handshake.queue);
        if !same || receive.copy {
            self.handshake = Some(handshake);
            return false;
        }
        let arrangement = self.arrangement;
        let sorts = &arrangement.kinds[handshake.queue.kind as usize].fields;
        if sorts.len() < receive.fields.len() {
            self.fail(FaultKind::MissingFields);
            return true;
        }
        let value_of = |field: usize| sorts[field].read(handshake.message[field]);
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Pattern::Match(value) = pattern
                && self.evaluate(*value) != value_of(field)
            {
                self.handshake = Some(handshake);
                return false;
            }
        }
        if self.arrangement.event.is_some() {
            self.message = (0..sorts.len()).map(value_of).collect();
        }
        if sorts.len() > receive.fields.len() {
            self.fail(FaultKind::Fields);
        }
        for (field, pattern) in receive.fields.iter().enumerate() {
            if let Pattern::Store(place) = pattern {
                self.write_place(*place, value_of(field));
            }
        }
        true
    }

    /// Could the action be executed now?
    pub(super) fn can(&mut self, action: &Action, passed: bool) -> bool {
        let (mark, fault, handshake) = (self.log.len(), self.fault, self.handshake.clone());
        let able = self.execute(action, passed);
        self.undo(mark);
        self.fault = fault;
        self.handshake = handshake;
        able
    }

    fn indivisible(&mut self, body: &Indivisible, passed: bool) -> bool {
        match &body.guard {
            Guard::Free if self.handshake.is_some() => return false,
            Guard::Free => {}
            Guard::Any(guards) => {
                if !guards.iter().any(|guard| self.can(guard, passed)) {
                    return false;
                }
            }
        }
        let mut at = body.start;
        let mut run = IndivisibleRun::new(self.log.len());
        while at != OVER {
            match run.before_step(at, &self.row, &mut self.log) {
                Before::Nothing => {}
                Before::Poll if self.is_over() => return false,
                Before::Poll => {}
                Before::Repeats => {
                    self.fail(FaultKind::Endless);
                    return true;
                }
            }
            match &body.steps[at as usize] {
                IndivisibleStep::Do { action, next, .. } => {
                    if !self.execute_inside(action) {
                        self.fail(FaultKind::Blocked);
                        return true;
                    }
                    at = *next;
                }
                IndivisibleStep::Choose(options) => {
                    let mut chosen = None;
                    for &option in options {
                        match body.steps.get(option as usize) {
                            Some(IndivisibleStep::Do { action, next, .. }) => {
                                if self.execute_inside(action) {
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

    pub(super) fn execute_inside(&mut self, action: &Action) -> bool {
        let done = self.execute(action, false);
        if done && matches!(action, Action::Send(_)) && self.handshake.is_some() {
            self.handshake = None;
            self.fail(FaultKind::Rendezvous);
        }
        done
    }
}
