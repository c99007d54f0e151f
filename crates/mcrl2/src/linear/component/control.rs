//! The control states of a component, its parameters and its summands.
//!
//! States with the same summands, up to the names of summed variables and up to such states, are one: the component
//! cannot be in one of them and do what it could not do in the other, whatever its parameters hold. `R = R(0).R(1).R`
//! gets to `b.R` and to `b.R(0).R(1).R`, which are different continuations with the same steps. They are found by
//! refining the partition of all states, as strong bisimulation of finite graphs is (Kanellakis and Smolka, *CCS
//! expressions, finite state processes, and three problems of equivalence*, 1990).
//! A state is looked at again only when a step of it leads to a state whose class got another number, and the largest
//! part of a class keeps the number (Hopcroft, *An n log n algorithm for minimizing states in a finite automaton*,
//! 1971).
//!
//! Cost: m log n for m summands and n states, besides sorting.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trefoil_data::sorts::SortRef;
use trefoil_source::Span;
use trefoil_terms::Term;

use super::super::expressions::{Expressions, Variable};
use super::super::{Refusal, no_value};
use super::{ComponentParameter, ComponentSummand, OpenAction, Sequential, SequentialComponent, StackId, Step};

/// Elements of a stack that the text of a control state shows.
const MOST_SHOWN: usize = 24;

/// A slot of a control state: its parameter, and the one value that it has, if it has one only.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) parameter: usize,
    pub(super) constant: Option<Term>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) stack: StackId,
    pub(super) slots: Vec<Slot>,
    pub(super) steps: Vec<(usize, Step)>,
    pub(super) expanded: bool,
    pub(super) queued: bool,
}

/// The control states that were found so far.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) states: Vec<State>,
    pub(super) by_stack: HashMap<StackId, usize>,
    /// Parameters by name, sort and how many of both are below it on the stack.
    pub(super) parameters: HashMap<(String, SortRef, usize), usize>,
    pub(super) variables: Vec<Variable>,
}

impl Graph {
    /// A value without variables that a parameter gets.
    fn any_value(&self, x: &mut Expressions<'_>, parameter: usize) -> Option<Term> {
        for (to, step) in self.states.iter().flat_map(|state| &state.steps) {
            for (slot, &value) in self.states[*to].slots.iter().zip(&step.next.values) {
                if slot.parameter == parameter && x.is_closed(value) {
                    return Some(value);
                }
            }
        }
        None
    }
}

impl Sequential<'_> {
    /// The component of an explored graph.
    pub(super) fn finish(
        &self,
        x: &mut Expressions<'_>,
        graph: Graph,
        name: String,
        place: Span,
        initial: &[Term],
    ) -> Result<SequentialComponent, Refusal> {
        // Only slots that vary need a parameter.
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for slot in graph.states.iter().flat_map(|state| &state.slots) {
            if slot.constant.is_none() {
                numbers.insert(slot.parameter, 0);
            }
        }
        for (number, (_, place)) in numbers.iter_mut().enumerate() {
            *place = number;
        }
        let mut parameters = Vec::new();
        for &parameter in numbers.keys() {
            let variable = graph.variables[parameter];
            let sort = x.described(variable).sort;
            let at_start = graph.states[0].slots.iter().position(|slot| slot.parameter == parameter);
            let idle = at_start.map(|slot| initial[slot]).or_else(|| x.default(sort));
            let initial = match idle {
                Some(value) => value,
                None => {
                    let any = graph.any_value(x, parameter);
                    any.ok_or_else(|| no_value(self.specification, sort, place))?
                }
            };
            parameters.push(ComponentParameter { variable, initial, idle });
        }
        let mut summands = Vec::new();
        for (from, state) in graph.states.iter().enumerate() {
            for (to, step) in &state.steps {
                let target = &graph.states[*to];
                let mut updates = BTreeMap::new();
                // What the target does not use is idle; what this state does not use is idle already.
                for slot in &state.slots {
                    if slot.constant.is_none()
                        && let Some(idle) = parameters[numbers[&slot.parameter]].idle
                    {
                        updates.insert(numbers[&slot.parameter], idle);
                    }
                }
                for (slot, &value) in target.slots.iter().zip(&step.next.values) {
                    if slot.constant.is_none() {
                        updates.insert(numbers[&slot.parameter], value);
                    }
                }
                updates.retain(|&parameter, value| x.leaf(parameters[parameter].variable) != *value);
                summands.push(ComponentSummand {
                    moves: vec![(from, *to)],
                    control: None,
                    sums: step.sums.clone(),
                    conditions: step.conditions.clone(),
                    action: step.action.clone(),
                    updates: updates.into_iter().collect(),
                    place: self.specification.place(step.node),
                });
            }
        }
        let terminated = graph.states.iter().position(|state| state.stack == StackId::EMPTY);
        let mut component = SequentialComponent {
            name,
            place,
            control: None,
            parameters,
            states: graph.states.iter().map(|state| self.text(state.stack, MOST_SHOWN)).collect(),
            terminated,
            summands,
        };
        component.merge_states(x)?;
        Ok(component)
    }
}

/// Classes of states.
struct Partition {
    classes: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// Where each state is among the members of its class.
    places: Vec<usize>,
}

impl Partition {
    /// One class.
    fn new(states: usize) -> Partition {
        let all: Vec<usize> = (0..states).collect();
        Partition { classes: vec![0; states], members: vec![all.clone()], places: all }
    }

    /// Makes some members of a class a class of their own.
    fn split(&mut self, part: Vec<usize>) {
        let class = self.members.len();
        for (place, &state) in part.iter().enumerate() {
            let members = &mut self.members[self.classes[state]];
            members.swap_remove(self.places[state]);
            if let Some(&moved) = members.get(self.places[state]) {
                self.places[moved] = self.places[state];
            }
            (self.classes[state], self.places[state]) = (class, place);
        }
        self.members.push(part);
    }
}

/// What a summand does, beside where it leads.
pub(super) type Body = (Vec<SortRef>, Vec<Term>, Vec<OpenAction>, Vec<(usize, Term)>);

impl SequentialComponent {
    /// The class of each state, which is its first member, when states with the same summands are one.
    fn classes(&self, bodies: &[usize]) -> Vec<usize> {
        let states = self.states.len();
        let mut steps: Vec<Vec<(usize, usize)>> = vec![Vec::new(); states];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); states];
        for (summand, &body) in self.summands.iter().zip(bodies) {
            let (from, to) = summand.moves[0];
            steps[from].push((body, to));
            before[to].push(from);
        }
        let mut partition = Partition::new(states);
        if let Some(terminated) = self.terminated {
            partition.split(vec![terminated]);
        }
        // States whose steps lead into a class that got another number.
        let mut changed: BTreeSet<usize> = (0..states).collect();
        while !changed.is_empty() {
            let mut by_class: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for state in std::mem::take(&mut changed) {
                by_class.entry(partition.classes[state]).or_default().push(state);
            }
            let signature = |state: usize| {
                let step = |&(body, to): &(usize, usize)| (body, partition.classes[to]);
                let mut signature: Vec<(usize, usize)> = steps[state].iter().map(step).collect();
                signature.sort_unstable();
                signature.dedup();
                signature
            };
            let mut parts: Vec<Vec<usize>> = Vec::new();
            for (class, found) in by_class {
                let all = &partition.members[class];
                let mut groups: BTreeMap<Vec<(usize, usize)>, Vec<usize>> = BTreeMap::new();
                // All other members still have one signature.
                let mut kept = all.len() - found.len();
                let other = (kept > 0).then(|| {
                    let is_found: HashSet<usize> = found.iter().copied().collect();
                    let other = all.iter().find(|state| !is_found.contains(state));
                    signature(*other.expect("not all members were found"))
                });
                for state in found {
                    let signature = signature(state);
                    if other.as_ref() == Some(&signature) {
                        kept += 1;
                    } else {
                        groups.entry(signature).or_default().push(state);
                    }
                }
                // The largest part keeps its number, so a state gets another one a logarithmic number of times.
                let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
                groups.sort_by_key(Vec::len);
                if groups.last().is_some_and(|largest| largest.len() > kept) {
                    let largest: HashSet<usize> = groups.pop().into_iter().flatten().collect();
                    let moved: HashSet<usize> = groups.iter().flatten().copied().collect();
                    let is_rest = |state: &usize| !largest.contains(state) && !moved.contains(state);
                    groups.push(all.iter().copied().filter(is_rest).collect());
                }
                parts.extend(groups.into_iter().filter(|group| !group.is_empty()));
            }
            for part in parts {
                changed.extend(part.iter().flat_map(|&state| &before[state]));
                partition.split(part);
            }
        }
        let firsts: Vec<Option<usize>> = partition.members.iter().map(|part| part.iter().copied().min()).collect();
        partition.classes.iter().enumerate().map(|(state, &class)| firsts[class].unwrap_or(state)).collect()
    }

    /// Makes one state of states with the same summands.
    fn merge_states(&mut self, x: &mut Expressions<'_>) -> Result<(), Refusal> {
        let mut numbers: HashMap<Body, usize> = HashMap::new();
        let mut names: HashMap<(SortRef, usize), Variable> = HashMap::new();
        let mut bodies = Vec::new();
        for summand in &self.summands {
            let body = summand.body(x, &mut names)?;
            let next = numbers.len();
            bodies.push(*numbers.entry(body).or_insert(next));
        }
        let classes = self.classes(&bodies);
        let count = classes.iter().enumerate().filter(|&(state, &class)| state == class).count();
        if count == self.states.len() {
            return Ok(());
        }
        let mut places = vec![usize::MAX; self.states.len()];
        for (place, state) in (0..self.states.len()).filter(|&state| classes[state] == state).enumerate() {
            places[state] = place;
        }
        let mut seen: HashSet<(usize, usize, usize)> = HashSet::new();
        let mut at = 0;
        self.summands.retain_mut(|summand| {
            at += 1;
            let (from, to) = summand.moves[0];
            let target = places[classes[to]];
            summand.moves = vec![(places[classes[from]], target)];
            classes[from] == from && seen.insert((from, bodies[at - 1], target))
        });
        self.terminated = self.terminated.map(|terminated| places[classes[terminated]]);
        let mut state = 0;
        self.states.retain(|_| {
            state += 1;
            classes[state - 1] == state - 1
        });
        Ok(())
    }
}

impl ComponentSummand {
    /// What it does, in which summed variables of a sort are the first, the second and so on.
    pub(super) fn body(
        &self,
        x: &mut Expressions<'_>,
        names: &mut HashMap<(SortRef, usize), Variable>,
    ) -> Result<Body, Refusal> {
        let mut sorts = Vec::new();
        let mut values = HashMap::new();
        for (place, &sum) in self.sums.iter().enumerate() {
            let sort = x.described(sum).sort;
            sorts.push(sort);
            let name = *names.entry((sort, place)).or_insert_with(|| x.variable("@sum", sort));
            values.insert(sum, x.leaf(name));
        }
        let conditions =
            self.conditions.iter().map(|&condition| x.replace(condition, &values)).collect::<Result<_, _>>()?;
        let mut action = self.action.clone();
        for argument in action.iter_mut().flat_map(|(_, arguments)| arguments) {
            *argument = x.replace(*argument, &values)?;
        }
        let mut updates = self.updates.clone();
        for (_, value) in &mut updates {
            *value = x.replace(*value, &values)?;
        }
        Ok((sorts, conditions, action, updates))
    }
}
