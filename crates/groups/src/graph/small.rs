//! Canonical labelling of many small graphs, one after the other, in buffers that are used again.
//!
//! The graphs have at most 64 vertices; the first ones are the *points*, and only they get labels. Individualisation
//! and refinement as in `search` and `canonical` (McKay, *Practical graph isomorphism*, 1981), over the bit sets of
//! `small_partition`, tuned for graphs that need little of it:
//!
//! - The first round of refinement, by the cells of the colours, is a sum of digests over the arcs (`small_rows`).
//! - Most graphs are done when their colours have been refined and every point is alone: no search, no certificate.
//! - Cells of *twins*, vertices that can be exchanged with everything else in its place, are laid out in any order;
//!   each gives a factor `k!` of automorphisms. Unused values and idle processes are such.
//! - Regular graphs, which refinement leaves whole, are split once by what pairs of vertices have in common.
//! - What is left is searched. The first path goes down by the first vertex of the least cell of points, anonymous
//!   vertices after all points. Then, from its end upwards, every other vertex of the cell is tried that no known
//!   automorphism makes equal to one that was: a leaf that equals the first or the best one gives an automorphism,
//!   nodes whose traces differ from the first path's and exceed the best one's are left.
//!
//! The number of automorphisms, as far as they differ on points, is the product of the orbits along the first path and
//! of the factors of the twins. Since points come first, levels of anonymous vertices count only automorphisms that fix
//! all points, and are left out.
//!
//! Invariant: whatever decides (cells, traces, certificates) is the same for isomorphic graphs; the numbers of vertices
//! decide only between choices that lead to equal results.

use std::cmp::Ordering;

use dashu_int::UBig;
use trefoil_control::{Control, Stopped};

use super::small_partition::Partition;
use super::small_rows::{MOST, SmallRows, bits, digest};

/// Labels graphs of at most [`SmallGraphs::MOST_VERTICES`] vertices.
pub struct SmallGraphs {
    rows: SmallRows,
    points: usize,
    vertices: usize,
    fits: bool,
    /// The vertices in the order in which they start.
    sorted: [u8; MOST],
    partition: Partition,
    nodes: Vec<Node>,
    first: Leaf,
    best: Leaf,
    /// Automorphisms by their images.
    generators: Vec<[u8; MOST]>,
    /// Sets of vertices such that every permutation of a set is an automorphism.
    twins: Vec<u64>,
    order: Order,
    steps: u64,
}

/// A node of the search.
#[derive(Clone, Copy)]
struct Node {
    partition: Partition,
    /// The cell whose vertices are tried.
    target: u8,
    chosen: u8,
    /// Those tried.
    tried: u64,
    /// Does the path to it look like the first one?
    like_first: bool,
    /// How the path to it compares with the best one.
    to_best: Ordering,
}

/// The end of a path.
struct Leaf {
    /// The vertices in their order.
    vertices: [u8; MOST],
    /// The digest of each node below the root.
    traces: Vec<u64>,
    choices: Vec<u8>,
    /// The rows of the labelled graph.
    certificate: Vec<u64>,
}

impl Leaf {
    fn new() -> Leaf {
        Leaf { vertices: [0; MOST], traces: Vec::new(), choices: Vec::new(), certificate: Vec::new() }
    }

    fn copy_from(&mut self, other: &Leaf) {
        self.vertices = other.vertices;
        self.traces.clone_from(&other.traces);
        self.choices.clone_from(&other.choices);
        self.certificate.clone_from(&other.certificate);
    }
}

/// A product of numbers that is usually small.
enum Order {
    Small(u128),
    Large(UBig),
}

impl Order {
    fn multiply(&mut self, factor: u32) {
        *self = match self {
            Order::Small(product) => match product.checked_mul(u128::from(factor)) {
                Some(product) => Order::Small(product),
                None => Order::Large(UBig::from(*product) * factor),
            },
            Order::Large(product) => Order::Large(std::mem::take(product) * factor),
        }
    }
}

impl Default for SmallGraphs {
    fn default() -> SmallGraphs {
        SmallGraphs::new()
    }
}

impl SmallGraphs {
    /// How many vertices a graph may have.
    pub const MOST_VERTICES: usize = MOST;

    /// No graph yet.
    pub fn new() -> SmallGraphs {
        SmallGraphs {
            rows: SmallRows::new(),
            points: 0,
            vertices: 0,
            fits: false,
            sorted: [0; MOST],
            partition: Partition::empty(),
            nodes: Vec::new(),
            first: Leaf::new(),
            best: Leaf::new(),
            generators: Vec::new(),
            twins: Vec::new(),
            order: Order::Small(1),
            steps: 0,
        }
    }

    /// Starts a graph with this many vertices, the first `points` of which are points. Returns `false` when the graph
    /// is too large.
    #[inline]
    pub fn begin(&mut self, vertices: usize, points: usize) -> bool {
        self.fits = vertices <= MOST && points <= vertices;
        if self.fits {
            self.points = points;
            self.vertices = vertices;
            self.rows.clear();
        }
        self.fits
    }

    /// The colour of the next vertex; all must be given, in order, before arcs are. Only points of one `kind` may be
    /// exchanged, and kinds are below 2^24; vertices that are no points are of one further kind.
    #[inline]
    pub fn colour(&mut self, kind: u32, colour: u32) {
        let kind = if self.rows.vertices() < self.points { u64::from(kind & 0xff_ffff) } else { 1 << 24 };
        self.rows.add_vertex(kind << 32 | u64::from(colour));
    }

    /// Adds an arc between vertices that exist. Returns `false` when the graph has too many colours of arcs, or two
    /// equal arcs.
    #[inline]
    pub fn arc(&mut self, from: u32, to: u32, colour: u32) -> bool {
        self.fits &= self.rows.add(from, to, colour);
        self.fits
    }

    /// The graph that was described is to be changed and labelled several times; whatever is done to it from now on is
    /// taken back by [`SmallGraphs::revert`]. Returns `false` when a part of it was refused.
    pub fn keep(&mut self) -> bool {
        if self.fits {
            self.rows.keep();
        }
        self.fits
    }

    /// Adds to the colour of a vertex of a graph that was kept, and subtracts from it.
    #[inline]
    pub fn recolour(&mut self, vertex: u32, less: u32, more: u32) {
        self.rows.recolour(vertex, less, more);
    }

    /// Removes an arc of a graph that was kept. Returns `false` when there is no such arc.
    #[inline]
    pub fn remove_arc(&mut self, from: u32, to: u32, colour: u32) -> bool {
        self.fits &= self.rows.remove(from, to, colour);
        self.fits
    }

    /// Reverts all changes since the graph was kept.
    pub fn revert(&mut self) {
        self.rows.revert();
        self.fits = true;
    }

    /// Labels the graph that was described. Panics when a part of it was refused.
    pub fn label(&mut self, control: &Control) -> Result<(), Stopped> {
        assert!(self.fits && self.rows.vertices() == self.vertices, "the graph is not complete");
        self.order = Order::Small(1);
        self.twins.clear();
        self.generators.clear();
        let queue = self.partition.start(&self.rows, &mut self.sorted);
        let points = low_bits(self.points);
        self.partition.refine(&self.rows, queue, points);
        if self.partition.loose & points == 0 {
            return Ok(());
        }
        self.settle_twins(true);
        if self.partition.loose & points == 0 {
            return Ok(());
        }
        if self.sharpen() {
            self.settle_twins(true);
            if self.partition.loose & points == 0 {
                return Ok(());
            }
        }
        self.search(control)
    }

    /// Splits cells by what pairs of vertices have in common: how many neighbours of each kind, and where the other one
    /// stands. This distinguishes nearly all vertices of graphs that are regular but not symmetric, where a search
    /// would have to try vertex by vertex. Returns whether anything was split; rings and lists are skipped, since the
    /// split cannot help there.
    fn sharpen(&mut self) -> bool {
        let many =
            |vertex: usize| bits(self.rows.classes(vertex)).any(|class| self.rows.row(class, vertex).count_ones() > 1);
        let mut rest = self.partition.loose;
        let mut branching = false;
        while rest != 0 && !branching {
            branching = many(rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
        if !branching {
            return false;
        }
        let (mut classes, mut count) = ([0; MOST], 0);
        for class in bits(self.rows.all_classes()) {
            classes[count] = class & !1;
            count += usize::from(count == 0 || classes[count - 1] != class & !1);
        }
        let mut values = [0u64; MOST];
        let mut rest = self.partition.loose;
        while rest != 0 {
            let vertex = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            for other in (0..self.rows.vertices()).filter(|&other| other != vertex) {
                let mut common = u64::from(self.partition.home[other % MOST]);
                for &class in &classes[..count] {
                    let [to, from] = [class, class + 1].map(|class| self.rows.row(class, vertex));
                    let [other_to, other_from] = [class, class + 1].map(|class| self.rows.row(class, other));
                    let counts = [to & other_to, from & other_from, to & other_from, from & other_to];
                    let near = u64::from(to >> other & 1 == 1) | u64::from(from >> other & 1 == 1) << 1;
                    common = counts.iter().fold(common << 2 | near, |digest, set| {
                        digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(set.count_ones())
                    });
                }
                values[vertex] = values[vertex].wrapping_add(digest(common));
            }
        }
        let mut queue = 0;
        let mut open = self.partition.open;
        while open != 0 {
            let begin = open.trailing_zeros() as usize;
            open &= open - 1;
            queue |= self.partition.split_by(begin, &values);
        }
        self.partition.refine(&self.rows, queue, low_bits(self.points));
        queue != 0
    }

    /// Numbers the points of the graph that was described by refinement, with arbitrary choices where it does not
    /// decide. Panics when a part of the graph was refused.
    pub fn arrange(&mut self) {
        assert!(self.fits && self.rows.vertices() == self.vertices, "the graph is not complete");
        let queue = self.partition.start(&self.rows, &mut self.sorted);
        let points = low_bits(self.points);
        self.partition.refine(&self.rows, queue, points);
        while self.partition.loose & points != 0 {
            let target = self.partition.open.trailing_zeros() as usize;
            if self.partition.are_twins(&self.rows, target) {
                self.partition.scatter(target);
            } else {
                self.descend(target, self.partition.cells[target].trailing_zeros() as usize);
            }
        }
    }

    /// The label of a point: those of one kind have consecutive ones, kinds in ascending order.
    #[inline]
    pub fn position(&self, point: usize) -> usize {
        self.partition.home[point % MOST] as usize
    }

    /// How many permutations of the points extend to automorphisms.
    pub fn order(&self) -> UBig {
        match &self.order {
            Order::Small(order) => UBig::from(*order),
            Order::Large(order) => order.clone(),
        }
    }

    /// Is the identity the only automorphism as far as points are concerned?
    pub fn is_rigid(&self) -> bool {
        matches!(self.order, Order::Small(1))
    }

    /// Calls `each` with generators of the automorphisms, as images of the points, until it returns `false`; returns
    /// whether it never did.
    pub fn all_generators(&self, mut each: impl FnMut(&[u32]) -> bool) -> bool {
        let points = low_bits(self.points);
        let mut images = [0u32; MOST];
        for generator in &self.generators {
            for point in 0..self.points {
                images[point] = u32::from(generator[point]);
            }
            if !each(&images[..self.points]) {
                return false;
            }
        }
        images.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
        for &twins in &self.twins {
            let mut members = twins & points;
            while members & members.wrapping_sub(1) != 0 {
                let one = members.trailing_zeros() as usize;
                members &= members - 1;
                let other = members.trailing_zeros() as usize;
                images.swap(one, other);
                let goes_on = each(&images[..self.points]);
                images.swap(one, other);
                if !goes_on {
                    return false;
                }
            }
        }
        true
    }

    /// Lays out cells of twins, those of points and others.
    fn settle_twins(&mut self, on_first_path: bool) {
        let mut open = self.partition.open;
        while open != 0 {
            let begin = open.trailing_zeros() as usize;
            open &= open - 1;
            if !self.partition.are_twins(&self.rows, begin) {
                continue;
            }
            let cell = self.partition.cells[begin];
            self.partition.scatter(begin);
            if on_first_path {
                self.twins.push(cell);
                if begin < self.points {
                    (2..=cell.count_ones()).for_each(|factor| self.order.multiply(factor));
                }
            }
        }
    }

    /// The least cell of points, or of other vertices when all points are alone; the first of several.
    fn target(&self) -> usize {
        let points = self.partition.open & low_bits(self.points);
        let mut open = if points != 0 { points } else { self.partition.open };
        let mut target = open.trailing_zeros() as usize;
        while open != 0 {
            let begin = open.trailing_zeros() as usize;
            open &= open - 1;
            if self.partition.cells[begin].count_ones() < self.partition.cells[target].count_ones() {
                target = begin;
            }
        }
        target
    }

    fn search(&mut self, control: &Control) -> Result<(), Stopped> {
        self.nodes.clear();
        self.first.traces.clear();
        self.first.choices.clear();
        while self.partition.open != 0 {
            let target = self.target();
            let chosen = self.partition.cells[target].trailing_zeros() as usize;
            self.push(target, chosen, true, Ordering::Equal);
            self.descend(target, chosen);
            self.settle_twins(true);
            self.first.traces.push(self.partition.digest());
            self.first.choices.push(chosen as u8);
        }
        self.first.certificate.clear();
        let mut certificate = std::mem::take(&mut self.first.certificate);
        self.each_row(|row| {
            certificate.push(row);
            true
        });
        self.first.certificate = certificate;
        for position in 0..self.rows.vertices() {
            self.first.vertices[position] = self.partition.cells[position].trailing_zeros() as u8;
        }
        self.best.copy_from(&self.first);
        for level in (0..self.nodes.len()).rev() {
            self.nodes.truncate(level + 1);
            while let Some(next) = self.next_choice(level) {
                self.explore(level, next, control)?;
            }
            let node = &self.nodes[level];
            if (node.target as usize) < self.points {
                let orbit = self.closure(1 << self.first.choices[level], level);
                self.order.multiply(orbit.count_ones());
            }
        }
        for (position, &vertex) in self.best.vertices[..self.rows.vertices()].iter().enumerate() {
            self.partition.home[vertex as usize] = position as u8;
        }
        Ok(())
    }

    fn push(&mut self, target: usize, chosen: usize, like_first: bool, to_best: Ordering) {
        self.nodes.push(Node {
            partition: self.partition,
            target: target as u8,
            chosen: chosen as u8,
            tried: 1 << chosen,
            like_first,
            to_best,
        });
    }

    #[inline]
    fn descend(&mut self, target: usize, chosen: usize) {
        self.partition.individualise(target, chosen);
        self.partition.refine(&self.rows, 1 << target, u64::MAX);
    }

    /// The rows of the graph with its vertices at their positions.
    fn each_row(&self, mut row: impl FnMut(u64) -> bool) {
        let partition = &self.partition;
        for class in bits(self.rows.all_classes()).filter(|class| class % 2 == 1) {
            for position in 0..self.rows.vertices() {
                let mut ends = self.rows.row(class, partition.cells[position].trailing_zeros() as usize);
                let mut renamed = 0u64;
                while ends != 0 {
                    renamed |= 1 << (partition.home[ends.trailing_zeros() as usize] % 64);
                    ends &= ends - 1;
                }
                if !row(renamed) {
                    return;
                }
            }
        }
    }

    fn compare_with(&self, leaf: &Leaf) -> Ordering {
        let mut order = Ordering::Equal;
        let mut known = leaf.certificate.iter();
        self.each_row(|row| {
            order = known.next().map_or(Ordering::Greater, |known| row.cmp(known));
            order == Ordering::Equal
        });
        order
    }

    /// The vertices that automorphisms fixing the choices of the first `level` nodes carry these to.
    fn closure(&self, mut set: u64, level: usize) -> u64 {
        let chosen = self.nodes[..level].iter().fold(0u64, |mask, node| mask | 1 << node.chosen);
        loop {
            let before = set;
            for &twins in &self.twins {
                let free = twins & !chosen;
                if set & free != 0 {
                    set |= free;
                }
            }
            for generator in &self.generators {
                if self.nodes[..level].iter().any(|node| generator[node.chosen as usize] != node.chosen) {
                    continue;
                }
                let mut members = set;
                while members != 0 {
                    set |= 1 << generator[members.trailing_zeros() as usize];
                    members &= members - 1;
                }
            }
            if set == before {
                return set;
            }
        }
    }

    /// The next vertex to try at a node.
    fn next_choice(&mut self, level: usize) -> Option<usize> {
        let node = &self.nodes[level];
        let cell = node.partition.cells[node.target as usize];
        if cell & !node.tried == 0 {
            return None;
        }
        let left = cell & !self.closure(node.tried, level);
        if left == 0 {
            return None;
        }
        let next = left.trailing_zeros() as usize;
        let node = &mut self.nodes[level];
        node.tried |= 1 << next;
        node.chosen = next as u8;
        Some(next)
    }

    /// Explores what is below a choice at a node of the first path.
    fn explore(&mut self, level: usize, start: usize, control: &Control) -> Result<(), Stopped> {
        let mut choice = start;
        loop {
            self.steps += 1;
            if self.steps & 0xff == 0 {
                control.check()?;
            }
            let depth = self.nodes.len() - 1;
            let node = &self.nodes[depth];
            let (target, mut like_first, mut to_best) = (node.target as usize, node.like_first, node.to_best);
            self.partition = node.partition;
            self.descend(target, choice);
            self.settle_twins(false);
            let trace = self.partition.digest();
            like_first &= self.first.traces.get(depth) == Some(&trace);
            if to_best == Ordering::Equal {
                to_best = self.best.traces.get(depth).map_or(Ordering::Greater, |known| trace.cmp(known));
            }
            if like_first || to_best != Ordering::Greater {
                if self.partition.open != 0 {
                    let target = self.target();
                    choice = self.partition.cells[target].trailing_zeros() as usize;
                    self.push(target, choice, like_first, to_best);
                    continue;
                }
                if let Some(back) = self.judge_leaf(like_first, to_best, level) {
                    self.nodes.truncate(back + 1);
                    if back == level {
                        return Ok(());
                    }
                }
            }
            // On to the next choice of the deepest node that has one.
            loop {
                let depth = self.nodes.len() - 1;
                if depth == level {
                    return Ok(());
                }
                if let Some(next) = self.next_choice(depth) {
                    choice = next;
                    break;
                }
                self.nodes.pop();
            }
        }
    }

    /// Looks at a leaf; the level to go back to when it gave an automorphism.
    fn judge_leaf(&mut self, like_first: bool, to_best: Ordering, level: usize) -> Option<usize> {
        if like_first && self.compare_with(&self.first) == Ordering::Equal {
            self.record_automorphism(self.first.vertices);
            return Some(level);
        }
        let order = match to_best {
            Ordering::Equal => self.compare_with(&self.best),
            other => other,
        };
        match order {
            Ordering::Greater => None,
            Ordering::Equal => {
                self.record_automorphism(self.best.vertices);
                let nodes = self.nodes.iter().map(|node| node.chosen);
                let shared = nodes.zip(&self.best.choices).take_while(|(here, there)| here == *there).count();
                Some(shared.clamp(level, self.nodes.len() - 1))
            }
            Ordering::Less => {
                let mut certificate = std::mem::take(&mut self.best.certificate);
                certificate.clear();
                self.each_row(|row| {
                    certificate.push(row);
                    true
                });
                self.best.certificate = certificate;
                for position in 0..self.rows.vertices() {
                    self.best.vertices[position] = self.partition.cells[position].trailing_zeros() as u8;
                }
                self.best.choices.clear();
                self.best.choices.extend(self.nodes.iter().map(|node| node.chosen));
                self.best.traces.clear();
                self.best.traces.extend(self.nodes[1..].iter().map(|node| node.partition.digest()));
                self.best.traces.push(self.partition.digest());
                self.nodes.iter_mut().for_each(|node| node.to_best = Ordering::Equal);
                None
            }
        }
    }

    /// The automorphism that carries the vertices of a leaf to those at the same positions of the current one.
    fn record_automorphism(&mut self, from: [u8; MOST]) {
        let mut images = [0u8; MOST];
        for position in 0..self.rows.vertices() {
            images[from[position] as usize] = self.partition.cells[position].trailing_zeros() as u8;
        }
        self.generators.push(images);
    }
}

#[inline]
fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
