//! Invariants: what holds in all states that can be reached, found in a sample and proved by induction.
//!
//! A part of a process does not know what the other parts do, so it has states that no state of the whole has. An
//! invariant of the whole says which (Laveaux, *Accelerated verification of concurrent systems*, 2024, section 3.4).
//! There, the user writes it. Here, *candidates* are taken from a sample: for a parameter the values that it had; for
//! two control parameters, or others with few values, the pairs that they had; for two parameters of one sort that they
//! are equal; and the conjuncts of what the user wrote.
//!
//! "Held where we looked" is not a proof. All candidates together are made inductive: a candidate that some summand
//! breaks, from values that all candidates allow, is dropped, until none is broken (Flanagan and Leino, *Houdini, an
//! annotation assistant for ESC/Java*, 2001). What is left holds initially, as the sample has the initial state, and
//! every step keeps it. The order of dropping does not matter: there is one largest set that is inductive.
//!
//! A summand and a candidate are tried with all values of the parameters that the summand reads and that the candidate
//! mentions; these are finitely many where candidates say so, or the sort. Where a parameter has no such bound, only a
//! summand that writes constants can keep a candidate. Everything else is a reason to drop it. What the user wrote is
//! not dropped but refused, with the summand and the values.
//!
//! Invariants of the code: every candidate is a relation over values of the original that are made of constructors, so
//! that a value has one text. A relation that was proved is never too small: where a trial cannot be decided, the
//! relation is dropped.
//!
//! Cost: for each summand and each list of parameters that have to be tried, the rows that the candidates allow, at
//! most [`MOST_ROWS`], and for all of them [`MOST_TRIALS`]; again after each round in which something was dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trefoil_control::{Control, counted};
use trefoil_data::typed::TypedId;
use trefoil_system::{Cut, System, Value, Values};

use super::Undone;
use super::expressions::variables;
use super::partition::Sample;
use crate::system::{Model, Walker};

/// Parameters with more values have no bound.
const MOST_VALUES: usize = 256;

/// The values of a parameter whose pairs with others are candidates, and the number of such parameters, at most.
const MOST_PAIRED: usize = 16;
const MOST_PARAMETERS: usize = 24;

/// Rows that are tried for one summand and one list of parameters.
const MOST_ROWS: usize = 50_000;

/// Rows that are tried in all.
const MOST_TRIALS: u64 = 2_000_000;

/// Tuples of values.
pub(super) type Tuples = HashSet<Box<[Value]>, foldhash::fast::FixedState>;

/// A conjunct of an invariant that the user wrote.
#[derive(Clone, Debug)]
pub struct WrittenInvariant {
    /// The conjunct, a condition that the model observes.
    pub condition: TypedId,
    /// What the user wrote.
    pub text: String,
}

/// Combinations of values that some parameters have.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// Ascending.
    pub(super) slots: Vec<usize>,
    pub(super) tuples: Tuples,
    /// The conjunct of the user that it is.
    written: Option<usize>,
}

impl Relation {
    /// The parameters whose values before a step matter although the step does not read them: those of the relation
    /// itself, which holds before. One parameter alone has some value anyway.
    fn assumed(&self) -> &[usize] {
        if self.slots.len() > 1 { &self.slots } else { &[] }
    }
}

/// Relations that hold in every state that can be reached.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    pub(super) relations: Vec<Relation>,
    /// The values that are mentioned, by slot and text.
    pub(super) values: HashMap<usize, HashMap<String, Value>>,
    /// In words.
    pub words: Vec<String>,
}

/// Why a relation is not kept.
enum Broken {
    /// A step leads from a row to another one that it does not allow.
    Step(Vec<(usize, Value)>, Vec<(usize, Value)>),
    /// It could not be tried.
    Untried(String),
}

struct Proving<'a> {
    model: &'a Model,
    walker: Walker<'a>,
    control: &'a Control,
    base: Vec<Value>,
    /// The values of a parameter, where they are bounded.
    domains: Vec<Option<Vec<Value>>>,
    relations: Vec<Relation>,
    trials: u64,
}

/// Finds the invariants of a model among what a sample and the user suggest.
pub(super) fn find(
    model: &Model,
    sample: &Sample,
    written: &[WrittenInvariant],
    control: &Control,
) -> Result<Invariants, Undone> {
    let base = model.initial(control).map_err(Undone::Cut)?;
    let mut proving = Proving {
        domains: domains(model, sample),
        relations: Vec::new(),
        walker: model.walker(control),
        model,
        control,
        base,
        trials: 0,
    };
    for slot in 0..proving.domains.len() {
        if let Some(values) = &proving.domains[slot] {
            let tuples = values.iter().map(|&value| [value].into()).collect();
            proving.relations.push(Relation { slots: vec![slot], tuples, written: None });
        }
    }
    proving.add_pairs(sample);
    for (number, conjunct) in written.iter().enumerate() {
        proving.add_written(number, conjunct)?;
    }
    proving.drop_broken(written)?;
    Ok(proving.finished(written))
}

/// The values that each parameter has in a sample, where they are few and made of constructors.
fn domains(model: &Model, sample: &Sample) -> Vec<Option<Vec<Value>>> {
    let mut found: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); model.layout().slots().len()];
    for row in sample.rows() {
        for (found, &value) in found.iter_mut().zip(row) {
            if found.len() <= MOST_VALUES {
                found.insert(value);
            }
        }
    }
    let bounded = |(slot, values): (usize, BTreeSet<Value>)| {
        let is_bounded = values.len() <= MOST_VALUES && values.iter().all(|&value| model.is_plain(slot, value));
        is_bounded.then(|| values.into_iter().collect())
    };
    found.into_iter().enumerate().map(bounded).collect()
}

impl Proving<'_> {
    /// Pairs of values: of control parameters and others with few values, and of parameters that are equal.
    fn add_pairs(&mut self, sample: &Sample) {
        let parameters = &self.model.linear().parameters;
        let few = |slot: &usize| self.domains[*slot].as_ref().is_some_and(|all| (2..=MOST_PAIRED).contains(&all.len()));
        let mut paired: Vec<usize> = (0..parameters.len()).filter(few).collect();
        paired.sort_by_key(|&slot| (parameters[slot].control.is_none(), slot));
        paired.truncate(MOST_PARAMETERS);
        paired.sort_unstable();
        for (at, &one) in paired.iter().enumerate() {
            for &other in &paired[at + 1..] {
                let tuples: Tuples = sample.rows().map(|row| [row[one], row[other]].into()).collect();
                let size = |slot: usize| self.domains[slot].as_ref().map_or(0, Vec::len);
                if tuples.len() < size(one) * size(other) {
                    self.relations.push(Relation { slots: vec![one, other], tuples, written: None });
                }
            }
        }
        for one in 0..parameters.len() {
            for other in one + 1..parameters.len() {
                if parameters[one].sort != parameters[other].sort
                    || paired.contains(&one) && paired.contains(&other)
                    || [one, other].iter().any(|&slot| self.domains[slot].as_ref().is_none_or(|all| all.len() < 2))
                {
                    continue;
                }
                // Numbers of two parameters may stand for different values.
                let mut tuples = Tuples::default();
                let text = |slot: usize, row: &[Value]| self.model.value_text(slot, row[slot]);
                let are_equal = sample.rows().all(|row| {
                    let tuple = [row[one], row[other]];
                    tuples.contains(&tuple[..]) || text(one, row) == text(other, row) && tuples.insert(tuple.into())
                });
                if are_equal {
                    self.relations.push(Relation { slots: vec![one, other], tuples, written: None });
                }
            }
        }
    }

    /// A conjunct of the user as a relation over the values that its parameters have.
    fn add_written(&mut self, number: usize, conjunct: &WrittenInvariant) -> Result<(), Undone> {
        let linear = self.model.linear();
        let used = variables(&linear.data, conjunct.condition);
        let slots: Vec<usize> =
            (0..linear.parameters.len()).filter(|&slot| used.contains(&linear.parameters[slot].variable)).collect();
        let base = self.base.clone();
        match self.walker.truth(conjunct.condition, &base).map_err(Undone::Cut)? {
            Some(true) => {}
            Some(false) => {
                let values = self.values_text(&slots.iter().map(|&slot| (slot, base[slot])).collect::<Vec<_>>());
                return Err(Undone::Refused(format!("the invariant `{}` is false initially{values}", conjunct.text)));
            }
            None => return Err(Undone::Refused(format!("the invariant `{}` is stuck initially", conjunct.text))),
        }
        if slots.is_empty() {
            return Ok(());
        }
        let tuples = self.table(conjunct, &slots)?;
        self.relations.push(Relation { slots, tuples, written: Some(number) });
        Ok(())
    }

    /// The combinations of values for which a conjunct of the user holds.
    fn table(&mut self, conjunct: &WrittenInvariant, slots: &[usize]) -> Result<Tuples, Undone> {
        let unproved =
            |why: String| Undone::Refused(format!("the invariant `{}` cannot be proved: {why}", conjunct.text));
        let mut all: Vec<Box<[Value]>> = vec![Box::default()];
        for &slot in slots {
            let Some(values) = &self.domains[slot] else {
                let name = &self.model.layout().slots()[slot].name;
                return Err(unproved(format!("the values of `{name}` are not known to be few")));
            };
            if all.len() * values.len() > MOST_ROWS {
                return Err(unproved(format!("its parameters have more than {MOST_ROWS} combinations of values")));
            }
            let with = |tuple: &[Value], value: Value| tuple.iter().copied().chain([value]).collect();
            all = all.iter().flat_map(|tuple| values.iter().map(move |&value| with(tuple, value))).collect();
        }
        let mut row = self.base.clone();
        let mut tuples = Tuples::default();
        for tuple in all {
            slots.iter().zip(&tuple).for_each(|(&slot, &value)| row[slot] = value);
            if self.walker.truth(conjunct.condition, &row).map_err(Undone::Cut)? == Some(true) {
                tuples.insert(tuple);
            }
        }
        Ok(tuples)
    }

    /// Drops relations that a summand breaks, until none does.
    fn drop_broken(&mut self, written: &[WrittenInvariant]) -> Result<(), Undone> {
        loop {
            let mut dropped: BTreeSet<usize> = BTreeSet::new();
            for group in 0..self.model.groups().len() {
                if self.model.is_never(group) {
                    continue;
                }
                self.control.check().map_err(|stopped| Undone::Cut(stopped.into()))?;
                for (relation, broken) in self.broken_by(group).map_err(Undone::Cut)? {
                    if let Some(number) = self.relations[relation].written {
                        return Err(self.refused(group, &written[number], broken));
                    }
                    dropped.insert(relation);
                }
                if !dropped.is_empty() {
                    break;
                }
            }
            if dropped.is_empty() {
                return Ok(());
            }
            // A parameter without a bound of its own may have one by its sort.
            let mut widened: BTreeSet<usize> = BTreeSet::new();
            for &relation in dropped.iter().rev() {
                let gone = self.relations.remove(relation);
                if let [slot] = gone.slots[..] {
                    self.domains[slot] = match self.model.layout().slots()[slot].values {
                        Values::Below(count) if (0..count).all(|value| self.model.is_plain(slot, value)) => {
                            Some((0..count).collect())
                        }
                        _ => None,
                    };
                    widened.insert(slot);
                }
            }
            for place in 0..self.relations.len() {
                let Some(number) = self.relations[place].written else { continue };
                if self.relations[place].slots.iter().any(|slot| widened.contains(slot)) {
                    let slots = self.relations[place].slots.clone();
                    self.relations[place].tuples = self.table(&written[number], &slots)?;
                }
            }
        }
    }

    /// The relations that some step of a group breaks.
    fn broken_by(&mut self, group: usize) -> Result<Vec<(usize, Broken)>, Cut> {
        let written = self.model.slots_written(group);
        let reads = self.model.slots_read(group);
        // Relations by the parameters that have to be tried.
        let mut tried: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
        for (place, relation) in self.relations.iter().enumerate() {
            if relation.slots.iter().any(|slot| written.contains(slot)) {
                tried.entry(reads.iter().chain(relation.assumed()).copied().collect()).or_default().push(place);
            }
        }
        let mut broken = Vec::new();
        for (slots, relations) in tried {
            match self.rows(group, &slots.iter().copied().collect::<Vec<_>>()) {
                Ok(rows) => broken.extend(self.broken_from(group, &rows, relations)?),
                Err(why) => {
                    for relation in relations {
                        broken.extend(self.broken_by_constants(group, relation, &why).map(|broken| (relation, broken)));
                    }
                }
            }
        }
        Ok(broken)
    }

    /// The rows of some parameters that all relations over them and the tests of a group allow; or why there are none.
    fn rows(&self, group: usize, slots: &[usize]) -> Result<Vec<Vec<Value>>, String> {
        let mut rows: Vec<Vec<Value>> = vec![self.base.clone()];
        let mut known: BTreeSet<usize> = BTreeSet::new();
        // Parameters with few values first: relations prune early.
        let mut order = slots.to_vec();
        let size = |slot: &usize| self.domains[*slot].as_ref().map_or(usize::MAX, Vec::len);
        order.sort_by_key(|slot| (size(slot), *slot));
        for slot in order {
            let Some(values) = &self.domains[slot] else {
                let name = &self.model.layout().slots()[slot].name;
                return Err(format!("the values of `{name}` are not known to be few"));
            };
            let test = self.model.tests(group).iter().find(|(tested, _)| *tested as usize == slot);
            known.insert(slot);
            let is_new = |relation: &&Relation| {
                relation.slots.contains(&slot) && relation.slots.iter().all(|slot| known.contains(slot))
            };
            let relations: Vec<&Relation> = self.relations.iter().filter(is_new).collect();
            let mut next = Vec::new();
            let mut tuple = Vec::new();
            for row in &rows {
                for &value in values.iter().filter(|&&value| test.is_none_or(|(_, tested)| *tested == value)) {
                    let mut row = row.clone();
                    row[slot] = value;
                    let allows = |relation: &&Relation| {
                        tuple.clear();
                        tuple.extend(relation.slots.iter().map(|&slot| row[slot]));
                        relation.tuples.contains(&tuple[..])
                    };
                    if relations.iter().all(allows) {
                        next.push(row);
                    }
                }
                if next.len() > MOST_ROWS {
                    return Err(format!("there are more than {MOST_ROWS} combinations of values"));
                }
            }
            rows = next;
        }
        Ok(rows)
    }

    fn broken_from(
        &mut self,
        group: usize,
        rows: &[Vec<Value>],
        mut relations: Vec<usize>,
    ) -> Result<Vec<(usize, Broken)>, Cut> {
        let written = self.model.slots_written(group);
        let read = self.model.slots_read(group);
        let mut broken = Vec::new();
        let mut found: Vec<Vec<Value>> = Vec::new();
        for row in rows {
            self.trials += 1;
            if self.trials > MOST_TRIALS {
                let why = || Broken::Untried(format!("more than {MOST_TRIALS} combinations were tried"));
                broken.extend(relations.drain(..).map(|relation| (relation, why())));
            }
            if relations.is_empty() {
                break;
            }
            found.clear();
            match self.walker.steps_of(group, row, |written| found.push(written.to_vec())) {
                Ok(()) => {}
                Err(Cut::Wrong(wrong) | Cut::Beyond(wrong)) => {
                    let why = || Broken::Untried(wrong.message.clone());
                    broken.extend(relations.drain(..).map(|relation| (relation, why())));
                }
                Err(Cut::Outgrown) => {
                    let why = || Broken::Untried("a value of a finite sort is stuck".to_string());
                    broken.extend(relations.drain(..).map(|relation| (relation, why())));
                }
                Err(cut) => return Err(cut),
            }
            for values in &found {
                let after = |slot: usize| written.binary_search(&slot).map_or(row[slot], |place| values[place]);
                relations.retain(|&place| {
                    let relation = &self.relations[place];
                    let tuple: Vec<Value> = relation.slots.iter().map(|&slot| after(slot)).collect();
                    let is_kept = relation.tuples.contains(&tuple[..]);
                    if !is_kept {
                        let before: BTreeSet<usize> = read.iter().chain(&relation.slots).copied().collect();
                        let before = before
                            .into_iter()
                            .filter(|slot| read.contains(slot) || !written.contains(slot))
                            .map(|slot| (slot, row[slot]));
                        let after = relation.slots.iter().copied().zip(tuple);
                        broken.push((place, Broken::Step(before.collect(), after.collect())));
                    }
                    is_kept
                });
            }
        }
        Ok(broken)
    }

    /// Whether a group breaks a relation although it writes constants to its parameters; else why that is not known.
    fn broken_by_constants(&self, group: usize, place: usize, why: &str) -> Option<Broken> {
        let written = self.model.slots_written(group);
        let relation = &self.relations[place];
        let kept: Vec<usize> = relation.slots.iter().copied().filter(|slot| !written.contains(slot)).collect();
        let rows = match self.rows(group, relation.assumed()) {
            Ok(rows) => rows,
            Err(why) => return Some(Broken::Untried(why)),
        };
        for row in rows {
            let mut tuple = Vec::new();
            for &slot in &relation.slots {
                tuple.push(match kept.contains(&slot) {
                    true => row[slot],
                    false => match self.model.constant_update(group, slot) {
                        Some(value) => value,
                        None => return Some(Broken::Untried(why.to_string())),
                    },
                });
            }
            if !relation.tuples.contains(&tuple[..]) {
                let before = kept.iter().map(|&slot| (slot, row[slot])).collect();
                return Some(Broken::Step(before, relation.slots.iter().copied().zip(tuple).collect()));
            }
        }
        None
    }

    fn refused(&self, group: usize, written: &WrittenInvariant, broken: Broken) -> Undone {
        let name = &self.model.groups()[group].name;
        let summand = format!("summand {} (`{name}`)", group + 1);
        Undone::Refused(match broken {
            Broken::Step(before, after) => format!(
                "the invariant `{}` is not inductive: {summand} leads{} to a state{} in which it is false",
                written.text,
                self.values_text(&before).replacen(" with", " from", 1),
                self.values_text(&after)
            ),
            Broken::Untried(why) => {
                format!("the invariant `{}` cannot be proved for {summand}: {why}", written.text)
            }
        })
    }

    fn values_text(&self, values: &[(usize, Value)]) -> String {
        let slots = self.model.layout().slots();
        let text =
            |&(slot, value): &(usize, Value)| format!("{} = {}", slots[slot].name, self.model.value_text(slot, value));
        let texts: Vec<String> = values.iter().map(text).collect();
        if texts.is_empty() { String::new() } else { format!(" with {}", texts.join(", ")) }
    }

    /// The relations that say something.
    fn finished(self, written: &[WrittenInvariant]) -> Invariants {
        let slots = self.model.layout().slots();
        let size = |slot: usize| match slots[slot].values {
            Values::Below(count) => count as usize,
            _ => usize::MAX,
        };
        let mut found = Invariants::default();
        for relation in self.relations {
            let names: Vec<&str> = relation.slots.iter().map(|&slot| slots[slot].name.as_str()).collect();
            let count = relation.tuples.len();
            match (&relation.slots[..], relation.written) {
                (&[slot], None) if count >= size(slot) => continue,
                (&[_], None) => found.words.push(format!("{} has {}", names[0], counted(count as u64, "value"))),
                (_, None) => {
                    found.words.push(format!("{} have {}", names.join(" and "), counted(count as u64, "combination")))
                }
                (_, Some(number)) if !found.words.contains(&written[number].text) => {
                    found.words.push(written[number].text.clone());
                }
                _ => {}
            }
            for (at, &slot) in relation.slots.iter().enumerate() {
                let known = found.values.entry(slot).or_default();
                for tuple in &relation.tuples {
                    known.entry(self.model.value_text(slot, tuple[at])).or_insert(tuple[at]);
                }
            }
            found.relations.push(relation);
        }
        found
    }
}
