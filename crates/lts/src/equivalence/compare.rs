//! Are two systems equivalent, and if not, what shows it?
//!
//! For a bisimilarity the two systems are put side by side under a new state with one step to each, and that is
//! minimised: they are equivalent exactly when their initial states fall into one block. The new state cannot be
//! reached from either, so it changes nothing. Labels are matched by what they say; two systems need not share a table.
//!
//! For traces the sets of states that a trace leads to in the one and in the other are walked breadth-first, two by
//! two, on the common quotient modulo a finer bisimilarity, until one offers what the other does not. Pairs that follow
//! from pairs seen before are left out (Hopcroft and Karp, *A linear algorithm for testing equivalence of finite
//! automata*, 1971): if such a pair differed, one of those it follows from would, at the same length or less, so a
//! first difference is still a shortest.
//!
//! For simulations the systems are side by side, too, and both directions are checked.
//!
//! The evidence is a trace that only one of the systems has; for bisimilarities and simulations a formula on which
//! equivalent states agree ([`super::distinguish`], [`super::distinguish_silent`], [`super::distinguish_simulation`]).
//! Both are checked on the given systems, by code that shares nothing with this, before they are returned. Systems that
//! are not branching, delay or weakly bisimilar often differ in their visible traces, which is easier to understand;
//! when a bounded search finds such a trace, it comes with the formula.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Cut, Formula, LabelId, Labels, Logic, StateId, System, has_trace, satisfies};

use super::determinise::Powerset;
use super::graph::Tau;
use super::saturation::Pass;
use super::simulation::simulate;
use super::{
    Equivalence, Minimised, coupled, distinguish, distinguish_silent, distinguish_simulation, futures, minimise,
};
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
        /// Which of the systems has it.
        holder: Side,
        /// May `τ` come between its labels?
        weak: bool,
    },
    /// A formula that only one of them satisfies.
    Formula {
        /// The formula.
        formula: Formula,
        /// Which of the systems satisfies it.
        holder: Side,
        /// What makes it evidence: equivalent states agree on formulas of this logic.
        logic: Logic,
        /// How many of the logic's modalities are nested; except for branching bisimilarity no formula with fewer
        /// suffices.
        depth: usize,
    },
}

/// The result of comparing two systems.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The verdict.
    pub equivalent: bool,
    /// Why not; already checked on both systems: a trace for traces, a formula for all others.
    pub evidence: Option<Evidence>,
    /// For bisimilarities that pass over `τ`, a visible trace that only one of them has, if there is one and it was
    /// found.
    pub trace: Option<Evidence>,
    /// For bisimilarities and simulations, the numbers of classes that the states of the left and of the right system
    /// fall into.
    pub classes: Option<(usize, usize)>,
}

/// The result of checking whether one system simulates another.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The verdict.
    pub holds: bool,
    /// Why not; already checked on both systems.
    pub evidence: Option<Evidence>,
    /// The numbers of classes that the states of the lower and of the upper system fall into.
    pub classes: (usize, usize),
}

/// Does the upper system simulate the lower one, or is it even a ready simulation?
pub fn is_simulated(lower: &Lts, upper: &Lts, ready: bool, control: &Control) -> Result<Simulated, Stopped> {
    lower.make_whole(control)?;
    upper.make_whole(control)?;
    let both = Simulations::new(lower, upper, ready, control)?;
    let holds = both.above(both.left, both.right);
    let evidence = if holds { None } else { Some(both.evidence(Side::Left, control)?) };
    verify(evidence.as_ref(), lower, upper, control)?;
    Ok(Simulated { holds, evidence, classes: both.classes })
}

/// Compares two systems.
pub fn compare(left: &Lts, right: &Lts, equivalence: Equivalence, control: &Control) -> Result<Comparison, Stopped> {
    left.make_whole(control)?;
    right.make_whole(control)?;
    if matches!(equivalence, Equivalence::Simulation | Equivalence::ReadySimulation) {
        let both = Simulations::new(left, right, equivalence == Equivalence::ReadySimulation, control)?;
        let evidence = if !both.above(both.left, both.right) {
            Some(both.evidence(Side::Left, control)?)
        } else if !both.above(both.right, both.left) {
            Some(both.evidence(Side::Right, control)?)
        } else {
            None
        };
        verify(evidence.as_ref(), left, right, control)?;
        let equivalent = evidence.is_none();
        return Ok(Comparison { equivalent, evidence, trace: None, classes: Some(both.classes) });
    }
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
        _ => {
            let (formula, depth) = match silent_pass(equivalence) {
                None => {
                    let formula = distinguish::distinguish(&small.lts, starts.0, starts.1, control)?;
                    let depth = formula.depth();
                    (formula, depth)
                }
                Some(pass) => distinguish_silent::distinguish(&small.lts, starts, equivalence.tau(), pass, control)?,
            };
            let logic = equivalence.logic().expect("only traces have none");
            Some(Evidence::Formula { formula, holder: Side::Left, logic, depth })
        }
    };
    let trace = match silent_pass(equivalence) {
        Some(_) if starts.0 != starts.1 => first_difference(&small.lts, starts, Tau::Internal, ENOUGH_SETS, control)?,
        _ => None,
    };
    verify(evidence.as_ref(), left, right, control)?;
    verify(trace.as_ref(), left, right, control)?;
    let is_trace = matches!(equivalence, Equivalence::Trace | Equivalence::WeakTrace);
    let equivalent = if is_trace { evidence.is_none() } else { starts.0 == starts.1 };
    debug_assert!(evidence.is_none() || Arc::ptr_eq(&labels, small.lts.labels()));
    Ok(Comparison { equivalent, evidence, trace, classes: (!is_trace).then_some(classes) })
}

/// Compares two systems by coupled simulation in both directions.
pub fn compare_coupled(left: &Lts, right: &Lts, control: &Control) -> Result<Comparison, Stopped> {
    left.make_whole(control)?;
    right.make_whole(control)?;
    let (small, starts) = side_by_side(left, right, Equivalence::Weak, control)?;
    let found = if starts.0 == starts.1 { None } else { coupled::difference(&small.lts, starts, control)? };
    let evidence = found.map(|(formula, is_left)| {
        let (holder, depth) = (if is_left { Side::Left } else { Side::Right }, formula.depth());
        Evidence::Formula { formula, holder, logic: Logic::CoupledSimulation, depth }
    });
    let trace = match evidence {
        Some(_) => first_difference(&small.lts, starts, Tau::Internal, ENOUGH_SETS, control)?,
        None => None,
    };
    verify(evidence.as_ref(), left, right, control)?;
    verify(trace.as_ref(), left, right, control)?;
    Ok(Comparison { equivalent: evidence.is_none(), evidence, trace, classes: None })
}

/// Are the traces and impossible futures of an implementation those of a specification? If not, the evidence is what
/// only the implementation, the left one, satisfies.
pub fn has_no_other_futures(
    implementation: &Lts,
    specification: &Lts,
    control: &Control,
) -> Result<Option<Evidence>, Stopped> {
    let (small, starts) = side_by_side(implementation, specification, Equivalence::Branching, control)?;
    let found = if starts.0 == starts.1 { None } else { futures::difference(&small.lts, starts, control)? };
    let evidence = found.map(|formula| {
        let depth = formula.depth();
        Evidence::Formula { formula, holder: Side::Left, logic: Logic::ImpossibleFutures, depth }
    });
    verify(evidence.as_ref(), implementation, specification, control)?;
    Ok(evidence)
}

/// Two systems reduced side by side, and their initial states.
fn side_by_side(
    left: &Lts,
    right: &Lts,
    equivalence: Equivalence,
    control: &Control,
) -> Result<(Minimised, (StateId, StateId)), Stopped> {
    let union = Union::new(left, right, control)?;
    let small = minimise(&union.lts, equivalence, control)?;
    let block = |state: StateId| small.block_of(state).expect("both systems are reachable from the new state");
    let starts = (block(union.left), block(union.right));
    Ok((small, starts))
}

/// Which `τ` a bisimilarity passes over, if any.
fn silent_pass(equivalence: Equivalence) -> Option<Pass> {
    match equivalence {
        Equivalence::Branching | Equivalence::DivergenceBranching => Some(Pass::Inert),
        Equivalence::Delay | Equivalence::DivergenceDelay => Some(Pass::Before),
        Equivalence::Weak | Equivalence::DivergenceWeak => Some(Pass::Around),
        _ => None,
    }
}

/// Evidence is checked on the systems before it is returned.
fn verify(evidence: Option<&Evidence>, left: &Lts, right: &Lts, control: &Control) -> Result<(), Stopped> {
    if let Some(evidence) = evidence {
        let accepted = check(evidence, left, right, control).map_err(|_| control.why())?;
        assert!(accepted, "the evidence does not hold on the systems: {evidence:?}");
    }
    Ok(())
}

/// Does the evidence distinguish the two systems?
pub fn check(evidence: &Evidence, left: &dyn System, right: &dyn System, control: &Control) -> Result<bool, Cut> {
    match evidence {
        Evidence::Formula { formula, holder, logic, .. } => {
            let (holder, other) = if *holder == Side::Left { (left, right) } else { (right, left) };
            let belongs = formula.is_in(*logic);
            Ok(belongs && satisfies(holder, formula, control)? && !satisfies(other, formula, control)?)
        }
        Evidence::Trace { trace, labels, holder, weak } => {
            let (holder, other) = if *holder == Side::Left { (left, right) } else { (right, left) };
            let held = has_trace(holder, labels, trace, *weak, control)?;
            Ok(held && !has_trace(other, labels, trace, *weak, control)?)
        }
    }
}

/// Two systems reduced side by side modulo simulation equivalence, and the simulation preorder between their classes.
struct Simulations {
    lts: Lts,
    ready: bool,
    /// By state, the class in `simulation`.
    class_of: Vec<u32>,
    simulation: super::simulation::Simulation,
    left: StateId,
    right: StateId,
    classes: (usize, usize),
}

impl Simulations {
    fn new(left: &Lts, right: &Lts, ready: bool, control: &Control) -> Result<Simulations, Stopped> {
        let union = Union::new(left, right, control)?;
        let small = minimise(&union.lts, Equivalence::Strong, control)?;
        let simulation = simulate(&small.lts, ready, control)?;
        let (lts, number_of) = simulation.quotient(&small.lts, false, control)?;
        let state = |state: StateId| {
            let block = small.block_of(state).expect("both systems are reachable from the new state");
            StateId(number_of[simulation.class_of[block.index()] as usize])
        };
        let classes_of = |states: std::ops::Range<usize>| {
            let mut seen = vec![false; lts.state_count()];
            for block in states.filter_map(|index| small.block_of(StateId(index as u32))) {
                seen[number_of[simulation.class_of[block.index()] as usize] as usize] = true;
            }
            seen.into_iter().filter(|seen| *seen).count()
        };
        let both = union.lts.state_count() - 1;
        let classes = (classes_of(0..union.left_states), classes_of(union.left_states..both));
        let (left, right) = (state(union.left), state(union.right));
        let mut class_of = vec![0; lts.state_count()];
        for (class, &number) in number_of.iter().enumerate() {
            class_of[number as usize] = class as u32;
        }
        Ok(Simulations { lts, ready, class_of, simulation, left, right, classes })
    }

    /// Does the second state simulate the first?
    fn above(&self, one: StateId, other: StateId) -> bool {
        self.simulation.above.has(self.class_of[one.index()], self.class_of[other.index()])
    }

    /// Why the other side does not simulate this one.
    fn evidence(&self, holder: Side, control: &Control) -> Result<Evidence, Stopped> {
        let pair = if holder == Side::Left { (self.left, self.right) } else { (self.right, self.left) };
        let above = |one, other| self.above(one, other);
        let formula = distinguish_simulation::distinguish(&self.lts, pair, self.ready, &above, control)?;
        let logic = if self.ready { Logic::ReadySimulation } else { Logic::Simulation };
        let depth = formula.depth();
        Ok(Evidence::Formula { formula, holder, logic, depth })
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

/// One table for both, and what the labels of the right one are in it when they change. The labels of the left table
/// keep their numbers.
fn common_labels(left: &Arc<Labels>, right: &Arc<Labels>) -> (Arc<Labels>, Option<Vec<LabelId>>) {
    if Arc::ptr_eq(left, right) {
        return (left.clone(), None);
    }
    let labels = Labels::written(left.writing());
    for number in 0..left.len() as u32 {
        let kept = labels.intern(left.get(LabelId(number)).clone());
        assert_eq!(kept.0, number, "the labels of an explicit system differ in their texts");
    }
    let translation = (0..right.len() as u32).map(|number| labels.intern(right.get(LabelId(number)).clone())).collect();
    (Arc::new(labels), Some(translation))
}

/// A shortest trace that only one of two states has, among the first sets of states.
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
