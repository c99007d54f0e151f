//! Recomposition: parts become one system again, two at a time, and are minimised on the way.
//!
//! A component is an LTS. Its labels are those of the original, which it does alone, and *joint* labels, for which
//! rules say which components must do them together and what the original calls that. Composing two components is
//! exploring a [`Network`] of them: a rule over these two alone gives the label of the original, and hidden ones become
//! `τ`; a rule that needs others too gives a new joint label. Joint labels that occur in the same rules are one label,
//! and transitions with a joint label that no rule has any more are taken out: no partner will ever agree.
//!
//! After each composition the result is minimised, modulo strong bisimilarity or divergence-preserving branching
//! bisimilarity. Why the latter is right although parallel composition is involved is proved in
//! docs/decisions/006-decomposition.md: a `τ` of a component is never synchronised, blocked or tested.
//!
//! The order: first a component that has rules with one other component only, together with that one, so that all its
//! joint labels vanish; else two components with common rules; of several the pair with the fewest combinations of
//! states. What has no rules with anything comes last. Compare Crouzen and Lang, *Smart reduction* (2011).
//!
//! Invariants: minimisations keep their blocks, and compositions the rules that made them, so that a step of the last
//! composition is followed down to the parts (`lift.rs`).
//!
//! Cost: that of exploring and minimising each composition; rules are read once for each.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, LtsBuilder, Transition, keep_distinct};
use trefoil_network::{Component as NetworkComponent, Network, Rule as NetworkRule};
use trefoil_system::{Cut, LabelId, Labels, StateId, System, Value};

use super::explore::{Explored, ExploredPart};

/// A rule over several components.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Rule {
    /// Components and their labels, ascending.
    pub(super) parts: Vec<(usize, LabelId)>,
    pub(super) label: LabelId,
}

/// Rules over two components: their labels by place, and the label that they give.
type PairRules = BTreeSet<(Vec<(usize, LabelId)>, LabelId)>;

/// The states of a composition by those of its two components.
type Pairs = HashMap<(u32, u32), u32, foldhash::fast::FixedState>;
/// Some labels.
type LabelSet = HashSet<LabelId, foldhash::fast::FixedState>;

/// Where the states of a component come from.
pub(super) enum Origin {
    Part(ExploredPart),
    Pair {
        left: Box<Component>,
        right: Box<Component>,
        /// The states of both for each state.
        states: Vec<(u32, u32)>,
        /// The rules by the labels that they give, each with the label that either has to do.
        rules: HashMap<LabelId, Vec<[Option<LabelId>; 2]>>,
    },
}

/// A component.
pub(super) struct Component {
    /// The parts in it.
    pub(super) parts: Vec<usize>,
    /// Minimised.
    pub(super) lts: Arc<Lts>,
    /// Before it was minimised.
    pub(super) whole: Arc<Lts>,
    /// The minimised state of each state.
    pub(super) blocks: Vec<Option<StateId>>,
    /// Joint labels that were made one: the one in the minimised LTS for each that changed.
    pub(super) merged: HashMap<LabelId, LabelId>,
    pub(super) origin: Origin,
}

/// The values of a part's parameters in each of its states.
pub(super) struct PartRows<'c> {
    pub(super) slots: &'c [usize],
    pub(super) states: HashMap<u32, &'c [Value]>,
}

/// A composition that was made, or a part that was explored.
#[derive(Clone, Debug)]
pub struct Composed {
    /// The parts in it.
    pub parts: Vec<usize>,
    /// States before it was minimised.
    pub states: usize,
    /// Transitions before it was minimised.
    pub transitions: usize,
    /// States afterwards.
    pub minimised_states: usize,
    /// Transitions afterwards.
    pub minimised_transitions: usize,
}

/// Components under rules.
pub(super) struct Composition {
    labels: Arc<Labels>,
    equivalence: Equivalence,
    components: Vec<Option<Component>>,
    rules: BTreeSet<Rule>,
    /// Labels that only rules allow.
    joint: HashSet<LabelId>,
    /// States beyond which a composition is given up.
    most_states: usize,
    pub(super) steps: Vec<Composed>,
}

impl Component {
    /// The parts in it, with the values of parameters in their states.
    pub(super) fn rows_of_parts(&self) -> HashMap<usize, PartRows<'_>> {
        match &self.origin {
            Origin::Part(part) => {
                let states = part.states.iter().map(|(row, &state)| (state, &**row)).collect();
                HashMap::from([(self.parts[0], PartRows { slots: &part.slots, states })])
            }
            Origin::Pair { left, right, .. } => {
                let mut rows = left.rows_of_parts();
                rows.extend(right.rows_of_parts());
                rows
            }
        }
    }

    fn composed(&self) -> Composed {
        Composed {
            parts: self.parts.clone(),
            states: self.whole.state_count(),
            transitions: self.whole.transition_count(),
            minimised_states: self.lts.state_count(),
            minimised_transitions: self.lts.transition_count(),
        }
    }
}

/// Why a composition was not made.
#[derive(Clone, Debug)]
pub(super) enum Uncomposed {
    /// It has more states than allowed; the components that were left have combinations of that many bits.
    Limit(f64),
    /// The search was cut.
    Cut(Cut),
}

impl From<trefoil_control::Stopped> for Uncomposed {
    fn from(stopped: trefoil_control::Stopped) -> Uncomposed {
        Uncomposed::Cut(stopped.into())
    }
}

impl Composition {
    /// The parts that were explored, minimised.
    pub(super) fn new(
        explored: Explored,
        labels: &Arc<Labels>,
        equivalence: Equivalence,
        most_states: usize,
        control: &Control,
    ) -> Result<Composition, Uncomposed> {
        let mut alone: HashMap<u32, BTreeSet<LabelId>> = HashMap::new();
        let mut rules: BTreeSet<Rule> = BTreeSet::new();
        let mut joint: HashSet<LabelId> = HashSet::new();
        let mut names: HashMap<u32, LabelId> = HashMap::new();
        for agreement in &explored.agreements {
            if let [(_, label)] = agreement.parts[..] {
                alone.entry(label).or_default().insert(agreement.label);
                continue;
            }
            let mut named = |label: u32| {
                *names.entry(label).or_insert_with(|| {
                    let name = labels.name(&format!("@joint{label}"));
                    joint.insert(name);
                    name
                })
            };
            let parts = agreement.parts.iter().map(|&(part, label)| (part, named(label))).collect();
            rules.insert(Rule { parts, label: agreement.label });
        }
        let mut composition = Composition {
            labels: labels.clone(),
            equivalence,
            components: Vec::new(),
            rules,
            joint,
            most_states,
            steps: Vec::new(),
        };
        let mut wholes = Vec::new();
        for part in &explored.parts {
            let mut builder = LtsBuilder::new(labels.clone());
            builder.at_least(1);
            for &(source, label, target) in &part.steps {
                for &visible in alone.get(&label).into_iter().flatten() {
                    builder.add(StateId(source), visible, StateId(target));
                }
                if let Some(&name) = names.get(&label) {
                    builder.add(StateId(source), name, StateId(target));
                }
            }
            control.check()?;
            wholes.push(builder.build(StateId(0)));
        }
        for (number, (part, whole)) in explored.parts.into_iter().zip(wholes).enumerate() {
            let component = composition.minimised(vec![number], whole, Origin::Part(part), control)?;
            composition.components.push(Some(component));
        }
        composition.prune(control)?;
        Ok(composition)
    }

    fn minimised(
        &self,
        parts: Vec<usize>,
        whole: Lts,
        origin: Origin,
        control: &Control,
    ) -> Result<Component, Uncomposed> {
        let small = minimise(&whole, self.equivalence, control)?;
        let blocks = whole.states().map(|state| small.block_of(state)).collect();
        Ok(Component {
            parts,
            lts: Arc::new(small.lts),
            whole: Arc::new(whole),
            blocks,
            merged: HashMap::new(),
            origin,
        })
    }

    /// Joint labels of a component that occur in the same rules become one; the new label of each that changes.
    fn merged_labels(&mut self, component: usize) -> HashMap<LabelId, LabelId> {
        // What stands beside a label in its rules.
        type Beside = BTreeSet<(Vec<(usize, LabelId)>, LabelId)>;
        let mut beside: BTreeMap<LabelId, Beside> = BTreeMap::new();
        for rule in &self.rules {
            let Some(&(_, own)) = rule.parts.iter().find(|(part, _)| *part == component) else { continue };
            let others = rule.parts.iter().filter(|(part, _)| *part != component).copied().collect();
            beside.entry(own).or_default().insert((others, rule.label));
        }
        let mut images: HashMap<LabelId, LabelId> = HashMap::new();
        let mut first: BTreeMap<Beside, LabelId> = BTreeMap::new();
        for (label, rules) in beside {
            let image = *first.entry(rules).or_insert(label);
            if image != label {
                images.insert(label, image);
            }
        }
        if !images.is_empty() {
            let gone = |&(part, label): &(usize, LabelId)| part == component && images.contains_key(&label);
            self.rules.retain(|rule| !rule.parts.iter().any(gone));
        }
        images
    }

    /// Takes out rules with labels that no longer occur and transitions that no rule allows, and makes joint labels
    /// that occur in the same rules one, until nothing changes.
    fn prune(&mut self, control: &Control) -> Result<(), Uncomposed> {
        let labels_of = |component: &Option<Component>| -> LabelSet {
            component.iter().flat_map(|one| one.lts.transitions()).map(|step| step.label).collect()
        };
        let mut occurring: Vec<LabelSet> = self.components.iter().map(labels_of).collect();
        loop {
            control.check()?;
            self.rules.retain(|rule| rule.parts.iter().all(|&(part, label)| occurring[part].contains(&label)));
            let mut allowed: HashSet<(usize, LabelId)> = HashSet::new();
            for rule in &self.rules {
                allowed.extend(rule.parts.iter().copied());
            }
            let mut changed = false;
            for place in 0..self.components.len() {
                let Some(component) = self.components[place].as_ref() else { continue };
                let lts = component.lts.clone();
                let is_dead = |label: &LabelId| self.joint.contains(label) && !allowed.contains(&(place, *label));
                let dead: LabelSet = occurring[place].iter().copied().filter(is_dead).collect();
                let images = self.merged_labels(place);
                if dead.is_empty() && images.is_empty() {
                    continue;
                }
                changed = true;
                let mut builder = LtsBuilder::new(self.labels.clone());
                builder.at_least(lts.state_count() as u32);
                for (source, step) in lts.all_transitions().filter(|(_, step)| !dead.contains(&step.label)) {
                    builder.add(source, images.get(&step.label).copied().unwrap_or(step.label), step.target);
                }
                let pruned = builder.build(lts.initial());
                let small = minimise(&pruned, self.equivalence, control)?;
                let Some(component) = self.components[place].as_mut() else { continue };
                for block in &mut component.blocks {
                    *block = block.and_then(|block| small.block_of(block));
                }
                for image in component.merged.values_mut() {
                    *image = images.get(image).copied().unwrap_or(*image);
                }
                for (label, image) in images {
                    component.merged.entry(label).or_insert(image);
                }
                component.lts = Arc::new(small.lts);
                occurring[place] = labels_of(&self.components[place]);
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// The components, as a report.
    pub(super) fn composed(&self) -> Vec<Composed> {
        self.components.iter().flatten().map(Component::composed).collect()
    }

    /// The components that are left.
    fn left(&self) -> Vec<usize> {
        (0..self.components.len()).filter(|&place| self.components[place].is_some()).collect()
    }

    fn size(&self, place: usize) -> usize {
        self.components[place].as_ref().map_or(1, |component| component.lts.state_count())
    }

    /// The two components that are composed next.
    fn next_pair(&self) -> Option<(usize, usize)> {
        let left = self.left();
        if left.len() < 2 {
            return None;
        }
        let mut partners: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for rule in &self.rules {
            for &(part, _) in &rule.parts {
                partners.entry(part).or_default().extend(rule.parts.iter().map(|&(other, _)| other));
            }
        }
        let none = BTreeSet::new();
        let others = |place: usize| partners.get(&place).unwrap_or(&none);
        let mut best = None;
        for (at, &one) in left.iter().enumerate() {
            for &other in &left[at + 1..] {
                let together = others(one).contains(&other);
                // A component without other partners loses all of its joint labels.
                let is_leaf = |place: usize| others(place).len() <= 2;
                let rank = match together {
                    true if is_leaf(one) || is_leaf(other) => 0,
                    true => 1,
                    false => 2,
                };
                let key = (rank, self.size(one) as u128 * self.size(other) as u128, one, other);
                if best.is_none_or(|known| key < known) {
                    best = Some(key);
                }
            }
        }
        best.map(|(_, _, one, other)| (one, other))
    }

    /// Composes everything; the last composition.
    pub(super) fn compose(mut self, control: &Control) -> Result<(Component, Vec<Composed>), Uncomposed> {
        while let Some((one, other)) = self.next_pair() {
            self.join(one, other, control)?;
        }
        let last = self.components.into_iter().flatten().next();
        let Some(last) = last else { unreachable!("a decomposition has a part") };
        Ok((last, self.steps))
    }

    fn join(&mut self, one: usize, other: usize, control: &Control) -> Result<(), Uncomposed> {
        let (Some(left), Some(right)) = (self.components[one].take(), self.components[other].take()) else {
            unreachable!("components that are left")
        };
        let size = |component: &Component| (component.lts.state_count() as f64).log2();
        let bits = self.components.iter().flatten().chain([&left, &right]).map(size).sum();
        let made = self.pair_rules(one, other, &left, &right);
        let mut rules: HashMap<LabelId, Vec<[Option<LabelId>; 2]>> = HashMap::new();
        for (parts, label) in &made {
            let own = |place: usize| parts.iter().find(|(part, _)| *part == place).map(|&(_, label)| label);
            rules.entry(*label).or_default().push([own(0), own(1)]);
        }
        let made = made.into_iter().map(|(parts, label)| NetworkRule::new(parts, label)).collect();
        let components =
            vec![NetworkComponent::new("left", left.lts.clone()), NetworkComponent::new("right", right.lts.clone())];
        control.afford(Network::bytes_to_make(&components)).map_err(|stopped| Uncomposed::Cut(stopped.into()))?;
        let network = Network::new(self.labels.clone(), components, made).map_err(|_| Uncomposed::Limit(bits))?;
        let (whole, states) = self.explored(&network, bits, control)?;
        let mut parts = left.parts.clone();
        parts.extend(&right.parts);
        parts.sort_unstable();
        let origin = Origin::Pair { left: Box::new(left), right: Box::new(right), states, rules };
        let component = self.minimised(parts, whole, origin, control)?;
        self.steps.push(component.composed());
        self.components[one] = Some(component);
        self.prune(control)
    }

    /// All states of a network of two components, breadth-first, and the states of these.
    fn explored(&self, network: &Network, bits: f64, control: &Control) -> Result<(Lts, Vec<(u32, u32)>), Uncomposed> {
        let initial = network.initial(control).map_err(Uncomposed::Cut)?;
        let mut explorer = network.explorer(control);
        let mut order = vec![(initial[0], initial[1])];
        let mut states: Pairs = HashMap::default();
        states.insert(order[0], 0);
        let (mut starts, mut transitions) = (Vec::new(), Vec::new());
        let (mut kept, mut at) = (0, 0);
        while at < order.len() {
            if at.is_multiple_of(1 << 10) {
                control.check()?;
            }
            starts.push(kept);
            let row = [order[at].0, order[at].1];
            explorer
                .successors(&row, &mut |step| {
                    let next = (step.row[0], step.row[1]);
                    let new = order.len() as u32;
                    let target = *states.entry(next).or_insert(new);
                    if target == new {
                        order.push(next);
                    }
                    transitions.push((step.label, StateId(target)));
                    Ok(())
                })
                .map_err(Uncomposed::Cut)?;
            if order.len() > self.most_states {
                return Err(Uncomposed::Limit(bits));
            }
            let end = transitions.len();
            kept = keep_distinct(&mut transitions, kept, end, kept);
            transitions.truncate(kept);
            at += 1;
        }
        starts.push(kept);
        let transitions = transitions.into_iter().map(|(label, target)| Transition { label, target }).collect();
        Ok((Lts::from_rows(self.labels.clone(), StateId(0), starts, transitions), order))
    }

    /// The rules of a network of two components, which give joint labels of the new component. The rules over all
    /// components name the new component from now.
    fn pair_rules(&mut self, one: usize, other: usize, left: &Component, right: &Component) -> PairRules {
        let mut made = PairRules::new();
        for (place, component) in [left, right].into_iter().enumerate() {
            let labels: BTreeSet<LabelId> = component.lts.transitions().iter().map(|step| step.label).collect();
            for label in labels.into_iter().filter(|label| !self.joint.contains(label)) {
                made.insert((vec![(place, label)], label));
            }
        }
        let mut pairs: HashMap<(LabelId, LabelId), LabelId> = HashMap::new();
        let rules = std::mem::take(&mut self.rules);
        let mut changed: BTreeSet<Rule> = BTreeSet::new();
        for mut rule in rules {
            let own = |place: usize| rule.parts.iter().find(|(part, _)| *part == place).map(|&(_, label)| label);
            let (first, second) = (own(one), own(other));
            let rest: Vec<(usize, LabelId)> =
                rule.parts.iter().filter(|(part, _)| *part != one && *part != other).copied().collect();
            let parts: Vec<(usize, LabelId)> =
                first.map(|label| (0, label)).into_iter().chain(second.map(|label| (1, label))).collect();
            if parts.is_empty() {
                changed.insert(rule);
                continue;
            }
            if rest.is_empty() {
                made.insert((parts, rule.label));
                continue;
            }
            let label = match (first, second) {
                (Some(first), Some(second)) => {
                    let fresh = self.joint.len();
                    let labels = &self.labels;
                    let label =
                        *pairs.entry((first, second)).or_insert_with(|| labels.name(&format!("@together{fresh}")));
                    self.joint.insert(label);
                    label
                }
                (Some(label), None) | (None, Some(label)) => label,
                (None, None) => unreachable!("one of the two takes part"),
            };
            made.insert((parts, label));
            rule.parts = rest;
            rule.parts.push((one, label));
            rule.parts.sort_unstable();
            changed.insert(rule);
        }
        self.rules = changed;
        made
    }
}
