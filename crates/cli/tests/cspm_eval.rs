//! `trefoil cspm eval` and the prompt, from outside.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const SCRIPT: &str = "channel c : {0..2}\nf(n) = if n == 0 then 1 else n * f(n - 1)\nloop(n) = loop(n + 1)\nbad(n) = 1 / n\n\
     P(n) = c.n ->  -- then again\n  P(n)\n";

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
fn a_mistake_in_one_expression_leaves_the_others_their_values() {
    let output = trefoil(&["cspm", "eval", "f(2)", "bad(0)", "unknown", "1 + true", "f(3)"], "");
    assert_eq!(text(&output.stdout), "2\n6\n");
    let said = text(&output.stderr);
    assert!(["E002", "C040", "C060"].iter().all(|code| said.contains(code)), "{said}");
    assert_eq!(output.status.code(), Some(2));
    let output = trefoil(&["cspm", "eval", "bad(0)", "f(3)", "--format", "json"], "");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let values = &document["results"][0]["values"];
    assert_eq!(values[0]["diagnostics"][0]["code"], "E002");
    assert_eq!((&values[0]["value"], &values[1]["value"]), (&serde_json::Value::Null, &"6".into()));
}

#[test]
fn a_script_can_come_from_standard_input() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        command.args(arguments).env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        // A program that refuses at once does not read, and may be gone already.
        let _ = child.stdin.take().expect("an input").write_all(SCRIPT.as_bytes());
        child.wait_with_output().expect("the program ends")
    };
    assert_eq!(text(&run(&["cspm", "eval", "-", "f(4)"]).stdout), "24\n");
    assert_eq!(text(&run(&["cspm", "typecheck", "-"]).stdout), "-: well typed, 5 names\n");
    assert!(text(&run(&["cspm", "types", "-"]).stdout).contains("f :: (Int) -> Int"));
    assert!(text(&run(&["cspm", "print", "-"]).stdout).contains("bad(n) = 1 / n"));
    let output = run(&["cspm", "repl", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("must be a file"));
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
fn a_process_prints_as_its_term() {
    let output = trefoil(&["cspm", "repl"], "P(1)\n{P(2)}\nSTOP\nP(0) ||| SKIP\n:quit\n");
    let expected = "c.n -> P(n) with n = 1\n{(c.n -> P(n) with n = 2)}\nSTOP\nP(0) ||| SKIP\n";
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
}

#[test]
fn the_prompt_goes_on_after_mistakes() {
    let output = trefoil(&["cspm", "repl"], "f(3)\nbad(0)\n:type f\n:reload\nf(4)\n:quit\n");
    let said = text(&output.stdout);
    assert!(said.starts_with("6\n") && said.ends_with("24\n") && said.contains("Int"), "{said}");
    assert!(text(&output.stderr).contains("E002"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_line_and_not_the_prompt() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script.csp");
    std::fs::write(&file, SCRIPT).expect("a script");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.args(["cspm", "repl"]).arg(&file).env("NO_COLOR", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("an input");
    let mut answers = BufReader::new(child.stdout.take().expect("an output"));
    let mut line = String::new();
    writeln!(input, "f(3)").expect("it reads");
    answers.read_line(&mut line).expect("an answer");
    assert_eq!(line, "6\n");
    // An interrupt while nothing is worked on would end the program: wait until the endless line keeps it busy.
    let worked = |id: u32| -> u64 {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("the program is there");
        let numbers = state.rsplit(')').next().unwrap_or_default().split_whitespace();
        numbers.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
    };
    let before = worked(child.id());
    writeln!(input, "loop(0)").expect("it reads");
    while worked(child.id()) < before + 10 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    writeln!(input, "f(4)").expect("it still reads");
    drop(input);
    line.clear();
    answers.read_line(&mut line).expect("an answer");
    assert_eq!(line, "24\n");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
}

#[test]
fn a_sequence_that_is_its_own_rest_can_be_given_up() {
    let output = trefoil(&["cspm", "eval", "let s = <1>^s within s == s", "--timeout", "200ms"], "");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}
