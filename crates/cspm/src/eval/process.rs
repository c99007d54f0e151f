//! Processes as values: closed descriptions.
//!
//! A process evaluates to the place in the script where it is made, its *control point*, and the values of that place's
//! free variables, or to a built-in with its arguments. Nothing else of the environment is kept, so two states that
//! differ only in variables that are dead are one. Processes are compared and hashed by this description; the hash is
//! kept, and [`Evaluator::identify`](super::Evaluator::identify) gives equal processes the same number.
//!
//! What a process can do is found by running the operations of its control point in its environment: the events and
//! successors of a prefix, the copies of a replicated operator, the operands of all others.

use std::cell::Cell;
use std::rc::Rc;

use crate::rename::Builtin;

use super::code::{ControlPointId, SectionId};
use super::open::Given;
use super::order::{compare_processes, hash_process};
use super::value::{Value, let_go};

/// A process. Equality and hashing are those of the description and cheap once it has been identified.
#[derive(Clone)]
pub struct ProcessValue(pub(super) Rc<ProcessNode>);

/// What a [`ProcessValue`] shares.
pub struct ProcessNode {
    pub(super) kind: ProcessKind,
    pub(super) hash: Cell<u64>,
    /// Whether what it captured is being evaluated; a process may hold itself, as in `P = F(P)`.
    pub(super) finishing: Cell<bool>,
}

/// How a process is described.
pub(super) enum ProcessKind {
    /// Made at a control point, with the values it captured.
    Made(ControlPointId, Vec<Value>),
    /// A built-in with its arguments, and the timed section or 0.
    Builtin(Builtin, u32, Vec<Value>),
}

/// A process, taken apart.
pub enum Description<'a> {
    /// Made at a control point, with the values of its free variables.
    Made(ControlPointId, &'a [Value]),
    /// A built-in with its arguments.
    Builtin(Builtin, &'a [Value]),
}

/// A number for a process; equal processes have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// A step of a prefix: an event and the process after it. Steps with the same `choice` are offered together; between
/// different values of `choice` the process chooses internally (`$`).
pub struct Communication {
    /// Which of the internal choices this belongs to.
    pub choice: u32,
    /// The event; its beginning, if it goes on with open values.
    pub event: Value,
    /// What it goes on with then.
    pub(crate) rest: Vec<Given>,
    /// The process after it.
    pub then: ProcessValue,
}

impl ProcessValue {
    pub(super) fn value(kind: ProcessKind) -> Value {
        Value::Process(Rc::new(ProcessNode { kind, hash: Cell::new(0), finishing: Cell::new(false) }))
    }

    /// What it is.
    pub fn description(&self) -> Description<'_> {
        match &self.0.kind {
            ProcessKind::Made(point, captures) => Description::Made(*point, captures),
            ProcessKind::Builtin(builtin, _, arguments) => Description::Builtin(*builtin, arguments),
        }
    }

    /// A process made at a control point, with the values of its free variables.
    pub(crate) fn made(point: ControlPointId, values: Vec<Value>) -> ProcessValue {
        let kind = ProcessKind::Made(point, values);
        ProcessValue(Rc::new(ProcessNode { kind, hash: Cell::new(0), finishing: Cell::new(false) }))
    }

    /// The same place of the script with other values of its variables; a built-in stays itself.
    pub fn with_values(&self, values: Vec<Value>) -> ProcessValue {
        let ProcessKind::Made(point, _) = self.0.kind else { return self.clone() };
        ProcessValue::made(point, values)
    }

    /// The timed section of a built-in.
    pub fn section(&self) -> Option<SectionId> {
        match self.0.kind {
            ProcessKind::Builtin(_, section, _) => section.checked_sub(1).map(SectionId),
            ProcessKind::Made(..) => None,
        }
    }

    /// Whether both are the same object.
    pub fn is(&self, other: &ProcessValue) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl From<ProcessValue> for Value {
    fn from(process: ProcessValue) -> Value {
        Value::Process(process.0)
    }
}

impl PartialEq for ProcessValue {
    fn eq(&self, other: &ProcessValue) -> bool {
        self.is(other)
            || (hash_process(&self.0) == hash_process(&other.0) && compare_processes(&self.0, &other.0).is_eq())
    }
}

impl Eq for ProcessValue {}

impl std::hash::Hash for ProcessValue {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(hash_process(&self.0));
    }
}

impl Drop for ProcessNode {
    fn drop(&mut self) {
        match &mut self.kind {
            ProcessKind::Made(_, values) | ProcessKind::Builtin(_, _, values) => let_go(values),
        }
    }
}
