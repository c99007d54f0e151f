//! Each option of `trefoil check` is honoured or refused by name, in each language and for each kind of assertion.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// One script for each sort of assertion, by its name in the matrix.
const ASSERTIONS: &[(&str, &str, &str)] = &[
    ("CSPM", "refinement", "assert RUN [T= SYSTEM\n"),
    ("CSPM", "deadlock free", "assert SYSTEM :[deadlock free [F]]\n"),
    ("CSPM", "divergence free", "assert SYSTEM :[divergence free]\n"),
    ("CSPM", "deterministic", "assert SYSTEM :[deterministic [F]]\n"),
    ("CSPM", "has trace", "assert SYSTEM :[has trace]: <go>\n"),
    ("CSPM", "symmetric", "assert SYSTEM :[symmetric]: T\n"),
    ("CSPM", "formula", "[true*]<true>true"),
    ("CSPM", "ltl", "<> go"),
    ("Promela", "assertions", "1"),
    ("Promela", "end states", "2"),
    ("Promela", "trace", "3"),
    ("Promela", "ltl and never claims", "4"),
    ("Promela", "formula", "[true*]<true>true"),
    ("mCRL2", "no deadlock", "1"),
    ("mCRL2", "never", "2"),
    ("mCRL2", "formula", "[true*]<true>true"),
    ("mCRL2", "ltl", "<> a"),
];

const PROCESSES: &str = "\
datatype T = A | B | C
channel go
channel a : T
RUN = go -> RUN [] a?x -> RUN
P(x) = a.x -> P(x)
SYSTEM = go -> (||| x : T @ P(x))
";

const MODEL: &str = "\
chan c = [1] of { byte };
byte x;
active [2] proctype P() { do :: x < 1 -> x++; assert(x < 3) :: c!1 -> c?1 od }
trace { do :: c!1; c?1 od }
ltl small { [] (x < 3) }
";

const SPECIFICATION: &str = "act a, b; proc P = a . P + b . P; init P;\n";

/// What an option is.
enum Sort {
    /// What is shown, and of what: no engine knows it.
    Face,
    /// A limit of every check.
    Limit,
    /// To be honoured or refused; values that ask for something, and values that ask for nothing.
    Asked(&'static [&'static str], &'static [&'static str]),
}

/// All options. A new one has to be entered here, and then honoured or refused.
const OPTIONS: &[(&str, Sort)] = &[
    ("--only", Sort::Face),
    ("--never", Sort::Face),
    ("--formula", Sort::Face),
    ("--property", Sort::Face),
    ("--process", Sort::Face),
    ("--ltl", Sort::Face),
    ("--claim", Sort::Face),
    ("--explain", Sort::Face),
    ("--list", Sort::Face),
    ("--why", Sort::Face),
    ("--chart", Sort::Face),
    ("--report", Sort::Face),
    ("--language", Sort::Face),
    ("--format", Sort::Face),
    ("--help", Sort::Face),
    ("--version", Sort::Face),
    ("--threads", Sort::Limit),
    ("--memory", Sort::Limit),
    ("--timeout", Sort::Limit),
    ("--engine", Sort::Asked(&["symbolic"], &["auto"])),
    ("--solver", Sort::Asked(&["sinks", "fatal", "full"], &["auto"])),
    ("--algorithm", Sort::Asked(&["antichain", "normal-form", "lazy-normal-form"], &["automatic"])),
    ("--no-leaf-compression", Sort::Asked(&[""], &[])),
    ("--partial-order", Sort::Asked(&["on"], &["off", "auto"])),
    ("--symmetry", Sort::Asked(&["T"], &["auto", "off"])),
    ("--strategy", Sort::Asked(&["canonical", "stabiliser"], &["auto"])),
    ("--keep-going", Sort::Asked(&[""], &[])),
    ("--store", Sort::Asked(&["hash-compact", "bitstate:1M"], &["exact"])),
    ("--trail", Sort::Asked(&["run.trail"], &[])),
    ("--evidence", Sort::Asked(&["run.aut", "run.svg"], &[])),
    ("--witness", Sort::Asked(&[""], &[])),
    ("--fairness", Sort::Asked(&["weak", "strong"], &["none"])),
    ("--decompose", Sort::Asked(&[""], &[])),
];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("m.pml"), MODEL).expect("a model");
        std::fs::write(folder.path().join("m.mcrl2"), SPECIFICATION).expect("a specification");
        Folder(folder)
    }

    fn script(&self, assertions: &str) {
        std::fs::write(self.0.path().join("s.csp"), format!("{PROCESSES}{assertions}")).expect("a script");
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        let output = command.current_dir(self.0.path()).args(arguments).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Checks one assertion.
    fn check(&self, language: &str, assertion: &str, options: &[&str]) -> (Option<i32>, String, String) {
        if assertion.starts_with(['[', '<']) {
            let question = if assertion.starts_with('[') { "--formula" } else { "--ltl" };
            self.script("");
            let file: &[&str] = match language {
                "CSPM" => &["s.csp", "--process", "SYSTEM"],
                "Promela" => &["m.pml"],
                _ => &["m.mcrl2"],
            };
            return self.run(&[&["check"], file, &[question, assertion], options].concat());
        }
        if language == "CSPM" {
            self.script(assertion);
            return self.run(&[&["check", "s.csp"], options].concat());
        }
        let file: &[&str] = if language == "Promela" { &["m.pml"] } else { &["m.mcrl2", "--never", "b"] };
        self.run(&[&["check"], file, &["--only", assertion], options].concat())
    }
}

/// The options that the parser knows, from its own help.
fn known() -> BTreeSet<String> {
    let (_, help, _) = Folder::new().run(&["check", "--help"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long = lines.filter_map(|line| line.split([' ', ',', '[', '=']).find(|word| word.starts_with("--")));
    long.map(str::to_string).collect()
}

#[test]
fn every_option_is_entered() {
    let entered: BTreeSet<String> = OPTIONS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(known(), entered);
}

#[test]
fn every_option_is_honoured_or_refused_for_every_sort_of_assertion() {
    let folder = Folder::new();
    let (_, matrix, _) = folder.run(&["matrix", "--format", "json"]);
    let matrix: Value = serde_json::from_str(&matrix).expect("JSON");
    let rows = matrix["assertions"].as_array().expect("rows");
    let sorts: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row["language"].as_str().expect("a language"), row["assertion"].as_str().expect("a sort")))
        .filter(|(language, _)| *language != "LTS")
        .collect();
    assert_eq!(sorts, ASSERTIONS.iter().map(|(language, sort, _)| (*language, *sort)).collect());
    for (language, sort, text) in ASSERTIONS {
        let row = rows.iter().find(|row| row["language"] == *language && row["assertion"] == *sort).expect("a row");
        let answered = folder.check(language, text, &[]).0;
        for (option, kind) in OPTIONS {
            let Sort::Asked(something, nothing) = kind else { continue };
            let honoured = row["options"].as_array().expect("options").iter().any(|known| known == option);
            for value in *something {
                let joined = if value.is_empty() { option.to_string() } else { format!("{option}={value}") };
                let (code, out, err) = folder.check(language, text, &[&joined]);
                let context = format!("{language}, {sort}, {joined}:\n{out}{err}");
                if honoured {
                    assert_eq!(code == Some(2), answered == Some(2), "{context}");
                    // Formulas are checked without symmetry unless `--symmetry` is given, and say so.
                    let idle = *sort == "formula" && *option == "--strategy" && out.contains("there was no symmetry");
                    assert!(idle || !out.contains(option) && !err.contains(option), "{context}");
                } else {
                    assert_eq!(code, Some(2), "{context}");
                    assert!(out.is_empty() && err.starts_with(&format!("error: {option}")), "{context}");
                }
            }
            for value in *nothing {
                let (code, out, err) = folder.check(language, text, &[&format!("{option}={value}")]);
                assert_eq!(code, answered, "{language}, {sort}, {option} {value}:\n{out}{err}");
                assert!(!out.contains(option) && !err.contains(option), "{language}, {sort}, {option} {value}");
            }
        }
    }
}

#[test]
fn what_some_assertions_can_use_is_noted_at_the_others() {
    let folder = Folder::new();
    folder.script("assert RUN [T= SYSTEM\nassert SYSTEM :[deadlock free [F]]\n");
    let (code, out, err) = folder.run(&["check", "s.csp", "--algorithm", "antichain"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let note = "--algorithm antichain does not apply to deadlock free (CSPM); it applies to refinement (CSPM)";
    assert_eq!(out.matches(note).count(), 1, "{out}");
    let (code, out, _) = folder.run(&["check", "s.csp", "m.pml", "--store", "hash-compact", "--only", "1"]);
    assert!(code == Some(3) && out.contains("--store hash-compact does not apply to refinement (CSPM)"), "{out}");
}

#[test]
fn options_that_do_not_go_together_are_refused_with_both_names() {
    let folder = Folder::new();
    folder.script("assert RUN [T= SYSTEM\n");
    for (file, options, names) in [
        ("m.pml", ["--symmetry=off", "--strategy=canonical"], ["--strategy canonical", "--symmetry off"]),
        ("m.pml", ["--store=hash-compact", "--strategy=canonical"], ["--store hash-compact", "--strategy canonical"]),
        ("s.csp", ["--symmetry=off", "--strategy=canonical"], ["--strategy canonical", "--symmetry off"]),
        ("s.csp", ["--partial-order", "--strategy=canonical"], ["--strategy canonical", "--partial-order"]),
        ("s.csp", ["--partial-order", "--symmetry=T"], ["--symmetry T", "--partial-order"]),
        ("s.csp", ["--engine=symbolic", "--strategy=canonical"], ["--engine symbolic", "no representatives"]),
        ("s.csp", ["--engine=symbolic", "--partial-order"], ["--engine symbolic", "state by state"]),
        ("m.pml", ["--engine=symbolic", "--store=hash-compact"], ["--engine symbolic", "not one by one"]),
    ] {
        let (code, out, err) = folder.run(&["check", file, "--only", "1", options[0], options[1]]);
        assert!(code == Some(2) && out.is_empty(), "{options:?}: {out}{err}");
        assert!(names.iter().all(|name| err.contains(name)), "{options:?}: {err}");
    }
}

#[test]
fn the_page_is_what_the_table_says() {
    let (_, printed, _) = Folder::new().run(&["matrix"]);
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/matrix.md");
    let page = std::fs::read_to_string(page).expect("docs/matrix.md");
    assert_eq!(page, printed, "write it again: trefoil matrix > docs/matrix.md");
}

/// The answers of a run to all sorts of assertions, those of the script first.
fn answers(folder: &Folder, options: &[&str]) -> Vec<Value> {
    let (_, out, err) = folder.run(&[&["check", "s.csp", "m.pml", "m.mcrl2", "--format", "json"], options].concat());
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{options:?}: {out}{err}"));
    let runs = document["runs"].as_array().expect("runs");
    runs.iter().flat_map(|run| run["results"].as_array().expect("results").clone()).collect()
}

fn notes(answer: &Value) -> Vec<&str> {
    let notes = answer["notes"].as_array();
    notes.map(|notes| notes.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[test]
fn in_a_mixed_run_every_option_is_noted_exactly_where_it_is_not_honoured() {
    let folder = Folder::new();
    let in_script =
        |(language, sort, _): &&(&str, &str, &str)| *language == "CSPM" && !["formula", "ltl"].contains(sort);
    let scripts: String = ASSERTIONS.iter().filter(in_script).map(|(.., text)| *text).collect();
    folder.script(&scripts);
    let (_, matrix, _) = folder.run(&["matrix", "--format", "json"]);
    let matrix: Value = serde_json::from_str(&matrix).expect("JSON");
    let rows = matrix["assertions"].as_array().expect("rows");
    for (option, kind) in OPTIONS {
        let Sort::Asked(something, _) = kind else { continue };
        // These are for one model alone, or for formulas.
        if ["--trail", "--evidence", "--witness", "--solver"].contains(option) {
            continue;
        }
        for value in *something {
            let joined = if value.is_empty() { option.to_string() } else { format!("{option}={value}") };
            let answers = answers(&folder, &[&joined]);
            // Forbidden actions are for mCRL2 alone, and with formulas nothing else is checked.
            let assertions = ASSERTIONS.iter().filter(|(_, sort, _)| !["never", "formula", "ltl"].contains(sort));
            assert_eq!(answers.len(), assertions.clone().count(), "{joined}");
            for ((language, sort, _), answer) in assertions.zip(&answers) {
                let row = rows.iter().find(|row| row["language"] == *language && row["assertion"] == *sort);
                let honoured =
                    row.expect("a row")["options"].as_array().expect("options").iter().any(|of| of == option);
                let noted = notes(answer).iter().any(|note| note.starts_with(option));
                assert_eq!(noted, !honoured, "{language}, {sort}, {joined}: {answer}");
            }
        }
    }
}

#[test]
fn a_question_that_no_engine_answers_says_why_and_what_it_cannot_use() {
    let folder = Folder::new();
    folder.script("assert SYSTEM :[symmetric]: T\n");
    let (code, out, err) = folder.run(&["check", "s.csp", "--why"]);
    assert!(code == Some(0) && out.contains("static: "), "{out}{err}");
    let (code, _, err) = folder.run(&["check", "s.csp", "--strategy", "canonical"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("has trace, formula (CSPM) and every Promela check"), "{err}");
}

#[test]
fn options_that_only_exclude_each_other_are_refused_as_a_pair() {
    let folder = Folder::new();
    folder.script("assert RUN [T= SYSTEM\n");
    let (code, _, err) = folder.run(&["check", "s.csp", "m.pml", "--strategy=canonical", "--store=hash-compact"]);
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(err, "error: --store hash-compact cannot be used together with --strategy canonical\n");
}

#[test]
fn the_user_overrides_a_reduction_that_an_assertion_asks_for() {
    let folder = Folder::new();
    folder.script(
        "channel b : T\nQ(x) = a.x -> b.x -> Q(x)\nLONG = ||| x : T @ Q(x)\n\
         assert LONG :[deadlock free [F]] :[partial order reduce]\nassert LONG :[deadlock free [F]]\n",
    );
    let states = |options: &[&str]| -> Vec<u64> {
        let answers = answers(&folder, &[&["--symmetry=off"], options].concat());
        answers[..2].iter().map(|answer| answer["visited_states"].as_u64().expect("a number")).collect()
    };
    let written = states(&[]);
    assert!(written[0] < written[1], "{written:?}");
    assert_eq!(states(&["--partial-order=off"]), [written[1]; 2]);
    // What the user did not give is not named as an option.
    let (code, _, err) = folder.run(&["check", "s.csp", "--only=1", "--strategy=canonical"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--strategy canonical") && err.contains("partial order reduce"), "{err}");
    assert!(!err.contains("--partial-order"), "{err}");
}

#[test]
fn a_strategy_without_symmetries_is_noted() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("s.csp"), "channel a, b\nP = a -> b -> P\nassert P :[deadlock free [F]]\n")
        .expect("a script");
    std::fs::write(folder.0.path().join("m.pml"), "byte x;\nactive proctype P() { x = 1 }\n").expect("a model");
    for answer in answers(&folder, &["--strategy=enumerate"]) {
        let notes = notes(&answer);
        assert_eq!(notes.iter().filter(|note| note.starts_with("--strategy enumerate")).count(), 1, "{answer}");
    }
    for answer in answers(&folder, &["--strategy=auto"]) {
        assert!(notes(&answer).iter().all(|note| !note.contains("--strategy")), "{answer}");
    }
}

#[test]
fn components_are_left_uncompressed_only_where_there_are_some() {
    let folder = Folder::new();
    folder.script("");
    std::fs::write(folder.0.path().join("x.aut"), "des (0,1,2)\n(0,a,1)\n").expect("a system");
    let option = "--no-leaf-compression";
    for arguments in [
        &["graph", "x.aut", "--format=dot"][..],
        &["trace", "x.aut", "--random=1"],
        &["trace", "m.pml", "--random=1"],
        &["trace", "m.pml", "--assertion=1", "--all"],
        &["symmetry", "m.pml"],
    ] {
        let (code, out, err) = folder.run(&[arguments, &[option]].concat());
        assert!(code == Some(2) && out.is_empty() && err.contains(option), "{arguments:?}: {out}{err}");
    }
    for arguments in [&["graph", "s.csp", "SYSTEM", "--format=dot"][..], &["structure", "s.csp", "SYSTEM"]] {
        let (code, out, err) = folder.run(&[arguments, &[option]].concat());
        assert!(code == Some(0) && err.is_empty(), "{arguments:?}: {out}{err}");
    }
    for option in ["--text-only", "--only=1"] {
        let (code, _, err) = folder.run(&["symmetry", "m.pml", option]);
        assert!(code == Some(2) && err.contains("CSPM"), "{err}");
    }
}

#[test]
fn assertions_are_chosen_by_lists_of_numbers_and_never_by_nothing() {
    let folder = Folder::new();
    folder.script("assert RUN [T= SYSTEM\nassert SYSTEM :[divergence free]\nassert RUN [F= RUN\n");
    for (chosen, count) in [("1,3", "2 assertions"), ("3, 2", "2 assertions"), ("2", "1 assertion")] {
        let (code, out, err) = folder.run(&["check", "s.csp", "--only", chosen]);
        assert!(code == Some(0) && out.contains(count), "{chosen}: {out}{err}");
    }
    for command in ["check", "symmetry"] {
        for nothing in ["", " "] {
            let (code, out, err) = folder.run(&[command, "s.csp", "--only", nothing]);
            assert!(code == Some(2) && out.is_empty() && err.starts_with("error: --only"), "{out}{err}");
        }
    }
}
