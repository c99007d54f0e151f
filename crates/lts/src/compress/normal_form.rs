//! `normal`: the normal form as an ordinary system.
//!
//! The subset construction of [`crate::LazyNormalForm`] is run in a form that traces, failures and divergences can all
//! be read from: sets of states also differ by divergence, and are explored beyond it, since a check in the traces
//! model must see what the process can do after a divergence. The result is minimised as a deterministic system and
//! written out ([`super::unmerged`]).
//!
//! The construction can be exponential; it stops at a limit.

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use super::tau_loops;
use super::unmerged::unmerged;
use crate::explicit::Lts;
use crate::normal::normalise_within;
use crate::subsets::LazyNormalForm;

/// A system with the same traces, stable failures and divergences whose states, but for those that stand for one
/// acceptance, are the states of the normal form. It can be larger than the argument; none when it, or what is made on
/// the way, is larger than `limit`.
pub fn normal_form(lts: &Lts, limit: usize, control: &Control) -> Result<Option<Lts>, Stopped> {
    let factored = tau_loops::factor(lts, control)?;
    let lazy = LazyNormalForm::for_every_model(&factored, loops(&factored), control)?;
    match normalise_within(&lazy, lts.labels(), limit, control)? {
        Some(normal) => unmerged(&normal, limit, control),
        None => Ok(None),
    }
}

/// Which states have a `τ`-loop.
pub(super) fn loops(lts: &Lts) -> Vec<bool> {
    let has_loop = |state| lts.outgoing(state).iter().any(|step| step.label == LabelId::TAU && step.target == state);
    lts.states().map(has_loop).collect()
}
