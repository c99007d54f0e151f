//! The picture of a row (a coloured graph for canonical labelling), and how a step changes it.
//!
//! A process, channel or variable that symmetries move is drawn at its keys. Contents that name no point are part of
//! the colour of the point; each named item is an edge to the keys of that item, or, if that is drawn at the same
//! point, again part of the colour. An item that has no single point (an element of an array with two indices) is a
//! vertex of its own with edges to all its keys. Items that no symmetry moves but that name points (a channel that all
//! processes share) colour the points that they name. Items that are neither moved nor name a point are omitted,
//! because no element changes them.
//!
//! So the colour of a point is determined by the numbers of the contents of its sheets ([`super::sheets`]), and by the
//! labels under which the point itself or an unmoved item names it: the *marks* of the point, ascending. Colours are
//! numbers of such sequences, and sequences get their numbers when they first occur; one table serves all threads, and
//! each thread caches it.
//!
//! # Changes
//!
//! A step changes a few slots, so a few sheets. If these are drawn at single points and name single points, the picture
//! of the target differs from that of the source in edges from those points, and in the colours of points with a
//! changed sheet or which an unmoved sheet begins or ceases to name. These colours are recomputed from those of the
//! source. Every other change (vertices of their own, the number of processes, `_last`) draws the whole row.
//!
//! Cost: one look-up for each sheet that changes and for each point whose colour may change, and for the items that
//! they name.

use trefoil_system::{Picture, Value};

use super::action::ModelActor;
use super::items::ItemId;
use super::numbers::{Numbers, digest};
use super::points::Keys;
use super::rows::COUNT;
use super::sheets::{CELL, Held, Memory, Name, OWNER, Place, Purpose, Sheet, VALUE};

/// The mark of the process that made the last step.
const LAST: u32 = u32::MAX;

/// The largest number of points whose changes are drawn: the bits of a word.
const MOST_POINTS: usize = 64;

/// What is known of a row that was drawn.
#[derive(Default)]
pub(super) struct Drawing {
    /// The row; nothing when what is remembered of it was forgotten.
    row: Vec<Value>,
    /// By sheet: what it holds, as remembered.
    entries: Vec<u32>,
    /// By point.
    marks: Vec<Vec<u32>>,
    colours: Vec<u32>,
}

/// A sheet that a step changes.
#[derive(Clone, Copy)]
pub(super) struct Changed {
    sheet: u32,
    /// What it holds then.
    entry: u32,
}

/// Numbers of words as one thread knows them.
#[derive(Default)]
pub(super) struct Colours {
    known: Numbers,
    /// What makes a colour.
    words: Vec<u32>,
}

impl ModelActor<'_> {
    /// The number of words, which it is given when they are new.
    fn colour(&mut self, words: &[u32]) -> u32 {
        let digest = digest(0, words);
        if let Some(known) = self.colours.known.get(digest, 0, words) {
            return known;
        }
        let number = self.action.number_of(words);
        self.colours.known.insert(digest, 0, words, number);
        number
    }

    /// The contents of a sheet in a row.
    #[inline]
    fn entry(&mut self, sheet: u32, purpose: Purpose, row: &[Value]) -> u32 {
        let action = self.action;
        let sheet = &action.sheets.all[sheet as usize];
        self.memory.entry(sheet, purpose, &action.rows, &action.points, row, |words| action.number_of(words))
    }

    /// Draws a row and notes what it looks like.
    pub(super) fn draw(&mut self, purpose: Purpose, row: &[Value], drawing: &mut Drawing, picture: &mut Picture) {
        let action = self.action;
        let points = action.points.items.len();
        if self.colours.known.is_large() {
            self.colours.known.clear();
        }
        picture.clear(points);
        drawing.marks.resize_with(points, Vec::new);
        drawing.marks.iter_mut().for_each(Vec::clear);
        drawing.colours.resize(points, 0);
        // Rows that are drawn one after the other have most in common.
        let is_known = drawing.row.len() == row.len();
        drawing.entries.resize(action.sheets.all.len(), 0);
        for (number, sheet) in (0..).zip(&action.sheets.all) {
            if !is_known || !sheet.is_same(row, &drawing.row) {
                drawing.entries[number as usize] = self.entry(number, purpose, row);
            }
        }
        drawing.row.clear();
        drawing.row.extend_from_slice(row);
        let memory = std::mem::take(&mut self.memory);
        for (sheet, &entry) in action.sheets.all.iter().zip(&drawing.entries) {
            self.draw_sheet(&memory, sheet, memory.held(entry), &mut drawing.marks, picture);
        }
        self.memory = memory;
        self.draw_cells(row, picture);
        if let Some(last) = action.rows.last
            && row[last as usize] < row[COUNT]
            && let Some(Keys::Points(keys)) = action.points.keys(row[last as usize])
        {
            keys.iter().for_each(|&key| drawing.marks[key as usize].push(LAST));
        }
        for point in 0..points {
            let mut words = std::mem::take(&mut self.colours.words);
            words.clear();
            let held = |&sheet: &u32| self.memory.held(drawing.entries[sheet as usize]).number;
            words.extend(action.sheets.at_point[point].iter().map(held));
            words.extend_from_slice(&drawing.marks[point]);
            drawing.colours[point] = self.colour(&words);
            picture.set_colour(point as u32, drawing.colours[point]);
            self.colours.words = words;
        }
    }

    #[inline]
    fn draw_sheet(
        &mut self,
        memory: &Memory,
        sheet: &Sheet,
        held: Held,
        marks: &mut [Vec<u32>],
        picture: &mut Picture,
    ) {
        let points = &self.action.points;
        match sheet.keys(points) {
            Some(keys) => {
                for name in memory.names(held) {
                    let Some(others) = name.keys(points) else {
                        let colour = self.colour(&[1, name.label]);
                        let vertex = picture.add_vertex(colour);
                        keys.iter().for_each(|&key| picture.add_edge(vertex, key, OWNER));
                        self.point_at(vertex, name.item, VALUE, picture);
                        continue;
                    };
                    if sheet.orbit.is_none() {
                        others.iter().for_each(|&other| marks[other as usize].push(name.label));
                    }
                    for &key in keys {
                        for &other in others.iter().filter(|other| **other != key) {
                            picture.add_edge(key, other, name.label);
                        }
                        if others.contains(&key) {
                            marks[key as usize].push(name.label);
                        }
                    }
                }
            }
            // It is as if it were not there.
            None if held.empty => {}
            None => {
                let colour = self.colour(&[2, held.number, sheet.orbit.unwrap_or_default()]);
                let vertex = picture.add_vertex(colour);
                self.point_at(vertex, sheet.item, OWNER, picture);
                for name in memory.names(held) {
                    let colour = self.colour(&[3, name.label]);
                    let inner = picture.add_vertex(colour);
                    picture.add_edge(vertex, inner, CELL);
                    self.point_at(inner, name.item, VALUE, picture);
                }
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

    /// Draws cells that are moved inside the frames of processes.
    fn draw_cells(&mut self, row: &[Value], picture: &mut Picture) {
        let action = self.action;
        for &(at, cell, orbit) in &action.sheets.cells {
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
            // The position identifies a process that is not moved.
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

    /// Draws how the picture of `to` differs from that of the row that was drawn, when the two differ in these slots;
    /// says whether that is possible.
    pub(super) fn draw_difference(
        &mut self,
        drawing: &Drawing,
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        let action = self.action;
        let points = action.points.items.len();
        if points > MOST_POINTS || drawing.colours.len() != points {
            return false;
        }
        before.clear(points);
        after.clear(points);
        self.changed.clear();
        let mut recoloured = 0;
        for &slot in slots {
            let sheet = match action.sheets.place(slot) {
                Place::Nowhere => continue,
                Place::Elsewhere => return false,
                Place::Sheet(sheet) => sheet,
            };
            if self.changed.iter().any(|changed| changed.sheet == sheet) {
                continue;
            }
            let entry = self.entry(sheet, Purpose::Changed, to);
            self.changed.push(Changed { sheet, entry });
            match self.draw_sheet_change(sheet, drawing.entries[sheet as usize], entry, before, after) {
                Some(points) => recoloured |= points,
                None => return false,
            }
        }
        while recoloured != 0 {
            let point = recoloured.trailing_zeros();
            recoloured &= recoloured - 1;
            let old = drawing.colours[point as usize];
            let new = self.changed_colour(drawing, point);
            if old != new {
                before.set_colour(point, old);
                after.set_colour(point, new);
            }
        }
        true
    }

    /// Draws the edges of a sheet that now holds something else; the points whose colours may change are returned,
    /// `None` when more than colours and edges of points changes.
    #[inline]
    fn draw_sheet_change(
        &self,
        sheet: u32,
        old: u32,
        new: u32,
        before: &mut Picture,
        after: &mut Picture,
    ) -> Option<u64> {
        let action = self.action;
        let sheet = &action.sheets.all[sheet as usize];
        let (old, new) = (self.memory.held(old), self.memory.held(new));
        let Some(keys) = sheet.keys(&action.points) else {
            return (old.empty && new.empty).then_some(0);
        };
        let mut recoloured = keys.iter().fold(0, |set, &key| set | 1 << key);
        let mut draw = |name: &Name, picture: &mut Picture| {
            let ends = name.keys(&action.points)?;
            if sheet.orbit.is_none() {
                recoloured = ends.iter().fold(recoloured, |set, &end| set | 1 << end);
            }
            for &key in keys {
                for &end in ends.iter().filter(|end| **end != key) {
                    picture.add_edge(key, end, name.label);
                }
            }
            Some(())
        };
        // Both are in the order of their labels.
        let (mut gone, mut come) = (self.memory.names(old), self.memory.names(new));
        while let Some(label) = gone.first().into_iter().chain(come.first()).map(|name| name.label).min() {
            let (old, new) = (take(&mut gone, label), take(&mut come, label));
            if old != new {
                if let Some(old) = old {
                    draw(old, before)?;
                }
                if let Some(new) = new {
                    draw(new, after)?;
                }
            }
        }
        Some(recoloured)
    }

    /// The colour of a point with what changed in its place.
    #[inline]
    fn changed_colour(&mut self, drawing: &Drawing, point: u32) -> u32 {
        let action = self.action;
        let sheets = &action.sheets;
        let mut words = std::mem::take(&mut self.colours.words);
        words.clear();
        for &sheet in &sheets.at_point[point as usize] {
            let changed = self.changed.iter().find(|changed| changed.sheet == sheet);
            let entry = changed.map_or(drawing.entries[sheet as usize], |changed| changed.entry);
            words.push(self.memory.held(entry).number);
        }
        let marks = words.len();
        let here = &sheets.at_point[point as usize];
        let speaks = |sheet: u32| sheets.all[sheet as usize].orbit.is_none() || here.contains(&sheet);
        for &mark in &drawing.marks[point as usize] {
            let anew = self.changed.iter().any(|changed| {
                let sheet = &sheets.all[changed.sheet as usize];
                (sheet.first_label..sheet.end_label).contains(&mark) && speaks(changed.sheet)
            });
            if !anew {
                words.push(mark);
            }
        }
        let kept = words.len();
        for changed in self.changed.iter().filter(|changed| speaks(changed.sheet)) {
            for name in self.memory.names(self.memory.held(changed.entry)) {
                if name.keys(&action.points).is_some_and(|keys| keys.contains(&point)) {
                    words.push(name.label);
                }
            }
        }
        if kept < words.len() {
            words[marks..].sort_unstable();
        }
        let colour = self.colour(&words);
        self.colours.words = words;
        colour
    }
}

/// Takes the first of the names off when it has this label.
#[inline]
fn take<'a>(names: &mut &'a [Name], label: u32) -> Option<&'a Name> {
    match names.split_first() {
        Some((first, rest)) if first.label == label => {
            *names = rest;
            Some(first)
        }
        _ => None,
    }
}
