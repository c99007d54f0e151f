//! From the patterns of a function's rules to a match tree.
//!
//! The rules of a function become one match tree. Rows of patterns are tried in order of how many arguments they need,
//! as in mCRL2 (`f(0) = 5; f(n) = 6` gives 6 for `f(0)`), then in order of the text; the first row says which argument
//! is looked at next, so a tree looks at no argument that the first row that can still apply does not need.

use std::collections::HashMap;

use trefoil_terms::{Symbol, Term};

use crate::typed::{Typed, TypedId, VariableId};

use super::code::{FunctionIndex, Guard, Op, Slot, Table, Target};
use super::compile::{Compiler, Frame, Rules, conversion};

/// A row of the matrix of patterns.
#[derive(Clone, Debug)]
pub(super) struct Row {
    equation: usize,
    /// Slots whose terms must still match a pattern.
    open: Vec<(Slot, TypedId)>,
    bound: Vec<(VariableId, Slot)>,
    /// Slots that must hold one term.
    same: Vec<(Slot, Slot)>,
    guards: Vec<(Slot, Guard)>,
}

/// What a pattern looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Symbol(Symbol, u16),
    Term(Term),
}

impl Compiler<'_, '_> {
    /// The rows of a function, those that need fewer arguments first.
    pub(super) fn rows(&mut self, function: FunctionIndex, rules: &Rules) -> Vec<Row> {
        let arity = self.program.function(function).arity;
        let mut rows: Vec<(usize, Row)> = Vec::new();
        for (equation, patterns) in rules {
            let needed = (0..patterns.len())
                .filter(|&argument| {
                    let Typed::Variable(variable) = self.typed(patterns[argument]) else { return true };
                    let mut uses = 0;
                    for &pattern in patterns {
                        self.each_variable(pattern, &mut |found| uses += u32::from(found == variable));
                    }
                    let condition = self.equation(*equation).condition;
                    condition.into_iter().for_each(|condition| {
                        self.each_variable(condition, &mut |found| uses += u32::from(found == variable));
                    });
                    uses > 1
                })
                .count();
            let mut row =
                Row { equation: *equation, open: Vec::new(), bound: Vec::new(), same: Vec::new(), guards: Vec::new() };
            let fits = (0..arity).zip(patterns).all(|(slot, &pattern)| self.take(&mut row, slot, pattern));
            if fits {
                rows.push((needed, row));
            }
        }
        rows.sort_by_key(|(needed, _)| *needed);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Adds a pattern to a row: variables are bound at once. False for patterns that nothing matches.
    fn take(&mut self, row: &mut Row, slot: Slot, pattern: TypedId) -> bool {
        match self.typed(pattern) {
            Typed::Variable(variable) => {
                match row.bound.iter().find(|(bound, _)| *bound == variable) {
                    Some(&(_, before)) => row.same.push((before, slot)),
                    None => row.bound.push((variable, slot)),
                }
                true
            }
            Typed::Apply(function, arguments) => match self.typed(function) {
                Typed::Function(id) => {
                    let index = self.program.function_of(id);
                    let inside = self.list(&arguments);
                    if let Some(operator) = self.program.operator(index)
                        && let Some(guard) = conversion(operator)
                    {
                        row.guards.push((slot, guard));
                        return self.take(row, slot, inside[0]);
                    }
                    row.open.push((slot, pattern));
                    true
                }
                Typed::Apply(..) => {
                    row.open.push((slot, pattern));
                    true
                }
                _ => false,
            },
            Typed::Function(_) | Typed::Number(_) => {
                row.open.push((slot, pattern));
                true
            }
            Typed::Lambda(..) | Typed::Quantified(..) | Typed::Where(..) => false,
        }
    }

    /// What a pattern looks for, and the patterns of its arguments.
    fn wanted(&mut self, pattern: TypedId) -> (Wanted, Vec<TypedId>) {
        match self.typed(pattern) {
            Typed::Number(digits) => {
                let term = self.number(digits);
                (Wanted::Term(term), Vec::new())
            }
            Typed::Function(id) => {
                let term = self.constant(id);
                (Wanted::Term(term), Vec::new())
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                match self.typed(function) {
                    Typed::Function(id) => {
                        let function = self.program.function(self.program.function_of(id));
                        (Wanted::Symbol(function.symbol, function.arity), arguments)
                    }
                    _ => {
                        let apply = self.apply(arguments.len() as u16);
                        let function_ = self.program.function(apply);
                        let wanted = Wanted::Symbol(function_.symbol, function_.arity);
                        (wanted, std::iter::once(function).chain(arguments).collect())
                    }
                }
            }
            other => unreachable!("{other:?} is not kept as a pattern"),
        }
    }

    pub(super) fn function(&mut self, function: FunctionIndex, rows: Vec<Row>) {
        if rows.is_empty() {
            return;
        }
        let description = self.program.function(function).clone();
        let mut frame = Frame { size: description.arity, ..Frame::default() };
        let entry = self.here();
        let mut forced = Vec::new();
        for slot in 0..description.arity.min(64) {
            if description.lazy >> slot & 1 == 0 {
                forced.push(slot);
            }
        }
        forced.extend(64..description.arity.max(64));
        self.tree(function, rows, &mut frame, &forced);
        let described = &mut self.program.functions[function.0 as usize];
        described.entry = Some(entry);
        described.frame = frame.size;
    }

    /// Emits the tree for rows; `forced` lists the slots whose values are there.
    fn tree(&mut self, function: FunctionIndex, rows: Vec<Row>, frame: &mut Frame, forced: &[Slot]) {
        let Some(first) = rows.first() else {
            self.emit(Op::Stuck { function });
            return;
        };
        if first.open.is_empty() {
            self.leaf(function, rows, frame, forced);
            return;
        }
        // Of the slots that the first row looks at, the one that most rows look at.
        let slots: Vec<Slot> = first.open.iter().map(|(slot, _)| *slot).collect();
        let uses = |slot: Slot| rows.iter().filter(|row| row.open.iter().any(|(open, _)| *open == slot)).count();
        let Some(slot) = slots.iter().copied().rev().max_by_key(|&slot| uses(slot)) else { unreachable!() };
        let mut forced = forced.to_vec();
        if !forced.contains(&slot) {
            self.emit(Op::Force { slot });
            self.emit(Op::Store(slot));
            forced.push(slot);
        }
        let mut groups: Vec<(Wanted, Vec<TypedId>)> = Vec::new();
        for row in &rows {
            if let Some(&(_, pattern)) = row.open.iter().find(|(open, _)| *open == slot) {
                let (wanted, arguments) = self.wanted(pattern);
                if !groups.iter().any(|(known, _)| *known == wanted) {
                    groups.push((wanted, arguments));
                }
            }
        }
        let table = self.program.tables.len() as u32;
        self.program.tables.push(Table::default());
        self.emit(Op::Switch { slot, table });
        let mut filled = Table::default();
        for (wanted, _) in groups {
            let target = self.here();
            let parts = match wanted {
                Wanted::Symbol(symbol, arity) => {
                    filled.symbols.push((symbol, target));
                    (0..arity).map(|_| frame.fresh()).collect::<Vec<Slot>>()
                }
                Wanted::Term(term) => {
                    filled.terms.push((term, target));
                    Vec::new()
                }
            };
            let mut inside = Vec::new();
            for row in &rows {
                let mut row = row.clone();
                let Some(place) = row.open.iter().position(|(open, _)| *open == slot) else {
                    inside.push(row);
                    continue;
                };
                let (_, pattern) = row.open.remove(place);
                let (other, arguments) = self.wanted(pattern);
                if other == wanted
                    && parts.iter().zip(arguments).all(|(&part, pattern)| self.take(&mut row, part, pattern))
                {
                    inside.push(row);
                }
            }
            for (index, &part) in parts.iter().enumerate() {
                let used = inside.iter().any(|row| {
                    row.open.iter().any(|(slot, _)| *slot == part)
                        || row.bound.iter().any(|(_, slot)| *slot == part)
                        || row.same.iter().any(|(_, slot)| *slot == part)
                });
                if used {
                    self.emit(Op::Load { from: slot, index: index as u16, to: part });
                }
            }
            let mut forced = forced.clone();
            forced.extend(&parts);
            self.tree(function, inside, frame, &forced);
        }
        filled.otherwise = self.here();
        self.program.tables[table as usize] = filled;
        let others = rows.into_iter().filter(|row| row.open.iter().all(|(open, _)| *open != slot)).collect();
        self.tree(function, others, frame, &forced);
    }

    /// Emits the first row, whose patterns have matched, and where its tests fail the others.
    fn leaf(&mut self, function: FunctionIndex, mut rows: Vec<Row>, frame: &mut Frame, forced: &[Slot]) {
        let row = rows.remove(0);
        let equation = self.equation(row.equation);
        let mut forced = forced.to_vec();
        let mut fixes: Vec<Target> = Vec::new();
        for (one, other) in &row.same {
            for slot in [*one, *other] {
                self.force(slot, &mut forced);
            }
            fixes.push(self.emit(Op::Same { one: *one, other: *other, otherwise: 0 }));
        }
        for (slot, guard) in &row.guards {
            self.force(*slot, &mut forced);
            fixes.push(self.emit(Op::Guard { slot: *slot, guard: *guard, otherwise: 0 }));
        }
        let places: HashMap<VariableId, Slot> = row.bound.iter().copied().collect();
        let lazy: Vec<VariableId> =
            row.bound.iter().filter(|(_, slot)| !forced.contains(slot)).map(|(variable, _)| *variable).collect();
        let mut inner = Frame { places, lazy, size: frame.size };
        if let Some(condition) = equation.condition {
            self.value(condition, &mut inner);
            fixes.push(self.emit(Op::Test { otherwise: 0, open: 0 }));
        }
        let always = fixes.is_empty();
        self.last(equation.right, &mut inner);
        frame.size = frame.size.max(inner.size);
        if always {
            return;
        }
        let here = self.here();
        for fix in fixes {
            match &mut self.program.code[fix as usize] {
                Op::Same { otherwise, .. } | Op::Guard { otherwise, .. } => *otherwise = here,
                // An open condition is not true; what is left of it on the stack is dropped with the frame.
                Op::Test { otherwise, open } => (*otherwise, *open) = (here, here),
                _ => unreachable!("only tests are fixed"),
            }
        }
        self.tree(function, rows, frame, &forced);
    }

    fn force(&mut self, slot: Slot, forced: &mut Vec<Slot>) {
        if !forced.contains(&slot) {
            self.emit(Op::Force { slot });
            self.emit(Op::Store(slot));
            forced.push(slot);
        }
    }
}
