//! Statements as terms over items: what a symmetry renames, and what must be equal afterwards.
//!
//! A term is an item, or a mark with terms below it. The term of a statement contains everything that the statement
//! depends on: the operators are marks, and every process, channel, value, variable and control state that the
//! statement names is an item. Renaming the items of the term under a symmetry gives the term of the statement that the
//! symmetric process must have in the symmetric state (restriction 1 of Donaldson, Miller and Calder, *Finding symmetry
//! in models of concurrent systems by static channel diagram analysis*, 2005). Two statements have the same effect if
//! their terms are equal.
//!
//! Operands of commutative operators are kept without order, and chains of one operator are flattened, so that `a + b +
//! c` equals `c + a + b`. For `&&` and `||` the order matters if the evaluation of a later operand may fail; the term
//! keeps the order where that cannot be excluded.
//!
//! Building the terms also checks that every value has the expected class. A value that does not fit makes the term of
//! the statement unknown, and then there is no symmetry. A term that is sound only if some items stay fixed (arithmetic
//! with `_pid`, a use of the number of a control state) says so: `fixed` has the items that no symmetry may move, with
//! the reasons.

use std::collections::{BTreeMap, HashMap};

use super::Reason;
use super::classes::{Class, Classes, Domain};
use super::constants::{Constant, Constants, NO_PROCESS};
use super::events::Watched;
use super::items::{Array, ItemId, Items};
use super::startup::Settled;
use crate::program::{
    Action, ExpressionId, Guard, IndivisibleStep, Node, Pattern, Place, PlaceId, ProcessTypeId, Program, RemoteTarget,
};
use crate::syntax::tree::Binary;
use crate::walk::cells_of;
use trefoil_source::Span;

/// What a statement does.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Item(ItemId),
    Node {
        mark: u32,
        /// Does the order of what is below matter?
        ordered: bool,
        below: Vec<Term>,
    },
}

impl Term {
    /// Appends the term as words, its items renamed: equal words for equal terms.
    pub(super) fn write(&self, images: Option<&[ItemId]>, words: &mut Vec<u32>) {
        match self {
            Term::Item(item) => words.extend([0, images.map_or(*item, |images| images[*item as usize])]),
            Term::Node { mark, ordered, below } => {
                words.extend([1, *mark, below.len() as u32]);
                if *ordered {
                    below.iter().for_each(|term| term.write(images, words));
                    return;
                }
                let mut parts: Vec<Vec<u32>> = below
                    .iter()
                    .map(|term| {
                        let mut part = Vec::new();
                        term.write(images, &mut part);
                        part
                    })
                    .collect();
                parts.sort_unstable();
                parts.into_iter().for_each(|part| words.extend(part));
            }
        }
    }
}

/// A transition and its term.
pub(super) struct Known {
    pub(super) term: Term,
    pub(super) atomic: bool,
    pub(super) target: u32,
    pub(super) escape: u32,
    /// Transitions of one block can be tried in any order.
    pub(super) block: u32,
    pub(super) statement: u32,
}

/// The terms of all that can be reached.
pub(super) struct Terms {
    /// By process type and control state; empty where nothing can be reached.
    pub(super) transitions: Vec<Vec<Vec<Known>>>,
    pub(super) provided: Vec<Option<Term>>,
    /// Items that no symmetry may move.
    pub(super) fixed: BTreeMap<ItemId, Reason>,
    /// Cells that a reachable statement names.
    pub(super) named: Vec<bool>,
    /// What a trace declaration waits for.
    pub(super) watched: Option<Watched>,
}

/// Why there is no term.
pub(super) struct Misfit(pub(super) &'static str);

/// A value was of another class than is wanted.
const TWO_THINGS: Misfit = Misfit("this statement uses one value as the identity of two different things");

pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) settled: &'a Settled,
    classes: &'a Classes,
    pub(super) items: &'a mut Items,
    marks: HashMap<Vec<i64>, u32>,
    fixed: BTreeMap<ItemId, Reason>,
    named: Vec<bool>,
    pub(super) constants: &'a Constants<'a>,
    pub(super) kind: ProcessTypeId,
    pub(super) span: Span,
}

impl<'a> Builder<'a> {
    fn new(
        program: &'a Program,
        settled: &'a Settled,
        (classes, constants): (&'a Classes, &'a Constants<'a>),
        items: &'a mut Items,
        kind: ProcessTypeId,
    ) -> Builder<'a> {
        Builder {
            named: vec![false; items.len()],
            program,
            settled,
            classes,
            items,
            marks: HashMap::new(),
            fixed: BTreeMap::new(),
            constants,
            kind,
            span: program.processes[0].span,
        }
    }
}

/// The terms of a program, or the statement that has none.
pub(super) fn terms(
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    constants: &Constants<'_>,
    items: &mut Items,
) -> Result<Terms, Reason> {
    let mut builder = Builder::new(program, settled, (classes, constants), items, 0);
    let live = |kind: usize| settled.types.contains(&(kind as ProcessTypeId));
    let mut all = Terms {
        transitions: Vec::new(),
        provided: Vec::new(),
        fixed: BTreeMap::new(),
        named: Vec::new(),
        watched: None,
    };
    for (kind, process) in program.processes.iter().enumerate() {
        builder.kind = kind as ProcessTypeId;
        let misfit = |span| move |Misfit(why)| Reason::at(Some(span), why);
        builder.span = process.span;
        let provided = match process.provided {
            Some(provided) if live(kind) => Some(builder.truth(provided).map_err(misfit(process.span))?),
            _ => None,
        };
        all.provided.push(provided);
        let mut of_type = Vec::new();
        for (state, transitions) in process.transitions.iter().enumerate() {
            let mut known: Vec<Known> = Vec::new();
            let mut block = 0;
            let mut alone = false;
            for transition in transitions.iter().filter(|_| settled.reachable[kind][state]) {
                let span = process.statements[transition.statement as usize].span;
                builder.span = span;
                let term = builder.action(&transition.action).map_err(misfit(span))?;
                let barrier = depends_on_earlier(&transition.action);
                if known.last().is_some_and(|last| last.escape != transition.escape) || barrier || alone {
                    block += 1;
                }
                alone = barrier;
                known.push(Known {
                    term,
                    atomic: transition.atomic,
                    target: transition.target,
                    escape: transition.escape,
                    block,
                    statement: transition.statement,
                });
            }
            of_type.push(known);
        }
        for sequence in builder.sequences(process) {
            let parts: Vec<Known> = sequence.inside.iter().filter_map(|&state| of_type[state as usize].pop()).collect();
            let first = of_type[sequence.state as usize].get_mut(sequence.transition);
            let (Some(first), Some(last)) = (first, parts.last()) else { continue };
            (first.atomic, first.target) = (last.atomic, last.target);
            let mark = builder.mark(&[49, parts.len() as i64]);
            let begun = std::mem::replace(&mut first.term, Term::Item(0));
            let below = [begun].into_iter().chain(parts.into_iter().map(|part| part.term)).collect();
            first.term = Term::Node { mark, ordered: false, below };
        }
        all.transitions.push(of_type);
    }
    if let Some(trace) = &program.trace {
        all.watched = Some(builder.watched(trace)?);
    }
    all.fixed = builder.fixed;
    all.named = builder.named;
    Ok(all)
}

/// The term of each proposition of the program's claims, and the items that must stay fixed for it to be right; or why
/// it has none.
pub(super) fn of_propositions(
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    constants: &Constants<'_>,
    items: &mut Items,
) -> Vec<Result<(Term, Vec<ItemId>), Reason>> {
    let mut builder = Builder::new(program, settled, (classes, constants), items, NO_PROCESS);
    let mut term = |&expression: &ExpressionId| {
        builder.fixed.clear();
        let term = builder.truth(expression).map_err(|Misfit(why)| Reason::at(None, why))?;
        Ok((term, builder.fixed.keys().copied().collect()))
    };
    program.propositions.iter().map(&mut term).collect()
}

/// Does it matter which transitions were tried before?
fn depends_on_earlier(action: &Action) -> bool {
    match action {
        Action::Else => true,
        Action::Indivisible(body) => match &body.guard {
            Guard::Free => false,
            Guard::Any(guards) => guards.iter().any(depends_on_earlier),
        },
        _ => false,
    }
}

impl Builder<'_> {
    fn mark(&mut self, words: &[i64]) -> u32 {
        let next = self.marks.len() as u32;
        *self.marks.entry(words.to_vec()).or_insert(next)
    }

    pub(super) fn node(&mut self, words: &[i64], below: Vec<Term>) -> Term {
        Term::Node { mark: self.mark(words), ordered: true, below }
    }

    fn domain(&self, class: Option<Class>) -> Domain {
        class.map_or(Domain::Plain, |class| self.classes.domain[class as usize])
    }

    fn fix(&mut self, items: Vec<ItemId>, why: &str) {
        for item in items {
            self.fixed.entry(item).or_insert_with(|| Reason::at(Some(self.span), why));
        }
    }

    fn processes_of(&self, kind: ProcessTypeId) -> Vec<ItemId> {
        let of_type = (0..).zip(&self.settled.types).filter(|(_, known)| **known == kind);
        of_type.map(|(position, _)| self.items.process(position)).collect()
    }

    fn all_processes(&self) -> Vec<ItemId> {
        (0..self.items.processes()).map(|position| self.items.process(position)).collect()
    }

    /// The class of an expression: none for what is calculated, and `Err` for constants, which fit everywhere.
    fn class_of(&self, expression: ExpressionId) -> Result<Option<Class>, i32> {
        match self.constants.known(self.kind, expression, false) {
            Some(Constant::Same(value)) => return Err(value),
            Some(Constant::Number(_)) => return Ok(None),
            Some(Constant::Value(fact)) => return Ok(Some(self.classes.fact[fact as usize])),
            None => {}
        }
        Ok(match self.program.expressions[expression as usize] {
            Node::Constant(value) => return Err(value),
            Node::Global(cell) => Some(self.classes.global[cell as usize]),
            Node::Local(cell) => Some(self.classes.local[usize::from(self.kind)][cell as usize]),
            Node::Place(place) => Some(self.class_of_place(place, self.kind)),
            Node::Pid => Some(self.classes.pid[usize::from(self.kind)]),
            Node::Last => Some(self.classes.last),
            Node::Conditional(_, yes, no) => match self.class_of(yes) {
                Err(_) => return self.class_of(no),
                known => return known,
            },
            Node::Remote(remote) => match self.program.remotes[remote as usize].target {
                RemoteTarget::Label(_) => None,
                RemoteTarget::Place(place) => {
                    Some(self.class_of_place(place, self.program.remotes[remote as usize].process))
                }
            },
            _ => None,
        })
    }

    fn class_of_place(&self, place: PlaceId, kind: ProcessTypeId) -> Class {
        let place = &self.program.places[place as usize];
        match place.global {
            true => self.classes.global[place.base as usize],
            false => self.classes.local[usize::from(kind)][place.base as usize],
        }
    }

    /// The class of an expression; plain if it is unknown.
    fn own_domain(&self, expression: ExpressionId) -> Domain {
        self.class_of(expression).map_or(Domain::Plain, |class| self.domain(class))
    }

    fn name_cell(&mut self, item: ItemId) -> Term {
        self.named[item as usize] = true;
        Term::Item(item)
    }

    fn place(&mut self, place: &Place, kind: ProcessTypeId) -> Result<Term, Misfit> {
        let frame = (!place.global).then_some(kind);
        if place.indices.is_empty() {
            let cell = self.items.cell(frame, place.base);
            return Ok(self.name_cell(cell));
        }
        let mut indices = Vec::new();
        let mut below = Vec::new();
        for index in &place.indices {
            let domain = self.own_domain(index.value);
            indices.push((index.length, index.stride, domain));
            below.push(self.value(index.value, domain)?);
        }
        for cell in cells_of(place) {
            let cell = self.items.cell(frame, cell);
            self.named[cell as usize] = true;
        }
        let array = self.items.array(Array { frame, base: place.base, indices });
        below.insert(0, Term::Item(array));
        Ok(self.node(&[1], below))
    }

    fn constant(&mut self, value: i32, wanted: Domain) -> Term {
        match self.items.of_value(wanted, value) {
            Some(item) => Term::Item(item),
            None => self.node(&[2, i64::from(value)], Vec::new()),
        }
    }

    /// An operand of arithmetic.
    fn operand(&mut self, expression: ExpressionId) -> Result<Term, Misfit> {
        match self.constants.known(self.kind, expression, true) {
            Some(Constant::Same(value)) => Ok(self.constant(value, Domain::Plain)),
            Some(Constant::Number(fact) | Constant::Value(fact)) => Ok(Term::Item(self.items.fact(fact))),
            None => self.value(expression, Domain::Plain),
        }
    }

    /// A value of a domain.
    fn value(&mut self, expression: ExpressionId, wanted: Domain) -> Result<Term, Misfit> {
        let program = self.program;
        let node = program.expressions[expression as usize];
        if let Ok(class) = self.class_of(expression)
            && self.domain(class) != wanted
        {
            return Err(TWO_THINGS);
        }
        match self.constants.known(self.kind, expression, false) {
            Some(Constant::Same(value)) => return Ok(self.constant(value, wanted)),
            Some(Constant::Number(fact) | Constant::Value(fact)) => return Ok(Term::Item(self.items.fact(fact))),
            None => {}
        }
        Ok(match node {
            Node::Constant(value) => self.constant(value, wanted),
            Node::Global(cell) => {
                let cell = self.items.global(cell);
                self.name_cell(cell)
            }
            Node::Local(cell) => {
                let cell = self.items.local(self.kind, cell);
                self.name_cell(cell)
            }
            Node::Place(place) => self.place(&program.places[place as usize], self.kind)?,
            Node::Pid => {
                if wanted == Domain::Plain {
                    let processes = self.processes_of(self.kind);
                    self.fix(processes, "the number of the process matters here, not only its identity");
                }
                self.node(&[3], Vec::new())
            }
            Node::Last => {
                if wanted == Domain::Plain {
                    let processes = self.all_processes();
                    self.fix(processes, "the number of a process matters here");
                }
                self.node(&[4], Vec::new())
            }
            Node::Not(inner) => {
                let inner = self.truth(inner)?;
                self.node(&[5], vec![inner])
            }
            Node::Negate(inner) => {
                let inner = self.operand(inner)?;
                self.node(&[6], vec![inner])
            }
            Node::Complement(inner) => {
                let inner = self.operand(inner)?;
                self.node(&[7], vec![inner])
            }
            Node::Binary(operator, left, right) => self.binary(operator, left, right, expression)?,
            Node::Conditional(condition, yes, no) => {
                let below = vec![self.truth(condition)?, self.value(yes, wanted)?, self.value(no, wanted)?];
                self.node(&[8], below)
            }
            Node::Length(channel) => self.probe(10, channel)?,
            Node::Full(channel) => self.probe(11, channel)?,
            Node::Empty(channel) => self.probe(12, channel)?,
            Node::NotFull(channel) => self.probe(13, channel)?,
            Node::NotEmpty(channel) => self.probe(14, channel)?,
            Node::Poll(poll) => {
                let poll = &program.polls[poll as usize];
                let (channel, fields) = self.channel(poll.channel)?;
                let mut below = vec![channel];
                for (at, field) in poll.fields.iter().enumerate() {
                    below.push(match field {
                        None => self.node(&[15], Vec::new()),
                        Some(value) => self.field(*value, fields.get(at).copied())?,
                    });
                }
                self.node(&[16, i64::from(poll.random)], below)
            }
            Node::Timeout => self.node(&[17], Vec::new()),
            Node::NonProgress => self.node(&[23], Vec::new()),
            Node::Accepting => self.node(&[24], Vec::new()),
            Node::ProcessCount => self.node(&[18], Vec::new()),
            Node::OwnPriority => self.node(&[19], Vec::new()),
            Node::ProgramCounter(process) => {
                let controls = self.items.all().iter().zip(0..);
                let controls = controls.filter(|(item, _)| matches!(item, super::items::Item::Control(..)));
                let controls = controls.map(|(_, id)| id).collect();
                self.fix(controls, "the number of a control state matters here");
                let process = self.process(process)?;
                self.node(&[20], vec![process])
            }
            Node::Priority(process) => {
                let process = self.process(process)?;
                self.node(&[21], vec![process])
            }
            Node::Remote(remote) => {
                let remote = &program.remotes[remote as usize];
                let which = match remote.index {
                    Some(index) => self.process(index)?,
                    // The first of its type is looked at.
                    None => match self.processes_of(remote.process).first() {
                        Some(&first) => Term::Item(first),
                        None => self.node(&[22], Vec::new()),
                    },
                };
                let target = match remote.target {
                    RemoteTarget::Label(state) => Term::Item(self.items.control(remote.process, state)),
                    RemoteTarget::Place(place) => self.place(&program.places[place as usize], remote.process)?,
                };
                let below = vec![which, target];
                self.node(&[23, i64::from(remote.process)], below)
            }
            Node::Run(_) => return Err(TWO_THINGS),
            Node::Enabled(_) => return Err(Misfit("`enabled` of another process is not compared")),
        })
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: ExpressionId,
        right: ExpressionId,
        whole: ExpressionId,
    ) -> Result<Term, Misfit> {
        let number = 100 + operator as i64;
        let mut operands = Vec::new();
        let ordered = match operator {
            Binary::And | Binary::Or => {
                let chain = self.chain(operator, whole, false);
                // A later operand is evaluated or not depending on the earlier ones, which matters if its evaluation
                // may fail.
                let free = chain.iter().all(|&operand| self.cannot_fail(operand));
                for operand in if free { chain } else { vec![left, right] } {
                    operands.push(self.truth(operand)?);
                }
                !free
            }
            Binary::Plus | Binary::Times | Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                for operand in self.chain(operator, whole, true) {
                    operands.push(self.operand(operand)?);
                }
                false
            }
            Binary::Equal | Binary::Different => {
                let domain = match (self.class_of(left), self.class_of(right)) {
                    (Ok(class), _) | (Err(_), Ok(class)) => self.domain(class),
                    _ => Domain::Plain,
                };
                operands = vec![self.value(left, domain)?, self.value(right, domain)?];
                false
            }
            _ => {
                operands = vec![self.operand(left)?, self.operand(right)?];
                true
            }
        };
        Ok(Term::Node { mark: self.mark(&[number]), ordered, below: operands })
    }

    /// The operands of a chain of one operator. Constant parts stay whole.
    fn chain(&self, operator: Binary, whole: ExpressionId, arithmetic: bool) -> Vec<ExpressionId> {
        let mut operands = Vec::new();
        let mut work = vec![whole];
        while let Some(expression) = work.pop() {
            match self.program.expressions[expression as usize] {
                Node::Binary(other, left, right)
                    if other == operator && self.constants.known(self.kind, expression, arithmetic).is_none() =>
                {
                    work.extend([right, left]);
                }
                _ => operands.push(expression),
            }
        }
        operands
    }

    /// Whether a value is not zero. If the value identifies an item, zero may be one, which must stay fixed then.
    fn truth(&mut self, expression: ExpressionId) -> Result<Term, Misfit> {
        let domain = self.own_domain(expression);
        let value = self.value(expression, domain)?;
        match self.items.of_value(domain, 0) {
            None => Ok(value),
            Some(zero) => Ok(self.node(&[24], vec![value, Term::Item(zero)])),
        }
    }

    fn probe(&mut self, number: i64, channel: ExpressionId) -> Result<Term, Misfit> {
        let (channel, _) = self.channel(channel)?;
        Ok(self.node(&[number], vec![channel]))
    }

    /// A channel, and the classes of its fields.
    pub(super) fn channel(&mut self, expression: ExpressionId) -> Result<(Term, Vec<Class>), Misfit> {
        let class = self.class_of(expression).ok().flatten();
        let domain = self.own_domain(expression);
        match domain {
            Domain::Channel => {}
            // It may be any channel, so nothing is known about what its messages stand for.
            Domain::Plain => return Err(Misfit("a calculated number names the channel")),
            _ => return Err(TWO_THINGS),
        }
        let fields = class.and_then(|class| self.classes.fields.get(&class)).cloned().unwrap_or_default();
        Ok((self.value(expression, domain)?, fields))
    }

    fn process(&mut self, expression: ExpressionId) -> Result<Term, Misfit> {
        let domain = match self.class_of(expression) {
            Err(_) => Domain::Process,
            Ok(class) => self.domain(class),
        };
        match domain {
            Domain::Process => {}
            Domain::Plain => {
                let processes = self.all_processes();
                self.fix(processes, "a calculated number names a process");
            }
            _ => return Err(TWO_THINGS),
        }
        self.value(expression, domain)
    }

    /// A value for a field of this class.
    pub(super) fn field(&mut self, expression: ExpressionId, class: Option<Class>) -> Result<Term, Misfit> {
        match class {
            Some(class) => self.value(expression, self.classes.domain[class as usize]),
            None => self.value(expression, self.own_domain(expression)),
        }
    }

    fn action(&mut self, action: &Action) -> Result<Term, Misfit> {
        let program = self.program;
        Ok(match action {
            Action::Skip => self.node(&[30], Vec::new()),
            Action::Condition(condition) => {
                let condition = self.truth(*condition)?;
                self.node(&[31], vec![condition])
            }
            Action::Else => self.node(&[32], Vec::new()),
            Action::Assign(place, value) => {
                let target = &program.places[*place as usize];
                if target.scratch {
                    let value = self.value(*value, self.own_domain(*value))?;
                    return Ok(self.node(&[33], vec![value]));
                }
                let domain = self.domain(Some(self.class_of_place(*place, self.kind)));
                let below = vec![self.place(target, self.kind)?, self.value(*value, domain)?];
                self.node(&[34], below)
            }
            Action::Assert(condition) => {
                let condition = self.truth(*condition)?;
                self.node(&[35], vec![condition])
            }
            Action::Send(send) => {
                let (channel, fields) = self.channel(send.channel)?;
                let mut below = vec![channel];
                for (at, &argument) in send.arguments.iter().enumerate() {
                    below.push(self.field(argument, fields.get(at).copied())?);
                }
                if send.sorted && fields.iter().any(|&field| self.domain(Some(field)) != Domain::Plain) {
                    return Err(TWO_THINGS);
                }
                self.node(&[36, i64::from(send.sorted)], below)
            }
            Action::Receive(receive) => {
                let (channel, fields) = self.channel(receive.channel)?;
                let mut below = vec![channel];
                for (at, pattern) in receive.fields.iter().enumerate() {
                    let field = fields.get(at).copied();
                    below.push(match pattern {
                        Pattern::Match(value) => {
                            let value = self.field(*value, field)?;
                            self.node(&[37], vec![value])
                        }
                        Pattern::Store(place) => {
                            let target = &program.places[*place as usize];
                            if target.scratch {
                                self.node(&[38], Vec::new())
                            } else {
                                let domain = self.domain(Some(self.class_of_place(*place, self.kind)));
                                if field.is_some_and(|field| self.domain(Some(field)) != domain) {
                                    return Err(TWO_THINGS);
                                }
                                let target = self.place(target, self.kind)?;
                                self.node(&[39], vec![target])
                            }
                        }
                    });
                }
                self.node(&[40, i64::from(receive.random), i64::from(receive.copy)], below)
            }
            Action::SetPriority(process, priority) => {
                let below = vec![self.process(*process)?, self.value(*priority, Domain::Plain)?];
                self.node(&[41], below)
            }
            Action::Indivisible(body) => {
                let guard = match &body.guard {
                    Guard::Free => self.node(&[42], Vec::new()),
                    Guard::Any(guards) => {
                        let guards = guards.iter().map(|guard| self.action(guard)).collect::<Result<_, _>>()?;
                        self.node(&[43], guards)
                    }
                };
                let mut below = vec![guard];
                let mut at = 0;
                while let Some(step) = body.steps.get(at) {
                    let together = self.steps_together(&body.steps, at, body.start).max(1);
                    let steps = &body.steps[at..at + together];
                    at += together;
                    if let ([_, .., IndivisibleStep::Do { next, .. }], true) = (steps, together > 1) {
                        let mut parts = Vec::new();
                        for step in steps {
                            if let IndivisibleStep::Do { action, .. } = step {
                                parts.push(self.action(action)?);
                            }
                        }
                        let mark = self.mark(&[48, together as i64, i64::from(*next)]);
                        below.push(Term::Node { mark, ordered: false, below: parts });
                        continue;
                    }
                    below.push(match step {
                        IndivisibleStep::Do { action, next, .. } => {
                            let action = self.action(action)?;
                            self.node(&[44, i64::from(*next)], vec![action])
                        }
                        IndivisibleStep::Choose(options) => {
                            let words: Vec<i64> =
                                [45].into_iter().chain(options.iter().map(|&option| i64::from(option))).collect();
                            self.node(&words, Vec::new())
                        }
                    });
                }
                self.node(&[46, i64::from(body.start)], below)
            }
            Action::End => self.node(&[47], Vec::new()),
        })
    }
}
