//! The structure of a machine: operators, and the components below them with their sizes.
//!
//! Parts are numbered, and a part that occurs in several places is there once. Operands that look alike (the same
//! operator, the same sizes, and so on below) are listed once with their number, so that ten thousand components are as
//! easy to read as ten.

use std::collections::HashMap;

use trefoil_source::Span;
use trefoil_system::LabelId;

use super::events::SetId;
use super::expand::deeply;
use super::leaf::MachineId;
use super::terms::{Node, TermId};
use super::{Compiler, Machine};
use crate::eval::Result;

/// How many operands that look alike are named.
const NAMED: usize = 3;
/// With more labels than this the events of a set are not counted.
const COUNTED: usize = 20_000;

/// The structure of a compiled process.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The parts; operands come before their operators.
    pub parts: Vec<Part>,
    /// The part that is the whole.
    pub root: usize,
}

/// An operator with its operands, or a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What kind of part it is: `parallel`, `hiding`, `component`, …
    pub kind: &'static str,
    /// How many of the events that occur its set has, if it has one.
    pub events: Option<usize>,
    /// The script's name for it, or its text, if there is one.
    pub name: Option<String>,
    /// Its sizes, when it is one component.
    pub machine: Option<MachineSize>,
    /// Its operands, those that look alike together.
    pub operands: Vec<Operands>,
}

/// Operands that look alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Operands {
    /// The first of them.
    pub part: usize,
    /// How many there are.
    pub count: usize,
    /// The names of the first of them.
    pub names: Vec<String>,
}

/// The size of a component.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSize {
    /// States and transitions before minimisation.
    pub before: (usize, usize),
    /// States and transitions after it.
    pub after: (usize, usize),
    /// The labels that occur.
    pub labels: usize,
    /// The equivalence or function that made it smaller, if any.
    pub compression: Option<&'static str>,
    /// How many components of the network are this machine; none when it only went into another machine.
    pub used: usize,
}

/// What a part looks like, without names; operands by their looks.
type Looks = (&'static str, Option<usize>, Option<[usize; 5]>, Option<&'static str>, Vec<(usize, usize)>);

#[derive(Default)]
struct Describing {
    parts: Vec<Part>,
    /// The number of the looks of each part.
    looks: Vec<usize>,
    known_looks: HashMap<Looks, usize, foldhash::fast::FixedState>,
    terms: HashMap<TermId, usize, foldhash::fast::FixedState>,
    machines: HashMap<MachineId, usize, foldhash::fast::FixedState>,
    used: HashMap<MachineId, usize, foldhash::fast::FixedState>,
    sets: HashMap<SetId, usize, foldhash::fast::FixedState>,
}

impl Compiler {
    /// The structure of a machine; `text` gives the text of a place in the script.
    pub fn structure(&mut self, machine: &Machine, text: &dyn Fn(Span) -> String) -> Result<Structure> {
        let mut describing = Describing::default();
        for &id in &machine.machines {
            *describing.used.entry(id).or_default() += 1;
        }
        let root = self.network_part(machine, &mut describing, text)?;
        Ok(Structure { parts: describing.parts, root })
    }

    /// A network, under its layer if it has one.
    fn network_part(
        &mut self,
        machine: &Machine,
        describing: &mut Describing,
        text: &dyn Fn(Span) -> String,
    ) -> Result<usize> {
        let inner = match (machine.skeleton, machine.machines.first()) {
            (None, Some(&only)) => Some(self.machine_part(only, describing, text)?),
            (Some(skeleton), _) => Some(self.term_part(skeleton, describing, text)?),
            (None, None) => None,
        };
        let (kind, inner) = match (machine.layer, inner) {
            (None, Some(inner)) => return Ok(inner),
            (layer, inner) => (layer.unwrap_or("nothing"), inner),
        };
        let operands = describing.together(inner.as_slice());
        Ok(describing.add(Part { kind, events: None, name: None, machine: None, operands }))
    }

    fn machine_part(
        &mut self,
        id: MachineId,
        describing: &mut Describing,
        text: &dyn Fn(Span) -> String,
    ) -> Result<usize> {
        if let Some(&known) = describing.machines.get(&id) {
            return Ok(known);
        }
        if let Some(layer) = id.layer() {
            let network = self.layer_data(layer).machine.clone();
            let part = deeply(|| self.network_part(&network, describing, text))?;
            describing.machines.insert(id, part);
            return Ok(part);
        }
        let data = self.machine(id);
        let (root, made) = (data.root, data.made);
        let machine = MachineSize {
            before: made.before,
            after: (data.lts.state_count(), data.lts.transition_count()),
            labels: data.alphabet.len(),
            compression: made.compression,
            used: describing.used.get(&id).copied().unwrap_or_default(),
        };
        let mut operands = Vec::new();
        if let Some(inside) = made.inside {
            operands.push(deeply(|| self.term_part(inside, describing, text))?);
        }
        let kind = if made.inside.is_some() { "compressed" } else { "component" };
        let operands = describing.together(&operands);
        let name = Some(if made.inside.is_some() { self.words(root, text) } else { self.machine_name(id, text) });
        let part = Part { kind, events: None, name, machine: Some(machine), operands };
        let part = describing.add(part);
        describing.machines.insert(id, part);
        Ok(part)
    }

    fn term_part(&mut self, term: TermId, describing: &mut Describing, text: &dyn Fn(Span) -> String) -> Result<usize> {
        if let Some(&known) = describing.terms.get(&term) {
            return Ok(known);
        }
        self.control.check()?;
        let node = self.terms.node(term).clone();
        if let Node::Hole(hole) = node {
            return self.machine_part(self.machines.holes[hole as usize], describing, text);
        }
        if let Node::State(machine, _) = node {
            return self.machine_part(machine, describing, text);
        }
        if let Node::Layer(layer, _) = node {
            return self.machine_part(MachineId::of_layer(layer), describing, text);
        }
        let (kind, set) = kind_of(&node);
        let events = match set {
            Some(set) => self.events_of_set(set, describing)?,
            None => None,
        };
        let both = node.both();
        let mut inner: Vec<TermId> = node.active().iter().chain(both.iter().flatten()).copied().collect();
        match node {
            Node::Sequential(_, then) | Node::Sliding(_, then) | Node::Exception(_, _, then) => inner.push(then),
            _ => {}
        }
        let mut operands = Vec::with_capacity(inner.len());
        for operand in inner {
            operands.push(deeply(|| self.term_part(operand, describing, text))?);
        }
        let operands = describing.together(&operands);
        // The text of an operator would only repeat what is below it.
        let name = match operands.is_empty() {
            true => Some(self.words(term, text)),
            false => self.term_name(term),
        };
        let part = describing.add(Part { kind, events, name, machine: None, operands });
        describing.terms.insert(term, part);
        Ok(part)
    }

    /// How many of the events that occur are in a set.
    fn events_of_set(&mut self, set: SetId, describing: &mut Describing) -> Result<Option<usize>> {
        let labels = self.labels.len();
        if labels > COUNTED {
            return Ok(None);
        }
        if let Some(&known) = describing.sets.get(&set) {
            return Ok(Some(known));
        }
        let mut count = 0;
        for label in 2..labels as u32 {
            count += usize::from(self.has(set, LabelId(label))?);
        }
        describing.sets.insert(set, count);
        Ok(Some(count))
    }
}

impl Describing {
    fn add(&mut self, part: Part) -> usize {
        let sizes = part.machine.as_ref().map(|m| [m.before.0, m.before.1, m.after.0, m.after.1, m.labels]);
        let compression = part.machine.as_ref().and_then(|machine| machine.compression);
        let operands = part.operands.iter().map(|operand| (self.looks[operand.part], operand.count)).collect();
        let next = self.known_looks.len();
        let looks = (part.kind, part.events, sizes, compression, operands);
        self.looks.push(*self.known_looks.entry(looks).or_insert(next));
        self.parts.push(part);
        self.parts.len() - 1
    }

    /// Operands that look alike together, in the order of the first of them.
    fn together(&self, parts: &[usize]) -> Vec<Operands> {
        let mut places: HashMap<usize, usize, foldhash::fast::FixedState> = HashMap::default();
        let mut found: Vec<Operands> = Vec::new();
        for &part in parts {
            let next = found.len();
            let place = *places.entry(self.looks[part]).or_insert(next);
            if place == next {
                found.push(Operands { part, count: 0, names: Vec::new() });
            }
            let operands = &mut found[place];
            operands.count += 1;
            if let Some(name) = &self.parts[part].name
                && operands.names.len() < NAMED
                && !operands.names.contains(name)
            {
                operands.names.push(name.clone());
            }
        }
        found
    }
}

/// The name of an operator, and its set of events.
pub(super) fn kind_of(node: &Node) -> (&'static str, Option<SetId>) {
    match *node {
        Node::Stop | Node::Skip | Node::Omega | Node::Div | Node::Run(_) | Node::Chaos(_) => ("process", None),
        Node::Waiting(_) => ("later", None),
        Node::Prefix(_) | Node::Offer(..) => ("prefix", None),
        Node::Hole(_) | Node::State(..) | Node::Layer(..) => ("component", None),
        Node::Wait(..) => ("waiting", None),
        Node::Delay(..) => ("delay", None),
        Node::Closed(_) => ("whole", None),
        Node::Buffer(..) => ("buffer", None),
        Node::External(_) => ("external choice", None),
        Node::Internal(_) => ("internal choice", None),
        Node::Sequential(..) => ("sequence", None),
        Node::Interrupt(..) => ("interrupt", None),
        Node::Sliding(..) => ("sliding choice", None),
        Node::Exception(_, set, _) => ("exception", Some(set)),
        Node::Parallel(SetId::EMPTY, _) => ("interleaving", None),
        Node::Parallel(set, _) => ("parallel", Some(set)),
        Node::Alphabetised(..) => ("alphabetised parallel", None),
        Node::Link(..) => ("linked parallel", None),
        Node::SynchronisingChoice(set, _) => ("synchronising choice", Some(set)),
        Node::SynchronisingInterrupt(set, ..) => ("synchronising interrupt", Some(set)),
        Node::Hide(set, _) => ("hiding", Some(set)),
        Node::Project(set, _) => ("projection", Some(set)),
        Node::Rename(..) => ("renaming", None),
    }
}
