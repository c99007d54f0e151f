//! Which variables matter in a node of a formula's graph.
//!
//! A variable is live where a condition, a set of labels or an assignment further on reads it before it gets another
//! value. Variables that are not live are no part of a vertex, so vertices that differ in them are one. The sets are
//! the least ones that the moves demand, found with a worklist; variables that moves choose for nothing are left out.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use trefoil_control::{Control, Stopped};
use trefoil_data::typed::VariableId;

use super::super::typed::{Formula, LabelSet, LabelSetId};
use super::nodes::{Move, Node};

/// The variables of a set of labels that it does not bind. A variable is bound in one place only.
pub(super) fn label_variables(formula: &Formula, id: LabelSetId) -> BTreeSet<VariableId> {
    let tree = &formula.signature.data.tree;
    let (mut free, mut bound) = (BTreeSet::new(), BTreeSet::new());
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        match formula.label_set(id) {
            LabelSet::Constant(_) => {}
            LabelSet::Value(value) => free.extend(tree.free_variables(*value)),
            LabelSet::Multi(parts) => {
                let values = parts.iter().flat_map(|(_, values)| values);
                free.extend(values.flat_map(|&value| tree.free_variables(value)));
            }
            LabelSet::Not(inside) => pending.push(*inside),
            LabelSet::Infix(_, left, right) => pending.extend([*left, *right]),
            LabelSet::Quantified(_, variables, inside) => {
                bound.extend(variables.iter().copied());
                pending.push(*inside);
            }
        }
    }
    free.retain(|variable| !bound.contains(variable));
    free
}

/// Finds the variables whose values matter in each node, and leaves out those that moves choose for nothing: every
/// sort has a value.
pub(super) fn live(
    formula: &Formula,
    nodes: &mut [Node],
    observed: &BTreeSet<VariableId>,
    control: &Control,
) -> Result<(), Stopped> {
    let tree = &formula.signature.data.tree;
    let mut sets: Vec<BTreeSet<VariableId>> = vec![BTreeSet::new(); nodes.len()];
    let mut labels_of: HashMap<LabelSetId, Rc<BTreeSet<VariableId>>> = HashMap::new();
    let mut reads: Vec<Vec<BTreeSet<VariableId>>> = Vec::with_capacity(nodes.len());
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (place, node) in nodes.iter().enumerate() {
        let mut own = Vec::with_capacity(node.moves.len());
        for step in &node.moves {
            control.check()?;
            let conditions = step.conditions.iter().flat_map(|&condition| tree.free_variables(condition));
            let mut read: BTreeSet<VariableId> = conditions.collect();
            for &labels in step.step.iter().chain(&step.offered) {
                let known = labels_of.entry(labels).or_insert_with(|| Rc::new(label_variables(formula, labels)));
                read.extend(known.iter());
            }
            own.push(read);
            sources[step.target.0 as usize].push(place as u32);
        }
        reads.push(own);
    }
    let needed = |step: &Move, read: &BTreeSet<VariableId>, sets: &[BTreeSet<VariableId>]| {
        let mut needed = read.clone();
        for &variable in &sets[step.target.0 as usize] {
            match step.assignments.iter().find(|(assigned, _)| *assigned == variable) {
                Some(&(_, value)) => needed.extend(tree.free_variables(value)),
                None => {
                    needed.insert(variable);
                }
            }
        }
        needed.retain(|variable| !observed.contains(variable));
        needed
    };
    // Nodes are numbered before those that they lead to, mostly, so the last ones come first.
    let mut pending: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut is_pending = vec![true; nodes.len()];
    while let Some(place) = pending.pop() {
        let place = place as usize;
        is_pending[place] = false;
        let mut all = BTreeSet::new();
        for (step, read) in nodes[place].moves.iter().zip(&reads[place]) {
            control.check()?;
            let mut own = needed(step, read, &sets);
            own.retain(|variable| !step.variables.contains(variable));
            all.append(&mut own);
        }
        if all != sets[place] {
            sets[place] = all;
            for &source in &sources[place] {
                if !std::mem::replace(&mut is_pending[source as usize], true) {
                    pending.push(source);
                }
            }
        }
    }
    for (place, node) in nodes.iter_mut().enumerate() {
        for (step, read) in node.moves.iter_mut().zip(&reads[place]) {
            control.check()?;
            let needed = needed(step, read, &sets);
            step.variables.retain(|variable| needed.contains(variable));
            let live = &sets[step.target.0 as usize];
            step.assignments.retain(|(variable, _)| live.contains(variable));
        }
        node.live = sets[place].iter().copied().collect();
    }
    Ok(())
}
