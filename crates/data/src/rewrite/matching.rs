//! From the patterns of a function's rules to a match tree.
//!
//! The rules of a function become one match tree. Rows of patterns are tried in order of how many arguments they need,
//! as in mCRL2 (`f(0) = 5; f(n) = 6` gives 6 for `f(0)`), then in order of the text; the first row says which argument
//! is looked at next, so a tree looks at no argument that the first row that can still apply does not need.

use std::collections::HashMap;

use trefoil_terms::{Symbol, Term};

use crate::typed::{Typed, TypedId, VariableId};

use super::code::{Entry, FunctionIndex, Guard, Op, Slot, Target};
use super::compile::{Compiler, Frame, Rules};
use super::expressions::conversion;

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
                let index = self.program.function_of(id);
                let function = self.program.function(index);
                let symbol = if function.arity == 0 { function.symbol } else { self.program.bare_symbol(index) };
                (Wanted::Symbol(symbol, 0), Vec::new())
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
        let frame = Frame { top: description.arity, ..Frame::default() };
        self.use_slots(frame.top);
        let entry = self.here();
        let forced = (0..description.arity).filter(|&slot| !description.is_lazy(slot)).collect::<Vec<Slot>>();
        self.tree(function, rows, frame, &forced);
        self.program.functions[function.0 as usize].entry = Some(entry);
    }

    /// Emits the tree for rows; `forced` lists the slots whose values are there.
    fn tree(&mut self, function: FunctionIndex, rows: Vec<Row>, frame: Frame, forced: &[Slot]) {
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
        self.force_once(slot, &frame, &mut forced);
        let mut groups: Vec<Wanted> = Vec::new();
        for row in &rows {
            if let Some(&(_, pattern)) = row.open.iter().find(|(open, _)| *open == slot) {
                let (wanted, _) = self.wanted(pattern);
                if !groups.contains(&wanted) {
                    groups.push(wanted);
                }
            }
        }
        let (symbols, terms): (Vec<Wanted>, Vec<Wanted>) =
            groups.into_iter().partition(|wanted| matches!(wanted, Wanted::Symbol(..)));
        if let [Wanted::Symbol(symbol, _)] = symbols[..] {
            let test = self.emit(Op::Is { slot, symbol, otherwise: 0 });
            self.group(function, &rows, &frame, &forced, (slot, symbols[0]));
            self.program.code[test as usize] = Op::Is { slot, symbol, otherwise: self.here() };
        } else if !symbols.is_empty() {
            let first = self.program.entries.len();
            for &wanted in symbols.iter().chain(symbols.first()) {
                let Wanted::Symbol(symbol, _) = wanted else { unreachable!() };
                self.program.entries.push(Entry { symbol, target: 0 });
            }
            self.emit(Op::Switch { count: symbols.len() as u16, slot, first: first as u32 });
            for (place, &wanted) in symbols.iter().enumerate() {
                self.program.entries[first + place].target = self.here();
                self.group(function, &rows, &frame, &forced, (slot, wanted));
            }
            self.program.entries[first + symbols.len()].target = self.here();
        }
        for wanted in terms {
            let Wanted::Term(term) = wanted else { unreachable!() };
            let test = self.emit(Op::IsTerm { slot, term, otherwise: 0 });
            self.group(function, &rows, &frame, &forced, (slot, wanted));
            self.program.code[test as usize] = Op::IsTerm { slot, term, otherwise: self.here() };
        }
        let others = rows.into_iter().filter(|row| row.open.iter().all(|(open, _)| *open != slot)).collect();
        self.tree(function, others, frame, &forced);
    }

    /// Emits the tree for the rows that can still apply when a slot has what a pattern looks for.
    fn group(
        &mut self,
        function: FunctionIndex,
        rows: &[Row],
        frame: &Frame,
        forced: &[Slot],
        (slot, wanted): (Slot, Wanted),
    ) {
        let mut inner = frame.clone();
        let parts: Vec<Slot> = match wanted {
            Wanted::Symbol(_, arity) => (0..arity).map(|_| self.fresh(&mut inner)).collect(),
            Wanted::Term(_) => Vec::new(),
        };
        let mut inside = Vec::new();
        for row in rows {
            let mut row = row.clone();
            let Some(place) = row.open.iter().position(|(open, _)| *open == slot) else {
                inside.push(row);
                continue;
            };
            let (_, pattern) = row.open.remove(place);
            let (other, arguments) = self.wanted(pattern);
            if other == wanted && parts.iter().zip(arguments).all(|(&part, pattern)| self.take(&mut row, part, pattern))
            {
                inside.push(row);
            }
        }
        for (index, &part) in (0..).zip(&parts) {
            // What no pattern looks at is loaded where it is used.
            let matched = inside.iter().any(|row| {
                row.open.iter().any(|(slot, _)| *slot == part)
                    || row.same.iter().any(|(one, other)| *one == part || *other == part)
                    || row.guards.iter().any(|(slot, _)| *slot == part)
            });
            if matched {
                self.emit(Op::Load { from: slot, index, to: part });
            } else {
                inner.parts.insert(part, (slot, index));
            }
        }
        let forced: Vec<Slot> = forced.iter().chain(&parts).copied().collect();
        self.tree(function, inside, inner, &forced);
    }

    /// Emits the first row, whose patterns have matched, and where its tests fail the others.
    fn leaf(&mut self, function: FunctionIndex, mut rows: Vec<Row>, mut frame: Frame, forced: &[Slot]) {
        let row = rows.remove(0);
        let equation = self.equation(row.equation);
        let mut forced = forced.to_vec();
        let mut fixes: Vec<Target> = Vec::new();
        let compared =
            row.same.iter().flat_map(|&(one, other)| [one, other]).chain(row.guards.iter().map(|(slot, _)| *slot));
        for to in compared {
            if let Some((from, index)) = frame.parts.remove(&to) {
                self.emit(Op::Load { from, index, to });
            }
        }
        for &(one, other) in &row.same {
            self.force_once(one, &frame, &mut forced);
            self.force_once(other, &frame, &mut forced);
            fixes.push(self.emit(Op::Same { one, other, otherwise: 0 }));
        }
        for &(slot, guard) in &row.guards {
            self.force_once(slot, &frame, &mut forced);
            fixes.push(self.emit(Op::Guard { slot, guard, otherwise: 0 }));
        }
        // A part that is used once is loaded there, others now, behind those tests.
        let unloaded = frame.parts.clone();
        let mut uses: HashMap<VariableId, u32> = HashMap::new();
        for expression in equation.condition.into_iter().chain([equation.right]) {
            self.each_variable(expression, &mut |variable| *uses.entry(variable).or_default() += 1);
        }
        for (variable, slot) in &row.bound {
            if uses.get(variable).is_some_and(|&uses| uses > 1)
                && let Some((from, index)) = frame.parts.remove(slot)
            {
                self.emit(Op::Load { from, index, to: *slot });
            }
        }
        let description = self.program.function(function);
        let bound = |wanted: &dyn Fn(Slot) -> bool| {
            let found = row.bound.iter().filter(|(_, slot)| wanted(*slot)).map(|(variable, _)| *variable);
            found.collect::<Vec<VariableId>>()
        };
        let mut inner = Frame {
            places: row.bound.iter().copied().collect(),
            lazy: bound(&|slot| !forced.contains(&slot)),
            delayable: bound(&|slot| slot < description.arity && description.is_lazy(slot)),
            ..frame.clone()
        };
        let tests = equation.condition.map(|condition| self.test(condition, &mut inner));
        self.last(equation.right, &mut inner);
        if fixes.is_empty() && tests.is_none() {
            return;
        }
        let here = self.here();
        if !fixes.is_empty() {
            frame.parts = unloaded;
        }
        for fix in fixes {
            match &mut self.program.code[fix as usize] {
                Op::Same { otherwise, .. } | Op::Guard { otherwise, .. } => *otherwise = here,
                _ => unreachable!("only tests are filled in"),
            }
        }
        if let Some(tests) = tests {
            // An open condition is not true.
            self.decide(&tests, here, here);
        }
        self.tree(function, rows, frame, &forced);
    }

    fn force_once(&mut self, slot: Slot, frame: &Frame, forced: &mut Vec<Slot>) {
        if !forced.contains(&slot) {
            self.force(slot, frame);
            forced.push(slot);
        }
    }
}
