//! Pictures as graphs to be labelled, small ones in buffers.
//!
//! Arcs that every element of the group keeps (`orbitals`) are drawn beside the edges of the picture. They take the
//! first colours of arcs, so that the labels of the picture can be any numbers.

use trefoil_groups::{Arc, ColouredGraph, SmallGraphs};
use trefoil_system::Picture;

use crate::types::Types;

/// Describes a picture with arcs of the group beside it; returns whether it is small enough.
#[inline]
pub(crate) fn describe(
    graphs: &mut SmallGraphs,
    picture: &Picture,
    types: &Types,
    beside: &[Arc],
    colours: u32,
) -> bool {
    if !graphs.begin(picture.vertices(), picture.points()) {
        return false;
    }
    let (points, anonymous) = picture.colours().split_at(picture.points());
    for (&colour, &kind) in points.iter().zip(&types.kind_of) {
        graphs.colour(kind, colour);
    }
    for &colour in anonymous {
        graphs.colour(0, colour);
    }
    for edge in picture.edges() {
        if !graphs.arc(edge.from, edge.to, edge.label.saturating_add(colours)) {
            return false;
        }
    }
    for arc in beside {
        if !graphs.arc(arc.from, arc.to, arc.colour) {
            return false;
        }
    }
    true
}

/// How a picture differs from one that was described: parts of both, drawn alone, over the same vertices.
pub(crate) struct Change<'a> {
    /// What is no longer there.
    pub(crate) before: &'a Picture,
    /// What is there now.
    pub(crate) after: &'a Picture,
}

/// Changes what was described and kept; returns whether the graphs allow it. They are to be reverted in any case.
#[inline]
pub(crate) fn change(graphs: &mut SmallGraphs, change: &Change<'_>, colours: u32) -> bool {
    let Change { before, after } = change;
    for edge in before.edges() {
        if !graphs.remove_arc(edge.from, edge.to, edge.label.saturating_add(colours)) {
            return false;
        }
    }
    for (vertex, (&less, &more)) in (0..).zip(before.colours().iter().zip(after.colours())) {
        if less != more {
            graphs.recolour(vertex, less, more);
        }
    }
    for edge in after.edges() {
        if !graphs.arc(edge.from, edge.to, edge.label.saturating_add(colours)) {
            return false;
        }
    }
    true
}

/// The same as a graph of any size, in which points of different types, and points and anonymous vertices, have
/// different colours. With `places`, point `p` has a colour of its own, `places[p]`.
pub(crate) fn graph(
    picture: &Picture,
    types: &Types,
    beside: &[Arc],
    colours: u32,
    places: Option<&[u32]>,
) -> ColouredGraph {
    let degree = picture.points();
    let mut kinds: Vec<(u32, u32)> = (0..picture.vertices())
        .map(|vertex| match (vertex < degree, places) {
            (true, Some(places)) => (places[vertex], 0),
            (true, None) => (types.kind_of[vertex], picture.colours()[vertex]),
            (false, _) => (u32::MAX, picture.colours()[vertex]),
        })
        .collect();
    let all = kinds.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let mut labels: Vec<u32> = picture.edges().iter().map(|edge| edge.label).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut graph = ColouredGraph::new(picture.vertices());
    for (vertex, kind) in all.iter().enumerate() {
        graph.set_colour(vertex as u32, kinds.binary_search(kind).unwrap_or_default() as u32);
    }
    for edge in picture.edges() {
        let rank = labels.binary_search(&edge.label).unwrap_or_default() as u32;
        graph.add_arc(edge.from, edge.to, colours + rank);
    }
    for arc in beside {
        graph.add_arc(arc.from, arc.to, arc.colour);
    }
    graph
}
