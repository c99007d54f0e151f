//! `trefoil mcrl2` as users see it: what it prints, where, and how it exits.

use std::io::Write;
use std::process::{Command, Stdio};

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn trefoil(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = program(folder).args(arguments).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

const GOOD: &str = "sort D = struct leaf | node(left: D, right: D)?is_node;\n\
    map depth: D -> Nat; endless: Nat -> Nat;\n\
    var x, y: D; n: Nat;\n\
    eqn depth(leaf) = 0;\n    depth(node(x, y)) = max(depth(x), depth(y)) + 1; % one more\n    endless(n) = endless(n + 1);\n\
    act a: Nat; proc P(n: Nat) = a(n) . P(n + 1); init P(0);\n";

#[test]
fn types_are_checked_and_shown() {
    let folder = folder(&[("good.mcrl2", GOOD), ("bad.mcrl2", "map f: Nat -> Nat; var n: Nat; eqn f(n) = n - 1;\n")]);
    let (code, out, err) = trefoil(&folder, &["mcrl2", "typecheck", "good.mcrl2"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "good.mcrl2: well typed, 10 names\n", ""));
    let (code, out, _) = trefoil(&folder, &["mcrl2", "types", "good.mcrl2"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "leaf: D\nnode: D # D -> D\nleft: D -> D\nright: D -> D\nis_node: D -> Bool\ndepth: D -> Nat\nendless: Nat -> Nat\n"
    );
    let (code, out, err) = trefoil(&folder, &["mcrl2", "typecheck", "bad.mcrl2", "good.mcrl2"]);
    assert_eq!(code, 2);
    assert!(err.contains("error[M109]") && err.contains("bad.mcrl2:1:43") && err.contains("Int2Nat(n - 1)"), "{err}");
    assert!(out.contains("good.mcrl2: well typed"), "a mistake in one file hides another: {out}");
    let (code, _, err) = trefoil(&folder, &["mcrl2", "typecheck", "none.mcrl2"]);
    assert_eq!(code, 2);
    assert!(err.contains("none.mcrl2"), "{err}");
}

#[test]
fn what_is_printed_is_printed_again_unchanged() {
    let folder = folder(&[("good.mcrl2", GOOD)]);
    let (code, once, _) = trefoil(&folder, &["mcrl2", "print", "good.mcrl2"]);
    assert_eq!(code, 0);
    assert!(once.contains("proc P(n: Nat) = a(n) . P(n + 1);"), "{once}");
    assert!(once.contains("% one more"), "{once}");
    std::fs::write(folder.path().join("once.mcrl2"), &once).expect("a file");
    assert_eq!(trefoil(&folder, &["mcrl2", "print", "once.mcrl2"]).1, once);
    assert_eq!(trefoil(&folder, &["mcrl2", "typecheck", "once.mcrl2"]).0, 0);
}

#[test]
fn expressions_are_evaluated_each_for_itself() {
    let folder = folder(&[("good.mcrl2", GOOD)]);
    let values = ["mcrl2", "eval", "good.mcrl2", "--", "depth(node(leaf, node(leaf, leaf)))", "-7 div 2", "head([])"];
    let (code, out, _) = trefoil(&folder, &values);
    assert_eq!((code, out.as_str()), (0, "2\n-4\nhead([])\n"));
    let (code, out, err) = trefoil(&folder, &["mcrl2", "eval", "good.mcrl2", "depth(1)", "1 + 1"]);
    assert_eq!((code, out.as_str()), (2, "2\n"));
    assert!(err.contains("error[M109]: argument 1 of `depth` must be `D`"), "{err}");
    let (code, out, _) = trefoil(&folder, &["mcrl2", "eval", "good.mcrl2", "depth(leaf)", "--format", "json"]);
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(json.to_string().contains("\"value\":\"0\"") && json.to_string().contains("\"sort\":\"Nat\""), "{json}");
}

#[test]
fn a_rewrite_without_end_is_unknown_and_names_what_recurs() {
    let folder = folder(&[("good.mcrl2", GOOD)]);
    for limit in [["--steps", "20000"], ["--timeout", "300ms"]] {
        let (code, out, err) = trefoil(&folder, &["mcrl2", "eval", "good.mcrl2", "endless(0) + 1", limit[0], limit[1]]);
        assert_eq!(code, 3, "{out}{err}");
        assert!((out + &err).contains("unknown"));
    }
}

#[test]
fn the_prompt_answers_line_by_line() {
    let folder = folder(&[("good.mcrl2", GOOD)]);
    let mut child = program(&folder)
        .args(["mcrl2", "repl", "good.mcrl2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let lines = b":type depth\ndepth(node(leaf, leaf))\n1 + true\n[1] ++ [2]\n:quit\n";
    child.stdin.take().expect("its input").write_all(lines).expect("the lines are written");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "D -> Nat\n1\n[1, 2]\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[M1"));
    assert!(output.status.success());
}
