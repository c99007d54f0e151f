//! The nearest known name to a misspelt one: of a declaration, a label, a file.

use std::cmp::Reverse;

/// How many insertions, deletions, replacements and swaps of neighbours turn one text into the other; `most + 1` when
/// it is more than `most`.
fn distance(from: &[char], to: &[char], most: usize) -> usize {
    if from.len().abs_diff(to.len()) > most {
        return most + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i; to.len() + 1];
        for j in 1..=to.len() {
            let replaced = last[j - 1] + usize::from(!from[i - 1].eq_ignore_ascii_case(&to[j - 1]));
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().all(|&cost| cost > most) {
            return most + 1;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

/// The candidate nearest to the text, if one is near enough to be meant.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let from: Vec<char> = text.chars().collect();
    let most = if from.len() <= 2 { 1 } else { (from.len() / 3).clamp(1, 3) };
    let near = candidates.into_iter().filter(|candidate| *candidate != text && candidate.len() <= 200).filter_map(
        |candidate| {
            let to: Vec<char> = candidate.chars().collect();
            let cost = distance(&from, &to, most);
            // People misspell the ends of words rather than their beginnings.
            let front = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            (cost <= most && cost < from.len()).then_some(((cost, Reverse(front)), candidate))
        },
    );
    near.min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["union", "Union", "mapLookup", "prioritise", "x"];
        let nearest = |text| nearest(text, names.iter().copied());
        assert_eq!(nearest("unoin"), Some("union"));
        assert_eq!(nearest("prioritize"), Some("prioritise"));
        assert_eq!(nearest("maplookup"), Some("mapLookup"));
        assert_eq!(nearest("something"), None);
        assert_eq!(nearest("y"), None);
        assert_eq!(super::nearest("sned", ["receive", "send"]), Some("send"));
        assert_eq!(super::nearest("reciev", ["receive", "send"]), Some("receive"));
        let types = ["bit", "byte", "bool", "short"];
        let nearest = |text| super::nearest(text, types);
        assert_eq!([nearest("byt"), nearest("bytee"), nearest("sohrt")], [Some("byte"), Some("byte"), Some("short")]);
        assert_eq!([nearest("bole"), nearest("byte"), nearest("b")], [None; 3]);
    }
}
