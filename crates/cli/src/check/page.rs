//! `--report FILE`: everything about the answers as one file for browsers.
//!
//! The page is a static template beside this file (markup, style sheet, script, written by hand), with the JSON report
//! as data inside. It loads nothing: the texts of models, charts and groups are in it. Nothing of a model ever becomes
//! markup: data are JSON in which `<` is escaped, the script makes text nodes of them, and charts are images, in which
//! nothing runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use trefoil_session::check::{AssertionReport, RunReport, Script, language};
use trefoil_session::promela::model_symmetry;
use trefoil_session::symmetry::SymmetryOptions;

use super::results::{found, sentence};
use crate::run::Jobs;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// A file with more text than this is not shown.
const MOST_TEXT: u64 = 4_000_000;

/// Refuses a name that promises another kind of file.
pub(crate) fn refused(file: &Path) -> Option<String> {
    let html = file.extension().is_some_and(|extension| ["html", "htm"].iter().any(|known| extension == *known));
    (!html).then(|| format!("a report is not written as {}; name the file .html", file.display()))
}

/// The page with the reports of all files, whose document as JSON is given.
pub(crate) fn page(
    document: &str,
    reports: &[RunReport],
    files: &[PathBuf],
    chosen_language: Option<&'static str>,
    jobs: &Jobs,
) -> String {
    let per_answer = |of: &mut dyn FnMut(usize, &RunReport, &AssertionReport) -> Value| -> Value {
        let runs = reports.iter().enumerate();
        runs.map(|(at, report)| report.results.iter().map(|answer| of(at, report, answer)).collect::<Vec<Value>>())
            .collect()
    };
    let sentences = per_answer(&mut |_, _, answer| json!(sentence(answer)));
    let charts = per_answer(&mut |_, report, answer| {
        let caption = |evidence| format!("{}: {}", report.file_name, found(evidence));
        json!(answer.witness.as_ref().and_then(|evidence| evidence.chart(&caption(evidence))))
    });
    let groups: Vec<BTreeMap<usize, Value>> =
        reports.iter().zip(files).map(|(report, file)| groups(report, file, chosen_language, jobs)).collect();
    let symmetry = per_answer(&mut |at, _, answer| {
        let own = groups.get(at).and_then(|groups| groups.get(&answer.assertion.index));
        own.cloned().unwrap_or_default()
    });
    let texts: BTreeMap<String, String> =
        places(reports).into_iter().filter_map(|file| text(&file).map(|text| (file, text))).collect();
    let data = format!(
        "{{\"document\":{document},\"sentences\":{sentences},\"charts\":{charts},\"symmetry\":{symmetry},\"sources\":{}}}",
        json!(texts)
    );
    // Inside a script element only `<` could end it; in JSON it stands in texts alone.
    let data = data.replace('<', "\\u003c");
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let (before, rest) = PAGE.split_once("@STYLE@").expect("the template has a place for the style sheet");
    let (between, rest) = rest.split_once("@DATA@").expect("the template has a place for the data");
    let (script, after) = rest.split_once("@SCRIPT@").expect("the template has a place for the script");
    for part in [before, STYLE, between, &data, script, SCRIPT, after] {
        page.push_str(part);
    }
    page
}

/// The symmetries of each assertion, by its number: generators, and what prevents more.
fn groups(
    report: &RunReport,
    file: &Path,
    chosen_language: Option<&'static str>,
    jobs: &Jobs,
) -> BTreeMap<usize, Value> {
    let value = |told: Result<Value, serde_json::Error>| told.expect("reports are plain data");
    let mut found = BTreeMap::new();
    let none = |why: &str| -> BTreeMap<usize, Value> {
        report.results.iter().map(|answer| (answer.assertion.index, json!({ "none": why }))).collect()
    };
    if file.as_os_str() == "-" || report.results.iter().any(|answer| answer.assertion.kind.is_formula()) {
        return match report.results.iter().any(|answer| answer.symmetry.is_some()) {
            true => found,
            false => none("formulas about labels are decided on the whole system"),
        };
    }
    match language(file, chosen_language) {
        Some("promela") => {
            let job = jobs.start();
            if let Ok(told) = model_symmetry(file, None, &job) {
                let told = value(serde_json::to_value(told));
                found.extend(report.results.iter().map(|answer| (answer.assertion.index, told.clone())));
            }
            jobs.answered();
        }
        Some("cspm") => {
            let job = jobs.start();
            let script = Script::open(file, chosen_language, &job);
            jobs.answered();
            let Ok(mut script) = script else { return found };
            let options = SymmetryOptions { text_only: false, compress_leaves: true };
            for answer in &report.results {
                let job = jobs.start();
                let told = script.symmetry(answer.assertion.index, &options, &job);
                jobs.answered();
                found.insert(answer.assertion.index, value(serde_json::to_value(told)));
            }
        }
        Some("mcrl2") => {
            let why = "not searched: the processes of a specification become one linear process, whose parameters and \
                       summands are not compared with each other";
            return none(why);
        }
        _ => return none("not searched: a system in a file has no components"),
    }
    found
}

/// The files that steps of counterexamples and assertions stand in.
fn places(reports: &[RunReport]) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for answer in reports.iter().flat_map(|report| &report.results) {
        files.insert(answer.assertion.place.file.clone());
        let Some(evidence) = &answer.witness else { continue };
        for step in evidence.runs.iter().flat_map(|run| run.steps.iter().chain(&run.cycle)) {
            let places = step.place.iter().chain(step.parts.iter().filter_map(|part| part.place.as_ref()));
            for place in places {
                if !files.contains(&place.file) {
                    files.insert(place.file.clone());
                }
            }
        }
    }
    files
}

/// A text file, if it can be read and is not too large.
fn text(file: &str) -> Option<String> {
    let size = std::fs::metadata(file).ok().filter(|data| data.is_file())?.len();
    let bytes = (size <= MOST_TEXT).then(|| std::fs::read(file).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_an_html_file() {
        assert!(refused(Path::new("a.html")).is_none() && refused(Path::new("a.htm")).is_none());
        assert!(refused(Path::new("a.svg")).is_some() && refused(Path::new("a")).is_some());
    }

    #[test]
    fn the_template_has_every_place_once_and_names_no_host() {
        for place in ["@STYLE@", "@DATA@", "@SCRIPT@"] {
            assert_eq!(PAGE.matches(place).count(), 1, "{place}");
        }
        for part in [PAGE, STYLE, SCRIPT] {
            assert!(!part.contains("https:") && !part.contains("@import") && !part.contains("innerHTML"));
            assert!(!part.replace("http://www.w3.org/2000/svg", "").contains("http:"));
        }
    }
}
