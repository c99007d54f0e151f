//! From a partition to the smallest system: one state a block.
//!
//! In a stable partition every bottom node of a block (one without an inert step) shows all that the block can do, so
//! the row of a block is the row of its least bottom node, with blocks for targets, each transition once. Inert steps
//! are left out; a mark of divergence becomes a `τ`-loop, the only one there can be.
//!
//! States are numbered by the least node of their block, except that the initial one is 0: the result depends on the
//! input alone, neighbours stay neighbours, and what is minimal already keeps its numbers. Cost: linear, plus sorting
//! long rows.

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
    control.progress().begin("building the quotient", blocks as u64);
    control.afford(blocks * 24 + block_of.len() * 4)?;
    let Numbering { number_of, order } = Numbering::new(graph.initial, block_of, blocks);
    let number_of_node: Vec<u32> = block_of.iter().map(|&block| number_of[block as usize]).collect();
    // The node that represents a state: the least bottom node.
    let mut speaker = order;
    speaker.fill(ABSENT);
    for node in 0..graph.nodes() as u32 {
        let number = number_of_node[node as usize];
        let inert = |t: &Transition| t.label == LabelId::TAU && number_of_node[t.target.index()] == number;
        if speaker[number as usize] == ABSENT && !(internal && graph.outgoing(node).iter().any(inert)) {
            speaker[number as usize] = node;
        }
    }
    let row = |number: usize, row: &mut Vec<Transition>| {
        for t in graph.outgoing(speaker[number]) {
            row.push(Transition { label: t.label, target: StateId(number_of_node[t.target.index()]) });
        }
    };
    let most = speaker.iter().map(|&speaker| graph.outgoing(speaker).len()).sum();
    let lts = collect(blocks, most, row, labels, control)?;
    Ok(Quotient { lts, number_of })
}

/// The numbers of blocks as states.
pub(super) struct Numbering {
    pub(super) number_of: Vec<u32>,
    /// The block of each number.
    pub(super) order: Vec<u32>,
}

impl Numbering {
    pub(super) fn new(initial: u32, block_of: &[u32], blocks: usize) -> Numbering {
        let mut number_of = vec![ABSENT; blocks];
        let mut order = Vec::with_capacity(blocks);
        for &block in std::iter::once(&block_of[initial as usize]).chain(block_of) {
            let number = &mut number_of[block as usize];
            if *number == ABSENT {
                *number = order.len() as u32;
                order.push(block);
            }
        }
        Numbering { number_of, order }
    }
}

/// The system with the given rows, which may name a transition more than once and in which [`DIVERGENCE`] is a
/// `τ`-loop; they have no more than `most` transitions.
pub(super) fn collect(
    states: usize,
    most: usize,
    mut row_of: impl FnMut(usize, &mut Vec<Transition>),
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Lts, Stopped> {
    control.afford((states + 1) * size_of::<usize>() + most * size_of::<Transition>())?;
    let mut starts = Vec::with_capacity(states + 1);
    starts.push(0usize);
    // A vector that grows is copied: for a moment it would take twice as much.
    let mut transitions: Vec<Transition> = Vec::with_capacity(most);
    let mut row: Vec<Transition> = Vec::new();
    let mut sorted: Vec<(Transition, u32)> = Vec::new();
    for state in 0..states {
        if state.is_multiple_of(1 << 12) {
            control.check()?;
            control.progress().done(state as u64);
        }
        row.clear();
        row_of(state, &mut row);
        once(&mut row, &mut sorted);
        let mut diverges = false;
        for &transition in &row {
            if transition.label == DIVERGENCE {
                diverges = true;
            } else {
                transitions.push(transition);
            }
        }
        if diverges {
            // Last, whichever node of the block brought it.
            transitions.push(Transition { label: LabelId::TAU, target: StateId(state as u32) });
        }
        starts.push(transitions.len());
    }
    transitions.shrink_to_fit();
    Ok(Lts::from_rows(labels.clone(), StateId(0), starts, transitions))
}

/// Keeps the first of equal transitions, and the order.
pub(super) fn once(row: &mut Vec<Transition>, scratch: &mut Vec<(Transition, u32)>) {
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
