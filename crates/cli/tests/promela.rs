//! Promela models through the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela")
}

fn trefoil(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trefoil")).args(arguments).output().expect("trefoil runs")
}

fn results(file: &Path, options: &[&str]) -> Vec<Value> {
    let file = file.to_string_lossy();
    let mut arguments = vec!["check", &*file, "--format", "json"];
    arguments.extend(options);
    let document: Value = serde_json::from_slice(&trefoil(&arguments).stdout).expect("JSON");
    document["runs"][0]["results"].as_array().cloned().unwrap_or_default()
}

#[test]
fn every_example_has_its_numbers_and_its_verdict() {
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a model");
        let line = text.lines().find_map(|line| line.strip_prefix("/* expect: ")).expect("an expectation");
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let unreduced = ["--symmetry", "off", "--partial-order", "off", "--keep-going"];
        let answers = results(&path, &unreduced);
        assert!(answers.len() >= 2, "{}", path.display());
        assert_eq!(answers[0]["visited_states"], numbers[0], "{}", path.display());
        assert_eq!(answers[0]["visited_transitions"], numbers[1], "{}", path.display());
        let fails = answers.iter().any(|answer| answer["verdict"] == "fails");
        assert_eq!(fails, numbers[2] > 0, "{}", path.display());
        // Without going on, and with other threads, the counterexamples have the same lengths.
        for (answer, other) in answers.iter().zip(results(&path, &["--threads", "2"])) {
            assert_eq!(answer["verdict"], other["verdict"], "{}", path.display());
            assert_eq!(answer["witness"]["length"], other["witness"]["length"], "{}", path.display());
        }
    }
}

#[test]
fn a_counterexample_is_shown_step_by_step() {
    let file = folder().join("philosophers.pml");
    let output = trefoil(&["check", &file.to_string_lossy(), "--explain", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("invalid end state after 4 steps"), "{text}");
    assert!(text.contains("fork_taken[3] = 1"), "{text}");
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    let file = folder().join("traffic_light.pml");
    let file = file.to_string_lossy();
    let output = trefoil(&["check", &file, "--only", "never_both"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("S004"));
    let output = trefoil(&["check", &file, "--partial-order"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no partial-order reduction for Promela"));
    assert_eq!(trefoil(&["check", &file, "--symmetry", "full"]).status.code(), Some(2));
    let output = trefoil(&["graph", &file, "P"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("CSPM scripts only"), "{output:?}");
}
