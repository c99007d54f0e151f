//! How sure an answer is of a search that kept no states: what it finds is real, what it does not find is not proved.

use trefoil_control::{count, counted};

use crate::check::Coverage;

/// The share of missed states above which a search says nothing about what holds.
const MUCH: f64 = 0.01;

/// The answer for a property without a counterexample.
pub(crate) fn quality(coverage: &Coverage, states: u64) -> String {
    let missed = coverage.expected_omissions;
    let share = missed / (states as f64 + missed);
    let bits = match coverage.hash_factor {
        few if few < 10.0 => format!("{few:.1}"),
        many => count(rounded(many)),
    };
    let visited = format!("{} visited ({}, {bits} bits each)", counted(states, "state"), coverage.store);
    if missed < 0.5 {
        format!("probably holds: {visited}; the search most likely missed no state")
    } else if share <= MUCH {
        format!("probably holds: {visited}; it probably missed about {} more", count(rounded(missed)))
    } else {
        let percent = ((share * 100.0).round() as u64).clamp(1, 99);
        let missed = count(rounded(missed));
        format!(
            "no error found, but the search missed too much to say more: {visited}; \
             it probably missed about {missed} more, {percent} % of all. A larger table misses fewer"
        )
    }
}

/// A number rounded to two significant digits.
fn rounded(number: f64) -> u64 {
    let mut scale = 1.0;
    while number / scale >= 100.0 {
        scale *= 10.0;
    }
    ((number / scale).round() * scale) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_sure_as_the_numbers() {
        let said = |expected_omissions, hash_factor| {
            let coverage = Coverage { store: "bitstate", table_bytes: 8, hash_factor, filled: 0.5, expected_omissions };
            quality(&coverage, 1000)
        };
        assert!(said(0.00003, 210526.3).contains("210,000 bits"), "{}", said(0.00003, 210526.3));
        assert!(
            said(0.1, 200.0).starts_with("probably holds: 1,000 states")
                && said(0.1, 200.0).ends_with("missed no state")
        );
        assert!(said(7.4, 30.0).ends_with("probably missed about 7 more"), "{}", said(7.4, 30.0));
        let much = said(1234.5, 2.04);
        assert!(!much.contains("probably holds") && much.contains("about 1,200 more, 55 % of all"), "{much}");
        assert!(much.contains("2.0 bits"), "{much}");
    }
}
