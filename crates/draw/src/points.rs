//! The points of the layers: nodes, bends of edges, texts.
//!
//! When edges have texts, every second layer is for them, so that even an edge between neighbouring layers has a point
//! for its text. An edge then is a chain of points, one in each layer from its one end to its other; all later stages
//! see points and chains only.
//!
//! # What there is no room for
//!
//! Bends and texts make a picture wide, not nodes. So edges are taken in order of their length (first those that are
//! the first ones into their nodes, so that few nodes stand alone), and an edge that would
//! make a layer wider than the picture may be, or the picture as a whole too full, is not drawn as a line: it is a
//! *jump*, a line of text beside the node that it leaves, with its label and the node that it enters. The text of an
//! edge stands in that layer between its ends that has the most room. In a graph in which all edges have room nothing
//! is a jump.
//!
//! Sizes are given *across* the layers and *along* the way from layer to layer, so that nothing but this file and the
//! last stage knows in which direction the layers lie.

use std::collections::HashSet;

use crate::bundles::Bundle;
use crate::drawing::NoteLine;
use crate::places::half_gap;
use crate::{Direction, Graph, Shape, text};

/// The least size of a node, both ways.
const NODE: f64 = 28.0;
/// Room inside a node beside its text.
const INSIDE: f64 = 14.0;
/// The most columns of the text of a node.
const COLUMNS: usize = 30;
/// How far apart the ends of edges are at a node, if there is room.
pub(crate) const PORT: f64 = 10.0;
/// More ends than this on one side of a node do not make it larger.
const PORTS: usize = 16;
/// Room between a node and the border of its layer, for arrow heads.
pub(crate) const ARROW: f64 = 9.0;
/// How far a loop, or the arrow of jumps, reaches out of its node.
pub(crate) const LOOP: f64 = 22.0;
/// The length of the arrow that points at a node where everything begins.
pub(crate) const ENTRY: f64 = 22.0;
/// The size of a bend across.
const BEND: f64 = 2.0;
/// The most bends of a picture, and how many more for each node.
const BENDS: (usize, usize) = (12_000, 20);
/// The most lines beside a node, and their columns without the node that they lead to.
const NOTES: (usize, usize) = (8, 26);

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
    /// By bundle, its points from the first layer to the last; none for loops and jumps.
    pub(crate) chains: Vec<Vec<u32>>,
    /// By bundle, whether it leads from the last layer to the first.
    pub(crate) turned: Vec<bool>,
    /// By node, the size across and along of what is drawn.
    pub(crate) sizes: Vec<(f64, f64)>,
    /// By node, its form.
    pub(crate) shapes: Vec<Shape>,
    /// By node, what is written beside it: its jumps, and the labels of its loop if there are jumps.
    pub(crate) notes: Vec<Vec<NoteLine>>,
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

/// The size of what is written beside a node.
pub(crate) fn note_size(lines: &[NoteLine]) -> (f64, f64) {
    let texts: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
    text::block(&texts)
}

/// How wide every node can become, with its jumps if there are to be any.
pub(crate) fn widths(graph: &Graph, bundles: &[Bundle], jumps: bool, direction: Direction) -> Vec<f64> {
    let mut ports = vec![0usize; graph.nodes.len()];
    let mut notes: Vec<Vec<NoteLine>> = vec![Vec::new(); graph.nodes.len()];
    let mut loops = vec![false; graph.nodes.len()];
    for bundle in bundles {
        if bundle.is_loop() {
            loops[bundle.source] = true;
            push_note(&mut notes[bundle.source], loop_note(bundle));
            continue;
        }
        ports[bundle.source] += 1;
        ports[bundle.target] += 1;
        if jumps {
            jump_notes(graph, bundle, &mut notes);
        }
    }
    let width = |node: usize| {
        let wide = text::width(&node_text(graph, node)) + INSIDE;
        let across = oriented((wide.max(NODE), NODE), direction).0.max(ports[node].min(PORTS) as f64 * PORT);
        let note = if notes[node].is_empty() { 0.0 } else { oriented(note_size(&notes[node]), direction).0 + 2.0 };
        let side = if notes[node].is_empty() && !loops[node] { 0.0 } else { LOOP };
        let entry = if graph.nodes[node].initial { ENTRY } else { 0.0 };
        across + note + side + entry + 2.0 * half_gap(Kind::Node(node))
    };
    (0..graph.nodes.len()).map(width).collect()
}

fn push_note(notes: &mut Vec<NoteLine>, line: Option<NoteLine>) {
    let Some(line) = line else { return };
    let (most, _) = NOTES;
    if notes.len() < most {
        notes.push(line);
        return;
    }
    // The last line counts what is not shown, itself included; the tooltip has it.
    let last = &mut notes[most - 1];
    if last.hidden == 0 {
        *last = NoteLine { text: String::new(), target: None, title: last.title.clone(), hidden: 1 };
    }
    last.hidden += 1;
    last.text = format!("… {} more", last.hidden);
    if last.hidden < 200 {
        last.title = format!("{}\n{}", last.title, line.title);
    }
}

fn loop_note(bundle: &Bundle) -> Option<NoteLine> {
    let text = bundle.lines.join(", ");
    let shown = text::cut(&text, NOTES.1);
    (!text.is_empty()).then(|| NoteLine {
        text: format!("↺ {shown}"),
        target: None,
        title: bundle.title.clone(),
        hidden: 0,
    })
}

/// A line beside each node that a jump leaves.
fn jump_notes(graph: &Graph, bundle: &Bundle, notes: &mut [Vec<NoteLine>]) {
    let mut add = |from: usize, to: usize, lines: &[String]| {
        let label = text::cut(&lines.join(", "), NOTES.1);
        let entered = text::cut(&graph.nodes[to].text, NOTES.1);
        let (target, title) = (Some(to), format!("{} → {entered}", lines.join(", ")));
        let line =
            NoteLine { text: format!("{label} → {entered}").trim_start().to_string(), target, title, hidden: 0 };
        push_note(&mut notes[from], Some(line));
    };
    add(bundle.source, bundle.target, &bundle.lines);
    if let Some(back) = &bundle.back {
        add(bundle.target, bundle.source, back);
    }
}

/// Which edges are drawn as lines, and where their texts stand.
struct Room<'a> {
    bundles: &'a [Bundle],
    /// By bundle, the layers of its ends, the first one first.
    spans: Vec<(u32, u32)>,
    /// By bundle, the layer of its text; nothing for a jump.
    chosen: Vec<Option<u32>>,
}

impl Room<'_> {
    /// Takes the edges from the shortest to the longest, as long as no layer becomes wider than `widest`. Says whether
    /// all have room.
    fn choose(&mut self, node_widths: &[f64], widest: f64, bends: usize, direction: Direction) -> bool {
        let bend = BEND + 2.0 * half_gap(Kind::Bend);
        let mut full = node_widths.to_vec();
        let mut left = bends;
        let mut order: Vec<usize> = (0..self.bundles.len()).filter(|&at| !self.bundles[at].is_loop()).collect();
        // The first edge into a node is how a search found it: without it a node would stand alone.
        let mut entered = HashSet::new();
        let first: Vec<bool> = self.bundles.iter().map(|bundle| entered.insert(bundle.target)).collect();
        order.sort_by_key(|&at| (!first[at], self.spans[at].1 - self.spans[at].0, at));
        let mut all = true;
        for at in order {
            let (from, to) = self.spans[at];
            let layers = from as usize + 1..to as usize;
            let text = self.bundles[at].has_text();
            let wide = if text { oriented(self.bundles[at].size(), direction).0 } else { 0.0 };
            let wide = wide + 2.0 * half_gap(Kind::Text(at));
            // Texts are in odd layers. The roomiest one, and of these the one nearest to the middle.
            let middle = (from + to) / 2;
            let roomiest = layers.clone().filter(|layer| layer % 2 == 1).min_by(|&a, &b| {
                let key = |layer: usize| (full[layer].max(widest / 3.0), (layer as u32).abs_diff(middle));
                key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1))
            });
            let own = |layer: usize| if text && Some(layer) == roomiest { wide } else { bend };
            let fits = layers.len() <= left && layers.clone().all(|layer| full[layer] + own(layer) <= widest);
            if !fits {
                self.chosen[at] = None;
                all = false;
                continue;
            }
            left -= layers.len();
            layers.for_each(|layer| full[layer] += own(layer));
            self.chosen[at] = Some(if text { roomiest.map_or(0, |layer| layer as u32) } else { 0 });
        }
        all
    }
}

/// Nodes and edges as points and chains, in layers that are at most `widest` wide: `widths` are those of
/// [`widths`](widths()), and no layer of nodes is wider by them. Nothing when an edge would have to be a jump and there
/// are to be none.
pub(crate) fn points(
    graph: &Graph,
    bundles: &[Bundle],
    node_layer: &[u32],
    (widths, widest, jumps): (&[f64], f64, bool),
    direction: Direction,
) -> Option<Points> {
    let texts = bundles.iter().any(|bundle| !bundle.is_loop() && bundle.has_text());
    let stride = if texts { 2 } else { 1 };
    let ends = |bundle: &Bundle| (node_layer[bundle.source] * stride, node_layer[bundle.target] * stride);
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
        shapes: graph.nodes.iter().map(|node| node.shape).collect(),
        notes: vec![Vec::new(); count],
    };
    let spans = bundles.iter().map(|bundle| {
        let (source, target) = ends(bundle);
        (source.min(target), source.max(target))
    });
    let mut room = Room { bundles, spans: spans.collect(), chosen: vec![Some(0); bundles.len()] };
    let mut full = vec![0.0; last + 1];
    for (node, &layer) in points.layer.iter().enumerate() {
        full[layer as usize] += widths[node];
    }
    if !room.choose(&full, widest, BENDS.0 + BENDS.1 * count, direction) && !jumps {
        return None;
    }
    for (number, bundle) in bundles.iter().enumerate() {
        if !bundle.is_loop() && room.chosen[number].is_none() {
            jump_notes(graph, bundle, &mut points.notes);
        }
    }
    points.nodes(graph, bundles, &room.chosen, direction);
    for (number, bundle) in bundles.iter().enumerate() {
        let (source, target) = ends(bundle);
        points.turned.push(source > target);
        let Some(text_layer) = room.chosen[number].filter(|_| !bundle.is_loop()) else {
            points.chains.push(Vec::new());
            continue;
        };
        let (mut first, mut second) = (bundle.source as u32, bundle.target as u32);
        if source > target {
            std::mem::swap(&mut first, &mut second);
        }
        let (from, to) = (source.min(target), source.max(target));
        let mut chain = vec![first];
        for layer in from + 1..to {
            let has_text = layer == text_layer && bundle.has_text();
            let kind = if has_text { Kind::Text(number) } else { Kind::Bend };
            let size = if has_text { oriented(bundle.size(), direction) } else { (BEND, 0.0) };
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
    Some(points)
}

impl Points {
    /// The sizes of the nodes.
    fn nodes(&mut self, graph: &Graph, bundles: &[Bundle], chosen: &[Option<u32>], direction: Direction) {
        let mut ports = vec![(0usize, 0usize); graph.nodes.len()];
        let mut loops: Vec<Option<&Bundle>> = vec![None; graph.nodes.len()];
        for (number, bundle) in bundles.iter().enumerate() {
            if bundle.is_loop() {
                loops[bundle.source] = Some(bundle);
                continue;
            }
            if chosen[number].is_none() {
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
            let most = ports[node].0.max(ports[node].1).min(PORTS);
            across = across.max(most as f64 * PORT);
            let mut extents = (across / 2.0, across / 2.0);
            let mut room = along + 2.0 * ARROW;
            if graph.nodes[node].initial {
                extents.0 += ENTRY;
            }
            if loops[node].is_some() || !self.notes[node].is_empty() {
                extents.1 += LOOP;
            }
            // Beside a node with jumps the labels of its loop are lines like theirs.
            if !self.notes[node].is_empty()
                && let Some(line) = loops[node].and_then(loop_note)
            {
                let mut lines = vec![line];
                std::mem::take(&mut self.notes[node]).into_iter().for_each(|line| lines.push(line));
                self.notes[node] = lines;
            }
            let beside = match loops[node] {
                _ if !self.notes[node].is_empty() => Some(note_size(&self.notes[node])),
                Some(bundle) if !bundle.lines.is_empty() => Some(bundle.size()),
                _ => None,
            };
            if let Some(size) = beside {
                let (text_across, text_along) = oriented(size, direction);
                extents.1 += text_across + 2.0;
                room = room.max(text_along);
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
