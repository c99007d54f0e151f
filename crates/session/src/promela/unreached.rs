//! Statements that no run reaches, grouped by process type and range of lines.
//!
//! A range covers statements between which no statement is reached: lines 12 to 15 form one range although line 13 is a
//! comment. A terminal shows ten ranges and the number of the others; the JSON report has all of them with the text of
//! each statement.

use serde::Serialize;
use trefoil_control::counted;
use trefoil_promela::Program;

/// The largest number of ranges of lines in the notes.
const MOST_RANGES: usize = 10;

/// Statements of a process type that no run reaches, one after the other.
#[derive(Clone, Debug, Serialize)]
pub struct Unreached {
    /// The process type.
    pub process: String,
    /// The file.
    pub file: String,
    /// The line of the first statement.
    pub first_line: usize,
    /// The line of the last statement.
    pub last_line: usize,
    /// The statements in the order of their lines.
    pub statements: Vec<UnreachedStatement>,
}

/// A statement that no run reaches.
#[derive(Clone, Debug, Serialize)]
pub struct UnreachedStatement {
    /// Its line.
    pub line: usize,
    /// Its text.
    pub statement: String,
}

/// The ranges of a model, by process type; `unreached` has the control states of each type.
pub(super) fn ranges(program: &Program, unreached: &[(u16, Vec<u32>)]) -> Vec<Unreached> {
    let mut ranges = Vec::new();
    for (kind, states) in unreached {
        let process = &program.processes[usize::from(*kind)];
        let missing: std::collections::HashSet<usize> = states.iter().map(|&state| state as usize).collect();
        let mut listed: Vec<usize> =
            (1..process.statements.len()).filter(|&at| process.statements[at].listed).collect();
        listed.sort_by_key(|&at| (&process.statements[at].file, process.statements[at].line));
        let mut open: Option<Unreached> = None;
        for at in listed {
            let statement = &process.statements[at];
            let same = open.as_ref().is_some_and(|range| {
                range.file == *statement.file && (missing.contains(&at) || range.last_line == statement.line)
            });
            if !same {
                ranges.extend(open.take());
            }
            if !missing.contains(&at) {
                continue;
            }
            let range = open.get_or_insert_with(|| Unreached {
                process: process.name.to_string(),
                file: statement.file.to_string(),
                first_line: statement.line,
                last_line: statement.line,
                statements: Vec::new(),
            });
            range.last_line = statement.line;
            range.statements.push(UnreachedStatement { line: statement.line, statement: statement.text.clone() });
        }
        ranges.extend(open);
    }
    ranges
}

/// A line for each process type, with ten ranges at most, and a line that counts the others.
pub(super) fn notes(ranges: &[Unreached], model: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let shown = &ranges[..ranges.len().min(MOST_RANGES)];
    for own in shown.chunk_by(|one, next| one.process == next.process) {
        let texts: Vec<String> = own.iter().map(|range| text(range, model)).collect();
        notes.push(format!("never reached in {}: {}", own[0].process, texts.join(", ")));
    }
    let left: usize = ranges[shown.len()..].iter().map(|range| range.statements.len()).sum();
    if left > 0 {
        let (left, places) = (left as u64, (ranges.len() - shown.len()) as u64);
        let (statements, places) = (counted(left, "more statement"), counted(places, "more place"));
        notes.push(format!("never reached: {statements} in {places}"));
    }
    notes
}

/// ``line 12 `x = 1` ``, or `lines 12–15 (4 statements)`.
fn text(range: &Unreached, model: &str) -> String {
    let file = if range.file == model { String::new() } else { format!("{}, ", range.file) };
    match &range.statements[..] {
        [only] => format!("{file}line {} `{}`", only.line, only.statement),
        statements if range.first_line == range.last_line => {
            format!("{file}line {} ({})", range.first_line, counted(statements.len() as u64, "statement"))
        }
        statements => {
            let statements = counted(statements.len() as u64, "statement");
            format!("{file}lines {}–{} ({statements})", range.first_line, range.last_line)
        }
    }
}
