//! Which expressions are never an error to evaluate.
//!
//! The operands of `&&` and `||` may change places when evaluating them cannot fail. An index is inside its array for good when its value never changes and
//! is small enough, and a channel is one for good when it is a global one and its variable is never written.

use super::terms::Builder;
use crate::program::{ExpressionId, Node};
use crate::syntax::tree::Binary;

impl Builder<'_> {
    /// Is evaluating this never an error?
    pub(super) fn cannot_fail(&self, expression: ExpressionId) -> bool {
        let all = |parts: &[ExpressionId]| parts.iter().all(|&part| self.cannot_fail(part));
        match self.program.expressions[expression as usize] {
            Node::Constant(_)
            | Node::Global(_)
            | Node::Local(_)
            | Node::Pid
            | Node::Last
            | Node::Timeout
            | Node::ProcessCount
            | Node::OwnPriority => true,
            Node::Place(place) => {
                let place = &self.program.places[place as usize];
                place.indices.iter().all(|index| self.stays_below(index.value, index.length))
            }
            Node::Not(inner) | Node::Negate(inner) | Node::Complement(inner) | Node::Priority(inner) => all(&[inner]),
            Node::Binary(Binary::Divide | Binary::Modulo, ..) => false,
            Node::Binary(_, left, right) => all(&[left, right]),
            Node::Conditional(condition, yes, no) => all(&[condition, yes, no]),
            Node::Length(channel)
            | Node::Full(channel)
            | Node::Empty(channel)
            | Node::NotFull(channel)
            | Node::NotEmpty(channel) => self.is_channel(channel),
            Node::Poll(poll) => {
                let poll = &self.program.polls[poll as usize];
                let fields: Vec<ExpressionId> = poll.fields.iter().flatten().copied().collect();
                self.is_channel(poll.channel) && all(&fields)
            }
            Node::ProgramCounter(_) | Node::Remote(_) | Node::Run(_) | Node::Enabled(_) => false,
        }
    }

    /// The values that an expression has for ever; nothing when that is not known.
    fn constant_values(&self, expression: ExpressionId) -> Option<Vec<i32>> {
        let (row, model) = (self.settled.layers.last()?, &self.settled.model);
        let positions = (0..).zip(&self.settled.types).filter(|(_, kind)| **kind == self.kind).map(|(at, _)| at);
        match self.program.expressions[expression as usize] {
            Node::Constant(value) => Some(vec![value]),
            Node::Pid => Some(positions.map(|position| position as i32).collect()),
            Node::Global(cell) if !self.written[self.items.global(cell) as usize] => {
                let hidden = self.program.globals.cells[cell as usize].hidden;
                (!hidden).then(|| vec![self.settled.globals[cell as usize] as i32])
            }
            Node::Local(cell) if !self.written[self.items.local(self.kind, cell) as usize] => {
                Some(positions.map(|position| model.local_values(row, position)[cell as usize] as i32).collect())
            }
            _ => None,
        }
    }

    fn stays_below(&self, expression: ExpressionId, length: u32) -> bool {
        let values = self.constant_values(expression);
        values.is_some_and(|values| values.iter().all(|&value| u32::try_from(value).is_ok_and(|value| value < length)))
    }

    /// Is it a channel for ever?
    fn is_channel(&self, expression: ExpressionId) -> bool {
        let values = self.constant_values(expression);
        values.is_some_and(|values| values.iter().all(|&value| self.settled.model.is_global_channel(value)))
    }
}
