//! Nodes in which neither player chooses are left out.
//!
//! `[a]X(n + 1)` leads to the node of `X(n + 1)`, whose only move assigns `n` and leads to the fixpoint. Such a node is
//! a vertex more for each state of the model. Worse for decision diagrams: a step leads to one node and the next move
//! back, so that no step of the model keeps the node, and saturation cannot close the states below a node. So a move to
//! a node with one move, which takes no step and has nothing to choose or to check, goes on to where that leads, with
//! its assignments.
//!
//! Nodes of fixpoints and repetitions stay, since their priorities decide; the others have a priority that decides
//! nothing. Assignments that read the state of the model stay behind the step. Cost: linear in the moves, and in the
//! chains of such nodes.

use std::collections::BTreeSet;

use trefoil_control::{Control, Stopped};
use trefoil_data::typed::VariableId;

use super::super::super::typed::Formula;
use super::{Move, Node, NodeId};

/// The nodes that are left, and the root among them.
pub(super) fn folded(
    formula: &Formula,
    mut nodes: Vec<Node>,
    root: NodeId,
    observed: &BTreeSet<VariableId>,
    control: &Control,
) -> Result<(Vec<Node>, NodeId), Stopped> {
    let tree = &formula.signature.data.tree;
    let looks = |step: &Move| {
        let values = step.assignments.iter().flat_map(|&(_, value)| tree.free_variables(value));
        !observed.is_empty() && values.into_iter().any(|variable| observed.contains(&variable))
    };
    let passing: Vec<Option<Move>> = nodes.iter().map(|node| passed(node).filter(|step| !looks(step))).collect();
    for node in &mut nodes {
        for step in &mut node.moves {
            while let Some(next) = &passing[step.target.0 as usize] {
                control.check()?;
                // Two lists of assignments would have to be put into each other.
                if !step.assignments.is_empty() && !next.assignments.is_empty() {
                    break;
                }
                step.assignments.extend(next.assignments.iter().copied());
                step.target = next.target;
                step.decided = next.decided.or(step.decided);
            }
        }
    }
    let mut numbers: Vec<Option<NodeId>> = vec![None; nodes.len()];
    numbers[root.0 as usize] = Some(root);
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        control.check()?;
        for step in &nodes[id.0 as usize].moves {
            if numbers[step.target.0 as usize].replace(step.target).is_none() {
                waiting.push(step.target);
            }
        }
    }
    let kept = numbers.iter_mut().flatten();
    kept.enumerate().for_each(|(place, number)| *number = NodeId(place as u32));
    let number = |id: NodeId| numbers[id.0 as usize].expect("moves of nodes that are left lead to such nodes");
    let mut left = Vec::new();
    for (mut node, kept) in nodes.into_iter().zip(&numbers) {
        if kept.is_some() {
            node.moves.iter_mut().for_each(|step| step.target = number(step.target));
            left.push(node);
        }
    }
    Ok((left, number(root)))
}

/// The only move of a node in which neither player chooses.
fn passed(node: &Node) -> Option<Move> {
    let [only] = &node.moves[..] else { return None };
    let is_free = only.variables.is_empty() && only.conditions.is_empty();
    let is_silent = only.step.is_none() && only.offered.is_none();
    (is_free && is_silent && !node.recurs).then(|| only.clone())
}
