//! The shape of a state: a row of typed slots.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// What a slot holds.
pub type Value = u32;

/// Things that are numbered as they are found: terms, states of lazy components, nodes of a normal form.
///
/// A domain is shared by all threads, and which number a thing gets depends on which thread came first. Its canonical
/// bytes do not: equal things have equal bytes in every run and on every machine. Rows are compared by them, and
/// portable through them.
pub trait Domain: Send + Sync {
    /// Appends the canonical bytes of a value that was found.
    fn bytes(&self, value: Value, into: &mut Vec<u8>);

    /// The value with these canonical bytes, numbered now if it is new; none when they are not the bytes of a value.
    fn value(&self, bytes: &[u8]) -> Option<Value>;

    /// The order of two values by their canonical bytes.
    fn compare(&self, left: Value, right: Value) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        self.bytes(left, &mut one);
        self.bytes(right, &mut other);
        one.cmp(&other)
    }

    /// A value as text.
    fn text(&self, value: Value) -> String;

    /// How many values were found.
    fn len(&self) -> usize;

    /// Whether no value was found.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which values a slot can hold.
#[derive(Clone)]
pub enum Values {
    /// Numbers below this one; a store packs them into as many bits as they need.
    Below(u32),
    /// Any 32 bits, which mean the same everywhere.
    Word,
    /// Numbers of things that are found while exploring.
    Met(Arc<dyn Domain>),
}

impl Values {
    /// How many values there are, when that is known before exploring.
    pub fn count(&self) -> Option<u32> {
        match self {
            Values::Below(count) => Some(*count),
            Values::Word | Values::Met(_) => None,
        }
    }

    /// Can the slot hold this value?
    pub fn contains(&self, value: Value) -> bool {
        self.count().is_none_or(|count| value < count)
    }

    /// The order of two values of the slot, the same in every run.
    #[inline]
    pub fn compare(&self, left: Value, right: Value) -> Ordering {
        match self {
            Values::Below(_) | Values::Word => left.cmp(&right),
            Values::Met(domain) => domain.compare(left, right),
        }
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Below(count) => write!(f, "Below({count})"),
            Values::Word => write!(f, "Word"),
            Values::Met(domain) => write!(f, "Met({} values)", domain.len()),
        }
    }
}

impl PartialEq for Values {
    /// Domains are equal when they are the same.
    fn eq(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Below(left), Values::Below(right)) => left == right,
            (Values::Word, Values::Word) => true,
            (Values::Met(left), Values::Met(right)) => Arc::ptr_eq(left, right),
            _ => false,
        }
    }
}

impl Eq for Values {}

/// One slot of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name for users.
    pub name: String,
    /// What it can hold.
    pub values: Values,
}

impl Slot {
    /// A slot with numbers below a bound.
    pub fn bounded(name: impl Into<String>, values: u32) -> Slot {
        Slot { name: name.into(), values: Values::Below(values) }
    }

    /// A slot with any 32 bits.
    pub fn word(name: impl Into<String>) -> Slot {
        Slot { name: name.into(), values: Values::Word }
    }

    /// A slot whose values are found while exploring.
    pub fn met(name: impl Into<String>, domain: Arc<dyn Domain>) -> Slot {
        Slot { name: name.into(), values: Values::Met(domain) }
    }
}

/// The slots of a row, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    parts: Vec<usize>,
    /// Is there a slot whose numbers are not its order?
    met: bool,
}

impl Layout {
    /// A layout of these slots.
    pub fn new(slots: Vec<Slot>) -> Layout {
        let met = slots.iter().any(|slot| matches!(slot.values, Values::Met(_)));
        Layout { slots, parts: Vec::new(), met }
    }

    /// The same, with the slots where its parts begin, ascending. States of such a system share many values of parts
    /// (the variables of a process, the contents of a channel), and a store can keep each once.
    pub fn with_parts(self, parts: Vec<usize>) -> Layout {
        Layout { parts, ..self }
    }

    /// Where its parts begin; empty when none are known.
    pub fn parts(&self) -> &[usize] {
        &self.parts
    }

    /// The slots in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// How many slots a row has.
    pub fn width(&self) -> usize {
        self.slots.len()
    }

    /// The order of two rows by the canonical bytes of their slots: the same in every run, whichever thread found a
    /// value first.
    pub fn compare(&self, left: &[Value], right: &[Value]) -> Ordering {
        if !self.met {
            return left.cmp(right);
        }
        let pairs = self.slots.iter().zip(left.iter().zip(right));
        pairs
            .map(|(slot, (&one, &other))| slot.values.compare(one, other))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Appends the canonical bytes of a row: equal for equal states in every run. Rows are not ordered by them as a
    /// whole but slot by slot, see [`Layout::compare`].
    pub fn bytes(&self, row: &[Value], into: &mut Vec<u8>) {
        for (slot, &value) in self.slots.iter().zip(row) {
            match &slot.values {
                Values::Below(_) | Values::Word => into.extend_from_slice(&value.to_be_bytes()),
                Values::Met(domain) => {
                    let at = into.len();
                    into.extend_from_slice(&[0; 4]);
                    domain.bytes(value, into);
                    let length = (into.len() - at - 4) as u32;
                    into[at..at + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        }
    }

    /// The row with these canonical bytes ([`Layout::bytes`]); none when they are not the bytes of a row.
    pub fn row(&self, mut bytes: &[u8]) -> Option<Vec<Value>> {
        let mut row = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let (word, rest) = bytes.split_first_chunk::<4>()?;
            let word = u32::from_be_bytes(*word);
            bytes = rest;
            row.push(match &slot.values {
                Values::Below(_) | Values::Word => word,
                Values::Met(domain) => {
                    let (own, rest) = bytes.split_at_checked(word as usize)?;
                    bytes = rest;
                    domain.value(own)?
                }
            });
        }
        let fits = self.slots.iter().zip(&row).all(|(slot, &value)| slot.values.contains(value));
        (fits && bytes.is_empty()).then_some(row)
    }
}

/// A set of slots of one layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet {
    sorted: Box<[u32]>,
}

impl SlotSet {
    /// Is the slot in the set?
    pub fn contains(&self, slot: usize) -> bool {
        self.sorted.binary_search(&(slot as u32)).is_ok()
    }

    /// The slots, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.sorted.iter().map(|&slot| slot as usize)
    }

    /// How many slots it has.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The slots of this set and of another.
    pub fn union(&self, other: &SlotSet) -> SlotSet {
        self.iter().chain(other.iter()).collect()
    }

    /// The values that a row has in these slots, ascending by slot; `into` is cleared first.
    #[inline]
    pub fn values(&self, row: &[Value], into: &mut Vec<Value>) {
        into.clear();
        into.extend(self.sorted.iter().map(|&slot| row[slot as usize]));
    }
}

impl FromIterator<usize> for SlotSet {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> SlotSet {
        let mut sorted: Vec<u32> = slots.into_iter().map(|slot| slot as u32).collect();
        sorted.sort_unstable();
        sorted.dedup();
        SlotSet { sorted: sorted.into_boxed_slice() }
    }
}
