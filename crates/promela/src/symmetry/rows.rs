//! The image of a row under a permutation of items.
//!
//! The permutation processes a row part by part: global variables, processes, channels. It writes a part to the place
//! of the image of its item, and renames values that identify items. Parts that no element of a group moves, and that
//! contain no moved item, are copied with the rest of the row. Processes that do not run and absent messages are zero,
//! and stay zero.

use trefoil_system::Value;

use super::classes::{Classes, Domain};
use super::items::{Item, ItemId, Items};
use crate::machine::Model;
use crate::program::{ProcessTypeId, Program};

/// No item.
pub(super) const NONE: ItemId = ItemId::MAX;

/// Values from here on stand for themselves.
pub(super) const MOST_VALUES: usize = 4096;

/// The items that the values of a slot identify, by value.
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
    /// Where the lookups of its slots, or of those of a message, begin, and whether anything is renamed.
    first: u32,
    names: bool,
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
    /// The lookups of the fields of messages, by kind of channel.
    pub(super) fields: Vec<Vec<Lookup>>,
    /// By lookup and value.
    tables: Vec<Vec<ItemId>>,
    /// Where the values of each lookup begin when all are put one behind the other, and which of all stand for items.
    begins: Vec<u32>,
    all_values: u32,
    renames: Vec<(u32, ItemId)>,
    /// For each slot of a move where the values of its lookup begin, and how many there are.
    lookups: Vec<(u32, u32)>,
    /// By item: the value that stands for it.
    values: Vec<u32>,
    moves: Vec<Move>,
    /// By item: where it lies. For channels the slot of the length, for processes that of the control state, for cells
    /// the slot of a global one or the offset of a local one.
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
            fields: Vec::new(),
            tables: Vec::new(),
            begins: Vec::new(),
            all_values: 0,
            renames: Vec::new(),
            lookups: Vec::new(),
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
        for kind in &classes.field {
            rows.fields.push(kind.iter().map(|&class| lookup(classes.domain[class as usize])).collect());
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

    /// Puts what is to be done into the order in which it is done.
    fn prepare(&mut self) {
        self.begins.clear();
        self.renames.clear();
        let mut begin = 0;
        for table in &self.tables {
            self.begins.push(begin);
            let items = (begin..).zip(table).filter(|(_, item)| **item != NONE);
            self.renames.extend(items.map(|(at, &item)| (at, item)));
            begin += table.len() as u32;
        }
        self.all_values = begin;
        self.lookups.clear();
        self.moves.clear();
        let mut add = |item: ItemId, slot: u32, between: u32, lookups: &[Lookup], needs: u32, shape: Shape| {
            let first = self.lookups.len() as u32;
            let values = |lookup: &Lookup| match *lookup {
                Some(lookup) => (self.begins[lookup as usize], self.tables[lookup as usize].len() as u32),
                None => (0, 0),
            };
            self.lookups.extend((0..between).map(|_| (0, 0)));
            self.lookups.extend(lookups.iter().map(values));
            let names = lookups.iter().any(Option::is_some) || matches!(shape, Shape::Odd(_));
            self.moves.push(Move { item, slot, words: between + lookups.len() as u32, needs, first, names, shape });
        };
        for part in &self.globals {
            add(part.cell, part.slot, 0, &[part.lookup], 0, Shape::Fixed);
        }
        for (at, part) in (0..).zip(&self.processes) {
            let odd = part.cells_move || part.controls.is_some();
            let shape = if odd { Shape::Odd(at) } else { Shape::Fixed };
            add(part.item, part.control, part.cells - part.control, &part.lookups, part.position + 1, shape);
        }
        for part in &self.channels {
            let needs = part.owner.map_or(0, |owner| u32::from(owner) + 1);
            add(part.item, part.slot, 0, &part.lookups, needs, Shape::Queue);
        }
    }

    /// Omits global variables in these slots: their values never change, and no element of the group changes them.
    pub(super) fn leave_out(&mut self, slots: impl Fn(u32) -> bool) {
        self.globals.retain(|part| !slots(part.slot));
        self.prepare();
    }

    /// Fills the renaming of all values that identify items, for [`Rows::apply`]; the caller reuses the buffer.
    pub(super) fn rename(&self, images: &[ItemId], renamed: &mut Vec<Value>) {
        if renamed.len() != self.all_values as usize {
            renamed.clear();
            renamed.extend(self.tables.iter().flat_map(|table| 0..table.len() as Value));
        }
        for &(at, item) in &self.renames {
            renamed[at as usize] = self.values[images[item as usize] as usize];
        }
    }

    /// Writes words, renamed, to where they go.
    #[inline]
    fn write(&self, renamed: &[Value], lookups: &[(u32, u32)], words: &[Value], into: &mut [Value]) {
        for ((into, &value), &(begin, length)) in into.iter_mut().zip(words).zip(lookups) {
            *into = if value < length { renamed[(begin + value) as usize] } else { value };
        }
    }

    /// `into` becomes what the permutation, whose renaming was made, makes of a row.
    pub(super) fn apply(&self, images: &[ItemId], renamed: &[Value], row: &[Value], into: &mut [Value]) {
        into.copy_from_slice(row);
        let count = row[COUNT];
        for part in &self.moves {
            let (from, to) = (part.slot as usize, self.slots[images[part.item as usize] as usize] as usize);
            if part.needs > count || from == to && !part.names {
                continue;
            }
            let words = part.words as usize;
            let lookups = &self.lookups[part.first as usize..part.first as usize + words];
            match part.shape {
                Shape::Fixed => self.write(renamed, lookups, &row[from..from + words], &mut into[to..to + words]),
                Shape::Queue => {
                    let used = row[from] as usize * words;
                    into[to] = row[from];
                    let (messages, into) = (&row[from + 1..=from + used], &mut into[to + 1..]);
                    if words > 0 {
                        for (message, into) in messages.chunks_exact(words).zip(into.chunks_exact_mut(words)) {
                            self.write(renamed, lookups, message, into);
                        }
                    }
                    // What was there may have been longer.
                    let before = row[to] as usize * words;
                    if before > used {
                        into[used..before].fill(0);
                    }
                }
                Shape::Odd(at) => {
                    self.apply_to_process(&self.processes[at as usize], images, lookups, renamed, row, into)
                }
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
    fn apply_to_process(
        &self,
        part: &ProcessPart,
        images: &[ItemId],
        lookups: &[(u32, u32)],
        renamed: &[Value],
        row: &[Value],
        into: &mut [Value],
    ) {
        let image = |item: ItemId| images[item as usize] as usize;
        let control = self.slots[image(part.item)] as usize;
        let state = row[part.control as usize];
        into[control] = part.controls.map_or(state, |first| self.values[image(first + state)]);
        let between = (part.cells - part.control) as usize;
        let cells = control + between;
        // A priority lies between.
        for offset in 1..between {
            into[control + offset] = row[part.control as usize + offset];
        }
        let from = part.cells as usize;
        for (at, lookup) in lookups[between..].iter().enumerate() {
            let to = if part.cells_move { self.slots[image(part.first_cell + at as u32)] as usize } else { at };
            let (value, into) = (&row[from + at..][..1], &mut into[cells + to..][..1]);
            self.write(renamed, std::slice::from_ref(lookup), value, into);
        }
    }
}
