//! Shapes: terms without their values.
//!
//! The states of a component are few terms with many values: `SH(e!x!y!z -> SKIP) ; B` is 900 000 states that differ in
//! x, y and z. A *shape* is a term in which every value that a control point captured is left out, and a state is a
//! shape and a row with the numbers of these values, in the order in which the term mentions them. Terms and states
//! with a shape correspond one to one: [`Compiler::shape_of`] takes a term apart, [`Compiler::with_values`] puts it
//! together again. What is left out is data. Processes that were captured are taken apart in turn; functions and local
//! definitions stay, and so do operators with their sets of events. Values are not compared with each other: equal ones
//! at two places are given twice, so that a term has one shape whatever its values are.
//!
//! A shape is written as words, operators before their operands:
//!
//! | words | a term |
//! |---|---|
//! | [`GROUND`], term | a term without values |
//! | [`OPERATOR`], number, operands | an operator with everything but its operands |
//! | [`LEAF`], kind, process | a prefix, an offer of a prefix or what waits |
//!
//! | words | a process, a value |
//! |---|---|
//! | control point, count, values | a process |
//! | [`DATA`] | a value that the row has |
//! | [`ATOM`], number | a value that stays |
//! | [`NESTED`], process | a process |
//!
//! Cost: linear in the term.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use super::Compiler;
use super::events::Key;
use super::expand::deeply;
use super::terms::{Node, TermId};
use crate::eval::{Captured, Computation, ControlPointId, Description, Failure, ProcessValue, Result, Value, is_data};

const GROUND: u32 = 0;
const OPERATOR: u32 = 1;
const LEAF: u32 = 2;

const DATA: u32 = 0;
const ATOM: u32 = 1;
const NESTED: u32 = 2;

const PREFIX: u32 = 0;
const WAITING: u32 = 1;
const OFFER: u32 = 2;

/// Processes inside processes are taken apart so far.
const DEEPEST: usize = 40;

/// The number of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ShapeId(pub(super) u32);

/// Where a value of a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The value with this number.
    Value(u32),
    /// The value at this place of the row before.
    Copied(u32),
    /// The result of the computation with this number.
    Computed(u32),
}

pub(super) struct Shape {
    words: Box<[u32]>,
    /// How many values a row has.
    pub(super) values: usize,
    /// What [`super::terms::Terms`] says of its terms.
    pub(super) weight: u32,
    pub(super) parallel: bool,
    pub(super) layers: bool,
}

#[derive(Default)]
pub(super) struct Shapes {
    all: Vec<Shape>,
    numbers: HashMap<Box<[u32]>, ShapeId, FixedState>,
    operators: Vec<Node>,
    operator_numbers: HashMap<Node, u32, FixedState>,
    atoms: Vec<Value>,
    atom_numbers: HashMap<Key, u32, FixedState>,
    computations: Vec<Computation>,
    computation_numbers: HashMap<Computation, u32, FixedState>,
    /// Terms without values that terms mention.
    grounds: Vec<TermId>,
    /// Terms that were found to have no values, so that long terms with common parts are not taken apart again.
    known_grounds: HashSet<TermId, FixedState>,
}

impl Shapes {
    /// How many shapes there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many words a shape has.
    pub(super) fn length(&self, id: ShapeId) -> usize {
        self.get(id).words.len()
    }

    pub(super) fn get(&self, id: ShapeId) -> &Shape {
        &self.all[id.0 as usize]
    }

    pub(super) fn computation(&self, number: u32) -> &Computation {
        &self.computations[number as usize]
    }

    /// The terms without values that shapes mention.
    pub(super) fn grounds(&self) -> &[TermId] {
        &self.grounds
    }
}

/// A term that is being taken apart.
#[derive(Default)]
struct Apart {
    words: Vec<u32>,
    sources: Vec<Source>,
    grounds: Vec<TermId>,
}

/// Why a term has no shape that serves.
pub(super) enum NoShape {
    /// It is nested too deeply.
    Deep,
    Failure(Failure),
}

impl From<Failure> for NoShape {
    fn from(failure: Failure) -> NoShape {
        NoShape::Failure(failure)
    }
}

type Shaped<T> = std::result::Result<T, NoShape>;

impl Compiler {
    /// The shape of a term, and where its values come from. A term that is nested too deeply is a shape of its own when
    /// all its values are known.
    pub(super) fn shape_of(&mut self, term: TermId, has_open: bool) -> Shaped<(ShapeId, Vec<Source>)> {
        let mut apart = Apart::default();
        match self.take_apart(term, &mut apart) {
            Ok(()) => {}
            Err(NoShape::Deep) if !has_open => {
                apart = Apart { words: vec![GROUND, term.0], sources: Vec::new(), grounds: vec![term] };
            }
            Err(other) => return Err(other),
        }
        let Apart { words, sources, grounds } = apart;
        if let Some(&known) = self.shapes.numbers.get(&words[..]) {
            return Ok((known, sources));
        }
        let id = ShapeId(self.shapes.all.len() as u32);
        let words: Box<[u32]> = words.into();
        self.shapes.all.push(Shape {
            words: words.clone(),
            values: sources.len(),
            weight: self.terms.weight(term),
            parallel: self.terms.has_parallel(term),
            layers: self.terms.has_layers(term),
        });
        self.shapes.numbers.insert(words, id);
        self.shapes.grounds.extend(grounds);
        Ok((id, sources))
    }

    fn take_apart(&mut self, term: TermId, apart: &mut Apart) -> Shaped<()> {
        if self.shapes.known_grounds.contains(&term) {
            apart.words.extend([GROUND, term.0]);
            apart.grounds.push(term);
            return Ok(());
        }
        let (words, sources, grounds) = (apart.words.len(), apart.sources.len(), apart.grounds.len());
        let node = self.terms.node(term).clone();
        match node {
            Node::Prefix(id) | Node::Waiting(id) | Node::Offer(id, _) => {
                let process = self.process_of(id);
                if let Description::Made(..) = process.description() {
                    let kind = match node {
                        Node::Prefix(_) => PREFIX,
                        Node::Waiting(_) => WAITING,
                        Node::Offer(_, choice) => OFFER + choice,
                        _ => unreachable!("only these are leaves"),
                    };
                    apart.words.extend([LEAF, kind]);
                    self.process_apart(&process, apart, 0)?;
                } else {
                    // A built-in process is taken as it is; open values in it are requested.
                    self.evaluator.finish(process.into())?;
                }
            }
            _ => {
                let mut operands = Vec::new();
                let operator = node.map(|operand| {
                    operands.push(operand);
                    TermId::STOP
                });
                if !operands.is_empty() {
                    let number = self.operator_number(operator);
                    apart.words.extend([OPERATOR, number]);
                    for operand in operands {
                        deeply(|| self.take_apart(operand, apart))?;
                    }
                }
            }
        }
        if apart.sources.len() == sources {
            apart.words.truncate(words);
            apart.words.extend([GROUND, term.0]);
            apart.grounds.truncate(grounds);
            apart.grounds.push(term);
            self.shapes.known_grounds.insert(term);
        }
        Ok(())
    }

    fn operator_number(&mut self, operator: Node) -> u32 {
        let next = self.shapes.operators.len() as u32;
        let number = *self.shapes.operator_numbers.entry(operator.clone()).or_insert(next);
        if number == next {
            self.shapes.operators.push(operator);
        }
        number
    }

    fn process_apart(&mut self, process: &ProcessValue, apart: &mut Apart, depth: usize) -> Shaped<()> {
        let Description::Made(point, captures) = process.description() else {
            unreachable!("built-in processes are atoms")
        };
        if depth == DEEPEST {
            return Err(NoShape::Deep);
        }
        apart.words.extend([point.number(), captures.len() as u32]);
        for capture in captures {
            self.control.check().map_err(Failure::from)?;
            match self.evaluator.captured(capture)? {
                Captured::Open(number) => {
                    apart.words.push(DATA);
                    apart.sources.push(Source::Copied(number));
                }
                Captured::Computed(computation) => {
                    let next = self.shapes.computations.len() as u32;
                    let number = *self.shapes.computation_numbers.entry(computation.clone()).or_insert(next);
                    if number == next {
                        self.shapes.computations.push(computation);
                    }
                    apart.words.push(DATA);
                    apart.sources.push(Source::Computed(number));
                }
                Captured::Process(inner) if matches!(inner.description(), Description::Made(..)) => {
                    apart.words.push(NESTED);
                    deeply(|| self.process_apart(&inner, apart, depth + 1))?;
                }
                Captured::Process(inner) => {
                    let atom = self.evaluator.finish(inner.into())?;
                    self.atom(atom, apart);
                }
                Captured::Value(value) if is_data(&value) => {
                    apart.words.push(DATA);
                    apart.sources.push(Source::Value(self.events.data.number(value)));
                }
                Captured::Value(value) => self.atom(value, apart),
            }
        }
        Ok(())
    }

    fn atom(&mut self, value: Value, apart: &mut Apart) {
        let next = self.shapes.atoms.len() as u32;
        let number = *self.shapes.atom_numbers.entry(Key(value.clone())).or_insert(next);
        if number == next {
            self.shapes.atoms.push(value);
        }
        apart.words.extend([ATOM, number]);
    }

    /// The term of a shape with these values.
    pub(super) fn with_values(&mut self, shape: ShapeId, values: &dyn Fn(&Compiler, usize) -> Value) -> Result<TermId> {
        let words = self.shapes.get(shape).words.clone();
        let mut reading = Reading { words: &words, at: 0, value: 0 };
        self.put_together(&mut reading, values)
    }

    fn put_together(
        &mut self,
        reading: &mut Reading<'_>,
        values: &dyn Fn(&Compiler, usize) -> Value,
    ) -> Result<TermId> {
        match reading.next() {
            GROUND => Ok(TermId(reading.next())),
            OPERATOR => {
                let operator = self.shapes.operators[reading.next() as usize].clone();
                let mut count = 0;
                operator.map(|_| {
                    count += 1;
                    TermId::STOP
                });
                let mut operands = Vec::with_capacity(count);
                for _ in 0..count {
                    operands.push(deeply(|| self.put_together(reading, values))?);
                }
                let mut operands = operands.into_iter();
                let node = operator.map(|_| operands.next().expect("as many operands as before"));
                Ok(self.terms.intern(node))
            }
            LEAF => {
                let kind = reading.next();
                let process = self.process_together(reading, values);
                let id = self.evaluator.identify(&process)?;
                self.processes.entry(id).or_insert(process);
                Ok(self.terms.intern(match kind {
                    PREFIX => Node::Prefix(id),
                    WAITING => Node::Waiting(id),
                    choice => Node::Offer(id, choice - OFFER),
                }))
            }
            other => unreachable!("no term begins with {other}"),
        }
    }

    fn process_together(
        &mut self,
        reading: &mut Reading<'_>,
        values: &dyn Fn(&Compiler, usize) -> Value,
    ) -> ProcessValue {
        let point = ControlPointId::of_number(reading.next());
        let count = reading.next();
        let mut captures = Vec::with_capacity(count as usize);
        for _ in 0..count {
            captures.push(match reading.next() {
                DATA => {
                    reading.value += 1;
                    values(self, reading.value - 1)
                }
                ATOM => self.shapes.atoms[reading.next() as usize].clone(),
                _ => deeply(|| self.process_together(reading, values)).into(),
            });
        }
        ProcessValue::made(point, captures)
    }
}

/// A shape that is being read.
struct Reading<'a> {
    words: &'a [u32],
    at: usize,
    /// How many values were passed.
    value: usize,
}

impl Reading<'_> {
    fn next(&mut self) -> u32 {
        self.at += 1;
        self.words[self.at - 1]
    }
}
