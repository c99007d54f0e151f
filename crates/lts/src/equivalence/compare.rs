//! Are two systems equivalent, and if not, what shows it?
//!
//! For a bisimilarity the two systems are put side by side under a new state with one step to each, and that is
//! minimised: they are equivalent exactly when their initial states fall into one block. The new state cannot be
//! reached from either, so it changes nothing. Labels are matched by what they say; two systems need not share a table.
//!
//! For traces the sets of states that a trace leads to in the one and in the other are walked breadth-first, two by two, on the
//! common quotient modulo a finer bisimilarity, until one offers what the other does not. Pairs that follow from pairs
//! seen before are left out (Hopcroft and Karp, *A linear algorithm for testing equivalence of finite automata*, 1971): if such a
//! pair differed, one of those it follows from would, at the same length or less, so a first difference is still a shortest.
//!
//! The evidence is a trace that only one of the systems has; for strong bisimilarity a formula of least depth
//! ([`super::distinguish`]). Both are checked on the given systems, by code that shares nothing with this, before they are handed
//! out. Systems that are not branching, delay or weakly bisimilar often differ in their visible traces; when a bounded
//! search finds no such trace, the verdict stands alone, with the number of classes on either side.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, LabelId, Labels, StateId, System, has_trace, satisfies};

use super::determinise::Powerset;
use super::distinguish::distinguish;
use super::graph::Tau;
use super::{Equivalence, Minimised, minimise};
use crate::explicit::{Lts, Transition};

/// How many sets of states the search for a distinguishing trace may visit where the verdict does not need it.
const ENOUGH_SETS: usize = 50_000;

/// One of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// What shows that two systems are not equivalent.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A trace that only one of them has.
    Trace {
        /// Its labels.
        trace: Vec<LabelId>,
        /// The table of its labels.
        labels: Arc<Labels>,
        /// Who has it.
        holder: Side,
        /// May `τ` come between its labels?
        weak: bool,
    },
    /// A formula that holds for the left system and not for the right one.
    Formula(Formula),
}

/// The result of comparing two systems.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The verdict.
    pub equivalent: bool,
    /// Why not; already checked on both systems. Always there for strong bisimilarity and for traces.
    pub evidence: Option<Evidence>,
    /// For bisimilarities, the numbers of classes that the states of the left and of the right system fall into.
    pub classes: Option<(usize, usize)>,
}

/// Compares two systems.
pub fn compare(left: &Lts, right: &Lts, equivalence: Equivalence, control: &Control) -> Result<Comparison, Stopped> {
    let union = Union::new(left, right, control)?;
    let finer = match equivalence {
        Equivalence::Trace => Equivalence::Strong,
        Equivalence::WeakTrace => Equivalence::Branching,
        bisimilarity => bisimilarity,
    };
    let small = minimise(&union.lts, finer, control)?;
    let block = |state: StateId| small.block_of(state).expect("both systems are reachable from the new state");
    let starts = (block(union.left), block(union.right));
    let labels = union.lts.labels().clone();
    let classes = (union.classes(&small, Side::Left), union.classes(&small, Side::Right));
    drop(union);
    let evidence = match equivalence {
        _ if starts.0 == starts.1 => None,
        Equivalence::Trace => first_difference(&small.lts, starts, Tau::Visible, usize::MAX, control)?,
        Equivalence::WeakTrace => first_difference(&small.lts, starts, Tau::Internal, usize::MAX, control)?,
        Equivalence::Strong => Some(Evidence::Formula(distinguish(&small.lts, starts.0, starts.1, control)?)),
        _ => first_difference(&small.lts, starts, Tau::Internal, ENOUGH_SETS, control)?,
    };
    if let Some(evidence) = &evidence {
        let accepted = check(evidence, left, right, control)?;
        assert!(accepted, "the evidence against {equivalence} equivalence does not hold on the systems: {evidence:?}");
    }
    let is_trace = matches!(equivalence, Equivalence::Trace | Equivalence::WeakTrace);
    let equivalent = if is_trace { evidence.is_none() } else { starts.0 == starts.1 };
    debug_assert!(evidence.is_none() || Arc::ptr_eq(&labels, small.lts.labels()));
    Ok(Comparison { equivalent, evidence, classes: (!is_trace).then_some(classes) })
}

/// Does the evidence tell the two systems apart?
pub fn check(evidence: &Evidence, left: &dyn System, right: &dyn System, control: &Control) -> Result<bool, Stopped> {
    match evidence {
        Evidence::Formula(formula) => Ok(satisfies(left, formula, control)? && !satisfies(right, formula, control)?),
        Evidence::Trace { trace, labels, holder, weak } => {
            let (holder, other) = if *holder == Side::Left { (left, right) } else { (right, left) };
            let held = has_trace(holder, labels, trace, *weak, control)?;
            Ok(held && !has_trace(other, labels, trace, *weak, control)?)
        }
    }
}

/// Two systems side by side, under a state with a step to each.
struct Union {
    lts: Lts,
    left: StateId,
    right: StateId,
    left_states: usize,
}

impl Union {
    fn new(left: &Lts, right: &Lts, control: &Control) -> Result<Union, Stopped> {
        let count = left.transition_count() + right.transition_count() + 2;
        let states = left.state_count() + right.state_count() + 1;
        control.afford(count * size_of::<Transition>() + states * size_of::<usize>())?;
        let (labels, translation) = common_labels(left.labels(), right.labels());
        let mut starts = Vec::with_capacity(states + 1);
        let mut transitions = Vec::with_capacity(count);
        starts.extend(left.states().map(|state| left.start(state)));
        transitions.extend_from_slice(left.transitions());
        let shift = left.state_count() as u32;
        for state in right.states() {
            starts.push(transitions.len());
            transitions.extend(right.outgoing(state).iter().map(|t| Transition {
                label: translation.as_ref().map_or(t.label, |table| table[t.label.index()]),
                target: StateId(t.target.0 + shift),
            }));
        }
        let root = StateId(shift + right.state_count() as u32);
        let (left_start, right_start) = (left.initial(), StateId(right.initial().0 + shift));
        starts.push(transitions.len());
        transitions.push(Transition { label: LabelId::TICK, target: left_start });
        transitions.push(Transition { label: LabelId::TICK, target: right_start });
        starts.push(transitions.len());
        let lts = Lts::from_rows(labels, root, starts, transitions);
        Ok(Union { lts, left: left_start, right: right_start, left_states: left.state_count() })
    }

    /// How many blocks have a state of one side.
    fn classes(&self, small: &Minimised, side: Side) -> usize {
        let mut seen = vec![false; small.lts.state_count()];
        let both = self.lts.state_count() - 1;
        let range = if side == Side::Left { 0..self.left_states } else { self.left_states..both };
        for block in range.filter_map(|state| small.block_of(StateId(state as u32))) {
            seen[block.index()] = true;
        }
        seen.into_iter().filter(|seen| *seen).count()
    }
}

/// One table for both, and what the labels of the right one are in it when they change. The labels of the left table keep
/// their numbers.
fn common_labels(left: &Arc<Labels>, right: &Arc<Labels>) -> (Arc<Labels>, Option<Vec<LabelId>>) {
    if Arc::ptr_eq(left, right) {
        return (left.clone(), None);
    }
    let labels = Labels::new();
    for number in 0..left.len() as u32 {
        labels.intern(left.get(LabelId(number)).clone());
    }
    let translation = (0..right.len() as u32).map(|number| labels.intern(right.get(LabelId(number)).clone())).collect();
    (Arc::new(labels), Some(translation))
}

/// A shortest trace that one of two states has and the other has not, among the first sets of states.
fn first_difference(
    lts: &Lts,
    (left, right): (StateId, StateId),
    tau: Tau,
    enough: usize,
    control: &Control,
) -> Result<Option<Evidence>, Stopped> {
    control.progress().begin("comparing traces", 0);
    let mut powerset = Powerset::new(lts, tau, control);
    // A pair, with the pair it was reached from and by which label.
    let first = (powerset.closure(left), powerset.closure(right));
    let mut pairs = vec![(first.0, first.1, 0usize, LabelId::TAU)];
    let mut leaders = Leaders { leader: Vec::new() };
    if !leaders.join(first.0, first.1) {
        return Ok(None);
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < pairs.len() && powerset.len() < enough {
        let (one, other, ..) = pairs[at];
        ours.clear();
        theirs.clear();
        powerset.successors(one, |label, next| ours.push((label, next)))?;
        powerset.successors(other, |label, next| theirs.push((label, next)))?;
        let unmatched = |some: &[(LabelId, u32)], others: &[(LabelId, u32)]| {
            let missing = |label: &LabelId| others.binary_search_by_key(label, |step| step.0).is_err();
            some.iter().map(|step| step.0).find(missing)
        };
        let found = unmatched(&ours, &theirs).map(|label| (label, Side::Left));
        if let Some((label, holder)) = found.or_else(|| unmatched(&theirs, &ours).map(|label| (label, Side::Right))) {
            let mut trace = vec![label];
            while at != 0 {
                trace.push(pairs[at].3);
                at = pairs[at].2;
            }
            trace.reverse();
            let (labels, weak) = (lts.labels().clone(), tau != Tau::Visible);
            return Ok(Some(Evidence::Trace { trace, labels, holder, weak }));
        }
        for (&(label, next), &(_, answer)) in ours.iter().zip(&theirs) {
            if leaders.join(next, answer) {
                pairs.push((next, answer, at, label));
            }
        }
        at += 1;
    }
    Ok(None)
}

/// Which sets are known to have the same traces if all pairs seen so far have: a union-find forest.
struct Leaders {
    leader: Vec<u32>,
}

impl Leaders {
    fn find(&mut self, mut element: u32) -> u32 {
        while self.leader.len() <= element as usize {
            self.leader.push(self.leader.len() as u32);
        }
        while self.leader[element as usize] != element {
            let above = self.leader[self.leader[element as usize] as usize];
            self.leader[element as usize] = above;
            element = above;
        }
        element
    }

    /// True when they were not known to be the same.
    fn join(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.find(one), self.find(other));
        self.leader[one.max(other) as usize] = one.min(other);
        one != other
    }
}
