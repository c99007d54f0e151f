//! Refinement straight from the definitions, and pairs of systems on which it is worth deciding.
//!
//! The oracle walks all traces of the implementation at once: after each trace it has the set of states that the
//! specification can be in and the set of states that the implementation can be in, as masks of bits, and compares what
//! the definitions compare: refusals as sets of sets of labels, all of them listed, and divergence by stepping as often
//! as there are states. Traces come in the order of their length, so the first difference is at the least one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use trefoil_lts::{Lts, LtsBuilder, Transition};
use trefoil_system::{LabelId, Labels, Model, StateId};

use crate::{Random, RandomShape, random_lts};

/// States as bits.
pub(crate) type States = u64;

/// The least length of a trace that shows that the implementation does not refine the specification; `None` if it does.
/// For systems with at most 64 states and few labels.
pub fn shortest_violation(specification: &Lts, implementation: &Lts, model: Model) -> Option<usize> {
    if !model.has_minimal_acceptances() {
        return crate::observations::shortest_violation(specification, implementation, model);
    }
    let act = alphabet(&[specification, implementation]);
    let (spec, imp) = (Definitions::new(specification, &act), Definitions::new(implementation, &act));
    let start = (spec.after_nothing(), imp.after_nothing());
    let mut seen = BTreeSet::from([start]);
    let mut work = VecDeque::from([(start, 0)]);
    while let Some(((u, v), length)) = work.pop_front() {
        let violated = match model {
            Model::Traces => u == 0,
            Model::Failures => u == 0 || !imp.refusals(v).is_subset(&spec.refusals(u)),
            Model::FailuresDivergences => {
                if spec.diverges(u) {
                    // A divergence of the specification: it has every failure and every divergence from here on.
                    continue;
                }
                imp.diverges(v) || !imp.refusals(v).is_subset(&spec.refusals(u))
            }
            _ => unreachable!("the other models have definitions of their own"),
        };
        if violated {
            return Some(length);
        }
        for label in 0..act.len() {
            let next = (spec.after(u, label), imp.after(v, label));
            if next.1 != 0 && seen.insert(next) {
                work.push_back((next, length + 1));
            }
        }
    }
    None
}

/// The visible labels of some systems.
pub(crate) fn alphabet(systems: &[&Lts]) -> Vec<LabelId> {
    let mut act: Vec<LabelId> = Vec::new();
    for (_, step) in systems.iter().flat_map(|lts| lts.all_transitions()) {
        if step.label.is_visible() && !act.contains(&step.label) {
            act.push(step.label);
        }
    }
    act
}

/// One system, by the definitions.
pub(crate) struct Definitions {
    initial: usize,
    /// By state and label, the states one step further; the last label is `τ`.
    steps: Vec<Vec<States>>,
    pub(crate) labels: usize,
}

impl Definitions {
    pub(crate) fn new(lts: &Lts, act: &[LabelId]) -> Definitions {
        assert!(lts.state_count() <= 64, "the oracle is for small systems");
        let mut steps = vec![vec![0; act.len() + 1]; lts.state_count()];
        for (source, step) in lts.all_transitions() {
            let label = act.iter().position(|&label| label == step.label).unwrap_or(act.len());
            steps[source.index()][label] |= 1 << step.target.0;
        }
        Definitions { initial: lts.initial().index(), steps, labels: act.len() }
    }

    pub(crate) fn members(states: States) -> impl Iterator<Item = usize> {
        (0..64).filter(move |&state| states >> state & 1 == 1)
    }

    /// The states one step further; the label after the last one is `τ`.
    pub(crate) fn step(&self, states: States, label: usize) -> States {
        Definitions::members(states).fold(0, |all, state| all | self.steps[state][label])
    }

    /// The states that `τ` leads to, these included.
    pub(crate) fn weakly(&self, mut states: States) -> States {
        loop {
            let more = states | self.step(states, self.labels);
            if more == states {
                return states;
            }
            states = more;
        }
    }

    pub(crate) fn initial(&self) -> usize {
        self.initial
    }

    /// How many states there are.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn after_nothing(&self) -> States {
        self.weakly(1 << self.initial)
    }

    pub(crate) fn after(&self, states: States, label: usize) -> States {
        self.weakly(self.step(states, label))
    }

    /// Every set of labels, as a mask, that some stable state among these refuses.
    pub(crate) fn refusals(&self, states: States) -> BTreeSet<u32> {
        let mut refusals = BTreeSet::new();
        for state in Definitions::members(states).filter(|&state| self.steps[state][self.labels] == 0) {
            for set in 0..1u32 << self.labels {
                let refused = (0..self.labels).all(|label| set >> label & 1 == 0 || self.steps[state][label] == 0);
                if refused {
                    refusals.insert(set);
                }
            }
        }
        refusals
    }

    /// Can `τ` be taken more often than there are states?
    pub(crate) fn diverges(&self, states: States) -> bool {
        let mut here = states;
        for _ in 0..=self.steps.len() {
            here = self.step(here, self.labels);
        }
        here != 0
    }
}

/// A specification and an implementation with at most 12 states each, with `τ`-cycles now and then. Some pairs are
/// unrelated; most implementations are made from their specification by changes that mostly preserve refinement, so
/// that each verdict is frequent in every model.
pub fn random_pair(labels: &Arc<Labels>, random: &mut Random) -> (Lts, Lts) {
    // Most specifications are small: the definitions enumerate all subsets.
    let most = if random.chance(20) { 12 } else { 6 };
    let states = 1 + random.below(most);
    let shape = RandomShape {
        states: states as u32,
        transitions: states + random.below(3 * states / 2 + 1),
        labels: 2 + random.below(3),
        tau_percent: [0, 15, 30, 45][random.below(4)],
    };
    let specification = random_lts(labels, shape, random);
    if random.chance(25) {
        let states = 1 + random.below(12);
        let shape = RandomShape { states: states as u32, transitions: random.below(2 * states + 1), ..shape };
        return (specification, random_lts(labels, shape, random));
    }
    let mut edges: Vec<(StateId, Transition)> = specification.all_transitions().collect();
    let mut count = specification.state_count() as u32;
    for _ in 0..random.below(6) {
        if edges.is_empty() {
            break;
        }
        let chosen = random.below(edges.len());
        let (source, step) = edges[chosen];
        match random.below(18) {
            // A copy of the target with the same transitions.
            0..4 if count < 12 => {
                let copy = StateId(count);
                count += 1;
                let copies: Vec<_> = edges.iter().filter(|(from, _)| *from == step.target).map(|&(_, to)| to).collect();
                edges.extend(copies.into_iter().map(|to| (copy, to)));
                edges[chosen].1.target = copy;
            }
            // An internal step before it arrives.
            4..7 if count < 12 => {
                let between = StateId(count);
                count += 1;
                edges[chosen].1.target = between;
                edges.push((between, Transition { label: LabelId::TAU, target: step.target }));
            }
            // Something the specification may do is not done.
            7..9 => {
                edges.swap_remove(chosen);
            }
            // A choice is made early.
            9 if count < 12 => {
                let decided = StateId(count);
                count += 1;
                edges.push((decided, step));
                edges.push((source, Transition { label: LabelId::TAU, target: decided }));
            }
            10 => edges[chosen].1.target = StateId(random.below(count as usize) as u32),
            11 => edges[chosen].1.label = edges[random.below(edges.len())].1.label,
            12..15 => {
                let label = edges[random.below(edges.len())].1.label;
                let ends = (random.below(count as usize) as u32, random.below(count as usize) as u32);
                edges.push((StateId(ends.0), Transition { label, target: StateId(ends.1) }));
            }
            15 => edges.push((source, Transition { label: LabelId::TAU, target: source })),
            _ => {}
        }
    }
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(count);
    for (source, step) in edges {
        builder.add(source, step.label, step.target);
    }
    (specification, builder.build(StateId(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The teller machine of Laveaux, *Accelerated verification of concurrent systems* (2022), example 2.1.12.
    #[test]
    fn the_oracle_knows_the_teller_machine() {
        let labels = Arc::new(Labels::new());
        let make = |steps: &[(u32, &str, u32)]| {
            let mut builder = LtsBuilder::new(labels.clone());
            for &(source, label, target) in steps {
                builder.add(StateId(source), labels.name(label), StateId(target));
            }
            builder.build(StateId(0))
        };
        let s = make(&[(0, "REQ", 1), (1, "tau", 2), (1, "tau", 5), (2, "20", 0), (5, "10", 3), (3, "10", 0)]);
        let t = make(&[(0, "REQ", 1), (1, "20", 2)]);
        let u = make(&[(0, "REQ", 1), (1, "tau", 1), (1, "20", 2), (2, "tau", 0)]);
        use Model::{Failures, FailuresDivergences, Traces};
        assert_eq!(shortest_violation(&s, &t, Traces), None);
        assert_eq!(shortest_violation(&s, &t, Failures), Some(2));
        assert_eq!(shortest_violation(&s, &u, Failures), None);
        assert_eq!(shortest_violation(&s, &u, FailuresDivergences), Some(1));
        assert_eq!(shortest_violation(&u, &s, FailuresDivergences), None);
        assert_eq!(shortest_violation(&u, &s, Traces), Some(2));
        assert_eq!(shortest_violation(&u, &t, FailuresDivergences), None);
    }
}
