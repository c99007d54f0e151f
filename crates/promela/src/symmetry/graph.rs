//! The program and its start-up as one coloured graph, whose automorphisms are its symmetries.
//!
//! Donaldson, Miller and Calder (*Finding symmetry in models of concurrent systems by static channel diagram analysis*,
//! 2005) propose the automorphisms of the static channel diagram and drop the generators that violate their
//! restrictions. Here the graph contains the restrictions: besides processes and channels it has the values, the
//! variables, the control states, the states of the start-up, and the term of every statement. A permutation of the
//! items that keeps all this extends to an automorphism, and the restriction of an automorphism to the items keeps all
//! this. So the result is the largest group, and no generator is dropped that a conjugate or coset would have saved. It
//! is still only a proposal; [`super::proof`] checks each generator without this graph.
//!
//! Items without a use (an unused variable, a value that never occurs) could be exchanged freely without any effect;
//! they get colours of their own. So do statements that are equal word by word.

use std::collections::{BTreeMap, HashMap};

use trefoil_control::{Control, Stopped};
use trefoil_groups::{ColouredGraph, automorphisms};

use super::classes::{Class, Classes, Domain};
use super::constants::Constants;
use super::items::{Item, ItemId, Items};
use super::startup::Settled;
use super::terms::{Term, Terms};
use crate::program::{ProcessTypeId, Program};

/// The largest graph that is made.
const MOST_VERTICES: usize = 400_000;

struct Drawing<'a> {
    program: &'a Program,
    settled: &'a Settled,
    classes: &'a Classes,
    items: &'a Items,
    terms: &'a Terms,
    constants: &'a Constants<'a>,
    graph: ColouredGraph,
    colours: HashMap<Vec<i64>, u32>,
    labels: HashMap<Vec<i64>, u32>,
    /// The parts of the colour of an item.
    described: Vec<Vec<i64>>,
    /// Is anything drawn at the item?
    touched: Vec<bool>,
    /// The values of the global variables in the states of the start-up.
    held: Vec<Vec<ItemId>>,
}

/// Permutations of the items that generate the symmetries, as images; nothing when the program is too large.
pub(super) fn symmetries(
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    items: &Items,
    terms: &Terms,
    constants: &Constants<'_>,
    control: &Control,
) -> Result<Option<Vec<Vec<ItemId>>>, Stopped> {
    let mut drawing = Drawing {
        program,
        settled,
        classes,
        items,
        terms,
        constants,
        graph: ColouredGraph::new(items.len()),
        colours: HashMap::new(),
        labels: HashMap::new(),
        described: vec![Vec::new(); items.len()],
        touched: vec![false; items.len()],
        held: vec![Vec::new(); program.globals.cells.len()],
    };
    if drawing.expected_size() > MOST_VERTICES {
        return Ok(None);
    }
    drawing.describe_items();
    drawing.draw_start();
    drawing.draw_facts();
    drawing.draw_arrays();
    drawing.draw_code();
    drawing.draw_events();
    drawing.colour_items();
    let found = automorphisms(&drawing.graph, control)?;
    let mut all = Vec::new();
    for generator in &found.generators {
        let mut images: Vec<ItemId> = (0..items.len() as ItemId).collect();
        for &(from, to) in generator.moves() {
            if (from as usize) < images.len() {
                images[from as usize] = to;
            }
        }
        if images.iter().zip(0..).any(|(&image, item)| image != item) {
            all.push(images);
        }
    }
    Ok(Some(all))
}

fn word(domain: Domain) -> i64 {
    match domain {
        Domain::Plain => -1,
        Domain::Process => -2,
        Domain::Channel => -3,
        Domain::Own(class) => i64::from(class),
    }
}

impl Drawing<'_> {
    fn domain(&self, class: Class) -> i64 {
        word(self.classes.domain[class as usize])
    }

    fn expected_size(&self) -> usize {
        let elements: usize = self
            .items
            .arrays
            .iter()
            .map(|array| array.indices.iter().fold(1usize, |size, &(length, ..)| size.saturating_mul(length as usize)))
            .fold(0, usize::saturating_add);
        let cells: usize =
            self.settled.types.iter().map(|&kind| self.program.processes[usize::from(kind)].frame.cells.len()).sum();
        let facts: usize = self.constants.facts.iter().map(|fact| fact.values.len()).sum();
        elements.saturating_add(cells).saturating_add(facts).saturating_add(self.items.len())
    }

    fn colour(&mut self, words: Vec<i64>) -> u32 {
        let next = self.colours.len() as u32;
        *self.colours.entry(words).or_insert(next)
    }

    fn vertex(&mut self, words: Vec<i64>) -> u32 {
        let colour = self.colour(words);
        self.graph.add_vertex(colour)
    }

    fn arc(&mut self, from: u32, to: u32, words: &[i64]) {
        let next = self.labels.len() as u32;
        let label = *self.labels.entry(words.to_vec()).or_insert(next);
        for end in [from, to] {
            if let Some(touched) = self.touched.get_mut(end as usize) {
                *touched = true;
            }
        }
        self.graph.add_arc(from, to, label);
    }

    fn describe_items(&mut self) {
        let model = &self.settled.model;
        let sort =
            |sort: crate::program::Sort| i64::from(sort.mask()) << 1 | i64::from(sort == crate::program::Sort::Short);
        for (id, &item) in (0u32..).zip(self.items.all()) {
            let words = match item {
                Item::Process(position) => vec![1, i64::from(self.settled.types[position as usize])],
                Item::Channel(number) => {
                    let queue = &model.channels()[number as usize - 1];
                    let kind = &model.channel_kinds()[queue.kind as usize];
                    let mut words = vec![2, i64::from(queue.capacity), i64::from(queue.position.is_some())];
                    words.extend(kind.fields.iter().map(|&field| sort(field)));
                    words.extend(self.classes.field[queue.kind as usize].iter().map(|&class| self.domain(class)));
                    words
                }
                Item::Own(class, _) => vec![3, i64::from(class)],
                Item::Control(kind, state) => {
                    let process = &self.program.processes[usize::from(kind)];
                    let state = state as usize;
                    let marks = [process.valid_end[state], process.progress[state], process.accepting[state]];
                    let mut words = vec![4, i64::from(kind)];
                    words.extend(marks.map(i64::from));
                    if !self.settled.reachable[usize::from(kind)][state] {
                        words.push(i64::from(id));
                    }
                    words
                }
                Item::Local(kind, cell) => {
                    let declared = &self.program.processes[usize::from(kind)].frame.cells[cell as usize];
                    let class = self.classes.local[usize::from(kind)][cell as usize];
                    vec![5, i64::from(kind), sort(declared.sort), self.domain(class)]
                }
                Item::Global(cell) => {
                    let declared = &self.program.globals.cells[cell as usize];
                    let class = self.classes.global[cell as usize];
                    vec![6, sort(declared.sort), self.domain(class), i64::from(declared.hidden)]
                }
                Item::Fact(fact) => {
                    let kind = self.constants.facts[fact as usize].kind;
                    vec![13, i64::from(kind), self.domain(self.classes.fact[fact as usize])]
                }
                Item::Array(array) => {
                    let array = &self.items.arrays[array as usize];
                    let mut words = vec![7, array.frame.map_or(-1, i64::from)];
                    for &(length, stride, domain) in &array.indices {
                        words.extend([i64::from(length), i64::from(stride), word(domain)]);
                    }
                    words
                }
            };
            self.described[id as usize] = words;
        }
    }

    fn colour_items(&mut self) {
        let mut alike: HashMap<(Vec<i64>, Vec<ItemId>), i64> = HashMap::new();
        for (id, item) in (0u32..).zip(self.items.all()) {
            let mut words = std::mem::take(&mut self.described[id as usize]);
            let named = self.terms.named.get(id as usize).copied().unwrap_or(false);
            let mut unnamed = matches!(item, Item::Local(..)) && !named;
            if let (Item::Global(cell), false) = (item, named) {
                // It moves with what it holds; others that hold the same do not take its place.
                let held = self.held[*cell as usize].clone();
                unnamed = held.is_empty();
                let number = alike.entry((words.clone(), held)).or_insert(0);
                words.extend([-8, *number]);
                *number += 1;
            }
            if unnamed || !self.touched[id as usize] || self.terms.fixed.contains_key(&id) {
                words.extend([-9, i64::from(id)]);
            }
            let colour = self.colour(words);
            self.graph.set_colour(id, colour);
        }
    }

    /// A stored value: an arc to the item that it identifies, or a word for the colour.
    fn holds(&mut self, holder: u32, domain: Domain, value: i32, label: &[i64]) -> i64 {
        match self.items.of_value(domain, value) {
            Some(item) => {
                self.arc(holder, item, label);
                -1
            }
            None => i64::from(value) << 1 | 1 << 40,
        }
    }

    fn draw_start(&mut self) {
        let (program, settled, classes, items) = (self.program, self.settled, self.classes, self.items);
        let model = &settled.model;
        let mut cells: Vec<Vec<u32>> = Vec::new();
        let mut words_of: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for (position, &kind) in (0u32..).zip(&settled.types) {
            let mut own = Vec::new();
            for cell in 0..program.processes[usize::from(kind)].frame.cells.len() as u32 {
                let vertex = self.graph.add_vertex(0);
                self.arc(vertex, items.process(position), &[1]);
                self.arc(vertex, items.local(kind, cell), &[2]);
                words_of.insert(vertex, vec![8]);
                own.push(vertex);
            }
            cells.push(own);
        }
        for (number, queue) in (1u32..).zip(model.channels()) {
            if let Some(position) = queue.position {
                self.arc(items.channel(number), items.process(u32::from(position)), &[3]);
            }
        }
        let first = settled.layers.len() - settled.choices;
        let choices = &settled.layers[first..];
        for (layer, row) in (0i64..).zip(&settled.layers[..=first]) {
            // What is not the same in all states that the start-up may end in is left to the proof.
            let others = if layer as usize == first { choices } else { &[] };
            let globals: Vec<Vec<u32>> = others.iter().map(|other| model.global_values(other)).collect();
            for (cell, value) in (0u32..).zip(model.global_values(row)) {
                if globals.iter().any(|other| other[cell as usize] != value) {
                    continue;
                }
                let domain = classes.domain[classes.global[cell as usize] as usize];
                let value = program.globals.cells[cell as usize].sort.read(value);
                let holder = items.global(cell);
                let item = items.of_value(domain, value);
                let touched = item.map(|item| self.touched[item as usize]);
                let word = self.holds(holder, domain, value, &[4, layer]);
                self.described[holder as usize].push(word);
                self.held[cell as usize].extend(item);
                // A value that only an unused variable holds is not used either.
                if let (Some(item), Some(touched), false) = (item, touched, self.terms.named[holder as usize]) {
                    self.touched[item as usize] = touched;
                }
            }
            let types = model.types_of(row);
            for (position, &kind) in (0u32..).zip(&types) {
                let process = items.process(position);
                self.described[process as usize].push(layer);
                let state = model.control_of(row, position as usize);
                if others.iter().all(|other| model.control_of(other, position as usize) == state) {
                    self.arc(process, items.control(kind, state), &[5, layer]);
                }
                let priority = model.priority_in(row, position as usize);
                self.described[process as usize].push(i64::from(priority));
                let locals: Vec<Vec<u32>> =
                    others.iter().map(|other| model.local_values(other, position as usize)).collect();
                for (cell, value) in model.local_values(row, position as usize).into_iter().enumerate() {
                    if locals.iter().any(|other| other[cell] != value) {
                        continue;
                    }
                    let domain = classes.domain[classes.local[usize::from(kind)][cell] as usize];
                    let value = program.processes[usize::from(kind)].frame.cells[cell].sort.read(value);
                    let vertex = cells[position as usize][cell];
                    let word = self.holds(vertex, domain, value, &[4, layer]);
                    words_of.entry(vertex).or_default().extend([layer, word]);
                }
            }
            for (number, queue) in (1u32..).zip(model.channels()) {
                let absent = queue.position.is_some_and(|position| usize::from(position) >= types.len());
                if queue.capacity == 0 || absent {
                    continue;
                }
                let channel = items.channel(number);
                let kind = queue.kind as usize;
                let messages = model.messages_in(row, queue);
                if others.iter().any(|other| model.messages_in(other, queue) != messages) {
                    continue;
                }
                for (at, fields) in (0i64..).zip(messages) {
                    for (field, value) in fields.into_iter().enumerate() {
                        let domain = classes.domain[classes.field[kind][field] as usize];
                        let word = self.holds(channel, domain, value, &[6, layer, at, field as i64]);
                        self.described[channel as usize].extend([layer, at, word]);
                    }
                }
            }
            if let Some(position) = model.last_in(row)
                && position < items.processes()
                && others.iter().all(|other| model.last_in(other) == Some(position))
            {
                self.described[items.process(position) as usize].extend([-7, layer]);
            }
        }
        for (vertex, words) in words_of {
            let colour = self.colour(words);
            self.graph.set_colour(vertex, colour);
        }
    }

    fn draw_facts(&mut self) {
        let (constants, items) = (self.constants, self.items);
        for (number, fact) in (0..).zip(&constants.facts) {
            let domain = self.classes.domain[self.classes.fact[number as usize] as usize];
            for &(position, value) in &fact.values {
                let vertex = self.graph.add_vertex(0);
                self.arc(vertex, items.process(position), &[1]);
                self.arc(vertex, items.fact(number), &[16]);
                let word = self.holds(vertex, domain, value, &[17]);
                let colour = self.colour(vec![14, word]);
                self.graph.set_colour(vertex, colour);
            }
        }
    }

    fn draw_arrays(&mut self) {
        let items = self.items;
        for (id, item) in (0u32..).zip(items.all()) {
            let Item::Array(number) = *item else { continue };
            let array = &items.arrays[number as usize];
            for (tuple, cell) in array.elements() {
                let mut words = vec![12];
                let mut values = Vec::new();
                for (at, (&value, &(_, _, domain))) in (0i64..).zip(tuple.iter().zip(&array.indices)) {
                    match items.of_value(domain, value as i32) {
                        Some(value) => values.push((at, value)),
                        None => words.extend([at, i64::from(value)]),
                    }
                }
                let vertex = self.vertex(words);
                self.arc(vertex, id, &[7]);
                self.arc(vertex, items.cell(array.frame, cell), &[8]);
                for (at, value) in values {
                    // Being an index of some array does not make a value one that occurs.
                    let touched = self.touched[value as usize];
                    self.arc(vertex, value, &[9, at]);
                    self.touched[value as usize] = touched;
                }
            }
        }
    }

    fn draw_code(&mut self) {
        let (terms, items) = (self.terms, self.items);
        for (kind, states) in terms.transitions.iter().enumerate() {
            let kind = kind as ProcessTypeId;
            if let Some(provided) = &terms.provided[usize::from(kind)] {
                let vertex = self.vertex(vec![11, i64::from(kind)]);
                self.draw_term(provided, vertex, &[10]);
            }
            for (state, transitions) in (0u32..).zip(states) {
                let mut seen: HashMap<(u32, Vec<u32>), i64> = HashMap::new();
                for known in transitions {
                    let mut words = Vec::new();
                    known.term.write(None, &mut words);
                    let equal = seen.entry((known.block, words)).or_insert(0);
                    *equal += 1;
                    let vertex = vec![9, i64::from(known.atomic), *equal];
                    let vertex = self.vertex(vertex);
                    self.arc(items.control(kind, state), vertex, &[11, i64::from(known.block)]);
                    self.arc(vertex, items.control(kind, known.target), &[12]);
                    if known.escape != 0 {
                        self.arc(vertex, items.control(kind, known.escape), &[13]);
                    }
                    self.draw_term(&known.term, vertex, &[10]);
                }
            }
        }
    }

    fn draw_events(&mut self) {
        let Some(watched) = &self.terms.watched else { return };
        for (state, events) in (0i64..).zip(&watched.states) {
            for event in events {
                let vertex = self.vertex(vec![15, state, i64::from(event.target), i64::from(event.block)]);
                self.draw_term(&event.term, vertex, &[10]);
            }
        }
    }

    fn draw_term(&mut self, term: &Term, above: u32, label: &[i64]) {
        match term {
            Term::Item(item) => self.arc(above, *item, label),
            Term::Node { mark, ordered, below } => {
                let vertex = self.vertex(vec![10, i64::from(*mark)]);
                self.arc(above, vertex, label);
                for (at, term) in (0i64..).zip(below) {
                    let label = if *ordered { [14, at] } else { [15, 0] };
                    self.draw_term(term, vertex, &label);
                }
            }
        }
    }
}
