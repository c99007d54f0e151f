//! Chased and prioritised networks against the definitions; as they are, and as components of other networks.

#[path = "support/layered.rs"]
mod layered;
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use layered::{counter, explored, random_layer, random_priorities};
use support::{Case, graph, random_case};
use trefoil_control::{Control, Limits, Stopped};
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_network::{Component, Format, FormatId, LazyMachine, Network, Priorities, Rule};
use trefoil_system::{Checked, Cut, LabelId, Labels, System};
use trefoil_testkit::layers::{is_stable, prioritised, wrong_chase};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

fn is_above(priorities: &Priorities, high: LabelId, low: LabelId) -> bool {
    match priorities {
        Priorities::Ranks(ranks) => {
            let rank = |label: LabelId| if label <= LabelId::TICK { Some(0) } else { ranks.get(&label).copied() };
            matches!((rank(high), rank(low)), (Some(high), Some(low)) if high < low)
        }
        Priorities::Above(above) => above.get(&low).is_some_and(|list| list.contains(&high)),
    }
}

/// The initial row, with the format as the last entry even when there is only one.
fn initial(network: &Network, components: usize) -> Vec<u32> {
    let mut row = network.initial(&Control::unlimited()).expect("nothing stops it");
    row.resize(components + 1, 0);
    row
}

fn chased(network: Network) -> Network {
    network.chased(&Control::unlimited()).expect("nothing stops it")
}

#[test]
fn priority_takes_away_what_the_definition_takes_away() {
    let seed = seed();
    let mut random = Random::new(seed ^ 1);
    let mut smaller = 0;
    for number in 0..1500 {
        let Case { components, naive, network } = random_case(&mut random);
        let priorities = random_priorities(&network, &mut random);
        let product = naive.product(&components);
        let start = initial(&network, components.len());
        let expected = prioritised(&product, &start, &|high, low| is_above(&priorities, high, low));
        let network = network.prioritised(&priorities);
        let context = || format!("seed {seed} case {number}\n{components:?}\n{naive:?}\n{priorities:?}");
        assert_eq!(graph(&network, components.len(), [1, 2][number % 2]), expected, "{}", context());
        let steps =
            |product: &trefoil_testkit::composition::NaiveProduct| product.values().map(BTreeSet::len).sum::<usize>();
        smaller += usize::from(steps(&expected) < steps(&product));
        let checked = Checked::new(network);
        assert_eq!(graph(&checked, components.len(), 1), expected, "{}", context());
    }
    assert!(smaller > 300, "too tame: {smaller}");
}

#[test]
fn a_chase_goes_where_the_definition_lets_it() {
    let seed = seed();
    let mut random = Random::new(seed ^ 2);
    let (mut moved, mut diverging) = (0, 0);
    for number in 0..1500 {
        let Case { components, naive, network } = random_case(&mut random);
        let product = naive.product(&components);
        let start = initial(&network, components.len());
        let network = chased(network);
        let begin = initial(&network, components.len());
        let found = graph(&network, components.len(), [1, 2][number % 2]);
        let context = || format!("seed {seed} case {number}\n{components:?}\n{naive:?}");
        if let Some(why) = wrong_chase(&product, &start, &found, &begin) {
            panic!("{why}\n{}", context());
        }
        for (state, steps) in &found {
            let width = network.layout().width();
            for (label, target) in steps {
                let explained = network.explain(&state[..width], *label, &target[..width], &Control::unlimited());
                assert!(
                    explained.expect("nothing stops it").is_some(),
                    "{state:?} {label:?} {target:?}\n{}",
                    context()
                );
            }
        }
        moved += usize::from(found.len() > 2 && found.keys().len() < product.len());
        diverging += usize::from(found.keys().any(|state| !is_stable(&product, state)));
        let checked = Checked::new(network);
        assert_eq!(graph(&checked, components.len(), 1), found, "{}", context());
    }
    assert!(moved > 200 && diverging > 100, "too tame: {moved} {diverging}");
}

fn layer(labels: &Arc<Labels>, random: &mut Random) -> Network {
    random_layer(labels, random, &Control::unlimited()).expect("nothing stops it")
}

/// The same network with components given.
fn around(labels: &Arc<Labels>, components: Vec<Component>, formats: &[Vec<Rule>]) -> Network {
    let formats = formats.iter().map(|rules| Format { name: "f".into(), rules: rules.clone() }).collect();
    Network::with_formats(labels.clone(), components, formats, FormatId(0)).expect("small")
}

#[test]
fn a_lazy_component_does_what_the_enumerated_one_does() {
    let seed = seed();
    let mut random = Random::new(seed ^ 3);
    let mut large = 0;
    for number in 0..600 {
        let labels = Arc::new(Labels::new());
        let layers: Vec<Arc<Network>> =
            (0..1 + random.below(2)).map(|_| Arc::new(layer(&labels, &mut random))).collect();
        let shape = RandomShape { states: 3, transitions: 7, labels: 3, tau_percent: 10 };
        let beside = Arc::new(random_lts(&labels, shape, &mut random));
        let names: Vec<LabelId> = layers.iter().flat_map(|layer| layer.alphabet()).collect();
        let more: Vec<LabelId> = beside.transitions().iter().map(|transition| transition.label).collect();
        let count = layers.len() + 1;
        let format_count = 1 + random.below(2);
        let mut formats = Vec::new();
        for _ in 0..format_count {
            let mut rules = Vec::new();
            for _ in 0..3 + random.below(8) {
                let mut parts = Vec::new();
                for component in 0..count {
                    let own = if component < layers.len() { &names } else { &more };
                    if !own.is_empty() && random.chance(50) {
                        parts.push((component, own[random.below(own.len())]));
                    }
                }
                let seen = [LabelId::TAU, labels.name("x"), labels.name("y")][random.below(3)];
                let resets: Vec<usize> = (0..count).filter(|_| random.chance(10)).collect();
                let rule = Rule::new(parts, seen).with_resets(resets);
                rules.push(rule.to(FormatId(random.below(format_count) as u32)));
            }
            formats.push(rules);
        }
        let named = |index: usize| format!("layer {index}");
        let lazy = layers
            .iter()
            .enumerate()
            .map(|(index, layer)| Component::lazy(named(index), Arc::new(LazyMachine::new(layer.clone()))));
        let last = Component::new("beside", beside.clone());
        let lazy = around(&labels, lazy.chain([last.clone()]).collect(), &formats);
        let whole =
            layers.iter().enumerate().map(|(index, layer)| Component::new(named(index), Arc::new(explored(layer, 1))));
        let whole = around(&labels, whole.chain([last]).collect(), &formats);
        let (left, right) = (explored(&lazy, [1, 2][number % 2]), explored(&whole, 1));
        large += usize::from(right.state_count() > 10);
        assert_eq!(left.state_count(), right.state_count(), "seed {seed} case {number}");
        let verdict = compare(&left, &right, Equivalence::Strong, &Control::unlimited());
        assert!(verdict.is_ok_and(|verdict| verdict.equivalent), "seed {seed} case {number}");
        let checked = Checked::new(lazy);
        let again = graph(&checked, count, 1);
        assert_eq!(again.len(), left.state_count(), "seed {seed} case {number}");
    }
    assert!(large > 100, "too tame: {large}");
}

#[test]
fn long_chases_end_where_they_should() {
    let control = Control::unlimited();
    assert_eq!(chased(counter(16, false)).initial(&control), Ok(vec![1; 16]));
    let round = chased(counter(12, true));
    assert_eq!(round.initial(&control), Ok(vec![0; 12]), "the least row of the cycle");
    assert_eq!(explored(&round, 1).transition_count(), 1);
}

#[test]
fn a_chase_that_never_ends_is_stopped() {
    for wraps in [false, true] {
        let control = Control::new(Limits { time: Some(Duration::from_millis(50)), memory: None });
        let begin = Instant::now();
        assert_eq!(counter(60, wraps).chased(&control).err(), Some(Cut::Stopped));
        assert!(begin.elapsed() < Duration::from_secs(5), "it took {:?}", begin.elapsed());
        assert!(matches!(control.why(), Stopped::Timeout { .. }));
    }
}
