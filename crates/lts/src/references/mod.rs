//! What a symmetry group does to states, by tuples of points instead of by element.
//!
//! A group permutes *points*; its generators also permute the states of some machines (the components of a network, the
//! nodes of a specification, a set of labels), and carry machines to machines. There are too many elements to keep a
//! map for each. But a state that says "control is here, `x` is `a` and `y` is `b`" goes wherever its *shape* and the
//! images of `a` and `b` say. So every state gets a shape, its orbit, and a tuple of points, its references, such that
//! whatever fixes the points fixes the state; applying an element is then mapping a few points and one look-up in a
//! table of the shape. (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 6.2, do the
//! same with the control states and environments that their compiler keeps. We find shapes and references in the
//! explicit machines themselves, so that states that compression has merged, variables that are never read again, and
//! machines from files need no special treatment.)
//!
//! The files: [`acted`] has the generators, [`naming`] finds shapes and references and proves that the generators do
//! define an action; the tables are made here. A table is a dense array in mixed radix when it is not much larger than
//! the number of tuples, and otherwise a hash table.
//!
//! # Drawing
//!
//! A state is drawn as a vertex coloured by its shape, with an edge to each of its references, labelled by position;
//! positions that elements exchange without changing the state, *blocks*, share a label. When several tuples name a
//! state even so, each is drawn as a vertex of its own, and the state's vertex points to them. An element carries a
//! state to another exactly when it carries the drawings to each other.
//!
//! Cost: making is in proportion to states times generators, and to the tuples; 56 bytes a state. Applying is a
//! few loads and does not allocate.

mod acted;
mod naming;

use std::collections::HashMap;
use std::fmt;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Picture, Value};

use acted::Acted;
use naming::{LONGEST, Naming, Shape, name};

/// What a generator does to the states of machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The machine that each machine becomes.
    pub machines: Vec<u32>,
    /// State `s` of machine `m` becomes state `states[m][s]` of machine `machines[m]`.
    pub states: Vec<Vec<u32>>,
}

/// Why there are no references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A map is not a permutation of the states of the machines.
    NotAPermutation {
        /// The number of the generator.
        generator: usize,
    },
    /// Two products of generators permute the points alike and a state differently.
    Ambiguous {
        /// The machine.
        machine: u32,
        /// The state.
        state: Value,
    },
    /// There are too many points.
    TooManyPoints,
    /// There are too many states.
    TooManyStates,
    /// A state refers to too many points.
    TooManyReferences,
    /// There are too many tuples of references.
    TooManyTuples,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAPermutation { generator } => {
                write!(f, "what generator {} does to the states is not one to one", generator + 1)
            }
            Refusal::Ambiguous { machine, state } => {
                write!(f, "what a permutation does to state {state} of machine {machine} depends on how it is composed")
            }
            Refusal::TooManyPoints => write!(f, "more than {MOST_POINTS} points are permuted"),
            Refusal::TooManyStates => write!(f, "there are more than {MOST_STATES} states to permute"),
            Refusal::TooManyReferences => write!(f, "a state refers to more than {LONGEST} of the permuted points"),
            Refusal::TooManyTuples => f.write_str("the states refer to the permuted points in too many ways"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Points are 16-bit numbers in the tables.
const MOST_POINTS: usize = 1 << 16;

/// How many states there may be in all machines together.
const MOST_STATES: usize = 1 << 24;

/// How many cells the dense tables may take beyond those proportional to the number of tuples.
const SPARE_CELLS: usize = 1 << 21;

/// A tuple with more points is looked up by hashing.
const INLINE: usize = 4;

/// How an image is found: `base + Σ strides[i] · element[points[i]]` is its place.
#[derive(Clone, Copy, Default)]
struct Record {
    base: u32,
    /// Zero when the state is fixed, one or two when the place is to be computed from two or from four points, and
    /// otherwise a hash table's number plus three.
    way: u32,
    points: [u16; INLINE],
    strides: [u32; INLINE],
}

const FIXED: u32 = 0;
const FROM_TWO: u32 = 1;
const FROM_FOUR: u32 = 2;
const HASHED: u32 = 3;

impl Record {
    /// The place of the image, from this many points.
    #[inline(always)]
    fn place(&self, element: &[u32], count: usize) -> usize {
        let terms = self.points.iter().zip(&self.strides).take(count);
        let image = |point: &u16| element[*point as usize];
        terms.fold(self.base, |place, (point, &stride)| place.wrapping_add(stride.wrapping_mul(image(point)))) as usize
    }
}

type Table = HashMap<Box<[u16]>, (u32, u32), foldhash::fast::FixedState>;

/// States with their shapes and references; see the head of this file.
pub struct References {
    points: usize,
    /// The first state of each machine among all, and one more.
    starts: Vec<u32>,
    naming: Naming,
    /// The point that stands for a machine, if there is one.
    identities: Vec<Option<u16>>,
    records: Vec<Record>,
    /// For each state, which points it refers to, a bit for each residue modulo 64.
    masks: Vec<u64>,
    images: Vec<(u32, u32)>,
    tables: Vec<Table>,
}

/// The points that an element moves, a bit for each residue modulo 64.
#[inline]
pub fn moved(element: &[u32]) -> u64 {
    let mut moved = 0;
    for (point, &image) in element.iter().enumerate() {
        moved |= u64::from(image != point as u32) << (point % 64);
    }
    moved
}

impl References {
    /// Shapes and references of the states of machines of these sizes, on which the generators act by these maps.
    ///
    /// # Panics
    ///
    /// When there are not as many maps as generators, or a map or a generator has the wrong length.
    pub fn new(
        points: usize,
        generators: &[Vec<u32>],
        sizes: &[usize],
        maps: &[Map],
        control: &Control,
    ) -> Result<Result<References, Refusal>, Stopped> {
        assert_eq!(generators.len(), maps.len(), "every generator has a map");
        assert!(generators.iter().all(|generator| generator.len() == points), "a generator permutes all points");
        if points > MOST_POINTS {
            return Ok(Err(Refusal::TooManyPoints));
        }
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut total = 0usize;
        for &size in sizes {
            starts.push(total as u32);
            total += size;
        }
        if total > MOST_STATES {
            return Ok(Err(Refusal::TooManyStates));
        }
        starts.push(total as u32);
        control.afford(total * (8 * generators.len() + 72))?;
        let mut images = Vec::with_capacity(maps.len());
        for (generator, map) in maps.iter().enumerate() {
            match flattened(map, &starts) {
                Some(flat) if acted::inverse(&generators[generator]).is_some() => images.push(flat),
                _ => return Ok(Err(Refusal::NotAPermutation { generator })),
            }
        }
        let machine_images = maps.iter().map(|map| map.machines.clone()).collect();
        let on_machines = Acted::new(points, generators, machine_images);
        let (Some(on_machines), Some(on_states)) = (on_machines, Acted::new(points, generators, images)) else {
            return Ok(Err(Refusal::NotAPermutation { generator: 0 }));
        };
        let owner = |thing: u32| starts.partition_point(|&start| start <= thing) as u32 - 1;
        let machine_naming = match name(&on_machines, sizes.len(), |_| None, control)? {
            Ok(naming) => naming,
            Err(refusal) => return Ok(Err(refusal.of(|machine| (machine, 0)))),
        };
        let identity = |machine: usize| {
            let shape = &machine_naming.shapes[machine_naming.shape_of[machine] as usize];
            (shape.arity == 1 && shape.tuples == 1).then(|| machine_naming.tuples(machine)[0])
        };
        let identities: Vec<Option<u16>> = (0..sizes.len()).map(identity).collect();
        let naming = match name(&on_states, total, |thing| identities[owner(thing) as usize], control)? {
            Ok(naming) => naming,
            Err(refusal) => {
                return Ok(Err(refusal.of(|thing| (owner(thing), thing - starts[owner(thing) as usize]))));
            }
        };
        let mut references = References {
            points,
            starts,
            naming,
            identities,
            records: vec![Record::default(); total],
            masks: Vec::new(),
            images: Vec::new(),
            tables: Vec::new(),
        };
        references.tabulate(generators, control)?;
        let mask = |state: usize| {
            let arity = references.naming.shapes[references.naming.shape_of[state] as usize].arity;
            references.naming.tuples(state)[..arity].iter().fold(0u64, |mask, &point| mask | 1 << (point % 64))
        };
        references.masks = (0..total).map(mask).collect();
        Ok(Ok(references))
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many machines there are.
    pub fn machines(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many states a machine has.
    pub fn states(&self, machine: u32) -> usize {
        (self.starts[machine as usize + 1] - self.starts[machine as usize]) as usize
    }

    /// How many shapes there are.
    pub fn shapes(&self) -> usize {
        self.naming.shapes.len()
    }

    /// The shape of a state.
    #[inline]
    pub fn shape(&self, machine: u32, state: Value) -> u32 {
        self.naming.shape_of[self.thing(machine, state)]
    }

    /// The states of a shape with their machines.
    pub fn members(&self, shape: u32) -> impl ExactSizeIterator<Item = (u32, Value)> + '_ {
        self.naming.shapes[shape as usize].members.iter().map(|&thing| self.split(thing))
    }

    /// For each position of the tuples of a shape, its block; positions of a block are adjacent, and blocks ascend.
    pub fn blocks(&self, shape: u32) -> &[u16] {
        &self.naming.shapes[shape as usize].blocks
    }

    /// How many tuples name each state of a shape, when points of a block count as a set.
    pub fn tuples_per_state(&self, shape: u32) -> usize {
        self.naming.shapes[shape as usize].tuples
    }

    /// The tuples that name a state, back to back, each block ascending. The first are its references.
    #[inline]
    pub fn tuples(&self, machine: u32, state: Value) -> &[u16] {
        self.naming.tuples(self.thing(machine, state))
    }

    /// The point that stands for a machine: whatever carries the one to its image carries the other there, and the
    /// first reference of each state is this point.
    pub fn identity(&self, machine: u32) -> Option<u32> {
        self.identities[machine as usize].map(u32::from)
    }

    /// Does a state refer to none of the points that an element moves, as computed by [`moved`]? Then the element fixes
    /// the state. Most elements that lead to representatives move few points, and this test touches less memory than
    /// applying them.
    #[inline(always)]
    pub fn is_fixed(&self, moved: u64, machine: u32, state: Value) -> bool {
        self.masks[(self.starts[machine as usize] + state) as usize] & moved == 0
    }

    /// What an element makes of a state.
    ///
    /// # Panics
    ///
    /// It may, when the element is not in the group.
    #[inline(always)]
    pub fn apply(&self, element: &[u32], machine: u32, state: Value) -> (u32, Value) {
        let record = &self.records[(self.starts[machine as usize] + state) as usize];
        match record.way {
            FIXED => (machine, state),
            FROM_TWO => self.images[record.place(element, 2)],
            FROM_FOUR => self.images[record.place(element, INLINE)],
            way => self.look_up(&self.tables[(way - HASHED) as usize], element, machine, state),
        }
    }

    #[cold]
    fn look_up(&self, table: &Table, element: &[u32], machine: u32, state: Value) -> (u32, Value) {
        let shape = &self.naming.shapes[self.naming.shape_of[self.thing(machine, state)] as usize];
        let mut image = [0u16; LONGEST];
        for (to, &from) in image.iter_mut().zip(&self.tuples(machine, state)[..shape.arity]) {
            *to = element[from as usize] as u16;
        }
        let mut start = 0;
        for block in shape.blocks.chunk_by(|left, right| left == right) {
            image[start..start + block.len()].sort_unstable();
            start += block.len();
        }
        table[&image[..start]]
    }

    /// Draws a state: a vertex of the colour `first_colour` plus the number of its shape, with its references. It takes
    /// labels below `2 + LONGEST` and is best drawn with others in whatever order the machines have.
    pub fn draw(&self, machine: u32, state: Value, first_colour: u32, picture: &mut Picture) {
        let shape = self.shape(machine, state);
        let vertex = picture.add_vertex(first_colour + shape);
        self.draw_references(machine, state, vertex, 0, first_colour + self.shapes() as u32, picture);
    }

    /// Draws the references of a state at a vertex, with labels from `first_label`, leaving out the identity of its
    /// machine when the vertex is that point; `colour` is for vertices that stand for one of several tuples.
    pub fn draw_references(
        &self,
        machine: u32,
        state: Value,
        vertex: u32,
        first_label: u32,
        colour: u32,
        picture: &mut Picture,
    ) {
        let shape = &self.naming.shapes[self.shape(machine, state) as usize];
        let tuples = self.tuples(machine, state);
        if shape.tuples == 1 {
            for (&point, &block) in tuples.iter().zip(&shape.blocks) {
                if u32::from(point) != vertex {
                    picture.add_edge(vertex, u32::from(point), first_label + u32::from(block));
                }
            }
            return;
        }
        for tuple in tuples.chunks_exact(shape.arity) {
            let one = picture.add_vertex(colour);
            picture.add_edge(vertex, one, first_label);
            for (&point, &block) in tuple.iter().zip(&shape.blocks) {
                picture.add_edge(one, u32::from(point), first_label + 1 + u32::from(block));
            }
        }
    }

    #[inline]
    fn thing(&self, machine: u32, state: Value) -> usize {
        (self.starts[machine as usize] + state) as usize
    }

    fn split(&self, thing: u32) -> (u32, Value) {
        let machine = self.starts.partition_point(|&start| start <= thing) - 1;
        (machine as u32, thing - self.starts[machine])
    }

    /// Makes the tables.
    fn tabulate(&mut self, generators: &[Vec<u32>], control: &Control) -> Result<(), Stopped> {
        let ranges = ranges(self.points, generators);
        let mut spare = SPARE_CELLS;
        for number in 0..self.naming.shapes.len() {
            if number.is_multiple_of(1 << 10) {
                control.check()?;
            }
            let shape = &self.naming.shapes[number];
            if shape.members.len() == 1 {
                continue;
            }
            let orders = orders(&shape.blocks);
            let first = &self.naming.tuples(shape.members[0] as usize)[..shape.arity];
            let ranges: Vec<(u32, u32)> = first.iter().map(|&point| ranges[point as usize]).collect();
            let cells =
                ranges.iter().try_fold(1usize, |cells, range| cells.checked_mul((range.1 - range.0 + 1) as usize));
            let named = shape.members.len() * shape.tuples;
            let dense = cells.filter(|&cells| shape.arity <= INLINE && cells <= 8 * named + spare);
            match (dense, orders) {
                (Some(cells), Some(orders)) => {
                    spare -= cells.saturating_sub(8 * named).min(spare);
                    control.afford(cells * 8)?;
                    self.fill_dense(number, &ranges, cells, &orders);
                }
                _ => {
                    control.afford(named * (48 + 2 * shape.arity))?;
                    self.fill_hashed(number);
                }
            }
        }
        Ok(())
    }

    fn fill_dense(&mut self, number: usize, ranges: &[(u32, u32)], cells: usize, orders: &[Vec<usize>]) {
        let start = self.images.len() as u32;
        self.images.resize(self.images.len() + cells, (u32::MAX, u32::MAX));
        let mut strides = [0u32; INLINE];
        let (mut stride, mut base) = (1, start);
        for (position, range) in ranges.iter().enumerate() {
            strides[position] = stride;
            base = base.wrapping_sub(stride.wrapping_mul(range.0));
            stride = stride.wrapping_mul(range.1 - range.0 + 1);
        }
        let Shape { arity, members, .. } = &self.naming.shapes[number];
        for &member in members {
            let split = self.split(member);
            let mut points = [0; INLINE];
            let tuples = self.naming.tuples(member as usize);
            points[..*arity].copy_from_slice(&tuples[..*arity]);
            let way = if *arity <= 2 { FROM_TWO } else { FROM_FOUR };
            self.records[member as usize] = Record { base, way, points, strides };
            for tuple in tuples.chunks_exact(*arity) {
                for order in orders {
                    let place = order.iter().zip(&strides).fold(base, |place, (&from, &stride)| {
                        place.wrapping_add(stride.wrapping_mul(u32::from(tuple[from])))
                    });
                    self.images[place as usize] = split;
                }
            }
        }
    }

    fn fill_hashed(&mut self, number: usize) {
        let Shape { arity, members, .. } = &self.naming.shapes[number];
        let mut table = Table::default();
        let way = HASHED + self.tables.len() as u32;
        for &member in members {
            let split = self.split(member);
            self.records[member as usize].way = way;
            for tuple in self.naming.tuples(member as usize).chunks_exact(*arity) {
                table.insert(tuple.into(), split);
            }
        }
        self.tables.push(table);
    }
}

/// A refusal that names a thing by its number.
enum Unnamed {
    Ambiguous(u32),
    TooManyReferences,
    TooManyTuples,
}

impl Unnamed {
    fn of(self, split: impl Fn(u32) -> (u32, Value)) -> Refusal {
        match self {
            Unnamed::Ambiguous(thing) => {
                let (machine, state) = split(thing);
                Refusal::Ambiguous { machine, state }
            }
            Unnamed::TooManyReferences => Refusal::TooManyReferences,
            Unnamed::TooManyTuples => Refusal::TooManyTuples,
        }
    }
}

/// A map as images of all states together; `None` when a machine or state is not there.
fn flattened(map: &Map, starts: &[u32]) -> Option<Vec<u32>> {
    assert_eq!(map.machines.len() + 1, starts.len(), "a map has all machines");
    let mut flat = Vec::with_capacity(starts[map.machines.len()] as usize);
    for (machine, (&image, states)) in map.machines.iter().zip(&map.states).enumerate() {
        let size = starts[machine + 1] - starts[machine];
        let (from, to) = (*starts.get(image as usize)?, *starts.get(image as usize + 1)?);
        if states.len() != size as usize || to - from != size || states.iter().any(|&state| state >= size) {
            return None;
        }
        flat.extend(states.iter().map(|&state| from + state));
    }
    Some(flat)
}

/// For each point the least and the greatest of its orbit.
fn ranges(points: usize, generators: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut ranges = vec![(u32::MAX, 0); points];
    for start in 0..points {
        if ranges[start].0 != u32::MAX {
            continue;
        }
        let mut orbit = vec![start as u32];
        ranges[start] = (0, 0);
        let mut at = 0;
        while at < orbit.len() {
            for generator in generators {
                let image = generator[orbit[at] as usize];
                if ranges[image as usize].0 == u32::MAX {
                    ranges[image as usize] = (0, 0);
                    orbit.push(image);
                }
            }
            at += 1;
        }
        let range = orbit.iter().fold((u32::MAX, 0), |(low, high), &point| (low.min(point), high.max(point)));
        orbit.iter().for_each(|&point| ranges[point as usize] = range);
    }
    ranges
}

/// All ways to order positions within their blocks, as positions in their place; `None` when there are many.
fn orders(blocks: &[u16]) -> Option<Vec<Vec<usize>>> {
    let mut orders = vec![Vec::new()];
    if blocks.len() > INLINE {
        return None;
    }
    for place in 0..blocks.len() {
        let longer = |order: Vec<usize>| {
            let free = (0..blocks.len()).filter(|at| blocks[*at] == blocks[place] && !order.contains(at));
            let extended = |at: usize| order.iter().copied().chain([at]).collect();
            free.map(extended).collect::<Vec<Vec<usize>>>()
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    Some(orders)
}
