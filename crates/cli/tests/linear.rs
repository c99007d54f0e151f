//! Formulas of linear temporal logic and automata in files: about labels in CSP, mCRL2 and system files, about states
//! in Promela; and `trefoil automaton`.

use std::process::Command;

use serde_json::Value;

const SCRIPT: &str = "\
channel req, ack : {0..1}
channel work, stop
P = req?x -> (work -> ack!x -> P [] stop -> STOP)
Q = P \\ {work}
LOOP = work -> LOOP
R = req.0 -> (LOOP \\ {work})
T = req.0 -> SKIP
";

const BUFFER: &str = "\
sort D = struct d1 | d2;
act put, get: D; lose;
proc Empty = sum d: D. put(d) . Full(d);
     Full(d: D) = get(d) . Empty + lose . Empty;
init Empty;
";

const MODEL: &str = "\
byte x;
active proctype P() { do :: x < 2 -> x++ :: x > 0 -> x-- od }
ltl low { [] (x < 2) }
never { do :: x == 2 -> break :: else od }
";

/// Accepts runs on which `x` is 2 again and again.
const AGAIN: &str = "HOA: v1\nname: \"again\"\nStates: 1\nStart: 0\nAP: 2 \"x == 2\" \"1\"\n\
    Acceptance: 1 Inf(0)\n--BODY--\nState: 0\n[0&1] 0 {0}\n[!0] 0\n--END--\n";

/// Accepts words in which `get` happens before any `put`.
const EARLY: &str = "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"put\" \"exists d: D. get(d)\"\n\
    Acceptance: 0 t\n--BODY--\nState: 0\n[!0&!1] 0\n[1] 1\nState: 1\n[t] 1\n--END--\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        write("script.csp", SCRIPT);
        write("buffer.mcrl2", BUFFER);
        write("model.pml", MODEL);
        write("again.hoa", AGAIN);
        write("early.hoa", EARLY);
        write("system.aut", "des (0,3,3)\n(0,\"put(1)\",1)\n(1,\"tau\",1)\n(1,\"get(1)\",0)\n");
        Folder(folder)
    }

    fn trefoil(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        let output = command.current_dir(self.0.path()).args(arguments).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// The verdict of each assertion, and how a run violates it.
    fn verdicts(&self, arguments: &[&str]) -> Vec<String> {
        let (_, out, err) = self.trefoil(&[&["check"], arguments, &["--format", "json"]].concat());
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {out}{err}"));
        let results = document["runs"][0]["results"].as_array().expect("results").clone();
        let told = |result: &Value| {
            let how = result["witness"]["finding"]["violation"].as_str().unwrap_or("");
            format!("{} {how}", result["verdict"].as_str().expect("a verdict")).trim().to_string()
        };
        results.iter().map(told).collect()
    }
}

#[test]
fn formulas_about_events() {
    let folder = Folder::new();
    let asked = |process: &str, formula: &str| {
        folder.verdicts(&["script.csp", "--process", process, "--ltl", formula]).concat()
    };
    assert_eq!(asked("P", "[] (req(0) -> <> ack(0))"), "fails deadlock");
    // `stop` is the only way to avoid the answer.
    assert_eq!(asked("P", "([] !stop) -> [] (req(0) -> <> ack(0))"), "holds");
    assert_eq!(asked("P", "[] (req(0) -> !ack U (ack(0) || stop) || [] !ack)"), "holds");
    // A name without arguments is the channel with any.
    assert_eq!(asked("P", "[] (ack -> X {true})"), "holds");
    assert_eq!(asked("P", "[] (req -> X (ack || stop))"), "fails at_once");
    // What is hidden is no part of the word.
    assert_eq!(asked("Q", "[] (req -> X (ack || stop))"), "holds");
    assert_eq!(asked("P", "[] !stop"), "fails at_once");
    assert_eq!(asked("P", "<> stop"), "fails cycle");
    assert_eq!(asked("R", "<> ack"), "fails divergence");
    assert_eq!(asked("R", "req && X [] !{true}"), "holds");
    assert_eq!(asked("T", "req && X tick && X X [] !{true}"), "holds");
    assert_eq!(asked("T", "<> ack"), "fails end");
}

#[test]
fn a_run_that_violates_a_formula_is_explained() {
    let folder = Folder::new();
    let formula = "[] (req(1) -> <> ack(1))";
    let (code, out, _) = folder.trefoil(&["check", "script.csp", "--process", "P", "--ltl", formula, "--explain"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("after 2 steps, a deadlock violates the claim"), "{out}");
    assert!(out.contains("req.1") && out.contains("stop"), "{out}");
    assert!(out.contains("fails    ltl [] (req(1) -> <> ack(1))"), "named as it was written: {out}");
}

#[test]
fn formulas_about_actions() {
    let folder = Folder::new();
    let asked = |formula: &str| folder.verdicts(&["buffer.mcrl2", "--ltl", formula]).concat();
    assert_eq!(asked("[] (put(d1) -> <> get(d1))"), "fails cycle");
    assert_eq!(asked("[] (put(d1) -> X (get(d1) || lose))"), "holds");
    assert_eq!(asked("[] {exists d: D. put(d)} || <> (get || lose)"), "holds");
    let both = folder.verdicts(&["buffer.mcrl2", "--formula", "[true*]<true>true", "--ltl", "<> put"]);
    assert_eq!(both, ["holds", "holds"]);
    assert_eq!(folder.verdicts(&["system.aut", "--ltl", "[] (put -> X get)"]), ["fails divergence"]);
    assert_eq!(folder.verdicts(&["system.aut", "--ltl", "[] (put -> X (!put W get))"]), ["holds"]);
}

#[test]
fn options_and_propositions_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let refused = |arguments: &[&str], words: &str| {
        let (code, out, err) = folder.trefoil(&[&["check"], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {out}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    };
    refused(&["script.csp", "--ltl", "<> stop"], "a formula is about a process, and none is named");
    refused(&["script.csp", "--process", "P", "--ltl", "<> sto"], "there is `stop`");
    refused(&["script.csp", "--process", "P", "--ltl", "<> (stop"], "expected `)` or an operator");
    refused(&["script.csp", "--process", "P", "--ltl", "<> {stop . stop}"], "a proposition is an action formula");
    let letters = "write `[]` for G (always) and `<>` for F (eventually)";
    refused(&["script.csp", "--process", "P", "--ltl", "G F stop"], letters);
    refused(&["script.csp", "--process", "P", "--ltl", "[] (stop -> F stop)"], letters);
    refused(&["script.csp", "--process", "P", "--ltl", "G(stop)"], letters);
    refused(&["model.pml", "--ltl", "G F (x == 1)"], letters);
    refused(&["model.pml", "--ltl", "[] (x == 1 -> F (x == 0))"], letters);
    refused(&["script.csp", "--process", "P", "--ltl", "<> tau"], "internal steps are no part of the word");
    refused(&["script.csp", "--process", "P", "--ltl", "<> stop", "--fairness", "weak"], "--fairness weak");
    refused(&["buffer.mcrl2", "--ltl", "<> put", "--store", "bitstate"], "--store bitstate");
    refused(&["buffer.mcrl2", "--ltl", "<> put(d3)"], "d3");
    refused(&["buffer.mcrl2", "--claim", "missing.hoa"], "cannot read");
    refused(&["model.pml", "--claim", "early.hoa"], "early.hoa");
    refused(&["model.pml", "--formula", "true", "--claim", "again.hoa"], "so --claim cannot be given");
}

#[test]
fn automata_of_files_accept_no_run() {
    let folder = Folder::new();
    let claims = folder.verdicts(&["model.pml", "--claim", "again.hoa", "--only", "automaton again"]);
    assert_eq!(claims, ["fails cycle"]);
    assert_eq!(folder.verdicts(&["buffer.mcrl2", "--claim", "early.hoa"]), ["holds"]);
    std::fs::write(folder.0.path().join("late.hoa"), EARLY.replace("get(d)", "lose").replace("exists d: D. ", ""))
        .expect("a file");
    std::fs::write(folder.0.path().join("first.hoa"), EARLY.replace("exists d: D. get(d)", "!lose").replace("!0&", ""))
        .expect("a file");
    assert_eq!(folder.verdicts(&["buffer.mcrl2", "--claim", "late.hoa", "--claim", "first.hoa"])[1], "fails at_once");
}

#[test]
fn automata_are_written_and_drawn() {
    let folder = Folder::new();
    let (code, out, _) = folder.trefoil(&["automaton", "--ltl", "[] (p -> <> q)"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("HOA: v1\n") && out.contains("AP: 2 \"p\" \"q\"") && out.contains("Inf(0)"), "{out}");
    // What a claim of a model forbids can be checked as a file.
    let (code, out, _) = folder.trefoil(&["automaton", "model.pml", "ltl low", "--negate", "-o", "low.hoa"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("2 states") && out.contains("terminal"), "{out}");
    let both = folder.verdicts(&["model.pml", "--claim", "low.hoa", "--only", "ltl low", "--only", "automaton"]);
    assert_eq!(both, ["fails at_once", "fails at_once"]);
    let (code, out, _) = folder.trefoil(&["automaton", "low.hoa", "--format", "svg"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("<svg") || out.starts_with("<?xml"), "{out}");
    assert!(out.contains("x &lt; 2"), "{out}");
    let (_, dot, _) = folder.trefoil(&["automaton", "model.pml", "never_0", "--format", "dot"]);
    assert!(dot.starts_with("digraph"), "{dot}");
    for (arguments, words) in [
        (&["automaton", "model.pml"][..], "its claims are: ltl low, never never_0"),
        (&["automaton", "model.pml", "never_0", "--negate"], "a never claim is not complemented"),
        (&["automaton", "low.hoa", "--negate"], "an automaton is not complemented"),
        (&["automaton"], "needs a model"),
        (&["automaton", "buffer.mcrl2", "--ltl", "<> put"], "only Promela models have claims with automata"),
        (&["automaton", "--ltl", "<> p", "-o", "a.pdf"], "an automaton is not written as `.pdf`"),
    ] {
        let (code, _, err) = folder.trefoil(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}
