//! Answers for people: a line each, and a summary.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trefoil_control::{count, counted, human_bytes};
use trefoil_session::Verdict;
use trefoil_session::check::{
    Assertion, AssertionReport, Evidence, Finding, PermutedKind, PrintResult, RunReport, UsedSymmetry, Violation,
};
use trefoil_session::symmetry::BrokenSymmetry;

use super::explain;
use super::runner::{Explaining, tally};
use crate::answers;
use crate::symmetry;
use crate::text::{list, magnitude, seconds, verdict};

/// How wide the column of numbers is.
pub(crate) fn index_width(chosen: &[Assertion]) -> usize {
    chosen.last().map_or(1, |last| last.index.to_string().len())
}

/// The values of print statements.
pub(crate) fn printed(said: &[PrintResult]) -> String {
    said.iter().fold(String::new(), |mut text, print| {
        let _ = match &print.result {
            Some(value) => writeln!(text, "  {} = {value}", print.expression),
            None => writeln!(text, "  {}: {}", print.expression, print.errors.join("; ")),
        };
        text
    })
}

/// An answer: number, verdict, assertion, counts; below it the reason.
pub(crate) fn line(answer: &AssertionReport, width: usize, colour: bool) -> String {
    let word = verdict(answer.verdict, colour);
    let blanks = " ".repeat(9 - plain_length(answer.verdict));
    let index = answer.assertion.index;
    let mut facts = Vec::new();
    if !answer.visited.states.is_zero() {
        facts.push(states(answer));
    }
    if answer.verdict != Verdict::Error {
        facts.push(seconds(answer.compile_seconds + answer.check_seconds));
    }
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    let facts = if colour { facts.dimmed().to_string() } else { facts };
    let mut text = format!("  {index:>width$}  {word}{blanks}{}{facts}\n", answer.assertion.assertion_string);
    // The reductions and details belong to the reasons, which only `--why` asks for.
    let reasons = answer.reductions.iter().chain(&answer.details).filter(|_| answer.why.is_some());
    for sentence in sentence(answer).iter().chain(&answer.notes).chain(&answer.why).chain(reasons) {
        let _ = writeln!(text, "  {:width$}           {sentence}", "");
    }
    text
}

/// How many states, or vertices of a game, were found, and what they stand for.
fn states(answer: &AssertionReport) -> String {
    let found = match answer.visited.states.digits() {
        "1" => if answer.visited.game { "1 vertex" } else { "1 state" }.to_string(),
        digits => format!("{} {}", magnitude(digits), if answer.visited.game { "vertices" } else { "states" }),
    };
    let Some(symmetry) = &answer.symmetry else { return found };
    let order = format!("{}{}", magnitude(&symmetry.order), sources(symmetry));
    match &symmetry.total_states {
        Some(total) if *total != answer.visited.states.digits() => {
            format!("{found} representing {}, |G| = {order}", magnitude(total))
        }
        _ => format!("{found}, |G| = {order}"),
    }
}

/// What a group permutes, unless these are only values of types.
fn sources(symmetry: &UsedSymmetry) -> String {
    let has = |kind: PermutedKind| symmetry.permuted.iter().any(|permuted| permuted.kind == kind);
    let mut words = Vec::new();
    for (kind, word) in [
        (PermutedKind::Constants, "values"),
        (PermutedKind::EqualComponents, "equal components"),
        (PermutedKind::Network, "the network"),
    ] {
        words.extend(has(kind).then_some(word));
    }
    match words[..] {
        [] | ["values"] => String::new(),
        [only] => format!(" of {only}"),
        [one, other] => format!(" of {one} and {other}"),
        _ => format!(" of {}", words.join(", ")),
    }
}

fn plain_length(verdict_of: Verdict) -> usize {
    verdict(verdict_of, false).len()
}

/// The reason for an answer, if there is one to give.
pub(crate) fn sentence(answer: &AssertionReport) -> Option<String> {
    match (answer.verdict, &answer.witness) {
        (Verdict::Unknown, _) => {
            let reason = answer.reason.clone().unwrap_or_else(|| "for an unknown reason".to_string());
            let phase = answer.unfinished.as_ref().map(|rest| rest.phase.as_str()).filter(|phase| !phase.is_empty());
            let detail = answer.unfinished.as_ref().map(|rest| rest.detail.as_str()).unwrap_or_default();
            let detail = if detail.is_empty() { String::new() } else { format!("; {detail}") };
            Some(phase.map_or(reason.clone(), |phase| format!("{reason} while {phase}{detail}")))
        }
        (Verdict::Error, _) => answer.reason.clone().or_else(|| answer.errors.first().cloned()),
        (Verdict::Fails, None) if answer.assertion.is_negated => Some("the negated assertion holds".to_string()),
        // An assertion that a process has a trace says so itself.
        (Verdict::Holds, Some(Evidence { finding: Finding::HasTrace, .. })) => None,
        (_, Some(evidence)) => {
            let known = found(evidence);
            let denied = answer.assertion.is_negated && answer.verdict == Verdict::Holds;
            Some(if denied { format!("as expected, the negated assertion fails: {known}") } else { known })
        }
        _ => None,
    }
}

/// What a witness shows, as a sentence.
pub(crate) fn found(evidence: &Evidence) -> String {
    let shown = match evidence.finding {
        Finding::Event { .. } | Finding::Forbidden { .. } | Finding::Nondeterminism { .. } => {
            evidence.trace.len().saturating_sub(1)
        }
        _ => evidence.trace.len(),
    };
    let trace = &evidence.trace[..shown];
    // Two runs with one trace take different internal steps, so their number says nothing about both.
    let internal = match evidence.runs.as_slice() {
        [run] => run.steps.iter().take_while(|step| step.event.starts_with('τ')).count() as u64,
        _ => 0,
    };
    let after = match (trace, internal) {
        ([], 0) => "initially the process".to_string(),
        ([], _) => format!("after {} the process", counted(internal, "internal step")),
        (trace, _) => format!("{} the process", answers::after(trace, &evidence.observed)),
    };
    match &evidence.finding {
        Finding::Event { event, offered: Some(offered), allowed } => {
            let performs = if allowed.is_empty() { "nothing".to_string() } else { set(allowed) };
            let offers = format!("{after} offers only {} and performs {event}", set(offered));
            format!("{offers}; where the specification offers no more, it performs {performs}")
        }
        Finding::Event { event, allowed, .. } => {
            format!("{after} performs {event}; the specification allows {} there", set(allowed))
        }
        Finding::Forbidden { event } => format!("{after} performs {event}, which must not happen"),
        Finding::Acceptance { accepted, allowed } => {
            let sets: Vec<String> = allowed.iter().map(|labels| set(labels)).collect();
            let offers = format!("{after} {}", offers(accepted));
            match sets.is_empty() {
                true => format!("{offers}; the specification is never stable there"),
                false => format!("{offers}; the specification offers at least {}", list(&sets, " or ")),
            }
        }
        Finding::Divergence if trace.is_empty() => "the process diverges immediately (infinite τ-loop)".to_string(),
        Finding::Divergence => format!("{after} diverges (infinite τ-loop)"),
        Finding::Deadlock if evidence.trace.last().is_some_and(|event| event == "✓") => {
            format!("{after} has terminated, which counts as a deadlock")
        }
        Finding::Deadlock if trace.is_empty() && internal == 0 => {
            "the process deadlocks immediately: it offers no event".to_string()
        }
        Finding::Deadlock => format!("{after} deadlocks: it offers no event"),
        Finding::Nondeterminism { event } => format!("{after} may perform {event}, and may also refuse {event}"),
        Finding::MissingTrace { event } => format!("{after} cannot perform {event}"),
        Finding::Refusal { event } => format!("{after} may refuse {event}"),
        Finding::Fault { error, process, line, statement } => {
            let steps = counted(evidence.length as u64, "step");
            format!("{error} in process {process}, line {line}, `{statement}`, after {steps}")
        }
        Finding::Claim { violation, stem, cycle } => {
            let after = format!("after {}", counted(*stem as u64, "step"));
            let around = format!("a cycle of {}", counted(*cycle as u64, "step"));
            match violation {
                Violation::AtOnce => format!("the claim is violated {after}, whatever follows"),
                Violation::End => format!("a run that ends {after} violates the claim"),
                Violation::Deadlock => format!("{after}, a deadlock violates the claim"),
                Violation::Divergence => format!("{after}, a divergence (infinite τ-loop) violates the claim"),
                Violation::Cycle => format!("{after}, {around} violates the claim"),
                Violation::NonProgress => format!("{after}, {around} makes no progress"),
                Violation::Acceptance => format!("{after}, {around} passes an accept label"),
            }
        }
        Finding::InvalidEnd => format!("invalid end state after {}", counted(evidence.length as u64, "step")),
        Finding::Formula { holds, part, repeats, has_choices, .. } => {
            let is = if *holds { "holds" } else { "fails" };
            let run = match (trace, *repeats) {
                ([], false) => format!("initially `{part}` {is}"),
                ([], true) => format!("`{part}` is unfolded forever without a step"),
                (trace, false) => format!("after <{}> `{part}` {is}", list(trace, ", ")),
                (trace, true) => format!("<{}> ends in a cycle that never leaves `{part}`", list(trace, ", ")),
            };
            if *has_choices { format!("{run}; this is one of several runs of the proof") } else { run }
        }
        Finding::HasTrace => format!("the process has the trace <{}>", list(&evidence.trace, ", ")),
        Finding::NotSymmetric { types } => {
            let why = |broken: &BrokenSymmetry| match broken.reasons.as_slice() {
                [] => format!("`{}` is not symmetric", broken.type_name),
                [first, others @ ..] => {
                    let more = match others.len() {
                        0 => String::new(),
                        more => format!(", and {}", counted(more as u64, "more reason")),
                    };
                    format!("`{}` is not symmetric: {}{more}", broken.type_name, symmetry::reason(first))
                }
            };
            types.iter().map(why).collect::<Vec<_>>().join("; ")
        }
    }
}

/// What a stable state offers.
pub(crate) fn offers(labels: &[String]) -> String {
    if labels.is_empty() { "offers no event".to_string() } else { format!("offers only {}", set(labels)) }
}

/// A set of events; in words when it is empty.
pub(crate) fn set(labels: &[String]) -> String {
    if labels.is_empty() { "nothing".to_string() } else { format!("{{{}}}", list(labels, ", ")) }
}

/// What comes after the answers: explanations, and a summary.
pub(crate) fn after(report: &RunReport, explained: &Explaining, only_list: bool, colour: bool) -> String {
    if !report.errors.is_empty() {
        return String::new();
    }
    if only_list {
        return report.assertions.iter().fold(String::new(), |mut text, assertion| {
            let width = index_width(&report.assertions);
            let _ = writeln!(text, "  {:>width$}  {}", assertion.index, assertion.assertion_string);
            text
        });
    }
    let mut text = String::new();
    if !explained.is_empty() {
        for answer in report.results.iter().filter(|answer| explained.takes(answer)) {
            text.push('\n');
            text.push_str(&explain::explanation(answer, colour));
        }
        if !text.is_empty() {
            text.push('\n');
        }
    }
    text.push_str(&summary(report, explained, colour));
    text
}

fn summary(report: &RunReport, explained: &Explaining, colour: bool) -> String {
    if report.results.is_empty() {
        return if report.assertions.is_empty() {
            format!("{}: no assertions\n", report.file_name)
        } else {
            let all = counted(report.assertions.len() as u64, "assertion");
            format!("{}: {all}, none of them chosen\n", report.file_name)
        };
    }
    let parts: Vec<String> = tally(report)
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(verdict_of, number)| format!("{} {}", count(number as u64), words(verdict_of, number, colour)))
        .collect();
    let taken: f64 = report.results.iter().map(|result| result.compile_seconds + result.check_seconds).sum();
    let memory = report.results.iter().filter_map(|result| result.peak_memory_bytes).max();
    let memory = memory.map_or_else(String::new, |bytes| format!(", {}", human_bytes(bytes)));
    let all = counted(report.results.len() as u64, "assertion");
    let mut text = format!("{}: {all}: {} ({}{memory})\n", report.file_name, parts.join(", "), seconds(taken));
    let witness = report.results.iter().find(|answer| answer.verdict == Verdict::Fails && answer.witness.is_some());
    if let Some(answer) = witness.filter(|_| explained.is_empty()) {
        let _ = writeln!(text, "  --explain {} shows the counterexample step by step", answer.assertion.index);
    }
    text
}

fn words(verdict_of: Verdict, number: usize, colour: bool) -> String {
    let word = match (verdict_of, number) {
        (Verdict::Holds, 1) => "holds",
        (Verdict::Holds, _) => "hold",
        (Verdict::Fails, 1) => "fails",
        (Verdict::Fails, _) => "fail",
        (Verdict::Unknown, _) => "unknown",
        (Verdict::Error, 1) => "error",
        (Verdict::Error, _) => "errors",
    };
    match (colour, verdict_of) {
        (false, _) => word.to_string(),
        (true, Verdict::Holds) => word.green().to_string(),
        (true, Verdict::Unknown) => word.yellow().to_string(),
        (true, Verdict::Fails | Verdict::Error) => word.red().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    #[test]
    fn an_answer_is_a_line_and_a_sentence() {
        let report = samples::run();
        let lines: Vec<String> = report.results.iter().map(|answer| line(answer, 1, false)).collect();
        assert_eq!(lines[0], "  1  holds    SPEC [T= SYSTEM  (1,234 states, 0.25 s)\n");
        assert_eq!(
            lines[1],
            "  2  fails    SYSTEM :[deadlock free [F]]  (7 states, 0.25 s)\n              after <a, b> the process deadlocks: it offers no event\n"
        );
        assert!(
            lines[2].contains("after <a> the process performs b; the specification allows {c} there"),
            "{}",
            lines[2]
        );
        assert!(lines[3].contains("unknown") && lines[3].contains("timeout of 5 s reached while searching"));
        assert!(lines[4].contains("error") && lines[4].contains("cannot be checked"));
        let expected =
            "as expected, the negated assertion fails: initially the process may perform a, and may also refuse a";
        assert!(lines[5].contains(expected), "{}", lines[5]);
    }

    #[test]
    fn the_summary_counts() {
        let text = summary(&samples::run(), &Explaining::new(&[]), false);
        assert_eq!(
            text,
            "sample.csp: 6 assertions: 2 hold, 2 fail, 1 unknown, 1 error (1.25 s, 5.0 MB)\n  --explain 2 shows the counterexample step by step\n"
        );
    }
}
