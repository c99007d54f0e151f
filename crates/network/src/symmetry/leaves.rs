//! The explicit machines of a network, and which of them are each other's images.
//!
//! A permutation of labels maps each machine to another one, its image. Machines and images are put side by side and
//! their states divided into classes of strong bisimilarity. Machines are usually minimal: then the states of an image
//! and of the machine it equals stand in the same classes, one in each, and that is the map of states. A machine that
//! is not minimal has bisimilar states; where incoming steps distinguish them, they are refined by these, and states
//! that are alike even so are mapped in the order of their numbers, so that maps compose to maps of the same kind.
//! Whatever was found is accepted only after every transition was checked.
//!
//! The transitions are put side by side when the first proof looks at them: many networks have nothing to prove.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use trefoil_control::{Control, Stopped};
use trefoil_lts::equivalence::strong_classes;
use trefoil_lts::{Lts, Transition};
use trefoil_system::{LabelId, Labels, StateId};

use super::relabelled;
use crate::network::Network;
use crate::rules::Behaviour;

type Hasher = foldhash::fast::FixedState;

/// What a component without an explicit machine has instead of one.
pub(super) const LAZY: u32 = u32::MAX;

/// The explicit machines of a network; their states are numbered together.
pub(super) struct Leaves {
    labels: Arc<Labels>,
    /// The machine of each component, or [`LAZY`].
    pub(super) machine_of: Vec<u32>,
    /// The first state of each machine, and one more.
    pub(super) offsets: Vec<u32>,
    pub(super) initial: Vec<u32>,
    machines: Vec<Arc<Lts>>,
    rows: OnceLock<Rows>,
}

/// The transitions of all machines.
#[derive(Default)]
struct Rows {
    starts: Vec<usize>,
    /// Sorted by state, label and target, each once.
    edges: Vec<Transition>,
}

/// What is known of the machines under one permutation of labels.
pub(super) struct Matching {
    /// For each machine a number that identifies its behaviour.
    pub(super) own: Vec<u32>,
    /// The same for its image.
    pub(super) image: Vec<u32>,
    class: Vec<u32>,
    image_class: Vec<u32>,
    classes: usize,
    maps: HashMap<(u32, u32), Option<Arc<[u32]>>, Hasher>,
}

impl Leaves {
    pub(super) fn new(network: &Network) -> Leaves {
        let mut leaves = Leaves {
            labels: trefoil_system::System::labels(network).clone(),
            machine_of: Vec::new(),
            offsets: vec![0],
            initial: Vec::new(),
            machines: Vec::new(),
            rows: OnceLock::new(),
        };
        let mut known: HashMap<*const Lts, u32> = HashMap::new();
        for component in network.components() {
            let machine = match &component.behaviour {
                Behaviour::Lazy(_) => LAZY,
                Behaviour::Explicit(lts) => {
                    let new = known.len() as u32;
                    let machine = *known.entry(Arc::as_ptr(lts)).or_insert(new);
                    if machine == new {
                        let offset = leaves.offsets[machine as usize];
                        leaves.initial.push(offset + lts.initial().0);
                        leaves.offsets.push(offset + lts.state_count() as u32);
                        leaves.machines.push(lts.clone());
                    }
                    machine
                }
            };
            leaves.machine_of.push(machine);
        }
        leaves
    }

    fn rows(&self) -> &Rows {
        self.rows.get_or_init(|| {
            let mut rows = Rows { starts: vec![0], edges: Vec::new() };
            self.machines.iter().for_each(|lts| rows.add(lts));
            rows
        })
    }

    fn machines(&self) -> usize {
        self.initial.len()
    }

    pub(super) fn states(&self, machine: u32) -> std::ops::Range<u32> {
        self.offsets[machine as usize]..self.offsets[machine as usize + 1]
    }

    pub(super) fn outgoing(&self, state: u32) -> &[Transition] {
        let Rows { starts, edges } = self.rows();
        &edges[starts[state as usize]..starts[state as usize + 1]]
    }

    /// How many transitions a component has.
    pub(super) fn steps(&self, component: usize) -> usize {
        match self.machine_of[component] {
            LAZY => 0,
            machine => self.steps_of(machine),
        }
    }

    /// How many transitions a machine has.
    pub(super) fn steps_of(&self, machine: u32) -> usize {
        self.machines[machine as usize].transition_count()
    }

    fn edges_of(&self, machine: usize) -> &[Transition] {
        let Rows { starts, edges } = self.rows();
        &edges[starts[self.offsets[machine] as usize]..starts[self.offsets[machine + 1] as usize]]
    }
}

impl Rows {
    fn add(&mut self, lts: &Lts) {
        let offset = self.starts.len() as u32 - 1;
        for state in lts.states() {
            let from = self.edges.len();
            let moved = |t: &Transition| Transition { label: t.label, target: StateId(t.target.0 + offset) };
            self.edges.extend(lts.outgoing(state).iter().map(moved));
            self.edges[from..].sort_unstable();
            let mut kept = from;
            for at in from..self.edges.len() {
                if at == from || self.edges[at] != self.edges[kept - 1] {
                    self.edges[kept] = self.edges[at];
                    kept += 1;
                }
            }
            self.edges.truncate(kept);
            self.starts.push(self.edges.len());
        }
    }
}

impl Leaves {
    /// Compares the machines with their images.
    pub(super) fn matching(&self, labels: &[LabelId], control: &Control) -> Result<Matching, Stopped> {
        let rows = self.rows();
        let states = rows.starts.len() - 1;
        let moves: Vec<bool> = (0..self.machines())
            .map(|machine| self.edges_of(machine).iter().any(|edge| relabelled(labels, edge.label) != edge.label))
            .collect();
        control.afford((states + rows.edges.len()) * 16)?;
        // The images of machines with moved labels follow after the machines.
        let (mut starts, mut edges) = (rows.starts.clone(), rows.edges.clone());
        let mut places = vec![0u32; self.machines()];
        for machine in (0..self.machines()).filter(|&machine| moves[machine]) {
            let place = starts.len() as u32 - 1;
            places[machine] = place;
            let offset = self.offsets[machine];
            for state in self.states(machine as u32) {
                let moved = |edge: &Transition| Transition {
                    label: relabelled(labels, edge.label),
                    target: StateId(edge.target.0 - offset + place),
                };
                edges.extend(self.outgoing(state).iter().map(moved));
                starts.push(edges.len());
            }
        }
        if states == 0 {
            let nothing = Vec::new;
            return Ok(Matching {
                own: nothing(),
                image: nothing(),
                class: nothing(),
                image_class: nothing(),
                classes: 0,
                maps: HashMap::default(),
            });
        }
        let union = Lts::from_rows(self.labels.clone(), StateId(0), starts, edges);
        let (mut class, classes) = strong_classes(&union, control)?;
        let mut image_class = Vec::with_capacity(states);
        for machine in 0..self.machines() {
            let own = self.states(machine as u32);
            let range = match moves[machine] {
                false => own.start as usize..own.end as usize,
                true => places[machine] as usize..places[machine] as usize + own.len(),
            };
            image_class.extend_from_slice(&class[range]);
        }
        class.truncate(states);
        let mut known: HashMap<Vec<u32>, u32, Hasher> = HashMap::default();
        let mut number = |classes: &[u32], machine: usize| {
            let states = self.states(machine as u32);
            let mut key: Vec<u32> = classes[states.start as usize..states.end as usize].to_vec();
            key.sort_unstable();
            key.push(classes[self.initial[machine] as usize]);
            let new = known.len() as u32;
            *known.entry(key).or_insert(new)
        };
        let own: Vec<u32> = (0..self.machines()).map(|machine| number(&class, machine)).collect();
        let image: Vec<u32> = (0..self.machines())
            .map(|machine| if moves[machine] { number(&image_class, machine) } else { own[machine] })
            .collect();
        Ok(Matching { own, image, class, image_class, classes, maps: HashMap::default() })
    }

    /// The map from the states of a machine to those of another that is an isomorphism up to labels, if one is found;
    /// states are numbered within their machines.
    pub(super) fn map(
        &self,
        matching: &mut Matching,
        labels: &[LabelId],
        from: u32,
        to: u32,
        control: &Control,
    ) -> Result<Option<Arc<[u32]>>, Stopped> {
        if let Some(known) = matching.maps.get(&(from, to)) {
            return Ok(known.clone());
        }
        let found = self.find_map(matching, labels, from, to, control)?;
        matching.maps.insert((from, to), found.clone());
        Ok(found)
    }

    fn find_map(
        &self,
        matching: &Matching,
        labels: &[LabelId],
        from: u32,
        to: u32,
        control: &Control,
    ) -> Result<Option<Arc<[u32]>>, Stopped> {
        if matching.image[from as usize] != matching.own[to as usize] {
            return Ok(None);
        }
        let mut colours: Vec<u64> = self.states(from).map(|s| u64::from(matching.image_class[s as usize])).collect();
        let mut targets: Vec<u64> = self.states(to).map(|s| u64::from(matching.class[s as usize])).collect();
        // A state by its class; two in one class only when the machine is not minimal.
        let mut by_class: HashMap<u64, u32, Hasher> = HashMap::default();
        let mut minimal = true;
        for (state, &class) in (0..).zip(&targets) {
            minimal &= by_class.insert(class, state).is_none();
        }
        if minimal {
            let map: Option<Vec<u32>> = colours.iter().map(|class| by_class.get(class).copied()).collect();
            return Ok(map.filter(|map| self.is_isomorphism(labels, from, to, map)).map(Arc::from));
        }
        let ends = (
            self.initial[from as usize] - self.offsets[from as usize],
            self.initial[to as usize] - self.offsets[to as usize],
        );
        colours[ends.0 as usize] += matching.classes as u64;
        targets[ends.1 as usize] += matching.classes as u64;
        let identity = |label: LabelId| label;
        let renamed = |label: LabelId| relabelled(labels, label);
        let (source, target) = (self.neighbours(from, &renamed), self.neighbours(to, &identity));
        loop {
            control.check()?;
            refine(&source, &mut colours, &target, &mut targets, control)?;
            let Some((map, tie)) = in_order(&colours, &targets) else { return Ok(None) };
            if self.is_isomorphism(labels, from, to, &map) {
                return Ok(Some(map.into()));
            }
            // The indistinguishable states are linked: choose one, and refine again.
            let Some(tie) = tie else { return Ok(None) };
            colours[tie as usize] = u64::MAX - 1;
            targets[map[tie as usize] as usize] = u64::MAX - 1;
        }
    }

    /// For each state of a machine what leads out and in: labels (outgoing ones even, incoming ones odd) and
    /// neighbours.
    fn neighbours(&self, machine: u32, rename: &dyn Fn(LabelId) -> LabelId) -> Vec<Vec<(u64, u32)>> {
        let states = self.states(machine);
        let mut all = vec![Vec::new(); states.len()];
        for state in states.clone() {
            let from = state - states.start;
            for edge in self.outgoing(state) {
                let (label, to) = (2 * u64::from(rename(edge.label).0), edge.target.0 - states.start);
                all[from as usize].push((label, to));
                all[to as usize].push((label + 1, from));
            }
        }
        all
    }

    /// Does this map, one to one or not, carry each transition to one, and the initial state to the initial one?
    fn is_isomorphism(&self, labels: &[LabelId], from: u32, to: u32, map: &[u32]) -> bool {
        let (source, target) = (self.states(from), self.states(to));
        if source.len() != target.len() || map.len() != source.len() {
            return false;
        }
        let place = |state: u32| target.start + map[(state - source.start) as usize];
        let mut met = vec![false; map.len()];
        if !map.iter().all(|&state| !std::mem::replace(&mut met[state as usize], true)) {
            return false;
        }
        if place(self.initial[from as usize]) != self.initial[to as usize] {
            return false;
        }
        let mut image: Vec<Transition> = Vec::new();
        for state in source.clone() {
            image.clear();
            let moved = |edge: &Transition| Transition {
                label: relabelled(labels, edge.label),
                target: StateId(place(edge.target.0)),
            };
            image.extend(self.outgoing(state).iter().map(moved));
            image.sort_unstable();
            if image != self.outgoing(place(state)) {
                return false;
            }
        }
        true
    }
}

/// Refines the colours of two graphs together until nothing changes.
fn refine(
    source: &[Vec<(u64, u32)>],
    colours: &mut Vec<u64>,
    target: &[Vec<(u64, u32)>],
    targets: &mut Vec<u64>,
    control: &Control,
) -> Result<(), Stopped> {
    let mut count = 0;
    loop {
        let mut all = targets.clone();
        all.sort_unstable();
        all.dedup();
        if all.len() == count || all.len() == targets.len() {
            return Ok(());
        }
        count = all.len();
        control.check()?;
        *colours = refined(source, colours);
        *targets = refined(target, targets);
    }
}

fn refined(graph: &[Vec<(u64, u32)>], colours: &[u64]) -> Vec<u64> {
    let digest = |(neighbours, &own): (&Vec<(u64, u32)>, &u64)| {
        let each = |&(label, other): &(u64, u32)| mix(mix(label).wrapping_add(colours[other as usize]));
        neighbours.iter().map(each).fold(mix(own), u64::wrapping_add)
    };
    graph.iter().zip(colours).map(digest).collect()
}

/// A pseudo-random number (the last steps of SplitMix64).
pub(super) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Maps equal colours to each other in the order of places; also gives a place whose colour others have, if any. `None`
/// when the colours do not match.
pub(super) fn in_order(colours: &[u64], targets: &[u64]) -> Option<(Vec<u32>, Option<u32>)> {
    let sorted = |colours: &[u64]| {
        let mut all: Vec<(u64, u32)> = colours.iter().copied().zip(0..).collect();
        all.sort_unstable();
        all
    };
    let (from, to) = (sorted(colours), sorted(targets));
    if from.len() != to.len() || from.iter().zip(&to).any(|(left, right)| left.0 != right.0) {
        return None;
    }
    let mut map = vec![0; colours.len()];
    for (left, right) in from.iter().zip(&to) {
        map[left.1 as usize] = right.1;
    }
    let tie = from.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].1);
    Some((map, tie))
}
