//! Equations that overlap: both fit some term, and they say different things of it.
//!
//! mCRL2 gives equations no order, so the user cannot say which of two such equations is used. Two equations of a
//! function are reported when their left sides have a common instance (they are unified, as by Robinson 1965), their
//! conditions do not exclude each other there, and their right sides differ there, even after rewriting. Conditions
//! exclude each other when that shows in their parts: `c` and `!c`, `a < b` and `b <= a`, `n <= 1` and `n > 4`, `x == c`
//! and `x == d` for two constructors, two recognisers, or when rewriting makes one of them false. Of two conditions of
//! which one tests a function of the user's own it is assumed that they exclude each other: most do (`lt(x, y)` and
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
type Side = (u8, TypedId);

/// The two equations under a unifier.
struct Pair<'a> {
    specification: &'a DataSpecification,
    unifier: HashMap<(u8, VariableId), Side>,
}

/// A comparison that must hold.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Equal,
    Differs,
    Less,
    AtMost,
}

/// A part of a condition: a comparison, or an expression with the truth value it must have.
enum Atom {
    Comparison(Relation, Side, Side),
    Truth(Side, bool),
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
    fn typed(&self, (_, id): Side) -> &Typed {
        self.specification.tree.expression(id)
    }

    /// An expression, or what its variable stands for.
    fn resolved(&self, mut side: Side) -> Side {
        while let Typed::Variable(variable) = self.typed(side)
            && let Some(&bound) = self.unifier.get(&(side.0, *variable))
        {
            side = bound;
        }
        side
    }

    fn operator(&self, (_, id): Side) -> Option<Operator> {
        match self.specification.tree.expression(id) {
            Typed::Function(function) => match self.specification.signature.function(*function).origin {
                Origin::Builtin(operator) => Some(operator),
                _ => None,
            },
            _ => None,
        }
    }

    /// The function and the arguments of an application.
    fn applied(&self, side: Side) -> Option<(Side, Vec<Side>)> {
        match self.typed(side) {
            Typed::Apply(function, arguments) => {
                let arguments = self.specification.tree.elements(arguments).iter().map(|&argument| (side.0, argument));
                Some(((side.0, *function), arguments.collect()))
            }
            _ => None,
        }
    }

    /// An expression without the conversion around it.
    fn unconverted(&self, side: Side) -> Option<Side> {
        let (function, arguments) = self.applied(side)?;
        is_conversion(self.operator(function)?).then(|| arguments[0])
    }

    fn number(&self, side: Side) -> Option<&str> {
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
    fn same(&self, one: Side, other: Side) -> bool {
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

    /// Whether two expressions are values that differ: numbers, or applications of two constructors.
    fn differ(&self, one: Side, other: Side) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        let one = self.unconverted(one).map_or(one, |inside| self.resolved(inside));
        let other = self.unconverted(other).map_or(other, |inside| self.resolved(inside));
        if let (Some(one), Some(other)) = (self.number(one), self.number(other)) {
            return one != other;
        }
        let (Some(constructor), Some(another)) = (self.constructor(one), self.constructor(other)) else { return false };
        if constructor != another {
            return true;
        }
        match (self.applied(one), self.applied(other)) {
            (Some((_, ones)), Some((_, others))) => {
                ones.into_iter().zip(others).any(|(one, other)| self.differ(one, other))
            }
            _ => false,
        }
    }

    /// The constructor that an expression is an application of.
    fn constructor(&self, side: Side) -> Option<FunctionId> {
        let function = self.applied(side).map_or(side, |(function, _)| function);
        let Typed::Function(id) = self.typed(function) else { return None };
        let is_constructor = match self.specification.signature.function(*id).origin {
            Origin::Constructor => true,
            Origin::Builtin(operator) => {
                matches!(operator, Operator::True | Operator::False | Operator::EmptyList | Operator::Cons)
            }
            _ => false,
        };
        is_constructor.then_some(*id)
    }

    /// The operands of a conjunction and of a disjunction, under negation the other way round.
    fn parts(&self, side: Side, wanted: bool) -> Option<(bool, Vec<(Side, bool)>)> {
        let (function, operands) = self.applied(self.resolved(side))?;
        let both = |is_and: bool| Some((is_and == wanted, operands.iter().map(|&part| (part, wanted)).collect()));
        match self.operator(function)? {
            Operator::And => both(true),
            Operator::Or => both(false),
            Operator::Implies => Some((!wanted, vec![(operands[0], !wanted), (operands[1], wanted)])),
            Operator::Not => Some((true, vec![(operands[0], !wanted)])),
            _ => None,
        }
    }

    fn atom(&self, side: Side, wanted: bool) -> Atom {
        let side = self.resolved(side);
        let Some((function, operands)) = self.applied(side) else { return Atom::Truth(side, wanted) };
        let (Some(operator), &[left, right]) = (self.operator(function), &operands[..]) else {
            return Atom::Truth(side, wanted);
        };
        match (operator, wanted) {
            (Operator::Equal, true) | (Operator::NotEqual, false) => Atom::Comparison(Relation::Equal, left, right),
            (Operator::Equal, false) | (Operator::NotEqual, true) => Atom::Comparison(Relation::Differs, left, right),
            (Operator::Less, true) | (Operator::GreaterEqual, false) => Atom::Comparison(Relation::Less, left, right),
            (Operator::Greater, true) | (Operator::LessEqual, false) => Atom::Comparison(Relation::Less, right, left),
            (Operator::LessEqual, true) | (Operator::Greater, false) => Atom::Comparison(Relation::AtMost, left, right),
            (Operator::GreaterEqual, true) | (Operator::Less, false) => Atom::Comparison(Relation::AtMost, right, left),
            _ => Atom::Truth(side, wanted),
        }
    }

    /// Whether a condition cannot have a truth value.
    fn fails(&self, side: Side, wanted: bool) -> bool {
        if let Some((all, parts)) = self.parts(side, wanted) {
            let mut fail = parts.iter().map(|&(part, wanted)| self.fails(part, wanted));
            return if all { fail.any(|fails| fails) } else { fail.all(|fails| fails) };
        }
        match self.atom(side, wanted) {
            Atom::Comparison(_, left, right) if self.is_missing(left) || self.is_missing(right) => true,
            Atom::Comparison(Relation::Equal, left, right) => self.differ(left, right),
            Atom::Comparison(Relation::Differs, left, right) => self.same(left, right),
            Atom::Comparison(relation, left, right) => {
                let numbers = self.integer(left).zip(self.integer(right));
                relation == Relation::Less && self.same(left, right)
                    || numbers.is_some_and(|(one, other)| one > other || one == other && relation == Relation::Less)
                    // Nothing is below 0 where numbers are natural.
                    || relation == Relation::Less && self.integer(right) == Some(0) && self.is_natural(left)
            }
            Atom::Truth(side, wanted) => match self.applied(side) {
                None => self.operator(side) == Some(if wanted { Operator::False } else { Operator::True }),
                Some((function, arguments)) => match (self.recognised(function), &arguments[..]) {
                    (Some(constructor), &[argument]) => {
                        self.constructor(self.resolved(argument)).is_some_and(|found| (found == constructor) != wanted)
                    }
                    _ => false,
                },
            },
        }
    }

    /// Whether an expression is the head or tail of an empty list, so that no comparison with it is decided.
    fn is_missing(&self, side: Side) -> bool {
        let Some((function, arguments)) = self.applied(self.resolved(side)) else { return false };
        let empty = |side: Side| self.operator(self.resolved(side)) == Some(Operator::EmptyList);
        match self.operator(function) {
            Some(Operator::Head | Operator::Rhead | Operator::Tail | Operator::Rtail) => empty(arguments[0]),
            Some(_) => arguments.iter().any(|&argument| self.is_missing(argument)),
            None => false,
        }
    }

    fn is_natural(&self, side: Side) -> bool {
        let side = self.unconverted(side).unwrap_or(side);
        matches!(self.specification.tree.sort(side.1), crate::sorts::POS | crate::sorts::NAT)
    }

    /// A small number, converted, negated, or by the name of a constant.
    fn integer(&self, side: Side) -> Option<i128> {
        let side = self.resolved(side);
        if let Typed::Function(constant) = self.typed(side) {
            let is_constant = Typed::Function(*constant);
            let mut defined = self.specification.equations.iter();
            let equation =
                defined.find(|equation| *self.specification.tree.expression(equation.left) == is_constant)?;
            return self.number((side.0, equation.right))?.parse().ok();
        }
        if let Some(digits) = self.number(side) {
            return digits.parse().ok();
        }
        let (function, arguments) = self.applied(side)?;
        match self.operator(function)? {
            Operator::Negate => self.integer(arguments[0]).map(|value| -value),
            operator if is_conversion(operator) => self.integer(arguments[0]),
            _ => None,
        }
    }

    /// The constructor that a recogniser is for.
    fn recognised(&self, function: Side) -> Option<FunctionId> {
        let Typed::Function(id) = self.typed(function) else { return None };
        let all = self.specification.structured.iter().flat_map(|(_, constructors)| constructors);
        all.filter(|constructor| constructor.recogniser == Some(*id)).map(|found| found.constructor).next()
    }

    /// Whether two conditions cannot both have their truth values.
    fn exclude(&self, one: Side, one_wanted: bool, other: Side, other_wanted: bool) -> bool {
        let ((one, one_wanted), (other, other_wanted)) =
            (self.affirmed(one, one_wanted), self.affirmed(other, other_wanted));
        if one_wanted != other_wanted && self.same(one, other) || self.fails(one, one_wanted) {
            return true;
        }
        // Disjunctions first: each of their parts may be excluded by another part of a conjunction.
        let (ones, others) = (self.parts(one, one_wanted), self.parts(other, other_wanted));
        match (ones, others) {
            (Some((false, parts)), _) => {
                return parts.iter().all(|&(part, wanted)| self.exclude(part, wanted, other, other_wanted));
            }
            (_, Some((false, parts))) => {
                return parts.iter().all(|&(part, wanted)| self.exclude(one, one_wanted, part, wanted));
            }
            (Some((true, parts)), _) => {
                return parts.iter().any(|&(part, wanted)| self.exclude(part, wanted, other, other_wanted));
            }
            (_, Some((true, parts))) => {
                return parts.iter().any(|&(part, wanted)| self.exclude(one, one_wanted, part, wanted));
            }
            (None, None) => {}
        }
        match (self.atom(one, one_wanted), self.atom(other, other_wanted)) {
            (Atom::Truth(one, wanted), Atom::Truth(other, another)) => {
                wanted != another && self.same(one, other) || wanted && another && self.two_recognisers(one, other)
            }
            (Atom::Comparison(relation, a, b), Atom::Comparison(another, c, d)) => {
                self.contradict((relation, a, b), (another, c, d))
            }
            _ => false,
        }
    }

    /// A condition without the negations around it, and the truth value it must have then.
    fn affirmed(&self, side: Side, wanted: bool) -> (Side, bool) {
        let side = self.resolved(side);
        match self.applied(side) {
            Some((function, operands)) if self.operator(function) == Some(Operator::Not) => {
                self.affirmed(operands[0], !wanted)
            }
            _ => (side, wanted),
        }
    }

    fn two_recognisers(&self, one: Side, other: Side) -> bool {
        let (Some((one, ones)), Some((other, others))) = (self.applied(one), self.applied(other)) else { return false };
        let (Some(constructor), Some(another)) = (self.recognised(one), self.recognised(other)) else { return false };
        constructor != another && self.same(ones[0], others[0])
    }

    fn contradict(&self, one: (Relation, Side, Side), other: (Relation, Side, Side)) -> bool {
        use Relation::{AtMost, Differs, Equal, Less};
        let ((relation, a, b), (another, c, d)) = (one, other);
        let straight = self.same(a, c) && self.same(b, d);
        let crossed = self.same(a, d) && self.same(b, c);
        let contradict = match (relation, another) {
            (Equal, Differs | Less) | (Differs | Less, Equal) => straight || crossed,
            (Less, Less | AtMost) | (AtMost, Less) => crossed,
            _ => false,
        };
        if contradict {
            return true;
        }
        if (relation, another) == (Equal, Equal) {
            let pairs = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
            if pairs.iter().any(|&(a, b, c, d)| self.same(a, c) && self.differ(b, d)) {
                return true;
            }
        }
        let (Some((one, lower, upper)), Some((other, least, most))) = (self.range(one), self.range(other)) else {
            return false;
        };
        self.same(one, other) && (upper < least || most < lower)
    }

    /// The numbers that a comparison of an expression with a number allows.
    fn range(&self, (relation, left, right): (Relation, Side, Side)) -> Option<(Side, i128, i128)> {
        let whole = |side: Side| self.specification.tree.sort(side.1) != crate::sorts::REAL;
        let step = i128::from(whole(left));
        match (relation, self.integer(left), self.integer(right)) {
            (Relation::Equal, None, Some(value)) => Some((left, value, value)),
            (Relation::Equal, Some(value), None) => Some((right, value, value)),
            (Relation::Less, None, Some(value)) if step == 1 => Some((left, i128::MIN, value - 1)),
            (Relation::Less, Some(value), None) if step == 1 => Some((right, value + 1, i128::MAX)),
            (Relation::AtMost, None, Some(value)) => Some((left, i128::MIN, value)),
            (Relation::AtMost, Some(value), None) => Some((right, value, i128::MAX)),
            _ => None,
        }
    }
}
