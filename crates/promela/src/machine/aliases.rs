//! Which channels an expression may name.
//!
//! A channel variable that is a parameter, or that is assigned to, holds the number of some channel. The text says
//! which ones: a value comes from an initialiser, an assignment, an argument of `run`, or a message that was
//! sent. The least solution of these inclusions, without regard to order and to which process of a type it is, is
//! computed by iteration (Andersen, *Program analysis and specialization for the C programming language*, 1994, for
//! pointers to whole objects). What is calculated from channels, or kept in a variable of another type, may be any
//! channel.
//!
//! A variable that nothing assigns to needs no analysis: it keeps the channel it starts with ([`fixed_channels`]).
//!
//! Cost: places that hold channels times kinds of channels, in bits, for each round; rounds are as many as the longest
//! chain of variables that hand a channel on.

use crate::program::{Action, ExpressionId, Frame, Initialiser, Node, Pattern, PlaceId, ProcessTypeId, Program, Sort};
use crate::walk::{cells_of, visit};

/// Kinds of channels, numbered as in [`super::arrangement::Arrangement::kinds`]: the global channels, then those of
/// each process type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// It may be any channel.
    pub(super) any: bool,
    bits: Vec<u64>,
}

impl Kinds {
    fn insert(&mut self, kind: u32) {
        let (word, bit) = (kind as usize / 64, kind % 64);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << bit;
    }

    /// Adds others; whether there are more now.
    pub(super) fn add(&mut self, other: &Kinds) -> bool {
        let mut grown = other.any && !self.any;
        self.any |= other.any;
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        for (own, other) in self.bits.iter_mut().zip(&other.bits) {
            grown |= other & !*own != 0;
            *own |= other;
        }
        grown
    }

    /// The kind, where it can be one only.
    pub(crate) fn only(&self) -> Option<u32> {
        let count: u32 = self.bits.iter().map(|word| word.count_ones()).sum();
        let word = self.bits.iter().position(|&word| word != 0)?;
        (!self.any && count == 1).then(|| word as u32 * 64 + self.bits[word].trailing_zeros())
    }

    pub(super) fn contains(&self, kind: u32) -> bool {
        self.any || self.bits.get(kind as usize / 64).is_some_and(|word| word >> (kind % 64) & 1 != 0)
    }
}

/// What every variable and every field of a message may hold.
pub(crate) struct Aliases {
    pub(super) globals: Vec<Kinds>,
    /// By process type.
    pub(super) locals: Vec<Vec<Kinds>>,
    /// By kind of channel.
    fields: Vec<Vec<Kinds>>,
}

impl Aliases {
    /// Solves a program.
    pub(crate) fn new(program: &Program) -> Aliases {
        let none = |frame: &Frame| vec![Kinds::default(); frame.cells.len()];
        let frames = || std::iter::once(&program.globals).chain(program.processes.iter().map(|process| &process.frame));
        let mut aliases = Aliases {
            globals: none(&program.globals),
            locals: program.processes.iter().map(|process| none(&process.frame)).collect(),
            fields: frames()
                .flat_map(|frame| &frame.channels)
                .map(|kind| vec![Kinds::default(); kind.fields.len()])
                .collect(),
        };
        let channels = |frame: &Frame| {
            let fields = frame.channels.iter().flat_map(|kind| &kind.fields);
            frame.cells.iter().map(|cell| &cell.sort).chain(fields).any(|&sort| sort == Sort::Channel)
        };
        if !frames().any(channels) {
            return aliases;
        }
        let global = program.globals.channels.len() as u32;
        for (number, frame) in frames().enumerate() {
            for initial in &frame.initial {
                match *initial {
                    Initialiser::Channel { cell, channel } if number == 0 => {
                        aliases.globals[cell as usize].insert(channel);
                    }
                    Initialiser::Channel { cell, .. } => {
                        // Once its process is gone, the number may become that of any other process's channel.
                        let own = &mut aliases.locals[number - 1][cell as usize];
                        (global..aliases.fields.len() as u32).for_each(|kind| own.insert(kind));
                    }
                    Initialiser::Value { .. } => {}
                }
            }
        }
        while aliases.round(program) {}
        aliases
    }

    /// One round of all inclusions; whether there was anything new.
    fn round(&mut self, program: &Program) -> bool {
        let mut grown = false;
        for (kind, process) in program.processes.iter().enumerate() {
            let kind = kind as ProcessTypeId;
            for initial in &process.frame.initial {
                if let Initialiser::Value { cell, value } = *initial
                    && process.frame.cells[cell as usize].sort == Sort::Channel
                {
                    let from = self.of(program, kind, value);
                    grown |= self.locals[usize::from(kind)][cell as usize].add(&from);
                }
            }
            for transition in process.transitions.iter().flatten() {
                grown |= self.action(program, kind, &transition.action);
            }
        }
        for initial in &program.globals.initial {
            if let Initialiser::Value { cell, value } = *initial
                && program.globals.cells[cell as usize].sort == Sort::Channel
            {
                let from = self.of(program, 0, value);
                grown |= self.globals[cell as usize].add(&from);
            }
        }
        grown
    }

    fn action(&mut self, program: &Program, kind: ProcessTypeId, action: &Action) -> bool {
        let mut grown = false;
        for root in crate::walk::expressions_of(program, action) {
            let mut runs = Vec::new();
            visit(program, root, &mut |_, node| {
                if let Node::Run(run) = node {
                    runs.push(run);
                }
            });
            for run in runs {
                let run = &program.runs[run as usize];
                let started = &program.processes[usize::from(run.process)].frame.cells;
                for (cell, &argument) in run.arguments.iter().enumerate() {
                    if started[cell].sort == Sort::Channel {
                        let from = self.of(program, kind, argument);
                        grown |= self.locals[usize::from(run.process)][cell].add(&from);
                    }
                }
            }
        }
        match action {
            Action::Assign(place, value) => {
                let from = self.of(program, kind, *value);
                grown |= self.store(program, kind, *place, &from);
            }
            Action::Send(send) => {
                let channels = self.of(program, kind, send.channel);
                for (field, &argument) in send.arguments.iter().enumerate() {
                    let from = self.of(program, kind, argument);
                    for (number, fields) in (0u32..).zip(&mut self.fields) {
                        if channels.contains(number)
                            && let Some(into) = fields.get_mut(field)
                        {
                            grown |= into.add(&from);
                        }
                    }
                }
            }
            Action::Receive(receive) => {
                let channels = self.of(program, kind, receive.channel);
                for (field, pattern) in receive.fields.iter().enumerate() {
                    let Pattern::Store(place) = pattern else { continue };
                    let mut from = Kinds::default();
                    for (_, fields) in (0u32..).zip(&self.fields).filter(|(number, _)| channels.contains(*number)) {
                        if let Some(held) = fields.get(field) {
                            from.add(held);
                        }
                    }
                    grown |= self.store(program, kind, *place, &from);
                }
            }
            Action::Indivisible(body) => {
                for action in body.done() {
                    grown |= self.action(program, kind, action);
                }
            }
            _ => {}
        }
        grown
    }

    fn store(&mut self, program: &Program, kind: ProcessTypeId, place: PlaceId, from: &Kinds) -> bool {
        let place = &program.places[place as usize];
        if place.sort != Sort::Channel || place.scratch {
            return false;
        }
        let cells = if place.global { &mut self.globals } else { &mut self.locals[usize::from(kind)] };
        cells_of(place).into_iter().fold(false, |grown, cell| cells[cell as usize].add(from) | grown)
    }

    /// The channels that an expression of a process type may name.
    pub(crate) fn of(&self, program: &Program, kind: ProcessTypeId, expression: ExpressionId) -> Kinds {
        let mut found = Kinds::default();
        let mut work = vec![expression];
        while let Some(expression) = work.pop() {
            let cells: (bool, Vec<u32>) = match program.expressions[expression as usize] {
                Node::Constant(number) => {
                    match u32::try_from(number) {
                        Ok(0) => {}
                        Ok(number) if number as usize <= program.globals.channels.len() => found.insert(number - 1),
                        _ => found.any = true,
                    }
                    continue;
                }
                Node::Conditional(_, yes, no) => {
                    work.extend([yes, no]);
                    continue;
                }
                Node::Global(cell) => (true, vec![cell]),
                Node::Local(cell) => (false, vec![cell]),
                Node::Place(place) => {
                    let place = &program.places[place as usize];
                    (place.global, cells_of(place))
                }
                _ => {
                    found.any = true;
                    continue;
                }
            };
            for cell in cells.1 {
                let (frame, held) = if cells.0 {
                    (&program.globals, &self.globals)
                } else {
                    (&program.processes[usize::from(kind)].frame, &self.locals[usize::from(kind)])
                };
                if frame.cells[cell as usize].sort == Sort::Channel {
                    found.add(&held[cell as usize]);
                } else {
                    found.any = true;
                }
            }
        }
        found
    }
}

/// Channel variables that no statement assigns to, with the channel of their frame that they start with: the global
/// ones, and those of each process type.
pub(super) fn fixed_channels(program: &Program) -> (Vec<Option<u32>>, Vec<Vec<Option<u32>>>) {
    let start = |frame: &Frame| {
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
