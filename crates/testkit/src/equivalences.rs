//! The equivalences, naively and straight from their definitions, for systems of at most 64 states.
//!
//! A bisimilarity is the greatest relation `R` such that `s R t` implies that `s` and `t` match each other's steps; it
//! is found by starting with all pairs and removing those that do not, until none is removed. With `⇒` for any number
//! of `τ`-steps, a step `s –a→ s'` is matched by `t`
//!
//! - strongly: by `t –a→ t'` with `s' R t'`;
//! - branching: if `a = τ` and `s' R t`, or by `t ⇒ t₁ –a→ t'` with `s R t₁` and `s' R t'` (Van Glabbeek and Weijland
//!   1996);
//! - in delay: if `a = τ` by `t ⇒ t'` with `s' R t'`, else by `t ⇒ t₁ –a→ t'` with `s' R t'` (Van Glabbeek 1993);
//! - weakly: if `a = τ` by `t ⇒ t'` with `s' R t'`, else by `t ⇒ t₁ –a→ t₂ ⇒ t'` with `s' R t'` (Milner 1989).
//!
//! Divergence is preserved when an infinite `τ`-path of states related to `t` obliges `t` to an infinite `τ`-path of
//! states related to them. In a finite system such a path ends in a cycle, so it is enough that a state `s` on a
//! `τ`-cycle obliges `t` to `t ⇒ e` with `e` on a `τ`-cycle and `s R e`; that form shrinks with `R`, as a greatest
//! fixpoint needs. (The states between `t` and `e` are then related too: they can do what `e` can, and `t` what they
//! can.)
//!
//! Simulation is the greatest relation `R` such that `s R t` implies that `t` matches the steps of `s` strongly; ready
//! simulation moreover that both can do the same labels. Two states are equivalent when each simulates the other. The
//! smallest system has a state for each class that is reached from the class of the initial state by steps to classes
//! that no other step by the label exceeds.
//!
//! Traces are compared by walking both powersets at once.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_lts::equivalence::Equivalence;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, StateId};

/// Sets of states as bits.
type States = u64;

fn members(set: States) -> impl Iterator<Item = usize> {
    (0..64).filter(move |state| set >> state & 1 == 1)
}

struct View {
    states: usize,
    steps: Vec<Vec<(LabelId, usize)>>,
    by_label: Vec<BTreeMap<LabelId, States>>,
    tau_star: Vec<States>,
    on_cycle: States,
}

impl View {
    fn new(lts: &Lts) -> View {
        let states = lts.state_count();
        assert!(states <= 64, "the oracle is for small systems");
        let mut steps = vec![Vec::new(); states];
        let mut by_label = vec![BTreeMap::new(); states];
        let mut tau_step: Vec<States> = vec![0; states];
        for (source, transition) in lts.all_transitions() {
            steps[source.index()].push((transition.label, transition.target.index()));
            *by_label[source.index()].entry(transition.label).or_insert(0) |= 1 << transition.target.index();
            if transition.label == LabelId::TAU {
                tau_step[source.index()] |= 1 << transition.target.index();
            }
        }
        // One or more τ, by adding a step until nothing is added.
        let mut tau_plus = tau_step.clone();
        loop {
            let longer: Vec<States> =
                tau_plus.iter().map(|&set| members(set).fold(set, |all, next| all | tau_step[next])).collect();
            if longer == tau_plus {
                break;
            }
            tau_plus = longer;
        }
        let on_cycle = (0..states).filter(|&s| tau_plus[s] >> s & 1 == 1).fold(0, |set, s| set | 1 << s);
        let tau_star = (0..states).map(|s| tau_plus[s] | 1 << s).collect();
        View { states, steps, by_label, tau_star, on_cycle }
    }

    /// Where a label leads from any state of a set.
    fn after(&self, from: States, label: LabelId) -> States {
        members(from).fold(0, |all, state| all | self.by_label[state].get(&label).copied().unwrap_or(0))
    }

    fn close(&self, from: States) -> States {
        members(from).fold(0, |all, state| all | self.tau_star[state])
    }

    /// Does `t` match all that `s` does, `related[x]` being what `x` is related to?
    fn matches(&self, s: usize, t: usize, related: &[States], equivalence: Equivalence) -> bool {
        use Equivalence::*;
        let step_is_matched = |&(label, next): &(LabelId, usize)| {
            let tau = label == LabelId::TAU;
            let answers = match equivalence {
                Strong => self.after(1 << t, label),
                Branching | DivergenceBranching => {
                    if tau && related[next] >> t & 1 == 1 {
                        return true;
                    }
                    self.after(self.tau_star[t] & related[s], label)
                }
                Delay | DivergenceDelay | Weak | DivergenceWeak if tau => self.tau_star[t],
                Delay | DivergenceDelay => self.after(self.tau_star[t], label),
                Weak | DivergenceWeak => self.close(self.after(self.tau_star[t], label)),
                Simulation | ReadySimulation => self.after(1 << t, label),
                Trace | WeakTrace => unreachable!("traces are no bisimulation"),
            };
            answers & related[next] != 0
        };
        let ready = self.by_label[s].keys().eq(self.by_label[t].keys());
        if equivalence == ReadySimulation && !ready {
            return false;
        }
        let observes_divergence = matches!(equivalence, DivergenceBranching | DivergenceDelay | DivergenceWeak);
        let divergence_is_matched =
            !observes_divergence || self.on_cycle >> s & 1 == 0 || self.tau_star[t] & self.on_cycle & related[s] != 0;
        divergence_is_matched && self.steps[s].iter().all(step_is_matched)
    }
}

/// Which states simulate which, after that many rounds of removing pairs: bit `t` of entry `s` says that `t` simulates
/// `s`, or that no formula of that depth says otherwise.
pub fn simulated_within(lts: &Lts, ready: bool, rounds: usize) -> Vec<u64> {
    let view = View::new(lts);
    let kind = if ready { Equivalence::ReadySimulation } else { Equivalence::Simulation };
    let all = if view.states == 64 { u64::MAX } else { (1 << view.states) - 1 };
    let mut related = vec![all; view.states];
    for _ in 0..rounds {
        let next: Vec<States> = (0..view.states)
            .map(|s| {
                let kept = members(related[s]).filter(|&t| view.matches(s, t, &related, kind));
                kept.fold(0, |set, t| set | 1 << t)
            })
            .collect();
        if next == related {
            break;
        }
        related = next;
    }
    related
}

/// Which states agree on all formulas with that many nested modalities `<tau*>`, `<tau*.a>` (delay) or `<tau*.a.tau*>`
/// (weak) and, where divergence counts, `<tau*>forever`: entry `s` is the number of its class.
pub fn silently_alike_within(lts: &Lts, equivalence: Equivalence, depth: usize) -> Vec<usize> {
    use Equivalence::*;
    let view = View::new(lts);
    let mut class = vec![0usize; view.states];
    for _ in 0..depth {
        let mut numbers: BTreeMap<BTreeSet<(Option<LabelId>, bool, usize)>, usize> = BTreeMap::new();
        let next = (0..view.states)
            .map(|s| {
                let here = view.tau_star[s];
                let mut seen: BTreeSet<(Option<LabelId>, bool, usize)> =
                    members(here).map(|t| (None, false, class[t])).collect();
                for label in alphabet(lts, true) {
                    let after = view.after(here, label);
                    let after = if matches!(equivalence, Weak | DivergenceWeak) { view.close(after) } else { after };
                    seen.extend(members(after).map(|t| (Some(label), false, class[t])));
                }
                if matches!(equivalence, DivergenceDelay | DivergenceWeak) {
                    seen.extend(members(here & view.on_cycle).map(|t| (None, true, class[t])));
                }
                let fresh = numbers.len();
                *numbers.entry(seen).or_insert(fresh)
            })
            .collect();
        class = next;
    }
    class
}

/// Which states are related: bit `t` of entry `s`. For the bisimilarities.
pub fn bisimilar(lts: &Lts, equivalence: Equivalence) -> Vec<u64> {
    bisimilar_within(lts, equivalence, usize::MAX)
}

/// The relation after that many rounds of removing all pairs that do not match each other: for strong bisimilarity, the
/// pairs of states that no formula of that depth distinguishes.
pub fn bisimilar_within(lts: &Lts, equivalence: Equivalence, rounds: usize) -> Vec<u64> {
    let view = View::new(lts);
    let all = if view.states == 64 { u64::MAX } else { (1 << view.states) - 1 };
    let mut related = vec![all; view.states];
    for _ in 0..rounds {
        let keep = |s: usize, t: &usize| {
            view.matches(s, *t, &related, equivalence) && view.matches(*t, s, &related, equivalence)
        };
        let next: Vec<States> = (0..view.states)
            .map(|s| members(related[s]).filter(|t| keep(s, t)).fold(0, |set, t| set | 1 << t))
            .collect();
        if next == related {
            break;
        }
        related = next;
    }
    related
}

/// The reachable states.
pub fn reachable_states(lts: &Lts) -> Vec<StateId> {
    let mut seen = BTreeSet::from([lts.initial()]);
    loop {
        let more: Vec<StateId> =
            seen.iter().flat_map(|&state| lts.outgoing(state).iter().map(|transition| transition.target)).collect();
        let before = seen.len();
        seen.extend(more);
        if seen.len() == before {
            return seen.into_iter().collect();
        }
    }
}

/// The number of states of the smallest equivalent system.
pub fn class_count(lts: &Lts, equivalence: Equivalence) -> usize {
    match equivalence {
        Equivalence::Trace => trace_class_count(lts, false),
        Equivalence::WeakTrace => trace_class_count(lts, true),
        Equivalence::Simulation => simulation_state_count(lts, false),
        Equivalence::ReadySimulation => simulation_state_count(lts, true),
        _ => {
            let related = bisimilar(lts, equivalence);
            let mut leaders: Vec<StateId> = Vec::new();
            for state in reachable_states(lts) {
                if !leaders.iter().any(|leader| related[leader.index()] >> state.index() & 1 == 1) {
                    leaders.push(state);
                }
            }
            leaders.len()
        }
    }
}

fn simulation_state_count(lts: &Lts, ready: bool) -> usize {
    let related = simulated_within(lts, ready, usize::MAX);
    let below = |s: usize, t: usize| related[s] >> t & 1 == 1;
    let leader = |s: usize| (0..related.len()).find(|&t| below(s, t) && below(t, s)).expect("it is its own equal");
    let mut found = BTreeSet::from([leader(lts.initial().index())]);
    loop {
        let mut more = found.clone();
        for &state in &found {
            let steps = lts.outgoing(StateId(state as u32));
            for step in steps {
                let target = step.target.index();
                let exceeded = steps.iter().any(|other| {
                    let other_target = other.target.index();
                    other.label == step.label && below(target, other_target) && !below(other_target, target)
                });
                if !exceeded {
                    more.insert(leader(target));
                }
            }
        }
        if more.len() == found.len() {
            return found.len();
        }
        found = more;
    }
}

/// Are the initial states of two systems over one label table equivalent?
pub fn equivalent(left: &Lts, right: &Lts, equivalence: Equivalence) -> bool {
    let (union, first, second) = disjoint_union(left, right);
    match equivalence {
        Equivalence::Trace => shortest_difference(&union, first, second, false).is_none(),
        Equivalence::WeakTrace => shortest_difference(&union, first, second, true).is_none(),
        Equivalence::Simulation | Equivalence::ReadySimulation => {
            let related = simulated_within(&union, equivalence == Equivalence::ReadySimulation, usize::MAX);
            let below = |s: StateId, t: StateId| related[s.index()] >> t.index() & 1 == 1;
            below(first, second) && below(second, first)
        }
        _ => bisimilar(&union, equivalence)[first.index()] >> second.index() & 1 == 1,
    }
}

/// Two systems over one label table side by side, and where each starts.
pub fn disjoint_union(left: &Lts, right: &Lts) -> (Lts, StateId, StateId) {
    let shift = left.state_count() as u32;
    let mut builder = LtsBuilder::new(left.labels().clone());
    builder.at_least(shift + right.state_count() as u32);
    for (source, transition) in left.all_transitions() {
        builder.add(source, transition.label, transition.target);
    }
    for (source, transition) in right.all_transitions() {
        builder.add(StateId(source.0 + shift), transition.label, StateId(transition.target.0 + shift));
    }
    (builder.build(left.initial()), left.initial(), StateId(right.initial().0 + shift))
}

/// The labels of a system that can be in a trace.
fn alphabet(lts: &Lts, weak: bool) -> BTreeSet<LabelId> {
    let labels = lts.all_transitions().map(|(_, transition)| transition.label);
    labels.filter(|label| !weak || *label != LabelId::TAU).collect()
}

/// The length of a shortest trace that only one of two states has.
pub fn shortest_difference(lts: &Lts, left: StateId, right: StateId, weak: bool) -> Option<usize> {
    let view = View::new(lts);
    let close = |set: States| if weak { view.close(set) } else { set };
    let start = (close(1 << left.index()), close(1 << right.index()));
    let mut seen = BTreeSet::from([start]);
    let mut level = vec![start];
    let mut length = 0;
    while !level.is_empty() {
        length += 1;
        let mut next_level = Vec::new();
        for (one, other) in level {
            for &label in &alphabet(lts, weak) {
                let next = (close(view.after(one, label)), close(view.after(other, label)));
                if (next.0 == 0) != (next.1 == 0) {
                    return Some(length);
                }
                if next.0 != 0 && seen.insert(next) {
                    next_level.push(next);
                }
            }
        }
        level = next_level;
    }
    None
}

/// Does a system have a trace?
pub fn has_trace(lts: &Lts, trace: &[LabelId], weak: bool) -> bool {
    let view = View::new(lts);
    let close = |set: States| if weak { view.close(set) } else { set };
    let last = trace.iter().fold(close(1 << lts.initial().index()), |set, &label| close(view.after(set, label)));
    last != 0
}

/// The number of different futures after the traces of a system, by Moore's refinement of its powerset.
fn trace_class_count(lts: &Lts, weak: bool) -> usize {
    let view = View::new(lts);
    let close = |set: States| if weak { view.close(set) } else { set };
    let labels = alphabet(lts, weak);
    let mut subsets = vec![close(1 << lts.initial().index())];
    let mut seen: BTreeSet<States> = subsets.iter().copied().collect();
    let mut at = 0;
    while at < subsets.len() {
        for &label in &labels {
            let next = close(view.after(subsets[at], label));
            if next != 0 && seen.insert(next) {
                subsets.push(next);
            }
        }
        at += 1;
    }
    let mut class: BTreeMap<States, usize> = subsets.iter().map(|&subset| (subset, 0)).collect();
    let mut count = 1;
    loop {
        let mut numbers = BTreeMap::new();
        let next: BTreeMap<States, usize> = subsets
            .iter()
            .map(|&subset| {
                let after = |&label: &LabelId| class.get(&close(view.after(subset, label))).copied();
                let key = (class[&subset], labels.iter().map(after).collect::<Vec<_>>());
                let fresh = numbers.len();
                (subset, *numbers.entry(key).or_insert(fresh))
            })
            .collect();
        if numbers.len() == count {
            return count;
        }
        count = numbers.len();
        class = next;
    }
}
