//! The stabiliser of a colouring of the points: set stabilisers, and partition stabilisers whose cells are not
//! exchanged.
//!
//! Backtrack search over the images of a base with partition refinement, after Leon, *Permutation group algorithms
//! based on partitions*, 1991. The base begins with points of rare colours. At depth `i` of the search an element `t`
//! carries the first base points to their chosen images; the refined partition of the points is the meet of the colours
//! with the orbits of the stabiliser `Gᵢ` of those base points, and on the image side the meet of the colours with the
//! images of these orbits under `t`. An element of the wanted subgroup below this node matches the two cell by cell, so
//! the node is cut off as soon as an orbit and its image differ in how many points of each colour they have. (For a
//! colouring this meet is a fixpoint: the orbits of `Gᵢ` already refine those of the earlier levels.)
//!
//! The wanted subgroup `H` is found from the last level up. When level `i` begins, the elements of `H` that fix the
//! first `i + 1` base points are known; candidates for the image of base point `i` that lie in one orbit of what is
//! known stand or fall together, so one of each orbit is tried, and a find merges orbits. Below a candidate, a subtree
//! that failed also rules out the images of its first choice under the known elements that fix the choices above it.
//!
//! What comes out is a base and strong generating set of `H`, complete because the search was exhaustive; its order
//! needs no further proof. Cost: exponential in the worst case (the problem is at least as hard as graph isomorphism);
//! each node costs `O(n)`.

use trefoil_control::{Control, Stopped};

use crate::chain::StabiliserChain;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::schreier_sims::change_base;

/// The chain of the elements that map every point to one of the same colour.
pub(crate) fn stabiliser_of_colours(
    chain: &StabiliserChain,
    colours: &[u32],
    control: &Control,
) -> Result<StabiliserChain, Stopped> {
    if chain.pool.iter().all(|generator| keeps_colours(&generator.images, colours)) {
        return Ok(chain.clone());
    }
    let chain = change_base(chain, &base_by_colour(chain, colours), control)?;
    let mut search = Search::new(&chain, colours, control);
    for level in (0..chain.levels.len()).rev() {
        search.complete_level(level)?;
    }
    let mut stabiliser = StabiliserChain::trivial(chain.degree(), &chain.base());
    for (depth, generator) in search.found.iter().rev() {
        stabiliser.insert(generator.images(), *depth, control)?;
    }
    stabiliser.drop_trivial_levels(0);
    stabiliser.make_explicit();
    Ok(stabiliser)
}

fn keeps_colours(images: &[Point], colours: &[u32]) -> bool {
    images.iter().enumerate().all(|(point, &image)| colours[point] == colours[image as usize])
}

/// Moved points in the order of how few points of their orbit share their colour: those have the fewest candidates.
/// As many as the known base has, so that the new one is at most about twice as long.
fn base_by_colour(chain: &StabiliserChain, colours: &[u32]) -> Vec<Point> {
    let mut orbits = chain.orbits(0);
    let mut keyed: Vec<(u32, u32, Point)> = (0..chain.degree() as Point)
        .filter(|&point| orbits.size_of(point) > 1)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|point| (orbits.find(point), colours[point as usize], point))
        .collect();
    keyed.sort_unstable();
    let mut groups: Vec<&[(u32, u32, Point)]> = keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
    groups.sort_by_key(|group| (group.len(), group[0].2));
    groups.into_iter().flatten().map(|&(_, _, point)| point).take(chain.levels.len()).collect()
}

struct Search<'a> {
    chain: &'a StabiliserChain,
    colours: &'a [u32],
    control: &'a Control,
    /// For each depth, the points of the orbits of the stabiliser of that many base points, orbit after orbit, without
    /// the points that the whole group fixes.
    orbit_points: Vec<Vec<Point>>,
    /// The length of each of those orbits.
    orbit_lengths: Vec<Vec<usize>>,
    /// Strong generators of the wanted subgroup with the number of base points that each fixes.
    found: Vec<(usize, Permutation)>,
    known_orbits: Orbits,
    tally: Vec<i32>,
    visited: u64,
}

impl<'a> Search<'a> {
    fn new(chain: &'a StabiliserChain, colours: &'a [u32], control: &'a Control) -> Search<'a> {
        let mut orbit_points = Vec::new();
        let mut orbit_lengths = Vec::new();
        let mut moved = chain.orbits(0);
        for depth in 0..=chain.levels.len() {
            let mut cells = chain.orbits(depth).cells();
            cells.retain(|cell| moved.size_of(cell[0]) > 1);
            orbit_lengths.push(cells.iter().map(Vec::len).collect());
            orbit_points.push(cells.concat());
        }
        let kinds = colours.iter().copied().max().map_or(0, |colour| colour as usize + 1);
        Search {
            chain,
            colours,
            control,
            orbit_points,
            orbit_lengths,
            found: Vec::new(),
            known_orbits: Orbits::trivial(chain.degree()),
            tally: vec![0; kinds],
            visited: 0,
        }
    }

    /// Finds generators for all elements that fix the base points before `level`, given those that fix `level` as well.
    fn complete_level(&mut self, level: usize) -> Result<(), Stopped> {
        let base_point = self.chain.levels[level].base_point;
        let mut candidates = self.chain.levels[level].orbit.clone();
        candidates.sort_unstable();
        let mut failed: Vec<Point> = Vec::new();
        for candidate in candidates {
            if self.colours[candidate as usize] != self.colours[base_point as usize] {
                continue;
            }
            let representative = self.known_orbits.find(candidate);
            if representative == self.known_orbits.find(base_point)
                || failed.iter().any(|&point| self.known_orbits.find(point) == representative)
            {
                continue;
            }
            match self.element_through(level, candidate)? {
                Some(element) => {
                    self.known_orbits.merge_images(element.images());
                    self.found.push((level, element));
                }
                None => failed.push(candidate),
            }
        }
        Ok(())
    }

    /// An element of the wanted subgroup that fixes the base points before `level` and carries its base point to
    /// `candidate`.
    fn element_through(&mut self, level: usize, candidate: Point) -> Result<Option<Permutation>, Stopped> {
        struct Node {
            element: Permutation,
            /// Images of the base point of the next level still to be tried, last first.
            pending: Vec<Point>,
            /// The image tried last, once one was.
            tried: Option<Point>,
            pruning: Option<Orbits>,
            failed: Vec<Point>,
        }
        let Some(element) = self.chain.representative(level, candidate) else { return Ok(None) };
        let mut stack: Vec<Node> = Vec::new();
        let mut arriving = Some(element);
        loop {
            if let Some(element) = arriving.take() {
                self.visited += 1;
                if self.visited.is_multiple_of(64) {
                    self.control.check()?;
                }
                let depth = level + 1 + stack.len();
                if self.colours_match(depth, &element) {
                    if depth == self.chain.levels.len() {
                        if keeps_colours(element.images(), self.colours) {
                            return Ok(Some(element));
                        }
                    } else {
                        let colour = self.colours[self.chain.levels[depth].base_point as usize];
                        let images = self.chain.levels[depth].orbit.iter().map(|&point| element.image(point));
                        let mut pending: Vec<Point> =
                            images.filter(|&image| self.colours[image as usize] == colour).collect();
                        pending.sort_unstable_by(|a, b| b.cmp(a));
                        // Near-identities first: they meet the colours most often and give sparse generators.
                        let base_point = self.chain.levels[depth].base_point;
                        if let Some(place) = pending.iter().position(|&image| image == base_point) {
                            let own = pending.remove(place);
                            pending.push(own);
                        }
                        stack.push(Node { element, pending, tried: None, pruning: None, failed: Vec::new() });
                        continue;
                    }
                }
            }
            // The arriving element was cut off, or the node on top has to go on.
            let depth = level + stack.len();
            let Some(node) = stack.last_mut() else { return Ok(None) };
            if let Some(tried) = node.tried.take() {
                node.failed.push(tried);
            }
            let Some(image) = node.pending.pop() else {
                stack.pop();
                continue;
            };
            if !node.failed.is_empty() {
                // Known elements that fix the choices above permute the subtrees of this node.
                let found = &self.found;
                let base = &self.chain.levels[..depth];
                let element = &node.element;
                let pruning = node.pruning.get_or_insert_with(|| {
                    let fixes = |known: &Permutation| {
                        base.iter().all(|at| {
                            let image = element.image(at.base_point);
                            known.image(image) == image
                        })
                    };
                    Orbits::of(element.degree(), found.iter().map(|(_, known)| known).filter(|known| fixes(known)))
                });
                let representative = pruning.find(image);
                if node.failed.iter().any(|&failed| pruning.find(failed) == representative) {
                    continue;
                }
            }
            let orbit = &self.chain.levels[depth].orbit;
            let preimage = orbit.iter().copied().find(|&point| node.element.image(point) == image);
            let step = preimage.and_then(|point| self.chain.representative(depth, point));
            node.tried = Some(image);
            arriving = step.map(|step| step.then(&node.element));
        }
    }

    /// Has every orbit of the stabiliser of the first `depth` base points as many points of each colour as its image?
    fn colours_match(&mut self, depth: usize, element: &Permutation) -> bool {
        let mut points = self.orbit_points[depth].as_slice();
        for &length in &self.orbit_lengths[depth] {
            let (orbit, rest) = points.split_at(length);
            points = rest;
            for &point in orbit {
                self.tally[self.colours[point as usize] as usize] += 1;
                self.tally[self.colours[element.image(point) as usize] as usize] -= 1;
            }
            let mut even = true;
            for &point in orbit {
                for colour in [self.colours[point as usize], self.colours[element.image(point) as usize]] {
                    even &= self.tally[colour as usize] == 0;
                    self.tally[colour as usize] = 0;
                }
            }
            if !even {
                return false;
            }
        }
        true
    }
}
