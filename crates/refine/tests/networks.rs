//! Random networks, against the definitions on what they stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, Format, FormatId, Network, Rule};
use trefoil_refine::{
    Algorithm, CheckOptions, Options, Preprocess, Search, Specification, deadlock, determinism, divergence, has_trace,
    refine,
};
use trefoil_system::{Checked, LabelId, Labels, Model, StateId, System};
use trefoil_testkit::composition::NaiveProduct;
use trefoil_testkit::networks::{NaiveNetwork, NaiveRule};
use trefoil_testkit::properties::{shortest_deadlock, shortest_divergence, shortest_nondeterminism, trace_that_it_has};
use trefoil_testkit::refinement::shortest_violation;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic];

/// A network, and what the definition makes of it.
struct Case {
    network: Network,
    expanded: Lts,
}

/// A random network that stands for at most `most` states.
fn random_case(labels: &Arc<Labels>, most: usize, random: &mut Random) -> Case {
    loop {
        let components: Vec<Lts> = (0..1 + random.below(3))
            .map(|_| {
                let states = 1 + random.below(4);
                let transitions = states + random.below(6);
                let shape = RandomShape { states: states as u32, transitions, labels: 3, tau_percent: 10 };
                random_lts(labels, shape, random)
            })
            .collect();
        let seen = ["tau", "x", "y"].map(|name| labels.name(name));
        let formats = 1 + random.below(2);
        let rule = |random: &mut Random| {
            let part = |lts: &Lts, random: &mut Random| {
                let steps = lts.transitions();
                (!steps.is_empty() && random.chance(60)).then(|| steps[random.below(steps.len())].label)
            };
            NaiveRule {
                parts: components.iter().map(|lts| part(lts, random)).collect(),
                label: seen[random.below(seen.len())],
                resets: (0..components.len()).filter(|_| random.chance(10)).collect(),
                next: random.below(formats),
            }
        };
        let naive = NaiveNetwork {
            formats: (0..formats).map(|_| (0..2 + random.below(7)).map(|_| rule(random)).collect()).collect(),
            initial: 0,
        };
        let product = naive.product(&components);
        if product.len() <= most {
            let expanded = explicit(labels, &product, &components);
            return Case { network: network(labels, &naive, components), expanded };
        }
    }
}

fn network(labels: &Arc<Labels>, naive: &NaiveNetwork, components: Vec<Lts>) -> Network {
    let rule = |rule: &NaiveRule| {
        let parts = rule.parts.iter().enumerate().filter_map(|(component, part)| Some((component, (*part)?)));
        Rule::new(parts, rule.label).with_resets(rule.resets.iter().copied()).to(FormatId(rule.next as u32))
    };
    let formats = naive
        .formats
        .iter()
        .enumerate()
        .map(|(number, rules)| Format { name: format!("f{number}"), rules: rules.iter().map(rule).collect() });
    let named = |(index, lts)| Component::new(format!("c{index}"), Arc::new(lts));
    let components = components.into_iter().enumerate().map(named).collect();
    Network::with_formats(labels.clone(), components, formats.collect(), FormatId(0)).expect("a small network")
}

fn explicit(labels: &Arc<Labels>, product: &NaiveProduct, components: &[Lts]) -> Lts {
    let number: BTreeMap<&Vec<u32>, u32> = product.keys().zip(0..).collect();
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(product.len() as u32);
    for (source, steps) in product {
        for (label, target) in steps {
            builder.add(StateId(number[source]), *label, StateId(number[target]));
        }
    }
    let mut initial: Vec<u32> = components.iter().map(|lts| lts.initial().0).collect();
    initial.push(0);
    builder.build(StateId(number[&initial]))
}

/// A specification that allows what a system does, or nearly.
fn nearby(lts: &Lts, random: &mut Random) -> Lts {
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(lts.state_count() as u32);
    for (source, step) in lts.all_transitions() {
        if !random.chance(2) {
            builder.add(source, step.label, step.target);
        }
    }
    for _ in 0..random.below(4) {
        let mut any = || StateId(random.below(lts.state_count()) as u32);
        let (source, target) = (any(), any());
        let label = [LabelId::TAU, lts.labels().name("x"), lts.labels().name("y")][random.below(3)];
        builder.add(source, label, target);
    }
    builder.build(lts.initial())
}

#[test]
fn refinement_of_networks_agrees_with_the_definitions() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut held = [0; 7];
    for number in 0..400 {
        let mut random = Random::new(seed.wrapping_add(number));
        let labels = Arc::new(Labels::new());
        let case = random_case(&labels, 12, &mut random);
        let other = random_case(&labels, 10, &mut random);
        let near = nearby(&case.expanded, &mut random);
        let network = Checked::new(case.network);
        let implementation: &dyn System = &network;
        let related = number % 4 != 0;
        let specification = if related { &near } else { &other.expanded };
        for model in Model::ALL {
            let expected = shortest_violation(specification, &case.expanded, model);
            held[model as usize] += usize::from(expected.is_none());
            for algorithm in ALGORITHMS {
                if algorithm == Algorithm::NormalForm && model.observes_refusals_on_the_way() {
                    continue;
                }
                for threads in [1, 2] {
                    for search in [Search::BreadthFirst, Search::DepthFirst] {
                        let preprocess = [Preprocess::Nothing, Preprocess::Specification][random.below(2)];
                        let options = Options { model, algorithm, search, preprocess, threads, symmetry: None };
                        let given = if related {
                            Specification::from(specification)
                        } else {
                            Specification::System(&other.network)
                        };
                        let outcome = refine(given, implementation, options, &control).unwrap();
                        let length = outcome.witness.as_ref().map(|witness| witness.length());
                        let place = format!("TREFOIL_SEED={seed} network {number} {options:?}\n{:?}", case.expanded);
                        match search {
                            Search::BreadthFirst => assert_eq!(length, expected, "{place}"),
                            Search::DepthFirst => assert_eq!(length.is_some(), expected.is_some(), "{place}"),
                        }
                    }
                }
            }
        }
    }
    println!("{held:?} of 400 hold");
    assert!(held.iter().all(|count| (40..360).contains(count)), "too one-sided: {held:?}");
}

#[test]
fn properties_of_networks_agree_with_the_definitions() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut violated = BTreeMap::<&str, usize>::new();
    for number in 0..1500 {
        let mut random = Random::new(seed.wrapping_mul(3).wrapping_add(number));
        let case = random_case(&Arc::new(Labels::new()), 30, &mut random);
        let network = Checked::new(case.network);
        let lts = &case.expanded;
        let place = format!("TREFOIL_SEED={seed} network {number}\n{lts:?}");
        let expected_divergence = shortest_divergence(lts);
        let expected_nondeterminism = shortest_nondeterminism(lts);
        for threads in [1, 2] {
            let options = CheckOptions { threads, ..CheckOptions::default() };
            let mut check = |what: &'static str, outcome: Result<trefoil_refine::Outcome, _>, expected| {
                let found = outcome.map(|outcome| outcome.witness.map(|witness| witness.length()));
                assert_eq!(
                    found.map_err(|why: trefoil_refine::Unanswered| why.to_string()),
                    Ok(expected),
                    "{what} {place}"
                );
                *violated.entry(what).or_default() += usize::from(expected.is_some());
            };
            for (name, model) in [("deadlock F", Model::Failures), ("deadlock FD", Model::FailuresDivergences)] {
                check(name, deadlock(&network, model, options, &control), shortest_deadlock(lts, model));
            }
            check("divergence", divergence(&network, options, &control), expected_divergence);
            check("determinism", determinism(&network, Model::Failures, options, &control), expected_nondeterminism);
            let both = determinism(&network, Model::FailuresDivergences, options, &control).unwrap();
            assert_eq!(both.holds(), expected_divergence.or(expected_nondeterminism).is_none(), "{place}");
        }
        let events: BTreeSet<LabelId> = lts.all_transitions().map(|(_, step)| step.label).collect();
        let events: Vec<LabelId> = events.into_iter().filter(|label| label.is_visible()).collect();
        if !events.is_empty() {
            let trace: Vec<LabelId> = (0..random.below(5)).map(|_| events[random.below(events.len())]).collect();
            for model in MODELS {
                let outcome = has_trace(&network, &trace, model, CheckOptions::default(), &control).unwrap();
                let length = outcome.witness.as_ref().map_or(trace.len(), |witness| witness.length());
                assert_eq!(length, trace_that_it_has(lts, &trace, model), "{trace:?} {place}");
                assert_eq!(outcome.holds(), length == trace.len(), "{trace:?} {place}");
            }
        }
    }
    println!("violated of 3000: {violated:?}");
    assert!(violated.values().all(|count| (300..2700).contains(count)), "too one-sided: {violated:?}");
}
