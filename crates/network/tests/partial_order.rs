//! Reduced networks against the networks: the same traces, failures and divergences by their definitions, the same
//! deadlocks, on any number of threads.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use support::{graph, random_case};
use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, Network, PartialOrder, Preserve, Rule};
use trefoil_system::{LabelId, Labels, Model, StateId, System};
use trefoil_testkit::composition::NaiveProduct;
use trefoil_testkit::refinement::shortest_violation;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

/// A graph as an LTS, from the row of the system's initial state.
fn explicit(product: &NaiveProduct, system: &dyn System, components: usize) -> Lts {
    let mut initial = system.initial(&Control::unlimited()).expect("nothing stops it");
    initial.resize(components + 1, 0);
    let number: BTreeMap<&Vec<u32>, u32> = product.keys().enumerate().map(|(at, row)| (row, at as u32)).collect();
    let mut builder = LtsBuilder::new(system.labels().clone());
    for (row, steps) in product {
        builder.at_least(number[row] + 1);
        for (label, target) in steps {
            builder.add(StateId(number[row]), *label, StateId(number[target]));
        }
    }
    builder.build(StateId(number[&initial]))
}

fn deadlocks(product: &NaiveProduct) -> BTreeSet<&Vec<u32>> {
    product.iter().filter(|(_, steps)| steps.is_empty()).map(|(row, _)| row).collect()
}

/// Checks one network; the numbers of states and of those that the two reductions leave.
fn check(network: &Network, components: usize, whole: &NaiveProduct, context: &str) -> [usize; 3] {
    let mut counts = [whole.len(), 0, 0];
    for (at, preserve) in [Preserve::Deadlocks, Preserve::Everything].into_iter().enumerate() {
        let reduced = PartialOrder::new(network, preserve).expect("no layer");
        let less = graph(&reduced, components, 1);
        assert_eq!(less, graph(&reduced, components, 2), "{context}: threads");
        for (row, steps) in &less {
            assert!(steps.is_subset(&whole[row]), "{context}: {preserve:?} at {row:?}");
            assert_eq!(steps.is_empty(), whole[row].is_empty(), "{context}: {preserve:?} at {row:?}");
        }
        assert_eq!(deadlocks(&less), deadlocks(whole), "{context}: {preserve:?}");
        counts[at + 1] = less.len();
        if preserve == Preserve::Everything && whole.len() <= 64 {
            let (before, after) = (explicit(whole, network, components), explicit(&less, &reduced, components));
            for model in [Model::Traces, Model::Failures, Model::FailuresDivergences] {
                for (one, other) in [(&before, &after), (&after, &before)] {
                    let found = shortest_violation(one, other, model);
                    assert_eq!(found, None, "{context}: {model:?} of {before:?} reduced to {after:?}");
                }
            }
        }
    }
    counts
}

#[test]
fn networks_with_formats_and_resets_keep_their_semantics() {
    let seed = seed();
    let mut random = Random::new(seed);
    for round in 0..1500 {
        let case = random_case(&mut random);
        let whole = case.naive.product(&case.components);
        if whole.len() <= 300 {
            check(&case.network, case.components.len(), &whole, &format!("TREFOIL_SEED={seed} round {round}"));
        }
    }
}

/// Components that work mostly for themselves or with one other, much of it hidden.
fn loose_network(random: &mut Random) -> Network {
    let labels = Arc::new(Labels::new());
    let count = 2 + random.below(3);
    let parts: Vec<Arc<Lts>> = (0..count)
        .map(|_| {
            let states = 1 + random.below(3) as u32;
            let shape = RandomShape { states, transitions: 1 + random.below(5), labels: 3, tau_percent: 25 };
            Arc::new(random_lts(&labels, shape, random))
        })
        .collect();
    let shown = [labels.name("x"), labels.name("y"), LabelId::TICK];
    let mut rules = Vec::new();
    for (component, lts) in parts.iter().enumerate() {
        let own: BTreeSet<LabelId> = lts.all_transitions().map(|(_, step)| step.label).collect();
        for label in own {
            let seen = if random.chance(60) { LabelId::TAU } else { shown[random.below(3)] };
            if label == LabelId::TAU || random.chance(40) {
                rules.push(Rule::new([(component, label)], if label == LabelId::TAU { label } else { seen }));
            } else if random.chance(80) {
                let other = (component + 1 + random.below(count - 1)) % count;
                rules.push(Rule::new([(component, label), (other, label)], seen));
            }
        }
    }
    let component = |(at, lts): (usize, Arc<Lts>)| Component::new(format!("c{at}"), lts);
    Network::new(labels, parts.into_iter().enumerate().map(component).collect(), rules).expect("small components")
}

#[test]
fn loosely_coupled_networks_keep_their_semantics_and_shrink() {
    let seed = seed() + 1;
    let mut random = Random::new(seed);
    let mut sums = [0; 3];
    for round in 0..4000 {
        let network = loose_network(&mut random);
        let components = network.components().len();
        let whole = graph(&network, components, 1);
        let counts = check(&network, components, &whole, &format!("TREFOIL_SEED={} round {round}", seed - 1));
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sums[1] * 10 < sums[0] * 8 && sums[2] * 10 < sums[0] * 9, "{sums:?}");
}

/// Components with these steps from state 0 on, each alone or with a fork.
fn workers(count: usize, hidden: bool) -> Network {
    let labels = Arc::new(Labels::new());
    let (work, done) = (labels.name("work"), labels.name("done"));
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..3 {
        builder.add(StateId(state), work, StateId(state + 1));
    }
    builder.add(StateId(3), done, StateId(0));
    let worker = Arc::new(builder.build(StateId(0)));
    let components = (0..count).map(|at| Component::new(format!("w{at}"), worker.clone())).collect();
    let mut rules: Vec<Rule> = vec![Rule::new((0..count).map(|at| (at, done)), done)];
    let seen = if hidden { LabelId::TAU } else { work };
    rules.extend((0..count).map(|at| Rule::new([(at, work)], seen)));
    Network::new(labels, components, rules).expect("small components")
}

#[test]
fn independent_work_is_done_in_one_order() {
    let size = |network: &Network, preserve| {
        graph(&PartialOrder::new(network, preserve).expect("no layer"), network.components().len(), 2).len()
    };
    // Five workers with three steps each: 4^5 states; one order passes through 3 · 5 + 1 of them.
    assert_eq!(graph(&workers(5, true), 5, 1).len(), 1024);
    assert_eq!(size(&workers(5, true), Preserve::Everything), 16);
    assert_eq!(size(&workers(5, false), Preserve::Everything), 1024);
    assert_eq!(size(&workers(5, false), Preserve::Deadlocks), 16);
}

#[test]
fn a_hidden_loop_does_not_starve_the_others() {
    // One component only turns round inside; the other has something to say.
    let labels = Arc::new(Labels::new());
    let (turn, say) = (labels.name("turn"), labels.name("say"));
    let mut loops = LtsBuilder::new(labels.clone());
    loops.add(StateId(0), turn, StateId(1)).add(StateId(1), turn, StateId(0));
    let mut speaks = LtsBuilder::new(labels.clone());
    speaks.add(StateId(0), say, StateId(1));
    let components = vec![
        Component::new("loops", Arc::new(loops.build(StateId(0)))),
        Component::new("speaks", Arc::new(speaks.build(StateId(0)))),
    ];
    let rules = vec![Rule::new([(0, turn)], LabelId::TAU), Rule::new([(1, say)], say)];
    let network = Network::new(labels, components, rules).expect("small components");
    let reduced = PartialOrder::new(&network, Preserve::Everything).expect("no layer");
    let steps: usize =
        graph(&reduced, 2, 1).values().map(|steps| steps.iter().filter(|step| step.0 == say).count()).sum();
    assert_eq!(steps, 1, "it is said, and where the loop closes");
}

#[test]
fn a_rule_that_puts_a_component_back_belongs_to_its_cluster() {
    // After `open`, `meet` is silent and for both of the first two, and nothing else is possible there but `renew`,
    // which is done by the third and puts the first one back. Then they can leave, unless they have met: so `meet` must
    // not be the only step.
    let labels = Arc::new(Labels::new());
    let [open, leave, meet, renew] = ["open", "leave", "meet", "renew"].map(|name| labels.name(name));
    let component = |name: &str, steps: &[(u32, LabelId, u32)]| {
        let mut builder = LtsBuilder::new(labels.clone());
        for &(from, label, to) in steps {
            builder.add(StateId(from), label, StateId(to));
        }
        Component::new(name, Arc::new(builder.build(StateId(0))))
    };
    let components = vec![
        component("first", &[(0, open, 1), (0, leave, 3), (1, meet, 2)]),
        component("second", &[(0, meet, 1), (0, leave, 2)]),
        component("third", &[(0, renew, 1)]),
    ];
    let rules = vec![
        Rule::new([(0, open)], open),
        Rule::new([(0, leave), (1, leave)], leave),
        Rule::new([(0, meet), (1, meet)], LabelId::TAU),
        Rule::new([(2, renew)], renew).with_resets([0]),
    ];
    let network = Network::new(labels.clone(), components, rules).expect("small components");
    check(&network, 3, &graph(&network, 3, 1), "a rule that resets");
}

#[test]
fn layers_are_refused() {
    let network = workers(2, true).chased(&Control::unlimited()).expect("nothing stops it");
    assert!(PartialOrder::new(&network, Preserve::Everything).is_err());
}
