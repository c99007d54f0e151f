//! Refinement in the models of CSP: traces, stable failures, revivals, refusal testing, and those with divergences.
//!
//! [`refine`] decides whether an implementation refines a specification, by one of the [`Algorithm`]s: the corrected
//! antichain algorithms, which never build the normal form of the specification, or the classical search in the product
//! with the normal form, built before or during the search. All of them give the same verdict, and breadth-first all of
//! them give a witness with the same, least number of visible events. The witness is a run of the implementation as it
//! was given, whatever was minimised before the search, and the replayer has accepted it before it is returned.

mod acting;
mod decide;
mod determinism;
mod engines;
mod evidence;
mod follow;
mod has_trace;
mod implementation;
mod levels;
mod nodes;
mod parallel;
mod permuted;
mod prepared;
mod preprocess;
mod properties;
mod reduction;
mod representatives;
mod rows;
mod search;
mod specification;
mod statistics;
mod twice;
mod visited;

use std::borrow::Cow;
use std::fmt;

use trefoil_control::Control;
use trefoil_lts::{Glts, Lts};
use trefoil_symmetry::Strategy;
use trefoil_system::{Cut, Model, Path, System, Witness};

pub use engines::{
    ANTICHAIN, DEADLOCK, DETERMINISM, DIVERGENCE, HAS_TRACE, LAZY_NORMAL_FORM, NORMAL_FORM, PropertyEngine,
    RefinementEngine, prepare_product,
};
pub use permuted::{Difference, Obstacle};
pub use prepared::{Prepared, prepare, refine};
pub use properties::{CheckOptions, deadlock, determinism, divergence, has_trace};
pub use reduction::Reduction;
pub use specification::Specification;
pub use statistics::Statistics;

/// How refinement is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Pairs of a set of specification states and an implementation state; only the least pairs are kept.
    #[default]
    Antichain,
    /// The specification is normalised and minimised before the search.
    NormalForm,
    /// The specification is normalised as far as the search needs.
    LazyNormalForm,
    /// The specification is normalised before the search if its normal form stays small, which is faster and works on
    /// all threads; if it grows too large, antichains are used. [`Statistics::algorithm`] says which it was.
    Automatic,
}

/// In which order pairs are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Search {
    /// By the number of visible events: a witness is a shortest one.
    #[default]
    BreadthFirst,
    /// The pair found last first: less memory, and no promise about length.
    DepthFirst,
}

/// What is minimised modulo divergence-preserving branching bisimulation before the search.
///
/// The default was measured (`preprocess` among the benchmarks): a specification that gets smaller makes every set of
/// its states smaller, up to 40 times faster there, and one that does not costs one minimisation of what is usually the
/// smaller side; minimising the implementation costs more than searching it once in all but one of the cases.
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
    /// Is the search reduced by the symmetries of the implementation ([`System::action`]), which the specification must
    /// have as well, and how are representatives chosen?
    pub symmetry: Option<&'static Strategy>,
}

impl Options {
    /// The defaults for a model. A generalised specification, or a system with observations of its own, needs
    /// [`Preprocess::Nothing`].
    pub fn new(model: Model) -> Options {
        Options {
            model,
            algorithm: Algorithm::default(),
            search: Search::default(),
            preprocess: Preprocess::default(),
            threads: 1,
            symmetry: None,
        }
    }
}

/// An implementation.
#[derive(Clone, Copy)]
pub enum Implementation<'a> {
    /// An ordinary system, all of it in memory.
    Lts(&'a Lts),
    /// Any system, explored as far as the search needs.
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

/// The answer of a completed check.
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
    /// A walk was cut: a budget ran out, the user interrupted, or the system could not go on.
    Cut {
        /// How.
        cut: Cut,
        /// What was counted until then.
        statistics: Box<Statistics>,
    },
    /// The options request something that these systems do not allow.
    Refused(Cow<'static, str>),
}

impl Unanswered {
    /// The reason as text, as the control of the check knows it.
    pub fn explain(&self, control: &Control) -> String {
        match self {
            Unanswered::Cut { cut, .. } => cut.explain(control),
            Unanswered::Refused(why) => why.to_string(),
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Cut { cut: Cut::Wrong(wrong) | Cut::Beyond(wrong), .. } => wrong.fmt(f),
            Unanswered::Cut { .. } => f.write_str("the check ended before it was through"),
            Unanswered::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unanswered {}
