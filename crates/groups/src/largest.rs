//! The largest subgroup whose elements have a property.
//!
//! The elements that have it must form a subgroup `H` of the group `G`, as stabilisers do, or symmetries of something.
//! Nothing else is known about the property; it can only be tested, element by element. When it fails for a generator,
//! that generator cannot simply be dropped: `H` may have elements that need it, such as its conjugates or products with
//! others.
//!
//! 1. *Generators* that have the property.
//! 2. *Conjugates and products.* Where `G` exchanges things two at a time, `H` often exchanges some of them: the
//!    conjugates of the failed generators under `G`, breadth first, and the products of two of them.
//! 3. *Cosets.* Along a stabiliser chain of `G` with the base `b1, b2, …`, from its end: let `G(i)` fix the first `i`
//!    base points and `K = H ∩ G(i+1)` be known. For each point `p` of the orbit of the next base point that `K`, and
//!    what was found on this level, do not carry it to, one element of each coset `K x`, `x` in `G(i+1)`, followed by
//!    the representative that carries the base point to `p`, is tested. When none has the property, `H` has no element
//!    that does so; so in the end the answer is the whole of `H`. Of a coset the element is taken whose images of the
//!    base are least, which needs no list of cosets: no element of an orbit of `K` on its way may have a smaller image
//!    (C. Sims, *Computation with permutation groups*, 1971, and G. Butler, *Fundamental algorithms for permutation
//!    groups*, 1991, chapter 13).
//!
//! The first two steps are quick and find the obvious subgroups; the third is complete. Its cost is the order of the
//! stabilisers that it enumerates, so it is done for as many elements as the effort allows, and the result says whether
//! that was enough.

use std::collections::{BTreeSet, VecDeque};

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::chain::StabiliserChain;
use crate::elements::Elements;
use crate::group::PermutationGroup;
use crate::permutation::Permutation;

/// A subgroup whose elements have a property.
pub struct LargestSubgroup {
    /// What generates it.
    pub generators: Vec<Permutation>,
    /// Is there no larger one?
    pub complete: bool,
    /// How often the property was tested.
    pub asked: usize,
}

struct Search<'a> {
    degree: usize,
    generators: &'a [Permutation],
    holds: &'a mut dyn FnMut(&Permutation) -> bool,
    control: &'a Control,
    found: Vec<Permutation>,
    group: PermutationGroup,
    asked: usize,
    left: usize,
}

/// The largest subgroup of what these permutations generate, all of one degree, whose elements have a property that the
/// elements of some subgroup have and no others, found by looking at about as many elements as the effort says.
pub fn largest_subgroup(
    generators: &[Permutation],
    effort: usize,
    control: &Control,
    holds: &mut dyn FnMut(&Permutation) -> bool,
) -> Result<LargestSubgroup, Stopped> {
    let degree = generators.first().map_or(0, Permutation::degree);
    let group = PermutationGroup::generate(degree, &[], control)?;
    let mut search = Search { degree, generators, holds, control, found: Vec::new(), group, asked: 0, left: effort };
    let mut failed = Vec::new();
    for generator in generators {
        if !search.try_one(generator)? {
            failed.push(generator.clone());
        }
    }
    let mut complete = true;
    if !failed.is_empty() {
        search.conjugates(&failed)?;
        complete = search.cosets()?;
    }
    Ok(LargestSubgroup { generators: search.found, complete, asked: search.asked })
}

impl Search<'_> {
    /// Is it an element of the subgroup? It is taken into it.
    fn try_one(&mut self, element: &Permutation) -> Result<bool, Stopped> {
        if self.group.contains(element) {
            return Ok(true);
        }
        self.control.check()?;
        self.asked += 1;
        self.left = self.left.saturating_sub(1);
        if !(self.holds)(element) {
            return Ok(false);
        }
        self.found.push(element.clone());
        self.group = PermutationGroup::generate(self.degree, &self.found, self.control)?;
        Ok(true)
    }

    /// Conjugates and products of generators that failed, for a third of the effort.
    fn conjugates(&mut self, failed: &[Permutation]) -> Result<(), Stopped> {
        let least = self.left - self.left / 3;
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        let mut queue: VecDeque<Permutation> = VecDeque::new();
        for element in failed {
            seen.insert(element.images().to_vec());
            queue.push_back(element.clone());
        }
        for one in failed {
            for other in failed {
                self.try_one(&one.then(other))?;
            }
        }
        while let Some(element) = queue.pop_front() {
            for generator in self.generators {
                let conjugate = element.conjugate(generator);
                if self.left <= least {
                    return Ok(());
                }
                if seen.insert(conjugate.images().to_vec()) {
                    self.try_one(&conjugate)?;
                    queue.push_back(conjugate);
                }
            }
        }
        Ok(())
    }

    /// Goes through cosets along the chain; whether all were seen.
    fn cosets(&mut self) -> Result<bool, Stopped> {
        let all = PermutationGroup::generate(self.degree, self.generators, self.control)?;
        let chain = all.chain().clone();
        let base = chain.base();
        for level in (0..base.len()).rev() {
            let below = chain.stabiliser(level + 1);
            let points: Vec<u32> = chain.basic_orbit(level).to_vec();
            for point in points {
                // What is known of the subgroup and fixes the base points before this one.
                let own = self.group.chain_with_base(&base, self.control)?;
                if point == base[level] || own.basic_orbit(level).contains(&point) {
                    continue;
                }
                let Some(carrier) = chain.representative(level, point) else { continue };
                if UBig::from(self.left) < below.order() {
                    return Ok(false);
                }
                for element in Elements::new(&below) {
                    self.left = self.left.saturating_sub(1);
                    if is_least(&own, level + 1, &base, &element) && self.try_one(&element.then(&carrier))? {
                        break;
                    }
                }
            }
        }
        Ok(true)
    }
}

/// Is it the element of its coset, under the part of a chain from some level on, with the least images of the base?
fn is_least(own: &StabiliserChain, from: usize, base: &[u32], element: &Permutation) -> bool {
    (from..base.len()).all(|level| {
        let image = element.image(base[level]);
        own.basic_orbit(level).iter().all(|&point| image <= element.image(point))
    })
}
