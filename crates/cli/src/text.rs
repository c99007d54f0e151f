//! Words and columns that answers share.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trefoil_control::human_bytes;
use trefoil_session::{Resources, Unfinished, Verdict};

/// The verdict as the first word of an answer.
pub(crate) fn verdict(verdict: Verdict, colour: bool) -> String {
    let word = match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Unknown => "unknown",
        Verdict::Error => "error",
    };
    match (colour, verdict) {
        (false, _) => word.to_string(),
        (true, Verdict::Holds) => word.green().bold().to_string(),
        (true, Verdict::Unknown) => word.yellow().bold().to_string(),
        (true, Verdict::Fails | Verdict::Error) => word.red().bold().to_string(),
    }
}

/// `name  value` lines, indented, the values in one column.
pub(crate) fn table(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "  {name:<width$}  {value}");
        text
    })
}

/// `1234567` as `1 234 567`.
pub(crate) fn count(number: u64) -> String {
    digits(&number.to_string())
}

/// The same for a number that is text already.
pub(crate) fn digits(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Numbers with more digits than this are rounded.
const EXACT_DIGITS: usize = 18;

/// A number that is text already: its digits, or `2.31 × 10^79` when there are many.
pub(crate) fn magnitude(number: &str) -> String {
    if number.len() <= EXACT_DIGITS {
        return digits(number);
    }
    let lead = number.get(..4).and_then(|lead| lead.parse::<u32>().ok());
    let Some(lead) = lead else { return digits(number) };
    // Rounded to three digits; 9996 becomes 10.0, which is 1.00 of the next power.
    let rounded = (lead + 5) / 10;
    let (rounded, power) = if rounded == 1000 { (100, number.len()) } else { (rounded, number.len() - 1) };
    format!("{}.{:02} × 10^{power}", rounded / 100, rounded % 100)
}

/// A number with what is counted: `1 state`, `2 states`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// How many entries of a list a person is shown; the rest is in the JSON.
const SHOWN: usize = 24;

/// A list on one line, its middle left out when it is long.
pub(crate) fn list(entries: &[String], separator: &str) -> String {
    if entries.len() <= SHOWN {
        return entries.join(separator);
    }
    let (head, tail) = (&entries[..SHOWN / 2], &entries[entries.len() - SHOWN / 2..]);
    let left_out = count((entries.len() - SHOWN) as u64);
    format!("{}{separator}… {left_out} more …{separator}{}", head.join(separator), tail.join(separator))
}

/// The rows that every answer ends with.
pub(crate) fn resources(used: &Resources) -> Vec<(&'static str, String)> {
    let mut rows = vec![("time", format!("{:.3} s", used.seconds))];
    rows.extend(used.peak_memory_bytes.map(|bytes| ("peak memory", human_bytes(bytes))));
    rows
}

/// What is known of a job that was stopped.
pub(crate) fn unfinished(files: &[String], unfinished: &Unfinished) -> String {
    let files = if files.is_empty() { String::new() } else { format!(" ({})", files.join(" ")) };
    let mut text = format!("{}: {}{files}\n", verdict(Verdict::Unknown, false), unfinished.reason);
    let mut rows = vec![("while", unfinished.phase.clone())];
    if unfinished.total > 0 {
        rows.push(("done", format!("{} of {}", count(unfinished.done), count(unfinished.total))));
    } else if unfinished.done > 0 {
        rows.push(("done", count(unfinished.done)));
    }
    for (name, value) in
        [("states", unfinished.states), ("transitions", unfinished.transitions), ("depth", unfinished.depth)]
    {
        if value > 0 {
            rows.push((name, count(value)));
        }
    }
    text.push_str(&table(&rows));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1000), "1 000");
        assert_eq!(count(1_234_567), "1 234 567");
    }

    #[test]
    fn large_numbers_are_rounded() {
        assert_eq!(magnitude("103680"), "103 680");
        assert_eq!(magnitude(&"9".repeat(18)), "999 999 999 999 999 999");
        assert_eq!(magnitude(&"9".repeat(19)), "1.00 × 10^19");
        assert_eq!(magnitude("2308436973392413804720927448683"), "2.31 × 10^30");
        assert_eq!(magnitude("1004999999999999999999"), "1.00 × 10^21");
        assert_eq!(magnitude("1005000000000000000000"), "1.01 × 10^21");
    }

    #[test]
    fn long_lists_lose_their_middle() {
        let entries: Vec<String> = (0..1000).map(|i| format!("e{i}")).collect();
        let text = list(&entries, ", ");
        assert!(text.starts_with("e0, e1, ") && text.ends_with("e998, e999") && text.contains("976 more"), "{text}");
        assert_eq!(list(&entries[..3], " or "), "e0 or e1 or e2");
        assert_eq!((counted(1, "state"), counted(2, "state")), ("1 state".into(), "2 states".into()));
    }

    #[test]
    fn values_stand_in_one_column() {
        assert_eq!(table(&[("a", "1".into()), ("long", "2".into())]), "  a     1\n  long  2\n");
    }
}
