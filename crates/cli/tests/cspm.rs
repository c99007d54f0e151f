//! `trefoil cspm` as users see it: what it prints, where, and how it exits.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The program, without what the environment may say about colours.
fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    }
    folder
}

fn trefoil(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    told(&program(folder).args(arguments).output().expect("the program runs"))
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

const GOOD: &[u8] = b"include \"data.csp\"\nchannel c : Data\nP(n) = c?x -> P(n + 1) -- on and on\nid(x) = x\n";
const DATA: &[u8] = b"datatype Data = A | B.{0..1}\n";
const BAD: &[u8] = b"f(x) = x + true\ng = f(1)\nh = not 1\n";

#[test]
fn good_scripts_are_well_typed() {
    let folder = folder(&[("good.csp", GOOD), ("data.csp", DATA)]);
    let (code, out, err) = trefoil(&folder, &["cspm", "typecheck", "good.csp", "data.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "good.csp: well typed, 6 names\ndata.csp: well typed, 3 names\n");
}

#[test]
fn checking_ends_when_the_time_is_up() {
    let mut script = String::from("channel c : {0..3}\n");
    for at in 0..40_000 {
        script += &format!("P{at}(x) = c.x -> P{}(x) [] c?y -> P0(x + y)\n", (at * 7 + 1) % 40_000);
    }
    let folder = folder(&[("long.csp", script.as_bytes())]);
    let (code, out, _) = trefoil(&folder, &["cspm", "typecheck", "long.csp", "--timeout", "20ms"]);
    assert_eq!(code, 3, "{out}");
}

#[test]
fn a_missing_file_is_said_plainly() {
    let folder = folder(&[
        ("good.csp", b"include \"dato.csp\"\n"),
        ("data.csp", DATA),
        ("upper.csp", b"include \"DATA.csp\"\n"),
    ]);
    let (code, _, err) = trefoil(&folder, &["cspm", "typecheck", "god.csp"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("cannot read `god.csp`: there is no such file") && err.contains("did you mean `good.csp`?"),
        "{err}"
    );
    let (_, _, err) = trefoil(&folder, &["cspm", "typecheck", "good.csp"]);
    assert!(err.contains("cannot read `dato.csp`") && err.contains("`data.csp`"), "{err}");
    let (_, _, err) = trefoil(&folder, &["cspm", "eval", ".", "1"]);
    assert!(err.contains("it is a folder") && !err.contains("os error"), "{err}");
    let (code, _, err) = trefoil(&folder, &["cspm", "typecheck", "upper.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn types_are_shown_in_the_order_of_the_script() {
    let folder = folder(&[("good.csp", GOOD), ("data.csp", DATA)]);
    let (code, out, _) = trefoil(&folder, &["cspm", "types", "good.csp"]);
    assert_eq!(code, 0);
    let expected = "c :: Data=>Event\nP :: (Int) -> Proc\nid :: (a) -> a\nData :: {Data}\nA :: Data\nB :: Int=>Data\n";
    assert_eq!(out, expected);
    let (_, out, _) = trefoil(&folder, &["--format", "json", "cspm", "types", "good.csp"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["results"][0]["names"][1]["name"], "P");
    assert_eq!(document["results"][0]["names"][1]["type"], "(Int) -> Proc");
}

#[test]
fn errors_go_to_standard_error_with_their_places() {
    let folder = folder(&[("bad.csp", BAD), ("data.csp", DATA)]);
    let (code, out, err) = trefoil(&folder, &["cspm", "typecheck", "bad.csp", "data.csp"]);
    assert_eq!(code, 2);
    assert_eq!(out, "data.csp: well typed, 3 names\n");
    assert!(err.contains("error[C060]: expected `Int`, found `Bool`"), "{err}");
    assert!(err.contains("bad.csp:1:12"), "{err}");
    assert!(err.contains("bad.csp:3:9"), "{err}");
    let (code, out, _) = trefoil(&folder, &["cspm", "typecheck", "bad.csp", "--format", "json"]);
    assert_eq!(code, 2);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    let diagnostics = document["results"][0]["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(diagnostics.len(), 2);
    assert_eq!(diagnostics[0]["code"], "C060");
    let (code, _, err) = trefoil(&folder, &["cspm", "typecheck", "nowhere.csp"]);
    assert_eq!(code, 2);
    assert!(err.contains("C030"), "{err}");
}

#[test]
fn names_and_types_are_checked_and_suggestions_are_made() {
    let folder = folder(&[("names.csp", b"value = 1\nx = valeu + true\n")]);
    let (code, _, err) = trefoil(&folder, &["cspm", "typecheck", "names.csp"]);
    assert_eq!(code, 2);
    assert!(err.contains("error[C040]") && err.contains("did you mean `value`?"), "{err}");
    // A syntax error hides neither.
    assert!(err.contains("error[C060]") && err.contains("names.csp:2:13"), "{err}");
    let folder = self::folder(&[("syntax.csp", b"value = 1\nP = (STOP\nx = valeu + 1\ny = 1 + true\n")]);
    let (_, _, err) = trefoil(&folder, &["cspm", "typecheck", "syntax.csp"]);
    for place in ["error[C012]", "syntax.csp:2:10", "error[C040]", "syntax.csp:3:5", "error[C060]", "syntax.csp:4:9"] {
        assert!(err.contains(place), "{err}");
    }
}

#[test]
fn printing_keeps_comments_and_needs_no_types() {
    let folder = folder(&[("p.csp", b"P   =   a->P   -- on and on\n")]);
    let (code, out, err) = trefoil(&folder, &["cspm", "print", "p.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("P = a -> P") && out.contains("-- on and on"), "{out}");
}

#[test]
fn warnings_do_not_spoil_the_result() {
    let folder = folder(&[("latin.csp", b"-- caf\xe9\nx = 1\n")]);
    let (code, out, err) = trefoil(&folder, &["cspm", "typecheck", "latin.csp"]);
    assert_eq!(code, 0);
    assert!(err.contains("C001"), "{err}");
    assert!(out.contains("well typed"), "{out}");
}

#[test]
fn warnings_can_be_hidden() {
    let folder = folder(&[("unused.csp", b"x = let y = 1\n within 2\n")]);
    let (code, _, err) = trefoil(&folder, &["cspm", "typecheck", "unused.csp"]);
    assert_eq!(code, 0);
    assert!(err.contains("warning[C056]") && err.contains("unused.csp:1:9"), "{err}");
    let (_, out, _) = trefoil(&folder, &["cspm", "typecheck", "unused.csp", "--format", "json"]);
    assert!(out.contains("C056"), "{out}");
    for command in ["typecheck", "types", "print"] {
        let (code, out, err) = trefoil(&folder, &["cspm", command, "unused.csp", "--no-warnings"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
}

#[test]
fn a_script_can_come_from_standard_input() {
    let folder = folder(&[("data.csp", DATA)]);
    let mut child = program(&folder)
        .args(["cspm", "types", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(b"include \"data.csp\"\nx = A\n").expect("written");
    let (code, out, err) = told(&child.wait_with_output().expect("an end"));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("x :: Data\n"), "{out}");
}
