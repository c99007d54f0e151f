//! `trefoil check` as users see it: what it prints, where, and how it exits.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const SCRIPT: &str = "\
channel a, b, c
channel get, put : {0..1}.{0..1}
COPY = a -> b -> COPY
SLOW = (a -> c -> b -> SLOW) \\ {c}
WRONG = a -> b -> a -> c -> WRONG
FIRST = get.0.0 -> get.0.1 -> put.0.1 -> put.0.0 -> FIRST
SECOND = get.1.1 -> get.1.0 -> put.1.0 -> put.1.1 -> SECOND
FORK(i) = get?p!i -> put.p.i -> FORK(i)
SYSTEM = (FIRST ||| SECOND) [| {| get, put |} |] (FORK(0) ||| FORK(1))
EITHER = a -> STOP |~| b -> STOP
print card({1, 2, 3})
assert COPY [FD= SLOW
assert COPY [T= WRONG
assert SYSTEM :[deadlock free [F]]
assert not EITHER :[deterministic [F]]
assert SLOW \\ {a, b} :[divergence free]
assert COPY :[has trace]: <a, b>
";

/// Too many states to wait for.
const HUGE: &str = "\
channel t : {0..11}.{0..9}
COUNT(i, n) = t.i.n -> COUNT(i, (n + 1) % 10)
HUGE = ||| i : {0..11} @ COUNT(i, 0)
assert HUGE :[deadlock free [F]]
assert STOP [T= STOP
";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn trefoil(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    told(&program(folder).args(arguments).output().expect("the program runs"))
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_assertion_has_a_line_and_failures_a_sentence() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let (code, out, err) = trefoil(&folder, &["check", "script.csp"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "  card({1, 2, 3}) = 3");
    assert!(lines[1].starts_with("  1  holds    COPY [FD= SLOW  ("), "{out}");
    assert!(lines[2].starts_with("  2  fails    COPY [T= WRONG  ("), "{out}");
    assert_eq!(lines[3].trim(), "after <a, b, a> the process performs c; the specification allows {b} there");
    assert!(lines[4].starts_with("  3  fails    SYSTEM :[deadlock free [F]]"), "{out}");
    assert!(
        lines[5].trim().starts_with("after <get.") && lines[5].ends_with("the process deadlocks: it offers no event"),
        "{out}"
    );
    assert!(out.contains("  4  holds    not EITHER :[deterministic [F]]"), "{out}");
    assert!(out.contains("as expected, the negated assertion fails: initially the process may perform "), "{out}");
    assert!(out.contains("  5  fails    SLOW \\ {a, b} :[divergence free]"), "{out}");
    assert!(out.contains("  6  holds    COPY :[has trace]: <a, b>"), "{out}");
    assert!(out.contains("script.csp: 6 assertions: 3 hold, 3 fail ("), "{out}");
    assert!(out.contains("--explain 2 shows the counterexample step by step"), "{out}");
}

#[test]
fn what_only_the_specification_has_is_refused_too() {
    let folder = folder(&[("s.csp", "channel a, b\nassert a -> b -> STOP [F= a -> STOP\n")]);
    let (code, out, _) = trefoil(&folder, &["check", "s.csp", "--explain", "1"]);
    assert_eq!(code, 1);
    assert!(out.contains("refused  {a, b}"), "{out}");
}

#[test]
fn a_long_chain_is_told_in_few_words() {
    let folder = folder(&[("s.csp", "channel a\nassert ; i : <1..3000> @ a -> SKIP :[deadlock free [F]]\n")]);
    let (code, out, _) = trefoil(&folder, &["check", "s.csp", "--format", "json"]);
    assert_eq!(code, 1);
    let states = json(&out)["runs"][0]["results"][0]["witness"]["runs"][0]["initial"].clone();
    let words = states[0].as_str().expect("the state of the only component in words");
    assert!(words.contains('…') && words.len() < 4000, "{words}");
}

#[test]
fn assertions_are_chosen_by_number_and_by_text() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let (code, out, _) = trefoil(&folder, &["check", "script.csp", "--only", "1", "--only", "has trace"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("2 assertions: 2 hold") && !out.contains("WRONG"), "{out}");
    let (code, _, err) = trefoil(&folder, &["check", "script.csp", "--only", "17"]);
    assert_eq!(code, 2);
    assert!(err.contains("--only 17: no assertion has this number"), "{err}");
    let (code, out, _) = trefoil(&folder, &["check", "script.csp", "--list"]);
    assert_eq!((code, out.lines().count()), (0, 6));
    assert!(out.starts_with("  1  COPY [FD= SLOW\n"), "{out}");
}

#[test]
fn without_a_value_every_failure_is_explained() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    for arguments in [["check", "script.csp", "--explain"], ["check", "--explain", "script.csp"]] {
        let (code, out, err) = trefoil(&folder, &arguments);
        assert_eq!((code, err.as_str()), (1, ""), "{out}");
        for head in ["\n2  COPY [T= WRONG\n", "\n3  SYSTEM :[deadlock free [F]]\n", "\n5  SLOW \\ {a, b}"] {
            assert!(out.contains(head), "{head}: {out}");
        }
        assert!(!out.contains("\n1  COPY [FD= SLOW") && out.contains("6 assertions: 3 hold, 3 fail"), "{out}");
    }
    let (code, _, err) = trefoil(&folder, &["check", "script.csp", "--explain", "2", "--format", "json"]);
    assert_eq!((code, err.as_str()), (1, ""));
    let (code, _, err) = trefoil(&folder, &["check", "script.csp", "--explain", "9"]);
    assert_eq!((code, err.as_str()), (2, "error: --explain 9: no assertion has this number\n"));
    let (code, _, err) = trefoil(&folder, &["check", "script.csp", "--only", "2", "--explain", "no such text"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "error: --explain no such text: no assertion contains this text among those that --only chooses\n")
    );
}

#[test]
fn components_are_named_after_what_stays_the_same_in_their_states() {
    let script = "datatype Way = NS | EW\ndatatype Colour = Red | Green\nchannel go, stop : Way\n\
                  LIGHT(w, Red) = go.w -> LIGHT(w, Green)\nLIGHT(w, Green) = stop.w -> LIGHT(w, Red)\n\
                  COUNT(n) = n < 2 & go?w -> COUNT(n + 1) [] n > 0 & stop?w -> COUNT(n - 1)\n\
                  SYSTEM = (LIGHT(NS, Red) ||| LIGHT(EW, Red)) [| {|go, stop|} |] COUNT(0)\nassert STOP [T= SYSTEM\n";
    let folder = folder(&[("script.csp", script)]);
    let (_, out, _) = trefoil(&folder, &["check", "script.csp", "--explain"]);
    assert!(out.contains("  1  go.NS  LIGHT(NS), COUNT  LIGHT(NS): LIGHT(NS, Green)\n"), "{out}");
    let (_, out, _) = trefoil(&folder, &["structure", "script.csp", "SYSTEM"]);
    assert!(out.contains("2 × LIGHT(NS), LIGHT(EW): component") && out.contains("COUNT: component"), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_cannot_be_written_are_one_error() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    for arguments in [
        &["check", "script.csp"][..],
        &["check", "script.csp", "--format", "json"],
        &["refines", "script.csp"],
        &["cspm", "types", "script.csp"],
        &["matrix"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full disk");
        let output = program(&folder).args(arguments).stdout(full).output().expect("the program runs");
        let (code, _, err) = told(&output);
        assert_eq!((code, err.matches("cannot write to standard output").count()), (2, 1), "{arguments:?}: {err}");
    }
}

#[test]
fn an_explanation_shows_steps_parts_states_and_the_end() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let (code, out, _) = trefoil(&folder, &["check", "script.csp", "--explain", "3"]);
    assert_eq!(code, 1);
    assert!(!out.contains("WRONG"), "only what is explained is run\n{out}");
    assert!(out.contains("FIRST, FORK(0)") && out.contains("SECOND, FORK(1)"), "{out}");
    assert!(out.contains("offered  nothing") && out.contains("refused  {get.0.0, get.0.1, "), "{out}");
    let waits = out.lines().find(|line| line.trim().starts_with("FIRST  ")).expect("a line for each component");
    assert!(waits.ends_with("{get.0.1}"), "{out}");
    let (_, out, _) = trefoil(&folder, &["check", "script.csp", "--explain", "5"]);
    assert!(out.contains("τ (c)") && out.contains("↻1") && out.contains("repeat forever"), "{out}");
}

#[test]
fn the_json_has_the_fields_of_fdr_and_the_witness() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let (code, out, err) = trefoil(&folder, &["check", "script.csp", "--format", "json"]);
    assert_eq!((code, err.as_str()), (1, ""));
    let document = json(&out);
    let run = &document["runs"][0];
    assert_eq!((&document["command"], &run["file_name"]), (&"check".into(), &"script.csp".into()));
    assert_eq!(run["print_statement_results"][0]["result"], "3");
    let results = run["results"].as_array().expect("results");
    let verdicts: Vec<Option<i64>> = results.iter().map(|result| result["result"].as_i64()).collect();
    assert_eq!(verdicts, [1, 0, 0, 1, 0, 1].map(Some));
    for result in results {
        for field in ["assertion_string", "errors", "is_negated", "visited_states", "visited_transitions"] {
            assert!(!result[field].is_null(), "{field}");
        }
        for field in ["visited_plys", "counterexamples", "compile_seconds", "check_seconds", "peak_memory_bytes"] {
            assert!(!result[field].is_null(), "{field}");
        }
    }
    assert_eq!(results[3]["is_negated"], true);
    let event = |number: &Value| run["event_map"][number.to_string()].as_str().expect("an event").to_string();
    let found = &results[1]["counterexamples"][0];
    let behaviour = &found["implementation_behaviour"];
    let trace: Vec<String> = behaviour["trace"].as_array().expect("a trace").iter().map(event).collect();
    assert_eq!((trace, event(&behaviour["error_event"])), (vec!["a".into(), "b".into(), "a".into()], "c".into()));
    assert_eq!((&found["type"], &run["event_map"]["1"]), (&"trace".into(), &"τ".into()));
    let witness = &results[2]["witness"];
    let components = witness["components"].as_array().expect("components").len();
    assert_eq!(components, 4);
    let step = &witness["runs"][0]["steps"][0];
    assert_eq!(step["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(step["states"].as_array().map(Vec::len), Some(components));
}

#[test]
fn build_servers_and_scanners_get_their_formats() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let (code, out, _) = trefoil(&folder, &["check", "script.csp", "--format", "junit"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("<testsuite name=\"script.csp\" tests=\"6\" skipped=\"0\" errors=\"0\" failures=\"3\""),
        "{out}"
    );
    let (code, out, _) = trefoil(&folder, &["check", "script.csp", "--format", "sarif"]);
    assert_eq!(code, 1);
    let found = json(&out)["runs"][0]["results"].as_array().expect("results").len();
    assert_eq!(found, 3);
    let flow = &json(&out)["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
    let first = &flow[0]["location"];
    assert!(first["message"]["text"].is_string(), "{flow}");
    assert!(first["physicalLocation"]["region"]["startLine"].is_u64(), "{flow}");
    let (code, _, err) = trefoil(&folder, &["lts", "info", "x.aut", "--format", "junit"]);
    assert_eq!(code, 2);
    assert!(err.contains("trefoil check"), "{err}");
}

#[test]
fn partial_order_reduction_visits_less_and_says_the_same() {
    let script = "external prioritise\nchannel work : {0..3}\nchannel done\nW(n) = work!n -> work!n -> work!n -> done -> W(n)\n\
                  TEAM = [|{done}|] n : {0..3} @ W(n)\nDONE = done -> DONE\n\
                  assert DONE [FD= TEAM \\ {|work|}\nassert TEAM :[deadlock free [F]]\nassert TEAM \\ {|work|} :[divergence free]\n\
                  assert DONE [T= TEAM\nassert DONE [FD= TEAM \\ {|work|} :[partial order reduce]\n\
                  assert prioritise(TEAM, <{|work|}, {done}>) :[deadlock free [F]]\n";
    let folder = folder(&[("script.csp", script)]);
    let run = |arguments: &[&str]| {
        let (_, out, err) =
            trefoil(&folder, &[&["check", "script.csp", "--symmetry", "off", "--format", "json"], arguments].concat());
        let results = json(&out)["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{err}")).clone();
        let visited = |result: &Value| (result["verdict"].clone(), result["visited_states"].as_u64().unwrap_or(0));
        (results.iter().map(visited).collect::<Vec<_>>(), results)
    };
    let (plain, shown) = run(&[]);
    let (reduced, _) = run(&["--partial-order"]);
    for (at, (before, after)) in plain.iter().zip(&reduced).enumerate() {
        assert_eq!(before.0, after.0, "{}", at + 1);
        // What is prioritised is not reduced inside; of the fourth the first step is already wrong.
        let same = before.1 == after.1;
        assert!(after.1 <= before.1 && same == [3, 4, 5].contains(&at), "{}: {before:?} and {after:?}", at + 1);
    }
    assert_eq!(plain[4], reduced[0], "an assertion may ask for it itself");
    assert!(shown[4]["reductions"].to_string().contains("partial-order"), "{}", shown[4]);
}

#[test]
fn one_bad_assertion_does_not_hurt_the_others() {
    let script = "channel a\nP = a -> P\nQ(n) = if n == 0 then a -> Q(1) else error(\"no more\")\n\
                  assert P :[divergence free [F]]\nassert P [T= Q(0)\nassert P :[symmetric]: {1}\nassert P [T= P :[partial order reduce]\n";
    let folder = folder(&[("script.csp", script)]);
    let (code, out, err) =
        trefoil(&folder, &["check", "script.csp", "--only", "divergence", "--only", "Q(0)", "--only", "4"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("error[S004]: the model `F` does not observe") && err.contains("script.csp:4:1"), "{err}");
    assert!(err.contains("no more") && err.contains("script.csp:3"), "{err}");
    assert!(out.contains("  4  holds    P [T= P :[partial order reduce]"), "{out}");
    assert!(out.contains("1 holds, 2 errors"), "{out}");
    let (_, out, _) = trefoil(&folder, &["check", "script.csp", "--only", "2", "--format", "json"]);
    let result = &json(&out)["runs"][0]["results"][0];
    assert_eq!(result["result"], Value::Null);
    assert!(result["errors"][0].as_str().is_some_and(|text| text.contains("no more")), "{result}");
}

#[test]
fn termination_is_told_from_other_deadlocks_and_models_that_see_nothing_are_refused() {
    let script = "channel a\nassert a -> SKIP :[deadlock free]\nassert STOP :[divergence free [F]]\n";
    let folder = folder(&[("script.csp", script)]);
    let (code, out, err) = trefoil(&folder, &["check", "script.csp"]);
    assert_eq!(code, 2);
    assert!(out.contains("after <a, ✓> the process has terminated, which counts as a deadlock"), "{out}");
    assert!(err.contains("the model `F` does not observe divergence"), "{err}");
}

#[test]
fn scripts_that_cannot_be_read_say_why() {
    let folder = folder(&[("bad.csp", "P = a -> 1\n"), ("notes.txt", "P = STOP\nassert P [T= P\n"), ("empty.csp", "")]);
    let (code, out, err) = trefoil(&folder, &["check", "bad.csp"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("bad.csp:1"), "{err}");
    let (code, out, _) = trefoil(&folder, &["check", "bad.csp", "--format", "json"]);
    assert_eq!(code, 2);
    assert!(!json(&out)["runs"][0]["errors"].as_array().expect("errors").is_empty());
    let (code, _, err) = trefoil(&folder, &["check", "notes.txt"]);
    assert_eq!(code, 2);
    assert!(err.contains("S003") && err.contains("--language"), "{err}");
    let (code, out, _) = trefoil(&folder, &["check", "notes.txt", "--language", "cspm"]);
    assert_eq!(code, 0, "{out}");
    let (code, out, _) = trefoil(&folder, &["check", "empty.csp"]);
    assert_eq!((code, out.as_str()), (0, "empty.csp: no assertions\n"));
}

#[test]
fn a_script_may_come_from_standard_input_and_several_be_named() {
    let folder =
        folder(&[("one.csp", "assert STOP [T= STOP\n"), ("two.cspm", "channel a\nassert STOP [T= a -> STOP\n")]);
    let mut child = program(&folder)
        .args(["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("an input").write_all(SCRIPT.as_bytes()).expect("it reads");
    let (code, out, _) = told(&child.wait_with_output().expect("the program ends"));
    assert_eq!(code, 1);
    assert!(out.contains("-: 6 assertions"), "{out}");
    let (code, out, _) = trefoil(&folder, &["check", "one.csp", "two.cspm"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("one.csp\n  1  holds") && out.contains("\ntwo.cspm\n  1  fails"), "{out}");
}

#[test]
fn algorithms_threads_and_compression_agree() {
    let folder = folder(&[("script.csp", SCRIPT)]);
    let verdicts = |arguments: &[&str]| {
        let all: Vec<&str> = ["check", "script.csp", "--format", "json"].iter().chain(arguments).copied().collect();
        let (_, out, err) = trefoil(&folder, &all);
        let document = json(&out);
        let results = document["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{err}")).clone();
        let short = |result: &Value| (result["result"].clone(), result["witness"]["length"].clone());
        results.iter().map(short).collect::<Vec<_>>()
    };
    let usual = verdicts(&[]);
    for arguments in [
        &["--algorithm", "antichain"][..],
        &["--algorithm", "normal-form"],
        &["--algorithm", "lazy-normal-form"],
        &["--threads", "1"],
        &["--no-leaf-compression"],
    ] {
        assert_eq!(verdicts(arguments), usual, "{arguments:?}");
    }
}

#[test]
fn budgets_end_an_assertion_and_not_the_run() {
    let folder = folder(&[("huge.csp", HUGE)]);
    let explicit = ["check", "huge.csp", "--symmetry", "off", "--engine", "explicit"];
    let (code, out, err) = trefoil(&folder, &[&explicit[..], &["--timeout", "300ms"]].concat());
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("  1  unknown  HUGE :[deadlock free [F]]  (") && out.contains(" states, "), "{out}");
    assert!(out.contains("timeout of 0.3 s reached"), "{out}");
    assert!(out.contains("  2  holds "), "{out}");
    let scarce = ["--memory", "48M", "--format", "json", "--only", "1"];
    let (code, out, _) = trefoil(&folder, &[&explicit[..], &scarce].concat());
    assert_eq!(code, 3);
    let result = &json(&out)["runs"][0]["results"][0];
    assert_eq!((&result["result"], &result["verdict"]), (&Value::Null, &"unknown".into()));
    assert!(result["reason"].as_str().is_some_and(|reason| reason.contains("memory budget")), "{result}");
    assert!(result["visited_states"].as_u64().is_some_and(|states| states > 0), "{result}");
    // Without the choice of an engine, diagrams take over where the memory ends. What is left for them then depends on
    // the allocator, so some of several budgets must do.
    let why = "symbolic instead of deadlock: explicit search ended after ";
    let mut said = String::new();
    let taken_over = ["30M", "34M", "38M", "42M", "46M"].iter().any(|memory| {
        let (code, out, _) = trefoil(&folder, &["check", "huge.csp", "--symmetry", "off", "--memory", memory, "--why"]);
        let is_taken_over =
            code == 0 && out.contains("  1  holds ") && out.contains(why) && out.contains(" MB reached");
        said += &out;
        is_taken_over
    });
    assert!(taken_over, "{said}");
}

/// Where more than half of the budget is in use, waiting for memory to be given back brings nothing.
#[test]
fn a_tight_budget_is_not_waited_for_before_every_assertion() {
    let script = format!("channel a\nP = a -> P\n{}", "assert P :[deadlock free [F]]\n".repeat(20));
    let folder = folder(&[("tight.csp", &script)]);
    for options in [&["--memory", "4M"][..], &["--memory", "4M", "--timeout", "400ms"]] {
        let begun = std::time::Instant::now();
        let (_, out, err) = trefoil(&folder, &[&["check", "tight.csp"], options].concat());
        // Twenty waits of two seconds each would take 40.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}\n{out}{err}", begun.elapsed());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_gives_unknown_with_counts() {
    let folder = folder(&[("huge.csp", HUGE)]);
    let child = program(&folder)
        .args(["check", "huge.csp", "--symmetry", "off", "--engine", "explicit"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let (code, out, _) = told(&child.wait_with_output().expect("the program ends"));
    assert_eq!(code, 3);
    assert!(out.contains("unknown  HUGE") && out.contains("interrupted") && out.contains(" states"), "{out}");
}

/// One assertion of each kind that can be checked, on systems with very many states.
const KINDS: &str = "\
channel t : {0..11}.{0..9}
channel x
COUNT(i, n) = t.i.n -> COUNT(i, (n + 1) % 10)
HUGE = ||| i : {0..11} @ COUNT(i, 0)
WALK(i, n) = n < 9 & t.i.n -> WALK(i, n + 1)
UNSEEN = (||| i : {0..11} @ WALK(i, 0)) \\ {| t |}
ALL = RUN({| t |})
EITHER = ALL |~| CHAOS({| t, x |})
assert ALL [T= HUGE
assert CHAOS({| t |}) [F= HUGE
assert CHAOS({| t |}) [FD= HUGE
assert EITHER [F= HUGE
assert HUGE :[deadlock free [F]]
assert HUGE :[deadlock free [FD]]
assert HUGE :[divergence free]
assert UNSEEN :[divergence free]
assert HUGE :[deterministic [F]]
assert HUGE :[deterministic [FD]]
assert UNSEEN :[has trace]: <x>
assert UNSEEN :[has trace [F]]: <x>
assert UNSEEN :[has trace [FD]]: <x>
assert HUGE [T= STOP
";

/// The kinds of checks, stopped by a budget: unknown, with counts, and the exit code that says so. Those that were
/// stopped before they could count anything are given back.
fn stopped(budget: [&str; 2], reason: &str, algorithm: &str, only: &[String]) -> Vec<String> {
    let folder = folder(&[("kinds.csp", KINDS)]);
    let mut arguments = vec!["check", "kinds.csp", "--symmetry", "off", "--engine", "explicit", "--format", "json"];
    arguments.extend(["--algorithm", algorithm, budget[0], budget[1]]);
    arguments.extend(only.iter().flat_map(|number| ["--only", number]));
    let (code, out, err) = trefoil(&folder, &arguments);
    assert_eq!(code, 3, "{algorithm} {out} {err}");
    let document = json(&out);
    let results = document["runs"][0]["results"].as_array().expect("results").clone();
    assert_eq!(results.len(), if only.is_empty() { 14 } else { only.len() });
    let mut early = Vec::new();
    for result in results {
        let what = &result["assertion_string"];
        assert_eq!(result["verdict"], "unknown", "{what} with {algorithm}");
        assert_eq!(result["result"], Value::Null, "{what} with {algorithm}");
        let said = result["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{what} with {algorithm}: {said}");
        assert!(result["unfinished"]["phase"].as_str().is_some_and(|phase| !phase.is_empty()), "{what}");
        if ["visited_states", "visited_transitions"].iter().any(|count| result[count].as_u64().unwrap_or(0) == 0) {
            early.push(result["index"].to_string());
        }
    }
    early
}

#[test]
fn every_kind_of_check_that_runs_out_of_time_is_unknown_with_counts() {
    // A machine that has other things to do may not come to counting in a short time.
    for (algorithm, only) in [("automatic", 0), ("antichain", 4), ("lazy-normal-form", 4)] {
        let mut left: Vec<String> = (1..=only).map(|number| number.to_string()).collect();
        for budget in ["200ms", "1s", "5s", "25s"] {
            left = stopped(["--timeout", budget], "timeout", algorithm, &left);
            if left.is_empty() {
                break;
            }
        }
        assert!(left.is_empty(), "{left:?} have no counts with {algorithm}");
    }
}

#[test]
fn every_kind_of_check_that_runs_out_of_memory_is_unknown_with_counts() {
    let kinds = ["1", "5", "7", "9", "11"].map(String::from);
    let left = stopped(["--memory", "32M"], "memory budget", "automatic", &kinds);
    assert!(left.is_empty(), "{left:?} have no counts");
}
