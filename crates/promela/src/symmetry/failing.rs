//! Which expressions never fail.
//!
//! The operands of `&&` and `||` may be exchanged if their evaluation cannot fail. An index is always inside its array
//! if its value never changes and is small enough. A channel always exists if it is global and its variable is never
//! written. A process that does not exist is at no label.

use super::terms::Builder;
use crate::program::{ExpressionId, Node, RemoteTarget};
use crate::syntax::tree::Binary;

impl Builder<'_> {
    /// Is evaluating this never an error?
    pub(super) fn cannot_fail(&self, expression: ExpressionId) -> bool {
        if self.constants.values(self.kind, expression).is_some() {
            return true;
        }
        let all = |parts: &[ExpressionId]| parts.iter().all(|&part| self.cannot_fail(part));
        match self.program.expressions[expression as usize] {
            Node::Constant(_)
            | Node::Global(_)
            | Node::Local(_)
            | Node::Pid
            | Node::Last
            | Node::Timeout
            | Node::ProcessCount
            | Node::OwnPriority
            | Node::NonProgress
            | Node::Accepting => true,
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
            Node::Remote(remote) => {
                let remote = &self.program.remotes[remote as usize];
                matches!(remote.target, RemoteTarget::Label(_))
                    && remote.index.is_none_or(|index| self.cannot_fail(index))
            }
            Node::ProgramCounter(_) | Node::Run(_) | Node::Enabled(_) => false,
        }
    }

    pub(super) fn stays_below(&self, expression: ExpressionId, length: u32) -> bool {
        let values = self.constants.values(self.kind, expression);
        values.is_some_and(|values| {
            values.iter().all(|&(_, value)| u32::try_from(value).is_ok_and(|value| value < length))
        })
    }

    /// Is it always a channel?
    fn is_channel(&self, expression: ExpressionId) -> bool {
        let values = self.constants.values(self.kind, expression);
        values.is_some_and(|values| values.iter().all(|&(_, value)| self.settled.model.is_global_channel(value)))
    }
}
