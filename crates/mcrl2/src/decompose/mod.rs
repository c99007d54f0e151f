//! Decomposition: a linear process taken apart along its parameters, and put together again, smaller.
//!
//! The state space of a linear process is explored without building it as a whole. Its parameters are divided among
//! parts ([`cleave`]); the parts are explored together, each over its own parameters ([`explore`]); they are minimised
//! and composed again two at a time, minimising after each step ([`compose`]). The result is bisimilar to the original.
//! The method is that of Laveaux, *Accelerated verification of concurrent systems* (2024), chapter 3, for two parts and
//! strong bisimilarity; docs/decisions/006-decomposition.md says what differs here and proves it.
//!
//! Invariants: a run of the result is followed down to the parts, and is a run of the original ([`lift`]). Numbers
//! depend on the input alone.

mod cleave;
mod compose;
mod explore;
mod expressions;
mod invariants;
mod lift;
mod partition;
mod reading;
mod restrict;
mod system;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use trefoil_control::Control;
use trefoil_lts::equivalence::Equivalence;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{Cut, Label, LabelId, Labels, System, Value, Writing};

use crate::system::{Model, NoModel};

use cleave::Cleaved;
pub use compose::Composed;
use compose::{Component, Composition, Uncomposed};
use explore::{Limits, Poison, Unexplored};
pub use invariants::{Invariants, WrittenInvariant};
use partition::Sample;
pub use partition::{Choice, choose};
pub use reading::read_invariant;
pub use system::ComposedSystem;
pub use written::{WrittenParts, written_parts};

/// The parameters of each part, by their places; a parameter may be in several.
pub type Partition = Vec<Vec<usize>>;

/// What a decomposition may do.
#[derive(Clone, Copy)]
pub struct Freedom<'a> {
    /// The equivalence that has to be kept: strong, or divergence-preserving branching bisimilarity.
    pub equivalence: Equivalence,
    /// Labels that count as `τ`.
    pub hidden: &'a Hiding,
    /// Whether invariants are looked for first, together with these conjuncts of the user's; otherwise they are
    /// looked for where nothing else helps.
    pub invariants: Option<&'a [WrittenInvariant]>,
}

/// Whether a label counts as `τ`.
pub type Hiding = Arc<dyn Fn(&Label) -> bool + Send + Sync>;

/// Why there is no decomposition.
#[derive(Clone, Debug)]
pub enum Undone {
    /// The search was cut.
    Cut(Cut),
    /// This partition cannot be used.
    Refused(String),
}

/// A linear process as parts that were composed again.
pub struct Decomposition {
    original: Arc<Model>,
    /// The parameters of each part.
    pub partition: Partition,
    /// The parts, explored and minimised.
    pub parts: Vec<Composed>,
    /// The compositions, in order.
    pub compositions: Vec<Composed>,
    /// How the parts work together: summands of one part, and of several.
    pub synchronisation: Synchronisation,
    /// The invariants that were used, in words.
    pub invariants: Vec<String>,
    component: Component,
    lts: Arc<Lts>,
    /// The labels of `lts` as the component has them.
    inner: HashMap<LabelId, LabelId>,
    hidden: Hiding,
    /// The halves, as a model.
    model: Arc<Model>,
    /// The values of each parameter, by their texts.
    values: OnceLock<Vec<HashMap<String, Value>>>,
}

/// How many summands are done by how many parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synchronisation {
    /// Summands, with their cases apart, that one part does alone.
    pub alone: usize,
    /// Those that several parts do together.
    pub together: usize,
    /// Joint rules: combinations of steps that agree.
    pub rules: usize,
    /// Pairs of parts that do summands together, with their number.
    pub pairs: Vec<(usize, usize, usize)>,
}

/// Takes the linear process of a model apart by a partition, and composes the parts.
pub fn decompose(
    original: &Arc<Model>,
    partition: &Partition,
    freedom: &Freedom<'_>,
    control: &Control,
) -> Result<Decomposition, Undone> {
    let found = match freedom.invariants {
        Some(written) => {
            let sample = Sample::new(original, control).map_err(Undone::Cut)?;
            Some(Arc::new(invariants::find(original, &sample, written, control)?))
        }
        None => None,
    };
    let mut taken = TakenApart::new(original, partition, found.as_ref(), control)?;
    taken.composed(freedom, Limits::NONE, usize::MAX, control).map_err(|unbuilt| match unbuilt {
        Unbuilt::Limit(_) => Undone::Refused("a part has too many states".to_string()),
        Unbuilt::Undone(undone) => undone,
    })
}

enum Unbuilt {
    /// It is larger than allowed. The components that were left then have combinations of that many bits.
    Limit(f64),
    Undone(Undone),
}

/// A model taken apart, with the code of its halves: ready to be explored.
struct TakenApart {
    original: Arc<Model>,
    partition: Partition,
    cleaved: Cleaved,
    /// Summands that are not split, as a case of them is stuck where they are not.
    whole: BTreeSet<usize>,
    /// The halves, as a model.
    model: Arc<Model>,
    invariants: Option<Arc<Invariants>>,
}

impl TakenApart {
    fn new(
        original: &Arc<Model>,
        partition: &Partition,
        invariants: Option<&Arc<Invariants>>,
        control: &Control,
    ) -> Result<TakenApart, Undone> {
        let whole = BTreeSet::new();
        let (cleaved, model) = cleaved(original, partition, &whole, control)?;
        let (original, partition) = (original.clone(), partition.clone());
        Ok(TakenApart { original, partition, cleaved, whole, model, invariants: invariants.cloned() })
    }

    /// Explores the parts and composes them, unless one of them is larger than allowed.
    fn composed(
        &mut self,
        freedom: &Freedom<'_>,
        limits: Limits,
        most_states: usize,
        control: &Control,
    ) -> Result<Decomposition, Unbuilt> {
        loop {
            match self.composed_once(freedom, limits, most_states, control)? {
                Ok(made) => return Ok(made),
                Err(Poison { exact: false, summand, .. }) if self.whole.insert(summand) => {
                    let again = cleaved(&self.original, &self.partition, &self.whole, control);
                    (self.cleaved, self.model) = again.map_err(Unbuilt::Undone)?;
                }
                Err(Poison { exact, wrong, .. }) => {
                    let cut = if exact { Cut::Wrong(wrong) } else { Cut::Beyond(wrong) };
                    return Err(Unbuilt::Undone(Undone::Cut(cut)));
                }
            }
        }
    }

    /// The same without another try where poison is reached.
    fn composed_once(
        &mut self,
        freedom: &Freedom<'_>,
        limits: Limits,
        most_states: usize,
        control: &Control,
    ) -> Result<Result<Decomposition, Poison>, Unbuilt> {
        let labels = Arc::new(Labels::written(Writing::Brackets));
        let explored = loop {
            let models = (&*self.model, &*self.original);
            let invariants = self.invariants.as_deref();
            let bounds = (limits, invariants);
            match explore::explore(&self.cleaved, models, &labels, &**freedom.hidden, bounds, control) {
                Ok(explored) => break explored,
                // A value of a finite sort is stuck: values are numbered as they are met.
                Err(Unexplored::Cut(Cut::Outgrown)) => self.model = Arc::new(self.model.wide()),
                Err(Unexplored::Cut(cut)) => return Err(Unbuilt::Undone(Undone::Cut(cut))),
                Err(Unexplored::Limit) => return Err(Unbuilt::Limit(f64::INFINITY)),
            }
        };
        let cleaved = &self.cleaved;
        let uncomposed = |uncomposed: Uncomposed| match uncomposed {
            Uncomposed::Limit(bits) => Unbuilt::Limit(bits),
            Uncomposed::Cut(cut) => Unbuilt::Undone(Undone::Cut(cut)),
        };
        let synchronisation =
            synchronisation(cleaved, explored.agreements.iter().filter(|agreement| agreement.parts.len() > 1).count());
        let poison = explored.poison.clone();
        let composition =
            Composition::new(explored, &labels, freedom.equivalence, most_states, control).map_err(uncomposed)?;
        let parts = composition.composed();
        let (component, compositions) = composition.compose(control).map_err(uncomposed)?;
        if !poison.is_empty() {
            let labels: HashSet<LabelId> = component.whole.transitions().iter().map(|step| step.label).collect();
            // First what another try can tell, then what is certain.
            let rank = |one: &Poison| match (one.exact, self.whole.contains(&one.summand)) {
                (false, false) => 0,
                (true, _) => 1,
                (false, true) => 2,
            };
            if let Some(poison) = poison.into_iter().filter(|one| labels.contains(&one.label)).min_by_key(rank) {
                return Ok(Err(poison));
            }
        }
        let (lts, inner) = in_table(&component.whole, self.original.labels());
        Ok(Ok(Decomposition {
            original: self.original.clone(),
            partition: cleaved.parts.clone(),
            parts,
            compositions,
            synchronisation,
            invariants: self.invariants.as_ref().map_or_else(Vec::new, |found| found.words.clone()),
            component,
            lts: Arc::new(lts),
            inner,
            hidden: freedom.hidden.clone(),
            values: OnceLock::new(),
            model: self.model.clone(),
        }))
    }
}

/// The halves of a model's summands, and the model of them.
fn cleaved(
    original: &Model,
    partition: &Partition,
    whole: &BTreeSet<usize>,
    control: &Control,
) -> Result<(Cleaved, Arc<Model>), Undone> {
    let linear = original.linear();
    let cleaved = cleave::cleave(linear, partition, whole).map_err(|cleave::NoDefault(sort)| {
        let sort = linear.data.sort_text(sort);
        Undone::Refused(format!("no value of the sort `{sort}` is known, which parts have to exchange"))
    })?;
    // Halves have no actions, so that this table stays empty.
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let made = Model::new(cleaved.process.clone(), labels, control);
    let made = made.map_err(|NoModel::Unfinished(..)| Undone::Cut(Cut::Stopped))?;
    let names = cleaved.origins.iter().map(|&summand| original.groups()[summand].name.as_str());
    let model = Arc::new(made.with_group_names(names));
    Ok((cleaved, model))
}

/// How the parts of a process work together, by so many joint rules.
fn synchronisation(cleaved: &Cleaved, rules: usize) -> Synchronisation {
    let mut found = Synchronisation { rules, ..Synchronisation::default() };
    let mut pairs = BTreeMap::new();
    for joint in &cleaved.joints {
        let parts: Vec<usize> = joint.halves.iter().map(|&half| cleaved.halves[half].part).collect();
        if parts.len() == 1 {
            found.alone += 1;
            continue;
        }
        found.together += 1;
        for (at, &one) in parts.iter().enumerate() {
            for &other in &parts[at + 1..] {
                *pairs.entry((one.min(other), one.max(other))).or_insert(0) += 1;
            }
        }
    }
    found.pairs = pairs.into_iter().map(|((one, other), count)| (one, other, count)).collect();
    found
}

/// The same LTS with its labels in another table, and the label of each as it was.
fn in_table(lts: &Lts, labels: &Arc<Labels>) -> (Lts, HashMap<LabelId, LabelId>) {
    let mut images: HashMap<LabelId, LabelId> = HashMap::new();
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(lts.state_count() as u32);
    for (source, step) in lts.all_transitions() {
        let known = images.entry(step.label);
        let label = *known.or_insert_with_key(|&label| match label {
            LabelId::TAU | LabelId::TICK => label,
            _ => labels.intern(lts.labels().get(label).clone()),
        });
        builder.add(source, label, step.target);
    }
    (builder.build(lts.initial()), images.into_iter().map(|(old, new)| (new, old)).collect())
}

impl Decomposition {
    /// The last composition, before it was minimised, with the labels of the original.
    pub fn lts(&self) -> &Arc<Lts> {
        &self.lts
    }

    /// The last composition, minimised.
    pub fn minimised(&self) -> &Lts {
        &self.component.lts
    }

    /// The states of the largest LTS that was explored or composed.
    pub fn peak_states(&self) -> usize {
        self.parts.iter().chain(&self.compositions).map(|one| one.states).max().unwrap_or(0)
    }

    /// The original.
    pub fn original(&self) -> &Arc<Model> {
        &self.original
    }

    /// A label of the original as the composition has it.
    fn seen(&self, label: LabelId) -> LabelId {
        let is_hidden = label > LabelId::TICK && (self.hidden)(self.original.labels().get(label));
        if is_hidden { LabelId::TAU } else { label }
    }

    /// A value of the original as the parts have it; none when no part has it.
    fn value(&self, slot: usize, value: Value) -> Option<Value> {
        // A value is numbered here and there as it was met: its text is what both have.
        let values = self.values.get_or_init(|| {
            let mut values = vec![HashMap::new(); self.original.linear().parameters.len()];
            for rows in self.component.rows_of_parts().values() {
                let met: HashSet<(usize, Value)> =
                    rows.states.values().flat_map(|row| rows.slots.iter().copied().zip(row.iter().copied())).collect();
                for (slot, value) in met {
                    values[slot].insert(self.model.value_text(slot, value), value);
                }
            }
            values
        });
        values[slot].get(&self.original.value_text(slot, value)).copied()
    }

    /// A label of the last composition as its components have it.
    fn inner_label(&self, label: LabelId) -> LabelId {
        self.inner.get(&label).copied().unwrap_or(label)
    }
}
