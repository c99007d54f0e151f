//! What a row looks like: its picture.
//!
//! A process, channel or variable that is moved is drawn at its keys. What it holds without naming a point is part of the colour of
//! the point; each thing it names is an edge to that one's keys, or, when it names what is drawn at the same point, again part of the
//! colour. What cannot be drawn at single points (an element of an array with two indices) is a vertex of its own with edges to all its keys. Things
//! that are not moved but name points (a channel that all share) colour the points that they name. What is neither moved nor names
//! a point is left out, as no element changes it.
//!
//! Colours are numbers of words, and words get their numbers when they are first met; one table serves all threads.

use trefoil_system::{Picture, Value};

use super::action::{Drawn, ModelActor};
use super::items::ItemId;
use super::points::{Keys, Points};
use super::rows::{COUNT, ChannelPart, Lookup, ProcessPart, Rows};

/// Labels of edges from vertices to the keys of what they stand for: owner, cell, value, each perhaps with two.
const OWNER: u32 = 0;
const CELL: u32 = 2;
const VALUE: u32 = 4;
/// The first label of what parts name.
pub(super) const FIRST_LABEL: u32 = 6;

/// What a part holds: words, and what it names, each with the label of its edge.
#[derive(Default)]
pub(super) struct Content {
    pub(super) words: Vec<u32>,
    pub(super) named: Vec<(u32, ItemId)>,
    /// Is it as if it were not there?
    pub(super) empty: bool,
}

impl Content {
    fn clear(&mut self) {
        self.words.clear();
        self.named.clear();
        self.empty = true;
    }

    /// A value that may name something.
    #[inline]
    fn value(&mut self, rows: &Rows, lookup: Lookup, value: Value, label: &mut u32) {
        if lookup.is_none() {
            self.words.push(value);
            self.empty &= value == 0;
            return;
        }
        match rows.item(lookup, value) {
            Some(item) => {
                self.words.extend([1, 0]);
                self.named.push((*label, item));
                self.empty = false;
            }
            None => {
                self.words.extend([0, value]);
                self.empty &= value == 0;
            }
        }
        *label += 1;
    }

    fn process(&mut self, rows: &Rows, part: &ProcessPart, points: &Points, row: &[Value], mut label: u32) {
        if part.position >= row[COUNT] {
            self.words.push(0);
            return;
        }
        self.words.push(1);
        self.empty = false;
        let state = row[part.control as usize];
        match part.controls.map(|first| first + state).filter(|&item| points.keys(item).is_some()) {
            Some(item) => {
                self.words.extend([1, 0]);
                self.named.push((label, item));
            }
            None => self.words.extend([0, state]),
        }
        label += 1;
        for between in part.control + 1..part.cells {
            self.words.push(row[between as usize]);
        }
        for (at, &lookup) in (0u32..).zip(&part.lookups) {
            if part.cells_move && points.keys(part.first_cell + at).is_some() {
                label += u32::from(lookup.is_some());
                continue;
            }
            self.value(rows, lookup, row[(part.cells + at) as usize], &mut label);
        }
    }

    fn channel(&mut self, rows: &Rows, part: &ChannelPart, row: &[Value], mut label: u32) {
        if part.owner.is_some_and(|owner| u32::from(owner) >= row[COUNT]) {
            self.words.push(u32::MAX);
            return;
        }
        let length = row[part.slot as usize];
        self.words.push(length);
        self.empty &= length == 0;
        let mut slot = part.slot as usize + 1;
        for _ in 0..length {
            for &lookup in &part.lookups {
                self.value(rows, lookup, row[slot], &mut label);
                slot += 1;
            }
        }
    }
}

impl ModelActor<'_> {
    fn content(&mut self, drawn: Drawn, row: &[Value], label: u32) -> ItemId {
        let action = self.action;
        let rows = &action.rows;
        self.content.clear();
        match drawn {
            Drawn::Global(at) => {
                let part = &rows.globals[at as usize];
                let mut label = label;
                self.content.value(rows, part.lookup, row[part.slot as usize], &mut label);
                part.cell
            }
            Drawn::Process(at) => {
                let part = &rows.processes[at as usize];
                self.content.process(rows, part, &action.points, row, label);
                part.item
            }
            Drawn::Channel(at) => {
                let part = &rows.channels[at as usize];
                self.content.channel(rows, part, row, label);
                part.item
            }
        }
    }

    pub(super) fn colour(&mut self, words: &[u32]) -> u32 {
        if let Some(&known) = self.known.get(words) {
            return known;
        }
        let number = self.action.number_of(words);
        self.known.insert(words.to_vec(), number);
        number
    }

    /// Draws what is moved at its keys.
    pub(super) fn draw_moved(&mut self, row: &[Value], picture: &mut Picture) {
        let action = self.action;
        for &(orbit, label, drawn) in &action.moved {
            let item = self.content(drawn, row, label);
            match action.points.keys(item) {
                Some(Keys::Points(keys)) => {
                    for &key in keys {
                        self.words[key as usize].extend_from_slice(&self.content.words);
                    }
                    for at in 0..self.content.named.len() {
                        let (label, named) = self.content.named[at];
                        match action.points.keys(named) {
                            Some(Keys::Points(others)) => {
                                for &key in keys {
                                    let mut own = 0;
                                    for &other in others {
                                        if other == key {
                                            own = 1;
                                        } else {
                                            picture.add_edge(key, other, label);
                                        }
                                    }
                                    self.words[key as usize].push(own);
                                }
                            }
                            _ => {
                                let colour = self.colour(&[1, label]);
                                let vertex = picture.add_vertex(colour);
                                keys.iter().for_each(|&key| picture.add_edge(vertex, key, OWNER));
                                self.point_at(vertex, named, VALUE, picture);
                            }
                        }
                    }
                }
                // It is as if it were not there.
                Some(Keys::Pairs(_)) if self.content.empty => {}
                Some(Keys::Pairs(_)) => {
                    let mut words = std::mem::take(&mut self.content.words);
                    words.extend([2, orbit]);
                    let colour = self.colour(&words);
                    self.content.words = words;
                    let vertex = picture.add_vertex(colour);
                    self.point_at(vertex, item, OWNER, picture);
                    for at in 0..self.content.named.len() {
                        let (label, named) = self.content.named[at];
                        let colour = self.colour(&[3, label]);
                        let inner = picture.add_vertex(colour);
                        picture.add_edge(vertex, inner, CELL);
                        self.point_at(inner, named, VALUE, picture);
                    }
                }
                None => unreachable!("what is moved has keys"),
            }
        }
    }

    /// Edges from a vertex to the keys of an item.
    fn point_at(&self, vertex: u32, item: ItemId, label: u32, picture: &mut Picture) {
        match self.action.points.keys(item) {
            None => {}
            Some(Keys::Points(keys)) => keys.iter().for_each(|&key| picture.add_edge(vertex, key, label)),
            Some(Keys::Pairs(pairs)) => {
                let mut seen: Vec<(u32, u32)> = Vec::new();
                for &(one, two) in pairs {
                    for edge in [(one, label), (two, label + 1)] {
                        if !seen.contains(&edge) {
                            seen.push(edge);
                            picture.add_edge(vertex, edge.0, edge.1);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn draw_cells(&mut self, row: &[Value], picture: &mut Picture) {
        let action = self.action;
        for &(at, cell, orbit) in &action.cells {
            let part = &action.rows.processes[at as usize];
            if part.position >= row[COUNT] {
                continue;
            }
            let value = row[(part.cells + cell) as usize];
            let lookup = part.lookups[cell as usize];
            let named = action.rows.item(lookup, value);
            if named.is_none() && value == 0 {
                continue;
            }
            // A process that is not moved is told by its position.
            let position = if action.points.keys(part.item).is_some() { u32::MAX } else { part.position };
            let plain = if named.is_some() { [1, 0] } else { [0, value] };
            let colour = self.colour(&[4, orbit, position, plain[0], plain[1]]);
            let vertex = picture.add_vertex(colour);
            self.point_at(vertex, part.item, OWNER, picture);
            self.point_at(vertex, part.first_cell + cell, CELL, picture);
            if let Some(named) = named {
                self.point_at(vertex, named, VALUE, picture);
            }
        }
    }

    /// Colours what is named by things that are not moved.
    pub(super) fn draw_still(&mut self, row: &[Value], picture: &mut Picture) {
        let action = self.action;
        for (number, &drawn) in (0u32..).zip(&action.still) {
            self.content(drawn, row, 0);
            for at in 0..self.content.named.len() {
                let (label, named) = self.content.named[at];
                match action.points.keys(named) {
                    Some(Keys::Points(keys)) => {
                        keys.iter().for_each(|&key| self.words[key as usize].extend([number, label]));
                    }
                    _ => {
                        let colour = self.colour(&[5, number, label]);
                        let vertex = picture.add_vertex(colour);
                        self.point_at(vertex, named, VALUE, picture);
                    }
                }
            }
        }
        if let Some(last) = action.rows.last
            && row[last as usize] < row[COUNT]
            && let Some(Keys::Points(keys)) = action.points.keys(row[last as usize])
        {
            keys.iter().for_each(|&key| self.words[key as usize].push(u32::MAX));
        }
    }
}
