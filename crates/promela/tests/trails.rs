//! Steps are made of statements, and Spin replays our trails to the same end.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use support::{compile, counterexamples, has_spin, is_compared, small};
use trefoil_control::Control;
use trefoil_explore::{Options, Order, search};
use trefoil_promela::{Model, Move, Simulator, Trail};
use trefoil_system::{LabelId, System, Value};
use trefoil_testkit::promela::random_program;
use trefoil_testkit::{Random, seed};

fn models(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    found.sort();
    found
}

/// A model that is small enough to be looked at state by state.
fn model_of(name: &str, text: &str) -> Option<Arc<Model>> {
    let (program, diagnostics, _) = compile(name, text);
    small(program.unwrap_or_else(|| panic!("{name}: {diagnostics:?}\n{text}")), 20_000)
}

/// The steps of a state, by sequences of moves: what lies between two states that are kept.
fn steps_by_moves(simulator: &mut Simulator<'_>, row: &[Value]) -> Option<BTreeSet<Vec<Value>>> {
    let start = simulator.moment(row);
    let mut work: Vec<Move> = simulator.moves(&start).expect("no budget");
    let mut found = BTreeSet::new();
    let mut looked = std::collections::HashSet::new();
    while let Some(step) = work.pop() {
        if looked.len() > 5_000 {
            return None;
        }
        if step.broken {
            found.insert(row.to_vec());
        } else if step.after.holder().is_none() {
            found.insert(simulator.row(&step.after).to_vec());
        } else if looked.insert(step.after.clone()) {
            work.extend(simulator.moves(&step.after).expect("no budget"));
        }
    }
    Some(found)
}

/// On the first states of a model: the steps are those that moves give, and every step can be unfolded.
fn check_moves(model: &Model, what: &str, most: u64) {
    let control = Control::unlimited();
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(model, &options, &control, || ());
    let mut explorer = model.explorer(&control);
    let mut simulator = Simulator::new(model, &control);
    for state in 0..found.counts.states.min(most) as u32 {
        let row = found.row(trefoil_system::StateId(state));
        let mut steps: Vec<(LabelId, Vec<Value>)> = Vec::new();
        let walk = explorer.successors(&row, &mut |step| {
            steps.push((step.label, step.row.to_vec()));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        let endless = steps.iter().any(|(label, _)| {
            model.fault(*label).is_some_and(|fault| fault.kind == trefoil_promela::FaultKind::Endless)
        });
        if !endless {
            let rows: BTreeSet<Vec<Value>> = steps.iter().map(|(_, row)| row.clone()).collect();
            assert_eq!(steps_by_moves(&mut simulator, &row), Some(rows), "{what}: {}", model.describe(&row));
        }
        for (label, after) in &steps {
            let moves = simulator.unfold(&row, *label, after).expect("no budget");
            let moves = moves.unwrap_or_else(|| panic!("{what}: a step cannot be unfolded: {}", model.describe(&row)));
            let mut here = simulator.moment(&row);
            for step in &moves {
                let told = simulator.tell(&here, step);
                assert!(told.len() >= step.acts.len(), "{what}");
                here = step.after.clone();
            }
        }
    }
}

#[test]
fn steps_are_sequences_of_moves() {
    for path in models("../../examples/promela") {
        let text = std::fs::read_to_string(&path).expect("an example");
        if let Some(model) = model_of(&path.to_string_lossy(), &text) {
            check_moves(&model, &path.display().to_string(), 60);
        }
    }
    let seed = seed();
    for case in 0..40 {
        let text = random_program(&mut Random::new(seed.wrapping_add(2_000 + case)));
        if let Some(model) = model_of("random.pml", &text) {
            check_moves(&model, &format!("TREFOIL_SEED={seed}, case {case}\n{text}"), 60);
        }
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes the trail of every counterexample of a model and lets Spin replay it, and one of its verifiers if asked; how
/// many there were.
fn check_replay(text: &str, what: &str, verifier: bool) -> usize {
    let Some(model) = model_of("m.pml", text) else { return 0 };
    let control = Control::unlimited();
    let mut simulator = Simulator::new(&model, &control);
    let start = simulator.moment(&model.initial(&control).expect("no budget"));
    let mut replayed = 0;
    for (path, fault) in counterexamples(&model) {
        // Spin's simulator cannot take the step that its verifier complains of.
        if fault.is_some_and(|fault| fault.kind == trefoil_promela::FaultKind::Poll) {
            continue;
        }
        let mut moves: Vec<Move> = Vec::new();
        let mut before = path.start.clone();
        for step in &path.steps {
            let unfolded = simulator.unfold(&before, step.label, &step.row).expect("no budget");
            moves.extend(unfolded.unwrap_or_else(|| panic!("{what}: a step cannot be unfolded")));
            before = step.row.clone();
        }
        if fault.is_some()
            && let Some(at) = moves.iter().position(|step| step.fault == fault)
        {
            moves.truncate(at + 1);
        }
        let trail = Trail::of(&simulator, &moves);
        let followed = trail.follow(&mut simulator, start.clone());
        let followed = followed.expect("no budget");
        assert_eq!(followed.lost, None, "{what}");
        let places = |step: &Move| (step.acts.clone(), step.after.clone());
        assert_eq!(
            followed.moves.iter().map(|(_, step)| places(step)).collect::<Vec<_>>(),
            moves.iter().map(places).collect::<Vec<_>>(),
            "{what}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("m.pml"), text).expect("written");
        std::fs::write(folder.path().join("m.pml.trail"), trail.text()).expect("written");
        let said = run(folder.path(), "spin", &["-t", "-p", "-g", "-l", "m.pml"]);
        let told = format!("{what}\n{text}\n{}\n{said}", trail.text());
        assert!(said.contains(&format!("spin: trail ends after {} steps", trail.lines.len())), "{told}");
        for lost in ["transition failed", "no matching", "invalid statement", "stop error", "no process"] {
            assert!(!said.contains(lost), "{lost}\n{told}");
        }
        match fault {
            Some(fault) => {
                let process = &model.program().processes[usize::from(fault.process)];
                let line = process.statements[fault.statement as usize].line;
                if fault.kind == trefoil_promela::FaultKind::Assertion {
                    assert!(said.contains(&format!("m.pml:{line}, Error: assertion violated")), "{told}");
                }
            }
            None => {
                assert!(!said.contains("assertion violated") || moves.iter().any(|step| step.fault.is_some()), "{told}")
            }
        }
        let end = said.split("spin: trail ends after").nth(1).unwrap_or_default();
        let last = moves.last().map_or_else(|| start.clone(), |step| step.after.clone());
        let broken = moves.last().is_some_and(|step| step.broken);
        let there = simulator.variables(&last);
        if !broken {
            assert!(
                there.processes.is_empty() || end.contains(&format!("#processes: {}\n", there.processes.len())),
                "{told}"
            );
            let locals = there.processes.iter().flat_map(|process| &process.variables);
            for (name, value) in there.globals.iter().chain(locals) {
                // Spin numbers channels as they are used first, and shows those that were used.
                let line = match name.split_once(" (") {
                    Some((_, channel)) if name.starts_with("queue") && value.is_empty() => {
                        assert!(!end.contains(&format!(" ({channel}: [")), "{channel} is not empty\n{told}");
                        continue;
                    }
                    Some((_, channel)) if name.starts_with("queue") => format!(" ({channel}: {value}\n"),
                    _ => format!("\t\t{name} = {value}\n"),
                };
                assert!(end.contains(&line), "{line:?} is missing\n{told}");
            }
        }
        if verifier {
            run(folder.path(), "spin", &["-a", "-o3", "m.pml"]);
            run(folder.path(), "gcc", &["-O0", "-w", "-DSAFETY", "-DNOCLAIM", "-o", "pan", "pan.c"]);
            let said = run(folder.path(), &folder.path().join("pan").to_string_lossy(), &["-r"]);
            let ends = format!("spin: trail ends after {} steps", trail.lines.len());
            // The verifier reports an event that violates a trace before the end of the trail.
            assert!(said.contains(&ends) || said.contains("event_trace error"), "{told}\n{said}");
            assert!(!said.contains("not found"), "{told}\n{said}");
        }
        replayed += 1;
    }
    replayed
}

#[test]
fn spin_replays_trails_of_examples_to_the_same_end() {
    if !has_spin() {
        return;
    }
    let mut replayed = 0;
    for path in models("../../examples/promela") {
        let text = std::fs::read_to_string(&path).expect("an example");
        replayed += check_replay(&text, &path.display().to_string(), true);
    }
    assert!(replayed >= 3);
}

/// Every example with a process that violates an assertion: if nothing else is enabled, or once a process has moved.
#[test]
fn spin_replays_trails_of_broken_examples_to_the_same_end() {
    if !has_spin() {
        return;
    }
    let faults = ["timeout -> assert(false)", "atomic { _nr_pr != 1; printf(\"%d\\n\", _nr_pr) }; assert(_nr_pr == 1)"];
    let mut replayed = 0;
    for (number, path) in models("../../examples/promela").into_iter().enumerate() {
        let text = std::fs::read_to_string(&path).expect("an example");
        let broken = format!("{text}\nactive proctype somebody() {{\n\t{}\n}}\n", faults[number % faults.len()]);
        replayed += check_replay(&broken, &path.display().to_string(), false);
    }
    assert!(replayed > 10, "{replayed}");
}

#[test]
fn spin_replays_trails_of_random_programs_to_the_same_end() {
    if !has_spin() {
        return;
    }
    let seed = seed();
    let mut replayed = 0;
    for case in 0..std::env::var("TREFOIL_PROMELA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40) {
        let text = random_program(&mut Random::new(seed.wrapping_add(3_000 + case)));
        if is_compared(case as usize) || case % 2 == 0 {
            replayed += check_replay(&text, &format!("TREFOIL_SEED={seed}, case {case}"), case == 0);
        }
    }
    assert!(replayed > 0);
}

/// A line stands for its statement and those that are merged to it, and the error may be one of them.
#[test]
fn merged_statements_are_followed_to_the_error() {
    let model = model_of("m.pml", MERGED).expect("it is small");
    let trail = Trail::read("-4:-4:-4\n1:0:0\n2:0:1\n").expect("a trail");
    let control = Control::unlimited();
    let mut simulator = Simulator::new(&model, &control);
    let start = simulator.moment(&model.initial(&control).expect("no budget"));
    let followed = trail.follow(&mut simulator, start.clone()).expect("no budget");
    assert_eq!((followed.moves.len(), followed.lost), (4, None));
    assert!(followed.moves.last().is_some_and(|(_, last)| last.fault.is_some()));
    // Without merging the trail ends where it ends.
    let trail = Trail { merged: false, ..trail };
    let followed = trail.follow(&mut simulator, start).expect("no budget");
    assert_eq!((followed.moves.len(), followed.lost), (2, None));
}

const MERGED: &str = "byte g;\nactive proctype P() { byte x; g = 1; x = 1; x = 2; assert(x == 3); x = 4; g = 2 }\n";

/// Follows the trails of a verifier that Spin generates without options; returns their number.
fn follow_verifier(text: &str, what: &str) -> usize {
    let Some(model) = model_of("m.pml", text) else { return 0 };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.pml"), text).expect("written");
    run(folder.path(), "spin", &["-a", "m.pml"]);
    run(folder.path(), "gcc", &["-O0", "-w", "-DSAFETY", "-DNOCLAIM", "-o", "pan", "pan.c"]);
    let pan = folder.path().join("pan");
    if !pan.exists() {
        return 0; // Spin refuses the model.
    }
    let told = run(folder.path(), &pan.to_string_lossy(), &["-m100000"]);
    let Ok(trail) = std::fs::read_to_string(folder.path().join("m.pml.trail")) else { return 0 };
    // Behind other errors a verifier has gone astray itself.
    let error = told.lines().find_map(|line| line.strip_prefix("pan:1: ")).unwrap_or_default().to_string();
    let stuck = error.starts_with("invalid end state");
    let led_to = ["assertion violated (", "event_trace error", "polling rv chan"];
    if !stuck && !led_to.iter().any(|known| error.starts_with(known)) {
        return 0;
    }
    let told = format!("{what}\n{text}\n{told}\n{trail}");
    let trail = Trail::read(&trail).expect("a trail");
    let control = Control::unlimited();
    let mut simulator = Simulator::new(&model, &control);
    let start = simulator.moment(&model.initial(&control).expect("no budget"));
    let followed = trail.follow(&mut simulator, start).expect("no budget");
    assert_eq!(followed.lost, None, "{told}");
    // An error of the first statement leaves no line.
    let Some((_, last)) = followed.moves.last() else { return 0 };
    if stuck {
        assert!(simulator.moves(&last.after).expect("no budget").is_empty(), "{told}");
    } else {
        assert!(last.fault.is_some(), "{told}");
    }
    1
}

#[test]
fn trails_of_verifiers_are_followed_to_their_error() {
    if !has_spin() {
        return;
    }
    let atomic = "chan c = [1] of { byte }; byte g;
active proctype P() { byte x; atomic { c?x; g = x; printf(\"%d\\n\", g); x = 0; assert(g != 2) }; c?x; x = 1 }
active proctype Q() { byte y; c!1; y = 3; y = 4; if :: y == 4 -> y = 5; y = 6 :: else fi; c!2; y = 7; (y == 8) }
";
    let first_option =
        "byte g; active proctype P() { byte x; g = 1; if :: x == 0 -> x = 2; assert(x == 3) :: else fi }\n";
    let event = "chan c = [2] of { byte, byte }; trace { do :: c!1,_ :: c?1,_ od }
active proctype P() { c!1,2; c!2,3 } active proctype Q() { byte x, y; c?x,y }
";
    let leaving = "byte x; active proctype A() { byte i;
 do :: atomic { x = 1 -> i++; if :: i > 1 -> break :: else fi } od; x = 2; false }
";
    for text in [MERGED, atomic, first_option, event, leaving] {
        assert_eq!(follow_verifier(text, "by hand"), 1, "{text}");
    }
    let seed = seed();
    let mut followed = 0;
    for case in 0..std::env::var("TREFOIL_PROMELA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(6) {
        let text = random_program(&mut Random::new(seed.wrapping_add(4_000 + case)));
        followed += follow_verifier(&text, &format!("TREFOIL_SEED={seed}, case {case}"));
    }
    eprintln!("{followed} trails of random programs were followed");
}
