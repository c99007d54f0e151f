//! Minimisation against the oracle of `testkit`: the number of states is the number of classes, the result is
//! equivalent to the input and minimal in itself.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_lts::equivalence::{EQUIVALENCES, Equivalence, minimise};
use trefoil_system::{Labels, StateId};
use trefoil_testkit::equivalences::{bisimilar, class_count, equivalent, reachable_states, simulated_within};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

fn random_system(random: &mut Random) -> Lts {
    let states = 1 + random.below(12);
    let shape = RandomShape {
        states: states as u32,
        transitions: random.below(2 * states + 3),
        labels: 1 + random.below(3),
        tau_percent: [0, 30, 60, 90][random.below(4)],
    };
    random_lts(&Arc::new(Labels::new()), shape, random)
}

fn is_trace(equivalence: Equivalence) -> bool {
    matches!(equivalence, Equivalence::Trace | Equivalence::WeakTrace)
}

fn is_simulation(equivalence: Equivalence) -> bool {
    matches!(equivalence, Equivalence::Simulation | Equivalence::ReadySimulation)
}

fn check(lts: &Lts, equivalence: Equivalence, context: &str) {
    let control = Control::unlimited();
    let small = minimise(lts, equivalence, &control).expect("no budget");
    let expected = class_count(lts, equivalence);
    assert_eq!(small.lts.state_count(), expected, "{context}: {equivalence} of {lts:?}gave {:?}", small.lts);
    if lts.state_count() + expected > 64 {
        // A powerset that is too large for the oracle's bits; there are few.
        assert!(is_trace(equivalence));
        return;
    }
    assert!(equivalent(lts, &small.lts, equivalence), "{context}: {equivalence} of {lts:?}gave {:?}", small.lts);
    assert_eq!(class_count(&small.lts, equivalence), expected, "{context}: {equivalence} is minimal, {lts:?}");
    let again = minimise(&small.lts, equivalence, &control).expect("no budget");
    assert_eq!(
        format!("{:?}", again.lts),
        format!("{:?}", small.lts),
        "{context}: {equivalence} is idempotent, {lts:?}"
    );
    if is_simulation(equivalence) {
        let related = simulated_within(lts, equivalence == Equivalence::ReadySimulation, usize::MAX);
        let below = |s: StateId, t: StateId| related[s.index()] >> t.index() & 1 == 1;
        let reached = reachable_states(lts);
        for (&s, &t) in reached.iter().flat_map(|s| reached.iter().map(move |t| (s, t))) {
            if let (Some(one), Some(other)) = (small.block_of(s), small.block_of(t)) {
                let same = below(s, t) && below(t, s);
                assert_eq!(one == other, same, "{context}: {equivalence} of {lts:?}");
            }
        }
    } else if !is_trace(equivalence) {
        let related = bisimilar(lts, equivalence);
        let reached = reachable_states(lts);
        for &s in &reached {
            for &t in &reached {
                let same = small.block_of(s).is_some() && small.block_of(s) == small.block_of(t);
                assert_eq!(same, related[s.index()] >> t.index() & 1 == 1, "{context}: {equivalence} of {lts:?}");
            }
        }
    }
}

fn check_random(seed: u64, rounds: usize, wanted: impl Fn(Equivalence) -> bool) {
    let mut random = Random::new(seed);
    for round in 0..rounds {
        let lts = random_system(&mut random);
        for info in EQUIVALENCES.iter().filter(|info| wanted(info.equivalence)) {
            check(&lts, info.equivalence, &format!("TREFOIL_SEED={seed} round {round}"));
        }
    }
}

#[test]
fn random_systems_shrink_to_their_bisimilarity_classes() {
    check_random(seed(), 20_000, |equivalence| !is_trace(equivalence) && !is_simulation(equivalence));
}

#[test]
fn random_systems_shrink_to_what_simulates_the_rest() {
    check_random(seed(), 12_000, is_simulation);
}

#[test]
fn simulation_equivalent_systems_have_no_smaller_one_in_steps() {
    // Without little brothers no step can be left out.
    let mut random = Random::new(seed() + 5);
    let control = Control::unlimited();
    for round in 0..600 {
        let lts = random_system(&mut random);
        for equivalence in [Equivalence::Simulation, Equivalence::ReadySimulation] {
            let small = minimise(&lts, equivalence, &control).expect("no budget").lts;
            for left_out in 0..small.transition_count() {
                let mut builder = trefoil_lts::LtsBuilder::new(small.labels().clone());
                builder.at_least(small.state_count() as u32);
                for (index, (source, step)) in small.all_transitions().enumerate() {
                    if index != left_out {
                        builder.add(source, step.label, step.target);
                    }
                }
                let less = builder.build(small.initial());
                assert!(
                    !equivalent(&small, &less, equivalence),
                    "round {round}: {equivalence} of {lts:?}gave {small:?}"
                );
            }
        }
    }
}

#[test]
fn random_systems_shrink_to_their_futures_after_traces() {
    check_random(seed(), 8_000, is_trace);
}

#[test]
fn state_zero_is_initial_and_what_is_minimal_keeps_its_numbers() {
    let mut random = Random::new(seed());
    let control = Control::unlimited();
    for _ in 0..2_000 {
        let lts = random_system(&mut random);
        let small = minimise(&lts, Equivalence::Strong, &control).expect("no budget");
        assert_eq!(small.lts.initial(), small.block_of(lts.initial()).expect("the initial state is reachable"));
        assert_eq!(small.lts.initial(), StateId(0));
        assert!(lts.states().all(|state| small.block_of(state).is_some() == reachable_states(&lts).contains(&state)));
    }
}
