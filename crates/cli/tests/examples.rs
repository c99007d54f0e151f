//! The scripts in `examples/csp` and what they say is to be expected.
//!
//! Above every assertion stands `-- expect: holds` or `-- expect: fails, N events`: the verdict of the assertion as
//! written and the number of visible events in a shortest counterexample. Each script is run with other settings, so
//! that the answers do not depend on the number of threads, on the algorithm or on components being compressed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// An assertion's expectation, with its line.
struct Expectation {
    line: u64,
    holds: bool,
    events: Option<u64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp")
}

fn scripts() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of the examples");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "csp"));
    found.sort();
    found
}

fn expectations(path: &Path) -> Vec<Expectation> {
    let text = std::fs::read_to_string(path).expect("a script");
    // Assertions inside timed sections are indented.
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if !line.starts_with("assert ") {
            continue;
        }
        let place = format!("{}:{}", path.display(), at + 1);
        let said = lines[at - 1].strip_prefix("-- expect: ").unwrap_or_else(|| panic!("{place}: no expectation above"));
        let (holds, events) = match said.split_once(", ") {
            None => (said == "holds", None),
            Some((_, number)) => {
                let number = number.trim_end_matches(" events").trim_end_matches(" event");
                (false, Some(number.parse().unwrap_or_else(|_| panic!("{place}: `{said}`"))))
            }
        };
        assert!(holds || said.starts_with("fails"), "{place}: `{said}`");
        found.push(Expectation { line: at as u64 + 1, holds, events });
    }
    found
}

/// Runs all scripts with these options and gives what is not as expected.
fn surprises(options: &[&str]) -> Vec<String> {
    let mut surprises = Vec::new();
    for path in scripts() {
        let expected = expectations(&path);
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        let output = command.args(["check", "--format", "json", "--memory", "1G"]).args(options).arg(&path).output();
        let output = output.expect("the program runs");
        let told = String::from_utf8_lossy(&output.stderr);
        // An algorithm for refinement is refused where nothing is refined.
        if output.status.code() == Some(2) && told.starts_with("error: --algorithm") {
            let text = std::fs::read_to_string(&path).expect("a script");
            let refines = |line: &str| line.starts_with("assert") && line.contains("= ") && !line.contains(":[");
            assert!(!text.lines().any(refines), "{}: {told}", path.display());
            continue;
        }
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {told}", path.display()));
        let results = document["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{}: {told}", path.display()));
        assert_eq!(results.len(), expected.len(), "{}: {told}", path.display());
        for (result, expected) in results.iter().zip(&expected) {
            let Expectation { line, holds, events } = *expected;
            assert_eq!(result["place"]["line"].as_u64(), Some(line), "{}", path.display());
            let text = result["assertion_string"].as_str().unwrap_or_default();
            if options.contains(&"normal-form") && (text.contains(" [R= ") || text.contains(" [RD= ")) {
                assert!(result["errors"].to_string().contains("has no normal form"), "{}:{line}", path.display());
                continue;
            }
            let verdict = result["result"].as_u64();
            let length = result["witness"]["length"].as_u64();
            if verdict != Some(u64::from(holds)) || (events.is_some() && length != events) {
                surprises.push(format!(
                    "{}:{line}: {}\n  expected: {}{}\n  found: {}, witness of {length:?} events {}",
                    path.display(),
                    result["assertion_string"],
                    if holds { "holds" } else { "fails" },
                    events.map_or(String::new(), |events| format!(", {events} events")),
                    result["verdict"],
                    result["witness"]["trace"],
                ));
            }
        }
    }
    surprises
}

fn as_expected(options: &[&str]) {
    let surprises = surprises(options);
    assert!(surprises.is_empty(), "with {options:?}:\n{}", surprises.join("\n"));
}

#[test]
fn examples_give_what_they_say() {
    assert!(scripts().len() >= 24);
    as_expected(&[]);
}

#[test]
fn examples_give_the_same_on_one_thread_without_compression() {
    as_expected(&["--threads", "1", "--no-leaf-compression"]);
}

#[test]
fn examples_give_the_same_by_antichains() {
    as_expected(&["--algorithm", "antichain"]);
}

#[test]
fn examples_give_the_same_by_normal_forms() {
    as_expected(&["--algorithm", "normal-form", "--threads", "2"]);
}

#[test]
fn examples_give_the_same_without_symmetry() {
    as_expected(&["--symmetry", "off"]);
}
