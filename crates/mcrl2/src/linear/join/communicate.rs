//! Communication: which actions of a step become one, and under which conditions on their arguments.

use std::collections::BTreeSet;

use trefoil_data::syntax::tree::Symbol;
use trefoil_terms::Term;

use super::demand::{Bag, Demand};
use super::{Combination, Joining, bag_of, sort};
use crate::linear::Refusal;
use crate::linear::component::OpenAction;

/// What `choose` chooses from.
#[derive(Clone, Copy)]
struct Communication<'c> {
    groups: &'c [(Vec<usize>, Symbol)],
    equalities: &'c [Option<Vec<Term>>],
    /// Actions that must communicate, each with the last group that it is in.
    last: &'c [(usize, usize)],
    combination: &'c Combination,
    demand: &'c Demand,
}

impl Joining<'_, '_, '_> {
    /// Every way to communicate in a step that meets a demand.
    pub(super) fn communicate(
        &mut self,
        rules: &[(Bag, Symbol)],
        combination: &Combination,
        demand: &Demand,
        found: &mut Vec<Combination>,
    ) -> Result<(), Refusal> {
        let names: Vec<Symbol> =
            combination.action.iter().map(|(action, _)| self.specification.action(*action).name).collect();
        // The groups of actions that have the names of a left side and the same sorts.
        let mut groups: Vec<(Vec<usize>, Symbol)> = Vec::new();
        for (left, result) in rules {
            let mut partial: Vec<Vec<usize>> = vec![Vec::new()];
            for name in left {
                partial = partial
                    .iter()
                    .flat_map(|group| {
                        let places = (0..names.len()).filter(|&place| names[place] == *name);
                        let after = group.last().copied().filter(|&last| names[last] == *name);
                        places
                            .filter(move |&place| after.is_none_or(|last| place > last))
                            .map(|place| group.iter().copied().chain([place]).collect::<Vec<usize>>())
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
            for group in partial {
                let sorts = |place: usize| &self.specification.action(combination.action[place].0).sorts;
                let is_declared = self.action(*result, combination.action[group[0]].0).is_some();
                if is_declared && group.iter().all(|&place| sorts(place) == sorts(group[0])) {
                    groups.push((group, *result));
                }
            }
        }
        if groups.is_empty() {
            if demand.takes(&bag_of(self.specification, &combination.action)) {
                found.push(combination.clone());
            }
            return Ok(());
        }
        // An action that the demand does not let through must communicate.
        let mut last = Vec::new();
        for (place, &name) in names.iter().enumerate() {
            let group = groups.iter().rposition(|(group, _)| group.contains(&place));
            let passes = demand.others.contains(name) || demand.exact.contains(&name);
            match (passes, group) {
                (true, _) => {}
                (false, Some(group)) => last.push((place, group)),
                (false, None) => return Ok(()),
            }
        }
        // When the arguments of each group are equal.
        let mut equalities: Vec<Option<Vec<Term>>> = Vec::new();
        for (group, _) in &groups {
            equalities.push(self.equality(group, &combination.action)?);
        }
        let mut chosen = Vec::new();
        let communication =
            Communication { groups: &groups, equalities: &equalities, last: &last, combination, demand };
        self.choose(&communication, 0, &mut chosen, found)
    }

    /// The conditions under which the arguments of some actions are equal; nothing when they cannot be.
    fn equality(&mut self, group: &[usize], action: &[OpenAction]) -> Result<Option<Vec<Term>>, Refusal> {
        let mut conditions = Vec::new();
        let sorts = self.specification.action(action[group[0]].0).sorts.clone();
        for pair in group.windows(2) {
            for (index, &sort) in sorts.iter().enumerate() {
                let (one, other) = (action[pair[0]].1[index], action[pair[1]].1[index]);
                let equal = self.x.equal(sort, one, other)?;
                if !self.x.conjuncts(equal, &mut conditions)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(conditions))
    }

    fn choose(
        &mut self,
        communication: &Communication<'_>,
        next: usize,
        chosen: &mut Vec<usize>,
        found: &mut Vec<Combination>,
    ) -> Result<(), Refusal> {
        if next < communication.groups.len() {
            let is_used = |place: usize| chosen.iter().any(|&group| communication.groups[group].0.contains(&place));
            if !communication.last.iter().any(|&(place, group)| group == next && !is_used(place)) {
                self.choose(communication, next + 1, chosen, found)?;
            }
            let group = &communication.groups[next].0;
            let disjoint = chosen
                .iter()
                .all(|&other: &usize| communication.groups[other].0.iter().all(|place| !group.contains(place)));
            if disjoint && communication.equalities[next].is_some() {
                chosen.push(next);
                self.choose(communication, next + 1, chosen, found)?;
                chosen.pop();
            }
            return Ok(());
        }
        let Communication { groups, equalities, combination, demand, .. } = *communication;
        let used: BTreeSet<usize> = chosen.iter().flat_map(|&group| groups[group].0.iter().copied()).collect();
        let mut action = Vec::new();
        for &group in chosen.iter() {
            let (places, result) = &groups[group];
            let first = &combination.action[places[0]];
            // An argument without variables is the simplest of equal ones.
            let arguments = (0..first.1.len())
                .map(|index| {
                    let all = places.iter().map(|&place| combination.action[place].1[index]);
                    all.clone().find(|&term| self.x.is_closed(term)).unwrap_or(first.1[index])
                })
                .collect();
            action.extend(self.action(*result, first.0).map(|result| (result, arguments)));
        }
        action.extend(
            (0..combination.action.len())
                .filter(|place| !used.contains(place))
                .map(|place| combination.action[place].clone()),
        );
        sort(self.specification, &mut action);
        if !demand.takes(&bag_of(self.specification, &action)) {
            return Ok(());
        }
        let mut conditions = combination.conditions.clone();
        for &group in chosen.iter() {
            for &condition in equalities[group].iter().flatten() {
                if !self.x.conjuncts(condition, &mut conditions)? {
                    return Ok(());
                }
            }
        }
        // No further communication: some argument differs in each group of the other actions.
        for (group, equal) in groups.iter().zip(equalities) {
            if group.0.iter().any(|place| used.contains(place)) {
                continue;
            }
            let Some(equal) = equal else { continue };
            let negated = self.x.not_all(equal)?;
            if !self.x.conjuncts(negated, &mut conditions)? {
                return Ok(());
            }
        }
        let made = Combination { parts: combination.parts.clone(), action, conditions };
        found.push(made);
        Ok(())
    }
}
