//! The group that acts on a system, for people.

use trefoil_control::{Control, Stopped};
use trefoil_symmetry::{Refusal, STRATEGIES, Symmetry};
use trefoil_system::Action;

/// A symmetry group in words.
#[derive(Clone, Debug)]
pub struct Group {
    /// The number of its elements, as text since it may be large.
    pub order: String,
    /// How it is built.
    pub structure: String,
    /// How representatives under it are chosen when the user does not say.
    pub strategy: &'static str,
    /// Why this strategy.
    pub reason: String,
    /// What is permuted, orbit by orbit, by the names of points; orbits of one point are left out.
    pub orbits: Vec<Vec<String>>,
}

/// The group of an action, or why it cannot be used.
pub fn group(action: &dyn Action, control: &Control) -> Result<Result<Group, String>, Stopped> {
    let symmetry = match Symmetry::of_action(action, &STRATEGIES[0], control) {
        Ok(symmetry) => symmetry,
        Err(Refusal::Stopped(stopped)) => return Err(stopped),
        Err(Refusal::Unsuitable(why)) => return Ok(Err(why)),
    };
    Ok(Ok(Group {
        order: symmetry.order().to_string(),
        structure: symmetry.structure().name(),
        strategy: symmetry.strategy().name,
        reason: symmetry.reason().to_string(),
        orbits: orbits(action, &symmetry),
    }))
}

/// What is permuted, orbit by orbit.
pub(crate) fn orbits(action: &dyn Action, symmetry: &Symmetry) -> Vec<Vec<String>> {
    let moved = symmetry.group().orbits().into_iter().filter(|orbit| orbit.len() > 1);
    moved.map(|orbit| orbit.into_iter().map(|point| action.describe_point(point)).collect()).collect()
}
