//! Families of events: the events of a prefix whose last fields are left open.
//!
//! While steps are found for many states at once ([`super::schemas`]), `e!x!y -> P` offers not an event but a family:
//! a beginning, and for each further field an open value or a value. A family stands where a label would, with a number
//! that no label has. Operators that only let steps pass treat it as a label. Where an operator asks whether an event
//! is in a set, the answer must be the same for all events of the family; where it compares labels, or renames them,
//! and the answer could depend on an open value, that value is requested ([`Failure::needs`]) and the steps are found
//! for it alone.
//!
//! A state gives values to the open ones, and the family becomes an event. Most fields take one value each and are
//! checked once per value; then the label is made from the numbers of its texts, without an event. The event is made
//! when its membership in a set, or its image under a renaming, is needed.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;
use trefoil_system::{ActionId, DomainId, LabelId};

use super::events::{Events, Key, SetId};
use crate::eval::{Evaluator, Failure, Given, Result, SetValue, Value, constructor_of, fits, with_fields};

/// Labels from here on are families.
const FIRST: u32 = 1 << 31;

/// The number of a family, if a label is one.
pub(super) fn family_of(label: LabelId) -> Option<usize> {
    (label.0 >= FIRST).then_some((label.0 & !FIRST) as usize)
}

/// Values with numbers.
#[derive(Default)]
pub(super) struct Values {
    values: Vec<Value>,
    numbers: HashMap<Key, u32, FixedState>,
}

impl Values {
    /// The number of a finished value.
    pub(super) fn number(&mut self, value: Value) -> u32 {
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(Key(value.clone())).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }

    pub(super) fn get(&self, number: u32) -> &Value {
        &self.values[number as usize]
    }
}

/// See the module's text.
struct Family {
    prefix: Value,
    rest: Vec<Given>,
    /// How its labels are made from numbers of values, where each field takes one value.
    fields: Option<Fields>,
}

struct Fields {
    /// The action, and the numbers of the texts of the fields that are given.
    words: Vec<u32>,
    sets: Vec<Rc<SetValue>>,
    /// For each further field, by the number of a value: nothing yet, or one more than the number of its text; the
    /// last number for a value that does not fit.
    texts: Vec<Vec<u32>>,
}

const DOES_NOT_FIT: u32 = u32::MAX;

/// All families.
#[derive(Default)]
pub(super) struct Families {
    all: Vec<Family>,
    numbers: HashMap<(Key, Vec<Given>), u32, FixedState>,
    answers: HashMap<(SetId, usize), Option<bool>, FixedState>,
    /// By label, where its family and the values of its fields stand; 0 for labels that were not made here.
    made_at: Vec<u32>,
    made: Vec<u32>,
}

impl Families {
    /// The first open value of a family, as a failure.
    pub(super) fn needs(&self, family: usize) -> Failure {
        let open = self.all[family].rest.iter().find_map(|given| match given {
            Given::Open(number) => Some(*number),
            Given::Value(_) => None,
        });
        Failure::open(open.expect("a family has an open value"))
    }

    /// The open values of a family.
    pub(super) fn reads(&self, family: usize) -> impl Iterator<Item = u32> + '_ {
        self.all[family].rest.iter().filter_map(|given| match given {
            Given::Open(number) => Some(*number),
            Given::Value(_) => None,
        })
    }

    /// The event of a label that was made from a family.
    pub(super) fn event(&self, label: LabelId, values: &Values) -> Option<Value> {
        let at = *self.made_at.get(label.index())? as usize;
        if at == 0 {
            return None;
        }
        let family = &self.all[self.made[at] as usize];
        let numbers = &self.made[at + 1..at + 1 + family.rest.len()];
        Some(with_fields(&family.prefix, numbers.iter().map(|&number| values.get(number).clone())))
    }
}

impl Events {
    /// The label that stands for the events that begin with a value and go on with open and given ones.
    pub(super) fn family(&mut self, prefix: Value, rest: Vec<Given>, evaluator: &mut Evaluator) -> Result<LabelId> {
        let key = (Key(prefix.clone()), rest.clone());
        if let Some(&known) = self.families.numbers.get(&key) {
            return Ok(LabelId(FIRST | known));
        }
        let fields = match evaluator.missing(&prefix, rest.len())? {
            Some(sets) => {
                let Value::Data(data) = &prefix else { unreachable!("only channels lack fields") };
                let (name, _) = evaluator.constructor(data.constructor);
                let count = data.fields.len() + rest.len();
                let ActionId(action) = self.labels().action(name, &vec![DomainId::TEXTS; count]);
                let mut words = vec![action];
                words.extend(data.fields.iter().map(|field| self.labels().text(&evaluator.show(field))));
                Some(Fields { words, texts: vec![Vec::new(); sets.len()], sets })
            }
            None => None,
        };
        let number = self.families.all.len() as u32;
        self.families.all.push(Family { prefix, rest, fields });
        self.families.numbers.insert(key, number);
        Ok(LabelId(FIRST | number))
    }

    /// Whether the events of a family are in a set; a failure that names an open value when that depends on it.
    pub(super) fn has_family(&mut self, set: SetId, family: usize) -> Result<bool> {
        let answer = match self.families.answers.get(&(set, family)) {
            Some(&known) => known,
            None => {
                let answer = self.has_all(set, &self.families.all[family].prefix);
                self.families.answers.insert((set, family), answer);
                answer
            }
        };
        answer.ok_or_else(|| self.families.needs(family))
    }

    /// Whether pairs of a renaming or a link leave the events of a family alone, whatever their open values.
    pub(super) fn leaves_family<'v>(&self, mut lefts: impl Iterator<Item = &'v Value>, family: usize) -> bool {
        let own = constructor_of(&self.families.all[family].prefix);
        lefts.all(|left| constructor_of(left).is_some_and(|other| Some(other) != own))
    }

    /// The label of the event of a family whose open values have these numbers.
    pub(super) fn member(
        &mut self,
        family: usize,
        number_of: impl Fn(u32) -> u32,
        evaluator: &mut Evaluator,
    ) -> Result<LabelId> {
        let mut numbers = std::mem::take(&mut self.scratch);
        numbers.clear();
        for at in 0..self.families.all[family].rest.len() {
            let number = match &self.families.all[family].rest[at] {
                Given::Open(open) => number_of(*open),
                Given::Value(value) => self.data.number(value.clone()),
            };
            numbers.push(number);
        }
        let label = self.member_of(family, &numbers, evaluator);
        self.scratch = numbers;
        label
    }

    fn member_of(&mut self, family: usize, numbers: &[u32], evaluator: &mut Evaluator) -> Result<LabelId> {
        let mut words = std::mem::take(&mut self.words);
        let all = self.texts_of(family, numbers, &mut words, evaluator);
        let label = if all { Some(self.labels().number(&words)) } else { None };
        self.words = words;
        if let Some(label) = label {
            self.note_made(label, family, numbers);
            return Ok(label);
        }
        let prefix = self.families.all[family].prefix.clone();
        let values = numbers.iter().map(|&number| self.data.get(number).clone()).collect();
        let event = evaluator.dotted(&prefix, values)?;
        self.label(&event, evaluator)
    }

    /// The words of the label, when each value fits its field.
    fn texts_of(&mut self, family: usize, numbers: &[u32], words: &mut Vec<u32>, evaluator: &Evaluator) -> bool {
        let labels = self.labels().clone();
        let Some(fields) = &mut self.families.all[family].fields else { return false };
        words.clear();
        words.extend_from_slice(&fields.words);
        for (at, &number) in numbers.iter().enumerate() {
            let texts = &mut fields.texts[at];
            if texts.len() <= number as usize {
                texts.resize(number as usize + 1, 0);
            }
            let known = &mut texts[number as usize];
            if *known == 0 {
                let value = self.data.get(number);
                *known = match fits(value, &fields.sets[at]) {
                    true => labels.text(&evaluator.show(value)) + 1,
                    false => DOES_NOT_FIT,
                };
            }
            if *known == DOES_NOT_FIT {
                return false;
            }
            words.push(*known - 1);
        }
        true
    }

    fn note_made(&mut self, label: LabelId, family: usize, numbers: &[u32]) {
        self.room_for_event(label);
        if self.values[label.index()].get().is_some() {
            return;
        }
        let Families { made_at, made, all, .. } = &mut self.families;
        if made_at.len() <= label.index() {
            made_at.resize(label.index() + 1, 0);
        }
        if made_at[label.index()] != 0 {
            return;
        }
        if made.is_empty() {
            // No label stands at 0.
            made.push(0);
        }
        let Ok(at) = u32::try_from(made.len()) else {
            let event = with_fields(&all[family].prefix, numbers.iter().map(|&number| self.data.get(number).clone()));
            self.values[label.index()] = OnceCell::from(event);
            return;
        };
        made_at[label.index()] = at;
        made.push(family as u32);
        made.extend_from_slice(numbers);
    }
}
