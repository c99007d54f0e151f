//! Figures that summarise a system.
//!
//! Everything takes time linear in states and transitions and at most 26 bytes a state. Components come out sinks
//! first; that order gives divergence in the same walk: a state diverges when its component has a cycle of `τ` or one
//! of its `τ` leads to a component that diverges.
//!
//! Counts of states, transitions and labels, and determinism, are about the whole file; deadlocks, divergence and
//! strong connection are about what can be reached, because a state that is never entered neither blocks nor diverges.

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::components::{StateBits, components, reachable};
use crate::explicit::{Lts, Transition};

/// Figures about a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// States, reachable or not.
    pub states: usize,
    /// States that can be reached from the initial one.
    pub reachable_states: usize,
    /// Transitions.
    pub transitions: usize,
    /// Transitions from reachable states.
    pub reachable_transitions: usize,
    /// Transitions labelled `τ`.
    pub tau_transitions: usize,
    /// Visible labels that occur on transitions.
    pub visible_labels: usize,
    /// Does `τ` occur on a transition?
    pub has_tau: bool,
    /// The least and the largest number of transitions of a state.
    pub branching: (usize, usize),
    /// The first state from which one label, `τ` included, leads to two states; none in a deterministic system.
    pub nondeterministic_state: Option<StateId>,
    /// Reachable states without transitions.
    pub deadlocks: usize,
    /// The first of them.
    pub first_deadlock: Option<StateId>,
    /// Reachable states on a cycle of `τ`.
    pub tau_cycle_states: usize,
    /// Reachable states from which an infinite sequence of `τ` is possible.
    pub diverging_states: usize,
    /// The first of them.
    pub first_diverging: Option<StateId>,
    /// Strongly connected components of the reachable part.
    pub components: usize,
}

impl Info {
    /// Has every state at most one target for each label?
    pub fn is_deterministic(&self) -> bool {
        self.nondeterministic_state.is_none()
    }

    /// Can every reachable state be reached from every other?
    pub fn is_strongly_connected(&self) -> bool {
        self.components == 1
    }

    /// Transitions a state on average.
    pub fn average_branching(&self) -> f64 {
        self.transitions as f64 / self.states as f64
    }
}

/// How many states are visited between two polls of the control.
const BATCH: usize = 1 << 12;

/// Collects the figures.
pub fn info(lts: &Lts, control: &Control) -> Result<Info, Stopped> {
    control.progress().begin("collecting figures", 0);
    lts.make_whole(control)?;
    control.afford(lts.state_count().saturating_mul(26))?;
    let mut info = Info {
        states: lts.state_count(),
        reachable_states: 0,
        transitions: lts.transition_count(),
        reachable_transitions: 0,
        tau_transitions: 0,
        visible_labels: 0,
        has_tau: false,
        branching: (usize::MAX, 0),
        nondeterministic_state: None,
        deadlocks: 0,
        first_deadlock: None,
        tau_cycle_states: 0,
        diverging_states: 0,
        first_diverging: None,
        components: 0,
    };
    labels_and_branching(lts, control, &mut info)?;

    let reachable = reachable(lts, control)?;
    for state in lts.states().filter(|&state| reachable.contains(state)) {
        info.reachable_states += 1;
        info.reachable_transitions += lts.outgoing(state).len();
        if lts.outgoing(state).is_empty() {
            info.deadlocks += 1;
            info.first_deadlock = info.first_deadlock.or(Some(state));
        }
    }

    if info.has_tau {
        divergence(lts, &reachable, control, &mut info)?;
    }
    let mut count = 0;
    components(lts, |state| state == lts.initial(), |_| true, control, |_| count += 1)?;
    info.components = count;
    Ok(info)
}

fn labels_and_branching(lts: &Lts, control: &Control, info: &mut Info) -> Result<(), Stopped> {
    // For each label the state that had it last, and where it led from there.
    const NOWHERE: StateId = StateId(u32::MAX);
    let mut last = vec![(NOWHERE, NOWHERE); lts.labels().len()];
    for state in lts.states() {
        if state.index().is_multiple_of(BATCH) {
            control.check()?;
        }
        let outgoing = lts.outgoing(state);
        info.branching.0 = info.branching.0.min(outgoing.len());
        info.branching.1 = info.branching.1.max(outgoing.len());
        for transition in outgoing {
            info.tau_transitions += usize::from(transition.label == LabelId::TAU);
            let (from, to) = &mut last[transition.label.index()];
            if *from == state && *to != transition.target {
                info.nondeterministic_state = info.nondeterministic_state.or(Some(state));
            }
            (*from, *to) = (state, transition.target);
        }
    }
    info.has_tau = info.tau_transitions > 0;
    info.visible_labels = last.iter().skip(1).filter(|(from, _)| *from != NOWHERE).count();
    Ok(())
}

fn divergence(lts: &Lts, reachable: &StateBits, control: &Control, info: &mut Info) -> Result<(), Stopped> {
    let is_tau = |transition: &Transition| transition.label == LabelId::TAU;
    let mut diverges = vec![false; lts.state_count()];
    let mut on_cycles = 0;
    components(
        lts,
        |state| reachable.contains(state),
        is_tau,
        control,
        |members| {
            let taus = |state: &StateId| lts.outgoing(*state).iter().filter(|transition| is_tau(transition));
            let cycle = members.len() > 1 || members.iter().any(|state| taus(state).any(|t| t.target == *state));
            if cycle {
                on_cycles += members.len();
            }
            // Other components that are entered from here are finished.
            let diverging = cycle || members.iter().any(|state| taus(state).any(|t| diverges[t.target.index()]));
            for state in members {
                diverges[state.index()] = diverging;
            }
        },
    )?;
    info.tau_cycle_states = on_cycles;
    info.diverging_states = diverges.iter().filter(|&&diverging| diverging).count();
    info.first_diverging = diverges.iter().position(|&diverging| diverging).map(|state| StateId(state as u32));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_system::Labels;

    use super::*;
    use crate::explicit::LtsBuilder;
    use crate::random::{Random, RandomShape, random_lts};

    fn of(lts: &Lts) -> Info {
        info(lts, &Control::unlimited()).expect("no budget")
    }

    #[test]
    fn a_system_with_a_bit_of_everything() {
        let labels = Arc::new(Labels::new());
        let (a, b) = (labels.name("a"), labels.name("b"));
        labels.name("never used");
        let mut builder = LtsBuilder::new(labels);
        let edges = [(0, a, 1), (0, a, 1), (1, LabelId::TAU, 2), (2, LabelId::TAU, 3), (3, LabelId::TAU, 2), (3, b, 4)];
        for (source, label, target) in edges {
            builder.add(StateId(source), label, StateId(target));
        }
        builder.add(StateId(5), a, StateId(0)).add(StateId(5), a, StateId(5)).at_least(7);
        let info = of(&builder.build(StateId(0)));
        assert_eq!((info.states, info.reachable_states), (7, 5));
        assert_eq!((info.transitions, info.reachable_transitions, info.tau_transitions), (8, 6, 3));
        assert_eq!((info.visible_labels, info.has_tau, info.branching), (2, true, (0, 2)));
        assert_eq!((info.nondeterministic_state, info.is_deterministic()), (Some(StateId(5)), false));
        assert_eq!((info.deadlocks, info.first_deadlock), (1, Some(StateId(4))));
        assert_eq!((info.tau_cycle_states, info.diverging_states, info.first_diverging), (2, 3, Some(StateId(1))));
        assert_eq!((info.components, info.is_strongly_connected()), (4, false));
    }

    #[test]
    fn long_chains_need_no_call_stack() {
        let labels = Arc::new(Labels::new());
        let mut builder = LtsBuilder::new(labels);
        let states = 300_000;
        for state in 0..states {
            builder.add(StateId(state), LabelId::TAU, StateId((state + 1) % states));
        }
        let info = of(&builder.build(StateId(7)));
        assert_eq!((info.components, info.tau_cycle_states, info.deadlocks), (1, states as usize, 0));
        assert!(info.is_deterministic());
    }

    /// Reachability between all pairs by a fixpoint straight from the definition.
    fn closure(lts: &Lts, chosen: impl Fn(&Transition) -> bool) -> Vec<Vec<bool>> {
        let states = lts.state_count();
        let mut reaches = vec![vec![false; states]; states];
        for (source, transition) in lts.all_transitions().filter(|(_, transition)| chosen(transition)) {
            reaches[source.index()][transition.target.index()] = true;
        }
        for middle in 0..states {
            for from in 0..states {
                for to in 0..states {
                    reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
                }
            }
        }
        reaches
    }

    #[test]
    fn figures_agree_with_the_definitions() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let shape = RandomShape {
                states: 1 + random.below(9) as u32,
                transitions: random.below(20),
                labels: random.below(3),
                tau_percent: random.below(100),
            };
            let lts = random_lts(&Arc::new(Labels::new()), shape, &mut random);
            let info = of(&lts);
            let any = closure(&lts, |_| true);
            let tau = closure(&lts, |transition| transition.label == LabelId::TAU);
            let states: Vec<usize> = (0..lts.state_count()).filter(|&s| s == 0 || any[0][s]).collect();
            assert_eq!(info.reachable_states, states.len(), "seed {seed}");
            let cycle = |&s: &usize| tau[s][s];
            assert_eq!(info.tau_cycle_states, states.iter().filter(|s| cycle(s)).count(), "seed {seed}");
            let diverges = |s: &&usize| cycle(s) || (0..lts.state_count()).any(|t| tau[**s][t] && tau[t][t]);
            assert_eq!(info.diverging_states, states.iter().filter(diverges).count(), "seed {seed}");
            let together = |s: usize, t: usize| s == t || any[s][t] && any[t][s];
            let leaders = states.iter().filter(|&&s| !states.iter().any(|&t| t < s && together(s, t)));
            assert_eq!(info.components, leaders.count(), "seed {seed}");
            let splits = lts.states().find(|&s| {
                let row = lts.outgoing(s);
                row.iter().any(|x| row.iter().any(|y| x.label == y.label && x.target != y.target))
            });
            assert_eq!(info.nondeterministic_state, splits, "seed {seed}");
        }
    }
}
