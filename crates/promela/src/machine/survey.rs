//! The slots that one move touches itself.
//!
//! The analysis reads them off the moves of an arrangement ([`super::moves`]), in which cells are slots and whatever
//! the compiler knows is a constant: the slots that a statement names, whole arrays where an index is not a constant,
//! all channels that a variable may hold ([`super::aliases`]). Besides, every move reads the control state (and, where
//! several are possible, the type) of its own process; the number of processes only where it is used, as a process that
//! is not there has a control state of its own.
//!
//! A move looks at other processes through remote references and `enabled`; [`super::dependencies`] completes the
//! latter, which reads the slots that any move reads. Priorities and `timeout` make a move read everything: whether a
//! process of lower priority runs, or nothing else can happen, depends on every process. Inside a step that keeps
//! control `timeout` is false and reads nothing, so the same move may touch less there: `first` says which.
//!
//! What is known of the values of slots, and so of the elements and channels that a move names, is in [`known`].
//!
//! [`super::dependencies`] also adds the moves that follow in the same step, and those that decide whether an explorer
//! tries this one.
//!
//! Cost: the size of the moves, and for each array or unknown channel its slots.

mod known;

use std::cell::Cell;
use std::collections::HashMap;

use crate::program::{ProcessType, ProcessTypeId, Program, Sort};

use super::aliases::{Aliases, Kinds, fixed_channels};
use super::arrangement::{Arrangement, COUNT, Queue};
use super::moves::{Act, Channel, Code, Field, IndivisibleAct, InnerStep, Move, Start, TypeCode};
use super::terms::{RemoteTermTarget, Target, Term, TermId, Terms};
use super::touched::{Reason, Touched};
pub(super) use known::Assumed;

/// A move and the process that makes it.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) position: usize,
    /// Its type, by its place among those of the position.
    pub(super) index: usize,
    pub(super) code: &'a TypeCode,
    pub(super) step: &'a Move,
}

impl Placed<'_> {
    /// Where its process stands after it: the position, the type and the control state.
    pub(super) fn run(&self) -> (usize, usize, u32) {
        (self.position, self.index, self.step.target)
    }
}

/// All moves, in the order of their numbers.
pub(super) fn placed(code: &Code) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    for (position, types) in code.positions.iter().enumerate() {
        for (index, code) in types.iter().enumerate() {
            all.extend(code.all_moves().iter().map(|step| Placed { position, index, code, step }));
        }
    }
    all
}

/// An arrangement, and the facts about its program that the analysis needs.
pub(super) struct Survey<'a> {
    program: &'a Program,
    arrangement: &'a Arrangement,
    code: &'a Code,
    aliases: Aliases,
    /// The global cell of a slot.
    globals: HashMap<usize, usize>,
    /// Channel variables of each process type that no statement assigns to: the channels of their frame that they start
    /// with.
    fixed_local: Vec<Vec<Option<u32>>>,
    /// The control states of each process type that its processes can reach.
    reachable: Vec<Vec<bool>>,
    /// A slot and what is assumed of its value.
    assumed: Cell<Option<(u32, Assumed)>>,
    /// What is known of the values of slots that no statement of the process there writes.
    known: HashMap<u32, u32>,
    /// Are the two ends of a channel told apart?
    ends_apart: bool,
    /// Is `timeout` the same wherever a group is looked at, so that it reads nothing?
    timeouts_apart: bool,
}

impl<'a> Survey<'a> {
    pub(super) fn new(program: &'a Program, arrangement: &'a Arrangement) -> Survey<'a> {
        let (aliases, (_, fixed_local)) = (Aliases::new(program), fixed_channels(program));
        let globals = arrangement.globals.iter().enumerate().map(|(cell, &slot)| (slot as usize, cell)).collect();
        let reachable = program.processes.iter().map(ProcessType::reachable).collect();
        let (code, assumed) = (&*arrangement.code, Cell::new(None));
        Survey {
            program,
            arrangement,
            code,
            aliases,
            globals,
            fixed_local,
            reachable,
            assumed,
            known: HashMap::new(),
            ends_apart: false,
            timeouts_apart: false,
        }
    }

    /// The same analysis where groups know whether `timeout` holds.
    pub(super) fn with_timeouts_apart(self) -> Survey<'a> {
        Survey { timeouts_apart: true, ..self }
    }

    /// A process type.
    pub(super) fn process(&self, kind: ProcessTypeId) -> &ProcessType {
        &self.program.processes[usize::from(kind)]
    }

    /// The name of a slot.
    pub(super) fn slot_name(&self, slot: u32) -> &str {
        &self.arrangement.layout.slots()[slot as usize].name
    }

    /// The slot of the control state of a process.
    pub(super) fn control_slot(&self, position: usize) -> usize {
        self.arrangement.positions[position].base as usize + 1
    }

    /// Can a process come to where a move begins?
    pub(super) fn is_reachable(&self, one: &Placed<'_>) -> bool {
        self.reachable[usize::from(one.code.kind)][one.step.control as usize]
    }

    /// The name of a group that begins with a move.
    pub(super) fn name(&self, one: &Placed<'_>) -> String {
        let process = &self.program.processes[usize::from(one.code.kind)];
        let statement = &process.statements[one.step.statement as usize];
        format!("{}({}) line {}: {}", process.name, one.position, statement.line, statement.text)
    }

    /// The rendezvous channels that a move may send to.
    pub(super) fn sends(&self, one: &Placed<'_>) -> Option<Vec<Queue>> {
        let Act::Send(send) = &one.step.act else { return None };
        if !self.reachable[usize::from(one.code.kind)][one.step.control as usize] {
            return None;
        }
        let mut queues = self.queues(one, send.channel);
        queues.retain(|queue| queue.capacity == 0);
        (!queues.is_empty()).then_some(queues)
    }

    /// The rendezvous channels that a move may receive from.
    pub(super) fn receives(&self, one: &Placed<'_>) -> Vec<Queue> {
        let mut queues = Vec::new();
        if !self.reachable[usize::from(one.code.kind)][one.step.control as usize] {
            return queues;
        }
        let mut work = vec![&one.step.act];
        while let Some(act) = work.pop() {
            match act {
                Act::Receive(receive) => queues.extend(self.queues(one, receive.channel)),
                Act::Indivisible(body) => work.extend(acts(body)),
                _ => {}
            }
        }
        queues.retain(|queue| queue.capacity == 0);
        queues
    }

    /// The slots that a move touches itself; `first` says that it begins a step.
    pub(super) fn one(&self, one: &Placed<'_>, first: bool) -> Touched {
        let mut touched = Touched::default();
        let place = &self.arrangement.positions[one.position];
        let base = place.base as usize;
        touched.reads.insert(base + 1);
        // The control state of a process that is not there is 0, where nothing can be done.
        if !one.code.moves(0).is_empty() {
            touched.reads.insert(COUNT);
        }
        if place.types.len() > 1 {
            touched.reads.insert(base);
        }
        if let Some(last) = self.arrangement.last {
            touched.writes.insert(last as usize);
        }
        if let Some(provided) = one.code.provided {
            self.term(one, provided, first, &mut touched);
            touched.because(Reason::Provided);
        }
        if self.arrangement.priority {
            touched.all = true;
            touched.because(Reason::Priority);
        }
        if !matches!(one.step.act, Act::End) {
            touched.writes.insert(base + 1);
        }
        self.act(one, &one.step.act, first, &mut touched);
        if let (Some(event), Act::Send(_) | Act::Receive(_)) = (self.arrangement.event, &one.step.act) {
            touched.because(Reason::Trace);
            touched.reads.insert(event as usize);
            touched.writes.insert(event as usize);
            for step in self.code.trace.iter().flatten() {
                if let Some((Channel::Named(term), _)) = step.event {
                    self.term(one, term, first, &mut touched);
                }
                step.fields.iter().flatten().for_each(|&field| self.term(one, field, first, &mut touched));
            }
        }
        touched
    }

    /// Adds the slots that a statement touches.
    fn act(&self, one: &Placed<'_>, act: &Act, first: bool, touched: &mut Touched) {
        match act {
            Act::Skip | Act::Else => {}
            Act::Condition(condition) | Act::Assert(condition) => self.term(one, *condition, first, touched),
            Act::Assign(target, value) => {
                self.term(one, *value, first, touched);
                self.target(one, *target, first, touched);
            }
            Act::Send(send) => {
                send.arguments.iter().for_each(|&argument| self.term(one, argument, first, touched));
                let queues = self.addressed(one, send.channel, first, touched);
                for queue in queues.iter().filter(|queue| queue.capacity > 0) {
                    let slots = slots_of(queue);
                    if self.ends_apart && first && !send.sorted && self.arrangement.is_plain(queue) {
                        touched.puts.extend(slots);
                        continue;
                    }
                    touched.reads.insert(slots.start);
                    touched.writes.extend(slots.clone());
                    if send.sorted {
                        touched.because(Reason::Messages);
                        touched.reads.extend(slots);
                    }
                }
            }
            Act::Receive(receive) => {
                for field in &receive.fields {
                    match *field {
                        Field::Store(target) => self.target(one, target, first, touched),
                        Field::Match(value) => self.term(one, value, first, touched),
                    }
                }
                let queues = self.addressed(one, receive.channel, first, touched);
                for queue in queues.iter().filter(|queue| queue.capacity > 0) {
                    let taken = first && !receive.copy && !receive.random;
                    if self.ends_apart && taken && self.arrangement.is_plain(queue) {
                        touched.takes.extend(slots_of(queue));
                        continue;
                    }
                    touched.because(Reason::Messages);
                    touched.reads.extend(slots_of(queue));
                    if !receive.copy {
                        touched.writes.extend(slots_of(queue));
                    }
                }
            }
            Act::SetPriority(process, priority) => {
                touched.reads.insert(COUNT);
                self.term(one, *process, first, touched);
                self.term(one, *priority, first, touched);
                let slots = self.arrangement.positions.iter().map(|place| place.base as usize + 2);
                touched.writes.extend(slots.filter(|_| self.arrangement.priority));
            }
            Act::Indivisible(body) => {
                touched.because(Reason::Indivisible);
                // What a `d_step` does with a channel need not be the first thing that it does.
                let mut inner = Touched::default();
                acts(body).for_each(|act| self.act(one, act, first, &mut inner));
                if self.ends_apart {
                    let ends = [std::mem::take(&mut inner.puts), std::mem::take(&mut inner.takes)];
                    ends.iter().for_each(|end| {
                        inner.reads.add(end);
                        inner.writes.add(end);
                    });
                }
                touched.add(&inner);
            }
            Act::End => {
                let place = &self.arrangement.positions[one.position];
                touched.reads.insert(COUNT);
                touched.writes.insert(COUNT);
                touched.writes.extend(place.base as usize..(place.base + place.width) as usize);
            }
        }
    }

    /// Adds the slots that an assignment to a target touches.
    fn target(&self, one: &Placed<'_>, target: Target, first: bool, touched: &mut Touched) {
        match target {
            Target::Nowhere => {}
            Target::Slot(slot, _) => touched.writes.insert(slot as usize),
            Target::Element(element) => {
                let element = &self.code.terms.elements[element as usize];
                element.offsets.iter().for_each(|offset| self.term(one, offset.value, first, touched));
                touched.writes.extend(self.slots_in(element, 0));
                touched.because(Reason::Array);
            }
        }
    }

    /// The channels that a statement may use; adds the slots that it reads to find out which one.
    fn addressed(&self, one: &Placed<'_>, channel: Channel, first: bool, touched: &mut Touched) -> Vec<Queue> {
        let queues = self.queues(one, channel);
        if let Channel::Named(term) = channel {
            self.term(one, term, first, touched);
            if self.known_queue(term).is_some() {
                return queues;
            }
            touched.reads.insert(COUNT);
            if self.arrangement.fixed.is_none() {
                // Which channel a number means depends on the processes below it.
                touched.reads.extend(self.type_slots());
            }
            if queues.len() > 1 {
                touched.because(Reason::Channel);
            }
        }
        queues
    }

    /// The slots that say of which type a process is, where there are several.
    pub(super) fn type_slots(&self) -> impl Iterator<Item = usize> + '_ {
        let several = self.arrangement.positions.iter().filter(|place| place.types.len() > 1);
        several.map(|place| place.base as usize)
    }

    /// The channels that a statement may use.
    fn queues(&self, one: &Placed<'_>, channel: Channel) -> Vec<Queue> {
        let term = match channel {
            Channel::Known(_, queue) => return vec![queue],
            Channel::Named(term) => term,
        };
        if let Some(queue) = self.known_queue(term) {
            return vec![queue];
        }
        let kind = usize::from(one.code.kind);
        let cells = (self.arrangement.positions[one.position].base + self.arrangement.shapes[kind].cells) as usize;
        if let Term::Slot(slot) = self.code.terms.terms[term as usize]
            && let Some(&Some(own)) =
                (slot as usize).checked_sub(cells).and_then(|cell| self.fixed_local[kind].get(cell))
            && let Some(queue) = self.arrangement.queues_at(one.position, one.code.kind).nth(own as usize)
        {
            return vec![queue];
        }
        let kinds = self.kinds(one, cells, term);
        let mut all: Vec<Queue> =
            self.arrangement.queues.iter().filter(|queue| kinds.contains(queue.kind)).copied().collect();
        for (number, position) in self.arrangement.positions.iter().enumerate() {
            for &kind in &position.types {
                all.extend(self.arrangement.queues_at(number, kind).filter(|queue| kinds.contains(queue.kind)));
            }
        }
        all
    }

    /// The kinds of channels that a term may name.
    fn kinds(&self, one: &Placed<'_>, cells: usize, term: TermId) -> Kinds {
        let (kind, mut found) = (usize::from(one.code.kind), Kinds::default());
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            let slots: Vec<usize> = match self.code.terms.terms[term as usize] {
                Term::Constant(0) => Vec::new(),
                Term::Slot(slot) => vec![slot as usize],
                Term::At { base, length, .. } => (base as usize..(base + length) as usize).collect(),
                Term::Element(element) => self.slots_in(&self.code.terms.elements[element as usize], 0),
                Term::Conditional(_, yes, no) => {
                    work.extend([yes, no]);
                    continue;
                }
                _ => {
                    found.any = true;
                    continue;
                }
            };
            for slot in slots {
                let local = slot.checked_sub(cells).filter(|&cell| cell < self.aliases.locals[kind].len());
                match (local, self.globals.get(&slot).copied()) {
                    (Some(cell), _) if self.sort_of(Some(kind), cell) == Sort::Channel => {
                        found.add(&self.aliases.locals[kind][cell]);
                    }
                    (None, Some(cell)) if self.sort_of(None, cell) == Sort::Channel => {
                        found.add(&self.aliases.globals[cell]);
                    }
                    _ => found.any = true,
                }
            }
        }
        found
    }

    fn sort_of(&self, kind: Option<usize>, cell: usize) -> Sort {
        let frame = kind.map_or(&self.program.globals, |kind| &self.program.processes[kind].frame);
        frame.cells[cell].sort
    }

    /// Adds the slots that the evaluation of a term touches.
    pub(super) fn term(&self, one: &Placed<'_>, term: TermId, first: bool, touched: &mut Touched) {
        let terms = &self.code.terms;
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            match terms.terms[term as usize] {
                Term::Constant(_) => {}
                Term::Slot(slot) | Term::Short(slot) | Term::SlotConstant(_, slot, _) => {
                    touched.reads.insert(slot as usize);
                }
                Term::SlotSlot(_, left, right) => touched.reads.extend([left as usize, right as usize]),
                Term::At { base, slot, length } => {
                    touched.reads.insert(slot as usize);
                    let known = self.known.get(&slot).map(|&value| (slot, Assumed::Is(value)));
                    match known.or(self.assumed.get()) {
                        Some((own, Assumed::Is(value))) if own == slot => {
                            touched.reads.extend((value < length).then_some((base + value) as usize));
                        }
                        Some((own, Assumed::Beyond)) if own == slot => {}
                        _ => {
                            touched.reads.extend(base as usize..(base + length) as usize);
                            touched.because(Reason::Array);
                        }
                    }
                }
                Term::Element(element) => {
                    let element = &terms.elements[element as usize];
                    work.extend(element.offsets.iter().map(|offset| offset.value));
                    let slots = self.slots_in(element, 0);
                    if slots.len() > 1 {
                        touched.because(Reason::Array);
                    }
                    touched.reads.extend(slots);
                }
                Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
                Term::Binary(_, left, right) => work.extend([left, right]),
                Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
                Term::Run(run) => {
                    let run = &terms.runs[run as usize];
                    work.extend(&run.arguments);
                    self.run(one, run.process, run.arguments.len(), &mut work, touched);
                }
                Term::Length(channel)
                | Term::Full(channel)
                | Term::Empty(channel)
                | Term::NotFull(channel)
                | Term::NotEmpty(channel) => {
                    let queues = self.polled(one, channel, &mut work, touched);
                    touched.reads.extend(queues.iter().map(|queue| queue.slot as usize));
                }
                Term::Poll(poll) => {
                    let poll = &terms.polls[poll as usize];
                    work.extend(poll.fields.iter().flatten());
                    let queues = self.polled(one, poll.channel, &mut work, touched);
                    touched.because(Reason::Messages);
                    touched.reads.extend(queues.iter().flat_map(slots_of));
                }
                Term::Timeout => {
                    if first && !self.timeouts_apart {
                        touched.all = true;
                        touched.because(Reason::Timeout);
                    }
                }
                Term::ProcessCount => touched.reads.insert(COUNT),
                Term::Last => touched.reads.extend(self.arrangement.last.map(|slot| slot as usize)),
                Term::ProgramCounter(process) => {
                    work.push(process);
                    touched.reads.insert(COUNT);
                    for position in self.named(process) {
                        touched.reads.insert(self.arrangement.positions[position].base as usize + 1);
                    }
                    touched.because(Reason::Remote);
                }
                // Where priorities are used everything is read.
                Term::Priority(process) => work.push(process),
                Term::OwnPriority => {}
                // Only claims ask this, and they declare to read everything.
                Term::NonProgress | Term::Accepting => touched.all = true,
                Term::Enabled(process) => {
                    work.push(process);
                    touched.reads.insert(COUNT);
                    touched.because(Reason::Enabled);
                }
                Term::Remote(remote) => {
                    let remote = &terms.remotes[remote as usize];
                    touched.reads.insert(COUNT);
                    work.extend(remote.index);
                    touched.because(Reason::Remote);
                    if remote.index.is_none() {
                        touched.reads.extend(self.type_slots());
                    }
                    let named = remote.index.map_or_else(|| self.all_positions(), |index| self.named(index));
                    for position in named {
                        let place = &self.arrangement.positions[position];
                        let base = place.base as usize;
                        if place.types.len() > 1 {
                            touched.reads.insert(base);
                        }
                        if !place.types.contains(&remote.process) {
                            continue;
                        }
                        match &remote.target {
                            RemoteTermTarget::Label(_) => touched.reads.insert(base + 1),
                            RemoteTermTarget::Cell(element) => {
                                let shape = &self.arrangement.shapes[usize::from(remote.process)];
                                touched.reads.extend(self.slots_in(element, base + shape.cells as usize));
                            }
                        }
                    }
                    if let RemoteTermTarget::Cell(element) = &remote.target {
                        work.extend(element.offsets.iter().map(|offset| offset.value));
                    }
                }
            }
        }
    }

    fn all_positions(&self) -> std::ops::Range<usize> {
        0..self.arrangement.positions.len()
    }

    /// The positions that the number of a process may mean.
    pub(super) fn named(&self, process: TermId) -> std::ops::Range<usize> {
        match self.code.terms.terms[process as usize] {
            Term::Constant(number) => match usize::try_from(number) {
                Ok(number) if number < self.arrangement.positions.len() => number..number + 1,
                _ => 0..0,
            },
            _ => self.all_positions(),
        }
    }

    /// The channels that an expression looks into, as far as they hold anything.
    fn polled(&self, one: &Placed<'_>, channel: TermId, work: &mut Vec<TermId>, touched: &mut Touched) -> Vec<Queue> {
        work.push(channel);
        let number = match self.code.terms.terms[channel as usize] {
            Term::Constant(number) => usize::try_from(number).ok().and_then(|number| number.checked_sub(1)),
            _ => None,
        };
        let named = number.and_then(|number| self.arrangement.queues.get(number).copied());
        let mut queues = match named.or_else(|| self.known_queue(channel)) {
            Some(queue) => vec![queue],
            None => {
                touched.reads.insert(COUNT);
                if self.arrangement.fixed.is_none() {
                    touched.reads.extend(self.type_slots());
                }
                self.queues(one, Channel::Named(channel))
            }
        };
        if queues.len() > 1 {
            touched.because(Reason::Channel);
        }
        queues.retain(|queue| queue.capacity > 0);
        queues
    }

    /// Adds the slots that the start of a process touches, at whatever position it comes to stand.
    fn run(
        &self,
        one: &Placed<'_>,
        process: ProcessTypeId,
        arguments: usize,
        work: &mut Vec<TermId>,
        touched: &mut Touched,
    ) {
        touched.because(Reason::Run);
        touched.reads.insert(COUNT);
        touched.writes.insert(COUNT);
        if !self.program.processes[usize::from(process)].frame.channels.is_empty() {
            touched.reads.extend(self.type_slots());
        }
        for (number, place) in self.arrangement.positions.iter().enumerate().skip(one.position + 1) {
            let Some(index) = place.types.iter().position(|&kind| kind == process) else { continue };
            let base = place.base as usize;
            let cells = base + self.arrangement.shapes[usize::from(process)].cells as usize;
            touched.writes.extend(base..cells + arguments);
            for start in &self.code.positions[number][index].start {
                match *start {
                    Start::Value(slot, _, value) => {
                        touched.writes.insert(slot as usize);
                        work.push(value);
                    }
                    Start::Channel(slot, _) => touched.writes.insert(slot as usize),
                }
            }
        }
    }
}

/// The terms that an act evaluates, those included that only say where a value goes.
pub(super) fn terms_of(act: &Act, terms: &Terms) -> Vec<TermId> {
    let (mut found, mut work) = (Vec::new(), vec![act]);
    let target = |target: &Target, found: &mut Vec<TermId>| {
        if let Target::Element(element) = *target {
            found.extend(terms.elements[element as usize].offsets.iter().map(|offset| offset.value));
        }
    };
    let channel = |channel: Channel| match channel {
        Channel::Named(term) => Some(term),
        Channel::Known(..) => None,
    };
    while let Some(act) = work.pop() {
        match act {
            Act::Skip | Act::Else | Act::End => {}
            Act::Condition(term) | Act::Assert(term) => found.push(*term),
            Act::Assign(place, value) => {
                target(place, &mut found);
                found.push(*value);
            }
            Act::Send(send) => found.extend(send.arguments.iter().copied().chain(channel(send.channel))),
            Act::Receive(receive) => {
                found.extend(channel(receive.channel));
                for field in &receive.fields {
                    match field {
                        Field::Store(place) => target(place, &mut found),
                        Field::Match(value) => found.push(*value),
                    }
                }
            }
            Act::SetPriority(process, priority) => found.extend([*process, *priority]),
            Act::Indivisible(body) => work.extend(acts(body)),
        }
    }
    found
}

/// The guards of a `d_step`, then its statements.
fn acts(body: &IndivisibleAct) -> impl Iterator<Item = &Act> {
    let done = body.steps.iter().filter_map(|step| match step {
        InnerStep::Do { act, .. } => Some(act),
        InnerStep::Choose(_) => None,
    });
    body.guards.iter().flatten().chain(done)
}

/// The slots of a channel that holds messages: its length, then the messages.
fn slots_of(queue: &Queue) -> std::ops::Range<usize> {
    let from = queue.slot as usize;
    from..from + 1 + (queue.capacity * queue.fields) as usize
}
