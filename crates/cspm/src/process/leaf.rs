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
    pub(super) terms: Vec<TermId>,
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
    pub(super) fn new(lts: Arc<Lts>, terms: Vec<TermId>, root: TermId, like: MachineId, is_timed: bool) -> MachineData {
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
const LEAST_FRAGMENT: usize = 64;

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

    pub(super) fn add_machine(&mut self, lts: Lts, terms: Vec<TermId>, root: TermId) -> MachineId {
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
        let mut numbers: HashMap<TermId, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut terms = vec![root];
        numbers.insert(root, 0);
        let mut rows = SharedRows::default();
        let mut fragments: HashMap<TermId, u32, foldhash::fast::FixedState> = HashMap::default();
        let (mut row, mut parts): (Vec<Transition>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut disjoint = Disjoint::default();
        let mut parallel = self.terms.has_parallel(root);
        // What was too large to be enumerated before is too large for a leaf.
        let mut layers = self.terms.has_layers(root);
        self.control.progress().begin("exploring a component", 0);
        let mut at = 0;
        while at < terms.len() {
            if limit.is_some_and(|limit| layers || parallel && terms.len() > limit) {
                return Ok(Explored::Network);
            }
            row.clear();
            parts.clear();
            let pieces = self.pieces(terms[at])?;
            for &piece in &pieces {
                if let Some(&known) = fragments.get(&piece) {
                    parts.push(known);
                    continue;
                }
                let from = row.len();
                for step in self.steps(piece)?.iter() {
                    let next = terms.len() as u32;
                    let target = *numbers.entry(step.target).or_insert(next);
                    if target == next {
                        if let Some(grows) = self.grows(root, step.target) {
                            return Err(grows);
                        }
                        parallel |= self.terms.has_parallel(step.target);
                        layers |= self.terms.has_layers(step.target);
                        terms.push(step.target);
                        self.unbounded(&terms)?;
                    }
                    row.push(Transition { label: step.label, target: StateId(target) });
                }
                if pieces.len() > 1 && row.len() - from >= LEAST_FRAGMENT {
                    sort_distinct(&mut row, from);
                    let fragment = rows.add_fragment(row.drain(from..));
                    fragments.insert(piece, fragment);
                    parts.push(fragment);
                }
            }
            if !disjoint.holds(&rows, &row, &parts) {
                parts.drain(..).for_each(|part| row.extend_from_slice(rows.fragment(part)));
            }
            sort_distinct(&mut row, 0);
            let shared: usize = parts.iter().map(|&part| rows.fragment(part).len()).sum();
            self.control.progress().add(1, (row.len() + shared) as u64);
            rows.add_state(&row, &parts);
            at += 1;
        }
        let lts = Lts::from_shared(self.labels.clone(), StateId(0), rows);
        let merged = self.machines.some_merged && self.mention_merged(&terms);
        let before = size(&lts);
        let machine = if self.options.compress_leaves {
            let small = minimise(&lts, Equivalence::Strong, &self.control)?;
            self.control.progress().begin(EVALUATING, 0);
            let mut kept = vec![None; small.lts.state_count()];
            for (state, &term) in terms.iter().enumerate() {
                if let Some(block) = small.block_of(StateId(state as u32)) {
                    kept[block.index()].get_or_insert(term);
                }
            }
            let kept = kept.into_iter().map(|term| term.expect("a block has a state")).collect();
            let machine = self.add_machine(small.lts, kept, root);
            self.set_made(machine, Made { before, compression: Some("strong bisimulation"), inside: None });
            machine
        } else {
            self.add_machine(lts, terms, root)
        };
        self.set_merged(machine, merged);
        Ok(Explored::Leaf(machine))
    }

    /// Terms whose steps together are those of a term; the term itself when it cannot be divided, or no part is long.
    /// A choice is divided into its operands where all their steps are visible: none of them leaves the choice open, or
    /// ends it beside others. Operators whose steps are those of one operand, one by one, are divided as it is. Steps
    /// are found in the order in which those of the whole term would be, so errors of evaluation are the same.
    fn pieces(&mut self, term: TermId) -> Result<Vec<TermId>> {
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

    /// What a hole can do: whatever its component can in some state.
    pub(super) fn hole_steps(&self, term: TermId, component: u32) -> Vec<Move> {
        let machine = self.machines.holes[component as usize];
        let alphabet = match machine.layer() {
            Some(layer) => self.layer_data(layer).lazy.labels(),
            None => &self.machine(machine).alphabet,
        };
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
