//! The transition groups of a system for people.

use std::collections::HashMap;
use std::fmt::Write;

use trefoil_control::{count, counted};
use trefoil_session::look::GroupsReport;

use super::LETTERS;
use crate::text::{cut, resources, table};

/// A line for each group, those that read most first; groups of one name and size are one line.
pub(super) fn text(report: &GroupsReport) -> String {
    let mut text = match &report.process {
        Some(process) => format!("{process} in {}\n", report.file),
        None => format!("{}\n", report.file),
    };
    let mut lines: Vec<(usize, usize, &str, usize)> = Vec::new();
    let mut known: HashMap<(usize, usize, &str), usize> = HashMap::new();
    for group in &report.groups {
        let at = *known.entry((group.reads, group.writes, &group.name)).or_insert(lines.len());
        match lines.get_mut(at) {
            Some((.., times)) => *times += 1,
            None => lines.push((group.reads, group.writes, &group.name, 1)),
        }
    }
    lines.sort_by_key(|&(reads, writes, ..)| std::cmp::Reverse((reads, writes)));
    let _ = writeln!(text, "  reads  writes  group");
    for (reads, writes, name, times) in lines {
        let times = if times > 1 { format!("{} × ", count(times as u64)) } else { String::new() };
        let name = if name.is_empty() { "no component" } else { name };
        let _ = writeln!(text, "{:>7}{:>8}  {times}{}", count(reads as u64), count(writes as u64), cut(name, LETTERS));
    }
    let most = |of: fn(&trefoil_session::look::GroupReport) -> usize| report.groups.iter().map(of).max().unwrap_or(0);
    let sum: usize = report.groups.iter().map(|group| group.touches).sum();
    let mean = sum as f64 / report.groups.len().max(1) as f64;
    let mut rows = vec![
        ("slots", count(report.slots as u64)),
        ("groups", count(report.groups.len() as u64)),
        (
            "a group touches",
            format!("{mean:.1} slots on average, {} at most", counted(most(|group| group.touches) as u64, "slot")),
        ),
    ];
    rows.extend(resources(&report.resources));
    text.push_str(&table(&rows));
    text
}
