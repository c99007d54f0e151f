//! What a group that acts on an implementation does to products of it with a specification.
//!
//! The group acts on the nodes of the specification by the maps of its generators ([`crate::permuted`]), and on pairs
//! by acting on both sides (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3.2). A
//! node of a complete normal form is drawn into the implementation's picture: shape and position are one more digit in
//! the colours of the points that it refers to. Where colours have no room for that it is drawn beside, as a vertex
//! with its references, and so are the states of a set. Nodes that every element fixes distinguish nothing and are not
//! drawn.
//!
//! [`Drawn::Implementation`] leaves the node out of the picture: then the element depends on the implementation alone,
//! as in definition 17 of the paper, and a pair may have several representatives, one for each image of its node under
//! the elements that keep the row.

use trefoil_control::{Control, Stopped};
use trefoil_lts::references::{Map, References};
use trefoil_lts::{LazyNormalForm, NodeId};
use trefoil_system::{Action, Actor, Cut, LabelId, Picture, Value, Walk};

use crate::specification::{Normalised, Permutable};

/// The colours from here on are those of specifications.
const FIRST_COLOUR: u32 = 1 << 30;

/// What elements do to nodes.
enum Nodes {
    /// Nothing.
    Fixed,
    /// They permute them, and each node marks its references.
    Marked(References, Vec<Marks>),
    /// They permute them.
    Permuted(References),
    /// They permute states; nodes are sets of these.
    Sets(References),
}

/// What a node adds to the colours of points; nothing where it marks nothing.
#[derive(Clone, Copy, Default)]
struct Marks {
    points: [u16; MOST_MARKS],
    more: [u32; MOST_MARKS],
}

impl Marks {
    /// Does an element fix all marked points, and so the node? The marks were just drawn and are in the cache, unlike
    /// the tables of a large specification.
    #[inline]
    fn stay(&self, element: &[u32]) -> bool {
        let stays = |(&point, &more): (&u16, &u32)| more == 0 || element[point as usize] == u32::from(point);
        self.points.iter().zip(&self.more).all(stays)
    }
}

/// A node with more references is drawn as a vertex.
const MOST_MARKS: usize = 4;

/// How nodes mark their references above what the implementation makes of the colours; `None` when a node names points
/// in several ways or too many of them, or colours become too large.
fn marks(
    references: &References,
    implementation: &dyn Action,
    control: &Control,
) -> Result<Option<Vec<Marks>>, Stopped> {
    // All points of an orbit are marked alike; the numbers are kept at its least point.
    let mut least: Vec<u32> = (0..references.points() as u32).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for generator in implementation.generators() {
            for (point, &image) in generator.iter().enumerate() {
                let lower = least[point].min(least[image as usize]);
                changed |= least[point] != lower || least[image as usize] != lower;
                (least[point], least[image as usize]) = (lower, lower);
            }
        }
    }
    let mut next = vec![1u32; references.points()];
    control.afford(references.states(0) * size_of::<Marks>())?;
    let mut marks = vec![Marks::default(); references.states(0)];
    for shape in 0..references.shapes() as u32 {
        if shape.is_multiple_of(1 << 10) {
            control.check()?;
        }
        let blocks = references.blocks(shape);
        if blocks.len() > MOST_MARKS || references.tuples_per_state(shape) > 1 {
            return Ok(None);
        }
        let mut digits = [0; MOST_MARKS];
        for (member, (_, node)) in references.members(shape).enumerate() {
            let tuple = references.tuples(0, node);
            for (position, &point) in tuple.iter().enumerate() {
                let account = least[point as usize];
                let again = position > 0 && blocks[position - 1] == blocks[position];
                if member == 0 && again {
                    digits[position] = digits[position - 1];
                } else if member == 0 {
                    digits[position] = next[account as usize];
                    next[account as usize] += 1;
                }
                let Some(more) = implementation.colours(account).and_then(|from| digits[position].checked_mul(from))
                else {
                    return Ok(None);
                };
                marks[node as usize].points[position] = point;
                marks[node as usize].more[position] = more;
            }
        }
    }
    let fit = |(&next, account): (&u32, u32)| {
        next == 1 || implementation.colours(account).and_then(|from| from.checked_mul(next)).is_some()
    };
    Ok(next.iter().zip(0..).all(fit).then_some(marks))
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
}

impl<'a> ProductAction<'a> {
    /// The action on a product, or why there is none, as text.
    pub(crate) fn new(
        specification: &'a Normalised,
        implementation: &'a dyn Action,
        drawn: Drawn,
        forbidden: Value,
        control: &Control,
    ) -> Result<Result<ProductAction<'a>, String>, Stopped> {
        let normal_form = &specification.normal_form;
        let mut maps = Vec::new();
        let mut actor = implementation.actor(control);
        for generator in implementation.generators() {
            if let Permutable::Not(why) = specification.permutable {
                return Ok(Err(why.to_string()));
            }
            let table = specification.labels.len() as u32;
            let images: Vec<LabelId> =
                (0..table).map(|label| actor.apply_to_label(generator, LabelId(label))).collect();
            match specification.map(&images, control)? {
                Ok(map) => maps.push(map.to_vec()),
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
                Ok(references) if !matches!(specification.permutable, Permutable::Nodes) => Nodes::Sets(references),
                Ok(references) => match marks(&references, implementation, control)? {
                    Some(marks) => Nodes::Marked(references, marks),
                    None => Nodes::Permuted(references),
                },
                Err(refusal) => {
                    return Ok(Err(format!("the states of the specification cannot be permuted: {refusal}")));
                }
            }
        };
        Ok(Ok(ProductAction { implementation, normal_form, nodes, drawn, forbidden }))
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

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        let implementation = self.implementation.actor(control);
        Box::new(ProductActor { action: self, control, implementation, set: Vec::new(), slots: Vec::new() })
    }
}

struct ProductActor<'a> {
    action: &'a ProductAction<'a>,
    control: &'a Control,
    implementation: Box<dyn Actor + 'a>,
    set: Vec<u32>,
    slots: Vec<u32>,
}

impl ProductActor<'_> {
    #[inline]
    fn draw_node(&self, node: Value, picture: &mut Picture) {
        let ProductAction { normal_form, nodes, forbidden, drawn, .. } = self.action;
        if *drawn == Drawn::Implementation || node == *forbidden || node == NodeId::CHAOS.0 {
            return;
        }
        let mut draw = |references: &References, state: Value| {
            // A node that all elements fix needs no vertex.
            if !references.blocks(references.shape(0, state)).is_empty() {
                references.draw(0, state, FIRST_COLOUR, picture);
            }
        };
        match nodes {
            Nodes::Fixed => {}
            Nodes::Marked(_, marks) => {
                let Marks { points, more } = marks[node as usize];
                for (point, more) in points.into_iter().zip(more).filter(|(_, more)| *more > 0) {
                    picture.add_to_colour(u32::from(point), more);
                }
            }
            Nodes::Permuted(references) => draw(references, node),
            Nodes::Sets(references) => {
                normal_form.states(NodeId(node)).iter().for_each(|&state| draw(references, state));
            }
        }
    }

    /// What an element makes of a node, which may be a set of states that needs room.
    #[inline]
    fn node(&mut self, element: &[u32], node: Value) -> Result<Value, Cut> {
        let ProductAction { normal_form, nodes, forbidden, .. } = self.action;
        if node == *forbidden || node == NodeId::CHAOS.0 {
            return Ok(node);
        }
        Ok(match nodes {
            Nodes::Fixed => node,
            Nodes::Marked(references, marks) => match marks[node as usize].stay(element) {
                true => node,
                false => references.apply(element, 0, node).1,
            },
            Nodes::Permuted(references) => references.apply(element, 0, node).1,
            Nodes::Sets(references) => {
                let states = normal_form.states(NodeId(node));
                self.set.clear();
                self.set.extend(states.iter().map(|&state| references.apply(element, 0, state).1));
                self.set.sort_unstable();
                normal_form.node_of(&self.set, self.control)?.0
            }
        })
    }
}

impl Actor for ProductActor<'_> {
    #[inline]
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.implementation.picture(&row[1..], picture);
        self.draw_node(row[0], picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        self.slots.clear();
        for &slot in slots.iter().filter(|slot| **slot > 0) {
            self.slots.push(slot - 1);
        }
        let by_slot = self.implementation.draw_slots(&row[1..], &self.slots, picture);
        if by_slot && self.slots.len() < slots.len() {
            self.draw_node(row[0], picture);
        }
        by_slot
    }

    #[inline]
    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        into[0] = self.node(element, row[0])?;
        self.implementation.apply(element, &row[1..], &mut into[1..])
    }

    #[inline]
    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        if slot > 0 {
            return self.implementation.references(slot - 1, value, points);
        }
        let ProductAction { normal_form, nodes, forbidden, drawn, .. } = self.action;
        if *drawn == Drawn::Implementation {
            // An element that fixes the picture need not fix the node.
            return false;
        }
        let mut append = |references: &References, state: Value| {
            let arity = references.blocks(references.shape(0, state)).len();
            points.extend(references.tuples(0, state)[..arity].iter().map(|&point| u32::from(point)));
        };
        if value != *forbidden && value != NodeId::CHAOS.0 {
            match nodes {
                Nodes::Fixed => {}
                Nodes::Marked(references, _) | Nodes::Permuted(references) => append(references, value),
                Nodes::Sets(references) => {
                    normal_form.states(NodeId(value)).iter().for_each(|&state| append(references, state));
                }
            }
        }
        true
    }

    #[inline]
    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        if slot == 0 {
            return Ok((0, self.node(element, value)?));
        }
        let (slot, value) = self.implementation.apply_to_slot(element, slot - 1, value)?;
        Ok((slot + 1, value))
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.implementation.apply_to_label(element, label)
    }
}
