//! The priorities of fixpoints and of repetitions, and which fixpoints are free in a part.

use std::collections::BTreeSet;
use std::rc::Rc;

use trefoil_control::Stopped;

use super::super::super::tree::{Connective, Fixpoint};
use super::super::super::typed::{FixpointId, Part, PartId};
use super::{Builder, Key, KeyId, union};
use crate::solve::Player;

impl Builder<'_> {
    /// The priority of a fixpoint or of a repetition.
    pub(super) fn priority(&mut self, key: KeyId) -> Result<u32, Stopped> {
        if let Some(&known) = self.priorities.get(&key) {
            return Ok(known);
        }
        self.control.check()?;
        let priority = stacker::maybe_grow(64 * 1024, 1024 * 1024, || -> Result<u32, Stopped> {
            let (floor, greatest) = match *self.at(key) {
                Key::Fixpoint(fixpoint, negated) => {
                    let kind = self.formula.fixpoint(fixpoint).kind;
                    let floor = self.part_floor(self.fixpoint_parts[&fixpoint].0, negated)?;
                    (floor, (kind == Fixpoint::Greatest) != negated)
                }
                Key::Star(player, _, after) => (self.floor(after)?, player == Player::Odd),
                _ => unreachable!("only fixpoints and repetitions have priorities of their own"),
            };
            let floor = floor.unwrap_or(0);
            Ok(if floor.is_multiple_of(2) == greatest { floor } else { floor + 1 })
        })?;
        self.priorities.insert(key, priority);
        Ok(priority)
    }

    /// The largest priority of the fixpoints that are free in what a key stands for.
    pub(super) fn floor(&mut self, mut key: KeyId) -> Result<Option<u32>, Stopped> {
        loop {
            match *self.at(key) {
                Key::Part(part, negated) => return self.part_floor(part, negated),
                Key::Fixpoint(..) | Key::Star(..) => return Ok(Some(self.priority(key)?)),
                Key::Steps(_, _, after) | Key::Chosen(.., after) => key = after,
                Key::Constant(_) => return Ok(None),
            }
        }
    }

    pub(super) fn part_floor(&mut self, part: PartId, negated: bool) -> Result<Option<u32>, Stopped> {
        let free = self.free_fixpoints(part)?;
        let mut most = None;
        for &(outer, below) in free.iter() {
            let outer = self.key(Key::Fixpoint(outer, negated != below));
            most = most.max(Some(self.priority(outer)?));
        }
        Ok(most)
    }

    /// The fixpoint variables of a part that it does not bind.
    pub(super) fn free_fixpoints(&mut self, part: PartId) -> Result<Rc<BTreeSet<(FixpointId, bool)>>, Stopped> {
        if let Some(known) = self.free.get(&part) {
            return Ok(known.clone());
        }
        self.control.check()?;
        let found = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.free_fixpoints_inside(part))?;
        self.free.insert(part, found.clone());
        Ok(found)
    }

    fn free_fixpoints_inside(&mut self, part: PartId) -> Result<Rc<BTreeSet<(FixpointId, bool)>>, Stopped> {
        Ok(match *self.formula.part(part) {
            Part::Constant(_) | Part::Value(_) => Rc::default(),
            Part::Instance(fixpoint, _) => Rc::new(BTreeSet::from([(fixpoint, false)])),
            Part::Quantified(_, _, inside) | Part::Modal(_, _, inside) => self.free_fixpoints(inside)?,
            Part::Not(inside) => negated(&self.free_fixpoints(inside)?),
            Part::Infix(connective, left, right) => {
                let (left, right) = (self.free_fixpoints(left)?, self.free_fixpoints(right)?);
                let left = if connective == Connective::Implies { negated(&left) } else { left };
                union(&left, &right)
            }
            Part::Fixpoint(fixpoint, inside) => {
                let inside = self.free_fixpoints(inside)?;
                match inside.iter().any(|(known, _)| *known == fixpoint) {
                    true => Rc::new(inside.iter().copied().filter(|(known, _)| *known != fixpoint).collect()),
                    false => inside,
                }
            }
        })
    }
}

/// The same below one more negation.
fn negated(free: &Rc<BTreeSet<(FixpointId, bool)>>) -> Rc<BTreeSet<(FixpointId, bool)>> {
    match free.is_empty() {
        true => free.clone(),
        false => Rc::new(free.iter().map(|&(fixpoint, below)| (fixpoint, !below)).collect()),
    }
}
