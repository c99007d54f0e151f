//! Symmetric and alternating groups of large degree, and products of symmetric ones, without a stabiliser chain.
//!
//! A chain of S₁₀₀₀₀ has ten thousand levels and does not fit in memory. But nothing has to be stored about a group
//! that consists of all permutations, or all even ones, that keep some cells: its order is a product of factorials, an
//! element is recognised by looking at it, and stabilisers of sets and partitions are groups of the same kind.
//!
//! That generators generate such a group is proved with few random elements. Let `O` be an orbit of `n ≥ 8` points, `p`
//! a prime with `n / 2 < p < n - 2`, and `g` an element with a cycle of length `p` in `O` and no other cycle whose
//! length `p` divides. A power of `g` is a single `p`-cycle `h`. The group is primitive on `O`: were there blocks, `h`
//! would either move `p` of them, which have `2p > n` points at least, or keep every block, and its support would lie
//! in a block of at most `n / 2` points. By Jordan's theorem (*Sur la limite de transitivité des groupes non
//! alternés*, 1873) the group acts on `O` as the alternating group at least; the conjugates of `h` fix all points
//! outside `O` and generate a normal subgroup there, so all even permutations of `O` belong to the group, whatever
//! happens elsewhere. With that for every orbit, the signs of the generators on the orbits say the rest.
//!
//! Such elements are not rare, one in `ln n / ln 2` about; this is how giants are found by Seress, *Permutation group
//! algorithms*, 2003, section 10.2. Where the trial finds none, a chain decides.

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use crate::chain::product;
use crate::orbits::Orbits;
use crate::permutation::{Permutation, Point};
use crate::random::{ProductReplacement, Random};

/// Moved points from which a chain is worth avoiding.
pub(crate) const LEAST_POINTS: usize = 400;

/// The orbits beyond which giants are not looked for: a proof needs elements for each.
const MOST_ORBITS: usize = 32;

/// Random elements that are tried for each orbit.
const TRIES: usize = 120;

/// All permutations, or all even ones, that map each of some cells to itself.
#[derive(Clone, Debug)]
pub(crate) struct Giants {
    degree: usize,
    /// Ascending, in the order of their least points, at least two points in each.
    cells: Vec<Vec<Point>>,
    /// Only the even ones?
    even: bool,
    order: UBig,
}

impl Giants {
    fn new(degree: usize, mut cells: Vec<Vec<Point>>, even: bool) -> Giants {
        cells.retain(|cell| cell.len() > 1);
        let mut order = product(cells.iter().flat_map(|cell| 2..=cell.len()));
        if even && !cells.is_empty() {
            order /= UBig::from(2u8);
        }
        Giants { degree, cells, even, order }
    }

    /// The group that the generators generate, when it is large, of this kind, and the proof succeeds.
    pub(crate) fn generated(
        degree: usize,
        generators: &[Permutation],
        control: &Control,
    ) -> Result<Option<Giants>, Stopped> {
        let Some(orbits) = large_orbits(degree, generators) else { return Ok(None) };
        // Without every sign it is one of the many subgroups in between; the alternating group is the one of interest.
        let signs = signs(degree, generators, &orbits);
        let even = match signs {
            0 if orbits.len() == 1 => true,
            rank if rank == orbits.len() => false,
            _ => return Ok(None),
        };
        if !contain_alternating(degree, generators, &orbits, control)? {
            return Ok(None);
        }
        Ok(Some(Giants::new(degree, orbits, even)))
    }

    /// The same when the order of the group is known, which then determines the group.
    pub(crate) fn of_order(degree: usize, generators: &[Permutation], order: &UBig) -> Option<Giants> {
        let orbits = large_orbits(degree, generators)?;
        // From 8 on, n! is more than the n-th power of four: for most groups the comparison needs no factorial.
        let largest = orbits.iter().map(Vec::len).max().unwrap_or(0);
        if 2 * largest > dashu_int::ops::BitTest::bit_len(order) + 8 {
            return None;
        }
        let even = orbits.len() == 1 && generators.iter().all(Permutation::is_even);
        Some(Giants::new(degree, orbits, even)).filter(|giants| giants.order == *order)
    }

    /// Two generators for each cell at most.
    pub(crate) fn generators(&self) -> Vec<Permutation> {
        let mut generators = Vec::new();
        for cell in &self.cells {
            generators.extend(generators_of_cell(self.degree, cell, self.even));
        }
        if self.even {
            // Even together, odd on each of two cells.
            for pair in self.cells.windows(2) {
                let swaps = [pair[0][..2].to_vec(), pair[1][..2].to_vec()];
                generators.push(Permutation::from_disjoint_cycles(self.degree, &swaps));
            }
        }
        generators
    }

    pub(crate) fn degree(&self) -> usize {
        self.degree
    }

    pub(crate) fn cells(&self) -> &[Vec<Point>] {
        &self.cells
    }

    pub(crate) fn is_even(&self) -> bool {
        self.even
    }

    pub(crate) fn order(&self) -> &UBig {
        &self.order
    }

    /// Is the permutation an element? One of another degree is one when the points beyond are fixed.
    pub(crate) fn contains(&self, permutation: &Permutation) -> bool {
        let cell_of = crate::bound::block_numbers(self.degree.max(permutation.degree()), &self.cells);
        let keeps = |point: Point, image: Point| {
            point == image
                || (cell_of[point as usize] != u32::MAX && cell_of[point as usize] == cell_of[image as usize])
        };
        let kept = (0..).zip(permutation.images()).all(|(point, &image)| keeps(point, image));
        kept && (!self.even || permutation.is_even())
    }

    /// An element, all equally likely.
    pub(crate) fn random_element(&self, random: &mut Random) -> Permutation {
        let mut images: Vec<Point> = (0..self.degree as Point).collect();
        for cell in &self.cells {
            let mut shuffled = cell.clone();
            random.shuffle(&mut shuffled);
            cell.iter().zip(shuffled).for_each(|(&point, image)| images[point as usize] = image);
        }
        let element = Permutation::from_bijection(images);
        if !self.even || element.is_even() {
            return element;
        }
        let mut images = element.images().to_vec();
        images.swap(self.cells[0][0] as usize, self.cells[0][1] as usize);
        Permutation::from_bijection(images)
    }

    /// The elements that map each point to one of the same colour; one colour for each point.
    pub(crate) fn colouring_stabiliser(&self, colours: &[u32]) -> Giants {
        let mut finer = Vec::new();
        for cell in &self.cells {
            let mut sorted = cell.clone();
            sorted.sort_by_key(|&point| colours[point as usize]);
            finer.extend(sorted.chunk_by(|&a, &b| colours[a as usize] == colours[b as usize]).map(<[Point]>::to_vec));
        }
        finer.sort_unstable_by_key(|cell| cell[0]);
        Giants::new(self.degree, finer, self.even)
    }
}

/// The symmetric group of a cell, or its alternating group; nothing where that is trivial.
pub(crate) fn generators_of_cell(degree: usize, cell: &[Point], even: bool) -> Vec<Permutation> {
    let n = cell.len();
    let cycle = |points: &[Point]| Permutation::from_disjoint_cycles(degree, &[points.to_vec()]);
    match (even, n) {
        (_, 0 | 1) | (true, 2) => Vec::new(),
        (true, 3) | (false, 2) => vec![cycle(cell)],
        (false, _) => vec![cycle(&cell[..2]), cycle(cell)],
        // A long cycle of odd length, all points or all but the first, and three points that tie it together.
        (true, _) => vec![cycle(&cell[..3]), cycle(&cell[usize::from(n.is_multiple_of(2))..])],
    }
}

/// The orbits that move, when they have many points, are few, and each could be a giant's.
fn large_orbits(degree: usize, generators: &[Permutation]) -> Option<Vec<Vec<Point>>> {
    if degree < LEAST_POINTS {
        return None;
    }
    let mut orbits = Orbits::of(degree, generators).cells();
    orbits.retain(|orbit| orbit.len() > 1);
    let points: usize = orbits.iter().map(Vec::len).sum();
    let wanted = points >= LEAST_POINTS && orbits.len() <= MOST_ORBITS && orbits.iter().all(|orbit| orbit.len() >= 8);
    wanted.then_some(orbits)
}

/// The rank, over the field of two elements, of the signs of the generators on each orbit; at most 64 orbits.
fn signs(degree: usize, generators: &[Permutation], orbits: &[Vec<Point>]) -> usize {
    let orbit_of = crate::bound::block_numbers(degree, orbits);
    let mut basis: Vec<u64> = Vec::new();
    for generator in generators {
        let mut signs = 0u64;
        for cycle in generator.cycles().iter().filter(|cycle| cycle.len() % 2 == 0) {
            signs ^= 1 << orbit_of[cycle[0] as usize];
        }
        for known in &basis {
            signs = signs.min(signs ^ known);
        }
        if signs != 0 {
            basis.push(signs);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    basis.len()
}

/// Is there, for each orbit, an element that proves all even permutations of it to be in the group?
fn contain_alternating(
    degree: usize,
    generators: &[Permutation],
    orbits: &[Vec<Point>],
    control: &Control,
) -> Result<bool, Stopped> {
    control.afford(degree.saturating_mul(4).saturating_mul(generators.len() + 24))?;
    let orbit_of = crate::bound::block_numbers(degree, orbits);
    let mut source = ProductReplacement::new(generators, 3);
    let mut proved = vec![false; orbits.len()];
    let mut seen = vec![false; degree];
    for _ in 0..TRIES * orbits.len() {
        control.check()?;
        let images = source.next();
        seen.fill(false);
        let mut lengths: Vec<usize> = Vec::new();
        let mut long: Vec<(usize, usize)> = Vec::new();
        for start in 0..degree {
            if seen[start] || images[start] as usize == start {
                continue;
            }
            let mut length = 0;
            let mut point = start;
            while !seen[point] {
                seen[point] = true;
                length += 1;
                point = images[point] as usize;
            }
            lengths.push(length);
            let orbit = orbit_of[start] as usize;
            let n = orbits[orbit].len();
            if 2 * length > n && length + 2 < n && !proved[orbit] && is_prime(length) {
                long.push((orbit, length));
            }
        }
        for (orbit, prime) in long {
            // The cycle itself is the only one.
            if lengths.iter().filter(|&length| length % prime == 0).count() == 1 {
                proved[orbit] = true;
            }
        }
        if proved.iter().all(|&proved| proved) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_prime(n: usize) -> bool {
    n > 1 && (2..).take_while(|divisor| divisor * divisor <= n).all(|divisor| !n.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(degree: usize, from: u32, to: u32) -> Permutation {
        Permutation::from_disjoint_cycles(degree, &[(from..to).collect()])
    }

    fn generated(degree: usize, generators: &[Permutation]) -> Option<Giants> {
        Giants::generated(degree, generators, &Control::unlimited()).expect("nothing stops it")
    }

    #[test]
    fn giants_are_found_and_others_are_not() {
        let n = 1000;
        let symmetric = generated(n, &[cycle(n, 0, 2), cycle(n, 0, 1000)]).expect("S1000");
        assert!(!symmetric.even);
        assert_eq!(symmetric.order, crate::chain::factorial(n));
        let alternating = generated(n, &[cycle(n, 0, 3), cycle(n, 1, 1000)]).expect("A1000");
        assert!(alternating.even);
        assert_eq!(alternating.order.clone() * UBig::from(2u8), symmetric.order);
        // A ring, a wreath product, the diagonal of two symmetric groups, linked signs.
        let reversed = Permutation::from_bijection((0..n as Point).rev().collect());
        assert!(generated(n, &[cycle(n, 0, 1000), reversed]).is_none());
        let blocks = Permutation::from_bijection((0..n as Point).map(|point| (point + 500) % 1000).collect());
        assert!(generated(n, &[cycle(n, 0, 2), cycle(n, 0, 500), blocks]).is_none());
        let twice = |cycles: &[(u32, u32)]| {
            let cycles: Vec<Vec<Point>> = cycles.iter().map(|&(from, to)| (from..to).collect()).collect();
            Permutation::from_disjoint_cycles(n, &cycles)
        };
        assert!(generated(n, &[twice(&[(0, 2), (500, 502)]), twice(&[(0, 500), (500, 1000)])]).is_none());
        let linked = [twice(&[(0, 2), (400, 402)]), twice(&[(0, 399)]), twice(&[(401, 1000)])];
        assert!(generated(n, &linked).is_none());
        // Orbits of different sizes are recognised even when every generator moves both.
        let both = [twice(&[(0, 2), (400, 1000)]), twice(&[(0, 399), (400, 402)]), twice(&[(1, 400)])];
        assert_eq!(generated(n, &both).expect("S400 x S600").cells.len(), 2);
    }

    #[test]
    fn generators_of_cells_generate_them() {
        for n in 2..9 {
            let cell: Vec<Point> = (1..=n as Point).collect();
            for even in [false, true] {
                let generators = generators_of_cell(n + 1, &cell, even);
                let group = crate::group::PermutationGroup::generate(n + 1, &generators, &Control::unlimited());
                let expected = Giants::new(n + 1, vec![cell.clone()], even).order;
                assert_eq!(group.expect("nothing stops it").order(), expected, "{n} {even}");
            }
        }
    }

    #[test]
    fn elements_are_recognised_and_drawn() {
        let n = 600;
        let group = Giants::new(n, vec![(0..200).collect(), (200..500).collect()], true);
        let mut random = Random::new(1);
        for _ in 0..50 {
            let element = group.random_element(&mut random);
            assert!(group.contains(&element) && element.is_even());
            assert!(!group.contains(&element.then(&cycle(n, 0, 2))));
        }
        assert!(group.generators().iter().all(|generator| group.contains(generator)));
        assert!(!group.contains(&cycle(n, 199, 202)));
        assert!(!group.contains(&cycle(n, 498, 501)));
        assert!(!group.contains(&cycle(n + 9, 600, 603)));
        let colours: Vec<u32> = (0..n as u32).map(|point| point % 2).collect();
        let finer = group.colouring_stabiliser(&colours);
        assert_eq!(finer.cells.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 150, 150]);
        assert!(finer.generators().iter().all(|generator| finer.contains(generator) && group.contains(generator)));
    }
}
