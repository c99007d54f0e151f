//! `trefoil symmetry`: the symmetries of a script's assertions, for people.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use trefoil_session::Verdict;
use trefoil_session::symmetry::{self, AssertionSymmetry, DatatypeSymmetry, SymmetryBreak, SymmetryReport};

use crate::arguments::Common;
use crate::run::{Answer, Destination, Run};
use crate::text::{count, list, resources, table};

/// How many reasons are shown for a type; the JSON has all of them.
const REASONS: usize = 6;

pub(crate) fn run(file: &Path, language: Option<&'static str>, common: Common) -> ExitCode {
    let mut run = Run::new("symmetry", common, Destination::Out);
    run.check(&[file.display().to_string()], |job| symmetry::symmetry(file, language, job));
    run.finish()
}

impl Answer for SymmetryReport {
    fn verdict(&self) -> Verdict {
        let wrong = self.assertions.iter().any(|assertion| !assertion.diagnostics.is_empty());
        if wrong { Verdict::Error } else { Verdict::Holds }
    }

    fn text(&self, _colour: bool) -> String {
        let mut text = format!("{}\n", self.file);
        let width = self.assertions.last().map_or(1, |last| last.assertion.index.to_string().len());
        for assertion in &self.assertions {
            let _ = writeln!(text, "  {:>width$}  {}", assertion.assertion.index, assertion.assertion.assertion_string);
            text.push_str(&types(assertion, &" ".repeat(width + 4)));
        }
        if self.assertions.is_empty() {
            text.push_str("  no assertions\n");
        }
        text.push_str(&table(&resources(&self.resources)));
        text
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}

fn types(assertion: &AssertionSymmetry, indent: &str) -> String {
    let mut text = String::new();
    for wrong in &assertion.diagnostics {
        let _ = writeln!(text, "{indent}error: {} [{}]", wrong.message, wrong.code);
    }
    if assertion.types.is_empty() {
        let _ = writeln!(text, "{indent}it reaches no datatype with constants");
    }
    let width = assertion.types.iter().map(|of| of.name.chars().count()).max().unwrap_or(0);
    for of in &assertion.types {
        let _ = writeln!(text, "{indent}{:<width$}  {}", of.name, classes(of));
        text.push_str(&reasons(&of.reasons, &format!("{indent}  ")));
    }
    text
}

/// Which constants are interchangeable, on a line.
fn classes(of: &DatatypeSymmetry) -> String {
    let set = |constants: &Vec<String>| format!("{{{}}}", list(constants, ", "));
    let large: Vec<String> = of.classes.iter().filter(|class| class.len() > 1).map(set).collect();
    let inside: usize = of.classes.iter().map(Vec::len).filter(|&size| size > 1).sum();
    match large.as_slice() {
        [] if of.constants.len() == 1 => "one constant".to_string(),
        [] => format!("not symmetric, {} constants", count(of.constants.len() as u64)),
        _ if inside == of.constants.len() && large.len() == 1 => format!("symmetric: {}", large[0]),
        _ => format!("symmetric in {}, {} of {} constants", list(&large, " and "), inside, of.constants.len()),
    }
}

/// A reason with its place.
pub(crate) fn reason(found: &SymmetryBreak) -> String {
    match (found.place.line, found.place.column) {
        (Some(line), Some(column)) => format!("{} ({}:{line}:{column})", found.reason, found.place.file),
        _ => found.reason.clone(),
    }
}

/// Reasons, a line each.
pub(crate) fn reasons(all: &[SymmetryBreak], indent: &str) -> String {
    let mut text = String::new();
    for found in all.iter().take(REASONS) {
        let _ = writeln!(text, "{indent}{}", reason(found));
    }
    if all.len() > REASONS {
        let _ = writeln!(text, "{indent}… and {} more", count((all.len() - REASONS) as u64));
    }
    text
}
