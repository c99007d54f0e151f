//! The machine: evaluates operations to values, call by need.
//!
//! Frames lie on one stack of values; a unit reads its variables from its slots and captures. Operands that need not be
//! evaluated become thunks that hold exactly the values they will read; arithmetic on numbers that are known already is
//! done at once instead, where it cannot go wrong. A call in the last place of a function reuses the function's frame.
//! Deeper recursion uses the machine's own stack, which grows by segments; its depth and the number of calls are
//! limited.
//!
//! Cost: a call of a function of numbers takes a few tens of nanoseconds; a thunk costs one allocation.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use trefoil_control::Control;
use trefoil_source::Span;

use super::code::*;
use super::codes;
use super::failure::{Failure, Result};
use super::open::{Given, open_number};
use super::process::{ProcessId, ProcessKind, ProcessValue};
use super::sets::SetValue;
use super::value::{Closure, ConstructorId, Data, Delayed, Group, Thunk, Value};

/// Less than this must be left of the stack; else a new segment begins.
pub(super) const RED_ZONE: usize = 96 * 1024;
/// How long a segment of the stack is.
pub(super) const SEGMENT: usize = 8 * 1024 * 1024;
/// How many calls happen between two looks at the budgets.
pub(super) const PATIENCE: u64 = 64;

pub(super) enum GlobalState {
    Untouched,
    Running,
    Done(Value),
}

/// What changes while the machine runs.
pub(super) struct State {
    pub(super) stack: Vec<Value>,
    pub(super) globals: Vec<GlobalState>,
    /// What the fields of constructors and channels range over.
    pub(super) fields: Vec<Option<Rc<Vec<Rc<SetValue>>>>>,
    pub(super) fields_running: Vec<bool>,
    /// Constructors whose values are being listed.
    pub(super) listing: Vec<ConstructorId>,
    pub(super) calls_kept: HashMap<(FunctionId, Vec<Value>), Option<Value>, foldhash::fast::RandomState>,
    /// The relations that were turned over last, and what came of it.
    pub(super) transposed: Vec<(Rc<SetValue>, Rc<SetValue>)>,
    pub(super) processes: HashMap<ProcessValue, ProcessId, foldhash::fast::RandomState>,
    pub(super) steps: u64,
    pub(super) step_limit: u64,
    /// What goes into an event behind the first open value, field by field.
    pub(super) open_fields: Vec<Given>,
    /// How many processes have numbers.
    pub(super) identified: u32,
    pub(super) depth: u32,
    pub(super) depth_limit: u32,
    pub(super) control: Control,
}

pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) state: &'p mut State,
}

impl<'p> Machine<'p> {
    /// The value of an operation; never a thunk.
    pub(super) fn eval(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Value> {
        let program = self.program;
        let mut id = id;
        loop {
            match &program.operations[id.index()] {
                Operation::Constant(value) => return Ok(value.clone()),
                Operation::Variable(access) => return self.variable(*access, base, captured),
                Operation::Arithmetic(operator, left, right) => {
                    let left = self.int(*left, base, captured)?;
                    let right = self.int(*right, base, captured)?;
                    return arithmetic(*operator, left, right).map(Value::Int).map_err(|e| e.placed(program.span(id)));
                }
                Operation::If(condition, then, otherwise) => {
                    id = if self.truth(*condition, base, captured)? { *then } else { *otherwise };
                }
                Operation::Global(global) => return self.global(*global),
                Operation::Call(function, arguments) => {
                    return self.call(id, *function, arguments, base, captured);
                }
                Operation::Let(group, slot, body) => {
                    self.enter_group(*group, *slot, base, captured);
                    id = *body;
                }
                Operation::Bind(value, slot, body) => {
                    let value = self.delay(value, base, captured)?;
                    self.state.stack[base + *slot as usize] = value;
                    id = *body;
                }
                _ => return stacker::maybe_grow(RED_ZONE, SEGMENT, || self.eval_other(id, base, captured)),
            }
        }
    }

    #[inline(never)]
    fn eval_other(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Value> {
        let program = self.program;
        let placed = |failure: Failure| failure.placed(program.span(id));
        Ok(match &program.operations[id.index()] {
            Operation::Member(access, member) => return self.member(*access, *member, base, captured),
            Operation::Not(of) => Value::Bool(!self.truth(*of, base, captured)?),
            Operation::And(left, right) => {
                Value::Bool(self.truth(*left, base, captured)? && self.truth(*right, base, captured)?)
            }
            Operation::Or(left, right) => {
                Value::Bool(self.truth(*left, base, captured)? || self.truth(*right, base, captured)?)
            }
            Operation::Negate(of) => {
                let number = self.int(*of, base, captured)?;
                Value::Int(number.checked_neg().ok_or_else(|| placed(overflow()))?)
            }
            Operation::Compare(comparison, left, right) => {
                let left = self.eval(*left, base, captured)?;
                let right = self.eval(*right, base, captured)?;
                Value::Bool(self.compare_operator(*comparison, left, right).map_err(placed)?)
            }
            Operation::Equal(equal, left, right) => {
                let left = self.eval(*left, base, captured)?;
                let right = self.eval(*right, base, captured)?;
                Value::Bool(self.equal(left, right).map_err(placed)? == *equal)
            }
            Operation::Guard(condition, process, section) => {
                if self.truth(*condition, base, captured)? {
                    return self.eval(*process, base, captured);
                }
                ProcessValue::value(ProcessKind::Builtin(crate::rename::Builtin::Stop, *section, Vec::new()))
            }
            Operation::Length(of) => {
                let value = self.eval(*of, base, captured)?;
                self.length(&value).map_err(placed)?
            }
            Operation::Concatenate(left, right) => {
                let (first, rest) = self.concatenation(*left, right, base, captured)?;
                self.concatenate(&first, rest).map_err(placed)?
            }
            Operation::Tuple(items) => Value::tuple(self.delay_all(items, base, captured)?),
            Operation::Sequence(items) => Value::sequence(self.delay_all(items, base, captured)?),
            Operation::Lambda(function) => self.closure(*function, base, captured),
            Operation::Process(point) => {
                let captures = self.capture(&program.control_points[point.index()].captures, base, captured);
                ProcessValue::value(ProcessKind::Made(*point, captures))
            }
            Operation::Part(matcher, source, slot) => {
                let value = self.eval(*source, base, captured)?;
                if !self.matches(*matcher, value.clone(), base)? {
                    return Err(self.binding_mismatch(&value, program.span(id)));
                }
                let part = self.state.stack[base + *slot as usize].clone();
                self.whole(part)?
            }
            Operation::Broken => {
                return Err(Failure::at(codes::BROKEN, "this could not be read", Some(program.span(id))));
            }
            _ => return self.eval_collection(id, base, captured).map_err(placed),
        })
    }

    /// The first operand of `a ^ b ^ c`, and the others as one sequence, `b ^ c`, which is not evaluated yet. The text
    /// leans to the left, and would copy `a` once for each operand behind it.
    fn concatenation(
        &mut self,
        left: OperationId,
        right: &Lazy,
        base: usize,
        captured: &[Value],
    ) -> Result<(Value, Value)> {
        let (mut first, mut before) = (left, Vec::new());
        while let Operation::Concatenate(left, right) = &self.program.operations[first.index()] {
            before.push(right);
            first = *left;
        }
        let first = self.eval(first, base, captured)?;
        let mut operands = Vec::with_capacity(before.len());
        for operand in before.into_iter().rev() {
            operands.push(self.delay(operand, base, captured)?);
        }
        let mut rest = self.delay(right, base, captured)?;
        for operand in operands.into_iter().rev() {
            rest = Value::thunk(Delayed::Append(operand, rest));
        }
        Ok((first, rest))
    }

    fn binding_mismatch(&mut self, value: &Value, span: Span) -> Failure {
        let shown = self.show_short(value);
        Failure::at(codes::BINDING_MISMATCH, format!("the pattern does not match {shown}"), Some(span))
    }

    /// A variable's value, which is kept in its slot.
    fn variable(&mut self, access: Access, base: usize, captured: &[Value]) -> Result<Value> {
        match access {
            Access::Local(slot) => {
                let at = base + slot as usize;
                match &self.state.stack[at] {
                    Value::Thunk(thunk) => {
                        let thunk = Rc::clone(thunk);
                        let value = self.force(&thunk)?;
                        self.state.stack[at] = value.clone();
                        Ok(value)
                    }
                    value => Ok(value.clone()),
                }
            }
            Access::Captured(at) => self.whole_of(&captured[at as usize]),
            Access::Field(at) => match &captured[0] {
                Value::Group(group) => self.whole_of(&group.captures[at as usize]),
                _ => unreachable!("a member's first capture is its group"),
            },
        }
    }

    /// A variable as it is, evaluated or not.
    fn raw(&self, access: Access, base: usize, captured: &[Value]) -> Value {
        let value = match access {
            Access::Local(slot) => &self.state.stack[base + slot as usize],
            Access::Captured(at) => &captured[at as usize],
            Access::Field(at) => match &captured[0] {
                Value::Group(group) => &group.captures[at as usize],
                _ => unreachable!("a member's first capture is its group"),
            },
        };
        value.seen()
    }

    /// The open value that an operation is, as it stands.
    pub(super) fn open_variable(&self, id: OperationId, base: usize, captured: &[Value]) -> Option<u32> {
        match &self.program.operations[id.index()] {
            Operation::Variable(access) => open_number(&self.raw(*access, base, captured)),
            _ => None,
        }
    }

    pub(super) fn capture(&self, accesses: &[Access], base: usize, captured: &[Value]) -> Vec<Value> {
        accesses.iter().map(|&access| self.raw(access, base, captured)).collect()
    }

    /// The value behind a thunk.
    #[inline]
    pub(super) fn whole_of(&mut self, value: &Value) -> Result<Value> {
        match value {
            Value::Thunk(thunk) => self.force(thunk),
            value => Ok(value.clone()),
        }
    }

    /// The value behind a thunk.
    #[inline]
    pub(super) fn whole(&mut self, value: Value) -> Result<Value> {
        match &value {
            Value::Thunk(thunk) => self.force(thunk),
            _ => Ok(value),
        }
    }

    pub(super) fn global(&mut self, id: GlobalId) -> Result<Value> {
        if let GlobalState::Done(value) = &self.state.globals[id.index()] {
            return Ok(value.clone());
        }
        self.global_first(id)
    }

    #[inline(never)]
    fn global_first(&mut self, id: GlobalId) -> Result<Value> {
        let global = &self.program.globals[id.index()];
        let value = match global.definition {
            GlobalDefinition::Broken => {
                let message = format!("`{}` could not be read", global.name);
                return Err(Failure::at(codes::BROKEN, message, Some(global.span)));
            }
            GlobalDefinition::Function(function) => {
                Value::Function(Rc::new(Closure { function, captures: Vec::new(), applied: Vec::new(), lists: 0 }))
            }
            GlobalDefinition::Constructor(constructor) => {
                let complete = self.program.constructors[constructor.index()].fields.is_none();
                Value::Data(Rc::new(Data::new(constructor, Vec::new(), complete)))
            }
            GlobalDefinition::Value(unit) => {
                if matches!(self.state.globals[id.index()], GlobalState::Running) {
                    let message = format!("the value of `{}` depends on itself", global.name);
                    return Err(Failure::at(codes::DEPENDS_ON_ITSELF, message, Some(global.span)));
                }
                self.state.globals[id.index()] = GlobalState::Running;
                match self.run(unit, &[]) {
                    Ok(value) => value,
                    Err(failure) => {
                        self.state.globals[id.index()] = GlobalState::Untouched;
                        return Err(failure.called(&global.name, global.span));
                    }
                }
            }
        };
        self.state.globals[id.index()] = GlobalState::Done(value.clone());
        Ok(value)
    }

    fn group_at(&self, access: Access, base: usize, captured: &[Value]) -> Rc<Group> {
        match self.raw(access, base, captured) {
            Value::Group(group) => group,
            _ => unreachable!("only groups are kept where members are looked up"),
        }
    }

    fn member(&mut self, access: Access, member: u32, base: usize, captured: &[Value]) -> Result<Value> {
        let group = self.group_at(access, base, captured);
        match self.program.groups[group.id.index()].members[member as usize] {
            MemberCode::Function(function) => {
                let captures = vec![Value::Group(group)];
                Ok(Value::Function(Rc::new(Closure { function, captures, applied: Vec::new(), lists: 0 })))
            }
            MemberCode::Value(cell, unit) => {
                let thunk = Rc::clone(&group.cells[cell as usize]);
                let before = std::mem::replace(&mut *thunk.state.borrow_mut(), Delayed::Running);
                match before {
                    Delayed::Done(value) => {
                        *thunk.state.borrow_mut() = Delayed::Done(value.clone());
                        Ok(value)
                    }
                    Delayed::Member => {
                        let captures = [Value::Group(group)];
                        let result = self.run(unit, &captures);
                        *thunk.state.borrow_mut() = match &result {
                            Ok(value) => Delayed::Done(value.clone()),
                            Err(_) => Delayed::Member,
                        };
                        result
                    }
                    _ => Err(self.depends_on_itself(unit)),
                }
            }
        }
    }

    fn depends_on_itself(&self, unit: UnitId) -> Failure {
        let span = self.program.span(self.program.units[unit.index()].body);
        Failure::at(codes::DEPENDS_ON_ITSELF, "this value depends on itself", Some(span))
    }

    pub(super) fn enter_group(&mut self, id: GroupId, slot: u32, base: usize, captured: &[Value]) {
        let code = &self.program.groups[id.index()];
        let captures = self.capture(&code.captures, base, captured);
        let mut cells = Vec::with_capacity(code.cells as usize);
        for member in &code.members {
            if let MemberCode::Value(..) = *member {
                cells.push(Rc::new(Thunk { state: RefCell::new(Delayed::Member) }));
            }
        }
        self.state.stack[base + slot as usize] = Value::Group(Rc::new(Group { id, captures, cells }));
    }

    pub(super) fn closure(&mut self, function: FunctionId, base: usize, captured: &[Value]) -> Value {
        let captures = self.capture(&self.program.functions[function.index()].captures, base, captured);
        Value::Function(Rc::new(Closure { function, captures, applied: Vec::new(), lists: 0 }))
    }

    /// A number that is at hand: a constant, an evaluated variable, or arithmetic on these that does not go wrong.
    #[inline]
    fn number(&self, id: OperationId, base: usize, captured: &[Value]) -> Option<i32> {
        let value = match &self.program.operations[id.index()] {
            Operation::Constant(value) => value,
            Operation::Variable(Access::Local(slot)) => &self.state.stack[base + *slot as usize],
            Operation::Variable(Access::Captured(at)) => &captured[*at as usize],
            Operation::Arithmetic(operator, left, right) => {
                let left = self.number_inside(*left, base, captured)?;
                let right = self.number_inside(*right, base, captured)?;
                return checked(*operator, left, right);
            }
            _ => return None,
        };
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The same for a constant or variable alone.
    #[inline]
    fn number_inside(&self, id: OperationId, base: usize, captured: &[Value]) -> Option<i32> {
        let value = match &self.program.operations[id.index()] {
            Operation::Constant(value) => value,
            Operation::Variable(Access::Local(slot)) => &self.state.stack[base + *slot as usize],
            Operation::Variable(Access::Captured(at)) => &captured[*at as usize],
            _ => return None,
        };
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Evaluates where operations may be nested deeply.
    pub(super) fn eval_deep(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Value> {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || self.eval(id, base, captured))
    }

    pub(super) fn int(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<i32> {
        if let Some(number) = self.number(id, base, captured) {
            return Ok(number);
        }
        self.int_of(id, base, captured)
    }

    #[inline(never)]
    fn int_of(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<i32> {
        match self.eval_deep(id, base, captured)? {
            Value::Int(number) => Ok(number),
            other => Err(wrong_sort("a number", &other).placed(self.program.span(id))),
        }
    }

    pub(super) fn truth(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<bool> {
        // Comparisons of numbers decide most conditions; they need no value of their own.
        if let Operation::Compare(comparison, left, right) = &self.program.operations[id.index()] {
            if let Some(a) = self.number(*left, base, captured)
                && let Some(b) = self.number(*right, base, captured)
            {
                return Ok(compare_numbers(*comparison, a, b));
            }
            let left = self.eval(*left, base, captured)?;
            let right = self.eval(*right, base, captured)?;
            return self.compare_operator(*comparison, left, right).map_err(|e| e.placed(self.program.span(id)));
        }
        if let Operation::Equal(equal, left, right) = &self.program.operations[id.index()]
            && let Some(a) = self.number(*left, base, captured)
            && let Some(b) = self.number(*right, base, captured)
        {
            return Ok((a == b) == *equal);
        }
        match self.eval_deep(id, base, captured)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(wrong_sort("a truth value", &other).placed(self.program.span(id))),
        }
    }

    /// An operand that may wait.
    pub(super) fn delay(&mut self, lazy: &Lazy, base: usize, captured: &[Value]) -> Result<Value> {
        match *lazy {
            Lazy::Now(id) => match &self.program.operations[id.index()] {
                Operation::Variable(access) => Ok(self.raw(*access, base, captured)),
                _ => self.eval(id, base, captured),
            },
            Lazy::Cheap(id, unit) => match self.cheap(id, base, captured) {
                Some(value) => Ok(value),
                None => Ok(self.thunk(unit, base, captured)),
            },
            Lazy::Later(unit) => Ok(self.thunk(unit, base, captured)),
        }
    }

    pub(super) fn delay_all(&mut self, items: &[Lazy], base: usize, captured: &[Value]) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.delay(item, base, captured)?);
        }
        Ok(values)
    }

    fn thunk(&mut self, unit: UnitId, base: usize, captured: &[Value]) -> Value {
        let captures = self.capture(&self.program.units[unit.index()].captures, base, captured);
        Value::thunk(Delayed::Waiting(unit, captures))
    }

    /// The value of a cheap operation when it takes no evaluation and cannot go wrong.
    #[inline]
    fn cheap(&self, id: OperationId, base: usize, captured: &[Value]) -> Option<Value> {
        match self.number(id, base, captured) {
            Some(number) => Some(Value::Int(number)),
            None => self.cheap_other(id, base, captured),
        }
    }

    #[inline(never)]
    fn cheap_other(&self, id: OperationId, base: usize, captured: &[Value]) -> Option<Value> {
        match &self.program.operations[id.index()] {
            Operation::Constant(value) => Some(value.clone()),
            Operation::Variable(access) => Some(self.raw(*access, base, captured)).filter(Value::is_evaluated),
            Operation::Global(global) => match &self.state.globals[global.index()] {
                GlobalState::Done(value) => Some(value.clone()),
                _ => None,
            },
            Operation::Member(access, member) => {
                let group = self.group_at(*access, base, captured);
                match self.program.groups[group.id.index()].members[*member as usize] {
                    MemberCode::Function(function) => {
                        let captures = vec![Value::Group(group)];
                        Some(Value::Function(Rc::new(Closure { function, captures, applied: Vec::new(), lists: 0 })))
                    }
                    MemberCode::Value(cell, _) => match &*group.cells[cell as usize].state.borrow() {
                        Delayed::Done(value) => Some(value.clone()),
                        _ => None,
                    },
                }
            }
            Operation::Arithmetic(operator, left, right) => {
                let Some(Value::Int(left)) = self.cheap(*left, base, captured) else { return None };
                let Some(Value::Int(right)) = self.cheap(*right, base, captured) else { return None };
                arithmetic(*operator, left, right).ok().map(Value::Int)
            }
            Operation::Negate(of) => match self.cheap(*of, base, captured) {
                Some(Value::Int(number)) => number.checked_neg().map(Value::Int),
                _ => None,
            },
            Operation::Not(of) => match self.cheap(*of, base, captured) {
                Some(Value::Bool(truth)) => Some(Value::Bool(!truth)),
                _ => None,
            },
            Operation::Compare(comparison, left, right) => {
                let Some(Value::Int(left)) = self.cheap(*left, base, captured) else { return None };
                let Some(Value::Int(right)) = self.cheap(*right, base, captured) else { return None };
                Some(Value::Bool(compare_numbers(*comparison, left, right)))
            }
            _ => None,
        }
    }

    /// Evaluates a thunk, once.
    pub(super) fn force(&mut self, thunk: &Rc<Thunk>) -> Result<Value> {
        if let Delayed::Done(value) = &*thunk.state.borrow() {
            return Ok(value.clone());
        }
        self.force_first(thunk)
    }

    #[inline(never)]
    fn force_first(&mut self, thunk: &Rc<Thunk>) -> Result<Value> {
        let before = std::mem::replace(&mut *thunk.state.borrow_mut(), Delayed::Running);
        let (after, result) = match before {
            Delayed::Done(value) => (Delayed::Done(value.clone()), Ok(value)),
            Delayed::Waiting(unit, captures) => match self.run(unit, &captures) {
                Ok(value) => (Delayed::Done(value.clone()), Ok(value)),
                Err(failure) => (Delayed::Waiting(unit, captures), Err(failure)),
            },
            Delayed::From(from) => {
                let value = numbers_from(from);
                (Delayed::Done(value.clone()), Ok(value))
            }
            Delayed::More(more) => match self.more(&more) {
                Ok(value) => (Delayed::Done(value.clone()), Ok(value)),
                Err(failure) => (Delayed::More(more), Err(failure)),
            },
            Delayed::Append(left, right) => match self.append_now(&left, &right) {
                Ok(value) => (Delayed::Done(value.clone()), Ok(value)),
                Err(failure) => (Delayed::Append(left, right), Err(failure)),
            },
            Delayed::Open(number) => (Delayed::Open(number), Err(Failure::open(number))),
            Delayed::Running | Delayed::Member => {
                let message = "this value depends on itself";
                (Delayed::Running, Err(Failure::new(codes::DEPENDS_ON_ITSELF, message)))
            }
        };
        *thunk.state.borrow_mut() = after;
        result
    }

    fn append_now(&mut self, left: &Value, right: &Value) -> Result<Value> {
        let left = self.whole_of(left)?;
        self.concatenate(&left, right.clone())
    }
}

pub(super) fn overflow() -> Failure {
    Failure::new(codes::OVERFLOW, "the result does not fit in 32 bits")
}

pub(super) fn wrong_sort(wanted: &str, found: &Value) -> Failure {
    Failure::new(codes::WRONG_SORT, format!("expected {wanted}, found {}", found.sort()))
}

fn arithmetic(operator: Arithmetic, left: i32, right: i32) -> Result<i32> {
    checked(operator, left, right).ok_or_else(|| went_wrong(operator, left, right))
}

#[cold]
#[inline(never)]
fn went_wrong(operator: Arithmetic, left: i32, right: i32) -> Failure {
    match operator {
        Arithmetic::Divide | Arithmetic::Remainder if right == 0 => {
            Failure::new(codes::ZERO_DIVISOR, format!("division of {left} by zero"))
        }
        _ => overflow(),
    }
}

/// Division rounds down and the remainder is not negative when the divisor is positive, as in mathematics.
#[inline]
fn checked(operator: Arithmetic, left: i32, right: i32) -> Option<i32> {
    match operator {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide => left
            .checked_div(right)
            .map(|quotient| if left % right != 0 && (left < 0) != (right < 0) { quotient - 1 } else { quotient }),
        // The quotient of the smallest number and -1 does not fit, but the remainder does.
        Arithmetic::Remainder => (right != 0).then(|| left.wrapping_rem(right)).map(|remainder| {
            if remainder != 0 && (remainder < 0) != (right < 0) { remainder + right } else { remainder }
        }),
    }
}

pub(super) fn compare_numbers(comparison: Comparison, left: i32, right: i32) -> bool {
    match comparison {
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

/// The sequence of the numbers from here on, a few at a time.
pub(super) fn numbers_from(from: i32) -> Value {
    let to = from.saturating_add(63);
    let items = (from..=to).map(Value::Int).collect();
    let next = to.checked_add(1).map(|next| Value::thunk(Delayed::From(next)));
    Value::sequence_then(items, next)
}

impl ConstructorId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
