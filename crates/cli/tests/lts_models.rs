//! Models of several languages as labelled transition systems: generated, compared, refined.

use std::process::{Command, Output};

const SCRIPT: &str = "\
channel put, get, both : {0..1}
channel flag : Bool
channel pair : {(0, 1)}
BUFFER = put?x -> get!x -> BUFFER
LOSSY = put?x -> (get!x -> LOSSY |~| LOSSY)
INSIDE = (put?x -> both!x -> get!x -> INSIDE) \\ {| both |}
TWICE = put?x -> get!x -> TWICE [] put?x -> get!x -> TWICE
FLAGS = flag!true -> flag!false -> FLAGS
ENDS = put.0 -> SKIP
PAIRS = put.0 -> pair!(0, 1) -> PAIRS
";

const MODEL: &str = "\
chan put = [0] of { bit };
chan get = [0] of { bit };
active proctype Producer() { do :: put!0 :: put!1 od }
active proctype Buffer() { bit x; do :: put?x; get!x od }
active proctype Consumer() { bit x; do :: get?x od }
";

const QUEUE: &str = "\
mtype = { data };
chan c = [1] of { mtype, bit };
active proctype Producer() { do :: c!data,0 :: c!data,1 od }
active proctype Consumer() { bit x; do :: c?data,x od }
";

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    }
}

fn trefoil(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trefoil")).args(arguments).output().expect("the program starts")
}

/// Runs a command; its exit code and what it says.
fn said(arguments: &[&str]) -> (i32, String) {
    let output = trefoil(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("an exit code"), text)
}

fn generated(files: &Files, arguments: &[&str]) -> String {
    let out = files.path("out.aut");
    let all = [&["lts", "generate"], arguments, &["-o", &out]].concat();
    let (code, text) = said(&all);
    assert_eq!(code, 0, "{text}");
    std::fs::read_to_string(out).expect("a file")
}

#[test]
fn a_process_and_a_model_become_systems() {
    let files = Files::new();
    let (script, model) = (files.write("a.csp", SCRIPT), files.write("a.pml", MODEL));
    let system = generated(&files, &[&script, "--process", "BUFFER"]);
    let expected = "des (0,4,3)\n(0,\"put.0\",1)\n(0,\"put.1\",2)\n(1,\"get.0\",0)\n(2,\"get.1\",0)\n";
    assert_eq!(system, expected);
    // A set of transitions: the two branches are the same.
    assert_eq!(generated(&files, &[&script, "--process", "TWICE"]).lines().next(), Some("des (0,4,3)"));
    assert!(generated(&files, &[&script, "--process", "ENDS"]).contains("\"✓\""));
    let system = generated(&files, &[&model]);
    for label in ["put!0", "put!1", "get!0", "get!1"] {
        assert!(system.contains(&format!("\"{label}\"")), "{system}");
    }
    assert!(!system.contains("put?"), "a handshake is one step: {system}");
    let queue = generated(&files, &[&files.write("q.pml", QUEUE)]);
    assert!(queue.contains("\"c!data,1\"") && queue.contains("\"c?data,1\""), "{queue}");
    let out = files.path("x.fsm");
    assert_eq!(said(&["lts", "generate", &script, "--process", "BUFFER", "-o", &out]).0, 0);
    assert_eq!(said(&["lts", "compare", &out, &files.path("out.aut")]).0, 1);
}

#[test]
fn one_question_in_several_languages() {
    let files = Files::new();
    let (script, model) = (files.write("a.csp", SCRIPT), files.write("a.pml", MODEL));
    let compare = |left: &str, right: &str, more: &[&str]| {
        said(&[&["lts", "compare", left, right, "-e", "branching"], more].concat())
    };
    let (code, text) = compare(&script, &model, &["--process", "BUFFER"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(compare(&model, &script, &["--process", "INSIDE"]).0, 0);
    let (code, text) = compare(&script, &model, &["--process", "LOSSY"]);
    assert_eq!(code, 1, "{text}");
    // Two processes of one script.
    assert_eq!(compare(&script, &script, &["--process", "BUFFER", "--process", "INSIDE"]).0, 0);
    assert_eq!(compare(&script, &script, &["--process", "PAIRS"]).0, 0);
    // A file as mCRL2 writes it.
    let file =
        files.write("b.aut", "des (0,4,3)\n(0,\"put(0)\",1)\n(0,\"put(1)\",2)\n(1,\"get(0)\",0)\n(2,\"get(1)\",0)\n");
    assert_eq!(compare(&script, &file, &["--process", "BUFFER"]).0, 0);
    assert_eq!(compare(&file, &model, &[]).0, 0);
    let file = files.write("c.aut", "des (0,2,3)\n(0,\"put(0)\",1)\n(1,\"Terminate\",2)\n");
    assert_eq!(compare(&script, &file, &["--process", "ENDS"]).0, 0);
    // Refinement: the lossy buffer allows the other one.
    let refine = |specification: &str, implementation: &str, process: &str| {
        said(&["lts", "refine", specification, implementation, "-m", "failures", "--process", process])
    };
    assert_eq!(refine(&script, &model, "LOSSY").0, 0);
    assert_eq!(refine(&model, &script, "BUFFER").0, 0);
    let (code, text) = refine(&model, &script, "LOSSY");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("after <put.0> the implementation offers only {put.0, put.1}"), "{text}");
}

#[test]
fn equivalences_as_games_have_the_verdicts_of_explicit_comparisons() {
    let files = Files::new();
    let (script, model) = (files.write("a.csp", SCRIPT), files.write("a.pml", MODEL));
    let linear =
        "act put, get, both: Nat; proc B(x: Nat, full: Bool) = sum n: Nat. (n < 2 && !full) -> put(n) . B(n, true)
        + full -> get(x) . B(0, false); init B(0, false);";
    let linear = files.write("a.mcrl2", linear);
    let file = files.write("d.aut", "des (0,3,2)\n(0,\"put(0)\",1)\n(1,\"get(0)\",0)\n(0,\"tau\",0)\n");
    let hidden = "des (0,4,3)\n(0,\"put(0)\",1)\n(1,\"tau\",2)\n(2,\"get(0)\",0)\n(1,\"get(0)\",0)\n";
    let hidden = files.write("h.aut", hidden);
    let pairs: [(&str, &str, &[&str]); 10] = [
        (&script, &model, &["--process", "BUFFER"]),
        (&script, &model, &["--process", "LOSSY"]),
        (&linear, &script, &["--process", "INSIDE"]),
        (&linear, &script, &["--process", "TWICE"]),
        (&model, &linear, &[]),
        (&script, &script, &["--process", "BUFFER", "--process", "INSIDE"]),
        (&script, &script, &["--process", "BUFFER", "--process", "LOSSY"]),
        (&file, &hidden, &[]),
        (&hidden, &script, &["--process", "BUFFER", "--visible", "put"]),
        (&linear, &hidden, &["--visible", "get", "--rename", "put=get"]),
    ];
    let (mut holds, mut fails) = (0, 0);
    for (left, right, more) in pairs {
        for equivalence in ["strong", "branching", "dpbranching"] {
            let all = [&["lts", "compare", left, right, "-e", equivalence], more].concat();
            let (code, text) = said(&all);
            let (symbolic, told) = said(&[&all[..], &["--engine", "symbolic"]].concat());
            assert_eq!(symbolic, code, "{all:?}\n{text}{told}");
            assert!(told.contains("vertices") && (code == 0 || told.contains("a play distinguishes them")), "{told}");
            *(if code == 0 { &mut holds } else { &mut fails }) += 1;
        }
    }
    assert!(holds > 8 && fails > 8, "{holds} hold, {fails} fail");
    // What the answer shows.
    let (_, text) = said(&["lts", "compare", &file, &hidden, "-e", "dpbranching", "--engine", "symbolic"]);
    assert!(text.contains("takes τ") || text.contains("takes tau"), "{text}");
    let (_, text) = said(&["lts", "compare", &linear, &hidden, "--engine", "symbolic"]);
    assert!(text.contains("a.mcrl2 takes put(1), and") && text.contains("h.aut has no answer"), "{text}");
    let json = ["lts", "compare", &linear, &hidden, "--engine", "symbolic", "--format", "json"];
    let json: serde_json::Value = serde_json::from_slice(&trefoil(&json).stdout).expect("JSON");
    let result = &json["results"][0];
    assert_eq!((&result["engine"], &result["difference"]["kind"]), (&"symbolic".into(), &"play".into()), "{json}");
    assert!(result["vertices"].is_u64() && result["left_size"].is_null(), "{json}");
    // What is refused.
    for (more, message) in [
        (&["-e", "weak"][..], "--engine symbolic does not decide weak"),
        (&["--decompose"][..], "--decompose cannot be used together with --engine symbolic"),
        (&["--visible", "sent"][..], "neither system has a label with the name `sent`"),
        (&["--rename", "put"][..], "the renaming `put` is not old=new"),
    ] {
        let (code, text) = said(&[&["lts", "compare", &linear, &linear, "--engine", "symbolic"][..], more].concat());
        assert!(code == 2 && text.contains(message), "{more:?} {code}: {text}");
    }
    let other = files.write("p.aut", "des (0,2,2)\n(0,\"put(0)\",1)\n(1,\"pair(0)\",0)\n");
    let pairs = ["lts", "compare", &script, &other, "--process", "PAIRS", "--engine", "symbolic"];
    let (code, text) = said(&pairs);
    assert!(code == 2 && text.contains("cannot be compared across languages"), "{code}: {text}");
}

/// The binary files of mCRL2 are written and read again, with the same labels.
#[test]
fn binary_files_keep_labels_and_states() {
    let files = Files::new();
    let (script, model) = (files.write("a.csp", SCRIPT), files.write("q.pml", QUEUE));
    let text = "sort D = struct d1 | d2(Nat); act a: Int; b: D # List(Bool); c;
                proc P(n: Int) = (n < 2) -> a(n) . P(n + 1) <> c . b(d2(7), [true]) . b(d1, []) . delta; init P(-2);";
    let specification = files.write("s.mcrl2", text);
    for arguments in
        [&[script.as_str(), "--process", "FLAGS"][..], &[&script, "--process", "ENDS"], &[&model], &[&specification]]
    {
        for name in ["one.lts", "two.aut"] {
            let (code, text) = said(&[&["lts", "generate"], arguments, &["-o", &files.path(name)]].concat());
            assert_eq!(code, 0, "{arguments:?}: {text}");
        }
        assert_eq!(said(&["lts", "convert", &files.path("two.aut"), &files.path("three.lts"), "--from", "aut"]).0, 0);
        let written = ["one.lts", "three.lts"].map(|name| {
            assert_eq!(said(&["lts", "convert", &files.path(name), &files.path("four.aut"), "--from", "lts"]).0, 0);
            std::fs::read_to_string(files.path("four.aut")).expect("a file")
        });
        let expected = std::fs::read_to_string(files.path("two.aut")).expect("a file");
        assert_eq!(written[0].lines().next(), expected.lines().next(), "{arguments:?}");
        if arguments.len() == 1 && arguments[0] == specification {
            assert_eq!(written, [expected.clone(), expected.clone()]);
        }
        let (code, text) = said(&[
            "lts",
            "compare",
            &files.path("one.lts"),
            arguments[0],
            "--process",
            arguments.last().expect("one"),
        ]);
        if arguments.len() > 1 {
            assert_eq!(code, 0, "{arguments:?}: {text}");
        }
    }
}

/// The alternating bit protocol in three languages.
#[test]
fn one_protocol_in_three_languages() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lts/models");
    let file = |ending: &str| folder.join(format!("alternating_bit.{ending}")).display().to_string();
    let (script, model, specification) = (file("csp"), file("pml"), file("mcrl2"));
    let compare = |left: &str, right: &str, more: &[&str]| {
        said(&[&["lts", "compare", left, right, "-e", "branching"], more].concat())
    };
    let protocol = ["--process", "PROTOCOL"];
    for (left, right, process) in
        [(&specification, &script, &protocol[..]), (&script, &model, &protocol), (&model, &specification, &[])]
    {
        let (code, text) = compare(left, right, process);
        assert!(code == 0 && text.contains("classes      132 and 132"), "{left}, {right}: {text}");
    }
    // Its users see a buffer, unless the receiver does not look at the bit.
    let users = ["--visible", "accept,deliver"];
    for (file, holds) in [(&specification, "BUFFER"), (&model, "BUFFER")] {
        assert_eq!(compare(file, &script, &[&["--process", holds], &users[..]].concat()).0, 0, "{file}");
    }
    let (code, text) = compare(&specification, &script, &[&["--process", "WRONG"], &users[..]].concat());
    assert!(code == 1 && text.contains("<accept(0), deliver(0), deliver(0)>"), "{text}");
    let others = ["--process", "BUFFER", "--rename", "accept=put,deliver=get", "--visible", "put,get"];
    let (code, text) = compare(&specification, &script, &others);
    assert_eq!(code, 0, "{text}");
    let refine = ["lts", "refine", &script, &model, &specification, "-m", "failures", "--process", "BUFFER"];
    let (code, text) = said(&[&refine[..], &users].concat());
    assert!(code == 0 && text.matches("holds: ").count() == 2, "{text}");
}

#[test]
fn labels_are_renamed_and_hidden() {
    let files = Files::new();
    let (script, queue) = (files.write("a.csp", SCRIPT), files.write("q.pml", QUEUE));
    let spec = files.write("s.csp", "datatype D = data\nchannel put, get : D.{0..1}\nB = put?d?x -> get!d!x -> B\n");
    let (code, text) =
        said(&["lts", "compare", &spec, &queue, "-e", "branching", "--process", "B", "--rename", "c!=put,c?=get"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(said(&["lts", "compare", &spec, &queue, "-e", "branching", "--process", "B"]).0, 1);
    // Only what is sent.
    let sends = files.write("t.csp", "datatype D = data\nchannel send : D.{0..1}\nS = send?d?x -> S\n");
    let seen = ["--process", "S", "--rename", "c!=send", "--visible", "send"];
    let (code, text) = said(&[&["lts", "compare", &sends, &queue, "-e", "weak"], &seen[..]].concat());
    assert_eq!(code, 0, "{text}");
    let compare = |more: &[&str]| {
        said(&[&["lts", "compare", &script, &files.write("a.pml", MODEL), "-e", "weak"], more].concat())
    };
    assert_eq!(compare(&["--process", "PAIRS", "--visible", "get"]).0, 1);
    let (code, text) = compare(&["--process", "PAIRS"]);
    assert_eq!(code, 2);
    assert!(
        text.contains("the argument `(0, 1)` of `pair`") || text.contains("the argument `(0,1)` of `pair`"),
        "{text}"
    );
    let (code, text) = compare(&["--process", "BUFFER", "--visible", "gte"]);
    assert_eq!(code, 2);
    assert!(text.contains("did you mean `get`?"), "{text}");
    assert_eq!(compare(&["--process", "BUFFER", "--rename", "get"]).0, 2);
}

#[test]
fn booleans_of_promela_are_numbers() {
    let files = Files::new();
    let script = files.write("a.csp", SCRIPT);
    let model = files.write(
        "f.pml",
        "chan flag = [0] of { bool };\nactive proctype P() { do :: flag!true; flag!false od }\n\
         active proctype Q() { bool b; do :: flag?b od }\n",
    );
    let (code, text) = said(&["lts", "compare", &script, &model, "-e", "branching", "--process", "FLAGS"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let files = Files::new();
    let (script, model) = (files.write("a.csp", SCRIPT), files.write("a.pml", MODEL));
    let out = files.path("x.aut");
    let (code, text) = said(&["lts", "generate", &script, "-o", &out]);
    assert_eq!(code, 2);
    assert!(text.contains("--process"), "{text}");
    let (code, text) = said(&["lts", "generate", &model, "--process", "P", "-o", &out]);
    assert_eq!(code, 2);
    assert!(text.contains("no script for --process"), "{text}");
    let (code, text) = said(&["lts", "generate", &model, "-o", &files.path("x.trace")]);
    assert_eq!(code, 2);
    assert!(text.contains("does not say which format to write"), "{text}");
    assert_eq!(said(&["lts", "generate", &files.write("a.mcrl2", "sort D;"), "-o", &out]).0, 2);
    assert_eq!(said(&["lts", "compare", &script, &script, "--process", "A", "--process", "B", "--process", "C"]).0, 2);
}

#[test]
fn the_order_of_a_multi_action_does_not_matter() {
    let files = Files::new();
    let one = files.write("one.aut", "des (0,2,2)\n(0,\"b(1 |> [])|a\",1)\n(1,\"c\",0)\n");
    let other = files.write("other.aut", "des (0,2,2)\n(0,\"a|b(1 |> [])\",1)\n(1,\"c\",0)\n");
    let (code, text) = said(&["lts", "compare", &one, &other, "-e", "strong"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = said(&["lts", "refine", &one, &other]);
    assert_eq!(code, 0, "{text}");
    // A bar inside an argument or a text of another tool is no bar between actions.
    for (left, right) in [("a(x|y)", "a(y|x)"), ("send !1|2", "send !2|1"), ("a|b", "a|b|b")] {
        let left = files.write("left.aut", &format!("des (0,1,2)\n(0,\"{left}\",1)\n"));
        let right = files.write("right.aut", &format!("des (0,1,2)\n(0,\"{right}\",1)\n"));
        assert_eq!(said(&["lts", "compare", &left, &right, "-e", "strong"]).0, 1);
    }
}

#[test]
fn a_model_is_no_file_with_a_system() {
    let files = Files::new();
    let model = files.write("x.mcrl2", "act a; init a;\n");
    let (code, text) = said(&["lts", "info", &model]);
    assert!(code == 2 && text.contains("trefoil lts generate"), "{text}");
    let script = files.write("x.csp", "channel a\nP = a -> STOP\n");
    let (code, text) = said(&["lts", "info", &script]);
    assert!(code == 2 && text.contains("--process P -o x.aut"), "{text}");
}
