//! The static channel diagram: which process uses which channel and which shared variable.
//!
//! After Donaldson, Miller and Calder, *Finding symmetry in models of concurrent systems by static channel diagram
//! analysis*, 2005: an arc leads from a process to a channel that it sends to, and from a channel to a process that
//! receives from it, if the channel of the statement is static for the process. A channel that arrives in a message is
//! not static and has no arc. Beyond the paper, shared variables are in the diagram; an array that processes index by
//! their identities is one variable for each of them.
//!
//! The diagram is made for users. Its automorphisms, variables aside, are the symmetries that a user expects. For each
//! one that the proof rejects, the report names the statement that breaks it.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_control::{Control, Stopped};
use trefoil_groups::{ColouredGraph, PermutationGroup, automorphisms};

use super::Reason;
use super::classes::{Classes, Domain};
use super::constants::Constants;
use super::items::{Item, ItemId, Items};
use super::startup::Settled;
use crate::program::{Action, ExpressionId, Node, ProcessTypeId, Program, Sort};
use crate::walk::{visit, written_by};

/// What a node of the diagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// A process.
    Process,
    /// A channel.
    Channel,
    /// A shared variable.
    Variable,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramNode {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
    /// What sort of process, channel or variable, in words.
    pub sort: String,
}

/// The static channel diagram of a model.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// Processes, then channels, then variables.
    pub nodes: Vec<DiagramNode>,
    /// From and to, by their places among the nodes. A process writes the targets of its arcs, and reads the sources of
    /// arcs to it.
    pub arcs: Vec<(usize, usize)>,
}

/// Draws the diagram.
pub(super) fn diagram(
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    items: &Items,
    constants: &Constants<'_>,
) -> Diagram {
    let mut survey = Survey {
        program,
        settled,
        classes,
        items,
        constants,
        variables: BTreeMap::new(),
        arcs: BTreeSet::new(),
        nodes: Vec::new(),
    };
    for item in 0..items.processes() + items.channels() {
        let name = super::name(program, settled, items, item);
        let node = match items.item(item) {
            Item::Process(position) => {
                let process = &program.processes[usize::from(settled.types[position as usize])];
                DiagramNode { name, kind: NodeKind::Process, sort: process.name.to_string() }
            }
            Item::Channel(number) => {
                let queue = &settled.model.channels()[number as usize - 1];
                let kind = &settled.model.channel_kinds()[queue.kind as usize];
                let fields: Vec<&str> = kind.fields.iter().map(|&field| sort_name(field)).collect();
                let sort = format!("[{}] of {{ {} }}", kind.capacity, fields.join(", "));
                DiagramNode { name, kind: NodeKind::Channel, sort }
            }
            _ => unreachable!("processes and channels come first"),
        };
        survey.nodes.push(node);
    }
    for (position, &kind) in settled.types.iter().enumerate() {
        survey.process(position, kind);
    }
    Diagram { nodes: survey.nodes, arcs: survey.arcs.into_iter().collect() }
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bits(1) | Sort::Bool => "bit",
        Sort::Bits(_) => "unsigned",
        Sort::Byte => "byte",
        Sort::Short => "short",
        Sort::Int => "int",
        Sort::Pid => "pid",
        Sort::Channel => "chan",
        Sort::Mtype(_) => "mtype",
    }
}

struct Survey<'a> {
    program: &'a Program,
    settled: &'a Settled,
    classes: &'a Classes,
    items: &'a Items,
    constants: &'a Constants<'a>,
    /// Nodes of variables by name.
    variables: BTreeMap<String, usize>,
    arcs: BTreeSet<(usize, usize)>,
    nodes: Vec<DiagramNode>,
}

impl Survey<'_> {
    fn process(&mut self, position: usize, kind: ProcessTypeId) {
        let program = self.program;
        for (state, transitions) in program.processes[usize::from(kind)].transitions.iter().enumerate() {
            for transition in transitions.iter().filter(|_| self.settled.reachable[usize::from(kind)][state]) {
                let mut work = vec![&*transition.action];
                while let Some(action) = work.pop() {
                    match action {
                        Action::Send(send) => self.uses(position, send.channel, true),
                        Action::Receive(receive) => self.uses(position, receive.channel, false),
                        Action::Indivisible(body) => work.extend(body.actions()),
                        _ => {}
                    }
                }
                for root in crate::walk::expressions_of(program, &transition.action) {
                    let mut reads = Vec::new();
                    visit(program, root, &mut |_, node| match node {
                        Node::Global(cell) => reads.push((cell, None)),
                        Node::Place(place) => {
                            let place = &program.places[place as usize];
                            if place.global {
                                reads.push((place.base, place.indices.first().map(|index| index.value)));
                            }
                        }
                        _ => {}
                    });
                    for (cell, index) in reads {
                        if let Some(node) = self.variable(cell, index, position) {
                            self.arcs.insert((node, position));
                        }
                    }
                }
                for place in written_by(&transition.action) {
                    let place = &program.places[place as usize];
                    if place.global && !place.scratch {
                        let index = place.indices.first().map(|index| index.value);
                        if let Some(node) = self.variable(place.base, index, position) {
                            self.arcs.insert((position, node));
                        }
                    }
                }
            }
        }
    }

    fn uses(&mut self, position: usize, channel: ExpressionId, sends: bool) {
        let Some(number) = self.constants.value_at(position, channel) else { return };
        if self.settled.model.channel_kind_of(number).is_some() {
            let channel = self.items.channel(number as u32) as usize;
            self.arcs.insert(if sends { (position, channel) } else { (channel, position) });
        }
    }

    /// The node of a global variable; an array has one for each element that a static index names.
    fn variable(&mut self, cell: u32, index: Option<ExpressionId>, position: usize) -> Option<usize> {
        let declared = &self.program.globals.cells[cell as usize];
        if self.classes.domain[self.classes.global[cell as usize] as usize] == Domain::Channel {
            return None;
        }
        let whole = declared.name.split(['[', '.']).next().unwrap_or_default();
        let name = match index.map(|index| self.constants.value_at(position, index)) {
            Some(Some(value)) => format!("{whole}[{value}]"),
            Some(None) => whole.to_string(),
            None => declared.name.clone(),
        };
        let sort = sort_name(declared.sort).to_string();
        let nodes = &mut self.nodes;
        Some(*self.variables.entry(name.clone()).or_insert_with(|| {
            nodes.push(DiagramNode { name, kind: NodeKind::Variable, sort });
            nodes.len() - 1
        }))
    }
}

/// The symmetries that the diagram suggests, as permutations of the items; they may be wrong.
pub(super) fn suggested(
    diagram: &Diagram,
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    items: &Items,
    control: &Control,
) -> Result<Vec<Vec<ItemId>>, Stopped> {
    // Without variables, as in the paper: how they are used is for the proof to say.
    let shown = (items.processes() + items.channels()) as usize;
    let mut graph = ColouredGraph::new(shown);
    let mut colours: BTreeMap<(NodeKind, String), u32> = BTreeMap::new();
    for (vertex, node) in (0..).zip(&diagram.nodes[..shown]) {
        let next = colours.len() as u32;
        graph.set_colour(vertex, *colours.entry((node.kind, node.sort.clone())).or_insert(next));
    }
    for &(from, to) in diagram.arcs.iter().filter(|&&(from, to)| from < shown && to < shown) {
        graph.add_arc(from as u32, to as u32, 0);
    }
    let mut all = Vec::new();
    for generator in automorphisms(&graph, control)?.generators {
        let mut images: Vec<ItemId> = (0..items.len() as ItemId).collect();
        for &(from, to) in generator.moves() {
            images[from as usize] = to;
        }
        if !images[..items.processes() as usize].iter().zip(0..).all(|(&image, item)| image == item) {
            extend(&mut images, program, settled, classes, items);
            all.push(images);
        }
    }
    Ok(all)
}

/// Lets values and variables move with the processes and channels.
fn extend(images: &mut [ItemId], program: &Program, settled: &Settled, classes: &Classes, items: &Items) {
    let Some(row) = settled.layers.last() else { return };
    let model = &settled.model;
    for (position, &kind) in settled.types.iter().enumerate() {
        let other = images[position] as usize;
        let (own, others) = (model.local_values(row, position), model.local_values(row, other));
        for (cell, (&value, &image)) in own.iter().zip(&others).enumerate() {
            let domain = classes.domain[classes.local[usize::from(kind)][cell] as usize];
            if let (Domain::Own(_), Some(from), Some(to)) =
                (domain, items.of_value(domain, value as i32), items.of_value(domain, image as i32))
            {
                images[from as usize] = to;
            }
        }
    }
    let values = model.global_values(row);
    let holders = |number: i32| -> Vec<u32> {
        let holds = |&cell: &u32| {
            classes.domain[classes.global[cell as usize] as usize] == Domain::Channel
                && values[cell as usize] as i32 == number
        };
        (0..program.globals.cells.len() as u32).filter(holds).collect()
    };
    for number in 1..=items.channels() {
        let image = items.value_of(images[items.channel(number) as usize]);
        for (from, to) in holders(number as i32).into_iter().zip(holders(image)) {
            images[items.global(from) as usize] = items.global(to);
        }
    }
    for (id, item) in (0..).zip(items.all()) {
        let Item::Array(number) = *item else { continue };
        let array = &items.arrays[number as usize];
        for (tuple, cell) in array.elements() {
            let mut image = array.base;
            for (&value, &(_, stride, domain)) in tuple.iter().zip(&array.indices) {
                image = image.wrapping_add((items.renamed(images, domain, value as i32) as u32).wrapping_mul(stride));
            }
            let cells = match array.frame {
                None => program.globals.cells.len(),
                Some(kind) => program.processes[usize::from(kind)].frame.cells.len(),
            };
            if (image as usize) < cells {
                images[items.cell(array.frame, cell) as usize] = items.cell(array.frame, image);
            }
        }
        images[id as usize] = id;
    }
    // What was not put together well stays where it is.
    let mut hit = vec![0; images.len()];
    images.iter().for_each(|&image| hit[image as usize] += 1);
    if hit.iter().any(|&count| count != 1) {
        let first = (items.processes() + items.channels()) as usize;
        images[first..].iter_mut().zip(first as ItemId..).for_each(|(image, item)| *image = item);
    }
}

/// The reason against a symmetry, with the items that it would exchange, and the remaining symmetries of these.
pub(super) fn told(
    program: &Program,
    settled: &Settled,
    items: &Items,
    images: &[ItemId],
    reason: Reason,
    group: &PermutationGroup,
) -> Reason {
    let name = |position: ItemId| super::name(program, settled, items, position);
    let moved = (0..items.processes()).find(|&position| images[position as usize] != position);
    let Some(position) = moved else { return reason };
    let image = images[position as usize];
    let named = |mut orbit: Vec<ItemId>| {
        orbit.sort_unstable();
        orbit.into_iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let orbit = group.orbit(position);
    if orbit.contains(&image) {
        let text = format!("not every permutation of {} is a symmetry: {}", named(orbit), reason.text);
        return Reason { text, ..reason };
    }
    let mut text = format!("{} and {} are not symmetric: {}", name(position), name(image), reason.text);
    let left: Vec<String> =
        [orbit, group.orbit(image)].into_iter().filter(|orbit| orbit.len() > 1).map(named).collect();
    if !left.is_empty() {
        text += &format!("; the remaining symmetries move {}", left.join(", and "));
    }
    Reason { text, ..reason }
}
