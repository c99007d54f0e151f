//! `trefoil lts` as users see it: what it prints, where, and how it exits.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lts")
}

/// The program, in the folder of the examples, without what the environment may say about colours.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(examples()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn trefoil(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("a JSON document")
}

/// A folder of its own for files that a test writes.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a path in UTF-8").to_string()
}

fn written(folder: &tempfile::TempDir, name: &str, content: &str) -> String {
    let file = path(folder, name);
    fs::write(&file, content).expect("the file is written");
    file
}

/// The cash machines of the examples, with what is wrong with each.
#[test]
fn cash_machines_are_judged_as_their_story_says() {
    let expected = [
        ("good.aut", "trace", 0, "refines"),
        ("good.aut", "failures", 0, "refines"),
        ("good.aut", "failures-divergences", 0, "refines"),
        ("once.aut", "trace", 0, "refines"),
        ("once.aut", "failures", 1, "the implementation offers no event"),
        ("once.aut", "failures-divergences", 1, "the implementation offers no event"),
        ("polling.aut", "trace", 0, "refines"),
        ("polling.aut", "failures", 0, "refines"),
        ("polling.aut", "failures-divergences", 1, "the implementation diverges (infinite τ-loop)"),
        ("generous.aut", "trace", 1, "the implementation performs ten"),
    ];
    for (file, model, exit, words) in expected {
        for algorithm in ["antichain", "normal-form", "lazy-normal-form"] {
            for search in ["bfs", "dfs"] {
                for preprocess in ["none", "spec", "impl", "both"] {
                    let file = format!("atm/{file}");
                    let options = ["--model", model, "--algorithm", algorithm, "--search", search];
                    let mut arguments = vec!["lts", "refine", "atm/specification.aut", &file];
                    arguments.extend(options);
                    arguments.extend(["--preprocess", preprocess]);
                    let output = trefoil(&arguments);
                    assert_eq!(code(&output), exit, "{arguments:?}\n{}{}", out(&output), err(&output));
                    assert!(out(&output).contains(words), "{arguments:?}\n{}", out(&output));
                }
            }
        }
    }
}

#[test]
fn a_counterexample_is_complete_in_json() {
    let output = trefoil(&[
        "lts",
        "refine",
        "atm/specification.aut",
        "atm/generous.aut",
        "--model",
        "trace",
        "--format",
        "json",
    ]);
    assert_eq!(code(&output), 1);
    let document = json(&output);
    let result = &document["results"][0];
    assert_eq!(result["verdict"], "fails");
    assert_eq!(result["witness"]["trace"], serde_json::json!(["request", "twenty", "ten"]));
    assert_eq!(result["witness"]["length"], 3);
    assert_eq!(result["witness"]["steps"][2], serde_json::json!({"label": "tau", "state": "3"}));
    assert_eq!(result["witness"]["failure"], serde_json::json!({"kind": "event", "event": "ten"}));
    for counted in
        ["product_states", "product_transitions", "working_max", "antichain_hits", "antichain_misses", "antichain_max"]
    {
        assert!(result["statistics"][counted].is_u64(), "{counted} in {result}");
    }
    assert!(result["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
}

#[test]
fn every_algorithm_counts_what_waits() {
    for algorithm in ["antichain", "normal-form", "lazy-normal-form"] {
        for threads in ["1", "2"] {
            let files = ["lts", "refine", "buffer/two-places.aut", "buffer/two-places.aut", "--format", "json"];
            let output = trefoil(&[&files[..], &["--algorithm", algorithm, "--threads", threads]].concat());
            let statistics = &json(&output)["results"][0]["statistics"];
            assert_eq!(
                statistics["product_states"], 7,
                "the product of a deterministic system with itself: {statistics}"
            );
            assert_eq!(statistics["product_transitions"], 12, "{statistics}");
            assert!(statistics["working_max"].as_u64().is_some_and(|most| (1..7).contains(&most)), "{statistics}");
        }
    }
}

#[test]
fn of_several_checks_the_later_ones_still_run_and_the_worst_decides() {
    let all = ["lts", "refine", "atm/specification.aut", "atm/once.aut", "atm/missing.aut", "atm/good.aut"];
    let output = trefoil(&all);
    assert_eq!(code(&output), 2);
    assert!(out(&output).contains("fails: atm/once.aut") && out(&output).contains("holds: atm/good.aut"));
    assert!(err(&output).contains("atm/missing.aut"), "{}", err(&output));
    let output =
        trefoil(&["lts", "refine", "atm/specification.aut", "atm/once.aut", "atm/good.aut", "--format", "json"]);
    assert_eq!(code(&output), 1);
    let verdicts: Vec<Value> =
        json(&output)["results"].as_array().expect("a list").iter().map(|r| r["verdict"].clone()).collect();
    assert_eq!(verdicts, ["fails", "holds"]);
}

#[test]
fn two_cells_are_a_buffer_of_two_places() {
    let folder = folder();
    let composed = path(&folder, "cells.aut");
    let output = trefoil(&["lts", "compose", "buffer/left.aut", "buffer/right.aut", "--hide", "mid*", "-o", &composed]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(out(&output).contains("9"), "{}", out(&output));
    for equivalence in ["branching", "dpbranching", "weak", "delay", "weaktrace"] {
        let output = trefoil(&["lts", "compare", "buffer/two-places.aut", &composed, "-e", equivalence]);
        assert_eq!(code(&output), 0, "{equivalence}: {}", out(&output));
    }
    let output = trefoil(&["lts", "compare", "buffer/two-places.aut", &composed, "-e", "strong"]);
    assert_eq!(code(&output), 1);
    let output = trefoil(&["lts", "minimise", &composed, "-e", "branching"]);
    assert!(out(&output).contains("7 states, 12 transitions"), "{}", out(&output));
}

#[test]
fn an_expression_file_composes_the_files_beside_it() {
    let folder = folder();
    let (cells, options) = (path(&folder, "cells.aut"), path(&folder, "options.aut"));
    let output = trefoil(&["lts", "compose", "buffer/two-cells.exp", "-o", &cells]);
    assert_eq!((code(&output), err(&output).as_str()), (0, ""), "{}", out(&output));
    trefoil(&["lts", "compose", "buffer/left.aut", "buffer/right.aut", "--hide", "mid*", "-o", &options]);
    assert_eq!(code(&trefoil(&["lts", "compare", &cells, &options])), 0);
    let output = trefoil(&["lts", "compose", "philosophers/table.exp", "--hide-all-but", "", "--format", "json"]);
    let parts: Vec<String> = (0..3)
        .flat_map(|i| [format!("philosophers/philosopher-{i}.aut"), format!("philosophers/fork-{i}.aut")])
        .collect();
    let mut arguments = vec!["lts", "compose", "--format", "json"];
    arguments.extend(parts.iter().map(String::as_str));
    let plain = trefoil(&arguments);
    for count in ["states", "transitions"] {
        assert_eq!(json(&output)["results"][0][count], json(&plain)["results"][0][count], "{}", out(&output));
    }
    let output = trefoil(&["lts", "compose", "buffer/two-cells.exp", "--sync", "none"]);
    assert!(code(&output) == 2 && err(&output).contains("S002"), "{}", err(&output));
    let output = trefoil(&["lts", "compose", "buffer/no-such.exp"]);
    assert!(code(&output) == 2 && err(&output).contains("S005"), "{}", err(&output));
    let odd = path(&folder, "odd.exp");
    std::fs::write(&odd, "hide Z in \"options.aut\" ||| \"options\" end hide").expect("a temporary file");
    let output = trefoil(&["lts", "compose", &odd]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(err(&output).contains("warning[N001]") && err(&output).contains("odd.exp:1:6"), "{}", err(&output));
    std::fs::write(&odd, "hide Z in \"options.aut\"").expect("a temporary file");
    let output = trefoil(&["lts", "compose", &odd]);
    assert!(code(&output) == 2 && err(&output).contains("error[N011]"), "{}", err(&output));
}

#[test]
fn what_is_not_equivalent_gets_a_formula_and_what_is_not_simulated_too() {
    let folder = folder();
    let file = |name: &str, text: &str| {
        let file = path(&folder, name);
        std::fs::write(&file, text).expect("a temporary file");
        file
    };
    // The b of the second is done where a is still possible.
    let first = file("first.aut", "des (0,3,4)\n(0,a,1)\n(0,tau,2)\n(2,b,3)\n");
    let second = file("second.aut", "des (0,4,5)\n(0,a,1)\n(0,tau,2)\n(2,b,3)\n(0,b,4)\n");
    let output = trefoil(&["lts", "compare", &first, &second, "-e", "branching"]);
    assert_eq!(code(&output), 1);
    let formula = "!(mu Y. <tau*.a>true && (<b>true || <tau>Y))";
    assert!(out(&output).contains(formula), "{}", out(&output));
    let late = file("late.aut", "des (0,3,4)\n(0,a,1)\n(1,b,2)\n(1,c,3)\n");
    let early = file("early.aut", "des (0,4,5)\n(0,a,1)\n(0,a,2)\n(1,b,3)\n(2,c,4)\n");
    assert_eq!(code(&trefoil(&["lts", "refine", &late, &early, "--model", "simulation"])), 0);
    let output = trefoil(&["lts", "refine", &early, &late, "--model", "simulation"]);
    assert_eq!(code(&output), 1);
    let both = ["<a>(<b>true && <c>true)", "<a>(<c>true && <b>true)"];
    assert!(both.iter().any(|formula| out(&output).contains(formula)), "{}", out(&output));
    let output = trefoil(&["lts", "refine", &late, &early, "--model", "ready-simulation", "--format", "json"]);
    assert_eq!(json(&output)["results"][0]["difference"]["only"], early.as_str(), "{}", out(&output));
    let output = trefoil(&["lts", "refine", &late, &early, "--model", "simulation", "--search", "dfs"]);
    assert!(code(&output) == 2 && err(&output).contains("--search"), "{}", err(&output));
    for nothing in [["--algorithm", "automatic"], ["--preprocess", "none"]] {
        let refine = ["lts", "refine", late.as_str(), early.as_str(), "--model", "simulation"];
        let output = trefoil(&[&refine[..], &nothing].concat());
        assert_eq!(code(&output), 0, "{}", err(&output));
    }
    assert_eq!(code(&trefoil(&["lts", "compare", &late, &early, "-e", "simulation"])), 1);
}

#[test]
fn philosophers_deadlock() {
    let folder = folder();
    let table = path(&folder, "table.aut.gz");
    let parts: Vec<String> = (0..3)
        .flat_map(|i| [format!("philosophers/philosopher-{i}.aut"), format!("philosophers/fork-{i}.aut")])
        .collect();
    let mut arguments = vec!["lts", "compose"];
    arguments.extend(parts.iter().map(String::as_str));
    arguments.extend(["-o", &table]);
    assert_eq!(code(&trefoil(&arguments)), 0);
    let output = trefoil(&["lts", "info", &table, "--format", "json"]);
    assert_eq!(json(&output)["results"][0]["deadlocks"], 1, "all hold their left fork, nothing else blocks");
}

#[test]
fn a_system_survives_the_trip_through_every_format() {
    let folder = folder();
    let (first, second, third) = (path(&folder, "a.json"), path(&folder, "b.aut.gz"), path(&folder, "c.aut"));
    let fsm = path(&folder, "d.fsm");
    for (from, to) in [("atm/specification.aut", &first), (&first, &second), (&second, &fsm), (&fsm, &third)] {
        let output = trefoil(&["lts", "convert", from, to]);
        assert_eq!(code(&output), 0, "{}", err(&output));
    }
    assert_eq!(code(&trefoil(&["lts", "compare", "atm/specification.aut", &third])), 0);
    let dot = trefoil(&["lts", "convert", &third, "-", "--to", "dot"]);
    assert!(out(&dot).contains("digraph") && out(&dot).contains("request"), "{}", out(&dot));
    assert!(err(&dot).contains("6 states"), "the words go to standard error: {}", err(&dot));
}

#[test]
fn a_random_system_depends_on_its_seed_alone() {
    let make =
        |seed: &str| out(&trefoil(&["lts", "random", "-", "--states", "20", "--transitions", "50", "--seed", seed]));
    assert_eq!(make("3"), make("3"));
    assert_ne!(make("3"), make("4"));
    assert!(make("3").starts_with("des (0,50,20)"), "{}", make("3"));
}

#[test]
fn standard_input_is_a_file_too() {
    let mut child = program()
        .args(["lts", "info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(b"des (0,1,2)\n(0,a,1)\n").expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0);
    assert!(out(&output).contains("deadlocks"), "{}", out(&output));
}

#[test]
fn wrong_input_gets_its_place_and_exit_code_two() {
    let folder = folder();
    let wrong = written(&folder, "wrong.aut", "des (0,2,2)\n(0,\"a\",1)\n(1,\"b\",x)\n");
    let output = trefoil(&["lts", "info", &wrong]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("wrong.aut:3:8"), "{}", err(&output));
    assert!(out(&output).is_empty());
    let output = trefoil(&["lts", "info", &wrong, "--format", "json"]);
    let place = &json(&output)["results"][0]["diagnostics"][0]["places"][0];
    assert_eq!((place["line"].as_u64(), place["column"].as_u64()), (Some(3), Some(8)));
}

#[test]
fn a_header_that_promises_the_moon_costs_nothing() {
    let folder = folder();
    let moon = written(&folder, "moon.aut", "des (0,1,1000000000000)\n(0,a,1)\n");
    let output = trefoil(&["lts", "info", &moon, "--memory", "200M"]);
    assert!([2, 3].contains(&code(&output)), "{}", out(&output));
    assert!(!err(&output).contains("panicked"), "{}", err(&output));
}

#[test]
fn an_unknown_option_value_is_explained() {
    let output = trefoil(&["lts", "minimise", "atm/good.aut", "-e", "stron"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("strong"), "{}", err(&output));
    let output = trefoil(&["lts", "compose", "buffer/left.aut", "buffer/right.aut", "--hide", "mis.0"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("mid.0"), "a neighbour is suggested: {}", err(&output));
}

#[test]
fn running_out_of_time_or_memory_is_an_answer() {
    let folder = folder();
    let large = path(&folder, "large.aut");
    let shape = ["--states", "200000", "--transitions", "600000"];
    assert_eq!(code(&trefoil(&[&["lts", "random", &large], &shape[..]].concat())), 0);
    let output = trefoil(&["lts", "minimise", &large, "--timeout", "1ms"]);
    assert_eq!(code(&output), 3, "{}{}", out(&output), err(&output));
    assert!(out(&output).starts_with("unknown: timeout"), "{}", out(&output));
    let output = trefoil(&["lts", "minimise", &large, "--memory", "10M", "--format", "json"]);
    assert_eq!(code(&output), 3, "{}{}", out(&output), err(&output));
    assert_eq!(json(&output)["results"][0]["verdict"], "unknown");
}

#[test]
fn a_file_stays_as_it_was_when_writing_fails() {
    let folder = folder();
    let kept = written(&folder, "kept.aut", "des (0,0,1)\n");
    let broken = written(
        &folder,
        "broken.json",
        r#"{"format":"trefoil-lts","version":1,"initial":0,"states":1,"labels":["tau","a\nb"],"transitions":[[0,1,0]]}"#,
    );
    let output = trefoil(&["lts", "convert", &broken, &kept]);
    assert_eq!(code(&output), 2, "a label with a line break cannot be written as .aut: {}", err(&output));
    assert_eq!(fs::read_to_string(&kept).expect("it is still there"), "des (0,0,1)\n");
    let files: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(files.len(), 2, "nothing is left behind: {files:?}");
}

#[test]
fn standard_input_is_read_once_and_the_specification_too() {
    let output = trefoil(&["lts", "compare", "-", "-"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("only once"), "{}", err(&output));
    let specification = fs::read(examples().join("atm/specification.aut")).expect("an example");
    let mut child = program()
        .args(["lts", "refine", "-", "atm/good.aut", "atm/once.aut", "atm/good.aut"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(&specification).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 1);
    assert_eq!(out(&output).matches("holds:").count(), 2, "{}", out(&output));
    let output = trefoil(&["lts", "refine", "missing.aut", "atm/good.aut", "atm/once.aut"]);
    assert_eq!(err(&output).matches("missing.aut`").count(), 1, "said once: {}", err(&output));
}

#[test]
fn a_closed_pipe_ends_silently() {
    let mut child = program()
        .args(["lts", "random", "-", "--states", "100000", "--transitions", "300000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0, "a reader that closes the pipe has seen enough");
    assert!(!err(&output).contains("panicked") && !err(&output).contains("pipe"), "{}", err(&output));
}

#[test]
fn colours_are_asked_for_and_not_otherwise() {
    let plain = trefoil(&["lts", "refine", "atm/specification.aut", "atm/good.aut"]);
    assert!(!out(&plain).contains('\u{1b}'));
    let forced = program()
        .args(["lts", "refine", "atm/specification.aut", "atm/good.aut"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("the program runs");
    assert!(out(&forced).contains('\u{1b}'));
    let refused = program()
        .args(["lts", "refine", "atm/specification.aut", "atm/missing.aut"])
        .env("NO_COLOR", "1")
        .env("CLICOLOR", "1")
        .output()
        .expect("the program runs");
    assert!(!err(&refused).contains('\u{1b}'));
}

#[test]
fn help_names_every_choice_and_the_manual_every_command() {
    let help = out(&trefoil(&["lts", "refine", "--help"]));
    for word in ["failures-divergences", "lazy-normal-form", "dfs", "both"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    let manual = out(&trefoil(&["man"]));
    for command in ["INFO", "CONVERT", "MINIMISE", "COMPARE", "REFINE", "COMPOSE", "RANDOM"] {
        assert!(manual.contains(&format!("TREFOIL LTS {command}")), "{command}");
    }
    assert!(out(&trefoil(&["completions", "bash"])).contains("minimise"));
}

/// Sixteen philosophers take far longer than the test; the signal comes when the program says that it is at work.
#[cfg(unix)]
#[test]
fn control_c_gives_the_counts_so_far() {
    let folder = folder();
    let mut command = program();
    command.args(["lts", "compose", "--format", "json"]);
    for i in 0..16 {
        let next = (i + 1) % 16;
        let before = (i + 15) % 16;
        let philosopher = format!(
            "des (0,6,6)\n(0,think.{i},1)\n(1,take.{i}.{i},2)\n(2,take.{i}.{next},3)\n(3,eat.{i},4)\n\
             (4,put.{i}.{i},5)\n(5,put.{i}.{next},0)\n"
        );
        let fork = format!(
            "des (0,4,3)\n(0,take.{i}.{i},1)\n(1,put.{i}.{i},0)\n(0,take.{before}.{i},2)\n(2,put.{before}.{i},0)\n"
        );
        command.arg(written(&folder, &format!("p{i}.aut"), &philosopher));
        command.arg(written(&folder, &format!("f{i}.aut"), &fork));
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(signalled.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 3, "{}{}", out(&output), err(&output));
    let document = json(&output);
    let unfinished = &document["results"][0]["unfinished"];
    assert_eq!(unfinished["reason"], "interrupted");
    assert_eq!(unfinished["phase"], "composing");
    assert!(unfinished["states"].as_u64().is_some_and(|states| states > 0), "{document}");
}
