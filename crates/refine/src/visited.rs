//! Which pairs of a specification set and an implementation state were seen.
//!
//! [`Antichain`] keeps, for every implementation state, sets that are pairwise incomparable: a pair is *in* it when it
//! keeps a smaller or equal one, and inserting a pair evicts the larger ones. Almost every state has one set, which
//! costs 4 bytes a state and no indirection; the others have a list. [`Everything`] keeps all pairs, for the classical
//! algorithms.

use std::collections::HashSet;

use trefoil_control::{Control, Stopped};
use trefoil_lts::{LazyNormalForm, NodeId};

/// Pairs that were seen.
pub(crate) trait Visited {
    /// Inserts a pair unless it is in; returns whether it was inserted, and how many others were evicted.
    fn insert(
        &mut self,
        normal_form: &LazyNormalForm,
        state: u32,
        node: NodeId,
        control: &Control,
    ) -> Result<Insertion, Stopped>;

    /// Is exactly this pair still kept? Only called for pairs that were inserted.
    fn keeps(&self, state: u32, node: NodeId) -> bool;
}

/// What an insertion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// Nothing: the pair was in.
    Hit,
    /// The pair is in now, and this many others no longer.
    Inserted(u32),
}

const EMPTY: u32 = u32::MAX;
const LIST: u32 = 1 << 31;

/// Pairwise incomparable pairs.
pub(crate) struct Antichain {
    /// By implementation state: nothing, the number of a node, or with the topmost bit the number of a list.
    heads: Vec<u32>,
    lists: Vec<Vec<NodeId>>,
}

impl Antichain {
    pub(crate) fn new(states: usize, control: &Control) -> Result<Antichain, Stopped> {
        control.afford(states * size_of::<u32>())?;
        Ok(Antichain { heads: vec![EMPTY; states], lists: Vec::new() })
    }
}

impl Visited for Antichain {
    #[inline]
    fn insert(
        &mut self,
        normal_form: &LazyNormalForm,
        state: u32,
        node: NodeId,
        control: &Control,
    ) -> Result<Insertion, Stopped> {
        if node.0 >= LIST || self.lists.len() >= (EMPTY & !LIST) as usize {
            return Err(control.out_of_numbers());
        }
        let place = state as usize;
        if place >= self.heads.len() {
            if place >= self.heads.capacity() {
                control.afford(self.heads.len() * 2 * size_of::<u32>())?;
            }
            self.heads.resize(place + 1, EMPTY);
        }
        let head = self.heads[place];
        if head == node.0 {
            return Ok(Insertion::Hit);
        }
        if head == EMPTY {
            self.heads[place] = node.0;
            return Ok(Insertion::Inserted(0));
        }
        if head & LIST == 0 {
            let kept = NodeId(head);
            if normal_form.is_inside(kept, node) {
                return Ok(Insertion::Hit);
            }
            if normal_form.is_inside(node, kept) {
                self.heads[place] = node.0;
                return Ok(Insertion::Inserted(1));
            }
            self.heads[place] = LIST | self.lists.len() as u32;
            self.lists.push(vec![kept, node]);
            return Ok(Insertion::Inserted(0));
        }
        let list = &mut self.lists[(head & !LIST) as usize];
        if list.contains(&node) || list.iter().any(|&kept| normal_form.is_inside(kept, node)) {
            return Ok(Insertion::Hit);
        }
        let before = list.len();
        list.retain(|&kept| !normal_form.is_inside(node, kept));
        let evicted = (before - list.len()) as u32;
        list.push(node);
        Ok(Insertion::Inserted(evicted))
    }

    #[inline]
    fn keeps(&self, state: u32, node: NodeId) -> bool {
        let head = self.heads[state as usize];
        head == node.0 || (head != EMPTY && head & LIST != 0 && self.lists[(head & !LIST) as usize].contains(&node))
    }
}

/// All pairs.
#[derive(Default)]
pub(crate) struct Everything {
    pairs: HashSet<u64, foldhash::fast::FixedState>,
}

impl Visited for Everything {
    fn insert(
        &mut self,
        _normal_form: &LazyNormalForm,
        state: u32,
        node: NodeId,
        control: &Control,
    ) -> Result<Insertion, Stopped> {
        if self.pairs.len() == self.pairs.capacity() {
            control.afford(self.pairs.len() * 2 * 9)?;
        }
        let fresh = self.pairs.insert(u64::from(node.0) << 32 | u64::from(state));
        Ok(if fresh { Insertion::Inserted(0) } else { Insertion::Hit })
    }

    fn keeps(&self, _state: u32, _node: NodeId) -> bool {
        true
    }
}
