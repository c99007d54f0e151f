//! `trefoil symmetry`: the symmetries of a script's assertions, for people.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use trefoil_control::{count, counted};
use trefoil_session::check::{PermutedKind, Script};
use trefoil_session::symmetry::{
    AssertionSymmetry, DatatypeSymmetry, SymmetryBreak, SymmetryOptions, SymmetryPicture, SymmetryReport, draw_groups,
};
use trefoil_session::{Resources, Verdict};

use crate::arguments::{Common, Symmetries};
use crate::check::runner::Choosing;
use crate::model_symmetry;
use crate::run::{Answer, Destination, Run};
use crate::terminal;
use crate::text::{cut, list, magnitude, resources, table};

/// How many reasons are shown for a type; the JSON has all.
const REASONS: usize = 6;

/// How many generators are shown for a group, and how many characters of each.
const GENERATORS: usize = 4;
const LETTERS: usize = 160;

pub(crate) fn run(arguments: &Symmetries, common: Common) -> ExitCode {
    if trefoil_session::check::language(&arguments.file, arguments.language) == Some("promela") {
        let for_scripts = [
            ("--only", !arguments.only.is_empty()),
            ("--text-only", arguments.text_only),
            ("--no-leaf-compression", arguments.no_leaf_compression),
        ];
        if let Some((option, _)) = for_scripts.into_iter().find(|(_, given)| *given) {
            let mut run = Run::new("symmetry", common, Destination::Out);
            run.misuse(&format!("{option} applies to CSPM scripts only"));
            return run.finish();
        }
        return model_symmetry::run(&arguments.file, arguments.output.as_deref(), common);
    }
    if let Some(why) = Choosing::refused(&arguments.only) {
        let mut run = Run::new("symmetry", common, Destination::Out);
        run.misuse(why);
        return run.finish();
    }
    let mut run = Run::new("symmetry", common, Destination::Out);
    let file = &arguments.file;
    let files = [file.display().to_string()];
    let options = SymmetryOptions { text_only: arguments.text_only, compress_leaves: !arguments.no_leaf_compression };
    let started = Instant::now();
    let Some(mut script) = run.prepare(&files, |job| Script::open(file, arguments.language, job)) else {
        return run.finish();
    };
    let choosing = Choosing::new(&arguments.only);
    let chosen: Vec<usize> =
        script.assertions().filter(|assertion| choosing.takes(assertion)).map(|assertion| assertion.index).collect();
    for text in choosing.never() {
        run.misuse(&format!("--only {text}"));
    }
    let assertions: Vec<AssertionSymmetry> =
        chosen.into_iter().map(|index| run.part(|job| script.symmetry(index, &options, job))).collect();
    let warnings = script.warnings().clone();
    let mut pictures = Vec::new();
    if let Some(output) = &arguments.output {
        match run.prepare(&files, |job| draw_groups(&files[0], &assertions, output, job)) {
            Some(written) if written.is_empty() => {
                terminal::say_err("no group was proved, so no picture was written\n");
            }
            Some(written) => pictures = written,
            None => return run.finish(),
        }
    }
    let resources = Resources::since(started);
    run.answer(&SymmetryReport { file: files[0].clone(), assertions, pictures, warnings, resources });
    run.finish()
}

impl Answer for SymmetryReport {
    fn verdict(&self) -> Verdict {
        if self.assertions.iter().any(|assertion| !assertion.diagnostics.is_empty()) {
            return Verdict::Error;
        }
        let unfinished = self.assertions.iter().any(|assertion| assertion.unfinished.is_some());
        if unfinished { Verdict::Unknown } else { Verdict::Holds }
    }

    fn text(&self, _colour: bool) -> String {
        let mut text = format!("{}\n", self.file);
        let width = self.assertions.last().map_or(1, |last| last.assertion.index.to_string().len());
        for assertion in &self.assertions {
            let _ = writeln!(text, "  {:>width$}  {}", assertion.assertion.index, assertion.assertion.assertion_string);
            let indent = " ".repeat(width + 4);
            text.push_str(&types(assertion, &indent));
            text.push_str(&proved(assertion, &indent));
        }
        if self.assertions.is_empty() {
            text.push_str("  no assertions\n");
        }
        for SymmetryPicture { file, assertions } in &self.pictures {
            let numbers: Vec<String> = assertions.iter().map(usize::to_string).collect();
            let word = if assertions.len() > 1 { "assertions" } else { "assertion" };
            let _ = writeln!(text, "  wrote the group of {word} {} to {file}", list(&numbers, ", "));
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
        let _ = writeln!(text, "{indent}the assertion uses no datatype with constants");
    }
    let width = assertion.types.iter().map(|of| of.name.chars().count()).max().unwrap_or(0);
    for of in &assertion.types {
        let _ = writeln!(text, "{indent}{:<width$}  {}", of.name, classes(of));
        text.push_str(&reasons(&of.reasons, &format!("{indent}  ")));
    }
    text
}

/// The group that was proved, and why it is not larger.
fn proved(assertion: &AssertionSymmetry, indent: &str) -> String {
    let mut text = String::new();
    if let Some(group) = &assertion.group {
        let order = magnitude(&group.order);
        let _ =
            writeln!(text, "{indent}proved on the compiled processes: the group {}, |G| = {order}", group.structure);
        for permuted in &group.permuted {
            let names = list(&permuted.names, ", ");
            let _ = match (permuted.kind, &permuted.datatype) {
                (PermutedKind::Constants, Some(datatype)) => {
                    writeln!(text, "{indent}  it has all permutations of the {datatype} constants {{{names}}}")
                }
                (PermutedKind::EqualComponents, _) => {
                    writeln!(text, "{indent}  it has all permutations of the equal components {names}")
                }
                _ => writeln!(text, "{indent}  it has symmetries of the network, which permute {names}"),
            };
        }
        for generator in group.generators.iter().take(GENERATORS) {
            let _ = writeln!(text, "{indent}  generator {}", cut(generator, LETTERS));
        }
        if group.generators.len() > GENERATORS {
            let more = counted((group.generators.len() - GENERATORS) as u64, "more generator");
            let _ = writeln!(text, "{indent}  … and {more}");
        }
        let _ = writeln!(text, "{indent}  strategy {}: {}", group.strategy, group.strategy_reason);
    } else if let Some(unfinished) = &assertion.unfinished {
        let _ = writeln!(text, "{indent}unknown: {} while {}", unfinished.reason, unfinished.phase);
    } else if assertion.reasons.is_empty() {
        return text;
    } else {
        let _ = writeln!(text, "{indent}proved on the compiled processes: no symmetry");
    }
    for reason in assertion.reasons.iter().take(REASONS) {
        let _ = writeln!(text, "{indent}  {reason}");
    }
    if assertion.reasons.len() > REASONS {
        let more = counted((assertion.reasons.len() - REASONS) as u64, "more reason");
        let _ = writeln!(text, "{indent}  … and {more}");
    }
    text
}

/// Which constants are interchangeable, on a line.
fn classes(of: &DatatypeSymmetry) -> String {
    let set = |constants: &Vec<String>| format!("{{{}}}", list(constants, ", "));
    let large: Vec<String> = of.classes.iter().filter(|class| class.len() > 1).map(set).collect();
    let constants = of.constants.len() as u64;
    let inside: usize = of.classes.iter().map(Vec::len).filter(|&size| size > 1).sum();
    match large.as_slice() {
        [] if of.constants.len() == 1 => "one constant".to_string(),
        [] => format!("the text distinguishes all of its {}", counted(constants, "constant")),
        _ if inside == of.constants.len() && large.len() == 1 => format!("symmetric: {}", large[0]),
        _ => format!(
            "symmetric in {}, {} of {}",
            list(&large, " and "),
            count(inside as u64),
            counted(constants, "constant")
        ),
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
        let _ = writeln!(text, "{indent}… and {}", counted((all.len() - REASONS) as u64, "more reason"));
    }
    text
}
