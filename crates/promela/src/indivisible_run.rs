//! A long run of a `d_step`: does it repeat, and what does it cost to take it back?
//!
//! A `d_step` is deterministic, so it never ends exactly if it comes back to a place with the same row. The run is
//! compared with one state that is remembered, and at the steps 2^k that state is replaced by the present one (R. P.
//! Brent, *An improved Monte Carlo factorization algorithm*, BIT 20, 1980): a repetition is found within three times
//! the steps before it, in the memory of one row. However long a run takes, its length alone never shows that it does
//! not end.
//!
//! The log of writes would grow with the run. It is enough to know what each slot held before the run, so later writes
//! to a slot are dropped now and then; the log has at most the length of a row then.

/// Steps after which the budgets are checked; the first state is remembered then, too.
const POLLED: u64 = 1 << 10;

/// What comes before a step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// A look at the budgets.
    Poll,
    /// The run was here before, and never ends.
    Repeats,
}

/// A run of a `d_step`.
pub(crate) struct IndivisibleRun {
    /// The length of the log when the run began.
    logged: usize,
    steps: u64,
    /// A state of the run: its place and its row, which is empty while there is none.
    place: u32,
    row: Vec<u32>,
}

impl IndivisibleRun {
    /// A run that begins with a log of this length.
    pub(crate) fn new(logged: usize) -> IndivisibleRun {
        IndivisibleRun { logged, steps: 0, place: 0, row: Vec::new() }
    }

    /// Called before each step: the run is at this place, with this row and this log of slots and what they held.
    #[inline]
    pub(crate) fn before_step(&mut self, place: u32, row: &[u32], log: &mut Vec<(u32, u32)>) -> Before {
        self.steps += 1;
        if place == self.place && self.row == row {
            return Before::Repeats;
        }
        if !self.steps.is_multiple_of(POLLED) {
            return Before::Nothing;
        }
        if self.steps.is_power_of_two() {
            self.place = place;
            self.row.clear();
            self.row.extend_from_slice(row);
        }
        if log.len() - self.logged > 2 * row.len() {
            self.shorten(row.len(), log);
        }
        Before::Poll
    }

    /// Keeps the first write to each slot.
    #[cold]
    fn shorten(&self, width: usize, log: &mut Vec<(u32, u32)>) {
        let mut seen = vec![false; width];
        let mut kept = self.logged;
        for at in self.logged..log.len() {
            let (slot, old) = log[at];
            if !std::mem::replace(&mut seen[slot as usize], true) {
                log[kept] = (slot, old);
                kept += 1;
            }
        }
        log.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps until a run of these states, each the row of one slot, is known to repeat.
    fn repeats(most: u32, state: impl Fn(u32) -> u32) -> Option<u32> {
        let mut run = IndivisibleRun::new(0);
        let mut log = Vec::new();
        (0..most).find(|&step| run.before_step(0, &[state(step)], &mut log) == Before::Repeats)
    }

    #[test]
    fn a_repetition_is_found_whatever_comes_before_it() {
        for (before, length) in [(0, 1), (0, 7), (5000, 1), (5000, 3), (0, 5000), (70_000, 60_000)] {
            let state = |step: u32| if step < before { step } else { before + (step - before) % length };
            let found = repeats(1 << 20, state).expect("it repeats");
            assert!(found >= before + length && found <= 3 * (before + length) + 2048, "{before} {length}: {found}");
        }
    }

    #[test]
    fn a_run_without_repetition_goes_on() {
        assert_eq!(repeats(1 << 20, |step| step), None);
    }

    #[test]
    fn the_log_stays_short_and_takes_everything_back() {
        let mut row = vec![7, 8, 9];
        let mut log = vec![(2, 4), (2, 5)];
        let mut run = IndivisibleRun::new(log.len());
        for step in 0..100_000u32 {
            run.before_step(step, &row, &mut log);
            let slot = (step % 2) as usize;
            log.push((slot as u32, std::mem::replace(&mut row[slot], step)));
        }
        assert!(log.len() < 2048, "{}", log.len());
        while log.len() > 2 {
            let (slot, old) = log.pop().expect("longer than two");
            row[slot as usize] = old;
        }
        assert_eq!((row, log), (vec![7, 8, 9], vec![(2, 4), (2, 5)]));
    }
}
