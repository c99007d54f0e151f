//! A group prepared for one strategy; shared by all threads.

use std::fmt;

use trefoil_control::{Control, Stopped};
use trefoil_groups::{LeastImages, Permutation, PermutationGroup, Structure, UBig};
use trefoil_system::Action;

use crate::canonical::Canonical;
use crate::canoniser::Canoniser;
use crate::fast::Fast;
use crate::minimising::Elements;
use crate::registry::{Needs, STRATEGIES, Strategy, strategy_named};
use crate::types::Types;

/// Below this order `auto` lists a group that no graph describes.
const FEW_ELEMENTS: u32 = 60;

/// A strategy that needs few elements is not used for groups with more.
const MOST_ELEMENTS: u32 = 100_000;

/// A group with the strategy that chooses representatives under it.
pub struct Symmetry {
    pub(crate) group: PermutationGroup,
    pub(crate) types: Types,
    pub(crate) method: Method,
    structure: Structure,
    chosen: &'static Strategy,
    reason: String,
}

/// What a strategy knows about the group.
pub(crate) enum Method {
    Canonical(Canonical),
    Ordering,
    Sorted,
    Segmented,
    Enumerate(Elements),
    Fast(Fast),
    /// With least images of the colours, unless sorting suffices.
    Stabiliser(Option<LeastImages>),
    Hillclimbing(Vec<Permutation>),
}

/// Why there is no symmetry to work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The strategy does not work for this group, as text.
    Unsuitable(String),
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Refusal {
        Refusal::Stopped(stopped)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unsuitable(why) => f.write_str(why),
            Refusal::Stopped(stopped) => write!(f, "{stopped}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Symmetry {
    /// Prepares a group for a strategy of [`STRATEGIES`].
    pub fn new(group: PermutationGroup, strategy: &'static Strategy, control: &Control) -> Result<Symmetry, Refusal> {
        let types = Types::of(&group);
        let structure = group.structure(control)?;
        if strategy.needs == Needs::SymmetricTypes && !types.symmetric {
            let why = format!(
                "the strategy {} needs all permutations of each orbit, and the group is {}",
                strategy.name,
                structure.name()
            );
            return Err(Refusal::Unsuitable(why));
        }
        if strategy.needs == Needs::FewElements && group.order() > UBig::from(MOST_ELEMENTS) {
            let why = format!(
                "the strategy {} tries every element of the group, and {} has more than {MOST_ELEMENTS}",
                strategy.name,
                structure.name()
            );
            return Err(Refusal::Unsuitable(why));
        }
        let (chosen, reason) = match strategy.name {
            "auto" => choose(&group, &types, &structure, control)?,
            _ => (strategy, "asked for".to_string()),
        };
        let method = match chosen.name {
            "ordering" => Method::Ordering,
            "sorted" => Method::Sorted,
            "segmented" => Method::Segmented,
            "enumerate" => Method::Enumerate(Elements::of(&group, control)?),
            "fast" => Method::Fast(Fast::new(&group, &structure, control)?),
            "stabiliser" if types.symmetric => Method::Stabiliser(None),
            "stabiliser" => Method::Stabiliser(Some(LeastImages::new(&group, control)?)),
            "hillclimbing" => {
                let mut steps = group.chain_under(control)?.strong_generators(0);
                steps.extend(steps.clone().iter().map(Permutation::inverse));
                steps.sort_unstable();
                steps.dedup();
                Method::Hillclimbing(steps)
            }
            _ => Method::Canonical(Canonical::new(&group, &types, control)?),
        };
        Ok(Symmetry { group, types, method, structure, chosen, reason })
    }

    /// The same for the group that acts on a system. Panics when what generates it is no permutations of its points.
    pub fn of_action(action: &dyn Action, strategy: &'static Strategy, control: &Control) -> Result<Symmetry, Refusal> {
        let permutation = |images: &Vec<u32>| {
            Permutation::from_images(images.clone()).expect("the generators of an action are permutations")
        };
        let generators: Vec<Permutation> = action.generators().iter().map(permutation).collect();
        Symmetry::new(PermutationGroup::generate(action.points(), &generators, control)?, strategy, control)
    }

    /// The same, with the strategy's name; `None` when there is none of this name.
    pub fn named(group: PermutationGroup, name: &str, control: &Control) -> Option<Result<Symmetry, Refusal>> {
        Some(Symmetry::new(group, strategy_named(name)?, control))
    }

    /// The strategy in use: the requested one, or the one that `auto` picked.
    pub fn strategy(&self) -> &'static Strategy {
        self.chosen
    }

    /// Why it is that one, as text.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The group.
    pub fn group(&self) -> &PermutationGroup {
        &self.group
    }

    /// How the group is built.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The number of elements of the group.
    pub fn order(&self) -> UBig {
        self.group.order()
    }

    /// A thread's own worker.
    pub fn canoniser<'a>(&'a self, control: &'a Control) -> Canoniser<'a> {
        Canoniser::new(self, control)
    }
}

/// What `auto` picks.
fn choose(
    group: &PermutationGroup,
    types: &Types,
    structure: &Structure,
    control: &Control,
) -> Result<(&'static Strategy, String), Stopped> {
    let named = |name: &str| strategy_named(name).unwrap_or(&STRATEGIES[1]);
    let name = structure.name();
    if types.symmetric {
        return Ok((
            named("canonical"),
            format!("{name} has every permutation of its types: a canonical labelling of each state finds its orbit"),
        ));
    }
    if Canonical::new(group, types, control)?.orbitals.describe_group {
        let why = format!(
            "{name} is the group of a sparse graph: a canonical labelling of each state and this graph finds its orbit"
        );
        return Ok((named("canonical"), why));
    }
    if group.order() <= UBig::from(FEW_ELEMENTS) {
        return Ok((named("enumerate"), format!("{name} is small and no sparse graph describes it")));
    }
    let why =
        format!("no sparse graph describes {name}: a search along a stabiliser chain finds the orbit of each state");
    Ok((named("canonical"), why))
}
