//! Processes as values: what they offer, and when two are the same.

#[path = "support/evaluation.rs"]
mod evaluation;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options, ProcessValue};

fn open(script: &str, expressions: &[&str]) -> Evaluator {
    Evaluator::untyped(&prepare(script, expressions), Control::unlimited(), Options::default())
}

fn process(evaluator: &mut Evaluator, at: usize) -> ProcessValue {
    let value = evaluator.query(at).unwrap_or_else(|failure| panic!("{failure:?}"));
    evaluator.process(value).unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn offers(evaluator: &mut Evaluator, process: &ProcessValue) -> Vec<(u32, String)> {
    let found = evaluator.communications(process).unwrap_or_else(|failure| panic!("{failure:?}"));
    found.iter().map(|offer| (offer.choice, evaluator.show(&offer.event))).collect()
}

#[test]
fn equal_descriptions_are_one_state() {
    let script = "channel a : {0..9}\n\
                  P(n) = a.n -> P((n + 1) % 3)\n\
                  Q(n, unused) = a.n -> Q((n + 1) % 3, unused + 1)\n\
                  R(x) = let L(n) = a.n -> L((n + 1) % 3) within L(x)\n";
    let starts = ["P(0)", "P(3 - 3)", "R(0)", "R(0)", "P(1)"];
    let mut evaluator = open(script, &starts);
    let processes: Vec<ProcessValue> = (0..starts.len()).map(|at| process(&mut evaluator, at)).collect();
    let ids: Vec<_> = processes.iter().map(|process| evaluator.identify(process).expect("a number")).collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids[2], ids[3]);
    assert_ne!(ids[0], ids[2]);
    assert_ne!(ids[0], ids[4]);
    for start in [0, 2] {
        let mut now = processes[start].clone();
        for _ in 0..3 {
            now = evaluator.communications(&now).expect("a prefix").remove(0).then;
        }
        assert_eq!(evaluator.identify(&now).expect("a number"), ids[start], "after one round, {}", starts[start]);
    }
}

#[test]
fn dead_variables_are_dropped() {
    let script = "channel a, b : {0..9}\nP(x, y) = a.x -> b.y -> P(0, 0)\n";
    let mut evaluator = open(script, &["P(1, 5)", "P(2, 5)"]);
    let mut after = |at| {
        let process = process(&mut evaluator, at);
        let then = evaluator.communications(&process).expect("a prefix").remove(0).then;
        evaluator.identify(&then).expect("a number")
    };
    assert_eq!(after(0), after(1));
}

#[test]
fn communications_of_prefixes() {
    let script = "datatype D = A.{0, 1} | B\n\
                  channel c : D.Bool\nchannel d : {0..3}.{0..1}\nchannel e\n";
    let cases: &[(&str, &[(u32, &str)])] = &[
        ("e -> STOP", &[(0, "e")]),
        ("c?x!true -> STOP", &[(0, "c.(A.0).true"), (0, "c.(A.1).true"), (0, "c.B.true")]),
        (
            "c?A.x?y -> (if x == 0 then STOP else SKIP)",
            &[(0, "c.(A.0).false"), (0, "c.(A.0).true"), (0, "c.(A.1).false"), (0, "c.(A.1).true")],
        ),
        ("d?x:{1, 2}!1 -> STOP", &[(0, "d.1.1"), (0, "d.2.1")]),
        ("d.3?x -> STOP", &[(0, "d.3.0"), (0, "d.3.1")]),
        ("d$x:{0, 1}?y -> STOP", &[(0, "d.0.0"), (0, "d.0.1"), (1, "d.1.0"), (1, "d.1.1")]),
        (
            "d?x:{0..3}?y:{y' | y' <- {0, 1}, y' != x} -> STOP",
            &[(0, "d.0.1"), (0, "d.1.0"), (0, "d.2.0"), (0, "d.2.1"), (0, "d.3.0"), (0, "d.3.1")],
        ),
    ];
    let expressions: Vec<&str> = cases.iter().map(|(expression, _)| *expression).collect();
    let mut evaluator = open(script, &expressions);
    for (at, (expression, wanted)) in cases.iter().enumerate() {
        let process = process(&mut evaluator, at);
        let mut found = offers(&mut evaluator, &process);
        found.sort();
        let wanted: Vec<(u32, String)> = wanted.iter().map(|(choice, event)| (*choice, event.to_string())).collect();
        assert_eq!(found, wanted, "{expression}");
    }
}

#[test]
fn replicated_operators_give_their_copies() {
    let script = "channel a : {0..3}\n";
    let mut evaluator =
        open(script, &["|| i : {0..3}, i != 2 @ [{a.i}] a.i -> STOP", "STOP [[a.x <- a.y | x <- {0, 1}, y <- {2}]]"]);
    let replicated = process(&mut evaluator, 0);
    let copies = evaluator.replicas(&replicated).expect("copies");
    let alphabets: Vec<String> =
        copies.iter().map(|(alphabet, _)| evaluator.show(alphabet.as_ref().expect("an alphabet"))).collect();
    assert_eq!(alphabets, ["{a.0}", "{a.1}", "{a.3}"]);
    let renamed = process(&mut evaluator, 1);
    let pairs = evaluator.ties(&renamed).expect("pairs");
    let shown: Vec<String> =
        pairs.iter().map(|(from, to)| format!("{}>{}", evaluator.show(from), evaluator.show(to))).collect();
    assert_eq!(shown, ["a.0>a.2", "a.1>a.2"]);
}

fn code(result: Result<impl Sized, trefoil_cspm::eval::Failure>) -> String {
    match result {
        Ok(_) => "no failure".to_string(),
        Err(failure) => failure.diagnostic().map_or("stopped".to_string(), |diagnostic| diagnostic.code.to_string()),
    }
}

#[test]
fn incomplete_events_and_budgets() {
    let script = "channel c : Bool\nf(n) = f(n + 1)\ng(n) = 1 + g(n + 1)\n";
    let mut evaluator = open(script, &["c -> STOP"]);
    let process = process(&mut evaluator, 0);
    assert_eq!(code(evaluator.communications(&process)), "E019");
    let renamed = prepare(script, &["f(0)", "g(0)"]);
    let options = Options { steps: Some(100_000), depth: 1000 };
    let mut evaluator = Evaluator::untyped(&renamed, Control::unlimited(), options);
    assert_eq!(code(evaluator.query(1)), "E012");
    assert_eq!(code(evaluator.query(0)), "E011");
    let control = Control::unlimited();
    control.cancel();
    let mut evaluator = Evaluator::untyped(&renamed, control, Options::default());
    assert_eq!(code(evaluator.query(0)), "stopped");
}

/// A failure lists the calls that led to it: the inner and the outer ones when there are many.
#[test]
fn failures_tell_their_calls() {
    let script = "f(n) = if n == 0 then head(<>) else 1 + f(n - 1)\nstart = f(100)\n";
    let mut evaluator = open(script, &["start"]);
    let Err(failure) = evaluator.query(0) else { panic!("a head of nothing") };
    let diagnostic = failure.diagnostic().expect("a mistake");
    let calls: Vec<&str> = diagnostic.labels.iter().map(|label| label.text.as_str()).collect();
    assert!(calls.contains(&"while evaluating `head`") && calls.contains(&"while evaluating `start`"), "{calls:?}");
    assert!(calls.len() < 20 && diagnostic.notes.iter().any(|note| note.contains("more calls")), "{calls:?}");
}
