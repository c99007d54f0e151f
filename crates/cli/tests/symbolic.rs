//! `check --engine symbolic` on the examples of all languages: the verdicts, counts and lengths of counterexamples of
//! the explicit engines.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn results(file: &Path, options: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.args(["check", "--format", "json", "--symmetry", "off", "--timeout", "20s"]).arg(file).args(options);
    let output = command.output().expect("the program runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["runs"][0]["results"].as_array().expect("results").clone()
}

fn examples(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|own| own == "pml" || own == "mcrl2" || own == "csp"));
    files.sort();
    files
}

/// Larger state spaces take a test build too long.
const MOST_STATES: u64 = 3_000;

/// Compares the answers of both engines; how many.
fn agree(file: &Path, options: &[&str]) -> usize {
    let mut compared = 0;
    let explicit = results(file, options);
    let small = |answer: &Value| answer["visited_states"].as_u64().is_some_and(|states| states < MOST_STATES);
    if !explicit.iter().all(small) {
        return 0;
    }
    let symbolic = results(file, &[options, &["--engine", "symbolic"]].concat());
    assert_eq!(explicit.len(), symbolic.len());
    for (one, other) in explicit.iter().zip(&symbolic) {
        let what = format!("{}, {options:?}: {one}\n{other}", file.display());
        assert_eq!(one["verdict"], other["verdict"], "{what}");
        let steps = |answer: &Value| answer["witness"]["runs"][0]["steps"].as_array().map(Vec::len);
        assert_eq!(steps(one), steps(other), "{what}");
        assert_eq!(one["witness"]["length"], other["witness"]["length"], "{what}");
        if one["engine"] == "exact" {
            assert_eq!(other["engine"], "symbolic", "{what}");
            assert!(other["peak_nodes"].as_u64().is_some_and(|nodes| nodes > 0), "{what}");
            if one["verdict"] == "holds" || options.contains(&"--keep-going") {
                assert_eq!(one["visited_states"], other["visited_states"], "{what}");
                assert_eq!(one["visited_transitions"], other["visited_transitions"], "{what}");
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn examples_of_promela_have_the_same_answers() {
    // Diagrams take all steps.
    let all_steps = ["--partial-order", "off"];
    let compared: usize = examples("promela").iter().map(|file| agree(file, &all_steps)).sum();
    assert!(compared >= 20, "{compared} answers were compared");
}

#[test]
fn examples_of_mcrl2_have_the_same_answers() {
    let compared: usize = examples("mcrl2").iter().map(|file| agree(file, &["--keep-going"])).sum();
    assert!(compared >= 15, "{compared} answers were compared");
}

/// Compares the answers of both engines on the assertions of a script with fewer states than that; how many.
fn scripts_agree(file: &Path, options: &[&str], most: u64) -> usize {
    let options = [options, &["--partial-order", "off"]].concat();
    let text = std::fs::read_to_string(file).expect("a script");
    // Scripts without a refinement refuse the choice of its algorithm.
    let normal_form: &[&str] = if text.contains("[T=") || text.contains("[F=") || text.contains("[FD=") {
        &["--algorithm", "normal-form"]
    } else {
        &[]
    };
    let explicit = results(file, &[&options[..], normal_form].concat());
    let small = |answer: &&Value| {
        let asked = answer["engine"].as_str().is_some_and(|engine| ENGINES.contains(&engine));
        let model = answer["model"].as_str().is_none_or(|model| ["T", "F", "FD"].contains(&model));
        asked && model && answer["visited_states"].as_u64().is_some_and(|states| states < most)
    };
    let small: Vec<&Value> = explicit.iter().filter(small).collect();
    if small.is_empty() {
        return 0;
    }
    let numbers: Vec<String> = small.iter().map(|answer| answer["index"].to_string()).collect();
    let only = numbers.join(",");
    let symbolic = results(file, &[&options[..], &["--engine", "symbolic", "--only", &only]].concat());
    assert_eq!(small.len(), symbolic.len());
    for (one, other) in small.iter().zip(&symbolic) {
        let what = format!("{}, {options:?}: {one}\n{other}", file.display());
        assert_eq!(other["engine"], "symbolic", "{what}");
        assert_eq!(one["verdict"], other["verdict"], "{what}");
        assert_eq!(one["result"], other["result"], "{what}");
        assert_eq!(one["witness"]["length"], other["witness"]["length"], "{what}");
        if one["witness"].is_null() {
            assert_eq!(one["visited_states"], other["visited_states"], "{what}");
            assert_eq!(one["visited_transitions"], other["visited_transitions"], "{what}");
        }
    }
    small.len()
}

/// The explicit engines whose questions the symbolic one answers, too.
const ENGINES: [&str; 3] = ["normal-form", "deadlock", "divergence"];

#[test]
fn examples_of_cspm_have_the_same_answers() {
    let compared: usize = examples("csp").iter().map(|file| scripts_agree(file, &[], MOST_STATES)).sum();
    assert!(compared >= 80, "{compared} answers were compared");
}

#[test]
fn uncompressed_components_have_the_same_answers() {
    let few = ["philosophers.csp", "alternating_bit.csp", "chased_intruder.csp", "prioritised_controller.csp"];
    let files = examples("csp");
    let few = files.iter().filter(|file| few.iter().any(|name| file.ends_with(name)));
    let compared: usize = few.map(|file| scripts_agree(file, &["--no-leaf-compression"], MOST_STATES)).sum();
    assert!(compared >= 8, "{compared} answers were compared");
}

/// Prioritised and chased processes that are too large to be enumerated, inside larger ones: their states are found on
/// demand, and steps of combinations that no run reaches are anticipated.
#[test]
fn lazy_components_have_the_same_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lazy");
    for (script, assertions) in [("stations.csp", 11), ("buffers.csp", 9)] {
        assert_eq!(scripts_agree(&folder.join(script), &[], u64::MAX), assertions, "{script}");
    }
}

#[test]
fn a_count_has_as_many_digits_as_it_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bits.mcrl2");
    let cell = "P(false)".to_string();
    let cells = vec![cell; 80].join(" || ");
    let text = format!(
        "act up, down; proc P(b: Bool) = (!b) -> up . P(true) + b -> down . P(false);\ninit allow({{up, down}}, {cells});\n"
    );
    std::fs::write(&file, text).expect("a specification");
    let answer = &results(&file, &["--engine", "symbolic", "--threads", "2"])[0];
    assert_eq!(answer["verdict"], "holds", "{answer}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output =
        command.args(["check", "--format", "json", "--engine", "symbolic"]).arg(&file).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // 2^80
    assert!(text.contains("\"visited_states\": 1208925819614629174706176,"), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_trefoil"))
        .args(["check", "--engine", "symbolic", "--why"])
        .arg(&file)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("1.21 × 10^24 states") && text.contains("symbolic: --engine asks for it"), "{text}");
}

#[test]
fn what_the_symbolic_engine_does_not_do_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, model) = (folder.path().join("s.csp"), folder.path().join("m.pml"));
    std::fs::write(&script, "channel a\nP = a -> P\nassert P :[deterministic [F]]\n").expect("a script");
    std::fs::write(&model, "byte x;\nactive proctype P() { x = 1 }\n").expect("a model");
    let refused = |file: &Path, options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        let output = command.args(["check", "--engine", "symbolic"]).args(options).arg(file).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&script, &[]).contains("--engine symbolic does not apply to deterministic (CSPM)"));
    std::fs::write(&script, "channel a\nP = a -> P\nassert P [T= P\n").expect("a script");
    let pair = refused(&script, &["--algorithm", "antichain"]);
    assert!(pair.contains("--engine symbolic") && pair.contains("--algorithm antichain"), "{pair}");
    let pair = refused(&script, &["--partial-order", "on"]);
    assert!(pair.contains("--engine symbolic") && pair.contains("--partial-order"), "{pair}");
    let pair = refused(&model, &["--store", "bitstate"]);
    assert!(pair.contains("--engine symbolic") && pair.contains("--store bitstate"), "{pair}");
    let pair = refused(&model, &["--strategy", "canonical"]);
    assert!(pair.contains("--engine symbolic") && pair.contains("--strategy canonical"), "{pair}");
}

/// Rings of 24 philosophers; the numbers are the terms of the linear recurrences that explicit counts of rings with two
/// to ten seats satisfy (`benchsuite/symbolic/agree rings`).
#[test]
fn rings_have_the_states_that_small_rings_foretell() {
    let folder = tempfile::tempdir().expect("a folder");
    let counted = |name: &str, text: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a model");
        results(&file, &["--engine", "symbolic", "--keep-going"]).last().expect("an answer").clone()
    };
    let script = |asymmetric: bool| {
        let (first, second) = match asymmetric {
            true => ("(if i == 0 then next(i) else i)", "(if i == 0 then i else next(i))"),
            false => ("i", "next(i)"),
        };
        format!(
            "N = 24\nId = {{0 .. N - 1}}\nnext(i) = (i + 1) % N\nprevious(i) = (i + N - 1) % N
            channel sit, eat, leave : Id\nchannel pick, drop : Id . Id
            PHIL(i, f, g) = sit.i -> pick.i.f -> pick.i.g -> eat.i -> drop.i.g -> drop.i.f -> leave.i -> PHIL(i, f, g)
            FORK(i) = [] j : {{i, previous(i)}} @ pick.j.i -> drop.j.i -> FORK(i)
            PHILS = || i : Id @ [{{sit.i, eat.i, leave.i, pick.i.i, drop.i.i, pick.i.next(i), drop.i.next(i)}}] PHIL(i, {first}, {second})
            FORKS = || i : Id @ [{{pick.j.i, drop.j.i | j <- {{i, previous(i)}}}}] FORK(i)
            assert PHILS [|{{|pick, drop|}}|] FORKS :[deadlock free [F]]\n"
        )
    };
    let model = |asymmetric: bool| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchsuite/symbolic/ring.pml");
        let text = std::fs::read_to_string(file).expect("a model").replace("#define N 4", "#define N 24");
        text.replace("#define ASYMMETRIC 0", &format!("#define ASYMMETRIC {}", u8::from(asymmetric)))
    };
    for (answer, states, length) in [
        (counted("ring.csp", script(false)), "4738381338321616896", Some(48)),
        (counted("other.csp", script(true)), "4287106925148129573", None),
        (counted("ring.pml", model(false)), "2838557779201", Some(24)),
        (counted("other.pml", model(true)), "1885087892158", None),
    ] {
        assert_eq!(answer["verdict"], if length.is_some() { "fails" } else { "holds" }, "{answer}");
        assert_eq!(answer["visited_states"].to_string(), states, "{answer}");
        assert_eq!(answer["witness"]["length"].as_u64(), length, "{answer}");
    }
}

/// Runs `check` with these options and gives the exit code and both outputs.
fn told(file: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.arg("check").args(options).arg(file).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Four processes that mix their values, so that nothing is shared: no diagram gets far in a second.
const MIXED: &str = "byte g, y[5];
    active [5] proctype P() {
        byte c;
        do :: c < 40 -> atomic { c++; y[_pid] = (y[_pid] + g) % 11; g = (g * 7 + y[_pid] + _pid) % 97 } od
    }";

#[test]
fn an_answer_that_is_cut_has_one_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("mixed.pml");
    std::fs::write(&model, MIXED).expect("a model");
    let (code, said, _) = told(&model, &["--engine", "symbolic", "--timeout", "2s"]);
    assert_eq!(code, Some(3), "{said}");
    let answer: String = said.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(answer.contains("unknown") && answer.contains("while exploring symbolically; at most "), "{said}");
    assert_eq!(answer.matches("states").count(), 1, "{said}");
    assert!(!answer.contains("as many as before") && !answer.contains("fold"), "{said}");
    let (_, said, _) = told(&model, &["--engine", "symbolic", "--timeout", "2s", "--format", "json"]);
    let document: Value = serde_json::from_str(&said).expect("JSON");
    let result = &document["runs"][0]["results"][0];
    assert_eq!(result["visited_states"], result["unfinished"]["states"], "{result}");
}

#[test]
fn going_on_after_a_counterexample_about_processes_needs_the_symbolic_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("s.csp");
    std::fs::write(&script, "channel a, b\nP = a -> P\nQ = a -> Q [] b -> a -> a -> Q\nassert P [T= Q\n")
        .expect("a script");
    let (code, _, said) = told(&script, &["--keep-going"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--keep-going") && said.contains("only `--engine symbolic` goes on"), "{said}");
    // The specification allows no b, so what is behind it is no state of the product.
    let all = &results(&script, &["--engine", "symbolic", "--keep-going"])[0];
    assert_eq!((&all["verdict"], &all["visited_states"]), (&"fails".into(), &1.into()), "{all}");
}

#[test]
fn the_help_names_every_language_that_has_the_engine() {
    let output = Command::new(env!("CARGO_BIN_EXE_trefoil")).args(["check", "--help"]).output().expect("it runs");
    let help = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("What searches the states of a model of any language"), "{help}");
    assert!(help.contains("Promela, mCRL2, and CSPM with --engine symbolic: continue the search"), "{help}");
}

/// A specification whose normal form has 2^k nodes after k events: it remembers which of the last events were `a`.
#[test]
fn a_normal_form_that_is_too_large_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("large.csp");
    let text = "channel a, b\n\
        S = a -> S [] b -> S [] a -> T(40)\n\
        T(n) = if n == 0 then STOP else a -> T(n - 1) [] b -> T(n - 1)\n\
        I = a -> I [] b -> I\n\
        assert S [F= I ||| I\n";
    std::fs::write(&script, text).expect("a script");
    let (code, said, _) = told(&script, &["--engine", "symbolic", "--timeout", "20s", "--memory", "2G"]);
    assert!(code == Some(3) || code == Some(0), "{said}");
    let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = "the normal form of the specification is too large";
    assert!(text.contains(hint) && text.contains("`--engine explicit` needs none"), "{said}");
}

#[test]
fn groups_of_statements_on_one_line_have_names_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("line.pml");
    std::fs::write(&model, "byte x, y; active proctype P() { x = 1; y = 2; x = y }\n").expect("a model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.args(["structure", "--groups"]).arg(&model).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for statement in ["P(0) line 1: x = 1", "P(0) line 1: y = 2", "P(0) line 1: x = y"] {
        assert!(said.contains(statement), "{said}");
    }
}
