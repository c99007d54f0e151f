//! A job that is stopped at a poll leaves no wrong result behind for a later job.
//!
//! The oracle runs a question without a limit and counts its polls. Then it stops the question at each poll in turn, by
//! each kind of stop, runs it again without a limit on the same subject, and compares the answer with that of a fresh
//! subject.

use std::fmt::Debug;
use std::time::Duration;

use trefoil_control::{Control, Stopped};

/// How a job was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interruptions {
    /// How many polls the job makes when nothing stops it.
    pub polls: u64,
    /// How often it was stopped.
    pub stopped: u64,
}

/// The ways in which a job is stopped, one after the other.
const REASONS: [Stopped; 4] = [
    Stopped::Interrupted,
    Stopped::Timeout { limit: Duration::from_secs(1) },
    Stopped::Memory { limit: 1 << 40 },
    Stopped::States { limit: u32::MAX as u64 - 1 },
];

/// Stops a question at each of its polls, or at `most` of them that are spread evenly, and panics when an answer
/// afterwards, on the same subject, is not that of a fresh subject. An answer that is given despite the stop must be
/// the right one.
pub fn interrupt<S, A: PartialEq + Debug, E: Debug>(
    most: u64,
    make: impl Fn() -> S,
    ask: impl Fn(&mut S, &Control) -> Result<A, E>,
) -> Interruptions {
    let counting = Control::stopping_at(0, Stopped::Interrupted);
    let expected = ask(&mut make(), &counting).expect("nothing stops it");
    let mut seen = Interruptions { polls: counting.polls(), stopped: 0 };
    let count = seen.polls.min(most);
    for number in 0..count {
        let poll = 1 + number * seen.polls / count;
        let mut subject = make();
        let control = Control::stopping_at(poll, REASONS[number as usize % REASONS.len()]);
        match ask(&mut subject, &control) {
            Ok(answer) => assert_eq!(answer, expected, "the answer of a job that was stopped at poll {poll}"),
            Err(_) => seen.stopped += 1,
        }
        let again = ask(&mut subject, &Control::unlimited()).expect("nothing stops it");
        assert_eq!(again, expected, "the answer after a stop at poll {poll} of {}", seen.polls);
    }
    seen
}
