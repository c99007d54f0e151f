//! Networks whose components keep their acceptances on their states.
//!
//! `normal` and `diamond` make a component whose states stand for several states of the original, and the compiler
//! writes what these accept as `τ` to one copy of the state for each minimal acceptance. A product of
//! such components then has one state for each combination of copies: sixteen nodes with six acceptances each have 6^16
//! states where one would do. An [`Accepting`] is the same network without these `τ`: a *merged* component has the
//! visible transitions of all states that `τ` reaches, and its states carry the acceptances (generalised transition
//! systems, definition 54 of Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019; Roscoe,
//! Gardiner, Goldsmith, Hulance, Jackson and Scattergood, *Hierarchical compression for model-checking CSP*, 1995). Its
//! rows are rows of the network, so that layouts, symmetries and names are the same.
//!
//! # Why the answers are the same
//!
//! A merged state `s` stands for the states that `τ` reaches from it. It has their visible transitions, a `τ`-loop if
//! one of them diverges, and a *choice* for each stable one among them, except those that offer more than another. The
//! rules of CSP's operators promote `τ` and leave all else as it is; a component is merged only where the network has
//! exactly such a rule in every format that names it. So traces are the same. A state of the network accepts stably
//! what it offers after one choice in every merged component, if no rule with `τ` can fire then; choices that offer
//! more only make more rules fire. Hence the minimal acceptances are the same. A cycle of `τ` in one is a cycle in the
//! other, or a loop of a component. Traces, stable failures and divergences are the same, and nothing else: revivals
//! and refusals on the way need the single states, as priorities do.
//!
//! # Deciding without listing
//!
//! The acceptances of a row can be as many as the product had states, so an engine never lists them. It asks whether
//! the row accepts something that is *not enough* ([`Explorer::accepts_less`]), and [`choose`] decides that by
//! backtracking over the components. A witness is carried back by taking the `τ` that lead to what was chosen
//! ([`back`]).
//!
//! # Symmetries
//!
//! A symmetry of the network acts on the rows of this one as well, because it carries merged components to merged
//! components: whether one is merged depends on the shape of its transitions and rules alone, not on its labels and not
//! on what made it. A component with shared rows, which may have an image without, is not merged, and no other is then.
//!
//! Cost: a merged component takes at most [`merged::ROOM`] times what the component takes; otherwise it stays as it is.

mod back;
mod choose;
mod merged;

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::Lts;
use trefoil_system::{
    Cut, Explorer, Group, LabelId, Labels, Layout, LocalGroup, LocalSink, Observation, Observations, Sink, Step,
    System, Value, Walk,
};

use crate::network::Network;
use crate::rules::{Behaviour, Component, Rule};
use crate::successors::NetworkExplorer;
use choose::Choosing;
use merged::Merged;

/// A network whose components keep their acceptances on their states.
pub struct Accepting {
    /// The network, merged components in the places of others.
    network: Network,
    /// By component; none for one that is as it was.
    merged: Vec<Option<Arc<Merged>>>,
    /// By format, the merged components that its rules name, ascending.
    on: Vec<Vec<u32>>,
}

impl Network {
    /// The same network with acceptances on states, where that is worth something: some component says that its `τ`
    /// choose among acceptances ([`Component::chooses`]).
    pub fn accepting(&self, control: &Control) -> Result<Option<Arc<Accepting>>, Stopped> {
        if self.accepting.get().is_none() {
            // Another thread may have come first with the same.
            let _ = self.accepting.set(Accepting::of(self, control)?.map(Arc::new));
        }
        Ok(self.accepting.get().cloned().flatten())
    }
}

impl Accepting {
    fn of(network: &Network, control: &Control) -> Result<Option<Accepting>, Stopped> {
        if network.is_layered() || !network.components().iter().any(|component| component.chooses) {
            return Ok(None);
        }
        let shares = |component: &Component| {
            let Behaviour::Explicit(lts) = &component.behaviour else { return false };
            lts.shared().is_some() && merged::has_silence(lts)
        };
        if network.components().iter().any(shares) {
            return Ok(None);
        }
        let passes = passing(network);
        let mut known: HashMap<*const Lts, Option<Arc<Merged>>, foldhash::fast::FixedState> = HashMap::default();
        let mut merged = Vec::with_capacity(passes.len());
        for (component, passes) in network.components().iter().zip(passes) {
            let Behaviour::Explicit(lts) = &component.behaviour else {
                merged.push(None);
                continue;
            };
            let found = match known.get(&Arc::as_ptr(lts)) {
                _ if !passes => None,
                Some(known) => known.clone(),
                None => {
                    let made = Merged::of(lts, control)?.map(Arc::new);
                    known.insert(Arc::as_ptr(lts), made.clone());
                    made
                }
            };
            merged.push(found);
        }
        if merged.iter().all(Option::is_none) {
            return Ok(None);
        }
        let component = |(component, merged): (&Component, &Option<Arc<Merged>>)| match merged {
            Some(merged) => Component::new(component.name.clone(), merged.visible().clone()),
            None => component.clone(),
        };
        let components = network.components().iter().zip(&merged).map(component).collect();
        let formats = network.formats().to_vec();
        let made = Network::with_formats(network.labels().clone(), components, formats, network.initial_format());
        let Ok(made) = made else { return Ok(None) };
        let named = |rules: &[Rule]| {
            let mut named: Vec<u32> = rules.iter().flat_map(|rule| rule.parts().map(|part| part.0 as u32)).collect();
            named.sort_unstable();
            named.dedup();
            named.retain(|&component| merged[component as usize].is_some());
            named
        };
        let on = made.formats().iter().map(|format| named(&format.rules)).collect();
        Ok(Some(Accepting { network: made, merged, on }))
    }

    /// How many components are merged.
    pub fn merged_components(&self) -> usize {
        self.merged.iter().flatten().count()
    }
}

/// Which components have their `τ` promoted, and nothing else done with it, in every format that names them.
fn passing(network: &Network) -> Vec<bool> {
    let mut passes = vec![true; network.components().len()];
    for (number, format) in network.formats().iter().enumerate() {
        let mut promoted = vec![false; passes.len()];
        let mut named = vec![false; passes.len()];
        for rule in &format.rules {
            let alone = rule.parts().len() == 1 && rule.label() == LabelId::TAU;
            let stays = rule.next().index() == number && rule.resets().len() == 0;
            for (component, label) in rule.parts() {
                named[component] = true;
                if label == LabelId::TAU {
                    promoted[component] |= alone && stays;
                    passes[component] &= alone && stays;
                }
            }
        }
        for ((passes, named), promoted) in passes.iter_mut().zip(named).zip(promoted) {
            *passes &= !named || promoted;
        }
    }
    passes
}

impl System for Accepting {
    fn layout(&self) -> &Layout {
        self.network.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    fn groups(&self) -> &[Group] {
        self.network.groups()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.network.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(AcceptingExplorer::new(self, control))
    }

    fn observations(&self) -> Observations {
        Observations::Acceptances
    }

    fn describe(&self, row: &[Value]) -> String {
        self.network.describe(row)
    }
}

struct AcceptingExplorer<'a> {
    accepting: &'a Accepting,
    steps: NetworkExplorer<'a>,
    choosing: Choosing,
    control: &'a Control,
}

impl<'a> AcceptingExplorer<'a> {
    fn new(accepting: &'a Accepting, control: &'a Control) -> AcceptingExplorer<'a> {
        let steps = NetworkExplorer::new(&accepting.network, control);
        AcceptingExplorer { accepting, steps, choosing: Choosing::default(), control }
    }
}

impl Explorer for AcceptingExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.steps.each(row, &mut |outcome, row| sink(Step::of_group(outcome.group, outcome.label, row)))
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.steps.local_successors(group, reads, sink)
    }

    fn accepts_less(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        Ok(self.choose(row, enough)?.map(|chosen| chosen.accepted))
    }

    /// All minimal acceptances, one after the other: each is found as one that contains none of those before.
    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        let mut acceptances: Vec<Vec<LabelId>> = Vec::new();
        let inside =
            |small: &[LabelId], large: &[LabelId]| small.iter().all(|label| large.binary_search(label).is_ok());
        while let Some(chosen) =
            self.choose(row, &mut |offered| acceptances.iter().any(|known| inside(known, offered)))?
        {
            acceptances.retain(|known| !inside(&chosen.accepted, known));
            acceptances.push(chosen.accepted);
        }
        acceptances.sort_unstable();
        Ok(Observation { acceptances, diverges: false })
    }
}
