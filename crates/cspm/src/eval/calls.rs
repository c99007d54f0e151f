//! Calls: running units and functions, with their budgets.
//!
//! A call in the last place of a body is not made there: the body ends with it, and the loop that ran the body goes on
//! with the called function in the same frame. Calls of functions that give processes are kept by their arguments.

use std::rc::Rc;

use trefoil_control::count;
use trefoil_source::Span;

use super::code::*;
use super::codes;
use super::failure::{Failure, Result};
use super::machine::{Machine, PATIENCE, RED_ZONE, SEGMENT, wrong_sort};
use super::process::{ProcessKind, ProcessNode};
use super::value::{Closure, Value};

/// How a body ends: with a value, or with a call whose arguments lie on the stack from a place on.
enum Ending {
    Value(Value),
    Call(Rc<Closure>, usize, Span),
}

impl<'p> Machine<'p> {
    /// Runs a unit to its value.
    pub(super) fn run(&mut self, unit: UnitId, captured: &[Value]) -> Result<Value> {
        self.descend()?;
        let result = stacker::maybe_grow(RED_ZONE, SEGMENT, || self.run_here(unit, captured));
        self.state.depth -= 1;
        result
    }

    fn run_here(&mut self, unit: UnitId, captured: &[Value]) -> Result<Value> {
        let unit = &self.program.units[unit.index()];
        let base = self.state.stack.len();
        self.state.stack.resize(base + unit.frame as usize, Value::Bool(false));
        let result = match self.body(unit.body, base, captured) {
            Ok(Ending::Value(value)) => Ok(value),
            Ok(Ending::Call(closure, from, span)) => {
                self.state.stack.drain(base..from);
                self.invoke_here(closure, base, span)
            }
            Err(failure) => Err(failure),
        };
        self.state.stack.truncate(base);
        result
    }

    /// Counts a level of nesting.
    fn descend(&mut self) -> Result<()> {
        self.state.depth += 1;
        if self.state.depth > self.state.depth_limit {
            self.state.depth -= 1;
            let message = format!("evaluation is nested deeper than {} calls", count(self.state.depth_limit as u64));
            return Err(Failure::new(codes::DEPTH, message).help("check that every recursion reaches a base case"));
        }
        self.state.steps += 1;
        if self.state.steps.is_multiple_of(PATIENCE) { self.budgets() } else { Ok(()) }
    }

    #[inline(never)]
    pub(super) fn budgets(&mut self) -> Result<()> {
        self.state.control.check()?;
        if self.state.steps > self.state.step_limit {
            let message = format!("evaluation used all of its {} steps", count(self.state.step_limit));
            return Err(Failure::new(codes::STEPS, message));
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn call(
        &mut self,
        id: OperationId,
        function: OperationId,
        arguments: &[Lazy],
        base: usize,
        captured: &[Value],
    ) -> Result<Value> {
        let function = self.callee(function, base, captured)?;
        let from = self.state.stack.len();
        let span = self.program.span(id);
        for argument in arguments {
            let value = self.delay(argument, base, captured)?;
            self.state.stack.push(value);
        }
        match function {
            Value::Function(closure) => {
                let called = closure.function;
                self.invoke(closure, from, span)
                    .map_err(|failure| failure.called(&self.program.functions[called.index()].name, span))
            }
            other => self.call_other(&other, from, span),
        }
    }

    /// The function of a call, which is mostly a name.
    #[inline]
    fn callee(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Value> {
        match &self.program.operations[id.index()] {
            Operation::Global(global) => self.global(*global),
            _ => self.eval_deep(id, base, captured),
        }
    }

    #[inline(never)]
    fn call_other(&mut self, function: &Value, from: usize, span: Span) -> Result<Value> {
        match function {
            Value::Builtin(builtin, section) => {
                let arguments = self.state.stack.split_off(from);
                self.builtin(*builtin, *section, arguments)
                    .map_err(|failure| failure.placed(span).called(builtin.text(), span))
            }
            Value::Image(relation) => {
                let arguments = self.state.stack.split_off(from);
                match arguments.as_slice() {
                    [of] => self.image(relation, of),
                    _ => Err(Failure::at(codes::WRONG_COUNT, "a relation is applied to one value", Some(span))),
                }
            }
            other => Err(wrong_sort("a function", other).placed(span)),
        }
    }

    /// Applies a function to values.
    pub(super) fn apply(&mut self, function: &Value, arguments: Vec<Value>, span: Span) -> Result<Value> {
        let from = self.state.stack.len();
        self.state.stack.extend(arguments);
        match function {
            Value::Function(closure) => self.invoke(Rc::clone(closure), from, span),
            other => self.call_other(other, from, span),
        }
    }

    /// Applies a function to the arguments on the stack from a place on.
    fn invoke(&mut self, closure: Rc<Closure>, from: usize, span: Span) -> Result<Value> {
        self.descend()?;
        let result = stacker::maybe_grow(RED_ZONE, SEGMENT, || self.invoke_here(closure, from, span));
        self.state.depth -= 1;
        result
    }

    fn invoke_here(&mut self, closure: Rc<Closure>, base: usize, span: Span) -> Result<Value> {
        let program = self.program;
        let mut closure = closure;
        let mut span = span;
        loop {
            let function = &program.functions[closure.function.index()];
            let given = self.state.stack.len() - base;
            let plain = function.lists.len() == 1 && given == function.parameters as usize;
            if !plain && let Some(partial) = self.gather(function, &closure, base, span)? {
                return Ok(partial);
            }
            if function.process {
                return self.invoke_process(function, &closure, base);
            }
            self.state.stack.resize(base + function.frame as usize, Value::Bool(false));
            let body = match function.clauses.first() {
                Some(FunctionClause { matchers: None, body }) => *body,
                _ => self.choose(function, base, span)?,
            };
            match self.body(body, base, &closure.captures)? {
                Ending::Value(value) => {
                    self.state.stack.truncate(base);
                    return Ok(value);
                }
                Ending::Call(next, from, at) => {
                    self.state.stack.drain(base..from);
                    self.state.steps += 1;
                    if self.state.steps.is_multiple_of(PATIENCE) {
                        self.budgets()?;
                    }
                    (closure, span) = (next, at);
                }
            }
        }
    }

    /// Checks the arguments from `base` on; gives the function again when further lists of arguments must come, else
    /// puts those of earlier lists before the last ones.
    #[inline(never)]
    fn gather(&mut self, function: &Function, closure: &Rc<Closure>, base: usize, span: Span) -> Result<Option<Value>> {
        let given = self.state.stack.len() - base;
        let list = closure.lists as usize;
        let wanted = function.lists[list] as usize;
        if given != wanted {
            let message = format!("`{}` takes {wanted} arguments here, not {given}", function.name);
            return Err(Failure::at(codes::WRONG_COUNT, message, Some(span)).also(function.span, "defined here"));
        }
        if list + 1 < function.lists.len() {
            let mut applied = closure.applied.clone();
            applied.extend(self.state.stack.drain(base..));
            let captures = closure.captures.clone();
            let (function, lists) = (closure.function, closure.lists + 1);
            return Ok(Some(Value::Function(Rc::new(Closure { function, captures, applied, lists }))));
        }
        if !closure.applied.is_empty() {
            self.state.stack.splice(base..base, closure.applied.iter().cloned());
        }
        Ok(None)
    }

    /// The body of the first clause that matches the arguments.
    #[inline(never)]
    fn choose(&mut self, function: &Function, base: usize, span: Span) -> Result<OperationId> {
        for clause in &function.clauses {
            let Some(matchers) = &clause.matchers else { return Ok(clause.body) };
            let mut matched = true;
            for (at, &matcher) in matchers.iter().enumerate() {
                let argument = self.state.stack[base + at].clone();
                if !self.matches_argument(matcher, argument, base, at)? {
                    matched = false;
                    break;
                }
            }
            if matched {
                return Ok(clause.body);
            }
        }
        Err(self.no_match(function, base, span))
    }

    /// Matches an argument, which stays in its slot with what was found out about it.
    fn matches_argument(&mut self, matcher: MatcherId, argument: Value, base: usize, at: usize) -> Result<bool> {
        match &self.program.matchers[matcher.index()] {
            Matcher::Any => Ok(true),
            Matcher::Bind(slot) => {
                self.state.stack[base + *slot as usize] = argument;
                Ok(true)
            }
            _ => {
                let value = match &argument {
                    Value::Thunk(thunk) => {
                        let value = self.force(thunk)?;
                        self.state.stack[base + at] = value.clone();
                        value
                    }
                    _ => argument,
                };
                self.matches(matcher, value, base)
            }
        }
    }

    #[inline(never)]
    fn no_match(&mut self, function: &Function, base: usize, span: Span) -> Failure {
        let arguments: Vec<Value> = self.state.stack[base..base + function.parameters as usize].to_vec();
        let shown: Vec<String> = arguments.iter().map(|value| self.show_short(value)).collect();
        let message = format!("no equation of `{}` matches ({})", function.name, shown.join(", "));
        Failure::at(codes::NO_MATCH, message, Some(span)).also(function.span, "its equations")
    }

    /// Calls of functions that give processes are kept: the same arguments give the same process.
    #[inline(never)]
    fn invoke_process(&mut self, function: &Function, closure: &Rc<Closure>, base: usize) -> Result<Value> {
        let mut key: Vec<Value> = closure.captures.clone();
        key.extend_from_slice(&self.state.stack[base..]);
        let height = self.state.stack.len();
        let mut finished = true;
        for value in &mut key {
            match self.finish(value.clone()) {
                Ok(done) => *value = done,
                // An argument that cannot be evaluated may never be needed.
                Err(failure) if failure.diagnostic().is_some() => {
                    self.state.stack.truncate(height);
                    finished = false;
                    break;
                }
                Err(stopped) => return Err(stopped),
            }
        }
        let key = (closure.function, key);
        if finished {
            match self.state.calls_kept.get(&key) {
                Some(Some(kept)) => {
                    let kept = kept.clone();
                    self.state.stack.truncate(base);
                    return Ok(kept);
                }
                // `Q(n) = F(Q(n))`: the caller gets a delayed call.
                Some(None) => {
                    self.state.stack.truncate(base);
                    let message = format!("`{}` depends on itself", function.name);
                    return Err(Failure::at(codes::DEPENDS_ON_ITSELF, message, Some(function.span)));
                }
                None => {
                    self.state.calls_kept.insert(key.clone(), None);
                }
            }
        }
        let result = self.run_process(function, closure, base);
        if finished {
            match &result {
                Ok(value) => self.state.calls_kept.insert(key, Some(value.clone())),
                Err(_) => self.state.calls_kept.remove(&key),
            };
        }
        result
    }

    fn run_process(&mut self, function: &Function, closure: &Rc<Closure>, base: usize) -> Result<Value> {
        self.state.stack.resize(base + function.frame as usize, Value::Bool(false));
        let body = self.choose(function, base, function.span)?;
        let result = match self.body(body, base, &closure.captures)? {
            Ending::Value(value) => value,
            Ending::Call(next, from, span) => self.invoke(next, from, span)?,
        };
        self.state.stack.truncate(base);
        Ok(result)
    }

    /// Evaluates a body up to a call in its last place.
    fn body(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Ending> {
        let program = self.program;
        let mut id = id;
        loop {
            match &program.operations[id.index()] {
                Operation::If(condition, then, otherwise) => {
                    id = if self.truth(*condition, base, captured)? { *then } else { *otherwise };
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
                Operation::Call(function, arguments) => {
                    let function = self.callee(*function, base, captured)?;
                    let from = self.state.stack.len();
                    for argument in arguments {
                        let value = self.delay(argument, base, captured)?;
                        self.state.stack.push(value);
                    }
                    let span = program.span(id);
                    return match function {
                        Value::Function(closure) => Ok(Ending::Call(closure, from, span)),
                        other => self.call_other(&other, from, span).map(Ending::Value),
                    };
                }
                _ => return self.eval(id, base, captured).map(Ending::Value),
            }
        }
    }

    /// Runs an operation of a process in its environment, with a fresh frame whose place is given to `work`.
    pub(super) fn in_process<T>(
        &mut self,
        process: &ProcessNode,
        work: impl FnOnce(&mut Machine<'p>, &'p ControlPoint, usize, &[Value]) -> Result<T>,
    ) -> Result<T> {
        let ProcessKind::Made(point, captures) = &process.kind else {
            return Err(Failure::new(codes::WRONG_SORT, "a built-in process has no operands in the script"));
        };
        let point = &self.program.control_points[point.index()];
        let base = self.state.stack.len();
        self.state.stack.resize(base + point.frame as usize, Value::Bool(false));
        let result = work(self, point, base, captures);
        self.state.stack.truncate(base);
        result
    }
}
