//! Comparison against the oracle of `testkit`, with the evidence checked by naive code, and the classic examples.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::equivalence::{EQUIVALENCES, Equivalence, Evidence, Side, check, compare, is_simulated, minimise};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, StateId};
use trefoil_testkit::equivalences::{
    bisimilar_within, disjoint_union, equivalent, has_trace, reachable_states, shortest_difference,
    silently_alike_within, simulated_within,
};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

fn random_system(labels: &Arc<Labels>, random: &mut Random) -> Lts {
    let states = 1 + random.below(8);
    let shape = RandomShape {
        states: states as u32,
        transitions: random.below(2 * states + 2),
        labels: 1 + random.below(2),
        tau_percent: [0, 30, 60, 90][random.below(4)],
    };
    random_lts(labels, shape, random)
}

/// The same system with another numbering, a transition that says the same twice, and perhaps one label changed.
fn relative(lts: &Lts, random: &mut Random) -> Lts {
    let states = lts.state_count() as u32;
    let shift = random.below(states as usize) as u32;
    let renumber = |state: StateId| StateId((state.0 + shift) % states);
    let changed = if random.chance(50) { random.below(lts.transition_count() + 1) } else { usize::MAX };
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(states);
    let mut fresh = states;
    for (index, (source, transition)) in lts.all_transitions().enumerate() {
        let label = if index == changed { LabelId::TAU } else { transition.label };
        builder.add(renumber(source), label, renumber(transition.target));
        if random.chance(20) {
            // A step that takes a silent one first.
            let between = StateId(fresh);
            fresh += 1;
            builder.add(renumber(source), LabelId::TAU, between).add(between, label, renumber(transition.target));
        }
    }
    builder.build(renumber(lts.initial()))
}

/// Copies a system into a label table in which the labels have other numbers.
fn with_own_labels(lts: &Lts) -> Lts {
    let labels = Arc::new(Labels::new());
    labels.name("another table's");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(lts.state_count() as u32);
    let copy = |label| labels.intern(lts.labels().get(label).clone());
    let mut transitions: Vec<_> = lts.all_transitions().collect();
    transitions.reverse();
    for (source, transition) in transitions {
        builder.add(source, copy(transition.label), transition.target);
    }
    builder.build(lts.initial())
}

fn check_pair(left: &Lts, right: &Lts, equivalence: Equivalence, context: &str) -> bool {
    let control = Control::unlimited();
    let result = compare(left, right, equivalence, &control).expect("no budget");
    let expected = equivalent(left, right, equivalence);
    assert_eq!(result.equivalent, expected, "{context}: {equivalence} of {left:?}and {right:?}");
    let (union, first, second) = disjoint_union(left, right);
    match &result.evidence {
        None => assert!(expected, "{context}: {equivalence} needs evidence"),
        Some(_) if expected => panic!("{context}: evidence against what holds"),
        Some(evidence @ Evidence::Formula { formula, holder, logic, depth }) => {
            assert_eq!(Some(*logic), equivalence.logic(), "{context}");
            let accepted = check(evidence, left, right, &control);
            assert_eq!(accepted, Ok(true), "{context}: {formula} against {equivalence} of {left:?}and {right:?}");
            let ends = if *holder == Side::Left { (first, second) } else { (second, first) };
            let apart = |depth| told_apart(&union, ends, equivalence, depth);
            let promised = !matches!(equivalence, Equivalence::Branching | Equivalence::DivergenceBranching);
            let least = !promised || apart(*depth) && !apart(depth - 1);
            assert!(least, "{context}: {formula} is not of least depth against {equivalence} of {left:?}and {right:?}");
        }
        Some(evidence @ Evidence::Trace { .. }) => {
            assert!(equivalence.logic().is_none(), "{context}");
            check_trace(evidence, left, right, context);
        }
    }
    if let Some(trace) = &result.trace {
        check_trace(trace, left, right, context);
    } else if equivalence.logic().is_some_and(|logic| format!("{logic:?}").contains("divergence")) {
        assert!(expected || shortest_difference(&union, first, second, true).is_none(), "{context}");
    }
    let foreign = compare(left, &with_own_labels(right), equivalence, &control).expect("no budget");
    assert_eq!(foreign.equivalent, expected, "{context}: another label table");
    expected
}

/// Is there a formula of this depth that the first state satisfies and the second does not?
fn told_apart(union: &Lts, (one, other): (StateId, StateId), equivalence: Equivalence, depth: usize) -> bool {
    let related = |rows: Vec<u64>| rows[one.index()] >> other.index() & 1 == 1;
    match equivalence {
        Equivalence::Strong => !related(bisimilar_within(union, equivalence, depth)),
        Equivalence::Simulation => !related(simulated_within(union, false, depth)),
        Equivalence::ReadySimulation => !related(simulated_within(union, true, depth)),
        // No least depth is promised.
        Equivalence::Branching | Equivalence::DivergenceBranching => unreachable!("no least depth is promised"),
        _ => {
            let class = silently_alike_within(union, equivalence, depth);
            class[one.index()] != class[other.index()]
        }
    }
}

fn check_trace(evidence: &Evidence, left: &Lts, right: &Lts, context: &str) {
    let Evidence::Trace { trace, holder, weak, .. } = evidence else { panic!("{context}: no trace") };
    let (holder, other) = if *holder == Side::Left { (left, right) } else { (right, left) };
    assert!(has_trace(holder, trace, *weak) && !has_trace(other, trace, *weak), "{context}: {trace:?}");
    let (union, first, second) = disjoint_union(left, right);
    assert_eq!(Some(trace.len()), shortest_difference(&union, first, second, *weak), "{context}");
}

/// Preorders one way and the other, with their evidence.
#[test]
fn random_pairs_simulate_each_other_as_defined() {
    let seed = seed() + 3;
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    let mut holding = 0;
    for round in 0..4000 {
        let labels = Arc::new(Labels::new());
        let left = random_system(&labels, &mut random);
        let right = if random.chance(40) { random_system(&labels, &mut random) } else { relative(&left, &mut random) };
        let (union, first, second) = disjoint_union(&left, &right);
        for ready in [false, true] {
            let context = format!("TREFOIL_SEED={} round {round}, ready {ready}", seed - 3);
            let related = simulated_within(&union, ready, usize::MAX);
            let result = is_simulated(&left, &right, ready, &control).expect("no budget");
            assert_eq!(result.holds, related[first.index()] >> second.index() & 1 == 1, "{context}: {left:?}{right:?}");
            holding += usize::from(result.holds);
            if let Some(evidence) = &result.evidence {
                assert!(matches!(evidence, Evidence::Formula { holder: Side::Left, .. }), "{context}");
                assert_eq!(check(evidence, &left, &right, &control), Ok(true), "{context}");
            } else {
                assert!(result.holds, "{context}");
            }
        }
    }
    assert!((1000..7000).contains(&holding), "{holding} hold");
}

#[test]
fn random_pairs_are_compared_as_defined() {
    let seed = seed() + 1;
    let mut random = Random::new(seed);
    let mut same = vec![0usize; EQUIVALENCES.len()];
    const ROUNDS: usize = 6000;
    for round in 0..ROUNDS {
        let labels = Arc::new(Labels::new());
        let left = random_system(&labels, &mut random);
        let right = match random.below(4) {
            0 => random_system(&labels, &mut random),
            _ => relative(&left, &mut random),
        };
        for (index, info) in EQUIVALENCES.iter().enumerate() {
            let context = format!("TREFOIL_SEED={} round {round}", seed - 1);
            same[index] += usize::from(check_pair(&left, &right, info.equivalence, &context));
        }
    }
    for (info, &count) in EQUIVALENCES.iter().zip(&same) {
        let name = info.name;
        assert!(count > ROUNDS / 4 && count < ROUNDS - ROUNDS / 4, "{name} answers yes {count} times of {ROUNDS}");
    }
}

#[test]
fn a_system_is_equivalent_to_its_quotient() {
    let seed = seed() + 2;
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    for round in 0..1000 {
        let lts = random_system(&Arc::new(Labels::new()), &mut random);
        for info in EQUIVALENCES {
            let small = minimise(&lts, info.equivalence, &control).expect("no budget").lts;
            let result = compare(&lts, &small, info.equivalence, &control).expect("no budget");
            assert!(result.equivalent, "TREFOIL_SEED={} round {round}: {} of {lts:?}", seed - 2, info.name);
            assert!(reachable_states(&small).len() == small.state_count());
        }
    }
}

/// Systems as lists of transitions, from state 0.
fn system(labels: &Arc<Labels>, transitions: &[(u32, &str, u32)]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for &(source, label, target) in transitions {
        builder.add(StateId(source), labels.name(label), StateId(target));
    }
    builder.build(StateId(0))
}

/// Which equivalences hold between two systems, by name.
fn holding(left: &[(u32, &str, u32)], right: &[(u32, &str, u32)]) -> Vec<&'static str> {
    let labels = Arc::new(Labels::new());
    let (left, right) = (system(&labels, left), system(&labels, right));
    let holds = |equivalence| check_pair(&left, &right, equivalence, "a named example");
    EQUIVALENCES.iter().filter(|info| holds(info.equivalence)).map(|info| info.name).collect()
}

#[test]
fn choosing_early_or_late_has_the_same_traces_only() {
    let late = [(0, "a", 1), (1, "b", 2), (1, "c", 3)];
    let early = [(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "c", 4)];
    assert_eq!(holding(&late, &early), ["trace", "weaktrace"]);
    let labels = Arc::new(Labels::new());
    let result = compare(&system(&labels, &late), &system(&labels, &early), Equivalence::Strong, &Control::unlimited());
    let Some(Evidence::Formula { formula, .. }) = result.expect("no budget").evidence else {
        panic!("a formula is owed")
    };
    assert_eq!(formula.depth(), 2);
    assert!(
        ["<a>(<b>true && <c>true)", "[a]<b>true", "[a]<c>true"].contains(&formula.to_string().as_str()),
        "{formula}"
    );
}

#[test]
fn the_first_tau_law_holds_for_all_but_the_strong_ones() {
    // a.τ.b = a.b
    let names = holding(&[(0, "a", 1), (1, "tau", 2), (2, "b", 3)], &[(0, "a", 1), (1, "b", 2)]);
    assert_eq!(names, ["branching", "dpbranching", "delay", "dpdelay", "weak", "dpweak", "weaktrace"]);
}

#[test]
fn the_second_tau_law_holds_from_delay_on() {
    // τ.a + a = τ.a with something that the τ gives up: (τ.a + b) + a = τ.a + b
    let names =
        holding(&[(0, "tau", 1), (1, "a", 2), (0, "b", 3), (0, "a", 4)], &[(0, "tau", 1), (1, "a", 2), (0, "b", 3)]);
    assert_eq!(names, ["delay", "dpdelay", "weak", "dpweak", "weaktrace"]);
}

#[test]
fn the_third_tau_law_holds_for_weak_only() {
    // a.(τ.b + c) + a.b = a.(τ.b + c)
    let names = holding(
        &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 4), (0, "a", 5), (5, "b", 6)],
        &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 4)],
    );
    assert_eq!(names, ["weak", "dpweak", "weaktrace"]);
}

#[test]
fn branching_keeps_what_could_be_done_on_the_way() {
    // a + τ.b and τ.b + a + b: the b of the second is done where a is still possible.
    let names =
        holding(&[(0, "a", 1), (0, "tau", 2), (2, "b", 3)], &[(0, "a", 1), (0, "tau", 2), (2, "b", 3), (0, "b", 4)]);
    assert_eq!(names, ["delay", "dpdelay", "weak", "dpweak", "weaktrace"]);
}

#[test]
fn a_loop_of_tau_is_seen_only_where_divergence_is_preserved() {
    let names = holding(&[(0, "a", 1), (1, "tau", 1)], &[(0, "a", 1)]);
    assert_eq!(names, ["branching", "delay", "weak", "weaktrace"]);
    // A cycle of two is equivalent to a loop of one.
    let names = holding(&[(0, "tau", 1), (1, "tau", 0), (1, "a", 2)], &[(0, "tau", 0), (0, "a", 1)]);
    assert_eq!(names, ["branching", "dpbranching", "delay", "dpdelay", "weak", "dpweak", "weaktrace"]);
}

#[test]
fn diverging_before_giving_up_a_choice_differs_from_diverging_after() {
    // a + τ.Δ with a loop at the start, and without: Δ diverges and offers nothing.
    let names = holding(
        &[(0, "tau", 0), (0, "a", 1), (0, "tau", 2), (2, "tau", 2)],
        &[(0, "a", 1), (0, "tau", 2), (2, "tau", 2)],
    );
    assert_eq!(names, ["branching", "delay", "weak", "weaktrace"]);
}

#[test]
fn a_long_chain_gets_a_deep_formula() {
    let labels = Arc::new(Labels::new());
    let a = labels.name("a");
    let line = |length: u32| {
        let mut builder = LtsBuilder::new(labels.clone());
        (0..length).for_each(|state| {
            builder.add(StateId(state), a, StateId(state + 1));
        });
        builder.build(StateId(0))
    };
    let control = Control::unlimited();
    let (left, right) = (line(20_000), line(20_001));
    let result = compare(&left, &right, Equivalence::Strong, &control).expect("no budget");
    let Some(Evidence::Formula { formula, .. }) = result.evidence else { panic!("a formula is owed") };
    assert_eq!(formula.depth(), 20_001);
    let result = compare(&left, &right, Equivalence::Branching, &control).expect("no budget");
    assert!(matches!(result.trace, Some(Evidence::Trace { trace, .. }) if trace.len() == 20_001));
    assert!(matches!(result.evidence, Some(Evidence::Formula { depth: 20_001, .. })));
}

#[test]
fn a_cancelled_job_stops() {
    let control = Control::unlimited();
    control.cancel();
    let shape = RandomShape { states: 50_000, transitions: 200_000, labels: 3, tau_percent: 40 };
    let lts = random_lts(&Arc::new(Labels::new()), shape, &mut Random::new(5));
    for info in EQUIVALENCES {
        assert!(minimise(&lts, info.equivalence, &control).is_err(), "{}", info.name);
        assert!(compare(&lts, &lts, info.equivalence, &control).is_err(), "{}", info.name);
    }
}
