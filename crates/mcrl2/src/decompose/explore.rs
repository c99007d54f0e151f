//! The parts, explored together.
//!
//! A half needs values of its inputs that other parts offer, so no part can be explored alone. All parts start in their
//! initial states and grow together, up to the least fixpoint of these rules:
//!
//! * a reached state offers the values of its columns wherever the conjuncts without inputs hold,
//! * a half has a step for each reached state and each combination of values that were offered for its inputs,
//! * a step leads to a reached state once the other participants have steps whose columns agree.
//!
//! So a step that nothing will ever synchronise with leads nowhere, and labels are those that occur, never all values
//! of a sort. The composition reaches the same states as without these limits: a joint step needs agreeing steps of
//! all participants, and each of them is from a reached state with values that another reached state offers.
//!
//! A condition that is neither true nor false, because the conjunct that guards it went to another part, is no mistake
//! yet: the step leads to *poison*, a label of its own. Only a composition in which poison is reached has a mistake.
//!
//! An invariant excludes states of a part that no state of the whole has, and foreign values that never occur together
//! with those of the part ([`restrict`](super::restrict)): such states are not reached, and steps to them are left out.
//!
//! Steps of a half depend on few parameters of its part. States with the same values of these are a *view*: the steps
//! are found once for each view, and offered values are combined with views, not with states.
//!
//! Cost: for each half, its views times the combinations of offered values; for each summand, the combinations of
//! labels that agree ([`agreements`]).

mod agreements;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_source::Span;
use trefoil_system::{Cut, Label, LabelId, Labels, System, Value, Wrong, WrongPlace};

use super::cleave::Cleaved;
use super::invariants::Invariants;
use super::restrict::Restriction;
use crate::system::{Model, Walker};
use agreements::JointRun;

/// A column whose value is not known, because a condition is stuck.
const UNKNOWN: Value = Value::MAX;

/// The number of a state that an invariant excludes.
const REFUSED: u32 = u32::MAX;

/// Rows of values, and the number of each.
pub(super) type Places = HashMap<Box<[Value]>, u32, foldhash::fast::FixedState>;

/// How much may be explored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// States of a part.
    pub(super) states: usize,
    /// Evaluations of halves.
    pub(super) work: u64,
}

impl Limits {
    pub(super) const NONE: Limits = Limits { states: usize::MAX, work: u64::MAX };
}

/// Why parts were not explored to the end.
#[derive(Clone, Debug)]
pub(super) enum Unexplored {
    /// The limits were reached.
    Limit,
    /// The search was cut.
    Cut(Cut),
}

/// The steps of a summand that were found to agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Agreement {
    /// Parts and their labels, ascending.
    pub(super) parts: Vec<(usize, u32)>,
    pub(super) label: LabelId,
}

/// A part, explored.
pub(super) struct ExploredPart {
    /// Its parameters.
    pub(super) slots: Vec<usize>,
    /// The numbers of its states, by the values of its parameters; 0 is initial.
    pub(super) states: Places,
    /// Source, label of the part, target.
    pub(super) steps: Vec<(u32, u32, u32)>,
}

/// Parts that were explored together.
pub(super) struct Explored {
    pub(super) parts: Vec<ExploredPart>,
    pub(super) agreements: Vec<Agreement>,
    /// The ways to poison.
    pub(super) poison: Vec<Poison>,
}

/// A way to poison.
#[derive(Clone, Debug)]
pub(super) struct Poison {
    pub(super) label: LabelId,
    /// The summand of the original.
    pub(super) summand: usize,
    /// Whether the original is stuck there, too.
    pub(super) exact: bool,
    pub(super) wrong: Box<Wrong>,
}

/// States of a part that are the same to a half.
struct View {
    key: Box<[Value]>,
    members: Vec<u32>,
    steps: Vec<u32>,
}

/// A step of a half from a view.
struct ViewStep {
    label: u32,
    /// What is written, by the half's list; nothing for poison.
    writes: Option<Box<[Value]>>,
}

struct HalfRun {
    /// The parameters of the part on which its steps depend.
    key: Vec<usize>,
    /// Parameters of the part that its steps write, with their places among the written values and in the part's row.
    writes: Vec<(usize, usize)>,
    /// Where the value of each column is.
    columns: Vec<ColumnSource>,
    /// The same for its offers.
    offered: Vec<ColumnSource>,
    views: Vec<View>,
    known: Places,
    steps: Vec<ViewStep>,
    /// By input: the values that were offered, and their places.
    inputs: Vec<(Vec<Box<[Value]>>, Places)>,
    /// The halves that take its values, each with its input and the columns.
    receivers: Vec<(usize, usize, Vec<usize>)>,
    /// The joints that it is in, and its place there.
    joints: Vec<(usize, usize)>,
    labels: Places,
}

#[derive(Clone, Copy)]
enum ColumnSource {
    Row(usize),
    Written(usize),
}

struct KnownLabel {
    half: u32,
    columns: Box<[Value]>,
    /// Places among the half's steps, with their views.
    occurrences: Vec<(u32, u32)>,
    enabled: bool,
    stuck: Option<(bool, Box<Wrong>)>,
}

struct PartRun {
    slots: Vec<usize>,
    states: Places,
    rows: Vec<Box<[Value]>>,
    halves: Vec<usize>,
}

/// The exploration.
struct Exploring<'a> {
    cleaved: &'a Cleaved,
    model: &'a Model,
    /// The original, which knows the arguments that are constant.
    original: &'a Model,
    walker: Walker<'a>,
    restriction: Restriction,
    control: &'a Control,
    labels: &'a Arc<Labels>,
    hidden: &'a dyn Fn(&Label) -> bool,
    limits: Limits,
    work: u64,
    base: Vec<Value>,
    parts: Vec<PartRun>,
    halves: Vec<HalfRun>,
    joints: Vec<JointRun>,
    known: Vec<KnownLabel>,
    agreements: BTreeSet<(Vec<(usize, u32)>, LabelId)>,
    poison: Vec<Poison>,
    states: Vec<(usize, u32)>,
    offers: Vec<(usize, usize, Box<[Value]>)>,
    enabled: Vec<u32>,
}

/// Explores the parts together. Labels for which `hidden` holds are `τ`.
pub(super) fn explore(
    cleaved: &Cleaved,
    (model, original): (&Model, &Model),
    labels: &Arc<Labels>,
    hidden: &dyn Fn(&Label) -> bool,
    (limits, invariants): (Limits, Option<&Invariants>),
    control: &Control,
) -> Result<Explored, Unexplored> {
    let base = model.initial(control).map_err(Unexplored::Cut)?;
    let mut run = Exploring {
        halves: cleaved.halves.iter().map(|half| HalfRun::new(half, cleaved, model)).collect(),
        joints: cleaved.joints.iter().map(|joint| JointRun::new(joint, cleaved)).collect(),
        parts: cleaved
            .parts
            .iter()
            .enumerate()
            .map(|(part, slots)| PartRun {
                slots: slots.clone(),
                states: HashMap::default(),
                rows: Vec::new(),
                halves: (0..cleaved.halves.len()).filter(|&half| cleaved.halves[half].part == part).collect(),
            })
            .collect(),
        walker: model.walker(control),
        restriction: Restriction::default(),
        cleaved,
        model,
        original,
        control,
        labels,
        hidden,
        limits,
        work: 0,
        known: Vec::new(),
        agreements: BTreeSet::new(),
        poison: Vec::new(),
        states: Vec::new(),
        offers: Vec::new(),
        enabled: Vec::new(),
        base,
    };
    for (half, known) in cleaved.halves.iter().enumerate() {
        for (input, taken) in known.inputs.iter().enumerate() {
            for &source in &taken.sources {
                run.halves[source].receivers.push((half, input, taken.slots.clone()));
            }
        }
    }
    for (joint, known) in cleaved.joints.iter().enumerate() {
        for (place, &half) in known.halves.iter().enumerate() {
            run.halves[half].joints.push((joint, place));
        }
    }
    if let Some(invariants) = invariants {
        let keys = run.halves.iter().map(|half| &half.key[..]);
        run.restriction = Restriction::new(invariants, cleaved, keys);
    }
    for part in 0..run.parts.len() {
        let row: Box<[Value]> = run.parts[part].slots.iter().map(|&slot| run.base[slot]).collect();
        run.reach(part, row)?;
    }
    run.finish()
}

impl HalfRun {
    fn new(half: &super::cleave::Half, cleaved: &Cleaved, model: &Model) -> HalfRun {
        let slots = &cleaved.parts[half.part];
        let mut key: BTreeSet<usize> = model.slots_read(half.group).into_iter().collect();
        key.extend(half.offers.iter().flat_map(|&group| model.slots_read(group)));
        key.extend(half.columns.iter().filter(|column| !column.after).map(|column| column.slot));
        key.retain(|slot| slots.binary_search(slot).is_ok());
        let written = model.slots_written(half.group);
        let own = written.iter().enumerate();
        let writes = own.filter_map(|(place, slot)| Some((place, slots.binary_search(slot).ok()?))).collect();
        let source = |column: &super::cleave::Column, written: &[usize]| match column.after {
            false => Some(ColumnSource::Row(column.slot)),
            true => written.binary_search(&column.slot).ok().map(ColumnSource::Written),
        };
        let offering = half.offers.map_or_else(|| written.clone(), |group| model.slots_written(group));
        HalfRun {
            key: key.into_iter().collect(),
            writes,
            columns: half.columns.iter().filter_map(|column| source(column, &written)).collect(),
            // No half takes a column that the offers do not know.
            offered: half
                .columns
                .iter()
                .map(|column| source(column, &offering).unwrap_or(ColumnSource::Row(0)))
                .collect(),
            views: Vec::new(),
            known: HashMap::default(),
            steps: Vec::new(),
            inputs: half.inputs.iter().map(|_| (Vec::new(), HashMap::default())).collect(),
            receivers: Vec::new(),
            joints: Vec::new(),
            labels: HashMap::default(),
        }
    }
}

impl Exploring<'_> {
    fn finish(mut self) -> Result<Explored, Unexplored> {
        loop {
            if let Some(label) = self.enabled.pop() {
                self.follow(label)?;
            } else if let Some((half, input, values)) = self.offers.pop() {
                self.offer(half, input, values)?;
            } else if let Some((part, state)) = self.states.pop() {
                self.control.check().map_err(|stopped| Unexplored::Cut(stopped.into()))?;
                self.visit(part, state)?;
            } else {
                break;
            }
        }
        let mut parts = Vec::new();
        for part in 0..self.parts.len() {
            parts.push(self.part(part)?);
        }
        Ok(Explored {
            parts,
            agreements: self.agreements.into_iter().map(|(parts, label)| Agreement { parts, label }).collect(),
            poison: self.poison,
        })
    }

    /// The steps of a part, with states numbered as a breadth-first search meets them.
    fn part(&mut self, part: usize) -> Result<ExploredPart, Unexplored> {
        let run = &self.parts[part];
        // One state more for poison.
        let mut rows: Vec<Vec<(u32, u32)>> = vec![Vec::new(); run.rows.len() + 1];
        let poison = run.rows.len() as u32;
        for &half in &run.halves {
            let half = &self.halves[half];
            for view in &half.views {
                for &step in &view.steps {
                    let ViewStep { label, writes } = &half.steps[step as usize];
                    if !self.known[*label as usize].enabled {
                        continue;
                    }
                    for &source in &view.members {
                        let target = match writes {
                            None => poison,
                            Some(writes) => {
                                let mut row = run.rows[source as usize].clone();
                                for &(place, own) in &half.writes {
                                    row[own] = writes[place];
                                }
                                match run.states[&row] {
                                    REFUSED => continue,
                                    number => number,
                                }
                            }
                        };
                        rows[source as usize].push((*label, target));
                    }
                }
                self.control.check().map_err(|stopped| Unexplored::Cut(stopped.into()))?;
            }
        }
        let mut numbers = vec![u32::MAX; rows.len()];
        let mut order = vec![0u32];
        numbers[0] = 0;
        let mut steps = Vec::new();
        let mut at = 0;
        while at < order.len() {
            let source = order[at] as usize;
            rows[source].sort_unstable();
            rows[source].dedup();
            for &(label, target) in &rows[source] {
                let number = &mut numbers[target as usize];
                if *number == u32::MAX {
                    *number = order.len() as u32;
                    order.push(target);
                }
                steps.push((at as u32, label, *number));
            }
            at += 1;
        }
        let run = &mut self.parts[part];
        let states = std::mem::take(&mut run.states);
        let states = states
            .into_iter()
            .filter(|(_, number)| *number != REFUSED && numbers[*number as usize] != u32::MAX)
            .map(|(row, number)| (row, numbers[number as usize]))
            .collect();
        Ok(ExploredPart { slots: run.slots.clone(), states, steps })
    }

    fn reach(&mut self, part: usize, row: Box<[Value]>) -> Result<(), Unexplored> {
        let run = &mut self.parts[part];
        let next = run.rows.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(new) = run.states.entry(row) {
            // The initial state is allowed, whatever the relations say.
            if next > 0 && !self.restriction.allows_state(part, new.key(), self.model) {
                new.insert(REFUSED);
                return Ok(());
            }
            if next as usize >= self.limits.states {
                return Err(Unexplored::Limit);
            }
            run.rows.push(new.key().clone());
            new.insert(next);
            self.states.push((part, next));
        }
        Ok(())
    }

    fn visit(&mut self, part: usize, state: u32) -> Result<(), Unexplored> {
        for place in 0..self.parts[part].halves.len() {
            let half = self.parts[part].halves[place];
            let run = &mut self.halves[half];
            let slots = &self.parts[part].slots;
            let row = &self.parts[part].rows[state as usize];
            let value = |slot: &usize| row[slots.binary_search(slot).unwrap_or(0)];
            let key: Box<[Value]> = run.key.iter().map(value).collect();
            if let Some(&view) = run.known.get(&key) {
                run.views[view as usize].members.push(state);
                for at in 0..self.halves[half].views[view as usize].steps.len() {
                    let step = self.halves[half].views[view as usize].steps[at];
                    self.lead(half, step, state)?;
                }
                continue;
            }
            let view = run.views.len() as u32;
            run.known.insert(key.clone(), view);
            run.views.push(View { key, members: vec![state], steps: Vec::new() });
            self.announce(half, view)?;
            self.combine(half, view, None)?;
        }
        Ok(())
    }

    /// The row of a view.
    fn row_of(&self, half: usize, view: u32) -> Vec<Value> {
        let mut row = self.base.clone();
        let run = &self.halves[half];
        for (&slot, &value) in run.key.iter().zip(&run.views[view as usize].key) {
            row[slot] = value;
        }
        row
    }

    fn spend(&mut self) -> Result<(), Unexplored> {
        self.work += 1;
        if self.work > self.limits.work {
            return Err(Unexplored::Limit);
        }
        if self.work.is_multiple_of(1024) {
            self.control.check().map_err(|stopped| Unexplored::Cut(stopped.into()))?;
        }
        Ok(())
    }

    /// Offers the values of a view that must be known before inputs are.
    fn announce(&mut self, half: usize, view: u32) -> Result<(), Unexplored> {
        let Some(group) = self.cleaved.halves[half].offers else { return Ok(()) };
        if self.halves[half].receivers.is_empty() {
            return Ok(());
        }
        self.spend()?;
        let row = self.row_of(half, view);
        let mut found: Vec<Vec<Value>> = Vec::new();
        let walked = self.walker.steps_of(group, &row, |written| found.push(written.to_vec()));
        match walked {
            Ok(()) => {}
            // Whether that is a mistake, the step itself will show; its values may be needed for that.
            Err(Cut::Wrong(_)) if self.model.slots_written(group).is_empty() => found = vec![Vec::new()],
            Err(Cut::Wrong(wrong)) => return Err(Unexplored::Cut(Cut::Beyond(wrong))),
            Err(cut) => return Err(Unexplored::Cut(cut)),
        }
        for written in found {
            let columns = self.halves[half].offered.iter().map(|source| match *source {
                ColumnSource::Row(slot) => row[slot],
                ColumnSource::Written(place) => written[place],
            });
            let columns: Vec<Value> = columns.collect();
            self.give(half, &columns);
        }
        Ok(())
    }

    /// Gives the values of columns to the halves that need them.
    fn give(&mut self, half: usize, columns: &[Value]) {
        let known = &self.cleaved.halves[half].columns;
        for (receiver, input, slots) in &self.halves[half].receivers {
            let value = |slot: &usize| {
                let place = known.iter().position(|column| column.slot == *slot);
                place.map_or(UNKNOWN, |place| columns[place])
            };
            let values: Box<[Value]> = slots.iter().map(value).collect();
            if !values.contains(&UNKNOWN) && !self.halves[*receiver].inputs[*input].1.contains_key(&values) {
                self.offers.push((*receiver, *input, values));
            }
        }
    }

    /// Takes offered values into account.
    fn offer(&mut self, half: usize, input: usize, values: Box<[Value]>) -> Result<(), Unexplored> {
        let (list, places) = &mut self.halves[half].inputs[input];
        let next = list.len() as u32;
        if *places.entry(values.clone()).or_insert(next) != next {
            return Ok(());
        }
        list.push(values);
        for view in 0..self.halves[half].views.len() as u32 {
            self.combine(half, view, Some((input, next)))?;
        }
        Ok(())
    }

    /// Finds the steps of a view for all combinations of offered values, or those with one of them.
    fn combine(&mut self, half: usize, view: u32, only: Option<(usize, u32)>) -> Result<(), Unexplored> {
        let sizes: Vec<u32> = self.halves[half].inputs.iter().map(|(list, _)| list.len() as u32).collect();
        if sizes.contains(&0) {
            return Ok(());
        }
        let mut row = self.row_of(half, view);
        let mut chosen: Vec<u32> = vec![0; sizes.len()];
        if let Some((input, value)) = only {
            chosen[input] = value;
        }
        loop {
            for (input, &value) in chosen.iter().enumerate() {
                let slots = &self.cleaved.halves[half].inputs[input].slots;
                for (&slot, &value) in slots.iter().zip(&self.halves[half].inputs[input].0[value as usize]) {
                    row[slot] = value;
                }
            }
            self.evaluate(half, view, &row)?;
            let mut input = 0;
            loop {
                if input == chosen.len() {
                    return Ok(());
                }
                if only.is_some_and(|(fixed, _)| fixed == input) {
                    input += 1;
                    continue;
                }
                chosen[input] += 1;
                if chosen[input] < sizes[input] {
                    break;
                }
                chosen[input] = 0;
                input += 1;
            }
        }
    }

    /// Finds the steps of a half in a row.
    fn evaluate(&mut self, half: usize, view: u32, row: &[Value]) -> Result<(), Unexplored> {
        let known = &self.cleaved.halves[half];
        if !self.restriction.allows_inputs(half, row, self.model) {
            return Ok(());
        }
        self.spend()?;
        let mut found: Vec<Box<[Value]>> = Vec::new();
        let walked = self.walker.steps_of(known.group, row, |written| found.push(written.into()));
        let stuck = match walked {
            Ok(()) => None,
            Err(Cut::Wrong(wrong)) => Some(wrong),
            Err(cut) => return Err(Unexplored::Cut(cut)),
        };
        let sums = !self.cleaved.process.summands[known.group].variables.is_empty();
        if let Some(wrong) = stuck {
            let columns: Box<[Value]> = self.halves[half]
                .columns
                .iter()
                .map(|source| match *source {
                    ColumnSource::Row(slot) => row[slot],
                    ColumnSource::Written(_) => UNKNOWN,
                })
                .collect();
            let exact = known.exact && !sums && !columns.contains(&UNKNOWN);
            return self.step(half, view, columns, None, Some((exact, wrong)));
        }
        for written in found {
            let columns: Box<[Value]> = self.halves[half]
                .columns
                .iter()
                .map(|source| match *source {
                    ColumnSource::Row(slot) => row[slot],
                    ColumnSource::Written(place) => written[place],
                })
                .collect();
            let open = known.compared.iter().find_map(|slot| {
                let place = known.columns.iter().position(|column| column.slot == *slot)?;
                (!self.model.is_plain(*slot, columns[place])).then(|| self.model.value_text(*slot, columns[place]))
            });
            if let Some(text) = open {
                let message = format!("a condition is neither true nor false: `{text}` is compared with another value");
                let place = self.cleaved.process.place_of(known.group);
                let place = place.map(|Span { file, start, end }| WrongPlace { file: file.0, start, end });
                let unknown = columns.iter().zip(&known.columns);
                let columns = unknown.map(|(&value, column)| if column.after { UNKNOWN } else { value }).collect();
                self.step(half, view, columns, None, Some((false, Box::new(Wrong { message, place, hint: None }))))?;
                continue;
            }
            if known.offers.is_none() {
                self.give(half, &columns);
            }
            self.step(half, view, columns, Some(written), None)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        half: usize,
        view: u32,
        columns: Box<[Value]>,
        writes: Option<Box<[Value]>>,
        stuck: Option<(bool, Box<Wrong>)>,
    ) -> Result<(), Unexplored> {
        // Steps that are stuck have labels of their own.
        let mut key: Vec<Value> = columns.to_vec();
        key.push(Value::from(stuck.is_some()));
        let next = self.known.len() as u32;
        let label = *self.halves[half].labels.entry(key.into()).or_insert(next);
        let place = self.halves[half].steps.len() as u32;
        self.halves[half].steps.push(ViewStep { label, writes });
        self.halves[half].views[view as usize].steps.push(place);
        if label == next {
            let known =
                KnownLabel { half: half as u32, columns, occurrences: vec![(place, view)], enabled: false, stuck };
            self.known.push(known);
            self.join(half, label)?;
            return Ok(());
        }
        self.known[label as usize].occurrences.push((place, view));
        if self.known[label as usize].enabled {
            for at in 0..self.halves[half].views[view as usize].members.len() {
                let source = self.halves[half].views[view as usize].members[at];
                self.lead(half, place, source)?;
            }
        }
        Ok(())
    }

    /// Reaches the target of a step whose label is enabled.
    fn lead(&mut self, half: usize, step: u32, source: u32) -> Result<(), Unexplored> {
        let run = &self.halves[half];
        let ViewStep { label, writes } = &run.steps[step as usize];
        let Some(writes) = writes else { return Ok(()) };
        if !self.known[*label as usize].enabled {
            return Ok(());
        }
        let part = self.cleaved.halves[half].part;
        let mut row = self.parts[part].rows[source as usize].clone();
        for &(place, own) in &run.writes {
            row[own] = writes[place];
        }
        self.reach(part, row)
    }

    /// Reaches the targets of all steps with a label.
    fn follow(&mut self, label: u32) -> Result<(), Unexplored> {
        let half = self.known[label as usize].half as usize;
        for at in 0..self.known[label as usize].occurrences.len() {
            let (step, view) = self.known[label as usize].occurrences[at];
            for member in 0..self.halves[half].views[view as usize].members.len() {
                let source = self.halves[half].views[view as usize].members[member];
                self.lead(half, step, source)?;
            }
        }
        Ok(())
    }
}
