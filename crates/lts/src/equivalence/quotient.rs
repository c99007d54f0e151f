//! From a partition to the smallest system: one state a block.
//!
//! In a stable partition every bottom node of a block (one without an inert step) shows all that the block can do, so
//! the row of a block is the row of its least bottom node, with blocks for targets, each transition once. Inert steps are
//! left out; a mark of divergence becomes a `τ`-loop, the only one there can be.
//!
//! States are numbered breadth-first from the initial one, in the order of the rows: the result depends on the input
//! alone. Cost: linear, plus sorting each row.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Labels, StateId};

use super::graph::{ABSENT, DIVERGENCE, Graph};
use crate::explicit::{Lts, Transition};

/// A system and the number of each block in it.
pub(super) struct Quotient {
    pub(super) lts: Lts,
    pub(super) number_of: Vec<u32>,
}

/// The quotient of a graph by a stable partition. `internal` says that `τ` within a block is inert.
pub(super) fn quotient(
    graph: &Graph<'_>,
    block_of: &[u32],
    blocks: usize,
    internal: bool,
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Quotient, Stopped> {
    control.progress().begin("quotient", blocks as u64);
    control.afford(blocks * 24)?;
    let is_inert =
        |block: u32, t: &Transition| internal && t.label == LabelId::TAU && block_of[t.target.index()] == block;
    let mut speaker = vec![ABSENT; blocks];
    for node in 0..graph.nodes() as u32 {
        let block = block_of[node as usize];
        let place = &mut speaker[block as usize];
        if *place == ABSENT && !graph.outgoing(node).iter().any(|t| is_inert(block, t)) {
            *place = node;
        }
    }
    let row = |block: u32, row: &mut Vec<Transition>| {
        for t in graph.outgoing(speaker[block as usize]) {
            row.push(Transition { label: t.label, target: StateId(block_of[t.target.index()]) });
        }
    };
    number(block_of[graph.initial as usize], blocks, row, labels, control)
}

/// Numbers blocks breadth-first and collects their rows, which may name a transition more than once.
pub(super) fn number(
    initial: u32,
    blocks: usize,
    mut row_of: impl FnMut(u32, &mut Vec<Transition>),
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Quotient, Stopped> {
    let mut number_of = vec![ABSENT; blocks];
    let mut order = Vec::with_capacity(blocks);
    number_of[initial as usize] = 0;
    order.push(initial);
    let mut starts = Vec::with_capacity(blocks + 1);
    starts.push(0usize);
    let mut transitions: Vec<Transition> = Vec::new();
    let mut row: Vec<Transition> = Vec::new();
    let mut sorted: Vec<(Transition, u32)> = Vec::new();
    let mut at = 0;
    while at < order.len() {
        if at.is_multiple_of(1 << 12) {
            control.check()?;
            control.progress().done(at as u64);
        }
        row.clear();
        row_of(order[at], &mut row);
        once(&mut row, &mut sorted);
        // A mark of divergence comes last, whichever state of the block brought it.
        row.sort_by_key(|transition| transition.label == DIVERGENCE);
        for transition in &row {
            let label = if transition.label == DIVERGENCE { LabelId::TAU } else { transition.label };
            let number = &mut number_of[transition.target.index()];
            if *number == ABSENT {
                *number = order.len() as u32;
                order.push(transition.target.0);
            }
            transitions.push(Transition { label, target: StateId(*number) });
        }
        starts.push(transitions.len());
        at += 1;
    }
    Ok(Quotient { lts: Lts::from_rows(labels.clone(), StateId(0), starts, transitions), number_of })
}

/// Keeps the first of equal transitions, and the order.
fn once(row: &mut Vec<Transition>, scratch: &mut Vec<(Transition, u32)>) {
    const SHORT: usize = 8;
    if row.len() <= SHORT {
        let mut kept = 0;
        for at in 0..row.len() {
            let transition = row[at];
            if !row[..kept].contains(&transition) {
                row[kept] = transition;
                kept += 1;
            }
        }
        row.truncate(kept);
        return;
    }
    scratch.clear();
    scratch.extend(row.iter().enumerate().map(|(at, &transition)| (transition, at as u32)));
    scratch.sort_unstable();
    scratch.dedup_by_key(|(transition, _)| *transition);
    scratch.sort_unstable_by_key(|&(_, at)| at);
    row.clear();
    row.extend(scratch.iter().map(|&(transition, _)| transition));
}
