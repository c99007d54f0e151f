//! The first rounds of refinement, on all nodes at once.
//!
//! In the beginning almost every node changes its block in every round, and keeping track of which do costs more than
//! it saves. So the first rounds compute every signature from nothing (Blom and Orzan 2002): the labels and blocks that
//! a node leads to, and the block it is in. Inert steps are handled as [`super::refinement`] says, with the same reason
//! why bisimilar nodes stay together. A round reads the transitions in their order and one number for each target, so
//! it is as fast as memory allows; on systems without regularity two or three rounds leave little to do. They go on as
//! long as each at least doubles the number of blocks.
//!
//! Cost: a round is linear in the size of the signatures, which is at most that of the graph: a node with inert steps
//! either has the signature of one below it or names those below it by number. Memory: 16 bytes a transition at most,
//! freed afterwards.

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use super::graph::Graph;
use super::signatures::Signatures;

/// More rounds than this do not pay even if each doubles the number of blocks.
pub(super) const MOST_ROUNDS: u64 = 8;

/// What an element of a signature is about; a plain one is a label and a block.
const OWN_BLOCK: u64 = 1 << 62;
const CLASS: u64 = 1 << 63;

/// A partition that is no finer than the coarsest stable one.
pub(super) struct Coarse {
    pub(super) block_of: Vec<u32>,
    pub(super) blocks: usize,
    pub(super) rounds: u64,
    /// Is it the coarsest stable one?
    pub(super) stable: bool,
}

/// Refines the partition with one block while that is fast, in at most this many rounds.
pub(super) fn refine_in_bulk(
    graph: &Graph<'_>,
    internal: bool,
    most_rounds: u64,
    control: &Control,
) -> Result<Coarse, Stopped> {
    let nodes = graph.nodes();
    control.afford(nodes * 40 + graph.transitions.len() * 8)?;
    let order = if internal { silent_order(graph, control)? } else { Vec::new() };
    let mut coarse = Coarse { block_of: vec![0; nodes], blocks: 1, rounds: 0, stable: nodes == 1 };
    let mut class_of = vec![0u32; nodes];
    let mut classes: Signatures<u64> = Signatures::new();
    let mut set: Vec<u64> = Vec::new();
    while coarse.rounds < most_rounds && !coarse.stable {
        coarse.rounds += 1;
        control.progress().depth(coarse.rounds);
        classes.clear();
        for index in 0..nodes {
            if index.is_multiple_of(1 << 12) {
                control.check()?;
            }
            let node = if internal { order[index] } else { index as u32 };
            let own = coarse.block_of[node as usize];
            let mut youngest = 0;
            set.clear();
            set.push(OWN_BLOCK | u64::from(own));
            for transition in graph.outgoing(node) {
                let block = coarse.block_of[transition.target.index()];
                if internal && transition.label == LabelId::TAU && block == own {
                    let class = class_of[transition.target.index()];
                    youngest = youngest.max(class);
                    set.push(CLASS | u64::from(class));
                } else {
                    // The mark of divergence becomes 0, all other labels are below 2³¹.
                    set.push(u64::from(transition.label.0.wrapping_add(1)) << 32 | u64::from(block));
                }
            }
            set.sort_unstable();
            set.dedup();
            let joins = youngest != 0 && is_subset(&set[..set.len() - 1], classes.get(youngest));
            class_of[node as usize] = if joins { youngest } else { classes.intern(&set) };
        }
        let before = coarse.blocks;
        coarse.blocks = classes.len();
        for node in 0..nodes {
            coarse.block_of[node] = class_of[node] - 1;
        }
        coarse.stable = coarse.blocks == before || coarse.blocks == nodes;
        if coarse.blocks < 2 * before {
            break;
        }
    }
    Ok(coarse)
}

/// Is every element of the first sorted set in the second?
pub(super) fn is_subset<T: Ord>(inner: &[T], outer: &[T]) -> bool {
    if inner.len() > outer.len() {
        return false;
    }
    let mut rest = outer;
    for element in inner {
        match rest.binary_search(element) {
            Ok(at) => rest = &rest[at + 1..],
            Err(_) => return false,
        }
    }
    true
}

/// Nodes such that every `τ`-step leads to an earlier one: the order in which a depth-first search leaves them.
fn silent_order(graph: &Graph<'_>, control: &Control) -> Result<Vec<u32>, Stopped> {
    let mut order = Vec::with_capacity(graph.nodes());
    let mut seen = vec![false; graph.nodes()];
    let mut path: Vec<(u32, usize)> = Vec::new();
    for start in 0..graph.nodes() as u32 {
        if seen[start as usize] {
            continue;
        }
        seen[start as usize] = true;
        path.push((start, 0));
        while let Some((node, at)) = path.last_mut() {
            let row = &graph.outgoing(*node)[*at..];
            let next = row.iter().position(|t| t.label == LabelId::TAU && !seen[t.target.index()]);
            match next {
                Some(skipped) => {
                    let target = row[skipped].target.0;
                    *at += skipped + 1;
                    seen[target as usize] = true;
                    path.push((target, 0));
                }
                None => {
                    order.push(*node);
                    path.pop();
                    if order.len().is_multiple_of(1 << 14) {
                        control.check()?;
                    }
                }
            }
        }
    }
    Ok(order)
}
