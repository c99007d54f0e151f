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
assert HONEST [RD= SWAPPED
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
    let left_out = "`diamond`, `normal` left out: they do not preserve refusals before later events";
    assert!(notes("4").contains(left_out), "{}", notes("4"));
    assert!(notes("5").contains("`normal` left out: it does not preserve revivals"), "{}", notes("5"));
    // An assertion once named the compressions of those before it.
    let (_, out, _) = check(&folder, &["--format", "json"]);
    let result: Value = serde_json::from_str(&out).expect("JSON");
    let notes = |index: usize| result["runs"][0]["results"][index - 1]["notes"].to_string();
    assert!(notes(4).contains(left_out), "{}", notes(4));
    assert!(notes(5).contains("`normal` left out: it does not preserve revivals"), "{}", notes(5));
    for index in [1, 2, 3, 6, 7] {
        assert!(!notes(index).contains("left out"), "{index}: {}", notes(index));
    }
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

/// Two files with systems, in a folder.
fn systems(one: &[(u32, &str, u32)], other: &[(u32, &str, u32)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, steps) in [("spec.aut", one), ("impl.aut", other)] {
        let states = steps.iter().map(|&(source, _, target)| source.max(target) + 1).max().unwrap_or(1);
        let mut text = format!("des (0,{},{states})\n", steps.len());
        steps.iter().for_each(|(source, label, target)| text += &format!("({source},\"{label}\",{target})\n"));
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn lts(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let arguments: Vec<&str> = ["lts"].iter().chain(arguments).copied().collect();
    run(env!("CARGO_BIN_EXE_trefoil"), folder, &arguments)
}

fn refines(folder: &tempfile::TempDir, model: &str) -> (i32, String) {
    let (code, out, err) = lts(folder, &["refine", "spec.aut", "impl.aut", "--model", model]);
    (code, out + &err)
}

/// FLEETING and FIRM as files, and HONEST and SWAPPED.
#[test]
fn files_are_compared_in_the_same_models() {
    let fleeting = [(0, "b", 1), (0, "tau", 2), (2, "a", 3)];
    let firm = [(0, "tau", 1), (0, "tau", 2), (1, "a", 3), (2, "a", 3), (2, "b", 3)];
    let folder = systems(&fleeting, &firm);
    assert_eq!(refines(&folder, "failures").0, 0);
    for model in ["revivals", "revivals-divergences", "refusals", "refusals-divergences"] {
        let (code, out) = refines(&folder, model);
        assert_eq!(code, 1, "{model}: {out}");
        assert!(out.contains("initially the implementation offers only {b, a} and performs b\n"), "{model}: {out}");
        assert!(out.contains("where the specification offers no more, it performs only {a}\n"), "{model}: {out}");
    }
    let honest = [(0, "tau", 1), (0, "tau", 2), (1, "a", 3), (3, "b", 5), (2, "a", 4), (2, "d", 5), (4, "c", 5)];
    let swapped = honest.map(|(source, label, target)| (source, if label == "b" { "c" } else { label }, target));
    let mut swapped = swapped;
    swapped[6].1 = "b";
    let folder = systems(&honest, &swapped);
    assert_eq!(refines(&folder, "revivals").0, 0);
    let (code, out) = refines(&folder, "refusals");
    assert_eq!(code, 1);
    assert!(out.contains("after <a (where only {a} was offered)> the implementation offers only {c}\n"), "{out}");
    let (code, out, err) = lts(&folder, &["refine", "spec.aut", "impl.aut", "-m", "refusals", "--format", "json"]);
    assert_eq!(code, 1, "{err}");
    let result: Value = serde_json::from_str(&out).expect("JSON");
    let observed = &result["results"][0]["witness"]["observed"];
    assert_eq!(*observed, serde_json::json!([{ "before": 0, "event": "a", "offered": ["a"] }]), "{out}");
    let (code, _, err) =
        lts(&folder, &["refine", "spec.aut", "impl.aut", "-m", "refusals", "--algorithm", "normal-form"]);
    assert_eq!(code, 2);
    assert!(err.contains("no normal form by events alone"), "{err}");
}

#[test]
fn internal_steps_count_where_a_model_is_strong() {
    let folder = systems(&[(0, "a", 1)], &[(0, "tau", 1), (1, "a", 2)]);
    assert_eq!(refines(&folder, "trace").0, 0);
    assert_eq!(refines(&folder, "failures").0, 0);
    let (code, out) = refines(&folder, "strong-trace");
    assert_eq!(code, 1);
    assert!(out.contains("initially the implementation performs τ, which the specification does not allow"), "{out}");
    let folder = systems(&[(0, "tau", 1), (0, "a", 2)], &[(0, "tau", 1)]);
    assert_eq!(refines(&folder, "strong-trace").0, 0);
    let (code, out) = refines(&folder, "strong-failures");
    assert_eq!(code, 1);
    assert!(out.contains("offers only {τ}"), "{out}");
}

#[test]
fn impossible_futures_and_coupling_come_with_formulas() {
    // After a, the specification can go on with b and c, or with b alone.
    let spec = [(0, "a", 1), (1, "b", 2), (1, "b", 3), (2, "c", 4), (0, "a", 5), (5, "b", 3)];
    let folder = systems(&spec, &spec[..4]);
    assert_eq!(refines(&folder, "impossible-futures").0, 0);
    let folder = systems(&spec[..4], &spec);
    let (code, out) = refines(&folder, "impossible-futures");
    assert_eq!(code, 1);
    assert!(out.contains("impl.aut satisfies this formula"), "{out}");
    let (code, _, err) =
        lts(&folder, &["refine", "spec.aut", "impl.aut", "-m", "impossible-futures", "--search", "dfs"]);
    assert_eq!(code, 2);
    assert!(err.contains("--search does not apply to impossible-futures"), "{err}");
    let at_once = [(0, "tau", 1), (0, "tau", 2), (0, "tau", 3), (1, "a", 4), (2, "b", 4), (3, "c", 4)];
    let gradually = [(0, "tau", 1), (0, "tau", 5), (5, "tau", 2), (5, "tau", 3), (1, "a", 4), (2, "b", 4), (3, "c", 4)];
    let folder = systems(&at_once, &gradually);
    let compared = |equivalence: &str| lts(&folder, &["compare", "spec.aut", "impl.aut", "-e", equivalence]);
    assert_eq!(compared("coupled-sim").0, 0);
    assert_eq!(compared("weak").0, 1);
    let folder = systems(&at_once, &[(0, "a", 1), (0, "b", 1), (0, "c", 1)]);
    let (code, out, _) = lts(&folder, &["compare", "spec.aut", "impl.aut", "-e", "coupled-sim"]);
    assert_eq!(code, 1);
    assert!(out.contains("satisfies this formula") && out.contains("<tau*>"), "{out}");
    let (code, _, err) = lts(&folder, &["minimise", "spec.aut", "-e", "coupled-sim"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn internal_steps_are_replaced_and_choices_determined() {
    let folder = systems(&[(0, "tau", 1), (0, "a", 2), (1, "a", 3), (3, "b", 0)], &[]);
    let minimised = |by: &str| {
        let (code, _, err) = lts(&folder, &["minimise", "spec.aut", "-e", by, "-o", "out.aut"]);
        assert_eq!(code, 0, "{err}");
        std::fs::read_to_string(folder.path().join("out.aut")).expect("it was written")
    };
    let starred = minimised("tau-star");
    assert!(starred.starts_with("des (0,3,3)") && !starred.contains("tau"), "{starred}");
    assert!(minimised("determinisation").starts_with("des (0,4,4)"), "{}", minimised("determinisation"));
}
