//! Refinement in the three models of CSP: traces, stable failures, failures-divergences.
//!
//! [`refine`] decides whether an implementation refines a specification, by one of the [`Algorithm`]s: the corrected antichain
//! algorithms, which never build the normal form of the specification, or the classical search in the product with the normal
//! form, built before or during the search. All of them give the same verdict, and breadth-first all of them give a witness
//! with the same, least number of visible events. The witness is a run of the implementation as it was given, whatever was
//! minimised before the search, and the replayer has accepted it before anybody sees it.

mod decide;
mod determinism;
mod evidence;
mod follow;
mod has_trace;
mod implementation;
mod levels;
mod parallel;
mod preprocess;
mod properties;
mod rows;
mod search;
mod specification;
mod statistics;
mod visited;

use std::fmt;
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_lts::{Glts, Lts};
use trefoil_system::replay::{Rejection, replay_refinement};
use trefoil_system::{Model, Observations, Path, System, Witness};

pub use properties::{CheckOptions, deadlock, determinism, divergence, has_trace};
pub use specification::Specification;
pub use statistics::Statistics;

use implementation::{Explicit, OnTheFly};

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
    /// The specification is normalised before the search if its normal form stays small, which is faster and works on all
    /// threads; if it grows too large, antichains are used. [`Statistics::algorithm`] says which it was.
    Automatic,
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
///
/// The default was measured (`preprocess` among the benchmarks): a specification that gets smaller makes every set of its states
/// smaller, up to 40 times faster there, and one that does not costs one minimisation of what is usually the smaller side;
/// minimising the implementation costs more than searching it once in all but one of the cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preprocess {
    /// Nothing.
    Nothing,
    /// The specification.
    #[default]
    Specification,
    /// The implementation.
    Implementation,
    /// Both.
    Both,
}

impl Preprocess {
    /// Is the specification minimised?
    pub fn specification(self) -> bool {
        matches!(self, Preprocess::Specification | Preprocess::Both)
    }

    /// Is the implementation minimised?
    pub fn implementation(self) -> bool {
        matches!(self, Preprocess::Implementation | Preprocess::Both)
    }
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
    /// How many threads may work; 0 means one per core. The antichain and depth-first searches work on one.
    pub threads: usize,
}

impl Options {
    /// The defaults for a model. A generalised specification, or a system with observations of its own, wants [`Preprocess::Nothing`].
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

impl<'a> Implementation<'a> {
    fn system(self) -> &'a dyn System {
        match self {
            Implementation::Lts(lts) => lts,
            Implementation::System(system) => system,
        }
    }
}

/// The answer of a check that came to its end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why the check fails, replayed; `None` when it holds.
    pub witness: Option<Witness>,
    /// A run, replayed, that shows that the check holds, where one run can.
    pub run: Option<Path>,
    /// What was counted.
    pub statistics: Statistics,
}

impl Outcome {
    /// Does it hold?
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
    if options.preprocess.specification() && specification.system().observations() == Observations::Explicit {
        return Err(Unanswered::Refused("a specification that carries acceptances of its own cannot be preprocessed"));
    }
    if options.preprocess.implementation() && implementation.system().observations() == Observations::Explicit {
        return Err(Unanswered::Refused(
            "an implementation that carries acceptances of its own cannot be preprocessed",
        ));
    }
    let mut statistics = Statistics::default();
    let result = run(specification, implementation, options, control, &mut statistics);
    statistics.elapsed = started.elapsed();
    match result {
        Ok(witness) => Ok(Outcome { witness, run: None, statistics }),
        Err(reason) => Err(Unanswered::Stopped { reason, statistics: Box::new(statistics) }),
    }
}

fn run(
    specification: Specification<'_>,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let started = Instant::now();
    let minimised = options.preprocess.specification();
    let prepared =
        specification::prepare(specification, options.model, options.algorithm, minimised, options.threads, control)?;
    statistics.specification_states = prepared.states as u64;
    statistics.algorithm = prepared.algorithm;
    let normal_form = &prepared.normal_form;
    let smaller_implementation = match implementation {
        Implementation::Lts(lts) if options.preprocess.implementation() => Some(preprocess::smaller(lts, control)?),
        Implementation::System(system) if options.preprocess.implementation() => {
            Some(preprocess::smaller(&preprocess::collect(system, options.threads, control)?, control)?)
        }
        _ => None,
    };
    statistics.preparation = started.elapsed();
    let searched = smaller_implementation.as_ref().map_or(implementation, Implementation::Lts);
    let mut witness = decide::decide(&prepared, searched, options, control, statistics)?;
    if let (Some(found), true) = (&witness, smaller_implementation.is_some()) {
        let given = match implementation {
            Implementation::Lts(lts) => evidence::transfer(found, normal_form, &mut Explicit::new(lts), control)?,
            Implementation::System(system) => {
                evidence::transfer(found, normal_form, &mut OnTheFly::new(system, control)?, control)?
            }
        };
        witness = Some(given.expect("what is equivalent fails alike"));
    }
    if let Some(witness) = &witness {
        control.progress().begin("replaying the witness", 0);
        match replay_refinement(specification.system(), implementation.system(), options.model, witness, control) {
            Ok(()) => {}
            Err(Rejection::Stopped(stopped)) => return Err(stopped),
            Err(rejection) => panic!("the search gave a witness that does not replay ({rejection}): {witness:?}"),
        }
    }
    Ok(witness)
}
