//! What the cleave does with expressions: which variables they have, other variables put in, the cases of a condition.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};

use crate::linear::Maker;

/// The most cases that a condition is split into.
const MOST_CASES: usize = 16;

/// The free variables of an expression.
pub(super) fn variables(data: &DataSpecification, id: TypedId) -> BTreeSet<VariableId> {
    data.tree.free_variables(id).into_iter().collect()
}

/// A built-in function and its arguments.
pub(super) fn applied(data: &DataSpecification, id: TypedId) -> Option<(Operator, &[TypedId])> {
    let Typed::Apply(function, arguments) = data.tree.expression(id) else { return None };
    let Typed::Function(function) = data.tree.expression(*function) else { return None };
    let Origin::Builtin(operator) = data.signature.function(*function).origin else { return None };
    Some((operator, data.tree.elements(arguments)))
}

/// The variable that an expression is.
pub(super) fn variable(data: &DataSpecification, id: TypedId) -> Option<VariableId> {
    match data.tree.expression(id) {
        Typed::Variable(variable) => Some(*variable),
        _ => None,
    }
}

/// The expression with other variables for some of its free ones.
pub(super) fn renamed(data: &mut DataSpecification, id: TypedId, names: &BTreeMap<VariableId, VariableId>) -> TypedId {
    if names.is_empty() {
        return id;
    }
    let place = data.tree.place(id);
    let occurring: BTreeSet<VariableId> = variables(data, id);
    let mut values = BTreeMap::new();
    for (&old, &new) in names.iter().filter(|(old, _)| occurring.contains(old)) {
        let own = data.tree.variable(new).1;
        values.insert(old, data.tree.add(Typed::Variable(new), own, place));
    }
    substituted(data, id, &values)
}

/// The expression with expressions for some of its free variables.
pub(super) fn substituted(
    data: &mut DataSpecification,
    id: TypedId,
    values: &BTreeMap<VariableId, TypedId>,
) -> TypedId {
    if values.is_empty() || !data.tree.free_variables(id).iter().any(|variable| values.contains_key(variable)) {
        return id;
    }
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || substituted_inside(data, id, values))
}

fn substituted_inside(data: &mut DataSpecification, id: TypedId, values: &BTreeMap<VariableId, TypedId>) -> TypedId {
    let (sort, place) = (data.tree.sort(id), data.tree.place(id));
    let made = match data.tree.expression(id).clone() {
        Typed::Variable(variable) => return values.get(&variable).copied().unwrap_or(id),
        same @ (Typed::Function(_) | Typed::Number(_)) => same,
        Typed::Apply(function, arguments) => {
            let arguments = data.tree.elements(&arguments).to_vec();
            let function = substituted(data, function, values);
            let arguments: Vec<TypedId> =
                arguments.iter().map(|&argument| substituted(data, argument, values)).collect();
            Typed::Apply(function, data.tree.add_list(&arguments))
        }
        Typed::Lambda(bound, body) => Typed::Lambda(bound, substituted(data, body, values)),
        Typed::Quantified(quantifier, bound, body) => {
            Typed::Quantified(quantifier, bound, substituted(data, body, values))
        }
        Typed::Where(body, definitions) => {
            let definitions =
                definitions.into_iter().map(|(variable, value)| (variable, substituted(data, value, values))).collect();
            Typed::Where(substituted(data, body, values), definitions)
        }
    };
    data.tree.add(made, sort, place)
}

/// The structure of an expression as text in which summed variables are numbered as they occur: equal texts mean the
/// same.
pub(super) fn shape(
    data: &DataSpecification,
    id: TypedId,
    summed: &BTreeSet<VariableId>,
    numbers: &mut HashMap<VariableId, usize>,
    out: &mut String,
) {
    use std::fmt::Write as _;
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match data.tree.expression(id) {
        Typed::Variable(variable) if summed.contains(variable) => {
            let next = numbers.len();
            let _ = write!(out, "e{} ", numbers.entry(*variable).or_insert(next));
        }
        Typed::Variable(variable) => {
            let _ = write!(out, "v{} ", variable.0);
        }
        Typed::Function(function) => {
            let _ = write!(out, "f{} ", function.0);
        }
        Typed::Number(digits) => {
            let _ = write!(out, "n{}:{} ", data.names.text(*digits), data.sort_text(data.tree.sort(id)));
        }
        Typed::Apply(function, arguments) => {
            out.push('(');
            shape(data, *function, summed, numbers, out);
            for &argument in data.tree.elements(arguments) {
                shape(data, argument, summed, numbers, out);
            }
            out.push(')');
        }
        // Bound variables belong to one place of the text, so that binders are the same where they are one expression.
        Typed::Lambda(bound, body) => {
            let _ = write!(out, "λ{bound:?}");
            shape(data, *body, summed, numbers, out);
        }
        Typed::Quantified(quantifier, bound, body) => {
            let _ = write!(out, "{quantifier:?}{bound:?}");
            shape(data, *body, summed, numbers, out);
        }
        Typed::Where(body, definitions) => {
            out.push_str("whr");
            for (variable, value) in definitions {
                let _ = write!(out, "v{}=", variable.0);
                shape(data, *value, summed, numbers, out);
            }
            shape(data, *body, summed, numbers, out);
        }
    });
}

fn negated(data: &mut DataSpecification, id: TypedId) -> TypedId {
    let place = data.tree.place(id);
    Maker { data, place }.operator(Operator::Not, &[BOOL], BOOL, &[id])
}

/// The cases of a condition, each a list of conjuncts: negations stand inside, disjunctions are apart. Where there
/// would be too many cases there is one.
pub(super) fn cases(data: &mut DataSpecification, condition: TypedId) -> Vec<Vec<TypedId>> {
    split(data, condition, true).unwrap_or_else(|| vec![vec![condition]])
}

/// The cases in which a condition has a truth value; nothing when there are too many.
fn split(data: &mut DataSpecification, id: TypedId, truth: bool) -> Option<Vec<Vec<TypedId>>> {
    let plain = |data: &mut DataSpecification| vec![vec![if truth { id } else { negated(data, id) }]];
    let Some((operator, arguments)) = applied(data, id) else { return Some(plain(data)) };
    let arguments = arguments.to_vec();
    match (operator, &arguments[..]) {
        (Operator::Not, &[inside]) => split(data, inside, !truth),
        (Operator::And, &[left, right]) => both(data, (left, truth), (right, truth), truth),
        (Operator::Or, &[left, right]) => both(data, (left, truth), (right, truth), !truth),
        (Operator::Implies, &[left, right]) => both(data, (left, !truth), (right, truth), !truth),
        (Operator::If, &[test, left, right]) => {
            let mut cases = both(data, (test, true), (left, truth), true)?;
            cases.extend(both(data, (test, false), (right, truth), true)?);
            (cases.len() <= MOST_CASES).then_some(cases)
        }
        _ => Some(plain(data)),
    }
}

/// The cases of two conditions together, or of one or the other.
fn both(
    data: &mut DataSpecification,
    left: (TypedId, bool),
    right: (TypedId, bool),
    together: bool,
) -> Option<Vec<Vec<TypedId>>> {
    let mut one = split(data, left.0, left.1)?;
    let other = split(data, right.0, right.1)?;
    if !together {
        one.extend(other);
        return (one.len() <= MOST_CASES).then_some(one);
    }
    if one.len() * other.len() > MOST_CASES {
        return None;
    }
    let joined = |first: &Vec<TypedId>, second: &Vec<TypedId>| first.iter().chain(second).copied().collect();
    Some(one.iter().flat_map(|first| other.iter().map(move |second| joined(first, second))).collect())
}

/// Whether a sort is a list of constants, so that a sum over it is short.
pub(super) fn is_enumerated(data: &DataSpecification, sort: SortRef) -> bool {
    let constructors = data.sorts.constructors(sort);
    let is_constant = |&one: &FunctionId| data.sorts.as_function(data.signature.function(one).sort).is_none();
    sort == BOOL || !constructors.is_empty() && constructors.iter().all(is_constant)
}
