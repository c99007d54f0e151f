//! Rows in parts against whole rows: minimisation, compressions and parts of systems, on random systems.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::compress::{COMPRESSIONS, Compression, compress};
use trefoil_lts::equivalence::{EQUIVALENCES, Equivalence, compare, minimise};
use trefoil_lts::random::Random;
use trefoil_lts::{Lts, SharedRows, Transition};
use trefoil_system::{LabelId, Labels, StateId};

/// A random system with rows in parts: labels are divided among the fragments and the states' own transitions, and
/// targets lie among few, so that states are often bisimilar. The state after the last one is not reached where
/// `apart` says so.
fn random_system(random: &mut Random, tau: bool, apart: bool) -> Lts {
    let labels = Arc::new(Labels::new());
    let names: Vec<LabelId> = (0..400).map(|number| labels.name(&format!("a{number}"))).collect();
    let states = 60 + random.below(60);
    let classes = 1 + random.below(states);
    let mut rows = SharedRows::default();
    let step =
        |random: &mut Random, label: LabelId| Transition { label, target: StateId(random.below(classes) as u32) };
    let mut fragments = Vec::new();
    for group in 0..3 {
        let own = &names[100 * group..100 * (group + 1)];
        let alike: Vec<Transition> = own.iter().map(|&label| step(random, label)).collect();
        // The same set twice, and once with one transition less or more.
        fragments.push([
            rows.add_fragment(alike.iter().copied()),
            rows.add_fragment(alike.iter().rev().copied()),
            rows.add_fragment(alike.iter().copied().skip(random.below(2))),
        ]);
    }
    for state in 0..states as u32 {
        let count = random.below(4);
        let parts: Vec<u32> = fragments.iter().map(|alike| alike[random.below(3)]).take(count).collect();
        // Every state is reached from the one before it, unless it is to be apart.
        let next = StateId((state + 1) % states as u32);
        let label = names[300 + random.below(4)];
        let mut own = vec![step(random, label)];
        own.push(Transition {
            label: names[310],
            target: if apart && state + 2 == states as u32 { StateId(0) } else { next },
        });
        if tau && random.chance(30) {
            own.push(step(random, LabelId::TAU));
        }
        own.sort_unstable();
        own.dedup();
        rows.add_state(&own, &parts);
    }
    Lts::from_shared(labels, StateId(0), rows)
}

/// The same with whole rows.
fn whole(lts: &Lts) -> Lts {
    let starts = lts.states().map(|state| lts.start(state)).chain([lts.transition_count()]).collect();
    Lts::from_rows(lts.labels().clone(), lts.initial(), starts, lts.transitions().to_vec())
}

#[test]
fn whole_rows_have_the_steps_of_their_parts() {
    let mut random = Random::new(7);
    for _ in 0..20 {
        let lts = random_system(&mut random, true, false);
        assert!(lts.shared().is_some(), "it is worth its trouble");
        for state in lts.states() {
            let mut steps: Vec<Transition> = lts.steps(state).copied().collect();
            steps.sort_unstable();
            assert_eq!(steps, lts.outgoing(state));
        }
        assert_eq!(lts.alphabet(), whole(&lts).alphabet());
        let few: Vec<u32> = (0..lts.state_count() as u32).collect();
        let odd = |step: &Transition| step.label.0 % 2 == 1;
        let [part, expected] = [&lts, &whole(&lts)].map(|lts| lts.part(&few, lts.initial(), odd));
        assert!(part.states().all(|state| part.outgoing(state) == expected.outgoing(state)));
    }
}

#[test]
fn minimisation_does_not_depend_on_parts() {
    let control = Control::unlimited();
    let mut random = Random::new(8);
    for round in 0..60 {
        let lts = random_system(&mut random, round % 3 == 0, round % 5 == 0);
        let plain = whole(&lts);
        for info in EQUIVALENCES.iter().filter(|info| {
            !matches!(
                info.equivalence,
                Equivalence::Simulation | Equivalence::ReadySimulation | Equivalence::Trace | Equivalence::WeakTrace
            )
        }) {
            let [small, expected] =
                [&lts, &plain].map(|lts| minimise(lts, info.equivalence, &control).expect("no budget"));
            assert_eq!(small.lts.state_count(), expected.lts.state_count(), "{} in round {round}", info.name);
            assert_eq!(small.lts.transition_count(), expected.lts.transition_count(), "{} in round {round}", info.name);
            let same = compare(&small.lts, &expected.lts, Equivalence::Strong, &control).expect("no budget");
            assert!(same.equivalent, "{} in round {round}", info.name);
            for state in lts.states() {
                assert_eq!(small.block_of(state), expected.block_of(state), "{} in round {round}", info.name);
            }
        }
    }
}

#[test]
fn compressions_do_not_depend_on_parts() {
    let control = Control::unlimited();
    let mut random = Random::new(9);
    for round in 0..12 {
        let lts = random_system(&mut random, round % 2 == 0, false);
        let plain = whole(&lts);
        for info in COMPRESSIONS.iter().filter(|info| info.compression != Compression::Deter) {
            let [small, expected] =
                [&lts, &plain].map(|lts| compress(lts, info.compression, &control).expect("no budget"));
            let same = compare(&small, &expected, Equivalence::Strong, &control).expect("no budget").equivalent;
            assert!(same, "{} in round {round}", info.name);
        }
    }
}
