//! Answers in the layout of FDR's plain output, which people grep for `Passed` and `Failed`.

use std::fmt::Write;

use trefoil_control::{digits, human_bytes};
use trefoil_session::check::{AssertionReport, Behaviour, Counterexample, PrintResult, TAU, TICK};

use super::options::Options;

/// The values of print statements.
pub(super) fn printed(said: &[PrintResult]) -> String {
    said.iter().fold(String::new(), |mut text, print| {
        let _ = match &print.result {
            Some(value) => writeln!(text, "{}: {value}", print.expression),
            None => writeln!(text, "{}: Error: {}", print.expression, print.errors.join("; ")),
        };
        text
    })
}

/// An answer.
pub(super) fn answer(answer: &AssertionReport, options: &Options) -> String {
    let mut text = format!("{}:\n    Log:\n", answer.assertion.assertion_string);
    let indent = 8;
    match answer.result {
        Some(result) => line(&mut text, indent, &format!("Result: {}", if result == 1 { "Passed" } else { "Failed" })),
        None if answer.errors.is_empty() => {
            let reason = answer.reason.as_deref().unwrap_or("for an unknown reason");
            line(&mut text, indent, &format!("Result: Unknown: {reason}"));
        }
        None => {
            line(&mut text, indent, "Result: Error");
            answer.errors.iter().for_each(|error| line(&mut text, indent, &format!("Error: {error}")));
        }
    }
    if options.brief {
        return text;
    }
    if answer.errors.is_empty() {
        for (what, number) in [
            ("States", answer.visited.states.digits()),
            ("Transitions", answer.visited.transitions.digits()),
            ("Plys", &answer.visited.plys.to_string()),
        ] {
            line(&mut text, indent, &format!("Visited {what}: {}", digits(number)));
        }
        if let Some(bytes) = answer.peak_memory_bytes {
            line(&mut text, indent, &format!("Estimated Total Storage: {}", human_bytes(bytes).replace(' ', "")));
        }
    }
    let names = Names { answer, reveal: options.reveal_taus };
    for found in &answer.counterexamples {
        counterexample(&mut text, indent, found, &names, options.divide);
    }
    text.push('\n');
    text
}

/// The texts of events.
struct Names<'a> {
    answer: &'a AssertionReport,
    reveal: bool,
}

impl Names<'_> {
    fn event(&self, number: u32) -> String {
        match number {
            TAU => "τ".to_string(),
            TICK => "✓".to_string(),
            other => self.answer.events.get(&other).cloned().unwrap_or_else(|| other.to_string()),
        }
    }

    fn all(&self, numbers: &[u32]) -> String {
        let events: Vec<String> = numbers.iter().map(|number| self.event(*number)).collect();
        events.join(", ")
    }
}

fn counterexample(text: &mut String, indent: usize, found: &Counterexample, names: &Names<'_>, divide: bool) {
    let kind = match found.kind {
        "trace" => "Trace",
        "min_acceptance" => "Min Acceptance",
        "divergence" => "Divergence",
        "deadlock" => "Deadlock",
        _ => "Determinism",
    };
    line(text, indent, &format!("Counterexample ({kind} Counterexample)"));
    let property = matches!(found.kind, "deadlock" | "determinism") || found.specification_behaviour.is_none();
    if let Some(specification) = found.specification_behaviour.as_ref().filter(|_| !property) {
        line(text, indent + 4, "Specification Debug:");
        line(text, indent + 8, &format!("Trace: <{}>", names.all(&specification.trace)));
        if let Some(available) = &specification.available_events {
            line(text, indent + 8, &format!("Available Events: {{{}}}", names.all(available)));
        }
    }
    line(text, indent + 4, if property { "Machine Debug:" } else { "Implementation Debug:" });
    behaviour(text, indent + 8, &found.implementation_behaviour, names, divide);
    if let Some(other) = found.specification_behaviour.as_ref().filter(|_| property) {
        behaviour(text, indent + 8, other, names, divide);
    }
}

fn behaviour(text: &mut String, indent: usize, shown: &Behaviour, names: &Names<'_>, divide: bool) {
    let kind = match shown.kind {
        "min_acceptance" => "Failure",
        "loop" => "Loop",
        "irrelevant" => "Irrelevant",
        _ => "Trace",
    };
    line(text, indent, &format!("{} ({kind} Behaviour):", shown.name));
    let trace = if names.reveal { &shown.revealed_trace } else { &shown.trace };
    line(text, indent + 4, &format!("Trace: <{}>", names.all(trace)));
    if let Some(cycle) = &shown.cycle {
        line(text, indent + 4, &format!("Loop: <{}>", names.all(cycle)));
    }
    if let Some(accepted) = &shown.min_acceptance {
        line(text, indent + 4, &format!("Min Acceptance: {{{}}}", names.all(accepted)));
    }
    if let Some(event) = shown.error_event {
        line(text, indent + 4, &format!("Error Event: {}", names.event(event)));
    }
    if divide {
        shown.children.iter().for_each(|child| behaviour(text, indent + 4, child, names, divide));
    }
}

fn line(text: &mut String, indent: usize, content: &str) {
    let _ = writeln!(text, "{:indent$}{content}", "");
}

#[cfg(test)]
mod tests {
    use super::super::options::{Parsed, parse};
    use super::*;
    use crate::check::samples;

    fn options(arguments: &[&str]) -> Options {
        match parse(&arguments.iter().map(std::ffi::OsString::from).collect::<Vec<_>>()) {
            Parsed::Run(options) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_layout_is_that_of_fdr() {
        let report = samples::run();
        let plain = options(&["x.csp"]);
        let passed = answer(&report.results[0], &plain);
        assert_eq!(
            passed,
            "SPEC [T= SYSTEM:\n    Log:\n        Result: Passed\n        Visited States: 1,234\n        Visited Transitions: 0\n        Visited Plys: 0\n        Estimated Total Storage: 5.0MB\n\n"
        );
        let failed = answer(&report.results[2], &plain);
        let expected = "        Counterexample (Trace Counterexample)
            Specification Debug:
                Trace: <a>
                Available Events: {c}
            Implementation Debug:
                IMPL (Trace Behaviour):
                    Trace: <a>
                    Error Event: b

";
        assert!(failed.ends_with(expected), "{failed}");
        assert_eq!(
            answer(&report.results[2], &options(&["-b", "x.csp"])),
            "SPEC [T= IMPL:\n    Log:\n        Result: Failed\n"
        );
    }

    #[test]
    fn hidden_events_are_revealed_and_processes_divided_on_demand() {
        let report = samples::run();
        let text = answer(&report.results[1], &options(&["x.csp"]));
        assert!(text.contains("SYSTEM (Failure Behaviour):") && text.contains("Trace: <a, τ, b>"), "{text}");
        assert!(text.contains("Min Acceptance: {}") && !text.contains("P (Trace Behaviour)"), "{text}");
        let text = answer(&report.results[1], &options(&["--divide", "--reveal-taus", "x.csp"]));
        assert!(text.contains("Trace: <a, h, b>") && text.contains("P (Trace Behaviour):"), "{text}");
        assert!(text.contains("Trace: <x.1, b>"), "{text}");
    }

    #[test]
    fn errors_and_unknown_answers_are_neither_passed_nor_failed() {
        let report = samples::run();
        for at in [3, 4] {
            let text = answer(&report.results[at], &options(&["x.csp"]));
            assert!(!text.contains("Passed") && !text.contains("Failed"), "{text}");
        }
    }
}
