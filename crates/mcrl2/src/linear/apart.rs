//! How the values of a sort are taken apart: as the fields of a record, the values of a small function, the shapes of
//! a sort with several constructors or of a list, or the elements of a set. `unfold.rs` decides where that is done.

use std::collections::BTreeSet;

use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::sorts::{BOOL, SortKind, SortRef};
use trefoil_data::syntax::tree::Container;
use trefoil_data::typed::{Typed, TypedId, VariableId};

use super::expressions::Maker;

/// How values of a sort are taken apart that all have the same parts.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The value with these parts, and the variables that stand for them.
    pub(super) whole: (TypedId, Vec<VariableId>),
    /// The parts.
    pub(super) parts: Vec<TakenPart>,
    /// Whether it is a function.
    pub(super) function: bool,
}

/// A part of a value.
#[derive(Clone, Debug)]
pub(super) struct TakenPart {
    /// How it is called: a projection, or an argument.
    pub(super) name: String,
    pub(super) sort: SortRef,
    /// The part of a value, and the variable that stands for the value.
    pub(super) of: (TypedId, VariableId),
}

/// The shapes that values of a sort have.
#[derive(Clone, Debug)]
pub(super) enum Cases {
    /// Constructors.
    Constructors(Vec<Case>),
    /// Lists, by their lengths.
    List {
        element: SortRef,
        empty: TypedId,
        /// A list with one more element in front, and the variables for both.
        cons: (TypedId, VariableId, VariableId),
    },
}

/// A constructor.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) function: FunctionId,
    pub(super) name: String,
    /// Names and sorts of its arguments.
    pub(super) fields: Vec<(String, SortRef)>,
    /// The value with these arguments, and the variables that stand for them.
    pub(super) whole: (TypedId, Vec<VariableId>),
}

impl Cases {
    /// The sorts of all fields.
    pub(super) fn sorts(&self) -> Vec<SortRef> {
        match self {
            Cases::Constructors(all) => all.iter().flat_map(|one| one.fields.iter().map(|&(_, sort)| sort)).collect(),
            Cases::List { element, .. } => vec![*element],
        }
    }

    /// The expressions that must be compiled.
    pub(super) fn expressions(&self) -> Vec<(TypedId, Vec<VariableId>)> {
        match self {
            Cases::Constructors(all) => all.iter().map(|one| one.whole.clone()).collect(),
            Cases::List { empty, cons, .. } => vec![(*empty, Vec::new()), (cons.0, vec![cons.1, cons.2])],
        }
    }
}

/// Sets over a few constants.
#[derive(Clone, Debug)]
pub(super) struct SetApart {
    /// The sort of the sets, and that of their elements.
    pub(super) sort: SortRef,
    pub(super) element: SortRef,
    /// The elements, with their names.
    pub(super) constants: Vec<(String, TypedId)>,
    /// Whether an element is in a set and in a finite set, and the variables for both, with the sort of these sets.
    pub(super) member: [(SortRef, TypedId, VariableId, VariableId); 2],
}

impl SetApart {
    /// The expressions that must be compiled.
    pub(super) fn expressions(&self) -> Vec<(TypedId, Vec<VariableId>)> {
        let constants = self.constants.iter().map(|&(_, constant)| (constant, Vec::new()));
        constants.chain(self.member.map(|(_, test, element, set)| (test, vec![element, set]))).collect()
    }
}

impl Maker<'_> {
    /// How values of a sort are taken apart: records, and functions of a few constants.
    pub(super) fn taken_apart(&mut self, sort: SortRef) -> Option<Taken> {
        match self.data.sorts.kind(sort).clone() {
            SortKind::Function(domain, codomain) => match domain[..] {
                [domain] => self.function_apart(sort, domain, codomain),
                _ => None,
            },
            SortKind::Named(_) | SortKind::Structured(_) => self.record_apart(sort),
            _ => None,
        }
    }

    fn record_apart(&mut self, sort: SortRef) -> Option<Taken> {
        let &[constructor] = self.data.sorts.constructors(sort) else { return None };
        let shape = self.data.signature.function(constructor).sort;
        let fields = self.data.sorts.as_function(shape)?.0.to_vec();
        if fields.len() < 2 {
            return None;
        }
        // Projections come in the order of the fields where every field has one, which the analysis checks.
        let all = (0..self.data.signature.len() as u32).map(FunctionId);
        let projections: Vec<FunctionId> = all
            .filter(|&id| {
                let function = self.data.signature.function(id);
                let domain = self.data.sorts.as_function(function.sort).map(|(domain, _)| domain);
                function.origin == Origin::Projection && domain == Some(&[sort][..])
            })
            .collect();
        if projections.len() != fields.len() {
            return None;
        }
        let (variables, values): (Vec<VariableId>, Vec<TypedId>) =
            fields.iter().map(|&field| self.variable(field)).unzip();
        let head = self.data.tree.add(Typed::Function(constructor), shape, self.place);
        let whole = (self.apply(head, &values, sort), variables);
        let mut parts = Vec::new();
        for (&field, projection) in fields.iter().zip(projections) {
            let function = self.data.signature.function(projection).clone();
            if self.data.sorts.as_function(function.sort)?.1 != field {
                return None;
            }
            let (variable, value) = self.variable(sort);
            let head = self.data.tree.add(Typed::Function(projection), function.sort, self.place);
            let of = (self.apply(head, &[value], field), variable);
            parts.push(TakenPart { name: self.data.names.text(function.name).to_string(), sort: field, of });
        }
        Some(Taken { whole, parts, function: false })
    }

    fn function_apart(&mut self, sort: SortRef, domain: SortRef, codomain: SortRef) -> Option<Taken> {
        let constants = self.few_constants(domain)?;
        let (bound, argument) = self.variable(domain);
        let (mut variables, mut body) = (Vec::new(), None);
        for &(_, constant) in constants.iter().rev() {
            let (variable, value) = self.variable(codomain);
            variables.push(variable);
            body = Some(match body {
                None => value,
                Some(others) => {
                    let test = self.operator(Operator::Equal, &[domain, domain], BOOL, &[argument, constant]);
                    self.operator(Operator::If, &[BOOL, codomain, codomain], codomain, &[test, value, others])
                }
            });
        }
        variables.reverse();
        let whole = self.data.tree.add(Typed::Lambda(vec![bound], body?), sort, self.place);
        let mut parts = Vec::new();
        for (name, constant) in constants {
            let (variable, function) = self.variable(sort);
            parts.push(TakenPart { name, sort: codomain, of: (self.apply(function, &[constant], codomain), variable) });
        }
        Some(Taken { whole: (whole, variables), parts, function: true })
    }

    /// The values of a sort that has a few constants and nothing else, with their names.
    fn few_constants(&mut self, sort: SortRef) -> Option<Vec<(String, TypedId)>> {
        const MOST: usize = 8;
        let mut constants = Vec::new();
        if sort == BOOL {
            for (name, operator) in [("false", Operator::False), ("true", Operator::True)] {
                constants.push((name.to_string(), self.operator(operator, &[], BOOL, &[])));
            }
        } else {
            for constructor in self.data.sorts.constructors(sort).to_vec() {
                let function = self.data.signature.function(constructor);
                if function.sort != sort || function.origin != Origin::Constructor {
                    return None;
                }
                let name = self.data.names.text(function.name).to_string();
                constants.push((name, self.data.tree.add(Typed::Function(constructor), sort, self.place)));
            }
        }
        (2..=MOST).contains(&constants.len()).then_some(constants)
    }

    /// The shapes of the values of a sort with several constructors, some of which take arguments, or of lists.
    pub(super) fn cases(&mut self, sort: SortRef) -> Option<Cases> {
        if let SortKind::Container(Container::List, element) = *self.data.sorts.kind(sort) {
            let empty = self.operator(Operator::EmptyList, &[], sort, &[]);
            let (one, list) = (self.variable(element), self.variable(sort));
            let cons = self.operator(Operator::Cons, &[element, sort], sort, &[one.1, list.1]);
            return Some(Cases::List { element, empty, cons: (cons, one.0, list.0) });
        }
        let structured = self.data.structured.iter().find(|(structured, _)| *structured == sort)?.1.clone();
        if structured.len() < 2 || self.is_recursive(sort) {
            return None;
        }
        let mut all = Vec::new();
        for one in structured {
            if self.has_equations(one.constructor) {
                return None;
            }
            let function = self.data.signature.function(one.constructor).clone();
            let name = self.data.names.text(function.name).to_string();
            let sorts = self.data.sorts.as_function(function.sort).map_or(Vec::new(), |(domain, _)| domain.to_vec());
            let mut fields = Vec::new();
            for (place, &field) in sorts.iter().enumerate() {
                let projection = one.projections.get(place).copied().flatten();
                let own = projection.map(|id| self.data.names.text(self.data.signature.function(id).name).to_string());
                let own = own.unwrap_or_else(|| (place + 1).to_string());
                fields.push((format!("{name}_{own}"), field));
            }
            let (variables, values): (Vec<VariableId>, Vec<TypedId>) =
                sorts.iter().map(|&field| self.variable(field)).unzip();
            let head = self.data.tree.add(Typed::Function(one.constructor), function.sort, self.place);
            let whole = if values.is_empty() { head } else { self.apply(head, &values, sort) };
            all.push(Case { function: one.constructor, name, fields, whole: (whole, variables) });
        }
        all.iter().any(|one| !one.fields.is_empty()).then_some(Cases::Constructors(all))
    }

    /// Whether values of a sort can hold values of the same sort.
    fn is_recursive(&self, sort: SortRef) -> bool {
        let (mut pending, mut met) = (vec![sort], BTreeSet::new());
        while let Some(one) = pending.pop() {
            let parts: Vec<SortRef> = match self.data.sorts.kind(one) {
                SortKind::Basic(_) => Vec::new(),
                SortKind::Container(_, element) => vec![*element],
                SortKind::Function(domain, codomain) => domain.iter().copied().chain([*codomain]).collect(),
                SortKind::Named(_) | SortKind::Structured(_) => {
                    let constructors = self.data.sorts.constructors(one).iter();
                    let shapes = constructors.map(|&id| self.data.signature.function(id).sort);
                    let domains = shapes.filter_map(|shape| self.data.sorts.as_function(shape));
                    domains.flat_map(|(domain, _)| domain.to_vec()).collect()
                }
            };
            if parts.contains(&sort) {
                return true;
            }
            pending.extend(parts.into_iter().filter(|&part| met.insert(part)));
        }
        false
    }

    /// Whether an equation rewrites applications of a function.
    fn has_equations(&self, id: FunctionId) -> bool {
        self.data.equations.iter().any(|equation| {
            let mut at = equation.left;
            while let Typed::Apply(function, _) = self.data.tree.expression(at) {
                at = *function;
            }
            *self.data.tree.expression(at) == Typed::Function(id)
        })
    }

    /// How sets over a few constants are taken apart.
    pub(super) fn set_apart(&mut self, sort: SortRef) -> Option<SetApart> {
        let SortKind::Container(Container::Set | Container::FSet, element) = *self.data.sorts.kind(sort) else {
            return None;
        };
        let constants = self.few_constants(element)?;
        let member = [Container::Set, Container::FSet].map(|container| {
            let sort = self.data.sorts.container(container, element);
            let (one, set) = (self.variable(element), self.variable(sort));
            let test = self.operator(Operator::In, &[element, sort], BOOL, &[one.1, set.1]);
            (sort, test, one.0, set.0)
        });
        Some(SetApart { sort, element, constants, member })
    }
}
