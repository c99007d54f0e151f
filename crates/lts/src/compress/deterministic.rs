//! `deter`: one deterministic process among those that refine the argument.
//!
//! Every choice that is not the environment's is made once and for all. A state that has `τ` becomes the nearest stable
//! state that it reaches by `τ`, and of several transitions of a stable state with one label the first is taken;
//! *first* is by the number of the target in the given system, so the choice depends on the input alone. The result has
//! no `τ` and one successor a label, so it is deterministic; its traces are traces of the argument and its stable
//! states are states of the argument with the same offers, so it refines the argument in traces, failures and
//! failures-divergences.
//!
//! A state that reaches no stable state by `τ` always diverges. It becomes a `τ`-loop: in failures nothing else refines
//! it. So the result is deterministic exactly where the argument can avoid divergence.
//!
//! Which refinement it is depends on the order of states, and so on how the argument was compiled: a script must not
//! rely on it, and a verdict about `deter(P)` says something about one of many processes.
//!
//! Cost: one backward breadth-first search over `τ` and one walk over the result; linear.

use std::collections::VecDeque;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::equivalence::{Equivalence, minimise};
use crate::explicit::{Lts, Transition};

const NONE: u32 = u32::MAX;

/// A deterministic refinement, as small as strong bisimilarity allows.
pub(super) fn refine(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    control.progress().begin("making deterministic", lts.state_count() as u64);
    control.afford(lts.state_count() * 16 + lts.transition_count() * size_of::<Transition>())?;
    let settled = settled(lts, control)?;
    let mut numbers = vec![NONE; lts.state_count()];
    let mut states: Vec<StateId> = Vec::new();
    // A state stands for itself when it is stable; all states that never become stable share one looping state, the
    // first of them.
    let mut looping = NONE;
    let mut number = |state: StateId, states: &mut Vec<StateId>| {
        let stable = settled[state.index()];
        let place = if stable == NONE { &mut looping } else { &mut numbers[stable as usize] };
        if *place == NONE {
            *place = states.len() as u32;
            states.push(if stable == NONE { state } else { StateId(stable) });
        }
        StateId(*place)
    };
    number(lts.initial(), &mut states);
    let mut starts = vec![0];
    let mut transitions: Vec<Transition> = Vec::new();
    let mut row: Vec<Transition> = Vec::new();
    while starts.len() <= states.len() {
        if starts.len().is_multiple_of(1 << 12) {
            control.check()?;
        }
        let state = states[starts.len() - 1];
        if settled[state.index()] == NONE {
            let itself = StateId(starts.len() as u32 - 1);
            transitions.push(Transition { label: LabelId::TAU, target: itself });
        } else {
            row.clear();
            row.extend_from_slice(lts.outgoing(state));
            row.sort_unstable();
            row.dedup_by_key(|step| step.label);
            for step in &row {
                let target = number(step.target, &mut states);
                transitions.push(Transition { label: step.label, target });
            }
        }
        starts.push(transitions.len());
    }
    let chosen = Lts::from_rows(lts.labels().clone(), StateId(0), starts, transitions);
    Ok(minimise(&chosen, Equivalence::Strong, control)?.lts)
}

/// For every state the nearest stable one that `τ` leads to, if any.
fn settled(lts: &Lts, control: &Control) -> Result<Vec<u32>, Stopped> {
    let backward = lts.backward();
    let is_stable = |&state: &StateId| lts.outgoing(state).iter().all(|step| step.label != LabelId::TAU);
    let mut settled = vec![NONE; lts.state_count()];
    let mut work: VecDeque<StateId> = lts.states().filter(is_stable).collect();
    for state in &work {
        settled[state.index()] = state.0;
    }
    let mut steps = 0usize;
    while let Some(state) = work.pop_front() {
        steps += 1;
        if steps.is_multiple_of(1 << 12) {
            control.check()?;
        }
        for step in backward.incoming(state).iter().filter(|step| step.label == LabelId::TAU) {
            if settled[step.target.index()] == NONE {
                settled[step.target.index()] = settled[state.index()];
                work.push_back(step.target);
            }
        }
    }
    Ok(settled)
}
