//! The normal form of a specification, computed on demand.
//!
//! A node is the set of states that the specification can be in after a trace, closed under `τ` (the subset
//! construction; definitions 58 of Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, and
//! 2.2.3 and 2.2.16 of Laveaux, *Accelerated verification of concurrent systems*, 2022). Nodes are interned, the
//! successor of a node by a label is computed when a search first needs it and remembered, and so are the minimal
//! acceptances of a node. All of this works from any number of threads at once; each brings its own [`Scratch`].
//!
//! Where we depart from the papers:
//!
//! - A node keeps only the states whose presence makes a difference: those with a visible transition, and in models
//!   with failures also those with an acceptance. A state that only steps by `τ` adds nothing once the closure is
//!   taken, and a state without transitions adds nothing to traces. Sets get smaller, more of them are equal and more
//!   of them are inside another, and the inclusion that antichains rest on is preserved: if the kept states of one node
//!   are among those of another, it has no more traces, acceptances or divergences. So a node may be the empty set and
//!   still be a node; only a missing successor says that a trace is *not* one of the specification.
//! - Where divergence is observed, after a divergence everything is allowed: all diverging sets are one node,
//!   [`NodeId::CHAOS`].
//! - Revivals need more than the least acceptances: a state that offers exactly `O` is allowed when `O` is the union of
//!   the acceptances of the node that are inside `O` (each of its events is offered by a stable state that offers
//!   nothing else), and the empty `O` when the empty set is one of them. So of the acceptances that contain an event
//!   the least are kept, for each event ([`Acceptances::keep_minimal_with_each_label`]).
//! - In refusal testing the observer goes on from the states that refused what it saw refused: the stable states of a
//!   node whose offers are inside the set that was observed. These are a node as well, made when it is first needed.
//!   What a node says about the offers of an implementation is in [`offers`].
//!
//! Inclusion is first tested on 64-bit signatures (state modulo 64), which is exact when the specification has at most
//! 64 states, and then on the sorted slices.
//!
//! Cost: a successor is linear in the transitions of the states of the set and of their closure, plus sorting it; a
//! node takes 4 bytes a state, 8 bytes a label that it allows, and about a hundred bytes of its own.

mod offers;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Model};

use crate::answers::Answers;
use crate::divergence::diverging_states;
use crate::explicit::{Lts, Transition};
use crate::generalised::{AcceptanceId, Acceptances, FamilyId, Glts, stable_acceptances};
use crate::interner::{Probe, hash_slice};

use offers::MET;
pub use offers::Within;

/// The number of a node of a normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node of every trace on which the specification diverges, in models that observe it.
    pub const CHAOS: NodeId = NodeId(0);
}

const UNKNOWN: u32 = u32::MAX;
const SHARDS: usize = 16;

struct Edge {
    label: LabelId,
    target: AtomicU32,
}

struct Node {
    states: Box<[u32]>,
    hash: u64,
    signature: u64,
    edges: OnceLock<Box<[Edge]>>,
    family: OnceLock<Box<[AcceptanceId]>>,
}

/// What one thread needs to compute successors.
#[derive(Default)]
pub struct Scratch {
    marks: Vec<u32>,
    round: u32,
    found: Vec<u32>,
    kept: Vec<u32>,
    single: Vec<Transition>,
    /// By label, twice the round in which it was offered, and one more when a stable state of the specification was
    /// found that offers it, too.
    offered: Vec<u32>,
    offers: u32,
    /// What was answered about what is offered.
    answers: Answers,
}

/// The transitions of a specification as the construction needs them: visible ones by label, `τ` apart.
struct Rows {
    visible_starts: Vec<usize>,
    visible: Vec<Transition>,
    tau_starts: Vec<usize>,
    tau: Vec<u32>,
}

/// A normal form that grows on demand.
pub struct LazyNormalForm {
    /// Distinguishes it from the others whose answers a thread may have kept.
    number: u64,
    rows: Rows,
    model: Model,
    acceptances: Acceptances,
    families: Vec<FamilyId>,
    diverging: Vec<bool>,
    kept: Vec<bool>,
    nodes: boxcar::Vec<Node>,
    index: [Mutex<Probe>; SHARDS],
    /// By state, the node of its closure, once it was computed.
    closures: Vec<AtomicU32>,
    initial: NodeId,
}

impl LazyNormalForm {
    /// The normal form of an ordinary system in a model.
    pub fn new(lts: &Lts, model: Model, control: &Control) -> Result<LazyNormalForm, Stopped> {
        lts.make_whole(control)?;
        let (acceptances, families) = match model {
            Model::Traces => (Acceptances::new(), Vec::new()),
            _ => stable_acceptances(lts, control)?,
        };
        let diverging = if model.observes_divergence() { diverging_states(lts, control)? } else { Vec::new() };
        LazyNormalForm::build(lts, model, acceptances, families, diverging, control)
    }

    /// The normal form of a generalised system in a model, which its acceptances were kept for. There is none for
    /// refusal testing: its states stand for several.
    pub fn of_generalised(glts: &Glts, model: Model, control: &Control) -> Result<LazyNormalForm, Stopped> {
        let lts = glts.lts();
        let families = match model {
            Model::Traces => Vec::new(),
            _ => lts.states().map(|state| glts.family(state)).collect(),
        };
        let diverging = match model {
            _ if model.observes_divergence() => lts.states().map(|state| glts.diverges(state)).collect(),
            _ => Vec::new(),
        };
        debug_assert!(!model.observes_refusals_on_the_way(), "a state that stands for several has no single refusal");
        LazyNormalForm::build(lts, model, glts.acceptances().clone(), families, diverging, control)
    }

    /// The normal form that traces, failures and failures-divergences can all be read from: as in the failures model,
    /// except that nodes also differ by divergence and are not cut off there ([`LazyNormalForm::diverges`]).
    /// `diverging` says which states have a `τ`-loop; there are no longer cycles of `τ`.
    pub(crate) fn for_every_model(
        lts: &Lts,
        diverging: Vec<bool>,
        control: &Control,
    ) -> Result<LazyNormalForm, Stopped> {
        let (acceptances, families) = stable_acceptances(lts, control)?;
        LazyNormalForm::build(lts, Model::Failures, acceptances, families, diverging, control)
    }

    fn build(
        lts: &Lts,
        model: Model,
        acceptances: Acceptances,
        families: Vec<FamilyId>,
        diverging: Vec<bool>,
        control: &Control,
    ) -> Result<LazyNormalForm, Stopped> {
        let rows = Rows::new(lts, control)?;
        let kept = lts
            .states()
            .map(|state| {
                !rows.visible(state.0).is_empty()
                    || families.get(state.index()).is_some_and(|&family| family != Acceptances::NONE)
                    || diverging.get(state.index()).is_some_and(|&diverges| diverges)
            })
            .collect();
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let mut normal_form = LazyNormalForm {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            rows,
            model,
            acceptances,
            families,
            diverging,
            kept,
            nodes: boxcar::Vec::new(),
            index: std::array::from_fn(|_| Mutex::default()),
            closures: (0..lts.state_count()).map(|_| AtomicU32::new(UNKNOWN)).collect(),
            initial: NodeId::CHAOS,
        };
        // Chaos is not in the index: no set of states is it, however little it keeps.
        normal_form.nodes.push(Node::new(Box::default(), 0));
        let mut scratch = Scratch::default();
        scratch.begin(lts.state_count());
        scratch.add(lts.initial().0);
        normal_form.initial = normal_form.close(&mut scratch, control)?;
        Ok(normal_form)
    }

    /// Numbers the nodes of single states in the order of the states: all nodes, when this is the normal form of one
    /// that is complete. Else which number a node has depends on which thread meets it first.
    pub fn numbered(self, control: &Control) -> Result<LazyNormalForm, Stopped> {
        let mut scratch = Scratch::default();
        for state in 0..self.kept.len() as u32 {
            scratch.begin(self.kept.len());
            scratch.add(state);
            self.closure_of(state, &mut scratch, control)?;
        }
        Ok(self)
    }

    /// The node of the empty trace.
    pub fn initial(&self) -> NodeId {
        self.initial
    }

    /// How many nodes were found, chaos included.
    pub fn node_count(&self) -> usize {
        self.nodes.count()
    }

    /// The states that a node keeps, ascending.
    pub fn states(&self, node: NodeId) -> &[u32] {
        &self.nodes[node.0 as usize].states
    }

    /// Can a node keep this state?
    pub fn can_keep(&self, state: u32) -> bool {
        self.kept.get(state as usize) == Some(&true)
    }

    /// The labels that can follow, ascending. None follow chaos, which allows them all.
    pub fn labels(&self, node: NodeId) -> impl ExactSizeIterator<Item = LabelId> + '_ {
        self.edges(node).iter().map(|edge| edge.label)
    }

    /// The node after one more event; `None` when the specification does not allow it. Must not be called on chaos.
    #[inline]
    pub fn successor(
        &self,
        node: NodeId,
        label: LabelId,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<Option<NodeId>, Stopped> {
        let edges = self.edges(node);
        match edges.binary_search_by_key(&label, |edge| edge.label) {
            Ok(place) => self.target(node, &edges[place], scratch, control).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The events that can follow a node, to be looked up one after the other. Must not be called on chaos.
    #[inline]
    pub fn following(&self, node: NodeId) -> Following<'_> {
        Following { normal_form: self, node, edges: self.edges(node), place: 0 }
    }

    /// The node that an edge leads to.
    #[inline]
    fn target(&self, node: NodeId, edge: &Edge, scratch: &mut Scratch, control: &Control) -> Result<NodeId, Stopped> {
        match edge.target.load(Ordering::Acquire) {
            UNKNOWN => self.find_target(node, edge, scratch, control),
            known => Ok(NodeId(known)),
        }
    }

    fn find_target(
        &self,
        node: NodeId,
        edge: &Edge,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<NodeId, Stopped> {
        let label = edge.label;
        scratch.begin(self.kept.len());
        for &state in self.states(node) {
            let row = self.rows.visible(state);
            let first = row.partition_point(|step| step.label < label);
            for step in row[first..].iter().take_while(|step| step.label == label) {
                scratch.add(step.target.0);
            }
        }
        let target = match scratch.found[..] {
            [only] => self.closure_of(only, scratch, control)?,
            _ => self.close(scratch, control)?,
        };
        edge.target.store(target.0, Ordering::Release);
        Ok(target)
    }

    /// Can this event follow? Must not be called on chaos, which allows it.
    pub fn allows_event(&self, node: NodeId, label: LabelId) -> bool {
        self.edges(node).binary_search_by_key(&label, |edge| edge.label).is_ok()
    }

    /// Does the specification accept something inside the labels for which `offered` holds, after this trace?
    pub fn allows(&self, node: NodeId, mut offered: impl FnMut(LabelId) -> bool) -> bool {
        self.family(node).iter().any(|&set| self.acceptances.labels(set).all(&mut offered))
    }

    /// The acceptances of a node that its model needs: the minimal ones, or for revivals the minimal ones with each
    /// label.
    pub fn family(&self, node: NodeId) -> &[AcceptanceId] {
        let node = &self.nodes[node.0 as usize];
        node.family.get_or_init(|| {
            if self.families.is_empty() {
                return Box::default();
            }
            let families = node.states.iter().map(|&state| self.families[state as usize]);
            let mut families: Vec<FamilyId> = families.filter(|&family| family != Acceptances::NONE).collect();
            families.sort_unstable();
            families.dedup();
            let mut sets: Vec<AcceptanceId> =
                families.iter().flat_map(|&family| self.acceptances.sets(family)).collect();
            if self.model.observes_revivals() {
                self.acceptances.keep_minimal_with_each_label(&mut sets);
            } else {
                self.acceptances.keep_minimal(&mut sets);
            }
            sets.into_boxed_slice()
        })
    }

    /// Can a state of this node diverge? Chaos can; another node only where divergence does not lead to chaos.
    pub(crate) fn diverges(&self, node: NodeId) -> bool {
        let diverging = |&state: &u32| self.diverging.get(state as usize).is_some_and(|&diverges| diverges);
        node == NodeId::CHAOS || self.states(node).iter().any(diverging)
    }

    /// The table of the acceptances that [`LazyNormalForm::family`] names.
    pub fn acceptances(&self) -> &Acceptances {
        &self.acceptances
    }

    /// Is every state that `inner` keeps one that `outer` keeps? Must not be called on chaos.
    #[inline]
    pub fn is_inside(&self, inner: NodeId, outer: NodeId) -> bool {
        if inner == outer {
            return true;
        }
        let (inner, outer) = (&self.nodes[inner.0 as usize], &self.nodes[outer.0 as usize]);
        if inner.signature & !outer.signature != 0 {
            return false;
        }
        self.kept.len() <= 64 || is_sorted_subset(&inner.states, &outer.states)
    }

    fn edges(&self, node: NodeId) -> &[Edge] {
        let node = &self.nodes[node.0 as usize];
        node.edges.get_or_init(|| {
            let mut labels: Vec<LabelId> = Vec::new();
            for &state in &node.states {
                labels.extend(self.rows.visible(state).iter().map(|step| step.label));
            }
            if node.states.len() > 1 {
                labels.sort_unstable();
            }
            labels.dedup();
            labels.into_iter().map(|label| Edge { label, target: AtomicU32::new(UNKNOWN) }).collect()
        })
    }

    /// The node of one state and what it reaches by `τ`: what most events of a specification that is nearly
    /// deterministic lead to, from many nodes. The state is all that was found.
    fn closure_of(&self, state: u32, scratch: &mut Scratch, control: &Control) -> Result<NodeId, Stopped> {
        let place = &self.closures[state as usize];
        let known = place.load(Ordering::Acquire);
        if known != UNKNOWN {
            return Ok(NodeId(known));
        }
        let node = self.close(scratch, control)?;
        place.store(node.0, Ordering::Release);
        Ok(node)
    }

    /// Closes what was found under `τ` and gives its node.
    fn close(&self, scratch: &mut Scratch, control: &Control) -> Result<NodeId, Stopped> {
        let observes_divergence = self.model.observes_divergence();
        scratch.kept.clear();
        let mut next = 0;
        while next < scratch.found.len() {
            let state = scratch.found[next];
            next += 1;
            if next.is_multiple_of(4096) {
                control.check()?;
            }
            if observes_divergence && self.diverging[state as usize] {
                return Ok(NodeId::CHAOS);
            }
            if self.kept[state as usize] {
                scratch.kept.push(state);
            }
            for &target in self.rows.tau(state) {
                scratch.add(target);
            }
        }
        scratch.kept.sort_unstable();
        self.intern(&scratch.kept, control)
    }

    /// The node that keeps exactly these states, ascending: the image of a node under a permutation of the states,
    /// which may be a node that was not computed yet.
    pub fn node_of(&self, states: &[u32], control: &Control) -> Result<NodeId, Stopped> {
        debug_assert!(states.is_sorted_by(|one, other| one < other), "ascending");
        self.intern(states, control)
    }

    fn intern(&self, states: &[u32], control: &Control) -> Result<NodeId, Stopped> {
        let hash = hash_slice(states);
        let shard = &self.index[(hash >> 32) as usize % SHARDS];
        let mut index = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |number: u32| {
            let node = &self.nodes[number as usize];
            node.hash == hash && *node.states == *states
        };
        if let Some(known) = index.find(hash, same) {
            return Ok(NodeId(known));
        }
        control.check()?;
        let growth = index.growth() + size_of_val(states);
        if growth > 1 << 20 {
            control.afford(growth)?;
        }
        let number = self.nodes.push(Node::new(states.into(), hash));
        let number = u32::try_from(number).ok().filter(|&number| number < MET);
        let number = number.ok_or_else(|| control.out_of_numbers())?;
        index.insert(hash, number, |other| self.nodes[other as usize].hash);
        Ok(NodeId(number))
    }
}

/// The events that can follow a node: an event that comes directly after the previous query is found immediately.
pub struct Following<'a> {
    normal_form: &'a LazyNormalForm,
    node: NodeId,
    edges: &'a [Edge],
    /// After the edge that was found last.
    place: usize,
}

impl Following<'_> {
    /// The node after an event; `None` when the specification does not allow it.
    #[inline]
    pub fn successor(
        &mut self,
        label: LabelId,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<Option<NodeId>, Stopped> {
        if self.edges.get(self.place).is_none_or(|edge| edge.label != label) {
            let Ok(place) = self.edges.binary_search_by_key(&label, |edge| edge.label) else { return Ok(None) };
            self.place = place;
        }
        let edge = &self.edges[self.place];
        self.place += 1;
        self.normal_form.target(self.node, edge, scratch, control).map(Some)
    }
}

impl Node {
    fn new(states: Box<[u32]>, hash: u64) -> Node {
        let signature = states.iter().fold(0, |bits, state| bits | 1u64 << (state % 64));
        Node { states, hash, signature, edges: OnceLock::new(), family: OnceLock::new() }
    }
}

impl Scratch {
    fn begin(&mut self, states: usize) {
        self.found.clear();
        if self.marks.len() < states {
            self.marks.resize(states, 0);
        }
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill(0);
            self.round = 1;
        }
    }

    #[inline]
    fn add(&mut self, state: u32) {
        let mark = &mut self.marks[state as usize];
        if *mark != self.round {
            *mark = self.round;
            self.found.push(state);
        }
    }
}

impl Rows {
    fn new(lts: &Lts, control: &Control) -> Result<Rows, Stopped> {
        let (states, transitions) = (lts.state_count(), lts.transition_count());
        control.afford((states + 1) * 2 * size_of::<usize>() + transitions * size_of::<Transition>())?;
        let mut rows = Rows {
            visible_starts: Vec::with_capacity(states + 1),
            visible: Vec::with_capacity(transitions),
            tau_starts: Vec::with_capacity(states + 1),
            tau: Vec::new(),
        };
        for state in lts.states() {
            if state.0.is_multiple_of(4096) {
                control.check()?;
            }
            let first = rows.visible.len();
            rows.visible_starts.push(first);
            rows.tau_starts.push(rows.tau.len());
            for step in lts.outgoing(state) {
                if step.label == LabelId::TAU {
                    rows.tau.push(step.target.0);
                } else {
                    rows.visible.push(*step);
                }
            }
            if !rows.visible[first..].is_sorted() {
                rows.visible[first..].sort_unstable();
            }
        }
        rows.visible_starts.push(rows.visible.len());
        rows.tau_starts.push(rows.tau.len());
        Ok(rows)
    }

    #[inline]
    fn visible(&self, state: u32) -> &[Transition] {
        &self.visible[self.visible_starts[state as usize]..self.visible_starts[state as usize + 1]]
    }

    #[inline]
    fn tau(&self, state: u32) -> &[u32] {
        &self.tau[self.tau_starts[state as usize]..self.tau_starts[state as usize + 1]]
    }
}

/// Are all numbers of one ascending slice in another one?
fn is_sorted_subset(inner: &[u32], outer: &[u32]) -> bool {
    if inner.len() > outer.len() {
        return false;
    }
    let mut rest = outer;
    for (index, &wanted) in inner.iter().enumerate() {
        // Halving wins when few are left to find in many.
        let place = if rest.len() / 16 > inner.len() - index {
            rest.partition_point(|&state| state < wanted)
        } else {
            rest.iter().position(|&state| state >= wanted).unwrap_or(rest.len())
        };
        if rest.get(place) != Some(&wanted) {
            return false;
        }
        rest = &rest[place + 1..];
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use trefoil_system::Labels;

    use super::*;
    use crate::random::{Random, RandomShape, random_lts};

    #[test]
    fn inclusion_of_sorted_slices() {
        let mut random = Random::new(5);
        for _ in 0..5000 {
            let mut set = |size| -> BTreeSet<u32> { (0..size).map(|_| random.below(300) as u32).collect() };
            let (mut inner, outer) = (set(2), set(200));
            if outer.len().is_multiple_of(2) {
                inner =
                    outer.iter().copied().filter(|state| state % 5 == 0).chain(inner.iter().copied().take(1)).collect();
            }
            let (left, right): (Vec<u32>, Vec<u32>) =
                (inner.iter().copied().collect(), outer.iter().copied().collect());
            assert_eq!(is_sorted_subset(&left, &right), inner.is_subset(&outer), "{left:?} {right:?}");
        }
    }

    #[test]
    fn threads_discover_one_normal_form() {
        let shape = RandomShape { states: 14, transitions: 40, labels: 3, tau_percent: 15 };
        let lts = random_lts(&Arc::new(Labels::new()), shape, &mut Random::new(3));
        let control = Control::unlimited();
        let normal_form = LazyNormalForm::new(&lts, Model::Failures, &control).unwrap();
        let discover = || {
            let mut scratch = Scratch::default();
            let mut seen = BTreeSet::from([normal_form.initial()]);
            let mut work = vec![normal_form.initial()];
            while let Some(node) = work.pop() {
                for label in normal_form.labels(node) {
                    let next = normal_form.successor(node, label, &mut scratch, &control).unwrap().unwrap();
                    if seen.insert(next) {
                        work.push(next);
                    }
                }
            }
            seen.into_iter().map(|node| normal_form.states(node).to_vec()).collect::<BTreeSet<_>>()
        };
        let found: Vec<_> =
            std::thread::scope(|scope| (0..4).map(|_| scope.spawn(discover)).map(|t| t.join().unwrap()).collect());
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(found[0].len() + 1, normal_form.node_count(), "every set is one node");
    }
}
