//! Searches of models that are stopped: what was not looked at has no verdict.

use std::path::PathBuf;

use trefoil_control::{Control, Stopped};
use trefoil_session::check::{AnyScript, Asked, SymmetryUse};
use trefoil_session::{Job, Verdict};

fn job() -> Job {
    Job::new(Control::unlimited(), 1)
}

fn model(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("trefoil-stops-{}-{name}.pml", std::process::id()));
    std::fs::write(&file, LONG).expect("it is written");
    file
}

/// One step of many statements: long enough to poll its control.
const LONG: &str = "int x;\nactive proctype P() { atomic { do :: x < 40000 -> x++ :: x >= 40000 -> break od } }\n";

#[test]
fn a_long_step_obeys_whoever_runs_it_and_not_who_opened_the_model() {
    let file = model("obeys");
    for symmetry in [SymmetryUse::Off, SymmetryUse::Automatic] {
        let opened = job();
        let mut script =
            AnyScript::open(&file, None, &opened).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
        opened.control.cancel();
        let options = Asked { symmetry: Some(symmetry), ..Asked::default() };
        for index in [1, 2] {
            assert_eq!(script.run(index, &options, &job()).verdict, Verdict::Holds, "{index}");
        }
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_step_that_is_given_up_shows_nothing() {
    use trefoil_promela::{Model, read};
    use trefoil_source::Sources;
    use trefoil_system::{Cut, System};
    let mut sources = Sources::default();
    let file = sources.add("model.pml".to_string(), LONG.to_string());
    let mut diagnostics = Vec::new();
    let nothing = &mut |name: &str| -> Result<String, String> { Err(name.to_string()) };
    let program = read(file, &mut sources, nothing, &mut diagnostics, &Control::unlimited());
    let program = program.expect("no budget").expect("it is right");
    let model = Model::new(program.into());
    let control = Control::unlimited();
    let steps = |control: &Control| {
        let mut steps = 0;
        let row = model.initial(control).expect("it has an initial state");
        let walk = model.explorer(control).successors(&row, &mut |_| {
            steps += 1;
            Ok(())
        });
        (steps, walk)
    };
    assert_eq!(steps(&control), (1, Ok(())));
    control.cancel();
    assert_eq!(steps(&control), (0, Err(Cut::Stopped)));
    assert_eq!(steps(&Control::unlimited()), (1, Ok(())));
}

#[test]
fn a_search_that_was_stopped_is_not_kept() {
    let file = model("everything");
    let mut script = AnyScript::open(&file, None, &job()).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    for keep_going in [true, false] {
        let options = Asked { keep_going, ..Asked::default() };
        let stopped = job();
        stopped.control.cancel();
        assert_eq!(script.run(1, &options, &stopped).verdict, Verdict::Unknown);
        for index in [1, 2] {
            assert_eq!(script.run(index, &options, &job()).verdict, Verdict::Holds, "{index}");
        }
        script = AnyScript::open(&file, None, &job()).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_step_that_takes_too_long_leaves_every_property_unknown() {
    let file = model("too-long");
    let text = "int i; int j;\nactive proctype p() {\n\
        d_step { do :: i < 2000000000 -> i++; j = i % 7 :: else -> break od };\n assert(i > 0)\n}\n";
    std::fs::write(&file, text).expect("it is written");
    for index in [1, 2] {
        let mut script = AnyScript::open(&file, None, &job()).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
        // Far behind ten million statements.
        let control = Control::stopping_at(20_000, Stopped::Interrupted);
        let report = script.run(index, &Asked::default(), &Job::new(control, 1));
        assert_eq!(report.verdict, Verdict::Unknown, "{index}");
    }
    let _ = std::fs::remove_file(file);
}
