//! Checks that are reduced by symmetry against the same checks that are not.

use std::collections::BTreeMap;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_refine::{
    Algorithm, CheckOptions, Options, Outcome, Preprocess, Search, Unanswered, deadlock, determinism, divergence,
    has_trace, prepare, refine,
};
use trefoil_symmetry::{Needs, Promise, STRATEGIES, UBig, strategy_named};
use trefoil_system::{Action, LabelId, Model, System, Witness};
use trefoil_testkit::symmetric::{Processes, random_pair};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
#[test]
fn reduced_checks_agree_with_unreduced_ones() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let (mut holding, mut failing, mut lassos, mut moved, mut smaller) = (0, 0, 0, 0, 0);
    for number in 0..90 {
        let mut random = Random::new(seed.wrapping_add(number));
        let Some((specification, implementation)) = random_pair(&mut random) else { continue };
        for model in Model::ALL {
            for (algorithm, search) in [
                (Algorithm::NormalForm, Search::BreadthFirst),
                (Algorithm::LazyNormalForm, Search::BreadthFirst),
                (Algorithm::Antichain, Search::BreadthFirst),
                (Algorithm::Antichain, Search::DepthFirst),
                (Algorithm::NormalForm, Search::DepthFirst),
            ] {
                if algorithm == Algorithm::NormalForm && model.observes_refusals_on_the_way() {
                    continue;
                }
                let preprocess = [Preprocess::Nothing, Preprocess::Specification][random.below(2)];
                let plain = Options { algorithm, search, preprocess, ..Options::new(model) };
                let system: &dyn System = &implementation;
                // Prepared in the same way, as sets are counted.
                let asked = Options { symmetry: Some(&STRATEGIES[0]), ..plain };
                let prepared = prepare(&specification, asked, &control).unwrap();
                let expected = prepared.check(system, None, &control).unwrap();
                for strategy in STRATEGIES {
                    let threads = 1 + random.below(2);
                    let options = Options { symmetry: Some(strategy), threads, ..plain };
                    let found = match refine(&specification, system, options, &control) {
                        Ok(found) => found,
                        Err(Unanswered::Refused(_)) if strategy.needs == Needs::SymmetricTypes => {
                            continue;
                        }
                        Err(why) => panic!("{number} {model:?} {algorithm:?} {}: {why}", strategy.name),
                    };
                    let what = format!("{number} {model:?} {algorithm:?} {} {threads}", strategy.name);
                    let length = |outcome: &Outcome| outcome.witness.as_ref().map(|witness| witness.length());
                    assert_eq!(found.holds(), expected.holds(), "{what}");
                    if search == Search::BreadthFirst {
                        assert_eq!(length(&found), length(&expected), "{what}");
                    }
                    let reduction = found.statistics.symmetry.as_deref().expect("it was reduced");
                    if !found.holds() {
                        failing += 1;
                        lassos += usize::from(matches!(found.witness, Some(Witness::Lasso { .. })));
                        assert_eq!(reduction.total, None);
                        continue;
                    }
                    holding += 1;
                    let tests = model.observes_refusals_on_the_way();
                    assert!(
                        algorithm == Algorithm::Antichain || found.statistics.states <= expected.statistics.states,
                        "{what}"
                    );
                    smaller += usize::from(found.statistics.states < expected.statistics.states);
                    if search == Search::DepthFirst || algorithm == Algorithm::Antichain {
                        assert_eq!(reduction.total, None, "{what}");
                        continue;
                    }
                    let chosen = strategy_named(reduction.strategy).unwrap();
                    if chosen.promise == Promise::Exact && !tests {
                        assert_eq!(reduction.total, Some(UBig::from(expected.statistics.states)), "{what}");
                    } else {
                        assert_eq!(reduction.total, None, "{what}");
                    }
                    moved += usize::from(specification.state_count() > 3);
                }
            }
        }
    }
    println!("{holding} hold, {failing} fail, {lassos} lassos, {moved} with larger specifications, {smaller} smaller");
    assert!(holding > 1000 && failing > 1000 && lassos > 50 && moved > 500 && smaller > 500);
}

#[test]
fn reduced_properties_agree_with_unreduced_ones() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    let mut refused = 0;
    for number in 0..200 {
        let mut random = Random::new(seed.wrapping_add(1000 + number));
        let Some((_, system)) = random_pair(&mut random) else { continue };
        let states = system.explore(600).unwrap().state_count();
        let fixed: Vec<LabelId> = (1..system.labels().len() as u32)
            .map(LabelId)
            .filter(|&label| system.generators().iter().all(|one| system.permuted_label(one, label) == label))
            .collect();
        let trace: Vec<LabelId> = (0..random.below(4)).map(|_| fixed[random.below(fixed.len())]).collect();
        for strategy in STRATEGIES {
            let plain = CheckOptions { threads: 1, symmetry: None };
            let options = CheckOptions { threads: 1 + random.below(2), symmetry: Some(strategy) };
            for (model, name) in [Model::Failures, Model::FailuresDivergences]
                .into_iter()
                .flat_map(|model| ["deadlock", "divergence", "determinism", "trace"].map(|name| (model, name)))
            {
                let what = format!("{number} {name} {model:?} {}", strategy.name);
                let run = |options: CheckOptions| match name {
                    "deadlock" => deadlock(&system, model, options, &control),
                    "divergence" => divergence(&system, options, &control),
                    "determinism" => determinism(&system, model, options, &control),
                    _ => has_trace(&system, &trace, model, options, &control),
                };
                let expected = run(plain).unwrap();
                let found = match run(options) {
                    Ok(found) => found,
                    Err(Unanswered::Refused(_)) if strategy.needs == Needs::SymmetricTypes => continue,
                    Err(Unanswered::Refused(why)) if name == "determinism" && model == Model::Failures => {
                        assert!(why.contains("diverges"), "{what}: {why}");
                        refused += 1;
                        continue;
                    }
                    Err(why) => panic!("{what}: {why}"),
                };
                *counts.entry((name, found.holds())).or_default() += 1;
                assert_eq!(found.holds(), expected.holds(), "{what}");
                let length = |outcome: &Outcome| outcome.witness.as_ref().map(|witness| witness.length());
                assert_eq!(length(&found), length(&expected), "{what}");
                let lasso = |outcome: &Outcome| matches!(outcome.witness, Some(Witness::Lasso { .. }));
                assert_eq!(lasso(&found), lasso(&expected), "{what}");
                let reduction = found.statistics.symmetry.as_deref().expect("it was reduced");
                let exact = strategy_named(reduction.strategy).unwrap().promise == Promise::Exact;
                if found.holds() && name != "trace" && exact {
                    assert_eq!(reduction.total, Some(UBig::from(states)), "{what}");
                }
                assert_eq!(found.run.is_some(), expected.run.is_some(), "{what}");
            }
        }
    }
    println!("{counts:?}, {refused} refused");
    for name in ["deadlock", "divergence", "determinism", "trace"] {
        for holds in [false, true] {
            assert!(counts.get(&(name, holds)).is_some_and(|&count| count > 80), "{name} {holds}");
        }
    }
}

#[test]
fn a_trace_that_a_symmetry_moves_is_not_followed_among_representatives() {
    let control = Control::unlimited();
    let mut random = Random::new(4);
    let found = (0..).find_map(|_| {
        let (_, system) = random_pair(&mut random)?;
        let moved =
            |label: &LabelId| system.generators().iter().any(|one| system.permuted_label(one, *label) != *label);
        let event = (1..system.labels().len() as u32).map(LabelId).find(moved)?;
        Some((system, event))
    });
    let (system, event) = found.unwrap();
    let options = CheckOptions { threads: 1, symmetry: Some(&STRATEGIES[0]) };
    match has_trace(&system, &[event], Model::Traces, options, &control) {
        Err(Unanswered::Refused(why)) => assert!(why.contains("carries e"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// `labels[l]` is the image of `l`.
fn label_map(system: &Processes, element: &[u32]) -> Vec<LabelId> {
    (0..system.labels().len() as u32).map(|label| system.permuted_label(element, LabelId(label))).collect()
}

#[test]
fn a_specification_admits_what_carries_it_to_itself() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let (mut admitted, mut refused) = (0, 0);
    for number in 0..300 {
        let mut random = Random::new(seed.wrapping_add(number));
        let Some((specification, implementation)) = random_pair(&mut random) else { continue };
        let lopsided = {
            // The labels of a symmetric system, somewhere else.
            let shape = RandomShape { states: 4, transitions: 8, labels: 2, tau_percent: 10 };
            let random_one = random_lts(specification.labels(), shape, &mut random);
            let names: Vec<LabelId> = (2..specification.labels().len() as u32).map(LabelId).collect();
            let mut builder = trefoil_lts::LtsBuilder::new(specification.labels().clone());
            for (source, step) in random_one.all_transitions() {
                let label = if step.label == LabelId::TAU { step.label } else { names[random.below(names.len())] };
                builder.add(source, label, step.target);
            }
            builder.build(random_one.initial())
        };
        for model in MODELS {
            let mut answers = Vec::new();
            for algorithm in [Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Antichain] {
                let options = Options {
                    algorithm,
                    symmetry: Some(&STRATEGIES[0]),
                    search: Search::BreadthFirst,
                    ..Options::new(model)
                };
                let own = prepare(&specification, options, &control).unwrap();
                let other = prepare(&lopsided, options, &control).unwrap();
                for generator in implementation.generators() {
                    let labels = label_map(&implementation, generator);
                    assert_eq!(own.admits(&labels, &control).unwrap(), Ok(()), "{number} {model:?} {algorithm:?}");
                    let answer = other.admits(&labels, &control).unwrap();
                    if let Err(obstacle) = &answer {
                        assert!(!obstacle.describe(specification.labels()).is_empty());
                    }
                    let direct = permuted_equal(&lopsided, &labels, model);
                    if algorithm == Algorithm::NormalForm {
                        assert_eq!(answer.is_ok(), direct, "{number} {model:?} {answer:?} {lopsided:?}");
                    } else {
                        // Bisimilarity is finer.
                        assert!(answer.is_err() || direct, "{number} {model:?} {algorithm:?}");
                    }
                    answers.push(answer.is_ok());
                }
            }
            admitted += answers.iter().filter(|&&answer| answer).count();
            refused += answers.iter().filter(|&&answer| !answer).count();
        }
    }
    assert!(admitted > 20 && refused > 500, "{admitted} admitted, {refused} refused");
}

/// Do a system and its image refine each other?
fn permuted_equal(lts: &Lts, labels: &[LabelId], model: Model) -> bool {
    let mut builder = trefoil_lts::LtsBuilder::new(lts.labels().clone());
    builder.at_least(lts.state_count() as u32);
    for (source, step) in lts.all_transitions() {
        builder.add(source, labels[step.label.index()], step.target);
    }
    let image = builder.build(lts.initial());
    let shortest = trefoil_testkit::refinement::shortest_violation;
    shortest(lts, &image, model).is_none() && shortest(&image, lts, model).is_none()
}

#[test]
fn what_cannot_be_reduced_is_refused() {
    let control = Control::unlimited();
    let mut random = Random::new(4);
    let (specification, implementation) = (0..).find_map(|_| random_pair(&mut random)).unwrap();
    let options = Options { symmetry: Some(&STRATEGIES[0]), ..Options::new(Model::Traces) };
    let refused = |outcome: Result<Outcome, Unanswered>| match outcome {
        Err(Unanswered::Refused(why)) => why.into_owned(),
        other => panic!("{other:?}"),
    };
    assert!(refused(refine(&specification, &specification, options, &control)).contains("no symmetry"));
    let minimised = Options { preprocess: Preprocess::Both, ..options };
    assert!(refused(refine(&specification, &implementation as &dyn System, minimised, &control)).contains("minimised"));
}
