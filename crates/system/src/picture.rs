//! A state as a coloured graph: all that a representative strategy sees.
//!
//! The first vertices of a picture are the *points* that a symmetry group permutes: values of symmetric types,
//! identifiers of processes and channels. The others are anonymous: components without an identity, cells of lists,
//! sets, entries of maps. Colours hold what a state says without naming a point; edges, labelled by position, hold
//! which point stands where: a component that holds `x` in its second variable has an edge labelled 2 to `x`. A
//! component that a point identifies can be drawn at the point itself: its control state is then the colour of the
//! point, and its references are edges from there.
//!
//! Every action promises: an element of the group carries one state to another exactly when it carries the picture of
//! the one to the picture of the other, for some map of the anonymous vertices.

/// An edge with its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Where it begins.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// The position it stands for; small numbers are fastest.
    pub label: u32,
}

/// A coloured directed graph over points and anonymous vertices, in buffers that are used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    points: usize,
    colours: Vec<u32>,
    edges: Vec<Edge>,
}

impl Picture {
    /// This many points of colour 0, and nothing else.
    pub fn new(points: usize) -> Picture {
        let mut picture = Picture::default();
        picture.clear(points);
        picture
    }

    /// Starts again with this many points of colour 0; keeps its memory.
    pub fn clear(&mut self, points: usize) {
        self.points = points;
        self.colours.clear();
        self.colours.resize(points, 0);
        self.edges.clear();
    }

    /// Colours a vertex. Panics when there is none of this number.
    #[inline]
    pub fn set_colour(&mut self, vertex: u32, colour: u32) {
        self.colours[vertex as usize] = colour;
    }

    /// Adds to the number that is a vertex's colour. Panics when there is none of this number.
    #[inline]
    pub fn add_to_colour(&mut self, vertex: u32, more: u32) {
        self.colours[vertex as usize] += more;
    }

    /// One more anonymous vertex; its number is returned.
    #[inline]
    pub fn add_vertex(&mut self, colour: u32) -> u32 {
        self.colours.push(colour);
        self.colours.len() as u32 - 1
    }

    /// One more edge. Both vertices must be there already.
    #[inline]
    pub fn add_edge(&mut self, from: u32, to: u32, label: u32) {
        debug_assert!((from.max(to) as usize) < self.colours.len(), "edge {from} -> {to} leaves the picture");
        self.edges.push(Edge { from, to, label });
    }

    /// More edges. Their vertices must be there already.
    #[inline]
    pub fn add_edges(&mut self, edges: &[Edge]) {
        debug_assert!(edges.iter().all(|edge| (edge.from.max(edge.to) as usize) < self.colours.len()));
        // One by one: there are a few at a time, for which copying memory takes longer.
        for &edge in edges {
            self.edges.push(edge);
        }
    }

    /// The number of points.
    #[inline]
    pub fn points(&self) -> usize {
        self.points
    }

    /// The number of vertices, points and anonymous ones.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.colours.len()
    }

    /// The colour of each vertex, points first.
    #[inline]
    pub fn colours(&self) -> &[u32] {
        &self.colours
    }

    /// The edges in the order they were added.
    #[inline]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// `into` becomes the picture with each point `p` renamed `element[p]`; anonymous vertices keep their numbers.
    pub fn permuted(&self, element: &[u32], into: &mut Picture) {
        let rename = |vertex: u32| element.get(vertex as usize).copied().unwrap_or(vertex);
        into.points = self.points;
        into.colours.clear();
        into.colours.extend_from_slice(&self.colours);
        for (vertex, &colour) in self.colours.iter().enumerate() {
            into.colours[rename(vertex as u32) as usize] = colour;
        }
        into.edges.clear();
        let renamed = |edge: &Edge| Edge { from: rename(edge.from), to: rename(edge.to), label: edge.label };
        into.edges.extend(self.edges.iter().map(renamed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_and_permuted() {
        let mut picture = Picture::new(3);
        picture.set_colour(0, 5);
        picture.add_to_colour(0, 2);
        let cell = picture.add_vertex(9);
        picture.add_edge(cell, 1, 2);
        picture.add_edges(&[Edge { from: 0, to: 2, label: 1 }]);
        let mut image = Picture::default();
        picture.permuted(&[1, 2, 0], &mut image);
        assert_eq!(image.colours(), [0, 7, 0, 9]);
        assert_eq!(image.edges(), [Edge { from: 3, to: 2, label: 2 }, Edge { from: 1, to: 0, label: 1 }]);
        picture.clear(2);
        assert_eq!(picture, Picture::new(2));
    }
}
