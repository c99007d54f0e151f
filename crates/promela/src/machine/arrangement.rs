//! Where the parts of a state lie in a row.
//!
//! A row contains the number of processes; `_last` and the state of a `trace`, where the model has them; the global
//! cells; the contents of the global channels; and for each *position* (the process with that number) its type, its
//! control state, its priority where the model uses priorities, its cells and the contents of its own channels. A
//! channel is its length and then its messages; unused slots are zero. A rendezvous channel holds nothing between two
//! steps and has no slots. The slots above the youngest process are zero. So two rows are equal exactly when Spin's
//! state vectors are.
//!
//! The types of the processes at each position are not known before the search, because a model creates processes while
//! it runs. An arrangement has room for some types at each position. A machine that needs more reports it, and the
//! search restarts with an arrangement that has room for the missing type ([`Arrangement::with`]); most models need two
//! or three short attempts.
//!
//! Channels have Spin's numbers: global ones first, then those of the processes, oldest first; 0 is no channel.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_system::{Layout, Slot, Values};

use crate::program::{Cell, ChannelKind, ProcessTypeId, Program, Sort};

use super::moves::Code;

/// The slot of the number of processes.
pub(crate) const COUNT: usize = 0;

/// A channel's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    /// The slot of its length; the messages follow.
    pub(crate) slot: u32,
    pub(crate) capacity: u32,
    /// An index into [`Arrangement::kinds`].
    pub(crate) kind: u32,
    /// How many fields a message has.
    pub(crate) fields: u32,
    /// The position it belongs to; none for a global one.
    pub(crate) position: Option<u8>,
}

/// The slots of a process.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// The slot of its type; its control state is the next one.
    pub(crate) base: u32,
    pub(crate) types: Vec<ProcessTypeId>,
    pub(crate) width: u32,
}

/// How a process type lies behind the base of its position.
#[derive(Clone, Debug)]
pub(crate) struct TypeShape {
    /// Where its cells begin.
    pub(crate) cells: u32,
    /// Where each of its channels begins, and its kind.
    pub(crate) queues: Vec<(u32, u32)>,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    pub(crate) layout: Layout,
    pub(crate) last: Option<u32>,
    pub(crate) event: Option<u32>,
    /// The slot of each global cell; hidden ones lie behind the row.
    pub(crate) globals: Vec<u32>,
    pub(crate) queues: Vec<Queue>,
    pub(crate) kinds: Vec<ChannelKind>,
    pub(crate) positions: Vec<Position>,
    pub(crate) shapes: Vec<TypeShape>,
    /// Slots behind the row, for hidden cells.
    pub(crate) hidden: usize,
    /// Channels of all positions by number, when each position has one type only.
    pub(crate) fixed: Option<Vec<Queue>>,
    pub(crate) priority: bool,
    /// The statements of the program for this arrangement.
    pub(crate) code: Arc<Code>,
    /// Do processes stay at their ends forever?
    pub(crate) keeps_processes: bool,
}

/// The largest number of values that a slot's declaration can name.
fn values(sort: Sort) -> Option<u32> {
    if sort.bits() < 32 { Some(1 << sort.bits()) } else { None }
}

fn slot(name: String, values: Option<u32>) -> Slot {
    match values {
        Some(values) => Slot::bounded(name, values),
        None => Slot::word(name),
    }
}

impl Arrangement {
    /// An arrangement with room for these types at these positions.
    pub(crate) fn with(program: &Program, wanted: &BTreeSet<(u8, ProcessTypeId)>) -> Arrangement {
        let mut slots: Vec<Slot> = Vec::new();
        let mut kinds: Vec<ChannelKind> = program.globals.channels.clone();
        let count = wanted.iter().map(|(position, _)| usize::from(*position) + 1).max().unwrap_or(0);
        slots.push(slot("_nr_pr".into(), Some(count as u32 + 1)));
        let add = |slots: &mut Vec<Slot>, name: &str, values: u32| {
            slots.push(slot(name.into(), Some(values)));
            slots.len() as u32 - 1
        };
        let last = program.uses_last.then(|| add(&mut slots, "_last", 256));
        let event =
            program.trace.as_ref().map(|trace| add(&mut slots, "_event", trace.automaton.transitions.len() as u32));
        let mut globals = Vec::new();
        for cell in &program.globals.cells {
            globals.push(if cell.hidden { u32::MAX } else { slots.len() as u32 });
            if !cell.hidden {
                slots.push(slot(cell.name.clone(), values(cell.sort)));
            }
        }
        let mut queues = Vec::new();
        for (index, kind) in program.globals.channels.iter().enumerate() {
            queues.push(Queue {
                slot: slots.len() as u32,
                capacity: kind.capacity,
                kind: index as u32,
                fields: kind.fields.len() as u32,
                position: None,
            });
            slots.extend(channel_slots(kind, ""));
        }
        let priority = program.uses_priority;
        let mut shapes = Vec::new();
        for process in &program.processes {
            let cells = 2 + u32::from(priority);
            let mut width = cells + process.frame.cells.len() as u32;
            let mut own = Vec::new();
            for kind in &process.frame.channels {
                own.push((width, kinds.len() as u32));
                width += channel_width(kind);
                kinds.push(kind.clone());
            }
            shapes.push(TypeShape { cells, queues: own });
        }
        let mut positions: Vec<Position> = Vec::new();
        for number in 0..count {
            let types: Vec<ProcessTypeId> = wanted
                .iter()
                .filter(|(position, _)| usize::from(*position) == number)
                .map(|(_, process)| *process)
                .collect();
            let base = slots.len() as u32;
            let own = position_slots(program, number, &types, priority);
            positions.push(Position { base, types, width: own.len() as u32 });
            slots.extend(own);
        }
        let (width, mut parts) = (slots.len(), vec![0]);
        parts.extend(queues.iter().filter(|queue| queue.capacity > 0).map(|queue| queue.slot as usize));
        parts.extend(positions.iter().map(|position| position.base as usize));
        parts.dedup();
        let mut hidden = 0;
        for place in globals.iter_mut().filter(|place| **place == u32::MAX) {
            *place = (width + hidden) as u32;
            hidden += 1;
        }
        let single = positions.iter().all(|position| position.types.len() == 1);
        let mut arrangement = Arrangement {
            layout: Layout::new(slots).with_parts(parts),
            last,
            event,
            globals,
            queues,
            kinds,
            positions,
            shapes,
            hidden,
            fixed: None,
            priority,
            code: Arc::default(),
            keeps_processes: false,
        };
        if single {
            let mut fixed = arrangement.queues.clone();
            for (number, position) in arrangement.positions.iter().enumerate() {
                fixed.extend(arrangement.queues_at(number, position.types[0]));
            }
            arrangement.fixed = Some(fixed);
        }
        arrangement.code = Arc::new(Code::new(program, &arrangement));
        arrangement
    }

    /// The channels of a process of this type at this position.
    pub(crate) fn queues_at(&self, position: usize, process: ProcessTypeId) -> impl Iterator<Item = Queue> + '_ {
        let base = self.positions[position].base;
        self.shapes[usize::from(process)].queues.iter().map(move |&(offset, kind)| Queue {
            slot: base + offset,
            capacity: self.kinds[kind as usize].capacity,
            kind,
            fields: self.kinds[kind as usize].fields.len() as u32,
            position: Some(position as u8),
        })
    }

    /// Are the slots of a channel never those of anything else?
    pub(crate) fn is_plain(&self, queue: &Queue) -> bool {
        queue.position.is_none_or(|position| self.positions[usize::from(position)].types.len() == 1)
    }

    /// The capacities of the channels that have their slots for themselves, by the slots of their lengths.
    pub(crate) fn capacities(&self) -> HashMap<u32, u32> {
        let positions = self.positions.iter().enumerate().filter(|(_, place)| place.types.len() == 1);
        let own = positions.flat_map(|(number, place)| self.queues_at(number, place.types[0]));
        let holding = self.queues.iter().copied().chain(own).filter(|queue| queue.capacity > 0);
        holding.map(|queue| (queue.slot, queue.capacity)).collect()
    }

    /// The slots of a position that belong to no channel, whichever type stands there.
    pub(crate) fn frame(&self, position: usize) -> std::ops::Range<usize> {
        let place = &self.positions[position];
        let end = |kind: &ProcessTypeId| {
            self.shapes[usize::from(*kind)].queues.first().map_or(place.width, |&(offset, _)| offset)
        };
        let width = place.types.iter().map(end).min().unwrap_or(0);
        place.base as usize..(place.base + width) as usize
    }

    /// How many slots a row has.
    pub(crate) fn width(&self) -> usize {
        self.layout.width()
    }
}

fn channel_width(kind: &ChannelKind) -> u32 {
    if kind.capacity == 0 { 0 } else { 1 + kind.capacity * kind.fields.len() as u32 }
}

fn channel_slots(kind: &ChannelKind, owner: &str) -> Vec<Slot> {
    if kind.capacity == 0 {
        return Vec::new();
    }
    let mut slots = vec![slot(format!("{owner}len({})", kind.name), Some(kind.capacity + 1))];
    for message in 0..kind.capacity {
        for (field, sort) in kind.fields.iter().enumerate() {
            slots.push(slot(format!("{owner}{}[{message}].{field}", kind.name), values(*sort)));
        }
    }
    slots
}

/// The slots of a position: for each, as many values as any of the types needs.
fn position_slots(program: &Program, number: usize, types: &[ProcessTypeId], priority: bool) -> Vec<Slot> {
    let mut slots: Vec<Slot> = vec![slot(format!("type of {number}"), Some(types.len().max(1) as u32))];
    for &process in types {
        let process = &program.processes[usize::from(process)];
        let owner = format!("{}({number}):", process.name);
        let mut own = vec![slot(format!("{owner}pc"), Some(process.transitions.len() as u32))];
        if priority {
            own.push(slot(format!("{owner}_priority"), Some(256)));
        }
        own.extend(
            process.frame.cells.iter().map(|Cell { name, sort, .. }| slot(format!("{owner}{name}"), values(*sort))),
        );
        own.extend(process.frame.channels.iter().flat_map(|kind| channel_slots(kind, &owner)));
        for (at, own) in own.into_iter().enumerate() {
            match slots.get_mut(at + 1) {
                None => slots.push(own),
                Some(shared) => {
                    shared.values = match (shared.values.count(), own.values.count()) {
                        (Some(one), Some(other)) => Values::Below(one.max(other)),
                        _ => Values::Word,
                    };
                    shared.name = format!("{}|{}", shared.name, own.name);
                }
            }
        }
    }
    slots
}
