//! Values that are left open, so that one evaluation stands for many.
//!
//! Two states of a component often differ in values that do not matter for what the component can do: in
//! `e!x!y!z -> SKIP` the values of x, y and z go into the event, and nothing looks at them. Evaluation is by need, so
//! it shows where a value matters: a variable is given a thunk without a value ([`Delayed::Open`]), and what finishes
//! without forcing that thunk is true for every value (Wadler, *Theorems for free!*, 1989, says why; Lazić, *A semantic
//! study of data independence*, 1999, has the same for CSP). Forcing it ends the evaluation with a failure
//! that names the thunk ([`Failure::needs`]); the caller then gives this variable its value and tries again.
//!
//! # Invariants
//!
//! Nothing that contains an open value is finished, so it is in no set, is no key, and is compared with nothing:
//! whatever finishes values forces the thunk. A process with open values gets a number of its own
//! ([`Evaluator::identify`]) and is never hashed. Therefore no open value outlives the evaluation that uses it, except
//! in processes and thunks that are taken apart here and then forgotten.
//!
//! The failure that names an open value is a mistake for a caller that checks whether evaluation went wrong, because
//! some evaluations may go wrong without harm (an argument that is never needed). It does not reach users.

use std::rc::Rc;

use super::Evaluator;
use super::code::UnitId;
use super::failure::Result;
use super::machine::Machine;
use super::process::ProcessValue;
use super::sets::{SetKind, SetValue, begins};
use super::value::{ConstructorId, Data, Delayed, Value};

/// How many calls may be made and nested while values are open: a recursion that ends because equal arguments are
/// recognised may not end then.
const CALLS: u64 = 20_000_000;
const NESTED: u32 = 20_000;

/// A value, or the number of an open one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Given {
    Open(u32),
    Value(Value),
}

/// A computation that waits for open values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Computation {
    unit: UnitId,
    given: Box<[Given]>,
}

impl Computation {
    /// The open values that it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = u32> + '_ {
        self.given.iter().filter_map(|given| match given {
            Given::Open(number) => Some(*number),
            Given::Value(_) => None,
        })
    }
}

/// What a process captured, when some of its values are open.
pub(crate) enum Captured {
    Open(u32),
    Computed(Computation),
    /// Finished; data, or a function or local definitions.
    Value(Value),
    Process(ProcessValue),
}

/// Whether states may differ in this value: it is data, and neither a process nor a function nor an environment.
pub(crate) fn is_data(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Builtin(..) | Value::Image(_) | Value::Process(_) | Value::Group(_) => false,
        Value::Thunk(_) => false,
        Value::Int(_)
        | Value::Bool(_)
        | Value::Char(_)
        | Value::Tuple(_)
        | Value::Sequence(..)
        | Value::Set(_)
        | Value::Map(_)
        | Value::Data(_)
        | Value::Dot(_) => true,
    }
}

impl Value {
    /// A value that is left open.
    pub(crate) fn open(number: u32) -> Value {
        Value::thunk(Delayed::Open(number))
    }
}

/// The number of an open value as it stands.
pub(super) fn open_number(value: &Value) -> Option<u32> {
    match value {
        Value::Thunk(thunk) => match &*thunk.state.borrow() {
            Delayed::Open(number) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// The budgets of evaluation outside of [`Evaluator::open`].
pub(crate) struct Budgets {
    steps: u64,
    depth: u32,
}

impl Evaluator {
    /// Begins to evaluate with open values, with budgets that keep it short; to be ended by [`Evaluator::close`].
    pub(crate) fn open(&mut self) -> Budgets {
        let before = Budgets { steps: self.state.step_limit, depth: self.state.depth_limit };
        self.state.step_limit = before.steps.min(self.state.steps.saturating_add(CALLS));
        self.state.depth_limit = before.depth.min(self.state.depth.saturating_add(NESTED));
        before
    }

    /// Ends what [`Evaluator::open`] began.
    pub(crate) fn close(&mut self, before: &Budgets) {
        self.state.step_limit = before.steps;
        self.state.depth_limit = before.depth;
    }

    /// What a process captured, taken apart as far as open values allow.
    pub(crate) fn captured(&mut self, value: &Value) -> Result<Captured> {
        self.with(|machine| machine.captured(value))
    }

    /// The value of a computation when the open values have these.
    pub(crate) fn compute(&mut self, computation: &Computation, value: impl Fn(u32) -> Value) -> Result<Value> {
        let given = |given: &Given| match given {
            Given::Open(number) => value(*number),
            Given::Value(value) => value.clone(),
        };
        let captures: Vec<Value> = computation.given.iter().map(given).collect();
        self.with(|machine| {
            let value = machine.run(computation.unit, &captures)?;
            machine.finish(value)
        })
    }

    /// An event that begins with a value and goes on with others, dotted one by one.
    pub(crate) fn dotted(&mut self, prefix: &Value, values: Vec<Value>) -> Result<Value> {
        self.with(|machine| {
            let mut event = prefix.clone();
            for value in values {
                event = machine.combine(vec![event, value])?;
            }
            Ok(event)
        })
    }

    /// What the missing fields of an event range over, when just so many fields are missing.
    pub(crate) fn missing(&mut self, prefix: &Value, count: usize) -> Result<Option<Vec<Rc<SetValue>>>> {
        let Value::Data(data) = prefix else { return Ok(None) };
        let is_whole = |field: &Value| !matches!(field, Value::Data(inner) if !inner.complete);
        if !data.fields.iter().all(is_whole) {
            return Ok(None);
        }
        let sets = self.with(|machine| machine.fields_of(data.constructor))?;
        Ok((sets.len() == data.fields.len() + count).then(|| sets[data.fields.len()..].to_vec()))
    }
}

impl Machine<'_> {
    fn captured(&mut self, value: &Value) -> Result<Captured> {
        let mut value = value.seen();
        if let Some(number) = open_number(&value) {
            return Ok(Captured::Open(number));
        }
        if let Value::Thunk(thunk) = &value {
            match self.force(&Rc::clone(thunk)) {
                Ok(forced) => value = forced,
                Err(failure) if failure.needs().is_some() => {
                    let waiting = match &*thunk.state.borrow() {
                        Delayed::Waiting(unit, captures) => Some((*unit, captures.clone())),
                        _ => None,
                    };
                    let Some((unit, captures)) = waiting else { return Err(failure) };
                    let mut given = Vec::with_capacity(captures.len());
                    for capture in captures {
                        let capture = capture.seen();
                        given.push(match open_number(&capture) {
                            Some(number) => Given::Open(number),
                            None => Given::Value(self.finish(capture)?),
                        });
                    }
                    return Ok(Captured::Computed(Computation { unit, given: given.into() }));
                }
                Err(failure) => return Err(failure),
            }
        }
        match value {
            Value::Process(process) => Ok(Captured::Process(ProcessValue(process))),
            other => Ok(Captured::Value(self.finish(other)?)),
        }
    }
}

/// Whether a field of an event is one value that takes one field and belongs to a set.
pub(crate) fn fits(value: &Value, set: &SetValue) -> bool {
    let is_whole = match value {
        Value::Dot(_) => false,
        Value::Data(data) => data.complete,
        _ => true,
    };
    is_whole && set.has(value)
}

/// The event that begins with a value and has these fields besides, which fit.
pub(crate) fn with_fields(prefix: &Value, fields: impl Iterator<Item = Value>) -> Value {
    let Value::Data(data) = prefix else { unreachable!("only channels lack fields of events") };
    let fields = data.fields.iter().cloned().chain(fields).collect();
    Value::Data(Rc::new(Data::new(data.constructor, fields, true)))
}

/// Whether all complete events that begin with a value belong to a set, or none of them; nothing when that depends on
/// the fields that are missing, or is not known.
pub(crate) fn has_all(set: &SetValue, prefix: &Value) -> Option<bool> {
    if let Some(items) = set.listed() {
        return if items.iter().any(|item| begins(prefix, item)) { None } else { Some(false) };
    }
    match &set.kind {
        SetKind::Productions(partial) => {
            if partial.iter().any(|partial| begins(partial, prefix)) {
                return Some(true);
            }
            if partial.iter().any(|partial| begins(prefix, partial)) { None } else { Some(false) }
        }
        SetKind::Unions(sets) => {
            let answers: Vec<Option<bool>> = sets.iter().map(|set| has_all(set, prefix)).collect();
            if answers.contains(&Some(true)) {
                return Some(true);
            }
            if answers.contains(&None) { None } else { Some(false) }
        }
        _ => None,
    }
}

/// The constructor or channel of a value that has one.
pub(crate) fn constructor_of(value: &Value) -> Option<ConstructorId> {
    match value {
        Value::Data(data) => Some(data.constructor),
        _ => None,
    }
}
