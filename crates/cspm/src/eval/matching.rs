//! Patterns against values.
//!
//! A dotted pattern reads a stream of components. A name of a constructor opens the value at the head of the stream:
//! its fields take its place. Any other part takes as many whole components as it has parts itself; the last part takes
//! all that is left. So `x.y` splits off the shortest complete value, and `c.A.x` reaches into the value of `A` inside
//! `c` (Gibson-Robinson and Lowe, Symmetry reduction in CSP model checking, 2017, give the same rule).

use std::collections::VecDeque;
use std::rc::Rc;

use super::code::{Matcher, MatcherId};
use super::codes;
use super::failure::{Failure, Result};
use super::machine::Machine;
use super::value::{Data, Items, Value};

const RED_ZONE: usize = 96 * 1024;
const SEGMENT: usize = 1024 * 1024;

impl Machine<'_> {
    /// Whether a pattern matches; binds the slots of the frame at `base`.
    pub(super) fn matches(&mut self, id: MatcherId, value: Value, base: usize) -> Result<bool> {
        let matcher = &self.program.matchers[id.index()];
        match matcher {
            Matcher::Any => return Ok(true),
            Matcher::Bind(slot) => {
                self.state.stack[base + *slot as usize] = value;
                return Ok(true);
            }
            Matcher::Never => return Ok(false),
            Matcher::Ambiguous(span) => {
                let message = "several parts of this pattern may have any length, so it is ambiguous";
                return Err(Failure::at(codes::AMBIGUOUS, message, Some(*span)));
            }
            _ => {}
        }
        stacker::maybe_grow(RED_ZONE, SEGMENT, || self.matches_whole(matcher, value, base))
    }

    fn matches_whole(&mut self, matcher: &Matcher, value: Value, base: usize) -> Result<bool> {
        if let Matcher::Both(first, second) = matcher {
            return Ok(self.matches(*first, value.clone(), base)? && self.matches(*second, value, base)?);
        }
        let value = self.whole(value)?;
        match (matcher, &value) {
            (Matcher::Int(wanted), Value::Int(found)) => Ok(wanted == found),
            (Matcher::Bool(wanted), Value::Bool(found)) => Ok(wanted == found),
            (Matcher::Char(wanted), Value::Char(found)) => Ok(wanted == found),
            (Matcher::Tuple(parts), Value::Tuple(items)) => {
                if parts.len() != items.items.len() {
                    return Ok(false);
                }
                for (&part, item) in parts.iter().zip(&items.items) {
                    if !self.matches(part, item.clone(), base)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Matcher::Text(text), Value::Sequence(..)) => {
                let mut cursor = self.walk(&value)?;
                for &wanted in text {
                    let Some(item) = self.step(&mut cursor, false)? else { return Ok(false) };
                    if !matches!(self.whole(item)?, Value::Char(found) if found == wanted) {
                        return Ok(false);
                    }
                }
                Ok(self.step(&mut cursor, false)?.is_none())
            }
            (Matcher::Sequence(parts), Value::Sequence(..)) => {
                let mut cursor = self.walk(&value)?;
                let mut items = Vec::with_capacity(parts.len());
                for _ in parts {
                    let Some(item) = self.step(&mut cursor, false)? else { return Ok(false) };
                    items.push(item);
                }
                if self.step(&mut cursor, false)?.is_some() {
                    return Ok(false);
                }
                for (&part, item) in parts.iter().zip(items) {
                    if !self.matches(part, item, base)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Matcher::Around(before, middle, after), Value::Sequence(..)) => {
                let mut cursor = self.walk(&value)?;
                for &part in before {
                    let Some(item) = self.step(&mut cursor, false)? else { return Ok(false) };
                    if !self.matches(part, item, base)? {
                        return Ok(false);
                    }
                }
                if after.is_empty() {
                    let rest = cursor.rest();
                    return self.matches(*middle, rest, base);
                }
                let mut items = self.elements(&cursor.rest())?;
                if items.len() < after.len() {
                    return Ok(false);
                }
                let ends = items.split_off(items.len() - after.len());
                if !self.matches(*middle, Value::sequence(items), base)? {
                    return Ok(false);
                }
                for (&part, item) in after.iter().zip(ends) {
                    if !self.matches(part, item, base)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Matcher::EmptySet, Value::Set(set)) => self.is_empty(set),
            (Matcher::Singleton(part), Value::Set(set)) => {
                if !self.can_be_listed(set)? {
                    return Ok(false);
                }
                let items = self.list(set)?;
                match items.as_slice() {
                    [item] => self.matches(*part, item.clone(), base),
                    _ => Ok(false),
                }
            }
            (Matcher::Constructor(wanted), Value::Data(data)) => {
                Ok(data.constructor == *wanted && data.fields.is_empty())
            }
            (Matcher::Dot(parts), _) => {
                let stream = match &value {
                    Value::Dot(items) => items.items.iter().cloned().collect(),
                    // A variable before the first dot stands for the channel or constructor alone when there is nothing
                    // else that could be split.
                    Value::Data(data) if !self.opens(parts[0]) => {
                        let name = Data::new(data.constructor, Vec::new(), data.fields.is_empty());
                        std::iter::once(Value::Data(Rc::new(name))).chain(data.fields.iter().cloned()).collect()
                    }
                    _ => VecDeque::from([value.clone()]),
                };
                self.matches_stream(parts, stream, base)
            }
            _ => Ok(false),
        }
    }

    fn matches_stream(&mut self, parts: &[MatcherId], mut stream: VecDeque<Value>, base: usize) -> Result<bool> {
        for (at, &part) in parts.iter().enumerate() {
            if at + 1 == parts.len() {
                return match stream.len() {
                    0 => Ok(false),
                    _ => {
                        let rest = dotted(stream.into_iter().collect());
                        self.matches(part, rest, base)
                    }
                };
            }
            if let Matcher::Constructor(wanted) = &self.program.matchers[part.index()] {
                match stream.pop_front() {
                    Some(Value::Data(data)) if data.constructor == *wanted => {
                        for field in data.fields.iter().rev() {
                            stream.push_front(field.clone());
                        }
                    }
                    _ => return Ok(false),
                }
                continue;
            }
            let wanted = self.components(part);
            if stream.len() < wanted {
                return Ok(false);
            }
            let taken = dotted(stream.drain(..wanted).collect());
            if !self.matches(part, taken, base)? {
                return Ok(false);
            }
        }
        Ok(stream.is_empty())
    }

    /// Whether a part of a dotted pattern is a constructor or channel.
    fn opens(&self, id: MatcherId) -> bool {
        matches!(self.program.matchers[id.index()], Matcher::Constructor(_))
    }

    /// How many components a part of a dotted pattern takes.
    fn components(&self, id: MatcherId) -> usize {
        match &self.program.matchers[id.index()] {
            Matcher::Dot(parts) => parts.iter().map(|&part| self.components(part)).sum(),
            Matcher::Both(first, second) => self.components(*first).max(self.components(*second)),
            _ => 1,
        }
    }
}

/// Components as one value.
pub(super) fn dotted(mut components: Vec<Value>) -> Value {
    if components.len() == 1 {
        return components.swap_remove(0);
    }
    Value::Dot(Rc::new(Items::new(components)))
}

/// A value's components: those of a dotted value, or the value itself.
pub(super) fn components(value: &Value) -> &[Value] {
    match value {
        Value::Dot(items) => &items.items,
        value => std::slice::from_ref(value),
    }
}
