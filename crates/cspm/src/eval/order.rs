//! One total order on finished values, and a hash that agrees with it.
//!
//! A value is finished when no unevaluated thunk is left in it and every set in it that can be listed has been. Then
//! order and hash need no evaluator. The order is by sort, then by content; constructors and channels come in the order
//! in which the script declares them. A sequence means the same however its chunks are cut. Sets are compared by their
//! listings; a set that cannot be listed (`Int`, `Seq(S)`) differs from every listed one and is compared by its
//! description. Functions and processes are equal when they were made at the same place in equal environments, which is
//! enough to recognise states and is never offered to scripts as `==`.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::process::{ProcessKind, ProcessNode};
use super::sets::{SetKind, SetValue};
use super::value::{Closure, Elements, Group, Value};

const RED_ZONE: usize = 64 * 1024;
const SEGMENT: usize = 1024 * 1024;

fn rank(value: &Value) -> u8 {
    match value {
        Value::Int(_) => 0,
        Value::Bool(_) => 1,
        Value::Char(_) => 2,
        Value::Tuple(_) => 3,
        Value::Sequence(..) => 4,
        Value::Set(_) => 5,
        Value::Map(_) => 6,
        Value::Data(_) => 7,
        Value::Dot(_) => 8,
        Value::Function(_) => 9,
        Value::Builtin(..) => 10,
        Value::Image(_) => 14,
        Value::Process(_) => 11,
        Value::Thunk(_) => 12,
        Value::Group(_) => 13,
    }
}

/// The order of finished values.
pub fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Char(a), Value::Char(b)) => a.cmp(b),
        _ => stacker::maybe_grow(RED_ZONE, SEGMENT, || compare_content(left, right)),
    }
}

fn compare_content(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Thunk(a), Value::Thunk(b)) if Rc::ptr_eq(a, b) => Ordering::Equal,
        (Value::Thunk(a), _) if left.is_evaluated() => a.with_value(|left| compare(left, right)),
        (_, Value::Thunk(b)) if right.is_evaluated() => b.with_value(|right| compare(left, right)),
        (Value::Tuple(a), Value::Tuple(b)) | (Value::Dot(a), Value::Dot(b)) => {
            if Rc::ptr_eq(a, b) {
                return Ordering::Equal;
            }
            compare_lists(&a.items, &b.items)
        }
        (Value::Sequence(Some(a), at), Value::Sequence(Some(b), bt)) if at == bt && Rc::ptr_eq(a, b) => Ordering::Equal,
        (Value::Sequence(Some(a), at), Value::Sequence(Some(b), bt)) if a.next.is_none() && b.next.is_none() => {
            compare_lists(&a.items[*at as usize..], &b.items[*bt as usize..])
        }
        (Value::Sequence(..), Value::Sequence(..)) => {
            let (mut a, mut b) = (Elements::of(left), Elements::of(right));
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return Ordering::Equal,
                    (None, Some(_)) => return Ordering::Less,
                    (Some(_), None) => return Ordering::Greater,
                    (Some(x), Some(y)) => match compare(&x, &y) {
                        Ordering::Equal => {}
                        other => return other,
                    },
                }
            }
        }
        (Value::Set(a), Value::Set(b)) | (Value::Image(a), Value::Image(b)) => compare_sets(a, b),
        (Value::Map(a), Value::Map(b)) => {
            if Rc::ptr_eq(a, b) {
                return Ordering::Equal;
            }
            let mut others = b.entries.iter();
            for (key, value) in &a.entries {
                let Some((other_key, other)) = others.next() else { return Ordering::Greater };
                match compare(key, other_key).then_with(|| compare(value, other)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            if others.next().is_some() { Ordering::Less } else { Ordering::Equal }
        }
        (Value::Data(a), Value::Data(b)) => {
            if Rc::ptr_eq(a, b) {
                return Ordering::Equal;
            }
            a.constructor.cmp(&b.constructor).then_with(|| compare_lists(&a.fields, &b.fields))
        }
        (Value::Function(a), Value::Function(b)) => compare_closures(a, b),
        (Value::Builtin(a, x), Value::Builtin(b, y)) => a.cmp(b).then(x.cmp(y)),
        (Value::Process(a), Value::Process(b)) => compare_processes(a, b),
        (Value::Group(a), Value::Group(b)) => compare_groups(a, b),
        (Value::Thunk(a), Value::Thunk(b)) => Rc::as_ptr(a).cmp(&Rc::as_ptr(b)),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn compare_lists(left: &[Value], right: &[Value]) -> Ordering {
    for (a, b) in left.iter().zip(right) {
        match compare(a, b) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    left.len().cmp(&right.len())
}

fn compare_closures(a: &Rc<Closure>, b: &Rc<Closure>) -> Ordering {
    if Rc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    (a.function, a.lists)
        .cmp(&(b.function, b.lists))
        .then_with(|| compare_lists(&a.applied, &b.applied))
        .then_with(|| compare_lists(&a.captures, &b.captures))
}

fn compare_groups(a: &Rc<Group>, b: &Rc<Group>) -> Ordering {
    if Rc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    a.id.cmp(&b.id).then_with(|| compare_lists(&a.captures, &b.captures))
}

thread_local! {
    /// Pairs of processes that are being compared. A process may hold itself; two that do are equal unless a difference
    /// is found.
    static COMPARING: RefCell<Vec<(*const ProcessNode, *const ProcessNode)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn compare_processes(a: &Rc<ProcessNode>, b: &Rc<ProcessNode>) -> Ordering {
    let pair = (Rc::as_ptr(a), Rc::as_ptr(b));
    if pair.0 == pair.1 || COMPARING.with_borrow(|pairs| pairs.contains(&pair)) {
        return Ordering::Equal;
    }
    COMPARING.with_borrow_mut(|pairs| pairs.push(pair));
    let order = compare_descriptions(a, b);
    COMPARING.with_borrow_mut(Vec::pop);
    order
}

fn compare_descriptions(a: &ProcessNode, b: &ProcessNode) -> Ordering {
    match (&a.kind, &b.kind) {
        (ProcessKind::Made(x, left), ProcessKind::Made(y, right)) => x.cmp(y).then_with(|| compare_lists(left, right)),
        (ProcessKind::Builtin(x, s, left), ProcessKind::Builtin(y, t, right)) => {
            (x, s).cmp(&(y, t)).then_with(|| compare_lists(left, right))
        }
        (ProcessKind::Made(..), _) => Ordering::Less,
        (_, ProcessKind::Made(..)) => Ordering::Greater,
    }
}

fn compare_sets(a: &Rc<SetValue>, b: &Rc<SetValue>) -> Ordering {
    if Rc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    match (a.listing.get(), b.listing.get()) {
        (Some(x), Some(y)) => compare_lists(x, y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => compare_kinds(&a.kind, &b.kind),
    }
}

fn kind_rank(kind: &SetKind) -> u8 {
    match kind {
        SetKind::Listed => 0,
        SetKind::Integers => 1,
        SetKind::From(_) => 2,
        SetKind::Range(..) => 3,
        SetKind::Characters => 4,
        SetKind::Processes => 5,
        SetKind::Sequences(_) => 6,
        SetKind::Subsets(_) => 7,
        SetKind::Maps(..) => 8,
        SetKind::Productions(_) => 9,
        SetKind::Tuples(_) => 10,
        SetKind::Dots(_) => 11,
        SetKind::Constructed(..) => 12,
        SetKind::Unions(_) => 13,
    }
}

fn compare_kinds(a: &SetKind, b: &SetKind) -> Ordering {
    let many = |x: &[Rc<SetValue>], y: &[Rc<SetValue>]| {
        let each = x.iter().zip(y).map(|(x, y)| compare_sets(x, y)).find(|order| order.is_ne());
        each.unwrap_or_else(|| x.len().cmp(&y.len()))
    };
    match (a, b) {
        (SetKind::From(x), SetKind::From(y)) => x.cmp(y),
        (SetKind::Range(x, u), SetKind::Range(y, v)) => (x, u).cmp(&(y, v)),
        (SetKind::Sequences(x), SetKind::Sequences(y)) | (SetKind::Subsets(x), SetKind::Subsets(y)) => {
            compare_sets(x, y)
        }
        (SetKind::Maps(x, u), SetKind::Maps(y, v)) => compare_sets(x, y).then_with(|| compare_sets(u, v)),
        (SetKind::Productions(x), SetKind::Productions(y)) => compare_lists(x, y),
        (SetKind::Tuples(x), SetKind::Tuples(y))
        | (SetKind::Dots(x), SetKind::Dots(y))
        | (SetKind::Unions(x), SetKind::Unions(y)) => many(x, y),
        (SetKind::Constructed(x, u), SetKind::Constructed(y, v)) => x.cmp(y).then_with(|| many(u, v)),
        _ => kind_rank(a).cmp(&kind_rank(b)),
    }
}

impl SetValue {
    /// Whether two sets have the same description, listed or not.
    pub(crate) fn is_described_as(&self, other: &SetValue) -> bool {
        kind_rank(&self.kind) == kind_rank(&other.kind) && compare_kinds(&self.kind, &other.kind).is_eq()
    }

    /// A hash of the description, as far as it is cheap.
    pub(crate) fn description_hash(&self) -> u64 {
        let seed = mix(9, u64::from(kind_rank(&self.kind)));
        match &self.kind {
            SetKind::Productions(values) => hash_list(seed, values),
            SetKind::Unions(sets) => sets.iter().fold(seed, |hash, set| mix(hash, set.description_hash())),
            _ => seed,
        }
    }
}

fn mix(hash: u64, next: u64) -> u64 {
    let folded = u128::from(hash ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    (folded as u64) ^ ((folded >> 64) as u64) ^ hash.rotate_left(23)
}

fn hash_list<'a>(seed: u64, items: impl IntoIterator<Item = &'a Value>) -> u64 {
    items.into_iter().fold(seed, |hash, item| mix(hash, hash_of(item)))
}

/// A hash of a finished value that agrees with [`compare`].
pub fn hash_of(value: &Value) -> u64 {
    match value {
        Value::Int(number) => mix(1, u64::from(number.cast_unsigned())),
        Value::Bool(truth) => mix(2, u64::from(*truth)),
        Value::Char(character) => mix(3, u64::from(u32::from(*character))),
        _ => stacker::maybe_grow(RED_ZONE, SEGMENT, || hash_content(value)),
    }
}

fn hash_content(value: &Value) -> u64 {
    let kept = |cell: &std::cell::Cell<u64>, compute: &dyn Fn() -> u64| {
        if cell.get() == 0 {
            cell.set(compute() | 1);
        }
        cell.get()
    };
    match value {
        Value::Tuple(tuple) => kept(&tuple.hash, &|| hash_list(4, &tuple.items)),
        Value::Dot(dot) => kept(&dot.hash, &|| hash_list(5, &dot.items)),
        Value::Data(data) => kept(&data.hash, &|| hash_list(mix(6, u64::from(data.constructor.0)), &data.fields)),
        Value::Sequence(..) => Elements::of(value).fold(7, |hash, item| mix(hash, hash_of(&item))),
        Value::Set(set) | Value::Image(set) => kept(&set.hash, &|| match set.listing.get() {
            Some(listing) => hash_list(8, listing.iter()),
            None => mix(9, u64::from(kind_rank(&set.kind))),
        }),
        Value::Map(map) => map.entries.iter().fold(10, |hash, (k, v)| mix(mix(hash, hash_of(k)), hash_of(v))),
        Value::Function(closure) => {
            let seed = mix(11, u64::from(closure.function.0));
            hash_list(hash_list(seed, &closure.applied), &closure.captures)
        }
        Value::Builtin(builtin, section) => mix(mix(12, *builtin as u64), u64::from(*section)),
        Value::Process(process) => hash_process(process),
        Value::Group(group) => hash_list(mix(13, u64::from(group.id.0)), &group.captures),
        Value::Thunk(thunk) if value.is_evaluated() => {
            let _ = thunk;
            hash_of(&value.seen())
        }
        Value::Thunk(thunk) => mix(14, Rc::as_ptr(thunk) as usize as u64),
        Value::Int(_) | Value::Bool(_) | Value::Char(_) => hash_of(value),
    }
}

pub(super) fn hash_process(process: &ProcessNode) -> u64 {
    if process.hash.get() == 0 {
        // Seen from inside, should the process hold itself.
        process.hash.set(match &process.kind {
            ProcessKind::Made(point, _) => mix(15, u64::from(point.0)) | 1,
            ProcessKind::Builtin(builtin, ..) => mix(16, *builtin as u64) | 1,
        });
        let hash = match &process.kind {
            ProcessKind::Made(point, captures) => hash_list(mix(15, u64::from(point.0)), captures),
            ProcessKind::Builtin(builtin, section, arguments) => {
                hash_list(mix(mix(16, *builtin as u64), u64::from(*section)), arguments)
            }
        };
        process.hash.set(hash | 1);
    }
    process.hash.get()
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        compare(self, other).is_eq()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        compare(self, other)
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(hash_of(self));
    }
}
