//! Every compression against the definitions of what it promises, on random systems with divergence and termination.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::compress::{COMPRESSIONS, Compression, Promise, compress, diamond_form, normal_form};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, Model, StateId};
use trefoil_testkit::equivalences::{equivalent, reachable_states};
use trefoil_testkit::refinement::shortest_violation;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];

/// Nothing is too large for these systems.
const ROOM: usize = 1 << 20;

/// How systems terminate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Never,
    /// By states that offer `✓` and nothing else.
    Pure,
    /// By `✓` anywhere.
    Anywhere,
}

fn random_system(ending: Ending, random: &mut Random) -> Lts {
    let states = 1 + random.below(9);
    let shape = RandomShape {
        states: states as u32,
        transitions: random.below(2 * states + 4),
        labels: 1 + random.below(3),
        tau_percent: [10, 30, 60, 80][random.below(4)],
    };
    let lts = random_lts(&Arc::new(Labels::new()), shape, random);
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(states as u32);
    let last = StateId(states as u32);
    for (source, step) in lts.all_transitions() {
        match ending {
            Ending::Pure if random.chance(15) => builder.add(source, step.label, last),
            Ending::Anywhere if random.chance(15) => builder.add(source, LabelId::TICK, step.target),
            _ => builder.add(source, step.label, step.target),
        };
    }
    if ending == Ending::Pure {
        builder.add(last, LabelId::TICK, StateId(last.0 + 1));
    }
    builder.build(lts.initial())
}

fn is_pure(lts: &Lts) -> bool {
    lts.states().all(|state| {
        let row = lts.outgoing(state);
        row.iter().all(|step| step.label == LabelId::TICK) || row.iter().all(|step| step.label != LabelId::TICK)
    })
}

/// Panics unless both have the same traces, stable failures and divergences.
fn assert_same(one: &Lts, other: &Lts, context: &str) {
    for model in MODELS {
        assert_eq!(shortest_violation(one, other, model), None, "{context} {model:?}: {one:?}gave {other:?}");
        assert_eq!(shortest_violation(other, one, model), None, "{context} {model:?}: {one:?}gave {other:?}");
    }
}

fn check(lts: &Lts, compression: Compression, context: &str) -> Lts {
    let context = format!("{context} {compression}");
    let small = compress(lts, compression, &Control::unlimited()).expect("no budget");
    match compression.info().promise {
        Promise::Equivalent(equivalence) => {
            assert!(equivalent(lts, &small, equivalence), "{context}: {lts:?}gave {small:?}");
            assert_same(lts, &small, &context);
        }
        Promise::SameInEveryModel => assert_same(lts, &small, &context),
        Promise::Refines => {
            for model in MODELS {
                assert_eq!(shortest_violation(lts, &small, model), None, "{context} {model:?}: {lts:?}gave {small:?}");
            }
        }
    }
    let reachable = reachable_states(lts).len();
    assert!(small.state_count() <= reachable.max(if compression == Compression::Explicate { ROOM } else { 0 }));
    if compression != Compression::Explicate {
        assert_eq!(small.initial(), StateId(0), "{context}");
        assert_eq!(reachable_states(&small).len(), small.state_count(), "{context}: {lts:?}gave {small:?}");
    }
    if is_pure(lts) {
        assert!(is_pure(&small), "{context}: {lts:?}gave {small:?}");
    }
    small
}

#[test]
fn compressions_keep_what_they_promise() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut shrunk = vec![0; COMPRESSIONS.len()];
    for round in 0..3_600 {
        let ending = [Ending::Never, Ending::Pure, Ending::Anywhere][round % 3];
        let lts = random_system(ending, &mut random);
        let context = format!("TREFOIL_SEED={seed} round {round} {ending:?}");
        for (at, info) in COMPRESSIONS.iter().enumerate() {
            let small = check(&lts, info.compression, &context);
            shrunk[at] += usize::from(small.state_count() < reachable_states(&lts).len());
        }
    }
    assert!(shrunk[1..].iter().all(|&count| count > 150), "every one of them shrinks something: {shrunk:?}");
}

/// Also where the forms are larger than what they are made from, so that `compress` would not use them.
#[test]
fn forms_are_the_same_in_every_model() {
    let seed = seed();
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    let mut larger = [0; 2];
    for round in 0..3_600 {
        let ending = [Ending::Never, Ending::Pure, Ending::Anywhere][round % 3];
        let lts = random_system(ending, &mut random);
        let forms = [normal_form(&lts, ROOM, &control), diamond_form(&lts, ROOM, &control)];
        for (at, form) in forms.into_iter().enumerate() {
            let form = form.expect("no budget").expect("there is room");
            if form.state_count() > 64 {
                // Too large for the oracle's bits; there are few.
                continue;
            }
            larger[at] += usize::from(form.state_count() > lts.state_count());
            assert_same(&lts, &form, &format!("TREFOIL_SEED={seed} round {round} {ending:?} form {at}"));
            if is_pure(&lts) {
                assert!(is_pure(&form), "TREFOIL_SEED={seed} round {round}: {lts:?}gave {form:?}");
            }
        }
    }
    assert!(larger.iter().all(|&count| count > 40), "the choosers and copies are seen: {larger:?}");
}

#[test]
fn deter_is_deterministic_where_divergence_can_be_avoided() {
    let seed = seed();
    let mut random = Random::new(seed);
    for round in 0..3_000 {
        let lts = random_system(Ending::Pure, &mut random);
        let chosen = compress(&lts, Compression::Deter, &Control::unlimited()).expect("no budget");
        for state in chosen.states() {
            let row = chosen.outgoing(state);
            let mut labels: Vec<LabelId> = row.iter().map(|step| step.label).collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), row.len(), "TREFOIL_SEED={seed} round {round}: one successor a label");
            let diverges = labels.contains(&LabelId::TAU);
            assert!(!diverges || row.len() == 1 && row[0].target == state, "TREFOIL_SEED={seed} round {round}");
        }
    }
}

fn system(steps: &[(u32, &str, u32)]) -> Lts {
    let labels = Arc::new(Labels::new());
    let mut builder = LtsBuilder::new(labels.clone());
    for &(source, label, target) in steps {
        let label = if label == "tick" { LabelId::TICK } else { labels.name(label) };
        builder.add(StateId(source), label, StateId(target));
    }
    builder.build(StateId(0))
}

/// A divergence that nothing but a `τ`-loop shows, behind `τ` and beside a stable way: eliminating `τ` must not lose
/// it.
#[test]
fn diamond_does_not_lose_divergence() {
    let control = Control::unlimited();
    for lts in [
        system(&[(0, "tau", 1), (0, "tau", 2), (1, "tau", 1), (2, "a", 0)]),
        system(&[(0, "a", 1), (1, "tau", 2), (2, "tau", 3), (3, "tau", 2), (1, "b", 0)]),
        system(&[(0, "a", 1), (0, "a", 2), (1, "tau", 2), (2, "tau", 3), (2, "tau", 4), (3, "tau", 3), (4, "b", 0)]),
    ] {
        let small = check(&lts, Compression::Diamond, "a divergence");
        let form = diamond_form(&lts, ROOM, &control).expect("no budget").expect("there is room");
        for result in [&small, &form] {
            assert!(
                result.all_transitions().any(|(source, step)| step.label == LabelId::TAU && step.target == source),
                "{result:?}"
            );
        }
    }
}

/// In failures-divergences everything is allowed after a divergence, but the same machine serves checks of traces.
#[test]
fn normal_forms_go_on_behind_a_divergence() {
    let lts = system(&[(0, "tau", 0), (0, "a", 1), (0, "a", 2), (1, "b", 1), (2, "c", 2)]);
    let small = check(&lts, Compression::Normal, "behind a divergence");
    assert_eq!(shortest_violation(&system(&[(0, "a", 1)]), &small, Model::Traces), Some(2));
}

#[test]
fn nondeterminism_becomes_one_state_a_trace() {
    // Whether `c` or `d` follows is decided by `a` or by `b`: no two states are bisimilar, and no trace shows the
    // difference.
    let early = [(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "b", 4)];
    let late = [(0, "a", 5), (5, "b", 3), (5, "b", 4), (3, "c", 0), (4, "d", 0)];
    let lts = system(&[&early[..], &late[..]].concat());
    let delay = check(&lts, Compression::Dbisim, "before");
    let normal = check(&lts, Compression::Normal, "one state a trace");
    assert!(normal.state_count() < delay.state_count(), "{normal:?}");
}

#[test]
fn what_would_be_exponential_stays_as_it_was() {
    // The event some steps before the end was `a`.
    let mut steps = vec![(0, "a", 0), (0, "b", 0), (0, "a", 1)];
    for state in 1..20 {
        steps.push((state, "a", state + 1));
        steps.push((state, "b", state + 1));
    }
    let lts = system(&steps);
    let control = Control::unlimited();
    for compression in [Compression::Normal, Compression::ModelCompress] {
        assert!(compress(&lts, compression, &control).expect("no budget").state_count() <= 21);
    }
    assert!(normal_form(&lts, 1_000, &control).expect("no budget").is_none());
}

#[test]
fn names_are_those_of_the_table() {
    for info in COMPRESSIONS {
        assert_eq!(info.name.parse(), Ok(info.compression));
    }
    assert!("squash".parse::<Compression>().unwrap_err().to_string().contains("tau_loop_factor"));
}
