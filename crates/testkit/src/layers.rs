//! `prioritise` and `chase`, straight from the definitions.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_system::LabelId;

use crate::composition::NaiveProduct;

/// What is left of a product from a tuple on when a step loses against another of the same tuple whose label is above
/// its own.
pub fn prioritised(
    product: &NaiveProduct,
    initial: &[u32],
    is_above: &dyn Fn(LabelId, LabelId) -> bool,
) -> NaiveProduct {
    let mut left = NaiveProduct::new();
    let mut work = vec![initial.to_vec()];
    while let Some(state) = work.pop() {
        if left.contains_key(&state) {
            continue;
        }
        let all = &product[&state];
        let loses = |label: LabelId| all.iter().any(|(other, _)| is_above(*other, label));
        let steps: BTreeSet<(LabelId, Vec<u32>)> = all.iter().filter(|(label, _)| !loses(*label)).cloned().collect();
        work.extend(steps.iter().map(|(_, target)| target.clone()));
        left.insert(state, steps);
    }
    left
}

/// Where a chase of `τ` can end that begins at a tuple: where no `τ` is possible, or on a cycle of `τ`.
pub fn ends(product: &NaiveProduct, start: &[u32]) -> BTreeSet<Vec<u32>> {
    let reached = by_tau(product, start);
    reached.into_iter().filter(|state| is_stable(product, state) || is_on_a_cycle(product, state)).collect()
}

/// Is no `τ` possible?
pub fn is_stable(product: &NaiveProduct, state: &[u32]) -> bool {
    product[state].iter().all(|(label, _)| *label != LabelId::TAU)
}

/// Can it come back to itself by `τ`?
pub fn is_on_a_cycle(product: &NaiveProduct, state: &[u32]) -> bool {
    let next = product[state].iter().filter(|(label, _)| *label == LabelId::TAU);
    next.into_iter().any(|(_, target)| by_tau(product, target).contains(state))
}

fn by_tau(product: &NaiveProduct, start: &[u32]) -> BTreeSet<Vec<u32>> {
    let mut reached = BTreeSet::new();
    let mut work = vec![start.to_vec()];
    while let Some(state) = work.pop() {
        if reached.insert(state.clone()) {
            let internal = product[&state].iter().filter(|(label, _)| *label == LabelId::TAU);
            work.extend(internal.map(|(_, target)| target.clone()));
        }
    }
    reached
}

/// Why a product is not one that `chase` may make of another, if it is not.
pub fn wrong_chase(product: &NaiveProduct, start: &[u32], chased: &NaiveProduct, initial: &[u32]) -> Option<String> {
    if !ends(product, start).contains(initial) {
        return Some(format!("{initial:?} is no end of a chase from {start:?}"));
    }
    for (state, steps) in chased {
        let mut by_label: BTreeMap<LabelId, BTreeSet<&Vec<u32>>> = BTreeMap::new();
        for (label, target) in steps {
            by_label.entry(*label).or_default().insert(target);
        }
        if !is_stable(product, state) {
            // A chase ended in a cycle: it stays there.
            let stays = steps.len() == 1 && steps.contains(&(LabelId::TAU, state.clone()));
            if !stays || !is_on_a_cycle(product, state) {
                return Some(format!("{state:?} should only diverge"));
            }
            continue;
        }
        let labels: BTreeSet<LabelId> = product[state].iter().map(|(label, _)| *label).collect();
        if labels != by_label.keys().copied().collect() {
            return Some(format!("{state:?} should offer {labels:?}"));
        }
        for (label, targets) in by_label {
            let before: Vec<&Vec<u32>> =
                product[state].iter().filter(|(other, _)| *other == label).map(|(_, target)| target).collect();
            let possible: Vec<BTreeSet<Vec<u32>>> = before.iter().map(|target| ends(product, target)).collect();
            let stray = targets.iter().find(|target| !possible.iter().any(|ends| ends.contains(**target)));
            let missing = possible.iter().any(|ends| !targets.iter().any(|target| ends.contains(*target)));
            if stray.is_some() || missing || targets.len() > before.len() {
                return Some(format!("{state:?} should not go by {label:?} to {targets:?}"));
            }
        }
    }
    None
}
