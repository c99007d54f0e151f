//! Determinism: is there a trace after which some event can be done and can be refused?
//!
//! In three stages, each of which may answer.
//!
//! 1. *On the fly*: the sets of states that traces lead to, shortest traces first. A set is judged by all events that
//!    its states have and all refusals of its stable states. This stage finds short witnesses, and gives up after
//!    [`NEAR`] states, counted in every set that they are in.
//! 2. In failures-divergences, a search for a divergence.
//! 3. *The whole system*, minimised modulo divergence-preserving branching bisimulation, which preserves determinism.
//!    Without divergence that decides: any two states after one trace of a deterministic system are bisimilar, because
//!    each `τ` leads to a stable state that cannot refuse what the other does; so the system is deterministic exactly
//!    when the quotient has no `τ` and no two transitions with one label from one state. Otherwise pairs of states of
//!    the quotient that one trace leads to are searched, shortest traces first: at most the square of its states, where
//!    the sets of the first stage could be exponentially many.
//!
//! All three are independent of the number of threads. No choice is resolved arbitrarily: a witness is as short as one
//! can be. In failures-divergences that is the shorter one of a divergence and of two runs, and a divergence where both
//! are equally long; only where the search for two runs that are shorter than a divergence takes more than [`PAIRS`]
//! pairs, the divergence is taken. Under symmetries the rule is the same ([`reduced`]).

use std::collections::{HashMap, HashSet};

use trefoil_control::{Control, Stopped};
use trefoil_lts::Lts;
use trefoil_lts::divergence::Divergence;
use trefoil_symmetry::Strategy;
use trefoil_system::{Cut, LabelId, Model, System, TakenStep, Witness};

use crate::follow::{Follower, path};
use crate::implementation::{Explicit, Graph, OnTheFly, Taus, explore_counting};
use crate::levels::{self, Observed};
use crate::preprocess;
use crate::reduction::{self, Unreduced};
use crate::statistics::Statistics;
use crate::twice;

/// How many states the first stage visits.
pub(crate) const NEAR: usize = 1 << 20;

/// How many pairs are searched for two runs that are shorter than a known divergence.
pub(crate) const PAIRS: usize = 1 << 22;

/// After this trace this event can be done and can be refused.
struct Disagreement {
    trace: Vec<LabelId>,
    event: LabelId,
}

/// Searches a witness that the system is not deterministic; the first stage visits no more than `limit` states.
pub(crate) fn search(
    system: &dyn System,
    model: Model,
    limit: usize,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    let mut graph = OnTheFly::new(system, control)?;
    let divergences = model.observes_divergence();
    let near = near(&mut graph, divergences, limit, control);
    statistics.states = graph.state_count() as u64;
    let judged = match near? {
        Near::Found(found) => return two_runs(&mut graph, &found, control).map(Some),
        Near::Diverges(trace) => return diverging_run(&mut graph, &trace, control).map(Some),
        Near::Nothing => return Ok(None),
        Near::TooLarge { judged } => judged,
    };
    if divergences {
        let observed = Observed { deadlock: false, divergence: true };
        let divergence = levels::search(system, None, observed, threads, control, statistics)?;
        if let Some(divergence) = divergence {
            let length = divergence.length();
            let shorter = match length > judged {
                true => far(&mut graph, Some(Bounds { length, pairs: PAIRS }), control)?,
                false => None,
            };
            return match shorter {
                Some(found) => two_runs(&mut graph, &found, control).map(Some),
                None => Ok(Some(divergence)),
            };
        }
    }
    let found = if system.observations().carries_acceptances() {
        far(&mut graph, None, control)?
    } else {
        drop(graph);
        let whole = preprocess::collect(system, threads, control)?;
        statistics.states = whole.state_count() as u64;
        statistics.transitions = whole.transition_count() as u64;
        let smaller = preprocess::smaller(&whole, control)?;
        drop(whole);
        graph = OnTheFly::new(system, control)?;
        if is_deterministic(&smaller) { None } else { far(&mut Explicit::new(&smaller), None, control)? }
    };
    found.map(|found| two_runs(&mut graph, &found, control)).transpose()
}

/// The same by symmetries: a divergence first, which also counts the states; then [`crate::twice`], up to the length of
/// the divergence.
pub(crate) fn reduced(
    system: &dyn System,
    model: Model,
    strategy: &'static Strategy,
    threads: usize,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Unreduced> {
    let action = reduction::action(system)?;
    if system.observations().carries_acceptances() {
        return Err(Unreduced::refused(
            "the determinism of a system that carries acceptances of its own is not decided by its symmetries",
        ));
    }
    let symmetry = reduction::prepare(action, strategy, control, statistics)?;
    let quotient = reduction::quotient(system, &symmetry, control)?;
    let observed = Observed { deadlock: false, divergence: true };
    let divergence = levels::search(system, Some(&quotient), observed, threads, control, statistics)?;
    if divergence.is_some() && !model.observes_divergence() {
        return Err(Unreduced::refused(
            "the determinism of a system that diverges is decided by its symmetries only in [FD]",
        ));
    }
    let bounds = divergence.as_ref().map(|divergence| Bounds { length: divergence.length(), pairs: PAIRS });
    let found = twice::search(system, action, &symmetry, bounds, threads, control)?;
    let Some((trace, event)) = found else { return Ok(divergence) };
    let mut graph = OnTheFly::new(system, control)?;
    Ok(Some(two_runs(&mut graph, &Disagreement { trace, event }, control)?))
}

/// Bounds of the search for pairs.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Only traces that are shorter.
    pub(crate) length: usize,
    /// No more pairs.
    pub(crate) pairs: usize,
}

/// What the first stage found.
enum Near {
    Found(Disagreement),
    /// After this trace there is a divergence.
    Diverges(Vec<LabelId>),
    /// It visited everything.
    Nothing,
    /// It was given up; shorter traces than this are judged.
    TooLarge {
        judged: usize,
    },
}

/// A set of states that a trace leads to.
struct Set {
    states: Box<[u32]>,
    from: usize,
    event: LabelId,
    /// The length of the trace.
    length: usize,
}

/// The trace to a set.
fn trace_to(sets: &[Set], mut here: usize) -> Vec<LabelId> {
    let mut trace = Vec::new();
    while here != 0 {
        trace.push(sets[here].event);
        here = sets[here].from;
    }
    trace.reverse();
    trace
}

/// The first stage; of each length, divergences come before disagreements, if they matter.
fn near<G: Graph>(graph: &mut G, divergences: bool, limit: usize, control: &Control) -> Result<Near, Cut> {
    let mut known: HashSet<Box<[u32]>, foldhash::fast::FixedState> = HashSet::default();
    let mut sets: Vec<Set> = Vec::new();
    let mut divergence = Divergence::new();
    let mut total = 0;
    let Some(initial) = closure(graph, vec![graph.initial()], limit, control)? else {
        return Ok(Near::TooLarge { judged: 0 });
    };
    total += initial.len();
    known.insert(initial.clone());
    sets.push(Set { states: initial, from: 0, event: LabelId::TAU, length: 0 });
    let mut at = 0;
    // The sets before this one have no divergence.
    let mut finite = 0;
    while at < sets.len() {
        control.check()?;
        let length = sets[at].length;
        while divergences && finite < sets.len() && sets[finite].length == length {
            for &state in &sets[finite].states {
                if diverges(graph, state, &mut divergence, control)? {
                    return Ok(Near::Diverges(trace_to(&sets, finite)));
                }
            }
            finite += 1;
        }
        let mut after: HashMap<LabelId, Vec<u32>, foldhash::fast::FixedState> = HashMap::default();
        for &state in &sets[at].states {
            for step in graph.row(state).iter().filter(|step| step.label.is_visible()) {
                after.entry(step.label).or_default().push(step.target.0);
            }
        }
        let mut after: Vec<(LabelId, Vec<u32>)> = after.into_iter().collect();
        after.sort_unstable_by_key(|&(label, _)| label);
        for &state in &sets[at].states {
            for accepted in graph.acceptances(state)? {
                let refused = after.iter().find(|(label, _)| accepted.binary_search(label).is_err());
                if let Some(&(event, _)) = refused {
                    return Ok(Near::Found(Disagreement { trace: trace_to(&sets, at), event }));
                }
            }
        }
        for (event, targets) in after {
            let Some(states) = closure(graph, targets, limit, control)? else {
                return Ok(Near::TooLarge { judged: length });
            };
            total += states.len();
            if total > limit {
                return Ok(Near::TooLarge { judged: length });
            }
            if known.insert(states.clone()) {
                sets.push(Set { states, from: at, event, length: length + 1 });
            }
        }
        at += 1;
    }
    Ok(Near::Nothing)
}

/// Does a state diverge, by what it says itself or by its steps?
fn diverges<G: Graph>(graph: &mut G, state: u32, divergence: &mut Divergence, control: &Control) -> Result<bool, Cut> {
    match graph.says_that_it_diverges(state)? {
        Some(diverges) => Ok(diverges),
        None => divergence.diverges(state, &mut Taus(graph), control),
    }
}

/// The states and what `τ` leads to, ascending, all explored; `None` when they are too many.
fn closure<G: Graph>(
    graph: &mut G,
    mut states: Vec<u32>,
    limit: usize,
    control: &Control,
) -> Result<Option<Box<[u32]>>, Cut> {
    states.sort_unstable();
    states.dedup();
    let mut seen: HashSet<u32, foldhash::fast::FixedState> = states.iter().copied().collect();
    let mut done = 0;
    while done < states.len() {
        let state = states[done];
        done += 1;
        if done > limit {
            return Ok(None);
        }
        control.check()?;
        explore_counting(graph, state, control)?;
        for step in graph.row(state).iter().filter(|step| step.label == LabelId::TAU) {
            if seen.insert(step.target.0) {
                states.push(step.target.0);
            }
        }
    }
    states.sort_unstable();
    Ok(Some(states.into_boxed_slice()))
}

/// Has no state a `τ` or two different targets for one label?
fn is_deterministic(lts: &Lts) -> bool {
    let mut targets = HashMap::<LabelId, u32, foldhash::fast::FixedState>::default();
    lts.states().all(|state| {
        targets.clear();
        lts.outgoing(state)
            .iter()
            .all(|step| step.label.is_visible() && *targets.entry(step.label).or_insert(step.target.0) == step.target.0)
    })
}

/// Two states that one trace leads to; the smaller first.
#[derive(Clone, Copy)]
struct Pair {
    states: (u32, u32),
    from: u32,
    label: LabelId,
}

const ROOT: u32 = u32::MAX;

/// Pairs that were found.
struct Pairs<'a> {
    known: HashSet<(u32, u32), foldhash::fast::FixedState>,
    all: Vec<Pair>,
    control: &'a Control,
}

impl Pairs<'_> {
    fn discover(
        &mut self,
        (left, right): (u32, u32),
        from: u32,
        label: LabelId,
        list: &mut Vec<u32>,
    ) -> Result<(), Stopped> {
        let states = (left.min(right), left.max(right));
        if self.all.len() == self.all.capacity() {
            self.control.check()?;
            self.control.afford(self.all.len() * 2 * (size_of::<Pair>() + 9))?;
        }
        if self.known.insert(states) {
            if self.all.len() >= ROOT as usize {
                return Err(self.control.out_of_numbers());
            }
            let number = self.all.len() as u32;
            self.all.push(Pair { states, from, label });
            list.push(number);
        }
        Ok(())
    }

    fn trace(&self, pair: u32) -> Vec<LabelId> {
        let mut trace = Vec::new();
        let mut here = self.all[pair as usize];
        while here.from != ROOT {
            if here.label.is_visible() {
                trace.push(here.label);
            }
            here = self.all[here.from as usize];
        }
        trace.reverse();
        trace
    }
}

/// The third stage: all pairs, or those within bounds, level by level of visible events.
fn far<G: Graph>(graph: &mut G, bounds: Option<Bounds>, control: &Control) -> Result<Option<Disagreement>, Cut> {
    let mut pairs = Pairs { known: HashSet::default(), all: Vec::new(), control };
    let (mut level, mut next) = (Vec::new(), Vec::new());
    pairs.discover((graph.initial(), graph.initial()), ROOT, LabelId::TAU, &mut level)?;
    let mut length = 0;
    while !level.is_empty() && bounds.is_none_or(|bounds| length < bounds.length) {
        let mut done = 0;
        while done < level.len() {
            let number = level[done];
            done += 1;
            control.check()?;
            if bounds.is_some_and(|bounds| pairs.all.len() > bounds.pairs) {
                return Ok(None);
            }
            let (left, right) = pairs.all[number as usize].states;
            graph.explore(left)?;
            graph.explore(right)?;
            let event = match disagree(graph, left, right)? {
                None => disagree(graph, right, left)?,
                event => event,
            };
            if let Some(event) = event {
                return Ok(Some(Disagreement { trace: pairs.trace(number), event }));
            }
            for step in graph.row(left).iter().filter(|step| step.label == LabelId::TAU) {
                pairs.discover((step.target.0, right), number, step.label, &mut level)?;
            }
            for step in graph.row(right).iter().filter(|step| step.label == LabelId::TAU) {
                pairs.discover((left, step.target.0), number, step.label, &mut level)?;
            }
        }
        for &number in &level {
            let (left, right) = pairs.all[number as usize].states;
            for step in graph.row(left).iter().filter(|step| step.label.is_visible()) {
                for other in graph.row(right).iter().filter(|other| other.label == step.label) {
                    pairs.discover((step.target.0, other.target.0), number, step.label, &mut next)?;
                }
            }
        }
        level.clear();
        std::mem::swap(&mut level, &mut next);
        length += 1;
    }
    Ok(None)
}

/// An event that one state has and the other may refuse.
fn disagree<G: Graph>(graph: &mut G, can: u32, cannot: u32) -> Result<Option<LabelId>, Cut> {
    let acceptances = graph.acceptances(cannot)?;
    let mut events = graph.row(can).iter().map(|step| step.label).filter(|label| label.is_visible());
    Ok(events.find(|event| acceptances.iter().any(|accepted| accepted.binary_search(event).is_err())))
}

/// A run of a trace into a divergence.
fn diverging_run(graph: &mut OnTheFly<'_>, trace: &[LabelId], control: &Control) -> Result<Witness, Cut> {
    let mut follower = Follower::new(graph, control)?;
    for &event in trace {
        assert!(follower.advance(graph, event, control)?, "the trace was walked before");
    }
    let mut divergence = Divergence::new();
    for record in follower.present() {
        let state = follower.state(record);
        if !diverges(graph, state, &mut divergence, control)? {
            continue;
        }
        let mut path = path(graph, &follower.steps(record));
        if graph.says_that_it_diverges(state)?.is_some() {
            return Ok(Witness::Lasso { path, cycle: Vec::new() });
        }
        let (stem, cycle) = divergence.lasso(state, &mut Taus(graph), control)?;
        let taken = |state: u32| TakenStep { label: LabelId::TAU, row: graph.values(state) };
        path.steps.extend(stem.into_iter().map(taken));
        return Ok(Witness::Lasso { path, cycle: cycle.into_iter().map(taken).collect() });
    }
    unreachable!("a state after the trace diverges")
}

/// Both runs of a disagreement, in the system that was given.
fn two_runs(graph: &mut OnTheFly<'_>, found: &Disagreement, control: &Control) -> Result<Witness, Cut> {
    let mut follower = Follower::new(graph, control)?;
    for &event in &found.trace {
        assert!(follower.advance(graph, event, control)?, "what is equivalent has the same traces");
    }
    let (mut can, mut cannot) = (None, None);
    for record in follower.present() {
        let state = follower.state(record);
        if cannot.is_none() {
            let acceptances = graph.acceptances(state)?;
            let refusing = acceptances.into_iter().find(|accepted| accepted.binary_search(&found.event).is_err());
            cannot = refusing.map(|accepted| (path(graph, &follower.steps(record)), accepted));
        }
        if can.is_none()
            && let Some(step) = graph.row(state).iter().find(|step| step.label == found.event)
        {
            let mut steps = follower.steps(record);
            steps.push((found.event, step.target.0));
            can = Some(path(graph, &steps));
        }
    }
    let can = can.expect("what is equivalent has the same events");
    let (cannot, accepted) = cannot.expect("what is equivalent has the same refusals");
    Ok(Witness::TwoRuns { can, cannot, accepted })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_lts::Glts;
    use trefoil_system::Labels;
    use trefoil_system::replay::replay_determinism;
    use trefoil_testkit::properties::{shortest_divergence, shortest_nondeterminism};
    use trefoil_testkit::{Random, RandomShape, random_lts, seed};

    use super::*;

    /// With limits small enough for every stage to decide.
    #[test]
    fn every_stage_agrees_with_the_definitions() {
        let seed = seed();
        println!("TREFOIL_SEED={seed}");
        let control = Control::unlimited();
        let mut deterministic = 0;
        for number in 0..6000 {
            let mut random = Random::new(seed.wrapping_add(number));
            let states = 1 + random.below(8);
            let shape = RandomShape {
                states: states as u32,
                transitions: states + random.below(states + 1),
                labels: 1 + random.below(3),
                tau_percent: [0, 10, 30][random.below(3)],
            };
            let lts = random_lts(&Arc::new(Labels::new()), shape, &mut random);
            let (nondeterminism, divergence) = (shortest_nondeterminism(&lts), shortest_divergence(&lts));
            let glts = Glts::from_lts(lts.clone(), &control).unwrap();
            for system in [&lts as &dyn System, &glts] {
                for limit in [0, 1, 3, 10] {
                    let check = |model| {
                        let witness = search(system, model, limit, 1, &control, &mut Statistics::default()).unwrap();
                        if let Some(witness) = &witness {
                            replay_determinism(system, model, witness, &control).expect("a witness replays");
                        }
                        witness.map(|witness| witness.length())
                    };
                    assert_eq!(check(Model::Failures), nondeterminism, "system {number} limit {limit} {lts:?}");
                    let expected = nondeterminism.into_iter().chain(divergence).min();
                    let found = check(Model::FailuresDivergences);
                    assert_eq!(found, expected, "system {number} limit {limit} {lts:?}");
                    deterministic += usize::from(found.is_none());
                }
            }
        }
        println!("{deterministic} of 48000 are deterministic");
        assert!((5_000..43_000).contains(&deterministic), "too one-sided: {deterministic}");
    }
}
