//! What expressions evaluate to.
//!
//! A [`Value`] is sixteen bytes: a number, truth value or character itself, or a counted pointer to something immutable
//! that values share. Laziness hides in two places only: an element of a tuple, sequence or map may be a [`Thunk`], and
//! so may the rest of a sequence. What goes into a set or becomes a key is finished first, so that order and hash need
//! no evaluator.
//!
//! Sequences are chunks: a vector of elements and perhaps a further sequence behind it. A value of a sequence is a
//! chunk and an offset, so `tail` copies nothing, and `<x> ^ s` shares `s`.
//!
//! Nothing here is dropped recursively beyond a fixed depth: a thread-local queue takes what lies deeper, so that a
//! list of a million cells or a tower of thunks goes away in a loop.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::rename::Builtin;

use super::code::{ComprehensionId, FunctionId, GroupId, UnitId};
use super::process::ProcessNode;
use super::sets::SetValue;

/// A constructor of a datatype or a channel, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstructorId(pub u32);

/// A value. See the module's text.
#[derive(Clone)]
pub enum Value {
    /// A number.
    Int(i32),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
    /// A tuple of two or more.
    Tuple(Rc<Items>),
    /// A sequence: nothing, or a chunk from an offset on that lies inside it.
    Sequence(Option<Rc<Chunk>>, u32),
    /// A set.
    Set(Rc<SetValue>),
    /// A map.
    Map(Rc<MapValue>),
    /// A constructor or channel with some or all of its fields.
    Data(Rc<Data>),
    /// Values dotted together that no constructor holds; two or more.
    Dot(Rc<Items>),
    /// A function.
    Function(Rc<Closure>),
    /// A built-in function, with the timed section that it was named in (its number plus one) or 0.
    Builtin(Builtin, u32),
    /// The function that gives the image of a value under a relation.
    Image(Rc<SetValue>),
    /// A process.
    Process(Rc<ProcessNode>),
    /// Something not evaluated yet.
    Thunk(Rc<Thunk>),
    /// The environment of local definitions; scripts never see one.
    Group(Rc<Group>),
}

/// The items of a tuple or of a dotted value.
pub struct Items {
    /// The items.
    pub items: Vec<Value>,
    pub(super) hash: Cell<u64>,
}

/// A piece of a sequence.
pub struct Chunk {
    /// Its elements, at least one.
    pub items: Vec<Value>,
    /// The sequence behind them.
    pub next: Option<Value>,
}

/// A map, sorted by its keys.
pub struct MapValue {
    /// Finished keys with their values, in the order of the keys.
    pub entries: Vec<(Value, Value)>,
}

/// A constructor or channel with fields.
pub struct Data {
    /// Which.
    pub constructor: ConstructorId,
    /// Its fields as far as they are given.
    pub fields: Vec<Value>,
    /// Whether nothing is missing.
    pub complete: bool,
    pub(super) hash: Cell<u64>,
}

/// A function with what it captured and the argument lists it was given so far.
pub struct Closure {
    pub(super) function: FunctionId,
    pub(super) captures: Vec<Value>,
    pub(super) applied: Vec<Value>,
    pub(super) lists: u32,
}

/// The environment that local definitions share: what they use from outside, and a cell for each that is not a
/// function.
pub struct Group {
    pub(super) id: GroupId,
    pub(super) captures: Vec<Value>,
    pub(super) cells: Vec<Rc<Thunk>>,
}

/// A delayed value.
pub struct Thunk {
    pub(super) state: RefCell<Delayed>,
}

impl Thunk {
    /// Looks at the value of a finished thunk without counting another holder of it.
    ///
    /// # Panics
    ///
    /// When it is not finished.
    pub(super) fn with_value<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        match &*self.state.borrow() {
            Delayed::Done(value) => look(value),
            _ => unreachable!("the thunk is finished"),
        }
    }
}

/// How far a thunk is.
pub(super) enum Delayed {
    /// To be run with these captures.
    Waiting(UnitId, Vec<Value>),
    /// A definition of a group, to be run with its group.
    Member,
    /// The numbers from here on.
    From(i32),
    /// A sequence after which another one comes.
    Append(Value, Value),
    /// The rest of a comprehension over a sequence.
    More(Box<More>),
    /// Left open ([`super::open`]).
    Open(u32),
    /// Being run.
    Running,
    /// Done.
    Done(Value),
}

/// What the rest of a comprehension over a sequence needs: the rest of the sequence, and the frame and captures of the
/// unit in which the comprehension stands.
pub(super) struct More {
    pub(super) comprehension: ComprehensionId,
    pub(super) rest: Value,
    pub(super) frame: Vec<Value>,
    pub(super) captured: Vec<Value>,
}

impl Value {
    /// A tuple.
    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(Items::new(items)))
    }

    /// A finite sequence.
    pub fn sequence(items: Vec<Value>) -> Value {
        Value::sequence_then(items, None)
    }

    /// A string, which is a sequence of characters.
    pub fn string(text: &str) -> Value {
        Value::sequence(text.chars().map(Value::Char).collect())
    }

    pub(super) fn sequence_then(items: Vec<Value>, next: Option<Value>) -> Value {
        match (items.is_empty(), next) {
            (true, None) => Value::Sequence(None, 0),
            (true, Some(next)) => next,
            (false, next) => Value::Sequence(Some(Rc::new(Chunk { items, next })), 0),
        }
    }

    pub(super) fn thunk(state: Delayed) -> Value {
        Value::Thunk(Rc::new(Thunk { state: RefCell::new(state) }))
    }

    /// The value behind finished thunks; a thunk itself when it is not finished.
    pub fn seen(&self) -> Value {
        let mut value = self.clone();
        while let Value::Thunk(thunk) = &value {
            let inner = match &*thunk.state.borrow() {
                Delayed::Done(inner) => inner.clone(),
                _ => break,
            };
            value = inner;
        }
        value
    }

    /// Whether no work is left to see what it is.
    pub(super) fn is_evaluated(&self) -> bool {
        match self {
            Value::Thunk(thunk) => matches!(&*thunk.state.borrow(), Delayed::Done(_)),
            _ => true,
        }
    }

    /// What a user would call it.
    pub(super) fn sort(&self) -> &'static str {
        match self.seen() {
            Value::Int(_) => "a number",
            Value::Bool(_) => "a truth value",
            Value::Char(_) => "a character",
            Value::Tuple(_) => "a tuple",
            Value::Sequence(..) => "a sequence",
            Value::Set(_) => "a set",
            Value::Map(_) => "a map",
            Value::Data(_) => "a value of a datatype or channel",
            Value::Dot(_) => "a dotted value",
            Value::Function(_) | Value::Builtin(..) | Value::Image(_) => "a function",
            Value::Process(_) => "a process",
            Value::Thunk(_) => "a value",
            Value::Group(_) => "a module",
        }
    }
}

impl Items {
    pub(super) fn new(items: Vec<Value>) -> Items {
        Items { items, hash: Cell::new(0) }
    }
}

impl Data {
    pub(super) fn new(constructor: ConstructorId, fields: Vec<Value>, complete: bool) -> Data {
        Data { constructor, fields, complete, hash: Cell::new(0) }
    }
}

/// Walks the elements of a sequence whose chunks are all there; elements may be thunks.
pub struct Elements {
    chunk: Option<Rc<Chunk>>,
    at: usize,
}

impl Elements {
    /// Starts at a sequence. Where the sequence ends in an unfinished thunk, the walk ends too.
    pub fn of(value: &Value) -> Elements {
        match value.seen() {
            Value::Sequence(chunk, at) => Elements { chunk, at: at as usize },
            _ => Elements { chunk: None, at: 0 },
        }
    }
}

impl Iterator for Elements {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            let chunk = self.chunk.as_ref()?;
            if let Some(item) = chunk.items.get(self.at) {
                self.at += 1;
                return Some(item.clone());
            }
            let next = chunk.next.as_ref().map(Value::seen);
            match next {
                Some(Value::Sequence(chunk, at)) => (self.chunk, self.at) = (chunk, at as usize),
                _ => self.chunk = None,
            }
        }
    }
}

/// How deep drops nest before the rest waits in the queue.
const DEEPEST_DROP: u32 = 128;

thread_local! {
    static DROPPING: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Drops values, or leaves them to an outer drop when drops are nested deeply.
pub(super) fn let_go(values: &mut Vec<Value>) {
    if values.is_empty() {
        return;
    }
    // Without thread-local storage the thread is ending; then only the stack limits the depth.
    let depth = DROPPING.try_with(Cell::get).unwrap_or(0);
    if depth >= DEEPEST_DROP {
        let moved = WAITING.try_with(|waiting| waiting.borrow_mut().append(values));
        if moved.is_ok() {
            return;
        }
    }
    let _ = DROPPING.try_with(|dropping| dropping.set(depth + 1));
    values.clear();
    if depth == 0 {
        while let Ok(Some(value)) = WAITING.try_with(|waiting| waiting.borrow_mut().pop()) {
            drop(value);
        }
    }
    let _ = DROPPING.try_with(|dropping| dropping.set(depth));
}

/// Whether dropping it may drop others.
fn holds_others(value: &Value) -> bool {
    !matches!(value, Value::Int(_) | Value::Bool(_) | Value::Char(_) | Value::Builtin(..))
}

impl Drop for Items {
    fn drop(&mut self) {
        if self.items.iter().any(holds_others) {
            let_go(&mut self.items);
        }
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if self.fields.iter().any(holds_others) {
            let_go(&mut self.fields);
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            self.items.push(next);
            let_go(&mut self.items);
        } else if self.items.iter().any(holds_others) {
            let_go(&mut self.items);
        }
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        let_go(&mut self.captures);
        let_go(&mut self.applied);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let_go(&mut self.captures);
        let mut cells = std::mem::take(&mut self.cells).into_iter().map(Value::Thunk).collect();
        let_go(&mut cells);
    }
}

impl Drop for MapValue {
    fn drop(&mut self) {
        let mut values = self.entries.drain(..).flat_map(|(key, value)| [key, value]).collect();
        let_go(&mut values);
    }
}

impl Drop for Thunk {
    fn drop(&mut self) {
        match std::mem::replace(self.state.get_mut(), Delayed::Running) {
            Delayed::Waiting(_, mut captures) => let_go(&mut captures),
            Delayed::Done(value) if holds_others(&value) => let_go(&mut vec![value]),
            Delayed::Append(left, right) => let_go(&mut vec![left, right]),
            Delayed::More(mut more) => {
                let_go(&mut more.frame);
                let_go(&mut more.captured);
                let_go(&mut vec![more.rest]);
            }
            _ => {}
        }
    }
}

/// A set's listing, made once.
pub(super) type Listing = OnceCell<Rc<Vec<Value>>>;
