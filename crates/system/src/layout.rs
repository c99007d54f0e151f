//! The shape of a state: a row of typed slots.

/// What a slot holds: a number below the slot's number of values.
pub type Value = u32;

/// One slot of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What a person calls it.
    pub name: String,
    /// How many values it can take, when that is known before exploring; a store packs it into as many bits.
    pub values: Option<u32>,
    /// Does a value mean the same on every machine? If not, it is a number in a table that can be exchanged.
    pub portable: bool,
}

impl Slot {
    /// A portable slot with a known number of values.
    pub fn bounded(name: impl Into<String>, values: u32) -> Slot {
        Slot { name: name.into(), values: Some(values), portable: true }
    }

    /// A slot whose values are numbered as they are found.
    pub fn discovered(name: impl Into<String>) -> Slot {
        Slot { name: name.into(), values: None, portable: false }
    }
}

/// The slots of a row, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    parts: Vec<usize>,
}

impl Layout {
    /// A layout of these slots.
    pub fn new(slots: Vec<Slot>) -> Layout {
        Layout { slots, parts: Vec::new() }
    }

    /// The same, with the slots where its parts begin, ascending: states of such a system have many values of parts in common (the variables
    /// of a process, the contents of a channel), and a store can share them.
    pub fn with_parts(self, parts: Vec<usize>) -> Layout {
        Layout { parts, ..self }
    }

    /// Where its parts begin; nothing when it is not known to have any.
    pub fn parts(&self) -> &[usize] {
        &self.parts
    }

    /// The slots in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// How many slots a row has.
    pub fn width(&self) -> usize {
        self.slots.len()
    }
}

/// A set of slots of one layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet {
    sorted: Box<[u32]>,
}

impl SlotSet {
    /// Is the slot in the set?
    pub fn contains(&self, slot: usize) -> bool {
        self.sorted.binary_search(&(slot as u32)).is_ok()
    }

    /// The slots, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.sorted.iter().map(|&slot| slot as usize)
    }
}

impl FromIterator<usize> for SlotSet {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> SlotSet {
        let mut sorted: Vec<u32> = slots.into_iter().map(|slot| slot as u32).collect();
        sorted.sort_unstable();
        sorted.dedup();
        SlotSet { sorted: sorted.into_boxed_slice() }
    }
}
