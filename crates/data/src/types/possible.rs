//! The first pass, from the inside out: which sorts an expression can have.

use std::rc::Rc;

use trefoil_source::Span;

use crate::signature::{FunctionId, Operator};
use crate::sorts::{BOOL, NAT, POS, SortRef};
use crate::syntax::tree::{Binder, Container, Expression, ExpressionId, Infix, Prefix, Symbol};
use crate::typed::VariableId;

use super::patterns::{Pattern, convert, join};
use super::schemes::{Scheme, Use, schemes, solve};
use super::{Checker, Reported, Typing, Typings, codes};

/// Combinations of argument sorts beyond this are not tried; what remains is reported as ambiguous.
const MOST_COMBINATIONS: usize = 20_000;

/// Something that can be applied.
#[derive(Clone, Debug)]
pub(super) enum Head {
    /// A declared function with its sort.
    Declared(FunctionId, SortRef),
    /// A built-in function.
    Scheme(&'static Scheme),
    /// The value of an expression, which is a function.
    Value(Pattern),
}

/// A way to type an application.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) head: Head,
    pub(super) used: Use,
    /// The cost with that of the arguments.
    pub(super) cost: u32,
}

/// How an application is written.
#[derive(Clone, Debug)]
pub(super) struct Application {
    /// What stands before the brackets; none for an operator.
    pub(super) function: Option<ExpressionId>,
    pub(super) operator: Option<&'static str>,
    pub(super) arguments: Vec<ExpressionId>,
}

pub(super) fn one(pattern: Pattern, cost: u32) -> Typings {
    Rc::new([Typing { pattern, cost }])
}

impl Checker<'_> {
    /// The sorts that an expression can have. At least one, or a mistake was reported.
    pub(super) fn possible(&mut self, id: ExpressionId) -> Result<Typings, Reported> {
        if let Some(known) = self.possible.get(&id) {
            return known.clone();
        }
        let found = stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.find_possible(id));
        let found = found.and_then(|typings| {
            let deepest = typings.iter().map(|typing| typing.pattern.depth(&self.specification.sorts)).max();
            self.refuse_deep_sort(deepest.unwrap_or(0), self.tree.span(id)).map(|()| typings)
        });
        self.possible.insert(id, found.clone());
        found
    }

    fn find_possible(&mut self, id: ExpressionId) -> Result<Typings, Reported> {
        let tree = self.tree;
        match tree.expression(id) {
            Expression::Brackets(inside) => self.possible(*inside),
            Expression::Number(digits) => {
                let sort = if tree.names.text(*digits).bytes().all(|digit| digit == b'0') { NAT } else { POS };
                Ok(one(Pattern::Known(sort), 0))
            }
            Expression::Name(name) => self.possible_name(*name, tree.span(id)),
            Expression::List(list) => {
                let element = self.elements(tree.elements(list))?;
                Ok(self.containers(Container::List, element))
            }
            Expression::Set(list) => {
                let element = self.elements(tree.elements(list))?;
                Ok(self.containers(Container::FSet, element))
            }
            Expression::Bag(list) => {
                let pairs = tree.elements(list);
                let elements: Vec<ExpressionId> = pairs.iter().copied().step_by(2).collect();
                let counts: Vec<ExpressionId> = pairs.iter().copied().skip(1).step_by(2).collect();
                let element = self.elements(&elements);
                let counted = counts.iter().map(|&count| self.must_convert(count, NAT)).collect::<Vec<_>>();
                counted.into_iter().collect::<Result<(), Reported>>()?;
                Ok(self.containers(Container::FBag, element?))
            }
            Expression::Comprehension(..) => {
                let Expression::Comprehension(_, _, body) = tree.expression(id) else { unreachable!() };
                let bound = self.bound_by(id)?;
                let element = self.specification.tree.variable(bound[0]).1;
                self.rebind(&bound);
                let body = self.possible(*body);
                self.unbind(&bound);
                self.comprehension(id, element, &body?)
            }
            Expression::Binder(binder, _, body) => {
                let bound = self.bound_by(id)?;
                self.rebind(&bound);
                let result = match binder {
                    Binder::Forall | Binder::Exists => {
                        self.must_convert(*body, BOOL).map(|()| one(Pattern::Known(BOOL), 0))
                    }
                    Binder::Lambda => self.possible(*body),
                };
                self.unbind(&bound);
                match binder {
                    Binder::Forall | Binder::Exists => result,
                    Binder::Lambda => {
                        let domain: Vec<SortRef> =
                            bound.iter().map(|&variable| self.specification.tree.variable(variable).1).collect();
                        Ok(self.functions(&domain, &result?))
                    }
                }
            }
            Expression::Where(body, definitions) => {
                let mut bound = Vec::new();
                let mut failed = self.refuse_repeated(definitions.iter().map(|(name, _)| name)).is_err();
                for (name, value) in definitions {
                    failed |= self.refuse_clash(name).is_err();
                    match self.infer(*value) {
                        Ok(typed) => {
                            let sort = self.specification.tree.sort(typed);
                            let variable = self.specification.tree.add_variable(name.symbol, sort);
                            self.definitions.insert(*value, (variable, typed));
                            bound.push(variable);
                        }
                        Err(_) => {
                            failed = true;
                            self.broken.insert(name.symbol);
                        }
                    }
                }
                self.rebind(&bound);
                let body = self.possible(*body);
                self.unbind(&bound);
                if failed { Err(Reported) } else { body }
            }
            Expression::Prefix(..) | Expression::Infix(..) | Expression::Apply(..) | Expression::Update(..) => {
                let application = self.application(id);
                self.possible_application(id, &application)
            }
        }
    }

    /// The variables that an expression binds.
    pub(super) fn bound_by(&mut self, id: ExpressionId) -> Result<Vec<VariableId>, Reported> {
        if let Some(bound) = self.bound.get(&id) {
            return Ok(bound.clone());
        }
        let bound = match self.tree.expression(id) {
            Expression::Binder(_, variables, _) => self.bind(variables.iter())?,
            Expression::Comprehension(variable, sort, _) => {
                let group = crate::syntax::tree::Variables { names: vec![*variable], sort: *sort };
                self.bind([&group].into_iter())?
            }
            _ => unreachable!("only binders bind"),
        };
        self.unbind(&bound);
        self.bound.insert(id, bound.clone());
        Ok(bound)
    }

    /// Reports an expression that cannot be of this sort.
    pub(super) fn must_convert(&mut self, id: ExpressionId, sort: SortRef) -> Result<(), Reported> {
        if self.fits(id, sort)? {
            return Ok(());
        }
        let typings = self.possible(id)?;
        Err(self.mismatch(id, &typings, sort))
    }

    /// Whether an expression can be of this sort, as it is or converted. Mistakes inside it are reported.
    pub fn fits(&mut self, id: ExpressionId, sort: SortRef) -> Result<bool, Reported> {
        let typings = self.possible(id)?;
        let wanted = Pattern::Known(sort);
        Ok(typings.iter().any(|typing| convert(&typing.pattern, &wanted, &mut self.specification.sorts).is_some()))
    }

    /// The sorts that an expression can have, in words. Mistakes inside it are reported.
    pub fn sorts_in_words(&mut self, id: ExpressionId) -> Result<String, Reported> {
        let typings = self.possible(id)?;
        Ok(self.describe(&typings))
    }

    fn possible_name(&mut self, name: Symbol, span: Span) -> Result<Typings, Reported> {
        if let Some(&variable) = self.scopes.get(&name).and_then(|scope| scope.last()) {
            return Ok(one(Pattern::Known(self.specification.tree.variable(variable).1), 0));
        }
        let declared = self.specification.signature.named(name);
        let mut typings: Vec<Typing> = declared
            .iter()
            .map(|&id| Typing { pattern: Pattern::Known(self.specification.signature.function(id).sort), cost: 0 })
            .collect();
        if typings.is_empty()
            && let Some(schemes) = schemes().get(self.tree.names.text(name))
        {
            for scheme in schemes {
                let arguments = vec![&Pattern::Any; scheme.domain.len()];
                let used = solve(&scheme.domain, &scheme.codomain, &arguments, None, &mut self.specification.sorts);
                let Some(Use { domain, codomain, .. }) = used else { continue };
                let pattern = if domain.is_empty() {
                    codomain
                } else {
                    Pattern::function(domain, codomain, &mut self.specification.sorts)
                };
                typings.push(Typing { pattern, cost: 0 });
            }
        }
        if typings.is_empty() {
            return Err(self.unknown_name(name, span));
        }
        Ok(typings.into())
    }

    /// The patterns that the elements of a literal can have in common.
    fn elements(&mut self, elements: &[ExpressionId]) -> Result<Vec<Typing>, Reported> {
        let mut together = vec![Typing { pattern: Pattern::Any, cost: 0 }];
        let mut failed = false;
        for &element in elements {
            let Ok(typings) = self.possible(element) else {
                failed = true;
                continue;
            };
            let mut next: Vec<Typing> = Vec::new();
            for before in &together {
                for typing in typings.iter() {
                    let both = join(&before.pattern, &typing.pattern, &mut self.specification.sorts);
                    if let Some((pattern, conversions)) = both {
                        add(&mut next, Typing { pattern, cost: before.cost + typing.cost + conversions });
                    }
                }
            }
            if next.is_empty() {
                let before = self.describe(&together);
                let found = self.describe(&typings);
                let message = format!("`{}` is {found}, the elements before it are {before}", self.quote(element));
                let help = Some("the elements of a list, set or bag have one sort".to_string());
                return Err(self.error(codes::MISMATCH, message, self.tree.span(element), help));
            }
            together = next;
        }
        if failed {
            return Err(Reported);
        }
        let sorts = &self.specification.sorts;
        Ok(together.into_iter().map(|typing| Typing { pattern: typing.pattern.opened(sorts), ..typing }).collect())
    }

    fn containers(&mut self, container: Container, elements: Vec<Typing>) -> Typings {
        elements
            .into_iter()
            .map(|element| Typing {
                pattern: Pattern::container(container, element.pattern, &mut self.specification.sorts),
                cost: element.cost,
            })
            .collect()
    }

    fn functions(&mut self, domain: &[SortRef], results: &[Typing]) -> Typings {
        results
            .iter()
            .map(|result| {
                let domain = domain.iter().map(|&sort| Pattern::Known(sort)).collect();
                let codomain = result.pattern.clone().opened(&self.specification.sorts);
                let pattern = Pattern::function(domain, codomain, &mut self.specification.sorts);
                Typing { pattern, cost: result.cost }
            })
            .collect()
    }

    /// A comprehension is a set when its body is a truth value, and a bag when it is a number.
    fn comprehension(&mut self, id: ExpressionId, element: SortRef, body: &[Typing]) -> Result<Typings, Reported> {
        let mut typings = Vec::new();
        for typing in body {
            for (wanted, container) in [(BOOL, Container::Set), (NAT, Container::Bag)] {
                let converted = convert(&typing.pattern, &Pattern::Known(wanted), &mut self.specification.sorts);
                if let Some((_, conversions)) = converted {
                    let sort = self.specification.sorts.container(container, element);
                    add(&mut typings, Typing { pattern: Pattern::Known(sort), cost: typing.cost + conversions });
                }
            }
        }
        if typings.is_empty() {
            let Expression::Comprehension(_, _, inside) = self.tree.expression(id) else { unreachable!() };
            let found = self.describe(body);
            let message = format!("`{}` is {found}; a set is given by a `Bool`, a bag by a `Nat`", self.quote(*inside));
            let help = self.conversion_help(*inside, body, NAT);
            return Err(self.error(codes::MISMATCH, message, self.tree.span(*inside), help));
        }
        Ok(typings.into())
    }

    /// An operator or an application, in one form.
    pub(super) fn application(&self, id: ExpressionId) -> Application {
        let tree = self.tree;
        match tree.expression(id) {
            Expression::Prefix(prefix, operand) => {
                let operator = match prefix {
                    Prefix::Not => "!",
                    Prefix::Minus => "-",
                    Prefix::Size => "#",
                };
                Application { function: None, operator: Some(operator), arguments: vec![*operand] }
            }
            Expression::Infix(infix, left, right) => {
                Application { function: None, operator: Some(Infix::text(*infix)), arguments: vec![*left, *right] }
            }
            Expression::Update(function, argument, value) => Application {
                function: None,
                operator: Some(Operator::Update.name()),
                arguments: vec![*function, *argument, *value],
            },
            Expression::Apply(function, arguments) => {
                Application { function: Some(*function), operator: None, arguments: tree.elements(arguments).to_vec() }
            }
            _ => unreachable!("the caller passes applications only"),
        }
    }

    /// What may be applied in an application.
    pub(super) fn heads(&mut self, application: &Application) -> Result<Vec<Head>, Reported> {
        let arity = application.arguments.len();
        if let Some(operator) = application.operator {
            let schemes = schemes().get(operator).map_or(&[][..], Vec::as_slice);
            return Ok(schemes.iter().filter(|scheme| scheme.domain.len() == arity).map(Head::Scheme).collect());
        }
        let Some(function) = application.function else { unreachable!("an application has a function") };
        let bare = self.tree.bare(function);
        let name = match self.tree.expression(bare) {
            Expression::Name(name) if self.scopes.get(name).is_none_or(Vec::is_empty) => *name,
            _ => {
                let typings = self.possible(function)?;
                return Ok(typings.iter().map(|typing| Head::Value(typing.pattern.clone())).collect());
            }
        };
        let mut heads: Vec<Head> = self
            .specification
            .signature
            .named(name)
            .iter()
            .map(|&id| Head::Declared(id, self.specification.signature.function(id).sort))
            .collect();
        heads.extend(schemes().get(self.tree.names.text(name)).into_iter().flatten().map(Head::Scheme));
        if heads.is_empty() {
            return Err(self.unknown_name(name, self.tree.span(bare)));
        }
        Ok(heads)
    }

    /// Domain and codomain of something that is applied.
    pub(super) fn head_sorts(&self, head: &Head) -> Option<(Vec<Pattern>, Pattern)> {
        match head {
            Head::Declared(_, sort) => Pattern::Known(*sort).as_function(&self.specification.sorts),
            Head::Scheme(scheme) => {
                (!scheme.domain.is_empty()).then(|| (scheme.domain.clone(), scheme.codomain.clone()))
            }
            Head::Value(pattern) => pattern.as_function(&self.specification.sorts),
        }
    }

    /// Every way to type an application, cheapest first, given what is expected of it.
    pub(super) fn ways(&mut self, heads: &[Head], arguments: &[Typings], expected: Option<&Pattern>) -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        for head in heads {
            let Some((domain, codomain)) = self.head_sorts(head) else { continue };
            if domain.len() != arguments.len() {
                continue;
            }
            let combinations: usize = arguments.iter().map(|typings| typings.len()).product();
            for combination in 0..combinations.min(MOST_COMBINATIONS) {
                let mut rest = combination;
                let mut cost = 0;
                let mut chosen: Vec<&Pattern> = Vec::with_capacity(arguments.len());
                for typings in arguments {
                    let typing = &typings[rest % typings.len()];
                    rest /= typings.len();
                    cost += typing.cost;
                    chosen.push(&typing.pattern);
                }
                let sorts = &mut self.specification.sorts;
                let used = match head {
                    Head::Scheme(_) => solve(&domain, &codomain, &chosen, expected, sorts),
                    Head::Declared(..) | Head::Value(_) => apply_known(&domain, &codomain, &chosen, expected, sorts),
                };
                if let Some(used) = used {
                    let cost = cost + used.cost;
                    ways.push(Way { head: head.clone(), used, cost });
                }
            }
        }
        ways.sort_by_key(|way| way.cost);
        ways
    }

    fn possible_application(&mut self, id: ExpressionId, application: &Application) -> Result<Typings, Reported> {
        let mut arguments = Vec::new();
        let mut failed = false;
        for &argument in &application.arguments {
            match self.possible(argument) {
                Ok(typings) => arguments.push(typings),
                Err(_) => failed = true,
            }
        }
        let heads = self.heads(application)?;
        if failed {
            return Err(Reported);
        }
        let ways = self.ways(&heads, &arguments, None);
        if ways.is_empty() {
            return Err(self.no_way(id, application, &heads, &arguments));
        }
        let mut typings: Vec<Typing> = Vec::new();
        for way in ways {
            add(&mut typings, Typing { pattern: way.used.codomain, cost: way.cost });
        }
        self.drop_implied(&mut typings);
        Ok(typings.into())
    }

    /// Leaves out what follows from another typing by converting its result.
    fn drop_implied(&mut self, typings: &mut Vec<Typing>) {
        let all = typings.clone();
        let sorts = &mut self.specification.sorts;
        typings.retain(|typing| {
            !all.iter().any(|other| {
                other != typing
                    && convert(&other.pattern, &typing.pattern, sorts)
                        .is_some_and(|(_, conversions)| conversions > 0 && other.cost + conversions <= typing.cost)
            })
        });
    }
}

/// Adds a typing, or keeps the cheaper of two with one pattern.
fn add(typings: &mut Vec<Typing>, typing: Typing) {
    match typings.iter_mut().find(|known| known.pattern == typing.pattern) {
        Some(known) => known.cost = known.cost.min(typing.cost),
        None => typings.push(typing),
    }
}

/// Applies a function whose sort has no variables; it may have holes that the arguments fill.
fn apply_known(
    domain: &[Pattern],
    codomain: &Pattern,
    arguments: &[&Pattern],
    expected: Option<&Pattern>,
    sorts: &mut crate::sorts::Sorts,
) -> Option<Use> {
    let mut cost = 0;
    let mut filled = Vec::with_capacity(domain.len());
    for (parameter, argument) in domain.iter().zip(arguments) {
        let (pattern, conversions) = convert(argument, parameter, sorts)?;
        cost += conversions;
        filled.push(pattern);
    }
    let mut codomain = codomain.clone();
    if let Some(expected) = expected {
        let (_, conversions) = convert(&codomain, expected, sorts)?;
        cost += conversions;
        if let Some(both) = super::patterns::meet(&codomain, expected, sorts) {
            codomain = both;
        }
    }
    Some(Use { domain: filled, codomain, cost })
}
