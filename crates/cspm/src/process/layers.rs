//! Layers: `chase`, `prioritise`, `prioritisepo`, and `:[tau priority over]:`.
//!
//! A layer changes the steps of a whole process and not of its parts, so its argument is compiled to a network of its
//! own ([`trefoil_network`] has the layers themselves). The result is a machine that is not enumerated: as a
//! component of a network it computes its states on demand. Only a small one is enumerated after all, and is then an
//! ordinary machine, minimised modulo strong bisimilarity; generated scripts have hundreds of these.
//!
//! # What is refused
//!
//! The argument of a layer must have states that are states: where a compression has merged some that differ in what
//! they offer, "what is possible in this state" has no meaning. The sets of `prioritise` may not overlap in events that
//! the process has. The order of `prioritisepo` may have no cycle, nothing may be above an event that is declared
//! maximal, and every event in the order must be declared, as FDR's front end wants it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, Transition};
use trefoil_network::{LazyMachine, Network, Priorities, compose, trace_watchdog};
use trefoil_system::{LabelId, StateId, System, Value as SlotValue};

use super::events::SetId;
use super::leaf::{MachineId, Made};
use super::states::StateTerms;
use super::steps::Move;
use super::terms::{Node, TermId};
use super::{Compiler, Machine, codes};
use crate::eval::{Failure, ProcessValue, Result, Value};
use crate::rename::Builtin;

/// How large a layer may be to be enumerated: its components, states and transitions.
const SMALL: (usize, usize, usize) = (32, 2_000, 20_000);

/// The number of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LayerId(pub(super) u32);

impl LayerId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A layer that is a component.
pub(super) struct LayerData {
    /// The layered network and its components.
    pub(super) machine: Machine,
    pub(super) lazy: Arc<LazyMachine>,
    pub(super) kind: Builtin,
    does: Rc<Kind>,
    /// The term of the argument.
    pub(super) argument: TermId,
}

/// What a layer does.
enum Kind {
    Chase,
    Priority(Priorities),
}

impl Compiler {
    pub(super) fn layer_data(&self, id: LayerId) -> &LayerData {
        &self.layers[id.index()]
    }

    /// A process under `chase`, `prioritise` or `prioritisepo`.
    pub(super) fn layer(&mut self, builtin: Builtin, term: TermId, arguments: &[Value]) -> Result<TermId> {
        let inner = self.network_of(term)?;
        self.refuse_merged(builtin.text(), &inner, term)?;
        let kind = match builtin {
            Builtin::Prioritise | Builtin::PrioritiseNocache => Kind::Priority(self.ranks(&inner.network, arguments)?),
            Builtin::PrioritisePo => Kind::Priority(self.partial_order(&inner.network, arguments)?),
            _ => Kind::Chase,
        };
        self.layer_over(inner, builtin, Rc::new(kind), term)
    }

    /// A process in which `τ` and `✓` have priority over one event.
    pub(super) fn after_internal(&mut self, builtin: Builtin, term: TermId, low: LabelId) -> Result<TermId> {
        let inner = self.network_of(term)?;
        self.refuse_merged(builtin.text(), &inner, term)?;
        let ranks = HashMap::from([(low, 1)]);
        self.layer_over(inner, builtin, Rc::new(Kind::Priority(Priorities::Ranks(ranks))), term)
    }

    fn layer_over(&mut self, inner: Machine, builtin: Builtin, kind: Rc<Kind>, term: TermId) -> Result<TermId> {
        let machine = self.layered(inner, builtin, &kind, term)?;
        let small = self.enumerated(&machine.network)?;
        let inside = machine.skeleton;
        let id = self.add_layer(machine, builtin, kind, term);
        let layer = self.terms.intern(Node::Layer(id, LazyMachine::INITIAL));
        let Some((lts, rows)) = small else { return Ok(layer) };
        let lazy = self.layer_data(id).lazy.clone();
        let mut terms = Vec::with_capacity(rows.len());
        for row in &rows {
            let state = lazy.number(row, &self.control).map_err(|cut| self.cut_short(cut))?;
            terms.push(self.terms.intern(Node::Layer(id, state)));
        }
        let made = self.add_machine(lts, StateTerms::listed(terms), layer);
        let before = self.machine(made).made.before;
        self.set_made(made, Made { before, compression: Some(builtin.text()), inside });
        let initial = self.machine(made).lts.initial();
        Ok(self.terms.intern(Node::State(made, initial.0)))
    }

    /// The network of a layer that is checked, in a script with timed sections: [`super::timed`] says what closing is.
    /// Priorities take `τ` and `✓` alike, so that closing the argument closes the whole. `chase` is not closed this
    /// way: a further `τ` would change its choices.
    pub(super) fn closed_layer(&mut self, id: LayerId) -> Result<Option<Machine>> {
        let LayerData { machine, does, argument, kind, .. } = self.layer_data(id);
        let (machine, does, argument, builtin) = (machine.clone(), does.clone(), *argument, *kind);
        if machine.network.formats().len() == 1 && self.end_alone(&machine.machines) {
            return Ok(Some(machine));
        }
        if let Kind::Chase = *does {
            return Ok(None);
        }
        drop(machine);
        let inner = self.closed_network_of(argument)?;
        self.layered(inner, builtin, &does, argument).map(Some)
    }

    /// Whether no state of these machines offers `✓` beside something else.
    pub(super) fn end_alone(&self, machines: &[MachineId]) -> bool {
        machines.iter().all(|machine| machine.layer().is_none() && !self.machine(*machine).ends_beside)
    }

    /// The network of a process in which `τ` and `✓` have priority over the events of a set.
    pub fn compile_with_priority(&mut self, process: &ProcessValue, low: &Value) -> Result<Machine> {
        let machine = self.compile_alone(process)?;
        let root = self.expand(process)?;
        self.refuse_merged("tau priority over", &machine, root)?;
        let low = self.events_in(low.clone())?;
        let mut ranks = HashMap::new();
        for label in machine.network.alphabet() {
            if self.has(low, label)? {
                ranks.insert(label, 1);
            }
        }
        let kind = Rc::new(Kind::Priority(Priorities::Ranks(ranks)));
        self.layered(machine, Builtin::Prioritise, &kind, root)
    }

    /// The layer over a network. Under `chase` its initial state is found now; when that is cut, there is no layer.
    fn layered(&mut self, inner: Machine, builtin: Builtin, kind: &Rc<Kind>, term: TermId) -> Result<Machine> {
        let layers = self.layers.len();
        let (network, machines, skeleton) = if inner.network.is_layered() {
            let id = self.add_layer(inner, builtin, kind.clone(), term);
            (Network::alone(self.layer_data(id).lazy.clone()), vec![MachineId::of_layer(id)], None)
        } else {
            let Machine { network, machines, skeleton, .. } = inner;
            let Ok(network) = Arc::try_unwrap(network) else { unreachable!("only layers are shared") };
            (network, machines, skeleton)
        };
        let network = match &**kind {
            Kind::Chase => network.chased(&self.control).map_err(|cut| {
                // Nothing refers to the layer below yet.
                self.layers.truncate(layers);
                self.cut_short(cut)
            })?,
            Kind::Priority(priorities) => network.prioritised(priorities),
        };
        Ok(Machine { network: Arc::new(network), machines, skeleton, layer: Some(builtin.text()) })
    }

    fn add_layer(&mut self, machine: Machine, kind: Builtin, does: Rc<Kind>, argument: TermId) -> LayerId {
        let lazy = Arc::new(LazyMachine::new(machine.network.clone()));
        self.layers.push(LayerData { machine, lazy, kind, does, argument });
        LayerId(self.layers.len() as u32 - 1)
    }

    fn refuse_merged(&self, what: &str, machine: &Machine, term: TermId) -> Result<()> {
        let merged = |id: &MachineId| id.layer().is_none() && self.machine(*id).merged;
        if !machine.machines.iter().any(merged) {
            return Ok(());
        }
        let message = format!("`{what}` needs single states, but a compression inside has merged states");
        let help = "use `sbisim`, `dbisim` or `wbisim`, which preserve the offers of every state";
        Err(Failure::at(codes::MERGED, message, self.some_place(term)).help(help))
    }

    /// What `prioritise` says: the rank of an event is the position of its set.
    fn ranks(&mut self, network: &Network, arguments: &[Value]) -> Result<Priorities> {
        let sequence = self.evaluator.finish(arguments[1].clone())?;
        let mut sets: Vec<SetId> = Vec::new();
        for set in crate::eval::Elements::of(&sequence) {
            sets.push(self.events_in(set)?);
        }
        if sets.is_empty() {
            return Err(Failure::new(codes::BAD_ORDER, "`prioritise` needs at least one set of events"));
        }
        let mut ranks = HashMap::new();
        for label in network.alphabet() {
            for (rank, &set) in sets.iter().enumerate() {
                if self.has(set, label)? && ranks.insert(label, rank as u32).is_some() {
                    let event = self.labels.get(label);
                    let message = format!("{event} belongs to two sets of `prioritise`");
                    return Err(Failure::new(codes::BAD_ORDER, message));
                }
            }
        }
        Ok(Priorities::Ranks(ranks))
    }

    /// What `prioritisepo` says: an event loses against what is above it, and against `τ` and `✓` unless it is maximal.
    fn partial_order(&mut self, network: &Network, arguments: &[Value]) -> Result<Priorities> {
        let events = self.events_in(arguments[1].clone())?;
        let maximal = self.events_in(arguments[3].clone())?;
        let mut directly: HashMap<LabelId, Vec<LabelId>> = HashMap::new();
        let pairs = self.evaluator.set(&arguments[2])?;
        for pair in self.evaluator.list(&pairs)? {
            let Value::Tuple(pair) = pair else { unreachable!("the script was typed") };
            let (high, low) = (self.event(&pair.items[0])?, self.event(&pair.items[1])?);
            for event in [high, low] {
                if !self.has(events, event)? {
                    let event = self.labels.get(event);
                    let message = format!("{event} is in the order of `prioritisepo` but not in its set of events");
                    return Err(Failure::new(codes::BAD_ORDER, message));
                }
            }
            if self.has(maximal, low)? {
                let (high, low) = (self.labels.get(high), self.labels.get(low));
                let message = format!("{low} is declared maximal but {high} is above it");
                return Err(Failure::new(codes::BAD_ORDER, message));
            }
            directly.entry(low).or_default().push(high);
        }
        if let Some(event) = on_a_cycle(&directly) {
            let message = format!("{} is above itself in the order of `prioritisepo`", self.labels.get(event));
            return Err(Failure::new(codes::BAD_ORDER, message));
        }
        let mut above = HashMap::new();
        for label in network.alphabet() {
            if self.has(maximal, label)? && !self.has(events, label)? {
                let event = self.labels.get(label);
                let message = format!("{event} is declared maximal but is not in the set of events");
                return Err(Failure::new(codes::BAD_ORDER, message));
            }
            if label <= LabelId::TICK || !self.has(events, label)? || self.has(maximal, label)? {
                continue;
            }
            let mut all = vec![LabelId::TAU, LabelId::TICK];
            let mut met: HashSet<LabelId> = HashSet::new();
            let mut work = vec![label];
            while let Some(low) = work.pop() {
                for &high in directly.get(&low).into_iter().flatten() {
                    if met.insert(high) {
                        all.push(high);
                        work.push(high);
                    }
                }
            }
            above.insert(label, all);
        }
        Ok(Priorities::Above(above))
    }

    /// The LTS of a layered network when it is small, and a row for each of its states; as small as strong bisimilarity
    /// allows when that is wanted.
    fn enumerated(&mut self, network: &Network) -> Result<Option<(Lts, Vec<Vec<SlotValue>>)>> {
        let (components, states, most_transitions) = SMALL;
        let most_states = states.min(self.options.leaf_states);
        if network.components().len() > components {
            return Ok(None);
        }
        let mut numbers: HashMap<Vec<SlotValue>, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut rows = vec![network.initial(&self.control).map_err(|cut| self.cut_short(cut))?];
        numbers.insert(rows[0].clone(), 0);
        let (mut starts, mut transitions) = (vec![0], Vec::new());
        let mut explorer = network.explorer(&self.control);
        while starts.len() <= rows.len() {
            if rows.len() > most_states || transitions.len() > most_transitions {
                return Ok(None);
            }
            self.control.check()?;
            let row = rows[starts.len() - 1].clone();
            let walk = explorer.successors(&row, &mut |step| {
                let next = rows.len() as u32;
                let target = *numbers.entry(step.row.to_vec()).or_insert(next);
                if target == next {
                    rows.push(step.row.to_vec());
                }
                transitions.push(Transition { label: step.label, target: StateId(target) });
                Ok(())
            });
            walk.map_err(|cut| self.cut_short(cut))?;
            starts.push(transitions.len());
        }
        let lts = Lts::from_rows(self.labels.clone(), StateId(0), starts, transitions);
        if !self.options.compress_leaves {
            return Ok(Some((lts, rows)));
        }
        let small = minimise(&lts, Equivalence::Strong, &self.control)?;
        let mut kept = vec![None; small.lts.state_count()];
        for (state, row) in rows.into_iter().enumerate() {
            if let Some(block) = small.block_of(StateId(state as u32)) {
                kept[block.index()].get_or_insert(row);
            }
        }
        let kept = kept.into_iter().map(|row| row.expect("a block has a state")).collect();
        Ok(Some((small.lts, kept)))
    }

    /// The process that barks when an event of the set happens that another process does not allow.
    pub(super) fn watchdog(&mut self, term: TermId, arguments: &[Value]) -> Result<TermId> {
        let Machine { network, .. } = self.network_of(term)?;
        let composed = compose(&network, self.options.threads, &self.control);
        let specification = composed.map_err(|unfinished| self.cut_short(unfinished.cut))?.lts;
        let watched = self.events_in(arguments[1].clone())?;
        let watched = self.events.list(watched, &mut self.evaluator)?;
        let bark = self.event(&arguments[2])?;
        if watched.contains(&bark) {
            let message = format!("the watchdog watches {}, so it cannot bark with it", self.labels.get(bark));
            return Err(Failure::new(codes::BAD_ORDER, message));
        }
        let lts = trace_watchdog(&specification, &watched, bark, &self.control)?;
        let lts = minimise(&lts, Equivalence::Strong, &self.control)?.lts;
        let made = self.add_machine(lts, StateTerms::default(), term);
        let initial = self.machine(made).lts.initial();
        Ok(self.terms.intern(Node::State(made, initial.0)))
    }

    /// What a state of a layer can do.
    pub(super) fn layer_steps(&mut self, id: LayerId, state: u32) -> Result<Vec<Move>> {
        self.control.check()?;
        let steps = self.layer_data(id).lazy.steps(state, &self.control).map_err(|cut| self.cut_short(cut))?;
        let step = |(label, target)| Move::alone(label, self.terms.intern(Node::Layer(id, target)));
        Ok(steps.into_iter().map(step).collect())
    }
}

/// An event that can be reached from itself.
fn on_a_cycle(directly: &HashMap<LabelId, Vec<LabelId>>) -> Option<LabelId> {
    // Events without anything above them are taken away until none is left; what remains is on or below a cycle.
    let mut waiting: HashMap<LabelId, usize> = HashMap::new();
    let mut below: HashMap<LabelId, Vec<LabelId>> = HashMap::new();
    for (&low, above) in directly {
        *waiting.entry(low).or_default() += above.len();
        for &high in above {
            waiting.entry(high).or_default();
            below.entry(high).or_default().push(low);
        }
    }
    let mut free: Vec<LabelId> = waiting.iter().filter(|(_, count)| **count == 0).map(|(&label, _)| label).collect();
    let mut taken = 0;
    while let Some(high) = free.pop() {
        taken += 1;
        for low in below.get(&high).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(low) {
                *count -= 1;
                if *count == 0 {
                    free.push(*low);
                }
            }
        }
    }
    if taken == waiting.len() {
        return None;
    }
    // Going up from what remains comes to a cycle.
    let mut at = waiting.iter().filter(|(_, count)| **count > 0).map(|(&label, _)| label).min()?;
    let mut met = HashSet::new();
    while met.insert(at) {
        let stuck = |label: &&LabelId| waiting.get(label).is_some_and(|count| *count > 0);
        at = *directly.get(&at)?.iter().find(stuck)?;
    }
    Some(at)
}
