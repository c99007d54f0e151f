//! Listing described sets, and the operations of sets that avoid it.

use std::rc::Rc;

use super::codes;
use super::dots::LONGEST;
use super::failure::{Failure, Result};
use super::machine::{Machine, wrong_sort};
use super::matching::dotted;
use super::order::compare;
use super::sets::{SetKind, SetValue, merge};
use super::value::{Data, MapValue, Value};

/// Finished values list sets that they hold only up to about this many elements by themselves.
const WILLINGLY: usize = 1 << 20;

fn infinite(what: &str) -> Failure {
    Failure::new(codes::INFINITE, format!("the infinite set {what} cannot be enumerated"))
}

fn too_large() -> Failure {
    Failure::new(codes::TOO_LARGE, format!("a set of more than {LONGEST} elements cannot be enumerated"))
}

impl Machine<'_> {
    /// The elements of a set in order.
    pub(super) fn list(&mut self, set: &Rc<SetValue>) -> Result<Rc<Vec<Value>>> {
        if let Some(items) = set.listing.get() {
            return Ok(Rc::clone(items));
        }
        let mut items = stacker::maybe_grow(96 * 1024, 1 << 20, || self.list_kind(&set.kind))?;
        if !items.windows(2).all(|pair| compare(&pair[0], &pair[1]).is_lt()) {
            items.sort_unstable_by(compare);
            items.dedup();
        }
        let items = Rc::new(items);
        let _ = set.listing.set(Rc::clone(&items));
        Ok(items)
    }

    fn columns(&mut self, sets: &[Rc<SetValue>]) -> Result<Vec<Rc<Vec<Value>>>> {
        sets.iter().map(|set| self.list(set)).collect()
    }

    fn list_kind(&mut self, kind: &SetKind) -> Result<Vec<Value>> {
        match kind {
            SetKind::Listed => Ok(Vec::new()),
            SetKind::Integers => Err(infinite("`Int`")),
            SetKind::From(from) => Err(infinite(&format!("{{{from}..}}"))),
            SetKind::Characters => Err(infinite("`Char`")),
            SetKind::Processes => Err(infinite("`Proc`")),
            SetKind::Range(from, to) => {
                let size = (i64::from(*to) - i64::from(*from) + 1) as usize;
                if size > LONGEST {
                    return Err(too_large());
                }
                self.state.control.afford(size * 16)?;
                Ok((*from..=*to).map(Value::Int).collect())
            }
            SetKind::Sequences(of) => {
                if self.is_empty(of)? {
                    return Ok(vec![Value::Sequence(None, 0)]);
                }
                Err(infinite("of all sequences"))
            }
            SetKind::Subsets(of) => {
                let items = self.list(of)?;
                if items.len() > 25 {
                    return Err(too_large());
                }
                self.state.control.afford((1 << items.len()) * 80)?;
                let mut subsets = Vec::with_capacity(1 << items.len());
                for chosen in 0..1u32 << items.len() {
                    let part =
                        items.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, item)| item.clone());
                    subsets.push(Value::Set(SetValue::from_sorted(part.collect())));
                    if subsets.len().is_multiple_of(1 << 16) {
                        self.budgets()?;
                    }
                }
                Ok(subsets)
            }
            SetKind::Maps(keys, values) => {
                let keys = self.list(keys)?;
                let values = self.list(values)?;
                if keys.len() > 25 {
                    return Err(too_large());
                }
                let mut maps = Vec::new();
                for chosen in 0..1u32 << keys.len() {
                    let domain: Vec<Value> = keys
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| chosen >> at & 1 == 1)
                        .map(|(_, key)| key.clone())
                        .collect();
                    let columns = vec![Rc::clone(&values); domain.len()];
                    let made = self.product(&columns, |images| {
                        let entries = domain.iter().cloned().zip(images).collect();
                        Value::Map(Rc::new(MapValue { entries }))
                    })?;
                    maps.extend(made);
                    if maps.len() > LONGEST {
                        return Err(too_large());
                    }
                }
                Ok(maps)
            }
            SetKind::Productions(partial) => {
                let mut items = Vec::new();
                for value in partial {
                    let produced = self.productions(value)?;
                    items.extend(produced);
                }
                Ok(items)
            }
            SetKind::Tuples(sets) => {
                let columns = self.columns(sets)?;
                self.product(&columns, Value::tuple)
            }
            SetKind::Dots(sets) => {
                let columns = self.columns(sets)?;
                self.product(&columns, dotted)
            }
            SetKind::Constructed(constructor, sets) => {
                let columns = self.columns(sets)?;
                self.product(&columns, |fields| Value::Data(Rc::new(Data::new(*constructor, fields, true))))
            }
            SetKind::Unions(sets) => {
                let mut items = Vec::new();
                for set in sets {
                    items = merge(&items, &self.list(set)?);
                }
                Ok(items)
            }
        }
    }

    /// About how many elements a set has, without listing it; none when it is infinite or has very many.
    fn size_bound(&mut self, set: &Rc<SetValue>) -> Result<Option<usize>> {
        if let Some(items) = set.listing.get() {
            return Ok(Some(items.len()));
        }
        let product = |machine: &mut Self, sets: &[Rc<SetValue>]| -> Result<Option<usize>> {
            let mut size: usize = 1;
            for set in sets {
                match machine.size_bound(set)?.and_then(|other| size.checked_mul(other)) {
                    Some(next) => size = next,
                    None => return Ok(None),
                }
            }
            Ok(Some(size))
        };
        Ok(match &set.kind {
            SetKind::Listed => Some(0),
            SetKind::Integers | SetKind::From(_) | SetKind::Characters | SetKind::Processes => None,
            SetKind::Range(from, to) => usize::try_from(i64::from(*to) - i64::from(*from) + 1).ok(),
            SetKind::Sequences(of) => self.is_empty(of)?.then_some(1),
            SetKind::Subsets(of) => self.size_bound(of)?.filter(|&size| size < 60).map(|size| 1 << size),
            SetKind::Maps(keys, values) => {
                let (keys, values) = (self.size_bound(keys)?, self.size_bound(values)?);
                match (keys, values) {
                    (Some(keys), Some(values)) => (values + 1).checked_pow(u32::try_from(keys).unwrap_or(u32::MAX)),
                    _ => None,
                }
            }
            SetKind::Productions(partial) => {
                let mut size: usize = 0;
                for value in partial {
                    match self.production_bound(value)? {
                        Some(more) => size = size.saturating_add(more),
                        None => return Ok(None),
                    }
                }
                Some(size)
            }
            SetKind::Tuples(sets) | SetKind::Dots(sets) | SetKind::Constructed(_, sets) => product(self, sets)?,
            SetKind::Unions(sets) => {
                let mut size: usize = 0;
                for set in sets {
                    match self.size_bound(set)? {
                        Some(more) => size = size.saturating_add(more),
                        None => return Ok(None),
                    }
                }
                Some(size)
            }
        })
    }

    fn production_bound(&mut self, value: &Value) -> Result<Option<usize>> {
        let Value::Data(data) = value else { return Ok(Some(1)) };
        if data.complete {
            return Ok(Some(1));
        }
        if self.state.listing.contains(&data.constructor) {
            return Ok(None);
        }
        self.state.listing.push(data.constructor);
        let bound = self.production_bound_inside(data);
        self.state.listing.pop();
        bound
    }

    fn production_bound_inside(&mut self, data: &Rc<Data>) -> Result<Option<usize>> {
        let sets = self.fields_of(data.constructor)?;
        let mut given = data.fields.len();
        if matches!(data.fields.last(), Some(Value::Data(last)) if !last.complete) {
            given -= 1;
        }
        let mut size: usize = 1;
        for set in &sets[given..] {
            match self.size_bound(set)?.and_then(|other| size.checked_mul(other)) {
                Some(next) => size = next,
                None => return Ok(None),
            }
        }
        Ok(Some(size))
    }

    /// Whether a set is finite and of a size that is worth listing unasked.
    pub(super) fn can_be_listed(&mut self, set: &Rc<SetValue>) -> Result<bool> {
        Ok(self.size_bound(set)?.is_some_and(|size| size <= WILLINGLY))
    }

    pub(super) fn is_empty(&mut self, set: &Rc<SetValue>) -> Result<bool> {
        if let Some(items) = set.listing.get() {
            return Ok(items.is_empty());
        }
        match &set.kind {
            SetKind::Listed => Ok(true),
            SetKind::Integers
            | SetKind::From(_)
            | SetKind::Range(..)
            | SetKind::Characters
            | SetKind::Processes
            | SetKind::Sequences(_)
            | SetKind::Subsets(_)
            | SetKind::Maps(..) => Ok(false),
            _ => match self.size_bound(set)? {
                Some(0) => Ok(true),
                // A union of products is empty only when each part is, which the bound shows; a partial value inside a
                // set that is not a whole datatype needs the listing.
                Some(_) => Ok(self.list(set)?.is_empty()),
                None => Ok(false),
            },
        }
    }

    pub(super) fn card(&mut self, set: &Rc<SetValue>) -> Result<usize> {
        if let SetKind::Range(from, to) = &set.kind {
            return Ok((i64::from(*to) - i64::from(*from) + 1) as usize);
        }
        // The subsets of a set need no listing to be counted; more than a number can hold are refused by the listing.
        if let (None, SetKind::Subsets(of)) = (set.listing.get(), &set.kind)
            && self.size_bound(of)?.is_some_and(|bound| bound < i32::BITS as usize - 1)
        {
            return Ok(1 << self.card(of)?);
        }
        Ok(self.list(set)?.len())
    }

    pub(super) fn set(&mut self, value: &Value) -> Result<Rc<SetValue>> {
        match self.whole_of(value)? {
            Value::Set(set) => Ok(set),
            other => Err(wrong_sort("a set", &other)),
        }
    }

    pub(super) fn union(&mut self, left: &Rc<SetValue>, right: &Rc<SetValue>) -> Result<Rc<SetValue>> {
        if let (SetKind::Productions(a), SetKind::Productions(b)) = (&left.kind, &right.kind) {
            let mut both = a.clone();
            for value in b {
                if !both.iter().any(|other| super::sets::begins(other, value)) {
                    both.push(value.clone());
                }
            }
            return Ok(SetValue::described(SetKind::Productions(both)));
        }
        if !self.can_be_listed(left)? || !self.can_be_listed(right)? {
            if left.within(right) {
                return Ok(Rc::clone(right));
            }
            if right.within(left) {
                return Ok(Rc::clone(left));
            }
            return Ok(SetValue::described(SetKind::Unions(vec![Rc::clone(left), Rc::clone(right)])));
        }
        let (a, b) = (self.list(left)?, self.list(right)?);
        if a.is_empty() {
            return Ok(Rc::clone(right));
        }
        if b.is_empty() {
            return Ok(Rc::clone(left));
        }
        Ok(SetValue::from_sorted(merge(&a, &b)))
    }

    pub(super) fn inter(&mut self, left: &Rc<SetValue>, right: &Rc<SetValue>) -> Result<Rc<SetValue>> {
        let (small, large) = if self.can_be_listed(left)? { (left, right) } else { (right, left) };
        if !self.can_be_listed(small)? {
            if left.within(right) {
                return Ok(Rc::clone(left));
            }
            if right.within(left) {
                return Ok(Rc::clone(right));
            }
        }
        let items = self.list(small)?;
        Ok(SetValue::from_sorted(items.iter().filter(|item| large.has(item)).cloned().collect()))
    }

    pub(super) fn diff(&mut self, left: &Rc<SetValue>, right: &Rc<SetValue>) -> Result<Rc<SetValue>> {
        if !self.can_be_listed(left)? {
            if left.within(right) {
                return Ok(SetValue::from_sorted(Vec::new()));
            }
            if let SetKind::From(from) = &left.kind {
                // Only what lies at the beginning can be taken away from an endless range.
                let mut start = *from;
                while right.has(&Value::Int(start)) && start < i32::MAX {
                    start += 1;
                    self.budgets()?;
                }
                let beyond = self.can_be_listed(right)?
                    && !self.list(right)?.iter().any(|item| matches!(item, Value::Int(number) if *number > start));
                if beyond {
                    return Ok(SetValue::described(SetKind::From(start)));
                }
            }
        }
        let items = self.list(left)?;
        Ok(SetValue::from_sorted(items.iter().filter(|item| !right.has(item)).cloned().collect()))
    }
}
