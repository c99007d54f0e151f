//! `refines` as programs written around FDR's command see it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const SCRIPT: &str = "\
channel a, b, c
COPY = a -> b -> COPY
WRONG = a -> (c -> b -> c -> STOP) \\ {b}
assert COPY [T= WRONG
assert COPY [T= COPY
assert WRONG :[deadlock free [F]]
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.csp"), SCRIPT).expect("a file");
    std::fs::write(folder.path().join("bad.csp"), "P = x -> STOP\nassert P [T= P\n").expect("a file");
    folder
}

fn refines(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refines"));
    told(&command.current_dir(folder.path()).args(arguments).output().expect("the program runs"))
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

/// What a railway editor does with the plain answers: it looks for these lines, trimmed.
#[test]
fn plain_answers_can_be_grepped() {
    let folder = folder();
    let (code, out, err) = refines(&folder, &["script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""), "an assertion that fails is an answer\n{out}");
    let trimmed: Vec<&str> = out.lines().map(str::trim).collect();
    let count = |line: &str| trimmed.iter().filter(|other| **other == line).count();
    assert_eq!((count("Result: Passed"), count("Result: Failed")), (1, 2), "{out}");
    assert_eq!(trimmed.iter().filter(|line| line.starts_with("Visited States: ")).count(), 3);
    let from = trimmed.iter().position(|line| *line == "Implementation Debug:").expect("a counterexample");
    assert_eq!(trimmed[from + 1..from + 4], ["WRONG (Trace Behaviour):", "Trace: <a>", "Error Event: c"]);
    assert_eq!(trimmed[from - 3..from], ["Specification Debug:", "Trace: <a>", "Available Events: {b}"]);
    assert!(out.contains("Counterexample (Deadlock Counterexample)") && out.contains("Trace: <a, c, τ, c>"), "{out}");
}

/// What two programs do with the JSON: run quietly, take any word on standard error or any exit code but 0 for a
/// failure, read one line, and look events up by number.
#[test]
fn json_is_one_line_with_numbered_events() {
    let folder = folder();
    let (code, out, err) = refines(&folder, &["script.csp", "--format=json", "--q", "--reveal-taus"]);
    assert_eq!((code, err.as_str(), out.lines().count()), (0, "", 1));
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let names = |numbers: &Value| -> Vec<String> {
        let numbers = numbers.as_array().expect("numbers");
        numbers.iter().map(|number| run["event_map"][number.to_string()].as_str().expect("a name").into()).collect()
    };
    let passed: Vec<bool> =
        run["results"].as_array().expect("results").iter().map(|result| result["result"] == 1).collect();
    assert_eq!(passed, [false, true, false]);
    let found = &run["results"][2]["counterexamples"][0];
    assert_eq!(found["type"], "deadlock");
    assert_eq!(names(&found["implementation_behaviour"]["trace"]), ["a", "c", "τ", "c"]);
    assert_eq!(names(&found["implementation_behaviour"]["revealed_trace"]), ["a", "c", "b", "c"]);
    let (_, out, _) = refines(&folder, &["--format", "framed_json", "script.csp"]);
    assert_eq!(out.lines().count(), 3);
    // Builds with tests hold the documents against their schema.
    for line in out.lines() {
        let document: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&document["schema"], &document["command"]), (&1.into(), &"refines".into()));
    }
}

#[test]
fn what_is_not_known_is_warned_about_and_the_rest_works() {
    let folder = folder();
    let (code, out, err) = refines(&folder, &["--archive", "somewhere", "--brief", "script.csp", "--nonsense"]);
    assert_eq!(code, 0);
    assert_eq!(err.matches("warning: ignoring the unknown option").count(), 2, "{err}");
    assert!(out.contains("Result: Failed") && !out.contains("Counterexample"), "{out}");
    let (code, out, err) = refines(&folder, &["--quiet", "--nonsense", "script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("Result: Passed"));
}

#[test]
fn types_can_be_checked_alone_and_mistakes_exit_with_2() {
    let folder = folder();
    let (code, out, _) = refines(&folder, &["--typecheck", "script.csp"]);
    assert_eq!((code, out.contains("Result")), (0, false));
    let (code, out, err) = refines(&folder, &["bad.csp"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("bad.csp:1"), "{err}");
    let (code, out, _) = refines(&folder, &["--format=json", "-q", "bad.csp"]);
    assert_eq!(code, 2);
    let run: Value = serde_json::from_str(&out).expect("JSON");
    assert!(!run["errors"].as_array().expect("errors").is_empty());
}

#[test]
fn it_reads_standard_input_and_is_a_command_of_trefoil_too() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trefoil"))
        .current_dir(folder.path())
        .args(["refines", "--format", "yaml", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("an input").write_all(SCRIPT.as_bytes()).expect("it reads");
    let (code, out, _) = told(&child.wait_with_output().expect("the program ends"));
    assert_eq!(code, 0);
    assert!(out.starts_with("---\nfile_name: \"-\"\n") && out.contains("    result: 1\n"), "{out}");
    let (code, out, _) = refines(&folder, &["--format", "xml", "script.csp"]);
    assert_eq!(code, 0);
    assert!(out.contains("<assertion_string>COPY [T= WRONG</assertion_string>"), "{out}");
    let (code, out, _) = refines(&folder, &["--help"]);
    assert_eq!((code, out.contains("--reveal-taus")), (0, true));
}
