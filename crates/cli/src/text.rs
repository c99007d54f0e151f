//! Words and columns that answers share.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trefoil_control::{count, digits, human_bytes};
use trefoil_session::{Resources, Unfinished, Verdict, shortened};

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

/// A time.
pub(crate) fn seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
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
    let mut rows = vec![("time", seconds(used.seconds))];
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
    for (name, value) in [
        ("states", unfinished.states),
        ("transitions", unfinished.transitions),
        ("vertices", unfinished.vertices.unwrap_or(0)),
        ("edges", unfinished.edges.unwrap_or(0)),
        ("depth", unfinished.depth),
    ] {
        if value > 0 {
            rows.push((name, count(value)));
        }
    }
    rows.extend(Some(unfinished.detail.clone()).filter(|detail| !detail.is_empty()).map(|detail| ("so far", detail)));
    text.push_str(&table(&rows));
    text
}

/// A name or a state on one line, in at most `letters` characters.
pub(crate) fn cut(text: &str, letters: usize) -> String {
    shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), letters)
}

/// Text whose lines are at most so wide: longer lines break between words, and the rest stands below the last column
/// that begins in the first three fifths of the line, or further left if it has no room there. Text in backquotes and a
/// number with its unit break only where there is no other place; a single word that is too long stays whole. Branches
/// of a tree are drawn on. Lines of a source file, which have marks below them, stay as they are. Colours take no room.
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
    let plain: String = visible(line).collect();
    if plain.chars().count() <= width || line.contains('\t') || is_excerpt(&plain) {
        out.push_str(line);
        return;
    }
    let blank = line.len() - line.trim_start_matches(' ').len();
    if let Some(beyond) = blank.checked_sub(width * 3 / 5).filter(|&beyond| beyond > 0) {
        // A column that begins beyond the terminal moves to the left.
        return fold(&line[beyond..], width, out);
    }
    let margin = plain.chars().take_while(|character| " │├└─".contains(*character)).count();
    let branches: String = plain.chars().take(margin).map(below).collect();
    let mut hanging = hanging(&plain, margin, width);
    let least = margin + 2;
    let pieces = pieces(line, width.saturating_sub(least));
    let (mut used, mut blanks) = (0, 0);
    let mut first = true;
    for piece in pieces {
        if piece.is_empty() {
            blanks += 1;
            continue;
        }
        let wide = columns(&piece);
        if !first && used + blanks + wide > width {
            // A piece that has no room below the column stands further left, and so does the rest.
            if hanging + wide > width {
                hanging = least;
            }
            out.push('\n');
            out.push_str(&branches);
            out.push_str(&" ".repeat(hanging - margin));
            used = hanging;
        } else {
            out.push_str(&" ".repeat(blanks));
            used += blanks;
        }
        // Signs of a tree are no text: a line may not break behind them.
        first &= piece.chars().all(|character| "│├└─".contains(character));
        out.push_str(&piece);
        used += wide;
        blanks = 1;
    }
}

/// What stands below a sign at the start of a line.
fn below(sign: char) -> char {
    match sign {
        '│' | '├' => '│',
        _ => ' ',
    }
}

/// Is it a line of a source file in a diagnostic, or a mark below one?
fn is_excerpt(plain: &str) -> bool {
    let rest = plain.trim_start().trim_start_matches(|character: char| character.is_ascii_digit()).trim_start();
    rest == "|" || rest.starts_with("| ") || rest.starts_with("--> ") || rest.starts_with("::: ")
}

/// The pieces that a line should not break inside; empty ones stand for further blanks. A piece wider than `room` is
/// taken apart.
fn pieces(line: &str, room: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut quoted = false;
    for word in line.split(' ') {
        let inside = quoted;
        quoted ^= word.matches('`').count() % 2 == 1;
        match pieces.last_mut().filter(|last| !last.is_empty() && !word.is_empty()) {
            Some(last) if inside || belong_together(last, word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ if inside && word.is_empty() => pieces.last_mut().expect("a quotation has begun").push(' '),
            _ => pieces.push(word.to_string()),
        }
    }
    let apart = |piece: String| match columns(&piece) <= room {
        true => vec![piece],
        false => piece.split(' ').map(str::to_string).collect(),
    };
    pieces.into_iter().flat_map(apart).collect()
}

/// Are they parts of one number, such as `1.65 × 10^136`, `|G| = 4`, `38 → 28` or `0.25 s`?
fn belong_together(before: &str, word: &str) -> bool {
    let unit = word.trim_end_matches([',', ')', ';', ':', '.']);
    let number = before.ends_with(|character: char| character.is_ascii_digit());
    let operator = |text: &str| matches!(text, "×" | "=" | "→");
    let ends = before.rsplit(' ').next().is_some_and(operator);
    ends || operator(word) || (number && matches!(unit, "s" | "ms" | "B" | "kB" | "MB" | "GB" | "TB" | "%"))
}

/// Where the rest of a line goes that is folded.
fn hanging(plain: &str, margin: usize, width: usize) -> usize {
    let body: String = plain.chars().skip(margin).collect();
    for start in ["= help: ", "= note: "] {
        if body.starts_with(start) {
            return margin + start.len();
        }
    }
    let furthest = width * 3 / 5;
    let mut hanging = margin + 2;
    let mut blanks = 0;
    for (at, character) in plain.chars().enumerate() {
        if character != ' ' && blanks >= 2 && at > margin && at <= furthest {
            hanging = at;
        }
        blanks = if character == ' ' { blanks + 1 } else { 0 };
    }
    hanging.min(furthest.max(margin + 2))
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
    fn numbers_and_quotations_stay_whole_where_they_can() {
        let line = "  1  holds  P  (68 states, |G| = 1.65 × 10^136 of equal components, 0.24 s)";
        for width in 40..80 {
            let text = folded(line, width);
            assert!(text.contains("|G| = 1.65 × 10^136") && text.contains("0.24 s)"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        let help = " = help: write `P [|A|] Q` to synchronise on the events in `A`, or `P [A||B] Q` for alphabets";
        let expected = " = help: write `P [|A|] Q` to synchronise on the\n         events in `A`, or `P [A||B] Q` for\n         alphabets";
        assert_eq!(folded(help, 48), expected);
        let excerpt = "4 | channel call, arrive : {0..2}.Bool -- a long line of a script";
        assert_eq!(folded(excerpt, 40), excerpt);
    }

    #[test]
    fn branches_of_a_tree_are_drawn_on() {
        let line = "  ├─ LOOK: component, 38 → 28 states\n  │  └─ LAMP: component, 2 states, 6 transitions\n";
        let expected = "  ├─ LOOK: component,\n  │    38 → 28 states\n  │  └─ LAMP: component,\n  │       2 states, 6\n  │       transitions\n";
        assert_eq!(folded(line, 25), expected);
    }

    #[test]
    fn a_piece_without_room_below_its_column_stands_further_left() {
        let line = "  1  send.one  A: receive.Two.Alice.Na?n!signature(repaired)";
        assert_eq!(folded(line, 48), "  1  send.one  A:\n    receive.Two.Alice.Na?n!signature(repaired)");
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
