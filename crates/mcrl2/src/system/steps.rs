//! Steps of a state: remembered ones, and those that have to be computed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

use trefoil_control::{Control, count};
use trefoil_data::rewrite::{Enumerated, Rewriter, Unfinished};
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_source::Span;
use trefoil_system::{
    Cut, Explorer, GroupId, LabelId, LocalGroup, LocalSink, LocalStep, MarkId, Sink, Step, System, Value, Walk, Wrong,
    WrongPlace,
};
use trefoil_terms::{Root, Term, Worker};

use super::facts::TableFacts;
use super::parts::{PartValue, Parts, TRUE};
use super::plan::{Expression, Naming, Plan, Update};
use super::table::{Found, Table};
use super::{Model, label};

/// Values of infinite sorts that are tried for one sum.
const MOST_TUPLES: u64 = 100_000;

/// Steps of a summand in one state beyond which the search gives up.
const MOST_STEPS: usize = 1_000_000;

/// Bytes that remembered steps may take for each state that a thread expands, and in any case.
const BYTES_A_STATE: u64 = 16;
const FREE_BYTES: u64 = 1 << 20;
/// States after which a thread looks how much they take.
const BETWEEN: u64 = 1024;

/// What a thread remembers: the steps of each group, and the labels of groups with arguments.
#[derive(Debug)]
pub(super) struct Memory {
    tables: Vec<Table>,
    /// The values of expressions of joined summands.
    pieces: Vec<Table>,
    labels: Vec<HashMap<Box<[Value]>, LabelId, foldhash::fast::FixedState>>,
    /// Which groups had a step.
    moved: Vec<bool>,
    /// States that were expanded.
    states: u64,
}

impl Memory {
    /// Whether a group had a step.
    pub(super) fn has_moved(&self, group: usize) -> bool {
        self.moved.get(group).copied().unwrap_or(false)
    }

    /// How often the steps of a group were of use.
    pub(super) fn table_facts(&self, group: usize) -> TableFacts {
        self.tables.get(group).map(Table::facts).unwrap_or_default()
    }

    /// How often the values of expressions of joined summands were of use.
    pub(super) fn part_facts(&self) -> TableFacts {
        let mut facts = TableFacts::default();
        self.pieces.iter().for_each(|table| facts.add(&table.facts()));
        facts
    }

    pub(super) fn new(plans: &[Plan], pieces: usize) -> Memory {
        let table = |plan: &Plan| if plan.parts.is_some() { Table::beside_parts() } else { Table::default() };
        Memory {
            tables: plans.iter().map(table).collect(),
            pieces: (0..pieces).map(|_| Table::default()).collect(),
            labels: plans.iter().map(|_| HashMap::default()).collect(),
            moved: vec![false; plans.len()],
            states: 0,
        }
    }

    /// Drops tables while all of them take too much, first those that answer the fewest questions for what they take.
    fn make_room(&mut self) {
        let mut bytes: u64 = self.tables.iter().chain(&self.pieces).map(Table::bytes).sum();
        while bytes > FREE_BYTES + BYTES_A_STATE * self.states {
            let all = self.tables.iter_mut().chain(&mut self.pieces).filter(|table| table.bytes() > 0);
            let Some(table) = all.min_by_key(|table| table.hits() * 1024 / table.bytes()) else { return };
            bytes -= table.bytes();
            table.drop_all();
        }
    }
}

/// Steps of a group for one state: in its table, or in the scratch space of the walk.
#[derive(Clone, Copy, Debug)]
struct Ready {
    group: u32,
    found: Found,
    scratch: bool,
}

/// What a thread needs to compute with; the rewriter is made when it is needed.
pub(super) struct Desk<'w> {
    pub(super) model: &'w Model,
    control: &'w Control,
    worker: &'w Worker,
    rewriter: Option<Rewriter<'w>>,
    /// Keys that are being made.
    pub(super) keys: Vec<Value>,
}

impl<'w> Desk<'w> {
    pub(super) fn rewriter(&mut self) -> &mut Rewriter<'w> {
        self.rewriter.get_or_insert_with(|| {
            let mut rewriter = Rewriter::new(&self.model.compiled.program, self.worker);
            rewriter.obey(self.control);
            rewriter
        })
    }
}

/// A thread's view of a model.
pub(crate) struct Walker<'a> {
    model: &'a Model,
    control: &'a Control,
    /// There until the walker is dropped, when its memory goes back to the model.
    memory: Memory,
    worker: Worker,
    ready: Vec<Ready>,
    scratch: Vec<Value>,
    key: Vec<Value>,
    keys: Vec<Value>,
    computed: Vec<Value>,
    next: Vec<Value>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(model: &'a Model, control: &'a Control, memory: Memory) -> Walker<'a> {
        Walker {
            model,
            control,
            memory,
            worker: model.compiled.pool.worker(),
            ready: Vec::new(),
            scratch: Vec::new(),
            key: Vec::new(),
            keys: Vec::new(),
            computed: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Finds or computes the steps of all groups that can move. No section of the pool is held afterwards.
    fn prepare(&mut self, row: &[Value], only: Option<u32>) -> Walk {
        self.ready.clear();
        self.scratch.clear();
        self.memory.states += 1;
        if self.memory.states.is_multiple_of(BETWEEN) {
            self.memory.make_room();
        }
        let Walker { model, control, memory, worker, ready, scratch, key, keys, computed, .. } = self;
        let made = std::mem::take(keys);
        let mut desk = Desk { model, control, worker, rewriter: None, keys: made };
        let mut ask = |group: u32| -> Walk {
            let plan = &model.plans[group as usize];
            if plan.tests.iter().any(|&(slot, value)| row[slot as usize] != value) {
                return Ok(());
            }
            key.clear();
            key.extend(plan.reads.iter().map(|&slot| row[slot as usize]));
            if let Some(found) = memory.tables[group as usize].find(key) {
                if found.steps > 0 {
                    ready.push(Ready { group, found, scratch: false });
                }
                return Ok(());
            }
            computed.clear();
            let labels = &mut memory.labels[group as usize];
            let mut computing =
                Computing { model, plan, group: group as usize, row, labels, words: computed, steps: 0 };
            let is_known = match &plan.parts {
                Some(parts) => computing.join(parts, row, &mut memory.pieces, &mut desk)?,
                None => false,
            };
            if !is_known {
                computing.run(desk.rewriter(), key)?;
            }
            let steps = computing.steps;
            memory.moved[group as usize] |= steps > 0;
            match memory.tables[group as usize].insert(key, steps, computed) {
                Some(found) if steps > 0 => ready.push(Ready { group, found, scratch: false }),
                None if steps > 0 => {
                    ready.push(Ready { group, found: Found { at: scratch.len(), steps }, scratch: true });
                    scratch.extend_from_slice(computed);
                }
                _ => {}
            }
            Ok(())
        };
        let walk = match only {
            Some(group) => ask(group),
            None => model.index.always.iter().try_for_each(|&group| ask(group)).and_then(|()| {
                model.index.tested.iter().try_for_each(|(slot, lists)| {
                    let groups = lists.get(row[*slot as usize] as usize).into_iter().flatten();
                    groups.copied().try_for_each(&mut ask)
                })
            }),
        };
        desk.keys.clear();
        *keys = desk.keys;
        walk
    }

    /// Gives the values that each step of a group writes in a row to `each`.
    pub(crate) fn steps_of(&mut self, group: usize, row: &[Value], mut each: impl FnMut(&[Value])) -> Walk {
        if self.model.plans[group].never {
            return Ok(());
        }
        self.prepare(row, Some(group as u32))?;
        let width = self.model.plans[group].updates.len() + 1;
        for ready in &self.ready {
            self.words(ready).chunks_exact(width).for_each(|words| each(&words[1..]));
        }
        Ok(())
    }

    /// The truth of a condition that the model observes; nothing when it is neither true nor false.
    pub(crate) fn truth(&mut self, condition: TypedId, row: &[Value]) -> Result<Option<bool>, Cut> {
        let compiled = &self.model.compiled;
        if let Some(value) = compiled.constant(condition) {
            return Ok(compiled.program.truth_of(value));
        }
        let mut rewriter = Rewriter::new(&compiled.program, &self.worker);
        rewriter.obey(self.control);
        let (code, variables) = compiled.code(condition);
        let slots = variables.iter().filter_map(|&variable| compiled.slot(variable));
        let values: Vec<Term> =
            slots.map(|slot| self.model.encodings[slot as usize].decode(row[slot as usize])).collect();
        let value = rewriter.evaluate(code, &values).map_err(unfinished)?;
        Ok(compiled.program.truth_of(value))
    }

    /// The words of some steps: for each the label and the values that it writes.
    fn words(&self, ready: &Ready) -> &[Value] {
        let width = self.model.plans[ready.group as usize].updates.len() + 1;
        let all = if ready.scratch { &self.scratch[..] } else { self.memory.tables[ready.group as usize].records() };
        &all[ready.found.at..][..ready.found.steps * width]
    }
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        let memory = std::mem::replace(&mut self.memory, Memory::new(&[], 0));
        self.model.memories.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(memory);
    }
}

impl Explorer for Walker<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.prepare(row, None)?;
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        next.extend_from_slice(row);
        let walk = self.ready.iter().try_for_each(|ready| {
            let updates = &self.model.plans[ready.group as usize].updates;
            for words in self.words(ready).chunks_exact(updates.len() + 1) {
                for (&(slot, _), &value) in updates.iter().zip(&words[1..]) {
                    next[slot as usize] = value;
                }
                sink(Step::of_group(GroupId(ready.group), LabelId(words[0]), &next))?;
            }
            for &(slot, _) in updates {
                next[slot as usize] = row[slot as usize];
            }
            Ok(())
        });
        self.next = next;
        walk
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let row = group.filled_in(reads);
        if self.model.plans[group.id.index()].never {
            return Ok(());
        }
        self.prepare(&row, Some(group.id.0))?;
        let written = vec![true; self.model.plans[group.id.index()].updates.len()];
        self.ready.iter().try_for_each(|ready| {
            self.words(ready).chunks_exact(written.len() + 1).try_for_each(|words| {
                sink(LocalStep { label: LabelId(words[0]), values: &words[1..], written: &written })
            })
        })
    }

    fn mark(&mut self, _mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let at_end = self.model.end.is_some_and(|(_, value)| reads == [value]);
        Ok(Value::from(at_end))
    }
}

/// The computation of a group's steps for the values that it reads.
struct Computing<'c, 'm> {
    model: &'m Model,
    plan: &'m Plan,
    group: usize,
    row: &'c [Value],
    labels: &'c mut HashMap<Box<[Value]>, LabelId, foldhash::fast::FixedState>,
    words: &'c mut Vec<Value>,
    steps: usize,
}

impl Computing<'_, '_> {
    fn run(&mut self, rewriter: &mut Rewriter<'_>, key: &[Value]) -> Walk {
        let (model, plan) = (self.model, self.plan);
        let decoded = plan.reads.iter().zip(key).map(|(&slot, &value)| model.encodings[slot as usize].decode(value));
        let mut inputs: Vec<Term> = decoded.collect();
        // A conjunct that is false decides, wherever it stands: `q != [] && head(q) == 2`.
        let mut open: Option<Root> = None;
        for conjunct in &plan.conjuncts {
            let value = value_of(rewriter, conjunct, &inputs)?;
            match model.compiled.program.truth_of(value) {
                Some(true) => {}
                Some(false) => return Ok(()),
                None => open = open.or_else(|| Some(rewriter.section().root(value))),
            }
        }
        let Some((sum, places)) = &plan.sum else {
            return match open {
                Some(open) => Err(self.undecided(rewriter, open.term())),
                None => self.step(rewriter, &inputs),
            };
        };
        let parameters: Vec<Term> = places.iter().map(|&place| inputs[place as usize]).collect();
        let mut cut = None;
        let enumerated = rewriter.solutions(*sum, &parameters, MOST_TUPLES, &mut |rewriter, values| {
            // What is open decides nothing as long as the conjuncts of the sum have no solution.
            if let Some(open) = &open {
                cut = Some(self.undecided(rewriter, open.term()));
                return Ok(ControlFlow::Break(()));
            }
            if self.steps >= MOST_STEPS {
                cut = Some(self.too_many());
                return Ok(ControlFlow::Break(()));
            }
            inputs.truncate(plan.reads.len());
            inputs.extend_from_slice(values);
            Ok(match self.step(rewriter, &inputs) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    cut = Some(error);
                    ControlFlow::Break(())
                }
            })
        });
        match (cut, enumerated.map_err(unfinished)?) {
            (Some(cut), _) => Err(cut),
            (None, Enumerated::All | Enumerated::Left) => {
                if self.steps > 1 {
                    self.remove_equal();
                }
                Ok(())
            }
            (None, Enumerated::Open(term)) => Err(self.undecided(rewriter, term.term())),
            (None, Enumerated::Unbounded(variable)) => Err(self.unbounded(variable)),
        }
    }

    /// The step of a joined summand, from the values of its parts; false when a condition is neither true nor false.
    fn join(&mut self, parts: &Parts, row: &[Value], tables: &mut [Table], desk: &mut Desk<'_>) -> Result<bool, Cut> {
        let model = self.model;
        let (pieces, encodings) = (&model.pieces, &model.encodings[..]);
        let mut is_open = false;
        for &conjunct in &parts.conjuncts {
            match pieces.value(conjunct, row, encodings, tables, desk)? {
                Some(TRUE) => {}
                Some(_) => return Ok(true),
                None => is_open = true,
            }
        }
        if is_open {
            return Ok(false);
        }
        let mut value = |part: &PartValue, desk: &mut Desk<'_>| match *part {
            PartValue::Constant(value) => Ok(value),
            PartValue::Slot(slot) => Ok(row[slot as usize]),
            PartValue::Piece(piece) => {
                let value = pieces.value(piece, row, encodings, tables, desk)?;
                Ok(value.unwrap_or_else(|| unreachable!("only conditions have no value")))
            }
        };
        let label = match &self.plan.naming {
            Naming::Constant(label) => *label,
            Naming::Evaluated(arguments) => {
                let numbers =
                    parts.arguments.iter().map(|part| value(part, desk)).collect::<Result<Box<[Value]>, Cut>>()?;
                match self.labels.get(&numbers) {
                    Some(&known) => known,
                    None => {
                        let decoded = arguments.iter().zip(&numbers).map(|((_, encoding), &one)| encoding.decode(one));
                        let terms: Vec<Term> = decoded.collect();
                        let summand = &model.compiled.linear.summands[self.group];
                        let section = desk.rewriter().section();
                        let made = label(&model.compiled, &model.labels, summand, &terms, section);
                        self.labels.insert(numbers, made);
                        made
                    }
                }
            }
        };
        self.words.push(label.0);
        for ((slot, _), part) in self.plan.updates.iter().zip(&parts.updates) {
            let value = value(part, desk)?;
            model.growth[*slot as usize].note(value);
            self.words.push(value);
        }
        self.steps = 1;
        Ok(true)
    }

    /// Adds the step for these values of all inputs.
    fn step(&mut self, rewriter: &mut Rewriter<'_>, inputs: &[Term]) -> Walk {
        let plan = self.plan;
        let start = self.words.len();
        self.words.push(0);
        for (slot, update) in &plan.updates {
            let value = match update {
                Update::Constant(value) => *value,
                Update::Evaluated(expression) => {
                    let term = value_of(rewriter, expression, inputs)?;
                    let encoding = &self.model.encodings[*slot as usize];
                    let value = encoding.number(rewriter, term).map_err(unfinished)?.ok_or(Cut::Outgrown)?;
                    self.model.growth[*slot as usize].note(value);
                    value
                }
            };
            self.words.push(value);
        }
        self.words[start] = self.label(rewriter, inputs)?.0;
        self.steps += 1;
        Ok(())
    }

    /// Keeps the first of equal steps.
    fn remove_equal(&mut self) {
        let width = self.plan.updates.len() + 1;
        let mut order: Vec<usize> = (0..self.steps).collect();
        let step = |place: usize| &self.words[place * width..][..width];
        order.sort_by(|&one, &other| step(one).cmp(step(other)));
        let mut kept: Vec<usize> = Vec::with_capacity(order.len());
        for place in order {
            // Sorting is stable, so the first of equal steps comes first.
            if kept.last().is_none_or(|&last| step(last) != step(place)) {
                kept.push(place);
            }
        }
        kept.sort_unstable();
        self.steps = kept.len();
        for (target, source) in kept.into_iter().enumerate() {
            self.words.copy_within(source * width..(source + 1) * width, target * width);
        }
        self.words.truncate(self.steps * width);
    }

    fn label(&mut self, rewriter: &mut Rewriter<'_>, inputs: &[Term]) -> Result<LabelId, Cut> {
        let arguments = match &self.plan.naming {
            Naming::Constant(label) => return Ok(*label),
            Naming::Evaluated(arguments) => arguments,
        };
        let (mut numbers, mut terms) = (Vec::new(), Vec::new());
        for (expression, encoding) in arguments {
            let term = value_of(rewriter, expression, inputs)?;
            // A numbered term stays while the next one is computed.
            let number = encoding.number(rewriter, term).map_err(unfinished)?;
            terms.push(number.map_or(term, |number| encoding.decode(number)));
            numbers.extend(number);
        }
        let model = self.model;
        Ok(match self.labels.entry(numbers.into()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let summand = &model.compiled.linear.summands[self.group];
                *new.insert(label(&model.compiled, &model.labels, summand, &terms, rewriter.section()))
            }
        })
    }

    /// The error that a condition is neither true nor false.
    #[cold]
    fn undecided(&self, rewriter: &Rewriter<'_>, value: Term) -> Cut {
        let name = &self.model.groups[self.group].name;
        let text = self.model.compiled.program.text(rewriter.section(), value);
        let message = format!("a condition of `{name}` is neither true nor false: it is stuck at `{text}`");
        Cut::Wrong(self.at_action(message))
    }

    /// The reason to give up that the values of a variable do not come to an end.
    #[cold]
    fn unbounded(&self, variable: VariableId) -> Cut {
        let data = &self.model.compiled.linear.data;
        let (name, sort) = data.tree.variable(variable);
        let (name, sort) = (data.names.text(name), data.sort_text(sort));
        let action = &self.model.groups[self.group].name;
        let message = format!(
            "the values of `{name}: {sort}` in the sum of `{action}` cannot be listed{}: no condition bounds them, or \
             {MOST_TUPLES} were tried",
            self.in_state()
        );
        Cut::Beyond(self.at_action(message))
    }

    /// The reason to give up that a sum has too many solutions.
    #[cold]
    fn too_many(&self) -> Cut {
        let linear = &self.model.compiled.linear;
        let variable = |&variable: &VariableId| {
            let (name, sort) = linear.data.tree.variable(variable);
            format!("`{}: {}`", linear.data.names.text(name), linear.data.sort_text(sort))
        };
        let variables: Vec<String> = linear.summands[self.group].variables.iter().map(variable).collect();
        let action = &self.model.groups[self.group].name;
        let message = format!(
            "the sum of `{action}` over {} has more than {} steps{}",
            variables.join(", "),
            count(MOST_STEPS as u64),
            self.in_state()
        );
        Cut::Beyond(self.at_action(message))
    }

    /// The state in words; nothing where there are no parameters.
    fn in_state(&self) -> String {
        match self.model.describe(self.row) {
            state if state.is_empty() => state,
            state => format!(" in the state {state}"),
        }
    }

    /// What is said about the summand, at its action.
    fn at_action(&self, message: String) -> Box<Wrong> {
        let place = self.model.compiled.linear.place_of(self.group);
        let place = place.map(|Span { file, start, end }| WrongPlace { file: file.0, start, end });
        Box::new(Wrong { message, place, hint: None })
    }
}

fn value_of(rewriter: &mut Rewriter<'_>, expression: &Expression, inputs: &[Term]) -> Result<Term, Cut> {
    match expression {
        Expression::Input(place) => Ok(inputs[*place as usize]),
        Expression::Constant(term) => Ok(*term),
        Expression::Code(code, places) => {
            let values: Vec<Term> = places.iter().map(|&place| inputs[place as usize]).collect();
            rewriter.evaluate(*code, &values).map_err(unfinished)
        }
    }
}

pub(super) fn unfinished(_: Unfinished) -> Cut {
    Cut::Stopped
}
