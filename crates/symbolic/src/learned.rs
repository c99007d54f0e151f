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
//! # Anticipation
//!
//! Where values that were met one by one may be put together, as states of components may, a bundle learns all
//! combinations of them, as long as they are few. After a few rounds the relations are then as large as they ever get.
//! Without that every round of an exploration adds a little to some relations, which is paid twice: what earlier rounds
//! computed with smaller relations is of no use any more, and a set of states that was closed under parts of relations
//! has a less regular diagram than the set that is closed under all of them. The stack with 4 nodes and 4 threads
//! (22,040,125 states) had 1.4 million nodes at its peak without anticipation, and 0.8 million in the same order of
//! slots with it, after 11 rounds.
//!
//! Invariant: everything here belongs to all rows of `known` and to no other row. Every row of `met` is the projection
//! of a reachable state, and all of them are in `known`: so an error of a row of `met` is reachable.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::{Diagrams, Pair, Relation, Set, Slots};
use trefoil_system::{Cut, Explorer, Group, LabelId, LocalGroup, System, Value, Visibility};

use crate::order::places;
use crate::resets::Resets;

/// Groups with the same slots, and what is known of them.
pub struct Bundle {
    groups: Vec<LocalGroup>,
    visibility: Visibility,
    /// Do the groups have steps only where no other one has?
    last_resort: bool,
    /// The positions of the slots that are read, ascending.
    reads: Vec<usize>,
    /// For each slot that is read, ascending by slot, where its value is in a row of the projection.
    read_at: Vec<usize>,
    /// The positions that are written, ascending.
    writes: Vec<usize>,
    /// For each position that is written, ascending, the place of its slot among the groups' outputs.
    written_from: Vec<usize>,
    slots: Slots,
    /// The rows that were met, and the rows whose steps are known: the same, or more where steps are anticipated.
    met: Set,
    known: Set,
    relation: Relation,
    /// The same, where every step overwrites every slot.
    resets: Option<Resets>,
    enabled: Set,
    /// For kinds of errors and numbers of steps that show one the rows that have so many.
    errors: BTreeMap<(u32, u64), Set>,
    /// The kinds of errors that rows show which were met.
    shown: BTreeSet<u32>,
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

/// So many combinations of values are anticipated.
const MOST_ANTICIPATED: usize = 1 << 18;
/// So many pairs are added to a relation at a time.
const PORTION: usize = 1 << 16;
/// After this many walks the control is checked: about as much work as between two polls of the diagrams.
const WALKS_PER_POLL: u64 = 16;

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
        let mut known: HashMap<(Vec<usize>, Vec<usize>, Visibility, bool), usize> = HashMap::new();
        for group in LocalGroup::all(system, control)? {
            let Group { visibility, last_resort, .. } = system.groups()[group.id.index()];
            let sorted = |slots: Vec<usize>| {
                let mut positions: Vec<usize> = slots.iter().map(|&slot| place[slot]).collect();
                positions.sort_unstable();
                positions
            };
            let (inputs, outputs): (Vec<usize>, Vec<usize>) =
                (group.inputs.iter().collect(), group.outputs.iter().collect());
            let next = bundles.len();
            let place_of = *known.entry((inputs.clone(), outputs.clone(), visibility, last_resort)).or_insert(next);
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
                met: diagrams.empty(),
                known: diagrams.empty(),
                relation: diagrams.relation(&reads, &writes)?,
                resets: (writes.len() == order.len()).then(Resets::default),
                writes,
                enabled: diagrams.empty(),
                errors: BTreeMap::new(),
                shown: BTreeSet::new(),
                multiplicities: BTreeMap::new(),
                walks: 0,
                groups: vec![group],
                visibility,
                last_resort,
                reads,
            });
        }
        Ok(bundles)
    }

    /// The same bundle when positions are in another order: `moved` has for each position the one that it was before.
    pub(crate) fn reordered(&self, moved: &[usize], diagrams: &Diagrams) -> Result<Bundle, Cut> {
        let now = places(moved);
        let mut columns: Vec<usize> = (0..self.reads.len()).collect();
        columns.sort_by_key(|&column| now[self.reads[column]]);
        let column_now = places(&columns);
        let reads: Vec<usize> = columns.iter().map(|&column| now[self.reads[column]]).collect();
        let mut written: Vec<(usize, usize)> =
            self.writes.iter().map(|&position| now[position]).zip(self.written_from.iter().copied()).collect();
        written.sort_unstable();
        let with = |set: &Set| diagrams.reordered(set, &columns);
        let errors: Result<BTreeMap<_, _>, Stopped> =
            self.errors.iter().map(|(&shown, set)| Ok((shown, with(set)?))).collect();
        let multiplicities: Result<BTreeMap<_, _>, Stopped> =
            self.multiplicities.iter().map(|(&count, set)| Ok((count, with(set)?))).collect();
        Ok(Bundle {
            groups: self.groups.clone(),
            visibility: self.visibility,
            last_resort: self.last_resort,
            read_at: self.read_at.iter().map(|&at| column_now[at]).collect(),
            slots: diagrams.slots(&reads)?,
            reads,
            writes: written.iter().map(|&(position, _)| position).collect(),
            written_from: written.iter().map(|&(_, from)| from).collect(),
            met: with(&self.met)?,
            known: with(&self.known)?,
            relation: diagrams.reordered_relation(&self.relation, moved)?,
            resets: self.resets.as_ref().map(|known| known.reordered(moved, &columns, diagrams)).transpose()?,
            enabled: with(&self.enabled)?,
            errors: errors?,
            shown: self.shown.clone(),
            multiplicities: multiplicities?,
            walks: self.walks,
        })
    }

    /// Which labels its steps have.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// Do the groups have steps only where no other one has? Then the relation and all that is known is about states
    /// in which that is so.
    pub fn is_last_resort(&self) -> bool {
        self.last_resort
    }

    /// The relation, as far as it is known.
    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// The positions that are read and written.
    pub(crate) fn changed(&self) -> impl Iterator<Item = usize> + '_ {
        self.writes.iter().copied().filter(|position| self.reads.binary_search(position).is_ok())
    }

    /// Does every step overwrite the whole state?
    pub(crate) fn is_reset(&self) -> bool {
        self.resets.is_some()
    }

    /// The states that steps from these lead to.
    pub fn image(&self, states: &Set, diagrams: &Diagrams) -> Result<Set, Cut> {
        match &self.resets {
            Some(resets) => resets.image(&diagrams.project(states, &self.slots)?, diagrams),
            None => Ok(diagrams.image(states, &self.relation)?),
        }
    }

    /// The same and these states.
    pub fn extended(&self, states: &Set, diagrams: &Diagrams) -> Result<Set, Cut> {
        match &self.resets {
            Some(_) => Ok(diagrams.union(states, &self.image(states, diagrams)?)?),
            None => Ok(diagrams.extended(states, &self.relation)?),
        }
    }

    /// How many local walks learning has taken.
    pub fn walks(&self) -> u64 {
        self.walks
    }

    /// The kinds of errors that were met.
    pub fn errors(&self) -> impl Iterator<Item = u32> + '_ {
        self.shown.iter().copied()
    }

    /// Learns what the groups do in these states, which are reachable; with `anticipation`, also what they do in other
    /// combinations of the same values.
    pub fn learn(
        &mut self,
        states: &Set,
        system: &dyn System,
        explorer: &mut dyn Explorer,
        diagrams: &Diagrams,
        anticipation: bool,
    ) -> Result<(), Cut> {
        let met = diagrams.union(&self.met, &diagrams.project(states, &self.slots)?)?;
        if met == self.met {
            return Ok(());
        }
        let mut fresh = diagrams.difference(&met, &self.known)?;
        if anticipation
            && !fresh.is_empty()
            && let Some(all) = self.combinations(&met, diagrams)?
        {
            fresh = diagrams.difference(&all, &self.known)?;
        }
        self.met = met;
        if !fresh.is_empty() {
            self.learn_rows(&fresh, system, explorer, diagrams)?;
        }
        for (&(kind, _), rows) in &self.errors {
            if !self.shown.contains(&kind) && !diagrams.intersection(rows, &self.met)?.is_empty() {
                self.shown.insert(kind);
            }
        }
        Ok(())
    }

    /// All combinations of the values that rows have in each slot, unless they are too many.
    fn combinations(&self, rows: &Set, diagrams: &Diagrams) -> Result<Option<Set>, Cut> {
        let mut columns: Vec<Vec<Value>> = Vec::with_capacity(self.reads.len());
        let mut count: usize = 1;
        for slot in 0..self.reads.len() {
            let column = diagrams.project(rows, &diagrams.slots(&[slot])?)?;
            columns.push(diagrams.rows(&column).take(MOST_ANTICIPATED + 1).map(|row| row[0]).collect());
            count = count.saturating_mul(columns[slot].len());
            if count > MOST_ANTICIPATED {
                return Ok(None);
            }
        }
        Ok(Some(diagrams.product(&columns)?))
    }

    fn learn_rows(
        &mut self,
        fresh: &Set,
        system: &dyn System,
        explorer: &mut dyn Explorer,
        diagrams: &Diagrams,
    ) -> Result<(), Cut> {
        let mut new = New::default();
        let mut values = vec![0; self.read_at.len()];
        for row in diagrams.rows(fresh) {
            let walks = self.walks + self.groups.len() as u64;
            if self.walks / WALKS_PER_POLL != walks / WALKS_PER_POLL {
                diagrams.control().check()?;
            }
            self.walks = walks;
            self.read_at.iter().zip(&mut values).for_each(|(&at, value)| *value = row[at]);
            let mut steps = 0;
            let mut erring: BTreeMap<u32, u64> = BTreeMap::new();
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
        self.known = diagrams.union(&self.known, fresh)?;
        Ok(())
    }

    fn add(&mut self, new: &New, diagrams: &Diagrams) -> Result<(), Cut> {
        let with = |set: &Set, rows: &[Vec<Value>]| -> Result<Set, Cut> {
            let rows = diagrams.rows_of(rows.iter().map(Vec::as_slice))?;
            Ok(diagrams.union(set, &rows)?)
        };
        self.relation = diagrams.with_pairs(&self.relation, &new.pairs)?;
        if let Some(known) = self.resets.take() {
            self.resets = known.with(&new.pairs, diagrams)?;
        }
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

    /// The states among these whose steps are known.
    pub fn learned(&self, states: &Set, diagrams: &Diagrams) -> Result<Set, Cut> {
        Ok(diagrams.image(states, &diagrams.filter(&self.reads, &self.known)?)?)
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
