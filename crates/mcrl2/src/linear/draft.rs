//! The linear process while analyses still change it: parameters and summands over terms.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trefoil_data::sorts::POS;
use trefoil_terms::Term;

use super::Refusal;
use super::component::{OpenAction, SequentialComponent};
use super::expressions::{Expressions, Variable};
use super::join::Combination;

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct DraftParameter {
    pub(super) variable: Variable,
    pub(super) component: usize,
    pub(super) initial: Term,
    /// What it holds while nothing reads it.
    pub(super) idle: Option<Term>,
    /// The number of values, for a parameter that is the control of its component.
    pub(super) control: Option<u32>,
}

/// One summand of a component as a part of a joined one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DraftPart {
    pub(super) component: usize,
    pub(super) summand: usize,
    /// The control states before and after; several for a cluster.
    pub(super) moves: Vec<(usize, usize)>,
}

/// A summand.
#[derive(Clone, Debug)]
pub(super) struct DraftSummand {
    pub(super) sums: Vec<Variable>,
    pub(super) conditions: Vec<Term>,
    /// The actions; nothing for successful termination.
    pub(super) action: Option<Vec<OpenAction>>,
    /// New values by parameter.
    pub(super) updates: BTreeMap<usize, Term>,
    pub(super) parts: Vec<DraftPart>,
}

impl DraftSummand {
    /// Gives summed variables their values, and forgets unused ones; false when the summand is never enabled.
    pub(super) fn solve(&mut self, x: &mut Expressions<'_>) -> Result<bool, Refusal> {
        let mut terms: Vec<&mut Term> = self.updates.values_mut().collect();
        terms.extend(self.action.iter_mut().flatten().flat_map(|(_, arguments)| arguments));
        x.solve(&mut self.sums, &mut self.conditions, &mut terms)
    }

    /// Puts tests of control first, and simple conjuncts before complex ones: these may be undefined where those fail.
    pub(super) fn order_conditions(&mut self, x: &mut Expressions<'_>, controls: &BTreeSet<Variable>) {
        let mut keyed: Vec<(bool, u64, Term)> = Vec::new();
        for &condition in &self.conditions {
            let is_control = x.free(condition).iter().all(|variable| controls.contains(variable));
            keyed.push((!is_control, x.size(condition), condition));
        }
        keyed.sort_by_key(|&(data, size, _)| (data, size));
        self.conditions = keyed.into_iter().map(|(_, _, condition)| condition).collect();
    }

    /// Forgets summed variables that nothing uses any more.
    pub(super) fn forget_unused(&mut self, x: &mut Expressions<'_>) {
        let mut used: BTreeSet<Variable> = BTreeSet::new();
        let arguments = self.action.iter().flatten().flat_map(|(_, arguments)| arguments);
        for &term in self.conditions.iter().chain(arguments).chain(self.updates.values()) {
            used.extend(x.free(term).iter());
        }
        self.sums.retain(|variable| used.contains(variable));
    }

    /// Replaces variables everywhere; false when the summand is never enabled any more.
    pub(super) fn replace(
        &mut self,
        x: &mut Expressions<'_>,
        values: &HashMap<Variable, Term>,
    ) -> Result<bool, Refusal> {
        let mut conditions = Vec::new();
        for &condition in &self.conditions {
            let replaced = x.replace(condition, values)?;
            if !x.conjuncts(replaced, &mut conditions)? {
                return Ok(false);
            }
        }
        self.conditions = conditions;
        for argument in self.action.iter_mut().flatten().flat_map(|(_, arguments)| arguments) {
            *argument = x.replace(*argument, values)?;
        }
        for value in self.updates.values_mut() {
            *value = x.replace(*value, values)?;
        }
        Ok(true)
    }
}

/// A linear process that is being made.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) parameters: Vec<DraftParameter>,
    pub(super) summands: Vec<DraftSummand>,
}

impl Draft {
    /// The linear process of components and the combinations of their summands.
    pub(super) fn new(
        x: &mut Expressions<'_>,
        components: &[SequentialComponent],
        combinations: Vec<Combination>,
    ) -> Result<Draft, Refusal> {
        let mut parameters = Vec::new();
        let mut controls: Vec<Option<usize>> = Vec::new();
        let mut firsts = Vec::new();
        let ends = !components.is_empty() && components.iter().all(|component| component.terminated.is_some());
        let first_state = x.rewriter.section().word(1);
        for (index, component) in components.iter().enumerate() {
            // The first component also remembers that all have terminated together.
            let states = component.states.len() as u32 + u32::from(ends && index == 0);
            controls.push((states > 1).then(|| {
                let variable = component.control.unwrap_or_else(|| x.variable(&control_name(components, index), POS));
                parameters.push(DraftParameter {
                    variable,
                    component: index,
                    initial: first_state,
                    idle: None,
                    control: Some(states),
                });
                parameters.len() - 1
            }));
            firsts.push(parameters.len());
            parameters.extend(component.parameters.iter().map(|parameter| DraftParameter {
                variable: parameter.variable,
                component: index,
                initial: parameter.initial,
                idle: parameter.idle,
                control: None,
            }));
        }
        let mut draft = Draft { parameters, summands: Vec::new() };
        for combination in combinations {
            let mut summand = DraftSummand {
                sums: Vec::new(),
                conditions: Vec::new(),
                action: Some(combination.action),
                updates: BTreeMap::new(),
                parts: Vec::new(),
            };
            let mut possible = true;
            for &(component, number) in &combination.parts {
                let part = &components[component].summands[number];
                match (controls[component], part.control) {
                    (None, _) => {}
                    (Some(control), None) => {
                        let (from, to) = part.moves[0];
                        summand.conditions.push(draft.at(x, control, from)?);
                        if from != to {
                            summand.updates.insert(control, state_term(x, to));
                        }
                    }
                    (Some(control), Some(next)) => {
                        if next != x.leaf(draft.parameters[control].variable) {
                            summand.updates.insert(control, next);
                        }
                    }
                }
                summand.parts.push(DraftPart { component, summand: number, moves: part.moves.clone() });
            }
            for &(component, number) in &combination.parts {
                let part = &components[component].summands[number];
                summand.sums.extend(&part.sums);
                for &condition in &part.conditions {
                    possible &= x.conjuncts(condition, &mut summand.conditions)?;
                }
                for &(parameter, value) in &part.updates {
                    summand.updates.insert(firsts[component] + parameter, value);
                }
            }
            for &condition in &combination.conditions {
                possible &= x.conjuncts(condition, &mut summand.conditions)?;
            }
            if possible && summand.solve(x)? {
                draft.summands.push(summand);
            }
        }
        if ends {
            let mut conditions = Vec::new();
            let mut parts = Vec::new();
            for (index, component) in components.iter().enumerate() {
                let (Some(terminated), Some(control)) = (component.terminated, controls[index]) else {
                    unreachable!("a component that terminates has two states or more")
                };
                conditions.push(draft.at(x, control, terminated)?);
                let moves = vec![(terminated, terminated)];
                parts.push(DraftPart { component: index, summand: component.summands.len(), moves });
            }
            let end = state_term(x, components[0].states.len());
            parts[0].moves[0].1 = components[0].states.len();
            let updates = controls[0].map(|control| (control, end)).into_iter().collect();
            draft.summands.push(DraftSummand { sums: Vec::new(), conditions, action: None, updates, parts });
        }
        Ok(draft)
    }

    /// Puts the conjuncts of all summands into the order in which they are best evaluated.
    pub(super) fn order_conditions(&mut self, x: &mut Expressions<'_>) {
        let controls = self.parameters.iter().filter(|parameter| parameter.control.is_some());
        let controls: BTreeSet<Variable> = controls.map(|parameter| parameter.variable).collect();
        for summand in &mut self.summands {
            summand.order_conditions(x, &controls);
        }
    }

    /// Removes summands that do what an earlier one does.
    pub(super) fn remove_equal(&mut self) {
        let mut seen = HashSet::new();
        self.summands.retain(|summand| {
            // Summed variables are different ones in each summand.
            let key = || (summand.conditions.clone(), summand.action.clone(), summand.updates.clone());
            !summand.sums.is_empty() || seen.insert(key())
        });
    }

    /// The condition that a component is in a control state.
    fn at(&self, x: &mut Expressions<'_>, control: usize, state: usize) -> Result<Term, Refusal> {
        let leaf = x.leaf(self.parameters[control].variable);
        let state = state_term(x, state);
        x.equal(POS, leaf, state)
    }
}

/// The name of the control of a component.
pub(super) fn control_name(components: &[SequentialComponent], index: usize) -> String {
    if components.len() == 1 { "s".to_string() } else { format!("s{}", index + 1) }
}

/// The value of a control parameter: states count from 1.
pub(super) fn state_term(x: &Expressions<'_>, state: usize) -> Term {
    x.rewriter.section().word(state as u64 + 1)
}
