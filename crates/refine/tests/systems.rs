//! Implementations that are explored on the fly, generalised systems, several threads, budgets.

mod support;

use std::sync::Arc;

use support::TwoSlots;
use trefoil_control::{Control, Stopped};
use trefoil_lts::{Glts, LazyNormalForm, Lts, LtsBuilder, normalise};
use trefoil_refine::{Algorithm, Implementation, Options, Preprocess, Search, Specification, Unanswered, refine};
use trefoil_system::{Checked, Cut, Labels, Model, StateId, System};
use trefoil_testkit::refinement::{random_pair, shortest_violation};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic];

fn plain(model: Model) -> Options {
    Options { preprocess: Preprocess::Nothing, ..Options::new(model) }
}

fn length<'a>(
    specification: impl Into<Specification<'a>>,
    implementation: impl Into<Implementation<'a>>,
    options: Options,
) -> Option<usize> {
    let outcome = refine(specification, implementation, options, &Control::unlimited()).unwrap();
    outcome.witness.map(|witness| witness.length())
}

fn pairs(count: u64) -> impl Iterator<Item = (u64, Lts, Lts)> {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    (0..count).map(move |number| {
        let mut random = Random::new(seed.wrapping_add(number));
        let (specification, implementation) = random_pair(&Arc::new(Labels::new()), &mut random);
        (number, specification, implementation)
    })
}

#[test]
fn systems_explored_on_the_fly_give_the_same_lengths() {
    for (number, specification, implementation) in pairs(400) {
        let lengths = MODELS.map(|model| shortest_violation(&specification, &implementation, model));
        let system = Checked::new(TwoSlots::new(implementation));
        let system: &dyn System = &system;
        let given = Checked::new(TwoSlots::new(specification.clone()));
        let given: &dyn System = &given;
        for (model, expected) in MODELS.into_iter().zip(lengths) {
            for algorithm in ALGORITHMS {
                for (threads, preprocess) in
                    [(1, Preprocess::Nothing), (2, Preprocess::Nothing), (1, Preprocess::Implementation)]
                {
                    let options = Options { algorithm, threads, preprocess, ..plain(model) };
                    assert_eq!(length(&specification, system, options), expected, "pair {number} {options:?}");
                    assert_eq!(length(given, system, options), expected, "pair {number} {options:?}");
                }
            }
        }
    }
}

#[test]
fn threads_do_not_change_lengths() {
    for (number, specification, implementation) in pairs(400) {
        for model in MODELS {
            let expected = shortest_violation(&specification, &implementation, model);
            for algorithm in ALGORITHMS {
                for preprocess in [Preprocess::Nothing, Preprocess::Both] {
                    let options = Options { algorithm, preprocess, threads: 2, ..plain(model) };
                    assert_eq!(length(&specification, &implementation, options), expected, "pair {number} {options:?}");
                }
            }
        }
    }
}

#[test]
fn generalised_systems_behave_as_what_they_stand_for() {
    let control = Control::unlimited();
    for (number, specification, implementation) in pairs(400) {
        let general = |lts: &Lts| Glts::from_lts(lts.clone(), &control).unwrap();
        let (general_spec, general_imp) = (general(&specification), general(&implementation));
        for model in MODELS {
            let expected = shortest_violation(&specification, &implementation, model);
            let normal = |lts: &Lts| {
                let lazy = LazyNormalForm::new(lts, model, &control).unwrap();
                normalise(&lazy, lts.labels(), &control).unwrap()
            };
            let (normal_spec, normal_imp) = (normal(&specification), normal(&implementation));
            for (algorithm, threads) in ALGORITHMS.into_iter().zip([1, 2, 1, 2]) {
                let options = Options { algorithm, threads, ..plain(model) };
                let explored = Specification::System(&general_spec);
                let specifications = [(&specification).into(), (&general_spec).into(), (&normal_spec).into(), explored];
                for spec in specifications {
                    for imp in [Implementation::from(&implementation), (&general_imp).into(), (&normal_imp).into()] {
                        assert_eq!(length(spec, imp, options), expected, "pair {number} {options:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_carries_its_own_acceptances_is_not_preprocessed() {
    let (_, specification, implementation) = pairs(1).next().unwrap();
    let control = Control::unlimited();
    let general = Glts::from_lts(specification, &control).unwrap();
    let options = Options { preprocess: Preprocess::Specification, ..plain(Model::Traces) };
    let refused = refine(&general, &implementation, options, &control);
    assert!(matches!(refused, Err(Unanswered::Refused(_))));
}

#[test]
fn a_stopped_check_tells_what_it_counted() {
    let (_, specification, implementation) = pairs(1).next().unwrap();
    let control = Control::unlimited();
    control.cancel();
    for algorithm in ALGORITHMS {
        for search in [Search::BreadthFirst, Search::DepthFirst] {
            for threads in [1, 2] {
                let options = Options { algorithm, search, threads, ..plain(Model::Traces) };
                match refine(&specification, &implementation, options, &control) {
                    Err(Unanswered::Cut { cut, statistics }) => {
                        assert_eq!((cut, control.why()), (Cut::Stopped, Stopped::Interrupted));
                        assert!(statistics.states <= 1, "{statistics:?}");
                    }
                    other => panic!("{options:?}: {other:?}"),
                }
            }
        }
    }
}

/// Sets of more than 64 states are compared state by state.
#[test]
fn algorithms_agree_on_specifications_with_more_than_64_states() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let mut violated = 0;
    for number in 0..120 {
        let mut random = Random::new(seed.wrapping_add(number));
        let labels = Arc::new(Labels::new());
        let states = 65 + random.below(100) as u32;
        let shape = RandomShape { states, transitions: states as usize * 2, labels: 3, tau_percent: 10 };
        let specification = random_lts(&labels, shape, &mut random);
        // Two copies whose transitions lead to either, and half of the time a few that lead anywhere.
        let mut builder = LtsBuilder::new(labels);
        for (source, step) in specification.all_transitions().chain(specification.all_transitions()) {
            let source = StateId(source.0 + states * random.below(2) as u32);
            let astray = number % 2 == 0 && random.chance(1);
            let target = if astray { random.below(states as usize) as u32 } else { step.target.0 };
            builder.add(source, step.label, StateId(target + states * random.below(2) as u32));
        }
        let implementation = builder.build(StateId(0));
        for model in MODELS {
            let [antichain, full, lazy, automatic] = ALGORITHMS
                .map(|algorithm| length(&specification, &implementation, Options { algorithm, ..plain(model) }));
            assert_eq!((antichain, full, automatic), (lazy, lazy, lazy), "pair {number} {model:?}");
            violated += usize::from(lazy.is_some());
        }
    }
    assert!((36..324).contains(&violated), "{violated} of 360 do not hold");
}
