//! Claims about runs that never end through the command line: violations that lie deep, and budgets that end searches.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Five counters, and one that counts to 60 and then ends: 61 steps lie before the violation, and 40^5 states.
const DEEP: &str = "\
byte a, b, c, d, e, x; bool stuck;
active proctype A() { do :: a = (a + 1) % 40 od }
active proctype B() { do :: b = (b + 1) % 40 od }
active proctype C() { do :: c = (c + 1) % 40 od }
active proctype D() { do :: d = (d + 1) % 40 od }
active proctype E() { do :: e = (e + 1) % 40 od }
active proctype X() { do :: x < 60 -> x++ :: x == 60 -> stuck = 1; break od }
ltl p { <> stuck -> [] <> (x < 60) }
ltl never_stuck { [] !stuck }
ltl near { [] (x < 1 || d < 14) }
";

/// The violation of `p` begins where five counters are at 5; the model has more states than the memory has room for.
const WIDE: &str = "\
byte a, b, c, d, e; bool y, stuck;
active proctype A() { do :: a = (a + 1) % 50 od }
active proctype B() { do :: b = (b + 1) % 50 od }
active proctype C() { do :: c = (c + 1) % 50 od }
active proctype D() { do :: d = (d + 1) % 50 od }
active proctype E() { do :: e = (e + 1) % 50 od }
active proctype X() { a == 5 && b == 5 && c == 5 && d == 5 && e == 5 -> stuck = 1 }
active proctype Y() { do :: y = 1 - y od }
ltl p { [] <> !stuck }
ltl q { <> stuck -> <> [] (a < 50) }
";

/// The results of a check of all formulas with these options.
fn results(folder: &Path, options: &[&str]) -> Vec<Value> {
    results_of(folder, "ltl", options)
}

/// The results of a check of some claims.
fn results_of(folder: &Path, only: &str, options: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder).args(["check", "m.pml", "--only", only, "--symmetry", "off", "--format", "json"]);
    let output = command.args(options).env("NO_COLOR", "1").output().expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["runs"][0]["results"].as_array().expect("results").clone()
}

fn folder(model: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.pml"), model).expect("a model");
    folder
}

#[test]
fn a_walk_finds_what_lies_deep_and_finds_the_same_on_two_threads() {
    let folder = folder(DEEP);
    let on = |threads| ["--threads", threads, "--partial-order", "off"];
    let (one, two) = (results(folder.path(), &on("1")), results(folder.path(), &on("2")));
    for (one, two) in one.iter().zip(&two) {
        assert_eq!(one["verdict"], "fails", "{one}");
        assert!(one["visited_states"].as_u64().expect("a number") < 800_000, "{one}");
        assert_eq!(one["witness"], two["witness"]);
    }
    assert!(one[0]["visited_states"].as_u64().expect("a number") < 200_000, "{}", one[0]);
    // The search goes on behind the walk, to the next pause, and finds a shortest run where there is one.
    let steps = |one: &Value| one["witness"]["length"].as_u64().expect("a number");
    assert!(steps(&one[1]) >= 121, "{}", one[1]);
    assert_eq!(steps(&one[2]), 16, "{}", one[2]);
    // Each claim by itself has the same run.
    for (number, name) in [(1, "never_stuck"), (2, "near")] {
        let alone = results_of(folder.path(), name, &on("1"));
        assert_eq!((alone.len(), &alone[0]["witness"]), (1, &one[number]["witness"]));
    }
}

#[test]
fn what_a_walk_has_found_is_reported_when_a_budget_ends_the_search() {
    let folder = folder(DEEP);
    let options = ["--threads", "1", "--memory", "60M", "--partial-order", "off"];
    let results = results_of(folder.path(), "never_stuck", &options);
    assert_eq!(results[0]["verdict"], "fails", "{}", results[0]);
}

#[test]
fn what_was_searched_is_checked_when_the_memory_is_used_up() {
    let folder = folder(WIDE);
    // In one order of steps the violation is not among the first states.
    let options = ["--threads", "1", "--memory", "150M", "--partial-order", "off"];
    let results = results(folder.path(), &options);
    assert_eq!(results[0]["verdict"], "fails", "{}", results[0]);
    assert_eq!(results[1]["verdict"], "unknown", "{}", results[1]);
}

/// `a[i]` has no value in the last states, where `i` is 3.
const BEYOND: &str = "\
byte a[3] = 1; byte i; bool done;
active proctype P() { do :: i < 3 -> a[i] = 2; i++ :: else -> done = 1; break od }
ltl ends { <> done }
ltl guarded { [] (i < 3 -> a[i] > 0) }
ltl before { (a[i] > 0) U (i == 2) }
ltl all {
  [] (a[i] > 0) }
ltl either { ([] (a[i] > 0)) && ([] (i < 2)) }
never { do :: i < 3 :: a[i] == 7 -> break od }
";

#[test]
fn a_proposition_without_a_value_is_an_error_of_the_claims_that_look_at_it() {
    let folder = folder(BEYOND);
    for options in [&["--threads", "1"][..], &["--threads", "2", "--fairness", "weak"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        command.current_dir(folder.path()).args(["check", "m.pml", "--only", "ltl", "--only", "never"]).args(options);
        let output = command.env("NO_COLOR", "1").output().expect("the program starts");
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        for line in ["holds    ltl ends", "holds    ltl guarded", "holds    ltl before", "fails    ltl either"] {
            assert!(said.contains(line), "{line}\n{said}");
        }
        for line in ["error    ltl all", "error    never never_0"] {
            assert!(said.contains(line), "{line}\n{said}");
        }
        let all = "what the claim looks at has no value in a state that is reached: array index out of range";
        assert!(said.contains(all), "{said}");
        assert!(errors.contains("m.pml:7:6") && errors.contains("m.pml:9:24"), "{errors}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}
