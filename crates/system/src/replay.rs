//! The replayer: accepts or rejects a witness on the systems themselves, straight from the definitions.
//!
//! It shares no code with any engine and knows no reduction. Sets of states are ordered sets of rows, closures are
//! plain worklists, a divergence is a cycle that is walked. Its cost is the length of the witness times the number of
//! specification states that one trace can lead to; it is run once per failed check.

mod properties;
mod temporal;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use trefoil_control::Control;

use crate::cut::Cut;
use crate::labels::LabelId;
use crate::layout::Value;
use crate::transitions::{Explorer, Observation, Observations, System};
use crate::witness::{Failure, Model, Path, TakenStep, Witness};

pub use properties::{replay_deadlock, replay_determinism, replay_divergence, replay_has_trace, replay_run};
pub use temporal::{CycleStep, LassoWord, replay_agents, replay_lasso, replay_prefix};

/// Why a witness was not accepted. Except for a budget, it is a bug in the engine that made the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The run does not start in the initial state.
    WrongStart,
    /// The system has no such step; counted from 0, the cycle of a lasso after its path.
    NoSuchStep(usize),
    /// The cycle of a lasso has a visible event, or does not return to its first state.
    NoCycle,
    /// The last state does not behave as the witness says.
    WrongEnd,
    /// The specification allows what the witness shows.
    Allowed,
    /// The kind of failure does not exist in this model, or is none of this check.
    NotInModel,
    /// A walk of the replay was cut: time or memory did not suffice.
    Cut(Cut),
}

impl<C: Into<Cut>> From<C> for Rejection {
    fn from(cut: C) -> Rejection {
        Rejection::Cut(cut.into())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::WrongStart => write!(f, "the run does not start in the initial state"),
            Rejection::NoSuchStep(index) => write!(f, "step {index} is not a step of the system"),
            Rejection::NoCycle => write!(f, "the cycle is not a cycle of internal steps"),
            Rejection::WrongEnd => write!(f, "the last state does not behave as stated"),
            Rejection::Allowed => write!(f, "the specification allows it"),
            Rejection::NotInModel => write!(f, "the model does not observe this"),
            Rejection::Cut(Cut::Wrong(wrong) | Cut::Beyond(wrong)) => wrong.fmt(f),
            Rejection::Cut(_) => write!(f, "the replay was stopped"),
        }
    }
}

impl std::error::Error for Rejection {}

/// Walks a run step by step.
pub fn replay_path(system: &dyn System, path: &Path, control: &Control) -> Result<(), Rejection> {
    if path.start != system.initial(control)? {
        return Err(Rejection::WrongStart);
    }
    walk(system, &path.start, &path.steps, 0, control)
}

fn walk(
    system: &dyn System,
    from: &[Value],
    steps: &[TakenStep],
    offset: usize,
    control: &Control,
) -> Result<(), Rejection> {
    let mut explorer = system.explorer(control);
    let mut here = from;
    for (index, taken) in steps.iter().enumerate() {
        control.check()?;
        let mut found = false;
        Cut::had_enough(explorer.successors(here, &mut |step| {
            found |= step.label == taken.label && step.row == taken.row;
            if found { Err(Cut::Enough) } else { Ok(()) }
        }))?;
        if !found {
            return Err(Rejection::NoSuchStep(offset + index));
        }
        here = &taken.row;
    }
    Ok(())
}

/// Does the witness show that `implementation` does not refine `specification` in `model`?
pub fn replay_refinement(
    specification: &dyn System,
    implementation: &dyn System,
    model: Model,
    witness: &Witness,
    control: &Control,
) -> Result<(), Rejection> {
    let path = witness.path();
    replay_path(implementation, path, control)?;
    match witness {
        Witness::Path { path, failure: Failure::Event } => {
            path.steps.last().filter(|step| step.label.is_visible()).ok_or(Rejection::WrongEnd)?;
        }
        Witness::Path { path, failure: Failure::Acceptance(accepted) }
            if !View::new(implementation, control).accepts(path.last(), accepted)? =>
        {
            return Err(Rejection::WrongEnd);
        }
        Witness::Lasso { path, cycle } => walk_cycle(implementation, path, cycle, control)?,
        _ => {}
    }
    let observed = observed_events(implementation, witness, model, control)?;
    Subset::new(specification, control)?.shows(&observed, model, witness)
}

/// Walks around the cycle of a lasso.
fn walk_cycle(system: &dyn System, path: &Path, cycle: &[TakenStep], control: &Control) -> Result<(), Rejection> {
    if cycle.is_empty() {
        let explicit = system.observations().carries_divergence();
        let diverges = explicit && system.explorer(control).observe(path.last())?.diverges;
        return if diverges { Ok(()) } else { Err(Rejection::NoCycle) };
    }
    walk(system, path.last(), cycle, path.steps.len(), control)?;
    let closed = cycle.last().is_some_and(|step| step.row == path.last());
    let silent = cycle.iter().all(|step| !step.label.is_visible());
    if closed && silent { Ok(()) } else { Err(Rejection::NoCycle) }
}

/// An event of a run, and what the state before it stably accepts (ascending), where that is observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedEvent {
    /// What the state before the event accepts, when it is stable and its refusals are observed.
    pub accepted: Option<Vec<LabelId>>,
    /// The event.
    pub event: LabelId,
}

impl ObservedEvent {
    /// The events of a trace, without refusals.
    pub fn trace(events: &[LabelId]) -> Vec<ObservedEvent> {
        events.iter().map(|&event| ObservedEvent { accepted: None, event }).collect()
    }
}

/// The visible events of the run of a witness, with what stable states before them accept: in refusal testing before
/// all of them, in the revivals model before a forbidden one at the end.
pub fn observed_events(
    system: &dyn System,
    witness: &Witness,
    model: Model,
    control: &Control,
) -> Result<Vec<ObservedEvent>, Cut> {
    let mut view = View::new(system, control);
    let path = witness.path();
    let revives = model.observes_revivals() && matches!(witness, Witness::Path { failure: Failure::Event, .. });
    let (mut observed, mut before) = (Vec::new(), &path.start);
    for (place, step) in path.steps.iter().enumerate() {
        if step.label.is_visible() {
            let last = place + 1 == path.steps.len();
            let refusals = model.observes_refusals_on_the_way() || revives && last;
            let accepted = if refusals { view.acceptances(before)?.pop() } else { None };
            observed.push(ObservedEvent { accepted, event: step.label });
        }
        before = &step.row;
    }
    Ok(observed)
}

/// The events of the run of a witness, with only those refusals on the way that the witness needs: without one of them
/// the specification would allow it. The last event of a run that ends with a forbidden one is among them.
pub fn needed_observations(
    specification: &dyn System,
    implementation: &dyn System,
    model: Model,
    witness: &Witness,
    control: &Control,
) -> Result<Vec<ObservedEvent>, Cut> {
    let mut observed = observed_events(implementation, witness, model, control)?;
    for place in 0..observed.len() {
        let Some(accepted) = observed[place].accepted.take() else { continue };
        let mut spec = Subset::new(specification, control)?;
        match spec.shows(&observed, model, witness) {
            Ok(()) => {}
            Err(Rejection::Cut(cut)) => return Err(cut),
            Err(_) => observed[place].accepted = Some(accepted),
        }
    }
    Ok(observed)
}

/// What a system can do after some events, where refusals on the way are observed: its events, and the acceptances of
/// its stable states, each ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The events of its states.
    pub events: Vec<LabelId>,
    /// The acceptances of its stable states.
    pub acceptances: Vec<Vec<LabelId>>,
}

impl Expected {
    /// Those acceptances that contain an event, if one is given, and no other one that does.
    pub fn minimal(&self, event: Option<LabelId>) -> Vec<Vec<LabelId>> {
        let contains = |set: &&Vec<LabelId>| event.is_none_or(|event| set.binary_search(&event).is_ok());
        let all: Vec<&Vec<LabelId>> = self.acceptances.iter().filter(contains).collect();
        let inside =
            |small: &[LabelId], large: &[LabelId]| small.iter().all(|label| large.binary_search(label).is_ok());
        let minimal = |set: &&&Vec<LabelId>| !all.iter().any(|other| other != *set && inside(other, set));
        all.iter().filter(minimal).map(|set| (*set).clone()).collect()
    }
}

/// What a system can do after some events; `within` is what a stable state that is observed now accepts.
pub fn expected_after(
    system: &dyn System,
    observed: &[ObservedEvent],
    within: Option<&[LabelId]>,
    control: &Control,
) -> Result<Expected, Cut> {
    let mut subset = Subset::new(system, control)?;
    for event in observed {
        subset.observe(event)?;
    }
    if let Some(accepted) = within {
        subset.keep_within(accepted)?;
    }
    let (mut acceptances, mut events) = (BTreeSet::new(), BTreeSet::new());
    for row in subset.rows.clone() {
        control.check()?;
        acceptances.extend(subset.view.acceptances(&row)?);
        events.extend(subset.view.steps(&row)?.into_iter().map(|(label, _)| label).filter(|label| label.is_visible()));
    }
    Ok(Expected { events: events.into_iter().collect(), acceptances: acceptances.into_iter().collect() })
}

/// One system's behaviour as the definitions give it.
struct View<'a> {
    explorer: Box<dyn Explorer + 'a>,
    observations: Observations,
}

impl<'a> View<'a> {
    fn new(system: &'a dyn System, control: &'a Control) -> View<'a> {
        View { explorer: system.explorer(control), observations: system.observations() }
    }

    fn steps(&mut self, row: &[Value]) -> Result<Vec<(LabelId, Vec<Value>)>, Cut> {
        let mut steps = Vec::new();
        self.explorer.successors(row, &mut |step| {
            steps.push((step.label, step.row.to_vec()));
            Ok(())
        })?;
        Ok(steps)
    }

    fn acceptances(&mut self, row: &[Value]) -> Result<Vec<Vec<LabelId>>, Cut> {
        if self.observations.carries_acceptances() {
            let Observation { acceptances, .. } = self.explorer.observe(row)?;
            return Ok(acceptances);
        }
        let offers: BTreeSet<LabelId> = self.steps(row)?.into_iter().map(|(label, _)| label).collect();
        Ok(if offers.contains(&LabelId::TAU) { Vec::new() } else { vec![offers.into_iter().collect()] })
    }

    /// Does a state stably accept this set? Where acceptances are too many to be listed, a part of it will do: what
    /// refuses more shows more.
    fn accepts(&mut self, row: &[Value], accepted: &[LabelId]) -> Result<bool, Cut> {
        if self.observations == Observations::Acceptances {
            let more = |offered: &[LabelId]| offered.iter().any(|label| accepted.binary_search(label).is_err());
            return Ok(self.explorer.accepts_less(row, &mut { more })?.is_some());
        }
        Ok(self.acceptances(row)?.iter().any(|found| found == accepted))
    }
}

/// The states that a specification can be in after a trace, `τ` included.
struct Subset<'a> {
    view: View<'a>,
    control: &'a Control,
    rows: BTreeSet<Vec<Value>>,
}

impl<'a> Subset<'a> {
    fn new(system: &'a dyn System, control: &'a Control) -> Result<Subset<'a>, Cut> {
        let rows = BTreeSet::from([system.initial(control)?]);
        let mut subset = Subset { view: View::new(system, control), control, rows };
        subset.close()?;
        Ok(subset)
    }

    fn close(&mut self) -> Result<(), Cut> {
        let mut work: Vec<Vec<Value>> = self.rows.iter().cloned().collect();
        while let Some(row) = work.pop() {
            self.control.check()?;
            for (label, next) in self.view.steps(&row)? {
                if label == LabelId::TAU && self.rows.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, event: LabelId) -> Result<(), Cut> {
        let mut next = BTreeSet::new();
        for row in &self.rows {
            self.control.check()?;
            next.extend(self.view.steps(row)?.into_iter().filter(|(label, _)| *label == event).map(|(_, row)| row));
        }
        self.rows = next;
        self.close()
    }

    /// Does the specification not allow what a witness shows after these events of its run? That the run ends as the
    /// witness says is not looked at.
    fn shows(&mut self, observed: &[ObservedEvent], model: Model, witness: &Witness) -> Result<(), Rejection> {
        let allowed = match witness {
            Witness::Path { failure: Failure::Event, .. } => {
                let (last, before) = observed.split_last().ok_or(Rejection::WrongEnd)?;
                self.follow(before, model)?;
                self.observe(last)?;
                !self.rows.is_empty()
            }
            Witness::Path { failure: Failure::Acceptance(accepted), .. } if model.observes_refusals() => {
                self.follow(observed, model)?;
                self.allows(accepted)?
            }
            Witness::Lasso { .. } if model.observes_divergence() => {
                self.follow(observed, model)?;
                false
            }
            _ => return Err(Rejection::NotInModel),
        };
        if allowed { Err(Rejection::Allowed) } else { Ok(()) }
    }

    /// Follows events that the specification has and, where divergence is observed, does not diverge on. Where refusals
    /// are observed on the way it may come to an end earlier, which shows more than was claimed.
    fn follow(&mut self, observed: &[ObservedEvent], model: Model) -> Result<(), Rejection> {
        for event in observed {
            if model.observes_divergence() && self.diverges()? {
                return Err(Rejection::Allowed);
            }
            self.observe(event)?;
            if self.rows.is_empty() && !model.observes_refusals_on_the_way() {
                // A shorter run would have been the witness; this one claims something about a state that is not
                // reachable.
                return Err(Rejection::WrongEnd);
            }
        }
        if model.observes_divergence() && self.diverges()? { Err(Rejection::Allowed) } else { Ok(()) }
    }

    /// Takes an event, from the stable states that refuse what was refused before it, if that was observed.
    fn observe(&mut self, event: &ObservedEvent) -> Result<(), Cut> {
        if let Some(accepted) = &event.accepted {
            self.keep_within(accepted)?;
        }
        self.advance(event.event)
    }

    /// Keeps the stable states that accept nothing but these labels.
    fn keep_within(&mut self, accepted: &[LabelId]) -> Result<(), Cut> {
        let mut kept = BTreeSet::new();
        for row in std::mem::take(&mut self.rows) {
            self.control.check()?;
            let mut acceptances = self.view.acceptances(&row)?.into_iter();
            if acceptances.any(|set| set.iter().all(|label| accepted.binary_search(label).is_ok())) {
                kept.insert(row);
            }
        }
        self.rows = kept;
        Ok(())
    }

    fn allows(&mut self, accepted: &[LabelId]) -> Result<bool, Cut> {
        for row in &self.rows {
            self.control.check()?;
            let acceptances = self.view.acceptances(row)?;
            if acceptances.iter().any(|least| least.iter().all(|label| accepted.binary_search(label).is_ok())) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Is there a cycle of `τ` among the rows, which are closed under `τ`? Removes rows without a remaining `τ`.
    fn diverges(&mut self) -> Result<bool, Cut> {
        let rows: Vec<Vec<Value>> = self.rows.iter().cloned().collect();
        if self.view.observations.carries_divergence() {
            for row in &rows {
                if self.view.explorer.observe(row)?.diverges {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let number: BTreeMap<&[Value], usize> =
            rows.iter().enumerate().map(|(index, row)| (row.as_slice(), index)).collect();
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        let mut left: Vec<usize> = vec![0; rows.len()];
        for (index, row) in rows.iter().enumerate() {
            self.control.check()?;
            for (label, next) in self.view.steps(row)? {
                if label == LabelId::TAU {
                    into[number[next.as_slice()]].push(index);
                    left[index] += 1;
                }
            }
        }
        let mut ended: Vec<usize> = (0..rows.len()).filter(|&index| left[index] == 0).collect();
        let mut taken = 0;
        while let Some(index) = ended.pop() {
            taken += 1;
            for &before in &into[index] {
                left[before] -= 1;
                if left[before] == 0 {
                    ended.push(before);
                }
            }
        }
        Ok(taken < rows.len())
    }
}
