//! The second pass, from the outside in: every part gets its sort, and conversions are written out.

use trefoil_source::{Diagnostic, Place, Span};

use crate::signature::{FunctionId, Operator};
use crate::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef, rank};
use crate::syntax::tree::{Binder, Container, Expression, ExpressionId};
use crate::typed::{Quantifier, Typed, TypedId};

use super::patterns::{Pattern, convert};
use super::possible::{Application, Head, Way};
use super::schemes::schemes;
use super::{Checker, Reported, Typing, codes};

impl Checker<'_> {
    /// Types an expression whose surroundings say nothing of its sort.
    pub fn infer(&mut self, id: ExpressionId) -> Result<TypedId, Reported> {
        let pattern = self.inferred(id)?;
        let sort = self.settle(&pattern);
        self.check(id, sort)
    }

    /// The sort of an expression whose surroundings say nothing of it, as text; `_` stands where any sort will do.
    pub fn inferred_sort(&mut self, id: ExpressionId) -> Result<String, Reported> {
        let typed = self.infer(id)?;
        let pattern = self.inferred(id)?;
        Ok(match pattern.settle(&mut self.specification.sorts) {
            Some(_) => self.specification.sort_text(self.specification.tree.sort(typed)),
            None => self.pattern_text(&pattern),
        })
    }

    /// The cheapest pattern of an expression, if there is one.
    fn inferred(&mut self, id: ExpressionId) -> Result<Pattern, Reported> {
        let typings = self.possible(id)?;
        let least = typings.iter().map(|typing| typing.cost).min().unwrap_or(0);
        let mut cheapest: Vec<&Typing> = typings.iter().filter(|typing| typing.cost == least).collect();
        // Of several number sorts the least is meant.
        if cheapest.iter().all(|typing| is_number(&typing.pattern)) {
            cheapest.sort_by_key(|typing| match typing.pattern {
                Pattern::Known(sort) | Pattern::AtLeast(sort) => sort,
                _ => REAL,
            });
            cheapest.truncate(1);
        }
        if cheapest.len() > 1 {
            let sorts = self.describe(&typings);
            let message = format!("the sort of `{}` can be {sorts}", self.quote(id));
            return Err(self.error(codes::AMBIGUOUS, message, self.tree.span(id), None));
        }
        Ok(cheapest[0].pattern.clone())
    }

    /// The sort of a pattern. Where a hole remains any sort will do, as in `[] == []`.
    fn settle(&mut self, pattern: &Pattern) -> SortRef {
        let filled = fill_holes(pattern, self.internal.unwrap_or(BOOL));
        match filled.settle(&mut self.specification.sorts) {
            Some(sort) => sort,
            None => unreachable!("a pattern without holes is a sort"),
        }
    }

    /// Types an expression that must have a sort.
    pub fn check(&mut self, id: ExpressionId, expected: SortRef) -> Result<TypedId, Reported> {
        self.must_convert(id, expected)?;
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.choose(id, expected))
    }

    fn choose(&mut self, id: ExpressionId, expected: SortRef) -> Result<TypedId, Reported> {
        let tree = self.tree;
        let span = tree.span(id);
        match tree.expression(id) {
            Expression::Brackets(inside) => self.check(*inside, expected),
            Expression::Number(digits) => Ok(self.specification.tree.add(Typed::Number(*digits), expected, span)),
            Expression::Name(name) => {
                if let Some(&variable) = self.scopes.get(name).and_then(|scope| scope.last()) {
                    let sort = self.specification.tree.variable(variable).1;
                    let typed = self.specification.tree.add(Typed::Variable(variable), sort, span);
                    return Ok(self.converted(typed, expected));
                }
                self.choose_name(id, expected)
            }
            Expression::List(list) => {
                let elements = tree.elements(list).to_vec();
                let element = self.element_of(expected);
                let cons = self.builtin(Operator::Cons, &[element, expected], expected);
                let empty = self.builtin(Operator::EmptyList, &[], expected);
                let elements = self.check_all(&elements, element)?;
                Ok(self.chain(cons, empty, &elements, expected, span))
            }
            Expression::Set(list) => {
                let elements = tree.elements(list).to_vec();
                let element = self.element_of(expected);
                let sort = self.specification.sorts.container(Container::FSet, element);
                let insert = self.builtin(Operator::Insert, &[element, sort], sort);
                let empty = self.builtin(Operator::EmptySet, &[], sort);
                let elements = self.check_all(&elements, element)?;
                let set = self.chain(insert, empty, &elements, sort, span);
                Ok(self.converted(set, expected))
            }
            Expression::Bag(list) => {
                let pairs = tree.elements(list).to_vec();
                let element = self.element_of(expected);
                let sort = self.specification.sorts.container(Container::FBag, element);
                let insert = self.builtin(Operator::InsertMany, &[element, NAT, sort], sort);
                let empty = self.builtin(Operator::EmptyBag, &[], sort);
                let mut bag = self.specification.tree.add(Typed::Function(empty), sort, span);
                for pair in pairs.chunks(2).rev() {
                    let element = self.check(pair[0], element)?;
                    let count = self.check(pair[1], NAT)?;
                    bag = self.apply(insert, &[element, count, bag], sort, span);
                }
                Ok(self.converted(bag, expected))
            }
            Expression::Comprehension(_, _, body) => {
                let bound = self.bound_by(id)?;
                let is_bag = matches!(self.specification.sorts.kind(expected), SortKind::Container(Container::Bag, _));
                let (operator, result) = if is_bag { (Operator::BagOf, NAT) } else { (Operator::SetOf, BOOL) };
                self.rebind(&bound);
                let body = self.check(*body, result);
                self.unbind(&bound);
                let element = self.specification.tree.variable(bound[0]).1;
                let function = self.specification.sorts.function(&[element], result);
                let lambda = self.specification.tree.add(Typed::Lambda(bound, body?), function, span);
                let operator = self.builtin(operator, &[function], expected);
                Ok(self.apply(operator, &[lambda], expected, span))
            }
            Expression::Binder(binder, _, body) => {
                let bound = self.bound_by(id)?;
                let result = match binder {
                    Binder::Lambda => self.specification.sorts.as_function(expected).map_or(BOOL, |(_, result)| result),
                    Binder::Forall | Binder::Exists => BOOL,
                };
                self.rebind(&bound);
                let body = self.check(*body, result);
                self.unbind(&bound);
                let typed = match binder {
                    Binder::Lambda => Typed::Lambda(bound, body?),
                    Binder::Forall => Typed::Quantified(Quantifier::Forall, bound, body?),
                    Binder::Exists => Typed::Quantified(Quantifier::Exists, bound, body?),
                };
                Ok(self.specification.tree.add(typed, expected, span))
            }
            Expression::Where(body, definitions) => {
                let defined: Option<Vec<_>> =
                    definitions.iter().map(|(_, value)| self.definitions.get(value).copied()).collect();
                let defined = defined.ok_or(Reported)?;
                let bound: Vec<_> = defined.iter().map(|(variable, _)| *variable).collect();
                self.rebind(&bound);
                let body = self.check(*body, expected);
                self.unbind(&bound);
                Ok(self.specification.tree.add(Typed::Where(body?, defined), expected, span))
            }
            Expression::Prefix(..) | Expression::Infix(..) | Expression::Apply(..) | Expression::Update(..) => {
                let application = self.application(id);
                self.choose_application(id, &application, expected)
            }
        }
    }

    fn check_all(&mut self, ids: &[ExpressionId], sort: SortRef) -> Result<Vec<TypedId>, Reported> {
        let typed: Vec<Result<TypedId, Reported>> = ids.iter().map(|&id| self.check(id, sort)).collect();
        typed.into_iter().collect()
    }

    fn element_of(&self, container: SortRef) -> SortRef {
        match self.specification.sorts.kind(container) {
            SortKind::Container(_, element) => *element,
            _ => unreachable!("a literal of a container is expected to be one"),
        }
    }

    /// A constructor applied to elements from the last to the first.
    fn chain(
        &mut self,
        constructor: FunctionId,
        empty: FunctionId,
        elements: &[TypedId],
        sort: SortRef,
        span: Span,
    ) -> TypedId {
        let mut chain = self.specification.tree.add(Typed::Function(empty), sort, span);
        for &element in elements.iter().rev() {
            chain = self.apply(constructor, &[element, chain], sort, span);
        }
        chain
    }

    fn apply(&mut self, function: FunctionId, arguments: &[TypedId], sort: SortRef, span: Span) -> TypedId {
        let whole = self.specification.signature.function(function).sort;
        let function = self.specification.tree.add(Typed::Function(function), whole, span);
        let arguments = self.specification.tree.add_list(arguments);
        self.specification.tree.add(Typed::Apply(function, arguments), sort, span)
    }

    /// A built-in function at its sorts.
    pub(super) fn builtin(&mut self, operator: Operator, domain: &[SortRef], codomain: SortRef) -> FunctionId {
        let sort = if domain.is_empty() { codomain } else { self.specification.sorts.function(domain, codomain) };
        let name = self.operator_names[&operator];
        self.specification.signature.builtin(operator, name, sort)
    }

    /// An expression converted to a wider sort.
    fn converted(&mut self, typed: TypedId, to: SortRef) -> TypedId {
        let from = self.specification.tree.sort(typed);
        if from == to {
            return typed;
        }
        let operator = match (from, to) {
            (POS, NAT) => Operator::Pos2Nat,
            (POS, INT) => Operator::Pos2Int,
            (POS, REAL) => Operator::Pos2Real,
            (NAT, INT) => Operator::Nat2Int,
            (NAT, REAL) => Operator::Nat2Real,
            (INT, REAL) => Operator::Int2Real,
            _ => match self.specification.sorts.kind(from) {
                SortKind::Container(Container::FBag, _) => Operator::FBag2Bag,
                _ => Operator::FSet2Set,
            },
        };
        let span = self.specification.tree.place(typed);
        let operator = self.builtin(operator, &[from], to);
        self.apply(operator, &[typed], to, span)
    }

    fn choose_name(&mut self, id: ExpressionId, expected: SortRef) -> Result<TypedId, Reported> {
        let Expression::Name(name) = self.tree.expression(id) else { unreachable!("only names are chosen") };
        let span = self.tree.span(id);
        let wanted = Pattern::Known(expected);
        let mut best: Vec<(u32, FunctionId)> = Vec::new();
        for function in self.specification.signature.named(*name).to_vec() {
            let sort = self.specification.signature.function(function).sort;
            let converted = convert(&Pattern::Known(sort), &wanted, &mut self.specification.sorts);
            best.extend(converted.map(|(_, cost)| (cost, function)));
        }
        if best.is_empty() {
            for scheme in schemes().get(self.tree.names.text(*name)).into_iter().flatten() {
                let sort = if scheme.domain.is_empty() {
                    self.settle(&scheme.codomain)
                } else {
                    let whole = Pattern::Function(scheme.domain.clone(), Box::new(scheme.codomain.clone()));
                    let Some(found) = instance(&whole, expected, &mut self.specification.sorts) else { continue };
                    found
                };
                let converted = convert(&Pattern::Known(sort), &wanted, &mut self.specification.sorts);
                let name = self.operator_names[&scheme.operator];
                let function = self.specification.signature.builtin(scheme.operator, name, sort);
                best.extend(converted.map(|(_, cost)| (cost, function)));
            }
        }
        best.sort_unstable();
        let Some(&(least, function)) = best.first() else {
            let typings = self.possible(id)?;
            return Err(self.mismatch(id, &typings, expected));
        };
        if best.iter().filter(|(cost, _)| *cost == least).count() > 1 {
            let message = format!("`{}` has several sorts that fit", self.quote(id));
            return Err(self.error(codes::AMBIGUOUS, message, span, None));
        }
        let sort = self.specification.signature.function(function).sort;
        let typed = self.specification.tree.add(Typed::Function(function), sort, span);
        Ok(self.converted(typed, expected))
    }

    fn choose_application(
        &mut self,
        id: ExpressionId,
        application: &Application,
        expected: SortRef,
    ) -> Result<TypedId, Reported> {
        let span = self.tree.span(id);
        let heads = self.heads(application)?;
        let mut typings = Vec::new();
        for &argument in &application.arguments {
            typings.push(self.possible(argument)?);
        }
        let wanted = Pattern::Known(expected);
        let ways = self.ways(&heads, &typings, Some(&wanted));
        let Some(way) = ways.first() else {
            let typings = self.possible(id)?;
            return Err(self.mismatch(id, &typings, expected));
        };
        self.refuse_ambiguous(id, &ways)?;
        let domain: Vec<SortRef> = way.used.domain.iter().map(|part| self.settle(part)).collect();
        let codomain = self.settle(&way.used.codomain);
        let mut arguments = Vec::new();
        let mut failed = false;
        for (&argument, &sort) in application.arguments.iter().zip(&domain) {
            match self.check(argument, sort) {
                Ok(typed) => arguments.push(typed),
                Err(_) => failed = true,
            }
        }
        if failed {
            return Err(Reported);
        }
        let function_sort = self.specification.sorts.function(&domain, codomain);
        let function = match &way.head {
            Head::Declared(function, sort) => self.specification.tree.add(Typed::Function(*function), *sort, span),
            Head::Scheme(scheme) => {
                let function = self.builtin(scheme.operator, &domain, codomain);
                self.specification.tree.add(Typed::Function(function), function_sort, span)
            }
            Head::Value(_) => {
                let Some(function) = application.function else { unreachable!("a value is applied") };
                self.check(function, function_sort)?
            }
        };
        let list = self.specification.tree.add_list(&arguments);
        let typed = self.specification.tree.add(Typed::Apply(function, list), codomain, span);
        Ok(self.converted(typed, expected))
    }

    /// Reports two ways that cost the same and differ in what is applied or in the sorts of its arguments.
    fn refuse_ambiguous(&mut self, id: ExpressionId, ways: &[Way]) -> Result<(), Reported> {
        let first = &ways[0];
        let same_head = |way: &Way| match (&way.head, &first.head) {
            (Head::Declared(one, _), Head::Declared(other, _)) => one == other,
            (Head::Scheme(one), Head::Scheme(other)) => one.operator == other.operator,
            (Head::Value(_), Head::Value(_)) => true,
            _ => false,
        };
        let differs = |way: &&Way| way.cost == first.cost && !(same_head(way) && way.used.domain == first.used.domain);
        let Some(other) = ways.iter().find(differs) else { return Ok(()) };
        // Overlapping sorts of one built-in function on numbers mean the same, and so do those on sets and bags:
        // `s * x` of a finite set and a set is a finite set, or a set where the finite one is converted first.
        let sorts = &self.specification.sorts;
        let element = |pattern: &Pattern| pattern.as_container(sorts).map(|(_, element)| element);
        let means_the_same = |one: &Pattern, other: &Pattern| {
            is_number(one) && is_number(other) || element(one).is_some() && element(one) == element(other)
        };
        if let (Head::Scheme(one), Head::Scheme(another)) = (&first.head, &other.head)
            && one.operator == another.operator
            && first.used.domain.iter().zip(&other.used.domain).all(|(one, other)| means_the_same(one, other))
        {
            return Ok(());
        }
        let message = format!("`{}` can be typed in several ways", self.quote(id));
        let texts: Vec<String> = [first, other]
            .iter()
            .map(|way| {
                let domain: Vec<String> = way.used.domain.iter().map(|part| self.pattern_text(part)).collect();
                format!("{} -> {}", domain.join(" # "), self.pattern_text(&way.used.codomain))
            })
            .collect();
        let mut diagnostic = Diagnostic::error(codes::AMBIGUOUS, message, Place::Span(self.tree.span(id)));
        for text in texts {
            diagnostic = diagnostic.note(format!("with {text}"));
        }
        self.report(diagnostic);
        Err(Reported)
    }
}

fn is_number(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Known(sort) | Pattern::AtLeast(sort) if rank(*sort).is_some())
}

/// A pattern whose holes are filled by a sort: any would do.
fn fill_holes(pattern: &Pattern, sort: SortRef) -> Pattern {
    match pattern {
        Pattern::Any | Pattern::Variable(_) => Pattern::Known(sort),
        Pattern::Known(_) | Pattern::AtLeast(_) => pattern.clone(),
        Pattern::Container(container, element) => Pattern::Container(*container, Box::new(fill_holes(element, sort))),
        Pattern::Finite(container, element) => Pattern::Finite(*container, Box::new(fill_holes(element, sort))),
        Pattern::Function(domain, codomain) => {
            let domain = domain.iter().map(|part| fill_holes(part, sort)).collect();
            Pattern::Function(domain, Box::new(fill_holes(codomain, sort)))
        }
    }
}

/// The sort of a built-in function that is used as a value where this sort is expected.
fn instance(scheme: &Pattern, expected: SortRef, sorts: &mut crate::sorts::Sorts) -> Option<SortRef> {
    let Pattern::Function(domain, codomain) = scheme else { return None };
    let (wanted, _) = Pattern::Known(expected).as_function(sorts)?;
    (wanted.len() == domain.len()).then_some(())?;
    let arguments: Vec<&Pattern> = wanted.iter().collect();
    let used = super::schemes::solve(domain, codomain, &arguments, None, sorts)?;
    let whole = Pattern::function(used.domain, used.codomain, sorts);
    whole.settle(sorts)
}
