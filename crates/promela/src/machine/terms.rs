//! Expressions for one process at one position: cells are slots of the row, and known values are constants.
//!
//! The expressions of a program name cells of a frame. A search evaluates them billions of times, for processes at the
//! same few positions, so each is translated once for each position and type that uses it. After the translation every
//! cell has a fixed slot, `_pid`, every global channel without assignments and every variable that keeps its initial
//! value are constants, and expressions over constants are computed: `fork[(_pid + 1) % N]` becomes one slot. The most
//! frequent parts of guards (a slot compared with a constant or another slot, an array element at a variable index) are
//! one term each, so that such a guard costs one dispatch.
//!
//! The translation keeps every fault: a division by zero or an index outside its array is left for the evaluation.
//!
//! Terms lie in one list and refer to each other by number, a term only to earlier ones.

use std::collections::HashMap;

use crate::evaluate::binary;
use crate::program::{ExpressionId, Index, Node, Place, PlaceId, ProcessTypeId, Program, Sort};
use crate::syntax::tree::Binary;

use super::arrangement::Queue;

/// An index into [`Terms::terms`].
pub(crate) type TermId = u32;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Term {
    Constant(i32),
    /// A slot whose value is its bits.
    Slot(u32),
    /// A slot of 16 bits with a sign.
    Short(u32),
    /// The element of an array whose index is the value of a slot; its value is its bits.
    At {
        base: u32,
        slot: u32,
        length: u32,
    },
    /// Any other cell: an index into [`Terms::elements`].
    Element(u32),
    /// A slot beside a constant.
    SlotConstant(Binary, u32, i32),
    /// Two slots.
    SlotSlot(Binary, u32, u32),
    Not(TermId),
    Negate(TermId),
    Complement(TermId),
    Binary(Binary, TermId, TermId),
    Conditional(TermId, TermId, TermId),
    /// An index into [`Terms::runs`].
    Run(u32),
    Length(TermId),
    Full(TermId),
    Empty(TermId),
    NotFull(TermId),
    NotEmpty(TermId),
    /// An index into [`Terms::polls`].
    Poll(u32),
    Timeout,
    ProcessCount,
    Last,
    ProgramCounter(TermId),
    Priority(TermId),
    OwnPriority,
    Enabled(TermId),
    NonProgress,
    Accepting,
    /// An index into [`Terms::remotes`].
    Remote(u32),
}

/// One index of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offset {
    pub(crate) value: TermId,
    /// It is below this.
    pub(crate) length: u32,
    /// Slots from one element to the next.
    pub(crate) stride: u32,
}

/// A cell by indices that are known only when it is used.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) base: u32,
    pub(crate) sort: Sort,
    pub(crate) offsets: Box<[Offset]>,
}

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// Nowhere: the variable `_`.
    Nowhere,
    /// To a slot, as far as the mask keeps it.
    Slot(u32, u32),
    /// To an element.
    Element(u32),
}

/// `run`, with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct RunTerm {
    pub(crate) process: ProcessTypeId,
    pub(crate) arguments: Box<[TermId]>,
    pub(crate) priority: u8,
}

/// A poll.
#[derive(Clone, Debug)]
pub(crate) struct PollTerm {
    pub(crate) channel: TermId,
    pub(crate) random: bool,
    pub(crate) fields: Box<[Option<TermId>]>,
}

/// A look at another process.
#[derive(Clone, Debug)]
pub(crate) struct RemoteTerm {
    pub(crate) process: ProcessTypeId,
    pub(crate) index: Option<TermId>,
    pub(crate) target: RemoteTermTarget,
}

/// The part of the other process.
#[derive(Clone, Debug)]
pub(crate) enum RemoteTermTarget {
    Label(u32),
    /// The first cell counts from the first cell of the other's frame.
    Cell(Element),
}

/// All terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) terms: Vec<Term>,
    pub(crate) elements: Vec<Element>,
    pub(crate) runs: Vec<RunTerm>,
    pub(crate) polls: Vec<PollTerm>,
    pub(crate) remotes: Vec<RemoteTerm>,
}

/// The process that expressions are translated for.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) position: usize,
    /// The slot of the first cell of its frame.
    pub(crate) cells: u32,
}

/// Translates the expressions of a program.
pub(crate) struct Translator<'a> {
    pub(crate) program: &'a Program,
    /// The slots of the global cells.
    pub(crate) globals: &'a [u32],
    /// Channels by number, as far as they are always there.
    pub(crate) queues: &'a [Queue],
    /// Global cells that always hold the same channel: its number.
    pub(crate) fixed: &'a [Option<u32>],
    /// What the global cells and those of the owner hold that no statement writes.
    pub(crate) constants: [Vec<Option<i32>>; 2],
    pub(crate) terms: Terms,
    pub(crate) owner: Owner,
    /// The translation for this owner.
    known: HashMap<ExpressionId, TermId>,
}

impl<'a> Translator<'a> {
    pub(crate) fn new(
        program: &'a Program,
        globals: &'a [u32],
        queues: &'a [Queue],
        fixed: &'a [Option<u32>],
    ) -> Translator<'a> {
        let owner = Owner { position: 0, cells: 0 };
        let (terms, known, constants) = (Terms::default(), HashMap::new(), Default::default());
        Translator { program, globals, queues, fixed, constants, terms, owner, known }
    }

    /// From now on for this one.
    pub(crate) fn own(&mut self, owner: Owner) {
        self.owner = owner;
        self.constants[1].clear();
        self.known.clear();
    }

    /// From now on these cells, the global ones or those of the owner, are read as constants.
    pub(crate) fn hold(&mut self, global: bool, constants: Vec<Option<i32>>) {
        self.constants[usize::from(!global)] = constants;
        self.known.clear();
    }

    fn held(&self, global: bool, cell: u32) -> Option<i32> {
        self.constants[usize::from(!global)].get(cell as usize).copied().flatten()
    }

    fn add(&mut self, term: Term) -> TermId {
        self.terms.terms.push(term);
        self.terms.terms.len() as TermId - 1
    }

    fn get(&self, term: TermId) -> Term {
        self.terms.terms[term as usize]
    }

    /// The value of a term that is a constant.
    pub(crate) fn constant(&self, term: TermId) -> Option<i32> {
        if let Term::Constant(value) = self.get(term) { Some(value) } else { None }
    }

    /// The term of an expression. Expressions name only those before them, so the list is their order.
    pub(crate) fn term(&mut self, expression: ExpressionId) -> TermId {
        let mut work = vec![expression];
        while let Some(&top) = work.last() {
            if self.known.contains_key(&top) {
                work.pop();
                continue;
            }
            let before = work.len();
            let program = self.program;
            program.operands(top, |operand| {
                if !self.known.contains_key(&operand) {
                    work.push(operand);
                }
            });
            if work.len() == before {
                work.pop();
                let term = self.translate(top);
                let id = self.add(term);
                self.known.insert(top, id);
            }
        }
        self.known[&expression]
    }

    /// The term of an expression whose operands are translated.
    fn translate(&mut self, expression: ExpressionId) -> Term {
        let known = |translator: &Self, expression: ExpressionId| translator.known[&expression];
        match self.program.expressions[expression as usize] {
            Node::Constant(value) => Term::Constant(value),
            Node::Global(cell) => match (self.fixed[cell as usize], self.held(true, cell)) {
                (Some(number), _) => Term::Constant(number as i32),
                (None, Some(value)) => Term::Constant(value),
                (None, None) => Term::Slot(self.globals[cell as usize]),
            },
            Node::Local(cell) => self.held(false, cell).map_or(Term::Slot(self.owner.cells + cell), Term::Constant),
            Node::Place(place) => self.place(place),
            Node::Not(inner) => {
                let inner = known(self, inner);
                match self.get(inner) {
                    Term::Constant(value) => Term::Constant(i32::from(value == 0)),
                    Term::Slot(slot) => Term::SlotConstant(Binary::Equal, slot, 0),
                    _ => Term::Not(inner),
                }
            }
            Node::Negate(inner) => {
                let inner = known(self, inner);
                self.constant(inner).map_or(Term::Negate(inner), |value| Term::Constant(value.wrapping_neg()))
            }
            Node::Complement(inner) => {
                let inner = known(self, inner);
                self.constant(inner).map_or(Term::Complement(inner), |value| Term::Constant(!value))
            }
            Node::Binary(operator, left, right) => self.binary(operator, known(self, left), known(self, right)),
            Node::Conditional(condition, yes, no) => {
                let (condition, yes, no) = (known(self, condition), known(self, yes), known(self, no));
                match self.constant(condition) {
                    Some(0) => self.get(no),
                    Some(_) => self.get(yes),
                    None => Term::Conditional(condition, yes, no),
                }
            }
            Node::Run(run) => {
                let run = &self.program.runs[run as usize];
                let arguments = run.arguments.iter().map(|&argument| known(self, argument)).collect();
                self.terms.runs.push(RunTerm { process: run.process, arguments, priority: run.priority });
                Term::Run(self.terms.runs.len() as u32 - 1)
            }
            Node::Length(channel) => Term::Length(known(self, channel)),
            Node::Full(channel) => Term::Full(known(self, channel)),
            Node::Empty(channel) => Term::Empty(known(self, channel)),
            Node::NotFull(channel) => Term::NotFull(known(self, channel)),
            Node::NotEmpty(channel) => Term::NotEmpty(known(self, channel)),
            Node::Poll(poll) => {
                let poll = &self.program.polls[poll as usize];
                let fields = poll.fields.iter().map(|field| field.map(|field| known(self, field))).collect();
                let channel = known(self, poll.channel);
                self.terms.polls.push(PollTerm { channel, random: poll.random, fields });
                Term::Poll(self.terms.polls.len() as u32 - 1)
            }
            Node::Timeout => Term::Timeout,
            Node::NonProgress => Term::NonProgress,
            Node::Accepting => Term::Accepting,
            Node::Pid => Term::Constant(self.owner.position as i32),
            Node::ProcessCount => Term::ProcessCount,
            Node::Last => Term::Last,
            Node::ProgramCounter(process) => Term::ProgramCounter(known(self, process)),
            Node::Priority(process) => Term::Priority(known(self, process)),
            Node::OwnPriority => Term::OwnPriority,
            Node::Enabled(process) => Term::Enabled(known(self, process)),
            Node::Remote(remote) => self.remote(remote),
        }
    }

    fn binary(&self, operator: Binary, left: TermId, right: TermId) -> Term {
        match (operator, self.get(left), self.get(right)) {
            // Both sides of these are not always evaluated.
            (Binary::And, Term::Constant(0), _) => Term::Constant(0),
            (Binary::Or, Term::Constant(value), _) if value != 0 => Term::Constant(1),
            (_, Term::Constant(one), Term::Constant(other)) => match binary(operator, one, other) {
                Some(value) => Term::Constant(value),
                None => Term::Binary(operator, left, right),
            },
            (Binary::And | Binary::Or, ..) => Term::Binary(operator, left, right),
            (_, Term::Slot(slot), Term::Constant(value)) => Term::SlotConstant(operator, slot, value),
            (_, Term::Slot(one), Term::Slot(other)) => Term::SlotSlot(operator, one, other),
            (_, Term::Constant(value), Term::Slot(slot)) if mirrored(operator).is_some() => {
                Term::SlotConstant(mirrored(operator).unwrap_or(operator), slot, value)
            }
            _ => Term::Binary(operator, left, right),
        }
    }

    /// A cell; its indices are translated.
    fn place(&mut self, place: PlaceId) -> Term {
        let program = self.program;
        let place = &program.places[place as usize];
        let element = self.element(place, self.first_slot(place));
        let unsigned = element.sort != Sort::Short;
        let cell = place.base + (element.base - self.first_slot(place));
        if let (true, Some(value)) = (element.offsets.is_empty(), self.held(place.global, cell)) {
            return Term::Constant(value);
        }
        match &element.offsets[..] {
            [] if unsigned => {
                // A channel variable that is never assigned.
                if let Some(number) = self.fixed_number(place, element.base) {
                    return Term::Constant(number);
                }
                Term::Slot(element.base)
            }
            [] => Term::Short(element.base),
            [Offset { value, length, stride: 1 }] if unsigned => match self.get(*value) {
                Term::Slot(slot) => Term::At { base: element.base, slot, length: *length },
                _ => self.keep(element),
            },
            _ => self.keep(element),
        }
    }

    /// The number of the channel that a global cell always holds, by its slot.
    fn fixed_number(&self, place: &Place, slot: u32) -> Option<i32> {
        if !place.global || place.sort != Sort::Channel {
            return None;
        }
        let cell = place.base + (slot - self.first_slot(place));
        self.fixed[cell as usize].map(|number| number as i32)
    }

    fn keep(&mut self, element: Element) -> Term {
        self.terms.elements.push(element);
        Term::Element(self.terms.elements.len() as u32 - 1)
    }

    /// The slot of the first cell of a place; the cells of one variable follow each other.
    fn first_slot(&self, place: &Place) -> u32 {
        if place.global { self.globals[place.base as usize] } else { self.owner.cells + place.base }
    }

    /// A place whose indices are translated; those that are constant and good are part of the base.
    fn element(&self, place: &Place, mut base: u32) -> Element {
        let mut offsets = Vec::new();
        for &Index { value, length, stride } in &place.indices {
            let value = self.known[&value];
            match self.constant(value) {
                Some(index) if index >= 0 && (index as u32) < length => base += index as u32 * stride,
                _ => offsets.push(Offset { value, length, stride }),
            }
        }
        Element { base, sort: place.sort, offsets: offsets.into_boxed_slice() }
    }

    /// Where a value goes that is written to a place.
    pub(crate) fn target(&mut self, place: PlaceId) -> Target {
        let program = self.program;
        let place = &program.places[place as usize];
        if place.scratch {
            return Target::Nowhere;
        }
        for index in &place.indices {
            self.term(index.value);
        }
        let element = self.element(place, self.first_slot(place));
        if element.offsets.is_empty() {
            return Target::Slot(element.base, element.sort.mask());
        }
        self.terms.elements.push(element);
        Target::Element(self.terms.elements.len() as u32 - 1)
    }

    fn remote(&mut self, remote: u32) -> Term {
        let program = self.program;
        let remote = &program.remotes[remote as usize];
        let index = remote.index.map(|index| self.known[&index]);
        let target = match remote.target {
            crate::program::RemoteTarget::Label(state) => RemoteTermTarget::Label(state),
            crate::program::RemoteTarget::Place(place) => {
                let place = &program.places[place as usize];
                RemoteTermTarget::Cell(self.element(place, place.base))
            }
        };
        self.terms.remotes.push(RemoteTerm { process: remote.process, index, target });
        Term::Remote(self.terms.remotes.len() as u32 - 1)
    }
}

/// The operator with its operands exchanged.
fn mirrored(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Equal
        | Binary::Different
        | Binary::Plus
        | Binary::Times
        | Binary::BitOr
        | Binary::BitAnd
        | Binary::BitXor => operator,
        Binary::Less => Binary::Greater,
        Binary::Greater => Binary::Less,
        Binary::AtMost => Binary::AtLeast,
        Binary::AtLeast => Binary::AtMost,
        _ => return None,
    })
}

impl Program {
    /// Calls `with` for each operand of an expression: those that must be translated before it.
    fn operands(&self, expression: ExpressionId, mut with: impl FnMut(ExpressionId)) {
        match self.expressions[expression as usize] {
            Node::Constant(_)
            | Node::Global(_)
            | Node::Local(_)
            | Node::Timeout
            | Node::Pid
            | Node::ProcessCount
            | Node::Last
            | Node::OwnPriority
            | Node::NonProgress
            | Node::Accepting => {}
            Node::Place(place) => self.places[place as usize].indices.iter().for_each(|index| with(index.value)),
            Node::Not(inner)
            | Node::Negate(inner)
            | Node::Complement(inner)
            | Node::Length(inner)
            | Node::Full(inner)
            | Node::Empty(inner)
            | Node::NotFull(inner)
            | Node::NotEmpty(inner)
            | Node::ProgramCounter(inner)
            | Node::Priority(inner)
            | Node::Enabled(inner) => with(inner),
            Node::Binary(_, left, right) => [left, right].into_iter().for_each(with),
            Node::Conditional(condition, yes, no) => [condition, yes, no].into_iter().for_each(with),
            Node::Run(run) => self.runs[run as usize].arguments.iter().for_each(|&argument| with(argument)),
            Node::Poll(poll) => {
                let poll = &self.polls[poll as usize];
                with(poll.channel);
                poll.fields.iter().flatten().for_each(|&field| with(field));
            }
            Node::Remote(remote) => {
                let remote = &self.remotes[remote as usize];
                remote.index.into_iter().for_each(&mut with);
                if let crate::program::RemoteTarget::Place(place) = remote.target {
                    self.places[place as usize].indices.iter().for_each(|index| with(index.value));
                }
            }
        }
    }
}
