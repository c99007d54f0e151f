//! Ordered partitions of the vertices and their refinement to equitable ones, with undo.
//!
//! A partition is equitable when vertices of one cell have equally many arcs of each class to every cell. Refinement
//! takes cells as splitters, counts for each vertex its arcs into the splitter, and splits the cells whose vertices
//! have different counts; all parts but the largest become splitters (Hopcroft's trick; Paige and Tarjan, *Three
//! partition refinement algorithms*, 1987; for isomorphism McKay, *Practical graph isomorphism*, 1981). With several
//! classes the count is a sum of one pseudo-random weight for each arc: a collision could only leave a cell whole that
//! might have been split, alike in isomorphic graphs, and every answer of the searches is checked on the graph itself.
//!
//! # Invariance
//!
//! Nothing depends on the numbers of vertices: splitters are taken in an order given by positions of cells, parts are
//! ordered by count, cells touched by a splitter are handled by position. So the *trace*, one word for each splitter
//! and one for the number of cells at the end, is the same for isomorphic nodes of a search tree. A search compares the
//! trace with that of another node while it is made, and a refinement stops at the first word that differs in the wrong
//! direction.
//!
//! # Representation
//!
//! `elements` lists the vertices cell after cell; a cell is named by where it begins. Vertices that a splitter touches
//! move to the end of their cell; the untouched part, which may be large, keeps the cell's name and its vertices are
//! never looked at. Undoing joins the parts split off in reverse order and costs what splitting cost. The order inside
//! a cell is not restored, since it means nothing.

use std::cmp::Ordering;
use std::collections::VecDeque;

use trefoil_control::{Control, Stopped};

use super::coloured::{Adjacency, ColouredGraph};
use crate::permutation::Point;
use crate::random::mix;

/// How the trace of a refinement relates to the one it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// Nothing to compare with.
    Nothing,
    /// Stop unless the trace stays equal.
    Equal,
    /// Stop when the trace becomes greater; once it is less, anything goes.
    AtMost,
}

/// A state to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    splits: usize,
    pub(crate) singles: usize,
    trace: usize,
}

pub(crate) struct Refinement<'a> {
    pub(crate) adjacency: &'a Adjacency,
    control: &'a Control,
    pub(crate) elements: Vec<Point>,
    position: Vec<u32>,
    cell_of: Vec<u32>,
    /// By the beginning of a cell.
    length: Vec<u32>,
    pub(crate) cells: usize,
    /// The parts split off so far, with the cell they came from; first the cells of the start, each from itself.
    pub(crate) splits: Vec<(u32, u32)>,
    /// The cells of one vertex, in the order they became so.
    pub(crate) singles: Vec<u32>,
    pub(crate) trace: Vec<u64>,
    key: Vec<u64>,
    /// By cell: how many of its last vertices the current splitter touched.
    touched: Vec<u32>,
    touched_cells: Vec<u32>,
    single_splitters: Vec<u32>,
    splitters: VecDeque<u32>,
    queued: Vec<bool>,
    walked: Vec<Point>,
    parts: Vec<u32>,
    work: u64,
}

impl<'a> Refinement<'a> {
    /// The cells are the colours, ascending; not yet refined.
    pub(crate) fn new(graph: &ColouredGraph, adjacency: &'a Adjacency, control: &'a Control) -> Refinement<'a> {
        let n = graph.vertices();
        let mut elements: Vec<Point> = (0..n as Point).collect();
        elements.sort_by_key(|&vertex| graph.colours()[vertex as usize]);
        let mut refinement = Refinement {
            adjacency,
            control,
            position: vec![0; n],
            cell_of: vec![0; n],
            length: vec![0; n],
            cells: 0,
            splits: Vec::new(),
            singles: Vec::new(),
            trace: Vec::new(),
            key: vec![0; n],
            touched: vec![0; n],
            touched_cells: Vec::new(),
            single_splitters: Vec::new(),
            splitters: VecDeque::new(),
            queued: vec![false; n],
            walked: Vec::new(),
            parts: Vec::new(),
            elements,
            work: 0,
        };
        let mut start = 0;
        while start < n {
            let colour = graph.colours()[refinement.elements[start] as usize];
            let mut end = start;
            while end < n && graph.colours()[refinement.elements[end] as usize] == colour {
                let vertex = refinement.elements[end] as usize;
                refinement.position[vertex] = end as u32;
                refinement.cell_of[vertex] = start as u32;
                end += 1;
            }
            refinement.length[start] = (end - start) as u32;
            refinement.cells += 1;
            refinement.splits.push((start as u32, start as u32));
            if end - start == 1 {
                refinement.singles.push(start as u32);
            }
            refinement.enqueue(start as u32);
            start = end;
        }
        refinement
    }

    pub(crate) fn is_discrete(&self) -> bool {
        self.cells == self.elements.len()
    }

    /// The number of vertices in the cell that begins at `start`; 0 when none begins there.
    pub(crate) fn length_of(&self, start: u32) -> usize {
        if self.cell_of[self.elements[start as usize] as usize] == start {
            self.length[start as usize] as usize
        } else {
            0
        }
    }

    pub(crate) fn cell(&self, start: u32) -> &[Point] {
        &self.elements[start as usize..(start + self.length[start as usize]) as usize]
    }

    pub(crate) fn cell_of(&self, vertex: Point) -> u32 {
        self.cell_of[vertex as usize]
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { splits: self.splits.len(), singles: self.singles.len(), trace: self.trace.len() }
    }

    /// Back to an earlier state.
    pub(crate) fn undo(&mut self, mark: &Mark) {
        while self.splits.len() > mark.splits {
            let Some((parent, part)) = self.splits.pop() else { break };
            let length = self.length[part as usize];
            for place in part..part + length {
                self.cell_of[self.elements[place as usize] as usize] = parent;
            }
            self.length[part as usize] = 0;
            self.length[parent as usize] += length;
            self.cells -= 1;
        }
        self.singles.truncate(mark.singles);
        self.trace.truncate(mark.trace);
    }

    /// Splits a vertex off its cell, to the end of it, and makes it the only splitter.
    pub(crate) fn individualise(&mut self, vertex: Point) {
        let start = self.cell_of[vertex as usize];
        let last = start + self.length[start as usize] - 1;
        self.swap_to(vertex, last);
        self.split_off(start, last);
        self.enqueue(last);
    }

    fn swap_to(&mut self, vertex: Point, place: u32) {
        let from = self.position[vertex as usize];
        let other = self.elements[place as usize];
        self.elements.swap(from as usize, place as usize);
        self.position[other as usize] = from;
        self.position[vertex as usize] = place;
    }

    /// The vertices of the cell from `part` on become a cell of their own.
    fn split_off(&mut self, cell: u32, part: u32) {
        let end = cell + self.length[cell as usize];
        for place in part..end {
            self.cell_of[self.elements[place as usize] as usize] = part;
        }
        self.length[cell as usize] = part - cell;
        self.length[part as usize] = end - part;
        self.cells += 1;
        self.splits.push((cell, part));
        if end - part == 1 {
            self.singles.push(part);
        }
        if part - cell == 1 {
            self.singles.push(cell);
        }
    }

    fn enqueue(&mut self, cell: u32) {
        if !self.queued[cell as usize] {
            self.queued[cell as usize] = true;
            if self.length[cell as usize] == 1 {
                self.single_splitters.push(cell);
            } else {
                self.splitters.push_back(cell);
            }
        }
    }

    fn clear_queue(&mut self) {
        for cell in self.single_splitters.drain(..).chain(self.splitters.drain(..)) {
            self.queued[cell as usize] = false;
        }
    }

    /// Refines to the coarsest equitable partition below the queued splits. `None` when the comparison stopped it;
    /// otherwise how the trace, from where it stood on, compares with `reference`, which begins at word `offset` of a
    /// trace.
    pub(crate) fn refine(
        &mut self,
        against: Against,
        reference: &[u64],
        offset: usize,
    ) -> Result<Option<Ordering>, Stopped> {
        let mut state = Ordering::Equal;
        while let Some(splitter) = self.single_splitters.pop().or_else(|| self.splitters.pop_front()) {
            self.queued[splitter as usize] = false;
            if self.work >= 1 << 14 {
                self.work = 0;
                self.control.check()?;
            }
            self.count(splitter);
            let word = self.split_touched(splitter);
            if !self.record(word, against, reference, offset, &mut state) {
                self.clear_queue();
                return Ok(None);
            }
            if self.is_discrete() {
                self.clear_queue();
            }
        }
        let word = mix(self.cells as u64 ^ 0x0063_656c_6c73);
        Ok(self.record(word, against, reference, offset, &mut state).then_some(state))
    }

    fn record(&mut self, word: u64, against: Against, reference: &[u64], offset: usize, state: &mut Ordering) -> bool {
        if against != Against::Nothing && *state == Ordering::Equal {
            let order = reference.get(self.trace.len() - offset).map_or(Ordering::Greater, |known| word.cmp(known));
            match (against, order) {
                (_, Ordering::Equal) => {}
                (Against::AtMost, Ordering::Less) => *state = Ordering::Less,
                _ => return false,
            }
        }
        self.trace.push(word);
        true
    }

    /// Counts the arcs of every vertex into the splitter, and gathers the vertices that have any at the ends of their
    /// cells.
    fn count(&mut self, splitter: u32) {
        let adjacency = self.adjacency;
        // Gathering moves vertices, those of the splitter too, so it is walked over in a copy.
        let mut walked = std::mem::take(&mut self.walked);
        walked.clear();
        walked.extend_from_slice(self.cell(splitter));
        for &vertex in &walked {
            let neighbours = adjacency.neighbours(vertex);
            self.work += 1 + neighbours.len() as u64;
            if adjacency.has_one_class() {
                for &neighbour in neighbours {
                    self.key[neighbour as usize] += 1;
                    if self.key[neighbour as usize] == 1 {
                        self.gather(neighbour);
                    }
                }
            } else {
                for (neighbour, weight) in adjacency.weighted(vertex) {
                    self.key[neighbour as usize] = self.key[neighbour as usize].wrapping_add(weight);
                    self.gather(neighbour);
                }
            }
        }
        self.walked = walked;
    }

    /// Moves a vertex to the touched end of its cell, unless it is there.
    #[inline]
    fn gather(&mut self, vertex: Point) {
        let cell = self.cell_of[vertex as usize];
        let touched = self.touched[cell as usize];
        let place = cell + self.length[cell as usize] - touched;
        if self.position[vertex as usize] >= place {
            return;
        }
        if touched == 0 {
            self.touched_cells.push(cell);
        }
        self.touched[cell as usize] = touched + 1;
        self.swap_to(vertex, place - 1);
    }

    /// Splits the touched cells by the keys of their vertices; what happened, as one word.
    fn split_touched(&mut self, splitter: u32) -> u64 {
        let mut word = mix(u64::from(splitter) + 1);
        let mut cells = std::mem::take(&mut self.touched_cells);
        cells.sort_unstable();
        for &cell in &cells {
            let length = self.length[cell as usize];
            let touched = std::mem::replace(&mut self.touched[cell as usize], 0);
            let end = cell + length;
            let first = end - touched;
            word = mix(word ^ u64::from(cell) ^ u64::from(touched) << 32);
            if touched == 1 {
                let vertex = self.elements[first as usize] as usize;
                word = mix(word.wrapping_add(self.key[vertex]));
                self.key[vertex] = 0;
                if length > 1 {
                    self.split_parts(cell, &[first]);
                }
                continue;
            }
            let range = first as usize..end as usize;
            let least = self.key[self.elements[first as usize] as usize];
            if self.elements[range.clone()].iter().any(|&vertex| self.key[vertex as usize] != least) {
                let key = &self.key;
                self.elements[range.clone()].sort_unstable_by_key(|&vertex| key[vertex as usize]);
                for place in range.clone() {
                    self.position[self.elements[place] as usize] = place as u32;
                }
            }
            let mut parts = std::mem::take(&mut self.parts);
            parts.clear();
            let mut last = None;
            for place in range.clone() {
                let key = self.key[self.elements[place] as usize];
                if last != Some(key) {
                    last = Some(key);
                    if place as u32 > cell {
                        parts.push(place as u32);
                    }
                    word = mix(word.wrapping_add(key) ^ place as u64);
                }
            }
            for place in range {
                self.key[self.elements[place] as usize] = 0;
            }
            if !parts.is_empty() {
                self.split_parts(cell, &parts);
            }
            self.parts = parts;
        }
        cells.clear();
        self.touched_cells = cells;
        word
    }

    /// Splits a cell where `parts` begin, from the last to the first, and queues what must become splitters.
    fn split_parts(&mut self, cell: u32, parts: &[u32]) {
        let was_queued = self.queued[cell as usize];
        for &part in parts.iter().rev() {
            self.split_off(cell, part);
        }
        let mut largest = cell;
        if !was_queued {
            for &part in parts {
                if self.length[part as usize] > self.length[largest as usize] {
                    largest = part;
                }
            }
        }
        // A queued cell stays queued under its name; otherwise the largest part is implied by the others.
        for &part in std::iter::once(&cell).chain(parts) {
            if was_queued || part != largest {
                self.enqueue(part);
            }
        }
    }
}
