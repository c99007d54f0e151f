//! Models that are searched without keeping their states: never `holds`, the violations that there are, and the numbers
//! of an exact search.

use std::path::{Path, PathBuf};

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, AssertionReport, Store, SymmetryUse};
use trefoil_session::{Job, Verdict};
use trefoil_testkit::promela::random_program;
use trefoil_testkit::{Random, seed};

fn answers(file: &Path, store: Store, keep_going: bool) -> Vec<AssertionReport> {
    let job = Job::new(Control::unlimited(), 1);
    let mut script = AnyScript::open(file, None, &job).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    // A search that keeps no states reduces nothing.
    let options = Asked {
        store: Some(store),
        keep_going,
        symmetry: Some(SymmetryUse::Off),
        partial_order: Some(false),
        ..Asked::default()
    };
    // Claims about runs that never end need the states: they are answered exactly, with a note.
    let checked = script.assertions().into_iter().filter(|assertion| {
        assertion.place.file == file.to_string_lossy() && !assertion.assertion_string.starts_with("ltl ")
    });
    let numbers: Vec<usize> = checked.map(|assertion| assertion.index).collect();
    numbers.into_iter().map(|index| script.run(index, &options, &job)).collect()
}

fn compare(file: &Path, what: &str) {
    for keep_going in [true, false] {
        let exact = answers(file, Store::Exact, keep_going);
        for store in [Store::HashCompact, Store::Bitstate { bytes: 8 << 20 }] {
            for (exact, probed) in exact.iter().zip(answers(file, store, keep_going)) {
                match exact.verdict {
                    Verdict::Holds => {
                        assert_eq!(probed.verdict, Verdict::Unknown, "{what}");
                        assert!(probed.reason.is_some_and(|reason| reason.starts_with("probably holds")), "{what}");
                        assert_eq!(probed.visited.states, exact.visited.states, "{what}");
                        assert_eq!(probed.visited.transitions, exact.visited.transitions, "{what}");
                        assert!(probed.coverage.is_some_and(|coverage| coverage.expected_omissions < 0.5), "{what}");
                    }
                    Verdict::Fails => {
                        assert_eq!(probed.verdict, Verdict::Fails, "{what}");
                        let length = |report: &AssertionReport| report.witness.as_ref().map(|witness| witness.length);
                        assert_eq!(length(&probed), length(exact), "{what}");
                    }
                    // What cannot be checked exactly cannot be checked otherwise.
                    _ => assert_eq!(probed.verdict, exact.verdict, "{what}"),
                }
            }
        }
    }
}

#[test]
fn examples_get_the_answers_of_an_exact_search_and_never_hold() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a model");
        let line = text.lines().find_map(|line| line.strip_prefix("/* expect: ")).expect("an expectation");
        let states: u64 = line.split(' ').find_map(|word| word.parse().ok()).expect("a number");
        if states < 20_000 {
            compare(&path, &path.display().to_string());
        }
    }
}

#[test]
fn random_programs_get_the_answers_of_an_exact_search_and_never_hold() {
    let seed = seed();
    let folder = std::env::temp_dir().join(format!("trefoil-probe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for case in 0..20 {
        let text = random_program(&mut Random::new(seed.wrapping_add(9_000 + case)));
        let file = folder.join("random.pml");
        std::fs::write(&file, &text).expect("a file");
        // Some random programs are large; a first look with little memory tells.
        let job = Job::new(Control::unlimited().within(std::time::Duration::from_millis(300)), 1);
        let mut script =
            AnyScript::open(&file, None, &job).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
        let options = Asked { keep_going: true, ..Asked::default() };
        let first = script.run(2, &options, &job);
        if first.verdict != Verdict::Unknown && first.visited.states.digits().len() < 5 {
            compare(&file, &format!("TREFOIL_SEED={seed}, case {case}\n{text}"));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
