//! What formulas see of states: propositions of the model as variables that a row has values for.
//!
//! A proposition is a function of the data without equations. Before a formula becomes a graph, every use of one is
//! replaced by a variable: one for each mark of the model that the formula looks at. An array with an index that is no
//! number becomes a choice between its elements; an index that the array does not have leaves the function as it is,
//! and the check ends where its value is needed. A variable like this is never chosen and has no slot. A condition is
//! evaluated in the state in which its node is, so a proposition behind a modality is one of the successor, and one in
//! the arguments of an action is one of the state in which the step begins.

use std::collections::HashMap;

use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{Typed, TypedId, VariableId};
use trefoil_system::MarkId;

use super::super::typed::{Formula, LabelSet, Part, ValueWriting};
use super::expressions::Maker;

/// A variable whose value is a mark of the model.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) variable: VariableId,
    pub(super) mark: MarkId,
    pub(super) sort: SortRef,
    pub(super) writing: ValueWriting,
}

/// Replaces the propositions of a formula by variables.
pub(super) fn observed(formula: &mut Formula) -> Vec<Observed> {
    let propositions = std::mem::take(&mut formula.signature.propositions);
    let mut functions = HashMap::new();
    let data = &formula.signature.data;
    for (place, proposition) in propositions.iter().enumerate() {
        let Some(symbol) = data.names.find(&proposition.name) else { continue };
        for &function in data.signature.named(symbol) {
            functions.insert(function, place);
        }
    }
    let mut replacing = Replacing { formula, functions, found: Vec::new(), known: HashMap::new() };
    if !replacing.functions.is_empty() {
        replacing.all(&propositions);
    }
    let found = replacing.found;
    formula.signature.propositions = propositions;
    found
}

struct Replacing<'f> {
    formula: &'f mut Formula,
    /// The proposition that a function is.
    functions: HashMap<FunctionId, usize>,
    found: Vec<Observed>,
    known: HashMap<MarkId, TypedId>,
}

type Propositions<'p> = &'p [super::super::typed::Proposition];

impl Replacing<'_> {
    fn all(&mut self, propositions: Propositions<'_>) {
        for place in 0..self.formula.parts.len() {
            let part = match self.formula.parts[place].0.clone() {
                Part::Value(value) => Part::Value(self.replaced(value, propositions)),
                Part::Instance(fixpoint, values) => {
                    let values = values.into_iter().map(|value| self.replaced(value, propositions)).collect();
                    Part::Instance(fixpoint, values)
                }
                other => other,
            };
            self.formula.parts[place].0 = part;
        }
        for place in 0..self.formula.fixpoints.len() {
            let parameters = self.formula.fixpoints[place].parameters.clone();
            let parameters = parameters.into_iter().map(|(name, value)| (name, self.replaced(value, propositions)));
            self.formula.fixpoints[place].parameters = parameters.collect();
        }
        for place in 0..self.formula.label_sets.len() {
            let set = match self.formula.label_sets[place].clone() {
                LabelSet::Value(value) => LabelSet::Value(self.replaced(value, propositions)),
                LabelSet::Multi(parts) => {
                    let part = |(action, values): (usize, Vec<TypedId>)| {
                        (action, values.into_iter().map(|value| self.replaced(value, propositions)).collect())
                    };
                    LabelSet::Multi(parts.into_iter().map(part).collect())
                }
                other => other,
            };
            self.formula.label_sets[place] = set;
        }
    }

    fn replaced(&mut self, id: TypedId, propositions: Propositions<'_>) -> TypedId {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.replaced_inside(id, propositions))
    }

    fn replaced_inside(&mut self, id: TypedId, propositions: Propositions<'_>) -> TypedId {
        let tree = &self.formula.signature.data.tree;
        let (sort, place) = (tree.sort(id), tree.place(id));
        let new = match tree.expression(id).clone() {
            Typed::Variable(_) | Typed::Number(_) => return id,
            Typed::Function(function) => match self.functions.get(&function) {
                Some(&proposition) => return self.element(&propositions[proposition], &[], id),
                None => return id,
            },
            Typed::Apply(head, arguments) => {
                let arguments = tree.elements(&arguments).to_vec();
                let function = match tree.expression(head) {
                    Typed::Function(function) => self.functions.get(function).copied(),
                    _ => None,
                };
                let new: Vec<TypedId> =
                    arguments.iter().map(|&argument| self.replaced(argument, propositions)).collect();
                if let Some(proposition) = function {
                    return self.element(&propositions[proposition], &new, id);
                }
                let new_head = self.replaced(head, propositions);
                if new_head == head && new == arguments {
                    return id;
                }
                let list = self.formula.signature.data.tree.add_list(&new);
                Typed::Apply(new_head, list)
            }
            Typed::Lambda(variables, body) => Typed::Lambda(variables, self.replaced(body, propositions)),
            Typed::Quantified(quantifier, variables, body) => {
                Typed::Quantified(quantifier, variables, self.replaced(body, propositions))
            }
            Typed::Where(body, definitions) => {
                let body = self.replaced(body, propositions);
                let new = definitions.into_iter().map(|(name, value)| (name, self.replaced(value, propositions)));
                Typed::Where(body, new.collect())
            }
        };
        self.formula.signature.data.tree.add(new, sort, place)
    }

    /// An element of a proposition, by its indices; `id` where there is none.
    fn element(&mut self, proposition: &super::super::typed::Proposition, indices: &[TypedId], id: TypedId) -> TypedId {
        let numbers: Vec<Option<u32>> = indices.iter().map(|&index| self.number(index)).collect();
        let fits = |element: &[u32]| {
            element.len() == numbers.len()
                && element.iter().zip(&numbers).all(|(own, number)| number.is_none_or(|number| number == *own))
        };
        let (sort, place) = (self.formula.signature.data.tree.sort(id), self.formula.signature.data.tree.place(id));
        let mut whole = id;
        for (element, mark) in proposition.elements.iter().rev().filter(|(element, _)| fits(element)) {
            let variable = self.variable(*mark, sort, proposition);
            let mut equalities = Vec::new();
            for ((&index, number), own) in indices.iter().zip(&numbers).zip(element) {
                if number.is_none() {
                    let data = &mut self.formula.signature.data;
                    let digits = data.names.intern(&own.to_string());
                    let own = data.tree.add(Typed::Number(digits), data.tree.sort(index), place);
                    equalities.push(Maker { data, place }.equal(index, own));
                }
            }
            let mut maker = Maker { data: &mut self.formula.signature.data, place };
            whole = match equalities[..] {
                [] => variable,
                _ => {
                    let condition = maker.conjunction(&equalities);
                    maker.operator(Operator::If, &[condition, variable, whole], sort)
                }
            };
        }
        whole
    }

    fn variable(&mut self, mark: MarkId, sort: SortRef, of: &super::super::typed::Proposition) -> TypedId {
        if let Some(&known) = self.known.get(&mark) {
            return known;
        }
        let place = self.formula.place(self.formula.root);
        let (variable, expression) =
            Maker { data: &mut self.formula.signature.data, place }.variable(&format!("@{}", of.name), sort);
        self.found.push(Observed { variable, mark, sort, writing: of.writing.clone() });
        self.known.insert(mark, expression);
        expression
    }

    /// The number that an expression is written as.
    fn number(&self, id: TypedId) -> Option<u32> {
        let data = &self.formula.signature.data;
        match data.tree.expression(id) {
            Typed::Number(digits) => data.names.text(*digits).parse().ok(),
            // A conversion between sorts of numbers.
            Typed::Apply(head, arguments) => match (data.tree.expression(*head), data.tree.elements(arguments)) {
                (Typed::Function(function), &[inside]) => {
                    let function = data.signature.function(*function);
                    let name = data.names.text(function.name);
                    let converts = matches!(function.origin, Origin::Builtin(_)) && name.contains('2');
                    if converts { self.number(inside) } else { None }
                }
                _ => None,
            },
            _ => None,
        }
    }
}
