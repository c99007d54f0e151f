//! Saturation: everything that relations reach, from the bottom up.
//!
//! After G. Ciardo, R. Marmorstein, R. Siminiceanu, *The saturation algorithm for symbolic state-space exploration*,
//! 2006, in the form of T. van Dijk and J. van de Pol (see [`crate::sets`]). Relations are sorted by the first slot
//! that they touch. A set is saturated at a slot when everything below is saturated for the relations that begin
//! further down, and one application of each relation that begins here adds nothing. Small diagrams near the bottom
//! reach their fixpoint before the slots above multiply them, and every saturated part is in the cache.
//!
//! What is saturated depends on the relations, so each call has a number, which is an operand in the cache.

use crate::table::{EMPTY, NodeId};
use crate::worker::operation::SATURATE;
use crate::worker::{Item, Outcome, Worker};

/// A relation as saturation uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saturating {
    /// The first slot that it touches.
    pub(crate) top: u32,
    pub(crate) rows: NodeId,
    /// Its shape from that slot on.
    pub(crate) shape: NodeId,
}

/// The relations of a call, ascending by their first slot.
#[derive(Debug, Default)]
pub(crate) struct Saturation {
    pub(crate) number: u32,
    pub(crate) relations: Vec<Saturating>,
}

impl Worker {
    /// What the relations from `from` on reach from a set whose first slot is `depth`.
    pub(crate) fn saturate(&mut self, mut set: NodeId, from: u32, depth: u32) -> Outcome {
        let Some(&Saturating { top, .. }) = self.saturation.relations.get(from as usize) else { return Ok(set) };
        if set == EMPTY {
            return Ok(EMPTY);
        }
        self.poll()?;
        let number = self.saturation.number;
        let operands = |set| [set, from, number, 0];
        if depth == top {
            if let Some(known) = self.known(SATURATE, operands(set)) {
                return Ok(known);
            }
            let later = &self.saturation.relations[from as usize..];
            let next = from + later.iter().take_while(|relation| relation.top == top).count() as u32;
            let mut all = set;
            self.keep(all);
            self.keep(all);
            loop {
                // What was there before stays a root until the comparison: its number must not go to another node.
                let before = all;
                self.exchange(1, before);
                all = self.saturate(all, next, depth)?;
                self.exchange(0, all);
                for at in from..next {
                    let relation = self.saturation.relations[at as usize];
                    let step = self.image(all, relation.rows, relation.shape)?;
                    self.keep(step);
                    all = self.union(all, step)?;
                    self.release(1);
                    self.exchange(0, all);
                }
                if all == before {
                    break;
                }
            }
            self.release(2);
            self.learn(SATURATE, operands(set), all);
            return Ok(all);
        }
        let base = self.base();
        let tail = loop {
            if set == EMPTY {
                break EMPTY;
            }
            if let Some(known) = self.known(SATURATE, operands(set)) {
                break known;
            }
            let node = self.node(set);
            self.push(Item::new(operands(set), Some(node.key), SATURATE, [node.down, from, depth + 1, 0, 0]));
            set = node.right;
        };
        self.unwind(SATURATE, base, tail)
    }
}
