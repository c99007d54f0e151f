//! For each orbit of things one tuple of points per thing that moves with it.
//!
//! A tuple names a thing when whatever fixes the points of the tuple fixes the thing. It is enough to find one tuple
//! for one thing of an orbit; the others get its images. Where exchanges within some classes of points fix a thing, the
//! largest class need not be named at all, and of each other class only which points are in it matters: a *block*, in
//! ascending order. Where the group has other elements, points are added until the tuple is enough.
//!
//! # Why this is a proof
//!
//! All images of the tuple and the thing together are walked, under the generators. When no tuple comes with two
//! things, the thing is a function of the tuple, and so of the element alone, whichever word of generators made it:
//! this proves both that the tuple is enough and that the generators define an action. When a tuple `t` comes with two
//! things, by the words `g` and `h`, then `h⁻¹g` keeps the first tuple and moves the thing. A point that it moves is
//! added; when it moves no point outside the tuple, then two elements that are equal on points differ on things, and
//! there is no action.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};

use super::Unnamed;
use super::acted::{Acted, inverse};

/// The greatest length of a tuple.
pub(super) const LONGEST: usize = 64;

/// How many tuples there may be in all.
const MOST_TUPLES: usize = 1 << 24;

/// The things of one orbit, described by the points that they name.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// How many points each tuple has.
    pub(super) arity: usize,
    /// The block of each position; positions of a block are adjacent.
    pub(super) blocks: Box<[u16]>,
    /// How many tuples name each thing.
    pub(super) tuples: usize,
    /// The things, the first one being the least.
    pub(super) members: Vec<u32>,
}

/// Things with their tuples.
pub(super) struct Naming {
    pub(super) shapes: Vec<Shape>,
    /// By thing.
    pub(super) shape_of: Vec<u32>,
    /// By thing, where its tuples begin.
    pub(super) starts: Vec<u32>,
    pub(super) tuples: Vec<u16>,
}

impl Naming {
    /// The tuples of a thing, back to back.
    #[inline]
    pub(super) fn tuples(&self, thing: usize) -> &[u16] {
        let shape = &self.shapes[self.shape_of[thing] as usize];
        let start = self.starts[thing] as usize;
        &self.tuples[start..start + shape.tuples * shape.arity]
    }
}

/// Finds shapes and tuples. `first` is a point that must be the first of a thing's tuple, if any.
pub(super) fn name(
    acted: &Acted<'_>,
    things: usize,
    first: impl Fn(u32) -> Option<u16>,
    control: &Control,
) -> Result<Result<Naming, Unnamed>, Stopped> {
    control.afford(things * 16)?;
    let mut naming =
        Naming { shapes: Vec::new(), shape_of: vec![u32::MAX; things], starts: vec![0; things], tuples: Vec::new() };
    let mut namer = Namer { acted, places: vec![0; things], word: Vec::new(), members: Vec::new(), left: MOST_TUPLES };
    for thing in 0..things as u32 {
        if thing.is_multiple_of(1 << 12) {
            control.check()?;
        }
        if naming.shape_of[thing as usize] != u32::MAX {
            continue;
        }
        if let Err(refusal) = namer.orbit(thing, first(thing), &mut naming, control)? {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(naming))
}

struct Namer<'a> {
    acted: &'a Acted<'a>,
    /// For things of the orbit at hand, their places in it.
    places: Vec<u32>,
    word: Vec<u32>,
    /// The orbit at hand: things, and how each was met.
    members: Vec<(u32, u32, u32)>,
    /// How many tuples may still come.
    left: usize,
}

/// What came of spreading a tuple over an orbit.
enum Spread {
    /// Every thing has this many tuples; they are listed by place.
    Named(usize, Vec<u16>),
    /// An element, as images of points, that keeps the tuple and moves the thing.
    Moved(Vec<u32>),
    TooMany,
}

impl Namer<'_> {
    /// Finds the orbit of a thing and names its things.
    fn orbit(
        &mut self,
        thing: u32,
        first: Option<u16>,
        naming: &mut Naming,
        control: &Control,
    ) -> Result<Result<(), Unnamed>, Stopped> {
        let number = naming.shapes.len() as u32;
        self.members.clear();
        self.members.push((thing, 0, 0));
        naming.shape_of[thing as usize] = number;
        self.places[thing as usize] = 0;
        let mut at = 0;
        while at < self.members.len() {
            let (member, ..) = self.members[at];
            for (generator, images) in (0..).zip(&self.acted.images) {
                let image = images[member as usize];
                if naming.shape_of[image as usize] != number {
                    naming.shape_of[image as usize] = number;
                    self.places[image as usize] = self.members.len() as u32;
                    self.members.push((image, at as u32, generator));
                }
            }
            at += 1;
        }
        if self.members.len() == 1 {
            let shape = Shape { arity: 0, blocks: Box::default(), tuples: 1, members: vec![thing] };
            naming.shapes.push(shape);
            return Ok(Ok(()));
        }
        let mut base = self.base(thing, first);
        loop {
            control.check()?;
            let arity = base.iter().map(Vec::len).sum();
            if arity > LONGEST {
                return Ok(Err(Unnamed::TooManyReferences));
            }
            match self.spread(&base, control)? {
                Spread::TooMany => return Ok(Err(Unnamed::TooManyTuples)),
                Spread::Moved(element) => {
                    let new = (0..self.acted.points)
                        .find(|&point| element[point] as usize != point && !base.concat().contains(&(point as u16)));
                    match new {
                        Some(point) => base.push(vec![point as u16]),
                        None => return Ok(Err(Unnamed::Ambiguous(thing))),
                    }
                }
                Spread::Named(count, tuples) => {
                    self.left = self.left.saturating_sub(self.members.len() * count);
                    let blocks = (0..).zip(&base).flat_map(|(block, points)| points.iter().map(move |_| block));
                    let members: Vec<u32> = self.members.iter().map(|member| member.0).collect();
                    for (place, &member) in members.iter().enumerate() {
                        naming.starts[member as usize] = (naming.tuples.len() + place * count * arity) as u32;
                    }
                    naming.tuples.extend_from_slice(&tuples);
                    naming.shapes.push(Shape { arity, blocks: blocks.collect(), tuples: count, members });
                    return Ok(Ok(()));
                }
            }
        }
    }

    /// The points to begin with, block by block.
    fn base(&mut self, thing: u32, first: Option<u16>) -> Vec<Vec<u16>> {
        let mut base: Vec<Vec<u16>> = first.into_iter().map(|point| vec![point]).collect();
        for class in &self.acted.classes {
            let mut parts: Vec<Vec<u16>> = Vec::new();
            for &point in class.iter().filter(|&&point| Some(point) != first) {
                let word = &mut self.word;
                let fits = |part: &&mut Vec<u16>| self.acted.exchange_fixes(part[0], point, thing, word);
                match parts.iter_mut().find(fits) {
                    Some(part) => part.push(point),
                    None => parts.push(vec![point]),
                }
            }
            let largest = (0..parts.len()).rev().max_by_key(|&part| parts[part].len());
            base.extend(parts.into_iter().enumerate().filter(|&(at, _)| Some(at) != largest).map(|(_, part)| part));
        }
        base
    }

    /// Carries a tuple of the first thing to all things.
    fn spread(&self, base: &[Vec<u16>], control: &Control) -> Result<Spread, Stopped> {
        let arity = base.iter().map(Vec::len).sum::<usize>();
        if self.members.len() * arity.max(1) > self.left {
            return Ok(Spread::TooMany);
        }
        control.afford(self.members.len() * arity * 4)?;
        let mut tuples: Vec<u16> = base.concat();
        let mut image = vec![0; arity];
        for &(_, parent, generator) in &self.members[1..] {
            let parent = parent as usize * arity;
            self.carry(base, generator, &tuples[parent..parent + arity], &mut image);
            tuples.extend_from_slice(&image);
        }
        for (place, &(thing, ..)) in self.members.iter().enumerate() {
            if place.is_multiple_of(1 << 12) {
                control.check()?;
            }
            for (generator, images) in (0..).zip(&self.acted.images) {
                let to = self.places[images[thing as usize] as usize] as usize * arity;
                self.carry(base, generator, &tuples[place * arity..(place + 1) * arity], &mut image);
                if image != tuples[to..to + arity] {
                    return self.spread_several(base, control);
                }
            }
        }
        // One tuple for each thing; the same tuple must not name two.
        let mut all: Vec<&[u16]> = if arity == 0 { Vec::new() } else { tuples.chunks_exact(arity).collect() };
        all.sort_unstable();
        if arity == 0 || all.windows(2).any(|pair| pair[0] == pair[1]) {
            return self.spread_several(base, control);
        }
        Ok(Spread::Named(1, tuples))
    }

    /// The same when a thing has several tuples, or a tuple is not enough.
    fn spread_several(&self, base: &[Vec<u16>], control: &Control) -> Result<Spread, Stopped> {
        let arity = base.iter().map(Vec::len).sum::<usize>();
        let mut known: HashMap<Box<[u16]>, u32, foldhash::fast::FixedState> = HashMap::default();
        // Place of the thing, and how the tuple was met.
        let mut nodes: Vec<(u32, u32, u32)> = vec![(0, 0, 0)];
        let mut tuples: Vec<u16> = base.concat();
        known.insert(tuples.clone().into(), 0);
        let mut image = vec![0; arity];
        let mut at = 0;
        while at < nodes.len() {
            if at.is_multiple_of(1 << 12) {
                control.check()?;
            }
            if nodes.len() * arity.max(1) > self.left {
                return Ok(Spread::TooMany);
            }
            let thing = self.members[nodes[at].0 as usize].0;
            for (generator, images) in (0..).zip(&self.acted.images) {
                let place = self.places[images[thing as usize] as usize];
                self.carry(base, generator, &tuples[at * arity..(at + 1) * arity], &mut image);
                match known.get(&image[..]) {
                    None => {
                        known.insert(image.clone().into(), nodes.len() as u32);
                        nodes.push((place, at as u32, generator));
                        tuples.extend_from_slice(&image);
                    }
                    Some(&node) if nodes[node as usize].0 != place => {
                        let one = self.element(&nodes, node);
                        let by = &self.acted.generators[generator as usize];
                        let other: Vec<u32> =
                            self.element(&nodes, at as u32).iter().map(|&point| by[point as usize]).collect();
                        let back = inverse(&other).unwrap_or_default();
                        return Ok(Spread::Moved(one.iter().map(|&point| back[point as usize]).collect()));
                    }
                    Some(_) => {}
                }
            }
            at += 1;
        }
        let count = nodes.len() / self.members.len();
        let mut sorted: Vec<u32> = (0..nodes.len() as u32).collect();
        sorted.sort_by_key(|&node| nodes[node as usize].0);
        let by_place = sorted.iter().flat_map(|&node| &tuples[node as usize * arity..(node as usize + 1) * arity]);
        Ok(Spread::Named(count, by_place.copied().collect()))
    }

    /// The element that led to a tuple, as images of points.
    fn element(&self, nodes: &[(u32, u32, u32)], mut node: u32) -> Vec<u32> {
        let mut word = Vec::new();
        while node != 0 {
            let (_, parent, generator) = nodes[node as usize];
            word.push(generator);
            node = parent;
        }
        let mut element: Vec<u32> = (0..self.acted.points as u32).collect();
        for &generator in word.iter().rev() {
            let by = &self.acted.generators[generator as usize];
            element.iter_mut().for_each(|image| *image = by[*image as usize]);
        }
        element
    }

    /// The image of a tuple under a generator, its blocks in order again.
    fn carry(&self, base: &[Vec<u16>], generator: u32, tuple: &[u16], image: &mut [u16]) {
        let by = &self.acted.generators[generator as usize];
        for (to, &from) in image.iter_mut().zip(tuple) {
            *to = by[from as usize] as u16;
        }
        let mut start = 0;
        for block in base {
            image[start..start + block.len()].sort_unstable();
            start += block.len();
        }
    }
}
