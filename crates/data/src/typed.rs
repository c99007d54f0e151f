//! What typing gives: function symbols, sorts, and expressions in which every name is resolved and every conversion is
//! written out.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use trefoil_source::Span;

use crate::signature::{FunctionId, Operator, Signature};
use crate::sorts::{BOOL, SortKind, SortRef, Sorts};
use crate::syntax::tree::{Names, Symbol};

/// An expression in a [`TypedTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypedId(pub u32);

/// A variable in a [`TypedTree`]; two variables of one name in two scopes are two variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// Operators that bind variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
}

/// An expression whose sort is known. Literals of lists, sets and bags are chains of their constructors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A variable.
    Variable(VariableId),
    /// A function symbol, applied to nothing.
    Function(FunctionId),
    /// A number, by its digits.
    Number(Symbol),
    /// An application.
    Apply(TypedId, TypedList),
    /// `lambda x: S. e`
    Lambda(Vec<VariableId>, TypedId),
    /// `forall x: S. e` or `exists x: S. e`
    Quantified(Quantifier, Vec<VariableId>, TypedId),
    /// `e whr x = d end`
    Where(TypedId, Vec<(VariableId, TypedId)>),
}

/// A list of expressions in a [`TypedTree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedList(Range<u32>);

/// The typed expressions of one specification.
#[derive(Clone, Debug, Default)]
pub struct TypedTree {
    nodes: Vec<Typed>,
    sorts: Vec<SortRef>,
    places: Vec<Span>,
    lists: Vec<TypedId>,
    variables: Vec<(Symbol, SortRef)>,
    /// The variables that occur free in functions and quantifiers, each once: what is nested is looked at once.
    free: HashMap<TypedId, Box<[VariableId]>>,
}

impl TypedTree {
    /// Adds an expression of a sort.
    pub fn add(&mut self, typed: Typed, sort: SortRef, place: Span) -> TypedId {
        let id = TypedId(self.nodes.len() as u32);
        if let Typed::Lambda(bound, body) | Typed::Quantified(_, bound, body) = &typed {
            let mut free = self.free_variables(*body);
            let mut seen: HashSet<VariableId> = bound.iter().copied().collect();
            free.retain(|&variable| seen.insert(variable));
            self.free.insert(id, free.into());
        }
        self.nodes.push(typed);
        self.sorts.push(sort);
        self.places.push(place);
        id
    }

    /// Adds a list of expressions.
    pub fn add_list(&mut self, elements: &[TypedId]) -> TypedList {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(elements);
        TypedList(start..self.lists.len() as u32)
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: Symbol, sort: SortRef) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        self.variables.push((name, sort));
        id
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// An expression.
    pub fn expression(&self, id: TypedId) -> &Typed {
        &self.nodes[id.0 as usize]
    }

    /// The sort of an expression.
    pub fn sort(&self, id: TypedId) -> SortRef {
        self.sorts[id.0 as usize]
    }

    /// Where an expression stands in the text.
    pub fn place(&self, id: TypedId) -> Span {
        self.places[id.0 as usize]
    }

    /// The elements of a list.
    pub fn elements(&self, list: &TypedList) -> &[TypedId] {
        &self.lists[list.0.start as usize..list.0.end as usize]
    }

    /// The variables of an expression that it does not bind itself, each as often as it occurs; inside a function or a
    /// quantifier once.
    pub fn free_variables(&self, id: TypedId) -> Vec<VariableId> {
        let mut found = Vec::new();
        let mut bound: HashSet<VariableId> = HashSet::new();
        let mut pending = vec![id];
        // A variable is bound in one place only, so a variable that is bound anywhere inside is free nowhere.
        while let Some(id) = pending.pop() {
            match self.expression(id) {
                Typed::Variable(variable) => found.push(*variable),
                Typed::Function(_) | Typed::Number(_) => {}
                Typed::Apply(function, arguments) => {
                    pending.push(*function);
                    pending.extend(self.elements(arguments));
                }
                Typed::Lambda(..) | Typed::Quantified(..) => found.extend(&self.free[&id]),
                Typed::Where(body, definitions) => {
                    bound.extend(definitions.iter().map(|(variable, _)| variable));
                    pending.push(*body);
                    pending.extend(definitions.iter().map(|(_, value)| value));
                }
            }
        }
        found.retain(|variable| !bound.contains(variable));
        found
    }

    /// Whether an expression has fewer parts than this.
    pub(crate) fn is_smaller(&self, id: TypedId, parts: usize) -> bool {
        let mut left = parts;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            match self.expression(id) {
                Typed::Variable(_) | Typed::Function(_) | Typed::Number(_) => {}
                Typed::Apply(function, arguments) => {
                    pending.push(*function);
                    pending.extend(self.elements(arguments).iter().take(left + 1));
                }
                Typed::Lambda(_, body) | Typed::Quantified(_, _, body) => pending.push(*body),
                Typed::Where(body, definitions) => {
                    pending.push(*body);
                    pending.extend(definitions.iter().map(|(_, value)| value));
                }
            }
        }
        true
    }

    /// The variables that are bound inside an expression.
    pub fn bound_variables(&self, id: TypedId) -> Vec<VariableId> {
        let mut bound = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.expression(id) {
                Typed::Variable(_) | Typed::Function(_) | Typed::Number(_) => {}
                Typed::Apply(function, arguments) => {
                    pending.push(*function);
                    pending.extend(self.elements(arguments));
                }
                Typed::Lambda(variables, body) | Typed::Quantified(_, variables, body) => {
                    bound.extend(variables);
                    pending.push(*body);
                }
                Typed::Where(body, definitions) => {
                    pending.push(*body);
                    for (variable, value) in definitions {
                        bound.push(*variable);
                        pending.push(*value);
                    }
                }
            }
        }
        bound
    }

    /// The variables that quantifiers bind, from the expression with this number on, and the number of expressions.
    pub(crate) fn quantified(&self, from: usize) -> (Vec<VariableId>, usize) {
        let variables = self.nodes[from..].iter().filter_map(|node| match node {
            Typed::Quantified(_, variables, _) => Some(variables),
            _ => None,
        });
        (variables.flatten().copied().collect(), self.nodes.len())
    }

    /// Name and sort of a variable.
    pub fn variable(&self, id: VariableId) -> (Symbol, SortRef) {
        self.variables[id.0 as usize]
    }
}

/// An equation with its types.
#[derive(Clone, Debug)]
pub struct TypedEquation {
    /// The condition, if it has one.
    pub condition: Option<TypedId>,
    /// The left side.
    pub left: TypedId,
    /// The right side, of the same sort.
    pub right: TypedId,
    /// Where it stands.
    pub place: Span,
}

/// A constructor of a structured sort with what came with it.
#[derive(Clone, Debug)]
pub struct StructuredConstructor {
    /// The constructor.
    pub constructor: FunctionId,
    /// The projection of each argument that has one.
    pub projections: Vec<Option<FunctionId>>,
    /// The recogniser.
    pub recogniser: Option<FunctionId>,
}

/// A data specification with its types.
#[derive(Clone, Debug, Default)]
pub struct DataSpecification {
    /// The names.
    pub names: Names,
    /// The sorts.
    pub sorts: Sorts,
    /// The function symbols.
    pub signature: Signature,
    /// The expressions.
    pub tree: TypedTree,
    /// The structured sorts, each with its constructors in the order of declaration.
    pub structured: Vec<(SortRef, Vec<StructuredConstructor>)>,
    /// The equations.
    pub equations: Vec<TypedEquation>,
    /// Names of sorts: declared ones and aliases.
    pub sort_names: Vec<(Symbol, SortRef)>,
    /// Which equations of the built-in sorts it has.
    pub(crate) taken: crate::rewrite::Taken,
}

impl DataSpecification {
    /// The conjunction of conditions at a place; `true` for none.
    pub fn conjunction(&mut self, conditions: &[TypedId], place: Span) -> TypedId {
        let Some((&last, others)) = conditions.split_last() else {
            let name = self.names.intern(Operator::True.name());
            let function = self.signature.builtin(Operator::True, name, BOOL);
            return self.tree.add(Typed::Function(function), BOOL, place);
        };
        let whole = self.sorts.function(&[BOOL, BOOL], BOOL);
        let name = self.names.intern(Operator::And.name());
        let function = self.signature.builtin(Operator::And, name, whole);
        others.iter().rev().fold(last, |rest, &condition| {
            let head = self.tree.add(Typed::Function(function), whole, place);
            let operands = self.tree.add_list(&[condition, rest]);
            self.tree.add(Typed::Apply(head, operands), BOOL, place)
        })
    }

    /// How a sort is written.
    pub fn sort_text(&self, sort: SortRef) -> String {
        let mut text = String::new();
        self.write_sort(sort, false, &mut text);
        text
    }

    /// The text of a sort as one of several between `#`: a function sort stands in brackets.
    pub fn sort_text_in_product(&self, sort: SortRef) -> String {
        let mut text = String::new();
        self.write_sort(sort, true, &mut text);
        text
    }

    /// A constructor as in the declaration of its sort.
    fn write_constructor(&self, constructor: &StructuredConstructor, text: &mut String) {
        let name = |id: FunctionId| self.names.text(self.signature.function(id).name);
        text.push_str(name(constructor.constructor));
        let whole = self.signature.function(constructor.constructor).sort;
        let domain = self.sorts.as_function(whole).map_or(&[][..], |(domain, _)| domain);
        for (index, &part) in domain.iter().enumerate() {
            text.push_str(if index > 0 { ", " } else { "(" });
            if let Some(projection) = constructor.projections.get(index).copied().flatten() {
                text.push_str(name(projection));
                text.push_str(": ");
            }
            self.write_sort(part, false, text);
        }
        if !domain.is_empty() {
            text.push(')');
        }
        if let Some(recogniser) = constructor.recogniser {
            text.push('?');
            text.push_str(name(recogniser));
        }
    }

    fn write_sort(&self, sort: SortRef, inside: bool, text: &mut String) {
        match self.sorts.kind(sort) {
            SortKind::Basic(basic) => text.push_str(basic.text()),
            SortKind::Named(name) => text.push_str(self.names.text(*name)),
            SortKind::Structured(_) => {
                text.push_str("struct ");
                let structured = self.structured.iter().find(|(other, _)| *other == sort);
                for (index, constructor) in structured.iter().flat_map(|(_, all)| all).enumerate() {
                    if index > 0 {
                        text.push_str(" | ");
                    }
                    self.write_constructor(constructor, text);
                }
            }
            SortKind::Container(container, element) => {
                text.push_str(container.text());
                text.push('(');
                self.write_sort(*element, false, text);
                text.push(')');
            }
            SortKind::Function(domain, codomain) => {
                if inside {
                    text.push('(');
                }
                for (index, &part) in domain.iter().enumerate() {
                    if index > 0 {
                        text.push_str(" # ");
                    }
                    self.write_sort(part, true, text);
                }
                text.push_str(" -> ");
                self.write_sort(*codomain, false, text);
                if inside {
                    text.push(')');
                }
            }
        }
    }
}
