//! Operations on sets: union, intersection, difference, projection.
//!
//! After S. Blom and J. van de Pol, *Symbolic reachability for process algebras with recursive data types*, 2008, and
//! T. van Dijk and J. van de Pol, *Sylvan: multi-core framework for decision diagrams*, 2017, but with loops along
//! lists ([`crate::worker`]). Both operands have rows of the same width. Cost: at most the product of the numbers of
//! nodes, as far as the cache remembers.

use crate::table::{EMPTY, NodeId, UNIT};
use crate::worker::operation::{DIFFERENCE, FLATTEN, GIVEN, INTERSECTION, PROJECT, UNION};
use crate::worker::{Item, Outcome, Worker};

/// A slot that a projection drops.
pub(crate) const DROP: u32 = 0;
/// A slot that a projection keeps.
pub(crate) const KEEP: u32 = 1;

impl Worker {
    /// The rows of either set.
    pub(crate) fn union(&mut self, mut a: NodeId, mut b: NodeId) -> Outcome {
        self.poll()?;
        let base = self.base();
        let tail = loop {
            if a == b || b == EMPTY {
                break a;
            }
            if a == EMPTY {
                break b;
            }
            if a > b {
                (a, b) = (b, a);
            }
            let of = [a, b, 0, 0];
            if let Some(known) = self.known(UNION, of) {
                break known;
            }
            let (left, right) = (self.node(a), self.node(b));
            if left.key < right.key {
                self.push(Item::given(of, Some(left.key), left.down));
                a = left.right;
            } else if left.key > right.key {
                self.push(Item::given(of, Some(right.key), right.down));
                b = right.right;
            } else {
                self.push(Item::new(of, Some(left.key), UNION, [left.down, right.down, 0, 0, 0]));
                (a, b) = (left.right, right.right);
            }
        };
        self.unwind(UNION, base, tail)
    }

    /// The rows of both sets.
    pub(crate) fn intersection(&mut self, mut a: NodeId, mut b: NodeId) -> Outcome {
        self.poll()?;
        let base = self.base();
        let tail = loop {
            if a == b {
                break a;
            }
            if a == EMPTY || b == EMPTY {
                break EMPTY;
            }
            let (left, right) = (self.node(a), self.node(b));
            if left.key < right.key {
                a = left.right;
            } else if left.key > right.key {
                b = right.right;
            } else {
                let of = [a.min(b), a.max(b), 0, 0];
                if let Some(known) = self.known(INTERSECTION, of) {
                    break known;
                }
                self.push(Item::new(of, Some(left.key), INTERSECTION, [left.down, right.down, 0, 0, 0]));
                (a, b) = (left.right, right.right);
            }
        };
        self.unwind(INTERSECTION, base, tail)
    }

    /// The rows of the first set that are not in the second.
    pub(crate) fn difference(&mut self, mut a: NodeId, mut b: NodeId) -> Outcome {
        self.poll()?;
        let base = self.base();
        let tail = loop {
            if a == b || a == EMPTY {
                break EMPTY;
            }
            if b == EMPTY {
                break a;
            }
            let (left, right) = (self.node(a), self.node(b));
            if left.key > right.key {
                b = right.right;
                continue;
            }
            let of = [a, b, 0, 0];
            if let Some(known) = self.known(DIFFERENCE, of) {
                break known;
            }
            if left.key < right.key {
                self.push(Item::given(of, Some(left.key), left.down));
                a = left.right;
            } else {
                self.push(Item::new(of, Some(left.key), DIFFERENCE, [left.down, right.down, 0, 0, 0]));
                (a, b) = (left.right, right.right);
            }
        };
        self.unwind(DIFFERENCE, base, tail)
    }

    /// What follows the first slot: the union of all that is below a list.
    pub(crate) fn flatten(&mut self, mut list: NodeId) -> Outcome {
        self.poll()?;
        let base = self.base();
        let tail = loop {
            if list == EMPTY {
                break EMPTY;
            }
            let of = [list, 0, 0, 0];
            if let Some(known) = self.known(FLATTEN, of) {
                break known;
            }
            let node = self.node(list);
            self.push(Item::new(of, None, GIVEN, [node.down, 0, 0, 0, 0]));
            list = node.right;
        };
        self.unwind(FLATTEN, base, tail)
    }

    /// The rows with some slots only. `slots` is a row of [`KEEP`] and [`DROP`]; slots behind its end are dropped.
    pub(crate) fn project(&mut self, mut set: NodeId, slots: NodeId) -> Outcome {
        if set <= UNIT {
            return Ok(set);
        }
        if slots == UNIT {
            return Ok(UNIT);
        }
        self.poll()?;
        let base = self.base();
        let slot = self.node(slots);
        let keeps = slot.key == crate::table::key_of(KEEP);
        let tail = loop {
            if set == EMPTY {
                break EMPTY;
            }
            let of = [set, slots, 0, 0];
            if let Some(known) = self.known(PROJECT, of) {
                break known;
            }
            let node = self.node(set);
            self.push(Item::new(of, keeps.then_some(node.key), PROJECT, [node.down, slot.down, 0, 0, 0]));
            set = node.right;
        };
        self.unwind(PROJECT, base, tail)
    }
}
