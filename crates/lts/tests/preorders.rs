//! Coupled simulation, impossible futures, `tau-star` and determinisation against their definitions, on random systems.
//! Distinguishing formulas are checked on the systems by the library before they are returned.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::equivalence::{
    Equivalence, Evidence, compare, compare_coupled, deterministic, has_no_other_futures, tau_star,
};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, StateId};
use trefoil_testkit::observations::random_observed_pair;
use trefoil_testkit::preorders::{coupled_similar, futures_included};
use trefoil_testkit::refinement::random_pair;
use trefoil_testkit::{Random, seed};

fn pairs(count: u64) -> impl Iterator<Item = (u64, Lts, Lts)> {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    (0..count).map(move |number| {
        let mut random = Random::new(seed.wrapping_add(number));
        let labels = Arc::new(Labels::new());
        let (one, other) = match number % 2 {
            0 => random_pair(&labels, &mut random),
            _ => random_observed_pair(&labels, &mut random),
        };
        (number, one, other)
    })
}

fn lts(labels: &Arc<Labels>, steps: &[(u32, &str, u32)]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for &(source, label, target) in steps {
        builder.add(StateId(source), labels.name(label), StateId(target));
    }
    builder.build(StateId(0))
}

/// Two systems that are alike but for a state that chooses between three others by `τ`: at once, or in two steps.
fn choosing(lts: &Lts, random: &mut Random) -> (Lts, Lts) {
    let state = |random: &mut Random| StateId(random.below(lts.state_count()) as u32);
    let (chooser, between) = (state(random), StateId(lts.state_count() as u32));
    let [first, second, third] = [(); 3].map(|()| state(random));
    let make = |extra: &[(StateId, StateId)]| {
        let mut builder = LtsBuilder::new(lts.labels().clone());
        lts.all_transitions().for_each(|(source, step)| {
            builder.add(source, step.label, step.target);
        });
        extra.iter().for_each(|&(source, target)| {
            builder.add(source, LabelId::TAU, target);
        });
        builder.build(lts.initial())
    };
    let at_once = make(&[(chooser, first), (chooser, second), (chooser, third)]);
    (at_once, make(&[(chooser, first), (chooser, between), (between, second), (between, third)]))
}

#[test]
fn coupled_simulation_agrees_with_its_definition() {
    let control = Control::unlimited();
    let (mut similar, mut coarser) = (0, 0);
    for (number, one, other) in pairs(4_000) {
        let (one, other) = match number % 4 {
            2 => choosing(&one, &mut Random::new(number)),
            _ => (one, other),
        };
        let expected = coupled_similar(&one, &other);
        let found = compare_coupled(&one, &other, &control).expect("no budget");
        assert_eq!(found.equivalent, expected, "pair {number} {one:?}{other:?}");
        assert_eq!(found.evidence.is_some(), !expected);
        let weak = compare(&one, &other, Equivalence::Weak, &control).expect("no budget").equivalent;
        assert!(expected || !weak, "weak bisimilarity is finer: pair {number}");
        similar += usize::from(expected);
        coarser += usize::from(expected && !weak);
    }
    println!("{similar} similar, {coarser} of them not weakly bisimilar");
    assert!(similar > 300 && coarser > 10, "{similar} {coarser}");
}

#[test]
fn a_choice_may_be_made_gradually() {
    let labels = Arc::new(Labels::new());
    let control = Control::unlimited();
    let at_once = lts(&labels, &[(0, "tau", 1), (0, "tau", 2), (0, "tau", 3), (1, "a", 4), (2, "b", 4), (3, "c", 4)]);
    let steps = [(0, "tau", 1), (0, "tau", 5), (5, "tau", 2), (5, "tau", 3), (1, "a", 4), (2, "b", 4), (3, "c", 4)];
    let gradually = lts(&labels, &steps);
    assert!(compare_coupled(&at_once, &gradually, &control).expect("no budget").equivalent);
    assert!(!compare(&at_once, &gradually, Equivalence::Weak, &control).expect("no budget").equivalent);
    let without = lts(&labels, &[(0, "tau", 1), (0, "tau", 5), (5, "b", 4), (5, "c", 4), (1, "a", 4)]);
    let found = compare_coupled(&at_once, &without, &control).expect("no budget");
    assert!(!found.equivalent);
}

#[test]
fn impossible_futures_agree_with_their_definition() {
    let control = Control::unlimited();
    let mut held = 0;
    let mut by_trace = 0;
    for (number, specification, implementation) in pairs(4_000) {
        let expected = futures_included(&specification, &implementation);
        let found = has_no_other_futures(&implementation, &specification, &control).expect("no budget");
        assert_eq!(found.is_none(), expected, "pair {number} {specification:?}{implementation:?}");
        held += usize::from(expected);
        if let Some(Evidence::Formula { formula, .. }) = found {
            by_trace += usize::from(!formula.to_string().contains("false") && !formula.to_string().contains('!'));
        }
    }
    println!("{held} hold, {by_trace} fail by a trace");
    assert!(held > 400 && by_trace > 100, "{held} {by_trace}");
}

#[test]
fn tau_star_and_determinisation_keep_traces() {
    let control = Control::unlimited();
    let mut smaller = 0;
    for (number, one, _) in pairs(1_500) {
        let starred = tau_star(&one, &control).expect("no budget");
        assert!(starred.transitions().iter().all(|step| step.label != LabelId::TAU), "pair {number}");
        assert!(compare(&one, &starred, Equivalence::WeakTrace, &control).expect("no budget").equivalent);
        // A step of the result is τ* and a step, and there are no others: with τ* before steps alone it is the same.
        let again = tau_star(&starred, &control).expect("no budget");
        assert!(compare(&again, &starred, Equivalence::Strong, &control).expect("no budget").equivalent);
        let determined = deterministic(&one, &control).expect("no budget");
        assert!(compare(&one, &determined, Equivalence::Trace, &control).expect("no budget").equivalent);
        for state in determined.states() {
            let steps = determined.outgoing(state);
            assert!(steps.is_sorted_by(|one, other| one.label < other.label), "pair {number}");
        }
        smaller += usize::from(starred.state_count() < one.state_count());
    }
    assert!(smaller > 100);
}
