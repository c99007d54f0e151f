//! Cancellation, time and memory budgets, and progress: what every long job carries with it.
//!
//! A [`Control`] is a cheap handle that the face of the program (the command line, an editor, a test) makes once per
//! job and that every algorithm takes. An algorithm calls [`Control::check`] at least every few milliseconds of work,
//! and [`Control::afford`] before an allocation that is large in itself; both answer with the reason when the job must
//! end. Running out is not an error but a verdict (`unknown`), so [`Stopped`] is passed up unchanged to the code that
//! reports it.
//!
//! # How memory is counted
//!
//! The budget is compared with the resident size of the process, sampled by a watchdog thread every
//! [`WATCHDOG_PERIOD`]. That covers reading, compiling, normal forms and search alike, without accounting in each of
//! them, but the process can exceed the budget by what it writes in one period. `afford` closes the gap for tables that
//! double.
//!
//! # Efforts
//!
//! Some work is worth only a little time, such as naming a structure whose order is known already. [`Control::within`]
//! makes a control for such work, which ends after a given *processor* time of the process, so that a busy machine
//! gives the same answers, and whenever the enclosing job ends. [`Control::attempt`] also ends after a number of polls,
//! which depends on no clock.
//!
//! # Parts that run out by themselves
//!
//! A job that can answer in two ways gives the first one a [`Control::part`]: when that uses up the memory, the part
//! ends and the job goes on, once freed memory is given back ([`Control::settle`]). Between two rounds a search under
//! such a control may rest ([`Control::rest`]) while another thread tries the second way ([`Rests`]).
//!
//! A job whose last stage can make use of what an earlier one did not finish gives the earlier one a
//! [`Control::reserving`], which ends while there is still time and memory for the last stage.
//!
//! # Stops for tests
//!
//! [`Control::stopping_at`] makes a control that stops at its n-th [`Control::check`]. A test that stops a job at every
//! poll in turn, and then runs it again, proves that no incomplete result is remembered. Such a control counts polls on
//! its slow path only, so that other controls pay nothing for it.
//!
//! Cost: `check` is one relaxed load.

mod memory;
mod numbers;
mod processor;
mod progress;
mod rests;

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

pub use memory::{available_memory, peak_memory, release_memory, resident_memory, set_release};
pub use numbers::{count, counted, digits};
pub use progress::{Progress, Snapshot};
pub use rests::{Rest, Rests};

/// How often the watchdog samples the clock and the memory.
pub const WATCHDOG_PERIOD: Duration = Duration::from_millis(20);

/// Why a job ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The user requested it (Ctrl-C, a closed editor).
    Interrupted,
    /// The time budget is used up.
    Timeout {
        /// The budget.
        limit: Duration,
    },
    /// The memory budget is used up, or would be by the next allocation.
    Memory {
        /// The budget in bytes.
        limit: u64,
    },
    /// The budget of steps is used up.
    Steps {
        /// The budget.
        limit: u64,
    },
    /// More states than an engine can number.
    States {
        /// How many it can number.
        limit: u64,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Interrupted => write!(f, "interrupted"),
            Stopped::Timeout { limit } => write!(f, "timeout of {} s reached", limit.as_secs_f64()),
            Stopped::Memory { limit } => write!(f, "memory budget of {} reached", human_bytes(*limit)),
            Stopped::Steps { limit } => write!(f, "{} steps made, the most that were allowed", count(*limit)),
            Stopped::States { limit } => write!(f, "more than {} states, the most that can be numbered", count(*limit)),
        }
    }
}

impl std::error::Error for Stopped {}

/// Budgets of a job. `None` means unlimited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Wall-clock time from the beginning of the job.
    pub time: Option<Duration>,
    /// Resident bytes of the whole process.
    pub memory: Option<u64>,
}

impl Limits {
    /// No time limit, and four fifths of the memory that the machine or the container has left.
    pub fn default_memory() -> Option<u64> {
        available_memory().map(|bytes| bytes / 5 * 4)
    }
}

const RUNNING: u8 = 0;
const INTERRUPTED: u8 = 1;
const TIMEOUT: u8 = 2;
const MEMORY: u8 = 3;
const STATES: u8 = 4;
/// The job runs, and its polls are counted.
const COUNTING: u8 = 5;

/// How many states 32-bit numbers allow; two numbers are reserved.
const MOST_STATES: u64 = u32::MAX as u64 - 1;

struct Shared {
    stop: AtomicU8,
    limits: Limits,
    polls: Option<Polls>,
    started: Instant,
    resident: AtomicU64,
    progress: Arc<Progress>,
    effort: Option<Effort>,
    /// How many parts of this job answer for its memory.
    answering: AtomicU32,
    /// Where a search rests between its rounds.
    rests: Option<Arc<Rests>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(Effort { around, answers: true, .. }) = &self.effort {
            around.shared.answering.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A stop at a given poll.
struct Polls {
    left: AtomicU64,
    made: AtomicU64,
    reason: u8,
}

/// A part of a job.
struct Effort {
    around: Control,
    /// The processor time that it may take, if that is limited.
    most: Option<Duration>,
    before: Duration,
    /// The moment at which it ends, if there is one.
    until: Option<Instant>,
    /// Does the job go on when this part has used up the memory?
    answers: bool,
}

impl Effort {
    fn new(around: &Control, most: Option<Duration>) -> Effort {
        Effort { around: around.clone(), most, before: processor::time_used(), until: None, answers: false }
    }

    fn is_spent(&self) -> bool {
        self.most.is_some_and(|most| processor::time_used().saturating_sub(self.before) >= most)
            || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// The handle a job carries; clones share one job.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

impl Default for Control {
    fn default() -> Self {
        Control::unlimited()
    }
}

/// Requests below this many bytes are answered by the last sample.
const SMALL_REQUEST: usize = 1 << 16;

impl Control {
    /// A job without budgets and without a watchdog: it ends when it is done or cancelled.
    pub fn unlimited() -> Control {
        Control::make(Instant::now(), Limits::default(), None, None)
    }

    /// A job for tests, which stops for this reason at its `poll`-th [`Control::check`], counted from 1 over all
    /// threads and parts; 0 never stops it. [`Control::polls`] returns how many there were.
    pub fn stopping_at(poll: u64, reason: Stopped) -> Control {
        let limits = match reason {
            Stopped::Timeout { limit } => Limits { time: Some(limit), memory: None },
            Stopped::Memory { limit } => Limits { time: None, memory: Some(limit) },
            Stopped::Interrupted | Stopped::States { .. } | Stopped::Steps { .. } => Limits::default(),
        };
        let polls = Polls { left: AtomicU64::new(poll), made: AtomicU64::new(0), reason: code(reason) };
        Control::make(Instant::now(), limits, None, Some(polls))
    }

    /// How many polls of a job that counts them ([`Control::stopping_at`]) there were.
    pub fn polls(&self) -> u64 {
        self.shared.polls.as_ref().map_or(0, |polls| polls.made.load(Ordering::Relaxed))
    }

    /// A job with budgets, watched from now on until the last clone is dropped.
    pub fn new(limits: Limits) -> Control {
        let control = Control::make(Instant::now(), limits, None, None);
        if limits.time.is_some() || limits.memory.is_some() {
            control.set_watch();
        }
        control
    }

    /// A control for a part of this job that ends with the job, or earlier after this much processor time; it then
    /// reports [`Stopped::Timeout`], while the job continues.
    pub fn within(&self, most: Duration) -> Control {
        let limits = Limits { time: Some(most), memory: self.shared.limits.memory };
        let control = Control::make(Instant::now(), limits, Some(Effort::new(self, Some(most))), None);
        control.set_watch();
        control
    }

    /// The same for a part that also ends after this many polls.
    pub fn attempt(&self, polls: u64, most: Duration) -> Control {
        let limits = Limits { time: Some(most), memory: self.shared.limits.memory };
        let polls = Polls { left: AtomicU64::new(polls.max(1)), made: AtomicU64::new(0), reason: TIMEOUT };
        let control = Control::make(Instant::now(), limits, Some(Effort::new(self, Some(most))), Some(polls));
        control.set_watch();
        control
    }

    /// A control for a part of this job that ends with the job, or alone when the memory is used up or when there are
    /// more states than can be numbered. Until it is dropped the job does not end for lack of memory. It reports its
    /// progress as that of the job, and rests here ([`Control::rest`]).
    pub fn part(&self, rests: &Arc<Rests>) -> Control {
        self.shared.answering.fetch_add(1, Ordering::Relaxed);
        let effort = Effort { answers: true, ..Effort::new(self, None) };
        let mut control = Control::make(self.shared.started, self.shared.limits, Some(effort), None);
        if let Some(shared) = Arc::get_mut(&mut control.shared) {
            shared.progress = self.shared.progress.clone();
            shared.rests = Some(rests.clone());
        }
        control.set_watch();
        control
    }

    /// A control for a part of this job that runs beside other parts: it ends with the job, and has counters of its
    /// own, so that the phase of one part is not shown while another one works.
    pub fn beside(&self) -> Control {
        let control = Control::make(self.shared.started, self.shared.limits, Some(Effort::new(self, None)), None);
        control.set_watch();
        control
    }

    /// A control for a part of this job that leaves something to what follows: it ends with the job, or alone when
    /// three quarters of the time or two thirds of the memory that are left now are used up.
    pub fn reserving(&self) -> Control {
        let Limits { time, memory } = self.shared.limits;
        if time.is_none() && memory.is_none() {
            return self.clone();
        }
        let left = time.map(|time| time.saturating_sub(self.elapsed()) / 4 * 3);
        let resident = resident_memory().unwrap_or_default();
        let memory = memory.map(|limit| (resident + limit.saturating_sub(resident) / 3 * 2).min(limit));
        let until = left.map(|left| Instant::now() + left);
        let effort = Effort { until, ..Effort::new(self, None) };
        let mut control = Control::make(self.shared.started, Limits { time, memory }, Some(effort), None);
        if let Some(shared) = Arc::get_mut(&mut control.shared) {
            shared.progress = self.shared.progress.clone();
            shared.rests = self.shared.rests.clone();
        }
        control.set_watch();
        control
    }

    /// Gives freed memory back, after a part that used it up has ended.
    pub fn settle(&self) {
        release_memory(self.shared.limits.memory);
        // Small requests are answered by the last sample, which may be of before.
        if let Some(resident) = resident_memory() {
            self.shared.resident.store(resident, Ordering::Relaxed);
        }
    }

    /// Between two rounds of a search: waits while another thread tries a different way, if one is due.
    pub fn rest(&self, rest: Rest) {
        if let Some(rests) = &self.shared.rests {
            rests.rest(rest);
        }
    }

    /// Ends the job for the reason for which a part of it ended.
    pub fn end_for(&self, reason: Stopped) {
        self.stop(code(reason));
    }

    fn set_watch(&self) {
        let watched = Arc::downgrade(&self.shared);
        thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch(&watched))
            .expect("the operating system refuses a thread for the watchdog");
    }

    fn make(started: Instant, limits: Limits, effort: Option<Effort>, polls: Option<Polls>) -> Control {
        let counting = polls.is_some() || effort.as_ref().is_some_and(|effort| effort.around.counts());
        Control {
            shared: Arc::new(Shared {
                stop: AtomicU8::new(if counting { COUNTING } else { RUNNING }),
                limits,
                polls,
                started,
                resident: AtomicU64::new(0),
                progress: Arc::default(),
                effort,
                answering: AtomicU32::new(0),
                rests: None,
            }),
        }
    }

    /// Must the job end? Cheap enough for an inner loop.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        match self.shared.stop.load(Ordering::Relaxed) {
            RUNNING => Ok(()),
            reason => self.check_closely(reason),
        }
    }

    /// The same where it is passed before little work: an attempt ([`Control::attempt`]) does not count it as a poll.
    #[inline]
    pub fn check_in_passing(&self) -> Result<(), Stopped> {
        match self.shared.stop.load(Ordering::Relaxed) {
            RUNNING => Ok(()),
            COUNTING if self.shared.polls.is_some() && self.shared.effort.is_some() => Ok(()),
            reason => self.check_closely(reason),
        }
    }

    /// Counts a poll, or returns why the job ends.
    #[cold]
    fn check_closely(&self, reason: u8) -> Result<(), Stopped> {
        if reason != COUNTING {
            return Err(self.reason(reason));
        }
        match (&self.shared.polls, &self.shared.effort) {
            (Some(polls), effort) => {
                polls.made.fetch_add(1, Ordering::Relaxed);
                if let Some(effort) = effort
                    && effort.around.check().is_err()
                {
                    self.stop(effort.around.shared.stop.load(Ordering::Relaxed));
                }
                let left = polls.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                if left == Ok(1) {
                    self.stop(polls.reason);
                }
            }
            (None, Some(effort)) => {
                if effort.around.check().is_err() {
                    self.stop(effort.around.shared.stop.load(Ordering::Relaxed));
                }
            }
            (None, None) => {}
        }
        match self.shared.stop.load(Ordering::Relaxed) {
            COUNTING => Ok(()),
            reason => Err(self.reason(reason)),
        }
    }

    fn counts(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) == COUNTING
    }

    /// Why the job must end, once [`Control::check`] or [`Control::afford`] said that it must, or an engine that keeps
    /// to the memory budget itself. Counts no poll.
    pub fn why(&self) -> Stopped {
        self.reason(self.shared.stop.load(Ordering::Relaxed))
    }

    /// Ends the job because there are more states than an engine can number.
    pub fn out_of_numbers(&self) -> Stopped {
        self.stop(STATES);
        self.why()
    }

    /// Is there room for another `bytes`? To be called before a single large allocation.
    pub fn afford(&self, bytes: usize) -> Result<(), Stopped> {
        self.check()?;
        if let Some(limit) = self.shared.limits.memory {
            // The sample may be a period old; for a large request a fresh one is worth its microseconds. Small requests
            // are frequent, and the watchdog sees their sum.
            let sampled = self.shared.resident.load(Ordering::Relaxed);
            let small = bytes < SMALL_REQUEST && sampled > 0;
            let fits = |resident: u64| resident.saturating_add(bytes as u64) <= limit;
            let resident = || resident_memory().unwrap_or(sampled);
            if fits(if small { sampled } else { resident() }) {
                return Ok(());
            }
            // The allocator may keep what earlier work freed.
            release_memory(Some(limit));
            if !fits(resident()) {
                self.stop(MEMORY);
                return Err(self.why());
            }
        }
        Ok(())
    }

    /// Asks the job to end; safe to call from a signal thread, any number of times.
    pub fn cancel(&self) {
        self.stop(INTERRUPTED);
    }

    /// The counters that a face shows while the job runs.
    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// Time since the job began.
    pub fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// The budgets the job was given.
    pub fn limits(&self) -> Limits {
        self.shared.limits
    }

    fn stop(&self, reason: u8) {
        stop(&self.shared, reason);
    }

    fn reason(&self, code: u8) -> Stopped {
        let limits = &self.shared.limits;
        match code {
            TIMEOUT => Stopped::Timeout { limit: limits.time.unwrap_or_default() },
            MEMORY => Stopped::Memory { limit: limits.memory.unwrap_or_default() },
            STATES => Stopped::States { limit: MOST_STATES },
            // Nothing has stopped the job: a table of diagrams had no room to grow within the budget.
            RUNNING | COUNTING if limits.memory.is_some() => {
                Stopped::Memory { limit: limits.memory.unwrap_or_default() }
            }
            _ => Stopped::Interrupted,
        }
    }
}

fn code(reason: Stopped) -> u8 {
    match reason {
        Stopped::Interrupted => INTERRUPTED,
        Stopped::Timeout { .. } => TIMEOUT,
        Stopped::Memory { .. } => MEMORY,
        Stopped::States { .. } | Stopped::Steps { .. } => STATES,
    }
}

/// The first reason is kept.
fn stop(shared: &Shared, reason: u8) {
    let running = |code: u8| (code == RUNNING || code == COUNTING).then_some(reason);
    let _ = shared.stop.fetch_update(Ordering::Relaxed, Ordering::Relaxed, running);
}

fn watch(watched: &Weak<Shared>) {
    while let Some(shared) = watched.upgrade() {
        if let Some(effort) = &shared.effort {
            match effort.around.shared.stop.load(Ordering::Relaxed) {
                RUNNING | COUNTING if effort.is_spent() => stop(&shared, TIMEOUT),
                RUNNING | COUNTING => {}
                reason => stop(&shared, reason),
            }
        } else if let Some(limit) = shared.limits.time
            && shared.started.elapsed() >= limit
        {
            stop(&shared, TIMEOUT);
        }
        if let Some(limit) = shared.limits.memory
            && let Some(resident) = resident_memory()
        {
            shared.resident.store(resident, Ordering::Relaxed);
            if resident > limit && shared.answering.load(Ordering::Relaxed) == 0 {
                stop(&shared, MEMORY);
            }
        }
        if !matches!(shared.stop.load(Ordering::Relaxed), RUNNING | COUNTING) {
            return;
        }
        drop(shared);
        thread::sleep(WATCHDOG_PERIOD);
    }
}

/// `1234567` as `1.2 MB`: decimal units, one digit after the point.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_job_says_so_and_keeps_its_first_reason() {
        let control = Control::new(Limits { time: Some(Duration::from_millis(1)), memory: None });
        control.cancel();
        thread::sleep(WATCHDOG_PERIOD * 2);
        assert_eq!(control.check(), Err(Stopped::Interrupted));
    }

    #[test]
    fn an_engine_that_keeps_to_the_memory_budget_itself_ran_out_of_memory() {
        let control = Control::make(Instant::now(), Limits { time: None, memory: Some(1 << 40) }, None, None);
        assert_eq!(control.why(), Stopped::Memory { limit: 1 << 40 });
        control.cancel();
        assert_eq!(control.why(), Stopped::Interrupted);
    }

    #[test]
    fn a_timeout_ends_the_job() {
        let limit = Duration::from_millis(1);
        let control = Control::new(Limits { time: Some(limit), memory: None });
        while control.check().is_ok() {
            assert!(control.elapsed() < Duration::from_secs(30), "the watchdog sleeps");
            thread::sleep(WATCHDOG_PERIOD);
        }
        assert_eq!(control.check(), Err(Stopped::Timeout { limit }));
    }

    #[test]
    fn what_does_not_fit_is_not_afforded() {
        let control = Control::make(Instant::now(), Limits { time: None, memory: Some(1 << 40) }, None, None);
        assert_eq!(control.afford(1 << 20), Ok(()));
        assert_eq!(control.afford(1 << 41), Err(Stopped::Memory { limit: 1 << 40 }));
    }

    #[test]
    fn an_effort_ends_by_itself_and_with_its_job() {
        let job = Control::unlimited();
        let effort = job.within(Duration::from_millis(1));
        let mut busy = 0u64;
        while effort.check().is_ok() {
            assert!(effort.elapsed() < Duration::from_secs(60), "the watchdog sleeps");
            busy = std::hint::black_box(busy.wrapping_mul(3).wrapping_add(1));
        }
        assert_eq!((effort.check().is_err(), job.check()), (true, Ok(())));
        let effort = job.within(Duration::from_secs(3600));
        job.cancel();
        while effort.check().is_ok() {
            assert!(effort.elapsed() < Duration::from_secs(60), "the watchdog sleeps");
            thread::sleep(WATCHDOG_PERIOD);
        }
        assert_eq!(effort.check(), Err(Stopped::Interrupted));
    }

    #[test]
    fn a_part_beside_others_has_its_own_phase_and_ends_with_the_job() {
        let job = Control::unlimited();
        job.progress().begin("composing processes", 2);
        let part = job.beside();
        part.progress().begin("refining", 0);
        assert_eq!(job.progress().snapshot().phase, "composing processes");
        job.cancel();
        while part.check().is_ok() {
            assert!(part.elapsed() < Duration::from_secs(60), "the watchdog sleeps");
            thread::sleep(WATCHDOG_PERIOD);
        }
        assert_eq!(part.check(), Err(Stopped::Interrupted));
    }

    #[test]
    fn a_reserve_is_left() {
        let job = Control::new(Limits { time: Some(Duration::from_millis(400)), memory: Some(1 << 50) });
        let part = job.reserving();
        assert!(part.limits().memory.is_some_and(|limit| limit < 1 << 50));
        while part.check().is_ok() {
            assert!(part.elapsed() < Duration::from_secs(60), "the watchdog sleeps");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(part.elapsed() >= Duration::from_millis(300));
        assert!(job.check().is_ok() || job.elapsed() >= Duration::from_millis(400), "the job itself goes on");
        let job = Control::new(Limits { time: Some(Duration::from_secs(3600)), memory: None });
        let part = job.reserving();
        job.cancel();
        while part.check().is_ok() {
            assert!(part.elapsed() < Duration::from_secs(60), "the watchdog sleeps");
            thread::sleep(WATCHDOG_PERIOD);
        }
        assert_eq!(part.check(), Err(Stopped::Interrupted));
    }

    #[test]
    fn a_job_stops_at_the_poll_it_was_made_for() {
        for reason in [Stopped::Interrupted, Stopped::Memory { limit: 1 << 40 }, Stopped::States { limit: MOST_STATES }]
        {
            let job = Control::stopping_at(3, reason);
            let part = job.within(Duration::from_secs(3600));
            assert_eq!(
                [job.check(), part.check(), job.check(), part.check()],
                [Ok(()), Ok(()), Err(reason), Err(reason)]
            );
            assert_eq!((job.polls(), job.why()), (3, reason));
        }
        let job = Control::stopping_at(0, Stopped::Interrupted);
        assert!((0..1000).all(|_| job.check().is_ok()));
        assert_eq!(job.polls(), 1000);
    }

    #[test]
    fn bytes_for_people() {
        assert_eq!(human_bytes(12), "12 B");
        assert_eq!(human_bytes(1_250_000), "1.2 MB");
        assert_eq!(human_bytes(999_999), "1.0 MB");
    }
}
