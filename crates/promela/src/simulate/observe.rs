//! Statements that depend on other processes: a `trace`, and priorities.
//!
//! A `trace` is an automaton over the sends and receives on the channels that it names; it ignores events on other
//! channels. An event without a transition violates the trace. A `notrace` is violated when its automaton reaches its
//! end; the first event without a transition switches it off.

use crate::machine::FaultKind;
use crate::program::{Action, EventTrace, Node, Pattern};

use super::interpreter::Interpreter;

impl Interpreter<'_> {
    /// Is no process with a higher priority enabled?
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

    /// Is another process enabled now?
    pub(super) fn is_enabled(&mut self, process: i32) -> bool {
        if process == self.actor as i32 || self.asking >= self.count() {
            self.fail(FaultKind::Enabled);
            return false;
        }
        let Some(other) = self.living(process) else { return false };
        let asker = self.actor;
        let program = self.program;
        self.act(other);
        self.asking += 1;
        let control = self.row[self.control_slot(other)] as usize;
        let mut passed = false;
        for transition in &program.processes[usize::from(self.process)].transitions[control] {
            passed |= self.can(&transition.action, passed);
        }
        self.asking -= 1;
        self.act(asker);
        passed
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
        let message = std::mem::take(&mut self.message);
        let verdict = self.observe_event(trace, slot as usize, number, sends, &message);
        self.message = message;
        verdict
    }

    fn observe_event(
        &mut self,
        trace: &EventTrace,
        slot: usize,
        number: i32,
        sends: bool,
        message: &[i32],
    ) -> Option<FaultKind> {
        let automaton = &trace.automaton;
        if !automaton.transitions.iter().flatten().any(|transition| self.concerns(&transition.action, number, sends)) {
            return None;
        }
        let end = automaton.transitions.len() as u32 - 1;
        let state = self.row[slot];
        if state != end {
            for transition in &automaton.transitions[state as usize] {
                if !self.matches(&transition.action, number, sends, message) {
                    continue;
                }
                self.set(slot, transition.target);
                return (trace.forbidden && transition.target == end).then_some(FaultKind::Trace);
            }
        }
        if trace.forbidden {
            // Only the first try counts.
            self.set(slot, end);
            return None;
        }
        Some(FaultKind::Trace)
    }

    /// Is this an event of the channel, in this direction?
    fn concerns(&mut self, action: &Action, number: i32, sends: bool) -> bool {
        match action {
            Action::Send(send) => sends && self.evaluate(send.channel) == number,
            Action::Receive(receive) => !sends && self.evaluate(receive.channel) == number,
            _ => false,
        }
    }

    /// Constants and what stands in `eval` must be equal; variables say nothing.
    fn matches(&mut self, action: &Action, number: i32, sends: bool, message: &[i32]) -> bool {
        let program = self.program;
        let wanted = |interpreter: &mut Self, fields: &mut dyn Iterator<Item = Option<u32>>| {
            fields.enumerate().all(|(field, wanted)| {
                wanted
                    .is_none_or(|wanted| message.get(field).is_some_and(|&value| value == interpreter.evaluate(wanted)))
            })
        };
        match action {
            Action::Send(send) => {
                let constant = |&argument: &u32| {
                    matches!(program.expressions[argument as usize], Node::Constant(_)).then_some(argument)
                };
                self.concerns(action, number, sends) && wanted(self, &mut send.arguments.iter().map(constant))
            }
            Action::Receive(receive) => {
                let value = |pattern: &Pattern| if let Pattern::Match(value) = pattern { Some(*value) } else { None };
                self.concerns(action, number, sends) && wanted(self, &mut receive.fields.iter().map(value))
            }
            Action::Skip | Action::Else => true,
            _ => false,
        }
    }
}
