//! Statements that depend on other processes: a `trace`, and priorities.
//!
//! A `trace` is an automaton over the sends and receives on the channels that it names; it ignores events on other
//! channels. An event without a transition violates the trace. A `notrace` is violated when its automaton reaches its
//! end; the first event without a transition switches it off.

use super::fault::FaultKind;
use super::machine::Machine;
use super::moves::{Act, Channel, TraceMove};

impl Machine<'_> {
    /// Is no process with a higher priority enabled?
    pub(super) fn has_priority(&mut self, position: usize) -> bool {
        let own = self.priority_of(position);
        for other in 0..self.count() {
            if other == position || self.priority_of(other) <= own {
                continue;
            }
            self.actor = other;
            let process = self.type_code(other);
            if process.provided.is_some_and(|provided| self.evaluate(provided) == 0) {
                continue;
            }
            let control = self.row[self.control_slot(other)];
            let mut passed = false;
            for other in process.moves(control) {
                passed |= self.can(&other.act, passed);
            }
            if passed {
                self.actor = position;
                return false;
            }
        }
        self.actor = position;
        true
    }

    /// Is another process enabled now?
    pub(super) fn is_enabled(&mut self, process: i32) -> bool {
        if usize::try_from(process).is_ok_and(|process| process == self.actor) || self.asking >= self.count() {
            self.fail(FaultKind::Enabled);
            return false;
        }
        let Some(other) = self.living(process) else { return false };
        let asker = std::mem::replace(&mut self.actor, other);
        self.asking += 1;
        let moves = self.type_code(other).moves(self.row[self.control_slot(other)]);
        let mut passed = false;
        for step in moves {
            passed |= self.can(&step.act, passed);
        }
        self.asking -= 1;
        self.actor = asker;
        passed
    }

    /// Moves the automaton of a `trace` by a send or receive that has just happened.
    pub(super) fn observe(&mut self, act: &Act) -> Option<FaultKind> {
        let program = self.program;
        let (Some(trace), Some(slot)) = (&program.trace, self.arrangement.event) else { return None };
        let (channel, sends) = match act {
            Act::Send(send) => (send.channel, true),
            Act::Receive(receive) => (receive.channel, false),
            _ => return None,
        };
        let number = self.number(channel);
        let message = std::mem::take(&mut self.message);
        let verdict = self.observe_event(trace.forbidden, slot as usize, Event { number, sends, message: &message });
        self.message = message;
        verdict
    }

    fn number(&mut self, channel: Channel) -> i32 {
        match channel {
            Channel::Known(number, _) => number,
            Channel::Named(term) => self.evaluate(term),
        }
    }

    fn observe_event(&mut self, forbidden: bool, slot: usize, event: Event<'_>) -> Option<FaultKind> {
        let automaton = &self.code.trace;
        if !automaton.iter().flatten().any(|step| self.concerns(step, &event)) {
            return None;
        }
        let end = automaton.len() as u32 - 1;
        let state = self.row[slot];
        if state != end {
            for step in &automaton[state as usize] {
                if step.event.is_some() && !(self.concerns(step, &event) && self.fits_event(step, &event)) {
                    continue;
                }
                self.set(slot, step.target);
                return (forbidden && step.target == end).then_some(FaultKind::Trace);
            }
        }
        if forbidden {
            // Only the first try counts.
            self.set(slot, end);
            return None;
        }
        Some(FaultKind::Trace)
    }

    /// Is this an event of the channel, in this direction?
    fn concerns(&mut self, step: &TraceMove, event: &Event<'_>) -> bool {
        step.event.is_some_and(|(channel, sends)| sends == event.sends && self.number(channel) == event.number)
    }

    fn fits_event(&mut self, step: &TraceMove, event: &Event<'_>) -> bool {
        step.fields.iter().enumerate().all(|(field, wanted)| {
            wanted.is_none_or(|wanted| event.message.get(field).is_some_and(|&value| value == self.evaluate(wanted)))
        })
    }
}

/// A send or receive that has happened.
struct Event<'a> {
    number: i32,
    sends: bool,
    message: &'a [i32],
}
