//! Questions about runs that never end.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trefoil_system::{Automaton, Ltl, LtlId, WrongPlace};

use crate::asked::Fairness;
use crate::question::ErrorKinds;

/// Has a system a run that a claim forbids? Claims about one system share one search.
#[derive(Clone, Copy)]
pub struct Recur<'q> {
    /// The claims.
    pub claims: &'q [TemporalClaim],
    /// The wanted one.
    pub asked: usize,
    /// The one that is decided in its place where a reduction carries evidence for the one to evidence for the other;
    /// else the same. Answers are kept by this number.
    pub decided_as: usize,
    /// Which runs the claims are about.
    pub fairness: Fairness,
    /// What a search of the system keeps for other claims.
    pub explored: &'q Explored,
    /// Errors whose steps lead back to where they begin: they show an error and are no transitions.
    pub no_steps: ErrorKinds,
    /// Where independent steps may be taken in one order, as for claims that do not depend on how often a state is
    /// repeated, without fairness: the propositions of all claims that share what is explored. Else all steps are
    /// taken.
    pub visible: Option<&'q [u32]>,
}

/// A claim about all runs of a system.
#[derive(Clone, Debug)]
pub struct TemporalClaim {
    /// What it says.
    pub says: Says,
    /// The number of each proposition of the claim among those of the system: bit `n % 32` of its `n / 32`th mark with
    /// [`trefoil_system::Meaning::Proposition`].
    pub propositions: Vec<u32>,
    /// Where the claim names each of them; empty where it does not.
    pub places: Vec<WrongPlace>,
    /// Does a run that ends count, as one that repeats its last state?
    pub stutters: bool,
    /// The marks of the automaton that a step carries, whatever its edge, where it passes what counts
    /// ([`trefoil_system::Step::passes`]).
    pub passing: u32,
}

/// What a claim says.
#[derive(Clone, Debug)]
pub enum Says {
    /// A formula holds of every run.
    Holds(Ltl, LtlId),
    /// An automaton accepts no run.
    Accepts(Automaton),
}

/// What a search of a system keeps for claims that come later; only the engine that put it there can use it.
#[derive(Default)]
pub struct Explored(Mutex<Option<Kept>>);

/// What is kept, and whether the search was complete.
type Kept = (Arc<dyn Any + Send + Sync>, bool);

impl Explored {
    /// What is kept.
    pub fn get(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.lock().as_ref().map(|(kept, _)| kept.clone())
    }

    /// Keeps something instead of what was kept.
    pub fn put(&self, kept: Option<Arc<dyn Any + Send + Sync>>, is_complete: bool) {
        *self.lock() = kept.map(|kept| (kept, is_complete));
    }

    /// Drops what a search has kept that a budget has ended: another search can use the memory.
    pub fn drop_unfinished(&self) {
        self.lock().take_if(|(_, is_complete)| !*is_complete);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.get().is_some() { "Explored(…)" } else { "Explored(nothing)" })
    }
}
