//! Rows that states share.
//!
//! A memory `M(v) = get!v -> M(v) [] set?x -> M(x)` of n values has n² transitions, and the n of `set` are the same in
//! every state. So a row may be given in parts: transitions of the state's own, and *fragments*, lists that any number
//! of states refer to. A compiler gives a fragment where several states have a part in common; nothing here knows why
//! they have. What works on fragments takes a fragment once where a row would be taken once per state: minimisation
//! computes a signature per fragment and round, a network keeps the offers of a fragment once.
//!
//! # Invariants
//!
//! In one row no label occurs in two fragments, nor in a fragment and among the state's own transitions. So a row is
//! the union of disjoint sets, however it is divided, and all targets under one label stand together. In a fragment,
//! and among a state's own transitions, each transition occurs once.
//!
//! # Cost
//!
//! 8 bytes a transition that is stored, 16 bytes a state, 4 bytes for each fragment of a row. An algorithm that needs
//! whole rows gets them: they are made at the first request ([`crate::Lts::outgoing`]) and kept beside the fragments.

use trefoil_system::{LabelId, StateId};

use crate::explicit::Transition;

/// The rows of a system, some parts of them shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedRows {
    own_starts: Vec<usize>,
    own: Vec<Transition>,
    row_starts: Vec<usize>,
    rows: Vec<u32>,
    fragment_starts: Vec<usize>,
    fragments: Vec<Transition>,
}

impl Default for SharedRows {
    fn default() -> SharedRows {
        SharedRows {
            own_starts: vec![0],
            own: Vec::new(),
            row_starts: vec![0],
            rows: Vec::new(),
            fragment_starts: vec![0],
            fragments: Vec::new(),
        }
    }
}

impl SharedRows {
    /// Adds a fragment, without repeated transitions; its number.
    pub fn add_fragment(&mut self, transitions: impl IntoIterator<Item = Transition>) -> u32 {
        self.fragments.extend(transitions);
        self.fragment_starts.push(self.fragments.len());
        self.fragment_starts.len() as u32 - 2
    }

    /// Adds the next state: its own transitions and its fragments.
    pub fn add_state(&mut self, own: &[Transition], fragments: &[u32]) {
        debug_assert!(self.are_disjoint(own, fragments), "parts of a row have a label in common");
        self.own.extend_from_slice(own);
        self.own_starts.push(self.own.len());
        self.rows.extend_from_slice(fragments);
        self.row_starts.push(self.rows.len());
    }

    /// Has no label two places among these parts of a row?
    pub fn are_disjoint(&self, own: &[Transition], fragments: &[u32]) -> bool {
        let mut taken: Vec<LabelId> = Vec::new();
        let parts = fragments.iter().map(|&fragment| self.fragment(fragment)).chain([own]);
        parts.into_iter().all(|part| {
            let mut labels: Vec<LabelId> = part.iter().map(|step| step.label).collect();
            labels.sort_unstable();
            labels.dedup();
            let free = labels.iter().all(|label| taken.binary_search(label).is_err());
            taken.extend(labels);
            taken.sort_unstable();
            free
        })
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.own_starts.len() - 1
    }

    /// How many transitions the rows have, those of a fragment counted for each state.
    pub fn transition_count(&self) -> usize {
        let shared = self.rows.iter().map(|&fragment| self.fragment(fragment).len());
        self.own.len() + shared.sum::<usize>()
    }

    /// How many transitions are stored.
    pub fn stored(&self) -> usize {
        self.own.len() + self.fragments.len()
    }

    /// The transitions that are stored.
    pub fn all(&self) -> impl Iterator<Item = &Transition> {
        self.own.iter().chain(&self.fragments)
    }

    /// A state's own transitions.
    #[inline]
    pub fn own(&self, state: StateId) -> &[Transition] {
        &self.own[self.own_starts[state.index()]..self.own_starts[state.index() + 1]]
    }

    /// The numbers of a state's fragments.
    #[inline]
    pub fn fragments_of(&self, state: StateId) -> &[u32] {
        &self.rows[self.row_starts[state.index()]..self.row_starts[state.index() + 1]]
    }

    /// The transitions of a fragment.
    #[inline]
    pub fn fragment(&self, number: u32) -> &[Transition] {
        &self.fragments[self.fragment_starts[number as usize]..self.fragment_starts[number as usize + 1]]
    }

    /// How many fragments there are.
    pub fn fragment_count(&self) -> usize {
        self.fragment_starts.len() - 1
    }

    /// Whole rows, by label and target.
    pub(crate) fn whole(&self) -> (Vec<usize>, Vec<Transition>) {
        let mut starts = Vec::with_capacity(self.own_starts.len());
        let mut transitions = Vec::with_capacity(self.transition_count());
        starts.push(0);
        for state in (0..self.states() as u32).map(StateId) {
            let from = transitions.len();
            transitions.extend_from_slice(self.own(state));
            for &fragment in self.fragments_of(state) {
                transitions.extend_from_slice(self.fragment(fragment));
            }
            transitions[from..].sort_unstable();
            starts.push(transitions.len());
        }
        (starts, transitions)
    }
}
