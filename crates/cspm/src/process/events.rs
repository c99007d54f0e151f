//! Events, sets of events, renamings.
//!
//! An event is a label. Its value is kept as well, because sets of events answer membership queries and are not
//! enumerated: `{| c |}` may be far larger than the set of events that occur. Answers are cached per set and label.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use trefoil_system::{Label, LabelId, Labels};

use super::codes;
use super::families::{Families, Values, family_of};
use crate::eval::{Evaluator, Failure, Result, SetValue, Value, compare, constructor_of, has_all, hash_of};

/// A finished value as a key.
#[derive(Clone)]
pub(super) struct Key(pub(super) Value);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        compare(&self.0, &other.0).is_eq()
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(hash_of(&self.0));
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(pub(super) u32);
    )*};
}

ids! {
    /// A set of events.
    SetId,
    /// A renaming.
    RenamingId,
    /// The ties of linked parallel.
    TiesId,
}

impl SetId {
    /// The set without events.
    pub(super) const EMPTY: SetId = SetId(0);
}

struct EventSet {
    value: Value,
    /// An event that belongs to it besides.
    also: Option<LabelId>,
    /// By label: not asked, no, yes.
    known: Vec<u8>,
}

/// A set that is not listed, by its description, whether it is listed later or not.
struct Described(Rc<SetValue>);

impl PartialEq for Described {
    fn eq(&self, other: &Described) -> bool {
        self.0.is_described_as(&other.0)
    }
}

impl Eq for Described {}

impl Hash for Described {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.description_hash());
    }
}

/// Pairs of parts of events: what begins with the left part goes, continued alike, with the right part.
struct Pairs {
    pairs: Vec<(Value, Value)>,
    /// What an event is paired with; nothing when it is outside.
    forward: HashMap<LabelId, Rc<[LabelId]>, foldhash::fast::FixedState>,
    /// Whether an event begins with a right part.
    backward: HashMap<LabelId, bool, foldhash::fast::FixedState>,
    /// Pairs by their left part where that is a complete event, and all others.
    complete: HashMap<Key, Vec<u32>, foldhash::fast::FixedState>,
    partial: Vec<u32>,
}

/// Everything about events.
pub(super) struct Events {
    labels: Arc<Labels>,
    numbers: HashMap<Key, LabelId, foldhash::fast::FixedState>,
    /// The event of a label; those of families are made at the first request.
    pub(super) values: Vec<OnceCell<Value>>,
    pub(super) families: Families,
    /// Values of states, by number.
    pub(super) data: Values,
    /// Room for the values and the words of a label.
    pub(super) scratch: Vec<u32>,
    pub(super) words: Vec<u32>,
    sets: Vec<EventSet>,
    set_numbers: HashMap<Key, SetId, foldhash::fast::FixedState>,
    described_sets: HashMap<Described, SetId, foldhash::fast::FixedState>,
    /// Sets with one event more.
    extended: HashMap<(SetId, LabelId), SetId, foldhash::fast::FixedState>,
    pairs: Vec<Pairs>,
    /// By a hash of pairs, their numbers.
    pair_numbers: HashMap<u64, Vec<u32>, foldhash::fast::FixedState>,
}

impl Events {
    pub(super) fn new(labels: Arc<Labels>) -> Events {
        let empty = EventSet { value: Value::Bool(false), also: None, known: Vec::new() };
        Events {
            labels,
            numbers: HashMap::default(),
            values: Vec::new(),
            families: Families::default(),
            data: Values::default(),
            scratch: Vec::new(),
            words: Vec::new(),
            sets: vec![empty],
            set_numbers: HashMap::default(),
            described_sets: HashMap::default(),
            extended: HashMap::default(),
            pairs: Vec::new(),
            pair_numbers: HashMap::default(),
        }
    }

    /// The label of a finished event.
    pub(super) fn label(&mut self, event: &Value, evaluator: &Evaluator) -> Result<LabelId> {
        let key = Key(event.clone());
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let Value::Data(data) = event else { return Err(not_an_event(event, evaluator)) };
        let (name, channel) = evaluator.constructor(data.constructor);
        if !channel || !data.complete {
            return Err(not_an_event(event, evaluator));
        }
        let arguments = data.fields.iter().map(|field| evaluator.show(field).into_boxed_str());
        let label = self.labels.intern(Label::of(name, arguments));
        self.numbers.insert(key, label);
        self.keep_event(label, event.clone());
        Ok(label)
    }

    /// The event of a label; none when it is `τ`, `✓` or not from here.
    pub(super) fn value(&self, label: LabelId) -> Option<&Value> {
        let kept = self.values.get(label.index())?;
        if kept.get().is_none() {
            let event = self.families.event(label, &self.data)?;
            return Some(kept.get_or_init(|| event));
        }
        kept.get()
    }

    /// Notes the event of a label.
    pub(super) fn keep_event(&mut self, label: LabelId, event: Value) {
        self.room_for_event(label);
        self.values[label.index()] = OnceCell::from(event);
    }

    pub(super) fn room_for_event(&mut self, label: LabelId) {
        if self.values.len() <= label.index() {
            self.values.resize_with(label.index() + 1, OnceCell::new);
        }
    }

    /// The event of a label that comes from here.
    fn event(&self, label: LabelId) -> Value {
        self.value(label).expect("labels of this check are events").clone()
    }

    pub(super) fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// Whether the events of a family are all in a set; nothing when that is not known.
    pub(super) fn has_all(&self, set: SetId, prefix: &Value) -> Option<bool> {
        let EventSet { value, also, .. } = &self.sets[set.0 as usize];
        let other = also.and_then(|also| self.value(also)).and_then(constructor_of);
        if other.is_some() && other == constructor_of(prefix) {
            return None;
        }
        match value {
            Value::Set(set) => has_all(set, prefix),
            _ => Some(false),
        }
    }

    /// A set of events, with its elements finished where it is listed.
    pub(super) fn set(&mut self, value: Value) -> SetId {
        let Value::Set(set) = &value else { return SetId::EMPTY };
        if set.listed().is_some_and(|items| items.is_empty()) {
            return SetId::EMPTY;
        }
        let next = SetId(self.sets.len() as u32);
        if set.listed().is_some() {
            let known = *self.set_numbers.entry(Key(value.clone())).or_insert(next);
            if known != next {
                return known;
            }
        } else {
            let known = *self.described_sets.entry(Described(set.clone())).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.sets.push(EventSet { value, also: None, known: Vec::new() });
        next
    }

    /// Is the event in the set? `τ` and `✓` are in none.
    pub(super) fn has(&mut self, set: SetId, label: LabelId, evaluator: &mut Evaluator) -> Result<bool> {
        if set == SetId::EMPTY || label <= LabelId::TICK {
            return Ok(false);
        }
        if let Some(family) = family_of(label) {
            return self.has_family(set, family);
        }
        let EventSet { known, .. } = &mut self.sets[set.0 as usize];
        if known.len() <= label.index() {
            known.resize(label.index() + 1, 0);
        }
        match known[label.index()] {
            0 => {
                let event = self.event(label);
                let EventSet { value, also, known } = &mut self.sets[set.0 as usize];
                let answer = *also == Some(label) || evaluator.member(&event, value)?;
                known[label.index()] = 1 + u8::from(answer);
                Ok(answer)
            }
            answer => Ok(answer == 2),
        }
    }

    /// The labels of all events of a set, ascending.
    pub(super) fn list(&mut self, set: SetId, evaluator: &mut Evaluator) -> Result<Vec<LabelId>> {
        if set == SetId::EMPTY {
            return Ok(Vec::new());
        }
        let EventSet { value, also, .. } = &self.sets[set.0 as usize];
        let (value, also) = (value.clone(), *also);
        let mut labels = Vec::new();
        for event in evaluator.list(&value)? {
            labels.push(self.label(&event, evaluator)?);
        }
        labels.extend(also.filter(|also| !labels.contains(also)));
        labels.sort_unstable();
        Ok(labels)
    }

    /// The set with one more event, which is not asked for the others.
    pub(super) fn with(&mut self, set: SetId, label: LabelId, evaluator: &mut Evaluator) -> Result<SetId> {
        if let Some(&known) = self.extended.get(&(set, label)) {
            return Ok(known);
        }
        let extended = if self.has(set, label, evaluator)? {
            set
        } else {
            let value = match set {
                SetId::EMPTY => evaluator.no_events(),
                _ => self.sets[set.0 as usize].value.clone(),
            };
            self.sets.push(EventSet { value, also: Some(label), known: Vec::new() });
            SetId(self.sets.len() as u32 - 1)
        };
        self.extended.insert((set, label), extended);
        Ok(extended)
    }

    // Order and hash of a finished value do not depend on what it keeps behind cells.
    #[allow(clippy::mutable_key_type)]
    fn pairs(&mut self, pairs: Vec<(Value, Value)>) -> u32 {
        let hash = foldhash::fast::FixedState::default().hash_one(&pairs);
        let same = self.pair_numbers.entry(hash).or_default();
        if let Some(&known) = same.iter().find(|&&known| self.pairs[known as usize].pairs == pairs) {
            return known;
        }
        same.push(self.pairs.len() as u32);
        let mut complete: HashMap<Key, Vec<u32>, foldhash::fast::FixedState> = HashMap::default();
        let mut partial = Vec::new();
        for (at, (left, _)) in pairs.iter().enumerate() {
            match left {
                Value::Data(data) if data.complete => complete.entry(Key(left.clone())).or_default().push(at as u32),
                _ => partial.push(at as u32),
            }
        }
        let (forward, backward) = (HashMap::default(), HashMap::default());
        self.pairs.push(Pairs { pairs, forward, backward, complete, partial });
        self.pairs.len() as u32 - 1
    }

    /// A renaming by pairs as written.
    pub(super) fn renaming(&mut self, pairs: Vec<(Value, Value)>) -> RenamingId {
        RenamingId(self.pairs(pairs))
    }

    /// The ties of linked parallel.
    pub(super) fn ties(&mut self, pairs: Vec<(Value, Value)>) -> TiesId {
        TiesId(self.pairs(pairs))
    }

    /// What an event is renamed to; itself when the renaming does not mention it.
    pub(super) fn images(
        &mut self,
        RenamingId(id): RenamingId,
        label: LabelId,
        evaluator: &mut Evaluator,
    ) -> Result<Rc<[LabelId]>> {
        if label <= LabelId::TICK {
            return Ok([label].into());
        }
        if self.is_left_alone(id, label)? {
            return Ok([label].into());
        }
        let partners = self.partners(id, label, evaluator)?;
        Ok(if partners.is_empty() { [label].into() } else { partners })
    }

    /// What the right side must do when the left side of a link does an event; nothing when the event is not tied.
    pub(super) fn tied(
        &mut self,
        TiesId(id): TiesId,
        label: LabelId,
        evaluator: &mut Evaluator,
    ) -> Result<Rc<[LabelId]>> {
        if label <= LabelId::TICK || self.is_left_alone(id, label)? {
            return Ok([].into());
        }
        self.partners(id, label, evaluator)
    }

    /// Is an event of the right side tied?
    pub(super) fn tied_right(&mut self, TiesId(id): TiesId, label: LabelId, evaluator: &mut Evaluator) -> Result<bool> {
        if label <= LabelId::TICK {
            return Ok(false);
        }
        if let Some(family) = family_of(label) {
            let rights = self.pairs[id as usize].pairs.iter().map(|(_, right)| right);
            return if self.leaves_family(rights, family) { Ok(false) } else { Err(self.families.needs(family)) };
        }
        if let Some(&known) = self.pairs[id as usize].backward.get(&label) {
            return Ok(known);
        }
        let event = self.event(label);
        let mut found = false;
        for (left, right) in &self.pairs[id as usize].pairs {
            if evaluator.carry((right, left), &event)?.is_some() {
                found = true;
                break;
            }
        }
        self.pairs[id as usize].backward.insert(label, found);
        Ok(found)
    }

    /// Is a label a family that no left part of these pairs mentions? What one mentions depends on open values.
    fn is_left_alone(&self, id: u32, label: LabelId) -> Result<bool> {
        let Some(family) = family_of(label) else { return Ok(false) };
        let lefts = self.pairs[id as usize].pairs.iter().map(|(left, _)| left);
        if self.leaves_family(lefts, family) { Ok(true) } else { Err(self.families.needs(family)) }
    }

    fn partners(&mut self, id: u32, label: LabelId, evaluator: &mut Evaluator) -> Result<Rc<[LabelId]>> {
        let pairs = &self.pairs[id as usize];
        if let Some(known) = pairs.forward.get(&label) {
            return Ok(known.clone());
        }
        let event = self.event(label);
        let mut found = Vec::new();
        if let Some(exact) = pairs.complete.get(&Key(event.clone())) {
            found.extend(exact.iter().map(|&at| pairs.pairs[at as usize].1.clone()));
        }
        for &at in &pairs.partial {
            let (left, right) = &pairs.pairs[at as usize];
            found.extend(evaluator.carry((left, right), &event)?);
        }
        let mut labels = Vec::with_capacity(found.len());
        for event in found {
            labels.push(self.label(&event, evaluator)?);
        }
        labels.sort_unstable();
        labels.dedup();
        let labels: Rc<[LabelId]> = labels.into();
        self.pairs[id as usize].forward.insert(label, labels.clone());
        Ok(labels)
    }
}

fn not_an_event(value: &Value, evaluator: &Evaluator) -> Failure {
    Failure::new(codes::NOT_AN_EVENT, format!("{} is not a complete event", evaluator.show(value)))
}
