//! Terms: the remaining behaviour of processes, each stored once.
//!
//! Two terms are the same exactly when their numbers are. A term knows how large it is, so that a recursion that only
//! grows is noticed, and whether holes or parallel operators are in its active part.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use trefoil_system::LabelId;

use super::events::{RenamingId, SetId, TiesId};
use super::layers::LayerId;
use super::leaf::MachineId;
use super::steps::Move;
use crate::eval::ProcessId;

/// The number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TermId(pub(super) u32);

impl TermId {
    pub(super) const STOP: TermId = TermId(0);
    pub(super) const SKIP: TermId = TermId(1);
    /// What is left after `✓`.
    pub(super) const OMEGA: TermId = TermId(2);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is. The operands of lists are active; of the others the text says so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Stop,
    Skip,
    Omega,
    Div,
    Run(SetId),
    Chaos(SetId),
    /// A process that was not reached yet.
    Waiting(ProcessId),
    /// A prefix.
    Prefix(ProcessId),
    /// What a prefix offers after its internal choices were made in one way.
    Offer(ProcessId, u32),
    /// Waits so many units of time of this event, then terminates whenever all others around it do; time passes until
    /// then.
    Wait(LabelId, u32),
    /// So many units of time of this event, at least one, then what waits.
    Delay(LabelId, u32, TermId),
    /// A process whose termination the environment cannot delay: the outermost operator of a check.
    Closed(TermId),
    /// A component of a network.
    Hole(u32),
    /// A state of a machine that was built before.
    State(MachineId, u32),
    /// A state of a machine that is not enumerated.
    Layer(LayerId, u32),
    /// Room, pairs, what is inside.
    Buffer(super::buffers::BufferId, Rc<[u32]>),
    External(Rc<[TermId]>),
    /// Its operands wait.
    Internal(Rc<[TermId]>),
    /// The second operand waits.
    Sequential(TermId, TermId),
    Interrupt(TermId, TermId),
    /// The second operand waits.
    Sliding(TermId, TermId),
    /// The second operand waits.
    Exception(TermId, SetId, TermId),
    Parallel(SetId, Rc<[TermId]>),
    Alphabetised(Rc<[SetId]>, Rc<[TermId]>),
    Link(TiesId, TermId, TermId),
    SynchronisingChoice(SetId, Rc<[TermId]>),
    SynchronisingInterrupt(SetId, TermId, TermId),
    Hide(SetId, TermId),
    Project(SetId, TermId),
    Rename(RenamingId, TermId),
}

impl Node {
    /// The operands that can take the next step.
    pub(super) fn active(&self) -> &[TermId] {
        match self {
            Node::External(list)
            | Node::Parallel(_, list)
            | Node::Alphabetised(_, list)
            | Node::SynchronisingChoice(_, list) => list,
            Node::Sequential(first, _) | Node::Sliding(first, _) | Node::Exception(first, _, _) => {
                std::slice::from_ref(first)
            }
            Node::Hide(_, term) | Node::Project(_, term) | Node::Rename(_, term) | Node::Closed(term) => {
                std::slice::from_ref(term)
            }
            _ => &[],
        }
    }

    /// The two operands of operators that are neither lists nor have one active operand.
    pub(super) fn both(&self) -> Option<[TermId; 2]> {
        match *self {
            Node::Interrupt(a, b) | Node::Link(_, a, b) | Node::SynchronisingInterrupt(_, a, b) => Some([a, b]),
            _ => None,
        }
    }

    /// The same operator with other operands, active ones and those that wait, in order.
    pub(super) fn map(&self, mut operand: impl FnMut(TermId) -> TermId) -> Node {
        let mut list = |operands: &Rc<[TermId]>| operands.iter().map(|&term| operand(term)).collect();
        match self {
            Node::External(operands) => Node::External(list(operands)),
            Node::Internal(operands) => Node::Internal(list(operands)),
            Node::Parallel(set, operands) => Node::Parallel(*set, list(operands)),
            Node::Alphabetised(sets, operands) => Node::Alphabetised(sets.clone(), list(operands)),
            Node::SynchronisingChoice(set, operands) => Node::SynchronisingChoice(*set, list(operands)),
            Node::Delay(tock, left, then) => Node::Delay(*tock, *left, operand(*then)),
            Node::Closed(inner) => Node::Closed(operand(*inner)),
            Node::Sequential(first, then) => Node::Sequential(operand(*first), operand(*then)),
            Node::Interrupt(first, second) => Node::Interrupt(operand(*first), operand(*second)),
            Node::Sliding(first, then) => Node::Sliding(operand(*first), operand(*then)),
            Node::Exception(first, set, then) => Node::Exception(operand(*first), *set, operand(*then)),
            Node::Link(ties, left, right) => Node::Link(*ties, operand(*left), operand(*right)),
            Node::SynchronisingInterrupt(set, first, second) => {
                Node::SynchronisingInterrupt(*set, operand(*first), operand(*second))
            }
            Node::Hide(set, inner) => Node::Hide(*set, operand(*inner)),
            Node::Project(set, inner) => Node::Project(*set, operand(*inner)),
            Node::Rename(renaming, inner) => Node::Rename(*renaming, operand(*inner)),
            Node::Stop
            | Node::Skip
            | Node::Omega
            | Node::Div
            | Node::Run(_)
            | Node::Chaos(_)
            | Node::Waiting(_)
            | Node::Prefix(_)
            | Node::Offer(..)
            | Node::Wait(..)
            | Node::Hole(_)
            | Node::State(..)
            | Node::Layer(..)
            | Node::Buffer(..) => self.clone(),
        }
    }

    /// Whether the operator stays when its operands step, and is worth a network.
    pub(super) fn is_static(&self) -> bool {
        matches!(
            self,
            Node::Parallel(..)
                | Node::Alphabetised(..)
                | Node::Link(..)
                | Node::Hide(..)
                | Node::Project(..)
                | Node::Rename(..)
        )
    }

    fn is_parallel(&self) -> bool {
        matches!(self, Node::Parallel(..) | Node::Alphabetised(..) | Node::Link(..))
    }
}

#[derive(Clone, Copy, Default)]
struct Facts {
    /// How many terms its active part has, shared ones counted each time.
    weight: u32,
    holes: bool,
    parallel: bool,
    layers: bool,
    /// Whether every step leads back to the term.
    fixed: bool,
}

/// All terms.
pub(super) struct Terms {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    numbers: HashMap<Node, TermId, foldhash::fast::FixedState>,
    pub(super) moves: Vec<Option<Rc<[Move]>>>,
    /// Sets of events that are not listed.
    described: HashSet<SetId, foldhash::fast::FixedState>,
}

impl Terms {
    pub(super) fn new() -> Terms {
        let mut terms = Terms {
            nodes: Vec::new(),
            facts: Vec::new(),
            numbers: HashMap::default(),
            moves: Vec::new(),
            described: HashSet::default(),
        };
        assert_eq!(terms.intern(Node::Stop), TermId::STOP);
        assert_eq!(terms.intern(Node::Skip), TermId::SKIP);
        assert_eq!(terms.intern(Node::Omega), TermId::OMEGA);
        terms
    }

    /// The number of a term.
    pub(super) fn intern(&mut self, node: Node) -> TermId {
        if let Some(&known) = self.numbers.get(&node) {
            return known;
        }
        let mut facts =
            Facts { weight: 1, holes: matches!(node, Node::Hole(_)), parallel: node.is_parallel(), ..Facts::default() };
        facts.layers = matches!(node, Node::Layer(..));
        facts.fixed = node.is_static() || matches!(node, Node::Hole(_) | Node::Stop | Node::Run(_));
        let both = node.both();
        for &operand in node.active().iter().chain(both.iter().flatten()) {
            let inner = self.facts[operand.index()];
            facts.weight = facts.weight.saturating_add(inner.weight);
            facts.holes |= inner.holes;
            facts.parallel |= inner.parallel;
            facts.layers |= inner.layers;
            facts.fixed &= inner.fixed;
        }
        let id = TermId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
        self.nodes.push(node.clone());
        self.facts.push(facts);
        self.moves.push(None);
        self.numbers.insert(node, id);
        id
    }

    pub(super) fn node(&self, id: TermId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn weight(&self, id: TermId) -> u32 {
        self.facts[id.index()].weight
    }

    pub(super) fn has_holes(&self, id: TermId) -> bool {
        self.facts[id.index()].holes
    }

    pub(super) fn is_fixed(&self, id: TermId) -> bool {
        self.facts[id.index()].fixed
    }

    pub(super) fn has_parallel(&self, id: TermId) -> bool {
        self.facts[id.index()].parallel
    }

    /// Whether a machine that is not enumerated is in the active part.
    pub(super) fn has_layers(&self, id: TermId) -> bool {
        self.facts[id.index()].layers
    }

    /// The steps of holes and machine states are no longer true.
    pub(super) fn forget_machines(&mut self) {
        self.moves.fill(None);
    }

    /// Hiding; hiding the same set twice is hiding it once, so that `P = (a -> P) \ A` stays finite.
    pub(super) fn hide(&mut self, set: SetId, term: TermId) -> TermId {
        match *self.node(term) {
            Node::Omega => TermId::OMEGA,
            Node::Hide(inner, _) if inner == set => term,
            _ => self.intern(Node::Hide(set, term)),
        }
    }

    /// Projection, with the same simplifications.
    pub(super) fn project(&mut self, set: SetId, term: TermId) -> TermId {
        match *self.node(term) {
            Node::Omega => TermId::OMEGA,
            Node::Project(inner, _) if inner == set => term,
            _ => self.intern(Node::Project(set, term)),
        }
    }

    /// Renaming.
    pub(super) fn rename(&mut self, renaming: RenamingId, term: TermId) -> TermId {
        if term == TermId::OMEGA {
            return term;
        }
        self.intern(Node::Rename(renaming, term))
    }

    /// External choice; choices inside choices are one choice.
    pub(super) fn external(&mut self, operands: impl IntoIterator<Item = TermId>) -> TermId {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::External(inner) => flat.extend_from_slice(inner),
                // `STOP [] P = P`.
                Node::Stop => {}
                _ => flat.push(operand),
            }
        }
        match flat[..] {
            [] => TermId::STOP,
            [only] => only,
            _ => self.intern(Node::External(flat.into())),
        }
    }

    /// Synchronising choice; choices inside choices on the same set are one, and what only does all events of the set
    /// is left out.
    pub(super) fn synchronising(&mut self, set: SetId, operands: impl IntoIterator<Item = TermId>) -> TermId {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::SynchronisingChoice(inner, list) if *inner == set => flat.extend_from_slice(list),
                Node::Run(inner) if *inner == set => {}
                _ => flat.push(operand),
            }
        }
        match flat[..] {
            [] => self.intern(Node::Run(set)),
            [only] => only,
            _ => self.intern(Node::SynchronisingChoice(set, flat.into())),
        }
    }

    /// A process as the outermost one.
    pub(super) fn closed(&mut self, term: TermId) -> TermId {
        match self.node(term) {
            Node::Omega | Node::Stop | Node::Skip | Node::Closed(_) => term,
            _ => self.intern(Node::Closed(term)),
        }
    }

    /// Notes that a set of events is not listed.
    pub(super) fn note_described(&mut self, set: SetId) {
        self.described.insert(set);
    }

    /// Whether a set of events is not listed. Parallel operators on such a set are not joined, so that the structure of
    /// `(P [|{|c|}|] Q) [|{|c|}|] R` is what the script says.
    pub(super) fn is_described(&self, set: SetId) -> bool {
        self.described.contains(&set)
    }

    /// Generalised parallel; nested ones on the same listed set are one.
    pub(super) fn parallel(&mut self, set: SetId, operands: impl IntoIterator<Item = TermId>) -> TermId {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::Parallel(inner, list) if *inner == set && !self.is_described(set) => {
                    flat.extend_from_slice(list);
                }
                _ => flat.push(operand),
            }
        }
        match flat[..] {
            [] => TermId::SKIP,
            [only] => only,
            _ => self.intern(Node::Parallel(set, flat.into())),
        }
    }
}
