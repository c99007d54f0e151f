//! Claims about runs of Promela models that never end. The verdicts are those of Spin 6.5.2 (unreduced, `-a`, `-l`),
//! but for `X`, which Spin as it is packaged refuses, and fairness, where the definitions decide.

use std::path::Path;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, AssertionReport, Fairness, Finding, Violation, Wanted};
use trefoil_session::{Job, Verdict};

/// The answers about a model, by the texts of its properties.
fn answers(text: &str, ltl: &[&str], fairness: Option<Fairness>, threads: usize) -> Vec<AssertionReport> {
    let mut job = Job::new(Control::unlimited(), threads);
    job.texts.put("m.pml", text);
    let wanted = Wanted { ltl: ltl.iter().map(|formula| formula.to_string()).collect(), ..Wanted::default() };
    let script = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job);
    let mut script = script.unwrap_or_else(|problem| panic!("{text}\n{}", problem.render(false)));
    let temporal: Vec<usize> = script.assertions().iter().skip(2).map(|listed| listed.index).collect();
    let asked = Asked { fairness, ..Asked::default() };
    temporal.into_iter().map(|index| script.run(index, &asked, &job)).collect()
}

fn verdicts(text: &str, ltl: &[&str], fairness: Option<Fairness>) -> Vec<(String, Verdict)> {
    let told = |report: AssertionReport| {
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        (report.assertion.assertion_string.clone(), report.verdict)
    };
    answers(text, ltl, fairness, 1).into_iter().map(told).collect()
}

fn verdict(text: &str, formula: &str) -> Verdict {
    verdicts(text, &[formula], None)[0].1
}

const PETERSON: &str = "\
byte turn; bool want[2]; byte cs;
active [2] proctype P() {
  do
  :: want[_pid] = 1;
     turn = 1 - _pid;
try: (want[1 - _pid] == 0 || turn == _pid);
     cs++;
crit: assert(cs == 1);
     cs--;
     want[_pid] = 0
  od
}
";

#[test]
fn formulas_about_mutual_exclusion() {
    let formulas = [
        ("[] (cs <= 1)", Verdict::Holds),
        ("[] (cs == 0)", Verdict::Fails),
        ("[] (P[0]@try -> <> P[0]@crit)", Verdict::Holds),
        ("[]<> (cs == 1)", Verdict::Holds),
        ("[]<> P[0]@crit", Verdict::Fails),
        ("[]<> P[0]@crit || []<> P[1]@crit", Verdict::Holds),
        ("(cs == 0) U (want[0] || want[1])", Verdict::Holds),
        ("<>[] (cs == 0)", Verdict::Fails),
        ("X (want[0] || want[1])", Verdict::Holds),
        ("X (cs == 1)", Verdict::Fails),
        ("always (P[0]@crit implies !P[1]@crit)", Verdict::Holds),
        ("(cs == 1) release (cs == 0) -> false", Verdict::Holds),
        ("cs == 0 stronguntil want[0] || want[1]", Verdict::Fails),
        ("!want[0] && !want[1] stronguntil (want[0] || want[1])", Verdict::Holds),
    ];
    for (formula, expected) in formulas {
        assert_eq!(verdict(PETERSON, formula), expected, "{formula}");
    }
}

#[test]
fn fairness_decides_who_gets_in() {
    let formula = "[]<> P[0]@crit";
    let with = |fairness| verdicts(PETERSON, &[formula], Some(fairness))[0].1;
    assert_eq!(with(Fairness::None), Verdict::Fails);
    assert_eq!(with(Fairness::Weak), Verdict::Holds);
    assert_eq!(with(Fairness::Strong), Verdict::Holds);
    // One that waits for a bit which others toggle is enabled again and again, and not always.
    let toggled = "bool x; byte y;\nactive proctype T() { do :: x = 1 - x od }\nactive proctype W() { x -> y = 1 }\n";
    let with = |fairness| verdicts(toggled, &["<> (y == 1)"], Some(fairness))[0].1;
    assert_eq!(with(Fairness::Weak), Verdict::Fails);
    assert_eq!(with(Fairness::Strong), Verdict::Holds);
}

#[test]
fn a_receiver_is_not_enabled_and_moves() {
    let model = "chan c = [0] of { bit }; byte x;\n\
        active proctype S() { do :: c!1 od }\n\
        active proctype A() { do :: c?1 od }\n\
        active proctype B() { c?1; x = 1 }\n";
    let with = |formula: &str, fairness| verdicts(model, &[formula], Some(fairness))[0].1;
    // The sender always moves with A: B waits, and initiates nothing.
    assert_eq!(with("<> (x == 1)", Fairness::Weak), Verdict::Fails);
    assert_eq!(with("<> (x == 1)", Fairness::Strong), Verdict::Fails);
}

#[test]
fn runs_that_end_repeat_their_last_state() {
    let model = "byte x;\nactive proctype A() { x = 1; x = 2 }\n";
    assert_eq!(verdict(model, "<>[] (x == 2)"), Verdict::Holds);
    assert_eq!(verdict(model, "[]<> (x == 1)"), Verdict::Fails);
    let report = answers(model, &["[]<> (x == 1)"], None, 1).remove(0);
    let evidence = report.witness.expect("a run");
    assert!(matches!(evidence.finding, Finding::Claim { violation: Violation::End, stem: 3, cycle: 0 }));
}

#[test]
fn never_claims_progress_and_acceptance() {
    let model = "byte x;\n\
        active proctype A() { do :: x = (x + 1) % 3; progress: skip :: x = 0 od }\n\
        active proctype B() { do :: x == 2 -> accept: skip :: else od }\n\
        never bad { do :: x == 1 -> break :: else od; accept: do :: x != 2 od }\n\
        never end { true; x == 0; x == 1 }\n\
        never good { do :: true :: x == 7 -> break od; accept: do :: true od }\n\
        never asserts { do :: atomic { (x > 2) -> assert(!(x > 2)) } :: true od }\n";
    let expected = [
        ("never bad", Verdict::Fails),
        ("never end", Verdict::Fails),
        ("never good", Verdict::Holds),
        ("never asserts", Verdict::Holds),
        ("no non-progress cycle", Verdict::Fails),
        ("no acceptance cycle", Verdict::Fails),
    ];
    let found = verdicts(model, &[], None);
    assert_eq!(found, expected.map(|(text, verdict)| (text.to_string(), verdict)));
}

/// Spin finds those of these cycles that are marked: where the step that passes the label as its last one closes a
/// cycle of the depth-first search.
#[test]
fn accept_labels_inside_atomic_sequences_count() {
    let one = |body: &str| format!("byte x;\nactive proctype A() {{ {body} }}\n");
    let failing = [
        // Spin finds it.
        one("do :: atomic { x = 1; accept: x = 0 } od"),
        one("do :: atomic { x = 1; accept: x = 0; skip } od"),
        one("do :: atomic { x = 1; accept: x = 2 }; x = 0 od"),
        // Spin finds it.
        one("do :: atomic { x = 1; accept: x = 2 } :: x = 0 od"),
        one("L: atomic { x = 1; accept: x = 0; goto L }"),
        one("do :: atomic { x = 1; if :: true -> accept: x = 0 :: true fi } od"),
        // Spin finds it.
        "byte x;\n\
            active proctype A() { do :: atomic { x = 1; accept: x == 2; x = 0; skip } od }\n\
            active proctype B() { do :: x == 1 -> x = 2 od }\n"
            .to_string(),
        // Spin finds it.
        "chan c = [0] of { byte }; byte y;\n\
            active proctype A() { do :: atomic { c!1; c!2 } od }\n\
            active proctype B() { do :: c?y; accept: c?y od }\n"
            .to_string(),
    ];
    for model in failing {
        let report = answers(&model, &[], None, 1).remove(0);
        assert_eq!(report.verdict, Verdict::Fails, "{model}");
        assert!(report.errors.is_empty() && !report.witness.expect("a run").runs[0].cycle.is_empty(), "{model}");
        assert_eq!(verdicts(&model, &[], Some(Fairness::Weak))[0].1, Verdict::Fails, "{model}");
    }
    let holding = [
        // Passed once only.
        one("atomic { x = 1; accept: x = 0 }; do :: x = 1 - x od"),
        one("do :: atomic { x < 3 -> x++; accept: skip; skip } :: x == 3 od"),
        // Not a state of the model at all.
        one("do :: d_step { x = 1; accept: x = 0 } od"),
        // Another way through the sequence passes the label, and does not go round.
        one("do :: atomic { x = 1; if :: true -> accept: x = 0; break :: true -> x = 0 fi } od"),
    ];
    for model in holding {
        assert_eq!(verdicts(&model, &[], None), [("no acceptance cycle".to_string(), Verdict::Holds)], "{model}");
    }
}

/// With processes alike, the cycle is followed on one state of each orbit.
#[test]
fn accept_labels_inside_atomic_sequences_count_up_to_symmetry() {
    let model = "byte x; byte turn[3];\n\
        active [3] proctype A() { do\n\
        :: atomic { x == 0 -> x = 1; turn[_pid] = 1 - turn[_pid]; if :: true -> accept: x = 2 :: true -> x = 3 fi }\n\
        :: atomic { x == 2 -> x = 4 } :: atomic { x == 4 -> x = 2 } :: atomic { x == 3 -> x = 0 }\n\
        :: atomic { x == 4 -> x = 0 }\n\
        od }\n";
    for fairness in [None, Some(Fairness::Weak), Some(Fairness::Strong)] {
        let report = answers(model, &[], fairness, 1).remove(0);
        assert_eq!(report.verdict, Verdict::Fails);
        assert!(report.symmetry.is_some() && report.errors.is_empty(), "{fairness:?}");
    }
    let holds = model.replace(":: atomic { x == 4 -> x = 0 }", "");
    let report = answers(&holds, &[], None, 1).remove(0);
    assert_eq!((report.verdict, report.symmetry.is_some()), (Verdict::Holds, true));
}

/// The verdict of Spin.
#[test]
fn progress_labels_inside_atomic_sequences_are_invisible() {
    let passed = "byte x;\nactive proctype A() { do :: atomic { x = 1; progress: x = 0; skip } od }\n";
    assert_eq!(verdicts(passed, &[], None), [("no non-progress cycle".to_string(), Verdict::Fails)]);
}

/// A model with far too many states for the budgets, and claims that its first states decide.
#[test]
fn claims_that_the_first_states_decide_need_no_more() {
    let model = "byte x;\nactive [3] proctype A() { byte y; int z; do :: x++ :: y++ :: z++ od }\n";
    let mut job = Job::new(Control::unlimited(), 2);
    job.texts.put("m.pml", model);
    let ltl = ["<> (x == 0)", "(x == 0) -> <> (x < 2)", "X X (x <= 2)", "[] (x < 9) || <> (x == 0)"];
    let wanted = Wanted { ltl: ltl.iter().map(|formula| formula.to_string()).collect(), ..Wanted::default() };
    let Ok(mut script) = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job) else { panic!("a model") };
    let asked: Vec<usize> = script.assertions().iter().skip(2).map(|listed| listed.index).collect();
    for index in asked {
        let report = script.run(index, &Asked::default(), &job);
        assert_eq!(report.verdict, Verdict::Holds, "{}", report.assertion.assertion_string);
        assert!(report.visited.states.digits().len() < 7, "{:?}", report.visited);
    }
}

#[test]
fn claims_that_are_not_supported_are_refused_and_the_rest_is_checked() {
    let model = "byte x;\nactive proctype A() { do :: x = 1 - x od }\n\
        never counts { byte k; do :: k < 3 -> k++ :: else -> break od }\n\
        never waits { do :: timeout -> break :: else od }\n\
        ltl fine { [] (x < 2) }\n";
    let reports = answers(model, &[], None, 1);
    let told: Vec<(&str, Verdict)> =
        reports.iter().map(|report| (&*report.assertion.assertion_string, report.verdict)).collect();
    let expected = [("never counts", Verdict::Error), ("never waits", Verdict::Error), ("ltl fine", Verdict::Holds)];
    assert_eq!(told, expected);
}

#[test]
fn a_temporal_operator_under_a_comparison_is_an_error() {
    let mut job = Job::new(Control::unlimited(), 1);
    job.texts.put("m.pml", "byte x;\nactive proctype A() { x = 1 }\n");
    let wanted = Wanted { ltl: vec!["<> x > 3".to_string()], ..Wanted::default() };
    let problem = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job).err().expect("an error");
    let text = problem.render(false);
    assert!(text.contains("P027") && text.contains("write `<> (x > 3)`"), "{text}");
}

#[test]
fn a_label_of_what_is_no_proctype_is_an_error_with_a_hint() {
    let mut job = Job::new(Control::unlimited(), 1);
    job.texts.put("m.pml", "byte x;\nactive proctype A() { x = 1 }\n");
    let wanted = Wanted { ltl: vec!["[] (B[0]@cs)".to_string()], ..Wanted::default() };
    let problem = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job).err().expect("an error");
    let text = problem.render(false);
    assert!(text.contains("found `@`") && text.contains("`P[0]@label`"), "{text}");
}

#[test]
fn one_search_serves_all_and_threads_do_not_matter() {
    let formulas = ["[]<> P[0]@crit", "<>[] (cs == 0)", "[]<> P[1]@crit", "[] (cs == 0)"];
    let told = |threads| -> Vec<Vec<String>> {
        let reports = answers(PETERSON, &formulas, None, threads);
        let run = |report: AssertionReport| -> Vec<String> {
            let evidence = report.witness.expect("the formula fails");
            let run = &evidence.runs[0];
            run.steps.iter().chain(&run.cycle).map(|step| step.event.clone()).collect()
        };
        reports.into_iter().map(run).collect()
    };
    let one = told(1);
    assert!(one.iter().all(|run| !run.is_empty()));
    assert_eq!(one, told(3));
}
