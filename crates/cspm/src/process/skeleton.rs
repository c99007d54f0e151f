//! Networks: which parts of a term become components, and the formats and rules above them.
//!
//! A *skeleton* is a term in which components stand as holes. Parallel operators, hiding and renaming always belong to
//! the skeleton. Below them a part that has few states, or no parallel parts of its own, is a leaf and becomes a hole.
//! What is left, an operator such as `;` or `/\` over large parallel parts or a prefix before one, stays in the
//! skeleton too, and its steps lead to other skeletons: these are the formats. A format is a skeleton that can be
//! reached.
//!
//! # Resets
//!
//! When a step of the skeleton reaches a part that waited (the second operand of `;`), that part becomes a skeleton in
//! turn, and its components start anew. Components that the next skeleton does not have are put back to their initial
//! state as well, so that their last states do not distinguish states of the network.
//!
//! # Which hole
//!
//! The same part at the same place is given the same hole again, so that `Q = P ; Q` is one format with a reset. A
//! place is a path of operand positions. Operators disappear from above a part (`P [] Q` becomes what is left of `P`),
//! so a place can be taken when a part that stood elsewhere before is still running under its key; then the next free
//! hole of that key is used.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use trefoil_network::{Component, Format, FormatId, LazyMachine, Network, Rule};
use trefoil_source::Span;

use super::expand::deeply;
use super::leaf::MachineId;
use super::terms::{Node, TermId};
use super::{Compiler, Machine, codes};
use crate::eval::{Description, Failure, Result};

/// More formats than this, and the process is explored as a whole.
const FORMATS: usize = 4_000;

/// The number of a path of operand positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place(u32);

/// A network that is being built.
#[derive(Default)]
struct Building {
    places: HashMap<(Place, u32), Place, foldhash::fast::FixedState>,
    /// The hole of a part at a place, and the how-manieth of it.
    keys: HashMap<(Place, TermId, u32), u32, foldhash::fast::FixedState>,
    /// By component of this network, the hole.
    holes: Vec<u32>,
    /// By hole, the component of this network.
    components: HashMap<u32, u32, foldhash::fast::FixedState>,
    machines: Vec<MachineId>,
}

impl Building {
    fn below(&mut self, place: Place, operand: usize) -> Place {
        let next = Place(self.places.len() as u32 + 1);
        *self.places.entry((place, operand as u32)).or_insert(next)
    }
}

/// What was placed in one step.
struct Placing {
    /// Holes that are in use elsewhere in the skeleton.
    taken: BTreeSet<u32>,
    /// Holes that start now.
    started: Vec<u32>,
}

impl Compiler {
    /// The network of a term.
    pub(super) fn network_of(&mut self, root: TermId) -> Result<Machine> {
        if let Node::Layer(layer, LazyMachine::INITIAL) = *self.terms.node(root) {
            return Ok(self.layer_data(layer).machine.clone());
        }
        let (building, first) = self.placed_root(root)?;
        self.network_from(root, building, first)
    }

    /// The network of a whole check: the environment cannot delay its termination.
    pub(super) fn closed_network_of(&mut self, root: TermId) -> Result<Machine> {
        if !self.is_timed {
            return self.network_of(root);
        }
        if let Node::Layer(layer, LazyMachine::INITIAL) = *self.terms.node(root)
            && let Some(machine) = self.closed_layer(layer)?
        {
            return Ok(machine);
        }
        let (building, first) = self.placed_root(root)?;
        if self.terms.is_fixed(first) && self.end_alone(&building.machines) {
            return self.network_from(root, building, first);
        }
        let (root, first) = (self.terms.closed(root), self.terms.closed(first));
        self.network_from(root, building, first)
    }

    fn placed_root(&mut self, root: TermId) -> Result<(Building, TermId)> {
        let mut building = Building::default();
        let first = self.placed(root, &mut Placing { taken: BTreeSet::new(), started: Vec::new() }, &mut building)?;
        Ok((building, first))
    }

    fn network_from(&mut self, root: TermId, mut building: Building, first: TermId) -> Result<Machine> {
        if let Node::Hole(hole) = *self.terms.node(first) {
            // One component, which may have as many labels as states.
            let rules = self.hole_labels(hole).iter().map(|&label| Rule::new([(0, label)], label)).collect();
            let made = vec![Format { name: "0".to_string(), rules }];
            return self.network_with(root, first, building, made);
        }
        let mut skeletons = vec![first];
        let mut numbers: HashMap<TermId, FormatId, foldhash::fast::FixedState> = HashMap::default();
        numbers.insert(first, FormatId(0));
        let mut formats: Vec<Vec<(super::steps::Move, Vec<u32>, FormatId)>> = Vec::new();
        while formats.len() < skeletons.len() {
            self.control.check()?;
            if skeletons.len() > FORMATS {
                return self.alone(root);
            }
            let here = skeletons[formats.len()];
            let on = self.holes_of(here);
            let mut rules = Vec::new();
            for step in self.steps(here)?.iter() {
                self.control.check()?;
                if step.target == here {
                    rules.push((step.clone(), Vec::new(), numbers[&here]));
                    continue;
                }
                let mut placing = Placing { taken: self.holes_of(step.target), started: Vec::new() };
                let target = self.placed(step.target, &mut placing, &mut building)?;
                if let Some(grows) = self.grows(first, self.terms.weight(target)) {
                    return Err(grows);
                }
                let next = FormatId(skeletons.len() as u32);
                let format = *numbers.entry(target).or_insert(next);
                if format == next {
                    skeletons.push(target);
                }
                let after = self.holes_of(target);
                let mut resets: Vec<u32> = on.difference(&after).copied().chain(placing.started).collect();
                resets.sort_unstable();
                resets.dedup();
                rules.push((step.clone(), resets, format));
            }
            formats.push(rules);
        }
        self.assemble(root, first, building, formats)
    }

    fn assemble(
        &mut self,
        root: TermId,
        skeleton: TermId,
        building: Building,
        formats: Vec<Vec<(super::steps::Move, Vec<u32>, FormatId)>>,
    ) -> Result<Machine> {
        let component = |hole: u32| building.components[&hole] as usize;
        let rule = |(step, resets, format): (super::steps::Move, Vec<u32>, FormatId)| {
            let parts = step.parts.iter().flat_map(|parts| parts.iter()).map(|&(hole, label)| (component(hole), label));
            Rule::new(parts, step.label)
                .with_origin(step.origin)
                .with_resets(resets.iter().map(|&hole| component(hole)))
                .to(format)
        };
        let mut made = Vec::with_capacity(formats.len());
        for (at, rules) in formats.into_iter().enumerate() {
            made.push(Format { name: at.to_string(), rules: rules.into_iter().map(rule).collect() });
        }
        self.network_with(root, skeleton, building, made)
    }

    fn network_with(
        &self,
        root: TermId,
        skeleton: TermId,
        building: Building,
        formats: Vec<Format>,
    ) -> Result<Machine> {
        let component = |(at, &machine): (usize, &MachineId)| self.component((at + 1).to_string(), machine);
        let components: Vec<Component> = building.machines.iter().enumerate().map(component).collect();
        self.control.progress().begin("arranging the rules", 0);
        self.control.afford(Network::bytes_to_make(&components))?;
        let network = Network::with_formats(self.labels.clone(), components, formats, FormatId(0));
        let network = network.map_err(|_| self.too_large(root))?;
        Ok(Machine { network: Arc::new(network), machines: building.machines, skeleton: Some(skeleton), layer: None })
    }

    fn component(&self, name: String, machine: MachineId) -> Component {
        match machine.layer() {
            Some(layer) => Component::lazy(name, self.layer_data(layer).lazy.clone()),
            None => {
                let machine = self.machine(machine);
                Component::new(name, machine.lts.clone()).choosing(machine.merged)
            }
        }
    }

    /// The holes in the active part of a term.
    fn holes_of(&self, term: TermId) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            if !self.terms.has_holes(term) {
                continue;
            }
            let node = self.terms.node(term);
            if let Node::Hole(hole) = node {
                found.insert(*hole);
            }
            work.extend_from_slice(node.active());
            work.extend(node.both().iter().flatten());
        }
        found
    }

    /// A term with holes for everything in it that becomes a component.
    fn placed(&mut self, term: TermId, placing: &mut Placing, building: &mut Building) -> Result<TermId> {
        self.place(term, Place(0), placing, building)
    }

    fn place(&mut self, term: TermId, place: Place, placing: &mut Placing, building: &mut Building) -> Result<TermId> {
        deeply(|| {
            let node = self.terms.node(term).clone();
            match node {
                Node::Hole(_) | Node::Stop | Node::Omega | Node::Run(_) => return Ok(term),
                Node::State(machine, state) => {
                    self.finish(machine)?;
                    if self.machine(machine).lts.initial().0 == state {
                        return Ok(self.hole(term, machine, place, placing, building));
                    }
                    if let Some(machine) = self.leaf(term)? {
                        return Ok(self.hole(term, machine, place, placing, building));
                    }
                }
                Node::Layer(id, LazyMachine::INITIAL) => {
                    return Ok(self.hole(term, MachineId::of_layer(id), place, placing, building));
                }
                Node::Closed(_) => {}
                _ if node.is_static() || self.terms.has_holes(term) => {}
                _ => {
                    if let Some(machine) = self.leaf(term)? {
                        return Ok(self.hole(term, machine, place, placing, building));
                    }
                }
            }
            self.place_operands(term, &node, place, placing, building)
        })
    }

    fn place_operands(
        &mut self,
        term: TermId,
        node: &Node,
        place: Place,
        placing: &mut Placing,
        building: &mut Building,
    ) -> Result<TermId> {
        let both = node.both();
        let operands: Vec<TermId> = node.active().iter().chain(both.iter().flatten()).copied().collect();
        let mut placed = Vec::with_capacity(operands.len());
        for (at, &operand) in operands.iter().enumerate() {
            let below = building.below(place, at);
            placed.push(self.place(operand, below, placing, building)?);
        }
        if placed == operands {
            return Ok(term);
        }
        let list: Rc<[TermId]> = placed.into();
        // Operands are not merged into their neighbours here: each keeps its place.
        let node = match *node {
            Node::External(_) => Node::External(list),
            Node::Parallel(set, _) => Node::Parallel(set, list),
            Node::Alphabetised(ref sets, _) => Node::Alphabetised(sets.clone(), list),
            Node::SynchronisingChoice(set, _) => Node::SynchronisingChoice(set, list),
            Node::Sequential(_, then) => Node::Sequential(list[0], then),
            Node::Sliding(_, then) => Node::Sliding(list[0], then),
            Node::Exception(_, set, then) => Node::Exception(list[0], set, then),
            Node::Hide(set, _) => Node::Hide(set, list[0]),
            Node::Project(set, _) => Node::Project(set, list[0]),
            Node::Rename(renaming, _) => Node::Rename(renaming, list[0]),
            Node::Closed(_) => Node::Closed(list[0]),
            Node::Interrupt(..) => Node::Interrupt(list[0], list[1]),
            Node::Link(ties, ..) => Node::Link(ties, list[0], list[1]),
            Node::SynchronisingInterrupt(set, ..) => Node::SynchronisingInterrupt(set, list[0], list[1]),
            ref other => unreachable!("{other:?} has no active operands"),
        };
        let made = self.terms.intern(node);
        // What is left of a process with a name keeps the name.
        if let Some(&origin) = self.origins.get(&term) {
            self.origins.entry(made).or_insert(origin);
        }
        Ok(made)
    }

    /// A hole for a part that starts at a place.
    fn hole(
        &mut self,
        term: TermId,
        machine: MachineId,
        place: Place,
        placing: &mut Placing,
        building: &mut Building,
    ) -> TermId {
        for copy in 0.. {
            let hole = *building.keys.entry((place, term, copy)).or_insert_with(|| {
                let hole = self.machines.holes.len() as u32;
                self.machines.holes.push(machine);
                building.components.insert(hole, building.holes.len() as u32);
                building.holes.push(hole);
                building.machines.push(machine);
                hole
            });
            if placing.taken.insert(hole) {
                placing.started.push(hole);
                return self.terms.intern(Node::Hole(hole));
            }
        }
        unreachable!("there is always another hole")
    }

    pub(super) fn too_large(&self, term: TermId) -> Failure {
        let message = "a component of this process has too many transitions";
        Failure::at(codes::TOO_LARGE, message, self.some_place(term))
    }

    /// A place in the script for a term.
    pub(super) fn some_place(&self, term: TermId) -> Option<Span> {
        let mut places = Vec::new();
        self.prefixes(term, &mut places);
        places.first().copied()
    }

    /// The places of the prefixes that a term has reached, some of them if there are many.
    pub(super) fn prefixes(&self, term: TermId, places: &mut Vec<Span>) {
        let mut found = Vec::new();
        self.reached_leaves(term, &mut found);
        places.extend(found.into_iter().filter_map(|term| self.prefix_span(term)));
    }

    /// The place of a prefix, or of what waits to be reached.
    pub(super) fn prefix_span(&self, term: TermId) -> Option<Span> {
        let (Node::Prefix(id) | Node::Offer(id, _) | Node::Waiting(id)) = self.terms.node(term) else { return None };
        match self.processes[id].description() {
            Description::Made(point, _) => Some(self.evaluator.control_point(point).span),
            Description::Builtin(..) => None,
        }
    }

    /// The prefixes and choices that a term has reached, some of them if there are many.
    pub(super) fn reached_leaves(&self, term: TermId, found: &mut Vec<TermId>) {
        const MOST: usize = 200;
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            let node = self.terms.node(term);
            if let Node::Prefix(_) | Node::Offer(..) | Node::Waiting(_) | Node::Internal(_) | Node::Sliding(..) = node {
                found.push(term);
                if found.len() >= MOST {
                    return;
                }
            }
            if let Node::Internal(operands) = node {
                work.extend_from_slice(operands);
            }
            if let Node::Layer(layer, _) = node {
                work.push(self.layer_data(*layer).argument);
            }
            work.extend(node.both().iter().flatten());
            work.extend(node.active().iter().rev());
        }
    }
}
