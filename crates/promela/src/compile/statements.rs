//! The statements of a process to elements, in Spin's order.
//!
//! Spin makes the elements inside a statement while it reads the statement, and the element of the statement itself
//! when it adds that to a sequence. So the compiler first prepares a statement and then adds it.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_source::Span;

use super::exclusive::Promise;
use super::flow::{Body, Chain, Element, ElementId, Jump, Kind, Label, SequenceId};
use super::names::{Shape, Symbol, Variable};
use super::{Compiled, Compiler, Wrong};
use crate::codes::{ARGUMENTS, LABEL, MISPLACED, SUSPICIOUS, WRONG_TYPE, counted};
use crate::program::{Action, ExpressionId, Frame, Node, Pattern, Print, ProcessType, Receive, Send, Sort};
use crate::syntax::tree::{
    Declaration, Declared, Expression, ExpressionKind, Initial, Reference, Sequence, Statement, StatementKind, Word,
    inner_statements,
};

/// A statement whose inner elements are made.
pub(super) enum Prepared {
    Simple(Kind),
    If(Vec<SequenceId>),
    Do(Vec<SequenceId>, usize),
    Unless(SequenceId, SequenceId),
    Atomic(SequenceId),
    DStep(SequenceId),
    Block(SequenceId),
    Labelled(Word, Vec<u32>, Box<Prepared>),
}

/// A process that is being compiled.
pub(super) struct Builder<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
    pub(super) body: Body,
    pub(super) frame: Frame,
    /// Sequences that are open: first and last element, when there are any.
    pub(super) open: Vec<Option<(ElementId, ElementId)>>,
    /// Loops that a `break` can leave.
    pub(super) loops: Vec<usize>,
    /// Do declarations still belong to the beginning of the process?
    beginning: bool,
    d_steps: u32,
    /// In a `trace`: only sends and receives.
    events: bool,
    pub(super) temporaries: u32,
}

impl Compiler<'_> {
    /// Compiles a proctype, `init`, or the body of a `trace`.
    pub(super) fn process_type(
        &mut self,
        name: &Word,
        parameters: Option<&[Declaration]>,
        body: &Sequence,
        end: Span,
        provided: Option<&Expression>,
        events: bool,
    ) -> Compiled<ProcessType> {
        self.names.open();
        let result = self.process_in_scope(name, parameters, body, end, provided, events);
        self.names.close();
        result
    }

    fn process_in_scope(
        &mut self,
        name: &Word,
        parameters: Option<&[Declaration]>,
        statements: &Sequence,
        end: Span,
        provided: Option<&Expression>,
        events: bool,
    ) -> Compiled<ProcessType> {
        let mut frame = Frame::default();
        let mut names = std::collections::HashMap::new();
        let mut heading = if parameters.is_some() { Ok(()) } else { Err(Wrong) };
        for declaration in parameters.unwrap_or_default() {
            for declared in &declaration.variables {
                if declared.length.is_some() || declared.initial.is_some() {
                    let message = "a parameter cannot be an array or have an initial value";
                    heading = self.complain(WRONG_TYPE, message, declared.name.span);
                    self.broken.insert(declared.name.text.clone());
                    continue;
                }
                match self.place(declaration, declared, false, &mut frame, false) {
                    Ok(variable) => {
                        names.insert(variable.name.clone(), variable);
                    }
                    Err(Wrong) => heading = Err(Wrong),
                }
            }
        }
        let count = frame.cells.len() as u32;
        let provided = provided.map(|provided| self.expression(provided)).transpose();
        self.in_d_step = false;
        let mut builder = Builder {
            compiler: self,
            body: Body::default(),
            frame,
            open: Vec::new(),
            loops: Vec::new(),
            beginning: true,
            d_steps: 0,
            events,
            temporaries: 0,
        };
        builder.open.push(None);
        let outcome = builder.statements(statements, &mut names);
        let ending = builder.element(Kind::End, end);
        builder.append(ending);
        let Builder { mut body, frame, open, .. } = builder;
        let number = self.names.process(&name.text);
        if let Some(number) = number {
            self.names.remote.insert(number, names);
        }
        let provided = match (heading.and(outcome), provided) {
            (Ok(()), Ok(provided)) => provided,
            _ => {
                self.check_jumps(name, statements);
                return Err(Wrong);
            }
        };
        let Some(Some((first, last))) = open.first().copied() else { return Err(Wrong) };
        body.sequences.push(Chain { first, last, extent: last });
        let whole = body.sequences.len() - 1;
        let mut compiled = self.transitions(body, whole, name, end)?;
        compiled.frame = frame;
        compiled.parameters = count;
        compiled.provided = provided;
        Ok(compiled)
    }

    /// Reports jumps to labels that a proctype with other mistakes does not have.
    fn check_jumps(&mut self, name: &Word, statements: &Sequence) {
        let (mut labels, mut jumps) = (HashSet::new(), Vec::new());
        let mut work: Vec<&Statement> = statements.iter().collect();
        while let Some(statement) = work.pop() {
            match &statement.kind {
                StatementKind::Labelled(label, inner) => {
                    labels.insert(label.text.clone());
                    work.push(inner);
                }
                StatementKind::Goto(label) => jumps.push(label),
                _ => work.extend(inner_statements(statement)),
            }
        }
        jumps.retain(|jump| !labels.contains(&jump.text) && !self.broken.contains(&jump.text));
        jumps.sort_by_key(|jump| jump.span.start);
        for jump in jumps {
            let _: Compiled<()> = self.no_label(&jump.text, labels.iter().map(|label| &**label), jump.span);
        }
        self.labels_of_wrong.insert(name.text.clone(), labels);
    }

    /// Notes that a proctype is the only one that sends to a channel or receives from it; there can be one of each.
    fn claim_channel(&mut self, channel: &Reference, receives: bool) {
        let name = &channel.name.text;
        let global = matches!(self.names.find(name), Some(Symbol::Variable(variable)) if variable.global);
        let (Some(current), true) = (self.current.clone(), global) else { return };
        let first = self.exclusive.entry((name.clone(), receives)).or_insert_with(|| current.clone()).clone();
        if first.text != current.text {
            let (word, what) = if receives { ("xr", "receives from") } else { ("xs", "sends to") };
            let message = format!(
                "`{word}` in `{}` and in `{}` contradict each other: both say that no other proctype {what} `{name}`",
                first.text, current.text
            );
            let _: Compiled<()> = self.complain(MISPLACED, message, channel.span);
        }
    }

    /// Notes what `xr` or `xs` promises.
    fn promise(&mut self, channel: ExpressionId, receives: bool, span: Span) {
        let by = self.current.as_ref().and_then(|current| self.names.process(&current.text));
        self.promises.extend(by.map(|by| Promise { by, channel, receives, span }));
    }

    /// Spin numbers the elements of a claim as well.
    pub(super) fn number_claim(&mut self, body: &Sequence) {
        let told = self.diagnostics.len();
        let enabled = self.enabled;
        let name = Word { text: ":never:".into(), span: body[0].span };
        let broken = self.broken.clone();
        let _ = self.process_type(&name, Some(&[]), body, body[0].span, None, false);
        self.diagnostics.truncate(told);
        self.broken = broken;
        self.enabled = enabled;
    }
}

/// How many values a format of `printf` prints.
fn conversions(format: &str) -> usize {
    let mut count = 0;
    let mut characters = format.trim_matches('"').chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '%' => count += usize::from(characters.next().is_some_and(|conversion| conversion != '%')),
            _ => {}
        }
    }
    count
}

impl Compiler<'_> {
    fn print(&mut self, format: Arc<str>, arguments: &[Expression], span: Span) -> Compiled<Kind> {
        let mut values = Vec::new();
        let mut wrong = false;
        for argument in arguments {
            let set = if let Some(Sort::Mtype(set)) = self.sort_of(argument) { Some(set) } else { None };
            match self.expand(argument, &[]) {
                Ok(expanded) => values.extend(expanded.into_iter().map(|value| (value, set))),
                Err(Wrong) => wrong = true,
            }
        }
        if wrong {
            return Err(Wrong);
        }
        let wanted = conversions(&format);
        if wanted != values.len() {
            let message = format!("this format prints {}, not {}", counted(wanted, "value"), values.len());
            self.warn(ARGUMENTS, message, span);
        }
        self.program.prints.push(Print { format, arguments: values });
        Ok(Kind::Print(self.program.prints.len() as u32 - 1))
    }
}

pub(super) type Declarations = std::collections::HashMap<Arc<str>, Variable>;

impl Builder<'_, '_> {
    fn element(&mut self, kind: Kind, span: Span) -> ElementId {
        let state = self.body.elements.len() as u32 + 1;
        let number = self.compiler.numbered;
        self.compiler.numbered += 1;
        self.body.elements.push(Element {
            kind,
            next: None,
            parts: Vec::new(),
            body: None,
            escapes: Vec::new(),
            atomic: false,
            atomic_end: false,
            d_step: 0,
            state,
            number,
            span,
            shown: None,
            done: false,
        });
        self.body.elements.len() - 1
    }

    /// Appends an element to the innermost open sequence.
    fn append(&mut self, element: ElementId) {
        if let Kind::Goto(_) = self.body.elements[element].kind
            && let Some(label) = self.body.label_of(element, &["accept", "end", "progress"])
        {
            // Such a label needs a state of its own.
            let skip = self.element(Kind::Skip, self.body.elements[element].span);
            self.body.labels[label].element = skip;
            self.append(skip);
        }
        let mut chain = self.open.last().copied().flatten();
        Self::link(&mut self.body, &mut chain, element);
        if let Some(open) = self.open.last_mut() {
            *open = chain;
        }
    }

    fn link(body: &mut Body, chain: &mut Option<(ElementId, ElementId)>, element: ElementId) {
        *chain = match *chain {
            None => Some((element, element)),
            Some((first, last)) => {
                body.elements[last].next = Some(element);
                Some((first, element))
            }
        };
    }

    pub(super) fn open_sequence(&mut self) {
        self.open.push(None);
        self.beginning = false;
    }

    pub(super) fn close_sequence(&mut self, span: Span) -> Compiled<SequenceId> {
        match self.open.pop().flatten() {
            Some((first, last)) => {
                self.body.sequences.push(Chain { first, last, extent: last });
                Ok(self.body.sequences.len() - 1)
            }
            None => self.compiler.complain(MISPLACED, "a sequence has at least one statement", span),
        }
    }

    /// Statements, and what they declare.
    pub(super) fn statements(&mut self, statements: &Sequence, names: &mut Declarations) -> Compiled<()> {
        let mut wrong = false;
        for statement in statements {
            wrong |= self.step(statement, names).is_err();
        }
        if wrong { Err(Wrong) } else { Ok(()) }
    }

    fn step(&mut self, statement: &Statement, names: &mut Declarations) -> Compiled<()> {
        self.compiler.poll()?;
        match &statement.kind {
            StatementKind::Declare(declaration) => self.declare(declaration, names),
            StatementKind::Exclusive { channels, receives } => {
                for channel in channels {
                    let (named, _) = self.compiler.channel(channel)?;
                    self.compiler.claim_channel(channel, *receives);
                    self.compiler.promise(named, *receives, channel.span);
                }
                Ok(())
            }
            _ => {
                let prepared = self.prepare(statement, names)?;
                self.add(prepared, statement.span);
                Ok(())
            }
        }
    }

    fn declare(&mut self, declaration: &Declaration, names: &mut Declarations) -> Compiled<()> {
        let mut outcome = Ok(());
        for declared in &declaration.variables {
            outcome = outcome.and(self.declare_one(declaration, declared, names));
        }
        outcome
    }

    fn declare_one(
        &mut self,
        declaration: &Declaration,
        declared: &Declared,
        names: &mut Declarations,
    ) -> Compiled<()> {
        let array_value = declared.length.is_some() && matches!(declared.initial, Some(Initial::Value(_)));
        let starts = self.beginning || array_value;
        let variable =
            self.compiler.place(declaration, declared, false, &mut self.frame, starts || declared.initial.is_none())?;
        names.insert(variable.name.clone(), variable.clone());
        if !self.beginning {
            self.declare_later(declared, &variable)?;
        }
        Ok(())
    }

    /// A declaration behind the first statement is a statement itself.
    fn declare_later(&mut self, declared: &Declared, variable: &Variable) -> Compiled<()> {
        let name = &declared.name;
        let span = name.span;
        let cell = |base| Reference { name: name.clone(), index: None, field: None, span: base };
        let kind = match (&declared.initial, variable.shape) {
            (Some(Initial::Channel(channel)), _) => {
                let message = format!("`{}` creates a channel: declare it at the start of the proctype", name.text);
                return self.compiler.complain(MISPLACED, message, channel.span);
            }
            (Some(Initial::List(_)), _) => {
                let message = format!("`{}` has a list of values: declare it at the start of the proctype", name.text);
                return self.compiler.complain(MISPLACED, message, span);
            }
            (Some(Initial::Value(_)), _) if variable.length.is_some() => {
                self.compiler.warn(SUSPICIOUS, "the process sets this array when it starts, not here", span);
                return Ok(());
            }
            (Some(Initial::Value(value)), Shape::Cell(_)) => self.assignment(&cell(span), value)?,
            (None, Shape::Cell(sort)) => {
                // Of an array only the first element is set, as Spin does.
                let place = crate::program::Place {
                    global: false,
                    base: variable.base,
                    sort,
                    indices: Box::default(),
                    scratch: false,
                    span,
                };
                self.compiler.program.places.push(place);
                let place = self.compiler.program.places.len() as u32 - 1;
                let zero = self.compiler.node(Node::Constant(0));
                Kind::Basic(Arc::new(Action::Assign(place, zero)))
            }
            (Some(Initial::Value(value)), Shape::Record(_)) => {
                return self.compiler.complain(
                    WRONG_TYPE,
                    "a record has no initial value of its own; its fields have",
                    value.span,
                );
            }
            (None, Shape::Record(_)) => Kind::Basic(Arc::new(Action::Skip)),
        };
        let element = self.element(kind, span);
        self.append(element);
        Ok(())
    }

    pub(super) fn assignment(&mut self, to: &Reference, value: &Expression) -> Compiled<Kind> {
        if &*to.name.text == "_priority" {
            let value = self.compiler.expression(value)?;
            let own = self.compiler.node(Node::Pid);
            self.compiler.program.uses_priority = true;
            return Ok(Kind::Basic(Arc::new(Action::SetPriority(own, value))));
        }
        let (place, sort) = match self.compiler.written(to) {
            Ok(written) => written,
            Err(Wrong) => {
                let _: Compiled<u32> = self.compiler.expression(value);
                return Err(Wrong);
            }
        };
        let value = self.compiler.value_for(value, sort)?;
        Ok(Kind::Basic(Arc::new(Action::Assign(place, value))))
    }

    fn sequence(
        &mut self,
        statements: &Sequence,
        scope: bool,
        names: &mut Declarations,
        span: Span,
    ) -> Compiled<SequenceId> {
        self.open_sequence();
        if scope {
            self.compiler.names.open();
        }
        let outcome = stacker::maybe_grow(128 << 10, 2 << 20, || self.statements(statements, names));
        if scope {
            self.compiler.names.close();
        }
        if outcome.is_err() {
            self.open.pop();
            return Err(Wrong);
        }
        self.close_sequence(span)
    }

    /// Adds a prepared statement to the innermost open sequence.
    pub(super) fn add(&mut self, prepared: Prepared, span: Span) {
        self.beginning = false;
        let (element, appended) = self.realise(prepared, span);
        if !appended {
            self.append(element);
        }
    }

    /// Makes the element of a prepared statement; selections append themselves.
    fn realise(&mut self, prepared: Prepared, span: Span) -> (ElementId, bool) {
        match prepared {
            Prepared::Simple(kind) => (self.element(kind, span), false),
            Prepared::Labelled(name, scopes, inner) => {
                let (element, appended) = self.realise(*inner, span);
                let known = self.body.labels.iter().any(|label| label.name == name.text && label.scopes == scopes);
                if known {
                    let message = format!("the label `{}` is declared twice", name.text);
                    let _: Compiled<()> = self.compiler.complain(LABEL, message, name.span);
                }
                self.body.labels.push(Label { name: name.text, scopes, element });
                (element, appended)
            }
            Prepared::Atomic(body) => (self.block(Kind::Atomic, body, span), false),
            Prepared::DStep(body) => (self.block(Kind::DStep, body, span), false),
            Prepared::Block(body) => (self.block(Kind::Block, body, span), false),
            Prepared::If(options) => {
                let element = self.element(Kind::If, span);
                let joint = self.element(Kind::Joint, span);
                self.options(element, joint, options, span);
                self.append(element);
                self.append(joint);
                (element, true)
            }
            Prepared::Do(options, number) => {
                let element = self.element(Kind::Do, span);
                let joint = self.element(Kind::Joint, span);
                self.options(element, joint, options, span);
                self.append(joint);
                let exit = self.element(Kind::Break, span);
                self.body.breaks[number] = Some(exit);
                self.append(element);
                self.append(exit);
                (element, true)
            }
            Prepared::Unless(main, escape) => {
                let element = self.element(Kind::Unless, span);
                let joint = self.element(Kind::Joint, span);
                self.body.elements[element].parts = vec![main, escape];
                self.join(main, joint);
                self.join(escape, joint);
                if !self.compiler.in_d_step {
                    self.body.attach_escape(main, escape);
                }
                self.append(element);
                self.append(joint);
                (element, true)
            }
        }
    }

    fn block(&mut self, kind: Kind, body: SequenceId, span: Span) -> ElementId {
        let element = self.element(kind, span);
        self.body.elements[element].body = Some(body);
        element
    }

    /// Appends a joint to a sequence that is closed.
    fn join(&mut self, sequence: SequenceId, joint: ElementId) {
        let last = self.body.sequences[sequence].last;
        self.body.elements[last].next = Some(joint);
        self.body.sequences[sequence].last = joint;
    }

    fn options(&mut self, element: ElementId, joint: ElementId, mut options: Vec<SequenceId>, span: Span) {
        let is_else =
            |body: &Body, option: SequenceId| matches!(body.elements[body.sequences[option].first].kind, Kind::Else);
        let otherwise: Vec<SequenceId> =
            options.iter().copied().filter(|&option| is_else(&self.body, option)).collect();
        if otherwise.len() > 1 {
            let place = self.body.elements[self.body.sequences[otherwise[1]].first].span;
            let _: Compiled<()> = self.compiler.complain(MISPLACED, "a selection has at most one `else`", place);
        }
        if let Some(&last) = otherwise.first() {
            options.retain(|&option| option != last);
            options.push(last);
            let channels = options.iter().any(|&option| {
                let first = self.body.sequences[option].first;
                matches!(&self.body.elements[first].kind, Kind::Basic(action) if matches!(**action, Action::Send(_) | Action::Receive(_)))
            });
            if channels && !self.compiler.in_d_step {
                let place = self.body.elements[self.body.sequences[last].first].span;
                self.compiler.warn(
                    SUSPICIOUS,
                    "`else` beside sends or receives: its value changes when other processes send or receive",
                    place,
                );
            }
        }
        for &option in &options {
            self.join(option, joint);
        }
        self.body.elements[element].parts = options;
        let _ = span;
    }

    /// Leaves out all but one of the skips that stand in a row inside an option.
    fn prune(&mut self, option: SequenceId) {
        let Chain { first, last, .. } = self.body.sequences[option];
        let (mut before, mut at, mut skips) = (None, Some(first), 0);
        while let Some(here) = at {
            let next = self.body.elements[here].next;
            let skip = matches!(self.body.elements[here].kind, Kind::Skip | Kind::Print(_));
            if skip && self.body.label_of(here, &[]).is_none() {
                skips += 1;
                let print = matches!(self.body.elements[here].kind, Kind::Print(_));
                if skips > 1 && !print && here != first && here != last {
                    if let Some(before) = before {
                        let previous: &mut Element = &mut self.body.elements[before];
                        previous.next = next;
                    }
                    self.body.elements[here].done = true;
                    at = next;
                    continue;
                }
            } else {
                skips = 0;
            }
            before = Some(here);
            at = next;
        }
    }

    fn prepare(&mut self, statement: &Statement, names: &mut Declarations) -> Compiled<Prepared> {
        let span = statement.span;
        if self.events {
            self.check_event(statement)?;
        }
        Ok(match &statement.kind {
            StatementKind::Labelled(name, inner) => {
                let scopes = self.compiler.names.path();
                if matches!(inner.kind, StatementKind::Declare(_) | StatementKind::Exclusive { .. }) {
                    return self.compiler.complain(LABEL, "a label cannot stand before a declaration", name.span);
                }
                let inner = stacker::maybe_grow(128 << 10, 2 << 20, || self.prepare(inner, names))?;
                Prepared::Labelled(name.clone(), scopes, Box::new(inner))
            }
            StatementKind::Atomic(body) => {
                let body = self.sequence(body, true, names, span)?;
                self.body.make_atomic(body);
                Prepared::Atomic(body)
            }
            StatementKind::DStep(body) => {
                let outer = std::mem::replace(&mut self.compiler.in_d_step, true);
                let body = self.sequence(body, true, names, span);
                self.compiler.in_d_step = outer;
                let body = body?;
                self.d_steps += 1;
                self.body.make_atomic(body);
                self.body.enter_d_step(body, self.d_steps);
                Prepared::DStep(body)
            }
            StatementKind::Block { body, .. } => Prepared::Block(self.sequence(body, true, names, span)?),
            StatementKind::If(options) => {
                let options = self.prepare_options(options, names, span)?;
                Prepared::If(options)
            }
            StatementKind::Do(options) => {
                let number = self.open_loop();
                let options = self.prepare_options(options, names, span);
                self.loops.pop();
                Prepared::Do(options?, number)
            }
            StatementKind::Unless(main, escape) => self.prepare_unless(main, escape, names)?,
            StatementKind::For { variable, from, to, body } => {
                let number = self.open_loop();
                let prepared = self.prepare_for(variable, from, to, body, names, span, number);
                self.loops.pop();
                prepared?
            }
            StatementKind::ForIn { variable, collection, body } => {
                let number = self.open_loop();
                let prepared = self.prepare_for_in(variable, collection, body, names, span, number);
                self.loops.pop();
                prepared?
            }
            StatementKind::Select { variable, from, to, plain } => {
                self.prepare_select(variable, from, to, *plain, span)?
            }
            StatementKind::Break => match self.loops.last() {
                Some(&number) => Prepared::Simple(Kind::Goto(Jump::Break(number))),
                None => return self.compiler.complain(MISPLACED, "`break` stands outside of a loop", span),
            },
            StatementKind::Goto(label) => {
                Prepared::Simple(Kind::Goto(Jump::Label(label.text.clone(), self.compiler.names.path())))
            }
            StatementKind::Broken => return Err(Wrong),
            _ => Prepared::Simple(self.simple(statement)?),
        })
    }

    fn check_event(&mut self, statement: &Statement) -> Compiled<()> {
        use StatementKind::*;
        match &statement.kind {
            Send { .. } | Receive { .. } | Labelled(..) | Goto(_) | Break | If(_) | Do(_) | Block { .. } => Ok(()),
            Atomic(_) | DStep(_) | Unless(..) => Ok(()),
            Condition(Expression { kind: ExpressionKind::Number(1), .. }) => Ok(()),
            _ => self.compiler.complain(
                MISPLACED,
                "a trace or notrace contains only sends, receives and control flow",
                statement.span,
            ),
        }
    }

    pub(super) fn open_loop(&mut self) -> usize {
        self.body.breaks.push(None);
        let number = self.body.breaks.len() - 1;
        self.loops.push(number);
        number
    }

    fn prepare_options(
        &mut self,
        options: &[Sequence],
        names: &mut Declarations,
        span: Span,
    ) -> Compiled<Vec<SequenceId>> {
        let mut made = Vec::new();
        let mut wrong = false;
        for option in options {
            match self.sequence(option, false, names, span) {
                Ok(sequence) => made.push(sequence),
                Err(Wrong) => wrong = true,
            }
        }
        if wrong {
            return Err(Wrong);
        }
        for &option in &made {
            self.prune(option);
        }
        Ok(made)
    }

    fn prepare_unless(&mut self, main: &Statement, escape: &Statement, names: &mut Declarations) -> Compiled<Prepared> {
        if self.compiler.in_d_step {
            let message =
                "inside a d_step, `unless` is a choice: the escape runs only if the statement before it cannot begin";
            self.compiler.warn(SUSPICIOUS, message, main.span);
        }
        let prepared_main = stacker::maybe_grow(128 << 10, 2 << 20, || self.prepare(main, names));
        let prepared_escape = stacker::maybe_grow(128 << 10, 2 << 20, || self.prepare(escape, names));
        let (prepared_main, prepared_escape) = (prepared_main?, prepared_escape?);
        let escape_sequence = match prepared_escape {
            Prepared::Block(sequence) => sequence,
            other => self.alone(other, escape.span)?,
        };
        Ok(match prepared_main {
            Prepared::Block(sequence) => Prepared::Unless(sequence, escape_sequence),
            Prepared::Labelled(name, scopes, inner) => {
                let (sequence, wrap): (SequenceId, fn(SequenceId) -> Prepared) = match *inner {
                    Prepared::Block(sequence) => (sequence, Prepared::Block),
                    Prepared::Atomic(sequence) => (sequence, Prepared::Atomic),
                    Prepared::DStep(sequence) => (sequence, Prepared::DStep),
                    other => {
                        let labelled = Prepared::Labelled(name, scopes, Box::new(other));
                        let sequence = self.alone(labelled, main.span)?;
                        return Ok(Prepared::Unless(sequence, escape_sequence));
                    }
                };
                // The label is lifted over the whole.
                let whole = self.alone(Prepared::Unless(sequence, escape_sequence), main.span)?;
                Prepared::Labelled(name, scopes, Box::new(wrap(whole)))
            }
            other => {
                let sequence = self.alone(other, main.span)?;
                Prepared::Unless(sequence, escape_sequence)
            }
        })
    }

    /// A sequence of one statement.
    pub(super) fn alone(&mut self, prepared: Prepared, span: Span) -> Compiled<SequenceId> {
        self.open_sequence();
        self.add(prepared, span);
        self.close_sequence(span)
    }

    pub(super) fn add_kind(&mut self, kind: Kind, span: Span) {
        self.add(Prepared::Simple(kind), span);
    }

    /// A statement without statements inside.
    fn simple(&mut self, statement: &Statement) -> Compiled<Kind> {
        let compiler = &mut *self.compiler;
        let span = statement.span;
        let action = match &statement.kind {
            StatementKind::Condition(condition) => match compiler.fold(condition) {
                Some(1) => return Ok(Kind::Skip),
                Some(0) => return Ok(Kind::Never),
                _ => Action::Condition(compiler.expression(condition)?),
            },
            StatementKind::Else => return Ok(Kind::Else),
            StatementKind::Assign(to, value) => return self.assignment(to, value),
            StatementKind::Step(variable, by) => return self.increment(variable, *by),
            StatementKind::Assert(condition) => {
                compiler.program.assertions.push(span);
                Action::Assert(compiler.expression(condition)?)
            }
            StatementKind::Print(format, arguments) => return compiler.print(format.clone(), arguments, span),
            StatementKind::PrintMtype(value) => {
                return compiler.print("%e".into(), std::slice::from_ref(value), span);
            }
            StatementKind::SetPriority(process, priority) => {
                let (process, priority) = (compiler.expression(process), compiler.expression(priority));
                Action::SetPriority(process?, priority?)
            }
            StatementKind::Send { channel, sorted, arguments } => {
                let channel = compiler.channel(channel);
                let kind = channel.as_ref().ok().and_then(|(_, kind)| kind.clone());
                let arguments = if self.events {
                    compiler.event_arguments(arguments, kind.as_deref(), span)
                } else {
                    compiler.send_arguments(arguments, kind.as_deref(), span)
                };
                let ((channel, _), arguments) = (channel?, arguments?);
                Action::Send(Box::new(Send { channel, sorted: *sorted, arguments }))
            }
            StatementKind::Receive { channel, random, copy, arguments } => {
                let channel = compiler.channel(channel);
                let kind = channel.as_ref().ok().and_then(|(_, kind)| kind.clone());
                let fields: Compiled<Vec<Pattern>> = compiler.patterns(arguments, kind.as_deref(), span);
                let ((channel, _), fields) = (channel?, fields?);
                Action::Receive(Box::new(Receive { channel, random: *random, copy: *copy, fields }))
            }
            _ => return compiler.complain(MISPLACED, "this statement cannot stand here", span),
        };
        Ok(Kind::Basic(Arc::new(action)))
    }
}
