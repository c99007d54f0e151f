//! Searching among representatives pair by pair: antichains and depth-first searches under symmetries.
//!
//! The states of the implementation are replaced by representatives when they are found, once for each step and not once for
//! each pair, and the element that did it is kept with the step (elements are stored once each). Beside a representative stands
//! the node that the same element makes of the specification's, which is remembered for each node and element. This is
//! definition 17 of Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking* (2019), to the letter: the state alone
//! chooses the element.
//!
//! A witness is unwound in the product, where the node tells which of several steps with one label and one representative was
//! meant. A divergence is looked for again from the real state at the end of the run.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{NodeId, Transition};
use trefoil_symmetry::{Quotient, Reducer, Symmetry};
use trefoil_system::{
    Action, Actor, Explorer, LabelId, Observation, Observations, Path, StateId, System, TakenStep, Value, Witness,
};

use crate::acting::ProductAction;
use crate::implementation::{Graph, OnTheFly, Taus};
use crate::rows::RowTable;
use crate::search::{Found, ProductSearch};
use crate::statistics::Statistics;
use crate::visited::Visited;
use crate::{Options, parallel};

/// What is searched.
pub(crate) struct Searched<'a> {
    pub(crate) product: &'a parallel::Product<'a>,
    /// The action on the implementation.
    pub(crate) implementation: &'a dyn Action,
    /// The action on pairs, of which only the implementation is drawn.
    pub(crate) pairs: &'a ProductAction<'a>,
    /// The quotient by it.
    pub(crate) quotient: &'a Quotient<'a>,
    pub(crate) symmetry: &'a Symmetry,
}

/// Carries nodes along with representatives.
pub(crate) struct Carrier<'a> {
    actor: Box<dyn Actor + 'a>,
    known: HashMap<(u32, u32), NodeId, foldhash::fast::FixedState>,
}

impl<'a> Carrier<'a> {
    fn new(pairs: &'a ProductAction<'a>) -> Carrier<'a> {
        Carrier { actor: pairs.actor(), known: HashMap::default() }
    }

    /// What an element makes of a node; `number` is the element's.
    pub(crate) fn carry(&mut self, node: NodeId, number: u32, element: &[u32]) -> NodeId {
        let Carrier { actor, known } = self;
        *known.entry((node.0, number)).or_insert_with(|| NodeId(actor.apply_to_slot(element, 0, node.0).1))
    }
}

const UNEXPLORED: (usize, u32) = (usize::MAX, 0);

/// The representatives of a system, numbered as they are found.
struct Representatives<'a> {
    explorer: Box<dyn Explorer + 'a>,
    reducer: Reducer<'a>,
    explicit_observations: bool,
    control: &'a Control,
    rows: RowTable,
    ranges: Vec<(usize, u32)>,
    transitions: Vec<Transition>,
    /// For each transition, the number of the element that carried its target.
    carried: Vec<u32>,
    elements: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>,
}

impl<'a> Representatives<'a> {
    fn new(
        system: &'a dyn System,
        action: &'a dyn Action,
        symmetry: &'a Symmetry,
        control: &'a Control,
    ) -> Result<Representatives<'a>, Stopped> {
        let mut reducer = Reducer::new(action, symmetry, control);
        let mut rows = RowTable::new(system.layout());
        assert_eq!(rows.number(reducer.reduce(&system.initial())?.row, control)?, 0);
        Ok(Representatives {
            explorer: system.explorer(),
            reducer,
            explicit_observations: system.observations() == Observations::Explicit,
            control,
            rows,
            ranges: vec![UNEXPLORED],
            transitions: Vec::new(),
            carried: Vec::new(),
            elements: Vec::new(),
            numbers: HashMap::default(),
        })
    }
}

impl Graph for Representatives<'_> {
    fn initial(&self) -> u32 {
        0
    }

    fn explore(&mut self, state: u32) -> Result<(), Stopped> {
        if self.ranges[state as usize] != UNEXPLORED {
            return Ok(());
        }
        self.control.check()?;
        if self.transitions.len() == self.transitions.capacity() {
            self.control.afford(self.transitions.len() * 2 * (size_of::<Transition>() + size_of::<u32>()))?;
        }
        let start = self.transitions.len();
        let row = self.rows.row(state);
        let mut stopped = Ok(());
        let Representatives { explorer, reducer, control, rows, transitions, carried, elements, numbers, .. } = self;
        let mut take = |label: LabelId, target: &[Value]| -> Result<(), Stopped> {
            let reduced = reducer.reduce(target)?;
            let number = match numbers.get(reduced.element) {
                Some(&known) => known,
                None => {
                    let number = elements.len() as u32;
                    elements.push(reduced.element.into());
                    numbers.insert(reduced.element.into(), number);
                    number
                }
            };
            let target = StateId(rows.number(reduced.row, control)?);
            transitions.push(Transition { label, target });
            carried.push(number);
            Ok(())
        };
        explorer.successors(&row, &mut |step| {
            if stopped.is_ok() {
                stopped = take(step.label, step.row);
            }
        });
        stopped?;
        self.ranges.resize(self.rows.len(), UNEXPLORED);
        self.ranges[state as usize] = (start, (self.transitions.len() - start) as u32);
        Ok(())
    }

    fn row(&self, state: u32) -> &[Transition] {
        let (start, length) = self.ranges[state as usize];
        &self.transitions[start..start + length as usize]
    }

    fn is_stable(&self, state: u32) -> bool {
        self.row(state).iter().all(|step| step.label != LabelId::TAU)
    }

    fn values(&self, state: u32) -> Vec<Value> {
        self.rows.row(state)
    }

    fn state_count(&self) -> usize {
        self.rows.len()
    }

    fn observe(&mut self, state: u32) -> Option<Observation> {
        self.explicit_observations.then(|| self.explorer.observe(&self.rows.row(state)))
    }

    fn carried(&self, state: u32, step: usize) -> Option<(u32, &[u32])> {
        let number = self.carried[self.ranges[state as usize].0 + step];
        Some((number, &self.elements[number as usize]))
    }
}

/// Looks for a witness.
pub(crate) fn search<V: Visited>(
    searched: &Searched<'_>,
    visited: V,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let Searched { product, implementation, pairs, quotient, symmetry } = searched;
    let (system, normal_form) = (product.implementation(), product.normal_form());
    let mut graph = Representatives::new(system, *implementation, symmetry, control)?;
    let carrier = Some(Carrier::new(pairs));
    let mut search = ProductSearch::new(normal_form, &mut graph, options.model, visited, carrier, control, statistics);
    let found = search.run(options.search)?;
    let Some(found) = found else {
        drop(search);
        statistics.implementation_states = graph.state_count() as u64;
        return control.check().map(|()| None);
    };
    // Along the pairs, as rows of the product.
    let (pair, last) = match found {
        Found::Event { pair, label, target } => (pair, Some((label, target))),
        Found::Acceptance { pair, .. } | Found::Divergence { pair } => (pair, None),
    };
    let diverges = matches!(found, Found::Divergence { .. });
    let pairs = search.pairs_to(pair);
    drop(search);
    let row = |node: Value, state: u32| {
        let mut row = vec![node];
        row.extend(graph.values(state));
        row
    };
    let mut steps: Vec<TakenStep> =
        pairs.iter().map(|pair| TakenStep { label: pair.label, row: row(pair.node.0, pair.state) }).collect();
    let start = steps.remove(0).row;
    steps.extend(last.map(|(label, target)| TakenStep { label, row: row(product.forbidden(), target) }));
    statistics.implementation_states = graph.state_count() as u64;
    let path = quotient.unwind(&Path { start, steps })?;
    if !diverges || system.observations() == Observations::Explicit {
        return Ok(Some(parallel::witness(product, path, Vec::new(), options.model)));
    }
    let mut path = parallel::of_implementation(&path);
    let mut graph = OnTheFly::new(system, control)?;
    let state = graph.enter(path.last())?;
    let (stem, cycle) = Divergence::new().lasso(state, &mut Taus(&mut graph), control)?;
    let taken = |state: u32| TakenStep { label: LabelId::TAU, row: graph.values(state) };
    path.steps.extend(stem.into_iter().map(taken));
    Ok(Some(Witness::Lasso { path, cycle: cycle.into_iter().map(taken).collect() }))
}
