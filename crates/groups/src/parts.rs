//! A group part by part: what moves disjoint points is looked at separately.
//!
//! Generators that move a common point belong to one part; the group is the product of its parts, which move disjoint
//! points. Each part is a group on its own points alone, numbered from 0, so that neither the degree of the whole nor
//! the number of parts makes a chain long: a transposition of a million points is a group on two, and a thousand
//! disjoint ones are one chain of two points, since equal parts share their group. Stabilisers of partitions whose
//! cells are not exchanged are products of those of the parts.

use std::collections::HashMap;
use std::sync::Arc;

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::chain::product;
use crate::graph::{Automorphisms, ColouredGraph, SparsePermutation};
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::Point;
use crate::structure::{Structure, set};
use crate::words;

/// A factor of a group, on the points that it moves.
#[derive(Clone, Debug)]
pub struct Part {
    /// The points of the whole that belong to it, ascending.
    pub points: Vec<Point>,
    /// The number of its elements.
    pub order: UBig,
    /// Generators; point `i` stands for `points[i]`.
    generators: Vec<SparsePermutation>,
    /// With a chain, when one was needed for the order.
    group: Option<Arc<PermutationGroup>>,
    /// Systems of sets that may be blocks.
    systems: Vec<Vec<Vec<Point>>>,
}

/// What a part was recognised to be.
#[derive(Clone, Debug)]
pub enum Recognised {
    /// The names of its factors, and nothing about which points they act on.
    Names(Vec<String>),
    /// A structure.
    Structure(Box<Structure>),
}

impl Recognised {
    /// The names of its factors, in brackets where a product needs them; none for the trivial group.
    pub fn factor_names(&self) -> Vec<String> {
        match self {
            Recognised::Names(names) => names.clone(),
            Recognised::Structure(structure) => structure.factor_names(),
        }
    }

    /// The same with the points of the part.
    pub fn on_points(&self, points: &[Point]) -> String {
        match self {
            Recognised::Names(names) => format!("{} on {}", words::bracketed(names), set(points)),
            Recognised::Structure(structure) => structure.on_points(points),
        }
    }
}

impl Part {
    /// Its generators on the points of the whole.
    pub fn generators(&self) -> Vec<SparsePermutation> {
        let whole = |&(from, to): &(Point, Point)| (self.points[from as usize], self.points[to as usize]);
        let renamed = |generator: &SparsePermutation| {
            SparsePermutation::from_moves(generator.moves().iter().map(whole).collect())
        };
        self.generators.iter().map(renamed).collect()
    }

    /// Are two parts the same but for the names of their points?
    pub fn is_like(&self, other: &Part) -> bool {
        self.points.len() == other.points.len() && self.generators == other.generators && self.order == other.order
    }

    /// How it is built; `None` when it is too large to tell.
    pub fn recognise(&self, control: &Control) -> Result<Option<Recognised>, Stopped> {
        let degree = self.points.len();
        if let Some(group) = self.group.as_ref().filter(|group| group.giants().is_some() || degree < words::MANY_POINTS)
        {
            return Ok(Some(Recognised::Structure(Box::new(group.structure(control)?))));
        }
        let mut moved = Orbits::trivial(degree);
        for &(from, to) in self.generators.iter().flat_map(SparsePermutation::moves) {
            moved.merge(from, to);
        }
        let moves_all = moved.cells().iter().all(|orbit| orbit.len() > 1);
        if moves_all
            && degree >= words::MANY_POINTS
            && let Some(name) = words::quick_name(degree, &self.generators, &self.order, &self.systems, control)?
        {
            return Ok(Some(Recognised::Names(vec![name])));
        }
        let structure = match &self.group {
            Some(group) => group.structure(control)?,
            None => match words::small_enough(degree, &self.generators, &self.order, control)? {
                // On an orbit that shows everything the points are others.
                Some(group) if group.degree() != degree => {
                    return Ok(Some(Recognised::Names(words::names_of_group(&group, control)?)));
                }
                Some(group) => group.structure(control)?,
                None => return Ok(None),
            },
        };
        Ok(Some(Recognised::Structure(Box::new(structure))))
    }

    /// The elements that map each of these sets of points of the whole to itself.
    pub fn partition_stabiliser(&self, cells: &[Vec<Point>], control: &Control) -> Result<Part, Stopped> {
        let inside = |cell: &Vec<Point>| -> Vec<Point> {
            let places = cell.iter().filter_map(|point| self.points.binary_search(point).ok());
            places.map(|place| place as Point).collect()
        };
        let cells: Vec<Vec<Point>> = cells.iter().map(inside).filter(|cell| !cell.is_empty()).collect();
        let group = match &self.group {
            Some(group) => group.clone(),
            None => Arc::new(PermutationGroup::with_order(
                self.points.len(),
                &words::written_out(self.points.len(), &self.generators, control)?,
                &self.order,
                control,
            )?),
        };
        if cells.is_empty() {
            return Ok(Part { group: Some(group), ..self.clone() });
        }
        let group = group.partition_stabiliser(&cells, control)?;
        Ok(Part {
            points: self.points.clone(),
            order: group.order(),
            generators: group.generators().iter().map(SparsePermutation::of).collect(),
            group: Some(Arc::new(group)),
            systems: Vec::new(),
        })
    }
}

/// The parts of the group that these permutations of `0..degree` generate, in the order of their least points.
pub fn generated_parts(
    degree: usize,
    generators: &[SparsePermutation],
    control: &Control,
) -> Result<Vec<Part>, Stopped> {
    let mut parts = split(degree, generators, control)?;
    let mut known: HashMap<Vec<SparsePermutation>, Arc<PermutationGroup>> = HashMap::new();
    for part in &mut parts {
        control.check()?;
        let group = match known.get(&part.generators) {
            Some(group) => group.clone(),
            None => {
                let dense = words::written_out(part.points.len(), &part.generators, control)?;
                let group = Arc::new(PermutationGroup::generate(part.points.len(), &dense, control)?);
                known.insert(part.generators.clone(), group.clone());
                group
            }
        };
        part.order = group.order();
        part.group = Some(group);
    }
    Ok(parts)
}

/// Parts whose orders are not known yet.
fn split(degree: usize, generators: &[SparsePermutation], control: &Control) -> Result<Vec<Part>, Stopped> {
    control.afford(degree.saturating_mul(24))?;
    let mut together = Orbits::trivial(degree);
    for generator in generators {
        control.check()?;
        let moves = generator.moves();
        for &(point, _) in moves {
            together.merge(moves[0].0, point);
        }
    }
    let mut part_of = vec![u32::MAX; degree];
    let mut place: Vec<Point> = vec![0; degree];
    let mut parts: Vec<Part> = Vec::new();
    for points in together.cells().into_iter().filter(|cell| cell.len() > 1) {
        for (index, &point) in (0..).zip(&points) {
            part_of[point as usize] = parts.len() as u32;
            place[point as usize] = index;
        }
        parts.push(Part { points, order: UBig::ONE, generators: Vec::new(), group: None, systems: Vec::new() });
    }
    for generator in generators {
        if let Some(&(first, _)) = generator.moves().first() {
            let moves = generator.moves().iter().map(|&(from, to)| (place[from as usize], place[to as usize]));
            let own = SparsePermutation::from_moves(moves.collect());
            parts[part_of[first as usize] as usize].generators.push(own);
        }
    }
    Ok(parts)
}

impl Automorphisms {
    /// The factors of the group that move disjoint vertices, in the order of their least vertices; the graph is the one
    /// whose automorphisms these are.
    pub fn parts(&self, graph: &ColouredGraph, control: &Control) -> Result<Vec<Part>, Stopped> {
        let mut parts = split(self.degree, &self.generators, control)?;
        let mut part_of = vec![u32::MAX; self.degree];
        for (number, part) in (0..).zip(&parts) {
            part.points.iter().for_each(|&point| part_of[point as usize] = number);
        }
        let mut sizes: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (&point, &orbit) in self.base.iter().zip(&self.orbit_sizes) {
            if let Some(of_part) = sizes.get_mut(part_of[point as usize] as usize) {
                of_part.push(orbit);
            }
        }
        let mut connected = Orbits::trivial(self.degree);
        for arc in graph.arcs() {
            connected.merge(arc.from, arc.to);
        }
        for (part, sizes) in parts.iter_mut().zip(sizes) {
            control.check()?;
            part.order = product(sizes);
            // Equal components are copies of each other.
            let mut numbers: HashMap<Point, usize> = HashMap::new();
            let mut copies: Vec<Vec<Point>> = Vec::new();
            for (index, &point) in (0..).zip(&part.points) {
                let number = *numbers.entry(connected.find(point)).or_insert_with(|| {
                    copies.push(Vec::new());
                    copies.len() - 1
                });
                copies[number].push(index);
            }
            if copies.len() > 1 {
                part.systems.push(copies);
            }
        }
        Ok(parts)
    }
}
