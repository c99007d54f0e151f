//! What a group of proved symmetries does to the rows and labels of a network.
//!
//! An element of the group is known by the points that it permutes; what it does to a slot is in [`References`] over
//! the components (and the format, which is one more machine), what it does to a label in references over the labels.
//! Neither applying nor drawing allocates. A component whose states are found while it runs has a network inside, on
//! whose rows the group acts in the same way; the image of a row that was not found yet gets a number then.

use std::fmt;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::references::{self, Map, References};
use trefoil_system::{Action, Actor, Cut, LabelId, Picture, System, Value, Walk};

use super::drawing::{Canvas, Drawing};
use super::exchanges::with_components;
use super::{Candidate, Image, relabelled};
use crate::lazy::LazyMachine;
use crate::network::Network;
use crate::rules::Behaviour;

/// Why proved symmetries do not make an action, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    words: String,
    ambiguous: bool,
}

impl Refusal {
    fn plain(words: String) -> Refusal {
        Refusal { words, ambiguous: false }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Refusal {}

/// The action of a group on a network.
pub struct NetworkAction {
    names: Vec<String>,
    generators: Vec<Vec<u32>>,
    labels: References,
    canvas: Canvas,
    rows: Rows,
}

/// The action on the rows of a network, or of one inside a component.
struct Rows {
    slots: References,
    drawing: Drawing,
    /// Slots that some element moves or changes.
    moving: Vec<u32>,
    /// Slots with a network inside.
    lazy: Vec<(u32, Arc<LazyMachine>, Rows)>,
    width: usize,
}

impl NetworkAction {
    /// The action of the group that these generators generate, each with the image that was proved for it. The points
    /// have these names. Where the image of indistinguishable components depends on how an element is composed, the
    /// components that are moved become points too, after the given ones.
    ///
    /// # Panics
    ///
    /// When a generator does not permute as many points as there are names, or an image is not one of this network.
    pub fn new(
        network: &Network,
        mut names: Vec<String>,
        generators: &[(Candidate, Image)],
        control: &Control,
    ) -> Result<Result<NetworkAction, Refusal>, Stopped> {
        let refusal = match NetworkAction::on_points(network, names.clone(), generators, control)? {
            Err(refusal) if refusal.ambiguous => refusal,
            other => return Ok(other),
        };
        let moved: Vec<u32> = (0..network.components().len() as u32)
            .filter(|&component| generators.iter().any(|(_, image)| image.components[component as usize] != component))
            .collect();
        let extended = with_components(generators, &moved, names.len(), control)?;
        names.extend(moved.iter().map(|&component| network.components()[component as usize].name.clone()));
        let action = NetworkAction::on_points(network, names, &extended, control)?;
        Ok(action.map_err(|_| refusal))
    }

    /// The same, on these points and no others.
    pub(super) fn on_points(
        network: &Network,
        names: Vec<String>,
        generators: &[(Candidate, Image)],
        control: &Control,
    ) -> Result<Result<NetworkAction, Refusal>, Stopped> {
        let points: Vec<Vec<u32>> = generators.iter().map(|(candidate, _)| candidate.points.clone()).collect();
        let table = network.labels().len();
        let map = |(candidate, _): &(Candidate, Image)| Map {
            machines: vec![0],
            states: vec![(0..table as u32).map(|label| relabelled(&candidate.labels, LabelId(label)).0).collect()],
        };
        let maps: Vec<Map> = generators.iter().map(map).collect();
        let labels = match References::new(names.len(), &points, &[table], &maps, control)? {
            Ok(labels) => labels,
            Err(refusal) => {
                let ambiguous = matches!(refusal, references::Refusal::Ambiguous { .. });
                return Ok(Err(Refusal { words: format!("the labels: {refusal}"), ambiguous }));
            }
        };
        drop(maps);
        let mut canvas = Canvas::new(orbits(names.len(), &points));
        let images: Vec<&Image> = generators.iter().map(|(_, image)| image).collect();
        let rows = Rows::new(network, names.len(), &points, &images, &mut canvas, control)?;
        Ok(rows.map(|rows| NetworkAction { names, generators: points, labels, canvas, rows }))
    }

    /// The references of the slots.
    pub fn slots(&self) -> &References {
        &self.rows.slots
    }

    /// The references of the labels, as the states of one machine.
    pub fn labels(&self) -> &References {
        &self.labels
    }
}

impl Rows {
    fn new(
        network: &Network,
        count: usize,
        points: &[Vec<u32>],
        images: &[&Image],
        canvas: &mut Canvas,
        control: &Control,
    ) -> Result<Result<Rows, Refusal>, Stopped> {
        let components = network.components().len();
        let initial = network.start();
        let several = initial.len() > components;
        let mut sizes: Vec<usize> = (0..components).map(|component| network.states_of(component)).collect();
        sizes.extend(several.then_some(network.formats().len()));
        let map = |image: &&Image| {
            let mut machines = image.components.clone();
            let mut states: Vec<Vec<u32>> = image.states.iter().map(|states| states.to_vec()).collect();
            if several {
                machines.push(components as u32);
                states.push(image.formats.clone());
            }
            Map { machines, states }
        };
        let maps: Vec<Map> = images.iter().map(map).collect();
        let slots = match References::new(count, points, &sizes, &maps, control)? {
            Ok(slots) => slots,
            Err(refusal) => {
                let name = |machine: u32| network.components().get(machine as usize).map(|c| c.name.as_str());
                return Ok(Err(in_words(&refusal, name)));
            }
        };
        drop(maps);
        let drawing = Drawing::new(&slots, canvas, &initial, control)?;
        let mut rows = Rows { slots, drawing, moving: Vec::new(), lazy: Vec::new(), width: initial.len() };
        for slot in 0..initial.len() {
            if let Some(Behaviour::Lazy(machine)) = network.components().get(slot).map(|component| &component.behaviour)
            {
                let inside = |image: &&Image| {
                    let of_slot = image.lazy.iter().find(|(component, _)| *component as usize == slot);
                    of_slot.map(|(_, inner)| inner.clone())
                };
                let inside: Option<Vec<Image>> = images.iter().map(inside).collect();
                let inside = inside.expect("an image has all networks inside");
                let inside: Vec<&Image> = inside.iter().collect();
                match Rows::new(machine.network(), count, points, &inside, canvas, control)? {
                    Ok(inner) => rows.lazy.push((slot as u32, machine.clone(), inner)),
                    Err(refusal) => return Ok(Err(refusal)),
                }
                continue;
            }
            let slot = slot as u32;
            let fixed = |state: u32| rows.slots.members(rows.slots.shape(slot, state)).len() == 1;
            if !(0..rows.slots.states(slot) as u32).all(fixed) {
                rows.moving.push(slot);
            }
        }
        Ok(Ok(rows))
    }

    fn scratch(&self) -> Vec<Scratch> {
        let inside = |(_, _, inner): &(u32, Arc<LazyMachine>, Rows)| Scratch {
            row: vec![0; inner.width],
            image: vec![0; inner.width],
            words: Vec::new(),
            inner: inner.scratch(),
        };
        self.lazy.iter().map(inside).collect()
    }

    fn draw(&self, row: &[Value], scratch: &mut [Scratch], picture: &mut Picture) {
        self.drawing.draw(&self.slots, row, picture);
        for ((slot, machine, inner), scratch) in self.lazy.iter().zip(scratch) {
            machine.row_into(row[*slot as usize], &mut scratch.row);
            inner.draw(&scratch.row, &mut scratch.inner, picture);
        }
    }

    fn apply(
        &self,
        element: &[u32],
        row: &[Value],
        into: &mut [Value],
        scratch: &mut [Scratch],
        control: &Control,
    ) -> Walk {
        // A state that refers to no moved point stays in place, and one that does goes to where such a state was.
        into.copy_from_slice(row);
        let moved = references::moved(element);
        for &slot in &self.moving {
            let state = row[slot as usize];
            if !self.slots.is_fixed(moved, slot, state) {
                let (to, state) = self.slots.apply(element, slot, state);
                into[to as usize] = state;
            }
        }
        for ((slot, machine, inner), scratch) in self.lazy.iter().zip(scratch) {
            let Scratch { row: inside, image, words, inner: scratch } = scratch;
            machine.row_into(row[*slot as usize], inside);
            inner.apply(element, inside, image, scratch, control)?;
            into[*slot as usize] = machine.number_of_settled(image, words, control)?;
        }
        Ok(())
    }
}

/// A thread's buffers for the network inside a component.
struct Scratch {
    row: Vec<Value>,
    image: Vec<Value>,
    words: Vec<u64>,
    inner: Vec<Scratch>,
}

fn in_words<'a>(refusal: &references::Refusal, name: impl Fn(u32) -> Option<&'a str>) -> Refusal {
    match refusal {
        references::Refusal::Ambiguous { machine, .. } => {
            let name = name(*machine).unwrap_or("the format");
            let words = format!("what a permutation does to {name} depends on how it is composed of the generators");
            Refusal { words, ambiguous: true }
        }
        other => Refusal::plain(other.to_string()),
    }
}

/// For each point the number of its orbit.
fn orbits(points: usize, generators: &[Vec<u32>]) -> Vec<u32> {
    let mut orbit_of = vec![u32::MAX; points];
    let mut count = 0;
    for start in 0..points {
        if orbit_of[start] != u32::MAX {
            continue;
        }
        let mut queue = vec![start];
        orbit_of[start] = count;
        while let Some(point) = queue.pop() {
            for generator in generators {
                let image = generator[point] as usize;
                if orbit_of[image] == u32::MAX {
                    orbit_of[image] = count;
                    queue.push(image);
                }
            }
        }
        count += 1;
    }
    orbit_of
}

impl Action for NetworkAction {
    fn points(&self) -> usize {
        self.names.len()
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.generators
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.canvas.colours(point)
    }

    fn describe_point(&self, point: u32) -> String {
        self.names[point as usize].clone()
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(NetworkActor { action: self, control, scratch: self.rows.scratch() })
    }
}

struct NetworkActor<'a> {
    action: &'a NetworkAction,
    control: &'a Control,
    /// For each lazy component.
    scratch: Vec<Scratch>,
}

impl Actor for NetworkActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.action.canvas.begin(picture);
        self.action.rows.draw(row, &mut self.scratch, picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        let NetworkAction { canvas, rows, .. } = self.action;
        if !rows.lazy.is_empty() {
            return false;
        }
        canvas.begin(picture);
        for &slot in slots {
            rows.drawing.draw_slot(&rows.slots, slot, row[slot as usize], picture);
        }
        true
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        self.action.rows.apply(element, row, into, &mut self.scratch, self.control)
    }

    #[inline]
    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        if !self.action.rows.lazy.is_empty() {
            return false;
        }
        let slots = &self.action.rows.slots;
        let arity = slots.blocks(slots.shape(slot as u32, value)).len();
        points.extend(slots.tuples(slot as u32, value)[..arity].iter().map(|&point| u32::from(point)));
        true
    }

    #[inline]
    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        let (slot, value) = self.action.rows.slots.apply(element, slot as u32, value);
        Ok((slot as usize, value))
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        if label.index() >= self.action.labels.states(0) {
            return label;
        }
        LabelId(self.action.labels.apply(element, 0, label.0).1)
    }
}
