//! Steps that differ only in which of several interchangeable points they take.
//!
//! A process that allocates has a step for each free cell, and all of them lead to the same representative; so do the
//! steps of idle processes. Only one of such steps needs to be canonicalised. This goes beyond Gibson-Robinson and Lowe
//! (*Symmetry reduction in CSP model checking*, 2019), where all of them are canonicalised.
//!
//! *Twins* are points of one type with one colour and without edges in the picture of a state `r`. When the group has
//! every permutation of a type, exchanging twins is an element that keeps the picture, so it fixes `r`. Let a step lead
//! to `s`, and let the slots that it changes refer to some twins. An element `h` that permutes twins, such that those
//! become the first of their class in the order in which the slots refer to them, carries the step to another step of
//! `r`, to `h(s)`; and as `h(r) = r`, `h(s)` is `r` with the images of the changed slots, so it is known without being
//! computed. Steps with equal `h(s)` lead to one orbit, and the representative of the first is used for all. Their
//! labels are still their own, so what a state offers is complete.
//!
//! That two steps are alike is found only when they name twins in the same order; others are canonicalised as usual.
//! Cost: the picture of each state that is expanded, and a few look-ups for each slot that a step changes.

use trefoil_system::{Actor, Cut, Picture, Value, Walk};

use crate::types::Types;

/// No point.
const NONE: u32 = u32::MAX;

/// The twins of one state after the other, in buffers that are used again.
#[derive(Default)]
pub(crate) struct Twins {
    /// The class of each point that has a twin.
    class_of: Vec<u32>,
    /// Type and colour of each class, and its points, ascending.
    classes: Vec<(u32, u32)>,
    members: Vec<Vec<u32>>,
    /// How many points of each class the current step refers to.
    spoken: Vec<usize>,
    with_edges: Vec<bool>,
    /// A permutation of twins and its inverse; the identity between steps.
    element: Vec<u32>,
    inverse: Vec<u32>,
    moved: Vec<u32>,
    points: Vec<u32>,
    /// The permutation of the step that was compared last, where it is wanted.
    pub(crate) remembers: bool,
    pub(crate) last: Vec<u32>,
    /// The changes of the steps that were canonicalised, normalised, with a digest each.
    known: Vec<(u64, usize, usize)>,
    changes: Vec<(u32, Value)>,
}

/// What is known about a step.
pub(crate) enum Likeness {
    /// Nothing.
    Unknown,
    /// It is the first of its kind; the next equal step gets this number.
    First,
    /// It equals the one with this number, up to twins.
    Like(usize),
}

impl Twins {
    /// Finds twins in a picture, under a group that has every permutation of each type; returns whether there are any.
    pub(crate) fn begin(&mut self, picture: &Picture, types: &Types) -> bool {
        let points = picture.points();
        self.known.clear();
        self.changes.clear();
        self.with_edges.clear();
        self.with_edges.resize(points, false);
        for edge in picture.edges() {
            for end in [edge.from, edge.to] {
                if (end as usize) < points {
                    self.with_edges[end as usize] = true;
                }
            }
        }
        self.class_of.clear();
        self.classes.clear();
        for point in 0..points {
            if self.with_edges[point] {
                self.class_of.push(NONE);
                continue;
            }
            let key = (types.kind_of[point], picture.colours()[point]);
            let class = self.classes.iter().position(|&known| known == key).unwrap_or_else(|| {
                self.classes.push(key);
                if self.members.len() < self.classes.len() {
                    self.members.push(Vec::new());
                    self.spoken.push(0);
                }
                self.members[self.classes.len() - 1].clear();
                self.classes.len() - 1
            });
            self.members[class].push(point as u32);
            self.class_of.push(class as u32);
        }
        if self.element.len() != points {
            self.element = (0..points as u32).collect();
            self.inverse = self.element.clone();
        }
        self.members[..self.classes.len()].iter().any(|class| class.len() > 1)
    }

    /// Compares a step with those that were reported to be the first of their kind. Both `Unknown` and `First` steps
    /// are canonicalised. The step leads to this row and changes these slots.
    pub(crate) fn compare(&mut self, actor: &mut dyn Actor, to: &[Value], slots: &[u32]) -> Result<Likeness, Cut> {
        self.points.clear();
        for &slot in slots {
            if !actor.references(slot as usize, to[slot as usize], &mut self.points) {
                return Ok(Likeness::Unknown);
            }
        }
        self.spoken[..self.classes.len()].fill(0);
        let mut any = false;
        for at in 0..self.points.len() {
            let point = self.points[at];
            let class = self.class_of[point as usize];
            if class == NONE || self.members[class as usize].len() < 2 || self.points[..at].contains(&point) {
                continue;
            }
            any = true;
            let wanted = self.members[class as usize][self.spoken[class as usize]];
            self.spoken[class as usize] += 1;
            self.send(point, wanted);
        }
        if !any {
            return Ok(Likeness::Unknown);
        }
        let start = self.changes.len();
        let walk = self.normalise(actor, to, slots);
        if self.remembers {
            self.last.clone_from(&self.element);
        }
        for point in self.moved.drain(..) {
            self.element[point as usize] = point;
            self.inverse[point as usize] = point;
        }
        walk?;
        self.changes[start..].sort_unstable();
        let mix = |digest: u64, &(slot, value): &(u32, Value)| {
            (digest ^ (u64::from(slot) << 32 | u64::from(value))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        let digest = self.changes[start..].iter().fold(0, mix);
        let here = &self.changes[start..];
        let same = |&(other, begin, end): &(u64, usize, usize)| other == digest && self.changes[begin..end] == *here;
        if let Some(number) = self.known.iter().position(same) {
            self.changes.truncate(start);
            return Ok(Likeness::Like(number));
        }
        self.known.push((digest, start, self.changes.len()));
        Ok(Likeness::First)
    }

    /// Appends what the permutation of twins makes of the slots that a step changes.
    #[inline]
    fn normalise(&mut self, actor: &mut dyn Actor, to: &[Value], slots: &[u32]) -> Walk {
        for &slot in slots {
            let (slot, value) = actor.apply_to_slot(&self.element, slot as usize, to[slot as usize])?;
            self.changes.push((slot as u32, value));
        }
        Ok(())
    }

    /// Makes the permutation carry a point to another of its class.
    fn send(&mut self, point: u32, wanted: u32) {
        let (image, other) = (self.element[point as usize], self.inverse[wanted as usize]);
        if image == wanted {
            return;
        }
        self.element[point as usize] = wanted;
        self.inverse[wanted as usize] = point;
        self.element[other as usize] = image;
        self.inverse[image as usize] = other;
        self.moved.extend([point, other, image, wanted]);
    }
}
