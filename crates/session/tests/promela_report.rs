//! What the report of a Promela model says about waiting processes and about statements that no run reaches.

use std::path::PathBuf;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, AssertionReport};
use trefoil_session::{Job, Verdict};

/// The report about the end states of a model.
fn report(name: &str, text: &str) -> AssertionReport {
    let file: PathBuf = std::env::temp_dir().join(format!("trefoil-report-{}-{name}.pml", std::process::id()));
    std::fs::write(&file, text).expect("a folder for temporary files");
    let job = Job::new(Control::unlimited(), 1);
    let mut script = AnyScript::open(&file, None, &job).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    let report = script.run(2, &Asked::default(), &job);
    let _ = std::fs::remove_file(file);
    report
}

#[test]
fn an_invalid_end_state_names_the_waiting_processes() {
    let text = "chan c = [0] of { byte };\nchan d = [0] of { byte };\n\
                active proctype sender() { skip;\n  c!1 }\n\
                active proctype server() { byte x;\n  do\n  :: d?x -> skip\n  :: x > 3 -> break\n  od }\n\
                active proctype idle() {\nend: c?2 }\n";
    let report = report("waiting", text);
    assert_eq!(report.verdict, Verdict::Fails);
    let waiting: Vec<&String> = report.notes.iter().filter(|note| note.contains("waits at")).collect();
    assert_eq!(waiting, ["sender(0) waits at line 4: `c!1`", "server(1) waits at line 7: `d?x` or `x > 3` (line 8)"]);
    // The JSON report has the same for every process.
    let json = serde_json::to_value(&report).expect("plain data");
    let processes = &json["witness"]["story"]["end"]["processes"];
    assert_eq!(processes[1]["waits_for"][1]["statement"], "x > 3", "{processes}");
    assert_eq!(processes[2]["valid_end"], true, "{processes}");
}

#[test]
fn of_many_waiting_processes_ten_are_named() {
    let report = report("many", "chan c = [0] of { byte };\nactive [23] proctype P() { c!1 }\n");
    let named = report.notes.iter().filter(|note| note.contains("waits at line 2: `c!1`")).count();
    assert_eq!(named, 10, "{:?}", report.notes);
    assert!(report.notes.contains(&"13 more processes wait".to_string()), "{:?}", report.notes);
}

#[test]
fn unreached_statements_are_grouped_by_process_and_lines() {
    let text = "byte x;\nactive proctype P() {\n  if\n  :: x == 1 ->\n     x = 2;\n     /* between */\n     x = 3\n  \
                :: x == 0 -> skip\n  :: x == 4 -> x = 5\n  fi\n}\n";
    let short = report("short", text);
    let notes: Vec<&String> = short.notes.iter().filter(|note| note.starts_with("never reached")).collect();
    assert_eq!(notes, ["never reached in P: lines 5–7 (2 statements), line 9 `x = 5`"]);
    // Of forty ranges ten are shown; the JSON report has all.
    let mut text = "byte x;\nactive proctype P() {\n".to_string();
    for number in 1..=40 {
        text += &format!("  if\n  :: x == {number} -> x = 100; x = 200\n  :: else\n  fi;\n");
    }
    text += "  skip\n}\n";
    let long = report("long", &text);
    let notes: Vec<&String> = long.notes.iter().filter(|note| note.starts_with("never reached")).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(notes[0].matches("statements").count(), 10, "{notes:?}");
    assert_eq!(notes[1], "never reached: 60 more statements in 30 more places");
    assert!(notes.iter().all(|note| note.chars().count() < 400), "{notes:?}");
    let json = serde_json::to_value(&long).expect("plain data");
    assert_eq!(json["unreached"].as_array().map(Vec::len), Some(40));
    assert_eq!(json["unreached"][39]["statements"][1]["statement"], "x = 200");
}
