//! Runs of Promela models for people, in the manner of Spin's `spin -t -p`.

use std::fmt::Write;
use std::ops::Range;

use owo_colors::OwoColorize;
use trefoil_control::counted;
use trefoil_session::promela::{EndState, Statement, Story};

/// Statements: depth, process, place, text; below them what they print and which variables they change.
pub(crate) fn statements(statements: &[Statement], colour: bool) -> String {
    let mut text = String::new();
    for statement in statements {
        if let Some(printed) = &statement.printed {
            for line in printed.lines() {
                let _ = writeln!(text, "{:1$}{line}", "", 6 + 4 * usize::from(statement.process));
            }
        }
        if let Some(error) = &statement.error {
            let line = format!("error: {}:{}: {error}", statement.file, statement.line);
            let _ = writeln!(text, "{}", if colour { line.red().bold().to_string() } else { line });
        }
        for created in &statement.created {
            let _ = writeln!(text, "Starting {} with pid {}", created.name, created.process);
        }
        let said = format!("[{}]", statement.statement);
        let said = match (colour, statement.error.is_some()) {
            (false, _) => said,
            (true, true) => said.red().bold().to_string(),
            (true, false) => said.bold().to_string(),
        };
        let _ = writeln!(
            text,
            "{:3}:\tproc {:2} ({}:{}) {}:{} (state {})\t{said}",
            statement.depth,
            statement.process,
            statement.name,
            statement.priority,
            statement.file,
            statement.line,
            statement.state,
        );
        for change in &statement.changes {
            let _ = writeln!(text, "\t\t{}", variable(&change.name, &change.value));
        }
    }
    text
}

fn variable(name: &str, value: &str) -> String {
    if name.starts_with("queue ") { format!("{name}: {value}") } else { format!("{name} = {value}") }
}

/// Variables and processes.
pub(crate) fn end(end: &EndState, depth: usize) -> String {
    let mut text = format!("#processes: {}\n", end.processes.len());
    for global in &end.variables {
        let _ = writeln!(text, "\t\t{}", variable(&global.name, &global.value));
    }
    for (number, process) in end.processes.iter().enumerate().rev() {
        let valid = if process.valid_end { " <valid end state>" } else { "" };
        let _ = writeln!(
            text,
            "{depth:3}:\tproc {number:2} ({}:{}) {}:{} (state {}){valid}",
            process.name, process.priority, process.file, process.line, process.state
        );
        for local in &process.variables {
            let _ = writeln!(text, "\t\t{}", variable(&local.name, &local.value));
        }
    }
    text
}

/// How long a run is. A step of the search may be several statements.
fn length(steps: usize, statements: usize) -> String {
    let taken = counted(steps as u64, "step");
    match steps == statements {
        true => taken,
        false => format!("{taken} ({}; a step may take several)", counted(statements as u64, "statement")),
    }
}

/// Some statements of a run, with a line where its cycle begins.
fn parts(all: &[Statement], range: Range<usize>, cycle: usize, colour: bool) -> String {
    if !range.contains(&cycle) {
        return statements(&all[range], colour);
    }
    let (before, after) = (statements(&all[range.start..cycle], colour), statements(&all[cycle..range.end], colour));
    format!("{before}  <<<<<START OF CYCLE>>>>>\n{after}")
}

/// A whole run and its last state; a run of more than `most` statements loses its middle.
pub(crate) fn story(story: &Story, most: usize, colour: bool) -> String {
    let all = &story.statements;
    let left_out = all.len().saturating_sub(most);
    let cycle = story.cycle.unwrap_or(usize::MAX);
    let mut text = String::new();
    if left_out > 0 {
        text.push_str(&parts(all, 0..most / 3, cycle, colour));
        let _ = writeln!(text, "\t… {} …", counted(left_out as u64, "statement"));
        text.push_str(&parts(all, most / 3 + left_out..all.len(), cycle, colour));
    } else {
        text.push_str(&parts(all, 0..all.len(), cycle, colour));
    }
    let depth = all.last().map_or(0, |statement| statement.depth);
    let length = length(story.steps, depth);
    let _ = match story.cycle {
        Some(_) => writeln!(text, "the run repeats its cycle forever; it is shown once, {length}"),
        None => writeln!(text, "the run ends after {length}"),
    };
    text.push_str(&end(&story.end, depth));
    text
}
