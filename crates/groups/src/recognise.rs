//! Recognising how a group is built: products, wreath products, symmetric, alternating, cyclic and dihedral groups,
//! nested.
//!
//! A group is first split into factors that move disjoint points (`factors`). For a factor `H` the orbits on which it
//! is faithful are looked at, the smallest first, and then all orbits together. Every answer rests on an equality of
//! orders:
//!
//! - symmetric and alternating: `H` acts faithfully on `n` points and has `n!` elements, or half as many, for only one
//!   group does;
//! - cyclic: generators commute, and the exponent, the least common multiple of their orders, is the order;
//! - dihedral: `2n` elements on `n ≥ 4` points, among them an `n`-cycle and an element outside its powers that inverts
//!   it;
//! - wreath: for a system of `k` blocks, `H` embeds in the wreath product of what the stabiliser of a block does to it
//!   and what `H` does to the blocks (Krasner and Kaloujnine, 1951); it is that wreath product when the orders agree. A
//!   block may take points from several orbits: a node with its clients and its servers.
//!
//! Cost: polynomial; dominated by the chains of the restrictions that are tried. At most [`MOST_SYSTEMS`] block systems
//! are tried for an orbit, so an exotic wreath product can be reported as a group of known order and unknown structure,
//! never as something it is not. Of a group with very many orbits only the smallest are looked at, and of a large ring
//! only some elements, with the same effect.

use dashu_int::UBig;
use dashu_int::ops::{BitTest, Gcd};
use trefoil_control::{Control, Stopped};

use crate::blocks::block_systems;
use crate::bound::{action_on_blocks, block_action, block_numbers, restrict_all};
use crate::chain::{StabiliserChain, factorial};
use crate::determined::independent_orbits;
use crate::factors::disjoint_factors;
use crate::giants::Giants;
use crate::group::PermutationGroup;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::random::Random;
use crate::structure::{Kind, Structure};

/// The degree up to which all elements of a group that may be dihedral are looked at, and the number beyond.
const MOST_LISTED: usize = 256;

/// Orbits on which a group is tried to be faithful.
const MOST_ORBITS: usize = 64;

/// Block systems that are tried for one orbit.
const MOST_SYSTEMS: usize = 64;

impl PermutationGroup {
    /// How the group is built.
    pub fn structure(&self, control: &Control) -> Result<Structure, Stopped> {
        recognise(self, control)
    }
}

fn recognise(group: &PermutationGroup, control: &Control) -> Result<Structure, Stopped> {
    if let Some(giants) = group.giants() {
        return Ok(structure_of_giants(group, giants));
    }
    let mut factors = Vec::new();
    for factor in disjoint_factors(group, control)? {
        factors.push(recognise_factor(&factor, control)?);
    }
    let order = group.order();
    let moved = moved_points(group);
    if factors.len() > 1 {
        return Ok(Structure { order, moved, kind: Kind::Product { factors } });
    }
    Ok(factors.pop().unwrap_or(Structure { order, moved, kind: Kind::Trivial }))
}

/// What `giants` proved, as data. Swaps of large symmetric groups say nothing and take too much memory.
fn structure_of_giants(group: &PermutationGroup, giants: &Giants) -> Structure {
    let (order, moved) = (group.order(), moved_points(group));
    let kind = match (giants.is_even(), giants.cells()) {
        (false, [points]) => Kind::Symmetric { points: points.clone(), swaps: Vec::new() },
        (false, cells) => {
            let factor = |points: &Vec<Point>| Structure {
                order: factorial(points.len()),
                moved: points.clone(),
                kind: Kind::Symmetric { points: points.clone(), swaps: Vec::new() },
            };
            Kind::Product { factors: cells.iter().map(factor).collect() }
        }
        (true, [points]) => Kind::Alternating { points: points.clone(), turns: Vec::new() },
        (true, _) => Kind::Other { generators: group.generators().to_vec() },
    };
    Structure { order, moved, kind }
}

fn moved_points(group: &PermutationGroup) -> Vec<Point> {
    let mut moved: Vec<Point> = group.generators().iter().flat_map(Permutation::support).collect();
    moved.sort_unstable();
    moved.dedup();
    moved
}

/// A group that is not a product of factors on disjoint points.
fn recognise_factor(group: &PermutationGroup, control: &Control) -> Result<Structure, Stopped> {
    let order = group.order();
    let mut orbits: Vec<Vec<Point>> = group.orbits().into_iter().filter(|orbit| orbit.len() > 1).collect();
    orbits.sort_by_key(Vec::len);
    let mut faithful = Vec::new();
    for orbit in orbits.into_iter().take(MOST_ORBITS) {
        control.check()?;
        if is_faithful_on(group, &orbit, &order, control)? {
            faithful.push(orbit);
        }
    }
    let mut kind = None;
    for orbit in &faithful {
        if let Some(full) = factorial_up_to(orbit.len(), &order)
            && (full == order || (orbit.len() > 3 && full == &order * UBig::from(2u8)))
        {
            kind = recognise_giant(group, orbit, full == order, control)?;
        }
        if kind.is_some() {
            break;
        }
    }
    if kind.is_none() {
        kind = recognise_cyclic(group, &order);
    }
    for orbit in &faithful {
        if kind.is_none() && order == UBig::from(2 * orbit.len()) {
            kind = recognise_dihedral(group, orbit, control)?;
        }
    }
    for orbit in &faithful {
        if kind.is_none() {
            kind = recognise_wreath(group, orbit, control)?;
        }
    }
    if kind.is_none() {
        kind = recognise_wreath_of_several(group, control)?;
    }
    let kind = kind.unwrap_or_else(|| Kind::Other { generators: group.generators().to_vec() });
    Ok(Structure { order, moved: moved_points(group), kind })
}

fn is_faithful_on(
    group: &PermutationGroup,
    points: &[Point],
    order: &UBig,
    control: &Control,
) -> Result<bool, Stopped> {
    if factorial_up_to(points.len(), order).is_some_and(|full| full < *order) {
        return Ok(false);
    }
    if moved_points(group).len() == points.len() {
        return Ok(true);
    }
    // Faithful when nothing is left once the points are fixed.
    Ok(group.pointwise_stabiliser(points, control)?.is_trivial())
}

/// `n!`, unless it is clearly more than twice `limit`: the factorial of a large orbit is itself a long computation.
fn factorial_up_to(n: usize, limit: &UBig) -> Option<UBig> {
    // From four on, n! is more than the n-th power of two.
    (n < limit.bit_len() + 4).then(|| factorial(n))
}

/// The element that carries `from[i]` to `to[i]`, in a chain whose base begins with `from` and on which the group is
/// faithful.
fn lift(chain: &StabiliserChain, from: &[Point], to: impl Fn(usize) -> Point) -> Option<Permutation> {
    let targets: Vec<Point> = (0..from.len()).map(to).collect();
    let element = chain.carrier(&targets)?;
    from.iter().zip(&targets).all(|(&point, &target)| element.image(point) == target).then_some(element)
}

fn recognise_giant(
    group: &PermutationGroup,
    points: &[Point],
    symmetric: bool,
    control: &Control,
) -> Result<Option<Kind>, Stopped> {
    let chain = group.chain_with_base(points, control)?;
    let length = if symmetric { 2 } else { 3 };
    let mut lifted = Vec::new();
    for start in 0..=points.len() - length {
        control.check()?;
        let image = |index: usize| {
            let in_cycle = (start..start + length).contains(&index);
            points[if in_cycle { start + (index - start + 1) % length } else { index }]
        };
        let Some(element) = lift(&chain, points, image) else { return Ok(None) };
        lifted.push(element);
    }
    let points = points.to_vec();
    Ok(Some(match symmetric {
        true => Kind::Symmetric { points, swaps: lifted },
        false => Kind::Alternating { points, turns: lifted },
    }))
}

fn recognise_cyclic(group: &PermutationGroup, order: &UBig) -> Option<Kind> {
    let generators = group.generators();
    let commute = |a: &Permutation, b: &Permutation| a.then(b) == b.then(a);
    if !generators.iter().enumerate().all(|(index, a)| generators[..index].iter().all(|b| commute(a, b))) {
        return None;
    }
    let mut exponent = UBig::ONE;
    for generator in generators {
        let order = generator.order();
        exponent = &exponent / (&exponent).gcd(&order) * order;
    }
    if exponent != *order {
        return None;
    }
    // At least one element in every few generates a cyclic group.
    let mut random = Random::new(1);
    loop {
        let element = group.random_element(&mut random);
        if element.order() == *order {
            return Some(Kind::Cyclic { generator: element });
        }
    }
}

fn recognise_dihedral(group: &PermutationGroup, orbit: &[Point], control: &Control) -> Result<Option<Kind>, Stopped> {
    let n = orbit.len();
    if n < 4 {
        return Ok(None);
    }
    let index_of = |point: Point| orbit.binary_search(&point).unwrap_or_default();
    let mut random = Random::new(1);
    // Every element of a small group; of a large one as many as are certain enough to have both kinds among them.
    let few = n <= MOST_LISTED;
    let drawn = (0..MOST_LISTED).map(|_| group.random_element(&mut random));
    let candidates: Box<dyn Iterator<Item = Permutation>> =
        if few { Box::new(group.elements()) } else { Box::new(drawn) };
    let mut rotation: Option<(Permutation, Vec<Point>)> = None;
    let mut others: Vec<Permutation> = Vec::new();
    for element in candidates {
        control.check()?;
        if rotation.is_none() {
            // The ring as this element walks it.
            let mut points = vec![orbit[0]];
            while points.len() < n && element.image(points[points.len() - 1]) != orbit[0] {
                points.push(element.image(points[points.len() - 1]));
            }
            if points.len() == n {
                rotation = Some((element, points));
            } else {
                others.push(element);
                continue;
            }
        } else {
            others.push(element);
        }
        let Some((rotation, points)) = &rotation else { continue };
        let mut place = vec![0; n];
        points.iter().enumerate().for_each(|(position, &point)| place[index_of(point)] = position);
        let at = |element: &Permutation, position: usize| place[index_of(element.image(points[position]))];
        for other in others.drain(..) {
            let start = at(&other, 0);
            if (0..n).all(|position| at(&other, position) == (start + position) % n) {
                continue;
            }
            // The first element that is no power of the rotation decides: there are as many outside as powers.
            if (0..n).any(|position| at(&other, position) != (start + n - position) % n) {
                return Ok(None);
            }
            let reflection = other.then(&rotation.power(-(start as i64)));
            return Ok(Some(Kind::Dihedral { points: points.clone(), rotation: rotation.clone(), reflection }));
        }
    }
    Ok(None)
}

fn recognise_wreath(group: &PermutationGroup, orbit: &[Point], control: &Control) -> Result<Option<Kind>, Stopped> {
    let restricted = restrict_all(group.degree(), group.generators(), orbit);
    for system in block_systems(&restricted, orbit.len(), MOST_SYSTEMS, control)? {
        let blocks: Vec<Vec<Point>> =
            system.iter().map(|block| block.iter().map(|&index| orbit[index as usize]).collect()).collect();
        if let Some(kind) = wreath_over(group, &blocks, control)? {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// Blocks that take points from several orbits, none of which determines another.
fn recognise_wreath_of_several(group: &PermutationGroup, control: &Control) -> Result<Option<Kind>, Stopped> {
    let degree = group.degree();
    let generators = group.generators();
    let orbits = group.orbits().into_iter().filter(|orbit| orbit.len() > 1).collect();
    let orbits = independent_orbits(degree, generators, orbits, control)?;
    if orbits.len() < 2 {
        return Ok(None);
    }
    let first = &orbits[0];
    let restricted = restrict_all(degree, generators, first);
    for system in block_systems(&restricted, first.len(), MOST_SYSTEMS, control)? {
        let count = system.len();
        if orbits.iter().any(|orbit| orbit.len() % count != 0) {
            continue;
        }
        let mut blocks: Vec<Vec<Point>> =
            system.iter().map(|block| block.iter().map(|&index| first[index as usize]).collect()).collect();
        let stabiliser = block_stabiliser(degree, generators, &blocks, control)?;
        let cells = Orbits::of(degree, &stabiliser).cells();
        let mut complete = true;
        for orbit in &orbits[1..] {
            // The part of this orbit that belongs to the first block: an orbit of its stabiliser, such that the action
            // on the block as a whole stays as small as possible.
            let mut best: Option<(UBig, Vec<Vec<Point>>)> = None;
            let parts = cells.iter().filter(|cell| cell.len() * count == orbit.len());
            for part in parts.filter(|cell| orbit.binary_search(&cell[0]).is_ok()) {
                let Some(extended) = extend_blocks(degree, generators, &blocks, part) else { continue };
                let within = block_action(degree, generators, &extended, control)?;
                let size = PermutationGroup::generate(extended[0].len(), &within, control)?.order();
                if best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, extended));
                }
            }
            match best {
                Some((_, extended)) => blocks = extended,
                None => complete = false,
            }
            if !complete {
                break;
            }
        }
        if complete && let Some(kind) = wreath_over(group, &blocks, control)? {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// For each block an element that carries the first block to it.
fn block_carriers(degree: usize, generators: &[Permutation], blocks: &[Vec<Point>]) -> Vec<Permutation> {
    let block_of = block_numbers(degree, blocks);
    let mut carriers: Vec<Option<Permutation>> = vec![None; blocks.len()];
    carriers[0] = Some(Permutation::identity(degree));
    let mut queue = vec![0];
    let mut done = 0;
    while done < queue.len() {
        let Some(carrier) = carriers[queue[done]].clone() else { break };
        done += 1;
        for generator in generators {
            let target = block_of[generator.image(carrier.image(blocks[0][0])) as usize] as usize;
            if carriers[target].is_none() {
                carriers[target] = Some(carrier.then(generator));
                queue.push(target);
            }
        }
    }
    carriers.into_iter().flatten().collect()
}

/// Generators of the elements that map the first block to itself, by Schreier's lemma.
fn block_stabiliser(
    degree: usize,
    generators: &[Permutation],
    blocks: &[Vec<Point>],
    control: &Control,
) -> Result<Vec<Permutation>, Stopped> {
    let carriers = block_carriers(degree, generators, blocks);
    let block_of = block_numbers(degree, blocks);
    let mut found = Vec::new();
    for carrier in &carriers {
        control.check()?;
        for generator in generators {
            let product = carrier.then(generator);
            let target = block_of[product.image(blocks[0][0]) as usize] as usize;
            found.push(product.then(&carriers[target].inverse()));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The blocks with the images of `part` added, each to the block that moves with it; `None` when they do not move
/// together.
fn extend_blocks(
    degree: usize,
    generators: &[Permutation],
    blocks: &[Vec<Point>],
    part: &[Point],
) -> Option<Vec<Vec<Point>>> {
    let carriers = block_carriers(degree, generators, blocks);
    let mut extended = blocks.to_vec();
    let mut taken = vec![false; degree];
    for (block, carrier) in extended.iter_mut().zip(&carriers) {
        for &point in part {
            let image = carrier.image(point);
            if std::mem::replace(&mut taken[image as usize], true) {
                return None;
            }
            block.push(image);
        }
    }
    // Every generator must carry extended blocks to extended blocks.
    let block_of = block_numbers(degree, &extended);
    let together = generators.iter().all(|generator| {
        extended.iter().all(|block| {
            let target = block_of[generator.image(block[0]) as usize];
            block.iter().all(|&point| block_of[generator.image(point) as usize] == target)
        })
    });
    together.then_some(extended)
}

/// The group as a wreath product over these blocks, when it is one and faithful on them.
fn wreath_over(group: &PermutationGroup, blocks: &[Vec<Point>], control: &Control) -> Result<Option<Kind>, Stopped> {
    let (degree, generators) = (group.degree(), group.generators());
    let count = blocks.len();
    let across = action_on_blocks(degree, generators, blocks);
    let top_order = PermutationGroup::generate(count, &across, control)?.order();
    let within = block_action(degree, generators, blocks, control)?;
    let base_on_block = PermutationGroup::generate(blocks[0].len(), &within, control)?;
    let base_order = base_on_block.order();
    if base_order == UBig::ONE || base_order.pow(count) * &top_order != group.order() {
        return Ok(None);
    }
    // Coordinates: equal positions correspond under the chosen carriers.
    let carriers = block_carriers(degree, generators, blocks);
    let blocks: Vec<Vec<Point>> =
        carriers.iter().map(|carrier| blocks[0].iter().map(|&point| carrier.image(point)).collect()).collect();
    let size = blocks[0].len();
    let key = blocks.concat();
    let chain = group.chain_with_base(&key, control)?;
    let mut base = Vec::new();
    for generator in base_on_block.generators() {
        let image =
            |index: usize| if index < size { key[generator.image(index as Point) as usize] } else { key[index] };
        let Some(element) = lift(&chain, &key, image) else { return Ok(None) };
        base.push(element);
    }
    // The carriers renumbered the blocks.
    let mut top = Vec::new();
    for generator in &action_on_blocks(degree, generators, &blocks) {
        let image = |index: usize| blocks[generator.image((index / size) as Point) as usize][index % size];
        let Some(element) = lift(&chain, &key, image) else { return Ok(None) };
        top.push(element);
    }
    let base = PermutationGroup::with_order(degree, &base, &base_order, control)?;
    let top = PermutationGroup::with_order(degree, &top, &top_order, control)?;
    let (base, top) = (recognise(&base, control)?, recognise(&top, control)?);
    Ok(Some(Kind::Wreath { blocks, base: Box::new(base), top: Box::new(top) }))
}
