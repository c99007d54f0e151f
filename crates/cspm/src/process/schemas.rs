//! Schemas: the steps of all states of a shape at once.
//!
//! A [shape](super::shapes) is made a term with *open* values ([`crate::eval`]), and the firing rules of that term are
//! found as those of any other. What does not depend on the values is then true of every state of the shape: a step has
//! a label, or a family of labels ([`super::families`]) that the row completes, and a target, which is a shape and for
//! each value of the next row the place of the row it is copied from, a value, or a computation. Where a value decides
//! (a guard, a pattern, the set of an input), evaluation asks for it; then the shape *reads* this value, and has a
//! schema for each value that it has there.
//!
//! # Invariants
//!
//! The steps of a state by its schema are the steps of its term, in the same order. So a component has the same states
//! in the same order, whether their steps are found by schemas or one by one. A mistake of evaluation is never reported
//! from here: a state whose steps cannot be completed is explored one by one and makes its mistakes there.
//!
//! A schema is made when a shape was explored one by one [`ONE_BY_ONE`] times, so a process that goes wrong, or has a
//! new shape in every state, costs no extra work. A shape gives up schemas when all its values are read, or when most
//! schemas serve one state only.
//!
//! # Cost
//!
//! A schema costs what the steps of one state cost, and once more for each value that is read. A step by a schema
//! costs the length of a row.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use trefoil_system::LabelId;

use super::Compiler;
use super::families::family_of;
use super::shapes::{NoShape, ShapeId, Source};
use super::terms::TermId;
use crate::eval::{Failure, Reason, Result, Value};

/// How many states of a shape are explored one by one before it gets a schema.
const ONE_BY_ONE: u32 = 2;

/// So many schemas of one shape must have served as many states again.
const ON_TRIAL: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SchemaId(u32);

/// Steps that belong together: those of a piece of a row.
pub(super) struct Piece {
    /// Labels or families, and numbers of targets.
    pub(super) steps: Vec<(LabelId, u32)>,
    /// The places of the row that these steps depend on.
    pub(super) reads: Box<[u32]>,
    /// Its term, when nothing in it depends on the row.
    pub(super) term: Option<TermId>,
}

pub(super) struct Target {
    pub(super) shape: ShapeId,
    pub(super) row: Box<[Source]>,
}

pub(super) struct Schema {
    pub(super) pieces: Vec<Piece>,
    pub(super) targets: Vec<Target>,
}

/// What is known of a shape's schemas.
#[derive(Default)]
struct Known {
    explored: u32,
    /// Places of the row that are read.
    reads: Vec<u32>,
    schemas: HashMap<Box<[u32]>, SchemaId, FixedState>,
    served: u32,
    has_given_up: bool,
}

#[derive(Default)]
pub(super) struct Schemas {
    all: Vec<std::rc::Rc<Schema>>,
    /// By shape.
    known: Vec<Known>,
}

impl Schemas {
    pub(super) fn get(&self, id: SchemaId) -> std::rc::Rc<Schema> {
        self.all[id.0 as usize].clone()
    }
}

impl Compiler {
    /// How many schemas were made.
    pub fn schemas(&self) -> usize {
        self.schemas.all.len()
    }

    /// The schema for a state; none when it is to be explored one by one.
    pub(super) fn schema(&mut self, shape: ShapeId, row: &[u32]) -> Result<Option<SchemaId>> {
        let at = shape.0 as usize;
        if self.schemas.known.len() <= at {
            self.schemas.known.resize_with(at + 1, Known::default);
        }
        let values = self.shapes.get(shape).values;
        loop {
            let known = &mut self.schemas.known[at];
            if known.has_given_up || values == 0 {
                return Ok(None);
            }
            let key: Box<[u32]> = known.reads.iter().map(|&place| row[place as usize]).collect();
            if let Some(&schema) = known.schemas.get(&key) {
                known.served += 1;
                return Ok(Some(schema));
            }
            if known.explored < ONE_BY_ONE {
                known.explored += 1;
                return Ok(None);
            }
            let made = known.schemas.len() as u32;
            if made >= ON_TRIAL && known.served < made {
                known.has_given_up = true;
                known.schemas = HashMap::default();
                return Ok(None);
            }
            let reads = known.reads.clone();
            match self.find_schema(shape, row, &reads) {
                Ok(schema) => {
                    let id = SchemaId(self.schemas.all.len() as u32);
                    self.schemas.all.push(std::rc::Rc::new(schema));
                    self.schemas.known[at].schemas.insert(key, id);
                    return Ok(Some(id));
                }
                Err(NoShape::Failure(failure)) => match (failure.needs(), failure.reason()) {
                    (None, Reason::Stopped(_)) => return Err(failure),
                    (Some(place), _) if !reads.contains(&place) && (place as usize) < values => {
                        let known = &mut self.schemas.known[at];
                        known.reads.push(place);
                        known.has_given_up = known.reads.len() == values;
                    }
                    _ => self.schemas.known[at].has_given_up = true,
                },
                Err(NoShape::Deep) => self.schemas.known[at].has_given_up = true,
            }
        }
    }

    fn find_schema(&mut self, shape: ShapeId, row: &[u32], reads: &[u32]) -> std::result::Result<Schema, NoShape> {
        let before = self.evaluator.open();
        let found = self.open_steps(shape, row, reads);
        self.evaluator.close(&before);
        found
    }

    fn open_steps(&mut self, shape: ShapeId, row: &[u32], reads: &[u32]) -> std::result::Result<Schema, NoShape> {
        let term = self.with_values(shape, &|compiler, place| match reads.contains(&(place as u32)) {
            true => compiler.events.data.get(row[place]).clone(),
            false => Value::open(place as u32),
        })?;
        let mut schema = Schema { pieces: Vec::new(), targets: Vec::new() };
        let mut by_term: HashMap<TermId, u32, FixedState> = HashMap::default();
        let mut by_target: HashMap<(ShapeId, Vec<Source>), u32, FixedState> = HashMap::default();
        for piece in self.pieces(term)? {
            let steps = self.steps(piece)?;
            let mut found = Vec::with_capacity(steps.len());
            let mut read = Vec::new();
            for step in steps.iter() {
                self.control.check().map_err(Failure::from)?;
                if let Some(family) = family_of(step.label) {
                    read.extend(self.events.families.reads(family));
                }
                let target = match by_term.get(&step.target) {
                    Some(&known) => known,
                    None => {
                        let (shape, row) = self.shape_of(step.target, true)?;
                        let next = schema.targets.len() as u32;
                        let number = *by_target.entry((shape, row.clone())).or_insert(next);
                        if number == next {
                            schema.targets.push(Target { shape, row: row.into() });
                        }
                        by_term.insert(step.target, number);
                        number
                    }
                };
                for source in &schema.targets[target as usize].row {
                    match *source {
                        Source::Value(_) => {}
                        Source::Copied(place) => read.push(place),
                        Source::Computed(number) => read.extend(self.shapes.computation(number).reads()),
                    }
                }
                if read.len() > 1 << 10 {
                    read.sort_unstable();
                    read.dedup();
                }
                found.push((step.label, target));
            }
            read.sort_unstable();
            read.dedup();
            let term = read.is_empty().then_some(piece);
            schema.pieces.push(Piece { steps: found, reads: read.into(), term });
        }
        Ok(schema)
    }
}
