//! A `trace` or `notrace` declaration: the events of an automaton that watches.
//!
//! The next state of the automaton depends on the channel, the direction and constants in the message. A symmetry moves
//! none of its states, so it must map the events of each state to events of that state with the same target. Events are
//! tried in order. The order is irrelevant if at most one can match, which holds when their channels always differ, and
//! if all lead to one state.

use super::Reason;
use super::classes::{Inference, Typed};
use super::terms::{Builder, Misfit, Term};
use crate::program::{Action, EventTrace, ExpressionId, Node, Pattern, Program};
use crate::walk::{expressions_of, visit};
use trefoil_source::Span;

/// An event that an automaton waits for.
pub(super) struct Event {
    pub(super) term: Term,
    pub(super) target: u32,
    /// Events of one block can be tried in any order.
    pub(super) block: u32,
}

/// An automaton that watches.
pub(super) struct Watched {
    pub(super) states: Vec<Vec<Event>>,
    pub(super) span: Span,
}

/// Does a trace declaration use what only a process has?
pub(super) fn needs_process(program: &Program, trace: &EventTrace) -> bool {
    let mut found = false;
    for transition in trace.automaton.transitions.iter().flatten() {
        for root in expressions_of(program, &transition.action) {
            visit(program, root, &mut |_, node| {
                found |= !matches!(node, Node::Constant(_) | Node::Global(_) | Node::Binary(..) | Node::Negate(_));
            });
        }
    }
    found
}

impl Inference<'_, '_> {
    /// What a trace declaration waits for: constants in messages are looked at, and nothing else.
    pub(super) fn event(&mut self, action: &Action) {
        let program = self.program;
        let (channel, values): (_, Vec<Option<ExpressionId>>) = match action {
            Action::Send(send) => {
                let is_constant =
                    |value: ExpressionId| matches!(program.expressions[value as usize], Node::Constant(_));
                (send.channel, send.arguments.iter().map(|&value| is_constant(value).then_some(value)).collect())
            }
            Action::Receive(receive) => {
                let matched = |field: &Pattern| if let Pattern::Match(value) = field { Some(*value) } else { None };
                (receive.channel, receive.fields.iter().map(matched).collect())
            }
            _ => return,
        };
        let channel = self.channel(channel);
        let fields: Vec<Typed> =
            values.into_iter().map(|value| value.map_or(Typed::Constant(0), |value| self.value(value))).collect();
        self.message(channel, &fields);
    }
}

impl Builder<'_> {
    /// The events of a trace declaration, as terms.
    pub(super) fn watched(&mut self, trace: &EventTrace) -> Result<Watched, Reason> {
        let span = trace.automaton.span;
        self.span = span;
        let automaton = &trace.automaton;
        let mut reached = vec![false; automaton.transitions.len()];
        let mut work = vec![automaton.start];
        while let Some(state) = work.pop() {
            if !std::mem::replace(&mut reached[state as usize], true) {
                work.extend(automaton.transitions[state as usize].iter().map(|transition| transition.target));
            }
        }
        let mut states = Vec::new();
        // Which channels it looks at counts as well, and be it where it never comes.
        let mut looked: Vec<(Vec<u32>, Event)> = Vec::new();
        for transition in automaton.transitions.iter().flatten() {
            let (channel, sends) = match &*transition.action {
                Action::Send(send) => (send.channel, true),
                Action::Receive(receive) => (receive.channel, false),
                _ => continue,
            };
            let (channel, _) = self.channel(channel).map_err(|Misfit(why)| Reason::at(Some(span), why))?;
            let term = self.node(&[63, i64::from(sends)], vec![channel]);
            let mut words = Vec::new();
            term.write(None, &mut words);
            if looked.iter().all(|(known, _)| *known != words) {
                looked.push((words, Event { term, target: 0, block: 0 }));
            }
        }
        states.push(looked.into_iter().map(|(_, event)| event).collect());
        for transitions in
            automaton.transitions.iter().zip(&reached).filter_map(|(all, reached)| reached.then_some(all))
        {
            let mut channels: Vec<Option<u32>> = Vec::new();
            let mut events: Vec<Event> = Vec::new();
            for transition in transitions {
                let channel = match &*transition.action {
                    Action::Send(send) => Some(send.channel),
                    Action::Receive(receive) => Some(receive.channel),
                    Action::Skip | Action::Else => None,
                    _ => continue,
                };
                let channel = channel.map(|channel| self.program.expressions[channel as usize]);
                channels.push(match channel {
                    Some(Node::Global(cell)) if self.constants.is_channel_for_good(cell) => Some(cell),
                    _ => None,
                });
                let term = self.event(&transition.action).map_err(|Misfit(why)| Reason::at(Some(span), why))?;
                events.push(Event { term, target: transition.target, block: 0 });
            }
            let one_target = events.windows(2).all(|two| two[0].target == two[1].target);
            let mut known: Vec<u32> = channels.iter().flatten().copied().collect();
            known.sort_unstable();
            known.dedup();
            if !one_target && known.len() < events.len() {
                (0..).zip(&mut events).for_each(|(at, event)| event.block = at);
            }
            states.push(events);
        }
        Ok(Watched { states, span })
    }

    fn event(&mut self, action: &Action) -> Result<Term, Misfit> {
        let (channel, sends, wanted): (_, _, Vec<_>) = match action {
            Action::Send(send) => {
                let constant =
                    |value: u32| matches!(self.program.expressions[value as usize], Node::Constant(_)).then_some(value);
                (send.channel, true, send.arguments.iter().map(|&value| constant(value)).collect())
            }
            Action::Receive(receive) => {
                let matched = |field: &Pattern| if let Pattern::Match(value) = field { Some(*value) } else { None };
                (receive.channel, false, receive.fields.iter().map(matched).collect())
            }
            _ => return Ok(self.node(&[60], Vec::new())),
        };
        let (channel, fields) = self.channel(channel)?;
        let mut below = vec![channel];
        for (at, value) in wanted.into_iter().enumerate() {
            below.push(match value {
                Some(value) => self.field(value, fields.get(at).copied())?,
                None => self.node(&[61], Vec::new()),
            });
        }
        Ok(self.node(&[62, i64::from(sends)], below))
    }
}
