//! The compiled model: frames of cells, process types as tables of transitions, expressions in one flat list.
//!
//! The program contains no text, but every part keeps its name and its place: the statement of a transition, the
//! variable of a cell, the channel of an initialiser. Symmetry detection, charts and trails need nothing else.

use std::sync::Arc;

use trefoil_source::{Sources, Span};
use trefoil_system::{Automaton, Ltl, LtlId};

use crate::syntax::tree::Binary;

/// An index into [`Program::expressions`].
pub type ExpressionId = u32;
/// An index into [`Program::places`].
pub type PlaceId = u32;
/// An index into [`Program::processes`].
pub type ProcessTypeId = u16;
/// A control state of a process type, numbered as Spin numbers it.
pub type Control = u32;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `bit`, or `unsigned` with this many bits.
    Bits(u8),
    /// `bool`: one bit.
    Bool,
    /// `byte`
    Byte,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `pid`
    Pid,
    /// `chan`: the number of a channel, or 0.
    Channel,
    /// `mtype`: the number of a constant in a set.
    Mtype(u16),
}

impl Sort {
    /// The type of a variable of this sort, for messages.
    pub fn words(self) -> String {
        match self {
            Sort::Bits(1) | Sort::Bool => "1 bit".to_string(),
            Sort::Bits(bits) => format!("{bits} bits"),
            Sort::Byte => "a `byte`".to_string(),
            Sort::Short => "a `short`".to_string(),
            Sort::Int => "an `int`".to_string(),
            Sort::Pid => "a `pid`".to_string(),
            Sort::Channel => "a `chan`".to_string(),
            Sort::Mtype(_) => "an `mtype`".to_string(),
        }
    }

    /// How many bits of a value are kept.
    pub fn bits(self) -> u32 {
        match self {
            Sort::Bits(bits) => u32::from(bits),
            Sort::Bool => 1,
            Sort::Byte | Sort::Pid | Sort::Channel | Sort::Mtype(_) => 8,
            Sort::Short => 16,
            Sort::Int => 32,
        }
    }

    /// Is it one bit?
    pub fn is_bit(self) -> bool {
        self.bits() == 1
    }

    /// The bits of a value that are kept.
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits())
    }

    /// What a kept value means.
    #[inline]
    pub fn read(self, kept: u32) -> i32 {
        if self == Sort::Short { i32::from(kept as u16 as i16) } else { kept as i32 }
    }
}

/// One value of a frame.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What a person calls it: `a[2].b`.
    pub name: String,
    /// Its contents.
    pub sort: Sort,
    /// Does it stay out of the state? Only where it is declared `hidden` and never read in a step that has not written
    /// it before.
    pub hidden: bool,
    /// Where its variable is declared.
    pub span: Span,
}

/// What a message is and how many a channel holds.
#[derive(Clone, Debug)]
pub struct ChannelKind {
    /// 0 for a rendezvous.
    pub capacity: u32,
    /// The values of the fields.
    pub fields: Vec<Sort>,
    /// Is a message one record?
    pub is_record: bool,
    /// The variable it is made for.
    pub name: String,
    /// Its place in the text.
    pub span: Span,
}

/// The initialisers of a new frame, in order.
#[derive(Clone, Debug)]
pub enum Initialiser {
    /// A cell gets a value.
    Value {
        /// The cell.
        cell: u32,
        /// Its value.
        value: ExpressionId,
    },
    /// A cell gets a new channel: that many of the frame's channels were made before.
    Channel {
        /// The cell.
        cell: u32,
        /// An index into [`Frame::channels`].
        channel: u32,
    },
}

/// The variables of the model, or of a process.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// How they start; where nothing is said, with 0.
    pub initial: Vec<Initialiser>,
    /// The channels that are made with it, in order.
    pub channels: Vec<ChannelKind>,
}

/// One index of a place.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    /// Its value.
    pub value: ExpressionId,
    /// It is below this.
    pub length: u32,
    /// Cells from one element to the next.
    pub stride: u32,
}

/// A cell, perhaps by indices that are known only when it is used.
#[derive(Clone, Debug)]
pub struct Place {
    /// Of the model or of the process?
    pub global: bool,
    /// The first cell.
    pub base: u32,
    /// Its contents.
    pub sort: Sort,
    /// The indices.
    pub indices: Box<[Index]>,
    /// The variable `_`, which is written and never kept.
    pub scratch: bool,
    /// Where it is used.
    pub span: Span,
}

/// A field of a receive.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Is received into a place.
    Store(PlaceId),
    /// Must be equal.
    Match(ExpressionId),
}

/// `run`
#[derive(Clone, Debug)]
pub struct Run {
    /// The processes.
    pub process: ProcessTypeId,
    /// One value per cell of the parameters.
    pub arguments: Vec<ExpressionId>,
    /// Its priority.
    pub priority: u8,
    /// Its place in the text.
    pub span: Span,
}

/// A question whether a message is there.
#[derive(Clone, Debug)]
pub struct Poll {
    /// The channel.
    pub channel: ExpressionId,
    /// Anywhere, or at the head?
    pub random: bool,
    /// The value that must be equal; nothing where every value matches.
    pub fields: Vec<Option<ExpressionId>>,
    /// Its place in the text.
    pub span: Span,
}

/// A look at another process.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its type.
    pub process: ProcessTypeId,
    /// Which one; the only one when nothing is said.
    pub index: Option<ExpressionId>,
    /// The part of the other process.
    pub target: RemoteTarget,
    /// Its place in the text.
    pub span: Span,
}

/// The part of the other process.
#[derive(Clone, Copy, Debug)]
pub enum RemoteTarget {
    /// Is it at this state?
    Label(Control),
    /// The value of a place of its frame.
    Place(PlaceId),
}

/// One operation of an expression.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the operations are those of the language")]
pub enum Node {
    Constant(i32),
    /// A cell of the model whose value is its bits.
    Global(u32),
    /// A cell of the process whose value is its bits.
    Local(u32),
    /// Any other cell.
    Place(PlaceId),
    Not(ExpressionId),
    Negate(ExpressionId),
    Complement(ExpressionId),
    Binary(Binary, ExpressionId, ExpressionId),
    Conditional(ExpressionId, ExpressionId, ExpressionId),
    Run(u32),
    Length(ExpressionId),
    Full(ExpressionId),
    Empty(ExpressionId),
    NotFull(ExpressionId),
    NotEmpty(ExpressionId),
    Poll(u32),
    Timeout,
    Pid,
    ProcessCount,
    Last,
    ProgramCounter(ExpressionId),
    Priority(ExpressionId),
    OwnPriority,
    Enabled(ExpressionId),
    Remote(u32),
    /// No process is at a `progress` label.
    NonProgress,
    /// A process is at an `accept` label.
    Accepting,
}

/// What a transition does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Nothing: `skip`, `goto`, `printf`.
    Skip,
    /// Passes when the expression is not 0.
    Condition(ExpressionId),
    /// Passes when no transition before it passes.
    Else,
    /// Sets a place.
    Assign(PlaceId, ExpressionId),
    /// Fails when the expression is 0.
    Assert(ExpressionId),
    /// Sends.
    Send(Box<Send>),
    /// Receives.
    Receive(Box<Receive>),
    /// Sets the priority of a process.
    SetPriority(ExpressionId, ExpressionId),
    /// A `d_step`.
    Indivisible(Box<Indivisible>),
    /// Ends the process, when it is the youngest.
    End,
}

/// `c!a,b`
#[derive(Clone, Debug)]
pub struct Send {
    /// The channel.
    pub channel: ExpressionId,
    /// In its place, or at the end?
    pub sorted: bool,
    /// The fields.
    pub arguments: Vec<ExpressionId>,
}

/// `c?a,b`
#[derive(Clone, Debug)]
pub struct Receive {
    /// The channel.
    pub channel: ExpressionId,
    /// From anywhere, or from the head?
    pub random: bool,
    /// Does the message stay in the channel?
    pub copy: bool,
    /// The fields.
    pub fields: Vec<Pattern>,
}

/// The body of a `d_step`: consecutive statements, choices that take the first option that passes.
#[derive(Clone, Debug)]
pub struct Indivisible {
    /// When it can begin.
    pub guard: Guard,
    /// Its first step.
    pub start: u32,
    /// Its steps.
    pub steps: Vec<IndivisibleStep>,
}

/// When a `d_step` can begin.
#[derive(Clone, Debug)]
pub enum Guard {
    /// Always.
    Free,
    /// When one of these actions passes.
    Any(Vec<Action>),
}

/// A step of a `d_step`.
#[derive(Clone, Debug)]
pub enum IndivisibleStep {
    /// An action and the step after it; behind the last one the `d_step` ends.
    Do {
        /// The action.
        action: Action,
        /// The step after it.
        next: u32,
        /// The statement.
        statement: u32,
    },
    /// The first of these whose first action passes.
    Choose(Vec<u32>),
}

impl Indivisible {
    /// What its steps do.
    pub(crate) fn done(&self) -> impl Iterator<Item = &Action> {
        self.steps.iter().filter_map(|step| match step {
            IndivisibleStep::Do { action, .. } => Some(action),
            IndivisibleStep::Choose(_) => None,
        })
    }

    /// What its guard asks, and what its steps do.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &Action> {
        let guards = match &self.guard {
            Guard::Any(guards) => &guards[..],
            _ => &[],
        };
        guards.iter().chain(self.done())
    }
}

/// A statement of a process type, as Spin numbers them.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its text.
    pub text: String,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
    /// Its place in the text.
    pub span: Span,
    /// Its number among all statements of the model; Spin's trails name transitions by it.
    pub number: u32,
    /// Is it listed when it is never reached?
    pub listed: bool,
    /// The file it stands in.
    pub file: Arc<str>,
    /// What it prints: an index into [`Program::prints`].
    pub print: Option<u32>,
    /// Of what its text is made, when it is not written as it is executed.
    pub shown: Option<Shown>,
}

/// The text of a statement that a longer one stands for: `i <= n` in a `for`.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The left part.
    pub left: Option<Span>,
    /// The text between.
    pub between: &'static str,
    /// The right part.
    pub right: Option<Span>,
}

/// `printf` or `printm`
#[derive(Clone, Debug)]
pub struct Print {
    /// The text, as it is written between its quotes; `%e` for `printm`.
    pub format: Arc<str>,
    /// The values for it; those of an mtype set with the set.
    pub arguments: Vec<(ExpressionId, Option<u16>)>,
}

/// A transition of a process type.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The statement, by its control state.
    pub statement: Control,
    /// Its effect.
    pub action: Arc<Action>,
    /// The target; 0 at the end of the process.
    pub target: Control,
    /// Does the process keep control behind it?
    pub atomic: bool,
    /// When it belongs to an escape: the state where the escape begins.
    pub escape: Control,
}

/// A process type.
#[derive(Clone, Debug)]
pub struct ProcessType {
    /// Its name.
    pub name: Arc<str>,
    /// Its place in the text.
    pub span: Span,
    /// Its variables, parameters first.
    pub frame: Frame,
    /// How many of its cells are parameters.
    pub parameters: u32,
    /// Its initial control state.
    pub start: Control,
    /// The transitions of each control state, in the order in which they are tried.
    pub transitions: Vec<Vec<Transition>>,
    /// The statements by control state.
    pub statements: Vec<Statement>,
    /// Control states where a process may rest at the end.
    pub valid_end: Vec<bool>,
    /// Control states with a progress label.
    pub progress: Vec<bool>,
    /// Control states with an accept label.
    pub accepting: Vec<bool>,
    /// Labels and their states.
    pub labels: Vec<(Arc<str>, Control)>,
    /// It runs only when this holds.
    pub provided: Option<ExpressionId>,
    /// Is it `D_proctype`?
    pub deterministic: bool,
}

impl ProcessType {
    /// The control states that a process can come to. The options of a choice are states of their own, and mostly
    /// no process is there.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.transitions.len()];
        let mut work = vec![self.start];
        while let Some(state) = work.pop() {
            if !std::mem::replace(&mut reachable[state as usize], true) {
                work.extend(self.transitions[state as usize].iter().map(|transition| transition.target));
            }
        }
        reachable
    }
}

/// `trace` or `notrace`: an automaton over sends and receives.
#[derive(Clone, Debug)]
pub struct EventTrace {
    /// Must the events never be like this?
    pub forbidden: bool,
    /// Its states and transitions; the actions are sends and receives.
    pub automaton: ProcessType,
}

/// What a claim says.
#[derive(Clone, Debug)]
pub enum ClaimSays {
    /// A formula that must hold of every run.
    Formula(Ltl, LtlId),
    /// An automaton that must accept no run.
    Automaton(Automaton),
    /// It cannot be checked, for this reason.
    Refused(String),
}

/// A claim about all runs.
#[derive(Clone, Debug)]
pub struct NamedClaim {
    /// Its name.
    pub name: String,
    /// `never` or `ltl`.
    pub kind: &'static str,
    /// Its place in the text.
    pub span: Span,
    /// What it says.
    pub says: ClaimSays,
    /// Its propositions, by their numbers in [`Program::propositions`].
    pub propositions: Vec<u32>,
    /// Where it names each of them first.
    pub places: Vec<Span>,
}

/// Where a proposition stands.
#[derive(Clone, Copy, Debug)]
pub struct WrittenProposition {
    /// The condition or assertion.
    pub span: Span,
    /// How many negations before it do not belong to the proposition.
    pub negations: usize,
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Program {
    /// The global variables.
    pub globals: Frame,
    /// Process types in the order of the model.
    pub processes: Vec<ProcessType>,
    /// The processes that run from the start, oldest first, with priorities.
    pub active: Vec<(ProcessTypeId, u8)>,
    /// All operations of all expressions.
    pub expressions: Vec<Node>,
    /// All places.
    pub places: Vec<Place>,
    /// All uses of `run`.
    pub runs: Vec<Run>,
    /// All polls.
    pub polls: Vec<Poll>,
    /// All remote references.
    pub remotes: Vec<Remote>,
    /// All that is printed.
    pub prints: Vec<Print>,
    /// Names of the constants of each mtype set: number 1 comes first.
    pub mtypes: Vec<(String, Vec<Arc<str>>)>,
    /// `never` and `ltl`.
    pub claims: Vec<NamedClaim>,
    /// What claims look at; each holds where its value is not 0.
    pub propositions: Vec<ExpressionId>,
    /// Where each of them is written first; nothing for those that labels make.
    pub written: Vec<Option<WrittenProposition>>,
    /// The proposition that no process is at a `progress` label, where there are such labels.
    pub non_progress: Option<u32>,
    /// The proposition that a process is at an `accept` label, where there are such labels.
    pub accepting: Option<u32>,
    /// `trace` or `notrace`.
    pub trace: Option<EventTrace>,
    /// Is `_last` used?
    pub uses_last: bool,
    /// Are priorities used?
    pub uses_priority: bool,
    /// Has a statement an assertion?
    pub assertions: Vec<Span>,
}

impl Program {
    /// A proposition as the model writes it.
    pub fn proposition_text(&self, number: u32, sources: &Sources) -> String {
        let Some(WrittenProposition { span, negations }) = self.written[number as usize] else {
            return if self.non_progress == Some(number) { "np_" } else { "accept" }.to_string();
        };
        let text = sources.text(span).split_whitespace().collect::<Vec<&str>>().join(" ");
        let mut rest = text.strip_prefix("assert").unwrap_or(&text).trim();
        let mut left = negations;
        loop {
            if let Some(inside) = enclosed(rest) {
                rest = inside.trim();
            } else if left > 0 && rest.starts_with('!') {
                rest = rest[1..].trim();
                left -= 1;
            } else {
                // A name of a macro may hide the negations.
                return if left % 2 == 0 { rest.to_string() } else { format!("!({rest})") };
            }
        }
    }

    /// What the value 0 of an mtype set, which no constant has, is called.
    pub fn mtype_none(&self, set: u16) -> String {
        let taken = |name: &str| self.mtypes.iter().any(|(_, names)| names.iter().any(|known| **known == *name));
        let name = if set == 0 { "none".to_string() } else { format!("none_{}", self.mtypes[usize::from(set)].0) };
        if taken(&name) { format!("{name}_") } else { name }
    }

    /// The name of a constant of an mtype set.
    pub fn mtype_name(&self, set: u16, value: i32) -> Option<&str> {
        let index = usize::try_from(value).ok()?.checked_sub(1)?;
        self.mtypes.get(usize::from(set))?.1.get(index).map(|name| &**name)
    }
}

/// What is in a pair of brackets that encloses all of a text.
fn enclosed(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut open = 0;
    for character in inside.chars() {
        match character {
            '(' => open += 1,
            ')' if open == 0 => return None,
            ')' => open -= 1,
            _ => {}
        }
    }
    (open == 0).then_some(inside)
}
