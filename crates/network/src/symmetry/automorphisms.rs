//! Symmetries that no type shows: automorphisms of the network itself.
//!
//! Processes in a ring or a tree are often numbered by integers, and no permutation of values is a symmetry. But the network has
//! its rotations all the same. They are found as automorphisms of a coloured graph whose vertices are
//!
//! - labels, except `τ` and `✓`; components, with their states (the initial one of a colour of its own); formats, the
//!   initial one of a colour of its own;
//! - *ports*, a component and one of its labels; transitions, from a state to a state by a port; rules, with their parts as ports;
//! - and, when a specification is given, its states and transitions.
//!
//! An automorphism permutes labels and components, and each generator is then proved like any other candidate. The graph of the
//! specification is a guide only, too: who uses the symmetry asks the specification whether it admits it.
//!
//! The components that are moved are the points. Where permuting them does not determine what happens to visible labels, or to the states of
//! a component that stays where it is, labels become points as well, the smallest orbits first.

use std::collections::HashMap;
use std::time::Duration;

use trefoil_control::{Control, Stopped};
use trefoil_groups::{ColouredGraph, SparsePermutation};
use trefoil_lts::Lts;
use trefoil_system::{LabelId, System};

use super::action::NetworkAction;
use super::leaves::LAZY;
use super::{Candidate, Image, Prover, relabelled};

/// Larger graphs are not searched.
const MOST_VERTICES: usize = 1 << 19;

/// The processor time that search and proofs may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// There are no more points than this when labels have to be points.
const MOST_POINTS: usize = 512;

/// Symmetries with the points that they permute.
pub struct Found {
    /// What a person calls the points.
    pub names: Vec<String>,
    /// Generators with their proofs.
    pub generators: Vec<(Candidate, Image)>,
}

mod colour {
    pub(super) const LABEL: u32 = 0;
    pub(super) const TAU: u32 = 1;
    pub(super) const TICK: u32 = 2;
    pub(super) const COMPONENT: u32 = 3;
    pub(super) const STATE: u32 = 4;
    pub(super) const INITIAL_STATE: u32 = 5;
    pub(super) const FORMAT: u32 = 6;
    pub(super) const INITIAL_FORMAT: u32 = 7;
    pub(super) const PORT: u32 = 8;
    pub(super) const TRANSITION: u32 = 9;
    pub(super) const RULE: u32 = 10;
    pub(super) const NODE: u32 = 11;
    pub(super) const INITIAL_NODE: u32 = 12;
    pub(super) const EDGE: u32 = 13;
    /// Each label that must stay has its own colour from here on.
    pub(super) const FIXED: u32 = 14;
}

/// The graph under construction.
struct Drawing {
    graph: ColouredGraph,
    labels: HashMap<LabelId, u32>,
    ports: HashMap<(u32, LabelId), u32>,
    /// The vertex of each component.
    components: Vec<u32>,
}

impl Prover<'_> {
    /// Symmetries of the network that also keep the graph of a specification, if one is given, and these labels; or, in words, why none
    /// were looked for. There may be none.
    pub fn automorphisms(
        &self,
        specification: Option<&Lts>,
        fixed: &[LabelId],
        control: &Control,
    ) -> Result<Result<Found, String>, Stopped> {
        let nothing = Found { names: Vec::new(), generators: Vec::new() };
        if let Some(obstacle) = self.layers(&[]) {
            return Ok(Err(obstacle.to_string()));
        }
        if let Some(&(component, _)) = self.inner.first() {
            let name = &self.network.components()[component as usize].name;
            return Ok(Err(format!("the states of component {name} are only found while it runs")));
        }
        let size = self.graph_size(specification);
        if size > MOST_VERTICES {
            return Ok(Err(format!(
                "a graph of the network has {size} vertices; at most {MOST_VERTICES} are searched"
            )));
        }
        control.afford(size * 300)?;
        let drawn = self.graph(specification, fixed);
        let effort = control.within(PATIENCE);
        let found = match trefoil_groups::automorphisms(&drawn.graph, &effort) {
            Ok(found) => found,
            Err(stopped) => {
                control.check()?;
                match stopped {
                    Stopped::Timeout { .. } => return Ok(Err("the search for them took too long".into())),
                    other => return Err(other),
                }
            }
        };
        let visible = self.visible(specification);
        let mut proved: Vec<(Vec<LabelId>, Image)> = Vec::new();
        for generator in &found.generators {
            control.check()?;
            if effort.check().is_err() {
                // What is proved generates a group, too.
                break;
            }
            let (labels, components) = self.read(&drawn, generator);
            let Ok(image) = self.prove_with(&labels, &components, control)? else { continue };
            let moves_states = image.states.iter().any(|map| map.iter().zip(0..).any(|(&to, from)| to != from));
            if moves_states || image.components.iter().zip(0..).any(|(&to, from)| to != from) {
                // Labels that are never seen need not be permuted, and might be permuted in ways that make no difference.
                let label = |label: u32| match visible[label as usize] {
                    true => relabelled(&labels, LabelId(label)),
                    false => LabelId(label),
                };
                proved.push(((0..visible.len() as u32).map(label).collect(), image));
            }
        }
        if proved.is_empty() {
            return Ok(Ok(nothing));
        }
        self.with_points(proved, control)
    }

    /// Chooses points that determine everything.
    fn with_points(
        &self,
        proved: Vec<(Vec<LabelId>, Image)>,
        control: &Control,
    ) -> Result<Result<Found, String>, Stopped> {
        let components: Vec<u32> = (0..self.leaves.machine_of.len() as u32)
            .filter(|&component| proved.iter().any(|(_, image)| image.components[component as usize] != component))
            .collect();
        let mut orbits = label_orbits(&proved).into_iter();
        let mut added: Vec<LabelId> = Vec::new();
        loop {
            control.check()?;
            let generators = with_label_points(&proved, &components, &added);
            let mut names: Vec<String> = components
                .iter()
                .map(|&component| self.network.components()[component as usize].name.clone())
                .collect();
            names.extend(added.iter().map(|&label| self.network.labels().get(label).to_string()));
            match NetworkAction::on_points(self.network, names.clone(), &generators, control)? {
                Ok(_) => return Ok(Ok(Found { names, generators })),
                Err(refusal) => match orbits.next() {
                    Some(orbit) if added.len() + orbit.len() + components.len() <= MOST_POINTS => added.extend(orbit),
                    _ => return Ok(Err(refusal.to_string())),
                },
            }
        }
    }

    /// The labels that steps of the network and of the specification can have.
    fn visible(&self, specification: Option<&Lts>) -> Vec<bool> {
        let mut visible = vec![false; self.network.labels().len()];
        let rules = self.book.rules.iter().map(|rule| rule.label);
        let edges = specification.into_iter().flat_map(|lts| lts.transitions()).map(|transition| transition.label);
        for label in rules.chain(edges) {
            if let Some(place) = visible.get_mut(label.index()) {
                *place = true;
            }
        }
        visible
    }

    fn graph_size(&self, specification: Option<&Lts>) -> usize {
        let machines = self.leaves.machine_of.iter().filter(|&&machine| machine != LAZY);
        let states: usize = machines
            .map(|&machine| {
                let states = self.leaves.states(machine);
                states.len() + states.map(|state| self.leaves.outgoing(state).len()).sum::<usize>()
            })
            .sum();
        let nodes = specification.map_or(0, |lts| lts.state_count() + lts.transition_count());
        states + nodes + self.book.rules.len() + self.book.formats + self.leaves.machine_of.len()
    }

    fn graph(&self, specification: Option<&Lts>, fixed: &[LabelId]) -> Drawing {
        let mut drawn = Drawing {
            graph: ColouredGraph::new(0),
            labels: HashMap::new(),
            ports: HashMap::new(),
            components: Vec::new(),
        };
        for (number, &label) in (0..).zip(fixed.iter().filter(|label| label.is_visible())) {
            let vertex = drawn.graph.add_vertex(colour::FIXED + number);
            drawn.labels.entry(label).or_insert(vertex);
        }
        for (component, &machine) in (0..).zip(&self.leaves.machine_of) {
            let vertex = drawn.graph.add_vertex(colour::COMPONENT);
            drawn.components.push(vertex);
            let states = self.leaves.states(machine);
            let first = drawn.graph.vertices() as u32;
            for state in states.clone() {
                let initial = state == self.leaves.initial[machine as usize];
                let kind = if initial { colour::INITIAL_STATE } else { colour::STATE };
                let state = drawn.graph.add_vertex(kind);
                if initial {
                    drawn.graph.add_arc(vertex, state, 0);
                }
            }
            for state in states.clone() {
                for edge in self.leaves.outgoing(state) {
                    let port = drawn.port(component, edge.label);
                    let transition = drawn.graph.add_vertex(colour::TRANSITION);
                    drawn.graph.add_arc(first + state - states.start, transition, 0);
                    drawn.graph.add_arc(transition, first + edge.target.0 - states.start, 1);
                    drawn.graph.add_arc(transition, port, 2);
                }
            }
        }
        let formats: Vec<u32> = (0..self.book.formats as u32)
            .map(|format| {
                let initial = format == self.book.initial;
                drawn.graph.add_vertex(if initial { colour::INITIAL_FORMAT } else { colour::FORMAT })
            })
            .collect();
        for rule in &self.book.rules {
            let vertex = drawn.graph.add_vertex(colour::RULE);
            let label = drawn.label(rule.label);
            drawn.graph.add_arc(vertex, label, 3);
            drawn.graph.add_arc(vertex, formats[rule.format as usize], 4);
            drawn.graph.add_arc(vertex, formats[rule.next as usize], 5);
            for &(component, label) in &rule.parts {
                let port = drawn.port(component, label);
                drawn.graph.add_arc(vertex, port, 6);
            }
            for &component in &rule.resets {
                let component = drawn.components[component as usize];
                drawn.graph.add_arc(vertex, component, 7);
            }
        }
        if let Some(lts) = specification {
            drawn.add_specification(lts);
        }
        drawn
    }

    /// What an automorphism does to labels and components.
    fn read(&self, drawn: &Drawing, generator: &SparsePermutation) -> (Vec<LabelId>, Vec<u32>) {
        let by_vertex: HashMap<u32, LabelId> = drawn.labels.iter().map(|(&label, &vertex)| (vertex, label)).collect();
        let component_of: HashMap<u32, u32> = drawn.components.iter().copied().zip(0..).collect();
        let mut labels: Vec<LabelId> = (0..self.network.labels().len() as u32).map(LabelId).collect();
        let mut components: Vec<u32> = (0..drawn.components.len() as u32).collect();
        for (from, to) in generator.moves() {
            if let (Some(from), Some(&to)) = (by_vertex.get(from), by_vertex.get(to)) {
                labels[from.index()] = to;
            }
            if let (Some(&from), Some(&to)) = (component_of.get(from), component_of.get(to)) {
                components[from as usize] = to;
            }
        }
        (labels, components)
    }
}

impl Drawing {
    fn label(&mut self, label: LabelId) -> u32 {
        let kind = match label {
            LabelId::TAU => colour::TAU,
            LabelId::TICK => colour::TICK,
            _ => colour::LABEL,
        };
        *self.labels.entry(label).or_insert_with(|| self.graph.add_vertex(kind))
    }

    fn port(&mut self, component: u32, label: LabelId) -> u32 {
        if let Some(&port) = self.ports.get(&(component, label)) {
            return port;
        }
        let label_vertex = self.label(label);
        let port = self.graph.add_vertex(colour::PORT);
        self.graph.add_arc(port, self.components[component as usize], 8);
        self.graph.add_arc(port, label_vertex, 9);
        self.ports.insert((component, label), port);
        port
    }

    fn add_specification(&mut self, lts: &Lts) {
        let first = self.graph.vertices() as u32;
        for state in lts.states() {
            self.graph.add_vertex(if state == lts.initial() { colour::INITIAL_NODE } else { colour::NODE });
        }
        for (source, transition) in lts.all_transitions() {
            let label = self.label(transition.label);
            let edge = self.graph.add_vertex(colour::EDGE);
            self.graph.add_arc(first + source.0, edge, 0);
            self.graph.add_arc(edge, first + transition.target.0, 1);
            self.graph.add_arc(edge, label, 10);
        }
    }
}

/// The orbits of labels with more than one, smallest first.
fn label_orbits(proved: &[(Vec<LabelId>, Image)]) -> Vec<Vec<LabelId>> {
    let count = proved.iter().map(|(labels, _)| labels.len()).max().unwrap_or(0);
    let mut met = vec![false; count];
    let mut orbits = Vec::new();
    for start in 0..count {
        if met[start] {
            continue;
        }
        met[start] = true;
        let mut orbit = vec![LabelId(start as u32)];
        let mut at = 0;
        while at < orbit.len() {
            for (labels, _) in proved {
                let image = relabelled(labels, orbit[at]);
                if !std::mem::replace(&mut met[image.index()], true) {
                    orbit.push(image);
                }
            }
            at += 1;
        }
        if orbit.len() > 1 {
            orbit.sort_unstable();
            orbits.push(orbit);
        }
    }
    orbits.sort_by_key(Vec::len);
    orbits
}

/// Generators on components and labels as points.
fn with_label_points(
    proved: &[(Vec<LabelId>, Image)],
    components: &[u32],
    labels: &[LabelId],
) -> Vec<(Candidate, Image)> {
    let component_place: HashMap<u32, u32> = components.iter().copied().zip(0..).collect();
    let label_place: HashMap<LabelId, u32> = labels.iter().copied().zip(components.len() as u32..).collect();
    let generator = |(images, image): &(Vec<LabelId>, Image)| {
        let moved = components.iter().map(|&component| component_place[&image.components[component as usize]]);
        let renamed = labels.iter().map(|&label| label_place[&relabelled(images, label)]);
        (Candidate { points: moved.chain(renamed).collect(), labels: images.clone() }, image.clone())
    };
    proved.iter().map(generator).collect()
}
