//! `trefoil trace` and `trefoil check` on a terminal, where lines are edited and Ctrl-C is a key.
//!
//! The terminal is made by Python's `pty`. Without a `python3` these tests say so and check nothing.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const SCRIPT: &str = "\
channel left, mid, right : {0, 1}
channel tick, tack : {0..40}
CELL(in, out) = in?x -> out!x -> CELL(in, out)
COPY = (CELL(left, mid) [|{|mid|}|] CELL(mid, right)) \\ {|mid|}
CLOCK(i) = tick.i -> tack.i -> CLOCK(i)
HUGE = ||| i : {0..40} @ CLOCK(i)
assert HUGE :[deadlock free]
";

/// Types keys and waits for texts; gives what was seen, and the exit code.
fn on_a_terminal(folder: &Path, columns: Option<&str>, arguments: &[&str], steps: &[&[&str]]) -> Option<(String, i64)> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/terminal.py");
    if !Command::new("python3").arg("--version").output().is_ok_and(|found| found.status.success()) {
        eprintln!("SKIPPED: there is no python3 to make a terminal with");
        return None;
    }
    std::fs::write(folder.join("script.csp"), SCRIPT).expect("a script");
    let mut command = Command::new("python3");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    } else {
        command.env_remove("COLUMNS");
    }
    let output = command
        .arg(driver)
        .arg(json!(steps).to_string())
        .arg(env!("CARGO_BIN_EXE_trefoil"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder)
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .output()
        .expect("python3 runs");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let seen = document["seen"].as_str().expect("a text").to_string();
    let reached = document["reached"].as_u64().expect("a number") as usize;
    assert_eq!(reached, steps.len(), "waiting for {:?}\n{seen}", steps.get(reached));
    let code = document["code"].as_i64().unwrap_or_else(|| panic!("it does not end\n{seen}"));
    Some((seen, code))
}

#[test]
fn steps_are_typed_completed_and_cut_short() {
    let folder = tempfile::tempdir().expect("a folder");
    // A line is typed when the prompt is there, as people do.
    let steps: &[&[&str]] = &[
        &["", "trace> "],
        &["left.1\r", "1  τ (mid.1)", "trace> "],
        &["tau\r", "3  right.1", "trace> "],
        // What is offered is completed; only one event begins like this.
        &["ri\t\r", "right.1", "2  left.1", "trace> "],
        // At the prompt Ctrl-C drops the line.
        &["nonsense", "nonsense"],
        &["\x03", "trace> "],
        &["path\r", "trace: <left.1, right.1>", "trace> "],
        // While a line is worked on it ends that.
        &["random 1000000000\r", "\n"],
        &["\x03", "unknown: interrupted", "trace> "],
        &["goto 0\r", "0  COPY", "trace> "],
        &["goto 99999999999999999999\r", "error: ", "trace> "],
        &["help\r", "Ctrl-D", "trace> "],
        &["\x04"],
    ];
    let Some((seen, code)) = on_a_terminal(folder.path(), None, &["trace", "script.csp", "COPY"], steps) else {
        return;
    };
    assert_eq!(code, 0, "{seen}");
    let history = std::fs::read_to_string(folder.path().join("trefoil/trace-history")).expect("a history");
    assert!(history.contains("left.1") && history.contains("goto 0") && !history.contains("nonsense"), "{history}");
}

#[test]
fn a_check_shows_where_it_is_and_ends_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let steps: &[&[&str]] = &[&["", "looking for deadlocks, 0."], &["\x03", "unknown"]];
    let Some((seen, code)) = on_a_terminal(folder.path(), None, &["check", "script.csp", "--symmetry", "off"], steps)
    else {
        return;
    };
    assert_eq!(code, 3, "{seen}");
    assert!(seen.contains("interrupted") && seen.contains("HUGE :[deadlock free]"), "{seen}");
}

/// Explanations, trees and diagnostics fit a narrow terminal, and lines break between words only.
#[test]
fn lines_fit_a_terminal_and_break_between_words() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("wrong.csp"), "channel a\nP = a -> STOP\nQ = P || P\n").expect("a script");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp");
    std::fs::copy(examples.join("needham_schroeder.csp"), folder.path().join("n.csp")).expect("a copy");
    let commands: &[(&[&str], &str)] = &[
        (&["check", "n.csp", "--explain", "1"], "1 assertion: 1 fails"),
        (&["structure", "n.csp", "SYSTEM(true)"], "peak memory"),
        (&["cspm", "typecheck", "wrong.csp"], "help"),
    ];
    // Times and memory differ between runs.
    let words = |text: &str| -> Vec<String> {
        let same = |word: &&str| !word.contains('│') && !word.chars().any(|c| c == '.' || c.is_ascii_digit());
        text.split_whitespace().filter(same).map(str::to_string).collect()
    };
    for (arguments, last) in commands {
        let piped = Command::new(env!("CARGO_BIN_EXE_trefoil"))
            .args(*arguments)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("it runs");
        let piped = String::from_utf8_lossy(&[piped.stdout, piped.stderr].concat()).into_owned();
        let Some((seen, _)) = on_a_terminal(folder.path(), Some("80"), arguments, &[&["", last]]) else { return };
        // What the progress line showed was cleared.
        let shown = seen.lines().map(|line| line.rsplit("\u{1b}[2K").next().unwrap_or(line).trim_end());
        let seen = shown.collect::<Vec<_>>().join("\n");
        let wide: Vec<&str> = seen.lines().filter(|line| line.trim_end().chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:?} in\n{seen}");
        assert_eq!(words(&seen), words(&piped), "{seen}");
    }
}
