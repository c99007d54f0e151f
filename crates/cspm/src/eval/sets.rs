//! Sets: enumerated, or described until an operation needs their elements.
//!
//! A listed set is a sorted vector of finished values without repetition, shared by all holders of the set. A described
//! set (`Int`, `{n..}`, `Seq(S)`, `{|c|}`, the values of a datatype, products) answers membership from its description.
//! When it has to be listed the listing is kept, and from then on it counts as listed; a hash or order never depends on
//! whether that has happened, because values are finished (and so listed, if they can be) before they are compared.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::order::compare;
use super::value::{ConstructorId, Elements, Listing, Value, let_go};

/// A set.
pub struct SetValue {
    pub(super) kind: SetKind,
    pub(super) listing: Listing,
    pub(super) hash: Cell<u64>,
}

/// How a set is described.
pub(super) enum SetKind {
    /// By its listing.
    Listed,
    /// `Int`.
    Integers,
    /// `{n..}`.
    From(i32),
    /// `{m..n}`, not empty.
    Range(i32, i32),
    /// `Char`.
    Characters,
    /// `Proc`.
    Processes,
    /// `Seq(S)`.
    Sequences(Rc<SetValue>),
    /// `Set(S)`.
    Subsets(Rc<SetValue>),
    /// `Map(K, V)`.
    Maps(Rc<SetValue>, Rc<SetValue>),
    /// All complete values that begin with one of these.
    Productions(Vec<Value>),
    /// Tuples of elements.
    Tuples(Vec<Rc<SetValue>>),
    /// Dotted elements.
    Dots(Vec<Rc<SetValue>>),
    /// A constructor with elements as fields.
    Constructed(ConstructorId, Vec<Rc<SetValue>>),
    /// Everything in any of these.
    Unions(Vec<Rc<SetValue>>),
}

impl SetValue {
    pub(super) fn described(kind: SetKind) -> Rc<SetValue> {
        Rc::new(SetValue { kind, listing: OnceCell::new(), hash: Cell::new(0) })
    }

    /// From a vector that is sorted and free of repetition.
    pub(super) fn from_sorted(items: Vec<Value>) -> Rc<SetValue> {
        let listing = OnceCell::new();
        let _ = listing.set(Rc::new(items));
        Rc::new(SetValue { kind: SetKind::Listed, listing, hash: Cell::new(0) })
    }

    /// Whether its elements are numbers from 0 on, as far as its description or listing shows.
    pub(super) fn is_natural(&self) -> bool {
        match &self.kind {
            SetKind::From(from) | SetKind::Range(from, _) => *from >= 0,
            SetKind::Unions(sets) => sets.iter().all(|set| set.is_natural()),
            _ => self.listed().is_some_and(|items| items.iter().all(|item| matches!(item, Value::Int(0..)))),
        }
    }

    /// From finished values in any order.
    pub(super) fn from_finished(mut items: Vec<Value>) -> Rc<SetValue> {
        // Comprehensions over sorted sets are mostly sorted already.
        if !items.windows(2).all(|pair| compare(&pair[0], &pair[1]).is_lt()) {
            // A union is a few sorted runs, one behind the other; only the stable sort makes use of that.
            items.sort_by(compare);
            items.dedup_by(|a, b| compare(a, b).is_eq());
        }
        SetValue::from_sorted(items)
    }

    /// The elements in order, when the set has been listed.
    pub fn listed(&self) -> Option<&[Value]> {
        self.listing.get().map(|items| items.as_slice())
    }

    /// Whether it is described by so many parts that finding an element is slower than in a listing.
    pub fn is_scattered(&self) -> bool {
        const FEW: usize = 16;
        let parts = match &self.kind {
            SetKind::Productions(values) => values.len(),
            SetKind::Unions(sets) => sets.len(),
            _ => 0,
        };
        self.listing.get().is_none() && parts > FEW
    }

    /// Whether a finished value belongs to it.
    pub(super) fn has(&self, value: &Value) -> bool {
        if let Some(items) = self.listing.get() {
            return items.binary_search_by(|item| compare(item, value)).is_ok();
        }
        let value = &value.seen();
        match (&self.kind, value) {
            (SetKind::Integers, Value::Int(_)) | (SetKind::Characters, Value::Char(_)) => true,
            (SetKind::Processes, Value::Process(_)) => true,
            (SetKind::From(from), Value::Int(number)) => number >= from,
            (SetKind::Range(from, to), Value::Int(number)) => (from..=to).contains(&number),
            (SetKind::Sequences(of), Value::Sequence(..)) => Elements::of(value).all(|item| of.has(&item)),
            (SetKind::Subsets(of), Value::Set(set)) => set.within(of),
            (SetKind::Maps(keys, values), Value::Map(map)) => {
                map.entries.iter().all(|(key, value)| keys.has(key) && values.has(value))
            }
            (SetKind::Productions(partial), Value::Data(data)) => {
                data.complete && partial.iter().any(|partial| begins(partial, value))
            }
            (SetKind::Productions(partial), _) => partial.iter().any(|partial| compare(partial, value).is_eq()),
            (SetKind::Tuples(sets), Value::Tuple(items)) | (SetKind::Dots(sets), Value::Dot(items)) => {
                sets.len() == items.items.len() && sets.iter().zip(&items.items).all(|(set, item)| set.has(item))
            }
            (SetKind::Constructed(constructor, sets), Value::Data(data)) => {
                data.constructor == *constructor
                    && sets.len() == data.fields.len()
                    && sets.iter().zip(&data.fields).all(|(set, item)| set.has(item))
            }
            (SetKind::Unions(sets), _) => sets.iter().any(|set| set.has(value)),
            _ => false,
        }
    }

    /// Whether it is part of another set, as far as descriptions tell.
    pub(super) fn within(&self, other: &SetValue) -> bool {
        if let Some(items) = self.listing.get() {
            return items.iter().all(|item| other.has(item));
        }
        match (&self.kind, &other.kind) {
            (SetKind::Integers | SetKind::From(_) | SetKind::Range(..), SetKind::Integers) => true,
            (SetKind::From(a), SetKind::From(b)) => a >= b,
            (SetKind::Range(a, _), SetKind::From(b)) => a >= b,
            (SetKind::Sequences(a), SetKind::Sequences(b)) | (SetKind::Subsets(a), SetKind::Subsets(b)) => a.within(b),
            (SetKind::Maps(a, x), SetKind::Maps(b, y)) => a.within(b) && x.within(y),
            (SetKind::Unions(sets), _) => sets.iter().all(|set| set.within(other)),
            (SetKind::Characters, SetKind::Characters) | (SetKind::Processes, SetKind::Processes) => true,
            (SetKind::Tuples(a), SetKind::Tuples(b)) | (SetKind::Dots(a), SetKind::Dots(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.within(b))
            }
            (SetKind::Productions(a), SetKind::Productions(b)) => a.iter().all(|a| b.iter().any(|b| begins(b, a))),
            _ => false,
        }
    }
}

impl Drop for SetValue {
    fn drop(&mut self) {
        let mut parts = match self.listing.take().map(Rc::try_unwrap) {
            Some(Ok(items)) => items,
            _ => Vec::new(),
        };
        match std::mem::replace(&mut self.kind, SetKind::Listed) {
            SetKind::Sequences(set) | SetKind::Subsets(set) => parts.push(Value::Set(set)),
            SetKind::Maps(keys, values) => parts.extend([Value::Set(keys), Value::Set(values)]),
            SetKind::Productions(values) => parts.extend(values),
            SetKind::Tuples(sets) | SetKind::Dots(sets) | SetKind::Constructed(_, sets) | SetKind::Unions(sets) => {
                parts.extend(sets.into_iter().map(Value::Set));
            }
            _ => {}
        }
        let_go(&mut parts);
    }
}

impl From<Rc<SetValue>> for Value {
    fn from(set: Rc<SetValue>) -> Value {
        Value::Set(set)
    }
}

/// Whether `value` is `partial` or extends it by further fields.
pub(super) fn begins(partial: &Value, value: &Value) -> bool {
    let (Value::Data(short), Value::Data(long)) = (partial, value) else { return compare(partial, value).is_eq() };
    if short.constructor != long.constructor || short.fields.len() > long.fields.len() {
        return false;
    }
    let Some((last, before)) = short.fields.split_last() else { return true };
    before.iter().zip(&long.fields).all(|(a, b)| compare(a, b).is_eq()) && begins(last, &long.fields[before.len()])
}

/// Sorted union of sorted vectors.
pub(super) fn merge(left: &[Value], right: &[Value]) -> Vec<Value> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        match compare(&left[i], &right[j]) {
            std::cmp::Ordering::Less => {
                merged.push(left[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                merged.push(right[j].clone());
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                merged.push(left[i].clone());
                i += 1;
                j += 1;
            }
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    merged
}
