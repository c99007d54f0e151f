//! Structured operational semantics of processes, and the transition system of a specification.
//!
//! A state is a closed process term: expressions of the text with values for their variables, joined by `.`, `||` and
//! the operators on actions. The rules, with `✓` for a process that has ended:
//!
//! - `a(d) –a(v)→ ✓`, where `v` is the value of `d`; `delta` has no step;
//! - `p + q` has the steps of both; `sum x: S. p` those of `p` for every value; `c -> p <> q` those of one branch;
//! - `p . q –m→ p' . q` if `p –m→ p'`, and `p . q –m→ q` if `p –m→ ✓`;
//! - `p || q` has the steps of `p` beside `q`, those of `q` beside `p`, and for every two steps `p –m→ p'`, `q –n→ q'`
//!   the step `m|n` to `p' || q'`; a side that has ended is left out;
//! - `block`, `hide`, `rename`, `allow`, `comm` change or drop the steps of their operand and stay around it. `comm`
//!   replaces as many left sides with equal arguments as there are. Since no action stands in two left sides, the order
//!   does not matter, and results do not communicate again.
//!
//! Once the whole process has ended it terminates by one more step, after which nothing happens.
//!
//! Cost: exponential in the number of parallel components, as the definitions are.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, StateId};

use super::{Data, Environment, Node, NodeId, Operator, Specification};

/// An action with the values of its arguments.
pub type Part<V> = (String, Vec<V>);

/// What happens in a step: a bag of actions, sorted by name and then by arguments; `tau` is none.
pub type Bag<V> = Vec<Part<V>>;

/// A closed process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term<V: Ord> {
    /// Has ended.
    Done,
    /// A process expression with values for its variables: no call, no condition, no `||` and no operator.
    Open(NodeId, Environment<V>),
    Sequence(Rc<Term<V>>, NodeId, Environment<V>),
    Parallel(Rc<Term<V>>, Rc<Term<V>>),
    Operator(Rc<Operator>, Rc<Term<V>>),
}

/// What happens in each step, and the process after it.
type Steps<V> = Vec<(Bag<V>, Term<V>)>;

/// Why there is no transition system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There are more states than the caller allows.
    TooLarge,
    /// A condition is neither true nor false.
    Stuck(String),
    /// Calls follow each other without an action.
    Unguarded,
}

/// The transition system of a specification, with at most `most_states` states, for these values of its global
/// variables. Steps of one label between two states are one transition.
pub fn explore<D: Data>(
    specification: &Specification<D::Expression>,
    globals: &Environment<D::Value>,
    data: &mut D,
    most_states: usize,
) -> Result<Lts, Failure> {
    let mut walker = Walker { specification, globals, free: HashMap::new(), data, depth: 0 };
    let labels = Arc::new(Labels::new());
    let mut builder = LtsBuilder::new(Arc::clone(&labels));
    // The state after termination is a term, too: nothing happens in it.
    let mut numbers: HashMap<Option<Term<D::Value>>, u32> = HashMap::new();
    let initial = Some(walker.close(specification.init, globals)?);
    numbers.insert(initial.clone(), 0);
    let mut states = vec![initial];
    let mut next = 0;
    while next < states.len() {
        let mut steps: Vec<(LabelId, Option<Term<D::Value>>)> = Vec::new();
        match states[next].clone() {
            None => {}
            Some(Term::Done) => steps.push((LabelId::TICK, None)),
            Some(term) => {
                for (bag, target) in walker.steps(&term)? {
                    let label = if bag.is_empty() { LabelId::TAU } else { labels.name(&walker.text(&bag)) };
                    steps.push((label, Some(target)));
                }
            }
        }
        let mut seen = Vec::new();
        for (label, target) in steps {
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                states.push(target);
                states.len() as u32 - 1
            });
            if states.len() > most_states {
                return Err(Failure::TooLarge);
            }
            if !seen.contains(&(label, number)) {
                seen.push((label, number));
                builder.add(StateId(next as u32), label, StateId(number));
            }
        }
        next += 1;
    }
    builder.at_least(states.len() as u32);
    Ok(builder.build(StateId(0)))
}

struct Walker<'s, D: Data> {
    specification: &'s Specification<D::Expression>,
    /// Values of variables that no process binds.
    globals: &'s Environment<D::Value>,
    /// Free variables of process expressions.
    free: HashMap<NodeId, Rc<[u32]>>,
    data: &'s mut D,
    depth: usize,
}

/// How deep expressions may be nested before an action, calls unfolded.
const MOST_UNFOLDINGS: usize = 500;

impl<D: Data> Walker<'_, D> {
    /// A process expression with values: calls, conditions, `||` and operators are taken apart, so that one process is
    /// one term.
    fn close(&mut self, id: NodeId, environment: &Environment<D::Value>) -> Result<Term<D::Value>, Failure> {
        self.deeper()?;
        let specification = self.specification;
        let closed = match &specification.nodes[id.0] {
            Node::Call(definition, values) => {
                let (parameters, body) = &specification.definitions[*definition];
                let mut inside = self.globals.clone();
                for (&parameter, value) in parameters.iter().zip(values) {
                    let value = self.data.evaluate(value, environment);
                    inside.insert(parameter, value);
                }
                self.close(*body, &inside)?
            }
            Node::Condition(condition, yes, no) => {
                let value = self.data.evaluate(condition, environment);
                match (self.data.truth(&value), no) {
                    (Some(true), _) => self.close(*yes, environment)?,
                    (Some(false), Some(no)) => self.close(*no, environment)?,
                    // An expression of its own is a term that has no step.
                    (Some(false), None) => Term::Open(id, self.restricted(id, environment)),
                    (None, _) => return Err(Failure::Stuck(self.data.text(&value))),
                }
            }
            Node::Parallel(left, right) => {
                let (left, right) = (self.close(*left, environment)?, self.close(*right, environment)?);
                parallel(left, right)
            }
            Node::Operator(operator, inside) => {
                let inside = self.close(*inside, environment)?;
                Term::Operator(Rc::new(operator.clone()), Rc::new(inside))
            }
            _ => Term::Open(id, self.restricted(id, environment)),
        };
        self.depth -= 1;
        Ok(closed)
    }

    /// Counts an unfolding; the caller counts it back.
    fn deeper(&mut self) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > MOST_UNFOLDINGS { Err(Failure::Unguarded) } else { Ok(()) }
    }

    /// The values of the variables that occur in a process expression.
    fn restricted(&mut self, id: NodeId, environment: &Environment<D::Value>) -> Environment<D::Value> {
        let free = self.free_variables(id);
        free.iter().filter_map(|variable| Some((*variable, environment.get(variable)?.clone()))).collect()
    }

    fn free_variables(&mut self, id: NodeId) -> Rc<[u32]> {
        if let Some(known) = self.free.get(&id) {
            return Rc::clone(known);
        }
        let specification = self.specification;
        let mut found: Vec<u32> = Vec::new();
        let mut inside: Vec<NodeId> = Vec::new();
        let mut bound: &[u32] = &[];
        match &specification.nodes[id.0] {
            Node::Actions(actions) => {
                for value in actions.iter().flat_map(|(_, values)| values) {
                    found.extend(self.data.free_variables(value));
                }
            }
            Node::Call(_, values) => {
                values.iter().for_each(|value| found.extend(self.data.free_variables(value)));
            }
            Node::Delta => {}
            Node::Choice(left, right) | Node::Sequence(left, right) | Node::Parallel(left, right) => {
                inside.extend([*left, *right]);
            }
            Node::Sum(variables, body) => {
                bound = variables;
                inside.push(*body);
            }
            Node::Condition(condition, yes, no) => {
                found.extend(self.data.free_variables(condition));
                inside.push(*yes);
                inside.extend(no);
            }
            Node::Operator(_, body) => inside.push(*body),
        }
        for part in inside {
            found.extend(self.free_variables(part).iter());
        }
        found.retain(|variable| !bound.contains(variable));
        found.sort_unstable();
        found.dedup();
        let found: Rc<[u32]> = found.into();
        self.free.insert(id, Rc::clone(&found));
        found
    }

    /// The steps of a term, perhaps some of them twice.
    fn steps(&mut self, term: &Term<D::Value>) -> Result<Steps<D::Value>, Failure> {
        match term {
            Term::Done => Ok(Vec::new()),
            Term::Open(id, environment) => self.open_steps(*id, environment),
            Term::Sequence(first, then, environment) => {
                let steps = self.steps(first)?;
                self.followed(steps, *then, environment)
            }
            Term::Parallel(left, right) => {
                let (ones, others) = (self.steps(left)?, self.steps(right)?);
                let mut steps = Vec::new();
                for (bag, target) in &ones {
                    steps.push((bag.clone(), parallel(target.clone(), (**right).clone())));
                }
                for (bag, target) in &others {
                    steps.push((bag.clone(), parallel((**left).clone(), target.clone())));
                }
                for (one, left) in &ones {
                    for (other, right) in &others {
                        let mut bag: Bag<D::Value> = one.iter().chain(other).cloned().collect();
                        bag.sort();
                        steps.push((bag, parallel(left.clone(), right.clone())));
                    }
                }
                Ok(steps)
            }
            Term::Operator(operator, inside) => {
                let steps = self.steps(inside)?;
                Ok(steps
                    .into_iter()
                    .filter_map(|(bag, target)| {
                        let target = match target {
                            Term::Done => Term::Done,
                            target => Term::Operator(Rc::clone(operator), Rc::new(target)),
                        };
                        Some((apply(operator, bag)?, target))
                    })
                    .collect())
            }
        }
    }

    fn open_steps(&mut self, id: NodeId, environment: &Environment<D::Value>) -> Result<Steps<D::Value>, Failure> {
        let specification = self.specification;
        match &specification.nodes[id.0] {
            Node::Actions(actions) => {
                let mut bag: Bag<D::Value> = actions
                    .iter()
                    .map(|(name, values)| {
                        let values = values.iter().map(|value| self.data.evaluate(value, environment)).collect();
                        (name.clone(), values)
                    })
                    .collect();
                bag.sort();
                Ok(vec![(bag, Term::Done)])
            }
            Node::Choice(left, right) => {
                let mut steps = self.closed_steps(*left, environment)?;
                steps.extend(self.closed_steps(*right, environment)?);
                Ok(steps)
            }
            Node::Sequence(first, then) => {
                let steps = self.closed_steps(*first, environment)?;
                self.followed(steps, *then, environment)
            }
            Node::Sum(variables, body) => {
                let mut environments = vec![environment.clone()];
                for &variable in variables {
                    let values = self.data.values(variable);
                    environments = environments
                        .iter()
                        .flat_map(|environment| {
                            values.iter().map(|value| {
                                let mut extended = environment.clone();
                                extended.insert(variable, value.clone());
                                extended
                            })
                        })
                        .collect();
                }
                let mut steps = Vec::new();
                for environment in environments {
                    steps.extend(self.closed_steps(*body, &environment)?);
                }
                Ok(steps)
            }
            // A condition that stayed is false and has no else.
            Node::Delta | Node::Condition(..) => Ok(Vec::new()),
            Node::Call(..) | Node::Parallel(..) | Node::Operator(..) => {
                unreachable!("such expressions are taken apart when they are closed")
            }
        }
    }

    fn closed_steps(&mut self, id: NodeId, environment: &Environment<D::Value>) -> Result<Steps<D::Value>, Failure> {
        self.deeper()?;
        let term = self.close(id, environment)?;
        let steps = self.steps(&term);
        self.depth -= 1;
        steps
    }

    /// Steps of `p`, as steps of `p . q`.
    fn followed(
        &mut self,
        steps: Steps<D::Value>,
        then: NodeId,
        environment: &Environment<D::Value>,
    ) -> Result<Steps<D::Value>, Failure> {
        let environment = self.restricted(then, environment);
        let mut followed = Vec::new();
        for (bag, target) in steps {
            let target = match target {
                Term::Done => self.close(then, &environment)?,
                target => Term::Sequence(Rc::new(target), then, environment.clone()),
            };
            followed.push((bag, target));
        }
        Ok(followed)
    }

    /// A bag of actions as mCRL2 prints it.
    fn text(&self, bag: &[Part<D::Value>]) -> String {
        let mut parts: Vec<String> = bag
            .iter()
            .map(|(name, values)| {
                let values: Vec<String> = values.iter().map(|value| self.data.text(value)).collect();
                if values.is_empty() { name.clone() } else { format!("{name}({})", values.join(", ")) }
            })
            .collect();
        parts.sort_by(|one, other| {
            let name = |part: &str| part.split('(').next().unwrap_or_default().to_string();
            (name(one), one).cmp(&(name(other), other))
        });
        parts.join("|")
    }
}

/// `p || q`, where a side that has ended is left out.
fn parallel<V: Ord>(left: Term<V>, right: Term<V>) -> Term<V> {
    match (left, right) {
        (Term::Done, other) | (other, Term::Done) => other,
        (left, right) => Term::Parallel(Rc::new(left), Rc::new(right)),
    }
}

/// What an operator makes of a step; nothing when it forbids the step.
pub fn apply<V: Clone + Ord>(operator: &Operator, bag: Bag<V>) -> Option<Bag<V>> {
    let mut bag = bag;
    match operator {
        Operator::Block(names) => {
            return bag.iter().all(|(name, _)| !names.contains(name)).then_some(bag);
        }
        Operator::Hide(names) => bag.retain(|(name, _)| !names.contains(name)),
        Operator::Rename(pairs) => {
            for (name, _) in &mut bag {
                if let Some((_, new)) = pairs.iter().find(|(old, _)| old == name) {
                    *name = new.clone();
                }
            }
            bag.sort();
        }
        Operator::Allow(bags) => {
            let mut names: Vec<String> = bag.iter().map(|(name, _)| name.clone()).collect();
            names.sort();
            return (names.is_empty() || bags.contains(&names)).then_some(bag);
        }
        Operator::Comm(rules) => {
            let mut results = Vec::new();
            for (names, result) in rules {
                while let Some((rest, values)) = communicate(&bag, names) {
                    bag = rest;
                    results.push((result.clone(), values));
                }
            }
            bag.extend(results);
            bag.sort();
        }
    }
    Some(bag)
}

/// Takes one occurrence of each name out of a bag, all with the same arguments.
fn communicate<V: Clone + Ord>(bag: &[Part<V>], names: &[String]) -> Option<(Bag<V>, Vec<V>)> {
    bag.iter().find_map(|(_, values)| {
        let mut rest = bag.to_vec();
        for name in names {
            let place = rest.iter().position(|(other, others)| other == name && others == values)?;
            rest.remove(place);
        }
        Some((rest, values.clone()))
    })
}
