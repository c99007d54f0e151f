//! What each transition group reads and writes.
//!
//! A group is one transition of the process at one position. What it declares is read off its statement: the cells that it names, whole
//! arrays where an index is not a constant, one channel where its number can only be that of one, else all. A group whose
//! step may go through other statements (atomic sequences, handshakes) declares everything these may touch; where that depends
//! on other processes (a handshake, a timeout, priorities) it declares every slot.

use std::collections::BTreeSet;

use trefoil_system::{Group, SlotSet};

use crate::program::{
    Action, ExpressionId, Initialiser, Node, Pattern, Place, PlaceId, ProcessType, ProcessTypeId, Program,
    RemoteTarget, Sort, Transition,
};

use super::arrangement::{Arrangement, COUNT, Queue};

/// Slots, or all of them.
#[derive(Clone, Default)]
struct Touched {
    all: bool,
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
}

impl Touched {
    fn add(&mut self, other: &Touched) {
        self.all |= other.all;
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }
}

struct Survey<'a> {
    program: &'a Program,
    arrangement: &'a Arrangement,
    /// Global channel variables that are never assigned: the channel they start with.
    fixed_global: Vec<Option<u32>>,
    /// The same for the cells of each process type, as channels of the own frame.
    fixed_local: Vec<Vec<Option<u32>>>,
    position: usize,
    kind: ProcessTypeId,
}

/// The groups of a model, in the order of positions, types, control states and transitions.
pub(super) fn groups(program: &Program, arrangement: &Arrangement) -> Vec<Group> {
    let (fixed_global, fixed_local) = fixed_channels(program);
    let mut survey = Survey { program, arrangement, fixed_global, fixed_local, position: 0, kind: 0 };
    let mut groups = Vec::new();
    let everything: SlotSet = (0..arrangement.width()).collect();
    for (number, position) in arrangement.positions.iter().enumerate() {
        for &kind in &position.types {
            survey.position = number;
            survey.kind = kind;
            let process = &program.processes[usize::from(kind)];
            let own: Vec<Vec<Touched>> = process
                .transitions
                .iter()
                .map(|transitions| {
                    transitions.iter().map(|transition| survey.transition(transition, process)).collect()
                })
                .collect();
            let runs = atomic_runs(process, &own);
            for (state, transitions) in process.transitions.iter().enumerate() {
                // Whether a transition is tried may depend on those before it: escapes, `else`.
                let mut earlier = Touched::default();
                for (index, transition) in transitions.iter().enumerate() {
                    let mut touched = own[state][index].clone();
                    earlier.reads.extend(&own[state][index].reads);
                    earlier.all |= own[state][index].all;
                    touched.all |= earlier.all;
                    touched.reads.extend(&earlier.reads);
                    if transition.atomic {
                        touched.add(&runs[transition.target as usize]);
                    }
                    let base = position.base as usize;
                    touched.reads.extend([COUNT, base, base + 1]);
                    let line = process.statements[transition.statement as usize].line;
                    let name = format!("{}({number}) line {line}", process.name);
                    groups.push(if touched.all {
                        Group { name, guards: everything.clone(), may_write: everything.clone(), ..Group::default() }
                    } else {
                        Group {
                            name,
                            guards: touched.reads.into_iter().collect(),
                            may_write: touched.writes.into_iter().collect(),
                            ..Group::default()
                        }
                    });
                }
            }
        }
    }
    groups
}

/// For each control state, what is touched by a process that keeps control there.
fn atomic_runs(process: &ProcessType, own: &[Vec<Touched>]) -> Vec<Touched> {
    let count = process.transitions.len();
    let mut runs: Vec<Touched> = vec![Touched::default(); count];
    // States that are entered with control kept.
    let mut kept = vec![false; count];
    for transition in process.transitions.iter().flatten().filter(|transition| transition.atomic) {
        kept[transition.target as usize] = true;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for state in (0..count).filter(|&state| kept[state]) {
            let mut sum = runs[state].clone();
            for (index, transition) in process.transitions[state].iter().enumerate() {
                sum.add(&own[state][index]);
                if transition.atomic {
                    let next = runs[transition.target as usize].clone();
                    sum.add(&next);
                }
            }
            let grown = sum.all != runs[state].all
                || sum.reads.len() != runs[state].reads.len()
                || sum.writes.len() != runs[state].writes.len();
            if grown {
                runs[state] = sum;
                changed = true;
            }
        }
    }
    runs
}

/// Channel variables that keep the channel they start with.
pub(super) fn fixed_channels(program: &Program) -> (Vec<Option<u32>>, Vec<Vec<Option<u32>>>) {
    let start = |frame: &crate::program::Frame| {
        let mut fixed = vec![None; frame.cells.len()];
        for initial in &frame.initial {
            if let Initialiser::Channel { cell, channel } = initial {
                fixed[*cell as usize] = Some(*channel);
            }
        }
        fixed
    };
    let mut global = start(&program.globals);
    let mut local: Vec<Vec<Option<u32>>> = program.processes.iter().map(|process| start(&process.frame)).collect();
    let mut written = |kind: usize, place: PlaceId| {
        let place = &program.places[place as usize];
        if place.sort != Sort::Channel {
            return;
        }
        let cells = if place.global { &mut global } else { &mut local[kind] };
        for cell in cells_of(place) {
            cells[cell as usize] = None;
        }
    };
    for (kind, process) in program.processes.iter().enumerate() {
        for transition in process.transitions.iter().flatten() {
            let mut work = vec![&*transition.action];
            while let Some(action) = work.pop() {
                match action {
                    Action::Assign(place, _) => written(kind, *place),
                    Action::Receive(receive) => {
                        for pattern in &receive.fields {
                            if let Pattern::Store(place) = pattern {
                                written(kind, *place);
                            }
                        }
                    }
                    Action::Indivisible(body) => work.extend(body.done()),
                    _ => {}
                }
            }
        }
    }
    (global, local)
}

/// All cells that a place may be.
fn cells_of(place: &Place) -> Vec<u32> {
    let mut cells = vec![place.base];
    for index in &place.indices {
        let before = std::mem::take(&mut cells);
        for element in 0..index.length {
            cells.extend(before.iter().map(|cell| cell + element * index.stride));
        }
    }
    cells
}

impl Survey<'_> {
    fn transition(&self, transition: &Transition, process: &ProcessType) -> Touched {
        let mut touched = Touched::default();
        if self.arrangement.priority || self.arrangement.event.is_some() {
            touched.all = true;
            return touched;
        }
        let base = self.arrangement.positions[self.position].base as usize;
        touched.reads.extend([base, base + 1]);
        touched.writes.insert(base + 1);
        if let Some(last) = self.arrangement.last {
            touched.writes.insert(last as usize);
        }
        if let Some(provided) = process.provided {
            self.expression(provided, &mut touched);
        }
        self.action(&transition.action, &mut touched);
        touched
    }

    fn action(&self, action: &Action, touched: &mut Touched) {
        match action {
            Action::Skip | Action::Else => {}
            Action::Condition(condition) | Action::Assert(condition) => self.expression(*condition, touched),
            Action::Assign(place, value) => {
                self.expression(*value, touched);
                self.written(*place, touched);
            }
            Action::Send(send) => {
                self.expression(send.channel, touched);
                send.arguments.iter().for_each(|&argument| self.expression(argument, touched));
                let queues = self.queues(send.channel);
                // Somebody has to receive it, and whoever that is may go on.
                touched.all |= queues.iter().any(|queue| queue.capacity == 0);
                self.channel(&queues, true, touched);
            }
            Action::Receive(receive) => {
                self.expression(receive.channel, touched);
                for pattern in &receive.fields {
                    match pattern {
                        Pattern::Store(place) => self.written(*place, touched),
                        Pattern::Match(value) => self.expression(*value, touched),
                    }
                }
                let queues = self.queues(receive.channel);
                self.channel(&queues, true, touched);
            }
            Action::SetPriority(..) => touched.all = true,
            Action::Indivisible(body) => body.actions().for_each(|action| self.action(action, touched)),
            Action::End => {
                let position = &self.arrangement.positions[self.position];
                let base = position.base as usize;
                touched.reads.insert(COUNT);
                touched.writes.insert(COUNT);
                touched.writes.extend(base..base + position.width as usize);
            }
        }
    }

    fn slot(&self, place: &Place, cell: u32) -> usize {
        if place.global {
            return self.arrangement.globals[cell as usize] as usize;
        }
        let shape = &self.arrangement.shapes[usize::from(self.kind)];
        (self.arrangement.positions[self.position].base + shape.cells + cell) as usize
    }

    fn slots(&self, place: &Place) -> Vec<usize> {
        let width = self.arrangement.width();
        // Hidden cells lie behind the row, and are no part of a state.
        cells_of(place).into_iter().map(|cell| self.slot(place, cell)).filter(|&slot| slot < width).collect()
    }

    fn written(&self, place: PlaceId, touched: &mut Touched) {
        let place = &self.program.places[place as usize];
        if place.scratch {
            return;
        }
        place.indices.iter().for_each(|index| self.expression(index.value, touched));
        touched.writes.extend(self.slots(place));
    }

    /// The channels that an expression may name.
    fn queues(&self, channel: ExpressionId) -> Vec<Queue> {
        let fixed = match self.program.expressions[channel as usize] {
            Node::Global(cell) => {
                self.fixed_global[cell as usize].map(|channel| self.arrangement.queues[channel as usize])
            }
            Node::Local(cell) => self.fixed_local[usize::from(self.kind)][cell as usize]
                .and_then(|channel| self.arrangement.queues_at(self.position, self.kind).nth(channel as usize)),
            _ => None,
        };
        if let Some(queue) = fixed {
            return vec![queue];
        }
        let mut all = self.arrangement.queues.clone();
        for (number, position) in self.arrangement.positions.iter().enumerate() {
            for &kind in &position.types {
                all.extend(self.arrangement.queues_at(number, kind));
            }
        }
        all
    }

    fn channel(&self, queues: &[Queue], writes: bool, touched: &mut Touched) {
        touched.reads.insert(COUNT);
        if queues.len() != 1 {
            // Which channel a number means depends on the processes below it.
            let types = self.arrangement.positions.iter().map(|position| position.base as usize);
            touched.reads.extend(types);
        }
        for queue in queues.iter().filter(|queue| queue.capacity > 0) {
            let fields = self.arrangement.kinds[queue.kind as usize].fields.len();
            let from = queue.slot as usize;
            let slots = from..from + 1 + queue.capacity as usize * fields;
            touched.reads.extend(slots.clone());
            if writes {
                touched.writes.extend(slots);
            }
        }
    }

    fn expression(&self, expression: ExpressionId, touched: &mut Touched) {
        let mut work = vec![expression];
        while let Some(expression) = work.pop() {
            match self.program.expressions[expression as usize] {
                Node::Constant(_) | Node::Pid => {}
                Node::Global(cell) => {
                    let slot = self.arrangement.globals[cell as usize] as usize;
                    if slot < self.arrangement.width() {
                        touched.reads.insert(slot);
                    }
                }
                Node::Local(cell) => {
                    let shape = &self.arrangement.shapes[usize::from(self.kind)];
                    let base = self.arrangement.positions[self.position].base + shape.cells;
                    touched.reads.insert((base + cell) as usize);
                }
                Node::Place(place) => {
                    let place = &self.program.places[place as usize];
                    work.extend(place.indices.iter().map(|index| index.value));
                    touched.reads.extend(self.slots(place));
                }
                Node::Not(inner) | Node::Negate(inner) | Node::Complement(inner) => work.push(inner),
                Node::Binary(_, left, right) => work.extend([left, right]),
                Node::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
                Node::Run(run) => {
                    let run = &self.program.runs[run as usize];
                    work.extend(&run.arguments);
                    touched.reads.insert(COUNT);
                    touched.writes.insert(COUNT);
                    // What it starts with may be anything.
                    touched.all |= !self.program.processes[usize::from(run.process)].frame.initial.is_empty();
                    for position in &self.arrangement.positions {
                        let base = position.base as usize;
                        touched.writes.extend(base..base + position.width as usize);
                        touched.reads.insert(base);
                    }
                }
                Node::Length(channel)
                | Node::Full(channel)
                | Node::Empty(channel)
                | Node::NotFull(channel)
                | Node::NotEmpty(channel) => {
                    let queues = self.queues(channel);
                    self.channel(&queues, false, touched);
                    work.push(channel);
                }
                Node::Poll(poll) => {
                    let poll = &self.program.polls[poll as usize];
                    let queues = self.queues(poll.channel);
                    self.channel(&queues, false, touched);
                    work.push(poll.channel);
                    work.extend(poll.fields.iter().flatten());
                }
                Node::ProcessCount => {
                    touched.reads.insert(COUNT);
                }
                Node::Last => touched.reads.extend(self.arrangement.last.map(|slot| slot as usize)),
                Node::Remote(remote) => {
                    let remote = &self.program.remotes[remote as usize];
                    if let RemoteTarget::Place(place) = remote.target {
                        work.extend(self.program.places[place as usize].indices.iter().map(|index| index.value));
                    }
                    work.extend(remote.index);
                    touched.all = true;
                }
                Node::Timeout | Node::ProgramCounter(_) | Node::Priority(_) | Node::OwnPriority | Node::Enabled(_) => {
                    touched.all = true
                }
            }
        }
    }
}
