//! The table of strategies.

use std::fmt;

/// What a strategy promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// One representative for each orbit, and the order of each state's stabiliser.
    Exact,
    /// One representative for each orbit of states without references; perhaps several where there are any.
    ExactWithoutReferences,
    /// Perhaps several representatives for an orbit.
    Several,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Promise::Exact => "exact",
            Promise::ExactWithoutReferences => "exact without references",
            Promise::Several => "several representatives",
        })
    }
}

/// What a strategy needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Any group.
    Nothing,
    /// All permutations of each of some disjoint sets of points: symmetric types.
    SymmetricTypes,
    /// Any group, and time for each of its elements.
    FewElements,
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Needs::Nothing => "any group",
            Needs::SymmetricTypes => "symmetric types",
            Needs::FewElements => "a small group",
        })
    }
}

/// A way to choose representatives.
#[derive(Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it promises.
    pub promise: Promise,
    /// What it needs.
    pub needs: Needs,
}

const GIBSON_ROBINSON_LOWE: &str =
    "T. Gibson-Robinson and G. Lowe, Symmetry reduction in CSP model checking, 2019, section 7";
const BOSNACKI: &str = "D. Bošnački, D. Dams and L. Holenderski, Symmetric Spin, 2002";
const DONALDSON_MILLER: &str =
    "A. Donaldson and A. Miller, Extending symmetry reduction techniques to a realistic model of computation, 2007";

/// Every strategy.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "auto",
        about: "picks one of the others by the structure of the group, and says which",
        paper: "",
        promise: Promise::Exact,
        needs: Needs::Nothing,
    },
    Strategy {
        name: "canonical",
        about: "labels the picture canonically from where ordering stops; no group and no stabiliser is listed",
        paper: "C. Jefferson, E. Jonauskyte, M. Pfeiffer and R. Waldecker, Minimal and canonical images, 2019; B. McKay, \
                Practical graph isomorphism, 1981",
        promise: Promise::Exact,
        needs: Needs::Nothing,
    },
    Strategy {
        name: "ordering",
        about: "orders the vertices by refinement and splits arbitrarily where that does not decide",
        paper: GIBSON_ROBINSON_LOWE,
        promise: Promise::Several,
        needs: Needs::SymmetricTypes,
    },
    Strategy {
        name: "sorted",
        about: "sorts points by their colours",
        paper: BOSNACKI,
        promise: Promise::ExactWithoutReferences,
        needs: Needs::SymmetricTypes,
    },
    Strategy {
        name: "segmented",
        about: "tries every way to sort points by their colours and takes the least image",
        paper: BOSNACKI,
        promise: Promise::Exact,
        needs: Needs::SymmetricTypes,
    },
    Strategy {
        name: "enumerate",
        about: "takes the least image under all elements",
        paper: DONALDSON_MILLER,
        promise: Promise::Exact,
        needs: Needs::FewElements,
    },
    Strategy {
        name: "fast",
        about: "minimises factor by factor: sorts under symmetric groups and wreath products of them, else minimises the colours",
        paper: DONALDSON_MILLER,
        promise: Promise::ExactWithoutReferences,
        needs: Needs::Nothing,
    },
    Strategy {
        name: "stabiliser",
        about: "minimises the colours, then takes the least image under the elements that keep them",
        paper: DONALDSON_MILLER,
        promise: Promise::Exact,
        needs: Needs::Nothing,
    },
    Strategy {
        name: "hillclimbing",
        about: "applies generators as long as the image gets smaller",
        paper: DONALDSON_MILLER,
        promise: Promise::Several,
        needs: Needs::Nothing,
    },
];

/// The strategy of this name.
pub fn strategy_named(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for (index, strategy) in STRATEGIES.iter().enumerate() {
            let named = |known: &Strategy| known.name == strategy.name;
            assert_eq!(STRATEGIES.iter().position(named), Some(index));
            assert!(strategy_named(strategy.name).is_some_and(named));
        }
        assert!(strategy_named("segment").is_none());
    }
}
