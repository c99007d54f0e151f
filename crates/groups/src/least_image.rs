//! The least image of a colouring under a group, without listing the group or any stabiliser.
//!
//! Among all arrangements `s∘h` of the colours `s` that elements `h` of the group make, the lexicographically least one
//! is found position by position, after Linton, *Finding the smallest image of a set*, 2004, and Jefferson, Jonauskyte,
//! Pfeiffer and Waldecker, *Minimal and canonical images*, 2019. With a base in the order of the positions, the
//! elements that agree on the positions so far form one coset for each node of a level; the next position can take any
//! colour on the image of a basic orbit under the node's element, the least colour over all nodes is kept, and with it
//! the cosets that reach it.
//!
//! Two cosets that an element of the stabiliser of `s` carries into each other lead to the same arrangements. That
//! stabiliser is found first (`partition_stabiliser`), and at each node only one point of each orbit of what remains of
//! it is followed. So the nodes of a level are pairwise inequivalent, a constant colouring has one node on every level,
//! and at the end exactly one is left. The order of the stabiliser comes for free.
//!
//! Cost: a stabiliser search, then polynomial for each node; the number of nodes on a level can be exponential for
//! contrived groups and colourings.

use trefoil_control::{Control, Stopped};

use crate::chain::StabiliserChain;
use crate::group::PermutationGroup;
use crate::partition_stabiliser::stabiliser_of_colours;
use crate::permutation::{Permutation, Point};
use crate::schreier_sims::change_base;

/// A group prepared for many colourings.
#[derive(Clone, Debug)]
pub struct LeastImages {
    /// Its base ascends, and between base points the stabiliser fixes every point.
    chain: StabiliserChain,
}

/// The least image of a colouring.
#[derive(Clone, Debug)]
pub struct LeastImage {
    /// The colours in their least arrangement.
    pub colours: Vec<u32>,
    /// An element that makes it: it carries each point to where its colour is in the image.
    pub element: Permutation,
    /// The elements that leave the original colouring as it is.
    pub stabiliser: PermutationGroup,
}

impl LeastImages {
    /// Prepares the group.
    pub fn new(group: &PermutationGroup, control: &Control) -> Result<LeastImages, Stopped> {
        let points: Vec<Point> = (0..group.degree() as Point).collect();
        let mut chain = group.chain_with_base(&points, control)?;
        chain.drop_trivial_levels(0);
        Ok(LeastImages { chain })
    }

    /// The least image of a colouring; colours missing at the end are 0, and surplus ones are ignored.
    pub fn of(&self, colours: &[u32], control: &Control) -> Result<LeastImage, Stopped> {
        struct Node {
            /// The image of `p` under it is the point whose colour stands at position `p`.
            source: Permutation,
            /// The stabiliser of the colouring, as far as it fixes the points chosen so far.
            symmetries: Option<StabiliserChain>,
        }
        let degree = self.chain.degree();
        let mut original = colours[..colours.len().min(degree)].to_vec();
        original.resize(degree, 0);
        let mut kinds = original.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let ranks: Vec<u32> =
            original.iter().map(|colour| kinds.binary_search(colour).unwrap_or_default() as u32).collect();
        let stabiliser = stabiliser_of_colours(&self.chain, &ranks, control)?;
        let unless_trivial =
            |chain: StabiliserChain| chain.levels.iter().any(|level| level.orbit.len() > 1).then_some(chain);

        let mut image = Vec::with_capacity(degree);
        let mut nodes =
            vec![Node { source: Permutation::identity(degree), symmetries: unless_trivial(stabiliser.clone()) }];
        let mut level = 0;
        for position in 0..degree as Point {
            control.check()?;
            let colour_at = |node: &Node, point: Point| ranks[node.source.image(point) as usize];
            if self.chain.levels.get(level).is_none_or(|next| next.base_point != position) {
                let Some(least) = nodes.iter().map(|node| colour_at(node, position)).min() else { break };
                nodes.retain(|node| colour_at(node, position) == least);
                image.push(least);
                continue;
            }
            let orbit = &self.chain.levels[level].orbit;
            let choices = nodes.iter().flat_map(|node| orbit.iter().map(|&point| colour_at(node, point)));
            let Some(least) = choices.min() else { break };
            let mut next = Vec::new();
            for node in &nodes {
                let mut orbits = node.symmetries.as_ref().map(|chain| chain.orbits(0));
                let mut taken: Vec<Point> = Vec::new();
                for &point in orbit.iter().filter(|&&point| colour_at(node, point) == least) {
                    control.check()?;
                    let chosen = node.source.image(point);
                    if let Some(orbits) = &mut orbits {
                        let representative = orbits.find(chosen);
                        if taken.contains(&representative) {
                            continue;
                        }
                        taken.push(representative);
                    }
                    let Some(step) = self.chain.representative(level, point) else { continue };
                    let symmetries = match &node.symmetries {
                        Some(chain) => unless_trivial(change_base(chain, &[chosen], control)?.stabiliser(1)),
                        None => None,
                    };
                    next.push(Node { source: step.then(&node.source), symmetries });
                }
            }
            nodes = next;
            image.push(least);
            level += 1;
        }
        let Some(found) = nodes.pop() else { unreachable!("the identity makes some image") };
        Ok(LeastImage {
            colours: image.into_iter().map(|rank| kinds[rank as usize]).collect(),
            element: found.source.inverse(),
            stabiliser: PermutationGroup::from_chain(stabiliser),
        })
    }
}
