//! `trefoil group` and `trefoil automorphisms`: from arguments to jobs, and their answers for people.

use std::path::Path;
use std::process::ExitCode;

use trefoil_control::{count, counted};
use trefoil_session::Verdict;
use trefoil_session::groups::{self, AutomorphismsReport, GroupFigures, GroupReport, StructureWords};

use crate::arguments::Common;
use crate::run::{Answer, Destination, Run};
use crate::text::{list, magnitude, resources, table};

/// Characters up to which the structure is shown with its points.
const MOST_ON_POINTS: usize = 400;

pub(crate) fn group(generators: &[String], stabilise: Option<&str>, common: Common) -> ExitCode {
    let mut run = Run::new("group", common, Destination::Out);
    let is_file = |argument: &&String| groups::is_file_of_generators(argument);
    let files: Vec<String> = generators.iter().filter(is_file).cloned().collect();
    run.check(&files, |job| groups::group(generators, stabilise, job));
    run.finish()
}

pub(crate) fn automorphisms(file: &Path, labels: bool, common: Common) -> ExitCode {
    let mut run = Run::new("automorphisms", common, Destination::Out);
    run.check(&[file.display().to_string()], |job| groups::automorphisms(file, labels, job));
    run.finish()
}

impl Answer for GroupReport {
    fn verdict(&self) -> Verdict {
        GroupReport::verdict(self)
    }

    fn text(&self, _colour: bool) -> String {
        let mut rows = vec![("degree", count(self.group.degree as u64))];
        rows.extend(figures(&self.group));
        rows.extend(unfinished(self.stopped.as_deref()));
        rows.extend(resources(&self.resources));
        let mut text = format!("{}\n{}", shortened(&list(&self.generators, " ")), table(&rows));
        if let Some(stabiliser) = &self.stabiliser {
            let cells: Vec<String> = stabiliser.cells.iter().map(|cell| set(cell)).collect();
            let mut rows = figures(&stabiliser.group);
            rows.push(("generators", generators(&stabiliser.generators)));
            text.push_str(&format!("stabiliser of {}\n{}", list(&cells, "|"), table(&rows)));
        }
        text
    }
}

fn figures(group: &GroupFigures) -> Vec<(&'static str, String)> {
    let moved: Vec<String> = group.orbits.iter().filter(|orbit| orbit.len() > 1).map(|orbit| set(orbit)).collect();
    let fixed = group.orbits.len() - moved.len();
    // Many factors are only counted; the JSON has the points they act on.
    let on_points = &group.structure_on_points;
    let many = on_points.chars().count() > MOST_ON_POINTS && group.structure.structure.len() < on_points.len();
    let words = if many { &group.structure.structure } else { on_points };
    vec![
        ("order", number(&group.order)),
        ("structure", structure(words, &group.structure)),
        ("orbits", orbits(&moved, fixed, "point")),
    ]
}

/// The words, and why some are missing.
fn structure(words: &str, structure: &StructureWords) -> String {
    match &structure.structure_unknown {
        None => shortened(words),
        Some(reason) if words.ends_with(reason) => shortened(words),
        Some(reason) => format!("{} ({reason})", shortened(words)),
    }
}

/// The row of an incomplete answer.
fn unfinished(stopped: Option<&str>) -> Option<(&'static str, String)> {
    stopped.map(|reason| ("stopped", format!("{reason}; the figures above are right, missing ones are unknown")))
}

impl Answer for AutomorphismsReport {
    fn verdict(&self) -> Verdict {
        AutomorphismsReport::verdict(self)
    }

    fn text(&self, _colour: bool) -> String {
        let colours =
            |number: usize| if number > 1 { format!(", {}", counted(number as u64, "colour")) } else { String::new() };
        let direction = if self.directed { "directed" } else { "undirected" };
        let shown = |orbit: &Vec<String>| {
            let names: Vec<String> = orbit.iter().map(|name| groups::quoted(name)).collect();
            format!("{{{}}}", list(&names, ","))
        };
        let moved: Vec<String> = self.orbits.iter().filter(|orbit| orbit.len() > 1).map(shown).collect();
        let fixed = self.orbits.len() - moved.len();
        let edges = format!("{}, {direction}{}", count(self.edges as u64), colours(self.edge_colours));
        let mut rows = vec![
            ("vertices", format!("{}{}", count(self.vertices as u64), colours(self.vertex_colours))),
            ("edges", edges),
            ("automorphisms", number(&self.order)),
            ("structure", structure(&self.structure.structure, &self.structure)),
            ("generators", generators(&self.generators)),
            ("orbits", orbits(&moved, fixed, "vertex")),
        ];
        if self.labels_ignored {
            rows.push(("note", "the labels of vertices were ignored; --labels takes them for colours".to_string()));
        }
        rows.extend(unfinished(self.stopped.as_deref()));
        rows.extend(resources(&self.resources));
        format!("{}\n{}", self.file, table(&rows))
    }
}

fn generators(generators: &[String]) -> String {
    if generators.is_empty() { "none".to_string() } else { shortened(&list(generators, " ")) }
}

/// The orbits that move, and how many points do not.
fn orbits(moved: &[String], fixed: usize, what: &str) -> String {
    let fixed = if fixed == 0 { String::new() } else { counted(fixed as u64, &format!("fixed {what}")) };
    let moving = shortened(&list(moved, " "));
    match (moved.is_empty(), fixed.is_empty()) {
        (true, true) => "none".to_string(),
        (true, false) => fixed,
        (false, true) => moving,
        (false, false) => format!("{moving} and {fixed}"),
    }
}

fn set(points: &[u32]) -> String {
    let words: Vec<String> = points.iter().map(ToString::to_string).collect();
    format!("{{{}}}", list(&words, ","))
}

/// A number of many digits, or its first digits and how many it has.
fn number(digits: &str) -> String {
    const SHOWN: usize = 60;
    if digits.len() > SHOWN {
        return format!("{} ({})", magnitude(digits), counted(digits.len() as u64, "digit"));
    }
    trefoil_control::digits(digits)
}

/// A text that fits a screen; a longer one loses its middle, which the JSON has.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 1200;
    let length = text.chars().count();
    if length <= SHOWN {
        return text.to_string();
    }
    let head: String = text.chars().take(SHOWN / 2).collect();
    let tail: String = text.chars().skip(length - SHOWN / 2).collect();
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_and_texts_are_shortened() {
        assert_eq!(number("432"), "432");
        assert_eq!(number("43252003274489856000"), "43,252,003,274,489,856,000");
        assert_eq!(number(&"1234567890".repeat(10)), "1.23 × 10^99 (100 digits)");
        assert_eq!(shortened("short"), "short");
        assert!(shortened(&"é".repeat(5000)).chars().count() < 1300);
    }

    #[test]
    fn fixed_points_are_counted() {
        assert_eq!(orbits(&["{1,2}".into()], 1, "point"), "{1,2} and 1 fixed point");
        assert_eq!(orbits(&[], 3, "vertex"), "3 fixed vertices");
        assert_eq!(orbits(&["{a,b}".into()], 0, "vertex"), "{a,b}");
    }
}
