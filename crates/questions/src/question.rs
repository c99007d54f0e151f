//! Questions about a system.

use trefoil_system::{LabelId, Model, System};

use crate::recur::Recur;

/// A question about a system.
#[derive(Clone, Copy)]
pub enum Question<'q> {
    /// Does it refine a specification? Both use one table of labels.
    Refine {
        /// The specification.
        specification: &'q dyn System,
        /// In which model.
        model: Model,
    },
    /// Is it free of deadlock?
    Deadlock {
        /// In which model.
        model: Model,
    },
    /// Is it free of divergence?
    Divergence,
    /// Is it deterministic?
    Determinism {
        /// In which model.
        model: Model,
    },
    /// Has it a trace: can it do it (in the traces model), must it (in the others)?
    HasTrace {
        /// The trace.
        trace: &'q [LabelId],
        /// In which model.
        model: Model,
    },
    /// Can it never reach what it must not? One search looks for several goals.
    Reach(Reach<'q>),
    /// Does Even win the parity game that it is ([`trefoil_system::Meaning::Owner`])?
    Win,
    /// Has it no run that a claim forbids?
    Recur(Recur<'q>),
}

/// What must not be reached.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'q> {
    /// The goals; each gets a verdict of its own when the search is complete.
    pub goals: &'q [Goal],
    /// The wanted goal: the search may end as soon as it reaches it.
    pub asked: usize,
    /// Errors whose steps lead back to where they begin: they show an error and are no transitions.
    pub no_steps: ErrorKinds,
}

/// Something that must not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// A step that shows an error of one of these kinds ([`System::error`]).
    Error(ErrorKinds),
    /// A state without steps where the system may not rest ([`trefoil_system::Meaning::ValidEnd`]).
    InvalidEnd,
}

/// A set of kinds of errors, as a front end numbers them, below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ErrorKinds(u64);

impl ErrorKinds {
    /// The set of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = u32>) -> ErrorKinds {
        ErrorKinds(kinds.into_iter().fold(0, |set, kind| set | 1 << kind))
    }

    /// Is this kind among them?
    #[inline]
    pub fn contains(self, kind: u32) -> bool {
        kind < 64 && self.0 >> kind & 1 == 1
    }
}

/// The kinds of questions: what tables of engines are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// [`Question::Refine`]
    Refine,
    /// [`Question::Deadlock`]
    Deadlock,
    /// [`Question::Divergence`]
    Divergence,
    /// [`Question::Determinism`]
    Determinism,
    /// [`Question::HasTrace`]
    HasTrace,
    /// [`Question::Reach`]
    Reach,
    /// [`Question::Win`]
    Win,
    /// [`Question::Recur`]
    Recur,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Refine,
        Kind::Deadlock,
        Kind::Divergence,
        Kind::Determinism,
        Kind::HasTrace,
        Kind::Reach,
        Kind::Win,
        Kind::Recur,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Refine => "refinement",
            Kind::Deadlock => "deadlock",
            Kind::Divergence => "divergence",
            Kind::Determinism => "determinism",
            Kind::HasTrace => "has trace",
            Kind::Reach => "reachability",
            Kind::Win => "game",
            Kind::Recur => "temporal",
        }
    }
}

impl Question<'_> {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Question::Refine { .. } => Kind::Refine,
            Question::Deadlock { .. } => Kind::Deadlock,
            Question::Divergence => Kind::Divergence,
            Question::Determinism { .. } => Kind::Determinism,
            Question::HasTrace { .. } => Kind::HasTrace,
            Question::Reach(_) => Kind::Reach,
            Question::Win => Kind::Win,
            Question::Recur(_) => Kind::Recur,
        }
    }

    /// How many verdicts its answer has.
    pub fn goals(&self) -> usize {
        match self {
            Question::Reach(reach) => reach.goals.len(),
            Question::Recur(recur) => recur.claims.len(),
            _ => 1,
        }
    }
}
