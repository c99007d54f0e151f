//! The classical search on all cores: the product of a normal form and an implementation as a system of its own.
//!
//! A row of the product is the node of the normal form and then the row of the implementation. Its steps are those of the
//! implementation with the node moved on; an event that the specification does not have leads to a reserved node without
//! steps, and chaos has no steps either, as nothing behind it can be wrong. The engine that explores levels of visible
//! events in parallel does the rest: a visitor tells it which states and steps are witnesses, as [`crate::search`] does
//! on one thread, and a cycle of `τ` in the product is a divergence of the implementation where the specification does not
//! diverge, which the engine finds at the end of each level. Lengths are the same for the same reasons.
//!
//! When the normal form is complete its nodes are few and known, and take a few bits of a row; else 32.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor};
use trefoil_lts::{LazyNormalForm, NodeId, Scratch};
use trefoil_symmetry::{Quotient, Symmetry, Tally};
use trefoil_system::{
    Action, Explorer, Failure, Group, GroupId, LabelId, Labels, Layout, Model, Observations, Path, Slot, SlotSet, Step,
    System, TakenStep, Value, Witness,
};

use crate::levels::count;
use crate::reduction::stands_for;
use crate::statistics::Statistics;

/// A normal form and an implementation, side by side.
pub(crate) struct Product<'a> {
    normal_form: &'a LazyNormalForm,
    implementation: &'a dyn System,
    control: &'a Control,
    /// The node of a trace that the specification does not have.
    forbidden: Value,
    /// Steps to that node have a group of their own.
    forbidden_group: GroupId,
    layout: Layout,
    groups: Vec<Group>,
    /// The slots that steps of each group of the implementation may write, when these are few.
    writes: Vec<Option<Box<[u32]>>>,
}

impl<'a> Product<'a> {
    /// `nodes`: how many nodes the normal form has at most, chaos included, when that is known.
    pub(crate) fn new(
        normal_form: &'a LazyNormalForm,
        nodes: Option<u32>,
        implementation: &'a dyn System,
        control: &'a Control,
    ) -> Product<'a> {
        let (forbidden, node) = match nodes {
            Some(nodes) => (nodes, Slot::bounded("specification", nodes + 1)),
            None => (Value::MAX, Slot::discovered("specification")),
        };
        let slots = implementation.layout().slots();
        let layout = Layout::new(std::iter::once(node).chain(slots.iter().cloned()).collect());
        let shifted = |slots: &SlotSet| -> SlotSet { slots.iter().map(|slot| slot + 1).collect() };
        let with_node = |slots: &SlotSet| std::iter::once(0).chain(slots.iter().map(|slot| slot + 1)).collect();
        let mut groups: Vec<Group> = implementation
            .groups()
            .iter()
            .map(|group| Group {
                name: group.name.clone(),
                guards: with_node(&group.guards),
                reads: with_node(&group.reads),
                may_write: with_node(&group.may_write),
                must_write: shifted(&group.must_write),
            })
            .collect();
        let few = |group: &Group| {
            let slots: Box<[u32]> =
                group.may_write.iter().chain(group.must_write.iter()).map(|slot| slot as u32).collect();
            (4 * slots.len() <= layout.width()).then_some(slots)
        };
        let writes = implementation.groups().iter().map(few).collect();
        let forbidden_group = GroupId(groups.len() as u32);
        let all: SlotSet = (0..layout.width()).collect();
        groups.push(Group {
            name: "what the specification does not have".into(),
            guards: all.clone(),
            may_write: all,
            ..Group::default()
        });
        Product { normal_form, implementation, control, forbidden, forbidden_group, layout, groups, writes }
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

    /// The node of a row, when something can be wrong there or behind.
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

    fn initial(&self) -> Vec<Value> {
        let mut row = vec![self.normal_form.initial().0];
        row.extend(self.implementation.initial());
        row
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        let steps = self.implementation.explorer();
        Box::new(ProductExplorer { product: self, steps, scratch: Scratch::default(), row: Vec::new() })
    }
}

struct ProductExplorer<'a> {
    product: &'a Product<'a>,
    steps: Box<dyn Explorer + 'a>,
    scratch: Scratch,
    row: Vec<Value>,
}

impl Explorer for ProductExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        let Product { normal_form, control, forbidden, forbidden_group, .. } = *self.product;
        let Some(node) = self.product.node(row) else { return };
        let (scratch, buffer, writes) = (&mut self.scratch, &mut self.row, &self.product.writes);
        buffer.clear();
        buffer.extend_from_slice(row);
        self.steps.successors(&row[1..], &mut |step| {
            let (mut next, mut group) = (node.0, step.group);
            if step.label != LabelId::TAU {
                match normal_form.successor(node, step.label, scratch, control) {
                    Ok(Some(target)) => next = target.0,
                    Ok(None) => (next, group) = (forbidden, forbidden_group),
                    // The control stays stopped, and the engine asks it before it says that it is through.
                    Err(_) => return,
                }
            }
            buffer[0] = next;
            match &writes[step.group.index()] {
                // What a step does not write is in the buffer already.
                Some(slots) => {
                    slots.iter().for_each(|&slot| buffer[slot as usize + 1] = step.row[slot as usize]);
                    debug_assert_eq!(&buffer[1..], step.row, "a group writes what it does not declare");
                    sink(Step { group, label: step.label, row: buffer });
                    slots.iter().for_each(|&slot| buffer[slot as usize + 1] = row[slot as usize + 1]);
                }
                None => {
                    buffer[1..].copy_from_slice(step.row);
                    sink(Step { group, label: step.label, row: buffer });
                    buffer[1..].copy_from_slice(&row[1..]);
                }
            }
        });
    }
}

/// A product with one pair of each orbit.
pub(crate) struct Reduced<'a> {
    quotient: Quotient<'a>,
    /// The kind of steps to what is forbidden.
    forbidden: u32,
}

/// The quotient of a product.
pub(crate) fn quotient<'a>(
    product: &'a Product<'a>,
    action: &'a dyn Action,
    symmetry: &'a Symmetry,
    control: &'a Control,
) -> Result<Reduced<'a>, Stopped> {
    let mut quotient = Quotient::new(product, action, symmetry, control)?;
    let forbidden = quotient.tell_apart(product.forbidden_group);
    quotient.count(|row| product.node(row).is_some());
    Ok(Reduced { quotient, forbidden })
}

/// Says which pairs are witnesses.
struct Judge<'a> {
    product: &'a Product<'a>,
    /// In a quotient, the kind of steps to what is forbidden.
    forbidden: Option<u32>,
    tally: Tally,
    model: Model,
    /// Of an implementation whose states say themselves what they accept and whether they diverge.
    observer: Option<Box<dyn Explorer + 'a>>,
    offered: Vec<LabelId>,
    /// Rows that are no pairs: chaos and what is forbidden.
    ends: u64,
}

impl Judge<'_> {
    #[inline]
    fn is_forbidden(&self, group: GroupId) -> bool {
        match self.forbidden {
            None => group == self.product.forbidden_group,
            Some(kind) => Quotient::kind(group) == kind,
        }
    }

    fn refuses_too_much(&mut self, node: NodeId, state: &Visited<'_>) -> bool {
        let normal_form = self.product.normal_form;
        if let Some(observer) = &mut self.observer {
            let observation = observer.observe(&state.row[1..]);
            return self.model == Model::FailuresDivergences && observation.diverges
                || refused(normal_form, node, observation.acceptances).is_some();
        }
        if state.steps.iter().any(|step| step.label == LabelId::TAU) {
            return false;
        }
        self.offered.clear();
        self.offered.extend(state.steps.iter().map(|step| step.label));
        self.offered.sort_unstable();
        !normal_form.allows(node, |label| self.offered.binary_search(&label).is_ok())
    }
}

/// The first acceptance that the specification does not allow the implementation to be content with.
fn refused(normal_form: &LazyNormalForm, node: NodeId, acceptances: Vec<Vec<LabelId>>) -> Option<Vec<LabelId>> {
    let allowed = |accepted: &Vec<LabelId>| normal_form.allows(node, |label| accepted.binary_search(&label).is_ok());
    acceptances.into_iter().find(|accepted| !allowed(accepted))
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>) -> Finding {
        if self.forbidden.is_some() {
            state.steps.iter().filter(|step| step.fresh).for_each(|step| self.tally.note(step.group));
        }
        let Some(node) = self.product.node(state.row) else {
            self.ends += 1;
            return Finding::Nothing;
        };
        if self.model != Model::Traces && self.refuses_too_much(node, state) {
            return Finding::State;
        }
        let forbidden = state.steps.iter().position(|step| self.is_forbidden(step.group));
        forbidden.map_or(Finding::Nothing, Finding::Step)
    }
}

/// Looks for a witness, on several threads when there are; among representatives, when there are.
pub(crate) fn search(
    product: &Product<'_>,
    reduced: Option<&Reduced<'_>>,
    model: Model,
    threads: usize,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let implementation = product.implementation;
    let explicit = implementation.observations() == Observations::Explicit;
    let cycles = model == Model::FailuresDivergences && !explicit;
    let options = Options { threads, order: Order::Visible, cycles };
    let explored: &dyn System = reduced.map_or(product, |reduced| &reduced.quotient);
    let forbidden = reduced.map(|reduced| reduced.forbidden);
    let judge = || Judge {
        product,
        forbidden,
        tally: Tally::default(),
        model,
        observer: explicit.then(|| implementation.explorer()),
        offered: Vec::new(),
        ends: 0,
    };
    let exploration = trefoil_explore::search(explored, &options, product.control, judge);
    let ends: u64 = exploration.visitors.iter().map(|judge| judge.ends).sum();
    count(&exploration.counts, statistics);
    statistics.states -= ends;
    match &exploration.end {
        End::Stopped(reason) => Err(*reason),
        // An explorer that was stopped gives no steps; then nothing that looks complete is.
        End::Complete => {
            product.control.check()?;
            if let Some(reduced) = reduced {
                let tallies = exploration.visitors.iter().map(|judge| &judge.tally);
                stands_for(statistics, &reduced.quotient, tallies, threads, product.control)?;
            }
            Ok(None)
        }
        End::Found(found) => {
            let mut path = exploration.path_to(explored, found, product.control)?;
            let mut cycle = exploration.cycle(found);
            if let Some(reduced) = reduced {
                (path, cycle) = reduced.quotient.unwind_lasso(&path, &cycle)?;
            }
            let cycle = cycle.iter().map(without_node).collect();
            Ok(Some(witness(product, path, cycle, model)))
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

/// What is wrong at the end of a path of the product, as a witness of the implementation.
pub(crate) fn witness(product: &Product<'_>, path: Path, cycle: Vec<TakenStep>, model: Model) -> Witness {
    let node = product.node(path.last());
    let path = of_implementation(&path);
    if !cycle.is_empty() {
        return Witness::Lasso { path, cycle };
    }
    let Some(node) = node else { return Witness::Path { path, failure: Failure::Event } };
    let mut explorer = product.implementation.explorer();
    if product.implementation.observations() == Observations::Explicit {
        let observation = explorer.observe(path.last());
        if model == Model::FailuresDivergences && observation.diverges {
            return Witness::Lasso { path, cycle };
        }
        let accepted = refused(product.normal_form, node, observation.acceptances).expect("it refuses too much");
        return Witness::Path { path, failure: Failure::Acceptance(accepted) };
    }
    let mut accepted = Vec::new();
    explorer.successors(path.last(), &mut |step| accepted.push(step.label));
    accepted.sort_unstable();
    accepted.dedup();
    Witness::Path { path, failure: Failure::Acceptance(accepted) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trefoil_system::{Checked, StateId};
    use trefoil_testkit::{Random, RandomShape, random_lts, seed};

    use trefoil_lts::Lts;

    use super::*;

    /// Two systems beside each other, a slot and a group each.
    struct Beside {
        parts: [Lts; 2],
        layout: Layout,
        groups: Vec<Group>,
    }

    impl Beside {
        fn new(parts: [Lts; 2]) -> Beside {
            let slot = |lts: &Lts| Slot::bounded("part", lts.state_count() as u32);
            let group = |index: usize| {
                let own: SlotSet = [index].into_iter().collect();
                Group { name: format!("part {index}"), guards: own.clone(), may_write: own, ..Group::default() }
            };
            Beside { layout: Layout::new(parts.iter().map(slot).collect()), groups: vec![group(0), group(1)], parts }
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
        fn initial(&self) -> Vec<Value> {
            self.parts.iter().map(|lts| lts.initial().0).collect()
        }
        fn explorer(&self) -> Box<dyn Explorer + '_> {
            Box::new(BesideExplorer(self))
        }
    }

    struct BesideExplorer<'a>(&'a Beside);

    impl Explorer for BesideExplorer<'_> {
        fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
            for (index, lts) in self.0.parts.iter().enumerate() {
                for transition in lts.outgoing(StateId(row[index])) {
                    let mut next = row.to_vec();
                    next[index] = transition.target.0;
                    sink(Step { group: GroupId(index as u32), label: transition.label, row: &next });
                }
            }
        }
    }

    #[test]
    fn a_product_declares_honestly_what_it_reads_and_writes() {
        let seed = seed();
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let control = Control::unlimited();
        let (mut expanded, mut forbidden) = (0, 0);
        for _ in 0..300 {
            let labels = Arc::new(Labels::new());
            let shape = RandomShape { states: 6, transitions: 12, labels: 2, tau_percent: 30 };
            let [specification, left, right] = [(); 3].map(|()| random_lts(&labels, shape, &mut random));
            let implementation = Beside::new([left, right]);
            for model in [Model::Traces, Model::Failures, Model::FailuresDivergences] {
                let normal_form = LazyNormalForm::new(&specification, model, &control).expect("no budget");
                let product = Checked::new(Product::new(&normal_form, None, &implementation, &control));
                let mut explorer = product.explorer();
                let mut seen = BTreeSet::from([product.initial()]);
                let mut work = vec![product.initial()];
                while let Some(row) = work.pop() {
                    expanded += 1;
                    forbidden += usize::from(row[0] == Value::MAX);
                    explorer.successors(&row, &mut |step| {
                        if seen.insert(step.row.to_vec()) {
                            work.push(step.row.to_vec());
                        }
                    });
                }
            }
        }
        assert!(expanded > 10_000 && forbidden > 100, "the products are too small: {expanded}, {forbidden}");
    }
}
