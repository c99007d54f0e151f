//! Arcs that describe what a group preserves besides its orbits.
//!
//! An *orbital* is an orbit of ordered pairs of points: the next neighbour in a ring, being in the same block, the
//! channel of a process. Drawn as arcs of one colour beside a picture, orbitals make labelling respect the group: only
//! the automorphisms of some graph remain of all permutations. For products and wreath products of symmetric groups,
//! and for rings a few sparse orbitals leave exactly the group; for others (alternating and Mathieu groups) a larger
//! one. The orders of both are compared, so it is known which.
//!
//! The smallest orbitals are taken first, and only those that make the group of automorphisms smaller.

use trefoil_control::{Control, Stopped};
use trefoil_groups::{Arc, ColouredGraph, PermutationGroup, UBig, automorphisms};

use crate::types::Types;

/// The largest degree for which pairs are enumerated.
const MOST_POINTS: usize = 160;

/// Orbitals that are tried at most, and arcs that are drawn at most for each point.
const MOST_TRIED: usize = 40;
const MOST_ARCS: usize = 8;

/// Arcs to draw beside pictures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orbitals {
    pub(crate) arcs: Vec<Arc>,
    /// How many colours they have, from 0.
    pub(crate) colours: u32,
    /// Is the group the whole group of automorphisms of the arcs that keep the orbits?
    pub(crate) describe_group: bool,
}

impl Orbitals {
    pub(crate) fn of(group: &PermutationGroup, types: &Types, control: &Control) -> Result<Orbitals, Stopped> {
        let degree = group.degree();
        let mut chosen = Orbitals { arcs: Vec::new(), colours: 0, describe_group: types.symmetric };
        if types.symmetric || degree > MOST_POINTS {
            return Ok(chosen);
        }
        let wanted = group.order();
        let mut graph = ColouredGraph::new(degree);
        (0..degree).for_each(|point| graph.set_colour(point as u32, types.kind_of[point]));
        let mut order: Option<UBig> = None;
        for orbital in all(group, control)?.into_iter().take(MOST_TRIED) {
            if chosen.arcs.len() + orbital.len() > MOST_ARCS * degree {
                continue;
            }
            let mut more = graph.clone();
            orbital.iter().for_each(|&(from, to)| more.add_arc(from, to, chosen.colours));
            let left = automorphisms(&more, control)?.order;
            let before = match order.take() {
                Some(order) => order,
                None => automorphisms(&graph, control)?.order,
            };
            if left < before {
                let arc = |&(from, to): &(u32, u32)| Arc { from, to, colour: chosen.colours };
                chosen.arcs.extend(orbital.iter().map(arc));
                chosen.colours += 1;
                graph = more;
                order = Some(left);
            } else {
                order = Some(before);
            }
            if order.as_ref() == Some(&wanted) {
                chosen.describe_group = true;
                break;
            }
        }
        Ok(chosen)
    }
}

/// The orbitals of different points, those that are all pairs of two orbits left out; the smallest first.
fn all(group: &PermutationGroup, control: &Control) -> Result<Vec<Vec<(u32, u32)>>, Stopped> {
    let degree = group.degree();
    let mut seen = vec![false; degree * degree];
    let sizes: Vec<usize> = {
        let mut sizes = vec![0; degree];
        for orbit in group.orbits() {
            orbit.iter().for_each(|&point| sizes[point as usize] = orbit.len());
        }
        sizes
    };
    let orbits = group.orbits();
    let mut found = Vec::new();
    // Every orbital begins at the first point of an orbit.
    for (from, to) in orbits.iter().flat_map(|orbit| (0..degree as u32).map(move |to| (orbit[0], to))) {
        control.check()?;
        if from == to || seen[from as usize * degree + to as usize] {
            continue;
        }
        let mut orbital = vec![(from, to)];
        seen[from as usize * degree + to as usize] = true;
        let mut done = 0;
        while done < orbital.len() {
            let (a, b) = orbital[done];
            done += 1;
            for generator in group.generators() {
                let pair = (generator.image(a), generator.image(b));
                let known = &mut seen[pair.0 as usize * degree + pair.1 as usize];
                if !std::mem::replace(known, true) {
                    orbital.push(pair);
                }
            }
        }
        let (rows, columns) = (sizes[from as usize], sizes[to as usize]);
        let same = orbits.iter().any(|orbit| orbit.contains(&from) && orbit.contains(&to));
        let all_pairs = if same { rows * (rows - 1) } else { rows * columns };
        if orbital.len() < all_pairs {
            found.push(orbital);
        }
    }
    found.sort_by_key(Vec::len);
    Ok(found)
}
