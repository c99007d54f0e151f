//! A report made by hand, for the tests of everything that shows reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use trefoil_session::check::{
    Assertion, AssertionReport, Behaviour, Claim, Counterexample, Evidence, Finding, Part, PrintResult, Run, RunReport,
    Step,
};
use trefoil_session::{DiagnosticPlace, DiagnosticReport, Unfinished, Verdict};

/// Six assertions: one that holds, two that fail, one unknown, one wrong, and one that holds because the negated
/// assertion fails.
pub(crate) fn run() -> RunReport {
    let mut results = vec![
        answer(1, "SPEC [T= SYSTEM", Verdict::Holds),
        answer(2, "SYSTEM :[deadlock free [F]]", Verdict::Fails),
        answer(3, "SPEC [T= IMPL", Verdict::Fails),
        answer(4, "BIG [T= HUGE", Verdict::Unknown),
        answer(5, "P [V= Q", Verdict::Error),
        answer(6, "not Q :[deterministic]", Verdict::Holds),
    ];
    results[0].visited.states = 1234.into();
    let deadlock = Evidence {
        observed: Vec::new(),
        story: None,
        system: None,
        finding: Finding::Deadlock,
        length: 2,
        trace: words(&["a", "b"]),
        process: "SYSTEM".into(),
        components: states(&["P", "Q"]),
        operators: Vec::new(),
        runs: vec![Run {
            initial: states(&["P", "Q"]),
            steps: vec![
                step("a", 3, 3, &[(0, "x.1", 6), (1, "a", 3)], &["P1", "Q1"]),
                step("τ (h)", 1, 5, &[(1, "h", 5)], &["P1", "Q2"]),
                step("b", 4, 4, &[(0, "b", 4)], &["P2", "Q2"]),
            ],
            cycle: Vec::new(),
            offered: Some(Vec::new()),
            refused: Some(words(&["a", "b"])),
            waiting: vec![words(&["a"]), words(&["b"])],
        }],
    };
    results[1].visited.states = 7.into();
    results[1].counterexamples = vec![Counterexample {
        kind: "deadlock",
        error_event: None,
        min_acceptance: Some(Vec::new()),
        implementation_behaviour: Behaviour {
            kind: "min_acceptance",
            min_acceptance: Some(Vec::new()),
            children: vec![behaviour("P", &[6, 4]), behaviour("Q", &[3, 5])],
            revealed_trace: vec![3, 5, 4],
            ..behaviour("SYSTEM", &[3, 1, 4])
        },
        specification_behaviour: None,
    }];
    results[1].witness = Some(deadlock);
    results[2].witness = Some(Evidence {
        observed: Vec::new(),
        story: None,
        system: None,
        finding: Finding::Event { event: "b".into(), offered: None, allowed: words(&["c"]) },
        length: 2,
        trace: words(&["a", "b"]),
        process: "IMPL".into(),
        components: states(&["IMPL"]),
        operators: Vec::new(),
        runs: vec![Run {
            initial: states(&["IMPL"]),
            steps: vec![step("a", 3, 3, &[(0, "a", 3)], &["X"]), step("b", 4, 4, &[(0, "b", 4)], &["Y"])],
            cycle: Vec::new(),
            offered: None,
            refused: None,
            waiting: Vec::new(),
        }],
    });
    results[2].counterexamples = vec![Counterexample {
        kind: "trace",
        error_event: Some(4),
        min_acceptance: None,
        implementation_behaviour: Behaviour { error_event: Some(4), ..behaviour("IMPL", &[3]) },
        specification_behaviour: Some(Behaviour { available_events: Some(vec![7]), ..behaviour("SPEC", &[3]) }),
    }];
    results[3].reason = Some("timeout of 5 s reached".into());
    results[3].unfinished = Some(Unfinished {
        reason: "timeout of 5 s reached".into(),
        phase: "searching".into(),
        detail: String::new(),
        done: 0,
        total: 0,
        states: 10,
        transitions: 20,
        vertices: None,
        edges: None,
        depth: 3,
    });
    results[4].reason = Some("the model V cannot be checked".into());
    results[4].errors = vec!["the model V cannot be checked".into()];
    results[4].diagnostics = vec![DiagnosticReport {
        code: "S004".into(),
        severity: "error",
        message: "the model V cannot be checked".into(),
        places: Vec::new(),
        notes: Vec::new(),
        help: None,
    }];
    let once = |offered: Option<Vec<String>>, steps: Vec<Step>| Run {
        initial: states(&["Q"]),
        steps,
        cycle: Vec::new(),
        offered,
        refused: None,
        waiting: Vec::new(),
    };
    results[5].witness = Some(Evidence {
        observed: Vec::new(),
        story: None,
        system: None,
        finding: Finding::Nondeterminism { event: "a".into() },
        length: 1,
        trace: words(&["a"]),
        process: "Q".into(),
        components: states(&["Q"]),
        operators: Vec::new(),
        runs: vec![
            once(None, vec![step("a", 3, 3, &[(0, "a", 3)], &["X"])]),
            once(Some(words(&["b"])), vec![step("τ", 1, 1, &[(0, "τ", 1)], &["Y"])]),
        ],
    });
    RunReport {
        file_name: "sample.csp".into(),
        print_statement_results: vec![PrintResult {
            expression: "card(S)".into(),
            result: Some("3".into()),
            errors: Vec::new(),
        }],
        event_map: events(),
        assertions: results.iter().map(|result| result.assertion.clone()).collect(),
        results,
        ..RunReport::default()
    }
}

fn events() -> BTreeMap<u32, String> {
    let events = [(1, "τ"), (2, "✓"), (3, "a"), (4, "b"), (5, "h"), (6, "x.1"), (7, "c")];
    events.into_iter().map(|(number, text)| (number, text.to_string())).collect()
}

fn answer(index: usize, text: &str, verdict: Verdict) -> AssertionReport {
    let place =
        DiagnosticPlace { file: "sample.csp".into(), line: Some(10 + index), column: Some(1), text: String::new() };
    let assertion = Assertion {
        index,
        assertion_string: text.into(),
        kind: Claim::Refinement,
        model: None,
        is_negated: text.starts_with("not "),
        options: Vec::new(),
        place,
    };
    let answered = verdict != Verdict::Error;
    AssertionReport {
        result: match verdict {
            Verdict::Holds => Some(1),
            Verdict::Fails => Some(0),
            _ => None,
        },
        verdict,
        compile_seconds: if answered { 0.05 } else { 0.0 },
        check_seconds: if answered { 0.2 } else { 0.0 },
        peak_memory_bytes: Some(5_000_000),
        events: events(),
        ..AssertionReport::new(assertion)
    }
}

fn step(event: &str, number: u32, revealed: u32, parts: &[(usize, &str, u32)], after: &[&str]) -> Step {
    let part =
        |&(component, event, number): &(usize, &str, u32)| Part { component, event: event.into(), place: None, number };
    Step {
        event: event.into(),
        place: None,
        parts: parts.iter().map(part).collect(),
        states: states(after),
        number,
        revealed,
    }
}

fn behaviour(name: &str, trace: &[u32]) -> Behaviour {
    Behaviour {
        kind: "trace",
        name: name.into(),
        trace: trace.to_vec(),
        revealed_trace: trace.to_vec(),
        error_event: None,
        min_acceptance: None,
        available_events: None,
        cycle: None,
        children: Vec::new(),
    }
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

fn states(texts: &[&str]) -> Vec<Arc<str>> {
    texts.iter().map(|text| Arc::from(*text)).collect()
}
