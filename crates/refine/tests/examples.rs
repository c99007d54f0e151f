//! The examples of Laveaux, *Accelerated verification of concurrent systems* (2022), chapter 2, by their numbers: what
//! the older algorithms got wrong, or spent too much on.

use std::sync::Arc;

use trefoil_control::{Control, Limits};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_refine::{Algorithm, Options, Outcome, Preprocess, Search, Unanswered, refine};
use trefoil_system::Model::{self, Failures, FailuresDivergences, Traces};
use trefoil_system::{Cut, Failure, Labels, StateId, Witness};

fn lts(labels: &Arc<Labels>, steps: &[(u32, &str, u32)]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for &(source, label, target) in steps {
        builder.add(StateId(source), labels.name(label), StateId(target));
    }
    builder.build(StateId(0))
}

/// The witness that all algorithms agree on in length.
fn check(specification: &Lts, implementation: &Lts, model: Model) -> Option<Witness> {
    let mut first = None;
    for algorithm in [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm] {
        for search in [Search::BreadthFirst, Search::DepthFirst] {
            for threads in [1, 2] {
                let options =
                    Options { model, algorithm, search, preprocess: Preprocess::Nothing, threads, symmetry: None };
                let found = refine(specification, implementation, options, &Control::unlimited());
                let found = match found {
                    Ok(outcome) => outcome.witness,
                    Err(Unanswered::Refused(_)) => continue,
                    Err(why) => panic!("{why}"),
                };
                let first = first.get_or_insert_with(|| found.clone());
                assert_eq!(found.is_some(), first.is_some(), "{options:?}");
                if search == Search::BreadthFirst {
                    assert_eq!(found.map(|w| w.length()), first.as_ref().map(|w| w.length()), "{options:?}");
                }
            }
        }
    }
    first.flatten()
}

fn plain(model: Model) -> Options {
    Options { preprocess: Preprocess::Nothing, ..Options::new(model) }
}

fn outcome(specification: &Lts, implementation: &Lts, model: Model, search: Search) -> Outcome {
    refine(specification, implementation, Options { search, ..plain(model) }, &Control::unlimited()).unwrap()
}

/// A teller machine (s), one that stops after one request (t), one that polls forever (u).
fn teller_machines(labels: &Arc<Labels>) -> [Lts; 3] {
    let s = lts(labels, &[(0, "REQ", 1), (1, "tau", 2), (1, "tau", 5), (2, "20", 0), (5, "10", 3), (3, "10", 0)]);
    let t = lts(labels, &[(0, "REQ", 1), (1, "20", 2)]);
    let u = lts(labels, &[(0, "REQ", 1), (1, "tau", 1), (1, "20", 2), (2, "tau", 0)]);
    [s, t, u]
}

#[test]
fn example_2_1_12_three_models_three_verdicts() {
    let labels = Arc::new(Labels::new());
    let [s, t, u] = teller_machines(&labels);
    assert_eq!(check(&s, &t, Traces), None);
    let Some(Witness::Path { path, failure }) = check(&s, &t, Failures) else { panic!("t stops") };
    assert_eq!(labels.texts(path.trace()), ["REQ", "20"]);
    assert_eq!(failure, Failure::Acceptance(vec![]));
    assert!(check(&s, &t, FailuresDivergences).is_some());
    assert_eq!(check(&s, &u, Traces), None);
    assert_eq!(check(&s, &u, Failures), None);
    let Some(Witness::Lasso { path, cycle }) = check(&s, &u, FailuresDivergences) else { panic!("u polls forever") };
    assert_eq!(labels.texts(path.trace()), ["REQ"]);
    assert_eq!(cycle.len(), 1);
    let Some(Witness::Path { path, failure: Failure::Event }) = check(&u, &s, Traces) else { panic!("10 is new") };
    assert_eq!(labels.texts(path.trace()), ["REQ", "10"]);
    assert!(check(&u, &s, Failures).is_some());
    assert_eq!(check(&u, &s, FailuresDivergences), None);
}

#[test]
fn example_2_2_15_nothing_behind_a_divergence_is_a_witness() {
    let labels = Arc::new(Labels::new());
    let [_, t, u] = teller_machines(&labels);
    assert_eq!(check(&u, &t, FailuresDivergences), None);
    assert!(check(&u, &t, Failures).is_some(), "without divergence, stopping after 20 is a failure");
}

#[test]
fn example_2_3_3_chaos_at_the_root_allows_everything() {
    let labels = Arc::new(Labels::new());
    let s0 = lts(&labels, &[(0, "tau", 0), (0, "a", 0)]);
    let s1 = lts(&labels, &[(0, "b", 0)]);
    let s2 = lts(&labels, &[(0, "tau", 0), (0, "a", 1), (1, "a", 1)]);
    let s3 = lts(&labels, &[(0, "tau", 0), (0, "a", 1)]);
    assert_eq!(check(&s0, &s1, FailuresDivergences), None);
    let Some(Witness::Path { path, failure: Failure::Event }) = check(&s1, &s0, Failures) else { panic!("a is new") };
    assert_eq!(labels.texts(path.trace()), ["a"]);
    assert_eq!(check(&s2, &s3, FailuresDivergences), None);
    let Some(Witness::Path { path, failure }) = check(&s2, &s3, Failures) else { panic!("s3 stops after a") };
    assert_eq!(labels.texts(path.trace()), ["a"]);
    assert_eq!(failure, Failure::Acceptance(vec![]));
}

/// n states in a row with k events from each to the next.
fn ladder(labels: &Arc<Labels>, n: u32, k: u32) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..n - 1 {
        for event in 0..k {
            builder.add(StateId(state), labels.name(&format!("a{event}")), StateId(state + 1));
        }
    }
    builder.build(StateId(0))
}

#[test]
fn example_2_3_4_a_pair_waits_once_however_many_events_lead_to_it() {
    let labels = Arc::new(Labels::new());
    let (n, k) = (12, 7);
    let system = ladder(&labels, n, k);
    for search in [Search::BreadthFirst, Search::DepthFirst] {
        for model in [Traces, Failures, FailuresDivergences] {
            let outcome = outcome(&system, &system, model, search);
            assert!(outcome.holds());
            let statistics = outcome.statistics;
            let (n, k) = (u64::from(n), u64::from(k));
            assert_eq!((statistics.states, statistics.transitions), (n, (n - 1) * k));
            assert_eq!(statistics.antichain_misses, n - 1);
            assert_eq!(statistics.antichain_hits, (n - 1) * (k - 1));
            // The pair that is being expanded and the one that it leads to.
            assert!(statistics.working_max <= 2, "{search:?}: {statistics:?}");
        }
    }
}

#[test]
fn example_2_3_5_the_antichain_is_one() {
    let labels = Arc::new(Labels::new());
    // The loops distinguish t1 and t2; without them the two are one set for traces.
    let spec = &[(0, "a", 1), (0, "b", 1), (0, "b", 2), (1, "c", 1), (2, "d", 2)];
    let spec = lts(&labels, spec);
    let small_first = lts(&labels, &[(0, "a", 1), (0, "b", 1)]);
    let large_first = lts(&labels, &[(0, "b", 1), (0, "a", 1)]);
    for search in [Search::BreadthFirst, Search::DepthFirst] {
        let found = outcome(&spec, &small_first, Traces, search).statistics;
        assert_eq!((found.antichain_hits, found.antichain_misses), (1, 1), "the larger set is in already");
        assert_eq!((found.antichain_max, found.antichain_evictions), (2, 0));
        let found = outcome(&spec, &large_first, Traces, search).statistics;
        assert_eq!((found.antichain_hits, found.antichain_misses), (0, 2), "the smaller set is new");
        assert_eq!((found.antichain_max, found.antichain_evictions), (2, 1), "and the larger one goes");
    }
}

/// A set that comes by an event must not prune a set that comes by `τ` one level nearer.
#[test]
fn pruning_keeps_the_shortest_length() {
    let labels = Arc::new(Labels::new());
    // The state after x meets first, by the event y from elsewhere, a set inside the one that it has by τ alone.
    let spec = lts(&labels, &[(0, "x", 1), (0, "x", 2), (1, "y", 2), (1, "c", 1), (2, "c", 2), (2, "y", 2)]);
    let imp = lts(
        &labels,
        &[(0, "x", 1), (1, "y", 4), (1, "tau", 2), (2, "tau", 3), (3, "tau", 4), (4, "c", 5), (5, "z", 5)],
    );
    let witness = check(&spec, &imp, Traces).expect("z is new");
    assert_eq!(labels.texts(witness.path().trace()), ["x", "c", "z"]);
}

#[test]
fn a_failure_at_the_end_of_a_level_is_nearer_than_a_missing_event() {
    let labels = Arc::new(Labels::new());
    let spec = lts(&labels, &[(0, "a", 0), (0, "b", 0)]);
    let imp = lts(&labels, &[(0, "c", 0), (0, "tau", 1), (1, "tau", 2), (2, "a", 2)]);
    let witness = check(&spec, &imp, Failures).expect("c is new, and b is refused");
    assert_eq!(witness.length(), 0);
    assert_eq!(check(&spec, &imp, Traces).map(|witness| witness.length()), Some(1));
}

#[test]
fn a_specification_whose_normal_form_explodes_is_no_matter_for_antichains() {
    let labels = Arc::new(Labels::new());
    // After an a, n more letters: the set of states remembers which of the last n letters were a.
    let n = 40;
    let mut builder = LtsBuilder::new(labels.clone());
    let (a, b) = (labels.name("a"), labels.name("b"));
    builder.add(StateId(0), a, StateId(0)).add(StateId(0), b, StateId(0)).add(StateId(0), a, StateId(1));
    for state in 1..n {
        builder.add(StateId(state), a, StateId(state + 1)).add(StateId(state), b, StateId(state + 1));
    }
    let spec = builder.build(StateId(0));
    let imp = lts(&labels, &[(0, "a", 0), (0, "b", 0)]);
    for model in [Traces, Failures, FailuresDivergences] {
        let outcome = outcome(&spec, &imp, model, Search::BreadthFirst);
        assert!(outcome.holds());
        assert!(outcome.statistics.states < 200, "{model:?}: {:?}", outcome.statistics);
    }
    for model in [Traces, Failures, FailuresDivergences] {
        let options = Options { algorithm: Algorithm::Automatic, ..plain(model) };
        let outcome = refine(&spec, &imp, options, &Control::unlimited()).expect("no budget");
        assert!(outcome.holds());
        assert_eq!(outcome.statistics.algorithm, Algorithm::Antichain);
        let outcome = refine(&imp, &imp, options, &Control::unlimited()).expect("no budget");
        assert_eq!(outcome.statistics.algorithm, Algorithm::NormalForm);
    }
    let limits = Limits { time: Some(std::time::Duration::from_millis(50)), memory: None };
    let options = Options { algorithm: Algorithm::NormalForm, ..plain(Traces) };
    match refine(&spec, &imp, options, &Control::new(limits)) {
        Err(Unanswered::Cut { cut: Cut::Stopped, .. }) => {}
        other => panic!("2^40 sets in 50 ms: {other:?}"),
    }
}
