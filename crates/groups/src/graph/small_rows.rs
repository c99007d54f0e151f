//! A graph of at most 64 vertices in bit sets, and changes to it that are taken back.
//!
//! The neighbours of a vertex are words with a bit for each vertex, one word for each *class* of arcs (colour and
//! direction), and one more word lists the classes in which a vertex has neighbours at all: a picture has few of them
//! at each vertex, and a walk over a graph visits only those.
//!
//! Beside them every vertex has a *mark*, a sum over its arcs of a digest of the colour at the other end times a number
//! for the class: it separates what refinement by the cells of the colours would separate, except for collisions, which
//! later rounds resolve. Being a sum, it is kept up to date arc by arc.
//!
//! # Changes
//!
//! The states that one step leads to differ from the state before in few slots, and so do their pictures. So a graph
//! can be described once ([`SmallRows::keep`]), changed by a few colours and arcs, labelled, and taken back
//! ([`SmallRows::revert`]); the cost is in proportion to what changes and to the arcs where colours change. Colours and
//! marks are copied back, arcs are toggled again.
//!
//! Invariants: a word is zero exactly when its class is not among the vertex's; an arc is in the words of both its
//! ends; each mark is the sum over the arcs that are there, with the colours that are there.

/// How many vertices a small graph can have.
pub(crate) const MOST: usize = 64;

/// How many colours of arcs a small graph can have.
pub(crate) const MOST_COLOURS: usize = 32;

/// The graph.
pub(crate) struct SmallRows {
    vertices: usize,
    /// `rows[v][2c]`: the vertices with an arc of colour `c` to `v`; `rows[v][2c + 1]`: those that `v` has one to.
    rows: Box<[[u64; 2 * MOST_COLOURS]; MOST]>,
    /// The classes that a vertex has arcs of, a bit each.
    classes: [u64; MOST],
    colours: [u64; MOST],
    /// Digests of the colours.
    digests: [u64; MOST],
    marks: [u64; MOST],
    kept_colours: [u64; MOST],
    kept_digests: [u64; MOST],
    kept_marks: [u64; MOST],
    /// The arcs that are there and were not, or the other way round, since the graph was kept.
    toggled: Vec<[u8; 3]>,
}

impl SmallRows {
    pub(crate) fn new() -> SmallRows {
        SmallRows {
            vertices: 0,
            rows: Box::new([[0; 2 * MOST_COLOURS]; MOST]),
            classes: [0; MOST],
            colours: [0; MOST],
            digests: [0; MOST],
            marks: [0; MOST],
            kept_colours: [0; MOST],
            kept_digests: [0; MOST],
            kept_marks: [0; MOST],
            toggled: Vec::new(),
        }
    }

    /// No vertices and no arcs.
    pub(crate) fn clear(&mut self) {
        for vertex in 0..self.vertices {
            for class in bits(std::mem::take(&mut self.classes[vertex])) {
                self.rows[vertex][class as usize] = 0;
            }
        }
        self.vertices = 0;
        self.toggled.clear();
    }

    pub(crate) fn vertices(&self) -> usize {
        self.vertices
    }

    /// One more vertex.
    #[inline]
    pub(crate) fn add_vertex(&mut self, colour: u64) {
        let vertex = self.vertices % MOST;
        self.colours[vertex] = colour;
        self.digests[vertex] = digest(colour);
        self.marks[vertex] = 0;
        self.vertices = vertex + 1;
    }

    /// The colour of a vertex, and below it its mark.
    #[inline]
    pub(crate) fn rank(&self, vertex: u8) -> u128 {
        let vertex = vertex as usize % MOST;
        u128::from(self.colours[vertex]) << 64 | u128::from(self.marks[vertex])
    }

    /// The classes that a vertex has arcs of, a bit each.
    #[inline]
    pub(crate) fn classes(&self, vertex: usize) -> u64 {
        self.classes[vertex % MOST]
    }

    /// The classes that some vertex has arcs of.
    pub(crate) fn all_classes(&self) -> u64 {
        self.classes[..self.vertices].iter().fold(0, |all, classes| all | classes)
    }

    #[inline]
    pub(crate) fn row(&self, class: u8, vertex: usize) -> u64 {
        self.rows[vertex % MOST][class as usize % (2 * MOST_COLOURS)]
    }

    /// Adds to the number that is a vertex's colour.
    pub(crate) fn recolour(&mut self, vertex: u32, less: u32, more: u32) {
        let vertex = vertex as usize % MOST;
        let colour = self.colours[vertex].wrapping_add(u64::from(more)).wrapping_sub(u64::from(less));
        self.colours[vertex] = colour;
        let digest = digest(colour);
        let change = digest.wrapping_sub(std::mem::replace(&mut self.digests[vertex], digest));
        for class in bits(self.classes[vertex]) {
            // The other end sees it along the opposite class.
            let change = change.wrapping_mul(FACTORS[class as usize ^ 1]);
            for end in bits(self.row(class, vertex)) {
                let mark = &mut self.marks[end as usize];
                *mark = mark.wrapping_add(change);
            }
        }
    }

    /// Adds an arc; returns `false` when there are too many colours or there is such an arc already.
    #[inline]
    pub(crate) fn add(&mut self, from: u32, to: u32, colour: u32) -> bool {
        if colour as usize >= MOST_COLOURS {
            return false;
        }
        let (from, to, class) = (from as usize % MOST, to as usize % MOST, 2 * colour as usize);
        if self.rows[from][class + 1] >> to & 1 == 1 {
            return false;
        }
        self.rows[from][class + 1] |= 1 << to;
        self.classes[from] |= 2 << class;
        self.rows[to][class] |= 1 << from;
        self.classes[to] |= 1 << class;
        self.marks[from] = self.marks[from].wrapping_add(self.digests[to].wrapping_mul(FACTORS[class + 1]));
        self.marks[to] = self.marks[to].wrapping_add(self.digests[from].wrapping_mul(FACTORS[class]));
        self.toggled.push([from as u8, to as u8, class as u8]);
        true
    }

    /// Removes an arc; returns `false` when there is none.
    #[inline]
    pub(crate) fn remove(&mut self, from: u32, to: u32, colour: u32) -> bool {
        if colour as usize >= MOST_COLOURS {
            return false;
        }
        let (from, to, class) = (from as usize % MOST, to as usize % MOST, 2 * colour as usize);
        if self.rows[from][class + 1] >> to & 1 == 0 {
            return false;
        }
        self.toggle(from, to, class);
        self.marks[from] = self.marks[from].wrapping_sub(self.digests[to].wrapping_mul(FACTORS[class + 1]));
        self.marks[to] = self.marks[to].wrapping_sub(self.digests[from].wrapping_mul(FACTORS[class]));
        self.toggled.push([from as u8, to as u8, class as u8]);
        true
    }

    /// Adds an arc that is not there or removes one that is, marks apart.
    #[inline]
    fn toggle(&mut self, from: usize, to: usize, class: usize) {
        self.flip(to, class, from);
        self.flip(from, class + 1, to);
    }

    #[inline]
    fn flip(&mut self, vertex: usize, class: usize, other: usize) {
        let row = &mut self.rows[vertex % MOST][class % (2 * MOST_COLOURS)];
        *row ^= 1 << other;
        let full = u64::from(*row != 0) << class;
        self.classes[vertex % MOST] = self.classes[vertex % MOST] & !(1 << class) | full;
    }

    /// What was described until now is what [`SmallRows::revert`] comes back to.
    pub(crate) fn keep(&mut self) {
        self.kept_colours[..self.vertices].copy_from_slice(&self.colours[..self.vertices]);
        self.kept_digests[..self.vertices].copy_from_slice(&self.digests[..self.vertices]);
        self.kept_marks[..self.vertices].copy_from_slice(&self.marks[..self.vertices]);
        self.toggled.clear();
    }

    /// Reverts all changes since the graph was kept.
    pub(crate) fn revert(&mut self) {
        for at in 0..self.toggled.len() {
            let [from, to, class] = self.toggled[at];
            self.toggle(from as usize, to as usize, class as usize);
        }
        self.toggled.clear();
        self.colours[..self.vertices].copy_from_slice(&self.kept_colours[..self.vertices]);
        self.digests[..self.vertices].copy_from_slice(&self.kept_digests[..self.vertices]);
        self.marks[..self.vertices].copy_from_slice(&self.kept_marks[..self.vertices]);
    }
}

/// The places of the ones in a word, ascending.
#[inline]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let place = word.trailing_zeros() as u8;
        let some = word != 0;
        word &= word.wrapping_sub(1);
        some.then_some(place)
    })
}

/// What the digest of a colour is multiplied by when it is seen along a class: odd numbers without a pattern.
const FACTORS: [u64; 2 * MOST_COLOURS] = {
    let mut factors = [0; 2 * MOST_COLOURS];
    let mut class = 0;
    while class < factors.len() {
        factors[class] = digest(class as u64) | 1;
        class += 1;
    }
    factors
};

/// A pseudo-random word, different for each word.
#[inline]
pub(crate) const fn digest(word: u64) -> u64 {
    let word = word.wrapping_add(0x1234_5678_9abc_def1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
