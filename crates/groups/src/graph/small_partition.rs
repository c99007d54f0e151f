//! Ordered partitions of at most 64 vertices as bit sets, and their refinement.
//!
//! The same refinement as in `refinement`, for graphs that are made and thrown away by the million: a cell is a word
//! with a bit for each vertex, named by the position where it begins; rows of the adjacency matrix are words, one for
//! each class of arcs. A splitter of one vertex splits by its rows as they are; a larger one adds its rows bit by bit
//! into words that hold the binary digits of all 64 counts at once, and splits by each digit. Nothing is sorted, nothing
//! is allocated, and undoing is copying.
//!
//! Splitters are taken in the order of their positions, and what one splitter does to different cells is summed up by a
//! commutative hash, so everything is the same for every numbering of the vertices.

use crate::random::mix;

/// How many vertices a small graph can have.
pub(crate) const MOST: usize = 64;

/// How many colours of arcs a small graph can have.
pub(crate) const MOST_COLOURS: usize = 32;

/// The rows of a small graph, for each class (colour and direction) and vertex.
pub(crate) struct Rows {
    /// `rows[2c][v]`: the vertices with an arc of colour `c` to `v`; `rows[2c + 1][v]`: those that `v` has one to.
    rows: Box<[[u64; MOST]]>,
    /// The classes in use, ascending.
    classes: Vec<u8>,
    used: u32,
    vertices: usize,
}

impl Rows {
    pub(crate) fn new() -> Rows {
        Rows {
            rows: vec![[0; MOST]; 2 * MOST_COLOURS].into_boxed_slice(),
            classes: Vec::with_capacity(2 * MOST_COLOURS),
            used: 0,
            vertices: 0,
        }
    }

    pub(crate) fn clear(&mut self, vertices: usize) {
        self.vertices = vertices;
        self.used = 0;
        self.classes.clear();
    }

    pub(crate) fn vertices(&self) -> usize {
        self.vertices
    }

    /// The classes in use; complete after [`Rows::finish`].
    #[inline]
    pub(crate) fn classes(&self) -> &[u8] {
        &self.classes
    }

    #[inline]
    pub(crate) fn row(&self, class: u8, vertex: usize) -> u64 {
        self.rows[class as usize % (2 * MOST_COLOURS)][vertex % MOST]
    }

    /// Adds an arc; says no when there are too many colours or there is such an arc already.
    #[inline]
    pub(crate) fn add(&mut self, from: u32, to: u32, colour: u32) -> bool {
        if colour as usize >= MOST_COLOURS {
            return false;
        }
        let class = 2 * colour as usize;
        if self.used & 1 << colour == 0 {
            self.used |= 1 << colour;
            let n = self.vertices.min(MOST);
            self.rows[class][..n].fill(0);
            self.rows[class + 1][..n].fill(0);
        }
        let (from, to) = (from as usize % MOST, to as usize % MOST);
        let incoming = &mut self.rows[class][to];
        let known = *incoming >> from & 1 == 1;
        *incoming |= 1 << from;
        self.rows[class + 1][from] |= 1 << to;
        !known
    }

    /// All arcs are there.
    #[inline]
    pub(crate) fn finish(&mut self) {
        let mut used = self.used;
        while used != 0 {
            let colour = used.trailing_zeros() as u8;
            used &= used - 1;
            self.classes.extend([2 * colour, 2 * colour + 1]);
        }
    }
}

/// An ordered partition.
#[derive(Clone, Copy)]
pub(crate) struct Partition {
    /// By the position where a cell begins.
    pub(crate) cells: [u64; MOST],
    /// For each vertex, where its cell begins.
    pub(crate) home: [u8; MOST],
    /// Where cells of more than one vertex begin.
    pub(crate) open: u64,
    /// The vertices of those cells.
    pub(crate) loose: u64,
    /// What happened so far; the same for isomorphic graphs.
    pub(crate) trace: u64,
}

impl Partition {
    pub(crate) fn empty() -> Partition {
        Partition { cells: [0; MOST], home: [0; MOST], open: 0, loose: 0, trace: 0 }
    }

    /// The cells are the runs of equal keys; the low six bits of an entry are the vertex, the rest is the key. Returns
    /// where cells begin.
    #[inline]
    pub(crate) fn start(&mut self, sorted: &[u64]) -> u64 {
        (self.open, self.loose, self.trace) = (0, 0, 0);
        let mut begins = 0u64;
        let mut at = 0;
        while at < sorted.len() {
            let key = sorted[at] >> 6;
            let mut cell = 0u64;
            let begin = at;
            while at < sorted.len() && sorted[at] >> 6 == key {
                let vertex = sorted[at] as usize % MOST;
                self.home[vertex] = begin as u8;
                cell |= 1 << vertex;
                at += 1;
            }
            self.cells[begin % MOST] = cell;
            begins |= 1 << begin;
            if at - begin > 1 {
                self.open |= 1 << begin;
                self.loose |= cell;
            }
        }
        begins
    }

    /// The same, with cells split by what the marks say of their vertices. Returns where all parts but the largest of
    /// each cell begin: the marks have done what the cells themselves would as splitters.
    #[inline]
    pub(crate) fn start_marked(&mut self, sorted: &[u64], marks: &[u64; MOST]) -> u64 {
        self.start(sorted);
        let mut queue = 0;
        let mut open = self.open;
        while open != 0 {
            let begin = open.trailing_zeros() as usize;
            open &= open - 1;
            queue |= self.split_by(begin, marks);
        }
        queue
    }

    /// Splits a cell by the values of its vertices, least first. Returns where its parts begin, without a largest one.
    #[inline]
    pub(crate) fn split_by(&mut self, begin: usize, values: &[u64; MOST]) -> u64 {
        let begin = begin % MOST;
        let cell = self.cells[begin];
        let value = |vertex: u8| values[vertex as usize % MOST];
        let mut members = [0u8; MOST];
        let mut count = 0;
        let mut rest = cell;
        let mut differ = false;
        while rest != 0 {
            // By insertion: cells are small.
            let vertex = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let mut place = count;
            while place > 0 && value(members[place - 1]) > value(vertex) {
                members[place] = members[place - 1];
                place -= 1;
            }
            members[place] = vertex;
            differ |= value(members[0]) != value(members[count]);
            count += 1;
        }
        if !differ {
            return 0;
        }
        self.open &= !(1 << begin);
        self.loose &= !cell;
        let mut parts = 0u64;
        let mut largest = (0, begin);
        let mut at = 0;
        while at < count {
            let first = at;
            let mut part = 0u64;
            while at < count && value(members[at]) == value(members[first]) {
                part |= 1 << members[at];
                self.home[members[at] as usize % MOST] = (begin + first) as u8;
                at += 1;
            }
            self.cells[(begin + first) % MOST] = part;
            parts |= 1 << (begin + first);
            if at - first > 1 {
                self.open |= 1 << (begin + first);
                self.loose |= part;
            }
            if at - first > largest.0 {
                largest = (at - first, begin + first);
            }
        }
        parts & !(1 << largest.1)
    }

    /// Splits every cell that has vertices inside and outside the mask; queues what must become splitters.
    #[inline]
    fn split(&mut self, mask: u64, class: u8, queue: &mut u64) {
        let mut left = mask & self.loose;
        while left != 0 {
            let begin = self.home[left.trailing_zeros() as usize] as usize % MOST;
            let cell = self.cells[begin];
            let inside = cell & mask;
            left &= !inside;
            if inside == cell {
                continue;
            }
            let outside = cell ^ inside;
            let (stay, leave) = (outside.count_ones(), inside.count_ones());
            let at = (begin + stay as usize) % MOST;
            self.cells[begin] = outside;
            self.cells[at] = inside;
            let mut moving = inside;
            while moving != 0 {
                self.home[moving.trailing_zeros() as usize] = at as u8;
                moving &= moving - 1;
            }
            if stay == 1 {
                self.open &= !(1 << begin);
                self.loose &= !outside;
            }
            if leave == 1 {
                self.loose &= !inside;
            } else {
                self.open |= 1 << at;
            }
            *queue |= if *queue >> begin & 1 == 1 || leave <= stay { 1 << at } else { 1 << begin };
            let event = (begin | at << 8 | (class as usize) << 16) as u64 + 1;
            self.trace = self.trace.wrapping_add(event.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ event << 40);
        }
    }

    /// Refines by the queued cells until nothing is left to do, or no vertex of `wanted` is in a cell with others.
    #[inline]
    pub(crate) fn refine(&mut self, rows: &Rows, mut queue: u64, wanted: u64) {
        while queue != 0 && self.loose & wanted != 0 {
            let begin = queue.trailing_zeros() as usize;
            queue &= queue - 1;
            let splitter = self.cells[begin];
            self.trace = self.trace.rotate_left(7) ^ begin as u64;
            if splitter & (splitter - 1) == 0 {
                let vertex = splitter.trailing_zeros() as usize;
                for &class in rows.classes() {
                    let mask = rows.row(class, vertex);
                    if mask & self.loose != 0 {
                        self.split(mask, class, &mut queue);
                    }
                }
            } else {
                for &class in rows.classes() {
                    let mut digits = [0u64; 7];
                    let mut length = 0;
                    let mut members = splitter;
                    while members != 0 {
                        let mut carry = rows.row(class, members.trailing_zeros() as usize);
                        members &= members - 1;
                        let mut digit = 0;
                        while carry != 0 {
                            let next = digits[digit] & carry;
                            digits[digit] ^= carry;
                            carry = next;
                            digit += 1;
                        }
                        length = length.max(digit);
                    }
                    for &digit in &digits[..length] {
                        if digit & self.loose != 0 {
                            self.split(digit, class, &mut queue);
                        }
                    }
                }
            }
        }
    }

    /// Puts a vertex of the cell that begins at `begin` before the others.
    #[inline]
    pub(crate) fn individualise(&mut self, begin: usize, vertex: usize) {
        let begin = begin % MOST;
        let rest = self.cells[begin] & !(1 << vertex);
        let at = (begin + 1) % MOST;
        self.cells[begin] = 1 << vertex;
        self.cells[at] = rest;
        self.open &= !(1 << begin);
        self.loose &= !(1 << vertex);
        if rest & (rest - 1) == 0 {
            self.loose &= !rest;
        } else {
            self.open |= 1 << at;
        }
        let mut moving = rest;
        while moving != 0 {
            self.home[moving.trailing_zeros() as usize] = at as u8;
            moving &= moving - 1;
        }
        self.trace = self.trace.rotate_left(7) ^ (begin as u64 + 1) << 32;
    }

    /// Makes each vertex of a cell a cell of its own, in the order of their numbers.
    #[inline]
    pub(crate) fn scatter(&mut self, begin: usize) {
        let begin = begin % MOST;
        let cell = self.cells[begin];
        self.open &= !(1 << begin);
        self.loose &= !cell;
        let mut members = cell;
        let mut at = begin;
        while members != 0 {
            let vertex = members.trailing_zeros() as usize;
            members &= members - 1;
            self.cells[at % MOST] = 1 << vertex;
            self.home[vertex] = at as u8;
            at += 1;
        }
        self.trace = self.trace.rotate_left(7) ^ (begin as u64 + 1) << 48;
    }

    /// Can all vertices of a cell be exchanged at will, everything else staying where it is?
    #[inline]
    pub(crate) fn are_twins(&self, rows: &Rows, begin: usize) -> bool {
        let cell = self.cells[begin % MOST];
        let first = cell.trailing_zeros() as usize;
        let others = cell & (cell - 1);
        for &class in rows.classes() {
            let row = rows.row(class, first);
            let outside = row & !cell;
            let looped = row >> first & 1;
            let inside = row & others;
            if inside != 0 && inside != others {
                return false;
            }
            let full = if inside == 0 { 0 } else { cell };
            let mut members = others;
            while members != 0 {
                let vertex = members.trailing_zeros() as usize;
                members &= members - 1;
                if rows.row(class, vertex) != outside | full & !(1 << vertex) | looped << vertex {
                    return false;
                }
            }
        }
        true
    }

    /// The trace as a word that can be compared.
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        mix(self.trace ^ self.open.rotate_left(17))
    }
}
