//! Walking, joining, comparing and finishing values that may be lazy.

use std::cmp::Ordering;
use std::rc::Rc;

use super::code::Comparison;
use super::codes;
use super::failure::{Failure, Result};
use super::machine::{Machine, compare_numbers, overflow, wrong_sort};
use super::order::compare;
use super::process::ProcessKind;
use super::value::{Chunk, Delayed, Value};

/// From so many elements on, the memory budget is polled before they are copied.
const LONG: usize = 1 << 12;

const RED_ZONE: usize = 96 * 1024;
const SEGMENT: usize = 4 * 1024 * 1024;

/// Where a walk through a sequence stands.
pub(super) struct Cursor {
    chunk: Option<Rc<Chunk>>,
    at: usize,
}

impl Cursor {
    /// Whether the next element needs evaluation to be found.
    pub(super) fn must_wait(&self) -> bool {
        match &self.chunk {
            Some(chunk) if self.at >= chunk.items.len() => chunk.next.as_ref().is_some_and(|next| !next.is_evaluated()),
            _ => false,
        }
    }

    pub(super) fn rest(self) -> Value {
        match self.chunk {
            Some(chunk) if self.at < chunk.items.len() => Value::Sequence(Some(chunk), self.at as u32),
            Some(chunk) => chunk.next.clone().unwrap_or(Value::Sequence(None, 0)),
            None => Value::Sequence(None, 0),
        }
    }
}

/// Whether a sequence is known to be infinite.
fn endless(value: &Value) -> bool {
    match value {
        Value::Thunk(thunk) => matches!(&*thunk.state.borrow(), Delayed::From(_)),
        _ => false,
    }
}

pub(super) fn infinite_sequence() -> Failure {
    Failure::new(codes::INFINITE, "an infinite sequence cannot be enumerated")
}

impl Machine<'_> {
    /// Starts a walk.
    pub(super) fn walk(&mut self, value: &Value) -> Result<Cursor> {
        match self.whole_of(value)? {
            Value::Sequence(chunk, at) => Ok(Cursor { chunk, at: at as usize }),
            other => Err(wrong_sort("a sequence", &other)),
        }
    }

    /// The next element, not evaluated. A walk that means to reach the end (`all`) refuses endless sequences.
    pub(super) fn step(&mut self, cursor: &mut Cursor, all: bool) -> Result<Option<Value>> {
        loop {
            let Some(chunk) = &cursor.chunk else { return Ok(None) };
            if let Some(item) = chunk.items.get(cursor.at) {
                cursor.at += 1;
                return Ok(Some(item.clone()));
            }
            let Some(next) = chunk.next.clone() else {
                cursor.chunk = None;
                return Ok(None);
            };
            if all && endless(&next) {
                return Err(infinite_sequence());
            }
            *cursor = self.walk(&next)?;
        }
    }

    /// All elements, not evaluated.
    pub(super) fn elements(&mut self, value: &Value) -> Result<Vec<Value>> {
        let mut cursor = self.walk(value)?;
        let mut items = Vec::new();
        while let Some(item) = self.step(&mut cursor, true)? {
            items.push(item);
            if items.len().is_multiple_of(1 << 16) {
                self.budgets()?;
            }
        }
        Ok(items)
    }

    pub(super) fn length(&mut self, value: &Value) -> Result<Value> {
        let mut cursor = self.walk(value)?;
        let mut length: usize = 0;
        while let Some(chunk) = &cursor.chunk {
            length += chunk.items.len() - cursor.at;
            let Some(next) = chunk.next.clone() else { break };
            if endless(&next) {
                return Err(infinite_sequence());
            }
            self.state.steps += 1;
            if self.state.steps.is_multiple_of(1 << 16) {
                self.budgets()?;
            }
            cursor = self.walk(&next)?;
        }
        i32::try_from(length).map(Value::Int).map_err(|_| overflow())
    }

    /// `left ^ right`, where the right may be a thunk; what of the left is evaluated is copied.
    pub(super) fn concatenate(&mut self, left: &Value, right: Value) -> Result<Value> {
        let Value::Sequence(chunk, at) = left else { return Err(wrong_sort("a sequence", left)) };
        if let Value::Sequence(None, _) = right {
            return Ok(left.clone());
        }
        let mut items = Vec::new();
        let mut rest = Cursor { chunk: chunk.clone(), at: *at as usize };
        while let Some(chunk) = &rest.chunk {
            let more = &chunk.items[rest.at..];
            let length = items.len() + more.len();
            if length >= LONG && length > items.capacity() {
                self.state.control.afford(length.max(2 * items.capacity()) * size_of::<Value>())?;
            }
            items.extend_from_slice(more);
            match chunk.next.as_ref().map(Value::seen) {
                None => break,
                Some(Value::Sequence(chunk, at)) => rest = Cursor { chunk, at: at as usize },
                Some(unevaluated) => {
                    let next = Value::thunk(Delayed::Append(unevaluated, right));
                    return Ok(Value::sequence_then(items, Some(next)));
                }
            }
        }
        if items.is_empty() {
            return self.whole(right);
        }
        Ok(Value::sequence_then(items, Some(right)))
    }

    /// Evaluates everything in a value, and lists what sets in it can be listed.
    pub(super) fn finish(&mut self, value: Value) -> Result<Value> {
        match value {
            Value::Int(_) | Value::Bool(_) | Value::Char(_) | Value::Builtin(..) => Ok(value),
            _ => stacker::maybe_grow(RED_ZONE, SEGMENT, || self.finish_content(value)),
        }
    }

    fn finish_content(&mut self, value: Value) -> Result<Value> {
        let value = self.whole(value)?;
        match &value {
            Value::Tuple(items) | Value::Dot(items) => {
                // A kept hash shows that it was finished before.
                if items.hash.get() == 0 {
                    for item in &items.items {
                        self.finish(item.clone())?;
                    }
                }
            }
            Value::Sequence(..) => {
                let mut cursor = self.walk(&value)?;
                let mut finished: usize = 0;
                while let Some(item) = self.step(&mut cursor, true)? {
                    self.finish(item)?;
                    // A sequence may be its own rest: then no call is made and nothing grows.
                    finished += 1;
                    if finished.is_multiple_of(1 << 16) {
                        self.budgets()?;
                    }
                }
            }
            Value::Set(set) | Value::Image(set) => {
                if set.listing.get().is_none() && self.can_be_listed(set)? {
                    self.list(set)?;
                }
            }
            Value::Map(map) => {
                for (_, value) in &map.entries {
                    self.finish(value.clone())?;
                }
            }
            Value::Function(closure) => {
                for captured in closure.captures.iter().chain(&closure.applied) {
                    self.finish(captured.clone())?;
                }
            }
            Value::Group(group) => {
                for captured in &group.captures {
                    self.finish(captured.clone())?;
                }
            }
            Value::Process(process) => {
                if process.hash.get() == 0 && !process.finishing.replace(true) {
                    let (ProcessKind::Made(_, values) | ProcessKind::Builtin(_, _, values)) = &process.kind;
                    let finished = values.iter().try_for_each(|value| self.finish(value.clone()).map(drop));
                    process.finishing.set(false);
                    finished?;
                }
            }
            // Fields were finished when they were put in.
            Value::Data(_) => {}
            Value::Int(_) | Value::Bool(_) | Value::Char(_) | Value::Builtin(..) | Value::Thunk(_) => {}
        }
        Ok(value)
    }

    /// `==`.
    pub(super) fn equal(&mut self, left: Value, right: Value) -> Result<bool> {
        match (&left, &right) {
            (Value::Int(a), Value::Int(b)) => return Ok(a == b),
            (Value::Bool(a), Value::Bool(b)) => return Ok(a == b),
            (Value::Sequence(None, _), Value::Sequence(chunk, _))
            | (Value::Sequence(chunk, _), Value::Sequence(None, _)) => {
                return Ok(chunk.is_none());
            }
            (Value::Function(_) | Value::Builtin(..) | Value::Image(_) | Value::Process(_), _) => {
                return Err(Failure::new(codes::NO_EQUALITY, "functions and processes cannot be compared"));
            }
            _ => {}
        }
        let left = self.finish(left)?;
        let right = self.finish(right)?;
        Ok(compare(&left, &right).is_eq())
    }

    /// `<` and its like: numbers and characters by size, sets by inclusion, sequences by prefix, maps by inclusion,
    /// tuples lexicographically.
    pub(super) fn compare_operator(&mut self, comparison: Comparison, left: Value, right: Value) -> Result<bool> {
        if let (Value::Int(left), Value::Int(right)) = (&left, &right) {
            return Ok(compare_numbers(comparison, *left, *right));
        }
        let left = self.finish(left)?;
        let right = self.finish(right)?;
        let order = self.partial_order(&left, &right)?;
        Ok(match comparison {
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        })
    }

    fn partial_order(&mut self, left: &Value, right: &Value) -> Result<Option<Ordering>> {
        let (left, right) = (&left.seen(), &right.seen());
        let inclusion = |below: bool, above: bool| match (below, above) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => None,
        };
        Ok(match (left, right) {
            (Value::Int(_), Value::Int(_)) | (Value::Char(_), Value::Char(_)) | (Value::Bool(_), Value::Bool(_)) => {
                Some(compare(left, right))
            }
            (Value::Tuple(a), Value::Tuple(b)) => {
                for (a, b) in a.items.iter().zip(&b.items) {
                    match self.partial_order(a, b)? {
                        Some(Ordering::Equal) => {}
                        other => return Ok(other),
                    }
                }
                Some(Ordering::Equal)
            }
            (Value::Sequence(..), Value::Sequence(..)) => {
                let (a, b) = (self.elements(left)?, self.elements(right)?);
                let common = a.iter().zip(&b).all(|(a, b)| compare(a, b).is_eq());
                common.then(|| a.len().cmp(&b.len()))
            }
            (Value::Set(a), Value::Set(b)) => inclusion(a.within(b), b.within(a)),
            (Value::Map(a), Value::Map(b)) => {
                let within =
                    |machine: &mut Self, a: &super::value::MapValue, b: &super::value::MapValue| -> Result<bool> {
                        for (key, value) in &a.entries {
                            let Ok(at) = b.entries.binary_search_by(|(other, _)| compare(other, key)) else {
                                return Ok(false);
                            };
                            let order = if compare(value, &b.entries[at].1).is_eq() {
                                Some(Ordering::Equal)
                            } else {
                                machine.partial_order(value, &b.entries[at].1)?
                            };
                            if !matches!(order, Some(Ordering::Less | Ordering::Equal)) {
                                return Ok(false);
                            }
                        }
                        Ok(true)
                    };
                inclusion(within(self, a, b)?, within(self, b, a)?)
            }
            (Value::Data(_), Value::Data(_)) | (Value::Dot(_), Value::Dot(_)) => {
                compare(left, right).is_eq().then_some(Ordering::Equal)
            }
            _ => return Err(Failure::new(codes::WRONG_SORT, format!("{} has no order", left.sort()))),
        })
    }
}
