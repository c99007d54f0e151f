//! `trefoil check --formula` and `--property`: verdicts, counterexamples, mistakes, exit codes.

use std::process::Command;

use serde_json::Value;

const BUFFER: &str = "\
sort D = struct d1 | d2;
act put, get: D; lose;
proc Empty = sum d: D. put(d) . Full(d);
     Full(d: D) = get(d) . Empty + lose . Empty;
init Empty;
";

const SYSTEM: &str = "des (0,4,3)\n(0,\"put(1)\",1)\n(1,\"get(1)\",0)\n(1,\"tau\",2)\n(2,\"tau\",2)\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        write("buffer.mcrl2", BUFFER);
        write("system.aut", SYSTEM);
        write("live.mcf", "% No deadlock.\n[true*]<true>true\n");
        Folder(folder)
    }

    fn check(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        let output =
            command.current_dir(self.0.path()).arg("check").args(arguments).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// The JSON report of one file.
    fn run(&self, arguments: &[&str]) -> Value {
        let (_, out, err) = self.check(&[arguments, &["--format", "json"]].concat());
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {out}{err}"));
        document["runs"][0].clone()
    }

    fn results(&self, arguments: &[&str]) -> Vec<Value> {
        self.run(arguments)["results"].as_array().expect("results").clone()
    }
}

#[test]
fn formulas_are_checked_and_nothing_else() {
    let folder = Folder::new();
    let holds = "[true*]forall d: D. [put(d)]<get(d)>true";
    let fails = "[true*]forall d: D. [put(d)]mu X. [!get(d)]X && <true>true";
    let results = folder.results(&["buffer.mcrl2", "--formula", holds, "--formula", fails, "--formula", "live.mcf"]);
    let verdicts: Vec<&str> = results.iter().map(|result| result["verdict"].as_str().expect("a verdict")).collect();
    assert_eq!(verdicts, ["holds", "fails", "holds"]);
    assert!(results.iter().all(|result| result["kind"] == "formula" && result["vertices"].as_u64() > Some(0)));
    assert!(results.iter().all(|result| result["visited_states"].is_null() && result["solver"].is_string()));
    assert_eq!(results[2]["assertion_string"], "[true*]<true>true");
    let finding = &results[1]["witness"]["finding"];
    assert_eq!(finding["kind"], "formula", "{finding}");
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", holds]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", holds, "--formula", fails]);
    assert_eq!(code, Some(1), "{out}{err}");
}

#[test]
fn a_counterexample_names_the_part_that_decides() {
    let folder = Folder::new();
    let part = |formula: &str, more: &[&str]| {
        let results = folder.results(&[&["buffer.mcrl2", "--formula", formula], more].concat());
        results[0]["witness"]["finding"]["part"].as_str().unwrap_or_default().to_string()
    };
    // Of a cycle, the fixpoint whose priority decides it, which need not be the innermost.
    let fails = "mu X. nu Y. [lose]X && [!lose]Y";
    assert_eq!(part(fails, &[]), fails);
    let holds = "nu X. mu Y. <lose>X || <!lose>Y";
    assert_eq!(part(holds, &["--witness"]), holds);
    let inner = "nu X. mu Y. [lose]X && [!lose]Y";
    assert_eq!(part(inner, &[]), "mu Y. [lose]X && [!lose]Y");
    // Of a path, the data that is false or true, with its values.
    assert_eq!(part("[true*]forall d: D. [put(d)]val(d == d1)", &[]), "val(d == d1) with d = d2");
    assert_eq!(part("exists d: D. <true* . get(d)>val(d == d2)", &["--witness"]), "val(d == d2) with d = d2");
    let counted = "nu X(n: Nat = 0). val(n < 3) && [true]X(n + 1)";
    assert_eq!(part(counted, &[]), "val(n < 3) with n = 3");
    assert_eq!(part("[put(d1)]false", &[]), "false");
}

#[test]
fn a_parameter_that_grows_is_named_when_the_budget_ends() {
    let folder = Folder::new();
    let grows = "nu X(n: Nat = 0). val(n < 1000000000) && [true]X(n + 1)";
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--timeout", "1", "--formula", grows]);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(out.contains("the parameter `n: Nat` of `nu X` grows: it had at least "), "{out}{err}");
    let bounded = "nu X(n: Nat = 0). val(n < 1000) && [true]X((n + 1) mod 50)";
    let (_, out, err) = folder.check(&["buffer.mcrl2", "--formula", bounded]);
    assert!(out.contains("holds") && !out.contains("grows"), "{out}{err}");
}

#[test]
fn a_counterexample_is_a_path_or_a_lasso() {
    let folder = Folder::new();
    // A path to the state where the formula fails.
    let results = folder.results(&["buffer.mcrl2", "--formula", "[true* . lose . true* . lose]false"]);
    let trace: Vec<&str> =
        results[0]["witness"]["trace"].as_array().expect("a trace").iter().filter_map(Value::as_str).collect();
    assert_eq!(trace.len(), 4, "{trace:?}");
    assert!(trace[1] == "lose" && trace[3] == "lose", "{trace:?}");
    assert_eq!(results[0]["witness"]["finding"]["repeats"], false);
    assert_eq!(results[0]["witness"]["finding"]["part"], "false");
    // A run that never gets what was put.
    let response = "[true*]forall d: D. [put(d)]mu X. [!(exists e: D. get(e))]X && <true>true";
    let results = folder.results(&["buffer.mcrl2", "--formula", response]);
    let witness = &results[0]["witness"];
    assert_eq!(witness["finding"]["repeats"], true, "{witness}");
    let cycle = witness["runs"][0]["cycle"].as_array().expect("a cycle");
    assert!(!cycle.is_empty() && cycle.iter().all(|step| !step["event"].as_str().expect("text").starts_with("get")));
    let (_, out, err) = folder.check(&["buffer.mcrl2", "--formula", response, "--explain"]);
    assert!(out.contains('↻') && out.contains("repeat forever"), "{out}{err}");
}

/// The counterexamples of JSON results have numbers of events, and the map of events has their texts, one numbering for
/// all results of a file.
#[test]
fn counterexamples_have_the_form_of_those_of_scripts() {
    let folder = Folder::new();
    let twice = "[true* . lose . true* . lose]false";
    let response = "[true*]forall d: D. [put(d)]mu X. [!(exists e: D. get(e))]X && <true>true";
    let run = folder.run(&["buffer.mcrl2", "--formula", twice, "--formula", "true", "--formula", response]);
    let texts = |numbers: &Value| -> Vec<String> {
        let numbers = numbers.as_array().expect("numbers").iter();
        numbers.map(|number| run["event_map"][number.to_string()].as_str().expect("a text").to_string()).collect()
    };
    let found = |place: usize| run["results"][place]["counterexamples"].as_array().expect("counterexamples").clone();
    assert_eq!((found(0).len(), found(1).len(), found(2).len()), (1, 0, 1), "{run}");
    let behaviour = &found(0)[0]["implementation_behaviour"];
    assert_eq!(serde_json::json!(texts(&behaviour["trace"])), run["results"][0]["witness"]["trace"]);
    let (found, witness) = (&found(2)[0], &run["results"][2]["witness"]["runs"][0]);
    assert_eq!((&found["type"], &found["implementation_behaviour"]["type"]), (&"formula".into(), &"loop".into()));
    for (ours, theirs) in [("trace", "steps"), ("loop", "cycle")] {
        let steps = witness[theirs].as_array().expect("steps").iter().map(|step| step["event"].as_str().expect("text"));
        assert_eq!(texts(&found["implementation_behaviour"][ours]), steps.collect::<Vec<_>>(), "{ours}");
    }
}

#[test]
fn the_proof_of_a_game_answers_every_choice() {
    let folder = Folder::new();
    // Can the buffer be kept from losing? The opponent of the proof chooses among the ways that avoid `lose`.
    let formula = "nu X. exists d: D. <put(d)>(<get(d)>X && [lose]false)";
    let results = folder.results(&["buffer.mcrl2", "--formula", formula]);
    let finding = &results[0]["witness"]["finding"];
    assert_eq!(finding["has_choices"], true, "{finding}");
    let proof = finding["proof"].as_array().expect("a proof");
    assert_eq!(Some(proof.len() as u64), finding["positions"].as_u64());
    assert!(
        proof.iter().any(|position| position["chosen"] == false && position["moves"].as_array().unwrap().len() == 2)
    );
    let (_, out, err) = folder.check(&["buffer.mcrl2", "--formula", formula, "--explain"]);
    assert!(out.contains("the proof answers every choice of an opponent"), "{out}{err}");
}

#[test]
fn files_with_transition_systems_take_formulas() {
    let folder = Folder::new();
    for (formula, verdict) in [
        ("<put(1)>true", "holds"),
        ("[true*]<true>true", "holds"),
        ("exists n: Nat. <put(n)><get(n)>true", "holds"),
        ("[put(1)]mu X. [tau]X", "fails"),
        ("<true* . tau . tau>true", "holds"),
        ("[true* . other(3)]false", "holds"),
    ] {
        let results = folder.results(&["system.aut", "--formula", formula]);
        assert_eq!(results[0]["verdict"], verdict, "{formula}: {}", results[0]);
    }
}

#[test]
fn patterns_stand_for_formulas() {
    let folder = Folder::new();
    let put = "exists d: D. put(d)";
    let get = "exists d: D. get(d)";
    let response = format!("response({put}, {get})");
    let fair = format!("fair_response({put}, {get})");
    let precedence = format!("precedence({put}, {get})");
    let results = folder.results(&[
        "buffer.mcrl2",
        "--property=deadlock_free",
        "--property=absence(lose)",
        "--property",
        &response,
        "--property",
        &fair,
        "--property",
        &precedence,
    ]);
    let verdicts: Vec<&str> = results.iter().map(|result| result["verdict"].as_str().expect("a verdict")).collect();
    assert_eq!(verdicts, ["holds", "fails", "fails", "holds", "holds"]);
    assert_eq!(results[1]["assertion_string"], "[true* . (lose)]false");
    // A run that stops before the response breaks the promise.
    std::fs::write(folder.0.path().join("stops.mcrl2"), "act a, b; init a . delta;").expect("a model");
    let results = folder.results(&["stops.mcrl2", "--property=response(a, b)", "--property=existence(b)"]);
    assert!(results.iter().all(|result| result["verdict"] == "fails"), "{results:?}");
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--property", "respons(a, b)"]);
    assert!(code == Some(2) && err.contains("F015") && err.contains("is `response` meant?"), "{out}{err}");
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--property", "response(lose)"]);
    assert!(code == Some(2) && err.contains("response(a, b)"), "{out}{err}");
}

#[test]
fn a_project_has_its_formulas() {
    let folder = Folder::new();
    let properties = folder.0.path().join("properties");
    std::fs::create_dir(&properties).expect("a folder");
    std::fs::write(properties.join("No loss.mcf"), "[true* . lose]false").expect("a formula");
    std::fs::write(properties.join("a & b.mcf"), "[true*]<true>true").expect("a formula");
    let project = "<root>\n <spec>buffer.mcrl2</spec>\n <properties>\n  <property>No loss</property>\n  \
        <property>a &amp; b</property>\n </properties>\n</root>\n";
    std::fs::write(folder.0.path().join("buffer.mcrl2proj"), project).expect("a project");
    let verdicts = |arguments: &[&str]| -> Vec<String> {
        let results = folder.results(arguments);
        results.iter().map(|result| result["verdict"].as_str().expect("a verdict").to_string()).collect()
    };
    assert_eq!(verdicts(&["buffer.mcrl2proj"]), ["fails", "holds"]);
    // A formula on the command line replaces them.
    assert_eq!(verdicts(&["buffer.mcrl2proj", "--property", "possible(lose)"]), ["holds"]);
    assert_eq!(verdicts(&["buffer.mcrl2proj", "--formula", "[true* . lose]false"]), ["fails"]);
    std::fs::write(folder.0.path().join("empty.mcrl2proj"), "<root/>").expect("a project");
    let (code, _, err) = folder.check(&["empty.mcrl2proj"]);
    assert!(code == Some(2) && err.contains("<spec>"), "{err}");
}

#[test]
fn mistakes_are_shown_in_the_formula() {
    let folder = Folder::new();
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", "[true* . put]false", "--formula", "<los>true"]);
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("F007") && err.contains("exists d: D. put(d)"), "{err}");
    assert!(err.contains("F006") && err.contains("is `lose` meant?") && err.contains("<formula 2>:1:2"), "{err}");
    let (code, _, err) = folder.check(&["buffer.mcrl2", "--formula", "missing.mcf"]);
    assert!(code == Some(2) && err.contains("missing.mcf"), "{err}");
    let (code, _, err) = folder.check(&["buffer.mcrl2", "--formula", "true", "--never", "lose"]);
    assert!(code == Some(2) && err.contains("--never"), "{err}");
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", "exists n: Nat. nu X. <true>X && val(n > 2)"]);
    assert!(code == Some(2) && format!("{out}{err}").contains("`n: Nat`"), "{out}{err}");
    std::fs::write(folder.0.path().join("m.pml"), "active proctype P() { skip }").expect("a model");
    let (code, _, err) = folder.check(&["m.pml", "--formula", "<send(1)>true"]);
    assert!(code == Some(2) && err.contains("the model has no action `send`"), "{err}");
}

const SCRIPT: &str = "\
transparent normal, chase
datatype Packet = Ping | Data.{0..1}.Bool
channel in : Packet
channel out : {0..2}
channel raw : Events
channel done
COPY = in?x -> out!0 -> COPY [] done -> SKIP
LOSSY = in?x -> (out!0 -> LOSSY |~| LOSSY)
assert COPY :[deadlock free]
";

/// What a script says about mistakes, and its verdicts.
#[test]
fn processes_of_scripts_take_formulas() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("s.csp"), SCRIPT).expect("a script");
    let about = |process: &str, formula: &str| {
        let results = folder.results(&["s.csp", "--process", process, "--formula", formula]);
        results[0].clone()
    };
    for (process, formula, verdict) in [
        ("COPY", "forall p: Packet. [true* . in_(p)]<out(0)>true", "holds"),
        ("LOSSY", "forall p: Packet. [true* . in_(p)]<out(0)>true", "fails"),
        ("COPY", "<in_(Data(1, true))>true && <done . tick>[true]false", "holds"),
        ("COPY", "<tau>true", "fails"),
        ("normal(LOSSY)", "<in_(Ping) . tau>true", "holds"),
        ("COPY \\ {done}", "<tau . tick>true", "holds"),
        ("COPY", "exists n: Nat. <true* . out(n)>val(n > 0)", "fails"),
    ] {
        let result = about(process, formula);
        assert_eq!((&result["verdict"], &result["kind"]), (&verdict.into(), &"formula".into()), "{formula}: {result}");
        assert_eq!(result["witness"].is_object(), verdict == "fails", "{result}");
    }
    let result = about("normal(LOSSY)", "true");
    assert!(result["notes"].to_string().contains("`normal` of the script left out"), "{result}");
    for (arguments, messages) in [
        (&["--formula", "true"][..], &["S007", "processes of this script are `COPY`", "`LOSSY`"][..]),
        (&["--process", "COPY"], &["no formula is given"]),
        (&["--process", "Packet", "--formula", "true"], &["not a process"]),
        (&["--process", "chase(COPY)", "--formula", "true"], &["`chase` chooses between steps"]),
        (&["--process", "COPY", "--formula", "<in_>true"], &["F007", "`exists p: Packet. in_(p)`"]),
        (&["--process", "COPY", "--formula", "<in(Ping)>true"], &["`in_`"]),
        (&["--process", "COPY", "--formula", "<raw(done)>true"], &["`Event`, which has no sort"]),
        (&["--process", "COPY", "--formula", "<out(Ping)>true"], &["M109"]),
        (&["--process", "COPY", "--formula", "<oot(1)>true"], &["is `out` meant?"]),
        (&["--process", "COPY", "--formula", "<true>true", "--partial-order"], &["`<true>true` sees the order"]),
        (&["--process", "COPY", "--formula", "true", "--algorithm", "antichain"], &["--algorithm"]),
    ] {
        let (code, _, err) = folder.check(&[&["s.csp"], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(messages.iter().all(|message| err.contains(message)), "{arguments:?}: {err}");
    }
    let (code, _, err) = folder.check(&["buffer.mcrl2", "--process", "P", "--formula", "true"]);
    assert!(code == Some(2) && err.contains("--process applies to CSPM scripts only"), "{err}");
}

const MUTEX: &str = "datatype P = p1 | p2 | p3 | p4
channel wish, enter, leave : P
PROC(p) = wish.p -> enter.p -> leave.p -> PROC(p)
LOCK = enter?p -> leave.p -> LOCK
MUTEX = (||| p : P @ PROC(p)) [| {| enter, leave |} |] LOCK
STUCK = (||| p : P @ PROC(p)) [| {| enter |} |] (enter?p -> enter?q -> STOP)
";

#[test]
fn symmetries_that_a_formula_keeps_are_used() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("m.csp"), MUTEX).expect("a script");
    let about = |process: &str, formula: &str, symmetry: &str| {
        folder.results(&["m.csp", "--process", process, "--formula", formula, "--symmetry", symmetry]).remove(0)
    };
    let twice = "[true* . (exists p: P. enter(p)) . (!(exists p: P. leave(p)))* . (exists p: P. enter(p))]false";
    for (formula, order) in [
        ("[true*]<true>true", Some("24")),
        (twice, Some("24")),
        ("[true* . enter(p1)]<leave(p1)>true", Some("6")),
        ("[true* . (enter(p1) || enter(p3))]<leave(p1) || leave(p3)>true", Some("4")),
        ("forall p: P. [true* . wish(p)]<true* . enter(p)>true", None),
    ] {
        let (without, with) = (about("MUTEX", formula, "off"), about("MUTEX", formula, "auto"));
        assert_eq!((&without["verdict"], &with["verdict"]), (&"holds".into(), &"holds".into()), "{with}");
        assert_eq!(with["symmetry"]["order"].as_str(), order, "{with}");
        assert!(order.is_none() || with["vertices"].as_u64() < without["vertices"].as_u64(), "{with}");
        assert!(without["symmetry"].is_null(), "{without}");
    }
    // The evidence is that of the process itself.
    let (without, with) = (about("STUCK", "[true*]<true>true", "off"), about("STUCK", "[true*]<true>true", "auto"));
    assert_eq!(with["verdict"], "fails", "{with}");
    assert_eq!(with["witness"], without["witness"]);
    for (formula, message) in [
        ("[true* . enter(p1)]false", "`[true* . enter(p1)]false` tells enter.p1 and enter.p2 apart"),
        ("forall p: P. [true* . wish(p)]<enter(p)>true", "`<enter(p)>true` remembers the value of `p`"),
    ] {
        let (code, out, err) = folder.check(&["m.csp", "--process", "MUTEX", "--formula", formula, "--symmetry", "P"]);
        assert!(code == Some(2) && err.contains("S008") && err.contains(message), "{out}{err}");
    }
    let (code, _, err) = folder.check(&["m.csp", "--process", "MUTEX", "--formula", "true", "--symmetry", "Q"]);
    assert!(code == Some(2) && err.contains("no datatype of this name"), "{err}");
}

#[test]
fn symmetries_of_promela_models_are_used_where_a_formula_keeps_them() {
    let folder = Folder::new();
    let lock = "byte inside; chan enter = [0] of { pid }; chan leave = [0] of { pid };
proctype P() { do :: atomic { inside == 0 -> inside = 1; enter!_pid }; cs: atomic { leave!_pid; inside = 0 } od }
proctype Sink() { do :: enter?_ :: leave?_ od }
init { atomic { run P(); run P(); run P(); run P(); run Sink() } }\n";
    let ending = "byte done; chan c = [1] of { pid };
proctype P() { c!_pid; c?_; done++ }
init { atomic { run P(); run P(); run P() } }\n";
    for (name, text) in [("lock.pml", lock), ("ending.pml", ending)] {
        std::fs::write(folder.0.path().join(name), text).expect("a model");
    }
    let any = "(exists p: Nat. enter(p))";
    for (file, formula, verdict, order, note) in [
        ("lock.pml", "[true*]<true>true".to_string(), "holds", Some("24"), ""),
        ("lock.pml", format!("[true* . {any}]val(inside == 1)"), "holds", Some("24"), ""),
        ("lock.pml", format!("[true* . {any}]val(inside == 0)"), "fails", None, ""),
        ("lock.pml", "[true* . enter(1)]val(inside == 1)".into(), "holds", None, "tells enter!4 and enter!1 apart"),
        ("lock.pml", "[true*]val(!at_cs(1) || inside == 1)".into(), "holds", None, "looks at `at_cs`"),
        ("lock.pml", "forall p: Nat. [true* . enter(p)]<leave(p)>true".into(), "holds", None, "value of `p`"),
        ("ending.pml", "<true*>val(done == 3)".into(), "holds", Some("6"), "keep their slots"),
        ("ending.pml", "[true]<true>true".into(), "holds", None, "processes disappear after their ends"),
    ] {
        let about = |symmetry: &str| folder.results(&[file, "--formula", &formula, "--symmetry", symmetry]).remove(0);
        let (without, with) = (about("off"), about("auto"));
        assert_eq!((&without["verdict"], &with["verdict"]), (&verdict.into(), &verdict.into()), "{with}");
        assert_eq!(with["symmetry"]["order"].as_str(), order, "{with}");
        assert!(order.is_none() || with["vertices"].as_u64() < without["vertices"].as_u64(), "{with}");
        assert_eq!(with["witness"], without["witness"]);
        assert!(with["notes"].to_string().contains(note), "{formula}: {with}");
    }
}

#[test]
fn a_step_to_a_fixpoint_with_parameters_is_one_move_and_data_of_the_state_are_read_behind_it() {
    let folder = Folder::new();
    // Two steps: the assignment, and the end of the process.
    std::fs::write(folder.0.path().join("one.pml"), "byte x; active proctype P() { x = 1 }\n").expect("a model");
    let of = |formula: &str| folder.results(&["one.pml", "--formula", formula]).remove(0);
    // Three states, each with one value of `k`, and the formula before its parameter has a value.
    let holds = of("nu X(k: Nat = 0). [true]X((k + 1) mod 3)");
    assert_eq!((&holds["verdict"], &holds["vertices"]), (&"holds".into(), &4.into()), "{holds}");
    // `x` is that of the state behind the step: it is 1 there.
    let (_, out, _) = folder.check(&["one.pml", "--formula", "nu X(k: Nat = 0). val(k == 0) && [true]X(x)"]);
    assert!(out.contains("after <tau> `val(k == 0) with k = 1` fails"), "{out}");
}

#[test]
fn a_quantifier_without_bounds_is_named_as_it_is_written() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("m.aut"), "des (0, 1, 1)\n(0, \"a\", 0)\n").expect("a file");
    for (formula, place, told) in [
        (
            "exists n: Nat. val(n*n == 5000)",
            "1:1",
            "`n: Nat` cannot be listed: no label and no condition bounds this `exists`",
        ),
        ("[true*](forall n: Nat. val(n*n != 5000))", "1:9", "bounds this `forall`"),
        ("[a]val(exists n: Nat. n*n == 5000)", "1:8", "`exists n: Nat. val(n < 100) && …`"),
        ("[a](forall i: Int. val(i*i != 5000))", "1:5", "`forall i: Int. val(-100 < i && i < 100) => …`"),
        ("exists f: Nat -> Nat. val(f(3) == 4)", "1:1", "`f: Nat -> Nat`"),
    ] {
        let (code, out, err) = folder.check(&["m.aut", "--formula", formula]);
        assert!(code == Some(2) || code == Some(3), "{formula}: {code:?} {out}{err}");
        assert!(err.contains(&format!("<formula 1>:{place}")) && err.contains(told), "{formula}: {out}{err}");
    }
}

#[test]
fn mistakes_of_newcomers_have_hints() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("m.aut"), "des (0, 1, 1)\n(0, \"a(0)\", 0)\n").expect("a file");
    for (arguments, told) in [
        (&["--formula", "<a.0>true"][..], "arguments stand in brackets, `a(0)`"),
        (&["--formula", "[]<>true"][..], "`[true*]f` is `f` always"),
        (&["--formula", "<>true"][..], "`<true*>f` is `f` some time"),
        (&["--formula", ""][..], "write one, such as `[true*]<true>true`"),
        (&["--formula", "deadlock_free"][..], "`deadlock_free` is a pattern: give it with --property"),
        (&["--property", "response(a(0), )"][..], "parameter 2 of `response` is empty"),
        (&[][..], "`trefoil check FILE --formula …` checks a file with a transition system"),
    ] {
        let (code, out, err) = folder.check(&[&["m.aut"][..], arguments].concat());
        assert!(code == Some(2) && err.contains(told), "{arguments:?}: {code:?} {out}{err}");
    }
}

#[test]
fn one_formula_about_one_protocol_in_three_languages() {
    let folder = Folder::new();
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lts/models");
    let buffer =
        "[true*]forall d: Nat. [accept(d) . (!(exists e: Nat. deliver(e)))* . (exists e: Nat. accept(e))]false";
    let arrives = "[true*]forall d: Nat. [accept(d)](mu X. [!deliver(d)]X && <true>true)";
    for (formula, verdict) in [(buffer, "holds"), (arrives, "fails")] {
        for language in ["csp", "pml", "mcrl2"] {
            let file = format!("{models}/alternating_bit.{language}");
            let process: &[&str] = if language == "csp" { &["--process", "PROTOCOL"] } else { &[] };
            let result = folder.results(&[&[&*file, "--formula", formula], process].concat()).remove(0);
            assert_eq!(result["verdict"], verdict, "{formula}: {result}");
            let cycle = &result["witness"]["runs"][0]["cycle"];
            assert_eq!(cycle.as_array().is_some_and(|cycle| !cycle.is_empty()), verdict == "fails", "{result}");
        }
    }
}

#[test]
fn evidence_is_written_as_a_system_in_which_the_formula_fails_too() {
    let folder = Folder::new();
    let file = |name: &str| std::fs::read_to_string(folder.0.path().join(name)).expect("the file was written");
    for (formula, repeats, has_choices) in [
        ("[true* . lose . true* . lose]false", false, false),
        ("[true*]forall d: D. [put(d)]mu X. [!(exists e: D. get(e))]X && <true>true", true, false),
        ("nu X. exists d: D. <put(d)>(<get(d)>X && [lose]false)", false, true),
    ] {
        let finding = &folder.results(&["buffer.mcrl2", "--formula", formula])[0]["witness"]["finding"];
        assert_eq!((&finding["repeats"], &finding["has_choices"]), (&Value::from(repeats), &Value::from(has_choices)));
        for picture in ["why.svg", "why.dot"] {
            let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", formula, "--evidence", picture]);
            assert_eq!(code, Some(1), "{out}{err}");
            assert!(out.contains(&format!("wrote the counterexample of formula 1 to {picture}")), "{out}{err}");
            assert!(file(picture).contains("lose"), "{}", file(picture));
        }
        folder.check(&["buffer.mcrl2", "--formula", formula, "--evidence", "why.png"]);
        assert!(std::fs::read(folder.0.path().join("why.png")).expect("a picture").starts_with(b"\x89PNG"));
        let (_, out, err) = folder.check(&["buffer.mcrl2", "--formula", formula, "--evidence", "why.aut"]);
        assert!(file("why.aut").starts_with("des (0,"), "{out}{err}");
        let plain = formula.replace(": D", ": Name");
        let results = folder.results(&["why.aut", "--formula", &plain]);
        assert_eq!(results[0]["verdict"], "fails", "{}", file("why.aut"));
    }
    // Of several counterexamples each has its file.
    let absent = "[true* . lose]false";
    let (_, out, err) =
        folder.check(&["buffer.mcrl2", "--formula", absent, "--formula", absent, "--evidence", "all.aut"]);
    assert!(out.contains("all.aut") && out.contains("all2.aut"), "{out}{err}");
    assert_eq!(file("all.aut"), file("all2.aut"));
}

#[test]
fn evidence_of_every_language_has_labels_that_formulas_can_name() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.0.path().join(name), text).expect("it can be written");
    write("door.csp", "datatype P = p1 | p2\nchannel enter: P.Bool\nD = enter?p!true -> D\n");
    write(
        "door.pml",
        "mtype = { red, green };\nchan enter = [0] of { mtype, byte };\n\
         active proctype A() { enter!green,1 }\nactive proctype B() { mtype m; byte b; enter?m,b }\n",
    );
    for (model, formula, again) in [
        (&["door.csp", "--process", "D"][..], "[true* . (exists p: P. enter(p, true))]false", "exists p: Name"),
        (&["door.pml"], "[true* . (exists m: mtype. enter(m, 1))]false", "exists m: Name"),
    ] {
        let (code, out, err) = folder.check(&[model, &["--formula", formula, "--evidence", "door.aut"]].concat());
        assert_eq!(code, Some(1), "{out}{err}");
        let (start, end) = (formula.find("exists").expect("a quantifier"), formula.find(". e").expect("its end"));
        let formula = format!("{}{again}{}", &formula[..start], &formula[end..]);
        let (code, out, err) = folder.check(&["door.aut", "--formula", &formula]);
        assert_eq!(code, Some(1), "{out}{err}");
        assert!(err.is_empty(), "{err}");
    }
}

#[test]
fn labels_of_files_without_a_common_sort_are_read_as_the_formula_says() {
    let folder = Folder::new();
    let file = "des (0, 4, 3)\n(0, \"a(1)\", 1)\n(0, \"m([1,2])\", 1)\n(1, \"in\", 2)\n(2, \"m([])\", 0)\n";
    std::fs::write(folder.0.path().join("odd.aut"), file).expect("it can be written");
    for (formula, code) in [
        ("<m([1,2])>true", 0),
        ("[true* . (exists l: List(Nat). m(l))]false", 1),
        ("<a(1) . in_>true", 0),
        ("[true* . in_]false", 1),
    ] {
        let (found, out, err) = folder.check(&["odd.aut", "--formula", formula]);
        assert_eq!(found, Some(code), "{formula}: {out}{err}");
        assert!(err.is_empty(), "{formula}: {err}");
    }
}

#[test]
fn a_witness_shows_why_a_formula_holds() {
    let folder = Folder::new();
    let formula = "<true* . lose>true";
    assert!(folder.results(&["buffer.mcrl2", "--formula", formula])[0]["witness"].is_null());
    let result = &folder.results(&["buffer.mcrl2", "--formula", formula, "--witness"])[0];
    assert_eq!((&result["verdict"], &result["witness"]["finding"]["holds"]), (&"holds".into(), &true.into()));
    assert_eq!(result["witness"]["trace"][1], "lose", "{result}");
    let (code, out, err) =
        folder.check(&["buffer.mcrl2", "--formula", formula, "--witness", "--evidence", "why.aut", "--explain", "1"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("wrote the witness of formula 1 to why.aut (2 states, 2 transitions)"), "{out}{err}");
    let (code, out, err) = folder.check(&["why.aut", "--formula", formula]);
    assert_eq!(code, Some(0), "{out}{err}");
    // Without the option there is nothing to write.
    let (_, out, err) = folder.check(&["buffer.mcrl2", "--formula", formula, "--evidence", "none.aut"]);
    assert!(out.contains("no counterexample, so no file was written"), "{out}{err}");
}

#[test]
fn a_file_of_unknown_kind_is_refused_before_anything_is_checked() {
    let folder = Folder::new();
    let (code, out, err) = folder.check(&["buffer.mcrl2", "--formula", "live.mcf", "--evidence", "why.txt"]);
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("does not say how evidence is written") && err.contains(".aut"), "{err}");
}

#[test]
fn termination_is_named_as_its_language_names_it() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.0.path().join(name), text).expect("a file");
    write("ends.mcrl2", "act a: Nat;\ninit a(0);\n");
    write("ends.csp", "channel a: {0}\nP = a!0 -> SKIP\n");
    let mcrl2 = folder.check(&["ends.mcrl2", "--property", "deadlock_free"]);
    assert!(mcrl2.1.contains("after <a(0), Terminate> `<true>true` fails"), "{mcrl2:?}");
    let csp = folder.check(&["ends.csp", "--process", "P", "--property", "deadlock_free"]);
    assert!(csp.1.contains("after <a.0, ✓> `<true>true` fails"), "{csp:?}");
}
