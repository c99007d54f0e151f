//! Machines: the LTS of a process that becomes one component.
//!
//! A leaf is explored breadth-first by its firing rules; its states are terms. By default it is made as small as strong
//! bisimilarity allows, and every remaining state keeps one of its terms, for witnesses and, later, for symmetry. A
//! machine is built once per term, however many components it serves.
//!
//! # Parts that states have in common
//!
//! The states of a memory, `M(v) = get!v -> M(v) [] set?x -> M(x)`, are terms that differ in `v`, but the operand
//! `set?x -> M(x)` of the choice does not mention `v`: it is the same term in all of them, and its steps are found
//! once. So a row is explored in *pieces* ([`Compiler::pieces`]): terms whose steps together are the steps of the
//! state. A piece with many steps becomes a fragment of the LTS ([`trefoil_lts::SharedRows`]), numbered and stored once
//! however many states have it. Pieces with few steps are copied into the rows of their states, so small processes have
//! whole rows. A label that two pieces of a row share (`a?x -> P [] a?x -> Q`) makes this row whole.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, SharedRows, Transition};
use trefoil_network::{Component, Network, Rule};
use trefoil_system::{LabelId, StateId};

use super::buffers::Buffer;
use super::compressed::Compressed;
use super::expand::deeply;
use super::layers::LayerId;
use super::schemas::{Piece, SchemaId};
use super::states::{StateTerms, States};
use super::steps::Move;
use super::terms::{Node, TermId};
use super::{Compiler, EVALUATING, Machine};
use crate::eval::Result;

/// The number of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MachineId(pub(super) u32);

impl MachineId {
    const LAYER: u32 = 1 << 31;

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// A layer in the place of a machine.
    pub(super) fn of_layer(layer: LayerId) -> MachineId {
        MachineId(layer.0 | MachineId::LAYER)
    }

    /// The layer that stands here.
    pub(super) fn layer(self) -> Option<LayerId> {
        (self.0 & MachineId::LAYER != 0).then_some(LayerId(self.0 & !MachineId::LAYER))
    }
}

/// An LTS that can be a component.
pub(super) struct MachineData {
    pub(super) lts: Arc<Lts>,
    /// A term for each state; none for what was compressed as a whole.
    pub(super) terms: StateTerms,
    /// The term that was compiled.
    pub(super) root: TermId,
    /// The first machine with the same transitions.
    pub(super) like: MachineId,
    /// Whether a state stands for states that are not bisimilar, so that what it can do is not what one of them can.
    pub(super) merged: bool,
    /// The labels that occur.
    pub(super) alphabet: Vec<LabelId>,
    /// Whether a state offers `✓` beside something else, as only processes of timed scripts do.
    pub(super) ends_beside: bool,
    /// How it came to be what it is.
    pub(super) made: Made,
}

/// How a machine was made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// States and transitions before it was made small.
    pub(super) before: (usize, usize),
    /// What made it small, if anything did.
    pub(super) compression: Option<&'static str>,
    /// What was composed to get it; none when it is a leaf.
    pub(super) inside: Option<TermId>,
}

pub(super) fn size(lts: &Lts) -> (usize, usize) {
    (lts.state_count(), lts.transition_count())
}

impl MachineData {
    pub(super) fn new(lts: Arc<Lts>, terms: StateTerms, root: TermId, like: MachineId, is_timed: bool) -> MachineData {
        let alphabet = lts.alphabet();
        let ends_beside = is_timed
            && alphabet.contains(&LabelId::TICK)
            && lts.states().any(|state| {
                let steps = lts.outgoing(state);
                steps.iter().any(|step| step.label == LabelId::TICK)
                    && steps.iter().any(|step| step.label != LabelId::TICK)
            });
        let made = Made { before: size(&lts), compression: None, inside: None };
        MachineData { lts, terms, root, like, merged: false, alphabet, ends_beside, made }
    }
}

/// All machines.
#[derive(Default)]
pub(super) struct Machines {
    /// Without data for what waits to be made.
    pub(super) data: Vec<Option<MachineData>>,
    /// The machine of a leaf; none when it was too large to be one.
    leaves: HashMap<TermId, Option<MachineId>, foldhash::fast::FixedState>,
    pub(super) compressed: Compressed,
    /// Is there a machine with merged states?
    some_merged: bool,
    /// The machines with their transitions, by a hash of them; of those that are the same the first.
    distinct: HashMap<u64, Vec<(MachineId, Arc<Lts>)>, foldhash::fast::FixedState>,
    /// The machines of the components that holes stand for.
    pub(super) holes: Vec<MachineId>,
    pub(super) buffers: Vec<Buffer>,
}

impl Machines {
    /// None but the descriptions of buffers, which terms name.
    pub(super) fn with_buffers(before: Machines) -> Machines {
        Machines { buffers: before.buffers, ..Machines::default() }
    }

    /// A number for a machine that is made later.
    pub(super) fn reserve(&mut self) -> MachineId {
        self.data.push(None);
        MachineId(self.data.len() as u32 - 1)
    }

    /// The first machine with the transitions of this one, which is itself when there is none before it.
    pub(super) fn alike(&mut self, id: MachineId, lts: Arc<Lts>) -> (MachineId, Arc<Lts>) {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        lts.state_count().hash(&mut hasher);
        lts.stored().for_each(|transition| transition.hash(&mut hasher));
        let same = self.distinct.entry(hasher.finish()).or_default();
        let rows = |lts: &Lts| lts.states().map(|state| lts.start(state)).collect::<Vec<_>>();
        let equal = |other: &Lts| {
            let alike = other.initial() == lts.initial() && other.shared() == lts.shared();
            let is_whole = |lts: &Lts| lts.shared().is_none();
            alike && (!is_whole(&lts) || other.transitions() == lts.transitions() && rows(other) == rows(&lts))
        };
        if let Some((first, known)) = same.iter().find(|(_, other)| equal(other)) {
            return (*first, known.clone());
        }
        same.push((id, lts.clone()));
        (id, lts)
    }
}

/// Pieces with fewer steps are copied into the rows of their states.
pub(super) const LEAST_FRAGMENT: usize = 64;

/// So many transitions count as one state when it is decided whether a component is large.
const TRANSITIONS: usize = 64;

/// A component that is being explored.
pub(super) struct Exploring {
    pub(super) root: TermId,
    pub(super) states: States,
    rows: SharedRows,
    disjoint: Disjoint,
    pub(super) fragments: Fragments,
    transitions: usize,
    /// Whether its states cannot be packed.
    one_by_one: bool,
    /// Whether a state has parallel parts, or a machine that is not enumerated.
    pub(super) parallel: bool,
    pub(super) layers: bool,
    /// The row of the present state: its own transitions and its fragments.
    pub(super) row: Vec<Transition>,
    pub(super) parts: Vec<u32>,
    /// The numbers of its values, and of those that a piece reads; the targets of its schema as far as they are found;
    /// the next state.
    pub(super) values: Vec<u32>,
    pub(super) read: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) next: Vec<u32>,
}

impl Exploring {
    fn new(root: TermId) -> Exploring {
        Exploring {
            root,
            states: States::new(root),
            rows: SharedRows::default(),
            disjoint: Disjoint::default(),
            fragments: Fragments::default(),
            transitions: 0,
            one_by_one: false,
            parallel: false,
            layers: false,
            row: Vec::new(),
            parts: Vec::new(),
            values: Vec::new(),
            read: Vec::new(),
            targets: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Makes a fragment of the last transitions of the row.
    pub(super) fn fragment_from(&mut self, from: usize) -> u32 {
        sort_distinct(&mut self.row, from);
        self.rows.add_fragment(self.row.drain(from..))
    }

    /// Adds the row of the present state; how many transitions it has.
    fn end_row(&mut self) -> usize {
        let Exploring { rows, disjoint, row, parts, .. } = self;
        if !disjoint.holds(rows, row, parts) {
            parts.drain(..).for_each(|part| row.extend_from_slice(rows.fragment(part)));
        }
        sort_distinct(row, 0);
        let shared: usize = parts.iter().map(|&part| rows.fragment(part).len()).sum();
        rows.add_state(row, parts);
        self.transitions += row.len();
        self.row.len() + shared
    }
}

/// The fragments of a component: by the term of a piece, or by a piece of a schema and the values that it reads.
#[derive(Default)]
pub(super) struct Fragments {
    by_term: HashMap<TermId, u32, foldhash::fast::FixedState>,
    by_piece: HashMap<(SchemaId, usize), ByValues, foldhash::fast::FixedState>,
}

/// Fragments by the values that their piece reads.
type ByValues = HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>;

impl Fragments {
    /// The fragment of a piece of a schema for these values.
    pub(super) fn of_piece(&self, schema: SchemaId, at: usize, piece: &Piece, read: &[u32]) -> Option<u32> {
        match piece.term {
            Some(term) => self.by_term.get(&term).copied(),
            None => self.by_piece.get(&(schema, at))?.get(read).copied(),
        }
    }

    pub(super) fn insert(&mut self, schema: SchemaId, at: usize, piece: &Piece, read: &[u32], fragment: u32) {
        match piece.term {
            Some(term) => self.by_term.insert(term, fragment),
            None => self.by_piece.entry((schema, at)).or_default().insert(read.into(), fragment),
        };
    }
}

/// A leaf that was explored, or why it is none.
enum Explored {
    Leaf(MachineId),
    /// It has parallel parts and many states.
    Network,
}

impl Compiler {
    pub(super) fn machine(&self, id: MachineId) -> &MachineData {
        self.machines.data[id.index()].as_ref().expect("a machine is made before it is looked at")
    }

    pub(super) fn add_machine(&mut self, lts: Lts, terms: StateTerms, root: TermId) -> MachineId {
        let id = self.machines.reserve();
        self.tell();
        let (like, lts) = self.machines.alike(id, Arc::new(lts));
        let data = MachineData::new(lts, terms, root, like, self.is_timed);
        self.machines.data[id.index()] = Some(data);
        id
    }

    pub(super) fn set_made(&mut self, machine: MachineId, made: Made) {
        if let Some(data) = &mut self.machines.data[machine.index()] {
            data.made = made;
        }
    }

    /// The machine of a term, unless it is better compiled as a network.
    pub(super) fn leaf(&mut self, term: TermId) -> Result<Option<MachineId>> {
        if let Some(&known) = self.machines.leaves.get(&term) {
            return Ok(known);
        }
        let found = match self.explore(term, Some(self.options.leaf_states))? {
            Explored::Leaf(machine) => Some(machine),
            Explored::Network => None,
        };
        self.machines.leaves.insert(term, found);
        Ok(found)
    }

    /// The machine of a term, whatever its size.
    fn whole(&mut self, term: TermId) -> Result<MachineId> {
        if let Some(&Some(known)) = self.machines.leaves.get(&term) {
            return Ok(known);
        }
        let Explored::Leaf(machine) = self.explore(term, None)? else { unreachable!("no limit was given") };
        self.machines.leaves.insert(term, Some(machine));
        Ok(machine)
    }

    /// A network of one component.
    pub(super) fn alone(&mut self, term: TermId) -> Result<Machine> {
        let machine = self.whole(term)?;
        let MachineData { lts, alphabet, .. } = self.machine(machine);
        let rules = alphabet.iter().map(|&label| Rule::new([(0, label)], label)).collect();
        let component = Component::new("process", lts.clone());
        self.control.afford(Network::bytes_to_make([&component]))?;
        let network = Network::new(self.labels.clone(), vec![component], rules).map_err(|_| self.too_large(term))?;
        Ok(Machine { network: Arc::new(network), machines: vec![machine], skeleton: None, layer: None })
    }

    fn explore(&mut self, root: TermId, limit: Option<usize>) -> Result<Explored> {
        let mut exploring = Exploring::new(root);
        exploring.parallel = self.terms.has_parallel(root);
        // What was too large to be enumerated before is too large for a leaf.
        exploring.layers = self.terms.has_layers(root);
        self.control.progress().begin("exploring a component", 0);
        let mut at = 0;
        while at < exploring.states.len() {
            let states = exploring.states.len();
            if limit.is_some_and(|limit| exploring.layers || exploring.parallel && states > limit) {
                return Ok(Explored::Network);
            }
            if !exploring.states.is_packed() && self.is_large(&exploring, limit) {
                exploring.one_by_one = !self.pack(&mut exploring.states)?;
            }
            exploring.row.clear();
            exploring.parts.clear();
            let followed = match self.schema_of(&mut exploring, at)? {
                Some(schema) => self.follow(&mut exploring, at, schema)?,
                None => false,
            };
            if !followed {
                exploring.row.clear();
                exploring.parts.clear();
                self.explore_term(&mut exploring, at)?;
            }
            let transitions = exploring.end_row();
            self.control.progress().add(1, transitions as u64);
            at += 1;
        }
        let Exploring { states, rows, .. } = exploring;
        let lts = Lts::from_shared(self.labels.clone(), StateId(0), rows);
        let merged = self.machines.some_merged
            && (self.mention_merged(states.terms())
                || states.is_packed() && self.mention_merged(self.shapes.grounds()));
        let before = size(&lts);
        let machine = if self.options.compress_leaves {
            let small = minimise(&lts, Equivalence::Strong, &self.control)?;
            self.control.progress().begin(EVALUATING, 0);
            let mut kept = vec![u32::MAX; small.lts.state_count()];
            for state in (0..lts.state_count() as u32).rev() {
                if let Some(block) = small.block_of(StateId(state)) {
                    kept[block.index()] = state;
                }
            }
            let machine = self.add_machine(small.lts, StateTerms::some(states, kept), root);
            self.set_made(machine, Made { before, compression: Some("strong bisimulation"), inside: None });
            machine
        } else {
            let all = (0..lts.state_count() as u32).collect();
            self.add_machine(lts, StateTerms::some(states, all), root)
        };
        self.set_merged(machine, merged);
        Ok(Explored::Leaf(machine))
    }

    /// Has a component so many states or transitions that its states are packed?
    fn is_large(&self, exploring: &Exploring, limit: Option<usize>) -> bool {
        // A component with parallel parts becomes a network before that is worth its trouble.
        if exploring.one_by_one || self.is_timed || (exploring.parallel && limit.is_some()) {
            return false;
        }
        let from = self.options.schemas_from;
        exploring.states.len() >= from || exploring.transitions / TRANSITIONS >= from
    }

    /// Finds the transitions of a state by its term.
    fn explore_term(&mut self, exploring: &mut Exploring, at: usize) -> Result<()> {
        let term = self.state_term(&mut exploring.states, at)?;
        let pieces = self.pieces(term)?;
        for &piece in &pieces {
            if let Some(&known) = exploring.fragments.by_term.get(&piece) {
                exploring.parts.push(known);
                continue;
            }
            let from = exploring.row.len();
            for step in self.steps(piece)?.iter() {
                let (target, is_new) = self.state_of_term(&mut exploring.states, step.target, at)?;
                if is_new {
                    self.found_new(exploring, target)?;
                }
                exploring.row.push(Transition { label: step.label, target: StateId(target) });
            }
            if pieces.len() > 1 && exploring.row.len() - from >= LEAST_FRAGMENT {
                let fragment = exploring.fragment_from(from);
                exploring.fragments.by_term.insert(piece, fragment);
                exploring.parts.push(fragment);
            }
        }
        Ok(())
    }

    /// Terms whose steps together are those of a term; the term itself when it cannot be divided, or no part is long.
    /// A choice is divided into its operands where all their steps are visible: none of them leaves the choice open, or
    /// ends it beside others. Operators whose steps are those of one operand, one by one, are divided as it is. Steps
    /// are found in the order in which those of the whole term would be, so errors of evaluation are the same.
    pub(super) fn pieces(&mut self, term: TermId) -> Result<Vec<TermId>> {
        let whole = vec![term];
        if self.is_timed || !self.options.share_rows {
            return Ok(whole);
        }
        deeply(|| {
            let inner = match self.terms.node(term) {
                Node::External(operands) => {
                    let operands = operands.clone();
                    let mut pieces = Vec::with_capacity(operands.len());
                    for &operand in operands.iter() {
                        if self.steps(operand)?.iter().any(|step| step.label <= LabelId::TICK) {
                            return Ok(whole);
                        }
                        pieces.extend(self.pieces(operand)?);
                    }
                    let mut is_long = false;
                    for &piece in &pieces {
                        is_long |= self.steps(piece)?.len() >= LEAST_FRAGMENT;
                    }
                    return Ok(if is_long { pieces } else { whole });
                }
                Node::Hide(_, inner)
                | Node::Project(_, inner)
                | Node::Rename(_, inner)
                | Node::Sequential(inner, _)
                | Node::Exception(inner, ..) => *inner,
                _ => return Ok(whole),
            };
            let pieces = self.pieces(inner)?;
            if pieces.len() == 1 {
                return Ok(whole);
            }
            let wrapped = |piece: TermId| match *self.terms.node(term) {
                Node::Hide(set, _) => self.terms.hide(set, piece),
                Node::Project(set, _) => self.terms.project(set, piece),
                Node::Rename(renaming, _) => self.terms.rename(renaming, piece),
                Node::Sequential(_, then) => self.terms.intern(Node::Sequential(piece, then)),
                Node::Exception(_, set, then) => self.terms.intern(Node::Exception(piece, set, then)),
                _ => unreachable!("only operators with one active operand are divided"),
            };
            Ok(pieces.into_iter().map(wrapped).collect())
        })
    }

    pub(super) fn set_merged(&mut self, id: MachineId, merged: bool) {
        if let Some(data) = self.machines.data[id.index()].as_mut().filter(|_| merged) {
            data.merged = true;
            self.machines.some_merged = true;
        }
    }

    /// Is a state of a merged machine in the active part of one of these terms?
    fn mention_merged(&self, terms: &[TermId]) -> bool {
        let mut work = terms.to_vec();
        let mut met: HashSet<TermId, foldhash::fast::FixedState> = terms.iter().copied().collect();
        while let Some(term) = work.pop() {
            let node = self.terms.node(term);
            let merged = |id: MachineId| self.machines.data[id.index()].as_ref().is_some_and(|data| data.merged);
            if matches!(*node, Node::State(machine, _) if merged(machine)) {
                return true;
            }
            let both = node.both();
            let operands = node.active().iter().chain(both.iter().flatten());
            work.extend(operands.filter(|&&operand| met.insert(operand)));
        }
        false
    }

    /// The labels of the component that a hole stands for, ascending.
    pub(super) fn hole_labels(&self, hole: u32) -> &[LabelId] {
        let machine = self.machines.holes[hole as usize];
        match machine.layer() {
            Some(layer) => self.layer_data(layer).lazy.labels(),
            None => &self.machine(machine).alphabet,
        }
    }

    /// What a hole can do: whatever its component can in some state.
    pub(super) fn hole_steps(&self, term: TermId, component: u32) -> Vec<Move> {
        let alphabet = self.hole_labels(component);
        let step = |&label: &LabelId| Move { parts: Some([(component, label)].into()), ..Move::alone(label, term) };
        alphabet.iter().map(step).collect()
    }

    pub(super) fn state_steps(&mut self, id: MachineId, state: u32) -> Result<Vec<Move>> {
        self.finish(id)?;
        let lts = self.machine(id).lts.clone();
        let step = |transition: &Transition| {
            Move::alone(transition.label, self.terms.intern(Node::State(id, transition.target.0)))
        };
        Ok(match lts.shared() {
            Some(_) => lts.steps(StateId(state)).map(step).collect(),
            None => lts.outgoing(StateId(state)).iter().map(step).collect(),
        })
    }
}

/// Which parts of rows have no label in common: fragments, whose transitions are sorted by label.
#[derive(Default)]
struct Disjoint {
    /// For pairs of fragments.
    known: HashMap<(u32, u32), bool, foldhash::fast::FixedState>,
}

impl Disjoint {
    /// Has no label two places in a row?
    fn holds(&mut self, rows: &SharedRows, own: &[Transition], parts: &[u32]) -> bool {
        let has = |fragment: &[Transition], label| fragment.binary_search_by_key(&label, |step| step.label).is_ok();
        let apart = |part: &u32| own.iter().all(|step| !has(rows.fragment(*part), step.label));
        let pairs =
            || parts.iter().enumerate().flat_map(|(at, &one)| parts[at + 1..].iter().map(move |&two| (one, two)));
        parts.iter().all(apart)
            && pairs().all(|(one, two)| {
                let apart = || rows.fragment(one).iter().all(|step| !has(rows.fragment(two), step.label));
                one != two && *self.known.entry((one, two)).or_insert_with(apart)
            })
    }
}

fn sort_distinct(transitions: &mut Vec<Transition>, from: usize) {
    transitions[from..].sort_unstable_by_key(|transition| (transition.label, transition.target));
    let mut kept = from;
    for at in from..transitions.len() {
        if at == from || transitions[at] != transitions[kept - 1] {
            transitions[kept] = transitions[at];
            kept += 1;
        }
    }
    transitions.truncate(kept);
}
