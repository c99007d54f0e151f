//! A linear process as a system for engines.
//!
//! A parameter is a slot, a summand is a group. Values are numbers ([`values`]), and once the steps of a group for the
//! values that it reads were computed they are remembered as numbers, too ([`table`]): the label and the values that
//! are written. A state that brings nothing new to any group costs look-ups and no term. That is what `lps2lts
//! --cached` and LTSmin's transition caching do (Blom, van de Pol, Weber, *LTSmin: distributed and symbolic
//! reachability*, 2010), without a wrapper around it, so that groups are chosen by control state first: a conjunct that
//! compares a parameter with a constant, where the parameter has few values, is a test of two numbers, and each group
//! stands in an index under one of its tests. A state asks only the groups that this test lets pass.
//!
//! Keys of a step that several components take together would multiply, so it is also remembered in its parts
//! ([`parts`]).
//!
//! Steps that are not known are computed by a rewriter of the thread, inside a section of the pool of terms. The
//! section is left before any step is handed out: a sink may wait for another thread, and that one for a collection.
//!
//! Invariants: the steps of a group depend on the slots of its tests and on those it reads, on nothing else. An entry
//! is made of a computation that ended. Numbers of values and of labels depend on which thread came first; orders that
//! users see are those of canonical bytes and of texts.
//!
//! Cost: for a state, the tests of the groups in the index under its control values, and for each that passes a look-up
//! over the slots it reads.

mod facts;
mod parts;
mod plan;
mod steps;
mod table;
mod values;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use trefoil_control::Control;
use trefoil_data::rewrite::Unfinished;
use trefoil_data::typed::TypedId;
use trefoil_system::{
    Cut, Explorer, Group, Label, LabelId, Labels, Layout, Mark, Meaning, Part, Slot, SlotSet, System, Value, Visibility,
};
use trefoil_terms::{Options, Pool, Section, Term};

use crate::linear::{Event, LinearProcess, Summand};
use facts::Growth;
use parts::Pieces;
use plan::{Compiled, Plan, Update};
use steps::Memory;
pub(crate) use steps::Walker;
use values::Encoding;

pub use facts::{Facts, ParameterFacts, TableFacts};

/// The system of a linear process.
pub struct Model {
    compiled: Arc<Compiled>,
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    marks: Vec<Mark>,
    initial: Vec<Value>,
    encodings: Vec<Encoding>,
    plans: Vec<Plan>,
    /// Expressions of joined summands.
    pieces: Pieces,
    index: Index,
    /// The slot that says that all components have terminated, and its value then.
    end: Option<(u32, Value)>,
    wide: bool,
    /// The wide form, once it was needed.
    wider: OnceLock<Arc<Model>>,
    /// Names of actions that must not happen, sorted.
    never: Arc<[String]>,
    /// What threads remembered, for the next ones.
    memories: Mutex<Vec<Memory>>,
    /// What is known about the values of each slot.
    growth: Vec<Growth>,
}

/// Groups by the value of one slot that each tests.
#[derive(Debug, Default)]
struct Index {
    /// Groups without a test.
    always: Vec<u32>,
    /// By slot and value.
    tested: Vec<(u32, Vec<Vec<u32>>)>,
}

/// Why a linear process has no system.
#[derive(Clone, Debug)]
pub enum NoModel {
    /// The value of this expression could not be computed.
    Unfinished(TypedId, Unfinished),
}

impl Model {
    /// Compiles a linear process.
    pub fn new(linear: Arc<LinearProcess>, labels: Arc<Labels>, control: &Control) -> Result<Model, NoModel> {
        Model::observing(linear, &[], labels, control)
    }

    /// Compiles a linear process, and conditions on its parameters whose truth is requested later.
    pub fn observing(
        linear: Arc<LinearProcess>,
        conditions: &[TypedId],
        labels: Arc<Labels>,
        control: &Control,
    ) -> Result<Model, NoModel> {
        let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
        let compiled =
            Compiled::new(linear, conditions, pool).map_err(|(id, unfinished)| NoModel::Unfinished(id, unfinished))?;
        Ok(Model::build(Arc::new(compiled), labels, false, Arc::default()))
    }

    /// The form of the system in which the values of finite sorts are numbered as they are met.
    pub fn wide(&self) -> Model {
        let wide = Model::build(self.compiled.clone(), self.labels.clone(), true, self.never.clone());
        wide.with_group_names(self.groups.iter().map(|group| group.name.as_str()))
    }

    /// The same system, whose groups have other names in messages.
    pub(crate) fn with_group_names<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Model {
        for (group, name) in self.groups.iter_mut().zip(names) {
            group.name = name.to_string();
        }
        self
    }

    /// The same system, in which steps with actions of these names show the error 1.
    pub fn never(&self, names: impl IntoIterator<Item = String>) -> Model {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        Model::build(self.compiled.clone(), self.labels.clone(), self.wide, names.into())
    }

    /// Whether a label has an action that must not happen.
    pub fn is_forbidden(&self, label: &Label) -> bool {
        let is_forbidden = |part: &Part| self.never.binary_search_by(|name| name.as_str().cmp(&part.name)).is_ok();
        label.parts().iter().any(is_forbidden)
    }

    /// The names of the actions that the specification declares, sorted.
    pub fn declared_actions(&self) -> Vec<&str> {
        let linear = self.linear();
        let mut names: Vec<&str> = linear.actions.iter().map(|action| linear.data.names.text(action.name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The widest form of the system that a search needed, if it is not this one.
    pub fn widest(&self) -> Option<&Arc<Model>> {
        self.wider.get()
    }

    /// What each component is in, as text: what it is about to do, and the values of its parameters.
    pub fn component_states(&self, row: &[Value]) -> Vec<String> {
        let linear = self.linear();
        let states = linear.components.iter().enumerate().map(|(place, component)| {
            let own = linear.parameters.iter().enumerate().filter(|(_, parameter)| parameter.component == place);
            let mut state = component.states.first().cloned().unwrap_or_default();
            let mut values = Vec::new();
            for (slot, parameter) in own {
                let text = self.value_text(slot, row[slot]);
                match parameter.control {
                    Some(_) => {
                        let number: usize = text.parse().unwrap_or(1);
                        let known = component.states.get(number - 1);
                        state = known.cloned().unwrap_or_else(|| "terminated".to_string());
                    }
                    None => values.push(format!("{} = {text}", parameter.source)),
                }
            }
            if values.is_empty() { state } else { format!("{state} with {}", values.join(", ")) }
        });
        states.collect()
    }

    /// The groups none of whose steps was ever taken in a search, by their places.
    pub fn never_taken(&self) -> Vec<usize> {
        let memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.plans.len()).filter(|&group| !memories.iter().any(|memory| memory.has_moved(group))).collect()
    }

    /// A thread's view of the system that takes the steps of single groups.
    pub(crate) fn walker<'a>(&'a self, control: &'a Control) -> Walker<'a> {
        let known = self.memories.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let memory = known.unwrap_or_else(|| Memory::new(&self.plans, self.pieces.len()));
        Walker::new(self, control, memory)
    }

    /// The slots that the steps of a group depend on, ascending.
    pub(crate) fn slots_read(&self, group: usize) -> Vec<usize> {
        let plan = &self.plans[group];
        let mut slots: Vec<usize> = plan.reads.iter().chain(&plan.guards).map(|&slot| slot as usize).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The slots that the steps of a group write, ascending.
    pub(crate) fn slots_written(&self, group: usize) -> Vec<usize> {
        self.plans[group].updates.iter().map(|&(slot, _)| slot as usize).collect()
    }

    /// The values that a group compares parameters with before anything else: it has no step for others.
    pub(crate) fn tests(&self, group: usize) -> &[(u32, Value)] {
        &self.plans[group].tests
    }

    /// Whether a group has no step at all.
    pub(crate) fn is_never(&self, group: usize) -> bool {
        self.plans[group].never
    }

    /// The value that every step of a group writes to a slot, where it is always the same.
    pub(crate) fn constant_update(&self, group: usize, slot: usize) -> Option<Value> {
        self.plans[group].updates.iter().find_map(|(written, update)| match update {
            Update::Constant(value) if *written as usize == slot => Some(*value),
            _ => None,
        })
    }

    /// Whether a value is a number or made of constructors, so that it equals no other one.
    pub(crate) fn is_plain(&self, slot: usize, value: Value) -> bool {
        let worker = self.compiled.pool.worker();
        let section = worker.enter();
        self.compiled.is_plain(&section, self.encodings[slot].decode(value))
    }

    /// An expression without variables as text.
    pub(crate) fn constant_text(&self, expression: TypedId) -> Option<String> {
        let worker = self.compiled.pool.worker();
        let section = worker.enter();
        self.compiled.constant(expression).map(|term| self.compiled.program.text(&section, term))
    }

    /// The linear process.
    pub fn linear(&self) -> &LinearProcess {
        &self.compiled.linear
    }

    fn build(compiled: Arc<Compiled>, labels: Arc<Labels>, wide: bool, never: Arc<[String]>) -> Model {
        let linear = compiled.linear.clone();
        let worker = compiled.pool.worker();
        let encodings = compiled.encodings(&worker, wide);
        let name_of =
            |slot: usize| linear.data.names.text(linear.data.tree.variable(linear.parameters[slot].variable).0);
        let slots = encodings
            .iter()
            .enumerate()
            .map(|(slot, encoding)| Slot { name: name_of(slot).to_string(), values: encoding.values() });
        // The parameters of a component are a part: states share what they hold.
        let starts =
            |&slot: &usize| slot == 0 || linear.parameters[slot].component != linear.parameters[slot - 1].component;
        let parts = (0..linear.parameters.len()).filter(starts).collect();
        let layout = Layout::new(slots.collect()).with_parts(parts);
        let mut pieces = Pieces::default();
        let plans: Vec<Plan> = linear
            .summands
            .iter()
            .enumerate()
            .map(|(place, summand)| {
                compiled.plan(place, &encodings, &mut pieces, &worker, |terms| {
                    label(&compiled, &labels, summand, terms, &worker.enter())
                })
            })
            .collect();
        let groups = linear.summands.iter().zip(&plans).map(|(summand, plan)| group(&linear, summand, plan)).collect();
        let section = worker.enter();
        let initial = linear.parameters.iter().zip(&encodings).map(|(parameter, encoding)| {
            let term = compiled.constant(parameter.initial).expect("initial values have no variables");
            encoding.encode(&section, term)
        });
        // An initial value that is stuck needs the wide form from the start.
        let Some(initial) = initial.collect::<Option<Vec<Value>>>() else {
            drop(section);
            drop(worker);
            return Model::build(compiled, labels, true, never);
        };
        drop(section);
        let end = linear.summands.iter().zip(&plans).find(|(summand, _)| summand.event == Event::Terminate).and_then(
            |(_, plan)| match plan.updates[..] {
                [(slot, Update::Constant(value))] => Some((slot, value)),
                _ => None,
            },
        );
        // Where nothing terminates, no state without steps is a valid end.
        let valid_end =
            Mark { meaning: Meaning::ValidEnd, reads: end.iter().map(|&(slot, _)| slot as usize).collect(), values: 2 };
        Model {
            index: Index::new(&plans),
            marks: vec![valid_end],
            labels,
            layout,
            groups,
            encodings,
            plans,
            pieces,
            end,
            wide,
            wider: OnceLock::new(),
            never,
            memories: Mutex::default(),
            growth: initial.iter().map(|&value| Growth::new(value)).collect(),
            initial,
            compiled,
        }
    }

    /// How many values a search found so far and the last of them as text, where values of a slot are numbered as they
    /// are found. Slots whose values can be the same have one numbering.
    pub fn latest_value(&self, slot: usize) -> Option<(usize, String)> {
        self.encodings[slot].latest()
    }

    /// The value of a slot as text.
    pub fn value_text(&self, slot: usize, value: Value) -> String {
        self.encodings[slot].text(value)
    }
}

impl Index {
    fn new(plans: &[Plan]) -> Index {
        let mut most: HashMap<u32, usize> = HashMap::new();
        for &(slot, _) in plans.iter().flat_map(|plan| &plan.tests) {
            *most.entry(slot).or_default() += 1;
        }
        let mut index = Index::default();
        for (group, plan) in plans.iter().enumerate().filter(|(_, plan)| !plan.never) {
            // The slot that most groups test; of several the first one.
            let chosen = plan.tests.iter().max_by_key(|&&(slot, _)| (most[&slot], u32::MAX - slot));
            let Some(&(slot, value)) = chosen else {
                index.always.push(group as u32);
                continue;
            };
            let at = match index.tested.binary_search_by_key(&slot, |&(known, _)| known) {
                Ok(at) => at,
                Err(at) => {
                    index.tested.insert(at, (slot, Vec::new()));
                    at
                }
            };
            let lists = &mut index.tested[at].1;
            if lists.len() <= value as usize {
                lists.resize(value as usize + 1, Vec::new());
            }
            lists[value as usize].push(group as u32);
        }
        index
    }
}

/// What a summand declares to engines.
fn group(linear: &LinearProcess, summand: &Summand, plan: &Plan) -> Group {
    let set = |slots: &[u32]| -> SlotSet { slots.iter().map(|&slot| slot as usize).collect() };
    let name = match &summand.event {
        Event::Terminate => "Terminate".to_string(),
        Event::Actions(actions) if actions.is_empty() => "tau".to_string(),
        Event::Actions(actions) => {
            let name = |&(action, _): &(crate::processes::ActionId, _)| {
                linear.data.names.text(linear.actions[action.0 as usize].name).to_string()
            };
            actions.iter().map(name).collect::<Vec<_>>().join("|")
        }
    };
    Group {
        name,
        guards: set(&plan.guards),
        reads: set(&plan.reads),
        may_write: plan.updates.iter().map(|&(slot, _)| slot as usize).collect(),
        must_write: set(&plan.overwritten),
        last_resort: false,
        visibility: match &summand.event {
            Event::Actions(actions) if actions.is_empty() => Visibility::Silent,
            Event::Actions(_) | Event::Terminate => Visibility::Visible,
        },
    }
}

/// The label of a step: actions with the values of their arguments, sorted by their texts.
fn label(compiled: &Compiled, labels: &Labels, summand: &Summand, terms: &[Term], section: &Section<'_>) -> LabelId {
    let Event::Actions(actions) = &summand.event else { return LabelId::TICK };
    if actions.is_empty() {
        return LabelId::TAU;
    }
    let mut rest = terms.iter();
    let parts = actions.iter().map(|(action, arguments)| {
        let own = rest.by_ref().take(arguments.len());
        let arguments = own.map(|&term| compiled.program.text(section, term).into()).collect();
        let name = compiled.linear.data.names.text(compiled.linear.actions[action.0 as usize].name);
        Part { name: name.into(), arguments }
    });
    labels.intern(Label::bag(parts.collect()))
}

impl System for Model {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _control: &Control) -> Result<Vec<Value>, Cut> {
        Ok(self.initial.clone())
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(self.walker(control))
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        if self.wide {
            return None;
        }
        let wider = self.wider.get_or_init(|| {
            Arc::new(Model::build(self.compiled.clone(), self.labels.clone(), true, self.never.clone()))
        });
        Some(wider.clone())
    }

    fn error(&self, label: LabelId) -> u32 {
        if self.never.is_empty() || label <= LabelId::TICK {
            return 0;
        }
        u32::from(self.is_forbidden(self.labels.get(label)))
    }

    fn first_error(&self) -> LabelId {
        LabelId(if self.never.is_empty() { u32::MAX } else { LabelId::TICK.0 + 1 })
    }

    fn describe(&self, row: &[Value]) -> String {
        let slots = self.layout.slots().iter().zip(row).enumerate();
        let parts = slots.map(|(slot, (known, &value))| format!("{}={}", known.name, self.value_text(slot, value)));
        parts.collect::<Vec<_>>().join(" ")
    }
}
