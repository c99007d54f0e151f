//! The action of the symmetry group on the rows of a model.
//!
//! The image of an item follows from the images of its keys ([`super::points`]); [`super::rows`] permutes a row;
//! [`super::pictures`] draws a row.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use trefoil_control::Control;
use trefoil_system::{Action, Actor, Cut, Label, LabelId, Picture, System, Value, Walk};

use super::items::{Item, ItemId, Items};
use super::pictures::{Changed, Colours, Drawing};
use super::points::{Keys, Points};
use super::rows::{Lookup, Rows};
use super::sheets::{Memory, Purpose, Sheets};
use crate::machine::Model;
use crate::walk::written_globals;

/// The action of a group on the rows of a model.
pub(crate) struct ModelAction {
    model: Arc<Model>,
    pub(super) items: Items,
    pub(super) points: Points,
    names: Vec<String>,
    pub(super) rows: Rows,
    pub(super) sheets: Sheets,
    colours: RwLock<HashMap<Vec<u32>, u32>>,
    slots: Vec<Role>,
    /// Is what becomes of a slot known without looking at others?
    slot_by_slot: bool,
}

/// The contents of a slot.
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

impl ModelAction {
    pub(super) fn new(
        model: Arc<Model>,
        items: Items,
        points: Points,
        names: Vec<String>,
        mut rows: Rows,
    ) -> ModelAction {
        let constant = constant_slots(&model, items.len(), &points, &rows);
        rows.leave_out(|slot| constant[slot as usize]);
        let sheets = Sheets::new(&rows, &points, model.layout().width());
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
            sheets,
            colours: RwLock::default(),
        };
        action.assign_roles();
        action
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

/// The slots of global variables that no statement writes and whose values no element of the group changes, such as
/// those of an array of channels.
fn constant_slots(model: &Model, items: usize, points: &Points, rows: &Rows) -> Vec<bool> {
    let initial = model.first_row().to_vec();
    let mut constant = vec![false; initial.len()];
    let written = written_globals(&model.program);
    for (&slot, _) in model.arrangement.globals.iter().zip(written).filter(|(_, written)| !written) {
        constant[slot as usize] = true;
    }
    let mut images: Vec<ItemId> = (0..items as ItemId).collect();
    let (mut row, mut renamed) = (initial.clone(), Vec::new());
    for generator in &points.generators {
        points.images_into(generator, &mut images);
        rows.rename(&images, &mut renamed);
        rows.apply(&images, &renamed, &initial, &mut row);
        for (constant, (old, new)) in constant.iter_mut().zip(initial.iter().zip(&row)) {
            *constant &= old == new;
        }
    }
    // What is done to one is done to all that it is carried to, so that they are drawn alike.
    let slot_of: HashMap<ItemId, usize> = rows.globals.iter().map(|part| (part.cell, part.slot as usize)).collect();
    for orbit in &points.orbits {
        let slots: Vec<usize> = orbit.iter().filter_map(|item| slot_of.get(item).copied()).collect();
        let all = slots.iter().all(|&slot| constant[slot]);
        slots.into_iter().for_each(|slot| constant[slot] = all);
    }
    constant
}

impl Action for ModelAction {
    fn points(&self) -> usize {
        self.points.items.len()
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.points.generators
    }

    fn agents(&self) -> usize {
        self.items.processes() as usize
    }

    fn describe_point(&self, point: u32) -> String {
        self.names[point as usize].clone()
    }

    fn actor<'a>(&'a self, _: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(ModelActor {
            action: self,
            images: (0..self.items.len() as ItemId).collect(),
            renamed: Vec::new(),
            memory: Memory::new(&self.sheets),
            colours: Colours::default(),
            changed: Vec::new(),
            begun: Drawing::default(),
            other: Drawing::default(),
        })
    }
}

pub(super) struct ModelActor<'a> {
    pub(super) action: &'a ModelAction,
    images: Vec<ItemId>,
    renamed: Vec<Value>,
    pub(super) memory: Memory,
    pub(super) colours: Colours,
    /// The sheets that a step changes.
    pub(super) changed: Vec<Changed>,
    /// The row from which others differ little, and another one.
    begun: Drawing,
    other: Drawing,
}

impl ModelActor<'_> {
    fn image(&self, element: &[u32], item: ItemId) -> ItemId {
        self.action.points.image(element, item)
    }

    /// Forgets what was drawn when it has become much.
    fn forget_much(&mut self) {
        if self.memory.forget_much() {
            (self.begun, self.other) = (Drawing::default(), Drawing::default());
        }
    }
}

impl Actor for ModelActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.forget_much();
        let mut drawing = std::mem::take(&mut self.other);
        self.draw(Purpose::Other, row, &mut drawing, picture);
        self.other = drawing;
    }

    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.forget_much();
        let mut drawing = std::mem::take(&mut self.begun);
        self.draw(Purpose::Begun, row, &mut drawing, picture);
        self.begun = drawing;
    }

    fn draw_change(
        &mut self,
        _from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        let drawing = std::mem::take(&mut self.begun);
        let is_drawn = self.draw_difference(&drawing, to, slots, before, after);
        self.begun = drawing;
        is_drawn
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        if element.iter().zip(0..).all(|(&image, point)| image == point) {
            into.copy_from_slice(row);
            return Ok(());
        }
        self.action.points.images_into(element, &mut self.images);
        self.action.rows.rename(&self.images, &mut self.renamed);
        self.action.rows.apply(&self.images, &self.renamed, row, into);
        Ok(())
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

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
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
        Ok((to as usize, value))
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        let action = self.action;
        let model = &action.model;
        let base = match model.fault(label) {
            None => label,
            Some(_) => {
                let known = model.labels().get(label);
                let mut arguments = known.arguments().to_vec();
                arguments.pop();
                model.labels().intern(Label::of(known.name().unwrap_or_default(), arguments))
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

    fn apply_to_agent(&mut self, element: &[u32], agent: u32) -> u32 {
        if agent >= self.action.items.processes() {
            return agent;
        }
        self.action.items.value_of(self.image(element, self.action.items.process(agent))) as u32
    }
}
