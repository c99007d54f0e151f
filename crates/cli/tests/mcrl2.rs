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
        "leaf: D\nnode: D # D -> D\nleft: D -> D\nright: D -> D\nis_node: D -> Bool\ndepth: D -> Nat\nendless: Nat -> Nat\n\
         act a: Nat\nproc P(n: Nat)\n"
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

/// A specification with a case that is missing, and equations that overlap.
const GAPS: &str = "sort C = struct red | green | blue;\nmap name, code: C -> Nat;\nvar c: C;\n\
    eqn name(red) = 1;\n    name(green) = 2;\n    code(red) = 1;\n    code(c) = 2;\n";

#[test]
fn what_is_missing_and_what_overlaps_is_reported() {
    let folder = folder(&[("gaps.mcrl2", GAPS)]);
    let (code, out, err) = trefoil(&folder, &["mcrl2", "eval", "gaps.mcrl2", "[name(red), name(blue)]", "1 + 1"]);
    assert_eq!((code, out.as_str()), (0, "[1, name(blue)]\n2\n"));
    for part in [
        "warning[M151]: `name(blue)` has no value: no equation of `name` fits",
        "gaps.mcrl2:2:5",
        "`name` is declared here",
        "4 | eqn name(red) = 1;",
        "this equation does not fit",
        "add an equation for `name(blue)`",
    ] {
        assert!(err.contains(part), "{part} is not in\n{err}");
    }
    let (code, out, err) = trefoil(&folder, &["mcrl2", "eval", "gaps.mcrl2", "exists n: Nat. n * n == 50"]);
    assert_eq!((code, out.as_str()), (0, "exists n: Nat. n * n == 50\n"));
    assert!(err.contains("warning[M152]") && err.contains("`n: Nat` has infinitely many values"), "{err}");
    let (code, _, err) = trefoil(&folder, &["mcrl2", "typecheck", "gaps.mcrl2"]);
    assert_eq!(code, 0);
    assert!(err.contains("warning[M119]: two equations of `code`") && err.contains("gaps.mcrl2:7:5"), "{err}");
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
    let lines = b":type depth\ndepth(node(leaf, leaf))\n1 + true\n[1] ++ [2]\nsolve n, m: Nat. n + m == 3 && n < m\n\
        solve x: Real. x > 0\nhead([])\n:quit\n";
    child.stdin.take().expect("its input").write_all(lines).expect("the lines are written");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "D -> Nat\n1\n[1, 2]\n[n := 0, m := 3]\n[n := 1, m := 2]\nhead([])\n"
    );
    let complaints = String::from_utf8_lossy(&output.stderr);
    for part in ["error[M1", "the values of `x: Real` cannot be listed", "warning[M151]: `head([])` has no value"] {
        assert!(complaints.contains(part), "{part} is not in\n{complaints}");
    }
    assert!(output.status.success());
}

/// A ring in which a token is lost, and a sender and a receiver beside it.
const RING: &str = "sort C = struct red | green | blue;
map name: C -> Nat;
eqn name(red) = 1;
act s, r, c: Nat; lost;
proc Sender(n: Nat) = s(n) . ((n < 2) -> Sender(n + 1) <> lost . delta);
     Receiver = sum n: Nat . r(n) . Receiver;
init allow({c, lost}, comm({s|r -> c}, Sender(0) || Receiver));
";

#[test]
fn a_deadlock_names_the_components_of_each_step() {
    let folder = folder(&[("ring.mcrl2", RING)]);
    let (code, out, err) = trefoil(&folder, &["check", "ring.mcrl2", "--explain"]);
    assert_eq!(code, 1, "{out}{err}");
    for part in
        ["after <c(0), c(1), c(2), lost> the process deadlocks", "Sender(0) (s), Receiver (r)", "4  lost  Sender(0)"]
    {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let (code, out, _) = trefoil(&folder, &["trace", "ring.mcrl2", "--assertion", "1", "--all"]);
    assert_eq!(code, 0);
    assert!(out.contains("4 steps") && out.contains("Receiver (r)"), "{out}");
    let (code, _, err) = trefoil(&folder, &["trace", "ring.mcrl2", "--assertion", "3", "--all"]);
    assert!(code == 2 && err.contains("there is no property 3; the specification has 1 property"), "{err}");
}

#[test]
fn reasons_list_what_made_the_process_smaller() {
    let folder = folder(&[("ring.mcrl2", RING)]);
    let (_, out, _) = trefoil(&folder, &["check", "ring.mcrl2", "--why"]);
    for part in ["exact: ", "constant parameters: ", "sums over finite sorts: ", "redundant parameters: "] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let (_, out, _) = trefoil(&folder, &["check", "ring.mcrl2"]);
    assert!(!out.contains("constant parameters"), "{out}");
    // No state comes twice here, so there is nothing to remember.
    let counter = "act a: Nat; proc P(n: Nat) = (n < 5000) -> a(n) . P(n + 1); init P(0);";
    let folder = self::folder(&[("counter.mcrl2", counter)]);
    let (_, out, _) = trefoil(&folder, &["check", "counter.mcrl2", "--why"]);
    assert!(out.contains("0 % remembered; 1 table dropped, seldom hit: a"), "{out}");
}

#[test]
fn the_structure_shows_who_communicates_by_what() {
    let folder = folder(&[("ring.mcrl2", RING)]);
    let (code, out, err) = trefoil(&folder, &["structure", "ring.mcrl2", "--output", "ring.dot"]);
    assert_eq!(code, 0, "{err}");
    let expected = "ring.mcrl2
  Sender(0): 3 control states, 3 summands
      n: Nat
  Receiver: 1 control state, 1 summand
  steps of several components
    Sender(0), Receiver: s | r → c
  steps of one component
    Sender(0): lost
";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.contains("picture                ring.dot"), "{out}");
    let dot = std::fs::read_to_string(folder.path().join("ring.dot")).expect("a picture");
    assert!(dot.contains("Receiver") && dot.contains("\"r\""), "{dot}");
    let (code, _, err) = trefoil(&folder, &["structure", "ring.mcrl2", "Sender"]);
    assert!(code == 2 && err.contains("give no expression"), "{err}");
    let (code, _, err) = trefoil(&folder, &["structure", "ring.mcrl2", "--output", "ring.pdf"]);
    assert!(code == 2 && err.contains("a picture is not written as `.pdf`"), "{err}");
}

#[test]
fn what_is_stuck_is_reported_at_its_action() {
    let stuck = RING.replace("Sender(n: Nat) = s(n)", "Sender(n: Nat) = (name(if(n > 0, green, red)) > 0) -> s(n)");
    let endless = "act a: Nat;\nproc P = sum n: Nat . a(n) . P;\ninit P;\n";
    let folder = folder(&[("stuck.mcrl2", &stuck), ("endless.mcrl2", endless)]);
    for command in [
        &["check"][..],
        &["lts", "generate", "-o", "x.aut"],
        &["graph"],
        &["trace", "--random", "9"],
        &["lts", "compare", "stuck.mcrl2"],
    ] {
        let (code, out, err) = trefoil(&folder, &[command, &["stuck.mcrl2"]].concat());
        assert_eq!(code, 2, "{command:?}: {out}{err}");
        assert!(err.contains("neither true nor false: it is stuck at `0 < name(green)`"), "{command:?}: {err}");
        assert!(err.contains("stuck.mcrl2:5:") && err.contains("^^^^"), "{command:?}: {err}");
    }
    let (code, _, err) = trefoil(&folder, &["check", "endless.mcrl2"]);
    assert!(code == 3 && err.contains("endless.mcrl2:2:23") && err.contains("`n: Nat`"), "{err}");
    assert!(err.contains("warning[M306]"), "the sum is named before the search: {err}");
    // A sum with a bound has a budget, too.
    let huge = "act a: Nat; proc P(k: Nat) = sum n: Nat . (n < 1000000000) -> a(n) . P(n); init P(7);";
    let folder = self::folder(&[("huge.mcrl2", huge)]);
    let (code, _, err) = trefoil(&folder, &["check", "huge.mcrl2"]);
    assert!(code == 3 && err.contains("`n: Nat` has more than 1,000,000 steps"), "{err}");
}

#[test]
fn a_forbidden_action_has_a_run() {
    let folder = folder(&[("ring.mcrl2", RING)]);
    let (code, out, _) = trefoil(&folder, &["check", "ring.mcrl2", "--never", "lo*", "--explain=2"]);
    assert_eq!(code, 1);
    assert!(out.contains("after <c(0), c(1), c(2)> the process performs lost, which must not happen"), "{out}");
    let (code, _, err) = trefoil(&folder, &["check", "ring.mcrl2", "--never", "gone"]);
    assert!(code == 2 && err.contains("no action matches `gone`"), "{err}");
    // An action that is declared and never happens is what the user hopes for.
    let never = "act a, error; init a . a;";
    let folder = self::folder(&[("never.mcrl2", never)]);
    let (code, out, err) = trefoil(&folder, &["check", "never.mcrl2", "--never", "er*"]);
    assert!(code == 0 && out.contains("holds    never er*"), "{out}{err}");
    let (code, _, err) = trefoil(&folder, &["check", "never.mcrl2", "--never", "eror"]);
    assert!(code == 2 && err.contains("did you mean `error`?"), "{err}");
}

#[test]
fn a_search_without_end_names_the_parameters_that_grow() {
    let counter = "act a: Nat; proc P(n: Nat, b: Bool) = a(n) . P(n + 1, !b); init P(0, true);\n";
    let folder = folder(&[("counter.mcrl2", counter)]);
    let (code, out, _) = trefoil(&folder, &["check", "counter.mcrl2", "--timeout", "1s"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("while searching; n: ") && out.contains(" values, the latest "), "{out}");
    let (code, out, _) = trefoil(&folder, &["check", "counter.mcrl2", "--timeout", "1s", "--format", "json"]);
    assert_eq!(code, 3, "{out}");
    let document: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let detail = document["runs"][0]["results"][0]["unfinished"]["detail"].as_str().unwrap_or_default();
    assert!(detail.starts_with("n: ") && detail.contains("the latest"), "{out}");
    let (code, out, _) = trefoil(&folder, &["lts", "generate", "counter.mcrl2", "-o", "x.aut", "--timeout", "3s"]);
    assert!(code == 3 && out.contains("so far") && out.contains("n: "), "{out}");
}

#[test]
fn reasons_say_how_a_state_is_kept() {
    let known = "sort D = struct d1 | d2; act a: D; proc P(d: D) = a(d) . P(if(d == d1, d2, d1)); init P(d1);\n";
    // The head of an empty list is stuck.
    let outgrown = "sort D = struct d1 | d2; act a: D;\n\
                    proc P(d: D, l: List(D), n: Nat) = (n < 3) -> a(d) . P(head(l), tail(l), n + 1);\n\
                    init P(d1, [d2], 0);\n";
    let folder = folder(&[("ring.mcrl2", RING), ("known.mcrl2", known), ("outgrown.mcrl2", outgrown)]);
    let (_, out, _) = trefoil(&folder, &["check", "ring.mcrl2", "--why"]);
    assert!(out.contains("a state has 2 parameters, 1 in 2 bits because all values are known, 1 numbered"), "{out}");
    let (_, out, _) = trefoil(&folder, &["check", "known.mcrl2", "--why"]);
    assert!(out.contains("a state has 1 parameter, 1 in 1 bit because all values are known\n"), "{out}");
    let (_, out, _) = trefoil(&folder, &["check", "outgrown.mcrl2", "--why"]);
    assert!(out.contains("numbered as values are found, since a value of a finite sort was stuck"), "{out}");
}
