//! What a group that acts on an implementation does to products of it with a specification.
//!
//! The group acts on the nodes of the specification by the maps of its generators ([`crate::permuted`]), and on pairs by acting on
//! both sides (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3.2). A node of a complete
//! normal form is drawn beside the implementation's row as a vertex with its references, a set of states as its states are;
//! nodes that every element fixes tell nothing apart and are not drawn.
//!
//! [`Drawn::Implementation`] leaves the node out of the picture: then the element depends on the implementation alone, as in
//! definition 17 of the paper, and a pair may have several representatives, one for each image of its node under the elements
//! that keep the row.

use trefoil_control::{Control, Stopped};
use trefoil_lts::references::{Map, References};
use trefoil_lts::{LazyNormalForm, NodeId};
use trefoil_system::{Action, Actor, LabelId, Picture, Value};

use crate::permuted::{node_map, state_map};
use crate::specification::{Normalised, Permutable};

/// The colours from here on are those of specifications.
const FIRST_COLOUR: u32 = 1 << 30;

/// What elements do to nodes.
enum Nodes {
    /// Nothing.
    Fixed,
    /// They permute them.
    Permuted(References),
    /// They permute the states of which nodes are sets.
    Sets(References),
}

/// Which part of a pair is in its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// All of it.
    Pair,
    /// The row of the implementation.
    Implementation,
}

/// The action of a group on rows that begin with the node of a specification.
pub(crate) struct ProductAction<'a> {
    implementation: &'a dyn Action,
    normal_form: &'a LazyNormalForm,
    nodes: Nodes,
    drawn: Drawn,
    /// Not a node.
    forbidden: Value,
    control: &'a Control,
}

impl<'a> ProductAction<'a> {
    /// The action on a product, or why there is none, in words.
    pub(crate) fn new(
        specification: &'a Normalised,
        implementation: &'a dyn Action,
        drawn: Drawn,
        forbidden: Value,
        control: &'a Control,
    ) -> Result<Result<ProductAction<'a>, String>, Stopped> {
        let normal_form = &specification.normal_form;
        let mut maps = Vec::new();
        let mut actor = implementation.actor();
        for generator in implementation.generators() {
            let mut image = |label| actor.apply_to_label(generator, label);
            let map = match &specification.permutable {
                Permutable::Nodes => node_map(normal_form, &mut image, control)?,
                Permutable::States(lts) => state_map(lts, &mut image, control)?,
                Permutable::Not(why) => return Ok(Err((*why).to_string())),
            };
            match map {
                Ok(map) => maps.push(map),
                Err(obstacle) => return Ok(Err(obstacle.describe(&specification.labels))),
            }
        }
        drop(actor);
        let size = maps.iter().map(Vec::len).max().unwrap_or(0);
        let fixed = maps.iter().all(|map| map.iter().zip(0..).all(|(&image, place)| image == place));
        let nodes = if fixed {
            Nodes::Fixed
        } else {
            for map in &mut maps {
                map.extend(map.len() as u32..size as u32);
            }
            let maps: Vec<Map> = maps.into_iter().map(|map| Map { machines: vec![0], states: vec![map] }).collect();
            let generators = implementation.generators();
            match References::new(implementation.points(), generators, &[size], &maps, control)? {
                Ok(references) if matches!(specification.permutable, Permutable::Nodes) => Nodes::Permuted(references),
                Ok(references) => Nodes::Sets(references),
                Err(refusal) => {
                    return Ok(Err(format!("the states of the specification cannot be permuted: {refusal}")));
                }
            }
        };
        Ok(Ok(ProductAction { implementation, normal_form, nodes, drawn, forbidden, control }))
    }
}

impl Action for ProductAction<'_> {
    fn points(&self) -> usize {
        self.implementation.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.implementation.generators()
    }

    fn pictures_are_complete(&self) -> bool {
        self.drawn == Drawn::Pair && self.implementation.pictures_are_complete()
    }

    fn describe_point(&self, point: u32) -> String {
        self.implementation.describe_point(point)
    }

    fn actor(&self) -> Box<dyn Actor + '_> {
        Box::new(ProductActor { action: self, implementation: self.implementation.actor(), set: Vec::new() })
    }
}

struct ProductActor<'a> {
    action: &'a ProductAction<'a>,
    implementation: Box<dyn Actor + 'a>,
    set: Vec<u32>,
}

impl ProductActor<'_> {
    #[inline]
    fn node(&mut self, element: &[u32], node: Value) -> Value {
        let ProductAction { normal_form, nodes, forbidden, control, .. } = self.action;
        if node == *forbidden || node == NodeId::CHAOS.0 {
            return node;
        }
        match nodes {
            Nodes::Fixed => node,
            Nodes::Permuted(references) => references.apply(element, 0, node).1,
            Nodes::Sets(references) => {
                let states = normal_form.states(NodeId(node));
                self.set.clear();
                self.set.extend(states.iter().map(|&state| references.apply(element, 0, state).1));
                self.set.sort_unstable();
                // When it was stopped, the control stays so, and nothing that follows is believed.
                normal_form.node_of(&self.set, control).map_or(node, |image| image.0)
            }
        }
    }
}

impl Actor for ProductActor<'_> {
    #[inline]
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.implementation.picture(&row[1..], picture);
        let ProductAction { normal_form, nodes, forbidden, drawn, .. } = self.action;
        let node = row[0];
        if *drawn == Drawn::Implementation || node == *forbidden || node == NodeId::CHAOS.0 {
            return;
        }
        let mut draw = |references: &References, state: Value| {
            // What all elements fix needs no vertex.
            if !references.blocks(references.shape(0, state)).is_empty() {
                references.draw(0, state, FIRST_COLOUR, picture);
            }
        };
        match nodes {
            Nodes::Fixed => {}
            Nodes::Permuted(references) => draw(references, node),
            Nodes::Sets(references) => {
                normal_form.states(NodeId(node)).iter().for_each(|&state| draw(references, state));
            }
        }
    }

    #[inline]
    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) {
        into[0] = self.node(element, row[0]);
        self.implementation.apply(element, &row[1..], &mut into[1..]);
    }

    #[inline]
    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        if slot > 0 {
            return self.implementation.references(slot - 1, value, points);
        }
        let ProductAction { normal_form, nodes, forbidden, drawn, .. } = self.action;
        if *drawn == Drawn::Implementation {
            // What keeps the picture need not keep the node.
            return false;
        }
        let mut append = |references: &References, state: Value| {
            let arity = references.blocks(references.shape(0, state)).len();
            points.extend(references.tuples(0, state)[..arity].iter().map(|&point| u32::from(point)));
        };
        if value != *forbidden && value != NodeId::CHAOS.0 {
            match nodes {
                Nodes::Fixed => {}
                Nodes::Permuted(references) => append(references, value),
                Nodes::Sets(references) => {
                    normal_form.states(NodeId(value)).iter().for_each(|&state| append(references, state));
                }
            }
        }
        true
    }

    #[inline]
    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> (usize, Value) {
        if slot == 0 {
            return (0, self.node(element, value));
        }
        let (slot, value) = self.implementation.apply_to_slot(element, slot - 1, value);
        (slot + 1, value)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.implementation.apply_to_label(element, label)
    }
}
