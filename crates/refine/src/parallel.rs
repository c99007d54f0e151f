//! The classical search on all cores: the product of a normal form and an implementation as a system of its own.
//!
//! A row of the product is the node of the normal form and then the row of the implementation. Its steps are those of
//! the implementation with the node moved on; an event that the specification does not have leads to a reserved node
//! without steps, and chaos has no steps either, as no violation can follow it. The engine that explores levels of
//! visible events in parallel does the rest: a visitor reports which states and steps are witnesses, as
//! [`crate::search`] does on one thread, and a cycle of `τ` in the product is a divergence of the implementation where
//! the specification does not diverge, which the engine finds at the end of each level. Lengths are the same for the
//! same reasons.
//!
//! In refusal testing a step depends on what else the implementation offers: from a stable state the node moves on from
//! its states that offer nothing else. The steps of a state are therefore all collected before the first is handed out.
//!
//! When the normal form is complete its nodes are few and known, and take a few bits of a row; else they are values of
//! a domain ([`Nodes`]). A mark says where the specification does not allow the trace.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor};
use trefoil_lts::{LazyNormalForm, NodeId, Scratch, Within};
use trefoil_symmetry::{Quotient, Symmetry, Tally};
use trefoil_system::{
    Action, Change, Cut, Explorer, Failure, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Model,
    Observation, Observations, Path, Sink, Slot, SlotSet, Step, System, TakenStep, Value, Walk, Witness, Written,
};

use crate::acting::Drawn;
use crate::has_trace::offered;
use crate::levels::{count, says_that_it_diverges};
use crate::nodes::{FORBIDDEN, Nodes};
use crate::reduction::stands_for;
use crate::statistics::Statistics;

/// A normal form and an implementation, side by side.
pub(crate) struct Product<'a> {
    normal_form: &'a LazyNormalForm,
    implementation: &'a dyn System,
    /// The node of a trace that the specification does not have.
    forbidden: Value,
    /// Steps to that node have a group of their own.
    forbidden_group: GroupId,
    layout: Layout,
    groups: Vec<Group>,
    /// Those of the implementation, then that of forbidden steps.
    marks: Vec<Mark>,
    /// The slots that steps of each group of the implementation may write, when these are few.
    writes: Vec<Option<Box<[u32]>>>,
    /// Do nodes depend on refusals on the way?
    tests_refusals: bool,
}

impl<'a> Product<'a> {
    /// `nodes`: how many nodes the normal form has at most, chaos included, when that is known.
    pub(crate) fn new(
        normal_form: &'a Arc<LazyNormalForm>,
        nodes: Option<u32>,
        model: Model,
        implementation: &'a dyn System,
    ) -> Product<'a> {
        let (forbidden, node) = match nodes {
            Some(nodes) => (nodes, Slot::bounded("specification", nodes + 1)),
            None => (FORBIDDEN, Slot::met("specification", Arc::new(Nodes::new(normal_form)))),
        };
        let slots = implementation.layout().slots();
        let layout = Layout::new(std::iter::once(node).chain(slots.iter().cloned()).collect());
        let shifted = |slots: &SlotSet| -> SlotSet { slots.iter().map(|slot| slot + 1).collect() };
        let with_node = |slots: &SlotSet| std::iter::once(0).chain(slots.iter().map(|slot| slot + 1)).collect();
        let tests_refusals = model.observes_refusals_on_the_way();
        let all: SlotSet = (0..layout.width()).collect();
        let mut groups: Vec<Group> = implementation
            .groups()
            .iter()
            .map(|group| Group {
                name: group.name.clone(),
                guards: with_node(&group.guards),
                // Where the node goes depends on what else is offered.
                reads: if tests_refusals { all.clone() } else { with_node(&group.reads) },
                may_write: with_node(&group.may_write),
                must_write: shifted(&group.must_write),
                visibility: group.visibility,
                ..Group::default()
            })
            .collect();
        let few = |group: &Group| {
            let slots: Box<[u32]> = group.outputs().iter().map(|slot| slot as u32).collect();
            (4 * slots.len() <= layout.width()).then_some(slots)
        };
        let writes = implementation.groups().iter().map(few).collect();
        let forbidden_group = GroupId(groups.len() as u32);
        groups.push(Group {
            name: "what the specification does not have".into(),
            guards: all.clone(),
            may_write: all,
            ..Group::default()
        });
        let own = implementation.marks().iter().map(|mark| Mark { reads: shifted(&mark.reads), ..mark.clone() });
        let forbidden_mark = Mark { meaning: Meaning::Forbidden, reads: [0].into_iter().collect(), values: 2 };
        let marks = own.chain([forbidden_mark]).collect();
        Product {
            normal_form,
            implementation,
            forbidden,
            forbidden_group,
            layout,
            groups,
            marks,
            writes,
            tests_refusals,
        }
    }

    /// The implementation.
    pub(crate) fn implementation(&self) -> &'a dyn System {
        self.implementation
    }

    /// The normal form.
    pub(crate) fn normal_form(&self) -> &'a LazyNormalForm {
        self.normal_form
    }

    /// The number in place of a node after a trace that the specification does not have.
    pub(crate) fn forbidden(&self) -> Value {
        self.forbidden
    }

    /// The node of a row, when a violation is possible there or later.
    fn node(&self, row: &[Value]) -> Option<NodeId> {
        (row[0] != self.forbidden && row[0] != NodeId::CHAOS.0).then_some(NodeId(row[0]))
    }
}

impl System for Product<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.implementation.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let mut row = vec![self.normal_form.initial().0];
        row.extend(self.implementation.initial(control)?);
        Ok(row)
    }

    fn explorer<'e>(&'e self, control: &'e Control) -> Box<dyn Explorer + 'e> {
        Box::new(ProductExplorer {
            product: self,
            control,
            steps: self.implementation.explorer(control),
            scratch: Scratch::default(),
            row: Vec::new(),
            changes: Vec::new(),
            collected: Collected::default(),
        })
    }

    fn observations(&self) -> Observations {
        self.implementation.observations()
    }
}

struct ProductExplorer<'a> {
    product: &'a Product<'a>,
    control: &'a Control,
    steps: Box<dyn Explorer + 'a>,
    scratch: Scratch,
    row: Vec<Value>,
    changes: Vec<Change>,
    collected: Collected,
}

/// The steps of one state of the implementation.
#[derive(Default)]
struct Collected {
    steps: Vec<CollectedStep>,
    rows: Vec<Value>,
    changes: Vec<Change>,
    /// The labels, in refusal testing ascending.
    offered: Vec<LabelId>,
    /// Where events lead the specification, if it has no node there.
    single: Vec<(LabelId, NodeId)>,
}

struct CollectedStep {
    group: GroupId,
    label: LabelId,
    /// Where its changes end, if it names the slots that it writes.
    changes: Option<usize>,
}

impl Collected {
    /// All steps of a state. False when one of them is silent.
    fn collect(&mut self, explorer: &mut dyn Explorer, row: &[Value]) -> Result<bool, Cut> {
        let Collected { steps, rows, changes, offered, .. } = self;
        steps.clear();
        rows.clear();
        changes.clear();
        offered.clear();
        explorer.successors(row, &mut |step| {
            rows.extend_from_slice(step.row);
            let changes = match step.written {
                Written::Slots(slots) => {
                    changes.extend_from_slice(slots);
                    Some(changes.len())
                }
                Written::Group => None,
            };
            steps.push(CollectedStep { group: step.group, label: step.label, changes });
            offered.push(step.label);
            Ok(())
        })?;
        offered.sort_unstable();
        offered.dedup();
        Ok(offered.first() != Some(&LabelId::TAU))
    }
}

/// A step of the implementation beside the node that it leads to, as a step of the product. `buffer` holds the row of
/// the product before the step, and does so again afterwards.
fn step_beside(
    product: &Product<'_>,
    row: &[Value],
    next: Option<Value>,
    step: &Step<'_>,
    buffer: &mut [Value],
    changes: &mut Vec<Change>,
    sink: &mut Sink<'_>,
) -> Walk {
    let label = step.label;
    let group = if next.is_some() { step.group } else { product.forbidden_group };
    buffer[0] = next.unwrap_or(product.forbidden);
    // Slots that a step does not write are in the buffer already.
    match (step.written, &product.writes[step.group.index()]) {
        (Written::Slots(slots), _) => {
            changes.clear();
            changes.push((0, row[0]));
            for &(slot, old) in slots.iter().filter(|(slot, _)| (*slot as usize) < step.row.len()) {
                buffer[slot as usize + 1] = step.row[slot as usize];
                changes.push((slot + 1, old));
            }
            debug_assert_eq!(&buffer[1..], step.row, "a step writes what it does not name");
            sink(Step {
                group,
                label,
                row: buffer,
                written: Written::Slots(changes),
                class: 0,
                agents: &[],
                passes: false,
            })?;
            changes.iter().for_each(|&(slot, _)| buffer[slot as usize] = row[slot as usize]);
        }
        (Written::Group, Some(slots)) => {
            slots.iter().for_each(|&slot| buffer[slot as usize + 1] = step.row[slot as usize]);
            debug_assert_eq!(&buffer[1..], step.row, "a group writes what it does not declare");
            sink(Step::of_group(group, label, buffer))?;
            slots.iter().for_each(|&slot| buffer[slot as usize + 1] = row[slot as usize + 1]);
        }
        (Written::Group, None) => {
            buffer[1..].copy_from_slice(step.row);
            sink(Step::of_group(group, label, buffer))?;
            buffer[1..].copy_from_slice(&row[1..]);
        }
    }
    Ok(())
}

impl ProductExplorer<'_> {
    /// The steps of a pair in refusal testing.
    fn tested(&mut self, node: NodeId, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let ProductExplorer { product, control, steps, scratch, row: buffer, changes, collected } = self;
        let stable = collected.collect(&mut **steps, &row[1..])?;
        let normal_form = product.normal_form;
        let Collected { offered, single, .. } = &mut *collected;
        let from = match stable {
            true => normal_form.steps_within(node, offered, scratch, single, control)?,
            false => Within::Node(node),
        };
        let mut following = match from {
            Within::Node(from) => Some(normal_form.following(from)),
            Within::Steps | Within::Nothing => None,
        };
        let (mut known, mut start) = ((LabelId::TAU, Some(node)), 0);
        let width = row.len() - 1;
        for (place, step) in collected.steps.iter().enumerate() {
            let target = &collected.rows[place * width..(place + 1) * width];
            if step.label == LabelId::TAU {
                known = (step.label, Some(node));
            } else if step.label != known.0 {
                let next = match &mut following {
                    Some(following) => following.successor(step.label, scratch, control)?,
                    None if from == Within::Nothing => None,
                    None => {
                        let place = collected.single.binary_search_by_key(&step.label, |&(label, _)| label);
                        place.ok().map(|place| collected.single[place].1)
                    }
                };
                known = (step.label, next);
            }
            let written = step.changes.map_or(Written::Group, |end| {
                Written::Slots(&collected.changes[std::mem::replace(&mut start, end)..end])
            });
            let taken = Step { written, ..Step::of_group(step.group, step.label, target) };
            step_beside(product, row, known.1.map(|node| node.0), &taken, buffer, changes, sink)?;
        }
        Ok(())
    }
}

impl Explorer for ProductExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let Some(node) = self.product.node(row) else { return Ok(()) };
        // A walk that was cut may have left another row in the buffer.
        self.row.clear();
        self.row.extend_from_slice(row);
        if self.product.tests_refusals {
            return self.tested(node, row, sink);
        }
        let ProductExplorer { product, control, steps, scratch, row: buffer, changes, .. } = self;
        steps.successors(&row[1..], &mut |step| {
            let next = match step.label {
                LabelId::TAU => Some(node),
                label => product.normal_form.successor(node, label, scratch, control)?,
            };
            step_beside(product, row, next.map(|node| node.0), &step, buffer, changes, sink)
        })
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        if mark.index() + 1 < self.product.marks.len() {
            return self.steps.mark(mark, reads);
        }
        Ok(Value::from(reads[0] == self.product.forbidden))
    }

    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        self.steps.observe(&row[1..])
    }

    fn accepts_less(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        self.steps.accepts_less(&row[1..], enough)
    }
}

/// A product with one pair of each orbit.
pub(crate) struct Reduced<'a> {
    quotient: Quotient<'a>,
    /// The group of steps to the forbidden node.
    forbidden: GroupId,
}

/// The quotient of a product. Orbits are counted where all of a pair is drawn.
pub(crate) fn quotient<'a>(
    product: &'a Product<'a>,
    action: &'a dyn Action,
    symmetry: &'a Symmetry,
    drawn: Drawn,
    control: &Control,
) -> Result<Reduced<'a>, Cut> {
    let mut quotient = Quotient::new(product, action, symmetry, control)?;
    let forbidden = quotient.tell_apart(product.forbidden_group);
    if drawn == Drawn::Pair {
        quotient.count(|row| product.node(row).is_some());
    }
    Ok(Reduced { quotient, forbidden })
}

/// Says which pairs are witnesses.
struct Judge<'a> {
    product: &'a Product<'a>,
    /// The group of steps to the forbidden node.
    forbidden: GroupId,
    /// In a quotient, what found states.
    tally: Option<Tally>,
    model: Model,
    /// Where failures and divergences of the implementation come from.
    observations: Observations,
    scratch: Scratch,
    offered: Vec<LabelId>,
    /// Rows that are no pairs: chaos and the forbidden node.
    ends: u64,
}

impl Judge<'_> {
    fn refuses_too_much(
        &mut self,
        node: NodeId,
        state: &Visited<'_>,
        explorer: &mut dyn Explorer,
    ) -> Result<bool, Cut> {
        let normal_form = self.product.normal_form;
        if self.observations.carries_acceptances() {
            return Ok(self.model.observes_divergence()
                && says_that_it_diverges(self.observations, explorer, state.row)?
                || refused(normal_form, node, explorer, state.row)?.is_some());
        }
        self.offered.clear();
        if state.steps.iter().any(|step| step.label == LabelId::TAU) {
            return Ok(false);
        }
        if self.model.observes_refusals_on_the_way()
            && !state.steps.is_empty()
            && state.steps.iter().all(|step| step.group != self.forbidden)
        {
            // The specification goes on from some state that refuses as much.
            return Ok(false);
        }
        self.offered.extend(state.steps.iter().map(|step| step.label));
        self.offered.sort_unstable();
        self.offered.dedup();
        Ok(!normal_form.allows(node, |label| self.offered.binary_search(&label).is_ok()))
    }

    /// The first event that the specification has in no stable state that refuses as much, where that is observed.
    fn not_revived(&mut self, node: NodeId, state: &Visited<'_>) -> Option<usize> {
        if !self.model.observes_revivals() || self.offered.is_empty() {
            return None;
        }
        let event = self.product.normal_form.not_revived(node, &self.offered, &mut self.scratch)?;
        state.steps.iter().position(|step| step.label == event)
    }
}

/// An acceptance that a state of the implementation carries, and that the specification does not allow.
fn refused(
    normal_form: &LazyNormalForm,
    node: NodeId,
    explorer: &mut dyn Explorer,
    row: &[Value],
) -> Result<Option<Vec<LabelId>>, Cut> {
    explorer.accepts_less(row, &mut |accepted| normal_form.allows(node, |label| accepted.binary_search(&label).is_ok()))
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        if let Some(tally) = &mut self.tally {
            state.steps.iter().filter(|step| step.fresh).for_each(|step| tally.note(step.class));
        }
        let Some(node) = self.product.node(state.row) else {
            self.ends += 1;
            return Ok(Finding::Nothing);
        };
        if self.model.observes_refusals() && self.refuses_too_much(node, state, explorer)? {
            return Ok(Finding::State);
        }
        let forbidden = state.steps.iter().enumerate().filter(|(_, step)| step.group == self.forbidden);
        let labels = self.product.labels();
        let least = forbidden.min_by(|(_, left), (_, right)| labels.compare(left.label, right.label));
        let least = least.map(|(index, _)| index).or_else(|| self.not_revived(node, state));
        Ok(least.map_or(Finding::Nothing, Finding::Step))
    }
}

/// Searches a witness, on several threads and among representatives if there are any.
pub(crate) fn search(
    product: &Product<'_>,
    reduced: Option<&Reduced<'_>>,
    model: Model,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    let implementation = product.implementation;
    let observations = implementation.observations();
    let cycles = model.observes_divergence() && !observations.carries_divergence();
    // In the traces model only a forbidden visible event is a witness.
    let options = Options { threads, order: Order::Visible, cycles, steps_only: model == Model::Traces };
    let explored: &dyn System = reduced.map_or(product, |reduced| &reduced.quotient);
    let judge = || Judge {
        product,
        forbidden: reduced.map_or(product.forbidden_group, |reduced| reduced.forbidden),
        tally: reduced.map(|_| Tally::default()),
        model,
        observations,
        scratch: Scratch::default(),
        offered: Vec::new(),
        ends: 0,
    };
    let exploration = trefoil_explore::search(explored, &options, control, judge);
    let ends: u64 = exploration.visitors.iter().map(|judge| judge.ends).sum();
    count(&exploration.counts, statistics);
    statistics.states -= ends;
    match &exploration.end {
        End::Cut(cut) => Err(cut.clone()),
        End::Complete => {
            if let Some(reduced) = reduced {
                let tallies = exploration.visitors.iter().flat_map(|judge| &judge.tally);
                stands_for(statistics, &reduced.quotient, tallies);
            }
            Ok(None)
        }
        End::Found(found) => {
            let mut path = exploration.path_to(explored, found, control)?;
            let mut cycle = exploration.cycle(found);
            if let Some(reduced) = reduced {
                (path, cycle) = reduced.quotient.unwind_lasso(&path, &cycle, control)?;
            }
            let cycle = cycle.iter().map(without_node).collect();
            witness(product, path, cycle, found.step.is_some(), model, control).map(Some)
        }
    }
}

fn without_node(step: &TakenStep) -> TakenStep {
    TakenStep { label: step.label, row: step.row[1..].to_vec() }
}

/// A path of the product as one of the implementation.
pub(crate) fn of_implementation(path: &Path) -> Path {
    Path { start: path.start[1..].to_vec(), steps: path.steps.iter().map(without_node).collect() }
}

/// The violation at the end of a path of the product, as a witness of the implementation: `by_event` if it is the last
/// step.
pub(crate) fn witness(
    product: &Product<'_>,
    path: Path,
    cycle: Vec<TakenStep>,
    by_event: bool,
    model: Model,
    control: &Control,
) -> Result<Witness, Cut> {
    let node = product.node(path.last()).filter(|_| !by_event);
    let path = of_implementation(&path);
    if !cycle.is_empty() {
        return Ok(Witness::Lasso { path, cycle });
    }
    let Some(node) = node else { return Ok(Witness::Path { path, failure: Failure::Event }) };
    let mut explorer = product.implementation.explorer(control);
    let observations = product.implementation.observations();
    if observations.carries_acceptances() {
        if model.observes_divergence() && says_that_it_diverges(observations, &mut *explorer, path.last())? {
            return Ok(Witness::Lasso { path, cycle });
        }
        let accepted = refused(product.normal_form, node, &mut *explorer, path.last())?.expect("it refuses too much");
        return Ok(Witness::Path { path, failure: Failure::Acceptance(accepted) });
    }
    let accepted = offered(&mut *explorer, path.last())?;
    Ok(Witness::Path { path, failure: Failure::Acceptance(accepted) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trefoil_system::{Checked, Domain, StateId};
    use trefoil_testkit::{Random, RandomShape, random_lts, seed};

    use trefoil_lts::Lts;

    use super::*;

    /// Two systems beside each other, a slot and a group each.
    struct Beside {
        parts: [Lts; 2],
        layout: Layout,
        groups: Vec<Group>,
        /// Do steps name the slots that they write?
        names: bool,
    }

    impl Beside {
        fn new(parts: [Lts; 2], names: bool) -> Beside {
            let slot = |lts: &Lts| Slot::bounded("part", lts.state_count() as u32);
            let group = |index: usize| {
                let own: SlotSet = [index].into_iter().collect();
                Group { name: format!("part {index}"), guards: own.clone(), may_write: own, ..Group::default() }
            };
            let layout = Layout::new(parts.iter().map(slot).collect());
            Beside { layout, groups: vec![group(0), group(1)], parts, names }
        }
    }

    impl System for Beside {
        fn layout(&self) -> &Layout {
            &self.layout
        }
        fn labels(&self) -> &Arc<Labels> {
            self.parts[0].labels()
        }
        fn groups(&self) -> &[Group] {
            &self.groups
        }
        fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
            Ok(self.parts.iter().map(|lts| lts.initial().0).collect())
        }
        fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
            Box::new(BesideExplorer(self))
        }
    }

    struct BesideExplorer<'a>(&'a Beside);

    impl Explorer for BesideExplorer<'_> {
        fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
            for (index, lts) in self.0.parts.iter().enumerate() {
                for transition in lts.outgoing(StateId(row[index])) {
                    let mut next = row.to_vec();
                    next[index] = transition.target.0;
                    let step = Step::of_group(GroupId(index as u32), transition.label, &next);
                    // A slot may be named twice, and slots that do not exist are ignored.
                    let own = (index as u32, row[index]);
                    let written = [own, (7, 1), (u32::MAX, 0), own];
                    sink(if self.0.names { Step { written: Written::Slots(&written), ..step } } else { step })?;
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_product_declares_honestly_what_it_reads_and_writes() {
        let seed = seed();
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let control = Control::unlimited();
        let (mut expanded, mut forbidden) = (0, 0);
        for number in 0..300 {
            let labels = Arc::new(Labels::new());
            let shape = RandomShape { states: 6, transitions: 12, labels: 2, tau_percent: 30 };
            let [specification, left, right] = [(); 3].map(|()| random_lts(&labels, shape, &mut random));
            let implementation = Beside::new([left, right], number % 2 == 0);
            for model in Model::ALL {
                let normal_form = LazyNormalForm::new(&specification, model, &control).expect("no budget");
                let normal_form = Arc::new(normal_form);
                let product = Checked::new(Product::new(&normal_form, None, model, &implementation));
                let mark = product.mark(Meaning::Forbidden).expect("it has the mark");
                let mut explorer = product.explorer(&control);
                let mut work = vec![product.initial(&control).expect("no budget")];
                let mut seen = BTreeSet::from([work[0].clone()]);
                while let Some(row) = work.pop() {
                    expanded += 1;
                    forbidden += usize::from(row[0] == FORBIDDEN);
                    assert_eq!(explorer.mark(mark, &row[..1]), Ok(Value::from(row[0] == FORBIDDEN)));
                    let mut bytes = Vec::new();
                    product.layout().bytes(&row, &mut bytes);
                    assert_eq!(product.layout().row(&bytes).as_ref(), Some(&row), "a row comes back from its bytes");
                    let walk = explorer.successors(&row, &mut |step| {
                        if seen.insert(step.row.to_vec()) {
                            work.push(step.row.to_vec());
                        }
                        Ok(())
                    });
                    assert_eq!(walk, Ok(()));
                }
                let nodes = Nodes::new(&normal_form);
                let mut values: Vec<Value> = seen.iter().map(|row| row[0]).collect();
                values.sort_by(|&left, &right| nodes.compare(left, right));
                let bytes = |&value: &Value| {
                    let mut bytes = Vec::new();
                    nodes.bytes(value, &mut bytes);
                    bytes
                };
                assert!(values.is_sorted_by_key(bytes), "nodes are ordered by their bytes");
            }
        }
        assert!(expanded > 10_000 && forbidden > 100, "the products are too small: {expanded}, {forbidden}");
    }
}
