//! The group of a model's symmetries at work on its rows.
//!
//! Where an item goes follows from where its keys go ([`super::points`]); what that does to a row is in [`super::rows`]; how a row is drawn is in
//! [`super::pictures`].

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use trefoil_system::{Action, Actor, Label, LabelId, Picture, System, Value};

use super::items::{Item, ItemId, Items};
use super::pictures::{Content, FIRST_LABEL};
use super::points::{Keys, Points};
use super::rows::{Lookup, Rows};
use crate::machine::Model;

/// The action of a group on the rows of a model.
pub(crate) struct ModelAction {
    model: Arc<Model>,
    items: Items,
    pub(super) points: Points,
    names: Vec<String>,
    pub(super) rows: Rows,
    /// What is drawn, orbit by orbit: each with the number of the orbit and the first label of its edges.
    pub(super) moved: Vec<(u32, u32, Drawn)>,
    /// What is not moved.
    pub(super) still: Vec<Drawn>,
    /// Cells of processes that are moved inside their frames: the part, the cell and the orbit of the cell.
    pub(super) cells: Vec<(u32, u32, u32)>,
    colours: RwLock<Words>,
    slots: Vec<Role>,
    /// Is what becomes of a slot known without looking at others?
    slot_by_slot: bool,
}

pub(super) type Words = HashMap<Vec<u32>, u32, BuildHasherDefault<WordHasher>>;

/// A part of a row, by its number among the parts of its sort.
#[derive(Clone, Copy)]
pub(super) enum Drawn {
    Global(u32),
    Process(u32),
    Channel(u32),
}

/// What is in a slot.
#[derive(Clone, Copy, Default)]
struct Role {
    /// What moves it: a process, channel or global cell; and a cell of a process.
    owner: Option<ItemId>,
    cell: Option<ItemId>,
    /// Where the owner lies, and how far behind that the slot is.
    offset: u32,
    lookup: Lookup,
    controls: Option<ItemId>,
    /// Where the slots of the owner begin when it is not moved.
    base: u32,
}

/// Quick and plain; the words are not chosen by an enemy.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

impl ModelAction {
    pub(super) fn new(model: Arc<Model>, items: Items, points: Points, names: Vec<String>, rows: Rows) -> ModelAction {
        let mut action = ModelAction {
            slots: Vec::new(),
            slot_by_slot: !points.orbits.iter().flatten().any(|&item| {
                matches!(items.item(item), Item::Process(_) | Item::Channel(_) | Item::Own(..))
                    && items.value_of(item) == 0
            }),
            model,
            items,
            points,
            names,
            rows,
            moved: Vec::new(),
            still: Vec::new(),
            cells: Vec::new(),
            colours: RwLock::default(),
        };
        action.arrange();
        action.assign_roles();
        action
    }

    /// Puts the parts in the order in which they are drawn.
    fn arrange(&mut self) {
        let mut part_of: HashMap<ItemId, Drawn> = HashMap::new();
        part_of.extend((0..).zip(&self.rows.globals).map(|(at, part)| (part.cell, Drawn::Global(at))));
        part_of.extend((0..).zip(&self.rows.processes).map(|(at, part)| (part.item, Drawn::Process(at))));
        part_of.extend((0..).zip(&self.rows.channels).map(|(at, part)| (part.item, Drawn::Channel(at))));
        let mut label = FIRST_LABEL;
        for (number, orbit) in (0..).zip(&self.points.orbits) {
            let parts: Vec<Drawn> = orbit.iter().filter_map(|item| part_of.get(item).copied()).collect();
            self.moved.extend(parts.iter().map(|&part| (number, label, part)));
            label += match parts.first() {
                None => 0,
                Some(Drawn::Global(_)) => 1,
                Some(Drawn::Process(at)) => {
                    1 + self.rows.processes[*at as usize].lookups.iter().flatten().count() as u32
                }
                Some(Drawn::Channel(at)) => {
                    let part = &self.rows.channels[*at as usize];
                    part.capacity * part.lookups.iter().flatten().count() as u32
                }
            };
        }
        let is_still = |item: ItemId| self.points.keys(item).is_none();
        let still = (0..).zip(&self.rows.globals).filter(|(_, part)| is_still(part.cell));
        self.still.extend(still.map(|(at, _)| Drawn::Global(at)));
        let still = (0..).zip(&self.rows.processes).filter(|(_, part)| is_still(part.item));
        self.still.extend(still.map(|(at, _)| Drawn::Process(at)));
        let still = (0..).zip(&self.rows.channels).filter(|(_, part)| is_still(part.item));
        self.still.extend(still.map(|(at, _)| Drawn::Channel(at)));
        for (at, part) in (0..).zip(&self.rows.processes).filter(|(_, part)| part.cells_move) {
            for cell in 0..part.lookups.len() as u32 {
                let item = part.first_cell + cell;
                let orbit = self.points.orbits.iter().position(|orbit| orbit.contains(&item));
                self.cells.extend(orbit.map(|orbit| (at, cell, orbit as u32)));
            }
        }
    }

    fn assign_roles(&mut self) {
        self.slots = vec![Role::default(); self.model.layout().width()];
        let moved = |item: ItemId| self.points.keys(item).is_some().then_some(item);
        for part in &self.rows.globals {
            self.slots[part.slot as usize] =
                Role { owner: moved(part.cell), lookup: part.lookup, base: part.slot, ..Role::default() };
        }
        for part in &self.rows.processes {
            let owner = moved(part.item);
            for slot in part.control..part.cells + part.lookups.len() as u32 {
                let mut role = Role { owner, offset: slot - part.control, base: part.control, ..Role::default() };
                if slot == part.control {
                    role.controls = part.controls;
                } else if slot >= part.cells {
                    role.lookup = part.lookups[(slot - part.cells) as usize];
                    let item = part.first_cell + (slot - part.cells);
                    if let Some(item) = moved(item) {
                        role.cell = Some(item);
                        role.offset = part.cells - part.control;
                    }
                }
                self.slots[slot as usize] = role;
            }
        }
        for part in &self.rows.channels {
            let owner = moved(part.item);
            let fields = part.lookups.len() as u32;
            for offset in 0..=part.capacity * fields {
                let lookup = if offset == 0 { None } else { part.lookups[((offset - 1) % fields) as usize] };
                self.slots[(part.slot + offset) as usize] =
                    Role { owner, offset, lookup, base: part.slot, ..Role::default() };
            }
        }
        if let Some(last) = self.rows.last {
            // Its values are positions.
            self.slot_by_slot = false;
            self.slots[last as usize] = Role::default();
        }
    }

    /// The orbits of the control states of each process type: statements that stand for each other.
    pub(super) fn control_orbits(&self) -> Vec<Vec<(u16, u32)>> {
        let state = |&item: &ItemId| match self.items.item(item) {
            Item::Control(kind, state) => Some((kind, state)),
            _ => None,
        };
        let orbits = self.points.orbits.iter().map(|orbit| orbit.iter().filter_map(state).collect::<Vec<_>>());
        orbits.filter(|orbit| !orbit.is_empty()).collect()
    }

    /// The positions to which a process can be carried.
    pub(super) fn together(&self, position: u32) -> Vec<u32> {
        let item = self.items.process(position);
        let orbit = self.points.orbits.iter().find(|orbit| orbit.contains(&item));
        orbit.map_or_else(
            || vec![position],
            |orbit| orbit.iter().map(|&item| self.items.value_of(item) as u32).collect(),
        )
    }

    /// An element that carries the process at one position to another to which it can be carried.
    pub(super) fn carrying(&self, from: u32, to: u32) -> Vec<u32> {
        let mut elements: HashMap<u32, Vec<u32>> = HashMap::from([(from, (0..self.names.len() as u32).collect())]);
        let mut work = std::collections::VecDeque::from([from]);
        while let Some(position) = work.pop_front() {
            for generator in &self.points.generators {
                let image = self.points.image(generator, self.items.process(position));
                if !elements.contains_key(&image) {
                    let mut element = elements[&position].clone();
                    trefoil_groups::follow(&mut element, generator);
                    elements.insert(image, element);
                    work.push_back(image);
                }
            }
        }
        elements.remove(&to).unwrap_or_else(|| (0..self.names.len() as u32).collect())
    }

    pub(super) fn number_of(&self, words: &[u32]) -> u32 {
        if let Some(&known) = self.colours.read().unwrap_or_else(PoisonError::into_inner).get(words) {
            return known;
        }
        let mut colours = self.colours.write().unwrap_or_else(PoisonError::into_inner);
        let next = colours.len() as u32 + 1;
        *colours.entry(words.to_vec()).or_insert(next)
    }
}

impl Action for ModelAction {
    fn points(&self) -> usize {
        self.points.items.len()
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.points.generators
    }

    fn describe_point(&self, point: u32) -> String {
        self.names[point as usize].clone()
    }

    fn actor(&self) -> Box<dyn Actor + '_> {
        Box::new(ModelActor {
            action: self,
            images: (0..self.items.len() as ItemId).collect(),
            words: vec![Vec::new(); self.points.items.len()],
            content: Content::default(),
            known: Words::default(),
        })
    }
}

pub(super) struct ModelActor<'a> {
    pub(super) action: &'a ModelAction,
    images: Vec<ItemId>,
    /// What makes the colour of each point.
    pub(super) words: Vec<Vec<u32>>,
    pub(super) content: Content,
    pub(super) known: Words,
}

impl ModelActor<'_> {
    fn image(&self, element: &[u32], item: ItemId) -> ItemId {
        self.action.points.image(element, item)
    }
}

impl Actor for ModelActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        picture.clear(self.words.len());
        self.words.iter_mut().for_each(Vec::clear);
        self.draw_moved(row, picture);
        self.draw_cells(row, picture);
        self.draw_still(row, picture);
        for point in 0..self.words.len() {
            let words = std::mem::take(&mut self.words[point]);
            let colour = self.colour(&words);
            self.words[point] = words;
            picture.set_colour(point as u32, colour);
        }
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) {
        self.action.points.images_into(element, &mut self.images);
        self.action.rows.apply(&self.images, row, into);
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        let action = self.action;
        if !action.slot_by_slot {
            return false;
        }
        let role = &action.slots[slot];
        let control = role.controls.map(|first| first + value);
        for item in [role.owner, role.cell, action.rows.item(role.lookup, value), control].into_iter().flatten() {
            match action.points.keys(item) {
                None => {}
                Some(Keys::Points(keys)) => points.push(keys[0]),
                Some(Keys::Pairs(pairs)) => points.extend([pairs[0].0, pairs[0].1]),
            }
        }
        true
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> (usize, Value) {
        let action = self.action;
        let role = &action.slots[slot];
        let base = role.owner.map_or(role.base, |owner| action.rows.slot_of(self.image(element, owner)));
        let cell = role.cell.map_or(0, |cell| action.rows.slot_of(self.image(element, cell)));
        let to = if role.owner.is_none() && role.cell.is_none() { slot as u32 } else { base + role.offset + cell };
        let value = match (role.controls, action.rows.item(role.lookup, value)) {
            (Some(first), _) => action.items.value_of(self.image(element, first + value)) as u32,
            (None, Some(item)) => action.items.value_of(self.image(element, item)) as u32,
            (None, None) => value,
        };
        (to as usize, value)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        let action = self.action;
        let model = &action.model;
        let base = match model.fault(label) {
            None => label,
            Some(_) => {
                let Label { name, arguments } = model.labels().get(label).clone();
                let mut arguments = arguments.into_vec();
                arguments.pop();
                model.labels().intern(Label { name, arguments: arguments.into_boxed_slice() })
            }
        };
        let Some((position, kind, state, index)) = model.transition_named(base) else { return label };
        let position = self.image(element, action.items.process(position as u32));
        let state = action.items.value_of(self.image(element, action.items.control(kind, state))) as u32;
        let image = model.label_of(position as usize, kind, state, index).unwrap_or(base);
        match model.fault(label) {
            None => image,
            Some(fault) => model.fault_label(image, fault),
        }
    }
}
