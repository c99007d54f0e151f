//! Rests of a long search, in which another thread tries a different way.
//!
//! The search calls [`crate::Control::rest`] between two rounds. A rest is *due* when the search has expanded as many
//! states as were named, and more states wait than before the round: it is far from its end then, as far as that can be
//! seen. The search waits in a rest that is due until the other thread, which waits in [`Rests::next`], lets it go on.
//! Both never run at the same time, so that what happens does not depend on the clock. The next rest is due after
//! [`GROWTH`] times as many states.
//!
//! Cost: a comparison for each round.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The next rest is due after this many times as many states.
const GROWTH: u64 = 4;

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// States that were expanded.
    pub states: u64,
    /// States that waited to be expanded before the last round.
    pub before: u64,
    /// States that wait now.
    pub waiting: u64,
}

/// Where one search and one other thread meet.
pub struct Rests {
    met: Mutex<Met>,
    changed: Condvar,
}

struct Met {
    /// How many states the next rest takes.
    due: u64,
    /// The search waits here.
    resting: Option<Rest>,
    /// One of the two has left.
    over: bool,
}

impl Rests {
    /// The first rest is due after this many states.
    pub fn from(due: u64) -> Rests {
        Rests { met: Mutex::new(Met { due, resting: None, over: false }), changed: Condvar::new() }
    }

    fn met(&self) -> MutexGuard<'_, Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn rest(&self, rest: Rest) {
        let mut met = self.met();
        if met.over || rest.states < met.due || rest.waiting <= rest.before {
            return;
        }
        while met.due <= rest.states {
            met.due = met.due.saturating_mul(GROWTH).max(1);
        }
        met.resting = Some(rest);
        self.changed.notify_all();
        while met.resting.is_some() && !met.over {
            met = self.changed.wait(met).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the next rest that is due; nothing when there are no more.
    pub fn next(&self) -> Option<Rest> {
        let mut met = self.met();
        loop {
            if met.over {
                return None;
            }
            if let Some(rest) = met.resting {
                return Some(rest);
            }
            met = self.changed.wait(met).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets the search go on.
    pub fn go_on(&self) {
        self.met().resting = None;
        self.changed.notify_all();
    }

    /// There are no more rests.
    pub fn end(&self) {
        self.met().over = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(states: u64, before: u64, waiting: u64) -> Rest {
        Rest { states, before, waiting }
    }

    #[test]
    fn a_search_rests_where_it_is_due_and_grows() {
        let rests = Rests::from(10);
        let met = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut met = Vec::new();
                while let Some(rest) = rests.next() {
                    met.push(rest.states);
                    rests.go_on();
                }
                met
            });
            for (states, before, waiting) in [(5, 1, 9), (11, 9, 4), (12, 4, 6), (30, 6, 9), (400, 9, 10), (500, 1, 2)]
            {
                rests.rest(rest(states, before, waiting));
            }
            rests.end();
            other.join().unwrap()
        });
        assert_eq!(met, [12, 400]);
    }

    #[test]
    fn nobody_waits_when_the_other_has_left() {
        let rests = Rests::from(0);
        rests.end();
        rests.rest(rest(1, 0, 1));
        assert_eq!(rests.next(), None);
    }
}
