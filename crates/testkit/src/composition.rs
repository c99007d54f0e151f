//! Parallel composition and distances, straight from the definitions.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_lts::Lts;
use trefoil_system::{LabelId, StateId};

/// A composition in terms of label numbers.
#[derive(Clone, Debug, Default)]
pub struct NaiveComposition {
    /// The labels that all components with the label take together; `None`: all labels.
    pub synchronised: Option<BTreeSet<LabelId>>,
    /// For each component what it does, or nothing; and what is seen.
    pub vectors: Vec<(Vec<Option<LabelId>>, LabelId)>,
    /// Labels that a component does only by vectors, besides those that are in one.
    pub only_by_vectors: BTreeSet<(usize, LabelId)>,
    /// Pairs of old and new.
    pub renamed: BTreeSet<(LabelId, LabelId)>,
    /// Labels that become `τ`.
    pub hidden: BTreeSet<LabelId>,
}

/// The reachable part of a composition: for every tuple of states its transitions, as a set.
pub type NaiveProduct = BTreeMap<Vec<u32>, BTreeSet<(LabelId, Vec<u32>)>>;

impl NaiveComposition {
    /// Everything reachable from the tuple of initial states.
    pub fn product(&self, components: &[Lts]) -> NaiveProduct {
        let mut product = NaiveProduct::new();
        let mut work = vec![components.iter().map(|lts| lts.initial().0).collect::<Vec<u32>>()];
        while let Some(state) = work.pop() {
            if product.contains_key(&state) {
                continue;
            }
            let steps = self.steps(components, &state);
            work.extend(steps.iter().map(|(_, target)| target.clone()));
            product.insert(state, steps);
        }
        product
    }

    fn steps(&self, components: &[Lts], state: &[u32]) -> BTreeSet<(LabelId, Vec<u32>)> {
        let count = components.len();
        let has = |i: usize, a: LabelId| components[i].all_transitions().any(|(_, t)| t.label == a);
        let by_vector = |i: usize, a: LabelId| {
            self.only_by_vectors.contains(&(i, a)) || self.vectors.iter().any(|(parts, _)| parts[i] == Some(a))
        };
        let labels: BTreeSet<LabelId> =
            components.iter().flat_map(|lts| lts.all_transitions().map(|(_, t)| t.label)).collect();
        let mut steps = BTreeSet::new();
        let mut together = |who: &dyn Fn(usize) -> Option<LabelId>, seen: LabelId| {
            for target in moves(components, state, who) {
                for label in self.shown(seen) {
                    steps.insert((label, target.clone()));
                }
            }
        };
        for &a in &labels {
            if a == LabelId::TICK {
                together(&|_| Some(a), a);
            } else if a == LabelId::TAU || self.synchronised.as_ref().is_some_and(|set| !set.contains(&a)) {
                for i in (0..count).filter(|&i| has(i, a) && !by_vector(i, a)) {
                    together(&|j| (i == j).then_some(a), a);
                }
            } else if (0..count).any(|i| has(i, a) && !by_vector(i, a)) {
                together(&|i| (has(i, a) && !by_vector(i, a)).then_some(a), a);
            }
        }
        for (parts, seen) in &self.vectors {
            together(&|i| parts[i], *seen);
        }
        steps
    }

    fn shown(&self, label: LabelId) -> Vec<LabelId> {
        let new: Vec<LabelId> = self.renamed.iter().filter(|(old, _)| *old == label).map(|&(_, new)| new).collect();
        let named = if new.is_empty() { vec![label] } else { new };
        named.into_iter().map(|label| if self.hidden.contains(&label) { LabelId::TAU } else { label }).collect()
    }
}

/// All ways in which the components named by `who` take a step with their label while the others stay in their states.
pub(crate) fn moves(components: &[Lts], state: &[u32], who: &dyn Fn(usize) -> Option<LabelId>) -> Vec<Vec<u32>> {
    let mut tuples = vec![Vec::new()];
    for (i, lts) in components.iter().enumerate() {
        let targets: Vec<u32> = match who(i) {
            None => vec![state[i]],
            Some(a) => lts.outgoing(StateId(state[i])).iter().filter(|t| t.label == a).map(|t| t.target.0).collect(),
        };
        let extend = |tuple: &Vec<u32>| {
            let tuple = tuple.clone();
            targets
                .iter()
                .map(move |&target| tuple.iter().copied().chain([target]).collect())
                .collect::<Vec<Vec<u32>>>()
        };
        tuples = tuples.iter().flat_map(extend).collect();
    }
    tuples
}

/// The least number of visible events (or of steps, when `all`) on a path from the initial state to each state, as a
/// fixpoint.
pub fn distances(lts: &Lts, all: bool) -> Vec<Option<u32>> {
    let mut distances = vec![None; lts.state_count()];
    distances[lts.initial().index()] = Some(0);
    loop {
        let mut changed = false;
        for (source, transition) in lts.all_transitions() {
            let cost = u32::from(all || transition.label != LabelId::TAU);
            if let Some(new) = distances[source.index()].map(|distance: u32| distance + cost)
                && distances[transition.target.index()].is_none_or(|old| new < old)
            {
                distances[transition.target.index()] = Some(new);
                changed = true;
            }
        }
        if !changed {
            return distances;
        }
    }
}
