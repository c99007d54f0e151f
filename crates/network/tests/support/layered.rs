//! Networks under layers; no test uses all of it.
#![allow(dead_code)]

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, Network, Priorities, Rule, compose};
use trefoil_system::{Cut, LabelId, Labels, StateId};
use trefoil_testkit::{Random, RandomShape, random_lts};

/// Ranks for some labels, or a partial order of them in which `τ` and `✓` are above some.
pub(crate) fn random_priorities(network: &Network, random: &mut Random) -> Priorities {
    let labels: Vec<LabelId> = network.alphabet().into_iter().filter(|&label| label > LabelId::TICK).collect();
    if random.chance(50) {
        let ranked: Vec<LabelId> = labels.into_iter().filter(|_| random.chance(70)).collect();
        return Priorities::Ranks(ranked.into_iter().map(|label| (label, random.below(3) as u32)).collect());
    }
    let mut above: HashMap<LabelId, Vec<LabelId>> = HashMap::new();
    for (at, &low) in labels.iter().enumerate() {
        let mut list: Vec<LabelId> = labels[..at].iter().copied().filter(|_| random.chance(40)).collect();
        if random.chance(70) {
            list.extend([LabelId::TAU, LabelId::TICK]);
        }
        above.insert(low, list);
    }
    Priorities::Above(above)
}

/// A layered network of a few visible labels.
pub(crate) fn random_layer(labels: &Arc<Labels>, random: &mut Random, control: &Control) -> Result<Network, Cut> {
    let lts = |random: &mut Random| {
        let shape = RandomShape { states: 4, transitions: 4 + random.below(6), labels: 3, tau_percent: 25 };
        Arc::new(random_lts(labels, shape, random))
    };
    let components: Vec<Component> =
        (0..2).map(|index| Component::new(format!("inner {index}"), lts(random))).collect();
    let names: Vec<LabelId> = (0..3).map(|index| labels.name(&format!("a{index}"))).collect();
    let offers = |c: &Component, s: u32| c.offers(s, &Control::unlimited()).expect("nothing stops it");
    let occurring: BTreeSet<LabelId> = components.iter().flat_map(|c| (0..4).flat_map(|s| offers(c, s))).collect();
    let mut rules = Vec::new();
    for &label in &occurring {
        for component in 0..2 {
            let seen = if random.chance(30) { LabelId::TAU } else { names[random.below(3)] };
            rules.push(Rule::new([(component, label)], seen));
        }
        if random.chance(50) {
            rules.push(Rule::new([(0, label), (1, label)], names[random.below(3)]).with_resets([random.below(2)]));
        }
    }
    let network = Network::new(labels.clone(), components, rules).expect("small");
    under_some_layer(network, random, control)
}

/// A network under a random layer.
pub(crate) fn under_some_layer(network: Network, random: &mut Random, control: &Control) -> Result<Network, Cut> {
    if random.chance(50) {
        return network.chased(control);
    }
    let priorities = random_priorities(&network, random);
    Ok(network.prioritised(&priorities))
}

pub(crate) fn explored(network: &Network, threads: usize) -> Lts {
    compose(network, threads, &Control::unlimited()).unwrap_or_else(|_| panic!("nothing stops it")).lts
}

/// A counter with `bits` components that counts by `τ`.
pub(crate) fn counter(bits: usize, wraps: bool) -> Network {
    let labels = Arc::new(Labels::new());
    let (up, down) = (labels.name("up"), labels.name("down"));
    let mut bit = LtsBuilder::new(labels.clone());
    bit.add(StateId(0), up, StateId(1)).add(StateId(1), down, StateId(0));
    let bit = Arc::new(bit.build(StateId(0)));
    let components = (0..bits).map(|index| Component::new(format!("bit {index}"), bit.clone())).collect();
    let carry = |at: usize| (0..at).map(|index| (index, down));
    let mut rules: Vec<Rule> = (0..bits).map(|at| Rule::new(carry(at).chain([(at, up)]), LabelId::TAU)).collect();
    if wraps {
        rules.push(Rule::new(carry(bits), LabelId::TAU));
    }
    Network::new(labels, components, rules).expect("small")
}
