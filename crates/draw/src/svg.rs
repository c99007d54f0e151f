//! A drawing as SVG, for browsers in the light and in the dark.
//!
//! Colours are classes of a style sheet inside the file, with a second set for a dark colour scheme. Numbers have one
//! digit after the point, so that the text is the same on every machine.

use std::fmt::Write;

use crate::Mark;
use crate::drawing::{Arrow, Curve, Drawing, DrawnEdge, DrawnNode, DrawnText, Piece, Spot};
use crate::text::{LINE, SIZE, escape};

/// Every selector of the second set is one of the first, so that readers that know nothing of preferences see the first
/// one.
const STYLE: &str = "\
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2430; }
.page { fill: #ffffff; }
.caption { font-size: 13px; font-weight: 600; }
.node rect { fill: #eef2fb; stroke: #52628c; stroke-width: 1.2; }
.node text { text-anchor: middle; }
.deadlock rect { fill: #fde4e1; stroke: #c0392b; stroke-width: 2.4; }
.diverging rect { fill: #fdf1d6; stroke: #b9770e; stroke-width: 1.8; stroke-dasharray: 5 3; }
.terminated rect { fill: #e2f4e6; stroke: #2e8b57; stroke-width: 1.8; }
.edge path { fill: none; stroke: #6b7484; stroke-width: 1.2; }
.edge polygon { fill: #6b7484; }
.edge .paper { fill: #ffffff; }
.edge text { text-anchor: middle; fill: #274690; }
.quiet path { stroke-dasharray: 4 3; }
.quiet text { fill: #7a8291; }
.edge:hover path { stroke: #d35400; stroke-width: 2; }
.edge:hover polygon { fill: #d35400; }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7ee; }
.page { fill: #15181f; }
.node rect { fill: #232a3a; stroke: #8fa3d4; }
.deadlock rect { fill: #43201d; stroke: #ef7568; }
.diverging rect { fill: #3d3115; stroke: #e0aa4a; }
.terminated rect { fill: #1c3826; stroke: #6cc48d; }
.edge path { stroke: #8a93a5; }
.edge polygon { fill: #8a93a5; }
.edge .paper { fill: #15181f; }
.edge text { fill: #a9c1ff; }
.quiet text { fill: #9aa2b1; }
}
";

impl Mark {
    /// What a mark means.
    pub fn words(self) -> &'static str {
        match self {
            Mark::Plain => "",
            Mark::Deadlock => "deadlock",
            Mark::Diverging => "diverges",
            Mark::Terminated => "terminated",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Mark::Plain => "node",
            Mark::Deadlock => "node deadlock",
            Mark::Diverging => "node diverging",
            Mark::Terminated => "node terminated",
        }
    }
}

/// A number with at most one digit after the point.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_string(),
        short => short.to_string(),
    }
}

fn spot(spot: Spot) -> String {
    format!("{} {}", number(spot.x), number(spot.y))
}

/// How every document begins: its size, its caption, the colours that all pictures share and its own.
pub(crate) fn opening(width: f64, height: f64, caption: &str, style: &str) -> String {
    let (width, height) = (number(width), number(height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(caption));
    let _ = writeln!(svg, "<style>\n{STYLE}{style}</style>");
    let _ = writeln!(svg, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    if !caption.is_empty() {
        let _ = writeln!(svg, "<text class=\"caption\" x=\"16\" y=\"26\">{}</text>", escape(caption));
    }
    svg
}

impl Drawing {
    /// The drawing as an SVG document.
    pub fn svg(&self) -> String {
        let mut svg = String::with_capacity(4_000 + 400 * (self.nodes.len() + self.edges.len()));
        svg.push_str(&opening(self.width, self.height, &self.caption, ""));
        for edge in &self.edges {
            edge.write(&mut svg);
        }
        for node in &self.nodes {
            node.write(&mut svg);
        }
        for &(place, mark) in &self.legend {
            let (x, y) = (number(place.x), number(place.y));
            let _ = writeln!(
                svg,
                "<g class=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"20\" height=\"14\" rx=\"7\"/></g><text x=\"{}\" y=\"{}\">{}</text>",
                mark.class(),
                number(place.x + 26.0),
                number(place.y + 11.0),
                mark.words()
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

pub(crate) fn head(arrow: &Arrow) -> String {
    const LENGTH: f64 = 8.0;
    const HALF: f64 = 3.4;
    let ((x, y), tip) = (arrow.towards, arrow.tip);
    let side = |sign: f64| Spot { x: tip.x - LENGTH * x + sign * HALF * y, y: tip.y - LENGTH * y - sign * HALF * x };
    format!("<polygon points=\"{} {} {}\"/>", spot(tip), spot(side(1.0)), spot(side(-1.0)))
}

fn path(curve: &Curve) -> String {
    let mut path = format!("M{}", spot(curve.start));
    for piece in &curve.pieces {
        match *piece {
            Piece::Line(to) => {
                let _ = write!(path, "L{}", spot(to));
            }
            Piece::Cubic(first, second, to) => {
                let _ = write!(path, "C{} {} {}", spot(first), spot(second), spot(to));
            }
        }
    }
    path
}

impl DrawnText {
    fn write(&self, svg: &mut String) {
        let area = &self.area;
        let _ = write!(
            svg,
            "<rect class=\"paper\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            number(area.x),
            number(area.y),
            number(area.width),
            number(area.height)
        );
        let x = number(area.middle().x);
        for (at, line) in self.lines.iter().enumerate() {
            let y = number(area.y + 1.0 + at as f64 * LINE + SIZE - 0.5);
            let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(line));
        }
    }
}

impl DrawnEdge {
    fn write(&self, svg: &mut String) {
        let class = if self.quiet { "edge quiet" } else { "edge" };
        let _ = write!(svg, "<g class=\"{class}\">");
        if !self.title.is_empty() {
            let _ = write!(svg, "<title>{}</title>", escape(&self.title));
        }
        let _ = write!(svg, "<path d=\"{}\"/>{}", path(&self.curve), head(&self.arrow));
        if let Some(text) = &self.text {
            text.write(svg);
        }
        svg.push_str("</g>\n");
    }
}

impl DrawnNode {
    fn write(&self, svg: &mut String) {
        if let Some((start, arrow)) = &self.entry {
            let _ = writeln!(
                svg,
                "<g class=\"edge\"><path d=\"M{}L{}\"/>{}</g>",
                spot(*start),
                spot(arrow.tip),
                head(arrow)
            );
        }
        let _ = write!(svg, "<g class=\"{}\">", self.mark.class());
        if !self.title.is_empty() {
            let _ = write!(svg, "<title>{}</title>", escape(&self.title));
        }
        let area = &self.area;
        let _ = write!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            number(area.x),
            number(area.y),
            number(area.width),
            number(area.height),
            number(area.width.min(area.height) / 2.0)
        );
        let middle = area.middle();
        let (x, y) = (number(middle.x), number(middle.y + SIZE / 3.0));
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text></g>", escape(&self.text));
    }
}
