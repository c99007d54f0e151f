//! Relations that are learned.
//!
//! The relation of a group is not known before the search, and most of it is never needed: only values that were met
//! count. So before the group is applied to a set of states, the set is projected to the slots that the group reads,
//! and for each combination of values that is new the group's local successors are computed and added (S. Blom, J. van
//! de Pol, M. Weber, *LTSmin: distributed and symbolic reachability*, 2010). Groups with the same slots are one
//! *bundle*: they share the projection and the relation. Groups of `τ` are never with others, since runs are measured
//! by visible events and stability is about `τ` alone.
//!
//! Beside the relation a bundle keeps, as sets of values of the slots that it reads: where it has a step at all, where
//! a step shows an error, by kinds, and how many steps there are. With them deadlocks, errors and transitions are
//! questions about one set of states.
//!
//! Invariant: everything here belongs to all rows of `known` and to no other row. Every row of `known` is the
//! projection of a reachable state: so an error that was learned is reachable.

use std::collections::{BTreeMap, HashMap};

use trefoil_control::Control;
use trefoil_diagrams::{Diagrams, Pair, Relation, Set, Slots};
use trefoil_system::{Cut, Explorer, LabelId, LocalGroup, System, Value, Visibility};

use crate::order::places;

/// Groups with the same slots, and what is known of them.
pub struct Bundle {
    groups: Vec<LocalGroup>,
    visibility: Visibility,
    /// The positions of the slots that are read, ascending.
    reads: Vec<usize>,
    /// For each slot that is read, ascending by slot, where its value is in a row of the projection.
    read_at: Vec<usize>,
    /// For each position that is written, ascending, the place of its slot among the groups' outputs.
    written_from: Vec<usize>,
    slots: Slots,
    known: Set,
    relation: Relation,
    enabled: Set,
    /// For kinds of errors and numbers of steps that show one the rows that have so many.
    errors: BTreeMap<(u32, u64), Set>,
    /// For numbers of steps the rows that have so many.
    multiplicities: BTreeMap<u64, Set>,
    /// How many local walks it took.
    walks: u64,
}

/// What was learned at one time.
#[derive(Default)]
struct New {
    pairs: Vec<Pair>,
    enabled: Vec<Vec<Value>>,
    errors: BTreeMap<(u32, u64), Vec<Vec<Value>>>,
    multiplicities: BTreeMap<u64, Vec<Vec<Value>>>,
}

/// So many pairs are added to a relation at a time.
const PORTION: usize = 1 << 16;

impl Bundle {
    /// The bundles of a system whose slots are in this order.
    pub fn all(
        system: &dyn System,
        order: &[usize],
        diagrams: &Diagrams,
        control: &Control,
    ) -> Result<Vec<Bundle>, Cut> {
        let place = places(order);
        let mut bundles: Vec<Bundle> = Vec::new();
        let mut known: HashMap<(Vec<usize>, Vec<usize>, Visibility), usize> = HashMap::new();
        for group in LocalGroup::all(system, control)? {
            let visibility = system.groups()[group.id.index()].visibility;
            let sorted = |slots: Vec<usize>| {
                let mut positions: Vec<usize> = slots.iter().map(|&slot| place[slot]).collect();
                positions.sort_unstable();
                positions
            };
            let (inputs, outputs): (Vec<usize>, Vec<usize>) =
                (group.inputs.iter().collect(), group.outputs.iter().collect());
            let next = bundles.len();
            let place_of = *known.entry((inputs.clone(), outputs.clone(), visibility)).or_insert(next);
            if let Some(bundle) = bundles.get_mut(place_of) {
                bundle.groups.push(group);
                continue;
            }
            let (reads, writes) = (sorted(inputs.clone()), sorted(outputs.clone()));
            let find = |positions: &[usize], position: usize| positions.binary_search(&position).unwrap_or_default();
            bundles.push(Bundle {
                read_at: inputs.iter().map(|&slot| find(&reads, place[slot])).collect(),
                written_from: writes
                    .iter()
                    .map(|&position| outputs.binary_search(&order[position]).unwrap_or_default())
                    .collect(),
                slots: diagrams.slots(&reads)?,
                known: diagrams.empty(),
                relation: diagrams.relation(&reads, &writes)?,
                enabled: diagrams.empty(),
                errors: BTreeMap::new(),
                multiplicities: BTreeMap::new(),
                walks: 0,
                groups: vec![group],
                visibility,
                reads,
            });
        }
        Ok(bundles)
    }

    /// Which labels its steps have.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// The relation, as far as it is known.
    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// How many local walks learning has taken.
    pub fn walks(&self) -> u64 {
        self.walks
    }

    /// The kinds of errors that were met.
    pub fn errors(&self) -> impl Iterator<Item = u32> + '_ {
        self.errors.keys().map(|&(kind, _)| kind)
    }

    /// Learns what the groups do in these states, which are reachable.
    pub fn learn(
        &mut self,
        states: &Set,
        system: &dyn System,
        explorer: &mut dyn Explorer,
        diagrams: &Diagrams,
    ) -> Result<(), Cut> {
        let met = diagrams.project(states, &self.slots)?;
        let fresh = diagrams.difference(&met, &self.known)?;
        if fresh.is_empty() {
            return Ok(());
        }
        let mut new = New::default();
        let mut values = vec![0; self.read_at.len()];
        let rows = diagrams.rows(&fresh);
        for row in rows {
            diagrams.control().check()?;
            self.read_at.iter().zip(&mut values).for_each(|(&at, value)| *value = row[at]);
            let mut steps = 0;
            let mut erring: BTreeMap<u32, u64> = BTreeMap::new();
            self.walks += self.groups.len() as u64;
            for group in &self.groups {
                explorer.local_successors(group, &values, &mut |step| {
                    steps += 1;
                    let kind = kind_of(system, step.label);
                    if kind != 0 {
                        *erring.entry(kind).or_default() += 1;
                    }
                    let written = |&from: &usize| step.written[from].then_some(step.values[from]);
                    new.pairs
                        .push(Pair { read: row.clone(), written: self.written_from.iter().map(written).collect() });
                    Ok(())
                })?;
            }
            for shown in erring {
                new.errors.entry(shown).or_default().push(row.clone());
            }
            if steps > 0 {
                new.multiplicities.entry(steps).or_default().push(row.clone());
                new.enabled.push(row);
            }
            if new.pairs.len() > PORTION {
                self.add(&std::mem::take(&mut new), diagrams)?;
            }
        }
        self.add(&new, diagrams)?;
        self.known = diagrams.union(&self.known, &fresh)?;
        Ok(())
    }

    fn add(&mut self, new: &New, diagrams: &Diagrams) -> Result<(), Cut> {
        let with = |set: &Set, rows: &[Vec<Value>]| -> Result<Set, Cut> {
            let rows = diagrams.rows_of(rows.iter().map(Vec::as_slice))?;
            Ok(diagrams.union(set, &rows)?)
        };
        self.relation = diagrams.with_pairs(&self.relation, &new.pairs)?;
        self.enabled = with(&self.enabled, &new.enabled)?;
        for (&shown, rows) in &new.errors {
            let set = self.errors.entry(shown).or_insert_with(|| diagrams.empty());
            *set = with(set, rows)?;
        }
        for (&count, rows) in &new.multiplicities {
            let set = self.multiplicities.entry(count).or_insert_with(|| diagrams.empty());
            *set = with(set, rows)?;
        }
        Ok(())
    }

    /// The states among these in which the groups have a step.
    pub fn enabled(&self, states: &Set, diagrams: &Diagrams) -> Result<Set, Cut> {
        Ok(diagrams.image(states, &diagrams.filter(&self.reads, &self.enabled)?)?)
    }

    /// For each number of steps that show an error of one of these kinds the states among these with so many.
    pub fn erring(
        &self,
        states: &Set,
        kinds: impl Fn(u32) -> bool,
        diagrams: &Diagrams,
    ) -> Result<Vec<(u64, Set)>, Cut> {
        let wanted = self.errors.iter().filter(|((kind, _), _)| kinds(*kind));
        wanted.map(|(&(_, count), rows)| self.with_count(count, rows, states, diagrams)).collect()
    }

    /// For each number of steps the states among these that have so many steps of the groups.
    pub fn multiplicities(&self, states: &Set, diagrams: &Diagrams) -> Result<Vec<(u64, Set)>, Cut> {
        self.multiplicities.iter().map(|(&count, rows)| self.with_count(count, rows, states, diagrams)).collect()
    }

    /// The states among these whose values are in a set of rows.
    fn with_count(&self, count: u64, rows: &Set, states: &Set, diagrams: &Diagrams) -> Result<(u64, Set), Cut> {
        Ok((count, diagrams.image(states, &diagrams.filter(&self.reads, rows)?)?))
    }
}

/// The kind of error that a step with this label shows; 0 for none.
pub(crate) fn kind_of(system: &dyn System, label: LabelId) -> u32 {
    if label < system.first_error() { 0 } else { system.error(label) }
}
