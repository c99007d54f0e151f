//! `trefoil group` and `trefoil automorphisms` as users see them.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn trefoil(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program runs")
}

/// With a text on standard input.
fn given(arguments: &[&str], input: &str) -> Output {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("input is taken");
    child.wait_with_output().expect("the program ends")
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

fn result(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", err(output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a JSON document");
    document["results"][0].clone()
}

#[test]
fn groups_have_degree_order_structure_and_orbits() {
    let cases: [(&[&str], u64, &str, &str); 9] = [
        (&["(1,2,3)(4,5)", "(1,2)"], 5, "12", "S3 × S2"),
        (&["()"], 0, "1", "the trivial group"),
        (&["(1,2,3,4,5)", "(1 2)"], 5, "120", "S5"),
        (&["(1,2,3)", "(3,4,5)"], 5, "60", "A5"),
        (&["(1,2,3,4,5,6,7)"], 7, "7", "C7"),
        (&["(1,2,3,4)", "(2,4)"], 4, "8", "D4"),
        (&["(1,2,3)", "(1,2)", "(1,4)(2,5)(3,6)", "(7,8)"], 8, "144", "(S3 wr S2) × S2"),
        (&["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"], 11, "7920", "a group of order 7920"),
        (
            &[
                "(1,3,8,6)(2,5,7,4)(9,33,25,17)(10,34,26,18)(11,35,27,19)",
                "(9,11,16,14)(10,13,15,12)(1,17,41,40)(4,20,44,37)(6,22,46,35)",
                "(17,19,24,22)(18,21,23,20)(6,25,43,16)(7,28,42,13)(8,30,41,11)",
                "(25,27,32,30)(26,29,31,28)(3,38,43,19)(5,36,45,21)(8,33,48,24)",
                "(33,35,40,38)(34,37,39,36)(3,9,46,32)(2,12,47,29)(1,14,48,27)",
                "(41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40)",
            ],
            48,
            "43252003274489856000",
            "a group of order 43252003274489856000",
        ),
    ];
    for (generators, degree, order, structure) in cases {
        let found = result(&trefoil(&[&["group"], generators, &["--format", "json"]].concat()));
        assert_eq!(found["degree"], degree, "{generators:?}");
        assert_eq!(found["order"], order, "{generators:?}");
        assert_eq!(found["structure"], structure, "{generators:?}");
    }
    let found = result(&trefoil(&["group", "(1,2)(4,5)", "--format", "json"]));
    assert_eq!(found["orbits"], serde_json::json!([[1, 2], [3], [4, 5]]));
    let text = out(&trefoil(&["group", "(1,2,3)(4,5)", "(1,2)"]));
    assert!(text.contains("order        12") && text.contains("S3 on {1,2,3} × S2 on {4,5}"), "{text}");
}

#[test]
fn stabilisers_of_sets_and_partitions() {
    let symmetric = ["group", "(1,2,3,4,5,6)", "(1,2)", "--format", "json", "--stabilise"];
    for (cells, order, structure) in [
        ("{1,2}", "48", "S2 × S4"),
        ("{1,2}|{3,4}", "8", "S2 × S2 × S2"),
        ("{1,2}|{3,4}|{5,6}", "8", "S2 × S2 × S2"),
        ("{}", "720", "S6"),
        ("{9}", "720", "S6"),
        // Point 3 stays within both, so it stays.
        ("{1,2,3}|{3,4}", "4", "S2 × S2"),
    ] {
        let found = result(&trefoil(&[&symmetric[..], &[cells]].concat()));
        let stabiliser = &found["stabiliser"];
        assert_eq!((&stabiliser["order"], &stabiliser["structure"]), (&order.into(), &structure.into()), "{cells}");
    }
    // A square: cells are not exchanged.
    let found = result(&trefoil(&["group", "(1,2,3,4)", "(2,4)", "--stabilise", "{1,3}|{2,4}", "--format", "json"]));
    assert_eq!(found["stabiliser"]["order"], "4");
}

#[test]
fn mistakes_in_permutations_exit_with_2() {
    for (arguments, code_of, place) in [
        (vec!["group", "(1,2"], "G015", "generator 1:1:1"),
        (vec!["group", "(1,2)", "(1,1)"], "G015", "generator 2:1:1"),
        (vec!["group", ""], "G015", "generator 1"),
        (vec!["group", "(1,9999999999)"], "G015", "generator 1:1:4"),
        (vec!["group", "(1,2)", "--stabilise", "{1,2"], "G016", "--stabilise:1:1"),
        (vec!["group", "(1,2)", "--stabilise", "1,2"], "G016", "--stabilise:1:1"),
    ] {
        let output = trefoil(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(err(&output).contains(code_of) && err(&output).contains(place), "{}", err(&output));
    }
    assert_eq!(code(&trefoil(&["group"])), 2);
    let all = err(&trefoil(&["group", "(1", "(2", "--stabilise", "3"]));
    assert_eq!(all.matches("error[").count(), 3, "{all}");
}

#[test]
fn points_far_apart_are_no_trouble() {
    let found = result(&trefoil(&["group", "(1,100000)", "(2,3,4)", "--format", "json"]));
    assert_eq!((&found["degree"], &found["order"]), (&100_000.into(), &"6".into()));
    let cycle: Vec<String> = (1..=20_000).map(|point| point.to_string()).collect();
    let found = result(&trefoil(&["group", &format!("({})", cycle.join(",")), "--format", "json"]));
    assert_eq!((&found["order"], &found["structure"]), (&"20000".into(), &"C20000".into()));
}

const PETERSEN: &str = "graph { 0--1--2--3--4--0; 0--5; 1--6; 2--7; 3--8; 4--9; 5--7--9--6--8--5 }";

#[test]
fn graphs_have_their_automorphisms() {
    for (text, order, structure) in [
        (PETERSEN, "120", "a group of order 120"),
        ("graph { a -- b -- c -- d -- a }", "8", "D4"),
        ("digraph { a -> b -> c -> d -> e -> a }", "5", "C5"),
        ("graph { r -- {x y}; x -- {x1 x2 x3}; y -- {y1 y2 y3} }", "72", "S3 wr S2"),
        ("graph { a -- b [color=red]; c -- d }", "4", "S2 × S2"),
        ("graph { a [color=red]; b; c }", "2", "S2"),
        ("graph { }", "1", "the trivial group"),
        ("{ \"vertices\": 6, \"edges\": [[0,1],[2,3],[4,5]] }", "48", "S2 wr S3"),
    ] {
        let found = result(&given(&["automorphisms", "-", "--format", "json"], text));
        assert_eq!((&found["order"], &found["structure"]), (&order.into(), &structure.into()), "{text}");
    }
    let found = result(&given(&["automorphisms", "-", "--format", "json"], "graph { \"a b\" -- c; d }"));
    assert_eq!(found["generators"], serde_json::json!(["(\"a b\",c)"]));
    assert_eq!(found["orbits"], serde_json::json!([["a b", "c"], ["d"]]));
}

#[test]
fn labels_of_vertices_count_when_asked() {
    let text = "graph { a [label=x] b [label=x] c [label=y] }";
    let plain = given(&["automorphisms", "-"], text);
    assert!(out(&plain).contains("automorphisms  6") && out(&plain).contains("--labels takes"), "{}", out(&plain));
    let labelled = out(&given(&["automorphisms", "-", "--labels"], text));
    assert!(labelled.contains("automorphisms  2") && !labelled.contains("--labels takes"), "{labelled}");
}

#[test]
fn files_are_read_by_their_endings_and_mistakes_exit_with_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file is written");
        path.to_str().expect("a path in UTF-8").to_string()
    };
    let dot = write("g.gv", PETERSEN);
    assert_eq!(result(&trefoil(&["automorphisms", &dot, "--format", "json"]))["vertices"], 10);
    let json = write("g.json", "{ \"vertices\": 3, \"edges\": [] }");
    assert_eq!(result(&trefoil(&["automorphisms", &json, "--format", "json"]))["order"], "6");
    for (name, text, code_of) in [
        ("a.dot", "graph { a -- }", "G007"),
        ("b.json", "{", "G011"),
        ("c.dot", "", "G002"),
        ("d.json", "graph { a }", "G011"),
    ] {
        let file = write(name, text);
        let output = trefoil(&["automorphisms", &file]);
        assert_eq!(code(&output), 2, "{name}");
        assert!(err(&output).contains(code_of), "{}", err(&output));
    }
    let missing = trefoil(&["automorphisms", "no-such-file.dot"]);
    assert_eq!(code(&missing), 2);
    assert!(err(&missing).contains("G001"), "{}", err(&missing));
    assert!(err(&trefoil(&["automorphisms", folder.path().to_str().expect("a path")])).contains("G001"));
    let binary = folder.path().join("x.dot");
    std::fs::write(&binary, [0x89, 0x50, 0xff]).expect("the file is written");
    assert!(err(&trefoil(&["automorphisms", binary.to_str().expect("a path")])).contains("G002"));
}

#[test]
fn large_structured_graphs_are_recognised_part_by_part() {
    // Edges of many colours, a star and a long path.
    let mut text = String::from("graph {\n");
    for pair in 0..300 {
        text.push_str(&format!("a{pair} -- b{pair} [color=c{pair}]\n"));
    }
    for leaf in 0..5000 {
        text.push_str(&format!("centre -- leaf{leaf}\n"));
    }
    for step in 0..2000 {
        text.push_str(&format!("p{step} -- p{}\n", step + 1));
    }
    text.push('}');
    let found = result(&given(&["automorphisms", "-", "--format", "json"], &text));
    assert_eq!(found["structure"], "S2^301 × S5000");
}

#[test]
fn copies_and_rings_have_names() {
    let mut matching = String::from("graph {");
    let mut petersens = String::from("graph {");
    let mut paths = String::from("graph {");
    for copy in 0..120 {
        matching.push_str(&format!("a{copy} -- b{copy};"));
    }
    for copy in 0..40 {
        for edge in PETERSEN.split(['{', '}']).nth(1).expect("a body").split(';') {
            let named: Vec<String> = edge.split("--").map(|vertex| format!("c{copy}v{}", vertex.trim())).collect();
            petersens.push_str(&format!("{};", named.join(" -- ")));
        }
        paths.push_str(&format!("x{copy} -- y{copy} -- z{copy};"));
    }
    let ring = |arrow: &str, kind: &str| {
        let edges: Vec<String> = (0..20_000).map(|point| format!("{point} {arrow} {}", (point + 1) % 20_000)).collect();
        format!("{kind} {{ {} }}", edges.join(";"))
    };
    for (text, structure) in [
        (matching + "}", "S2 wr S120"),
        (petersens + "}", "[a group of order 120] wr S40"),
        (paths + "}", "S2 wr S40"),
        (ring("--", "graph"), "D20000"),
        (ring("->", "digraph"), "C20000"),
    ] {
        let found = result(&given(&["automorphisms", "-", "--format", "json"], &text));
        assert_eq!(found["structure"], structure);
        assert!(found.get("structure_unknown").is_none() && found.get("stopped").is_none());
    }
}

#[test]
fn generators_come_from_files_and_from_standard_input() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path in UTF-8").to_string();
    std::fs::write(path("s5"), "# the symmetric group\n(1,2,3,4,5) # a ring\n\n(1,2)\r\n").expect("written");
    let found = result(&trefoil(&["group", &path("s5"), "--format", "json"]));
    assert_eq!((&found["order"], &found["structure"]), (&"120".into(), &"S5".into()));
    let found = result(&trefoil(&["group", &path("s5"), "(6,7)", "--format", "json"]));
    assert_eq!(found["structure"], "S5 × S2");
    // Many disjoint factors, and a dihedral group, whose text is longer than an argument may be.
    let swaps: Vec<String> = (0..1000).map(|swap| format!("({},{})", 2 * swap + 1, 2 * swap + 2)).collect();
    let found = result(&given(&["group", "-", "--format", "json"], &swaps.join("\n")));
    assert_eq!(found["structure"], "S2^1000");
    let ring: Vec<String> = (1..=10_000).map(|point| point.to_string()).collect();
    let mirror: Vec<String> = (2..=5_000).map(|point| format!("({point},{})", 10_002 - point)).collect();
    let dihedral = format!("({})\n{}\n", ring.join(","), mirror.concat());
    let found = result(&given(&["group", "-", "--format", "json"], &dihedral));
    assert_eq!((&found["order"], &found["structure"]), (&"20000".into(), &"D10000".into()));
    // Mistakes have the line of the file.
    std::fs::write(path("wrong"), "(1,2)\n  (é,2)\n").expect("written");
    let output = trefoil(&["group", &path("wrong")]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("wrong:2:4") && err(&output).contains("G015"), "{}", err(&output));
    std::fs::write(path("empty"), "# nothing\n").expect("written");
    assert_eq!(code(&trefoil(&["group", &path("empty")])), 2);
    assert_eq!(code(&trefoil(&["group", folder.path().to_str().expect("a path in UTF-8")])), 2);
}

#[test]
fn points_that_nothing_moves_cost_nothing() {
    let found = result(&trefoil(&["group", "(1,1000000)", "--stabilise", "{1}", "--format", "json"]));
    assert_eq!((&found["degree"], &found["order"]), (&1_000_000.into(), &"2".into()));
    assert_eq!((&found["structure"], &found["stabiliser"]["order"]), (&"S2".into(), &"1".into()));
    assert_eq!(found["structure_on_points"], "S2 on {1,1000000}");
}

#[test]
fn characters_in_diagnostics_are_whole() {
    for arguments in [vec!["group", "(é,2)"], vec!["group", "(1,2)", "--stabilise", "{é}"]] {
        let output = trefoil(&arguments);
        assert_eq!(code(&output), 2);
        assert!(err(&output).contains('é') && !err(&output).contains('\u{fffd}'), "{}", err(&output));
        let output = trefoil(&[&arguments[..], &["--format", "json"]].concat());
        assert!(!out(&output).contains('\u{fffd}'), "{}", out(&output));
    }
}

#[test]
fn sets_are_read_as_they_are_printed() {
    for cells in ["{1..3}|{4 5}", "{1,2,3}|{4,5}"] {
        let arguments = ["group", "(1,2,3,4,5,6)", "(1,2)", "--stabilise", cells, "--format", "json"];
        let found = result(&trefoil(&arguments));
        assert_eq!(found["stabiliser"]["structure"], "S3 × S2", "{cells}");
        assert_eq!(found["stabiliser"]["cells"], serde_json::json!([[1, 2, 3], [4, 5]]));
    }
}

#[test]
fn json_graphs_have_no_other_fields() {
    for (text, words) in [
        ("[]", "a graph is an object"),
        ("[false, 3, []]", "a graph is an object"),
        ("{ \"vertices\": 2, \"edges\": [], \"direct\": true }", "unknown field `direct`"),
        ("{ \"vertices\": [{ \"name\": \"a\", \"colr\": 1 }], \"edges\": [] }", "no field `colr`"),
        ("{ \"vertices\": 2, \"edges\": [{ \"from\": 0, \"to\": 1, \"weight\": 2 }] }", "no field `weight`"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("g.json");
        std::fs::write(&file, text).expect("written");
        let output = trefoil(&["automorphisms", file.to_str().expect("a path in UTF-8")]);
        assert_eq!(code(&output), 2, "{text}");
        assert!(err(&output).contains("G012") && err(&output).contains(words), "{}", err(&output));
    }
    let other_tools =
        "{ \"directed\": false, \"multigraph\": true, \"graph\": {}, \"nodes\": [{ \"id\": 0 }, { \"id\": 1 }],
        \"links\": [{ \"source\": 0, \"target\": 1, \"key\": 0 }] }";
    assert_eq!(result(&given(&["automorphisms", "-", "--format", "json"], other_tools))["order"], "2");
}

#[test]
fn an_answer_without_words_is_an_answer() {
    // Permutations of blocks of a hundred points, a hundred of them: too much for a millisecond.
    let cycle = |points: Vec<usize>| {
        let points: Vec<String> = points.iter().map(ToString::to_string).collect();
        format!("({})", points.join(","))
    };
    let across = |count: usize| {
        (0..100).map(|place| cycle((0..count).map(|block| 100 * block + place + 1).collect())).collect::<String>()
    };
    let generators = [cycle(vec![1, 2]), cycle((1..=100).collect()), across(2), across(100)].join("\n");
    let output = given(&["group", "-", "--timeout", "1ms", "--format", "json"], &generators);
    assert_eq!(code(&output), 3);
    let document: Value = serde_json::from_slice(&output.stdout).expect("a JSON document");
    assert_eq!(document["results"][0]["files"], serde_json::json!(["-"]));
    assert!(out(&output).len() < 2000, "{}", out(&output).len());
    let text = out(&trefoil(&["group", &across(2), &across(90), "(1,2)", "--timeout", "1ms"]));
    assert!(text.len() < 8000, "{text}");
}
