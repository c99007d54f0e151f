//! Does a permutation of labels carry a specification to itself?
//!
//! A permutation `π` of labels may be used for a reduction only when the specification is *`π`-bisimilar* to itself
//! (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3): `π(a)` leads to the image
//! of the state that `a` leads to. Only the initial state must be its own image; later ones may be carried to others,
//! and the product is permuted by the map of all of them.
//!
//! - A *normal form* that is complete is deterministic, so two walks, one along `a` and one along `π(a)`, visit the
//!   pairs of nodes and their images; acceptances and divergence are compared on the way. As no two nodes are
//!   equivalent, a node with two images refutes the permutation. Linear in the normal form.
//! - Otherwise nodes are sets, and the map is one of the states of a system without strongly bisimilar states. The
//!   system and its image are put side by side, and bisimilarity determines the image of each state. The map is an
//!   automorphism of the system, so elementwise it carries the set after a trace to the set after the image of the
//!   trace.
//!
//! When the image differs, the shortest trace after which the two differ is the reason.

use std::collections::{HashMap, VecDeque};

use trefoil_control::{Control, Stopped};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{AcceptanceId, LazyNormalForm, Lts, NodeId, Scratch, Transition};
use trefoil_system::{LabelId, Labels, StateId};

/// Why a specification is not its own image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// After this trace it differs from its image; when that is known.
    pub trace: Option<Vec<LabelId>>,
    /// How.
    pub difference: Difference,
}

/// How a specification differs from its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// It allows the first event, and not the second one, its image, after the image of the trace; or the other way
    /// round.
    Event(LabelId, LabelId),
    /// What it may refuse.
    Refusals,
    /// Whether it may diverge.
    Divergence,
    /// Where the trace leads.
    Future,
    /// It is not known, for this reason.
    Unknown(&'static str),
}

impl Obstacle {
    /// As text.
    pub fn describe(&self, labels: &Labels) -> String {
        let place = match self.trace.as_deref() {
            Some([]) => "at the start ".to_string(),
            Some(trace) => format!("after ⟨{}⟩ ", labels.texts(trace.iter().copied()).join(", ")),
            None => String::new(),
        };
        match self.difference {
            Difference::Event(event, image) => {
                let (event, image) = (labels.get(event), labels.get(image));
                format!("{place}the specification does not treat {event} and {image} alike")
            }
            Difference::Refusals => format!("{place}the specification may refuse other events than its image"),
            Difference::Divergence => {
                format!("{place}the specification may diverge and its image may not, or the other way round")
            }
            Difference::Future => format!("{place}the specification goes on otherwise than its image"),
            Difference::Unknown(why) => why.to_string(),
        }
    }
}

/// For each node its image, or why there is none; nodes that no trace leads to are fixed. The normal form is complete.
pub(crate) fn node_map(
    normal_form: &LazyNormalForm,
    image: &mut dyn FnMut(LabelId) -> LabelId,
    control: &Control,
) -> Result<Result<Vec<u32>, Obstacle>, Stopped> {
    let mut walk = Walk { normal_form, image, sets: Sets::default(), scratch: Scratch::default(), found: Vec::new() };
    let initial = normal_form.initial();
    let mut images: Vec<Option<NodeId>> = vec![None; normal_form.node_count().max(initial.0 as usize + 1)];
    images[initial.0 as usize] = Some(initial);
    let mut waiting = VecDeque::from([(initial, initial, None)]);
    while let Some((node, other, from)) = waiting.pop_front() {
        control.check()?;
        if images[node.0 as usize] != Some(other) {
            return Ok(Err(Obstacle { trace: Some(walk.trace(from)), difference: Difference::Future }));
        }
        if let Some(difference) = walk.differ(node, other) {
            return Ok(Err(Obstacle { trace: Some(walk.trace(from)), difference }));
        }
        if node == NodeId::CHAOS {
            continue;
        }
        for label in normal_form.labels(node) {
            let permuted = (walk.image)(label);
            let next = normal_form.successor(node, label, &mut walk.scratch, control)?;
            let other = normal_form.successor(other, permuted, &mut walk.scratch, control)?;
            let (Some(next), Some(other)) = (next, other) else { unreachable!("both allow it") };
            if images.len() <= next.0 as usize {
                images.resize(next.0 as usize + 1, None);
            }
            // A second image is detected when its turn comes, so that a shorter trace is not missed.
            if images[next.0 as usize] != Some(other) {
                images[next.0 as usize].get_or_insert(other);
                walk.found.push((label, from));
                waiting.push_back((next, other, Some(walk.found.len() - 1)));
            }
        }
    }
    let mut map: Vec<u32> = (0..normal_form.node_count() as u32).collect();
    for (place, image) in map.iter_mut().zip(images) {
        *place = image.map_or(*place, |image| image.0);
    }
    Ok(Ok(map))
}

/// Two walks at a time through one normal form.
struct Walk<'a> {
    normal_form: &'a LazyNormalForm,
    image: &'a mut dyn FnMut(LabelId) -> LabelId,
    sets: Sets,
    scratch: Scratch,
    /// The events that were taken, each with the one before it.
    found: Vec<(LabelId, Option<usize>)>,
}

impl Walk<'_> {
    fn trace(&self, mut from: Option<usize>) -> Vec<LabelId> {
        let mut trace = Vec::new();
        while let Some(at) = from {
            trace.push(self.found[at].0);
            from = self.found[at].1;
        }
        trace.reverse();
        trace
    }

    /// How one node differs from the other, which should be its image.
    fn differ(&mut self, node: NodeId, other: NodeId) -> Option<Difference> {
        if node == NodeId::CHAOS || other == NodeId::CHAOS {
            return (node != other).then_some(Difference::Divergence);
        }
        let normal_form = self.normal_form;
        for label in normal_form.labels(node) {
            let image = (self.image)(label);
            if !normal_form.allows_event(other, image) {
                return Some(Difference::Event(label, image));
            }
        }
        if normal_form.labels(node).len() != normal_form.labels(other).len() {
            let reached: Vec<LabelId> = normal_form.labels(node).map(&mut *self.image).collect();
            let extra = normal_form.labels(other).find(|label| !reached.contains(label))?;
            return Some(Difference::Event(extra, extra));
        }
        let mut expected: Vec<u32> =
            normal_form.family(node).iter().map(|&set| self.sets.permuted(set, normal_form, self.image)).collect();
        let mut found: Vec<u32> =
            normal_form.family(other).iter().map(|&set| self.sets.own(set, normal_form)).collect();
        expected.sort_unstable();
        found.sort_unstable();
        (expected != found).then_some(Difference::Refusals)
    }
}

/// Numbers of sets of labels, and of their images.
#[derive(Default)]
struct Sets {
    numbers: HashMap<Vec<LabelId>, u32, foldhash::fast::FixedState>,
    own: HashMap<AcceptanceId, u32, foldhash::fast::FixedState>,
    permuted: HashMap<AcceptanceId, u32, foldhash::fast::FixedState>,
}

impl Sets {
    fn number(&mut self, labels: Vec<LabelId>) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(labels).or_insert(next)
    }

    fn own(&mut self, set: AcceptanceId, normal_form: &LazyNormalForm) -> u32 {
        if let Some(&known) = self.own.get(&set) {
            return known;
        }
        let number = self.number(normal_form.acceptances().labels(set).collect());
        self.own.insert(set, number);
        number
    }

    fn permuted(
        &mut self,
        set: AcceptanceId,
        normal_form: &LazyNormalForm,
        image: &mut dyn FnMut(LabelId) -> LabelId,
    ) -> u32 {
        if let Some(&known) = self.permuted.get(&set) {
            return known;
        }
        let mut labels: Vec<LabelId> = normal_form.acceptances().labels(set).map(image).collect();
        labels.sort_unstable();
        let number = self.number(labels);
        self.permuted.insert(set, number);
        number
    }
}

/// For each state its image, or why there is none. All states can be reached, and no two of them are strongly
/// bisimilar.
pub(crate) fn state_map(
    lts: &Lts,
    image: &mut dyn FnMut(LabelId) -> LabelId,
    control: &Control,
) -> Result<Result<Vec<u32>, Obstacle>, Stopped> {
    let states = lts.state_count();
    control.afford(2 * states * size_of::<usize>() + 2 * lts.transition_count() * size_of::<Transition>())?;
    let mut starts = Vec::with_capacity(2 * states + 2);
    let mut transitions = Vec::with_capacity(2 * lts.transition_count() + 2);
    let shift = states as u32;
    for state in lts.states() {
        starts.push(transitions.len());
        transitions.extend_from_slice(lts.outgoing(state));
    }
    for state in lts.states() {
        starts.push(transitions.len());
        let permuted =
            |step: &Transition| Transition { label: image(step.label), target: StateId(step.target.0 + shift) };
        transitions.extend(lts.outgoing(state).iter().map(permuted));
    }
    // A state that leads to both.
    starts.push(transitions.len());
    let both = [lts.initial(), StateId(lts.initial().0 + shift)];
    transitions.extend(both.map(|target| Transition { label: LabelId::TAU, target }));
    starts.push(transitions.len());
    let beside = Lts::from_rows(lts.labels().clone(), StateId(2 * shift), starts, transitions);
    let classes = minimise(&beside, Equivalence::Strong, control)?;
    let mut members: HashMap<StateId, u32, foldhash::fast::FixedState> = HashMap::default();
    for state in lts.states() {
        if let Some(block) = classes.block_of(state) {
            members.insert(block, state.0);
        }
    }
    let image_of = |state: StateId| members.get(&classes.block_of(StateId(state.0 + shift))?).copied();
    if image_of(lts.initial()) != Some(lts.initial().0) {
        return Ok(Err(Obstacle { trace: None, difference: Difference::Unknown(NOT_BISIMILAR) }));
    }
    let map: Option<Vec<u32>> = lts.states().map(image_of).collect();
    Ok(map.ok_or(Obstacle { trace: None, difference: Difference::Unknown(NOT_BISIMILAR) }))
}

const NOT_BISIMILAR: &str = "the specification is not bisimilar to its image";
