//! Random networks and their graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::collect;
use trefoil_lts::Lts;
use trefoil_network::{Component, Format, FormatId, Network, Rule};
use trefoil_system::{LabelId, Labels, System};
use trefoil_testkit::composition::NaiveProduct;
use trefoil_testkit::networks::{NaiveNetwork, NaiveRule};
use trefoil_testkit::{Random, RandomShape, random_lts};

/// A network, and the same as the definition has it.
pub(crate) struct Case {
    pub(crate) components: Vec<Lts>,
    pub(crate) naive: NaiveNetwork,
    pub(crate) network: Network,
}

/// A random network.
pub(crate) fn random_case(random: &mut Random) -> Case {
    let labels = Arc::new(Labels::new());
    let mut components: Vec<Lts> = Vec::new();
    for _ in 0..1 + random.below(4) {
        if !components.is_empty() && random.chance(20) {
            components.push(components[random.below(components.len())].clone());
            continue;
        }
        let shape = RandomShape {
            states: 1 + random.below(4) as u32,
            transitions: random.below(9),
            labels: if random.chance(10) { 40 } else { 1 + random.below(4) },
            tau_percent: random.below(30),
        };
        components.push(random_lts(&labels, shape, random));
    }
    let own: Vec<Vec<LabelId>> = components
        .iter()
        .map(|lts| lts.all_transitions().map(|(_, t)| t.label).collect::<BTreeSet<_>>().into_iter().collect())
        .collect();
    let seen: Vec<LabelId> = ["tau", "x", "y", "z", "✓"].map(|name| labels.name(name)).to_vec();
    let format_count = if random.chance(25) { 1 } else { 2 + random.below(4) };
    let random_rule = |random: &mut Random| {
        let part = |labels: &Vec<LabelId>, random: &mut Random| {
            if random.chance(2) {
                // A label that the component need not have.
                return Some(LabelId(random.below(6) as u32));
            }
            (!labels.is_empty() && random.chance(45)).then(|| labels[random.below(labels.len())])
        };
        NaiveRule {
            parts: own.iter().map(|labels| part(labels, random)).collect(),
            label: seen[random.below(seen.len())],
            resets: (0..own.len()).filter(|_| random.chance(15)).collect(),
            next: random.below(format_count),
        }
    };
    let mut formats: Vec<Vec<NaiveRule>> =
        (0..format_count).map(|_| (0..random.below(9)).map(|_| random_rule(random)).collect()).collect();
    for rules in &mut formats {
        // Some rules occur twice.
        if !rules.is_empty() && random.chance(20) {
            rules.push(rules[random.below(rules.len())].clone());
        }
    }
    let naive = NaiveNetwork { formats, initial: random.below(format_count) };
    // The origin of a rule is its number, as a label.
    let rule = |(number, rule): (usize, &NaiveRule)| {
        let parts = rule.parts.iter().enumerate().filter_map(|(component, part)| Some((component, (*part)?)));
        Rule::new(parts, rule.label)
            .with_resets(rule.resets.iter().copied())
            .to(FormatId(rule.next as u32))
            .with_origin(labels.name(&format!("rule {number}")))
    };
    let format = |(number, rules): (usize, &Vec<NaiveRule>)| Format {
        name: format!("f{number}"),
        rules: rules.iter().enumerate().map(rule).collect(),
    };
    let formats: Vec<Format> = naive.formats.iter().enumerate().map(format).collect();
    let shared = components.iter().cloned().map(Arc::new);
    let component = |(index, lts): (usize, Arc<Lts>)| Component::new(format!("c{index}"), lts);
    let placed: Vec<Component> = shared.enumerate().map(component).collect();
    let initial = FormatId(naive.initial as u32);
    let network = Network::with_formats(labels, placed, formats, initial).expect("small components");
    Case { components, naive, network }
}

/// The collected graph, with the format as the last entry even when there is only one.
pub(crate) fn graph(system: &dyn System, components: usize, threads: usize) -> NaiveProduct {
    let collected = collect(system, threads, &Control::unlimited()).unwrap_or_else(|_| panic!("nothing stops it"));
    let mut reader = collected.states.reader();
    let rows: Vec<Vec<u32>> = collected
        .origins
        .iter()
        .map(|&origin| {
            let mut row = vec![0; system.layout().width()];
            reader.row(origin, &mut row);
            row.resize(components + 1, 0);
            row
        })
        .collect();
    let mut product = BTreeMap::new();
    for (state, row) in rows.iter().enumerate() {
        let steps = &collected.transitions[collected.starts[state]..collected.starts[state + 1]];
        let steps = steps.iter().map(|&(label, target)| (label, rows[target.index()].clone())).collect();
        assert!(product.insert(row.clone(), steps).is_none(), "a row is stored twice");
    }
    product
}
