//! Dots: constructors and channels that gather their fields.
//!
//! Dotting walks the components from left to right: as long as the value so far ends in a constructor that lacks
//! fields, the next component becomes its next field (or a field of the innermost constructor in it that lacks one);
//! else it stands beside it. A field that is complete must belong to the set that the declaration gives for it. What
//! the fields range over is found when it is first needed, because datatypes may be recursive; a declared set of dotted
//! values counts as several fields and must be a product of sets.

use std::rc::Rc;

use super::code::OperationId;
use super::codes;
use super::failure::{Failure, Result};
use super::machine::{Machine, wrong_sort};
use super::matching::{components, dotted};
use super::order::compare;
use super::sets::{SetKind, SetValue, begins};
use super::value::{ConstructorId, Data, Value};

/// More elements than this are not listed.
pub(super) const LONGEST: usize = 50_000_000;

impl Machine<'_> {
    /// `a.b.…` of operations.
    pub(super) fn dot(&mut self, parts: &[OperationId], base: usize, captured: &[Value]) -> Result<Value> {
        let mut values = Vec::with_capacity(parts.len());
        for &part in parts {
            values.push(self.eval(part, base, captured)?);
        }
        self.combine(values)
    }

    /// Dots values together.
    pub(super) fn combine(&mut self, values: Vec<Value>) -> Result<Value> {
        let mut combined: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            // Sets that stand beside each other serve as a type, which may be recursive and is not to be listed.
            let lacking = matches!(combined.last(), Some(Value::Data(data)) if !data.complete);
            if !lacking && let Value::Set(_) = value {
                combined.push(value);
                continue;
            }
            let value = self.finish(value)?;
            for component in components(&value) {
                let extended = match combined.last() {
                    Some(Value::Data(data)) if !data.complete => Some(self.extend(data, component)?),
                    _ => None,
                };
                match extended {
                    Some(extended) => *combined.last_mut().expect("it was looked at") = extended,
                    None => combined.push(component.clone()),
                }
            }
        }
        Ok(dotted(combined))
    }

    /// Adds a component to a value that lacks fields.
    fn extend(&mut self, data: &Rc<Data>, component: &Value) -> Result<Value> {
        let sets = self.fields_of(data.constructor)?;
        let mut fields = data.fields.clone();
        let extended = match fields.last() {
            Some(Value::Data(last)) if !last.complete => Some(self.extend(&Rc::clone(last), component)?),
            _ => None,
        };
        match extended {
            Some(extended) => *fields.last_mut().expect("it was looked at") = extended,
            None => fields.push(component.clone()),
        }
        let last = fields.last().expect("one was added");
        let whole = !matches!(last, Value::Data(last) if !last.complete);
        if whole {
            let set = &sets[fields.len() - 1];
            if !self.member_of(last, set)? {
                return Err(self.bad_field(data.constructor, fields.len(), last));
            }
        }
        let complete = whole && fields.len() == sets.len();
        Ok(Value::Data(Rc::new(Data::new(data.constructor, fields, complete))))
    }

    fn bad_field(&mut self, constructor: ConstructorId, number: usize, value: &Value) -> Failure {
        let shown = self.show_short(value);
        let constructor = &self.program.constructors[constructor.index()];
        let sort = if constructor.channel { "channel" } else { "constructor" };
        let message = format!("{shown} is outside the type of field {number} of the {sort} `{}`", constructor.name);
        Failure::new(codes::BAD_FIELD, message).also(constructor.span, "declared here")
    }

    /// Membership; lists the set only where its description does not answer.
    pub(super) fn member_of(&mut self, value: &Value, set: &Rc<SetValue>) -> Result<bool> {
        Ok(set.has(value))
    }

    /// What the fields of a constructor or channel range over.
    pub(super) fn fields_of(&mut self, id: ConstructorId) -> Result<Rc<Vec<Rc<SetValue>>>> {
        if let Some(fields) = &self.state.fields[id.index()] {
            return Ok(Rc::clone(fields));
        }
        let constructor = &self.program.constructors[id.index()];
        let fields = match constructor.fields {
            None => Vec::new(),
            Some(unit) => {
                if std::mem::replace(&mut self.state.fields_running[id.index()], true) {
                    let message = format!("the fields of `{}` depend on its own values", constructor.name);
                    return Err(Failure::at(codes::DEPENDS_ON_ITSELF, message, Some(constructor.span)));
                }
                let result = self.run(unit, &[]).and_then(|value| {
                    let mut fields = Vec::new();
                    self.type_sets(&value, &mut fields)?;
                    Ok(fields)
                });
                self.state.fields_running[id.index()] = false;
                result.map_err(|failure| failure.called(&constructor.name, constructor.span))?
            }
        };
        let fields = Rc::new(fields);
        self.state.fields[id.index()] = Some(Rc::clone(&fields));
        Ok(fields)
    }

    /// A value in the place of a type: a set, a tuple of sets, or sets with dots between them.
    pub(super) fn type_sets(&mut self, value: &Value, into: &mut Vec<Rc<SetValue>>) -> Result<()> {
        match self.whole_of(value)? {
            Value::Dot(items) => {
                for item in &items.items {
                    self.type_sets(item, into)?;
                }
                Ok(())
            }
            Value::Set(set) => self.split_fields(set, into),
            tuple @ Value::Tuple(_) => {
                into.push(self.type_set(&tuple)?);
                Ok(())
            }
            other => Err(wrong_sort("a set, which serves as a type,", &other)),
        }
    }

    /// The same as one set.
    pub(super) fn type_set(&mut self, value: &Value) -> Result<Rc<SetValue>> {
        match self.whole_of(value)? {
            Value::Tuple(items) => {
                let mut sets = Vec::with_capacity(items.items.len());
                for item in &items.items {
                    sets.push(self.type_set(item)?);
                }
                Ok(SetValue::described(SetKind::Tuples(sets)))
            }
            Value::Set(set) => Ok(set),
            other => {
                let mut sets = Vec::new();
                self.type_sets(&other, &mut sets)?;
                match sets.len() {
                    1 => Ok(sets.swap_remove(0)),
                    _ => Ok(SetValue::described(SetKind::Dots(sets))),
                }
            }
        }
    }

    /// A set of dotted values as the sets whose product it is.
    fn split_fields(&mut self, set: Rc<SetValue>, into: &mut Vec<Rc<SetValue>>) -> Result<()> {
        if let SetKind::Dots(sets) = &set.kind {
            into.extend(sets.iter().cloned());
            return Ok(());
        }
        let Some(items) = set.listing.get().cloned() else {
            into.push(set);
            return Ok(());
        };
        let Some(width) = items.iter().map(|item| components(item).len()).max().filter(|&width| width > 1) else {
            into.push(set);
            return Ok(());
        };
        let uneven = || {
            let message = "the set of dotted values that declares these fields is not a product of sets";
            Failure::new(codes::NOT_RECTANGULAR, message).help(
                "a product has every combination of its parts: write the sets with dots between them, as in `A.B`",
            )
        };
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); width];
        for item in items.iter() {
            if components(item).len() != width {
                return Err(uneven());
            }
            for (column, component) in columns.iter_mut().zip(components(item)) {
                column.push(component.clone());
            }
        }
        let columns: Vec<Rc<SetValue>> = columns.into_iter().map(SetValue::from_finished).collect();
        let product = columns
            .iter()
            .try_fold(1usize, |product, column| product.checked_mul(column.listed().map_or(0, <[Value]>::len)));
        if product != Some(items.len()) {
            return Err(uneven());
        }
        into.extend(columns);
        Ok(())
    }

    /// All complete values that begin with this one.
    pub(super) fn productions(&mut self, value: &Value) -> Result<Vec<Value>> {
        let Value::Data(data) = value else { return Ok(vec![value.clone()]) };
        if data.complete {
            return Ok(vec![value.clone()]);
        }
        if data.fields.is_empty() && self.state.listing.contains(&data.constructor) {
            let name = &self.program.constructors[data.constructor.index()].name;
            let message = format!("`{name}` has infinitely many values: it occurs in its own fields");
            return Err(Failure::new(codes::INFINITE, message));
        }
        self.state.listing.push(data.constructor);
        let result = self.productions_inside(data);
        self.state.listing.pop();
        result
    }

    fn productions_inside(&mut self, data: &Rc<Data>) -> Result<Vec<Value>> {
        let sets = self.fields_of(data.constructor)?;
        let mut columns: Vec<Rc<Vec<Value>>> = Vec::with_capacity(sets.len());
        let mut given = data.fields.len();
        let unfinished = match data.fields.last() {
            Some(last @ Value::Data(inner)) if !inner.complete => Some(last.clone()),
            _ => None,
        };
        if unfinished.is_some() {
            given -= 1;
        }
        columns.extend(data.fields[..given].iter().map(|field| Rc::new(vec![field.clone()])));
        if let Some(partial) = unfinished {
            columns.push(Rc::new(self.productions_in(&partial, &sets[given])?));
        }
        for set in &sets[columns.len()..] {
            columns.push(self.list(set)?);
        }
        let constructor = data.constructor;
        self.product(&columns, |fields| Value::Data(Rc::new(Data::new(constructor, fields, true))))
    }

    /// The elements of a set that begin with a value.
    fn productions_in(&mut self, partial: &Value, set: &Rc<SetValue>) -> Result<Vec<Value>> {
        if let (SetKind::Productions(all), Value::Data(data)) = (&set.kind, partial)
            && all.iter().any(
                |all| matches!(all, Value::Data(all) if all.constructor == data.constructor && all.fields.is_empty()),
            )
        {
            return self.productions(partial);
        }
        let items = self.list(set)?;
        Ok(items.iter().filter(|item| begins(partial, item)).cloned().collect())
    }

    /// Every choice of one item from each column, in order.
    pub(super) fn product(
        &mut self,
        columns: &[Rc<Vec<Value>>],
        mut make: impl FnMut(Vec<Value>) -> Value,
    ) -> Result<Vec<Value>> {
        let size = columns.iter().try_fold(1usize, |size, column| size.checked_mul(column.len()));
        let Some(size) = size.filter(|&size| size <= LONGEST) else {
            return Err(Failure::new(
                codes::TOO_LARGE,
                format!("a set of more than {LONGEST} elements cannot be enumerated"),
            ));
        };
        self.state.control.afford(size.saturating_mul(48 + 16 * columns.len()))?;
        let mut made = Vec::with_capacity(size);
        if size == 0 {
            return Ok(made);
        }
        let mut at = vec![0; columns.len()];
        loop {
            made.push(make(columns.iter().zip(&at).map(|(column, &at)| column[at].clone()).collect()));
            if made.len().is_multiple_of(1 << 16) {
                self.budgets()?;
            }
            let mut column = columns.len();
            loop {
                if column == 0 {
                    return Ok(made);
                }
                column -= 1;
                at[column] += 1;
                if at[column] < columns[column].len() {
                    break;
                }
                at[column] = 0;
            }
        }
    }

    /// All `x` such that `value.x` is complete.
    pub(super) fn extensions(&mut self, value: &Value) -> Result<Vec<Value>> {
        let mut extensions = Vec::new();
        for production in self.productions(value)? {
            self.state.control.check()?;
            let mut missing = Vec::new();
            difference(value, &production, &mut missing);
            extensions.push(dotted(missing));
        }
        extensions.sort_unstable_by(compare);
        extensions.dedup();
        Ok(extensions)
    }

    /// All single components that can come next after a value that lacks fields.
    pub(super) fn next_components(&mut self, value: &Value) -> Result<Rc<Vec<Value>>> {
        let Value::Data(data) = value else { return Ok(Rc::new(Vec::new())) };
        if data.complete {
            return Ok(Rc::new(Vec::new()));
        }
        let sets = self.fields_of(data.constructor)?;
        match data.fields.last() {
            Some(last @ Value::Data(inner)) if !inner.complete => {
                let set = &sets[data.fields.len() - 1];
                if let SetKind::Productions(all) = &set.kind
                    && all.iter().any(|all| begins(all, last))
                {
                    return self.next_components(last);
                }
                let mut next = Vec::new();
                for production in self.productions_in(last, set)? {
                    let mut missing = Vec::new();
                    difference(last, &production, &mut missing);
                    next.extend(missing.into_iter().next());
                }
                next.sort_unstable_by(compare);
                next.dedup();
                Ok(Rc::new(next))
            }
            _ => self.list(&sets[data.fields.len()]),
        }
    }
}

/// The components that were added to `short` to give `long`.
pub(super) fn difference(short: &Value, long: &Value, into: &mut Vec<Value>) {
    let (Value::Data(short), Value::Data(long)) = (short, long) else { return };
    let given = short.fields.len();
    if given > 0 {
        difference(&short.fields[given - 1], &long.fields[given - 1], into);
    }
    into.extend_from_slice(&long.fields[given..]);
}
