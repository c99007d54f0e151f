//! What the values of variables, message fields and expressions identify: inferred, not declared.
//!
//! Every cell and every message field begins in a class of its own. Assignments, comparisons for equality, messages and
//! arguments merge the classes of their two sides. A class that `_pid` flows into holds processes; one that is sent to
//! or received from holds channels, and has a class for each field of their messages; one that distinguishes processes
//! of one type, or indexes arrays, holds values of the model's own, such as the numbers that it gives to its processes.
//! Arithmetic and order comparisons treat a value as a number: its class is then *plain*, and no symmetry renames its
//! values. That is not an error. Where a plain class holds processes or channels, no symmetry moves them, and the
//! statement is kept as the reason.
//!
//! This is unification as in type inference (R. Milner, *A theory of type polymorphism in programming*, 1978) over
//! classes with fields. Its result is a proposal: [`super::terms`] checks every statement again and accepts no value of
//! one class where another is expected.
//!
//! The values of a class are those that the start-up left in its cells, constants that meet it in the text, these
//! values cut to the width of a variable, and the values of [`super::constants`]. No other value occurs in a class
//! without arithmetic.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_control::{Control, Stopped};
use trefoil_source::Span;

use super::Reason;
use super::constants::{Constant, Constants, FactId};
use super::startup::Settled;
use crate::program::{Action, ExpressionId, Node, Pattern, PlaceId, ProcessTypeId, Program, RemoteTarget, Sort};
use crate::syntax::tree::Binary;
use crate::walk::cells_of;

/// What the values of a class identify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Domain {
    /// Themselves.
    Plain,
    /// Processes, by their positions.
    Process,
    /// Channels, by their numbers.
    Channel,
    /// Something of the model's own, by the number of the class.
    Own(u32),
}

/// A class, after all have been put together.
pub(super) type Class = u32;

/// The classes of a program.
pub(super) struct Classes {
    pub(super) global: Vec<Class>,
    pub(super) local: Vec<Vec<Class>>,
    /// By kind of channel.
    pub(super) field: Vec<Vec<Class>>,
    /// Of `_pid`, by process type.
    pub(super) pid: Vec<Class>,
    /// Of `_last`.
    pub(super) last: Class,
    /// Of facts; plain for those that are numbers only.
    pub(super) fact: Vec<Class>,
    pub(super) domain: Vec<Domain>,
    /// The fields of the messages on the channels of a class.
    pub(super) fields: BTreeMap<Class, Vec<Class>>,
    /// The values that a class can have.
    pub(super) values: BTreeMap<Class, BTreeSet<i32>>,
    /// The sorts of the cells of a class.
    pub(super) sorts: BTreeMap<Class, BTreeSet<(u32, bool)>>,
    /// Why classes of processes and channels are plain.
    pub(super) reasons: Vec<Reason>,
}

impl Classes {
    /// Looks at everything that can be reached.
    pub(super) fn infer(
        program: &Program,
        settled: &Settled,
        constants: &mut Constants<'_>,
        control: &Control,
    ) -> Result<Classes, Stopped> {
        let model = &settled.model;
        let kinds = model.channel_kinds();
        let mut count = program.globals.cells.len() as u32;
        let mut local = Vec::new();
        for process in &program.processes {
            local.push(count);
            count += process.frame.cells.len() as u32;
        }
        let mut field = Vec::new();
        for kind in kinds {
            field.push(count);
            count += kind.fields.len() as u32;
        }
        let pid = count;
        let last = pid + program.processes.len() as u32;
        let total = last as usize + 1;
        let mut inference = Inference {
            program,
            local,
            field,
            pid,
            last,
            parent: (0..total as u32).collect(),
            marks: vec![Marks::default(); total],
            fields: BTreeMap::new(),
            constants,
            facts: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            kind: 0,
            span: program.processes.first().map_or_else(|| panic!("something runs"), |process| process.span),
        };
        inference.mark_sorts(kinds.iter().map(|kind| &kind.fields[..]));
        // What the values put together may make channels of more classes, and the code then says more about them.
        let mut known = None;
        loop {
            control.check()?;
            inference.follow_code(settled);
            inference.follow_values(settled);
            let now = inference.summary();
            if known.as_ref() == Some(&now) {
                break;
            }
            known = Some(now);
        }
        Ok(inference.finish(settled))
    }
}

/// What is known about a class; of use at its root only.
#[derive(Clone, Default)]
struct Marks {
    plain: Option<(Span, &'static str)>,
    process: bool,
    channel: bool,
    /// Does it name elements of arrays?
    index: bool,
    constants: BTreeSet<i32>,
    sorts: BTreeSet<(u32, bool)>,
}

/// The kind of an expression.
#[derive(Clone, Copy)]
pub(super) enum Typed {
    Constant(i32),
    Class(u32),
    /// A calculated number.
    Calculated,
}

pub(super) struct Inference<'a, 'c> {
    pub(super) program: &'a Program,
    constants: &'a mut Constants<'c>,
    /// The classes of facts.
    facts: BTreeMap<FactId, u32>,
    /// The classes of facts that are indices, by frame, place and dimension.
    neighbours: BTreeMap<(Option<ProcessTypeId>, u32, usize), u32>,
    local: Vec<u32>,
    field: Vec<u32>,
    pid: u32,
    last: u32,
    parent: Vec<u32>,
    marks: Vec<Marks>,
    /// By root.
    fields: BTreeMap<u32, Vec<u32>>,
    kind: ProcessTypeId,
    span: Span,
}

impl Inference<'_, '_> {
    fn find(&mut self, mut class: u32) -> u32 {
        while self.parent[class as usize] != class {
            let above = self.parent[self.parent[class as usize] as usize];
            self.parent[class as usize] = above;
            class = above;
        }
        class
    }

    fn union(&mut self, one: u32, other: u32) {
        let mut work = vec![(one, other)];
        while let Some((one, other)) = work.pop() {
            let (one, other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            self.parent[other as usize] = one;
            let marks = std::mem::take(&mut self.marks[other as usize]);
            let known = &mut self.marks[one as usize];
            known.plain = known.plain.or(marks.plain);
            known.process |= marks.process;
            known.channel |= marks.channel;
            known.index |= marks.index;
            known.constants.extend(marks.constants);
            known.sorts.extend(marks.sorts);
            if let Some(fields) = self.fields.remove(&other) {
                work.extend(self.with_fields(one, &fields));
            }
        }
    }

    /// The fields of the messages of a class are these; pairs that have to be put together.
    fn with_fields(&mut self, root: u32, fields: &[u32]) -> Vec<(u32, u32)> {
        match self.fields.get(&root) {
            None => {
                self.fields.insert(root, fields.to_vec());
                Vec::new()
            }
            Some(known) => {
                let different = known.len() != fields.len();
                let pairs = known.iter().copied().zip(fields.iter().copied()).collect();
                if different {
                    let span = self.span;
                    let why = "its channels have messages of different lengths";
                    self.marks[root as usize].plain.get_or_insert((span, why));
                }
                pairs
            }
        }
    }

    fn plain(&mut self, typed: Typed, why: &'static str) {
        if let Typed::Class(class) = typed {
            let root = self.find(class);
            self.marks[root as usize].plain.get_or_insert((self.span, why));
        }
    }

    fn join(&mut self, one: Typed, other: Typed) -> Typed {
        match (one, other) {
            (Typed::Class(one), Typed::Class(other)) => {
                self.union(one, other);
                Typed::Class(one)
            }
            (Typed::Class(class), Typed::Constant(value)) | (Typed::Constant(value), Typed::Class(class)) => {
                let root = self.find(class);
                self.marks[root as usize].constants.insert(value);
                Typed::Class(class)
            }
            (class @ Typed::Class(_), Typed::Calculated) | (Typed::Calculated, class @ Typed::Class(_)) => {
                self.plain(class, "it is the result of a calculation");
                class
            }
            (Typed::Constant(_), other) => other,
            (Typed::Calculated, _) => Typed::Calculated,
        }
    }

    fn mark_sorts<'f>(&mut self, kinds: impl Iterator<Item = &'f [Sort]>) {
        let sort_of = |sort: Sort| (sort.mask(), sort == Sort::Short);
        let mut all: Vec<(u32, Sort)> = Vec::new();
        all.extend((0..).zip(&self.program.globals.cells).map(|(class, cell)| (class, cell.sort)));
        for (process, &first) in self.program.processes.iter().zip(&self.local) {
            all.extend((first..).zip(&process.frame.cells).map(|(class, cell)| (class, cell.sort)));
        }
        for (fields, &first) in kinds.zip(&self.field) {
            all.extend((first..).zip(fields).map(|(class, &sort)| (class, sort)));
        }
        for (class, sort) in all {
            let marks = &mut self.marks[class as usize];
            marks.sorts.insert(sort_of(sort));
            marks.channel = sort == Sort::Channel;
        }
        for kind in 0..=self.program.processes.len() as u32 {
            self.marks[(self.pid + kind) as usize].process = true;
        }
    }

    fn follow_code(&mut self, settled: &Settled) {
        let program = self.program;
        for (kind, process) in program.processes.iter().enumerate() {
            self.kind = kind as ProcessTypeId;
            if !settled.types.contains(&self.kind) {
                continue;
            }
            if let Some(provided) = process.provided {
                self.span = process.span;
                self.truth(provided);
            }
            for (state, transitions) in process.transitions.iter().enumerate() {
                for transition in transitions.iter().filter(|_| settled.reachable[kind][state]) {
                    self.span = process.statements[transition.statement as usize].span;
                    self.action(&transition.action);
                }
            }
        }
        if let Some(trace) = &program.trace {
            self.span = trace.automaton.span;
            for transition in trace.automaton.transitions.iter().flatten() {
                self.event(&transition.action);
            }
        }
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Condition(condition) | Action::Assert(condition) => self.truth(*condition),
            Action::Assign(place, value) => {
                let value = self.value(*value);
                if !self.program.places[*place as usize].scratch {
                    let place = self.place(*place, self.kind);
                    self.join(place, value);
                }
            }
            Action::Send(send) => {
                let channel = self.channel(send.channel);
                let fields: Vec<Typed> = send.arguments.iter().map(|&argument| self.value(argument)).collect();
                self.message(channel, &fields);
                if send.sorted {
                    for field in self.fields_of(channel) {
                        self.plain(Typed::Class(field), "a sorted send orders messages by it");
                    }
                }
            }
            Action::Receive(receive) => {
                let channel = self.channel(receive.channel);
                let mut fields = Vec::new();
                for pattern in &receive.fields {
                    fields.push(match pattern {
                        Pattern::Match(value) => self.value(*value),
                        Pattern::Store(place) if self.program.places[*place as usize].scratch => Typed::Constant(0),
                        Pattern::Store(place) => self.place(*place, self.kind),
                    });
                }
                self.message(channel, &fields);
            }
            Action::SetPriority(process, priority) => {
                self.process(*process);
                let priority = self.value(*priority);
                self.plain(priority, "it is a priority");
            }
            Action::Indivisible(body) => body.actions().for_each(|action| self.action(action)),
        }
    }

    fn fields_of(&mut self, channel: Typed) -> Vec<u32> {
        let Typed::Class(class) = channel else { return Vec::new() };
        let root = self.find(class);
        self.fields.get(&root).cloned().unwrap_or_default()
    }

    /// A message with these fields is sent to, received from or looked for in a channel.
    pub(super) fn message(&mut self, channel: Typed, fields: &[Typed]) {
        let Typed::Class(class) = channel else { return };
        let root = self.find(class);
        if !self.fields.contains_key(&root) {
            // Its channels are not known yet: classes that stand for their fields.
            let fresh: Vec<u32> = fields.iter().map(|_| self.fresh()).collect();
            self.fields.insert(root, fresh);
        }
        for (position, known) in self.fields_of(channel).into_iter().enumerate() {
            // Fields that are left out are sent as zero.
            let field = fields.get(position).copied().unwrap_or(Typed::Constant(0));
            self.join(Typed::Class(known), field);
        }
    }

    fn fresh(&mut self) -> u32 {
        self.parent.push(self.parent.len() as u32);
        self.marks.push(Marks::default());
        self.parent.len() as u32 - 1
    }

    /// What is known about an expression that nothing changes.
    fn constant(&mut self, expression: ExpressionId, operand: bool) -> Option<Typed> {
        Some(match self.constants.learn(self.kind, expression, operand, self.span)? {
            Constant::Same(value) => Typed::Constant(value),
            Constant::Number(_) => Typed::Calculated,
            Constant::Value(fact) => Typed::Class(match self.facts.get(&fact) {
                Some(&class) => class,
                None => {
                    let class = self.fresh();
                    self.facts.insert(fact, class);
                    class
                }
            }),
        })
    }

    /// An operand of arithmetic.
    fn operand(&mut self, expression: ExpressionId, why: &'static str) {
        if self.constant(expression, true).is_none() {
            let operand = self.value(expression);
            self.plain(operand, why);
        }
    }

    fn place(&mut self, place: PlaceId, kind: ProcessTypeId) -> Typed {
        let program = self.program;
        let place = &program.places[place as usize];
        for (dimension, index) in place.indices.iter().enumerate() {
            if let Typed::Class(class) = self.value(index.value) {
                let root = self.find(class);
                self.marks[root as usize].index = true;
                // Neighbours of a process may change places: what is calculated to find them is of one sort.
                if self.constant(index.value, false).is_some() {
                    let frame = if place.global { None } else { Some(kind) };
                    let other = *self.neighbours.entry((frame, place.base, dimension)).or_insert(class);
                    self.union(other, class);
                }
            }
        }
        let first = if place.global { 0 } else { self.local[usize::from(kind)] };
        let cells = cells_of(place);
        for &cell in &cells {
            self.union(first + cells[0], first + cell);
        }
        Typed::Class(first + cells[0])
    }

    fn truth(&mut self, expression: ExpressionId) {
        let value = self.value(expression);
        self.join(value, Typed::Constant(0));
    }

    pub(super) fn channel(&mut self, expression: ExpressionId) -> Typed {
        let channel = self.value(expression);
        if let Typed::Class(class) = channel {
            let root = self.find(class);
            self.marks[root as usize].channel = true;
        }
        channel
    }

    fn process(&mut self, expression: ExpressionId) {
        if let Typed::Class(class) = self.value(expression) {
            let root = self.find(class);
            self.marks[root as usize].process = true;
        }
    }

    pub(super) fn value(&mut self, expression: ExpressionId) -> Typed {
        if let Some(known) = self.constant(expression, false) {
            return known;
        }
        match self.program.expressions[expression as usize] {
            Node::Constant(value) => Typed::Constant(value),
            Node::Global(cell) => Typed::Class(cell),
            Node::Local(cell) => Typed::Class(self.local[usize::from(self.kind)] + cell),
            Node::Place(place) => self.place(place, self.kind),
            Node::Pid => Typed::Class(self.pid + u32::from(self.kind)),
            Node::Last => Typed::Class(self.last),
            Node::Not(inner) => {
                self.truth(inner);
                Typed::Calculated
            }
            Node::Binary(Binary::And | Binary::Or, left, right) => {
                self.truth(left);
                self.truth(right);
                Typed::Calculated
            }
            Node::Binary(Binary::Equal | Binary::Different, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.join(left, right);
                Typed::Calculated
            }
            Node::Binary(operator, left, right) => {
                let why = match operator {
                    Binary::Less | Binary::Greater | Binary::AtMost | Binary::AtLeast => "an order comparison uses it",
                    _ => "arithmetic uses it",
                };
                self.operand(left, why);
                self.operand(right, why);
                Typed::Calculated
            }
            Node::Negate(inner) | Node::Complement(inner) => {
                self.operand(inner, "arithmetic uses it");
                Typed::Calculated
            }
            Node::Conditional(condition, yes, no) => {
                self.truth(condition);
                let (yes, no) = (self.value(yes), self.value(no));
                self.join(yes, no)
            }
            Node::Length(channel)
            | Node::Full(channel)
            | Node::Empty(channel)
            | Node::NotFull(channel)
            | Node::NotEmpty(channel) => {
                self.channel(channel);
                Typed::Calculated
            }
            Node::Poll(poll) => {
                let poll = &self.program.polls[poll as usize];
                let channel = self.channel(poll.channel);
                let mut fields = Vec::new();
                for field in &poll.fields {
                    fields.push(field.map_or(Typed::Constant(0), |field| self.value(field)));
                }
                // It may look at the first fields only, so it does not say how many there are.
                for (known, &field) in self.fields_of(channel).into_iter().zip(&fields) {
                    self.join(Typed::Class(known), field);
                }
                Typed::Calculated
            }
            Node::ProgramCounter(process) | Node::Priority(process) => {
                self.process(process);
                Typed::Calculated
            }
            Node::Remote(remote) => {
                let remote = &self.program.remotes[remote as usize];
                if let Some(index) = remote.index {
                    self.process(index);
                }
                match remote.target {
                    RemoteTarget::Label(_) => Typed::Calculated,
                    // Indices are the asker's, the cells are the other's.
                    RemoteTarget::Place(place) => self.place(place, remote.process),
                }
            }
            Node::Timeout
            | Node::ProcessCount
            | Node::OwnPriority
            | Node::Run(_)
            | Node::Enabled(_)
            | Node::NonProgress
            | Node::Accepting => Typed::Calculated,
        }
    }

    /// The channels that classes hold once everything is started have the fields of those classes.
    fn follow_values(&mut self, settled: &Settled) {
        let model = &settled.model;
        for (class, value) in self.initial_values(settled) {
            let root = self.find(class);
            if !self.marks[root as usize].channel {
                continue;
            }
            let Some(kind) = model.channel_kind_of(value) else { continue };
            let first = self.field[kind];
            let fields: Vec<u32> = (first..).take(model.channel_kinds()[kind].fields.len()).collect();
            for (one, other) in self.with_fields(root, &fields) {
                self.union(one, other);
            }
        }
    }

    /// All that matters of what is known.
    fn summary(&mut self) -> Vec<(u32, bool, bool, bool, usize)> {
        let count = self.parent.len() as u32;
        (0..count)
            .map(|class| {
                let root = self.find(class);
                let marks = &self.marks[root as usize];
                let fields = self.fields.get(&root).map_or(0, |fields| fields.len() + 1);
                (root, marks.plain.is_some(), marks.process, marks.channel, fields)
            })
            .collect()
    }

    /// The values that layers and constants give to classes.
    fn initial_values(&mut self, settled: &Settled) -> Vec<(u32, i32)> {
        let program = self.program;
        let model = &settled.model;
        let mut values: Vec<(u32, i32)> = Vec::new();
        for row in &settled.layers {
            for (cell, value) in model.global_values(row).into_iter().enumerate() {
                values.push((cell as u32, program.globals.cells[cell].sort.read(value)));
            }
            for (position, &kind) in model.types_of(row).iter().enumerate() {
                let cells = &program.processes[usize::from(kind)].frame.cells;
                for (cell, value) in model.local_values(row, position).into_iter().enumerate() {
                    values.push((self.local[usize::from(kind)] + cell as u32, cells[cell].sort.read(value)));
                }
            }
            for (kind, fields) in model.messages(row) {
                for (field, value) in fields.into_iter().enumerate() {
                    values.push((self.field[kind] + field as u32, value));
                }
            }
        }
        for (&fact, &class) in &self.facts {
            values.extend(self.constants.facts[fact as usize].values.iter().map(|&(_, value)| (class, value)));
        }
        for class in 0..self.parent.len() as u32 {
            if self.find(class) == class {
                values.extend(self.marks[class as usize].constants.iter().map(|&value| (class, value)));
            }
        }
        values
    }

    /// The classes of cells and facts in which processes of one type differ.
    fn told_apart(&mut self, settled: &Settled) -> BTreeSet<Class> {
        let mut found = BTreeSet::new();
        let Some(row) = settled.layers.last() else { return found };
        let mut first: BTreeMap<ProcessTypeId, Vec<u32>> = BTreeMap::new();
        for (position, &kind) in settled.types.iter().enumerate() {
            let values = settled.model.local_values(row, position);
            let known = first.entry(kind).or_insert_with(|| values.clone());
            for (cell, _) in known.clone().iter().zip(&values).enumerate().filter(|(_, (one, other))| one != other) {
                let class = self.local[usize::from(kind)] + cell as u32;
                found.insert(self.find(class));
            }
        }
        for class in self.facts.values().copied().collect::<Vec<u32>>() {
            found.insert(self.find(class));
        }
        found
    }

    fn finish(mut self, settled: &Settled) -> Classes {
        let program = self.program;
        let count = self.parent.len() as u32;
        let mut values: BTreeMap<Class, BTreeSet<i32>> = BTreeMap::new();
        for (class, value) in self.initial_values(settled) {
            let root = self.find(class);
            values.entry(root).or_default().insert(value);
        }
        let told_apart = self.told_apart(settled);
        let mut domain = vec![Domain::Plain; count as usize];
        let mut sorts: BTreeMap<Class, BTreeSet<(u32, bool)>> = BTreeMap::new();
        let mut reasons = Vec::new();
        for class in 0..count {
            let root = self.find(class);
            if root != class {
                continue;
            }
            let marks = &self.marks[class as usize];
            domain[class as usize] = match marks {
                Marks { plain: Some((span, why)), process, channel, .. } => {
                    if *process || *channel {
                        let what = if *process { "a process" } else { "a channel" };
                        let text = format!("the identity of {what} is used as a number here: {why}");
                        reasons.push(Reason::at(Some(*span), text));
                    }
                    Domain::Plain
                }
                Marks { process: true, channel: true, .. } => {
                    reasons
                        .push(Reason::at(None, "one value identifies a process in one place and a channel in another"));
                    Domain::Plain
                }
                Marks { process: true, .. } => Domain::Process,
                Marks { channel: true, .. } => Domain::Channel,
                // Others are as they are: nothing is gained by renaming them.
                _ if marks.index || told_apart.contains(&class) => Domain::Own(class),
                _ => Domain::Plain,
            };
            let known = values.entry(class).or_default();
            known.insert(0);
            sorts.insert(class, marks.sorts.clone());
            close(known, &marks.sorts);
        }
        let resolve = |inference: &mut Self, first: u32, count: usize| -> Vec<Class> {
            (first..).take(count).map(|class| inference.find(class)).collect()
        };
        let global = resolve(&mut self, 0, program.globals.cells.len());
        let mut local = Vec::new();
        for (kind, process) in program.processes.iter().enumerate() {
            let first = self.local[kind];
            local.push(resolve(&mut self, first, process.frame.cells.len()));
        }
        let mut field = Vec::new();
        for (kind, known) in settled.model.channel_kinds().iter().enumerate() {
            let first = self.field[kind];
            field.push(resolve(&mut self, first, known.fields.len()));
        }
        let first = self.pid;
        let pid = resolve(&mut self, first, program.processes.len());
        let last = self.last;
        let last = self.find(last);
        // A number is in a class of its own without further facts.
        let facts = 0..self.constants.facts.len() as FactId;
        let known: Vec<Option<u32>> = facts.map(|fact| self.facts.get(&fact).copied()).collect();
        let fact = known
            .into_iter()
            .map(|class| match class {
                Some(class) => self.find(class),
                None => {
                    let class = self.fresh();
                    domain.push(Domain::Plain);
                    class
                }
            })
            .collect();
        let mut fields = BTreeMap::new();
        for (class, of_class) in self.fields.clone() {
            let of_class = of_class.into_iter().map(|field| self.find(field)).collect();
            fields.insert(self.find(class), of_class);
        }
        Classes { global, local, field, pid, last, fact, domain, fields, values, sorts, reasons }
    }
}

/// What a value is once it was kept in a cell of this sort.
pub(super) fn cut(value: i32, (mask, signed): (u32, bool)) -> i32 {
    let kept = value as u32 & mask;
    if signed { i32::from(kept as u16 as i16) } else { kept as i32 }
}

/// Adds what cutting makes of the values.
fn close(values: &mut BTreeSet<i32>, sorts: &BTreeSet<(u32, bool)>) {
    let mut work: Vec<i32> = values.iter().copied().collect();
    while let Some(value) = work.pop() {
        for &sort in sorts {
            let kept = cut(value, sort);
            if values.insert(kept) {
                work.push(kept);
            }
        }
    }
}
