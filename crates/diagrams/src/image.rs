//! Relations: the rows that a set leads to, and the rows that lead to a set.
//!
//! A relation is a set of rows of its own. Its *shape* is a row with one value for each slot of the states, up to the
//! last slot that the relation touches: [`SKIP`] (the slot is not touched), [`READ`] (its value is read and stays),
//! [`WRITE`] (a new value, whatever the old one) or [`CHANGE`] (the old value is read and a new one written). A row of
//! the relation has one value for a slot that is read or written and two, old and new, for one that is changed. In
//! place of a new value there may be [`COPIED`]: the slot keeps its value in this row. Groups that *may* write a slot
//! need that, and without it one row for each value that the slot ever had.
//!
//! After the papers at the head of [`crate::sets`]; a written slot of a set is flattened first, so that the rows of the
//! relation meet the union of what is below instead of each value by itself.
//!
//! The predecessors need the set in which they are looked for: what a written slot held before is in no relation.

use crate::table::{COPIED, EMPTY, NodeId, UNIT, key_of, value_of};
use crate::worker::operation::{IMAGE, PREIMAGE, SOURCES, WRITES};
use crate::worker::{Item, Outcome, Worker};

/// The slot is not touched.
pub(crate) const SKIP: u32 = 0;
/// The slot is read, and keeps its value.
pub(crate) const READ: u32 = 1;
/// The slot is written, whatever its value.
pub(crate) const WRITE: u32 = 2;
/// The slot is read and written.
pub(crate) const CHANGE: u32 = 3;

impl Worker {
    /// The rows that the relation leads to from the set.
    pub(crate) fn image(&mut self, mut set: NodeId, mut relation: NodeId, shape: NodeId) -> Outcome {
        if set == EMPTY || relation == EMPTY {
            return Ok(EMPTY);
        }
        if shape == UNIT {
            return Ok(set);
        }
        self.poll()?;
        let slot = self.node(shape);
        let (mut kind, next) = (value_of(slot.key), slot.down);
        let base = self.base();
        let mut copied = relation;
        if kind == WRITE {
            let first = self.node(relation);
            if first.key != COPIED || first.right != EMPTY {
                return self.image_of_writes(set, relation, shape, next);
            }
            // All rows keep the slot.
            (kind, copied) = (SKIP, first.down);
        }
        let tail = loop {
            if set == EMPTY || relation == EMPTY {
                break EMPTY;
            }
            let here = self.node(set);
            let (below, key) = if kind == SKIP {
                ((IMAGE, [here.down, copied, next, 0, 0]), Some(here.key))
            } else {
                let row = self.node(relation);
                if here.key < row.key {
                    set = here.right;
                    continue;
                }
                if here.key > row.key {
                    relation = row.right;
                    continue;
                }
                match kind {
                    READ => ((IMAGE, [here.down, row.down, next, 0, 0]), Some(here.key)),
                    _ => ((WRITES, [here.down, row.down, next, value_of(here.key), 0]), None),
                }
            };
            let of = [set, relation, shape, 0];
            if let Some(known) = self.known(IMAGE, of) {
                break known;
            }
            if kind != SKIP {
                relation = self.node(relation).right;
            }
            self.push(Item::new(of, key, below.0, below.1));
            set = here.right;
        };
        self.unwind(IMAGE, base, tail)
    }

    /// The same where the first slot is written without being read.
    fn image_of_writes(&mut self, set: NodeId, relation: NodeId, shape: NodeId, next: NodeId) -> Outcome {
        let of = [set, relation, shape, 0];
        if let Some(known) = self.known(IMAGE, of) {
            return Ok(known);
        }
        let first = self.node(relation);
        let (copies, writes) = if first.key == COPIED { (first.down, first.right) } else { (EMPTY, relation) };
        let mut result = EMPTY;
        if writes != EMPTY {
            let below = self.flatten(set)?;
            self.keep(below);
            result = self.writes(below, writes, next, 0)?;
            self.release(1);
        }
        if copies != EMPTY {
            self.keep(result);
            let copied = self.copies(set, copies, next)?;
            self.keep(copied);
            result = self.union(result, copied)?;
            self.release(2);
        }
        self.learn(IMAGE, of, result);
        Ok(result)
    }

    /// The rows of the set with the first slot as it is.
    fn copies(&mut self, mut set: NodeId, relation: NodeId, next: NodeId) -> Outcome {
        // The same as an image whose first slot is not touched, but there is no shape for that in the table.
        let mut list = Vec::new();
        while set != EMPTY {
            let here = self.node(set);
            list.push((here.key, here.down));
            set = here.right;
        }
        let mut tail = EMPTY;
        for (key, down) in list.into_iter().rev() {
            self.keep(tail);
            let below = self.image(down, relation, next)?;
            tail = self.make(key, below, tail)?;
            self.release(1);
        }
        Ok(tail)
    }

    /// The new values of a slot with what follows each, where `below` is what followed the old value.
    pub(crate) fn writes(&mut self, below: NodeId, mut list: NodeId, next: NodeId, old: u32) -> Outcome {
        if below == EMPTY || list == EMPTY {
            return Ok(EMPTY);
        }
        self.poll()?;
        let first = self.node(list);
        if first.key == COPIED {
            let written = self.writes(below, first.right, next, 0)?;
            self.keep(written);
            let rest = self.image(below, first.down, next)?;
            let copied = self.make(key_of(old), rest, EMPTY)?;
            self.keep(copied);
            let both = self.union(written, copied)?;
            self.release(2);
            return Ok(both);
        }
        let base = self.base();
        let tail = loop {
            if list == EMPTY {
                break EMPTY;
            }
            let of = [below, list, next, 0];
            if let Some(known) = self.known(WRITES, of) {
                break known;
            }
            let row = self.node(list);
            self.push(Item::new(of, Some(row.key), IMAGE, [below, row.down, next, 0, 0]));
            list = row.right;
        };
        self.unwind(WRITES, base, tail)
    }

    /// The rows of `within` from which the relation leads to the set.
    pub(crate) fn preimage(
        &mut self,
        mut set: NodeId,
        mut relation: NodeId,
        shape: NodeId,
        mut within: NodeId,
    ) -> Outcome {
        if set == EMPTY || relation == EMPTY || within == EMPTY {
            return Ok(EMPTY);
        }
        if shape == UNIT {
            return self.intersection(set, within);
        }
        self.poll()?;
        let slot = self.node(shape);
        let (kind, next) = (value_of(slot.key), slot.down);
        let base = self.base();
        let tail = loop {
            if set == EMPTY || relation == EMPTY || within == EMPTY {
                break EMPTY;
            }
            let source = self.node(within);
            // Brings the lists that must agree to the same key.
            if kind == SKIP || kind == READ {
                let target = self.node(set);
                if target.key < source.key {
                    set = target.right;
                    continue;
                }
                if target.key > source.key {
                    within = source.right;
                    continue;
                }
            }
            if kind == READ || kind == CHANGE {
                let row = self.node(relation);
                if row.key < source.key {
                    relation = row.right;
                    continue;
                }
                if row.key > source.key {
                    within = source.right;
                    continue;
                }
            }
            let of = [set, relation, shape, within];
            if let Some(known) = self.known(PREIMAGE, of) {
                break known;
            }
            let old = value_of(source.key);
            let (operation, operands) = match kind {
                SKIP => (PREIMAGE, [self.node(set).down, relation, next, source.down, 0]),
                READ => (PREIMAGE, [self.node(set).down, self.node(relation).down, next, source.down, 0]),
                WRITE => (SOURCES, [set, relation, next, source.down, old]),
                _ => (SOURCES, [set, self.node(relation).down, next, source.down, old]),
            };
            self.push(Item::new(of, Some(source.key), operation, operands));
            if kind == SKIP || kind == READ {
                set = self.node(set).right;
            }
            if kind == READ || kind == CHANGE {
                relation = self.node(relation).right;
            }
            within = source.right;
        };
        self.unwind(PREIMAGE, base, tail)
    }

    /// What of `within` leads to the set by one of the new values in the list, where the slot held `old`.
    pub(crate) fn sources(
        &mut self,
        mut set: NodeId,
        mut list: NodeId,
        next: NodeId,
        within: NodeId,
        old: u32,
    ) -> Outcome {
        if set == EMPTY || list == EMPTY {
            return Ok(EMPTY);
        }
        self.poll()?;
        let first = self.node(list);
        if first.key == COPIED {
            let written = self.sources(set, first.right, next, within, 0)?;
            let same = self.follow(set, key_of(old));
            self.keep(written);
            let copied = self.preimage(same, first.down, next, within)?;
            self.keep(copied);
            let both = self.union(written, copied)?;
            self.release(2);
            return Ok(both);
        }
        let base = self.base();
        let tail = loop {
            if set == EMPTY || list == EMPTY {
                break EMPTY;
            }
            let (target, row) = (self.node(set), self.node(list));
            if target.key < row.key {
                set = target.right;
                continue;
            }
            if target.key > row.key {
                list = row.right;
                continue;
            }
            let of = [set, list, next, within];
            if let Some(known) = self.known(SOURCES, of) {
                break known;
            }
            self.push(Item::new(of, None, PREIMAGE, [target.down, row.down, next, within, 0]));
            (set, list) = (target.right, row.right);
        };
        self.unwind(SOURCES, base, tail)
    }

    /// What is below a key in a list.
    pub(crate) fn follow(&self, mut list: NodeId, key: u64) -> NodeId {
        while list != EMPTY {
            let node = self.node(list);
            if node.key >= key {
                return if node.key == key { node.down } else { EMPTY };
            }
            list = node.right;
        }
        EMPTY
    }
}
