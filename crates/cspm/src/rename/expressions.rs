//! Names in expressions, and the locals that expressions bind.

use trefoil_source::Span;

use super::collect::{Binding, Resolver};
use super::*;

impl Resolver<'_> {
    /// Ends the scope of all locals bound since the trail was this long.
    pub(super) fn undo(&mut self, mark: usize) {
        for (symbol, before) in self.trail.drain(mark..).rev() {
            self.current[symbol.0 as usize] = before;
        }
    }

    fn hide(&mut self, symbol: Symbol, target: Resolved) {
        let since = self.trail.len();
        let before = self.current[symbol.0 as usize].replace(Binding { target, since });
        self.trail.push((symbol, before));
    }

    /// Binds the names of a pattern. No name may be bound twice since the trail was as long as `mark`.
    pub(super) fn bind(&mut self, scope: usize, pattern: PatternId, mark: usize) {
        self.bind_as(scope, pattern, mark, LocalKind::Variable);
    }

    fn bind_as(&mut self, scope: usize, pattern: PatternId, mark: usize, kind: LocalKind) {
        for (id, symbol) in self.pattern_names(pattern) {
            let span = self.tree.pattern_span(id);
            if let Some(label) = self.label(scope, symbol, span) {
                self.sites.set(NameSite::Pattern(id), label);
            } else if !self.refused_in_pattern(symbol, span) {
                let local = self.new_local(symbol, span, kind);
                self.sites.set(NameSite::Pattern(id), Resolved::Local(local));
                self.bind_name(symbol, span, Resolved::Local(local), mark);
            }
        }
    }

    fn new_local(&mut self, name: Symbol, span: Span, kind: LocalKind) -> LocalId {
        self.locals.push(Local { name, span, kind, annotation: None });
        self.mentioned.push(false);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn bind_name(&mut self, symbol: Symbol, span: Span, name: Resolved, mark: usize) {
        if let Some(first) = self.bound_since(symbol, mark) {
            self.duplicate(symbol, self.locals[first.index()].span, span);
        }
        self.hide(symbol, name);
    }

    /// The local that a symbol has stood for since the trail was at least this long.
    fn bound_since(&self, symbol: Symbol, mark: usize) -> Option<LocalId> {
        match self.current[symbol.0 as usize] {
            Some(Binding { target: Resolved::Local(local), since }) if since >= mark => Some(local),
            _ => None,
        }
    }

    pub(super) fn optional(&mut self, scope: usize, expression: Option<ExpressionId>) {
        if let Some(expression) = expression {
            self.expression(scope, expression);
        }
    }

    pub(super) fn expressions(&mut self, scope: usize, list: List<ExpressionId>) {
        let tree = self.tree;
        for &id in tree.list(list) {
            self.expression(scope, id);
        }
    }

    pub(super) fn expression(&mut self, scope: usize, id: ExpressionId) {
        if self.control.check().is_err() {
            return;
        }
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.expression_here(scope, id));
    }

    fn expression_here(&mut self, scope: usize, id: ExpressionId) {
        let tree = self.tree;
        match *tree.expression(id) {
            Expression::Name(symbol) => {
                let found = self.value(scope, symbol, tree.expression_span(id));
                self.sites.set(NameSite::Expression(id), found);
            }
            Expression::Integer(number) => self.number(id, number),
            Expression::Unary { operator, operand } => match *tree.expression(operand) {
                Expression::Integer(_) if operator == UnaryOperator::Negate => {}
                _ => self.expression(scope, operand),
            },
            Expression::Binary { left, right, .. } => {
                self.expression(scope, left);
                self.expression(scope, right);
            }
            Expression::Synchronised { left, events, right, .. } => {
                self.expression(scope, left);
                self.expression(scope, events);
                self.expression(scope, right);
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                self.expression(scope, left);
                self.expression(scope, left_alphabet);
                self.expression(scope, right_alphabet);
                self.expression(scope, right);
            }
            Expression::Link { left, ties, statements, right } => {
                self.expression(scope, left);
                self.under(scope, statements, |this| this.pairs(scope, ties));
                self.expression(scope, right);
            }
            Expression::Rename { process, renames, statements } => {
                self.expression(scope, process);
                self.under(scope, statements, |this| this.pairs(scope, renames));
            }
            Expression::Prefix { channel, fields, process } => {
                self.expression(scope, channel);
                self.prefix(scope, fields, process);
            }
            Expression::Apply { function, arguments } => {
                self.expression(scope, function);
                self.expressions(scope, arguments);
            }
            Expression::Tuple(list) | Expression::Error(list) => self.expressions(scope, list),
            Expression::Collection { items, statements, .. } => {
                self.under(scope, statements, |this| match items {
                    Items::Listed(list) => this.expressions(scope, list),
                    Items::From(first) => this.expression(scope, first),
                    Items::Range(first, last) => {
                        this.expression(scope, first);
                        this.expression(scope, last);
                    }
                });
            }
            Expression::Map(pairs) => self.pairs(scope, pairs),
            Expression::If { condition, then, otherwise } => {
                self.expression(scope, condition);
                self.expression(scope, then);
                self.expression(scope, otherwise);
            }
            Expression::Let { declarations, body } => self.let_within(scope, declarations, body),
            Expression::Lambda { parameters, body } => {
                let mark = self.trail.len();
                for &pattern in tree.list(parameters) {
                    self.bind(scope, pattern, mark);
                }
                self.expression(scope, body);
                self.undo(mark);
            }
            Expression::Replicated { operator, statements, body } => self.replicated(scope, operator, statements, body),
            Expression::Both(left, right) => {
                self.expression(scope, left);
                self.expression(scope, right);
            }
            Expression::Boolean(_) | Expression::Character(_) | Expression::String(_) | Expression::Wildcard => {}
        }
    }

    fn number(&mut self, id: ExpressionId, number: u32) {
        if i32::try_from(number).is_err() {
            let message = format!("{number} does not fit in 32 bits without a minus");
            self.error(codes::BIG_NUMBER, message, self.tree.expression_span(id));
        }
    }

    fn pairs(&mut self, scope: usize, pairs: List<Pair>) {
        let tree = self.tree;
        for &Pair(left, right) in tree.list(pairs) {
            self.expression(scope, left);
            self.expression(scope, right);
        }
    }

    /// Runs with what the generators bind in scope; each sees what those before it bind.
    fn under(&mut self, scope: usize, statements: List<Statement>, run: impl FnOnce(&mut Self)) {
        let tree = self.tree;
        let mark = self.trail.len();
        for statement in tree.list(statements) {
            match *statement {
                Statement::Generator { pattern, set } => {
                    self.expression(scope, set);
                    self.bind(scope, pattern, mark);
                }
                Statement::Condition(condition) => self.expression(scope, condition),
            }
        }
        run(self);
        self.undo(mark);
    }

    fn replicated(&mut self, scope: usize, operator: Replication, statements: List<Statement>, body: ExpressionId) {
        match operator {
            Replication::Parallel(events) | Replication::SynchronisingChoice(events) => self.expression(scope, events),
            _ => {}
        }
        self.under(scope, statements, |this| {
            match operator {
                Replication::Alphabetised(alphabet) => this.expression(scope, alphabet),
                Replication::Link(ties, generators) => {
                    this.under(scope, generators, |this| this.pairs(scope, ties));
                }
                _ => {}
            }
            this.expression(scope, body);
        });
    }

    /// `c$y?x!e -> P` is `|~| y @ [] x @ …`: what `$` binds is chosen first, and seen by every other field.
    fn prefix(&mut self, scope: usize, fields: List<Field>, process: ExpressionId) {
        let tree = self.tree;
        let mark = self.trail.len();
        let mut later = None;
        for field in tree.list(fields) {
            match *field {
                Field::Choice(pattern, set) => {
                    self.optional(scope, set);
                    self.bind(scope, pattern, mark);
                    if let Some(before) = later {
                        let message = "a field with `$` follows one with `?` or `!`".to_string();
                        let span = tree.pattern_span(pattern);
                        let diagnostic = self.error(codes::FIELD_ORDER, message, span);
                        let place = trefoil_source::Place::Span(before);
                        diagnostic.labels.push(trefoil_source::Label { place, text: "this field".to_string() });
                    }
                }
                Field::Input(pattern, _) => later = later.or(Some(tree.pattern_span(pattern))),
                Field::Output(value) => later = later.or(Some(tree.expression_span(value))),
            }
        }
        for field in tree.list(fields) {
            match *field {
                Field::Choice(..) => {}
                Field::Input(pattern, set) => {
                    self.optional(scope, set);
                    self.bind(scope, pattern, mark);
                }
                Field::Output(value) => self.expression(scope, value),
            }
        }
        self.expression(scope, process);
        self.undo(mark);
    }

    /// Everything that a `let` declares is in scope in all of it.
    fn let_within(&mut self, scope: usize, declarations: List<DeclarationId>, body: ExpressionId) {
        let tree = self.tree;
        let mark = self.trail.len();
        let was_timed = self.timed;
        let mut flat = Vec::new();
        let mut waiting: Vec<(DeclarationId, bool)> =
            tree.list(declarations).iter().rev().map(|&id| (id, was_timed)).collect();
        while let Some((id, timed)) = waiting.pop() {
            flat.push((id, timed));
            match *tree.declaration(id) {
                Declaration::Include { declarations, .. } => {
                    waiting.extend(tree.list(declarations).iter().rev().map(|&id| (id, timed)));
                }
                Declaration::Timed { declarations, .. } => {
                    waiting.extend(tree.list(declarations).iter().rev().map(|&id| (id, true)));
                }
                _ => {}
            }
        }
        self.bind_declarations(scope, &flat, mark);
        for &(id, timed) in &flat {
            self.timed = timed;
            match *tree.declaration(id) {
                Declaration::Function { clauses, .. } => {
                    let annotation = self.annotation_of(self.sites.get(NameSite::Declaration(id)));
                    self.with_annotation(scope, annotation, |this| this.clauses(scope, clauses));
                }
                Declaration::Binding { pattern, body } => {
                    let annotation = match *tree.pattern(pattern) {
                        Pattern::Name(_) => self.annotation_of(self.sites.get(NameSite::Pattern(pattern))),
                        _ => None,
                    };
                    self.with_annotation(scope, annotation, |this| this.expression(scope, body));
                }
                Declaration::Timed { durations, .. } => self.timed_section(scope, id, durations),
                Declaration::Print(expression) => self.expression(scope, expression),
                Declaration::Annotation { constraints, annotated, .. } => {
                    self.lone_annotation(scope, constraints, annotated);
                }
                _ => {}
            }
        }
        self.timed = was_timed;
        self.expression(scope, body);
        self.undo(mark);
    }

    fn annotation_of(&self, name: Resolved) -> Option<DeclarationId> {
        match name {
            Resolved::Local(local) => self.locals[local.index()].annotation,
            _ => None,
        }
    }

    fn bind_declarations(&mut self, scope: usize, flat: &[(DeclarationId, bool)], mark: usize) {
        let tree = self.tree;
        for &(id, _) in flat {
            match *tree.declaration(id) {
                Declaration::Function { name, .. } => {
                    let local = Resolved::Local(self.new_local(name.name, name.span, LocalKind::Function(id)));
                    self.sites.set(NameSite::Declaration(id), local);
                    self.bind_name(name.name, name.span, local, mark);
                }
                Declaration::Binding { pattern, .. } => self.bind_as(scope, pattern, mark, LocalKind::Value(id)),
                Declaration::Error { names, .. } => {
                    for name in tree.list(names) {
                        self.hide(name.name, Resolved::Error);
                    }
                }
                Declaration::External(names) | Declaration::Transparent(names) => {
                    let external = matches!(tree.declaration(id), Declaration::External(_));
                    for (&name, at) in tree.list(names).iter().zip(names.range()) {
                        let target = self.brought_in(name, external).map_or(Resolved::Error, Resolved::Builtin);
                        self.sites.set(NameSite::Listed(at), target);
                        self.hide(name.name, target);
                    }
                }
                _ => {}
            }
        }
        for &(id, _) in flat {
            let Declaration::Annotation { names, .. } = *tree.declaration(id) else { continue };
            for (&name, at) in tree.list(names).iter().zip(names.range()) {
                let Some(local) = self.bound_since(name.name, mark) else {
                    let bound = self.current[name.name.0 as usize];
                    let broken = bound.is_some_and(|bound| bound.since >= mark && bound.target == Resolved::Error);
                    if !broken && !tree.is_incomplete() {
                        self.not_annotatable(name);
                    }
                    continue;
                };
                self.sites.set(NameSite::Listed(at), Resolved::Local(local));
                let before = self.locals[local.index()].annotation;
                self.annotated_once(name, before);
                self.locals[local.index()].annotation = before.or(Some(id));
            }
        }
    }
}
