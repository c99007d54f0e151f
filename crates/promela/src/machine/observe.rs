//! What looks at other processes: a `trace`, and priorities.
//!
//! A `trace` is an automaton over the sends and receives on the channels that it names; events on other channels do not concern it.
//! An event that it has no transition for breaks it; a `notrace` is broken when its end is reached.

use crate::program::{Action, Pattern};

use super::fault::FaultKind;
use super::machine::Machine;

impl Machine<'_> {
    /// Is no process with a higher priority able to do something?
    pub(super) fn has_priority(&mut self, position: usize) -> bool {
        let own = self.priority_of(position);
        let program = self.program;
        for other in 0..self.count() {
            if other == position || self.priority_of(other) <= own {
                continue;
            }
            self.act(other);
            let process = &program.processes[usize::from(self.process)];
            let provided = process.provided;
            if provided.is_some_and(|provided| self.evaluate(provided) == 0) {
                continue;
            }
            let control = self.row[self.control_slot(other)] as usize;
            let mut passed = false;
            for transition in &process.transitions[control] {
                passed |= self.can(&transition.action, passed);
            }
            if passed {
                self.act(position);
                return false;
            }
        }
        self.act(position);
        true
    }

    /// Moves the automaton of a `trace` by a send or receive that has just happened.
    pub(super) fn observe(&mut self, action: &Action) -> Option<FaultKind> {
        let program = self.program;
        let (Some(trace), Some(slot)) = (&program.trace, self.arrangement.event) else { return None };
        let channel = match action {
            Action::Send(send) => send.channel,
            Action::Receive(receive) => receive.channel,
            _ => return None,
        };
        let number = self.evaluate(channel);
        let sends = matches!(action, Action::Send(_));
        let message: Vec<i32> = self.last_message(action, number);
        let state = self.row[slot as usize] as usize;
        let mut concerned = false;
        let automaton = &trace.automaton;
        for (at, transitions) in automaton.transitions.iter().enumerate() {
            for transition in transitions {
                let (of, fields): (_, Vec<Option<_>>) = match &*transition.action {
                    Action::Send(send) if sends => {
                        (send.channel, send.arguments.iter().map(|&argument| Some(argument)).collect())
                    }
                    Action::Receive(receive) if !sends => {
                        let wanted = |pattern: &Pattern| if let Pattern::Match(value) = pattern { Some(*value) } else { None };
                        (receive.channel, receive.fields.iter().map(wanted).collect())
                    }
                    _ => continue,
                };
                if self.evaluate(of) != number {
                    continue;
                }
                concerned = true;
                if at != state {
                    continue;
                }
                let fits = fields.iter().enumerate().all(|(field, wanted)| {
                    wanted.is_none_or(|wanted| message.get(field) == Some(&self.evaluate(wanted)))
                });
                if fits {
                    self.set(slot as usize, transition.target);
                    let ended = transition.target as usize + 1 >= automaton.transitions.len();
                    return (trace.forbidden && ended).then_some(FaultKind::Trace);
                }
            }
        }
        (concerned && !trace.forbidden).then_some(FaultKind::Trace)
    }

    fn last_message(&mut self, _action: &Action, number: i32) -> Vec<i32> {
        if let Some(handshake) = &self.handshake {
            let sorts = &self.arrangement.kinds[handshake.queue.kind as usize].fields;
            return handshake.message.iter().zip(sorts).map(|(&value, sort)| sort.read(value)).collect();
        }
        let Some(queue) = self.queue(number) else { return Vec::new() };
        let length = if queue.capacity == 0 { 0 } else { self.row[queue.slot as usize] };
        if length == 0 {
            return Vec::new();
        }
        (0..self.fields(&queue)).map(|field| self.field(&queue, length - 1, field)).collect()
    }
}
