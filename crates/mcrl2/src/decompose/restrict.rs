//! Invariants in the exploration of parts.
//!
//! A relation that holds in all states of the original is projected to the parameters of a part: a state of the part
//! that the projection excludes is in no state of the composition that can be reached. It is never reached, so that
//! steps lead to states that the invariant allows; that is the form of theorem 3.4.3 of Laveaux, *Accelerated
//! verification of concurrent systems* (2024), without deadlocks, with the parameters of other parts quantified
//! existentially. It is sound for all steps, not only for those that parts do together (docs/decisions/006). A half
//! that gets foreign values looks at relations between these and its own, before the step.
//!
//! The halves number values as they meet them; relations have the numbers of the original. A value is translated by its
//! text, once.
//!
//! Cost: for each new state, and each evaluation of a half with inputs, a look-up for each relation.

use std::collections::{BTreeSet, HashMap};

use trefoil_system::Value;

use super::cleave::Cleaved;
use super::invariants::{Invariants, Tuples};
use crate::system::Model;

/// A value of the halves that no relation has.
const NONE: Value = Value::MAX;

/// Combinations of values that are allowed.
struct Allowed {
    slots: Vec<usize>,
    /// Where they are in a row.
    places: Vec<usize>,
    tuples: Tuples,
}

/// What parts may reach.
#[derive(Default)]
pub(super) struct Restriction {
    parts: Vec<Vec<Allowed>>,
    halves: Vec<Vec<Allowed>>,
    /// Values of the original by their texts.
    texts: HashMap<usize, HashMap<String, Value>>,
    /// The value of the original for each value of the halves, by slot.
    known: HashMap<(usize, Value), Value, foldhash::fast::FixedState>,
    tuple: Vec<Value>,
}

impl Restriction {
    /// The restriction of a process in parts; `keys` are the parameters of its part that each half depends on.
    pub(super) fn new<'k>(
        invariants: &Invariants,
        cleaved: &Cleaved,
        keys: impl Iterator<Item = &'k [usize]>,
    ) -> Restriction {
        let mut restriction = Restriction { texts: invariants.values.clone(), ..Restriction::default() };
        for slots in &cleaved.parts {
            let mut allowed: Vec<Allowed> = Vec::new();
            for relation in &invariants.relations {
                let own: Vec<usize> =
                    (0..relation.slots.len()).filter(|&at| slots.binary_search(&relation.slots[at]).is_ok()).collect();
                if own.is_empty() {
                    continue;
                }
                let project = |tuple: &[Value]| own.iter().map(|&at| tuple[at]).collect();
                let slots_here: Vec<usize> = own.iter().map(|&at| relation.slots[at]).collect();
                allowed.push(Allowed {
                    places: slots_here.iter().filter_map(|slot| slots.binary_search(slot).ok()).collect(),
                    slots: slots_here,
                    tuples: relation.tuples.iter().map(|tuple| project(tuple)).collect(),
                });
            }
            restriction.parts.push(allowed);
        }
        for (half, key) in cleaved.halves.iter().zip(keys) {
            let inputs: BTreeSet<usize> = half.inputs.iter().flat_map(|input| &input.slots).copied().collect();
            let is_seen = |slot: &usize| inputs.contains(slot) || key.contains(slot);
            let mut allowed = Vec::new();
            for relation in &invariants.relations {
                let is_mixed = relation.slots.iter().any(|slot| inputs.contains(slot));
                if is_mixed && relation.slots.iter().all(is_seen) {
                    allowed.push(Allowed {
                        slots: relation.slots.clone(),
                        places: relation.slots.clone(),
                        tuples: relation.tuples.clone(),
                    });
                }
            }
            restriction.halves.push(allowed);
        }
        restriction
    }

    /// Whether a part may be in a state.
    pub(super) fn allows_state(&mut self, part: usize, row: &[Value], model: &Model) -> bool {
        let Restriction { parts, texts, known, tuple, .. } = self;
        parts.get(part).is_none_or(|all| all.iter().all(|one| one.allows(row, texts, known, tuple, model)))
    }

    /// Whether foreign values occur together with those of the part.
    pub(super) fn allows_inputs(&mut self, half: usize, row: &[Value], model: &Model) -> bool {
        let Restriction { halves, texts, known, tuple, .. } = self;
        halves.get(half).is_none_or(|all| all.iter().all(|one| one.allows(row, texts, known, tuple, model)))
    }
}

impl Allowed {
    fn allows(
        &self,
        row: &[Value],
        texts: &HashMap<usize, HashMap<String, Value>>,
        known: &mut HashMap<(usize, Value), Value, foldhash::fast::FixedState>,
        tuple: &mut Vec<Value>,
        model: &Model,
    ) -> bool {
        tuple.clear();
        for (&slot, &place) in self.slots.iter().zip(&self.places) {
            let value = row[place];
            tuple.push(*known.entry((slot, value)).or_insert_with(|| {
                texts.get(&slot).and_then(|all| all.get(&model.value_text(slot, value)).copied()).unwrap_or(NONE)
            }));
        }
        self.tuples.contains(&tuple[..])
    }
}
