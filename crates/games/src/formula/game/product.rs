//! A formula beside a model, as a system.
//!
//! A row is the node, the variables of the formula, and the row of the model. A move that takes a step of the model is
//! one group for each group of the model, every other move is one group. Steps of the game that take a step of the
//! model have its label, all others are `τ`.
//!
//! What a move can choose depends on the values that its check reads and on the label; a thread computes it once and
//! remembers it as numbers. A row that brings nothing new costs the steps of the model and a look-up for each.
//!
//! Invariants: a variable that is not live in a node has no value there ([`super::values::NONE`]), so rows that differ
//! only in such variables are one. Owner and priority depend on the node alone. The order of steps is that of the
//! moves, and within a move that of the model's steps and of the solutions.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::{Enumerated, Rewriter, Unfinished};
use trefoil_source::Span;
use trefoil_system::{
    Action, Change, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, LocalGroup, LocalSink, LocalStep, Mark,
    MarkId, Meaning, Sink, Slot, SlotSet, Step, System, Value, Walk, Writing, Written, Wrong, WrongPlace,
};
use trefoil_terms::{Term, Worker};

use super::super::typed::Formula;
use super::compile::{Check, Compiled, Input, MovePlan, Source, Use};
use super::nodes::NodeId;
use super::symmetric::LiftedAction;
use super::values::{NONE, NoValue};
use crate::solve::Player;

/// Values of infinite sorts that are tried for one move.
const MOST_TUPLES: u64 = 100_000;

/// The parts of a label as formulas see them: names with the texts of their arguments, in the data language.
pub type LabelParts = Vec<(String, Vec<String>)>;

/// How the labels of a language are read.
pub type LabelReader = Arc<dyn Fn(&Labels, LabelId) -> LabelParts + Send + Sync>;

/// The game of a formula and a model.
pub struct FormulaGame {
    pub(super) compiled: Arc<Compiled>,
    pub(super) model: Arc<dyn System>,
    pub(super) reader: LabelReader,
    layout: Layout,
    groups: Vec<Group>,
    marks: Vec<Mark>,
    /// For each node and move the number of its first group.
    pub(super) first_groups: Vec<Vec<u32>>,
    /// The same ascending, with the node and the place of the move.
    starts: Vec<(u32, u32, u32)>,
    /// Where the row of the model begins.
    pub(super) offset: usize,
    /// The symmetries of the model, where the formula keeps them.
    pub(super) lifted: Option<LiftedAction>,
}

impl FormulaGame {
    /// The game of a formula that was typed against the actions of this model.
    pub fn new(formula: Formula, model: Arc<dyn System>, control: &Control) -> Result<FormulaGame, Stopped> {
        FormulaGame::reading(formula, model, Arc::new(label_parts), control)
    }

    /// The same with a reader of labels.
    pub fn reading(
        formula: Formula,
        model: Arc<dyn System>,
        reader: LabelReader,
        control: &Control,
    ) -> Result<FormulaGame, Stopped> {
        FormulaGame::of(Arc::new(Compiled::new(formula, control)?), model, reader, control)
    }

    pub(super) fn of(
        compiled: Arc<Compiled>,
        model: Arc<dyn System>,
        reader: LabelReader,
        control: &Control,
    ) -> Result<FormulaGame, Stopped> {
        let offset = 1 + compiled.variables.len();
        let mut slots = vec![Slot::bounded("node", compiled.nodes.len() as u32)];
        let data = &compiled.formula.signature.data;
        for &variable in &compiled.variables {
            slots.push(Slot::met(data.names.text(data.tree.variable(variable).0), compiled.found.clone()));
        }
        slots.extend(model.layout().slots().iter().cloned());
        let parts = model.layout().parts().iter().map(|part| part + offset).collect();
        let layout = Layout::new(slots).with_parts(parts);
        let (mut groups, mut first_groups, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let shows = |plan: &MovePlan| -> SlotSet {
            let marks = plan.observed.iter().map(|&place| compiled.observed[place as usize].mark);
            marks.flat_map(|mark| model.marks()[mark.index()].reads.iter()).map(|slot| slot + offset).collect()
        };
        for (number, node) in compiled.nodes.iter().enumerate() {
            let mut first = Vec::new();
            for (place, plan) in node.moves.iter().enumerate() {
                first.push(groups.len() as u32);
                starts.push((groups.len() as u32, number as u32, place as u32));
                let name = format!("node {number}");
                match plan.uses {
                    Use::Nothing => groups.push(group(plan, name, None, shows(plan), offset)),
                    Use::Looks | Use::Steps => {
                        for own in model.groups() {
                            control.check()?;
                            groups.push(group(plan, own.name.clone(), Some(own), shows(plan), offset));
                        }
                    }
                }
            }
            first_groups.push(first);
        }
        let mark = |meaning: Meaning, values: Value| Mark { meaning, reads: [0].into_iter().collect(), values };
        let marks = vec![mark(Meaning::Owner, 2), mark(Meaning::Priority, compiled.priorities)];
        let lifted = None;
        Ok(FormulaGame { compiled, model, reader, layout, groups, marks, first_groups, starts, offset, lifted })
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.compiled.formula
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn System> {
        &self.model
    }

    /// The model's part of a row.
    pub fn model_row<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        &row[self.offset..]
    }

    /// The node of a row.
    pub fn node(&self, row: &[Value]) -> NodeId {
        NodeId(row[0])
    }

    /// The part of the formula that a node stands for, as text, and the values of its variables.
    pub fn node_text(&self, row: &[Value]) -> String {
        let node = &self.compiled.graph.nodes[row[0] as usize];
        if let Some(value) = node.constant {
            return value.to_string();
        }
        let (part, negated) = node.part;
        let text = self.compiled.formula.part_text(part);
        let values: Vec<String> = node.live.iter().map(|&variable| self.variable_text(row, variable)).collect();
        let text = if negated { format!("!({text})") } else { text };
        if values.is_empty() { text } else { format!("{text} with {}", values.join(", ")) }
    }

    fn variable_text(&self, row: &[Value], variable: trefoil_data::typed::VariableId) -> String {
        use trefoil_system::Domain;
        let data = &self.compiled.formula.signature.data;
        let place =
            self.compiled.variables.iter().position(|&one| one == variable).expect("a live variable has a slot");
        let name = data.names.text(data.tree.variable(variable).0);
        format!("{name} = {}", self.compiled.found.text(row[1 + place]))
    }

    /// The node and the move of a group, and the group of the model beside it.
    fn parts_of_group(&self, group: GroupId) -> (u32, &MovePlan, usize) {
        let place = self.starts.partition_point(|&(start, ..)| start <= group.0) - 1;
        // A move of a model without groups has none itself.
        let (start, node, own) = self.starts[place];
        (node, &self.compiled.nodes[node as usize].moves[own as usize], (group.0 - start) as usize)
    }

    /// Whether a group takes a step of the model.
    pub fn takes_step(&self, group: GroupId) -> bool {
        self.parts_of_group(group).1.uses == Use::Steps
    }
}

/// What a move declares, beside a group of the model.
fn group(plan: &MovePlan, name: String, own: Option<&Group>, shows: SlotSet, offset: usize) -> Group {
    let shifted = |set: &SlotSet| -> SlotSet { set.iter().map(|slot| slot + offset).collect() };
    let reads: SlotSet = plan.reads.iter().map(|&slot| slot as usize).collect();
    let written = plan.sources.iter().map(|&(slot, _)| slot as usize);
    let mut may_write: SlotSet = written.chain(plan.dropped.iter().map(|&slot| slot as usize)).chain([0]).collect();
    let mut guards: SlotSet = [0].into_iter().collect();
    let mut all_reads = reads.union(&shows);
    if let Some(own) = own {
        guards = guards.union(&shifted(&own.guards));
        all_reads = all_reads.union(&shifted(&own.reads));
        if plan.uses == Use::Steps {
            may_write = may_write.union(&shifted(&own.may_write)).union(&shifted(&own.must_write));
        }
    }
    Group { name, guards, reads: all_reads, may_write, must_write: [0].into_iter().collect(), ..Group::default() }
}

impl System for FormulaGame {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.model.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let mut row = vec![NONE; self.offset];
        row[0] = self.compiled.graph.root.0;
        row.extend(self.model.initial(control)?);
        Ok(row)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(Walker {
            game: self,
            control,
            model: self.model.explorer(control),
            worker: self.compiled.pool.worker(),
            labels: HashMap::default(),
            known: HashMap::default(),
            records: Vec::new(),
            steps: Vec::new(),
            rows: Vec::new(),
            changes: Vec::new(),
            ready: Vec::new(),
            local: None,
            shown: vec![NONE; self.compiled.observed.len()],
            shown_values: HashMap::default(),
        })
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let model = self.model.widened()?;
        let game = FormulaGame::of(self.compiled.clone(), model, self.reader.clone(), &Control::unlimited());
        Some(Arc::new(game.ok()?))
    }

    fn action(&self) -> Option<&dyn Action> {
        self.lifted.as_ref().map(|lifted| lifted as &dyn Action)
    }

    fn describe(&self, row: &[Value]) -> String {
        format!("{} in {}", self.node_text(row), self.model.describe(self.model_row(row)))
    }
}

/// A step of the model, and where its row and the slots it wrote are kept.
#[derive(Clone, Copy)]
struct ModelStep {
    group: GroupId,
    label: LabelId,
    row: usize,
    /// The slots that it wrote; all that its group declares when there is no list.
    written: Option<(usize, usize)>,
}

/// What a label is to the formula: its shape, and the values of its arguments.
#[derive(Clone)]
pub(super) struct LabelValues {
    shape: usize,
    values: Arc<[Value]>,
}

/// What a move can choose: so many records, from a place on.
#[derive(Clone, Copy)]
pub(super) struct Choices {
    at: usize,
    pub(super) count: usize,
}

/// One thread's view of a game.
struct Walker<'a> {
    game: &'a FormulaGame,
    control: &'a Control,
    model: Box<dyn Explorer + 'a>,
    worker: Worker,
    labels: HashMap<LabelId, LabelValues, foldhash::fast::FixedState>,
    /// What moves can choose, by move, label and the values that they read.
    known: HashMap<Box<[Value]>, Choices, foldhash::fast::FixedState>,
    /// The values of the sources of moves, one choice after the other.
    records: Vec<Value>,
    steps: Vec<ModelStep>,
    rows: Vec<Value>,
    changes: Vec<Change>,
    /// Moves with the steps of the model they go with, and what they can choose.
    ready: Vec<(usize, Option<usize>, Choices)>,
    /// The groups of the model.
    local: Option<Vec<LocalGroup>>,
    /// What the state of the model shows, as far as the node looks.
    shown: Vec<Value>,
    /// The numbers of values that marks have.
    shown_values: HashMap<(u32, Value), Value, foldhash::fast::FixedState>,
}

impl Walker<'_> {
    /// Collects the steps of the model.
    fn collect(&mut self, row: &[Value]) -> Walk {
        let Walker { game, model, steps, rows, changes, .. } = self;
        model.successors(game.model_row(row), &mut |step| {
            let written = match step.written {
                Written::Group => None,
                Written::Slots(slots) => {
                    let at = changes.len();
                    changes.extend_from_slice(slots);
                    Some((at, slots.len()))
                }
            };
            steps.push(ModelStep { group: step.group, label: step.label, row: rows.len(), written });
            rows.extend_from_slice(step.row);
            Ok(())
        })
    }

    /// Looks at the state of the model, as far as some moves do.
    fn look<'p>(&mut self, plans: impl Iterator<Item = &'p MovePlan>, row: &[Value]) -> Walk {
        let game = self.game;
        let mut reads = Vec::new();
        for &place in plans.flat_map(|plan| &plan.observed) {
            let observed = &game.compiled.observed[place as usize];
            let mark = &game.model.marks()[observed.mark.index()];
            reads.clear();
            let own = game.model_row(row);
            reads.extend(mark.reads.iter().map(|slot| own[slot]));
            let value = self.model.mark(observed.mark, &reads)?;
            self.shown[place as usize] = match self.shown_values.get(&(place, value)) {
                Some(&known) => known,
                None => {
                    let text = observed.writing.text(value);
                    let mut rewriter = Rewriter::new(&game.compiled.program, &self.worker);
                    rewriter.obey(self.control);
                    let Compiled { reader, program, found, .. } = &*game.compiled;
                    let read = reader.read(program, found, &mut rewriter, &text, observed.sort);
                    let number = read.map_err(|error| match error {
                        NoValue::Unfinished => Cut::Stopped,
                        NoValue::Text => {
                            let data = &game.compiled.formula.signature.data;
                            let name = data.names.text(data.tree.variable(observed.variable).0);
                            let (name, sort) = (name.trim_start_matches('@'), data.sort_text(observed.sort));
                            let message = format!("the value {text} of `{name}` is none of the sort `{sort}`");
                            Cut::Wrong(Box::new(Wrong { message, place: None }))
                        }
                    })?;
                    self.shown_values.insert((place, value), number);
                    number
                }
            };
        }
        Ok(())
    }

    /// Finds what each move of a row's node can choose. No section of the pool is held afterwards.
    fn prepare(&mut self, row: &[Value]) -> Walk {
        self.steps.clear();
        self.rows.clear();
        self.changes.clear();
        self.ready.clear();
        let game = self.game;
        let node = &game.compiled.nodes[row[0] as usize];
        if node.moves.iter().any(|plan| plan.uses != Use::Nothing) {
            self.collect(row)?;
        }
        self.look(node.moves.iter(), row)?;
        let Walker { control, worker, labels, known, records, steps, ready, shown, .. } = self;
        let mut choosing = Choosing { game, control, worker, rewriter: None, labels, known, records, shown };
        for (place, plan) in node.moves.iter().enumerate() {
            let number = game.first_groups[row[0] as usize][place];
            if plan.uses == Use::Nothing {
                let choices = choosing.choices(plan, number, None, row)?;
                ready.push((place, None, choices));
                continue;
            }
            for (step, taken) in steps.iter().enumerate() {
                let choices = choosing.choices(plan, number, Some(taken.label), row)?;
                if choices.count > 0 {
                    ready.push((place, Some(step), choices));
                }
            }
        }
        Ok(())
    }
}

/// The computation of what moves can choose.
pub(super) struct Choosing<'c, 'a> {
    pub(super) game: &'a FormulaGame,
    pub(super) control: &'a Control,
    pub(super) worker: &'c Worker,
    pub(super) rewriter: Option<Rewriter<'c>>,
    pub(super) labels: &'c mut HashMap<LabelId, LabelValues, foldhash::fast::FixedState>,
    pub(super) known: &'c mut HashMap<Box<[Value]>, Choices, foldhash::fast::FixedState>,
    pub(super) records: &'c mut Vec<Value>,
    pub(super) shown: &'c [Value],
}

impl<'c, 'a: 'c> Choosing<'c, 'a> {
    fn rewriter(&mut self) -> &mut Rewriter<'c> {
        let (game, control, worker) = (self.game, self.control, self.worker);
        self.rewriter.get_or_insert_with(|| {
            let mut rewriter = Rewriter::new(&game.compiled.program, worker);
            rewriter.obey(control);
            rewriter
        })
    }

    /// What a move can choose in a row, beside a step with a label.
    pub(super) fn choices(
        &mut self,
        plan: &'a MovePlan,
        number: u32,
        label: Option<LabelId>,
        row: &[Value],
    ) -> Result<Choices, Cut> {
        let mut arguments: Arc<[Value]> = Arc::default();
        let mut shape = 0;
        let check = match label {
            None => &plan.checks[0],
            Some(label) => {
                // The values of a label are read only where a check needs them.
                shape = self.shape(label)?;
                let check = &plan.checks[shape];
                if check.inputs().iter().any(|input| matches!(input, Input::Argument(_))) {
                    arguments = self.values(label)?;
                }
                check
            }
        };
        match check {
            Check::Never => return Ok(Choices { at: 0, count: 0 }),
            Check::Always if plan.sources.is_empty() => return Ok(Choices { at: 0, count: 1 }),
            _ => {}
        }
        let mut key = Vec::with_capacity(2 + plan.reads.len());
        key.push(number);
        // Labels of one shape are alike where no argument is looked at.
        key.push(if arguments.is_empty() { shape as u32 } else { label.map_or(0, |label| label.0 + (1 << 24)) });
        key.extend(plan.reads.iter().map(|&slot| row[slot as usize]));
        key.extend(plan.observed.iter().map(|&place| self.shown[place as usize]));
        if let Some(&known) = self.known.get(&key[..]) {
            return Ok(known);
        }
        // No run leads to a row in which a variable that is read has no value.
        let choices = match plan.reads.iter().any(|&slot| row[slot as usize] == NONE) {
            true => Choices { at: 0, count: 0 },
            false => self.compute(plan, check, &arguments, row)?,
        };
        self.known.insert(key.into(), choices);
        Ok(choices)
    }

    fn compute(
        &mut self,
        plan: &'a MovePlan,
        check: &Check,
        arguments: &[Value],
        row: &[Value],
    ) -> Result<Choices, Cut> {
        let game = self.game;
        let found = &game.compiled.found;
        let at = self.records.len();
        let mut own = Vec::new();
        let shown = self.shown;
        let rewriter = self.rewriter();
        let term = |input: &Input| match input {
            Input::Slot(slot) => found.term(row[*slot as usize]),
            Input::Argument(place) => found.term(arguments[*place as usize]),
            Input::Observed(place) => found.term(shown[*place as usize]),
            Input::Chosen(_) => unreachable!("a check does not read what it chooses"),
        };
        let mut count = 0;
        // The record of one choice; the chosen values are numbered first, so that nothing collects them.
        let mut record = |rewriter: &mut Rewriter<'_>, chosen: &[Value]| -> Result<(), Unfinished> {
            let start = own.len();
            let value = |input: &Input| match input {
                Input::Slot(slot) => row[*slot as usize],
                Input::Chosen(place) => chosen[*place as usize],
                Input::Argument(place) => arguments[*place as usize],
                Input::Observed(place) => shown[*place as usize],
            };
            for (_, source) in &plan.sources {
                own.push(match source {
                    Source::Input(input) => value(input),
                    Source::Evaluated(code, inputs) => {
                        let terms: Vec<Term> = inputs.iter().map(|input| found.term(value(input))).collect();
                        let term = rewriter.evaluate(*code, &terms)?;
                        found.number(rewriter, term)
                    }
                });
            }
            let width = plan.sources.len();
            let (before, new) = own.split_at(start);
            let again = if width == 0 { count > 0 } else { before.chunks_exact(width).any(|known| known == new) };
            if again {
                own.truncate(start);
            } else {
                count += 1;
            }
            Ok(())
        };
        match check {
            Check::Never => {}
            Check::Always => record(rewriter, &[]).map_err(|_| Cut::Stopped)?,
            Check::Condition(code, inputs) => {
                let terms: Vec<Term> = inputs.iter().map(term).collect();
                let value = rewriter.evaluate(*code, &terms).map_err(|_| Cut::Stopped)?;
                match game.compiled.program.truth_of(value) {
                    Some(true) => record(rewriter, &[]).map_err(|_| Cut::Stopped)?,
                    Some(false) => {}
                    None => return Err(undecided(game, rewriter, value, plan.place)),
                }
            }
            Check::Choice(sum, inputs) => {
                let terms: Vec<Term> = inputs.iter().map(term).collect();
                let listed = rewriter.solutions(*sum, &terms, MOST_TUPLES, &mut |rewriter, values| {
                    let chosen: Vec<Value> = values.iter().map(|&value| found.number(rewriter, value)).collect();
                    record(rewriter, &chosen)?;
                    // Where the values are forgotten, one solution is as good as all of them.
                    Ok(if plan.sources.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                });
                match listed.map_err(|_| Cut::Stopped)? {
                    Enumerated::All | Enumerated::Left => {}
                    Enumerated::Open(term) => return Err(undecided(game, rewriter, term.term(), plan.place)),
                    Enumerated::Unbounded(variable) => return Err(unbounded(game, variable, plan.place)),
                }
            }
        }
        self.records.extend(own);
        Ok(Choices { at, count })
    }

    /// Which of the formula's bags of actions a label is.
    fn shape(&mut self, label: LabelId) -> Result<usize, Cut> {
        if let Some(known) = self.labels.get(&label) {
            return Ok(known.shape);
        }
        let read = self.read(label)?;
        let shape = read.shape;
        self.labels.insert(label, read);
        Ok(shape)
    }

    fn values(&mut self, label: LabelId) -> Result<Arc<[Value]>, Cut> {
        self.shape(label)?;
        Ok(self.labels[&label].values.clone())
    }

    fn read(&mut self, label: LabelId) -> Result<LabelValues, Cut> {
        let game = self.game;
        let compiled = &game.compiled;
        let signature = &compiled.formula.signature;
        let other = LabelValues { shape: compiled.shapes.len(), values: Arc::default() };
        let parts = (game.reader)(game.model.labels(), label);
        let name = |action: usize| signature.data.names.text(signature.actions[action].name);
        // A shape with the names and numbers of arguments of this label; of several the one whose sorts fit.
        for (place, shape) in compiled.shapes.iter().enumerate() {
            if shape.len() != parts.len() {
                continue;
            }
            let mut left: Vec<&(String, Vec<String>)> = parts.iter().collect();
            let mut values = Vec::new();
            let fits = shape.iter().try_for_each(|&action| -> Result<(), Option<Cut>> {
                let sorts = &signature.actions[action].sorts;
                let own = left.iter().position(|(own, texts)| own == name(action) && texts.len() == sorts.len());
                let own = left.remove(own.ok_or(None)?);
                for (text, &sort) in own.1.iter().zip(sorts) {
                    let rewriter = self.rewriter();
                    let value = compiled.reader.read(&compiled.program, &compiled.found, rewriter, text, sort);
                    values.push(value.map_err(|error| match error {
                        NoValue::Text => None,
                        NoValue::Unfinished => Some(Cut::Stopped),
                    })?);
                }
                Ok(())
            });
            match fits {
                Ok(()) => return Ok(LabelValues { shape: place, values: values.into() }),
                Err(Some(cut)) => return Err(cut),
                Err(None) => {}
            }
        }
        // No other action of the model can have these names and numbers of arguments, so the values are unreadable.
        let mentioned = compiled.shapes.iter().any(|shape| {
            let mut left: Vec<&(String, Vec<String>)> = parts.iter().collect();
            shape.len() == parts.len()
                && shape.iter().all(|&action| {
                    let arity = signature.actions[action].sorts.len();
                    let own = left.iter().position(|(own, texts)| own == name(action) && texts.len() == arity);
                    own.map(|place| left.remove(place)).is_some()
                })
        });
        let overloaded = |(own, texts): &(String, Vec<String>)| {
            let alike = (0..signature.actions.len())
                .filter(|&action| name(action) == own && signature.actions[action].sorts.len() == texts.len());
            alike.count() > 1
        };
        if mentioned && !parts.iter().any(overloaded) {
            let label = game.model.labels().get(label);
            let message = format!("the values of the label `{label}` cannot be read as those of its action");
            return Err(Cut::Wrong(Box::new(Wrong { message, place: None })));
        }
        Ok(other)
    }
}

/// The action that formulas name for `✓`.
pub fn termination(labels: &Labels) -> &'static str {
    match labels.writing() {
        Writing::Brackets => "Terminate",
        Writing::Dots | Writing::Messages => "tick",
    }
}

/// The parts of a label with their arguments as texts. A label that a file has as a text alone is taken apart.
pub fn label_parts(labels: &Labels, label: LabelId) -> LabelParts {
    let mut parts = Vec::new();
    if label == LabelId::TICK {
        return vec![(termination(labels).to_string(), Vec::new())];
    }
    for part in labels.get(label).parts() {
        if part.arguments.is_empty() && part.name.contains(['(', '|']) {
            parts.extend(split(&part.name));
        } else {
            parts.push((part.name.to_string(), part.arguments.iter().map(|text| text.to_string()).collect()));
        }
    }
    parts
}

/// Takes `a(1, [2, 3])|b` apart.
fn split(text: &str) -> Vec<(String, Vec<String>)> {
    let pieces = |text: &str, separator: char| -> Vec<String> {
        let (mut all, mut last, mut depth) = (Vec::new(), String::new(), 0_i32);
        for character in text.chars() {
            depth += i32::from("([{".contains(character)) - i32::from(")]}".contains(character));
            if character == separator && depth == 0 {
                all.push(std::mem::take(&mut last));
            } else {
                last.push(character);
            }
        }
        all.push(last);
        all.iter().map(|piece| piece.trim().to_string()).collect()
    };
    let part = |piece: String| match piece.strip_suffix(')').and_then(|inside| inside.split_once('(')) {
        Some((name, inside)) => (name.trim().to_string(), pieces(inside, ',')),
        None => (piece, Vec::new()),
    };
    pieces(text, '|').into_iter().filter(|piece| piece != "tau").map(part).collect()
}

fn place_of(span: Span) -> Option<WrongPlace> {
    Some(WrongPlace { file: span.file.0, start: span.start, end: span.end })
}

#[cold]
fn undecided(game: &FormulaGame, rewriter: &Rewriter<'_>, value: Term, place: Span) -> Cut {
    let text = game.compiled.program.text(rewriter.section(), value);
    let message = format!("a condition of the formula is neither true nor false: it is stuck at `{text}`");
    Cut::Wrong(Box::new(Wrong { message, place: place_of(place) }))
}

#[cold]
fn unbounded(game: &FormulaGame, variable: trefoil_data::typed::VariableId, place: Span) -> Cut {
    let data = &game.compiled.formula.signature.data;
    let (name, sort) = data.tree.variable(variable);
    let (name, sort) = (data.names.text(name), data.sort_text(sort));
    let message = format!(
        "the values of `{name}: {sort}` cannot be listed: no label and no condition bounds them, or {MOST_TUPLES} were \
         tried"
    );
    Cut::Wrong(Box::new(Wrong { message, place: place_of(place) }))
}

impl Explorer for Walker<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.prepare(row)?;
        let game = self.game;
        let node = &game.compiled.nodes[row[0] as usize];
        let first_groups = &game.first_groups[row[0] as usize];
        let mut next = row.to_vec();
        let mut written: Vec<Change> = Vec::new();
        for &(place, step, choices) in &self.ready {
            let plan = &node.moves[place];
            let width = plan.sources.len();
            let step = step.map(|step| self.steps[step]);
            let group = first_groups[place] + step.map_or(0, |step| step.group.0);
            for choice in 0..choices.count {
                next.copy_from_slice(row);
                next[0] = plan.target.0;
                for &slot in &plan.dropped {
                    next[slot as usize] = NONE;
                }
                let record = &self.records[choices.at + choice * width..][..width];
                for (&(slot, _), &value) in plan.sources.iter().zip(record) {
                    next[slot as usize] = value;
                }
                let mut label = LabelId::TAU;
                let mut all = true;
                if let Some(step) = step.filter(|_| plan.uses == Use::Steps) {
                    label = step.label;
                    next[game.offset..].copy_from_slice(&self.rows[step.row..][..row.len() - game.offset]);
                    if let Some((at, count)) = step.written {
                        all = false;
                        written.clear();
                        let own = plan.sources.iter().map(|&(slot, _)| slot).chain(plan.dropped.iter().copied());
                        written.extend(own.chain([0]).map(|slot| (slot, row[slot as usize])));
                        let shifted = &self.changes[at..at + count];
                        written.extend(shifted.iter().map(|&(slot, value)| (slot + game.offset as u32, value)));
                    }
                }
                let written = if all { Written::Group } else { Written::Slots(&written) };
                sink(Step { group: GroupId(group), label, row: &next, written, class: 0, agents: &[] })?;
            }
        }
        Ok(())
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let row = group.filled_in(reads);
        let game = self.game;
        let (node, plan, own) = game.parts_of_group(group.id);
        if row[0] != node {
            return Ok(());
        }
        // Steps of the model: the label, and the values of its outputs with whether each was written.
        let mut steps: Vec<(Option<LabelId>, Vec<Value>, Vec<bool>)> = vec![(None, Vec::new(), Vec::new())];
        if plan.uses != Use::Nothing {
            if self.local.is_none() {
                self.local = Some(LocalGroup::all(&*game.model, self.control)?);
            }
            let own = &self.local.as_ref().expect("they were made")[own];
            let mut values = Vec::new();
            own.inputs.values(game.model_row(&row), &mut values);
            steps.clear();
            self.model.local_successors(own, &values, &mut |step| {
                steps.push((Some(step.label), step.values.to_vec(), step.written.to_vec()));
                Ok(())
            })?;
        }
        let number = game.starts[game.starts.partition_point(|&(start, ..)| start <= group.id.0) - 1].0;
        self.look(std::iter::once(plan), &row)?;
        let Walker { control, worker, labels, known, records, shown, .. } = self;
        let mut choosing = Choosing { game, control, worker, rewriter: None, labels, known, records, shown };
        let mut found = Vec::new();
        for (label, values, written) in &steps {
            found.push((*label, choosing.choices(plan, number, *label, &row)?, values, written));
        }
        drop(choosing);
        let width = plan.sources.len();
        let takes_step = plan.uses == Use::Steps;
        for (label, choices, own_values, own_written) in found {
            for choice in 0..choices.count {
                let record = &self.records[choices.at + choice * width..][..width];
                let (mut values, mut written) = (Vec::new(), Vec::new());
                let mut own = own_values.iter().zip(own_written);
                for slot in group.outputs.iter() {
                    let source = plan.sources.iter().position(|&(to, _)| to as usize == slot);
                    let (value, is_written) = match (slot, source) {
                        (0, _) => (plan.target.0, true),
                        (_, Some(place)) => (record[place], true),
                        (slot, None) if slot < game.offset => (NONE, true),
                        _ => own.next().map_or((NONE, false), |(&value, &written)| (value, written)),
                    };
                    values.push(value);
                    written.push(is_written);
                }
                let label = label.filter(|_| takes_step).unwrap_or(LabelId::TAU);
                sink(LocalStep { label, values: &values, written: &written })?;
            }
        }
        Ok(())
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let node = &self.game.compiled.nodes[reads[0] as usize];
        Ok(match self.game.marks[mark.index()].meaning {
            Meaning::Owner => Value::from(node.owner == Player::Odd),
            _ => node.priority,
        })
    }
}
