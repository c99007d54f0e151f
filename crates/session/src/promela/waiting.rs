//! An invalid end state in words: which process waits where, and for which statement.

use super::story::{Awaited, EndState};
use trefoil_control::count;

/// The largest number of processes in the notes.
const MOST_PROCESSES: usize = 10;

/// The largest number of statements that the notes name for one process.
const MOST_STATEMENTS: usize = 3;

/// A line for each process that keeps the run from ending: its name and number, its line, and the statements that it
/// waits for. Lines of another file than the model's are named with it.
pub(super) fn notes(end: &EndState, model: &str) -> Vec<String> {
    let waiting: Vec<_> = end.processes.iter().enumerate().filter(|(_, process)| !process.valid_end).collect();
    let mut notes: Vec<String> = waiting
        .iter()
        .take(MOST_PROCESSES)
        .map(|(number, process)| {
            let file = if process.file == model { String::new() } else { format!("{}, ", process.file) };
            let line = process.waits_for.first().map_or(process.line, |first| first.line);
            format!("{}({number}) waits at {file}line {line}: {}", process.name, statements(&process.waits_for, line))
        })
        .collect();
    if waiting.len() > MOST_PROCESSES {
        notes.push(match waiting.len() - MOST_PROCESSES {
            1 => "1 more process waits".to_string(),
            more => format!("{} more processes wait", count(more as u64)),
        });
    }
    if let Some(awaited) = &end.trace_waits_for {
        let line = awaited.first().map_or(0, |first| first.line);
        notes.push(format!(
            "the trace declaration waits at line {line}: {}; a run may end only at its end or at an end label in it",
            statements(awaited, line)
        ));
    }
    notes
}

/// ```c?x` or `y > 0` (line 12)``: a line is named where it is not the one of the process.
fn statements(awaited: &[Awaited], line: usize) -> String {
    let mut texts: Vec<String> = awaited
        .iter()
        .take(MOST_STATEMENTS)
        .map(|statement| match statement.line == line {
            true => format!("`{}`", statement.statement),
            false => format!("`{}` (line {})", statement.statement, statement.line),
        })
        .collect();
    if awaited.len() > MOST_STATEMENTS {
        texts.push(format!("{} more", count((awaited.len() - MOST_STATEMENTS) as u64)));
    }
    if texts.is_empty() { "no statement follows".to_string() } else { texts.join(" or ") }
}
