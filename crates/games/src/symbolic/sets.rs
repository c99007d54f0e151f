//! Sets of vertices as decision diagrams.
//!
//! Operations of solvers on sets cannot fail, those of diagrams can: a budget runs out. The first failure is remembered
//! in the pool that all sets of a game share, and the set stays as it was. From then on it means nothing, so an arena
//! asks the pool whenever it is polled, and a caller asks it before it takes the result of a solver ([`Pool::check`]).

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use trefoil_control::Stopped;
use trefoil_diagrams::{Diagrams, Set};

use crate::solve::VertexSet;

/// What all sets of one game share.
pub struct Pool {
    diagrams: Arc<Diagrams>,
    stopped: Cell<Option<Stopped>>,
}

impl Pool {
    /// A pool over some diagrams.
    pub fn new(diagrams: Arc<Diagrams>) -> Rc<Pool> {
        Rc::new(Pool { diagrams, stopped: Cell::new(None) })
    }

    /// The diagrams.
    pub fn diagrams(&self) -> &Diagrams {
        &self.diagrams
    }

    /// Why an operation failed, if one has.
    pub fn check(&self) -> Result<(), Stopped> {
        self.stopped.get().map_or(Ok(()), Err)
    }

    fn noted(&self, outcome: Result<Set, Stopped>) -> Option<Set> {
        match outcome {
            Ok(set) => Some(set),
            Err(stopped) => {
                self.stopped.set(self.stopped.get().or(Some(stopped)));
                None
            }
        }
    }
}

/// A set of vertices.
#[derive(Clone)]
pub struct DiagramSet {
    set: Set,
    pool: Rc<Pool>,
}

impl DiagramSet {
    /// A set of a pool.
    pub fn new(set: Set, pool: &Rc<Pool>) -> DiagramSet {
        DiagramSet { set, pool: pool.clone() }
    }

    /// The diagram.
    pub fn diagram(&self) -> &Set {
        &self.set
    }

    /// The set without vertices.
    pub fn none(pool: &Rc<Pool>) -> DiagramSet {
        DiagramSet::new(pool.diagrams.empty(), pool)
    }

    /// Puts the slots into another order: for each slot the one that it was before.
    pub(super) fn reorder(&mut self, moved: &[usize]) {
        self.become_result(self.pool.diagrams.reordered(&self.set, moved));
    }

    fn become_result(&mut self, outcome: Result<Set, Stopped>) {
        if let Some(set) = self.pool.noted(outcome) {
            self.set = set;
        }
    }
}

impl PartialEq for DiagramSet {
    fn eq(&self, other: &DiagramSet) -> bool {
        self.set == other.set
    }
}

impl VertexSet for DiagramSet {
    fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    fn unite(&mut self, other: &DiagramSet) {
        self.become_result(self.pool.diagrams.union(&self.set, &other.set));
    }

    fn intersect(&mut self, other: &DiagramSet) {
        self.become_result(self.pool.diagrams.intersection(&self.set, &other.set));
    }

    fn subtract(&mut self, other: &DiagramSet) {
        self.become_result(self.pool.diagrams.difference(&self.set, &other.set));
    }

    fn is_subset(&self, other: &DiagramSet) -> bool {
        let outside = self.pool.noted(self.pool.diagrams.difference(&self.set, &other.set));
        outside.is_some_and(|outside| outside.is_empty())
    }
}
