//! Revivals and refusal testing as users see them: verdicts, counterexamples, and what cannot be combined with them.

use std::process::Command;

use serde_json::Value;

const SCRIPT: &str = "\
transparent diamond, normal
channel a, b, c, d
FLEETING = b -> STOP [> a -> STOP
FIRM = a -> STOP |~| (a -> STOP [] b -> STOP)
HONEST = a -> b -> STOP |~| (a -> c -> STOP [] d -> STOP)
SWAPPED = a -> c -> STOP |~| (a -> b -> STOP [] d -> STOP)
assert FLEETING [V= FIRM
assert HONEST [R= SWAPPED
assert HONEST [F= diamond(SWAPPED)
assert normal(HONEST) [R= diamond(SWAPPED)
assert FIRM [V= normal(FLEETING)
assert HONEST [R= SWAPPED :[partial order reduce]
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.csp"), SCRIPT).expect("a file");
    folder
}

fn run(program: &str, folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    let output = command.args(arguments).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

fn check(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let arguments: Vec<&str> = ["check", "script.csp"].iter().chain(arguments).copied().collect();
    run(env!("CARGO_BIN_EXE_trefoil"), folder, &arguments)
}

#[test]
fn a_revival_is_told_with_what_was_offered_before_it() {
    let folder = folder();
    let (code, out, _) = check(&folder, &["--only", "1"]);
    assert_eq!(code, 1);
    assert!(out.contains("after 1 internal step the process offers only {a, b} and performs b; "), "{out}");
    assert!(out.contains("where the specification offers no more, it performs {a}"), "{out}");
    let (_, out, _) = check(&folder, &["--only", "1", "--explain", "1"]);
    assert!(out.contains("  before b nothing but {a, b} is offered\n"), "{out}");
    assert!(out.contains("  where the specification offers no more, it performs only {a}\n"), "{out}");
    let (_, out, _) = check(&folder, &["--only", "1", "--format", "json"]);
    let result: Value = serde_json::from_str(&out).expect("JSON");
    let finding = &result["runs"][0]["results"][0]["witness"]["finding"];
    assert_eq!(finding["event"], "b");
    assert_eq!(finding["offered"], serde_json::json!(["a", "b"]));
    assert_eq!(finding["allowed"], serde_json::json!(["a"]));
}

#[test]
fn refusals_on_the_way_are_told_where_they_matter() {
    let folder = folder();
    for algorithm in ["automatic", "antichain", "lazy-normal-form"] {
        for threads in ["1", "2"] {
            let arguments = ["--only", "2", "--algorithm", algorithm, "--threads", threads];
            let (code, out, err) = check(&folder, &arguments);
            assert_eq!(code, 1, "{err}");
            let told = "after <a (where only {a} was offered)> the process offers only {c}; the specification offers \
                        at least {b}";
            assert!(out.contains(told), "{algorithm} {threads}: {out}");
        }
    }
    let (_, out, _) = check(&folder, &["--only", "2", "--explain", "2"]);
    assert!(out.contains("  at the start nothing but {a} is offered; then a\n"), "{out}");
    let (_, out, _) = check(&folder, &["--only", "2", "--format", "json"]);
    let result: Value = serde_json::from_str(&out).expect("JSON");
    let observed = &result["runs"][0]["results"][0]["witness"]["observed"];
    assert_eq!(*observed, serde_json::json!([{ "before": 0, "event": "a", "offered": ["a"] }]));
    let (code, out, _) = run(env!("CARGO_BIN_EXE_refines"), &folder, &["script.csp"]);
    assert_eq!(code, 0, "as FDR's command");
    assert!(out.contains("HONEST [R= SWAPPED:\n    Log:\n"), "{out}");
    assert!(out.contains("FLEETING [V= FIRM:"), "{out}");
}

#[test]
fn compressions_that_keep_too_little_are_left_out() {
    let folder = folder();
    let (code, out, err) = check(&folder, &["--only", "3", "--only", "4", "--only", "5"]);
    assert_eq!(code, 1, "{err}");
    // The compressions keep the failures, and are not in the way there.
    assert!(out.contains("  3  holds    HONEST [F= diamond(SWAPPED)"), "{out}");
    assert!(out.contains("  4  fails    normal(HONEST) [R= diamond(SWAPPED)"), "{out}");
    assert!(out.contains("  5  holds    FIRM [V= normal(FLEETING)"), "{out}");
    let notes = |index: &str| {
        let (_, out, _) = check(&folder, &["--only", index, "--format", "json"]);
        let result: Value = serde_json::from_str(&out).expect("JSON");
        result["runs"][0]["results"][0]["notes"].to_string()
    };
    assert!(!notes("3").contains("left out"), "{}", notes("3"));
    let left_out = "`diamond`, `normal` left out: it does not preserve refusals before later events";
    assert!(notes("4").contains(left_out), "{}", notes("4"));
    assert!(notes("5").contains("`normal` left out: it does not preserve revivals"), "{}", notes("5"));
}

#[test]
fn what_cannot_honour_a_model_says_so() {
    let folder = folder();
    let (code, _, err) = check(&folder, &["--only", "1", "--engine", "symbolic"]);
    assert_eq!(code, 2);
    assert!(err.contains("revivals and refusals on the way need single states"), "{err}");
    let (code, _, err) = check(&folder, &["--only", "2", "--algorithm", "normal-form"]);
    assert_eq!(code, 2);
    assert!(err.contains("refusal testing has no normal form by events alone"), "{err}");
    let (code, out, _) = check(&folder, &["--only", "1", "--algorithm", "normal-form"]);
    assert_eq!(code, 1, "revivals have one: {out}");
    let (code, out, _) = check(&folder, &["--only", "6", "--format", "json"]);
    assert_eq!(code, 1);
    assert!(out.contains("checked without partial-order reduction: it preserves what is refused after"), "{out}");
}
