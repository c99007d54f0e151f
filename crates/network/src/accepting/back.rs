//! Witnesses of a network with acceptances on states, as witnesses of the network with its `τ`.
//!
//! Before a step every merged participant takes the `τ` that lead to a state with its label; at the end all take those
//! that lead to what was chosen. Loops of merged components become the cycles that they stand for.

use std::collections::{HashMap, VecDeque};

use trefoil_control::{Control, Stopped};
use trefoil_lts::Lts;
use trefoil_lts::divergence::Divergence;
use trefoil_system::{Cut, Failure, LabelId, Path, StateId, System, TakenStep, Value, Witness};

use super::{Accepting, AcceptingExplorer};
use crate::network::Network;

impl Accepting {
    /// The witness as one of the network that it was made from.
    pub fn restored(&self, network: &Network, witness: &Witness, control: &Control) -> Result<Witness, Cut> {
        Ok(match witness {
            Witness::Path { path, failure } => {
                let mut restored = self.restored_path(path, control)?;
                let failure = self.restored_failure(network, &mut restored, failure, control)?;
                Witness::Path { path: restored, failure }
            }
            Witness::Lasso { path, cycle } => self.restored_lasso(path, cycle, control)?,
            Witness::TwoRuns { can, cannot, accepted } => {
                let mut cannot = self.restored_path(cannot, control)?;
                let accepted = self.settle(network, &mut cannot, accepted, control)?;
                Witness::TwoRuns { can: self.restored_path(can, control)?, cannot, accepted }
            }
        })
    }

    /// A run as one of the network that it was made from.
    pub fn restored_path(&self, path: &Path, control: &Control) -> Result<Path, Cut> {
        let mut restored = Path { start: path.start.clone(), steps: Vec::new() };
        self.follow(&path.start, &path.steps, &mut restored.steps, control)?;
        Ok(restored)
    }

    /// Appends what some steps stand for; loops of components are left out.
    fn follow(
        &self,
        from: &[Value],
        steps: &[TakenStep],
        taken: &mut Vec<TakenStep>,
        control: &Control,
    ) -> Result<(), Cut> {
        let mut here = from.to_vec();
        for step in steps {
            control.check()?;
            let Some(explanation) = self.network.explain(&here, step.label, &step.row, control)? else {
                panic!("a run has a step that no rule gives")
            };
            if !matches!(explanation.parts[..], [(component, LabelId::TAU)] if self.merged[component].is_some()) {
                for &(component, label) in &explanation.parts {
                    let Some(merged) = &self.merged[component] else { continue };
                    let silent = silence_before(merged.lts(), here[component], label, step.row[component]);
                    take_silently(&mut here, component, &silent, taken);
                }
                taken.push(step.clone());
            }
            here = step.row.clone();
        }
        Ok(())
    }

    fn restored_failure(
        &self,
        network: &Network,
        path: &mut Path,
        failure: &Failure,
        control: &Control,
    ) -> Result<Failure, Cut> {
        Ok(match failure {
            Failure::Event | Failure::Missing(_) => failure.clone(),
            Failure::Deadlock => {
                self.settle(network, path, &[], control)?;
                Failure::Deadlock
            }
            Failure::Acceptance(accepted) => Failure::Acceptance(self.settle(network, path, accepted, control)?),
            Failure::Refusal { event, accepted } => {
                Failure::Refusal { event: *event, accepted: self.settle(network, path, accepted, control)? }
            }
        })
    }

    /// Appends the `τ` that lead to a stable state that accepts no more than this; the result is what it accepts.
    fn settle(
        &self,
        network: &Network,
        path: &mut Path,
        accepted: &[LabelId],
        control: &Control,
    ) -> Result<Vec<LabelId>, Cut> {
        let mut here = path.last().to_vec();
        let mut more = |offered: &[LabelId]| offered.iter().any(|label| accepted.binary_search(label).is_err());
        let chosen = AcceptingExplorer::new(self, control).choose(&here, &mut more)?;
        let chosen = chosen.expect("the state accepts what the witness says");
        for (component, state) in chosen.states {
            let merged = self.merged[component as usize].as_ref().expect("choices are those of merged components");
            let silent = silence(merged.lts(), here[component as usize], |reached| reached == state);
            take_silently(&mut here, component as usize, &silent, &mut path.steps);
        }
        let mut offered = Vec::new();
        network.explorer(control).successors(&here, &mut |step| {
            offered.push(step.label);
            Ok(())
        })?;
        offered.sort_unstable();
        offered.dedup();
        Ok(offered)
    }

    fn restored_lasso(&self, path: &Path, cycle: &[TakenStep], control: &Control) -> Result<Witness, Cut> {
        let mut restored = self.restored_path(path, control)?;
        let mut around = Vec::new();
        self.follow(path.last(), cycle, &mut around, control)?;
        if !around.is_empty() {
            return Ok(Witness::Lasso { path: restored, cycle: around });
        }
        // All of the cycle are loops of components.
        let Some(step) = cycle.first() else { return Ok(Witness::Lasso { path: restored, cycle: around }) };
        let mut here = path.last().to_vec();
        let explanation = self.network.explain(&here, step.label, &step.row, control)?;
        let Some(&[(component, LabelId::TAU)]) = explanation.as_ref().map(|it| &it.parts[..]) else {
            panic!("only loops of components stand for nothing else")
        };
        let merged =
            self.merged[component].as_ref().expect("loops that stand for cycles are those of merged components");
        let mut divergence = Divergence::new();
        let mut steps = merged.lts();
        let (stem, states) = lasso(&mut divergence, here[component], &mut steps, control)?;
        take_silently(&mut here, component, &stem, &mut restored.steps);
        take_silently(&mut here, component, &states, &mut around);
        Ok(Witness::Lasso { path: restored, cycle: around })
    }
}

/// `τ` into a cycle of `τ`, and around it.
fn lasso(
    divergence: &mut Divergence,
    state: Value,
    steps: &mut &Lts,
    control: &Control,
) -> Result<(Vec<StateId>, Vec<StateId>), Stopped> {
    divergence.diverges(state, steps, control)?;
    let (stem, cycle) = divergence.lasso(state, steps, control)?;
    let states = |states: Vec<u32>| states.into_iter().map(StateId).collect();
    Ok((states(stem), states(cycle)))
}

/// The `τ` before a step with a label, to a state if the label leads there from a state that `τ` reaches; else the step
/// resets the component.
fn silence_before(lts: &Lts, from: Value, label: LabelId, to: Value) -> Vec<StateId> {
    let offers = |state: StateId, target: Option<StateId>| {
        let fits = |step: &&trefoil_lts::Transition| step.label == label && target.is_none_or(|to| step.target == to);
        lts.outgoing(state).iter().any(|step| fits(&step))
    };
    let target = Some(StateId(to));
    find_silence(lts, from, |state| offers(state, target))
        .unwrap_or_else(|| silence(lts, from, |state| offers(state, None)))
}

/// The states of a shortest run of `τ` to a state that is wanted, which is reached; without the first.
fn silence(lts: &Lts, from: Value, wanted: impl Fn(StateId) -> bool) -> Vec<StateId> {
    find_silence(lts, from, wanted).expect("a merged state stands for states that `τ` reaches")
}

fn find_silence(lts: &Lts, from: Value, wanted: impl Fn(StateId) -> bool) -> Option<Vec<StateId>> {
    let from = StateId(from);
    let mut before: HashMap<StateId, StateId, foldhash::fast::FixedState> = HashMap::default();
    before.insert(from, from);
    let mut waiting = VecDeque::from([from]);
    while let Some(state) = waiting.pop_front() {
        if wanted(state) {
            let mut run = Vec::new();
            let mut here = state;
            while here != from {
                run.push(here);
                here = before[&here];
            }
            run.reverse();
            return Some(run);
        }
        for step in lts.outgoing(state).iter().filter(|step| step.label == LabelId::TAU) {
            before.entry(step.target).or_insert_with(|| {
                waiting.push_back(step.target);
                state
            });
        }
    }
    None
}

/// Moves a component through these states, one `τ` each.
fn take_silently(here: &mut [Value], component: usize, states: &[StateId], taken: &mut Vec<TakenStep>) {
    for state in states {
        here[component] = state.0;
        taken.push(TakenStep { label: LabelId::TAU, row: here.to_vec() });
    }
}
