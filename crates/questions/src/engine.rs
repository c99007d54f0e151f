//! The trait that every engine implements.

use std::fmt;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Cut, LabelId, Labels, System, Value};

use crate::answer::{Answer, Counts};
use crate::asked::{Asked, EngineChoice};
use crate::facts::Facts;
use crate::question::{Kind, Question};

/// A way to answer questions.
pub trait Engine: Sync {
    /// Its name in tables and answers.
    fn name(&self) -> &'static str;

    /// One line about it.
    fn about(&self) -> &'static str;

    /// Which choice of the user (`--engine`) it belongs to.
    fn family(&self) -> EngineChoice {
        EngineChoice::Explicit
    }

    /// Does it take questions of this kind, given these facts? If not, why?
    fn takes(&self, kind: Kind, facts: &Facts) -> Result<(), Refusal>;

    /// Takes the options that it honours for questions of this kind out of `asked`.
    fn honours(&self, kind: Kind, facts: &Facts, asked: &mut Asked);

    /// Does it use the symmetries of a system itself ([`System::action`]), with the strategy that a task names?
    /// Otherwise it can be given a quotient as any other system.
    fn reduces_by_symmetry(&self) -> bool {
        false
    }

    /// Why it is the one for these facts, for `--why`.
    fn reason(&self, facts: &Facts) -> String;

    /// Gets ready to answer this question for systems.
    fn prepare<'q>(
        &self,
        question: Question<'q>,
        terms: &Terms<'_>,
        control: &Control,
    ) -> Result<Ready<'q>, Unanswered>;
}

/// On which terms an engine gets ready.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'t> {
    /// The options that it honours.
    pub asked: &'t Asked,
    /// How many threads may work; 0 means one per core.
    pub threads: usize,
    /// Will the caller need to know which permutations of labels the question admits?
    pub symmetric: bool,
}

/// What came of preparing.
pub enum Ready<'q> {
    /// It is ready.
    Ready(Box<dyn Prepared + 'q>),
    /// It gave up; the next engine that takes the question follows.
    GaveUp {
        /// Why.
        why: String,
        /// What was prepared on the way for another engine, with its name.
        instead: Option<(&'static str, Box<dyn Prepared + 'q>)>,
    },
}

/// A question that an engine is ready to answer.
pub trait Prepared {
    /// Does a permutation of the labels, `images[l]` being the image of `l` and labels beyond being their own images,
    /// carry the question to itself? If not, why?
    fn admits(&self, images: &[LabelId], labels: &Labels, control: &Control) -> Result<Result<(), String>, Stopped>;

    /// Answers it for a system.
    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered>;
}

/// How many steps are added to a run that ends in this state.
pub type Beyond<'t> = dyn Fn(&[Value]) -> u32 + Sync + 't;

/// What an engine searches.
#[derive(Clone, Copy)]
pub struct Task<'t> {
    /// The system.
    pub system: &'t dyn System,
    /// By which strategy representatives are chosen, when the engine reduces by the symmetries of the system itself.
    pub strategy: Option<&'static str>,
    /// How many steps the way back from a reduction adds to a run that ends in an invalid end state with this row.
    pub beyond: Option<&'t Beyond<'t>>,
    /// The system without its reduction, for evidence that an engine does not carry back.
    pub itself: Option<&'t Arc<dyn System>>,
}

impl<'t> Task<'t> {
    /// A system as it is.
    pub fn of(system: &'t dyn System) -> Task<'t> {
        Task { system, strategy: None, beyond: None, itself: None }
    }
}

/// Why an engine, or all of them, do not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In words.
    pub why: String,
}

impl Refusal {
    /// For this reason.
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal { why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Unanswered {
    /// A walk was cut: a budget is used up, the user interrupted, or the system could not go on.
    Cut {
        /// Why.
        cut: Cut,
        /// What was counted until then.
        counts: Box<Counts>,
    },
    /// The system does not allow what the question or the options ask for.
    Refused(Refusal),
}

impl Unanswered {
    /// Refused, for this reason.
    pub fn refused(why: impl Into<String>) -> Unanswered {
        Unanswered::Refused(Refusal::new(why))
    }
}

impl<C: Into<Cut>> From<C> for Unanswered {
    fn from(cut: C) -> Unanswered {
        Unanswered::Cut { cut: cut.into(), counts: Box::default() }
    }
}
