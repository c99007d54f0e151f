//! Whether a permutation of the items is a symmetry of the model: a direct check, independent of its origin.
//!
//! A permutation is accepted if
//!
//! 1. it fixes the items that cannot be moved, and maps each item to one of the same sort: a process to one of the same
//!    type, a channel to one with the same capacity and fields and with the right owner, a variable to one of the same
//!    width and class;
//! 2. indexing an array commutes with it: the element at the renamed indices is the image of the element;
//! 3. the constant value of an expression for a process is mapped to the constant value of the image of the expression
//!    for the image of the process ([`super::constants`]);
//! 4. cutting a value to the width of a variable commutes with it;
//! 5. it fixes the states of the start-up (restriction 2 of Donaldson, Miller and Calder, *Finding symmetry in models
//!    of concurrent systems by static channel diagram analysis*, 2005);
//! 6. the transitions of a control state, renamed, are those of the image of the control state (restriction 1), in any
//!    order where the order is irrelevant;
//! 7. the events that a trace declaration watches, renamed, are those that it watches ([`super::events`]).
//!
//! Then it maps every step of the model to a step of the model. For a state behind the start-up: by induction over
//! expressions, the value of a renamed expression in the image of a state is the image of its value (1 to 4 and the
//! classes of values, see [`super::terms`]). So a statement is enabled in a state exactly when its image is enabled,
//! for the image of the process, in the image of the state, and its effect there is the image of its effect here. By 6
//! each process has the images of statements as its own; the transitions that are tried before (`unless`, `else`) are
//! the images of those tried before. Atomic sequences and rendezvous consist of such statements. A state of the
//! start-up before the last has one successor, and both are fixed (5).
//!
//! Permutations with these properties form a group, so it is enough to check generators.

use std::collections::HashMap;

use trefoil_system::System;

use super::Reason;
use super::classes::{Class, Classes, Domain, cut};
use super::constants::Constants;
use super::events::Event;
use super::items::{Item, ItemId, Items};
use super::rows::{MOST_VALUES, Rows};
use super::startup::Settled;
use super::terms::{Known, Terms};
use crate::program::{ProcessTypeId, Program};

/// Everything that a permutation must keep.
pub(super) struct Proof<'a> {
    pub(super) program: &'a Program,
    pub(super) settled: &'a Settled,
    pub(super) classes: &'a Classes,
    pub(super) items: &'a Items,
    pub(super) terms: &'a Terms,
    pub(super) constants: &'a Constants<'a>,
    /// Applies a permutation to rows.
    pub(super) rows: &'a Rows,
}

/// Words of a transition, with what else it is.
type Written = (u32, Vec<u32>, bool, u32, u32);

impl Proof<'_> {
    /// Is it a symmetry? Otherwise the reason.
    pub(super) fn check(&self, images: &[ItemId]) -> Result<(), Reason> {
        self.sorts(images)?;
        self.facts(images)?;
        self.arrays(images)?;
        self.widths(images)?;
        self.start(images)?;
        self.code(images)?;
        self.events(images)
    }

    fn sorts(&self, images: &[ItemId]) -> Result<(), Reason> {
        let different = || Reason::at(None, "the permutation exchanges items of different sorts");
        let mut hit = vec![false; images.len()];
        for (item, &image) in (0..).zip(images) {
            if std::mem::replace(&mut hit[image as usize], true) {
                return Err(different());
            }
            if image == item {
                continue;
            }
            if let Some(reason) = self.terms.fixed.get(&item) {
                return Err(reason.clone());
            }
            if !self.alike(images, self.items.item(item), self.items.item(image)) {
                return Err(different());
            }
        }
        // What a class says about the messages of its channels is true of each of them.
        for (class, fields) in &self.classes.fields {
            for value in &self.classes.values[class] {
                if let Some(kind) = self.settled.model.channel_kind_of(*value)
                    && self.domains(&self.classes.field[kind]) != self.domains(fields)
                {
                    return Err(Reason::at(None, "one variable holds channels with different message types"));
                }
            }
        }
        Ok(())
    }

    fn alike(&self, images: &[ItemId], one: Item, other: Item) -> bool {
        match (one, other) {
            (Item::Process(one), Item::Process(other)) => {
                self.settled.types[one as usize] == self.settled.types[other as usize]
            }
            (Item::Channel(one), Item::Channel(other)) => {
                let channels = self.settled.model.channels();
                let (one, other) = (&channels[one as usize - 1], &channels[other as usize - 1]);
                let kinds = self.settled.model.channel_kinds();
                let owner = one.position.map(|position| images[self.items.process(u32::from(position)) as usize] as u8);
                one.capacity == other.capacity
                    && kinds[one.kind as usize].fields == kinds[other.kind as usize].fields
                    && self.domains(&self.classes.field[one.kind as usize])
                        == self.domains(&self.classes.field[other.kind as usize])
                    && owner == other.position
            }
            (Item::Own(one, from), Item::Own(other, to)) => {
                let small = |value: i32| usize::try_from(value).is_ok_and(|value| value < MOST_VALUES);
                one == other && small(from) && small(to)
            }
            (Item::Control(one, from), Item::Control(other, to)) => {
                let process = &self.program.processes[usize::from(one)];
                let of = |state: u32| {
                    let state = state as usize;
                    (process.valid_end[state], process.progress[state], process.accepting[state])
                };
                one == other && of(from) == of(to)
            }
            (Item::Local(one, from), Item::Local(other, to)) => {
                let of = |cell: u32| {
                    let kind = usize::from(one);
                    (
                        self.program.processes[kind].frame.cells[cell as usize].sort,
                        self.classes.domain[self.classes.local[kind][cell as usize] as usize],
                    )
                };
                one == other && of(from) == of(to)
            }
            (Item::Global(from), Item::Global(to)) => {
                let of = |cell: u32| {
                    let declared = &self.program.globals.cells[cell as usize];
                    (declared.sort, declared.hidden, self.classes.domain[self.classes.global[cell as usize] as usize])
                };
                of(from) == of(to)
            }
            (Item::Fact(one), Item::Fact(other)) => {
                let of = |fact: u32| {
                    let domain = self.classes.domain[self.classes.fact[fact as usize] as usize];
                    (self.constants.facts[fact as usize].kind, domain)
                };
                of(one) == of(other)
            }
            (Item::Array(one), Item::Array(other)) => {
                let (one, other) = (&self.items.arrays[one as usize], &self.items.arrays[other as usize]);
                one.frame == other.frame && one.indices == other.indices
            }
            _ => false,
        }
    }

    fn domains(&self, classes: &[Class]) -> Vec<Domain> {
        classes.iter().map(|&class| self.classes.domain[class as usize]).collect()
    }

    fn arrays(&self, images: &[ItemId]) -> Result<(), Reason> {
        for (item, &image) in (0..).zip(images) {
            let (Item::Array(one), Item::Array(other)) = (self.items.item(item), self.items.item(image)) else {
                continue;
            };
            let (one, other) = (&self.items.arrays[one as usize], &self.items.arrays[other as usize]);
            for (tuple, cell) in one.elements() {
                let mut wanted = other.base;
                let mut inside = true;
                for (&value, &(length, stride, domain)) in tuple.iter().zip(&one.indices) {
                    let renamed = self.items.renamed(images, domain, value as i32);
                    inside &= u32::try_from(renamed).is_ok_and(|renamed| renamed < length);
                    wanted = wanted.wrapping_add((renamed as u32).wrapping_mul(stride));
                }
                if !inside || images[self.items.cell(one.frame, cell) as usize] != self.items.cell(one.frame, wanted) {
                    return Err(Reason::at(
                        None,
                        format!("the elements of `{}` are not alike", self.cell_name(one, cell)),
                    ));
                }
            }
        }
        Ok(())
    }

    fn cell_name(&self, array: &super::items::Array, cell: u32) -> &str {
        match array.frame {
            None => &self.program.globals.cells[cell as usize].name,
            Some(kind) => &self.program.processes[usize::from(kind)].frame.cells[cell as usize].name,
        }
    }

    fn facts(&self, images: &[ItemId]) -> Result<(), Reason> {
        for (number, fact) in (0..).zip(&self.constants.facts) {
            let Item::Fact(other) = self.items.item(images[self.items.fact(number) as usize]) else {
                return Err(Reason::at(Some(fact.span), "the permutation changes the expression here"));
            };
            let domain = self.classes.domain[self.classes.fact[number as usize] as usize];
            let there: HashMap<u32, i32> = self.constants.facts[other as usize].values.iter().copied().collect();
            for &(position, value) in &fact.values {
                let image = images[self.items.process(position) as usize];
                let wanted = self.items.renamed(images, domain, value);
                match there.get(&image) {
                    Some(&found) if found == wanted => {}
                    found => {
                        let found = found.map_or_else(|| "nothing".to_string(), i32::to_string);
                        let name = |item| super::name(self.program, self.settled, self.items, item);
                        let why = format!(
                            "the expression here is {value} for {} and {found} for {}",
                            name(position),
                            name(image)
                        );
                        return Err(Reason::at(Some(fact.span), why));
                    }
                }
            }
        }
        Ok(())
    }

    fn widths(&self, images: &[ItemId]) -> Result<(), Reason> {
        for (class, sorts) in &self.classes.sorts {
            let domain = self.classes.domain[*class as usize];
            let mut values: Vec<i32> = self.classes.values[class].iter().copied().collect();
            match domain {
                Domain::Plain => continue,
                // Those of the types whose `_pid` comes here.
                Domain::Process => values.extend((0..).zip(&self.settled.types).filter_map(|(position, &kind)| {
                    let here = self.classes.pid[usize::from(kind)] == *class || self.classes.last == *class;
                    here.then_some(position)
                })),
                Domain::Channel => values.extend(1..=self.items.channels() as i32),
                Domain::Own(_) => {}
            }
            for &sort in sorts {
                let commutes = |value: &i32| {
                    let renamed = self.items.renamed(images, domain, *value);
                    cut(renamed, sort) == self.items.renamed(images, domain, cut(*value, sort))
                };
                if !values.iter().all(commutes) {
                    return Err(Reason::at(None, "a variable is too narrow for the values that it identifies"));
                }
            }
        }
        Ok(())
    }

    fn start(&self, images: &[ItemId]) -> Result<(), Reason> {
        let model = &self.settled.model;
        let (mut image, mut renamed) = (vec![0; model.layout().width()], Vec::new());
        self.rows.rename(images, &mut renamed);
        let choices = &self.settled.layers[self.settled.layers.len() - self.settled.choices..];
        for row in &self.settled.layers {
            self.rows.apply(images, &renamed, row, &mut image);
            if choices.len() > 1 && choices.contains(row) {
                if !choices.contains(&image) {
                    return Err(Reason::at(None, "the states in which all processes have started are not symmetric"));
                }
                continue;
            }
            if let Some(slot) = (0..image.len()).find(|&slot| image[slot] != row[slot]) {
                let name = &model.layout().slots()[slot].name;
                let why = format!("the initial value of `{name}` is not symmetric: {} here", row[slot]);
                return Err(Reason::at(None, why));
            }
        }
        // Hidden variables have their initial values in every step.
        let values = model.global_values(&self.settled.layers[0]);
        for (cell, declared) in (0..).zip(&self.program.globals.cells) {
            let Item::Global(to) = self.items.item(images[self.items.global(cell) as usize]) else { continue };
            let domain = self.classes.domain[self.classes.global[cell as usize] as usize];
            let renamed = self.items.renamed(images, domain, declared.sort.read(values[cell as usize]));
            if declared.hidden && renamed != declared.sort.read(values[to as usize]) {
                return Err(Reason::at(Some(declared.span), "the initial value of a hidden variable is not symmetric"));
            }
        }
        Ok(())
    }

    fn code(&self, images: &[ItemId]) -> Result<(), Reason> {
        for (kind, states) in self.terms.transitions.iter().enumerate() {
            let process = &self.program.processes[kind];
            let kind = kind as ProcessTypeId;
            if let Some(provided) = &self.terms.provided[usize::from(kind)] {
                let (mut own, mut renamed) = (Vec::new(), Vec::new());
                provided.write(None, &mut own);
                provided.write(Some(images), &mut renamed);
                if own != renamed {
                    return Err(Reason::at(Some(process.span), "the `provided` clause is not symmetric"));
                }
            }
            for (state, transitions) in (0..).zip(states) {
                if !self.settled.reachable[usize::from(kind)][state as usize] {
                    continue;
                }
                let Item::Control(_, image) = self.items.item(images[self.items.control(kind, state) as usize]) else {
                    return Err(Reason::at(None, "the permutation changes a control state"));
                };
                let there = &states[image as usize];
                let mut wanted: Vec<Written> = there.iter().map(|known| self.written(kind, known, None)).collect();
                wanted.sort_unstable();
                for known in transitions {
                    let renamed = self.written(kind, known, Some(images));
                    match wanted.binary_search(&renamed) {
                        Ok(found) => {
                            wanted.remove(found);
                        }
                        Err(_) => {
                            let statement = &process.statements[known.statement as usize];
                            let why = format!("no statement is the image of `{}`", statement.text);
                            return Err(Reason::at(Some(statement.span), why));
                        }
                    }
                }
                if let Some(known) = there.first().filter(|_| !wanted.is_empty()) {
                    let statement = &process.statements[known.statement as usize];
                    let why = format!("no statement maps to a statement beside `{}`", statement.text);
                    return Err(Reason::at(Some(statement.span), why));
                }
            }
        }
        Ok(())
    }

    fn events(&self, images: &[ItemId]) -> Result<(), Reason> {
        let Some(watched) = &self.terms.watched else { return Ok(()) };
        let written = |events: &[Event], images: Option<&[ItemId]>| {
            let mut all: Vec<(u32, Vec<u32>, u32)> = Vec::new();
            for event in events {
                let mut words = Vec::new();
                event.term.write(images, &mut words);
                all.push((event.block, words, event.target));
            }
            all.sort_unstable();
            all
        };
        match watched.states.iter().find(|events| written(events, None) != written(events, Some(images))) {
            None => Ok(()),
            Some(_) => Err(Reason::at(Some(watched.span), "the watched events are not symmetric")),
        }
    }

    fn written(&self, kind: ProcessTypeId, known: &Known, images: Option<&[ItemId]>) -> Written {
        let mut words = Vec::new();
        known.term.write(images, &mut words);
        let state = |state: u32| {
            let item = self.items.control(kind, state);
            images.map_or(item, |images| images[item as usize])
        };
        let escape = if known.escape == 0 { 0 } else { state(known.escape) + 1 };
        (known.block, words, known.atomic, state(known.target), escape)
    }
}
