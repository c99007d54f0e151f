//! The cases of a summand, each of which is taken apart by itself.
//!
//! A condition over several parts goes to one of them, which then needs the values of the others. A disjunction need
//! not: its disjuncts become cases, with negations pushed inward, so that each part decides its own. An update
//! `if(test, x, y)` with a test that its part does not have becomes two cases, with the test and its negation among
//! their conditions.
//!
//! Invariant: the conditions of all cases have the same disjunction as that of the summand, as long as none is stuck.
//! Cost: at most [`MOST_CASES`] cases for a summand; beyond that conditions and updates stay as they are.

use trefoil_data::signature::Operator;
use trefoil_data::sorts::BOOL;
use trefoil_data::typed::TypedId;

use super::super::expressions::{applied, cases, variable};
use super::Cleaving;
use crate::linear::Maker;

/// The most cases of one summand.
const MOST_CASES: usize = 32;

/// A case of a summand.
pub(super) struct Case {
    pub(super) conditions: Vec<TypedId>,
    pub(super) updates: Vec<(usize, TypedId)>,
    /// Whether a condition that is stuck here is stuck in the original.
    pub(super) exact: bool,
}

impl Cleaving<'_> {
    /// The cases of a summand: disjunctions over several parts, and updates by a test that other parts have.
    pub(super) fn cases_of(&mut self, original: usize) -> Vec<Case> {
        let summand = &self.linear.summands[original];
        // An update that writes what was there is not an update.
        let is_update = |&&(slot, value): &&(usize, TypedId)| {
            variable(&self.linear.data, value) != Some(self.linear.parameters[slot].variable)
        };
        let updates: Vec<(usize, TypedId)> = summand.updates.iter().filter(is_update).copied().collect();
        if self.whole.contains(&original) {
            return vec![Case { conditions: summand.conditions.clone(), updates, exact: true }];
        }
        let mut found = vec![Case { conditions: Vec::new(), updates, exact: true }];
        for &condition in &summand.conditions {
            let ways = if self.is_mixed(condition) { cases(&mut self.data, condition) } else { vec![vec![condition]] };
            if ways.len() == 1 || found.len() * ways.len() > MOST_CASES {
                let conjuncts = if ways.len() == 1 { &ways[0][..] } else { &[condition][..] };
                found.iter_mut().for_each(|case| case.conditions.extend_from_slice(conjuncts));
                continue;
            }
            let with = |case: &Case, way: &Vec<TypedId>| Case {
                conditions: case.conditions.iter().chain(way).copied().collect(),
                updates: case.updates.clone(),
                exact: false,
            };
            found = found.iter().flat_map(|case| ways.iter().map(move |way| with(case, way))).collect();
        }
        let mut done = Vec::new();
        while let Some(case) = found.pop() {
            if done.len() + found.len() + 2 > MOST_CASES {
                done.push(case);
                continue;
            }
            match self.foreign_test(&case) {
                None => done.push(case),
                Some((place, test, values)) => {
                    for (truth, value) in [true, false].into_iter().zip(values).rev() {
                        let own = self.linear.parameters[case.updates[place].0].variable;
                        let mut updates = case.updates.clone();
                        updates[place].1 = value;
                        if variable(&self.data, value) == Some(own) {
                            updates.remove(place);
                        }
                        let place = self.data.tree.place(test);
                        let test = match truth {
                            true => test,
                            false => {
                                Maker { data: &mut self.data, place }.operator(Operator::Not, &[BOOL], BOOL, &[test])
                            }
                        };
                        let ways = cases(&mut self.data, test);
                        let ways = if ways.len() > 1 { vec![vec![test]] } else { ways };
                        let conditions = case.conditions.iter().chain(&ways[0]).copied().collect();
                        found.push(Case { conditions, updates, exact: false });
                    }
                }
            }
        }
        done
    }

    /// An update by a test of parameters that a holder does not have, its test, and its two values.
    fn foreign_test(&self, case: &Case) -> Option<(usize, TypedId, [TypedId; 2])> {
        case.updates.iter().enumerate().find_map(|(place, &(slot, value))| {
            let Some((Operator::If, &[test, then, otherwise])) = applied(&self.data, value) else { return None };
            let written = self.linear.parameters[slot].variable;
            let reads = self.reads(test);
            let is_foreign = self.own.iter().any(|own| own.contains(&written) && !reads.is_subset(own));
            is_foreign.then_some((place, test, [then, otherwise]))
        })
    }
}
