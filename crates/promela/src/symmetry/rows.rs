//! What a permutation of items does to a row.
//!
//! A row is gone through part by part: global variables, processes, channels. A part is written to where its item goes, and values that
//! stand for items are renamed. Parts that no element of a group moves, and that hold nothing that one moves, are copied with
//! the rest of the row. Processes that do not run and messages that are not there are zero, and stay so.

use trefoil_system::Value;

use super::classes::{Classes, Domain};
use super::items::{Item, ItemId, Items};
use crate::machine::Model;
use crate::program::{ProcessTypeId, Program};

/// No item.
pub(super) const NONE: ItemId = ItemId::MAX;

/// Values from here on stand for themselves.
pub(super) const MOST_VALUES: usize = 4096;

/// What the values of a slot stand for: a table of items by value.
pub(super) type Lookup = Option<u32>;

pub(super) struct GlobalPart {
    pub(super) slot: u32,
    pub(super) cell: ItemId,
    pub(super) lookup: Lookup,
}

pub(super) struct ProcessPart {
    pub(super) position: u32,
    pub(super) item: ItemId,
    /// The slot of its control state.
    pub(super) control: u32,
    /// The items of its control states, when one is moved.
    pub(super) controls: Option<ItemId>,
    /// The slot of its first cell, and that cell's item.
    pub(super) cells: u32,
    pub(super) first_cell: ItemId,
    pub(super) lookups: Vec<Lookup>,
    /// Is any of its cells moved?
    pub(super) cells_move: bool,
}

pub(super) struct ChannelPart {
    pub(super) item: ItemId,
    pub(super) slot: u32,
    pub(super) capacity: u32,
    pub(super) lookups: Vec<Lookup>,
    pub(super) owner: Option<u8>,
}

/// What is done to a part.
struct Move {
    item: ItemId,
    slot: u32,
    /// How many slots there are; for a queue, in each message.
    words: u32,
    /// It is there when at least so many processes run.
    needs: u32,
    /// Where it, or each message, may name something, and by which table.
    names: Vec<(u32, u32)>,
    shape: Shape,
}

enum Shape {
    /// Slots that are always there.
    Fixed,
    /// A length and so many messages, the rest being zero.
    Queue,
    /// This process, whose cells or control states are moved among themselves.
    Odd(u32),
}

/// The parts of rows that a group moves or renames.
pub(super) struct Rows {
    pub(super) globals: Vec<GlobalPart>,
    pub(super) processes: Vec<ProcessPart>,
    pub(super) channels: Vec<ChannelPart>,
    pub(super) last: Option<u32>,
    /// By lookup and value.
    tables: Vec<Vec<ItemId>>,
    /// By item: the value that stands for it.
    values: Vec<u32>,
    moves: Vec<Move>,
    /// By item: where it lies. For channels the slot of the length, for processes that of the control state, for cells the slot of a global
    /// one or the offset of a local one.
    slots: Vec<u32>,
}

/// The slot of the number of processes.
pub(super) const COUNT: usize = crate::machine::COUNT;

impl Rows {
    /// The rows of a model under a group that moves these items.
    pub(super) fn new(program: &Program, model: &Model, classes: &Classes, items: &Items, moved: &[bool]) -> Rows {
        let arrangement = &model.arrangement;
        let mut rows = Rows {
            globals: Vec::new(),
            processes: Vec::new(),
            channels: Vec::new(),
            last: None,
            tables: Vec::new(),
            values: (0..items.len() as u32).map(|item| items.value_of(item) as u32).collect(),
            moves: Vec::new(),
            slots: vec![0; items.len()],
        };
        let mut known: Vec<(Domain, u32)> = Vec::new();
        let mut lookup = |domain: Domain| -> Lookup {
            if let Some(&(_, table)) = known.iter().find(|(known, _)| *known == domain) {
                return (table != NONE).then_some(table);
            }
            let of_value = |value: usize| match items.of_value(domain, value as i32) {
                Some(item) if moved[item as usize] => item,
                _ => NONE,
            };
            let mut table: Vec<ItemId> =
                if domain == Domain::Plain { Vec::new() } else { (0..MOST_VALUES).map(of_value).collect() };
            table.truncate(table.iter().rposition(|&item| item != NONE).map_or(0, |last| last + 1));
            let any = !table.is_empty();
            known.push((domain, if any { rows.tables.len() as u32 } else { NONE }));
            any.then(|| {
                rows.tables.push(table);
                rows.tables.len() as u32 - 1
            })
        };
        for (cell, (&class, &slot)) in (0..).zip(classes.global.iter().zip(&arrangement.globals)) {
            let item = items.global(cell);
            rows.slots[item as usize] = slot;
            let declared = &program.globals.cells[cell as usize];
            let lookup = lookup(classes.domain[class as usize]);
            if !declared.hidden && (moved[item as usize] || lookup.is_some()) {
                rows.globals.push(GlobalPart { slot, cell: item, lookup });
            }
        }
        for (kind, process) in program.processes.iter().enumerate() {
            for cell in 0..process.frame.cells.len() as u32 {
                rows.slots[items.local(kind as ProcessTypeId, cell) as usize] = cell;
            }
        }
        for (position, place) in (0..).zip(&arrangement.positions) {
            let kind = place.types[0];
            let process = &program.processes[usize::from(kind)];
            let control = place.base + 1;
            let item = items.process(position);
            rows.slots[item as usize] = control;
            let lookups: Vec<Lookup> =
                classes.local[usize::from(kind)].iter().map(|&class| lookup(classes.domain[class as usize])).collect();
            let states = 0..process.transitions.len() as u32;
            let controls_move = states.clone().any(|state| moved[items.control(kind, state) as usize]);
            let cells_move = (0..lookups.len() as u32).any(|cell| moved[items.local(kind, cell) as usize]);
            if moved[item as usize] || controls_move || cells_move || lookups.iter().any(Option::is_some) {
                rows.processes.push(ProcessPart {
                    position,
                    item,
                    control,
                    controls: controls_move.then(|| items.control(kind, 0)),
                    cells: place.base + arrangement.shapes[usize::from(kind)].cells,
                    first_cell: if lookups.is_empty() { 0 } else { items.local(kind, 0) },
                    lookups,
                    cells_move,
                });
            }
        }
        for (number, queue) in (1..).zip(model.channels()) {
            let item = items.channel(number);
            rows.slots[item as usize] = queue.slot;
            let lookups: Vec<Lookup> = classes.field[queue.kind as usize]
                .iter()
                .map(|&class| lookup(classes.domain[class as usize]))
                .collect();
            if queue.capacity > 0 && (moved[item as usize] || lookups.iter().any(Option::is_some)) {
                rows.channels.push(ChannelPart {
                    item,
                    slot: queue.slot,
                    capacity: queue.capacity,
                    lookups,
                    owner: queue.position,
                });
            }
        }
        let processes_move =
            items.all().iter().zip(moved).any(|(item, &moved)| moved && matches!(item, Item::Process(_)));
        rows.last = arrangement.last.filter(|_| processes_move);
        rows.prepare();
        rows
    }

    /// The item that a value stands for, when it is one that is moved.
    #[inline]
    pub(super) fn item(&self, lookup: Lookup, value: Value) -> Option<ItemId> {
        let item = *self.tables[lookup? as usize].get(value as usize)?;
        (item != NONE).then_some(item)
    }

    /// Where an item lies.
    pub(super) fn slot_of(&self, item: ItemId) -> u32 {
        self.slots[item as usize]
    }

    #[inline]
    pub(super) fn renamed(&self, images: &[ItemId], lookup: Lookup, value: Value) -> Value {
        match self.item(lookup, value) {
            Some(item) => self.values[images[item as usize] as usize],
            None => value,
        }
    }

    /// Puts what is to be done into the order in which it is done.
    fn prepare(&mut self) {
        let named = |lookups: &[Lookup]| -> Vec<(u32, u32)> {
            (0..).zip(lookups).filter_map(|(offset, lookup)| lookup.map(|table| (offset, table))).collect()
        };
        let mut moves = Vec::new();
        for part in &self.globals {
            let names = named(&[part.lookup]);
            moves.push(Move { item: part.cell, slot: part.slot, words: 1, needs: 0, names, shape: Shape::Fixed });
        }
        for (at, part) in (0..).zip(&self.processes) {
            let cells = part.cells - part.control;
            let mut names = named(&part.lookups);
            names.iter_mut().for_each(|(offset, _)| *offset += cells);
            let odd = part.cells_move || part.controls.is_some();
            moves.push(Move {
                item: part.item,
                slot: part.control,
                words: cells + part.lookups.len() as u32,
                needs: part.position + 1,
                names,
                shape: if odd { Shape::Odd(at) } else { Shape::Fixed },
            });
        }
        for part in &self.channels {
            moves.push(Move {
                item: part.item,
                slot: part.slot,
                words: part.lookups.len() as u32,
                needs: part.owner.map_or(0, |owner| u32::from(owner) + 1),
                names: named(&part.lookups),
                shape: Shape::Queue,
            });
        }
        self.moves = moves;
    }

    /// Leaves out global variables in these slots: what is there is always the same, and no element of the group changes it.
    pub(super) fn leave_out(&mut self, slots: impl Fn(u32) -> bool) {
        self.globals.retain(|part| !slots(part.slot));
        self.prepare();
    }

    /// `into` becomes what the permutation makes of a row.
    pub(super) fn apply(&self, images: &[ItemId], row: &[Value], into: &mut [Value]) {
        into.copy_from_slice(row);
        let count = row[COUNT];
        for part in self.moves.iter().filter(|part| part.needs <= count) {
            let (from, to) = (part.slot as usize, self.slots[images[part.item as usize] as usize] as usize);
            let words = part.words as usize;
            match part.shape {
                Shape::Fixed => {
                    if from != to {
                        into[to..to + words].copy_from_slice(&row[from..from + words]);
                    }
                    for &(offset, table) in &part.names {
                        let value = row[from + offset as usize];
                        into[to + offset as usize] = self.renamed(images, Some(table), value);
                    }
                }
                Shape::Queue => {
                    let used = row[from] as usize * words;
                    if from != to {
                        into[to..=to + used].copy_from_slice(&row[from..=from + used]);
                        // What was there may have been longer.
                        let before = row[to] as usize * words;
                        if before > used {
                            into[to + used + 1..=to + before].fill(0);
                        }
                    }
                    if !part.names.is_empty() {
                        for first in (1..=used).step_by(words.max(1)) {
                            for &(offset, table) in &part.names {
                                let at = first + offset as usize;
                                into[to + at] = self.renamed(images, Some(table), row[from + at]);
                            }
                        }
                    }
                }
                Shape::Odd(at) => self.apply_to_process(&self.processes[at as usize], images, row, into),
            }
        }
        if let Some(last) = self.last {
            let value = row[last as usize];
            // Its values are positions, and the first items are the processes.
            if (value as usize) < images.len() && value < count {
                into[last as usize] = images[value as usize];
            }
        }
    }

    /// The same for a process whose cells or control states are moved among themselves.
    fn apply_to_process(&self, part: &ProcessPart, images: &[ItemId], row: &[Value], into: &mut [Value]) {
        let image = |item: ItemId| images[item as usize] as usize;
        let control = self.slots[image(part.item)] as usize;
        let state = row[part.control as usize];
        into[control] = part.controls.map_or(state, |first| self.values[image(first + state)]);
        let cells = control + (part.cells - part.control) as usize;
        // A priority lies between.
        for between in 1..(part.cells - part.control) as usize {
            into[control + between] = row[part.control as usize + between];
        }
        let from = part.cells as usize;
        for (at, &lookup) in part.lookups.iter().enumerate() {
            let to = if part.cells_move { self.slots[image(part.first_cell + at as u32)] as usize } else { at };
            into[cells + to] = self.renamed(images, lookup, row[from + at]);
        }
    }
}
