//! Reductions: a smaller system, and the way back for its evidence.

use trefoil_control::Control;
use trefoil_questions::Evidence;
use trefoil_system::{Cut, Path, System, Value};

use crate::price::PriceRule;

/// The sorts of reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduces {
    /// One state of each orbit of a symmetry group is searched.
    Symmetry,
    /// Independent steps are taken in one order.
    PartialOrder,
    /// Parts of the system are minimised and composed again.
    Decomposition,
}

impl Reduces {
    /// All of them.
    pub const ALL: [Reduces; 3] = [Reduces::Symmetry, Reduces::PartialOrder, Reduces::Decomposition];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Reduces::Symmetry => "symmetry",
            Reduces::PartialOrder => "partial order",
            Reduces::Decomposition => "decomposition",
        }
    }
}

/// A system that is searched in place of another one.
pub trait Reduction: Sync {
    /// The system; one that is to be reduced by symmetry has an action.
    fn system(&self) -> &dyn System;

    /// What was done, for the answer; nothing when the answer shows it otherwise.
    fn words(&self) -> Option<String> {
        None
    }

    /// A run as one of the system that it stands for.
    fn run_back(&self, path: Path, _: &Control) -> Result<Path, Cut> {
        Ok(path)
    }

    /// Evidence as evidence of the system that it stands for.
    fn back(&self, evidence: Evidence, _: &Control) -> Result<Evidence, Cut> {
        Ok(evidence)
    }

    /// How many steps the way back adds to a run that ends in an invalid end state with this row.
    fn beyond(&self, _: &[Value]) -> u32 {
        0
    }

    /// When a reduction by symmetry may be left out because it costs more than it saves; nothing when it stays.
    fn price_rule(&self) -> Option<PriceRule> {
        None
    }

    /// Whether elements of the group do not carry all steps to steps, and why: then runs are found again by their
    /// representatives, and each orbit must have exactly one.
    fn exact_only(&self) -> Option<&'static str> {
        None
    }

    /// A note on an answer that used it, by whether the answer is a failure.
    fn note(&self, _fails: bool) -> Option<&'static str> {
        None
    }
}
