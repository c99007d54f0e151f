//! Expressions to nodes, references to places.

use std::sync::Arc;

use trefoil_source::{Diagnostic, Place as Where, Span};

use super::names::{Shape, Symbol, Variable};
use super::{Compiled, Compiler, Wrong};
use crate::codes::{ARGUMENTS, D_STEP, MISPLACED, SUSPICIOUS, TOO_LARGE, UNKNOWN_NAME, WRONG_TYPE, counted};
use crate::evaluate::binary;
use crate::program::{
    ChannelKind, ExpressionId, Index, Node, Pattern, Place, PlaceId, Poll, Remote, RemoteTarget, Run, Sort,
};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Probe, Reference, Unary, Word};
use trefoil_source::nearest;

/// A reference that was looked up: its cells, and what is known about them.
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) shape: Shape,
    /// An array without an index.
    pub(crate) whole: Option<u32>,
    pub(crate) channel: Option<Arc<ChannelKind>>,
}

/// Names that need no declaration.
pub(super) const RESERVED: &[&str] = &["_pid", "_nr_pr", "_last", "_priority", "_"];

impl Compiler<'_> {
    pub(super) fn node(&mut self, node: Node) -> ExpressionId {
        self.program.expressions.push(node);
        (self.program.expressions.len() - 1) as ExpressionId
    }

    fn new_place(&mut self, place: Place) -> PlaceId {
        self.program.places.push(place);
        (self.program.places.len() - 1) as PlaceId
    }

    /// The value of an expression of constants.
    pub(super) fn fold(&self, expression: &Expression) -> Option<i32> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expression.kind {
            ExpressionKind::Number(number) => Some(*number),
            ExpressionKind::Variable(reference) if reference.index.is_none() && reference.field.is_none() => {
                match self.names.find(&reference.name.text) {
                    Some(Symbol::Constant { value, .. }) => Some(*value),
                    _ => None,
                }
            }
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.fold(inner)?;
                Some(match operator {
                    Unary::Minus => inner.wrapping_neg(),
                    Unary::Not => i32::from(inner == 0),
                    Unary::Complement => !inner,
                })
            }
            ExpressionKind::Binary(operator, left, right) => binary(*operator, self.fold(left)?, self.fold(right)?),
            ExpressionKind::Conditional(parts) => {
                let chosen = if self.fold(&parts[0])? != 0 { &parts[1] } else { &parts[2] };
                self.fold(chosen)
            }
            _ => None,
        })
    }

    /// An expression whose value goes to a cell of this sort.
    pub(super) fn value_for(&mut self, expression: &Expression, sort: Sort) -> Compiled<ExpressionId> {
        let given = self.sort_of(expression);
        match (given, sort) {
            (Some(Sort::Channel), Sort::Channel) => {}
            (Some(Sort::Channel), _) if matches!(sort, Sort::Bits(_) | Sort::Bool) => {
                return self.complain(WRONG_TYPE, "a channel does not fit into a `bit` or `bool`", expression.span);
            }
            (Some(Sort::Channel), _) => {
                self.warn(SUSPICIOUS, "this stores a channel as a number", expression.span);
            }
            (Some(Sort::Mtype(given)), Sort::Mtype(wanted)) if given != wanted => {
                let name = |set: u16| self.program.mtypes[usize::from(set)].0.clone();
                let message =
                    format!("expected an mtype of the set `{}`, found one of `{}`", name(wanted), name(given));
                self.warn(SUSPICIOUS, message, expression.span);
            }
            _ => {}
        }
        let constant = self.fold(expression);
        if let Some(value) = constant
            && sort.read(value as u32 & sort.mask()) != value
            && !(sort == Sort::Byte && (-128..0).contains(&value))
        {
            self.warn(
                SUSPICIOUS,
                format!(
                    "{value} does not fit in {} and becomes {}",
                    sort.words(),
                    sort.read(value as u32 & sort.mask())
                ),
                expression.span,
            );
        }
        self.expression(expression)
    }

    /// What a variable or constant is, when the expression is one.
    pub(super) fn sort_of(&self, expression: &Expression) -> Option<Sort> {
        let ExpressionKind::Variable(reference) = &expression.kind else { return None };
        let mut shape = match self.names.find(&reference.name.text)? {
            Symbol::Constant { set, .. } => return Some(Sort::Mtype(*set)),
            Symbol::Variable(variable) => variable.shape,
        };
        let mut field = reference.field.as_deref();
        while let Some(next) = field {
            let Shape::Record(record) = shape else { return None };
            let fields = &self.names.records[record].fields;
            shape = fields.iter().find(|field| field.name == next.name.text)?.shape;
            field = next.field.as_deref();
        }
        if let Shape::Cell(sort) = shape { Some(sort) } else { None }
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> Compiled<ExpressionId> {
        stacker::maybe_grow(128 << 10, 2 << 20, || self.expression_here(expression))
    }

    fn expression_here(&mut self, expression: &Expression) -> Compiled<ExpressionId> {
        if let Some(value) = self.fold(expression) {
            return Ok(self.node(Node::Constant(value)));
        }
        let span = expression.span;
        let node = match &expression.kind {
            ExpressionKind::Number(number) => Node::Constant(*number),
            ExpressionKind::Variable(reference) => return self.read(reference),
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.expression(inner)?;
                match operator {
                    Unary::Minus => Node::Negate(inner),
                    Unary::Not => Node::Not(inner),
                    Unary::Complement => Node::Complement(inner),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.suspect_mask(*operator, left, right, span);
                // Both sides are checked before a mistake in one of them ends this.
                let (left, right) = (self.expression(left), self.expression(right));
                Node::Binary(*operator, left?, right?)
            }
            ExpressionKind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                let parts = (self.expression(condition), self.expression(yes), self.expression(no));
                Node::Conditional(parts.0?, parts.1?, parts.2?)
            }
            ExpressionKind::Run { process, arguments, priority } => {
                if self.in_d_step {
                    return self.complain(D_STEP, "a d_step cannot run a process; write `atomic` instead", span);
                }
                let number = self.proctype(process)?;
                if priority.is_some_and(|priority| !(0..=255).contains(&priority)) {
                    return self.complain(TOO_LARGE, "a priority is a number from 1 to 255", span);
                }
                let arguments = self.run_arguments(number, arguments, span)?;
                let priority = priority.filter(|&priority| priority > 0).unwrap_or(1) as u8;
                self.program.runs.push(Run { process: number, arguments, priority, span });
                Node::Run(self.program.runs.len() as u32 - 1)
            }
            ExpressionKind::Length(channel) => Node::Length(self.channel(channel)?.0),
            ExpressionKind::Probe(probe, channel) => {
                let channel = self.channel(channel)?.0;
                match probe {
                    Probe::Full => Node::Full(channel),
                    Probe::Empty => Node::Empty(channel),
                    Probe::NotFull => Node::NotFull(channel),
                    Probe::NotEmpty => Node::NotEmpty(channel),
                }
            }
            ExpressionKind::Poll { channel, random, arguments } => {
                let (channel, kind) = self.channel(channel)?;
                let patterns = self.patterns(arguments, None, span)?;
                // A poll may look at the first fields only.
                if kind.as_deref().is_some_and(|kind| patterns.len() > kind.fields.len()) {
                    self.check_fields(patterns.len(), kind.as_deref(), span)?;
                }
                let fields = patterns
                    .into_iter()
                    .map(|pattern| match pattern {
                        Pattern::Store(_) => None,
                        Pattern::Match(value) => Some(value),
                    })
                    .collect();
                self.program.polls.push(Poll { channel, random: *random, fields, span });
                Node::Poll(self.program.polls.len() as u32 - 1)
            }
            ExpressionKind::Timeout => Node::Timeout,
            ExpressionKind::NonProgress => {
                if !self.in_claim {
                    return self.complain(MISPLACED, "`np_` belongs into a never claim", span);
                }
                Node::NonProgress
            }
            ExpressionKind::Enabled(process) => {
                if !self.in_claim {
                    self.warn(SUSPICIOUS, "`enabled` belongs into a never claim", span);
                }
                self.enabled.get_or_insert(span);
                Node::Enabled(self.expression(process)?)
            }
            ExpressionKind::ProgramCounter(process) => {
                if !self.in_claim {
                    self.warn(SUSPICIOUS, "`pc_value` belongs into a never claim", span);
                }
                Node::ProgramCounter(self.expression(process)?)
            }
            ExpressionKind::Priority(process) => Node::Priority(self.expression(process)?),
            ExpressionKind::RemoteLabel { process, index, label } => {
                let number = self.proctype(process)?;
                let own = self.current.as_ref().is_some_and(|current| current.text == process.text);
                if !own && !self.in_claim && !self.names.remote.contains_key(&number) {
                    let message =
                        format!("the proctype `{}` is declared below this place; Spin refuses that", process.text);
                    self.warn(SUSPICIOUS, message, process.span);
                }
                let index = index.as_ref().map(|index| self.expression(index)).transpose()?;
                let target = RemoteTarget::Label(0);
                self.program.remotes.push(Remote { process: number, index, target, span });
                self.remote_labels.push((self.program.remotes.len() - 1, label.text.clone(), label.span));
                Node::Remote(self.program.remotes.len() as u32 - 1)
            }
            ExpressionKind::RemoteVariable { process, index, variable } => {
                let number = self.proctype(process)?;
                let index = index.as_ref().map(|index| self.expression(index)).transpose()?;
                let own = self.current.as_ref().is_some_and(|current| current.text == process.text);
                let known = match self.names.find(&variable.name.text) {
                    Some(Symbol::Variable(known)) if own && !known.global => Some((**known).clone()),
                    _ => self.names.remote.get(&number).and_then(|names| names.get(&variable.name.text)).cloned(),
                };
                let Some(known) = known else {
                    if self.broken.contains(&variable.name.text) {
                        return Err(Wrong);
                    }
                    let message = format!(
                        "the proctype `{}` has no variable `{}` above this place",
                        process.text, variable.name.text
                    );
                    return self.complain(UNKNOWN_NAME, message, variable.span);
                };
                let found = self.select(known, variable)?;
                let Shape::Cell(sort) = found.shape else {
                    return self.complain(WRONG_TYPE, "this is a record, not a value", variable.span);
                };
                let place = self.new_place(Place { sort, ..found.place });
                self.program.remotes.push(Remote { process: number, index, target: RemoteTarget::Place(place), span });
                Node::Remote(self.program.remotes.len() as u32 - 1)
            }
            ExpressionKind::Temporal(name, _) => {
                return self.complain(MISPLACED, format!("`{name}` belongs into an ltl formula"), span);
            }
            ExpressionKind::Broken => return Err(Wrong),
        };
        Ok(self.node(node))
    }

    fn run_arguments(&mut self, process: u16, given: &[Expression], span: Span) -> Compiled<Vec<ExpressionId>> {
        let mut wanted = Vec::new();
        let Some(parameters) = self.names.parameters[usize::from(process)].clone() else {
            let _: Vec<Compiled<ExpressionId>> = given.iter().map(|argument| self.expression(argument)).collect();
            return Err(Wrong);
        };
        for declaration in parameters {
            for declared in &declaration.variables {
                // The mistake is reported where the proctype is compiled.
                let shape = self.parameter_shape(&declaration, declared).ok_or(Wrong)?;
                self.flatten(shape, &mut wanted);
            }
        }
        let mut arguments = Vec::new();
        let mut wrong = false;
        for argument in given {
            match self.expand(argument, &wanted[arguments.len().min(wanted.len())..]) {
                Ok(values) => arguments.extend(values),
                Err(Wrong) => wrong = true,
            }
        }
        if wrong {
            return Err(Wrong);
        }
        if arguments.len() != wanted.len() {
            let name = self.program.processes[usize::from(process)].name.clone();
            let wanted = counted(wanted.len(), "argument");
            let message = format!("the proctype `{name}` takes {wanted}, not {}", arguments.len());
            return self.complain(ARGUMENTS, message, span);
        }
        Ok(arguments)
    }

    fn parameter_shape(
        &mut self,
        declaration: &crate::syntax::tree::Declaration,
        declared: &crate::syntax::tree::Declared,
    ) -> Option<Shape> {
        if declared.length.is_some() || declared.initial.is_some() {
            return None;
        }
        let reported = self.diagnostics.len();
        let shape = self.shape_of(declaration, declared).ok();
        self.diagnostics.truncate(reported);
        shape
    }

    /// The number of a proctype by name.
    fn proctype(&mut self, name: &Word) -> Compiled<u16> {
        if let Some(number) = self.names.process(&name.text) {
            return Ok(number);
        }
        if self.broken.contains(&name.text) {
            return Err(Wrong);
        }
        let near = nearest(&name.text, self.names.proctypes());
        let help = near.map(|near| format!("did you mean `{near}`?"));
        self.unknown(format!("the proctype `{}` is not declared", name.text), name, help)
    }

    /// Reports a name that nothing declares: once, because its other uses are the same mistake.
    fn unknown<T>(&mut self, message: String, name: &Word, help: Option<String>) -> Compiled<T> {
        let wrong = Diagnostic::error(UNKNOWN_NAME, message, Where::Span(name.span));
        self.diagnostics.push(match help {
            Some(help) => wrong.help(help),
            None => wrong,
        });
        self.broken.insert(name.text.clone());
        Err(Wrong)
    }

    /// Warns of `flags & 1 == 0`, which compares before it masks.
    fn suspect_mask(&mut self, operator: Binary, left: &Expression, right: &Expression, span: Span) {
        let sign = match operator {
            Binary::BitAnd => "&",
            Binary::BitOr => "|",
            _ => return,
        };
        use Binary::*;
        let compares = |part: &Expression| {
            matches!(&part.kind, ExpressionKind::Binary(Equal | Different | Less | Greater | AtMost | AtLeast, ..))
        };
        // In brackets a part begins before its own first part.
        let bare = |part: &Expression| matches!(&part.kind, ExpressionKind::Binary(_, first, _) if first.span.start == part.span.start);
        if compares(left) != compares(right) && [left, right].into_iter().any(|part| compares(part) && bare(part)) {
            let message = format!("`{sign}` combines bits here, after the comparison beside it");
            let warning = Diagnostic::warning(SUSPICIOUS, message, Where::Span(span));
            let help = format!("write `{sign}{sign}` to combine conditions, or brackets around the `{sign}`");
            self.diagnostics.push(warning.help(help));
        }
    }

    /// The values of an argument: several when it is a record.
    pub(super) fn expand(&mut self, argument: &Expression, wanted: &[Sort]) -> Compiled<Vec<ExpressionId>> {
        if let ExpressionKind::Variable(reference) = &argument.kind
            && matches!(self.names.find(&reference.name.text), Some(Symbol::Variable(_)))
        {
            let found = self.find(reference)?;
            if let Shape::Record(_) = found.shape {
                return Ok(self.record_places(&found).into_iter().map(|place| self.node(Node::Place(place))).collect());
            }
        }
        let value = match wanted.first() {
            Some(&sort) => self.value_for(argument, sort)?,
            None => self.expression(argument)?,
        };
        Ok(vec![value])
    }

    /// The cells of a record, one place each.
    pub(super) fn record_places(&mut self, found: &Found) -> Vec<PlaceId> {
        let mut sorts = Vec::new();
        self.flatten(found.shape, &mut sorts);
        let places: Vec<Place> = sorts
            .into_iter()
            .enumerate()
            .map(|(at, sort)| Place { base: found.place.base + at as u32, sort, ..found.place.clone() })
            .collect();
        places.into_iter().map(|place| self.new_place(place)).collect()
    }

    fn read(&mut self, reference: &Reference) -> Compiled<ExpressionId> {
        let name = &*reference.name.text;
        if RESERVED.contains(&name) {
            let node = match name {
                "_pid" => Node::Pid,
                "_nr_pr" => Node::ProcessCount,
                "_last" => Node::Last,
                "_priority" => Node::OwnPriority,
                _ => return self.complain(MISPLACED, "`_` can be assigned but not read", reference.span),
            };
            return Ok(self.node(node));
        }
        let found = self.find(reference)?;
        let Shape::Cell(sort) = found.shape else {
            return self.complain(WRONG_TYPE, format!("`{name}` is a record, not a value"), reference.span);
        };
        if found.whole.is_some() {
            let message = format!("`{name}` is an array and needs an index");
            return self.complain(WRONG_TYPE, message, reference.span);
        }
        let simple = found.place.indices.is_empty() && sort != Sort::Short;
        let node = match (simple, found.place.global) {
            (true, true) => Node::Global(found.place.base),
            (true, false) => Node::Local(found.place.base),
            (false, _) => Node::Place(self.new_place(found.place)),
        };
        Ok(self.node(node))
    }

    /// A place that is written.
    pub(super) fn written(&mut self, reference: &Reference) -> Compiled<(PlaceId, Sort)> {
        let name = &*reference.name.text;
        if name == "_" {
            let place = Place {
                global: true,
                base: 0,
                sort: Sort::Int,
                indices: Box::default(),
                scratch: true,
                span: reference.span,
            };
            return Ok((self.new_place(place), Sort::Int));
        }
        if RESERVED.contains(&name) || matches!(self.names.find(name), Some(Symbol::Constant { .. })) {
            return self.complain(WRONG_TYPE, format!("`{name}` cannot be changed"), reference.span);
        }
        let found = self.find(reference)?;
        let Shape::Cell(sort) = found.shape else {
            return self.complain(
                WRONG_TYPE,
                format!("`{name}` is a record; set its fields one by one"),
                reference.span,
            );
        };
        if found.whole.is_some() {
            let message = format!("`{name}` is an array and needs an index");
            return self.complain(WRONG_TYPE, message, reference.span);
        }
        Ok((self.new_place(found.place), sort))
    }

    pub(super) fn find(&mut self, reference: &Reference) -> Compiled<Found> {
        let name = &reference.name;
        match self.names.find(&name.text) {
            Some(Symbol::Variable(variable)) => {
                let variable = (**variable).clone();
                self.select(variable, reference)
            }
            Some(Symbol::Constant { .. }) => {
                self.complain(WRONG_TYPE, format!("`{}` is a constant, not a variable", name.text), reference.span)
            }
            // The mistake is in its declaration, or an earlier use has been reported.
            None if self.broken.contains(&name.text) => {
                self.check_indices(reference);
                Err(Wrong)
            }
            None => {
                let near = nearest(&name.text, self.names.known().chain(["true", "false", "skip", "timeout"]));
                let near = near.map(|near| format!("did you mean `{near}`?"));
                let help = match &*name.text {
                    "continue" => Some("write `goto` to a label before the loop".to_string()),
                    "NULL" | "null" => Some("write a number: Promela has no null value".to_string()),
                    _ if self.names.process(&name.text).is_some() => Some(format!("write `run {}(…)`", name.text)),
                    _ => near,
                };
                self.check_indices(reference);
                self.unknown(format!("`{}` is not declared", name.text), name, help)
            }
        }
    }

    /// Reports a use that contradicts a declaration: once, because the mistake may be in the declaration.
    fn complain_once<T>(&mut self, message: String, span: Span) -> Compiled<T> {
        if self.diagnostics.iter().any(|known| known.message == message) {
            return Err(Wrong);
        }
        self.complain(WRONG_TYPE, message, span)
    }

    /// Checks the indices of a reference whose first name means nothing.
    fn check_indices(&mut self, reference: &Reference) {
        let mut at = Some(reference);
        while let Some(part) = at {
            if let Some(index) = &part.index {
                let _: Compiled<ExpressionId> = self.expression(index);
            }
            at = part.field.as_deref();
        }
    }

    /// Follows indices and fields.
    fn select(&mut self, variable: Variable, reference: &Reference) -> Compiled<Found> {
        let (global, mut base) = (variable.global, 0);
        let mut indices = Vec::new();
        let (mut variable, mut at) = (variable, reference);
        loop {
            base += variable.base;
            let mut cells = Vec::new();
            self.flatten(variable.shape, &mut cells);
            let stride = cells.len() as u32;
            let mut whole = None;
            match (&at.index, variable.length) {
                (Some(index), Some(length)) => match self.fold(index) {
                    Some(value) if value < 0 || value as u32 >= length => {
                        let message = format!(
                            "the index {value} is outside of `{}`, which has {}",
                            variable.name,
                            counted(length as usize, "element")
                        );
                        return self.complain(TOO_LARGE, message, index.span);
                    }
                    Some(value) => base += value as u32 * stride,
                    None => {
                        let value = self.expression(index)?;
                        indices.push(Index { value, length, stride });
                    }
                },
                (Some(index), None) => {
                    return self.complain_once(format!("`{}` is not an array", variable.name), index.span);
                }
                (None, length) => whole = length,
            }
            let Some(next) = &at.field else {
                let sort = if let Shape::Cell(sort) = variable.shape { sort } else { Sort::Int };
                let place = Place {
                    global,
                    base,
                    sort,
                    indices: indices.into_boxed_slice(),
                    scratch: false,
                    span: reference.span,
                };
                return Ok(Found { place, shape: variable.shape, whole, channel: variable.channel });
            };
            if whole.is_some() {
                return self.complain(
                    WRONG_TYPE,
                    format!("`{}` is an array and needs an index", variable.name),
                    at.span,
                );
            }
            let Shape::Record(record) = variable.shape else {
                return self.complain_once(format!("`{}` is not a record", variable.name), at.span);
            };
            let fields = &self.names.records[record].fields;
            let Some(field) = fields.iter().find(|field| field.name == next.name.text).cloned() else {
                let message = format!("`{}` has no field `{}`", variable.name, next.name.text);
                return self.complain(UNKNOWN_NAME, message, next.name.span);
            };
            (variable, at) = (field, next);
        }
    }

    /// A channel: its value, and what its messages are when that is known.
    pub(super) fn channel(&mut self, reference: &Reference) -> Compiled<(ExpressionId, Option<Arc<ChannelKind>>)> {
        let found = self.find(reference)?;
        let name = &reference.name.text;
        match found.shape {
            Shape::Cell(Sort::Channel) => {}
            Shape::Cell(Sort::Bits(1) | Sort::Bool) | Shape::Record(_) => {
                return self.complain_once(format!("`{name}` is not a channel"), reference.span);
            }
            Shape::Cell(_) => {
                self.warn(SUSPICIOUS, format!("`{name}` is not a `chan`, but is used as one"), reference.span)
            }
        }
        let kind = found.channel.clone();
        Ok((self.read(reference)?, kind))
    }

    /// After all process types are known: where their labels are.
    pub(super) fn resolve_remote_labels(&mut self) {
        for (remote, label, span) in std::mem::take(&mut self.remote_labels) {
            let process = &self.program.processes[usize::from(self.program.remotes[remote].process)];
            let wrong = self.labels_of_wrong.get(&process.name);
            if wrong.is_some_and(|labels| labels.contains(&label)) || self.broken.contains(&label) {
                continue;
            }
            let found = process.labels.iter().find(|(name, _)| *name == label).map(|(_, state)| *state);
            match found {
                Some(state) => self.program.remotes[remote].target = RemoteTarget::Label(state),
                None => {
                    let message = format!("the proctype `{}` has no label `{label}`", process.name);
                    let _: Compiled<()> = self.complain(crate::codes::LABEL, message, span);
                }
            }
        }
    }
}
