//! `trefoil cspm eval` and the prompt, from outside.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const SCRIPT: &str =
    "channel c : {0..2}\nf(n) = if n == 0 then 1 else n * f(n - 1)\nloop(n) = loop(n + 1)\nbad(n) = 1 / n\n";

fn trefoil(arguments: &[&str], input: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script.csp");
    std::fs::write(&file, SCRIPT).expect("a script");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.args(&arguments[..2]).arg(&file).args(&arguments[2..]).env("NO_COLOR", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("an input").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("the program ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn values_are_printed_one_a_line() {
    let output = trefoil(&["cspm", "eval", "f(5)", "{|c|}", "head(<1, error(\"x\")>)"], "");
    assert_eq!(text(&output.stdout), "120\n{c.0, c.1, c.2}\n1\n", "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn failures_have_a_place_and_a_code() {
    let output = trefoil(&["cspm", "eval", "bad(0)"], "");
    let said = text(&output.stderr);
    assert!(said.contains("E002") && said.contains("script.csp:4"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    let output = trefoil(&["cspm", "eval", "loop(0)", "--steps", "100000"], "");
    assert!(text(&output.stderr).contains("E011"));
    let output = trefoil(&["cspm", "eval", "loop(0)", "--timeout", "200ms"], "");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_prompt_goes_on_after_mistakes() {
    let output = trefoil(&["cspm", "repl"], "f(3)\nbad(0)\n:type f\n:reload\nf(4)\n:quit\n");
    let said = text(&output.stdout);
    assert!(said.starts_with("6\n") && said.ends_with("24\n") && said.contains("Int"), "{said}");
    assert!(text(&output.stderr).contains("E002"));
}
