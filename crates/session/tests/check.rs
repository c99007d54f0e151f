//! Scripts as `session` opens them: their assertions in words, and answers that share one compiler.

use std::path::PathBuf;

use trefoil_control::Control;
use trefoil_session::check::{Asked, Claim, Script};
use trefoil_session::{Job, Verdict};

/// A script in a file of its own.
fn script(name: &str, text: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("trefoil-{}-{name}.csp", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    file
}

fn job() -> Job {
    Job::new(Control::unlimited(), 1)
}

#[test]
fn assertions_are_listed_in_order_as_fdr_writes_them() {
    let text = "channel tock\nchannel a : {0, 1}\ndatatype T = X | Y\nP = a?x -> P\nQ(n) = P\n\
                assert  P   [T=   Q( 1+2 )\nassert not P :[deadlock-free [F]]\nassert P :[livelock free]\n\
                assert P :[has trace [F]]: <a.0,\n   a.1>\nTimed {\n  assert P :[deterministic]\n}\n\
                assert P [FD= Q(0) :[tau priority over]: {a.1} :[symmetry reduce]: T\n";
    let file = script("listed", text);
    let script = Script::open(&file, None, &job()).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let listed: Vec<(usize, Claim, &str, bool)> = script
        .assertions()
        .map(|each| (each.index, each.kind, each.assertion_string.as_str(), each.is_negated))
        .collect();
    let expected = [
        (1, Claim::Refinement, "P [T= Q(1 + 2)", false),
        (2, Claim::DeadlockFree, "not P :[deadlock free [F]]", true),
        (3, Claim::LivelockFree, "P :[divergence free]", false),
        (4, Claim::HasTrace, "P :[has trace [F]]: <a.0, a.1>", false),
        (5, Claim::Deterministic, "P :[deterministic]", false),
        (6, Claim::Refinement, "P [FD= Q(0) :[tau priority over]: {a.1} :[symmetry reduce]: T", false),
    ];
    assert_eq!(listed, expected);
    let lines: Vec<Option<usize>> = script.assertions().map(|each| each.place.line).collect();
    assert_eq!(lines, [6, 7, 8, 9, 12, 14].map(Some));
    let _ = std::fs::remove_file(file);
}

#[test]
fn an_assertion_that_is_stopped_or_wrong_leaves_the_compiler_fit_for_the_next() {
    let text = "channel a, tock\nP = a -> P\nloop(n) = loop(n + 1)\nQ = if loop(0) then P else STOP\nR = a -> error(\"no\")\n\
                assert P [T= Q\nassert P [T= R\nassert P [T= P\nTimed { assert P [T= P }\n";
    let file = script("stopped", text);
    let mut script = Script::open(&file, None, &job()).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let options = Asked::default();
    let hurried = job();
    let cancel = hurried.control.clone();
    let stopped = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        cancel.cancel();
    });
    let first = script.run(1, &options, &hurried);
    stopped.join().expect("the thread ends");
    assert_eq!((first.verdict, first.result), (Verdict::Unknown, None));
    assert_eq!(first.reason.as_deref(), Some("interrupted"));
    let second = script.run(2, &options, &job());
    assert_eq!((second.verdict, second.result), (Verdict::Error, None));
    assert_eq!(script.run(3, &options, &job()).result, Some(1));
    assert_eq!(script.run(4, &options, &job()).verdict, Verdict::Holds);
    let again = script.run(2, &options, &job());
    assert_eq!(again.errors, second.errors);
    let _ = std::fs::remove_file(file);
}

/// Compressions inside and beside each other, some of networks that are the same, over and under layers.
const COMPRESSED: &str = "\
transparent sbisim, dbisim, diamond, normal
external chase, prioritise, loop
channel a, b, c, t : {0..5}
CELL(x, y, i) = x.i -> y.i -> CELL(x, y, i)
ROW(x, y) = ||| i : {0..5} @ CELL(x, y, i)
LINE = dbisim((ROW(a, b) [|{|b|}|] ROW(b, c)) \\ {|b|})
TWIN = dbisim((ROW(a, t) [|{|t|}|] ROW(t, c)) \\ {|t|})
DEEP = diamond((sbisim(ROW(a, b)) [|{|b|}|] LINE[[a <- b, c <- c]]) \\ {|b|})
CHASED = sbisim(chase((ROW(a, b) [|{|b|}|] ROW(b, c)) \\ {|b|}))
URGENT = dbisim(prioritise(ROW(a, b) [|{|b|}|] ROW(b, c), <{|b|}, {|a|}>) \\ {|b|})
SPEC = ||| i : {0..5} @ (let S(n) = (n < 2 & a.i -> S(n + 1)) [] (n > 0 & c.i -> S(n - 1)) within S(0))
assert SPEC [T= LINE
assert LINE [FD= TWIN
assert SPEC [T= CHASED
assert SPEC [F= normal(LINE |~| TWIN)
assert SPEC [T= URGENT
assert LINE [T= DEEP
assert URGENT :[divergence free]
assert SPEC [F= CHASED
";

#[test]
fn a_compression_that_was_stopped_is_made_when_it_is_asked_for_again() {
    let file = script("resumed", COMPRESSED);
    let open = || Script::open(&file, None, &job()).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let options = Asked::default();
    let mut undisturbed = open();
    let count = undisturbed.assertions().count();
    let answers: Vec<Verdict> = (1..=count).map(|index| undisturbed.run(index, &options, &job()).verdict).collect();
    assert!(answers.iter().all(|verdict| matches!(verdict, Verdict::Holds | Verdict::Fails)), "{answers:?}");
    let mut stops = 0;
    for round in 0..8u64 {
        let mut disturbed = open();
        for index in 1..=count {
            // Whenever the interrupt comes, later checks of the same script are as if there had been none.
            let hurried = Job::new(Control::unlimited(), 1 + round as usize % 2);
            let cancel = hurried.control.clone();
            let stopper = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_micros(300 << (round % 8)));
                cancel.cancel();
            });
            let first = disturbed.run(index, &options, &hurried).verdict;
            stopper.join().expect("the thread ends");
            stops += usize::from(first == Verdict::Unknown);
            assert!(first == Verdict::Unknown || first == answers[index - 1], "round {round}, assertion {index}");
        }
        let after: Vec<Verdict> = (1..=count).map(|index| disturbed.run(index, &options, &job()).verdict).collect();
        assert_eq!(after, answers, "round {round}");
    }
    assert!(stops > 0, "no check was stopped");
    let _ = std::fs::remove_file(file);
}
