//! Supercombinators: components, rules over them, and how the rules are arranged for fast successors.
//!
//! A rule names some components and for each a label; when all of them can take a step with their label, the network
//! can take one step, under the label that the rule gives, in which exactly these components move. A rule belongs to a
//! *format*, applies only in it, leads to the next format, and may *reset* components to their initial states
//! (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, definitions 62 and 63). A row has one
//! slot per component, and one more, the last, for the format when there is more than one. The `on` sets of the
//! definition are not kept: a component is on in a format when a rule of the format names it.
//!
//! # Finding successors
//!
//! In every format, rules with one participant are kept per component and label, and walked together with the
//! component's offers. Every other rule is led by one participant, the one whose label the fewest of its states offer:
//! the rule is checked only when its leader can move, and the other participants are looked up one by one. A format has
//! a *seat* for each component that moves alone or leads in it, and a seat has a *port* for each label: a table when
//! most labels have a rule, and a sorted list otherwise, so that memory is in proportion to the rules and not to
//! formats times labels. The work for a row is in proportion to the seats of its format, the offers of their components
//! and the rules that they lead, not to the number of rules. Where checking all rules at once is cheaper, rules with
//! several participants are found by masks ([`crate::masks`]). A successor is made by changing slots in a copy of the
//! row and changing them back ([`crate::successors`]).
//!
//! # Groups
//!
//! Rules of one format over the same components that reset the same components form a transition group. It reads the
//! participants' slots and the format, and may write them; what is reset it must write.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_system::{
    Cut, Domain, Explorer, Group, GroupId, LabelId, Labels, Layout, Slot, SlotSet, System, Value, Values,
};

use crate::accepting::Accepting;
use crate::arrange::{Compiling, Effects};
use crate::chase::{Chase, ChasedExplorer};
use crate::lazy::LazyMachine;
use crate::local::GroupRules;
use crate::machine::{Machine, TooLarge};
use crate::masks::{Masks, SPARE_WORDS};
use crate::prioritise::{Arranged as Order, Priorities, PrioritisedExplorer};
use crate::rules::{Behaviour, Component, Format, FormatId, Rule, StepExplanation};
use crate::successors::NetworkExplorer;
use crate::symmetry::Kept;
use crate::trim::Trimmed;

/// Which machine a component is: the number of an explicit or of a lazy one.
#[derive(Clone, Copy)]
pub(crate) struct Placed(u32);

impl Placed {
    const LAZY: u32 = 1 << 31;

    /// The number among the lazy machines.
    #[inline]
    pub(crate) fn lazy(self) -> Option<usize> {
        (self.0 & Placed::LAZY != 0).then_some((self.0 & !Placed::LAZY) as usize)
    }
}

/// What becomes of the participants' steps when a rule has been found.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) label: LabelId,
    pub(crate) group: GroupId,
    /// The number of the effect plus one, or zero when only the participants change.
    pub(crate) effect: u32,
    /// The rule's number in its format.
    pub(crate) rule: u32,
}

/// What a rule changes besides its participants.
pub(crate) struct Effect {
    /// Slots and their new values: the components that are reset, and the format.
    pub(crate) writes: Vec<(u32, Value)>,
}

impl Effect {
    pub(crate) fn resets(&self, component: u32) -> bool {
        self.writes.iter().any(|write| write.0 == component)
    }
}

/// A rule with several participants, without its leader.
#[derive(Clone, Copy)]
pub(crate) struct Synchronisation {
    pub(crate) outcome: Outcome,
    pub(crate) others: (u32, u32),
}

/// A component that moves alone or leads in a format.
#[derive(Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) component: u32,
    pub(crate) machine: Placed,
    /// The first of its ports.
    pub(crate) ports: u32,
    /// Where the labels of its ports are listed; without a list there is a port for every label.
    pub(crate) listed: Option<(u32, u32)>,
}

/// Where the seats of a format and its rules without participants are, and its masks when it has rules that are found
/// by masks.
pub(crate) struct Plan {
    pub(crate) seats: (u32, u32),
    pub(crate) idle: (u32, u32),
    pub(crate) masks: Option<Masks>,
}

/// A network of components.
pub struct Network {
    labels: Arc<Labels>,
    pub(crate) components: Vec<Component>,
    formats: Vec<Format>,
    initial: FormatId,
    layout: Layout,
    pub(crate) groups: Vec<Group>,
    /// The format of every group.
    pub(crate) group_formats: Vec<FormatId>,
    machines: Vec<Machine>,
    lazy: Vec<Arc<LazyMachine>>,
    /// The machine of every component.
    placed: Vec<Placed>,
    pub(crate) plans: Vec<Plan>,
    /// By format, then by component.
    pub(crate) seats: Vec<Seat>,
    /// The moves and the led synchronisations from here to the next port; every seat has one more at its end.
    pub(crate) ports: Vec<(u32, u32)>,
    /// The labels of the ports of seats that list them.
    pub(crate) listed: Vec<u32>,
    /// What a component does alone.
    pub(crate) moves: Vec<Outcome>,
    /// The synchronisations by their leader's port.
    pub(crate) led: Vec<Synchronisation>,
    /// The other participants and their local labels.
    pub(crate) others: Vec<(u32, u32)>,
    /// Steps in which no component takes part.
    pub(crate) idle: Vec<Outcome>,
    pub(crate) effects: Vec<Effect>,
    /// The rules by group, listed at the first request.
    group_rules: OnceLock<GroupRules>,
    /// What is known of its symmetries.
    pub(crate) proofs: OnceLock<Kept>,
    /// The result of trimming, once a caller wanted it.
    pub(crate) trimmed: OnceLock<Option<Trimmed>>,
    /// The same network with acceptances on states, once a caller wanted it.
    pub(crate) accepting: OnceLock<Option<Arc<Accepting>>>,
    layer: Option<Layer>,
}

/// What is done to all steps of a network.
pub(crate) enum Layer {
    Chase(Chase),
    Priority(Order),
}

impl Network {
    /// A network of these components under these rules, all of one format; `Err` names a component that is too large.
    ///
    /// # Panics
    ///
    /// When the components do not share the label table, or a rule names a component or a format that is not there.
    pub fn new(labels: Arc<Labels>, components: Vec<Component>, rules: Vec<Rule>) -> Result<Network, usize> {
        let format = Format { name: "format".into(), rules };
        Network::with_formats(labels, components, vec![format], FormatId(0))
    }

    /// A network of these components that starts in this one of these formats; `Err` names a component that is too
    /// large. When there are several formats, the last slot of a row is the number of the current one.
    ///
    /// # Panics
    ///
    /// When the components do not share the label table, there is no initial format, or a rule names a component or a
    /// format that is not there.
    pub fn with_formats(
        labels: Arc<Labels>,
        components: Vec<Component>,
        formats: Vec<Format>,
        initial: FormatId,
    ) -> Result<Network, usize> {
        Network::arranged(labels, components, formats, initial, SPARE_WORDS)
    }

    /// The same, with this many words for masks.
    pub(crate) fn arranged(
        labels: Arc<Labels>,
        components: Vec<Component>,
        mut formats: Vec<Format>,
        initial: FormatId,
        mut spare_words: usize,
    ) -> Result<Network, usize> {
        assert!(components.iter().all(|component| Arc::ptr_eq(component.behaviour.label_table(), &labels)));
        assert!(initial.index() < formats.len(), "the initial format is one of the formats");
        let format_count = formats.len();
        for format in &mut formats {
            distinct_rules(&mut format.rules);
            for rule in &format.rules {
                assert!(rule.next().index() < format_count, "a rule leads to one of the formats");
                assert!(rule.greatest_component().is_none_or(|greatest| greatest < components.len()));
            }
        }
        let (mut machines, mut lazy) = (Vec::new(), Vec::new());
        let mut built: HashMap<*const Lts, u32> = HashMap::new();
        let mut placed = Vec::with_capacity(components.len());
        let mut spare_cells = Machine::SPARE_CELLS;
        for (index, component) in components.iter().enumerate() {
            let lts = match &component.behaviour {
                Behaviour::Explicit(lts) => lts,
                Behaviour::Lazy(machine) => {
                    placed.push(Placed(lazy.len() as u32 | Placed::LAZY));
                    lazy.push(machine.clone());
                    continue;
                }
            };
            let machine = match built.get(&Arc::as_ptr(lts)) {
                Some(&machine) => machine,
                None => {
                    machines.push(Machine::new(lts, &mut spare_cells).map_err(|TooLarge| index)?);
                    let machine = machines.len() as u32 - 1;
                    built.insert(Arc::as_ptr(lts), machine);
                    machine
                }
            };
            placed.push(Placed(machine));
        }
        let slot = |component: &Component| match &component.behaviour {
            Behaviour::Explicit(lts) => Slot::bounded(&component.name, lts.state_count() as u32),
            Behaviour::Lazy(machine) => Slot::met(&component.name, machine.clone() as Arc<dyn Domain>),
        };
        let mut slots: Vec<Slot> = components.iter().map(slot).collect();
        if formats.len() > 1 {
            slots.push(Slot::bounded("format", formats.len() as u32));
        }
        let mut network = Network {
            labels,
            components,
            formats: Vec::new(),
            initial,
            layout: Layout::new(slots),
            groups: Vec::new(),
            group_formats: Vec::new(),
            machines,
            lazy,
            placed,
            plans: Vec::new(),
            seats: Vec::new(),
            ports: Vec::new(),
            listed: Vec::new(),
            moves: Vec::new(),
            led: Vec::new(),
            others: Vec::new(),
            idle: Vec::new(),
            effects: Vec::new(),
            group_rules: OnceLock::new(),
            proofs: OnceLock::new(),
            trimmed: OnceLock::new(),
            accepting: OnceLock::new(),
            layer: None,
        };
        let format_slot = (formats.len() > 1).then_some(network.components.len() as u32);
        let mut effects = Effects::new();
        for (index, format) in formats.iter().enumerate() {
            Compiling::new(&mut network, format, FormatId(index as u32), format_slot, &mut effects)
                .compile(&mut spare_words);
        }
        network.formats = formats;
        Ok(network)
    }

    /// The most bytes that a network of these components takes beside them, but for its rules: to be afforded before it
    /// is made.
    pub fn bytes_to_make<'c>(components: impl IntoIterator<Item = &'c Component>) -> usize {
        let mut known: HashSet<*const Lts> = HashSet::new();
        let explicit = components.into_iter().filter_map(|component| match &component.behaviour {
            Behaviour::Explicit(lts) => Some(lts),
            Behaviour::Lazy(_) => None,
        });
        explicit.filter(|lts| known.insert(Arc::as_ptr(lts))).map(|lts| Machine::bytes(lts)).sum()
    }

    /// The only component, where the network does what it does and nothing else.
    pub fn lone_component(&self) -> Option<&Arc<Lts>> {
        let ([Component { behaviour: Behaviour::Explicit(lts), .. }], [format]) =
            (&self.components[..], &self.formats[..])
        else {
            return None;
        };
        let is_itself = |rule: &Rule| rule.parts().eq([(0, rule.label())]) && rule.resets().next().is_none();
        let itself = format.rules.iter().filter(|rule| is_itself(rule)).count();
        let whole = itself == format.rules.len() && itself == self.machines[0].labels().len();
        (self.layer.is_none() && whole).then_some(lts)
    }

    /// Its components; component `i` has slot `i`.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Its formats. Of rules that differ in their origin only, the first is there.
    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// The format that a row is in.
    #[inline]
    pub fn format(&self, row: &[Value]) -> FormatId {
        row.get(self.components.len()).map_or(FormatId(0), |&format| FormatId(format))
    }

    /// The format that it starts in.
    pub fn initial_format(&self) -> FormatId {
        self.initial
    }

    pub(crate) fn formats_count(&self) -> usize {
        self.formats.len()
    }

    /// The labels that its rules can give, ascending.
    pub fn alphabet(&self) -> Vec<LabelId> {
        let possible = |rule: &&Rule| rule.parts().all(|(part, label)| self.local(part as u32, label).is_some());
        let rules = self.formats.iter().flat_map(|format| &format.rules);
        let mut labels: Vec<LabelId> = rules.filter(possible).map(Rule::label).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Every label of its components, of the networks inside these, and of its rules; ascending.
    pub fn all_labels(&self) -> Vec<LabelId> {
        let mut labels: Vec<LabelId> = Vec::new();
        for component in &self.components {
            labels.extend(component.behaviour.alphabet());
            if let Behaviour::Lazy(machine) = &component.behaviour {
                labels.extend(machine.network().all_labels());
            }
        }
        for rule in self.formats.iter().flat_map(|format| &format.rules) {
            labels.push(rule.label());
            labels.extend(rule.parts().map(|(_, label)| label));
        }
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// The same network with its internal steps chased. Its initial state is where the first chase ends; when that is
    /// cut, there is no such network.
    pub fn chased(self, control: &Control) -> Result<Network, Cut> {
        let plain = self.plain();
        let chase = Chase::new(&plain);
        let mut network = plain.under(Layer::Chase(chase));
        let begin = ChasedExplorer::new(&network, control).chased(&network.start())?;
        if let Some(Layer::Chase(chase)) = &mut network.layer {
            chase.begin(begin);
        }
        Ok(network)
    }

    /// The same network under priorities.
    pub fn prioritised(self, priorities: &Priorities) -> Network {
        let plain = self.plain();
        let order = priorities.arranged(&plain);
        plain.under(Layer::Priority(order))
    }

    /// A network that behaves like this machine, its only component.
    pub fn alone(machine: Arc<LazyMachine>) -> Network {
        let rules = machine.labels().iter().map(|&label| Rule::new([(0, label)], label)).collect();
        let component = Component::lazy("machine", machine.clone());
        match Network::new(machine.label_table().clone(), vec![component], rules) {
            Ok(network) => network,
            Err(_) => unreachable!("a lazy component is never too large"),
        }
    }

    /// Whether it is chased or prioritised.
    pub fn is_layered(&self) -> bool {
        self.layer.is_some()
    }

    /// A network without a layer that does the same.
    fn plain(self) -> Network {
        if self.is_layered() { Network::alone(Arc::new(LazyMachine::new(Arc::new(self)))) } else { self }
    }

    /// The same under a layer. Its steps depend on all slots, so there is one group.
    fn under(mut self, layer: Layer) -> Network {
        let slots: SlotSet = (0..self.layout.width()).collect();
        self.groups = vec![Group { name: "all".into(), guards: slots.clone(), may_write: slots, ..Group::default() }];
        self.layer = Some(layer);
        self
    }

    pub(crate) fn layer(&self) -> Option<&Layer> {
        self.layer.as_ref()
    }

    /// How the step from `row` by `label` to `next` comes about, if there is one: the first rule that gives it.
    pub fn explain(
        &self,
        row: &[Value],
        label: LabelId,
        next: &[Value],
        control: &Control,
    ) -> Result<Option<StepExplanation>, Cut> {
        if let Some(Layer::Chase(_)) = self.layer {
            return ChasedExplorer::new(self, control).explain(row, label, next);
        }
        let mut found = None;
        let walk = NetworkExplorer::new(self, control).each(row, &mut |outcome, target| {
            if outcome.label != label || target != next {
                return Ok(());
            }
            found = Some(outcome.rule);
            Err(Cut::Enough)
        });
        Cut::had_enough(walk)?;
        let format = self.format(row);
        Ok(found.map(|rule| {
            let rule = &self.formats[format.index()].rules[rule as usize];
            StepExplanation { origin: rule.origin(), parts: rule.parts().collect(), format }
        }))
    }

    /// The state that it starts in.
    pub(crate) fn start(&self) -> Vec<Value> {
        match &self.layer {
            Some(Layer::Chase(chase)) => chase.initial().to_vec(),
            _ => self.plain_initial(),
        }
    }

    /// The row of initial states.
    pub(crate) fn plain_initial(&self) -> Vec<Value> {
        let mut row: Vec<Value> = self.components.iter().map(Component::initial).collect();
        if self.formats.len() > 1 {
            row.push(self.initial.0);
        }
        row
    }

    /// The rules of its groups.
    pub(crate) fn group_rules(&self) -> &GroupRules {
        self.group_rules.get_or_init(|| GroupRules::new(self))
    }

    pub(crate) fn group_format(&self, group: GroupId) -> FormatId {
        self.group_formats[group.index()]
    }

    #[inline]
    pub(crate) fn placed(&self, component: u32) -> Placed {
        self.placed[component as usize]
    }

    /// An explicit machine.
    #[inline]
    pub(crate) fn machine(&self, placed: Placed) -> &Machine {
        &self.machines[placed.0 as usize]
    }

    /// The lazy machines.
    pub(crate) fn lazy(&self) -> &[Arc<LazyMachine>] {
        &self.lazy
    }

    /// How many states a component has; unknown for a lazy one.
    pub(crate) fn states_of(&self, component: usize) -> usize {
        match &self.components[component].behaviour {
            Behaviour::Explicit(lts) => lts.state_count(),
            Behaviour::Lazy(_) => 0,
        }
    }

    /// The labels of a component, ascending; their positions are its local labels.
    pub(crate) fn labels_of(&self, component: u32) -> &[LabelId] {
        let placed = self.placed(component);
        match placed.lazy() {
            Some(lazy) => self.lazy[lazy].labels(),
            None => self.machine(placed).labels(),
        }
    }

    /// The local number of a label of a component.
    pub(crate) fn local(&self, component: u32, label: LabelId) -> Option<u32> {
        self.labels_of(component).binary_search(&label).ok().map(|index| index as u32)
    }

    /// How likely a component offers a label, as far as that is known; lazy components are checked last.
    pub(crate) fn frequency(&self, component: u32, local: u32) -> f64 {
        let placed = self.placed(component);
        if placed.lazy().is_some() { 2.0 } else { self.machine(placed).frequency(local) }
    }

    #[inline]
    pub(crate) fn seats(&self, format: FormatId) -> &[Seat] {
        let (from, to) = self.plans[format.index()].seats;
        &self.seats[from as usize..to as usize]
    }

    #[inline]
    pub(crate) fn masks(&self, format: FormatId) -> Option<&Masks> {
        self.plans[format.index()].masks.as_ref()
    }

    #[inline]
    pub(crate) fn idle(&self, format: FormatId) -> &[Outcome] {
        let (from, to) = self.plans[format.index()].idle;
        &self.idle[from as usize..to as usize]
    }

    /// What a component does alone with a label, and what it leads.
    #[inline]
    pub(crate) fn rules_at(&self, seat: &Seat, local: u32) -> (&[Outcome], &[Synchronisation]) {
        let port = match seat.listed {
            None => (seat.ports + local) as usize,
            Some((from, to)) => match self.listed[from as usize..to as usize].binary_search(&local) {
                Ok(position) => seat.ports as usize + position,
                Err(_) => return (&[], &[]),
            },
        };
        let (from, to) = (self.ports[port], self.ports[port + 1]);
        (&self.moves[from.0 as usize..to.0 as usize], &self.led[from.1 as usize..to.1 as usize])
    }

    /// The local labels for which a seat has rules, ascending.
    pub(crate) fn port_labels(&self, seat: &Seat) -> impl Iterator<Item = u32> + '_ {
        let (listed, every) = match seat.listed {
            Some((from, to)) => (&self.listed[from as usize..to as usize], 0),
            None => (&[][..], self.labels_of(seat.component).len() as u32),
        };
        listed.iter().copied().chain(0..every)
    }

    #[inline]
    pub(crate) fn others(&self, synchronisation: &Synchronisation) -> &[(u32, u32)] {
        &self.others[synchronisation.others.0 as usize..synchronisation.others.1 as usize]
    }

    #[inline]
    pub(crate) fn effect(&self, outcome: &Outcome) -> Option<&Effect> {
        outcome.effect.checked_sub(1).map(|effect| &self.effects[effect as usize])
    }
}

/// Removes rules that do what another does; where a label came from makes no difference.
fn distinct_rules(rules: &mut Vec<Rule>) {
    let mut known = HashSet::with_capacity(rules.len());
    rules.retain(|rule| known.insert(rule.clone().with_origin(rule.label())));
}

impl System for Network {
    fn copied(&self) -> Option<&dyn Any> {
        let lone: Option<&Lts> = self.lone_component().map(|lts| &**lts);
        lone.map(|lts| lts as &dyn Any)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(self.start())
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        match &self.layer {
            None => Box::new(NetworkExplorer::new(self, control)),
            Some(Layer::Chase(_)) => Box::new(ChasedExplorer::new(self, control)),
            Some(Layer::Priority(order)) => Box::new(PrioritisedExplorer::new(self, order, control)),
        }
    }

    fn describe(&self, row: &[Value]) -> String {
        let state = |(slot, &value): (&Slot, &Value)| match &slot.values {
            // The number depends on which thread found the state first.
            Values::Met(domain) => format!("{}=({})", slot.name, domain.text(value)),
            _ => format!("{}={value}", slot.name),
        };
        let components = self.layout.slots().iter().zip(row).take(self.components.len());
        let mut parts: Vec<String> = components.map(state).collect();
        if self.formats.len() > 1 {
            parts.push(format!("format={}", self.formats[self.format(row).index()].name));
        }
        parts.join(" ")
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
        let components = components.map(|(name, lts)| Component::new(name, lts.clone())).to_vec();
        let rules = vec![
            Rule::new([(1, a), (0, a)], c),
            Rule::new([(2, b)], b),
            Rule::new([], idle),
            Rule::new([(0, a), (1, a)], c).with_origin(a),
            Rule::new([(0, b)], b),
        ];
        Network::new(labels, components, rules).expect("small components")
    }

    #[test]
    fn rules_give_every_combination_once_and_honestly() {
        let network = network();
        assert_eq!(network.formats()[0].rules.len(), 4, "one rule was given twice");
        assert_eq!(network.machines.len(), 2, "equal components share a machine");
        // A rule whose participant never offers its label has no group.
        let names: Vec<&str> = network.groups().iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["left right", "other", ""]);
        let labels = network.labels().clone();
        let checked = Checked::new(network);
        let control = Control::unlimited();
        let mut found = Vec::new();
        let walk = checked.explorer(&control).successors(&[0, 0, 0], &mut |step| {
            found.push(format!("{} {:?}", labels.get(step.label), step.row));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        found.sort();
        let expected = ["b [0, 0, 0]", "c [1, 1, 0]", "c [1, 2, 0]", "c [2, 1, 0]", "c [2, 2, 0]", "idle [0, 0, 0]"];
        assert_eq!(found, expected);
        let mut left = 0;
        let walk = checked.explorer(&control).successors(&[1, 0, 0], &mut |_| {
            left += 1;
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        assert_eq!(left, 2, "only the third component and idling are left");
    }

    #[test]
    fn a_format_with_few_of_many_labels_lists_them() {
        let labels = Arc::new(Labels::new());
        let mut builder = LtsBuilder::new(labels.clone());
        let names: Vec<LabelId> = (0..100).map(|index| labels.name(&format!("e{index}"))).collect();
        for &name in &names {
            builder.add(StateId(0), name, StateId(1));
        }
        let component = Component::new("many", Arc::new(builder.build(StateId(0))));
        let format = |index: usize, next: u32| Format {
            name: format!("f{index}"),
            rules: vec![Rule::new([(0, names[index])], names[index]).with_resets([0]).to(FormatId(next))],
        };
        let formats: Vec<Format> = (0..100).map(|index| format(index, (index as u32 + 1) % 100)).collect();
        let network = Network::with_formats(labels, vec![component], formats, FormatId(7)).expect("small");
        assert!(network.ports.len() == 200 && network.listed.len() == 100);
        let control = Control::unlimited();
        assert_eq!(network.initial(&control), Ok(vec![0, 7]));
        assert_eq!(network.describe(&[1, 8]), "many=1 format=f8");
        let checked = Checked::new(network);
        let mut found = Vec::new();
        let walk = checked.explorer(&control).successors(&[0, 7], &mut |step| {
            found.push((step.label, step.row.to_vec()));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        assert_eq!(found, [(names[7], vec![0, 8])]);
    }
}
