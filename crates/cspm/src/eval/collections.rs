//! Sets, sequences and maps as they are written: listed, as ranges, as comprehensions.

use std::rc::Rc;

use super::code::*;
use super::codes;
use super::failure::{Failure, Result};
use super::machine::{Machine, numbers_from, wrong_sort};
use super::order::compare;
use super::sets::{SetKind, SetValue};
use super::value::{Data, Delayed, MapValue, More, Value};

/// What is done for a choice of the generators, in a frame with captures.
pub(super) type Each<'a, 'p> = dyn FnMut(&mut Machine<'p>, usize, &[Value]) -> Result<()> + 'a;

/// What a generator draws from.
enum Source {
    Range(i32, i32),
    Items(Rc<Vec<Value>>),
}

impl<'p> Machine<'p> {
    pub(super) fn eval_collection(&mut self, id: OperationId, base: usize, captured: &[Value]) -> Result<Value> {
        let program = self.program;
        Ok(match &program.operations[id.index()] {
            Operation::Set(items) => {
                let mut values = Vec::with_capacity(items.len());
                for &item in items {
                    let value = self.eval(item, base, captured)?;
                    values.push(self.finish(value)?);
                }
                Value::Set(SetValue::from_finished(values))
            }
            Operation::Map(pairs) => {
                let mut entries = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let key = self.eval(*key, base, captured)?;
                    let key = self.finish(key)?;
                    entries.push((key, self.delay(value, base, captured)?));
                }
                map_of(entries)
            }
            Operation::SequenceRange(span) => self.sequence_range(span, base, captured)?,
            Operation::SetRange(span) => Value::Set(self.set_range(span, base, captured)?),
            Operation::Productions(items) => {
                let mut values = Vec::with_capacity(items.len());
                for &item in items {
                    let value = self.eval(item, base, captured)?;
                    values.push(self.finish(value)?);
                }
                Value::Set(productions_of(values))
            }
            Operation::Comprehension(id) => {
                let comprehension = &program.comprehensions[id.index()];
                if let (ComprehensionKind::Sequence, Some(Step::Generator(_, source))) =
                    (comprehension.kind, comprehension.steps.first())
                {
                    let value = self.eval(*source, base, captured)?;
                    if let Value::Sequence(..) = value {
                        let placed = |failure: Failure| failure.placed(program.span(*source));
                        return self.sequence_comprehension(*id, value, base, captured).map_err(placed);
                    }
                }
                return self.comprehension(comprehension, base, captured);
            }
            Operation::Dot(parts) => return self.dot(parts, base, captured),
            Operation::TypeSet(of) => {
                let value = self.eval(*of, base, captured)?;
                Value::Set(self.type_set(&value)?)
            }
            Operation::Datatype(constructors) => {
                let bare = |&id: &super::value::ConstructorId| {
                    let complete = program.constructors[id.index()].fields.is_none();
                    Value::Data(Rc::new(Data::new(id, Vec::new(), complete)))
                };
                Value::Set(SetValue::described(SetKind::Productions(constructors.iter().map(bare).collect())))
            }
            Operation::Subtype(clauses) => {
                let mut sets = Vec::with_capacity(clauses.len());
                for (constructor, fields) in clauses {
                    sets.push(self.subtype_clause(*constructor, *fields, base, captured)?);
                }
                match sets.len() {
                    1 => Value::Set(sets.swap_remove(0)),
                    _ => Value::Set(SetValue::described(SetKind::Unions(sets))),
                }
            }
            _ => unreachable!("every other operation is evaluated elsewhere"),
        })
    }

    fn subtype_clause(
        &mut self,
        constructor: super::value::ConstructorId,
        fields: Option<OperationId>,
        base: usize,
        captured: &[Value],
    ) -> Result<Rc<SetValue>> {
        let mut sets = Vec::new();
        if let Some(fields) = fields {
            let value = self.eval(fields, base, captured)?;
            self.type_sets(&value, &mut sets)?;
        }
        let wanted = self.fields_of(constructor)?;
        if sets.len() == wanted.len() {
            let mut all_inside = true;
            for (set, of) in sets.iter().zip(wanted.iter()) {
                all_inside &=
                    set.within(of) || (self.can_be_listed(set)? && self.list(set)?.iter().all(|item| of.has(item)));
            }
            if all_inside {
                return Ok(SetValue::described(SetKind::Constructed(constructor, sets)));
            }
        }
        // Fields are missing or cut differently than in the datatype: dot every choice together, then complete it.
        let mut columns = Vec::with_capacity(sets.len());
        for set in &sets {
            columns.push(self.list(set)?);
        }
        let bare = Value::Data(Rc::new(Data::new(constructor, Vec::new(), wanted.is_empty())));
        let mut partial = Vec::new();
        for choice in self.product(&columns, super::value::Value::tuple)? {
            let Value::Tuple(choice) = choice else { continue };
            let mut parts = vec![bare.clone()];
            parts.extend(choice.items.iter().cloned());
            partial.push(self.combine(parts)?);
        }
        Ok(productions_of(partial))
    }

    fn sequence_range(&mut self, span: &Span2, base: usize, captured: &[Value]) -> Result<Value> {
        match *span {
            Span2::From(from) => Ok(numbers_from(self.int(from, base, captured)?)),
            Span2::Between(from, to) => {
                let (from, to) = (self.int(from, base, captured)?, self.int(to, base, captured)?);
                let size = (i64::from(to) - i64::from(from) + 1).max(0) as usize;
                if size > super::dots::LONGEST {
                    return Err(Failure::new(
                        codes::TOO_LARGE,
                        format!("a sequence of {size} elements cannot be enumerated"),
                    ));
                }
                self.state.control.afford(size * 16)?;
                Ok(Value::sequence((from..=to).map(Value::Int).collect()))
            }
        }
    }

    fn set_range(&mut self, span: &Span2, base: usize, captured: &[Value]) -> Result<Rc<SetValue>> {
        match *span {
            Span2::From(from) => Ok(SetValue::described(SetKind::From(self.int(from, base, captured)?))),
            Span2::Between(from, to) => {
                let (from, to) = (self.int(from, base, captured)?, self.int(to, base, captured)?);
                Ok(if from > to {
                    SetValue::from_sorted(Vec::new())
                } else {
                    SetValue::described(SetKind::Range(from, to))
                })
            }
        }
    }

    /// A comprehension over a sequence, as far as the sequence is evaluated; the rest waits.
    fn sequence_comprehension(
        &mut self,
        id: ComprehensionId,
        source: Value,
        base: usize,
        captured: &[Value],
    ) -> Result<Value> {
        let comprehension = &self.program.comprehensions[id.index()];
        let Some((Step::Generator(matcher, _), rest)) = comprehension.steps.split_first() else {
            unreachable!("the caller looked at the first step");
        };
        let mut found = Vec::new();
        let mut cursor = self.walk(&source)?;
        loop {
            if !found.is_empty() && cursor.must_wait() {
                let frame = self.state.stack[base..].to_vec();
                let more = More { comprehension: id, rest: cursor.rest(), frame, captured: captured.to_vec() };
                return Ok(Value::sequence_then(found, Some(Value::thunk(Delayed::More(Box::new(more))))));
            }
            let Some(item) = self.step(&mut cursor, false)? else { return Ok(Value::sequence(found)) };
            self.state.steps += 1;
            if self.state.steps.is_multiple_of(1 << 6) {
                self.budgets()?;
            }
            if self.matches(*matcher, item, base)? {
                self.run_steps(rest, base, captured, &mut |machine, base, captured| {
                    machine.found_in_sequence(comprehension, base, captured, &mut found)
                })?;
            }
        }
    }

    /// Goes on with a comprehension that waited.
    pub(super) fn more(&mut self, more: &More) -> Result<Value> {
        let base = self.state.stack.len();
        self.state.stack.extend_from_slice(&more.frame);
        let rest = self.whole_of(&more.rest)?;
        let result = self.sequence_comprehension(more.comprehension, rest, base, &more.captured);
        self.state.stack.truncate(base);
        result
    }

    fn found_in_sequence(
        &mut self,
        comprehension: &Comprehension,
        base: usize,
        captured: &[Value],
        found: &mut Vec<Value>,
    ) -> Result<()> {
        match &comprehension.items {
            ComprehensionItems::Listed(items) => {
                for item in items {
                    found.push(self.delay(item, base, captured)?);
                }
            }
            ComprehensionItems::Range(span) => {
                let range = self.sequence_range(span, base, captured)?;
                found.extend(self.elements(&range)?);
            }
        }
        Ok(())
    }

    fn comprehension(&mut self, comprehension: &'p Comprehension, base: usize, captured: &[Value]) -> Result<Value> {
        let kind = comprehension.kind;
        let mut found: Vec<Value> = Vec::new();
        let mut sets: Vec<Rc<SetValue>> = Vec::new();
        self.run_steps(&comprehension.steps, base, captured, &mut |machine, base, captured| {
            match (&comprehension.items, kind) {
                (_, ComprehensionKind::Sequence) => {
                    machine.found_in_sequence(comprehension, base, captured, &mut found)?;
                }
                (ComprehensionItems::Listed(items), _) => {
                    for item in items {
                        let value = machine.delay(item, base, captured)?;
                        found.push(machine.finish(value)?);
                    }
                }
                (ComprehensionItems::Range(span), _) => sets.push(machine.set_range(span, base, captured)?),
            }
            if found.len().is_multiple_of(1 << 16) {
                machine.budgets()?;
            }
            Ok(())
        })?;
        Ok(match kind {
            ComprehensionKind::Sequence => Value::sequence(found),
            ComprehensionKind::Productions => Value::Set(productions_of(found)),
            ComprehensionKind::Set => {
                let mut all = SetValue::from_finished(found);
                for set in &sets {
                    all = self.union(&all, set)?;
                }
                Value::Set(all)
            }
        })
    }

    /// Runs `each` for every choice of the generators that meets the conditions.
    pub(super) fn run_steps(
        &mut self,
        steps: &[Step],
        base: usize,
        captured: &[Value],
        each: &mut Each<'_, 'p>,
    ) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else { return each(self, base, captured) };
        match *step {
            Step::Condition(condition) => {
                if self.truth(condition, base, captured)? {
                    self.run_steps(rest, base, captured, each)?;
                }
                Ok(())
            }
            Step::Generator(matcher, source) => {
                let span = self.program.span(source);
                let source = self.eval(source, base, captured)?;
                let source = self.source(source).map_err(|failure| failure.placed(span))?;
                let mut count: usize = 0;
                let mut one = |machine: &mut Machine<'p>, value: Value| -> Result<()> {
                    count += 1;
                    if count.is_multiple_of(1 << 6) {
                        machine.budgets()?;
                    }
                    if machine.matches(matcher, value, base)? {
                        machine.run_steps(rest, base, captured, each)?;
                    }
                    Ok(())
                };
                match source {
                    Source::Range(from, to) => {
                        for number in from..=to {
                            one(self, Value::Int(number))?;
                        }
                    }
                    Source::Items(items) => {
                        for item in items.iter() {
                            one(self, item.clone())?;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn source(&mut self, value: Value) -> Result<Source> {
        match &value {
            Value::Set(set) => match &set.kind {
                SetKind::Range(from, to) => Ok(Source::Range(*from, *to)),
                _ => Ok(Source::Items(self.list(set)?)),
            },
            Value::Sequence(..) => Ok(Source::Items(Rc::new(self.elements(&value)?))),
            other => Err(wrong_sort("a set or sequence", other)),
        }
    }
}

/// A map from pairs; the last value of a key counts.
pub(super) fn map_of(mut entries: Vec<(Value, Value)>) -> Value {
    entries.sort_by(|(a, _), (b, _)| compare(a, b));
    let mut unique: Vec<(Value, Value)> = Vec::with_capacity(entries.len());
    for entry in entries {
        match unique.last_mut() {
            Some(last) if compare(&last.0, &entry.0).is_eq() => *last = entry,
            _ => unique.push(entry),
        }
    }
    Value::Map(Rc::new(MapValue { entries: unique }))
}

/// `{| … |}` of values.
pub(super) fn productions_of(mut values: Vec<Value>) -> Rc<SetValue> {
    let complete = |value: &Value| !matches!(value, Value::Data(data) if !data.complete);
    if values.iter().all(complete) {
        return SetValue::from_finished(values);
    }
    values.sort_unstable_by(compare);
    values.dedup();
    SetValue::described(SetKind::Productions(values))
}
