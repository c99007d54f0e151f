//! The order of pictures, and the least of several images of one.
//!
//! First come the colours of the points, in the order of their numbers: the control part of the state. Then the
//! references, as the vector that has for each vertex and label the vertex referred to, and nothing, which is least,
//! where there is no edge. This is the order of Donaldson and Miller, 2007, for states of components that are their own
//! identities. Anonymous vertices take part under canonical numbers: those that labelling gives when all points have
//! different colours.

use std::cmp::Ordering;

use trefoil_control::{Control, Stopped};
use trefoil_groups::{SmallGraphs, canonical_labelling};
use trefoil_system::Picture;

use crate::labels;
use crate::types::Types;

/// An image, written down so that it can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Written {
    /// Of points by their numbers, then of anonymous vertices by theirs.
    colours: Vec<u32>,
    /// From, label and to, sorted.
    edges: Vec<[u32; 3]>,
}

impl Written {
    fn compare(&self, other: &Written) -> Ordering {
        self.colours.cmp(&other.colours).then_with(|| {
            let differ = self.edges.iter().zip(&other.edges).find(|(here, there)| here != there);
            match differ {
                // An image with an edge where the other has none is greater.
                Some((here, there)) if here[..2] != there[..2] => there[..2].cmp(&here[..2]),
                Some((here, there)) => here[2].cmp(&there[2]),
                None => self.edges.len().cmp(&other.edges.len()),
            }
        })
    }
}

/// Compares images of one picture after the other, in buffers that are reused.
pub(crate) struct Images {
    graphs: SmallGraphs,
    best: Written,
    current: Written,
    /// The element that made the best image.
    element: Vec<u32>,
    /// How many elements made it.
    ties: u64,
    names: Vec<u32>,
}

impl Images {
    pub(crate) fn new() -> Images {
        Images {
            graphs: SmallGraphs::new(),
            best: Written::default(),
            current: Written::default(),
            element: Vec::new(),
            ties: 0,
            names: Vec::new(),
        }
    }

    /// Forgets the best image.
    pub(crate) fn clear(&mut self) {
        self.ties = 0;
    }

    /// The element that made the best image so far.
    pub(crate) fn element(&self) -> &[u32] {
        &self.element
    }

    /// How many elements made that image.
    pub(crate) fn ties(&self) -> u64 {
        self.ties
    }

    /// Computes the image under an element; returns whether it is less than all before.
    pub(crate) fn offer(&mut self, picture: &Picture, element: &[u32], control: &Control) -> Result<bool, Stopped> {
        self.write(picture, element, control)?;
        let order = if self.ties == 0 { Ordering::Less } else { self.current.compare(&self.best) };
        match order {
            Ordering::Greater => {}
            Ordering::Equal => self.ties += 1,
            Ordering::Less => {
                std::mem::swap(&mut self.best, &mut self.current);
                self.element.clear();
                self.element.extend_from_slice(element);
                self.ties = 1;
            }
        }
        Ok(order == Ordering::Less)
    }

    fn write(&mut self, picture: &Picture, element: &[u32], control: &Control) -> Result<(), Stopped> {
        let (degree, vertices) = (picture.points(), picture.vertices());
        self.names.clear();
        self.names.extend_from_slice(element);
        if vertices > degree {
            self.name_anonymous(picture, element, control)?;
        }
        let Images { current, names, .. } = self;
        current.colours.clear();
        current.colours.resize(vertices, 0);
        for (&colour, &name) in picture.colours().iter().zip(names.iter()) {
            current.colours[name as usize] = colour;
        }
        current.edges.clear();
        let renamed = |vertex: u32| names[vertex as usize];
        current.edges.extend(picture.edges().iter().map(|edge| [renamed(edge.from), edge.label, renamed(edge.to)]));
        current.edges.sort_unstable();
        Ok(())
    }

    /// Numbers the anonymous vertices canonically when the points have the names that the element gives them.
    fn name_anonymous(&mut self, picture: &Picture, element: &[u32], control: &Control) -> Result<(), Stopped> {
        let (degree, vertices) = (picture.points(), picture.vertices());
        let graphs = &mut self.graphs;
        let mut fits = graphs.begin(vertices, vertices);
        if fits {
            element.iter().for_each(|&name| graphs.colour(name, 0));
            picture.colours()[degree..].iter().for_each(|&colour| graphs.colour(degree as u32, colour));
            fits = picture.edges().iter().all(|edge| graphs.arc(edge.from, edge.to, edge.label));
        }
        if fits {
            graphs.label(control)?;
            self.names.extend((degree..vertices).map(|vertex| graphs.position(vertex) as u32));
        } else {
            let types = Types { kind_of: Vec::new(), places: Vec::new(), symmetric: false };
            let graph = labels::graph(picture, &types, &[], 0, Some(element));
            let found = canonical_labelling(&graph, control)?.labels;
            self.names.extend((degree..vertices).map(|vertex| found.image(vertex as u32)));
        }
        Ok(())
    }
}
