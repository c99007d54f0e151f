//! What was probably meant by a name that nothing declares.

use std::cmp::Reverse;

/// The one of these that differs from the text by one letter (more, less or another one) or by two neighbours that are
/// swapped, as far behind as possible. Nothing is near to a name of one or two letters.
pub(crate) fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if text.chars().count() < 3 {
        return None;
    }
    let front = |other: &str| text.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    known.filter(|other| is_near(text, other)).min_by_key(|&other| (Reverse(front(other)), other))
}

fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one == other || one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let front = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[front..], &other[front..]);
    let back = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    match (&one[..one.len() - back], &other[..other.len() - back]) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_near_and_two_are_not() {
        let known = ["bit", "byte", "bool", "short", "leader"];
        let nearest = |text| nearest(text, known.into_iter());
        assert_eq!(nearest("byt"), Some("byte"));
        assert_eq!(nearest("bytee"), Some("byte"));
        assert_eq!(nearest("bole"), None);
        assert_eq!(nearest("sohrt"), Some("short"));
        assert_eq!(nearest("leadex"), Some("leader"));
        assert_eq!(nearest("byte"), None);
        assert_eq!(nearest("b"), None);
    }
}
