//! `trefoil graph`, `trefoil lts draw` and `trefoil structure`.

mod components;
mod declared;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use trefoil_control::{count, counted};
use trefoil_session::look::{self, Drawing, GraphReport, PartReport, Showing, StructureReport, Structured};
use trefoil_session::lts::Size;

use crate::arguments::{Common, Looking, Output, Picture, Reading};
use crate::run::{Answer, Destination, Run};
use crate::text::{cut, resources, table};

impl From<Looking> for look::Looking {
    fn from(looking: Looking) -> look::Looking {
        look::Looking {
            file: looking.file,
            expression: looking.expression,
            language: looking.language,
            compress_leaves: !looking.no_leaf_compression,
        }
    }
}

fn drawing(picture: Picture, format: Output) -> Drawing {
    Drawing {
        compression: picture.compress,
        direction: picture.direction,
        picture: match format {
            Output::Svg => Some("svg"),
            Output::Dot => Some("dot"),
            _ => None,
        },
        most: picture.max,
        around: picture.around,
        depth: picture.depth,
        data: format == Output::Json,
        output: picture.output,
    }
}

pub(crate) fn graph(looking: Looking, picture: Picture, common: Common) -> ExitCode {
    let drawing = drawing(picture, common.format);
    let mut run = Run::new("graph", common, Destination::Out);
    let files = [looking.file.display().to_string()];
    let task = looking.into();
    run.check(&files, |job| look::graph(&task, &drawing, job));
    run.finish()
}

pub(crate) fn draw(file: PathBuf, reading: Reading, picture: Picture, common: Common) -> ExitCode {
    let drawing = drawing(picture, common.format);
    let mut run = Run::new("lts draw", common, Destination::Out);
    let files = [file.display().to_string()];
    run.check(&files, |job| look::draw(&file, &reading.into(), &drawing, job));
    run.finish()
}

pub(crate) fn structure(looking: Looking, output: Option<PathBuf>, groups: bool, common: Common) -> ExitCode {
    let mut run = Run::new("structure", common, Destination::Out);
    let files = [looking.file.display().to_string()];
    let task = looking.into();
    let showing = if groups { Showing::Groups } else { Showing::Parts(output) };
    run.check(&files, |job| look::structure(&task, &showing, job));
    run.finish()
}

fn size(size: Size) -> String {
    format!("{}, {}", counted(size.states as u64, "state"), counted(size.transitions as u64, "transition"))
}

impl Answer for GraphReport {
    fn is_verbatim(&self) -> bool {
        self.picture.is_some()
    }

    fn text(&self, _colour: bool) -> String {
        if let Some(picture) = &self.picture {
            return picture.clone();
        }
        let mut rows = vec![("drawn", size(self.size))];
        rows.extend(self.explored.map(|explored| ("explored", size(explored))));
        rows.extend(self.output.clone().map(|output| ("written to", output)));
        rows.extend(resources(&self.resources));
        format!("{}\n{}", self.process, table(&rows))
    }
}

impl Answer for Structured {
    fn text(&self, _colour: bool) -> String {
        match self {
            Structured::Operators(report) => operators(report),
            Structured::Linear(report) => components::text(report),
            Structured::Groups(report) => declared::text(report),
        }
    }

    fn complaints(&self, colour: bool) -> &str {
        match self {
            Structured::Operators(_) | Structured::Groups(_) => "",
            Structured::Linear(report) => report.warnings.text(colour),
        }
    }
}

fn operators(report: &StructureReport) -> String {
    let mut text = format!("{} in {}\n", report.process, report.file);
    tree(report, &mut text);
    let mut rows = vec![
        (
            "components",
            format!("{}, {}", count(report.components as u64), counted(report.machines as u64, "distinct machine")),
        ),
        ("rules", rules(report.rules as u64, report.formats as u64)),
        ("visible labels", count(report.labels as u64)),
        ("upper bound of states", most_states(&report.state_bound)),
    ];
    rows.extend(report.output.clone().map(|output| ("picture", output)));
    rows.extend(resources(&report.resources));
    text.push_str(&table(&rows));
    text
}

/// An upper bound, with separators if it is a number.
fn most_states(bound: &str) -> String {
    bound.parse().map_or_else(|_| bound.to_string(), count)
}

/// The rules by which components synchronise; operators that steps change, such as `;`, have rules for each
/// arrangement.
fn rules(rules: u64, arrangements: u64) -> String {
    match arrangements {
        1 => count(rules),
        several => format!("{}, for {} arrangements of the operators", count(rules), count(several)),
    }
}

/// How many characters of a name are shown.
const LETTERS: usize = 60;
/// How far to the right a tree grows, in bytes.
const DEEPEST: usize = 200;

/// A part that is about to be written.
struct Line<'a> {
    part: usize,
    count: usize,
    names: &'a [String],
    /// What stands before its line, and before the lines below it.
    indents: (String, String),
}

/// The parts as a tree; a part that occurs again is shown once.
fn tree(report: &StructureReport, text: &mut String) {
    let mut waiting = vec![Line { part: report.root, count: 1, names: &[], indents: ("  ".into(), "  ".into()) }];
    let mut told = HashSet::new();
    while let Some(Line { part: number, count, names, indents }) = waiting.pop() {
        let part = &report.parts[number];
        let again = !told.insert(number);
        let _ = write!(text, "{}{}", indents.0, words(part, count, names));
        if again && !part.operands.is_empty() {
            text.push_str(" (shown above)\n");
            continue;
        }
        text.push('\n');
        for (at, operands) in part.operands.iter().enumerate().rev() {
            let last = at + 1 == part.operands.len();
            let (own, mut below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            if indents.1.len() > DEEPEST {
                // A chain of ten thousand operators stops growing to the right.
                below = "";
            }
            let indents = (format!("{}{own}", indents.1), format!("{}{below}", indents.1));
            waiting.push(Line { part: operands.part, count: operands.count, names: &operands.names, indents });
        }
    }
}

/// A part on one line.
fn words(part: &PartReport, times: usize, names: &[String]) -> String {
    let mut text = String::new();
    if times > 1 {
        let _ = write!(text, "{} × ", count(times as u64));
    }
    let mut called: Vec<String> = names.iter().map(|name| cut(name, LETTERS)).collect();
    if called.is_empty() {
        called.extend(part.name.as_ref().map(|name| cut(name, LETTERS)));
    }
    if !called.is_empty() {
        let more = if times > called.len() && called.len() > 1 { ", …" } else { "" };
        let _ = write!(text, "{}{more}: ", called.join(", "));
    }
    // A part that the script compresses is called by the function that does it.
    let function = part.compression.filter(|_| part.kind == "compressed");
    text.push_str(function.unwrap_or(part.kind));
    if let Some(events) = part.events {
        let _ = write!(text, " of {}", counted(events as u64, "event"));
    }
    if let (Some(before), Some(after)) = (part.before, part.after) {
        let _ = write!(text, ", ");
        match part.compression {
            Some(compression) if before != after => {
                let by = if function.is_some() { String::new() } else { format!(" ({compression})") };
                let _ = write!(
                    text,
                    "{} → {}, {} → {}{by}",
                    count(before.states as u64),
                    counted(after.states as u64, "state"),
                    count(before.transitions as u64),
                    counted(after.transitions as u64, "transition")
                );
            }
            _ => text.push_str(&size(after)),
        }
    }
    if let Some(labels) = part.labels {
        let _ = write!(text, ", {}", counted(labels as u64, "label"));
    }
    // Operands that look alike may be the same machine or different ones.
    if part.used.is_some_and(|used| used > 1 && used >= times && times > 1 && called.len() <= 1) {
        text.push_str(", the same machine");
    }
    text
}
