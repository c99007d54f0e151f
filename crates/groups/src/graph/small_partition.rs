//! Ordered partitions of at most 64 vertices as bit sets, and their refinement.
//!
//! The same refinement as in `refinement`, for graphs that are made and thrown away by the million: a cell is a word
//! with a bit for each vertex, named by the position where it begins; neighbours are words too (`small_rows`). A
//! splitter of one vertex splits by its rows as they are; a larger one adds its rows bit by bit into words that hold
//! the binary digits of all 64 counts at once, and splits by each digit. Nothing is sorted, nothing is allocated, and
//! undoing is copying.
//!
//! Splitters are taken in the order of their positions, and what one splitter does to different cells is summed up by a
//! commutative hash, so everything is the same for every numbering of the vertices.

use super::small_rows::{MOST, SmallRows, bits};
use crate::random::mix;

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

    /// The cells are the vertices of equal colour and equal mark, in the order of colours and then marks. Returns where
    /// all parts but the largest of each colour begin: the marks have done what the cells of the colours would as
    /// splitters. `sorted` is scratch space.
    #[inline]
    pub(crate) fn start(&mut self, rows: &SmallRows, sorted: &mut [u8; MOST]) -> u64 {
        (self.open, self.loose, self.trace) = (0, 0, 0);
        let vertices = rows.vertices().min(MOST);
        // By insertion: the successors of a representative have their vertices nearly in order.
        let mut greatest = 0;
        for vertex in 0..vertices {
            let own = rows.rank(vertex as u8);
            let mut place = vertex;
            if own >= greatest {
                greatest = own;
            } else {
                while place > 0 && rows.rank(sorted[place - 1]) > own {
                    sorted[place] = sorted[place - 1];
                    place -= 1;
                }
            }
            sorted[place] = vertex as u8;
        }
        let (mut queue, mut largest) = (0u64, (0, 0u64));
        let mut colour = u128::MAX;
        let mut begin = 0;
        while begin < vertices {
            let own = rows.rank(sorted[begin]);
            let (mut cell, mut at) = (0u64, begin);
            loop {
                let vertex = sorted[at] as usize % MOST;
                cell |= 1 << vertex;
                self.home[vertex] = begin as u8;
                at += 1;
                if at >= vertices || rows.rank(sorted[at]) != own {
                    break;
                }
            }
            self.cells[begin] = cell;
            let (size, bit) = (at - begin, 1u64 << begin);
            if size > 1 {
                self.open |= bit;
                self.loose |= cell;
            }
            queue |= bit;
            if own >> 64 != colour {
                queue &= !largest.1;
                (colour, largest) = (own >> 64, (size, bit));
            } else if size > largest.0 {
                largest = (size, bit);
            }
            begin = at;
        }
        queue & !largest.1
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
    pub(crate) fn refine(&mut self, rows: &SmallRows, mut queue: u64, wanted: u64) {
        while queue != 0 && self.loose & wanted != 0 {
            let begin = queue.trailing_zeros() as usize;
            queue &= queue - 1;
            let splitter = self.cells[begin];
            self.trace = self.trace.rotate_left(7) ^ begin as u64;
            if splitter & (splitter - 1) == 0 {
                let vertex = splitter.trailing_zeros() as usize;
                for class in bits(rows.classes(vertex)) {
                    let mask = rows.row(class, vertex);
                    if mask & self.loose != 0 {
                        self.split(mask, class, &mut queue);
                    }
                }
            } else {
                let classes = bits(splitter).fold(0, |all, vertex| all | rows.classes(vertex as usize));
                for class in bits(classes) {
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
    pub(crate) fn are_twins(&self, rows: &SmallRows, begin: usize) -> bool {
        let cell = self.cells[begin % MOST];
        let first = cell.trailing_zeros() as usize;
        let others = cell & (cell - 1);
        let classes = rows.classes(first);
        if bits(others).any(|vertex| rows.classes(vertex as usize) != classes) {
            return false;
        }
        for class in bits(classes) {
            let row = rows.row(class, first);
            let outside = row & !cell;
            let looped = row >> first & 1;
            let inside = row & others;
            if inside != 0 && inside != others {
                return false;
            }
            let full = if inside == 0 { 0 } else { cell };
            let exchanged = |vertex: u8| outside | full & !(1 << vertex) | looped << vertex;
            if bits(others).any(|vertex| rows.row(class, vertex as usize) != exchanged(vertex)) {
                return false;
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
