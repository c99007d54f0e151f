//! Permutations of constants, applied to values.
//!
//! A permutation exchanges constants of datatypes: constructors without fields. It acts on every value: items of
//! tuples, sequences, sets, maps and dotted values, and fields of constructors and channels, are mapped one by one, and
//! numbers, truth values and characters stay (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*,
//! 2019, §4).
//!
//! The image of a value need not be a value of the script: when a channel is declared over `{A}`, then `c.A` has no
//! image under the exchange of `A` and `B`. So every field of an image is compared with the declared set, and a field
//! outside is reported as a [`Misfit`]. Functions and processes are code with captured values, and code may name
//! constants; they have no image here either.
//!
//! Cost: every distinct value is mapped once; equal parts of different values are shared afterwards.

use std::collections::HashMap;
use std::rc::Rc;

use super::evaluator::Evaluator;
use super::failure::{Failure, Result};
use super::machine::Machine;
use super::order::compare;
use super::sets::{SetKind, SetValue};
use super::value::{ConstructorId, Data, Elements, Items, MapValue, Value};
use crate::rename::DefinitionId;

/// A datatype of the script or of an instance of a module.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Its definition; of an instance of a module, that of the module.
    pub definition: DefinitionId,
    /// Its name as the top level of the script writes it.
    pub name: String,
    /// Its constructors in the order of the declaration, with their names.
    pub constructors: Vec<(String, ConstructorId)>,
    /// Which of them are constants: those without fields.
    pub constants: Vec<(String, ConstructorId)>,
}

/// The reason why a value has no image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A field of the image is outside the declared set.
    Outside {
        /// The constructor or channel.
        constructor: ConstructorId,
        /// Which field, from 1.
        field: usize,
        /// What it would be, as text.
        image: String,
    },
    /// It holds a function or a process.
    Opaque,
}

/// A permutation of constants, and the images computed so far.
pub struct Permutation {
    /// The images of those that are moved.
    moved: HashMap<ConstructorId, Value, foldhash::fast::FixedState>,
    known: HashMap<Value, Value, foldhash::fast::FixedState>,
}

/// What mapping gives when it gives no image.
enum Trouble {
    Misfit(Misfit),
    Failure(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failure(failure)
    }
}

type Mapped<T> = std::result::Result<T, Trouble>;

const RED_ZONE: usize = 64 * 1024;
const SEGMENT: usize = 1024 * 1024;

impl Permutation {
    /// The permutation that takes each constant to its image; others stay. The images must be the same constants in
    /// another order.
    pub fn new(images: impl IntoIterator<Item = (ConstructorId, ConstructorId)>) -> Permutation {
        let constant = |id| Value::Data(Rc::new(Data::new(id, Vec::new(), true)));
        let moved = images.into_iter().filter(|(from, to)| from != to).map(|(from, to)| (from, constant(to)));
        Permutation { moved: moved.collect(), known: HashMap::default() }
    }

    /// The image of a finished value.
    pub fn image(&mut self, value: &Value, evaluator: &mut Evaluator) -> Result<std::result::Result<Value, Misfit>> {
        evaluator.with(|machine| match self.map(value, machine) {
            Ok(image) => Ok(Ok(image.unwrap_or_else(|| value.clone()))),
            Err(Trouble::Misfit(misfit)) => Ok(Err(misfit)),
            Err(Trouble::Failure(failure)) => Err(failure),
        })
    }

    /// The image; none when it is the value itself.
    // Order and hash of a finished value do not depend on what it keeps behind cells.
    #[allow(clippy::mutable_key_type)]
    fn map(&mut self, value: &Value, machine: &mut Machine<'_>) -> Mapped<Option<Value>> {
        match value {
            Value::Int(_) | Value::Bool(_) | Value::Char(_) => return Ok(None),
            Value::Data(data) if data.fields.is_empty() => return Ok(self.moved.get(&data.constructor).cloned()),
            Value::Thunk(_) if value.is_evaluated() => return self.map(&value.seen(), machine),
            Value::Function(_)
            | Value::Builtin(..)
            | Value::Image(_)
            | Value::Process(_)
            | Value::Thunk(_)
            | Value::Group(_) => return Err(Trouble::Misfit(Misfit::Opaque)),
            _ => {}
        }
        if let Some(known) = self.known.get(value) {
            return Ok(Some(known.clone()));
        }
        let image = stacker::maybe_grow(RED_ZONE, SEGMENT, || self.map_parts(value, machine))?;
        self.known.insert(value.clone(), image.clone().unwrap_or_else(|| value.clone()));
        Ok(image)
    }

    fn map_parts(&mut self, value: &Value, machine: &mut Machine<'_>) -> Mapped<Option<Value>> {
        Ok(match value {
            Value::Tuple(items) => self.map_all(&items.items, machine)?.map(Value::tuple),
            Value::Dot(items) => {
                self.map_all(&items.items, machine)?.map(|items| Value::Dot(Rc::new(Items::new(items))))
            }
            Value::Sequence(..) => {
                let items: Vec<Value> = Elements::of(value).collect();
                self.map_all(&items, machine)?.map(Value::sequence)
            }
            Value::Set(set) => self.map_set(set, machine)?.map(Value::Set),
            Value::Map(map) => self.map_entries(map, machine)?,
            Value::Data(data) => self.map_fields(data, machine)?,
            _ => return Err(Trouble::Misfit(Misfit::Opaque)),
        })
    }

    fn map_all(&mut self, items: &[Value], machine: &mut Machine<'_>) -> Mapped<Option<Vec<Value>>> {
        let mut images: Option<Vec<Value>> = None;
        for (at, item) in items.iter().enumerate() {
            match (self.map(item, machine)?, &mut images) {
                (None, None) => {}
                (None, Some(images)) => images.push(item.clone()),
                (Some(image), Some(images)) => images.push(image),
                (Some(image), none) => {
                    let mut begun = Vec::with_capacity(items.len());
                    begun.extend_from_slice(&items[..at]);
                    begun.push(image);
                    *none = Some(begun);
                }
            }
        }
        Ok(images)
    }

    fn map_fields(&mut self, data: &Rc<Data>, machine: &mut Machine<'_>) -> Mapped<Option<Value>> {
        let Some(fields) = self.map_all(&data.fields, machine)? else { return Ok(None) };
        let sets = machine.fields_of(data.constructor)?;
        for (at, field) in fields.iter().enumerate() {
            let lacking = matches!(field, Value::Data(field) if !field.complete);
            if !lacking && !sets.get(at).is_some_and(|set| set.has(field)) {
                let image = machine.show_short(field);
                let (constructor, field) = (data.constructor, at + 1);
                return Err(Trouble::Misfit(Misfit::Outside { constructor, field, image }));
            }
        }
        Ok(Some(Value::Data(Rc::new(Data::new(data.constructor, fields, data.complete)))))
    }

    fn map_entries(&mut self, map: &MapValue, machine: &mut Machine<'_>) -> Mapped<Option<Value>> {
        let (mut entries, mut changed) = (Vec::with_capacity(map.entries.len()), false);
        for (key, value) in &map.entries {
            let images = (self.map(key, machine)?, self.map(value, machine)?);
            changed |= images.0.is_some() || images.1.is_some();
            entries.push((images.0.unwrap_or_else(|| key.clone()), images.1.unwrap_or_else(|| value.clone())));
        }
        entries.sort_by(|(a, _), (b, _)| compare(a, b));
        Ok(changed.then(|| Value::Map(Rc::new(MapValue { entries }))))
    }

    /// A set that was listed is mapped element by element; only what is too large or infinite is mapped by its
    /// description.
    fn map_set(&mut self, set: &Rc<SetValue>, machine: &mut Machine<'_>) -> Mapped<Option<Rc<SetValue>>> {
        if let Some(items) = set.listed() {
            return Ok(self.map_all(items, machine)?.map(SetValue::from_finished));
        }
        let kind = match &set.kind {
            SetKind::Listed
            | SetKind::Integers
            | SetKind::From(_)
            | SetKind::Range(..)
            | SetKind::Characters
            | SetKind::Processes => return Ok(None),
            SetKind::Sequences(of) => self.map_set(of, machine)?.map(SetKind::Sequences),
            SetKind::Subsets(of) => self.map_set(of, machine)?.map(SetKind::Subsets),
            SetKind::Maps(keys, values) => {
                let sets = self.map_sets(&[keys.clone(), values.clone()], machine)?;
                sets.map(|sets| SetKind::Maps(sets[0].clone(), sets[1].clone()))
            }
            SetKind::Productions(values) => self.map_all(values, machine)?.map(|mut values| {
                values.sort_unstable_by(compare);
                SetKind::Productions(values)
            }),
            SetKind::Tuples(sets) => self.map_sets(sets, machine)?.map(SetKind::Tuples),
            SetKind::Dots(sets) => self.map_sets(sets, machine)?.map(SetKind::Dots),
            SetKind::Constructed(constructor, sets) => {
                self.map_sets(sets, machine)?.map(|sets| SetKind::Constructed(*constructor, sets))
            }
            SetKind::Unions(sets) => self.map_sets(sets, machine)?.map(SetKind::Unions),
        };
        Ok(kind.map(SetValue::described))
    }

    fn map_sets(&mut self, sets: &[Rc<SetValue>], machine: &mut Machine<'_>) -> Mapped<Option<Vec<Rc<SetValue>>>> {
        let mut images = Vec::with_capacity(sets.len());
        let mut changed = false;
        for set in sets {
            let image = self.map_set(set, machine)?;
            changed |= image.is_some();
            images.push(image.unwrap_or_else(|| set.clone()));
        }
        Ok(changed.then_some(images))
    }
}

/// The constants that occur in a finished value, from left to right; those of sets and maps in the order in which these
/// are kept.
pub fn constants_in(value: &Value, found: &mut dyn FnMut(ConstructorId)) {
    stacker::maybe_grow(RED_ZONE, SEGMENT, || match value {
        Value::Data(data) if data.fields.is_empty() => found(data.constructor),
        Value::Data(data) => data.fields.iter().for_each(|field| constants_in(field, found)),
        Value::Tuple(items) | Value::Dot(items) => items.items.iter().for_each(|item| constants_in(item, found)),
        Value::Sequence(..) => Elements::of(value).for_each(|item| constants_in(&item, found)),
        Value::Set(set) => set.listed().into_iter().flatten().for_each(|item| constants_in(item, found)),
        Value::Map(map) => map.entries.iter().for_each(|(key, value)| {
            constants_in(key, found);
            constants_in(value, found);
        }),
        Value::Thunk(_) if value.is_evaluated() => constants_in(&value.seen(), found),
        _ => {}
    });
}

impl Misfit {
    /// In words.
    pub fn describe(&self, evaluator: &Evaluator) -> String {
        match self {
            Misfit::Outside { constructor, field, image } => {
                let (name, channel) = evaluator.constructor(*constructor);
                let sort = if channel { "channel" } else { "constructor" };
                format!("{image} is outside the type of field {field} of the {sort} `{name}`")
            }
            Misfit::Opaque => "it holds a function or a process".to_string(),
        }
    }
}
