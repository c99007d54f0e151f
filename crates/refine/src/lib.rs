//! Refinement in the three models of CSP: traces, stable failures, failures-divergences.
//!
//! [`refine`] decides whether an implementation refines a specification, by one of the [`Algorithm`]s: the corrected antichain
//! algorithms, which never build the normal form of the specification, or the classical search in the product with the normal
//! form, built before or during the search. All of them give the same verdict, and breadth-first all of them give a witness
//! with the same, least number of visible events. The witness is a run of the implementation as it was given, whatever was
//! minimised before the search, and the replayer has accepted it before anybody sees it.

mod evidence;
mod implementation;
mod search;
mod statistics;
mod visited;

use std::fmt;
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_lts::{Glts, LazyNormalForm, Lts, normalise};
use trefoil_system::replay::replay_refinement;
use trefoil_system::{Model, System, Witness};

pub use statistics::Statistics;

use implementation::{Explicit, Graph, OnTheFly};
use search::ProductSearch;
use visited::{Antichain, Everything};

/// How refinement is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Pairs of a set of specification states and an implementation state, of which only the least are kept.
    #[default]
    Antichain,
    /// The specification is normalised and minimised before the search.
    NormalForm,
    /// The specification is normalised as far as the search looks.
    LazyNormalForm,
}

/// In which order pairs are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Search {
    /// By the number of visible events: a witness is a shortest one.
    #[default]
    BreadthFirst,
    /// The pair found last first: less to remember, and no promise about length.
    DepthFirst,
}

/// What is minimised modulo divergence-preserving branching bisimulation before the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preprocess {
    /// Nothing.
    #[default]
    Nothing,
    /// The specification.
    Specification,
    /// The implementation.
    Implementation,
    /// Both.
    Both,
}

/// What is checked and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The model in which the two are compared.
    pub model: Model,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The order.
    pub search: Search,
    /// What is minimised first.
    pub preprocess: Preprocess,
    /// How many threads may work.
    pub threads: usize,
}

impl Options {
    /// The defaults for a model.
    pub fn new(model: Model) -> Options {
        Options {
            model,
            algorithm: Algorithm::default(),
            search: Search::default(),
            preprocess: Preprocess::default(),
            threads: 1,
        }
    }
}

/// A specification.
#[derive(Clone, Copy)]
pub enum Specification<'a> {
    /// An ordinary system.
    Lts(&'a Lts),
    /// A generalised one.
    Generalised(&'a Glts),
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

impl<'a> Specification<'a> {
    fn system(self) -> &'a dyn System {
        match self {
            Specification::Lts(lts) => lts,
            Specification::Generalised(glts) => glts,
        }
    }
}

/// An implementation.
#[derive(Clone, Copy)]
pub enum Implementation<'a> {
    /// An ordinary system, all of it in memory.
    Lts(&'a Lts),
    /// Any system, explored as far as the search looks.
    System(&'a dyn System),
}

impl<'a> From<&'a Lts> for Implementation<'a> {
    fn from(lts: &'a Lts) -> Self {
        Implementation::Lts(lts)
    }
}

impl<'a> From<&'a Glts> for Implementation<'a> {
    fn from(glts: &'a Glts) -> Self {
        Implementation::System(glts)
    }
}

impl<'a> From<&'a dyn System> for Implementation<'a> {
    fn from(system: &'a dyn System) -> Self {
        Implementation::System(system)
    }
}

/// The answer of a check that came to its end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why the implementation is none, replayed; `None` when it refines the specification.
    pub witness: Option<Witness>,
    /// What was counted.
    pub statistics: Statistics,
}

impl Outcome {
    /// Does the implementation refine the specification?
    pub fn holds(&self) -> bool {
        self.witness.is_none()
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Unanswered {
    /// A budget is used up, or somebody interrupted.
    Stopped {
        /// Which.
        reason: Stopped,
        /// What was counted until then.
        statistics: Box<Statistics>,
    },
    /// The options ask for something that these systems do not allow.
    Refused(&'static str),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Stopped { reason, .. } => reason.fmt(f),
            Unanswered::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unanswered {}

/// Does the implementation refine the specification? Both use one table of labels.
pub fn refine<'a>(
    specification: impl Into<Specification<'a>>,
    implementation: impl Into<Implementation<'a>>,
    options: Options,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    let (specification, implementation) = (specification.into(), implementation.into());
    let started = Instant::now();
    let mut statistics = Statistics::default();
    let result = run(specification, implementation, options, control, &mut statistics, started);
    statistics.elapsed = started.elapsed();
    match result {
        Ok(witness) => Ok(Outcome { witness, statistics }),
        Err(reason) => Err(Unanswered::Stopped { reason, statistics: Box::new(statistics) }),
    }
}

fn run(
    specification: Specification<'_>,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
    started: Instant,
) -> Result<Option<Witness>, Stopped> {
    let normal_form = normal_form(specification, options, control)?;
    statistics.preparation = started.elapsed();
    statistics.specification_states = match specification {
        Specification::Lts(lts) => lts.state_count() as u64,
        Specification::Generalised(glts) => glts.lts().state_count() as u64,
    };
    let (witness, system): (_, &dyn System) = match implementation {
        Implementation::Lts(lts) => {
            let mut graph = Explicit::new(lts);
            (search_in(&normal_form, &mut graph, options, control, statistics)?, lts)
        }
        Implementation::System(system) => {
            let mut graph = OnTheFly::new(system, control);
            (search_in(&normal_form, &mut graph, options, control, statistics)?, system)
        }
    };
    if let Some(witness) = &witness
        && let Err(rejection) = replay_refinement(specification.system(), system, options.model, witness)
    {
        panic!("the search gave a witness that does not replay ({rejection}): {witness:?}");
    }
    Ok(witness)
}

fn normal_form(
    specification: Specification<'_>,
    options: Options,
    control: &Control,
) -> Result<LazyNormalForm, Stopped> {
    let lazy = match specification {
        Specification::Lts(lts) => LazyNormalForm::new(lts, options.model, control)?,
        Specification::Generalised(glts) => LazyNormalForm::of_generalised(glts, options.model, control)?,
    };
    match options.algorithm {
        Algorithm::Antichain | Algorithm::LazyNormalForm => Ok(lazy),
        Algorithm::NormalForm => {
            let normal = normalise(&lazy, specification.system().labels(), control)?;
            LazyNormalForm::of_generalised(&normal, options.model, control)
        }
    }
}

fn search_in<G: Graph>(
    normal_form: &LazyNormalForm,
    graph: &mut G,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let result = match options.algorithm {
        Algorithm::Antichain => {
            let antichain = Antichain::new(graph.state_count(), control)?;
            let mut search = ProductSearch::new(normal_form, graph, options.model, antichain, control, statistics);
            search.run(options.search).and_then(|found| match found {
                Some(found) => evidence::witness(&mut search, found, control).map(Some),
                None => Ok(None),
            })
        }
        Algorithm::NormalForm | Algorithm::LazyNormalForm => {
            let everything = Everything::default();
            let mut search = ProductSearch::new(normal_form, graph, options.model, everything, control, statistics);
            search.run(options.search).and_then(|found| match found {
                Some(found) => evidence::witness(&mut search, found, control).map(Some),
                None => Ok(None),
            })
        }
    };
    statistics.implementation_states = graph.state_count() as u64;
    statistics.specification_sets = normal_form.node_count() as u64;
    result
}
