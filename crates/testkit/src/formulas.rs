//! Random formulas of the modal µ-calculus with data, random systems for them, and a model checker straight from the
//! definition.
//!
//! The meaning of a formula is the set of states in which it holds, given values of variables; that of a fixpoint
//! variable is a set of states for each tuple of values of its parameters. Fixpoints are found by iterating from
//! nothing or from everything. Data has two sorts with three values each: `D`, which is finite, and numbers, which
//! formulas write as `Nat` and bound by conditions or by labels, so that a checker of infinite sorts has work to do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

mod text;

use crate::Random;

/// The number of values of each sort.
pub const VALUES: u8 = 3;

/// A specification with the data and the actions that formulas and systems here use.
pub const SPECIFICATION: &str = "sort D = struct d0 | d1 | d2; act a, b; e: D; n: Nat; p: D # Nat; init delta;";

/// The sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `D`
    D,
    /// `Nat`; only the numbers below [`VALUES`] occur.
    Nat,
}

/// An action and its arguments.
pub type Action = (&'static str, Vec<u8>);

/// The actions with the sorts of their arguments.
const ACTIONS: [(&str, &[Sort]); 5] =
    [("a", &[]), ("b", &[]), ("e", &[Sort::D]), ("n", &[Sort::Nat]), ("p", &[Sort::D, Sort::Nat])];

/// A system with labels that are bags of actions; `tau` is the empty one.
#[derive(Clone, Debug)]
pub struct LabelledSystem {
    /// The number of states; the first one is initial.
    pub states: usize,
    /// The transitions.
    pub transitions: Vec<(usize, Vec<Action>, usize)>,
}

impl LabelledSystem {
    /// A random system.
    pub fn random(random: &mut Random) -> LabelledSystem {
        let states = 1 + random.below(6);
        let mut transitions = Vec::new();
        for _ in 0..random.below(3 * states + 1) {
            let mut label: Vec<Action> = Vec::new();
            let parts = [1, 1, 1, 1, 0, 2][random.below(6)];
            for _ in 0..parts {
                let (name, sorts) = ACTIONS[random.below(ACTIONS.len())];
                label.push((name, sorts.iter().map(|_| random.below(VALUES as usize) as u8).collect()));
            }
            label.sort();
            transitions.push((random.below(states), label, random.below(states)));
        }
        LabelledSystem { states, transitions }
    }

    /// A label as mCRL2 writes it.
    pub fn label_text(label: &[Action]) -> String {
        if label.is_empty() {
            return "tau".to_string();
        }
        let sorts = |name: &str| ACTIONS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, sorts)| sorts);
        let part = |(name, values): &Action| {
            let values: Vec<String> =
                values.iter().zip(sorts(name)).map(|(&value, &sort)| value_text(value, sort)).collect();
            if values.is_empty() { (*name).to_string() } else { format!("{name}({})", values.join(",")) }
        };
        label.iter().map(part).collect::<Vec<_>>().join("|")
    }

    /// The system as an `.aut` file.
    pub fn aut(&self) -> String {
        let mut text = format!("des (0,{},{})\n", self.transitions.len(), self.states);
        for (from, label, to) in &self.transitions {
            let _ = writeln!(text, "({from},\"{}\",{to})", LabelledSystem::label_text(label));
        }
        text
    }

    /// The same with the first action of each label alone.
    pub fn of_single_actions(mut self) -> LabelledSystem {
        self.transitions.iter_mut().for_each(|(_, label, _)| label.truncate(1));
        self
    }

    /// The transitions of each state.
    fn by_state(&self) -> Vec<Vec<(&[Action], usize)>> {
        let mut all = vec![Vec::new(); self.states];
        for (from, label, to) in &self.transitions {
            all[*from].push((&label[..], *to));
        }
        all
    }

    /// A system whose labels have at most one action each as a CSPM script: the process is `SYSTEM`.
    pub fn cspm(&self) -> String {
        let mut text = String::from(
            "datatype D = d0 | d1 | d2\nchannel a, b, silent\nchannel e : D\nchannel n : {0..2}\n\
             channel p : D.{0..2}\nSYSTEM = S0 \\ {silent}\n",
        );
        for (state, transitions) in self.by_state().into_iter().enumerate() {
            let prefix = |(label, to): (&[Action], usize)| {
                let event = match label.first() {
                    None => "silent".to_string(),
                    Some(action) => LabelledSystem::label_text(std::slice::from_ref(action)),
                };
                format!("{} -> S{to}", event.replace(['(', ','], ".").replace(')', ""))
            };
            let all: Vec<String> = transitions.into_iter().map(prefix).collect();
            let _ = writeln!(text, "S{state} = {}", if all.is_empty() { "STOP".to_string() } else { all.join(" [] ") });
        }
        text
    }

    /// The same as a Promela model. A channel has at least one field, so `a` and `b` are `a(0)` and `b(0)` there.
    pub fn promela(&self) -> String {
        let mut text = String::from(
            "mtype:D = { d0, d1, d2 }\nchan a = [0] of { bit }\nchan b = [0] of { bit }\n\
             chan e = [0] of { mtype:D }\nchan n = [0] of { byte }\nchan p = [0] of { mtype:D, byte }\n\
             active proctype Consumer() { mtype:D d; do :: a?_ :: b?_ :: e?d :: n?_ :: p?d,_ od }\n\
             active proctype System() {\n",
        );
        for (state, transitions) in self.by_state().into_iter().enumerate() {
            let option = |(label, to): (&[Action], usize)| {
                let statement = match label.first() {
                    None => "skip".to_string(),
                    Some((name, values)) if values.is_empty() => format!("{name}!0"),
                    Some(action) => {
                        let action = LabelledSystem::label_text(std::slice::from_ref(action));
                        action.replace('(', "!").replace(')', "")
                    }
                };
                format!(":: {statement} -> goto S{to}")
            };
            let all: Vec<String> = transitions.into_iter().map(option).collect();
            let body = if all.is_empty() { "false".to_string() } else { format!("if {} fi", all.join(" ")) };
            let _ = writeln!(text, "S{state}: {body};");
        }
        text.push_str("}\n");
        text
    }
}

fn value_text(value: u8, sort: Sort) -> String {
    match sort {
        Sort::D => format!("d{value}"),
        Sort::Nat => value.to_string(),
    }
}

/// A variable of data by its number, and its sort.
pub type Variable = (usize, Sort);

/// An expression for a value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A constant.
    Constant(u8, Sort),
    /// A variable.
    Variable(Variable),
    /// The next number, modulo [`VALUES`].
    Next(Variable),
}

/// A condition on data.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Two values are equal.
    Equal(Value, Value),
    /// They are not.
    Different(Value, Value),
}

/// A set of labels.
#[derive(Clone, Debug)]
pub enum Labels {
    /// All or none.
    Constant(bool),
    /// Those if a condition holds.
    Condition(Condition),
    /// This bag of actions.
    Multi(Vec<(&'static str, Vec<Value>)>),
    /// The others.
    Not(Box<Labels>),
    /// Those of both.
    And(Box<Labels>, Box<Labels>),
    /// Those of either.
    Or(Box<Labels>, Box<Labels>),
    /// Those for some value of a variable.
    Exists(Variable, Box<Labels>),
    /// Those for each value of a variable of the finite sort.
    Forall(Variable, Box<Labels>),
}

/// Sequences of labels.
#[derive(Clone, Debug)]
pub enum Steps {
    /// One.
    One(Labels),
    /// One after the other.
    Sequence(Box<Steps>, Box<Steps>),
    /// Either.
    Choice(Box<Steps>, Box<Steps>),
    /// Any number.
    Star(Box<Steps>),
    /// At least one.
    Plus(Box<Steps>),
}

/// A formula.
#[derive(Clone, Debug)]
pub enum Formula {
    /// `true` or `false`.
    Constant(bool),
    /// `val(c)`
    Condition(Condition),
    /// `!f`
    Not(Box<Formula>),
    /// `f && g`
    And(Box<Formula>, Box<Formula>),
    /// `f || g`
    Or(Box<Formula>, Box<Formula>),
    /// `f => g`
    Implies(Box<Formula>, Box<Formula>),
    /// `forall x. f`; numbers are bounded by a condition unless the flag says that labels bound them.
    Forall(Variable, bool, Box<Formula>),
    /// `exists x. f`, in the same way.
    Exists(Variable, bool, Box<Formula>),
    /// `[R]f`
    Must(Steps, Box<Formula>),
    /// `<R>f`
    May(Steps, Box<Formula>),
    /// `mu X(x = v, …). f`, or `nu` if the flag is set.
    Fixpoint(bool, usize, Vec<(Variable, Value)>, Box<Formula>),
    /// `X(v, …)`
    Instance(usize, Vec<Value>),
}

/// What a random formula may use.
#[derive(Clone, Default)]
struct Scope {
    variables: Vec<Variable>,
    /// Fixpoint variables with the sorts of their parameters and their polarity.
    fixpoints: Vec<(usize, Vec<Sort>, bool)>,
    negated: bool,
    next: usize,
}

impl Formula {
    /// A random closed formula.
    pub fn random(random: &mut Random) -> Formula {
        let depth = 2 + random.below(4);
        state(random, &mut Scope::default(), depth)
    }

    /// Whether it holds in the initial state of a system.
    pub fn holds(&self, system: &LabelledSystem) -> bool {
        meaning(self, system, &mut BTreeMap::new(), &mut BTreeMap::new()).contains(&0)
    }
}

fn fresh(scope: &mut Scope) -> usize {
    scope.next += 1;
    scope.next
}

fn sort(random: &mut Random) -> Sort {
    if random.chance(50) { Sort::D } else { Sort::Nat }
}

fn value(random: &mut Random, scope: &Scope, sort: Sort) -> Value {
    let known: Vec<Variable> = scope.variables.iter().copied().filter(|variable| variable.1 == sort).collect();
    if known.is_empty() || random.chance(25) {
        return Value::Constant(random.below(VALUES as usize) as u8, sort);
    }
    let variable = known[random.below(known.len())];
    if sort == Sort::Nat && random.chance(25) { Value::Next(variable) } else { Value::Variable(variable) }
}

fn condition(random: &mut Random, scope: &Scope) -> Condition {
    let sort = sort(random);
    let (left, right) = (value(random, scope, sort), value(random, scope, sort));
    if random.chance(60) { Condition::Equal(left, right) } else { Condition::Different(left, right) }
}

/// A condition on a number, and perhaps another one.
fn condition_on(random: &mut Random, scope: &Scope, variable: Variable) -> Condition {
    let (left, right) = (Value::Variable(variable), value(random, scope, variable.1));
    if random.chance(40) { Condition::Equal(left, right) } else { Condition::Different(left, right) }
}

fn multi(random: &mut Random, scope: &Scope) -> Labels {
    let parts = [1, 1, 1, 1, 0, 2][random.below(6)];
    let mut label = Vec::new();
    for _ in 0..parts {
        let (name, sorts) = ACTIONS[random.below(ACTIONS.len())];
        label.push((name, sorts.iter().map(|&sort| value(random, scope, sort)).collect()));
    }
    Labels::Multi(label)
}

fn labels(random: &mut Random, scope: &mut Scope, depth: usize) -> Labels {
    if depth == 0 || random.chance(35) {
        return match random.below(6) {
            0 => Labels::Constant(random.chance(80)),
            1 => Labels::Condition(condition(random, scope)),
            _ => multi(random, scope),
        };
    }
    let kind = random.below(6);
    if kind >= 4 {
        let variable = (fresh(scope), if kind == 4 { Sort::D } else { sort(random) });
        scope.variables.push(variable);
        let inside = Box::new(labels(random, scope, depth - 1));
        scope.variables.pop();
        return if kind == 4 { Labels::Forall(variable, inside) } else { Labels::Exists(variable, inside) };
    }
    let first = Box::new(labels(random, scope, depth - 1));
    match kind {
        2 => Labels::And(first, Box::new(labels(random, scope, depth - 1))),
        3 => Labels::Or(first, Box::new(labels(random, scope, depth - 1))),
        _ => Labels::Not(first),
    }
}

fn steps(random: &mut Random, scope: &mut Scope, depth: usize) -> Steps {
    if depth == 0 || random.chance(50) {
        return Steps::One(labels(random, scope, depth.min(2)));
    }
    let kind = random.below(5);
    let first = Box::new(steps(random, scope, depth - 1));
    match kind {
        0 => Steps::Sequence(first, Box::new(steps(random, scope, depth - 1))),
        1 => Steps::Choice(first, Box::new(steps(random, scope, depth - 1))),
        2 => Steps::Plus(first),
        _ => Steps::Star(first),
    }
}

fn state(random: &mut Random, scope: &mut Scope, depth: usize) -> Formula {
    let usable: Vec<(usize, Vec<Sort>, bool)> =
        scope.fixpoints.iter().filter(|(.., polarity)| *polarity == scope.negated).cloned().collect();
    if depth == 0 || random.chance(12) {
        if !usable.is_empty() && random.chance(75) {
            let (name, sorts, _) = &usable[random.below(usable.len())];
            return Formula::Instance(*name, sorts.iter().map(|&sort| value(random, scope, sort)).collect());
        }
        return match random.below(4) {
            0 => Formula::Constant(random.chance(50)),
            1 if !scope.variables.is_empty() => Formula::Condition(condition(random, scope)),
            2 => Formula::May(Steps::One(multi(random, scope)), Box::new(Formula::Constant(true))),
            _ => Formula::Must(Steps::One(multi(random, scope)), Box::new(Formula::Constant(false))),
        };
    }
    let depth = depth - 1;
    match random.below(16) {
        0 => {
            scope.negated = !scope.negated;
            let inside = state(random, scope, depth);
            scope.negated = !scope.negated;
            Formula::Not(Box::new(inside))
        }
        1 | 2 => Formula::And(Box::new(state(random, scope, depth)), Box::new(state(random, scope, depth))),
        3 | 4 => Formula::Or(Box::new(state(random, scope, depth)), Box::new(state(random, scope, depth))),
        5 => {
            scope.negated = !scope.negated;
            let left = state(random, scope, depth);
            scope.negated = !scope.negated;
            Formula::Implies(Box::new(left), Box::new(state(random, scope, depth)))
        }
        6..=8 => {
            let variable = (fresh(scope), sort(random));
            scope.variables.push(variable);
            let by_labels = variable.1 == Sort::Nat && random.chance(40);
            let mut guard = None;
            let inside = if by_labels {
                // The label binds the number, perhaps after other steps, and perhaps behind a condition on it.
                let bound = Labels::Multi(vec![("n", vec![Value::Variable(variable)])]);
                let inside = Box::new(state(random, scope, depth));
                guard = random.chance(60).then(|| condition_on(random, scope, variable));
                let mut taken = Steps::One(bound);
                scope.variables.pop();
                if random.chance(50) {
                    taken = Steps::Sequence(Box::new(steps(random, scope, 1)), Box::new(taken));
                }
                scope.variables.push(variable);
                (taken, inside)
            } else {
                (Steps::One(Labels::Constant(true)), Box::new(state(random, scope, depth)))
            };
            scope.variables.pop();
            let is_negated = random.chance(50);
            match (random.chance(50), by_labels) {
                (true, true) => {
                    let inside = Box::new(Formula::Must(inside.0, inside.1));
                    Formula::Forall(
                        variable,
                        true,
                        match guard.map(|guard| Box::new(Formula::Condition(guard))) {
                            None => inside,
                            Some(guard) if is_negated => Box::new(Formula::Or(Box::new(Formula::Not(guard)), inside)),
                            Some(guard) => Box::new(Formula::Implies(guard, inside)),
                        },
                    )
                }
                (false, true) => {
                    let inside = Box::new(Formula::May(inside.0, inside.1));
                    Formula::Exists(
                        variable,
                        true,
                        match guard.map(|guard| Box::new(Formula::Condition(guard))) {
                            None => inside,
                            Some(guard) => Box::new(Formula::And(guard, inside)),
                        },
                    )
                }
                (true, false) => Formula::Forall(variable, false, inside.1),
                (false, false) => Formula::Exists(variable, false, inside.1),
            }
        }
        9 | 10 => Formula::Must(steps(random, scope, 2), Box::new(state(random, scope, depth))),
        11 | 12 => Formula::May(steps(random, scope, 2), Box::new(state(random, scope, depth))),
        _ => {
            let name = fresh(scope);
            let mut parameters = Vec::new();
            for _ in 0..[0, 0, 1, 2][random.below(4)] {
                let sort = sort(random);
                let first = value(random, scope, sort);
                parameters.push(((fresh(scope), sort), first));
            }
            let sorts = parameters.iter().map(|((_, sort), _)| *sort).collect();
            let before = scope.variables.len();
            scope.variables.extend(parameters.iter().map(|(variable, _)| *variable));
            scope.fixpoints.push((name, sorts, scope.negated));
            let inside = state(random, scope, depth);
            scope.fixpoints.pop();
            scope.variables.truncate(before);
            Formula::Fixpoint(random.chance(50), name, parameters, Box::new(inside))
        }
    }
}

/// Values of variables.
type Values = BTreeMap<usize, u8>;

/// What fixpoint variables mean so far: a set of states for each tuple of values.
type Fixpoints = BTreeMap<usize, BTreeMap<Vec<u8>, BTreeSet<usize>>>;

fn evaluate(value: &Value, values: &Values) -> u8 {
    match value {
        Value::Constant(value, _) => *value,
        Value::Variable((name, _)) => values[name],
        Value::Next((name, _)) => (values[name] + 1) % VALUES,
    }
}

fn is_true(condition: &Condition, values: &Values) -> bool {
    match condition {
        Condition::Equal(left, right) => evaluate(left, values) == evaluate(right, values),
        Condition::Different(left, right) => evaluate(left, values) != evaluate(right, values),
    }
}

/// The results of a computation for each value of a variable.
fn for_each<T>(variable: Variable, values: &mut Values, mut result: impl FnMut(&mut Values) -> T) -> Vec<T> {
    let results = (0..VALUES).map(|value| {
        values.insert(variable.0, value);
        result(values)
    });
    let results = results.collect();
    values.remove(&variable.0);
    results
}

fn is_in(label: &[Action], set: &Labels, values: &mut Values) -> bool {
    match set {
        Labels::Constant(value) => *value,
        Labels::Condition(condition) => is_true(condition, values),
        Labels::Multi(parts) => {
            let mut own: Vec<Action> = parts
                .iter()
                .map(|(name, own)| (*name, own.iter().map(|value| evaluate(value, values)).collect()))
                .collect();
            own.sort();
            own == label
        }
        Labels::Not(inside) => !is_in(label, inside, values),
        Labels::And(left, right) => is_in(label, left, values) && is_in(label, right, values),
        Labels::Or(left, right) => is_in(label, left, values) || is_in(label, right, values),
        Labels::Exists(variable, inside) => {
            for_each(*variable, values, |values| is_in(label, inside, values)).contains(&true)
        }
        Labels::Forall(variable, inside) => {
            !for_each(*variable, values, |values| is_in(label, inside, values)).contains(&false)
        }
    }
}

/// The states from which every sequence of steps leads into a set, or some if the flag is set.
fn modal(
    some: bool,
    steps: &Steps,
    after: &BTreeSet<usize>,
    system: &LabelledSystem,
    values: &mut Values,
) -> BTreeSet<usize> {
    match steps {
        Steps::One(labels) => (0..system.states)
            .filter(|&state| {
                let own = system.transitions.iter().filter(|(from, ..)| *from == state);
                let mut targets =
                    own.filter(|(_, label, _)| is_in(label, labels, values)).map(|(.., to)| after.contains(to));
                if some { targets.any(|inside| inside) } else { targets.all(|inside| inside) }
            })
            .collect(),
        Steps::Sequence(first, rest) => {
            let after = modal(some, rest, after, system, values);
            modal(some, first, &after, system, values)
        }
        Steps::Choice(left, right) => {
            let (left, right) = (modal(some, left, after, system, values), modal(some, right, after, system, values));
            if some { &left | &right } else { &left & &right }
        }
        Steps::Plus(inside) => {
            let after = modal(some, &Steps::Star(inside.clone()), after, system, values);
            modal(some, inside, &after, system, values)
        }
        Steps::Star(inside) => {
            let mut set: BTreeSet<usize> = if some { BTreeSet::new() } else { (0..system.states).collect() };
            loop {
                let step = modal(some, inside, &set, system, values);
                let next = if some { &step | after } else { &step & after };
                if next == set {
                    return set;
                }
                set = next;
            }
        }
    }
}

fn meaning(
    formula: &Formula,
    system: &LabelledSystem,
    values: &mut Values,
    fixpoints: &mut Fixpoints,
) -> BTreeSet<usize> {
    let all: BTreeSet<usize> = (0..system.states).collect();
    match formula {
        Formula::Constant(true) => all,
        Formula::Constant(false) => BTreeSet::new(),
        Formula::Condition(condition) => {
            if is_true(condition, values) {
                all
            } else {
                BTreeSet::new()
            }
        }
        Formula::Not(inside) => &all - &meaning(inside, system, values, fixpoints),
        Formula::And(left, right) => {
            &meaning(left, system, values, fixpoints) & &meaning(right, system, values, fixpoints)
        }
        Formula::Or(left, right) => {
            &meaning(left, system, values, fixpoints) | &meaning(right, system, values, fixpoints)
        }
        Formula::Implies(left, right) => {
            &(&all - &meaning(left, system, values, fixpoints)) | &meaning(right, system, values, fixpoints)
        }
        Formula::Forall(variable, _, inside) => {
            let sets = for_each(*variable, values, |values| meaning(inside, system, values, fixpoints));
            sets.iter().fold(all, |common, set| &common & set)
        }
        Formula::Exists(variable, _, inside) => {
            let sets = for_each(*variable, values, |values| meaning(inside, system, values, fixpoints));
            sets.iter().fold(BTreeSet::new(), |union, set| &union | set)
        }
        Formula::Must(steps, inside) => {
            let after = meaning(inside, system, values, fixpoints);
            modal(false, steps, &after, system, values)
        }
        Formula::May(steps, inside) => {
            let after = meaning(inside, system, values, fixpoints);
            modal(true, steps, &after, system, values)
        }
        Formula::Instance(name, arguments) => {
            let arguments: Vec<u8> = arguments.iter().map(|value| evaluate(value, values)).collect();
            fixpoints[name][&arguments].clone()
        }
        Formula::Fixpoint(greatest, name, parameters, inside) => {
            let mut tuples: Vec<Vec<u8>> = vec![Vec::new()];
            for _ in parameters {
                let longer =
                    |tuple: &Vec<u8>| (0..VALUES).map(|value| [&tuple[..], &[value]].concat()).collect::<Vec<_>>();
                tuples = tuples.iter().flat_map(longer).collect();
            }
            let first: Vec<u8> = parameters.iter().map(|(_, value)| evaluate(value, values)).collect();
            let start = if *greatest { all } else { BTreeSet::new() };
            fixpoints.insert(*name, tuples.iter().map(|tuple| (tuple.clone(), start.clone())).collect());
            loop {
                let mut next = BTreeMap::new();
                for tuple in &tuples {
                    for ((variable, _), value) in parameters.iter().zip(tuple) {
                        values.insert(variable.0, *value);
                    }
                    next.insert(tuple.clone(), meaning(inside, system, values, fixpoints));
                }
                parameters.iter().for_each(|(variable, _)| {
                    values.remove(&variable.0);
                });
                if fixpoints.insert(*name, next.clone()).as_ref() == Some(&next) {
                    break;
                }
            }
            let result = fixpoints[name][&first].clone();
            fixpoints.remove(name);
            result
        }
    }
}
