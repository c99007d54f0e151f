//! A drawing as SVG, for browsers in the light and in the dark.
//!
//! Colours are classes of a style sheet inside the file, with a second set for a dark colour scheme. Numbers have one
//! digit after the point, so that the text is the same on every machine.
//!
//! A document has a `viewBox` and no size of its own: it fills the width of a window, up to [`LARGEST`] times its own
//! units, so that nothing lies outside the window to the right; what is much higher than a window is reached by
//! scrolling down, and a graph begins with its first layer. In a picture that is too large to be read as a whole every
//! node has a *view*, `#s12` for the node with number 12, which shows the node and what is around it: nodes and the
//! texts of jumps are links to views, and beside the caption are links to the first node, back to the whole, and to the
//! table of labels where there is one. There is no script.

use std::fmt::Write;

use crate::drawing::{Arrow, Curve, Drawing, DrawnEdge, DrawnNode, DrawnNote, DrawnText, Piece, Spot};
use crate::text::{LINE, SIZE, escape, width};
use crate::{Mark, Shape};

/// The most pixels for a unit.
const LARGEST: f64 = 1.5;
/// A picture with a side longer than this has views.
pub(crate) const WHOLE: f64 = 1_400.0;
/// The room for links beside the caption.
pub(crate) const LINKS: f64 = 310.0;
/// What a view shows.
const VIEW: (f64, f64) = (1_100.0, 700.0);

/// Every selector of the second set is one of the first, so that readers that know nothing of preferences see the first
/// one.
const STYLE: &str = "\
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2430; }
.page { fill: #ffffff; }
.caption { font-size: 13px; font-weight: 600; }
.node rect { fill: #eef2fb; stroke: #52628c; stroke-width: 1.2; }
.node text { text-anchor: middle; }
.side { stroke: #52628c; }
.deadlock rect { fill: #fde4e1; stroke: #c0392b; stroke-width: 2.4; }
.diverging rect { fill: #fdf1d6; stroke: #b9770e; stroke-width: 1.8; stroke-dasharray: 5 3; }
.terminated rect { fill: #e2f4e6; stroke: #2e8b57; stroke-width: 1.8; }
.continues rect { fill: #ffffff; stroke: #52628c; stroke-width: 1.6; stroke-dasharray: 2 3; }
.edge path { fill: none; stroke: #6b7484; stroke-width: 1.2; }
.edge polygon { fill: #6b7484; }
.edge .paper { fill: #ffffff; }
.edge text { text-anchor: middle; fill: #274690; }
.quiet path { stroke-dasharray: 4 3; }
.quiet text { fill: #5f6776; }
.key { fill: #274690; }
.note text { text-anchor: start; fill: #274690; }
.note path { stroke: #6b7484; stroke-width: 1.2; }
.note polygon { fill: #6b7484; }
a { cursor: pointer; }
a:hover text { text-decoration: underline; }
.edge:hover path { stroke: #b84300; stroke-width: 2; }
.edge:hover polygon { fill: #b84300; }
@media (prefers-color-scheme: dark) {
:root { background: #15181f; }
text { fill: #e4e7ee; }
.page { fill: #15181f; }
.node rect { fill: #232a3a; stroke: #8fa3d4; }
.side { stroke: #8fa3d4; }
.deadlock rect { fill: #43201d; stroke: #ef7568; }
.diverging rect { fill: #3d3115; stroke: #e0aa4a; }
.terminated rect { fill: #1c3826; stroke: #6cc48d; }
.continues rect { fill: #15181f; stroke: #8fa3d4; }
.edge path { stroke: #8a93a5; }
.edge polygon { fill: #8a93a5; }
.edge .paper { fill: #15181f; }
.edge text { fill: #a9c1ff; }
.quiet text { fill: #9aa2b1; }
.key { fill: #a9c1ff; }
.note text { fill: #a9c1ff; }
.note path { stroke: #8a93a5; }
.note polygon { fill: #8a93a5; }
.edge:hover path { stroke: #ff9d5c; }
.edge:hover polygon { fill: #ff9d5c; }
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
            Mark::Continues => "has steps to states that are not drawn",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Mark::Plain => "node",
            Mark::Deadlock => "node deadlock",
            Mark::Diverging => "node diverging",
            Mark::Terminated => "node terminated",
            Mark::Continues => "node continues",
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
    let largest = number(width * LARGEST);
    // What is not too high is seen as a whole.
    let highest = if height <= WHOLE { " max-height: 100vh;" } else { "" };
    let (width, height) = (number(width), number(height));
    let mut svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">\n");
    let _ = writeln!(svg, "<title>{}</title>", escape(caption));
    let _ = writeln!(
        svg,
        "<style>\n:root {{ width: 100%; max-width: {largest}px; height: auto;{highest} display: block; margin: 0 auto; background: #ffffff; }}\n{STYLE}{style}</style>"
    );
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
        let views = self.width > WHOLE || self.height > WHOLE;
        if views {
            self.write_views(&mut svg);
        }
        for edge in &self.edges {
            edge.write(&mut svg);
        }
        for note in &self.notes {
            note.write(&mut svg, views);
        }
        for (number, node) in self.nodes.iter().enumerate() {
            node.write(&mut svg, views.then_some(number));
        }
        for (place, key) in &self.keys {
            let (x, y) = (number(place.x), number(place.y));
            let _ =
                writeln!(svg, "<text class=\"key\" x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{}</text>", escape(key));
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

impl Drawing {
    /// A view for each node, and links in the caption.
    fn write_views(&self, svg: &mut String) {
        let whole = format!("0 0 {} {}", number(self.width), number(self.height));
        let _ = writeln!(svg, "<view id=\"whole\" viewBox=\"{whole}\"/>");
        for (at, node) in self.nodes.iter().enumerate() {
            let middle = node.area.middle();
            let (x, y) = (number(middle.x - VIEW.0 / 2.0), number(middle.y - VIEW.1 / 2.0));
            let _ = writeln!(svg, "<view id=\"s{at}\" viewBox=\"{x} {y} {} {}\"/>", number(VIEW.0), number(VIEW.1));
        }
        let first = self.nodes.iter().position(|node| node.entry.is_some()).unwrap_or(0);
        let mut links = vec![(format!("s{first}"), "first state"), ("whole".to_string(), "whole picture")];
        if let Some((place, _)) = self.keys.first() {
            let top = place.y - 2.0 * LINE;
            let (y, width, height) = (number(top), number(self.width), number(self.height - top));
            let _ = writeln!(svg, "<view id=\"labels\" viewBox=\"0 {y} {width} {height}\"/>");
            links.push(("labels".to_string(), "labels"));
        }
        let mut x = self.width - 16.0;
        for (target, words) in links.iter().rev() {
            let place = number(x);
            let _ = writeln!(
                svg,
                "<a href=\"#{target}\"><text class=\"key jump\" text-anchor=\"end\" x=\"{place}\" y=\"26\">{words}</text></a>"
            );
            x -= width(words) + 18.0;
        }
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
        let back = self.back.as_ref().map(head).unwrap_or_default();
        let _ = write!(svg, "<path d=\"{}\"/>{}{back}", path(&self.curve), head(&self.arrow));
        if let Some(text) = &self.text {
            text.write(svg);
        }
        svg.push_str("</g>\n");
    }
}

impl DrawnNote {
    fn write(&self, svg: &mut String, links: bool) {
        let (start, arrow) = &self.arrow;
        let _ = write!(svg, "<g class=\"note\"><path d=\"M{}L{}\"/>{}", spot(*start), spot(arrow.tip), head(arrow));
        let x = number(self.area.x + 4.0);
        for (at, line) in self.lines.iter().enumerate() {
            let y = number(self.area.y + 1.0 + at as f64 * LINE + SIZE - 0.5);
            let target = line.target.filter(|_| links);
            if let Some(target) = target {
                let _ = write!(svg, "<a href=\"#s{target}\">");
            }
            let (title, text) = (escape(&line.title), escape(&line.text));
            let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\"><title>{title}</title>{text}</text>");
            if target.is_some() {
                svg.push_str("</a>");
            }
        }
        svg.push_str("</g>\n");
    }
}

impl DrawnNode {
    /// The node; a link to its view if it has one.
    fn write(&self, svg: &mut String, view: Option<usize>) {
        if let Some((start, arrow)) = &self.entry {
            let _ = writeln!(
                svg,
                "<g class=\"edge\"><path d=\"M{}L{}\"/>{}</g>",
                spot(*start),
                spot(arrow.tip),
                head(arrow)
            );
        }
        if let Some(number) = view {
            let _ = write!(svg, "<a href=\"#s{number}\">");
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
            number(if self.shape == Shape::Round { area.width.min(area.height) / 2.0 } else { 0.0 })
        );
        if self.shape == Shape::Queue {
            for x in [area.x + 4.0, area.x + area.width - 4.0] {
                let (x, top, bottom) = (number(x), number(area.y), number(area.y + area.height));
                let _ = write!(svg, "<path class=\"side\" d=\"M{x} {top}L{x} {bottom}\"/>");
            }
        }
        let middle = area.middle();
        let (x, y) = (number(middle.x), number(middle.y + SIZE / 3.0));
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text></g>", escape(&self.text));
        svg.push_str(if view.is_some() { "</a>\n" } else { "\n" });
    }
}
