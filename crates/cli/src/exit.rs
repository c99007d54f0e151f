//! Exit codes, and which one several checks have together.

use trefoil_session::Verdict;

/// Holds, or done.
pub(crate) const HOLDS: u8 = 0;
/// Does not hold.
pub(crate) const FAILS: u8 = 1;
/// Bad input or usage.
pub(crate) const WRONG: u8 = 2;
/// Unknown: a budget, an interrupt.
pub(crate) const UNKNOWN: u8 = 3;

/// The code of one verdict.
pub(crate) fn of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Holds => HOLDS,
        Verdict::Fails => FAILS,
        Verdict::Unknown => UNKNOWN,
        Verdict::Error => WRONG,
    }
}

/// 2 if any errs, else 1 if any fails, else 3 if any is unknown, else 0.
pub(crate) fn together(codes: impl IntoIterator<Item = u8>) -> u8 {
    let codes: Vec<u8> = codes.into_iter().collect();
    [WRONG, FAILS, UNKNOWN].into_iter().find(|code| codes.contains(code)).unwrap_or(HOLDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_answer_wins_and_unknown_is_better_than_wrong() {
        assert_eq!(together([]), HOLDS);
        assert_eq!(together([HOLDS, UNKNOWN]), UNKNOWN);
        assert_eq!(together([UNKNOWN, FAILS, HOLDS]), FAILS);
        assert_eq!(together([FAILS, WRONG, UNKNOWN]), WRONG);
    }
}
