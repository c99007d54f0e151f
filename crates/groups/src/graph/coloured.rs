//! Directed graphs with coloured vertices and coloured arcs; parallel arcs and loops are allowed.

use crate::permutation::{Permutation, Point};
use crate::random::mix;

/// An arc with its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arc {
    /// Where it begins.
    pub from: Point,
    /// Where it ends.
    pub to: Point,
    /// Its colour; automorphisms keep it.
    pub colour: u32,
}

/// A directed graph on the vertices `0..n`, with colours on vertices and arcs. An undirected edge is two arcs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColouredGraph {
    colours: Vec<u32>,
    arcs: Vec<Arc>,
}

impl ColouredGraph {
    /// `vertices` vertices of colour 0 and no arcs.
    pub fn new(vertices: usize) -> ColouredGraph {
        ColouredGraph { colours: vec![0; vertices], arcs: Vec::new() }
    }

    /// One more vertex; its number is returned.
    pub fn add_vertex(&mut self, colour: u32) -> Point {
        self.colours.push(colour);
        self.colours.len() as Point - 1
    }

    /// Colours a vertex. Panics when there is no such vertex.
    pub fn set_colour(&mut self, vertex: Point, colour: u32) {
        self.colours[vertex as usize] = colour;
    }

    /// One more arc. Panics when there is no such vertex.
    pub fn add_arc(&mut self, from: Point, to: Point, colour: u32) {
        assert!(from.max(to) < self.colours.len() as Point, "arc {from} -> {to} leaves the graph");
        self.arcs.push(Arc { from, to, colour });
    }

    /// Arcs in both directions; a loop is one arc. Panics when there is no such vertex.
    pub fn add_edge(&mut self, a: Point, b: Point, colour: u32) {
        self.add_arc(a, b, colour);
        if a != b {
            self.add_arc(b, a, colour);
        }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.colours.len()
    }

    /// The colour of each vertex.
    pub fn colours(&self) -> &[u32] {
        &self.colours
    }

    /// The arcs in the order they were added, or sorted after [`ColouredGraph::relabelled`].
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The graph with vertex `v` renamed `labels.image(v)`, its arcs sorted: equal for equal graphs.
    pub fn relabelled(&self, labels: &Permutation) -> ColouredGraph {
        let mut colours = vec![0; self.colours.len()];
        for (vertex, &colour) in self.colours.iter().enumerate() {
            colours[labels.image(vertex as Point) as usize] = colour;
        }
        let rename = |arc: &Arc| Arc { from: labels.image(arc.from), to: labels.image(arc.to), colour: arc.colour };
        let mut arcs: Vec<Arc> = self.arcs.iter().map(rename).collect();
        arcs.sort_unstable();
        ColouredGraph { colours, arcs }
    }

    /// Does the permutation keep colours and arcs? Straight from the definition.
    pub fn has_automorphism(&self, permutation: &Permutation) -> bool {
        permutation.degree() == self.vertices()
            && self.relabelled(permutation) == self.relabelled(&Permutation::identity(self.vertices()))
    }
}

/// The arcs of a graph by vertex, as refinement needs them.
///
/// A vertex lists its neighbours along outgoing and then incoming arcs, each with a class: the colour and direction of
/// the arc. When every arc has its mirror image the incoming half says nothing new and is left out.
pub(crate) struct Adjacency {
    starts: Vec<u32>,
    neighbours: Vec<Point>,
    /// Parallel to `neighbours`; empty when there is one class only.
    classes: Vec<u32>,
    /// What an arc of a class adds to the key of a vertex: a function of its colour and direction alone.
    weights: Vec<u64>,
}

impl Adjacency {
    pub(crate) fn of(graph: &ColouredGraph) -> Adjacency {
        let mut colours: Vec<u32> = graph.arcs.iter().map(|arc| arc.colour).collect();
        colours.sort_unstable();
        colours.dedup();
        let rank = |colour: u32| colours.binary_search(&colour).unwrap_or_default() as u32;
        let arcs = || graph.arcs.iter().map(|arc| (arc.from, arc.to, rank(arc.colour)));
        let outgoing = Lists::of(graph.vertices(), arcs());
        let incoming = Lists::of(graph.vertices(), arcs().map(|(from, to, colour)| (to, from, colour)));
        let symmetric = outgoing.equal(&incoming);
        let weight = |colour: u32, direction: u64| mix(u64::from(colour) << 1 | direction) | 1;
        if symmetric {
            let one_class = colours.len() <= 1;
            let weights = colours.iter().map(|&colour| if one_class { 1 } else { weight(colour, 0) }).collect();
            let classes = if one_class { Vec::new() } else { outgoing.colours };
            return Adjacency { starts: outgoing.starts, neighbours: outgoing.ends, classes, weights };
        }
        let mut merged =
            Adjacency { starts: vec![0], neighbours: Vec::new(), classes: Vec::new(), weights: Vec::new() };
        for vertex in 0..graph.vertices() {
            for (direction, lists) in (0..).zip([&outgoing, &incoming]) {
                for slot in lists.range(vertex) {
                    merged.neighbours.push(lists.ends[slot]);
                    merged.classes.push(2 * lists.colours[slot] + direction);
                }
            }
            merged.starts.push(merged.neighbours.len() as u32);
        }
        merged.weights = colours.iter().flat_map(|&colour| [weight(colour, 0), weight(colour, 1)]).collect();
        merged
    }

    #[inline]
    pub(crate) fn has_one_class(&self) -> bool {
        self.classes.is_empty()
    }

    #[inline]
    fn range(&self, vertex: Point) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }

    #[inline]
    pub(crate) fn neighbours(&self, vertex: Point) -> &[Point] {
        &self.neighbours[self.range(vertex)]
    }

    /// Neighbours with what their arc weighs.
    #[inline]
    pub(crate) fn weighted(&self, vertex: Point) -> impl Iterator<Item = (Point, u64)> + '_ {
        let range = self.range(vertex);
        let classes = &self.classes[range.clone()];
        self.neighbours[range].iter().zip(classes).map(|(&neighbour, &class)| (neighbour, self.weights[class as usize]))
    }

    /// The arcs at a vertex with their ends renamed, sorted, into a buffer.
    pub(crate) fn renamed_into(&self, vertex: Point, rename: impl Fn(Point) -> Point, into: &mut Vec<(u32, Point)>) {
        into.clear();
        let range = self.range(vertex);
        if self.has_one_class() {
            into.extend(self.neighbours[range].iter().map(|&neighbour| (0, rename(neighbour))));
        } else {
            let classes = self.classes[range.clone()].iter();
            into.extend(classes.zip(&self.neighbours[range]).map(|(&class, &neighbour)| (class, rename(neighbour))));
        }
        into.sort_unstable();
    }
}

/// Arcs by the vertex they begin at.
struct Lists {
    starts: Vec<u32>,
    ends: Vec<Point>,
    colours: Vec<u32>,
}

impl Lists {
    fn of(vertices: usize, arcs: impl Iterator<Item = (Point, Point, u32)> + Clone) -> Lists {
        let mut starts = vec![0u32; vertices + 1];
        for (from, _, _) in arcs.clone() {
            starts[from as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let total = starts[vertices] as usize;
        let (mut ends, mut colours) = (vec![0; total], vec![0; total]);
        let mut next = starts.clone();
        for (from, to, colour) in arcs {
            let slot = next[from as usize] as usize;
            next[from as usize] += 1;
            ends[slot] = to;
            colours[slot] = colour;
        }
        Lists { starts, ends, colours }
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.starts[vertex] as usize..self.starts[vertex + 1] as usize
    }

    /// Has every vertex the same arcs in both, in whatever order?
    fn equal(&self, other: &Lists) -> bool {
        let sorted = |lists: &Lists, vertex: usize, into: &mut Vec<(u32, Point)>| {
            into.clear();
            into.extend(lists.range(vertex).map(|slot| (lists.colours[slot], lists.ends[slot])));
            into.sort_unstable();
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.starts == other.starts
            && (0..self.starts.len() - 1).all(|vertex| {
                if self.ends[self.range(vertex)] == other.ends[other.range(vertex)]
                    && self.colours[self.range(vertex)] == other.colours[other.range(vertex)]
                {
                    return true;
                }
                sorted(self, vertex, &mut left);
                sorted(other, vertex, &mut right);
                left == right
            })
    }
}
