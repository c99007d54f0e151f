//! The work that a representative takes, in units that are the same in every run.
//!
//! What a picture costs follows from its size: it is drawn, described as a graph and labelled, or its images under all
//! elements are written down. Refinement alone labels pictures in which few points can be exchanged. Where many can,
//! each factor of two in the order of the stabiliser is another generator that a search has to find. A unit is about a
//! nanosecond of one processor; the constants were fitted to pictures of every sort (`docs/csp.md` says when the rule
//! that uses them matters), and a wrong one makes searches slower, never wrong.

use trefoil_groups::{SmallGraphs, UBig};
use trefoil_system::{Picture, Value};

use crate::symmetry::{Method, Symmetry};

/// For a representative, whatever its picture.
const EACH: u64 = 110;
/// For a vertex and an edge that is drawn and described.
const DRAWN: (u64, u64) = (4, 8);
/// For a vertex and an edge of a small graph that is labelled, and of another one.
const LABELLED: (u64, u64) = (6, 2);
const LABELLED_LARGE: (u64, u64) = (150, 80);
/// For a vertex and an edge of an image that is written down and compared.
const WRITTEN: (u64, u64) = (3, 10);
/// For a slot of a row that is changed, hashed and looked up.
const SLOT: u64 = 4;

fn for_size((vertex, edge): (u64, u64), picture: &Picture) -> u64 {
    vertex * picture.vertices() as u64 + edge * picture.edges().len() as u64
}

/// For drawing a picture.
pub(crate) fn drawing(picture: &Picture) -> u64 {
    for_size(DRAWN, picture)
}

/// For choosing an element by a picture, which so many elements keep.
pub(crate) fn choosing(symmetry: &Symmetry, picture: &Picture, stabiliser: Option<&UBig>) -> u64 {
    if let Method::Enumerate(_) = symmetry.method {
        let order = u64::try_from(&symmetry.order()).unwrap_or(u64::MAX);
        return EACH.saturating_add(order.saturating_mul(for_size(WRITTEN, picture)));
    }
    let arcs = match &symmetry.method {
        Method::Canonical(canonical) => canonical.orbitals.arcs.len() as u64,
        _ => 0,
    };
    let size = if picture.vertices() <= SmallGraphs::MOST_VERTICES { LABELLED } else { LABELLED_LARGE };
    // Three bits a digit.
    let generators = stabiliser.map_or(0, |order| 3 * (order.to_string().len() as u64 - 1));
    EACH + DRAWN.1 * arcs + (for_size(size, picture) + size.1 * arcs) * (1 + generators)
}

/// For making and looking up an image of a row.
pub(crate) fn applying(row: &[Value]) -> u64 {
    SLOT * row.len() as u64
}
