//! The strategy `fast`: minimise factor by factor, each in the way its structure suggests.
//!
//! After Donaldson and Miller, 2007, section 4.1, and the work of Emerson and Wahl and of Clarke that it summarises. A
//! symmetric group sorts: algorithm 2 of the paper, selection sort by swaps, with whole images compared, so that
//! references help to decide although they may mislead (lemma 4.4). A wreath product of symmetric groups sorts within
//! blocks and then the blocks. Small cyclic and dihedral groups are listed. Every other factor takes the least image of
//! the colours.
//!
//! Factors move disjoint points, so without references each minimises its part independently, and there is one result
//! for each orbit. With references there may be several.

use trefoil_control::{Control, Stopped};
use trefoil_groups::{Kind, LeastImages, Permutation, PermutationGroup, Structure, compose_into, follow};
use trefoil_system::Picture;

use crate::images::Images;

/// The largest degree of a symmetric group for which every pair is tried.
const MOST_SWAPPED: usize = 32;

/// The most elements that are listed.
const MOST_LISTED: u32 = 512;

/// What to do, factor by factor.
pub(crate) struct Fast {
    steps: Vec<Step>,
}

enum Step {
    /// Algorithm 2 over these points.
    Swaps(Vec<u32>),
    /// Sorts points by colours; all permutations of them are elements.
    Sort(Vec<u32>),
    /// Sorts within blocks by colours, then the blocks; equal positions correspond.
    Blocks(Vec<Vec<u32>>),
    /// Tries these.
    List(Vec<Permutation>),
    /// The least image of the colours.
    Colours(Box<LeastImages>),
}

impl Fast {
    pub(crate) fn new(group: &PermutationGroup, structure: &Structure, control: &Control) -> Result<Fast, Stopped> {
        let mut steps = Vec::new();
        match &structure.kind {
            Kind::Trivial => {}
            Kind::Product { factors } => {
                for factor in factors {
                    steps.push(step(group.degree(), factor, control)?);
                }
            }
            _ => steps.push(step(group.degree(), structure, control)?),
        }
        Ok(Fast { steps })
    }

    pub(crate) fn minimise(
        &self,
        images: &mut Images,
        picture: &Picture,
        scratch: &mut Scratch,
        element: &mut [u32],
        control: &Control,
    ) -> Result<(), Stopped> {
        element.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
        for step in &self.steps {
            control.check()?;
            scratch.next.clear();
            scratch.next.extend(0..element.len() as u32);
            // Colours as the factors before have moved them; this one's points are still where they were.
            let colours = &picture.colours()[..element.len()];
            match step {
                Step::Swaps(points) => {
                    select(points, images, picture, element, &mut scratch.next, control)?;
                    continue;
                }
                Step::Sort(points) => {
                    scratch.order.clear();
                    scratch.order.extend_from_slice(points);
                    scratch.order.sort_by_key(|&point| colours[point as usize]);
                    for (&point, &place) in scratch.order.iter().zip(points) {
                        scratch.next[point as usize] = place;
                    }
                }
                Step::Blocks(blocks) => sort_blocks(blocks, colours, &mut scratch.next),
                Step::List(elements) => {
                    images.clear();
                    for candidate in elements {
                        compose_into(element, candidate.images(), &mut scratch.next);
                        images.offer(picture, &scratch.next, control)?;
                    }
                    element.copy_from_slice(images.element());
                    continue;
                }
                Step::Colours(least) => {
                    let found = least.of(colours, control)?;
                    scratch.next.copy_from_slice(found.element.images());
                }
            }
            follow(element, &scratch.next);
        }
        Ok(())
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    next: Vec<u32>,
    order: Vec<u32>,
}

fn step(degree: usize, factor: &Structure, control: &Control) -> Result<Step, Stopped> {
    let generators = match &factor.kind {
        Kind::Symmetric { points, .. } if *points == factor.moved => {
            let few = points.len() <= MOST_SWAPPED;
            return Ok(if few { Step::Swaps(points.clone()) } else { Step::Sort(points.clone()) });
        }
        Kind::Wreath { blocks, base, top } => {
            if sorts_blocks(factor, blocks, base, top) {
                return Ok(Step::Blocks(blocks.clone()));
            }
            factor.generators()
        }
        _ => factor.generators(),
    };
    let group = PermutationGroup::with_order(degree, &generators, &factor.order, control)?;
    let ring = matches!(factor.kind, Kind::Cyclic { .. } | Kind::Dihedral { .. });
    if ring && factor.order <= MOST_LISTED.into() {
        return Ok(Step::List(group.elements().collect()));
    }
    Ok(Step::Colours(Box::new(LeastImages::new(&group, control)?)))
}

/// Is it all permutations of blocks and all permutations within them, and nothing follows?
fn sorts_blocks(whole: &Structure, blocks: &[Vec<u32>], base: &Structure, top: &Structure) -> bool {
    let mut first = blocks[0].clone();
    first.sort_unstable();
    matches!(&base.kind, Kind::Symmetric { points, .. } if *points == first && base.moved == first)
        && matches!(&top.kind, Kind::Symmetric { points, .. } if points.len() == blocks.len())
        && whole.key_points() == whole.moved
}

/// Algorithm 2: puts the best of what is left at each place in turn.
fn select(
    points: &[u32],
    images: &mut Images,
    picture: &Picture,
    element: &mut [u32],
    next: &mut [u32],
    control: &Control,
) -> Result<(), Stopped> {
    images.clear();
    images.offer(picture, element, control)?;
    for (index, &one) in points.iter().enumerate() {
        for &other in &points[index + 1..] {
            let swapped = |image: u32| match image {
                image if image == one => other,
                image if image == other => one,
                image => image,
            };
            for (slot, &image) in next.iter_mut().zip(element.iter()) {
                *slot = swapped(image);
            }
            images.offer(picture, next, control)?;
        }
        element.copy_from_slice(images.element());
    }
    Ok(())
}

/// Sorts each block and then the blocks.
fn sort_blocks(blocks: &[Vec<u32>], colours: &[u32], next: &mut [u32]) {
    let mut sorted: Vec<Vec<u32>> = blocks.to_vec();
    sorted.iter_mut().for_each(|block| block.sort_by_key(|&point| colours[point as usize]));
    let colour = |point: &u32| colours[*point as usize];
    sorted.sort_by(|left, right| left.iter().map(colour).cmp(right.iter().map(colour)));
    for (from, to) in sorted.iter().zip(blocks) {
        for (&point, &place) in from.iter().zip(to) {
            next[point as usize] = place;
        }
    }
}
