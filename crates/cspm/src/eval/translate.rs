//! Expressions and patterns to operations and matchers.

use trefoil_source::Span;

use super::builtins::constant;
use super::code::*;
use super::compile::{Compiler, EVENTS};
use super::scopes::{Binding, Key};
use super::value::Value;
use crate::rename::{Builtin, DefinitionKind, Resolved};
use crate::syntax::*;

const RED_ZONE: usize = 96 * 1024;
const SEGMENT: usize = 2 * 1024 * 1024;

/// Arithmetic up to this size may be done at once instead of being delayed.
const CHEAP: usize = 16;

impl Compiler<'_> {
    /// Compiles an expression for a scope.
    pub(super) fn expression(&mut self, id: ExpressionId, scope: usize) -> OperationId {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || self.expression_here(id, scope))
    }

    fn expression_here(&mut self, id: ExpressionId, scope: usize) -> OperationId {
        let span = self.tree.expression_span(id);
        let operation = match *self.tree.expression(id) {
            Expression::Error(_) | Expression::Wildcard | Expression::Both(..) => Operation::Broken,
            Expression::Name(name) => return self.name(name, span, scope),
            Expression::Integer(number) => match i32::try_from(number) {
                Ok(number) => Operation::Constant(Value::Int(number)),
                Err(_) => Operation::Broken,
            },
            Expression::Boolean(truth) => Operation::Constant(Value::Bool(truth)),
            Expression::Character(character) => Operation::Constant(Value::Char(character)),
            Expression::String(text) => Operation::Constant(Value::string(self.renamed.text(text))),
            Expression::Unary { operator: UnaryOperator::Negate, operand } => match *self.tree.expression(operand) {
                Expression::Integer(number) => match i32::try_from(-i64::from(number)) {
                    Ok(number) => Operation::Constant(Value::Int(number)),
                    Err(_) => Operation::Broken,
                },
                _ => Operation::Negate(self.expression(operand, scope)),
            },
            Expression::Unary { operator: UnaryOperator::Not, operand } => {
                Operation::Not(self.expression(operand, scope))
            }
            Expression::Unary { operator: UnaryOperator::Length, operand } => {
                Operation::Length(self.expression(operand, scope))
            }
            Expression::Binary { operator, left, right } => return self.binary(id, operator, left, right, scope),
            Expression::Synchronised { .. }
            | Expression::Alphabetised { .. }
            | Expression::Link { .. }
            | Expression::Rename { .. }
            | Expression::Prefix { .. }
            | Expression::Replicated { .. } => return self.process(id, scope),
            Expression::Apply { function, arguments } => {
                let function = self.expression(function, scope);
                let arguments = self.lazies(arguments, scope);
                Operation::Call(function, arguments)
            }
            Expression::Tuple(items) => Operation::Tuple(self.lazies(items, scope)),
            Expression::Collection { kind, items, statements } => {
                return self.collection(id, kind, items, statements, scope);
            }
            Expression::Map(pairs) => {
                let pairs = self.tree.list(pairs).to_vec();
                let pairs = pairs.into_iter().map(|Pair(k, v)| (self.expression(k, scope), self.lazy(v, scope)));
                Operation::Map(pairs.collect())
            }
            Expression::If { condition, then, otherwise } => {
                let condition = self.expression(condition, scope);
                let then = self.expression(then, scope);
                let otherwise = self.expression(otherwise, scope);
                Operation::If(condition, then, otherwise)
            }
            Expression::Let { declarations, body } => return self.let_within(declarations, body, scope),
            Expression::Lambda { parameters, body } => {
                let inner = self.open(Some(scope));
                let parameters = self.tree.list(parameters).to_vec();
                Operation::Lambda(self.lambda(&parameters, body, span, inner))
            }
        };
        self.emit(operation, span)
    }

    fn binary(
        &mut self,
        id: ExpressionId,
        operator: BinaryOperator,
        left: ExpressionId,
        right: ExpressionId,
        scope: usize,
    ) -> OperationId {
        use BinaryOperator as B;
        let span = self.tree.expression_span(id);
        match operator {
            B::Hide
            | B::Project
            | B::Interleave
            | B::InternalChoice
            | B::ExternalChoice
            | B::Interrupt
            | B::SlidingChoice
            | B::Sequential => return self.process(id, scope),
            B::Dot => {
                let parts = self.renamed.dotted(id);
                let parts = parts.into_iter().map(|part| self.expression(part, scope)).collect();
                return self.emit(Operation::Dot(parts), span);
            }
            B::Concatenate => {
                let left = self.expression(left, scope);
                let right = self.lazy(right, scope);
                return self.emit(Operation::Concatenate(left, right), span);
            }
            _ => {}
        }
        let left = self.expression(left, scope);
        let right = self.expression(right, scope);
        let operation = match operator {
            B::Guard => Operation::Guard(left, right, self.section.map_or(0, |section| section.0 + 1)),
            B::Or => Operation::Or(left, right),
            B::And => Operation::And(left, right),
            B::Equal => Operation::Equal(true, left, right),
            B::NotEqual => Operation::Equal(false, left, right),
            B::Less => Operation::Compare(Comparison::Less, left, right),
            B::LessOrEqual => Operation::Compare(Comparison::LessOrEqual, left, right),
            B::Greater => Operation::Compare(Comparison::Greater, left, right),
            B::GreaterOrEqual => Operation::Compare(Comparison::GreaterOrEqual, left, right),
            B::Add => Operation::Arithmetic(Arithmetic::Add, left, right),
            B::Subtract => Operation::Arithmetic(Arithmetic::Subtract, left, right),
            B::Multiply => Operation::Arithmetic(Arithmetic::Multiply, left, right),
            B::Divide => Operation::Arithmetic(Arithmetic::Divide, left, right),
            B::Remainder => Operation::Arithmetic(Arithmetic::Remainder, left, right),
            _ => Operation::Broken,
        };
        self.emit(operation, span)
    }

    /// A name in an expression.
    pub(super) fn name(&mut self, name: Resolved, span: Span, scope: usize) -> OperationId {
        let operation = match name {
            Resolved::Builtin(Builtin::Events) => Operation::Global(EVENTS),
            Resolved::Builtin(builtin) => {
                let section = self.section.map_or(0, |section| section.0 + 1);
                let value = constant(builtin, section).unwrap_or(Value::Builtin(builtin, section));
                Operation::Constant(value)
            }
            Resolved::Definition(definition) => match self.definition(definition) {
                Some(global) => Operation::Global(global),
                None => Operation::Broken,
            },
            Resolved::Local(local) => match self.bindings.get(&local).copied() {
                Some(Binding::Slot) => Operation::Variable(self.access(scope, Key::Local(local))),
                Some(Binding::Member(group, member)) => {
                    Operation::Member(self.access(scope, Key::Group(group)), member)
                }
                None => Operation::Broken,
            },
            Resolved::Error | Resolved::BasicType(_) | Resolved::TypeVariable(_) => Operation::Broken,
        };
        self.emit(operation, span)
    }

    fn lazies(&mut self, list: List<ExpressionId>, scope: usize) -> Vec<Lazy> {
        let list = self.tree.list(list).to_vec();
        list.into_iter().map(|item| self.lazy(item, scope)).collect()
    }

    /// An operand that need not be evaluated at once.
    pub(super) fn lazy(&mut self, id: ExpressionId, scope: usize) -> Lazy {
        let now = match *self.tree.expression(id) {
            Expression::Integer(_)
            | Expression::Boolean(_)
            | Expression::Character(_)
            | Expression::String(_)
            | Expression::Tuple(_)
            | Expression::Lambda { .. }
            | Expression::Synchronised { .. }
            | Expression::Alphabetised { .. }
            | Expression::Link { .. }
            | Expression::Rename { .. }
            | Expression::Prefix { .. }
            | Expression::Replicated { .. } => true,
            Expression::Collection { kind: CollectionKind::Sequence, items: Items::Listed(_), statements } => {
                statements.is_empty()
            }
            Expression::Name(Resolved::Builtin(_)) => true,
            Expression::Name(Resolved::Local(local)) => matches!(self.bindings.get(&local), Some(Binding::Slot)),
            Expression::Name(Resolved::Definition(definition)) => {
                let mut definition = self.renamed.definition(definition);
                if let DefinitionKind::Member { of, .. } = definition.kind {
                    definition = self.renamed.definition(of);
                }
                use DefinitionKind as K;
                matches!(definition.kind, K::Function | K::Channel | K::Constructor { .. } | K::Datatype)
            }
            _ => false,
        };
        if now {
            return Lazy::Now(self.expression(id, scope));
        }
        let mut size = 0;
        let cheap = self.is_cheap(id, &mut size);
        let inner = self.open(Some(scope));
        let body = self.expression(id, inner);
        let unit = self.close_unit(body);
        if cheap { Lazy::Cheap(self.expression(id, scope), unit) } else { Lazy::Later(unit) }
    }

    fn is_cheap(&self, id: ExpressionId, size: &mut usize) -> bool {
        *size += 1;
        if *size > CHEAP {
            return false;
        }
        use BinaryOperator as B;
        match *self.tree.expression(id) {
            Expression::Integer(_) | Expression::Boolean(_) | Expression::Name(_) => true,
            Expression::Unary { operator: UnaryOperator::Negate | UnaryOperator::Not, operand } => {
                self.is_cheap(operand, size)
            }
            Expression::Binary {
                operator:
                    B::Add
                    | B::Subtract
                    | B::Multiply
                    | B::Divide
                    | B::Remainder
                    | B::Less
                    | B::LessOrEqual
                    | B::Greater
                    | B::GreaterOrEqual,
                left,
                right,
            } => self.is_cheap(left, size) && self.is_cheap(right, size),
            _ => false,
        }
    }

    fn collection(
        &mut self,
        id: ExpressionId,
        kind: CollectionKind,
        items: Items,
        statements: List<Statement>,
        scope: usize,
    ) -> OperationId {
        let span = self.tree.expression_span(id);
        if !statements.is_empty() {
            let steps = self.steps(statements, scope);
            let items = match items {
                Items::Listed(list) => ComprehensionItems::Listed(self.lazies(list, scope)),
                range => ComprehensionItems::Range(self.range(range, scope)),
            };
            let kind = match kind {
                CollectionKind::Sequence => ComprehensionKind::Sequence,
                CollectionKind::Set => ComprehensionKind::Set,
                CollectionKind::Productions => ComprehensionKind::Productions,
            };
            self.program.comprehensions.push(Comprehension { kind, items, steps });
            let comprehension = ComprehensionId(self.program.comprehensions.len() as u32 - 1);
            return self.emit(Operation::Comprehension(comprehension), span);
        }
        let operation = match (kind, items) {
            (CollectionKind::Sequence, Items::Listed(list)) => Operation::Sequence(self.lazies(list, scope)),
            (CollectionKind::Sequence, range) => Operation::SequenceRange(self.range(range, scope)),
            (CollectionKind::Set, Items::Listed(list)) => Operation::Set(self.expressions(list, scope)),
            (CollectionKind::Set, range) => Operation::SetRange(self.range(range, scope)),
            (CollectionKind::Productions, Items::Listed(list)) => Operation::Productions(self.expressions(list, scope)),
            (CollectionKind::Productions, _) => Operation::Broken,
        };
        self.emit(operation, span)
    }

    pub(super) fn expressions(&mut self, list: List<ExpressionId>, scope: usize) -> Vec<OperationId> {
        let list = self.tree.list(list).to_vec();
        list.into_iter().map(|item| self.expression(item, scope)).collect()
    }

    fn range(&mut self, items: Items, scope: usize) -> Span2 {
        match items {
            Items::From(from) => Span2::From(self.expression(from, scope)),
            Items::Range(from, to) => {
                let from = self.expression(from, scope);
                Span2::Between(from, self.expression(to, scope))
            }
            Items::Listed(_) => unreachable!("only ranges come here"),
        }
    }

    pub(super) fn steps(&mut self, statements: List<Statement>, scope: usize) -> Vec<Step> {
        let statements = self.tree.list(statements).to_vec();
        let step = |statement| match statement {
            Statement::Generator { pattern, set } => {
                let set = self.expression(set, scope);
                Step::Generator(self.pattern(pattern, scope, &mut |_, _| {}), set)
            }
            Statement::Condition(condition) => Step::Condition(self.expression(condition, scope)),
        };
        statements.into_iter().map(step).collect()
    }

    fn lambda(&mut self, parameters: &[PatternId], body: ExpressionId, span: Span, scope: usize) -> FunctionId {
        let clause = [(parameters.to_vec(), body)];
        self.function_of("a lambda".to_string(), span, vec![parameters.len() as u32], &clause, scope)
    }

    /// A function in its scope, which ends with it.
    pub(super) fn function(&mut self, name: String, span: Span, clauses: List<Clause>, scope: usize) -> FunctionId {
        let clauses = self.tree.list(clauses).to_vec();
        let mut lists = Vec::new();
        let mut flat = Vec::with_capacity(clauses.len());
        for clause in &clauses {
            let parameters = self.tree.list(clause.parameters);
            if lists.is_empty() {
                lists.extend(parameters.iter().map(|list| list.len() as u32));
            }
            let patterns = parameters.iter().flat_map(|&list| self.tree.list(list).iter().copied()).collect();
            flat.push((patterns, clause.body));
        }
        self.function_of(name, span, lists, &flat, scope)
    }

    fn function_of(
        &mut self,
        name: String,
        span: Span,
        lists: Vec<u32>,
        clauses: &[(Vec<PatternId>, ExpressionId)],
        scope: usize,
    ) -> FunctionId {
        let parameters = lists.iter().sum();
        for _ in 0..parameters {
            self.slot(scope, None);
        }
        let mut compiled = Vec::with_capacity(clauses.len());
        for (patterns, body) in clauses {
            let mut plain = patterns.len() == parameters as usize;
            let mut matchers = Vec::with_capacity(patterns.len());
            for (at, &pattern) in patterns.iter().enumerate() {
                matchers.push(match *self.tree.pattern(pattern) {
                    Pattern::Name(Resolved::Local(local)) => {
                        // The argument's own slot serves as the variable's.
                        self.bindings.insert(local, Binding::Slot);
                        self.scopes[scope].locals.insert(Key::Local(local), at as u32);
                        self.matcher(Matcher::Any)
                    }
                    Pattern::Wildcard => self.matcher(Matcher::Any),
                    _ => {
                        plain = false;
                        self.pattern(pattern, scope, &mut |_, _| {})
                    }
                });
            }
            if patterns.len() != parameters as usize {
                matchers = vec![self.matcher(Matcher::Never); parameters as usize];
            }
            let body = self.expression(*body, scope);
            compiled.push(FunctionClause { matchers: (!plain).then_some(matchers), body });
        }
        let process = clauses.iter().any(|(_, body)| self.gives_process[body.index()]);
        let closed = self.close();
        self.program.functions.push(Function {
            name,
            span,
            lists,
            parameters,
            clauses: compiled,
            captures: closed.captures,
            frame: closed.slots,
            process,
        });
        FunctionId(self.program.functions.len() as u32 - 1)
    }

    /// A pattern; reports the slots of its names.
    pub(super) fn pattern(&mut self, id: PatternId, scope: usize, bound: &mut dyn FnMut(Resolved, u32)) -> MatcherId {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || self.pattern_here(id, scope, bound))
    }

    fn pattern_here(&mut self, id: PatternId, scope: usize, bound: &mut dyn FnMut(Resolved, u32)) -> MatcherId {
        let matcher = match *self.tree.pattern(id) {
            Pattern::Error(_) => Matcher::Never,
            Pattern::Wildcard => Matcher::Any,
            Pattern::Name(name) if self.renamed.is_label(name) => match self.constructor(name) {
                Some(constructor) => Matcher::Constructor(constructor),
                None => Matcher::Never,
            },
            Pattern::Name(name) => {
                let slot = match name {
                    Resolved::Local(local) => self.bind_local(scope, local),
                    _ => self.slot(scope, None),
                };
                bound(name, slot);
                Matcher::Bind(slot)
            }
            Pattern::Integer(number) => i32::try_from(number).map_or(Matcher::Never, Matcher::Int),
            Pattern::Boolean(truth) => Matcher::Bool(truth),
            Pattern::Character(character) => Matcher::Char(character),
            Pattern::String(text) => Matcher::Text(self.renamed.text(text).chars().collect()),
            Pattern::Tuple(list) => Matcher::Tuple(self.patterns(list, scope, bound)),
            Pattern::Sequence(list) => Matcher::Sequence(self.patterns(list, scope, bound)),
            Pattern::Set(list) => match self.tree.list(list) {
                [] => Matcher::EmptySet,
                &[part] => Matcher::Singleton(self.pattern(part, scope, bound)),
                _ => Matcher::Never,
            },
            Pattern::Concatenate(..) => return self.concatenation(id, scope, bound),
            Pattern::Dot(..) => {
                let parts = self.renamed.dotted_pattern(id);
                Matcher::Dot(parts.into_iter().map(|part| self.pattern(part, scope, bound)).collect())
            }
            Pattern::Both(first, second) => {
                let first = self.pattern(first, scope, bound);
                Matcher::Both(first, self.pattern(second, scope, bound))
            }
        };
        self.matcher(matcher)
    }

    fn patterns(
        &mut self,
        list: List<PatternId>,
        scope: usize,
        bound: &mut dyn FnMut(Resolved, u32),
    ) -> Vec<MatcherId> {
        let list = self.tree.list(list).to_vec();
        list.into_iter().map(|part| self.pattern(part, scope, bound)).collect()
    }

    /// `p ^ q`: at most one part may have any length.
    fn concatenation(&mut self, id: PatternId, scope: usize, bound: &mut dyn FnMut(Resolved, u32)) -> MatcherId {
        let mut before = Vec::new();
        let mut middle = None;
        let mut after = Vec::new();
        let mut ambiguous = false;
        let mut waiting = vec![id];
        while let Some(part) = waiting.pop() {
            let parts = match *self.tree.pattern(part) {
                Pattern::Concatenate(left, right) => {
                    waiting.extend([right, left]);
                    continue;
                }
                Pattern::Sequence(list) => self.patterns(list, scope, bound),
                Pattern::String(text) => {
                    let characters: Vec<char> = self.renamed.text(text).chars().collect();
                    characters.into_iter().map(|character| self.matcher(Matcher::Char(character))).collect()
                }
                _ => {
                    let part = self.pattern(part, scope, bound);
                    ambiguous |= middle.replace(part).is_some();
                    continue;
                }
            };
            if middle.is_none() { before.extend(parts) } else { after.extend(parts) }
        }
        self.matcher(match middle {
            _ if ambiguous => Matcher::Ambiguous(self.tree.pattern_span(id)),
            None => Matcher::Sequence(before),
            Some(middle) => Matcher::Around(before, middle, after),
        })
    }
}
