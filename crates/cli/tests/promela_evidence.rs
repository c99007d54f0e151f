//! Evidence about Promela models through the command line: trails, charts, steps by hand, searches that keep no states.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const MODEL: &str = "\
mtype = { ask, answer };
chan wire = [0] of { mtype, byte };
chan line = [2] of { byte };
byte total;
proctype worker(byte n) {
    atomic { total = total + n; printf(\"worker %d of %d\\n\", n, _pid); line!n }
}
active proctype server() {
    byte got;
    wire?ask, got;
    d_step { total = got; got = 0 }
}
init {
    wire!ask(3);
    run worker(4);
    line?_;
    assert(total == 7 && false)
}
";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.pml"), MODEL).expect("a model");
    folder
}

fn trefoil(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that refuses at once does not read, and may be gone already.
    let _ = child.stdin.take().expect("an input").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn every_statement_of_an_atomic_sequence_is_told_as_spin_tells_it() {
    let folder = folder();
    let output = trefoil(folder.path(), &["check", "m.pml", "--explain", "1"], "");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for line in [
        "  1:\tproc  1 (:init::1) m.pml:14 (state 1)\t[wire!ask(3)]\n",
        "  2:\tproc  0 (server:1) m.pml:10 (state 1)\t[wire?ask, got]\n",
        "Starting worker with pid 2\n",
        "\t[total = total + n]\n\t\ttotal = ",
        "              worker 4 of 2\n",
        "\t[line!n]\n\t\tqueue 2 (line): [4]\n",
        "error: m.pml:17: assertion violated\n",
        "#processes: 3\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing\n{text}");
    }
    let document = trefoil(folder.path(), &["check", "m.pml", "--only", "1", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&document.stdout).expect("JSON");
    let story = &document["runs"][0]["results"][0]["witness"]["story"];
    assert!(story["trail"].as_str().is_some_and(|trail| trail.starts_with("1:1:")), "{story}");
    assert!(story["statements"].as_array().is_some_and(|told| told.len() >= 7), "{story}");
    assert_eq!(story["end"]["processes"][2]["name"], "worker", "{story}");
}

#[test]
fn spin_replays_the_trail_that_check_writes() {
    let folder = folder();
    let output = trefoil(folder.path(), &["check", "m.pml", "--trail", "m.pml.trail", "--chart", "m.svg"], "");
    assert!(said(&output).contains("wrote the trail of assertion 1 to m.pml.trail"), "{}", said(&output));
    let svg = std::fs::read_to_string(folder.path().join("m.svg")).expect("a chart");
    for part in ["server(0)", "init(1)", "worker(2)", "happening wrong", "class=\"made\"", ">ask,3<"] {
        assert!(svg.contains(part), "{part} is missing\n{svg}");
    }
    // A rendezvous, a message that waited, and the creation of the worker.
    assert_eq!(svg.matches("<polygon").count(), 3, "{svg}");
    let Ok(spin) = Command::new("spin").args(["-t", "-p", "m.pml"]).current_dir(folder.path()).output() else {
        eprintln!("SPIN IS ABSENT: trails are NOT replayed by Spin");
        return;
    };
    let text = String::from_utf8_lossy(&spin.stdout);
    assert!(text.contains("spin: m.pml:17, Error: assertion violated"), "{text}");
    assert!(text.contains("worker 4 of 2") && !text.contains("transition failed"), "{text}");
}

#[test]
fn the_second_counterexample_has_its_number_where_spin_looks_for_it() {
    let folder = folder();
    std::fs::copy(examples().join("ticket_office.pml"), folder.path().join("t.pml")).expect("a model");
    let output = trefoil(folder.path(), &["check", "t.pml", "--trail", "t.pml.trail", "--chart", "t.svg"], "");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    for file in ["t.pml.trail", "t.pml2.trail", "t.svg", "t2.svg"] {
        assert!(folder.path().join(file).exists(), "{file}: {}", said(&output));
    }
    std::fs::copy(examples().join("peterson.pml"), folder.path().join("p.pml")).expect("a model");
    let output = trefoil(folder.path(), &["check", "p.pml", "--trail", "p.pml.trail"], "");
    assert!(said(&output).contains("no file was written") && !folder.path().join("p.pml.trail").exists());
    let output = trefoil(folder.path(), &["trace", "p.pml", "--assertion", "1", "--all"], "");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("there is no run to follow"), "{}", said(&output));
    let Ok(spin) = Command::new("spin").args(["-t2", "-p", "t.pml"]).current_dir(folder.path()).output() else {
        eprintln!("SPIN IS ABSENT: trails are NOT replayed by Spin");
        return;
    };
    let text = String::from_utf8_lossy(&spin.stdout);
    assert!(text.contains("spin: trail ends after") && !text.contains("assertion violated"), "{text}");
}

#[test]
fn models_are_stepped_through_by_hand_in_a_pipe() {
    let folder = folder();
    let lines = "1\nrandom 3 5\nback 2\nnext 2\nvariables\nstate\npath\nsave run.trail\nsave run.svg\nsave run.png\nsave run.json\n9\nquit\n";
    let output = trefoil(folder.path(), &["trace", "m.pml"], lines);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("#processes: ") && text.contains("error: there is no step 9"), "{text}");
    let trail = std::fs::read_to_string(folder.path().join("run.trail")).expect("a trail");
    assert!(trail.starts_with("1:1:") && trail.lines().count() >= 5, "{trail}");
    assert!(folder.path().join("run.svg").exists());
    assert!(std::fs::read(folder.path().join("run.png")).expect("a chart").starts_with(b"\x89PNG"));
    // What was saved can be followed again, either way.
    let again = trefoil(folder.path(), &["trace", "m.pml", "--trail", "run.trail", "--all", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(document["results"][0]["story"]["trail"], trail, "{document}");
    let replayed = trefoil(folder.path(), &["trace", "m.pml", "--replay", "run.json"], "next 4\nquit\n");
    assert!(said(&replayed).contains("  4:\tproc "), "{}", said(&replayed));
}

#[test]
fn walks_at_random_are_the_same_for_the_same_seed() {
    let file = examples().join("sliding_window.pml");
    let file = file.to_string_lossy();
    let folder = tempfile::tempdir().expect("a folder");
    let walk = |seed: &str| said(&trefoil(folder.path(), &["trace", &file, "--random", "30", "--seed", seed], ""));
    assert_eq!(walk("4"), walk("4"));
    assert_ne!(walk("4"), walk("5"));
    assert!(walk("4").contains("30 steps, seed 4"), "{}", walk("4"));
}

/// A step may take several statements; both are counted, each under its own name.
#[test]
fn steps_and_statements_are_counted_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str], file: &str| {
        let file = examples().join(file).to_string_lossy().into_owned();
        let (command, rest) = arguments.split_first().expect("a command");
        let arguments: Vec<&str> = [*command, file.as_str()].into_iter().chain(rest.iter().copied()).collect();
        said(&trefoil(folder.path(), &arguments, ""))
    };
    let walk = run(&["trace", "--random", "12"], "alternating_bit.pml");
    assert!(walk.contains("the run ends after 12 steps (17 statements; a step may take several)"), "{walk}");
    assert!(walk.contains("alternating_bit.pml: 12 steps, seed 1"), "{walk}");
    let stuck = run(&["check", "--explain", "2"], "philosophers.pml");
    assert!(stuck.contains("invalid end state after 4 steps"), "{stuck}");
    assert!(stuck.contains("the run ends after 4 steps (8 statements; a step may take several)"), "{stuck}");
}

/// An invalid end state has a cause: a process that waits, or a trace declaration that does.
#[test]
fn a_trace_declaration_that_is_not_at_its_end_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = examples().join("watched_wrong.pml").to_string_lossy().into_owned();
    let text = said(&trefoil(folder.path(), &["check", &file], ""));
    let note =
        "the trace declaration waits at line 8: `door!open`; a run may end only at its end or at an end label in it";
    assert!(text.contains(note), "{text}");
}

#[test]
fn counterexamples_and_trails_are_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = examples().join("philosophers.pml");
    let file = file.to_string_lossy();
    let output = trefoil(folder.path(), &["trace", &file, "--assertion", "2", "--all", "--chart", "c.svg"], "");
    let text = said(&output);
    assert!(text.contains("an invalid end state") && text.contains("fork_taken[3] = 1"), "{text}");
    let svg = std::fs::read_to_string(folder.path().join("c.svg")).expect("a chart");
    assert_eq!(svg.matches("waits, line").count(), 4, "{svg}");
    std::fs::write(folder.path().join("wrong.trail"), "1:0:0\n2:0:99\n").expect("a trail");
    let output = trefoil(folder.path(), &["trace", &file, "--trail", "wrong.trail", "--all"], "");
    assert!(said(&output).contains("line 2 of the trail cannot be followed"), "{}", said(&output));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("the run ends after 1 step\n"), "{}", said(&output));
    let output = trefoil(folder.path(), &["trace", &file, "--trail", "wrong.trail"], "quit\n");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    std::fs::write(folder.path().join("wrong.trail"), "this is no trail\n").expect("a trail");
    let output = trefoil(folder.path(), &["trace", &file, "--trail", "wrong.trail"], "");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("line 1: a line of a trail is three numbers"), "{}", said(&output));
}

#[test]
fn a_search_that_keeps_no_states_says_how_sure_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = examples().join("peterson.pml");
    let file = file.to_string_lossy();
    for store in ["hash-compact", "bitstate", "bitstate:1M"] {
        let output = trefoil(folder.path(), &["check", &file, "--store", store], "");
        let text = said(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("probably holds: ") && !text.contains("holds  "), "{text}");
    }
    let output = trefoil(folder.path(), &["check", &file, "--store", "bitstate", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let first = &document["runs"][0]["results"][0];
    assert_eq!((&first["verdict"], &first["result"]), (&Value::from("unknown"), &Value::Null), "{first}");
    assert!(first["coverage"]["hash_factor"].as_f64().is_some_and(|factor| factor > 1_000.0), "{first}");
    let wrong = examples().join("peterson_wrong.pml");
    let output = trefoil(folder.path(), &["check", &wrong.to_string_lossy(), "--store", "bitstate"], "");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
fn what_is_for_promela_is_refused_for_scripts() {
    let folder = folder();
    std::fs::write(folder.path().join("s.csp"), "channel a\nP = a -> P\nassert P :[deadlock free]\n")
        .expect("a script");
    let refused = |arguments: &[&str], why: &str| {
        let output = trefoil(folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
    };
    refused(
        &["check", "s.csp", "--trail", "t"],
        "--trail does not apply to deadlock free (CSPM); it applies to every Promela check",
    );
    refused(&["check", "m.pml", "m.pml", "--chart", "t"], "need exactly one model");
    refused(
        &["check", "s.csp", "--store", "bitstate"],
        "--store bitstate does not apply to deadlock free (CSPM); it applies to assertions, end states, trace (Promela)",
    );
    refused(&["check", "m.pml", "--store", "bits"], "expected exact, hash-compact");
    refused(&["trace", "s.csp", "P", "--trail", "t"], "only Promela models have trails");
    refused(&["trace", "m.pml", "P"], "looks at a whole Promela model");
    refused(&["trace", "m.pml", "--all"], "--all needs a run");
    refused(&["trace", "m.pml", "--chart", "c.svg"], "--chart needs");
    refused(&["check", "m.pml", "--trail", "no/such/folder/t"], "cannot write");
}
