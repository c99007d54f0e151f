//! Scopes, types and declarations.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_source::{Diagnostic, Place, Span};

use super::{Compiled, Compiler, Wrong};
use crate::codes::{DECLARED_TWICE, MISPLACED, NOT_CONSTANT, SUSPICIOUS, TOO_LARGE, UNKNOWN_NAME, WRONG_TYPE};
use crate::program::{Cell, ChannelKind, ExpressionId, Frame, Initialiser, Node, ProcessType, ProcessTypeId, Sort};
use crate::syntax::tree::{
    ChannelType, Declaration, Declared, Expression, ExpressionKind, Initial, MtypeSet, Statement, StatementKind,
    TypeName, Unit, Visibility, Word, inner_statements, run_in, visit_all, visit_expressions,
};

/// Cells of a frame; a larger one is refused.
const MOST_CELLS: usize = 1 << 20;
/// Messages of a channel.
const MOST_MESSAGES: i32 = 1 << 16;

/// What a variable is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Cell(Sort),
    Record(usize),
}

/// A field of a record, or a variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) global: bool,
    /// The first cell, in its frame or record.
    pub(crate) base: u32,
    /// Elements, when it is an array.
    pub(crate) length: Option<u32>,
    pub(crate) shape: Shape,
    /// The type of its messages, if it starts with a channel.
    pub(crate) channel: Option<Arc<ChannelKind>>,
    /// The value it starts with, when that is a constant: what an array's length may name.
    pub(crate) constant: Option<i32>,
    pub(crate) hidden: bool,
    /// For a field of a record: what it starts with.
    pub(crate) initial: Option<Initial>,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) fields: Vec<Variable>,
    pub(crate) size: u32,
}

// Nearly all names are variables, so the space that constants leave unused is little.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(crate) enum Symbol {
    Constant { value: i32, set: u16 },
    Variable(Box<Variable>),
}

/// All names.
#[derive(Default)]
pub(crate) struct Names {
    global: HashMap<Arc<str>, Symbol>,
    /// Scopes of the process that is compiled, outermost first, each with its number.
    scopes: Vec<(u32, HashMap<Arc<str>, Symbol>)>,
    opened: u32,
    pub(crate) records: Vec<Record>,
    record_names: HashMap<Arc<str>, usize>,
    processes: HashMap<Arc<str>, ProcessTypeId>,
    /// For each process type, the names of its frame, for remote references.
    pub(crate) remote: HashMap<ProcessTypeId, HashMap<Arc<str>, Variable>>,
    /// The parameters of each process type as the model writes them; nothing when they contain a syntax error.
    pub(crate) parameters: Vec<Option<Vec<Declaration>>>,
}

impl Names {
    pub(crate) fn process(&self, name: &str) -> Option<ProcessTypeId> {
        self.processes.get(name).copied()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Symbol> {
        let local = self.scopes.iter().rev().find_map(|(_, scope)| scope.get(name));
        local.or_else(|| self.global.get(name))
    }

    /// The names of the proctypes.
    pub(crate) fn proctypes(&self) -> impl Iterator<Item = &str> {
        self.processes.keys().map(|name| &**name)
    }

    /// All names that are visible here.
    pub(crate) fn known(&self) -> impl Iterator<Item = &str> {
        let local = self.scopes.iter().flat_map(|(_, scope)| scope.keys());
        local.chain(self.global.keys()).map(|name| &**name)
    }

    pub(crate) fn open(&mut self) {
        self.opened += 1;
        self.scopes.push((self.opened, HashMap::new()));
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// The numbers of the open scopes.
    pub(crate) fn path(&self) -> Vec<u32> {
        self.scopes.iter().map(|(number, _)| *number).collect()
    }

    fn innermost(&mut self) -> &mut HashMap<Arc<str>, Symbol> {
        match self.scopes.last_mut() {
            Some((_, scope)) => scope,
            None => &mut self.global,
        }
    }
}

impl Compiler<'_> {
    /// Gives every proctype its number, so that it can be named before it is declared.
    pub(super) fn declare_processes(&mut self, units: &[Unit]) {
        for unit in units {
            let Unit::Process(process) = unit else { continue };
            let number = self.names.processes.len() as ProcessTypeId;
            if self.names.processes.contains_key(&process.name.text) {
                let _: Compiled<()> = self.complain(
                    DECLARED_TWICE,
                    format!("`{}` is declared twice", process.name.text),
                    process.name.span,
                );
                continue;
            }
            self.names.processes.insert(process.name.text.clone(), number);
            self.names.parameters.push(process.parameters.clone());
            self.program.processes.push(ProcessType {
                name: process.name.text.clone(),
                span: process.name.span,
                frame: Frame::default(),
                parameters: 0,
                start: 0,
                transitions: Vec::new(),
                statements: Vec::new(),
                valid_end: Vec::new(),
                progress: Vec::new(),
                accepting: Vec::new(),
                labels: Vec::new(),
                provided: None,
                deterministic: false,
            });
        }
    }

    /// Finds whether the model uses priorities and `_last`, which enlarge the state, and which labels remote references
    /// name.
    pub(super) fn find_reserved(&mut self, units: &[Unit]) {
        let (mut last, mut priority) = (false, false);
        let labels = &mut self.remote_names;
        visit_expressions(units, &mut |expression| match &expression.kind {
            ExpressionKind::Variable(reference) => {
                last |= &*reference.name.text == "_last";
                priority |= &*reference.name.text == "_priority";
            }
            ExpressionKind::Run { priority: given, .. } => priority |= given.is_some(),
            ExpressionKind::Priority(_) => priority = true,
            ExpressionKind::RemoteLabel { process, label, .. } => {
                labels.insert((process.text.clone(), label.text.clone()));
            }
            _ => {}
        });
        let mut work: Vec<&Statement> = Vec::new();
        for unit in units {
            if let Unit::Process(process) = unit {
                priority |= process.priority.is_some();
                work.extend(&process.body);
            }
        }
        while let Some(statement) = work.pop() {
            match &statement.kind {
                StatementKind::SetPriority(..) => priority = true,
                StatementKind::Assign(to, _) => priority |= &*to.name.text == "_priority",
                _ => work.extend(inner_statements(statement)),
            }
        }
        self.program.uses_last = last;
        self.program.uses_priority = priority;
    }

    pub(super) fn mtype(&mut self, declared: &MtypeSet) -> Compiled<()> {
        let set = match &declared.set {
            None => 0,
            Some(name) => self.mtype_set(name),
        };
        let mut twice = Ok(());
        // Spin counts the names of one declaration backwards.
        for name in declared.names.iter().rev() {
            let known = &mut self.program.mtypes[usize::from(set)].1;
            known.push(name.text.clone());
            let value = known.len() as i32;
            if value > 255 {
                return self.complain(TOO_LARGE, "an mtype set has at most 255 names", name.span);
            }
            if self.names.global.insert(name.text.clone(), Symbol::Constant { value, set }).is_some() {
                twice = self.complain(DECLARED_TWICE, format!("`{}` is declared twice", name.text), name.span);
            }
        }
        twice
    }

    fn mtype_set(&mut self, name: &Word) -> u16 {
        let sets = &mut self.program.mtypes;
        let found = sets.iter().position(|(known, _)| **known == *name.text);
        found.unwrap_or_else(|| {
            sets.push((name.text.to_string(), Vec::new()));
            sets.len() - 1
        }) as u16
    }

    pub(super) fn typedef(&mut self, name: &Word, fields: &[Declaration]) -> Compiled<()> {
        let declared = self.try_typedef(name, fields);
        if declared.is_err() {
            self.broken.insert(name.text.clone());
        }
        declared
    }

    fn try_typedef(&mut self, name: &Word, fields: &[Declaration]) -> Compiled<()> {
        let mut record = Record { fields: Vec::new(), size: 0 };
        for declaration in fields {
            for declared in &declaration.variables {
                let mut field = self.variable(declaration, declared, false)?;
                field.base = record.size;
                record.size = self.grown(record.size, &field, declared.name.span)?;
                field.initial = declared.initial.clone();
                if record.fields.iter().any(|other| other.name == field.name) {
                    return self.complain(DECLARED_TWICE, format!("`{}` is declared twice", field.name), field.span);
                }
                record.fields.push(field);
            }
        }
        let number = self.names.records.len();
        self.names.records.push(record);
        if self.names.record_names.insert(name.text.clone(), number).is_some() {
            return self.complain(DECLARED_TWICE, format!("`{}` is declared twice", name.text), name.span);
        }
        Ok(())
    }

    fn size(&self, shape: Shape) -> u32 {
        match shape {
            Shape::Cell(_) => 1,
            Shape::Record(record) => self.names.records[record].size,
        }
    }

    fn grown(&mut self, size: u32, variable: &Variable, span: Span) -> Compiled<u32> {
        let grown = u64::from(size) + u64::from(self.size(variable.shape)) * u64::from(variable.length.unwrap_or(1));
        match u32::try_from(grown) {
            Ok(grown) if (grown as usize) <= MOST_CELLS => Ok(grown),
            _ => self.complain(TOO_LARGE, "the variables of this frame are too many", span),
        }
    }

    fn sort(&mut self, name: &TypeName, width: Option<(i32, Span)>, span: Span) -> Compiled<Shape> {
        if let (Some((_, place)), false) = (width, matches!(name, TypeName::Unsigned)) {
            return self.complain(WRONG_TYPE, "only `unsigned` takes a number of bits", place);
        }
        Ok(Shape::Cell(match name {
            TypeName::Bit => Sort::Bits(1),
            TypeName::Bool => Sort::Bool,
            TypeName::Byte => Sort::Byte,
            TypeName::Short => Sort::Short,
            TypeName::Int => Sort::Int,
            TypeName::Unsigned => match width {
                Some((bits @ 1..=31, _)) => Sort::Bits(bits as u8),
                Some((_, place)) => {
                    return self.complain(TOO_LARGE, "an unsigned has 1 to 31 bits; `int` has 32", place);
                }
                None => {
                    return self.complain(
                        WRONG_TYPE,
                        "an unsigned needs its number of bits, as in `unsigned x : 5`",
                        span,
                    );
                }
            },
            TypeName::Pid => Sort::Pid,
            TypeName::Channel => Sort::Channel,
            TypeName::Mtype(None) => Sort::Mtype(0),
            TypeName::Mtype(Some(set)) => Sort::Mtype(self.mtype_set(set)),
            TypeName::Record(record) => match self.names.record_names.get(&record.text) {
                Some(&record) => return Ok(Shape::Record(record)),
                // The mistake is in its declaration.
                None if self.broken.contains(&record.text) => return Err(Wrong),
                None => {
                    return self.complain(
                        UNKNOWN_NAME,
                        format!("the type `{}` is not declared", record.text),
                        record.span,
                    );
                }
            },
        }))
    }

    /// What a variable of a declaration is made of.
    pub(super) fn shape_of(&mut self, declaration: &Declaration, declared: &Declared) -> Compiled<Shape> {
        self.sort(&declaration.type_name, declared.width, declared.name.span)
    }

    /// A variable without its place in a frame.
    fn variable(&mut self, declaration: &Declaration, declared: &Declared, global: bool) -> Compiled<Variable> {
        let mut shape = self.sort(&declaration.type_name, declared.width, declared.name.span)?;
        let is_bit = matches!(shape, Shape::Cell(sort) if sort.is_bit());
        if declared.length.is_some() && is_bit && self.wide.contains(&declared.name.text) {
            shape = Shape::Cell(Sort::Byte);
        }
        let length = match &declared.length {
            None => None,
            Some(length) => {
                let count = self.array_length(length)?;
                if count < 1 || count as usize > MOST_CELLS {
                    return self.complain(TOO_LARGE, format!("an array cannot have {count} elements"), length.span);
                }
                Some(count as u32)
            }
        };
        let channel = match &declared.initial {
            Some(Initial::Channel(channel)) => {
                if shape != Shape::Cell(Sort::Channel) {
                    return self.complain(WRONG_TYPE, "only a `chan` variable starts with a channel", channel.span);
                }
                Some(Arc::new(self.channel_kind(channel, &declared.name)?))
            }
            _ => None,
        };
        let constant = match &declared.initial {
            Some(Initial::Value(value)) => self.fold(value),
            None => Some(0),
            _ => None,
        };
        Ok(Variable {
            name: declared.name.text.clone(),
            span: declared.name.span,
            global,
            base: 0,
            length,
            shape,
            channel,
            constant,
            hidden: declaration.visibility == Visibility::Hidden,
            initial: None,
        })
    }

    /// The length of an array: a constant, or a variable that starts with one.
    fn array_length(&mut self, length: &Expression) -> Compiled<i32> {
        if let ExpressionKind::Variable(reference) = &length.kind
            && let (Some(Symbol::Variable(variable)), None, None) =
                (self.names.find(&reference.name.text), &reference.index, &reference.field)
        {
            let count = variable.constant.filter(|&count| count > 0).unwrap_or(1);
            let message =
                format!("the length of an array is a constant: `{}` has the value {count} here", reference.name.text);
            self.warn(crate::codes::SUSPICIOUS, message, length.span);
            return Ok(count);
        }
        self.constant(length)
    }

    pub(super) fn constant(&mut self, expression: &Expression) -> Compiled<i32> {
        match self.fold(expression) {
            Some(value) => Ok(value),
            None if self.mentions_broken(expression) => Err(Wrong),
            None if self.mentions_unknown(expression) => self.expression(expression).and(Err(Wrong)),
            None => self.complain(NOT_CONSTANT, "this expression is not a constant", expression.span),
        }
    }

    /// Does an expression contain a syntax error, or a name whose declaration is wrong?
    fn mentions_broken(&self, expression: &Expression) -> bool {
        let mut found = false;
        visit_all(vec![expression], &mut |part| {
            found |= match &part.kind {
                ExpressionKind::Broken => true,
                ExpressionKind::Variable(reference) => self.broken.contains(&reference.name.text),
                _ => false,
            }
        });
        found
    }

    /// Does an expression contain a name that is not declared?
    fn mentions_unknown(&self, expression: &Expression) -> bool {
        let mut found = false;
        visit_all(vec![expression], &mut |part| {
            if let ExpressionKind::Variable(reference) = &part.kind {
                let name = &*reference.name.text;
                found |= self.names.find(name).is_none() && !super::expressions::RESERVED.contains(&name);
            }
        });
        found
    }

    fn channel_kind(&mut self, channel: &ChannelType, name: &Word) -> Compiled<ChannelKind> {
        let capacity = self.constant(&channel.capacity)?;
        if !(0..=MOST_MESSAGES).contains(&capacity) {
            return self.complain(
                TOO_LARGE,
                format!("a channel cannot hold {capacity} messages"),
                channel.capacity.span,
            );
        }
        let mut fields = Vec::new();
        for (field, span) in &channel.fields {
            match self.sort(field, None, *span)? {
                Shape::Cell(sort) => fields.push(sort),
                Shape::Record(record) => self.flatten(Shape::Record(record), &mut fields),
            }
        }
        if capacity as usize * fields.len() > MOST_CELLS {
            return self.complain(TOO_LARGE, "this channel is too large", channel.span);
        }
        let is_record = matches!(&channel.fields[..], [(TypeName::Record(_), _)]);
        let name = name.text.to_string();
        Ok(ChannelKind { capacity: capacity as u32, fields, is_record, name, span: channel.span })
    }

    /// The sorts of the cells of a shape.
    pub(super) fn flatten(&self, shape: Shape, into: &mut Vec<Sort>) {
        match shape {
            Shape::Cell(sort) => into.push(sort),
            Shape::Record(record) => {
                for field in &self.names.records[record].fields {
                    for _ in 0..field.length.unwrap_or(1) {
                        self.flatten(field.shape, into);
                    }
                }
            }
        }
    }

    pub(super) fn global(&mut self, declaration: &Declaration) -> Compiled<()> {
        let mut outcome = Ok(());
        for declared in &declaration.variables {
            let mut frame = std::mem::take(&mut self.program.globals);
            let variable = self.place(declaration, declared, true, &mut frame, true);
            self.program.globals = frame;
            outcome = outcome.and(variable.map(|_| ()));
        }
        outcome
    }

    /// Gives a variable its cells in a frame, and says what they start with when `starts` is set.
    pub(super) fn place(
        &mut self,
        declaration: &Declaration,
        declared: &Declared,
        global: bool,
        frame: &mut Frame,
        starts: bool,
    ) -> Compiled<Variable> {
        let placed = self.try_to_place(declaration, declared, global, frame, starts);
        if placed.is_err() {
            self.broken.insert(declared.name.text.clone());
        }
        placed
    }

    fn try_to_place(
        &mut self,
        declaration: &Declaration,
        declared: &Declared,
        global: bool,
        frame: &mut Frame,
        starts: bool,
    ) -> Compiled<Variable> {
        if let Some(span) = declared.initial.as_ref().and_then(run_in) {
            return self.complain(MISPLACED, "an initial value cannot contain `run`; assign it in a statement", span);
        }
        if !global {
            self.warn_of_hiding(&declared.name);
        }
        let mut variable = self.variable(declaration, declared, global)?;
        variable.base = frame.cells.len() as u32;
        self.grown(variable.base, &variable, declared.name.span)?;
        if variable.hidden && !global {
            return self.complain(WRONG_TYPE, "only a global variable can be hidden", variable.span);
        }
        if self.names.innermost().contains_key(&variable.name) {
            let message = format!("`{}` is declared twice in one scope", variable.name);
            return self.complain(DECLARED_TWICE, message, variable.span);
        }
        let count = variable.length.unwrap_or(1);
        for element in 0..count {
            let name = match variable.length {
                Some(_) => format!("{}[{element}]", variable.name),
                None => variable.name.to_string(),
            };
            self.cells(variable.shape, &name, &variable, frame, starts)?;
        }
        self.names.innermost().insert(variable.name.clone(), Symbol::Variable(Box::new(variable.clone())));
        if starts {
            self.initialise(&variable, declared.initial.as_ref(), frame)?;
            if frame.channels.len() > super::MOST_CHANNELS {
                let message = format!("a model has at most {} channels at a time", super::MOST_CHANNELS);
                return self.complain(TOO_LARGE, message, declared.name.span);
            }
        }
        Ok(variable)
    }

    /// Spin takes a name from an outer scope for the same variable, and refuses the second declaration.
    fn warn_of_hiding(&mut self, name: &Word) {
        if self.names.innermost().contains_key(&name.text) {
            return;
        }
        let Some(outer) = self.names.find(&name.text) else { return };
        let place = if let Symbol::Variable(outer) = outer { Some(outer.span) } else { None };
        let message = format!("this `{}` hides a variable with the same name; Spin refuses that", name.text);
        let warning = Diagnostic::warning(SUSPICIOUS, message, Place::Span(name.span));
        self.diagnostics.push(match place {
            Some(place) => warning.also(Place::Span(place), "the hidden variable"),
            None => warning,
        });
    }

    /// Adds the cells of a shape.
    fn cells(
        &mut self,
        shape: Shape,
        name: &str,
        variable: &Variable,
        frame: &mut Frame,
        starts: bool,
    ) -> Compiled<()> {
        let record = match shape {
            Shape::Cell(sort) => {
                frame.cells.push(Cell { name: name.to_string(), sort, hidden: variable.hidden, span: variable.span });
                return Ok(());
            }
            Shape::Record(record) => record,
        };
        for field in self.names.records[record].fields.clone() {
            let from = frame.cells.len() as u32;
            for element in 0..field.length.unwrap_or(1) {
                let name = match field.length {
                    Some(_) => format!("{name}.{}[{element}]", field.name),
                    None => format!("{name}.{}", field.name),
                };
                self.cells(field.shape, &name, variable, frame, starts)?;
            }
            if starts && field.initial.is_some() {
                let placed = Variable { base: from, ..field.clone() };
                self.initialise(&placed, field.initial.as_ref(), frame)?;
            }
        }
        Ok(())
    }

    fn initialise(&mut self, variable: &Variable, initial: Option<&Initial>, frame: &mut Frame) -> Compiled<()> {
        let stride = self.size(variable.shape);
        let count = variable.length.unwrap_or(1);
        match initial {
            None => {}
            Some(Initial::Channel(_)) => {
                let Some(kind) = &variable.channel else { return Ok(()) };
                for element in 0..count {
                    let channel = frame.channels.len() as u32;
                    let name = frame.cells[(variable.base + element * stride) as usize].name.clone();
                    frame.channels.push(ChannelKind { name, ..(**kind).clone() });
                    frame.initial.push(Initialiser::Channel { cell: variable.base + element, channel });
                }
            }
            Some(Initial::Value(value)) => {
                let Shape::Cell(sort) = variable.shape else {
                    return self.complain(
                        WRONG_TYPE,
                        "a record has no initial value of its own; its fields have",
                        value.span,
                    );
                };
                let value = self.value_for(value, sort)?;
                for element in 0..count {
                    frame.initial.push(Initialiser::Value { cell: variable.base + element, value });
                }
            }
            Some(Initial::List(values)) => {
                let (Shape::Cell(sort), Some(_)) = (variable.shape, variable.length) else {
                    return self.complain(
                        WRONG_TYPE,
                        "only an array of numbers takes a list of initial values",
                        variable.span,
                    );
                };
                if values.len() > count as usize {
                    return self.complain(
                        TOO_LARGE,
                        "the list of initial values is longer than the array",
                        variable.span,
                    );
                }
                let mut last: Option<ExpressionId> = None;
                for element in 0..count {
                    // The last value stands for all that follow.
                    if let Some(value) = values.get(element as usize) {
                        last = Some(self.value_for(value, sort)?);
                    }
                    let value = last.unwrap_or_else(|| self.node(Node::Constant(0)));
                    frame.initial.push(Initialiser::Value { cell: variable.base + element, value });
                }
            }
        }
        Ok(())
    }
}
