//! Terms with variables: made, looked at, rewritten, and read back as expressions.
//!
//! A variable is a constant that no rule knows, so the machine rewrites terms with variables like all others and leaves
//! what depends on them. Terms have no sorts, and conversions between numbers leave no trace in them; an expression has
//! both. Reading back goes from the outside in: the sort that is expected at a place, and the sort that the head of the
//! term has, say which conversion stands between them.

use std::collections::{HashMap, HashSet};

use trefoil_source::Span;
use trefoil_terms::{Section, Term};

use crate::signature::{FunctionId, Operator, Origin};
use crate::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef, rank};
use crate::syntax::tree::Container;
use crate::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};

use super::code::FunctionIndex;
use super::machine::{Rewriter, Unfinished};
use super::numbers::{self, Number};
use super::program::{Kind, Program, Role};

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// A number.
    Number,
    /// A function symbol applied to the arguments of the term; a constant has none.
    Applied(FunctionId),
    /// A function value, the first argument of the term, applied to the others.
    Value,
    /// A function symbol that takes arguments, as a value.
    Function(FunctionId),
    /// `lambda` over the captured values that are the arguments of the term.
    Lambda,
    /// A quantifier over the captured values that are the arguments of the term.
    Quantified(Quantifier),
    /// A variable, or a constant that was made outside of the program.
    Leaf,
}

impl Program {
    /// What a term is.
    pub fn view(&self, section: &Section<'_>, term: Term) -> View {
        let head = section.head(term);
        if self.numbers.is_number(head) {
            return View::Number;
        }
        match self.role(head) {
            Role::Applied(function) => match (self.function(function).kind, self.function(function).id) {
                (_, Some(id)) => View::Applied(id),
                (Kind::Apply(_), None) => View::Value,
                _ => View::Leaf,
            },
            Role::Bare(function) => self.function(function).id.map_or(View::Leaf, View::Function),
            Role::Closure(_) => View::Lambda,
            Role::Quantified(function) => match self.function(function).kind {
                Kind::Quantified(quantifier) => View::Quantified(quantifier),
                _ => View::Leaf,
            },
            Role::Delay(_) | Role::Later | Role::Foreign | Role::Form => View::Leaf,
        }
    }

    /// The built-in function that a term applies.
    pub fn applied_operator(&self, section: &Section<'_>, term: Term) -> Option<Operator> {
        match self.view(section, term) {
            View::Applied(id) => match self.specification.signature.function(id).origin {
                Origin::Builtin(operator) => Some(operator),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a term is `true` or `false`.
    pub fn truth_of(&self, term: Term) -> Option<bool> {
        self.truths.iter().position(|&truth| truth == term).map(|place| place == 1)
    }

    /// The term of a truth value.
    pub fn truth_term(&self, value: bool) -> Term {
        self.truths[usize::from(value)]
    }

    /// The narrowest sort of a number; nothing for other terms.
    pub fn number_sort(&self, section: &Section<'_>, term: Term) -> Option<SortRef> {
        Some(match self.numbers.read(section, term)? {
            Number::Fraction(..) => REAL,
            Number::Integer(value) if value > dashu_int::IBig::ZERO => POS,
            Number::Integer(value) if value == dashu_int::IBig::ZERO => NAT,
            Number::Integer(_) => INT,
        })
    }

    /// A constant that no rule knows.
    pub fn leaf(&self, section: &Section<'_>, name: &str) -> Term {
        section.create(self.pool.fresh_symbol(name, 0), &[])
    }
}

impl Rewriter<'_> {
    /// Whether a condition is true; one without variables that is stuck is not.
    pub(super) fn holds(&self, condition: Term) -> Option<bool> {
        self.program.truth_of(condition).or_else(|| self.is_closed(condition).then_some(false))
    }

    /// Whether a term has no variables.
    pub(super) fn is_closed(&self, term: Term) -> bool {
        let mut seen = HashSet::from([term]);
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            let head = self.section.head(term);
            if self.program.numbers.is_number(head) {
                continue;
            }
            if self.program.role(head) == Role::Foreign {
                return false;
            }
            pending.extend(self.section.arguments(term).iter().filter(|&argument| seen.insert(argument)));
        }
        true
    }

    /// The term of an expression that the program was made with, its variables replaced and nothing evaluated.
    pub fn instantiate(&self, expression: TypedId, value: &dyn Fn(VariableId) -> Option<Term>) -> Term {
        self.instance(expression, &|_, variable| value(variable))
    }

    /// The normal form of a term.
    pub fn normalise(&mut self, term: Term) -> Result<Term, Unfinished> {
        let height = self.stack.len();
        match self.rewrite(term) {
            Ok(()) => Ok(self.pop()),
            Err(unfinished) => {
                self.reset(height);
                Err(unfinished)
            }
        }
    }
}

/// Reads terms back as expressions of a specification: that of the program, to which expressions were added.
pub struct ReadBack<'a> {
    /// The program whose terms are read.
    pub program: &'a Program,
    /// The specification that gets the expressions.
    pub target: &'a mut DataSpecification,
    /// The variables of leaves.
    pub variables: HashMap<Term, VariableId>,
    /// Where the expressions stand.
    pub place: Span,
    /// Expressions that were read before.
    pub known: HashMap<(Term, SortRef), TypedId>,
}

impl ReadBack<'_> {
    /// The expression of a term at a place where a sort is expected; nothing for a leaf without a variable.
    pub fn expression(&mut self, section: &Section<'_>, term: Term, sort: SortRef) -> Option<TypedId> {
        if let Some(&known) = self.known.get(&(term, sort)) {
            return Some(known);
        }
        let read = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.inside(section, term, sort))?;
        self.known.insert((term, sort), read);
        Some(read)
    }

    fn inside(&mut self, section: &Section<'_>, term: Term, sort: SortRef) -> Option<TypedId> {
        match self.program.view(section, term) {
            View::Number => self.number(section, term, sort),
            View::Applied(function) => {
                let arguments: Vec<Term> = section.arguments(term).iter().collect();
                if self.program.applied_operator(section, term) == Some(Operator::Holds) {
                    return self.expression(section, arguments[0], sort);
                }
                let (function, domain, codomain) = self.at_sort(function, sort);
                let mut read = Vec::new();
                for (&argument, &part) in arguments.iter().zip(&domain) {
                    read.push(self.expression(section, argument, part)?);
                }
                let whole = self.target.signature.function(function).sort;
                let head = self.target.tree.add(Typed::Function(function), whole, self.place);
                let made = if read.is_empty() { head } else { self.apply(head, &read, codomain) };
                Some(self.converted(made, codomain, sort))
            }
            View::Value => {
                let arguments: Vec<Term> = section.arguments(term).iter().collect();
                let function_sort = self.sort_of(section, arguments[0])?;
                let (domain, codomain) = self.target.sorts.as_function(function_sort)?;
                let domain = domain.to_vec();
                let function = self.expression(section, arguments[0], function_sort)?;
                let mut read = Vec::new();
                for (&argument, &part) in arguments[1..].iter().zip(&domain) {
                    read.push(self.expression(section, argument, part)?);
                }
                let made = self.apply(function, &read, codomain);
                Some(self.converted(made, codomain, sort))
            }
            View::Function(function) => {
                let whole = self.target.signature.function(function).sort;
                let (function, whole) = match self.target.signature.function(function).origin {
                    Origin::Builtin(operator) if whole != sort => {
                        let name = self.target.names.intern(operator.name());
                        (self.target.signature.builtin(operator, name, sort), sort)
                    }
                    _ => (function, whole),
                };
                Some(self.target.tree.add(Typed::Function(function), whole, self.place))
            }
            View::Lambda | View::Quantified(_) => {
                let (Role::Closure(site) | Role::Quantified(site)) = self.program.role(section.head(term)) else {
                    return None;
                };
                self.site(section, term, site)
            }
            View::Leaf => {
                match self.program.role(section.head(term)) {
                    // What a quantifier that stays open has captured may not be evaluated yet.
                    Role::Delay(site) => {
                        let read = self.site(section, term, site)?;
                        let own = self.target.tree.sort(read);
                        return Some(self.converted(read, own, sort));
                    }
                    Role::Later => return self.expression(section, section.argument(term, 0), sort),
                    _ => {}
                }
                let &variable = self.variables.get(&term)?;
                let (_, own) = self.target.tree.variable(variable);
                let read = self.target.tree.add(Typed::Variable(variable), own, self.place);
                Some(self.converted(read, own, sort))
            }
        }
    }

    fn apply(&mut self, function: TypedId, arguments: &[TypedId], sort: SortRef) -> TypedId {
        let list = self.target.tree.add_list(arguments);
        self.target.tree.add(Typed::Apply(function, list), sort, self.place)
    }

    fn builtin(&mut self, operator: Operator, domain: &[SortRef], codomain: SortRef) -> TypedId {
        let whole = self.target.sorts.function(domain, codomain);
        let name = self.target.names.intern(operator.name());
        let function = self.target.signature.builtin(operator, name, whole);
        self.target.tree.add(Typed::Function(function), whole, self.place)
    }

    fn converted(&mut self, expression: TypedId, from: SortRef, to: SortRef) -> TypedId {
        let operator = match (from, to) {
            (POS, NAT) => Operator::Pos2Nat,
            (POS, INT) => Operator::Pos2Int,
            (POS, REAL) => Operator::Pos2Real,
            (NAT, INT) => Operator::Nat2Int,
            (NAT, REAL) => Operator::Nat2Real,
            (INT, REAL) => Operator::Int2Real,
            // A narrower number than the head's sort promises: the term was made where the wider sort was expected.
            (NAT, POS) => Operator::Nat2Pos,
            (INT, POS) => Operator::Int2Pos,
            (INT, NAT) => Operator::Int2Nat,
            (REAL, POS) => Operator::Real2Pos,
            (REAL, NAT) => Operator::Real2Nat,
            (REAL, INT) => Operator::Real2Int,
            _ => return expression,
        };
        let function = self.builtin(operator, &[from], to);
        self.apply(function, &[expression], to)
    }

    fn natural(&mut self, digits: &str) -> TypedId {
        let sort = if digits == "0" { NAT } else { POS };
        let digits = self.target.names.intern(digits);
        self.target.tree.add(Typed::Number(digits), sort, self.place)
    }

    fn number(&mut self, section: &Section<'_>, term: Term, sort: SortRef) -> Option<TypedId> {
        let number = self.program.numbers.read(section, term)?;
        match number {
            Number::Integer(value) => {
                let text = numbers::text(&Number::Integer(value));
                match text.strip_prefix('-') {
                    Some(digits) => {
                        let inside = self.natural(digits);
                        let negate = self.builtin(Operator::Negate, &[POS], INT);
                        let made = self.apply(negate, &[inside], INT);
                        Some(self.converted(made, INT, sort))
                    }
                    None => {
                        let made = self.natural(&text);
                        let own = self.target.tree.sort(made);
                        Some(self.converted(made, own, sort))
                    }
                }
            }
            Number::Fraction(..) => {
                let numerator = self.number(section, section.argument(term, 0), INT)?;
                let denominator = self.number(section, section.argument(term, 1), INT)?;
                let divide = self.builtin(Operator::Divide, &[INT, INT], REAL);
                Some(self.apply(divide, &[numerator, denominator], REAL))
            }
        }
    }

    /// A function symbol with its sorts at a place where a sort is expected: constructors of containers are the same
    /// symbols at every sort.
    fn at_sort(&mut self, function: FunctionId, expected: SortRef) -> (FunctionId, Vec<SortRef>, SortRef) {
        let described = self.program.specification.signature.function(function).clone();
        let shared = match described.origin {
            Origin::Builtin(operator) => container_of(operator).map(|container| (operator, container)),
            _ => None,
        };
        if let Some((operator, container)) = shared
            && let SortKind::Container(found, element) = *self.target.sorts.kind(expected)
        {
            // A finite set where a set is expected keeps its own sort, and is converted by its reader.
            let own = self.target.sorts.container(container, element);
            let domain = match operator {
                Operator::Cons | Operator::FSetCons => vec![element, own],
                Operator::FBagCons => vec![element, POS, own],
                Operator::SetConstructor => {
                    let exceptions = self.target.sorts.container(Container::FSet, element);
                    vec![self.target.sorts.function(&[element], BOOL), exceptions]
                }
                Operator::BagConstructor => {
                    let exceptions = self.target.sorts.container(Container::FBag, element);
                    vec![self.target.sorts.function(&[element], NAT), exceptions]
                }
                _ => Vec::new(),
            };
            debug_assert!(found == container, "a term of {container:?} where {found:?} is expected");
            let whole = if domain.is_empty() { own } else { self.target.sorts.function(&domain, own) };
            let name = self.target.names.intern(operator.name());
            return (self.target.signature.builtin(operator, name, whole), domain, own);
        }
        match self.target.sorts.as_function(described.sort) {
            Some((domain, codomain)) => (function, domain.to_vec(), codomain),
            None => (function, Vec::new(), described.sort),
        }
    }

    /// The sort of a term, as far as its head tells.
    pub fn sort_of(&mut self, section: &Section<'_>, term: Term) -> Option<SortRef> {
        match self.program.view(section, term) {
            View::Applied(function) => {
                let sort = self.program.specification.signature.function(function).sort;
                let arity = section.arity(term);
                match self.target.sorts.as_function(sort) {
                    Some((_, codomain)) if arity > 0 => Some(codomain),
                    _ => Some(sort),
                }
            }
            View::Function(function) => Some(self.program.specification.signature.function(function).sort),
            View::Value => {
                let function = self.sort_of(section, section.argument(term, 0))?;
                Some(self.target.sorts.as_function(function)?.1)
            }
            View::Lambda => {
                let Role::Closure(site) = self.program.role(section.head(term)) else { return None };
                let description = self.program.function(site);
                let (body, variables) = description.site.as_ref()?;
                let tree = &self.program.specification.tree;
                let domain: Vec<SortRef> =
                    variables[description.captured as usize..].iter().map(|&bound| tree.variable(bound).1).collect();
                let codomain = tree.sort(*body);
                Some(self.target.sorts.function(&domain, codomain))
            }
            View::Leaf => self.variables.get(&term).map(|&variable| self.target.tree.variable(variable).1),
            View::Number => self.program.number_sort(section, term),
            View::Quantified(_) => Some(BOOL),
        }
    }

    /// A closure, quantifier or delayed expression: its body with the captured values in it.
    fn site(&mut self, section: &Section<'_>, term: Term, site: FunctionIndex) -> Option<TypedId> {
        let description = self.program.function(site);
        let (body, variables) = description.site.clone()?;
        let captured = description.captured as usize;
        let kind = description.kind;
        let mut values: HashMap<VariableId, TypedId> = HashMap::new();
        for (index, &variable) in variables[..captured].iter().enumerate() {
            let sort = self.program.specification.tree.variable(variable).1;
            let value = self.expression(section, section.argument(term, index), sort)?;
            values.insert(variable, value);
        }
        let inside = self.replaced(body, &values);
        let bound = variables[captured..].to_vec();
        if let Role::Delay(_) = self.program.role(section.head(term)) {
            return Some(inside);
        }
        if let Kind::Quantified(quantifier) = kind {
            return Some(self.target.tree.add(Typed::Quantified(quantifier, bound, inside), BOOL, self.place));
        }
        let domain: Vec<SortRef> = bound.iter().map(|&variable| self.target.tree.variable(variable).1).collect();
        let codomain = self.target.tree.sort(inside);
        let sort = self.target.sorts.function(&domain, codomain);
        Some(self.target.tree.add(Typed::Lambda(bound, inside), sort, self.place))
    }

    /// An expression with variables replaced.
    fn replaced(&mut self, id: TypedId, values: &HashMap<VariableId, TypedId>) -> TypedId {
        if values.is_empty() {
            return id;
        }
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let sort = self.target.tree.sort(id);
            let made = match self.target.tree.expression(id).clone() {
                Typed::Variable(variable) => return values.get(&variable).copied().unwrap_or(id),
                Typed::Function(_) | Typed::Number(_) => return id,
                Typed::Apply(function, arguments) => {
                    let arguments = self.target.tree.elements(&arguments).to_vec();
                    let function = self.replaced(function, values);
                    let arguments: Vec<TypedId> =
                        arguments.into_iter().map(|argument| self.replaced(argument, values)).collect();
                    let list = self.target.tree.add_list(&arguments);
                    Typed::Apply(function, list)
                }
                Typed::Lambda(bound, body) => Typed::Lambda(bound, self.replaced(body, values)),
                Typed::Quantified(quantifier, bound, body) => {
                    Typed::Quantified(quantifier, bound, self.replaced(body, values))
                }
                Typed::Where(body, definitions) => {
                    let body = self.replaced(body, values);
                    let definitions =
                        definitions.into_iter().map(|(name, value)| (name, self.replaced(value, values))).collect();
                    Typed::Where(body, definitions)
                }
            };
            self.target.tree.add(made, sort, self.place)
        })
    }
}

fn container_of(operator: Operator) -> Option<Container> {
    Some(match operator {
        Operator::Cons | Operator::EmptyList => Container::List,
        Operator::FSetCons | Operator::EmptySet => Container::FSet,
        Operator::FBagCons | Operator::EmptyBag => Container::FBag,
        Operator::SetConstructor => Container::Set,
        Operator::BagConstructor => Container::Bag,
        _ => return None,
    })
}

/// Whether every value of one sort is a value of another one, converted upwards.
pub fn widens(from: SortRef, to: SortRef) -> bool {
    from == to || matches!((rank(from), rank(to)), (Some(from), Some(to)) if from <= to)
}
