//! Minimisation against the oracle of `testkit`: the number of states is the number of classes, the result is equivalent to
//! the input and minimal in itself.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_lts::equivalence::{EQUIVALENCES, Equivalence, minimise};
use trefoil_system::Labels;
use trefoil_testkit::equivalences::{bisimilar, class_count, equivalent, reachable_states};
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
    if !is_trace(equivalence) {
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

#[test]
fn random_systems_shrink_to_their_classes() {
    let seed = seed();
    let mut random = Random::new(seed);
    for round in 0..10000 {
        let lts = random_system(&mut random);
        for info in EQUIVALENCES {
            check(&lts, info.equivalence, &format!("TREFOIL_SEED={seed} round {round}"));
        }
    }
}
