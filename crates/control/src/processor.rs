//! The processor time that this process has used.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Linux reports processor time to users in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of all threads since the process began; where the system does not report it, the time since the first
/// call.
pub(crate) fn time_used() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let status = fs::read_to_string("/proc/self/stat").ok();
    match status.as_deref().and_then(ticks) {
        Some(ticks) => TICK * ticks,
        None => FIRST.get_or_init(Instant::now).elapsed(),
    }
}

/// Fields 14 and 15, in user and in system mode; the second field, a name in brackets, may have blanks in it.
fn ticks(status: &str) -> Option<u32> {
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u32>().ok();
    Some(next()?.saturating_add(next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_behind_the_name() {
        assert_eq!(ticks("7 (a b) c) S 1 7 7 0 -1 4194304 9 0 0 0 250 30 0 0 20 0 1 0"), Some(280));
        assert_eq!(ticks("7 (a"), None);
    }
}
