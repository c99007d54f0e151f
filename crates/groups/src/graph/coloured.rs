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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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

/// The arcs of a graph by vertex, as refinement wants them.
///
/// A vertex lists its neighbours along outgoing and then incoming arcs, each with a class: the colour and direction of the
/// arc. When every arc has its mirror image the incoming half says nothing new and is left out.
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
        let symmetric = is_symmetric(graph);
        let directions = if symmetric { 1 } else { 2 };
        let class_of = |colour: u32| colours.binary_search(&colour).unwrap_or_default() as u32 * directions;
        let mut starts = vec![0u32; graph.vertices() + 1];
        for arc in &graph.arcs {
            starts[arc.from as usize + 1] += 1;
            if !symmetric {
                starts[arc.to as usize + 1] += 1;
            }
        }
        for vertex in 0..graph.vertices() {
            starts[vertex + 1] += starts[vertex];
        }
        let total = starts.last().map_or(0, |&end| end as usize);
        let one_class = colours.len() as u32 * directions <= 1;
        let mut neighbours = vec![0; total];
        let mut classes = vec![0; if one_class { 0 } else { total }];
        let mut next = starts.clone();
        let mut place = |vertex: Point, neighbour: Point, class: u32| {
            let slot = next[vertex as usize] as usize;
            next[vertex as usize] += 1;
            neighbours[slot] = neighbour;
            if !one_class {
                classes[slot] = class;
            }
        };
        for arc in &graph.arcs {
            let class = if one_class { 0 } else { class_of(arc.colour) };
            place(arc.from, arc.to, class);
            if !symmetric {
                place(arc.to, arc.from, class + 1);
            }
        }
        let weight = |class: u32| {
            let colour = u64::from(colours[(class / directions) as usize]);
            mix((colour << 1 | u64::from(class % directions)).wrapping_add(0x5bd1_e995)) | 1
        };
        let weights = if one_class { vec![1] } else { (0..colours.len() as u32 * directions).map(weight).collect() };
        Adjacency { starts, neighbours, classes, weights }
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

fn is_symmetric(graph: &ColouredGraph) -> bool {
    let mut forth: Vec<Arc> = graph.arcs.iter().filter(|arc| arc.from < arc.to).copied().collect();
    let turn = |arc: &Arc| Arc { from: arc.to, to: arc.from, colour: arc.colour };
    let mut back: Vec<Arc> = graph.arcs.iter().filter(|arc| arc.from > arc.to).map(turn).collect();
    forth.sort_unstable();
    back.sort_unstable();
    forth == back
}
