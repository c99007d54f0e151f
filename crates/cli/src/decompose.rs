//! The answer of `trefoil mcrl2 decompose` for people: tables of parts, of what they do together, of compositions.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;
use trefoil_control::{count, counted};
use trefoil_session::mcrl2::decompose::{DecomposeReport, PairReport};

use crate::run::Answer;
use crate::text::{cut, resources, table};

/// The most parts, pairs and compositions that are shown one by one.
const MOST_ROWS: usize = 24;

/// The most letters of a list of parameters.
const LETTERS: usize = 60;

/// The most letters of a line of pairs.
const LINE: usize = 90;

/// The most invariants that are shown without `--why`.
const MOST_INVARIANTS: usize = 4;

/// A specification that was taken apart.
#[derive(Serialize)]
pub(crate) struct Decomposed {
    #[serde(flatten)]
    pub(crate) report: DecomposeReport,
    /// Are the partitions shown that were tried?
    #[serde(skip)]
    pub(crate) why: bool,
}

impl Answer for Decomposed {
    fn text(&self, _colour: bool) -> String {
        let report = &self.report;
        let mut text = format!("{} in {}\n", report.file, counted(report.parts.len() as u64, "part"));
        let mut rows = vec![["part", "parameters", "states", "transitions", "minimised"].map(str::to_string)];
        rows.extend(report.parts.iter().enumerate().map(|(number, part)| {
            let named = |name: &String| {
                let shared = if part.shared.contains(name) { " (shared)" } else { "" };
                format!("{name}{shared}")
            };
            let names: Vec<String> = part.parameters.iter().map(named).collect();
            [
                (number + 1).to_string(),
                cut(&names.join(", "), LETTERS),
                count(part.states as u64),
                count(part.transitions as u64),
                small(part.minimised_states, part.minimised_transitions),
            ]
        }));
        text.push_str(&columns(&rows));
        let mut rows = vec![["composed", "of", "states", "transitions", "minimised"].map(str::to_string)];
        // Compositions are numbered on from the parts; each part is in one of them.
        let mut inside: Vec<usize> = (1..=report.parts.len()).collect();
        for (place, made) in report.compositions.iter().enumerate() {
            let number = report.parts.len() + place + 1;
            let of: BTreeSet<usize> = made.parts.iter().map(|&part| inside[part - 1]).collect();
            let of: Vec<String> = of.iter().map(usize::to_string).collect();
            made.parts.iter().for_each(|&part| inside[part - 1] = number);
            rows.push([
                number.to_string(),
                of.join(" ‖ "),
                count(made.states as u64),
                count(made.transitions as u64),
                small(made.minimised_states, made.minimised_transitions),
            ]);
        }
        text.push_str(&columns(&rows));
        let mut rows = vec![
            ("summands of one part", count(report.alone as u64)),
            ("summands of several", count(report.together as u64)),
        ];
        rows.extend(together(&report.synchronisation).into_iter().map(|line| ("together", line)));
        rows.extend(self.invariants());
        rows.push(("peak", counted(report.peak_states as u64, "state")));
        rows.push(("last composition", pair_of(report.states, report.transitions)));
        let minimised = pair_of(report.minimised_states, report.minimised_transitions);
        rows.push(("minimised", format!("{minimised} ({})", report.equivalence)));
        rows.extend(report.output.clone().map(|output| ("written to", output)));
        rows.extend(report.written.iter().map(|file| ("written to", file.clone())));
        rows.extend(report.picture.clone().map(|picture| ("picture", picture)));
        if self.why {
            rows.extend(report.tried.iter().map(|tried| ("tried", tried.clone())));
        }
        rows.extend(resources(&report.resources));
        text.push_str(&table(&rows));
        text
    }

    fn complaints(&self, colour: bool) -> &str {
        self.report.warnings.text(colour)
    }
}

impl Decomposed {
    /// The invariants; those that were found are only counted, unless the user asks why.
    fn invariants(&self) -> Vec<(&'static str, String)> {
        let all = &self.report.invariants;
        if self.why || all.len() <= MOST_INVARIANTS {
            return all.iter().map(|one| ("invariant", one.clone())).collect();
        }
        vec![("invariants", format!("{}; --why lists them", all.len()))]
    }
}

/// The pairs of parts that do summands together, in lines: each part with its partners, the busiest pairs of many.
fn together(pairs: &[PairReport]) -> Vec<String> {
    let mut shown: Vec<&PairReport> = pairs.iter().collect();
    shown.sort_by_key(|pair| (std::cmp::Reverse(pair.summands), pair.parts));
    shown.truncate(MOST_ROWS);
    shown.sort_by_key(|pair| pair.parts);
    let mut lines: Vec<String> = Vec::new();
    for pair in &shown {
        let [one, other] = pair.parts;
        let text = format!("{one} and {other}: {}", count(pair.summands as u64));
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + text.len() <= LINE => {
                line.push_str("; ");
                line.push_str(&text);
            }
            _ => lines.push(text),
        }
    }
    let more = pairs.len() - shown.len();
    if more > 0 {
        lines.push(format!("{} more", counted(more as u64, "pair")));
    }
    lines
}

fn small(states: usize, transitions: usize) -> String {
    format!("{} / {}", count(states as u64), count(transitions as u64))
}

fn pair_of(states: usize, transitions: usize) -> String {
    format!("{}, {}", counted(states as u64, "state"), counted(transitions as u64, "transition"))
}

/// Rows of five columns, the middle of long tables left out; numbers stand on the right.
fn columns(rows: &[[String; 5]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    let left_out = rows.len().saturating_sub(1 + MOST_ROWS);
    for (at, row) in rows.iter().enumerate() {
        let hidden = at > MOST_ROWS / 2 && at <= MOST_ROWS / 2 + left_out;
        if hidden {
            if at == MOST_ROWS / 2 + 1 {
                let _ = writeln!(text, "  … {} more …", count(left_out as u64));
            }
            continue;
        }
        let mut line = format!("  {:<2$}  {:<3$}", row[0], row[1], widths[0], widths[1]);
        for column in 2..5 {
            let _ = write!(line, "  {:>1$}", row[column], widths[column]);
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
