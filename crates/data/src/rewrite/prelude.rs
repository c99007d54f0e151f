//! The equations of the built-in sorts, in the language itself.
//!
//! A page of equations is taken up for every sort at which one of its functions is used, and those equations may use
//! further functions, so this goes on until nothing is new. Numbers have no equations: their functions are built in
//! (`numbers.rs`). The functions on constructors of structured sorts are made directly, because names of constructors
//! may be overloaded.

use std::collections::HashSet;

use crate::signature::{FunctionId, Operator, Origin};
use crate::sorts::{BOOL, SortKind, SortRef};
use crate::syntax::Parser;
use crate::syntax::tree::{Container, Names};
use crate::typed::{DataSpecification, Quantifier, Typed, TypedEquation, TypedId, VariableId};
use crate::types::Checker;

use super::pages::Page;

/// The pages that a specification has, so that one that is completed again gets only what is new.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    pages: HashSet<(Page, SortRef, SortRef)>,
    /// Functions whose pages were taken.
    functions: usize,
    /// Expressions that were searched for variables of quantifiers.
    expressions: usize,
    /// Sorts whose values can be made.
    made: HashSet<SortRef>,
}

impl Taken {
    /// Are the functions there that values of this sort, a set or a function, are made with?
    pub(super) fn makes(&self, sort: SortRef) -> bool {
        self.made.contains(&sort)
    }
}

/// A specification with the equations of every built-in function that it uses, and of those that values of listed
/// variables are made with.
pub(super) fn complete(specification: DataSpecification, listed: &[VariableId]) -> DataSpecification {
    let mut specification = specification;
    if specification.taken.functions == 0 {
        truths(&mut specification);
        structured(&mut specification);
        applied(&mut specification);
    }
    let mut made = std::mem::take(&mut specification.taken.made);
    make_values(&mut specification, listed, &mut made);
    loop {
        let (quantified, expressions) = specification.tree.quantified(specification.taken.expressions);
        specification.taken.expressions = expressions;
        if !quantified.is_empty() {
            // A quantifier that stays open becomes a connective of what its body is for each value.
            builtin(&mut specification, Operator::And, &[BOOL, BOOL], BOOL);
            builtin(&mut specification, Operator::Or, &[BOOL, BOOL], BOOL);
        }
        make_values(&mut specification, &quantified, &mut made);
        if specification.taken.functions == specification.signature.len() {
            break;
        }
        let id = FunctionId(specification.taken.functions as u32);
        specification.taken.functions += 1;
        equal_functions(&mut specification, id);
        for (page, one, other) in pages(&specification, id) {
            if specification.taken.pages.insert((page, one, other)) {
                specification = take(specification, page, one, other);
            }
        }
    }
    specification.taken.made = made;
    specification
}

/// The pages that a function symbol is on, with their sorts.
fn pages(specification: &DataSpecification, id: FunctionId) -> Vec<(Page, SortRef, SortRef)> {
    let function = specification.signature.function(id);
    let Origin::Builtin(operator) = function.origin else { return Vec::new() };
    let sorts = &specification.sorts;
    let domain = sorts.as_function(function.sort).map_or(&[][..], |(domain, _)| domain);
    let codomain = sorts.as_function(function.sort).map_or(function.sort, |(_, codomain)| codomain);
    let container = |sort: SortRef| match sorts.kind(sort) {
        SortKind::Container(Container::List, element) => Some((Page::List, *element, *element)),
        SortKind::Container(Container::FSet, element) => Some((Page::FSet, *element, *element)),
        SortKind::Container(Container::Set, element) => Some((Page::Set, *element, *element)),
        SortKind::Container(Container::FBag, element) => Some((Page::FBag, *element, *element)),
        SortKind::Container(Container::Bag, element) => Some((Page::Bag, *element, *element)),
        _ => None,
    };
    let mut pages: Vec<(Page, SortRef, SortRef)> = Vec::new();
    match operator {
        Operator::NotEqual | Operator::Greater | Operator::GreaterEqual => {
            pages.push((Page::Comparison, domain[0], domain[0]));
        }
        Operator::Not if domain[0] == BOOL => pages.push((Page::Truth, BOOL, BOOL)),
        Operator::Equal | Operator::Less | Operator::LessEqual if domain[0] == BOOL => {
            pages.push((Page::Truth, BOOL, BOOL));
        }
        Operator::Update => {
            if let Some(([argument], value)) = sorts.as_function(codomain) {
                pages.push((Page::Update, *argument, value));
            }
        }
        _ => {}
    }
    pages.extend(domain.iter().chain([&codomain]).filter_map(|&sort| container(sort)));
    if let (Operator::Complement, SortKind::Container(Container::Set, element)) = (operator, sorts.kind(codomain)) {
        let page = if specification.has_normal_sets(*element) { Page::FiniteComplement } else { Page::Complement };
        pages.push((page, *element, *element));
    }
    pages
}

/// Takes up a page.
fn take(mut specification: DataSpecification, page: Page, one: SortRef, other: SortRef) -> DataSpecification {
    let text = page.text(specification.is_ordered(one));
    let text = text.as_ref();
    let names: Names = std::mem::take(&mut specification.names);
    let mut parser = Parser::internal(text, names);
    let s = parser.tree.names.intern("S");
    let t = parser.tree.names.intern("T");
    let Some(section) = parser.data_section() else { unreachable!("a page has a section") };
    debug_assert!(parser.diagnostics.is_empty(), "{page:?}: {:?}", parser.diagnostics);
    let mut checker = Checker::internal(specification, &parser.tree, text, [(s, one), (t, other)]);
    checker.equations([&section].into_iter());
    debug_assert!(
        checker.diagnostics.iter().all(|found| found.severity == trefoil_source::Severity::Warning),
        "{page:?}: {:#?}",
        checker.diagnostics
    );
    checker.specification
}

/// Truth values are there whatever is used.
fn truths(specification: &mut DataSpecification) {
    for operator in [Operator::False, Operator::True] {
        let name = specification.names.intern(operator.name());
        specification.signature.builtin(operator, name, BOOL);
    }
}

/// Takes up the functions that values of variables are made with, where these are sets and functions.
fn make_values(specification: &mut DataSpecification, variables: &[VariableId], made: &mut HashSet<SortRef>) {
    let mut pending: Vec<SortRef> = variables.iter().map(|&variable| specification.tree.variable(variable).1).collect();
    while let Some(sort) = pending.pop() {
        if !made.insert(sort) {
            continue;
        }
        match specification.sorts.kind(sort).clone() {
            SortKind::Basic(_) => {}
            SortKind::Container(container, element) => {
                pending.push(element);
                if let Container::Set | Container::FSet = container {
                    let finite = specification.sorts.container(Container::FSet, element);
                    let to_bool = specification.sorts.function(&[element], BOOL);
                    builtin(specification, Operator::EmptySet, &[], finite);
                    builtin(specification, Operator::FSetCons, &[element, finite], finite);
                    let set = specification.sorts.container(Container::Set, element);
                    builtin(specification, Operator::Nothing, &[element], BOOL);
                    builtin(specification, Operator::SetConstructor, &[to_bool, finite], set);
                }
            }
            SortKind::Function(domain, codomain) => {
                pending.extend(domain.iter().copied().chain([codomain]));
                if let [argument] = *domain {
                    builtin(specification, Operator::ConstantFunction, &[codomain], sort);
                    builtin(specification, Operator::StableUpdate, &[sort, argument, codomain], sort);
                    builtin(specification, Operator::Update, &[sort, argument, codomain], sort);
                }
            }
            SortKind::Named(_) | SortKind::Structured(_) => {
                for &constructor in specification.sorts.constructors(sort) {
                    let whole = specification.signature.function(constructor).sort;
                    pending.extend(specification.sorts.as_function(whole).map_or(&[][..], |(domain, _)| domain));
                }
            }
        }
    }
}

fn builtin(specification: &mut DataSpecification, operator: Operator, domain: &[SortRef], codomain: SortRef) {
    let sort = if domain.is_empty() { codomain } else { specification.sorts.function(domain, codomain) };
    let name = specification.names.intern(operator.name());
    specification.signature.builtin(operator, name, sort);
}

/// Functions are equal when they give equal values: `f == g` is `forall x. f(x) == g(x)`.
fn equal_functions(specification: &mut DataSpecification, equality: FunctionId) {
    let function = specification.signature.function(equality);
    let (Origin::Builtin(Operator::Equal), Some((&[sort, _], _))) =
        (function.origin, specification.sorts.as_function(function.sort))
    else {
        return;
    };
    let Some((domain, codomain)) = specification.sorts.as_function(sort) else { return };
    let domain = domain.to_vec();
    let mut make = Maker {
        specification,
        place: trefoil_source::Span { file: trefoil_source::FileId(u32::MAX), start: 0, end: 0 },
    };
    let functions = [make.variable(sort), make.variable(sort)];
    let left = make.apply(equality, &functions, BOOL);
    let arguments: Vec<TypedId> = domain.iter().map(|&part| make.variable(part)).collect();
    let values = functions.map(|function| {
        let list = make.specification.tree.add_list(&arguments);
        make.specification.tree.add(Typed::Apply(function, list), codomain, make.place)
    });
    let body = make.operator(Operator::Equal, codomain, &values);
    let tree = &make.specification.tree;
    let bound = arguments.iter().flat_map(|&argument| tree.free_variables(argument)).collect();
    let quantified = Typed::Quantified(Quantifier::Forall, bound, body);
    let right = make.specification.tree.add(quantified, BOOL, make.place);
    make.equation(left, right);
}

/// An equation `f = e` of a function with arguments also says what `f(x)` is.
fn applied(specification: &mut DataSpecification) {
    for number in 0..specification.equations.len() {
        let TypedEquation { condition, left, right, place } = specification.equations[number].clone();
        let Typed::Function(function) = *specification.tree.expression(left) else { continue };
        let whole = specification.signature.function(function).sort;
        let Some((domain, codomain)) = specification.sorts.as_function(whole) else { continue };
        let domain = domain.to_vec();
        let mut make = Maker { specification, place };
        let arguments: Vec<TypedId> = domain.iter().map(|&sort| make.variable(sort)).collect();
        let left = make.apply(function, &arguments, codomain);
        let list = specification.tree.add_list(&arguments);
        let right = specification.tree.add(Typed::Apply(right, list), codomain, place);
        specification.equations.push(TypedEquation { condition, left, right, place });
    }
}

/// The functions of structured sorts on their constructors. Constructors that differ are compared by the machine.
fn structured(specification: &mut DataSpecification) {
    for (sort, constructors) in specification.structured.clone() {
        for constructor in &constructors {
            let function = specification.signature.function(constructor.constructor).clone();
            let Some(place) = function.place else { continue };
            let domain =
                specification.sorts.as_function(function.sort).map_or(Vec::new(), |(domain, _)| domain.to_vec());
            let mut make = Maker { specification, place };
            let ones: Vec<TypedId> = domain.iter().map(|&part| make.variable(part)).collect();
            let one = make.apply(constructor.constructor, &ones, sort);
            for (index, projection) in constructor.projections.iter().enumerate() {
                if let Some(projection) = projection {
                    let left = make.apply(*projection, &[one], domain[index]);
                    make.equation(left, ones[index]);
                }
            }
            let recognisers: Vec<(FunctionId, bool)> = constructors
                .iter()
                .filter_map(|other| Some((other.recogniser?, other.constructor == constructor.constructor)))
                .collect();
            for (recogniser, holds) in recognisers {
                let left = make.apply(recogniser, &[one], BOOL);
                let right = make.truth(holds);
                make.equation(left, right);
            }
            let others: Vec<TypedId> = domain.iter().map(|&part| make.variable(part)).collect();
            let other = make.apply(constructor.constructor, &others, sort);
            make.comparisons(sort, one, other, &domain, &ones, &others);
        }
    }
}

/// Makes typed expressions.
struct Maker<'a> {
    specification: &'a mut DataSpecification,
    place: trefoil_source::Span,
}

impl Maker<'_> {
    fn variable(&mut self, sort: SortRef) -> TypedId {
        let name = self.specification.names.intern("x");
        let variable = self.specification.tree.add_variable(name, sort);
        self.specification.tree.add(Typed::Variable(variable), sort, self.place)
    }

    fn apply(&mut self, function: FunctionId, arguments: &[TypedId], sort: SortRef) -> TypedId {
        let whole = self.specification.signature.function(function).sort;
        let head = self.specification.tree.add(Typed::Function(function), whole, self.place);
        if arguments.is_empty() {
            return head;
        }
        let list = self.specification.tree.add_list(arguments);
        self.specification.tree.add(Typed::Apply(head, list), sort, self.place)
    }

    fn operator(&mut self, operator: Operator, sort: SortRef, arguments: &[TypedId]) -> TypedId {
        let whole = self.specification.sorts.function(&[sort, sort], BOOL);
        let name = self.specification.names.intern(operator.name());
        let function = self.specification.signature.builtin(operator, name, whole);
        self.apply(function, arguments, BOOL)
    }

    fn truth(&mut self, value: bool) -> TypedId {
        let operator = if value { Operator::True } else { Operator::False };
        let name = self.specification.names.intern(operator.name());
        let function = self.specification.signature.builtin(operator, name, BOOL);
        self.apply(function, &[], BOOL)
    }

    fn equation(&mut self, left: TypedId, right: TypedId) {
        let place = self.place;
        self.specification.equations.push(TypedEquation { condition: None, left, right, place });
    }

    /// `==`, `<` and `<=` of two applications of one constructor: arguments from left to right.
    fn comparisons(
        &mut self,
        sort: SortRef,
        one: TypedId,
        other: TypedId,
        domain: &[SortRef],
        ones: &[TypedId],
        others: &[TypedId],
    ) {
        for operator in [Operator::Equal, Operator::Less, Operator::LessEqual] {
            let left = self.operator(operator, sort, &[one, other]);
            let mut right = self.truth(operator != Operator::Less);
            for index in (0..domain.len()).rev() {
                let (part, pair) = (domain[index], [ones[index], others[index]]);
                let is_last = index + 1 == domain.len();
                if is_last {
                    right = self.operator(operator, part, &pair);
                    continue;
                }
                let equal = self.operator(Operator::Equal, part, &pair);
                right = self.operator(Operator::And, BOOL, &[equal, right]);
                if operator != Operator::Equal {
                    let less = self.operator(Operator::Less, part, &pair);
                    right = self.operator(Operator::Or, BOOL, &[less, right]);
                }
            }
            self.equation(left, right);
        }
    }
}
