//! A graph with places: what a picture consists of.

use crate::{Mark, Shape};

/// A place; `y` grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spot {
    /// From the left.
    pub x: f64,
    /// From above.
    pub y: f64,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Its left border.
    pub x: f64,
    /// Its upper border.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl Area {
    /// Do the two have more than a border in common?
    pub fn overlaps(&self, other: &Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    /// Is the spot inside, and not on the border?
    pub fn contains(&self, spot: Spot) -> bool {
        spot.x > self.x && spot.x < self.x + self.width && spot.y > self.y && spot.y < self.y + self.height
    }

    /// Its middle.
    pub fn middle(&self) -> Spot {
        Spot { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }
}

/// A piece of a curve, from where the piece before it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// A straight line.
    Line(Spot),
    /// A cubic Bézier curve with two control points, and its end.
    Cubic(Spot, Spot, Spot),
}

/// A smooth curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Where it begins.
    pub start: Spot,
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// The head of an arrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it points.
    pub tip: Spot,
    /// The direction in which it points, of length 1.
    pub towards: (f64, f64),
}

/// A node with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnNode {
    /// What it covers.
    pub area: Area,
    /// What is written in it.
    pub text: String,
    /// Its tooltip.
    pub title: String,
    /// What is special about it.
    pub mark: Mark,
    /// Its form.
    pub shape: Shape,
    /// The arrow that points at it from nowhere.
    pub entry: Option<(Spot, Arrow)>,
}

/// A text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnText {
    /// What it covers.
    pub area: Area,
    /// Its lines.
    pub lines: Vec<String>,
}

/// An edge with its place; it stands for all edges between its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnEdge {
    /// The node it leaves.
    pub source: usize,
    /// The node it enters.
    pub target: usize,
    /// Its way, without the head of the arrow.
    pub curve: Curve,
    /// The head of the arrow.
    pub arrow: Arrow,
    /// The head of the arrow at the other end, when it stands for edges in both directions.
    pub back: Option<Arrow>,
    /// What is written beside it.
    pub text: Option<DrawnText>,
    /// Its tooltip.
    pub title: String,
    /// Is it drawn as an internal step?
    pub quiet: bool,
}

/// A line beside a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteLine {
    /// What is written.
    pub text: String,
    /// The node that the edge enters, when the line stands for an edge that is not drawn as a line.
    pub target: Option<usize>,
    /// Its tooltip.
    pub title: String,
    /// How many edges it stands for that have no line of their own.
    pub hidden: usize,
}

/// What is written beside a node: edges that there is no room for.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnNote {
    /// The node that the edges leave.
    pub source: usize,
    /// What it covers.
    pub area: Area,
    /// Its lines.
    pub lines: Vec<NoteLine>,
    /// From the node to the text.
    pub arrow: (Spot, Arrow),
}

/// A picture of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Its width.
    pub width: f64,
    /// Its height, that of the legend included.
    pub height: f64,
    /// What it is a picture of.
    pub caption: String,
    /// The nodes, by their numbers.
    pub nodes: Vec<DrawnNode>,
    /// The edges.
    pub edges: Vec<DrawnEdge>,
    /// The edges that are not drawn as lines, beside the nodes that they leave.
    pub notes: Vec<DrawnNote>,
    /// What the marks mean that occur, and where it is written.
    pub legend: Vec<(Spot, Mark)>,
    /// What numbers beside edges stand for, from 1, and where it is written.
    pub keys: Vec<(Spot, String)>,
}
