//! Whether a permutation of labels is a symmetry of a network: definition 29, and 67 to 69 with formats.
//!
//! The components are divided by what their machines do ([`super::leaves`]); where several do the same, by the rules
//! that they take part in: colours of components and formats are refined by the rules, on the side of the images and on
//! the side of the network together. Components that are alike even then are mapped in the order of their numbers, or,
//! when that is not a map of the rules, one of them is chosen and the colours are refined again. In the end every rule
//! is looked up.
//!
//! Cost: in proportion to the transitions of the machines and the parts of the rules, with a logarithm for
//! bisimilarity.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Labels, System};

use super::leaves::{LAZY, Leaves, Matching, in_order};
use super::rulebook::{Colours, Flat, Rulebook};
use super::{Image, Obstacle, relabelled};
use crate::network::{Layer, Network};
use crate::rules::{Behaviour, Component};

/// What proofs of one network share: a script asks several questions of a process.
pub(crate) struct Kept {
    leaves: Arc<Leaves>,
    book: Arc<Rulebook>,
    /// The symmetries that were proved, by their images of labels.
    images: Mutex<HashMap<Vec<LabelId>, Image>>,
}

/// How many choices are made between components that are alike before giving up.
const MOST_CHOICES: usize = 256;

/// A network prepared for proofs of symmetry.
pub struct Prover<'a> {
    pub(super) network: &'a Network,
    /// What components are called for users, where that differs from their names in the network.
    names: Option<&'a dyn Fn(usize) -> String>,
    pub(super) leaves: Arc<Leaves>,
    pub(super) book: Arc<Rulebook>,
    /// The networks inside components whose states are found while they run.
    pub(super) inner: Vec<(u32, Prover<'a>)>,
}

impl<'a> Prover<'a> {
    /// Prepares a network.
    pub fn new(network: &'a Network) -> Prover<'a> {
        let inner = |(number, component): (u32, &'a Component)| match &component.behaviour {
            Behaviour::Explicit(_) => None,
            Behaviour::Lazy(machine) => Some((number, Prover::new(machine.network()))),
        };
        let kept = network.proofs.get_or_init(|| Kept {
            leaves: Arc::new(Leaves::new(network)),
            book: Arc::new(Rulebook::new(network)),
            images: Mutex::default(),
        });
        Prover {
            network,
            names: None,
            leaves: kept.leaves.clone(),
            book: kept.book.clone(),
            inner: (0..).zip(network.components()).filter_map(inner).collect(),
        }
    }

    /// The same, with other names for the components in what it says; each is made when it is needed.
    pub fn calling(self, names: &'a dyn Fn(usize) -> String) -> Prover<'a> {
        Prover { names: Some(names), ..self }
    }

    /// What a component is called.
    pub(super) fn name(&self, component: usize) -> String {
        match self.names {
            Some(names) => names(component),
            None => self.network.components().get(component).map_or_else(String::new, |found| found.name.clone()),
        }
    }

    /// Proves that a permutation of labels, the identity beyond its length, is a symmetry of the network; or says what
    /// prevents it.
    pub fn prove(&self, labels: &[LabelId], control: &Control) -> Result<Result<Image, Obstacle>, Stopped> {
        let kept = self.network.proofs.get().map(|kept| &kept.images);
        let images = || kept.map(|images| images.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(known) = images().and_then(|images| images.get(labels).cloned()) {
            return Ok(Ok(known));
        }
        let proved = self.attempt(labels, None, control)?;
        if let (Ok(image), Some(mut images)) = (&proved, images()) {
            images.insert(labels.to_vec(), image.clone());
        }
        Ok(proved)
    }

    /// The same with this permutation of components, and no other.
    pub fn prove_with(
        &self,
        labels: &[LabelId],
        components: &[u32],
        control: &Control,
    ) -> Result<Result<Image, Obstacle>, Stopped> {
        self.attempt(labels, Some(components), control)
    }

    fn attempt(
        &self,
        labels: &[LabelId],
        components: Option<&[u32]>,
        control: &Control,
    ) -> Result<Result<Image, Obstacle>, Stopped> {
        if let Some(obstacle) = self.not_a_permutation(labels) {
            return Ok(Err(obstacle));
        }
        if let Some(obstacle) = self.layers(labels) {
            return Ok(Err(obstacle));
        }
        let mut matching = self.leaves.matching(labels, control)?;
        let source = self.kinds(&matching.image);
        let target = self.kinds(&matching.own);
        if let Some(components) = components {
            let bijective = in_order(
                &components.iter().map(|&c| u64::from(c)).collect::<Vec<_>>(),
                &(0..source.len() as u64).collect::<Vec<_>>(),
            );
            if bijective.is_none() {
                return Ok(Err(Obstacle::Components("the components are not permuted".into())));
            }
            return match self.book.formats_under(labels, components) {
                Ok(formats) => self.image(components, formats, labels, &mut matching, control),
                Err(rule) => Ok(Err(self.no_rule(rule, labels))),
            };
        }
        let Some((mut map, tie)) = in_order(&source, &target) else {
            return Ok(Err(self.no_component(labels, &source, &target)));
        };
        if tie.is_none() {
            return match self.book.formats_under(labels, &map) {
                Ok(formats) => self.image(&map, formats, labels, &mut matching, control),
                Err(rule) => Ok(Err(self.no_rule(rule, labels))),
            };
        }
        let formats = self.book.first_colours();
        let mut source = Colours { components: source, formats: formats.clone() };
        let mut target = Colours { components: target, formats };
        let mut failed = None;
        for _ in 0..MOST_CHOICES {
            self.book.refine_together(labels, &mut source, &mut target, || control.check())?;
            let Some(found) = in_order(&source.components, &target.components) else { break };
            let tie;
            (map, tie) = found;
            match self.book.formats_under(labels, &map) {
                Ok(formats) => return self.image(&map, formats, labels, &mut matching, control),
                Err(rule) => failed = failed.or(Some(rule)),
            }
            let Some(one) = tie else { break };
            // The indistinguishable ones are linked: choose one, and refine again.
            source.components[one as usize] = u64::MAX;
            target.components[map[one as usize] as usize] = u64::MAX;
        }
        Ok(Err(match failed {
            Some(rule) => self.no_rule(rule, labels),
            None => self.no_place(&source.components, &target.components),
        }))
    }

    /// A number for what each component does, by what its machine does. Where states are found only while it runs, each
    /// is of its own kind.
    pub(super) fn kinds(&self, machines: &[u32]) -> Vec<u64> {
        let kind = |(component, &machine): (u64, &u32)| match machine {
            LAZY => 1 << 32 | component,
            machine => u64::from(machines[machine as usize]),
        };
        (0..).zip(&self.leaves.machine_of).map(kind).collect()
    }

    /// The image, its states and its initial row checked.
    fn image(
        &self,
        components: &[u32],
        formats: Vec<u32>,
        labels: &[LabelId],
        matching: &mut Matching,
        control: &Control,
    ) -> Result<Result<Image, Obstacle>, Stopped> {
        let mut states = Vec::with_capacity(components.len());
        for (component, &to) in components.iter().enumerate() {
            let machines = (self.leaves.machine_of[component], self.leaves.machine_of[to as usize]);
            if machines == (LAZY, LAZY) && component == to as usize {
                states.push(Arc::from([]));
                continue;
            }
            let known = machines.0 != LAZY && machines.1 != LAZY;
            let map = match known {
                true => self.leaves.map(matching, labels, machines.0, machines.1, control)?,
                false => None,
            };
            match map {
                Some(map) => states.push(map),
                None => {
                    let [from, to] = [component, to as usize].map(|c| self.name(c));
                    let words = format!("component {to} does not do what the image of {from} does");
                    return Ok(Err(Obstacle::Components(words)));
                }
            }
        }
        let mut lazy = Vec::with_capacity(self.inner.len());
        for (component, inner) in &self.inner {
            match inner.prove(labels, control)? {
                Ok(image) => lazy.push((*component, image)),
                Err(obstacle) => {
                    let name = self.name(*component as usize);
                    return Ok(Err(Obstacle::Layer(format!("inside {name}: {obstacle}"))));
                }
            }
        }
        Ok(Ok(Image { components: components.to_vec(), states, formats, lazy }))
    }

    fn not_a_permutation(&self, labels: &[LabelId]) -> Option<Obstacle> {
        let mut met = vec![false; labels.len()];
        for (label, &image) in labels.iter().enumerate() {
            let fixed = !LabelId(label as u32).is_visible();
            let wrong = fixed && image.index() != label;
            if wrong || image.index() >= labels.len() || std::mem::replace(&mut met[image.index()], true) {
                let words = format!("the labels are not permuted: {}", self.label(LabelId(label as u32)));
                return Some(Obstacle::Labels(words));
            }
        }
        None
    }

    /// The layer that prevents a renaming of labels, if any. Priorities are no obstacle when the order is kept: they
    /// choose by labels alone. A chase chooses by the order of rules.
    pub(super) fn layers(&self, labels: &[LabelId]) -> Option<Obstacle> {
        match self.network.layer() {
            Some(Layer::Chase(_)) => {
                let words = "chase takes the first of several internal steps, and a permutation changes which is first";
                return Some(Obstacle::Layer(words.into()));
            }
            Some(Layer::Priority(order)) => {
                let moved = order.moved_by(&self.network.alphabet(), |label| relabelled(labels, label));
                if let Some(label) = moved {
                    let (label, image) = (self.label(label), self.label(relabelled(labels, label)));
                    let words = format!("{label} and {image} have different places in the order of priorities");
                    return Some(Obstacle::Layer(words));
                }
            }
            None => {}
        }
        None
    }

    /// What the identity does to the networks inside.
    pub(super) fn still(&self) -> Vec<(u32, Image)> {
        let identity = |count: usize| (0..count as u32).collect::<Vec<u32>>();
        let image = |inner: &Prover<'_>| Image {
            components: identity(inner.leaves.machine_of.len()),
            states: (0..inner.leaves.machine_of.len()).map(|c| identity(inner.network.states_of(c)).into()).collect(),
            formats: identity(inner.book.formats),
            lazy: inner.still(),
        };
        self.inner.iter().map(|(component, inner)| (*component, image(inner))).collect()
    }

    fn table(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    fn label(&self, label: LabelId) -> String {
        if label.index() < self.table().len() {
            self.table().get(label).to_string()
        } else {
            format!("label {}", label.0)
        }
    }

    fn no_rule(&self, rule: &Flat, labels: &[LabelId]) -> Obstacle {
        let part = |&(component, label): &(u32, LabelId)| {
            format!("{} does {}", self.name(component as usize), self.label(label))
        };
        let parts: Vec<String> = rule.parts.iter().map(part).collect();
        let how = if parts.is_empty() { "on its own".to_string() } else { format!("when {}", parts.join(" and ")) };
        let (label, image) = (self.label(rule.label), self.label(relabelled(labels, rule.label)));
        let words = if label == image {
            format!("{label} is possible {how}, and there is no rule that is the image of that")
        } else {
            format!("{label} is possible {how}, and {image} is not possible in the same way")
        };
        Obstacle::Rules(words)
    }

    fn no_place(&self, source: &[u64], target: &[u64]) -> Obstacle {
        let lost = source.iter().position(|colour| !target.contains(colour)).unwrap_or(0);
        let name = self.name(lost);
        Obstacle::Rules(format!("the rules give no component the part that the image of {name} would have"))
    }

    /// Names a component whose image is not there, and how it differs from one that might have been it.
    fn no_component(&self, labels: &[LabelId], source: &[u64], target: &[u64]) -> Obstacle {
        let mut left: HashMap<u64, i64> = HashMap::new();
        target.iter().for_each(|&kind| *left.entry(kind).or_default() += 1);
        let mut lost = None;
        for (component, kind) in source.iter().enumerate() {
            let count = left.entry(*kind).or_default();
            *count -= 1;
            if *count < 0 && lost.is_none() {
                lost = Some(component);
            }
        }
        let Some(lost) = lost else { return Obstacle::Components("the components do not match".into()) };
        let size = |component: usize| self.network.states_of(component);
        // Of the components without a preimage, one as large as the one without an image, and that one itself first.
        let explicit = |component: &usize| self.leaves.machine_of[*component] != LAZY;
        let free = (0..target.len())
            .filter(explicit)
            .filter(|&component| left.get(&target[component]).is_some_and(|&count| count > 0));
        let other = if explicit(&lost) {
            free.min_by_key(|&component| (size(component) != size(lost), component != lost))
        } else {
            None
        };
        let name = self.name(lost);
        let Some(other) = other else {
            return Obstacle::Components(format!("no component does what the image of {name} does"));
        };
        let Some((trace, label, image_does)) = self.difference(labels, lost, other) else {
            return Obstacle::Components(format!("no component does what the image of {name} does"));
        };
        let after = match &trace[..] {
            [] => "at first".to_string(),
            trace => format!("after {}", trace.iter().map(|&label| self.label(label)).collect::<Vec<_>>().join(", ")),
        };
        let same = lost == other;
        let (label, other) = (self.label(label), self.name(other));
        Obstacle::Components(match (image_does, same) {
            (true, true) => format!("component {name} cannot do {label} {after}, as its image can"),
            (false, true) => format!("component {name} can do {label} {after}, as its image cannot"),
            (true, false) => format!("component {other} cannot do {label} {after}, as the image of {name} can"),
            (false, false) => format!("component {other} can do {label} {after}, as the image of {name} cannot"),
        })
    }

    /// A trace after which the image of a component and another offer different labels; and such a label, and whether
    /// it is the image that offers it. Walks the first targets only.
    fn difference(&self, labels: &[LabelId], from: usize, to: usize) -> Option<(Vec<LabelId>, LabelId, bool)> {
        let [one, two] = [from, to].map(|component| self.leaves.initial[self.leaves.machine_of[component] as usize]);
        let mut walked: Vec<(u32, u32, usize, LabelId)> = vec![(one, two, 0, LabelId::TAU)];
        let mut known: std::collections::HashSet<(u32, u32)> = [(one, two)].into();
        let mut at = 0;
        while at < walked.len() && at < 10_000 {
            let (one, two, ..) = walked[at];
            let mut left: Vec<(LabelId, u32)> =
                self.leaves.outgoing(one).iter().map(|edge| (relabelled(labels, edge.label), edge.target.0)).collect();
            left.sort_by_key(|step| step.0);
            let right: Vec<(LabelId, u32)> =
                self.leaves.outgoing(two).iter().map(|edge| (edge.label, edge.target.0)).collect();
            let lacks = |steps: &[(LabelId, u32)], label: LabelId| steps.iter().all(|step| step.0 != label);
            let missing = left.iter().map(|step| (step.0, true)).find(|step| lacks(&right, step.0));
            let missing =
                missing.or_else(|| right.iter().map(|step| (step.0, false)).find(|step| lacks(&left, step.0)));
            if let Some((label, image_does)) = missing {
                let mut trace = Vec::new();
                while at != 0 {
                    trace.push(walked[at].3);
                    at = walked[at].2;
                }
                trace.reverse();
                return Some((trace, label, image_does));
            }
            for (label, target) in left {
                let other = right.iter().find(|step| step.0 == label);
                if let Some(&(_, other)) = other
                    && known.insert((target, other))
                {
                    walked.push((target, other, at, label));
                }
            }
            at += 1;
        }
        None
    }
}
