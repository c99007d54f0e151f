//! Message-sequence charts: which process did what, from top to bottom, and which message went where.
//!
//! A *lifeline* is a vertical line, a process of a run. Every happening has a row of its own, so that the order of the
//! rows is the order of the run, and is a box on its lifeline. A message is an arrow from the box that sends it to the
//! box that receives it: level when both are one step, falling when the message waited in between. A message that is
//! never received ends in an open circle beside its box. Its contents stand above its arrow, beside the box that sends
//! it. A lifeline begins and ends with its process; one that begins later has its head beside the happening that
//! created it, with a dashed arrow from there. Steps are numbered; a process that waits at the end has a box without a
//! number. A step in which several processes take part, with no direction between them, is a box on each of their
//! lifelines, joined by a double line. Where a run ends in a cycle, an arrow at the left border leads from the last
//! step back to the first one that repeats.
//!
//! # Invariants
//!
//! - No two boxes overlap: rows keep their distance, and two boxes of one row (a handshake) are on different lifelines.
//! - A box is as wide as its text, and a lifeline's column as wide as its widest box.
//! - Arrows lie under boxes; an arrow leaves and enters a box at the side that faces the other end.
//! - The same chart gives the same picture, to the byte; any text gives well-formed XML.
//!
//! Cost: linear in the happenings. A chart of more than [`ROWS`] of them keeps the first and the last, and says how
//! many it leaves out between.

use std::fmt::Write;

use trefoil_control::counted;

use crate::drawing::{Area, Arrow, Spot};
use crate::svg::{head, number, opening};
use crate::text::{SIZE, columns, cut, escape, width};

/// The most rows of a chart.
pub const ROWS: usize = 2_000;

const ROW: f64 = 30.0;
const BOX: f64 = 20.0;
/// Between the columns of neighbours: room for the slope of an arrow.
const GAP: f64 = 36.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 44.0;
/// Room for the arrow of a cycle.
const CYCLE: f64 = 26.0;
/// The widest text, in columns.
const WIDEST: usize = 48;
/// The longest text of a message, in columns.
const CARRIED: usize = 18;
/// How much smaller it is written than what stands in boxes.
const SMALL: f64 = 0.8;

const STYLE: &str = "\
.life { stroke: #a8b0bf; stroke-width: 1.2; }
.who rect { fill: #dfe6f7; stroke: #52628c; stroke-width: 1.2; }
.who text, .happening text { text-anchor: middle; }
.happening rect { fill: #f7f8fb; stroke: #9aa4b8; }
.wrong rect { fill: #fde4e1; stroke: #c0392b; stroke-width: 2.4; }
.number { fill: #5f6776; font-size: 10px; text-anchor: end; }
.message line { stroke: #274690; stroke-width: 1.4; }
.message polygon { fill: #274690; }
.message circle { fill: none; stroke: #274690; stroke-width: 1.4; }
.end { stroke: #6b7484; stroke-width: 2; }
.carried { fill: #274690; font-size: 10px; text-anchor: middle; }
.made line { stroke: #6b7484; stroke-dasharray: 4 3; }
.made polygon { fill: #6b7484; }
.cycle path { fill: none; stroke: #9a4f00; stroke-width: 1.6; }
.cycle polygon { fill: #9a4f00; }
@media (prefers-color-scheme: dark) {
.life { stroke: #4b5468; }
.who rect { fill: #2b3550; stroke: #8fa3d4; }
.happening rect { fill: #1d222d; stroke: #667089; }
.wrong rect { fill: #43201d; stroke: #ef7568; }
.number { fill: #9aa2b1; }
.message line { stroke: #a9c1ff; }
.message polygon { fill: #a9c1ff; }
.message circle { stroke: #a9c1ff; }
.end { stroke: #8a93a5; }
.carried { fill: #a9c1ff; }
.made line { stroke: #8a93a5; }
.made polygon { fill: #8a93a5; }
.cycle path { stroke: #ffb66b; }
.cycle polygon { fill: #ffb66b; }
}
";

/// A run of communicating processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// What it shows.
    pub caption: String,
    /// The processes, from left to right.
    pub lifelines: Vec<Lifeline>,
    /// What happened, in order.
    pub happenings: Vec<Happening>,
    /// The happening from which on everything repeats, if the run ends in a cycle.
    pub cycle: Option<usize>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifeline {
    /// Its name.
    pub name: String,
    /// Before which happening it was there; 0 means from the beginning.
    pub begins: usize,
    /// After which happening it was gone, if it ever was.
    pub ends: Option<usize>,
    /// The happening that made it.
    pub maker: Option<usize>,
}

/// A step of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Happening {
    /// Whose.
    pub lifeline: usize,
    /// What is written in its box.
    pub text: String,
    /// Its tooltip.
    pub title: String,
    /// What it does with messages.
    pub message: Message,
    /// What the message that it sends carries.
    pub carries: String,
    /// Does the error happen here?
    pub wrong: bool,
    /// Does the process only wait here? Then it is no step and has no number.
    pub waits: bool,
}

/// What a step does with messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Message {
    /// Nothing.
    #[default]
    Nothing,
    /// It sends one that waits to be received.
    Sent,
    /// It receives what an earlier happening sent.
    Received {
        /// The happening that sent it.
        sent: usize,
    },
    /// It hands one over: the other takes part in the same step.
    Handed {
        /// The lifeline that receives it.
        to: usize,
        /// What is written in the receiver's box.
        text: String,
    },
    /// Others take part in the same step.
    Together {
        /// Their lifelines, and what is written in their boxes.
        others: Vec<(usize, String)>,
    },
}

/// A box of the picture.
struct Placed<'a> {
    area: Area,
    text: String,
    happening: &'a Happening,
}

impl Chart {
    /// The chart as an SVG document.
    ///
    /// # Panics
    ///
    /// When a happening names a lifeline or a happening that is not there.
    pub fn svg(&self) -> String {
        let rows = self.rows();
        let lanes = self.lanes(&rows);
        let bottom = HEAD + 34.0 + rows.count as f64 * ROW;
        let right = lanes.last().map_or(MARGIN, |lane| lane.0 + lane.1 / 2.0) + MARGIN;
        let mut svg =
            opening(right.max(1.12 * width(&self.caption) + 2.0 * MARGIN), bottom + MARGIN, &self.caption, STYLE);
        for (lifeline, &(x, wide)) in self.lifelines.iter().zip(&lanes) {
            lifeline.write(&mut svg, x, wide, &rows, bottom);
        }
        let boxes = self.boxes(&rows, &lanes);
        self.write_messages(&mut svg, &rows, &boxes);
        for (lifeline, &(x, wide)) in self.lifelines.iter().zip(&lanes) {
            let maker = lifeline.maker.filter(|&maker| maker < boxes.len());
            if let Some(from) = maker.and_then(|maker| boxes[maker].first()) {
                let own = lifeline.head_width(wide);
                let head = Area { x: x - own / 2.0, y: from.area.y, width: own, height: BOX };
                write_arrow(&mut svg, &from.area, &head, "made", "");
            }
        }
        let mut step = 0;
        for (at, happening) in self.happenings.iter().enumerate() {
            step += usize::from(!happening.waits);
            let Some(row) = rows.of(at) else { continue };
            if !happening.waits {
                let (x, y) = (number(MARGIN + 24.0), number(row_middle(row) + 3.5));
                let _ = write!(svg, "<text class=\"number\" x=\"{x}\" y=\"{y}\">{step}</text>");
            }
            for placed in &boxes[at] {
                placed.write(&mut svg, happening.wrong);
            }
        }
        self.write_cycle(&mut svg, &rows);
        if let Some((row, missing)) = rows.gap {
            let y = number(row_middle(row) + SIZE / 3.0);
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\">… {} …</text>",
                number(MARGIN + 32.0),
                counted(missing as u64, "step")
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn rows(&self) -> Rows {
        let steps = self.happenings.len();
        if steps <= ROWS {
            return Rows { steps, count: steps, gap: None };
        }
        Rows { steps, count: ROWS + 1, gap: Some((ROWS / 2, steps - ROWS)) }
    }

    /// The middle and the width of every lifeline's column.
    fn lanes(&self, rows: &Rows) -> Vec<(f64, f64)> {
        let mut wide: Vec<usize> = self.lifelines.iter().map(|line| columns(&cut(&line.name, WIDEST))).collect();
        for (at, happening) in self.happenings.iter().enumerate().filter(|&(at, _)| rows.of(at).is_some()) {
            let own = &mut wide[happening.lifeline];
            *own = (*own).max(columns(&cut(&self.happenings[at].text, WIDEST)));
            for (to, text) in happening.message.others() {
                wide[to] = wide[to].max(columns(&cut(text, WIDEST)));
            }
        }
        let carried = self.happenings.iter().map(|happening| columns(&cut(&happening.carries, CARRIED))).max();
        let gap = GAP.max(width("x") * carried.unwrap_or(0) as f64 * SMALL + 22.0);
        let mut left = MARGIN + 34.0 + if self.cycle.is_some() { CYCLE } else { 0.0 };
        let lane = |columns: usize| {
            let wide = width("x") * columns.max(4) as f64 + 14.0;
            let middle = left + wide / 2.0;
            left += wide + gap;
            (middle, wide)
        };
        wide.into_iter().map(lane).collect()
    }

    /// The boxes of every happening: its own, and those of others that take part; none where it is left out.
    fn boxes<'a>(&'a self, rows: &Rows, lanes: &[(f64, f64)]) -> Vec<Vec<Placed<'a>>> {
        let place = |row: usize, lifeline: usize, text: &str, happening: &'a Happening| {
            let text = cut(text, WIDEST);
            let wide = width(&text) + 12.0;
            let area =
                Area { x: lanes[lifeline].0 - wide / 2.0, y: row_middle(row) - BOX / 2.0, width: wide, height: BOX };
            Placed { area, text, happening }
        };
        let of = |(at, happening): (usize, &'a Happening)| {
            let Some(row) = rows.of(at) else { return Vec::new() };
            let mut boxes = vec![place(row, happening.lifeline, &happening.text, happening)];
            boxes.extend(happening.message.others().map(|(to, text)| place(row, to, text, happening)));
            boxes
        };
        self.happenings.iter().enumerate().map(of).collect()
    }

    /// The arrow from the end of a cycle to its beginning.
    fn write_cycle(&self, svg: &mut String, rows: &Rows) {
        let steps = self.happenings.iter().rposition(|happening| !happening.waits);
        let (Some(first), Some(last)) = (self.cycle, steps) else { return };
        let (Some(from), Some(to)) = (rows.of(last), (first..=last).find_map(|at| rows.of(at))) else { return };
        let (x, near) = (MARGIN + 34.0, MARGIN + 34.0 + CYCLE - 10.0);
        let (top, bottom) = (row_middle(to), row_middle(from));
        let arrow = Arrow { tip: Spot { x: near, y: top }, towards: (1.0, 0.0) };
        let path = format!(
            "M{n} {b}L{x} {b}L{x} {t}L{end} {t}",
            n = number(near),
            b = number(bottom + 5.0),
            x = number(x),
            t = number(top),
            end = number(near - 7.0)
        );
        let _ =
            writeln!(svg, "<g class=\"cycle\"><title>repeats forever</title><path d=\"{path}\"/>{}</g>", head(&arrow));
    }

    fn write_messages(&self, svg: &mut String, rows: &Rows, boxes: &[Vec<Placed<'_>>]) {
        let mut received = vec![false; self.happenings.len()];
        for (at, happening) in self.happenings.iter().enumerate() {
            match happening.message {
                Message::Received { sent } => {
                    received[sent] = true;
                    if let (Some(from), Some(to)) = (boxes[sent].first(), boxes[at].first()) {
                        write_arrow(svg, &from.area, &to.area, "message", &self.happenings[sent].carries);
                    }
                }
                Message::Handed { .. } => {
                    if let [from, to] = &boxes[at][..] {
                        write_arrow(svg, &from.area, &to.area, "message", &happening.carries);
                    }
                }
                Message::Together { .. } => {
                    let middles = || boxes[at].iter().map(|placed| placed.area.middle());
                    let Some(y) = middles().next().map(|middle| middle.y) else { continue };
                    let (left, right) = middles()
                        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, r), middle| (l.min(middle.x), r.max(middle.x)));
                    for apart in [-2.0, 2.0] {
                        let (x1, x2, y) = (number(left), number(right), number(y + apart));
                        let _ = writeln!(
                            svg,
                            "<g class=\"message\"><line x1=\"{x1}\" y1=\"{y}\" x2=\"{x2}\" y2=\"{y}\"/></g>"
                        );
                    }
                }
                Message::Nothing | Message::Sent => {}
            }
        }
        for (at, happening) in self.happenings.iter().enumerate() {
            if happening.message == Message::Sent && !received[at] && rows.of(at).is_some() {
                let Some(from) = boxes[at].first() else { continue };
                let (x, y) = (from.area.x + from.area.width, from.area.middle().y);
                let _ = writeln!(
                    svg,
                    "<g class=\"message\"><line x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/><circle cx=\"{}\" cy=\"{y}\" r=\"3\"/></g>",
                    number(x),
                    number(x + 10.0),
                    number(x + 13.0),
                    y = number(y)
                );
            }
        }
    }
}

impl Message {
    /// The other lifelines with a box, and what is written in it.
    fn others(&self) -> impl Iterator<Item = (usize, &str)> {
        let handed = match self {
            Message::Handed { to, text } => Some((*to, text.as_str())),
            _ => None,
        };
        let together: &[(usize, String)] = match self {
            Message::Together { others } => others,
            _ => &[],
        };
        handed.into_iter().chain(together.iter().map(|(to, text)| (*to, text.as_str())))
    }
}

/// Which happenings have a row.
struct Rows {
    steps: usize,
    count: usize,
    /// The row that stands for happenings that are left out, and how many they are.
    gap: Option<(usize, usize)>,
}

impl Rows {
    fn of(&self, happening: usize) -> Option<usize> {
        match self.gap {
            None => Some(happening),
            Some((gap, _)) if happening < gap => Some(happening),
            Some((_, missing)) => {
                let from_end = self.steps - happening;
                (from_end < self.count - ROWS / 2).then(|| happening - missing + 1)
            }
        }
    }

    /// Where the line between what comes before a happening and the happening is.
    fn above(&self, happening: usize) -> f64 {
        let gap = self.gap.map_or(0, |(gap, _)| gap);
        let row = (happening..self.steps).find_map(|at| self.of(at)).unwrap_or(self.count);
        let row = if self.of(happening).is_some() || happening >= self.steps { row } else { gap };
        row_middle(row) - ROW / 2.0
    }
}

fn row_middle(row: usize) -> f64 {
    HEAD + 34.0 + (row as f64 + 0.5) * ROW
}

fn write_arrow(svg: &mut String, from: &Area, to: &Area, class: &str, carries: &str) {
    let rightwards = from.middle().x <= to.middle().x;
    let same = (from.middle().x - to.middle().x).abs() < 1.0;
    let side =
        |area: &Area, right: bool| Spot { x: if right { area.x + area.width } else { area.x }, y: area.middle().y };
    // A message to oneself goes from side to side on the right.
    let (start, tip) = (side(from, rightwards), side(to, if same { true } else { !rightwards }));
    let (x, y) = (tip.x - start.x, tip.y - start.y);
    let length = x.hypot(y).max(1.0);
    let arrow = Arrow { tip, towards: (x / length, y / length) };
    let _ = writeln!(
        svg,
        "<g class=\"{class}\"><line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>{}</g>",
        number(start.x),
        number(start.y),
        number(tip.x - 6.0 * x / length),
        number(tip.y - 6.0 * y / length),
        head(&arrow)
    );
    if !carries.is_empty() && !same {
        // Beside the box where it was sent, where nothing else stands.
        let carried = cut(carries, CARRIED);
        let half = (width(&carried) * SMALL / 2.0 + 5.0).min(x.abs() / 2.0);
        let along = half / x.abs().max(1.0);
        let _ = writeln!(
            svg,
            "<text class=\"carried\" x=\"{}\" y=\"{}\">{}</text>",
            number(start.x + half * x.signum()),
            number(start.y + y * along - 4.0),
            escape(&carried)
        );
    }
}

impl Lifeline {
    fn head_width(&self, wide: f64) -> f64 {
        (width(&cut(&self.name, WIDEST)) + 14.0).min(wide)
    }

    fn write(&self, svg: &mut String, x: f64, wide: f64, rows: &Rows, bottom: f64) {
        // Beside the happening before the first that it can take part in.
        let top = if self.begins == 0 { HEAD } else { rows.above(self.begins) - ROW / 2.0 - BOX / 2.0 };
        let end = self.ends.map(|after| rows.above(after + 1));
        let name = cut(&self.name, WIDEST);
        let _ = write!(
            svg,
            "<line class=\"life\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\"/>",
            number(top),
            number(end.unwrap_or(bottom)),
            x = number(x)
        );
        if let Some(end) = end {
            let _ = write!(
                svg,
                "<line class=\"end\" x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>",
                number(x - 8.0),
                number(x + 8.0),
                y = number(end)
            );
        }
        let own = self.head_width(wide);
        let _ = writeln!(
            svg,
            "<g class=\"who\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            number(x - own / 2.0),
            number(top),
            number(own),
            number(BOX),
            number(x),
            number(top + 14.0),
            escape(&name)
        );
    }
}

impl Placed<'_> {
    fn write(&self, svg: &mut String, wrong: bool) {
        let class = if wrong { "happening wrong" } else { "happening" };
        let _ = write!(svg, "<g class=\"{class}\">");
        if !self.happening.title.is_empty() {
            let _ = write!(svg, "<title>{}</title>", escape(&self.happening.title));
        }
        let middle = self.area.middle();
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            number(self.area.x),
            number(self.area.y),
            number(self.area.width),
            number(self.area.height),
            number(middle.x),
            number(middle.y + SIZE / 3.0),
            escape(&self.text)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(lifeline: usize, text: &str, message: Message) -> Happening {
        Happening { lifeline, text: text.into(), message, ..Happening::default() }
    }

    fn chart(happenings: Vec<Happening>) -> Chart {
        let lifelines = ["client", "server"].map(|name| Lifeline { name: name.into(), ..Lifeline::default() });
        Chart { caption: "a run".into(), lifelines: lifelines.into(), happenings, cycle: None }
    }

    #[test]
    fn steps_of_several_have_a_box_each_and_cycles_an_arrow() {
        let together = Message::Together { others: vec![(1, "sync".into())] };
        let mut chart = chart(vec![step(0, "a", Message::Nothing), step(0, "sync", together)]);
        assert!(!chart.svg().contains("class=\"cycle\""));
        chart.cycle = Some(1);
        let svg = chart.svg();
        assert_eq!(svg.matches("class=\"happening\"").count(), 3, "{svg}");
        assert_eq!(svg.matches("class=\"message\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"cycle\"").count(), 1, "{svg}");
    }

    #[test]
    fn messages_are_arrows_and_what_nobody_received_ends_in_a_circle() {
        let svg = chart(vec![
            step(0, "q!1", Message::Sent),
            step(1, "q?1", Message::Received { sent: 0 }),
            step(1, "r!<2>", Message::Handed { to: 0, text: "r?<2>".into() }),
            step(0, "q!3", Message::Sent),
        ])
        .svg();
        assert_eq!(svg.matches("<polygon").count(), 2, "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"happening\"").count(), 5, "{svg}");
        assert!(svg.contains("r!&lt;2&gt;"));
    }

    #[test]
    fn what_a_message_carries_stands_above_its_arrow() {
        let mut happenings = vec![step(0, "q!x", Message::Sent), step(1, "q?y", Message::Received { sent: 0 })];
        happenings[0].carries = "1 < 2".into();
        let svg = chart(happenings).svg();
        assert_eq!(svg.matches(">1 &lt; 2</text>").count(), 1, "{svg}");
    }

    #[test]
    fn lifelines_begin_and_end_with_their_processes() {
        let mut chart = chart(vec![step(0, "run", Message::Nothing), step(1, "x = 1", Message::Nothing)]);
        chart.lifelines[1].begins = 1;
        chart.lifelines[1].maker = Some(0);
        chart.lifelines[1].ends = Some(1);
        chart.happenings[1].wrong = true;
        let svg = chart.svg();
        let (first, second) = (row_middle(0), row_middle(1));
        let begin = number(first - BOX / 2.0);
        assert!(first < second && svg.contains(&format!("y1=\"{begin}\"")), "{svg}");
        assert_eq!(svg.matches("class=\"made\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"end\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"happening wrong\"").count(), 1, "{svg}");
    }

    #[test]
    fn a_process_that_waits_has_no_number() {
        let mut happenings = vec![step(0, "x = 1", Message::Nothing), step(1, "waits, line 3", Message::Nothing)];
        happenings[1].waits = true;
        happenings.push(step(0, "x = 2", Message::Nothing));
        let svg = chart(happenings).svg();
        assert_eq!(svg.matches("class=\"number\"").count(), 2, "{svg}");
        assert!(svg.contains(">1</text>") && svg.contains(">2</text>") && !svg.contains(">3</text>"), "{svg}");
    }

    #[test]
    fn a_long_run_keeps_its_beginning_and_its_end() {
        let steps: Vec<Happening> =
            (0..5_000).map(|at| step(at % 2, &format!("step {at}"), Message::Nothing)).collect();
        let chart = chart(steps);
        let rows = chart.rows();
        let kept: Vec<usize> = (0..5_000).filter_map(|at| rows.of(at)).collect();
        assert!(kept.is_sorted_by(|one, other| one < other));
        assert_eq!(kept.len(), ROWS);
        assert_eq!(kept.last(), Some(&(rows.count - 1)));
        let svg = chart.svg();
        assert!(svg.contains("… 3,000 steps …"));
        assert!(svg.contains(">step 0<") && svg.contains(">step 4999<") && !svg.contains(">step 2500<"));
    }
}
