//! The impossible-futures preorder.
//!
//! An *impossible future* of a system is a trace `s` and a set `B` of traces: after `s` there is a state that can do
//! none of `B` (M. Voorhoeve, S. Mauw, *Impossible futures and determinism*, 2001). An implementation refines a
//! specification when all its traces and impossible futures are those of the specification, that is, when for each
//! state `q` of the implementation after a trace `s` the specification has a state `u` after `s` with traces(u) ⊆
//! traces(q). Divergence is not observed: a state that diverges counts by its traces.
//!
//! Both systems are reduced side by side modulo branching bisimilarity, which preserves this and leaves no cycles of
//! `τ`. Then every state comes to a stable one by `τ`, which has no more traces, so stable states of the implementation
//! suffice. Pairs of such a state and the set of the specification's states are searched breadth-first by visible
//! events; each asks for an inclusion of traces, which is a search of its own, in pairs of a state behind `u` and the
//! set of states behind `q`. Pairs that were found included stay known.
//!
//! The evidence is a formula that the implementation satisfies and the specification does not: `⟨τ* s τ*⟩` of the
//! conjunction of `[τ* b]false` over `B`, one future for each state of the specification after `s`; or `⟨τ* s⟩true`
//! where the specification does not have the trace.
//!
//! Cost: exponential in the specification, and in the implementation for the inclusions.

use std::collections::{HashMap, HashSet, VecDeque};

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, FormulaId, LabelId, StateId};

use super::determinise::Powerset;
use super::graph::Tau;
use crate::explicit::Lts;

/// Searches in one system that has both.
struct Search<'a> {
    lts: &'a Lts,
    control: &'a Control,
    powerset: Powerset<'a>,
    /// Where labels lead from sets that were looked up.
    successors: HashMap<u32, Vec<(LabelId, u32)>>,
    /// A state and a set that has all its traces.
    included: HashSet<(u32, u32)>,
    /// A state and a set that lacks this trace of it.
    excluded: HashMap<(u32, u32), Vec<LabelId>>,
}

/// A formula that the implementation satisfies and the specification does not; none when it refines it. The system has
/// no cycles of `τ`.
pub(super) fn difference(
    lts: &Lts,
    (implementation, specification): (StateId, StateId),
    control: &Control,
) -> Result<Option<Formula>, Stopped> {
    control.progress().begin("comparing impossible futures", 0);
    let powerset = Powerset::new(lts, Tau::Internal, control);
    let (successors, included, excluded) = (HashMap::new(), HashSet::new(), HashMap::new());
    let mut search = Search { lts, control, powerset, successors, included, excluded };
    let first = (implementation.0, search.powerset.closure(specification));
    // With the pair before it and the label between them.
    let mut pairs = vec![(first, 0usize, LabelId::TAU)];
    let mut seen = HashSet::new();
    let mut work = VecDeque::from([0usize]);
    while let Some(at) = work.pop_front() {
        control.check()?;
        let (state, set) = pairs[at].0;
        // Only now: a pair that waits for its turn may turn out to be nearer.
        if !seen.insert((state, set)) {
            continue;
        }
        let steps = lts.outgoing(StateId(state));
        if steps.iter().all(|step| step.label.is_visible())
            && let Some(futures) = search.impossible(state, set)?
        {
            return Ok(Some(formula(lts, &trace(&pairs, at), &futures)));
        }
        for step in steps {
            let next = match step.label {
                LabelId::TAU => Some(set),
                label => search.successor(set, label)?,
            };
            let Some(next) = next else {
                let mut trace = trace(&pairs, at);
                trace.push(step.label);
                return Ok(Some(formula(lts, &trace, &[])));
            };
            if !seen.contains(&(step.target.0, next)) {
                pairs.push(((step.target.0, next), at, step.label));
                match step.label {
                    LabelId::TAU => work.push_front(pairs.len() - 1),
                    _ => work.push_back(pairs.len() - 1),
                }
            }
        }
    }
    Ok(None)
}

/// The visible labels on the way to a pair.
fn trace(pairs: &[((u32, u32), usize, LabelId)], mut at: usize) -> Vec<LabelId> {
    let mut labels = Vec::new();
    while at != 0 {
        labels.push(pairs[at].2);
        at = pairs[at].1;
    }
    labels.reverse();
    labels.retain(|label| label.is_visible());
    labels
}

impl Search<'_> {
    fn successor(&mut self, set: u32, label: LabelId) -> Result<Option<u32>, Stopped> {
        if !self.successors.contains_key(&set) {
            let mut found = Vec::new();
            self.powerset.successors(set, |label, next| found.push((label, next)))?;
            self.successors.insert(set, found);
        }
        let found = &self.successors[&set];
        Ok(found.binary_search_by_key(&label, |step| step.0).ok().map(|place| found[place].1))
    }

    /// For each state of a set a trace of it that the given state lacks; none when one of them has no such trace.
    fn impossible(&mut self, state: u32, set: u32) -> Result<Option<Vec<Vec<LabelId>>>, Stopped> {
        let candidates = self.powerset.members(set).to_vec();
        if candidates.contains(&state) {
            return Ok(None);
        }
        let own = self.powerset.closure(StateId(state));
        let mut futures = Vec::new();
        for candidate in candidates {
            match self.missing(candidate, own)? {
                None => return Ok(None),
                Some(trace) => futures.push(trace),
            }
        }
        futures.sort();
        futures.dedup();
        Ok(Some(futures))
    }

    /// A shortest trace of a state that a set of states lacks.
    fn missing(&mut self, state: u32, set: u32) -> Result<Option<Vec<LabelId>>, Stopped> {
        if let Some(known) = self.excluded.get(&(state, set)) {
            return Ok(Some(known.clone()));
        }
        let mut pairs = vec![((state, set), 0usize, LabelId::TAU)];
        let mut seen = HashSet::new();
        let mut work = VecDeque::from([0usize]);
        while let Some(at) = work.pop_front() {
            self.control.check()?;
            let (here, within) = pairs[at].0;
            if self.included.contains(&(here, within)) || !seen.insert((here, within)) {
                continue;
            }
            for step in self.lts.outgoing(StateId(here)) {
                let next = match step.label {
                    LabelId::TAU => Some(within),
                    label => self.successor(within, label)?,
                };
                let Some(next) = next else {
                    let mut missing = trace(&pairs, at);
                    missing.push(step.label);
                    self.excluded.insert((state, set), missing.clone());
                    return Ok(Some(missing));
                };
                if !seen.contains(&(step.target.0, next)) {
                    pairs.push(((step.target.0, next), at, step.label));
                    match step.label {
                        LabelId::TAU => work.push_front(pairs.len() - 1),
                        _ => work.push_back(pairs.len() - 1),
                    }
                }
            }
        }
        self.included.extend(seen);
        Ok(None)
    }
}

/// After the trace, none of the futures can be done.
fn formula(lts: &Lts, trace: &[LabelId], futures: &[Vec<LabelId>]) -> Formula {
    let mut formula = Formula::new(lts.labels().clone());
    let run = |formula: &mut Formula, trace: &[LabelId], end: FormulaId| {
        trace.iter().rev().fold(end, |then, &label| formula.weakly(Some(label), then))
    };
    let truth = formula.truth();
    let mut parts = Vec::new();
    for future in futures {
        let possible = run(&mut formula, future, truth);
        parts.push(formula.not(possible));
    }
    let mut all = formula.and(parts);
    if trace.is_empty() {
        all = formula.weakly(None, all);
    }
    let root = run(&mut formula, trace, all);
    formula.set_root(root);
    formula
}
