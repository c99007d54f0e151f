//! The points of the layers: nodes, bends of edges, texts.
//!
//! When edges have texts, every second layer is for them, so that even an edge between neighbouring layers has a point
//! for its text. An edge then is a chain of points, one in each layer from its one end to its other; all later stages
//! see points and chains only.
//!
//! Sizes are given *across* the layers and *along* the way from layer to layer, so that nothing but this file and the
//! last stage knows in which direction the layers lie.

use crate::bundles::Bundle;
use crate::{Direction, Graph, POINTS, Trouble, text};

/// The least size of a node, both ways.
const NODE: f64 = 28.0;
/// Room inside a node beside its text.
const INSIDE: f64 = 14.0;
/// The most columns of the text of a node.
const COLUMNS: usize = 30;
/// How far apart the ends of edges are at a node, if there is room.
pub(crate) const PORT: f64 = 10.0;
/// More ends than this on one side of a node do not make it larger.
const PORTS: usize = 40;
/// Room between a node and the border of its layer, for arrow heads.
pub(crate) const ARROW: f64 = 9.0;
/// How far a loop reaches out of its node.
pub(crate) const LOOP: f64 = 22.0;
/// The length of the arrow that points at a node where everything begins.
pub(crate) const ENTRY: f64 = 22.0;

/// What a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node(usize),
    /// The text of a bundle.
    Text(usize),
    /// A bend of a bundle.
    Bend,
}

/// All points in their layers.
pub(crate) struct Points {
    /// Nodes come first, by their numbers.
    pub(crate) kinds: Vec<Kind>,
    /// How much room a point needs across, before and after its place.
    pub(crate) extents: Vec<(f64, f64)>,
    /// How much room it needs along.
    pub(crate) along: Vec<f64>,
    pub(crate) layer: Vec<u32>,
    /// The layers, each in its order.
    pub(crate) layers: Vec<Vec<u32>>,
    /// The neighbours in the layer before.
    pub(crate) up: Vec<Vec<u32>>,
    /// The neighbours in the layer after.
    pub(crate) down: Vec<Vec<u32>>,
    /// By bundle, its points from the first layer to the last; none for loops.
    pub(crate) chains: Vec<Vec<u32>>,
    /// By bundle, whether it leads from the last layer to the first.
    pub(crate) turned: Vec<bool>,
    /// By node, the size across and along of what is drawn.
    pub(crate) sizes: Vec<(f64, f64)>,
}

/// What is written in a node.
pub(crate) fn node_text(graph: &Graph, node: usize) -> String {
    text::cut(&graph.nodes[node].text, COLUMNS)
}

/// Sizes of a text across and along.
pub(crate) fn oriented((width, height): (f64, f64), direction: Direction) -> (f64, f64) {
    match direction {
        Direction::Down => (width, height),
        Direction::Right => (height, width),
    }
}

/// Nodes and edges as points and chains.
pub(crate) fn points(
    graph: &Graph,
    bundles: &[Bundle],
    node_layer: &[u32],
    direction: Direction,
) -> Result<Points, Trouble> {
    let texts = bundles.iter().any(|bundle| !bundle.is_loop() && !bundle.lines.is_empty());
    let stride = if texts { 2 } else { 1 };
    let ends = |bundle: &Bundle| (node_layer[bundle.source] * stride, node_layer[bundle.target] * stride);
    let needed = bundles.iter().map(|bundle| {
        let (source, target) = ends(bundle);
        source.abs_diff(target).saturating_sub(1) as usize
    });
    let needed = needed.sum::<usize>() + graph.nodes.len();
    if needed > POINTS {
        return Err(Trouble::Points { points: needed });
    }
    let count = graph.nodes.len();
    let last = node_layer.iter().max().map_or(0, |&layer| (layer * stride) as usize);
    let mut points = Points {
        kinds: (0..count).map(Kind::Node).collect(),
        extents: Vec::new(),
        along: Vec::new(),
        layer: node_layer.iter().map(|&layer| layer * stride).collect(),
        layers: vec![Vec::new(); if count == 0 { 0 } else { last + 1 }],
        up: vec![Vec::new(); count],
        down: vec![Vec::new(); count],
        chains: Vec::with_capacity(bundles.len()),
        turned: Vec::with_capacity(bundles.len()),
        sizes: Vec::with_capacity(count),
    };
    points.nodes(graph, bundles, direction);
    for (number, bundle) in bundles.iter().enumerate() {
        let (source, target) = ends(bundle);
        points.turned.push(source > target);
        if bundle.is_loop() {
            points.chains.push(Vec::new());
            continue;
        }
        let (mut first, mut second) = (bundle.source as u32, bundle.target as u32);
        if source > target {
            std::mem::swap(&mut first, &mut second);
        }
        let (from, to) = (source.min(target), source.max(target));
        // Texts are in odd layers: the one in the middle, or the one before.
        let text_layer = ((from + to) / 2).saturating_sub(1) | 1;
        let mut chain = vec![first];
        for layer in from + 1..to {
            let has_text = layer == text_layer && !bundle.lines.is_empty();
            let kind = if has_text { Kind::Text(number) } else { Kind::Bend };
            let size = if has_text { oriented(bundle.size(), direction) } else { (2.0, 0.0) };
            chain.push(points.add(kind, layer, size));
        }
        chain.push(second);
        for pair in chain.windows(2) {
            points.down[pair[0] as usize].push(pair[1]);
            points.up[pair[1] as usize].push(pair[0]);
        }
        points.chains.push(chain);
    }
    points.arrange();
    Ok(points)
}

impl Points {
    /// The sizes of the nodes.
    fn nodes(&mut self, graph: &Graph, bundles: &[Bundle], direction: Direction) {
        let mut ports = vec![(0usize, 0usize); graph.nodes.len()];
        let mut loops: Vec<Option<&Bundle>> = vec![None; graph.nodes.len()];
        for bundle in bundles {
            if bundle.is_loop() {
                loops[bundle.source] = Some(bundle);
                continue;
            }
            let forward = self.layer[bundle.source] < self.layer[bundle.target];
            let (first, second) = if forward { (bundle.source, bundle.target) } else { (bundle.target, bundle.source) };
            ports[first].1 += 1;
            ports[second].0 += 1;
        }
        for node in 0..graph.nodes.len() {
            let wide = text::width(&node_text(graph, node)) + INSIDE;
            let (mut across, along) = oriented((wide.max(NODE), NODE), direction);
            across = across.max(ports[node].0.max(ports[node].1).min(PORTS) as f64 * PORT);
            let mut extents = (across / 2.0, across / 2.0);
            let mut room = along + 2.0 * ARROW;
            if graph.nodes[node].initial {
                extents.0 += ENTRY;
            }
            if let Some(bundle) = loops[node] {
                extents.1 += LOOP;
                if !bundle.lines.is_empty() {
                    let (text_across, text_along) = oriented(bundle.size(), direction);
                    extents.1 += text_across + 2.0;
                    room = room.max(text_along);
                }
            }
            self.sizes.push((across, along));
            self.extents.push(extents);
            self.along.push(room);
        }
    }

    fn add(&mut self, kind: Kind, layer: u32, (across, along): (f64, f64)) -> u32 {
        self.kinds.push(kind);
        self.extents.push((across / 2.0, across / 2.0));
        self.along.push(along);
        self.layer.push(layer);
        self.up.push(Vec::new());
        self.down.push(Vec::new());
        self.kinds.len() as u32 - 1
    }

    /// A first order inside the layers: as a depth-first search finds the points, so that a tree has no crossings.
    fn arrange(&mut self) {
        let mut seen = vec![false; self.kinds.len()];
        let mut roots: Vec<u32> = (0..self.kinds.len() as u32).collect();
        roots.sort_by_key(|&point| self.layer[point as usize]);
        let mut work = Vec::new();
        for root in roots {
            work.push(root);
            while let Some(point) = work.pop() {
                if std::mem::replace(&mut seen[point as usize], true) {
                    continue;
                }
                self.layers[self.layer[point as usize] as usize].push(point);
                work.extend(self.down[point as usize].iter().rev().filter(|&&next| !seen[next as usize]));
            }
        }
    }
}
