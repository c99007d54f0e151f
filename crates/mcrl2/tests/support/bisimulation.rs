//! Strong bisimilarity by the definition, over the texts of labels.

use std::collections::{BTreeSet, HashMap};

use trefoil_lts::Lts;
use trefoil_system::LabelId;

/// The text of a label, whatever table it is from.
fn text(lts: &Lts, label: LabelId) -> String {
    if label == LabelId::TICK { "✓".to_string() } else { lts.labels().get(label).to_string() }
}

/// Steps by the texts of their labels.
type Steps = Vec<Vec<(String, usize)>>;

fn steps(lts: &Lts) -> Steps {
    let text = |label| text(lts, label);
    let outgoing = |state| lts.outgoing(state).iter().map(|step| (text(step.label), step.target.index())).collect();
    lts.states().map(outgoing).collect()
}

/// The classes of strong bisimilarity: states are split by what they can do, until no split is left.
fn classes(steps: &Steps) -> Vec<usize> {
    let mut blocks = vec![0; steps.len()];
    let mut count = 1;
    loop {
        let mut numbers = HashMap::new();
        let signature = |state: usize| -> BTreeSet<(&str, usize)> {
            steps[state].iter().map(|(label, target)| (label.as_str(), blocks[*target])).collect()
        };
        let split: Vec<usize> = (0..steps.len())
            .map(|state| {
                let next = numbers.len();
                *numbers.entry((blocks[state], signature(state))).or_insert(next)
            })
            .collect();
        let found = numbers.len();
        blocks = split;
        if found == count {
            return blocks;
        }
        count = found;
    }
}

/// States and transitions of the smallest strongly bisimilar system.
pub(crate) fn minimised(lts: &Lts) -> (usize, usize) {
    let steps = steps(lts);
    let classes = classes(&steps);
    let left: BTreeSet<(usize, &str, usize)> = (0..steps.len())
        .flat_map(|state| steps[state].iter().map(move |(label, target)| (state, label.as_str(), *target)))
        .map(|(source, label, target)| (classes[source], label, classes[target]))
        .collect();
    (classes.iter().collect::<BTreeSet<_>>().len(), left.len())
}

pub(crate) fn bisimilar(one: &Lts, other: &Lts) -> bool {
    let mut both = steps(one);
    let moved = both.len();
    both.extend(
        steps(other)
            .into_iter()
            .map(|steps| steps.into_iter().map(|(label, target)| (label, target + moved)).collect::<Vec<_>>()),
    );
    let classes = classes(&both);
    classes[one.initial().index()] == classes[moved + other.initial().index()]
}

#[allow(dead_code)]
pub(crate) fn labels(lts: &Lts) -> Vec<String> {
    let texts: BTreeSet<String> = lts.all_transitions().map(|(_, step)| text(lts, step.label)).collect();
    texts.into_iter().collect()
}
