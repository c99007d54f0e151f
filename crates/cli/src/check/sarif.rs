//! Answers as SARIF 2.1.0, which code scanners read: a result for each assertion that does not hold, at its place, with
//! the counterexample as a code flow ([`flow`]).

mod flow;

use serde::Serialize;
use trefoil_session::check::{AssertionReport, RunReport};
use trefoil_session::{DiagnosticReport, Verdict};

use super::{explain, results};

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
struct Run {
    tool: Tool,
    results: Vec<Finding>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: String,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<flow::CodeFlow>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<Physical>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
}

/// The rules that are always there; diagnostics add their codes.
const RULES: &[(&str, &str)] = &[
    ("assertion-fails", "An assertion does not hold"),
    ("assertion-unknown", "The verdict of an assertion is unknown: a budget ran out, or the user interrupted"),
    ("assertion-error", "An assertion could not be evaluated"),
];

/// The document.
pub(crate) fn document(reports: &[RunReport]) -> String {
    let mut findings = Vec::new();
    for report in reports {
        findings.extend(report.diagnostics.iter().map(said));
        for answer in &report.results {
            if answer.diagnostics.is_empty() {
                findings.extend(finding(answer));
            } else {
                findings.extend(answer.diagnostics.iter().map(said));
            }
        }
    }
    let rule = |&(id, text): &(&'static str, &str)| Rule { id, short_description: Message { text: text.to_string() } };
    let driver =
        Driver { name: "trefoil", version: env!("CARGO_PKG_VERSION"), rules: RULES.iter().map(rule).collect() };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run { tool: Tool { driver }, results: findings }],
    };
    serde_json::to_string_pretty(&log).expect("findings are plain data") + "\n"
}

fn finding(answer: &AssertionReport) -> Option<Finding> {
    let (rule, level) = match answer.verdict {
        Verdict::Holds => return None,
        Verdict::Fails => ("assertion-fails", "error"),
        Verdict::Unknown => ("assertion-unknown", "warning"),
        Verdict::Error => ("assertion-error", "error"),
    };
    let place = &answer.assertion.place;
    let text = match answer.verdict {
        Verdict::Fails => explain::explanation(answer, false),
        _ => format!("{}: {}", answer.assertion.assertion_string, results::sentence(answer).unwrap_or_default()),
    };
    Some(Finding {
        rule_id: rule.to_string(),
        level,
        message: Message { text },
        locations: vec![location(&place.file, place.line, place.column)],
        code_flows: answer.witness.as_ref().map(flow::flows).unwrap_or_default(),
    })
}

fn said(diagnostic: &DiagnosticReport) -> Finding {
    Finding {
        rule_id: diagnostic.code.clone(),
        level: if diagnostic.severity == "error" { "error" } else { "warning" },
        message: Message { text: diagnostic.message.clone() },
        locations: diagnostic
            .places
            .iter()
            .take(1)
            .map(|place| location(&place.file, place.line, place.column))
            .collect(),
        code_flows: Vec::new(),
    }
}

fn location(file: &str, line: Option<usize>, column: Option<usize>) -> Location {
    let region = line.map(|start_line| Region { start_line, start_column: column });
    let physical = Physical { artifact_location: Artifact { uri: uri(file) }, region };
    Location { physical_location: Some(physical), message: None }
}

/// A file's name as a relative or absolute reference.
fn uri(file: &str) -> String {
    let mut text = String::with_capacity(file.len());
    for byte in file.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    if text.starts_with('/') { format!("file://{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    #[test]
    fn what_does_not_hold_is_found_at_its_place() {
        let document: serde_json::Value = serde_json::from_str(&document(&[samples::run()])).expect("JSON");
        let found = document["runs"][0]["results"].as_array().expect("results");
        let rules: Vec<&str> = found.iter().filter_map(|finding| finding["ruleId"].as_str()).collect();
        assert_eq!(rules, ["assertion-fails", "assertion-fails", "assertion-unknown", "S004"]);
        let place = &found[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "sample.csp");
        assert_eq!(place["region"]["startLine"], 12);
    }

    #[test]
    fn names_become_references() {
        assert_eq!(uri("a b.csp"), "a%20b.csp");
        assert_eq!(uri("/tmp/x.csp"), "file:///tmp/x.csp");
    }
}
