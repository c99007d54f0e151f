//! Pictures: directed graphs with labels on nodes and edges, and message-sequence charts ([`chart`]).
//!
//! # From a graph to a picture
//!
//! The layout is layered, after Sugiyama, Tagawa and Toda, *Methods for visual understanding of hierarchical system
//! structures*, 1981, in the order that has become usual; each stage is a file with its own essay:
//!
//! 1. edges between the same two nodes become one with several lines of text, folded by channel ([`bundles`],
//!    [`folds`]);
//! 2. cycles are broken by turning edges round, and every node is given a layer ([`layers`]);
//! 3. an edge over several layers gets a bend in each layer between, a labelled one a place for its text; edges that
//!    there is no room for become text beside their nodes ([`points`]);
//! 4. the order inside the layers is chosen for few crossings ([`crossings`]);
//! 5. places across the layers are chosen for straight edges ([`places`]);
//! 6. edges are drawn as smooth curves between them ([`routes`]).
//!
//! The result is a [`Drawing`]: boxes and curves, which [`Drawing::svg`] writes as SVG; [`png()`] draws an SVG document
//! of this crate as pixels. [`dot()`] writes the graph without a layout.
//!
//! # Invariants
//!
//! - No two nodes and no two texts overlap, nor does a text overlap a node: all of them are points of a layer, and
//!   points of a layer keep their distance.
//! - An edge does not run through a node or through the text of another edge: inside a layer it runs straight along its
//!   own point, and it turns only between layers, where there is nothing but edges.
//! - A picture is at most [`WIDEST`] units wide (high, when the layers lie side by side), unless a single node, the
//!   caption or a label in the table below is wider.
//! - The same graph gives the same picture, to the byte.
//! - Any text gives well-formed XML.
//!
//! # Cost
//!
//! Linear in the points and segments between layers, times a logarithm for counting crossings; the points are limited
//! by a number that grows with the nodes, whatever the number of edges. The progress counter of a control counts the
//! segments that were looked at: fewer than 20 million for 300 nodes, whatever the number of edges. A graph that is
//! too large to read is refused with a reason.
//!
//! Absent here on purpose: what nodes and edges stand for.

mod bundles;
mod chart;
mod crossings;
mod dot;
mod drawing;
mod folds;
mod layers;
mod letters;
mod pixels;
mod places;
mod png;
mod points;
mod routes;
mod svg;
mod text;

use std::fmt;

use trefoil_control::{Control, Stopped, count, counted};

use bundles::Bundle;
use points::Points;

pub use chart::{Chart, Happening, Lifeline, Message, ROWS};
pub use dot::dot;
pub use drawing::{Area, Arrow, Curve, Drawing, DrawnEdge, DrawnNode, DrawnNote, DrawnText, NoteLine, Piece, Spot};
pub use png::{TooManyPixels, png};

/// The widest picture.
pub const WIDEST: f64 = 4_000.0;

/// A directed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What it is a graph of.
    pub caption: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its edges.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What is written in it.
    pub text: String,
    /// Its tooltip.
    pub title: String,
    /// What is special about it.
    pub mark: Mark,
    /// Is it the initial node?
    pub initial: bool,
    /// Its form.
    pub shape: Shape,
}

/// The form of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Round ends: states, processes, vertices of the player even.
    #[default]
    Round,
    /// A box: variables, vertices of the player odd.
    Box,
    /// A box with double sides: channels.
    Queue,
}

/// What is special about a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing.
    #[default]
    Plain,
    /// A deadlock.
    Deadlock,
    /// It diverges: internal steps can repeat forever.
    Diverging,
    /// Successful termination.
    Terminated,
    /// More edges leave it, to nodes that are not shown.
    Continues,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it leaves, by its place among the nodes.
    pub source: usize,
    /// The node it enters.
    pub target: usize,
    /// What is written beside it.
    pub label: String,
    /// Is it an internal step?
    pub quiet: bool,
}

/// Where the layers lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// One below the other.
    #[default]
    Down,
    /// One to the right of the other.
    Right,
}

/// How a graph is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where the layers lie.
    pub direction: Direction,
    /// The most nodes that are drawn.
    pub nodes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { direction: Direction::Down, nodes: 4_000 }
    }
}

/// Why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There are more nodes than the options allow.
    Nodes {
        /// How many there are.
        nodes: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Trouble::Nodes { nodes, most } => {
                write!(
                    f,
                    "a picture of {} is unreadable; the limit is {}",
                    counted(nodes as u64, "node"),
                    count(most as u64)
                )
            }
            Trouble::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl std::error::Error for Trouble {}

impl From<Stopped> for Trouble {
    fn from(stopped: Stopped) -> Trouble {
        Trouble::Stopped(stopped)
    }
}

/// Draws a graph.
///
/// # Panics
///
/// When an edge names a node that is not there.
pub fn draw(graph: &Graph, options: Options, control: &Control) -> Result<Drawing, Trouble> {
    if graph.nodes.len() > options.nodes {
        return Err(Trouble::Nodes { nodes: graph.nodes.len(), most: options.nodes });
    }
    control.progress().begin("drawing", 0);
    let (bundles, keys) = bundles::bundles(graph);
    let direction = options.direction;
    let (points, across) = arranged(graph, &bundles, direction, control)?;
    Ok(routes::routes(graph, (&bundles, &keys), &points, &across, direction))
}

/// Counts work, as the segments that the stages of a layout look at: what a layout takes on any machine.
fn worked(control: &Control, segments: usize) {
    let progress = control.progress();
    progress.done(progress.snapshot().done + segments as u64);
}

/// The points of the picture and their places. A picture of few nodes is kept narrow, so that it can be read; where
/// straight edges make it wider than any picture may be, less room is given to edges, and in the end layers are packed.
fn arranged(
    graph: &Graph,
    bundles: &[Bundle],
    direction: Direction,
    control: &Control,
) -> Result<(Points, Vec<f64>), Stopped> {
    const MARGINS: f64 = 40.0;
    let room = (500.0 + 180.0 * (graph.nodes.len() as f64).sqrt()).min(WIDEST * 0.9);
    let mut packed = None;
    for (share, jumps) in [(1.0, false), (1.0, true), (0.75, true), (0.55, true)] {
        let widest = room * share;
        let widths = points::widths(graph, bundles, jumps, direction);
        // Nodes with jumps beside them leave half of a layer to edges.
        let share_of_nodes = if jumps { 0.5 } else { 1.0 };
        let layers = layers::layers(graph, bundles, &widths, widest * share_of_nodes, control)?;
        let made = points::points(graph, bundles, &layers, (&widths, widest, jumps), direction);
        let Some(mut points) = made else { continue };
        worked(control, layers::ROUNDS * bundles.len());
        crossings::reduce(&mut points, control)?;
        let across = places::places(&points, control)?;
        worked(control, 4 * points.kinds.len());
        let (first, last) = places::bounds(&points, &across);
        if last - first <= WIDEST - MARGINS {
            return Ok((points, across));
        }
        packed = Some(points);
    }
    let points = packed.expect("the last tries find a place for everything");
    let across = places::packed(&points);
    Ok((points, across))
}
