//! Making stabiliser chains: random elements until the chain looks complete, then a proof that it is.
//!
//! Elements of the group are sifted through the chain under construction; what is left over of one becomes a strong
//! generator at the level where it fell out (Leon, *On an algorithm for finding a base and a strong generating set for
//! a group given by generating permutations*, 1980). After [`QUIET`] consecutive elements have sifted to nothing the
//! chain is almost surely complete. "Almost" is removed in one of three ways:
//!
//! - the order is known in advance (a change of base, the result of a search): the product of the orbits never exceeds
//!   the order, so reaching it is a proof;
//! - the product reaches the upper bound that the orbits and blocks of the generators give (`bound`), as it does for
//!   symmetric groups and products and wreath products of them, where bases are long and the third way is slow;
//! - Schreier's lemma: level by level from the last, every Schreier generator sifts to nothing. One that does not is
//!   a new strong generator, and the random phase resumes.
//!
//! Invariant: everything in the chain is an element of the group, so a chain under construction only ever
//! underestimates.
//!
//! Cost: the random phase sifts `O(b)` elements at `O(b n d)` each, for `b` base points, degree `n` and trees of depth
//! `d` (a small constant); Schreier's lemma costs `O(g b n)` for each of the `Σ |orbit|` representatives and `g`
//! generators.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::bound::order_bound;
use crate::chain::StabiliserChain;
use crate::permutation::{Permutation, Point, compose_into, is_identity};
use crate::random::{ProductReplacement, Random};

/// How many consecutive elements must sift to nothing before a proof is tried.
const QUIET: usize = 12;

/// Steps of Schreier's lemma that are cheaper than looking for a bound.
const CHEAP_PROOF: u128 = 3_000_000;

/// The degree from which the first level begins with random elements: the powers of one generator alone can make a tree
/// as deep as the orbit is large.
const DEEP_DEGREE: usize = 1000;

/// How many they are, and how many random steps apart.
const ROOT_ELEMENTS: usize = 8;
const STEPS_APART: usize = 16;

/// Every chain is made from the same random stream, so that the same input gives the same chain.
const SEED: u64 = 0x7265_666f_696c;

/// The chain of the group that the generators generate; its base begins with `prefix`.
pub(crate) fn chain_of(
    degree: usize,
    generators: &[Permutation],
    prefix: &[Point],
    known_order: Option<&UBig>,
    control: &Control,
) -> Result<StabiliserChain, Stopped> {
    let mut chain = StabiliserChain::trivial(degree, prefix);
    let generators: Vec<Permutation> =
        generators.iter().filter(|generator| !generator.is_identity()).cloned().collect();
    if generators.is_empty() {
        chain.make_explicit();
        return Ok(chain);
    }
    control.afford(degree.saturating_mul(8).saturating_mul(generators.len() + 16))?;
    let mut images = vec![0; degree];
    let mut source = ProductReplacement::new(&generators, SEED);
    if degree >= DEEP_DEGREE {
        for _ in 0..ROOT_ELEMENTS {
            for _ in 0..STEPS_APART {
                control.check()?;
                images.copy_from_slice(source.next());
            }
            if !is_identity(&images) {
                chain.insert(&images, 0, control)?;
            }
        }
    }
    for generator in &generators {
        images.copy_from_slice(generator.images());
        sift_in(&mut chain, &mut images, 0, control)?;
    }
    let mut bound = None;
    loop {
        let mut next = |images: &mut [Point]| images.copy_from_slice(source.next());
        if fill(&mut chain, &mut next, known_order, control)? {
            break;
        }
        if proof_steps(&chain) > CHEAP_PROOF {
            if bound.is_none() {
                bound = Some(order_bound(degree, &generators, control)?);
            }
            if bound == Some(chain.order()) {
                break;
            }
        }
        match missing_element(&chain, &generators, control)? {
            None => break,
            Some((residue, level)) => chain.insert(&residue, level, control)?,
        }
    }
    chain.drop_trivial_levels(prefix.len());
    chain.make_explicit();
    Ok(chain)
}

/// The same group with a base that begins with `prefix`: uniform elements until the order is reached, which is certain.
pub(crate) fn change_base(
    chain: &StabiliserChain,
    prefix: &[Point],
    control: &Control,
) -> Result<StabiliserChain, Stopped> {
    if chain.levels.len() >= prefix.len() && chain.levels.iter().zip(prefix).all(|(level, &p)| level.base_point == p) {
        return Ok(chain.clone());
    }
    let order = chain.order();
    let mut changed = StabiliserChain::trivial(chain.degree(), prefix);
    let mut images = vec![0; chain.degree()];
    for generator in &chain.pool {
        images.copy_from_slice(&generator.images);
        sift_in(&mut changed, &mut images, 0, control)?;
    }
    let mut random = Random::new(SEED);
    let mut next = |images: &mut [Point]| chain.random_into(&mut random, images);
    while !fill(&mut changed, &mut next, Some(&order), control)? {}
    changed.drop_trivial_levels(prefix.len());
    changed.make_explicit();
    Ok(changed)
}

/// Sifts `images` and inserts what is left; says whether there was anything.
fn sift_in(chain: &mut StabiliserChain, images: &mut [Point], from: usize, control: &Control) -> Result<bool, Stopped> {
    let level = chain.sift_within(images, from, control)?;
    if level == chain.levels.len() && is_identity(images) {
        return Ok(false);
    }
    chain.insert(images, level, control)?;
    Ok(true)
}

/// Sifts random elements in until the order is reached (`true`) or [`QUIET`] consecutive ones brought nothing.
fn fill(
    chain: &mut StabiliserChain,
    next: &mut dyn FnMut(&mut [Point]),
    known_order: Option<&UBig>,
    control: &Control,
) -> Result<bool, Stopped> {
    let mut images = vec![0; chain.degree()];
    let mut quiet = 0;
    if known_order == Some(&chain.order()) {
        return Ok(true);
    }
    while quiet < QUIET {
        control.check()?;
        next(&mut images);
        if sift_in(chain, &mut images, 0, control)? {
            quiet = 0;
        } else {
            quiet += 1;
            if quiet == 1 && known_order == Some(&chain.order()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// What Schreier's lemma would cost, in images computed.
fn proof_steps(chain: &StabiliserChain) -> u128 {
    let count = chain.levels.len();
    let steps = chain.levels.iter().enumerate().map(|(index, level)| {
        let generators = chain.pool.iter().filter(|generator| generator.depth >= index).count();
        (level.orbit.len() * generators) as u128 * ((count - index) * chain.degree()) as u128
    });
    steps.sum()
}

/// An element of the group that the chain lacks, with the level where it belongs; `None` proves the chain complete.
///
/// Any generators of a level will do for Schreier's lemma; at the first level the given ones are mostly fewer than the
/// strong ones.
fn missing_element(
    chain: &StabiliserChain,
    given: &[Permutation],
    control: &Control,
) -> Result<Option<(Vec<Point>, usize)>, Stopped> {
    let degree = chain.degree();
    let mut images = vec![0; degree];
    // With the representatives multiplied out a sift is several times faster than over trees.
    let mut chain = chain.clone();
    chain.make_explicit();
    for index in (0..chain.levels.len()).rev() {
        let given = if index == 0 && given.len() < chain.pool.len() { given } else { &[] };
        for &point in &chain.levels[index].orbit {
            let Some(representative) = chain.representative(index, point) else { continue };
            control.check()?;
            for generator in given {
                compose_into(representative.images(), generator.images(), &mut images);
                let level = chain.sift_within(&mut images, index, control)?;
                if level < chain.levels.len() || !is_identity(&images) {
                    return Ok(Some((images, level)));
                }
            }
            if !given.is_empty() {
                continue;
            }
            for (number, generator) in chain.pool.iter().enumerate() {
                if generator.depth < index || chain.is_tree_edge(index, number, generator.images[point as usize]) {
                    continue;
                }
                compose_into(representative.images(), &generator.images, &mut images);
                let level = chain.sift_within(&mut images, index, control)?;
                if level < chain.levels.len() || !is_identity(&images) {
                    return Ok(Some((images, level)));
                }
            }
        }
    }
    Ok(None)
}
