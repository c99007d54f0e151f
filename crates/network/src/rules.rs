//! Supercombinators: components, and rules over them.
//!
//! A rule names some components and for each a label; when all of them can take a step with their label, the network can
//! take one step, under the label that the rule gives, in which exactly these components move (Gibson-Robinson and Lowe,
//! *Symmetry reduction in CSP model checking*, 2019, definitions 26 and 27). A row has one slot per component. Formats, resets
//! and switched-off components of the full definition are further fields of a rule and one further slot.
//!
//! # Finding successors
//!
//! Rules with one participant are kept per component and label, and walked together with the component's offers. Every other
//! rule is led by one participant, the one whose label the fewest of its states offer: the rule is looked at only when its leader
//! can move, and the other participants are looked up one by one. So the work for a row is in proportion to the offers of its
//! components and the rules that they lead, not to the number of rules. A successor is made by changing the slots of the
//! participants in a copy of the row and changing them back.
//!
//! # Groups
//!
//! Rules over the same components form a transition group, which reads and may write exactly these slots.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_lts::Lts;
use trefoil_system::{Explorer, Group, GroupId, LabelId, Labels, Layout, Slot, SlotSet, Step, System, Value};

use crate::machine::{Machine, TooLarge};

/// A component of a network.
#[derive(Clone, Debug)]
pub struct Component {
    /// What a person calls it.
    pub name: String,
    /// What it does.
    pub lts: Arc<Lts>,
}

/// When these components move with these labels, the network moves with that label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    parts: Vec<(u32, LabelId)>,
    label: LabelId,
}

impl Rule {
    /// A rule: for each participant its component and label, in any order; and the label of the whole.
    ///
    /// # Panics
    ///
    /// When a component takes part twice.
    pub fn new(parts: impl IntoIterator<Item = (usize, LabelId)>, label: LabelId) -> Rule {
        let mut parts: Vec<(u32, LabelId)> = parts.into_iter().map(|(part, label)| (part as u32, label)).collect();
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0].0 != pair[1].0), "a component takes part once");
        Rule { parts, label }
    }

    /// The participants, ascending, with their labels.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (usize, LabelId)> + '_ {
        self.parts.iter().map(|&(component, label)| (component as usize, label))
    }

    /// The label of the whole.
    pub fn label(&self) -> LabelId {
        self.label
    }
}

/// What becomes of a component's step when a rule has been found.
#[derive(Clone, Copy)]
struct Outcome {
    label: LabelId,
    group: GroupId,
}

/// A rule with several participants, without its leader.
#[derive(Clone, Copy)]
struct Synchronisation {
    outcome: Outcome,
    others: (u32, u32),
}

/// A network of components.
pub struct Network {
    labels: Arc<Labels>,
    components: Vec<Component>,
    rules: Vec<Rule>,
    layout: Layout,
    groups: Vec<Group>,
    machines: Vec<Machine>,
    /// For every component, its machine and the first of its ports.
    placed: Vec<(u32, u32)>,
    /// For every component and local label: the moves and the led synchronisations from here to the next port.
    ports: Vec<(u32, u32)>,
    /// What a component does alone.
    moves: Vec<Outcome>,
    /// The synchronisations by their leader's port.
    led: Vec<Synchronisation>,
    /// The other participants and their local labels.
    others: Vec<(u32, u32)>,
    /// Steps in which no component takes part.
    idle: Vec<Outcome>,
}

impl Network {
    /// A network of these components under these rules; `Err` names a component that is too large.
    ///
    /// # Panics
    ///
    /// When the components do not share the label table, or a rule names a component that is not there.
    pub fn new(labels: Arc<Labels>, components: Vec<Component>, mut rules: Vec<Rule>) -> Result<Network, usize> {
        assert!(components.iter().all(|component| Arc::ptr_eq(component.lts.labels(), &labels)));
        let mut known = std::collections::HashSet::with_capacity(rules.len());
        rules.retain(|rule| known.insert(rule.clone()));
        drop(known);
        let mut machines = Vec::new();
        let mut built: HashMap<*const Lts, u32> = HashMap::new();
        let mut placed = Vec::with_capacity(components.len());
        let mut port = 0u32;
        for (index, component) in components.iter().enumerate() {
            let machine = match built.get(&Arc::as_ptr(&component.lts)) {
                Some(&machine) => machine,
                None => {
                    machines.push(Machine::new(&component.lts).map_err(|TooLarge| index)?);
                    let machine = machines.len() as u32 - 1;
                    built.insert(Arc::as_ptr(&component.lts), machine);
                    machine
                }
            };
            placed.push((machine, port));
            port = u32::try_from(machines[machine as usize].labels().len())
                .ok()
                .and_then(|labels| port.checked_add(labels))
                .ok_or(index)?;
        }
        let slot = |component: &Component| Slot::bounded(&component.name, component.lts.state_count() as u32);
        let layout = Layout::new(components.iter().map(slot).collect());
        let mut network = Network {
            labels,
            components,
            rules: Vec::new(),
            layout,
            groups: Vec::new(),
            machines,
            placed,
            ports: Vec::new(),
            moves: Vec::new(),
            led: Vec::new(),
            others: Vec::new(),
            idle: Vec::new(),
        };
        network.compile(&rules, port as usize);
        network.rules = rules;
        Ok(network)
    }

    /// Its components; component `i` has slot `i`.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Its rules, each once.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn compile(&mut self, rules: &[Rule], ports: usize) {
        let mut groups: HashMap<Vec<u32>, GroupId> = HashMap::new();
        let mut moves: Vec<(u32, Outcome)> = Vec::new();
        let mut led: Vec<(u32, Synchronisation)> = Vec::new();
        for rule in rules {
            // A participant that never offers its label disables the rule for good.
            let local = |&(component, label): &(u32, LabelId)| {
                let (machine, first) = self.placed[component as usize];
                Some((component, first, self.machines[machine as usize].local(label)?))
            };
            let Some(parts) = rule.parts.iter().map(local).collect::<Option<Vec<_>>>() else { continue };
            let slots: Vec<u32> = rule.parts.iter().map(|part| part.0).collect();
            let group = *groups.entry(slots).or_insert_with_key(|slots| {
                self.groups.push(group_over(&self.components, slots));
                GroupId(self.groups.len() as u32 - 1)
            });
            let outcome = Outcome { label: rule.label, group };
            match parts[..] {
                [] => self.idle.push(outcome),
                [(_, first, local)] => moves.push((first + local, outcome)),
                _ => {
                    let frequency = |&(component, _, local): &(u32, u32, u32)| {
                        self.machines[self.placed[component as usize].0 as usize].frequency(local)
                    };
                    let leader = (0..parts.len())
                        .min_by(|&a, &b| frequency(&parts[a]).total_cmp(&frequency(&parts[b])))
                        .expect("several participants");
                    let from = self.others.len() as u32;
                    // The participant that is least likely to agree is asked first.
                    let mut others: Vec<_> = (0..parts.len()).filter(|&at| at != leader).map(|at| parts[at]).collect();
                    others.sort_by(|a, b| frequency(a).total_cmp(&frequency(b)));
                    self.others.extend(others.iter().map(|&(component, _, local)| (component, local)));
                    let synchronisation = Synchronisation { outcome, others: (from, self.others.len() as u32) };
                    led.push((parts[leader].1 + parts[leader].2, synchronisation));
                }
            }
        }
        moves.sort_by_key(|&(port, _)| port);
        led.sort_by_key(|&(port, _)| port);
        let (mut next_move, mut next_led) = (0, 0);
        for port in 0..=ports as u32 {
            while next_move < moves.len() && moves[next_move].0 < port {
                next_move += 1;
            }
            while next_led < led.len() && led[next_led].0 < port {
                next_led += 1;
            }
            self.ports.push((next_move as u32, next_led as u32));
        }
        self.moves = moves.into_iter().map(|(_, outcome)| outcome).collect();
        self.led = led.into_iter().map(|(_, synchronisation)| synchronisation).collect();
    }
}

fn group_over(components: &[Component], slots: &[u32]) -> Group {
    let set: SlotSet = slots.iter().map(|&slot| slot as usize).collect();
    let names: Vec<&str> = slots.iter().map(|&slot| components[slot as usize].name.as_str()).collect();
    Group {
        name: names.join(" "),
        guards: set.clone(),
        reads: SlotSet::default(),
        may_write: set,
        must_write: SlotSet::default(),
    }
}

impl System for Network {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self) -> Vec<Value> {
        self.components.iter().map(|component| component.lts.initial().0).collect()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(NetworkExplorer { network: self, next: Vec::new(), taken: Vec::new() })
    }
}

/// A participant of a synchronisation that is being taken: where its targets are, and which is next.
struct Taking {
    component: u32,
    targets: (u32, u32),
    at: u32,
}

struct NetworkExplorer<'a> {
    network: &'a Network,
    /// A copy of the row, in which successors are made.
    next: Vec<Value>,
    taken: Vec<Taking>,
}

impl NetworkExplorer<'_> {
    /// The steps that component `component` makes alone or leads.
    #[inline]
    fn led_by(
        &mut self,
        row: &[Value],
        component: usize,
        wanted: impl Fn(GroupId) -> bool,
        sink: &mut dyn FnMut(Step<'_>),
    ) {
        let network = self.network;
        let (machine, first) = network.placed[component];
        let machine = &network.machines[machine as usize];
        for index in machine.offers_of(row[component]) {
            let port = (first + machine.offer(index).label) as usize;
            let (from, to) = (network.ports[port], network.ports[port + 1]);
            if from == to {
                continue;
            }
            let targets = machine.targets_of(index);
            for outcome in &network.moves[from.0 as usize..to.0 as usize] {
                if !wanted(outcome.group) {
                    continue;
                }
                for at in targets.clone() {
                    self.next[component] = machine.target(at);
                    sink(Step { group: outcome.group, label: outcome.label, row: &self.next });
                }
                self.next[component] = row[component];
            }
            for synchronisation in &network.led[from.1 as usize..to.1 as usize] {
                if wanted(synchronisation.outcome.group) && self.all_agree(row, synchronisation) {
                    let (start, end) = (targets.start, targets.end);
                    self.taken.push(Taking { component: component as u32, targets: (start, end), at: start });
                    self.take_together(row, synchronisation.outcome, sink);
                }
            }
        }
    }

    /// Can all the others move too? Then `taken` says how.
    #[inline]
    fn all_agree(&mut self, row: &[Value], synchronisation: &Synchronisation) -> bool {
        let network = self.network;
        self.taken.clear();
        let (from, to) = synchronisation.others;
        for &(component, local) in &network.others[from as usize..to as usize] {
            let machine = &network.machines[network.placed[component as usize].0 as usize];
            let targets = machine.find(row[component as usize], local);
            if targets.start == targets.end {
                return false;
            }
            self.taken.push(Taking { component, targets: (targets.start, targets.end), at: targets.start });
        }
        true
    }

    /// Every combination of the participants' targets.
    fn take_together(&mut self, row: &[Value], outcome: Outcome, sink: &mut dyn FnMut(Step<'_>)) {
        let network = self.network;
        let target =
            |taking: &Taking| network.machines[network.placed[taking.component as usize].0 as usize].target(taking.at);
        for taking in &self.taken {
            self.next[taking.component as usize] = target(taking);
        }
        'combinations: loop {
            sink(Step { group: outcome.group, label: outcome.label, row: &self.next });
            for taking in &mut self.taken {
                taking.at += 1;
                let more = taking.at < taking.targets.1;
                if !more {
                    taking.at = taking.targets.0;
                }
                self.next[taking.component as usize] = target(taking);
                if more {
                    continue 'combinations;
                }
            }
            break;
        }
        for taking in &self.taken {
            self.next[taking.component as usize] = row[taking.component as usize];
        }
    }

    fn begin(&mut self, row: &[Value]) {
        self.next.clear();
        self.next.extend_from_slice(row);
    }
}

impl Explorer for NetworkExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        self.begin(row);
        for outcome in &self.network.idle {
            sink(Step { group: outcome.group, label: outcome.label, row });
        }
        for component in 0..row.len() {
            self.led_by(row, component, |_| true, sink);
        }
    }

    fn group_successors(&mut self, row: &[Value], group: GroupId, sink: &mut dyn FnMut(Step<'_>)) {
        self.begin(row);
        for outcome in self.network.idle.iter().filter(|outcome| outcome.group == group) {
            sink(Step { group: outcome.group, label: outcome.label, row });
        }
        let network = self.network;
        for component in network.groups[group.index()].guards.iter() {
            self.led_by(row, component, |of| of == group, sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trefoil_lts::LtsBuilder;
    use trefoil_system::{Checked, StateId};

    /// Two components that are one machine with two ways to do `a`, a third that can do `b`.
    fn network() -> Network {
        let labels = Arc::new(Labels::new());
        let (a, b, c, idle) = (labels.name("a"), labels.name("b"), labels.name("c"), labels.name("idle"));
        let mut twin = LtsBuilder::new(labels.clone());
        twin.add(StateId(0), a, StateId(1)).add(StateId(0), a, StateId(2));
        let twin = Arc::new(twin.build(StateId(0)));
        let mut other = LtsBuilder::new(labels.clone());
        other.add(StateId(0), b, StateId(0));
        let components = [("left", &twin), ("right", &twin), ("other", &Arc::new(other.build(StateId(0))))];
        let components = components.map(|(name, lts)| Component { name: name.into(), lts: lts.clone() }).to_vec();
        let rules = vec![
            Rule::new([(1, a), (0, a)], c),
            Rule::new([(2, b)], b),
            Rule::new([], idle),
            Rule::new([(0, a), (1, a)], c),
            Rule::new([(0, b)], b),
        ];
        Network::new(labels, components, rules).expect("small components")
    }

    #[test]
    fn rules_give_every_combination_once_and_honestly() {
        let network = network();
        assert_eq!(network.rules().len(), 4, "one rule was given twice");
        assert_eq!(network.machines.len(), 2, "equal components share a machine");
        // A rule whose participant never offers its label has no group.
        let names: Vec<&str> = network.groups().iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["left right", "other", ""]);
        let labels = network.labels().clone();
        let checked = Checked::new(network);
        let mut found = Vec::new();
        checked.explorer().successors(&[0, 0, 0], &mut |step| {
            found.push(format!("{} {:?}", labels.get(step.label), step.row));
        });
        found.sort();
        let expected = ["b [0, 0, 0]", "c [1, 1, 0]", "c [1, 2, 0]", "c [2, 1, 0]", "c [2, 2, 0]", "idle [0, 0, 0]"];
        assert_eq!(found, expected);
        let mut left = 0;
        checked.explorer().successors(&[1, 0, 0], &mut |_| left += 1);
        assert_eq!(left, 2, "only the third component and idling are left");
    }
}
