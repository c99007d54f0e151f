//! The classical search on all cores: the product of a normal form and an implementation as a system of its own.
//!
//! A row of the product is the node of the normal form and then the row of the implementation. Its steps are those of the
//! implementation with the node moved on; an event that the specification does not have leads to a reserved node without
//! steps, and chaos has no steps either, as nothing behind it can be wrong. The engine that explores levels of visible
//! events in parallel does the rest; a visitor tells it which states and steps are witnesses, as [`crate::search`] does
//! on one thread, and lengths are the same for the same reasons.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_explore::{Edge, End, Finding, Options, Order, Visited, Visitor};
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{LazyNormalForm, Lts, NodeId, Scratch};
use trefoil_system::{
    Explorer, Failure, Group, GroupId, LabelId, Labels, Layout, Model, Path, Slot, SlotSet, Step, System, TakenStep,
    Value, Witness,
};

use crate::evidence::lasso;
use crate::implementation::{Explicit, Taus};
use crate::statistics::Statistics;

/// The node of a trace that the specification does not have.
const FORBIDDEN: Value = Value::MAX;

/// A normal form and an implementation, side by side.
pub(crate) struct Product<'a> {
    normal_form: &'a LazyNormalForm,
    implementation: &'a dyn System,
    control: &'a Control,
    layout: Layout,
    groups: Vec<Group>,
}

impl<'a> Product<'a> {
    pub(crate) fn new(
        normal_form: &'a LazyNormalForm,
        implementation: &'a dyn System,
        control: &'a Control,
    ) -> Product<'a> {
        let specification = std::iter::once(Slot::discovered("specification"));
        let layout = Layout::new(specification.chain(implementation.layout().slots().iter().cloned()).collect());
        let shifted = |slots: &SlotSet| -> SlotSet { slots.iter().map(|slot| slot + 1).collect() };
        let with_node = |slots: &SlotSet| std::iter::once(0).chain(slots.iter().map(|slot| slot + 1)).collect();
        let groups = implementation.groups().iter().map(|group| Group {
            name: group.name.clone(),
            guards: with_node(&group.guards),
            reads: with_node(&group.reads),
            may_write: with_node(&group.may_write),
            must_write: shifted(&group.must_write),
        });
        Product { normal_form, implementation, control, layout, groups: groups.collect() }
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
        if row[0] == FORBIDDEN || row[0] == NodeId::CHAOS.0 {
            return;
        }
        let node = NodeId(row[0]);
        let Product { normal_form, control, .. } = self.product;
        let (scratch, buffer) = (&mut self.scratch, &mut self.row);
        self.steps.successors(&row[1..], &mut |step| {
            let next = if step.label == LabelId::TAU {
                node.0
            } else {
                match normal_form.successor(node, step.label, scratch, control) {
                    Ok(Some(next)) => next.0,
                    Ok(None) => FORBIDDEN,
                    // The control stays stopped, and the engine asks it before it says that it is through.
                    Err(_) => return,
                }
            };
            buffer.clear();
            buffer.push(next);
            buffer.extend_from_slice(step.row);
            sink(Step { group: GroupId(step.group.0), label: step.label, row: buffer });
        });
    }
}

/// Says which pairs are witnesses.
struct Judge<'a> {
    normal_form: &'a LazyNormalForm,
    model: Model,
    /// By state, for explicit implementations in a model that observes divergence.
    diverging: &'a [bool],
    offered: Vec<LabelId>,
    /// Rows that are no pairs: chaos and what is forbidden.
    ends: u64,
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>) -> Finding {
        if state.row[0] == FORBIDDEN || state.row[0] == NodeId::CHAOS.0 {
            self.ends += 1;
            return Finding::Nothing;
        }
        let node = NodeId(state.row[0]);
        if self.model == Model::FailuresDivergences && self.diverging[state.row[1] as usize] {
            return Finding::State;
        }
        let stable = state.steps.iter().all(|step| step.label != LabelId::TAU);
        if self.model != Model::Traces && stable {
            self.offered.clear();
            self.offered.extend(state.steps.iter().map(|step| step.label));
            self.offered.sort_unstable();
            if !self.normal_form.allows(node, |label| self.offered.binary_search(&label).is_ok()) {
                return Finding::State;
            }
        }
        let normal_form = self.normal_form;
        let forbidden = |step: &Edge| step.label.is_visible() && !normal_form.allows_event(node, step.label);
        state.steps.iter().position(forbidden).map_or(Finding::Nothing, Finding::Step)
    }
}

/// Looks for a witness on several threads. `diverging` says it for every state of an explicit implementation; it is not asked
/// in other models than failures-divergences.
pub(crate) fn search(
    product: &Product<'_>,
    model: Model,
    diverging: &[bool],
    threads: usize,
    statistics: &mut Statistics,
) -> Result<Option<Path>, Stopped> {
    let options = Options { threads, order: Order::Visible };
    let normal_form = product.normal_form;
    let judge = || Judge { normal_form, model, diverging, offered: Vec::new(), ends: 0 };
    let exploration = trefoil_explore::search(product, &options, product.control, judge);
    let ends: u64 = exploration.visitors.iter().map(|judge| judge.ends).sum();
    statistics.states = exploration.counts.states - ends;
    statistics.transitions = exploration.counts.transitions;
    statistics.working_max = exploration.counts.waiting;
    statistics.levels = u64::from(exploration.counts.depth);
    match &exploration.end {
        End::Stopped(reason) => Err(*reason),
        // An explorer that was stopped gives no steps; then nothing that looks complete is.
        End::Complete => product.control.check().map(|()| None),
        End::Found(found) => {
            let path = exploration.path_to(product, found, product.control)?;
            Ok(Some(path))
        }
    }
}

/// What is wrong at the end of a path of the product, as a witness of the implementation.
pub(crate) fn witness(
    product: &Product<'_>,
    path: Path,
    model: Model,
    explicit: Option<&Lts>,
) -> Result<Witness, Stopped> {
    let node = path.last()[0];
    let without_node = |row: &[Value]| row[1..].to_vec();
    let steps = path.steps.iter().map(|step| TakenStep { label: step.label, row: without_node(&step.row) });
    let path = Path { start: without_node(&path.start), steps: steps.collect() };
    if node == FORBIDDEN {
        return Ok(Witness::Path { path, failure: Failure::Event });
    }
    if model == Model::FailuresDivergences
        && let Some(lts) = explicit
    {
        let mut graph = Explicit::new(lts);
        let mut divergence = Divergence::new();
        let state = path.last()[0];
        if divergence.diverges(state, &mut Taus(&mut graph), product.control)? {
            let steps = path.steps.iter().map(|step| (step.label, step.row[0])).collect();
            return lasso(&mut graph, &mut divergence, steps, state, product.control);
        }
    }
    let mut accepted = Vec::new();
    let mut explorer = product.implementation.explorer();
    explorer.successors(path.last(), &mut |step| accepted.push(step.label));
    accepted.sort_unstable();
    accepted.dedup();
    Ok(Witness::Path { path, failure: Failure::Acceptance(accepted) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trefoil_system::{Checked, StateId};
    use trefoil_testkit::{Random, RandomShape, random_lts, seed};

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
                let product = Checked::new(Product::new(&normal_form, &implementation, &control));
                let mut explorer = product.explorer();
                let mut seen = BTreeSet::from([product.initial()]);
                let mut work = vec![product.initial()];
                while let Some(row) = work.pop() {
                    expanded += 1;
                    forbidden += usize::from(row[0] == FORBIDDEN);
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
