//! Searching among representatives pair by pair: antichains and depth-first searches under symmetries.
//!
//! The states of the implementation are replaced by representatives when they are found, once for each step and not
//! once for each pair, and the element that did it is kept with the step (each element is stored once). A
//! representative is paired with the image of the specification's node under the same element, which is remembered for
//! each node and element. This is definition 17 of Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*
//! (2019), exactly: the state alone determines the element.
//!
//! A witness is unwound in the product, where the node determines which of several steps with one label and one
//! representative was meant. A divergence is searched again from the real state at the end of the run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use trefoil_control::Control;
use trefoil_lts::NodeId;
use trefoil_lts::divergence::Divergence;
use trefoil_symmetry::{Quotient, Reducer, Symmetry};
use trefoil_system::{Action, Actor, Cut, LabelId, Path, System, TakenStep, Value, Witness};

use crate::acting::ProductAction;
use crate::implementation::{Graph, Numbered, OnTheFly, Reaching, Taus};
use crate::search::{Found, ProductSearch};
use crate::statistics::Statistics;
use crate::visited::Visited;
use crate::{Options, parallel};

/// What is searched.
pub(crate) struct Searched<'a> {
    pub(crate) product: &'a parallel::Product<'a>,
    /// The action on the implementation.
    pub(crate) implementation: &'a dyn Action,
    /// The action on pairs; only their implementation is drawn.
    pub(crate) pairs: &'a ProductAction<'a>,
    /// The quotient by it.
    pub(crate) quotient: &'a Quotient<'a>,
    pub(crate) symmetry: &'a Symmetry,
}

/// How many images of nodes are remembered before all are forgotten.
const MOST_REMEMBERED: usize = 1 << 20;

/// Carries nodes along with representatives.
pub(crate) struct Carrier<'a> {
    actor: Box<dyn Actor + 'a>,
    known: HashMap<(u32, u32), NodeId, foldhash::fast::FixedState>,
}

impl<'a> Carrier<'a> {
    fn new(pairs: &'a ProductAction<'a>, control: &'a Control) -> Carrier<'a> {
        Carrier { actor: pairs.actor(control), known: HashMap::default() }
    }

    /// The image of a node under an element; `number` is the element's.
    pub(crate) fn carry(&mut self, node: NodeId, number: u32, element: &[u32]) -> Result<NodeId, Cut> {
        let Carrier { actor, known } = self;
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        Ok(match known.entry((node.0, number)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => *place.insert(NodeId(actor.apply_to_slot(element, 0, node.0)?.1)),
        })
    }
}

/// Rows are replaced by their representatives.
struct ByRepresentatives<'a> {
    reducer: Reducer<'a>,
    control: &'a Control,
    /// For each transition, the number of the element that carried its target.
    carried: Vec<u32>,
    elements: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>,
}

impl Reaching for ByRepresentatives<'_> {
    fn reached<'r>(&'r mut self, row: &'r [Value]) -> Result<&'r [Value], Cut> {
        let ByRepresentatives { reducer, control, carried, elements, numbers } = self;
        let reduced = reducer.reduce(row)?;
        let number = match numbers.get(reduced.element) {
            Some(&known) => known,
            None => {
                if elements.len() == elements.capacity() {
                    // Each is stored twice.
                    control.afford(elements.len() * 2 * (2 * size_of_val(reduced.element) + 64))?;
                }
                let number = elements.len() as u32;
                elements.push(reduced.element.into());
                numbers.insert(reduced.element.into(), number);
                number
            }
        };
        carried.push(number);
        Ok(reduced.row)
    }

    fn carried(&self, step: usize) -> Option<(u32, &[u32])> {
        let number = self.carried[step];
        Some((number, &self.elements[number as usize]))
    }

    fn forget(&mut self, step: usize) {
        self.carried.truncate(step);
    }

    fn bytes(&self) -> usize {
        size_of::<u32>()
    }
}

/// The representatives of a system, numbered as they are found.
fn representatives<'a>(
    system: &'a dyn System,
    action: &'a dyn Action,
    symmetry: &'a Symmetry,
    control: &'a Control,
) -> Result<Numbered<'a, ByRepresentatives<'a>>, Cut> {
    let mut reducer = Reducer::new(action, symmetry, control);
    let initial = reducer.reduce(&system.initial(control)?)?.row.to_vec();
    let (carried, elements, numbers) = (Vec::new(), Vec::new(), HashMap::default());
    let reaching = ByRepresentatives { reducer, control, carried, elements, numbers };
    Ok(Numbered::starting(system, &initial, reaching, control)?)
}

/// Searches a witness.
pub(crate) fn search<V: Visited>(
    searched: &Searched<'_>,
    visited: V,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    let Searched { product, implementation, pairs, quotient, symmetry } = searched;
    let (system, normal_form) = (product.implementation(), product.normal_form());
    let mut graph = representatives(system, *implementation, symmetry, control)?;
    let carrier = Some(Carrier::new(pairs, control));
    let mut search = ProductSearch::new(normal_form, &mut graph, options.model, visited, carrier, control, statistics);
    let found = search.run(options.search)?;
    let Some(found) = found else {
        drop(search);
        statistics.implementation_states = graph.state_count() as u64;
        return Ok(None);
    };
    // Along the pairs, as rows of the product.
    let (pair, last) = match found {
        Found::Event { pair, label, target, node } => (pair, Some((label, target, node))),
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
    let by_event = last.is_some();
    steps.extend(last.map(|(label, target, node)| {
        let node = node.map_or(product.forbidden(), |node| node.0);
        TakenStep { label, row: row(node, target) }
    }));
    statistics.implementation_states = graph.state_count() as u64;
    let path = quotient.unwind(&Path { start, steps }, control)?;
    if !diverges || system.observations().carries_divergence() {
        return parallel::witness(product, path, Vec::new(), by_event, options.model, control).map(Some);
    }
    let mut path = parallel::of_implementation(&path);
    let mut graph = OnTheFly::new(system, control)?;
    let state = graph.enter(path.last())?;
    let (stem, cycle) = Divergence::new().lasso(state, &mut Taus(&mut graph), control)?;
    let taken = |state: u32| TakenStep { label: LabelId::TAU, row: graph.values(state) };
    path.steps.extend(stem.into_iter().map(taken));
    Ok(Some(Witness::Lasso { path, cycle: cycle.into_iter().map(taken).collect() }))
}
