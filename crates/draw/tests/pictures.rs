//! What a picture promises, on graphs made at random and on some that are made to be difficult.

use trefoil_control::Control;
use trefoil_draw::{
    Area, Curve, Direction, Drawing, Edge, Graph, Mark, Node, Options, Piece, Shape, Spot, Trouble, WIDEST, dot, draw,
};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Texts that hurt.
const TEXTS: &[&str] = &[
    "a",
    "",
    "send.Alice.Bob.Encrypt.Key.Nonce.Alice.Nonce.Bob.and.so.on.and.on.and.on",
    "<&>\"'",
    "τ (in.1)",
    "]]>",
    "\u{0}\u{1}\u{FFFF}\u{FEFF}",
    "日本語のラベル",
    "a\nb\tc",
    "-->",
    "e\u{301}",
    "&amp;",
];

fn random_graph(random: &mut Random, nodes: usize, edges: usize) -> Graph {
    let mut graph = Graph { caption: TEXTS[random.below(TEXTS.len())].into(), ..Graph::default() };
    let marks = [Mark::Plain, Mark::Deadlock, Mark::Diverging, Mark::Terminated, Mark::Continues];
    for number in 0..nodes {
        let text = if random.below(4) == 0 { TEXTS[random.below(TEXTS.len())].into() } else { number.to_string() };
        let title = TEXTS[random.below(TEXTS.len())].into();
        let shape = [Shape::Round, Shape::Box, Shape::Queue][random.below(3)];
        graph.nodes.push(Node { text, title, mark: marks[random.below(5)], initial: number == 0, shape });
    }
    for _ in 0..edges {
        let (source, target) = (random.below(nodes), random.below(nodes));
        let label = TEXTS[random.below(TEXTS.len())].into();
        graph.edges.push(Edge { source, target, label, quiet: random.below(3) == 0 });
    }
    graph
}

fn drawn(graph: &Graph, direction: Direction) -> Drawing {
    draw(graph, Options { direction, ..Options::default() }, &Control::unlimited()).expect("small enough")
}

/// Spots along a curve.
fn spots(curve: &Curve) -> Vec<Spot> {
    let mut found = vec![curve.start];
    let mut from = curve.start;
    for piece in &curve.pieces {
        let (first, second, to) = match *piece {
            Piece::Line(to) => (from, to, to),
            Piece::Cubic(first, second, to) => (first, second, to),
        };
        for step in 1..=16 {
            let t = f64::from(step) / 16.0;
            let at = |a: f64, b: f64, c: f64, d: f64| {
                let s = 1.0 - t;
                s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
            };
            found.push(match piece {
                Piece::Line(_) => Spot { x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y) },
                Piece::Cubic(..) => {
                    Spot { x: at(from.x, first.x, second.x, to.x), y: at(from.y, first.y, second.y, to.y) }
                }
            });
        }
        from = to;
    }
    found
}

fn promises(graph: &Graph, drawing: &Drawing, right: bool, place: &str) {
    let page = Area { x: 0.0, y: 0.0, width: drawing.width, height: drawing.height };
    let inside = |area: &Area| {
        area.x >= 0.0 && area.y >= 0.0 && area.x + area.width <= page.width && area.y + area.height <= page.height
    };
    assert_eq!(drawing.nodes.len(), graph.nodes.len());
    let areas: Vec<Area> = drawing.nodes.iter().map(|node| node.area).collect();
    let texts: Vec<(usize, Area)> = drawing
        .edges
        .iter()
        .enumerate()
        .filter_map(|(at, edge)| edge.text.as_ref().map(|text| (at, text.area)))
        .chain(drawing.notes.iter().map(|note| (usize::MAX, note.area)))
        .collect();
    assert!(areas.iter().chain(texts.iter().map(|(_, area)| area)).all(inside), "{place}: on the page");
    for (at, area) in areas.iter().enumerate() {
        assert!(areas[at + 1..].iter().all(|other| !area.overlaps(other)), "{place}: node {at}");
        assert!(texts.iter().all(|(_, other)| !area.overlaps(other)), "{place}: text on node {at}");
    }
    for (at, (_, area)) in texts.iter().enumerate() {
        assert!(texts[at + 1..].iter().all(|(_, other)| !area.overlaps(other)), "{place}: text {at}");
    }
    let mut ends: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.source, edge.target)).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut drawn: Vec<(usize, usize)> = drawing.edges.iter().map(|edge| (edge.source, edge.target)).collect();
    drawn.extend(drawing.edges.iter().filter(|edge| edge.back.is_some()).map(|edge| (edge.target, edge.source)));
    let written = drawing.notes.iter().flat_map(|note| note.lines.iter().map(|line| (note.source, line)));
    drawn.extend(written.clone().filter_map(|(source, line)| line.target.map(|target| (source, target))));
    let hidden: usize = written.map(|(_, line)| line.hidden).sum();
    assert_eq!(drawn.len() + hidden, ends.len(), "{place}: every edge once");
    drawn.sort_unstable();
    let before = drawn.len();
    drawn.dedup();
    assert!(
        drawn.len() == before && drawn.iter().all(|edge| ends.binary_search(edge).is_ok()),
        "{place}: no edge twice"
    );
    let across = if right { drawing.height } else { drawing.width };
    let caption = 13.0 * graph.caption.chars().count() as f64 + 200.0;
    assert!(across <= WIDEST.max(caption) + 300.0 * f64::from(u8::from(right)), "{place}: {across} units");
    for (number, edge) in drawing.edges.iter().enumerate() {
        let near = |node: usize, spot: Spot| {
            let Area { x, y, width, height } = areas[node];
            Area { x: x - 0.1, y: y - 0.1, width: width + 0.2, height: height + 0.2 }.contains(spot)
        };
        let start = edge.back.map_or(edge.curve.start, |back| back.tip);
        assert!(near(edge.source, start), "{place}: edge {number} begins at its source");
        assert!(near(edge.target, edge.arrow.tip), "{place}: edge {number} ends at its target");
        for spot in spots(&edge.curve) {
            for (node, area) in areas.iter().enumerate() {
                let own = node == edge.source || node == edge.target;
                assert!(own || !area.contains(spot), "{place}: edge {number} runs through node {node}");
            }
            let crossed = texts.iter().find(|(other, area)| *other != number && area.contains(spot));
            assert!(crossed.is_none(), "{place}: edge {number} runs through the text of edge {crossed:?}");
        }
    }
}

/// Is a document well-formed, as far as our writer uses XML: tags nest, attributes are quoted, entities are known.
fn well_formed(document: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = document;
    while let Some(at) = rest.find('<') {
        let before = &rest[..at];
        assert!(!before.contains('>') && !before.contains('"') || open.last() == Some(&"style"), "{before}");
        for entity in before.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "<{tag}>");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    let forbidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{FFFE}' || c == '\u{FFFF}';
    assert!(!document.contains(forbidden), "characters that XML cannot say");
}

#[test]
fn random_graphs_keep_every_promise() {
    for seed in 0..300u64 {
        let mut random = Random(seed * 77 + 1);
        let nodes = 1 + random.below(24);
        let edges = random.below(3 * nodes + 1);
        let graph = random_graph(&mut random, nodes, edges);
        for direction in [Direction::Down, Direction::Right] {
            let drawing = drawn(&graph, direction);
            let place = format!("seed {seed}, {direction:?}");
            promises(&graph, &drawing, direction == Direction::Right, &place);
            well_formed(&drawing.svg());
            assert_eq!(drawing.svg(), drawn(&graph, direction).svg(), "{place}: the same picture again");
        }
    }
}

#[test]
fn special_graphs_keep_every_promise() {
    let node = |number: usize| Node { text: number.to_string(), initial: number == 0, ..Node::default() };
    let edge = |source, target| Edge { source, target, label: format!("{source}.{target}"), quiet: false };
    let graph = |count: usize, edges: Vec<Edge>| Graph {
        caption: "special".into(),
        nodes: (0..count).map(node).collect(),
        edges,
    };
    let ring: Vec<Edge> = (0..40).map(|number| edge(number, (number + 1) % 40)).collect();
    let star: Vec<Edge> = (1..60).flat_map(|number| [edge(0, number), edge(number, 0)]).collect();
    let complete: Vec<Edge> = (0..9).flat_map(|a| (0..9).map(move |b| (a, b))).map(|(a, b)| edge(a, b)).collect();
    let grid = |a: usize, b: usize| a * 8 + b;
    let grid: Vec<Edge> = (0..8)
        .flat_map(|a| (0..8).map(move |b| (a, b)))
        .flat_map(|(a, b)| [edge(grid(a, b), grid((a + 1) % 8, b)), edge(grid(a, b), grid(a, (b + 1) % 8))])
        .collect();
    let bare: Vec<Edge> = (0..30).map(|n| Edge { label: String::new(), ..edge(n / 3, n) }).collect();
    let cases = [
        (0, Vec::new()),
        (1, Vec::new()),
        (5, Vec::new()),
        (40, ring),
        (60, star),
        (9, complete),
        (64, grid),
        (30, bare),
    ];
    for (at, (count, edges)) in cases.into_iter().enumerate() {
        let graph = graph(count, edges);
        for direction in [Direction::Down, Direction::Right] {
            promises(&graph, &drawn(&graph, direction), direction == Direction::Right, &format!("case {at}"));
        }
    }
}

/// From one edge to all edges that there can be. The bound is one of work, the same on every machine; the seconds that
/// are printed depend on the machine and on the build.
#[test]
fn graphs_of_every_density_are_drawn_with_bounded_work() {
    for (at, edges) in [1usize, 300, 600, 834, 1_500, 4_000, 12_000, 90_000].into_iter().enumerate() {
        let mut random = Random(at as u64 + 40);
        let graph = random_graph(&mut random, 300, edges);
        let (started, control) = (std::time::Instant::now(), Control::unlimited());
        let drawing = draw(&graph, Options::default(), &control).expect("small enough");
        let (seconds, work) = (started.elapsed().as_secs_f64(), control.progress().snapshot().done);
        let size = format!("{:.0} x {:.0}", drawing.width, drawing.height);
        eprintln!("{edges} edges: {size}, {:.1} million segments, {seconds:.2} s", work as f64 / 1e6);
        assert!(work < 20_000_000, "{edges} edges: {work} segments");
        promises(&graph, &drawing, false, &format!("{edges} edges"));
        well_formed(&drawing.svg());
    }
}

/// Two counters from 0 to 16, with and without a way back, and as a torus.
#[test]
fn a_grid_of_289_states_is_at_most_4000_units_wide() {
    for (name, back, torus) in [("grid", false, false), ("both ways", true, false), ("torus", false, true)] {
        let size = 17;
        let mut graph = Graph { caption: name.into(), ..Graph::default() };
        let number = |a: usize, b: usize| a * size + b;
        for a in 0..size {
            for b in 0..size {
                graph.nodes.push(Node { text: number(a, b).to_string(), initial: a + b == 0, ..Node::default() });
                let mut edge = |to: (usize, usize), label: String| {
                    let (source, target) = (number(a, b), number(to.0 % size, to.1 % size));
                    graph.edges.push(Edge { source, target, label: label.clone(), quiet: false });
                    if back {
                        graph.edges.push(Edge { source: target, target: source, label: label + ".back", quiet: false });
                    }
                };
                if a + 1 < size || torus {
                    edge((a + 1, b), format!("left.increment.{a}"));
                }
                if b + 1 < size || torus {
                    edge((a, b + 1), format!("right.increment.{b}"));
                }
            }
        }
        let drawing = drawn(&graph, Direction::Down);
        eprintln!("{name}: {} x {}", drawing.width, drawing.height);
        assert!(drawing.width <= 4_000.0, "{name}: {}", drawing.width);
        promises(&graph, &drawing, false, name);
        assert!(drawing.nodes[0].area.y < 200.0, "{name}: it begins with the first state");
    }
}

#[test]
fn edges_on_no_cycle_point_onwards() {
    for seed in 0..50u64 {
        let mut random = Random(seed + 5);
        let count = 3 + random.below(20);
        let mut graph = random_graph(&mut random, count, 0);
        for _ in 0..2 * count {
            let (a, b) = (random.below(count), random.below(count));
            if a != b {
                let edge = Edge { source: a.min(b), target: a.max(b), label: "e".into(), quiet: false };
                graph.edges.push(edge);
            }
        }
        let drawing = drawn(&graph, Direction::Down);
        for edge in &drawing.edges {
            let (source, target) = (&drawing.nodes[edge.source].area, &drawing.nodes[edge.target].area);
            assert!(source.y < target.y, "seed {seed}: {} to {}", edge.source, edge.target);
        }
    }
}

#[test]
fn what_is_too_large_is_refused_with_a_reason() {
    let graph = random_graph(&mut Random(3), 30, 40);
    let refused = draw(&graph, Options { nodes: 20, ..Options::default() }, &Control::unlimited());
    assert_eq!(refused, Err(Trouble::Nodes { nodes: 30, most: 20 }));
    let control = Control::unlimited();
    control.cancel();
    assert!(matches!(draw(&graph, Options::default(), &control), Err(Trouble::Stopped(_))));
}

#[test]
fn thousands_of_nodes_are_drawn() {
    let mut random = Random(11);
    let mut graph = random_graph(&mut random, 1500, 0);
    for target in 1..1500usize {
        let near = target.saturating_sub(1 + random.below(40));
        graph.edges.push(Edge { source: near, target, label: format!("e.{}", target % 7), quiet: false });
        if random.below(3) == 0 {
            let back = target.saturating_sub(random.below(60));
            graph.edges.push(Edge { source: target, target: back, label: "back".into(), quiet: true });
        }
    }
    let drawing = drawn(&graph, Direction::Down);
    let areas: Vec<Area> = drawing.nodes.iter().map(|node| node.area).collect();
    for (at, area) in areas.iter().enumerate() {
        assert!(areas[at + 1..].iter().all(|other| !area.overlaps(other)));
    }
    well_formed(&drawing.svg());
}

#[test]
fn dot_has_every_node_and_edge_and_quotes_its_texts() {
    let mut random = Random(8);
    let graph = random_graph(&mut random, 6, 12);
    let text = dot(&graph);
    assert_eq!(text.matches(" -> n").count(), 13, "the edges and the arrow to where everything begins");
    assert_eq!(text.matches("tooltip=").count(), 6);
    assert!(dot(&Graph { caption: "a\"b\\".into(), ..Graph::default() }).starts_with("digraph \"a\\\"b\\\\\" {"));
}
