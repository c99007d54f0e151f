//! A check that is stopped at any of its polls leaves no wrong result behind for the next one.

mod support;

use std::sync::Arc;

use support::TwoSlots;
use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_refine::{
    Algorithm, CheckOptions, Options, Outcome, Preprocess, Search, Unanswered, deadlock, determinism, divergence,
    has_trace, prepare,
};
use trefoil_symmetry::{STRATEGIES, Strategy};
use trefoil_system::{Cut, LabelId, Labels, Model, Path, System, Witness};
use trefoil_testkit::cutting::Cutting;
use trefoil_testkit::interruptions::{Interruptions, interrupt};
use trefoil_testkit::refinement::random_pair;
use trefoil_testkit::symmetric;
use trefoil_testkit::{Random, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic];

/// What is compared: the witness, the run, and what was counted.
type Answer = Result<(Option<Witness>, Option<Path>, u64, u64), String>;

/// A refusal is an answer; a cut is none.
fn answer(outcome: Result<Outcome, Unanswered>) -> Result<Answer, Cut> {
    match outcome {
        Ok(Outcome { witness, run, statistics }) => Ok(Ok((witness, run, statistics.states, statistics.transitions))),
        Err(Unanswered::Refused(why)) => Ok(Err(why.to_string())),
        Err(Unanswered::Cut { cut, .. }) => Err(cut),
    }
}

/// Stops a question at up to `most` of its polls; says how often it was stopped.
fn stopped<S>(most: u64, make: impl Fn() -> S, ask: impl Fn(&S, &Control) -> Result<Outcome, Unanswered>) -> u64 {
    let Interruptions { stopped, .. } = interrupt(most, make, |subject, control| {
        let given = answer(ask(subject, control));
        assert!(given.is_ok() || given == Err(Cut::Stopped), "{given:?}");
        given
    });
    stopped
}

fn pairs(count: u64) -> impl Iterator<Item = (Lts, Lts)> {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    (0..count).map(move |number| {
        let mut random = Random::new(seed.wrapping_add(number));
        random_pair(&Arc::new(Labels::new()), &mut random)
    })
}

/// One specification is prepared, and used again after a check of it was stopped: its normal form grew meanwhile.
#[test]
fn refinements_are_answered_after_a_stop() {
    let mut all = 0;
    for (specification, implementation) in pairs(16) {
        let system = TwoSlots::new(implementation.clone());
        let system: &dyn System = &system;
        for model in MODELS {
            for algorithm in ALGORITHMS {
                for (search, threads, preprocess) in [
                    (Search::BreadthFirst, 1, Preprocess::Nothing),
                    (Search::BreadthFirst, 2, Preprocess::Nothing),
                    (Search::DepthFirst, 1, Preprocess::Specification),
                    (Search::BreadthFirst, 1, Preprocess::Both),
                ] {
                    let options = Options { algorithm, search, threads, preprocess, ..Options::new(model) };
                    let make = || prepare(&specification, options, &Control::unlimited()).unwrap();
                    all += stopped(25, make, |prepared, control| prepared.check(system, None, control));
                    all += stopped(25, make, |prepared, control| prepared.check(&implementation, None, control));
                    all += stopped(
                        25,
                        || (),
                        |(), control| prepare(&specification, options, control)?.check(system, None, control),
                    );
                }
            }
        }
    }
    println!("{all} stops");
    assert!(all > 10_000, "too few stops: {all}");
}

fn strategies() -> impl Iterator<Item = &'static Strategy> {
    STRATEGIES.iter().filter(|strategy| ["auto", "fast"].contains(&strategy.name))
}

#[test]
fn refinements_among_representatives_are_answered_after_a_stop() {
    let (seed, mut all) = (seed(), 0);
    println!("TREFOIL_SEED={seed}");
    for number in 0..30 {
        let mut random = Random::new(seed.wrapping_add(number));
        let Some((specification, system)) = symmetric::random_pair(&mut random) else { continue };
        let system: &dyn System = &system;
        for strategy in strategies() {
            for (model, algorithm) in MODELS.into_iter().zip(ALGORITHMS) {
                for (search, threads) in [(Search::BreadthFirst, 1), (Search::BreadthFirst, 2), (Search::DepthFirst, 1)]
                {
                    let preprocess = Preprocess::Nothing;
                    let symmetry = Some(strategy);
                    let options = Options { algorithm, search, threads, preprocess, symmetry, ..Options::new(model) };
                    let make = || prepare(&specification, options, &Control::unlimited()).unwrap();
                    all += stopped(15, make, |prepared, control| prepared.check(system, symmetry, control));
                }
            }
        }
    }
    println!("{all} stops");
    assert!(all > 3_000, "too few stops: {all}");
}

/// One specification is prepared, and asked again after an application of an element was cut.
#[test]
fn questions_are_answered_after_an_action_that_was_cut() {
    let (seed, mut all, control) = (seed(), 0, Control::unlimited());
    println!("TREFOIL_SEED={seed}");
    for number in 0..30 {
        let mut random = Random::new(seed.wrapping_add(number));
        let Some((specification, system)) = symmetric::random_pair(&mut random) else { continue };
        let cutting = Cutting::new(&system);
        let implementation: &dyn System = &cutting;
        for symmetry in strategies().map(Some) {
            for (model, algorithm) in MODELS.into_iter().zip(ALGORITHMS) {
                for (search, threads) in [(Search::BreadthFirst, 1), (Search::BreadthFirst, 2), (Search::DepthFirst, 1)]
                {
                    let preprocess = Preprocess::Nothing;
                    let options = Options { algorithm, search, threads, preprocess, symmetry, ..Options::new(model) };
                    let make = || prepare(&specification, options, &control).unwrap();
                    all += cutting
                        .interrupt(15, make, |prepared| answer(prepared.check(implementation, symmetry, &control)));
                }
            }
            for threads in [1, 2] {
                let options = CheckOptions { threads, symmetry };
                for model in MODELS {
                    let ask = |&mut (): &mut ()| answer(deadlock(&cutting, model, options, &control));
                    all += cutting.interrupt(15, || (), ask);
                    let ask = |&mut (): &mut ()| answer(determinism(&cutting, model, options, &control));
                    all += cutting.interrupt(15, || (), ask);
                }
                all += cutting.interrupt(15, || (), |()| answer(divergence(&cutting, options, &control)));
            }
        }
    }
    println!("{all} cuts");
    assert!(all > 3_000, "too few cuts: {all}");
}

#[test]
fn properties_are_answered_after_a_stop() {
    let (seed, mut all) = (seed(), 0);
    println!("TREFOIL_SEED={seed}");
    for number in 0..30 {
        let mut random = Random::new(seed.wrapping_add(number));
        let Some((specification, system)) = symmetric::random_pair(&mut random) else { continue };
        let system: &dyn System = &system;
        let trace: Vec<LabelId> = specification
            .all_transitions()
            .map(|(_, step)| step.label)
            .filter(|label| label.is_visible())
            .take(2)
            .collect();
        for threads in [1, 2] {
            for symmetry in strategies().map(Some).chain([None]) {
                let options = CheckOptions { threads, symmetry };
                for model in MODELS {
                    all += stopped(15, || (), |(), control| deadlock(system, model, options, control));
                    all += stopped(15, || (), |(), control| determinism(system, model, options, control));
                    all += stopped(15, || (), |(), control| has_trace(system, &trace, model, options, control));
                }
                all += stopped(15, || (), |(), control| divergence(system, options, control));
            }
        }
    }
    println!("{all} stops");
    assert!(all > 3_000, "too few stops: {all}");
}
