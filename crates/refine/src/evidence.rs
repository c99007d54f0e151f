//! From a pair that the search stopped at to a run of the implementation.

use trefoil_control::Control;
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{LazyNormalForm, NodeId, Scratch};
use trefoil_system::replay::{ObservedEvent, observed_events};
use trefoil_system::{Cut, Failure, LabelId, Model, System, TakenStep, Witness};

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
        Found::Event { pair, label, target, .. } => {
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
pub(crate) struct Violation {
    /// The events, with what stable states before them accept where that is observed.
    trace: Vec<ObservedEvent>,
    /// Where the specification is after the trace.
    node: NodeId,
    kind: Kind,
}

enum Kind {
    Event(ObservedEvent),
    Acceptance,
    Divergence,
}

impl Violation {
    /// What a witness of an implementation shows.
    pub(crate) fn new(
        witness: &Witness,
        normal_form: &LazyNormalForm,
        implementation: &dyn System,
        model: Model,
        control: &Control,
    ) -> Result<Violation, Cut> {
        let mut trace = observed_events(implementation, witness, model, control)?;
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
        for ObservedEvent { accepted, event } in &trace {
            if let Some(accepted) = accepted {
                let within = normal_form.within(node, accepted, &mut scratch, control)?;
                node = within.expect("only the last refusal is missing in the specification");
            }
            let next = normal_form.successor(node, *event, &mut scratch, control)?;
            node = next.expect("only the last event is missing in the specification");
        }
        Ok(Violation { trace, node, kind })
    }

    /// Shows in another implementation what was shown in one that is divergence-preserving branching bisimilar to it,
    /// by following the trace there, with the same refusals where they are observed. `None` when it is not there, which
    /// is a bug in the equivalence of the two.
    pub(crate) fn transfer<G: Graph>(
        &self,
        normal_form: &LazyNormalForm,
        graph: &mut G,
        control: &Control,
    ) -> Result<Option<Witness>, Cut> {
        let mut divergence = Divergence::new();
        let mut follower = Follower::new(graph, control)?;
        for ObservedEvent { accepted, event } in &self.trace {
            let before = |graph: &G, state: u32| accepts(graph, state, accepted.as_deref());
            if !follower.advance_from(graph, *event, before, control)? {
                return Ok(None);
            }
        }
        for record in follower.present() {
            control.check()?;
            let shown = self.shown(normal_form, graph, &mut divergence, &follower, record, control)?;
            if shown.is_some() {
                return Ok(shown);
            }
        }
        Ok(None)
    }

    /// The witness, if the violation is in the state of this record.
    fn shown<G: Graph>(
        &self,
        normal_form: &LazyNormalForm,
        graph: &mut G,
        divergence: &mut Divergence,
        follower: &Follower,
        record: usize,
        control: &Control,
    ) -> Result<Option<Witness>, Cut> {
        let steps = || follower.steps(record);
        let state = follower.state(record);
        match &self.kind {
            Kind::Event(ObservedEvent { accepted, event }) => {
                if !accepts(graph, state, accepted.as_deref()) {
                    return Ok(None);
                }
                let Some(&step) = graph.row(state).iter().find(|step| step.label == *event) else { return Ok(None) };
                let mut steps = steps();
                steps.push((*event, step.target.0));
                Ok(Some(Witness::Path { path: path(graph, &steps), failure: Failure::Event }))
            }
            Kind::Acceptance => {
                let Some(accepted) = stable_offers(graph, state) else { return Ok(None) };
                if normal_form.allows(self.node, |label| accepted.binary_search(&label).is_ok()) {
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
}

/// What a state that was explored offers, ascending, if it is stable.
fn stable_offers<G: Graph>(graph: &G, state: u32) -> Option<Vec<LabelId>> {
    if !graph.is_stable(state) {
        return None;
    }
    let mut accepted: Vec<LabelId> = graph.row(state).iter().map(|step| step.label).collect();
    accepted.sort_unstable();
    accepted.dedup();
    Some(accepted)
}

/// Is a state that was explored stable, and does it offer exactly what is given, if something is?
fn accepts<G: Graph>(graph: &G, state: u32, accepted: Option<&[LabelId]>) -> bool {
    accepted.is_none_or(|accepted| stable_offers(graph, state).as_deref() == Some(accepted))
}

/// Does a state diverge, by its own mark or by its transitions?
pub(crate) fn diverges<G: Graph>(
    graph: &mut G,
    divergence: &mut Divergence,
    state: u32,
    control: &Control,
) -> Result<bool, Cut> {
    match graph.says_that_it_diverges(state)? {
        Some(diverges) => Ok(diverges),
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
    if graph.says_that_it_diverges(state)?.is_some() {
        return Ok(Witness::Lasso { path: path(graph, &steps), cycle: Vec::new() });
    }
    let (stem, cycle) = divergence.lasso(state, &mut Taus(graph), control)?;
    steps.extend(stem.into_iter().map(|state| (LabelId::TAU, state)));
    let cycle = cycle.into_iter().map(|state| TakenStep { label: LabelId::TAU, row: graph.values(state) }).collect();
    Ok(Witness::Lasso { path: path(graph, &steps), cycle })
}
