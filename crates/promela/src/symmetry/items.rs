//! Everything that a symmetry can move, numbered: processes, channels, values, control states, variables.
//!
//! A symmetry is a permutation of these items, kept as the image of each. It determines the image of a state: the
//! process at a position moves to the image of the position with all its contents, the value of a variable moves to the
//! image of the variable, and a value that identifies an item becomes the image of the item.

use std::collections::BTreeMap;

use super::classes::{Class, Classes, Domain};
use super::startup::Settled;
use crate::program::{ProcessTypeId, Program};

/// The number of an item.
pub(super) type ItemId = u32;

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// The process at a position.
    Process(u32),
    /// A channel, by its number, which is not 0.
    Channel(u32),
    /// A value of a class of the model's own.
    Own(Class, i32),
    /// A control state of a process type.
    Control(ProcessTypeId, u32),
    /// A cell of the frame of a process type.
    Local(ProcessTypeId, u32),
    /// A global cell.
    Global(u32),
    /// What a process type always sees in an expression.
    Fact(u32),
    /// A way to look at cells by indices.
    Array(u32),
}

/// Cells that are looked at by indices: the cell of a tuple is the base and the strides times the indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Array {
    /// The process type whose frame it is; none for the globals.
    pub(super) frame: Option<ProcessTypeId>,
    pub(super) base: u32,
    /// Length and stride of each index, and what its values stand for.
    pub(super) indices: Vec<(u32, u32, Domain)>,
}

impl Array {
    /// Every tuple of indices with its cell.
    pub(super) fn elements(&self) -> Vec<(Vec<u32>, u32)> {
        let mut all = vec![(Vec::new(), self.base)];
        for &(length, stride, _) in &self.indices {
            let before = std::mem::take(&mut all);
            for (tuple, cell) in before {
                for value in 0..length {
                    let mut tuple = tuple.clone();
                    tuple.push(value);
                    all.push((tuple, cell + value * stride));
                }
            }
        }
        all
    }
}

/// The items of a program.
#[derive(Clone)]
pub(super) struct Items {
    list: Vec<Item>,
    processes: u32,
    channels: u32,
    own: BTreeMap<(Class, i32), ItemId>,
    control: Vec<ItemId>,
    local: Vec<ItemId>,
    global: ItemId,
    first_fact: ItemId,
    first_array: ItemId,
    pub(super) arrays: Vec<Array>,
}

impl Items {
    pub(super) fn new(program: &Program, settled: &Settled, classes: &Classes) -> Items {
        let processes = settled.types.len() as u32;
        let channels = settled.model.channel_count() as u32;
        let mut list: Vec<Item> = (0..processes).map(Item::Process).collect();
        list.extend((1..=channels).map(Item::Channel));
        let mut own = BTreeMap::new();
        for (&class, values) in &classes.values {
            if matches!(classes.domain[class as usize], Domain::Own(_)) {
                for &value in values {
                    own.insert((class, value), list.len() as ItemId);
                    list.push(Item::Own(class, value));
                }
            }
        }
        let (mut control, mut local) = (Vec::new(), Vec::new());
        for (kind, process) in program.processes.iter().enumerate() {
            let kind = kind as ProcessTypeId;
            control.push(list.len() as ItemId);
            list.extend((0..process.transitions.len() as u32).map(|state| Item::Control(kind, state)));
            local.push(list.len() as ItemId);
            list.extend((0..process.frame.cells.len() as u32).map(|cell| Item::Local(kind, cell)));
        }
        let global = list.len() as ItemId;
        list.extend((0..program.globals.cells.len() as u32).map(Item::Global));
        let first_fact = list.len() as ItemId;
        list.extend((0..classes.fact.len() as u32).map(Item::Fact));
        let first_array = list.len() as ItemId;
        Items { list, processes, channels, own, control, local, global, first_fact, first_array, arrays: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn all(&self) -> &[Item] {
        &self.list
    }

    pub(super) fn item(&self, id: ItemId) -> Item {
        self.list[id as usize]
    }

    pub(super) fn processes(&self) -> u32 {
        self.processes
    }

    pub(super) fn channels(&self) -> u32 {
        self.channels
    }

    pub(super) fn process(&self, position: u32) -> ItemId {
        position
    }

    /// The channel of a number, which is not 0.
    pub(super) fn channel(&self, number: u32) -> ItemId {
        self.processes + number - 1
    }

    pub(super) fn control(&self, kind: ProcessTypeId, state: u32) -> ItemId {
        self.control[usize::from(kind)] + state
    }

    pub(super) fn local(&self, kind: ProcessTypeId, cell: u32) -> ItemId {
        self.local[usize::from(kind)] + cell
    }

    pub(super) fn global(&self, cell: u32) -> ItemId {
        self.global + cell
    }

    pub(super) fn fact(&self, fact: u32) -> ItemId {
        self.first_fact + fact
    }

    /// A cell of a frame.
    pub(super) fn cell(&self, frame: Option<ProcessTypeId>, cell: u32) -> ItemId {
        frame.map_or_else(|| self.global(cell), |kind| self.local(kind, cell))
    }

    /// The item that a value stands for; none when it stands for itself.
    pub(super) fn of_value(&self, domain: Domain, value: i32) -> Option<ItemId> {
        match domain {
            Domain::Plain => None,
            Domain::Process => u32::try_from(value).ok().filter(|&value| value < self.processes),
            Domain::Channel => u32::try_from(value)
                .ok()
                .filter(|&value| (1..=self.channels).contains(&value))
                .map(|value| self.channel(value)),
            Domain::Own(class) => self.own.get(&(class, value)).copied(),
        }
    }

    /// The value that stands for an item.
    pub(super) fn value_of(&self, id: ItemId) -> i32 {
        match self.list[id as usize] {
            Item::Process(position) => position as i32,
            Item::Channel(number) => number as i32,
            Item::Own(_, value) => value,
            Item::Control(_, state) => state as i32,
            Item::Local(_, cell) | Item::Global(cell) | Item::Fact(cell) | Item::Array(cell) => cell as i32,
        }
    }

    /// The image of a value under a permutation of the items.
    pub(super) fn renamed(&self, images: &[ItemId], domain: Domain, value: i32) -> i32 {
        self.of_value(domain, value).map_or(value, |item| self.value_of(images[item as usize]))
    }

    /// The item of an array, which is made when it is new.
    pub(super) fn array(&mut self, array: Array) -> ItemId {
        let known = self.arrays.iter().position(|known| *known == array).unwrap_or_else(|| {
            self.list.push(Item::Array(self.arrays.len() as u32));
            self.arrays.push(array);
            self.arrays.len() - 1
        });
        self.first_array + known as ItemId
    }
}
