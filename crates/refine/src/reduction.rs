//! Requests for a reduction by symmetry, and what is reported about it.

use std::borrow::Cow;

use trefoil_control::{Control, Stopped};
use trefoil_symmetry::{Quotient, Refusal, Strategy, Symmetry, Tally, UBig};
use trefoil_system::{Action, Cut, System};

use crate::Statistics;

/// The message for a system that no group acts on.
pub(crate) const NO_SYMMETRY: &str = "no symmetry was proved of this system, so it cannot be reduced by one";

/// What a reduction by symmetry did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The strategy that chose representatives.
    pub strategy: &'static str,
    /// Why it was this one.
    pub reason: String,
    /// The structure of the group, by its name.
    pub group: String,
    /// How many elements the group has.
    pub order: UBig,
    /// How many states the representatives stand for; when the search was complete and the strategy is exact.
    pub total: Option<UBig>,
}

/// Why there is no answer, before anything is counted.
pub(crate) enum Unreduced {
    /// The options request what these systems do not allow.
    Refused(Cow<'static, str>),
    /// A walk was cut.
    Cut(Cut),
}

impl From<Cut> for Unreduced {
    fn from(cut: Cut) -> Unreduced {
        Unreduced::Cut(cut)
    }
}

impl From<Stopped> for Unreduced {
    fn from(stopped: Stopped) -> Unreduced {
        Unreduced::Cut(stopped.into())
    }
}

impl Unreduced {
    pub(crate) fn refused(why: impl Into<Cow<'static, str>>) -> Unreduced {
        Unreduced::Refused(why.into())
    }
}

/// The group that acts on a system.
pub(crate) fn action(system: &dyn System) -> Result<&dyn Action, Unreduced> {
    system.action().ok_or(Unreduced::refused(NO_SYMMETRY))
}

/// A group prepared for a strategy; what there is to report goes to the statistics.
pub(crate) fn prepare(
    action: &dyn Action,
    strategy: &'static Strategy,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Symmetry, Unreduced> {
    let symmetry = Symmetry::of_action(action, strategy, control).map_err(|refusal| match refusal {
        Refusal::Unsuitable(why) => Unreduced::refused(why),
        Refusal::Stopped(stopped) => stopped.into(),
    })?;
    statistics.symmetry = Some(Box::new(Reduction {
        strategy: symmetry.strategy().name,
        reason: symmetry.reason().to_string(),
        group: symmetry.structure().name(),
        order: symmetry.order(),
        total: None,
    }));
    Ok(symmetry)
}

/// The quotient of a system by the group that acts on it, all of whose states count.
pub(crate) fn quotient<'a>(
    system: &'a dyn System,
    symmetry: &'a Symmetry,
    control: &Control,
) -> Result<Quotient<'a>, Unreduced> {
    let mut quotient = Quotient::new(system, action(system)?, symmetry, control)?;
    quotient.count(|_| true);
    Ok(quotient)
}

/// Records how many states the representatives of a complete search stand for.
pub(crate) fn stands_for<'t>(
    statistics: &mut Statistics,
    quotient: &Quotient<'_>,
    tallies: impl Iterator<Item = &'t Tally>,
) {
    if let Some(reduction) = &mut statistics.symmetry {
        reduction.total = quotient.total(tallies);
    }
}
