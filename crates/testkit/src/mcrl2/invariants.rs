//! Invariants of random linear processes, by the definition: all values are tried.
//!
//! Definition 3.4.1 of Laveaux, *Accelerated verification of concurrent systems* (2024): whenever the condition of a
//! summand and the invariant hold, for any values of parameters and summed variables, the invariant holds after the
//! step. Nothing is assumed about which values can be reached.

use std::collections::{BTreeMap, BTreeSet};

use super::cleave::{Expression, Process, Summand, Writer};
use crate::Random;

/// A value of one of the two sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// `d1`, `d2` or `d3`, counted from 0.
    D(u8),
}

/// The values of all parameters.
pub type State = Vec<Value>;

/// What a Boolean expression over the parameters is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// True initially, and every step keeps it.
    Inductive,
    /// False initially.
    FalseInitially,
    /// Some step from a state with it leads to one without it.
    Broken,
}

fn values(sort: &str) -> Vec<Value> {
    match sort {
        "Bool" => vec![Value::Bool(false), Value::Bool(true)],
        _ => (0..3).map(Value::D).collect(),
    }
}

fn constant(name: &str) -> Value {
    match name {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "d1" => Value::D(0),
        "d2" => Value::D(1),
        _ => Value::D(2),
    }
}

fn value(expression: &Expression, environment: &BTreeMap<String, Value>) -> Value {
    let truth = |expression: &Expression| value(expression, environment) == Value::Bool(true);
    match expression {
        Expression::Name(name) => environment.get(name).copied().unwrap_or_else(|| constant(name)),
        Expression::Infix(operator, left, right) => Value::Bool(match *operator {
            "&&" => truth(left) && truth(right),
            "||" => truth(left) || truth(right),
            "=>" => !truth(left) || truth(right),
            _ => value(left, environment) == value(right, environment),
        }),
        Expression::Call("!", arguments) => Value::Bool(!truth(&arguments[0])),
        Expression::Call("next", arguments) => match value(&arguments[0], environment) {
            Value::D(number) => Value::D((number + 1) % 3),
            other => other,
        },
        Expression::Call(_, arguments) => value(&arguments[if truth(&arguments[0]) { 1 } else { 2 }], environment),
    }
}

impl Process {
    fn environment(&self, state: &State) -> BTreeMap<String, Value> {
        self.parameters.iter().map(|(name, ..)| name.clone()).zip(state.iter().copied()).collect()
    }

    /// Whether a Boolean expression is true in a state.
    pub fn holds(&self, expression: &Expression, state: &State) -> bool {
        value(expression, &self.environment(state)) == Value::Bool(true)
    }

    /// The initial state.
    pub fn initial(&self) -> State {
        self.parameters.iter().map(|(_, _, value)| constant(value)).collect()
    }

    /// The states that a summand leads to.
    pub fn after(&self, summand: &Summand, state: &State) -> Vec<State> {
        let mut all = vec![self.environment(state)];
        for (name, sort) in &summand.sums {
            let with = |environment: &BTreeMap<String, Value>, value: Value| {
                let mut environment = environment.clone();
                environment.insert(name.clone(), value);
                environment
            };
            all = all.iter().flat_map(|one| values(sort).into_iter().map(move |value| with(one, value))).collect();
        }
        all.retain(|environment| {
            summand.conditions.iter().all(|condition| value(condition, environment) == Value::Bool(true))
        });
        let step = |environment: &BTreeMap<String, Value>| {
            let mut next = state.clone();
            summand.updates.iter().for_each(|(place, new)| next[*place] = value(new, environment));
            next
        };
        all.iter().map(step).collect()
    }

    /// All states that can be reached.
    pub fn reachable(&self) -> BTreeSet<State> {
        let mut found = BTreeSet::from([self.initial()]);
        let mut pending = vec![self.initial()];
        while let Some(state) = pending.pop() {
            for next in self.summands.iter().flat_map(|summand| self.after(summand, &state)) {
                if found.insert(next.clone()) {
                    pending.push(next);
                }
            }
        }
        found
    }

    /// What an expression is by the definition.
    pub fn judge(&self, expression: &Expression) -> Judgement {
        if !self.holds(expression, &self.initial()) {
            return Judgement::FalseInitially;
        }
        let mut all: Vec<State> = vec![Vec::new()];
        for (_, sort, _) in &self.parameters {
            let with = |state: &State, value: Value| state.iter().copied().chain([value]).collect();
            all = all.iter().flat_map(|state| values(sort).into_iter().map(move |value| with(state, value))).collect();
        }
        let keeps = |state: &State| {
            let mut after = self.summands.iter().flat_map(|summand| self.after(summand, state));
            !self.holds(expression, state) || after.all(|next| self.holds(expression, &next))
        };
        if all.iter().all(keeps) { Judgement::Inductive } else { Judgement::Broken }
    }

    /// A Boolean expression over the parameters: any one, or one that is true in all states that can be reached.
    pub fn random_invariant(&self, random: &mut Random) -> Expression {
        if random.chance(40) {
            let of = |sort: &str| -> Vec<String> {
                let own = self.parameters.iter().filter(|(_, one, _)| *one == sort);
                own.map(|(name, ..)| name.clone()).collect()
            };
            return Writer { booleans: of("Bool"), values: of("D"), random }.boolean(3);
        }
        let mut chosen: Vec<usize> = (0..self.parameters.len()).filter(|_| random.chance(50)).collect();
        if chosen.is_empty() {
            chosen.push(random.below(self.parameters.len()));
        }
        let mut met: BTreeSet<State> =
            self.reachable().iter().map(|state| chosen.iter().map(|&place| state[place]).collect()).collect();
        // Sometimes one combination too few.
        if met.len() > 1 && random.chance(25) {
            let gone = random.below(met.len());
            let gone = met.iter().nth(gone).cloned();
            met.retain(|one| Some(one) != gone.as_ref());
        }
        let equal = |place: usize, value: Value| {
            let name = match value {
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                Value::D(number) => ["d1", "d2", "d3"][number as usize],
            };
            let own = Expression::name(&self.parameters[place].0);
            Expression::Infix("==", Box::new(own), Box::new(Expression::name(name)))
        };
        let infix = |operator, left, right| Expression::Infix(operator, Box::new(left), Box::new(right));
        let tuples = met.iter().map(|tuple| {
            let all = chosen.iter().zip(tuple).map(|(&place, &value)| equal(place, value));
            all.reduce(|left, right| infix("&&", left, right)).unwrap_or_else(|| Expression::name("true"))
        });
        tuples.reduce(|left, right| infix("||", left, right)).unwrap_or_else(|| Expression::name("false"))
    }
}
