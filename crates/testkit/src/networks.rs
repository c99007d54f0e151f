//! Generalised supercombinators, straight from the definition (Gibson-Robinson and Lowe, *Symmetry reduction in CSP
//! model checking*, 2019, definitions 62 and 63).

use std::collections::BTreeSet;

use trefoil_lts::Lts;
use trefoil_system::LabelId;

use crate::composition::{NaiveProduct, moves};

/// A rule `(e, a, r, f')`.
#[derive(Clone, Debug)]
pub struct NaiveRule {
    /// For each component what it does, or nothing.
    pub parts: Vec<Option<LabelId>>,
    /// What the whole does.
    pub label: LabelId,
    /// The components that are reset.
    pub resets: BTreeSet<usize>,
    /// The format after it.
    pub next: usize,
}

/// A generalised supercombinator but for its components.
#[derive(Clone, Debug)]
pub struct NaiveNetwork {
    /// For each format its rules.
    pub formats: Vec<Vec<NaiveRule>>,
    /// The first format.
    pub initial: usize,
}

impl NaiveNetwork {
    /// Everything reachable; the last entry of a tuple is the format.
    pub fn product(&self, components: &[Lts]) -> NaiveProduct {
        let mut product = NaiveProduct::new();
        let mut initial: Vec<u32> = components.iter().map(|lts| lts.initial().0).collect();
        initial.push(self.initial as u32);
        let mut work = vec![initial];
        while let Some(state) = work.pop() {
            if product.contains_key(&state) {
                continue;
            }
            let steps = self.steps(components, &state);
            work.extend(steps.iter().map(|(_, target)| target.clone()));
            product.insert(state, steps);
        }
        product
    }

    /// The transitions of a tuple.
    pub fn steps(&self, components: &[Lts], state: &[u32]) -> BTreeSet<(LabelId, Vec<u32>)> {
        let format = state[components.len()] as usize;
        let mut steps = BTreeSet::new();
        for rule in &self.formats[format] {
            for mut target in moves(components, state, &|component| rule.parts[component]) {
                for &component in &rule.resets {
                    target[component] = components[component].initial().0;
                }
                target.push(rule.next as u32);
                steps.insert((rule.label, target));
            }
        }
        steps
    }
}
