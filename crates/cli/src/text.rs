//! Words and columns that answers share.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trefoil_control::{count, digits, human_bytes};
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

/// Numbers with more digits than this are rounded.
const EXACT_DIGITS: usize = 18;

/// A number that is text already: its digits, or `2.31 × 10^79` when it has many.
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

/// How many entries of a list the text shows; the JSON has all.
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

/// How far a stopped job came.
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

/// A name or a state in at most `letters` characters; a longer one loses its end, between two words if a word ends in
/// the second half.
pub(crate) fn cut(text: &str, letters: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= letters {
        return text;
    }
    let kept: String = text.chars().take(letters - 1).collect();
    let ends = text[kept.len()..].starts_with(' ');
    match kept.rfind(' ').filter(|&end| !ends && end > kept.len() / 2) {
        Some(end) => format!("{} …", kept[..end].trim_end()),
        None => format!("{}…", kept.trim_end()),
    }
}

/// Text whose lines are at most so wide: longer lines break between words, and the rest stands below the last column
/// that begins in the first three fifths of the line. A single word that is too long stays whole. Colours take no room.
pub(crate) fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        fold(line, width, &mut out);
        out.push_str(end);
    }
    out
}

fn fold(line: &str, width: usize, out: &mut String) {
    if columns(line) <= width || line.contains('\t') {
        out.push_str(line);
        return;
    }
    let indent = " ".repeat(hanging(line, width));
    let body = line.len() - line.trim_start().len();
    out.push_str(&line[..body]);
    let mut used = body;
    let mut blanks = 0;
    for word in line[body..].split(' ') {
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        let wide = columns(word);
        let first = used <= body.max(indent.len());
        if !first && used + blanks + wide > width {
            out.push('\n');
            out.push_str(&indent);
            used = indent.len();
        } else {
            out.push_str(&" ".repeat(blanks));
            used += blanks;
        }
        out.push_str(word);
        used += wide;
        blanks = 1;
    }
}

/// Where the rest of a line goes that is folded.
fn hanging(line: &str, width: usize) -> usize {
    let margin = line.len() - line.trim_start().len();
    let furthest = width * 3 / 5;
    let mut hanging = margin + 2;
    let (mut at, mut blanks) = (0, 0);
    for character in visible(line) {
        if character != ' ' && blanks >= 2 && at > margin && at <= furthest {
            hanging = at;
        }
        blanks = if character == ' ' { blanks + 1 } else { 0 };
        at += 1;
    }
    hanging.min(furthest)
}

fn columns(text: &str) -> usize {
    visible(text).count()
}

/// The characters of a text that take room: not those of colours.
fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut escaped = false;
    text.chars().filter(move |&character| {
        let hidden = escaped || character == '\u{1b}';
        escaped = hidden && character != 'm';
        !hidden
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_rounded() {
        assert_eq!(magnitude("103680"), "103,680");
        assert_eq!(magnitude(&"9".repeat(18)), "999,999,999,999,999,999");
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
    }

    #[test]
    fn long_texts_lose_their_end_between_words() {
        assert_eq!(cut("picks.i.first -> picks.i.second", 24), "picks.i.first -> …");
        assert_eq!(cut("picks.i.first -> picks.i.second", 40), "picks.i.first -> picks.i.second");
        assert_eq!(cut(&"x".repeat(1000), 10).chars().count(), 10);
    }

    #[test]
    fn lines_break_between_words_below_their_column() {
        let line = "  1  fails    P [T= Q  (3 states)\n              after <a, b, c> the process deadlocks\n";
        let expected =
            "  1  fails    P [T= Q  (3 states)\n              after <a, b, c> the\n                process deadlocks\n";
        assert_eq!(folded(line, 34), expected);
        assert_eq!(
            folded("  name  one two three four five\n", 20),
            "  name  one two\n        three four\n        five\n"
        );
        assert_eq!(folded(line, 80), line);
        let coloured = "  \u{1b}[1mfails\u{1b}[0m it";
        assert_eq!(folded(coloured, 10), coloured);
        let long = "x".repeat(50);
        assert_eq!(folded(&long, 20), long);
    }

    #[test]
    fn values_stand_in_one_column() {
        assert_eq!(table(&[("a", "1".into()), ("long", "2".into())]), "  a     1\n  long  2\n");
    }
}
