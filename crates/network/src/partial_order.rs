//! Partial-order reduction: of independent steps, one order suffices.
//!
//! [`PartialOrder`] is a network that has, in each state, either all steps or only those inside a *cluster* of
//! components. It is a stubborn-set method (Valmari, *Stubborn sets for reduced state space generation*, 1991;
//! *Stubborn set methods for process algebras*, 1997), with components for the unit of dependency.
//!
//! # Clusters
//!
//! A rule *touches* its participants and the components that it resets. A set `C` of components is closed in a state
//! `s` when every rule of the current format that touches a member of `C` touches members only, or is *held*: a member
//! of `C` is a participant and does not offer its label in its current state; and when every rule that leads to another
//! format is held. Closing a set is easy: a rule that is enabled brings everything that it touches; of a rule that is
//! not enabled one participant that does not offer its label is enough. As long as no member of `C` moves, held rules
//! stay held. So whatever happens outside `C`, rules inside `C` stay as they are, enabled or not, and every rule that
//! fires either does not touch `C` or is inside it: an *outside* rule and an inside one write different slots, and
//! neither reads what the other writes. They commute: both orders lead to the same state.
//!
//! A closed `C` with an enabled rule inside it is a candidate. The steps of the reduced system in `s` are those inside
//! one candidate, if there is one that meets a further condition, or else all. Which one is decided by the state alone,
//! so the reduced system does not depend on the search or on the number of threads.
//!
//! # What is preserved, and why
//!
//! [`Preserve::Deadlocks`]: no further condition. Every reachable state without steps is reachable in the reduced
//! system. For let a path lead from a reduced state `s` to such a state. Some step on it is inside `C`, or else the
//! enabled inside rule would be enabled at its end. The first such step can be done first, since the steps before it
//! are outside; the rest of the path, one shorter, leads from there to the same end. Nothing about traces, failures or
//! divergences is preserved, and no proviso is needed.
//!
//! [`Preserve::Everything`]: all steps inside `C` are `τ`, and none of them *closes a local cycle*. Then traces, stable
//! failures and divergences (up to extension) are those of the network, and with them refinement in all three models,
//! freedom from deadlock and divergence, determinism, and having a trace.
//!
//! - *The proviso.* In every component a depth-first search marks, once and for all, the steps that lead back to a
//!   state that is being visited; every cycle of the component has one. A cluster whose enabled rules take a marked
//!   step, or reset anything, is not used. On a cycle of the reduced system every component that moves goes round a
//!   cycle of its own, so some step on it is marked, and the state from which it is taken has all its steps. It is a
//!   static cycle proviso (Kurshan, Levin, Minea, Peled and Yenigün, *Static partial order reduction*, 1998). Provisos
//!   that depend on the visited states are right for depth-first search, but need care when many threads search
//!   breadth-first and race to visit states; this one is a property of the components.
//! - *Traces.* Let a path with trace `σ` lead from `s`. If `s` has all its steps, take the first. If `s` is reduced and
//!   some step of the path is inside `C`, do the first such step first: it is `τ`, and a path with trace `σ` is left
//!   that is one shorter. If no step is inside, do any `τ` of `C` first; the whole path remains possible. That does not
//!   shorten it, but by the proviso this case cannot recur forever without reaching a state that has all its steps.
//! - *Stable failures.* The same, where the path ends in a stable state: then the third case is impossible, for the `τ`
//!   of `C` would be enabled at the end. So that very state is reached, after the same trace. Being stable it has no
//!   candidate, so it has all its steps.
//! - *Divergences.* Given an infinite path with finitely many visible steps, the same three cases make an infinite path
//!   of the reduced system that takes visible steps only from the given path, and in their order. So it diverges after
//!   a prefix of the trace, and divergence there is what a specification must allow if it allows any extension. In the
//!   other direction a path of the reduced system is one of the network.
//!
//! A counterexample need not be a shortest one of the network. The rules determine which events are visible: hidden
//! events are `τ`.
//!
//! Refused: networks that are chased or prioritised, where what one component may do depends on all others, and
//! networks whose states carry acceptances, which are not those of their steps. A lazy component is in no cluster.
//!
//! Cost: the steps of a state are found as without reduction; clusters cost the rules that the offers of their members
//! name, for each component that is tried. In a large network in which all components are connected that would be
//! quadratic, so after a number of rules proportional to the steps no further component is tried.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, SlotSet, StateId, Step, System, Value, Walk,
};

use crate::network::Network;
use crate::rules::{Behaviour, FormatId};
use crate::successors::NetworkExplorer;

/// How many rules are checked in a state, at least, and for each rule that is enabled.
const EFFORT: (usize, usize) = (2_000, 16);

/// How many steps of a state are kept between two polls of the control; a power of two.
const PATIENCE: usize = 1 << 12;

/// What a reduced network has in common with the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserve {
    /// Reachable states without steps.
    Deadlocks,
    /// Traces, stable failures and divergences.
    Everything,
}

/// A rule as clusters see it.
struct Ruled {
    /// The participants and their local labels.
    parts: Vec<(u32, u32)>,
    resets: Vec<u32>,
    label: LabelId,
}

/// States and local labels of a component.
type Closing = HashSet<(u32, u32)>;

/// The rules of one format.
struct Plan {
    rules: Vec<Ruled>,
    /// Where the rules of a component with a local label are: from `label_starts[component] + label` on in `by_label`.
    label_starts: Vec<usize>,
    rule_starts: Vec<u32>,
    by_label: Vec<u32>,
    /// By component, the rules that reset it.
    resetting: Vec<Vec<u32>>,
    /// Rules that lead to another format.
    leaving: Vec<u32>,
}

/// A network with fewer steps.
pub struct PartialOrder<'n> {
    network: &'n Network,
    preserve: Preserve,
    plans: Vec<Plan>,
    /// By component, its states and local labels by which it may close a cycle; one set for components with one LTS.
    closing: Vec<Arc<Closing>>,
    groups: Vec<Group>,
}

impl<'n> PartialOrder<'n> {
    /// The network reduced, or why it cannot be.
    pub fn new(network: &'n Network, preserve: Preserve) -> Result<PartialOrder<'n>, &'static str> {
        if network.is_layered() {
            return Err("the process is chased or prioritised, so what one component may do depends on all others");
        }
        if network.observations().carries_acceptances() {
            return Err("states carry acceptances of their own, which steps in another order need not reach");
        }
        let plans = (0..network.formats().len()).map(|format| Plan::new(network, FormatId(format as u32))).collect();
        let slots: SlotSet = (0..network.layout().width()).collect();
        let groups = vec![Group { name: "all".into(), guards: slots.clone(), may_write: slots, ..Group::default() }];
        let closing = if preserve == Preserve::Everything { closing_steps(network) } else { Vec::new() };
        Ok(PartialOrder { network, preserve, plans, closing, groups })
    }
}

impl Plan {
    fn new(network: &Network, format: FormatId) -> Plan {
        let components = network.components().len();
        let mut plan = Plan {
            rules: Vec::new(),
            label_starts: Vec::with_capacity(components + 1),
            rule_starts: Vec::new(),
            by_label: Vec::new(),
            resetting: vec![Vec::new(); components],
            leaving: Vec::new(),
        };
        let mut total = 0;
        for component in 0..components {
            plan.label_starts.push(total);
            total += network.labels_of(component as u32).len();
        }
        plan.label_starts.push(total);
        let mut named: Vec<(usize, u32)> = Vec::new();
        for (number, rule) in network.formats()[format.index()].rules.iter().enumerate() {
            let local = |(component, label): (usize, LabelId)| {
                Some((component as u32, network.local(component as u32, label)?))
            };
            let parts = rule.parts().map(local).collect::<Option<Vec<(u32, u32)>>>();
            let possible = parts.is_some();
            let parts = parts.unwrap_or_default();
            let resets: Vec<u32> = rule.resets().map(|component| component as u32).collect();
            // A rule whose participant never offers its label can never fire.
            if possible {
                named.extend(parts.iter().map(|&(component, local)| {
                    (plan.label_starts[component as usize] + local as usize, number as u32)
                }));
                resets.iter().for_each(|&component| plan.resetting[component as usize].push(number as u32));
                if rule.next() != format {
                    plan.leaving.push(number as u32);
                }
            }
            plan.rules.push(Ruled { parts, resets, label: rule.label() });
        }
        named.sort_unstable();
        let mut at = 0;
        for place in 0..=total {
            while at < named.len() && named[at].0 < place {
                at += 1;
            }
            plan.rule_starts.push(at as u32);
        }
        plan.by_label = named.into_iter().map(|(_, rule)| rule).collect();
        plan
    }

    fn rules_with(&self, component: u32, local: u32) -> &[u32] {
        let place = self.label_starts[component as usize] + local as usize;
        &self.by_label[self.rule_starts[place] as usize..self.rule_starts[place + 1] as usize]
    }
}

/// For every component its states and local labels with a step back to a state that a depth-first search is visiting.
fn closing_steps(network: &Network) -> Vec<Arc<Closing>> {
    let mut known: HashMap<*const trefoil_lts::Lts, Arc<Closing>> = HashMap::new();
    let mut closing = Vec::new();
    for (component, described) in network.components().iter().enumerate() {
        let Behaviour::Explicit(lts) = &described.behaviour else {
            // It is in no cluster.
            closing.push(Arc::default());
            continue;
        };
        if let Some(found) = known.get(&Arc::as_ptr(lts)) {
            closing.push(found.clone());
            continue;
        }
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut colour = vec![NEW; lts.state_count()];
        let mut found = Closing::new();
        for root in lts.states() {
            if colour[root.index()] != NEW {
                continue;
            }
            colour[root.index()] = OPEN;
            let mut path: Vec<(StateId, usize)> = vec![(root, 0)];
            while let Some((state, next)) = path.last_mut() {
                let Some(step) = lts.outgoing(*state).get(*next) else {
                    colour[state.index()] = DONE;
                    path.pop();
                    continue;
                };
                *next += 1;
                match colour[step.target.index()] {
                    NEW => {
                        colour[step.target.index()] = OPEN;
                        path.push((step.target, 0));
                    }
                    OPEN => {
                        found.extend(network.local(component as u32, step.label).map(|local| (state.0, local)));
                    }
                    _ => {}
                }
            }
        }
        let found = Arc::new(found);
        known.insert(Arc::as_ptr(lts), found.clone());
        closing.push(found);
    }
    closing
}

impl System for PartialOrder<'_> {
    fn layout(&self) -> &Layout {
        self.network.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.network.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(ReducedExplorer {
            reduced: self,
            control,
            inner: NetworkExplorer::new(self.network, control),
            steps: Vec::new(),
            rows: Vec::new(),
            enabled: Vec::new(),
            cluster: Cluster::default(),
            best: Vec::new(),
            effort: 0,
        })
    }

    fn describe(&self, row: &[Value]) -> String {
        self.network.describe(row)
    }
}

/// A closed set of components and the rules that are enabled inside it.
#[derive(Default)]
struct Cluster {
    members: Vec<u32>,
    is_member: Vec<bool>,
    /// Rules that were checked.
    seen: HashSet<u32>,
    inside: Vec<u32>,
}

struct ReducedExplorer<'a> {
    reduced: &'a PartialOrder<'a>,
    control: &'a Control,
    inner: NetworkExplorer<'a>,
    /// All steps of the row: label and rule; their rows one after the other.
    steps: Vec<(LabelId, u32)>,
    rows: Vec<Value>,
    /// The rules that are enabled, ascending.
    enabled: Vec<u32>,
    cluster: Cluster,
    best: Vec<u32>,
    /// How many rules may still be checked in this state.
    effort: usize,
}

impl Explorer for ReducedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.steps.clear();
        self.rows.clear();
        let (steps, rows, control) = (&mut self.steps, &mut self.rows, self.control);
        self.inner.each(row, &mut |outcome, next| {
            steps.push((outcome.label, outcome.rule));
            rows.extend_from_slice(next);
            if steps.len().is_multiple_of(PATIENCE) {
                control.check()?;
            }
            Ok(())
        })?;
        self.enabled.clear();
        self.enabled.extend(self.steps.iter().map(|step| step.1));
        self.enabled.sort_unstable();
        self.enabled.dedup();
        let reduced = self.enabled.len() > 1 && self.choose(row);
        let width = row.len();
        for (index, &(label, rule)) in self.steps.iter().enumerate() {
            if !reduced || self.best.binary_search(&rule).is_ok() {
                sink(Step::of_group(GroupId(0), label, &self.rows[index * width..(index + 1) * width]))?;
            }
        }
        Ok(())
    }
}

impl ReducedExplorer<'_> {
    /// Finds a cluster with few enabled rules that may be used; `best` are those rules, ascending.
    fn choose(&mut self, row: &[Value]) -> bool {
        let plan = &self.reduced.plans[self.reduced.network.format(row).index()];
        if plan.leaving.iter().any(|rule| self.enabled.binary_search(rule).is_ok()) {
            return false;
        }
        self.best.clear();
        self.effort = EFFORT.0 + EFFORT.1 * self.enabled.len();
        let mut tried: HashSet<u32> = HashSet::new();
        for at in 0..self.enabled.len() {
            let rule = &plan.rules[self.enabled[at] as usize];
            if self.reduced.preserve == Preserve::Everything && rule.label != LabelId::TAU {
                continue;
            }
            // Any member leads to the whole rule, which is enabled.
            let Some(&(seed, _)) = rule.parts.first() else { continue };
            if !tried.insert(seed) {
                continue;
            }
            if self.close(row, plan, seed) && self.cluster.inside.len() < self.enabled.len() {
                let better = self.best.is_empty() || self.cluster.inside.len() < self.best.len();
                if better {
                    self.best.clone_from(&self.cluster.inside);
                }
            }
            if self.best.len() == 1 || self.effort == 0 {
                break;
            }
        }
        self.best.sort_unstable();
        !self.best.is_empty()
    }

    /// Closes the set of this component; false when the result may not be used.
    fn close(&mut self, row: &[Value], plan: &Plan, seed: u32) -> bool {
        let network = self.reduced.network;
        for member in self.cluster.members.drain(..) {
            self.cluster.is_member[member as usize] = false;
        }
        self.cluster.is_member.resize(network.components().len(), false);
        self.cluster.seen.clear();
        self.cluster.inside.clear();
        self.cluster.add(seed);
        for &rule in &plan.leaving {
            if !self.hold(row, plan, rule) {
                return false;
            }
        }
        let mut at = 0;
        while let Some(&component) = self.cluster.members.get(at) {
            at += 1;
            let placed = network.placed(component);
            if placed.lazy().is_some() {
                return false;
            }
            let machine = network.machine(placed);
            for offer in machine.offers_of(row[component as usize]) {
                for &rule in plan.rules_with(component, machine.offer(offer).label) {
                    if !self.consider(row, plan, rule) {
                        return false;
                    }
                }
            }
            for &rule in &plan.resetting[component as usize] {
                if !self.consider(row, plan, rule) {
                    return false;
                }
            }
        }
        !self.cluster.inside.is_empty()
    }

    /// Takes in what a rule that touches the cluster brings; false when the cluster may not be used.
    fn consider(&mut self, row: &[Value], plan: &Plan, number: u32) -> bool {
        if self.effort == 0 {
            return false;
        }
        self.effort -= 1;
        if !self.cluster.seen.insert(number) {
            return true;
        }
        if self.enabled.binary_search(&number).is_err() {
            return self.hold(row, plan, number);
        }
        let rule = &plan.rules[number as usize];
        if self.reduced.preserve == Preserve::Everything {
            let closes = |&(component, local): &(u32, u32)| {
                self.reduced.closing[component as usize].contains(&(row[component as usize], local))
            };
            if rule.label != LabelId::TAU || !rule.resets.is_empty() || rule.parts.iter().any(closes) {
                return false;
            }
        }
        self.cluster.inside.push(number);
        for &component in rule.parts.iter().map(|(component, _)| component).chain(&rule.resets) {
            self.cluster.add(component);
        }
        true
    }

    /// Makes sure that a member of the cluster holds a rule that is not enabled.
    fn hold(&mut self, row: &[Value], plan: &Plan, number: u32) -> bool {
        let network = self.reduced.network;
        let mut holder = None;
        for &(component, local) in &plan.rules[number as usize].parts {
            let placed = network.placed(component);
            if placed.lazy().is_some() || !network.machine(placed).find(row[component as usize], local).is_empty() {
                continue;
            }
            if self.cluster.is_member[component as usize] {
                return true;
            }
            holder = holder.or(Some(component));
        }
        // Only a lazy component holds it.
        let Some(holder) = holder else { return false };
        self.cluster.add(holder);
        true
    }
}

impl Cluster {
    fn add(&mut self, component: u32) {
        if !std::mem::replace(&mut self.is_member[component as usize], true) {
            self.members.push(component);
        }
    }
}
