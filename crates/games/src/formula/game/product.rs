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

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::Rewriter;
use trefoil_data::typed::VariableId;
use trefoil_symbolic::order;
use trefoil_system::{
    Action, Change, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, LocalGroup, LocalSink, LocalStep, Mark,
    MarkId, Meaning, Sink, Slot, SlotSet, Step, System, Value, Walk, Written, Wrong,
};
use trefoil_terms::Worker;

use super::super::typed::{Formula, PartId};
use super::choosing::{Choices, Choosing, LabelValues};
use super::compile::{Compiled, MovePlan, Use};
use super::labels::{LabelReader, label_parts};
use super::nodes::NodeId;
use super::symmetric::{LabelOrbits, LiftedAction};
use super::values::{NONE, NoValue};
use crate::solve::Player;

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
    /// For each group its place there.
    start_of: Vec<u32>,
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
        let (mut groups, mut first_groups) = (Vec::new(), Vec::new());
        let (mut starts, mut start_of): (Vec<(u32, u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        let shows = |plan: &MovePlan| -> SlotSet {
            let marks = plan.observed.iter().map(|&place| compiled.observed[place as usize].mark);
            marks.flat_map(|mark| model.marks()[mark.index()].reads.iter()).map(|slot| slot + offset).collect()
        };
        for (number, node) in compiled.nodes.iter().enumerate() {
            let mut first = Vec::new();
            for (place, plan) in node.moves.iter().enumerate() {
                first.push(groups.len() as u32);
                start_of.resize(groups.len(), starts.len() as u32 - u32::from(!starts.is_empty()));
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
        start_of.resize(groups.len(), starts.len() as u32 - u32::from(!starts.is_empty()));
        let mark = |meaning: Meaning, values: Value| Mark { meaning, reads: [0].into_iter().collect(), values };
        let marks = vec![mark(Meaning::Owner, 2), mark(Meaning::Priority, compiled.priorities)];
        let lifted = None;
        Ok(FormulaGame {
            compiled,
            model,
            reader,
            layout,
            groups,
            marks,
            first_groups,
            starts,
            start_of,
            offset,
            lifted,
        })
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.compiled.formula
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn System> {
        &self.model
    }

    /// A label of the model as formulas write it.
    pub fn written_label(&self, label: LabelId) -> String {
        if label == LabelId::TAU {
            return "tau".to_string();
        }
        let part = |(name, arguments): (String, Vec<String>)| match arguments.is_empty() {
            true => name,
            false => format!("{name}({})", arguments.join(",")),
        };
        let parts: Vec<String> = (self.reader)(self.model.labels(), label).into_iter().map(part).collect();
        parts.join("|")
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
        self.part_text(node.part, &node.live, row)
    }

    /// A part of the formula as text, and the values of variables in a row.
    fn part_text(&self, (part, negated): (PartId, bool), variables: &[VariableId], row: &[Value]) -> String {
        let text = self.compiled.formula.part_text(part);
        let values: Vec<String> = variables.iter().map(|&variable| self.variable_text(row, variable)).collect();
        let text = if negated { format!("!({text})") } else { text };
        if values.is_empty() { text } else { format!("{text} with {}", values.join(", ")) }
    }

    /// The part of the formula with which a play ends, as text, and the values of its variables: `rows` are those of
    /// the play and `groups` those of its steps. For data that is the part that was evaluated.
    pub fn end_text(&self, rows: &[&[Value]], groups: &[GroupId]) -> String {
        let last = rows.last().expect("a play has a row");
        if let ([.., before, _], Some(&group)) = (rows, groups.last())
            && self.compiled.graph.nodes[last[0] as usize].constant.is_some()
        {
            let (node, place, _) = self.place_of_group(group);
            let node = &self.compiled.graph.nodes[node as usize];
            let step = &node.moves[place as usize];
            if let Some(part) = step.decided {
                let tree = &self.compiled.formula.signature.data.tree;
                let free: BTreeSet<VariableId> =
                    step.conditions.iter().flat_map(|&condition| tree.free_variables(condition)).collect();
                let live: Vec<VariableId> =
                    node.live.iter().copied().filter(|variable| free.contains(variable)).collect();
                return self.part_text(part, &live, before);
            }
        }
        self.node_text(last)
    }

    /// The fixpoint or the repetition whose priority decides a cycle, as text, and the values of its variables: of
    /// several with this priority the outermost.
    pub fn cycle_text(&self, rows: &[&[Value]]) -> String {
        let nodes = &self.compiled.graph.nodes;
        let recurring = rows.iter().filter(|row| nodes[row[0] as usize].recurs);
        let deciding = recurring.min_by_key(|row| {
            let node = &nodes[row[0] as usize];
            let place = self.compiled.formula.place(node.part.0);
            (node.priority, place.start, std::cmp::Reverse(place.end))
        });
        self.node_text(deciding.or(rows.last()).expect("a cycle has a row"))
    }

    fn variable_text(&self, row: &[Value], variable: VariableId) -> String {
        use trefoil_system::Domain;
        let data = &self.compiled.formula.signature.data;
        let place =
            self.compiled.variables.iter().position(|&one| one == variable).expect("a live variable has a slot");
        let name = data.names.text(data.tree.variable(variable).0);
        format!("{name} = {}", self.compiled.found.text(row[1 + place]))
    }

    /// The node and the move of a group, and the group of the model beside it.
    fn parts_of_group(&self, group: GroupId) -> (u32, &MovePlan, usize) {
        let (node, own, of_model) = self.place_of_group(group);
        (node, &self.compiled.nodes[node as usize].moves[own as usize], of_model)
    }

    /// The same with the place of the move.
    pub(super) fn place_of_group(&self, group: GroupId) -> (u32, u32, usize) {
        let (start, node, own) = self.starts[self.start_of[group.index()] as usize];
        (node, own, (group.0 - start) as usize)
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
            orbits: self.label_orbits(control),
        })
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let model = self.model.widened()?;
        let game = FormulaGame::of(self.compiled.clone(), model, self.reader.clone(), &Control::unlimited());
        Some(Arc::new(game.ok()?))
    }

    /// The node and the variables of the formula, which nearly every group looks at and few change, and below them the
    /// slots of the model as its own groups suggest: below each node the diagram is that of the model.
    fn slot_order(&self) -> Option<Vec<usize>> {
        let touched = |group: &Group| group.inputs().union(&group.outputs()).iter().collect();
        let groups: Vec<Vec<usize>> = self.model.groups().iter().map(touched).collect();
        let own = order::found(self.model.layout().width(), &groups).into_iter().map(|slot| slot + self.offset);
        Some((0..self.offset).chain(own).collect())
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
    /// Compares labels with their images, in a game with symmetries whose labels are met on the way.
    orbits: Option<LabelOrbits<'a>>,
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
                            Cut::Wrong(Box::new(Wrong { message, place: None, hint: None }))
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
        let Walker { control, worker, labels, known, records, steps, ready, shown, orbits, .. } = self;
        let mut choosing = Choosing { game, control, worker, rewriter: None, labels, known, records, shown };
        for (place, plan) in node.moves.iter().enumerate() {
            let number = game.first_groups[row[0] as usize][place];
            if plan.uses == Use::Nothing {
                let choices = choosing.choices(plan, number, None, row)?;
                ready.push((place, None, choices));
                continue;
            }
            for (step, taken) in steps.iter().enumerate() {
                if let Some(orbits) = orbits {
                    orbits.compare(&mut choosing, plan, number, taken.label, row)?;
                }
                let choices = choosing.choices(plan, number, Some(taken.label), row)?;
                if choices.count > 0 {
                    ready.push((place, Some(step), choices));
                }
            }
        }
        Ok(())
    }
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
                sink(Step { group: GroupId(group), label, row: &next, written, class: 0, agents: &[], passes: false })?;
            }
        }
        Ok(())
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let game = self.game;
        let (start, node, place) = game.starts[game.start_of[group.id.index()] as usize];
        // Every group is guarded by the node, which is the first slot.
        if reads[0] != node {
            return Ok(());
        }
        let plan = &game.compiled.nodes[node as usize].moves[place as usize];
        // Steps of the model: the label, and the values of its outputs with whether each was written.
        let mut steps: Vec<(Option<LabelId>, Vec<Value>, Vec<bool>)> = vec![(None, Vec::new(), Vec::new())];
        if plan.uses != Use::Nothing {
            if self.local.is_none() {
                self.local = Some(LocalGroup::all(&*game.model, self.control)?);
            }
            let own = &self.local.as_ref().expect("they were made")[(group.id.0 - start) as usize];
            steps.clear();
            let mut sink = |step: LocalStep<'_>| {
                steps.push((Some(step.label), step.values.to_vec(), step.written.to_vec()));
                Ok(())
            };
            // The slots of the model are the last ones; where the move looks at its state they are more than the
            // group's own.
            if plan.observed.is_empty() {
                self.model.local_successors(own, &reads[reads.len() - own.inputs.len()..], &mut sink)?;
            } else {
                let mut values = Vec::new();
                own.inputs.values(game.model_row(&group.filled_in(reads)), &mut values);
                self.model.local_successors(own, &values, &mut sink)?;
            }
            if steps.is_empty() {
                return Ok(());
            }
        }
        let row = group.filled_in(reads);
        self.look(std::iter::once(plan), &row)?;
        let Walker { control, worker, labels, known, records, shown, .. } = self;
        let mut choosing = Choosing { game, control, worker, rewriter: None, labels, known, records, shown };
        let mut found = Vec::new();
        for (label, values, written) in &steps {
            found.push((*label, choosing.choices(plan, start, *label, &row)?, values, written));
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
