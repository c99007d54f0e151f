//! `trefoil symmetry`, and assertions about symmetry, as users see them.

use std::process::Command;

use serde_json::Value;

/// Runs the program on a script; gives the exit code, and what was said on both streams.
fn trefoil(script: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.csp"), script).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR").args(arguments);
    let output = command.output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

/// A stack of linked nodes, in small.
const STACK: &str = "datatype NodeIDType = Null | N0 | N1 | N2
NodeID = diff(NodeIDType, {Null})
datatype Data = A | B
datatype ThreadID = T0 | T1
channel push, pop : ThreadID.Data
channel getTop, setTop : ThreadID.NodeIDType
Top(n) = getTop?t!n -> Top(n) [] setTop?t?n' -> Top(n')
Threads = ||| t : ThreadID @ Thread(t)
Thread(t) = push.t?d -> setTop.t?n:NodeID -> Thread(t) [] getTop.t?n -> Thread(t)
System = Top(Null) [| {| getTop, setTop |} |] Threads
Main = push.T0?d -> Main
assert System :[deadlock free [F]]
assert Main ||| System :[deadlock free [F]] :[symmetry reduce]: Data, diff(NodeIDType, {| Null |})
assert System :[symmetric]: Data, ThreadID, diff(NodeIDType, {| Null |})
assert System :[symmetric]: NodeIDType
assert not Main :[symmetric]: ThreadID
";

#[test]
fn types_are_told_with_reasons_and_places() {
    let (code, out, err) = trefoil(STACK, &["symmetry", "script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "\
script.csp
  1  System :[deadlock free [F]]
     NodeIDType  symmetric in {N0, N1, N2}, 3 of 4 constants
       `Null` is named, in `NodeID` (script.csp:2:28)
       `Null` is named, in `System` (script.csp:10:14)
     Data        symmetric: {A, B}
     ThreadID    symmetric: {T0, T1}
  2  Main ||| System :[deadlock free [F]] :[symmetry reduce]: Data, diff(NodeIDType, {|Null|})
     NodeIDType  symmetric in {N0, N1, N2}, 3 of 4 constants
       `Null` is named, in `NodeID` (script.csp:2:28)
       `Null` is named, in `System` (script.csp:10:14)
     Data        symmetric: {A, B}
     ThreadID    not symmetric, 2 constants
       `T0` is named, in `Main` (script.csp:11:13)
";
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn the_same_as_json() {
    let (code, out, _) = trefoil(STACK, &["symmetry", "script.csp", "--format", "json"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["command"], "symmetry");
    let first = &document["results"][0]["assertions"][0];
    assert_eq!(first["index"], 1);
    let nodes = &first["types"][0];
    assert_eq!(nodes["name"], "NodeIDType");
    assert_eq!(nodes["symmetric"], serde_json::json!(["N0", "N1", "N2"]));
    assert_eq!(nodes["reasons"][0]["constant"], "Null");
    assert_eq!(nodes["reasons"][0]["place"]["line"], 2);
}

#[test]
fn symmetric_assertions_are_answered() {
    let (code, out, err) = trefoil(STACK, &["check", "script.csp", "--only", "3", "--only", "4", "--only", "5"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    assert!(out.contains("3  holds"), "{out}");
    assert!(out.contains("4  fails"), "{out}");
    let why = "`NodeIDType` is not symmetric: `Null` is named, in `NodeID` (script.csp:2:28), and 1 reason more";
    assert!(out.contains(why), "{out}");
    assert!(out.contains("5  holds"), "{out}");
    assert!(out.contains("what it denies fails: `ThreadID` is not symmetric: `T0` is named, in `Main`"), "{out}");
    let (_, out, _) = trefoil(STACK, &["check", "script.csp", "--explain", "4"]);
    assert!(out.contains("  NodeIDType {Null, N0, N1, N2}\n    `Null` is named, in `NodeID`"), "{out}");
    let (_, out, _) = trefoil(STACK, &["check", "script.csp", "--only", "4", "--format", "json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["verdict"], &result["result"]), (&Value::from("fails"), &Value::from(0)));
    let finding = &result["witness"]["finding"];
    assert_eq!(finding["kind"], "not_symmetric");
    assert_eq!(finding["types"][0]["type"], "NodeIDType");
    assert_eq!(finding["types"][0]["reasons"][1]["place"]["line"], 10);
}

#[test]
fn lists_that_make_no_sense_are_errors_of_their_assertion() {
    let script = "datatype T = A | B\nsubtype S = A\nchannel c : T\nP = c?x -> P\n\
                  assert P :[symmetric]: S\nassert P :[symmetric]: diff(T, {| c |})\nassert P :[symmetric]: T\n";
    let (code, out, err) = trefoil(&script.replace("{| c |}", "{| A.B |}"), &["check", "script.csp"]);
    assert_eq!(code, 2, "{out}{err}");
    let script = script.replace("diff(T, {| c |})", "diff(T, {x | x <- T})");
    let (code, out, err) = trefoil(&script, &["check", "script.csp"]);
    assert_eq!(code, 2);
    assert!(out.contains("1  error") && out.contains("2  error") && out.contains("3  holds"), "{out}");
    assert!(err.contains("C080") && err.contains("`S` is a subtype, not a datatype"), "{err}");
    assert!(err.contains("C081"), "{err}");
    let (code, out, _) = trefoil(&script, &["symmetry", "script.csp"]);
    assert_eq!(code, 2);
    assert!(out.contains("error: `S` is a subtype, not a datatype [C080]"), "{out}");
}

#[test]
fn instances_have_datatypes_of_their_own() {
    let script = "module M(n)\nexports\n  datatype D = X | Y | Z\n  channel c : D\n  P = c?x -> P\n  Q = c.X -> Q\nendmodule\n\
                  instance I = M(1)\ninstance J = M(2)\nassert I::P :[deadlock free]\nassert I::Q :[symmetric]: I::D\n\
                  assert I::Q :[symmetric]: diff(I::D, {| I::X |})\n";
    let (code, out, err) = trefoil(script, &["symmetry", "script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("I::D  symmetric: {I::X, I::Y, I::Z}"), "{out}");
    let (_, out, _) = trefoil(script, &["check", "script.csp", "--only", "2", "--only", "3"]);
    assert!(out.contains("2  fails") && out.contains("3  holds"), "{out}");
}
