//! The types of expressions.

use super::report::arguments;
use super::*;

impl Checker<'_> {
    pub(super) fn infer(&mut self, id: ExpressionId) -> Checked {
        if self.control.check().is_err() {
            self.gave_up = true;
            return Err(Failed);
        }
        stacker::maybe_grow(96 * 1024, 4 * 1024 * 1024, || self.infer_here(id))
    }

    /// Infers a type and makes it the expected one.
    pub(super) fn expect(&mut self, id: ExpressionId, expected: T) -> Checked {
        let found = self.infer(id)?;
        self.unify(expected, found, self.tree.expression_span(id))
    }

    /// Expects one of the types without parts.
    fn expect_node(&mut self, id: ExpressionId, node: Node) -> Checked {
        let found = self.infer(id)?;
        if self.solver.arena.node(found) == node {
            return Ok(found);
        }
        // The expectation comes from the operator, not from any place of its own.
        let span = self.tree.expression_span(id);
        self.here(Span { end: span.start, ..span });
        let expected = self.solver.arena.make(node);
        self.unify(expected, found, span)
    }

    pub(super) fn expect_process(&mut self, id: ExpressionId) -> Checked {
        let found = self.expect_node(id, Node::Proc);
        if found.is_err() {
            self.hint_at_process(id);
        }
        found
    }

    /// Expects a set of events.
    pub(super) fn expect_events(&mut self, id: ExpressionId) -> Checked {
        let span = self.tree.expression_span(id);
        let found = self.infer(id)?;
        self.here(Span { end: span.start, ..span });
        let event = self.solver.arena.make(Node::Event);
        let events = self.solver.arena.set(event);
        let unified = self.unify(events, found, span);
        if unified.is_err() {
            self.hint_at_events(id);
        }
        unified
    }

    fn expect_sequence(&mut self, id: ExpressionId) -> Checked {
        let span = self.tree.expression_span(id);
        let found = self.infer(id)?;
        self.here(Span { end: span.start, ..span });
        let element = self.solver.arena.fresh();
        let sequence = self.solver.arena.sequence(element);
        self.unify(sequence, found, span)
    }

    /// Expects something that becomes a `base` after some dots.
    fn expect_extendable(&mut self, id: ExpressionId, base: T) -> Checked {
        let found = self.infer(id)?;
        let span = self.tree.expression_span(id);
        self.here(Span { end: span.start, ..span });
        let variable = self.solver.arena.fresh();
        let extendable = self.solver.arena.make(Node::Extendable(base, variable));
        self.unify(extendable, found, span)
    }

    fn same(&mut self, list: List<ExpressionId>, span: Span) -> Checked {
        let tree = self.tree;
        let Some((&first, others)) = tree.list(list).split_first() else {
            self.here(span);
            return Ok(self.solver.arena.fresh());
        };
        let t = self.infer(first)?;
        for &other in others {
            self.expect(other, t)?;
        }
        Ok(t)
    }

    fn infer_here(&mut self, id: ExpressionId) -> Checked {
        let tree = self.tree;
        let span = tree.expression_span(id);
        self.here(span);
        let node = match *tree.expression(id) {
            // What types the parts should have depends on text that was not read.
            Expression::Error(_) | Expression::Wildcard | Expression::Both(..) => Node::Wrong,
            Expression::Name(name) => return Ok(self.used(id, name)),
            Expression::Integer(_) => Node::Int,
            Expression::Boolean(_) => Node::Bool,
            Expression::Character(_) => Node::Char,
            Expression::String(_) => Node::Sequence(self.solver.arena.make(Node::Char)),
            Expression::Unary { operator, operand } => match operator {
                UnaryOperator::Not => {
                    self.expect_node(operand, Node::Bool)?;
                    Node::Bool
                }
                UnaryOperator::Negate => {
                    self.expect_node(operand, Node::Int)?;
                    Node::Int
                }
                UnaryOperator::Length => {
                    self.expect_sequence(operand)?;
                    Node::Int
                }
            },
            Expression::Binary { operator, left, right } => return self.binary(operator, left, right, span),
            Expression::Synchronised { left, events, right, .. } => {
                self.expect_process(left)?;
                self.expect_process(right)?;
                self.expect_events(events)?;
                Node::Proc
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                self.expect_process(left)?;
                self.expect_process(right)?;
                self.expect_events(left_alphabet)?;
                self.expect_events(right_alphabet)?;
                Node::Proc
            }
            Expression::Link { left, ties, statements, right } => {
                self.expect_process(left)?;
                self.expect_process(right)?;
                self.statements(CollectionKind::Set, statements)?;
                self.ties(ties)?;
                Node::Proc
            }
            Expression::Rename { process, renames, statements } => {
                self.expect_process(process)?;
                self.statements(CollectionKind::Set, statements)?;
                self.ties(renames)?;
                Node::Proc
            }
            Expression::Prefix { channel, fields, process } => {
                self.prefix(channel, fields, span)?;
                self.expect_process(process)?;
                Node::Proc
            }
            Expression::Apply { function, arguments } => return self.apply(function, arguments, span),
            Expression::Tuple(list) => {
                let mut parts = Vec::with_capacity(list.len());
                for &part in tree.list(list) {
                    parts.push(self.infer(part)?);
                }
                Node::Tuple(self.solver.arena.list(&parts))
            }
            Expression::Collection { kind, items, statements } => {
                return self.collection(kind, items, statements, span);
            }
            Expression::Map(pairs) => self.map(pairs, span)?,
            Expression::If { condition, then, otherwise } => {
                self.expect_node(condition, Node::Bool)?;
                let t = self.infer(then)?;
                return self.expect(otherwise, t);
            }
            Expression::Let { declarations, body } => {
                self.declarations(tree.list(declarations), groups::Kind::Let);
                return self.infer(body);
            }
            Expression::Lambda { parameters, body } => {
                for &pattern in tree.list(parameters) {
                    self.pattern(pattern)?;
                }
                let result = self.infer(body)?;
                let mut patterns = Vec::with_capacity(parameters.len());
                for &pattern in tree.list(parameters) {
                    patterns.push(self.pattern(pattern)?);
                }
                Node::Function(self.solver.arena.list(&patterns), result)
            }
            Expression::Replicated { operator, statements, body } => {
                self.replicated(operator, statements, body)?;
                Node::Proc
            }
        };
        self.here(span);
        Ok(self.solver.arena.make(node))
    }

    fn binary(&mut self, operator: BinaryOperator, left: ExpressionId, right: ExpressionId, span: Span) -> Checked {
        use BinaryOperator::*;
        let node = match operator {
            Hide | Project => {
                self.expect_process(left)?;
                self.expect_events(right)?;
                Node::Proc
            }
            Interleave | InternalChoice | ExternalChoice | Interrupt | SlidingChoice | Sequential => {
                self.expect_process(left)?;
                self.expect_process(right)?;
                Node::Proc
            }
            Guard => {
                self.expect_node(left, Node::Bool)?;
                self.expect_process(right)?;
                Node::Proc
            }
            Dot => {
                let (left, right) = (self.infer(left)?, self.infer(right)?);
                Node::Dot(left, right)
            }
            And | Or => {
                self.expect_node(left, Node::Bool)?;
                self.expect_node(right, Node::Bool)?;
                Node::Bool
            }
            Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual => {
                let t = self.infer(left)?;
                let t = self.expect(right, t)?;
                let constraint = if matches!(operator, Equal | NotEqual) { EQ } else { ORD };
                self.constrain(constraint, t, span)?;
                Node::Bool
            }
            Add | Subtract | Multiply | Divide | Remainder => {
                self.expect_node(left, Node::Int)?;
                self.expect_node(right, Node::Int)?;
                Node::Int
            }
            Concatenate => {
                let t = self.expect_sequence(left)?;
                return self.expect(right, t);
            }
        };
        self.here(span);
        Ok(self.solver.arena.make(node))
    }

    fn apply(&mut self, function: ExpressionId, list: List<ExpressionId>, span: Span) -> Checked {
        let tree = self.tree;
        let found = self.infer(function)?;
        let at = tree.expression_span(function);
        self.here(at);
        let (wanted, result) = match self.solver.arena.node(found) {
            Node::Wrong => {
                for &argument in tree.list(list) {
                    self.infer(argument)?;
                }
                return Ok(self.wrong());
            }
            Node::Function(parts, result) if parts.len() == list.len() => {
                (self.solver.arena.parts(parts).to_vec(), result)
            }
            Node::Function(parts, _) => {
                let message = format!("this function takes {}, not {}", arguments(parts.len()), list.len());
                let text = self.text(found);
                let failed = self.report(codes::ARGUMENT_COUNT, message, span);
                self.note(format!("its type is `{text}`"));
                return Err(failed);
            }
            Node::Variable { rigid: None, .. } => {
                let wanted: Vec<T> = (0..list.len()).map(|_| self.solver.arena.fresh()).collect();
                let result = self.solver.arena.fresh();
                let expected = self.solver.arena.function(&wanted, result);
                self.unify(expected, found, at)?;
                (wanted, result)
            }
            _ => {
                let text = self.text(found);
                let message = format!("this is `{text}`, not a function");
                return Err(self.report(codes::NOT_A_FUNCTION, message, at));
            }
        };
        let mut types = Vec::with_capacity(list.len());
        for &argument in tree.list(list) {
            types.push(self.infer(argument)?);
        }
        for ((&argument, &expected), &found) in tree.list(list).iter().zip(&wanted).zip(&types) {
            let place = tree.expression_span(argument);
            self.here(place);
            // A function's own dots are evaluated when it is defined, but it may be in the middle of that now.
            let found = self.evaluate(found, place)?;
            let expected = self.evaluate(expected, place)?;
            let unified = self.unify_directed(expected, found, place);
            if unified.is_err() {
                self.hint_at_operation(function, list);
            }
            unified?;
        }
        Ok(result)
    }

    fn note(&mut self, note: String) {
        if let Some(last) = self.diagnostics.last_mut() {
            last.notes.push(note);
        }
    }

    fn collection(&mut self, kind: CollectionKind, items: Items, statements: List<Statement>, span: Span) -> Checked {
        let tree = self.tree;
        let from = match kind {
            CollectionKind::Sequence => CollectionKind::Sequence,
            _ => CollectionKind::Set,
        };
        self.statements(from, statements)?;
        let element = match items {
            Items::From(first) => self.expect_node(first, Node::Int)?,
            Items::Range(first, last) => {
                self.expect_node(first, Node::Int)?;
                self.expect_node(last, Node::Int)?
            }
            Items::Listed(list) => match kind {
                CollectionKind::Sequence => self.same(list, span)?,
                CollectionKind::Set => {
                    self.here(span);
                    let element = self.solver.arena.fresh_with(SET);
                    for &item in tree.list(list) {
                        let found = self.expect(item, element);
                        if found.is_err() {
                            self.hint_at_incomplete(list);
                        }
                        found?;
                    }
                    element
                }
                CollectionKind::Productions => {
                    self.here(span);
                    let element = self.solver.arena.fresh_with(YIELDABLE);
                    for &item in tree.list(list) {
                        self.expect_extendable(item, element)?;
                    }
                    element
                }
            },
        };
        self.here(span);
        Ok(match kind {
            CollectionKind::Sequence => self.solver.arena.sequence(element),
            _ => self.solver.arena.set(element),
        })
    }

    fn map(&mut self, pairs: List<Pair>, span: Span) -> Checked<Node> {
        let tree = self.tree;
        self.here(span);
        let (key, value) = (self.solver.arena.fresh_with(SET), self.solver.arena.fresh());
        for &Pair(left, right) in tree.list(pairs) {
            self.expect(left, key)?;
            self.expect(right, value)?;
        }
        Ok(Node::Map(key, value))
    }

    /// Generators range over sets, or over sequences.
    fn statements(&mut self, kind: CollectionKind, statements: List<Statement>) -> Checked<()> {
        let tree = self.tree;
        for statement in tree.list(statements) {
            match *statement {
                Statement::Condition(condition) => drop(self.expect_node(condition, Node::Bool)?),
                Statement::Generator { pattern, set } => {
                    let span = tree.expression_span(set);
                    let found = self.infer(set)?;
                    let found = self.evaluate(found, span)?;
                    let element = self.evaluated_pattern(pattern)?;
                    self.here(tree.pattern_span(pattern));
                    let expected = match kind {
                        CollectionKind::Sequence => self.solver.arena.sequence(element),
                        _ => self.solver.arena.set(element),
                    };
                    self.unify_directed(expected, found, span)?;
                }
            }
        }
        Ok(())
    }

    fn ties(&mut self, ties: List<Pair>) -> Checked<()> {
        let tree = self.tree;
        for &Pair(left, right) in tree.list(ties) {
            self.here(tree.expression_span(left));
            let event = self.solver.arena.make(Node::Event);
            let channel = self.expect_extendable(left, event)?;
            self.expect(right, channel)?;
        }
        Ok(())
    }

    fn replicated(&mut self, operator: Replication, statements: List<Statement>, body: ExpressionId) -> Checked<()> {
        let kind = match operator {
            Replication::Sequential | Replication::Link(..) => CollectionKind::Sequence,
            _ => CollectionKind::Set,
        };
        if let Replication::Parallel(events) | Replication::SynchronisingChoice(events) = operator {
            self.expect_events(events)?;
        }
        self.statements(kind, statements)?;
        match operator {
            Replication::Alphabetised(alphabet) => drop(self.expect_events(alphabet)?),
            Replication::Link(ties, generators) => {
                self.statements(CollectionKind::Set, generators)?;
                self.ties(ties)?;
            }
            _ => {}
        }
        self.expect_process(body)?;
        Ok(())
    }

    /// The communication before `->`.
    fn prefix(&mut self, channel: ExpressionId, fields: List<Field>, span: Span) -> Checked<()> {
        let tree = self.tree;
        let channel_span = tree.expression_span(channel);
        let mut items = vec![self.infer(channel)?];
        let mut end = channel_span;
        for field in tree.list(fields) {
            let item = match *field {
                Field::Output(value) => {
                    end = tree.expression_span(value);
                    self.infer(value)?
                }
                Field::Input(pattern, set) | Field::Choice(pattern, set) => {
                    let place = tree.pattern_span(pattern);
                    end = set.map_or(place, |set| tree.expression_span(set));
                    let from = match set {
                        Some(set) => Some((self.infer(set)?, tree.expression_span(set))),
                        None => None,
                    };
                    let item = self.pattern(pattern)?;
                    if let Some((found, span)) = from {
                        self.here(place);
                        let expected = self.solver.arena.set(item);
                        self.unify(expected, found, span)?;
                    }
                    self.constrain(COMPLETE, item, place)?;
                    item
                }
            };
            items.push(item);
        }
        let place = if end.file == channel_span.file { channel_span.to(end) } else { span };
        self.here(place);
        let found = self.solver.dots(&items);
        self.here(Span { end: place.start, ..place });
        let event = self.solver.arena.make(Node::Event);
        let unified = self.unify(event, found, place);
        if unified.is_err() {
            self.hint_at_fields(channel, fields.len());
        }
        unified.map(drop)
    }
}
