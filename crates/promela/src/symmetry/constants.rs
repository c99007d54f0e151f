//! Expressions whose value never changes for a process.
//!
//! `c[(_pid + 1) % N]!x` uses the identity of a process in arithmetic. A symmetry need not understand modular
//! arithmetic here: `_pid` never changes, nor do parameters without assignments, so the index is one fixed value for
//! each process. Such an expression is a *fact* of its process type: the analysis treats it as a variable without
//! assignments that holds, in each process, the value of the expression. The next channel of the ring is then as
//! visible as a parameter, and a symmetry must map the facts of a process to the facts of its image, value by value.
//! Rotations of the ring do; an exchange of two of its members does not, and the fact shows where.
//!
//! A fact is evaluated as the machine evaluates it: an expression that may fail (a division by zero, an index outside
//! its array) is not a fact, and `&&`, `||` and `->` evaluate only the operands that they need. The largest such
//! expressions are taken. A name alone is not a fact but itself: that says more about the values that it is compared
//! with and assigned to. The exception is an operand of arithmetic or of an order comparison. It is a number there,
//! even if it is an identity elsewhere: so `x < _pid` distinguishes processes, and leaves `a[_pid]` as it is.

use std::collections::HashMap;

use trefoil_source::Span;

use super::startup::Settled;
use crate::evaluate::binary;
use crate::program::{ExpressionId, Node, PlaceId, ProcessTypeId, Program};
use crate::syntax::tree::Binary;
use crate::walk::{cells_of, written_by};

/// In place of the type of a process, for the expressions of claims, which belong to none.
pub(super) const NO_PROCESS: ProcessTypeId = ProcessTypeId::MAX;

/// The number of a fact.
pub(super) type FactId = u32;

/// The fact of an expression of a process type, new or known; `operand` says that it is an operand of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    /// All processes of the type see this value.
    Same(i32),
    /// A number or a truth value, which stands for nothing else.
    Number(FactId),
    /// A value that may identify an item.
    Value(FactId),
}

/// A value for each process of a type.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) kind: ProcessTypeId,
    /// Of the statement where it was met first.
    pub(super) span: Span,
    /// By position, for all processes of the type.
    pub(super) values: Vec<(u32, i32)>,
}

/// Everything that stays as it is once all processes are started.
pub(super) struct Constants<'a> {
    program: &'a Program,
    settled: &'a Settled,
    written_globals: Vec<bool>,
    written_locals: Vec<Vec<bool>>,
    /// What is in the cells of each process in the last state of the start-up.
    locals: Vec<Vec<u32>>,
    known: HashMap<(ProcessTypeId, ExpressionId, bool), Option<Constant>>,
    numbers: HashMap<(ProcessTypeId, Vec<(u32, i32)>), FactId>,
    pub(super) facts: Vec<Fact>,
}

impl<'a> Constants<'a> {
    /// Looks for what nothing reachable writes.
    pub(super) fn new(program: &'a Program, settled: &'a Settled) -> Constants<'a> {
        let row = settled.layers.last();
        let positions = 0..settled.types.len();
        let mut constants = Constants {
            program,
            settled,
            written_globals: program.globals.cells.iter().map(|cell| cell.hidden).collect(),
            written_locals: program
                .processes
                .iter()
                .map(|process| process.frame.cells.iter().map(|cell| cell.hidden).collect())
                .collect(),
            locals: positions
                .map(|position| row.map_or_else(Vec::new, |row| settled.model.local_values(row, position)))
                .collect(),
            known: HashMap::new(),
            numbers: HashMap::new(),
            facts: Vec::new(),
        };
        constants.note_choices();
        for (kind, process) in program.processes.iter().enumerate() {
            for (state, transitions) in process.transitions.iter().enumerate() {
                for transition in transitions.iter().filter(|_| settled.reachable[kind][state]) {
                    for place in written_by(&transition.action) {
                        constants.note_written(place, kind);
                    }
                }
            }
        }
        constants
    }

    /// What depends on how the start-up went is not known.
    fn note_choices(&mut self) {
        let (settled, model) = (self.settled, &self.settled.model);
        let first = settled.layers.len() - settled.choices;
        for row in &settled.layers[first..] {
            for (cell, value) in model.global_values(row).into_iter().enumerate() {
                self.written_globals[cell] |= value != settled.globals[cell];
            }
            for (position, &kind) in settled.types.iter().enumerate() {
                let values = model.local_values(row, position);
                for (cell, (one, other)) in values.iter().zip(&self.locals[position]).enumerate() {
                    self.written_locals[usize::from(kind)][cell] |= one != other;
                }
            }
        }
    }

    fn note_written(&mut self, place: PlaceId, kind: usize) {
        let place = &self.program.places[place as usize];
        if !place.scratch {
            let written = if place.global { &mut self.written_globals } else { &mut self.written_locals[kind] };
            cells_of(place).into_iter().for_each(|cell| written[cell as usize] = true);
        }
    }

    /// The constant value of an expression for the process at a position.
    pub(super) fn value_at(&self, position: usize, expression: ExpressionId) -> Option<i32> {
        let value = |inner: ExpressionId| self.value_at(position, inner);
        match self.program.expressions[expression as usize] {
            Node::Constant(value) => Some(value),
            Node::Pid => Some(position as i32),
            Node::Global(cell) => self.global(cell),
            Node::Local(cell) => self.local(position, cell),
            Node::Place(place) => {
                let place = &self.program.places[place as usize];
                let mut cell = place.base;
                for index in &place.indices {
                    let value = u32::try_from(value(index.value)?).ok()?;
                    (value < index.length).then_some(())?;
                    cell += value * index.stride;
                }
                if place.global { self.global(cell) } else { self.local(position, cell) }
            }
            Node::Not(inner) => Some(i32::from(value(inner)? == 0)),
            Node::Negate(inner) => Some(value(inner)?.wrapping_neg()),
            Node::Complement(inner) => Some(!value(inner)?),
            Node::Binary(Binary::And, left, right) => Some(i32::from(value(left)? != 0 && value(right)? != 0)),
            Node::Binary(Binary::Or, left, right) => Some(i32::from(value(left)? != 0 || value(right)? != 0)),
            Node::Binary(operator, left, right) => binary(operator, value(left)?, value(right)?),
            Node::Conditional(condition, yes, no) => value(if value(condition)? != 0 { yes } else { no }),
            _ => None,
        }
    }

    fn global(&self, cell: u32) -> Option<i32> {
        let sort = self.program.globals.cells[cell as usize].sort;
        (!self.written_globals[cell as usize]).then(|| sort.read(self.settled.globals[cell as usize]))
    }

    fn local(&self, position: usize, cell: u32) -> Option<i32> {
        let kind = usize::from(self.settled.types[position]);
        let sort = self.program.processes[kind].frame.cells[cell as usize].sort;
        (!self.written_locals[kind][cell as usize]).then(|| sort.read(self.locals[position][cell as usize]))
    }

    /// What all processes of a type always see in an expression, position by position. An expression that belongs to
    /// no process has the same value at each.
    pub(super) fn values(&self, kind: ProcessTypeId, expression: ExpressionId) -> Option<Vec<(u32, i32)>> {
        if kind == NO_PROCESS {
            return Some(vec![(0, self.value_at(0, expression)?)]);
        }
        let of_type = (0..).zip(&self.settled.types).filter(|(_, known)| **known == kind);
        of_type.map(|(position, _)| Some((position, self.value_at(position as usize, expression)?))).collect()
    }

    /// The fact of an expression of a process type, new or known; `operand` says that it is an operand of arithmetic.
    pub(super) fn learn(
        &mut self,
        kind: ProcessTypeId,
        expression: ExpressionId,
        operand: bool,
        span: Span,
    ) -> Option<Constant> {
        if let Some(&known) = self.known.get(&(kind, expression, operand)) {
            return known;
        }
        let found = self.look(kind, expression, operand, span);
        self.known.insert((kind, expression, operand), found);
        found
    }

    fn look(&mut self, kind: ProcessTypeId, expression: ExpressionId, operand: bool, span: Span) -> Option<Constant> {
        let is_name = |expression: ExpressionId| {
            matches!(
                self.program.expressions[expression as usize],
                Node::Pid | Node::Local(_) | Node::Global(_) | Node::Place(_)
            )
        };
        let is_literal =
            |expression: ExpressionId| matches!(self.program.expressions[expression as usize], Node::Constant(_));
        let truth = match self.program.expressions[expression as usize] {
            Node::Pid | Node::Local(_) | Node::Global(_) | Node::Place(_) if operand => false,
            Node::Negate(_) | Node::Complement(_) | Node::Conditional(..) => false,
            Node::Not(_) => true,
            // What is compared says what it stands for.
            Node::Binary(Binary::Equal | Binary::Different, left, right)
                if is_name(left) && is_literal(right) || is_literal(left) && is_name(right) =>
            {
                return None;
            }
            Node::Binary(
                Binary::And
                | Binary::Or
                | Binary::Equal
                | Binary::Different
                | Binary::Less
                | Binary::Greater
                | Binary::AtMost
                | Binary::AtLeast,
                ..,
            ) => true,
            Node::Binary(..) => false,
            _ => return None,
        };
        let values = self.values(kind, expression)?;
        let &(_, first) = values.first()?;
        if values.iter().all(|&(_, value)| value == first) {
            return Some(Constant::Same(first));
        }
        if !truth && !operand {
            self.facts.push(Fact { kind, span, values });
            return Some(Constant::Value(self.facts.len() as FactId - 1));
        }
        let next = self.facts.len() as FactId;
        let number = *self.numbers.entry((kind, values.clone())).or_insert(next);
        if number == next {
            self.facts.push(Fact { kind, span, values });
        }
        Some(Constant::Number(number))
    }

    /// Does a global variable always hold the same channel?
    pub(super) fn is_channel_for_good(&self, cell: u32) -> bool {
        self.global(cell).is_some_and(|number| self.settled.model.is_global_channel(number))
    }

    /// The fact of an expression of a process type, new or known; `operand` says that it is an operand of arithmetic.
    pub(super) fn known(&self, kind: ProcessTypeId, expression: ExpressionId, operand: bool) -> Option<Constant> {
        self.known.get(&(kind, expression, operand)).copied().flatten()
    }
}
