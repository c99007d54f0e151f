//! Specifications: their forms, and how they are prepared before the search.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::diverging_states;
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Acceptances, Glts, LazyNormalForm, Lts, normalise, normalise_within, stays_within};
use trefoil_system::{Cut, LabelId, Labels, Model, System};

use crate::permuted::{Difference, Obstacle, node_map, state_map};
use crate::{Algorithm, preprocess};

/// A specification.
#[derive(Clone, Copy)]
pub enum Specification<'a> {
    /// An ordinary system.
    Lts(&'a Lts),
    /// A generalised one.
    Generalised(&'a Glts),
    /// Any system; all of it is explored before the search.
    System(&'a dyn System),
}

impl<'a> From<&'a Lts> for Specification<'a> {
    fn from(lts: &'a Lts) -> Self {
        Specification::Lts(lts)
    }
}

impl<'a> From<&'a Glts> for Specification<'a> {
    fn from(glts: &'a Glts) -> Self {
        Specification::Generalised(glts)
    }
}

impl<'a> From<&'a dyn System> for Specification<'a> {
    fn from(system: &'a dyn System) -> Self {
        Specification::System(system)
    }
}

impl<'a> Specification<'a> {
    pub(crate) fn system(self) -> &'a dyn System {
        match self {
            Specification::Lts(lts) => lts,
            Specification::Generalised(glts) => glts,
            Specification::System(system) => system,
        }
    }
}

/// A specification whose states are all known.
#[derive(Clone, Copy)]
enum Known<'a> {
    Lts(&'a Lts),
    Generalised(&'a Glts),
}

/// The objects of a specification that a permutation of labels acts on.
pub(crate) enum Permutable {
    /// On the nodes of its complete normal form.
    Nodes,
    /// On its states, no two of which are strongly bisimilar.
    States(Box<Lts>),
    /// On nothing, for this reason.
    Not(&'static str),
}

/// A specification as the search needs it.
pub(crate) struct Normalised {
    pub(crate) labels: Arc<Labels>,
    pub(crate) permutable: Permutable,
    pub(crate) normal_form: Arc<LazyNormalForm>,
    /// How many nodes the normal form has at most, chaos included, when it is complete.
    pub(crate) nodes: Option<u32>,
    /// The algorithm of the search.
    pub(crate) algorithm: Algorithm,
    /// How many states it was made from, after preprocessing.
    pub(crate) states: usize,
    /// The maps of permutations that were queried.
    pub(crate) maps: Maps,
}

/// Permutations of the labels that carry a specification to itself, each with its map of nodes or states. A caller that
/// queries a permutation usually needs its map later.
#[derive(Default)]
pub(crate) struct Maps {
    known: Mutex<HashMap<Vec<LabelId>, Arc<[u32]>>>,
}

/// How many numbers the maps that are kept may have together.
const MOST_KEPT: usize = 1 << 24;

impl Normalised {
    /// For each node, or each state, its image under a permutation of the labels, or why there is none; labels beyond
    /// the given images are fixed.
    pub(crate) fn map(&self, images: &[LabelId], control: &Control) -> Result<Result<Arc<[u32]>, Obstacle>, Stopped> {
        let image = |label: LabelId| images.get(label.index()).copied().unwrap_or(label);
        let key: Vec<LabelId> = (0..self.labels.len() as u32).map(|label| image(LabelId(label))).collect();
        let lock = || self.maps.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(Ok(known.clone()));
        }
        let map = match &self.permutable {
            Permutable::Nodes => node_map(&self.normal_form, &mut |label| image(label), control)?,
            Permutable::States(lts) => state_map(lts, &mut |label| image(label), control)?,
            Permutable::Not(why) => Err(Obstacle { trace: None, difference: Difference::Unknown(why) }),
        };
        Ok(map.map(|map| {
            let map: Arc<[u32]> = map.into();
            let mut known = lock();
            if (known.len() + 1) * map.len() <= MOST_KEPT {
                known.insert(key, map.clone());
            }
            map
        }))
    }
}

/// Prepares a specification for the search; when it is `symmetric`, permutations may be queried afterwards.
pub(crate) fn prepare(
    specification: Specification<'_>,
    model: Model,
    algorithm: Algorithm,
    minimised: bool,
    symmetric: bool,
    threads: usize,
    control: &Control,
) -> Result<Normalised, Cut> {
    let (collected, generalised);
    let known = match specification {
        Specification::Lts(lts) => Known::Lts(lts),
        Specification::Generalised(glts) => Known::Generalised(glts),
        Specification::System(system) if system.observations().carries_acceptances() => {
            generalised = collect_generalised(system, threads, control)?;
            Known::Generalised(&generalised)
        }
        Specification::System(system) => {
            control.progress().begin("exploring the specification", 0);
            collected = preprocess::collect(system, threads, control)?;
            Known::Lts(&collected)
        }
    };
    let smaller;
    let known = match known {
        Known::Lts(lts) if minimised => {
            smaller = preprocess::smaller(lts, control)?;
            Known::Lts(&smaller)
        }
        Known::Lts(lts) if symmetric => {
            smaller = minimise(lts, Equivalence::Strong, control)?.lts;
            Known::Lts(&smaller)
        }
        known => known,
    };
    let (lazy, lts) = match known {
        Known::Lts(lts) => (LazyNormalForm::new(lts, model, control)?, lts),
        Known::Generalised(glts) => (LazyNormalForm::of_generalised(glts, model, control)?, glts.lts()),
    };
    let states = lts.state_count();
    let mut algorithm = algorithm;
    if algorithm == Algorithm::Automatic && model.observes_refusals_on_the_way() {
        // Refusals on the way lead to further sets, which no event alone leads to; those after traces show how many
        // there will be.
        let few = stays_within(&lazy, budget(lts), control)?;
        algorithm = if few { Algorithm::LazyNormalForm } else { Algorithm::Antichain };
    }
    let normal = match algorithm {
        Algorithm::Antichain | Algorithm::LazyNormalForm => None,
        Algorithm::NormalForm => Some(normalise(&lazy, lts.labels(), control)?),
        Algorithm::Automatic => normalise_within(&lazy, lts.labels(), budget(lts), control)?,
    };
    match normal {
        Some(normal) => Ok(Normalised {
            normal_form: Arc::new(LazyNormalForm::of_generalised(&normal, model, control)?.numbered(control)?),
            // Every node is chaos or belongs to one state, and no two states are equivalent.
            nodes: u32::try_from(normal.lts().state_count() + 1).ok(),
            algorithm: Algorithm::NormalForm,
            states,
            labels: lts.labels().clone(),
            permutable: Permutable::Nodes,
            maps: Maps::default(),
        }),
        None => {
            let algorithm = if algorithm == Algorithm::Automatic { Algorithm::Antichain } else { algorithm };
            let permutable = match known {
                _ if !symmetric => Permutable::Not("the specification was prepared without a thought of symmetry"),
                Known::Lts(lts) => Permutable::States(Box::new(lts.clone())),
                Known::Generalised(_) => Permutable::Not(
                    "the states of a specification that carries acceptances of its own can be permuted only in its \
                     normal form, which is not built here",
                ),
            };
            let labels = lts.labels().clone();
            let maps = Maps::default();
            Ok(Normalised { normal_form: Arc::new(lazy), nodes: None, algorithm, states, labels, permutable, maps })
        }
    }
}

/// How large a normal form may become before the automatic choice gives it up.
fn budget(lts: &Lts) -> usize {
    LEAST_BUDGET + BUDGET_FACTOR * (lts.state_count() + lts.transition_count())
}

/// Below a second.
const LEAST_BUDGET: usize = 1 << 20;
/// A normal form that is larger than the specification by this factor is about to explode.
const BUDGET_FACTOR: usize = 32;

/// All of a system whose states carry acceptances and divergence.
fn collect_generalised(system: &dyn System, threads: usize, control: &Control) -> Result<Glts, Cut> {
    control.progress().begin("exploring the specification", 0);
    let (lts, rows) = preprocess::collect_rows(system, threads, control)?;
    let mut acceptances = Acceptances::new();
    let (mut families, mut diverging) = (Vec::new(), Vec::new());
    let mut explorer = system.explorer(control);
    for state in lts.states() {
        if state.0.is_multiple_of(1024) {
            control.check()?;
        }
        let observation = explorer.observe(&rows(state))?;
        let sets = observation.acceptances.iter().map(|set| acceptances.set(set, control));
        let sets = sets.collect::<Result<_, Stopped>>()?;
        families.push(acceptances.family(sets, control)?);
        diverging.push(observation.diverges);
    }
    if !system.observations().carries_divergence() {
        diverging = diverging_states(&lts, control)?;
    }
    Ok(Glts::new(lts, acceptances, families, diverging))
}
