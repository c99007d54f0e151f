//! Curves for edges, and everything at its place.
//!
//! Layers become stripes, as deep as their deepest point. Inside a stripe an edge runs straight along the place of its
//! own point; between two stripes it is a cubic curve that leaves the one and enters the other at a right angle. So its
//! pieces join smoothly, and since a cubic curve stays within its control points, it never leaves the room between the
//! stripes, where no node and no text is. The farther an edge goes across, the wider that room is made.
//!
//! Several edges at one side of a node end at different places of it, ordered as they leave, so that they cross no more
//! than they must.

use crate::bundles::Bundle;
use crate::drawing::{Area, Arrow, Curve, Drawing, DrawnEdge, DrawnNode, DrawnNote, DrawnText, Piece, Spot};
use crate::points::{ENTRY, Kind, LOOP, PORT, Points, node_text, note_size, oriented};
use crate::svg::{LINKS, WHOLE};
use crate::{Direction, Graph, Mark, Shape, text};

/// Room around the picture.
const MARGIN: f64 = 16.0;
/// The length of the head of an arrow.
const HEAD: f64 = 7.0;
/// The least room between stripes, how much more for each step across, and the most.
const ROOM: (f64, f64, f64) = (20.0, 0.16, 80.0);
/// The most columns of the caption.
const CAPTION: usize = 100;

struct Routing<'a> {
    points: &'a Points,
    across: &'a [f64],
    /// By layer, where its stripe begins and ends.
    stripes: Vec<(f64, f64)>,
    direction: Direction,
    /// Added to all spots.
    offset: Spot,
}

pub(crate) fn routes(
    graph: &Graph,
    (bundles, keys): (&[Bundle], &[String]),
    points: &Points,
    across: &[f64],
    direction: Direction,
) -> Drawing {
    let caption = text::cut(&graph.caption, CAPTION);
    let head = if caption.is_empty() { 0.0 } else { 26.0 };
    let stripes = stripes(points, across);
    let depth = stripes.last().map_or(0.0, |stripe| stripe.1);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (place, extents) in across.iter().zip(&points.extents) {
        first = first.min(place - extents.0);
        last = last.max(place + extents.1);
    }
    if first > last {
        (first, last) = (0.0, 0.0);
    }
    let size = match direction {
        Direction::Down => (last - first, depth),
        Direction::Right => (depth, last - first),
    };
    // The caption is set in larger letters; a large picture has links beside it.
    let links = if size.0.max(size.1) > WHOLE - 200.0 { LINKS } else { 0.0 };
    let wide = if caption.is_empty() { 0.0 } else { text::width(&caption) * 1.1 + links };
    let left = MARGIN + (wide - size.0).max(0.0) / 2.0;
    let shift = match direction {
        Direction::Down => Spot { x: left - first, y: MARGIN + head },
        Direction::Right => Spot { x: left, y: MARGIN + head - first },
    };
    let routing = Routing { points, across, stripes, direction, offset: shift };
    let nodes: Vec<DrawnNode> = (0..graph.nodes.len()).map(|node| routing.node(graph, node)).collect();
    let ports = routing.ports();
    let edges = bundles.iter().enumerate();
    let edges = edges.filter_map(|(number, bundle)| routing.edge(number, bundle, &ports)).collect();
    let notes = (0..graph.nodes.len()).filter_map(|node| routing.note(node)).collect();
    let bottom = MARGIN + head + size.1;
    let (legend, legend_width) = legend(&nodes, bottom + 12.0);
    let width = size.0.max(wide).max(legend_width) + 2.0 * MARGIN;
    let below = bottom + if legend.is_empty() { 0.0 } else { 26.0 };
    let (keys, width, height) = table(keys, width, below);
    Drawing { width: width.ceil(), height: (height + MARGIN).ceil(), caption, nodes, edges, notes, legend, keys }
}

/// What numbers stand for, in as many columns as the picture has room for; the widths and heights with them.
fn table(keys: &[String], width: f64, top: f64) -> (Vec<(Spot, String)>, f64, f64) {
    const LEAST: f64 = 600.0;
    if keys.is_empty() {
        return (Vec::new(), width, top);
    }
    let numbered: Vec<String> = keys.iter().enumerate().map(|(at, key)| format!("{}  {key}", at + 1)).collect();
    let column = numbered.iter().map(|line| text::width(line)).fold(0.0, f64::max) + 24.0;
    let width = width.max(LEAST).max(column + 2.0 * MARGIN);
    let columns = (((width - 2.0 * MARGIN) / column) as usize).clamp(1, numbered.len());
    let rows = numbered.len().div_ceil(columns);
    let top = top + 20.0;
    let place =
        |at: usize| Spot { x: MARGIN + (at / rows) as f64 * column, y: top + ((at % rows) as f64 + 1.0) * text::LINE };
    let height = top + (rows as f64 + 0.5) * text::LINE;
    (numbered.into_iter().enumerate().map(|(at, line)| (place(at), line)).collect(), width, height)
}

/// The marks that occur, one beside the other.
fn legend(nodes: &[DrawnNode], y: f64) -> (Vec<(Spot, Mark)>, f64) {
    let mut x = MARGIN;
    let mut legend = Vec::new();
    for mark in [Mark::Deadlock, Mark::Diverging, Mark::Terminated, Mark::Continues] {
        if nodes.iter().any(|node| node.mark == mark) {
            legend.push((Spot { x, y }, mark));
            x += 26.0 + text::width(mark.words()) + 16.0;
        }
    }
    (legend, x - MARGIN)
}

/// Where each layer begins and ends.
fn stripes(points: &Points, across: &[f64]) -> Vec<(f64, f64)> {
    let mut stripes: Vec<(f64, f64)> = Vec::with_capacity(points.layers.len());
    for (number, layer) in points.layers.iter().enumerate() {
        let depth = layer.iter().map(|&point| points.along[point as usize]).fold(0.0, f64::max);
        let begin = match number.checked_sub(1) {
            None => 0.0,
            Some(before) => {
                let steps = layer.iter().flat_map(|&point| {
                    let ups = points.up[point as usize].iter();
                    ups.map(move |&up| (across[point as usize] - across[up as usize]).abs())
                });
                let farthest = steps.fold(0.0, f64::max);
                stripes[before].1 + (ROOM.0 + ROOM.1 * farthest).min(ROOM.2)
            }
        };
        stripes.push((begin, begin + depth));
    }
    stripes
}

/// Half of what a node covers in one direction, so far from its middle in the other.
fn reach(size: f64, other_size: f64, away: f64, shape: Shape) -> f64 {
    let radius = if shape == Shape::Round { size.min(other_size) / 2.0 } else { 0.0 };
    let round = (away.abs() - (other_size / 2.0 - radius)).clamp(0.0, radius);
    size / 2.0 - radius + (radius * radius - round * round).sqrt()
}

impl Routing<'_> {
    fn spot(&self, across: f64, along: f64) -> Spot {
        let (x, y) = match self.direction {
            Direction::Down => (across, along),
            Direction::Right => (along, across),
        };
        Spot { x: x + self.offset.x, y: y + self.offset.y }
    }

    /// The area of this size around a middle.
    fn area(&self, across: f64, along: f64, size: (f64, f64)) -> Area {
        let corner = self.spot(across - size.0 / 2.0, along - size.1 / 2.0);
        let (width, height) = oriented(size, self.direction);
        Area { x: corner.x, y: corner.y, width, height }
    }

    fn towards(&self, across: f64, along: f64) -> (f64, f64) {
        oriented((across, along), self.direction)
    }

    fn middle(&self, point: u32) -> f64 {
        let (begin, end) = self.stripes[self.points.layer[point as usize] as usize];
        (begin + end) / 2.0
    }

    fn node(&self, graph: &Graph, node: usize) -> DrawnNode {
        let size = self.points.sizes[node];
        let (across, along) = (self.across[node], self.middle(node as u32));
        let entry = graph.nodes[node].initial.then(|| {
            let tip = self.spot(across - size.0 / 2.0, along);
            let start = self.spot(across - size.0 / 2.0 - ENTRY + 2.0, along);
            (start, Arrow { tip, towards: self.towards(1.0, 0.0) })
        });
        let area = self.area(across, along, size);
        let from = &graph.nodes[node];
        let (title, mark, shape) = (from.title.clone(), from.mark, from.shape);
        DrawnNode { area, text: node_text(graph, node), title, mark, shape, entry }
    }

    /// For every bundle how far from the middle of its first and of its last node it ends.
    fn ports(&self) -> Vec<(f64, f64)> {
        let points = self.points;
        // By node: the side, the place it leads to, the bundle.
        let mut ends: Vec<Vec<(bool, f64, usize)>> = vec![Vec::new(); points.sizes.len()];
        for (number, chain) in points.chains.iter().enumerate() {
            if let [first, second, ..] = chain[..]
                && let [.., before, last] = chain[..]
            {
                ends[first as usize].push((true, self.across[second as usize], number));
                ends[last as usize].push((false, self.across[before as usize], number));
            }
        }
        let mut ports = vec![(0.0, 0.0); points.chains.len()];
        for (node, mut ends) in ends.into_iter().enumerate() {
            ends.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
            for side in ends.chunk_by(|a, b| a.0 == b.0) {
                let room = points.sizes[node].0 - PORT;
                let spread = PORT.min(room / (side.len() as f64 - 1.0).max(1.0));
                for (at, &(leaves, _, number)) in side.iter().enumerate() {
                    let port = (at as f64 - (side.len() as f64 - 1.0) / 2.0) * spread;
                    if leaves { ports[number].0 = port } else { ports[number].1 = port }
                }
            }
        }
        ports
    }

    /// An edge; nothing for one that is written beside its node.
    fn edge(&self, number: usize, bundle: &Bundle, ports: &[(f64, f64)]) -> Option<DrawnEdge> {
        let (curve, arrow, back, text) = if bundle.is_loop() {
            let (curve, arrow, text) = self.turn_back(bundle);
            (curve, arrow, None, text)
        } else if self.points.chains[number].is_empty() {
            return None;
        } else {
            let (curve, arrow, back) = self.way(number, ports[number], bundle.back.is_some());
            (curve, arrow, back, self.text(number, bundle))
        };
        Some(DrawnEdge {
            source: bundle.source,
            target: bundle.target,
            curve,
            arrow,
            back,
            text,
            title: bundle.title.clone(),
            quiet: bundle.quiet,
        })
    }

    /// What is written beside a node, and the arrow that leads there; under the loop if there is one.
    fn note(&self, node: usize) -> Option<DrawnNote> {
        let lines = self.points.notes[node].clone();
        if lines.is_empty() {
            return None;
        }
        let (size, place, along) = (self.points.sizes[node], self.across[node], self.middle(node as u32));
        let own = oriented(note_size(&lines), self.direction);
        let border = place + size.0 / 2.0;
        let arrow = Arrow { tip: self.spot(border + LOOP - 2.0, along), towards: self.towards(1.0, 0.0) };
        let area = self.area(border + LOOP + own.0 / 2.0, along, own);
        Some(DrawnNote { source: node, area, lines, arrow: (self.spot(border, along), arrow) })
    }

    fn text(&self, number: usize, bundle: &Bundle) -> Option<DrawnText> {
        let chain = &self.points.chains[number];
        let point = chain.iter().copied().find(|&point| self.points.kinds[point as usize] == Kind::Text(number))?;
        let size = oriented(bundle.size(), self.direction);
        let area = self.area(self.across[point as usize], self.middle(point), size);
        let (onwards, back) = match self.direction {
            Direction::Down => ("↓", "↑"),
            Direction::Right => ("→", "←"),
        };
        let lines = match self.points.turned[number] {
            false => bundle.written(onwards, back),
            true => bundle.written(back, onwards),
        };
        Some(DrawnText { area, lines })
    }

    /// The way of an edge between two nodes, with the head of the arrow at its other end if there is to be one.
    fn way(&self, number: usize, (leave, enter): (f64, f64), both: bool) -> (Curve, Arrow, Option<Arrow>) {
        let points = self.points;
        let (chain, turned) = (&points.chains[number], points.turned[number]);
        let half = |node: u32, port: f64| {
            let (across, along) = points.sizes[node as usize];
            reach(along, across, port, points.shapes[node as usize])
        };
        // By point of the chain: its place across, and where the edge is in its stripe.
        let mut stations: Vec<(f64, f64, f64)> = Vec::with_capacity(chain.len());
        for (at, &point) in chain.iter().enumerate() {
            let (begin, end) = self.stripes[points.layer[point as usize] as usize];
            let place = self.across[point as usize];
            stations.push(if at == 0 {
                let head = if turned || both { HEAD } else { 0.0 };
                (place + leave, self.middle(point) + half(point, leave) + head, end)
            } else if at + 1 == chain.len() {
                let head = if turned && !both { 0.0 } else { HEAD };
                (place + enter, begin, self.middle(point) - half(point, enter) - head)
            } else {
                (place, begin, end)
            });
        }
        let mut curve = Curve { start: self.spot(stations[0].0, stations[0].1), pieces: Vec::new() };
        for pair in stations.windows(2) {
            let ((from, _, leaves), (to, enters, _)) = (pair[0], pair[1]);
            curve.line(self.spot(from, leaves));
            if (from - to).abs() < 0.05 {
                curve.line(self.spot(to, enters));
                continue;
            }
            let turn = (leaves + enters) / 2.0;
            curve.pieces.push(Piece::Cubic(self.spot(from, turn), self.spot(to, turn), self.spot(to, enters)));
        }
        let &(place, _, stops) = stations.last().expect("a chain has points");
        curve.line(self.spot(place, stops));
        let upper = Arrow { tip: self.spot(stations[0].0, stations[0].1 - HEAD), towards: self.towards(0.0, -1.0) };
        let lower = Arrow { tip: self.spot(place, stops + HEAD), towards: self.towards(0.0, 1.0) };
        match turned {
            true => (curve.reversed(), upper, both.then_some(lower)),
            false => (curve, lower, both.then_some(upper)),
        }
    }

    /// An edge that leads back to its node: a loop on the side after it, and its text behind the loop.
    fn turn_back(&self, bundle: &Bundle) -> (Curve, Arrow, Option<DrawnText>) {
        const APART: f64 = 7.0;
        let node = bundle.source;
        let (size, place, along) = (self.points.sizes[node], self.across[node], self.middle(node as u32));
        let border = place + reach(size.0, size.1, APART, self.points.shapes[node]);
        let far = border + LOOP * 1.2;
        let curve = Curve {
            start: self.spot(border, along - APART),
            pieces: vec![Piece::Cubic(
                self.spot(far, along - 2.0 * APART),
                self.spot(far, along + 2.0 * APART),
                self.spot(border + HEAD, along + APART + 1.0),
            )],
        };
        let arrow = Arrow { tip: self.spot(border, along + APART), towards: self.towards(-1.0, 0.0) };
        let text = (!bundle.lines.is_empty() && self.points.notes[node].is_empty()).then(|| {
            let size_of_text = oriented(bundle.size(), self.direction);
            let middle = place + size.0 / 2.0 + LOOP + size_of_text.0 / 2.0;
            DrawnText { area: self.area(middle, along, size_of_text), lines: bundle.lines.clone() }
        });
        (curve, arrow, text)
    }
}

impl Curve {
    fn end(&self) -> Spot {
        match self.pieces.last() {
            None => self.start,
            Some(Piece::Line(end) | Piece::Cubic(_, _, end)) => *end,
        }
    }

    /// Goes on straight; a line in the direction of the last line makes that one longer.
    fn line(&mut self, to: Spot) {
        let from = self.end();
        if (from.x - to.x).abs() < 1e-6 && (from.y - to.y).abs() < 1e-6 {
            return;
        }
        if let [.., Piece::Line(end)] = &mut self.pieces[..] {
            // Lines run along only, so that two of them in a row have one direction.
            *end = to;
            return;
        }
        self.pieces.push(Piece::Line(to));
    }

    fn reversed(&self) -> Curve {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut from = self.start;
        for &piece in &self.pieces {
            match piece {
                Piece::Line(to) => {
                    pieces.push(Piece::Line(from));
                    from = to;
                }
                Piece::Cubic(first, second, to) => {
                    pieces.push(Piece::Cubic(second, first, from));
                    from = to;
                }
            }
        }
        pieces.reverse();
        Curve { start: from, pieces }
    }
}
