//! The engines of this crate: refinement in three ways, and the checks of one system.

use trefoil_control::{Control, Stopped};
use trefoil_lts::{Glts, Lts};
use trefoil_questions as questions;
use trefoil_questions::{
    Answer, AntichainCounts, Asked, Counts, Engine, Evidence, Facts, Found, Kind, Question, Ready, Refusal, Setting,
    Task, Terms, UsedSymmetry,
};
use trefoil_symmetry::{STRATEGIES, Strategy, strategy_named};
use trefoil_system::{LabelId, Labels, Model, System};

use crate::{
    Algorithm, CheckOptions, Implementation, Options, Outcome, Prepared, Preprocess, Search, Specification, Statistics,
    Unanswered, deadlock, determinism, divergence, has_trace, prepare,
};

/// Decides refinement in one way.
pub struct RefinementEngine {
    algorithm: questions::Algorithm,
    about: &'static str,
    reason: &'static str,
}

/// The specification is normalised before the search.
pub static NORMAL_FORM: RefinementEngine = RefinementEngine {
    algorithm: questions::Algorithm::NormalForm,
    about: "the specification is normalised before the search, which works on every core",
    reason: "the normal form of the specification stays small, and the search works on every core",
};

/// No normal form is built.
pub static ANTICHAIN: RefinementEngine = RefinementEngine {
    algorithm: questions::Algorithm::Antichain,
    about: "only the least sets of specification states are kept; no normal form is built",
    reason: "both systems are in memory, and no normal form has to be built",
};

/// The specification is normalised as far as the search looks.
pub static LAZY_NORMAL_FORM: RefinementEngine = RefinementEngine {
    algorithm: questions::Algorithm::LazyNormalForm,
    about: "the specification is normalised as far as the search looks",
    reason: "the specification is normalised as far as the search looks",
};

impl Engine for RefinementEngine {
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Refine => Ok(()),
            _ => Err(Refusal::new(format!("{} compares two systems", self.name()))),
        }
    }

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        if asked.algorithm == Some(self.algorithm) {
            asked.take(Setting::Algorithm);
        }
        asked.take(Setting::Order);
        asked.take(Setting::Preprocess);
    }

    fn reduces_by_symmetry(&self) -> bool {
        true
    }

    fn reason(&self, _: &Facts) -> String {
        self.reason.to_string()
    }

    fn prepare<'q>(
        &self,
        question: Question<'q>,
        terms: &Terms<'_>,
        control: &Control,
    ) -> Result<Ready<'q>, questions::Unanswered> {
        let Question::Refine { specification, model } = question else {
            return Err(questions::Unanswered::refused(format!("{} compares two systems", self.name())));
        };
        let prepared = prepared(self.algorithm, specification, model, terms, control)?;
        let algorithm = prepared.algorithm();
        let ready = Box::new(Refining { prepared });
        if self.algorithm == questions::Algorithm::NormalForm && algorithm == Algorithm::Antichain {
            let why = "the normal form of the specification grew too large".to_string();
            return Ok(Ready::GaveUp { why, instead: Some((ANTICHAIN.name(), ready)) });
        }
        // Refusal testing has no normal form to build before the search; the sets after traces are few then.
        Ok(Ready::Ready(ready))
    }
}

/// A specification that is ready to be beside implementations, as for the search with its normal form. Where that grows
/// too large, and the user did not insist on it, it is there as far as it was built.
pub fn prepare_product<'q>(
    specification: &'q dyn System,
    model: Model,
    terms: &Terms<'_>,
    control: &Control,
) -> Result<Prepared<'q>, questions::Unanswered> {
    prepared(questions::Algorithm::NormalForm, specification, model, terms, control)
}

fn prepared<'q>(
    algorithm: questions::Algorithm,
    specification: &'q dyn System,
    model: Model,
    terms: &Terms<'_>,
    control: &Control,
) -> Result<Prepared<'q>, questions::Unanswered> {
    // A normal form that the user did not request may turn out too large.
    let insisted = terms.asked.algorithm == Some(algorithm);
    let options = Options {
        algorithm: match algorithm {
            questions::Algorithm::NormalForm if insisted => Algorithm::NormalForm,
            questions::Algorithm::NormalForm | questions::Algorithm::Automatic => Algorithm::Automatic,
            questions::Algorithm::Antichain => Algorithm::Antichain,
            questions::Algorithm::LazyNormalForm => Algorithm::LazyNormalForm,
        },
        search: match terms.asked.order {
            Some(questions::Order::DepthFirst) => Search::DepthFirst,
            Some(questions::Order::BreadthFirst) | None => Search::BreadthFirst,
        },
        preprocess: match terms.asked.preprocess {
            Some(questions::Preprocess::Nothing) => Preprocess::Nothing,
            Some(questions::Preprocess::Implementation) => Preprocess::Implementation,
            Some(questions::Preprocess::Both) => Preprocess::Both,
            Some(questions::Preprocess::Specification) => Preprocess::Specification,
            None if carries_observations(specification) => Preprocess::Nothing,
            None => Preprocess::default(),
        },
        threads: terms.threads,
        symmetry: terms.symmetric.then_some(&STRATEGIES[0]),
        ..Options::new(model)
    };
    prepare(given(specification), options, control).map_err(unanswered)
}

fn carries_observations(system: &dyn System) -> bool {
    system.observations().carries_acceptances()
}

/// A specification in its concrete form.
fn given(specification: &dyn System) -> Specification<'_> {
    let explicit = specification.in_memory();
    if let Some(lts) = explicit.and_then(|explicit| explicit.downcast_ref::<Lts>()) {
        Specification::Lts(lts)
    } else if let Some(glts) = explicit.and_then(|explicit| explicit.downcast_ref::<Glts>()) {
        Specification::Generalised(glts)
    } else {
        Specification::System(specification)
    }
}

struct Refining<'q> {
    prepared: Prepared<'q>,
}

impl questions::Prepared for Refining<'_> {
    fn admits(&self, images: &[LabelId], labels: &Labels, control: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(self.prepared.admits(images, control)?.map_err(|obstacle| obstacle.describe(labels)))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, questions::Unanswered> {
        let strategy = strategy_of(task)?;
        let explicit = task.system.in_memory().and_then(|explicit| explicit.downcast_ref::<Lts>());
        let implementation = explicit.map_or(Implementation::System(task.system), Implementation::Lts);
        let outcome = self.prepared.check(implementation, strategy, control).map_err(unanswered)?;
        let engine = match outcome.statistics.algorithm {
            Algorithm::Antichain => ANTICHAIN.name(),
            Algorithm::LazyNormalForm => LAZY_NORMAL_FORM.name(),
            Algorithm::NormalForm | Algorithm::Automatic => NORMAL_FORM.name(),
        };
        let antichain = outcome.statistics.algorithm == Algorithm::Antichain;
        let mut answer = answered(engine, outcome);
        answer.counts.antichain = answer.counts.antichain.filter(|_| antichain);
        if self.prepared.is_minimised() {
            let words = "specification minimised modulo divergence-preserving branching bisimulation";
            answer.reductions.push(words.to_string());
        }
        Ok(answer)
    }
}

/// Checks one system.
pub struct PropertyEngine {
    name: &'static str,
    about: &'static str,
    kind: Kind,
}

/// Looks for states that can do nothing.
pub static DEADLOCK: PropertyEngine = PropertyEngine {
    name: "deadlock",
    about: "breadth-first by visible events for a state that can do nothing",
    kind: Kind::Deadlock,
};

/// Looks for cycles of `τ`.
pub static DIVERGENCE: PropertyEngine = PropertyEngine {
    name: "divergence",
    about: "breadth-first by visible events for a cycle of internal steps",
    kind: Kind::Divergence,
};

/// Compares all runs of one trace.
pub static DETERMINISM: PropertyEngine = PropertyEngine {
    name: "determinism",
    about: "the product of the system with itself, searched for an event that one run does and another refuses",
    kind: Kind::Determinism,
};

/// Follows a trace.
pub static HAS_TRACE: PropertyEngine =
    PropertyEngine { name: "trace", about: "the states that the trace leads to, event by event", kind: Kind::HasTrace };

impl Engine for PropertyEngine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        if kind == self.kind { Ok(()) } else { Err(Refusal::new(format!("{} answers one question", self.name))) }
    }

    fn honours(&self, _: Kind, _: &Facts, _: &mut Asked) {}

    fn reduces_by_symmetry(&self) -> bool {
        true
    }

    fn reason(&self, _: &Facts) -> String {
        "it is the engine for this question".to_string()
    }

    fn prepare<'q>(
        &self,
        question: Question<'q>,
        terms: &Terms<'_>,
        _: &Control,
    ) -> Result<Ready<'q>, questions::Unanswered> {
        if question.kind() != self.kind {
            return Err(questions::Unanswered::refused(format!("{} answers one question", self.name)));
        }
        Ok(Ready::Ready(Box::new(Observing { engine: self.name, question, threads: terms.threads })))
    }
}

struct Observing<'q> {
    engine: &'static str,
    question: Question<'q>,
    threads: usize,
}

impl questions::Prepared for Observing<'_> {
    fn admits(&self, images: &[LabelId], labels: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        let Question::HasTrace { trace, .. } = self.question else { return Ok(Ok(())) };
        let moved = |event: &&LabelId| images.get(event.index()).is_some_and(|image| image != *event);
        let why = |event: &LabelId| {
            let event = labels.get(*event);
            format!("the required trace has {event}, which would become another event")
        };
        Ok(trace.iter().find(moved).map(why).map_or(Ok(()), Err))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, questions::Unanswered> {
        let options = CheckOptions { threads: self.threads, symmetry: strategy_of(task)? };
        let system = task.system;
        let outcome = match self.question {
            Question::Deadlock { model } => deadlock(system, model, options, control),
            Question::Divergence => divergence(system, options, control),
            Question::Determinism { model } => determinism(system, model, options, control),
            Question::HasTrace { trace, model } => has_trace(system, trace, model, options, control),
            Question::Refine { .. } | Question::Reach(_) | Question::Win | Question::Recur(_) => {
                return Err(questions::Unanswered::refused(format!("{} answers one question", self.engine)));
            }
        };
        let mut answer = answered(self.engine, outcome.map_err(unanswered)?);
        answer.counts.antichain = None;
        Ok(answer)
    }
}

/// The strategy that a task names.
fn strategy_of(task: &Task<'_>) -> Result<Option<&'static Strategy>, questions::Unanswered> {
    let Some(name) = task.strategy else { return Ok(None) };
    let known = strategy_named(name);
    known.map(Some).ok_or_else(|| questions::Unanswered::refused(format!("there is no strategy {name}")))
}

fn answered(engine: &'static str, outcome: Outcome) -> Answer {
    let Outcome { witness, run, statistics } = outcome;
    let symmetry = statistics.symmetry.as_deref().map(|reduction| UsedSymmetry {
        order: reduction.order.to_string(),
        structure: reduction.group.clone(),
        strategy: reduction.strategy,
        reason: reduction.reason.clone(),
        total_states: reduction.total.as_ref().map(ToString::to_string),
        orbits: Vec::new(),
    });
    let complete = witness.is_none();
    let found = vec![match witness {
        Some(witness) => Found::Fails(Evidence::Witness(witness)),
        None => Found::Holds(run),
    }];
    Answer { found, complete, counts: counts(&statistics), symmetry, ..Answer::new(engine, 1) }
}

fn counts(statistics: &Statistics) -> Counts {
    Counts {
        states: statistics.states,
        transitions: statistics.transitions,
        levels: statistics.levels,
        waiting: statistics.working_max,
        specification_states: statistics.specification_states,
        implementation_states: statistics.implementation_states,
        antichain: Some(AntichainCounts {
            hits: statistics.antichain_hits,
            misses: statistics.antichain_misses,
            most: statistics.antichain_max,
        }),
        preparation: statistics.preparation,
        elapsed: statistics.elapsed,
        ..Counts::default()
    }
}

fn unanswered(why: Unanswered) -> questions::Unanswered {
    match why {
        Unanswered::Cut { cut, statistics } => {
            let counts = Box::new(Counts { antichain: None, ..counts(&statistics) });
            questions::Unanswered::Cut { cut, counts }
        }
        Unanswered::Refused(why) => questions::Unanswered::refused(why),
    }
}
