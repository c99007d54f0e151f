//! Smaller systems that are the same in every model.
//!
//! Divergence-preserving branching bisimilarity preserves traces, failures and divergences (Laveaux, *Accelerated
//! verification of concurrent systems*, 2022, section 2.5.3), so a specification or an implementation can be replaced
//! by the smallest system equivalent to it. It preserves refusal testing, and with it revivals, as well: a state that
//! is equivalent to a stable one does not diverge, so by silent steps among equivalent states it comes to a stable one,
//! which has the same events and, after each of them, equivalent states.

use trefoil_control::{Control, Stopped};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, Transition};
use trefoil_system::{Cut, StateId, System, Value};

/// The smallest equivalent system.
pub(crate) fn smaller(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    Ok(minimise(lts, Equivalence::DivergenceBranching, control)?.lts)
}

/// A system, all of it, as an explicit one.
pub(crate) fn collect(system: &dyn System, threads: usize, control: &Control) -> Result<Lts, Cut> {
    Ok(collect_rows(system, threads, control)?.0)
}

/// A system, all of it, as an explicit one, and the rows that its states stand for.
pub(crate) fn collect_rows(
    system: &dyn System,
    threads: usize,
    control: &Control,
) -> Result<(Lts, impl Fn(StateId) -> Vec<Value> + use<>), Cut> {
    let collected = trefoil_explore::collect(system, threads, control).map_err(|unfinished| unfinished.cut)?;
    let steps = collected.transitions.into_iter().map(|(label, target)| Transition { label, target });
    let lts = Lts::from_rows(system.labels().clone(), StateId(0), collected.starts, steps.collect());
    let (origins, states) = (collected.origins, collected.states);
    let row = move |state: StateId| {
        let mut row = vec![0; states.packing().width()];
        states.reader().row(origins[state.index()], &mut row);
        row
    };
    Ok((lts, row))
}
