//! The specifications in `examples/mcrl2` and what they say is to be expected.
//!
//! Each has the lines `% expect: N states, M transitions; minimised N states, M transitions`, in which the second half
//! is absent when the first one says it all, and `% deadlock: none` or `% deadlock: after N steps`, the length of a
//! shortest run. Every command answers about every one of them, and the answers do not depend on threads, stores or
//! budgets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

struct Example {
    path: PathBuf,
    /// The sizes of the smallest strongly bisimilar system.
    smallest: String,
    /// The length of a shortest run into a deadlock.
    deadlock: Option<usize>,
}

fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcrl2");
    let mut found: Vec<Example> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|own| own == "mcrl2"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a text");
            let line = |start: &str| {
                let found = text.lines().find_map(|line| line.strip_prefix(start));
                found.unwrap_or_else(|| panic!("{}: no line `{start}`", path.display())).to_string()
            };
            let smallest = line("% expect: ").rsplit("minimised ").next().expect("the last sizes").to_string();
            let deadlock = line("% deadlock: ");
            let deadlock = deadlock.split(' ').find_map(|word| word.parse().ok());
            Example { path, smallest, deadlock }
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() >= 25);
    found
}

fn trefoil(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.args(arguments).env("NO_COLOR", "1").output().expect("the program runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The first result of a command in JSON.
fn json(arguments: &[&str]) -> Value {
    let output = trefoil(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", said(&output)))
}

fn check(example: &Example, options: &[&str]) -> Value {
    let file = example.path.to_string_lossy();
    json(&[&["check", &file], options].concat())["runs"][0]["results"][0].clone()
}

#[test]
fn deadlocks_are_found_whatever_the_options() {
    for example in examples() {
        let named = example.path.display();
        let mut sizes = None;
        for options in [
            &["--threads", "1"][..],
            &["--threads", "2"],
            &["--keep-going", "--threads", "1"],
            &["--keep-going", "--threads", "3"],
            &["--memory", "1G", "--timeout", "5m", "--why"],
        ] {
            let answer = check(&example, options);
            let expected = if example.deadlock.is_some() { "fails" } else { "holds" };
            assert_eq!(answer["verdict"], expected, "{named}, {options:?}: {answer}");
            let steps = answer["witness"]["runs"][0]["steps"].as_array().map(Vec::len);
            assert_eq!(steps, example.deadlock, "{named}, {options:?}: {answer}");
            // A search of everything has the same size whatever the threads.
            if example.deadlock.is_none() || options.contains(&"--keep-going") {
                let found = (answer["visited_states"].clone(), answer["visited_transitions"].clone());
                assert_eq!(*sizes.get_or_insert(found.clone()), found, "{named}, {options:?}");
            }
        }
        // Stores of hashes prove nothing, and find what there is.
        for store in ["hash-compact", "bitstate:1M"] {
            let answer = check(&example, &["--store", store]);
            let expected = if example.deadlock.is_some() { "fails" } else { "unknown" };
            assert_eq!(answer["verdict"], expected, "{named}, {store}: {answer}");
        }
    }
}

#[test]
fn actions_that_must_not_happen_are_found_with_a_run_to_them() {
    for example in examples() {
        let file = example.path.to_string_lossy();
        let structure = json(&["structure", &file]);
        let interactions = structure["results"][0]["interactions"].as_array().expect("interactions").clone();
        let events =
            interactions.iter().flat_map(|interaction| interaction["steps"].as_array().expect("steps").clone());
        let mut names: Vec<String> = events.filter_map(|step| step["event"].as_str().map(str::to_string)).collect();
        names.retain(|name| !["τ", "✓"].contains(&name.as_str()));
        let Some(name) = names.first().and_then(|bag| bag.split('|').next()) else { continue };
        let lengths: Vec<Value> = ["1", "2"]
            .iter()
            .map(|threads| {
                let document = json(&["check", &file, "--never", name, "--threads", threads]);
                let answer = document["runs"][0]["results"][1].clone();
                // Some summands never have a step.
                let last = answer["witness"]["trace"].as_array().and_then(|trace| trace.last()).cloned();
                if let Some(last) = last {
                    assert!(last.as_str().is_some_and(|last| last.contains(name)), "{file}: {answer}");
                    assert_eq!(answer["witness"]["finding"]["kind"], "forbidden", "{file}: {answer}");
                }
                answer["witness"]["runs"][0]["steps"].as_array().map_or(Value::Null, |steps| steps.len().into())
            })
            .collect();
        assert_eq!(lengths[0], lengths[1], "{file}, {name}");
    }
}

#[test]
fn every_command_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = |name: &str| folder.path().join(name).display().to_string();
    for example in examples() {
        let file = example.path.to_string_lossy();
        let done = |arguments: &[&str]| {
            let output = trefoil(arguments);
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", said(&output));
            String::from_utf8(output.stdout).expect("text")
        };
        // The system itself and that of its linear process are what the file says.
        done(&["lts", "generate", &file, "-o", &out("one.aut"), "--threads", "1"]);
        done(&["lts", "generate", &file, "-o", &out("two.fsm"), "--threads", "2", "--memory", "1G", "--timeout", "60"]);
        let linear = done(&["mcrl2", "linear", &file, "--no-warnings"]);
        std::fs::write(out("linear.mcrl2"), &linear).expect("a file");
        done(&["lts", "generate", &out("linear.mcrl2"), "-o", &out("three.aut")]);
        done(&["lts", "compare", &out("one.aut"), &out("two.fsm")]);
        done(&["lts", "compare", &out("one.aut"), &out("three.aut")]);
        let small = json(&["lts", "minimise", &out("one.aut"), "-o", &out("small.aut")]);
        assert_eq!(small["results"][0]["verdict"], Value::Null);
        let head = std::fs::read_to_string(out("small.aut")).expect("a file");
        let sizes: Vec<usize> =
            head.lines().next().expect("a head").split([',', ')']).filter_map(|word| word.parse().ok()).collect();
        assert_eq!(format!("{} states, {} transitions", sizes[1], sizes[0]), example.smallest, "{file}");
        // Pictures, walks, structure.
        let svg = done(&["graph", &file]);
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{file}");
        assert!(done(&["graph", &file, "--format", "dot", "--compress", "sbisim"]).contains("digraph"), "{file}");
        let walk = done(&["trace", &file, "--random", "20", "--seed", "7"]);
        assert_eq!(walk, done(&["trace", &file, "--random", "20", "--seed", "7"]), "{file}");
        let steps = &json(&["trace", &file, "--random", "20"])["results"][0];
        assert!(steps["components"].as_array().is_some_and(|names| !names.is_empty()), "{file}: {steps}");
        done(&["structure", &file, "-o", &out("structure.svg")]);
        assert!(std::fs::read_to_string(out("structure.svg")).expect("a picture").contains("</svg>"), "{file}");
        done(&["mcrl2", "types", &file, "--no-warnings"]);
        if let Some(length) = example.deadlock {
            let walk = done(&["trace", &file, "--assertion", "1", "--all"]);
            assert!(walk.contains(&format!(" {length} ")) && walk.contains("deadlock"), "{file}: {walk}");
        }
    }
}

#[test]
fn budgets_are_kept_while_a_specification_is_searched_and_linearised() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("endless.mcrl2");
    // Endless: the state space, the values of a sum, the rewriting of an initial value.
    for text in [
        "act a: Nat; proc P(n, m: Nat) = a(n) . P(n + 1, m) + a(m) . P(n, m + 1); init P(0, 0);",
        "map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1); act a: Nat; init a(f(0)) . delta;",
        "map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1); act a: Nat; proc P(n: Nat) = a(n) . P(f(n)); init P(0);",
    ] {
        std::fs::write(&file, text).expect("a file");
        let file = file.display().to_string();
        for arguments in [
            &["check", &file][..],
            &["lts", "generate", &file, "-o", "/dev/null", "--to", "aut"],
            &["mcrl2", "linear", &file],
            &["structure", &file],
        ] {
            let started = std::time::Instant::now();
            let output = trefoil(&[arguments, &["--timeout", "1s", "--memory", "1G", "--format", "json"]].concat());
            let code = output.status.code();
            assert!(code == Some(3) || code == Some(0), "{text}\n{arguments:?}: {code:?}\n{}", said(&output));
            assert!(started.elapsed().as_secs() < 10, "{text}\n{arguments:?}");
            let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
            assert!(document.is_ok(), "{text}\n{arguments:?}: {}", said(&output));
        }
        assert_eq!(trefoil(&["check", &file, "--timeout", "1s"]).status.code(), Some(3), "{text}");
    }
}
