//! Normal forms: deterministic, without `τ`, and no two states alike.
//!
//! The prenormal form is the subset construction, all of it (definition 58 of Gibson-Robinson and Lowe, *Symmetry
//! reduction in CSP model checking*, 2019); the normal form factors it by strong bisimulation, where states also differ
//! by their minimal acceptances and by divergence. As the prenormal form is deterministic, bisimulation is equality of
//! languages, and the partition is refined as in Valmari, *Fast brief practical DFA minimization* (2012): blocks of
//! states and bundles of transitions with one label split each other, always by the smaller half, in O(m log n).
//! Missing transitions need no sink. We depart from the paper in the first partition, which is by observation and not
//! by being final.
//!
//! A node that diverges in a model that observes it (chaos) keeps no transitions and no acceptances: everything is
//! allowed there already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Labels, StateId};

use crate::explicit::{Lts, Transition};
use crate::generalised::{Acceptances, FamilyId, Glts};
use crate::subsets::{LazyNormalForm, NodeId, Scratch};

/// The whole normal form of the specification behind `lazy`, over the same labels.
pub fn normalise(lazy: &LazyNormalForm, labels: &Arc<Labels>, control: &Control) -> Result<Glts, Stopped> {
    let normal = normalise_within(lazy, labels, usize::MAX, control)?;
    Ok(normal.expect("no normal form is larger than memory"))
}

/// As [`normalise`]; `None` when the nodes, counted with the states that they keep and the labels that they allow, are
/// more than `limit` before anything is minimised. What `lazy` learnt until then it keeps.
pub fn normalise_within(
    lazy: &LazyNormalForm,
    labels: &Arc<Labels>,
    limit: usize,
    control: &Control,
) -> Result<Option<Glts>, Stopped> {
    control.progress().begin("normalising", 0);
    let Some(prenormal) = prenormalise(lazy, labels, limit, control)? else { return Ok(None) };
    control.progress().begin("minimising the normal form", 0);
    minimise(&prenormal, control).map(Some)
}

/// Are the nodes after all traces, counted as [`normalise_within`] counts them, at most `limit`? `lazy` knows them
/// then.
pub fn stays_within(lazy: &LazyNormalForm, limit: usize, control: &Control) -> Result<bool, Stopped> {
    control.progress().begin("normalising", 0);
    let (mut size, mut scratch, mut nodes) = (0, Scratch::default(), vec![lazy.initial()]);
    let mut seen: HashSet<NodeId, foldhash::fast::FixedState> = nodes.iter().copied().collect();
    while let Some(node) = nodes.pop() {
        control.check()?;
        if node == NodeId::CHAOS {
            continue;
        }
        size += 1 + lazy.states(node).len() + lazy.labels(node).len();
        if size > limit {
            return Ok(false);
        }
        for label in lazy.labels(node) {
            let target = lazy.successor(node, label, &mut scratch, control)?.expect("the label can follow");
            if seen.insert(target) {
                nodes.push(target);
            }
        }
    }
    Ok(true)
}

/// All nodes that the initial one reaches, numbered as they are found.
fn prenormalise(
    lazy: &LazyNormalForm,
    labels: &Arc<Labels>,
    limit: usize,
    control: &Control,
) -> Result<Option<Glts>, Stopped> {
    let mut size = 0;
    let mut scratch = Scratch::default();
    let mut numbers: HashMap<NodeId, StateId, foldhash::fast::FixedState> = HashMap::default();
    let mut nodes = vec![lazy.initial()];
    numbers.insert(lazy.initial(), StateId(0));
    let mut starts = vec![0];
    let mut transitions: Vec<Transition> = Vec::new();
    let mut acceptances = lazy.acceptances().clone();
    let mut families: Vec<FamilyId> = Vec::new();
    let mut diverging = Vec::new();
    let mut next = 0;
    while next < nodes.len() {
        let node = nodes[next];
        next += 1;
        control.check()?;
        if node == NodeId::CHAOS {
            families.push(Acceptances::NONE);
            diverging.push(true);
            starts.push(transitions.len());
            continue;
        }
        size += 1 + lazy.states(node).len() + lazy.labels(node).len();
        if size > limit {
            return Ok(None);
        }
        families.push(acceptances.family_of(lazy.family(node), control)?);
        diverging.push(lazy.diverges(node));
        for label in lazy.labels(node) {
            let target = lazy.successor(node, label, &mut scratch, control)?.expect("the label can follow");
            let target = *numbers.entry(target).or_insert_with(|| {
                nodes.push(target);
                StateId(nodes.len() as u32 - 1)
            });
            transitions.push(Transition { label, target });
        }
        control.progress().add(1, (transitions.len() - starts[starts.len() - 1]) as u64);
        starts.push(transitions.len());
    }
    let lts = Lts::from_rows(labels.clone(), StateId(0), starts, transitions);
    Ok(Some(Glts::new(lts, acceptances, families, diverging)))
}

/// The quotient of a deterministic system without `τ` by bisimulation, observations included. All states are reachable.
fn minimise(glts: &Glts, control: &Control) -> Result<Glts, Stopped> {
    let lts = glts.lts();
    let states = lts.state_count();
    control.afford(states * 16 + lts.transition_count() * 28)?;
    let mut blocks = Partition::by(states, |state| {
        let id = StateId(state);
        (glts.family(id).0, u32::from(glts.diverges(id)))
    });
    let sources: Vec<u32> = lts.all_transitions().map(|(source, _)| source.0).collect();
    let steps = lts.transitions();
    let mut bundles = Partition::by(steps.len(), |step| (steps[step as usize].label.0, 0));
    let (into_starts, into) = incoming(lts);
    let mut next_block = 1;
    let mut next_bundle = 0;
    // A finished bundle splits blocks into states with and without such a transition; a block splits bundles into
    // transitions that lead into it and those that do not. One block never needs to split bundles: whatever the other
    // blocks leave over leads into it.
    while next_bundle < bundles.count() {
        control.check()?;
        for place in bundles.range(next_bundle) {
            let source = sources[bundles.elements[place] as usize];
            blocks.mark(source);
        }
        blocks.split_by_marks();
        next_bundle += 1;
        while next_block < blocks.count() {
            control.check()?;
            for place in blocks.range(next_block) {
                let state = blocks.elements[place] as usize;
                for &step in &into[into_starts[state]..into_starts[state + 1]] {
                    bundles.mark(step);
                }
            }
            bundles.split_by_marks();
            next_block += 1;
        }
    }
    Ok(quotient(glts, &blocks))
}

/// The numbers of the transitions into each state.
fn incoming(lts: &Lts) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; lts.state_count() + 1];
    for step in lts.transitions() {
        starts[step.target.index() + 1] += 1;
    }
    for state in 0..lts.state_count() {
        starts[state + 1] += starts[state];
    }
    let mut next = starts.clone();
    let mut into = vec![0; lts.transition_count()];
    for (number, step) in lts.transitions().iter().enumerate() {
        into[next[step.target.index()]] = number as u32;
        next[step.target.index()] += 1;
    }
    (starts, into)
}

fn quotient(glts: &Glts, blocks: &Partition) -> Glts {
    let lts = glts.lts();
    // Blocks in the order of their first states, so that the initial one is 0 and the numbering does not depend on
    // splits.
    let mut numbers = vec![u32::MAX; blocks.count()];
    let mut first_states = Vec::new();
    for state in lts.states() {
        let number = &mut numbers[blocks.set_of[state.index()] as usize];
        if *number == u32::MAX {
            *number = first_states.len() as u32;
            first_states.push(state);
        }
    }
    let mut starts = vec![0];
    let mut transitions = Vec::new();
    for &state in &first_states {
        transitions.extend(lts.outgoing(state).iter().map(|step| Transition {
            label: step.label,
            target: StateId(numbers[blocks.set_of[step.target.index()] as usize]),
        }));
        starts.push(transitions.len());
    }
    let families = first_states.iter().map(|&state| glts.family(state)).collect();
    let diverging = first_states.iter().map(|&state| glts.diverges(state)).collect();
    let lts = Lts::from_rows(lts.labels().clone(), StateId(0), starts, transitions);
    Glts::new(lts, glts.acceptances().clone(), families, diverging)
}

/// A partition that splits sets by marked elements: the smaller half gets a new number.
struct Partition {
    elements: Vec<u32>,
    place_of: Vec<u32>,
    set_of: Vec<u32>,
    first: Vec<u32>,
    end: Vec<u32>,
    marked: Vec<u32>,
    touched: Vec<u32>,
}

impl Partition {
    /// Elements are together when their keys are equal.
    fn by(count: usize, key: impl Fn(u32) -> (u32, u32)) -> Partition {
        let mut elements: Vec<u32> = (0..count as u32).collect();
        elements.sort_by_key(|&element| key(element));
        let mut partition = Partition {
            place_of: vec![0; count],
            set_of: vec![0; count],
            first: Vec::new(),
            end: Vec::new(),
            marked: Vec::new(),
            touched: Vec::new(),
            elements,
        };
        for place in 0..count {
            let element = partition.elements[place];
            if place == 0 || key(partition.elements[place - 1]) != key(element) {
                partition.first.push(place as u32);
                partition.end.push(place as u32);
                partition.marked.push(0);
            }
            let set = partition.first.len() - 1;
            partition.end[set] += 1;
            partition.set_of[element as usize] = set as u32;
            partition.place_of[element as usize] = place as u32;
        }
        partition
    }

    fn count(&self) -> usize {
        self.first.len()
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set] as usize..self.end[set] as usize
    }

    /// Moves an element among the marked ones at the beginning of its set.
    fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let place = self.place_of[element as usize];
        let border = self.first[set] + self.marked[set];
        if place < border {
            return;
        }
        let other = self.elements[border as usize];
        self.elements.swap(place as usize, border as usize);
        self.place_of[element as usize] = border;
        self.place_of[other as usize] = place;
        if self.marked[set] == 0 {
            self.touched.push(set as u32);
        }
        self.marked[set] += 1;
    }

    fn split_by_marks(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let border = self.first[set] + self.marked[set];
            self.marked[set] = 0;
            if border == self.end[set] {
                continue;
            }
            let fresh = self.first.len() as u32;
            if border - self.first[set] <= self.end[set] - border {
                self.first.push(self.first[set]);
                self.end.push(border);
                self.first[set] = border;
            } else {
                self.first.push(border);
                self.end.push(self.end[set]);
                self.end[set] = border;
            }
            self.marked.push(0);
            for place in self.range(fresh as usize) {
                self.set_of[self.elements[place] as usize] = fresh;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trefoil_system::{LabelId, Model, Observation, System};

    use super::*;
    use crate::random::{Random, RandomShape, random_lts};

    /// Signatures of states by rounds of naive refinement.
    fn naive_classes(glts: &Glts) -> Vec<usize> {
        let lts = glts.lts();
        let control = Control::unlimited();
        let mut explorer = glts.explorer(&control);
        let observed: Vec<Observation> = lts.states().map(|state| explorer.observe(&[state.0]).unwrap()).collect();
        let number = |keys: &[String]| -> Vec<usize> {
            keys.iter().map(|key| keys.iter().position(|other| other == key).unwrap()).collect()
        };
        let mut classes = number(&observed.iter().map(|o| format!("{o:?}")).collect::<Vec<_>>());
        for _ in 0..lts.state_count() {
            let key = |state: StateId| {
                let mut steps: Vec<(LabelId, usize)> =
                    lts.outgoing(state).iter().map(|step| (step.label, classes[step.target.index()])).collect();
                steps.sort_unstable();
                format!("{} {steps:?}", classes[state.index()])
            };
            classes = number(&lts.states().map(key).collect::<Vec<_>>());
        }
        classes
    }

    #[test]
    fn normal_forms_are_deterministic_and_least() {
        let control = Control::unlimited();
        let mut smaller = 0;
        for seed in 0..600 {
            let mut random = Random::new(seed);
            let shape = RandomShape {
                states: 1 + random.below(9) as u32,
                transitions: random.below(20),
                labels: 2,
                tau_percent: 20,
            };
            let lts = random_lts(&Arc::new(Labels::new()), shape, &mut random);
            for model in Model::ALL.into_iter().filter(|model| !model.observes_refusals_on_the_way()) {
                let lazy = LazyNormalForm::new(&lts, model, &control).unwrap();
                let prenormal = prenormalise(&lazy, lts.labels(), usize::MAX, &control).unwrap().expect("no limit");
                let normal = minimise(&prenormal, &control).unwrap();
                let mut classes = naive_classes(&prenormal);
                classes.sort_unstable();
                classes.dedup();
                assert_eq!(normal.lts().state_count(), classes.len(), "seed {seed} {model:?} {lts:?}");
                smaller += usize::from(classes.len() < prenormal.lts().state_count());
                for state in normal.lts().states() {
                    let steps = normal.lts().outgoing(state);
                    assert!(steps.iter().all(|step| step.label.is_visible()));
                    assert!(steps.is_sorted_by(|a, b| a.label < b.label), "one successor a label");
                }
                let classes = naive_classes(&normal);
                assert!(classes.iter().enumerate().all(|(state, &class)| class == state), "no two states alike");
            }
        }
        assert!(smaller > 100, "the test minimises something: {smaller}");
    }
}
