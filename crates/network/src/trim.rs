//! Networks without the steps and states that their rules make unreachable.
//!
//! A fork that any philosopher may pick up has a state for each of them, but the rules connect it with two only. The
//! other states are unreachable, yet they make the fork look different from its neighbours and so hide symmetries. A
//! network is trimmed in turns, until nothing changes: a rule is removed when a participant has no step with its label,
//! a step when no remaining rule has its label for its component, and a state when no remaining step leads to it.
//!
//! The trimmed network has the same reachable rows as the network, under other numbers: [`Trimmed::restored`] says
//! which. So results for the one hold for the other.
//!
//! Cost: a turn is in proportion to transitions and rules; there are at most as many turns as labels of components, and
//! seldom more than three. Components whose states are found while they run stay as they are, and so do networks under
//! a layer.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::{Lts, SharedRows, Transition};
use trefoil_system::{LabelId, System, Value};

use crate::network::Network;
use crate::rules::{Behaviour, Component, Format, Rule};

/// A network without unreachable parts, and the numbers that its states had.
#[derive(Clone)]
pub struct Trimmed {
    network: Arc<Network>,
    /// By component, the number that each of its states had; none where they are the same.
    numbers: Vec<Option<Arc<[u32]>>>,
}

impl Trimmed {
    /// The network that is left.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// A row of what is left as a row of the network that was trimmed.
    pub fn restored(&self, row: &[Value]) -> Vec<Value> {
        let mut restored = row.to_vec();
        for (value, numbers) in restored.iter_mut().zip(&self.numbers) {
            if let Some(numbers) = numbers {
                *value = numbers[*value as usize];
            }
        }
        restored
    }
}

/// A machine with some of its steps, its states renumbered.
#[derive(Clone)]
struct Remainder {
    lts: Arc<Lts>,
    /// The numbers before.
    numbers: Arc<[u32]>,
    /// The labels that are left, ascending.
    labels: Vec<LabelId>,
}

impl Network {
    /// The network without the steps and states that its rules make unreachable; none when there are no such parts.
    pub fn trimmed(&self, control: &Control) -> Result<Option<Trimmed>, Stopped> {
        if self.trimmed.get().is_none() {
            // Another thread may have come first with the same.
            let _ = self.trimmed.set(self.trim(control)?);
        }
        Ok(self.trimmed.get().cloned().flatten())
    }

    fn trim(&self, control: &Control) -> Result<Option<Trimmed>, Stopped> {
        if self.is_layered() {
            return Ok(None);
        }
        let count = self.components().len();
        let mut labels: Vec<Vec<LabelId>> = (0..count as u32).map(|at| self.labels_of(at).to_vec()).collect();
        let mut cuts: Vec<Option<Remainder>> = vec![None; count];
        // Components often share a machine, and then often lose the same steps.
        let mut known: HashMap<(*const Lts, Vec<LabelId>), Remainder, foldhash::fast::FixedState> = HashMap::default();
        let mut used: Vec<Vec<LabelId>> = Vec::new();
        loop {
            control.check()?;
            used.clear();
            used.resize(count, Vec::new());
            for rule in self.formats().iter().flat_map(|format| &format.rules) {
                if possible(rule, &labels) {
                    rule.parts().for_each(|(part, label)| used[part].push(label));
                }
            }
            let mut changed = false;
            for (at, component) in self.components().iter().enumerate() {
                let Behaviour::Explicit(lts) = &component.behaviour else { continue };
                used[at].sort_unstable();
                used[at].dedup();
                if used[at] == labels[at] {
                    continue;
                }
                control.check()?;
                let key = (Arc::as_ptr(lts), std::mem::take(&mut used[at]));
                let cut = known.entry(key).or_insert_with_key(|(_, left)| Remainder::new(lts, left));
                labels[at].clone_from(&cut.labels);
                cuts[at] = Some(cut.clone());
                changed = true;
            }
            if !changed {
                break;
            }
        }
        if cuts.iter().all(Option::is_none) {
            return Ok(None);
        }
        let component = |(component, cut): (&Component, &Option<Remainder>)| match cut {
            Some(cut) => Component::new(component.name.clone(), cut.lts.clone()).choosing(component.chooses),
            None => component.clone(),
        };
        let components: Vec<Component> = self.components().iter().zip(&cuts).map(component).collect();
        control.afford(Network::bytes_to_make(&components))?;
        let format = |format: &Format| Format {
            name: format.name.clone(),
            rules: format.rules.iter().filter(|rule| possible(rule, &labels)).cloned().collect(),
        };
        let formats = self.formats().iter().map(format).collect();
        let network = Network::with_formats(self.labels().clone(), components, formats, self.initial_format());
        let Ok(network) = network else { return Ok(None) };
        let numbers = cuts.into_iter().map(|cut| cut.map(|cut| cut.numbers)).collect();
        Ok(Some(Trimmed { network: Arc::new(network), numbers }))
    }
}

/// Has each participant its label?
fn possible(rule: &Rule, labels: &[Vec<LabelId>]) -> bool {
    rule.parts().all(|(part, label)| labels[part].binary_search(&label).is_ok())
}

impl Remainder {
    /// A machine with the steps that have one of these labels, and the states that they lead to, in the order of their
    /// numbers.
    fn new(lts: &Lts, left: &[LabelId]) -> Remainder {
        let stays = |step: &&Transition| left.binary_search(&step.label).is_ok();
        let mut reached = vec![false; lts.state_count()];
        reached[lts.initial().index()] = true;
        let mut waiting = vec![lts.initial()];
        let mut taken = vec![false; lts.shared().map_or(0, SharedRows::fragment_count)];
        while let Some(state) = waiting.pop() {
            let own = lts.shared().map_or_else(|| lts.outgoing(state), |rows| rows.own(state));
            let fragments = lts.shared().into_iter().flat_map(|rows| {
                let new = |&&fragment: &&u32| !std::mem::replace(&mut taken[fragment as usize], true);
                rows.fragments_of(state)
                    .iter()
                    .filter(new)
                    .flat_map(|&fragment| rows.fragment(fragment))
                    .collect::<Vec<_>>()
            });
            for step in own.iter().chain(fragments).filter(stays) {
                if !std::mem::replace(&mut reached[step.target.index()], true) {
                    waiting.push(step.target);
                }
            }
        }
        let numbers: Arc<[u32]> = lts.states().filter(|state| reached[state.index()]).map(|state| state.0).collect();
        let lts = Arc::new(lts.part(&numbers, lts.initial(), |step| stays(&step)));
        let labels = lts.alphabet();
        Remainder { lts, numbers, labels }
    }
}
