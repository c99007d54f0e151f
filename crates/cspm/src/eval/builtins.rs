//! The built-in functions.

use std::rc::Rc;

use crate::rename::Builtin;

use super::codes;
use super::collections::{map_of, productions_of};
use super::failure::{Failure, Result};
use super::machine::{Machine, overflow, wrong_sort};
use super::order::compare;
use super::process::{ProcessKind, ProcessValue};
use super::sets::{SetKind, SetValue};
use super::value::{MapValue, Value};

fn set_of(kind: SetKind) -> Value {
    Value::Set(SetValue::described(kind))
}

/// What a built-in is when it is no function; none for functions.
pub(super) fn constant(builtin: Builtin, section: u32) -> Option<Value> {
    Some(match builtin {
        Builtin::Stop | Builtin::Skip | Builtin::Div | Builtin::TimedStop | Builtin::TimedSkip => {
            ProcessValue::value(ProcessKind::Builtin(builtin, section, Vec::new()))
        }
        Builtin::Int => set_of(SetKind::Integers),
        Builtin::Bool => Value::Set(SetValue::from_sorted(vec![Value::Bool(false), Value::Bool(true)])),
        Builtin::Char => set_of(SetKind::Characters),
        Builtin::Proc => set_of(SetKind::Processes),
        Builtin::True => Value::Bool(true),
        Builtin::False => Value::Bool(false),
        Builtin::EmptyMap => Value::Map(Rc::new(MapValue { entries: Vec::new() })),
        _ => return None,
    })
}

/// How many arguments a built-in function takes.
fn arity(builtin: Builtin) -> usize {
    match builtin {
        Builtin::Union
        | Builtin::Inter
        | Builtin::Diff
        | Builtin::Member
        | Builtin::Elem
        | Builtin::MapLookup
        | Builtin::MapMember
        | Builtin::MapUpdateMultiple
        | Builtin::MapDelete
        | Builtin::Maps
        | Builtin::Mtransclose
        | Builtin::Buffer
        | Builtin::Prioritise
        | Builtin::PrioritiseNocache => 2,
        Builtin::MapUpdate | Builtin::WeakBuffer | Builtin::FailureWatchdog | Builtin::TraceWatchdog => 3,
        Builtin::SignalBuffer | Builtin::PrioritisePo => 4,
        _ => 1,
    }
}

impl Machine<'_> {
    fn map(&mut self, value: &Value) -> Result<Rc<MapValue>> {
        match self.whole_of(value)? {
            Value::Map(map) => Ok(map),
            other => Err(wrong_sort("a map", &other)),
        }
    }

    /// The pairs in a sequence of pairs; keys are finished.
    fn pairs(&mut self, value: &Value) -> Result<Vec<(Value, Value)>> {
        let items = self.elements(value)?;
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            match self.whole(item)? {
                Value::Tuple(pair) if pair.items.len() == 2 => {
                    pairs.push((self.finish(pair.items[0].clone())?, pair.items[1].clone()));
                }
                other => return Err(wrong_sort("a pair", &other)),
            }
        }
        Ok(pairs)
    }

    #[inline(never)]
    pub(super) fn builtin(&mut self, builtin: Builtin, section: u32, arguments: Vec<Value>) -> Result<Value> {
        let wanted = arity(builtin);
        if arguments.len() != wanted {
            let message = format!("`{}` takes {wanted} arguments, not {}", builtin.text(), arguments.len());
            return Err(Failure::new(codes::WRONG_COUNT, message));
        }
        match builtin {
            Builtin::Length => self.length(&arguments[0]),
            Builtin::Null => Ok(Value::Bool(matches!(self.sequence(&arguments[0])?, Value::Sequence(None, _)))),
            Builtin::Head => match self.sequence(&arguments[0])? {
                Value::Sequence(Some(chunk), at) => self.whole_of(&chunk.items[at as usize]),
                _ => Err(Failure::new(codes::EMPTY_SEQUENCE, "an empty sequence has no head")),
            },
            Builtin::Tail => match self.sequence(&arguments[0])? {
                Value::Sequence(Some(chunk), at) if (at as usize) + 1 < chunk.items.len() => {
                    Ok(Value::Sequence(Some(chunk), at + 1))
                }
                Value::Sequence(Some(chunk), _) => match &chunk.next {
                    Some(next) => self.whole_of(next),
                    None => Ok(Value::Sequence(None, 0)),
                },
                _ => Err(Failure::new(codes::EMPTY_SEQUENCE, "an empty sequence has no tail")),
            },
            Builtin::Concat => {
                let sequences = self.elements(&arguments[0])?;
                let mut joined = Value::Sequence(None, 0);
                let mut items = Vec::new();
                for sequence in sequences {
                    items.extend(self.elements(&sequence)?);
                }
                if !items.is_empty() {
                    joined = Value::sequence(items);
                }
                Ok(joined)
            }
            Builtin::Elem => {
                let wanted = self.finish(arguments[0].clone())?;
                let mut cursor = self.walk(&arguments[1])?;
                while let Some(item) = self.step(&mut cursor, true)? {
                    let item = self.finish(item)?;
                    if compare(&item, &wanted).is_eq() {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Builtin::Union | Builtin::Inter | Builtin::Diff => {
                let (left, right) = (self.set(&arguments[0])?, self.set(&arguments[1])?);
                Ok(Value::Set(match builtin {
                    Builtin::Union => self.union(&left, &right)?,
                    Builtin::Inter => self.inter(&left, &right)?,
                    _ => self.diff(&left, &right)?,
                }))
            }
            Builtin::BigUnion => {
                let sets = self.set(&arguments[0])?;
                self.big_union(&sets)
            }
            Builtin::BigInter => {
                let sets = self.set(&arguments[0])?;
                let sets = self.list(&sets)?;
                let Some((first, others)) = sets.split_first() else {
                    return Err(Failure::new(codes::EMPTY_INTERSECTION, "the intersection of no sets is not a set"));
                };
                let mut common = self.set(first)?;
                for other in others {
                    let other = self.set(other)?;
                    common = self.inter(&common, &other)?;
                }
                Ok(Value::Set(common))
            }
            Builtin::Member => {
                let value = self.finish(arguments[0].clone())?;
                let set = self.set(&arguments[1])?;
                Ok(Value::Bool(self.member_of(&value, &set)?))
            }
            Builtin::Card => {
                let set = self.set(&arguments[0])?;
                i32::try_from(self.card(&set)?).map(Value::Int).map_err(|_| overflow())
            }
            Builtin::Empty => {
                let set = self.set(&arguments[0])?;
                Ok(Value::Bool(self.is_empty(&set)?))
            }
            Builtin::SetOf => {
                let items = self.elements(&arguments[0])?;
                let mut finished = Vec::with_capacity(items.len());
                for item in items {
                    finished.push(self.finish(item)?);
                }
                Ok(Value::Set(SetValue::from_finished(finished)))
            }
            Builtin::Subsets => Ok(set_of(SetKind::Subsets(self.set(&arguments[0])?))),
            Builtin::Sequences => Ok(set_of(SetKind::Sequences(self.set(&arguments[0])?))),
            Builtin::SeqOf => {
                let set = self.set(&arguments[0])?;
                if let SetKind::From(from) = &set.kind {
                    return Ok(super::machine::numbers_from(*from));
                }
                Ok(Value::sequence(self.list(&set)?.to_vec()))
            }
            Builtin::MapFromList => Ok(map_of(self.pairs(&arguments[0])?)),
            Builtin::MapLookup | Builtin::MapMember | Builtin::MapDelete => {
                let map = self.map(&arguments[0])?;
                let key = self.finish(arguments[1].clone())?;
                let found = map.entries.binary_search_by(|(other, _)| compare(other, &key));
                match (builtin, found) {
                    (Builtin::MapMember, found) => Ok(Value::Bool(found.is_ok())),
                    (Builtin::MapLookup, Ok(at)) => self.whole_of(&map.entries[at].1),
                    (Builtin::MapLookup, Err(_)) => {
                        let shown = self.show_short(&key);
                        Err(Failure::new(codes::NO_SUCH_KEY, format!("the map has no key {shown}"))
                            .help("check with `mapMember` first"))
                    }
                    (_, Ok(at)) => {
                        let mut entries = map.entries.clone();
                        entries.remove(at);
                        Ok(Value::Map(Rc::new(MapValue { entries })))
                    }
                    (_, Err(_)) => Ok(Value::Map(map)),
                }
            }
            Builtin::MapToList => {
                let map = self.map(&arguments[0])?;
                let pair = |(key, value): &(Value, Value)| Value::tuple(vec![key.clone(), value.clone()]);
                Ok(Value::sequence(map.entries.iter().map(pair).collect()))
            }
            Builtin::MapUpdate => {
                let map = self.map(&arguments[0])?;
                let key = self.finish(arguments[1].clone())?;
                let mut entries = map.entries.clone();
                let value = arguments[2].seen();
                match entries.binary_search_by(|(other, _)| compare(other, &key)) {
                    Ok(at) => entries[at].1 = value,
                    Err(at) => entries.insert(at, (key, value)),
                }
                Ok(Value::Map(Rc::new(MapValue { entries })))
            }
            Builtin::MapUpdateMultiple => {
                let map = self.map(&arguments[0])?;
                let mut entries = map.entries.clone();
                // As in FDR, and unlike in `mapFromList`, the first of two pairs with one key counts.
                entries.extend(self.pairs(&arguments[1])?.into_iter().rev());
                Ok(map_of(entries))
            }
            Builtin::Maps => {
                let (keys, values) = (self.set(&arguments[0])?, self.set(&arguments[1])?);
                Ok(set_of(SetKind::Maps(keys, values)))
            }
            Builtin::Error => {
                let text = match self.text(&arguments[0]) {
                    Ok(text) => text,
                    Err(failure) if failure.diagnostic().is_some() => self.show_short(&arguments[0]),
                    Err(stopped) => return Err(stopped),
                };
                Err(Failure::new(codes::USER_ERROR, format!("the script says: {text}")))
            }
            Builtin::Show => {
                let value = self.finish(arguments[0].clone())?;
                let text = self.show(&value);
                Ok(Value::string(&text))
            }
            Builtin::Extensions => {
                let value = self.finish(arguments[0].clone())?;
                Ok(Value::Set(SetValue::from_finished(self.extensions(&value)?)))
            }
            Builtin::Productions => {
                let value = self.finish(arguments[0].clone())?;
                Ok(Value::Set(productions_of(vec![value])))
            }
            Builtin::Mtransclose | Builtin::Transpose | Builtin::RelationalImage | Builtin::RelationalInverseImage => {
                self.relation(builtin, &arguments)
            }
            Builtin::TimedPriority => self.timed_priority(section, &arguments),
            _ => self.process(builtin, section, arguments),
        }
    }

    fn timed_priority(&mut self, section: u32, arguments: &[Value]) -> Result<Value> {
        self.process(Builtin::TimedPriority, section, arguments.to_vec())
    }

    /// A built-in that gives a process.
    fn process(&mut self, builtin: Builtin, section: u32, arguments: Vec<Value>) -> Result<Value> {
        if matches!(builtin, Builtin::Buffer | Builtin::WeakBuffer | Builtin::SignalBuffer) {
            match self.whole_of(&arguments[0])? {
                Value::Int(bound) if bound > 0 => {}
                Value::Int(bound) => {
                    let message = format!("a buffer needs room for at least one message, not {bound}");
                    return Err(Failure::new(codes::BUFFER_BOUND, message));
                }
                other => return Err(wrong_sort("a number", &other)),
            }
        }
        Ok(ProcessValue::value(ProcessKind::Builtin(builtin, section, arguments)))
    }

    fn sequence(&mut self, value: &Value) -> Result<Value> {
        match self.whole_of(value)? {
            sequence @ Value::Sequence(..) => Ok(sequence),
            other => Err(wrong_sort("a sequence", &other)),
        }
    }

    /// A sequence of characters as text.
    fn text(&mut self, value: &Value) -> Result<String> {
        let mut text = String::new();
        for item in self.elements(value)? {
            match self.whole(item)? {
                Value::Char(character) => text.push(character),
                other => return Err(wrong_sort("a character", &other)),
            }
        }
        Ok(text)
    }

    fn big_union(&mut self, sets: &Rc<SetValue>) -> Result<Value> {
        let sets = self.list(sets)?;
        let mut described = Vec::new();
        let mut items = Vec::new();
        for set in sets.iter() {
            let set = self.set(set)?;
            if set.listing.get().is_some() || self.can_be_listed(&set)? {
                items.extend_from_slice(&self.list(&set)?);
            } else {
                described.push(set);
            }
        }
        let mut union = SetValue::from_finished(items);
        for set in described {
            union = self.union(&union, &set)?;
        }
        Ok(Value::Set(union))
    }
}
