//! Saturation: everything that relations reach, from the bottom up.
//!
//! After G. Ciardo, R. Marmorstein, R. Siminiceanu, *The saturation algorithm for symbolic state-space exploration*,
//! 2006, in the form of T. van Dijk and J. van de Pol (see [`crate::sets`]). There relations are sorted by the first
//! slot that they touch, and a set is saturated when its parts below are saturated and it is closed under the
//! relations that begin at its slot. Small diagrams near the bottom reach their fixpoint before the slots above
//! multiply them, and everything that was saturated is in the cache.
//!
//! # Programs
//!
//! A pair of a relation works in the first slot whose value it *changes*. It leaves the slots before that as they are,
//! so rows that differ there are independent of each other: below a value of a slot that the relation only reads, it
//! is what follows that value. So what a set is to be closed under, a *program*, is a list of relations that depends
//! on the values above the set. Below a key, a program becomes another one: relations that do not touch the slot stay;
//! those that read it shrink to what follows the key; pairs that copy a value, or write the one that was there, go
//! down with the key as well; and what changes the slot works in this slot and is not needed further down. Programs
//! are numbered, equal ones once ([`Programs`]), and the number is an operand in the cache. A program is made when a
//! worker meets it.
//!
//! In models whose relations begin with a guard on some slot near the top, or may write many slots and mostly do not,
//! most work then happens far below these slots. The cost: a set that stands below different values may be saturated
//! once for each program that these values lead to.
//!
//! # Lines
//!
//! A list that is being closed lies open as *lines*, a key and the part below it; only the closed list becomes nodes.
//! In a turn each relation that works here is applied to the lines that grew in the turn before, and to those that an
//! earlier relation let grow in this one. What a relation leads to is added to the lines as it is; at the end of the
//! turn every line that grew is saturated, once. Ciardo's algorithm saturates each image by itself before it is added:
//! on some of Sylvan's models that needs twice as many steps, because images overlap.
//!
//! # Numbers
//!
//! A program is a list of pairs, the rows of a relation and its shape from a slot on, by their nodes. They mean the
//! same as long as these nodes live, so [`Programs`] keeps the relations of past saturations alive with the programs,
//! and forgets all of them together when they become many. What is saturated is then known from one saturation to the
//! next wherever the relations did not change.

use std::collections::HashMap;
use std::sync::Arc;

use crate::image::{READ, SKIP, WRITE};
use crate::pool::Set;
use crate::relation::Relation;
use crate::sync::locked;
use crate::table::{COPIED, EMPTY, NodeId, UNIT, value_of};
use crate::worker::operation::{BELOW, IMAGE, SATURATE};
use crate::worker::{Halted, Item, Outcome, Worker};

/// The rows of a relation and its shape, from a slot on.
type Part = (NodeId, NodeId);

/// The program without relations.
pub(crate) const NOTHING: u32 = 0;

/// All programs, by their numbers.
#[derive(Default)]
pub(crate) struct Programs {
    numbers: HashMap<Arc<[Part]>, u32, foldhash::fast::FixedState>,
    parts: Vec<Arc<[Part]>>,
    /// The number of the first program in `parts`: numbers are never used again.
    first: u32,
    /// What keeps the nodes of programs alive.
    held: Vec<Set>,
}

/// So many relations of the past are kept alive, or so many times as the present ones have.
const MOST_HELD: usize = 64;

impl Programs {
    /// The program of relations.
    pub(crate) fn of(&mut self, relations: &[Relation]) -> u32 {
        if self.first == 0 || self.held.len() > MOST_HELD.max(16 * relations.len()) {
            self.first += self.parts.len() as u32 + 1;
            self.parts.clear();
            self.numbers.clear();
            self.held.clear();
        }
        self.held.extend(relations.iter().flat_map(|relation| [relation.rows.clone(), relation.shape.clone()]));
        self.number(relations.iter().map(|relation| (relation.rows.id, relation.shape.id)).collect())
    }

    fn number(&mut self, mut parts: Vec<Part>) -> u32 {
        // A relation whose slots are behind it changes nothing any more.
        parts.retain(|&(_, shape)| shape != UNIT);
        parts.sort_unstable();
        parts.dedup();
        if parts.is_empty() {
            return NOTHING;
        }
        let parts: Arc<[Part]> = parts.into();
        let next = self.first + self.parts.len() as u32;
        let number = *self.numbers.entry(parts.clone()).or_insert(next);
        if number == next {
            self.parts.push(parts);
        }
        number
    }
}

/// A program as it works in its first slot.
#[derive(Debug)]
pub(crate) struct Program {
    /// The relations that change the slot.
    here: Vec<Changing>,
    /// What stays below every key, and the program of that: below a key that no relation reads.
    stay: Vec<Part>,
    other: u32,
    /// What comes to it below a key, ascending.
    read: Vec<(u64, Part)>,
}

/// A relation that changes its first slot.
#[derive(Debug)]
struct Changing {
    /// The shape behind the slot.
    next: NodeId,
    /// For keys before and after what follows, ascending; [`ANY`] stands for every key before.
    rows: Vec<(u64, u64, NodeId)>,
}

/// Every key: what is written does not depend on it.
const ANY: u64 = 0;

/// A key of a list that is being closed, and what is below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    key: u64,
    pub(crate) below: NodeId,
    state: State,
}

/// What a line waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: every relation was applied to it.
    Idle,
    /// To be applied in this turn.
    Due,
    /// It grew in this turn.
    Grown,
    /// It came in this turn.
    New,
}

impl Worker {
    /// A program as it works in its first slot.
    fn program(&mut self, number: u32) -> Arc<Program> {
        if let Some(known) = self.programs.get(&number) {
            return known.clone();
        }
        let shared = self.shared.clone();
        let mut programs = locked(&shared.programs);
        if self.first_program < programs.first {
            self.first_program = programs.first;
            self.programs.clear();
            self.programs_below.clear();
        }
        let parts = programs.parts[(number - programs.first) as usize].clone();
        let mut here = Vec::new();
        let mut stay: Vec<Part> = Vec::new();
        let mut read: Vec<(u64, Part)> = Vec::new();
        for &(rows, shape) in parts.iter() {
            let slot = self.node(shape);
            let (kind, next) = (value_of(slot.key), slot.down);
            if kind == SKIP {
                stay.push((rows, next));
                continue;
            }
            let mut changing = Vec::new();
            for (key, down) in self.list(rows) {
                match kind {
                    READ => read.push((key, (down, next))),
                    WRITE if key == COPIED => stay.push((down, next)),
                    WRITE => {
                        read.push((key, (down, next)));
                        changing.push((ANY, key, down));
                    }
                    _ => {
                        for (to, down) in self.list(down) {
                            match to == COPIED || to == key {
                                true => read.push((key, (down, next))),
                                false => changing.push((key, to, down)),
                            }
                        }
                    }
                }
            }
            if !changing.is_empty() {
                // Relations with one shape from here on are applied together.
                match here.iter_mut().find(|known: &&mut Changing| known.next == next) {
                    Some(known) => known.rows.append(&mut changing),
                    None => here.push(Changing { next, rows: changing }),
                }
            }
        }
        here.iter_mut().for_each(|changing| changing.rows.sort_unstable());
        read.sort_unstable();
        let other = programs.number(stay.clone());
        let program = Arc::new(Program { here, stay, other, read });
        self.programs.insert(number, program.clone());
        program
    }

    /// The program below a key of a program's first slot.
    fn program_below(&mut self, number: u32, program: &Program, key: u64) -> u32 {
        let from = program.read.partition_point(|&(read, _)| read < key);
        let read = program.read[from..].iter().take_while(|&&(read, _)| read == key).map(|&(_, part)| part);
        if read.clone().next().is_none() {
            return program.other;
        }
        if let Some(&known) = self.programs_below.get(&(number, key)) {
            return known;
        }
        let below = locked(&self.shared.programs).number(program.stay.iter().copied().chain(read).collect());
        self.programs_below.insert((number, key), below);
        below
    }

    /// The keys of a list, and what follows each.
    fn list(&self, mut id: NodeId) -> Vec<(u64, NodeId)> {
        let mut list = Vec::new();
        while id != EMPTY {
            let node = self.node(id);
            list.push((node.key, node.down));
            id = node.right;
        }
        list
    }

    /// What a program reaches from a set.
    pub(crate) fn saturate(&mut self, set: NodeId, number: u32) -> Outcome {
        if set <= UNIT || number == NOTHING {
            return Ok(set);
        }
        self.poll()?;
        if let Some(known) = self.known(SATURATE, [set, number, 0, 0]) {
            return Ok(known);
        }
        let program = self.program(number);
        let operation = if program.here.is_empty() { SATURATE } else { BELOW };
        let mut saturated = self.saturate_below(set, number, operation, &program)?;
        if !program.here.is_empty() {
            saturated = self.close(saturated, number, &program)?;
            self.learn(SATURATE, [set, number, 0, 0], saturated);
        }
        self.learn(SATURATE, [saturated, number, 0, 0], saturated);
        Ok(saturated)
    }

    /// The list with the parts below saturated.
    fn saturate_below(&mut self, mut list: NodeId, number: u32, operation: u8, program: &Program) -> Outcome {
        let base = self.base();
        let tail = loop {
            if list == EMPTY {
                break EMPTY;
            }
            let of = [list, number, 0, 0];
            if let Some(known) = self.known(operation, of) {
                break known;
            }
            let node = self.node(list);
            let below = self.program_below(number, program, node.key);
            self.push(Item::new(of, Some(node.key), SATURATE, [node.down, below, 0, 0, 0]));
            list = node.right;
        };
        self.unwind(operation, base, tail)
    }

    /// The least saturated set above a list whose parts below are saturated.
    fn close(&mut self, list: NodeId, number: u32, program: &Program) -> Outcome {
        self.keep(list);
        let base = self.lines.len();
        let mut id = list;
        while id != EMPTY {
            let node = self.node(id);
            self.lines.push(Line { key: node.key, below: node.down, state: State::Due });
            id = node.right;
        }
        let mut grew = false;
        loop {
            let mut grew_now = false;
            for relation in &program.here {
                grew_now |= self.apply(relation, base)?;
            }
            if !grew_now {
                break;
            }
            grew = true;
            self.end_turn(base, number, program)?;
        }
        let mut closed = list;
        if grew {
            closed = EMPTY;
            while self.lines.len() > base {
                let Line { key, below, .. } = self.lines[self.lines.len() - 1];
                closed = self.make(key, below, closed)?;
                self.lines.pop();
            }
        }
        self.lines.truncate(base);
        self.release(1);
        Ok(closed)
    }

    /// Applies a relation to the lines that are due; whether a line grew.
    fn apply(&mut self, relation: &Changing, base: usize) -> Result<bool, Halted> {
        let items = self.base();
        for at in base..self.lines.len() {
            let Line { key, below, state } = self.lines[at];
            if state == State::Idle || state == State::New {
                continue;
            }
            for from in [ANY, key] {
                let first = relation.rows.partition_point(|row| row.0 < from);
                for &(_, to, down) in relation.rows[first..].iter().take_while(|row| row.0 == from) {
                    // A pair that writes what was there works below.
                    if to != key {
                        self.push(Item::new([0; 4], Some(to), IMAGE, [below, down, relation.next, 0, 0]));
                    }
                }
            }
        }
        let mut grew = false;
        let mut kept = 0;
        while let Some((key, new)) = self.solved(items)? {
            if new == EMPTY {
                continue;
            }
            match self.lines[base..].binary_search_by_key(&key, |line| line.key) {
                Ok(found) => {
                    let Line { below: before, state, .. } = self.lines[base + found];
                    self.keep(new);
                    let all = self.union(before, new)?;
                    self.release(1);
                    if all == before {
                        continue;
                    }
                    // Items that were not solved yet may need what the line was.
                    self.keep(before);
                    kept += 1;
                    let state = if state == State::New { State::New } else { State::Grown };
                    self.lines[base + found] = Line { key, below: all, state };
                }
                Err(place) => self.lines.insert(base + place, Line { key, below: new, state: State::New }),
            }
            grew = true;
        }
        self.release(kept);
        Ok(grew)
    }

    /// Saturates the lines that grew, which are due in the next turn.
    fn end_turn(&mut self, base: usize, number: u32, program: &Program) -> Result<(), Halted> {
        let items = self.base();
        for at in base..self.lines.len() {
            let Line { key, below, state } = self.lines[at];
            if state == State::Due || state == State::Idle {
                self.lines[at].state = State::Idle;
                continue;
            }
            self.lines[at].state = State::Due;
            let next = self.program_below(number, program, key);
            self.push(Item::new([0; 4], Some(key), SATURATE, [below, next, 0, 0, 0]));
        }
        while let Some((key, below)) = self.solved(items)? {
            let Ok(found) = self.lines[base..].binary_search_by_key(&key, |line| line.key) else {
                unreachable!("lines stay")
            };
            self.lines[base + found].below = below;
        }
        Ok(())
    }
}
