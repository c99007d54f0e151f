//! What keeps a game from being finite, for the message when a budget ends.
//!
//! Values are numbered as they are met, so a variable whose values get larger and larger numbers meets new ones.
//! Counting the times that a variable gets a larger number than ever before gives a number of different values that it
//! had, at least, for two atomic words a variable.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use trefoil_data::rewrite::Size;
use trefoil_data::typed::VariableId;
use trefoil_system::{GroupId, Value};

use super::product::FormulaGame;

/// A variable with fewer values is not blamed.
const MANY: u64 = 100;

/// How many values variables had.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// For each variable that has a slot: the largest number of its values, and how often that grew.
    variables: Vec<(AtomicU32, AtomicU64)>,
    /// One more than the first group of a move whose values were being listed for long when the budget ended.
    listed: AtomicU32,
}

impl Growth {
    pub(super) fn new(variables: usize) -> Growth {
        Growth { variables: (0..variables).map(|_| Default::default()).collect(), listed: AtomicU32::new(0) }
    }

    /// The variable in a slot got a value.
    pub(super) fn met(&self, slot: u32, value: Value) {
        let (largest, times) = &self.variables[slot as usize - 1];
        if largest.load(Ordering::Relaxed) < value && largest.fetch_max(value, Ordering::Relaxed) < value {
            times.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The budget ended while the values of a move were listed.
    pub(super) fn listing(&self, first_group: u32) {
        self.listed.store(first_group + 1, Ordering::Relaxed);
    }
}

impl FormulaGame {
    /// After a budget ended: variables of infinite sorts that may be why, each with its sort and where it is bound.
    pub fn growing(&self) -> Vec<String> {
        let compiled = &self.compiled;
        let data = &compiled.formula.signature.data;
        let is_infinite = |variable: VariableId| !matches!(data.size(data.tree.variable(variable).1), Size::Finite(_));
        let text = |variable: VariableId| {
            let (name, sort) = data.tree.variable(variable);
            format!("{}: {}", data.names.text(name), data.sort_text(sort))
        };
        let mut said = Vec::new();
        if let Some(group) = compiled.growth.listed.load(Ordering::Relaxed).checked_sub(1) {
            let (node, place, _) = self.place_of_group(GroupId(group));
            let node = &compiled.graph.nodes[node as usize];
            let variables: Vec<String> = node.moves[place as usize]
                .variables
                .iter()
                .filter(|&&variable| is_infinite(variable))
                .map(|&variable| format!("`{}`", text(variable)))
                .collect();
            if !variables.is_empty() {
                let part = compiled.formula.part_text(node.part.0);
                let variables = variables.join(" and ");
                said.push(format!(
                    "the values of {variables} were being listed, which nothing seems to bound: `{part}`"
                ));
            }
        }
        let counts = compiled.variables.iter().zip(&compiled.growth.variables);
        let mut most: Vec<(VariableId, u64)> =
            counts.map(|(&variable, (_, times))| (variable, times.load(Ordering::Relaxed))).collect();
        most.retain(|&(variable, times)| times >= MANY && is_infinite(variable));
        most.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
        for (variable, times) in most {
            let of = compiled
                .formula
                .fixpoints
                .iter()
                .find(|fixpoint| fixpoint.parameters.iter().any(|&(parameter, _)| parameter == variable));
            let named = match of {
                Some(fixpoint) => {
                    let name = compiled.formula.signature.data.names.text(fixpoint.name);
                    format!("the parameter `{}` of `{} {name}`", text(variable), fixpoint.kind.text())
                }
                None => format!("the variable `{}`", text(variable)),
            };
            said.push(format!("{named} grows: it had at least {times} values"));
        }
        said
    }
}
