//! The parts of a row that are drawn, one *sheet* each, and their contents.
//!
//! A sheet is a process, a channel or a global variable, and lies in adjacent slots. Its contents are a sequence of
//! words without the names of points, and the items that it names, each with a *label* that says where. The sheets of
//! an orbit have the same labels, and other sheets have others, so a label also identifies the sheet that names an
//! item.
//!
//! The slots of a sheet determine its contents. The same few values occur again and again, so each thread caches the
//! contents ([`Memory`]): sheets of one *family*, which have the same shape and the same labels, share the cache.
//! Queues that hold several names have many contents, each of them rare, and would only fill the cache; they are read
//! each time, and so are sheets that are not moved, whose names alone are needed.

use std::collections::HashMap;

use trefoil_system::Value;

use super::items::ItemId;
use super::numbers::{Numbers, digest};
use super::points::Points;
use super::rows::{COUNT, ChannelPart, Lookup, ProcessPart, Rows};

/// Labels of edges from vertices to the keys of what they stand for: owner, cell, value, each perhaps with two.
pub(super) const OWNER: u32 = 0;
pub(super) const CELL: u32 = 2;
pub(super) const VALUE: u32 = 4;
/// The first label of what parts name.
const FIRST_LABEL: u32 = 6;

/// A slot of no sheet.
const NOWHERE: u32 = u32::MAX;
/// A slot that is drawn in another way.
const ELSEWHERE: u32 = u32::MAX - 1;

/// Another number of keys than one.
const MANY: u32 = u32::MAX;

/// A part of a row, by its number among the parts of its sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Global(u32),
    Process(u32),
    Channel(u32),
}

/// A part of a row that is drawn.
pub(super) struct Sheet {
    part: Part,
    pub(super) item: ItemId,
    /// The key of the item, when there is one; else [`MANY`].
    key: u32,
    /// The orbit of the item; none when no element moves it.
    pub(super) orbit: Option<u32>,
    /// The labels of what it names.
    pub(super) first_label: u32,
    pub(super) end_label: u32,
    family: u32,
    slot: u32,
    /// How many slots there are at least, and how many more for each message that the first one counts.
    fixed: u32,
    fields: u32,
    /// The position of the process with which it comes and goes.
    needs: Option<u32>,
    /// A sheet that is not cached has a number here.
    fresh: Option<u32>,
}

impl Sheet {
    #[inline]
    fn is_there(&self, row: &[Value]) -> bool {
        self.needs.is_none_or(|position| position < row[COUNT])
    }

    /// Its slots in a row, if it exists there.
    #[inline]
    fn values<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        let slot = self.slot as usize;
        let length = if self.fields == 0 { self.fixed } else { 1 + row[slot] * self.fields };
        &row[slot..slot + length as usize]
    }

    /// Does it hold the same in both rows?
    #[inline]
    pub(super) fn is_same(&self, one: &[Value], other: &[Value]) -> bool {
        let (here, there) = (self.is_there(one), self.is_there(other));
        let equal = || {
            let (one, other) = (self.values(one), self.values(other));
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
        };
        here == there && (!here || equal())
    }

    /// As [`Points::single_keys`].
    #[inline]
    pub(super) fn keys<'a>(&'a self, points: &'a Points) -> Option<&'a [u32]> {
        if self.key == MANY { points.single_keys(self.item) } else { Some(std::slice::from_ref(&self.key)) }
    }
}

/// All sheets of a model, those that are moved first.
pub(super) struct Sheets {
    pub(super) all: Vec<Sheet>,
    /// The sheets that are drawn at each point.
    pub(super) at_point: Vec<Vec<u32>>,
    /// By slot.
    sheet_of: Vec<u32>,
    /// Cells of processes that are moved inside their frames: the part, the cell and the orbit of the cell.
    pub(super) cells: Vec<(u32, u32, u32)>,
    /// How many are not cached.
    fresh: u32,
}

/// Where a slot is drawn.
pub(super) enum Place {
    /// On this sheet.
    Sheet(u32),
    /// Nowhere.
    Nowhere,
    /// Not on a sheet alone.
    Elsewhere,
}

impl Sheets {
    pub(super) fn new(rows: &Rows, points: &Points, width: usize) -> Sheets {
        let mut part_of: HashMap<ItemId, Part> = HashMap::new();
        part_of.extend((0..).zip(&rows.globals).map(|(at, part)| (part.cell, Part::Global(at))));
        part_of.extend((0..).zip(&rows.processes).map(|(at, part)| (part.item, Part::Process(at))));
        part_of.extend((0..).zip(&rows.channels).map(|(at, part)| (part.item, Part::Channel(at))));
        let mut sheets = Sheets {
            all: Vec::new(),
            at_point: vec![Vec::new(); points.items.len()],
            sheet_of: vec![NOWHERE; width],
            cells: Vec::new(),
            fresh: 0,
        };
        let mut label = FIRST_LABEL;
        for (orbit, items) in (0..).zip(&points.orbits) {
            let mut end = label;
            for &item in items {
                if let Some(&part) = part_of.get(&item) {
                    end = sheets.add(rows, points, part, item, Some(orbit), label);
                    for &point in points.single_keys(item).unwrap_or_default() {
                        sheets.at_point[point as usize].push(sheets.all.len() as u32 - 1);
                    }
                }
            }
            label = end;
        }
        let mut still: Vec<(ItemId, Part)> =
            part_of.into_iter().filter(|(item, _)| points.keys(*item).is_none()).collect();
        still.sort_unstable_by_key(|(item, _)| *item);
        for (item, part) in still {
            label = sheets.add(rows, points, part, item, None, label);
        }
        for (at, part) in (0..).zip(&rows.processes).filter(|(_, part)| part.cells_move) {
            for cell in 0..part.lookups.len() as u32 {
                let item = part.first_cell + cell;
                if let Some(orbit) = points.orbits.iter().position(|orbit| orbit.contains(&item)) {
                    sheets.cells.push((at, cell, orbit as u32));
                    sheets.sheet_of[(part.cells + cell) as usize] = ELSEWHERE;
                }
            }
        }
        sheets.sheet_of[COUNT] = ELSEWHERE;
        if let Some(last) = rows.last {
            sheets.sheet_of[last as usize] = ELSEWHERE;
        }
        sheets
    }

    /// One more sheet; the label behind its own is returned.
    fn add(
        &mut self,
        rows: &Rows,
        points: &Points,
        part: Part,
        item: ItemId,
        orbit: Option<u32>,
        first_label: u32,
    ) -> u32 {
        let named = |lookups: &[Lookup]| lookups.iter().flatten().count() as u32;
        let number = self.all.len() as u32;
        let (slot, fixed, fields, most, needs, labels) = match part {
            Part::Global(at) => (rows.globals[at as usize].slot, 1, 0, 1, None, 1),
            Part::Process(at) => {
                let part = &rows.processes[at as usize];
                let slots = part.cells + part.lookups.len() as u32 - part.control;
                (part.control, slots, 0, slots, Some(part.position), 1 + named(&part.lookups))
            }
            Part::Channel(at) => {
                let part = &rows.channels[at as usize];
                let fields = part.lookups.len() as u32;
                let labels = part.capacity * named(&part.lookups);
                (part.slot, 1, fields, 1 + part.capacity * fields, part.owner.map(u32::from), labels)
            }
        };
        let slots = slot as usize..(slot + most) as usize;
        self.sheet_of[slots].fill(number);
        let end_label = first_label + labels;
        let mut near =
            self.all.iter().rev().take_while(|other| other.orbit == orbit && other.first_label == first_label);
        let family = near.find(|other| have_same_shape(rows, other.part, part)).map_or(number, |other| other.family);
        let key = only_key(points, item);
        let fresh = (orbit.is_none() || fields > 0 && labels > 1).then_some(self.fresh);
        self.fresh += u32::from(fresh.is_some());
        self.all.push(Sheet {
            part,
            item,
            key,
            orbit,
            first_label,
            end_label,
            family,
            slot,
            fixed,
            fields,
            needs,
            fresh,
        });
        end_label
    }

    #[inline]
    pub(super) fn place(&self, slot: u32) -> Place {
        match self.sheet_of[slot as usize] {
            NOWHERE => Place::Nowhere,
            ELSEWHERE => Place::Elsewhere,
            sheet => Place::Sheet(sheet),
        }
    }
}

/// Do equal values mean the same in both?
fn have_same_shape(rows: &Rows, one: Part, other: Part) -> bool {
    match (one, other) {
        (Part::Global(one), Part::Global(other)) => {
            rows.globals[one as usize].lookup == rows.globals[other as usize].lookup
        }
        (Part::Process(one), Part::Process(other)) => {
            let shape = |at: u32| {
                let part = &rows.processes[at as usize];
                (part.controls, part.cells - part.control, part.first_cell, &part.lookups, part.cells_move)
            };
            shape(one) == shape(other)
        }
        (Part::Channel(one), Part::Channel(other)) => {
            rows.channels[one as usize].lookups == rows.channels[other as usize].lookups
        }
        _ => false,
    }
}

/// What a sheet holds: words, and what it names, each with its label.
#[derive(Default)]
struct Content {
    words: Vec<u32>,
    named: Vec<Name>,
    /// Is it as if it were not there?
    empty: bool,
}

/// Something that is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) label: u32,
    pub(super) item: ItemId,
    /// Its key, when there is one; else [`MANY`].
    key: u32,
}

impl Name {
    fn new(label: u32, item: ItemId, points: &Points) -> Name {
        Name { label, item, key: only_key(points, item) }
    }

    /// As [`Points::single_keys`].
    #[inline]
    pub(super) fn keys<'a>(&'a self, points: &'a Points) -> Option<&'a [u32]> {
        if self.key == MANY { points.single_keys(self.item) } else { Some(std::slice::from_ref(&self.key)) }
    }
}

fn only_key(points: &Points, item: ItemId) -> u32 {
    match points.single_keys(item) {
        Some(&[key]) => key,
        _ => MANY,
    }
}

impl Content {
    /// The contents of a sheet in a row.
    fn read(&mut self, sheet: &Sheet, rows: &Rows, points: &Points, row: &[Value]) {
        self.words.clear();
        self.named.clear();
        self.empty = true;
        match sheet.part {
            _ if !sheet.is_there(row) => self.words.push(u32::MAX),
            Part::Global(at) => {
                let part = &rows.globals[at as usize];
                self.value(rows, points, part.lookup, row[part.slot as usize], &mut { sheet.first_label });
            }
            Part::Process(at) => self.process(rows, &rows.processes[at as usize], points, row, sheet.first_label),
            Part::Channel(at) => {
                self.channel(rows, points, &rows.channels[at as usize], row, sheet.first_label);
            }
        }
    }

    /// A value that may name an item.
    #[inline]
    fn value(&mut self, rows: &Rows, points: &Points, lookup: Lookup, value: Value, label: &mut u32) {
        if lookup.is_none() {
            self.words.push(value);
            self.empty &= value == 0;
            return;
        }
        match rows.item(lookup, value) {
            Some(item) => {
                self.words.extend([1, 0]);
                self.named.push(Name::new(*label, item, points));
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
        self.words.push(1);
        self.empty = false;
        let state = row[part.control as usize];
        match part.controls.map(|first| first + state).filter(|&item| points.keys(item).is_some()) {
            Some(item) => {
                self.words.extend([1, 0]);
                self.named.push(Name::new(label, item, points));
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
            self.value(rows, points, lookup, row[(part.cells + at) as usize], &mut label);
        }
    }

    fn channel(&mut self, rows: &Rows, points: &Points, part: &ChannelPart, row: &[Value], mut label: u32) {
        let length = row[part.slot as usize];
        self.words.push(length);
        self.empty &= length == 0;
        let mut slot = part.slot as usize + 1;
        for _ in 0..length {
            for &lookup in &part.lookups {
                self.value(rows, points, lookup, row[slot], &mut label);
                slot += 1;
            }
        }
    }
}

/// The contents of sheets by their slots: the cache of one thread.
#[derive(Default)]
pub(super) struct Memory {
    /// Entries by family and values.
    numbers: Numbers,
    /// The entries of sheets that are not cached, three each, and behind them the cached ones; the same with names.
    entries: Vec<Held>,
    names: Vec<Name>,
    reserved: (usize, usize),
    content: Content,
}

/// For what a sheet is read: there is one entry for each.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// The row from which others differ little.
    Begun,
    /// Another row.
    Other,
    /// A row that differs little.
    Changed,
}

/// What a sheet holds.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// The number of its words; any number when it is not moved.
    pub(super) number: u32,
    /// Is it as if it were not there?
    pub(super) empty: bool,
    names: (u32, u32),
}

/// The tag of words that are not the values of a sheet.
const WORDS: u32 = u32::MAX;

impl Memory {
    /// For these sheets.
    pub(super) fn new(sheets: &Sheets) -> Memory {
        let mut memory = Memory::default();
        for sheet in sheets.all.iter().filter(|sheet| sheet.fresh.is_some()) {
            for _ in 0..3 {
                let begin = memory.names.len();
                let nothing = Name { label: 0, item: 0, key: MANY };
                memory.names.resize(begin + (sheet.end_label - sheet.first_label) as usize, nothing);
                memory.entries.push(Held { number: 0, empty: true, names: (begin as u32, begin as u32) });
            }
        }
        memory.reserved = (memory.entries.len(), memory.names.len());
        memory
    }

    /// The entry of what a sheet holds in a row; `number_of` gives words their numbers.
    #[inline]
    pub(super) fn entry(
        &mut self,
        sheet: &Sheet,
        purpose: Purpose,
        rows: &Rows,
        points: &Points,
        row: &[Value],
        number_of: impl FnOnce(&[u32]) -> u32,
    ) -> u32 {
        if let Some(fresh) = sheet.fresh {
            let entry = 3 * fresh + purpose as u32;
            self.read_anew(entry, sheet, rows, points, row, number_of);
            return entry;
        }
        let (tag, values): (u32, &[Value]) =
            if sheet.is_there(row) { (2 * sheet.family, sheet.values(row)) } else { (2 * sheet.family + 1, &[]) };
        let digest = digest(tag, values);
        if let Some(entry) = self.numbers.get(digest, tag, values) {
            return entry;
        }
        self.content.read(sheet, rows, points, row);
        let begin = self.names.len() as u32;
        self.names.extend_from_slice(&self.content.named);
        let names = (begin, self.names.len() as u32);
        let entry = self.entries.len() as u32;
        let number = number_of(&self.content.words);
        self.entries.push(Held { number, empty: self.content.empty, names });
        self.numbers.insert(digest, tag, values, entry);
        entry
    }

    fn read_anew(
        &mut self,
        entry: u32,
        sheet: &Sheet,
        rows: &Rows,
        points: &Points,
        row: &[Value],
        number_of: impl FnOnce(&[u32]) -> u32,
    ) {
        let Memory { numbers, entries, names, content, .. } = self;
        content.read(sheet, rows, points, row);
        let held = &mut entries[entry as usize];
        held.empty = content.empty;
        if sheet.orbit.is_some() {
            let digest = digest(WORDS, &content.words);
            held.number = numbers.get(digest, WORDS, &content.words).unwrap_or_else(|| {
                let number = number_of(&content.words);
                numbers.insert(digest, WORDS, &content.words, number);
                number
            });
        }
        let begin = held.names.0 as usize;
        held.names.1 = held.names.0 + content.named.len() as u32;
        for (name, &named) in names[begin..].iter_mut().zip(&content.named) {
            *name = named;
        }
    }

    #[inline]
    pub(super) fn held(&self, entry: u32) -> Held {
        self.entries[entry as usize]
    }

    #[inline]
    pub(super) fn names(&self, held: Held) -> &[Name] {
        &self.names[held.names.0 as usize..held.names.1 as usize]
    }

    /// Forgets everything when it has become much; entries mean nothing then.
    pub(super) fn forget_much(&mut self) -> bool {
        let much = self.numbers.is_large();
        if much {
            self.numbers.clear();
            self.entries.truncate(self.reserved.0);
            self.names.truncate(self.reserved.1);
        }
        much
    }
}
