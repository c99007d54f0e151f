//! Implementations as the search sees them: numbered states with rows of transitions.
//!
//! An explicit system is that already. Any other system becomes one during the search: a row of values gets a number
//! when it is first found, and its transitions are computed once and kept (8 bytes each), because the search comes back
//! to a state for its `τ`-steps, for its events, for every specification set paired with it and for divergence.

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::TauSuccessors;
use trefoil_lts::{Lts, Transition};
use trefoil_system::{Cut, Explorer, LabelId, Observations, StateId, System, Value};

use crate::rows::RowTable;

/// Numbered states with rows of transitions, computed on demand.
pub(crate) trait Graph {
    /// The state it starts in.
    fn initial(&self) -> u32;
    /// Computes the row of a state.
    fn explore(&mut self, state: u32) -> Result<(), Cut>;
    /// The transitions of a state that was explored.
    fn row(&self, state: u32) -> &[Transition];
    /// Has a state that was explored no `τ`?
    fn is_stable(&self, state: u32) -> bool;
    /// The values that the number stands for.
    fn values(&self, state: u32) -> Vec<Value>;
    /// How many states have a number.
    fn state_count(&self) -> usize;
    /// Does the state say that it diverges? `None` when that follows from the transitions.
    fn says_that_it_diverges(&mut self, state: u32) -> Result<Option<bool>, Cut>;
    /// Do states carry what they accept?
    fn carries_acceptances(&self) -> bool;
    /// An acceptance that a state carries and that is not enough ([`Explorer::accepts_less`]).
    fn accepts_less(
        &mut self,
        state: u32,
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut>;
    /// The acceptances that a state carries.
    fn carried_acceptances(&mut self, state: u32) -> Result<Vec<Vec<LabelId>>, Cut>;

    /// When states are representatives: the element that carries what a step leads to, to the state that stands for it,
    /// with its number.
    #[inline]
    fn carried(&self, _state: u32, _step: usize) -> Option<(u32, &[u32])> {
        None
    }

    /// What a state that was explored stably accepts: the least sets of labels, each ascending.
    fn acceptances(&mut self, state: u32) -> Result<Vec<Vec<LabelId>>, Cut> {
        if self.carries_acceptances() {
            return self.carried_acceptances(state);
        }
        if !self.is_stable(state) {
            return Ok(Vec::new());
        }
        let mut accepted: Vec<LabelId> = self.row(state).iter().map(|step| step.label).collect();
        accepted.sort_unstable();
        accepted.dedup();
        Ok(vec![accepted])
    }
}

/// Computes the row of a state, and counts new states.
pub(crate) fn explore_counting<G: Graph>(graph: &mut G, state: u32, control: &Control) -> Result<(), Cut> {
    let before = graph.state_count();
    graph.explore(state)?;
    control.progress().add((graph.state_count() - before) as u64, graph.row(state).len() as u64);
    Ok(())
}

/// The `τ`-steps of a graph.
pub(crate) struct Taus<'a, G>(pub(crate) &'a mut G);

impl<G: Graph> TauSuccessors for Taus<'_, G> {
    type Cut = Cut;

    fn append(&mut self, state: u32, successors: &mut Vec<u32>) -> Result<(), Cut> {
        self.0.explore(state)?;
        let steps = self.0.row(state).iter().filter(|step| step.label == LabelId::TAU);
        successors.extend(steps.map(|step| step.target.0));
        Ok(())
    }
}

/// An explicit system.
pub(crate) struct Explicit<'a> {
    lts: &'a Lts,
    unstable: Vec<u64>,
}

impl<'a> Explicit<'a> {
    pub(crate) fn new(lts: &'a Lts) -> Explicit<'a> {
        let mut unstable = vec![0u64; lts.state_count().div_ceil(64)];
        for state in lts.states() {
            if lts.outgoing(state).iter().any(|step| step.label == LabelId::TAU) {
                unstable[state.index() / 64] |= 1 << (state.0 % 64);
            }
        }
        Explicit { lts, unstable }
    }
}

impl Graph for Explicit<'_> {
    fn initial(&self) -> u32 {
        self.lts.initial().0
    }

    #[inline]
    fn explore(&mut self, _state: u32) -> Result<(), Cut> {
        Ok(())
    }

    #[inline]
    fn row(&self, state: u32) -> &[Transition] {
        self.lts.outgoing(StateId(state))
    }

    #[inline]
    fn is_stable(&self, state: u32) -> bool {
        self.unstable[state as usize / 64] >> (state % 64) & 1 == 0
    }

    fn values(&self, state: u32) -> Vec<Value> {
        vec![state]
    }

    fn state_count(&self) -> usize {
        self.lts.state_count()
    }

    fn says_that_it_diverges(&mut self, _state: u32) -> Result<Option<bool>, Cut> {
        Ok(None)
    }

    fn carries_acceptances(&self) -> bool {
        false
    }

    fn accepts_less(
        &mut self,
        _state: u32,
        _enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        unreachable!("the acceptances of an explicit system follow from its transitions")
    }

    fn carried_acceptances(&mut self, _state: u32) -> Result<Vec<Vec<LabelId>>, Cut> {
        unreachable!("the acceptances of an explicit system follow from its transitions")
    }
}

const UNEXPLORED: (usize, u32) = (usize::MAX, 0);

/// Transforms the target row of a step before it is stored.
pub(crate) trait Reaching {
    /// The row that is stored.
    fn reached<'r>(&'r mut self, row: &'r [Value]) -> Result<&'r [Value], Cut>;

    /// The element that carried what the step with this number leads to, with its number.
    #[inline]
    fn carried(&self, _step: usize) -> Option<(u32, &[u32])> {
        None
    }

    /// Forgets the steps from this number on, which belong to a walk that was cut.
    #[inline]
    fn forget(&mut self, _step: usize) {}

    /// How many bytes are kept for a step.
    #[inline]
    fn bytes(&self) -> usize {
        0
    }
}

/// Rows are stored as they are.
pub(crate) struct AsTheyAre;

impl Reaching for AsTheyAre {
    #[inline]
    fn reached<'r>(&'r mut self, row: &'r [Value]) -> Result<&'r [Value], Cut> {
        Ok(row)
    }
}

/// A system that becomes explicit while it is searched.
pub(crate) struct Numbered<'a, R> {
    explorer: Box<dyn Explorer + 'a>,
    observations: Observations,
    control: &'a Control,
    rows: RowTable,
    ranges: Vec<(usize, u32)>,
    transitions: Vec<Transition>,
    reaching: R,
}

/// A system whose rows are stored as they are.
pub(crate) type OnTheFly<'a> = Numbered<'a, AsTheyAre>;

impl<'a> OnTheFly<'a> {
    pub(crate) fn new(system: &'a dyn System, control: &'a Control) -> Result<OnTheFly<'a>, Cut> {
        Numbered::starting(system, &system.initial(control)?, AsTheyAre, control).map_err(Cut::from)
    }

    /// The number of a state, which may be one that was not found yet.
    pub(crate) fn enter(&mut self, row: &[Value]) -> Result<u32, Stopped> {
        let number = self.rows.number(row, self.control)?;
        self.ranges.resize(self.rows.len(), UNEXPLORED);
        Ok(number)
    }
}

impl<'a, R: Reaching> Numbered<'a, R> {
    /// A system that starts in this row.
    pub(crate) fn starting(
        system: &'a dyn System,
        initial: &[Value],
        reaching: R,
        control: &'a Control,
    ) -> Result<Numbered<'a, R>, Stopped> {
        let mut rows = RowTable::new(system.layout());
        assert_eq!(rows.number(initial, control)?, 0);
        Ok(Numbered {
            explorer: system.explorer(control),
            observations: system.observations(),
            control,
            rows,
            ranges: vec![UNEXPLORED],
            transitions: Vec::new(),
            reaching,
        })
    }
}

impl<R: Reaching> Graph for Numbered<'_, R> {
    fn initial(&self) -> u32 {
        0
    }

    fn explore(&mut self, state: u32) -> Result<(), Cut> {
        if self.ranges[state as usize] != UNEXPLORED {
            return Ok(());
        }
        self.control.check()?;
        if self.transitions.len() == self.transitions.capacity() {
            self.control.afford(self.transitions.len() * 2 * (size_of::<Transition>() + self.reaching.bytes()))?;
        }
        let start = self.transitions.len();
        let row = self.rows.row(state);
        let Numbered { explorer, rows, transitions, control, reaching, .. } = self;
        let walk = explorer.successors(&row, &mut |step| {
            let target = rows.number(reaching.reached(step.row)?, control)?;
            transitions.push(Transition { label: step.label, target: StateId(target) });
            Ok(())
        });
        self.ranges.resize(self.rows.len(), UNEXPLORED);
        if walk.is_err() {
            self.transitions.truncate(start);
            self.reaching.forget(start);
            return walk;
        }
        self.ranges[state as usize] = (start, (self.transitions.len() - start) as u32);
        Ok(())
    }

    fn row(&self, state: u32) -> &[Transition] {
        let (start, length) = self.ranges[state as usize];
        &self.transitions[start..start + length as usize]
    }

    fn is_stable(&self, state: u32) -> bool {
        self.row(state).iter().all(|step| step.label != LabelId::TAU)
    }

    fn values(&self, state: u32) -> Vec<Value> {
        self.rows.row(state)
    }

    fn state_count(&self) -> usize {
        self.rows.len()
    }

    fn says_that_it_diverges(&mut self, state: u32) -> Result<Option<bool>, Cut> {
        match self.observations.carries_divergence() {
            true => Ok(Some(self.explorer.observe(&self.rows.row(state))?.diverges)),
            false => Ok(None),
        }
    }

    fn carries_acceptances(&self) -> bool {
        self.observations.carries_acceptances()
    }

    fn accepts_less(
        &mut self,
        state: u32,
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        self.explorer.accepts_less(&self.rows.row(state), enough)
    }

    fn carried_acceptances(&mut self, state: u32) -> Result<Vec<Vec<LabelId>>, Cut> {
        Ok(self.explorer.observe(&self.rows.row(state))?.acceptances)
    }

    #[inline]
    fn carried(&self, state: u32, step: usize) -> Option<(u32, &[u32])> {
        self.reaching.carried(self.ranges[state as usize].0 + step)
    }
}
