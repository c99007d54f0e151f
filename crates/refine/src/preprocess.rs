//! Smaller systems with the same traces, failures and divergences.
//!
//! Divergence-preserving branching bisimilarity preserves all three (Laveaux, *Accelerated verification of concurrent systems*, 2022,
//! section 2.5.3), so a specification or an implementation can be replaced by the smallest system equivalent to it.

use trefoil_control::{Control, Stopped};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, Transition};
use trefoil_system::{StateId, System};

/// The smallest equivalent system.
pub(crate) fn smaller(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    Ok(minimise(lts, Equivalence::DivergenceBranching, control)?.lts)
}

/// A system, all of it, as an explicit one.
pub(crate) fn collect(system: &dyn System, threads: usize, control: &Control) -> Result<Lts, Stopped> {
    let collected = trefoil_explore::collect(system, threads, control).map_err(|unfinished| unfinished.stopped)?;
    let steps = collected.transitions.into_iter().map(|(label, target)| Transition { label, target });
    Ok(Lts::from_rows(system.labels().clone(), StateId(0), collected.starts, steps.collect()))
}
