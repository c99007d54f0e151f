//! Networks that look symmetric and are not: what each part of a proof is there for.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::LtsBuilder;
use trefoil_network::symmetry::{Prover, mappable};
use trefoil_network::{Component, Format, FormatId, Network, Rule};
use trefoil_system::{LabelId, Labels, StateId};

/// The permutation of labels that exchanges `what.0` and `what.1` for each of these words.
fn exchange(labels: &Labels, words: &[&str]) -> Vec<LabelId> {
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    for word in words {
        let [zero, one] = [0, 1].map(|number| labels.name(&format!("{word}.{number}")));
        images.swap(zero.index(), one.index());
    }
    images
}

/// Two components that do `a` and `b` in turn, each starting with the given event.
fn turns(labels: &Arc<Labels>, begin: [u32; 2]) -> Network {
    let mut components = Vec::new();
    let mut rules = Vec::new();
    for (number, begin) in begin.into_iter().enumerate() {
        let [a, b] = ["a", "b"].map(|word| labels.name(&format!("{word}.{number}")));
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), a, StateId(1)).add(StateId(1), b, StateId(0));
        components.push(Component::new(format!("P.{number}"), Arc::new(builder.build(StateId(begin)))));
        rules.extend([a, b].map(|label| Rule::new([(number, label)], label)));
    }
    Network::new(labels.clone(), components, rules).expect("small")
}

#[test]
fn components_that_begin_elsewhere_are_not_each_others_images() {
    let control = Control::unlimited();
    for begin in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let labels = Arc::new(Labels::new());
        let network = turns(&labels, begin);
        let proof = mappable(&network, &exchange(&labels, &["a", "b"]), &control).expect("no budget");
        assert_eq!(proof.is_ok(), begin[0] == begin[1], "{begin:?}: {proof:?}");
    }
}

#[test]
fn rules_that_lead_to_other_formats_are_not_each_others_images() {
    // Each of `a` and `c` chooses which component may do `b` from then on; or one of the two words does not.
    let control = Control::unlimited();
    for (ends, symmetric) in [([1, 2], true), ([2, 1], true), ([1, 1], false), ([2, 2], false)] {
        let labels = Arc::new(Labels::new());
        let name = |word: &str, number: usize| labels.name(&format!("{word}.{number}"));
        let mut components = Vec::new();
        let mut first = Vec::new();
        for number in 0..2 {
            let mut builder = LtsBuilder::new(labels.clone());
            for word in ["a", "b", "c"] {
                builder.add(StateId(0), name(word, number), StateId(0));
            }
            components.push(Component::new(format!("P.{number}"), Arc::new(builder.build(StateId(0)))));
            for (word, next) in [("a", 1 + number as u32), ("c", ends[number])] {
                first.push(Rule::new([(number, name(word, number))], name(word, number)).to(FormatId(next)));
            }
        }
        let chosen = |number: usize| {
            vec![Rule::new([(number, name("b", number))], name("b", number)).to(FormatId(1 + number as u32))]
        };
        let formats = [first, chosen(0), chosen(1)];
        let formats = formats.into_iter().map(|rules| Format { name: "format".into(), rules }).collect();
        let network = Network::with_formats(labels.clone(), components, formats, FormatId(0)).expect("small");
        let proof = mappable(&network, &exchange(&labels, &["a", "b", "c"]), &control).expect("no budget");
        assert_eq!(proof.is_ok(), symmetric, "{ends:?}: {proof:?}");
    }
}

#[test]
fn equal_components_with_other_partners_are_not_exchanged() {
    // Four equal components that work in two pairs: refinement by rules does not tell them apart.
    let labels = Arc::new(Labels::new());
    let work = labels.name("work");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), work, StateId(1)).add(StateId(1), work, StateId(2));
    let worker = Arc::new(builder.build(StateId(0)));
    let components = (0..4).map(|number| Component::new(format!("Worker.{number}"), worker.clone())).collect();
    let rules = [[0, 1], [2, 3]].map(|pair| Rule::new(pair.map(|worker| (worker, work)), work)).to_vec();
    let network = Network::new(labels, components, rules).expect("small");
    let exchanges = Prover::new(&network).exchangeable(&Control::unlimited()).expect("no budget");
    assert_eq!(exchanges.classes, [vec![0, 1], vec![2, 3]]);
}
