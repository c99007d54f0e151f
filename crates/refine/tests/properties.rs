//! Deadlock, divergence, determinism and having a trace, against the definitions.

mod support;

use std::sync::Arc;

use support::TwoSlots;
use trefoil_control::Control;
use trefoil_lts::{Glts, Lts, LtsBuilder};
use trefoil_refine::{CheckOptions, Outcome, Unanswered, deadlock, determinism, divergence, has_trace};
use trefoil_system::{Checked, Failure, LabelId, Labels, Model, StateId, System, Witness};
use trefoil_testkit::properties::{shortest_deadlock, shortest_divergence, shortest_nondeterminism, trace_that_it_has};
use trefoil_testkit::refinement::random_pair;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 2] = [Model::Failures, Model::FailuresDivergences];

fn length(outcome: Result<Outcome, Unanswered>) -> Option<usize> {
    outcome.expect("no budget").witness.map(|witness| witness.length())
}

/// Random systems, many of them deterministic, or nearly.
fn systems(count: u64) -> impl Iterator<Item = (u64, Lts, Random)> {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    (0..count).map(move |number| {
        let mut random = Random::new(seed.wrapping_add(number));
        let labels = Arc::new(Labels::new());
        let lts = match number % 3 {
            0 => random_pair(&labels, &mut random).1,
            1 => {
                let states = 1 + random.below(14);
                let transitions = states + random.below(2 * states);
                let (labels_count, tau_percent) = (1 + random.below(3), [0, 10, 30, 60][random.below(4)]);
                let shape = RandomShape { states: states as u32, transitions, labels: labels_count, tau_percent };
                random_lts(&labels, shape, &mut random)
            }
            _ => nearly_deterministic(&labels, &mut random),
        };
        (number, lts, random)
    })
}

/// A deterministic system in which some states are copies of others, with a `τ` before some; and now and then a step
/// too many.
fn nearly_deterministic(labels: &Arc<Labels>, random: &mut Random) -> Lts {
    let events = [labels.name("a"), labels.name("b"), LabelId::TICK];
    let states = 1 + random.below(6) as u32;
    let copies = 1 + random.below(3) as u32;
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(states * copies);
    let at = |state: u32, copy: u32| StateId(state * copies + copy);
    for state in 0..states {
        for &event in &events {
            if random.chance(60) {
                let target = random.below(states as usize) as u32;
                for copy in 0..copies - 1 {
                    if random.chance(50) {
                        builder.add(at(state, copy), LabelId::TAU, at(state, copy + 1));
                    }
                }
                for copy in 0..copies {
                    builder.add(at(state, copy), event, at(target, random.below(copies as usize) as u32));
                }
            }
        }
    }
    if random.chance(30) {
        let ends = (random.below(states as usize) as u32, random.below(states as usize) as u32);
        let label = [LabelId::TAU, events[0], events[1]][random.below(3)];
        builder.add(at(ends.0, 0), label, at(ends.1, 0));
    }
    builder.build(StateId(0))
}

#[test]
fn properties_agree_with_the_definitions() {
    let control = Control::unlimited();
    let mut found = [0; 5];
    for (number, lts, _) in systems(6000) {
        let expected_divergence = shortest_divergence(&lts);
        let expected_nondeterminism = shortest_nondeterminism(&lts);
        let system = Checked::new(TwoSlots::new(lts.clone()));
        let glts = Glts::from_lts(lts.clone(), &control).unwrap();
        let systems: [&dyn System; 3] = [&lts, &system, &glts];
        for (kind, system) in systems.into_iter().enumerate() {
            let threads = if number % 20 == 0 { 2 } else { 1 };
            let options = CheckOptions { threads, ..CheckOptions::default() };
            let place = || format!("system {number}, kind {kind}, {threads} threads\n{lts:?}");
            for model in MODELS {
                let expected = shortest_deadlock(&lts, model);
                assert_eq!(length(deadlock(system, model, options, &control)), expected, "{model:?} {}", place());
                found[model as usize] += usize::from(expected.is_some());
            }
            assert_eq!(length(divergence(system, options, &control)), expected_divergence, "{}", place());
            let failures = length(determinism(system, Model::Failures, options, &control));
            assert_eq!(failures, expected_nondeterminism, "{}", place());
            let both = determinism(system, Model::FailuresDivergences, options, &control).unwrap();
            let expected = expected_divergence.or(expected_nondeterminism);
            assert_eq!(both.holds(), expected.is_none(), "{}", place());
            found[0] += usize::from(expected_divergence.is_some());
            found[3] += usize::from(expected_nondeterminism.is_some());
            found[4] += usize::from(!both.holds());
        }
    }
    println!("violated of 18000: {found:?}");
    assert!(found.iter().all(|count| (2000..16000).contains(count)), "too one-sided: {found:?}");
}

#[test]
fn traces_agree_with_the_definitions() {
    let control = Control::unlimited();
    let mut had = [0; 3];
    for (number, lts, mut random) in systems(6000) {
        let mut trace = Vec::new();
        let mut here = lts.initial();
        for _ in 0..random.below(6) {
            let steps = lts.outgoing(here);
            if steps.is_empty() {
                break;
            }
            let step = steps[random.below(steps.len())];
            here = step.target;
            if step.label.is_visible() {
                trace.push(step.label);
            }
        }
        if random.chance(20) {
            trace.push(lts.labels().name("a"));
        }
        let system = Checked::new(TwoSlots::new(lts.clone()));
        let glts = Glts::from_lts(lts.clone(), &control).unwrap();
        for model in [Model::Traces, Model::Failures, Model::FailuresDivergences] {
            let expected = trace_that_it_has(&lts, &trace, model);
            had[model as usize] += usize::from(expected == trace.len());
            for system in [&lts as &dyn System, &system, &glts] {
                let outcome = has_trace(system, &trace, model, CheckOptions::default(), &control).unwrap();
                let length = outcome.witness.as_ref().map_or(trace.len(), |witness| witness.length());
                assert_eq!(length, expected, "system {number} {model:?} {trace:?}\n{lts:?}");
                assert_eq!(outcome.holds(), expected == trace.len(), "system {number} {model:?} {trace:?}\n{lts:?}");
                assert_eq!(outcome.run.is_some(), outcome.holds());
            }
        }
    }
    println!("had of 6000: {had:?}");
    assert!(had.iter().all(|count| (1500..5500).contains(count)) && had[0] > had[1] && had[1] > had[2], "{had:?}");
}

fn small(steps: &[(u32, &str, u32)]) -> Lts {
    let labels = Arc::new(Labels::new());
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(1);
    for &(source, label, target) in steps {
        let label = if label == "tick" { LabelId::TICK } else { labels.name(label) };
        builder.add(StateId(source), label, StateId(target));
    }
    builder.build(StateId(0))
}

#[test]
fn termination_is_a_deadlock() {
    let control = Control::unlimited();
    let skip = small(&[(0, "tick", 1)]);
    for model in MODELS {
        let outcome = deadlock(&skip, model, CheckOptions::default(), &control).unwrap();
        let Some(Witness::Path { path, failure: Failure::Deadlock }) = outcome.witness else { panic!("{outcome:?}") };
        assert!(path.trace().eq([LabelId::TICK]));
    }
    let looping = small(&[(0, "a", 0)]);
    assert!(deadlock(&looping, Model::Failures, CheckOptions::default(), &control).unwrap().holds());
}

#[test]
fn a_divergence_is_a_deadlock_where_it_is_observed() {
    let control = Control::unlimited();
    let spinning = small(&[(0, "a", 1), (1, "tau", 1), (0, "b", 0), (1, "b", 2), (2, "c", 3)]);
    let options = CheckOptions::default();
    assert_eq!(length(deadlock(&spinning, Model::Failures, options, &control)), Some(3));
    let outcome = deadlock(&spinning, Model::FailuresDivergences, options, &control).unwrap();
    assert!(matches!(outcome.witness, Some(Witness::Lasso { ref path, .. }) if path.length() == 1), "{outcome:?}");
}

#[test]
fn what_a_model_does_not_observe_is_refused() {
    let control = Control::unlimited();
    let lts = small(&[]);
    for refused in [
        deadlock(&lts, Model::Traces, CheckOptions::default(), &control),
        determinism(&lts, Model::Traces, CheckOptions::default(), &control),
    ] {
        assert!(matches!(refused, Err(Unanswered::Refused(_))));
    }
}

#[test]
fn two_runs_show_nondeterminism() {
    let control = Control::unlimited();
    let lts = small(&[(0, "a", 1), (0, "a", 2), (1, "b", 0), (2, "c", 0)]);
    let outcome = determinism(&lts, Model::Failures, CheckOptions::default(), &control).unwrap();
    let Some(Witness::TwoRuns { can, cannot, accepted }) = outcome.witness else { panic!("{outcome:?}") };
    assert_eq!((can.length(), cannot.length(), accepted.len()), (2, 1, 1));
}
