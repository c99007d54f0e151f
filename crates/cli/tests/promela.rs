//! Promela models through the command line.

mod models;

use models::{folder, results, trefoil};

#[test]
fn every_example_has_its_numbers_and_its_verdict() {
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a model");
        let line = text.lines().find_map(|line| line.strip_prefix("/* expect: ")).expect("an expectation");
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let unreduced = ["--symmetry", "off", "--partial-order", "off", "--keep-going"];
        let answers = results(&path, &unreduced);
        assert!(answers.len() >= 2, "{}", path.display());
        assert_eq!(answers[0]["visited_states"], numbers[0], "{}", path.display());
        assert_eq!(answers[0]["visited_transitions"], numbers[1], "{}", path.display());
        let fails = answers.iter().any(|answer| answer["verdict"] == "fails");
        assert_eq!(fails, numbers[2] > 0, "{}", path.display());
        // Without going on, and with other threads, the counterexamples have the same lengths.
        for (answer, other) in answers.iter().zip(results(&path, &["--threads", "2"])) {
            assert_eq!(answer["verdict"], other["verdict"], "{}", path.display());
            assert_eq!(answer["witness"]["length"], other["witness"]["length"], "{}", path.display());
        }
    }
}

/// The verdicts do not change, some example becomes smaller, and counterexamples are marked as perhaps not shortest.
#[test]
fn independent_steps_are_taken_in_one_order() {
    let (mut smaller, mut noted) = (0, 0);
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        for symmetry in ["off", "auto"] {
            let all = results(&path, &["--symmetry", symmetry, "--keep-going", "--partial-order", "off"]);
            for threads in ["1", "2"] {
                let options = ["--symmetry", symmetry, "--keep-going", "--partial-order", "--threads", threads];
                let fewer = results(&path, &options);
                for (one, other) in all.iter().zip(&fewer) {
                    assert_eq!(one["verdict"], other["verdict"], "{} {symmetry}", path.display());
                    assert!(other["visited_states"].as_u64() <= one["visited_states"].as_u64(), "{}", path.display());
                    smaller += usize::from(other["visited_states"] != one["visited_states"]);
                    let notes = other["notes"].to_string();
                    // A run of a claim that a search with all steps found soon has no such note.
                    let is_noted = notes.contains("need not be shortest");
                    assert!(other["verdict"] == "fails" || !is_noted, "{notes}");
                    noted += usize::from(is_noted);
                }
            }
        }
    }
    assert!(smaller > 10 && noted > 0, "{smaller} smaller, {noted} noted");
}

const COUNTERS: &str = "byte x, y;
active proctype A() { do :: x < 9 -> x++ :: x == 9 -> break od }
active proctype B() { byte k; do :: k < 9 -> k++ :: k == 9 -> break od; y = 1; if :: y == 2 -> x = 0 :: y == 1 fi }
";

/// That is the default wherever it is sound; where it is not, a note says why.
#[test]
fn one_order_is_the_default_where_it_is_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.pml");
    let answers = |text: &str, options: &[&str]| {
        std::fs::write(&file, text).expect("written");
        results(&file, options)
    };
    let states = |options: &[&str]| answers(COUNTERS, options)[1]["visited_states"].as_u64().expect("a number");
    let (default, all) = (states(&[]), states(&["--partial-order", "off"]));
    assert!(2 * default < all, "{default} of {all}");
    assert_eq!((states(&["--partial-order=auto"]), states(&["--partial-order"])), (default, default));
    let both = [answers(COUNTERS, &["--why"]), answers(COUNTERS, &["--why", "--partial-order", "off"])];
    let [says, says_not] = both.map(|answers| answers[1]["reductions"].to_string().contains("in one order"));
    assert!(says && !says_not);
    let [fewer, whole] = [&[][..], &["--partial-order", "off"]].map(|options| answers(COUNTERS, options)[1].clone());
    assert!(whole["unreached"].to_string().contains("x = 0") && fewer["unreached"] == whole["unreached"], "{fewer}");

    let note = |text: &str, options: &[&str], at: usize| answers(text, options)[at]["notes"].to_string();
    let without = "checked without partial-order reduction: ";
    for (claim, options, why) in [
        ("X (y == 0)", &[][..], "the claim may depend on how often a state is repeated"),
        ("[] (y < 2)", &["--fairness", "weak"], "which runs are fair depends on all steps of a state"),
    ] {
        let notes = note(COUNTERS, &[&["--ltl", claim], options].concat(), 2);
        assert!(notes.contains(&format!("{without}{why}")), "{notes}");
        let notes = note(COUNTERS, &[&["--ltl", claim, "--partial-order", "off"], options].concat(), 2);
        assert!(!notes.contains(without), "{notes}");
    }
    let shared = ["--ltl", "[] (y < 2)", "--ltl", "X (y == 0)"];
    let notes = note(COUNTERS, &shared, 2);
    assert!(notes.contains("it shares its search with a claim that needs all steps"), "{notes}");
    let notes = note(COUNTERS, &[&shared[..], &["--partial-order", "on", "--only", "3"]].concat(), 0);
    assert!(!notes.contains(without), "{notes}");
    let last = format!("{COUNTERS}active proctype C() {{ _last == 0 }}\n");
    assert!(note(&last, &[], 0).contains(&format!("{without}the model uses `_last`")));
    // The complete search for the first property finds the failure of the second, whose run is shortest all the same.
    let stuck = "byte s = 1; proctype A() { atomic { s == 1 -> s++ } } proctype B() { atomic { s == 1 -> s-- } }
        init { run A(); run B() }\n";
    let [fewer, whole] = [&[][..], &["--partial-order", "off"]].map(|options| answers(stuck, options)[1].clone());
    assert_eq!((&fewer["verdict"], &fewer["witness"]["length"]), (&"fails".into(), &whole["witness"]["length"]));
    assert!(!fewer["notes"].to_string().contains("need not be shortest"), "{fewer}");
    // A search that proves nothing takes all steps anyway.
    assert!(!note(&last, &["--store", "bitstate"], 0).contains(without));
}

/// A handshake and a statement of one process lead to one state here; only the handshake is fair to both processes.
#[test]
fn a_run_back_from_a_quotient_keeps_its_statements() {
    let model = "bit h[4]; chan c[3] = [0] of { byte };
        proctype P() {
            bit x;
            do
            :: x = 1 - x
            :: d_step { h[2] = x; h[1] = x; h[3] = x }
            :: c[_pid]!x
            :: c[3 - _pid]?x
            od
        }
        init { atomic { run P(); run P() } }";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.pml");
    std::fs::write(&file, model).expect("written");
    for symmetry in ["off", "auto"] {
        let claim = ["--fairness", "strong", "--ltl", "[] <> (P[1]:x == 1)", "--only", "ltl", "--symmetry", symmetry];
        let answers = results(&file, &claim);
        assert_eq!(answers[0]["verdict"], "fails", "{symmetry}: {answers:?}");
    }
}

/// The numbers of states and transitions are Spin's; the claim needs fairness.
#[test]
fn the_queue_lock_starves_none_of_its_processes_under_weak_fairness() {
    let file = folder().join("claims/queue_lock.pml");
    for symmetry in ["off", "auto"] {
        let fair = results(&file, &["--symmetry", symmetry, "--fairness", "weak"]);
        assert_eq!(fair.len(), 3);
        assert!(fair.iter().all(|answer| answer["verdict"] == "holds"), "{symmetry}: {fair:?}");
        let unfair = results(&file, &["--symmetry", symmetry, "--partial-order", "off"]);
        let verdicts: Vec<&str> = unfair.iter().filter_map(|answer| answer["verdict"].as_str()).collect();
        assert_eq!(verdicts, ["holds", "holds", "fails"], "{symmetry}");
        if symmetry == "off" {
            assert_eq!((&unfair[0]["visited_states"], &unfair[0]["visited_transitions"]), (&1552.into(), &4385.into()));
        }
    }
}

#[test]
fn a_counterexample_is_shown_step_by_step() {
    let file = folder().join("philosophers.pml");
    let output = trefoil(&["check", &file.to_string_lossy(), "--explain", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("invalid end state after 4 steps"), "{text}");
    assert!(text.contains("fork_taken[3] = 1"), "{text}");
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    let file = folder().join("claims/queue_lock.pml");
    let asked = ["--partial-order", "--fairness", "weak", "--only", "ltl"];
    let output = trefoil(&[&["check", &*file.to_string_lossy()], &asked[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("--partial-order cannot be honoured"), "{output:?}");
    let file = folder().join("traffic_light.pml");
    let file = file.to_string_lossy();
    let output = trefoil(&["check", &file, "--symmetry", "full"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--symmetry full does not apply to assertions (Promela)"));
    let output = trefoil(&["graph", &file, "P"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("whole Promela model; give no expression"), "{output:?}");
}

#[test]
fn slips_are_told_once_with_what_was_probably_meant() {
    let (code, said) = checked("byt x;\nactive proctype P() { skip }\n");
    assert!(code == Some(2) && said.contains("did you mean `byte`?"), "{said}");
    let (code, said) = checked("byte counter;\nactive proctype P() { conter = 1 }\n");
    assert!(code == Some(2) && said.contains("did you mean `counter`?"), "{said}");
    let (code, said) = checked("");
    assert!(code == Some(0) && said.contains("P042"), "{said}");
}

/// Checks a text as a model.
fn checked(text: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("model.pml");
    std::fs::write(&file, text).expect("it is written");
    let output = trefoil(&["check", &file.to_string_lossy()]);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

#[test]
fn an_index_outside_its_array_fails_however_it_is_written() {
    for statement in
        ["a[i] == 0", "a[i] = 1", "a[i + 1] = 1", "a[i - 3]++", "x = a[1 - i]", "t[1].b[i] = 1", "t[i].b[0] = 1"]
    {
        let text = format!(
            "typedef T {{ byte b[2] }}; T t[2]; byte a[2]; byte x; int i = 2;\nactive proctype P() {{ {statement} }}"
        );
        let (code, said) = checked(&text);
        assert_eq!(code, Some(1), "{text}\n{said}");
        assert!(said.contains("array index out of range"), "{text}\n{said}");
    }
}

#[test]
fn more_channels_than_there_can_be_fail() {
    let text = "chan c[250] = [1] of { byte };
        proctype P() { chan l[3] = [1] of { byte }; l[0]!1 }
        init { run P(); run P() }";
    let (code, said) = checked(text);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("too many channels"), "{said}");
}

#[test]
fn initial_values_that_cannot_be_computed_are_errors() {
    for (text, why) in [
        ("byte a[3] = {1, 2, 3}; byte i = 5; init { byte x = a[i]; assert(x == 0) }", "array index out of range"),
        ("byte z; init { int x = 1 / z; assert(x == 0) }", "division by zero"),
        ("byte x = 5 % 0; init { skip }", "division by zero"),
    ] {
        let (code, said) = checked(text);
        assert_eq!(code, Some(2), "{text}\n{said}");
        assert!(said.contains(why), "{text}\n{said}");
    }
    // Of a process that is started later it is the fault of the step that starts it.
    let (code, said) = checked("byte z; proctype P() { int x = 1 / z; skip } init { run P() }");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("division by zero"), "{said}");
}

#[test]
fn a_rendezvous_channel_is_not_polled() {
    let text = "chan c = [0] of { byte }; byte y;
        active proctype S() { c!1 }
        active proctype R() { byte v; if :: c?[1] -> y = 1 :: c?v -> y = 2 fi }";
    for text in [text, &text.replace("c?[1]", "c?<v>")] {
        let (code, said) = checked(text);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("poll of a rendezvous channel"), "{said}");
    }
}

#[test]
fn processes_that_are_declared_twice_are_diagnosed() {
    for text in ["init { skip } init { skip }", "active proctype A() { skip } active proctype A() { skip }"] {
        let (code, said) = checked(text);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("declared twice"), "{said}");
    }
}
