//! Pictures as pixels: decoded again and looked at.

use std::io::Read;

use flate2::read::ZlibDecoder;
use trefoil_control::Control;
use trefoil_draw::{Area, Chart, Edge, Graph, Happening, Lifeline, Mark, Message, Node, Options, Shape, draw, png};

/// A decoded picture.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// Reads what [`png`] writes: chunks in order, no filter.
fn decoded(file: &[u8]) -> Picture {
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
    let (mut at, mut kinds, mut packed) = (8, Vec::new(), Vec::new());
    while at < file.len() {
        let (length, kind) = (number(at), &file[at + 4..at + 8]);
        let mut sum = flate2::Crc::new();
        sum.update(&file[at + 4..at + 8 + length]);
        assert_eq!(sum.sum() as usize, number(at + 8 + length), "the sum of a chunk");
        kinds.push(kind.to_vec());
        if kind == b"IDAT" {
            packed = file[at + 8..at + 8 + length].to_vec();
        }
        at += 12 + length;
    }
    assert_eq!(kinds, [b"IHDR".to_vec(), b"IDAT".to_vec(), b"IEND".to_vec()]);
    assert_eq!(&file[24..29], [8, 2, 0, 0, 0], "eight bits of red, green and blue");
    let (width, height) = (number(16), number(20));
    let mut raw = Vec::new();
    ZlibDecoder::new(&packed[..]).read_to_end(&mut raw).expect("compressed rows");
    assert_eq!(raw.len(), height * (1 + 3 * width));
    let mut pixels: Vec<[u8; 3]> = Vec::new();
    for row in raw.chunks(1 + 3 * width) {
        assert_eq!(row[0], 0, "no filter");
        pixels.extend(row[1..].chunks(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]));
    }
    Picture { width, height, pixels }
}

impl Picture {
    /// The colour of the pixel at a place in units; a unit is two pixels.
    fn at(&self, x: f64, y: f64) -> [u8; 3] {
        self.pixels[(2.0 * y) as usize * self.width + (2.0 * x) as usize]
    }

    /// How many pixels of an area have a colour.
    fn count(&self, area: &Area, colour: [u8; 3]) -> usize {
        let range = |from: f64, size: f64| (2.0 * from) as usize..(2.0 * (from + size)) as usize;
        range(area.y, area.height)
            .map(|y| range(area.x, area.width).filter(|x| self.pixels[y * self.width + x] == colour).count())
            .sum()
    }
}

const PAGE: [u8; 3] = [0xFF; 3];
const INK: [u8; 3] = [0x1F, 0x24, 0x30];

fn graph(texts: &[&str]) -> Graph {
    let marks = [Mark::Plain, Mark::Deadlock, Mark::Diverging, Mark::Terminated, Mark::Continues];
    let shapes = [Shape::Round, Shape::Box, Shape::Queue];
    let node = |(at, text): (usize, &&str)| Node {
        text: text.to_string(),
        initial: at == 0,
        mark: marks[at % 5],
        shape: shapes[at % 3],
        ..Node::default()
    };
    let edge =
        |at: usize| Edge { source: at, target: (at + 1) % texts.len(), label: texts[at].into(), quiet: at % 2 == 1 };
    Graph {
        caption: "a <picture> & more".into(),
        nodes: texts.iter().enumerate().map(node).collect(),
        edges: (0..texts.len())
            .map(edge)
            .chain([Edge { source: 0, target: 0, label: "loop".into(), quiet: false }])
            .collect(),
    }
}

#[test]
fn a_graph_is_drawn_in_its_colours() {
    let graph = graph(&["start", "b", "c", "d", "e", "f"]);
    let drawing = draw(&graph, Options::default(), &Control::unlimited()).expect("small enough");
    let picture = decoded(&png(&drawing.svg()).expect("small enough"));
    assert_eq!(
        (picture.width, picture.height),
        ((2.0 * drawing.width).ceil() as usize, (2.0 * drawing.height).ceil() as usize)
    );
    assert_eq!(picture.at(1.0, 1.0), PAGE);
    let fills = [[0xEE, 0xF2, 0xFB], [0xFD, 0xE4, 0xE1], [0xFD, 0xF1, 0xD6], [0xE2, 0xF4, 0xE6], PAGE];
    let borders = [[0x52, 0x62, 0x8C], [0xC0, 0x39, 0x2B], [0xB9, 0x77, 0x0E], [0x2E, 0x8B, 0x57], [0x52, 0x62, 0x8C]];
    for (at, node) in drawing.nodes.iter().enumerate() {
        let Area { x, y, width, height } = node.area;
        assert_eq!(picture.at(x + width / 2.0, y + 3.0), fills[at % 5], "node {at}");
        let around = Area { x: x - 2.0, y: y - 2.0, width: width + 4.0, height: height + 4.0 };
        assert!(picture.count(&around, borders[at % 5]) > 20, "the border of node {at}");
        assert!(picture.count(&node.area, INK) > 8, "the letters of node {at}");
    }
    for edge in &drawing.edges {
        let text = edge.text.as_ref().map(|text| text.area);
        let letters = if edge.quiet { [0x5F, 0x67, 0x76] } else { [0x27, 0x46, 0x90] };
        assert!(text.is_none_or(|area| picture.count(&area, letters) > 4), "{edge:?}");
        let Area { x, y, .. } = Area { x: edge.arrow.tip.x - 6.0, y: edge.arrow.tip.y - 6.0, ..Area::default() };
        assert!(picture.count(&Area { x, y, width: 12.0, height: 12.0 }, [0x6B, 0x74, 0x84]) > 10, "{edge:?}");
    }
}

/// A round node leaves the page free at its corners, a dashed edge between its dashes, and equal letters are equal.
#[test]
fn corners_are_round_and_dashes_have_gaps() {
    let node = |text: &str| Node { text: text.into(), ..Node::default() };
    let edge = Edge { source: 0, target: 1, label: String::new(), quiet: true };
    let graph = Graph { nodes: vec![node("aaaa"), node("b")], edges: vec![edge], ..Graph::default() };
    let drawing = draw(&graph, Options::default(), &Control::unlimited()).expect("small enough");
    let picture = decoded(&png(&drawing.svg()).expect("small enough"));
    let area = drawing.nodes[0].area;
    assert_eq!(picture.at(area.x + 1.0, area.y + 1.0), PAGE, "the corner of a round node");
    let (from, to) = (drawing.edges[0].curve.start, drawing.edges[0].arrow.tip);
    let steps = (2.0 * (to.y - from.y - 10.0)) as usize;
    let dark = |step: &usize| {
        let y = from.y + 1.0 + *step as f64 / 2.0;
        let x = from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y);
        (-2..=2).any(|aside: i32| picture.at(x + f64::from(aside) / 2.0, y) != PAGE)
    };
    let drawn = (0..steps).filter(dark).count();
    assert!(drawn > steps / 4 && drawn < steps * 9 / 10, "{drawn} of {steps} pixels of a dashed line");
    let row = |letter: usize| -> Vec<[u8; 3]> {
        let left = area.x + (area.width - 4.0 * 7.3) / 2.0;
        let first = (2.0 * left + 14.6 * letter as f64).round() as usize;
        let top = (2.0 * area.y) as usize + 8;
        (top..top + 40)
            .flat_map(|y| (first..first + 14).map(move |x| (x, y)))
            .map(|(x, y)| picture.pixels[y * picture.width + x])
            .collect()
    };
    assert_eq!(row(0), row(1), "the same letter is the same pixels");
    assert!(row(0).contains(&INK));
}

#[test]
fn a_chart_has_its_own_colours() {
    let lifelines = ["client", "server"].map(|name| Lifeline { name: name.into(), ..Lifeline::default() }).to_vec();
    let step =
        |lifeline, wrong, message| Happening { lifeline, text: "x = 1".into(), wrong, message, ..Happening::default() };
    let happenings = vec![
        step(0, false, Message::Sent),
        step(1, false, Message::Received { sent: 0 }),
        step(1, false, Message::Sent),
        step(0, true, Message::Nothing),
    ];
    let chart = Chart { caption: "a run".into(), lifelines, happenings, cycle: Some(1) };
    let picture = decoded(&png(&chart.svg()).expect("small enough"));
    let whole = Area { x: 0.0, y: 0.0, width: picture.width as f64 / 2.0, height: picture.height as f64 / 2.0 };
    for (colour, what) in [
        ([0xA8, 0xB0, 0xBF], "lifelines"),
        ([0xDF, 0xE6, 0xF7], "heads"),
        ([0x27, 0x46, 0x90], "messages"),
        ([0xC0, 0x39, 0x2B], "the wrong step"),
        ([0x9A, 0x4F, 0x00], "the cycle"),
        (INK, "letters"),
    ] {
        assert!(picture.count(&whole, colour) > 30, "{what}");
    }
}

#[test]
fn every_text_leaves_its_own_ink() {
    let ink = |text: &str| {
        let drawing = draw(&graph(&[text]), Options::default(), &Control::unlimited()).expect("small enough");
        png(&drawing.svg()).expect("small enough")
    };
    let texts = [
        "0",
        "O",
        "1",
        "l",
        "I",
        "a",
        "A",
        "é",
        "e",
        "τ",
        "✓",
        "→",
        "日",
        "本",
        "\u{1F600}",
        "<",
        ">",
        "'",
        "\u{2603}",
    ];
    let all: Vec<Vec<u8>> = texts.iter().map(|text| ink(text)).collect();
    for (at, file) in all.iter().enumerate() {
        assert!(!all[at + 1..].contains(file), "{} looks like another letter", texts[at]);
        assert_eq!(*file, ink(texts[at]), "the same file again");
    }
}

#[test]
fn what_would_be_too_small_to_read_is_refused() {
    let lifelines = vec![Lifeline { name: "x".repeat(48), ..Lifeline::default() }; 8];
    let step = Happening { text: "y".repeat(48), ..Happening::default() };
    let large = Chart { lifelines: lifelines.clone(), happenings: vec![step.clone(); 2_000], ..Chart::default() };
    let refused = png(&large.svg()).expect_err("more pixels than a picture may have");
    assert!(refused.height > 60_000 && refused.to_string().contains("pixels"), "{refused}");
    // Where it fits with one pixel for a unit, it is drawn so.
    let middle = Chart { lifelines, happenings: vec![step; 250], ..Chart::default() };
    let picture = decoded(&png(&middle.svg()).expect("small enough"));
    let height = 44.0 + 34.0 + 250.0 * 30.0 + 16.0;
    assert_eq!(picture.height, height as usize, "{} x {}", picture.width, picture.height);
}
