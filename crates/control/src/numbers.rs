//! Numbers for people: one way to write them in every text of the program. JSON has plain numbers.

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    digits(&number.to_string())
}

/// The same for decimal digits that are text already.
pub fn digits(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with the noun that it counts: `1 state`, `2 states`, `1,000 vertices`.
pub fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {}", count(number), plural(noun)),
    }
}

/// The plural of an English noun, or of a phrase that ends in one.
fn plural(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("ex") {
        return format!("{stem}ices");
    }
    if ["s", "x", "ch", "sh"].iter().any(|ending| noun.ends_with(ending)) {
        return format!("{noun}es");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_by_commas() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(digits("43252003274489856000"), "43,252,003,274,489,856,000");
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1, "argument"), "1 argument");
        assert_eq!(counted(0, "argument"), "0 arguments");
        assert_eq!(counted(2000, "fixed vertex"), "2,000 fixed vertices");
        assert_eq!(counted(2, "class"), "2 classes");
        assert_eq!(counted(2, "property"), "2 properties");
        assert_eq!(counted(3, "array"), "3 arrays");
    }
}
