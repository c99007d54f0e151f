//! The points of a group by orbit: the types of its values, when it is symmetric on each.

use trefoil_groups::{PermutationGroup, UBig};

/// The orbits of a group.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    /// For each point, the number of its orbit; orbits are numbered by their least points.
    pub(crate) kind_of: Vec<u32>,
    /// The points orbit by orbit, each ascending.
    pub(crate) places: Vec<u32>,
    /// Does the group have every permutation that keeps the orbits?
    pub(crate) symmetric: bool,
}

impl Types {
    /// Do all points of each orbit have the same colour?
    pub(crate) fn have_equal(&self, colours: &[u32]) -> bool {
        let pairs = self.places.iter().zip(&self.places[1.min(self.places.len())..]);
        pairs
            .map(|(&one, &other)| (one as usize, other as usize))
            .all(|(one, other)| colours[one] == colours[other] || self.kind_of[one] != self.kind_of[other])
    }

    pub(crate) fn of(group: &PermutationGroup) -> Types {
        let orbits = group.orbits();
        let mut kind_of = vec![0; group.degree()];
        for (number, orbit) in (0..).zip(&orbits) {
            orbit.iter().for_each(|&point| kind_of[point as usize] = number);
        }
        let every =
            orbits.iter().flat_map(|orbit| 2..=orbit.len()).fold(UBig::ONE, |all, factor| all * UBig::from(factor));
        Types { kind_of, places: orbits.concat(), symmetric: every == group.order() }
    }
}
