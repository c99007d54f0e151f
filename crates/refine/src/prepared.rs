//! A refinement check in two steps: the specification is prepared, then implementations are checked against it.
//!
//! In between, callers can query which permutations of labels the specification admits, and build the group for the
//! reduction of an implementation from those.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Stopped};
use trefoil_lts::LazyNormalForm;
use trefoil_symmetry::Strategy;
use trefoil_system::replay::{Rejection, replay_refinement};
use trefoil_system::{LabelId, Model, Witness};

use crate::implementation::{Explicit, OnTheFly};
use crate::permuted::Obstacle;
use crate::reduction::Unreduced;
use crate::specification::{self, Normalised};
use crate::{
    Algorithm, Implementation, Options, Outcome, Specification, Statistics, Unanswered, decide, evidence, preprocess,
};

/// A specification, ready for checks in one model by one algorithm.
pub struct Prepared<'a> {
    specification: Specification<'a>,
    normalised: Normalised,
    options: Options,
    took: Duration,
}

/// Prepares a specification. With [`Options::symmetry`] callers can query which permutations it admits, and
/// implementations can be checked with their symmetries.
pub fn prepare<'a>(
    specification: impl Into<Specification<'a>>,
    options: Options,
    control: &Control,
) -> Result<Prepared<'a>, Unanswered> {
    let specification = specification.into();
    let started = Instant::now();
    if options.preprocess.specification() && specification.system().observations().carries_acceptances() {
        return Err(Unanswered::Refused(
            "a specification that carries acceptances of its own cannot be preprocessed".into(),
        ));
    }
    let Options { model, algorithm, preprocess, threads, symmetry, .. } = options;
    if specification.system().observations().carries_acceptances() {
        carries_enough(model)?;
    }
    if model.observes_refusals_on_the_way() && algorithm == Algorithm::NormalForm {
        return Err(Unanswered::Refused(NO_NORMAL_FORM.into()));
    }
    let (minimised, symmetric) = (preprocess.specification(), symmetry.is_some());
    match specification::prepare(specification, model, algorithm, minimised, symmetric, threads, control) {
        Ok(normalised) => Ok(Prepared { specification, normalised, options, took: started.elapsed() }),
        Err(cut) => {
            let statistics = Statistics { elapsed: started.elapsed(), ..Statistics::default() };
            Err(Unanswered::Cut { cut, statistics: Box::new(statistics) })
        }
    }
}

/// Why a specification cannot be normalised before a search.
const NO_NORMAL_FORM: &str = "refusal testing has no normal form by events alone: which states of the specification are \
    left depends on what the implementation refuses; use antichain or lazy-normal-form";

/// Do the acceptances that states carry of their own suffice for a model?
fn carries_enough(model: Model) -> Result<(), Unanswered> {
    if model.has_minimal_acceptances() {
        return Ok(());
    }
    let why = "states that carry minimal acceptances of their own do not determine revivals and refusals on the way";
    Err(Unanswered::Refused(why.into()))
}

impl Prepared<'_> {
    /// Does a permutation of the labels, `labels[l]` being the image of `l` and labels beyond their own images, carry
    /// the specification to itself? If not, why?
    pub fn admits(&self, labels: &[LabelId], control: &Control) -> Result<Result<(), Obstacle>, Stopped> {
        Ok(self.normalised.map(labels, control)?.map(drop))
    }

    /// The algorithm of the search; never [`Algorithm::Automatic`].
    pub fn algorithm(&self) -> Algorithm {
        self.normalised.algorithm
    }

    /// The normal form of the specification, complete or as far as it was needed.
    pub fn normal_form(&self) -> &Arc<LazyNormalForm> {
        &self.normalised.normal_form
    }

    /// How many states the specification has that it was made from, after preprocessing.
    pub fn states(&self) -> u64 {
        self.normalised.states as u64
    }

    /// Was the specification minimised before it was normalised?
    pub fn is_minimised(&self) -> bool {
        self.options.preprocess.specification()
    }

    /// How long the preparation took.
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Does the implementation refine the specification? Both use one table of labels. With a strategy the search is
    /// reduced by the symmetries of the implementation.
    pub fn check<'a>(
        &self,
        implementation: impl Into<Implementation<'a>>,
        symmetry: Option<&'static Strategy>,
        control: &Control,
    ) -> Result<Outcome, Unanswered> {
        let implementation = implementation.into();
        let started = Instant::now();
        let options = Options { symmetry, ..self.options };
        if options.preprocess.implementation() && implementation.system().observations().carries_acceptances() {
            return Err(Unanswered::Refused(
                "an implementation that carries acceptances of its own cannot be preprocessed".into(),
            ));
        }
        if implementation.system().observations().carries_acceptances() {
            carries_enough(options.model)?;
        }
        if options.preprocess.implementation() && symmetry.is_some() {
            return Err(Unanswered::Refused(
                "an implementation that is minimised before the search cannot be reduced by its symmetries".into(),
            ));
        }
        let mut statistics = Statistics { preparation: self.took, ..Statistics::default() };
        let result = self.run(implementation, options, control, &mut statistics);
        statistics.elapsed = self.took + started.elapsed();
        match result {
            Ok(witness) => Ok(Outcome { witness, run: None, statistics }),
            Err(Unreduced::Refused(why)) => Err(Unanswered::Refused(why)),
            Err(Unreduced::Cut(cut)) => Err(Unanswered::Cut { cut, statistics: Box::new(statistics) }),
        }
    }

    fn run(
        &self,
        implementation: Implementation<'_>,
        options: Options,
        control: &Control,
        statistics: &mut Statistics,
    ) -> Result<Option<Witness>, Unreduced> {
        let started = Instant::now();
        let Prepared { specification, normalised, .. } = self;
        statistics.specification_states = normalised.states as u64;
        statistics.algorithm = normalised.algorithm;
        let normal_form = &normalised.normal_form;
        let smaller_implementation = match implementation {
            Implementation::Lts(lts) if options.preprocess.implementation() => Some(preprocess::smaller(lts, control)?),
            Implementation::System(system) if options.preprocess.implementation() => {
                Some(preprocess::smaller(&preprocess::collect(system, options.threads, control)?, control)?)
            }
            _ => None,
        };
        statistics.preparation += started.elapsed();
        let searched = smaller_implementation.as_ref().map_or(implementation, Implementation::Lts);
        let mut witness = decide::decide(normalised, searched, options, control, statistics)?;
        if let (Some(found), Some(smaller)) = (&witness, &smaller_implementation) {
            let violation = evidence::Violation::new(found, normal_form, smaller, options.model, control)?;
            let given = match implementation {
                Implementation::Lts(lts) => violation.transfer(normal_form, &mut Explicit::new(lts), control)?,
                Implementation::System(system) => {
                    violation.transfer(normal_form, &mut OnTheFly::new(system, control)?, control)?
                }
            };
            witness = Some(given.expect("what is equivalent fails alike"));
        }
        if let Some(witness) = &witness {
            control.progress().begin("replaying the witness", 0);
            let (specification, implementation) = (specification.system(), implementation.system());
            match replay_refinement(specification, implementation, options.model, witness, control) {
                Ok(()) => {}
                Err(Rejection::Cut(cut)) => return Err(cut.into()),
                Err(rejection) => panic!("the search gave a witness that does not replay ({rejection}): {witness:?}"),
            }
        }
        Ok(witness)
    }
}

/// Does the implementation refine the specification? Both use one table of labels.
pub fn refine<'a>(
    specification: impl Into<Specification<'a>>,
    implementation: impl Into<Implementation<'a>>,
    options: Options,
    control: &Control,
) -> Result<Outcome, Unanswered> {
    let implementation = implementation.into();
    // Refusals come before any work.
    if options.symmetry.is_some() && implementation.system().action().is_none() {
        return Err(Unanswered::Refused(crate::reduction::NO_SYMMETRY.into()));
    }
    prepare(specification, options, control)?.check(implementation, options.symmetry, control)
}
