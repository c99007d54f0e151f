//! How large texts are, without knowing the font.
//!
//! Texts are set in a fixed-pitch font, so that their width is a number of columns: none for a combining mark, two for
//! a wide character of East Asia, one for all others.

/// The size of the letters.
pub(crate) const SIZE: f64 = 12.0;
/// The distance between lines.
pub(crate) const LINE: f64 = 15.0;
/// The width of a column. Fixed-pitch fonts have about 0.6 of the size.
const COLUMN: f64 = 7.3;

/// The width of a line.
pub(crate) fn width(line: &str) -> f64 {
    columns(line) as f64 * COLUMN
}

/// The size of some lines, with a little room around them.
pub(crate) fn block(lines: &[String]) -> (f64, f64) {
    let widest = lines.iter().map(|line| width(line)).fold(0.0, f64::max);
    (widest + 8.0, lines.len() as f64 * LINE + 2.0)
}

/// How many columns a line takes.
pub(crate) fn columns(line: &str) -> usize {
    line.chars().map(column).sum()
}

fn column(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36F | 0x1AB0..=0x1AFF | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F => 0,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 => 2,
        0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// The line in at most `most` columns, without control characters. A longer line loses its end, between two words if a
/// word ends in the second half of the line.
pub(crate) fn cut(line: &str, most: usize) -> String {
    let mut kept = String::new();
    let mut used = 0;
    let fits = columns(line) <= most;
    for character in line.chars() {
        let character = if character.is_control() { ' ' } else { character };
        used += column(character);
        if !fits && used >= most {
            if character != ' '
                && let Some(end) = kept.rfind(' ').filter(|&end| columns(&kept[..end]) > most / 2)
            {
                kept.truncate(end);
            }
            kept.truncate(kept.trim_end().len());
            kept.push('…');
            break;
        }
        kept.push(character);
    }
    kept
}

/// Text inside XML: markup characters escaped, what XML cannot say replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_lose_their_end() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("a\nb", 6), "a b");
        assert_eq!(cut("receive from the network", 20), "receive from the…");
        assert_eq!(cut("a bcdefghijkl", 8), "a bcdef…");
        assert!(columns(&cut("日本語日本語", 6)) <= 6);
    }

    #[test]
    fn markup_is_escaped_and_what_xml_forbids_replaced() {
        assert_eq!(escape("a<b>&\"\u{0}\u{FFFF}"), "a&lt;b&gt;&amp;&quot;\u{FFFD}\u{FFFD}");
    }
}
