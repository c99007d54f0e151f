//! Labels as users write them on a command line: lists, quotes, wildcards, and suggestions for mistyped ones.
//!
//! A list is separated by commas; commas inside round, square or curly brackets or inside double quotes do not
//! separate, so `send(1,2),receive` has two entries. An entry in double quotes is that text exactly. In other entries
//! `*` stands for any text, unless a label with exactly the entry's text exists.

use std::ops::Range;

/// A quote or a bracket at this byte is not closed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unbalanced(pub(crate) usize);

/// One entry of an argument and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) quoted: bool,
    pub(crate) range: Range<usize>,
}

/// The first byte outside quotes and brackets, in `range`, at which `wanted` begins.
fn find_outside(text: &str, range: Range<usize>, wanted: &str) -> Result<Option<usize>, Unbalanced> {
    let bytes = text.as_bytes();
    let mut open: Vec<usize> = Vec::new();
    let mut quote = None;
    for at in range.clone() {
        let byte = bytes[at];
        match (quote, byte) {
            (None, b'"') => quote = Some(at),
            (Some(_), b'"') => quote = None,
            (Some(_), _) => {}
            (None, _) if open.is_empty() && bytes[at..range.end].starts_with(wanted.as_bytes()) => return Ok(Some(at)),
            (None, b'(' | b'[' | b'{') => open.push(at),
            (None, b')' | b']' | b'}') => {
                open.pop();
            }
            _ => {}
        }
    }
    match quote.or(open.first().copied()) {
        Some(at) => Err(Unbalanced(at)),
        None => Ok(None),
    }
}

/// Splits at every `separator` outside quotes and brackets.
pub(crate) fn split(text: &str, range: Range<usize>, separator: &str) -> Result<Vec<Range<usize>>, Unbalanced> {
    let mut parts = Vec::new();
    let mut from = range.start;
    while let Some(at) = find_outside(text, from..range.end, separator)? {
        parts.push(from..at);
        from = at + separator.len();
    }
    parts.push(from..range.end);
    Ok(parts)
}

/// What stands before and after a separator.
pub(crate) type Halves = (Range<usize>, Range<usize>);

/// Splits at the first `separator` outside quotes and brackets.
pub(crate) fn split_once(text: &str, range: Range<usize>, separator: &str) -> Result<Option<Halves>, Unbalanced> {
    let found = find_outside(text, range.clone(), separator)?;
    Ok(found.map(|at| (range.start..at, at + separator.len()..range.end)))
}

/// An entry without the space and the quotes around it.
pub(crate) fn entry(text: &str, range: Range<usize>) -> Entry {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    let trimmed = inside.trim();
    let range = start..start + trimmed.len();
    match trimmed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(exact) => Entry { text: exact.to_string(), quoted: true, range },
        None => Entry { text: trimmed.to_string(), quoted: false, range },
    }
}

impl Entry {
    /// Is it a pattern, if no label has its text?
    pub(crate) fn has_wildcard(&self) -> bool {
        !self.quoted && self.text.contains('*')
    }

    /// The text around the only `*`.
    pub(crate) fn around(&self) -> Option<(&str, &str)> {
        let (before, after) = self.text.split_once('*')?;
        (self.has_wildcard() && !after.contains('*')).then_some((before, after))
    }

    /// What the only `*` stands for in `label`.
    pub(crate) fn captured<'l>(&self, label: &'l str) -> Option<&'l str> {
        let (before, after) = self.around()?;
        label.strip_prefix(before)?.strip_suffix(after)
    }

    /// Does the pattern fit?
    pub(crate) fn fits(&self, label: &str) -> bool {
        if !self.has_wildcard() {
            return self.text == label;
        }
        let mut parts = self.text.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = label.strip_prefix(first) else { return false };
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        let parts = split(list, 0..list.len(), ",").expect("balanced");
        parts.into_iter().map(|range| entry(list, range).text).collect()
    }

    #[test]
    fn brackets_and_quotes_keep_commas_together() {
        assert_eq!(texts("a, b"), ["a", "b"]);
        assert_eq!(texts("send(1,2),receive([3,4])"), ["send(1,2)", "receive([3,4])"]);
        assert_eq!(texts("\"a,b\",c"), ["a,b", "c"]);
        assert_eq!(split("a,b(1", 0..5, ","), Err(Unbalanced(3)));
        assert_eq!(split("\"a,b", 0..4, ","), Err(Unbalanced(0)));
        assert_eq!(texts("ü,✓)"), ["ü", "✓)"]);
    }

    #[test]
    fn wildcards_fit_whole_labels() {
        let fits = |pattern: &str, label: &str| entry(pattern, 0..pattern.len()).fits(label);
        assert!(fits("send*", "send") && fits("send*", "send(1)") && !fits("send*", "resend"));
        assert!(fits("*a*b", "xaxbb") && !fits("*a*b", "xbxa") && !fits("a*a", "a"));
        assert!(fits("*", "") && !fits("\"*\"", "x") && fits("\"*\"", "*"));
        assert!(!fits("ab*b", "ab"));
    }
}
