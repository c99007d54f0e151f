//! `check --formula --engine symbolic`: the verdicts of the explicit engine with every solver, in all languages;
//! counterexamples, refusals, JSON.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SOLVERS: [&str; 7] = ["auto", "sinks", "solitaire", "forced", "fatal", "recursive", "full"];

/// Safety, reachability, a deadlock, liveness, fairness: priorities of both players in every order.
const FORMULAS: [&str; 8] = [
    "[true*]<true>true",
    "<true*>[true]false",
    "mu X. [true]X",
    "nu X. <true>X",
    "nu X. mu Y. <true>X || <tau>Y",
    "mu X. nu Y. [true](X || [true]Y)",
    "nu X. mu Y. nu Z. ([true]X && ([true]false || <true>Y) && [true]Z)",
    "[true*]<true*>[true]<true>true",
];

fn run(arguments: &[&str], file: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.arg("check").args(arguments).arg(file).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn results(arguments: &[&str], file: &Path) -> Vec<Value> {
    let (_, out, err) = run(&[arguments, &["--format", "json", "--timeout", "20s"]].concat(), file);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {out}{err}"));
    document["runs"][0]["results"].as_array().expect("results").clone()
}

/// Larger games take a test build too long.
const MOST_VERTICES: u64 = 4_000;

/// Compares both engines; how many formulas there were.
fn agree(file: &Path, formulas: &[&str], options: &[&str], solver: &str) -> usize {
    let asked: Vec<&str> = formulas.iter().flat_map(|&formula| ["--formula", formula]).collect();
    let explicit = results(&[&asked[..], options].concat(), file);
    let small = |answer: &Value| answer["vertices"].as_u64().is_some_and(|vertices| vertices < MOST_VERTICES);
    if !explicit.iter().all(small) {
        return 0;
    }
    for solver in ["auto", solver] {
        let more = ["--engine", "symbolic", "--solver", solver, "--threads", if solver == "auto" { "2" } else { "1" }];
        let symbolic = results(&[&asked[..], options, &more].concat(), file);
        assert_eq!(explicit.len(), symbolic.len());
        for (one, other) in explicit.iter().zip(&symbolic) {
            let what = format!("{}, {solver}: {one}\n{other}", file.display());
            assert_eq!(one["verdict"], other["verdict"], "{what}");
            assert_eq!(other["engine"], "symbolic", "{what}");
            assert!(other["solver"].is_string(), "{what}");
            assert!(other["peak_nodes"].as_u64().is_some_and(|nodes| nodes > 0), "{what}");
            assert!(other["vertices"].as_u64().is_some_and(|vertices| vertices > 0), "{what}");
            assert_eq!(other["witness"].is_object(), other["verdict"] == "fails", "{what}");
            if solver == "full" && one["verdict"] == "holds" {
                assert!(other["vertices"].as_u64() >= one["vertices"].as_u64(), "{what}");
            }
        }
    }
    formulas.len()
}

#[test]
fn formulas_about_examples_have_the_verdicts_of_explicit_games_with_every_solver() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcrl2");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|own| own == "mcrl2"));
    files.sort();
    let compared = files.iter().enumerate().map(|(at, file)| {
        let solver = SOLVERS[1 + at % (SOLVERS.len() - 1)];
        agree(file, &FORMULAS, &[], solver)
    });
    let compared: usize = compared.sum();
    assert!(compared >= 80, "{compared}");
}

const SCRIPT: &str = "\
datatype Id = one | two
channel ask, get: Id
P(i) = ask.i -> get.i -> P(i)
L = ask?i -> get.i -> L
SYSTEM = (P(one) ||| P(two)) [| {| ask, get |} |] L
";

const MODEL: &str = "\
byte x;
active [2] proctype P() {
  do
  :: d_step { x < 3 -> x++ }
  :: d_step { x > 0 -> x-- }
  od
}
";

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("a file");
    file
}

#[test]
fn all_languages_and_all_solvers_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = written(folder.path(), "s.csp", SCRIPT);
    let model = written(folder.path(), "m.pml", MODEL);
    let about_x =
        ["[true*]val(x <= 3)", "[true*]val(x < 3)", "[true*]<true*>val(x == 0)", "nu X. <true>X && val(x < 2)"];
    for solver in SOLVERS {
        let options = ["--process", "SYSTEM", "--symmetry", "off"];
        let more = ["[true*][ask(one)]<get(one)>true", "[true* . ask(one) . ask(two)]false", "<true* . get(two)>true"];
        assert!(agree(&script, &[&FORMULAS[..], &more].concat(), &options, solver) > 0);
        assert!(agree(&model, &[&FORMULAS[..], &about_x].concat(), &[], solver) > 0);
    }
}

/// Cells that are filled and emptied independently, each after the one before it was filled once.
fn cells(count: usize) -> String {
    let mut text = "act up, down: Nat; bad;\n".to_string();
    text += "proc C(n: Nat, b: Bool) = (!b) -> up(n) . C(n, true) + b -> down(n) . C(n, false);\n";
    text += "     B(k: Nat) = (k < 5) -> up(99) . B(k + 1) + (k == 5) -> bad . B(0);\n";
    let all: Vec<String> = (0..count).map(|cell| format!("C({cell}, false)")).collect();
    text + &format!("init B(0) || {};\n", all.join(" || "))
        .replace("init ", "init allow({up, down, bad}, ")
        .replace(";\n", ");\n")
}

#[test]
fn a_game_of_many_vertices_has_a_short_counterexample() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), "cells.mcrl2", &cells(30));
    let symbolic = ["--engine", "symbolic"];
    let answer = |options: &[&str]| results(&[&symbolic[..], options].concat(), &file)[0].clone();
    let fails = answer(&["--formula", "[true* . bad]false", "--solver", "full"]);
    assert_eq!(fails["verdict"], "fails", "{fails}");
    assert!(fails["vertices"].as_u64() > Some(6 << 30), "{fails}");
    assert_eq!(fails["witness"]["length"], 6, "{fails}");
    // Odd goes round forever without it: a lasso.
    let lasso = answer(&["--formula", "mu X. [!bad]X", "--solver", "full"]);
    assert_eq!(lasso["verdict"], "fails", "{lasso}");
    assert_eq!(lasso["witness"]["finding"]["repeats"], true, "{lasso}");
    let holds = answer(&["--formula", "[true*]<true* . bad>true", "--witness", "--threads", "2"]);
    assert_eq!(holds["verdict"], "holds", "{holds}");
}

#[test]
fn the_solver_and_its_reason_are_named_and_what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = written(folder.path(), "m.mcrl2", "act a, b;\ninit (a . b . delta) || (b . a . delta);\n");
    let script = written(folder.path(), "s.csp", SCRIPT);
    let formula = ["--formula", "[true* . b . b . b]false"];
    let (code, out, err) = run(&[&formula[..], &["--engine", "symbolic", "--why"]].concat(), &model);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("symbolic: --engine asks for it") && out.contains("decided by"), "{out}");
    // The explicit engine has the solvers, too.
    let answer = &results(&[&formula[..], &["--solver", "fatal"]].concat(), &model)[0];
    assert_eq!((&answer["engine"], &answer["verdict"]), (&Value::from("game"), &Value::from("holds")), "{answer}");
    let refused = |options: &[&str], file: &Path| {
        let (code, out, err) = run(options, file);
        assert_eq!(code, Some(2), "{options:?}: {out}{err}");
        err
    };
    let words = refused(&["--solver", "fatal"], &model);
    assert!(words.contains("--solver fatal does not apply to no deadlock (mCRL2)"), "{words}");
    let types = ["--engine", "symbolic", "--process", "SYSTEM", "--symmetry", "Id", "--formula", "[true*]<true>true"];
    let words = refused(&types, &script);
    assert!(words.contains("--engine symbolic") && words.contains("--symmetry Id"), "{words}");
}

#[test]
fn a_game_that_is_cut_says_which_engine_gave_up_and_how_far_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Nine counters that mix their values: 11^9 states, and no diagram of them is small.
    let parameters: Vec<String> = (0..9).map(|own| format!("p{own}: Nat")).collect();
    let summand = |own: usize| {
        let (next, after) = ((own + 1) % 9, (own + 2) % 9);
        format!("(p{own} != p{next}) -> a . P(p{own} = (p{own} + p{after} * 2 + 1) mod 11)")
    };
    let summands: Vec<String> = (0..9).map(summand).collect();
    let text = format!(
        "act a;\nproc P({}) = {};\ninit P(1, 0, 0, 0, 0, 0, 0, 0, 0);\n",
        parameters.join(", "),
        summands.join("\n + ")
    );
    let file = written(folder.path(), "hard.mcrl2", &text);
    let asked = ["--formula", "[true*]<true>true", "--engine", "symbolic", "--solver", "full", "--timeout", "2s"];
    let (code, out, err) = run(&[&asked[..], &["--format", "json"]].concat(), &file);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let result = &document["runs"][0]["results"][0];
    assert_eq!((code, &result["verdict"], &result["engine"]), (Some(3), &"unknown".into(), &"symbolic".into()));
    assert!(result["peak_nodes"].as_u64().is_some_and(|nodes| nodes > 512), "{result}");
    assert!(result["vertices"].as_u64().is_some_and(|vertices| vertices > 1), "{result}");
    let (_, out, err) = run(&[&asked[..], &["--symmetry", "auto"]].concat(), &file);
    assert!(out.contains("--engine symbolic has no symmetry reduction"), "{out}{err}");
}
