//! Equations that overlap: both fit some term, and they say different things of it.
//!
//! mCRL2 gives equations no order, so the user cannot say which of two such equations is used. Two equations of a
//! function are reported when their left sides have a common instance (they are unified, as by Robinson 1965), their
//! conditions do not exclude each other there, and their right sides differ there, even after rewriting. Conditions
//! exclude each other when that shows in their parts: `c` and `!c`, `a < b` and `b <= a`, `n <= 1` and `n > 4`,
//! `x == c` and `x == d` for two constructors, two recognisers, or when rewriting makes one of them false. Two
//! conditions are assumed to exclude each other where one tests a function of the user's own: most do (`lt(x, y)` and
//! `x == y`), and nothing here could show it.

use std::collections::HashMap;

use trefoil_source::{Diagnostic, Place};
use trefoil_terms::{Pool, Term};

use crate::signature::{FunctionId, Operator, Origin};
use crate::typed::{DataSpecification, Typed, TypedEquation, TypedId, VariableId};
use crate::types::codes;

use super::compile::is_conversion;
use super::{Program, Rewriter};

/// Pairs that are reported for one function.
const MOST_REPORTED: usize = 2;

/// Steps after which the rewriting of a common instance is given up.
const MOST_STEPS: u64 = 10_000;

/// An expression of one of two equations, whose variables are different ones even where they have one name.
pub(super) type Side = (u8, TypedId);

/// The two equations under a unifier.
pub(super) struct Pair<'a> {
    pub(super) specification: &'a DataSpecification,
    unifier: HashMap<(u8, VariableId), Side>,
}

/// Warns of equations that overlap.
pub fn overlaps(specification: &DataSpecification) -> Vec<Diagnostic> {
    let mut rules: HashMap<FunctionId, Vec<usize>> = HashMap::new();
    for (number, equation) in specification.equations.iter().enumerate() {
        if let Some(head) = head(specification, equation.left)
            && !matches!(specification.signature.function(head).origin, Origin::Builtin(_))
        {
            rules.entry(head).or_default().push(number);
        }
    }
    let mut pairs: Vec<Overlap> = Vec::new();
    let mut data = specification.clone();
    for numbers in rules.values() {
        for (place, &one) in numbers.iter().enumerate() {
            for &other in &numbers[place + 1..] {
                pairs.extend(overlap(specification, &mut data, [one, other]));
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.equations);
    let mut reported: HashMap<FunctionId, usize> = HashMap::new();
    let mut found = Vec::new();
    for pair in differing(data, pairs) {
        let [one, other] = pair.equations.map(|number| &specification.equations[number]);
        let Some(head) = head(specification, one.left) else { continue };
        let before = reported.entry(head).or_default();
        *before += 1;
        if *before > MOST_REPORTED {
            continue;
        }
        let name = specification.names.text(specification.signature.function(head).name);
        let message = format!("two equations of `{name}` fit the same terms and differ there");
        found.push(
            Diagnostic::warning(codes::OVERLAP, message, Place::Span(other.place))
                .also(Place::Span(one.place), "the other equation")
                .help("equations have no order; add a condition to one of them"),
        );
    }
    found
}

/// Two equations with a common instance: their right sides and conditions there.
struct Overlap {
    equations: [usize; 2],
    rights: [TypedId; 2],
    conditions: Vec<TypedId>,
    variables: Vec<VariableId>,
}

/// Those pairs whose right sides differ after rewriting and whose conditions are not false then.
fn differing(data: DataSpecification, pairs: Vec<Overlap>) -> Vec<Overlap> {
    if pairs.is_empty() {
        return pairs;
    }
    let expressions: Vec<(TypedId, Vec<VariableId>)> = pairs
        .iter()
        .flat_map(|pair| pair.rights.iter().chain(&pair.conditions).map(|&part| (part, pair.variables.clone())))
        .collect();
    let pool = Pool::default();
    let (program, codes) = Program::new(data, &expressions, &pool);
    let worker = pool.worker();
    let mut rewriter = Rewriter::new(&program, &worker);
    let mut codes = codes.into_iter();
    let mut differing = Vec::new();
    for pair in pairs {
        let count = pair.rights.len() + pair.conditions.len();
        let variables: Vec<Term> = pair.variables.iter().map(|&variable| rewriter.variable(variable)).collect();
        let texts: Vec<Option<String>> = codes
            .by_ref()
            .take(count)
            .map(|code| {
                rewriter.limit_steps(MOST_STEPS);
                let term = rewriter.evaluate(code, &variables).ok()?;
                Some(program.text(rewriter.section(), term))
            })
            .collect();
        let is_false = |text: &Option<String>| text.as_deref() == Some("false");
        if !(texts[0].is_some() && texts[0] == texts[1] || texts[2..].iter().any(is_false)) {
            differing.push(pair);
        }
    }
    differing
}

/// The function that a left side is about.
fn head(specification: &DataSpecification, left: TypedId) -> Option<FunctionId> {
    match specification.tree.expression(left) {
        Typed::Function(function) => Some(*function),
        Typed::Apply(function, _) => head(specification, *function),
        _ => None,
    }
}

fn overlap(specification: &DataSpecification, data: &mut DataSpecification, numbers: [usize; 2]) -> Option<Overlap> {
    let equations: [&TypedEquation; 2] = numbers.map(|number| &specification.equations[number]);
    let mut pair = Pair { specification, unifier: HashMap::new() };
    if !pair.unify((0, equations[0].left), (1, equations[1].left)) {
        return None;
    }
    let conditions = [0, 1].map(|side: u8| equations[side as usize].condition.map(|condition| (side, condition)));
    let fails = conditions.iter().flatten().any(|&condition| pair.fails(condition, true));
    if fails || pair.same((0, equations[0].right), (1, equations[1].right)) {
        return None;
    }
    if let [Some(one), Some(other)] = conditions
        && (pair.exclude(one, true, other, true) || pair.is_opaque(one) || pair.is_opaque(other))
    {
        return None;
    }
    let mut renamed = HashMap::new();
    let rights = [0, 1].map(|side: u8| pair.instance((side, equations[side as usize].right), data, &mut renamed));
    let conditions =
        conditions.iter().flatten().map(|&condition| pair.instance(condition, data, &mut renamed)).collect();
    let variables = renamed.into_values().collect();
    Some(Overlap { equations: numbers, rights, conditions, variables })
}

impl Pair<'_> {
    pub(super) fn typed(&self, (_, id): Side) -> &Typed {
        self.specification.tree.expression(id)
    }

    /// An expression, or what its variable stands for.
    pub(super) fn resolved(&self, mut side: Side) -> Side {
        while let Typed::Variable(variable) = self.typed(side)
            && let Some(&bound) = self.unifier.get(&(side.0, *variable))
        {
            side = bound;
        }
        side
    }

    pub(super) fn operator(&self, (_, id): Side) -> Option<Operator> {
        match self.specification.tree.expression(id) {
            Typed::Function(function) => match self.specification.signature.function(*function).origin {
                Origin::Builtin(operator) => Some(operator),
                _ => None,
            },
            _ => None,
        }
    }

    /// The function and the arguments of an application.
    pub(super) fn applied(&self, side: Side) -> Option<(Side, Vec<Side>)> {
        match self.typed(side) {
            Typed::Apply(function, arguments) => {
                let arguments = self.specification.tree.elements(arguments).iter().map(|&argument| (side.0, argument));
                Some(((side.0, *function), arguments.collect()))
            }
            _ => None,
        }
    }

    /// An expression without the conversion around it.
    pub(super) fn unconverted(&self, side: Side) -> Option<Side> {
        let (function, arguments) = self.applied(side)?;
        is_conversion(self.operator(function)?).then(|| arguments[0])
    }

    pub(super) fn number(&self, side: Side) -> Option<&str> {
        match self.typed(side) {
            Typed::Number(digits) => Some(self.specification.names.text(*digits)),
            _ => None,
        }
    }

    fn unify(&mut self, one: Side, other: Side) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        match (self.typed(one).clone(), self.typed(other).clone()) {
            (Typed::Variable(variable), Typed::Variable(another)) if (one.0, variable) == (other.0, another) => true,
            (Typed::Variable(variable), _) => self.bind((one.0, variable), other),
            (_, Typed::Variable(variable)) => self.bind((other.0, variable), one),
            (Typed::Function(function), Typed::Function(another)) => function == another,
            (Typed::Number(_), Typed::Number(_)) => self.number(one) == self.number(other),
            (Typed::Number(_), Typed::Apply(..)) => self.fits(other, one),
            (Typed::Apply(..), Typed::Number(_)) => self.fits(one, other),
            (Typed::Apply(..), Typed::Apply(..)) => {
                let (Some((one, ones)), Some((other, others))) = (self.applied(one), self.applied(other)) else {
                    return false;
                };
                ones.len() == others.len()
                    && self.unify(one, other)
                    && ones.into_iter().zip(others).all(|(one, other)| self.unify(one, other))
            }
            _ => false,
        }
    }

    /// Whether a number can be what a conversion from a narrower sort gives.
    fn fits(&mut self, converted: Side, number: Side) -> bool {
        let Some(inside) = self.unconverted(converted) else { return false };
        let sort = self.specification.tree.sort(inside.1);
        let is_zero = self.number(number) == Some("0");
        !(sort == crate::sorts::POS && is_zero) && self.unify(inside, number)
    }

    fn bind(&mut self, variable: (u8, VariableId), to: Side) -> bool {
        if self.occurs(variable, to) {
            return false;
        }
        self.unifier.insert(variable, to);
        true
    }

    /// An expression under the unifier, as a new expression over variables of its own.
    fn instance(
        &self,
        side: Side,
        data: &mut DataSpecification,
        renamed: &mut HashMap<(u8, VariableId), VariableId>,
    ) -> TypedId {
        let side = self.resolved(side);
        let tree = &self.specification.tree;
        let (sort, place) = (tree.sort(side.1), tree.place(side.1));
        let typed = match self.typed(side).clone() {
            Typed::Variable(variable) => {
                let (name, sort) = tree.variable(variable);
                let key = (side.0, variable);
                Typed::Variable(*renamed.entry(key).or_insert_with(|| data.tree.add_variable(name, sort)))
            }
            Typed::Apply(function, arguments) => {
                let function = self.instance((side.0, function), data, renamed);
                let arguments: Vec<TypedId> = tree
                    .elements(&arguments)
                    .iter()
                    .map(|&argument| self.instance((side.0, argument), data, renamed))
                    .collect();
                Typed::Apply(function, data.tree.add_list(&arguments))
            }
            Typed::Lambda(variables, body) => {
                let variables = self.rebound(side.0, &variables, data, renamed);
                let typed = Typed::Lambda(variables.clone(), self.instance((side.0, body), data, renamed));
                renamed.retain(|_, variable| !variables.contains(variable));
                typed
            }
            Typed::Quantified(quantifier, variables, body) => {
                let variables = self.rebound(side.0, &variables, data, renamed);
                let body = self.instance((side.0, body), data, renamed);
                renamed.retain(|_, variable| !variables.contains(variable));
                Typed::Quantified(quantifier, variables, body)
            }
            Typed::Where(body, definitions) => {
                let values: Vec<TypedId> =
                    definitions.iter().map(|(_, value)| self.instance((side.0, *value), data, renamed)).collect();
                let variables: Vec<VariableId> = definitions.iter().map(|(variable, _)| *variable).collect();
                let variables = self.rebound(side.0, &variables, data, renamed);
                let body = self.instance((side.0, body), data, renamed);
                renamed.retain(|_, variable| !variables.contains(variable));
                Typed::Where(body, variables.into_iter().zip(values).collect())
            }
            other => other,
        };
        data.tree.add(typed, sort, place)
    }

    /// New variables for those that an expression binds.
    fn rebound(
        &self,
        side: u8,
        variables: &[VariableId],
        data: &mut DataSpecification,
        renamed: &mut HashMap<(u8, VariableId), VariableId>,
    ) -> Vec<VariableId> {
        let mut made = Vec::new();
        for &variable in variables {
            let (name, sort) = self.specification.tree.variable(variable);
            let new = data.tree.add_variable(name, sort);
            renamed.insert((side, variable), new);
            made.push(new);
        }
        made
    }

    /// Whether a condition tests a function of the user's own.
    fn is_opaque(&self, side: Side) -> bool {
        let side = self.resolved(side);
        match self.typed(side) {
            Typed::Apply(function, arguments) => {
                let opaque = match self.typed((side.0, *function)) {
                    Typed::Function(id) => {
                        matches!(self.specification.signature.function(*id).origin, Origin::Map)
                    }
                    _ => true,
                };
                let arguments = self.specification.tree.elements(arguments);
                opaque || arguments.iter().any(|&argument| self.is_opaque((side.0, argument)))
            }
            Typed::Where(..) | Typed::Quantified(..) => true,
            Typed::Variable(_) | Typed::Function(_) | Typed::Number(_) | Typed::Lambda(..) => false,
        }
    }

    fn occurs(&self, variable: (u8, VariableId), inside: Side) -> bool {
        let inside = self.resolved(inside);
        match self.typed(inside) {
            Typed::Variable(found) => (inside.0, *found) == variable,
            Typed::Apply(..) => {
                let Some((function, arguments)) = self.applied(inside) else { return false };
                self.occurs(variable, function) || arguments.iter().any(|&argument| self.occurs(variable, argument))
            }
            _ => false,
        }
    }

    /// Whether two expressions are the same under the unifier, whatever their bound variables are called.
    pub(super) fn same(&self, one: Side, other: Side) -> bool {
        self.same_within(one, other, &mut Vec::new())
    }

    fn same_within(&self, one: Side, other: Side, bound: &mut Vec<[(u8, VariableId); 2]>) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        if one == other {
            return true;
        }
        let all = |ones: &[Side], others: &[Side], bound: &mut Vec<_>| {
            ones.len() == others.len()
                && ones.iter().zip(others).all(|(&one, &other)| self.same_within(one, other, bound))
        };
        let side = |parts: &[TypedId], side: u8| -> Vec<Side> { parts.iter().map(|&part| (side, part)).collect() };
        match (self.typed(one), self.typed(other)) {
            (Typed::Variable(variable), Typed::Variable(another)) => {
                let pair = [(one.0, *variable), (other.0, *another)];
                pair[0] == pair[1] || bound.contains(&pair)
            }
            (Typed::Function(function), Typed::Function(another)) => function == another,
            (Typed::Number(_), Typed::Number(_)) => self.number(one) == self.number(other),
            (Typed::Apply(..), _) | (_, Typed::Apply(..)) => {
                if let Some(inside) = self.unconverted(one) {
                    return self.same_within(inside, self.unconverted(other).unwrap_or(other), bound);
                }
                if let Some(inside) = self.unconverted(other) {
                    return self.same_within(one, inside, bound);
                }
                let (Some((one, ones)), Some((other, others))) = (self.applied(one), self.applied(other)) else {
                    return false;
                };
                self.same_within(one, other, bound) && all(&ones, &others, bound)
            }
            (Typed::Lambda(variables, body), Typed::Lambda(others, another)) => {
                variables.len() == others.len() && {
                    bound.extend(variables.iter().zip(others).map(|(&x, &y)| [(one.0, x), (other.0, y)]));
                    all(&side(&[*body], one.0), &side(&[*another], other.0), bound)
                }
            }
            (Typed::Quantified(kind, variables, body), Typed::Quantified(other_kind, others, another)) => {
                kind == other_kind && variables.len() == others.len() && {
                    bound.extend(variables.iter().zip(others).map(|(&x, &y)| [(one.0, x), (other.0, y)]));
                    all(&side(&[*body], one.0), &side(&[*another], other.0), bound)
                }
            }
            (Typed::Where(body, definitions), Typed::Where(another, others)) => {
                let values = |definitions: &[(VariableId, TypedId)]| -> Vec<TypedId> {
                    definitions.iter().map(|(_, value)| *value).collect()
                };
                all(&side(&values(definitions), one.0), &side(&values(others), other.0), bound) && {
                    let pairs = definitions.iter().zip(others);
                    bound.extend(pairs.map(|((x, _), (y, _))| [(one.0, *x), (other.0, *y)]));
                    all(&side(&[*body], one.0), &side(&[*another], other.0), bound)
                }
            }
            _ => false,
        }
    }
}
