//! The symbolic engine takes over from an explicit search that grows.

mod cells;

use cells::{Cells, asked_of};
use trefoil_control::{Control, Stopped};
use trefoil_questions::{Answer, Asked, EngineChoice, Evidence, Found, Unanswered};
use trefoil_system::Cut;

#[test]
fn a_search_that_grows_is_taken_over_with_the_same_counts() {
    let system = Cells::in_a_row(10, 4, None, false);
    let control = Control::unlimited();
    let explicit = Asked { engine: Some(EngineChoice::Explicit), ..Asked::default() };
    let expected = asked_of(&system, &explicit, 1, 2, &control).unwrap();
    assert_eq!(expected.engine, "exact");
    for threads in [1, 2] {
        let answer = asked_of(&system, &Asked::default(), 4_000, threads, &control).unwrap();
        assert_eq!(answer.engine, "symbolic", "{}", answer.why);
        assert!(answer.why.starts_with("symbolic instead of exact: after "), "{}", answer.why);
        assert!(answer.why.ends_with("10 groups read 1.9 of 10 slots on average"), "{}", answer.why);
        assert!(matches!(answer.found[0], Found::Holds(None)) && answer.complete);
        let counts = |answer: &Answer| (answer.counts.states, answer.counts.transitions);
        assert_eq!(counts(&answer), counts(&expected));
    }
    // A search that ends before the first attempt is due keeps its answer.
    assert_eq!(asked_of(&system, &Asked::default(), 1 << 21, 2, &control).unwrap().engine, "exact");
}

#[test]
fn groups_that_read_everything_are_left_to_the_explicit_engine() {
    let control = Control::unlimited();
    let answer = asked_of(&Cells::in_a_row(8, 3, None, true), &Asked::default(), 1, 2, &control).unwrap();
    assert_eq!((answer.engine, answer.counts.states > 1000), ("exact", true), "{}", answer.why);
}

#[test]
fn a_counterexample_waits_for_that_of_the_explicit_search() {
    let control = Control::unlimited();
    let length = |answer: &Answer| match &answer.found[0] {
        Found::Fails(Evidence::Error(path)) => path.steps.len(),
        other => panic!("{other:?}"),
    };
    // The explicit search finds it between the rest in which the other engine finds it and the next one, or it does
    // not: the same length, the same on any number of threads.
    let mut engines = Vec::new();
    for error in [0, 4, 7] {
        let system = Cells::in_a_row(10, 9, Some(error), false);
        let answers = [1, 2].map(|threads| asked_of(&system, &Asked::default(), 1_000, threads, &control).unwrap());
        assert!(answers.iter().all(|answer| length(answer) == error as usize + 1));
        assert_eq!(answers[0].engine, answers[1].engine);
        engines.push(answers[0].engine);
    }
    assert_eq!((engines[0], engines[2]), ("exact", "symbolic"));
}

#[test]
fn an_interrupted_job_ends_in_a_rest_and_beside_it() {
    let system = Cells::in_a_row(12, 4, None, false);
    for poll in [1, 2, 5, 20, 100, 1_000, 10_000] {
        let control = Control::stopping_at(poll, Stopped::Interrupted);
        let stopped = asked_of(&system, &Asked::default(), 100, 2, &control);
        if let Err(stopped) = stopped {
            assert!(matches!(stopped, Unanswered::Cut { cut: Cut::Stopped, .. }), "{poll}: {stopped:?}");
            assert_eq!(control.why(), Stopped::Interrupted);
        }
    }
}
