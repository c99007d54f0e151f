//! Steps of a state: remembered ones, and those that have to be computed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

use trefoil_control::Control;
use trefoil_data::rewrite::{Enumerated, Rewriter, Unfinished};
use trefoil_data::typed::VariableId;
use trefoil_source::Span;
use trefoil_system::{
    Cut, Explorer, GroupId, LabelId, LocalGroup, LocalSink, LocalStep, MarkId, Sink, Step, Value, Walk, Wrong,
    WrongPlace,
};
use trefoil_terms::{Root, Term, Worker};

use super::plan::{Expression, Naming, Plan, Update};
use super::table::{Found, Table};
use super::{Model, label};

/// Values of infinite sorts that are tried for one sum.
const MOST_TUPLES: u64 = 100_000;

/// What a thread remembers: the steps of each group, and the labels of groups with arguments.
#[derive(Debug)]
pub(super) struct Memory {
    tables: Vec<Table>,
    labels: Vec<HashMap<Box<[Value]>, LabelId, foldhash::fast::FixedState>>,
    /// Which groups had a step.
    moved: Vec<bool>,
}

impl Memory {
    /// Whether a group had a step.
    pub(super) fn has_moved(&self, group: usize) -> bool {
        self.moved.get(group).copied().unwrap_or(false)
    }

    pub(super) fn new(groups: usize) -> Memory {
        Memory {
            tables: (0..groups).map(|_| Table::default()).collect(),
            labels: (0..groups).map(|_| HashMap::default()).collect(),
            moved: vec![false; groups],
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

/// A thread's view of a model.
pub(super) struct Walker<'a> {
    model: &'a Model,
    control: &'a Control,
    /// There until the walker is dropped, when its memory goes back to the model.
    memory: Memory,
    worker: Worker,
    ready: Vec<Ready>,
    scratch: Vec<Value>,
    key: Vec<Value>,
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
            computed: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Finds or computes the steps of all groups that can move. No section of the pool is held afterwards.
    fn prepare(&mut self, row: &[Value], only: Option<u32>) -> Walk {
        self.ready.clear();
        self.scratch.clear();
        let Walker { model, control, memory, worker, ready, scratch, key, computed, .. } = self;
        let mut rewriter: Option<Rewriter<'_>> = None;
        let mut ask = |group: u32| -> Walk {
            let plan = &model.plans[group as usize];
            if plan.tests.iter().any(|&(slot, value)| row[slot as usize] != value) {
                return Ok(());
            }
            key.clear();
            key.extend(plan.reads.iter().map(|&slot| row[slot as usize]));
            let table = &mut memory.tables[group as usize];
            if let Some(found) = table.find(key) {
                if found.steps > 0 {
                    ready.push(Ready { group, found, scratch: false });
                }
                return Ok(());
            }
            let rewriter = rewriter.get_or_insert_with(|| {
                let mut rewriter = Rewriter::new(&model.compiled.program, worker);
                rewriter.obey(control);
                rewriter
            });
            computed.clear();
            let labels = &mut memory.labels[group as usize];
            let mut computing = Computing { model, plan, group: group as usize, labels, words: computed, steps: 0 };
            computing.run(rewriter, key)?;
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
        match only {
            Some(group) => ask(group),
            None => {
                model.index.always.iter().try_for_each(|&group| ask(group))?;
                for (slot, lists) in &model.index.tested {
                    if let Some(groups) = lists.get(row[*slot as usize] as usize) {
                        groups.iter().try_for_each(|&group| ask(group))?;
                    }
                }
                Ok(())
            }
        }
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
        let memory = std::mem::replace(&mut self.memory, Memory::new(0));
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
        if let Some(open) = open {
            return Err(self.undecided(rewriter, open.term()));
        }
        let Some((sum, places)) = &plan.sum else { return self.step(rewriter, &inputs) };
        let parameters: Vec<Term> = places.iter().map(|&place| inputs[place as usize]).collect();
        let mut cut = None;
        let enumerated = rewriter.solutions(*sum, &parameters, MOST_TUPLES, &mut |rewriter, values| {
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
            (None, Enumerated::All | Enumerated::Left) => Ok(()),
            (None, Enumerated::Open(term)) => Err(self.undecided(rewriter, term.term())),
            (None, Enumerated::Unbounded(variable)) => Err(self.unbounded(variable)),
        }
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
                    encoding.encode(rewriter.section(), term).ok_or(Cut::Outgrown)?
                }
            };
            self.words.push(value);
        }
        self.words[start] = self.label(rewriter, inputs)?.0;
        let (before, new) = self.words.split_at(start);
        if before.chunks_exact(new.len()).any(|known| known == new) {
            self.words.truncate(start);
        } else {
            self.steps += 1;
        }
        Ok(())
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
            numbers.extend(encoding.encode(rewriter.section(), term));
            terms.push(term);
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
        self.wrong(message)
    }

    /// The error that the values of a variable do not come to an end.
    #[cold]
    fn unbounded(&self, variable: VariableId) -> Cut {
        let data = &self.model.compiled.linear.data;
        let (name, sort) = data.tree.variable(variable);
        let (name, sort) = (data.names.text(name), data.sort_text(sort));
        let action = &self.model.groups[self.group].name;
        let message = format!(
            "the values of `{name}: {sort}` in the sum of `{action}` cannot be listed: no condition bounds them, or \
             {MOST_TUPLES} were tried"
        );
        self.wrong(message)
    }

    /// An error of the specification, at the action of the summand.
    fn wrong(&self, message: String) -> Cut {
        let place = self.model.compiled.linear.place_of(self.group);
        let place = place.map(|Span { file, start, end }| WrongPlace { file: file.0, start, end });
        Cut::Wrong(Box::new(Wrong { message, place }))
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

fn unfinished(_: Unfinished) -> Cut {
    Cut::Stopped
}
