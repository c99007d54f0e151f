//! The built-in buffers: `BUFFER(n, S)`, `WEAK_BUFFER(n, full, S)`, `SIGNAL_BUFFER(n, full, empty, S)`.
//!
//! `S` pairs inputs with outputs. A buffer takes inputs while it has room and gives the outputs in the order of their
//! inputs. A full weak buffer can also do `full`, as often as asked; a signal buffer does that too, and `empty` while
//! it is empty.

use std::rc::Rc;

use trefoil_system::LabelId;

use super::codes;
use super::steps::Move;
use super::terms::{Node, TermId};
use super::{Compiler, leaf};
use crate::eval::{Failure, Result, Value};
use crate::rename::Builtin;

/// The number of a buffer's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BufferId(u32);

/// What a buffer does whatever is inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    room: usize,
    pairs: Vec<(LabelId, LabelId)>,
    full: Option<LabelId>,
    empty: Option<LabelId>,
}

impl Compiler {
    /// An empty buffer.
    pub(super) fn buffer(&mut self, kind: Builtin, arguments: &[Value]) -> Result<TermId> {
        let Value::Int(room) = self.evaluator.finish(arguments[0].clone())? else {
            unreachable!("the evaluator has looked at the bound of a buffer");
        };
        let (signals, pairs) = arguments[1..].split_at(arguments.len() - 2);
        let mut labels = Vec::new();
        for signal in signals {
            labels.push(self.event(signal)?);
        }
        let mut ends = Vec::new();
        for pair in self.evaluator.list(&pairs[0])? {
            let Value::Tuple(pair) = pair else { unreachable!("the script was typed") };
            ends.push((self.event(&pair.items[0])?, self.event(&pair.items[1])?));
        }
        let mut used: Vec<LabelId> = ends.iter().flat_map(|&(a, b)| [a, b]).chain(labels.iter().copied()).collect();
        used.sort_unstable();
        if let Some(twice) = used.windows(2).find(|pair| pair[0] == pair[1]) {
            let event = self.labels.get(twice[0]).to_string();
            let message = format!("{event} has several roles in this {}", kind.text());
            return Err(Failure::new(codes::NOT_AN_EVENT, message));
        }
        let buffer =
            Buffer { room: room as usize, pairs: ends, full: labels.first().copied(), empty: labels.get(1).copied() };
        let leaf::Machines { buffers, .. } = &mut self.machines;
        let id = buffers.iter().position(|known| *known == buffer).unwrap_or_else(|| {
            buffers.push(buffer);
            buffers.len() - 1
        });
        Ok(self.terms.intern(Node::Buffer(BufferId(id as u32), [].into())))
    }

    /// What a buffer with these outputs waiting can do.
    pub(super) fn buffer_steps(&mut self, term: TermId, id: BufferId, inside: &Rc<[u32]>) -> Vec<Move> {
        let buffer = self.machines.buffers[id.0 as usize].clone();
        let mut moves = Vec::new();
        if inside.len() < buffer.room {
            for (at, &(input, _)) in buffer.pairs.iter().enumerate() {
                let more = inside.iter().copied().chain([at as u32]).collect();
                moves.push(Move::alone(input, self.terms.intern(Node::Buffer(id, more))));
            }
        } else {
            moves.extend(buffer.full.map(|signal| Move::alone(signal, term)));
        }
        match inside.split_first() {
            Some((&first, rest)) => {
                let target = self.terms.intern(Node::Buffer(id, rest.into()));
                moves.push(Move::alone(buffer.pairs[first as usize].1, target));
            }
            None => moves.extend(buffer.empty.map(|signal| Move::alone(signal, term))),
        }
        moves
    }
}
