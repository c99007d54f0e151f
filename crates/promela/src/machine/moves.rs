//! Statements for one process at one position, and the table of them that a search reads.
//!
//! Like expressions ([`super::terms`]), the transitions of a process type are translated for every position where the
//! type can stand. A [`Move`] has everything that a step needs in one place: its action, its target, and the numbers of
//! its group and of its statements. The translation resolves a channel that never changes, and the slots of its
//! messages.

use std::collections::HashMap;
use std::sync::Arc;

use crate::program::{
    Action, ExpressionId, Frame, Guard, IndivisibleStep, Initialiser, Node, Pattern, ProcessTypeId, Program, Sort,
    Transition,
};
use crate::walk::{written_globals, written_locals};

use super::aliases::fixed_channels;
use super::arrangement::{Arrangement, Queue};
use super::terms::{Owner, Target, TermId, Terms, Translator};

/// What a move does; compare [`Action`].
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Skip,
    Condition(TermId),
    Else,
    Assign(Target, TermId),
    Assert(TermId),
    Send(Arc<SendAct>),
    Receive(Arc<ReceiveAct>),
    SetPriority(TermId, TermId),
    Indivisible(Arc<IndivisibleAct>),
    End,
}

/// A channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel {
    /// Always this one.
    Known(i32, Queue),
    /// The one with the number that a term has.
    Named(TermId),
}

#[derive(Debug)]
pub(crate) struct SendAct {
    pub(crate) channel: Channel,
    pub(crate) sorted: bool,
    pub(crate) arguments: Box<[TermId]>,
}

/// A field of a receive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field {
    Store(Target),
    Match(TermId),
}

#[derive(Debug)]
pub(crate) struct ReceiveAct {
    pub(crate) channel: Channel,
    pub(crate) random: bool,
    pub(crate) copy: bool,
    pub(crate) fields: Box<[Field]>,
}

#[derive(Debug)]
pub(crate) struct IndivisibleAct {
    /// One of these must pass; nothing when it is free to begin.
    pub(crate) guards: Option<Box<[Act]>>,
    pub(crate) start: u32,
    pub(crate) steps: Box<[InnerStep]>,
}

#[derive(Debug)]
pub(crate) enum InnerStep {
    Do { act: Act, next: u32 },
    Choose(Box<[u32]>),
}

/// A transition of the process at a position.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) act: Act,
    /// The target.
    pub(crate) target: u32,
    /// Does the process keep control behind it?
    pub(crate) atomic: bool,
    /// Is there an `accept` label behind it?
    pub(crate) accepting: bool,
    /// When it belongs to an escape: the state where the escape begins.
    pub(crate) escape: u32,
    /// The control state that it belongs to.
    pub(crate) control: u32,
    /// The statement, by its control state.
    pub(crate) statement: u32,
    /// The numbers of the statement and of the one behind it, among all statements of all process types.
    pub(crate) tried: u32,
    pub(crate) reached: u32,
    /// Its number among all moves, which is that of its group.
    pub(crate) group: u32,
}

/// A process type at a position.
#[derive(Debug)]
pub(crate) struct TypeCode {
    pub(crate) kind: ProcessTypeId,
    /// The moves of each control state: where they begin in `moves`, and at the end where the last ones end.
    firsts: Box<[u32]>,
    moves: Box<[Move]>,
    pub(crate) provided: Option<TermId>,
    pub(crate) start: Box<[Start]>,
}

impl TypeCode {
    /// All that the process can do, by control state.
    pub(crate) fn all_moves(&self) -> &[Move] {
        &self.moves
    }

    /// How many control states it has.
    pub(crate) fn controls(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The moves of the process at a control state.
    #[inline]
    pub(crate) fn moves(&self, control: u32) -> &[Move] {
        let at = control as usize;
        &self.moves[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }
}

/// How a cell starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// A slot gets a value, as far as the mask keeps it.
    Value(u32, u32, TermId),
    /// A slot gets a new channel: that many of the frame's channels were made before.
    Channel(u32, u32),
}

/// A move of a `trace`.
#[derive(Debug)]
pub(crate) struct TraceMove {
    /// A channel, and whether something is sent; nothing when every event will do.
    pub(crate) event: Option<(Channel, bool)>,
    /// What must be equal: constants, and what stands in `eval`. Variables say nothing.
    pub(crate) fields: Box<[Option<TermId>]>,
    pub(crate) target: u32,
}

/// Everything that is done in one arrangement.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) terms: Terms,
    /// For each position the types that can stand there.
    pub(crate) positions: Vec<Vec<TypeCode>>,
    pub(crate) globals: Box<[Start]>,
    /// The moves of a `trace` by its states.
    pub(crate) trace: Vec<Vec<TraceMove>>,
    /// What claims look at.
    pub(crate) propositions: Box<[TermId]>,
    /// Which of them may have no value in some state.
    pub(crate) may_be_undefined: Box<[bool]>,
}

impl Code {
    /// Translates a program for an arrangement.
    pub(crate) fn new(program: &Program, arrangement: &Arrangement) -> Code {
        let (fixed, _) = fixed_channels(program);
        let fixed: Vec<Option<u32>> = fixed.into_iter().map(|channel| channel.map(|channel| channel + 1)).collect();
        let translator = Translator::new(program, &arrangement.globals, &arrangement.queues, &fixed);
        let mut writer = Writer { translator, known: HashMap::new() };
        // A channel variable gets its number here, and is read as a constant only behind that.
        let globals = writer.start(&program.globals, |cell| arrangement.globals[cell as usize]);
        let constants = writer.constants(&program.globals, &globals, &written_globals(program), |cell| {
            arrangement.globals[cell as usize]
        });
        writer.translator.hold(true, constants);
        let mut first_statements = Vec::new();
        let mut statements = 0;
        for process in &program.processes {
            first_statements.push(statements);
            statements += process.statements.len() as u32;
        }
        let trace = program.trace.as_ref().map_or_else(Vec::new, |trace| {
            let states = trace.automaton.transitions.iter();
            states.map(|moves| moves.iter().filter_map(|step| writer.trace(step)).collect()).collect()
        });
        let mut group = 0;
        let mut positions = Vec::new();
        for (number, position) in arrangement.positions.iter().enumerate() {
            let mut types = Vec::new();
            for &kind in &position.types {
                let cells = position.base + arrangement.shapes[usize::from(kind)].cells;
                writer.own(Owner { position: number, cells });
                types.push(writer.process(kind, first_statements[usize::from(kind)], &mut group));
            }
            positions.push(types);
        }
        // Claims ask for themselves, and no process.
        writer.own(Owner { position: 0, cells: 0 });
        let propositions: Box<[TermId]> =
            program.propositions.iter().map(|&proposition| writer.term(proposition)).collect();
        let terms = writer.translator.terms;
        let may_be_undefined = Code::may_be_undefined(&terms, &propositions, &arrangement.queues);
        Code { terms, positions, globals, trace, propositions, may_be_undefined }
    }
}

struct Writer<'a> {
    translator: Translator<'a>,
    /// Actions that were translated for this owner; many transitions share theirs.
    known: HashMap<*const Action, Act>,
}

impl Writer<'_> {
    fn own(&mut self, owner: Owner) {
        self.translator.own(owner);
        self.known.clear();
    }

    fn process(&mut self, kind: ProcessTypeId, first_statement: u32, group: &mut u32) -> TypeCode {
        let program = self.translator.program;
        let process = &program.processes[usize::from(kind)];
        let cells = self.translator.owner.cells;
        let start = self.start(&process.frame, |cell| cells + cell);
        let written = written_locals(program, process);
        let constants = self.constants(&process.frame, &start, &written, |cell| cells + cell);
        self.translator.hold(false, constants);
        let (mut firsts, mut moves) = (Vec::new(), Vec::new());
        for (control, transitions) in process.transitions.iter().enumerate() {
            firsts.push(moves.len() as u32);
            for transition in transitions {
                let shared = Arc::as_ptr(&transition.action);
                let act = match self.known.get(&shared) {
                    Some(act) => act.clone(),
                    None => {
                        let act = self.act(&transition.action);
                        self.known.insert(shared, act.clone());
                        act
                    }
                };
                moves.push(Move {
                    act,
                    target: transition.target,
                    atomic: transition.atomic,
                    accepting: process.accepting[transition.target as usize],
                    escape: transition.escape,
                    control: control as u32,
                    statement: transition.statement,
                    tried: first_statement + transition.statement,
                    reached: first_statement + transition.target,
                    group: *group,
                });
                *group += 1;
            }
        }
        firsts.push(moves.len() as u32);
        let provided = process.provided.map(|provided| self.term(provided));
        TypeCode { kind, firsts: firsts.into(), moves: moves.into(), provided, start }
    }

    fn start(&mut self, frame: &Frame, slot: impl Fn(u32) -> u32) -> Box<[Start]> {
        let one = |initial: &Initialiser| match *initial {
            Initialiser::Value { cell, value } => {
                Start::Value(slot(cell), frame.cells[cell as usize].sort.mask(), self.term(value))
            }
            Initialiser::Channel { cell, channel } => Start::Channel(slot(cell), channel),
        };
        frame.initial.iter().map(one).collect()
    }

    /// What the cells of a frame hold that no statement writes and that start as constants. A cell without an
    /// initialiser starts as 0.
    fn constants(
        &self,
        frame: &Frame,
        start: &[Start],
        written: &[bool],
        slot: impl Fn(u32) -> u32,
    ) -> Vec<Option<i32>> {
        let value = |(cell, is_written): (usize, &bool)| {
            let sort = frame.cells[cell].sort;
            if *is_written || sort == Sort::Channel {
                return None;
            }
            let own = slot(cell as u32);
            let mut kept = Some(0);
            for initial in start {
                match *initial {
                    Start::Value(slot, mask, value) if slot == own => {
                        kept = self.translator.constant(value).map(|value| value as u32 & mask);
                    }
                    Start::Channel(slot, _) if slot == own => kept = None,
                    Start::Value(..) | Start::Channel(..) => {}
                }
            }
            kept.map(|kept| sort.read(kept))
        };
        written.iter().enumerate().map(value).collect()
    }

    fn term(&mut self, expression: ExpressionId) -> TermId {
        self.translator.term(expression)
    }

    fn channel(&mut self, expression: ExpressionId) -> Channel {
        let term = self.term(expression);
        let number = self.translator.constant(term);
        let queue = number.and_then(|number| {
            let index = usize::try_from(number).ok()?.checked_sub(1)?;
            self.translator.queues.get(index)
        });
        match (number, queue) {
            (Some(number), Some(&queue)) => Channel::Known(number, queue),
            _ => Channel::Named(term),
        }
    }

    fn trace(&mut self, step: &Transition) -> Option<TraceMove> {
        let program = self.translator.program;
        let constant = |value: u32| matches!(program.expressions[value as usize], Node::Constant(_)).then_some(value);
        let (event, wanted): (_, Vec<Option<ExpressionId>>) = match &*step.action {
            Action::Send(send) => (
                Some((self.channel(send.channel), true)),
                send.arguments.iter().map(|&value| constant(value)).collect(),
            ),
            Action::Receive(receive) => {
                let value = |field: &Pattern| if let Pattern::Match(value) = field { Some(*value) } else { None };
                (Some((self.channel(receive.channel), false)), receive.fields.iter().map(value).collect())
            }
            Action::Skip | Action::Else => (None, Vec::new()),
            _ => return None,
        };
        let fields = wanted.into_iter().map(|value| value.map(|value| self.term(value))).collect();
        Some(TraceMove { event, fields, target: step.target })
    }

    fn act(&mut self, action: &Action) -> Act {
        match action {
            Action::Skip => Act::Skip,
            Action::Condition(condition) => Act::Condition(self.term(*condition)),
            Action::Else => Act::Else,
            Action::Assign(place, value) => {
                let value = self.term(*value);
                Act::Assign(self.translator.target(*place), value)
            }
            Action::Assert(condition) => Act::Assert(self.term(*condition)),
            Action::Send(send) => Act::Send(Arc::new(SendAct {
                channel: self.channel(send.channel),
                sorted: send.sorted,
                arguments: send.arguments.iter().map(|&argument| self.term(argument)).collect(),
            })),
            Action::Receive(receive) => {
                let channel = self.channel(receive.channel);
                let field = |pattern: &Pattern| match *pattern {
                    Pattern::Store(place) => Field::Store(self.translator.target(place)),
                    Pattern::Match(value) => Field::Match(self.term(value)),
                };
                let fields = receive.fields.iter().map(field).collect();
                Act::Receive(Arc::new(ReceiveAct { channel, random: receive.random, copy: receive.copy, fields }))
            }
            Action::SetPriority(process, priority) => Act::SetPriority(self.term(*process), self.term(*priority)),
            Action::Indivisible(body) => {
                let guards = match &body.guard {
                    Guard::Free => None,
                    Guard::Any(guards) => Some(guards.iter().map(|guard| self.act(guard)).collect()),
                };
                let step = |step: &IndivisibleStep| match step {
                    IndivisibleStep::Do { action, next, .. } => InnerStep::Do { act: self.act(action), next: *next },
                    IndivisibleStep::Choose(options) => InnerStep::Choose(options.as_slice().into()),
                };
                let steps = body.steps.iter().map(step).collect();
                Act::Indivisible(Arc::new(IndivisibleAct { guards, start: body.start, steps }))
            }
            Action::End => Act::End,
        }
    }
}
