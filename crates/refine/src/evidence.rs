//! From a pair that the search stopped at to a run of the implementation.

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{LazyNormalForm, NodeId, Scratch};
use trefoil_system::{Cut, Failure, LabelId, TakenStep, Witness};

use crate::follow::{Follower, path};
use crate::implementation::{Graph, Taus};
use crate::search::{Found, ProductSearch};
use crate::visited::Visited;

/// The witness that a search found, in the implementation that it searched.
pub(crate) fn witness<G: Graph, V: Visited>(
    search: &mut ProductSearch<'_, G, V>,
    found: Found,
    control: &Control,
) -> Result<Witness, Cut> {
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

/// A violation after a trace, without the run that shows it.
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
            _ => unreachable!("a refinement has no other witnesses"),
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

/// Shows in another implementation what a witness shows in one with the same traces, failures and divergences, by
/// following its trace there. `None` when it is not there, which is a bug in the equivalence of the two.
pub(crate) fn transfer<G: Graph>(
    witness: &Witness,
    normal_form: &LazyNormalForm,
    graph: &mut G,
    control: &Control,
) -> Result<Option<Witness>, Cut> {
    let violation = &Violation::new(witness, normal_form, control)?;
    let mut divergence = Divergence::new();
    let mut follower = Follower::new(graph, control)?;
    for &event in &violation.trace {
        if !follower.advance(graph, event, control)? {
            return Ok(None);
        }
    }
    for record in follower.present() {
        control.check()?;
        let shown = shown(violation, normal_form, graph, &mut divergence, &follower, record, control)?;
        if shown.is_some() {
            return Ok(shown);
        }
    }
    Ok(None)
}

/// The witness, if the violation is in the state of this record.
fn shown<G: Graph>(
    violation: &Violation,
    normal_form: &LazyNormalForm,
    graph: &mut G,
    divergence: &mut Divergence,
    follower: &Follower,
    record: usize,
    control: &Control,
) -> Result<Option<Witness>, Cut> {
    let steps = || follower.steps(record);
    let state = follower.state(record);
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

/// Does a state diverge, by its own mark or by its transitions?
pub(crate) fn diverges<G: Graph>(
    graph: &mut G,
    divergence: &mut Divergence,
    state: u32,
    control: &Control,
) -> Result<bool, Cut> {
    match graph.observe(state)? {
        Some(observation) => Ok(observation.diverges),
        None => divergence.diverges(state, &mut Taus(graph), control),
    }
}

/// A run into a state that diverges, and around its cycle.
pub(crate) fn lasso<G: Graph>(
    graph: &mut G,
    divergence: &mut Divergence,
    mut steps: Vec<(LabelId, u32)>,
    state: u32,
    control: &Control,
) -> Result<Witness, Cut> {
    if graph.observe(state)?.is_some() {
        return Ok(Witness::Lasso { path: path(graph, &steps), cycle: Vec::new() });
    }
    let (stem, cycle) = divergence.lasso(state, &mut Taus(graph), control)?;
    steps.extend(stem.into_iter().map(|state| (LabelId::TAU, state)));
    let cycle = cycle.into_iter().map(|state| TakenStep { label: LabelId::TAU, row: graph.values(state) }).collect();
    Ok(Witness::Lasso { path: path(graph, &steps), cycle })
}
