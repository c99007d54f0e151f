//! Symmetry reduction agrees with itself and with doing without: every example, every strategy.
//!
//! The numbers of states without reduction are what the representatives of exact strategies have to stand for; verdicts
//! and the lengths of counterexamples are the same whatever is reduced.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp");
    let entries = std::fs::read_dir(folder).expect("the folder of the examples");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "csp"));
    found.sort();
    found
}

/// The answers to a script's assertions.
fn answers(path: &Path, options: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.args(["check", "--format", "json", "--memory", "1G"]).args(options).arg(path).output();
    let output = output.expect("the program runs");
    let told = String::from_utf8_lossy(&output.stderr);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {told}", path.display()));
    document["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{}: {told}", path.display())).clone()
}

/// The order of the group that made it smaller; 1 when none did.
fn order(answer: &Value) -> f64 {
    answer["symmetry"]["order"].as_str().map_or(1.0, |order| order.parse().expect("a number"))
}

/// Enumerating is for small groups.
const FEW: f64 = 1_000.0;

#[test]
fn every_strategy_agrees_with_doing_without() {
    let (mut reduced, mut exact) = (0, 0);
    for path in examples() {
        let chosen = answers(&path, &[]);
        let greatest = chosen.iter().map(order).fold(1.0, f64::max);
        if greatest == 1.0 {
            continue;
        }
        let without = answers(&path, &["--symmetry", "off"]);
        let name = path.display();
        for strategy in
            ["auto", "canonical", "ordering", "sorted", "segmented", "enumerate", "fast", "stabiliser", "hillclimbing"]
        {
            if matches!(strategy, "enumerate" | "segmented" | "stabiliser") && greatest > FEW {
                continue;
            }
            for (with, without) in answers(&path, &["--strategy", strategy]).iter().zip(&without) {
                let what = format!("{name}: {} by {strategy}", with["assertion_string"]);
                assert_eq!(with["verdict"], without["verdict"], "{what}");
                assert_eq!(with["witness"]["length"], without["witness"]["length"], "{what}");
                if order(with) > 1.0 {
                    reduced += 1;
                    if let Some(total) = with["symmetry"]["total_states"].as_str() {
                        exact += 1;
                        assert_eq!(
                            Some(total.parse().expect("a number")),
                            without["visited_states"].as_u64(),
                            "{what}"
                        );
                    }
                }
            }
        }
    }
    assert!(reduced > 60 && exact > 30, "too little is symmetric: {reduced}, {exact}");
}

#[test]
fn without_leaf_compression_exact_strategies_keep_the_same_number() {
    let mut compared = 0;
    for path in examples() {
        let options = ["--no-leaf-compression", "--strategy"];
        let canonical = answers(&path, &[&options[..], &["canonical"]].concat());
        if canonical.iter().all(|answer| order(answer) == 1.0 || order(answer) > FEW) {
            continue;
        }
        let segmented = answers(&path, &[&options[..], &["segmented"]].concat());
        for (one, other) in canonical.iter().zip(&segmented) {
            let both = one["verdict"] == "holds" && other["verdict"] == "holds" && order(one) > 1.0;
            if both && order(one) <= FEW {
                compared += 1;
                let what = format!("{}: {}", path.display(), one["assertion_string"]);
                assert_eq!(one["visited_states"], other["visited_states"], "{what}");
            }
        }
    }
    assert!(compared > 5, "too little is symmetric: {compared}");
}

#[test]
fn the_stack_has_the_known_numbers_of_orbits() {
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchsuite/csp/generate");
    for (size, orbits, states) in
        [(["2", "2", "2"], 210, 1_512), (["3", "2", "2"], 458, 9_432), (["3", "3", "2"], 1_104, 54_064)]
    {
        let script = Command::new(&generator).arg("stack").args(size).output().expect("the generator runs");
        let path = std::env::temp_dir().join(format!("trefoil-stack-{}-{}.csp", size.concat(), std::process::id()));
        std::fs::write(&path, &script.stdout).expect("a script");
        let answer = &answers(&path, &[])[0];
        std::fs::remove_file(&path).expect("it was there");
        assert_eq!(answer["verdict"], "holds");
        assert_eq!(answer["visited_states"].as_u64(), Some(orbits), "{size:?}");
        assert_eq!(answer["symmetry"]["total_states"], states.to_string(), "{size:?}");
    }
}
