//! A witness for people: numbered steps, the components that took part in each, their new states, and how the run ends.

use std::fmt::Write;
use std::sync::Arc;

use owo_colors::OwoColorize;
use trefoil_control::{count, counted};
use trefoil_session::check::{AssertionReport, Evidence, Finding, Position, Run, Step};

use super::results::{self, set};
use crate::text::{cut, list};
use crate::{spin, symmetry};

/// How many steps are shown; the JSON has all of them.
const STEPS: usize = 120;
/// How many statements of a Promela model are shown.
const STATEMENTS: usize = 400;
/// How many letters of a state or of a name are shown.
const LETTERS: usize = 100;
/// How many letters numbers, events and components may take before the states stand below them.
const MOST_BEFORE_STATES: usize = 40;
/// How many components are shown at the end.
const COMPONENTS: usize = 40;

/// The explanation of an answer.
pub(crate) fn explanation(answer: &AssertionReport, colour: bool) -> String {
    let head = format!("{}  {}", answer.assertion.index, answer.assertion.assertion_string);
    let mut text = format!("{}\n", if colour { head.bold().to_string() } else { head });
    let Some(evidence) = &answer.witness else {
        let sentence = results::sentence(answer)
            .unwrap_or_else(|| "the assertion holds; there is no counterexample to explain".to_string());
        let _ = writeln!(text, "{sentence}");
        return text;
    };
    let sentence = results::sentence(answer).unwrap_or_default();
    let _ = writeln!(text, "{sentence}\n");
    if let Finding::NotSymmetric { types } = &evidence.finding {
        for broken in types {
            let _ = writeln!(text, "  {} {{{}}}", broken.type_name, list(&broken.constants, ", "));
            text.push_str(&symmetry::reasons(&broken.reasons, "    "));
        }
    }
    if let Some(told) = &evidence.story {
        text.push_str(&spin::story(told, STATEMENTS, colour));
        return text;
    }
    let names: Vec<String> = evidence.components.iter().map(|name| cut(name, LETTERS)).collect();
    for (number, run) in evidence.runs.iter().enumerate() {
        if evidence.runs.len() > 1 {
            let _ = writeln!(text, "{} run:", if number == 0 { "first" } else { "second" });
        }
        let wrong_end =
            matches!(evidence.finding, Finding::Event { .. } | Finding::Forbidden { .. } | Finding::Fault { .. });
        text.push_str(&steps(run, &names, STEPS, wrong_end, colour));
        text.push_str(&end(evidence, run, &names, number));
    }
    text
}

struct Row {
    number: String,
    event: String,
    parts: String,
    changes: Vec<String>,
}

/// The steps in columns: number, event, components that took part, changed states. Long events have the components and
/// states below them. A run of more than `most` steps loses its middle.
pub(crate) fn steps(run: &Run, names: &[String], most: usize, wrong_end: bool, colour: bool) -> String {
    let mut rows = vec![Row { number: "0".into(), event: String::new(), parts: String::new(), changes: Vec::new() }];
    rows[0].changes = changes(None, &run.initial, names);
    let mut before: &[Arc<str>] = &run.initial;
    for (index, step) in run.steps.iter().enumerate() {
        rows.push(row((index + 1).to_string(), step, before, names));
        before = &step.states;
    }
    for (index, step) in run.cycle.iter().enumerate() {
        rows.push(row(format!("↻{}", index + 1), step, before, names));
        before = &step.states;
    }
    if rows[0].changes.is_empty() {
        rows.remove(0);
    }
    let left_out = rows.len().saturating_sub(most);
    if left_out > 0 {
        let gap = Row {
            number: "…".into(),
            event: counted(left_out as u64, "step"),
            parts: String::new(),
            changes: Vec::new(),
        };
        rows.splice(most / 3..most / 3 + left_out, [gap]);
    }
    let last = wrong_end.then(|| rows.len().saturating_sub(1));
    let shown = |index: usize, row: &Row, pad: usize| {
        let event = format!("{:<pad$}", row.event);
        match (colour, Some(index) == last) {
            (true, true) => event.red().bold().to_string(),
            (true, false) if row.event.starts_with('τ') => event.dimmed().to_string(),
            (true, false) => event.bold().to_string(),
            (false, _) => event,
        }
    };
    let width = |of: fn(&Row) -> &String| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (numbers, events, parts) = (width(|row| &row.number), width(|row| &row.event), width(|row| &row.parts));
    let mut text = String::new();
    // Columns are easy to read where the last one has room.
    if numbers + events + parts > MOST_BEFORE_STATES {
        let indent = " ".repeat(numbers + 6);
        for (index, row) in rows.iter().enumerate() {
            let line = format!("  {:>numbers$}  {}", row.number, shown(index, row, 0));
            let _ = writeln!(text, "{}", line.trim_end());
            if !row.parts.is_empty() {
                let _ = writeln!(text, "{indent}by {}", row.parts);
            }
            for change in &row.changes {
                let _ = writeln!(text, "{indent}{change}");
            }
        }
        return text;
    }
    for (index, row) in rows.iter().enumerate() {
        let event = shown(index, row, events);
        let mut line = format!("  {:>numbers$}  {event}  {:<parts$}", row.number, row.parts);
        for (at, change) in row.changes.iter().enumerate() {
            if at > 0 {
                let _ = writeln!(text, "{}", line.trim_end());
                line = format!("  {:>numbers$}  {:<events$}  {:<parts$}", "", "", "");
            }
            let _ = write!(line, "  {change}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(number: String, step: &Step, before: &[Arc<str>], names: &[String]) -> Row {
    let seen = step.event.strip_prefix("τ (").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&step.event);
    let parts: Vec<String> = step
        .parts
        .iter()
        .map(|part| {
            let name = names.get(part.component).map_or("?", String::as_str);
            // A component's own event is shown where it differs from that of the whole.
            if part.event == seen || part.event == "τ" { name.to_string() } else { format!("{name} ({})", part.event) }
        })
        .collect();
    let parts = if names.len() > 1 { crate::text::list(&parts, ", ") } else { String::new() };
    Row { number, event: step.event.clone(), parts, changes: changes(Some(before), &step.states, names) }
}

/// The states that changed; all of them at the beginning.
fn changes(before: Option<&[Arc<str>]>, after: &[Arc<str>], names: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    for (component, state) in after.iter().enumerate() {
        let same = before.and_then(|before| before.get(component)).is_some_and(|old| old == state);
        let name = names.get(component).map_or("", String::as_str);
        // The initial state of a component that is named after it says nothing new.
        if same || (before.is_none() && names.len() > 1 && name == cut(state, LETTERS)) {
            continue;
        }
        told.push(if names.len() > 1 { format!("{name}: {}", cut(state, LETTERS)) } else { cut(state, LETTERS) });
    }
    if told.len() > COMPONENTS {
        let left_out = told.len() - COMPONENTS;
        told.truncate(COMPONENTS);
        told.push(format!("… and {} more", count(left_out as u64)));
    }
    told
}

/// What the last state offers and refuses, and what each component on its own offers.
fn end(evidence: &Evidence, run: &Run, names: &[String], number: usize) -> String {
    let mut text = String::new();
    if !run.cycle.is_empty() {
        let _ = writeln!(text, "  the steps marked ↻ repeat forever");
    }
    for observed in &evidence.observed {
        let place = match observed.before {
            0 => "at the start".to_string(),
            before => format!("after {}", counted(before as u64, "event")),
        };
        let _ = writeln!(text, "  {place} nothing but {} is offered; then {}", set(&observed.offered), observed.event);
    }
    match (&evidence.finding, number) {
        (Finding::Event { event, offered: Some(offered), allowed }, _) => {
            let _ = writeln!(text, "  before {event} nothing but {} is offered", set(offered));
            let _ = match allowed.is_empty() {
                true => writeln!(text, "  where the specification offers no more, it performs no event"),
                false => writeln!(text, "  where the specification offers no more, it performs only {}", set(allowed)),
            };
        }
        (Finding::Event { event, allowed, .. }, _) => {
            let _ = match allowed.is_empty() {
                true => writeln!(text, "  the specification allows no event here, so {event} is an error"),
                false => writeln!(text, "  the specification does not allow {event} here, only {}", set(allowed)),
            };
        }
        (Finding::Forbidden { event }, _) => {
            let _ = writeln!(text, "  {event} must not happen");
        }
        (Finding::Formula { proof, .. }, _) if !proof.is_empty() => text.push_str(&positions(proof)),
        (Finding::Nondeterminism { event }, 0) => {
            let _ = writeln!(text, "  this run performs {event}");
        }
        (Finding::Nondeterminism { event }, _) => {
            let _ = writeln!(text, "  this run refuses {event}");
        }
        _ => {}
    }
    if let Some(offered) = &run.offered {
        let _ = writeln!(text, "  offered  {}", set(offered));
    }
    if let Some(refused) = &run.refused {
        let _ = writeln!(text, "  refused  {}", set(refused));
    }
    if names.len() > 1 && !run.waiting.is_empty() {
        let _ = writeln!(text, "  each component on its own offers");
        let width = names.iter().take(COMPONENTS).map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, waiting) in names.iter().zip(&run.waiting).take(COMPONENTS) {
            let _ = writeln!(text, "    {name:<width$}  {}", set(waiting));
        }
        if names.len() > COMPONENTS {
            let _ = writeln!(text, "    … and {} more", count((names.len() - COMPONENTS) as u64));
        }
    }
    text
}

/// The positions of a proof, each with what may come next.
fn positions(proof: &[Position]) -> String {
    let mut text = "  the proof answers every choice of an opponent:\n".to_string();
    for (number, position) in proof.iter().take(STEPS).enumerate() {
        let next: Vec<String> = position
            .moves
            .iter()
            .map(|taken| match &taken.event {
                Some(event) => format!("{event} to {}", taken.to),
                None => taken.to.to_string(),
            })
            .collect();
        let next = match (next.is_empty(), position.chosen) {
            (true, _) => "nothing is left".to_string(),
            (false, true) => format!("then {}", next.join(", ")),
            (false, false) => format!("answers {}", next.join(", ")),
        };
        let _ = writeln!(text, "  {number:>4}  `{}`: {next}", position.part);
    }
    if proof.len() > STEPS {
        let _ = writeln!(text, "    … and {} more", count((proof.len() - STEPS) as u64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    #[test]
    fn a_deadlock_shows_who_did_what_and_who_waits_for_what() {
        let report = samples::run();
        let text = explanation(&report.results[1], false);
        let expected = "\
2  SYSTEM :[deadlock free [F]]
after <a, b> the process deadlocks: it offers no event

  1  a      P (x.1), Q  P: P1
                        Q: Q1
  2  τ (h)  Q           Q: Q2
  3  b      P           P: P2
  offered  nothing
  refused  {a, b}
  each component on its own offers
    P  {a}
    Q  {b}
";
        assert_eq!(text, expected);
    }

    #[test]
    fn two_runs_show_a_process_that_is_not_deterministic() {
        let report = samples::run();
        let text = explanation(&report.results[5], false);
        assert!(
            text.contains("first run:") && text.contains("second run:") && text.contains("this run performs a"),
            "{text}"
        );
    }

    #[test]
    fn long_runs_lose_their_middle() {
        let mut report = samples::run();
        let evidence = report.results[1].witness.as_mut().expect("a witness");
        let step = evidence.runs[0].steps[0].clone();
        evidence.runs[0].steps = vec![step; 1000];
        let text = explanation(&report.results[1], false);
        assert!(text.lines().count() < 300 && text.contains("steps"), "{text}");
    }
}
