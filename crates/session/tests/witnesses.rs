//! The same question gives the same counterexample on every call, whatever the number of threads.

use std::path::{Path, PathBuf};

use serde_json::Value;
use trefoil_control::Control;
use trefoil_session::Job;
use trefoil_session::check::{AnyScript, Asked, SymmetryUse};

fn examples(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("there are examples")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

/// What an assertion says, without times and memory.
fn told(file: &Path, options: &Asked, threads: usize) -> Vec<Value> {
    let job = Job::new(Control::unlimited(), threads);
    let mut script = AnyScript::open(file, None, &job).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    let count = script.assertions().len();
    (1..=count)
        .map(|index| {
            let mut told = serde_json::to_value(script.run(index, options, &job)).expect("reports can be written");
            let fields = told.as_object_mut().expect("a report is an object");
            for varying in [
                "compile_seconds",
                "check_seconds",
                "peak_memory_bytes",
                "store_bytes",
                "game_bytes",
                "partial_game_bytes",
            ] {
                fields.remove(varying);
            }
            told
        })
        .collect()
}

/// Twelve calls, on one, two and four threads, with and without symmetry; how many counterexamples there are.
fn call_often(file: &Path) -> usize {
    let mut witnesses = 0;
    for symmetry in [None, Some(SymmetryUse::Off)] {
        let options = Asked { symmetry, ..Asked::default() };
        let first = told(file, &options, 1);
        for threads in [2, 4, 1, 2, 4] {
            let again = told(file, &options, threads);
            for (one, other) in first.iter().zip(&again) {
                for field in ["verdict", "witness", "visited_states", "visited_transitions", "counterexamples"] {
                    let texts = [&one[field], &other[field]].map(|value| value.to_string());
                    let cut = |text: &str| text.chars().take(1500).collect::<String>();
                    assert!(
                        texts[0] == texts[1],
                        "{} {} on {threads} threads: {field}\n{}\n{}",
                        file.display(),
                        one["assertion_string"],
                        cut(&texts[0]),
                        cut(&texts[1]),
                    );
                }
                witnesses += usize::from(!one["witness"].is_null());
            }
        }
    }
    witnesses
}

/// Small enough for many calls; the large ones are checked by the examples' own test.
fn is_quick(file: &Path) -> bool {
    let job = Job::new(Control::unlimited().within(std::time::Duration::from_millis(60)), 2);
    let Ok(mut script) = AnyScript::open(file, None, &job) else { return false };
    let options = Asked { symmetry: Some(SymmetryUse::Off), ..Asked::default() };
    let count = script.assertions().len();
    (1..=count).all(|index| script.run(index, &options, &job).unfinished.is_none())
}

#[test]
fn csp() {
    let witnesses: usize =
        examples("csp", "csp").iter().filter(|file| is_quick(file)).map(|file| call_often(file)).sum();
    assert!(witnesses > 80, "{witnesses} counterexamples were compared");
}

#[test]
fn promela() {
    let files = examples("promela", "pml");
    let witnesses: usize = files.iter().filter(|file| is_quick(file)).map(|file| call_often(file)).sum();
    assert!(witnesses > 40, "{witnesses} counterexamples were compared");
}

/// Many counterexamples of one length: processes that go wrong in many ways, in many orders.
#[test]
fn many_of_one_length() {
    let folder = std::env::temp_dir();
    let script = folder.join(format!("trefoil-witnesses-{}.csp", std::process::id()));
    std::fs::write(
        &script,
        "
N = 4
channel a, b, c : {0..N-1}
P(i) = a.i -> (b.i -> c.i -> P(i) |~| c.i -> STOP) [] b.i -> STOP
ALL = ||| i : {0..N-1} @ P(i)
HIDDEN = ALL \\ {|b|}
DIVERGES = (|~| i : {0..N-1} @ a.i -> (let L = b.i -> c.i -> L within L)) \\ {|b, c|}
SPEC = [] x : {|a, b|} @ x -> SPEC
LOOSE = |~| x : {|a, b, c|} @ x -> LOOSE
assert SPEC [T= ALL
assert SPEC [T= HIDDEN
assert LOOSE [F= ALL
assert LOOSE [FD= HIDDEN
assert ALL :[deadlock free [F]]
assert HIDDEN :[deadlock free [FD]]
assert DIVERGES :[divergence free]
assert SPEC [FD= DIVERGES
assert ALL :[deterministic [FD]]
assert HIDDEN :[deterministic [F]]
",
    )
    .expect("the folder for such files can be written");
    assert_eq!(call_often(&script), 10 * 2 * 5);
    let model = folder.join(format!("trefoil-witnesses-{}.pml", std::process::id()));
    std::fs::write(
        &model,
        "
chan link = [0] of { byte }
chan queue = [2] of { byte }
byte x, y
active [4] proctype P() {
  byte v;
  if :: link!_pid :: link?v :: queue!_pid :: x = x + 1 fi;
  if :: queue?v -> y = v :: atomic { x < 3 -> x++; y = x } fi;
  assert(x + y < 4)
}
",
    )
    .expect("the folder for such files can be written");
    assert_eq!(call_often(&model), 2 * 2 * 5);
    let _ = (std::fs::remove_file(script), std::fs::remove_file(model));
}
