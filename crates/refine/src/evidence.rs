//! From a pair that the search stopped at to a run of the implementation.

use std::collections::HashSet;

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{LazyNormalForm, NodeId, Scratch};
use trefoil_system::{Failure, LabelId, Path, TakenStep, Value, Witness};

use crate::implementation::{Graph, Taus};
use crate::search::{Found, ProductSearch};
use crate::visited::Visited;

/// The witness that a search found, in the implementation that it searched.
pub(crate) fn witness<G: Graph, V: Visited>(
    search: &mut ProductSearch<'_, G, V>,
    found: Found,
    control: &Control,
) -> Result<Witness, Stopped> {
    match found {
        Found::Event { pair, label, target } => {
            let mut steps = search.path(pair);
            steps.push((label, target));
            Ok(Witness::Path { path: path(search.graph, &steps), failure: Failure::Event })
        }
        Found::Acceptance { pair, accepted } => {
            let path = path(search.graph, &search.path(pair));
            Ok(Witness::Path { path, failure: Failure::Acceptance(accepted) })
        }
        Found::Divergence { pair } => {
            let steps = search.path(pair);
            let state = search.pair(pair).state;
            lasso(search.graph, &mut search.divergence, steps, state, control)
        }
    }
}

/// What is wrong after a trace, without the run that shows it.
struct Violation {
    trace: Vec<LabelId>,
    /// Where the specification is after the trace.
    node: NodeId,
    kind: Kind,
}

enum Kind {
    Event(LabelId),
    Acceptance,
    Divergence,
}

impl Violation {
    fn new(witness: &Witness, normal_form: &LazyNormalForm, control: &Control) -> Result<Violation, Stopped> {
        let mut trace: Vec<LabelId> = witness.path().trace().collect();
        let kind = match witness {
            Witness::Path { failure: Failure::Event, .. } => {
                Kind::Event(trace.pop().expect("the last step is the event"))
            }
            Witness::Path { failure: Failure::Acceptance(_), .. } => Kind::Acceptance,
            Witness::Lasso { .. } => Kind::Divergence,
        };
        let mut scratch = Scratch::default();
        let mut node = normal_form.initial();
        for &event in &trace {
            let next = normal_form.successor(node, event, &mut scratch, control)?;
            node = next.expect("only the last event is missing in the specification");
        }
        Ok(Violation { trace, node, kind })
    }
}

/// Shows in another implementation what a witness shows in one with the same traces, failures and divergences, by following
/// its trace there. `None` when it is not there, which is a bug in whatever said that the two are alike.
pub(crate) fn transfer<G: Graph>(
    witness: &Witness,
    normal_form: &LazyNormalForm,
    graph: &mut G,
    control: &Control,
) -> Result<Option<Witness>, Stopped> {
    let violation = &Violation::new(witness, normal_form, control)?;
    let mut divergence = Divergence::new();
    let mut records: Vec<(u32, usize, LabelId)> = vec![(graph.initial(), usize::MAX, LabelId::TAU)];
    let mut first = 0;
    for position in 0..=violation.trace.len() {
        let mut seen: HashSet<u32, foldhash::fast::FixedState> =
            records[first..].iter().map(|&(state, ..)| state).collect();
        let mut next: Vec<(u32, usize, LabelId)> = Vec::new();
        let mut here = first;
        while here < records.len() {
            let (state, ..) = records[here];
            graph.explore(state)?;
            control.check()?;
            if position == violation.trace.len()
                && let Some(witness) = shown(violation, normal_form, graph, &mut divergence, &records, here, control)?
            {
                return Ok(Some(witness));
            }
            for step in graph.row(state) {
                if step.label == LabelId::TAU {
                    if seen.insert(step.target.0) {
                        records.push((step.target.0, here, step.label));
                    }
                } else if violation.trace.get(position) == Some(&step.label) {
                    next.push((step.target.0, here, step.label));
                }
            }
            here += 1;
        }
        next.sort_by_key(|&(state, ..)| state);
        next.dedup_by_key(|&mut (state, ..)| state);
        first = records.len();
        records.append(&mut next);
    }
    Ok(None)
}

/// The witness, if the violation is in the state of this record.
fn shown<G: Graph>(
    violation: &Violation,
    normal_form: &LazyNormalForm,
    graph: &mut G,
    divergence: &mut Divergence,
    records: &[(u32, usize, LabelId)],
    record: usize,
    control: &Control,
) -> Result<Option<Witness>, Stopped> {
    let steps = || {
        let mut steps = Vec::new();
        let mut here = record;
        while records[here].1 != usize::MAX {
            steps.push((records[here].2, records[here].0));
            here = records[here].1;
        }
        steps.reverse();
        steps
    };
    let (state, ..) = records[record];
    match violation.kind {
        Kind::Event(label) => {
            let Some(&step) = graph.row(state).iter().find(|step| step.label == label) else { return Ok(None) };
            let mut steps = steps();
            steps.push((label, step.target.0));
            Ok(Some(Witness::Path { path: path(graph, &steps), failure: Failure::Event }))
        }
        Kind::Acceptance => {
            if !graph.is_stable(state) {
                return Ok(None);
            }
            let mut accepted: Vec<LabelId> = graph.row(state).iter().map(|step| step.label).collect();
            accepted.sort_unstable();
            accepted.dedup();
            if normal_form.allows(violation.node, |label| accepted.binary_search(&label).is_ok()) {
                return Ok(None);
            }
            Ok(Some(Witness::Path { path: path(graph, &steps()), failure: Failure::Acceptance(accepted) }))
        }
        Kind::Divergence => {
            if !divergence.diverges(state, &mut Taus(graph), control)? {
                return Ok(None);
            }
            lasso(graph, divergence, steps(), state, control).map(Some)
        }
    }
}

/// A run into a state that diverges, and around.
pub(crate) fn lasso<G: Graph>(
    graph: &mut G,
    divergence: &mut Divergence,
    mut steps: Vec<(LabelId, u32)>,
    state: u32,
    control: &Control,
) -> Result<Witness, Stopped> {
    if graph.observe(state).is_some() {
        return Ok(Witness::Lasso { path: path(graph, &steps), cycle: Vec::new() });
    }
    let (stem, cycle) = divergence.lasso(state, &mut Taus(graph), control)?;
    steps.extend(stem.into_iter().map(|state| (LabelId::TAU, state)));
    let cycle = cycle.into_iter().map(|state| TakenStep { label: LabelId::TAU, row: graph.values(state) }).collect();
    Ok(Witness::Lasso { path: path(graph, &steps), cycle })
}

fn path<G: Graph>(graph: &mut G, steps: &[(LabelId, u32)]) -> Path {
    let initial = graph.initial();
    let start: Vec<Value> = graph.values(initial);
    Path { start, steps: steps.iter().map(|&(label, state)| TakenStep { label, row: graph.values(state) }).collect() }
}
